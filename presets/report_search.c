/* report_search.c - what a search found, as JSON; see report.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/rules/rules.h"
#include "engine/serve/tail.h"
#include "engine/trust/trust.h"
#include "presets/report.h"

static cJSON *plan_object(const struct scenario *s)
{
	struct estimate *e = malloc(sizeof *e);
	cJSON *object;

	if (!e) {
		report_falls_short();
		return NULL;
	}
	scenario_estimate(s, e);
	object = report_object(s, e);
	free(e);
	return object;
}

/* Whether anybody ran such a plan, what lowers that, and what the stack lacks. */
static void add_trust(cJSON *object, const struct scenario *s)
{
	struct doubts doubts;
	char text[512];

	if (trust_of(s, &doubts) == TRUST_MEASURED)
		trust_apart_text(&doubts, text, sizeof text);
	else
		trust_text(s, &doubts, text, sizeof text);
	cJSON_AddStringToObject(object, "trust", trust_word(doubts.level));
	cJSON_AddStringToObject(object, "trust_lowered_by", text);
	report_lacks(object, s);
}

/* What one request in a hundred of a server waits, null where a short simulation can't
 * tell. */
static void add_tail(cJSON *object, const struct scenario *s)
{
	struct serving_estimate held = { 0 };
	struct serve_tail tail;
	struct estimate *e;
	cJSON *o;

	if (s->plan.mode != MODE_INFERENCE)
		return;
	if (!serve_tail(s, &tail)) {
		cJSON_AddNullToObject(object, "p99");
		return;
	}
	o = cJSON_AddObjectToObject(object, "p99");
	cJSON_AddNumberToObject(o, "ttft_seconds", tail.result.ttft.p99);
	cJSON_AddNumberToObject(o, "tpot_seconds", tail.result.tpot.p99);
	cJSON_AddBoolToObject(o, "within_goals", tail.meets);
	if (s->plan.serving.goal_percentile != GOAL_P99)
		return;
	e = malloc(sizeof *e);
	if (!e) {
		report_falls_short();
		return;
	}
	scenario_estimate(s, e);
	held = e->serving;
	free(e);
	serve_tail_goodput(s, 0, &held);
	cJSON_AddNumberToObject(o, "goodput", held.goodput);
	cJSON_AddNumberToObject(o, "goodput_concurrency", held.goodput_concurrency);
}

/* A plan with its estimate, made anew: the search keeps only what ranks it. */
/* A plan with how well it is known. */
static cJSON *known_object(const struct scenario *s)
{
	cJSON *object = plan_object(s);

	if (object)
		add_trust(object, s);
	return object;
}

static cJSON *found_object(const struct planner_problem *problem,
			   const struct planner_found *found)
{
	struct scenario s;
	cJSON *object;

	planner_scenario(problem, found, &s);
	object = plan_object(&s);
	cJSON_AddNumberToObject(object, "score", found->score);
	if (s.plan.mode == MODE_INFERENCE) {
		cJSON_AddBoolToObject(object, "keeps_goals", found->keeps_goals);
		cJSON_AddBoolToObject(object, "keeps_up", found->keeps_up);
	}
	add_tail(object, &s);
	add_trust(object, &s);
	return object;
}

static cJSON *name_object(const struct planner_problem *problem,
			  const struct planner_found *found)
{
	cJSON *object = cJSON_CreateObject();
	char name[160];
	struct scenario s;

	planner_scenario(problem, found, &s);
	planner_name(problem, &s, name, sizeof name);
	cJSON_AddStringToObject(object, "name", name);
	cJSON_AddNumberToObject(object, "score", found->score);
	cJSON_AddNumberToObject(object, "step_seconds", found->step_seconds);
	cJSON_AddNumberToObject(object, "memory_bytes", found->memory_bytes);
	add_trust(object, &s);
	return object;
}

/* An idea: its best plan, and of the others like it what they are called. */
static cJSON *idea_object(const struct planner_problem *problem,
			  const struct planner_result *result,
			  const struct alike *alike, int row)
{
	cJSON *object = name_object(problem, &result->top[alike->best[row]]);
	cJSON *list;

	cJSON_AddNumberToObject(object, "rank", alike->best[row] + 1);
	cJSON_AddNumberToObject(object, "as_fast", alike->as_fast[row]);
	list = cJSON_AddArrayToObject(object, "alike");
	for (int i = 0; i < result->found; i++)
		if (alike->row[i] == row && i != alike->best[row])
			cJSON_AddItemToArray(list,
					     name_object(problem, &result->top[i]));
	return object;
}

int report_broken_rules(const struct planner_problem *problem,
			const struct planner_counts *counts,
			struct broken_rule out[MAX_RULES])
{
	int rows, found = 0;
	const struct legality *row = rules_of(&problem->base, &rows);

	for (int i = 0; i < rows && i < MAX_RULES; i++) {
		const char *code = row[i].rule.code;
		int at = 0;

		if (!(counts->broken[i] > 0))
			continue;
		while (at < found && strcmp(out[at].code, code) != 0)
			at++;
		if (at == found)
			out[found++] = (struct broken_rule){ .code = code };
		out[at].plans += counts->broken[i];
		for (; at > 0 && out[at - 1].plans < out[at].plans; at--) {
			struct broken_rule less = out[at - 1];

			out[at - 1] = out[at];
			out[at] = less;
		}
	}
	return found;
}

/* Every candidate is counted once: explored (and may be taken), pruned without an
 * estimate, or rejected, by its memory or by the rule that it breaks first. */
static void add_counts(cJSON *root, const struct planner_problem *problem,
		       const struct planner_counts *c)
{
	struct broken_rule rule[MAX_RULES];
	int rules = report_broken_rules(problem, c, rule);
	double illegal = c->illegal + c->undivided + c->unruly;
	cJSON *pruned, *rejected;

	for (int i = 0; i < rules; i++)
		illegal -= rule[i].plans;
	cJSON_AddNumberToObject(root, "candidates", c->candidates);
	cJSON_AddNumberToObject(root, "explored",
				c->explored - c->illegal - c->out_of_memory);
	pruned = cJSON_AddObjectToObject(root, "pruned");
	cJSON_AddNumberToObject(pruned, "repeated", c->repeated);
	cJSON_AddNumberToObject(pruned, "bound", c->bounded);
	cJSON_AddNumberToObject(pruned, "states", c->too_large);
	rejected = cJSON_AddObjectToObject(root, "rejected");
	cJSON_AddNumberToObject(rejected, "memory", c->out_of_memory);
	cJSON_AddNumberToObject(rejected, "illegal", illegal);
	for (int i = 0; i < rules; i++)
		cJSON_AddNumberToObject(rejected, rule[i].code, rule[i].plans);
}

/* Knobs and values of a step from plan to plan: those of the problem's axes. */
static cJSON *short_plan(const struct planner_problem *problem,
			 const struct scenario *s)
{
	cJSON *object = cJSON_CreateObject();

	for (int i = 0; i < problem->axes; i++) {
		const struct knob *knob = problem->axis[i].knob;
		char text[64];

		if (knob->type == KNOB_INT || knob->type == KNOB_REAL) {
			cJSON_AddNumberToObject(object, knob->key, knob_get(s, knob));
			continue;
		}
		knob_print(s, knob, text, sizeof text);
		cJSON_AddStringToObject(object, knob->key, text);
	}
	return object;
}

static void add_front(cJSON *root, const struct pareto *front)
{
	cJSON *object = cJSON_AddObjectToObject(root, "pareto");
	cJSON *points;

	cJSON_AddStringToObject(object, "kind", pareto_word(front->kind));
	points = cJSON_AddArrayToObject(object, "points");
	for (int i = 0; i < front->count; i++) {
		const struct pareto_point *p = &front->point[i];
		cJSON *point = cJSON_CreateObject();
		struct scenario s;

		pareto_scenario(front, p, &s);
		cJSON_AddNumberToObject(point, "gpus", p->gpus);
		cJSON_AddNumberToObject(point, "tokens_per_second",
					p->tokens_per_second);
		cJSON_AddNumberToObject(point, "tokens_per_second_per_gpu",
					p->found.tokens_per_second_per_gpu);
		cJSON_AddNumberToObject(point, "step_seconds", p->found.step_seconds);
		cJSON_AddNumberToObject(point, "total_bytes", p->found.memory_bytes);
		cJSON_AddItemToObject(point, "plan", short_plan(front->problem, &s));
		cJSON_AddItemToArray(points, point);
	}
}

static void add_robust(cJSON *root, const struct robust *robust)
{
	cJSON *object = cJSON_AddObjectToObject(root, "robust");
	cJSON *cases = cJSON_AddArrayToObject(object, "cases"), *plans;

	for (int i = 0; i < ROBUST_CASES; i++)
		cJSON_AddItemToArray(
			cases, cJSON_CreateString(robust_word((enum robust_case)i)));
	plans = cJSON_AddArrayToObject(object, "plans");
	for (int i = 0; i < robust->plans; i++) {
		const struct robust_plan *plan = &robust->item[i];
		cJSON *item = cJSON_CreateObject(), *rank, *step;

		rank = cJSON_AddArrayToObject(item, "rank");
		step = cJSON_AddArrayToObject(item, "step_seconds");
		for (int c = 0; c < ROBUST_CASES; c++) {
			cJSON_AddItemToArray(
				rank, plan->fits[c] ? cJSON_CreateNumber(plan->rank[c])
						    : cJSON_CreateNull());
			cJSON_AddItemToArray(step,
					     cJSON_CreateNumber(plan->step_seconds[c]));
		}
		cJSON_AddBoolToObject(item, "best_in_all_cases", plan->always_best);
		cJSON_AddItemToArray(plans, item);
	}
}

static void add_questions(cJSON *root, const struct search_extra *extra)
{
	cJSON *list = cJSON_AddArrayToObject(root, "questions");

	for (int i = 0; i < extra->questions; i++) {
		const struct inverse *q = extra->question[i];
		cJSON *object = cJSON_CreateObject();

		cJSON_AddStringToObject(object, "ask", inverse_word(q->kind));
		if (q->deadline_seconds > 0)
			cJSON_AddNumberToObject(object, "deadline_seconds",
						q->deadline_seconds);
		cJSON_AddItemToObject(object, "answer",
				      q->found ? cJSON_CreateNumber(q->answer)
					       : cJSON_CreateNull());
		cJSON_AddItemToObject(object, "beyond",
				      q->beyond > 0 ? cJSON_CreateNumber(q->beyond)
						    : cJSON_CreateNull());
		if (q->open)
			cJSON_AddItemToObject(object, "known_answer",
					      q->known > 0
						      ? cJSON_CreateNumber(q->known)
						      : cJSON_CreateNull());
		cJSON_AddItemToObject(object, "plan",
				      q->found ? known_object(&q->scenario)
					       : cJSON_CreateNull());
		cJSON_AddItemToArray(list, object);
	}
}

static void add_misses(cJSON *root, const struct misses *misses)
{
	cJSON *object = cJSON_AddObjectToObject(root, "misses"), *list;
	char text[96];

	cJSON_AddNumberToObject(object, "has_bytes", misses->has_bytes);
	list = cJSON_AddArrayToObject(object, "plans");
	for (int i = 0; i < misses->count; i++)
		cJSON_AddItemToArray(list,
				     found_object(misses->problem, &misses->miss[i]));
	if (misses->blocker.rule) {
		char why[256];

		finding_text(&misses->blocker, why, sizeof why);
		cJSON_AddStringToObject(object, "blocker", misses->blocker.rule->code);
		cJSON_AddStringToObject(object, "text", why);
	}
	list = cJSON_AddArrayToObject(object, "would_do");
	for (int i = 0; misses_text(misses, i, text, sizeof text); i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

static void add_why(cJSON *root, const struct why *why)
{
	cJSON *object = cJSON_AddObjectToObject(root, "why"), *list;

	cJSON_AddNumberToObject(object, "gain_of_best", why->gain_of_all);
	cJSON_AddBoolToObject(object, "together", why->together);
	list = cJSON_AddArrayToObject(object, "changes");
	for (int i = 0; i < why->count; i++) {
		const struct why_change *change = &why->change[i];
		cJSON *item = cJSON_CreateObject();
		char text[64];

		cJSON_AddStringToObject(item, "knob", change->knob->key);
		knob_print_value(change->knob, change->from, text, sizeof text);
		cJSON_AddStringToObject(item, "from", text);
		knob_print_value(change->knob, change->to, text, sizeof text);
		cJSON_AddStringToObject(item, "to", text);
		cJSON_AddNumberToObject(item, "gain", change->gain);
		cJSON_AddItemToArray(list, item);
	}
}

static void add_extra(cJSON *root, const struct search_extra *extra)
{
	if (extra->questions > 0)
		add_questions(root, extra);
	if (extra->front)
		add_front(root, extra->front);
	if (extra->robust)
		add_robust(root, extra->robust);
	if (extra->misses)
		add_misses(root, extra->misses);
	if (extra->why)
		add_why(root, extra->why);
}

char *report_search(const struct planner_problem *problem,
		    const struct planner_result *result,
		    const struct search_extra *extra, double seconds)
{
	cJSON *root = cJSON_CreateObject(), *top, *ideas;

	if (result->found > 0)
		cJSON_AddItemToObject(root, "best",
				      found_object(problem, &result->top[0]));
	else
		cJSON_AddNullToObject(root, "best");
	top = cJSON_AddArrayToObject(root, "top");
	for (int i = 0; i < result->found && i < extra->top; i++)
		cJSON_AddItemToArray(top, found_object(problem, &result->top[i]));
	ideas = cJSON_AddArrayToObject(root, "ideas");
	for (int i = 0; i < extra->rows; i++)
		cJSON_AddItemToArray(ideas,
				     idea_object(problem, result, extra->alike, i));
	if (extra->faster)
		cJSON_AddItemToObject(root, "less_known",
				      found_object(extra->less_known, extra->faster));
	if (result->found == 0 && result->has_nearest)
		cJSON_AddItemToObject(root, "nearest",
				      found_object(problem, &result->nearest));
	report_start(root, extra->start, &problem->base);
	cJSON_AddStringToObject(root, "objective", objective_word(problem->objective));
	cJSON_AddStringToObject(root, "trust_asked",
				problem->trust == 0 ? "any"
				: problem->trust == TRUST_OF_FEATURES
					? "published features"
					: trust_word((enum trust)(problem->trust - 1)));
	add_counts(root, problem, &result->counts);
	add_extra(root, extra);
	cJSON_AddStringToObject(root, "proof",
				!result->done         ? "none"
				: problem->exhaustive ? "exhaustive"
						      : "bounds");
	cJSON_AddBoolToObject(root, "stopped", extra->stopped);
	cJSON_AddNumberToObject(root, "seconds", seconds);
	return report_print(root, false);
}
