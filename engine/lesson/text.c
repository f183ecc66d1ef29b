/* text.c - units, and texts with values in them; see lesson.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/lesson/lesson.h"

static const struct lesson_unit units[] = {
	{ "percent", " %", 0.01 },    { "GiB", " GiB", 1073741824.0 },
	{ "MiB", " MiB", 1048576.0 }, { "KiB", " KiB", 1024.0 },
	{ "GB", " GB", 1e9 },         { "MB", " MB", 1e6 },
	{ "bytes", " bytes", 1 },     { "seconds", " s", 1 },
	{ "ms", " ms", 1e-3 },        { "us", " us", 1e-6 },
	{ "times", " times", 1 },     { "tokens/s", " tokens/s", 1 },
	{ "TFLOP/s", " TFLOP/s", 1 }, { "billion", " billion", 1e9 },
	{ "count", "", 1 },
};
enum { UNITS = sizeof units / sizeof units[0] };

const struct lesson_unit *lesson_unit_at(int index)
{
	return index >= 0 && index < UNITS ? &units[index] : NULL;
}

const struct lesson_unit *lesson_unit_find(const char *name)
{
	for (int i = 0; i < UNITS; i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

size_t lesson_print(const struct lesson_unit *unit, double value, char *out,
		    size_t size)
{
	double shown = value / unit->scale, height = fabs(shown);
	int places = height >= 99.95 || height == 0 || rint(shown) == shown ? 0
		     : height >= 9.995                                      ? 1
		     : height >= 0.9995                                     ? 2
									    : 3;

	return (size_t)snprintf(out, size, "%.*f%s", places, shown, unit->suffix);
}

/* What a bare key is printed as: in its own form. */
static bool print_key(const struct lesson_scene *scene, const char *text, double value,
		      char *out, size_t size)
{
	bool before = strncmp(text, "before.", 7) == 0;
	const char *key = before || strncmp(text, "after.", 6) == 0
				  ? strchr(text, '.') + 1
				  : text;
	const struct metric *metric = metric_find(key);
	const struct knob *knob = metric ? NULL : knob_find(key);

	if (metric)
		form_text(metric->form, value, out, size);
	else if (knob)
		knob_print(before || !scene->turned ? &scene->before : &scene->after,
			   knob, out, size);
	return metric || knob;
}

static bool blame(struct lesson_fault *fault, const struct lesson_prose *text,
		  size_t at, const char *reason)
{
	/* lines may have been folded since it was written: no column is known */
	fault->place = text->place;
	fault->at = 0;
	snprintf(fault->text, sizeof fault->text, "%s, at '%.40s'", reason,
		 text->text + at);
	return false;
}

/* One {EXPRESSION|UNIT}, the part between the braces. */
static bool put_value(const struct lesson_scene *scene, const struct lesson_prose *text,
		      const char *from, size_t length, char out[64],
		      struct lesson_fault *fault)
{
	char expression[LESSON_FORMULA], *bar;
	const struct lesson_unit *unit = NULL;
	const struct lesson_unit *plain = &units[UNITS - 1]; /* count */
	struct formula_fault problem = { "", 0 };
	size_t at = (size_t)(from - text->text);
	double value;

	if (length >= sizeof expression)
		return blame(fault, text, at, "an expression has at most 199 bytes");
	memcpy(expression, from, length);
	expression[length] = '\0';
	bar = strchr(expression, '|');
	if (bar) {
		*bar++ = '\0';
		unit = lesson_unit_find(bar);
		if (!unit)
			return blame(fault, text, at,
				     "behind | stands a unit, as percent, GiB, GB, "
				     "seconds, ms or times");
	}
	if (!lesson_value(scene, expression, &value, &problem))
		return blame(fault, text, at + (size_t)problem.at, problem.reason);
	if (!unit && print_key(scene, expression, value, out, 64))
		return true;
	lesson_print(unit ? unit : plain, value, out, 64);
	return true;
}

bool lesson_text(const struct lesson_scene *scene, const struct lesson_prose *text,
		 char *out, size_t size, struct lesson_fault *fault)
{
	const char *at = text->text;
	size_t used = 0;

	while (*at != '\0' && used + 1 < size) {
		const char *end = *at == '{' ? strchr(at, '}') : NULL;
		char value[64];
		size_t length;

		if (*at != '{') {
			out[used++] = *at++;
			continue;
		}
		if (!end)
			return blame(fault, text, (size_t)(at - text->text),
				     "this { has no }");
		if (!put_value(scene, text, at + 1, (size_t)(end - at - 1), value,
			       fault))
			return false;
		length = strlen(value);
		if (used + length >= size)
			break;
		memcpy(out + used, value, length);
		used += length;
		at = end + 1;
	}
	out[used] = '\0';
	return true;
}
