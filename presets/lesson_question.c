/* lesson_question.c - `ask` and `why` of a step; see lesson_file.h. */
#include "presets/lesson_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lesson_question *asked(struct lesson_reading *r)
{
	return &r->step->question;
}

static bool ask_question(struct lesson_reading *r, const struct node *node)
{
	return lesson_prose_read(r, node, &asked(r)->text);
}

static bool become(struct lesson_reading *r, const struct node *node,
		   enum lesson_ask kind)
{
	struct lesson_question *q = asked(r);

	if (q->ask != LESSON_NOTHING && q->ask != kind)
		return lesson_complain(r, node,
				       "one of: value with unit, of with cuts and "
				       "choices, best with values and most or least");
	q->ask = kind;
	return true;
}

static bool ask_value(struct lesson_reading *r, const struct node *node)
{
	return become(r, node, LESSON_VALUE) &&
	       lesson_formula_read(r, node, &asked(r)->of);
}

static bool ask_of(struct lesson_reading *r, const struct node *node)
{
	return become(r, node, LESSON_RANGE) &&
	       lesson_formula_read(r, node, &asked(r)->of);
}

static bool ask_best(struct lesson_reading *r, const struct node *node)
{
	return become(r, node, LESSON_BEST) &&
	       lesson_is(r, node, NODE_SCALAR, "expected a knob") &&
	       lesson_knob_read(r, node, node->text, &asked(r)->knob);
}

static bool ask_most(struct lesson_reading *r, const struct node *node)
{
	return become(r, node, LESSON_BEST) &&
	       lesson_formula_read(r, node, &asked(r)->of);
}

static bool ask_least(struct lesson_reading *r, const struct node *node)
{
	asked(r)->least = true;
	return ask_most(r, node);
}

static bool ask_unit(struct lesson_reading *r, const struct node *node)
{
	char all[160] = "";
	size_t used = 0;

	if (!lesson_is(r, node, NODE_SCALAR, "expected a unit"))
		return false;
	asked(r)->unit = lesson_unit_find(node->text);
	if (asked(r)->unit)
		return true;
	for (int i = 0; lesson_unit_at(i) && used < sizeof all; i++)
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
					 i ? ", " : "", lesson_unit_at(i)->name);
	return error_set(r->error, r->document->file, node->line,
			 "no unit '%.40s'; there are %s", node->text, all);
}

/* "5 points" and "5" are in the question's unit, "10 %" is a share of the answer. */
static bool read_tolerance(struct lesson_reading *r, const struct node *node,
			   double *value, bool *relative)
{
	char *end = NULL;

	if (node->kind == NODE_SCALAR)
		*value = strtod(node->text, &end);
	if (!end || end == node->text || !(*value > 0))
		return lesson_complain(r, node,
				       "expected a tolerance: 10 % of the answer, or 5 "
				       "in its unit");
	end += strspn(end, " ");
	*relative = strcmp(end, "%") == 0;
	if (*relative)
		*value /= 100;
	return *relative || *end == '\0' || strcmp(end, "points") == 0 ||
	       lesson_complain(r, node, "behind a tolerance stands % or points");
}

static bool ask_tolerance(struct lesson_reading *r, const struct node *node)
{
	return read_tolerance(r, node, &asked(r)->tolerance, &asked(r)->relative);
}

static bool ask_expect(struct lesson_reading *r, const struct node *node)
{
	return lesson_formula_read(r, node, &asked(r)->expect);
}

static bool ask_within(struct lesson_reading *r, const struct node *node)
{
	return read_tolerance(r, node, &asked(r)->expect_tolerance,
			      &asked(r)->expect_relative);
}

static bool ask_cuts(struct lesson_reading *r, const struct node *list)
{
	int count = 0;

	if (!lesson_is(r, list, NODE_LIST, "expected rising numbers: [0.9, 1.1]"))
		return false;
	for (const struct node *node = list->child; node; node = node->next) {
		if (count == LESSON_CHOICES - 1)
			return lesson_complain(r, node, "at most 4 cuts");
		if (!node_number(r->document, node, &asked(r)->cut[count], r->error))
			return false;
		if (count > 0 && asked(r)->cut[count] <= asked(r)->cut[count - 1])
			return lesson_complain(r, node, "cuts rise");
		count++;
	}
	return true;
}

static bool read_choices(struct lesson_reading *r, const struct node *list,
			 char (*choice)[LESSON_CHOICE], int *count)
{
	if (!lesson_is(r, list, NODE_LIST, "expected choices in a list"))
		return false;
	for (const struct node *node = list->child; node; node = node->next) {
		if (*count == LESSON_CHOICES)
			return lesson_complain(r, node, "at most 5 choices");
		if (!node_text(r->document, node, choice[(*count)++], LESSON_CHOICE,
			       r->error))
			return false;
	}
	return *count >= 2 || lesson_complain(r, list, "at least 2 choices");
}

static bool ask_choices(struct lesson_reading *r, const struct node *list)
{
	return read_choices(r, list, asked(r)->choice, &asked(r)->choices);
}

/* Of the knob that stands before them. */
static bool ask_values(struct lesson_reading *r, const struct node *list)
{
	struct lesson_question *q = asked(r);
	struct scenario *trial;
	char why[256];
	bool good = true;

	if (!q->knob)
		return lesson_complain(r, list, "best: KNOB comes before its values");
	if (!read_choices(r, list, q->choice, &q->choices))
		return false;
	trial = malloc(sizeof *trial);
	if (!trial)
		return error_set(r->error, NULL, 0, "out of memory");
	*trial = r->lesson->scenario;
	for (int i = 0; i < q->choices && good; i++) {
		good = knob_parse(trial, q->knob, q->choice[i], why, sizeof why) ||
		       lesson_complain(r, list, why);
		q->value[i] = knob_get(trial, q->knob);
	}
	free(trial);
	return good;
}

/* {2: what is said to who chose the second}. */
static bool ask_wrong(struct lesson_reading *r, const struct node *map)
{
	if (!lesson_is(r, map, NODE_MAP, "expected {2: what to say to who chose 2}"))
		return false;
	for (const struct node *node = map->child; node; node = node->next) {
		int choice = atoi(node->key);

		if (choice < 1 || choice > LESSON_CHOICES)
			return lesson_complain(r, node, "the number of a choice");
		if (!lesson_prose_read(r, node, &asked(r)->wrong[choice - 1]))
			return false;
	}
	return true;
}

static const struct lesson_key ask_keys[] = {
	{ "question", ask_question },
	{ "value", ask_value },
	{ "of", ask_of },
	{ "best", ask_best },
	{ "most", ask_most },
	{ "least", ask_least },
	{ "unit", ask_unit },
	{ "tolerance", ask_tolerance },
	{ "expect", ask_expect },
	{ "within", ask_within },
	{ "cuts", ask_cuts },
	{ "choices", ask_choices },
	{ "values", ask_values },
	{ "wrong", ask_wrong },
	{ NULL, NULL },
};

static int cuts_of(const struct node *map)
{
	const struct node *cuts = node_get(map, "cuts");

	return cuts ? cuts->count : 0;
}

bool lesson_question_read(struct lesson_reading *r, const struct node *map)
{
	struct lesson_question *q = asked(r);

	if (!lesson_map(r, map, ask_keys, "ask is a mapping"))
		return false;
	if (q->ask == LESSON_NOTHING || q->of.text[0] == '\0')
		return lesson_complain(
			r, map,
			"ask needs value with unit, of with cuts and "
			"choices, or best with values and most or least");
	if (q->ask == LESSON_VALUE && !q->unit)
		return lesson_complain(r, map, "a value needs its unit");
	if (q->ask == LESSON_RANGE && q->choices != cuts_of(map) + 1)
		return lesson_complain(r, map, "there is one choice more than cuts");
	if (q->ask == LESSON_BEST && q->choices == 0)
		return lesson_complain(r, map, "best needs values");
	if (!(q->tolerance > 0))
		return lesson_complain(r, map, "ask needs a tolerance");
	if (q->expect.text[0] != '\0' && !(q->expect_tolerance > 0))
		return lesson_complain(r, map,
				       "expect needs within, how far off it "
				       "may be");
	if (!q->unit)
		q->unit = lesson_unit_find("count");
	return true;
}

static bool why_question(struct lesson_reading *r, const struct node *node)
{
	return lesson_prose_read(r, node, &r->step->reason.text);
}

static bool why_choices(struct lesson_reading *r, const struct node *list)
{
	return read_choices(r, list, r->step->reason.choice, &r->step->reason.choices);
}

static bool why_right(struct lesson_reading *r, const struct node *node)
{
	double right;

	if (!node_number(r->document, node, &right, r->error))
		return false;
	r->step->reason.right = (int)right;
	return (right >= 1 && right <= LESSON_CHOICES && right == (int)right) ||
	       lesson_complain(r, node, "the number of the right choice");
}

static bool why_because(struct lesson_reading *r, const struct node *node)
{
	return lesson_prose_read(r, node, &r->step->reason.because);
}

static const struct lesson_key why_keys[] = {
	{ "question", why_question },
	{ "choices", why_choices },
	{ "right", why_right },
	{ "because", why_because },
	{ NULL, NULL },
};

bool lesson_reason_read(struct lesson_reading *r, const struct node *map)
{
	if (!lesson_map(r, map, why_keys, "why is a mapping"))
		return false;
	return (r->step->reason.right > 0 &&
		r->step->reason.right <= r->step->reason.choices) ||
	       lesson_complain(r, map,
			       "why needs choices, and right, the number of one");
}
