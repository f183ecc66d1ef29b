/* sweep_row.c - see sweep_row.h. */
#include "tui/command/sweep_row.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "engine/planner/planner.h"

static bool is_among(const struct knob *knob, const struct knob *const *list, int count)
{
	for (int i = 0; i < count; i++)
		if (list[i] == knob)
			return true;
	return false;
}

bool sweep_free_read(struct sweep_free *out, const char *text, struct error *error)
{
	char key[64];

	if (strcmp(text, "all") == 0) {
		out->all = true;
		return true;
	}
	for (const char *at = text; *at != '\0';) {
		size_t length = strcspn(at, ",");
		const struct knob *knob;

		snprintf(key, sizeof key, "%.*s", (int)(length < 60 ? length : 60), at);
		knob = knob_find(key);
		if (!knob || out->count == MAX_FREE)
			return error_set(error, NULL, 0,
					 "--free %.60s: expected knobs, as tp,pp, or "
					 "all",
					 key);
		out->knob[out->count++] = knob;
		at += length + (at[length] != '\0');
	}
	return out->count > 0 ||
	       error_set(error, NULL, 0, "--free: expected knobs, as tp,pp, or all");
}

/* Every axis that is not free has the value that the scenario has. */
static void pin_rest(const struct sweep_free *free, const struct knob *const *varied,
		     int count, struct planner_problem *problem)
{
	planner_axes(problem);
	for (int i = 0; i < problem->axes; i++) {
		struct planner_axis *axis = &problem->axis[i];
		bool chosen =
			free->all || is_among(axis->knob, free->knob, free->count);

		if (chosen && !is_among(axis->knob, varied, count))
			continue;
		axis->value[0] = knob_get(&problem->base, axis->knob);
		axis->count = 1;
	}
}

bool sweep_free_choose(const struct sweep_free *free, const struct knob *const *varied,
		       int count, struct scenario *s)
{
	struct planner_problem problem = { .base = *s, .reserve = 0.05, .top = 1 };
	struct planner *planner;
	const struct planner_result *result;
	bool good;

	if (!free->all && free->count == 0)
		return true;
	if (free->all)
		problem.trust = planner_usual_trust(s);
	pin_rest(free, varied, count, &problem);
	planner = planner_start(&problem);
	if (!planner)
		return false;
	while (planner_step(planner, INT_MAX)) {
	}
	result = planner_result(planner);
	good = !result->failed;
	if (good && result->found > 0)
		planner_scenario(&problem, &result->top[0], s);
	planner_free(planner);
	return good;
}

static int width_of(const struct knob *knob)
{
	int width = (int)strlen(knob->key);

	return width < 9 ? 9 : width;
}

void sweep_table_head(const struct knob *const *varied, int count,
		      const struct sweep_free *free, bool serves)
{
	for (int i = 0; i < count; i++)
		printf("%*s ", width_of(varied[i]), varied[i]->key);
	for (int i = 0; i < free->count; i++)
		printf("%*s ", width_of(free->knob[i]), free->knob[i]->key);
	printf("%9s %10s %6s %9s  %s\n", serves ? "TPOT" : "step", "tok/s/GPU", "MFU",
	       "memory", free->all ? "plan" : "");
}

static void print_values(const struct knob *const *knob, int count,
			 const struct scenario *s)
{
	char text[64];

	for (int i = 0; i < count; i++) {
		knob_print(s, knob[i], text, sizeof text);
		printf("%*s ", width_of(knob[i]), text);
	}
}

void sweep_idle_count(struct sweep_idle *out, const struct knob *const *varied,
		      int count, const struct scenario *s)
{
	out->plans++;
	for (int i = 0; i < count; i++)
		out->idle[i] += !knob_applies(s, varied[i]);
}

void sweep_idle_tell(const struct sweep_idle *idle, const struct knob *const *varied,
		     int count)
{
	for (int i = 0; i < count; i++) {
		const char *key = varied[i]->key;

		if (idle->idle[i] == 0)
			continue;
		if (idle->idle[i] == idle->plans)
			fprintf(stderr,
				"shardscope: %s has no effect in any of these plans\n",
				key);
		else
			fprintf(stderr,
				"shardscope: %s has no effect in %lld of these %lld "
				"plans\n",
				key, idle->idle[i], idle->plans);
	}
}

static bool is_about(const struct finding *finding, const struct knob *const *varied,
		     int count)
{
	for (int i = 0; finding->knob && i < count; i++)
		if (strcmp(finding->knob, varied[i]->key) == 0)
			return true;
	return false;
}

/* Its text goes below the table, once. */
static void keep_note(const struct finding *finding, struct sweep_notes *notes)
{
	char text[sizeof notes->text[0]];

	finding_text(finding, text, sizeof text);
	for (int i = 0; i < notes->count; i++)
		if (strcmp(notes->text[i], text) == 0)
			return;
	if (notes->count == MAX_NOTES)
		return;
	snprintf(notes->code[notes->count], sizeof notes->code[0], "%s",
		 finding->rule->code);
	snprintf(notes->text[notes->count++], sizeof text, "%s", text);
}

/* The codes of what a plan that runs remarks of varied knobs. */
static void remark(const struct knob *const *varied, int count,
		   const struct estimate *e, struct sweep_notes *notes)
{
	for (int k = 0; k < e->problems.count; k++) {
		const struct finding *f = &e->problems.item[k];

		if (!is_about(f, varied, count))
			continue;
		printf("%s ", f->rule->code);
		keep_note(f, notes);
	}
}

void sweep_table_notes(const struct sweep_notes *notes)
{
	for (int i = 0; i < notes->count; i++)
		printf("%s%s: %s\n", i == 0 ? "\n" : "", notes->code[i],
		       notes->text[i]);
}

void sweep_table_row(const struct knob *const *varied, int count,
		     const struct sweep_free *free, const struct scenario *s,
		     const struct estimate *e, struct sweep_notes *notes)
{
	bool serves = s->plan.mode == MODE_INFERENCE;
	struct planner_problem problem = { .base = *s };
	char step[32], memory[32], text[320] = "";

	print_values(varied, count, s);
	print_values(free->knob, free->count, s);
	if (!e->legal) {
		if (e->problems.count > 0)
			finding_text(&e->problems.item[0], text, sizeof text);
		printf("%9s  %s\n", "-", text);
		return;
	}
	form_text(FORM_SECONDS, serves ? e->serving.tpot_seconds : e->step_seconds,
		  step, sizeof step);
	form_text(FORM_BYTES, e->memory.total_bytes, memory, sizeof memory);
	if (free->all) {
		planner_axes(&problem);
		planner_name(&problem, s, text, sizeof text);
	}
	printf("%9s %10.0f %5.1f%% %9s  %s%s", step,
	       serves ? e->serving.output_tokens_per_second_per_gpu
		      : e->tokens_per_second_per_gpu,
	       e->mfu * 100, memory, e->feasible ? "" : "does not fit  ", text);
	remark(varied, count, e, notes);
	putchar('\n');
}
