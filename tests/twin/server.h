/* server.h - a server's closed form a second time: prompts cut into passes one by one,
 * drafts by what may become of them, queues by the root of the equation that each of
 * them states, caches layer by layer and block by block. Written from engine/serve's
 * headers, with which it shares the structs and the prices of a single pass.
 */
#ifndef TESTS_TWIN_SERVER_H
#define TESTS_TWIN_SERVER_H

#include "engine/serve/serve_parts.h"

/* The point of `requests` in a copy of the attention, of which `decoding` are told to
 * be where requests decode: how many that is hangs on all that is computed here, and is
 * for the caller to check by Little's law. Times are those of a cluster whose measured
 * runs are as computed. */
void twin_point(const struct serving_run *run, double requests, double decoding,
		struct point *out);
/* Seconds, FLOPs and bytes of a pass, without its lists. */
void twin_pass(const struct serve_context *context, const struct batch *batch,
	       struct pass *out);
/* The cache of one request of that many tokens on a rank of the fullest stage. */
double twin_request_bytes(const struct serve_context *context, int64_t tokens);
/* Bytes a second of the link between a GPU of the job and its host. */
double twin_host_rate(const struct cluster *cluster);
/* Requests that one copy has room for, let in one by one; no more than `most` are
 * tried. */
double twin_room(const struct server *server, const struct stage_memory *held,
		 double most);

#endif
