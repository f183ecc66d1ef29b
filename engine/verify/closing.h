/* closing.h - the numbers that close a box, computed again; only engine/verify/
 * includes it. */
#ifndef ENGINE_VERIFY_CLOSING_H
#define ENGINE_VERIFY_CLOSING_H

#include "engine/estimate/estimate.h"
#include "engine/train/bound.h"
#include "engine/verify/verify.h"

/* What becomes of the plans of a box, as bits of what was found of them. */
enum {
	BY_PAIRS = 1,
	BY_HELD = 2,
	BY_FLOOR = 4,
	BY_LARGE = 8,
	BY_PLANS = 16,
	BY_HOSTS = 32,
	BY_RULE = 64,
	BY_ANY = 127
};

struct closing {
	const char *word;
	bool bytes; /* its number is of bytes */
	int by;     /* 0: of relaxed plans */
};

struct reader {
	const struct verify_question *q;
	struct verified *out;
	const char *at, *word;
	size_t length;
	int line;
	double counted;
	uint64_t random, left[VERIFY_AXES]; /* the box's values */
	uint8_t choice[VERIFY_AXES], costed[VERIFY_AXES];
	int divides, shapes, modes, states; /* the first axis of each role */
	bool is_costed, alone;              /* alone: states one by one at once */
	struct trial trial;
	struct estimate estimate;
	struct train_bound outer, mode;
	struct layer_cost part[MAX_PARTS];
	double ends, score, bytes; /* least ones */
	struct bound_bytes held;
	int by;
	bool dealt;
	int rules; /* rows that read a knob inside a node */
	struct {
		int row;
		bool of_pairs; /* one role alone, and no state */
	} rule[MAX_RULES];
	bool (*inside)(struct reader *); /* of a node, mode by mode */
};

bool closing_arrange(struct reader *reader);
void closing_rules(struct reader *reader);
bool closing_reads(const char *reads, const char *key);
const struct closing *closing_find(const char *word, size_t length);
bool closing_check(struct reader *reader, const struct closing *closing, double number);
double closing_score(const struct reader *reader, double seconds, double bytes);
double closing_room(const struct reader *reader);
/* Each choice of these axes in the box, names of others left out. */
bool reader_each(struct reader *reader, int at, int end,
		 bool (*visit)(struct reader *));

#endif
