/* left_out.h - how sources of measured runs are met by constants that were fitted
 * without them: a table that `make fit FIT="--each --left-out FILE"` writes, and of
 * servers `make fit-serving FIT="--ranges --left-out FILE"`. */
#ifndef PRESETS_RUNS_LEFT_OUT_H
#define PRESETS_RUNS_LEFT_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "presets/error.h"

enum { MAX_LEFT_OUT = 256 };

/* What was predicted: steps of dense models and of mixtures, and from LEFT_SERVING on
 * the figures of servers (enum score_figure), of all, then of each kind of them (enum
 * score_kind). */
enum { LEFT_DENSE, LEFT_EXPERTS, LEFT_SERVING };

struct left_out {
	char source[64]; /* the name of its file of runs */
	int kind;
	int runs;
	double median, p90; /* of |predicted / measured - 1| */
};

struct left_outs {
	struct left_out row[MAX_LEFT_OUT];
	int count;
};

/* Adds the rows of a file, "source,kind,runs,median,p90" and a row each; false with
 * error filled. */
bool left_outs_read(struct left_outs *out, const char *path, struct error *error);
void left_outs_write(const struct left_outs *all, FILE *stream);
/* NULL: there is none. */
const struct left_out *left_outs_find(const struct left_outs *all, const char *source,
				      int kind);
/* Medians over the sources that have any; false if none has. */
bool left_outs_total(const struct left_outs *all, int kind, struct left_out *out);

#endif
