/* clock.c - see clock.h. */
#include "tui/clock.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double clock_seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double clock_worked(void)
{
	return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}
