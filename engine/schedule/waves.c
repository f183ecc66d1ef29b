/* waves.c - Hanayo (Liu et al. 2023): a micro-batch runs down and up the stages once
 * per wave, that is two chunks.
 *
 * Slots of one forward and one backward. Micro-batch j of a unit of p starts two slots
 * behind the one before and passes a virtual stage in each slot; so a stage meets its
 * even chunks in slots of one parity and its odd ones in those of the other, without a
 * gap, and a unit starts where the one before leaves off. Backwards are the same seen
 * from the end, and start in the slot of the last forward. A stage holds p
 * micro-batches and, all being equal, idles 2(p-1) times the longer of forward and
 * backward of one chunk (the paper's bubble for backwards twice as long). */
#include "engine/schedule/generators.h"

/* The next micro-batch of one parity's chunks, from slot `from` on. */
struct wave {
	int from, chunk, unit, inside; /* unit: its first micro-batch */
};

/* Whether the stage meets a micro-batch in this slot: then its chunk and which. */
static bool meets(struct wave *wave, const struct schedule *out, int slot, int *chunk,
		  int *micro_batch)
{
	if (slot < wave->from)
		return false;
	*chunk = wave->chunk;
	*micro_batch = wave->unit + wave->inside;
	if (++wave->inside == out->stages) {
		wave->inside = 0;
		wave->chunk += 2;
	}
	if (wave->chunk >= out->chunks) {
		wave->chunk -= out->chunks;
		wave->unit += out->stages;
	}
	return *micro_batch < out->micro_batches;
}

static void put_stage(struct schedule *out, int s)
{
	int p = out->stages, v = out->chunks, delay = p * v - 1, chunk, i;
	/* [0] for the slots of s's parity */
	struct wave forward[2] = { { s, 0, 0, 0 }, { 2 * p - 1 - s, 1, 0, 0 } };
	struct wave backward[2] = { forward[0], forward[1] };

	for (int slot = 0; out->count[s] < out->capacity; slot++) {
		struct wave *f = &forward[(slot - s) & 1];
		struct wave *b = &backward[(slot - delay - s) & 1];

		if (meets(f, out, slot, &chunk, &i))
			schedule_put(out, s, WORK_FORWARD, chunk, i);
		if (meets(b, out, slot - delay, &chunk, &i))
			schedule_put(out, s, WORK_BACKWARD, v - 1 - chunk, i);
	}
}

bool generate_hanayo(const struct schedule_request *request, struct schedule *out)
{
	(void)request;
	for (int s = 0; s < out->stages; s++)
		put_stage(out, s);
	return true;
}
