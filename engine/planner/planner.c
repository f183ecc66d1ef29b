/* planner.c - branch and bound over the axes; see planner.h. */
#include "engine/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train.h"
#include "engine/train/bound.h"

/* Outer axes decide what one micro-batch costs; a node is a choice of them and of the
 * axes that only divide: stages and GPUs. The rest is tried inside a node. */
struct node {
	double bound; /* of the score */
	uint32_t index;
	uint32_t cost; /* in the list of costs */
	uint8_t choice[MAX_AXES];
};

enum { MAX_INNER = 4096 };

enum role { AXIS_OUTER, AXIS_DIVIDES, AXIS_INNER };

struct planner {
	struct planner_problem problem;
	struct planner_result result;
	enum role role[MAX_AXES];
	int zero, recompute, schedule, vpp, tp, sp, etp,
		split; /* axis numbers, -1 = none */
	int nodes, capacity, next;
	int stride;      /* to the next node that is this searcher's */
	bool borrowed;   /* the lists belong to another one */
	double expected; /* others have found enough up to this score */
	struct node *node;
	int costs, cost_capacity;
	struct train_bound *cost; /* of each outer choice that divides somewhere */
	/* the node at work */
	bool inside;
	struct scenario work; /* with the node's outer values */
	uint8_t inner[MAX_AXES];
	bool fits_without[MAX_INNER]; /* this choice fits without recomputation */
	struct estimate estimate;
};

static int axis_of(const struct planner_problem *problem, const char *key)
{
	for (int i = 0; i < problem->axes; i++)
		if (strcmp(problem->axis[i].knob->key, key) == 0)
			return i;
	return -1;
}

static enum role role_of(const struct knob *knob)
{
	static const char *const divides[] = { "pp", "gpus", "gbs" };
	static const char *const inner[] = { "zero",
					     "schedule",
					     "vpp",
					     "recompute",
					     "zero_group",
					     "recompute_layers",
					     "recompute_modules",
					     "split",
					     "micro_batch_group" };

	for (size_t i = 0; i < sizeof divides / sizeof divides[0]; i++)
		if (strcmp(knob->key, divides[i]) == 0)
			return AXIS_DIVIDES;
	for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++)
		if (strcmp(knob->key, inner[i]) == 0)
			return AXIS_INNER;
	return AXIS_OUTER;
}

static void apply_roles(const struct planner *p, const uint8_t *choice, unsigned roles,
			struct scenario *out)
{
	for (int i = 0; i < p->problem.axes; i++)
		if (roles >> p->role[i] & 1)
			knob_set(out, p->problem.axis[i].knob,
				 p->problem.axis[i].value[choice[i]]);
}

static void apply(const struct planner *p, const uint8_t *choice, struct scenario *out)
{
	apply_roles(p, choice, ~0u, out);
}

/* The next combination of the axes of these roles; false after the last. */
static bool advance(const struct planner *p, uint8_t *choice, unsigned roles)
{
	for (int i = p->problem.axes - 1; i >= 0; i--) {
		if (!(roles >> p->role[i] & 1))
			continue;
		if (++choice[i] < p->problem.axis[i].count)
			return true;
		choice[i] = 0;
	}
	return false;
}

static double inner_count(const struct planner *p)
{
	double count = 1;

	for (int i = 0; i < p->problem.axes; i++)
		if (p->role[i] == AXIS_INNER)
			count *= p->problem.axis[i].count;
	return count;
}

/* Score of a plan with this step and memory on this scenario's GPUs; with bounds in
 * place of them it is a bound of the score. */
static double score(enum objective objective, const struct scenario *s, double step,
		    double bytes)
{
	double gpus = (double)s->cluster.gpus;
	double tokens = (double)s->plan.global_batch * (double)s->plan.seq_len;

	switch (objective) {
	case OBJECTIVE_THROUGHPUT: return step * gpus / tokens;
	case OBJECTIVE_COST:
		return s->plan.tokens / tokens * step * gpus / 3600 *
		       s->cluster.price_per_gpu_hour;
	case OBJECTIVE_MEMORY: return bytes;
	case OBJECTIVE_GPUS: return gpus * 1e6 + step;
	default: return step;
	}
}

double planner_score(enum objective objective, const struct scenario *scenario,
		     const struct estimate *estimate)
{
	if (objective == OBJECTIVE_COST)
		return estimate->run.dollars;
	return score(objective, scenario, estimate->step_seconds,
		     estimate->memory.total_bytes);
}

static double worst(const struct planner *p)
{
	const struct planner_result *r = &p->result;

	return fmin(p->expected,
		    r->found < p->problem.top ? INFINITY : r->top[r->found - 1].score);
}

static bool divides(const struct scenario *s)
{
	return scenario_dp(s) > 0 && scenario_micro_batches(s) > 0 &&
	       (s->model.moe.experts == 0 || scenario_edp(s) > 0);
}

/* Room for one more item of this size; false without memory. */
static bool grow(void **items, int count, int *capacity, size_t size)
{
	int room = *capacity ? 2 * *capacity : 512;
	void *grown;

	if (count < *capacity)
		return true;
	grown = realloc(*items, (size_t)room * size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = room;
	return true;
}

static bool push(struct planner *p, const struct node *node)
{
	if (!grow((void **)&p->node, p->nodes, &p->capacity, sizeof *p->node))
		return false;
	p->node[p->nodes++] = *node;
	return true;
}

static bool push_cost(struct planner *p, const struct scenario *s)
{
	if (!grow((void **)&p->cost, p->costs, &p->cost_capacity, sizeof *p->cost))
		return false;
	train_bound(s, &p->cost[p->costs++]);
	return true;
}

/* SP at TP 1 is no choice, and ETP by a rule that gives 1 is ETP 1. */
static bool repeats_outer(const struct planner *p, const struct scenario *s,
			  const uint8_t *choice)
{
	if (p->etp >= 0 && s->plan.etp == 0 && p->problem.axis[p->etp].value[0] == 1 &&
	    scenario_etp(s) == 1)
		return true;
	return p->sp >= 0 && s->plan.tp == 1 && s->plan.sp &&
	       p->problem.axis[p->sp].count > 1 && choice[p->sp] > 0;
}

/* Inner knobs as no choice of them can be better: the bound of a whole node. */
static void relax(const struct planner *p, struct scenario *s)
{
	if (p->zero >= 0)
		s->plan.zero = 3;
	if (p->schedule >= 0) {
		s->plan.schedule = SCHEDULE_ZB_V; /* of which least is known */
		s->plan.split = SPLIT_BALANCED;
	}
	if (p->vpp >= 0 || p->split >= 0)
		s->plan.split = SPLIT_BALANCED;
	if (p->recompute >= 0)
		s->plan.recompute = RECOMPUTE_FULL;
}

/* One node for each way to divide the stages and GPUs of this outer choice. */
static bool push_divisions(struct planner *p, struct node *node, double each)
{
	bool costed = false;

	do {
		struct scenario s = p->problem.base;
		double bytes;

		apply(p, node->choice, &s);
		p->result.counts.candidates += each;
		if (repeats_outer(p, &s, node->choice)) {
			p->result.counts.repeated += each;
			continue;
		}
		if (!divides(&s)) {
			p->result.counts.undivided += each;
			continue;
		}
		if (!costed && !push_cost(p, &s))
			return false;
		costed = true;
		node->cost = (uint32_t)(p->costs - 1);
		relax(p, &s);
		bytes = train_bound_bytes(&p->cost[node->cost], &s);
		node->bound = score(p->problem.objective, &s,
				    train_bound_step(&p->cost[node->cost], &s), bytes);
		node->index = (uint32_t)p->nodes;
		if (!push(p, node))
			return false;
	} while (advance(p, node->choice, 1u << AXIS_DIVIDES));
	return true;
}

static bool push_nodes(struct planner *p)
{
	struct node node = { 0 };
	double each = inner_count(p);

	do {
		if (!push_divisions(p, &node, each))
			return false;
	} while (advance(p, node.choice, 1u << AXIS_OUTER));
	return true;
}

static int by_bound(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

struct planner *planner_start(const struct planner_problem *problem)
{
	struct planner *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->problem = *problem;
	p->stride = 1;
	p->expected = INFINITY;
	if (p->problem.top < 1 || p->problem.top > MAX_TOP)
		p->problem.top = p->problem.top < 1 ? 1 : MAX_TOP;
	for (int i = 0; i < problem->axes; i++)
		p->role[i] = role_of(problem->axis[i].knob);
	p->zero = axis_of(problem, "zero");
	p->recompute = axis_of(problem, "recompute");
	p->schedule = axis_of(problem, "schedule");
	p->vpp = axis_of(problem, "vpp");
	p->split = axis_of(problem, "split");
	p->etp = axis_of(problem, "etp");
	p->tp = axis_of(problem, "tp");
	p->sp = axis_of(problem, "sp");
	p->problem.base.plan.recompute =
		p->recompute >= 0 ? RECOMPUTE_NONE : problem->base.plan.recompute;
	if (!push_nodes(p)) {
		planner_free(p);
		return NULL;
	}
	if (p->nodes > 1)
		qsort(p->node, (size_t)p->nodes, sizeof *p->node, by_bound);
	return p;
}

void planner_free(struct planner *planner)
{
	if (planner && !planner->borrowed) {
		free(planner->node);
		free(planner->cost);
	}
	free(planner);
}

const struct planner_result *planner_result(const struct planner *planner)
{
	return &planner->result;
}

/* Better score, or the same and earlier in the order of the axes. */
static bool precedes(const struct planner *p, const struct planner_found *a,
		     const struct planner_found *b)
{
	if (a->score != b->score)
		return a->score < b->score;
	return memcmp(a->choice, b->choice, (size_t)p->problem.axes) < 0;
}

static void keep(const struct planner *p, const struct planner_found *found,
		 struct planner_result *r)
{
	int at = r->found < p->problem.top ? r->found : p->problem.top;

	while (at > 0 && precedes(p, found, &r->top[at - 1])) {
		if (at < p->problem.top)
			r->top[at] = r->top[at - 1];
		at--;
	}
	if (at == p->problem.top)
		return;
	r->top[at] = *found;
	if (r->found < p->problem.top)
		r->found++;
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

static void take(struct planner *p, const struct scenario *s, const uint8_t *choice)
{
	const struct estimate *e = &p->estimate;
	double capacity = e->capacity_bytes * (1 - p->problem.reserve);
	struct planner_found found = { .step_seconds = e->step_seconds,
				       .tokens_per_second_per_gpu =
					       e->tokens_per_second_per_gpu,
				       .mfu = e->mfu,
				       .bubble_ratio = e->bubble_ratio,
				       .memory_bytes = e->memory.total_bytes };

	memcpy(found.choice, choice, sizeof found.choice);
	found.memory_share = e->memory.total_bytes / e->capacity_bytes;
	found.exposed_share = e->exposed_seconds / e->step_seconds;
	found.score = planner_score(p->problem.objective, s, e);
	if (e->memory.total_bytes <= capacity) {
		keep(p, &found, &p->result);
		return;
	}
	p->result.counts.out_of_memory++;
	keep_nearest(p, &found, &p->result);
}

/* Names of the same plan: chunks where the schedule has none, interleaving of one
 * chunk, sharding over one rank, a balanced split where an even one is free (which is
 * the same but for what the ends weigh). The first name is kept. */
static bool repeats_inner(const struct planner *p, const struct scenario *s,
			  const uint8_t *choice)
{
	bool interleaves = s->plan.schedule == SCHEDULE_INTERLEAVED ||
			   s->plan.schedule == SCHEDULE_BREADTH_FIRST;
	bool chunked = interleaves && s->plan.pp > 1;

	if (p->vpp >= 0 && !chunked && choice[p->vpp] > 0)
		return true;
	if (p->schedule >= 0 && s->plan.pp == 1 && choice[p->schedule] > 0)
		return true;
	if (p->schedule >= 0 && chunked && s->plan.vpp == 1 && choice[p->schedule] > 0)
		return true;
	if (p->split >= 0 && p->problem.axis[p->split].count > 1 &&
	    s->plan.split == SPLIT_BALANCED &&
	    s->model.layers % (s->plan.pp * scenario_chunks(s)) == 0)
		return true;
	return p->zero >= 0 && choice[p->zero] > 0 &&
	       scenario_dp(s) * s->plan.cp == 1 && scenario_edp(s) <= 1;
}

/* Recomputation only adds time: where the same plan fits without it, it can't be the
 * best one. For lists of plans, and for other aims than speed, it is tried. */
static int dominance_slot(const struct planner *p, const uint8_t *choice)
{
	int slot = 0;

	if (p->recompute < 0 || p->problem.objective == OBJECTIVE_MEMORY ||
	    p->problem.top > 1)
		return -1;
	for (int i = 0; i < p->problem.axes; i++)
		if (p->role[i] == AXIS_INNER && i != p->recompute)
			slot = slot * p->problem.axis[i].count + choice[i];
	return slot < MAX_INNER ? slot : -1;
}

static bool has_no_recompute_first(const struct planner *p)
{
	return p->recompute >= 0 &&
	       p->problem.axis[p->recompute].value[0] == RECOMPUTE_NONE;
}

/* One inner choice; returns whether a plan was estimated. */
static bool try_choice(struct planner *p, const struct node *node,
		       const uint8_t *choice)
{
	struct planner_counts *counts = &p->result.counts;
	struct scenario *s = &p->work;
	double capacity =
		s->cluster.accelerator.usable_bytes * (1 - p->problem.reserve);
	int slot = dominance_slot(p, choice);
	double oom = counts->out_of_memory, illegal = counts->illegal;

	apply_roles(p, choice, 1u << AXIS_INNER, s);
	if (repeats_inner(p, s, choice)) {
		counts->repeated++;
		return false;
	}
	if (!p->problem.exhaustive) {
		const struct train_bound *cost = &p->cost[node->cost];
		double bytes = train_bound_bytes(cost, s);

		/* until something fits, what might be the nearest is tried */
		if (capacity > 0 && bytes > capacity &&
		    (p->problem.strict || p->problem.any || p->result.found > 0 ||
		     (p->result.has_nearest &&
		      bytes > p->result.nearest.memory_bytes))) {
			counts->too_large++;
			return false;
		}
		if (score(p->problem.objective, s, train_bound_step(cost, s), bytes) >
		    worst(p)) {
			counts->bounded++;
			return false;
		}
	}
	if (!p->problem.exhaustive && slot >= 0 && has_no_recompute_first(p)) {
		if (choice[p->recompute] == 0)
			p->fits_without[slot] = false;
		else if (p->fits_without[slot]) {
			counts->dominated++;
			return false;
		}
	}
	counts->explored++;
	if (scenario_check(s, NULL) == 0) {
		scenario_estimate(s, &p->estimate);
		take(p, s, choice);
	} else {
		counts->illegal++;
	}
	if (slot >= 0 && p->recompute >= 0 && choice[p->recompute] == 0)
		p->fits_without[slot] =
			counts->out_of_memory == oom && counts->illegal == illegal;
	return true;
}

/* Rules that no inner choice can mend: a node that breaks one holds nothing legal. The
 * even split is one while the split is given. */
static bool breaks_outer_rule(struct planner *p, const struct node *node)
{
	static const char codes[] =
		" E1 E2 E3 E4 E5 E6 E7 E16 E23 E24 X1 X2 X3 X4 X5 X6 "
		"X8 X9 X11 ";
	struct scenario s = p->problem.base;
	struct findings *found = &p->estimate.problems;
	bool split_is_given = p->split < 0;

	apply(p, node->choice, &s);
	s.plan.schedule = SCHEDULE_1F1B;
	s.plan.vpp = 1;
	if (scenario_check(&s, found) == 0)
		return false;
	for (int i = 0; i < found->count; i++) {
		const struct rule *rule = found->item[i].rule;
		char code[8] = { ' ' };
		size_t length = strlen(rule->code);

		if (rule->severity != SEVERITY_ERROR || length > 5)
			continue;
		memcpy(code + 1, rule->code, length);
		code[1 + length] = ' ';
		if (strstr(codes, code) ||
		    (split_is_given && strcmp(rule->code, "E8") == 0))
			return true;
	}
	return false;
}

static void close_bounded(struct planner *p)
{
	double each = inner_count(p);

	for (; p->next < p->nodes; p->next += p->stride)
		p->result.counts.bounded += each;
}

bool planner_step(struct planner *p, int estimates)
{
	while (estimates > 0 && p->next < p->nodes) {
		const struct node *node = &p->node[p->next];

		if (p->problem.any && p->result.found > 0) {
			close_bounded(p);
			break;
		}

		if (!p->inside) {
			/* a tie may still come first in the order of the axes */
			if (!p->problem.exhaustive && node->bound > worst(p)) {
				close_bounded(p);
				break;
			}
			if (!p->problem.exhaustive && breaks_outer_rule(p, node)) {
				p->result.counts.unruly += inner_count(p);
				p->next += p->stride;
				continue;
			}
			memcpy(p->inner, node->choice, sizeof p->inner);
			p->work = p->problem.base;
			apply(p, node->choice, &p->work);
			memset(p->fits_without, 0, sizeof p->fits_without);
			p->inside = true;
		}
		estimates -= try_choice(p, node, p->inner);
		if (!advance(p, p->inner, 1u << AXIS_INNER)) {
			p->inside = false;
			p->next += p->stride;
		}
	}
	p->result.done = p->next >= p->nodes;
	p->result.progress = p->result.done ? 1 : (double)p->next / p->nodes;
	return !p->result.done;
}

int planner_split(struct planner *planner, struct planner **parts, int count)
{
	int made = 0;

	while (made < count) {
		struct planner *part = malloc(sizeof *part);

		if (!part)
			break;
		*part = *planner;
		part->borrowed = true;
		part->inside = false;
		part->next = planner->next + made + 1;
		memset(&part->result, 0, sizeof part->result);
		part->result.progress = planner->result.progress;
		parts[made++] = part;
	}
	planner->stride = made + 1;
	for (int i = 0; i < made; i++)
		parts[i]->stride = made + 1;
	return made;
}

void planner_expect(struct planner *planner, double score)
{
	planner->expected = score;
}

void planner_merge(const struct planner *planner, struct planner_result *into)
{
	const struct planner_result *from = &planner->result;
	const double *add = (const double *)&from->counts;
	double *sum = (double *)&into->counts;

	for (size_t i = 0; i < sizeof from->counts / sizeof *sum; i++)
		sum[i] += add[i];
	for (int i = 0; i < from->found; i++)
		keep(planner, &from->top[i], into);
	if (from->has_nearest)
		keep_nearest(planner, &from->nearest, into);
	into->done = into->done && from->done;
	into->progress = fmin(into->progress, from->progress);
}
