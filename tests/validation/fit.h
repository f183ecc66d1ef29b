/* fit.h - what the fit's two ways of moving constants share. */
#ifndef TESTS_VALIDATION_FIT_H
#define TESTS_VALIDATION_FIT_H

#include "presets/runs/runs.h"
#include "tests/validation/constants.h"

enum { MAX_CONTESTS = 4096 };

struct fit {
	struct run_set set;
	struct estimate estimate;
	double *error; /* log(predicted / measured); NAN where not scored */
	int *contest;
	int *part; /* of each run: its source, stack, model or accelerator */
	int parts;
	char (*part_name)[MAX_NAME];
	bool *left_out; /* [part] */
	bool *apart;    /* [source]: no constant is fitted to it */
};

/* A constant off by a factor e costs fit_pull. */
extern const double fit_pull, fit_enough_runs;
/* Whether the run takes part in the fit. */
bool fit_takes(const struct fit *f, int run);

bool fit_scores(const struct fit *f, int run);
void fit_predict(struct fit *f, int run);
/* Set a constant in all runs and predict them again. */
void fit_apply(struct fit *f, const struct constant *c);
/* Mean over the sources that take part. */
double fit_objective(const struct fit *f);
double fit_tether(const struct constant *c);

/* Move all constants at once, by reweighted least squares with damped steps, while the
 * objective falls. False: out of memory. */
bool fit_solve(struct fit *f, int rounds);

#endif
