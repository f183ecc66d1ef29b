/* asked.c - what a search would try before it is begun: axes, pins, the values of
 * questions, and how plans are named. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/planner/inverse.h"
#include "engine/planner/pareto.h"
#include "tests/numbers/figures.h"
#include "tests/numbers/options.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct planner_problem problem;

static void begin(const char *title)
{
	memset(&problem, 0, sizeof problem);
	figures_scenario(title, &problem.base);
	problem.trust = (int)option_number(title, "trust", 0);
	problem.research = option_given(title, "research");
	/* of axes that are not there nothing may be read */
	memset(problem.axis, 0x55, sizeof problem.axis);
	planner_axes(&problem);
}

static void add_axis(struct figures *out, const struct planner_axis *axis)
{
	char key[MAX_FIGURE_KEY], text[MAX_FIGURE_WORDS] = "";
	size_t used = 0;

	for (int k = 0; k < axis->count && used < sizeof text; k++) {
		char value[48];

		knob_print_value(axis->knob, axis->value[k], value, sizeof value);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
					 k > 0 ? " " : "", value);
	}
	snprintf(key, sizeof key, "axis.%s", axis->knob->key);
	figures_say(out, key, text);
}

static void add_axes(struct figures *out)
{
	double candidates = 1;

	for (int i = 0; i < problem.axes; i++) {
		candidates *= problem.axis[i].count;
		add_axis(out, &problem.axis[i]);
	}
	figures_add(out, "candidates", candidates, 0);
}

/* What hangs on the axes, as planned and with "pin:KEY:VALUES" pinned. */
static void add_notes(struct figures *out, const char *title)
{
	char pinned[400], why[256] = "", *values;
	const struct planner_axis *axis;

	figures_add(out, "rows_of_the_sheet_held", count_bits(planner_held(&problem)),
		    0);
	figures_add(out, "usual_trust", planner_usual_trust(&problem.base), 0);
	figures_add(out, "leaves_offload", planner_leaves_offload(&problem), 0);
	figures_add(out, "unsure", planner_is_unsure(&problem), 0);
	figures_add(out, "room_bytes", planner_room(&problem, &problem.base), 0);
	snprintf(pinned, sizeof pinned, "%s", option_word(title, "pin"));
	values = strchr(pinned, ':');
	if (!values)
		return;
	*values++ = '\0';
	if (!planner_pin_text(&problem, knob_find(pinned), values, why, sizeof why)) {
		figures_say(out, "pin.why", why);
		return;
	}
	axis = planner_pinned(&problem, knob_find(pinned));
	figures_say(out, "pinned", axis ? "yes" : "no");
	if (axis)
		add_axis(out, axis);
	figures_add(out, "pinned.rows_held", count_bits(planner_held(&problem)), 0);
	figures_add(out, "pinned.leaves_offload", planner_leaves_offload(&problem), 0);
}

static void add_list(struct figures *out, const char *key, const double *value,
		     int count)
{
	char name[MAX_FIGURE_KEY];
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += (i + 1) * value[i];
	snprintf(name, sizeof name, "%s.values", key);
	figures_add(out, name, count, 0);
	snprintf(name, sizeof name, "%s.sum", key);
	figures_add(out, name, sum, 0);
}

static void add_questions(struct figures *out, const char *title)
{
	static struct inverse inverse;
	static struct pareto pareto;
	double days = option_number(title, "days", 30);
	char key[MAX_FIGURE_KEY];

	for (int kind = 0; kind < INVERSE_COUNT; kind++) {
		const char *word = inverse_word((enum inverse_kind)kind);

		inverse_begin(&inverse, (enum inverse_kind)kind, &problem, 0);
		add_list(out, word, inverse.value, inverse.count);
		snprintf(key, sizeof key, "%s.begins_at", word);
		figures_add(out, key, inverse.at, 0);
	}
	inverse_begin(&inverse, INVERSE_GPUS, &problem, days * 86400);
	add_list(out, "gpus_in_time", inverse.value, inverse.count);
	for (int kind = 0; kind < PARETO_COUNT; kind++) {
		pareto_begin(&pareto, (enum pareto_kind)kind, &problem);
		snprintf(key, sizeof key, "front.%s",
			 pareto_word((enum pareto_kind)kind));
		add_list(out, key, pareto.gpus, pareto.counts);
		strcat(key, ".limit_bytes");
		figures_add(out, key, pareto.limit_bytes, 0);
	}
}

/* Plans of the axes as they are drawn. */
static void add_names(struct figures *out, const char *title)
{
	enum { NAMES = 6 };

	seed = 55 + (uint64_t)option_number(title, "draw", 0) * 1000003;
	for (int n = 0; n < NAMES; n++) {
		struct planner_found found = { 0 };
		struct scenario s;
		char key[MAX_FIGURE_KEY], text[MAX_FIGURE_WORDS];

		for (int i = 0; i < problem.axes; i++)
			found.choice[i] =
				(uint8_t)next((uint64_t)problem.axis[i].count);
		planner_scenario(&problem, &found, &s);
		snprintf(key, sizeof key, "name.%d", n + 1);
		planner_name(&problem, &s, text, sizeof text);
		figures_say(out, key, text);
		snprintf(key, sizeof key, "name.%d.in_full", n + 1);
		planner_plain_name(&problem, &s, text, sizeof text);
		figures_say(out, key, text);
		snprintf(key, sizeof key, "name.%d.words", n + 1);
		text[0] = '\0';
		planner_name_words(&problem, &s, text, sizeof text);
		figures_say(out, key, text);
	}
}

void figures_asked(const char *title, struct figures *out)
{
	begin(title);
	out->count = 0;
	add_axes(out);
	add_questions(out, title);
	add_notes(out, title);
	add_names(out, title);
}
