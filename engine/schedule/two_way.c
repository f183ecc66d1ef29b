/* two_way.c - DualPipe and DualPipeV (DeepSeek), Chimera (Li & Hoefler 2021). */
#include "engine/schedule/generators.h"

/* One stage of DualPipe under way. Direction 0 is the one whose micro-batches enter
 * on this stage's side. */
struct dual {
	struct schedule *out;
	int stage;
	int chunk[2]; /* chunk of each direction */
	int first[2]; /* first micro-batch of each direction */
	int forwards[2], backwards[2];
	/* weight gradients that were put off, oldest first */
	int put_off, caught_up;
	struct {
		int chunk, micro_batch;
	} store[2 * MAX_STAGES + 4];
};

enum { STORE = 2 * MAX_STAGES + 4 };

static struct work *forward(struct dual *d, int way)
{
	return schedule_put(d->out, d->stage, WORK_FORWARD, d->chunk[way],
			    d->first[way] + d->forwards[way]++);
}

static void backward(struct dual *d, int way)
{
	schedule_put(d->out, d->stage, WORK_BACKWARD, d->chunk[way],
		     d->first[way] + d->backwards[way]++);
}

static void input_grad(struct dual *d, int way)
{
	int slot = d->put_off++ % STORE;

	d->store[slot].chunk = d->chunk[way];
	d->store[slot].micro_batch = d->first[way] + d->backwards[way]++;
	schedule_put(d->out, d->stage, WORK_INPUT_GRAD, d->store[slot].chunk,
		     d->store[slot].micro_batch);
}

static void weight_grad(struct dual *d)
{
	int slot = d->caught_up++ % STORE;

	schedule_put(d->out, d->stage, WORK_WEIGHT_GRAD, d->store[slot].chunk,
		     d->store[slot].micro_batch);
}

static void pair(struct dual *d, int up, int down, bool together)
{
	forward(d, up)->paired = together;
	backward(d, down);
}

/* The eight phases of DeepSeek's DualPipe for a stage r places from the near end of
 * n, with m micro-batches in each direction. */
static void dual_stage(struct dual *d, int n, int r, int m)
{
	int outer = n - 1 - r, inner = r + 1, steady = m - 2 * n + r + 1;

	for (int i = 0; i < 2 * outer; i++)
		forward(d, 0);
	for (int i = 0; i < inner; i++) {
		forward(d, 0);
		forward(d, 1);
	}
	for (int i = 0; i < outer; i++) {
		input_grad(d, 1);
		weight_grad(d);
		forward(d, 1);
	}
	for (int i = 0; i < steady; i++) {
		pair(d, 0, 1, outer > 0 || i > 0);
		pair(d, 1, 0, true);
	}
	for (int i = 0; i < outer; i++) {
		backward(d, 1);
		pair(d, 1, 0, true);
	}
	/* The second half of these puts its weight gradients off. */
	for (int i = 0; i < 2 * inner; i++) {
		if (i < inner)
			backward(d, 1 - i % 2);
		else
			input_grad(d, 1 - i % 2);
	}
	for (int i = 0; i < outer; i++) {
		weight_grad(d);
		input_grad(d, 0);
	}
	for (int i = 0; i < inner; i++)
		weight_grad(d);
}

bool generate_dualpipe(const struct schedule_request *request, struct schedule *out)
{
	int p = request->stages, half = request->micro_batches / 2;

	for (int s = 0; s < p; s++) {
		bool far = s >= p / 2;
		struct dual d = { .out = out, .stage = s };

		d.chunk[0] = far;
		d.chunk[1] = !far;
		d.first[0] = far ? half : 0;
		d.first[1] = far ? 0 : half;
		dual_stage(&d, p / 2, far ? p - 1 - s : s, half);
	}
	return true;
}

/* The same with both directions on one micro-batch: down chunk 0, up chunk 1. */
bool generate_dualpipev(const struct schedule_request *request, struct schedule *out)
{
	for (int s = 0; s < request->stages; s++) {
		struct dual d = { .out = out, .stage = s, .chunk = { 0, 1 } };

		dual_stage(&d, request->stages, s, request->micro_batches);
	}
	return true;
}

/* Which micro-batch of a direction starts `slot` slots behind the first one's start
 * on the same stage; -1 if none does. A unit is p / 2 of them, two slots apart, and
 * starts 2p slots behind the one before. */
static int chimera_index(int p, int slot, int count)
{
	int unit = slot / (2 * p), inside = slot % (2 * p) / 2;
	int index = unit * (p / 2) + inside;

	if (slot < 0 || slot % 2 == 1 || inside >= p / 2 || index >= count)
		return -1;
	return index;
}

static void chimera_stage(struct schedule *out, int s, int half)
{
	int p = out->stages, left = 4 * half;

	for (int slot = 0; left > 0; slot++) {
		for (int way = 0; way < 2; way++) {
			int place = way == 0 ? s : p - 1 - s;
			int f = chimera_index(p, slot - place, half);
			int b = chimera_index(p, slot - (2 * p - 1 - place), half);

			left -= (f >= 0) + (b >= 0);
			if (b >= 0)
				schedule_put(out, s, WORK_BACKWARD, way,
					     way * half + b);
			if (f >= 0)
				schedule_put(out, s, WORK_FORWARD, way, way * half + f);
		}
	}
}

/* Slots of one forward or backward: a micro-batch passes a stage in each slot and
 * comes back at once; as p is even the two directions never want the same slot, and
 * a unit's forwards fill what the one before leaves ("direct concatenation"). */
bool generate_chimera(const struct schedule_request *request, struct schedule *out)
{
	for (int s = 0; s < out->stages; s++)
		chimera_stage(out, s, request->micro_batches / 2);
	return true;
}
