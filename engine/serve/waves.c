/* waves.c - see waves.h. */
#include "engine/serve/waves.h"

#include <math.h>

/* The variances of what prompts took and of lengths add up from wave to wave, until the
 * waves run into each other: as wide as a uniform distribution of that variance. */
double wave_window(const struct work *w, double served, double decoding, int wave)
{
	double apart = sqrt(12) * work_spread(w) * decoding;

	return sqrt(served * served + wave * apart * apart);
}

static double steps_of(const struct work *w)
{
	return w->output / w->accepted;
}

/* Prompts of a burst of c before one of them is done, mean: half of the others, and of
 * the others in its own pass. */
static double ahead_in_burst(const struct work *w, const struct server *server,
			     double c)
{
	double together = fmin(c, fmax(1, server->budget_tokens / w->prompt));

	return (c - 1 + together - 1) / 2;
}

/* Others that delay a request when all c of a copy come within `window` seconds: each
 * of them is there for `stay` of it. Those of its own pass do, of the rest the half
 * that came first. */
static double ahead_in_wave(const struct work *w, const struct server *server, double c,
			    const struct point *out, double window)
{
	double together = fmax(1, server->budget_tokens / w->prompt);
	double others = (c - 1) * (1 - 0.5 / together);
	double first = out->prefill_seconds + out->begin_seconds;
	double b = first + others * out->served_seconds - window, stay;

	/* the root of stay = first + others served stay / (stay + window) */
	stay = (b + sqrt(b * b + 4 * first * window)) / 2;
	return others * stay / (stay + window);
}

double waves_ahead(const struct work *w, const struct server *server, double c,
		   const struct point *out, double cycle)
{
	double decoding = cycle - out->prefill_seconds - out->begin_seconds;
	double sum = ahead_in_burst(w, server, c);

	for (int wave = 1; wave < BURST_WAVES; wave++) {
		double window = wave_window(w, c * out->served_seconds, decoding, wave);

		sum += ahead_in_wave(w, server, c, out, fmin(window, decoding));
	}
	return fmin(c - 1, sum / BURST_WAVES);
}

/* Those of a burst fill passes, later ones are those that come in a round, dealt out
 * over the micro-batches. */
double waves_company(const struct work *w, const struct server *server, double c,
		     double turns, const struct point *out)
{
	double most = fmax(1, server->budget_tokens / w->prompt), sum = fmin(c, most);
	double decoding = steps_of(w) * out->step_seconds;

	for (int wave = 1; wave < BURST_WAVES; wave++) {
		double window = wave_window(w, c * out->served_seconds, decoding, wave);
		double each = c * out->step_seconds / turns / window;

		sum += fmax(1, fmin(most, each));
	}
	return sum / BURST_WAVES;
}

/* Each carries them as often as the others, and none knows of them, but for those that
 * carry parts of one prompt. */
double rounds_with_prompts(const struct passes *p, double rounds)
{
	double share = fmin(1, p->count / p->turns / rounds);

	return rounds * (1 - pow(1 - share, fmax(1, p->turns / p->each)));
}

double waves_rounds(const struct work *w, const struct passes *p, double rounds)
{
	double fewest = p->count / p->turns, sum = 0;

	for (int wave = 0; wave < BURST_WAVES; wave++) {
		double among = wave_window(w, fewest, steps_of(w), wave);

		sum += rounds_with_prompts(p, fmin(rounds, among));
	}
	return sum / BURST_WAVES;
}
