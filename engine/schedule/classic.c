/* classic.c - GPipe, 1F1B and the interleaved schedules, whose backward is whole. */
#include "engine/schedule/classic.h"

/* GPipe (Huang et al. 2019): all forwards, then the backwards, last one first. */
bool generate_gpipe(const struct schedule_request *request, struct schedule *out)
{
	for (int s = 0; s < out->stages; s++) {
		for (int i = 0; i < request->micro_batches; i++)
			schedule_put(out, s, WORK_FORWARD, 0, i);
		for (int i = request->micro_batches - 1; i >= 0; i--)
			schedule_put(out, s, WORK_BACKWARD, 0, i);
	}
	return true;
}

/* The n-th virtual micro-batch that a stage runs: groups of so many micro-batches,
 * each through all chunks before the next group. */
static void put_virtual(struct schedule *out, int stage, enum work_kind kind, int n,
			int group)
{
	int base = n / (group * out->chunks) * group;
	int size = out->micro_batches - base, rest = n - base * out->chunks;
	int chunk;

	size = size < group ? size : group;
	chunk = rest / size;
	schedule_put(out, stage, kind,
		     kind == WORK_FORWARD ? chunk : out->chunks - 1 - chunk,
		     base + rest % size);
}

static bool one_forward_one_backward(struct schedule *out, int group)
{
	int total = out->micro_batches * out->chunks;
	int slope = out->chunks > 1 ? 2 : 1;

	for (int s = 0; s < out->stages; s++) {
		int warm = (out->stages - 1 - s) * slope + (out->chunks - 1) * group;
		int forwards = warm < total ? warm : total;

		for (int n = 0; n < forwards; n++)
			put_virtual(out, s, WORK_FORWARD, n, group);
		for (int n = 0; n < total; n++) {
			if (forwards < total)
				put_virtual(out, s, WORK_FORWARD, forwards++, group);
			put_virtual(out, s, WORK_BACKWARD, n, group);
		}
	}
	return true;
}

/* PipeDream-flush, DAPPLE: stage s runs p - 1 - s forwards ahead. */
bool generate_1f1b(const struct schedule_request *request, struct schedule *out)
{
	return one_forward_one_backward(out, request->micro_batches);
}

/* Narayanan et al. 2021 as Megatron runs it, with its micro-batch group size. */
bool generate_interleaved(const struct schedule_request *request, struct schedule *out)
{
	int group = request->group > 0 ? request->group : request->stages;

	group = group < request->micro_batches ? group : request->micro_batches;
	return one_forward_one_backward(out, group);
}

/* Lamy-Poirier 2022: every micro-batch through a chunk before the next chunk. */
bool generate_breadth_first(const struct schedule_request *request,
			    struct schedule *out)
{
	return one_forward_one_backward(out, request->micro_batches);
}
