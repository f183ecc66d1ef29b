/* simulate.h - a server request by request: engine/queue with this engine's passes.
 *
 * Passes are looked up in a small table that fills as they are met: by requests and
 * context, by requests and prompt tokens, by prompt tokens and their context, linear
 * between entries; what two of them share is counted once.
 */
#ifndef ENGINE_SERVE_SIMULATE_H
#define ENGINE_SERVE_SIMULATE_H

#include "engine/plan/scenario.h"
#include "engine/queue/queue.h"

struct pass_tables;

/* What is simulated beyond the scenario. */
struct serve_load {
	int requests; /* in all; 0 = ten of each user, 2,000 at a rate, all listed */
	uint64_t seed;
	const struct queue_item *list; /* by arrival, or NULL */
	int listed;
	bool lengths_only; /* of the list; arrivals are the scenario's */
	double users; /* of a share at most, where it can be so small; 0: no limit */
	bool until_missed; /* as in struct queue_system */
	/* of this scenario with other loads, begun with 0; may be NULL */
	struct pass_tables *priced;
	/* Told now and then how many requests are done; may be NULL. */
	void (*tell)(void *listener, int done);
	void *listener;
};

/* Memory that it needs; 0 where the scenario can't run or has no room. */
size_t serve_simulation_bytes(const struct scenario *scenario,
			      const struct serve_load *load);
/* Requests of it, of the whole cluster. */
int64_t serve_simulated_requests(const struct scenario *scenario,
				 const struct serve_load *load);
/* One part of the cluster (run_part); rates, tokens and
 * counts are scaled to the whole cluster. A list is dealt out over all of it. False
 * where it can't run, or the arena has less than serve_simulation_bytes(). */
bool serve_simulate(const struct scenario *scenario, const struct serve_load *load,
		    struct arena *arena, struct queue_result *out);

/* What comes out of a simulated server, in the mean over its whole time. */
struct serve_yield {
	double requests_per_second, prompt_tokens_per_second, output_tokens_per_second;
	double dollars_per_million_tokens; /* of output */
};
void serve_yield(const struct scenario *scenario, const struct queue_result *result,
		 struct serve_yield *out);

#endif
