/* verify.h - does the certificate of a search prove its answer? A reader that shares
 * nothing with the planner but the estimate and the terms of sets of plans
 * (engine/train/relax.h, serve_ceiling()): the boxes of engine/planner/certify.h must
 * part the space, each once, and each must be closed by numbers that come out the same
 * here.
 */
#ifndef ENGINE_VERIFY_H
#define ENGINE_VERIFY_H

#include "engine/predict/objective.h"

struct verified {
	bool good;
	int line; /* where it fails, of the text, from 1 */
	char why[160];
	enum objective objective;
	double answer; /* the best score; INFINITY: nothing fits */
	double candidates, boxes;
};

/* A certificate's text behind its scenario, which ends with a zero. False without
 * memory. */
bool certificate_verify(const struct scenario *scenario, const char *text,
			struct verified *out);

#endif
