/* search_print.c - see search_print.h. */
#include "tui/command/search_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/serve/tail.h"
#include "engine/trust/trust.h"
#include "presets/report.h"
#include "tui/command.h"

enum { MAX_PLAN = 160, MAX_FORM = 32 };

static const char *form(enum form kind, double value, char out[MAX_FORM])
{
	form_text(kind, value, out, MAX_FORM);
	return out;
}

static bool serves(const struct planner_problem *problem)
{
	return problem->base.plan.mode == MODE_INFERENCE;
}

/* The short name: a row fits a terminal of 80 columns. */
static void print_plan(const struct planner_problem *problem,
		       const struct planner_found *found)
{
	char name[MAX_PLAN];
	struct doubts doubts;
	struct scenario s;

	planner_scenario(problem, found, &s);
	planner_name(problem, &s, name, sizeof name);
	trust_of(&s, &doubts);
	printf(" %-9s", trust_label(&doubts));
	printf(" %s", name[0] ? name : "as given");
}

/* A choice that the search leaves as eval would make it, with nothing else given. */
static bool is_as_begun(const struct planner_problem *problem,
			const struct planner_axis *axis)
{
	return axis->count == 1 &&
	       axis->value[0] == knob_get(&problem->base, axis->knob);
}

static void print_option(const struct scenario *s, const struct knob *knob,
			 int *printed)
{
	char text[64];

	if (!knob_applies(s, knob))
		return;
	knob_print(s, knob, text, sizeof text);
	printf("%s --%s %s", (*printed)++ ? "" : "\nthe first as options:", knob->key,
	       text);
}

/* The same in whole, to be given to eval. What was assumed is told, too: with other
 * degrees given a start may assume otherwise. */
static void print_options(const struct planner_problem *problem,
			  const struct planner_found *found, const struct start *start)
{
	struct scenario s;
	int printed = 0;

	planner_scenario(problem, found, &s);
	for (int i = 0; i < problem->axes; i++)
		if (!is_as_begun(problem, &problem->axis[i]))
			print_option(&s, problem->axis[i].knob, &printed);
	for (int i = 0; i < start->chosen; i++)
		if (start->choice[i]->group != GROUP_RUN &&
		    strcmp(start->choice[i]->key, "gpus") != 0)
			print_option(&s, start->choice[i], &printed);
	if (printed)
		putchar('\n');
}

/* How many are like it, which are no rows of their own. */
static void print_likes(const struct alike *alike, int row)
{
	if (alike->as_fast[row] > 1)
		printf("  +%d like it within 0.5 %%", alike->as_fast[row] - 1);
	else if (alike->count[row] > 1)
		printf("  +%d like it", alike->count[row] - 1);
}

/* A server: what the mean request waits, and what one in a hundred does. */
static void print_server(const struct planner_problem *problem,
			 const struct planner_found *found, int rank)
{
	char tpot[MAX_FORM], ttft[MAX_FORM], memory[MAX_FORM];
	char slow[2][MAX_FORM] = { "-", "-" };
	struct serve_tail tail;
	struct scenario s;

	planner_scenario(problem, found, &s);
	if (s.plan.serving.request_rate <= 0)
		s.plan.serving.concurrency = (int64_t)fmax(1, found->requests);
	if (serve_tail(&s, &tail)) {
		form(FORM_SECONDS, tail.result.tpot.p99, slow[0]);
		form(FORM_SECONDS, tail.result.ttft.p99, slow[1]);
	}
	printf("%3d %9s %9s %9.0f %8.0f %9s %9s %7.3g %7.3g %9s ", rank,
	       form(FORM_SECONDS, found->step_seconds, tpot), slow[0],
	       found->tokens_per_second_per_gpu, found->requests,
	       form(FORM_SECONDS, found->ttft_seconds, ttft), slow[1],
	       found->requests_per_second, found->dollars_per_million_tokens,
	       form(FORM_BYTES, found->memory_bytes, memory));
}

static void print_trainer(const struct planner_found *found, int rank)
{
	char step[MAX_FORM], memory[MAX_FORM];

	printf("%3d %9s %9.0f %5.1f%% %6.1f%% %9s ", rank,
	       form(FORM_SECONDS, found->step_seconds, step),
	       found->tokens_per_second_per_gpu, found->mfu * 100,
	       found->bubble_ratio * 100,
	       form(FORM_BYTES, found->memory_bytes, memory));
}

static void print_row(const struct planner_problem *problem,
		      const struct planner_found *found, const struct alike *alike,
		      int row)
{
	if (serves(problem))
		print_server(problem, found, row + 1);
	else
		print_trainer(found, row + 1);
	print_plan(problem, found);
	if (alike)
		print_likes(alike, row);
	putchar('\n');
}

static void print_head(const struct planner_problem *problem, const char *what)
{
	if (serves(problem))
		printf("  #      TPOT       P99 tok/s/GPU requests      TTFT       P99   "
		       "req/s     $/M    memory  trust     %s\n",
		       what);
	else
		printf("  #      step tok/s/GPU    MFU  bubble    memory  trust     "
		       "%s\n",
		       what);
}

/* "TTFT 2.00 s, TPOT 50.0 ms" */
static void goals_text(const struct serving_plan *v, char *out, size_t size)
{
	char ttft[MAX_FORM], tpot[MAX_FORM];

	form(FORM_SECONDS, v->goal_ttft_seconds, ttft);
	form(FORM_SECONDS, v->goal_tpot_seconds, tpot);
	snprintf(out, size, "%s%s%s%s%s", v->goal_ttft_seconds > 0 ? "TTFT " : "",
		 v->goal_ttft_seconds > 0 ? ttft : "",
		 v->goal_ttft_seconds > 0 && v->goal_tpot_seconds > 0 ? ", " : "",
		 v->goal_tpot_seconds > 0 ? "TPOT " : "",
		 v->goal_tpot_seconds > 0 ? tpot : "");
}

/* Servers that were asked for more than any gives are listed all the same. */
static void print_shortfall(const struct planner_problem *problem,
			    const struct planner_found *best)
{
	const struct serving_plan *v = &problem->base.plan.serving;
	char goals[3 * MAX_FORM];

	if (!serves(problem) || problem->objective == OBJECTIVE_MEMORY)
		return;
	if (!best->keeps_up) {
		printf("no server here is up to %g requests per second: by how many "
		       "they serve\n",
		       v->request_rate);
	} else if (!best->keeps_goals) {
		goals_text(v, goals, sizeof goals);
		printf("no server here keeps the goals, %s: by their time per token\n",
		       goals);
	}
}

/* What lowers the trust in the first, and what the stack lacks for it. */
static void print_doubts(const struct planner_problem *problem,
			 const struct planner_found *found)
{
	char text[512];
	struct doubts doubts;
	struct lacks lacks;
	struct scenario s;

	planner_scenario(problem, found, &s);
	scenario_lacks(&s, &lacks);
	for (int i = 0; i < lacks.count; i++) {
		lack_text(&s, &lacks.item[i], text, sizeof text);
		printf("the first can't run: %s, %s\n", text, s.stack.abilities.read);
	}
	if (trust_of(&s, &doubts) != TRUST_MEASURED) {
		trust_text(&s, &doubts, text, sizeof text);
		printf("the first is %s: %s\n", trust_word(doubts.level), text);
	} else if (trust_apart_text(&doubts, text, sizeof text) > 0) {
		printf("the first is measured in parts: %s\n", text);
	}
}

/* Whether the scenario's own plan is one of those that were asked about. */
static bool is_asked(const struct planner_problem *problem)
{
	for (int i = 0; i < knob_count(); i++) {
		const struct planner_axis *pinned =
			planner_pinned(problem, &knob_table[i]);
		bool among = !pinned;

		for (int k = 0; pinned && k < pinned->count; k++)
			among |= pinned->value[k] ==
				 knob_get(&problem->base, pinned->knob);
		if (!among)
			return false;
	}
	return true;
}

/* Why the search may not take it: it is less known, it fills what is kept free, or it
 * differs in what is not varied. */
static void print_bar(const struct planner_problem *problem, const struct estimate *e)
{
	struct doubts doubts;
	char text[512];

	if (!trust_suffices(&problem->base, problem->trust)) {
		trust_of(&problem->base, &doubts);
		trust_text(&problem->base, &doubts, text, sizeof text);
		printf("it is %s: %s; --trust %s takes such plans\n",
		       trust_word(doubts.level), text, trust_word(doubts.level));
	} else if (e->memory.total_bytes > e->capacity_bytes * (1 - problem->reserve))
		printf("it fills the %.0f %% that --reserve keeps free\n",
		       problem->reserve * 100);
	else
		puts("it differs in what the search does not vary");
}

/* The scenario's own plan may be faster than any that the search may take. */
static void print_own(const struct planner_problem *problem,
		      const struct planner_found *best)
{
	struct estimate *e;
	char name[MAX_PLAN];
	double gain = 0;

	if (serves(problem) || problem->objective > OBJECTIVE_THROUGHPUT ||
	    !is_asked(problem))
		return;
	e = malloc(sizeof *e);
	if (!e)
		return;
	scenario_estimate(&problem->base, e);
	if (e->legal && e->feasible)
		gain = e->tokens_per_second_per_gpu / best->tokens_per_second_per_gpu -
		       1;
	if (gain > 0.001) {
		planner_name(problem, &problem->base, name, sizeof name);
		printf("\nthe plan that eval takes, %s, is %.1f %% faster than any the "
		       "search may take:\n",
		       name, gain * 100);
		print_bar(problem, e);
	}
	free(e);
}

static void print_proof(const struct planner_problem *problem,
			const struct planner_counts *c, double seconds)
{
	printf("\n%.0f plans, %.0f estimated (%.0f illegal, %.0f too large); of "
	       "the rest %.0f don't divide,\n%.0f break a rule, %.0f are other "
	       "names of the same, %.0f have states that don't fit,\n%.0f can't be "
	       "better: %s (%.0f ms)\n",
	       c->candidates, c->explored, c->illegal, c->out_of_memory, c->undivided,
	       c->unruly, c->repeated, c->too_large, c->bounded,
	       problem->exhaustive ? "all were estimated"
				   : "their bound is above the answer",
	       seconds * 1e3);
}

/* How many plans each rule ruled out before they were tried, the most first. */
static void print_rules(const struct planner_problem *problem,
			const struct planner_counts *counts)
{
	enum { MOST = 8 };
	struct broken_rule rule[MAX_RULES];
	int rules = report_broken_rules(problem, counts, rule);

	for (int i = 0; i < rules && i < MOST; i++)
		printf("%s %s %.0f", i == 0 ? "broken rules:" : ",", rule[i].code,
		       rule[i].plans);
	if (rules > 0)
		putchar('\n');
}

/* The closest misses, and what would do. */
static void print_misses(const struct misses *misses)
{
	char needs[MAX_FORM], has[MAX_FORM], text[96];

	if (misses->count > 0)
		printf("%s: the closest needs %s of %s (%.0f %% are kept free)\n",
		       planner_is_unsure(misses->problem)
			       ? "no plan is predicted to fit (not certain)"
			       : "nothing fits",
		       form(FORM_BYTES, misses->miss[0].memory_bytes, needs),
		       form(FORM_BYTES, misses->has_bytes, has),
		       misses->problem->reserve * 100);
	else if (misses->too_large)
		puts("nothing fits: the weights leave "
		     "no room for one request's KV cache");
	else if (misses->blocker.rule) {
		char why[256];

		finding_text(&misses->blocker, why, sizeof why);
		printf("no legal plan: %s %s\n", misses->blocker.rule->code, why);
	} else
		puts("no legal plan: no degrees divide what there is, or each breaks "
		     "a rule; check says why for one");
	for (int i = 0; misses_text(misses, i, text, sizeof text); i++)
		printf("  %s\n", text);
	if (misses->count > 0) {
		putchar('\n');
		print_head(misses->problem, "closest miss");
	}
	for (int i = 0; i < misses->count; i++)
		print_row(misses->problem, &misses->miss[i], NULL, i);
}

static void print_front(const struct pareto *front)
{
	printf("\nno plan beats these in throughput and %s\n"
	       "   GPUs      tok/s tok/s/GPU    memory  plan\n",
	       pareto_word(front->kind));
	for (int i = 0; i < front->count; i++) {
		const struct pareto_point *p = &front->point[i];
		char plan[MAX_PLAN], memory[MAX_FORM];
		struct scenario s;

		pareto_scenario(front, p, &s);
		planner_name(front->problem, &s, plan, sizeof plan);
		printf("%7.0f %10.0f %9.0f %9s  %s\n", p->gpus, p->tokens_per_second,
		       p->found.tokens_per_second_per_gpu,
		       form(FORM_BYTES, p->found.memory_bytes, memory), plan);
	}
}

static void print_robust(const struct robust *robust, const struct alike *alike)
{
	fputs("\norder on 10 % less of ...\n  #", stdout);
	for (int c = 1; c < ROBUST_CASES; c++)
		printf(" %8s", robust_word((enum robust_case)c));
	puts("  plan");
	for (int i = 0; i < robust->plans; i++) {
		const struct robust_plan *plan = &robust->item[i];
		char name[MAX_PLAN];
		struct scenario s;

		alike_name(alike, i, name, sizeof name);
		printf("%3s", name);
		for (int c = 1; c < ROBUST_CASES; c++)
			plan->fits[c] ? printf(" %8d", plan->rank[c])
				      : printf(" %8s", "OOM");
		planner_scenario(robust->problem, &robust->plan[i], &s);
		planner_name(robust->problem, &s, name, sizeof name);
		printf("  %s%s\n", name,
		       plan->always_best ? "  * best in all cases" : "");
	}
}

static void print_why(const struct why *why)
{
	bool fits = isfinite(why->seconds);

	if (why->gain_of_all < 0.0005 && fits) {
		puts("\nyour plan is as good as the best");
		return;
	}
	if (!fits)
		puts("\nyour plan does not fit or can't run; what mends it:");
	else
		printf("\nthe best saves %.1f %% of your plan's time; %s\n",
		       why->gain_of_all * 100,
		       why->together ? "two changes together save:"
				     : "single changes, of other knobs too, save:");
	for (int i = 0; i < why->count; i++) {
		const struct why_change *c = &why->change[i];
		char from[48], to[48];

		knob_print_value(c->knob, c->from, from, sizeof from);
		knob_print_value(c->knob, c->to, to, sizeof to);
		printf("  %s %s -> %s", c->knob->key, from, to);
		if (fits)
			printf("  %.1f %%", c->gain * 100);
		putchar('\n');
	}
	if (why->count == 0)
		puts(fits ? "  no single change gains" : "  no single change does");
}

void print_search(const struct planner_problem *problem,
		  const struct planner_result *result, const struct search_extra *extra,
		  double seconds)
{
	command_print_start(extra->start, &problem->base);
	if (extra->unknown && result->found > 0)
		puts("no plan that is measured or published fits: these are others");
	if (result->found > 0)
		print_shortfall(problem, &result->top[0]);
	if (result->found > 0)
		print_head(problem, "plan");
	for (int i = 0; i < extra->rows; i++)
		print_row(problem, &result->top[extra->alike->best[i]], extra->alike,
			  i);
	if (result->found > 0)
		print_options(problem, &result->top[0], extra->start);
	if (result->found > 0)
		print_doubts(problem, &result->top[0]);
	if (result->found > 0)
		print_own(problem, &result->top[0]);
	if (planner_leaves_offload(problem))
		puts("\nactivation offload, which few measured runs cover, is left out: "
		     "--activation_offload 0,0.5,1");
	if (planner_is_unsure(problem))
		printf("\nnobody measured %s: what fits is unsure, and plans above the "
		       "prediction are left out\n",
		       problem->base.cluster.accelerator.name);
	if (extra->misses)
		print_misses(extra->misses);
	if (result->done)
		print_proof(problem, &result->counts, seconds);
	else
		printf("\nstopped after %.1f s, %.0f %% of the plans settled: the best so "
		       "far, without a proof\n",
		       seconds, floor(result->progress * 100));
	if (result->done && extra->stopped)
		puts("\nstopped: what else was asked has no whole answer");
	print_rules(problem, &result->counts);
	search_print_questions(problem, extra);
	if (extra->front)
		print_front(extra->front);
	if (extra->robust && result->found > 0)
		print_robust(extra->robust, extra->alike);
	if (extra->why)
		print_why(extra->why);
}
