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
	out->saved_bytes = cost->saved_bytes;
	out->hides = larger(0, cost->pairs_hide - cost->alone_forward -
				       cost->alone_backward);
}

/* Field by field, all of struct bound_part. */
static void add(struct bound_part *to, const struct bound_part *from, double count)
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
	to->saved_bytes += count * from->saved_bytes;
	to->hides += count * from->hides;
}

static void lessen(struct bound_part *to, const struct bound_part *from)
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

	roofline_memory(&s->cluster.accelerator, &memory);
	*out = (struct train_bound){ .framework_bytes = s->stack.context_bytes,
				     .memory_seconds = memory.seconds_per_byte };
	for (int k = 0; k < m->kinds; k++) {
		part_of(s, &cost[k], memory.seconds_per_byte, &part);
		add(&out->all, &part, (double)model_kind_layers(m, k));
		if (k == 0)
			out->layer = part;
		else
			lessen(&out->layer, &part);
	}
	part_of(s, &cost[m->kinds], memory.seconds_per_byte, &out->first);
	part_of(s, &cost[m->kinds + 1], memory.seconds_per_byte, &out->last);
	if (m->mtp_layers > 0) {
		part_of(s, &cost[m->kinds + 2], memory.seconds_per_byte, &part);
		add(&out->last, &part, (double)m->mtp_layers);
	}
	add(&out->all, &out->first, 1);
	add(&out->all, &out->last, 1);
}

/* Layers of each chunk, 0 where they may differ. */
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

static double even_seconds(const struct train_bound *b, const struct scenario *s,
			   double layers, int64_t chunks)
{
	int64_t micro_batches = scenario_micro_batches(s);
	double m = (double)micro_batches, p = (double)s->plan.pp;
	double adds = m > 1, more = (double)chunks - 1;
	double inner = chunk_seconds(&b->layer, layers, NULL, adds);
	double first = chunk_seconds(&b->layer, layers, &b->first, adds);
	double last = chunk_seconds(&b->layer, layers, &b->last, adds);
	double ends = m * (more * inner + last);

	if (whole_groups(s, micro_batches, chunks))
		ends += first + (p - 2) * inner;
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
static double busiest_seconds(const struct train_bound *b, const struct scenario *s,
			      double adds)
{
	int64_t layers = s->model.layers, pp = s->plan.pp,
		each = (layers + pp - 1) / pp;
	double most = chunk_seconds(&b->layer, (double)each, NULL, adds);

	/* a layout may part the head from the MTP layers */
	if (layers % pp != 0 || s->plan.split == SPLIT_CUSTOM)
		return most;
	return lesser(chunk_seconds(&b->layer, (double)each, &b->last, adds),
		      chunk_seconds(&b->layer, (double)each + 1, NULL, adds));
}

/* With two copies of the weights a stage runs half of the micro-batches on one part and
 * half on its mirror image, of which some pair has as many layers as the mean or more;
 * if that is the mean for all, one pair has both ends besides. A stage alone, or in the
 * middle, is its own image. */
static double busiest_pair(const struct train_bound *b, const struct scenario *s,
			   double adds)
{
	int64_t layers = 2 * s->model.layers, pp = s->plan.pp;
	double each = (double)((layers + pp - 1) / pp) / 2;
	struct bound_part ends = { 0 };

	if (pp % 2 != 0)
		return 0;
	if (layers % pp != 0 || s->plan.split == SPLIT_CUSTOM)
		return chunk_seconds(&b->layer, each, NULL, adds);
	add(&ends, &b->first, 0.5);
	add(&ends, &b->last, 0.5);
	return lesser(chunk_seconds(&b->layer, each, &ends, adds),
		      chunk_seconds(&b->layer, each + 0.5, NULL, adds));
}

double train_bound_work(const struct train_bound *b, const struct scenario *s)
{
	double m = (double)scenario_micro_batches(s);
	double all = chunk_seconds(&b->all, 1, NULL, m > 1);

	return m * larger(0, all - b->all.hides) / (double)s->plan.pp;
}

double train_bound_pipeline(const struct train_bound *b, const struct scenario *s)
{
	double p = (double)s->plan.pp, m = (double)scenario_micro_batches(s);
	bool known = p > 1 && schedule_by_rounds(s->plan.schedule);
	int64_t chunks = scenario_chunks(s);
	double layers = even_layers(s, chunks);
	double all = chunk_seconds(&b->all, 1, NULL, m > 1);
	double seconds = m * all / p;

	if (step_hides_in_pairs(s))
		return m * larger(0, all - b->all.hides) / p;
	seconds = larger(seconds, m * (mesh_copies(s) == 1 && !b->two_copies
					       ? busiest_seconds(b, s, m > 1)
					       : busiest_pair(b, s, m > 1)));
	if (known && layers > 0)
		seconds = larger(seconds, even_seconds(b, s, layers, chunks) * almost);
	else if (known && chunks == 1)
		seconds = larger(seconds, all * factor_1f1b(m, s->plan.pp) * almost);
	return seconds;
}

double train_bound_ends(const struct train_bound *b, const struct scenario *s)
{
	double p = (double)s->plan.pp, off = s->plan.optimizer_offload;
	double rate = s->cluster.accelerator.host_bytes_per_second, seconds;
	double state = b->all.dense_trainable + b->all.expert_trainable, local = state;

	if (s->plan.zero > 0) {
		struct shards shards;

		states_shards(s, &shards);
		state = b->all.dense_trainable / (double)shards.dense +
			b->all.expert_trainable / (double)shards.expert;
	}
	seconds = states_update_value(off, state, local) / p * b->memory_seconds;
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
	sent *= b->all.dense_trainable * each->dense.optimizer +
		b->all.expert_trainable * each->expert.optimizer;
	return sent * mesh_copies(s) / (double)s->plan.pp * sure > room;
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
	add(&first, &b->layer, (double)s->model.layers / p);
	*out = (struct bound_bytes){ .mean = held_bytes(s, &each, &b->all) *
					     mesh_copies(s) / p,
				     .first = held_bytes(s, &each, &first),
				     .layer = held_bytes(s, &each, &b->layer) };
	if (fills_hosts(b, s, &each))
		out->mean = INFINITY;
}

/* Micro-batches in flight, of schedules that are told without a simulation. */
static void set_flight(const struct scenario *s, int64_t chunks,
		       struct bound_bytes *out)
{
	int64_t pp = s->plan.pp, m = scenario_micro_batches(s);
	struct schedule_flight flight = schedule_flight(s->plan.schedule, pp, chunks, m,
							s->plan.micro_batch_group);
	double v = (double)chunks;

	out->stages = pp;
	out->most = pp == 1 ? 1 : (double)flight.most / v;
	out->flight = (double)flight.first / v;
	out->falls = (double)flight.falls / v;
}

static double flight_of(const struct bound_bytes *activations, int64_t stage)
{
	return lesser(activations->most,
		      activations->flight - (double)stage * activations->falls);
}

/* What every stage of a simulated schedule holds at least: a micro-batch; of fewer than
 * 16 stages a share of it is taken. */
static double least_in_flight(const struct scenario *s, int64_t chunks)
{
	double v = (double)chunks;

	return lesser(1, floor(v * (double)(s->plan.pp - 1) / 15) / v);
}

void train_bound_activations(const struct train_bound *b, const struct scenario *s,
			     struct bound_bytes *out)
{
	double loose = larger(1, s->stack.fragmentation), p = (double)s->plan.pp, least;
	int64_t chunks = scenario_chunks(s);
	double layers = even_layers(s, chunks) * (double)chunks;
	bool known = s->plan.pp == 1 || schedule_by_rounds(s->plan.schedule);

	*out = (struct bound_bytes){ .layers = s->model.layers,
				     .layer = loose * b->layer.saved_bytes };
	if (known)
		set_flight(s, chunks, out);
	least = known ? flight_of(out, s->plan.pp - 1) : least_in_flight(s, chunks);
	out->mean = loose * least * b->all.saved_bytes / p;
	if (known && layers > 0)
		out->first = loose * flight_of(out, 0) *
			     (layers * b->layer.saved_bytes + b->first.saved_bytes);
}

static double spread_bytes(const struct bound_bytes *states,
			   const struct bound_bytes *activations)
{
	double sum = 0;

	for (int64_t i = 0; i < activations->stages; i++) {
		double each =
			states->layer + flight_of(activations, i) * activations->layer;

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
