/* left_runs.h - every timed run beside what constants predicted of it that its source
 * had no say in: what `make left-out` writes, and the ranges that ship are learned
 * from. */
#ifndef TESTS_VALIDATION_LEFT_RUNS_H
#define TESTS_VALIDATION_LEFT_RUNS_H

#include <stdbool.h>

#include "tests/validation/ranges.h"

struct left_run {
	char source[64], id[128];
	int kind; /* enum run_kind */
	/* log(predicted / measured): of constants fitted without the source, and at
	 * that time of those that ship */
	double error, shipped;
};

struct left_runs {
	struct left_run *run;
	int count, room;
};

/* False: out of memory. */
bool left_runs_add(struct left_runs *all, const struct left_run *run);
/* False, said on standard error: it can't be read, or written. */
bool left_runs_read(struct left_runs *all, const char *path);
bool left_runs_write(const struct left_runs *all, const char *path);
void left_runs_free(struct left_runs *all);
/* As ranges_learn() has it, of the runs of a kind, and the share that ranges of all
 * other sources held. Predictions have since grown by so much (its logarithm, one a
 * run; NULL: by nothing). */
bool left_runs_learn(const struct left_runs *all, int kind, const double *moved,
		     struct learned *out, double *held);
/* Writes the ranges of dense models and of mixtures into such a file as
 * presets/accuracy/training.yaml; false, said on standard error. */
bool left_runs_ship(const struct left_runs *all, const char *path);

#endif
