/* carried.h - while a request takes its output the prompts of others pass once: in how
 * many passes, and beside whom. */
#ifndef ENGINE_SERVE_CARRIED_H
#define ENGINE_SERVE_CARRIED_H

#include "engine/serve/work.h"

struct prompts {
	double tokens;   /* of them in a pass that carries any */
	double room;     /* for them in one that is full */
	double passes;   /* such passes */
	double slots;    /* passes of all micro-batches */
	double requests; /* that decode beside them */
	double turns;    /* micro-batches that go around in a pipeline */
	double rounds;   /* of them all */
	/* of a prompt, where others fill up its last, and in the mean; below 1 as many
	 * fit into one */
	double packed, each;
};

/* Micro-batches of c requests that go around in a pipeline. */
double carried_lanes(const struct server *server, double c);
/* n prompts, while up to c requests of a copy decode with `step` between two passes. */
struct prompts carried(const struct work *work, const struct server *server, double c,
		       double n, double step);
/* Seconds that each prompt of a burst of c is waited for, where prompts ride beside
 * decoding requests: its share of passes that are full, or that carry all, and all of
 * them, as who waits has no decode pass meanwhile. Of those before the mean of them a
 * third decodes, in the mean of its waiting. */
double carried_in_burst(const struct work *work, const struct server *server, double c,
			const struct prompts *prompts);

#endif
