/* traffic.c - collectives of a serving pass.
 *
 * Inside the fast domain servers reduce with kernels of their own (one shot, two shots)
 * whose latency is a third of NCCL's: the calibration's all_reduce_seconds takes the
 * place of the ring's hops. Across domains NCCL's model holds (collective.h).
 */
#include <math.h>

#include "engine/collective.h"
#include "engine/serve/layer.h"

static void add(struct layer_pass *out, enum dimension dimension,
		enum collective_kind kind, const char *what, const struct group *group,
		double payload, const struct collective *cost)
{
	struct traffic *t;

	out->network_seconds[dimension] += cost->seconds;
	if (out->traffic_count == MAX_LAYER_TRAFFIC)
		return;
	t = &out->traffic[out->traffic_count++];
	*t = (struct traffic){
		.dimension = dimension,
		.kind = kind,
		.what = what,
		.ranks = group->ranks,
		.ranks_per_domain = group->per_domain,
		.link = group->link,
		.count = 1,
		.payload_bytes = payload,
		.sent_bytes = cost->sent_bytes,
		.network_bytes = cost->network_bytes,
		.seconds = cost->seconds,
	};
}

/* Latency and bandwidth meet as in collective.h. */
static void own_kernel(const struct cluster *cluster, const struct group *group,
		       double latency, struct collective *cost)
{
	const struct link *link = &cluster->link[LINK_DOMAIN];
	double rate =
		link->bytes_per_second * (link->efficiency > 0 ? link->efficiency : 1);
	double transfer;

	if (group->link != LINK_DOMAIN || latency <= 0 || rate <= 0)
		return;
	transfer = cost->sent_bytes / rate;
	cost->seconds = fmin(cost->seconds,
			     latency + transfer + 1.1 * sqrt(latency * transfer));
}

static void collective(const struct serve_context *c, enum dimension dimension,
		       enum collective_kind kind, const char *what,
		       const struct group *group, double bytes, struct layer_pass *out)
{
	const struct cluster *cluster = &c->scenario->cluster;
	const struct serving_calibration *rates =
		&cluster->accelerator.calibration.serving;
	struct collective cost;

	if (group->ranks < 2 || bytes <= 0)
		return;
	collective_cost(cluster, group, kind, bytes, 1, &cost);
	own_kernel(cluster, group,
		   kind == COLLECTIVE_ALL_TO_ALL ? rates->all_to_all_seconds
						 : rates->all_reduce_seconds,
		   &cost);
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

void layer_exchange(const struct serve_context *c, const char *what, double bytes,
		    struct layer_pass *out)
{
	if (c->shape.ep > 1) {
		collective(c, DIM_EP, COLLECTIVE_ALL_TO_ALL, what, &c->mesh.ep_group,
			   bytes, out);
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
