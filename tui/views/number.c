/* number.c - numbers that can be pointed at, their changes, and problems: what all
 * views share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/view.h"

enum role dimension_role(enum dimension dimension)
{
	static const enum role roles[DIM_COUNT] = {
		[DIM_TP] = ROLE_TP, [DIM_CP] = ROLE_CP, [DIM_EP] = ROLE_EP,
		[DIM_PP] = ROLE_PP, [DIM_DP] = ROLE_DP, [DIM_HOST] = ROLE_HOST,
	};

	return (unsigned)dimension < DIM_COUNT ? roles[dimension] : ROLE_DEFAULT;
}

/* A step of more tokens takes longer and sends more, which is neither better nor worse:
 * throughput tells that. */
static bool is_of_another_step(const struct explorer *explorer,
			       const struct metric *metric)
{
	const struct estimate *now = &explorer->estimate, *before = &explorer->before;

	if (explorer->scenario.plan.mode != MODE_TRAINING ||
	    now->tokens_per_step == before->tokens_per_step)
		return false;
	return strcmp(metric->group, "time") == 0 ||
	       strcmp(metric->group, "communication") == 0;
}

static bool runs(const struct estimate *estimate, int mode)
{
	return estimate->legal && (mode != MODE_INFERENCE || estimate->fits);
}

bool has_numbers(const struct explorer *explorer)
{
	return runs(&explorer->estimate, (int)explorer->scenario.plan.mode);
}

/* Whether both the open plan and the one before have this number. */
static bool compares(const struct explorer *explorer, const struct metric *metric)
{
	if (!explorer->before.legal || !explorer->estimate.legal)
		return false;
	return strcmp(metric->group, "memory") == 0 ||
	       (has_numbers(explorer) &&
		runs(&explorer->before, explorer->before_mode));
}

void change_text(const struct explorer *explorer, const char *key, char *out,
		 size_t size, enum role *role)
{
	const struct metric *metric = metric_find(key);
	double now, before, change;

	out[0] = '\0';
	*role = ROLE_LABEL;
	/* a step and a pass have nothing in common */
	if (explorer->before_mode != explorer->scenario.plan.mode)
		return;
	if (!metric || !(explorer->pinned || explorer->moved) ||
	    !compares(explorer, metric))
		return;
	now = metric_get(&explorer->estimate, metric);
	before = metric_get(&explorer->before, metric);
	change = now - before;
	if (!(fabs(change) > 1e-9 * fabs(before)))
		return;
	if (change * metric->better != 0 && !is_of_another_step(explorer, metric))
		*role = change * metric->better > 0 ? ROLE_DELTA_BETTER
						    : ROLE_DELTA_WORSE;
	if (metric->form == FORM_PERCENT)
		snprintf(out, size, "%+.1f pt", change * 100);
	else if (before == 0)
		snprintf(out, size, "new");
	else if (fabs(now / before) >= 10)
		snprintf(out, size, "x%.3g", now / before);
	else
		snprintf(out, size, "%+.1f%%", change / before * 100);
	if (strncmp(out + 1, "0.0", 3) == 0)
		out[0] = '\0';
}

static void room_text(const struct serving_estimate *v, int width, char *out,
		      size_t size)
{
	double room = floor(v->max_concurrency);
	char requests[32];

	form_text(FORM_COUNT, room, requests, sizeof requests);
	snprintf(out, size, "fits, room for %s request%s", requests,
		 room == 1 ? "" : "s");
	if (text_width(out) > width)
		snprintf(out, size, "fits, room for %s", requests);
}

void fit_text(const struct explorer *explorer, int width, char *out, size_t size)
{
	const struct estimate *e = &explorer->estimate;

	/* nobody is surer than that of a prediction */
	if (explorer->scenario.plan.mode == MODE_INFERENCE)
		room_text(&e->serving, width, out, size);
	else if (e->unsure)
		snprintf(out, size, "unsure, %.0f %%", e->fit_probability * 100);
	else
		snprintf(out, size, "fits, %.0f %% sure",
			 fmin(e->fit_probability * 100, 99));
	if (text_width(out) > width)
		snprintf(out, size, e->unsure ? "unsure" : "fits");
}

enum role fit_role(const struct estimate *e)
{
	return e->unsure ? ROLE_WARNING : e->fits ? ROLE_GOOD : ROLE_BAD;
}

uint32_t change_glyph(const struct canvas *canvas, const char *text)
{
	return canvas_glyph(canvas, text[0] == '-' ? GLYPH_DOWN : GLYPH_UP);
}

void add_spot(const struct explorer *explorer, struct canvas *canvas,
	      enum spot_kind kind, struct rect rect, const char *key, double value)
{
	struct spots *spots = canvas->spots;
	const char *at = explorer->state[explorer->view].key;
	struct spot *spot;

	rect = rect_intersect(rect, canvas->clip);
	if (!spots || spots->count == MAX_SPOTS || rect.width < 1 || rect.height < 1)
		return;
	spot = &spots->item[spots->count++];
	spot->kind = kind;
	spot->rect = rect;
	spot->value = value;
	snprintf(spot->key, sizeof spot->key, "%s", key);
	if (explorer->pane != PANE_VIEW || explorer->mode != MODE_NORMAL ||
	    strcmp(at, key) != 0)
		return;
	canvas_highlight(canvas, rect, ROLE_FOCUS, false, true);
	canvas_cursor(canvas, rect.x, rect.y);
}

bool has_number(const struct explorer *explorer, const char *key)
{
	const struct metric *metric = metric_find(key);

	return has_numbers(explorer) ||
	       (metric && strcmp(metric->group, "model") == 0) ||
	       (metric && explorer->estimate.legal &&
		strcmp(metric->group, "memory") == 0);
}

void number_text(const struct explorer *explorer, const char *key, char *out,
		 size_t size)
{
	const struct metric *metric = metric_find(key);

	if (metric && has_number(explorer, key))
		form_text(metric->form, metric_get(&explorer->estimate, metric), out,
			  size);
	else
		snprintf(out, size, "-");
}

int number_width(const struct explorer *explorer, const char *label, const char *key)
{
	char value[64];

	number_text(explorer, key, value, sizeof value);
	return text_width(label) + (label[0] != '\0') + text_width(value);
}

void change_shorten(char change[CHANGE_TEXT])
{
	char *unit, tail[8];
	double value = strtod(change, &unit);

	if (unit == change)
		return; /* "new", "x12.3" */
	snprintf(tail, sizeof tail, "%s", unit[0] == ' ' ? unit + 1 : unit);
	snprintf(change, CHANGE_TEXT, fabs(value) >= 10 ? "%+.0f%s" : "%+.1f%s", value,
		 tail);
}

int draw_number(const struct explorer *explorer, struct canvas *canvas, int x, int y,
		int width, const char *label, const char *key)
{
	char value[64], change[CHANGE_TEXT];
	enum role role;
	int used = 0, start = x;

	number_text(explorer, key, value, sizeof value);
	if (label[0] != '\0')
		used = canvas_text(canvas, x, y, width, ROLE_LABEL, label) + 1;
	used += canvas_text(canvas, x + used, y, width - used, ROLE_VALUE, value);
	add_spot(explorer, canvas, SPOT_NUMBER, (struct rect){ start, y, used, 1 }, key,
		 0);
	change_text(explorer, key, change, sizeof change, &role);
	if (change[0] != '\0' && used + text_width(change) + 3 <= width) {
		used += 1 + canvas_text(canvas, x + used + 1, y, width - used - 1, role,
					change);
		canvas_put(canvas, x + used, y, change_glyph(canvas, change), role);
		used++;
	}
	return used;
}

/* Where columns lack: "-8.6pt" as "-8.6", whose unit is that of the value before it,
 * and
 * "+12.4%" as "+12%". */
static void tighten(char change[CHANGE_TEXT])
{
	char *unit;
	double value = strtod(change, &unit);

	if (strcmp(unit, "pt") == 0)
		*unit = '\0';
	else if (unit != change && strcmp(unit, "%") == 0 && fabs(value) >= 0.95)
		snprintf(change, CHANGE_TEXT, "%+.0f%%", value);
}

/* The change has columns of its own at the right edge; a value that is too long for the
 * rest takes some of them where the change leaves any. */
void draw_number_row(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect, const char *label, const char *key)
{
	enum { LONG_CHANGE = 10, SHORT_CHANGE = 7 };
	char value[64], change[CHANGE_TEXT];
	enum role role;
	bool wide = rect.width > 34;
	int right = rect.width - (wide ? LONG_CHANGE : SHORT_CHANGE), least;

	number_text(explorer, key, value, sizeof value);
	change_text(explorer, key, change, sizeof change, &role);
	if (!wide)
		change_shorten(change);
	least = text_width(label) + 1 + text_width(value);
	if (right < least)
		right = least < rect.width ? least : rect.width;
	if (right + text_width(change) + 2 > rect.width)
		tighten(change);
	canvas_text(canvas, rect.x, rect.y, right - text_width(value) - 1, ROLE_LABEL,
		    label);
	canvas_right(canvas, rect.x, rect.y, right, ROLE_VALUE, value);
	add_spot(explorer, canvas, SPOT_NUMBER,
		 (struct rect){ rect.x, rect.y, right, 1 }, key, 0);
	if (change[0] == '\0' || right + text_width(change) + 2 > rect.width)
		return;
	canvas_right(canvas, rect.x + right, rect.y, rect.width - right - 1, role,
		     change);
	canvas_put(canvas, rect.x + rect.width - 1, rect.y,
		   change_glyph(canvas, change), role);
}

static const struct spot *present(const struct explorer *explorer)
{
	const struct spots *spots = explorer->spots;
	const char *key = explorer->state[explorer->view].key;

	for (int i = 0; i < spots->count; i++)
		if (strcmp(spots->item[i].key, key) == 0)
			return &spots->item[i];
	return NULL;
}

static unsigned point_at(struct explorer *explorer, const struct spot *spot)
{
	struct view_state *state = &explorer->state[explorer->view];

	memcpy(state->key, spot->key, sizeof state->key);
	return CHANGED_SCREEN;
}

/* How far a spot lies in a direction; sideways counts more, so that a move goes
 * straight where it can. Infinite: not in that direction. */
static double distance(struct rect from, struct rect to, enum action_kind kind)
{
	double dx = to.x - from.x, dy = to.y - from.y;

	switch (kind) {
	case ACTION_UP: dy = -dy; /* fall through */
	case ACTION_DOWN: return dy > 0 ? dy * 4 + fabs(dx) * 0.5 : INFINITY;
	case ACTION_LEFT: dx = -dx; /* fall through */
	default: return dx > 0 && dy == 0 ? dx : INFINITY;
	}
}

static unsigned move(struct explorer *explorer, enum action_kind kind)
{
	const struct spot *from = present(explorer), *best = NULL;
	double least = INFINITY;

	if (explorer->spots->count == 0)
		return CHANGED_NOTHING;
	if (!from)
		return point_at(explorer, &explorer->spots->item[0]);
	for (int i = 0; i < explorer->spots->count; i++) {
		const struct spot *to = &explorer->spots->item[i];
		double d = distance(from->rect, to->rect, kind);

		if (d < least) {
			least = d;
			best = to;
		}
	}
	return best ? point_at(explorer, best) : CHANGED_SCREEN;
}

/* The advice that a spot stands for: its key ends in "#code". */
static const struct finding *advice_of(const struct explorer *explorer,
				       const struct spot *spot)
{
	const char *code = strchr(spot->key, '#');

	for (int i = 0; code && i < explorer->advice.count; i++)
		if (strcmp(explorer->advice.item[i].rule->code, code + 1) == 0)
			return &explorer->advice.item[i];
	return NULL;
}

/* What a problem or advice offers is done at once; some of it takes two knobs. */
static unsigned mend(struct explorer *explorer, const struct spot *spot,
		     const struct knob *knob)
{
	const struct finding *advice = advice_of(explorer, spot);
	struct scenario to = explorer->scenario;
	char value[64], what[128];

	if (!advice || !advice->first)
		return knobs_set(explorer, knob, spot->value);
	if (!knob_set(&to, knob_find(advice->first), advice->first_value) ||
	    !knob_set(&to, knob, spot->value))
		return CHANGED_NOTHING;
	knob_print(&to, knob, value, sizeof value);
	snprintf(what, sizeof what, "%s to %s", knob->key, value);
	knob_print(&to, knob_find(advice->first), value, sizeof value);
	snprintf(what + strlen(what), sizeof what - strlen(what), ", %s to %s",
		 advice->first, value);
	return explorer_change(explorer, &to, what);
}

/* All knobs that mend a plan together. */
static unsigned go_way(struct explorer *explorer)
{
	const struct whatif_way *way = &explorer->way;
	struct scenario to = explorer->scenario;
	char value[64], what[160];
	size_t used = 0;

	if (!whatif_way_set(way, &to))
		return CHANGED_NOTHING;
	for (int i = 0; i < way->turns && used < sizeof what; i++) {
		knob_print(&to, way->turn[i].knob, value, sizeof value);
		used += (size_t)snprintf(what + used, sizeof what - used, "%s%s to %s",
					 i > 0 ? ", " : "", way->turn[i].knob->key,
					 value);
	}
	return explorer_change(explorer, &to, what);
}

static unsigned take(struct explorer *explorer, const struct spot *spot)
{
	char key[MAX_KEY];

	snprintf(key, sizeof key, "%.*s", (int)strcspn(spot->key, "#"), spot->key);
	switch (spot->kind) {
	case SPOT_REMEDY:
		return strcmp(spot->key, SPOT_WAY) == 0
			       ? go_way(explorer)
			       : mend(explorer, spot, knob_find(key));
	case SPOT_KNOB:
		knobs_focus(explorer, knob_find(key));
		explorer->pane = PANE_KNOBS;
		return CHANGED_SCREEN;
	default: return explorer_explain(explorer, spot->key);
	}
}

static unsigned click(struct explorer *explorer, struct action action)
{
	for (int i = 0; i < explorer->spots->count; i++)
		if (rect_holds(explorer->spots->item[i].rect, action.x, action.y))
			return point_at(explorer, &explorer->spots->item[i]);
	return CHANGED_NOTHING;
}

unsigned act_on_spots(struct explorer *explorer, struct action action)
{
	const struct spot *spot = present(explorer);
	int count = explorer->spots->count;

	switch (action.kind) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_LEFT:
	case ACTION_RIGHT: return move(explorer, action.kind);
	case ACTION_HOME:
		return count ? point_at(explorer, &explorer->spots->item[0])
			     : CHANGED_NOTHING;
	case ACTION_END:
		return count ? point_at(explorer, &explorer->spots->item[count - 1])
			     : CHANGED_NOTHING;
	case ACTION_ENTER: return spot ? take(explorer, spot) : CHANGED_NOTHING;
	case ACTION_CLICK: return click(explorer, action);
	default: return CHANGED_NOTHING;
	}
}
