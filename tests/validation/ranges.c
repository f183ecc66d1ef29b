/* ranges.c - see ranges.h. */
#include "tests/validation/ranges.h"

#include <math.h>
#include <stdlib.h>

#include "engine/score/score.h"

/* A tenth of a normal distribution lies beyond. */
static const double normal_90 = 1.2816;

bool ranges_room(struct left_out_runs *runs, int count)
{
	*runs = (struct left_out_runs){
		malloc(sizeof *runs->error * ((size_t)count + 1)),
		malloc(sizeof *runs->part * ((size_t)count + 1)), 0
	};
	return runs->error && runs->part;
}

void ranges_add(struct left_out_runs *runs, int part, double error)
{
	runs->error[runs->count] = error;
	runs->part[runs->count++] = part;
}

void ranges_free(struct left_out_runs *runs)
{
	free(runs->error);
	free(runs->part);
}

static bool is_first(const struct left_out_runs *runs, int i)
{
	for (int k = 0; k < i; k++)
		if (runs->part[k] == runs->part[i])
			return false;
	return true;
}

/* Of n runs the k-th of those in order has k / (n + 1) of all further ones below it
 * (Gumbel, Statistics of Extremes, 1958, section 1.2.7). */
static double tenth(double *errors, int n, bool high)
{
	double from_end = fmax(0.1 * (n + 1) - 1, 0) / fmax(n - 1, 1);

	return score_quantile(errors, n, high ? 1 - from_end : from_end);
}

static double wider(int parts)
{
	return score_student(normal_90, parts - 1) / normal_90 * sqrt(1 + 1.0 / parts);
}

bool ranges_learn(const struct left_out_runs *runs, int without, struct learned *out)
{
	double *errors = malloc(sizeof *errors * ((size_t)runs->count + 1));
	int n = 0;

	*out = (struct learned){ 0 };
	for (int i = 0; errors && i < runs->count; i++) {
		if (runs->part[i] == without)
			continue;
		out->parts += is_first(runs, i);
		errors[n++] = runs->error[i];
	}
	if (out->parts >= 3) {
		out->low = tenth(errors, n, false) * wider(out->parts);
		out->high = tenth(errors, n, true) * wider(out->parts);
	}
	free(errors);
	return out->parts >= 3;
}

double ranges_held(const struct left_out_runs *runs)
{
	int held = 0, tried = 0;

	for (int k = 0; k < runs->count; k++) {
		struct learned range;

		if (!is_first(runs, k) || !ranges_learn(runs, runs->part[k], &range))
			continue;
		for (int i = 0; i < runs->count; i++) {
			if (runs->part[i] != runs->part[k])
				continue;
			tried++;
			held += range.low <= runs->error[i] &&
				runs->error[i] <= range.high;
		}
	}
	return tried > 0 ? (double)held / tried : 0;
}
