/* beyond.h - a closed loop that has more passes with prompts than its requests have to
 * decode: who decodes has prompts in each, and the others are time of who waits for
 * his.
 */
#ifndef ENGINE_SERVE_BEYOND_H
#define ENGINE_SERVE_BEYOND_H

#include "engine/serve/carried.h"

/* So many seconds of what each prompt adds to the time of the server, and of its
 * rounds. */
struct beyond {
	double served, rounds;
};

/* Of n prompts of others beside those that decode at `at`; none where these have to
 * decode as often as prompts pass. */
struct beyond beyond_decoding(const struct work *work, const struct server *server,
			      const struct prompts *prompts, double n,
			      const struct point *at);

#endif
