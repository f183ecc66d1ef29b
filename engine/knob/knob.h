/* knob.h - the table of everything that a person can turn.
 *
 * Command line, YAML, screen, planner axes and exports all iterate over it;
 * a new knob is one row in knob/table.c and one field in the scenario.
 *
 * A person types whole numbers with binary suffixes (8k sequence = 8192 tokens)
 * and quantities with decimal ones (15T tokens of a run = 15e12).
 */
#ifndef ENGINE_KNOB_H
#define ENGINE_KNOB_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"

enum knob_type { KNOB_INT, KNOB_REAL, KNOB_BOOL, KNOB_WORD, KNOB_SET, KNOB_TEXT };

enum knob_group {
	GROUP_PARALLELISM,
	GROUP_BATCH,
	GROUP_PIPELINE,
	GROUP_MEMORY,
	GROUP_PRECISION,
	GROUP_OVERLAP,
	GROUP_MOE,
	GROUP_CLUSTER,
	GROUP_RUN,
	GROUP_SERVING,
	GROUP_COUNT
};

/* How the next and previous value are found. */
enum knob_step {
	STEP_DEGREE, /* divisors of the world, powers of two beyond it */
	STEP_SERIES, /* 1, 2, 3, 4, 6, 8, 12, 16 ... */
	STEP_ONE,    /* plus and minus one */
	STEP_TENTH,  /* plus and minus 0.1 */
	STEP_DECADE, /* 1, 2, 5, 10 ... */
	STEP_DOUBLE, /* half and twice */
	STEP_WORD    /* the next word, wrapping not */
};

struct knob {
	const char *key;   /* "tp": command line, YAML, JSON */
	const char *alias; /* another spelling that readers accept, or NULL */
	const char *label; /* "TP  tensor", at most 16 columns */
	const char *unit;  /* "tokens", or "" */
	const char *help;  /* one line */
	enum knob_group group;
	enum knob_type type;
	enum knob_step step;
	double min, max;          /* of the shown value */
	double scale;             /* stored = shown * scale */
	const char *zero;         /* word for 0 ("auto", "all", "off"), or NULL */
	const char *const *words; /* NULL-terminated, of KNOB_WORD and KNOB_SET */
	size_t offset, size;      /* in struct scenario; size of a KNOB_TEXT */
	/* Whether it does anything in this scenario (EP on a dense model does
	 * not); NULL = always. Screens dim it, they never hide a problem. */
	bool (*applies)(const struct scenario *);
	/* Of training and inference; else it belongs to the one that its group is for
	 * (knob_in_mode). */
	bool both;
	/* Key of the metric that it moves where that is not throughput; NULL: it is. */
	const char *moves;
};

extern const struct knob knob_table[];
int knob_count(void);
const char *knob_group_label(enum knob_group group);
/* Whether it means anything in that mode (enum plan_mode), whatever else is set. */
bool knob_in_mode(const struct knob *knob, int mode);
/* Whether it does anything in this scenario. */
bool knob_applies(const struct scenario *scenario, const struct knob *knob);
/* By key or alias; '-' and '_' are equal. NULL if there is none. */
const struct knob *knob_find(const char *key);
/* Key nearest in spelling, for error messages; NULL if none is near. */
const char *knob_nearest_key(const char *key);
/* Edits (insert, delete, replace, swap of neighbours) that make b of a; 40 where one
 * is longer than that. '-' and '_' and cases are equal. */
int knob_distance(const char *a, const char *b);
/* The same where it is no more than `most`; else some number above it. */
int knob_distance_within(const char *a, const char *b, int most);

/* Words of enum precision. */
extern const char *const precision_words[];
/* The shown value as a number (words: index, sets: bits); 0 for KNOB_TEXT. */
double knob_get(const struct scenario *scenario, const struct knob *knob);
const char *knob_get_text(const struct scenario *scenario, const struct knob *knob);
/* False, and nothing changed, if value is outside the knob's domain. */
bool knob_set(struct scenario *scenario, const struct knob *knob, double value);
/* Parse what a person typed ("8", "8k", "4M", "15T", "on", "1f1b",
 * "layernorm+moe_act", "auto") and set it. False with the reason in why. */
bool knob_parse(struct scenario *scenario, const struct knob *knob, const char *text,
		char *why, size_t size);
/* Whether the scenario's value, the one at this place, means what an earlier one does:
 * it does nothing, or is what the stack's rule gives for ETP too, or other degrees and
 * GPUs for a pool of prompts. Schedule, chunks and split of one stage do nothing, nor
 * do layers to recompute beside modules, but rules look at them: interleaving allows no
 * chunks there. */
bool knob_repeats(struct scenario *scenario, const struct knob *knob,
		  const double *value, int at);
/* Whether it is known as soon as the degrees are which values repeat others: of SP, the
 * kind of CP, ETP. */
bool knob_repeats_early(const struct knob *knob);
/* Print the value as knob_parse reads it back. */
size_t knob_print(const struct scenario *scenario, const struct knob *knob, char *out,
		  size_t size);
/* The same of a value that is not set, for strips and remedies. */
size_t knob_print_value(const struct knob *knob, double value, char *out, size_t size);
/* Print for the screen: "4 (auto)", "8 Ki", words; never longer than size-1. */
size_t knob_show(const struct scenario *scenario, const struct knob *knob, char *out,
		 size_t size);
/* What it takes, for prompts and help: "1 to 4096, auto", "none, selective, full". */
void knob_domain(const struct knob *knob, char *out, size_t size);
/* The next value up (direction 1) or down (-1), legal or not; the same value at
 * an end of the domain. */
double knob_neighbour(const struct scenario *scenario, const struct knob *knob,
		      int direction);
/* The values of a range with both ends, rising: whole numbers or words; of real knobs,
 * and of whole ones with more than `room` values, those that its steps come by. How
 * many, or -1 if they are more than `room`. */
int knob_range(const struct scenario *scenario, const struct knob *knob, double from,
	       double to, double *values, int room);

/* Up to MAX_VALUES candidate values in rising order, the present one among
 * them; *present is its index. Returns how many. */
int knob_values(const struct scenario *scenario, const struct knob *knob,
		double values[MAX_VALUES], int *present);
bool knob_same(const struct scenario *a, const struct scenario *b,
	       const struct knob *knob);

#endif
