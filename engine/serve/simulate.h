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

/* What is simulated beyond the scenario. */
struct serve_load {
	int requests; /* in all; 0 = ten of each user, at least 1,000 at a rate */
	uint64_t seed;
	const struct queue_item *trace; /* `requests` of them, or NULL */
};

/* Memory that it needs; 0 where the scenario can't run or has no room. */
size_t serve_simulation_bytes(const struct scenario *scenario,
			      const struct serve_load *load);
/* One share of the copies of the attention that has whole pools; rates and tokens are
 * scaled to the whole cluster. records has room for load->requests of the trace, or is
 * NULL. False where it can't run. */
bool serve_simulate(const struct scenario *scenario, const struct serve_load *load,
		    struct arena *arena, struct queue_result *out);

#endif
