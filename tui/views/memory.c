/* memory.c - what each pipeline stage holds at its peak, against capacity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "engine/train/train.h"
#include "tui/view.h"

static bool serves(const struct explorer *explorer)
{
	return explorer->scenario.plan.mode == MODE_INFERENCE;
}

int memory_parts(const struct stage_memory *m, bool serves,
		 struct part part[MEMORY_PARTS])
{
	const struct {
		struct part part;
		bool trains, serves;
	} all[] = {
		{ { m->weights_bytes, ROLE_WEIGHTS, "weights" }, true, true },
		{ { m->gradients_bytes, ROLE_GRADIENTS, "gradients" }, true, false },
		{ { m->optimizer_bytes, ROLE_OPTIMIZER, "optimizer" }, true, false },
		{ { m->activations_bytes, ROLE_ACTIVATIONS, "activations" },
		  true,
		  true },
		{ { m->buffers_bytes, ROLE_BUFFERS, "buffers" }, true, true },
		{ { m->framework_bytes, ROLE_FRAMEWORK, "framework" }, true, true },
		{ { m->kv_bytes, ROLE_KV, "KV cache" }, false, true },
	};
	int count = 0;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (serves ? all[i].serves : all[i].trains)
			part[count++] = all[i].part;
	return count;
}

static int chosen(const struct explorer *explorer)
{
	int stage = explorer->state[VIEW_MEMORY].cursor;
	int last = explorer->estimate.stages - 1;

	if (stage > last)
		stage = last;
	return stage < 0 ? 0 : stage;
}

/* The unit is that of the row above: only the number is lit. */
static void draw_bytes(struct canvas *canvas, int x, int y, int width, double bytes,
		       enum role role)
{
	char text[32], *unit;

	form_text(FORM_BYTES, bytes, text, sizeof text);
	unit = strchr(text, ' ');
	if (!unit) {
		canvas_right(canvas, x, y, width, role, text);
		return;
	}
	canvas_right(canvas, x, y, width, ROLE_LABEL, unit);
	width -= text_width(unit);
	*unit = '\0';
	canvas_right(canvas, x, y, width, role, text);
}

static void draw_stage(const struct explorer *explorer, struct canvas *canvas,
		       struct rect line, int stage)
{
	const struct estimate *e = &explorer->estimate;
	const struct stage_memory *m = &e->stage[stage];
	struct part part[MEMORY_PARTS];
	int count;
	enum role role = m->total_bytes > e->capacity_bytes ? ROLE_BAD : ROLE_VALUE;

	count = memory_parts(m, serves(explorer), part);
	/* named once: the same word in every row would hide the shape */
	for (int i = 0; i < count && stage != chosen(explorer); i++)
		part[i].label = NULL;
	canvas_format(canvas, line.x, line.y, 4, ROLE_LABEL, "%3d", stage);
	draw_bytes(canvas, line.x + 4, line.y, 9, m->total_bytes, role);
	canvas->coarse = true;
	widget_stack(canvas,
		     (struct rect){ line.x + 15, line.y, line.width - 17, line.height },
		     part, count, fmax(e->capacity_bytes, e->memory.total_bytes) * 1.03,
		     e->capacity_bytes);
	canvas->coarse = false;
	if (stage != chosen(explorer))
		return;
	canvas_highlight(canvas, (struct rect){ line.x, line.y, 14, 1 },
			 explorer->pane == PANE_VIEW ? ROLE_FOCUS : ROLE_DEFAULT, false,
			 true);
	if (explorer->pane == PANE_VIEW)
		canvas_cursor(canvas, line.x + 2, line.y);
}

/* Of two columns of numbers, near enough to their labels to be read with them. */
static int half_of(int width)
{
	enum { WIDEST = 50 };

	return width / 2 < WIDEST ? width / 2 : WIDEST;
}

/* What a server's cache is for; three lines. */
static void draw_cache(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect)
{
	static const struct {
		const char *label, *key, *brief;
	} items[] = {
		{ "headroom", "headroom_bytes", NULL },
		{ "KV per token", "kv_bytes_per_token", NULL },
		{ "tokens in the cache", "kv_tokens", "cache, tokens" },
		{ "room for requests", "max_concurrency", "most requests" },
		{ "running", "running", NULL },
		{ "waiting", "waiting", NULL },
	};
	int count = (int)(sizeof items / sizeof items[0]), half = half_of(rect.width);

	for (int i = 0; i < count; i++) {
		const struct metric *metric = metric_find(items[i].key);
		int x = rect.x + i % 2 * half, y = rect.y + i / 2;
		char value[32], change[32];
		enum role role;
		const char *label = items[i].label;

		if (items[i].brief && text_width(label) > half - 12)
			label = items[i].brief;
		form_text(metric->form, metric_get(&explorer->estimate, metric), value,
			  sizeof value);
		change_text(explorer, items[i].key, change, sizeof change, &role);
		canvas_text(canvas, x + 2, y, half - 12, ROLE_LABEL, label);
		canvas_right(canvas, x + half - 10, y, 9, ROLE_VALUE, value);
		if (half > 38)
			canvas_right(canvas, x + half - 20, y, 9, role, change);
	}
}

/* "; 98.4 GiB on the host, of 171 GiB" */
static void say_host(const struct estimate *e, const struct stage_memory *m, char *out,
		     size_t size)
{
	double bytes = train_host_bytes(m);
	char sent[32], room[32] = "an unknown size";

	if (bytes <= 0)
		return;
	form_text(FORM_BYTES, bytes, sent, sizeof sent);
	if (e->host_capacity_bytes > 0)
		form_text(FORM_BYTES, e->host_capacity_bytes, room, sizeof room);
	snprintf(out, size, "; host %s of %s", sent, room);
}

static void note_text(const struct explorer *explorer, char *text, size_t size)
{
	int stage = chosen(explorer);
	const struct estimate *e = &explorer->estimate;
	const struct stage_memory *m = &e->stage[stage];
	struct serve_pool pool[2];
	int64_t copies = explorer->scenario.plan.serving.dp_attention;
	char count[32];
	int used;

	form_text(FORM_COUNT, m->parameters, count, sizeof count);
	if (serves(explorer) && serve_pools(&explorer->scenario, pool) > 0)
		snprintf(text, size,
			 "stage %d: %g layer%s, %s parameters per rank; %lld engine%s "
			 "of %lld GPU%s, %.4g requests %s",
			 stage, m->layers, m->layers == 1 ? "" : "s", count,
			 (long long)pool[0].engines, pool[0].engines == 1 ? "" : "s",
			 (long long)pool[0].engine, pool[0].engine == 1 ? "" : "s",
			 m->in_flight, copies > 1 ? "per copy of attention" : "each");
	else {
		used = snprintf(text, size,
				"stage %d: %g layer%s, %s parameters per rank, %.4g "
				"micro-batch%s in flight",
				stage, m->layers, m->layers == 1 ? "" : "s", count,
				m->in_flight, m->in_flight == 1 ? "" : "es");
		say_host(e, m, text + used, size - (size_t)used);
	}
}

static int note_rows(const struct explorer *explorer, int width)
{
	char text[256];

	note_text(explorer, text, sizeof text);
	return text_width(text) > width ? 2 : 1;
}

/* Which stage it is, and its numbers in a column or two: those of the fullest, which
 * stands above, are others. */
static void draw_detail(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	const struct stage_memory *m = &explorer->estimate.stage[chosen(explorer)];
	struct part part[MEMORY_PARTS];
	char text[256];
	int half = half_of(rect.width), count = memory_parts(m, serves(explorer), part);
	int rows = note_rows(explorer, rect.width);

	note_text(explorer, text, sizeof text);
	widget_prose(canvas, (struct rect){ rect.x, rect.y, rect.width, rows }, 0,
		     ROLE_LABEL, text);
	rect.y += rows;
	for (int i = 0; i < count; i++) {
		int x = rect.x + i % 2 * half, y = rect.y + i / 2;

		widget_key(canvas, x, y, part[i].role);
		canvas_text(canvas, x + 2, y, half - 12, ROLE_LABEL, part[i].label);
		form_text(FORM_BYTES, part[i].value, text, sizeof text);
		canvas_right(canvas, x + half - 10, y, 9, ROLE_VALUE, text);
	}
	rect.y += 3;
	if (serves(explorer))
		draw_cache(explorer, canvas, rect);
}

/* Rows of the numbers and of the lines around them, above the stages. */
static int above(const struct explorer *explorer, int width)
{
	return (serves(explorer) ? 8 : 5) + note_rows(explorer, width);
}

/* Rows for the stages: what the strip at the foot leaves, and its too where they would
 * not all be in sight. */
static int stages_height(const struct explorer *explorer, struct rect rect)
{
	int all = rect.height - above(explorer, rect.width);
	int rows = all - overview_foot(explorer, rect.height) - 1;

	return rows < explorer->estimate.stages ? all : rows;
}

/* Rows of a stage: the more room, the taller its bar. */
static int stage_rows(const struct explorer *explorer, struct rect rect)
{
	int rows = stages_height(explorer, rect) / explorer->estimate.stages;

	/* a blank row below each bar is worth no bar of one row */
	return rows > 8 ? 8 : rows < 3 ? 1 : rows;
}

/* "45.0 GiB of 79.1 GiB, fits, 99 % sure: fullest is stage 0 of 4" */
static void draw_verdict(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect)
{
	const struct estimate *e = &explorer->estimate;
	char total[32], capacity[32], stage[48] = "", verdict[64] = "does not fit";
	int room;

	form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	if (e->stages > 1)
		snprintf(stage, sizeof stage,
			 rect.width < 66 ? "; stage %d/%d"
					 : ": fullest is stage %d of %d",
			 e->fullest_stage, e->stages);
	room = rect.width - text_width(total) - text_width(capacity) - 6 -
	       text_width(stage);
	if (!e->fits && !estimate_is_too_large(e))
		snprintf(verdict, sizeof verdict, "host is too small");
	if (e->fits || e->unsure)
		fit_text(explorer, room, verdict, sizeof verdict);
	canvas_format(canvas, rect.x, rect.y, rect.width, fit_role(e), "%s of %s, %s%s",
		      total, capacity, verdict, stage);
}

void memory_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect)
{
	const struct estimate *e = &explorer->estimate;
	const struct view_state *state = &explorer->state[VIEW_MEMORY];
	int rows, first, tall, shown, top = rect.y + above(explorer, rect.width);

	if (!e->legal) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	draw_verdict(explorer, canvas, rect);
	draw_detail(explorer, canvas,
		    (struct rect){ rect.x, rect.y + 1, rect.width, top - rect.y - 2 });
	canvas_text(canvas, rect.x, top - 1, rect.width, ROLE_LABEL,
		    "stage    total   each part, and the limit");
	rows = stages_height(explorer, rect);
	tall = stage_rows(explorer, rect);
	shown = rows / tall < e->stages ? rows / tall : e->stages;
	first = scroll_first(state->first, chosen(explorer), e->stages, rows / tall);
	for (int i = 0; i < shown; i++)
		draw_stage(explorer, canvas,
			   (struct rect){ rect.x, top + i * tall, rect.width,
					  tall > 1 ? tall - 1 : 1 },
			   first + i);
	if (tall == 1)
		widget_scrollbar(canvas, rect.x + rect.width - 1, top, rows, first,
				 e->stages);
}

unsigned memory_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_MEMORY];
	const struct estimate *e = &explorer->estimate;
	struct rect view = explorer->spots->view;
	int top, rows, tall, moved;
	char key[MAX_KEY];

	if (!e->legal)
		return CHANGED_NOTHING;
	top = view.y + above(explorer, view.width);
	rows = stages_height(explorer, view);
	tall = stage_rows(explorer, view);
	if (action.kind == ACTION_ENTER) {
		snprintf(key, sizeof key, "stages.%d.total_bytes", chosen(explorer));
		return explorer_explain(explorer, key);
	}
	if (action.kind == ACTION_CLICK) {
		state->first = scroll_first(state->first, chosen(explorer), e->stages,
					    rows / tall);
		moved = state->first + (action.y - top) / tall;
		if (action.y < top || action.y >= top + rows || moved >= e->stages)
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
