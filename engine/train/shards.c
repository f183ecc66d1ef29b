/* shards.c - what ZeRO 2 and 3 gather and scatter for each micro-batch. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/collective/collective.h"
#include "engine/train/step.h"

/* Gathering sharded weights beside the computation of the layer before: what is longer
 * shows, and what comes first always does (FSDP, arXiv 2304.11277). ZeRO 2 gathers
 * none, and what it scatters runs ahead of nothing. */
static double exposed_gather(const struct scenario *scenario, double seconds,
			     double compute, double first)
{
	const struct plan *plan = &scenario->plan;
	double hides = plan->zero < 3 || plan->fsdp_prefetch > 0
			       ? scenario->stack.dp_overlap * compute
			       : 0;

	return lesser(seconds, larger(0, seconds - hides) + first);
}

/* Of an exchange, what nothing runs beside: a layer's, or, where it is larger, that of
 * the table of the embedding. A forward begins with looking up in it, and its gradient
 * is the last of a backward; FSDP has it in the root's unit. */
static double bare_seconds(const struct chunk_time *t, double all, double with_table)
{
	double trainable = t->dense_trainable + t->expert_trainable;
	double layer = t->layers > 0 ? all / t->layers : all;

	return t->table > 0 ? larger(layer, with_table * t->table / trainable) : layer;
}

/* What ZeRO 2 and 3 move for some layers: dense weights, and experts on the fewer ranks
 * that hold the same ones. */
struct shard_family {
	const char *gathers, *scatters; /* names of the collectives */
	struct group group;
	double weight_bytes, gradient_bytes;
	double again; /* share of the weights that a backward reads, too */
	struct collective gather, scatter;
};

enum { DENSE, EXPERT, FAMILIES };

struct shard_cost {
	struct shard_family family[FAMILIES];
	double gather_seconds, again_seconds, scatter_seconds; /* of both */
};

static void price_family(const struct graph_context *c, double calls,
			 struct shard_family *family, struct shard_cost *out)
{
	/* a shard group of one shares out nothing */
	if (family->group.ranks < 2)
		return;
	step_pieces(&c->fabric, &family->group, COLLECTIVE_REDUCE_SCATTER,
		    family->gradient_bytes, calls, &family->scatter);
	out->scatter_seconds += family->scatter.seconds;
	if (c->scenario->plan.zero < 3)
		return;
	step_pieces(&c->fabric, &family->group, COLLECTIVE_ALL_GATHER,
		    family->weight_bytes, calls, &family->gather);
	out->gather_seconds += family->gather.seconds;
	if (c->scenario->plan.fsdp_reshard)
		out->again_seconds += family->again * family->gather.seconds;
}

/* Calls are of layers: those that a forward alone reads are left out. */
static double share_again(double held, double still)
{
	return still > 0 ? 1 - still / held : 1;
}

/* One micro-batch in one direction. Where experts are on the ranks that dense weights
 * are on, a layer is gathered and scattered as one. */
static void price_shards(const struct graph_context *c, const struct chunk_time *t,
			 struct shard_cost *out)
{
	const struct scenario *s = c->scenario;
	double weight = step_weight_bytes(s), gradient = step_sent_bytes(s);
	struct shard_family *dense = &out->family[DENSE], *expert = dense + 1;
	struct shards shards;

	step_shards(&s->plan, c->mesh, &shards);
	clear_bytes(out, sizeof *out);
	dense->gathers = "gather weights";
	dense->scatters = "scatter gradients";
	dense->group = step_shard_group(&c->mesh->dense_group, shards.dense);
	dense->weight_bytes = t->dense * weight;
	dense->gradient_bytes = t->dense_trainable * gradient;
	dense->again = share_again(t->dense, t->dense_still);
	if (step_experts_apart(c->mesh)) {
		expert->gathers = "gather experts";
		expert->scatters = "scatter experts";
		expert->group = step_shard_group(&c->mesh->edp_group, shards.expert);
		expert->weight_bytes = t->expert * weight;
		expert->gradient_bytes = t->expert_trainable * gradient;
		expert->again = share_again(t->expert, t->expert_still);
		price_family(c, t->expert_layers, expert, out);
	} else {
		dense->weight_bytes += t->expert * weight;
		dense->gradient_bytes += t->expert_trainable * gradient;
		dense->again = share_again(t->dense + t->expert,
					   t->dense_still + t->expert_still);
	}
	price_family(c, t->layers, dense, out);
}

/* Of so many forwards and backwards that gather, and backwards that scatter. The
 * families have of the exposed time what they have of the seconds. */
static void list_shards(const struct shard_cost *cost, const double runs[3],
			const double exposed[2], struct estimate *out)
{
	for (int i = 0; i < FAMILIES; i++) {
		const struct shard_family *f = &cost->family[i];
		const struct collective *g = &f->gather, *c = &f->scatter;

		if (g->seconds > 0)
			step_traffic(out, f->gathers, DIM_DP, COLLECTIVE_ALL_GATHER,
				     &f->group, runs[0] + runs[1] * f->again,
				     f->weight_bytes, g,
				     exposed[0] * g->seconds / cost->gather_seconds);
		if (c->seconds > 0)
			step_traffic(out, f->scatters, DIM_DP,
				     COLLECTIVE_REDUCE_SCATTER, &f->group, runs[2],
				     f->gradient_bytes, c,
				     exposed[1] * c->seconds / cost->scatter_seconds);
	}
}

/* Of the forwards of a virtual stage those that gather its weights, and of its
 * backwards those that scatter gradients: one alone where they stay. Of two copies each
 * runs half of the micro-batches. PyTorch's stages free weights behind a forward at
 * most, so that the next forward or backward gathers: one more in all than there are
 * forwards. */
static double once_share(const struct step *step)
{
	if (!states_stay_whole(step->scenario))
		return 1;
	return mesh_copies(step->scenario) / (double)step->micro_batches;
}

/* Weights that are shared out: experts may be on ranks that alone hold them. */
static void count_shared(const struct step *step, struct chunk_time *t)
{
	struct shards shards;
	bool dense, expert;

	step_shards(&step->scenario->plan, &step->mesh, &shards);
	dense = shards.dense > 1;
	expert = step_experts_apart(&step->mesh) ? shards.expert > 1 : dense;
	t->shared = dense * t->dense + expert * t->expert;
	t->shared_again = t->shared - dense * t->dense_still - expert * t->expert_still;
	t->shared_trained = dense * t->dense_trainable + expert * t->expert_trainable;
}

void step_shard_copies(const struct step *step, struct chunk_time *t)
{
	const struct scenario *s = step->scenario;
	double per_byte = step->context.memory.seconds_per_byte;
	double gather = step_gather_copy_bytes(s) * per_byte, once;

	if (s->plan.zero < 2)
		return;
	once = once_share(step);
	count_shared(step, t);
	if (s->plan.zero == 3) {
		t->copy_forward = once * t->shared * gather;
		t->copy_again = s->plan.fsdp_reshard ? t->shared_again * gather : 0;
	}
	t->copy_gradients =
		once * t->shared_trained * step_gradient_copy_bytes(s) * per_byte;
}

static void expose_shards(struct chunk_time *t)
{
	t->exposed_forward += t->shard_forward;
	t->exposed_backward += t->shard_backward;
}

bool step_scatters_behind(const struct scenario *scenario)
{
	return scenario->stack.torch_stages && states_stay_whole(scenario);
}

/* What shows of a backward: what is gathered again, and what is scattered. Both share
 * the network. */
struct shown {
	double gather, scatter;
};

static struct shown backward_shown(const struct step *step, const struct chunk_time *t,
				   const struct shard_cost *cost)
{
	const struct scenario *s = step->scenario;
	const struct plan *plan = &s->plan;
	double compute = t->input_grad + t->weight_grad + t->recompute;
	double gather = cost->again_seconds;
	double scatter = cost->scatter_seconds, moved, all;

	if (step_scatters_behind(s))
		return (struct shown){ exposed_gather(s, gather, compute,
						      bare_seconds(t, gather, 0)),
				       scatter };
	if (gather <= 0 && !plan->overlap_grad_reduce)
		return (struct shown){ 0, scatter };
	/* a stage without layers moves nothing */
	moved = gather + scatter;
	if (moved <= 0)
		return (struct shown){ 0, 0 };
	all = exposed_gather(s, moved, compute, bare_seconds(t, moved, scatter));
	gather = all * gather / moved;
	return (struct shown){ gather, all - gather };
}

/* ZeRO-3: gather before forward and (where it was freed) backward, scatter gradients,
 * for every micro-batch. ZeRO-2 scatters gradients for every micro-batch too. */
void step_shard_traffic(const struct step *step, double times, struct chunk_time *t,
			struct estimate *out)
{
	const struct plan *plan = &step->scenario->plan;
	double once = once_share(step);
	double all = times * (double)step->micro_batches / (double)step->stages;
	bool again = plan->zero == 3 && plan->fsdp_reshard;
	struct shard_cost cost;
	struct shown backward;
	double forward;

	if (plan->zero < 2)
		return;
	price_shards(&step->context, t, &cost);
	forward = once * exposed_gather(step->scenario, cost.gather_seconds, t->forward,
					bare_seconds(t, cost.gather_seconds,
						     cost.gather_seconds));
	backward = backward_shown(step, t, &cost);
	backward.scatter *= once;
	t->gather_seconds = cost.gather_seconds;
	t->again_seconds = cost.again_seconds;
	t->scatter_seconds = cost.scatter_seconds;
	t->shard_forward = forward;
	t->shard_backward = backward.gather + backward.scatter;
	expose_shards(t);
	if (out)
		list_shards(&cost,
			    (double[]){ all * once, again ? all : 0, all * once },
			    (double[]){ all * (forward + backward.gather),
					all * backward.scatter },
			    out);
}

/* One kind's collectives for one layer, as step_shard_traffic() exposes them at least.
 */
static double shard_layer_seconds(const struct step *step,
				  const struct layer_cost *layer)
{
	double once = once_share(step);
	struct chunk_time t = { .layers = 1 };
	struct shard_cost cost;

	chunk_add_layer(&t, layer, 1);
	price_shards(&step->context, &t, &cost);
	return once * (cost.gather_seconds + cost.scatter_seconds) + cost.again_seconds;
}

/* Seconds of the GPU, without what it waits for launches behind counts, and of the CPU
 * that launches its kernels. */
struct sides {
	double gpu, host;
};

static struct sides sides_of(const struct layer_cost *cost, bool backward)
{
	struct sides forward = { cost->forward - cost->wait_forward +
					 cost->exposed_forward,
				 cost->host_forward };
	struct sides back = { cost->input_grad + cost->weight_grad + cost->recompute +
				      cost->exposed_backward,
			      cost->host_backward };

	return backward ? back : forward;
}

/* The largest share of the GPU's seconds that the CPU takes in a virtual stage with a
 * layer: sums lie between their parts, and ends where the CPU is the slower count most
 * beside one layer. */
static double host_share(const struct step *step, bool backward)
{
	const struct layer_cost *const ends[] = { &step->embedding, &step->head,
						  &step->mtp };
	/* nobody costs MTP layers where there are none */
	int count = step->scenario->model.mtp_layers > 0 ? 3 : 2;
	struct sides slow = { 0, 0 };
	double share = 0;

	for (int i = 0; i < count; i++) {
		struct sides end = sides_of(ends[i], backward);

		if (end.host > end.gpu) {
			slow.gpu += end.gpu;
			slow.host += end.host;
		} else if (end.gpu > 0) {
			share = larger(share, end.host / end.gpu);
		}
	}
	for (int k = 0; k < step->scenario->model.kinds; k++) {
		struct sides layer = sides_of(&step->kind[k], backward);

		share = larger(share,
			       (layer.host + slow.host) / (layer.gpu + slow.gpu));
	}
	return share;
}

/* What shows, at least, of a second more on the GPU: all where it is the slower; where
 * ranks wait for each other's experts, the slope of the round corner between it and the
 * CPU (late_seconds() of chunks.c), which grows with its seconds. */
static double shown_share(const struct step *step, bool backward)
{
	double share = host_share(step, backward);

	if (share > 1)
		return 0;
	return step->mesh.ep < 2 ? 1 : pow(1 + pow(share, 4), -0.75);
}

double step_shard_seconds(const struct step *step)
{
	double least = INFINITY;

	if (step->scenario->plan.zero < 2)
		return 0;
	for (int k = 0; k < step->scenario->model.kinds; k++)
		least = lesser(least, shard_layer_seconds(step, &step->kind[k]));
	return least * lesser(shown_share(step, false), shown_share(step, true));
}
