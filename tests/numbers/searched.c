/* searched.c - what searches find and what they visit for it, and the questions that
 * are made of searches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/alike.h"
#include "engine/planner/certify.h"
#include "engine/planner/inverse.h"
#include "engine/planner/miss.h"
#include "engine/planner/pareto.h"
#include "engine/planner/robust.h"
#include "engine/planner/why.h"
#include "engine/predict/predict.h"
#include "engine/rules/rules.h"
#include "tests/numbers/estimated.h"
#include "tests/support/close.h"

static struct planner_problem problem;
static struct planner_result result;
static char title_words[1024];

/* The word behind "KEY:" of the title, or NULL. */
static const char *option(const char *key)
{
	static char value[40];
	char name[24];
	const char *at;

	snprintf(name, sizeof name, " %s:", key);
	at = strstr(title_words, name);
	if (!at)
		return NULL;
	at += strlen(name);
	snprintf(value, sizeof value, "%.*s", (int)strcspn(at, " "), at);
	return value;
}

static void pin_lists(const char *title)
{
	char text[1024], why[256], *rest = text, *word, *value;

	snprintf(text, sizeof text, "%s", title);
	while ((word = strtok_r(rest, " ", &rest))) {
		const struct knob *knob;

		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		knob = knob_find(word);
		assert_non_null(knob);
		if (!planner_pin_text(&problem, knob, value, why, sizeof why))
			fail_msg("%s: %s %s", title, word, why);
	}
}

static void begin(const char *title)
{
	const char *value;

	memset(&problem, 0, sizeof problem);
	snprintf(title_words, sizeof title_words, "%s", title);
	figures_scenario(title, &problem.base);
	problem.top = (value = option("top")) ? atoi(value) : 10;
	problem.reserve = (value = option("reserve")) ? atof(value) : 0.05;
	problem.trust = (value = option("trust")) ? atoi(value) : 0;
	problem.research = option("research") != NULL;
	problem.each = option("plans") ? 0 : planner_each(problem.top);
	value = option("objective");
	problem.objective = value ? objective_find(value) : OBJECTIVE_STEP;
	assert_true(problem.objective < OBJECTIVE_COUNT);
	/* of axes that are not there nothing may be read */
	memset(problem.axis, 0x55, sizeof problem.axis);
	planner_axes(&problem);
	pin_lists(title);
}

static struct planner *solve(const struct planner_problem *what,
			     struct planner_result *out)
{
	struct planner *planner = planner_start(what);

	assert_non_null(planner);
	while (planner_step(planner, 1000)) {
	}
	*out = *planner_result(planner);
	return planner;
}

static void add_counts(struct figures *out)
{
	const struct planner_counts *c = &result.counts;
	double broken = 0;
	int rows;
	const struct legality *rule = rules_of(&problem.base, &rows);

	/* by their numbers: E13 thirteen times, wherever it stands in the table */
	for (int i = 0; i < rows; i++)
		broken += atoi(rule[i].rule.code + 1) * c->broken[i];
	figures_add(out, "candidates", c->candidates, 0);
	figures_add(out, "explored", c->explored, 0);
	figures_add(out, "repeated", c->repeated, 0);
	figures_add(out, "undivided", c->undivided, 0);
	figures_add(out, "unruly", c->unruly, 0);
	figures_add(out, "bounded", c->bounded, 0);
	figures_add(out, "too_large", c->too_large, 0);
	figures_add(out, "illegal", c->illegal, 0);
	figures_add(out, "out_of_memory", c->out_of_memory, 0);
	figures_add(out, "rules_by_number", broken, 0);
}

static void add_plan(struct figures *out, const char *which,
		     const struct planner_found *found)
{
	struct scenario s;
	char key[MAX_FIGURE_KEY], name[MAX_FIGURE_WORDS];

	planner_scenario(&problem, found, &s);
	planner_name(&problem, &s, name, sizeof name);
	figures_say(out, which, name);
	snprintf(key, sizeof key, "%s.score", which);
	figures_add(out, key, found->score, 0);
	snprintf(key, sizeof key, "%s.bytes", which);
	figures_add(out, key, found->memory_bytes, 0);
}

static void add_answers(struct figures *out)
{
	struct alike alike;

	figures_add(out, "found", result.found, 0);
	planner_alike(&problem, &result, &alike);
	figures_add(out, "ideas", alike.rows, 0);
	for (int i = 0; i < alike.rows && i < 10; i++) {
		char which[MAX_FIGURE_KEY];

		snprintf(which, sizeof which, "idea.%d", i + 1);
		add_plan(out, which, &result.top[alike.best[i]]);
		strcat(which, ".as_fast");
		figures_add(out, which, alike.as_fast[i], 0);
	}
	if (result.found == 0 && result.has_nearest)
		add_plan(out, "nearest", &result.nearest);
}

/* Boxes of the proof by what closed them, and the scores that are written there. */
static void add_proof(struct figures *out, const struct planner *planner)
{
	static const char *const kinds[] = { "rule", "same", "time", "memory",
					     "plans" };
	char *text, *rest, *line;
	double count[5] = { 0 }, score[5] = { 0 };

	if (!option("proof"))
		return;
	text = planner_certify(planner, result.found ? result.top[0].score : INFINITY);
	assert_non_null(text);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		for (int k = 0; k < 5; k++) {
			char word[12];
			const char *at;
			double value;

			snprintf(word, sizeof word, " %s ", kinds[k]);
			at = strstr(line, word);
			count[k] += at != NULL;
			value = at ? atof(at + strlen(word)) : 0;
			score[k] += isfinite(value) ? value : 0;
		}
	free(text);
	for (int k = 0; k < 5; k++) {
		char key[MAX_FIGURE_KEY];

		snprintf(key, sizeof key, "proof.%s", kinds[k]);
		figures_add(out, key, count[k], 0);
		snprintf(key, sizeof key, "proof.%s.sum", kinds[k]);
		figures_add(out, key, score[k], 0);
	}
}

static void add_inverse(struct figures *out)
{
	static struct planner_problem one;
	static struct planner_result found;
	const char *word = option("ask"), *deadline;
	enum inverse_kind kind;
	char name[MAX_FIGURE_WORDS];
	struct inverse inverse;

	if (!word)
		return;
	kind = inverse_find(word);
	deadline = option("deadline");
	inverse_begin(&inverse, kind, &problem,
		      deadline ? inverse_deadline(deadline) : 0);
	while (inverse_next(&inverse, &one)) {
		planner_free(solve(&one, &found));
		inverse_take(&inverse, &one, &found);
	}
	figures_add(out, "asked.answer", inverse.answer, 0);
	figures_add(out, "asked.parameters", inverse.parameters, 0);
	figures_add(out, "asked.beyond", inverse.beyond, 0);
	figures_add(out, "asked.tried", inverse.count, 0);
	if (!inverse.found)
		return;
	planner_name(&problem, &inverse.scenario, name, sizeof name);
	figures_say(out, "asked.plan", name);
}

static void add_front(struct figures *out)
{
	static struct planner_problem one;
	static struct planner_result found;
	static struct pareto pareto;
	const char *word = option("front");
	double gpus = 0, rate = 0, bytes = 0;

	if (!word)
		return;
	pareto_begin(&pareto, pareto_find(word), &problem);
	while (pareto_next(&pareto, &one)) {
		planner_free(solve(&one, &found));
		pareto_take(&pareto, &one, &found);
	}
	for (int i = 0; i < pareto.count; i++) {
		gpus += (i + 1) * pareto.point[i].gpus;
		rate += (i + 1) * pareto.point[i].tokens_per_second;
		bytes += (i + 1) * pareto.point[i].found.memory_bytes;
	}
	figures_add(out, "front.points", pareto.count, 0);
	figures_add(out, "front.gpus", gpus, 0);
	figures_add(out, "front.tokens_per_second", rate, 0);
	figures_add(out, "front.bytes", bytes, 0);
}

static void add_robust(struct figures *out)
{
	static struct planner_problem one;
	static struct planner_result found;
	static struct robust robust;
	double ranks = 0, scores = 0, best = 0, answers = 0;

	if (!option("robust"))
		return;
	assert_true(robust_begin(&robust, &problem, &result));
	while (robust_next(&robust, &one)) {
		planner_free(solve(&one, &found));
		robust_take(&robust, &found);
	}
	for (int i = 0; i < robust.plans; i++)
		for (int k = 0; k < ROBUST_CASES; k++) {
			ranks += (i + 1) * (k + 1) * robust.item[i].rank[k];
			scores += (i + 1) * (k + 1) * robust.item[i].score[k];
		}
	for (int k = 0; k < ROBUST_CASES; k++) {
		answers += robust.has_best[k];
		best += robust.has_best[k] ? (k + 1) * robust.best[k].score : 0;
	}
	figures_add(out, "robust.answers", answers, 0);
	figures_add(out, "robust.ranks", ranks, 0);
	figures_add(out, "robust.scores", isfinite(scores) ? scores : -1, 0);
	figures_add(out, "robust.best", best, 0);
}

static void add_misses(struct figures *out)
{
	static struct planner_problem one;
	static struct planner_result found;
	static struct misses misses;
	char text[MAX_FIGURE_WORDS], key[MAX_FIGURE_KEY];

	if (!option("misses"))
		return;
	misses_begin(&misses, &problem);
	while (misses_next(&misses, &one)) {
		planner_free(solve(&one, &found));
		misses_take(&misses, &one, &found);
	}
	for (int i = 0; i < misses.count; i++) {
		snprintf(key, sizeof key, "miss.%d", i + 1);
		add_plan(out, key, &misses.miss[i]);
	}
	if (misses.blocker.rule)
		figures_say(out, "miss.blocker", misses.blocker.rule->code);
	for (int n = 0; misses_text(&misses, n, text, sizeof text); n++) {
		snprintf(key, sizeof key, "miss.mend.%d", n + 1);
		figures_say(out, key, text);
	}
}

static void add_why(struct figures *out)
{
	static struct estimate now, scratch;
	struct scenario better;
	struct why why;
	double share;

	if (!option("why"))
		return;
	scenario_estimate(&problem.base, &now);
	if (!now.legal)
		return;
	figures_say(out, "why.limit", why_limit(&now, &share));
	figures_add(out, "why.share", share, 0);
	why_begin(&why, &problem, &problem.base, &now);
	while (why_step(&why, &scratch)) {
	}
	if (why.count == 0 && result.found > 0) {
		planner_scenario(&problem, &result.top[0], &better);
		why_pair(&why, &better, &scratch);
	}
	for (int i = 0; i < why.count; i++) {
		char key[MAX_FIGURE_KEY];

		snprintf(key, sizeof key, "why.%d", i + 1);
		figures_say(out, key, why.change[i].knob->key);
		strcat(key, ".gain");
		figures_add(out, key, why.change[i].gain, 1);
	}
	figures_add(out, "why.together", why.gain_of_all, 1);
}

void figures_searched(const char *title, struct figures *out)
{
	struct planner *planner;

	begin(title);
	out->count = 0;
	planner = solve(&problem, &result);
	add_counts(out);
	add_answers(out);
	add_proof(out, planner);
	planner_free(planner);
	add_inverse(out);
	add_front(out);
	add_robust(out);
	add_misses(out);
	add_why(out);
}
