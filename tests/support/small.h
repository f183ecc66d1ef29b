/* small.h - one small layer on two ranks of TP, whose operators are counted by hand.
 *
 * small_layer() makes the scenario, which a test then changes; small_draw() draws the
 * layer of it.
 */
#ifndef TESTS_SUPPORT_SMALL_H
#define TESTS_SUPPORT_SMALL_H

#include "engine/graph/graph.h"

enum {
	SEQ = 96,
	SEQUENCES = 3,
	TP = 2,
	HEADS = 12,
	KEYS = 4,
	QUERY_DIM = 40,
	VALUE_DIM = 24,
	HIDDEN = 288,
	FFN = 544
};

extern struct scenario scenario;
extern struct mesh mesh;
extern struct graph_context context;
extern struct graph graph;

/* Flash attention of half of the heads on each rank and an MLP that is not gated, in
 * bf16, without sequence parallelism. */
void small_layer(void);
void small_draw(void);
/* The first operator of a kind, or of a name; fails the test if there is none. */
const struct graph_operator *small_kind(enum operator_kind kind);
const struct graph_operator *small_named(const char *name);
/* NULL if there is none. */
const struct graph_operator *small_find(const char *name);

#endif
