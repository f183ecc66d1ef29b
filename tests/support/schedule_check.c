/* schedule_check.c - see schedule_check.h. */
#include "tests/support/schedule_check.h"

#include <string.h>

enum { SEEN_FORWARD = 1, SEEN_INPUT = 2, SEEN_WEIGHT = 4, SEEN_ALL = 7 };

/* What an item adds to what its micro-batch has had on its stage; 0 if it makes no
 * sense there. */
static int adds(const struct work *work)
{
	switch (work->kind) {
	case WORK_FORWARD: return SEEN_FORWARD;
	case WORK_BACKWARD: return SEEN_INPUT | SEEN_WEIGHT;
	case WORK_INPUT_GRAD: return SEEN_INPUT;
	case WORK_WEIGHT_GRAD: return SEEN_WEIGHT;
	default: return 0;
	}
}

static enum schedule_fault check_stage(const struct schedule *schedule, int s,
				       unsigned char *seen)
{
	const struct work *work = &schedule->item[(int64_t)s * schedule->capacity];
	int64_t cells = (int64_t)schedule->chunks * schedule->micro_batches, full = 0;
	bool two_way = schedule->placement == PLACE_TWO_WAY;

	memset(seen, 0, (size_t)cells);
	for (int i = 0; i < schedule->count[s]; i++, work++) {
		unsigned char *cell;
		int add = adds(work);

		if (add == 0 || work->chunk < 0 || work->chunk >= schedule->chunks ||
		    work->micro_batch < 0 ||
		    work->micro_batch >= schedule->micro_batches)
			return FAULT_TWICE;
		cell = &seen[(int64_t)work->chunk * schedule->micro_batches +
			     work->micro_batch];
		if (*cell & add)
			return FAULT_TWICE;
		if ((work->kind != WORK_FORWARD && !(*cell & SEEN_FORWARD)) ||
		    (work->kind == WORK_WEIGHT_GRAD && !(*cell & SEEN_INPUT)))
			return FAULT_ORDER;
		*cell |= (unsigned char)add;
		full += *cell == SEEN_ALL;
	}
	return full == (two_way ? schedule->micro_batches : cells) ? FAULT_NONE
								   : FAULT_MISSING;
}

enum schedule_fault schedule_check(const struct schedule *schedule, struct arena *arena)
{
	static const double none[MAX_VIRTUAL];
	struct simulate_times times = { none, none, none, NULL, NULL, 0, 0, true };
	struct simulation ran;
	struct arena lent = *arena;
	unsigned char *seen = arena_take(&lent, (size_t)schedule->chunks,
					 (size_t)schedule->micro_batches);

	if (!seen)
		return FAULT_MEMORY;
	for (int s = 0; s < schedule->stages; s++) {
		enum schedule_fault fault = check_stage(schedule, s, seen);

		if (fault != FAULT_NONE)
			return fault;
	}
	lent = *arena;
	if (simulate(schedule, &times, false, &lent, &ran))
		return FAULT_NONE;
	return ran.stuck_stage >= 0 ? FAULT_DEADLOCK : FAULT_MEMORY;
}
