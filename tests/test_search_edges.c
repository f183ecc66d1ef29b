/* test_search_edges.c - the ends of lists, and what hardly ever happens in a search:
 * all plans break one rule, hosts hold none, the mode itself is free, a front is full.
 * What stands in front of a list and behind it is filled with what nobody wrote. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/alike.h"
#include "engine/planner/certify.h"
#include "engine/planner/miss.h"
#include "engine/planner/pareto.h"
#include "engine/planner/robust.h"
#include "engine/planner/why.h"
#include "engine/predict/predict.h"
#include "engine/rules/rules.h"
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

static void solve(const struct planner_problem *what)
{
	struct planner *planner = planner_start(what);

	assert_non_null(planner);
	while (planner_step(planner, 100)) {
	}
	result = *planner_result(planner);
	planner_free(planner);
}

/* An axis that is read behind the last one is no pointer and has too many values. */
static void begin(const char *model, int gpus, int batch)
{
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, model, "dgx-a100-40g", "generic", &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = gpus;
	problem.base.plan.global_batch = batch;
	problem.base.plan.seq_len = 2048;
	problem.research = true;
	problem.top = 4;
}

static void pin(const char *key, const double *value, int count)
{
	assert_true(planner_pin(&problem, knob_find(key), value, count));
}

#define PIN(key, ...)                             \
	pin(key, (const double[]){ __VA_ARGS__ }, \
	    (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)))

/* Every choice of the axes, the last turning fastest; false behind the last. */
static bool turn(uint8_t *choice, struct scenario *s)
{
	int i = problem.axes - 1;

	while (i >= 0 && ++choice[i] == problem.axis[i].count)
		choice[i--] = 0;
	*s = problem.base;
	for (int k = 0; k < problem.axes; k++)
		knob_set(s, problem.axis[k].knob, problem.axis[k].value[choice[k]]);
	return i >= 0;
}

/* --- where the tree ends --- */

/* The counts of a space of which every plan breaks this rule. */
static void check_all_break(const char *code, bool divides)
{
	const struct planner_counts *c = &result.counts;
	double candidates = 1;
	struct planner *planner = planner_start(&problem);
	char *proof;

	for (int i = 0; i < problem.axes; i++)
		candidates *= problem.axis[i].count;
	assert_non_null(planner);
	while (planner_step(planner, 1)) {
	}
	result = *planner_result(planner);
	proof = planner_certify(planner, INFINITY);
	assert_non_null(proof);
	assert_non_null(strstr(proof, code));
	free(proof);
	planner_free(planner);
	assert_true(result.done && result.progress == 1);
	assert_true(result.found == 0 && !result.has_nearest);
	assert_true(c->candidates == candidates);
	assert_true(c->undivided == (divides ? candidates : 0));
	assert_true(c->unruly == (divides ? 0 : candidates));
	for (int i = 0; i < legality_count(); i++)
		assert_true(
			c->broken[i] ==
			(strcmp(legality_table[i].rule.code, code) ? 0 : candidates));
	assert_true(c->explored + c->repeated + c->bounded + c->too_large == 0);
}

static void test_all_plans_break_one_rule(void **state)
{
	(void)state;
	/* 3 ranks of TP don't divide 8 GPUs */
	begin("llama3.2-1b", 8, 8);
	PIN("tp", 3);
	PIN("zero", 0, 1, 2);
	PIN("recompute", RECOMPUTE_NONE, RECOMPUTE_FULL);
	check_all_break("E1", true);
	/* the same where that is given, and no axis */
	begin("llama3.2-1b", 8, 8);
	problem.base.plan.tp = 3;
	PIN("zero", 0, 1, 2);
	PIN("mbs", 1, 2);
	check_all_break("E1", true);
	/* 8 ranks of TP don't divide 25 heads */
	begin("gpt2-xl", 8, 8);
	PIN("tp", 8);
	PIN("zero", 0, 1);
	solve(&problem);
	assert_int_equal(result.found, 0);
	assert_true(result.counts.unruly == 2 && result.counts.explored == 0);
	/* nothing is free: one plan */
	begin("llama3.2-1b", 8, 8);
	solve(&problem);
	assert_true(result.counts.candidates == 1 && result.found == 1);
	assert_true(result.counts.explored == 1 && result.progress == 1);
}

/* Training or serving: rules are each mode's own, and all plans are tried. */
static void test_a_free_mode(void **state)
{
	(void)state;
	begin("llama3.2-1b", 6, 8);
	PIN("mode", MODE_TRAINING, MODE_INFERENCE);
	PIN("tp", 1, 2, 3, 4);
	PIN("zero", 0, 1);
	for (int objective = 0; objective < OBJECTIVE_COUNT; objective++) {
		const struct planner_counts *c = &result.counts;
		uint8_t choice[MAX_AXES] = { 0 };
		double best = INFINITY;
		int legal = 0;
		struct scenario s;
		bool more;

		problem.objective = (enum objective)objective;
		solve(&problem);
		do {
			double score;

			more = turn(choice, &s);
			scenario_estimate(&s, &e);
			legal += e.legal;
			if (!e.feasible ||
			    e.memory.total_bytes > planner_room(&problem, &s))
				continue;
			score = objective_of_estimate(problem.objective, &s, &e);
			best = fmin(best, score);
		} while (more);
		assert_true(result.found > 0 && result.top[0].score == best);
		assert_true(c->candidates == 16 && c->undivided + c->unruly == 0);
		assert_true(c->explored + c->repeated == 16);
		assert_true(c->explored - c->illegal + c->repeated >= legal);
	}
}

/* Of two knobs alone that are free, whatever they are: each plan that breaks a rule is
 * counted under it, and no other is; the best is the best of all. */
static void check_pair(void)
{
	uint8_t choice[MAX_AXES] = { 0 };
	double best = INFINITY, illegal = 0;
	struct scenario s;
	bool more;

	do {
		more = turn(choice, &s);
		scenario_estimate(&s, &e);
		illegal += !e.legal;
		if (e.feasible && e.memory.total_bytes <= planner_room(&problem, &s))
			best = fmin(best,
				    objective_of_estimate(problem.objective, &s, &e));
	} while (more);
	for (int all = 0; all < 2; all++) {
		const struct planner_counts *c = &result.counts;

		problem.exhaustive = all;
		solve(&problem);
		assert_int_equal(result.found > 0, isfinite(best));
		assert_true(result.found == 0 || result.top[0].score == best);
		assert_true(c->undivided + c->unruly + c->illegal <= illegal);
	}
}

static void test_any_two_knobs(void **state)
{
	static const char *const free_knobs[][2] = {
		{ "tp", "1,2,4,3" },
		{ "pp", "1,2,4,8" },
		{ "cp", "1,2" },
		{ "sp", "off,on" },
		{ "mbs", "1,2,3" },
		{ "gbs", "8,12,32" },
		{ "gpus", "8,6,16" },
		{ "ep", "1,2,8" },
		{ "etp", "1,0,2" },
		{ "schedule", "1f1b,interleaved,gpipe,zb-h1,zb-v,dualpipe" },
		{ "vpp", "1,2,3,4" },
		{ "split", "even,auto,balanced" },
		{ "micro_batch_group", "0,1,4" },
		{ "recompute", "none,selective,full" },
		{ "recompute_layers", "0,1,40" },
		{ "zero", "0,1,2,3" },
		{ "zero_group", "0,2,3,8" },
		{ "optimizer_offload", "0,1" },
		{ "activation_offload", "0,0.5" },
		{ "precision", "bf16,fp16,fp8" },
		{ "moe_dispatcher", "alltoall,deepep" },
	};
	enum { KNOBS = sizeof free_knobs / sizeof *free_knobs };
	char why[96];

	(void)state;
	seed = 614;
	for (int i = 0; i < KNOBS * KNOBS; i++) {
		struct plan *plan = &problem.base.plan;

		begin(i % 2 ? "mixtral-8x7b" : "llama3.2-1b", 8, 16);
		plan->pp = 1 << below(3);
		plan->tp = 1 << below(2);
		plan->zero = below(3);
		plan->schedule = below(2) ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
		plan->vpp = 1 + below(2);
		problem.base.cluster.accelerator.usable_bytes *= 4;
		problem.top = 1;
		for (int k = 0; k < 2; k++) {
			const char *const *pair = free_knobs[k ? i / KNOBS : i % KNOBS];

			if (!planner_pin_text(&problem, knob_find(pair[0]), pair[1],
					      why, sizeof why))
				fail_msg("%s: %s", pair[0], why);
		}
		check_pair();
	}
}

/* --- hosts that hold nothing --- */

/* Where legal plans fail of the hosts alone, they are what is named. */
static void test_hosts_are_in_the_way(void **state)
{
	int hosts = 0, others = 0;

	(void)state;
	seed = 611;
	for (int round = 0; round < 150; round++) {
		static struct misses misses;
		uint8_t choice[MAX_AXES] = { 0 };
		struct scenario s;
		int legal = 0;
		bool more;

		begin("llama2-7b", 5 + below(4), 8 * (1 + below(2)));
		problem.base.cluster.host_bytes_per_gpu = 1e9 * below(3);
		PIN("tp", 1, 2, 3 + below(2));
		PIN("zero", 0, 1);
		PIN("optimizer_offload", 0.5, 1);
		/* else what is too large shows before it is tried */
		problem.exhaustive = below(2);
		do {
			more = turn(choice, &s);
			scenario_estimate(&s, &e);
			legal += e.legal;
		} while (more);
		misses_begin(&misses, &problem);
		assert_true(misses_next(&misses, &asked));
		solve(&asked);
		misses_take(&misses, &asked, &result);
		if (result.found > 0)
			continue;
		assert_int_equal(misses.blocker.rule &&
					 strcmp(misses.blocker.rule->code, "X25") == 0,
				 legal > 0);
		*(legal > 0 ? &hosts : &others) += 1;
	}
	assert_true(hosts > 10 && others > 1);
}

/* Hosts of which nobody stated the memory are in nobody's way. */
static void test_hosts_that_are_not_known(void **state)
{
	double score[2];

	(void)state;
	for (int known = 0; known < 2; known++) {
		begin("llama2-7b", 8, 16);
		problem.base.cluster.host_bytes_per_gpu = known ? 1e15 : 0;
		PIN("tp", 1, 2, 4);
		PIN("optimizer_offload", 0.5, 1);
		solve(&problem);
		assert_true(result.found > 0);
		score[known] = result.top[0].score;
	}
	assert_close(score[0], score[1], 0);
}

/* --- fronts, by hand --- */

static struct {
	char before[4096];
	struct pareto front;
	char behind[4096];
} held;

static void check_frame(void)
{
	for (size_t i = 0; i < sizeof held.before; i++)
		assert_true(held.before[i] == 0x7e && held.behind[i] == 0x7e);
}

static struct pareto *begin_front(enum pareto_kind kind)
{
	memset(&held, 0x7e, sizeof held);
	pareto_begin(&held.front, kind, &problem);
	return &held.front;
}

static void take(double score, double bytes, double rate)
{
	memset(&result, 0, sizeof result);
	result.found = 1;
	result.top[0].score = score;
	result.top[0].memory_bytes = bytes;
	result.top[0].tokens_per_second_per_gpu = rate;
	result.top[0].step_seconds = 1 / rate;
	pareto_take(&held.front, &problem, &result);
}

static void test_a_front_of_memory_by_hand(void **state)
{
	struct pareto *front;
	double usable;

	(void)state;
	begin("llama3.2-1b", 8, 8);
	usable = problem.base.cluster.accelerator.usable_bytes;
	front = begin_front(PARETO_MEMORY);
	assert_true(front->limit_bytes == usable && !front->done);
	/* to the byte what there is, as a server takes it */
	take(1, usable, 100);
	assert_true(front->count == 1 && !front->done);
	assert_close(front->limit_bytes, 0.99 * usable, 1e-12);
	/* as fast with less: the one before goes */
	take(1, 0.5 * usable, 100);
	assert_true(front->count == 1 &&
		    front->point[0].found.memory_bytes == 0.5 * usable);
	take(2, 0.3 * usable, 50);
	assert_true(front->count == 2 && front->point[1].tokens_per_second == 400);
	/* more than the limit: nothing is to be had below it */
	take(3, front->limit_bytes * (1 + 1e-6), 10);
	assert_true(front->count == 2 && front->done);
	/* down to nothing */
	front = begin_front(PARETO_MEMORY);
	take(1, 0.01 * usable, 100);
	assert_true(front->count == 1 && front->done);
	/* nothing fits */
	front = begin_front(PARETO_MEMORY);
	memset(&result, 0, sizeof result);
	pareto_take(front, &problem, &result);
	assert_true(front->count == 0 && front->done);
	/* no more room for points */
	front = begin_front(PARETO_MEMORY);
	for (int i = 0; i < MAX_FRONT + 3; i++) {
		take(i, front->limit_bytes, 100 - i);
		assert_int_equal(front->done, i >= MAX_FRONT);
	}
	assert_int_equal(front->count, MAX_FRONT);
	check_frame();
}

static void test_a_front_of_gpus_by_hand(void **state)
{
	/* tokens a second of each GPU, and whether their sum is more than any before */
	static const struct {
		double rate;
		bool counts;
	} step[] = { { 1e-6, true }, { 1e-6, true }, { 5e-7, false }, { 1, true } };
	struct pareto *front;
	int points = 0;

	(void)state;
	begin("llama3.2-1b", 8, 8);
	PIN("gpus", 4, 8, 12, 16);
	front = begin_front(PARETO_GPUS);
	assert_int_equal(front->counts, 4);
	for (int i = 0; i < 4; i++) {
		assert_false(front->done);
		take(1, 1, step[i].rate);
		points += step[i].counts;
		assert_int_equal(front->count, points);
	}
	assert_true(front->done);
	check_frame();
}

static void test_a_front_of_users_by_hand(void **state)
{
	struct pareto *front;

	(void)state;
	begin("llama3.2-1b", 8, 8);
	problem.base.plan.mode = MODE_INFERENCE;
	front = begin_front(PARETO_USERS);
	take(1, 1, 50);
	assert_close(front->limit_seconds, 0.02 / 1.15, 1e-12);
	/* slower than was asked for is as slow as was asked for */
	take(1, 1, 40);
	assert_close(front->point[1].found.step_seconds, 0.02 / 1.15, 1e-12);
	assert_close(front->limit_seconds, 0.02 / 1.15 / 1.15, 1e-12);
	take(1, 1, 400);
	assert_close(front->limit_seconds, 0.0025 / 1.15, 1e-12);
	assert_true(front->count == 3 && !front->done);
	check_frame();
}

/* --- cases of a worse machine --- */

static void test_cases_of_as_many_plans_as_there_are(void **state)
{
	static struct {
		struct robust robust;
		char behind[4096];
	} guarded;
	static const struct robust_plan none;
	static const struct planner_found no_plan;

	(void)state;
	begin("llama3.2-1b", 8, 32);
	PIN("tp", 1, 2, 4, 8);
	PIN("zero", 0, 1, 2, 3);
	for (problem.top = 1; problem.top <= MAX_ROBUST + 2; problem.top++) {
		struct robust *robust = &guarded.robust;

		memset(&guarded, 0x7e, sizeof guarded);
		solve(&problem);
		assert_int_equal(result.found, problem.top);
		assert_true(robust_begin(robust, &problem, &result));
		while (robust_next(robust, &asked)) {
			solve(&asked);
			robust_take(robust, &result);
		}
		for (int i = robust->plans; i < MAX_ROBUST; i++) {
			assert_memory_equal(&robust->item[i], &none, sizeof none);
			assert_memory_equal(&robust->plan[i], &no_plan, sizeof no_plan);
		}
		for (size_t i = 0; i < sizeof guarded.behind; i++)
			assert_true(guarded.behind[i] == 0x7e);
	}
}

/* --- gains --- */

/* What a better plan gains, where this one or that one can't be had. */
static void test_gains_of_what_does_not_fit(void **state)
{
	static struct why why;
	static struct estimate now;

	(void)state;
	for (int k = 0; k < 4; k++) {
		bool this_fits = k & 1, that_fits = k & 2;
		struct scenario s, better;

		begin("llama2-7b", 8, 16);
		s = better = problem.base;
		s.plan.tp = this_fits ? 8 : 1;
		better.plan.tp = that_fits ? 8 : 1;
		s.plan.zero = better.plan.zero = this_fits && that_fits ? 1 : 0;
		better.plan.micro_batch = 2;
		scenario_estimate(&s, &now);
		assert_int_equal(now.feasible, this_fits);
		why_begin(&why, &problem, &s, &now);
		why_pair(&why, &better, &e);
		scenario_estimate(&better, &e);
		assert_int_equal(e.feasible, that_fits);
		if (this_fits && that_fits)
			assert_close(why.gain_of_all + 1,
				     2 - now.tokens_per_second_per_gpu /
						     e.tokens_per_second_per_gpu,
				     1e-9);
		else if (!this_fits)
			assert_true(why.gain_of_all == (that_fits ? 1 : 0));
		else
			assert_true(why.gain_of_all == -INFINITY);
	}
}

/* A knob from this place in the table on that gains something alone, and where it is
 * turned to. */
static const struct knob *find_gain(const struct why *why, int from, double *to)
{
	for (int i = from; i < knob_count(); i++) {
		for (int direction = -1; direction <= 1; direction += 2) {
			const struct knob *knob = &knob_table[i];
			struct scenario s = why->scenario;

			*to = knob_neighbour(&s, knob, direction);
			if (knob->type == KNOB_TEXT || !knob_applies(&s, knob) ||
			    !knob_set(&s, knob, *to))
				continue;
			scenario_estimate(&s, &e);
			if (e.feasible &&
			    1 / e.tokens_per_second_per_gpu < 0.99 * why->seconds)
				return knob;
		}
	}
	return NULL;
}

/* Turns so many knobs that do nothing here, in the order of the table; returns the
 * place behind the last of them. */
static int turn_idle_knobs(const struct why *why, struct scenario *turned, int count)
{
	int i = 0;

	for (; i < knob_count() && count > 0; i++) {
		const struct knob *knob = &knob_table[i];
		struct scenario s = *turned;

		if (knob->type == KNOB_TEXT || knob_applies(&s, knob) ||
		    !knob_set(&s, knob, knob_neighbour(&s, knob, 1)) ||
		    knob_same(&s, turned, knob))
			continue;
		scenario_estimate(&s, &e);
		if (!e.feasible || 1 / e.tokens_per_second_per_gpu != why->seconds)
			continue;
		*turned = s;
		count--;
	}
	assert_int_equal(count, 0);
	return i;
}

/* Pairs are made of the first fourteen knobs in which a better plan differs. */
static void test_pairs_of_many_differences(void **state)
{
	static struct why why;
	static struct estimate now;

	(void)state;
	for (int idle = 13; idle <= 14; idle++) {
		const struct knob *gains;
		struct scenario better;
		double to;
		int behind;

		begin("llama2-7b", 8, 16);
		problem.base.plan.tp = 8;
		scenario_estimate(&problem.base, &now);
		assert_true(now.feasible);
		why_begin(&why, &problem, &problem.base, &now);
		better = problem.base;
		behind = turn_idle_knobs(&why, &better, idle);
		gains = find_gain(&why, behind, &to);
		assert_true(gains && knob_set(&better, gains, to));
		why_pair(&why, &better, &e);
		assert_true(why.gain_of_all > 0.005);
		assert_int_equal(why.together, idle < 14);
	}
}

/* --- plans that are alike --- */

static void draw_alike(void)
{
	struct idea idea[6];
	double score = 1;

	memset(&problem, 0, sizeof problem);
	memset(idea, 0, sizeof idea);
	for (int i = 0; i < 6; i++)
		idea[i].tp = 1 + i;
	memset(&result, 0, sizeof result);
	result.found = below(MAX_KEPT + 1);
	for (int i = 0; i < result.found; i++) {
		/* equal now and then, and rarely half a percent apart */
		score *= below(3) ? 1 + 0.001 * below(3) : 1;
		result.top[i].score = score;
		result.top[i].idea = idea[below(1 + below(6))];
	}
}

static void test_ideas_are_the_same_degrees(void **state)
{
	static struct alike alike;

	(void)state;
	seed = 612;
	for (int round = 0; round < 200; round++) {
		int rows = 0;

		draw_alike();
		planner_alike(&problem, &result, &alike);
		for (int i = 0; i < result.found; i++) {
			int best = 0, before = 0, plans = 0, fast = 0, first = 0;
			char name[16], wanted[16] = "";
			const struct idea *own = &result.top[i].idea;

			while (result.top[best].idea.tp != own->tp)
				best++;
			for (int k = 0; k < result.found; k++) {
				bool same = result.top[k].idea.tp == own->tp;
				double limit = result.top[best].score * 1.005;

				before += same && k < i;
				plans += same;
				fast += same && result.top[k].score <= limit;
			}
			rows += best == i;
			/* which idea it is, by the best of each */
			for (int k = 0; k < best; k++) {
				int at = 0;

				while (result.top[at].idea.tp != result.top[k].idea.tp)
					at++;
				first += at == k;
			}
			assert_int_equal(alike.row[i], first);
			assert_int_equal(alike.best[first], best);
			assert_int_equal(alike.count[first], plans);
			assert_int_equal(alike.as_fast[first], fast);
			if (before > 0 && before <= 25)
				snprintf(wanted, sizeof wanted, "%d%c", first + 1,
					 "abcdefghijklmnopqrstuvwxyz"[before]);
			else
				snprintf(wanted, sizeof wanted, "%d", first + 1);
			assert_int_equal(alike_name(&alike, i, name, sizeof name),
					 strlen(wanted));
			assert_string_equal(name, wanted);
		}
		assert_int_equal(alike.rows, rows);
	}
	/* scores below zero, as of what is wanted in plenty */
	assert_true(alike_is_as_fast(-0.995, -1) && !alike_is_as_fast(-0.9949, -1));
}

/* Servers are one idea where they differ in what does nothing there. */
static void test_servers_that_are_alike(void **state)
{
	static struct alike alike;
	struct planner_found *top = result.top;

	(void)state;
	begin("llama3.1-8b", 16, 8);
	problem.base.plan.mode = MODE_INFERENCE;
	PIN("disaggregated", 0, 1);
	PIN("prefill_tp", 0, 2);
	memset(&result, 0, sizeof result);
	result.found = 4;
	top[1].choice[1] = 1; /* of no pool of prompts */
	top[2].choice[0] = 1;
	top[3].choice[0] = top[3].choice[1] = 1;
	planner_alike(&problem, &result, &alike);
	assert_int_equal(alike.rows, 3);
	assert_true(alike.row[0] == 0 && alike.row[1] == 0);
	assert_true(alike.row[2] == 1 && alike.row[3] == 2);
}

/* So many of each idea that all of them find room, six at most. */
static void test_room_for_ideas(void **state)
{
	(void)state;
	for (int top = -1; top <= MAX_TOP + 2; top++) {
		int each = planner_each(top), wanted = 6, ideas = top < 1 ? 1 : top;

		while (wanted > 1 && ideas * (1 + wanted) >= MAX_KEPT)
			wanted--;
		assert_int_equal(each, wanted);
	}
}

/* --- values --- */

/* Degrees of TP are those of the heads, up to 64 ranks. */
static void test_heads_are_dealt_to_64(void **state)
{
	static const double tp[] = { 1, 2, 4, 8, 13, 16, 26, 32, 52, 64 };
	const struct planner_axis *axis = NULL;

	(void)state;
	begin("llama3.2-1b", 832, 832);
	problem.base.model.kind[0].attention.heads = 13 * 64;
	planner_axes(&problem);
	for (int i = 0; i < problem.axes; i++)
		if (strcmp(problem.axis[i].knob->key, "tp") == 0)
			axis = &problem.axis[i];
	assert_non_null(axis);
	assert_int_equal(axis->count, 10);
	assert_memory_equal(axis->value, tp, sizeof tp);
	/* 65 divides 130 heads, and is one too many */
	problem.base.model.kind[0].attention.heads = 130;
	planner_axes(&problem);
	assert_int_equal(axis->count, 6);
	assert_true(axis->value[5] == 26);
}

/* No more than there is room for, and then the least of them. */
static void test_many_divisors(void **state)
{
	const struct planner_axis *ep = NULL;
	int at = 0;

	(void)state;
	begin("mixtral-8x7b", 5040, 5040);
	problem.base.model.moe.experts = 5040;
	planner_axes(&problem);
	for (int i = 0; i < problem.axes; i++)
		if (strcmp(problem.axis[i].knob->key, "ep") == 0)
			ep = &problem.axis[i];
	assert_non_null(ep);
	assert_int_equal(ep->count, MAX_AXIS_VALUES);
	for (int n = 1; at < MAX_AXIS_VALUES; n++)
		if (5040 % n == 0)
			assert_true(ep->value[at++] == n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_plans_break_one_rule),
		cmocka_unit_test(test_a_free_mode),
		cmocka_unit_test(test_any_two_knobs),
		cmocka_unit_test(test_hosts_are_in_the_way),
		cmocka_unit_test(test_hosts_that_are_not_known),
		cmocka_unit_test(test_a_front_of_memory_by_hand),
		cmocka_unit_test(test_a_front_of_gpus_by_hand),
		cmocka_unit_test(test_a_front_of_users_by_hand),
		cmocka_unit_test(test_cases_of_as_many_plans_as_there_are),
		cmocka_unit_test(test_gains_of_what_does_not_fit),
		cmocka_unit_test(test_pairs_of_many_differences),
		cmocka_unit_test(test_ideas_are_the_same_degrees),
		cmocka_unit_test(test_servers_that_are_alike),
		cmocka_unit_test(test_room_for_ideas),
		cmocka_unit_test(test_heads_are_dealt_to_64),
		cmocka_unit_test(test_many_divisors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
