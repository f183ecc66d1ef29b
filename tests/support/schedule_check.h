/* schedule_check.h - is a list of work a schedule at all? */
#ifndef TESTS_SUPPORT_SCHEDULE_CHECK_H
#define TESTS_SUPPORT_SCHEDULE_CHECK_H

#include "engine/schedule/simulate.h"

enum schedule_fault {
	FAULT_NONE,
	FAULT_MISSING,  /* an item is missing */
	FAULT_TWICE,    /* an item stands twice, or makes no sense */
	FAULT_ORDER,    /* a backward before its forward on the same stage */
	FAULT_DEADLOCK, /* stages wait for each other in a circle */
	FAULT_MEMORY    /* the arena is too small to tell */
};
/* Every item once, dependencies respected, no circle. */
enum schedule_fault schedule_check(const struct schedule *schedule,
				   struct arena *arena);

#endif
