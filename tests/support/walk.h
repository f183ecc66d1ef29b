/* walk.h - follows the chains of an explanation, number by number. */
#ifndef TESTS_SUPPORT_WALK_H
#define TESTS_SUPPORT_WALK_H

#include "engine/explain/explain.h"

enum { WALKED = 24000, DEPTH = 32 };

/* Keys that one scenario's chains have been through: each is walked once. */
struct walk {
	const struct scenario *scenario;
	const struct estimate *estimate;
	int count, path_length;
	char seen[WALKED][EXPLAIN_MAX_KEY];
	char path[DEPTH][EXPLAIN_MAX_KEY];
};

/* Computes the formula with the terms, as a reader would. False where it can't be. */
bool walk_compute(const struct explanation *x, double *value);
/* The formula of a page gives its value, no term is without a use or a page; an end is
 * one, where the path is longer than this key. */
void walk_check(const struct walk *walk, const char *key, const struct explanation *x);
/* Checks the page of a key: the formula gives the value, no term is without a use or a
 * page, and an end is one; with deep every chain to its ends, each number once, and
 * that a term has the value of its page. */
void walk_follow(struct walk *walk, const char *key, bool deep);

#endif
