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
	struct prompt_pool p = { .n = fmax(1, n),
				 .here = n,
				 .copies = prefill->context.shape.dp,
				 .most = room * prefill->context.shape.dp };

	/* no more than there are come at once; at a rate any number may */
	if (w->closed)
		p.most = fmin(p.n, p.most);
	n = w->closed ? p.n : INFINITY;

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

/* Those that come at a rate wait for the pass under way, half of it, and, as one takes
 * no more than it has room for, for who was left over before: with one prompt in a
 * pass, what Pollaczek and Khinchine say (for gaps that are not Poisson's, Allen and
 * Cunneen), with room for all of them nothing beyond the pass. A pass takes who came
 * during the one before. */
static double stay_at_rate(const struct work *w, const struct prompt_pool *p,
			   double rate)
{
	double spread = work_spread(w), pass = p->full, under_way;
	double varies = (w->s->plan.serving.arrival_scv + spread * spread) / 2;

	if (rate * p->each < 1)
		pass = fmin(pass, p->rest / (1 - rate * p->each));
	pass = fmax(p->alone, pass);
	under_way = fmin(1, rate * pass) * pass;
	return pass + varies * under_way / (1 - rate * p->full / p->most);
}

/* At the rate that keeps n of them here and away from here. */
static double stay_of_arrivals(const struct work *w, const struct prompt_pool *p,
			       double away)
{
	double low = 0, high = (1 - 1e-12) * p->most / p->full;

	for (int i = 0; i < 48; i++) {
		double rate = (low + high) / 2;

		if (rate * (stay_at_rate(w, p, rate) + away) < p->here)
			low = rate;
		else
			high = rate;
	}
	return stay_at_rate(w, p, low);
}

double prompt_pool_stay(const struct work *w, const struct prompt_pool *p, double away,
			double decoding)
{
	double stays;

	/* even gaps make no queue, however many there are */
	if (!w->closed)
		return work_within_capacity(stay_of_arrivals(w, p, away), p->here,
					    p->full / p->most, away);
	stays = stay_in_waves(w, p, away, decoding);
	return work_within_capacity(fmin(p->n * p->alone, stays), p->n,
				    p->full / p->most, away);
}
