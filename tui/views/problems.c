/* problems.c - why a plan can't run, what would mend it, and what that costs. */
#include <stdio.h>

#include "engine/knob/knob.h"
#include "tui/text.h"
#include "tui/view.h"

/* "sets TP tensor 8: 913 tok/s per GPU, 71.5 GiB; 2: does not fit, 241 GiB": what Enter
 * sets, and what else may be typed, with what `costs` of them give; others only if they
 * fit, and none that breaks another rule. */
static size_t mend_text(const struct finding *finding, const struct whatif_cost *cost,
			int costs, char *out, size_t size)
{
	size_t used = 0;
	char label[40], value[64], text[80];

	for (int i = 0; i < finding->nearest_count && used < size && cost[i].knob;
	     i++) {
		if (!cost[i].legal || (i >= costs && !cost[i].fits))
			continue;
		text_squeeze(cost[i].knob->label, label, sizeof label);
		knob_print_value(cost[i].knob, cost[i].value, value, sizeof value);
		whatif_cost_text(&cost[i], text, sizeof text);
		used += (size_t)snprintf(out + used, size - used, "%s%s %s%s%s",
					 i == 0      ? "sets "
					 : i < costs ? ";"
						     : "; or",
					 i == 0 ? label : "", value,
					 i < costs ? ": " : "", i < costs ? text : "");
	}
	return used;
}

/* Whether a problem tells what would mend it: a value that makes the plan legal, which
 * mends all of it and stands there once. */
static bool offers(const struct explorer *explorer, int at)
{
	const struct finding *item = explorer->estimate.problems.item;
	const struct whatif_cost *cost = explorer->mend[at];

	if (item[at].nearest_count == 0 || !cost->knob || !cost->legal)
		return false;
	for (int i = 0; i < at; i++)
		if (item[i].nearest_count > 0 &&
		    explorer->mend[i]->knob == cost->knob &&
		    explorer->mend[i]->value == cost->value)
			return false;
	return true;
}

/* The keys that mend a problem. From the knobs Enter lists values: it is the view that
 * takes this one, and Tab leads to the first there. */
static const char *find_way(const struct explorer *explorer, int at)
{
	if (explorer->pane != PANE_KNOBS)
		return "Enter";
	if (explorer->way.turns > 0)
		return "Enter here";
	for (int i = 0; i < at; i++)
		if (offers(explorer, i))
			return "Enter here";
	return "Tab Enter";
}

/* One problem, and below it what would mend it. */
static int draw_problem(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect, int at)
{
	const struct finding *finding = &explorer->estimate.problems.item[at];
	bool error = finding->rule->severity == SEVERITY_ERROR;
	char text[320], remedy[400], key[MAX_KEY];
	const char *way = find_way(explorer, at);
	bool fits = explorer->mend[at][0].legal && explorer->mend[at][0].fits;
	int used, lines, indent = 6 + text_width(way) + 1;

	finding_text(finding, text, sizeof text);
	canvas_put(canvas, rect.x, rect.y,
		   canvas_glyph(canvas, error ? GLYPH_FAIL : GLYPH_BULLET),
		   error ? ROLE_BAD : ROLE_WARNING);
	canvas_text(canvas, rect.x + 2, rect.y, 4, error ? ROLE_BAD : ROLE_WARNING,
		    finding->rule->code);
	used = widget_prose(
		canvas,
		(struct rect){ rect.x + 6, rect.y, rect.width - 6, rect.height }, 0,
		ROLE_DEFAULT, text);
	if (used >= rect.height || !offers(explorer, at) ||
	    mend_text(finding, explorer->mend[at], MAX_NEAREST, remedy,
		      sizeof remedy) == 0)
		return used;
	if (text_width(remedy) > rect.width - indent)
		mend_text(finding, explorer->mend[at], 1, remedy, sizeof remedy);
	canvas_text(canvas, rect.x + 6, rect.y + used, indent - 6, ROLE_KEY, way);
	lines = widget_prose(canvas,
			     (struct rect){ rect.x + indent, rect.y + used,
					    rect.width - indent, rect.height - used },
			     0, fits ? ROLE_GOOD : ROLE_WARNING, remedy);
	/* two problems may be mended by the same knob */
	snprintf(key, sizeof key, "%s#%s", finding->knob, finding->rule->code);
	add_spot(explorer, canvas, SPOT_REMEDY,
		 (struct rect){ rect.x + 6, rect.y + used, rect.width - 6, lines }, key,
		 finding->nearest[0]);
	return used + lines;
}

/* The rows that a problem takes where there is room for all of it. */
static int problem_rows(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect, int at)
{
	static const struct rect nowhere = { 0, 0, 0, 0 };
	struct rect clip = canvas_clip(canvas, nowhere);
	int spots = canvas->spots ? canvas->spots->count : 0, rows;

	rect.height = CANVAS_MAX;
	rows = draw_problem(explorer, canvas, rect, at);
	if (canvas->spots)
		canvas->spots->count = spots;
	canvas_clip(canvas, clip);
	return rows;
}

/* Where no single knob mends all of it: those that do together. "Enter sets TP tensor
 * 8, PP pipeline 4: 931 tok/s per GPU, 71.5 GiB"; returns the rows. */
static int draw_way(const struct explorer *explorer, struct canvas *canvas,
		    struct rect rect)
{
	const struct whatif_way *way = &explorer->way;
	const char *keys = explorer->pane == PANE_KNOBS ? "Tab Enter" : "Enter";
	char text[240], label[40], value[64], gives[80];
	int indent = text_width(keys) + 1, rows;
	size_t used = 0;

	for (int i = 0; i < way->turns && used < sizeof text; i++) {
		text_squeeze(way->turn[i].knob->label, label, sizeof label);
		knob_print_value(way->turn[i].knob, way->turn[i].value, value,
				 sizeof value);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s",
					 i == 0 ? "sets " : ", ", label, value);
	}
	whatif_cost_text(&way->cost, gives, sizeof gives);
	if (used < sizeof text)
		snprintf(text + used, sizeof text - used, ": %s", gives);
	canvas_text(canvas, rect.x, rect.y, indent, ROLE_KEY, keys);
	rows = widget_prose(canvas,
			    (struct rect){ rect.x + indent, rect.y, rect.width - indent,
					   rect.height },
			    0, way->cost.fits ? ROLE_GOOD : ROLE_WARNING, text);
	add_spot(explorer, canvas, SPOT_REMEDY,
		 (struct rect){ rect.x, rect.y, rect.width, rows }, SPOT_WAY, 0);
	return rows;
}

/* It stands above the problems: it mends all of them. */
int draw_problems(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect)
{
	int y = 0, count = explorer->estimate.problems.count;

	if (explorer->way.turns > 0 && rect.height > 1)
		y = draw_way(explorer, canvas, rect);
	for (int i = 0; i < count && y < rect.height; i++) {
		struct rect rest = { rect.x, rect.y + y, rect.width, rect.height - y };
		bool last = i == count - 1;

		if (i > 0 &&
		    problem_rows(explorer, canvas, rest, i) + !last > rest.height) {
			canvas_format(canvas, rest.x + 2, rest.y, rest.width - 2,
				      ROLE_WARNING, "and %d more", count - i);
			return y + 1;
		}
		y += draw_problem(explorer, canvas, rest, i);
	}
	return y;
}
