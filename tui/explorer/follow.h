/* follow.h - what follows from the open scenario and is brought up to date with it by
 * explorer_update(): kept for the scenarios that were looked at last. */
#ifndef TUI_EXPLORER_FOLLOW_H
#define TUI_EXPLORER_FOLLOW_H

struct explorer;
struct follow;

/* NULL: out of memory. To be given to free(). */
struct follow *follow_make(void);

#endif
