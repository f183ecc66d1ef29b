/* follow.h - what follows from the open scenario and is brought up to date with it by
 * explorer_update(): kept for the scenarios that were looked at last. */
#ifndef TUI_EXPLORER_FOLLOW_H
#define TUI_EXPLORER_FOLLOW_H

#include <stdbool.h>

struct estimate;
struct explanation;
struct explorer;
struct follow;
struct scenario;

/* NULL: out of memory. */
struct follow *follow_make(void);
void follow_free(struct follow *follow);
/* The estimate of this scenario, reckoned where it is none of those; good until the
 * next is asked for. */
const struct estimate *follow_estimate(struct follow *follow,
				       const struct scenario *scenario);
/* explain(), of several numbers of one scenario in a row, frame by frame: what they are
 * explained with is made once. */
bool follow_explain(struct follow *follow, const struct scenario *scenario,
		    const struct estimate *estimate, const char *key,
		    struct explanation *out);

#endif
