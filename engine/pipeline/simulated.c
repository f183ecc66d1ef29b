/* simulated.c - pipeline_step() of the schedules whose order is made item by item. */
#include <math.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/pipeline/rounds.h"
#include "engine/plan/plan.h"
#include "engine/schedule/flow.h"

/* Sums of one micro-batch's work on each stage; both copies share it by halves. */
static void sum_work(const struct pipeline_input *in, double *work)
{
	double share = 1.0 / schedule_weight_copies(in->schedule);

	memset(work, 0, (size_t)in->stages * sizeof *work);
	for (int k = 0; k < in->stages * in->chunks; k++) {
		double here = in->forward[k] + in->input_grad[k] + in->weight_grad[k];
		int stage = schedule_stage(in->schedule, in->stages, k);

		work[stage] += share * here;
		if (share < 1)
			work[in->stages - 1 - stage] += share * here;
	}
}

/* Sends of one micro-batch that hold a stage: its share of all that leave it, forwards
 * and backwards; a V turns on the spot. */
static double held_sends(const struct pipeline_input *in, int s)
{
	double sends = (s > 0) + (s + 1 < in->stages);

	return in->overlap_send ? 0 : in->chunks * sends * in->send_seconds;
}

/* What became of each stage in a run: how long it computed, sent and waited, and what
 * it held. */
static void take_stages(const struct pipeline_input *in, const struct flow *flow,
			const double work[MAX_STAGES], struct pipeline_result *out)
{
	double m = (double)in->micro_batches;

	for (int s = 0; s < in->stages; s++) {
		out->busy[s] = m * work[s] - flow->hidden[s];
		out->transfer[s] = m * held_sends(in, s) - flow->hidden_sends[s];
		out->seconds = fmax(out->seconds, out->busy[s] + out->transfer[s]);
		out->in_flight_chunks[s] = flow->peak_chunks[s];
		out->in_flight[s] = (double)flow->peak_chunks[s] / in->chunks;
	}
	for (int s = 0; s < in->stages; s++)
		out->idle[s] = out->seconds - out->busy[s] - out->transfer[s];
}

void pipeline_asks(const struct pipeline_input *in, struct schedule_request *request,
		   struct simulate_times *times)
{
	*request = (struct schedule_request){ .kind = in->schedule,
					      .stages = in->stages,
					      .chunks = in->chunks,
					      .forward = in->forward,
					      .input_grad = in->input_grad,
					      .weight_grad = in->weight_grad,
					      .send_seconds = in->send_seconds,
					      .overlap_send = in->overlap_send };
	*times = (struct simulate_times){ .forward = in->forward,
					  .input_grad = in->input_grad,
					  .weight_grad = in->weight_grad,
					  .pair_hides =
						  in->hides ? in->pair_hides : NULL,
					  .send_seconds = in->send_seconds,
					  .overlap_send = in->overlap_send };
}

bool pipeline_simulate(const struct pipeline_input *in, struct pipeline_result *out)
{
	struct schedule_request request;
	struct simulate_times times;
	struct schedule_problem problem;
	double work[MAX_STAGES];
	int32_t peak[MAX_STAGES];
	/* where stages start apart, ends say little of the step */
	bool ends = !in->hides && in->optimizer_sync != SYNC_POST_VALIDATION;
	struct flow flow = { .enough = ends ? in->enough : 0,
			     .hidden = out->busy,
			     .hidden_sends = out->transfer,
			     .peak_chunks = peak };

	pipeline_asks(in, &request, &times);
	request.micro_batches = (int)lower(in->micro_batches, INT32_MAX);
	if (!schedule_allows(&request, &problem) ||
	    !flow_run(&request, &times, NULL, &flow))
		return false;
	out->seconds =
		in->optimizer_sync == SYNC_POST_VALIDATION ? flow.span : flow.seconds;
	if (isinf(out->seconds))
		return true;
	sum_work(in, work);
	take_stages(in, &flow, work, out);
	return true;
}

/* A stage of a simulated run: its work, how early that can begin, and what comes at
 * least behind its last backward. */
struct stay {
	double work, weights, start, go;
};

/* Least times of virtual stage k, run in pairs or not. */
static double least_forward(const struct pipeline_input *in, int k)
{
	return in->forward[k] - (in->hides ? in->pair_hides[k] : 0);
}

static double least_backward(const struct pipeline_input *in, int k)
{
	bool splits = schedule_table[in->schedule].splits_backward;

	return in->input_grad[k] + (splits ? 0 : in->weight_grad[k]) -
	       (in->hides ? in->pair_hides[k] : 0);
}

static void add_stay(struct stay *stay, double share, double forward, double backward,
		     double weights, double start, double go)
{
	if (stay->work == 0 || start < stay->start)
		stay->start = start;
	if (stay->work == 0 || go < stay->go)
		stay->go = go;
	stay->work += share * (forward + backward + weights);
	stay->weights += share * weights;
}

/* Which stages work on what, and when a micro-batch comes there first. Returns the time
 * of one micro-batch's way down and back. */
static double find_stays(const struct pipeline_input *in, struct stay *stay)
{
	int copies = schedule_weight_copies(in->schedule);
	bool splits = schedule_table[in->schedule].splits_backward;
	double start = 0, go = 0;

	memset(stay, 0, (size_t)in->stages * sizeof *stay);
	for (int k = 0; k < in->stages * in->chunks; k++) {
		double forward = least_forward(in, k), backward = least_backward(in, k);
		double weights = splits ? in->weight_grad[k] : 0;
		int s = schedule_stage(in->schedule, in->stages, k);

		add_stay(&stay[s], 1.0 / copies, forward, backward, weights, start, go);
		if (copies == 2)
			add_stay(&stay[in->stages - 1 - s], 0.5, forward, backward,
				 weights, start, go);
		start += forward;
		go += backward;
	}
	return start + go;
}

double simulated_floor(const struct pipeline_input *in)
{
	/* where stages start and end apart, one alone is sure of its work, of no more
	 */
	bool barrier = in->optimizer_sync != SYNC_POST_VALIDATION;
	double m = (double)in->micro_batches, most;
	struct stay stay[MAX_STAGES];

	most = find_stays(in, stay);
	if (!barrier)
		most = 0;
	for (int s = 0; s < in->stages; s++) {
		const struct stay *at = &stay[s];
		double work = m * at->work;

		most = fmax(most, work);
		if (barrier)
			most = fmax(most,
				    at->start + fmax(work,
						     work + at->go - m * at->weights));
	}
	return most;
}
