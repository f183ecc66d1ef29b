/* test_floors.c - what no pipeline phase goes below, item by item: of each stage alone
 * its items in their order, the way of the first micro-batch to it, the way back of the
 * last. The floor is the longest of these to the last digit, for one that is lower
 * leaves less of a search out, and one that is higher leaves out what is good. */
#include <math.h>
#include <string.h>

#include "engine/pipeline/rounds.h"
#include "engine/plan/plan.h"
#include "engine/schedule/schedule.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct pipeline_input in;
static struct pipeline_result out;

static double between(double least, double most)
{
	return least + (most - least) * (double)next(1 << 20) / (1 << 20);
}

/* Times that are alike, or that are not: an order of magnitude apart here and there. */
static double some_time(void)
{
	return next(4) == 0 ? between(0.1, 10) : between(0.8, 1.2);
}

static void draw_times(void)
{
	in.overlap_send = next(2);
	in.send_seconds = next(3) ? between(0, 0.5) : 0;
	for (int k = 0; k < in.stages * in.chunks; k++) {
		in.forward[k] = some_time();
		in.input_grad[k] = some_time();
		in.weight_grad[k] = some_time();
		in.pair_hides[k] =
			between(0, 0.4) * fmin(in.forward[k], in.input_grad[k]);
	}
}

static void in_another_unit(double unit)
{
	in.send_seconds *= unit;
	for (int k = 0; k < in.stages * in.chunks; k++) {
		in.forward[k] *= unit;
		in.input_grad[k] *= unit;
		in.weight_grad[k] *= unit;
		in.pair_hides[k] *= unit;
	}
}

/* --- 1F1B --- */

static double forward_of(int s)
{
	bool holds = !in.overlap_send && s + 1 < in.stages;

	return in.forward[s] + (holds ? in.send_seconds : 0);
}

static double backward_of(int s)
{
	bool holds = !in.overlap_send && s > 0;

	return in.input_grad[s] + in.weight_grad[s] + (holds ? in.send_seconds : 0);
}

/* From the first stage to s, forward; back up from it; and from behind s down, all the
 * way back, to before its backward. */
static double down_to(int s)
{
	double seconds = 0;

	for (int i = 0; i < s; i++)
		seconds += forward_of(i) + (in.overlap_send ? in.send_seconds : 0);
	return seconds;
}

static double up_from(int s)
{
	double seconds = 0;

	for (int i = 0; i < s; i++)
		seconds += backward_of(i) + (in.overlap_send ? in.send_seconds : 0);
	return seconds;
}

static double around(int s)
{
	double seconds = 0;

	for (int i = s + 1; i < in.stages; i++)
		seconds += forward_of(i) + backward_of(i) +
			   (in.overlap_send ? 2 * in.send_seconds : 0);
	return seconds;
}

/* Each item of stage s may begin when its way down, or down and back, is done; then
 * comes all behind it, and the way up. The same from the other end. */
static double longest_of(int s)
{
	int64_t m = in.micro_batches, ahead = in.stages - s - 1;
	double f = forward_of(s), b = backward_of(s), all = (double)m * (f + b);
	double before = 0, most = 0;
	int64_t forwards = 0, backwards = 0;

	if (ahead > m)
		ahead = m;
	while (backwards < m) {
		bool goes_down = forwards < m && forwards - backwards <= ahead;
		double begins = down_to(s) + (goes_down ? 0 : f + around(s));
		double behind = up_from(s) + (goes_down ? b + around(s) : 0);

		most = fmax(most, begins + all - before + up_from(s));
		before += goes_down ? f : b;
		most = fmax(most, down_to(s) + before + behind);
		forwards += goes_down;
		backwards += !goes_down;
	}
	return most;
}

static void test_1f1b_item_by_item(void **state)
{
	int exact = 0, runs = 3000;

	(void)state;
	seed = 41;
	for (int n = 0; n < runs; n++) {
		double most = 0, floor;

		memset(&in, 0, sizeof in);
		in.schedule = SCHEDULE_1F1B;
		in.stages = 2 + (int)next(7);
		in.chunks = 1;
		in.micro_batches = in.stages + (int64_t)next(20);
		draw_times();
		for (int s = 0; s < in.stages; s++)
			most = fmax(most, longest_of(s));
		floor = pipeline_floor(&in);
		assert_close(floor, most * (1 - 1e-9), 1e-12);
		pipeline_step(&in, &out);
		assert_true(floor <= out.seconds);
		exact += floor > 0.999 * out.seconds;
		/* fewer micro-batches than stages: below is enough */
		in.micro_batches = 1 + (int64_t)next((uint64_t)in.stages);
		pipeline_step(&in, &out);
		assert_true(pipeline_floor(&in) <= out.seconds);
	}
	assert_true(exact > runs / 2);
}

/* --- interleaved --- */

enum { MOST_OF_A_GROUP = 40 };

/* A group's passes of one direction alone: each begins when its stage has done those
 * before it and the virtual stage before has handed it on. */
static void flow(const struct rounds *r, const double *time, int group,
		 double begins[][MOST_OF_A_GROUP])
{
	double free[MAX_STAGES] = { 0 };

	for (int chunk = 0; chunk < r->chunks; chunk++)
		for (int j = 0; j < group; j++)
			for (int s = 0; s < r->stages; s++) {
				int k = chunk * r->stages + s;
				double comes = k == 0 ? 0
						      : begins[k - 1][j] + time[k - 1] +
								r->latency;

				begins[k][j] = fmax(free[s], comes);
				free[s] = begins[k][j] + time[k];
			}
}

/* How much later than after the work before it a stage begins one of the passes that it
 * does before the first of the other direction: all chunks but one, two for each stage
 * behind it, and one. `whole`: of the last chunk only where all of it is among them, or
 * its first. */
static double latest_of(const struct rounds *r, const double *time, int s, int group,
			bool whole, double begins[][MOST_OF_A_GROUP])
{
	int alone = (r->chunks - 1) * group + 2 * (r->stages - 1 - s) + 1, n = 0;
	double before = 0, latest = 0;

	for (int chunk = 0; chunk < r->chunks; chunk++)
		for (int j = 0; j < group && n < alone; j++, n++) {
			int k = chunk * r->stages + s;

			if (!whole || j == 0 || (chunk + 1) * group <= alone)
				latest = fmax(latest, begins[k][j] - before);
			before += time[k];
		}
	return latest;
}

static double interleaved_path(const struct rounds *r, bool whole)
{
	static double begins[MAX_VIRTUAL][MOST_OF_A_GROUP];
	double come[MAX_STAGES], longest = 0;
	int first = (int)fmin((double)r->group, (double)r->micro_batches);
	int rest = (int)(r->micro_batches % r->group);

	rest = rest > 0 ? rest : first;
	flow(r, r->forward, first, begins);
	for (int s = 0; s < r->stages; s++)
		come[s] = latest_of(r, r->forward, s, first, whole, begins);
	flow(r, r->backward, rest, begins);
	for (int s = 0; s < r->stages; s++) {
		double work = 0;

		for (int k = s; k < r->stages * r->chunks; k += r->stages)
			work += r->forward[k] + r->backward[k];
		longest = fmax(longest, come[s] + (double)r->micro_batches * work +
						latest_of(r, r->backward, s, rest,
							  whole, begins));
	}
	return longest;
}

/* Groups of a few and of many times the stages, whole or not; one slow chunk or many.
 * Within a group the first or the last waits longest, so that no less is found than by
 * trying all. */
static void test_interleaved_item_by_item(void **state)
{
	struct rounds r;

	(void)state;
	seed = 44;
	for (int n = 0; n < 3000; n++) {
		double floor;

		memset(&r, 0, sizeof r);
		r.stages = 2 + (int)next(6);
		r.chunks = 2 + (int)next(3);
		r.group = r.stages + (int64_t)next((uint64_t)(4 * r.stages));
		r.micro_batches = r.group * (1 + (int64_t)next(3));
		if (next(2))
			r.micro_batches += 1 + (int64_t)next((uint64_t)r.group - 1);
		r.latency = next(2) ? between(0, 0.5) : 0;
		for (int k = 0; k < r.stages * r.chunks; k++) {
			r.forward[k] = some_time();
			r.backward[k] = some_time() + some_time();
		}
		floor = rounds_paths(&r);
		assert_true(floor <= interleaved_path(&r, false) * (1 + 1e-12));
		assert_true(floor >= interleaved_path(&r, true) * (1 - 1e-12));
	}
}

/* --- what is its own floor --- */

static void test_what_has_a_closed_form(void **state)
{
	(void)state;
	seed = 42;
	for (int n = 0; n < 2000; n++) {
		memset(&in, 0, sizeof in);
		in.schedule = n % 2 ? SCHEDULE_GPIPE : (int)next(SCHEDULE_COUNT);
		in.stages = n % 2 ? 2 + (int)next(9) : 1;
		in.chunks = n % 2 ? 1 : 1 + (int)next(3);
		in.micro_batches = 1 + (int64_t)next(40);
		draw_times();
		pipeline_step(&in, &out);
		assert_close(pipeline_floor(&in), out.seconds * (1 - 1e-9), 1e-12);
	}
}

/* --- schedules whose order is made item by item --- */

static double least_forward(int k)
{
	return in.forward[k] - (in.hides ? in.pair_hides[k] : 0);
}

static double least_backward(int k)
{
	double weights =
		schedule_table[in.schedule].splits_backward ? 0 : in.weight_grad[k];

	return in.input_grad[k] + weights - (in.hides ? in.pair_hides[k] : 0);
}

/* Whether a stage runs virtual stage k, in either copy of the model. */
static bool is_on(int s, int k)
{
	int there = schedule_stage(in.schedule, in.stages, k);

	return there == s ||
	       (schedule_weight_copies(in.schedule) == 2 && in.stages - 1 - there == s);
}

static double way_before(double (*least)(int k), int k)
{
	double seconds = 0;

	while (k-- > 0)
		seconds += least(k);
	return seconds;
}

static double longest_stay(int s)
{
	double work = 0, weights = 0, start = INFINITY, go = INFINITY;
	double each = (double)in.micro_batches / schedule_weight_copies(in.schedule);

	for (int k = 0; k < in.stages * in.chunks; k++) {
		bool splits = schedule_table[in.schedule].splits_backward;
		double w = splits ? in.weight_grad[k] : 0;

		if (!is_on(s, k))
			continue;
		work += each * (least_forward(k) + least_backward(k) + w);
		weights += each * w;
		start = fmin(start, way_before(least_forward, k));
		go = fmin(go, way_before(least_backward, k));
	}
	/* weights may come behind the last way up, whatever the order */
	if (in.optimizer_sync == SYNC_POST_VALIDATION)
		return work;
	return fmax(start + work, start + work - weights + go);
}

static bool draw_schedule(void)
{
	struct schedule_request request;
	struct schedule_problem problem;

	memset(&in, 0, sizeof in);
	in.schedule = (int)next(SCHEDULE_COUNT);
	in.stages = 2 + (int)next(7);
	in.chunks = (int)schedule_chunks(in.schedule, in.stages, 1 + (int64_t)next(3));
	in.micro_batches = 2 + (int64_t)next(24);
	in.optimizer_sync = next(4) == 0 ? SYNC_POST_VALIDATION : SYNC_BARRIER;
	in.hides = schedule_pairs(in.schedule) && next(2);
	draw_times();
	request = (struct schedule_request){ .kind = in.schedule,
					     .stages = in.stages,
					     .chunks = in.chunks,
					     .micro_batches = (int)in.micro_batches,
					     .forward = in.forward,
					     .input_grad = in.input_grad,
					     .weight_grad = in.weight_grad };
	return !schedule_by_rounds(in.schedule) && schedule_allows(&request, &problem);
}

static void test_the_others_stage_by_stage(void **state)
{
	bool seen[SCHEDULE_COUNT] = { false };

	(void)state;
	seed = 43;
	for (int n = 0; n < 2000;) {
		double most = 0;

		if (!draw_schedule())
			continue;
		n++;
		seen[in.schedule] = true;
		if (in.optimizer_sync != SYNC_POST_VALIDATION)
			most = way_before(least_forward, in.stages * in.chunks) +
			       way_before(least_backward, in.stages * in.chunks);
		for (int s = 0; s < in.stages; s++)
			most = fmax(most, longest_stay(s));
		assert_close(pipeline_floor(&in), most * (1 - 1e-9), 1e-12);
		pipeline_step(&in, &out);
		assert_true(pipeline_floor(&in) <= out.seconds);
		/* in microseconds, too */
		in_another_unit(1e-6);
		assert_close(pipeline_floor(&in), 1e-6 * most * (1 - 1e-9), 1e-12);
	}
	for (int i = 0; i < SCHEDULE_COUNT; i++)
		assert_true(seen[i] || schedule_by_rounds(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_1f1b_item_by_item),
		cmocka_unit_test(test_interleaved_item_by_item),
		cmocka_unit_test(test_what_has_a_closed_form),
		cmocka_unit_test(test_the_others_stage_by_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
