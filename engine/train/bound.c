/* bound.c - see bound.h. */
#include "engine/train/bound.h"

#include <math.h>

#include "engine/base/plain.h"
#include "engine/schedule/schedule.h"

/* Sums in another order round differently; long runs of breadth-first go on in a
 * straight line (engine/pipeline/README.md). */
static const double sure = 1 - 1e-9;
static const double almost = 1 - 1.1e-3;

static void part_of(const struct scenario *s, const struct layer_cost *cost,
		    double seconds_per_byte, struct bound_part *out)
{
	out->forward = cost->forward + cost->exposed_forward;
	out->backward = cost->input_grad + cost->weight_grad + cost->recompute +
			cost->exposed_backward;
	out->host_forward = cost->host_forward;
	out->host_backward = cost->host_backward;
	out->accumulate = step_accumulate_bytes(s, cost->dense_trainable +
							   cost->expert_trainable) *
			  seconds_per_byte;
	out->dense = cost->dense;
	out->expert = cost->expert;
	out->dense_trainable = cost->dense_trainable;
	out->expert_trainable = cost->expert_trainable;
	out->trained = cost->trained;
	out->narrow = cost->narrow;
	out->saved_bytes = cost->saved_bytes;
	out->alone_forward = cost->alone_forward;
	out->alone_backward = cost->alone_backward;
	out->pairs_hide = cost->pairs_hide;
}

/* Field by field, all of struct bound_part. */
static void add_part(struct bound_part *to, const struct bound_part *from, double count)
{
	to->forward += count * from->forward;
	to->backward += count * from->backward;
	to->host_forward += count * from->host_forward;
	to->host_backward += count * from->host_backward;
	to->accumulate += count * from->accumulate;
	to->dense += count * from->dense;
	to->expert += count * from->expert;
	to->dense_trainable += count * from->dense_trainable;
	to->expert_trainable += count * from->expert_trainable;
	to->trained += count * from->trained;
	to->narrow += count * from->narrow;
	to->saved_bytes += count * from->saved_bytes;
	to->alone_forward += count * from->alone_forward;
	to->alone_backward += count * from->alone_backward;
	to->pairs_hide += count * from->pairs_hide;
}

static void lessen_part(struct bound_part *to, const struct bound_part *from)
{
	to->forward = lesser(to->forward, from->forward);
	to->backward = lesser(to->backward, from->backward);
	to->host_forward = lesser(to->host_forward, from->host_forward);
	to->host_backward = lesser(to->host_backward, from->host_backward);
	to->accumulate = lesser(to->accumulate, from->accumulate);
	to->dense = lesser(to->dense, from->dense);
	to->expert = lesser(to->expert, from->expert);
	to->dense_trainable = lesser(to->dense_trainable, from->dense_trainable);
	to->expert_trainable = lesser(to->expert_trainable, from->expert_trainable);
	to->saved_bytes = lesser(to->saved_bytes, from->saved_bytes);
}

void train_bound(const struct scenario *s, const struct layer_cost *cost,
		 struct train_bound *out)
{
	const struct model *m = &s->model;
	struct bound_part part;
	struct roofline memory;

	roofline_memory(&s->cluster.accelerator, s->stack.habits.small_start, &memory);
	*out = (struct train_bound){ .framework_bytes = s->stack.context_bytes,
				     .memory_seconds = memory.seconds_per_byte };
	for (int k = 0; k < m->kinds; k++) {
		part_of(s, &cost[k], memory.seconds_per_byte, &part);
		add_part(&out->all, &part, (double)model_kind_layers(m, k));
		if (k == 0)
			out->layer = part;
		else
			lessen_part(&out->layer, &part);
	}
	part_of(s, &cost[m->kinds], memory.seconds_per_byte, &out->first);
	part_of(s, &cost[m->kinds + 1], memory.seconds_per_byte, &out->last);
	if (m->mtp_layers > 0) {
		part_of(s, &cost[m->kinds + 2], memory.seconds_per_byte, &part);
		add_part(&out->last, &part, (double)m->mtp_layers);
	}
	add_part(&out->all, &out->first, 1);
	add_part(&out->all, &out->last, 1);
}

static double even_layers(const struct scenario *s, int64_t chunks)
{
	const struct plan *plan = &s->plan;
	bool even = split_resolve(s) == SPLIT_EVEN && !plan->split_embedding &&
		    !plan->split_loss && chunks > 0 &&
		    s->model.layers % (plan->pp * chunks) == 0;

	return even ? (double)(s->model.layers / (plan->pp * chunks)) : 0;
}

/* A micro-batch through `layers` layers and an end of the model; adding up is for more
 * than one. */
static double chunk_seconds(const struct bound_part *layer, double layers,
			    const struct bound_part *end, double adds)
{
	static const struct bound_part nothing;
	const struct bound_part *e = end ? end : &nothing;
	double host_forward = layers * layer->host_forward + e->host_forward;
	double host_backward = layers * layer->host_backward + e->host_backward;
	double forward = layers * layer->forward + e->forward;
	double backward = layers * layer->backward + e->backward +
			  adds * (layers * layer->accumulate + e->accumulate);

	return larger(forward, host_forward) + larger(backward, host_backward);
}

/* The last group of micro-batches is not smaller than the pipeline. */
static bool whole_groups(const struct scenario *s, int64_t m, int64_t chunks)
{
	int64_t pp = s->plan.pp, rest;
	int64_t group =
		schedule_group(s->plan.schedule, pp, m, s->plan.micro_batch_group);

	if (chunks < 2)
		return true;
	rest = m % (group > pp ? group : pp);
	return rest == 0 || rest >= pp;
}

static double even_seconds(const struct train_bound *b, const struct bound_shape *shape,
			   double adds)
{
	double m = shape->micro_batches, more = shape->chunks - 1;
	double inner = chunk_seconds(&b->layer, shape->layers, NULL, adds);
	double first = chunk_seconds(&b->layer, shape->layers, &b->first, adds);
	double last = chunk_seconds(&b->layer, shape->layers, &b->last, adds);
	double ends = m * (more * inner + last);

	if (shape->whole_groups)
		ends += first + (shape->stages - 2) * inner;
	return larger(ends, m * (more * inner + first));
}

/* Times a micro-batch's seconds on all stages, with the best split. */
static double factor_1f1b(double m, int64_t stages)
{
	double p = (double)stages, sum = 0, best;

	if (m < 2)
		return 1;
	best = 1 / (1 - pow(1 - 1 / m, p));
	if (m < p)
		return best;
	for (double j = 0; j < p; j++)
		sum += 1 / (m - 1 - j / 2);
	return larger(best, 1 + 1 / sum);
}

/* Some stage has as many layers as the mean or more. If that is the mean for all, one
 * of them has the head besides. */
static double busiest_seconds(const struct train_bound *b,
			      const struct bound_shape *shape, double adds)
{
	double each = shape->most_layers;
	double most = chunk_seconds(&b->layer, each, NULL, adds);

	if (!shape->mean_layers)
		return most;
	return lesser(chunk_seconds(&b->layer, each, &b->last, adds),
		      chunk_seconds(&b->layer, each + 1, NULL, adds));
}

/* With two copies of the weights a stage runs half of the micro-batches on one part and
 * half on its mirror image, of which some pair has as many layers as the mean or more;
 * if that is the mean for all, one pair has both ends besides. A stage alone, or in the
 * middle, is its own image. */
static double busiest_pair(const struct train_bound *b, const struct bound_shape *shape,
			   double adds)
{
	double each = shape->most_pair_layers;
	struct bound_part ends = { 0 };

	if (each == 0)
		return 0;
	if (!shape->mean_pair_layers)
		return chunk_seconds(&b->layer, each, NULL, adds);
	add_part(&ends, &b->first, 0.5);
	add_part(&ends, &b->last, 0.5);
	return lesser(chunk_seconds(&b->layer, each, &ends, adds),
		      chunk_seconds(&b->layer, each + 0.5, NULL, adds));
}

/* A micro-batch through the whole model in pairs. What they hide comes off passes that
 * show all of it; where the CPU sets their pace, it hides the same once already. */
static double paired_seconds(const struct train_bound *b, double adds)
{
	const struct bound_part *all = &b->all;
	double forward = all->forward + all->alone_forward;
	double backward = all->backward + all->alone_backward + adds * all->accumulate;

	return larger(0, larger(forward, all->host_forward) +
				 larger(backward, all->host_backward) -
				 all->pairs_hide);
}

double train_bound_work(const struct train_bound *b, const struct bound_shape *shape)
{
	double m = shape->micro_batches;

	return m * paired_seconds(b, m > 1) / shape->stages;
}

double train_bound_pipeline(const struct train_bound *b,
			    const struct bound_shape *shape)
{
	double p = shape->stages, m = shape->micro_batches, adds = m > 1;
	double all = chunk_seconds(&b->all, 1, NULL, adds), seconds = m * all / p;

	if (shape->hides_in_pairs)
		return m * paired_seconds(b, adds) / p;
	seconds = larger(seconds, m * (!shape->two_copies && !b->two_copies
					       ? busiest_seconds(b, shape, adds)
					       : busiest_pair(b, shape, adds)));
	if (shape->even_chunks)
		seconds = larger(seconds, even_seconds(b, shape, adds) * almost);
	return larger(seconds, all * shape->factor * almost);
}

double train_bound_ends(const struct train_bound *b, const struct scenario *s)
{
	double p = (double)s->plan.pp, off = s->plan.optimizer_offload;
	double rate = cluster_host_rate(&s->cluster), seconds;
	double state = b->all.dense_trainable + b->all.expert_trainable, local = state;

	if (s->plan.zero > 0) {
		struct shards shards;

		states_shards(s, &shards);
		state = b->all.dense_trainable / (double)shards.dense +
			b->all.expert_trainable / (double)shards.expert;
	}
	seconds = states_update_value(off, state, local, states_moved_bytes(s)) / p *
		  b->memory_seconds;
	/* the two parts of the update are made side by side */
	if (off > 0)
		seconds = larger(seconds, off * state / p * states_host_seconds(s));
	seconds +=
		b->all.narrow * graph_weight_traffic(&s->plan) / p * b->memory_seconds;
	if (off > 0 && rate > 0)
		seconds += off * state / p * states_host_traffic(s) / rate;
	return seconds + states_fixed_seconds(s, b->all.trained / p);
}

double train_bound_scaled(const struct scenario *s, double seconds)
{
	double scale = s->cluster.scale > 0 ? s->cluster.scale : 1;

	return scale * seconds * sure;
}

static double held_bytes(const struct scenario *s, const struct states *each,
			 const struct bound_part *held)
{
	double stays = 1 - s->plan.optimizer_offload;

	return each->dense.weight * held->dense + each->expert.weight * held->expert +
	       (each->dense.gradient + stays * each->dense.optimizer +
		each->sync_copy) *
		       held->dense_trainable +
	       (each->expert.gradient + stays * each->expert.optimizer) *
		       held->expert_trainable;
}

/* More than the hosts hold, in the mean of all stages already: no node has less. */
static bool fills_hosts(const struct train_bound *b, const struct scenario *s,
			const struct states *each)
{
	double room = step_host_capacity(&s->cluster);
	double sent = s->plan.optimizer_offload;

	if (sent <= 0 || room <= 0)
		return false;
	sent *= b->all.dense_trainable * each->dense.host +
		b->all.expert_trainable * each->expert.host;
	return states_host_need_value(sent, 0) * mesh_copies(s) / (double)s->plan.pp *
		       sure >
	       room;
}

static bool holds_same(const struct bound_part *a, const struct bound_part *b)
{
	return a->dense == b->dense && a->expert == b->expert &&
	       a->dense_trainable == b->dense_trainable &&
	       a->expert_trainable == b->expert_trainable && a->trained == b->trained &&
	       a->narrow == b->narrow;
}

bool train_bound_holds_same(const struct train_bound *a, const struct train_bound *b)
{
	return holds_same(&a->all, &b->all) && holds_same(&a->layer, &b->layer) &&
	       holds_same(&a->first, &b->first) &&
	       a->memory_seconds == b->memory_seconds;
}

void train_bound_states(const struct train_bound *b, const struct scenario *s,
			struct bound_bytes *out)
{
	double p = (double)s->plan.pp;
	struct bound_part first = b->first;
	struct shards shards;
	struct states each;

	states_shards(s, &shards);
	states_bytes(s, &shards, &each);
	add_part(&first, &b->layer, (double)s->model.layers / p);
	*out = (struct bound_bytes){ .mean = held_bytes(s, &each, &b->all) *
					     mesh_copies(s) / p,
				     .first = held_bytes(s, &each, &first),
				     .layer = held_bytes(s, &each, &b->layer) };
	if (fills_hosts(b, s, &each))
		out->mean = INFINITY;
}

static double flight_of(const struct bound_shape *shape, int64_t stage)
{
	return lesser(shape->most, shape->flight - (double)stage * shape->falls);
}

/* Micro-batches in flight, of schedules that are told without a simulation. */
static void set_flight(const struct scenario *s, int64_t m, struct bound_shape *out)
{
	int64_t pp = s->plan.pp;
	struct schedule_flight flight =
		schedule_flight(s->plan.schedule, pp, (int64_t)out->chunks, m,
				s->plan.micro_batch_group);

	out->most = pp == 1 ? 1 : (double)flight.most / out->chunks;
	out->flight = (double)flight.first / out->chunks;
	out->falls = (double)flight.falls / out->chunks;
	out->least = flight_of(out, pp - 1);
	for (int64_t stage = 0; stage < pp; stage++)
		out->flights += flight_of(out, stage);
}

/* What every stage of a simulated schedule holds at least: a micro-batch; of fewer than
 * 16 stages a share of it is taken. */
static double least_in_flight(const struct scenario *s, double chunks)
{
	return lesser(1, floor(chunks * (double)(s->plan.pp - 1) / 15) / chunks);
}

/* Layers of the stage, or of the pair of mirror images, that has most at least; whether
 * that may be the mean of all. A layout may part the head from the MTP layers. */
static void set_most_layers(const struct scenario *s, struct bound_shape *out)
{
	int64_t layers = s->model.layers, pp = s->plan.pp;
	bool custom = s->plan.split == SPLIT_CUSTOM;

	out->most_layers = (double)((layers + pp - 1) / pp);
	out->mean_layers = layers % pp == 0 && !custom;
	if (pp % 2 != 0)
		return;
	out->most_pair_layers = (double)((2 * layers + pp - 1) / pp) / 2;
	out->mean_pair_layers = 2 * layers % pp == 0 && !custom;
}

void train_bound_shape(const struct scenario *s, struct bound_shape *out)
{
	int64_t chunks = scenario_chunks(s), m = scenario_micro_batches(s);
	bool rounds = schedule_by_rounds(s->plan.schedule);

	*out = (struct bound_shape){
		.stages = (double)s->plan.pp,
		.chunks = (double)chunks,
		.micro_batches = (double)m,
		.layers = even_layers(s, chunks),
		.hides_in_pairs = step_hides_in_pairs(s),
		.two_copies = mesh_copies(s) > 1,
		.in_flight = s->plan.pp == 1 || rounds,
	};
	set_most_layers(s, out);
	out->even_chunks = s->plan.pp > 1 && rounds && out->layers > 0;
	if (out->even_chunks)
		out->whole_groups = whole_groups(s, m, chunks);
	else if (s->plan.pp > 1 && rounds && chunks == 1)
		out->factor = factor_1f1b((double)m, s->plan.pp);
	if (out->in_flight)
		set_flight(s, m, out);
	else
		out->least = least_in_flight(s, out->chunks);
}

void train_bound_activations(const struct train_bound *b, const struct scenario *s,
			     const struct bound_shape *shape, struct bound_bytes *out)
{
	double loose = larger(1, s->stack.fragmentation);

	*out = (struct bound_bytes){
		.shape = shape->in_flight ? shape : NULL,
		.layers = s->model.layers,
		.layer = loose * b->layer.saved_bytes,
		.mean = loose * shape->least * b->all.saved_bytes / shape->stages,
	};
	if (shape->in_flight && shape->layers > 0)
		out->first = loose * flight_of(shape, 0) *
			     (shape->layers * shape->chunks * b->layer.saved_bytes +
			      b->first.saved_bytes);
}

static double spread_bytes(const struct bound_bytes *states,
			   const struct bound_bytes *activations)
{
	const struct bound_shape *shape = activations->shape;
	double sum = 0;

	for (int64_t i = 0; shape && i < (int64_t)shape->stages; i++) {
		double each = states->layer + flight_of(shape, i) * activations->layer;

		if (each <= 0)
			return 0;
		sum += 1 / each;
	}
	return sum > 0 ? (double)activations->layers / sum : 0;
}

double train_bound_bytes(const struct train_bound *b, const struct bound_bytes *states,
			 const struct bound_bytes *activations)
{
	double bytes = states->mean + activations->mean;

	if (activations->first > 0)
		bytes = larger(bytes, states->first + activations->first);
	else
		bytes = larger(bytes, spread_bytes(states, activations));
	return sure * (bytes + b->framework_bytes);
}

/* The harmonic mean of what a layer takes on each stage is no more than their mean. */
static double spread_at_most(const struct bound_bytes *states,
			     const struct bound_bytes *activations)
{
	const struct bound_shape *shape = activations->shape;
	double layers = (double)activations->layers / (shape ? shape->stages : 1);

	return shape ? layers * (states->layer +
				 shape->flights / shape->stages * activations->layer)
		     : 0;
}

bool train_bound_exceeds(const struct train_bound *b, const struct bound_bytes *states,
			 const struct bound_bytes *activations, double limit)
{
	double mean = states->mean + activations->mean + b->framework_bytes;

	if (sure * mean > limit || isinf(mean))
		return true;
	if (activations->first <= 0 &&
	    spread_at_most(states, activations) + b->framework_bytes <= limit)
		return false;
	return train_bound_bytes(b, states, activations) > limit;
}
