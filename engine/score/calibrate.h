/* calibrate.h - what do measured runs of a machine tell of it? Three scales: of
 * kernels, of links, of hosts.
 *
 * The logarithm of measured over predicted is taken to be a sum over the three, each
 * times the share of the step that hangs on it, plus what is the run's own: a ridge
 * regression whose widths are those of the prior (Hoerl and Kennard 1970), wider where
 * the runs say so (empirical Bayes, Morris 1983), with weights of Student's t against
 * runs that are off for reasons of their own (Lange, Little, Taylor 1989, section 2).
 * The answer is then drawn towards 1 by what the median of so many runs is off by
 * chance (soft thresholding, Donoho 1995): a single run moves nothing unless it is off
 * by far more than runs scatter; by half of it where six or more vouch for each other.
 * Each run is predicted by the scales of all others too. Scales that bring runs nearer
 * to what was measured by no more than a standard error of that, or the median run by
 * less than a tenth, are let go.
 */
#ifndef ENGINE_SCORE_CALIBRATE_H
#define ENGINE_SCORE_CALIBRATE_H

#include <stdbool.h>

#include "engine/machine/accuracy.h"

enum { SCALE_COMPUTE, SCALE_NETWORK, SCALE_HOST, SCALE_COUNT };
enum { CALIBRATION_RUNS = 64 }; /* the most that are taken */

struct calibration_run {
	double residual;           /* log(measured / predicted) */
	double share[SCALE_COUNT]; /* d log(predicted) / d log(scale) */
};

struct scales {
	double scale[SCALE_COUNT];
	double kept; /* of what the runs said, after shrinking; 0 = nothing moves */
	/* Median of |predicted / measured - 1|, each run predicted without and with the
	 * scales of all others; 0 for fewer than two runs. */
	double before, left_out;
};

/* count: at least 1, at most CALIBRATION_RUNS are read. experts: of mixtures. */
void calibrate_scales(const struct calibration_run *runs, int count, bool experts,
		      const struct calibration_prior *prior, struct scales *out);
/* log(predicted) moves by so much under the scales. */
double calibrate_shift(const struct calibration_run *run, const struct scales *scales);

#endif
