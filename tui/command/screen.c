/* screen.c - a view as text, ANSI or SVG, without a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/command.h"
#include "tui/environment.h"
#include "tui/view.h"

enum format { FORMAT_TEXT, FORMAT_ANSI, FORMAT_SVG };

struct asked {
	int view, width, height;
	enum format format;
	struct theme_choice theme;
	const char *focus, *number, *keys;
	bool whole; /* of Search all is answered that it asks */
	struct start start;
	struct import_report *report; /* NULL once the explorer has it */
};

static bool take_size(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	char rest;

	if (sscanf(value, "%dx%d%c", &asked->width, &asked->height, &rest) == 2 &&
	    asked->width >= 1 && asked->height >= 1 && asked->width <= CANVAS_MAX &&
	    asked->height <= CANVAS_MAX)
		return true;
	return error_set(error, NULL, 0,
			 "--size %.40s: expected WIDTHxHEIGHT, "
			 "as in 120x36, at most %dx%d",
			 value, CANVAS_MAX, CANVAS_MAX);
}

static bool take_format(void *context, const char *value, struct error *error)
{
	static const char *const names[] = { "text", "ansi", "svg" };
	struct asked *asked = context;

	for (int i = 0; i < 3; i++) {
		if (strcmp(names[i], value) == 0) {
			asked->format = (enum format)i;
			return true;
		}
	}
	return error_set(error, NULL, 0, "--format %.40s: expected text, ansi or svg",
			 value);
}

static bool take_light(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->theme.background = BACKGROUND_LIGHT;
	return true;
}

static bool take_whole(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->whole = true;
	return true;
}

static bool take_theme(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	return environment_theme(value, &asked->theme) ||
	       error_set(error, NULL, 0, "--theme %.40s: expected dark, light or plain",
			 value);
}

static bool take_focus(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->focus = value;
	return knob_find(value) ||
	       error_set(error, NULL, 0, "--focus: no knob '%.60s'", value);
}

static bool take_number(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct asked *)context)->number = value;
	return true;
}

static bool take_keys(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct asked *)context)->keys = value;
	return true;
}

const struct own_option screen_options[] = {
	{ "size", "WIDTHxHEIGHT", "WIDTHxHEIGHT; 80x24 if not given", take_size },
	{ "format", "text|ansi|svg", "text, ansi or svg", take_format },
	{ "light", NULL, "colours for a light background (svg)", take_light },
	{ "theme", "dark|light|plain", "terminal background; plain: no colours",
	  take_theme },
	{ "focus", "KNOB", "the knob under the cursor", take_focus },
	{ "number", "METRIC", "the number that Explain explains", take_number },
	{ "keys", "TEXT", "keys to press first, as typed", take_keys },
	{ "whole", NULL, "search: wait for all answers, half a minute for some plans",
	  take_whole },
	{ NULL, NULL, NULL, NULL },
};

static bool take_view(void *context, const char *text, struct error *error)
{
	struct asked *asked = context;

	asked->view = view_find(text);
	return asked->view >= 0 || error_set(error, NULL, 0,
					     "no view '%.40s'; expected overview, "
					     "memory, timeline, traffic, graph, "
					     "topology, search, explain or help",
					     text);
}

/* Keys as a person types them; 'Tab' and the like are their characters. */
static void press(struct explorer *explorer, struct canvas *canvas, const char *keys)
{
	for (const char *at = keys; *at != '\0'; at++) {
		unsigned changed;

		explorer_draw(explorer, canvas);
		changed = explorer_handle(
			explorer,
			key_action((unsigned char)*at, explorer_is_typing(explorer)));
		if (changed & CHANGED_SCENARIO)
			explorer_update(explorer);
	}
}

static char *write_canvas(const struct asked *asked, const struct canvas *canvas)
{
	enum background background = asked->theme.background;

	if (background == BACKGROUND_UNKNOWN && asked->format == FORMAT_ANSI)
		background = environment_background();
	switch (asked->format) {
	case FORMAT_ANSI:
		return canvas_to_ansi(
			canvas, theme_palette(environment_colours(256), background));
	case FORMAT_SVG: return canvas_to_svg(canvas, background == BACKGROUND_LIGHT);
	default: return canvas_to_text(canvas);
	}
}

/* What is done between two keys where nobody presses any. */
static void work(struct explorer *explorer, bool whole)
{
	while (explorer_idle(explorer) &&
	       !search_has_come_to(explorer, whole ? SEARCH_OVER : SEARCH_MORE)) {
	}
}

static int draw(struct asked *asked, const struct scenario *scenario)
{
	enum glyph_level glyphs = asked->format == FORMAT_SVG
					  ? GLYPHS_FULL
					  : environment_glyphs_written();
	bool colour = asked->theme.colour != COLOUR_NEVER &&
		      (asked->format == FORMAT_SVG ||
		       (asked->format == FORMAT_ANSI &&
			environment_wants_colour(COLOUR_AUTO)));
	struct explorer *explorer = malloc(sizeof *explorer);
	struct canvas canvas;
	char *text = NULL;

	if (explorer && explorer_init(explorer, scenario)) {
		if (import_is_kept(asked->report)) {
			explorer->kept = asked->report;
			asked->report = NULL;
		}
		explorer_say_start(explorer, &asked->start);
		if (asked->focus)
			knobs_focus(explorer, knob_find(asked->focus));
		if (asked->number)
			explorer_point_out(explorer, asked->number);
		explorer->view = (enum view_id)asked->view;
		explorer_update(explorer);
		work(explorer, asked->whole);
		if (canvas_init(&canvas, asked->width, asked->height, glyphs, colour)) {
			press(explorer, &canvas, asked->keys ? asked->keys : "");
			work(explorer, asked->whole);
			explorer_draw(explorer, &canvas);
			text = canvas.lacks ? NULL : write_canvas(asked, &canvas);
			canvas_free(&canvas);
		}
		explorer_free(explorer);
	}
	free(explorer);
	if (!text)
		return command_fail(&(struct error){ "" });
	fputs(text, stdout);
	free(text);
	return command_finish(STATUS_GOOD);
}

int command_screen(int argc, char **argv)
{
	struct asked asked = { .width = 80, .height = 24 };
	struct arguments arguments = { .context = &asked,
				       .operands = 1,
				       .operand = take_view,
				       .start = &asked.start };
	struct scenario scenario;
	int status;

	asked.report = arguments.report = calloc(1, sizeof *asked.report);
	if (!asked.report)
		return command_fail(&(struct error){ "" });
	if (options_read(command_find("screen"), &arguments, argc, argv, &scenario,
			 &status))
		status = draw(&asked, &scenario);
	free(asked.report);
	return status;
}
