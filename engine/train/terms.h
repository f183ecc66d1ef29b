/* terms.h - what a stage holds and how long its update takes, addend by addend.
 *
 * Each row of terms.c is one cost term, told once: the estimate adds the rows of a list
 * up, and Explain prints the same rows, each with a page of its own.
 */
#ifndef ENGINE_TRAIN_TERMS_H
#define ENGINE_TRAIN_TERMS_H

#include "engine/train/step.h"

/* What the rows read: of a step, and of the stage at hand. */
struct holding {
	const struct step *step;
	const struct plan *plan;
	const struct stack *stack;
	struct shards shards;
	struct states each;
	double weight_bytes, gradient_bytes, sent_bytes, logit_width, vocab,
		communicators, graphs;
	const struct stage_sum *sum;
	double again;                      /* bytes of a layer that runs again */
	double gathered, gathered_trained; /* weights that ZeRO 3 has gathered */
	/* Chunks of the stage that receive a micro-batch of the one before, and send it
	 * to the one behind; micro-batches in flight. */
	double receives, sends, in_flight;
	double activations, buffers; /* bytes */
	double shared, local; /* trained weights: whose update is made here, and all */
};

/* Of all stages; then of one with these layers and so many micro-batches in flight,
 * which nothing but buffers asks for. */
void holding_begin(const struct step *step, struct holding *out);
void holding_enter(struct holding *holding, int stage, const struct stage_sum *sum,
		   double in_flight);

/* A symbol of a row's formula and the key of the number that it stands for, which with
 * a dot in front is one of the same stage. */
struct term_link {
	const char *symbol, *key, *meaning;
};

enum { MAX_LINKS = 9 };

struct term {
	const char *key;    /* of its page, behind "stages.3." */
	const char *symbol; /* in the sum */
	const char *title, *assumption, *formula;
	struct term_link link[MAX_LINKS];
	double (*value)(const struct holding *holding);
};

/* Each ends with a row whose key is NULL. Bytes of buffers and of the framework;
 * seconds of the optimizer on the accelerator, before any scale. */
extern const struct term buffer_terms[], framework_terms[], update_terms[];

/* The sums of their rows. */
double holding_buffers(const struct holding *holding);
double holding_framework(const struct holding *holding);
double holding_update(const struct holding *holding);
/* What the allocator reserves above what is live: a row of the framework's. */
double holding_loose(const struct holding *holding);

#endif
