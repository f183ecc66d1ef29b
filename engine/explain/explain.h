/* explain.h - where does this number come from? */
#ifndef ENGINE_EXPLAIN_H
#define ENGINE_EXPLAIN_H

#include "engine/base/formula.h"
#include "engine/estimate/estimate.h"
#include "engine/glossary/glossary.h"

enum { EXPLAIN_MAX_TERMS = 40, EXPLAIN_MAX_BESIDE = 12, EXPLAIN_MAX_KEY = 64 };

struct explanation_term {
	char symbol[24];     /* "m" */
	const char *meaning; /* "micro-batches per pipeline" */
	enum form form;
	double value;
	/* Of the number behind it, which explain() takes again: a metric, a knob or a
	 * constant ("stack.dp_overlap"); empty where there is none. */
	char key[EXPLAIN_MAX_KEY];
};

struct explanation {
	const char *title;
	char formula[FORMULA_MAX_TEXT]; /* "(p - 1) / (v * m + p - 1)" */
	/* Computed with the terms (engine/base/formula.h) it gives the value within
	 * 1e-6. False where an explanation ends: at a knob, at a constant, at what an
	 * algorithm decided or a simulation returned; and of a plan that can't run. */
	bool computes;
	enum form form;
	double value;           /* of the estimate */
	const char *assumption; /* one or two sentences */
	const char *source;     /* paper and equation, or file of the constant */
	/* What it means and why one would look at it or turn it, in plain words; NULL
	 * for most of what lies below the estimate. */
	const struct glossary_word *word;
	int terms;
	struct explanation_term term[EXPLAIN_MAX_TERMS];
	/* What a person may compare it with: the formula does not use it. */
	int besides;
	struct explanation_term beside[EXPLAIN_MAX_BESIDE];
	bool lacks_memory; /* why there is none */
};

/* By the key of metric_table, of a stage or dimension field ("tp.bytes",
 * "stages.3.activations_bytes"), of a number that one of these is made of
 * ("kinds.0.forward_seconds"), of a knob ("tp") or of a constant of the presets
 * ("cluster.usable_bytes"), where a chain of keys ends. False if there is no such
 * number, or no memory. */
bool explain(const struct scenario *scenario, const struct estimate *estimate,
	     const char *key, struct explanation *out);

/* Where many numbers of one scenario are asked for: what one of them needed, as a step
 * that is made once more, stands there for the others. Scenario and estimate stay as
 * they are meanwhile. explain_facts() is freed with free(); NULL: no memory. */
struct explain_facts;
struct explain_facts *explain_facts(void);
/* As if made anew, for another scenario or another estimate. */
void explain_forget(struct explain_facts *facts);
bool explain_with(struct explain_facts *facts, const struct scenario *scenario,
		  const struct estimate *estimate, const char *key,
		  struct explanation *out);

/* Numbers whose formula has a knob as one of its terms. */
enum { EXPLAIN_MAX_USES = 12, EXPLAIN_MAX_WALKED = 320 };
struct explain_uses {
	int count;
	char key[EXPLAIN_MAX_USES][EXPLAIN_MAX_KEY];
	const char *title[EXPLAIN_MAX_USES];
};
/* Where a knob stands: numbers of each title once, those nearest to the totals first.
 * Goes from the numbers of the mode down their terms; of alike ones, as those of each
 * stage, the first. */
void explain_uses(const struct scenario *scenario, const struct estimate *estimate,
		  const char *key, struct explain_uses *out);

#endif
