/* carried.c - see carried.h. */
#include "engine/serve/carried.h"

#include <math.h>

#include "engine/serve/waves.h"

double carried_lanes(const struct server *server, double c)
{
	return fmin(server->context.shape.pp, fmax(1, c));
}

/* Tokens of prompts that a pass has room for beside those of up to c that decode, while
 * n prompts pass in so many slots: those decode whose prompts have, or, where these
 * need more passes than there are, as many fewer. */
static double left_of_budget(const struct work *w, const struct server *server,
			     double c, double n, const struct prompts *p)
{
	double each = w->tokens_each / p->turns, among = c * p->slots;

	if (!work_mixes(w))
		return server->budget_tokens;
	return server->budget_tokens -
	       each * fmin(c, among * server->budget_tokens /
				      (n * w->prompt + among * each));
}

/* How many prompts that run first are there together, of n others with `step` between
 * two passes: who ended in the same pass while requests are held, as nobody ends beside
 * prompts; of those that come at a rate who came meanwhile, and while they ran. */
static double there_together(const struct work *w, const struct server *server,
			     double n, double step)
{
	double spread = work_spread(w), decoding = w->output / w->accepted * step;
	double varies = fmin(1, w->s->plan.serving.arrival_scv + spread * spread);
	double near = step + w->s->stack.serving.prompt_seconds;

	if (w->closed)
		return 1 + n * near / (near + decoding);
	return 1 +
	       varies * ((1 + n * near / decoding) *
				 (1 + n * work_prompts(w, server, 1).stage / decoding) -
			 1);
}

/* Passes of each of so many prompts that fill them up together, all but the last. */
static double passes_of_each(double packed, double together)
{
	double fewer = floor(together), more = together - fewer;
	double passes = (1 - more) * ceil(fewer * packed - 1e-9) +
			more * ceil((fewer + 1) * packed - 1e-9);

	return passes / together;
}

/* Passes that a prompt takes of so many slots, n of them, which full ones are `packed`
 * of. One that is longer begins with full ones and ends in one for itself, unless the
 * next waits already and fills that up: as often as passes carry prompts, where these
 * come at any time, and the less the more evenly they do. Those of a burst fill all. */
static double passes_of_prompt(const struct work *w, const struct server *server,
			       double n, double step, const struct prompts *p)
{
	double packed = p->packed, alone = ceil(packed - 1e-9);
	double spread = work_spread(w), varies, busy;

	if (w->begins || packed <= 1)
		return packed;
	if (!work_mixes(w))
		return passes_of_each(packed, there_together(w, server, n, step));
	varies = fmin(1, w->s->plan.serving.arrival_scv + spread * spread);
	busy = fmin(1, n * alone / (p->slots + varies * n * (alone - packed)));
	return alone - varies * busy * (alone - packed);
}

struct prompts carried(const struct work *w, const struct server *server, double c,
		       double n, double step)
{
	double tokens = n * w->prompt, steps = w->output / w->accepted,
	       least = w->prompt;
	struct prompts p = { .turns = carried_lanes(server, c) };

	if (w->closed && !work_mixes(w))
		least *= waves_together(w, server, c, step);
	p.slots = steps * p.turns;
	p.packed = w->prompt / left_of_budget(w, server, c, n, &p);
	p.each = passes_of_prompt(w, server, n, step, &p);
	p.tokens = fmin(w->prompt / p.each, fmax(least, tokens / p.slots));
	p.passes = tokens / p.tokens;
	p.requests = work_mixes(w) ? fmin(c, c * p.slots / fmax(p.passes, 1)) : 0;
	p.rounds = work_mixes(w) ? fmax(steps, p.passes / p.turns)
				 : steps + p.passes / p.turns;
	return p;
}
