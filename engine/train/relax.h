/* relax.h - the terms of a set of plans at once: what none of them can go below.
 *
 * A set is a scenario with some knobs free. Its relaxed plan takes of each the value
 * that costs least; bounds of it (bound.h) are bounds of all. Sums of such terms, of
 * one way to recompute with any shape and any states, of one with a shape, of one plan,
 * are less and less relaxed.
 */
#ifndef ENGINE_TRAIN_RELAX_H
#define ENGINE_TRAIN_RELAX_H

#include "engine/train/bound.h"

/* What a knob decides, and so which calls of trial.h it needs. */
enum train_role {
	DECIDES_COST,   /* of a micro-batch: TP, SP, CP, EP, its samples ... */
	DECIDES_BATCH,  /* how many micro-batches and stages there are */
	DECIDES_SHAPE,  /* of the pipeline: schedule, chunks, split */
	DECIDES_MODE,   /* what is computed again or sent out */
	DECIDES_STATES, /* who holds weights, gradients and the optimizer's states */
	TRAIN_ROLES
};

enum train_role train_role_of(const char *key);
/* The last role of the knobs of these keys, which stand between blanks. */
enum train_role train_role_of_all(const char *keys);

struct train_set {
	bool free_shape, free_mode, free_split, free_recompute, free_layers,
		free_modules, free_group, free_activations;
	bool pairs, two_copies; /* of any schedule */
	bool plain;             /* all of them run one chunk a stage round by round */
	int zeros, shares;
	const double *zero, *share; /* ZeRO; of the states that go to the hosts */
};

/* Nothing is free. */
void train_set_begin(struct train_set *set, const struct scenario *scenario);
/* This knob takes any of these values, which the set borrows; of one it is given. */
void train_set_free(struct train_set *set, const char *key, const double *value,
		    int count);
/* Of the free knobs what costs least. */
void train_relax(const struct train_set *set, struct plan *plan);
/* What a micro-batch of the relaxed plan in the trial costs: hangs on DECIDES_COST
 * alone, so a tied head, and layers of a stage that are recomputed, count as on a
 * single stage. Its plan is as before. */
void train_relaxed_cost(const struct train_set *set, struct trial *trial,
			struct train_bound *out);
/* Seconds of a step, and bytes, that no plan of the set goes below; the scenario has
 * the relaxed plan. Bytes are with activations where nothing is free that decides
 * them. */
double train_relaxed_seconds(const struct train_set *set,
			     const struct train_bound *bound,
			     struct scenario *scenario);
double train_relaxed_bytes(const struct train_set *set, const struct train_bound *bound,
			   struct scenario *scenario);

/* The least of several ways to hold the states. */
struct train_states {
	double ends; /* seconds behind the pipeline */
	struct bound_bytes bytes;
};

void train_states_begin(struct train_states *least);
/* With the states of the scenario too, and one copy of the weights; own, if given, is
 * of these alone. */
void train_states_add(const struct train_bound *bound, struct scenario *scenario,
		      struct train_states *least, struct train_states *own);
/* Least seconds of a step with these states, its stages dealt out without ZeRO's
 * traffic. */
double train_dealt_seconds(struct trial *trial, const struct train_states *states);

#endif
