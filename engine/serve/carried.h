/* carried.h - while a request takes its output the prompts of others pass once: in how
 * many passes, and beside whom. */
#ifndef ENGINE_SERVE_CARRIED_H
#define ENGINE_SERVE_CARRIED_H

#include "engine/serve/work.h"

struct prompts {
	double tokens;   /* of them in a pass that carries any */
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

#endif
