/* pipeline.c - the pipeline phase of each schedule, and what no phase goes below. */
#include "engine/pipeline/pipeline.h"

#include <string.h>

#include "engine/base/plain.h"
#include "engine/pipeline/rounds.h"
#include "engine/plan/plan.h"
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
		slowest_f = larger(slowest_f, r->forward[s]);
		slowest_b = larger(slowest_b, r->backward[s]);
	}
	return forward + backward + 2 * (r->stages - 1) * r->latency +
	       (double)(r->micro_batches - 1) * (slowest_f + slowest_b);
}

static int64_t group_of(const struct pipeline_input *in)
{
	return schedule_group(in->schedule, in->stages, in->micro_batches, in->group);
}

/* Times as the rounds need them: held senders work longer, others add latency. */
static void load_times(const struct pipeline_input *in, struct rounds *r)
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

/* Micro-batches' worth of all that stage s holds for one, at its peak, where `ahead`
 * virtual ones are in flight. Interleaving runs forwards a group at a time through one
 * chunk after the other, and backwards likewise from the last chunk. In between what is
 * held changes steadily, so that the peak is where a run of either ends. */
static double weigh_in_flight(const struct pipeline_input *in, int s, int64_t ahead,
			      int64_t group)
{
	const double *held = in->held + s;
	int64_t last = in->micro_batches * in->chunks - ahead, runs = ahead / group;
	double n = (double)group, begun = (double)(ahead % group);
	/* of one micro-batch of each run so far */
	double each = 0, forward = 0, backward = 0, most = 0;
	int v = in->chunks, p = in->stages, chunk = (int)(runs % v);

	for (int c = 0; c < v; c++) {
		each += held[c * p];
		forward += c < chunk ? held[c * p] : 0;
	}
	if (each <= 0)
		return 0;
	forward += (double)(runs / v) * each;
	for (int k = 0; k < v && k * group <= last; k++) {
		double in_chunk = held[chunk * p], back = held[(v - 1 - k) * p];

		most = larger(most, n * (forward - backward) + begun * in_chunk);
		forward += in_chunk;
		if ((k + 1) * group - ahead % group <= last)
			most = larger(most,
				      n * (forward - backward) - (n - begun) * back);
		backward += back;
		chunk = chunk + 1 < v ? chunk + 1 : 0;
	}
	return most / each;
}

static bool holds_evenly(const struct pipeline_input *in, int s)
{
	for (int k = s + in->stages; k < in->stages * in->chunks; k += in->stages)
		if (in->held[k] != in->held[s])
			return false;
	return true;
}

static void fill_in_flight(const struct pipeline_input *in, struct pipeline_result *out)
{
	int64_t m = in->micro_batches, p = in->stages, v = in->chunks;
	int64_t group = lower(group_of(in), m);
	struct schedule_flight flight =
		schedule_flight(in->schedule, p, v, m, in->group);

	/* alone, it runs one micro-batch after the other */
	if (p == 1) {
		set_in_flight(out, 0, v, in->chunks);
		return;
	}
	for (int s = 0; s < in->stages; s++) {
		int64_t held = lower(flight.most, flight.first - s * flight.falls);

		set_in_flight(out, s, held, in->chunks);
		if (in->weighed && !holds_evenly(in, s))
			out->in_flight[s] = larger(out->in_flight[s],
						   weigh_in_flight(in, s, held, group));
	}
}

void pipeline_step(const struct pipeline_input *in, struct pipeline_result *out)
{
	struct rounds r;
	double seconds;

	if (in->stages > 1 && !schedule_by_rounds(in->schedule) &&
	    pipeline_simulate(in, out))
		return;
	sum_work(in, out);
	load_times(in, &r);
	if (in->stages == 1)
		seconds = out->busy[0];
	else if (in->schedule == SCHEDULE_GPIPE && in->chunks == 1)
		seconds = gpipe_seconds(&r);
	else
		seconds = rounds_seconds(&r);
	for (int s = 0; s < in->stages; s++) {
		/* The slowest stage can't be faster than its own work. */
		seconds = larger(seconds, out->busy[s] + out->transfer[s]);
	}
	out->seconds = seconds;
	for (int s = 0; s < in->stages; s++)
		out->idle[s] = seconds - out->busy[s] - out->transfer[s];
	fill_in_flight(in, out);
}

/* Stage s has all its forwards and backwards to do; before them the first micro-batch
 * comes down to it, behind them the last one goes back up. Before its first backward it
 * can do p - s forwards, so that it waits for the rest of the way down and back; seen
 * from the end the same holds of backwards. */
static double floor_1f1b(const struct rounds *r)
{
	double way = 0, above = 0, most = 0, m = (double)r->micro_batches;
	int p = r->stages;

	for (int s = 0; s < p; s++)
		way += r->forward[s] + r->backward[s];
	way += 2 * (p - 1) * r->latency;
	for (int s = 0; s < p; s++) {
		double both = r->forward[s] + r->backward[s];
		double ahead = p - s - 1;
		double less = lesser(r->forward[s], r->backward[s]);

		most = larger(most, above + m * both);
		if (r->micro_batches >= p - s)
			most = larger(most, way + (m - 1) * both - ahead * less);
		above += both + 2 * r->latency;
	}
	return most;
}

/* Of rounding alone, and of long runs of breadth-first, which go on in a straight line.
 */
static const double sure = 1 - 1e-9;
static const double almost = 1 - 2e-3;

double pipeline_floor(const struct pipeline_input *in)
{
	bool simulated = in->stages > 1 && !schedule_by_rounds(in->schedule), breadth;
	struct pipeline_result work;
	struct rounds r;
	double most = 0;

	sum_work(in, &work);
	for (int s = 0; s < in->stages && !simulated; s++)
		most = larger(most, work.busy[s] + work.transfer[s]);
	if (simulated)
		return simulated_floor(in) * sure;
	if (in->stages == 1)
		return most * sure;
	load_times(in, &r);
	if (in->schedule == SCHEDULE_GPIPE && in->chunks == 1)
		return larger(most, gpipe_seconds(&r)) * sure;
	if (in->chunks == 1)
		return larger(most, floor_1f1b(&r)) * sure;
	breadth = r.group >= r.micro_batches;
	return larger(most * sure, rounds_floor(&r) * (breadth ? almost : sure));
}

bool pipeline_tells_in_flight(const struct pipeline_input *in)
{
	return in->stages == 1 || schedule_by_rounds(in->schedule);
}

bool pipeline_in_flight(const struct pipeline_input *in, struct pipeline_result *out)
{
	if (pipeline_tells_in_flight(in)) {
		fill_in_flight(in, out);
		return true;
	}
	/* all chunks of a micro-batch, which the first backward waits for */
	for (int s = 0; s < in->stages; s++)
		set_in_flight(out, s, in->chunks, in->chunks);
	return false;
}

void pipeline_order_in_flight(const struct pipeline_input *in,
			      struct pipeline_result *out)
{
	struct pipeline_input equal = { .stages = in->stages,
					.chunks = in->chunks,
					.micro_batches = in->micro_batches,
					.schedule = in->schedule,
					.group = in->group };

	for (int k = 0; k < in->stages * in->chunks; k++)
		equal.forward[k] = equal.input_grad[k] = equal.weight_grad[k] = 1;
	pipeline_step(&equal, out);
}
