/* test_asked.c - questions about a search against a scan: every value of an inverse
 * question, every count of a front, every knob and every case, asked one by one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/inverse.h"
#include "engine/planner/miss.h"
#include "engine/planner/pareto.h"
#include "engine/planner/robust.h"
#include "engine/planner/why.h"
#include "engine/predict/predict.h"
#include "engine/rules/rules.h"
#include "engine/whatif/whatif.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct planner_problem problem, asked;
static struct planner_result result;
static struct estimate e;

static int below(int n)
{
	return (int)next((uint64_t)n);
}

static void solve(const struct planner_problem *what, struct planner_result *out)
{
	struct planner *planner = planner_start(what);

	assert_non_null(planner);
	while (planner_step(planner, 1000)) {
	}
	*out = *planner_result(planner);
	planner_free(planner);
}

static void pin(const char *key, const double *value, int count)
{
	assert_true(planner_pin(&problem, knob_find(key), value, count));
}

#define PIN(key, ...)                             \
	pin(key, (const double[]){ __VA_ARGS__ }, \
	    (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)))

/* A small model on so many GPUs, with few things free: a search is a moment. */
static void begin(const char *model, int gpus, int batch)
{
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	/* an axis that is read behind the last one is no pointer */
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, model, "dgx-a100-40g", "generic", &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = gpus;
	problem.base.plan.global_batch = batch;
	problem.base.plan.seq_len = 2048;
	problem.research = true;
	problem.top = 4;
	problem.reserve = 0.05;
	planner_axes(&problem);
	PIN("cp", 1);
	PIN("cp_kind", CP_RING);
	PIN("vpp", 1);
	PIN("mbs", 1);
	PIN("recompute", RECOMPUTE_NONE);
	PIN("recompute_modules", 1);
	PIN("recompute_layers", 0);
	PIN("optimizer_offload", 0);
	PIN("activation_offload", 0);
	PIN("zero_group", 0);
	PIN("zero", 1);
}

/* The best plan with this value of the knob; false where none fits. */
static bool best_with(const char *key, double value, struct scenario *out)
{
	struct scenario base = problem.base;

	assert_true(knob_set(&base, knob_find(key), value));
	planner_again(&problem, &base, &asked);
	assert_true(planner_pin(&asked, knob_find(key), &value, 1));
	asked.objective = OBJECTIVE_STEP;
	solve(&asked, &result);
	if (result.found == 0)
		return false;
	planner_scenario(&asked, &result.top[0], out);
	return true;
}

/* --- the values of an inverse question --- */

static bool is_machine(double n, double node)
{
	int64_t odd = (int64_t)(n / node);

	if (n < node)
		return true;
	if (fmod(n, node) != 0)
		return false;
	while (odd % 2 == 0)
		odd /= 2;
	return odd <= 15;
}

static void test_machines_are_nodes(void **state)
{
	(void)state;
	for (int node = 1; node <= 72; node += node < 9 ? 1 : 63)
		for (int most = 1; most <= 3000; most += 1 + most / 2) {
			struct cluster cluster = { .gpus_per_node = node };
			double value[600];
			int count = inverse_gpus(&cluster, most, value, 600), at = 0;

			for (int n = 1; n <= most && at < 600; n++)
				if (is_machine(n, node))
					assert_true(value[at++] == n);
			assert_int_equal(count, at);
			assert_int_equal(inverse_gpus(&cluster, most, value, 5),
					 at < 5 ? at : 5);
		}
}

static void test_what_an_inverse_tries(void **state)
{
	static struct inverse inverse;
	int at = 0;

	(void)state;
	begin("llama3.2-1b", 8, 96);
	inverse_begin(&inverse, INVERSE_MICRO_BATCH, &problem, 0);
	for (int n = 96; n > 0; n--)
		if (96 % n == 0)
			assert_true(inverse.value[at++] == n);
	assert_int_equal(inverse.count, at);
	at = 0;
	inverse_begin(&inverse, INVERSE_SEQUENCE, &problem, 0);
	for (double n = 1024; n <= knob_find("seq")->max; n += 64)
		/* a power of two and so many sixteenths of it */
		if (fmod(n, exp2(floor(log2(n))) / 16) == 0)
			assert_true(inverse.value[at++] == n);
	assert_int_equal(inverse.count, at);
	at = 0;
	inverse_begin(&inverse, INVERSE_MODEL, &problem, 0);
	for (int eighths = 1; eighths <= 128; eighths++) {
		struct model model;

		if (model_scale(&problem.base.model, eighths / 8.0, &model))
			assert_true(inverse.value[at++] == eighths / 8.0);
	}
	assert_int_equal(inverse.count, at);
	/* sixteen times as many as there are, sixty-four nodes at least */
	for (int gpus = 8; gpus <= 512; gpus *= 8) {
		double most = gpus == 512 ? 8192 : gpus == 64 ? 1024 : 512;

		problem.base.cluster.gpus = gpus;
		inverse_begin(&inverse, INVERSE_GPUS, &problem, 0);
		assert_true(inverse.value[inverse.count - 1] == most);
		assert_true(inverse.value[0] == 1);
	}
	/* between two values, neither of them included */
	inverse_keep(&inverse, 8, 64);
	for (int i = 0; i < inverse.count; i++)
		assert_true(inverse.value[i] == 16 + 8 * i);
	assert_int_equal(inverse.count, 6);
	inverse_keep(&inverse, 16, 24);
	assert_true(inverse.done);
	/* a server has no micro-batch */
	problem.base.plan.mode = MODE_INFERENCE;
	inverse_begin(&inverse, INVERSE_MICRO_BATCH, &problem, 0);
	assert_true(inverse.done && !inverse.found);
}

/* The least machine that could compute the run in time at its peak, by hand: of the
 * tokens that experts drop nothing is computed, and dense models drop none. */
static void test_the_least_machine_at_its_peak(void **state)
{
	static const double day = 86400;
	const char *const models[] = { "llama3.2-1b", "mixtral-8x7b" };

	(void)state;
	for (int k = 0; k < 8; k++) {
		bool experts = k & 1, drops = k & 2, few = k & 4;
		static struct inverse inverse;
		struct model_counts counts;
		const struct scenario *s = &problem.base;
		double flops, peak, least, share = 1;

		begin(models[experts], 8, 96);
		problem.base.plan.tokens = 2e12;
		problem.base.plan.moe_capacity =
			drops ? CAPACITY_DROP : CAPACITY_DROPLESS;
		problem.base.plan.capacity_factor = few ? 0.25 : 1.5;
		if (experts && drops && few)
			share = 0.25;
		inverse_begin(&inverse, INVERSE_GPUS, &problem, 30 * day);
		assert_true(inverse.count > 0);
		/* six for each parameter that a token meets, and attention beside */
		model_count(&s->model, &counts);
		flops = 6 * counts.active * s->plan.tokens * share;
		peak = s->cluster.accelerator.peak_flops[s->plan.precision] * 30 * day;
		least = flops / peak;
		assert_true(inverse.value[0] >= least * 0.8);
		assert_true(inverse.value[0] <= least * 2 + 8);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} deadlines[] = {
		{ "30", 30 * 86400.0 },
		{ "30d", 30 * 86400.0 },
		{ "72h", 72 * 3600.0 },
		{ "0.5h", 1800 },
		{ "0", 0 },
		{ "-1d", 0 },
		{ "d", 0 },
		{ "", 0 },
		{ "3w", 0 },
		{ "3dd", 0 },
		{ "inf", 0 },
		{ "3 d", 0 },
	};

	(void)state;
	for (int k = 0; k < INVERSE_COUNT; k++)
		assert_int_equal(inverse_find(inverse_word((enum inverse_kind)k)), k);
	assert_int_equal(inverse_find("x"), INVERSE_COUNT);
	assert_string_equal(inverse_word(INVERSE_COUNT), "");
	for (int k = 0; k < PARETO_COUNT; k++)
		assert_int_equal(pareto_find(pareto_word((enum pareto_kind)k)), k);
	assert_int_equal(pareto_find("x"), PARETO_COUNT);
	assert_string_equal(pareto_word(PARETO_COUNT), "");
	assert_string_equal(robust_word(ROBUST_GEMM), "gemm");
	assert_string_equal(robust_word(ROBUST_CASES), "");
	for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++)
		if (inverse_deadline(deadlines[i].text) != deadlines[i].seconds)
			fail_msg("%s is %g", deadlines[i].text,
				 inverse_deadline(deadlines[i].text));
}

/* --- their answers --- */

static struct inverse inverse;

static int run_inverse(enum inverse_kind kind, double deadline)
{
	int searches = 0;

	inverse_begin(&inverse, kind, &problem, deadline);
	while (inverse_next(&inverse, &asked)) {
		struct planner_problem own = asked;

		solve(&own, &result);
		inverse_take(&inverse, &own, &result);
		searches++;
	}
	return searches;
}

/* The first of the values, from this end, with which something fits in time. */
static double scan(const char *key, const double *value, int count, bool rising,
		   double deadline)
{
	for (int i = 0; i < count; i++) {
		double now = value[rising ? i : count - 1 - i];
		struct scenario s;

		if (!best_with(key, now, &s))
			continue;
		scenario_estimate(&s, &e);
		if (deadline <= 0 || e.run.seconds <= deadline)
			return now;
	}
	return 0;
}

/* An answer where all values on this side of one fit, and how often it was asked. */
static int ask_until(int fits, const struct planner_result *some)
{
	static const struct planner_result none;
	int questions = 0;

	while (inverse_next(&inverse, &asked)) {
		bool good = inverse.rising ? inverse.at >= inverse.count - fits
					   : inverse.at < fits;

		assert_true(inverse.at >= 0 && inverse.at < inverse.count);
		assert_true(++questions <= inverse.count + 1);
		inverse_take(&inverse, &asked, good ? some : &none);
	}
	return questions;
}

/* By halves: of n values no more than log2 n are asked, one more that is left over, and
 * the answer's best plan. One after the other: each up to the answer, that twice. And
 * the answer is the last that fits, wherever that stands. */
static void test_how_often_is_asked(void **state)
{
	static const enum inverse_kind kinds[] = { INVERSE_SEQUENCE, INVERSE_MODEL,
						   INVERSE_GPUS, INVERSE_MICRO_BATCH };
	static struct planner_result some;

	(void)state;
	begin("llama3.2-1b", 8, 96);
	solve(&problem, &some);
	assert_true(some.found > 0);
	for (int k = 0; k < 4; k++)
		for (int count = 0; count < 12; count++)
			for (int fits = 0; fits <= count; fits++) {
				bool rising = k >= 2;
				double wanted = 0;
				int most, questions;

				inverse_begin(&inverse, kinds[k], &problem, 0);
				assert_int_equal(inverse.rising, rising);
				assert_true(inverse.count > count);
				/* of micro-batches those before the n-th are larger */
				if (kinds[k] == INVERSE_MICRO_BATCH)
					inverse_keep(&inverse, inverse.value[count],
						     INFINITY);
				else
					inverse_keep(&inverse, 0, inverse.value[count]);
				assert_int_equal(inverse.count, count);
				if (fits > 0)
					wanted = inverse.value[rising ? count - fits
								      : fits - 1];
				most = rising ? count - fits + 1
					      : (int)floor(log2(count)) + 1;
				questions = ask_until(fits, &some);
				assert_int_equal(inverse.found, fits > 0);
				if (fits > 0)
					assert_true(inverse.answer == wanted);
				if (rising)
					assert_int_equal(questions,
							 fits ? most + 1 : count);
				else if (count > 0)
					assert_true(questions <= most + (fits > 0));
			}
}

static void check_inverse(const char *key, enum inverse_kind kind, const double *value,
			  int count, double deadline)
{
	bool rising = kind == INVERSE_GPUS;
	double wanted = scan(key, value, count, rising, deadline);
	struct scenario s;

	pin(key, value, count);
	run_inverse(kind, deadline);
	assert_int_equal(inverse.found, wanted > 0);
	if (!inverse.found)
		return;
	assert_true(inverse.answer == wanted);
	assert_true(knob_get(&inverse.scenario, knob_find(key)) == wanted);
	/* and the plan is the fastest there */
	assert_true(best_with(key, wanted, &s));
	scenario_estimate(&s, &e);
	double seconds = e.step_seconds;

	scenario_estimate(&inverse.scenario, &e);
	assert_true(e.step_seconds == seconds);
	/* the nearest that was tried and is not it */
	if (wanted != value[rising ? 0 : count - 1]) {
		int at = 0;

		while (value[at] != wanted)
			at++;
		if (kind != INVERSE_GPUS || deadline <= 0)
			assert_true(inverse.beyond == value[rising ? at - 1 : at + 1]);
	}
}

static void test_the_smallest_and_the_largest(void **state)
{
	static const double gpus[] = { 1, 2, 3, 4, 6, 8, 16, 32 };
	static const double seqs[] = { 1024, 3072, 8192, 12288, 20480, 32768, 1 << 17 };
	static const double mbs[] = { 1, 2, 3, 4, 6, 8, 12, 24, 48 };
	static const char *const models[] = { "llama3.2-1b", "gpt2-xl", "llama2-7b" };
	int found = 0, bounded = 0;

	(void)state;
	seed = 81;
	for (int round = 0; round < 30; round++) {
		const char *model = models[below(3)];
		int present = 1 << below(4);
		double share = 0.2 + 0.2 * below(5), deadline;

		begin(model, present, 48);
		problem.base.cluster.accelerator.usable_bytes *= share;
		check_inverse("gpus", INVERSE_GPUS, gpus, 8, 0);
		found += inverse.found;
		bounded += inverse.found && inverse.answer > 1;
		begin(model, present, 48);
		problem.base.cluster.accelerator.usable_bytes *= share;
		problem.base.plan.tokens = 1e10;
		deadline = 86400.0 * (1 + below(8));
		check_inverse("gpus", INVERSE_GPUS, gpus, 8, deadline);
		begin(model, present, 48);
		problem.base.cluster.accelerator.usable_bytes *= share;
		check_inverse("seq", INVERSE_SEQUENCE, seqs, 7, 0);
		found += inverse.found;
		bounded += inverse.found && inverse.answer < seqs[6];
		begin(model, present, 48);
		problem.base.cluster.accelerator.usable_bytes *= share;
		check_inverse("mbs", INVERSE_MICRO_BATCH, mbs, 9, 0);
		found += inverse.found;
	}
	assert_true(found > 30 && bounded > 15);
}

/* Tokens of packed documents attend to fewer, so that fewer GPUs make it in time than
 * whole sequences would need at their peak. */
static void test_packed_documents_need_fewer(void **state)
{
	static const double gpus[] = { 1, 2, 4, 8, 16, 32 };
	double most = 0;

	(void)state;
	for (int days = 1; days <= 64; days *= 2) {
		begin("llama3.2-1b", 8, 32);
		problem.base.plan.seq_len = 1 << 17;
		problem.base.plan.document_len = 512;
		problem.base.plan.tokens = 2e10;
		problem.base.cluster.accelerator.usable_bytes *= 8;
		check_inverse("gpus", INVERSE_GPUS, gpus, 6, 86400.0 * days / 8);
		if (inverse.found)
			most = fmax(most, inverse.answer);
	}
	assert_true(most > 1);
}

/* Models that part the space of an inverse by halves: few searches, and the answer is
 * the last that fits. */
static void test_the_largest_model(void **state)
{
	(void)state;
	for (int gpus = 1; gpus <= 4; gpus *= 2) {
		struct scenario s;
		struct planner_problem bigger;
		struct model_counts counts;

		begin("llama3.2-1b", gpus, 8);
		/* 128 values at most, the answer's plan beside */
		assert_true(run_inverse(INVERSE_MODEL, 0) <= 9);
		assert_true(inverse.found);
		model_count(&inverse.scenario.model, &counts);
		assert_true(counts.total == inverse.parameters);
		s = problem.base;
		assert_true(model_scale(&problem.base.model, inverse.answer + 0.125,
					&s.model));
		assert_true(inverse.beyond == inverse.answer + 0.125);
		planner_again(&problem, &s, &bigger);
		solve(&bigger, &result);
		assert_int_equal(result.found, 0);
	}
}

/* --- fronts --- */

static struct pareto front;

static void run_front(enum pareto_kind kind)
{
	pareto_begin(&front, kind, &problem);
	while (pareto_next(&front, &asked)) {
		struct planner_problem own = asked;

		solve(&own, &result);
		pareto_take(&front, &own, &result);
	}
	assert_true(front.done);
}

/* Counts of GPUs with more tokens a second than any smaller one, each count tried. */
static void test_the_front_of_gpus_by_definition(void **state)
{
	static const double rising[] = { 1, 2, 3, 4, 6, 8, 12, 16 };
	const struct planner_axis *axis;

	(void)state;
	for (int c = 0; c < 3; c++) {
		double most = 0;
		int at = 0;

		begin(c == 1 ? "llama2-7b" : "llama3.2-1b", 8, c == 2 ? 6 : 24);
		PIN("gpus", 12, 1, 2, 3, 16, 4, 6, 8);
		run_front(PARETO_GPUS);
		for (int i = 0; i < 8; i++) {
			struct scenario s;

			begin(c == 1 ? "llama2-7b" : "llama3.2-1b", 8, c == 2 ? 6 : 24);
			if (!best_with("gpus", rising[i], &s))
				continue;
			scenario_estimate(&s, &e);
			if (!(e.tokens_per_second > most))
				continue;
			most = e.tokens_per_second;
			assert_true(at < front.count);
			assert_true(front.point[at].gpus == rising[i]);
			assert_close(front.point[at].tokens_per_second, most, 1e-12);
			at++;
		}
		assert_int_equal(at, front.count);
	}
	/* without counts of one's own: up to four times the present ones */
	begin("llama3.2-1b", 8, 24);
	pareto_begin(&front, PARETO_GPUS, &problem);
	assert_true(front.gpus[front.counts - 1] == 32);
	/* and each question is about one of them */
	assert_true(pareto_next(&front, &asked));
	axis = planner_pinned(&asked, knob_find("gpus"));
	assert_non_null(axis);
	assert_int_equal(axis->count, 1);
	assert_true(axis->value[0] == front.gpus[0]);
	assert_true(asked.base.cluster.gpus == (int64_t)front.gpus[0]);
}

/* A server's front: each user's speed against all tokens, at limits a seventh apart. */
static void test_the_front_of_users(void **state)
{
	struct error error = { "" };

	(void)state;
	memset(&problem, 0, sizeof problem);
	assert_true(scenario_blank(&problem.base, "llama3.1-8b", "dgx-h100", "vllm",
				   &error));
	problem.base.plan.mode = MODE_INFERENCE;
	problem.base.cluster.gpus = 4;
	problem.top = 1;
	planner_axes(&problem);
	PIN("pp", 1);
	PIN("kv_shards", 1);
	PIN("disaggregated", 0);
	PIN("prefill_gpus", 0);
	assert_int_equal(pareto_usual(&problem), PARETO_USERS);
	run_front(PARETO_USERS);
	assert_true(front.count > 3);
	for (int i = 0; i < front.count; i++) {
		const struct pareto_point *p = &front.point[i];

		assert_true(p->gpus == 4);
		assert_close(p->tokens_per_second,
			     4 * p->found.tokens_per_second_per_gpu, 1e-12);
		if (i == 0)
			continue;
		assert_true(p->found.step_seconds <=
			    front.point[i - 1].found.step_seconds / 1.15 * (1 + 1e-9));
		assert_true(p->found.tokens_per_second_per_gpu <=
			    front.point[i - 1].found.tokens_per_second_per_gpu *
				    (1 + 1e-9));
		/* nobody serves more at that speed */
		asked = problem;
		asked.base.plan.serving.concurrency = 0;
		asked.base.plan.serving.request_rate = 0;
		asked.base.plan.serving.goal_tpot_seconds =
			front.point[i - 1].found.step_seconds / 1.15;
		asked.objective = OBJECTIVE_THROUGHPUT;
		asked.strict = true;
		asked.exhaustive = true;
		solve(&asked, &result);
		assert_close(result.top[0].tokens_per_second_per_gpu,
			     p->found.tokens_per_second_per_gpu, 1e-12);
	}
	problem.base.plan.mode = MODE_TRAINING;
	assert_int_equal(pareto_usual(&problem), PARETO_MEMORY);
}

/* --- a machine that is a tenth worse --- */

static void test_always_best_is_best_in_every_case(void **state)
{
	static struct robust robust;
	static struct planner_result first, best[ROBUST_CASES];
	int always = 0, not_always = 0;

	(void)state;
	seed = 82;
	for (int round = 0; round < 25; round++) {
		int asks = 0;

		begin(below(2) ? "llama2-7b" : "gpt2-xl", 8 << below(2), 32);
		problem.base.cluster.accelerator.usable_bytes *= 0.3 + 0.1 * below(8);
		problem.top = 1 + below(MAX_ROBUST + 3);
		PIN("zero", 0, 1, 2, 3);
		solve(&problem, &first);
		assert_true(robust_begin(&robust, &problem, &first));
		assert_int_equal(robust.done, first.found == 0);
		assert_int_equal(robust.plans,
				 first.found < MAX_ROBUST ? first.found : MAX_ROBUST);
		best[ROBUST_AS_IS] = first;
		for (int c = ROBUST_AS_IS + 1; robust_next(&robust, &asked); c++) {
			struct scenario weak = problem.base;

			robust_weaken((enum robust_case)c, &weak);
			assert_memory_equal(&asked.base, &weak, sizeof weak);
			solve(&asked, &best[c]);
			robust_take(&robust, &best[c]);
			asks++;
		}
		assert_int_equal(asks, first.found > 0 ? ROBUST_CASES - 1 : 0);
		for (int i = 0; i < robust.plans; i++) {
			const struct robust_plan *own = &robust.item[i];
			bool all = true;

			for (int c = 0; c < ROBUST_CASES; c++) {
				struct scenario s;
				double room;

				planner_scenario(&problem, &first.top[i], &s);
				robust_weaken((enum robust_case)c, &s);
				scenario_estimate(&s, &e);
				room = e.capacity_bytes * (1 - problem.reserve);
				assert_int_equal(own->fits[c],
						 e.feasible &&
							 e.memory.total_bytes <= room);
				assert_true(own->step_seconds[c] == e.step_seconds);
				all &= own->fits[c] && best[c].found > 0 &&
				       own->score[c] <= best[c].top[0].score;
			}
			assert_int_equal(own->always_best, all);
			always += all;
			not_always += !all;
		}
	}
	assert_true(always > 2 && not_always > 20);
}

/* --- where nothing fits --- */

static void add_line(char lines[8][96], int *count, bool has, const char *text)
{
	if (has)
		snprintf(lines[(*count)++], 96, "%s", text);
}

/* What would do is told, each once, in one order: whatever there is of it. */
static void test_what_would_do_is_told_once(void **state)
{
	(void)state;
	begin("llama3.2-1b", 8, 8);
	for (int has = 0; has < 256; has++) {
		struct misses misses = { .problem = &problem,
					 .wants_bytes = 34359738368 };
		char lines[8][96], text[96];
		int count = 0;

		misses.reserve = has & 1;
		misses.gpus = has & 2 ? 96 : 0;
		misses.offload = has & 4;
		misses.seq_len = has & 8 ? 1024 : 0;
		misses.batch = has & 16 ? 35 : 0;
		misses.count = has & 32 ? 3 : 0;
		misses.unpins = has >> 6 & 3 ? 1 + (has >> 6 & 1) : 0;
		misses.unpin[0].knob = knob_find("tp");
		misses.unpin[0].value = 4;
		misses.unpin[1].knob = knob_find("recompute");
		misses.unpin[1].value = RECOMPUTE_FULL;
		add_line(lines, &count, misses.reserve,
			 "without the 5 % reserve it would do");
		add_line(lines, &count, has & 2, "96 GPUs would do");
		add_line(lines, &count, has & 4, "optimizer_offload 1 would do");
		add_line(lines, &count, has & 8, "seq 1024 would do");
		add_line(lines, &count, has & 16, "gbs 35 would do");
		add_line(lines, &count, (has & 32) && !misses.reserve,
			 "32.0 GiB usable per GPU would do");
		add_line(lines, &count, misses.unpins > 0, "tp 4 would do");
		add_line(lines, &count, misses.unpins > 1, "recompute full would do");
		for (int n = 0; n < count; n++) {
			assert_true(misses_text(&misses, n, text, sizeof text));
			assert_string_equal(text, lines[n]);
		}
		assert_false(misses_text(&misses, count, text, sizeof text));
		assert_string_equal(text, "");
	}
}

/* Which rule is said to stand in the way: the one that most candidates break, if the
 * scenario breaks it too. */
static void test_the_rule_that_most_plans_break(void **state)
{
	int named = 0, unnamed = 0;

	(void)state;
	seed = 83;
	for (int round = 0; round < 60; round++) {
		static struct misses misses;
		struct findings broken;
		const char *most = NULL, *said = NULL;
		double least = 0;

		begin("gpt2-xl", 5 + below(9), 1 + below(12));
		PIN("tp", 4 + below(5));
		problem.base.plan.tp = (int64_t)problem.axis[0].value[0];
		for (int i = 0; i < problem.axes; i++)
			if (problem.axis[i].count == 1)
				knob_set(&problem.base, problem.axis[i].knob,
					 problem.axis[i].value[0]);
		misses_begin(&misses, &problem);
		assert_true(misses_next(&misses, &asked));
		assert_true(asked.objective == OBJECTIVE_MEMORY);
		solve(&asked, &result);
		misses_take(&misses, &asked, &result);
		if (result.found > 0 || result.counts.too_large > 0 ||
		    result.counts.out_of_memory > 0)
			continue;
		for (int i = 0; i < legality_count(); i++)
			if (result.counts.broken[i] > least) {
				least = result.counts.broken[i];
				most = legality_table[i].rule.code;
			}
		scenario_check(&problem.base, &broken);
		for (int i = 0; i < broken.count; i++)
			if (most && strcmp(broken.item[i].rule->code, most) == 0)
				said = most;
		assert_int_equal(misses.blocker.rule != NULL, said != NULL);
		if (said)
			assert_string_equal(misses.blocker.rule->code, said);
		*(said ? &named : &unnamed) += 1;
	}
	assert_true(named > 5);
}

/* A server without a legal plan is not too large; one whose weights have no room is. */
static void test_a_server_that_is_too_large(void **state)
{
	static struct misses misses;

	(void)state;
	for (int large = 0; large < 2; large++) {
		struct error error = { "" };

		memset(&problem, 0, sizeof problem);
		assert_true(scenario_blank(&problem.base, "llama3.1-70b",
					   "dgx-a100-40g", "vllm", &error));
		problem.base.plan.mode = MODE_INFERENCE;
		problem.base.cluster.gpus = large ? 2 : 3;
		problem.top = 1;
		planner_axes(&problem);
		PIN("tp", large ? 2 : 4);
		PIN("pp", 1);
		misses_begin(&misses, &problem);
		assert_true(misses_next(&misses, &asked));
		solve(&asked, &result);
		assert_int_equal(result.found, 0);
		misses_take(&misses, &asked, &result);
		assert_int_equal(misses.too_large, large);
		assert_true(!large || misses.blocker.rule == NULL);
	}
}

/* Whether something fits with the usual values of this axis in place of those pinned.
 */
static bool would_do(int axis)
{
	struct planner_problem usual = { .base = problem.base,
					 .research = problem.research,
					 .trust = problem.trust };

	planner_axes(&usual);
	for (int i = 0; i < usual.axes; i++) {
		if (usual.axis[i].knob != problem.axis[axis].knob)
			continue;
		asked = problem;
		asked.axis[axis] = usual.axis[i];
		asked.top = 1;
		solve(&asked, &result);
		return result.found > 0;
	}
	return false;
}

/* Where nothing fits, every pin is named that alone stands in the way, and no other,
 * but for one that is told as offload. */
static void test_every_pin_in_the_way_is_named(void **state)
{
	int named = 0, missing = 0;

	(void)state;
	seed = 85;
	for (int round = 0; round < 80; round++) {
		static struct misses misses;
		int at = 0;

		begin(below(3) ? "llama2-7b" : "gpt2-xl", 1 << below(4), 16);
		problem.base.cluster.accelerator.usable_bytes *= 0.1 + 0.2 * below(6);
		PIN("zero", below(4));
		PIN("recompute", below(3));
		PIN("mbs", 1 << below(3));
		if (below(2))
			PIN("tp", 1);
		solve(&problem, &result);
		if (result.found > 0)
			continue;
		misses_begin(&misses, &problem);
		while (misses_next(&misses, &asked)) {
			struct planner_problem own = asked;

			solve(&own, &result);
			misses_take(&misses, &own, &result);
		}
		for (int i = 0; i < problem.axes && at < MAX_UNPINS; i++) {
			const struct knob *knob = problem.axis[i].knob;

			if (!planner_pinned(&problem, knob) || !would_do(i) ||
			    (misses.offload &&
			     strcmp(knob->key, "optimizer_offload") == 0))
				continue;
			assert_true(at < misses.unpins);
			assert_ptr_equal(misses.unpin[at++].knob, knob);
			named++;
		}
		assert_int_equal(at, misses.unpins);
		missing++;
	}
	assert_true(missing > 20 && named > 6);
}

/* --- what would gain --- */

static double seconds_of(const struct scenario *s)
{
	scenario_estimate(s, &e);
	if (!e.legal || e.memory.total_bytes > planner_room(&problem, s))
		return INFINITY;
	return 1 / e.tokens_per_second_per_gpu;
}

/* The most that turning this knob alone saves: to any value of its axis, or where it is
 * none, to a neighbour. */
static double gain_of(const struct scenario *s, const struct knob *knob, double now)
{
	double best = now;
	const struct planner_axis *axis = NULL;

	for (int i = 0; i < problem.axes; i++)
		if (problem.axis[i].knob == knob)
			axis = &problem.axis[i];
	for (int i = 0; i < (axis ? axis->count : 2); i++) {
		struct scenario turned = *s;
		double value = axis ? axis->value[i]
				    : knob_neighbour(s, knob, i == 0 ? -1 : 1);

		if (value != knob_get(s, knob) && knob_set(&turned, knob, value))
			best = fmin(best, seconds_of(&turned));
	}
	if (isinf(now))
		return isinf(best) ? 0 : 1;
	return 1 - best / now;
}

/* No knob that may be turned gains more than those that are told. */
static void test_no_other_knob_gains_more(void **state)
{
	int told = 0;

	(void)state;
	seed = 84;
	for (int round = 0; round < 60; round++) {
		static struct why why;
		static struct estimate now;
		struct scenario s;
		double seconds, least = 0.002;

		begin(below(2) ? "llama2-7b" : "mixtral-8x7b", 16, 32);
		PIN("zero", 0, 1, 2, 3);
		PIN("mbs", 1, 2, 4);
		PIN("recompute", RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL);
		s = problem.base;
		s.plan.tp = 1 << below(4);
		s.plan.pp = 1 << below(3);
		s.plan.zero = 1 + below(3);
		s.plan.recompute = below(3);
		scenario_estimate(&s, &now);
		if (!now.legal)
			continue;
		why_begin(&why, &problem, &s, &now);
		seconds = seconds_of(&s);
		assert_true(why.seconds == seconds || (isinf(seconds) && now.feasible));
		seconds = why.seconds;
		while (why_step(&why, &e)) {
		}
		for (int i = 0; i < why.count; i++) {
			told++;
			/* one thing under two names is told once */
			assert_true(i == 0 || isinf(seconds) ||
				    why.change[i].gain <
					    why.change[i - 1].gain - 1e-12);
			assert_close(why.change[i].gain,
				     gain_of(&s, why.change[i].knob, seconds), 1e-9);
		}
		if (why.count == MAX_WHY)
			least = why.change[MAX_WHY - 1].gain;
		for (int i = 0; i < problem.axes; i++) {
			const struct knob *knob = problem.axis[i].knob;

			if (!knob_applies(&s, knob))
				continue;
			if (gain_of(&s, knob, seconds) > least * (1 + 1e-9)) {
				bool is_told = false;
				double gain = gain_of(&s, knob, seconds);

				for (int k = 0; k < why.count; k++)
					is_told |=
						fabs(why.change[k].gain - gain) < 1e-9;
				if (!is_told)
					fail_msg("%s gains %g", knob->key, gain);
			}
		}
	}
	assert_true(told > 40);
}

/* The least seconds with two knobs as the better plan has them. */
static double best_pair(const struct scenario *s, const struct scenario *better)
{
	double best = INFINITY;

	for (int i = 0; i < knob_count(); i++)
		for (int k = 0; k < i; k++) {
			struct scenario turned = *s;

			if (knob_same(s, better, &knob_table[i]) ||
			    knob_same(s, better, &knob_table[k]))
				continue;
			knob_set(&turned, &knob_table[k],
				 knob_get(better, &knob_table[k]));
			knob_set(&turned, &knob_table[i],
				 knob_get(better, &knob_table[i]));
			best = fmin(best, seconds_of(&turned));
		}
	return best;
}

/* Where no knob gains alone: the two of those in which a better plan differs that gain
 * most together, if they do. */
static void test_no_other_pair_gains_more(void **state)
{
	int together = 0, alone = 0;

	(void)state;
	seed = 86;
	for (int round = 0; round < 60; round++) {
		static struct why why;
		static struct estimate now;
		struct scenario s, better;
		double seconds, best, all;

		begin("llama2-7b", 16, 32);
		s = better = problem.base;
		s.plan.tp = 1 << below(4);
		s.plan.pp = 1 << below(3);
		s.plan.zero = 1 + below(3);
		s.plan.recompute = below(3);
		better.plan.tp = 1 << below(4);
		better.plan.pp = 1 << below(3);
		better.plan.zero = below(4);
		better.plan.recompute = below(3);
		better.plan.micro_batch = 1 << below(2);
		scenario_estimate(&s, &now);
		if (!now.legal)
			continue;
		why_begin(&why, &problem, &s, &now);
		seconds = why.seconds;
		all = seconds_of(&better);
		best = best_pair(&s, &better);
		why_pair(&why, &better, &e);
		if (isfinite(seconds) && isfinite(all))
			assert_close(why.gain_of_all + 2, 3 - all / seconds, 1e-9);
		assert_int_equal(why.together, isinf(seconds)
						       ? isfinite(best)
						       : 1 - best / seconds >= 0.002);
		if (why.together) {
			struct scenario turned = s;

			together++;
			assert_int_equal(why.count, 2);
			assert_true(why.change[0].gain == why.change[1].gain);
			for (int i = 0; i < 2; i++) {
				const struct why_change *c = &why.change[i];

				assert_true(knob_get(&s, c->knob) == c->from);
				assert_true(knob_get(&better, c->knob) == c->to);
				knob_set(&turned, c->knob, c->to);
			}
			assert_true(seconds_of(&turned) == best);
			if (isfinite(seconds))
				assert_close(why.change[0].gain, 1 - best / seconds,
					     1e-9);
			else
				assert_true(why.change[0].gain == 1);
		}
		alone += !why.together;
	}
	assert_true(together > 5 && alone > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines_are_nodes),
		cmocka_unit_test(test_what_an_inverse_tries),
		cmocka_unit_test(test_the_least_machine_at_its_peak),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_how_often_is_asked),
		cmocka_unit_test(test_the_smallest_and_the_largest),
		cmocka_unit_test(test_packed_documents_need_fewer),
		cmocka_unit_test(test_the_largest_model),
		cmocka_unit_test(test_the_front_of_gpus_by_definition),
		cmocka_unit_test(test_the_front_of_users),
		cmocka_unit_test(test_always_best_is_best_in_every_case),
		cmocka_unit_test(test_what_would_do_is_told_once),
		cmocka_unit_test(test_the_rule_that_most_plans_break),
		cmocka_unit_test(test_a_server_that_is_too_large),
		cmocka_unit_test(test_every_pin_in_the_way_is_named),
		cmocka_unit_test(test_no_other_knob_gains_more),
		cmocka_unit_test(test_no_other_pair_gains_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
