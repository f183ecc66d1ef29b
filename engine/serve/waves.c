/* waves.c - see waves.h. */
#include "engine/serve/waves.h"

#include <math.h>

#include "engine/serve/carried.h"

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

/* What a pass of a burst carries, in the mean of its prompts. */
struct burst {
	double together; /* prompts that run together */
	double dealt;    /* in one micro-batch of a pipeline */
	double later;    /* in one when they come back together */
};

/* `share` of all in passes of so many, dealt out to so many micro-batches. */
static void add_passes(double share, double together, double dealt, double later,
		       struct burst *out)
{
	out->together += share * together;
	out->dealt += share * fmax(1, together / dealt);
	out->later += share * fmax(1, together / later);
}

/* The first of a burst runs alone, as the others come a little later, and behind each
 * pass run those that were received meanwhile, as far as one has room. They are dealt
 * out over the micro-batches of a pipeline where others decode: once the first has left
 * it, and later where there are more than those and the ones right before them. */
static struct burst burst_of(const struct work *w, const struct server *server,
			     double c)
{
	double room = fmax(1, server->budget_tokens / w->prompt), more, before = 0;
	double received = w->s->stack.serving.prompt_seconds, left = c, begun = 0;
	double turns = carried_lanes(server, c);
	struct timing alone = work_prompts(w, server, 1);
	double together = received > 0 ? 1 : fmin(c, room);
	struct burst out = { 0, 0, 0 };

	more = alone.stage;
	if (room > 1)
		more = (work_pass(w, server, 0, server->budget_tokens).stage -
			alone.stage) /
		       (room - 1);
	while (left > 0) {
		double dealt = begun >= alone.pass ? turns : 1, next = left;
		double seconds = alone.stage + (together - 1) * more;
		double others = c - together - before >= 1 ? turns : 1;
		double alike = together;

		if (received > 0)
			next = seconds / received;
		next = fmax(1, fmin(next, dealt * room));
		/* and so on: all behind it are as many together */
		if (dealt >= turns && next <= together)
			alike = left;
		add_passes(alike / c, together, dealt, others, &out);
		begun += seconds;
		left -= alike;
		before = together;
		together = fmin(next, left);
	}
	return out;
}

/* How many of those that began together still come together, where prompts ride beside
 * decoding requests: who is in a pass ends in one, but for what lengths differ. Where
 * their prompts take longer than they decode, they queue all the time. */
static double in_step(const struct work *w, const struct point *out, double served,
		      double decoding, int wave)
{
	double near = out->step_seconds + w->s->stack.serving.prompt_seconds;

	if (!work_mixes(w))
		return 0;
	return fmin(1, decoding / served) * near /
	       (near + wave_window(w, 0, decoding, wave));
}

/* Prompts of a burst of c before one of them is done, mean: half of the others, and of
 * the others in its own pass, but for those that other micro-batches carry meanwhile.
 */
static double ahead_in_burst(const struct work *w, const struct server *server,
			     double c, const struct burst *burst)
{
	double together = fmin(c, fmax(1, server->budget_tokens / w->prompt));

	return (c - 1 + together - 1) / 2 - (burst->together - burst->dealt);
}

double waves_burst(const struct work *w, const struct server *server, double c,
		   const struct point *out)
{
	double tokens = fmin(server->budget_tokens, c * w->prompt), each;
	struct burst burst = burst_of(w, server, c);

	if (!work_mixes(w))
		return 0;
	each = work_pass(w, server, 0, tokens).stage * w->prompt / tokens;
	return fmax(0, each - out->served_seconds) *
	       ahead_in_burst(w, server, c, &burst) / BURST_WAVES;
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
	struct burst burst = burst_of(w, server, c);
	double sum = clumps ? ahead_in_clump(w, server, c, out, 0)
			    : ahead_in_burst(w, server, c, &burst);

	for (int wave = 1; wave < BURST_WAVES; wave++) {
		double window = wave_window(w, c * begin, decoding, wave);

		if (clumps)
			sum += ahead_in_clump(w, server, c, out, wave);
		else
			sum += ahead_in_wave(w, server, c, out, fmin(window, decoding));
	}
	return fmin(c - 1, sum / BURST_WAVES);
}

/* Of later waves those that come in a round, or began together and go on in step;
 * never more than there are. */
struct waves_company waves_company(const struct work *w, const struct server *server,
				   double c, const struct point *out)
{
	double most = fmin(c, fmax(1, server->budget_tokens / w->prompt)), sum = 0;
	double turns = carried_lanes(server, c);
	double decoding = steps_of(w) * out->step_seconds;
	double begin = fmax(out->served_seconds, w->s->stack.serving.prompt_seconds);
	struct burst burst = burst_of(w, server, c);

	for (int wave = 1; wave < BURST_WAVES; wave++) {
		double window = wave_window(w, c * begin, decoding, wave);
		double each = c * out->step_seconds / turns / window;
		double own = in_step(w, out, c * begin, decoding, wave);

		sum += fmax(1 + (burst.later - 1) * own, fmin(most, each));
	}
	return (struct waves_company){ burst.dealt, sum / (BURST_WAVES - 1) };
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
