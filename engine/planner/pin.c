/* pin.c - axes as a person types them. */
#include <stdio.h>
#include <string.h>

#include "engine/planner/planner.h"

enum { MAX_TEXT = 512 };

struct values {
	int count;
	double value[MAX_AXIS_VALUES];
};

static bool parse_one(const struct scenario *base, const struct knob *knob,
		      const char *text, double *value, char *why, size_t size)
{
	struct scenario s = *base;

	if (knob->type == KNOB_TEXT) {
		snprintf(why, size, "is text and can't be varied");
		return false;
	}
	if (!knob_parse(&s, knob, text, why, size))
		return false;
	*value = knob_get(&s, knob);
	return true;
}

static bool add_value(struct values *values, double value, char *why, size_t size)
{
	for (int i = 0; i < values->count; i++)
		if (values->value[i] == value)
			return true;
	if (values->count == MAX_AXIS_VALUES) {
		snprintf(why, size, "more than %d values", MAX_AXIS_VALUES);
		return false;
	}
	values->value[values->count++] = value;
	return true;
}

static bool add_part(const struct scenario *base, const struct knob *knob, char *part,
		     struct values *values, char *why, size_t size)
{
	char *dots = strstr(part, "..");
	double from = 0, to = 0, range[MAX_AXIS_VALUES];
	int count;

	if (dots)
		*dots = '\0';
	if (!parse_one(base, knob, part, &from, why, size) ||
	    !parse_one(base, knob, dots ? dots + 2 : part, &to, why, size))
		return false;
	if (to < from) {
		snprintf(why, size, "the range ends before it begins");
		return false;
	}
	if (dots && knob->type == KNOB_SET) {
		snprintf(why, size, "has no ranges; list values with commas");
		return false;
	}
	count = knob_range(base, knob, from, to, range, MAX_AXIS_VALUES);
	if (count < 0) {
		snprintf(why, size, "more than %d values", MAX_AXIS_VALUES);
		return false;
	}
	for (int i = 0; i < count; i++)
		if (!add_value(values, range[i], why, size))
			return false;
	return true;
}

static bool parse_values(const struct scenario *base, const struct knob *knob,
			 const char *text, struct values *values, char *why,
			 size_t size)
{
	char copy[MAX_TEXT], *rest = copy, *part;

	values->count = 0;
	if (strlen(text) >= sizeof copy) {
		snprintf(why, size, "too long");
		return false;
	}
	strcpy(copy, text);
	while ((part = strsep(&rest, ",")))
		if (!add_part(base, knob, part, values, why, size))
			return false;
	return true;
}

static bool is_axis(const struct planner_problem *problem, const struct knob *knob)
{
	for (int i = 0; i < problem->axes; i++)
		if (problem->axis[i].knob == knob)
			return true;
	return false;
}

bool planner_pin_text(struct planner_problem *problem, const struct knob *knob,
		      const char *text, char *why, size_t size)
{
	struct values values;

	if (!parse_values(&problem->base, knob, text, &values, why, size))
		return false;
	if (values.count == 1)
		knob_set(&problem->base, knob, values.value[0]);
	/* what is no axis is simply set */
	if (values.count == 1 && !is_axis(problem, knob))
		return true;
	if (planner_pin(problem, knob, values.value, values.count)) {
		for (int i = 0; i < problem->axes; i++)
			problem->axis[i].said |= problem->axis[i].knob == knob;
		return true;
	}
	snprintf(why, size, "more than %d knobs are free", MAX_AXES);
	return false;
}
