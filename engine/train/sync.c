/* sync.c - what a step ends with: gradients, optimizer, parameters, host traffic. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/collective/collective.h"
#include "engine/schedule/schedule.h"
#include "engine/train/terms.h"

void step_shards(const struct plan *plan, const struct mesh *mesh, struct shards *out)
{
	states_share(plan, mesh->dense_group.ranks, mesh->edp_group.ranks, out);
	out->replicated = mesh->dp * mesh->copies > 1;
}

bool step_experts_apart(const struct mesh *mesh)
{
	const struct group *dense = &mesh->dense_group;
	const struct group *expert = &mesh->edp_group;

	return dense->ranks != expert->ranks || dense->stride != expert->stride;
}

struct group step_shard_group(const struct group *group, int64_t sharded)
{
	struct group part = *group;

	if (sharded >= group->ranks)
		return part;
	part.ranks = sharded;
	part.per_domain = group->per_domain < sharded ? group->per_domain : sharded;
	part.link = part.per_domain >= sharded ? LINK_DOMAIN : group->link;
	return part;
}

void step_pieces(const struct fabric *fabric, const struct group *group,
		 enum collective_kind kind, double bytes, double calls,
		 struct collective *out)
{
	calls = larger(1, calls);
	collective_cost(fabric, group, kind, bytes / calls, out);
	out->pieces = calls;
	out->seconds *= calls;
	out->sent_bytes *= calls;
	out->network_bytes *= calls;
}

/* Hidden behind the last micro-batch's backward, or the first one's forward: all but
 * what nothing runs beside, at the share that the stack reaches. */
static double exposed_sync(const struct stack *stack, double seconds, double beside,
			   double bare, bool overlaps)
{
	if (!overlaps)
		return seconds;
	return lesser(seconds,
		      larger(bare * seconds, seconds - stack->dp_overlap * beside));
}

/* The stages that add up the gradients of one table; -1 = none do. */
struct tie {
	int first, last;
};

/* The exchanges of a stage in the order of enum sync_slot; experts' behind dense ones.
 */
struct sync {
	const struct step *step;
	const struct stage_load *load; /* of the stage */
	struct estimate *out;
	int stage;
	struct tie tie;
	double layers;
	double share; /* of the stages that are like this one */
	struct holding *holding;
	struct sync_part *part; /* of each slot */
	int family;             /* the slots of what is exchanged begin here */
};

static const char *const names[SYNC_SLOTS] = {
	[SYNC_GRADIENTS] = "gradients",
	[SYNC_PARAMETERS] = "parameters",
	[SYNC_REPLICAS] = "replicas' gradients",
	[SYNC_EXPERTS + SYNC_GRADIENTS] = "expert gradients",
	[SYNC_EXPERTS + SYNC_PARAMETERS] = "expert parameters",
	[SYNC_EXPERTS + SYNC_REPLICAS] = "replicas' gradients",
	[SYNC_TIED] = "tied embeddings",
	[SYNC_HOST] = "optimizer to host",
};

double step_sync_table(const struct step *step, int stage)
{
	int k = step->split.embedding_stage;

	return schedule_stage(step->scenario->plan.schedule, step->stages, k) == stage
		       ? step->embedding.dense_trainable
		       : 0;
}

/* Of an exchange, what nothing runs beside: the backward ends with the gradient of the
 * table of the embedding, the forward begins with looking up in it, and it is many
 * layers large where the vocabulary is; elsewhere one layer's. */
static double bare_share(const struct sync *s)
{
	double layer = s->layers > 0 ? 1 / s->layers : 1;
	double trainable = s->load->sum.dense_trainable;
	double table = step_sync_table(s->step, s->stage);

	if (s->family == SYNC_EXPERTS || table <= 0)
		return layer;
	return larger(layer, table / trainable);
}

static double add_sync(const struct sync *s, int slot, enum collective_kind kind,
		       const struct group *group, double bytes, bool overlaps)
{
	const char *what = names[s->family + slot];
	const struct stage_work *work = &s->load->work;
	double beside = slot == SYNC_PARAMETERS ? work->forward_seconds
						: work->backward_seconds;
	struct collective cost;
	double exposed;

	if (group->ranks < 2 || bytes <= 0)
		return 0;
	/* buckets or tensors one by one */
	double calls = s->layers * s->step->scenario->stack.sync_calls_per_layer;

	/* gradients are bundled up, and in one buffer behind the backward */
	if (kind == COLLECTIVE_ALL_REDUCE)
		calls = scenario_sums_behind(s->step->scenario)
				? 1
				: lesser(calls, bytes / s->step->scenario->stack.habits
								.bucket_bytes);
	step_pieces(&s->step->context.fabric, group, kind, bytes, calls, &cost);
	exposed = exposed_sync(&s->step->scenario->stack, cost.seconds, beside,
			       bare_share(s), overlaps);
	step_traffic(s->out, what, DIM_DP, kind, group, s->share, bytes, &cost,
		     exposed * s->share);
	s->part[s->family + slot] = (struct sync_part){ .what = what,
							.group = *group,
							.seconds = cost.seconds,
							.overlaps = overlaps,
							.exposed = exposed };
	return exposed;
}

/* Of ZeRO 1, whether every rank gets the sums of all. */
static bool reduces_whole(const struct scenario *scenario)
{
	bool narrow =
		step_sent_bytes(scenario) <= 2 && step_gradient_bytes(scenario) <= 2;

	return scenario_sums_behind(scenario) ||
	       (scenario->stack.reduces_whole && !narrow);
}

/* HSDP: replicas of the shards add up. */
static double add_replicas(const struct sync *s, const struct group *group,
			   double gradients, int64_t sharded)
{
	struct group replicas = *group;

	if (sharded >= group->ranks)
		return 0;
	replicas.ranks = group->ranks / sharded;
	replicas.stride = group->stride * sharded;
	replicas.per_domain = group->per_domain / sharded;
	replicas.per_domain = replicas.per_domain < 1 ? 1 : replicas.per_domain;
	replicas.link =
		replicas.per_domain >= replicas.ranks ? LINK_DOMAIN : group->link;
	return add_sync(s, SYNC_REPLICAS, COLLECTIVE_ALL_REDUCE, &replicas,
			gradients / (double)sharded,
			s->step->scenario->plan.overlap_grad_reduce);
}

/* The gradients of one family of weights over one group, and its parameters back. */
static double reduce_family(const struct sync *s, const struct group *group,
			    double trainable, int64_t sharded)
{
	const struct plan *plan = &s->step->scenario->plan;
	bool overlaps =
		plan->overlap_grad_reduce && !scenario_sums_behind(s->step->scenario);
	bool whole;
	double gradients, weights, exposed = 0;
	struct group shard_group;

	if (trainable <= 0 || group->ranks < 2)
		return 0;
	gradients = trainable * step_sent_bytes(s->step->scenario);
	weights = trainable * states_trained_bytes(s->step->scenario);
	shard_group = step_shard_group(group, sharded);
	/* ZeRO 1 that reduces gradients for all ranks has no replicas left to reduce */
	whole = plan->zero == 0 ||
		(plan->zero == 1 && reduces_whole(s->step->scenario));
	if (whole)
		exposed = add_sync(s, SYNC_GRADIENTS, COLLECTIVE_ALL_REDUCE, group,
				   gradients, overlaps);
	else if (plan->zero == 1)
		exposed = add_sync(s, SYNC_GRADIENTS, COLLECTIVE_REDUCE_SCATTER,
				   &shard_group, gradients, overlaps);
	/* ZeRO-2 scattered every micro-batch already; parameters come back once */
	if (plan->zero == 1 || plan->zero == 2)
		exposed += add_sync(s, SYNC_PARAMETERS, COLLECTIVE_ALL_GATHER,
				    &shard_group, weights, plan->overlap_param_gather);
	return exposed + (whole ? 0 : add_replicas(s, group, gradients, sharded));
}

/* A table that is tied, or that MTP layers have again, lives on two stages: their
 * gradients add up, if it trains. The final norm is the last stage's alone. */
static double tied_seconds(const struct sync *s)
{
	const struct scenario *scenario = s->step->scenario;
	struct group pair = s->step->mesh.pp_group;
	struct collective cost;
	double table = s->step->context.frozen
			       ? 0
			       : (double)scenario_padded_vocab(scenario) *
					 (double)scenario->model.hidden /
					 (double)s->step->mesh.tp;
	double bytes = table * step_gradient_bytes(scenario);

	pair.ranks = 2;
	pair.per_domain = pair.link == LINK_DOMAIN ? 2 : 1;
	collective_cost(&s->step->context.fabric, &pair, COLLECTIVE_ALL_REDUCE, bytes,
			&cost);
	step_traffic(s->out, names[SYNC_TIED], DIM_PP, COLLECTIVE_ALL_REDUCE,
		     &s->step->mesh.pp_group, s->share, bytes, &cost,
		     cost.seconds * s->share);
	s->part[SYNC_TIED] = (struct sync_part){ .what = names[SYNC_TIED],
						 .group = s->step->mesh.pp_group,
						 .seconds = cost.seconds,
						 .exposed = cost.seconds };
	return cost.seconds;
}

static double host_seconds(const struct sync *s, double state_elements)
{
	const struct scenario *scenario = s->step->scenario;
	double rate = cluster_host_rate(&scenario->cluster);
	/* the CPU's own step is of the update (terms.c) */
	double bytes = scenario->plan.optimizer_offload * state_elements *
		       states_host_traffic(scenario);

	if (bytes <= 0 || rate <= 0)
		return 0;
	struct collective cost = { .seconds = bytes / rate, .sent_bytes = bytes };

	step_traffic(s->out, names[SYNC_HOST], DIM_HOST, COLLECTIVE_COPY, NULL,
		     s->share, bytes, &cost, cost.seconds * s->share);
	s->part[SYNC_HOST] = (struct sync_part){ .what = names[SYNC_HOST],
						 .group = { .ranks = 1, .stride = 1 },
						 .seconds = cost.seconds,
						 .exposed = cost.seconds };
	return bytes / rate;
}

/* With two copies both ends are on both stages, and their gradients add up anyway; on a
 * V they are on one stage. */
static struct tie find_tie(const struct step *step)
{
	int schedule = step->scenario->plan.schedule;
	bool again = step_has_table(step, step->split.mtp_stage);
	int first, last;

	if (step->stages < 2 || step->mesh.copies > 1 ||
	    !(step->scenario->model.tied_embeddings || again))
		return (struct tie){ -1, -1 };
	first = schedule_stage(schedule, step->stages, step->split.embedding_stage);
	last = schedule_stage(schedule, step->stages,
			      again ? step->split.mtp_stage : step->split.head_stage);
	return first != last ? (struct tie){ first, last } : (struct tie){ -1, -1 };
}

static bool is_tied(struct tie tie, int stage)
{
	return stage == tie.first || stage == tie.last;
}

static bool ends_alike(const struct stage_load *a, const struct stage_load *b)
{
	const struct stage_sum *x = &a->sum, *y = &b->sum;

	return x->layers == y->layers && x->trained_layers == y->trained_layers &&
	       x->dense_trainable == y->dense_trainable &&
	       x->expert_trainable == y->expert_trainable && x->narrow == y->narrow &&
	       a->work.forward_seconds == b->work.forward_seconds &&
	       a->work.backward_seconds == b->work.backward_seconds;
}

enum { KINDS = 4 }; /* of stages that are kept in mind */

/* For each stage the first that ends its step like it, and how many do. */
static void find_alike(const struct step *step, const struct stage_load *load,
		       struct tie tie, int *like, int *count)
{
	int kind[KINDS], kinds = 0;

	for (int i = 0; i < step->stages; i++) {
		int k = 0, seen = kinds < KINDS ? kinds : KINDS;

		while (k < seen &&
		       (is_tied(tie, i) || is_tied(tie, kind[k]) ||
			step_sync_table(step, kind[k]) != step_sync_table(step, i) ||
			!ends_alike(&load[kind[k]], &load[i])))
			k++;
		if (k == seen) {
			k = kinds++ % KINDS;
			kind[k] = i;
		}
		like[i] = kind[k];
		count[i] = 0;
		count[kind[k]]++;
	}
}

/* Seconds that the stage shows of them. */
static double sync_stage(struct sync *s)
{
	const struct step *step = s->step;
	const struct stage_sum *sum = &s->load->sum;
	const struct shards *shards = &s->holding->shards;
	double seconds;

	clear_bytes(s->part, SYNC_SLOTS * sizeof *s->part);
	holding_enter(s->holding, s->stage, sum, 0);
	s->family = 0;
	seconds = reduce_family(s, &step->mesh.dense_group, sum->dense_trainable,
				shards->dense);
	s->family = SYNC_EXPERTS;
	seconds += reduce_family(s, &step->mesh.edp_group, sum->expert_trainable,
				 shards->expert);
	if (is_tied(s->tie, s->stage))
		seconds += tied_seconds(s);
	return seconds + host_seconds(s, s->holding->shared);
}

void step_sync_parts(const struct step *step, const struct stage_load *load, int stage,
		     struct sync_part part[SYNC_SLOTS])
{
	struct holding h;
	struct sync s = { .step = step,
			  .load = &load[stage],
			  .stage = stage,
			  .tie = find_tie(step),
			  .layers = load[stage].sum.layers,
			  .share = 1,
			  .holding = &h,
			  .part = part };

	holding_begin(step, &h);
	sync_stage(&s);
}

void step_sync(const struct step *step, struct stage_load *load, struct estimate *out)
{
	int like[MAX_STAGES], count[MAX_STAGES];
	struct tie tie = find_tie(step);
	struct sync_part part[SYNC_SLOTS];
	struct holding h;

	holding_begin(step, &h);
	find_alike(step, load, tie, like, count);
	for (int i = 0; i < step->stages; i++) {
		struct stage_work *work = &load[i].work;
		struct sync s = { .step = step,
				  .load = &load[i],
				  .out = out,
				  .stage = i,
				  .tie = tie,
				  .layers = load[i].sum.layers,
				  .share = count[i] / (double)step->stages,
				  .holding = &h,
				  .part = part };

		if (like[i] == i) {
			work->sync_seconds = sync_stage(&s);
			work->optimizer_seconds = holding_update(&h);
			continue;
		}
		work->sync_seconds = load[like[i]].work.sync_seconds;
		work->optimizer_seconds = load[like[i]].work.optimizer_seconds;
	}
}
