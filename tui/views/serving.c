/* serving.c - mode inference at a glance: memory, latency, throughput, and the curve of
 * one against the other over the requests in flight. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/explorer/load.h"
#include "tui/views/page.h"

static void draw_memory(struct page *p)
{
	static const struct item items[] = {
		{ "weights", "weights_bytes", ROLE_WEIGHTS },
		{ "KV cache", "kv_bytes", ROLE_KV },
		{ "buffers", "buffers_bytes", ROLE_BUFFERS },
		{ "activations", "activations_bytes", ROLE_ACTIVATIONS },
		{ "framework", "framework_bytes", ROLE_FRAMEWORK },
		{ "headroom", "headroom_bytes", ROLE_DEFAULT },
	};
	const struct estimate *e = &p->explorer->estimate;
	struct part part[MEMORY_PARTS];
	int count = memory_parts(&e->memory, true, part);
	double full = fmax(e->capacity_bytes * 1.04, e->memory.total_bytes * 1.02);

	page_capacity(p);
	page_parts(p, part, count, full, e->capacity_bytes);
	if (p->room == ROOM_COMPACT)
		page_short_legend(p, part, count, full);
	else
		page_grid(p, items, 6, 3);
	page_gap(p);
}

/* "TTFT 312 ms  208 to 468 ms"; half a range would be another one. */
static int draw_range(struct page *p, int x, const char *label, const char *key,
		      double low, double high)
{
	char from[32], to[32], range[80], *unit;
	int room = p->rect.x + p->rect.width - x;
	int used = draw_number(p->explorer, p->canvas, x, p->y, room, label, key);

	/* a queue that grows for ever */
	if (!isfinite(high))
		return used + 1 +
		       canvas_text(p->canvas, x + used + 1, p->y, 11, ROLE_BAD,
				   "without end") +
		       2;
	if (p->room == ROOM_COMPACT)
		return used + 2;
	form_text(FORM_SECONDS, low, from, sizeof from);
	form_text(FORM_SECONDS, high, to, sizeof to);
	unit = strrchr(from, ' ');
	if (unit && strrchr(to, ' ') && strcmp(unit, strrchr(to, ' ')) == 0)
		*unit = '\0';
	snprintf(range, sizeof range, "%s to %s", from, to);
	room -= used + 1;
	if (text_width(range) > room)
		return used + 2;
	return used + 1 +
	       canvas_text(p->canvas, x + used + 1, p->y, room, ROLE_QUIET, range) + 3;
}

/* What one decode pass of all requests is spent on. */
static void pass_bar(struct page *p)
{
	const struct serving_estimate *v = &p->explorer->estimate.serving;
	struct part part[] = {
		{ v->compute_seconds, ROLE_COMPUTE, "compute" },
		{ v->memory_seconds, ROLE_RECOMPUTE, "memory" },
		{ v->network_seconds, ROLE_TP, "network" },
		{ v->overhead_seconds, ROLE_BUBBLE, "overhead" },
	};

	char bound[48];

	page_parts(p, part, 4, v->decode_seconds, 0);
	if (p->room == ROOM_COMPACT) {
		page_short_legend(p, part, 4, v->decode_seconds);
		return;
	}
	page_legend(p, part, 4, 1);
	snprintf(bound, sizeof bound, "bound by %s", bound_label((enum bound)v->bound));
	canvas_right(p->canvas, p->rect.x, p->y - 1, p->rect.width - 2, ROLE_VALUE,
		     bound);
}

/* "TTFT 2.31 s, mean 860 ms", in the colour of its goal. The mean of fewer requests
 * than the line above is over would be another one. */
static int draw_percentile(struct page *p, int x, const char *label,
			   const struct queue_times *times, bool mean, double goal)
{
	bool late = goal > 0 && times->p99 > goal;
	enum role role = late ? ROLE_BAD : goal > 0 ? ROLE_GOOD : ROLE_VALUE;
	int end = p->rect.x + p->rect.width, used;
	char text[32];

	form_text(FORM_SECONDS, times->p99, text, sizeof text);
	used = canvas_format(p->canvas, x, p->y, end - x, ROLE_LABEL, "%s ", label);
	used += canvas_format(p->canvas, x + used, p->y, end - x - used, role, "%s%s",
			      text, late ? " late" : "");
	form_text(FORM_SECONDS, times->mean, text, sizeof text);
	if (mean)
		used += canvas_format(p->canvas, x + used, p->y, end - x - used,
				      ROLE_QUIET, ", mean %s", text);
	return used + 2;
}

/* "P99 2.31 s! 40.2 ms" beside the means, which have the names, with what is late; what
 * bounds a pass where nothing is known of it. */
static void draw_short_tail(struct page *p, int x)
{
	const struct serving_plan *v = &p->explorer->scenario.plan.serving;
	const struct serve_tail *tail = load_tail(p->explorer);
	const double goal[] = { v->goal_ttft_seconds, v->goal_tpot_seconds };
	int end = p->rect.x + p->rect.width;

	if (!tail) {
		canvas_format(
			p->canvas, x, p->y, end - x, ROLE_LABEL, "bound by %s",
			bound_label((enum bound)p->explorer->estimate.serving.bound));
		return;
	}
	x += canvas_text(p->canvas, x, p->y, end - x, ROLE_TITLE, "P99");
	for (int i = 0; i < 2; i++) {
		double p99 = i ? tail->result.tpot.p99 : tail->result.ttft.p99;
		bool late = goal[i] > 0 && p99 > goal[i];
		char text[32];

		form_text(FORM_SECONDS, p99, text, sizeof text);
		x += 1 + canvas_format(p->canvas, x + 1, p->y, end - x - 1,
				       late          ? ROLE_BAD
				       : goal[i] > 0 ? ROLE_GOOD
						     : ROLE_VALUE,
				       "%s%s", text, late ? "!" : "");
	}
}

/* What this line is over: "simulated, 3 of each user". */
static void draw_simulated(struct page *p, int x, int end, double each)
{
	char text[48] = "simulated";

	if (each > 0)
		snprintf(text, sizeof text, "simulated, %.0f of each user", each);
	if (x + text_width(text) > end)
		snprintf(text, sizeof text, "simulated");
	if (x + text_width(text) <= end)
		canvas_text(p->canvas, x, p->y, end - x, ROLE_QUIET, text);
}

/* What one request in a hundred waits, by a short simulation. */
static void draw_tail(struct page *p)
{
	const struct serving_plan *v = &p->explorer->scenario.plan.serving;
	bool goals = v->goal_ttft_seconds > 0 || v->goal_tpot_seconds > 0;
	int x = p->rect.x, end = p->rect.x + p->rect.width;
	const struct serve_tail *tail = load_tail(p->explorer);
	bool mean = tail && tail->as_many;
	char share[32];

	x += canvas_text(p->canvas, x, p->y, 8, ROLE_TITLE, "P99") + 6;
	if (!tail) {
		canvas_text(p->canvas, x, p->y++, end - x, ROLE_QUIET,
			    "too many in flight for a key press: eval --simulate");
		return;
	}
	x += draw_percentile(p, x, "TTFT", &tail->result.ttft, mean,
			     v->goal_ttft_seconds);
	x += draw_percentile(p, x, "TPOT", &tail->result.tpot, mean,
			     v->goal_tpot_seconds);
	form_text(FORM_PERCENT, tail->result.within_goals, share, sizeof share);
	if (goals)
		x += canvas_format(p->canvas, x, p->y, end - x, ROLE_QUIET, "%s good",
				   share) +
		     2;
	draw_simulated(p, x, end, tail->each);
	p->y++;
}

static void draw_latency(struct page *p)
{
	static const struct item items[] = {
		{ "prefill", "prefill_seconds", ROLE_DEFAULT },
		{ "decode pass", "decode_seconds", ROLE_DEFAULT },
		{ "mixed pass", "mixed_seconds", ROLE_DEFAULT },
		{ "per request", "request_seconds", ROLE_DEFAULT },
		{ "prefill share", "prefill_share", ROLE_DEFAULT },
		{ "waiting", "waiting", ROLE_DEFAULT },
	};
	const struct serving_estimate *v = &p->explorer->estimate.serving;
	int x = p->rect.x;

	if (p->room > ROOM_COMPACT)
		x += canvas_text(p->canvas, x, p->y, 8, ROLE_TITLE, "LATENCY") + 2;
	x += draw_range(p, x, "TTFT", "ttft_seconds", v->ttft_low_seconds,
			v->ttft_high_seconds);
	x += draw_range(p, x, "TPOT", "tpot_seconds", v->tpot_low_seconds,
			v->tpot_high_seconds);
	if (p->room == ROOM_COMPACT)
		draw_short_tail(p, x);
	p->y++;
	if (p->room > ROOM_COMPACT)
		draw_tail(p);
	pass_bar(p);
	if (p->room == ROOM_RICH)
		page_grid(p, items, 6, 3);
	page_gap(p);
}

static void draw_throughput(struct page *p)
{
	static const struct item items[] = {
		{ "output", "output_tokens_per_second", ROLE_DEFAULT },
		{ "per GPU", "output_tokens_per_second_per_gpu", ROLE_DEFAULT },
		{ "per user", "output_tokens_per_second_per_user", ROLE_DEFAULT },
		{ "goodput", "goodput_tokens_per_second", ROLE_DEFAULT },
		{ "running", "running", ROLE_DEFAULT },
		{ "waiting", "waiting", ROLE_DEFAULT },
		{ "cost/M tokens", "dollars_per_million_tokens", ROLE_DEFAULT },
		{ "J/token", "joules_per_token", ROLE_DEFAULT },
		{ "requests/s", "requests_per_second", ROLE_DEFAULT },
	};
	static const struct item few[] = {
		{ "out", "output_tokens_per_second", ROLE_DEFAULT },
		{ "/GPU", "output_tokens_per_second_per_gpu", ROLE_DEFAULT },
		{ "/user", "output_tokens_per_second_per_user", ROLE_DEFAULT },
	};
	static const struct item money[] = {
		{ "running", "running", ROLE_DEFAULT },
		{ "goodput", "goodput_tokens_per_second", ROLE_DEFAULT },
		{ "1M", "dollars_per_million_tokens", ROLE_DEFAULT },
		{ "J/tok", "joules_per_token", ROLE_DEFAULT },
	};

	const struct serving_estimate *v = &p->explorer->estimate.serving;
	char low[32], high[32];

	if (p->room == ROOM_COMPACT) {
		page_flow(p, few, 3);
		page_flow(p, money, 4);
		return;
	}
	canvas_text(p->canvas, p->rect.x, p->y, 12, ROLE_TITLE, "THROUGHPUT");
	form_text(FORM_RATE, v->output_low, low, sizeof low);
	form_text(FORM_RATE, v->output_high, high, sizeof high);
	canvas_format(p->canvas, p->rect.x + 12, p->y++, p->rect.width - 12, ROLE_QUIET,
		      "output of %s to %s in four of five runs", low, high);
	page_grid(p, items, 9, 3);
	page_traffic(p);
	page_gap(p);
}

/* Requests of a mark as "64" or "1.2 k". */
static int legend_mark(const struct plot *plot, int x, int y, char mark, enum role role,
		       const char *what, double requests)
{
	char count[32];
	int end = plot->area.x + plot->area.width, used = 1;

	if (x + 8 >= end)
		return 0;
	form_text(FORM_COUNT, round(requests), count, sizeof count);
	canvas_put(plot->canvas, x, y, (uint32_t)mark, role);
	used += canvas_format(plot->canvas, x + 1, y, end - x - 1, ROLE_LABEL, " %s %s",
			      what, count);
	return used + 2;
}

static void draw_line(struct plot *plot, const struct serve_point *point, int count,
		      bool quiet)
{
	for (int i = 1; i < count; i++)
		plot_line(plot, point[i - 1].per_user, point[i - 1].per_gpu,
			  point[i].per_user, point[i].per_gpu,
			  quiet            ? ROLE_QUIET
			  : point[i].meets ? ROLE_COMPUTE
					   : ROLE_BAD);
}

/* The slowest that the goal for TPOT allows, as an upright line. */
static void draw_goal(const struct explorer *explorer, struct plot *plot)
{
	double goal = explorer->scenario.plan.serving.goal_tpot_seconds;

	if (goal <= 0 || 1 / goal > plot->x.max)
		return;
	for (int i = 0; i <= 64; i++)
		plot_dot(plot, 1 / goal, plot->y.max * i / 64, ROLE_GOOD);
}

/* Behind the marks what a full cache holds, and what the line of nines is: where there
 * is no room for both in whole words, the line first. */
static void legend_rest(struct plot *plot, int x, int y, double most, bool goals,
			bool slowest)
{
	static const char tail[] = "9 the slowest 1 %", few[] = "9 P99";
	int end = plot->area.x + plot->area.width;
	char full[48];
	bool room;

	snprintf(full, sizeof full, "full %.0f%s", most, goals ? "" : "  no goals set");
	room = x + text_width(full) + 2 + text_width(tail) <= end;
	if (slowest && !room && x + text_width(few) <= end) {
		x += canvas_text(plot->canvas, x, y, end - x, ROLE_LABEL, few) + 2;
		full[strcspn(full + 5, " ") + 5] = '\0';
	}
	if (x + text_width(full) <= end)
		x += canvas_text(plot->canvas, x, y, end - x, ROLE_LABEL, full) + 2;
	if (slowest && room)
		canvas_text(plot->canvas, x, y, end - x, ROLE_LABEL, tail);
}

/* The most requests that keep the goals: between two points of the curve where the
 * estimate knows better. */
static double most_good(const struct serving_estimate *v,
			const struct serve_point *point, int count, int last)
{
	double known = v->goodput_concurrency;

	if (last < 0)
		return 0;
	return known > point[last].concurrency && (last + 1 == count ||
						   known < point[last + 1].concurrency)
		       ? floor(known)
		       : point[last].concurrency;
}

static void draw_marks(const struct explorer *explorer, struct plot *plot,
		       const struct serve_point *point, int count, int y, bool slowest)
{
	const struct serving_estimate *v = &explorer->estimate.serving;
	const struct serving_plan *plan = &explorer->scenario.plan.serving;
	int knee = serve_knee(point, count), x = plot->area.x, last = -1;
	bool goals = plan->goal_ttft_seconds > 0 || plan->goal_tpot_seconds > 0;
	enum { NARROW = 60, WIDE = 88 };

	for (int i = 0; i < count; i++)
		if (point[i].meets)
			last = i;
	if (knee >= 0)
		plot_mark(plot, point[knee].per_user, point[knee].per_gpu, 'K',
			  ROLE_WARNING);
	if (goals && last >= 0)
		plot_mark(plot, point[last].per_user, point[last].per_gpu, 'G',
			  ROLE_GOOD);
	plot_mark(plot, v->output_tokens_per_second_per_user,
		  v->output_tokens_per_second_per_gpu, '@', ROLE_VALUE);
	if (plot->area.width >= WIDE)
		x += canvas_text(plot->canvas, x, y, plot->area.width, ROLE_LABEL,
				 "requests at once: ");
	x += legend_mark(plot, x, y, '@', ROLE_VALUE, "now", v->concurrency);
	if (knee >= 0)
		x += legend_mark(plot, x, y, 'K', ROLE_WARNING, "knee",
				 point[knee].concurrency);
	if (goals)
		x += legend_mark(plot, x, y, 'G', ROLE_GOOD,
				 slowest && plot->area.width < NARROW ? "good to"
								      : "goals up to",
				 most_good(v, point, count, last));
	legend_rest(plot, x, y, point[count - 1].concurrency, goals, slowest);
}

static double widest(const struct serve_point *point, int count, bool user)
{
	double most = 0;

	for (int i = 0; i < count; i++)
		most = fmax(most, user ? point[i].per_user : point[i].per_gpu);
	return most;
}

/* What all but one request in a hundred get, as far as a key press can tell. */
static void draw_tail_line(const struct explorer *explorer, struct plot *plot)
{
	const struct serve_point *slow;
	int n = load_slowest(explorer, &slow);

	for (int i = 1; i < n; i++)
		plot_line(plot, slow[i - 1].per_user, slow[i - 1].per_gpu,
			  slow[i].per_user, slow[i].per_gpu, ROLE_BUBBLE);
}

/* Over the line of the means, which may lie where theirs does. */
static bool mark_tail(const struct explorer *explorer, struct plot *plot)
{
	const struct serve_point *slow;
	int n = load_slowest(explorer, &slow);

	for (int i = 0; i < n; i++)
		plot_mark(plot, slow[i].per_user, slow[i].per_gpu, '9', ROLE_LABEL);
	return n > 0;
}

/* Output of a GPU over that of a user, from one request to a full cache. */
static void draw_curve(struct page *p, int rows)
{
	const struct explorer *explorer = p->explorer;
	const struct serve_point *point, *before;
	int count = load_curve(explorer, &point), old;
	struct rect rect = { p->rect.x, p->y + 1, p->rect.width, rows - 2 };
	struct plot plot;
	double x, y;
	bool slowest;

	if (rows < 6 || count < 2)
		return;
	old = load_curve_before(explorer, &before);
	x = fmax(widest(point, count, true), widest(before, old, true));
	y = fmax(widest(point, count, false), widest(before, old, false));
	widget_heading(
		p->canvas, p->rect.x, p->y, p->rect.width,
		old ? p->rect.width < 66
				? "tok/s per GPU over per user, grey: pinned"
				: "tok/s per GPU over tok/s per user, grey the pinned plan"
		: p->rect.width < 66
			? "tok/s per GPU over tok/s per user"
			: "tok/s per GPU over tok/s per user, from 1 request to all");
	if (plot_begin(&plot, p->canvas, rect,
		       (struct axis){ 0, x * 1.03, false, FORM_REAL, NULL },
		       (struct axis){ 0, y * 1.05, false, FORM_COUNT, NULL })) {
		draw_goal(explorer, &plot);
		draw_line(&plot, before, old, true);
		draw_tail_line(explorer, &plot);
		draw_line(&plot, point, count, false);
		slowest = mark_tail(explorer, &plot);
		draw_marks(explorer, &plot, point, count, p->y + rows - 1, slowest);
	}
	p->y += rows;
}

void serving_too_large(struct page *p)
{
	struct rect rect;

	draw_memory(p);
	rect = (struct rect){ p->rect.x, p->y, p->rect.width, page_left(p) - 7 };
	canvas_text(p->canvas, rect.x, rect.y++, rect.width, ROLE_BAD,
		    "NO REQUEST FITS BESIDE THE WEIGHTS");
	rect.height--;
	p->y = rect.y + draw_problems(p->explorer, p->canvas, rect);
}

void serving_numbers(struct page *p)
{
	draw_memory(p);
	draw_latency(p);
	draw_throughput(p);
}

void serving_overview(struct page *p)
{
	int strip = p->room == ROOM_RICH ? 8 : p->room == ROOM_COMFORTABLE ? 4 : 3;
	int said = p->room == ROOM_COMPACT ? 1 : p->room == ROOM_RICH ? 6 : 2;
	int curve;

	if (!has_numbers(p->explorer)) {
		serving_too_large(p);
		page_gap(p);
		page_strip(p, p->room == ROOM_RICH ? page_tall_strip(p, 8, 7)
			      : page_left(p) > 7   ? 7
						   : page_left(p));
		page_gap(p);
		page_hints(p);
		return;
	}
	serving_numbers(p);
	curve = page_left(p) - strip - said;
	if (p->room == ROOM_RICH && curve > 22)
		curve = 22;
	draw_curve(p, curve);
	page_strip(p, strip);
	page_advice(p);
}
