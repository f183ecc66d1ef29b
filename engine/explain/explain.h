/* explain.h - where does this number come from? */
#ifndef ENGINE_EXPLAIN_H
#define ENGINE_EXPLAIN_H

#include "engine/estimate/estimate.h"

struct explanation_term {
	const char *symbol;  /* "m" */
	const char *meaning; /* "micro-batches per pipeline" */
	enum form form;
	double value;
	/* Of the number behind it, which explain() takes again: a metric, a knob or a
	 * constant ("stack.dp_overlap"); NULL where there is none. */
	const char *key;
};

struct explanation {
	const char *title;
	const char *formula; /* "(p - 1) / (v*m + p - 1)" */
	/* Computed with the terms (engine/base/formula.h) it gives the value within
	 * 1e-6; else it is in words. */
	bool computes;
	enum form form;
	double value;           /* of the estimate */
	const char *assumption; /* one or two sentences */
	const char *source;     /* paper and equation, or file of the constant */
	int terms;
	struct explanation_term term[24];
};

/* By the key of metric_table, of a stage or dimension field ("tp.bytes",
 * "stages.3.activations_bytes"), of a knob ("tp") or of a constant of the presets
 * ("cluster.usable_bytes"), where a chain of keys ends. False if there is no such
 * number. */
bool explain(const struct scenario *scenario, const struct estimate *estimate,
	     const char *key, struct explanation *out);

#endif
