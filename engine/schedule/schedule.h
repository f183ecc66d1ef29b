/* schedule.h - in what order does each stage work? */
#ifndef ENGINE_SCHEDULE_SCHEDULE_H
#define ENGINE_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/plan.h"

/* Chunks per rank that the schedule really uses when vpp are asked for. */
int64_t schedule_chunks(int schedule, int64_t stages, int64_t vpp);
/* Pipeline stage that runs virtual stage k (in model order). */
int schedule_stage(int schedule, int stages, int k);

#endif
