/* compare.h - where do the seconds and bytes of some plans differ?
 *
 * Each plan's step is a sum of rows: computing without recomputation, recomputation,
 * the exposed time of each dimension (host: offload), bubble, optimizer; the rows of
 * all plans are the same, so the difference of two steps is the sum of the rows'
 * differences. Memory is that of the fullest stage. Of a server the rows are those of a
 * decode pass.
 */
#ifndef ENGINE_COMPARE_H
#define ENGINE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"

enum {
	MAX_COMPARED = 8,
	MAX_COMPARE_ROWS = 12,
	MAX_COMPARE_KNOBS = 40 /* that differ */
};

struct compare_row {
	const char *key, *label;    /* "exposed.tp", "TP exposed" */
	double value[MAX_COMPARED]; /* seconds or bytes */
	double more[MAX_COMPARED];  /* than the first plan's */
	bool matters;               /* not zero in all */
};

/* Rows that add up to their sum. */
struct compare_sum {
	int rows;
	struct compare_row row[MAX_COMPARE_ROWS], sum;
};

struct compare {
	int plans;
	bool serves;
	struct compare_sum seconds, bytes;
	bool legal[MAX_COMPARED], fits[MAX_COMPARED];
	/* Tokens a second per GPU, and its ratio to the first plan's less 1: what is
	 * better where batch or machine differ. */
	double rate[MAX_COMPARED], gain[MAX_COMPARED];
	int knobs; /* that differ between any of them, in the order of the table */
	const struct knob *knob[MAX_COMPARE_KNOBS];
};

/* Of `plans` scenarios of one mode, at most MAX_COMPARED, with their estimates. Rows of
 * an illegal plan are 0. */
void compare_plans(const struct scenario *const *scenario,
		   const struct estimate *const *estimate, int plans,
		   struct compare *out);
/* Turns the knobs of a text "tp=8 pp=4" or "tp=8,pp=4". False with the reason in why.
 */
bool compare_turn(struct scenario *scenario, const char *text, char *why, size_t size);

#endif
