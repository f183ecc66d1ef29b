/* certify.c - see certify.h. The tree is walked once more, now that the answer is
 * known: nodes have their bounds already, and only those that might beat the answer are
 * opened. */
#include "engine/planner/certify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/search.h"
#include "engine/predict/predict.h"

enum closing {
	CLOSED_RULE,
	CLOSED_SAME,
	CLOSED_TIME,
	CLOSED_MEMORY,
	CLOSED_WORK,
	CLOSED_PAIRS,
	CLOSED_HELD,
	CLOSED_FLOOR,
	CLOSED_LARGE,
	CLOSED_PLANS,
	CLOSED_HOSTS,
	CLOSED_MIXED,
	CLOSED_NOT /* its parts are, each by another line */
};

static const char *const words[] = { "rule",  "same",  "time",  "memory",
				     "work",  "pairs", "held",  "floor",
				     "large", "plans", "hosts", "mixed" };

struct verdict {
	enum closing closing;
	int row;
	double number; /* the least of what it closes */
};

/* Values of one axis that are closed alike. */
struct closed {
	struct verdict verdict;
	uint64_t values;
};

/* What a way to recompute costs in the node of this visit. */
struct mode {
	int visit;
	struct layer_cost part[MAX_PARTS];
	struct train_bound bound;
};

/* An axis by what becomes of its values: the groups that are closed, and the rest. */
struct parting {
	struct closed group[MAX_AXIS_VALUES + 1];
	int groups;
	uint64_t stand;
};

struct proof {
	struct planner *p;
	double answer;
	const struct node **node; /* in the order of the tree */
	int at;                   /* the next of them */
	int levels, axis[MAX_AXES];
	char name[MAX_AXES][MAX_AXIS_VALUES][MAX_NAME]; /* of values */
	double count;            /* candidates of the box at work */
	uint64_t left[MAX_AXES]; /* values of it, by level */
	int shapes, modes;       /* levels behind shape, and behind recomputation */
	/* rules of states that read no other of their axes than that of this level */
	struct rule_list lone[MAX_AXES];
	/* of the node at work, by mode, once it was needed */
	struct mode *mode;
	int visit;
	/* of the pair at work */
	const struct mode *now;
	double ends; /* least of the node's states */
	struct bound_bytes states;
	bool dealt; /* its stages are, without ZeRO's traffic */
	char *text;
	size_t length, room;
	bool failed;
};

static bool make_room(struct proof *c, size_t more)
{
	size_t room = c->room ? c->room : 1 << 16;
	char *grown;

	while (room < c->length + more)
		room *= 2;
	if (room == c->room)
		return true;
	grown = realloc(c->text, room);
	c->failed |= !grown;
	if (!grown)
		return false;
	c->text = grown;
	c->room = room;
	return true;
}

static void put(struct proof *c, const char *text)
{
	size_t length = strlen(text);

	if (!make_room(c, length + 1))
		return;
	memcpy(c->text + c->length, text, length + 1);
	c->length += length;
}

static void write_values(struct proof *c, int level, uint64_t values)
{
	const struct planner_axis *axis = &c->p->problem.axis[c->axis[level]];
	const char *before = " ";

	put(c, axis->knob->key);
	for (int i = 0; i < axis->count; i++) {
		if ((values >> i & 1) == 0)
			continue;
		put(c, before);
		put(c, c->name[level][i]);
		before = ",";
	}
}

static void write_verdict(struct proof *c, const struct verdict *verdict, double count)
{
	char text[128];

	if (verdict->closing == CLOSED_RULE)
		snprintf(text, sizeof text, " rule %d %s %.0f\n", verdict->row,
			 c->p->rule[verdict->row].rule.code, count);
	else if (verdict->closing == CLOSED_SAME)
		snprintf(text, sizeof text, " same %.0f\n", count);
	else
		snprintf(text, sizeof text, " %s %.17g %.0f\n", words[verdict->closing],
			 verdict->number, count);
	put(c, text);
}

static int size_of(uint64_t values)
{
	int count = 0;

	for (; values != 0; values &= values - 1)
		count++;
	return count;
}

/* A value of the box at work, or several. */
static double count_of(const struct proof *c, int level, uint64_t values)
{
	return c->count / size_of(c->left[level]) * size_of(values);
}

static void write_group(struct proof *c, int level, const struct closed *group)
{
	write_values(c, level, group->values);
	write_verdict(c, &group->verdict, count_of(c, level, group->values));
}

/* From here on the box has these values of the axis alone. */
static void narrow(struct proof *c, int level, uint64_t values)
{
	c->count = count_of(c, level, values);
	c->left[level] = values;
}

static bool alike(const struct verdict *a, const struct verdict *b)
{
	return a->closing == b->closing &&
	       (a->closing != CLOSED_RULE || a->row == b->row);
}

static int add_to(struct closed *group, int groups, const struct verdict *verdict,
		  int value)
{
	int i = 0;

	while (i < groups && !alike(&group[i].verdict, verdict))
		i++;
	if (i == groups)
		group[groups++] = (struct closed){ .verdict = *verdict };
	group[i].values |= (uint64_t)1 << value;
	group[i].verdict.number = fmin(group[i].verdict.number, verdict->number);
	return groups;
}

static const struct verdict not_closed = { .closing = CLOSED_NOT };

static struct verdict by_rule(int row)
{
	return (struct verdict){ .closing = CLOSED_RULE, .row = row };
}

static double score_of(const struct proof *c, double seconds, double bytes)
{
	const struct scenario *s = &c->p->trial->scenario;

	return search_score(c->p->problem.objective, s, seconds, bytes);
}

static struct verdict by_time(const struct proof *c, enum closing closing, double bound)
{
	return bound >= c->answer ? (struct verdict){ closing, 0, bound } : not_closed;
}

static int broken(const struct proof *c, const struct rule_list *rules)
{
	struct facts facts;

	if (rules->count == 0)
		return FIX_STANDS;
	rules_derive(&c->p->trial->scenario, &facts);
	return search_broken(c->p, rules, &facts);
}

/* The least of all states of the box from here on, in turn the values of each axis. */
static void relax_states(struct proof *c, int level)
{
	struct scenario *s = &c->p->trial->scenario;
	struct bound_bytes bytes;

	if (level < c->levels) {
		const struct planner_axis *axis = &c->p->problem.axis[c->axis[level]];

		for (int i = axis->count - 1; i >= 0; i--) {
			if ((c->left[level] >> i & 1) == 0)
				continue;
			knob_set(s, axis->knob, axis->value[i]);
			relax_states(c, level + 1);
		}
		knob_set(s, axis->knob, axis->value[0]);
		return;
	}
	c->ends = fmin(c->ends, train_bound_ends(&c->now->bound, s));
	train_bound_states(&c->now->bound, s, &bytes);
	c->states.mean = fmin(c->states.mean, bytes.mean);
	c->states.first = fmin(c->states.first, bytes.first);
	c->states.layer = fmin(c->states.layer, bytes.layer);
}

/* With one copy of the weights, the least that there is. */
static void begin_states(struct proof *c)
{
	struct plan *plan = &c->p->trial->scenario.plan;
	int schedule = plan->schedule;

	plan->schedule = SCHEDULE_1F1B;
	c->ends = INFINITY;
	c->states = (struct bound_bytes){ .mean = INFINITY,
					  .first = INFINITY,
					  .layer = INFINITY };
	relax_states(c, c->modes);
	plan->schedule = schedule;
}

/* The mode that the scenario has. */
static void begin_mode(struct proof *c)
{
	struct trial *trial = c->p->trial;
	struct mode *mode;
	int at = 0;

	for (int l = c->shapes; l < c->modes; l++) {
		const struct planner_axis *axis = &c->p->problem.axis[c->axis[l]];

		at = at * axis->count + c->p->choice[c->axis[l]];
	}
	mode = &c->mode[at];
	if (mode->visit != c->visit) {
		trial_cost(trial, mode->part);
		train_bound(&trial->scenario, mode->part, &mode->bound);
		mode->visit = c->visit;
	}
	c->now = mode;
}

/* Recomputation and shape stand, and all states or one. */
static struct verdict try_pair(struct proof *c, double ends,
			       const struct bound_bytes *states)
{
	const struct scenario *s = &c->p->trial->scenario;
	const struct train_bound *bound = &c->now->bound;
	struct bound_bytes activations;
	double bytes, seconds;

	train_bound_activations(bound, s, &activations);
	bytes = train_bound_bytes(bound, states, &activations);
	if (bytes > search_room(c->p, s))
		return (struct verdict){ CLOSED_HELD, 0, bytes };
	seconds = train_bound_scaled(s, train_bound_pipeline(bound, s) + ends);
	return by_time(c, CLOSED_PAIRS, score_of(c, seconds, bytes));
}

/* The stages of the pair at work. */
static bool deal(struct proof *c, bool lean)
{
	struct trial *trial = c->p->trial;
	struct plan *plan = &trial->scenario.plan;
	int64_t zero = plan->zero;
	bool done;

	if (lean && c->dealt)
		return true;
	trial_use(trial, c->now->part);
	plan->zero = lean ? 0 : zero;
	done = trial_stages(trial);
	plan->zero = zero;
	c->dealt = done && lean;
	return done;
}

/* By its bytes and its time: the numbers of its estimate, bit for bit. */
static struct verdict weigh_plan(struct proof *c)
{
	struct planner *p = c->p;
	const struct scenario *s = &p->trial->scenario;
	double bytes, seconds = INFINITY, score;
	bool exact;

	if (s->plan.zero >= 2 && !deal(c, false))
		return (struct verdict){ .closing = CLOSED_HOSTS };
	bytes = trial_bytes(p->trial, &exact);
	if (!exact || bytes <= search_room(p, s))
		seconds = trial_seconds(p->trial);
	bytes = trial_bytes(p->trial, &exact);
	if (bytes > search_room(p, s))
		return (struct verdict){ CLOSED_LARGE, 0, bytes };
	score = score_of(c, seconds, bytes);
	if (score < c->answer) {
		scenario_estimate(s, &p->estimate);
		if (!p->estimate.host_fits)
			return (struct verdict){ .closing = CLOSED_HOSTS };
	}
	return (struct verdict){ CLOSED_PLANS, 0, score };
}

static struct verdict try_plan(struct proof *c)
{
	struct planner *p = c->p;
	const struct scenario *s = &p->trial->scenario;
	struct bound_bytes states;
	struct verdict verdict;
	double ends;
	int row;

	ends = train_bound_ends(&c->now->bound, s);
	train_bound_states(&c->now->bound, s, &states);
	verdict = try_pair(c, ends, &states);
	if (verdict.closing != CLOSED_NOT)
		return verdict;
	row = broken(c, &p->mixed);
	if (row < 0)
		row = broken(c, &p->option_rules[ROLE_STATE]);
	if (row >= 0)
		return by_rule(row);
	if (!deal(c, true))
		return (struct verdict){ .closing = CLOSED_HOSTS };
	ends = train_bound_scaled(s, trial_pipeline_floor(p->trial) + ends);
	verdict = by_time(c, CLOSED_FLOOR, score_of(c, ends, 0));
	if (verdict.closing != CLOSED_NOT)
		return verdict;
	return weigh_plan(c);
}

static struct verdict walk(struct proof *c, int level);

/* One of the axes inside a node stands; what is below it. */
static struct verdict take_inner(struct proof *c, int level)
{
	struct verdict verdict = not_closed;
	int row = FIX_STANDS;

	if (level == c->shapes)
		row = broken(c, &c->p->option_rules[ROLE_SHAPE]);
	if (row < 0 && level == c->modes)
		row = broken(c, &c->p->option_rules[ROLE_MODE]);
	if (row < 0 && level == c->modes) {
		begin_mode(c);
		c->dealt = false;
		verdict = try_pair(c, c->ends, &c->states);
	}
	if (row >= 0)
		return by_rule(row);
	if (verdict.closing != CLOSED_NOT)
		return verdict;
	return level == c->levels ? try_plan(c) : walk(c, level);
}

/* The least work of any mode from here on. */
static double least_work(struct proof *c, int level)
{
	struct scenario *s = &c->p->trial->scenario;
	const struct planner_axis *axis;
	double least = INFINITY;

	if (level == c->modes) {
		begin_mode(c);
		if (isinf(c->ends))
			begin_states(c);
		return score_of(
			c,
			train_bound_scaled(s, train_bound_work(&c->now->bound, s) +
						      c->ends),
			0);
	}
	axis = &c->p->problem.axis[c->axis[level]];
	for (int i = 0; i < axis->count; i++) {
		if ((c->left[level] >> i & 1) == 0)
			continue;
		knob_set(s, axis->knob, axis->value[i]);
		if (i > 0 && !knob_applies(s, axis->knob))
			continue;
		c->p->choice[c->axis[level]] = (uint8_t)i;
		least = fmin(least, least_work(c, level + 1));
	}
	knob_set(s, axis->knob, axis->value[0]);
	c->p->choice[c->axis[level]] = 0;
	return least;
}

/* The boxes of some values, and below those that are open. */
static struct verdict part(struct proof *c, int level, struct parting *parting,
			   struct verdict (*below)(struct proof *, int))
{
	uint64_t all = c->left[level];
	double count = c->count;
	size_t begun = c->length;
	struct verdict verdict = not_closed;

	if (parting->groups == 0)
		return below(c, level + 1);
	if (parting->stand == 0 && parting->groups == 1)
		return parting->group[0].verdict;
	if (parting->stand != 0) {
		write_values(c, level, parting->stand);
		put(c, "\n");
		narrow(c, level, parting->stand);
		verdict = below(c, level + 1);
		c->count = count;
		c->left[level] = all;
	}
	if (parting->stand != 0 && verdict.closing != CLOSED_NOT) {
		c->length = begun;
		parting->group[parting->groups++] =
			(struct closed){ verdict, parting->stand };
	}
	for (int i = 0; i < parting->groups; i++)
		write_group(c, level, &parting->group[i]);
	return not_closed;
}

/* Ways to recompute that take too long whatever the shape. */
static struct verdict part_modes(struct proof *c, int level)
{
	const struct planner_axis *axis;
	struct parting parting = { 0 };
	struct verdict verdict;
	uint64_t all = c->left[level];

	if (level == c->modes || level > c->shapes)
		return take_inner(c, c->p->depth);
	axis = &c->p->problem.axis[c->axis[level]];
	for (int i = 0; i < axis->count; i++) {
		c->left[level] = (uint64_t)1 << i;
		verdict = by_time(c, CLOSED_WORK, least_work(c, level));
		if (verdict.closing == CLOSED_NOT)
			parting.stand |= (uint64_t)1 << i;
		else
			parting.groups =
				add_to(parting.group, parting.groups, &verdict, i);
	}
	c->left[level] = all;
	return part(c, level, &parting, part_modes);
}

/* Values of the states that break a rule whatever else is chosen; then bounds are of
 * what is left. */
static struct verdict part_states(struct proof *c, int level)
{
	const struct planner_axis *axis;
	struct parting parting = { 0 };

	if (level == c->levels) {
		c->ends = INFINITY;
		return part_modes(c, c->shapes);
	}
	axis = &c->p->problem.axis[c->axis[level]];
	for (int i = 0; i < axis->count; i++) {
		struct verdict verdict;
		int row;

		knob_set(&c->p->trial->scenario, axis->knob, axis->value[i]);
		row = broken(c, &c->lone[level]);
		verdict = by_rule(row);
		if (row < 0)
			parting.stand |= (uint64_t)1 << i;
		else
			parting.groups =
				add_to(parting.group, parting.groups, &verdict, i);
	}
	knob_set(&c->p->trial->scenario, axis->knob, axis->value[0]);
	return part(c, level, &parting, part_states);
}

static struct verdict open_node(struct proof *c)
{
	const struct node *node = c->node[c->at++];
	struct planner *p = c->p;

	if (node->bytes > search_room(p, &p->trial->scenario))
		return (struct verdict){ CLOSED_MEMORY, 0, node->bytes };
	if (node->bound >= c->answer)
		return (struct verdict){ CLOSED_TIME, 0, node->bound };
	trial_begin(p->trial);
	c->visit++;
	return part_states(c, c->modes);
}

static struct verdict take(struct proof *c, int level, int value)
{
	struct planner *p = c->p;
	struct scenario *s = &p->trial->scenario;
	const struct planner_axis *axis = &p->problem.axis[c->axis[level]];
	int fixed;

	if (level >= p->depth) {
		knob_set(s, axis->knob, axis->value[value]);
		p->choice[c->axis[level]] = (uint8_t)value;
		if (value > 0 && !knob_applies(s, axis->knob))
			return (struct verdict){ .closing = CLOSED_SAME };
		return take_inner(c, level + 1);
	}
	p->level = level;
	p->at[level] = value;
	fixed = search_fix(p);
	if (fixed == FIX_REPEATS)
		return (struct verdict){ .closing = CLOSED_SAME };
	if (fixed != FIX_STANDS)
		return by_rule(fixed);
	return level + 1 == p->depth ? open_node(c) : walk(c, level + 1);
}

/* Plans that are looked at pair by pair. */
static bool is_mixable(const struct verdict *verdict)
{
	return verdict->closing >= CLOSED_PAIRS && verdict->closing <= CLOSED_MIXED;
}

/* The score that it gives; INFINITY where nothing fits. */
static double score_in(const struct verdict *verdict)
{
	bool fits =
		verdict->closing != CLOSED_RULE && verdict->closing != CLOSED_HELD &&
		verdict->closing != CLOSED_LARGE && verdict->closing != CLOSED_HOSTS;

	return fits ? verdict->number : INFINITY;
}

/* What is held, what is slow and what breaks a rule go together. */
static int join(struct closed *group, int groups)
{
	int kept = 0, first = -1;
	int mixed = 0;

	for (int i = 0; i < groups; i++)
		mixed += is_mixable(&group[i].verdict) ||
			 group[i].verdict.closing == CLOSED_RULE;

	for (int i = 0; i < groups; i++) {
		struct verdict *into = first < 0 ? NULL : &group[first].verdict;
		const struct verdict *verdict = &group[i].verdict;

		bool joins = is_mixable(verdict) ||
			     (mixed > 1 && verdict->closing == CLOSED_RULE);

		if (!joins || !into) {
			first = joins ? kept : first;
			group[kept++] = group[i];
			continue;
		}
		into->number = fmin(score_in(into), score_in(verdict));
		into->closing = CLOSED_MIXED;
		group[first].values |= group[i].values;
	}
	return kept;
}

/* One line does for all values: names of others count as those. */
static bool is_whole(const struct closed *group, int groups)
{
	return groups == 1 || (groups == 2 && group[1].verdict.closing == CLOSED_SAME);
}

/* The line that opens the box of this value, above the lines of the box: most boxes are
 * closed as a whole and need none. */
static void open_above(struct proof *c, size_t at, int level, int value)
{
	char line[256];
	size_t end = c->length, length;

	write_values(c, level, (uint64_t)1 << value);
	put(c, "\n");
	length = c->length - end;
	if (c->failed || length > sizeof line)
		return;
	memcpy(line, c->text + end, length);
	memmove(c->text + at + length, c->text + at, end - at);
	memcpy(c->text + at, line, length);
}

static struct verdict walk(struct proof *c, int level)
{
	const struct planner_axis *axis = &c->p->problem.axis[c->axis[level]];
	struct closed group[MAX_AXIS_VALUES];
	uint64_t all = c->left[level];
	double count = c->count;
	size_t begun = c->length;
	bool parted = false;
	int groups = 0;

	for (int i = 0; i < axis->count; i++) {
		size_t before = c->length;
		struct verdict verdict;

		if ((all >> i & 1) == 0)
			continue;
		narrow(c, level, (uint64_t)1 << i);
		verdict = take(c, level, i);
		c->count = count;
		c->left[level] = all;
		parted |= verdict.closing == CLOSED_NOT;
		if (verdict.closing == CLOSED_NOT && size_of(all) > 1)
			open_above(c, before, level, i);
		if (verdict.closing == CLOSED_NOT)
			continue;
		c->length = before;
		groups = add_to(group, groups, &verdict, i);
	}
	knob_set(&c->p->trial->scenario, axis->knob, axis->value[0]);
	c->p->choice[c->axis[level]] = 0;
	if (level >= c->p->depth)
		groups = join(group, groups);
	if (!parted && is_whole(group, groups)) {
		c->length = begun;
		return group[0].verdict;
	}
	for (int i = 0; size_of(all) > 1 && i < groups; i++)
		write_group(c, level, &group[i]);
	return not_closed;
}

/* Axes of a role behind those that stand there, what another one's meaning hangs on
 * first. */
static int add_role(const struct planner *p, enum role role, int *axis, int count)
{
	int begun = count;

	for (int i = 0; i < p->problem.axes; i++) {
		int at = count;

		if (p->role[i] != role)
			continue;
		for (; at > begun && search_place(p, axis[at - 1]) > search_place(p, i);
		     at--)
			axis[at] = axis[at - 1];
		axis[at] = i;
		count++;
	}
	return count;
}

/* How many; first[0] and [1]: the levels behind shape and behind recomputation. */
static int order_axes(const struct planner *p, int *axis, int *first)
{
	int shapes, modes;

	memcpy(axis, p->order, (size_t)p->depth * sizeof *axis);
	shapes = add_role(p, ROLE_SHAPE, axis, p->depth);
	modes = add_role(p, ROLE_MODE, axis, shapes);
	if (first) {
		first[0] = shapes;
		first[1] = modes;
	}
	return add_role(p, ROLE_STATE, axis, modes);
}

static void sort_lone(struct proof *c)
{
	const struct planner *p = c->p;
	const struct rule_list *rules = &p->option_rules[ROLE_STATE];

	for (int i = 0; i < rules->count; i++) {
		int readers = 0, reader = 0;

		for (int l = c->modes; l < c->levels; l++)
			if (search_reads(&p->rule[rules->row[i]],
					 p->problem.axis[c->axis[l]].knob->key)) {
				readers++;
				reader = l;
			}
		if (readers == 1)
			c->lone[reader].row[c->lone[reader].count++] = rules->row[i];
	}
}

static void arrange(struct proof *c)
{
	struct planner *p = c->p;
	int first[2];

	c->levels = order_axes(p, c->axis, first);
	c->shapes = first[0];
	c->modes = first[1];
	for (int i = 0; i < c->levels; i++) {
		const struct planner_axis *axis = &p->problem.axis[c->axis[i]];

		c->left[i] = ((uint64_t)1 << axis->count) - 1;
		for (int v = 0; v < axis->count; v++)
			knob_print_value(axis->knob, axis->value[v], c->name[i][v],
					 MAX_NAME);
	}
	c->count = p->below[0];
	sort_lone(c);
}

static void walk_all(struct proof *c)
{
	struct planner *p = c->p;
	struct verdict verdict;

	memset(p->choice, 0, sizeof p->choice);
	memset(p->at, 0, sizeof p->at);
	if (search_root(p))
		verdict = p->depth == 0 ? open_node(c) : walk(c, 0);
	else
		verdict = by_rule(broken(c, &p->decided[0]));
	if (verdict.closing != CLOSED_NOT) {
		put(c, "all");
		write_verdict(c, &verdict, c->count);
	}
	put(c, "");
}

int planner_certificate_axes(const struct planner *planner, int axis[MAX_AXES])
{
	int all[MAX_AXES], levels = order_axes(planner, all, NULL), count = 0;

	for (int i = 0; i < levels; i++)
		if (planner->problem.axis[all[i]].count > 1)
			axis[count++] = all[i];
	return count;
}

char *planner_certify(const struct planner *planner, double answer)
{
	struct proof *c = calloc(1, sizeof *c);
	char *text = NULL;

	if (!c)
		return NULL;
	c->answer = answer;
	c->p = search_copy(planner);
	c->node = malloc(((size_t)planner->nodes + 1) * sizeof(const struct node *));
	c->mode = calloc((size_t)planner->size[ROLE_MODE], sizeof *c->mode);
	if (c->p && c->node && c->mode) {
		for (int i = 0; i < planner->nodes; i++)
			c->node[planner->node[i].index] = &planner->node[i];
		arrange(c);
		walk_all(c);
		text = c->failed || c->p->failed ? NULL : c->text;
	}
	if (!text)
		free(c->text);
	planner_free(c->p);
	free(c->node);
	free(c->mode);
	free(c);
	return text;
}
