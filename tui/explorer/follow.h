/* follow.h - what follows from the open scenario and is brought up to date with it by
 * explorer_update(): kept for the scenarios that were looked at last. */
#ifndef TUI_EXPLORER_FOLLOW_H
#define TUI_EXPLORER_FOLLOW_H

struct estimate;
struct explorer;
struct follow;
struct scenario;

/* NULL: out of memory. To be given to free(). */
struct follow *follow_make(void);
/* The estimate of this scenario, reckoned where it is none of those; good until the
 * next is asked for. */
const struct estimate *follow_estimate(struct follow *follow,
				       const struct scenario *scenario);

#endif
