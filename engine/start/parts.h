/* parts.h - what the files of the start share; only engine/start/ includes it. */
#ifndef ENGINE_START_PARTS_H
#define ENGINE_START_PARTS_H

#include "engine/start/start.h"

bool start_is_given(const struct start *start, const char *key);
/* Sets the knob, if it was not given, and notes that it was chosen. */
void start_set(struct start *start, struct scenario *scenario, const char *key,
	       double value);
/* machine.c: accelerators for the model and the degrees that were given. */
int64_t start_gpus(const struct start *start, const struct scenario *scenario);
/* batch.c: a global batch for any usual degrees of this world, before they are known;
 * then, if it must be, the next one that the degrees divide. */
void start_batch(struct start *start, struct scenario *scenario);
void start_divide_batch(struct start *start, struct scenario *scenario);
/* layout.c, server.c: degrees and what goes with them. */
void start_layout(struct start *start, struct scenario *scenario);
void start_server(struct start *start, struct scenario *scenario);

#endif
