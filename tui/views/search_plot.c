/* search_plot.c - the scatter of the view Search. */
#include "tui/views/search_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct range {
	double low, high;
};

static void widen(struct range *range, double value)
{
	range->low = fmin(range->low, value);
	range->high = fmax(range->high, value);
}

/* No point lies on an edge, and one value alone is a range too. */
static struct range padded(struct range range)
{
	double more = fmax((range.high - range.low) * 0.04, range.high * 0.005);

	return (struct range){ fmax(0, range.low - more), range.high + more };
}

/* What the line is, and how far it is known. */
static void front_words(const struct search *search, bool gpus, char *out, size_t size)
{
	const struct pareto *front = &search->front[gpus ? PARETO_GPUS : PARETO_MEMORY];
	char known[32] = "";

	if (gpus && !front->done)
		snprintf(known, sizeof known, ", %d of %d searched", front->at,
			 front->counts);
	else if (front->kind == PARETO_MEMORY && search->phase == SEARCH_FRONT &&
		 front->limit_bytes > 0)
		snprintf(known, sizeof known, ", down to %.0f %%",
			 100 * front->limit_bytes /
				 search->problem.base.cluster.accelerator.usable_bytes);
	snprintf(out, size,
		 gpus ? "line: the best for its GPUs%s  "
		      : "line: best for its memory%s  dots: other plans  ",
		 known);
}

static void draw_key(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect)
{
	bool gpus = explorer->state[VIEW_SEARCH].choice == 1;
	char front[80];
	int x = rect.x + rect.width - 40;

	front_words(explorer->search, gpus, front, sizeof front);
	/* the dots explain themselves sooner than the line */
	if (rect.width <= 40 + text_width(front) + 10 && strstr(front, "  dots"))
		strstr(front, "  dots")[2] = '\0';
	if (rect.width > 40 + text_width(front) + 10)
		canvas_text(canvas, x - text_width(front), rect.y, 60, ROLE_LABEL,
			    front);
	canvas_put(canvas, x++, rect.y, '@', ROLE_VALUE);
	x += canvas_text(canvas, x, rect.y, 12, ROLE_LABEL, " open plan  ");
	if (explorer->pinned) {
		canvas_put(canvas, x++, rect.y, 'B', ROLE_WARNING);
		x += canvas_text(canvas, x, rect.y, 12, ROLE_LABEL, " pinned  ");
	}
	canvas_put(canvas, x++, rect.y, canvas_glyph(canvas, GLYPH_MARK), ROLE_FOCUS);
	canvas_text(canvas, x, rect.y, 12, ROLE_LABEL, " cursor");
}

static double share_of(const struct estimate *e)
{
	return e->memory.total_bytes / e->capacity_bytes;
}

/* Memory of a training plan, tokens a second of each user of a server. */
static double across(const struct planner_found *f)
{
	return f->ttft_seconds > 0 ? 1 / f->step_seconds : f->memory_share;
}

static double across_now(const struct estimate *e)
{
	return e->serving.tpot_seconds > 0 ? 1 / e->serving.tpot_seconds : share_of(e);
}

/* The front is a staircase: what lies above it there is no plan for. */
static void draw_memory_front(struct plot *plot, const struct pareto *front)
{
	for (int i = 0; i < front->count; i++) {
		const struct planner_found *f = &front->point[i].found;
		const struct planner_found *next =
			i > 0 ? &front->point[i - 1].found : f;

		plot_line(plot, across(f), f->tokens_per_second_per_gpu, across(next),
			  f->tokens_per_second_per_gpu, ROLE_GOOD);
		plot_line(plot, across(next), f->tokens_per_second_per_gpu,
			  across(next), next->tokens_per_second_per_gpu, ROLE_GOOD);
	}
}

static void draw_memory(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	const struct search *search = explorer->search;
	const struct planner_result *r = &search->result;
	const struct pareto *front = &search->front[PARETO_MEMORY];
	const struct estimate *e = &explorer->estimate, *b = &explorer->before;
	const struct planner_found *chosen = search_chosen(explorer);
	struct range rate = { INFINITY, 0 }, users = { 0, 0 };
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	struct plot plot;

	for (int i = 0; i < r->found; i++)
		widen(&users, across(&r->top[i]));
	for (int i = 0; i < front->count; i++)
		widen(&users, across(&front->point[i].found));
	if (serves && e->feasible)
		widen(&users, across_now(e));
	for (int i = 0; i < r->found; i++)
		widen(&rate, r->top[i].tokens_per_second_per_gpu);
	for (int i = 0; i < front->count; i++)
		widen(&rate, front->point[i].found.tokens_per_second_per_gpu);
	if (e->legal)
		widen(&rate, e->tokens_per_second_per_gpu);
	rate = padded(rate);
	struct axis x = { 0, 1.05, false, FORM_PERCENT, "memory" };
	if (serves)
		x = (struct axis){ 0, users.high * 1.05, false, FORM_COUNT,
				   "tok/s/user" };
	struct axis y = { rate.low, rate.high, false, FORM_COUNT, "tok/s/GPU" };
	if (!plot_begin(&plot, canvas, rect, x, y))
		return;
	draw_memory_front(&plot, front);
	for (int i = 0; i < r->found; i++)
		plot_dot(&plot, across(&r->top[i]), r->top[i].tokens_per_second_per_gpu,
			 ROLE_COMPUTE);
	if (explorer->pinned && b->legal)
		plot_mark(&plot, across_now(b), b->tokens_per_second_per_gpu, 'B',
			  ROLE_WARNING);
	if (e->legal)
		plot_mark(&plot, across_now(e), e->tokens_per_second_per_gpu, '@',
			  ROLE_VALUE);
	if (chosen)
		plot_mark(&plot, across(chosen), chosen->tokens_per_second_per_gpu,
			  canvas_glyph(canvas, GLYPH_MARK), ROLE_FOCUS);
}

static void draw_gpus(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect)
{
	const struct pareto *front = &explorer->search->front[PARETO_GPUS];
	const struct estimate *e = &explorer->estimate, *b = &explorer->before;
	double own = (double)explorer->scenario.cluster.gpus;
	struct range gpus = { INFINITY, 0 }, rate = { INFINITY, 0 };
	struct plot plot;

	for (int i = 0; i < front->count; i++) {
		widen(&gpus, front->point[i].gpus);
		widen(&rate, front->point[i].tokens_per_second);
	}
	widen(&gpus, own);
	if (e->legal)
		widen(&rate, e->tokens_per_second);
	rate = padded(rate);
	struct axis x = { gpus.low * 0.9, gpus.high * 1.1, true, FORM_COUNT, "GPUs" };
	struct axis y = { rate.low, rate.high, false, FORM_COUNT, "tok/s" };
	if (front->count == 0 || !plot_begin(&plot, canvas, rect, x, y))
		return;
	for (int i = 0; i < front->count; i++) {
		const struct pareto_point *p = &front->point[i];

		if (i > 0)
			plot_line(&plot, p[-1].gpus, p[-1].tokens_per_second, p->gpus,
				  p->tokens_per_second, ROLE_GOOD);
		plot_mark(&plot, p->gpus, p->tokens_per_second,
			  canvas_glyph(canvas, GLYPH_BULLET), ROLE_COMPUTE);
	}
	if (explorer->pinned && b->legal)
		plot_mark(&plot, (double)explorer->baseline.cluster.gpus,
			  b->tokens_per_second, 'B', ROLE_WARNING);
	if (e->legal)
		plot_mark(&plot, own, e->tokens_per_second, '@', ROLE_VALUE);
}

void search_draw_plot(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect)
{
	const struct search *search = explorer->search;
	bool gpus = explorer->state[VIEW_SEARCH].choice == 1;

	if (rect.height < 6)
		return;
	if (gpus && search->front[PARETO_GPUS].count == 0) {
		canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			      "the front of GPUs is searched, %d of %d counts ...",
			      search->front[PARETO_GPUS].at,
			      search->front[PARETO_GPUS].counts);
		return;
	}
	(gpus ? draw_gpus : draw_memory)(explorer, canvas, rect);
	draw_key(explorer, canvas, rect);
}
