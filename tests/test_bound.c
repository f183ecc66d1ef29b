/* test_bound.c - a bound leaves out what it cannot know, and nothing else: where a plan
 * has none of that, it is the estimate. A second statement of a term would drift apart
 * here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/legality.h"
#include "engine/train/bound.h"
#include "engine/train/train.h"
#include "tests/support/any.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

/* One stage and one replica: no bubble, and nothing to exchange at the step's end. */
static bool make_alone(struct scenario *s)
{
	any_scenario(s);
	s->plan.pp = s->plan.vpp = 1;
	s->plan.schedule = SCHEDULE_1F1B;
	s->plan.split = SPLIT_EVEN;
	s->plan.zero_group = 0;
	s->plan.zero = s->plan.zero > 1 ? 1 : s->plan.zero;
	s->plan.ep = 1;
	s->plan.activation_offload = s->plan.optimizer_offload = 0;
	s->plan.offload_modules = 0;
	s->plan.remat_policy = REMAT_MODULES;
	s->plan.global_batch = s->plan.micro_batch * (1 + (int64_t)next(6));
	s->plan.optimizer = OPTIMIZER_ADAMW;
	s->cluster.gpus = s->plan.tp * s->plan.cp;
	s->cluster.scale = next(2) ? 1 : 1.3;
	/* as trial_begin() does, whose scenario the planner asks with */
	scenario_mark(s);
	return scenario_check(s, NULL) == 0;
}

static void bound_of(struct trial *trial, const struct scenario *s,
		     struct train_bound *out)
{
	struct layer_cost part[MAX_PARTS];

	trial->scenario = *s;
	trial_begin(trial);
	trial_cost(trial, part);
	train_bound(s, part, out);
}

/* Whether no gradient has anywhere to go. */
static bool exchanges_nothing(const struct scenario *s)
{
	return s->plan.cp == 1 && scenario_edp(s) == 1;
}

static void check_seconds(const struct scenario *s, const struct train_bound *bound,
			  const struct estimate *e)
{
	struct bound_shape shape;
	double seconds;

	train_bound_shape(s, &shape);
	seconds = train_bound_pipeline(bound, &shape) + train_bound_ends(bound, s);
	seconds = train_bound_scaled(s, seconds);
	assert_true(seconds <= e->step_seconds);
	if (!exchanges_nothing(s))
		return;
	if (fabs(seconds / e->step_seconds - 1) > 3e-9)
		any_describe(s);
	assert_close(seconds, e->step_seconds, 3e-9);
}

static void check_bytes(const struct scenario *s, const struct train_bound *bound,
			const struct estimate *e)
{
	const struct stage_memory *m = &e->stage[0];
	struct bound_bytes states, activations;
	struct bound_shape shape;
	struct shards shards;
	struct states each;

	states_shards(s, &shards);
	states_bytes(s, &shards, &each);
	train_bound_states(bound, s, &states);
	train_bound_shape(s, &shape);
	train_bound_activations(bound, s, &shape, &activations);
	assert_close(states.mean,
		     m->weights_bytes + m->gradients_bytes + m->optimizer_bytes +
			     bound->all.dense_trainable * each.sync_copy,
		     1e-9);
	if (s->plan.recompute == RECOMPUTE_NONE && s->plan.mlp_tiles <= 1)
		assert_close(activations.mean,
			     m->activations_bytes * larger(1, s->stack.fragmentation),
			     1e-9);
}

static void test_bound_is_the_estimate_of_a_stage_alone(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct trial *trial = malloc(sizeof *trial);
	int alone = 0, legal = 0;

	(void)state;
	seed = 12;
	while (legal < 3000) {
		struct train_bound bound;
		struct scenario s;

		if (!make_alone(&s))
			continue;
		train_estimate(&s, e);
		if (!e->legal)
			continue;
		legal++;
		alone += exchanges_nothing(&s);
		bound_of(trial, &s, &bound);
		check_seconds(&s, &bound, e);
		check_bytes(&s, &bound, e);
	}
	assert_true(alone > 1000);
	free(trial);
	free(e);
}

/* Whether bytes are beyond a limit is asked in a shorter way than how many they are: on
 * both sides of what they are, of what they would be without activations, and of none
 * and all. */
/* What pairs of passes hide of each other comes off the bound as off the estimate,
 * which no bound is above: experts and both schedules of pairs, with adapters too,
 * whose passes wait for the CPU. */
static void test_pairs_are_not_bounded_above_the_estimate(void **state)
{
	static struct trial trial;
	static struct estimate e;
	int hide = 0;

	(void)state;
	seed = 17;
	for (int legal = 0; legal < some_of(400);) {
		struct train_bound bound;
		struct bound_shape shape;
		struct scenario s;
		double seconds;

		any_scenario(&s);
		if (s.model.moe.experts == 0)
			continue;
		s.plan.schedule = next(2) ? SCHEDULE_DUALPIPE : SCHEDULE_DUALPIPEV;
		s.plan.vpp = s.plan.schedule == SCHEDULE_DUALPIPEV ? 2 : 1;
		s.plan.pp = 2 << next(3);
		s.plan.ep_overlap = true;
		scenario_mark(&s);
		if (scenario_check(&s, NULL) > 0)
			continue;
		train_estimate(&s, &e);
		if (!e.legal)
			continue;
		legal++;
		bound_of(&trial, &s, &bound);
		train_bound_shape(&s, &shape);
		hide += bound.all.pairs_hide > 0;
		seconds = train_bound_pipeline(&bound, &shape) +
			  train_bound_ends(&bound, &s);
		if (train_bound_scaled(&s, seconds) > e.step_seconds * (1 + 1e-9)) {
			any_describe(&s);
			fail_msg("%.17g above %.17g", train_bound_scaled(&s, seconds),
				 e.step_seconds);
		}
	}
	assert_true(hide > 0);
}

static void check_limits(const struct train_bound *bound,
			 const struct bound_bytes *states,
			 const struct bound_bytes *activations)
{
	double bytes = train_bound_bytes(bound, states, activations);
	const double limit[] = { 0,           states->mean,
				 0.9 * bytes, bytes * (1 - 1e-12),
				 bytes,       bytes * (1 + 1e-12),
				 1.1 * bytes, 2 * bytes };

	for (size_t i = 0; i < sizeof limit / sizeof limit[0]; i++)
		assert_int_equal(
			train_bound_exceeds(bound, states, activations, limit[i]),
			bytes > limit[i]);
}

static void test_limits_are_those_of_the_bytes(void **state)
{
	struct trial *trial = malloc(sizeof *trial);
	int legal = 0, spread = 0, first = 0;

	(void)state;
	seed = 14;
	while (legal < 1500) {
		struct bound_bytes states, activations;
		struct bound_shape shape;
		struct train_bound bound;
		struct scenario s;

		any_scenario(&s);
		if (next(2))
			s.plan.split = SPLIT_EVEN;
		scenario_mark(&s);
		if (scenario_check(&s, NULL) != 0)
			continue;
		legal++;
		bound_of(trial, &s, &bound);
		train_bound_states(&bound, &s, &states);
		train_bound_shape(&s, &shape);
		train_bound_activations(&bound, &s, &shape, &activations);
		if (isinf(states.mean))
			continue;
		first += activations.first > 0;
		spread += activations.first <= 0 && shape.in_flight && s.plan.pp > 1;
		check_limits(&bound, &states, &activations);
	}
	assert_true(first > 100 && spread > 100);
	free(trial);
}

/* Numbers of all sizes and signs, as memory may hold them where nobody wrote: alike in
 * all places they would cancel each other. */
static void litter(void *memory, size_t size, uint64_t word)
{
	for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
		word ^= word << 13;
		word ^= word >> 7;
		word ^= word << 17;
		memcpy((char *)memory + at, &word, sizeof word);
	}
}

/* What a search asks of a plan, in its order. */
struct answers {
	double pipeline, least_bytes, lean_floor, floor, seconds, bytes;
};

static void ask(struct trial *trial, const struct scenario *s, struct answers *out)
{
	struct plan *plan = &trial->scenario.plan;
	struct layer_cost part[MAX_PARTS];
	bool exact;

	*out = (struct answers){ 0 };
	trial->scenario = *s;
	trial_begin(trial);
	trial_cost(trial, part);
	/* first without ZeRO's traffic in each micro-batch */
	plan->zero = 0;
	trial_use(trial, part);
	if (!trial_stages(trial))
		return;
	plan->zero = s->plan.zero;
	out->pipeline = trial_pipeline_floor(trial);
	out->least_bytes = trial_bytes(trial, &exact);
	out->lean_floor = trial_lean_floor(trial);
	trial_use(trial, part);
	trial_stages(trial);
	out->floor = trial_floor(trial);
	out->seconds = trial_seconds(trial, 0);
	out->bytes = trial_bytes(trial, &exact);
}

/* Nor does a bound hang on what nobody wrote, whatever stood there before. */
static void test_what_memory_held_decides_nothing(void **state)
{
	struct trial *trial = malloc(sizeof *trial);
	int legal = 0, enough = some_of(2000);

	(void)state;
	seed = 15;
	while (legal < enough) {
		struct answers clean, littered;
		struct scenario s;

		any_scenario(&s);
		scenario_mark(&s);
		if (scenario_check(&s, NULL) != 0)
			continue;
		legal++;
		memset(trial, 0, sizeof *trial);
		ask(trial, &s, &clean);
		litter(trial, sizeof *trial, seed);
		ask(trial, &s, &littered);
		if (memcmp(&clean, &littered, sizeof clean) != 0) {
			any_describe(&s);
			assert_close(littered.lean_floor, clean.lean_floor, 0);
		}
		assert_memory_equal(&littered, &clean, sizeof clean);
	}
	free(trial);
}

/* A search estimates with parts that it costed for other plans: recomputed in another
 * way, and dealt out without ZeRO's traffic. */
static void ask_figures(struct trial *trial, const struct scenario *s,
			struct estimate *out)
{
	struct plan *plan = &trial->scenario.plan;
	struct layer_cost other[MAX_PARTS], part[MAX_PARTS];
	struct answers before;

	ask(trial, s, &before);
	trial_cost(trial, part);
	plan->recompute =
		s->plan.recompute == RECOMPUTE_FULL ? RECOMPUTE_NONE : RECOMPUTE_FULL;
	trial_cost(trial, other);
	trial_use(trial, other);
	plan->recompute = s->plan.recompute;
	trial_use(trial, part);
	if (before.seconds > 0 && next(2)) {
		trial_stages(trial);
		trial_seconds(trial, before.seconds * (double)next(4) / 2);
	}
	trial_figures(trial, out);
}

static void test_figures_with_known_parts_are_the_estimates(void **state)
{
	struct trial *trial = malloc(sizeof *trial);
	struct estimate *known = calloc(1, sizeof *known);
	struct estimate *whole = calloc(1, sizeof *whole);
	int legal = 0, enough = some_of(2000), split = 0;

	(void)state;
	seed = 16;
	while (legal < enough) {
		struct scenario s;

		any_scenario(&s);
		scenario_mark(&s);
		if (scenario_check(&s, NULL) != 0)
			continue;
		legal++;
		memset(known, 0, sizeof *known);
		memset(whole, 0, sizeof *whole);
		ask_figures(trial, &s, known);
		train_figures(&s, whole);
		split += whole->legal;
		if (memcmp(known, whole, sizeof *known) != 0) {
			any_describe(&s);
			assert_close(known->step_seconds, whole->step_seconds, 0);
		}
		assert_memory_equal(known, whole, sizeof *known);
	}
	assert_true(split > enough / 2);
	free(trial);
	free(known);
	free(whole);
}

/* Steps whose shards travel beside experts of other ranks, on hosts that are nearly as
 * slow as their GPUs: what shows of the traffic then is a part that hangs on both. */
static bool make_slow_hosts(struct scenario *s)
{
	any_scenario(s);
	if (s->model.moe.experts < 4)
		return false;
	s->plan.zero = 2 + (int64_t)next(2);
	s->plan.ep = 2 << next(2);
	s->plan.lora_rank = next(2) ? 0 : 16;
	s->plan.split = SPLIT_EVEN;
	s->cluster.accelerator.calibration.host_scale =
		0.1 * (double)(1 << next(6)) * (1 + 0.1 * (double)next(8));
	scenario_mark(s);
	return scenario_check(s, NULL) == 0;
}

static void test_floors_hold_on_slow_hosts(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct trial *trial = malloc(sizeof *trial);
	int legal = 0;

	(void)state;
	seed = 15;
	for (int i = 0; i < 200000 && legal < 1500; i++) {
		struct answers told;
		struct scenario s;

		if (!make_slow_hosts(&s))
			continue;
		train_estimate(&s, e);
		if (!e->legal)
			continue;
		legal++;
		ask(trial, &s, &told);
		if (told.lean_floor > e->step_seconds) {
			any_describe(&s);
			fail_msg("floor %.15g, step %.15g", told.lean_floor,
				 e->step_seconds);
		}
		assert_true(told.floor <= e->step_seconds);
		assert_true(told.seconds == e->step_seconds);
	}
	assert_true(legal > 300);
	free(trial);
	free(e);
}

/* A part's seconds, of GPU and CPU, some parts far larger than others. */
static void any_sides(struct layer_cost *part)
{
	double *const gpu[] = { &part->forward,          &part->exposed_forward,
				&part->input_grad,       &part->weight_grad,
				&part->exposed_backward, &part->recompute };
	double size = 1e-3 * (double)(1 << next(10));

	for (size_t i = 0; i < sizeof gpu / sizeof gpu[0]; i++)
		*gpu[i] = size * (double)(1 + next(50));
	/* of a forward the GPU waits for launches no longer than it takes */
	part->wait_forward = part->forward * 0.1 * (double)(next(2) * next(10));
	part->host_forward =
		(part->forward - part->wait_forward + part->exposed_forward) * 0.012 *
		(double)next(100);
	part->host_backward = (part->input_grad + part->weight_grad + part->recompute +
			       part->exposed_backward) *
			      0.012 * (double)next(100);
}

/* A layer of some kind, and more, with some of the ends: of a second more on the GPU,
 * what shows at the corner between it and the CPU, (h^4 + g^4)^(1/4), as a difference.
 */
static double shown_somewhere(const struct step *step, bool backward)
{
	const struct layer_cost *const end[] = { &step->embedding, &step->head,
						 &step->mtp };
	int ends = step->scenario->model.mtp_layers > 0 ? 3 : 2;
	double gpu = 0, host = 0, more;

	for (int i = -1 - (int)next(2); i < ends; i++) {
		const struct layer_cost *part =
			i < 0 ? &step->kind[next((uint64_t)step->scenario->model.kinds)]
			      : end[i];
		double times = i < 0 ? 1 : (double)next(2);

		gpu += times *
		       (backward ? part->input_grad + part->weight_grad +
					   part->recompute + part->exposed_backward
				 : part->forward - part->wait_forward +
					   part->exposed_forward);
		host += times * (backward ? part->host_backward : part->host_forward);
	}
	more = 1e-4 * gpu;
	/* the CPU sets the pace: nothing shows for sure */
	return host > gpu ? 0
			  : (pow(pow(host, 4) + pow(gpu + more, 4), 0.25) -
			     pow(pow(host, 4) + pow(gpu, 4), 0.25)) /
				    more;
}

static void quiet_hosts(struct step *step)
{
	struct layer_cost *const end[] = { &step->embedding, &step->head, &step->mtp };

	for (int i = 0; i < MAX_LAYER_KINDS + 3; i++) {
		struct layer_cost *part = i < 3 ? end[i] : &step->kind[i - 3];

		part->host_forward = part->host_backward = 0;
	}
}

/* What a floor says that shows of the shards' seconds shows in every virtual stage that
 * has a layer, whatever the ends beside it. */
static void test_shards_show_so_much_everywhere(void **state)
{
	struct trial *trial = calloc(1, sizeof *trial);
	struct step *step = &trial->whole.step;
	struct layer_cost part[MAX_PARTS];
	int some = 0, none = 0;

	(void)state;
	seed = 16;
	for (int i = 0; i < 20000 && some < 300; i++) {
		double least = 1, shows, all;

		if (!make_slow_hosts(&trial->scenario))
			continue;
		trial_begin(trial);
		trial_cost(trial, part);
		for (int k = 0; k < trial->parts; k++)
			any_sides(&part[k]);
		trial_use(trial, part);
		shows = step_shard_seconds(step);
		for (int k = 0; k < 400; k++)
			least = fmin(least, shown_somewhere(step, next(2)));
		quiet_hosts(step);
		all = step_shard_seconds(step);
		assert_true(all >= 0 && isfinite(all));
		if (shows > all * (least + 1e-9))
			any_describe(&trial->scenario);
		assert_true(shows <= all * (least + 1e-9));
		some += shows > 0;
		none += shows == 0;
	}
	assert_true(some == 300 && none > 10);
	free(trial);
}

/* Of schedules that only a simulation tells a stage holds a micro-batch, and a bound
 * counts on the fifteenth of it that each stage but the first adds, in whole chunks. */
static void test_what_simulated_schedules_hold_at_least(void **state)
{
	static const struct {
		const char *schedule;
		int64_t stages;
		double least;
	} rows[] = {
		{ "zb-h1", 2, 0 },  { "zb-h1", 15, 0 },  { "zb-h1", 16, 1 },
		{ "zb-h1", 32, 1 }, { "zb-v", 4, 0 },    { "zb-v", 8, 0 },
		{ "zb-v", 9, 0.5 }, { "zb-v", 15, 0.5 }, { "zb-v", 16, 1 },
		{ "zb-v", 40, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct bound_shape shape;
		struct scenario s;

		case_dense(&s);
		s.plan.pp = rows[i].stages;
		case_set(&s, "schedule", rows[i].schedule);
		train_bound_shape(&s, &shape);
		assert_false(shape.in_flight);
		assert_close(shape.least, rows[i].least, 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound_is_the_estimate_of_a_stage_alone),
		cmocka_unit_test(test_floors_hold_on_slow_hosts),
		cmocka_unit_test(test_shards_show_so_much_everywhere),
		cmocka_unit_test(test_pairs_are_not_bounded_above_the_estimate),
		cmocka_unit_test(test_limits_are_those_of_the_bytes),
		cmocka_unit_test(test_what_memory_held_decides_nothing),
		cmocka_unit_test(test_figures_with_known_parts_are_the_estimates),
		cmocka_unit_test(test_what_simulated_schedules_hold_at_least),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
