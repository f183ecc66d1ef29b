/* test_habits.c - presets/habits: every constant is stated, moves the step of some
 * plan, and is where an explanation of it ends. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/rules/legality.h"
#include "engine/train/train.h"
#include "presets/accuracy_file.h"
#include "presets/habits_file.h"
#include "tests/support/any.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

#define ROW(name, title) { #name, offsetof(struct habits, name) },
static const struct {
	const char *name;
	size_t offset;
} rows[] = { HABITS(ROW) };
#undef ROW

enum { ROWS = sizeof rows / sizeof rows[0] };

static struct estimate before, after;

static double *value_of(struct habits *habits, int i)
{
	return (double *)(void *)((char *)habits + rows[i].offset);
}

/* Engine tests that read no file have the shipped ones. */
static void test_cases_have_the_shipped_ones(void **state)
{
	struct habits shipped = *habits_shipped();
	struct stack stack;

	(void)state;
	case_habits(&stack);
	for (int i = 0; i < ROWS; i++) {
		assert_true(*value_of(&shipped, i) > 0);
		assert_close(*value_of(&stack.habits, i), *value_of(&shipped, i), 0);
	}
}

static void put_experts_wide(struct scenario *s)
{
	case_set(s, "moe_dispatcher", "deepep");
	s->cluster.link[LINK_DOMAIN].span = 64;
	s->plan.ep = 32;
}

/* Whether a constant of two and a half times as much changes the step. */
static bool moves(const struct scenario *s, int i)
{
	struct scenario changed = *s;

	*value_of(&changed.stack.habits, i) *= 2.5;
	train_estimate(&changed, &after);
	return after.step_seconds != before.step_seconds;
}

static void test_each_moves_a_step(void **state)
{
	bool seen[ROWS] = { false };
	struct scenario s;

	(void)state;
	seed = 91;
	for (int left = 20000; left > 0; left--) {
		any_scenario(&s);
		if (s.model.moe.experts > 0 && next(2) == 0)
			put_experts_wide(&s);
		if (scenario_check(&s, NULL) > 0)
			continue;
		train_estimate(&s, &before);
		for (int i = 0; i < ROWS; i++)
			seen[i] = seen[i] || moves(&s, i);
	}
	for (int i = 0; i < ROWS; i++)
		if (!seen[i])
			fail_msg("%s moves no step", rows[i].name);
}

static void test_explanations_end_there(void **state)
{
	static struct explanation told;
	struct scenario s;

	(void)state;
	case_dense(&s);
	train_estimate(&s, &before);
	for (int i = 0; i < ROWS; i++) {
		char key[64];

		snprintf(key, sizeof key, "habits.%s", rows[i].name);
		assert_true(explain(&s, &before, key, &told));
		assert_close(told.value, *value_of(&s.stack.habits, i), 0);
		assert_non_null(strstr(told.source, "presets/habits"));
	}
}

/* The curve of fit and the growth of ranges are those of presets/accuracy. */
static void test_curves_are_the_files(void **state)
{
	const struct accuracy *shipped = accuracy_shipped();
	struct scenario s;

	(void)state;
	case_dense(&s);
	assert_memory_equal(&s.cluster.accuracy.fit, &shipped->fit,
			    sizeof shipped->fit);
	assert_memory_equal(&s.cluster.accuracy.beyond, &shipped->beyond,
			    sizeof shipped->beyond);
	train_estimate(&s, &before);
	/* on a machine that nobody measured it is unsure up to that chance */
	s.cluster.accelerator.calibration.unmeasured = true;
	for (int i = 0; i < 2; i++) {
		train_estimate(&s, &before);
		s.cluster.accuracy.fit.surely =
			before.fit_probability + (i ? -1e-6 : 1e-6);
		train_estimate(&s, &after);
		assert_int_equal(after.unsure, !i);
	}
	s.cluster.accuracy.fit.surely = shipped->fit.surely;
	s.cluster.accelerator.calibration.unmeasured = false;
	train_estimate(&s, &before);
	s.cluster.accuracy.fit.middle =
		before.memory.total_bytes / before.capacity_bytes;
	s.cluster.accuracy.beyond = (struct range_growth){ 1, 2 };
	train_estimate(&s, &after);
	assert_close(after.fit_probability, 0.5, 1e-12);
	assert_close(after.step_high_seconds / after.step_seconds - 1,
		     2 * (before.step_high_seconds / before.step_seconds - 1), 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curves_are_the_files),
		cmocka_unit_test(test_cases_have_the_shipped_ones),
		cmocka_unit_test(test_each_moves_a_step),
		cmocka_unit_test(test_explanations_end_there),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
