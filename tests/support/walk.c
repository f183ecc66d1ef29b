/* walk.c - see walk.h. */
#include "tests/support/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/formula.h"
#include "engine/knob/knob.h"
#include "tests/support/any.h"
#include "tests/support/close.h"

bool walk_compute(const struct explanation *x, double *value)
{
	struct formula_symbol symbols[sizeof x->term / sizeof x->term[0]];

	for (int i = 0; i < x->terms; i++)
		symbols[i] =
			(struct formula_symbol){ x->term[i].symbol, x->term[i].value };
	return formula_evaluate(x->formula, symbols, x->terms, value, NULL);
}

static void describe(const struct walk *w, const struct explanation *x)
{
	any_describe(w->scenario);
	for (int i = 0; i < w->path_length; i++)
		print_error("%s > ", w->path[i]);
	print_error("\n%s\n", x->formula);
	for (int i = 0; i < x->terms; i++)
		print_error("  %s = %.12g (%s)\n", x->term[i].symbol, x->term[i].value,
			    x->term[i].key);
}

/* The formula gives the value, with no term that it does not use and none without a
 * page. */
static void check_page(const struct walk *w, const char *key,
		       const struct explanation *x)
{
	double value = 0;

	if (!walk_compute(x, &value) || !x->computes ||
	    fabs(value - x->value) >
		    1e-6 * fabs(x->value) + 1e-9 * w->estimate->step_seconds) {
		describe(w, x);
		fail_msg("%s: '%s' gives %.9g, not %.9g", key, x->formula, value,
			 x->value);
	}
	assert_true(x->terms < EXPLAIN_MAX_TERMS);
	for (int i = 0; i < x->terms; i++) {
		for (int j = 0; j < i; j++)
			if (strcmp(x->term[i].symbol, x->term[j].symbol) == 0) {
				describe(w, x);
				fail_msg("%s has %s twice", key, x->term[i].symbol);
			}
		if (!formula_uses(x->formula, x->term[i].symbol)) {
			describe(w, x);
			fail_msg("%s does not use %s", key, x->term[i].symbol);
		}
		if (!x->term[i].key[0]) {
			describe(w, x);
			fail_msg("%s: %s has no key", key, x->term[i].symbol);
		}
	}
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* An end is a knob, a constant of a preset, a count of the model, what a simulation
 * returned, or what measured runs were off; and calls, or kernels, of several sizes
 * that one number adds up. */
static void check_end(const char *key, const struct explanation *x)
{
	if (knob_find(key) || starts(x->assumption, "A constant of the preset") ||
	    starts(x->formula, "none: counted") ||
	    starts(x->formula, "none: what a simulation returned") ||
	    starts(x->formula, "none: calls of several sizes") ||
	    starts(x->formula, "none: kernels of several sizes") ||
	    starts(x->formula, "none: as far as measured runs"))
		return;
	fail_msg("%s ends a chain: %s", key, x->formula);
}

void walk_check(const struct walk *w, const char *key, const struct explanation *x)
{
	/* who reads a page has the program, not its source code */
	if (strstr(x->source, "engine/"))
		fail_msg("%s: the source '%s' is not at hand", key, x->source);
	if (x->computes || x->terms > 0 || w->path_length == 1)
		check_page(w, key, x);
	else
		check_end(key, x);
}

static bool is_seen(struct walk *w, const char *key)
{
	for (int i = 0; i < w->path_length; i++)
		if (strcmp(w->path[i], key) == 0)
			fail_msg("%s leads to itself", key);
	for (int i = 0; i < w->count; i++)
		if (strcmp(w->seen[i], key) == 0)
			return true;
	assert_true(w->count < WALKED);
	snprintf(w->seen[w->count++], sizeof w->seen[0], "%s", key);
	return false;
}

void walk_follow(struct walk *w, const char *key, bool deep)
{
	struct explain_facts *facts;
	struct explanation *x;

	if (is_seen(w, key))
		return;
	facts = explain_facts();
	x = malloc(sizeof *x);
	if (!explain_with(facts, w->scenario, w->estimate, key, x))
		fail_msg("%s is not explained", key);
	assert_true(w->path_length < DEPTH);
	snprintf(w->path[w->path_length++], sizeof w->path[0], "%s", key);
	walk_check(w, key, x);
	for (int i = 0; deep && i < x->terms; i++) {
		struct explanation_term *term = &x->term[i];
		struct explanation next;

		walk_follow(w, term->key, deep);
		assert_true(explain_with(facts, w->scenario, w->estimate, term->key,
					 &next));
		if (next.value != term->value) {
			describe(w, x);
			fail_msg("%s: %s is %.17g, its page says %.17g", key,
				 term->symbol, term->value, next.value);
		}
	}
	w->path_length--;
	free(facts);
	free(x);
}
