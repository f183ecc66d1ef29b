/* operator.h - what the pages of one operator share; only the files operator*.c include
 * it. */
#ifndef ENGINE_EXPLAIN_OPERATOR_H
#define ENGINE_EXPLAIN_OPERATOR_H

#include "engine/explain/row.h"

/* The asked operator, and of what kind it is. */
const struct graph_operator *explain_op(const struct asked *asked);
bool explain_is_collective(const struct asked *asked);
bool explain_is_linear(const struct asked *asked);

/* A forward, or the gradient of its input; and of its weights. */
void explain_operator_seconds(const struct asked *asked, struct explanation *out,
			      bool backward);
void explain_operator_weights(const struct asked *asked, struct explanation *out);

#endif
