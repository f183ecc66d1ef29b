/* certify.c - see certify.h. The tree is walked once more, now that the answer is
 * known: nodes have their bounds already, and only those that might beat the answer are
 * opened (prove.c). */
#include "engine/planner/certify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/planner/prove.h"

enum closing {
	CLOSED_RULE,
	CLOSED_SAME,
	CLOSED_TIME,
	CLOSED_MEMORY,
	CLOSED_PLANS,
	CLOSED_NOT /* its parts are, each by another line */
};

static const char *const words[] = { "rule", "same", "time", "memory", "plans" };

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

struct tree {
	struct planner *p;
	double answer;
	struct prover *prover;
	const struct node **node;                       /* in the order of the tree */
	int at;                                         /* the next of them */
	char name[MAX_AXES][MAX_AXIS_VALUES][MAX_NAME]; /* of values, by level */
	double count; /* candidates of the box at work */
	char *text;
	size_t length, room;
	bool failed;
};

static bool make_room(struct tree *c, size_t more)
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

static void put(struct tree *c, const char *text)
{
	size_t length = strlen(text);

	if (!make_room(c, length + 1))
		return;
	memcpy(c->text + c->length, text, length + 1);
	c->length += length;
}

static void write_values(struct tree *c, int level, uint64_t values)
{
	const struct planner_axis *axis = &c->p->problem.axis[c->p->order[level]];
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

static void write_verdict(struct tree *c, const struct verdict *verdict, double count)
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

static void write_group(struct tree *c, int level, const struct closed *group)
{
	double count = count_bits(group->values) * c->p->below[level + 1];

	write_values(c, level, group->values);
	write_verdict(c, &group->verdict, count);
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

static struct verdict open_node(struct tree *c)
{
	const struct node *node = c->node[c->at++];
	struct planner *p = c->p;

	if (node->bytes > search_room(p, &p->trial->scenario))
		return (struct verdict){ CLOSED_MEMORY, 0, node->bytes };
	if (node->bound >= c->answer)
		return (struct verdict){ CLOSED_TIME, 0, node->bound };
	return (struct verdict){
		CLOSED_PLANS, 0,
		prove_node(c->prover, p->trains ? &p->outers[node->outer] : NULL)
	};
}

static struct verdict close_values(struct tree *c, int level);

static struct verdict close_value(struct tree *c, int level, int value)
{
	struct planner *p = c->p;
	int fixed;

	p->level = level;
	p->at[level] = value;
	fixed = search_fix(p);
	if (fixed == FIX_REPEATS)
		return (struct verdict){ .closing = CLOSED_SAME };
	if (fixed != FIX_STANDS)
		return by_rule(fixed);
	if (level + 1 < p->depth)
		return close_values(c, level + 1);
	if (p->serves && search_named_again(p, &p->trial->scenario, p->choice))
		return (struct verdict){ .closing = CLOSED_SAME };
	return open_node(c);
}

/* One line does for all values: names of others count as those. But a server's plan may
 * be a name by an axis further up, and break no rule that its neighbours break. */
static bool is_whole(const struct tree *c, const struct closed *group, int groups)
{
	bool named = groups == 2 && group[1].verdict.closing == CLOSED_SAME;

	return groups == 1 ||
	       (named && !(c->p->serves && group[0].verdict.closing == CLOSED_RULE));
}

/* The line that opens the box of this value, above the lines of the box: most boxes are
 * closed as a whole and need none. */
static void open_above(struct tree *c, size_t at, int level, int value)
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

static struct verdict close_values(struct tree *c, int level)
{
	const struct planner_axis *axis = &c->p->problem.axis[c->p->order[level]];
	struct closed group[MAX_AXIS_VALUES];
	size_t begun = c->length;
	bool parted = false;
	int groups = 0;

	for (int i = 0; i < axis->count; i++) {
		size_t before = c->length;
		struct verdict verdict = close_value(c, level, i);

		parted |= verdict.closing == CLOSED_NOT;
		if (verdict.closing != CLOSED_NOT) {
			c->length = before;
			groups = add_to(group, groups, &verdict, i);
		} else if (axis->count > 1) {
			open_above(c, before, level, i);
		}
	}
	knob_set(&c->p->trial->scenario, axis->knob, axis->value[0]);
	c->p->choice[c->p->order[level]] = 0;
	if (!parted && is_whole(c, group, groups)) {
		c->length = begun;
		return group[0].verdict;
	}
	for (int i = 0; axis->count > 1 && i < groups; i++)
		write_group(c, level, &group[i]);
	return not_closed;
}

static void name_values(struct tree *c)
{
	struct planner *p = c->p;

	for (int i = 0; i < p->depth; i++) {
		const struct planner_axis *axis = &p->problem.axis[p->order[i]];

		for (int v = 0; v < axis->count; v++)
			knob_print_value(axis->knob, axis->value[v], c->name[i][v],
					 MAX_NAME);
	}
}

static void walk_all(struct tree *c)
{
	struct planner *p = c->p;
	struct verdict verdict;

	name_values(c);
	memset(p->choice, 0, sizeof p->choice);
	memset(p->at, 0, sizeof p->at);
	if (search_root(p))
		verdict = p->depth == 0 ? open_node(c) : close_values(c, 0);
	else
		verdict = by_rule(search_root_rule(p));
	if (verdict.closing != CLOSED_NOT) {
		put(c, "all");
		write_verdict(c, &verdict, p->below[0]);
	}
	put(c, "");
}

int planner_certificate_axes(const struct planner *p, int axis[MAX_AXES])
{
	int all[MAX_AXES], count = 0, levels = p->depth;

	memcpy(all, p->order, (size_t)p->depth * sizeof *all);
	for (int role = ROLE_SHAPE; role < ROLE_COUNT; role++)
		levels += search_role_axes(p, (enum role)role, all + levels);
	for (int i = 0; i < levels; i++)
		if (p->problem.axis[all[i]].count > 1)
			axis[count++] = all[i];
	return count;
}

char *planner_certify(const struct planner *planner, double answer)
{
	struct tree *c = calloc(1, sizeof *c);
	char *text = NULL;

	if (!c)
		return NULL;
	c->answer = answer;
	c->p = search_copy(planner);
	c->node = malloc(((size_t)planner->nodes + 1) * sizeof(const struct node *));
	c->prover = c->p ? prover_start(c->p, answer) : NULL;
	if (c->p && c->node && c->prover) {
		for (int i = 0; i < planner->nodes; i++)
			c->node[planner->node[i].index] = &planner->node[i];
		walk_all(c);
		text = c->failed || c->p->failed ? NULL : c->text;
	}
	if (!text)
		free(c->text);
	planner_free(c->p);
	free(c->prover);
	free(c->node);
	free(c);
	return text;
}
