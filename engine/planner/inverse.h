/* inverse.h - questions the other way round: not which plan is fastest, but how small
 * the machine, or how large the work, can be before no plan fits.
 *
 * Where the problem falls back to less known plans, so does a question: its answer is
 * the best value at which a search finds any plan.
 *
 * A question is a series of searches, each for one value, in an order that ends at
 * the answer. Who asks runs them, in slices or on threads as it likes:
 *
 *	while (inverse_next(&inverse, &problem)) {
 *		... search problem ...
 *		if (!inverse_take(&inverse, &problem, &result))
 *			... out of memory ...
 *	}
 */
#ifndef ENGINE_PLANNER_INVERSE_H
#define ENGINE_PLANNER_INVERSE_H

#include "engine/planner/planner.h"

enum inverse_kind {
	INVERSE_GPUS,        /* the fewest GPUs; with a deadline: that reach it */
	INVERSE_MICRO_BATCH, /* the largest */
	INVERSE_SEQUENCE,    /* the longest */
	INVERSE_MODEL,       /* the largest of this shape, see model_scale() */
	INVERSE_COUNT
};

enum { MAX_TRIED = 512 };

struct inverse {
	enum inverse_kind kind;
	const struct planner_problem *problem; /* not owned */
	double deadline_seconds;               /* of the whole run; 0 = none */
	int count, at;                         /* the values that may be tried, and */
	double value[MAX_TRIED];               /* which one is now */
	int low, high;  /* known to fit, known not to; outside = not known */
	bool rising;    /* tried one after the other; else by halves */
	bool answering; /* the answer's best plan is searched for */
	bool open;      /* known plans have answered, now those that any plan may */
	bool done;

	/* Whether a value was found, and then the value, the best plan at it and the
	 * scenario of that. */
	bool found;
	double answer, parameters; /* of the answer's model */
	struct scenario scenario;
	/* What plans of the problem's trust answer, where the problem falls back from
	 * it: less than the answer, which is a less known plan's; 0 = none does. */
	double known;
	/* the nearest value tried where nothing fits (or too late), 0 = none */
	double beyond;
};

/* "gpus", "mbs", "seq", "model"; INVERSE_COUNT if there is none. */
const char *inverse_word(enum inverse_kind kind);
enum inverse_kind inverse_find(const char *word);

/* "30", "30d" or "72h" in seconds; 0 if it is none of these or not above 0. */
double inverse_deadline(const char *text);

/* The problem's own axis for the value, if it is more than the usual one, says what is
 * tried; else: GPUs 1, 2 ... a node, then nodes of odd part up to 15; micro-batches
 * that divide the global batch; sequences to a sixteenth; models to an eighth of their
 * width and depth. */
void inverse_begin(struct inverse *inverse, enum inverse_kind kind,
		   const struct planner_problem *problem, double deadline_seconds);
/* Only values between these two, neither of them included, before any was tried. */
void inverse_keep(struct inverse *inverse, double above, double below);
/* The next search; false once done. */
bool inverse_next(struct inverse *inverse, struct planner_problem *out);
/* False where memory ran out before it was known whether the run ends in time. */
bool inverse_take(struct inverse *inverse, const struct planner_problem *problem,
		  const struct planner_result *result);

/* GPU counts of this cluster's nodes, rising, from one up to `most`; how many. */
int inverse_gpus(const struct cluster *cluster, double most, double *value, int room);

#endif
