/* arrivals.h - requests that come at a rate: who stands before and behind one of them.
 */
#ifndef ENGINE_SERVE_ARRIVALS_H
#define ENGINE_SERVE_ARRIVALS_H

#include "engine/serve/work.h"

struct arrivals {
	double n;     /* of them in a copy */
	double alone; /* seconds of the tokens behind the first without others */
	double half;  /* of a decode pass that a request finds without prompts */
	/* share of the passes with prompts in which others decode: beyond, that is in
	 * what each takes */
	double riding;
	/* passes that a prompt takes where others fill up its last, below 1 where they
	 * fit beside it; and seconds of the server for it then */
	double packed, served;
};

/* Others that stand before and behind a request where requests come at the rate that
 * keeps n of them in a copy, by Little's law. Passes follow each other, each with the
 * prompts that came during the one before. The one that is found is left to run for
 *
 *   R = (ca^2 + cs^2) / 2 * rho / (1 - rho^2) * served + half / (1 - rho),
 *
 * and in that and in what is over of it rho R worth of prompts come, which run beside
 * the request's, as far as the budget goes: without a decode pass and with one prompt
 * in each, what Pollaczek and Khinchine say (for arrivals that are not Poisson's, Allen
 * and Cunneen). Behind it are those that came until its own prompt has run, and all
 * that come while they run. Fills ahead, behind and served_seconds; returns how many
 * prompts are in its pass. */
double arrivals_meet(const struct work *work, const struct arrivals *arrivals,
		     struct point *out);

#endif
