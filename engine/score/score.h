/* score.h - how far are predictions from measured runs? Errors, fit, ranking,
 * ranges, and what one calibration run would mend.
 *
 * The runs come with their predictions; nothing here estimates anything. All
 * errors are relative to the measured value.
 */
#ifndef ENGINE_SCORE_H
#define ENGINE_SCORE_H

#include <stdbool.h>

enum { SCORE_RANKING_RUNS = 4 }; /* runs a ranking group has at least */

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
	int source;  /* file that it came from, 0 and up */
	int cluster; /* runs of one machine and stack share it: one calibration */
	int ranking; /* runs of one model, machine, GPUs, sequence and batch share it */
	bool predicted; /* there is a prediction: the plan was legal */
	bool scores_time, scores_memory, scores_fit; /* what it may be scored on */
	double measured_seconds, predicted_seconds, low_seconds, high_seconds;
	double measured_bytes, predicted_bytes, low_bytes, high_bytes;
	bool measured_fits, predicted_fits;
	double load; /* predicted memory over capacity */
	double fit_probability;
	struct score_serving serving[SCORE_FIGURES];
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
	double balanced_accuracy; /* mean of both classes' hit rates; one class: its */
	double least_load_out;    /* least load of a run that ran out; 0 = none did */
	double brier;             /* mean squared error of the fit probability */
};

/* Means over the groups of at least SCORE_RANKING_RUNS runs. Regret: measured
 * time of the best of the k fastest predicted, over the truly best, less one. */
struct score_ranking {
	int groups, runs;
	double tau, top1_regret, top3_regret;
};

struct score {
	int runs, refused; /* refused: no prediction */
	struct score_errors time, memory;
	/* Time again after one calibration run for each cluster: its run of median
	 * measured step time gives the scale and is left out of the errors. */
	struct score_errors calibrated;
	struct score_fit fit;
	struct score_ranking ranking;
	struct score_errors serving[SCORE_FIGURES];
};

/* Score the runs of one source, or all runs together (source -1). False: out of
 * memory. */
bool score_runs(const struct score_run *runs, int count, int source, struct score *out);
/* The total of several sources: for errors the median over the sources that have
 * any of each figure (n is the sum); fit and ranking over all runs together. */
bool score_total(const struct score_run *runs, int count, const struct score *sources,
		 int source_count, struct score *out);
/* Quantile q (0 to 1) of n values, linear between neighbours; sorts them. 0 for
 * no values. */
double score_quantile(double *values, int n, double q);
/* Kendall's tau-b of two series of n values; 0 if one of them is constant. */
double score_tau(const double *a, const double *b, int n);

#endif
