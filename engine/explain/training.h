/* training.h - what the pages of a step read that many formulas share. */
#ifndef ENGINE_EXPLAIN_TRAINING_H
#define ENGINE_EXPLAIN_TRAINING_H

#include "engine/explain/row.h"

static inline const struct plan *plan(const struct asked *a)
{
	return &a->scenario->plan;
}

/* A term with the value of that key: mostly a knob or a constant. */
static inline void knob(const struct asked *a, struct explanation *out,
			const char *symbol, const char *meaning, const char *key)
{
	explain_from(a, out, symbol, meaning, "%s", key);
}

#endif
