/* help.c - the keys of this place, made from key_table, and what the view shows. */
#include <stdio.h>
#include <string.h>

#include "tui/view.h"

static const char about[] =
	"The left pane holds the knobs, the right one what follows from them; every "
	"key "
	"recomputes everything. Bars of memory: weights, gradients, optimizer, "
	"activations, buffers, framework. The strip shows what each value of the knob "
	"under the cursor would give. Arrows at knobs point where a step would be "
	"faster. Numbers are analytical predictions: Enter on one tells its formula "
	"and source.";

static int height_of(const struct explorer *explorer)
{
	return explorer->spots->view.height;
}

/* Lines before the keys: about the program and about the view one came from. */
static int draw_about(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect)
{
	const struct view *view = &view_table[explorer->view_before];
	int y = rect.y;

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
	int y = rect.y - explorer->state[VIEW_HELP].first;

	y += draw_about(explorer, canvas,
			(struct rect){ rect.x, y, rect.width, rect.height });
	canvas_text(canvas, rect.x, y++, rect.width, ROLE_TITLE, "keys");
	for (int i = 0; i < key_count(); i++) {
		const struct key_binding *key = &key_table[i];

		if (!key->help)
			continue;
		canvas_text(canvas, rect.x + 1, y, 14, ROLE_KEY, key->name);
		canvas_text(canvas, rect.x + 16, y, rect.width - 16, ROLE_DEFAULT,
			    key->help);
		y++;
	}
}

unsigned help_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_HELP];
	int lines = 24, moved;

	for (int i = 0; i < key_count(); i++)
		lines += key_table[i].help != NULL;
	moved = scroll_move(state->first, lines - height_of(explorer) + 1,
			    height_of(explorer), action.kind);
	if (moved == state->first && action.kind != ACTION_UP &&
	    action.kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->first = moved < 0 ? 0 : moved;
	return CHANGED_SCREEN;
}
