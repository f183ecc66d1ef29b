/* closing.h - the numbers that close a box, computed again; only engine/verify/
 * includes it. */
#ifndef ENGINE_VERIFY_CLOSING_H
#define ENGINE_VERIFY_CLOSING_H

#include "engine/estimate/estimate.h"
#include "engine/train/relax.h"
#include "engine/verify/verify.h"

enum { MOST_CHOICES = 1 << 12 }; /* of the axes of one role, inside a node */

struct reader {
	const struct verify_question *q;
	struct verified *out;
	const char *at, *word;
	size_t length;
	int line;
	double counted;
	uint64_t random, left[VERIFY_AXES]; /* the box's values */
	uint8_t choice[VERIFY_AXES], costed[VERIFY_AXES];
	bool is_costed, dealt;
	int first[TRAIN_ROLES + 1]; /* where the axes of each role begin */
	struct trial trial;
	struct estimate estimate;
	struct train_set set;
	struct train_bound outer, bound; /* of the relaxed plan, and at work */
	struct train_states least;
	struct layer_cost part[MAX_PARTS];
	double score, bytes; /* least ones */
	int shapes;          /* that may be taken */
	bool no_states[MOST_CHOICES], no_shape[MOST_CHOICES];
};

/* Sorts the axes by role and frees them in the set; false where they don't stand in
 * the order of the tree. */
bool closing_arrange(struct reader *reader);
bool closing_reads(const char *reads, const char *key);
/* Whether a box closes as this word says, with this number. */
bool closing_check(struct reader *reader, const char *word, double number);
/* Each choice of these axes in the box, names of others left out; verify.c. */
bool reader_each(struct reader *reader, int at, int end,
		 bool (*visit)(struct reader *));

#endif
