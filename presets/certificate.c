/* certificate.c - see certificate.h. */
#include "presets/certificate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/certify.h"
#include "presets/scenario_file.h"

static void write_axis(FILE *file, const struct planner_axis *axis)
{
	char text[64];

	fprintf(file, "axis %s", axis->knob->key);
	for (int i = 0; i < axis->count; i++) {
		knob_print_value(axis->knob, axis->value[i], text, sizeof text);
		fprintf(file, "%c%s", i == 0 ? ' ' : ',', text);
	}
	fputc('\n', file);
}

static void write_answer(FILE *file, const struct planner_problem *problem,
			 const struct planner_result *result, const int *axis, int axes)
{
	const struct planner_found *best = &result->top[0];
	char text[64];

	if (result->found == 0) {
		fputs("answer none\n", file);
		return;
	}
	fprintf(file, "answer %.17g", best->score);
	for (int i = 0; i < axes; i++) {
		const struct planner_axis *at = &problem->axis[axis[i]];

		knob_print_value(at->knob, at->value[best->choice[axis[i]]], text,
				 sizeof text);
		fprintf(file, " %s=%s", at->knob->key, text);
	}
	fputc('\n', file);
}

static void write_question(FILE *file, const struct planner_problem *problem,
			   const char *scenario)
{
	int lines = 0;

	for (const char *at = scenario; *at; at++)
		lines += *at == '\n';
	fprintf(file,
		"shardscope certificate 1\nobjective %s\nreserve %.17g\n"
		"trusted %d\nheld %" PRIx64 "\nscenario %d\n%s",
		objective_word(problem->objective), problem->reserve, problem->trust,
		planner_held(problem), lines, scenario);
}

/* What has one value is given. */
static char *given(const struct planner_problem *problem)
{
	struct scenario base = problem->base;

	for (int i = 0; i < problem->axes; i++)
		if (problem->axis[i].count == 1)
			knob_set(&base, problem->axis[i].knob,
				 problem->axis[i].value[0]);
	return scenario_write(&base);
}

static bool finish(FILE *file, const char *path, struct error *error)
{
	bool bad = ferror(file) != 0;

	if (fclose(file) != 0 || bad)
		return error_set(error, path, 0, "can't be written: %s",
				 strerror(errno));
	return true;
}

bool certificate_save(const char *path, const struct planner_problem *problem,
		      const struct planner *planner,
		      const struct planner_result *result, struct error *error)
{
	double answer = result->found > 0 ? result->top[0].score : INFINITY;
	char *boxes = planner_certify(planner, answer), *scenario = given(problem);
	int axis[MAX_AXES], axes = planner_certificate_axes(planner, axis);
	bool good = boxes && scenario;
	FILE *file = good ? fopen(path, "w") : NULL;

	if (!good)
		error_set(error, NULL, 0, "out of memory");
	else if (!file)
		good = error_set(error, path, 0, "can't be written: %s",
				 strerror(errno));
	if (file) {
		write_question(file, problem, scenario);
		for (int i = 0; i < axes; i++)
			write_axis(file, &problem->axis[axis[i]]);
		write_answer(file, problem, result, axis, axes);
		fprintf(file, "boxes %.0f\n%s", result->counts.candidates, boxes);
		good = finish(file, path, error);
	}
	free(boxes);
	free(scenario);
	return good;
}
