/* beside.c - a second view beside the open one. It is drawn like any other, with places
 * of its own; keys go to the open one, the mouse to where it is. */
#include <string.h>

#include "tui/explorer/course.h"
#include "tui/explorer/last.h"
#include "tui/view.h"

static bool can_stand(const struct explorer *explorer, int id)
{
	return id >= 0 && id != (int)explorer->view && id != VIEW_HELP &&
	       id != VIEW_GLOSSARY && id != VIEW_SEARCH;
}

/* Columns that a lesson leaves to knobs and views. */
static int room_of(const struct explorer *explorer)
{
	return explorer->width - course_side(explorer, explorer->width);
}

/* The view that all layers lie over. */
static enum view_id lowest_view(const struct explorer *explorer)
{
	enum view_id view =
		explorer->layers > 0 ? explorer->below[0].view : explorer->view;

	return view_is_layer(view) ? VIEW_OVERVIEW : view;
}

/* What explains stands beside what it explains. */
int beside_view(const struct explorer *explorer, int width)
{
	int id = (int)explorer->beside - BESIDE_VIEW;

	if (width < BESIDE_WIDTH || explorer->beside == BESIDE_NONE)
		return -1;
	if (view_is_layer(explorer->view))
		id = (int)lowest_view(explorer);
	else if (id < 0 && explorer->view != VIEW_SEARCH)
		id = VIEW_EXPLAIN;
	return can_stand(explorer, id) ? id : -1;
}

struct rect beside_divide(const struct explorer *explorer, struct rect *view, int id)
{
	bool layer = view_is_layer(explorer->view);
	bool explains = id == VIEW_EXPLAIN || layer;
	int width = explains ? view->width * 2 / 5 : view->width / 2;
	struct rect right = *view, left = *view;

	right.width = width;
	right.x += view->width - width;
	left.width -= width + 3;
	*view = layer ? right : left;
	return layer ? left : right;
}

/* What was the open view until the call is beside it after it, and the other way round:
 * a view asks only for the open one. */
static void change_places(struct explorer *explorer, enum view_id *view,
			  enum pane *pane)
{
	enum view_id open = explorer->view;
	enum pane focus = explorer->pane;
	const struct spots *spots = explorer->spots;
	struct last *last;

	explorer->view = *view;
	explorer->pane = *pane;
	explorer->spots = explorer->spots_beside;
	explorer->spots_beside = spots;
	last = explorer->last;
	explorer->last = explorer->last_beside;
	explorer->last_beside = last;
	*view = open;
	*pane = focus;
}

/* What a view beside the open one leaves blank, if it is more than a third, explains
 * the number under the cursor, as the place beside does where nothing was chosen for
 * it. */
static void draw_rest(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect)
{
	struct rect rest = view_rest(canvas, rect), clip;

	if (rest.height * 3 <= rect.height)
		return;
	widget_heading(canvas, rest.x, rest.y++, rest.width, "explain");
	rest.height--;
	clip = canvas_clip(canvas, rest);
	view_table[VIEW_EXPLAIN].draw(explorer, canvas, rest);
	canvas_clip(canvas, clip);
}

void beside_draw(struct explorer *explorer, struct canvas *canvas, struct rect rect,
		 int id)
{
	enum view_id view = (enum view_id)id;
	enum pane pane = PANE_KNOBS; /* nothing is lit */
	struct rect clip = canvas_clip(canvas, rect);

	change_places(explorer, &view, &pane);
	if (id == VIEW_TIMELINE)
		play_refresh(explorer);
	canvas->spots = explorer->drawn_beside;
	canvas->spots->view = rect;
	if (has_numbers(explorer) || !last_draw(explorer, canvas, rect)) {
		view_table[id].draw(explorer, canvas, rect);
		if (view_is_layer(view))
			explorer->overview_shown |=
				overview_beside(explorer, canvas, rect);
		else if (id != VIEW_EXPLAIN)
			draw_rest(explorer, canvas, rect);
		if (has_numbers(explorer) && id != VIEW_EXPLAIN)
			last_keep(explorer, canvas, rect);
	} else {
		explorer->overview_shown |= canvas->spots->strip.height > 0;
	}
	canvas->spots = explorer->drawn;
	change_places(explorer, &view, &pane);
	canvas_clip(canvas, clip);
}

static const struct spot *spot_at(const struct spots *spots, int x, int y)
{
	for (int i = 0; i < spots->count; i++)
		if (rect_holds(spots->item[i].rect, x, y))
			return &spots->item[i];
	return NULL;
}

/* A number there is explained at once; of the rest, its rows can be chosen. */
unsigned beside_act(struct explorer *explorer, struct action action)
{
	int id = beside_view(explorer, room_of(explorer));
	const struct spot *spot = spot_at(explorer->spots_beside, action.x, action.y);
	enum view_id view = (enum view_id)id;
	enum pane pane = PANE_VIEW;
	unsigned changed;

	if (id < 0 || !rect_holds(explorer->spots_beside->view, action.x, action.y))
		return CHANGED_NOTHING;
	if (action.kind == ACTION_CLICK && spot && spot->kind == SPOT_NUMBER) {
		if (explorer->view == VIEW_EXPLAIN) {
			explorer_point_out(explorer, spot->key);
			return CHANGED_SCREEN;
		}
		return explorer_explain(explorer, spot->key);
	}
	if (action.kind == ACTION_WHEEL)
		action.kind = action.argument < 0 ? ACTION_UP : ACTION_DOWN;
	change_places(explorer, &view, &pane);
	changed = explorer_give_view(explorer, action);
	change_places(explorer, &view, &pane);
	return changed;
}

unsigned beside_next(struct explorer *explorer)
{
	static const int order[] = { VIEW_EXPLAIN,  VIEW_OVERVIEW, VIEW_MEMORY,
				     VIEW_TIMELINE, VIEW_TRAFFIC,  VIEW_GRAPH,
				     VIEW_TOPOLOGY };
	enum { COUNT = sizeof order / sizeof order[0] };
	int now = beside_view(explorer, room_of(explorer)), at = 0;

	if (room_of(explorer) < BESIDE_WIDTH) {
		explorer_say(explorer, ROLE_HINT,
			     "two views side by side need %d columns; this screen "
			     "has %d",
			     BESIDE_WIDTH, room_of(explorer));
		return CHANGED_SCREEN;
	}
	if (view_is_layer(explorer->view))
		return CHANGED_NOTHING;
	while (now >= 0 && at < COUNT && order[at++] != now)
		;
	while (at < COUNT && !can_stand(explorer, order[at]))
		at++;
	explorer->beside =
		at < COUNT ? (enum beside)(BESIDE_VIEW + order[at]) : BESIDE_NONE;
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

void beside_begin(struct explorer *explorer)
{
	int view = (int)explorer->view;

	if (explorer->view == VIEW_EXPLAIN)
		view = (int)explorer_view_below(explorer);
	if (explorer->asked || view == explorer->explained_of ||
	    !view_table[view].about)
		return;
	explorer_point_out(explorer, view == VIEW_TRAFFIC ? traffic_about(explorer)
							  : view_table[view].about);
	explorer->explained_of = view;
	explorer->asked = false;
}

void beside_follow(struct explorer *explorer)
{
	const char *key = explorer->state[explorer->view].key;
	bool asked = explorer->asked;

	if (explorer->pane != PANE_VIEW || explorer->view == VIEW_EXPLAIN ||
	    beside_view(explorer, room_of(explorer)) < 0)
		return;
	for (int i = 0; i < explorer->spots->count; i++) {
		const struct spot *spot = &explorer->spots->item[i];

		if (spot->kind == SPOT_NUMBER && strcmp(spot->key, key) == 0 &&
		    strcmp(explorer->explained, key) != 0) {
			explorer_point_out(explorer, key);
			explorer->asked = asked;
			return;
		}
	}
}
