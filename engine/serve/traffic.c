/* traffic.c - collectives of a serving pass, and copies beside it.
 *
 * Inside the fast domain servers reduce with kernels of their own (one shot, two shots)
 * beside NCCL's (struct fabric: servers).
 */
#include "engine/collective/collective.h"
#include "engine/serve/layer.h"
#include "engine/serve/serve_parts.h"

static void add(struct layer_pass *out, enum dimension dimension,
		enum collective_kind kind, const char *what, const struct group *group,
		double payload, const struct collective *cost)
{
	struct traffic *t;

	out->network_seconds[dimension] += cost->seconds;
	out->network_bytes += cost->network_bytes;
	if (!out->lists || out->traffic_count == MAX_LAYER_TRAFFIC)
		return;
	t = &out->traffic[out->traffic_count++];
	*t = (struct traffic){
		.dimension = dimension,
		.kind = kind,
		.algorithm = cost->algorithm,
		.what = what,
		.ranks = group->ranks,
		.stride = group->stride,
		.ranks_per_domain = group->per_domain,
		.link = group->link,
		.count = 1,
		.payload_bytes = payload,
		.sent_bytes = cost->sent_bytes,
		.network_bytes = cost->network_bytes,
		.seconds = cost->seconds,
		.pieces = cost->pieces,
		.call_bytes = cost->call_bytes,
		.remote_bytes = cost->remote_bytes,
	};
}

static void collective(const struct serve_context *c, enum dimension dimension,
		       enum collective_kind kind, const char *what,
		       const struct group *group, double bytes, struct layer_pass *out)
{
	struct collective cost;

	if (group->ranks < 2 || bytes <= 0)
		return;
	collective_cost(&c->fabric, group, kind, bytes, &cost);
	add(out, dimension, kind, what, group, bytes, &cost);
}

void layer_all_reduce(const struct serve_context *c, const char *what, double bytes,
		      struct layer_pass *out)
{
	collective(c, DIM_TP, COLLECTIVE_ALL_REDUCE, what, &c->mesh.tp_group, bytes,
		   out);
}

void layer_gather(const struct serve_context *c, const char *what, double bytes,
		  struct layer_pass *out)
{
	collective(c, DIM_TP, COLLECTIVE_ALL_GATHER, what, &c->mesh.tp_group, bytes,
		   out);
}

/* Servers dispatch as DeepEP does: prompts cross the network once to each domain,
 * decoding requests go straight to each expert's rank. */
static void dispatch(const struct serve_context *c, const char *what, double bytes,
		     struct layer_pass *out)
{
	const struct moe *moe = &c->scenario->model.moe;
	const struct group *group = &c->mesh.ep_group;
	double chosen = (double)moe->experts_per_token;
	double copies =
		collective_remote_copies(group, chosen, (double)moe->experts,
					 out->prompts, (double)moe->group_limit);
	struct collective cost;

	if (group->ranks < 2 || bytes <= 0)
		return;
	collective_dispatch(&c->fabric, group,
			    out->prompts ? EXCHANGE_ONCE : EXCHANGE_STRAIGHT, bytes,
			    bytes / chosen * copies, &cost);
	add(out, DIM_EP, COLLECTIVE_ALL_TO_ALL, what, group, bytes, &cost);
}

void layer_exchange(const struct serve_context *c, const char *what, double bytes,
		    struct layer_pass *out)
{
	if (c->shape.ep > 1) {
		dispatch(c, what, bytes, out);
		return;
	}
	/* experts sliced over all ranks: everyone sees every token */
	collective(c, DIM_EP, COLLECTIVE_ALL_GATHER, what, &c->mesh.etp_group,
		   bytes * c->shape.etp, out);
}

void layer_ring(const struct serve_context *c, const char *what, double bytes,
		struct layer_pass *out)
{
	collective(c, DIM_CP, COLLECTIVE_ALL_GATHER, what, &c->mesh.cp_group, bytes,
		   out);
}

void layer_send(const struct serve_context *c, const char *what, double bytes,
		struct layer_pass *out)
{
	collective(c, DIM_PP, COLLECTIVE_SEND, what, &c->mesh.pp_group, bytes, out);
}

void server_add_copy(struct traffic copy, double bytes, double seconds,
		     struct estimate *out)
{
	struct dimension_cost *cost = &out->cost[copy.dimension];

	if (out->traffic_count == MAX_TRAFFIC)
		return;
	copy.kind = COLLECTIVE_COPY;
	copy.stride = copy.ranks_per_domain = 1;
	copy.count = copy.pieces = 1;
	copy.payload_bytes = copy.sent_bytes = copy.call_bytes = bytes;
	copy.seconds = seconds;
	copy.total_bytes = bytes;
	copy.total_seconds = seconds;
	out->traffic[out->traffic_count++] = copy;
	cost->bytes += bytes;
	cost->network_bytes += copy.network_bytes;
	cost->payload_bytes += bytes;
	cost->seconds += seconds;
}
