/* start.h - what a person did not say of a scenario: a plan to begin with.
 *
 * Given a model, a machine and maybe a number of accelerators (else whole nodes that
 * have room for the model), a start is a plan that is legal, fits with margin where any
 * usual layout does, and is what one would try first: the best of the usual layouts by
 * a quick search (engine/planner/planner.h), with the stack's own habits. What was
 * given is never changed.
 *
 * Who reads a scenario file does not come here: a file is a full statement.
 */
#ifndef ENGINE_START_H
#define ENGINE_START_H

#include "engine/knob/knob.h"

struct start {
	/* To be filled by the caller: whether there is no plan to begin with, knobs
	 * that the person set, and whether the names of the cluster and the stack are
	 * the caller's own choice. */
	bool wanted;
	int givens;
	const struct knob *given[MAX_KNOBS];
	bool cluster, stack;

	/* Filled: the plan before it was chosen, and the knobs that the start decided,
	 * whether it changed them or not. */
	struct plan before;
	int chosen;
	const struct knob *choice[MAX_KNOBS];
	/* What the reader of a file assumed beside these, in words:
	 * "vocab-size 51200". */
	char others[256];
};

/* Notes that the person set it; start_forget: that a choice is not to be told. */
void start_give(struct start *start, const struct knob *knob);
void start_forget(struct start *start, const struct knob *knob);
/* Whether it is a choice of every start: a degree, the micro-batch, what is computed
 * again. Not how much there is to do, and on how many accelerators. */
bool start_decides(const struct knob *knob);
/* Sets what was not given. The scenario holds model, cluster, stack with its defaults
 * and what was given. */
void start_choose(struct start *start, struct scenario *scenario);
/* What the same start makes of its scenario with one more knob given: a plan that takes
 * a remedy and leaves open what was left open. False: the knob can't have that value. A
 * start that was not wanted changes that knob alone. */
bool start_again(const struct start *start, const struct scenario *scenario,
		 const struct knob *knob, double value, struct scenario *out);
/* The share of drafted tokens that is taken to hold where nobody says; else 0. */
double start_acceptance(const struct scenario *scenario);
/* Whether its cluster's file states no rates of kernels for what it does. */
bool start_believes_kernels(const struct scenario *scenario);
/* The same of its links. */
bool start_believes_links(const struct scenario *scenario);
/* "dgx-h100, seq 4096, gbs 1024, tp 4": what was chosen, with its values in the
 * scenario, and what the numbers stand on that nobody said; what does nothing
 * there is left out. Empty, and 0, where nothing was. */
size_t start_text(const struct start *start, const struct scenario *scenario, char *out,
		  size_t size);
/* The same, with its others behind. */
size_t start_whole_text(const struct start *start, const struct scenario *scenario,
			char *out, size_t size);

#endif
