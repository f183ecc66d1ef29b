/* fit_serving.h - the search for serving constants, and who is left out of it. */
#ifndef TESTS_VALIDATION_FIT_SERVING_H
#define TESTS_VALIDATION_FIT_SERVING_H

#include "presets/runs/runs.h"
#include "tests/validation/serving_constants.h"

/* What is fitted, and what is only scored: the time to the first token under load
 * follows from the others. */
enum { FIT_FIGURES = SCORE_RATE + 1, RANGE_FIGURES = SCORE_TTFT_LOADED + 1 };

struct serving_fit {
	struct run_set set;
	struct estimate estimate;
	/* log(predicted / measured) of each run; NAN where it is not scored */
	double (*error)[RANGE_FIGURES];
	int *group;     /* of each run: what is averaged before it is weighed */
	bool *left_out; /* of each run */
	/* of each constant and run: d log prediction / d log constant, where the
	 * constants were `from`; they go at most by the factor `reach` from there */
	float (*slope)[FIT_FIGURES];
	double *from, reach;
};

extern const char *const serving_figures[RANGE_FIGURES];

/* From the priors to the constants that meet the runs which are not left out; those
 * that are have predictions by these constants afterwards. */
void serving_fit_search(struct serving_fit *fit);
double serving_fit_objective(const struct serving_fit *fit);
/* Leave out each stack and each model in turn, and print by which factors what was left
 * out is missed; errors of each source go to the file, unless it is NULL. False: out of
 * memory, or it can't be written. */
bool serving_fit_ranges(struct serving_fit *fit, const char *left_out);

#endif
