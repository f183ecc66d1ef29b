/* score.h - how far are predictions from measured runs? Errors, fit, ranking,
 * ranges, and what one calibration run would mend.
 *
 * The runs come with their predictions; nothing here estimates anything. All
 * errors are relative to the measured value.
 */
#ifndef ENGINE_SCORE_H
#define ENGINE_SCORE_H

#include <stdbool.h>

#include "engine/score/calibrate.h"

enum { SCORE_RANKING_RUNS = 4 };     /* runs a ranking group has at least */
enum { CALIBRATION_MACHINE = 4096 }; /* runs of one machine that are looked at */

/* What servers are measured by. Burst: of requests that all come at once to an idle
 * server, over all of them. */
enum score_figure {
	SCORE_TPOT,
	SCORE_TTFT, /* of one request alone, or of a static batch */
	SCORE_RATE,
	SCORE_TTFT_LOADED,
	SCORE_KV_TOKENS,
	SCORE_KV_GIB,
	SCORE_RATE_BURST,
	SCORE_TTFT_BURST,
	SCORE_TPOT_BURST,
	SCORE_FIGURES
};

/* Kinds of servers that are scored apart as well. */
enum score_kind {
	SCORE_PIPELINED, /* stages of layers */
	SCORE_DRAFTING,  /* speculation */
	SCORE_POOLED,    /* prompts on GPUs of their own */
	SCORE_KINDS
};
extern const char *const score_kinds[SCORE_KINDS]; /* in print and JSON */

struct score_words {
	const char *use;      /* in files of runs, and of the errors in JSON */
	const char *measured; /* key in files of runs */
	const char *key;      /* of a run in JSON, behind "predicted_" */
	const char *label;
};
extern const struct score_words score_words[SCORE_FIGURES];

struct score_serving {
	bool scores;
	double measured, predicted, low, high; /* high 0: no range is claimed */
};

struct score_run {
	int source;   /* file that it came from, 0 and up */
	int cluster;  /* runs of one machine and stack share it: one calibration */
	bool experts; /* of a mixture: met apart from dense models */
	double share[SCALE_COUNT]; /* of the step, see struct calibration_run */
	int ranking; /* runs of one model, machine, GPUs, sequence and batch share it */
	int layout;  /* of the same, those that differ in nothing that is told: repeats
		      * of one plan; 0 = like no other */
	bool predicted; /* there is a prediction: the plan was legal */
	bool scores_time, scores_memory, scores_fit; /* what it may be scored on */
	double measured_seconds, predicted_seconds, low_seconds, high_seconds;
	double measured_bytes, predicted_bytes, low_bytes, high_bytes;
	bool measured_fits, predicted_fits;
	bool unsure; /* whether it fits was not said */
	double load; /* predicted memory over capacity */
	double fit_probability;
	struct score_serving serving[SCORE_FIGURES];
	bool kind[SCORE_KINDS]; /* of the server */
};

/* Of |predicted / measured - 1|; bias is the median of the signed error. */
struct score_errors {
	int n;
	double median, mean, p90, worst, bias;
	double in_range; /* share of runs whose measured value lies in the range */
};

struct score_fit {
	/* measured x predicted: fits_fits, fits_out, out_fits, out_out */
	int fits_fits, fits_out, out_fits, out_out;
	int fits_unsure, out_unsure; /* counted apart: nothing was said */
	double balanced_accuracy; /* mean of both classes' hit rates; one class: its */
	double least_load_out;    /* least load of a run that ran out; 0 = none did */
	double brier;             /* mean squared error of the fit probability */
};

/* Means over the groups of at least SCORE_RANKING_RUNS layouts; repeats of one have the
 * median of what they measured, for between them nothing can choose. Regret: measured
 * time of the best of the k fastest predicted, over the truly best, less one. */
struct score_ranking {
	int groups, runs;
	double tau, top1_regret, top3_regret;
};

/* Time of the runs of one machine and software that did not calibrate it, over several
 * draws of those that did; before: of the same runs without. */
struct score_calibrated {
	struct score_errors before, after;
};
enum { SCORE_CALIBRATIONS = 3 };
extern const int score_calibrating[SCORE_CALIBRATIONS]; /* how many runs: 1, 3, 8 */

struct score {
	int runs, refused; /* refused: no prediction */
	struct score_errors time, memory;
	struct score_errors of_kind[2]; /* time of dense models, of mixtures */
	struct score_calibrated calibrated[2][SCORE_CALIBRATIONS]; /* the same */
	struct score_fit fit;
	struct score_ranking ranking;
	struct score_errors serving[SCORE_FIGURES];
	struct score_errors serving_of[SCORE_KINDS][SCORE_FIGURES];
};

/* Score the runs of one source, or all runs together (source -1). False: out of
 * memory. */
bool score_runs(const struct score_run *runs, int count, int source, struct score *out);
/* What measured runs of its machines would mend, into out->calibrated. False: out of
 * memory. */
bool score_calibration(const struct score_run *runs, int count, int source,
		       const struct calibration_prior *prior, struct score *out);
/* errors has room for 2n values, of which n are there; inside: in their ranges. */
void score_sum_up(double *errors, int n, int inside, struct score_errors *out);
/* The total of several sources: for errors the median over the sources that have
 * any of each figure (n is the sum); fit and ranking over all runs together. */
bool score_total(const struct score_run *runs, int count, const struct score *sources,
		 int source_count, struct score *out);
/* Quantile q (0 to 1) of n values, linear between neighbours; sorts them. 0 for
 * no values. */
double score_quantile(double *values, int n, double q);
/* Quantile of Student's t with v degrees of freedom from that of the normal
 * distribution, z (Abramowitz and Stegun 26.7.5, two terms). */
double score_student(double z, double v);
/* Kendall's tau-b of two series of n values; 0 if one of them is constant. */
double score_tau(const double *a, const double *b, int n);

#endif
