/* test_worker.c - a search on threads finds what one searcher finds. */
#include <string.h>

#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tui/worker.h"

static struct planner_problem problem;

static void begin(const char *model, int gpus, int top)
{
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	if (!scenario_blank(&problem.base, model, "dgx-h100", "generic", &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = gpus;
	problem.base.plan.global_batch = 4 * gpus;
	problem.base.plan.seq_len = 4096;
	problem.reserve = 0.05;
	problem.top = top;
	planner_axes(&problem);
}

/* Every schedule of a large machine: more than a frame of work, and in a hurry more
 * than a slice. */
static void begin_large(int top)
{
	double schedules[SCHEDULE_COUNT];
	int gpus = 64 * some_of(16);

	begin("gpt3-175b", gpus, top);
	problem.base.plan.seq_len = 2048;
	problem.base.plan.global_batch = 3 * gpus;
	planner_axes(&problem);
	for (int i = 0; i < SCHEDULE_COUNT; i++)
		schedules[i] = i;
	assert_true(planner_pin(&problem, knob_find("schedule"), schedules,
				SCHEDULE_COUNT));
}

static void alone(struct planner_result *out)
{
	struct planner *planner = planner_start(&problem);

	assert_non_null(planner);
	while (planner_step(planner, 1000)) {
	}
	*out = *planner_result(planner);
	planner_free(planner);
}

static void check_same(const struct planner_result *a, const struct planner_result *b)
{
	assert_true(a->done && b->done);
	assert_true(a->progress == 1);
	assert_int_equal(a->found, b->found);
	for (int i = 0; i < a->found; i++)
		assert_memory_equal(&a->top[i], &b->top[i], sizeof a->top[i]);
	assert_true(a->counts.candidates == b->counts.candidates);
	assert_true(a->counts.candidates ==
		    a->counts.explored + a->counts.repeated + a->counts.undivided +
			    a->counts.unruly + a->counts.bounded + a->counts.too_large);
}

static void test_threads_change_nothing(void **state)
{
	static struct planner_result one;

	(void)state;
	begin_large(20);
	alone(&one);
	assert_true(one.found == 20);
	for (int threads = 1; threads <= 8; threads = threads * 2 + 1) {
		struct worker *worker = worker_start(&problem, threads);
		double progress = 0;

		assert_non_null(worker);
		while (worker_step(worker, 0.002)) {
			const struct planner_result *now = worker_result(worker);

			assert_true(now->progress >= 0 && now->progress <= 1);
			assert_true(now->progress >= progress);
			progress = now->progress;
			/* never better than the answer */
			assert_true(now->found == 0 ||
				    now->top[0].score >= one.top[0].score);
		}
		check_same(worker_result(worker), &one);
		/* and stays so */
		assert_false(worker_step(worker, 0.002));
		worker_free(worker);
	}
}

/* A key may come between any two slices. */
static void test_a_search_can_be_left_at_any_time(void **state)
{
	(void)state;
	begin_large(24);
	for (int slices = 0; slices < 40; slices += 3) {
		struct worker *worker = worker_start(&problem, 4);

		assert_non_null(worker);
		for (int i = 0; i < slices; i++)
			worker_step(worker, 0.002);
		worker_free(worker);
	}
	worker_free(NULL);
}

static void test_less_memory_by_the_same_lists(void **state)
{
	static struct planner_result one;

	(void)state;
	begin_large(1);
	problem.strict = true;
	for (int threads = 1; threads <= 4; threads += 3) {
		struct worker *worker;

		problem.reserve = 0.05;
		worker = worker_start(&problem, threads);
		assert_non_null(worker);
		for (; problem.reserve < 0.9; problem.reserve += 0.2) {
			alone(&one);
			while (worker_step(worker, 0.002)) {
			}
			check_same(worker_result(worker), &one);
			worker_lessen(worker, problem.reserve + 0.2);
		}
		worker_free(worker);
	}
}

static void test_any_plan_ends_it(void **state)
{
	struct worker *worker;

	(void)state;
	begin("llama3.1-70b", 128, 1);
	problem.any = true;
	problem.objective = OBJECTIVE_MEMORY;
	worker = worker_start(&problem, 0);
	assert_non_null(worker);
	while (worker_step(worker, 0.002)) {
	}
	assert_int_equal(worker_result(worker)->found, 1);
	assert_true(worker_result(worker)->done);
	worker_free(worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_change_nothing),
		cmocka_unit_test(test_a_search_can_be_left_at_any_time),
		cmocka_unit_test(test_less_memory_by_the_same_lists),
		cmocka_unit_test(test_any_plan_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
