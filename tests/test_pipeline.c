#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pipeline/rounds.h"
#include "engine/plan/plan.h"
#include "engine/schedule/law.h"
#include "engine/schedule/simulate.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

/* The simulator's answer for every micro-batch, and that of pipeline_step(). */
static struct pipeline_input in;
static struct pipeline_result out;
static struct simulation whole;
static unsigned char *room;
static const size_t room_bytes = (size_t)192 << 20;
static int take_room(void **state)
{
	(void)state;
	room = malloc(room_bytes);
	return room == NULL;
}

static int give_room(void **state)
{
	(void)state;
	free(room);
	return 0;
}

static int below(int n)
{
	return (int)next((uint64_t)n);
}

static double between(double a, double b)
{
	return a + (b - a) * below(1 << 20) / (1 << 20);
}

static bool simulate_all(void)
{
	struct arena arena = { room, room_bytes, 0 };
	struct schedule_request request = { .kind = in.schedule,
					    .stages = in.stages,
					    .chunks = in.chunks,
					    .micro_batches = (int)in.micro_batches,
					    .group = (int)in.group,
					    .forward = in.forward,
					    .input_grad = in.input_grad,
					    .weight_grad = in.weight_grad,
					    .send_seconds = in.send_seconds,
					    .overlap_send = in.overlap_send };
	struct simulate_times times = { .forward = in.forward,
					.input_grad = in.input_grad,
					.weight_grad = in.weight_grad,
					.kept_for_weights = 1,
					.send_seconds = in.send_seconds,
					.overlap_send = in.overlap_send };
	struct schedule schedule;

	return schedule_make(&request, &arena, &schedule, NULL) &&
	       simulate(&schedule, &times, false, &arena, &whole);
}

static void equal(int schedule, int p, int v, int64_t m)
{
	in = (struct pipeline_input){ .stages = p, .chunks = v, .micro_batches = m };
	in.schedule = schedule;
	for (int k = 0; k < p * v; k++) {
		in.forward[k] = 1.0 / v;
		in.input_grad[k] = 1.1 / v;
		in.weight_grad[k] = 0.9 / v;
	}
}

static void check_sum(void)
{
	for (int s = 0; s < in.stages; s++) {
		assert_close(out.busy[s] + out.transfer[s] + out.idle[s], out.seconds,
			     1e-12);
		assert_true(out.idle[s] > -1e-9 * out.seconds);
	}
}

static void test_equal_stages_give_the_closed_form(void **state)
{
	(void)state;
	for (int p = 1; p <= 16; p++) {
		for (int64_t m = 1; m < 70; m++) {
			equal(SCHEDULE_1F1B, p, 1, m);
			pipeline_step(&in, &out);
			assert_close(out.seconds, 3.0 * (double)(m + p - 1), 1e-12);
			check_sum();
			in.schedule = SCHEDULE_GPIPE;
			pipeline_step(&in, &out);
			assert_close(out.seconds, 3.0 * (double)(m + p - 1), 1e-12);
			check_sum();
		}
		for (int v = 2; v <= 5; v++) {
			for (int64_t g = 1; g < 12 && p > 1; g++) {
				equal(SCHEDULE_INTERLEAVED, p, v, g * p);
				pipeline_step(&in, &out);
				assert_close(out.seconds,
					     3.0 * ((double)(g * p) + (p - 1.0) / v),
					     1e-12);
				check_sum();
			}
		}
	}
}

/* Stages that differ at random by up to `spread`, transfers of up to `send` of a
 * forward, held or beside the work. */
static void vary(double spread, double send)
{
	in.overlap_send = below(2);
	in.send_seconds = below(3) ? between(0, send) / in.chunks : 0;
	for (int k = 0; k < in.stages * in.chunks; k++) {
		in.forward[k] *= between(1, 1 + spread);
		in.input_grad[k] *= between(1, 1 + spread);
		in.weight_grad[k] *= between(1, 1 + spread);
	}
}

static void compare(double tolerance)
{
	assert_true(simulate_all());
	pipeline_step(&in, &out);
	if (fabs(out.seconds / whole.seconds - 1) > tolerance)
		print_error("schedule %s p %d v %d m %d group %d send %g overlap %d\n",
			    schedule_words[in.schedule], in.stages, in.chunks,
			    (int)in.micro_batches, (int)in.group, in.send_seconds,
			    in.overlap_send);
	assert_close(out.seconds, whole.seconds, tolerance);
	check_sum();
	for (int s = 0; s < in.stages; s++) {
		assert_close(out.busy[s], whole.stage[s].busy, 1e-9);
		assert_close(out.transfer[s] + 1, whole.stage[s].transfer + 1, 1e-9);
	}
}

static void check_peaks(void)
{
	for (int s = 0; s < in.stages; s++)
		assert_int_equal(out.in_flight_chunks[s], whole.stage[s].peak_chunks);
}

static void test_1f1b_as_simulated(void **state)
{
	(void)state;
	seed = 1;
	for (int i = 0; i < 1500; i++) {
		int p = 1 + below(17), m = 1 + below(i % 3 ? 60 : 400);

		equal(below(4) ? SCHEDULE_1F1B : SCHEDULE_GPIPE, p, 1, m);
		vary(i % 2 ? 0.05 : 1, i % 5 ? 0.2 : 1.5);
		compare(1e-10);
		check_peaks();
	}
}

/* The last stage takes about as long as the slowest other one and a message there and
 * back, or as much longer or shorter as a small share of it. */
static void test_1f1b_that_its_last_stage_leads(void **state)
{
	(void)state;
	seed = 12;
	for (int round = 0; round < 3000; round++) {
		int p = 2 + below(12), last = p - 1;
		double most = 0, send, more;

		equal(SCHEDULE_1F1B, p, 1, 1 + below(60));
		vary(0.3, 0.4);
		send = in.overlap_send ? in.send_seconds : 0;
		for (int s = 0; s < last; s++)
			most = fmax(most, in.forward[s] + in.input_grad[s] +
						  in.weight_grad[s]);
		more = most + 2 * send -
		       (in.forward[last] + in.input_grad[last] + in.weight_grad[last]);
		more += below(3) * between(-0.1, 0.1);
		in.weight_grad[last] = fmax(0, in.weight_grad[last] + more);
		compare(1e-10);
	}
}

static void test_interleaved_as_simulated(void **state)
{
	(void)state;
	seed = 2;
	for (int i = 0; i < 600; i++) {
		int p = 2 + below(15), v = 2 + below(5);
		int group = below(2) ? p : p + below(2 * p);
		int m = group * (1 + below(i % 4 ? 20 : 60));

		if (group > p && below(2))
			m += p + below(group - p);
		equal(SCHEDULE_INTERLEAVED, p, v, m);
		in.group = group == p ? 0 : group;
		vary(i % 2 ? 0.05 : 0.5, 0.2);
		compare(1e-10);
		check_peaks();
	}
}

/* Stages that have nothing in common and sends that take longer than any of them: what
 * comes round from the other end of the pipeline is waited for, in groups of any size
 * and for as many rounds as it takes. */
static void test_interleaved_of_any_times(void **state)
{
	(void)state;
	seed = 14;
	for (int i = 0; i < 1500; i++) {
		int p = 2 + below(6), v = 2 + below(3), m;

		equal(SCHEDULE_INTERLEAVED, p, v, 1);
		in.group = p + below(2 * p);
		m = (int)in.group * (1 + below(i % 4 ? 12 : 60));
		in.micro_batches = below(4) ? m : m + p;
		vary(below(2) ? 0.1 : 4, 6);
		in.overlap_send = below(4) > 0;
		in.forward[below(p * v)] *= 1 + below(20);
		in.input_grad[below(p * v)] *= 1 + below(20);
		if ((in.micro_batches - m) % p == 0 && in.group >= in.micro_batches)
			continue;
		compare(1e-10);
		check_peaks();
	}
}

/* Equal stages with forwards of 1 s and backwards of 2 s, of which some are longer. */
static struct rounds even_rounds(int p, int v, int64_t m)
{
	struct rounds r = { .stages = p, .chunks = v, .micro_batches = m, .group = p };

	for (int k = 0; k < p * v; k++) {
		r.forward[k] = 1;
		r.backward[k] = 2;
	}
	return r;
}

static bool is_even_with(double first_forward, double first_backward,
			 double last_forward, double last_backward, double latency)
{
	struct rounds r = even_rounds(4, 2, 8);

	r.forward[0] += first_forward;
	r.backward[0] += first_backward;
	r.forward[7] += last_forward;
	r.backward[7] += last_backward;
	r.latency = latency;
	return rounds_are_even(&r);
}

/* Which pipelines take the way of the longest paths, four times as fast as the rounds:
 * counts first, then what the ends and the sends may take. */
static void test_which_interleaved_is_even(void **state)
{
	struct rounds r = even_rounds(4, 2, 8);

	(void)state;
	assert_true(rounds_are_even(&r));
	r.group = 3;
	assert_false(rounds_are_even(&r));
	r.group = 8;
	assert_true(rounds_are_even(&r));
	r.micro_batches = 12;
	assert_false(rounds_are_even(&r));
	r = even_rounds(2, 2, 8);
	assert_true(rounds_are_even(&r));
	r = even_rounds(8, 1, 8);
	assert_false(rounds_are_even(&r));
	r = even_rounds(1, 3, 8);
	assert_false(rounds_are_even(&r));
	for (int k = 1; k < 7; k++) {
		r = even_rounds(4, 2, 8);
		r.forward[k] += 1e-6;
		assert_false(rounds_are_even(&r));
		r = even_rounds(4, 2, 8);
		r.backward[k] -= 1e-6;
		assert_false(rounds_are_even(&r));
		r.backward[k] = 2 + 1e-12;
		assert_true(rounds_are_even(&r));
	}
	/* sends up to half of the shorter pass */
	assert_true(is_even_with(0, 0, 0, 0, 0.5));
	assert_false(is_even_with(0, 0, 0, 0, 0.501));
	/* a last stage that is shorter lets the others wait */
	assert_false(is_even_with(0, 0, -1e-6, 1, 0));
	assert_false(is_even_with(0, 0, 1, -1e-6, 0));
	assert_true(is_even_with(0, 0, 1, 3, 0));
	/* 0.45 s are 15 % of both passes, and the head has to be as long */
	assert_true(is_even_with(0.2, 0.249, 0.3, 0.15, 0));
	assert_false(is_even_with(0.2, 0.251, 1, 1, 0));
	assert_false(is_even_with(0.251, 0.2, 1, 1, 0));
	assert_false(is_even_with(0.2, 0.1, 0.2, 0.099, 0));
	assert_true(is_even_with(0.2, 0.1, 0.2, 0.101, 0));
	assert_true(is_even_with(-0.5, 0.1, 0.2, 0, 0));
	assert_true(is_even_with(-0.5, -0.5, 0, 0, 0));
	assert_true(is_even_with(1e-9, 1e-9, 0, 0, 0));
}

/* The least of 1F1B: a slow stage has the way down to it before all of its work and the
 * way back up behind it. It is below the step, and not far. */
static void test_the_least_of_a_slow_stage(void **state)
{
	(void)state;
	for (int slow = 0; slow < 4; slow++)
		for (int m = 4; m <= 64; m *= 2) {
			double least;

			equal(SCHEDULE_1F1B, 4, 1, m);
			in.send_seconds = 0;
			for (int s = 0; s < 4; s++) {
				in.forward[s] = s == slow ? 10 : 1;
				in.input_grad[s] = s == slow ? 6 : 0.5;
				in.weight_grad[s] = s == slow ? 4 : 0.5;
			}
			least = pipeline_floor(&in);
			pipeline_step(&in, &out);
			assert_true(least <= out.seconds);
			/* two units a stage above it, and 20 for each of its own */
			assert_true(least >= (1 - 2.1e-3) * (2 * slow + 20 * m));
			assert_true(least >= 0.9 * out.seconds);
		}
}

/* Counts that no stack runs are those of the next that one would, less the work of the
 * busiest stage on what was added: all of its chunks. */
static void test_counts_that_no_stack_runs(void **state)
{
	(void)state;
	seed = 12;
	for (int i = 0; i < 100; i++) {
		int p = 2 + below(6), v = 2 + below(4), rest = 1 + below(p - 1);
		double busiest = 0, between_groups;

		equal(SCHEDULE_INTERLEAVED, p, v, (2 + below(12)) * p + rest);
		vary(0.5, 0);
		for (int s = 0; s < p; s++) {
			double work = 0;

			for (int k = s; k < p * v; k += p)
				work += in.forward[k] + in.input_grad[k] +
					in.weight_grad[k];
			busiest = work > busiest ? work : busiest;
		}
		pipeline_step(&in, &out);
		between_groups = out.seconds;
		in.micro_batches += p - rest;
		pipeline_step(&in, &out);
		assert_close(between_groups, out.seconds - (p - rest) * busiest, 1e-9);
	}
}

static void test_breadth_first_as_simulated(void **state)
{
	(void)state;
	seed = 3;
	for (int i = 0; i < 200; i++) {
		int p = 2 + below(9);

		equal(SCHEDULE_BREADTH_FIRST, p, 2 + below(4),
		      p + below(i % 4 ? 60 : 1500));
		/* a group of more than all micro-batches is the same */
		if (i % 5 == 0) {
			in.schedule = SCHEDULE_INTERLEAVED;
			in.group = 5000;
		}
		vary(0.3, 0.2);
		compare(1e-3);
		check_peaks();
	}
}

/* Embedding and head on equal stages, as most models are: the closed form. */
static void test_interleaved_with_embedding_and_head(void **state)
{
	(void)state;
	seed = 4;
	for (int i = 0; i < 1500; i++) {
		int p = 2 + below(15), v = 2 + below(5), last = p * v - 1;
		double head = between(0, 2) / v, embedding = head * between(0, 1.2);

		equal(SCHEDULE_INTERLEAVED, p, v, p * (1 + below(i % 4 ? 12 : 40)));
		in.overlap_send = below(2);
		in.send_seconds = below(3) ? between(0, 0.7) / v : 0;
		in.forward[last] += head;
		in.input_grad[last] += between(0, 2) * head;
		if (below(2)) {
			embedding = embedding < 0.2 / v ? embedding : 0.2 / v;
			in.forward[0] += embedding * between(0, 0.5);
			in.input_grad[0] += embedding * between(0, 0.5);
		}
		compare(1e-10);
		check_peaks();
	}
}

/* Ends and inner stages as in a plan, for schedules that are not 1F1B's kin. */
static void any_schedule(int kind)
{
	int p = 2 * (1 + below(8)), v = (int)schedule_chunks(kind, p, 2);

	equal(kind, p, v, 2 * (p + below(100)));
	in.overlap_send = below(2);
	in.send_seconds = below(3) ? between(0, 0.1) / v : 0;
	in.forward[p * v - 1] += between(0, 0.5) / v;
	in.input_grad[p * v - 1] += between(0, 0.5) / v;
	in.weight_grad[p * v - 1] += between(0, 0.5) / v;
	if (below(3))
		return;
	for (int k = 0; k < p * v; k++) {
		in.forward[k] += between(0, 0.2) / v;
		in.input_grad[k] += between(0, 0.2) / v;
		in.weight_grad[k] += between(0, 0.2) / v;
	}
}

static void test_the_others_as_simulated(void **state)
{
	(void)state;
	seed = 5;
	for (int kind = SCHEDULE_ZB_H1; kind < SCHEDULE_COUNT; kind++) {
		for (int i = 0; i < 200; i++) {
			any_schedule(kind);
			compare(1e-10);
			check_peaks();
		}
	}
}

/* A run that is left takes longer than anybody asked, and one that is not is told as
 * it is; those of stages that wait much are left long before their end. */
static void test_what_nobody_asks_for_is_left(void **state)
{
	static struct pipeline_result to_end, asked;
	int left = 0, tries = 0;

	(void)state;
	seed = 17;
	for (int kind = SCHEDULE_ZB_H1; kind < SCHEDULE_COUNT; kind++) {
		for (int i = 0; i < 60; i++, tries++) {
			any_schedule(kind);
			in.enough = 0;
			pipeline_step(&in, &to_end);
			in.enough = to_end.seconds * between(0.5, 1.5);
			pipeline_step(&in, &asked);
			if (isinf(asked.seconds)) {
				left++;
				assert_true(in.enough < to_end.seconds);
				continue;
			}
			assert_true(asked.seconds == to_end.seconds);
			for (int s = 0; s < in.stages; s++)
				assert_true(asked.idle[s] == to_end.idle[s] &&
					    asked.in_flight[s] == to_end.in_flight[s]);
		}
	}
	assert_true(left > tries / 3);
}

/* Long runs of equal stages, where a shortcut has most to lose. */
static void test_long_runs_of_the_others(void **state)
{
	(void)state;
	for (int kind = SCHEDULE_ZB_H1; kind < SCHEDULE_COUNT; kind++) {
		for (int p = 2; p <= 16; p += 2) {
			equal(kind, p, (int)schedule_chunks(kind, p, 4), 256);
			compare(1e-9);
			check_peaks();
		}
	}
}

/* Stages that differ so little that the others fall behind the slowest for many rounds:
 * the items come again long before their times do. */
static void test_rounds_before_the_times_come_again(void **state)
{
	(void)state;
	seed = 11;
	for (int kind = SCHEDULE_ZB_H1; kind < SCHEDULE_COUNT; kind++) {
		for (int i = 0; i < 60; i++) {
			int p = 2 * (1 + below(6));
			int v = (int)schedule_chunks(kind, p, 2 + 2 * below(2));

			equal(kind, p, v, 2 * (p + below(250)));
			in.overlap_send = below(3) > 0;
			in.send_seconds = below(2) * between(0, 1) / v;
			for (int k = 0; k < p * v; k++) {
				in.forward[k] += between(0, 0.02) / v;
				in.input_grad[k] += between(0, 0.02) / v;
				in.weight_grad[k] += between(0, 0.02) / v;
			}
			compare(1e-10);
			check_peaks();
		}
	}
}

/* As many stages as there may be: nothing is put together from fewer. */
static void test_many_stages(void **state)
{
	(void)state;
	seed = 6;
	for (int kind = SCHEDULE_ZB_H1; kind < SCHEDULE_COUNT; kind++) {
		for (int p = 48; p <= MAX_STAGES; p += 104) {
			int v = (int)schedule_chunks(kind, p, 2);

			equal(kind, p, v, p < 200 ? 4 * p : 2 * p);
			in.overlap_send = true;
			in.send_seconds = 0.02 / v;
			in.forward[p * v - 1] *= between(1, 1.5);
			in.input_grad[p * v - 1] *= between(1, 1.5);
			compare(1e-10);
			check_peaks();
		}
	}
	/* the most stages with the most chunks that they may have */
	equal(SCHEDULE_HANAYO, MAX_STAGES, MAX_VIRTUAL / MAX_STAGES, 2 * MAX_STAGES);
	compare(1e-10);
	check_peaks();
}

/* The same of the moving front, with stages that have nothing in common: it holds a
 * place for each stage, and the one behind the last is another's. The stage on which
 * all wait stands at one end or the other. */
static void test_many_stages_in_rounds(void **state)
{
	(void)state;
	seed = 31;
	for (int p = MAX_STAGES - 1; p <= MAX_STAGES; p++) {
		for (int v = 1; v <= MAX_VIRTUAL / p; v++) {
			equal(v > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B, p, v,
			      2 * (p + 7));
			in.group = p + 7;
			vary(0.5, 0.2);
			for (int k = 0; k < p * v; k++)
				if (k % p == (v % 2 ? 0 : p - 1))
					in.input_grad[k] *= 4;
			compare(1e-10);
			check_peaks();
		}
	}
}

/* What an order alone holds is what it holds where all work takes equally long. */
static void test_in_flight_of_orders(void **state)
{
	static struct pipeline_result told;

	(void)state;
	seed = 32;
	for (int kind = SCHEDULE_ZB_H1; kind < SCHEDULE_COUNT; kind++) {
		for (int i = 0; i < 60; i++) {
			any_schedule(kind);
			pipeline_order_in_flight(&in, &told);
			for (int k = 0; k < in.stages * in.chunks; k++)
				in.forward[k] = in.input_grad[k] = in.weight_grad[k] =
					1;
			in.send_seconds = 0;
			assert_true(simulate_all());
			for (int s = 0; s < in.stages; s++)
				assert_int_equal(told.in_flight_chunks[s],
						 whole.stage[s].peak_chunks);
		}
	}
}

/* The papers' formulas, of the estimate's own path: short runs and long ones, with the
 * barrier at the end of a step and without. */
static void check_law(int kind, int p, int64_t m, int sync)
{
	int v = (int)schedule_chunks(kind, p, 4);
	const struct schedule_law *law = schedule_law(kind, p, v);
	struct law_case c = { .stages = p, .chunks = v, .micro_batches = m };

	equal(kind, p, v, m);
	for (int k = 0; k < p * v; k++)
		in.input_grad[k] = in.weight_grad[k] = in.forward[k];
	in.optimizer_sync = sync;
	c.barrier = sync == SYNC_BARRIER;
	c.f = c.b = c.w = 1;
	pipeline_step(&in, &out);
	if (law->at_most)
		assert_true(out.seconds <=
			    3 * (double)m + law->idle_seconds(&c) + 1e-9);
	else
		assert_close(out.seconds, 3 * (double)m + law->idle_seconds(&c), 1e-9);
	for (c.stage = 0; c.stage < p; c.stage++) {
		if (law->at_most)
			assert_true(out.in_flight_chunks[c.stage] <=
				    law->held_chunks(&c));
		else
			assert_int_equal(out.in_flight_chunks[c.stage],
					 law->held_chunks(&c));
	}
}

static void test_laws(void **state)
{
	(void)state;
	for (int kind = 0; kind < SCHEDULE_COUNT; kind++) {
		int units = schedule_laws[kind].least;

		units = units > 0 ? units : 1;
		for (int p = 2; p <= 16; p += 2) {
			for (int i = 0; i < 6; i++, units += i) {
				check_law(kind, p, units * p, SYNC_BARRIER);
				check_law(kind, p, units * p, SYNC_POST_VALIDATION);
			}
		}
	}
}

/* A million micro-batches take no longer than a few hundred: their period is found. */
static void test_laws_of_very_long_runs(void **state)
{
	(void)state;
	for (int kind = 0; kind < SCHEDULE_COUNT; kind++) {
		/* one group of a million is the run, and a group is not a period */
		if (!schedule_table[kind].whole_group)
			check_law(kind, 8, 1000000, SYNC_BARRIER);
	}
}

/* So is that of groups of any size, in which what comes round lies on its way for many
 * passes: a billion groups take as much longer than 800 as these than 400. Where a way
 * that starts behind is the faster growing one by less than 1e-4, it leads later: then
 * they take more, and by no more than that. */
static void test_very_long_runs_in_groups(void **state)
{
	static const int64_t groups[] = { 400, 800, 1000000000 };
	enum { RUNS = 60 };
	int straight = 0;

	(void)state;
	seed = 33;
	for (int i = 0; i < RUNS; i++) {
		int p = 2 + below(6), v = 2 + below(3);
		double seconds[3], expected, more;

		equal(SCHEDULE_INTERLEAVED, p, v, 1);
		in.group = p + below(3 * p);
		vary(i % 2 ? 0.1 : 2, 0.3);
		for (int k = 0; k < 3; k++) {
			in.micro_batches = in.group * groups[k];
			pipeline_step(&in, &out);
			seconds[k] = out.seconds;
		}
		expected = (seconds[1] - seconds[0]) / (double)(groups[1] - groups[0]) *
			   (double)(groups[2] - groups[1]);
		more = (seconds[2] - seconds[1]) / expected - 1;
		assert_true(more > -1e-12 && more < 1e-4);
		straight += more < 1e-12;
	}
	assert_true(straight >= RUNS - 2);
}

/* Seconds in another unit: all that is a time comes out in it, and nothing else moves.
 */
static void test_units_of_time(void **state)
{
	static struct pipeline_input scaled;
	static struct pipeline_result other;

	(void)state;
	seed = 21;
	for (int i = 0; i < 400; i++) {
		double unit = i % 2 ? 1e-3 : 1e3;

		if (i % 4 == 3) {
			equal(SCHEDULE_INTERLEAVED, 2 + below(6), 2 + below(3), 48);
			in.micro_batches = in.stages * (1 + below(8));
			vary(below(2) ? 0 : 0.5, 0.4);
		} else {
			any_schedule(below(SCHEDULE_COUNT));
		}
		scaled = in;
		scaled.send_seconds *= unit;
		for (int k = 0; k < in.stages * in.chunks; k++) {
			scaled.forward[k] *= unit;
			scaled.input_grad[k] *= unit;
			scaled.weight_grad[k] *= unit;
		}
		pipeline_step(&in, &out);
		pipeline_step(&scaled, &other);
		assert_close(other.seconds, out.seconds * unit, 1e-9);
		assert_close(pipeline_floor(&scaled), pipeline_floor(&in) * unit, 1e-9);
		for (int s = 0; s < in.stages; s++) {
			assert_close(other.busy[s], out.busy[s] * unit, 1e-9);
			assert_int_equal(other.in_flight_chunks[s],
					 out.in_flight_chunks[s]);
		}
	}
}

/* Without the barrier a step is the longest stage's own time: what starts late and ends
 * late does not count twice. 1F1B's first stage starts first and ends last anyway. */
static void test_post_validation(void **state)
{
	double with;

	(void)state;
	for (int p = 2; p <= 16; p++) {
		equal(SCHEDULE_ZB_H2, p, 1, 64);
		pipeline_step(&in, &out);
		with = out.seconds;
		in.optimizer_sync = SYNC_POST_VALIDATION;
		pipeline_step(&in, &out);
		assert_close(with - out.seconds, (p - 1) * (1 - (1 + 1.1 - 1.8)), 1e-9);
		in.schedule = SCHEDULE_1F1B;
		pipeline_step(&in, &out);
		with = out.seconds;
		in.optimizer_sync = SYNC_BARRIER;
		pipeline_step(&in, &out);
		assert_close(with, out.seconds, 1e-12);
	}
}

/* The order of a stage, one item after the other, with what each chunk holds. */
static double counted_peak(int s, int64_t ahead)
{
	int64_t m = in.micro_batches, group = in.group > 0 ? in.group : in.stages;
	int64_t total = m * in.chunks, forwards = 0, backwards = 0;
	double now = 0, most = 0, each = 0;

	group = group < m ? group : m;
	for (int c = 0; c < in.chunks; c++)
		each += in.held[c * in.stages + s];
	while (backwards < total) {
		if (forwards - backwards < ahead && forwards < total) {
			int chunk = (int)(forwards++ / group % in.chunks);

			now += in.held[chunk * in.stages + s];
		} else {
			int chunk = (int)(backwards++ / group % in.chunks);

			now -= in.held[(in.chunks - 1 - chunk) * in.stages + s];
		}
		most = fmax(most, now);
	}
	return most / each;
}

static void test_uneven_chunks_are_held_by_weight(void **state)
{
	(void)state;
	seed = 9;
	for (int i = 0; i < 2000; i++) {
		int p = 2 + below(7), v = 2 + below(4);
		bool even = below(8) == 0;

		in = (struct pipeline_input){ .stages = p, .chunks = v };
		in.schedule = SCHEDULE_INTERLEAVED;
		in.group = below(2) ? 0 : p + below(p);
		in.micro_batches = (in.group ? in.group : p) * (1 + below(4));
		in.weighed = true;
		for (int k = 0; k < p * v; k++)
			in.held[k] = even ? 2 : 1 + below(below(3) ? 4 : 50);
		pipeline_in_flight(&in, &out);
		for (int s = 0; s < p; s++) {
			int64_t held = out.in_flight_chunks[s];
			double plain = (double)held / v, want = counted_peak(s, held);

			assert_close(out.in_flight[s], fmax(plain, want), 1e-9);
			assert_true(!even || want == plain);
		}
	}
}

/* Below every step of several chunks, and near it: a floor that is far away leaves
 * nothing out. */
static void test_floors_of_rounds_are_near(void **state)
{
	static struct pipeline_result ran;
	double floors = 0, steps = 0;

	(void)state;
	seed = 21;
	for (int i = 0; i < 1000; i++) {
		memset(&in, 0, sizeof in);
		in.schedule = SCHEDULE_INTERLEAVED;
		in.stages = 2 + (int)next(7);
		in.chunks = 2 + (int)next(3);
		in.micro_batches = in.stages * (1 + (int64_t)next(4));
		in.group = in.stages;
		in.overlap_send = true;
		in.send_seconds = 0.01 * (double)next(10);
		for (int k = 0; k < in.stages * in.chunks; k++) {
			in.forward[k] = 1 + 0.02 * (double)next(100);
			in.input_grad[k] = 1 + 0.02 * (double)next(100);
			in.weight_grad[k] = 1 + 0.02 * (double)next(100);
		}
		pipeline_step(&in, &ran);
		assert_true(pipeline_floor(&in) <= ran.seconds);
		floors += pipeline_floor(&in) / ran.seconds;
		steps++;
	}
	assert_true(floors > 0.98 * steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floors_of_rounds_are_near),
		cmocka_unit_test(test_equal_stages_give_the_closed_form),
		cmocka_unit_test(test_1f1b_as_simulated),
		cmocka_unit_test(test_1f1b_that_its_last_stage_leads),
		cmocka_unit_test(test_interleaved_as_simulated),
		cmocka_unit_test(test_interleaved_of_any_times),
		cmocka_unit_test(test_which_interleaved_is_even),
		cmocka_unit_test(test_the_least_of_a_slow_stage),
		cmocka_unit_test(test_counts_that_no_stack_runs),
		cmocka_unit_test(test_breadth_first_as_simulated),
		cmocka_unit_test(test_interleaved_with_embedding_and_head),
		cmocka_unit_test(test_the_others_as_simulated),
		cmocka_unit_test(test_what_nobody_asks_for_is_left),
		cmocka_unit_test(test_long_runs_of_the_others),
		cmocka_unit_test(test_rounds_before_the_times_come_again),
		cmocka_unit_test(test_many_stages),
		cmocka_unit_test(test_many_stages_in_rounds),
		cmocka_unit_test(test_in_flight_of_orders),
		cmocka_unit_test(test_uneven_chunks_are_held_by_weight),
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_laws_of_very_long_runs),
		cmocka_unit_test(test_very_long_runs_in_groups),
		cmocka_unit_test(test_units_of_time),
		cmocka_unit_test(test_post_validation),
	};

	return cmocka_run_group_tests(tests, take_room, give_room);
}
