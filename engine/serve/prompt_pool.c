/* prompt_pool.c - see prompt_pool.h. */
#include "engine/serve/prompt_pool.h"

#include <math.h>

#include "engine/serve/waves.h"

static double seconds_abreast(const struct work *w, const struct server *prefill,
			      double prompts)
{
	double dp = prefill->context.shape.dp;
	struct work part = *w;

	part.copies = fmin(dp, prompts);
	return work_prompts(&part, prefill, fmax(1, prompts / dp)).stage;
}

/* Of a pass of a copy, where enough wait: whole ones, unless they are cut. */
static double prompts_in_pass(const struct work *w, const struct server *prefill)
{
	double fit = prefill->budget_tokens / w->prompt;

	return fmax(1, w->s->plan.serving.chunked_prefill ? fit : floor(fit));
}

/* Prompts that are cut leave no pass part empty: the rest of one goes with the next. */
static double seconds_packed(const struct work *w, const struct server *prefill,
			     double prompts)
{
	double passes = w->prompt * prompts / prefill->context.shape.dp /
			prefill->budget_tokens;

	return passes * work_pass(w, prefill, 0, prefill->budget_tokens).stage;
}

struct prompt_pool prompt_pool_open(const struct work *w, const struct server *prefill,
				    double n)
{
	double room = prompts_in_pass(w, prefill);
	struct prompt_pool p = { .n = n,
				 .copies = prefill->context.shape.dp,
				 .most = fmin(n, room * prefill->context.shape.dp) };

	p.alone = seconds_abreast(w, prefill, 1);
	p.full = seconds_abreast(w, prefill, p.most);
	if (p.most < n && w->s->plan.serving.chunked_prefill)
		p.full = fmin(p.full, seconds_packed(w, prefill, p.most));
	p.each = p.most > 1 ? (p.full - p.alone) / (p.most - 1) : 0;
	p.rest = fmax(0, p.alone - p.each);
	return p;
}

/* All at once: the first runs alone, as the others come a little later, who fill
 * passes. Mean. */
static double stay_in_burst(const struct prompt_pool *p)
{
	double others = p->n - 1, pass = p->rest + p->each * fmin(p->most, others);

	if (others <= 0)
		return p->alone;
	pass = fmax(p->alone, pass);
	return p->alone + others / p->n * pass * (fmax(1, others / p->most) + 1) / 2;
}

/* All within `window` seconds. A pass takes who came during the one before, k = n pass
 * / (window + pass). Who comes waits for the pass under way, half of it, and runs in
 * the next one; where more come than a pass takes, for those before it. */
static double stay_in_window(const struct prompt_pool *p, double window)
{
	double half = (window + p->rest - p->n * p->each) / 2, pass;
	double k = p->n * p->alone / (window + p->alone);

	if (p->each > 0)
		k = (sqrt(half * half + p->each * p->n * p->rest) - half) / p->each;
	if (k >= p->most && p->most < p->n) {
		double share = p->full / p->most;

		return p->full + work_stay(p->n, share, window) - share;
	}
	k = fmin(p->most, k);
	pass = fmax(p->alone, p->rest + p->each * k);
	return pass * (1 + fmin(1, k * (p->n - 1) / p->n) / 2);
}

/* Mean over the waves of a closed loop that starts as a burst. */
static double stay_in_waves(const struct work *w, const struct prompt_pool *p,
			    double away, double decoding)
{
	double sum = stay_in_burst(p), served = p->n * p->full / p->most;

	for (int wave = 1; wave < BURST_WAVES; wave++)
		sum += stay_in_window(
			p, fmin(away, wave_window(w, served, decoding, wave)));
	return sum / BURST_WAVES;
}

/* What comes at a rate is there n times on the average, and waits by how bunched it is.
 */
double prompt_pool_stay(const struct work *w, const struct prompt_pool *p, double away,
			double decoding)
{
	double stays;

	if (!w->closed)
		stays = p->alone +
			work_bunching(w) * (stay_in_window(p, away) - p->alone);
	else
		stays = stay_in_waves(w, p, away, decoding);
	return work_within_capacity(fmin(p->n * p->alone, stays), p->n,
				    p->full / p->most, away);
}
