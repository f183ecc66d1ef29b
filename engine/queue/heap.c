/* heap.c - a heap of endings: the smallest first. */
#include "engine/queue/queue_parts.h"

static void sift_up(struct station *at, int i, struct ending e)
{
	while (i > 0 && at->heap[(i - 1) / 2].finish > e.finish) {
		at->heap[i] = at->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	at->heap[i] = e;
}

void heap_add(struct station *at, struct ending e)
{
	at->counted_at = -1;
	sift_up(at, at->heap_count++, e);
}

void heap_drop(struct station *at, int i)
{
	struct ending last = at->heap[--at->heap_count];
	int n = at->heap_count;

	at->counted_at = -1;
	if (i == n)
		return;
	for (int child = 2 * i + 1; child < n; child = 2 * i + 1) {
		if (child + 1 < n &&
		    at->heap[child + 1].finish < at->heap[child].finish)
			child++;
		if (at->heap[child].finish >= last.finish)
			break;
		at->heap[i] = at->heap[child];
		i = child;
	}
	sift_up(at, i, last);
}

void heap_forget(struct station *at, int32_t who)
{
	for (int i = 0; i < at->heap_count; i++)
		if (at->heap[i].who == who) {
			heap_drop(at, i);
			return;
		}
}
