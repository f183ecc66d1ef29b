/* terms.h - pages and sums of the rows of engine/train/terms.h. */
#ifndef ENGINE_EXPLAIN_TERMS_H
#define ENGINE_EXPLAIN_TERMS_H

#include "engine/explain/row.h"
#include "engine/train/terms.h"

/* What the rows read of the asked stage; but for its activations and buffers. */
void explain_holding(const struct asked *asked, struct holding *out);
/* The row of that key behind "stages.3."; false if there is none. */
bool explain_term_of_stage(const struct asked *asked, const char *key,
			   struct explain_number *out);
/* "a + b + c" of a list of rows, of the asked stage. */
void explain_term_sum(const struct asked *asked, struct explanation *out,
		      const struct term *list);

#endif
