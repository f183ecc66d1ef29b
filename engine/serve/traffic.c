/* traffic.c - collectives of a serving pass.
 *
 * Inside the fast domain servers reduce with kernels of their own (one shot, two shots)
 * whose latency is a third of NCCL's: the calibration's all_reduce_seconds takes the
 * place of the ring's hops. Across domains NCCL's model holds (collective.h).
 */
#include <math.h>

#include "engine/price/collective.h"
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

static double link_rate(const struct cluster *cluster, enum link_level level)
{
	const struct link *link = &cluster->link[level];
	double rate =
		link->bytes_per_second * (link->efficiency > 0 ? link->efficiency : 1);

	return rate > 0 ? rate : 1;
}

/* Latency and bandwidth meet as in collective.h. */
static void own_kernel(const struct cluster *cluster, const struct group *group,
		       double latency, struct collective *cost)
{
	double transfer = cost->sent_bytes / link_rate(cluster, LINK_DOMAIN);

	if (group->link == LINK_DOMAIN && latency > 0)
		cost->seconds =
			fmin(cost->seconds,
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

/* Servers dispatch as DeepEP does: prompts cross the network once to each domain,
 * decoding requests go straight to each expert's rank. Either way all ranks are written
 * at once: latency grows with the logarithm of the domains (its README: 128 tokens take
 * 38, 102, 143, 167 us on 8, 16, 32, 64 ranks, most of it transfer), not with a ring.
 */
static void dispatch(const struct serve_context *c, const char *what, double bytes,
		     struct layer_pass *out)
{
	const struct cluster *cluster = &c->scenario->cluster;
	const struct moe *moe = &c->scenario->model.moe;
	const struct group *group = &c->mesh.ep_group;
	double chosen = (double)moe->experts_per_token;
	double copies = collective_remote_copies(group, chosen, out->prompts,
						 (double)moe->group_limit);
	double domains = ceil((double)group->ranks / (double)group->per_domain);
	double latency = cluster->accelerator.calibration.serving.all_to_all_seconds;
	struct collective cost;
	double transfer;

	if (group->ranks < 2 || bytes <= 0)
		return;
	collective_dispatch(cluster, group, bytes, bytes / chosen * copies, 1, &cost);
	if (latency > 0) {
		latency += log2(domains) * cluster->link[LINK_NETWORK].latency_seconds;
		transfer = fmax(cost.sent_bytes / link_rate(cluster, LINK_DOMAIN),
				cost.network_bytes / link_rate(cluster, LINK_NETWORK));
		cost.seconds = latency + transfer + 1.1 * sqrt(latency * transfer);
	}
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
