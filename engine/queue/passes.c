/* passes.c - the passes under way in a server: when they end. */
#include <math.h>

#include "engine/queue/queue_parts.h"

void passes_begin(struct station *at, double now, struct queue_seconds pass,
		  bool decodes)
{
	double end = now + pass.busy;

	at->trail = pass.trail;
	/* In a pipeline none overtakes the pass before, however short it is. Two
	 * servers whose passes end together have the same trail to the last bit, so
	 * that what follows comes together. */
	if (pass.trail > 0) {
		at->trail = fmax(pass.trail, at->out + pass.busy - end);
		at->out = end + at->trail;
	}
	at->start = now;
	at->one = pass.busy;
	at->growth = 0;
	at->count = 1;
	at->decodes = decodes;
	at->idles = false;
	at->end = end;
}

double passes_end(const struct station *at, double passes)
{
	return at->start + passes * at->one + passes * (passes - 1) / 2 * at->growth;
}

/* Passes taken together end with the one under way: the root of
 * growth / 2 n^2 + (one - growth / 2) n = since. */
void passes_cut(struct station *at, double now)
{
	double half = at->growth / 2, b = at->one - half, since = now - at->start;
	double root = sqrt(fmax(0, b * b + 4 * half * since));
	double passes = fmax(1, ceil(2 * since / (b + root) - 1e-9));

	if (passes >= (double)at->count)
		return;
	at->count = (int64_t)passes;
	at->end = passes_end(at, passes);
}
