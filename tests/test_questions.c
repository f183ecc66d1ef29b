/* test_questions.c - fronts, smallest and largest, robust and missing plans: each
 * against estimates of every plan of a small space. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/inverse.h"
#include "engine/planner/miss.h"
#include "engine/planner/pareto.h"
#include "engine/planner/robust.h"
#include "engine/planner/why.h"
#include "engine/train/train.h"
#include "engine/whatif/whatif.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct planner_problem problem, next;
static struct planner_result result;
static struct estimate e;

static void finish(struct planner *planner, struct planner_result *out)
{
	assert_non_null(planner);
	while (planner_step(planner, 100)) {
	}
	*out = *planner_result(planner);
}

static void solve(const struct planner_problem *what, struct planner_result *out)
{
	struct planner *planner = planner_start(what);

	finish(planner, out);
	planner_free(planner);
}

/* So few plans that each_plan() can try them all. */
static void some_axes(void)
{
	static const char *const given[] = {
		"cp_kind",          "zero_group",        "recompute_modules",
		"recompute_layers", "optimizer_offload", "activation_offload"
	};

	planner_axes(&problem);
	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
		double value = knob_get(&problem.base, knob_find(given[i]));

		planner_pin(&problem, knob_find(given[i]), &value, 1);
	}
}

static void begin(const char *model, const char *cluster, int gpus, int batch)
{
	static const double one[] = { 1, 2 };
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	/* an axis that is read behind the last one is no pointer */
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, model, cluster, "megatron-core", &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = gpus;
	problem.base.plan.global_batch = batch;
	problem.base.plan.seq_len = 4096;
	problem.reserve = 0.05;
	problem.top = 10;
	some_axes();
	planner_pin(&problem, knob_find("vpp"), one, 2);
}

/* Calls visit for every legal plan of a problem. */
static void each_plan(const struct planner_problem *p,
		      void (*visit)(const struct scenario *s, void *context),
		      void *context)
{
	int choice[MAX_AXES] = { 0 }, i = 0;

	while (i >= 0) {
		struct scenario s = p->base;

		for (int k = 0; k < p->axes; k++)
			knob_set(&s, p->axis[k].knob, p->axis[k].value[choice[k]]);
		train_estimate(&s, &e);
		if (e.legal)
			visit(&s, context);
		for (i = p->axes - 1; i >= 0; i--) {
			if (++choice[i] < p->axis[i].count)
				break;
			choice[i] = 0;
		}
	}
}

static double capacity(const struct planner_problem *p)
{
	return p->base.cluster.accelerator.usable_bytes * (1 - p->reserve);
}

static void note_fit(const struct scenario *s, void *context)
{
	bool *fits = context;

	(void)s;
	*fits |= e.memory.total_bytes <= capacity(&problem);
}

static bool anything_fits(const char *key, double value)
{
	struct planner_problem set;
	struct scenario base = problem.base;
	bool fits = false;

	if (!knob_set(&base, knob_find(key), value))
		fail_msg("%s = %g", key, value);
	planner_again(&problem, &base, &set);
	assert_true(planner_pin(&set, knob_find(key), &value, 1));
	each_plan(&set, note_fit, &fits);
	return fits;
}

static void run_inverse(struct inverse *inverse)
{
	int searches = 0;

	while (inverse_next(inverse, &next)) {
		solve(&next, &result);
		inverse_take(inverse, &next, &result);
		assert_true(++searches <= MAX_TRIED + 1);
	}
	assert_true(inverse->done);
	if (!inverse->found)
		return;
	train_estimate(&inverse->scenario, &e);
	assert_true(e.legal);
	assert_true(e.memory.total_bytes <= capacity(&problem));
}

static void test_the_smallest_cluster(void **state)
{
	static struct inverse inverse;
	static struct planner_result fast;
	struct scenario base;

	(void)state;
	begin("llama2-13b", "dgx-a100-40g", 64, 24);
	inverse_begin(&inverse, INVERSE_GPUS, &problem, 0);
	run_inverse(&inverse);
	assert_true(inverse.found);
	assert_true(inverse.answer > 1 && inverse.answer <= 16);
	for (int n = 1; n < (int)inverse.answer; n++)
		if (n <= 8 || n % 8 == 0)
			assert_false(anything_fits("gpus", n));
	assert_true(anything_fits("gpus", inverse.answer));
	assert_int_equal(inverse.scenario.cluster.gpus, (int64_t)inverse.answer);
	/* the plan is the fastest there */
	base = problem.base;
	base.cluster.gpus = (int64_t)inverse.answer;
	planner_again(&problem, &base, &next);
	solve(&next, &fast);
	train_estimate(&inverse.scenario, &e);
	assert_true(fast.top[0].step_seconds == e.step_seconds);
}

static void test_an_own_list_of_machines_is_kept_to(void **state)
{
	static struct inverse inverse;
	double gpus[] = { 48, 6, 24 };

	(void)state;
	begin("llama2-13b", "dgx-a100-40g", 64, 24);
	assert_true(planner_pin(&problem, knob_find("gpus"), gpus, 3));
	inverse_begin(&inverse, INVERSE_GPUS, &problem, 0);
	assert_int_equal(inverse.count, 3);
	run_inverse(&inverse);
	assert_true(inverse.answer == (anything_fits("gpus", 6) ? 6 : 24));
}

static void test_the_fewest_gpus_in_time(void **state)
{
	static struct inverse inverse;
	double seconds, present;

	(void)state;
	begin("llama3.2-1b", "dgx-h100", 8, 64);
	problem.base.plan.tokens = 1e11;
	solve(&problem, &result);
	planner_scenario(&problem, &result.top[0], &next.base);
	train_estimate(&next.base, &e);
	seconds = present = e.run.seconds;
	/* exactly what the present machine takes is still in time */
	inverse_begin(&inverse, INVERSE_GPUS, &problem, seconds);
	run_inverse(&inverse);
	assert_true(inverse.found && inverse.answer == 8);
	inverse_begin(&inverse, INVERSE_GPUS, &problem, present / 2.5);
	run_inverse(&inverse);
	assert_true(inverse.found && inverse.answer > 8);
	assert_true(e.run.seconds <= present / 2.5);
	seconds = e.run.seconds;
	/* all smaller machines of the list are too slow */
	for (int i = 0; inverse.value[i] < inverse.answer; i++) {
		struct scenario base = problem.base;

		base.cluster.gpus = (int64_t)inverse.value[i];
		planner_again(&problem, &base, &next);
		solve(&next, &result);
		if (result.found == 0)
			continue;
		planner_scenario(&next, &result.top[0], &base);
		train_estimate(&base, &e);
		assert_true(e.run.seconds > present / 2.5);
	}
	inverse_begin(&inverse, INVERSE_GPUS, &problem, 1);
	run_inverse(&inverse);
	assert_false(inverse.found);
}

static void test_the_largest_micro_batch(void **state)
{
	static struct inverse inverse;

	(void)state;
	begin("llama2-13b", "dgx-a100-40g", 8, 24);
	inverse_begin(&inverse, INVERSE_MICRO_BATCH, &problem, 0);
	run_inverse(&inverse);
	assert_true(inverse.found);
	assert_int_equal(inverse.scenario.plan.micro_batch, (int64_t)inverse.answer);
	for (int n = (int)inverse.answer + 1; n <= 24; n++)
		if (24 % n == 0)
			assert_false(anything_fits("mbs", n));
}

static void test_the_longest_sequence(void **state)
{
	static struct inverse inverse;

	(void)state;
	begin("llama3.2-1b", "dgx-a100-40g", 4, 4);
	inverse_begin(&inverse, INVERSE_SEQUENCE, &problem, 0);
	run_inverse(&inverse);
	assert_true(inverse.found);
	assert_true(inverse.answer >= 8192);
	assert_true(inverse.beyond > inverse.answer);
	assert_true(inverse.beyond <= inverse.answer * 17 / 16);
	assert_false(anything_fits("seq", inverse.beyond));
}

static void test_the_largest_model(void **state)
{
	static struct inverse inverse;
	struct model_counts was, is;

	(void)state;
	begin("llama3.2-1b", "dgx-a100-40g", 8, 8);
	inverse_begin(&inverse, INVERSE_MODEL, &problem, 0);
	run_inverse(&inverse);
	assert_true(inverse.found);
	model_count(&problem.base.model, &was);
	model_count(&inverse.scenario.model, &is);
	assert_true(is.total > 4 * was.total);
	assert_true(is.total == inverse.parameters);
	/* eight times 38 GiB at 16 bytes a parameter is all there can be */
	assert_true(is.total * 16 < 8 * capacity(&problem) * 1.01);
	assert_true(inverse.scenario.model.hidden > problem.base.model.hidden);
	assert_true(inverse.scenario.model.layers > problem.base.model.layers);
}

static void test_models_scale_soundly(void **state)
{
	static const char *const models[] = { "llama3.1-70b", "gpt3-175b",
					      "deepseek-v3",  "mamba2-2.7b",
					      "gemma2-2b",    "nemotron-h-56b",
					      "gpt-oss-120b", "mixtral-8x7b" };
	struct error error = { "" };
	struct scenario s;
	struct model scaled;
	struct model_counts was, is;
	char why[128];

	(void)state;
	for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
		assert_true(
			scenario_blank(&s, models[i], "dgx-h100", "generic", &error));
		model_count(&s.model, &was);
		assert_true(model_scale(&s.model, 1, &scaled));
		model_count(&scaled, &is);
		assert_close(is.total, was.total, 0.02);
		for (int f = 1; f <= 24; f++) {
			if (!model_scale(&s.model, f / 8.0, &scaled))
				fail_msg("%s x %d/8", models[i], f);
			if (!model_sound(&scaled, why, sizeof why))
				fail_msg("%s x %d/8: %s", models[i], f, why);
			model_count(&scaled, &is);
			assert_true(f <= 8 || is.total > was.total);
			assert_true(f >= 8 || is.total < was.total);
		}
		assert_false(model_scale(&s.model, 1000, &scaled));
		assert_false(model_scale(&s.model, 0, &scaled));
		assert_false(model_scale(&s.model, NAN, &scaled));
	}
}

static struct pareto front;

/* By lists that are there or anew, the answer is the same, and no candidate is lost. */
static void check_same_answer(const struct planner_result *lessened)
{
	static struct planner_result anew;

	solve(&next, &anew);
	assert_int_equal(lessened->found, anew.found);
	assert_memory_equal(lessened->top, anew.top,
			    (size_t)anew.found * sizeof *anew.top);
	assert_true(lessened->counts.candidates ==
		    lessened->counts.explored + lessened->counts.repeated +
			    lessened->counts.undivided + lessened->counts.unruly +
			    lessened->counts.bounded + lessened->counts.too_large);
}

static void run_front(enum pareto_kind kind)
{
	struct planner *planner = NULL;

	pareto_begin(&front, kind, &problem);
	while (pareto_next(&front, &next)) {
		if (planner && pareto_lessens(&front)) {
			planner_lessen(planner, next.reserve);
		} else {
			planner_free(planner);
			planner = planner_start(&next);
		}
		finish(planner, &result);
		check_same_answer(&result);
		pareto_take(&front, &next, &result);
	}
	planner_free(planner);
	assert_true(front.done);
	if (front.count == 0)
		fail_msg("no front of %s", problem.base.model.name);
}

static void is_beaten_by_the_front(const struct scenario *s, void *context)
{
	double room = problem.base.cluster.accelerator.usable_bytes;

	(void)s;
	(void)context;
	if (e.memory.total_bytes > capacity(&problem))
		return;
	for (int i = 0; i < front.count; i++) {
		const struct planner_found *f = &front.point[i].found;

		if (f->tokens_per_second_per_gpu >=
			    e.tokens_per_second_per_gpu * (1 - 1e-12) &&
		    f->memory_bytes <= e.memory.total_bytes + 0.01 * room)
			return;
	}
	fail_msg("%g tok/s/GPU in %g bytes is better than the front",
		 e.tokens_per_second_per_gpu, e.memory.total_bytes);
}

static void test_the_front_of_memory(void **state)
{
	static const struct {
		const char *model;
		int gpus, batch;
	} cases[] = { { "llama3.2-1b", 4, 8 },
		      { "gpt2-xl", 8, 16 },
		      { "mixtral-8x7b", 16, 16 },
		      { "mamba2-2.7b", 6, 12 } };
	static const double one[] = { 1 };

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		begin(cases[c].model, "dgx-a100-40g", cases[c].gpus, cases[c].batch);
		problem.base.plan.seq_len = 1024;
		some_axes();
		planner_pin(&problem, knob_find("vpp"), one, 1);
		/* enough room that something fits, little enough to matter */
		if (c == 2)
			problem.base.cluster.accelerator.usable_bytes *= 2;
		run_front(PARETO_MEMORY);
		for (int i = 1; i < front.count; i++) {
			assert_true(front.point[i].found.memory_bytes <
				    front.point[i - 1].found.memory_bytes);
			assert_true(front.point[i].found.tokens_per_second_per_gpu <
				    front.point[i - 1].found.tokens_per_second_per_gpu);
		}
		each_plan(&problem, is_beaten_by_the_front, NULL);
		for (int i = 0; i < front.count; i++) {
			struct scenario s;

			pareto_scenario(&front, &front.point[i], &s);
			train_estimate(&s, &e);
			assert_true(e.memory.total_bytes ==
				    front.point[i].found.memory_bytes);
		}
	}
}

/* A space that is bounded, not tried: what was found out of a node has to hold with
 * less room. */
static void test_a_front_by_one_list(void **state)
{
	(void)state;
	begin("llama3.1-70b", "dgx-h100", 64, 256);
	run_front(PARETO_MEMORY);
	assert_true(front.count >= 4);
	begin("mixtral-8x7b", "dgx-a100-80g", 32, 128);
	run_front(PARETO_MEMORY);
	assert_true(front.count >= 4);
}

static void test_the_front_of_gpus(void **state)
{
	(void)state;
	begin("llama3.2-1b", "dgx-h100", 8, 48);
	run_front(PARETO_GPUS);
	assert_true(front.count >= 4);
	for (int i = 0; i < front.count; i++) {
		struct scenario s;

		pareto_scenario(&front, &front.point[i], &s);
		assert_int_equal(s.cluster.gpus, (int64_t)front.point[i].gpus);
		train_estimate(&s, &e);
		assert_true(e.feasible);
		assert_close(e.tokens_per_second, front.point[i].tokens_per_second,
			     1e-12);
		if (i == 0)
			continue;
		assert_true(front.point[i].gpus > front.point[i - 1].gpus);
		assert_true(front.point[i].tokens_per_second >
			    front.point[i - 1].tokens_per_second);
	}
	assert_true(front.point[front.count - 1].gpus <= 32);
}

/* A tenth less of one thing each, and nothing else is touched. */
static void test_what_is_a_tenth_worse(void **state)
{
	static struct scenario weak, want;

	(void)state;
	begin("llama2-13b", "dgx-a100-40g", 16, 32);
	for (int i = 0; i < LINK_COUNT; i++)
		problem.base.cluster.link[i].bytes_per_second = 1e9 * (i + 1);
	for (int which = 0; which < ROBUST_CASES; which++) {
		struct accelerator *a = &want.cluster.accelerator;

		weak = want = problem.base;
		robust_weaken((enum robust_case)which, &weak);
		if (which == ROBUST_NETWORK) {
			want.cluster.link[LINK_NETWORK].bytes_per_second *= 0.9;
			want.cluster.link[LINK_UPPER].bytes_per_second *= 0.9;
		}
		for (int i = 0; which == ROBUST_GEMM && i < PRECISION_COUNT; i++)
			a->calibration.gemm_efficiency[i] *= 0.9;
		if (which == ROBUST_MEMORY)
			a->usable_bytes *= 0.9;
		assert_memory_equal(&weak, &want, sizeof weak);
	}
}

static void test_what_stays_best(void **state)
{
	static struct robust robust;
	static struct planner_result first, worse;
	int best = 0;

	(void)state;
	begin("llama2-13b", "dgx-a100-40g", 16, 32);
	solve(&problem, &first);
	assert_true(first.found == 10);
	assert_true(robust_begin(&robust, &problem, &first));
	while (robust_next(&robust, &next)) {
		solve(&next, &result);
		robust_take(&robust, &result);
	}
	assert_int_equal(robust.plans, 10);
	for (int c = 0; c < ROBUST_CASES; c++) {
		next = problem;
		robust_weaken((enum robust_case)c, &next.base);
		next.top = 1;
		next.exhaustive = true;
		solve(&next, &worse);
		assert_true(worse.found == 1 && robust.has_best[c]);
		assert_true(worse.top[0].score == robust.best[c].score);
		for (int i = 0; i < robust.plans; i++) {
			const struct robust_plan *own = &robust.item[i];
			int better = 0;

			assert_int_equal(own->rank[c] == 0, !own->fits[c]);
			for (int k = 0; k < robust.plans; k++)
				better += robust.item[k].fits[c] &&
					  robust.item[k].score[c] < own->score[c];
			assert_true(!own->fits[c] || own->rank[c] > better);
			if (own->always_best)
				assert_true(own->fits[c] &&
					    own->score[c] == worse.top[0].score);
			/* slower hardware never makes a plan faster */
			assert_true(own->step_seconds[c] >= own->step_seconds[0]);
		}
	}
	for (int i = 0; i < robust.plans; i++) {
		assert_int_equal(robust.item[i].rank[ROBUST_AS_IS], i + 1);
		best += robust.item[i].always_best;
	}
	/* with room to spare the best plan stays so: memory does not matter to it */
	begin("llama3.2-1b", "dgx-h100", 8, 8);
	solve(&problem, &first);
	assert_true(robust_begin(&robust, &problem, &first));
	while (robust_next(&robust, &next)) {
		solve(&next, &result);
		robust_take(&robust, &result);
	}
	for (int i = 0; i < robust.plans; i++)
		best += robust.item[i].always_best;
	assert_true(best > 0);
	memset(&first, 0, sizeof first);
	assert_true(robust_begin(&robust, &problem, &first));
	assert_false(robust_next(&robust, &next));
}

static void test_gains_are_what_they_say(void **state)
{
	static struct why why;
	static struct estimate now;
	struct scenario s, better;

	(void)state;
	begin("llama2-13b", "dgx-a100-80g", 16, 32);
	s = problem.base;
	s.plan.tp = 8;
	s.plan.pp = 2;
	s.plan.recompute = RECOMPUTE_FULL;
	train_estimate(&s, &now);
	assert_true(now.feasible);
	why_begin(&why, &problem, &s, &now);
	while (why_step(&why, &e)) {
	}
	assert_int_equal(why.count, MAX_WHY);
	for (int i = 0; i < why.count; i++) {
		const struct why_change *change = &why.change[i];
		struct scenario turned = s;

		/* one thing under two names is told once */
		assert_true(i == 0 || why.change[i - 1].gain > change->gain);
		assert_string_not_equal(change->knob->key, "precision");
		assert_string_not_equal(change->knob->key, "optimizer");
		assert_true(knob_get(&s, change->knob) == change->from);
		assert_true(knob_set(&turned, change->knob, change->to));
		train_estimate(&turned, &e);
		assert_true(e.feasible);
		assert_close(change->gain, 1 - e.step_seconds / now.step_seconds, 1e-9);
	}
	solve(&problem, &result);
	planner_scenario(&problem, &result.top[0], &better);
	why_pair(&why, &better, &e);
	assert_close(why.gain_of_all, 1 - result.top[0].step_seconds / now.step_seconds,
		     1e-9);
	assert_false(why.together);
	/* of the best plan none of the axes gains alone */
	train_estimate(&better, &now);
	why_begin(&why, &problem, &better, &now);
	while (why_step(&why, &e)) {
	}
	for (int i = 0; i < why.count; i++)
		for (int k = 0; k < problem.axes; k++)
			assert_true(why.change[i].knob != problem.axis[k].knob);
}

static void test_what_limits_is_the_largest_loss(void **state)
{
	double share;

	(void)state;
	begin("llama2-13b", "dgx-a100-80g", 16, 32);
	problem.base.plan.pp = 8;
	problem.base.plan.tp = 2;
	problem.base.plan.global_batch = 8;
	train_estimate(&problem.base, &e);
	assert_true(e.legal);
	assert_string_equal(why_limit(&e, &share), "bubble");
	assert_close(share, e.bubble_seconds / e.step_seconds, 1e-12);
	memset(&e, 0, sizeof e);
	e.step_seconds = 100;
	e.compute_seconds = 99;
	e.cost[DIM_DP].exposed_seconds = 1;
	assert_string_equal(why_limit(&e, &share), "compute");
	e.cost[DIM_DP].exposed_seconds = 5;
	assert_string_equal(why_limit(&e, &share), "DP");
}

static struct misses misses;

static void run_misses(void)
{
	misses_begin(&misses, &problem);
	for (int searches = 0; misses_next(&misses, &next); searches++) {
		solve(&next, &result);
		misses_take(&misses, &next, &result);
		assert_true(searches < 200);
	}
}

static void test_what_would_make_it_fit(void **state)
{
	(void)state;
	begin("llama2-13b", "dgx-a100-40g", 4, 24);
	solve(&problem, &result);
	assert_int_equal(result.found, 0);
	assert_true(result.has_nearest);
	double least = result.nearest.memory_bytes;
	run_misses();
	assert_int_equal(misses.count, MAX_MISSES);
	assert_true(misses.miss[0].memory_bytes == least);
	for (int i = 1; i < misses.count; i++)
		assert_true(misses.miss[i].memory_bytes >=
			    misses.miss[i - 1].memory_bytes);
	assert_true(misses.has_bytes < least);
	assert_close(misses.wants_bytes * 0.95, least, 1e-12);
	assert_true(misses.gpus > 4);
	assert_true(anything_fits("gpus", misses.gpus));
	assert_true(misses.seq_len == 0 || anything_fits("seq", misses.seq_len));
	assert_int_equal(misses.offload, anything_fits("optimizer_offload", 1));
	/* a memory of that size would do */
	next = problem;
	next.base.cluster.accelerator.usable_bytes = misses.wants_bytes * 1.0000001;
	solve(&next, &result);
	assert_true(result.found > 0);
}

/* Where the optimizer's states in host memory would do, that is said once: its pin is
 * not also said to stand in the way. */
static void test_offload_is_said_once(void **state)
{
	double none[] = { 0 };
	int said = 0;

	(void)state;
	for (int gpus = 1; gpus <= 8; gpus *= 2) {
		begin("llama2-13b", "dgx-a100-40g", gpus, 24);
		planner_pin(&problem, knob_find("optimizer_offload"), none, 1);
		solve(&problem, &result);
		if (result.found > 0)
			continue;
		run_misses();
		said += misses.offload;
		for (int i = 0; i < misses.unpins && misses.offload; i++)
			assert_string_not_equal(misses.unpin[i].knob->key,
						"optimizer_offload");
	}
	assert_true(said > 0);
}

static void test_nothing_divides(void **state)
{
	double one[] = { 1 }, even[] = { SPLIT_EVEN };

	(void)state;
	/* 7 GPUs: no degree divides 7 but PP, and 7 stages are not even */
	begin("llama3.2-1b", "dgx-h100", 7, 32);
	planner_pin(&problem, knob_find("vpp"), one, 1);
	planner_pin(&problem, knob_find("split"), even, 1);
	solve(&problem, &result);
	assert_int_equal(result.found, 0);
	assert_false(result.has_nearest);
	run_misses();
	assert_int_equal(misses.count, 0);
	assert_true(misses.gpus == 8);
	assert_true(misses.batch == 35);
	assert_true(anything_fits("gbs", 35));
}

/* Pins that contradict each other: each is named with a value that goes. */
static void test_pins_in_the_way(void **state)
{
	double tp[] = { 8 }, pp[] = { 2 };
	char text[96];

	(void)state;
	begin("llama3.1-8b", "dgx-h100", 8, 32);
	planner_pin(&problem, knob_find("tp"), tp, 1);
	planner_pin(&problem, knob_find("pp"), pp, 1);
	solve(&problem, &result);
	assert_int_equal(result.found, 0);
	run_misses();
	assert_int_equal(misses.unpins, 2);
	for (int i = 0; i < misses.unpins; i++) {
		struct planner_problem mended = problem;

		planner_pin(&mended, misses.unpin[i].knob, &misses.unpin[i].value, 1);
		solve(&mended, &result);
		assert_true(result.found > 0);
	}
	assert_true(misses_text(&misses, 2, text, sizeof text));
	assert_string_equal(text, "pp 1 would do");
	assert_false(misses_text(&misses, 3, text, sizeof text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_smallest_cluster),
		cmocka_unit_test(test_an_own_list_of_machines_is_kept_to),
		cmocka_unit_test(test_the_fewest_gpus_in_time),
		cmocka_unit_test(test_the_largest_micro_batch),
		cmocka_unit_test(test_the_longest_sequence),
		cmocka_unit_test(test_the_largest_model),
		cmocka_unit_test(test_models_scale_soundly),
		cmocka_unit_test(test_the_front_of_memory),
		cmocka_unit_test(test_a_front_by_one_list),
		cmocka_unit_test(test_the_front_of_gpus),
		cmocka_unit_test(test_what_is_a_tenth_worse),
		cmocka_unit_test(test_what_stays_best),
		cmocka_unit_test(test_gains_are_what_they_say),
		cmocka_unit_test(test_what_limits_is_the_largest_loss),
		cmocka_unit_test(test_what_would_make_it_fit),
		cmocka_unit_test(test_offload_is_said_once),
		cmocka_unit_test(test_nothing_divides),
		cmocka_unit_test(test_pins_in_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
