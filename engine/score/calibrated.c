/* calibrated.c - what calibration with some runs of each machine would mend: see
 * score.h. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/score/score.h"

const int score_calibrating[SCORE_CALIBRATIONS] = { 1, 3, 8 };

enum { DRAWS = 16 }; /* of the runs that calibrate, for each machine */

/* Runs of one machine, software and kind. */
struct machine {
	const struct score_run *run[CALIBRATION_MACHINE];
	int count;
};

/* Errors that were gathered, without and with calibration. */
struct gathered {
	double *before, *after;
	int count, room, inside;
};

static bool counts(const struct score_run *run)
{
	return run->predicted && run->scores_time && run->measured_seconds > 0 &&
	       run->predicted_seconds > 0;
}

static struct calibration_run as_seen(const struct score_run *run)
{
	struct calibration_run seen = { .residual = log(run->measured_seconds /
							run->predicted_seconds) };

	memcpy(seen.share, run->share, sizeof seen.share);
	return seen;
}

/* The same draws on every machine that computes: a linear congruential generator
 * (Knuth, The Art of Computer Programming 2, 3.3.4, table 1, line 26). */
static int draw(uint64_t *state, int below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (int)((*state >> 33) % (uint64_t)below);
}

/* The first n of the machine's runs are those that calibrate. */
static void shuffle(struct machine *m, int n, uint64_t *state)
{
	for (int i = 0; i < n; i++) {
		int k = i + draw(state, m->count - i);
		const struct score_run *run = m->run[i];

		m->run[i] = m->run[k];
		m->run[k] = run;
	}
}

static bool make_room(struct gathered *g, int more)
{
	int room = 2 * (g->count + more);
	double *before, *after;

	if (g->count + more <= g->room)
		return true;
	/* behind the errors there is room for their amounts, see score_sum_up() */
	before = realloc(g->before, 2 * sizeof *before * (size_t)room);
	if (before)
		g->before = before;
	after = realloc(g->after, 2 * sizeof *after * (size_t)room);
	if (after)
		g->after = after;
	g->room = before && after ? room : g->room;
	return before && after;
}

static bool try_machine(struct machine *m, int n, bool experts,
			const struct calibration_prior *prior, struct gathered *g)
{
	struct calibration_run seen[CALIBRATION_RUNS];
	uint64_t state = 1;
	struct scales scales;

	if (m->count <= n)
		return true;
	for (int d = 0; d < DRAWS; d++) {
		shuffle(m, n, &state);
		for (int i = 0; i < n; i++)
			seen[i] = as_seen(m->run[i]);
		calibrate_scales(seen, n, experts, prior, &scales);
		if (!make_room(g, m->count - n))
			return false;
		for (int i = n; i < m->count; i++) {
			const struct score_run *run = m->run[i];
			struct calibration_run other = as_seen(run);
			double shift = calibrate_shift(&other, &scales);

			g->before[g->count] = expm1(-other.residual);
			g->after[g->count++] = expm1(shift - other.residual);
			g->inside +=
				run->low_seconds * exp(shift) <=
					run->measured_seconds &&
				run->measured_seconds <= run->high_seconds * exp(shift);
		}
	}
	return true;
}

static void find_machine(const struct score_run *runs, int count, int first,
			 struct machine *out)
{
	out->count = 0;
	for (int i = first; i < count && out->count < CALIBRATION_MACHINE; i++)
		if (counts(&runs[i]) && runs[i].cluster == runs[first].cluster &&
		    runs[i].source == runs[first].source &&
		    runs[i].experts == runs[first].experts)
			out->run[out->count++] = &runs[i];
}

static bool is_first(const struct score_run *runs, int i)
{
	for (int k = 0; k < i; k++)
		if (counts(&runs[k]) && runs[k].cluster == runs[i].cluster &&
		    runs[k].source == runs[i].source &&
		    runs[k].experts == runs[i].experts)
			return false;
	return true;
}

static bool try_all(const struct score_run *runs, int count, int source, bool experts,
		    int n, struct gathered *g, const struct calibration_prior *prior)
{
	struct machine *m = malloc(sizeof *m);
	bool good = m != NULL;

	for (int i = 0; i < count && good; i++) {
		if (!counts(&runs[i]) || runs[i].source != source ||
		    runs[i].experts != experts || !is_first(runs, i))
			continue;
		find_machine(runs, count, i, m);
		good = try_machine(m, n, experts, prior, g);
	}
	free(m);
	return good;
}

bool score_calibration(const struct score_run *runs, int count, int source,
		       const struct calibration_prior *prior, struct score *out)
{
	bool good = true;

	for (int e = 0; e < 2; e++)
		for (int c = 0; c < SCORE_CALIBRATIONS; c++) {
			struct score_calibrated *one = &out->calibrated[e][c];
			struct gathered g = { 0 };

			memset(one, 0, sizeof *one);
			good = good && try_all(runs, count, source, e == 1,
					       score_calibrating[c], &g, prior);
			if (good && g.count > 0) {
				score_sum_up(g.before, g.count, 0, &one->before);
				score_sum_up(g.after, g.count, g.inside, &one->after);
			}
			free(g.before);
			free(g.after);
		}
	return good;
}
