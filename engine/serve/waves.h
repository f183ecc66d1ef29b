/* waves.h - a closed loop starts as a burst, and goes on in waves: requests that began
 * together end together, as far apart as their prompts were served and as their lengths
 * differ. Benchmarks measure some of them: all means here are over the requests of each
 * user.
 */
#ifndef ENGINE_SERVE_WAVES_H
#define ENGINE_SERVE_WAVES_H

#include "engine/serve/work.h"

enum { BURST_WAVES = 10 }; /* requests of each user: what benchmarks send */

/* The time in which all requests of a wave come, that served and decoded for so long,
 * in the unit of both. */
double wave_window(const struct work *work, double served, double decoding, int wave);
/* Prompts of c in a copy of the attention that delay a new request; `cycle` seconds are
 * between two of a user. */
double waves_ahead(const struct work *work, const struct server *server, double c,
		   const struct point *out, double cycle);
/* Seconds of their prompts that are no longer than what they add beside requests that
 * decode, of whom there are none when a burst begins: by how much the mean wait of a
 * request is longer for that. */
double waves_burst(const struct work *work, const struct server *server, double c,
		   const struct point *out);
/* Prompts in a pass over them where they run first, of c requests whose decode pass
 * takes `step` seconds. */
double waves_together(const struct work *work, const struct server *server, double c,
		      double step);
/* Prompts in a pass with a new request's own, dealt out over the micro-batches of a
 * pipeline. */
struct waves_company {
	double burst;
	double later; /* mean of the waves behind it */
};
struct waves_company waves_company(const struct work *work, const struct server *server,
				   double c, const struct point *out);
/* Passes over prompts in a pipeline. */
struct passes {
	double count;
	double turns; /* micro-batches that go around */
	double each;  /* of one prompt: these follow each other */
};

/* Micro-batches go around `rounds` times: in how many of these any carries prompts. */
double rounds_with_prompts(const struct passes *passes, double rounds);
/* The same in waves: where all of one round end together, others begin in one. */
double waves_rounds(const struct work *work, const struct passes *passes,
		    double rounds);

#endif
