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

/* Where prompts run first nobody decodes, and nobody ends, before the last of those
 * that wait has run: a wave decodes from one pass on, whatever its prompts took, and
 * ends as far apart as lengths are, and as requests are received more slowly than
 * prompts run. Who comes meets who ended in the same pass, or since the one before it
 * was received. How many of c they are together, in the mean of a wave. Where no burst
 * began them, requests end at any time, however alike they are.
 */
static double clump(const struct work *w, double c, double step, double alone, int wave)
{
	double each = w->s->stack.serving.prompt_seconds, near = step + each;
	double decoding = steps_of(w) * step;
	double apart = c * fmax(0, each - alone);
	double window = fmin(decoding, wave_window(w, apart, decoding, wave));

	if (!w->begins)
		return 1 + (c - 1) * near / (near + decoding);
	return wave == 0 ? c : 1 + (c - 1) * near / (near + window);
}

/* Of those in a clump the first runs alone, as the others come a little later. A pass
 * over k takes rest + each k, and as many more are received meanwhile: whoever fills
 * passes comes faster than they run.
 */
static double others_together(const struct work *w, const struct server *server,
			      double others, double alone)
{
	double most = fmax(1, server->budget_tokens / w->prompt);
	double received = w->s->stack.serving.prompt_seconds, each;

	if (most <= 1 || others <= 1)
		return 1;
	each = (work_pass(w, server, 0, server->budget_tokens).stage - alone) /
	       (most - 1);
	if (each < received)
		most = fmin(most, fmax(1, (alone - each) / (received - each)));
	return fmin(others, most);
}

double waves_together(const struct work *w, const struct server *server, double c,
		      double step)
{
	double alone = work_prompts(w, server, 1).stage, passes = 0;

	for (int wave = 0; wave < BURST_WAVES; wave++) {
		double k = clump(w, c, step, alone, wave), others = fmax(0, k - 1);

		passes += (1 + others / others_together(w, server, others, alone)) / k;
	}
	return BURST_WAVES / passes;
}

static double ahead_in_clump(const struct work *w, const struct server *server,
			     double c, const struct point *out, int wave)
{
	double alone = work_prompts(w, server, 1).stage;
	double k = clump(w, c, out->step_seconds, alone, wave), others = k - 1;
	double with = others_together(w, server, others, alone);

	return others / k * (1 + fmax(0, others + with - 2) / 2);
}

double waves_ahead(const struct work *w, const struct server *server, double c,
		   const struct point *out, double cycle)
{
	double decoding = cycle - out->prefill_seconds - out->begin_seconds;
	double begin = fmax(out->served_seconds, w->s->stack.serving.prompt_seconds);
	bool clumps = w->closed && !work_mixes(w);
	double sum = clumps ? ahead_in_clump(w, server, c, out, 0)
			    : ahead_in_burst(w, server, c);

	for (int wave = 1; wave < BURST_WAVES; wave++) {
		double window = wave_window(w, c * begin, decoding, wave);

		if (clumps)
			sum += ahead_in_clump(w, server, c, out, wave);
		else
			sum += ahead_in_wave(w, server, c, out, fmin(window, decoding));
	}
	return fmin(c - 1, sum / BURST_WAVES);
}

/* Those of a burst fill passes as far as they are received meanwhile, later ones are
 * those that come in a round, dealt out over the micro-batches; never more than there
 * are. */
double waves_company(const struct work *w, const struct server *server, double c,
		     double turns, const struct point *out)
{
	double most = fmin(c, fmax(1, server->budget_tokens / w->prompt));
	double sum = others_together(w, server, c, work_prompts(w, server, 1).stage);
	double decoding = steps_of(w) * out->step_seconds;
	double begin = fmax(out->served_seconds, w->s->stack.serving.prompt_seconds);

	for (int wave = 1; wave < BURST_WAVES; wave++) {
		double window = wave_window(w, c * begin, decoding, wave);
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
