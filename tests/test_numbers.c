/* test_numbers.c - golden numbers: the figures of many scenarios, servers, simulations
 * and searches as they were. They say that something moved, not what is right: look at
 * the difference, then run `make numbers` to write them anew. */
#include <stdio.h>
#include <stdlib.h>

#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/numbers/golden.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static void stay(const char *path, figures_of *figures)
{
	struct golden golden = { 0 };

	golden_check(&golden, path, figures);
	if (golden.moved > GOLDEN_TOLD)
		print_error("and %d more\n", golden.moved - GOLDEN_TOLD);
	if (golden.moved > 0 && !getenv("SHARDSCOPE_WRITE_NUMBERS"))
		fail_msg("%s: %d of %d figures moved; if they should, run make numbers",
			 path, golden.moved, golden.figures);
}

static void test_training(void **state)
{
	(void)state;
	stay("tests/numbers/training.txt", figures_training);
}

static void test_serving(void **state)
{
	(void)state;
	stay("tests/numbers/serving.txt", figures_serving);
}

static void test_simulations(void **state)
{
	(void)state;
	stay("tests/numbers/simulated.txt", figures_simulated);
}

static void test_searches(void **state)
{
	(void)state;
	stay("tests/numbers/searched.txt", figures_searched);
}

static void test_drawn(void **state)
{
	(void)state;
	stay("tests/numbers/drawn.txt", figures_drawn);
}

/* Without a scenario around them: these cost next to nothing. */
static void test_pipelines(void **state)
{
	(void)state;
	stay("tests/numbers/pipelines.txt", figures_pipelined);
}

static void test_splits(void **state)
{
	(void)state;
	stay("tests/numbers/splits.txt", figures_dealt);
}

static void test_spaces(void **state)
{
	(void)state;
	stay("tests/numbers/spaces.txt", figures_asked);
}

/* A plan that is shipped has its numbers there; the others follow where they are
 * written. */
static void test_every_plan_is_there(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct scenario s;
		struct error error = { "" };
		const char *path;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		path = s.plan.mode == MODE_INFERENCE ? "tests/numbers/serving.txt"
						     : "tests/numbers/training.txt";
		if (golden_has(path, list[i].name))
			continue;
		if (!getenv("SHARDSCOPE_WRITE_NUMBERS"))
			fail_msg("%s has no line \"= %s\"; run make numbers", path,
				 list[i].name);
		golden_begin(path, list[i].name);
	}
}

/* So has a stack, where scenarios are drawn for it. */
static void test_every_stack_is_drawn(void **state)
{
	static const char *const words[] = { "training", "serving" };
	static const char path[] = "tests/numbers/drawn.txt";
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct scenario s;
		char title[100];

		scenario_defaults(&s);
		assert_true(library_stack(&s, list[i].name, NULL));
		snprintf(title, sizeof title, "%s %s", words[s.stack.serves],
			 list[i].name);
		if (!golden_has(path, title))
			fail_msg("%s has no line \"= %s\"", path, title);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_plan_is_there),
		cmocka_unit_test(test_every_stack_is_drawn),
		cmocka_unit_test(test_pipelines),
		cmocka_unit_test(test_splits),
		cmocka_unit_test(test_spaces),
		cmocka_unit_test(test_training),
		cmocka_unit_test(test_serving),
		cmocka_unit_test(test_simulations),
		cmocka_unit_test(test_searches),
		cmocka_unit_test(test_drawn),
	};

	keep_golden_draws();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
