/* clock.h - how late it is, for slices of work and lines of progress. */
#ifndef TUI_CLOCK_H
#define TUI_CLOCK_H

/* Seconds of a clock that only goes forward. */
double clock_seconds(void);
/* Seconds that this thread has worked: none pass while others have the processor. */
double clock_worked(void);

#endif
