/* explain.h - where does this number come from? */
#ifndef ENGINE_EXPLAIN_H
#define ENGINE_EXPLAIN_H

#include "engine/estimate.h"

struct explanation_term {
	const char *symbol;  /* "m" */
	const char *meaning; /* "micro-batches per pipeline" */
	enum form form;
	double value;
};

struct explanation {
	const char *title;
	const char *formula; /* "(p - 1) / (v*m + p - 1)" */
	enum form form;
	double value;           /* of the estimate */
	const char *assumption; /* one or two sentences */
	const char *source;     /* paper and equation, or file of the constant */
	int terms;
	struct explanation_term term[24];
};

/* By the key of metric_table or of a stage or dimension field ("tp.bytes",
 * "stages.3.activations_bytes"). False if there is no such number. */
bool explain(const struct scenario *scenario, const struct estimate *estimate,
	     const char *key, struct explanation *out);

#endif
