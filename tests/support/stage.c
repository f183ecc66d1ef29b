/* stage.c - see stage.h. */
#include "tests/support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"

void stage_open(struct stage *stage, const char *plan, int width, int height)
{
	struct error error = { "" };
	struct scenario *scenario = malloc(sizeof *scenario);

	memset(stage, 0, sizeof *stage);
	assert_non_null(scenario);
	if (!(plan ? scenario_read(scenario, plan, NULL, &error)
		   : scenario_start(scenario, &error)))
		fail_msg("%s", error.text);
	assert_true(explorer_init(&stage->explorer, scenario));
	assert_true(canvas_init(&stage->canvas, width, height, GLYPHS_ASCII, false));
	free(scenario);
	explorer_draw(&stage->explorer, &stage->canvas);
}

void stage_serve(struct stage *stage, const char *model, const char *cluster,
		 const char *stack, const char *knobs)
{
	struct scenario *s = malloc(sizeof *s);
	struct error error = { "" };
	char key[40], value[40], why[200];
	int used;

	assert_non_null(s);
	if (!scenario_blank(s, model, cluster, stack, &error))
		fail_msg("%s", error.text);
	s->plan.mode = MODE_INFERENCE;
	for (; sscanf(knobs, " %39[^=]=%39s%n", key, value, &used) == 2; knobs += used)
		if (!knob_find(key) ||
		    !knob_parse(s, knob_find(key), value, why, sizeof why))
			fail_msg("%s %s: %s", key, value, why);
	explorer_change(&stage->explorer, s, "a server");
	stage->explorer.moved = false;
	explorer_update(&stage->explorer);
	explorer_draw(&stage->explorer, &stage->canvas);
	free(s);
}

void stage_close(struct stage *stage)
{
	explorer_free(&stage->explorer);
	canvas_free(&stage->canvas);
}

void stage_act(struct stage *stage, struct action action)
{
	unsigned changed = explorer_handle(&stage->explorer, action);

	if (changed & CHANGED_SCENARIO)
		explorer_update(&stage->explorer);
	if (changed & CHANGED_QUIT)
		stage->quit = true;
	explorer_draw(&stage->explorer, &stage->canvas);
}

void stage_key(struct stage *stage, int key)
{
	stage_act(stage, key_action(key, explorer_is_typing(&stage->explorer)));
}

void stage_type(struct stage *stage, const char *keys)
{
	for (; *keys != '\0'; keys++)
		stage_key(stage, (unsigned char)*keys);
}

char *stage_text(struct stage *stage)
{
	while (explorer_idle(&stage->explorer) &&
	       (stage->patient ||
		!search_has_come_to(&stage->explorer, SEARCH_FRONT))) {
	}
	explorer_draw(&stage->explorer, &stage->canvas);
	return canvas_to_text(&stage->canvas);
}

static void look(struct stage *stage, const char *text, bool wanted)
{
	char *screen = stage_text(stage);

	assert_non_null(screen);
	if ((strstr(screen, text) != NULL) != wanted) {
		/* cmocka cuts long messages */
		fprintf(stderr, "%s\n", screen);
		print_error("'%s' should %sbe there\n", text, wanted ? "" : "not ");
		free(screen);
		fail();
	}
	free(screen);
}

void stage_shows(struct stage *stage, const char *text)
{
	look(stage, text, true);
}

void stage_lacks(struct stage *stage, const char *text)
{
	look(stage, text, false);
}

void stage_shows_all(const char *plan, const char *keys, int width, int height,
		     const char *const *text)
{
	struct stage s;

	stage_open(&s, plan, width, height);
	stage_type(&s, keys);
	for (; *text; text++)
		stage_shows(&s, *text);
	stage_close(&s);
}
