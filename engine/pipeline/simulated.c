/* simulated.c - pipeline_step() of the schedules that have no shortcut:
 * simulate what a pipeline of few micro-batches does, go on at its steady rate. */
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "engine/pipeline/rounds.h"
#include "engine/plan/plan.h"
#include "engine/schedule/simulate.h"

/* What is kept of one simulation. */
struct outcome {
	double seconds, rate; /* rate: seconds per micro-batch, once it is steady */
	double busy[MAX_STAGES], transfer[MAX_STAGES];
	int peak[MAX_STAGES];
};

enum { WINDOW = 8 };

/* Micro-batches enter at the steady rate when the memory at the front is used up. */
static double entering_rate(const struct simulation *ran, int m)
{
	int window = m > 2 * WINDOW ? WINDOW : m / 2;

	if (window < 1)
		return ran->seconds;
	return (ran->entered[m - 1] - ran->entered[m - 1 - window]) / window;
}

static bool run(const struct pipeline_input *in, int m, struct outcome *out)
{
	alignas(16) unsigned char room[PIPELINE_ROOM];
	struct arena arena = { room, sizeof room, 0 };
	struct schedule_request request = { .kind = in->schedule,
					    .stages = in->stages,
					    .chunks = in->chunks,
					    .micro_batches = m,
					    .forward = in->forward,
					    .input_grad = in->input_grad,
					    .weight_grad = in->weight_grad,
					    .latency = in->send_seconds };
	struct simulate_times times = { .forward = in->forward,
					.input_grad = in->input_grad,
					.weight_grad = in->weight_grad,
					.pair_hides = in->hides ? in->pair_hides : NULL,
					.kept_for_weights = 1,
					.send_seconds = in->send_seconds,
					.overlap_send = in->overlap_send };
	struct schedule schedule;
	struct simulation ran;

	if (!schedule_make(&request, &arena, &schedule, NULL) ||
	    !simulate(&schedule, &times, false, &arena, &ran))
		return false;
	out->seconds =
		in->optimizer_sync == SYNC_POST_VALIDATION ? ran.span : ran.seconds;
	out->rate = entering_rate(&ran, m);
	for (int s = 0; s < in->stages; s++) {
		out->busy[s] = ran.stage[s].busy;
		out->transfer[s] = ran.stage[s].transfer;
		out->peak[s] = ran.stage[s].peak_chunks;
	}
	return true;
}

/* From n micro-batches on at the steady rate. */
static void continue_alone(const struct pipeline_input *in, const struct outcome *at,
			   int n, struct outcome *out)
{
	double m = (double)in->micro_batches, slowest = at->rate;

	*out = *at;
	for (int s = 0; s < in->stages; s++) {
		slowest = fmax(slowest, (at->busy[s] + at->transfer[s]) / n);
		out->busy[s] = at->busy[s] / n * m;
		out->transfer[s] = at->transfer[s] / n * m;
	}
	out->seconds = at->seconds + (m - n) * slowest;
}

/* From two runs, `period` micro-batches apart, in a straight line. */
static void continue_line(const struct pipeline_input *in, const struct outcome *a,
			  const struct outcome *b, int n, int period,
			  struct outcome *out)
{
	double times = (double)(in->micro_batches - n) / period;

	*out = *b;
	out->seconds += times * (b->seconds - a->seconds);
	for (int s = 0; s < in->stages; s++) {
		out->busy[s] += times * (b->busy[s] - a->busy[s]);
		out->transfer[s] += times * (b->transfer[s] - a->transfer[s]);
	}
}

/* Micro-batches that are simulated before going on at the steady rate. */
static int settled(const struct pipeline_input *in)
{
	const struct schedule_row *row = &schedule_table[in->schedule];
	int start = row->settle * in->stages, cheap;

	start += row->by_rule ? WINDOW : 0;
	/* with few stages as many as many stages would take */
	cheap = row->effort / (in->stages * in->chunks);
	return start > cheap ? start : cheap;
}

static int period_of(const struct pipeline_input *in)
{
	int period = schedule_table[in->schedule].period;

	return period > 0 ? period : in->stages;
}

/* Micro-batches that are all simulated: two shorter runs would take as long. */
static int64_t all_simulated(const struct pipeline_input *in)
{
	bool by_rule = schedule_table[in->schedule].by_rule;

	return settled(in) + (by_rule ? 0 : settled(in) + period_of(in));
}

static bool run_reduced(const struct pipeline_input *in, struct outcome *out)
{
	int period = period_of(in), start = settled(in), n;
	struct outcome a, b;

	if (in->micro_batches <= all_simulated(in))
		return run(in, (int)in->micro_batches, out);
	if (schedule_table[in->schedule].by_rule) {
		if (!run(in, start, &a))
			return false;
		continue_alone(in, &a, start, out);
		return true;
	}
	n = start + (int)((in->micro_batches - start) % period);
	if (!run(in, n, &a) || !run(in, n + period, &b))
		return false;
	continue_line(in, &a, &b, n + period, period, out);
	return true;
}

enum { MODEL_STAGES = 16, ENOUGH = 5 /* micro-batches per stage */ };

static double mean(const double *of, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += of[i];
	return sum / count;
}

/* Sums of one micro-batch's work on a stage; both copies share it by halves. */
static double stage_work(const struct pipeline_input *in, int s)
{
	double work = 0;

	for (int k = 0; k < in->stages * in->chunks; k++) {
		double here = in->forward[k] + in->input_grad[k] + in->weight_grad[k];
		int stage = schedule_stage(in->schedule, in->stages, k);

		if (schedule_weight_copies(in->schedule) == 2)
			work += (stage == s ? here / 2 : 0) +
				(in->stages - 1 - stage == s ? here / 2 : 0);
		else
			work += stage == s ? here : 0;
	}
	return work;
}

/* What the lists and tables of so many micro-batches take, a little generously. */
static bool has_room(const struct pipeline_input *in)
{
	int chunks = schedule_weight_copies(in->schedule) * in->chunks;
	int64_t most = settled(in) + 2 * period_of(in);
	int m;

	most = most > all_simulated(in) ? most : all_simulated(in);
	m = (int)(most < in->micro_batches ? most : in->micro_batches);
	return 2 * simulate_bytes(in->stages, chunks, in->stages * in->chunks, m,
				  false) <
	       PIPELINE_ROOM;
}

/* A pipeline of fewer stages between the same ends, and as many micro-batches per
 * stage. */
struct few {
	struct pipeline_input in;
	struct outcome ran;
};

/* The ends as they are, the mean of what lies between. */
static void copy_ends(const double *from, int depth, double *to, int few_depth)
{
	double inner = mean(from + 1, depth - 2);

	for (int k = 1; k + 1 < few_depth; k++)
		to[k] = inner;
	to[0] = from[0];
	to[few_depth - 1] = from[depth - 1];
}

static bool run_few(const struct pipeline_input *in, int stages, struct few *few)
{
	int depth = in->stages * in->chunks, few_depth = stages * in->chunks;
	int64_t m = in->micro_batches * stages / in->stages;

	if (few_depth > depth)
		return false;
	few->in.stages = stages;
	few->in.chunks = in->chunks;
	few->in.micro_batches = m > 2 ? m - m % 2 : 2; /* both ways */
	few->in.schedule = in->schedule;
	few->in.group = in->group;
	few->in.send_seconds = in->send_seconds;
	few->in.overlap_send = in->overlap_send;
	few->in.optimizer_sync = in->optimizer_sync;
	few->in.hides = in->hides;
	few->in.weighed = false;
	copy_ends(in->forward, depth, few->in.forward, few_depth);
	copy_ends(in->input_grad, depth, few->in.input_grad, few_depth);
	copy_ends(in->weight_grad, depth, few->in.weight_grad, few_depth);
	if (in->hides)
		copy_ends(in->pair_hides, depth, few->in.pair_hides, few_depth);
	/* what many do, a few per stage tell */
	if (!has_room(&few->in))
		few->in.micro_batches = ENOUGH * stages;
	return has_room(&few->in) && run_reduced(&few->in, &few->ran);
}

/* Of the slowest stage. */
static double idle_of(const struct few *few)
{
	double slowest = 0;

	for (int s = 0; s < few->in.stages; s++)
		slowest = fmax(slowest, few->ran.busy[s] + few->ran.transfer[s]);
	return few->ran.seconds - slowest;
}

/* Too many stages for the room: the idle time and the peaks of fewer, continued in a
 * straight line (all the closed forms are linear in the stages). */
static bool run_model(const struct pipeline_input *in, struct outcome *out)
{
	double m = (double)in->micro_batches, slowest = 0, line, idle;
	struct few a, b;
	bool both;

	if (!run_few(in, MODEL_STAGES, &a))
		return false;
	/* no room for twice as many: then in proportion */
	both = run_few(in, 2 * MODEL_STAGES, &b);
	idle = both ? idle_of(&b) - idle_of(&a) : idle_of(&a);
	line = (double)(in->stages - MODEL_STAGES) / MODEL_STAGES;
	for (int s = 0; s < in->stages; s++) {
		int near = s * MODEL_STAGES / in->stages;
		int far = s * 2 * MODEL_STAGES / in->stages;
		double more = (both ? b.ran.peak[far] : 2 * a.ran.peak[near]) -
			      a.ran.peak[near];

		/* pairs save the same share of it */
		out->busy[s] = m * stage_work(in, s) * a.ran.busy[near] /
			       ((double)a.in.micro_batches * stage_work(&a.in, near));
		out->transfer[s] =
			m * a.ran.transfer[near] / (double)a.in.micro_batches;
		slowest = fmax(slowest, out->busy[s] + out->transfer[s]);
		out->peak[s] = (int)lround(a.ran.peak[near] + line * more);
	}
	out->seconds = slowest + fmax(0, idle_of(&a) + line * idle);
	return true;
}

bool pipeline_simulate(const struct pipeline_input *in, struct pipeline_result *out)
{
	struct schedule_request request = { .kind = in->schedule,
					    .stages = in->stages,
					    .chunks = in->chunks };
	struct schedule_problem problem;
	struct outcome found;

	request.micro_batches =
		(int)(in->micro_batches < INT32_MAX ? in->micro_batches : INT32_MAX);
	if (!schedule_allows(&request, &problem))
		return false;
	if (has_room(in) ? !run_reduced(in, &found) : !run_model(in, &found))
		return false;
	out->seconds = found.seconds;
	for (int s = 0; s < in->stages; s++) {
		out->seconds = fmax(out->seconds, found.busy[s] + found.transfer[s]);
		out->busy[s] = found.busy[s];
		out->transfer[s] = found.transfer[s];
		out->in_flight_chunks[s] = found.peak[s];
		out->in_flight[s] = (double)found.peak[s] / in->chunks;
	}
	for (int s = 0; s < in->stages; s++)
		out->idle[s] = out->seconds - out->busy[s] - out->transfer[s];
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
	/* one stage alone is sure of its work; what is put together from shorter runs
	 * or by stages' starts and ends apart, of no more */
	bool whole = has_room(in) && in->optimizer_sync != SYNC_POST_VALIDATION &&
		     (schedule_table[in->schedule].by_rule ||
		      in->micro_batches <= all_simulated(in));
	double m = (double)in->micro_batches, most;
	struct stay stay[MAX_STAGES];

	most = find_stays(in, stay);
	if (!whole)
		most = 0;
	for (int s = 0; s < in->stages; s++) {
		const struct stay *at = &stay[s];
		double work = m * at->work;

		most = fmax(most, work);
		if (whole)
			most = fmax(most,
				    at->start + fmax(work,
						     work + at->go - m * at->weights));
	}
	return most;
}
