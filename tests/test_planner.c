/* test_planner.c - the search finds what estimating everything finds, and counts every
 * candidate once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/alike.h"
#include "engine/planner/planner.h"
#include "engine/predict/predict.h"
#include "engine/rules/rules.h"
#include "engine/schedule/schedule.h"
#include "engine/train/relax.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/any.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static void solve(const struct planner_problem *problem, struct planner_result *out)
{
	struct planner *planner = planner_start(problem);
	double before = 0;

	assert_non_null(planner);
	/* of what has to be tried a share that never falls, and all of it at the end */
	while (planner_step(planner, 1 + (int)next(500))) {
		double share = planner_result(planner)->progress;

		assert_true(share >= before && share < 1);
		before = share;
	}
	assert_true(planner_result(planner)->progress == 1);
	*out = *planner_result(planner);
	planner_free(planner);
}

static void check_counts(const struct planner_result *r)
{
	const struct planner_counts *c = &r->counts;

	assert_true(r->done);
	assert_true(c->candidates == c->explored + c->repeated + c->undivided +
					     c->unruly + c->bounded + c->too_large);
	assert_true(c->illegal + c->out_of_memory <= c->explored);
}

/* Searchers in slices of any length, in any order, that tell each other how good the
 * last wanted plan is. */
static void solve_together(const struct planner_problem *problem, int searchers,
			   struct planner_result *out)
{
	struct planner *part[8] = { planner_start(problem) };
	bool more = true;

	assert_non_null(part[0]);
	planner_step(part[0], (int)next(40));
	assert_int_equal(planner_split(part[0], part + 1, searchers - 1),
			 searchers - 1);
	while (more) {
		more = false;
		memset(out, 0, sizeof *out);
		out->done = true;
		out->progress = 1;
		for (int i = 0; i < searchers; i++) {
			more |= planner_step(part[i], (int)next(60));
			planner_merge(part[i], out);
		}
		for (int i = 0; i < searchers; i++)
			planner_expect(part[i], out);
	}
	for (int i = searchers - 1; i >= 0; i--)
		planner_free(part[i]);
}

static void same_together(const struct planner_problem *problem, int searchers,
			  const struct planner_result *alone)
{
	static struct planner_result together;

	solve_together(problem, searchers, &together);
	check_counts(&together);
	assert_true(together.counts.candidates == alone->counts.candidates);
	assert_int_equal(together.found, alone->found);
	for (int i = 0; i < alone->found; i++)
		assert_memory_equal(&together.top[i], &alone->top[i],
				    sizeof alone->top[i]);
	assert_int_equal(together.has_nearest && together.found == 0,
			 alone->has_nearest && alone->found == 0);
	if (alone->found == 0 && alone->has_nearest)
		assert_memory_equal(together.nearest.choice, alone->nearest.choice,
				    (size_t)problem->axes);
}

/* One searcher, several, and one that tries everything agree; is there an answer? */
static bool same_answer(struct planner_problem *problem)
{
	static struct planner_result fast, all;

	problem->exhaustive = false;
	solve(problem, &fast);
	problem->exhaustive = true;
	solve(problem, &all);
	check_counts(&fast);
	check_counts(&all);
	assert_int_equal(fast.found, all.found);
	for (int i = 0; i < fast.found; i++) {
		assert_memory_equal(fast.top[i].choice, all.top[i].choice,
				    (size_t)problem->axes);
		assert_true(fast.top[i].score == all.top[i].score);
	}
	assert_true(fast.found > 0 || fast.has_nearest == all.has_nearest);
	if (fast.found == 0 && fast.has_nearest)
		assert_memory_equal(fast.nearest.choice, all.nearest.choice,
				    (size_t)problem->axes);
	assert_true(fast.counts.candidates == all.counts.candidates);
	assert_true(fast.counts.explored <= all.counts.explored);
	problem->exhaustive = false;
	same_together(problem, 2 + (int)next(6), &fast);
	return fast.found > 0;
}

/* Drop values of any axis but the base's own until there are so few candidates that all
 * can be estimated. */
static void thin(struct planner_problem *problem, double most)
{
	double candidates = INFINITY;

	while (candidates > most) {
		struct planner_axis *axis =
			&problem->axis[next((uint64_t)problem->axes)];
		int at = (int)next((uint64_t)axis->count);

		if (axis->count > 1 &&
		    axis->value[at] != knob_get(&problem->base, axis->knob)) {
			for (int i = at; i + 1 < axis->count; i++)
				axis->value[i] = axis->value[i + 1];
			axis->count--;
		}
		candidates = 1;
		for (int i = 0; i < problem->axes; i++)
			candidates *= problem->axis[i].count;
	}
}

/* All schedules are free. */
static void free_schedules(struct planner_problem *problem)
{
	double all[SCHEDULE_COUNT];

	for (int k = 0; k < SCHEDULE_COUNT; k++)
		all[k] = k;
	planner_pin(problem, knob_find("schedule"), all, SCHEDULE_COUNT);
}

/* Other splits, and knobs that are no usual axes. */
static void free_more(struct planner_problem *problem)
{
	static const struct {
		const char *key;
		int count;
		double value[4];
	} more[] = {
		{ "split",
		  4,
		  { SPLIT_BALANCED, SPLIT_AUTO, SPLIT_EVEN, SPLIT_BALANCED_MEMORY } },
		{ "micro_batch_group", 3, { 0, 4, 8 } },
		{ "gpus", 3, { 8, 4, 16 } },
		{ "precision", 2, { PRECISION_BF16, PRECISION_FP16 } },
		{ "fsdp_reshard", 2, { 1, 0 } },
		{ "optimizer_sync", 2, { SYNC_BARRIER, SYNC_POST_VALIDATION } },
		{ "ep_overlap", 2, { 0, 1 } },
		{ "vpp", 4, { 2, 1, 4, 3 } },
		{ "split", 3, { SPLIT_BALANCED_MEMORY, SPLIT_AUTO, SPLIT_BALANCED } },
		{ "zero", 4, { 3, 1, 0, 2 } },
		{ "recompute_layers", 3, { 1, 0, 2 } },
	};

	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		if (next(3) == 0)
			planner_pin(problem, knob_find(more[i].key), more[i].value,
				    more[i].count);
}

/* Any of the shipped stacks that train, or that serve. */
static const char *any_stack(bool serves)
{
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list);
	struct scenario s;
	const char *name;

	assert_true(count > 10);
	do {
		name = list[next((uint64_t)count)].name;
		scenario_defaults(&s);
		assert_true(library_stack(&s, name, NULL));
	} while (s.stack.serves != serves);
	return name;
}

/* One that the accelerator has; most often the stack's own. */
static void any_precision(struct scenario *s)
{
	int precision = (int)next(2 * (PRECISION_NVFP4 + 1));

	if (precision <= PRECISION_NVFP4 &&
	    s->cluster.accelerator.peak_flops[precision] > 0)
		s->plan.precision = (enum precision)precision;
}

/* A model of a few layers, so that all plans can be estimated. */
static void small_problem(struct planner_problem *problem)
{
	static const char *const models[] = { "llama3.2-1b",  "gpt2-xl",
					      "mixtral-8x7b", "deepseek-v2-lite",
					      "mamba2-2.7b",  "gemma2-2b" };
	static const char *const clusters[] = { "dgx-a100-40g", "dgx-h100", "dgx-v100",
						"dgx-b200" };
	static const int counts[] = { 2, 3, 4, 6, 8, 12, 16 };
	struct error error = { "" };

	memset(problem, 0, sizeof *problem);
	if (!scenario_blank(&problem->base, models[next(6)], clusters[next(4)],
			    any_stack(false), &error))
		fail_msg("%s", error.text);
	any_precision(&problem->base);
	problem->base.cluster.gpus = counts[next(7)];
	problem->base.plan.global_batch = counts[next(7)] * (1 + (int)next(3));
	problem->base.plan.seq_len = 1024 << next(3);
	problem->base.plan.imbalance = 1 + 0.1 * (double)next(3);
	/* memory is sometimes what decides */
	problem->base.cluster.accelerator.usable_bytes *= 0.2 + 0.1 * (double)next(10);
	problem->base.cluster.host_bytes_per_gpu *=
		next(2) ? 1 : 0.05 * (double)next(10);
	problem->reserve = 0.05 * (double)next(3);
	problem->top = 1 + (int)next(12);
	problem->each = next(2) ? planner_each(problem->top) : 0;
	problem->objective = (enum objective)next(OBJECTIVE_COUNT);
	planner_axes(problem);
	/* what is free on request only is searched as well */
	if (next(2))
		planner_pin(problem, knob_find("activation_offload"),
			    (double[]){ 0, 0.5, 1 }, 3);
}

/* A server of a model of a few layers, on any stack that serves. */
static void small_server(struct planner_problem *problem)
{
	static const char *const models[] = { "llama3.2-1b", "mixtral-8x7b",
					      "deepseek-v2-lite", "gemma2-2b",
					      "qwen3-30b-a3b" };
	static const char *const clusters[] = { "dgx-a100-40g", "dgx-h100", "dgx-h200",
						"dgx-b200" };
	static const int counts[] = { 1, 2, 4, 6, 8, 16 };
	struct error error = { "" };
	struct scenario *s = &problem->base;

	memset(problem, 0, sizeof *problem);
	if (!scenario_blank(s, models[next(5)], clusters[next(4)], any_stack(true),
			    &error))
		fail_msg("%s", error.text);
	s->plan.mode = MODE_INFERENCE;
	any_precision(s);
	s->cluster.gpus = counts[next(6)];
	s->plan.serving.prompt_len = 128 << next(6);
	s->plan.serving.output_len = 16 << next(6);
	s->plan.serving.concurrency = 1 << next(9);
	s->plan.serving.goal_tpot_seconds =
		next(2) ? 0.005 * (double)(1 + next(20)) : 0;
	s->plan.serving.goal_ttft_seconds = next(2) ? 0.05 * (double)(1 + next(20)) : 0;
	s->cluster.accelerator.usable_bytes *= 0.2 + 0.1 * (double)next(10);
	problem->top = 1 + (int)next(12);
	problem->each = next(2) ? planner_each(problem->top) : 0;
	problem->objective = (enum objective)next(OBJECTIVE_COUNT);
	planner_axes(problem);
}

static void test_bounds_find_what_trying_all_finds(void **state)
{
	const int problems = some_of(2000);
	static struct planner_problem problem;
	int trained = 0, served = 0;

	(void)state;
	/* drawn so that servers with fewer requests than engines are among them */
	seed = 0x3C6EF372FE94F82B;
	/* those where nothing fits are looked at too, but not counted */
	for (int i = 0; trained + served < problems; i++) {
		if (i % 5 == 4) {
			small_server(&problem);
			thin(&problem, (double)(200 + next(2000)));
			served += same_answer(&problem);
			continue;
		}
		small_problem(&problem);
		if (i % 3 == 1)
			free_schedules(&problem);
		if (i % 3 == 2)
			free_more(&problem);
		thin(&problem, (double)(200 + next(4000)));
		trained += same_answer(&problem);
	}
	assert_true(trained > problems / 2 && served > problems / 5);
}

/* Some knobs of the plan at any of their values. */
static void turn_some(struct planner_problem *problem, int count)
{
	int mode = problem->base.plan.mode;
	struct scenario *s = &problem->base;

	while (count-- > 0) {
		const struct knob *knob = any_knob();
		double values[MAX_VALUES];
		int present, given;

		if (!knob || knob->group == GROUP_CLUSTER)
			continue;
		given = knob_values(s, knob, values, &present);
		if (given > 0)
			knob_set(s, knob, values[next((uint64_t)given)]);
	}
	s->plan.mode = mode;
	planner_axes(problem);
}

/* And some of all knobs as axes, of up to four neighbours. */
static void free_some(struct planner_problem *problem, int count)
{
	while (count-- > 0) {
		const struct knob *knob = any_knob();
		double values[MAX_VALUES];
		int present, given, first;

		if (!knob || strcmp(knob->key, "mode") == 0)
			continue;
		given = knob_values(&problem->base, knob, values, &present);
		first = given > 4 ? (int)next((uint64_t)given - 3) : 0;
		if (given > 0)
			planner_pin(problem, knob, values + first,
				    given - first < 4 ? given - first : 4);
	}
}

/* The same plan and batch with any model on any cluster. */
static void move(struct planner_problem *problem)
{
	bool serves = problem->base.plan.mode == MODE_INFERENCE;
	struct planner_problem was = *problem;
	const struct preset *models, *clusters;
	int model = (int)next((uint64_t)preset_list(PRESET_MODEL, &models));
	int cluster = (int)next((uint64_t)preset_list(PRESET_CLUSTER, &clusters));
	struct error error = { "" };

	if (!scenario_blank(&problem->base, models[model].name, clusters[cluster].name,
			    any_stack(serves), &error))
		fail_msg("%s", error.text);
	problem->base.plan = was.base.plan;
	problem->base.cluster.gpus = was.base.cluster.gpus;
	any_precision(&problem->base);
	planner_axes(problem);
}

/* Whatever is turned, and whatever is free. */
static void test_any_knob_may_be_an_axis(void **state)
{
	const int problems = some_of(2000);
	static struct planner_problem problem;
	int found = 0;

	(void)state;
	seed = 0x5EED2;
	for (int i = 0; i < problems; i++) {
		bool serves = i % 5 == 4;

		if (serves)
			small_server(&problem);
		else
			small_problem(&problem);
		if (next(2))
			move(&problem);
		if (next(2))
			turn_some(&problem, 4);
		free_some(&problem, (int)next(6));
		if (i % 3 == 1 && !serves)
			free_schedules(&problem);
		thin(&problem, (double)(100 + next(1500)));
		found += same_answer(&problem);
	}
	assert_true(found > problems / 5);
}

/* A node that is too large for the base's accelerator may fit a larger one that is
 * tried too. */
static void test_accelerators_larger_than_the_base_are_searched(void **state)
{
	static const double gib[] = { 32, 256, 384 };
	static struct planner_problem problem;
	struct error error = { "" };

	(void)state;
	memset(&problem, 0, sizeof problem);
	if (!scenario_blank(&problem.base, "deepseek-v2-lite", "dgx-a100-40g", "fsdp",
			    &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = problem.base.plan.global_batch = 4;
	problem.base.plan.seq_len = 4096;
	problem.objective = OBJECTIVE_THROUGHPUT;
	problem.top = 12;
	planner_axes(&problem);
	planner_pin(&problem, knob_find("gpu_memory_gib"), gib, 3);
	planner_pin(&problem, knob_find("mbs"), (double[]){ 1, 4 }, 2);
	planner_pin(&problem, knob_find("cp"), (double[]){ 1 }, 1);
	planner_pin(&problem, knob_find("recompute"), (double[]){ 0 }, 1);
	planner_pin(&problem, knob_find("optimizer_offload"), (double[]){ 0 }, 1);
	seed = 3;
	assert_true(same_answer(&problem));
}

/* Goals of the slowest percent are simulated only where the answer may be: so many
 * requests that most goals are kept by fewer of them. */
static void test_goals_of_the_slowest_find_the_same(void **state)
{
	const int problems = some_of(150);
	static struct planner_problem problem;
	int found = 0;

	(void)state;
	seed = 23;
	for (int i = 0; i < problems; i++) {
		struct serving_plan *v = &problem.base.plan.serving;

		small_server(&problem);
		v->goal_percentile = GOAL_P99;
		if (v->goal_tpot_seconds + v->goal_ttft_seconds <= 0)
			v->goal_ttft_seconds = 0.2;
		v->arrival_scv = (double)next(3);
		v->length_spread = 0.25 * (double)next(4);
		v->request_rate = next(6) ? 0 : (double)(1 + next(8));
		problem.top = 1 + (int)next(4);
		thin(&problem, (double)(50 + next(300)));
		found += same_answer(&problem);
	}
	assert_true(found > problems / 2);
}

/* Goals near what the mean request of a shipped server has: some keep them with fewer
 * requests, which a simulation finds, whatever other searchers found before. */
static void test_goals_of_servers_by_any_number(void **state)
{
	static struct planner_problem problem;
	static struct planner_result alone;
	static struct estimate e;
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), servers = 0, found = 0;

	(void)state;
	seed = 25;
	for (int i = 0; i < count; i++) {
		struct serving_plan *v = &problem.base.plan.serving;
		struct error error = { "" };

		memset(&problem, 0, sizeof problem);
		if (!scenario_read(&problem.base, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		if (problem.base.plan.mode != MODE_INFERENCE ||
		    servers++ >= some_of(60))
			continue;
		scenario_estimate(&problem.base, &e);
		v->goal_percentile = GOAL_P99;
		v->length_spread = 0.25 * (double)next(4);
		v->goal_ttft_seconds =
			e.serving.ttft_seconds * (0.5 + 0.25 * (double)next(9));
		v->goal_tpot_seconds =
			e.serving.tpot_seconds * (0.8 + 0.1 * (double)next(7));
		problem.top = 1 + (int)next(4);
		planner_axes(&problem);
		thin(&problem, 400);
		solve(&problem, &alone);
		for (int searchers = 1; searchers <= 8; searchers++)
			same_together(&problem, searchers, &alone);
		found += alone.found > 0 && alone.top[0].score < 1e8;
	}
	assert_true(found > servers / 2 || some_of(60) < 60);
}

/* The same of rates, of which some are kept by all servers, some by none: where that is
 * known before they are estimated, they are in the order that they have behind it. */
static void test_rates_of_the_slowest_find_the_same(void **state)
{
	const int problems = some_of(150);
	static struct planner_problem problem;
	int found = 0;

	(void)state;
	seed = 24;
	for (int i = 0; i < problems; i++) {
		struct serving_plan *v = &problem.base.plan.serving;

		small_server(&problem);
		v->goal_percentile = GOAL_P99;
		if (v->goal_tpot_seconds + v->goal_ttft_seconds <= 0)
			v->goal_tpot_seconds = 0.02;
		v->arrival_scv = (double)next(3);
		v->length_spread = 0.25 * (double)next(4);
		v->request_rate = (double)(1 << next(12));
		problem.top = 1 + (int)next(10);
		thin(&problem, (double)(50 + next(300)));
		found += same_answer(&problem);
	}
	assert_true(found > problems / 2);
}

/* Also around every plan that is shipped. */
static void test_shipped_plans(void **state)
{
	static struct planner_problem problem;
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	assert_true(count > 30);
	for (int i = 0; i < count; i += count / some_of(count)) {
		struct error error = { "" };

		memset(&problem, 0, sizeof problem);
		if (!scenario_read(&problem.base, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		problem.reserve = 0.05 * (double)next(2);
		problem.top = 1 + (int)next(12);
		problem.each = next(2) ? planner_each(problem.top) : 0;
		planner_axes(&problem);
		thin(&problem, 4000);
		same_answer(&problem);
	}
}

/* Ten rows are ten ideas, in spaces of up to 2 G candidates. */
static void test_shipped_plans_have_ten_ideas(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;
	static const char *const plans[] = { "qwen3-235b-256-h100",
					     "deepseek-v3-256-gb200",
					     "kimi-k2-256-gb300", "llama3-8b-8-h100" };
	struct alike alike;

	(void)state;
	for (int i = 0; i < some_of(4); i++) {
		struct error error = { "" };

		memset(&problem, 0, sizeof problem);
		if (!scenario_read(&problem.base, plans[i], NULL, &error))
			fail_msg("%s", error.text);
		problem.reserve = 0.05;
		problem.top = 10;
		problem.each = planner_each(problem.top);
		problem.trust = planner_usual_trust(&problem.base);
		planner_axes(&problem);
		solve(&problem, &result);
		planner_alike(&problem, &result, &alike);
		assert_int_equal(alike.rows, 10);
	}
}

static void pin(struct planner_problem *problem, const char *key, const char *text)
{
	char why[256];

	if (!planner_pin_text(problem, knob_find(key), text, why, sizeof why))
		fail_msg("%s: %s", key, why);
}

/* "tp 1,2 pp 4" pins these knobs. */
static void begin(struct planner_problem *problem, const char *const names[3],
		  const char *given)
{
	struct error error = { "" };

	memset(problem, 0, sizeof *problem);
	if (!scenario_blank(&problem->base, names[0], names[1], names[2], &error))
		fail_msg("%s", error.text);
	for (int pass = 0; pass < 2; pass++) {
		char copy[512], *rest = copy, *key, *text;

		snprintf(copy, sizeof copy, "%s", given);
		if (pass > 0)
			planner_axes(problem);
		while ((key = strsep(&rest, " ")) && (text = strsep(&rest, " ")))
			if (pass > 0 || !strchr(text, ','))
				pin(problem, key, text);
	}
	problem->reserve = 0.05;
}

/* A split by what stages hold is dealt out with ZeRO's traffic, which no bound may add
 * once more. */
static void test_split_by_memory_has_the_traffic_once(void **state)
{
	static struct planner_problem problem;

	(void)state;
	begin(&problem, (const char *const[]){ "phi-4", "mi250x", "megatron-core" },
	      "gpus 16 gbs 256 seq 4096 lora_rank 8 tp 1 mbs 1 cp 2 cp_kind all-gather "
	      "vpp 1 optimizer_offload 0 pp 1,4 zero 3 schedule chimera "
	      "split balanced-memory recompute_layers 0,1 recompute_modules core_attn "
	      "activation_offload 0,0.5 zero_group 0,8");
	for (problem.top = 1; problem.top <= 14; problem.top++)
		same_answer(&problem);
}

/* What a rule-made schedule has in flight with one state's traffic is no bound of what
 * it has with another's. */
static void test_in_flight_is_of_the_same_traffic(void **state)
{
	static struct planner_problem problem;

	(void)state;
	begin(&problem, (const char *const[]){ "llama3.1-405b", "gh200", "torchtitan" },
	      "gpus 40 gbs 60 seq 2048 lora_rank 16 tp 4 mbs 1 cp 1 sp off pp 5 vpp 2 "
	      "zero 1,3 zero_group 0 schedule v-min split balanced recompute selective "
	      "recompute_layers 1 recompute_modules core_attn optimizer_offload 0,1 "
	      "activation_offload 0");
	for (problem.top = 1; problem.top <= 4; problem.top++)
		same_answer(&problem);
}

/* DualPipe's ranks hold a stage from each end: none need have more than the mean. */
static void test_pairs_of_stages_have_no_busiest(void **state)
{
	static struct planner_problem problem;

	(void)state;
	begin(&problem, (const char *const[]){ "llama-65b", "dgx-a100-80g", "generic" },
	      "gpus 2048 gbs 2048 seq 2048 document_len 512 tp 8 pp 32,64 mbs 2,4 cp 1 "
	      "sp on zero 0 zero_group 0 schedule dualpipe split auto vpp 1 "
	      "recompute selective recompute_layers 0 recompute_modules core_attn "
	      "optimizer_offload 0 activation_offload 1 optimizer muon");
	for (problem.top = 1; problem.top <= 4; problem.top++)
		same_answer(&problem);
}

/* Where hosts hold half of the states but not all, half is the least that stays. */
static void test_hosts_may_hold_a_part(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;

	(void)state;
	begin(&problem,
	      (const char *const[]){ "deepseek-v2-lite", "dgx-a100-40g",
				     "megatron-lm-2021" },
	      "gpus 2 gbs 12 seq 1024 mbs 1,2 tp 1 cp 1 ep 1 pp 1 zero 0 zero_group 0 "
	      "recompute none optimizer_offload 0,0.5,1");
	problem.base.cluster.host_bytes_per_gpu = 2e11;
	problem.base.cluster.accelerator.usable_bytes = 210e9;
	problem.top = 1;
	assert_true(same_answer(&problem));
	solve(&problem, &result);
	assert_int_equal(result.found, 1);
}

/* Where the hosts can't hold all of the optimizer, half of it on them may take fewer
 * bytes than none. */
static void test_half_the_states_may_be_the_fewest(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;

	(void)state;
	begin(&problem,
	      (const char *const[]){ "mixtral-8x7b", "dgx-b200", "deepspeed" },
	      "gpus 3 gbs 48 seq 1024 imbalance 1.1 mbs 1,4,16 tp 1 cp 1 ep 1 pp 1 "
	      "vpp 1 schedule 1f1b zero 3 zero_group 0 recompute full "
	      "recompute_modules core_attn recompute_layers 0,1,8 "
	      "optimizer_offload 0,0.5,1 activation_offload 0");
	problem.top = 3;
	same_answer(&problem);
	solve(&problem, &result);
	assert_int_equal(result.found, 3);
}

/* torchtitan keeps what its products gathered unless a policy gathers it anew: a layer
 * is drawn anew for each way to recompute it, or the bytes of the one stand for the
 * other. */
static void test_what_recomputation_decides_is_drawn_anew(void **state)
{
	static struct planner_problem problem;

	(void)state;
	begin(&problem,
	      (const char *const[]){ "llama3.2-1b", "dgx-h100", "torchtitan" },
	      "gpus 4 gbs 16 seq 4096 mbs 1,4,8,16 tp 1,4 sp 0,1 cp 1,2,4 pp 1 "
	      "zero 3,0,2 zero_group 0 schedule 1f1b vpp 1 recompute none,selective "
	      "recompute_modules per_op recompute_layers 1,0 optimizer_offload 0 "
	      "activation_offload 0");
	problem.objective = OBJECTIVE_MEMORY;
	problem.top = 10;
	problem.each = planner_each(10);
	same_answer(&problem);
}

/* The more layers on a stage, the less is recomputed with so many of them: a node's
 * cost is no bound of another's with fewer stages. */
static void test_the_order_of_values_decides_nothing(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;
	double score[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&problem,
		      (const char *const[]){ "llama2-13b", "dgx-a100-80g",
					     "megatron-core" },
		      i == 0 ? "gpus 32 gbs 64 seq 2048 recompute full "
			       "recompute_layers 2 pp 1,2,4,8,16"
			     : "gpus 32 gbs 64 seq 2048 recompute full "
			       "recompute_layers 2 pp 16,8,4,2,1");
		problem.top = 1;
		solve(&problem, &result);
		assert_int_equal(result.found, 1);
		score[i] = result.top[0].score;
	}
	assert_true(score[0] == score[1]);
}

/* Whether this plan may be taken, and its score. */
static bool is_good(const struct planner_problem *problem, const struct scenario *s,
		    double *score)
{
	static struct estimate e;

	scenario_estimate(s, &e);
	if (!e.legal || !e.host_fits ||
	    e.memory.total_bytes > e.capacity_bytes * (1 - problem->reserve))
		return false;
	*score = objective_of_estimate(problem->objective, s, &e);
	return true;
}

/* The best score of each set of degrees. */
struct ideas {
	int count;
	struct idea idea[2048];
	double score[2048];
};

static void add_idea(struct ideas *ideas, const struct scenario *s, double score)
{
	struct idea idea;
	int at = 0;

	planner_idea(s, &idea);
	while (at < ideas->count && memcmp(&ideas->idea[at], &idea, sizeof idea) != 0)
		at++;
	assert_true(at < 2048);
	if (at == ideas->count) {
		ideas->idea[ideas->count++] = idea;
		ideas->score[at] = score;
	}
	ideas->score[at] = fmin(ideas->score[at], score);
}

/* Nothing of the search's own: all plans in the order of the axes, the first of the
 * best. */
static bool try_all(const struct planner_problem *problem, uint8_t *best,
		    double *best_score, struct ideas *ideas)
{
	uint8_t choice[MAX_AXES] = { 0 };
	bool found = false;
	int i;

	ideas->count = 0;
	do {
		struct scenario s = problem->base;
		double score = 0;

		s.stack.held = planner_held(problem);
		for (int k = 0; k < problem->axes; k++)
			knob_set(&s, problem->axis[k].knob,
				 problem->axis[k].value[choice[k]]);
		bool good = is_good(problem, &s, &score);

		if (good)
			add_idea(ideas, &s, score);
		if (good && (!found || score < *best_score)) {
			memcpy(best, choice, sizeof choice);
			*best_score = score;
			found = true;
		}
		for (i = problem->axes - 1; i >= 0; i--) {
			if (++choice[i] < problem->axis[i].count)
				break;
			choice[i] = 0;
		}
	} while (i >= 0);
	return found;
}

/* So many ideas are found as are wanted or there are, the best of each. */
static void check_ideas(const struct planner_problem *problem,
			const struct planner_result *result, const struct ideas *ideas)
{
	struct alike alike;
	int wanted = ideas->count < problem->top ? ideas->count : problem->top;

	planner_alike(problem, result, &alike);
	assert_true(alike.rows == wanted);
	for (int row = 0; row < alike.rows; row++) {
		const struct planner_found *best = &result->top[alike.best[row]];
		int better = 0, at = 0;

		for (int i = 0; i < ideas->count; i++) {
			better += ideas->score[i] < best->score;
			if (memcmp(&ideas->idea[i], &best->idea, sizeof best->idea) ==
			    0)
				at = i;
		}
		assert_true(ideas->score[at] == best->score);
		assert_true(better <= row);
	}
}

static void test_the_answer_is_the_best_of_all(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;
	static struct ideas ideas;
	const int tries = 20 + some_of(180);
	int answers = 0;

	(void)state;
	for (int i = 0; i < tries; i++) {
		uint8_t best[MAX_AXES];
		double score;

		small_problem(&problem);
		if (i % 3 == 1)
			free_schedules(&problem);
		if (i % 3 == 2)
			free_more(&problem);
		thin(&problem, 1500);
		problem.each = planner_each(problem.top);
		solve(&problem, &result);
		if (!try_all(&problem, best, &score, &ideas)) {
			assert_int_equal(result.found, 0);
			continue;
		}
		check_ideas(&problem, &result, &ideas);
		answers++;
		assert_true(result.found > 0);
		assert_true(result.top[0].score == score);
		assert_memory_equal(result.top[0].choice, best, (size_t)problem.axes);
	}
	assert_true(answers > tries * 3 / 20);
}

/* Rules look at the schedule that was given, not at the one that bounds are of. */
static void test_a_given_schedule_is_what_rules_see(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;

	(void)state;
	begin(&problem, (const char *const[]){ "deepseek-v2-lite", "dgx-h100", "fsdp" },
	      "gpus 16 pp 16 gbs 6 schedule interleaved vpp 1 split auto");
	problem.top = 1;
	solve(&problem, &result);
	assert_int_equal(result.found, 1);
	same_answer(&problem);
}

/* However many values are given, there is room for them. */
static void test_values_given_need_no_room(void **state)
{
	static struct planner_problem problem;

	(void)state;
	begin(&problem,
	      (const char *const[]){ "mixtral-8x7b", "dgx-h100", "megatron-core" },
	      "imbalance 1.2 capacity_factor 2 grad_dtype bf16 gpu_memory_gib 70 "
	      "precision bf16 tokens 1T price 2 optimizer adamw pue 1.2 "
	      "moe_dispatcher alltoall");
	pin(&problem, "overlap_grad_reduce", "on,off");
	assert_close(problem.base.plan.imbalance, 1.2, 1e-12);
	assert_close(problem.base.cluster.price_per_gpu_hour, 2, 1e-12);
}

/* Free GPUs: the smallest machine that holds it. */
static void test_fewest_gpus(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;
	double gpus[] = { 1, 2, 4, 8, 16, 32, 64 }, one[] = { 1 }, none[] = { 0 };
	struct error error = { "" };
	struct scenario s;

	(void)state;
	memset(&problem, 0, sizeof problem);
	assert_true(scenario_blank(&problem.base, "llama2-13b", "dgx-h100",
				   "megatron-core", &error));
	problem.base.cluster.gpus = 64;
	problem.base.plan.global_batch = 64;
	problem.top = 1;
	problem.objective = OBJECTIVE_GPUS;
	planner_axes(&problem);
	planner_pin(&problem, knob_find("gpus"), gpus, 7);
	planner_pin(&problem, knob_find("vpp"), one, 1);
	/* all states stay on the GPUs */
	planner_pin(&problem, knob_find("optimizer_offload"), none, 1);
	planner_pin(&problem, knob_find("activation_offload"), none, 1);
	planner_pin(&problem, knob_find("recompute_modules"), one, 1);
	planner_pin(&problem, knob_find("recompute_layers"), none, 1);
	same_answer(&problem);
	problem.exhaustive = false;
	solve(&problem, &result);
	assert_int_equal(result.found, 1);
	planner_scenario(&problem, &result.top[0], &s);
	/* 13 B parameters with Adam are 234 GB */
	assert_int_equal(s.cluster.gpus, 4);
}

static void test_nothing_fits_names_the_nearest(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;
	struct error error = { "" };

	(void)state;
	memset(&problem, 0, sizeof problem);
	assert_true(scenario_blank(&problem.base, "llama3.1-70b", "dgx-v100",
				   "megatron-core", &error));
	problem.base.cluster.gpus = 8;
	problem.base.plan.global_batch = 8;
	problem.base.plan.precision = PRECISION_FP16;
	problem.top = 3;
	planner_axes(&problem);
	solve(&problem, &result);
	assert_int_equal(result.found, 0);
	assert_true(result.has_nearest);
	assert_true(result.nearest.memory_share > 1);
	check_counts(&result);
	double least = result.nearest.memory_bytes;
	problem.exhaustive = true;
	solve(&problem, &result);
	assert_true(result.nearest.memory_bytes == least);
}

/* A pinned axis is kept, whatever would be better. */
static void test_pins_are_kept(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;
	double tp[] = { 8 }, mbs[] = { 1, 4 };
	struct scenario s;
	struct error error = { "" };

	(void)state;
	memset(&problem, 0, sizeof problem);
	assert_true(scenario_start(&problem.base, &error));
	problem.top = MAX_TOP;
	planner_axes(&problem);
	assert_true(planner_pin(&problem, knob_find("tp"), tp, 1));
	assert_true(planner_pin(&problem, knob_find("mbs"), mbs, 2));
	solve(&problem, &result);
	assert_true(result.found > 5);
	for (int i = 0; i < result.found; i++) {
		planner_scenario(&problem, &result.top[i], &s);
		assert_int_equal(s.plan.tp, 8);
		assert_true(s.plan.micro_batch == 1 || s.plan.micro_batch == 4);
		assert_true(i == 0 || result.top[i - 1].score <= result.top[i].score);
	}
}

/* Any plan of the problem's axes. */
static void any_plan(const struct planner_problem *problem, struct scenario *out)
{
	*out = problem->base;
	for (int k = 0; k < problem->axes; k++) {
		const struct planner_axis *axis = &problem->axis[k];

		knob_set(out, axis->knob, axis->value[next((uint64_t)axis->count)]);
	}
}

/* Bounds of the parts of this scenario, costed as `how` says. */
static void bound_of(struct trial *trial, const struct scenario *s,
		     const struct scenario *how, struct train_bound *out)
{
	struct layer_cost part[MAX_PARTS];

	trial->scenario = *how;
	trial_begin(trial);
	trial_cost(trial, part);
	train_bound(how, part, out);
	trial->scenario = *s;
	trial_use(trial, part);
}

/* No plan beats its bound, neither with its own recomputation nor without. */
static void check_bounds(struct trial *trial, const struct scenario *s,
			 const struct estimate *e)
{
	struct scenario plain = *s;
	struct bound_bytes states, activations;
	struct train_bound bound;
	struct bound_shape shape;

	train_bound_shape(s, &shape);
	plain.plan.recompute = RECOMPUTE_NONE;
	for (int own = 0; own < 2; own++) {
		double seconds, bytes;

		bound_of(trial, s, own ? s : &plain, &bound);
		seconds = train_bound_pipeline(&bound, &shape) +
			  train_bound_ends(&bound, s);
		assert_true(train_bound_scaled(s, seconds) <= e->step_seconds);
		train_bound_states(&bound, s, &states);
		train_bound_activations(&bound, s, &shape, &activations);
		if (!own)
			activations = (struct bound_bytes){ 0 };
		bytes = train_bound_bytes(&bound, &states, &activations);
		assert_true(isinf(bytes) ? !e->host_fits
					 : bytes <= e->memory.total_bytes);
	}
}

/* Nor that of the relaxed plan of all that the free knobs inside a node may be. */
static void check_relaxed(struct trial *trial, const struct planner_problem *problem,
			  const struct scenario *s, const struct estimate *e)
{
	struct scenario *relaxed = &trial->scenario;
	struct train_bound bound;
	struct train_set set;

	train_set_begin(&set, s);
	for (int i = 0; i < problem->axes; i++) {
		const struct planner_axis *axis = &problem->axis[i];

		if (train_role_of(axis->knob->key) > DECIDES_BATCH)
			train_set_free(&set, axis->knob->key, axis->value, axis->count);
	}
	*relaxed = *s;
	train_relax(&set, &relaxed->plan);
	train_relaxed_cost(&set, trial, &bound);
	assert_true(train_relaxed_seconds(&set, &bound, relaxed) <= e->step_seconds);
	assert_true(!e->host_fits || train_relaxed_bytes(&set, &bound, relaxed) <=
					     e->memory.total_bytes);
}

/* A trial comes to the very numbers of the estimate, from below. */
static void check_trial(struct trial *trial, const struct scenario *s,
			const struct estimate *e)
{
	struct train_bound bound;
	double bytes;
	bool exact;

	bound_of(trial, s, s, &bound);
	/* without ZeRO's traffic, unless the split hangs on what stages hold */
	if (s->plan.split != SPLIT_BALANCED_MEMORY)
		trial->scenario.plan.zero = 0;
	assert_true(trial_stages(trial));
	trial->scenario.plan.zero = s->plan.zero;
	if (s->plan.split != SPLIT_BALANCED_MEMORY)
		assert_true(trial_lean_floor(trial) <= e->step_seconds);
	bytes = trial_bytes(trial, &exact);
	assert_true(bytes * (1 - 1e-9) <= e->memory.total_bytes);
	assert_true(!exact || bytes >= e->memory.total_bytes * (1 - 1e-9));
	assert_true(trial_stages(trial));
	assert_true(trial_floor(trial) <= e->step_seconds);
	assert_true(trial_seconds(trial, 0) == e->step_seconds);
	assert_true(trial_bytes(trial, &exact) == e->memory.total_bytes);
	assert_true(exact);
}

static void test_bounds_are_bounds(void **state)
{
	static struct planner_problem problem;
	static struct estimate e;
	struct trial *trial = malloc(sizeof *trial);
	int legal = 0;

	(void)state;
	assert_non_null(trial);
	/* drawn so that hosts are nearly as slow as GPUs with experts on several ranks
	 */
	seed = 0x9E3779B97F4A7C15;
	for (int i = 0; i < 30000; i++) {
		struct scenario s;

		if (i % 50 == 0) {
			small_problem(&problem);
			free_schedules(&problem);
			if (i % 100 == 0)
				free_more(&problem);
			thin(&problem, 1e5);
		}
		any_plan(&problem, &s);
		train_estimate(&s, &e);
		if (!e.legal)
			continue;
		legal++;
		check_bounds(trial, &s, &e);
		check_relaxed(trial, &problem, &s, &e);
		check_trial(trial, &s, &e);
	}
	assert_true(legal > 1000);
	free(trial);
}

/* A pipeline that its schedule can run, with times that have nothing in common. */
static bool any_pipeline(struct pipeline_input *in)
{
	struct schedule_request request = { 0 };
	struct schedule_problem problem;

	memset(in, 0, sizeof *in);
	in->schedule = (int)next(SCHEDULE_COUNT);
	in->stages = 2 + (int)next(9);
	in->chunks =
		(int)schedule_chunks(in->schedule, in->stages, 1 + (int64_t)next(5));
	in->micro_batches = 1 + (int64_t)next(next(2) ? 20 : 120);
	in->overlap_send = next(2);
	in->send_seconds = 0.1 * (double)next(3);
	in->hides = schedule_pairs(in->schedule) && next(2);
	for (int k = 0; k < in->stages * in->chunks; k++) {
		in->forward[k] = 1 + 0.01 * (double)next(100);
		in->input_grad[k] = 1 + 0.01 * (double)next(100);
		in->weight_grad[k] = 1 + 0.01 * (double)next(100);
		in->pair_hides[k] = 0.01 * (double)next(50);
	}
	request.kind = in->schedule;
	request.stages = in->stages;
	request.chunks = in->chunks;
	request.micro_batches = (int)in->micro_batches;
	return schedule_allows(&request, &problem);
}

/* Floors hold for pipelines of any times, and what is in flight is told before. */
static void test_floors_of_pipelines(void **state)
{
	static struct pipeline_input in;
	struct pipeline_result ran, held;
	int told = 0;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		bool known;

		if (!any_pipeline(&in))
			continue;
		pipeline_step(&in, &ran);
		assert_true(pipeline_floor(&in) <= ran.seconds);
		known = pipeline_in_flight(&in, &held);
		for (int s = 0; s < in.stages; s++)
			assert_true(known ? held.in_flight[s] == ran.in_flight[s]
					  : held.in_flight[s] <= ran.in_flight[s]);
		if (known || schedule_table[in.schedule].by_rule)
			continue;
		told++;
		pipeline_order_in_flight(&in, &held);
		for (int s = 0; s < in.stages; s++)
			assert_true(held.in_flight[s] == ran.in_flight[s]);
	}
	assert_true(told > 200);
}

static bool reads(const struct legality *row, const char *key)
{
	const char *at = row->reads;
	size_t length = strlen(key);

	while ((at = strstr(at, key))) {
		if ((at == row->reads || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
		at += length;
	}
	return false;
}

/* Sets some knob to some value of its strip. */
static const struct knob *turn_any(struct scenario *s)
{
	double values[MAX_VALUES];
	int present, count;
	const struct knob *knob = &knob_table[next((uint64_t)knob_count())];

	if (knob->type == KNOB_TEXT) {
		static const char *const layouts[] = { "Et*2|t*2L", "Ettt|(t|)*3L", "x",
						       "E|(t*8|)*4L" };
		char why[120];

		knob_parse(s, knob, layouts[next(4)], why, sizeof why);
		return knob;
	}
	count = knob_values(s, knob, values, &present);
	if (count > 0)
		knob_set(s, knob, values[next((uint64_t)count)]);
	return knob;
}

/* A rule's verdict hangs on the knobs that its row names, and on no other. */
static void test_rules_read_what_they_say(void **state)
{
	static struct planner_problem problem;
	static struct scenario s, turned;
	int checks = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		const struct knob *knob;

		if (i % 40 == 0) {
			small_problem(&problem);
			s = problem.base;
			s.cluster.gpus = 64;
			s.plan.global_batch = 256;
		}
		turn_any(&s);
		turned = s;
		knob = turn_any(&turned);
		/* servers have a table of their own */
		if (!rules_countable(&s) || !rules_countable(&turned) ||
		    s.plan.mode != turned.plan.mode)
			continue;
		for (int r = 0; r < legality_count(); r++) {
			const struct legality *row = &legality_table[r];
			struct facts a, b;
			struct broken broken;

			if (reads(row, knob->key))
				continue;
			rules_derive(&s, &a);
			rules_derive(&turned, &b);
			if (row->breaks(&a, &broken) != row->breaks(&b, &broken))
				fail_msg("%s reads %s", row->rule.code, knob->key);
			checks++;
		}
	}
	assert_true(checks > 100000);
	for (int r = 0; r < legality_count(); r++) {
		char words[200], *rest = words, *word;

		snprintf(words, sizeof words, "%s", legality_table[r].reads);
		while ((word = strsep(&rest, " ")))
			if (!knob_find(word) || strcmp(knob_find(word)->key, word) != 0)
				fail_msg("%s reads no knob %s",
					 legality_table[r].rule.code, word);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_read_what_they_say),
		cmocka_unit_test(test_floors_of_pipelines),
		cmocka_unit_test(test_bounds_are_bounds),
		cmocka_unit_test(test_bounds_find_what_trying_all_finds),
		cmocka_unit_test(test_any_knob_may_be_an_axis),
		cmocka_unit_test(test_accelerators_larger_than_the_base_are_searched),
		cmocka_unit_test(test_half_the_states_may_be_the_fewest),
		cmocka_unit_test(test_what_recomputation_decides_is_drawn_anew),
		cmocka_unit_test(test_goals_of_the_slowest_find_the_same),
		cmocka_unit_test(test_goals_of_servers_by_any_number),
		cmocka_unit_test(test_rates_of_the_slowest_find_the_same),
		cmocka_unit_test(test_shipped_plans),
		cmocka_unit_test(test_shipped_plans_have_ten_ideas),
		cmocka_unit_test(test_split_by_memory_has_the_traffic_once),
		cmocka_unit_test(test_in_flight_is_of_the_same_traffic),
		cmocka_unit_test(test_pairs_of_stages_have_no_busiest),
		cmocka_unit_test(test_hosts_may_hold_a_part),
		cmocka_unit_test(test_the_order_of_values_decides_nothing),
		cmocka_unit_test(test_the_answer_is_the_best_of_all),
		cmocka_unit_test(test_a_given_schedule_is_what_rules_see),
		cmocka_unit_test(test_values_given_need_no_room),
		cmocka_unit_test(test_fewest_gpus),
		cmocka_unit_test(test_nothing_fits_names_the_nearest),
		cmocka_unit_test(test_pins_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
