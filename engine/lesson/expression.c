/* expression.c - what an expression of a lesson may name; see lesson.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/lesson/lesson.h"

/* Numbers that are no metric: counts behind the knobs. */
static bool find_count(const struct estimate *e, const char *name, double *value)
{
	const struct {
		const char *name;
		double value;
	} all[] = {
		{ "legal", e->legal },
		{ "fits", e->legal && e->fits },
		{ "feasible", e->feasible },
		{ "dp", (double)e->dp },
		{ "micro_batches", (double)e->micro_batches },
		{ "chunks", (double)e->chunks },
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (strcmp(all[i].name, name) == 0) {
			*value = all[i].value;
			return true;
		}
	return false;
}

static bool find_in(const struct scenario *s, const struct estimate *e,
		    const char *name, double *value)
{
	const struct metric *metric = metric_find(name);
	const struct knob *knob = metric ? NULL : knob_find(name);
	struct explanation x;

	if (metric) {
		*value = metric_get(e, metric);
		return metric->modes >> s->plan.mode & 1;
	}
	if (find_count(e, name, value))
		return true;
	if (knob && knob->type == KNOB_TEXT)
		return false;
	if (knob) {
		*value = knob_get(s, knob);
		return true;
	}
	if (!explain(s, e, name, &x))
		return false;
	*value = x.value;
	return true;
}

static bool find_name(void *context, const char *name, double *value)
{
	const struct lesson_scene *scene = context;
	bool before = strncmp(name, "before.", 7) == 0,
	     after = strncmp(name, "after.", 6) == 0;

	if (after && !scene->turned)
		return false;
	if (before || after)
		name = strchr(name, '.') + 1;
	return before || (!after && !scene->turned)
		       ? find_in(&scene->before, &scene->before_estimate, name, value)
		       : find_in(&scene->after, &scene->after_estimate, name, value);
}

bool lesson_value(const struct lesson_scene *scene, const char *text, double *value,
		  struct formula_fault *fault)
{
	const struct formula_names names = { find_name, (void *)(size_t)scene };

	return formula_compute(text, &names, value, fault);
}
