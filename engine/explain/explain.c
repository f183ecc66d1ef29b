/* explain.c - finds the row of a number and fills it; see explain.h. */
#include "engine/explain/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain/terms.h"

/* Whether a reader who computes the formula with the terms gets the number. Sums of
 * seconds that cancel each other leave rounding. */
static bool computes_value(const struct estimate *e, const struct explanation *x)
{
	struct formula_symbol symbols[EXPLAIN_MAX_TERMS];
	double value, most = fabs(x->value);

	if (x->form == FORM_SECONDS && e->legal)
		most = fmax(most, e->step_seconds);
	for (int i = 0; i < x->terms; i++) {
		symbols[i] =
			(struct formula_symbol){ x->term[i].symbol, x->term[i].value };
		if (x->term[i].form == x->form && fabs(x->term[i].value) > most)
			most = fabs(x->term[i].value);
	}
	return formula_evaluate(x->formula, symbols, x->terms, &value, NULL) &&
	       fabs(value - x->value) <= 1e-6 * fabs(x->value) + 1e-12 * most;
}

static void add_terms(const struct explain_number *n, struct explanation *out)
{
	const struct formula_link *term = n->row->terms;

	if (n->row->fill)
		n->row->fill(&n->asked, out);
	for (; term && term->symbol; term++)
		explain_from(&n->asked, out, term->symbol, term->meaning, "%s",
			     term->key);
}

static void fill_page(const struct explain_number *n, struct explanation *out)
{
	const struct explain_row *row = n->row;
	bool ends = !row->fill && !row->terms;
	bool stands = n->asked.estimate->legal ||
		      n->asked.scenario->plan.mode != MODE_TRAINING;

	out->title = row->title;
	out->assumption =
		row->assumption ? row->assumption : "Combined as in the estimate.";
	out->source = row->source ? row->source : EXPLAIN_DEFINITION;
	out->form = n->form;
	out->value = n->value;
	out->terms = out->besides = 0;
	out->formula[0] = '\0';
	if (row->formula && !ends)
		explain_formula(out, row->formula);
	if (!ends && stands)
		add_terms(n, out);
	out->computes = !ends && stands && computes_value(n->asked.estimate, out);
	if (ends)
		explain_say(out, "%s",
			    row->formula ? row->formula
					 : "none: this is where the explanation ends");
	else if (!stands)
		snprintf(out->formula, sizeof out->formula,
			 "none: this plan can't run");
}

/* The sum of one member over a range of places. */
static void fill_range(const struct explain_number *n, const char *key,
		       struct explanation *out)
{
	char prefix[EXPLAIN_MAX_KEY];
	const char *member = strrchr(key, '.');
	const char *title = n->row->title ? n->row->title : n->asked.term->title;
	int length;

	out->title = title;
	out->assumption =
		"A separate sum, where there are more terms than one formula can "
		"hold.";
	out->source = "addition";
	out->form = n->form;
	out->value = n->value;
	out->terms = out->besides = 0;
	out->formula[0] = '\0';
	length = (int)(member - key);
	while (length > 0 && key[length - 1] != '.')
		length--;
	snprintf(prefix, sizeof prefix, "%.*s", length - 1, key);
	explain_sum(&n->asked, out, prefix, n->asked.stage, n->asked.last, member + 1,
		    title);
	out->computes = computes_value(n->asked.estimate, out);
}

static bool write_page(const struct asked *asked, const char *key,
		       struct explanation *out)
{
	struct explain_number n;

	if (!explain_find(asked, key, &n))
		return false;
	out->word = glossary_find(key);
	if (!n.row)
		return explain_leaf(asked, key, out);
	if (n.asked.last > n.asked.stage)
		fill_range(&n, key, out);
	else
		fill_page(&n, out);
	return true;
}

/* A step and an estimate more, too much for a thread's stack. */
struct explain_facts *explain_facts(void)
{
	struct explain_facts *facts = malloc(sizeof *facts);

	if (facts)
		explain_forget(facts);
	return facts;
}

void explain_forget(struct explain_facts *facts)
{
	facts->scenario = NULL;
	facts->known = false;
}

bool explain_with(struct explain_facts *facts, const struct scenario *scenario,
		  const struct estimate *estimate, const char *key,
		  struct explanation *out)
{
	struct asked asked = { .given = scenario,
			       .estimate = estimate,
			       .facts = facts,
			       .stage = estimate->fullest_stage };

	out->lacks_memory = !facts;
	if (!facts)
		return false;
	if (!facts->scenario)
		facts->scenario = scenario_marked(scenario, &facts->room);
	asked.scenario = facts->scenario;
	return write_page(&asked, key, out);
}

bool explain(const struct scenario *scenario, const struct estimate *estimate,
	     const char *key, struct explanation *out)
{
	struct explain_facts *facts = explain_facts();
	bool found = explain_with(facts, scenario, estimate, key, out);

	free(facts);
	return found;
}
