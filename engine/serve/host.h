/* host.h - the KV cache's second tier: host memory behind the host link.
 *
 * What the GPU's cache lets go of stays there, and is copied back where a prompt begins
 * alike (vLLM's --kv-offloading-size, SGLang's HiCache, TensorRT-LLM's
 * host_cache_size). Copies of the requests of one rank share its link, one after the
 * other; where a stack copies layer by layer, all but the first layer hides behind the
 * prompt's own computing.
 */
#ifndef ENGINE_SERVE_HOST_H
#define ENGINE_SERVE_HOST_H

#include "engine/serve/work.h"

/* Tokens of a prompt that are copied from the host; at least one is computed. */
double server_reloaded_tokens(const struct scenario *scenario);
/* Seconds that one rank's link is taken by so many tokens of a request; 0 without a
 * link. */
double host_copy_seconds(const struct server *server, double tokens);
/* Of the copy of one request, what its prompt's computing hides at most. */
double host_hidden(const struct scenario *scenario, double copy, double prefill);
/* Sets load_seconds, what TTFT waits for the copy where so many requests share a link,
 * and adds it to TTFT. The rest of the point is known. */
void host_wait(const struct work *work, const struct server *prefill, double requests,
	       struct point *out);
/* Adds what a rank's host link carries in the mean of a decode pass to the traffic:
 * copies from the host, and all that is computed on its way there. Nothing of it is
 * exposed in a pass; load_seconds is what a first token waits. */
void host_traffic(const struct server *decode, const struct server *prefill,
		  struct estimate *out);

#endif
