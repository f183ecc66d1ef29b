/* prompt_pool.h - a pool of prompts: copies of an engine run their passes together. */
#ifndef ENGINE_SERVE_PROMPT_POOL_H
#define ENGINE_SERVE_PROMPT_POOL_H

#include "engine/serve/work.h"

/* Copies share the experts between them, or wait for each other in collectives, so that
 * none begins a pass before all are done: what one engine makes of its requests. A pass
 * over k prompts, dealt out evenly, takes rest + each k. */
struct prompt_pool {
	double n;      /* requests that it sees, one at least */
	double here;   /* the same where fewer come */
	double copies; /* that receive them */
	double most;   /* of them in a pass */
	double alone;  /* seconds of a pass over one */
	double full;   /* over most */
	double rest, each;
};

struct prompt_pool prompt_pool_open(const struct work *work,
				    const struct server *prefill, double n);
/* Seconds of a request in the pool, mean, to which it comes back `away` seconds after
 * it left it, `decoding` of them in the other. */
double prompt_pool_stay(const struct work *work, const struct prompt_pool *pool,
			double away, double decoding);

#endif
