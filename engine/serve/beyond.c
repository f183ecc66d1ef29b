/* beyond.c - see beyond.h. */
#include "engine/serve/beyond.h"

#include <math.h>

/* Prompts come one behind the other, and who decodes begins where its own has ended:
 * its passes carry whole prompts from the first token on, and the first parts of one
 * more, which attend over less than the last. */
static double met_depth(const struct work *w, const struct prompts *p)
{
	double met = p->slots * p->tokens / w->prompt, whole = floor(met);
	double part = met - whole;

	return w->cached + w->prompt * (whole + part * part) / (2 * met);
}

struct beyond beyond_decoding(const struct work *w, const struct server *server,
			      const struct prompts *p, double n, const struct point *at)
{
	struct beyond b = { 0, 0 };
	struct timing all, met, without;

	if (!work_mixes(w) || !w->closed || p->passes <= p->slots)
		return b;
	without = work_pass(w, server, at->decoding, 0);
	all = work_pass(w, server, p->requests, p->tokens);
	met = work_pass_behind(w, server, p->requests, p->tokens, met_depth(w, p));
	b.served = ((p->passes - p->slots) * without.stage +
		    p->passes * (all.stage - met.stage)) /
		   n;
	b.rounds = (p->rounds - w->output / w->accepted) * at->step_seconds / n;
	return b;
}
