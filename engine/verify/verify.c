/* verify.c - see verify.h. */
#include "engine/verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/base/words.h"
#include "engine/knob/knob.h"
#include "engine/rules/rules.h"
#include "engine/train/least.h"

/* INSIDE: the first role of what belongs to every box. */
enum { MOST_AXES = 24, MOST_VALUES = 48, MOST_NAME = 48, INSIDE = DECIDES_SHAPE };

/* The pipelines' shortcuts are so close to their simulator. */
static const double almost = 1 - 1.1e-3;

enum closing { BY_RULE, BY_NAME, BY_TIME, BY_MEMORY, BY_PLANS, CLOSINGS };
static const char *const words[] = { "rule", "same", "time", "memory", "plans" };

struct axis {
	const struct knob *knob;
	int count;
	double value[MOST_VALUES];
	char name[MOST_VALUES][MOST_NAME];
};

struct reader {
	struct verified *out;
	struct words words;               /* of the text */
	double reserve, all, counted;     /* plans of the space, and of boxes so far */
	int axes, first[TRAIN_ROLES + 1]; /* where the axes of each role begin */
	struct axis axis[MOST_AXES];
	uint64_t left[MOST_AXES], random; /* the box's values */
	uint8_t choice[MOST_AXES];
	enum closing closing; /* of the box at work, with its rule */
	const struct legality *rows, *row;
	int rules, known[MAX_RULES]; /* with which role; -1: it does not hold */
	double score, bytes;         /* least ones */
	bool serves, is_costed;
	int last; /* role at which something more is known */
	struct trial trial;
	struct train_least least;
	struct estimate estimate;
};

static bool fail(struct reader *r, const char *why)
{
	if (!r->out->why[0])
		snprintf(r->out->why, sizeof r->out->why, "%s", why);
	return false;
}

static bool end_line(struct reader *r)
{
	return *r->words.at++ == '\n' || fail(r, "more stands on the line");
}

static int read_axis(struct reader *r)
{
	int at = 0;

	for (words_next(&r->words);
	     at < r->axes && !words_is(&r->words, r->axis[at].knob->key);)
		at++;
	return at;
}

/* 0 where one is none of the axis, or stands twice. */
static uint64_t read_values(struct reader *r, const struct axis *axis)
{
	uint64_t values = 0;
	int at;

	do {
		for (words_next(&r->words), at = 0;
		     at < axis->count && !words_is(&r->words, axis->name[at]);)
			at++;
		if (at == axis->count || (values >> at & 1))
			return 0;
		values |= (uint64_t)1 << at;
	} while (*r->words.at == ',');
	return values;
}

static void set(struct reader *r, int at, int value)
{
	r->is_costed &= at >= r->first[DECIDES_BATCH] || r->choice[at] == value;
	r->choice[at] = (uint8_t)value;
	knob_set(&r->trial.scenario, r->axis[at].knob, r->axis[at].value[value]);
}

/* Whether its value means what an earlier one does: of a server that is known once all
 * are chosen, else at once. */
static bool is_name(struct reader *r, int at)
{
	const struct knob *knob = r->axis[at].knob;

	return (r->serves || at >= r->first[INSIDE] || knob_repeats_early(knob)) &&
	       knob_repeats(&r->trial.scenario, knob, r->axis[at].value, r->choice[at]);
}

static bool is_fitting(struct reader *r, double *score)
{
	return objective_try(r->out->objective, &r->trial.scenario, r->reserve,
			     r->out->answer, &r->estimate, score);
}

/* Whether this is above the answer; then it counts. */
static bool is_above(struct reader *r, double score)
{
	if (!(score >= r->out->answer))
		return false;
	r->score = fmin(r->score, score);
	return true;
}

/* Whether the box's rule is broken; without one, one that is known with this role. */
static bool is_broken(const struct reader *r, int role)
{
	struct broken broken;
	struct facts facts;

	rules_derive(&r->trial.scenario, &facts);
	for (int i = 0; i < r->rules; i++)
		if ((r->row ? r->row == &r->rows[i] : r->known[i] == role) &&
		    r->rows[i].breaks(&facts, &broken))
			return true;
	return false;
}

/* Where the tree ends, and where plans close a box at each role beyond: whether all
 * that is free there is closed. */
static bool is_closed(struct reader *r, int role)
{
	double score, bytes;
	bool held;

	for (int a = 0; r->serves && a < r->axes; a++)
		if (is_name(r, a))
			return true;
	if (!r->serves && !r->is_costed)
		train_least_cost(&r->least);
	r->is_costed = true;
	score = objective_of_least(r->out->objective, &r->least, (enum train_role)role,
				   r->closing == BY_PLANS ? r->out->answer : INFINITY,
				   &bytes);
	held = bytes <= objective_room(&r->trial.scenario, r->reserve);
	if (r->closing == BY_PLANS)
		return is_above(r, score) || !held;
	r->score = fmin(r->score, r->closing == BY_NAME ? 0 : score);
	r->bytes = fmin(r->bytes, held ? 0 : bytes);
	return true;
}

/* False where the plan is better than the answer. */
static bool try_plan(struct reader *r)
{
	double score = r->serves ? 0 : train_least_dealt(&r->least);

	score = objective_of_step(r->out->objective, &r->trial.scenario, score, 0);
	return (!r->serves && is_above(r, score)) || !is_fitting(r, &score) ||
	       is_above(r, score);
}

/* Each choice of the box from this axis on; of a rule, of what it reads. */
static bool walk_box(struct reader *r, int at)
{
	bool good = true;

	for (int role = INSIDE; !r->row && role <= r->last; role++)
		if (at == r->first[role] &&
		    (is_closed(r, role) || (role > INSIDE && is_broken(r, role - 1))))
			return true;
	if (at == r->axes)
		return r->row ? is_broken(r, 0) : try_plan(r);
	for (int i = 0; good && i < r->axis[at].count; i++) {
		if ((r->left[at] >> i & 1) == 0)
			continue;
		set(r, at, i);
		if (r->row || r->serves || !is_name(r, at))
			good = walk_box(r, at + 1);
		if (r->row && !rules_reads(r->row, r->axis[at].knob->key))
			break;
	}
	if (at >= r->first[INSIDE])
		set(r, at, 0);
	return good;
}

/* A plan of the box, another one for each line, is as a whole what it is said to be. */
static bool is_sampled(struct reader *r, double number)
{
	double score;

	for (int a = 0; a < r->axes; a++) {
		int at;

		r->random = r->random * 6364136223846793005u + 1442695040888963407u;
		at = (int)((r->random >> 33) % (uint64_t)r->axis[a].count);
		while ((r->left[a] >> at & 1) == 0)
			at = (at + 1) % r->axis[a].count;
		set(r, a, at);
	}
	if (!is_fitting(r, &score))
		return r->closing != BY_RULE || !r->estimate.legal;
	return (r->closing == BY_TIME || r->closing == BY_PLANS) &&
	       score >= number * almost;
}

/* How the box is closed, and by which rule. */
static bool read_closing(struct reader *r)
{
	int closing = 0, row = -1;

	while (closing < CLOSINGS && !words_is(&r->words, words[closing]))
		closing++;
	r->closing = (enum closing)closing;
	r->row = NULL;
	if (closing != BY_RULE)
		return closing < CLOSINGS;
	row = (int)words_number(&r->words);
	if (row < 0 || row >= r->rules || r->known[row] < 0)
		return false;
	r->row = &r->rows[row];
	return words_next(&r->words) && words_is(&r->words, r->row->rule.code);
}

static bool close_box(struct reader *r)
{
	double number, count = 1, least;

	if (!read_closing(r))
		return fail(r, "there is no such way to close a box");
	number = r->closing != BY_RULE && r->closing != BY_NAME
			 ? words_number(&r->words)
			 : INFINITY;
	r->score = r->bytes = INFINITY;
	if (!walk_box(r, 0))
		return fail(r, r->row ? "a plan in the box does not break the rule"
				      : "a plan in the box is better than the answer");
	least = r->closing == BY_MEMORY ? r->bytes : r->score;
	/* within the digits that compilers may differ in */
	if (!(number == least || fabs(number - least) <= 1e-12 * least) ||
	    !(r->closing == BY_MEMORY ? least > 0 : least >= r->out->answer))
		return fail(r, "the number is not the box's, or does not close it");
	if (r->closing != BY_NAME && !is_sampled(r, number))
		return fail(r, "a plan in the box is not what it is said to be");
	for (int a = 0; a < r->axes; a++) {
		count *= count_bits(r->left[a]);
		set(r, a, 0);
	}
	r->counted += count;
	r->out->boxes++;
	return words_number(&r->words) == count ? end_line(r)
						: fail(r, "the count is not the box's");
}

/* The lines of one box: they part the values of one axis, each once. */
static bool read_box(struct reader *r, int from)
{
	int axis = read_axis(r);
	bool good = axis >= from && axis < r->first[INSIDE];
	uint64_t all = r->left[axis], rest = all;

	while (good) {
		r->left[axis] = read_values(r, &r->axis[axis]);
		if (r->left[axis] == 0 || (r->left[axis] & ~rest) != 0)
			return fail(r, "values twice, or outside of the box");
		rest &= ~r->left[axis];
		good = words_next(&r->words) ? close_box(r)
					     : end_line(r) && read_box(r, axis + 1);
		if (rest == 0 || !good)
			break;
		good = read_axis(r) == axis;
	}
	r->left[axis] = all;
	return good || fail(r, "no axis of the tree, or values of one are missing");
}

/* The knob's value of the word, and its name. */
static bool add_value(struct reader *r, struct axis *axis)
{
	struct scenario *s = &r->trial.scenario;
	int at = axis->count++;
	char why[128];

	if (at == MOST_VALUES - 1 ||
	    !words_copy(&r->words, axis->name[at], MOST_NAME) ||
	    !knob_parse(s, axis->knob, axis->name[at], why, sizeof why))
		return false;
	axis->value[at] = knob_get(s, axis->knob);
	for (int i = 0; i < at; i++)
		if (axis->value[i] == axis->value[at])
			return false;
	return true;
}

/* Axes by the roles of their knobs; the answer's plan has a value of each. */
static bool read_axes(struct reader *r, const struct scenario *best)
{
	char key[MOST_NAME];
	int role = 0, own, known;

	for (; words_next(&r->words) && words_is(&r->words, "axis"); r->axes++) {
		struct axis *axis = &r->axis[r->axes];

		if (read_axis(r) < r->axes || r->axes == MOST_AXES - 1 ||
		    !words_copy(&r->words, key, sizeof key))
			return fail(r, "an axis twice, or too many");
		axis->knob = knob_find(key);
		for (known = 0; words_next(&r->words);) {
			if (!axis->knob || !add_value(r, axis))
				return fail(r, "no such value, or one twice");
			known += axis->value[axis->count - 1] ==
				 knob_get(best, axis->knob);
		}
		own = (int)train_role_of(key);
		if (known != 1 || own < role || !end_line(r))
			return fail(r, "an axis without the answer's value");
		while (role < own)
			r->first[++role] = r->axes;
		train_least_free(&r->least, key, axis->value, axis->count);
		r->left[r->axes] = ((uint64_t)1 << axis->count) - 1;
		r->all *= axis->count;
	}
	while (role < TRAIN_ROLES)
		r->first[++role] = r->axes;
	return true;
}

/* What was asked, and whether the scenario gives the answer. */
static bool read_question(struct reader *r, const struct scenario *best)
{
	struct stack *stack = &r->trial.scenario.stack;
	char objective[16];
	double score;
	int length = 0;

	if (sscanf(r->words.at,
		   "objective %15s reserve %lf trusted %d held %" SCNx64
		   " answer %lf %n",
		   objective, &r->reserve, &stack->trusted, &stack->held,
		   &r->out->answer, &length) != 5 ||
	    length == 0)
		return fail(r, "expected objective, reserve, trusted, held, answer");
	r->words.at += length;
	r->out->objective = objective_find(objective);
	if (r->out->objective == OBJECTIVE_SURE ||
	    r->out->objective == OBJECTIVE_COUNT || !(r->reserve >= 0) ||
	    !(r->reserve < 1) || !rules_countable(best) ||
	    (r->out->answer != INFINITY &&
	     !(is_fitting(r, &score) && score == r->out->answer)))
		return fail(r, "the scenario does not give the answer");
	return true;
}

/* By the role of the last knob that it reads. */
static void place_rules(struct reader *r, const struct scenario *best)
{
	const struct stack *stack = &r->trial.scenario.stack;

	r->rows = rules_of(best, &r->rules);
	for (int i = 0; i < r->rules; i++)
		r->known[i] = rules_hold(&r->rows[i], stack) &&
					      r->rows[i].rule.severity == SEVERITY_ERROR
				      ? (int)train_role_of_all(r->rows[i].reads)
				      : -1;
}

static bool check_boxes(struct reader *r, const struct scenario *best)
{
	bool whole;

	if (!read_question(r, best) || !read_axes(r, best))
		return false;
	place_rules(r, best);
	for (int a = 0; a < r->axes; a++)
		set(r, a, 0);
	if (!words_is(&r->words, "boxes") || words_number(&r->words) != r->all ||
	    !end_line(r))
		return fail(r, "the boxes are not as many plans as the space has");
	r->out->candidates = r->all;
	if (strncmp(r->words.at, "all ", 4) != 0)
		whole = read_box(r, 0);
	else
		whole = words_next(&r->words) && words_next(&r->words) && close_box(r);
	whole = whole && *r->words.at == '\0' && r->counted == r->all;
	return whole || fail(r, "the boxes are not the whole space");
}

bool certificate_verify(const struct scenario *scenario, const char *text,
			struct verified *out)
{
	struct reader *r = calloc(1, sizeof *r);

	*out = (struct verified){ .line = 1 };
	if (!r)
		return false;
	r->out = out;
	r->words.at = text;
	r->trial.scenario = *scenario;
	r->all = 1;
	r->serves = scenario->plan.mode == MODE_INFERENCE;
	r->last = r->serves ? INSIDE : TRAIN_ROLES;
	train_least_begin(&r->least, &r->trial);
	out->good = check_boxes(r, scenario);
	for (; text < r->words.at; text++)
		out->line += *text == '\n' && text + 1 < r->words.at;
	free(r);
	return true;
}
