/* help.c - the keys of this place, made from key_table, and what the view shows. */
#include <stdio.h>
#include <string.h>

#include "tui/explorer/contest.h"
#include "tui/view.h"

static const char about[] =
	"The left pane holds the knobs; the right pane shows what follows from "
	"them and is recomputed at every key. The strip shows what each value of "
	"the selected knob would give. A small arrow beside a knob points towards "
	"a faster step. All numbers are analytical predictions: Enter on one "
	"shows its formula and source.";

/* Lines before the keys: about the program and about the view one came from. */
static int draw_about(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect)
{
	const struct view *view = &view_table[explorer_view_below(explorer)];
	char goal[2048];
	int y = rect.y;

	if (explorer->contest) {
		contest_goal(explorer, goal, sizeof goal);
		canvas_text(canvas, rect.x, y++, rect.width, ROLE_TITLE,
			    explorer->contest->challenge.title);
		y += widget_prose(canvas, (struct rect){ rect.x, y, rect.width, 100 },
				  0, ROLE_DEFAULT, goal) +
		     1;
	}
	y += widget_prose(canvas, (struct rect){ rect.x, y, rect.width, 100 }, 0,
			  ROLE_DEFAULT, about) +
	     1;
	if (view->help[0] != '\0') {
		canvas_text(canvas, rect.x, y++, rect.width, ROLE_TITLE, view->title);
		y += widget_prose(canvas, (struct rect){ rect.x, y, rect.width, 100 },
				  0, ROLE_DEFAULT, view->help) +
		     1;
	}
	return y - rect.y;
}

void help_draw(const struct explorer *explorer, struct canvas *canvas, struct rect rect)
{
	enum { WIDEST = 100 };
	int first = explorer->state[VIEW_HELP].first, top = rect.y - first, y = top;

	rect.width -= 2; /* for the scrollbar */
	/* longer lines are hard to read */
	if (rect.width > WIDEST)
		rect.width = WIDEST;
	y += draw_about(explorer, canvas,
			(struct rect){ rect.x, y, rect.width, rect.height });
	canvas_text(canvas, rect.x, y++, rect.width, ROLE_TITLE, "keys");
	for (int i = 0; i < key_count(); i++) {
		const struct key_binding *key = &key_table[i];

		if (!key->help)
			continue;
		canvas_text(canvas, rect.x + 1, y, 14, ROLE_KEY, key->name);
		y += widget_prose(canvas,
				  (struct rect){ rect.x + 16, y, rect.width - 16, 8 },
				  0, ROLE_DEFAULT, key->help);
	}
	end_text(explorer, canvas, VIEW_HELP, y - top);
}

void end_text(const struct explorer *explorer, struct canvas *canvas, enum view_id view,
	      int lines)
{
	struct rect rect = explorer->spots->view;

	if (canvas->spots)
		canvas->spots->lines = lines;
	widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y, rect.height,
			 explorer->state[view].first, lines);
}

/* Up and down move the text, never past its end. */
unsigned scroll_text(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[explorer->view];
	int height = explorer->spots->view.height;
	int moved = scroll_move(state->first, explorer->spots->lines - height + 1,
				height, action.kind);

	if (moved == state->first && action.kind != ACTION_UP &&
	    action.kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->first = moved < 0 ? 0 : moved;
	return CHANGED_SCREEN;
}

unsigned help_act(struct explorer *explorer, struct action action)
{
	return scroll_text(explorer, action);
}
