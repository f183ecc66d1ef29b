/* verify.c - see verify.h. */
#include "engine/verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/rules/rules.h"
#include "engine/verify/closing.h"

/* The pipelines' shortcuts are so close to their simulator. */
static const double almost = 1 - 1.1e-3;

static bool fail(struct reader *r, const char *why)
{
	if (!r->out->why[0]) {
		snprintf(r->out->why, sizeof r->out->why, "%s", why);
		r->out->line = r->line;
	}
	return false;
}

static int lowest(uint64_t values)
{
	int at = 0;

	while (at < VERIFY_VALUES - 1 && (values >> at & 1) == 0)
		at++;
	return at;
}

static double size_of(uint64_t values)
{
	double count = 0;

	for (; values != 0; values &= values - 1)
		count++;
	return count;
}

/* --- text --- */

static bool is_word(const struct reader *r, const char *word)
{
	return strlen(word) == r->length && memcmp(r->word, word, r->length) == 0;
}

/* The next word of this line; of length 0 at its end. A comma ends values. */
static void next_word(struct reader *r)
{
	while (*r->at == ' ' || *r->at == ',')
		r->at++;
	r->word = r->at;
	while (*r->at && !strchr(" ,\n", *r->at))
		r->at++;
	r->length = (size_t)(r->at - r->word);
}

static double next_number(struct reader *r)
{
	char *end;
	double value;

	next_word(r);
	value = r->length > 0 ? strtod(r->word, &end) : NAN;
	return r->length > 0 && end == r->word + r->length ? value : NAN;
}

static bool end_line(struct reader *r)
{
	if (*r->at != '\n')
		return fail(r, "more stands on the line than belongs there");
	r->at++;
	r->line++;
	return true;
}

static int read_axis(struct reader *r)
{
	int at = 0;

	next_word(r);
	while (at < r->q->axes && !is_word(r, r->q->axis[at].knob->key))
		at++;
	return at;
}

static uint64_t read_values(struct reader *r, const struct verify_axis *axis)
{
	uint64_t values = 0;

	do {
		int at = 0;

		next_word(r);
		while (at < axis->count && !is_word(r, axis->name[at]))
			at++;
		if (at == axis->count || (values >> at & 1))
			return 0;
		values |= (uint64_t)1 << at;
	} while (*r->at == ',');
	return values;
}

/* --- boxes --- */

static void set_lowest(struct reader *r, int axis)
{
	knob_set(&r->trial.scenario, r->q->axis[axis].knob,
		 r->q->axis[axis].value[lowest(r->left[axis])]);
}

/* Some point of the box, another one for each line. */
static void sample(struct reader *r)
{
	for (int a = 0; a < r->q->axes; a++) {
		uint64_t values = r->left[a];

		r->random = r->random * 6364136223846793005u + 1442695040888963407u;
		for (uint64_t skip = (r->random >> 33) % (uint64_t)size_of(values);
		     skip > 0; skip--)
			values &= values - 1;
		knob_set(&r->trial.scenario, r->q->axis[a].knob,
			 r->q->axis[a].value[lowest(values)]);
	}
}

static bool is_fitting(struct reader *r, double *score)
{
	const struct estimate *e = &r->estimate;

	scenario_estimate(&r->trial.scenario, &r->estimate);
	*score = e->legal ? objective_of_step(r->q->objective, &r->trial.scenario,
					      e->step_seconds, e->memory.total_bytes)
			  : INFINITY;
	return e->legal && e->host_fits &&
	       e->memory.total_bytes <=
		       objective_room(&r->trial.scenario, r->q->reserve);
}

/* Every choice of what the rule reads breaks it; what it does not read stands at one
 * value. */
static bool breaks(struct reader *r, const struct legality *row, int at)
{
	const struct verify_axis *axis = &r->q->axis[at];
	struct broken broken;
	struct facts facts;

	if (at == r->q->axes) {
		rules_derive(&r->trial.scenario, &facts);
		return row->breaks(&facts, &broken);
	}
	set_lowest(r, at);
	if (!closing_reads(row->reads, axis->knob->key))
		return breaks(r, row, at + 1);
	for (int i = 0; i < axis->count; i++) {
		if ((r->left[at] >> i & 1) == 0)
			continue;
		knob_set(&r->trial.scenario, axis->knob, axis->value[i]);
		if (!breaks(r, row, at + 1))
			return false;
	}
	return true;
}

static bool close_rule(struct reader *r)
{
	int count, at = (int)next_number(r);
	const struct legality *rows = rules_of(&r->q->base, &count);

	next_word(r);
	if (at < 0 || at >= count || !is_word(r, rows[at].rule.code) ||
	    rows[at].rule.severity != SEVERITY_ERROR ||
	    !rules_hold(&rows[at], &r->q->base.stack))
		return fail(r, "there is no such rule here");
	if (!breaks(r, &rows[at], 0))
		return fail(r, "a plan in the box does not break the rule");
	sample(r);
	return scenario_check(&r->trial.scenario, NULL) > 0 ||
	       fail(r, "a plan in the box is legal");
}

/* Whether the axis does nothing, so that its value means what an earlier one does. */
static bool is_name(struct reader *r, int at, uint64_t among, int value)
{
	const struct verify_axis *axis = &r->q->axis[at];
	struct scenario *s = &r->trial.scenario;
	int64_t etp = scenario_etp(s);
	bool same = false;

	if (value == lowest(among))
		return false;
	if (strcmp(axis->knob->key, "etp") != 0)
		return !knob_applies(s, axis->knob);
	for (int i = 0; i < value && !same; i++) {
		if ((among >> i & 1) == 0)
			continue;
		knob_set(s, axis->knob, axis->value[i]);
		same = scenario_etp(s) == etp;
	}
	knob_set(s, axis->knob, axis->value[value]);
	return same;
}

bool reader_each(struct reader *r, int at, int end, bool (*visit)(struct reader *))
{
	const struct verify_axis *axis = &r->q->axis[at];
	bool good = true;

	if (at == end)
		return visit(r);
	for (int i = 0; good && i < axis->count; i++) {
		if ((r->left[at] >> i & 1) == 0)
			continue;
		knob_set(&r->trial.scenario, axis->knob, axis->value[i]);
		r->choice[at] = (uint8_t)i;
		if (!is_name(r, at, r->left[at], i))
			good = reader_each(r, at + 1, end, visit);
	}
	knob_set(&r->trial.scenario, axis->knob, axis->value[0]);
	return good;
}

/* Names of plans that stand beside: of this axis among what its box had; and a sample
 * gives the same numbers as its namesake. */
static bool close_same(struct reader *r, int at, uint64_t among)
{
	const struct verify_axis *axis = &r->q->axis[at];
	double score, other;

	for (int a = 0; a < r->q->axes; a++) {
		if (a < at && size_of(r->left[a]) > 1)
			return fail(r, "names stand below several values");
		set_lowest(r, a);
	}
	for (int i = 0; i < axis->count; i++) {
		if ((r->left[at] >> i & 1) == 0)
			continue;
		knob_set(&r->trial.scenario, axis->knob, axis->value[i]);
		if (!is_name(r, at, among, i))
			return fail(r, "the axis does something there");
	}
	if (strcmp(axis->knob->key, "etp") == 0)
		return true;
	sample(r);
	if (!is_fitting(r, &score))
		return true;
	knob_set(&r->trial.scenario, axis->knob, axis->value[lowest(among)]);
	return (is_fitting(r, &other) && other == score) ||
	       fail(r, "a plan is not the one that it is said to name");
}

/* A sample is not below what all of the box are said to be above. */
static bool close_bound(struct reader *r)
{
	static const char *const words[] = { "time", "memory", "plans" };
	double number, score;
	int word = 0;

	while (word < 3 && !is_word(r, words[word]))
		word++;
	if (word == 3)
		return fail(r, "there is no such way to close a box");
	number = next_number(r);
	if (!closing_check(r, words[word], number))
		return fail(r, "the number is not the box's, or does not close it");
	sample(r);
	return !is_fitting(r, &score) || (word != 1 && score >= number * almost) ||
	       fail(r, "a plan in the box is better than its bound");
}

static bool close_box(struct reader *r, int axis, uint64_t among)
{
	double count = 1;
	bool good;

	if (is_word(r, "rule"))
		good = close_rule(r);
	else if (is_word(r, "same"))
		good = axis < r->q->axes && close_same(r, axis, among);
	else
		good = close_bound(r);
	for (int a = 0; a < r->q->axes; a++) {
		count *= size_of(r->left[a]);
		knob_set(&r->trial.scenario, r->q->axis[a].knob,
			 r->q->axis[a].value[0]);
	}
	r->out->boxes++;
	r->counted += count;
	return good &&
	       (next_number(r) == count || fail(r, "the count is not the box's")) &&
	       end_line(r);
}

/* The lines of one box: they part the values of one axis, each once. */
static bool read_box(struct reader *r, int depth)
{
	enum { DEEPEST = 4 * VERIFY_AXES };
	int axis = -1;
	uint64_t all = 0, rest = 0;

	if (depth > DEEPEST)
		return fail(r, "boxes in boxes without end");
	do {
		int at = read_axis(r);
		bool good;

		if (at == r->q->axes || (axis >= 0 && at != axis))
			return fail(r, axis < 0 ? "no axis of the space"
						: "values of an axis are missing");
		if (axis < 0)
			all = rest = r->left[at];
		axis = at;
		r->left[at] = read_values(r, &r->q->axis[at]);
		if (at >= r->first[DECIDES_SHAPE])
			return fail(r, "no axis of the tree");
		if (r->left[at] == 0 || (r->left[at] & ~rest) != 0)
			return fail(r, "values twice, or outside of the box");
		rest &= ~r->left[at];
		next_word(r);
		good = r->length == 0 ? end_line(r) && read_box(r, depth + 1)
				      : close_box(r, at, all);
		r->left[at] = all;
		if (!good)
			return false;
	} while (rest != 0);
	return true;
}

static bool check_answer(struct reader *r)
{
	const struct verify_question *q = r->q;
	double score;

	if (isinf(q->answer))
		return true;
	for (int a = 0; a < q->axes; a++)
		knob_set(&r->trial.scenario, q->axis[a].knob,
			 q->axis[a].value[q->best[a]]);
	return (is_fitting(r, &score) && score == q->answer) ||
	       fail(r, "the answer's plan does not give the answer");
}

static bool check(struct reader *r, const char *boxes)
{
	double all = 1;

	r->trial.scenario = r->q->base;
	if (!rules_countable(&r->q->base) || !check_answer(r))
		return fail(r, "the scenario can't be read as a plan");
	for (int a = 0; a < r->q->axes; a++) {
		const struct verify_axis *axis = &r->q->axis[a];

		r->left[a] = ((uint64_t)1 << axis->count) - 1;
		all *= axis->count;
		knob_set(&r->trial.scenario, axis->knob, axis->value[0]);
	}
	if (!closing_arrange(r))
		return fail(r, "the axes are not in the order of the tree");
	r->at = boxes;
	r->line = 1;
	next_word(r);
	if (is_word(r, "all")) {
		next_word(r);
		if (!close_box(r, r->q->axes, 0))
			return false;
	} else {
		r->at = boxes;
		if (!read_box(r, 0))
			return false;
	}
	return (*r->at == '\0' && r->counted == all && all == r->q->candidates) ||
	       fail(r, "the boxes are not the whole space, each part once");
}

bool certificate_verify(const struct verify_question *question, const char *boxes,
			struct verified *out)
{
	struct reader *r = calloc(1, sizeof *r);

	*out = (struct verified){ 0 };
	if (!r)
		return false;
	r->q = question;
	r->out = out;
	out->good = check(r, boxes);
	free(r);
	return true;
}
