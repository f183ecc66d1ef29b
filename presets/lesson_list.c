/* lesson_list.c - which lessons there are, and the measured runs that they show; see
 * lesson_file.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "presets/lesson_file.h"
#include "presets/library.h"
#include "presets/report.h"
#include "presets/scenario_file.h"

struct place_in_course {
	int number;
	char name[MAX_NAME];
};

/* Those without a number come last, by name. */
static int by_number(const void *a, const void *b)
{
	const struct place_in_course *left = a, *right = b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int number_of(const char *name)
{
	struct document document;
	const struct node *node;
	double number = 1e6;

	if (!preset_open(PRESET_LESSON, name, &document, NULL))
		return (int)number;
	node = node_get(document.root, "number");
	if (node)
		node_number(&document, node, &number, NULL);
	document_free(&document);
	return (int)number;
}

int lesson_names(char (*names)[MAX_NAME], int room)
{
	const struct preset *list;
	int count = preset_list(PRESET_LESSON, &list);
	struct place_in_course *all = calloc((size_t)count + 1, sizeof *all);

	if (!all)
		return 0;
	for (int i = 0; i < count; i++) {
		all[i].number = number_of(list[i].name);
		memcpy(all[i].name, list[i].name, MAX_NAME);
	}
	qsort(all, (size_t)count, sizeof *all, by_number);
	count = count < room ? count : room;
	for (int i = 0; i < count; i++)
		memcpy(names[i], all[i].name, MAX_NAME);
	free(all);
	return count;
}

static size_t put_figure(char *out, size_t size, const char *what, double measured,
			 double computed)
{
	enum form form = strcmp(what, "output") == 0 ? FORM_RATE : FORM_SECONDS;
	char left[32], right[32];

	form_text(form, measured, left, sizeof left);
	form_text(form, computed, right, sizeof right);
	return (size_t)snprintf(out, size, "%s %s measured, %s computed", what, left,
				right);
}

bool lesson_run_text(const char *plan, char *out, size_t size)
{
	struct scenario *s = malloc(sizeof *s);
	struct estimate *e = malloc(sizeof *e);
	struct scenario_note note;
	struct error error = { "" };
	char text[160] = "";
	bool good = s && e && preset_find(PRESET_PLAN, plan) &&
		    scenario_read(s, plan, &note, &error);

	if (!s || !e || error_is_memory(&error))
		report_falls_short();
	if (good) {
		scenario_estimate(s, e);
		if (note.measured_step_seconds > 0)
			put_figure(text, sizeof text, "step",
				   note.measured_step_seconds, e->step_seconds);
		else if (note.measured_tpot_seconds > 0)
			put_figure(text, sizeof text, "TPOT",
				   note.measured_tpot_seconds, e->serving.tpot_seconds);
		else if (note.measured_output_tokens_per_second > 0)
			put_figure(text, sizeof text, "output",
				   note.measured_output_tokens_per_second,
				   e->serving.output_tokens_per_second);
		if (text[0] != '\0')
			snprintf(out, size, "%s: %s. %s", plan, text, note.source);
	}
	free(s);
	free(e);
	return text[0] != '\0';
}
