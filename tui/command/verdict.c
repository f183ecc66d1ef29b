/* verdict.c - what a scenario earns in a challenge, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/finding.h"
#include "engine/predict/predict.h"
#include "presets/report.h"
#include "tui/command/challenge.h"

static void say_why(const struct estimate *e, struct verdict *out)
{
	char memory[32], capacity[32];

	if (!e->legal && e->problems.count > 0) {
		finding_text(&e->problems.item[0], out->why, sizeof out->why);
		return;
	}
	form_text(FORM_BYTES, e->memory.total_bytes, memory, sizeof memory);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	snprintf(out->why, sizeof out->why, "it does not fit: %s of %s", memory,
		 capacity);
}

void verdict_give(const struct challenge *c, const struct planner_found *best,
		  const struct scenario *s, struct verdict *out)
{
	struct estimate *e = malloc(sizeof *e);
	struct challenge_lock lock;

	memset(out, 0, sizeof *out);
	out->best = best->score;
	if (!e) {
		report_falls_short();
		return;
	}
	out->allowed = challenge_allows(&c->problem, s, &lock);
	if (!out->allowed)
		challenge_lock_text(&c->problem, s, &lock, out->why, sizeof out->why);
	scenario_estimate(s, e);
	out->score = challenge_score(&c->problem, best, s, e);
	out->feasible = e->feasible && out->score > 0;
	if (e->legal)
		out->value = objective_of_estimate(c->problem.objective, s, e);
	if (out->allowed && !out->feasible)
		say_why(e, out);
	free(e);
}

void verdict_value(const struct challenge *c, double value, char *out, size_t size)
{
	bool serves = c->problem.base.plan.mode == MODE_INFERENCE;
	char text[48];

	switch (c->problem.objective) {
	case OBJECTIVE_MEMORY:
		form_text(FORM_BYTES, value, text, sizeof text);
		snprintf(out, size, "%s", text);
		break;
	case OBJECTIVE_COST:
		form_text(FORM_DOLLARS, value, text, sizeof text);
		snprintf(out, size, serves ? "%s per million tokens" : "%s", text);
		break;
	case OBJECTIVE_THROUGHPUT:
		snprintf(out, size,
			 serves ? "%.1f good tokens/s per GPU" : "%.1f tok/s per GPU",
			 1 / value);
		break;
	default:
		if (serves) {
			snprintf(out, size, "%.0f good tokens/s", 1 / value);
			break;
		}
		form_text(FORM_SECONDS, value, text, sizeof text);
		snprintf(out, size, "%s per step", text);
	}
}
