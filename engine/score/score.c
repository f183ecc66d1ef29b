/* score.c - see score.h. */
#include "engine/score/score.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const struct score_words score_words[SCORE_FIGURES] = {
	[SCORE_TPOT] = { "tpot", "tpot_seconds", "tpot_seconds",
			 "time per output token" },
	[SCORE_TTFT] = { "ttft", "ttft_seconds", "ttft_seconds",
			 "time to first token" },
	[SCORE_RATE] = { "throughput", "output_tokens_per_second",
			 "output_tokens_per_second", "output tokens per second" },
	[SCORE_TTFT_LOADED] = { "ttft_loaded", "ttft_seconds", "ttft_loaded_seconds",
				"time to first token, loaded" },
	[SCORE_KV_TOKENS] = { "kv_tokens", "kv_tokens", "kv_tokens",
			      "tokens in the KV cache" },
	[SCORE_KV_GIB] = { "kv_gib", "kv_gib", "kv_gib", "GiB for the KV cache" },
	[SCORE_RATE_BURST] = { "throughput_burst", "output_tokens_per_second",
			       "output_tokens_per_second_burst",
			       "output tokens per second, burst" },
	[SCORE_TTFT_BURST] = { "ttft_burst", "ttft_seconds", "ttft_burst_seconds",
			       "time to first token, burst" },
	[SCORE_TPOT_BURST] = { "tpot_burst", "tpot_seconds", "tpot_burst_seconds",
			       "time per output token, burst" },
};

const char *const score_kinds[SCORE_KINDS] = {
	[SCORE_PIPELINED] = "pipelines",
	[SCORE_DRAFTING] = "speculation",
	[SCORE_POOLED] = "pools",
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double score_student(double z, double v)
{
	double cube = z * z * z;

	return z + (cube + z) / (4 * v) +
	       (5 * cube * z * z + 16 * cube + 3 * z) / (96 * v * v);
}

double score_quantile(double *values, int n, double q)
{
	double at = q * (n - 1);
	int below = (int)at;

	if (n <= 0)
		return 0;
	qsort(values, (size_t)n, sizeof *values, compare);
	if (below + 1 >= n)
		return values[n - 1];
	return values[below] + (at - below) * (values[below + 1] - values[below]);
}

static int sign(double x)
{
	return (x > 0) - (x < 0);
}

double score_tau(const double *a, const double *b, int n)
{
	double agree = 0, pairs_a = 0, pairs_b = 0;

	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++) {
			int da = sign(a[i] - a[j]), db = sign(b[i] - b[j]);

			agree += da * db;
			pairs_a += da != 0;
			pairs_b += db != 0;
		}
	return pairs_a > 0 && pairs_b > 0 ? agree / sqrt(pairs_a * pairs_b) : 0;
}

/* One scored figure of a run. */
struct pair {
	double measured, predicted, low, high;
};

static bool time_pair(const struct score_run *run, struct pair *out)
{
	if (!run->predicted || !run->scores_time || !(run->measured_seconds > 0))
		return false;
	*out = (struct pair){ run->measured_seconds, run->predicted_seconds,
			      run->low_seconds, run->high_seconds };
	return true;
}

static bool memory_pair(const struct score_run *run, enum score_figure figure,
			struct pair *out)
{
	(void)figure;
	if (!run->predicted || !run->scores_memory || !(run->measured_bytes > 0))
		return false;
	*out = (struct pair){ run->measured_bytes, run->predicted_bytes, run->low_bytes,
			      run->high_bytes };
	return true;
}

static bool figure_pair(const struct score_run *run, enum score_figure figure,
			struct pair *out)
{
	const struct score_serving *f = &run->serving[figure];

	if (!run->predicted || !f->scores || !(f->measured > 0))
		return false;
	*out = (struct pair){ f->measured, f->predicted, f->low, f->high };
	return true;
}

void score_sum_up(double *errors, int n, int inside, struct score_errors *out)
{
	double *absolute = errors + n, sum = 0;

	memset(out, 0, sizeof *out);
	out->n = n;
	if (n == 0)
		return;
	for (int i = 0; i < n; i++) {
		absolute[i] = fabs(errors[i]);
		sum += absolute[i];
	}
	out->mean = sum / n;
	out->median = score_quantile(absolute, n, 0.5);
	out->p90 = score_quantile(absolute, n, 0.9);
	out->worst = absolute[n - 1];
	out->bias = score_quantile(errors, n, 0.5);
	out->in_range = (double)inside / n;
}

/* Runs of one source, or of all (-1), and of one kind of servers, or any (-1). */
struct chosen {
	const struct score_run *runs;
	int count, source, kind;
};

static bool is_chosen(struct chosen c, const struct score_run *run)
{
	return (c.source < 0 || run->source == c.source) &&
	       (c.kind < 0 || run->kind[c.kind]);
}

typedef bool pair_reader(const struct score_run *run, enum score_figure figure,
			 struct pair *out);

static void score_errors(struct chosen c, pair_reader *pair_of,
			 enum score_figure figure, double *scratch,
			 struct score_errors *out)
{
	int n = 0, inside = 0;

	for (int i = 0; i < c.count; i++) {
		struct pair pair;

		if (!is_chosen(c, &c.runs[i]) || !pair_of(&c.runs[i], figure, &pair))
			continue;
		scratch[n++] = pair.predicted / pair.measured - 1;
		inside += pair.low <= pair.measured && pair.measured <= pair.high;
	}
	score_sum_up(scratch, n, inside, out);
}

static bool step_pair(const struct score_run *run, enum score_figure figure,
		      struct pair *out)
{
	(void)figure;
	return time_pair(run, out);
}

static bool dense_pair(const struct score_run *run, enum score_figure figure,
		       struct pair *out)
{
	return !run->experts && step_pair(run, figure, out);
}

static bool expert_pair(const struct score_run *run, enum score_figure figure,
			struct pair *out)
{
	return run->experts && step_pair(run, figure, out);
}

static void score_fit(const struct score_run *runs, int count, int source,
		      struct score_fit *out)
{
	double squares = 0;
	int n = 0;

	memset(out, 0, sizeof *out);
	for (int i = 0; i < count; i++) {
		const struct score_run *run = &runs[i];
		double miss = run->fit_probability - run->measured_fits;

		if (!run->predicted || !run->scores_fit ||
		    (source >= 0 && run->source != source))
			continue;
		n++;
		squares += miss * miss;
		out->fits_unsure += run->unsure && run->measured_fits;
		out->out_unsure += run->unsure && !run->measured_fits;
		if (run->unsure)
			continue;
		out->fits_fits += run->measured_fits && run->predicted_fits;
		out->fits_out += run->measured_fits && !run->predicted_fits;
		out->out_fits += !run->measured_fits && run->predicted_fits;
		out->out_out += !run->measured_fits && !run->predicted_fits;
		if (!run->measured_fits &&
		    (out->least_load_out == 0 || run->load < out->least_load_out))
			out->least_load_out = run->load;
	}
	int fit = out->fits_fits + out->fits_out,
	    ran_out = out->out_fits + out->out_out;
	double hits = fit ? (double)out->fits_fits / fit : 0;
	double finds = ran_out ? (double)out->out_out / ran_out : 0;

	out->balanced_accuracy = fit && ran_out ? (hits + finds) / 2 : hits + finds;
	out->brier = n ? squares / n : 0;
}

/* Measured and predicted times of one ranking group, in scratch. */
static double find_regret(const double *measured, const double *predicted, int n, int k)
{
	double best = measured[0], found = INFINITY, limit = -INFINITY;

	for (int i = 1; i < n; i++)
		if (measured[i] < best)
			best = measured[i];
	/* take the k fastest predictions one after the other; equal predictions
	 * count as one choice, of which the slowest is taken */
	for (int taken = 0; taken < k; taken++) {
		double next = INFINITY, slowest = 0;

		for (int i = 0; i < n; i++)
			if (predicted[i] > limit && predicted[i] < next)
				next = predicted[i];
		if (next == INFINITY)
			break;
		for (int i = 0; i < n; i++)
			if (predicted[i] == next && measured[i] > slowest)
				slowest = measured[i];
		if (slowest < found)
			found = slowest;
		limit = next;
	}
	return found / best - 1;
}

static void rank_group(const double *measured, const double *predicted, int n,
		       struct score_ranking *out)
{
	if (n < SCORE_RANKING_RUNS)
		return;
	out->groups++;
	out->runs += n;
	out->tau += score_tau(measured, predicted, n);
	out->top1_regret += find_regret(measured, predicted, n, 1);
	out->top3_regret += find_regret(measured, predicted, n, 3);
}

static bool ranks(const struct score_run *run, int group, int source, struct pair *pair)
{
	return run->ranking == group && (source < 0 || run->source == source) &&
	       time_pair(run, pair);
}

/* The layout of run i and its repeats behind it: the median of what they measured, by
 * way of `list`, which has room for all. 0 where one before it stands for it. */
static double layout_seconds(const struct score_run *runs, int count, int source, int i,
			     double *list)
{
	int group = runs[i].ranking, n = 0;
	struct pair pair;

	if (runs[i].layout == 0)
		return ranks(&runs[i], group, source, &pair) ? pair.measured : 0;
	for (int k = 0; k < count; k++) {
		if (runs[k].layout != runs[i].layout ||
		    !ranks(&runs[k], group, source, &pair))
			continue;
		if (k < i)
			return 0;
		list[n++] = pair.measured;
	}
	return score_quantile(list, n, 0.5);
}

/* scratch has room for 3 * count values. */
static void score_ranking(const struct score_run *runs, int count, int source,
			  double *scratch, struct score_ranking *out)
{
	int groups = 0;

	memset(out, 0, sizeof *out);
	for (int i = 0; i < count; i++)
		if (runs[i].ranking >= groups)
			groups = runs[i].ranking + 1;
	for (int g = 0; g < groups; g++) {
		int n = 0;

		for (int i = 0; i < count; i++) {
			struct pair pair;

			if (!ranks(&runs[i], g, source, &pair))
				continue;
			scratch[n] = layout_seconds(runs, count, source, i,
						    scratch + 2 * count);
			scratch[count + n] = pair.predicted;
			n += scratch[n] > 0;
		}
		rank_group(scratch, scratch + count, n, out);
	}
	if (out->groups == 0)
		return;
	out->tau /= out->groups;
	out->top1_regret /= out->groups;
	out->top3_regret /= out->groups;
}

static void score_servers(struct chosen all, double *scratch, struct score *out)
{
	for (enum score_figure f = 0; f < SCORE_FIGURES; f++) {
		score_errors(all, figure_pair, f, scratch, &out->serving[f]);
		for (int k = 0; k < SCORE_KINDS; k++) {
			struct chosen one = { all.runs, all.count, all.source, k };

			score_errors(one, figure_pair, f, scratch,
				     &out->serving_of[k][f]);
		}
	}
}

bool score_runs(const struct score_run *runs, int count, int source, struct score *out)
{
	double *scratch = malloc(sizeof *scratch * (3 * (size_t)count + 1));
	struct chosen all = { runs, count, source, -1 };

	memset(out, 0, sizeof *out);
	if (!scratch)
		return false;
	for (int i = 0; i < count; i++)
		if (source < 0 || runs[i].source == source) {
			out->runs++;
			out->refused += !runs[i].predicted;
		}
	score_errors(all, step_pair, 0, scratch, &out->time);
	score_errors(all, dense_pair, 0, scratch, &out->of_kind[0]);
	score_errors(all, expert_pair, 0, scratch, &out->of_kind[1]);
	score_errors(all, memory_pair, 0, scratch, &out->memory);
	score_servers(all, scratch, out);
	score_fit(runs, count, source, &out->fit);
	score_ranking(runs, count, source, scratch, &out->ranking);
	free(scratch);
	return true;
}

/* Median over the sources of errors that stand in each where `out` stands in total. */
static void take_medians(const struct score *sources, int count,
			 const struct score *total, struct score_errors *out,
			 double *scratch)
{
	const size_t errors = (size_t)((const char *)out - (const char *)total);
	const size_t figure[] = {
		offsetof(struct score_errors, median),
		offsetof(struct score_errors, mean),
		offsetof(struct score_errors, p90),
		offsetof(struct score_errors, worst),
		offsetof(struct score_errors, bias),
		offsetof(struct score_errors, in_range),
	};

	memset(out, 0, sizeof *out);
	for (size_t f = 0; f < sizeof figure / sizeof figure[0]; f++) {
		int n = 0;

		out->n = 0;
		for (int i = 0; i < count; i++) {
			const char *at = (const char *)&sources[i] + errors;
			const struct score_errors *one = (const void *)at;

			if (one->n == 0)
				continue;
			out->n += one->n;
			memcpy(&scratch[n++], at + figure[f], sizeof *scratch);
		}
		double value = score_quantile(scratch, n, 0.5);

		memcpy((char *)out + figure[f], &value, sizeof value);
	}
}

bool score_total(const struct score_run *runs, int count, const struct score *sources,
		 int source_count, struct score *out)
{
	double *scratch = malloc(sizeof *scratch * ((size_t)source_count + 1));

	if (!scratch || !score_runs(runs, count, -1, out)) {
		free(scratch);
		return false;
	}
	struct score_errors *const figures[] = { &out->time, &out->memory,
						 &out->of_kind[0], &out->of_kind[1] };
	const struct score_calibrated *end = &out->calibrated[1][SCORE_CALIBRATIONS];

	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
		take_medians(sources, source_count, out, figures[i], scratch);
	for (struct score_calibrated *c = out->calibrated[0]; c < end; c++) {
		take_medians(sources, source_count, out, &c->before, scratch);
		take_medians(sources, source_count, out, &c->after, scratch);
	}
	for (size_t f = 0; f < SCORE_FIGURES; f++) {
		take_medians(sources, source_count, out, &out->serving[f], scratch);
		for (int k = 0; k < SCORE_KINDS; k++)
			take_medians(sources, source_count, out, &out->serving_of[k][f],
				     scratch);
	}
	free(scratch);
	return true;
}
