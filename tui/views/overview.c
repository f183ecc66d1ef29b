/* overview.c - everything at a glance: memory, time, throughput, traffic, the strip
 * of the knob under the cursor, advice. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/views/page.h"

static void draw_memory(struct page *p)
{
	static const struct item items[] = {
		{ "weights", "weights_bytes", ROLE_WEIGHTS },
		{ "gradients", "gradients_bytes", ROLE_GRADIENTS },
		{ "optimizer", "optimizer_bytes", ROLE_OPTIMIZER },
		{ "activations", "activations_bytes", ROLE_ACTIVATIONS },
		{ "buffers", "buffers_bytes", ROLE_BUFFERS },
		{ "framework", "framework_bytes", ROLE_FRAMEWORK },
	};
	const struct estimate *e = &p->explorer->estimate;
	const struct stage_memory *m = &e->memory;
	struct part part[MEMORY_PARTS];
	int parts = memory_parts(m, false, part);

	page_capacity(p);
	page_parts(p, part, parts,
		   fmax(e->capacity_bytes * 1.04, m->total_bytes * 1.02),
		   e->capacity_bytes);
	if (p->room == ROOM_COMPACT)
		page_legend(p, part, parts, 2);
	else
		page_grid(p, items, 6, page_columns(p) == 4 ? 3 : page_columns(p));
	page_gap(p);
}

/* Where four of five measured runs lie, in as many words as there is room for: half a
 * number would be another one. */
static void draw_range(struct page *p, int x)
{
	const struct estimate *e = &p->explorer->estimate;
	char low[32], high[32], text[4][128] = { "", "", "", "per step" };
	int room = p->rect.x + p->rect.width - x, i = 0;

	form_text(FORM_SECONDS, e->step_low_seconds, low, sizeof low);
	form_text(FORM_SECONDS, e->step_high_seconds, high, sizeof high);
	snprintf(text[0], sizeof text[0], "per step; %s to %s in four of five runs",
		 low, high);
	snprintf(text[1], sizeof text[1], "per step; %s to %s in 4 of 5 runs", low,
		 high);
	snprintf(text[2], sizeof text[2], "(%s to %s in 4 of 5 runs)", low, high);
	if (!(e->step_high_seconds > 0))
		i = 3;
	while (i < 3 && text_width(text[i]) > room)
		i++;
	canvas_text(p->canvas, x, p->y, room, ROLE_LABEL, text[i]);
}

static void draw_time(struct page *p)
{
	static const struct item items[] = {
		{ "compute", "compute_seconds", ROLE_DEFAULT },
		{ "recompute", "recompute_seconds", ROLE_DEFAULT },
		{ "exposed", "exposed_seconds", ROLE_DEFAULT },
		{ "bubble", "bubble_seconds", ROLE_DEFAULT },
		{ "bubble ratio", "bubble_ratio", ROLE_DEFAULT },
		{ "idle/ideal", "idle_to_ideal", ROLE_DEFAULT },
		{ "optimizer", "optimizer_seconds", ROLE_DEFAULT },
	};
	static const struct item few[] = {
		{ "bubble", "bubble_ratio", ROLE_DEFAULT },
		{ "idle/ideal", "idle_to_ideal", ROLE_DEFAULT },
	};
	int x = p->rect.x;

	x += canvas_text(p->canvas, x, p->y, 8, ROLE_TITLE, "TIME") + 3;
	x += draw_number(p->explorer, p->canvas, x, p->y, 24, "", "step_seconds") + 1;
	draw_range(p, x);
	p->y++;
	page_time_bar(p);
	if (p->room == ROOM_COMPACT)
		page_flow(p, few, 2);
	else
		page_grid(p, items, 7, page_columns(p));
	page_gap(p);
}

/* Where there is room for a line or two. */
static void draw_run_line(struct page *p, const char *tokens)
{
	static const struct item two[] = {
		{ "per GPU", "tokens_per_second_per_gpu", ROLE_DEFAULT },
		{ "MFU", "mfu", ROLE_DEFAULT },
		{ "TFLOP/s", "tflops_per_gpu", ROLE_DEFAULT },
	};
	int x = p->rect.x;

	page_flow(p, two, 3);
	x += canvas_format(p->canvas, x, p->y, 20, ROLE_LABEL, "%s tokens:", tokens) +
	     1;
	x += draw_number(p->explorer, p->canvas, x, p->y, 22, "", "run_seconds") + 2;
	draw_number(p->explorer, p->canvas, x, p->y, p->rect.x + p->rect.width - x, "",
		    "run_dollars");
	p->y++;
}

static void draw_throughput(struct page *p)
{
	static const struct item items[] = {
		{ "tokens/s", "tokens_per_second", ROLE_DEFAULT },
		{ "per GPU", "tokens_per_second_per_gpu", ROLE_DEFAULT },
		{ "TFLOP/s/GPU", "tflops_per_gpu", ROLE_DEFAULT },
		{ "MFU", "mfu", ROLE_DEFAULT },
		{ "HFU", "hfu", ROLE_DEFAULT },
		{ "tokens per step", "tokens_per_step", ROLE_DEFAULT },
	};
	static const struct item run[] = {
		{ "GPU-hours", "run_gpu_hours", ROLE_DEFAULT },
		{ "goodput", "goodput", ROLE_DEFAULT },
		{ "failures", "run_failures", ROLE_DEFAULT },
	};
	static const struct ranged costs[] = {
		{ "takes", "run_seconds", "run_seconds_low", "run_seconds_high" },
		{ "costs", "run_dollars", "run_dollars_low", "run_dollars_high" },
		{ "energy", "run_joules", "run_joules_low", "run_joules_high" },
		{ "CO2", "run_co2_grams", "run_co2_grams_low", "run_co2_grams_high" },
	};
	char tokens[32];
	int x;

	form_text(FORM_TOKENS, p->explorer->scenario.plan.tokens, tokens,
		  sizeof tokens);
	if (p->room == ROOM_COMPACT) {
		draw_run_line(p, tokens);
		return;
	}
	x = p->rect.x +
	    canvas_text(p->canvas, p->rect.x, p->y, 12, ROLE_TITLE, "THROUGHPUT") + 3;
	canvas_phrase(
		p->canvas, x, p->y++, p->rect.x + p->rect.width - x, ROLE_QUIET,
		p->rect.x + p->rect.width - x < 60
			? "MFU: useful share of the peak speed"
			: "MFU: useful share of the peak speed; HFU: recomputation "
			  "too");
	page_grid(p, items, 6, page_columns(p) == 4 ? 3 : page_columns(p));
	page_gap(p);
	p->y++;
	x = p->rect.x +
	    canvas_format(p->canvas, p->rect.x, p->y - 1, p->rect.width, ROLE_TITLE,
			  "RUN of %s tokens", tokens) +
	    3;
	draw_number(p->explorer, p->canvas, x, p->y - 1, p->rect.x + p->rect.width - x,
		    "per million tokens", "run_dollars_per_million_tokens");
	page_ranges(p, costs, 4);
	if (p->room == ROOM_RICH)
		page_grid(p, run, 3, 3);
	page_gap(p);
}

/* Rows that nothing else needs: each stage's memory and time side by side. */
void page_stages(struct page *p)
{
	const struct estimate *e = &p->explorer->estimate;
	const struct part key[] = { { 1, ROLE_COMPUTE, "busy" },
				    { 1, ROLE_TP, "exposed" },
				    { 1, ROLE_BUBBLE, "idle" },
				    { 1, ROLE_STEP, "optimizer" } };
	int rows = e->stages < 16 ? e->stages : 16, half = (p->rect.width - 6) / 2;

	if (p->room < ROOM_RICH || e->stages < 2 || page_left(p) < rows + 14)
		return;
	canvas_text(p->canvas, p->rect.x, p->y, 40, ROLE_TITLE, "STAGES");
	canvas_text(p->canvas, p->rect.x + 8, p->y, half, ROLE_LABEL, "memory");
	widget_legend(p->canvas, (struct rect){ p->rect.x + half + 7, p->y++, half, 1 },
		      key, 4);
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
		p->canvas->coarse = true;
		widget_stack(p->canvas,
			     (struct rect){ p->rect.x + 6, p->y, half - 2, 1 }, memory,
			     6, fmax(e->capacity_bytes, e->memory.total_bytes) * 1.02,
			     e->capacity_bytes);
		widget_stack(p->canvas,
			     (struct rect){ p->rect.x + half + 7, p->y, half, 1 }, time,
			     4, e->step_seconds, 0);
		p->canvas->coarse = false;
	}
	page_gap(p);
}

struct rect view_rest(const struct canvas *canvas, struct rect rect)
{
	int y = rect.y + rect.height;

	while (y > rect.y) {
		const struct cell *row =
			canvas->cell + (size_t)(y - 1) * (size_t)canvas->width + rect.x;
		int x = 0;

		while (x < rect.width && row[x].code == ' ')
			x++;
		if (x < rect.width)
			break;
		y--;
	}
	return (struct rect){ rect.x, y + 1, rect.width, rect.y + rect.height - y - 1 };
}

/* The strip, and advice below it. */
static void draw_few(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rest)
{
	struct page p = { explorer, canvas, rest, rest.y, ROOM_RICH };

	page_strip(&p,
		   page_tall_strip(
			   &p, rest.height < 14 ? 3 : explorer->advice.count + 1, 4));
	/* what a plan breaks stands above already, with what would fix it */
	if (!explorer->estimate.legal && explorer->view != VIEW_EXPLAIN)
		return;
	page_gap(&p);
	page_advice(&p);
}

static void draw_numbers(struct page *p)
{
	if (p->explorer->scenario.plan.mode == MODE_INFERENCE) {
		serving_numbers(p);
		return;
	}
	draw_memory(p);
	draw_time(p);
	draw_throughput(p);
	/* a view that shows it stands above */
	if (p->explorer->view == VIEW_TRAFFIC)
		p->y++;
	else
		page_traffic(p);
}

/* The numbers of a server stand in three columns, those of training in two too. */
enum room overview_room(const struct explorer *explorer, struct rect rect)
{
	int least = explorer->scenario.plan.mode == MODE_INFERENCE ? 60 : 56;

	if (rect.height >= 44 && rect.width >= 84)
		return ROOM_RICH;
	return rect.height >= 29 && rect.width >= least ? ROOM_COMFORTABLE
							: ROOM_COMPACT;
}

void overview_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	struct page p = { explorer, canvas, rect, rect.y,
			  overview_room(explorer, rect) };
	int strip;

	if (!explorer->estimate.legal) {
		page_illegal(&p);
		page_strip(&p, p.room == ROOM_RICH ? page_tall_strip(&p, 2, 6)
			       : page_left(&p) > 8 ? 6
						   : page_left(&p));
		return;
	}
	if (explorer->scenario.plan.mode == MODE_INFERENCE) {
		serving_overview(&p);
		return;
	}
	draw_numbers(&p);
	page_gap(&p);
	page_stages(&p);
	/* how much advice there is moves the strip where there is room to fill */
	strip = p.room == ROOM_RICH
			? page_tall_strip(&p, explorer->advice.count + 2, 10)
		: p.room == ROOM_COMFORTABLE ? page_tall_strip(&p, 4, 5)
					     : 4;
	if (page_left(&p) - strip < 2)
		strip = page_left(&p) - 2 > 3 ? page_left(&p) - 2 : 3;
	page_strip(&p, strip);
	page_gap(&p);
	page_advice(&p);
}

int overview_foot(const struct explorer *explorer, int height)
{
	if (explorer->overview_shown)
		return 0;
	return height / 3 < 7 ? 7 : height / 3 > 10 ? 10 : height / 3;
}

/* The last rows of the view, at most so many: what stands there stays there, however
 * much there is above it. */
static struct rect last_rows(struct rect rest, int most)
{
	if (rest.height > most) {
		rest.y += rest.height - most;
		rest.height = most;
	}
	return rest;
}

/* All of it in the rows that a high screen leaves. */
static void draw_under_heading(const struct explorer *explorer, struct canvas *canvas,
			       struct rect rest)
{
	widget_heading(canvas, rest.x, rest.y, rest.width, "overview");
	rest.y++;
	rest.height--;
	overview_draw(explorer, canvas, rest);
}

static void draw_compact(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rest)
{
	struct page p = { explorer, canvas, rest, rest.y + 1, ROOM_COMPACT };

	widget_heading(canvas, rest.x, rest.y, rest.width, "overview");
	draw_numbers(&p);
}

bool overview_beside(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect)
{
	struct rect rest = view_rest(canvas, rect);

	if (rest.height * 3 <= rect.height || !has_numbers(explorer) ||
	    explorer->overview_shown)
		return false;
	if (rest.height * 2 < rect.height) {
		draw_compact(explorer, canvas, rest);
		return false;
	}
	draw_under_heading(explorer, canvas, rest);
	return true;
}

enum { NUMBERS = 12, HIGH = 44 };

/* More under the map of a large machine and the rings of three groups or more, which
 * take most of what a slow line carries at once. */
static int rows_for_numbers(const struct explorer *explorer, struct rect rect)
{
	bool large = explorer->view == VIEW_TOPOLOGY &&
		     explorer->scenario.cluster.gpus > 128;

	return large && rect.height >= HIGH ? 22 : NUMBERS;
}

void overview_rest(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	enum { FEW = 5 };
	struct rect rest = view_rest(canvas, rect);
	int foot = overview_foot(explorer, rect.height);
	bool many = rest.height >= foot + rows_for_numbers(explorer, rect) &&
		    has_numbers(explorer);

	if (rest.height < FEW || explorer->overview_shown)
		return;
	/* a high screen is filled rather than kept still */
	if (rect.height >= HIGH && !many) {
		draw_few(explorer, canvas, rest);
		return;
	}
	if (rect.height >= HIGH) {
		draw_under_heading(explorer, canvas, rest);
		return;
	}
	if (many)
		draw_compact(explorer, canvas, last_rows(rest, foot + NUMBERS));
	draw_few(explorer, canvas, last_rows(rest, foot));
}
