/* overview.c - everything at a glance: memory, time, throughput, traffic, the strip
 * of the knob under the cursor, advice. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob.h"
#include "tui/view.h"

/* How much room there is: 80x24, 120x36, 200x60. */
enum room { ROOM_COMPACT, ROOM_COMFORTABLE, ROOM_RICH };

struct page {
	const struct explorer *explorer;
	struct canvas *canvas;
	struct rect rect;
	int y; /* next free row */
	enum room room;
};

struct item {
	const char *label, *key;
};

static int left(const struct page *p)
{
	return p->rect.y + p->rect.height - p->y;
}

static void gap(struct page *p)
{
	p->y += p->room > ROOM_COMPACT;
}

/* Numbers in columns that line up. */
static void grid(struct page *p, const struct item *item, int count, int columns)
{
	int width = p->rect.width / columns;

	for (int i = 0; i < count && left(p) > i / columns; i++) {
		int x = p->rect.x + i % columns * width;

		if (p->room == ROOM_COMPACT)
			draw_number(p->explorer, p->canvas, x, p->y + i / columns,
				    width - 1, item[i].label, item[i].key);
		else
			draw_number_row(
				p->explorer, p->canvas,
				(struct rect){ x, p->y + i / columns, width - 2, 1 },
				item[i].label, item[i].key);
	}
	p->y += (count + columns - 1) / columns;
}

/* Numbers one behind the other, as many as there is room for in a line. */
static void flow(struct page *p, const struct item *item, int count)
{
	int x = p->rect.x, end = p->rect.x + p->rect.width;

	for (int i = 0; i < count && x < end - 6; i++)
		x += draw_number(p->explorer, p->canvas, x, p->y, end - x,
				 item[i].label, item[i].key) +
		     2;
	p->y++;
}

static int columns_of(const struct page *p)
{
	return p->room == ROOM_RICH ? 4 : p->rect.width >= 78 ? 3 : 2;
}

static void draw_parts(struct page *p, const struct part *part, int count, double full,
		       double limit)
{
	int rows = p->room == ROOM_RICH ? 2 : 1;

	widget_stack(p->canvas, (struct rect){ p->rect.x, p->y, p->rect.width, rows },
		     part, count, full, limit);
	p->y += rows;
}

static void draw_legend(struct page *p, const struct part *part, int count, int rows)
{
	p->y += widget_legend(p->canvas,
			      (struct rect){ p->rect.x, p->y, p->rect.width, rows },
			      part, count);
}

/* "fits, 77 % sure  stage 0 of 4", as much of it as there is room for. */
static void draw_verdict(struct page *p, int x)
{
	const struct estimate *e = &p->explorer->estimate;
	int room = p->rect.x + p->rect.width - x;
	char text[64], chance[32], stage[32];

	fit_text(e, chance, sizeof chance);
	snprintf(stage, sizeof stage, "stage %d of %d", e->fullest_stage, e->stages);
	if (!e->fits)
		snprintf(text, sizeof text, "DOES NOT FIT");
	else
		snprintf(text, sizeof text, "%s",
			 text_width(chance) <= room ? chance : "fits");
	x += canvas_text(p->canvas, x, p->y, room, e->fits ? ROLE_GOOD : ROLE_BAD,
			 text) +
	     2;
	room -= text_width(text) + 2;
	if (e->stages > 1 && text_width(stage) <= room)
		canvas_text(p->canvas, x, p->y, room, ROLE_LABEL, stage);
}

static void draw_capacity(struct page *p)
{
	char capacity[32];
	int x = p->rect.x, number = p->rect.width - 26;

	form_text(FORM_BYTES, p->explorer->estimate.capacity_bytes, capacity,
		  sizeof capacity);
	x += canvas_text(p->canvas, x, p->y, 8, ROLE_TITLE, "MEMORY") + 1;
	x += draw_number(p->explorer, p->canvas, x, p->y, number < 10 ? 10 : number, "",
			 "total_bytes") +
	     1;
	/* whether it fits is more than what it has to fit */
	if (x + 28 <= p->rect.x + p->rect.width)
		x += canvas_format(p->canvas, x, p->y, 18, ROLE_LABEL, "of %s",
				   capacity) +
		     2;
	draw_verdict(p, x);
	p->y++;
}

static void draw_memory(struct page *p)
{
	static const struct item items[] = {
		{ "weights", "weights_bytes" },
		{ "gradients", "gradients_bytes" },
		{ "optimizer", "optimizer_bytes" },
		{ "activations", "activations_bytes" },
		{ "buffers", "buffers_bytes" },
		{ "framework", "framework_bytes" },
	};
	const struct estimate *e = &p->explorer->estimate;
	const struct stage_memory *m = &e->memory;
	struct part part[] = {
		{ m->weights_bytes, ROLE_WEIGHTS, "weights" },
		{ m->gradients_bytes, ROLE_GRADIENTS, "gradients" },
		{ m->optimizer_bytes, ROLE_OPTIMIZER, "optimizer" },
		{ m->activations_bytes, ROLE_ACTIVATIONS, "activations" },
		{ m->buffers_bytes, ROLE_BUFFERS, "buffers" },
		{ m->framework_bytes, ROLE_FRAMEWORK, "framework" },
	};
	draw_capacity(p);
	draw_parts(p, part, 6, fmax(e->capacity_bytes * 1.04, m->total_bytes * 1.02),
		   e->capacity_bytes);
	if (p->room == ROOM_COMPACT)
		draw_legend(p, part, 6, 2);
	else
		grid(p, items, 6, columns_of(p) == 4 ? 3 : columns_of(p));
	gap(p);
}

static void time_bar(struct page *p)
{
	const struct estimate *e = &p->explorer->estimate;
	struct part part[DIM_COUNT + 5];
	int count = 0;

	part[count++] = (struct part){ e->compute_seconds - e->recompute_seconds,
				       ROLE_COMPUTE, "compute" };
	part[count++] =
		(struct part){ e->recompute_seconds, ROLE_RECOMPUTE, "recompute" };
	for (int d = 0; d < DIM_COUNT; d++)
		part[count++] = (struct part){ e->cost[d].exposed_seconds,
					       dimension_role((enum dimension)d),
					       dimension_label((enum dimension)d) };
	part[count++] = (struct part){ e->bubble_seconds, ROLE_BUBBLE, "bubble" };
	part[count++] = (struct part){ e->optimizer_seconds, ROLE_STEP, "optimizer" };
	draw_parts(p, part, count, e->step_seconds, 0);
	draw_legend(p, part, count, p->room == ROOM_COMPACT ? 1 : 2);
}

static void draw_time(struct page *p)
{
	static const struct item items[] = {
		{ "compute", "compute_seconds" },
		{ "recompute", "recompute_seconds" },
		{ "exposed", "exposed_seconds" },
		{ "bubble", "bubble_seconds" },
		{ "bubble ratio", "bubble_ratio" },
		{ "idle/ideal", "idle_to_ideal" },
		{ "optimizer", "optimizer_seconds" },
	};
	static const struct item few[] = {
		{ "bubble", "bubble_ratio" },
		{ "idle/ideal", "idle_to_ideal" },
	};
	const struct estimate *e = &p->explorer->estimate;
	char low[32], high[32];
	int x = p->rect.x;

	x += canvas_text(p->canvas, x, p->y, 8, ROLE_TITLE, "TIME") + 3;
	x += draw_number(p->explorer, p->canvas, x, p->y, 24, "", "step_seconds") + 1;
	form_text(FORM_SECONDS, e->step_low_seconds, low, sizeof low);
	form_text(FORM_SECONDS, e->step_high_seconds, high, sizeof high);
	canvas_format(p->canvas, x, p->y, p->rect.x + p->rect.width - x, ROLE_LABEL,
		      e->step_high_seconds > 0 ? "a step, 80 %% in %s to %s" : "a step",
		      low, high);
	p->y++;
	time_bar(p);
	if (p->room == ROOM_COMPACT)
		flow(p, few, 2);
	else
		grid(p, items, 7, columns_of(p));
	gap(p);
}

static void draw_throughput(struct page *p)
{
	static const struct item items[] = {
		{ "tokens/s", "tokens_per_second" },
		{ "per GPU", "tokens_per_second_per_gpu" },
		{ "TFLOP/s/GPU", "tflops_per_gpu" },
		{ "MFU", "mfu" },
		{ "HFU", "hfu" },
		{ "tokens a step", "tokens_per_step" },
	};
	static const struct item run[] = {
		{ "takes", "run_seconds" },       { "costs", "run_dollars" },
		{ "energy", "run_joules" },       { "goodput", "goodput" },
		{ "GPU-hours", "run_gpu_hours" }, { "failures", "run_failures" },
	};
	char tokens[32];

	form_text(FORM_TOKENS, p->explorer->scenario.plan.tokens, tokens,
		  sizeof tokens);
	if (p->room == ROOM_COMPACT) {
		static const struct item two[] = {
			{ "per GPU", "tokens_per_second_per_gpu" },
			{ "MFU", "mfu" },
			{ "TFLOP/s", "tflops_per_gpu" },
		};
		int x = p->rect.x;

		flow(p, two, 3);
		x += canvas_format(p->canvas, x, p->y, 20, ROLE_LABEL,
				   "%s tokens:", tokens) +
		     1;
		x += draw_number(p->explorer, p->canvas, x, p->y, 22, "",
				 "run_seconds") +
		     2;
		draw_number(p->explorer, p->canvas, x, p->y,
			    p->rect.x + p->rect.width - x, "", "run_dollars");
		p->y++;
		return;
	}
	canvas_text(p->canvas, p->rect.x, p->y++, 12, ROLE_TITLE, "THROUGHPUT");
	grid(p, items, 6, columns_of(p) == 4 ? 3 : columns_of(p));
	gap(p);
	canvas_format(p->canvas, p->rect.x, p->y++, p->rect.width, ROLE_TITLE,
		      "RUN of %s tokens", tokens);
	grid(p, run, p->room == ROOM_RICH ? 6 : 3, 3);
	gap(p);
}

static void draw_traffic(struct page *p)
{
	const struct estimate *e = &p->explorer->estimate;
	int x = p->rect.x + 8, end = p->rect.x + p->rect.width;

	canvas_text(p->canvas, p->rect.x, p->y, 8, ROLE_TITLE, "TRAFFIC");
	for (int d = 0; d < DIM_COUNT && x < end - 6; d++) {
		char key[32];

		if (e->cost[d].bytes <= 0)
			continue;
		snprintf(key, sizeof key, "%s.bytes", dimension_key((enum dimension)d));
		x += draw_number(p->explorer, p->canvas, x, p->y, end - x,
				 dimension_label((enum dimension)d), key) +
		     2;
	}
	if (x == p->rect.x + 8)
		canvas_text(p->canvas, x, p->y, end - x, ROLE_LABEL,
			    "none: one GPU holds it all");
	p->y++;
}

static void strip_item(const struct explorer *explorer, int i, double best,
		       struct strip_item *out)
{
	const struct whatif_value *v = &explorer->strip.item[i];
	char label[64];

	knob_print_value(&knob_table[explorer->strip_knob], v->value, label,
			 sizeof label);
	snprintf(out->label, sizeof out->label, "%.15s", label);
	out->fraction = NAN;
	out->bar = ROLE_COMPUTE;
	if (!v->legal) {
		snprintf(out->note, sizeof out->note, "no");
		out->role = ROLE_BORDER;
		return;
	}
	if (!v->fits) {
		snprintf(out->note, sizeof out->note, "OOM");
		out->role = ROLE_BAD;
		return;
	}
	snprintf(out->note, sizeof out->note, "%.0f", v->tokens_per_second_per_gpu);
	out->role = v->tokens_per_second_per_gpu >= best ? ROLE_GOOD : ROLE_VALUE;
	out->fraction = best > 0 ? v->tokens_per_second_per_gpu / best : 0;
	if (i == explorer->strip.present)
		out->bar = ROLE_FOCUS;
}

static void draw_strip(struct page *p, int rows)
{
	const struct explorer *explorer = p->explorer;
	const struct whatif *strip = &explorer->strip;
	struct strip_item item[MAX_VALUES];
	struct rect rect = { p->rect.x, p->y + 1, p->rect.width, rows - 1 };
	double best = 0;
	char title[96];

	if (explorer->strip_knob < 0 || strip->count == 0 || rows < 3)
		return;
	snprintf(title, sizeof title, "%s: tok/s/GPU at each value",
		 knob_table[explorer->strip_knob].key);
	widget_rule(p->canvas, p->rect.x, p->y, p->rect.width, title);
	for (int i = 0; i < strip->count; i++)
		if (strip->item[i].legal && strip->item[i].fits)
			best = fmax(best, strip->item[i].tokens_per_second_per_gpu);
	for (int i = 0; i < strip->count; i++)
		strip_item(explorer, i, best, &item[i]);
	widget_strip(p->canvas, rect, item, strip->count, strip->present);
	p->y += rows;
}

static void draw_finding(struct page *p, const struct finding *finding)
{
	enum role role =
		finding->rule->severity == SEVERITY_HINT ? ROLE_HINT : ROLE_WARNING;
	char text[320], key[MAX_KEY];
	struct rect rect = { p->rect.x + 2, p->y, p->rect.width - 2, 1 };
	int rows = p->room > ROOM_COMPACT && left(p) > 1 ? 2 : 1;

	finding_text(finding, text, sizeof text);
	canvas_put(p->canvas, p->rect.x, p->y, role == ROLE_HINT ? 'i' : '!', role);
	rect.height = rows;
	if (text_width(text) <= rect.width || rows == 1)
		rows = rect.height = 1;
	if (rows == 1)
		canvas_text(p->canvas, rect.x, rect.y, rect.width, ROLE_DEFAULT, text);
	else
		rows = widget_prose(p->canvas, rect, 0, ROLE_DEFAULT, text) > 1 ? 2 : 1;
	if (finding->knob) {
		snprintf(key, sizeof key, "%s#%s", finding->knob, finding->rule->code);
		add_spot(p->explorer, p->canvas, SPOT_KNOB,
			 (struct rect){ p->rect.x, p->y, p->rect.width, rows }, key, 0);
	}
	p->y += rows;
}

/* Why no number of this model is exact. */
static void draw_approximate(struct page *p)
{
	const char *why = p->explorer->scenario.model.approximate;
	struct rect rect = { p->rect.x, p->y, p->rect.width, 2 };
	char text[MAX_NOTE + 32];

	if (why[0] == '\0' || left(p) < 1)
		return;
	if (p->room == ROOM_COMPACT || left(p) < 3)
		rect.height = 1;
	snprintf(text, sizeof text, "~ approximate: %s", why);
	p->y += widget_prose(p->canvas, rect, 0, ROLE_WARNING, text) > 1 ? rect.height
									 : 1;
}

static void draw_advice(struct page *p)
{
	const struct findings *problems = &p->explorer->estimate.problems,
			      *advice = &p->explorer->advice;

	draw_approximate(p);
	for (int i = 0; i < problems->count && left(p) > 0; i++)
		draw_finding(p, &problems->item[i]);
	for (int i = 0; i < advice->count && left(p) > 0; i++)
		draw_finding(p, &advice->item[i]);
}

/* Rows that nothing else needs: each stage's memory and time side by side. */
static void draw_stages(struct page *p)
{
	const struct estimate *e = &p->explorer->estimate;
	int rows = e->stages < 16 ? e->stages : 16, half = (p->rect.width - 6) / 2;

	if (p->room < ROOM_RICH || e->stages < 2 || left(p) < rows + 14)
		return;
	canvas_text(p->canvas, p->rect.x, p->y, 40, ROLE_TITLE, "STAGES");
	canvas_text(p->canvas, p->rect.x + 8, p->y, half, ROLE_LABEL, "memory");
	canvas_text(p->canvas, p->rect.x + half + 7, p->y++, half, ROLE_LABEL,
		    "busy, exposed, idle, optimizer");
	for (int i = 0; i < rows; i++, p->y++) {
		const struct stage_memory *m = &e->stage[i];
		const struct stage_time *t = &e->stage_time[i];
		struct part memory[] = {
			{ m->weights_bytes, ROLE_WEIGHTS, NULL },
			{ m->gradients_bytes, ROLE_GRADIENTS, NULL },
			{ m->optimizer_bytes, ROLE_OPTIMIZER, NULL },
			{ m->activations_bytes, ROLE_ACTIVATIONS, NULL },
			{ m->buffers_bytes, ROLE_BUFFERS, NULL },
			{ m->framework_bytes, ROLE_FRAMEWORK, NULL },
		};
		struct part time[] = {
			{ t->busy_seconds, ROLE_COMPUTE, NULL },
			{ t->exposed_seconds, ROLE_TP, NULL },
			{ t->idle_seconds, ROLE_BUBBLE, NULL },
			{ t->optimizer_seconds, ROLE_STEP, NULL },
		};

		canvas_format(p->canvas, p->rect.x, p->y, 6, ROLE_LABEL, "%5d", i);
		widget_stack(p->canvas,
			     (struct rect){ p->rect.x + 6, p->y, half - 2, 1 }, memory,
			     6, fmax(e->capacity_bytes, e->memory.total_bytes) * 1.02,
			     e->capacity_bytes);
		widget_stack(p->canvas,
			     (struct rect){ p->rect.x + half + 7, p->y, half, 1 }, time,
			     4, e->step_seconds, 0);
	}
	gap(p);
}

static void draw_illegal(struct page *p)
{
	struct rect rect;

	canvas_text(p->canvas, p->rect.x, p->y, p->rect.width, ROLE_BAD,
		    "THIS PLAN CAN'T RUN");
	p->y += 2;
	rect = (struct rect){ p->rect.x, p->y, p->rect.width, left(p) - 6 };
	p->y += draw_problems(p->explorer, p->canvas, rect) + 1;
}

void overview_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	struct page p = { explorer, canvas, rect, rect.y, ROOM_COMPACT };
	int strip;

	if (rect.height >= 44 && rect.width >= 120)
		p.room = ROOM_RICH;
	else if (rect.height >= 29 && rect.width >= 60)
		p.room = ROOM_COMFORTABLE;
	explorer->spots->strip = rect;
	if (!explorer->estimate.legal) {
		draw_illegal(&p);
		draw_strip(&p, left(&p) > 8 ? 6 : left(&p));
		return;
	}
	draw_memory(&p);
	draw_time(&p);
	draw_throughput(&p);
	draw_traffic(&p);
	gap(&p);
	draw_stages(&p);
	strip = p.room == ROOM_RICH ? 10 : p.room == ROOM_COMFORTABLE ? 6 : 4;
	if (left(&p) - strip < 2)
		strip = left(&p) - 2 > 3 ? left(&p) - 2 : 3;
	draw_strip(&p, strip);
	gap(&p);
	draw_advice(&p);
}
