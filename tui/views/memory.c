/* memory.c - what each pipeline stage holds at its peak, against capacity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/view.h"

enum { PARTS = 6 };

static const struct {
	const char *label, *field;
	enum role role;
} parts[PARTS] = {
	{ "weights", "weights_bytes", ROLE_WEIGHTS },
	{ "gradients", "gradients_bytes", ROLE_GRADIENTS },
	{ "optimizer", "optimizer_bytes", ROLE_OPTIMIZER },
	{ "activations", "activations_bytes", ROLE_ACTIVATIONS },
	{ "buffers", "buffers_bytes", ROLE_BUFFERS },
	{ "framework", "framework_bytes", ROLE_FRAMEWORK },
};

static void fill(const struct stage_memory *m, struct part part[PARTS])
{
	const double value[PARTS] = { m->weights_bytes,   m->gradients_bytes,
				      m->optimizer_bytes, m->activations_bytes,
				      m->buffers_bytes,   m->framework_bytes };

	for (int i = 0; i < PARTS; i++)
		part[i] = (struct part){ value[i], parts[i].role, parts[i].label };
}

static int chosen(const struct explorer *explorer)
{
	int stage = explorer->state[VIEW_MEMORY].cursor;
	int last = explorer->estimate.stages - 1;

	return stage < 0 ? 0 : stage > last ? last : stage;
}

static void draw_stage(const struct explorer *explorer, struct canvas *canvas,
		       struct rect line, int stage)
{
	const struct estimate *e = &explorer->estimate;
	const struct stage_memory *m = &e->stage[stage];
	struct part part[PARTS];
	char total[32];
	enum role role = m->total_bytes > e->capacity_bytes ? ROLE_BAD : ROLE_VALUE;

	fill(m, part);
	form_text(FORM_BYTES, m->total_bytes, total, sizeof total);
	canvas_format(canvas, line.x, line.y, 4, ROLE_LABEL, "%3d", stage);
	canvas_right(canvas, line.x + 4, line.y, 9, role, total);
	widget_stack(canvas,
		     (struct rect){ line.x + 15, line.y, line.width - 17, line.height },
		     part, PARTS, fmax(e->capacity_bytes, e->memory.total_bytes) * 1.03,
		     e->capacity_bytes);
	if (stage != chosen(explorer))
		return;
	canvas_highlight(canvas, (struct rect){ line.x, line.y, 14, 1 },
			 explorer->pane == PANE_VIEW ? ROLE_FOCUS : ROLE_DEFAULT, false,
			 true);
	if (explorer->pane == PANE_VIEW)
		canvas_cursor(canvas, line.x + 2, line.y);
}

/* The numbers of the chosen stage in a column or two. */
static void draw_detail(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	int stage = chosen(explorer);
	const struct stage_memory *m = &explorer->estimate.stage[stage];
	struct part part[PARTS];
	char text[128], count[32];
	int half = rect.width / 2;

	fill(m, part);
	for (int i = 0; i < PARTS; i++) {
		int x = rect.x + i % 2 * half, y = rect.y + i / 2;

		canvas_put(canvas, x, y,
			   canvas->colour ? canvas_glyph(canvas, GLYPH_FULL_BLOCK)
					  : (uint32_t)theme_style(parts[i].role)->fill,
			   parts[i].role);
		canvas_text(canvas, x + 2, y, half - 12, ROLE_LABEL, parts[i].label);
		form_text(FORM_BYTES, part[i].value, text, sizeof text);
		canvas_right(canvas, x + half - 10, y, 9, ROLE_VALUE, text);
	}
	form_text(FORM_COUNT, m->parameters, count, sizeof count);
	snprintf(text, sizeof text,
		 "stage %d: %g layers, %s parameters a rank, %.4g micro-batches in "
		 "flight",
		 stage, m->layers, count, m->in_flight);
	widget_prose(canvas, (struct rect){ rect.x, rect.y + 3, rect.width, 2 }, 0,
		     ROLE_LABEL, text);
}

void memory_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect)
{
	const struct estimate *e = &explorer->estimate;
	const struct view_state *state = &explorer->state[VIEW_MEMORY];
	char total[32], capacity[32], verdict[32] = "does not fit";
	int rows, first, tall;

	if (!e->legal) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	if (e->fits)
		fit_text(e, verdict, sizeof verdict);
	canvas_format(canvas, rect.x, rect.y, rect.width,
		      e->fits ? ROLE_GOOD : ROLE_BAD,
		      rect.width < 66 ? "%s of %s, %s; stage %d/%d"
				      : "%s of %s, %s: fullest is stage %d of %d",
		      total, capacity, verdict, e->fullest_stage, e->stages);
	canvas_text(canvas, rect.x, rect.y + 1, rect.width, ROLE_LABEL,
		    "stage    total   each part, and the limit");
	rows = rect.height - 8;
	tall = rows / e->stages > 3 ? 3 : rows / e->stages;
	if (tall < 1)
		tall = 1;
	first = scroll_first(state->first, chosen(explorer), e->stages, rows / tall);
	for (int i = 0; i < rows / tall && first + i < e->stages; i++)
		draw_stage(explorer, canvas,
			   (struct rect){ rect.x, rect.y + 2 + i * tall, rect.width,
					  tall > 1 ? tall - 1 : 1 },
			   first + i);
	if (tall == 1)
		widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y + 2, rows,
				 first, e->stages);
	draw_detail(explorer, canvas,
		    (struct rect){ rect.x, rect.y + rect.height - 5, rect.width, 5 });
}

unsigned memory_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_MEMORY];
	const struct estimate *e = &explorer->estimate;
	struct rect view = explorer->spots->view;
	int rows = view.height - 8, tall, moved;
	char key[MAX_KEY];

	if (!e->legal)
		return CHANGED_NOTHING;
	tall = rows / e->stages > 3 ? 3 : rows / e->stages < 1 ? 1 : rows / e->stages;
	if (action.kind == ACTION_ENTER) {
		snprintf(key, sizeof key, "stages.%d.total_bytes", chosen(explorer));
		return explorer_explain(explorer, key);
	}
	if (action.kind == ACTION_CLICK) {
		moved = state->first + (action.y - view.y - 2) / tall;
		if (action.y < view.y + 2 || moved >= e->stages)
			return CHANGED_NOTHING;
		state->cursor = moved;
		return CHANGED_SCREEN;
	}
	moved = scroll_move(chosen(explorer), e->stages, rows / tall, action.kind);
	if (moved == chosen(explorer) && action.kind != ACTION_UP &&
	    action.kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->cursor = moved;
	state->first = scroll_first(state->first, moved, e->stages, rows / tall);
	return CHANGED_SCREEN;
}
