/* traffic.c - the list of collectives, and the sums per dimension. */
#include <string.h>

#include "engine/base/plain.h"
#include "engine/train/step.h"

/* Calls of one name add up over layers and stages. */
static struct traffic *find_row(struct estimate *out, const char *what,
				enum dimension dimension, const struct group *group)
{
	int64_t ranks = group ? group->ranks : 1;
	struct traffic *last;

	for (int i = 0; i < out->traffic_count; i++) {
		struct traffic *t = &out->traffic[i];

		if (t->dimension == dimension && t->ranks == ranks &&
		    (t->what == what || strcmp(t->what, what) == 0))
			return t;
	}
	if (out->traffic_count < MAX_TRAFFIC) {
		last = &out->traffic[out->traffic_count++];
		clear_bytes(last, sizeof *last);
		last->what = what;
		last->dimension = dimension;
		return last;
	}
	/* full: the last entry of the dimension takes it, so that sums stay whole */
	for (int i = MAX_TRAFFIC - 1; i > 0; i--)
		if (out->traffic[i].dimension == dimension)
			return &out->traffic[i];
	return &out->traffic[0];
}

static void add_calls(struct traffic *t, enum collective_kind kind,
		      const struct group *group, double count, double payload_bytes,
		      const struct collective *call, double exposed_total)
{
	double calls = t->count + count;

	if (calls <= 0)
		return;
	t->algorithm = t->count > 0 && t->algorithm != call->algorithm
			       ? ALGORITHM_COUNT
			       : call->algorithm;
	t->kind = kind;
	t->ranks = group ? group->ranks : 1;
	t->stride = group ? group->stride : 1;
	t->ranks_per_domain = group ? group->per_domain : 1;
	t->link = group ? group->link : LINK_DOMAIN;
	t->count = calls;
	t->payload_bytes += count * payload_bytes;
	t->pieces += count * call->pieces;
	t->call_bytes += count * call->call_bytes;
	t->remote_bytes += count * call->remote_bytes;
	t->total_bytes += count * call->sent_bytes;
	t->network_bytes += count * call->network_bytes;
	t->total_seconds += count * call->seconds;
	t->exposed_seconds += exposed_total;
}

void step_traffic(struct estimate *out, const char *what, enum dimension dimension,
		  enum collective_kind kind, const struct group *group, double count,
		  double payload_bytes, const struct collective *call,
		  double exposed_total)
{
	struct dimension_cost *cost;

	if (!out)
		return;
	if (!out->sums_alone)
		add_calls(find_row(out, what, dimension, group), kind, group, count,
			  payload_bytes, call, exposed_total);
	cost = &out->cost[dimension];
	cost->bytes += count * call->sent_bytes;
	cost->network_bytes += count * call->network_bytes;
	cost->payload_bytes += count * payload_bytes;
	cost->seconds += count * call->seconds;
	cost->exposed_seconds += exposed_total;
}

void step_mean_traffic(struct estimate *out)
{
	for (int i = 0; i < out->traffic_count; i++) {
		struct traffic *t = &out->traffic[i];
		double share = t->count > 0 ? 1 / t->count : 0;

		t->payload_bytes *= share;
		t->pieces *= share;
		t->call_bytes *= share;
		t->remote_bytes *= share;
		t->sent_bytes = t->total_bytes * share;
		t->seconds = t->total_seconds * share;
	}
}

void step_expose_traffic(struct estimate *out, enum dimension dimension, double seconds)
{
	struct dimension_cost *cost = &out->cost[dimension];

	cost->exposed_seconds += seconds;
	if (cost->exposed_seconds < 0)
		cost->exposed_seconds = 0;
	for (int i = 0; i < out->traffic_count; i++) {
		struct traffic *t = &out->traffic[i];

		if (t->dimension == dimension && cost->seconds > 0)
			t->exposed_seconds = cost->exposed_seconds * t->total_seconds /
					     cost->seconds;
	}
}
