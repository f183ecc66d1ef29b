/* load.h - what a server gives under other loads than its own: the curve from one
 * request to a full cache, and what the slowest requests wait. That takes longer than a
 * frame, so each part is computed when a view first asks and kept for the scenarios
 * that were looked at last: back and forth over a value costs it once. */
#ifndef TUI_EXPLORER_LOAD_H
#define TUI_EXPLORER_LOAD_H

#include "engine/serve/tail.h"

struct explorer;
struct load;

/* NULL: out of memory. */
struct load *load_make(void);

/* The open scenario's points; returns how many. */
int load_curve(const struct explorer *explorer, const struct serve_point **point);
/* The pinned one's; none where nothing is pinned or the pinned plan trains. */
int load_curve_before(const struct explorer *explorer,
		      const struct serve_point **point);
/* What all but one request in a hundred get along the curve. */
int load_slowest(const struct explorer *explorer, const struct serve_point **point);
/* What the slowest requests of this load wait; NULL where a key press can't tell. */
const struct serve_tail *load_tail(const struct explorer *explorer);

#endif
