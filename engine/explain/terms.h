/* terms.h - sums of the rows of engine/train/terms.h, written into a formula. */
#ifndef ENGINE_EXPLAIN_TERMS_H
#define ENGINE_EXPLAIN_TERMS_H

#include "engine/explain/row.h"

/* Pages of the rows, behind "stages.3."; ends with a row whose key is NULL. */
extern const struct explain_node explain_terms[];

/* Of the asked stage. */
void explain_buffers(const struct asked *asked, struct explanation *out);
void explain_framework(const struct asked *asked, struct explanation *out);
void explain_update(const struct asked *asked, struct explanation *out);

#endif
