/* server.h - what the pages of a server read: its estimate, its plan, its terms. */
#ifndef ENGINE_EXPLAIN_SERVER_H
#define ENGINE_EXPLAIN_SERVER_H

#include "engine/explain/row.h"

static inline const struct serving_estimate *serving(const struct asked *a)
{
	return &a->estimate->serving;
}

static inline const struct serving_plan *plan(const struct asked *a)
{
	return &a->scenario->plan.serving;
}

/* A term with the value of that key. */
static inline void from(const struct asked *a, struct explanation *out,
			const char *symbol, const char *meaning, const char *key)
{
	explain_from(a, out, symbol, meaning, "%s", key);
}

/* The terms of a first token from the prompt alone to the transfer; received, company:
 * the wait until those before it are received, and for others of its pass, too. */
void explain_first_waits(const struct asked *asked, struct explanation *out,
			 bool received, bool company);

#endif
