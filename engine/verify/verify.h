/* verify.h - does the certificate of a search prove its answer? A reader that shares
 * nothing with the planner but the estimate and the terms with relaxed facts
 * (engine/train/relax.h): the boxes of engine/planner/certify.h must part the
 * space, each once, and each must be closed by numbers that come out the same here.
 */
#ifndef ENGINE_VERIFY_H
#define ENGINE_VERIFY_H

#include "engine/knob/knob.h"
#include "engine/plan/scenario.h"
#include "engine/predict/objective.h"

enum { VERIFY_AXES = 24, VERIFY_VALUES = 48, VERIFY_NAME = 48 };

/* A knob that was free, and the values that it might take, as they are printed. */
struct verify_axis {
	const struct knob *knob;
	int count;
	double value[VERIFY_VALUES];
	char name[VERIFY_VALUES][VERIFY_NAME];
};

struct verify_question {
	struct scenario base; /* with the rows of the sheet and the trust that hold */
	enum objective objective;
	double reserve;
	int axes; /* in the order of the tree */
	struct verify_axis axis[VERIFY_AXES];
	double answer; /* the best score; INFINITY: nothing fits */
	uint8_t best[VERIFY_AXES];
	double candidates;
};

struct verified {
	bool good;
	int line; /* where it fails, of the boxes, from 1 */
	char why[160];
	double boxes;
};

/* The boxes as text that ends with a zero. False without memory. */
bool certificate_verify(const struct verify_question *question, const char *boxes,
			struct verified *out);

#endif
