/* server.c - the engine of a server that nobody gave: the smallest that holds the model
 * and its share of the requests; as many of it as there is room for work side by side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/estimate.h"
#include "engine/predict/predict.h"
#include "engine/serve/serve.h"
#include "engine/start/parts.h"

/* An engine, and how it serves. */
struct candidate {
	int64_t tp, pp, ep;
	bool legal, fits, keeps; /* the goals, if there are any */
	double room, bytes;      /* room: for requests, of those asked for */
};

static void put(const struct candidate *c, struct start *start, struct scenario *s)
{
	start_set(start, s, "tp", (double)c->tp);
	start_set(start, s, "pp", (double)c->pp);
	if (s->model.moe.experts > 0)
		start_set(start, s, "ep", (double)c->ep);
}

/* Accelerators that no engine takes are not legal here. */
static void serve_with(struct candidate *c, const struct start *start,
		       const struct scenario *s, struct estimate *e)
{
	struct scenario trial = *s;
	struct start tried = *start;

	put(c, &tried, &trial);
	scenario_estimate(&trial, e);
	c->legal = e->legal;
	for (int i = 0; i < e->problems.count; i++)
		if (strcmp(e->problems.item[i].rule->code, "S2") == 0)
			c->legal = false;
	c->fits = c->legal && e->fits;
	c->keeps = c->fits && serve_keeps_goals(&trial, &e->serving);
	c->room = c->fits ? metric_get(e, metric_find("max_concurrency")) /
				    (double)trial.plan.serving.concurrency
			  : 0;
	c->bytes = e->memory.total_bytes;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (a->legal != b->legal)
		return a->legal;
	if (a->fits != b->fits)
		return a->fits;
	if (a->keeps != b->keeps)
		return a->keeps;
	return a->fits ? a->room > b->room : a->bytes < b->bytes;
}

/* TP inside the fast domain, up to 8 as servers are published with; beyond it
 * pipelines. */
enum { MOST_TP = 8, MOST_PP = 32 };

/* The largest TP that an engine of this size may have. */
static int64_t widest(const struct scenario *s, int64_t size)
{
	int64_t domain = s->cluster.link[LINK_DOMAIN].span, tp = MOST_TP;

	while (tp > 1 && (tp > domain || size % tp != 0))
		tp /= 2;
	return tp;
}

/* The smallest that has room for twice its share of the requests, for lengths vary, and
 * keeps goals; else, of those that keep them if any does, the one with most room. */
static void find_server(const struct start *start, const struct scenario *s,
			bool any_tp, struct candidate *best, struct estimate *e)
{
	int64_t gpus = s->cluster.gpus;

	for (int64_t size = 1; size <= gpus && size <= MOST_TP * MOST_PP; size++) {
		int64_t tp = widest(s, size), least = any_tp ? 1 : tp;

		for (; gpus % size == 0 && tp >= least; tp /= 2) {
			struct candidate c = { .tp = tp, .pp = size / tp, .ep = 1 };

			if (c.pp > MOST_PP || (!any_tp && c.pp > 1 && tp < MOST_TP))
				continue;
			serve_with(&c, start, s, e);
			if (is_better(&c, best))
				*best = c;
			if (best->keeps && best->room >= 2)
				return;
		}
	}
}

/* No more requests than there is room for. */
static void let_in(struct start *start, struct scenario *s, struct estimate *e)
{
	double room;

	scenario_estimate(s, e);
	if (!e->legal || !e->fits)
		return;
	room = floor(metric_get(e, metric_find("max_concurrency")));
	if (room >= 1 && room < (double)s->plan.serving.concurrency)
		start_set(start, s, "concurrency", room);
}

void start_server(struct start *start, struct scenario *s)
{
	static const char *const told[] = { "prompt", "output", "concurrency" };
	struct estimate *e = malloc(sizeof *e);
	const struct candidate none = { .tp = 1, .pp = 1, .ep = 1 };
	struct candidate best = none;
	struct scenario without = *s;

	if (e)
		find_server(start, s, false, &best, e);
	/* goals that none keeps choose nothing */
	without.plan.serving.goal_ttft_seconds = 0;
	without.plan.serving.goal_tpot_seconds = 0;
	if (e && best.fits && !best.keeps) {
		best = none;
		find_server(start, &without, false, &best, e);
	}
	/* heads that no such TP divides */
	if (e && !best.fits)
		find_server(start, &without, true, &best, e);
	put(&best, start, s);
	if (e)
		let_in(start, s, e);
	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
		start_set(start, s, told[i], knob_get(s, knob_find(told[i])));
	free(e);
}
