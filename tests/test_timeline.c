/* test_timeline.c - a step, item by item, against the estimate of the same step. */
#include "engine/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct scenario scenario;
static struct estimate estimate;
static struct timeline timeline;
static struct timeline_problem problem;
static unsigned char *room;

static void build(void)
{
	size_t bytes = timeline_bytes(&scenario);
	struct arena arena;

	free(room);
	room = malloc(bytes);
	assert_non_null(room);
	arena = (struct arena){ room, bytes, 0 };
	if (!timeline_build(&scenario, &arena, &estimate, &timeline, &problem)) {
		for (int i = 0; i < estimate.problems.count; i++)
			print_error("%s\n", estimate.problems.item[i].rule->code);
		fail_msg("%s", problem.reason);
	}
}

static int clean(void **state)
{
	(void)state;
	free(room);
	room = NULL;
	return 0;
}

static const struct timeline_item *item(int stage, int i)
{
	return &timeline.item[timeline.stage[stage].first + i];
}

static double held(int stage, int i)
{
	return timeline_item_bytes(&timeline, timeline.stage[stage].first + i);
}

static double passed(const struct timeline_item *now)
{
	return now->end + now->send;
}

/* On each stage items follow each other, and busy, sends and gaps sum to the phase. */
static void check_stage(int s)
{
	const struct timeline_stage *stage = &timeline.stage[s];
	double busy = 0, send = 0, idle = 0, most = 0,
	       scale = timeline.pipeline_seconds;

	for (int i = 0; i < stage->count; i++) {
		const struct timeline_item *now = item(s, i);
		bool second = i > 0 && now[-1].paired;

		assert_true(now->end >= now->start && now->idle_before >= 0);
		assert_int_equal(now->stage, s);
		if (i > 0 && !second)
			assert_close(now->start + scale,
				     passed(now - 1) + now->idle_before + scale, 1e-12);
		busy += second ? 0 : now->end - now->start;
		send += second ? 0 : now->send;
		idle += now->idle_before;
		most = fmax(most, held(s, i));
		assert_true(held(s, i) >= -1);
	}
	idle += scale - passed(item(s, stage->count - 1));
	assert_close(busy, stage->busy, 1e-9);
	assert_close(send + scale, stage->transfer + scale, 1e-9);
	assert_close(idle + scale, stage->idle + scale, 1e-9);
	assert_close(busy + send + idle, scale, 1e-9);
	assert_close(most, stage->peak_bytes, 1e-9);
	assert_close(timeline_most_bytes(&timeline, s, stage->peak_seconds,
					 stage->peak_seconds),
		     most, 1e-9);
	/* all is given back; what is left is rounding */
	assert_true(fabs(held(s, stage->count - 1)) <= 1e-6 * most);
}

/* From the last end back along what each item waited for: no gap but transfers. */
static void check_path(void)
{
	double slack = 1e-9 * timeline.pipeline_seconds;
	int32_t at = -1, after;
	int critical = 0, steps = 0;

	for (int32_t i = 0; i < timeline.item_count; i++) {
		critical += timeline.item[i].critical;
		if (timeline.item[i].critical &&
		    (at < 0 || timeline.item[i].end > timeline.item[at].end))
			at = i;
	}
	assert_true(at >= 0);
	assert_close(passed(&timeline.item[at]), timeline.pipeline_seconds, 1e-12);
	for (; at >= 0; steps++) {
		const struct timeline_item *now = &timeline.item[at];
		double wait;

		assert_true(now->critical);
		after = timeline_after(&timeline, at);
		if (after < 0) {
			assert_true(now->start <= slack);
			at = -1;
			continue;
		}
		wait = now->start - timeline.item[after].end;
		assert_true(wait >= -slack && wait <= timeline.send_seconds + slack);
		at = after;
	}
	assert_int_equal(steps, critical);
}

static void check_estimate(double tolerance)
{
	double idle = 0;

	assert_close(timeline.step_seconds, estimate.step_seconds, tolerance);
	for (int s = 0; s < timeline.stages; s++) {
		const struct stage_time *time = &estimate.stage_time[s];
		const struct timeline_stage *stage = &timeline.stage[s];

		assert_close(stage->busy,
			     timeline.micro_batches *
				     (time->forward_seconds + time->backward_seconds),
			     1e-9);
		idle += stage->idle / timeline.stages;
	}
	if (scenario.plan.optimizer_sync == SYNC_BARRIER)
		assert_close(idle / timeline.pipeline_seconds + 1,
			     estimate.bubble_ratio + 1, tolerance);
}

static void check_all(double tolerance)
{
	build();
	for (int s = 0; s < timeline.stages; s++)
		check_stage(s);
	check_path();
	check_estimate(tolerance);
}

static void test_cases_as_estimated(void **state)
{
	void (*const cases[])(struct scenario *) = { case_dense, case_moe, case_mla,
						     case_hybrid };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		cases[i](&scenario);
		check_all(1e-9);
		scenario.plan.overlap_p2p = !scenario.plan.overlap_p2p;
		check_all(1e-9);
		scenario.plan.recompute = RECOMPUTE_FULL;
		scenario.cluster.scale = 1.25;
		check_all(1e-9);
	}
}

static void test_every_schedule_as_estimated(void **state)
{
	(void)state;
	for (int kind = 0; kind < SCHEDULE_COUNT; kind++) {
		case_dense(&scenario);
		scenario.plan.schedule = kind;
		scenario.plan.vpp = kind == SCHEDULE_INTERLEAVED ||
						    kind == SCHEDULE_BREADTH_FIRST ||
						    kind == SCHEDULE_HANAYO
					    ? 2
					    : 1;
		check_all(1e-9);
		scenario.plan.optimizer_sync = SYNC_POST_VALIDATION;
		if (kind > SCHEDULE_BREADTH_FIRST)
			check_all(1e-9);
	}
}

/* With one chunk a stage's peak is what the estimate holds in activations. */
static void test_peaks_are_those_of_the_estimate(void **state)
{
	static const int kinds[] = { SCHEDULE_GPIPE, SCHEDULE_1F1B,  SCHEDULE_ZB_H1,
				     SCHEDULE_ZB_H2, SCHEDULE_ZB_1P, SCHEDULE_ZB_2P };

	(void)state;
	case_dense(&scenario);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		scenario.plan.schedule = kinds[i];
		build();
		for (int s = 0; s < timeline.stages; s++) {
			const struct stage_memory *held = &estimate.stage[s];

			assert_close(timeline.stage[s].peak_bytes,
				     held->activations_bytes, 1e-9);
			assert_close(timeline.stage[s].resident_bytes +
					     timeline.stage[s].peak_bytes,
				     held->total_bytes, 1e-9);
		}
	}
}

/* DualPipe's two copies: each stage holds two sets of layers. */
static void test_two_directions_hold_two_copies(void **state)
{
	struct estimate *one = calloc(1, sizeof *one);

	(void)state;
	case_dense(&scenario);
	scenario.plan.schedule = SCHEDULE_1F1B;
	build();
	*one = estimate;
	scenario.plan.schedule = SCHEDULE_DUALPIPE;
	build();
	for (int s = 0, p = timeline.stages; s < p; s++) {
		assert_close(estimate.stage[s].weights_bytes,
			     one->stage[s].weights_bytes +
				     one->stage[p - 1 - s].weights_bytes,
			     1e-12);
		assert_close(estimate.stage[s].optimizer_bytes,
			     (one->stage[s].optimizer_bytes +
			      one->stage[p - 1 - s].optimizer_bytes) /
				     2,
			     1e-12);
	}
	free(one);
}

static void test_the_item_at_a_time(void **state)
{
	(void)state;
	case_dense(&scenario);
	build();
	for (int s = 0; s < timeline.stages; s++) {
		const struct timeline_stage *stage = &timeline.stage[s];

		assert_int_equal(timeline_at(&timeline, s, -1), -1);
		assert_int_equal(timeline_at(&timeline, s, INFINITY),
				 stage->first + stage->count - 1);
		for (int i = 0; i < stage->count; i += 7) {
			const struct timeline_item *now = item(s, i);

			assert_int_equal(
				timeline_at(&timeline, s, (now->start + now->end) / 2),
				stage->first + i);
		}
	}
	assert_close(timeline_most_bytes(&timeline, 0, -1, -1) + 1, 1, 1e-15);
}

/* Event by event: each item once, none before one that starts earlier, and back. */
static void test_events_in_order(void **state)
{
	int32_t at = -1, count = 1;
	double last = 0;

	(void)state;
	case_dense(&scenario);
	scenario.plan.schedule = SCHEDULE_DUALPIPE;
	scenario.plan.global_batch = 32;
	build();
	for (int32_t i = 0; i < timeline.item_count; i++)
		if (timeline_number(&timeline, i) == 1)
			at = i;
	assert_true(at >= 0 && timeline_next(&timeline, at, true) < 0);
	for (int32_t next; (next = timeline_next(&timeline, at, false)) >= 0;
	     at = next) {
		assert_true(timeline.item[next].start >= last);
		assert_int_equal(timeline_next(&timeline, next, true), at);
		assert_int_equal(timeline_number(&timeline, next), ++count);
		last = timeline.item[next].start;
	}
	assert_int_equal(count, timeline.item_count);
}

static void test_the_most_between_two_times(void **state)
{
	(void)state;
	case_dense(&scenario);
	build();
	for (int s = 0; s < timeline.stages; s++) {
		double end = timeline.pipeline_seconds, most = 0;

		assert_close(timeline_most_bytes(&timeline, s, 0, end),
			     timeline.stage[s].peak_bytes, 1e-9);
		for (int i = 0; i < 37; i++)
			most = fmax(most,
				    timeline_most_bytes(&timeline, s, end / 37 * i,
							end / 37 * (i + 1)));
		assert_close(most, timeline.stage[s].peak_bytes, 1e-9);
		assert_true(timeline_most_bytes(&timeline, s, 0, 0) <= most);
	}
}

/* A stage that waits for a transfer beside its computation is idle meanwhile. */
static void test_transfers_in_idle_time(void **state)
{
	bool some = false;

	(void)state;
	case_dense(&scenario);
	scenario.plan.overlap_p2p = true;
	scenario.plan.schedule = SCHEDULE_INTERLEAVED;
	scenario.plan.vpp = 2;
	build();
	for (int32_t i = 0; i < timeline.item_count; i++) {
		const struct timeline_item *now = &timeline.item[i];

		assert_true(now->transfer_before <= now->idle_before);
		assert_true(now->transfer_before <= timeline.send_seconds);
		if (now->transfer_before > 0) {
			assert_int_equal(now->wait, WAIT_TRANSFER);
			some = true;
		}
	}
	assert_true(some);
	assert_true(
		train_layout(&scenario, &estimate, scenario.plan.layout, MAX_LAYOUT));
	assert_string_equal(timeline.layout, scenario.plan.layout);
}

static void test_refusals_say_why(void **state)
{
	unsigned char small[256];
	struct arena arena = { small, sizeof small, 0 };

	(void)state;
	case_dense(&scenario);
	assert_false(timeline_build(&scenario, &arena, &estimate, &timeline, &problem));
	assert_non_null(strstr(problem.reason, "memory"));
	scenario.plan.tp = 7;
	assert_false(timeline_build(&scenario, &arena, &estimate, &timeline, &problem));
	assert_non_null(strstr(problem.reason, "illegal"));
	assert_true(estimate.problems.count > 0);
	case_dense(&scenario);
	scenario.plan.global_batch = 1 << 24;
	assert_int_equal(timeline_bytes(&scenario), 0);
	assert_false(timeline_build(&scenario, &arena, &estimate, &timeline, &problem));
	assert_int_equal(problem.limit, MAX_TIMELINE_ITEMS);
	assert_true(problem.have > problem.limit);
	assert_string_equal(problem.knob, "gbs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases_as_estimated),
		cmocka_unit_test(test_every_schedule_as_estimated),
		cmocka_unit_test(test_peaks_are_those_of_the_estimate),
		cmocka_unit_test(test_two_directions_hold_two_copies),
		cmocka_unit_test(test_the_item_at_a_time),
		cmocka_unit_test(test_events_in_order),
		cmocka_unit_test(test_the_most_between_two_times),
		cmocka_unit_test(test_transfers_in_idle_time),
		cmocka_unit_test(test_refusals_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, clean);
}
