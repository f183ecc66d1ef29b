/* v_shape.c - two chunks per stage on a V: ZB-V (Qi et al. 2023), V-Half and V-Min
 * ("Pipeline Parallelism with Controllable Memory", Qi et al. 2024). */
#include "engine/schedule/fill.h"
#include "engine/schedule/generators.h"

/* One stage of ZB-V; what lies beyond the last micro-batch is left out, so that
 * fewer than 2p - 1 of them keep the order of more. */
struct zbv {
	struct schedule *out;
	int stage;
	int forwards[2], inputs[2], weights[2];
};

static void put(struct zbv *z, enum work_kind kind, int *count, int chunk)
{
	int i = count[chunk]++;

	if (i < z->out->micro_batches)
		schedule_put(z->out, z->stage, kind, chunk, i);
}

static void forward(struct zbv *z, int chunk)
{
	put(z, WORK_FORWARD, z->forwards, chunk);
}

static void input_grad(struct zbv *z, int chunk)
{
	put(z, WORK_INPUT_GRAD, z->inputs, chunk);
}

static void weight_grad(struct zbv *z, int chunk)
{
	put(z, WORK_WEIGHT_GRAD, z->weights, chunk);
}

static void back(struct zbv *z, int chunk)
{
	input_grad(z, chunk);
	weight_grad(z, chunk);
}

static void zbv_stage(struct zbv *z, int p, int s, int m)
{
	for (int i = 0; i < 2 * (p - s) - 1; i++)
		forward(z, 0);
	for (int i = 0; i < s; i++) {
		forward(z, 1);
		forward(z, 0);
	}
	for (int i = 0; i < p - s; i++) {
		forward(z, 1);
		back(z, 1);
	}
	while (z->forwards[1] < m) {
		if (z->forwards[0] < m)
			forward(z, 0);
		back(z, 0);
		forward(z, 1);
		back(z, 1);
	}
	for (int i = 0; i < s; i++) {
		input_grad(z, 0);
		input_grad(z, 1);
	}
	for (int i = 0; i < p - s; i++)
		back(z, 0);
	while (z->weights[1] < m)
		weight_grad(z, 1);
	while (z->weights[0] < m)
		weight_grad(z, 0);
}

bool generate_zb_v(const struct schedule_request *request, struct schedule *out)
{
	int p = request->stages, m = request->micro_batches;

	m = m < 2 * p - 1 ? 2 * p - 1 : m;
	for (int s = 0; s < p; s++) {
		struct zbv z = { .out = out, .stage = s };

		zbv_stage(&z, p, s, m);
	}
	return true;
}

/* A building block: slots of one pass at which the first micro-batch's passes start
 * on each stage; it repeats every six slots (two chunks, three passes). step is how
 * far neighbouring stages are apart in forward 0, forward 1, backward 1, backward 0
 * (the paper's offsets), turn the pause at each of the three turns of the way. */
struct block {
	int step[4], turn[3];
};

enum { PERIOD = 6 };

static void block_starts(const struct block *block, int p, int s, int start[4])
{
	const int *step = block->step, *turn = block->turn;
	int second = step[0] * (p - 1) + turn[0];
	int third = second + step[1] * (p - 1) + turn[1];
	int fourth = third + step[2] * (p - 1) + turn[2];

	start[0] = step[0] * s;
	start[1] = second + step[1] * (p - 1 - s);
	start[2] = third + step[2] * s;
	start[3] = fourth + step[3] * (p - 1 - s);
}

/* Whether no stage wants one slot twice once the block repeats. */
static bool block_fits(const struct block *block, int p)
{
	int stages = p < PERIOD ? p : PERIOD; /* the pattern repeats */

	for (int s = 0; s < stages; s++) {
		int start[4], used = 0;

		block_starts(block, p, s, start);
		for (int i = 0; i < 4; i++) {
			if (used & 1 << start[i] % PERIOD)
				return false;
			used |= 1 << start[i] % PERIOD;
		}
	}
	return true;
}

/* The shortest turns that fit. */
static bool block_turns(struct block *block, int p)
{
	for (int sum = 3; sum <= 3 * PERIOD; sum++) {
		for (int a = 1; a <= PERIOD && a < sum - 1; a++) {
			for (int b = 1; b <= PERIOD && b < sum - a; b++) {
				if (sum - a - b > PERIOD)
					continue;
				block->turn[0] = a;
				block->turn[1] = b;
				block->turn[2] = sum - a - b;
				if (block_fits(block, p))
					return true;
			}
		}
	}
	return false;
}

/* Forwards and backwards of one stage in the order of their slots. */
static void put_block(struct schedule *order, const struct block *block, int s)
{
	static const enum work_kind kind[4] = { WORK_FORWARD, WORK_FORWARD,
						WORK_INPUT_GRAD, WORK_INPUT_GRAD };
	static const int chunk[4] = { 0, 1, 1, 0 };
	int start[4], next[4] = { 0 }, pass[PERIOD];
	int left = 4 * order->micro_batches, slot;

	block_starts(block, order->stages, s, start);
	for (int i = 0; i < PERIOD; i++)
		pass[i] = -1;
	for (int i = 0; i < 4; i++)
		pass[start[i] % PERIOD] = i;
	for (slot = start[0]; left > 0; slot++) {
		int i = pass[slot % PERIOD];

		if (i < 0 || slot < start[i] || next[i] == order->micro_batches)
			continue;
		schedule_put(order, s, kind[i], chunk[i], next[i]++);
		left--;
	}
}

/* Repeat the block; weight gradients fill the gaps, within the memory of so many
 * chunks (half micro-batches), more only if it can't run otherwise. */
static bool controllable(const struct schedule_request *request, struct schedule *out,
			 struct block block, int chunks_held)
{
	struct schedule order = *out;
	struct schedule_request inner = *request;
	struct arena lent = *request->scratch;
	struct fill_rule rule = { .order = &order, .gap_share = 0.5 };

	if (!fill_order(out, &lent, &order) || !block_turns(&block, out->stages))
		return false;
	for (int s = 0; s < out->stages; s++)
		put_block(&order, &block, s);
	inner.scratch = &lent;
	for (int more = 0; more <= 2 * out->stages + 4; more++) {
		rule.held_limit = chunks_held + more;
		if (fill_weights(&inner, &rule, out))
			return true;
	}
	return false;
}

/* p / 2 + 1 micro-batches in the paper; half a one more, which the block itself
 * holds, keeps the steady state free of gaps when the passes are not equal. */
bool generate_v_half(const struct schedule_request *request, struct schedule *out)
{
	struct block block = { .step = { 2, 1, 2, 1 } };

	return controllable(request, out, block, (request->stages + 2) / 2 * 2 + 1);
}

/* A third of 1F1B's memory; the price is that every pass waits for others where
 * forward, input and weight gradient are not equally long. */
bool generate_v_min(const struct schedule_request *request, struct schedule *out)
{
	struct block block = { .step = { 1, 1, 1, 1 } };

	return controllable(request, out, block, (request->stages + 4) / 3 * 2);
}
