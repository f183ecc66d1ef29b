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

static void write_question(FILE *file, const struct planner_problem *problem,
			   const char *scenario, double answer)
{
	int lines = 0;

	for (const char *at = scenario; *at; at++)
		lines += *at == '\n';
	fprintf(file,
		"shardscope certificate 2\nscenario %d\n%s"
		"objective %s\nreserve %.17g\ntrusted %d\nheld %" PRIx64
		"\nanswer %.17g\n",
		lines, scenario, objective_word(problem->objective), problem->reserve,
		problem->trust, planner_held(problem), answer);
}

/* The answer's plan; any of the space where nothing fits. */
static char *write_plan(const struct planner_problem *problem,
			const struct planner_result *result)
{
	struct planner_found found = { 0 };
	struct scenario plan;

	planner_scenario(problem, result->found > 0 ? &result->top[0] : &found, &plan);
	return scenario_write(&plan);
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
	char *boxes = planner_certify(planner, answer),
	     *scenario = write_plan(problem, result);
	int axis[MAX_AXES], axes = planner_certificate_axes(planner, axis);
	bool good = boxes && scenario;
	FILE *file = good ? fopen(path, "w") : NULL;

	if (!good)
		error_set(error, NULL, 0, "out of memory");
	else if (!file)
		good = error_set(error, path, 0, "can't be written: %s",
				 strerror(errno));
	if (file) {
		write_question(file, problem, scenario, answer);
		for (int i = 0; i < axes; i++)
			write_axis(file, &problem->axis[axis[i]]);
		fprintf(file, "boxes %.0f\n%s", result->counts.candidates, boxes);
		good = finish(file, path, error);
	}
	free(boxes);
	free(scenario);
	return good;
}
