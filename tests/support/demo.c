/* demo.c - see demo.h. */
#include "tests/support/demo.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/loop.h"
#include "tui/widget.h"

enum { STOPS = 77, ITEMS = 12 };

struct demo {
	int cursor, value[ITEMS], frames, actions, saves, slices;
	bool typing, clicked, whole;
	struct field field;
	char said[64];
};

static bool is_typing(const void *context)
{
	const struct demo *demo = context;

	return demo->typing;
}

static unsigned act_typing(struct demo *demo, struct action action)
{
	if (action.kind == ACTION_ESCAPE || action.kind == ACTION_ENTER) {
		demo->typing = false;
		snprintf(demo->said, sizeof demo->said, "said %.50s", demo->field.text);
	} else {
		field_act(&demo->field, action);
	}
	return CHANGED_SCREEN;
}

static unsigned act(void *context, struct action action)
{
	struct demo *demo = context;

	demo->actions++;
	if (demo->typing)
		return act_typing(demo, action);
	switch (action.kind) {
	case ACTION_QUIT: return CHANGED_QUIT;
	case ACTION_LEFT: demo->value[demo->cursor]--; return CHANGED_SCENARIO;
	case ACTION_RIGHT: demo->value[demo->cursor]++; return CHANGED_SCENARIO;
	case ACTION_EDIT: demo->typing = true; return CHANGED_SCREEN;
	case ACTION_CLICK:
		if (action.y >= 1 && action.y <= ITEMS)
			demo->cursor = action.y - 1;
		return CHANGED_SCREEN;
	case ACTION_WHEEL:
		snprintf(demo->said, sizeof demo->said, "wheel %d at %d,%d",
			 action.argument, action.x, action.y);
		return CHANGED_SCREEN;
	case ACTION_SORT: raise(SIGSEGV); return CHANGED_NOTHING;
	case ACTION_MOUSE: return CHANGED_SCREEN;
	case ACTION_UNDO: demo->value[demo->cursor] = STOPS; return CHANGED_SCENARIO;
	case ACTION_SEARCH: demo->slices = 0; return CHANGED_SETTINGS;
	default: break;
	}
	demo->cursor = scroll_move(demo->cursor, ITEMS, ITEMS, action.kind);
	return CHANGED_SCREEN;
}

static unsigned idle(void *context, bool *more)
{
	struct demo *demo = context;

	if (demo->slices >= 20)
		return CHANGED_NOTHING;
	*more = ++demo->slices < 20;
	return *more ? CHANGED_NOTHING : CHANGED_SCREEN;
}

static unsigned save(void *context)
{
	struct demo *demo = context;
	const char *path = getenv("DEMO_SAVE");

	demo->saves++;
	if (path != NULL) {
		FILE *file = fopen(path, "w");
		if (file == NULL)
			return CHANGED_NOTHING;
		fprintf(file, "saved %d\n", demo->value[0]);
		fclose(file);
	}
	return CHANGED_SCREEN;
}

static void draw_row(const void *context, int index, struct canvas *canvas,
		     struct rect rect)
{
	const struct demo *demo = context;

	canvas_format(canvas, rect.x + 1, rect.y, 10, ROLE_LABEL, "knob %d", index);
	canvas_format(canvas, rect.x + 12, rect.y, 8, ROLE_VALUE, "= %d",
		      demo->value[index]);
}

static void draw(void *context, struct canvas *canvas)
{
	const struct demo *demo = context;
	const struct list list = { .count = ITEMS,
				   .cursor = demo->cursor,
				   .focused = !demo->typing,
				   .context = demo,
				   .row = draw_row };
	const struct part part[] = { { 25, ROLE_WEIGHTS, "weights" },
				     { 9.3, ROLE_GRADIENTS, NULL },
				     { 20.1, ROLE_OPTIMIZER, "optimizer" },
				     { 12.7, ROLE_ACTIVATIONS, "act" },
				     { 2.2, ROLE_BUFFERS, NULL } };
	int width = canvas->width, last = canvas->height - 1;
	static bool stopped;

	/* Ctrl-Z while a frame is drawn */
	if (demo->value[demo->cursor] == STOPS && !stopped)
		raise(SIGTSTP);
	stopped = demo->value[demo->cursor] == STOPS;
	if (width < 40 || canvas->height < 10) {
		canvas_text(canvas, 0, 0, width, ROLE_WARNING, "too small");
		return;
	}
	canvas_format(canvas, 0, 0, width, ROLE_TITLE,
		      "demo %dx%d saves %d slices %d %s", width, canvas->height,
		      demo->saves, demo->slices, demo->said);
	widget_list(canvas, (struct rect){ 0, 1, 22, last - 4 }, &list);
	widget_stack(canvas, (struct rect){ 24, 1, width - 25, 1 }, part, 5, 90, 79.1);
	widget_rule(canvas, 0, last - 2, width, "field 你好");
	if (demo->typing)
		widget_field(canvas, 0, last - 1, width, &demo->field, ROLE_VALUE);
	canvas_format(canvas, 0, last, width, ROLE_KEY, "q quit  mouse %s",
		      terminal_has_mouse() ? "on" : "off");
}

int demo_main(int argc, char **argv)
{
	struct demo demo = { 0 };
	struct error error = { "" };
	struct terminal_options options = { .glyphs = GLYPHS_AUTO };
	const struct loop_client client = { .context = &demo,
					    .is_typing = is_typing,
					    .act = act,
					    .draw = draw,
					    .idle = idle,
					    .save = save };

	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--color=always") == 0)
			options.colour = COLOUR_ALWAYS;
		else if (strcmp(argv[i], "--color=never") == 0)
			options.colour = COLOUR_NEVER;
		else if (strcmp(argv[i], "--ascii") == 0)
			options.glyphs = GLYPHS_ASCII;
		else if (strcmp(argv[i], "--theme=light") == 0)
			options.background = BACKGROUND_LIGHT;
		else if (strcmp(argv[i], "--no-mouse") == 0)
			options.no_mouse = true;
	}
	environment_set_locale();
	int status = loop_run(&client, &options, &error);
	if (error.text[0] != '\0')
		fprintf(stderr, "demo: %s\n", error.text);
	return status;
}
