/* table.c - the schedules, one row each. */
#include "engine/schedule/schedule.h"

int64_t schedule_chunks(int schedule, int64_t stages, int64_t vpp)
{
	if (schedule != SCHEDULE_INTERLEAVED || stages < 2)
		return 1;
	return vpp > 1 ? vpp : 1;
}

int schedule_stage(int schedule, int stages, int k)
{
	(void)schedule;
	return k % stages;
}
