/* test_every_plan.c - searches of spaces so small that all their plans can be written
 * down: with room for all, the list has each plan once, under its first name, best
 * first; and every candidate is counted for what it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/alike.h"
#include "engine/planner/planner.h"
#include "engine/predict/predict.h"
#include "engine/rules/rules.h"
#include "engine/schedule/schedule.h"
#include "engine/serve/serve.h"
#include "engine/train/relax.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct planner_problem problem;
static struct planner_result result;
static struct estimate e;

static int below(int n)
{
	return (int)next((uint64_t)n);
}

/* --- all candidates --- */

enum { MOST = 700, PARTS = 20 };

/* What a plan is, whatever it is called. */
struct plain {
	double part[PARTS];
	char layout[MAX_LAYOUT];
};

struct candidate {
	uint8_t choice[MAX_AXES];
	bool legal, fits, first;      /* first: no earlier one is the same plan */
	double score, bytes, request; /* request: seconds, of a server's */
	struct plain plain;
};

static int count;
static struct candidate all[MOST];

/* Knobs that do nothing in this plan are none of it, and what comes to the same is the
 * same: interleaving of one chunk is 1F1B, a group of all ranks is no group, and a
 * split is the layers that it gives. */
static void describe(const struct scenario *s, struct plain *out)
{
	const struct plan *p = &s->plan;
	int64_t copies = p->pp > 1 ? schedule_weight_copies(p->schedule) : 1, most;
	int64_t chunks = scenario_chunks(s), ranks = copies * scenario_dp(s) * p->cp;
	bool grouped = p->schedule == SCHEDULE_INTERLEAVED && chunks > 1 && p->pp > 1;
	bool full = p->recompute == RECOMPUTE_FULL &&
		    p->recompute_layers * p->pp < s->model.layers;
	int schedule = p->schedule == SCHEDULE_INTERLEAVED && chunks == 1
			       ? SCHEDULE_1F1B
			       : p->schedule;
	double zero;

	most = s->model.moe.experts > 0 ? copies * scenario_edp(s) : 1;
	most = most > ranks ? most : ranks;
	zero = most == 1 && p->zero < 3 ? 0 : (double)p->zero;
	*out = (struct plain){
		.part = { (double)s->cluster.gpus,
			  (double)p->tp,
			  p->tp > 1 ? p->sp : 0,
			  (double)p->pp,
			  (double)p->cp,
			  p->cp > 1 ? p->cp_kind : 0,
			  s->model.moe.experts > 0 ? (double)p->ep : 1,
			  s->model.moe.experts > 0 ? (double)scenario_etp(s) : 1,
			  (double)p->micro_batch,
			  (double)p->global_batch,
			  p->pp > 1 ? schedule : SCHEDULE_1F1B,
			  (double)chunks,
			  grouped ? (double)(p->micro_batch_group > 0
						     ? p->micro_batch_group
						     : p->pp)
				  : 0,
			  p->recompute,
			  p->recompute == RECOMPUTE_SELECTIVE
				  ? (double)p->recompute_modules
				  : 0,
			  full ? (double)p->recompute_layers : 0,
			  p->activation_offload,
			  zero,
			  p->zero > 0 && p->zero_group < ranks ? (double)p->zero_group
							       : 0,
			  p->optimizer_offload }
	};
	if (!train_layout(s, &e, out->layout, sizeof out->layout))
		out->layout[0] = '\0';
}

static bool breaks(const struct scenario *s, int row)
{
	struct facts facts;
	struct broken broken;
	int rows;

	rules_derive(s, &facts);
	return rules_of(s, &rows)[row].breaks(&facts, &broken);
}

static void set(const uint8_t *choice, struct scenario *s)
{
	*s = problem.base;
	for (int i = 0; i < problem.axes; i++)
		knob_set(s, problem.axis[i].knob, problem.axis[i].value[choice[i]]);
}

/* What a knob of the pool for prompts stands for, where 0 stands for another value. */
static double stands_for(const struct scenario *s, const struct knob *knob)
{
	double value = knob_get(s, knob);

	if (value == 0 && strcmp(knob->key, "prefill_tp") == 0)
		return (double)s->plan.tp;
	if (value == 0 && strcmp(knob->key, "prefill_pp") == 0)
		return (double)s->plan.pp;
	if (value == 0 && strcmp(knob->key, "prefill_gpus") == 0)
		return (double)(s->cluster.gpus / 2);
	return value;
}

/* Two servers are one where all knobs that do anything in either are alike. */
static bool is_same_server(const uint8_t *a, const uint8_t *b)
{
	struct scenario first, second;

	set(a, &first);
	set(b, &second);
	for (int i = 0; i < problem.axes; i++) {
		const struct knob *knob = problem.axis[i].knob;

		if (stands_for(&first, knob) != stands_for(&second, knob) &&
		    (knob_applies(&first, knob) || knob_applies(&second, knob)))
			return false;
	}
	return true;
}

static bool is_same(const struct candidate *a, const struct candidate *b)
{
	if (problem.base.plan.mode == MODE_INFERENCE)
		return is_same_server(a->choice, b->choice);
	return memcmp(&a->plain, &b->plain, sizeof a->plain) == 0;
}

/* Within the memory that is left; a server has room for a request, too. */
static bool fits(const struct scenario *s)
{
	return e.legal && e.host_fits && (e.fits || s->plan.mode == MODE_TRAINING) &&
	       e.memory.total_bytes <= e.capacity_bytes * (1 - problem.reserve);
}

/* From its arrival to its last token, at as many requests as keep the goals. */
static double request_of(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	const struct serving_estimate *at = &e.serving;
	bool goals = v->goal_ttft_seconds > 0 || v->goal_tpot_seconds > 0;
	double ttft = at->ttft_seconds, tpot = at->tpot_seconds;
	struct serve_point held;

	if (s->plan.mode == MODE_TRAINING)
		return 0;
	if (v->request_rate <= 0 && goals && at->goodput > 0 &&
	    at->goodput_concurrency < (at->concurrency + at->waiting) * (1 - 1e-9) &&
	    serve_held(s, at->goodput_concurrency, &held)) {
		ttft = held.ttft_seconds;
		tpot = held.tpot_seconds;
	}
	return ttft + (double)(v->output_len - 1) * tpot;
}

static void judge(struct candidate *c)
{
	struct scenario s;

	set(c->choice, &s);
	scenario_estimate(&s, &e);
	c->legal = e.legal;
	c->fits = fits(&s);
	c->bytes = e.memory.total_bytes;
	c->score = c->legal ? objective_of_estimate(problem.objective, &s, &e) : 0;
	c->request = c->legal ? request_of(&s) : 0;
	c->first = c->legal;
	if (!c->legal)
		return;
	if (s.plan.mode == MODE_TRAINING)
		describe(&s, &c->plain);
	/* bounds of a server's score build on it */
	else if (s.plan.serving.request_rate > 0)
		assert_true(e.serving.goodput <= serve_asked_tokens(&s));
	for (int i = 0; i < count && c->first; i++)
		c->first = !all[i].legal || !is_same(&all[i], c);
}

static double candidates(void)
{
	double product = 1;

	for (int i = 0; i < problem.axes; i++)
		product *= problem.axis[i].count;
	return product;
}

/* In the order of the axes, the last one turning fastest. */
static void list_all(void)
{
	uint8_t choice[MAX_AXES] = { 0 };
	int i;

	count = 0;
	do {
		assert_true(count < MOST);
		memset(&all[count], 0, sizeof all[count]);
		memcpy(all[count].choice, choice, sizeof choice);
		judge(&all[count]);
		count++;
		for (i = problem.axes - 1; i >= 0; i--) {
			if (++choice[i] < problem.axis[i].count)
				break;
			choice[i] = 0;
		}
	} while (i >= 0);
	assert_true(candidates() == count);
}

/* --- spaces --- */

/* Drop values of any axis until there are so few candidates. */
static void thin(double most)
{
	while (candidates() > most) {
		struct planner_axis *axis = &problem.axis[below(problem.axes)];
		int at = below(axis->count);

		/* what most plans around it are legal with stays more often */
		if (axis->count == 1 || (at == 0 && below(4)))
			continue;
		for (int i = at; i + 1 < axis->count; i++)
			axis->value[i] = axis->value[i + 1];
		axis->count--;
	}
}

static void pin(const char *key, const double *value, int values)
{
	assert_true(planner_pin(&problem, knob_find(key), value, values));
}

#define PIN(key, ...)                             \
	pin(key, (const double[]){ __VA_ARGS__ }, \
	    (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)))

/* Axes of one role, so that many values of it meet; the others hardly vary. */
static void keep_role(const char *const *keys)
{
	for (int i = 0; i < problem.axes; i++) {
		struct planner_axis *axis = &problem.axis[i];
		bool kept = false;

		for (int k = 0; keys[k]; k++)
			kept |= strcmp(axis->knob->key, keys[k]) == 0;
		if (!kept && below(4)) {
			axis->value[0] = axis->value[below(3) ? 0 : below(axis->count)];
			axis->count = 1;
		}
	}
}

static void any_space(void)
{
	static const char *const models[] = { "llama3.2-1b", "mixtral-8x7b",
					      "deepseek-v2-lite", "mamba2-2.7b" };
	static const char *const roles[][7] = {
		{ "pp", "schedule", "split", "vpp", "micro_batch_group", NULL },
		{ "pp", "recompute", "recompute_layers", "recompute_modules",
		  "activation_offload", NULL },
		{ "pp", "tp", "zero", "zero_group", "optimizer_offload", NULL },
		{ "tp", "sp", "cp", "cp_kind", "ep", "etp", NULL },
		{ "pp", "schedule", "vpp", "recompute", "zero", "mbs", NULL },
	};
	static const int gpus[] = { 1, 2, 4, 6, 8, 16 };
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	/* an axis that is read behind the last one is no pointer */
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, models[below(4)], "dgx-h100", "generic",
			    &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = gpus[below(6)];
	problem.base.plan.global_batch = gpus[1 + below(5)] * (1 + below(2));
	problem.base.plan.seq_len = 2048;
	problem.base.cluster.accelerator.usable_bytes *= 0.3 + 0.1 * below(12);
	problem.base.cluster.host_bytes_per_gpu = below(3) ? 1e12 : 2e10;
	problem.reserve = 0.05 * below(3);
	problem.top = MAX_TOP;
	problem.research = true;
	problem.objective = (enum objective)below(OBJECTIVE_COUNT);
	planner_axes(&problem);
	if (below(3))
		PIN("schedule", SCHEDULE_1F1B, SCHEDULE_INTERLEAVED, SCHEDULE_GPIPE,
		    SCHEDULE_ZB_H1);
	else
		PIN("schedule", SCHEDULE_DUALPIPE, SCHEDULE_1F1B);
	if (below(2))
		PIN("micro_batch_group", 0, 2, 4);
	if (below(2))
		PIN("activation_offload", 0, 1);
	if (below(2))
		PIN("split", SPLIT_EVEN, SPLIT_AUTO, SPLIT_BALANCED);
	PIN("recompute_layers", 0, 1, 2, 8, 16);
	PIN("vpp", 1, 2, 4);
	keep_role(roles[below(5)]);
	thin(100 + below(500));
	list_all();
}

/* Servers of a small cluster, some of which have no room, for a load that some carry.
 */
static void any_servers(void)
{
	static const char *const models[] = { "llama3.1-8b", "mixtral-8x7b",
					      "deepseek-v2-lite", "llama3.1-70b",
					      "gpt-oss-20b" };
	static const char *const stacks[] = { "vllm", "sglang", "tensorrt-llm",
					      "generic" };
	static const int gpus[] = { 2, 4, 8, 16 };
	struct serving_plan *v = &problem.base.plan.serving;
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, models[below(5)], "dgx-h100",
			    stacks[below(4)], &error))
		fail_msg("%s", error.text);
	problem.base.plan.mode = MODE_INFERENCE;
	problem.base.cluster.gpus = gpus[below(4)];
	problem.base.cluster.accelerator.usable_bytes *= 0.3 + 0.1 * below(8);
	v->concurrency = below(3) ? 1 << below(8) : 0;
	/* a rate that many keep up with */
	v->request_rate = below(3) ? 0 : 0.1 * (1 << below(8));
	v->prompt_len = 100 << below(7);
	v->output_len = 10 << below(5);
	v->goal_ttft_seconds = below(2) ? 0 : 0.1 * (1 + below(20));
	v->goal_tpot_seconds = below(2) ? 0 : 0.01 * (1 + below(6));
	problem.top = MAX_TOP;
	problem.research = true;
	problem.objective = (enum objective)below(OBJECTIVE_COUNT);
	planner_axes(&problem);
	if (below(2))
		PIN("disaggregated", 0, 1);
	if (below(2))
		PIN("prefill_tp", 0, 1, 2);
	if (below(3) == 0)
		PIN("chunked_prefill", 0, 1);
	thin(100 + below(300));
	list_all();
}

static void solve(void)
{
	struct planner *planner = planner_start(&problem);
	int estimates;
	bool more;

	assert_non_null(planner);
	/* in slices of no more plans than are asked for */
	do {
		double before = planner_result(planner)->counts.explored;

		estimates = 1 + below(60);
		more = planner_step(planner, estimates);
		assert_true(planner_result(planner)->counts.explored - before <=
			    estimates);
	} while (more);
	result = *planner_result(planner);
	planner_free(planner);
}

/* --- what the list has to be --- */

static int find(const uint8_t *choice)
{
	for (int i = 0; i < count; i++)
		if (memcmp(all[i].choice, choice, (size_t)problem.axes) == 0)
			return i;
	fail_msg("a plan that is no candidate");
	return -1;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	return a->score < b->score || (a->score == b->score && a->request < b->request);
}

/* Fitting plans, the best first; where scores are equal the server whose requests take
 * the shortest, then the first in the order of the axes. */
static int sorted, order[MOST];

static void sort_plans(void)
{
	sorted = 0;
	for (int i = 0; i < count; i++) {
		int at = sorted;

		if (!all[i].first || !all[i].fits)
			continue;
		for (; at > 0 && is_better(&all[i], &all[order[at - 1]]); at--)
			order[at] = order[at - 1];
		order[at] = i;
		sorted++;
	}
}

/* Of these, those that are listed: as many as are wanted; where ideas are, until there
 * are so many of them, beside the best plans only so many of each that are nearly as
 * fast as its best. */
static int list_wanted(int *wanted)
{
	struct idea idea[MAX_TOP];
	double best[MAX_TOP];
	int beside[MAX_TOP] = { 0 }, ideas = 0, listed = 0;

	for (int i = 0; i < sorted; i++) {
		const struct candidate *c = &all[order[i]];
		struct scenario s;
		struct idea own;
		int at = 0;

		if (problem.each == 0 ? listed == problem.top : ideas == problem.top)
			break;
		set(c->choice, &s);
		planner_idea(&s, &own);
		while (at < ideas && memcmp(&idea[at], &own, sizeof own) != 0)
			at++;
		if (at == ideas && problem.each > 0) {
			idea[ideas] = own;
			best[ideas++] = c->score;
		} else if (listed >= problem.top) {
			if (beside[at] == problem.each ||
			    !alike_is_as_fast(c->score, best[at]))
				continue;
		}
		beside[at] += problem.each > 0 && listed >= problem.top;
		wanted[listed++] = order[i];
	}
	return listed;
}

/* Of a server with goals, what it gives where as many requests are held as keep them:
 * as few as are asked for, or fewer. */
static void check_told_server(const struct planner_found *f, const struct scenario *s)
{
	const struct serving_estimate *v = &e.serving;
	struct scenario held = *s;
	double gpus = (double)s->cluster.gpus, asked = v->concurrency;
	bool goals = s->plan.serving.goal_ttft_seconds > 0 ||
		     s->plan.serving.goal_tpot_seconds > 0;

	/* of those held at once some may wait for room */
	if (s->plan.serving.request_rate <= 0)
		asked += v->waiting;
	assert_true(f->memory_share == f->memory_bytes / e.capacity_bytes);
	if (v->goodput > 0)
		assert_close(f->tokens_per_second_per_gpu, v->goodput / gpus, 1e-12);
	if (v->goodput > 0 && s->cluster.price_per_gpu_hour > 0) {
		double hours = 1e6 / v->goodput / 3600;

		assert_close(f->requests_per_second *
				     (double)s->plan.serving.output_len,
			     v->goodput, 1e-9);
		assert_close(f->dollars_per_million_tokens,
			     hours * gpus * s->cluster.price_per_gpu_hour, 1e-9);
	}
	if (s->plan.serving.request_rate > 0) {
		assert_true(f->requests == asked && f->step_seconds == v->tpot_seconds);
		assert_true(f->ttft_seconds == v->ttft_seconds);
		return;
	}
	if (goals && v->goodput > 0)
		assert_close(f->requests, fmin(v->goodput_concurrency, asked), 1e-9);
	else
		assert_true(f->requests == asked);
	held.plan.serving.concurrency = (int64_t)f->requests;
	held.plan.serving.goal_ttft_seconds = held.plan.serving.goal_tpot_seconds = 0;
	if ((double)held.plan.serving.concurrency != f->requests || v->waiting > 0)
		return;
	scenario_estimate(&held, &e);
	assert_close(f->step_seconds, e.serving.tpot_seconds, 1e-9);
	assert_close(f->ttft_seconds, e.serving.ttft_seconds, 1e-9);
	if (f->requests > 0 && v->goodput > 0)
		assert_close(f->tokens_per_second_per_gpu, e.tokens_per_second / gpus,
			     1e-9);
}

/* What is told of a plan is what its estimate says. */
static void check_told(const struct planner_found *f)
{
	struct scenario s;

	planner_scenario(&problem, f, &s);
	scenario_estimate(&s, &e);
	if (s.plan.mode == MODE_INFERENCE) {
		check_told_server(f, &s);
		return;
	}
	assert_true(f->step_seconds == e.step_seconds);
	assert_true(f->tokens_per_second_per_gpu == e.tokens_per_second_per_gpu);
	assert_true(f->mfu == e.mfu && f->bubble_ratio == e.bubble_ratio);
	assert_true(f->memory_share == f->memory_bytes / e.capacity_bytes);
}

static void check_list(void)
{
	static int wanted[MOST];
	int listed = list_wanted(wanted);

	assert_int_equal(result.found, listed);
	for (int i = 0; i < listed; i++) {
		const struct planner_found *f = &result.top[i];
		const struct candidate *c = &all[wanted[i]];

		assert_memory_equal(f->choice, c->choice, (size_t)problem.axes);
		assert_true(f->score == c->score && f->memory_bytes == c->bytes);
		if (i < 3)
			check_told(f);
	}
}

/* Where nothing fits: the legal plan that needs the fewest bytes, if hosts hold what it
 * sends them. */
static void check_nearest(void)
{
	const struct candidate *least = NULL;

	for (const struct candidate *c = all; c < all + count; c++) {
		struct scenario s;

		if (!c->first)
			continue;
		set(c->choice, &s);
		scenario_estimate(&s, &e);
		if (e.host_fits && (!least || c->bytes < least->bytes))
			least = c;
	}
	assert_int_equal(result.has_nearest, least != NULL);
	if (least)
		assert_int_equal(find(result.nearest.choice), least - all);
}

/* Of an exhaustive search: every legal plan is tried once, other names are repeated,
 * and what breaks a rule is counted under one that it breaks. */
static void check_counts(void)
{
	const struct planner_counts *c = &result.counts;
	int legal = 0, plans = 0, fit = 0, rows;
	const struct legality *rule = rules_of(&problem.base, &rows);
	double undivided = 0, rest = 0;

	for (int i = 0; i < count; i++) {
		legal += all[i].legal;
		plans += all[i].first;
		fit += all[i].first && all[i].fits;
	}
	assert_true(c->candidates == count);
	assert_true(c->bounded == 0 && c->too_large == 0);
	assert_true(c->explored - c->illegal == plans);
	assert_true(c->out_of_memory == plans - fit);
	assert_true(c->repeated >= legal - plans);
	assert_true(c->explored + c->repeated + c->undivided + c->unruly == count);
	for (int row = 0; row < rows; row++) {
		const char *code = rule[row].rule.code;
		bool divides = strcmp(code, "E1") == 0 || strcmp(code, "E2") == 0 ||
			       strcmp(code, "E3") == 0 || strcmp(code, "E7") == 0;
		double all_that_break = 0;

		if (c->broken[row] == 0)
			continue;
		for (int i = 0; i < count; i++) {
			struct scenario s;

			if (all[i].legal)
				continue;
			set(all[i].choice, &s);
			all_that_break += breaks(&s, row);
		}
		assert_true(c->broken[row] <= all_that_break);
		*(divides ? &undivided : &rest) += c->broken[row];
	}
	assert_true(c->undivided == undivided && c->unruly == rest);
}

/* The fast search: all that is left out is counted, and is much. */
static double tried, triable;

static void check_fast(int top, int each)
{
	const struct planner_counts *c = &result.counts;

	problem.exhaustive = false;
	problem.top = top;
	problem.each = each;
	solve();
	check_list();
	if (result.found == 0)
		check_nearest();
	assert_true(c->candidates == count);
	assert_true(c->explored + c->repeated + c->undivided + c->unruly + c->bounded +
			    c->too_large ==
		    count);
	tried += c->explored;
}

static void test_every_plan_once(void **state)
{
	const int spaces = 400;
	int found = 0, missed = 0;

	(void)state;
	seed = 71;
	for (int i = 0; i < spaces; i++) {
		any_space();
		sort_plans();
		problem.exhaustive = true;
		solve();
		check_counts();
		check_list();
		triable += 4 * result.counts.explored;
		check_fast(MAX_TOP, 0);
		check_fast(1, 0);
		check_fast(1 + below(6), 0);
		check_fast(1 + below(6), 1 + below(6));
		found += sorted;
		missed += sorted == 0;
	}
	assert_true(found > 8 * spaces && missed > spaces / 20);
	assert_true(tried < 0.45 * triable);
}

/* Where a value is another name of an earlier one, which proofs leave out, both break
 * rules or none does, and both come to the same. */
static void test_names_are_of_the_same_plan(void **state)
{
	int names = 0;

	(void)state;
	seed = 73;
	for (int i = 0; i < 300000; i++) {
		static struct estimate other;
		struct scenario s;
		const struct knob *knob = any_knob();
		double value[2];

		any_scenario(&s);
		if (!knob || knob->type == KNOB_TEXT ||
		    (train_role_of(knob->key) <= DECIDES_BATCH &&
		     !knob_repeats_early(knob)))
			continue;
		value[0] = knob_get(&s, knob);
		value[1] = knob->min + (double)below(next(2) ? 3 : 40);
		if (value[0] == value[1] || !knob_set(&s, knob, value[1]) ||
		    !knob_repeats(&s, knob, value, 1))
			continue;
		scenario_estimate(&s, &e);
		knob_set(&s, knob, value[0]);
		scenario_estimate(&s, &other);
		names += e.legal;
		if (e.legal != other.legal ||
		    (e.legal && (e.step_seconds != other.step_seconds ||
				 e.memory.total_bytes != other.memory.total_bytes))) {
			any_describe(&s);
			fail_msg("%s %g is legal %d, and %g %d", knob->key, value[1],
				 e.legal, value[0], other.legal);
		}
	}
	assert_true(names > 300);
}

/* As many of the best as are wanted, of all and of those that bounds leave. */
static void test_every_server_once(void **state)
{
	const int spaces = 450;
	double explored = 0, possible = 0;
	int found = 0, missed = 0;

	(void)state;
	seed = 72;
	for (int i = 0; i < spaces; i++) {
		const struct planner_counts *c = &result.counts;

		any_servers();
		sort_plans();
		problem.exhaustive = true;
		solve();
		check_counts();
		check_list();
		possible += c->explored;
		problem.exhaustive = false;
		problem.top = 1 + below(4);
		solve();
		check_list();
		if (result.found == 0)
			check_nearest();
		assert_true(c->explored + c->repeated + c->undivided + c->unruly +
				    c->bounded + c->too_large ==
			    count);
		explored += c->explored;
		found += sorted;
		missed += sorted == 0;
	}
	assert_true(found > 4 * spaces && missed > spaces / 20);
	assert_true(explored < 0.72 * possible);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_plan_once),
		cmocka_unit_test(test_every_server_once),
		cmocka_unit_test(test_names_are_of_the_same_plan),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
