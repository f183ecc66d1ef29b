/* planner.c - branch and bound: nodes in the order of their bounds; see planner.h. */
#include "engine/planner/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/planner/search.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/serve/serve.h"

double planner_room(const struct planner_problem *problem, const struct scenario *s)
{
	return objective_room(s, problem->reserve);
}

double search_room(const struct planner *p, const struct scenario *s)
{
	return planner_room(&p->problem, s);
}

double search_limit(const struct planner *p, const struct scenario *s)
{
	const struct planner_result *r = &p->result;
	double room = search_room(p, s);

	if (p->problem.strict || p->problem.any || r->found > 0)
		return room;
	return r->has_nearest ? fmax(room, r->nearest.memory_bytes) : INFINITY;
}

bool search_grow(struct planner *p, void **items, int count, int *capacity, size_t size)
{
	int room = *capacity ? 2 * *capacity : 64;
	void *grown;

	if (count < *capacity)
		return true;
	grown = realloc(*items, (size_t)room * size);
	if (!grown) {
		p->failed = true;
		return false;
	}
	*items = grown;
	*capacity = room;
	return true;
}

/* A searcher's own memory beside the nodes. */
static bool equip_searcher(struct planner *p)
{
	p->inside = false;
	memset(p->option, 0, sizeof p->option);
	memset(&p->flights, 0, sizeof p->flights);
	p->cost = NULL;
	p->pair_list = NULL;
	p->costs = p->pairs = p->pair_capacity = 0;
	p->trial = malloc(sizeof *p->trial);
	return p->trial != NULL;
}

/* The knobs with several values that nobody pinned. */
struct free_knobs {
	int count;
	const struct knob *knob[MAX_AXES];
};

static bool is_free(const void *context, const struct knob *knob)
{
	const struct free_knobs *free_knobs = context;

	for (int i = 0; i < free_knobs->count; i++)
		if (free_knobs->knob[i] == knob)
			return true;
	return false;
}

uint64_t planner_held(const struct planner_problem *problem)
{
	struct free_knobs free_knobs = { 0 };
	bool pinned[MAX_AXES];

	if (problem->research)
		return 0;
	search_pins(problem, pinned);
	for (int i = 0; i < problem->axes; i++)
		if (problem->axis[i].count > 1 && !pinned[i])
			free_knobs.knob[free_knobs.count++] = problem->axis[i].knob;
	return abilities_held(&problem->base, is_free, &free_knobs);
}

/* Of the rows that hold, those that some value of an axis may break. */
static uint64_t find_breakable(const struct planner_problem *problem)
{
	const struct ability_sheet *sheet = &problem->base.stack.abilities;
	uint64_t held = planner_held(problem);

	for (int i = 0; i < sheet->count; i++) {
		const struct knob *knob = ability_knob(&sheet->row[i]);
		const struct planner_axis *axis = search_find_axis(problem, knob);
		double given = axis || !knob ? 0 : knob_get(&problem->base, knob);

		if (ability_has_all(&sheet->row[i], axis ? axis->value : &given,
				    axis ? axis->count : 1))
			held &= ~(UINT64_C(1) << i);
	}
	return held;
}

/* What has one value is given. Of accelerators with more or less memory the base is
 * that with the most: a node that is too large for it is too large for all. */
static void settle_base(struct planner_problem *problem)
{
	const struct knob *memory = knob_find("gpu_memory_gib");

	for (int i = 0; i < problem->axes; i++) {
		const struct planner_axis *axis = &problem->axis[i];
		double most = axis->value[0];

		for (int k = 1; k < axis->count; k++)
			most = fmax(most, axis->value[k]);
		if (axis->count == 1 || axis->knob == memory)
			knob_set(&problem->base, axis->knob, most);
	}
}

struct planner *planner_start(const struct planner_problem *problem)
{
	struct planner *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->problem = *problem;
	p->stride = 1;
	p->level = -1;
	p->expected = p->worst = INFINITY;
	if (p->problem.top < 1 || p->problem.top > MAX_TOP)
		p->problem.top = p->problem.top < 1 ? 1 : MAX_TOP;
	if (p->problem.each > planner_each(p->problem.top))
		p->problem.each = planner_each(p->problem.top);
	if (problem->base.plan.mode != MODE_TRAINING)
		p->problem.each = 0;
	settle_base(&p->problem);
	p->problem.base.stack.held = find_breakable(problem);
	p->problem.base.stack.trusted = problem->trust;
	search_arrange(p);
	if (!equip_searcher(p) || !search_menu(p)) {
		planner_free(p);
		return NULL;
	}
	return p;
}

void planner_free(struct planner *p)
{
	if (!p)
		return;
	if (!p->borrowed) {
		free(p->node);
		free(p->outers);
	}
	for (int role = 0; role < ROLE_COUNT; role++) {
		free(p->option[role].item);
		if (!p->borrowed)
			free(p->menu[role].item);
	}
	free(p->flights.item);
	free(p->flights.held);
	free(p->cost);
	free(p->pair_list);
	free(p->trial);
	free(p);
}

const struct planner_result *planner_result(const struct planner *planner)
{
	return &planner->result;
}

static void keep_nearest(const struct planner *p, const struct planner_found *found,
			 struct planner_result *r)
{
	double now = r->nearest.memory_bytes;

	if (r->has_nearest &&
	    (found->memory_bytes > now ||
	     (found->memory_bytes == now &&
	      memcmp(found->choice, r->nearest.choice, (size_t)p->problem.axes) >= 0)))
		return;
	r->nearest = *found;
	r->has_nearest = true;
}

static bool has_goals(const struct serving_plan *v)
{
	return v->goal_ttft_seconds > 0 || v->goal_tpot_seconds > 0;
}

/* Times of a token and of the first one where the goodput is reached: beyond it some
 * asked for may wait for room. */
static void describe_load(const struct scenario *s, const struct serving_estimate *e,
			  struct planner_found *found)
{
	const struct serving_plan *v = &s->plan.serving;
	double asked =
		v->request_rate > 0 ? e->concurrency : e->concurrency + e->waiting;
	bool within = has_goals(v) && e->goodput > 0 && e->goodput_concurrency > 0 &&
		      e->goodput_concurrency < asked * (1 - 1e-9);
	struct serve_point held;

	found->step_seconds = e->tpot_seconds;
	found->ttft_seconds = e->ttft_seconds;
	found->request_seconds = e->request_seconds;
	found->requests = asked;
	found->slow_ttft_seconds = e->slow_ttft_seconds;
	found->slow_tpot_seconds = e->slow_tpot_seconds;
	if (!within || v->request_rate > 0 ||
	    !serve_held(s, e->goodput_concurrency, &held))
		return;
	found->step_seconds = held.tpot_seconds;
	found->ttft_seconds = held.ttft_seconds;
	found->request_seconds =
		serve_request_seconds(s, held.ttft_seconds, held.tpot_seconds);
	found->requests = held.concurrency;
}

/* Of the estimate what a list of plans tells. */
static void describe_found(const struct scenario *s, const struct estimate *e,
			   struct planner_found *found)
{
	double tokens;

	found->step_seconds = e->step_seconds;
	found->tokens_per_second_per_gpu = e->tokens_per_second_per_gpu;
	found->mfu = e->mfu;
	found->bubble_ratio = e->bubble_ratio;
	found->memory_bytes = e->memory.total_bytes;
	found->memory_share = e->memory.total_bytes / e->capacity_bytes;
	if (s->plan.mode == MODE_TRAINING)
		planner_idea(s, &found->idea);
	if (s->plan.mode != MODE_INFERENCE)
		return;
	if (e->serving.goodput > 0)
		found->tokens_per_second_per_gpu =
			e->serving.goodput / (double)s->cluster.gpus;
	tokens = found->tokens_per_second_per_gpu * (double)s->cluster.gpus;
	found->requests_per_second =
		tokens / fmax(1, (double)s->plan.serving.output_len);
	found->dollars_per_million_tokens =
		tokens > 0 ? serve_dollars(&s->cluster, tokens) : 0;
	found->keeps_goals = e->serving.goodput > 0 || !has_goals(&s->plan.serving);
	found->keeps_up = isfinite(e->serving.ttft_seconds);
	describe_load(s, &e->serving, found);
}

/* Nothing above is wanted; goals of the slowest percent take all from a rate or
 * nothing, and nothing from what a request takes. */
static double worst_of(const struct planner *p, const struct scenario *s,
		       const struct estimate *e, const uint8_t *choice)
{
	double best = objective_of_estimate(p->problem.objective, s, e);

	if (p->serves && !p->problem.exhaustive && s->plan.serving.request_rate > 0 &&
	    search_is_behind(p, best, e->serving.request_seconds, choice))
		return -INFINITY;
	return search_worst(p);
}

void search_take(struct planner *p, const struct scenario *s, const uint8_t *choice)
{
	const struct estimate *e = &p->estimate;
	struct planner_found found = { 0 };
	bool serves = s->plan.mode == MODE_INFERENCE;

	if (p->trains)
		trial_figures(p->trial, &p->estimate);
	else
		objective_figures(p->problem.objective, s,
				  p->problem.exhaustive ? INFINITY : search_worst(p),
				  &p->estimate);
	p->stale = true;
	if (!e->legal) {
		p->result.counts.illegal++;
		return;
	}
	objective_hold_goals(p->problem.objective, s, worst_of(p, s, e, choice),
			     &p->estimate);
	memcpy(found.choice, choice, sizeof found.choice);
	describe_found(s, e, &found);
	/* what the hosts lack is no miss of the accelerator's memory */
	if ((serves && p->problem.strict && !objective_serves(e, p->problem.any)) ||
	    !e->host_fits) {
		p->result.counts.out_of_memory++;
		return;
	}
	found.score = objective_of_estimate(p->problem.objective, s, e);
	/* a server's share of the memory may have no room, where all of it has */
	if (e->memory.total_bytes <= search_room(p, s) && (e->fits || !serves)) {
		search_keep(p, &found, &p->result);
		search_set_worst(p);
		return;
	}
	p->result.counts.out_of_memory++;
	keep_nearest(p, &found, &p->result);
}

static void close_bounded(struct planner *p)
{
	for (; p->next < p->nodes; p->next += p->stride)
		p->result.counts.bounded += p->below[p->depth];
}

/* A bound above the answer ends the search: the nodes stand in their order. A tie may
 * still come first in the order of the axes. */
static bool nothing_more(const struct planner *p, const struct node *node)
{
	if (p->inside)
		return false;
	if (p->problem.any && p->result.found > 0)
		return true;
	return !p->problem.exhaustive && node->bound > search_worst(p);
}

/* A server's node is one plan: where enough are found that come before the best that it
 * could be, it isn't wanted. */
static bool is_late(const struct planner *p, const struct node *node)
{
	return p->serves && !p->inside && !p->problem.exhaustive &&
	       search_is_behind(p, node->bound, node->request, node->choice);
}

static void next_node(struct planner *p, int *budget)
{
	struct node *node = &p->node[p->next];
	enum { OPENING = 2 }; /* in plans */

	if (nothing_more(p, node)) {
		close_bounded(p);
		return;
	}
	if (is_late(p, node)) {
		p->result.counts.bounded += p->below[p->depth];
		p->next += p->stride;
		return;
	}
	if (!p->inside && !p->problem.exhaustive &&
	    node->bytes > search_limit(p, &p->problem.base)) {
		p->result.counts.too_large += p->below[p->depth];
		p->next += p->stride;
		return;
	}
	if (!p->inside) {
		p->inside = true;
		search_open(p, node);
		*budget -= OPENING;
	}
	if (search_try(p, node, budget))
		return;
	p->inside = false;
	search_set_worst(p);
	p->next += p->stride;
}

double search_closed(const struct planner_counts *c)
{
	return c->explored + c->repeated + c->undivided + c->unruly + c->bounded +
	       c->too_large;
}

/* By candidates, not by nodes: those in front hold the most where nothing is left out.
 * What the lists closed took no time, so it is no progress. */
static double share_closed(const struct planner *p, const struct planner_counts *c)
{
	double left = c->candidates - p->closed_by_lists;

	return left > 0 ? fmin((search_closed(c) - p->closed_by_lists) / left, 1) : 1;
}

bool planner_step(struct planner *p, int estimates)
{
	struct planner_result *r = &p->result;

	if (!p->listed)
		search_list(p, &estimates);
	while (p->listed && !p->failed && estimates > 0 && p->next < p->nodes)
		next_node(p, &estimates);
	r->failed = p->failed;
	r->done = !p->failed && p->listed && p->next >= p->nodes;
	r->progress = r->done ? 1 : p->listed ? share_closed(p, &r->counts) : 0;
	return !r->done && !r->failed;
}

void planner_lessen(struct planner *p, double reserve)
{
	p->problem.reserve = reserve;
	p->next = p->first;
	p->inside = false;
	p->result = (struct planner_result){ .counts = p->of_lists };
	p->expected = INFINITY;
	search_set_worst(p);
	if (p->borrowed)
		return;
	for (int i = 0; i < p->nodes; i++) {
		struct node *node = &p->node[i];

		node->bound = larger(node->bound, node->known_bound);
		node->bytes = larger(node->bytes, node->known_bytes);
	}
	search_sort(p);
}

struct planner *search_copy(const struct planner *planner)
{
	struct planner *part = malloc(sizeof *part);

	if (!part)
		return NULL;
	*part = *planner;
	part->borrowed = true;
	if (equip_searcher(part))
		return part;
	planner_free(part);
	return NULL;
}

int planner_split(struct planner *planner, struct planner **parts, int count)
{
	int made = 0, all = INT32_MAX;

	if (!planner->listed)
		search_list(planner, &all);
	while (made < count) {
		struct planner *part = search_copy(planner);

		if (!part)
			break;
		part->next = planner->next + made + 1;
		part->first = made + 1;
		memset(&part->result, 0, sizeof part->result);
		memset(&part->of_lists, 0, sizeof part->of_lists);
		search_set_worst(part);
		part->result.progress = planner->result.progress;
		parts[made++] = part;
	}
	planner->stride = made + 1;
	for (int i = 0; i < made; i++)
		parts[i]->stride = made + 1;
	return made;
}

void planner_merge(const struct planner *planner, struct planner_result *into)
{
	const struct planner_result *from = &planner->result;
	const double *add = (const double *)&from->counts;
	double *sum = (double *)&into->counts;

	for (size_t i = 0; i < sizeof from->counts / sizeof *sum; i++)
		sum[i] += add[i];
	for (int i = 0; i < from->found; i++)
		search_keep(planner, &from->top[i], into);
	if (from->has_nearest)
		keep_nearest(planner, &from->nearest, into);
	into->done = into->done && from->done;
	into->failed = into->failed || from->failed;
	into->progress = into->done        ? 1
			 : planner->listed ? share_closed(planner, &into->counts)
					   : 0;
}
