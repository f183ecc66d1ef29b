/* pipeline.c - the fast path of gpipe, 1f1b, interleaved and breadth-first.
 *
 * The three orders are so regular that all stages can be moved forward together,
 * one round at a time: each stage needs only what its neighbours gave one round
 * before. Long runs jump over whole periods of the steady state. */
#include "engine/pipeline.h"

#include <math.h>
#include <string.h>

#include "engine/pipeline_rounds.h"
#include "engine/plan.h"
#include "engine/schedule/schedule.h"

/* Work of one micro-batch on each stage, and what its sends hold it. */
static void sum_work(const struct pipeline_input *in, struct pipeline_result *out)
{
	int last = in->stages * in->chunks - 1;
	double m = (double)in->micro_batches;
	double send = in->stages > 1 && !in->overlap_send ? in->send_seconds : 0;

	for (int s = 0; s < in->stages; s++) {
		double work = 0, sends = 2.0 * in->chunks;

		for (int k = s; k <= last; k += in->stages)
			work += in->forward[k] + in->input_grad[k] + in->weight_grad[k];
		sends -= (s == 0) + (s == in->stages - 1);
		out->busy[s] = m * work;
		out->transfer[s] = m * sends * send;
	}
}

static void set_in_flight(struct pipeline_result *out, int s, int64_t held, int chunks)
{
	out->in_flight_chunks[s] = held;
	out->in_flight[s] = (double)held / chunks;
}

/* All forwards, then all backwards: two flow shops of equal jobs, each of which
 * takes the sum over the stages plus m - 1 times the slowest (Huang et al. 2019,
 * generalised to unequal stages). */
static double gpipe_seconds(const struct rounds *r)
{
	double forward = 0, backward = 0, slowest_f = 0, slowest_b = 0;

	for (int s = 0; s < r->stages; s++) {
		forward += r->forward[s];
		backward += r->backward[s];
		slowest_f = fmax(slowest_f, r->forward[s]);
		slowest_b = fmax(slowest_b, r->backward[s]);
	}
	return forward + backward + 2 * (r->stages - 1) * r->latency +
	       (double)(r->micro_batches - 1) * (slowest_f + slowest_b);
}

static int64_t group_of(const struct pipeline_input *in)
{
	if (in->schedule == SCHEDULE_BREADTH_FIRST)
		return in->micro_batches;
	return in->group > 0 ? in->group : in->stages;
}

/* Times as the rounds need them: held senders work longer, others add latency. */
static void load(const struct pipeline_input *in, struct rounds *r)
{
	int virtual = in->stages * in->chunks;
	double hold = in->stages > 1 && !in->overlap_send ? in->send_seconds : 0;

	r->stages = in->stages;
	r->chunks = in->chunks;
	r->micro_batches = in->micro_batches;
	r->group = group_of(in);
	r->latency = in->stages > 1 && in->overlap_send ? in->send_seconds : 0;
	for (int k = 0; k < virtual; k++) {
		r->forward[k] = in->forward[k] + (k + 1 < virtual ? hold : 0);
		r->backward[k] =
			in->input_grad[k] + in->weight_grad[k] + (k > 0 ? hold : 0);
	}
}

void rounds_turn(struct rounds *r)
{
	for (int k = 0; k < r->stages * r->chunks; k++) {
		double forward = r->forward[k];

		r->forward[k] = r->backward[k];
		r->backward[k] = forward;
	}
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void fill_in_flight(const struct pipeline_input *in, struct pipeline_result *out)
{
	int64_t m = in->micro_batches, p = in->stages, v = in->chunks;
	int64_t group = least(group_of(in), m);

	/* alone, it runs one micro-batch after the other */
	if (p == 1) {
		set_in_flight(out, 0, v, in->chunks);
		return;
	}
	for (int s = 0; s < in->stages; s++) {
		int64_t held = m * v;

		if (in->schedule != SCHEDULE_GPIPE)
			held = least(held, v > 1 ? 2 * (p - 1 - s) + (v - 1) * group + 1
						 : p - s);
		set_in_flight(out, s, held, in->chunks);
	}
}

void pipeline_step(const struct pipeline_input *in, struct pipeline_result *out)
{
	struct rounds r;
	double seconds;

	if (in->stages > 1 && in->schedule > SCHEDULE_BREADTH_FIRST &&
	    in->schedule < SCHEDULE_COUNT && pipeline_simulate(in, out))
		return;
	sum_work(in, out);
	load(in, &r);
	if (in->stages == 1)
		seconds = out->busy[0];
	else if (in->schedule == SCHEDULE_GPIPE && in->chunks == 1)
		seconds = gpipe_seconds(&r);
	else if (in->chunks == 1)
		seconds = rounds_1f1b(&r);
	else
		seconds = rounds_interleaved(&r);
	for (int s = 0; s < in->stages; s++) {
		/* The slowest stage can't be faster than its own work. */
		seconds = fmax(seconds, out->busy[s] + out->transfer[s]);
	}
	out->seconds = seconds;
	for (int s = 0; s < in->stages; s++)
		out->idle[s] = seconds - out->busy[s] - out->transfer[s];
	fill_in_flight(in, out);
}
