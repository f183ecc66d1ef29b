/* test_advice.c - what-if, explanations and advice agree with the estimate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice.h"
#include "engine/explain.h"
#include "engine/knob.h"
#include "engine/train.h"
#include "engine/whatif.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now, scratch;

static void check_explanation(const struct scenario *s, const char *key)
{
	struct explanation x;

	if (!explain(s, &now, key, &x))
		fail_msg("%s is not explained", key);
	assert_true(x.title && x.title[0]);
	assert_true(x.formula && x.formula[0]);
	assert_true(x.assumption && x.assumption[0]);
	assert_true(x.source && x.source[0]);
	for (int i = 0; i < x.terms; i++) {
		assert_true(x.term[i].symbol[0] && x.term[i].meaning[0]);
		assert_true(isfinite(x.term[i].value));
	}
}

static void test_every_number_is_explained(void **state)
{
	static const char *const fields[] = { "weights_bytes",
					      "gradients_bytes",
					      "optimizer_bytes",
					      "activations_bytes",
					      "buffers_bytes",
					      "framework_bytes",
					      "total_bytes",
					      "allocated_bytes",
					      "in_flight",
					      "parameters",
					      "layers",
					      "forward_seconds",
					      "backward_seconds",
					      "busy_seconds",
					      "exposed_seconds",
					      "idle_seconds",
					      "optimizer_seconds",
					      "recompute_seconds" };
	struct scenario s;
	struct explanation x;

	(void)state;
	case_moe(&s);
	train_estimate(&s, &now);
	for (int i = 0; i < metric_count(); i++)
		check_explanation(&s, metric_table[i].key);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		char key[64];

		snprintf(key, sizeof key, "stages.1.%s", fields[i]);
		check_explanation(&s, key);
	}
	assert_false(explain(&s, &now, "stages.99.total_bytes", &x));
	assert_false(explain(&s, &now, "stages.-1.total_bytes", &x));
	assert_false(explain(&s, &now, "nothing", &x));
}

/* The terms of a sum add up to the number. */
static void test_terms_of_sums_add_up(void **state)
{
	static const char *const sums[] = { "total_bytes", "allocated_bytes",
					    "step_seconds", "stages.0.total_bytes" };
	struct scenario s;

	(void)state;
	case_mla(&s);
	train_estimate(&s, &now);
	assert_true(now.legal);
	for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++) {
		struct explanation x;
		double sum = 0;

		assert_true(explain(&s, &now, sums[k], &x));
		for (int i = 0; i < x.terms; i++)
			sum += x.term[i].value;
		assert_close(sum, x.value, 1e-9);
	}
}

static double term(const struct explanation *x, const char *symbol)
{
	for (int i = 0; i < x->terms; i++)
		if (strcmp(x->term[i].symbol, symbol) == 0)
			return x->term[i].value;
	fail_msg("no %s", symbol);
	return 0;
}

static void test_formulas_give_their_number(void **state)
{
	struct scenario s;
	struct explanation x;

	(void)state;
	case_dense(&s);
	train_estimate(&s, &now);
	assert_true(explain(&s, &now, "mfu", &x));
	assert_close(term(&x, "r") * term(&x, "F") / term(&x, "peak"), x.value, 1e-9);
	assert_true(explain(&s, &now, "tokens_per_second_per_gpu", &x));
	assert_close(term(&x, "gbs") * term(&x, "s") / term(&x, "t") / term(&x, "n"),
		     x.value, 1e-9);
	assert_true(explain(&s, &now, "fit_probability", &x));
	assert_close(1 / (1 + exp(15 * (term(&x, "x") - 0.985))), x.value, 1e-9);
	assert_true(explain(&s, &now, "run_seconds", &x));
	assert_close(term(&x, "steps") * term(&x, "t") / term(&x, "g"), x.value, 1e-9);
}

static void test_what_if_is_what_turning_gives(void **state)
{
	struct scenario s;
	struct whatif strip;

	(void)state;
	case_dense(&s);
	whatif_knob(&s, knob_find("tp"), &scratch, &strip);
	assert_true(strip.count > 4);
	assert_close(strip.item[strip.present].value, (double)s.plan.tp, 1e-12);
	for (int i = 0; i < strip.count; i++) {
		struct scenario turned = s;

		assert_true(knob_set(&turned, knob_find("tp"), strip.item[i].value));
		train_estimate(&turned, &now);
		assert_int_equal(now.legal, strip.item[i].legal);
		if (!now.legal) {
			assert_non_null(strip.item[i].problem.rule);
			continue;
		}
		assert_close(strip.item[i].step_seconds, now.step_seconds, 1e-12);
		assert_close(strip.item[i].memory_bytes, now.memory.total_bytes, 1e-12);
		assert_int_equal(now.fits, strip.item[i].fits);
	}
}

static void test_an_arrow_points_to_what_is_faster(void **state)
{
	struct scenario s;
	struct whatif_arrow arrow;
	int found = 0;

	(void)state;
	case_moe(&s);
	train_estimate(&s, &now);
	for (int i = 0; i < knob_count(); i++) {
		struct scenario turned = s;

		whatif_arrow(&s, &knob_table[i], &now, &scratch, &arrow);
		if (arrow.direction == 0)
			continue;
		found++;
		assert_true(
			knob_set(&turned, &knob_table[i],
				 knob_neighbour(&s, &knob_table[i], arrow.direction)));
		train_estimate(&turned, &scratch);
		assert_true(scratch.feasible);
		assert_close(1 - now.tokens_per_second_per_gpu /
					     scratch.tokens_per_second_per_gpu,
			     arrow.gain, 1e-9);
	}
	assert_true(found > 0);
}

static bool says(const struct findings *advice, const char *code, const char *knob)
{
	for (int i = 0; i < advice->count; i++)
		if (strcmp(advice->item[i].rule->code, code) == 0 &&
		    (!knob ||
		     (advice->item[i].knob && strcmp(advice->item[i].knob, knob) == 0)))
			return true;
	return false;
}

static struct findings advise(const struct scenario *s)
{
	struct findings advice;

	train_estimate(s, &now);
	if (!now.legal)
		fail_msg("this plan is illegal: %s", now.problems.item[0].rule->text);
	advice_give(s, &now, &advice);
	return advice;
}

static void start(struct scenario *s)
{
	struct error error = { "" };

	if (!scenario_start(s, &error))
		fail_msg("%s", error.text);
}

static void set(struct scenario *s, const char *key, const char *value)
{
	case_set(s, key, value);
}

static void test_a_bubble_asks_for_chunks(void **state)
{
	struct scenario s;
	struct findings a;

	(void)state;
	start(&s);
	set(&s, "gbs", "32");
	set(&s, "mbs", "2");
	set(&s, "schedule", "interleaved");
	a = advise(&s);
	assert_true(now.bubble_ratio > 0.1);
	assert_true(says(&a, "T5", "vpp"));
	set(&s, "gbs", "4096");
	a = advise(&s);
	assert_true(now.bubble_ratio < 0.05);
	assert_false(says(&a, "T5", "vpp"));
}

static void test_a_plan_that_is_too_large_gets_remedies(void **state)
{
	struct scenario s;
	struct findings a;

	(void)state;
	start(&s);
	a = advise(&s);
	assert_false(says(&a, "M7", NULL));
	set(&s, "mbs", "8");
	a = advise(&s);
	assert_false(now.fits);
	assert_true(says(&a, "M7", "mbs"));
	assert_true(says(&a, "M6", "recompute"));
	/* the first one makes it fit */
	struct scenario mended = s;
	assert_true(knob_set(&mended, knob_find(a.item[0].knob), a.item[0].nearest[0]));
	train_estimate(&mended, &scratch);
	assert_true(scratch.fits);
	assert_close(scratch.memory.total_bytes, a.item[0].value[2], 1e-9);
}

static void test_overlaps_that_are_off_are_offered(void **state)
{
	struct scenario s;
	struct findings a;

	(void)state;
	start(&s);
	set(&s, "overlap_grad_reduce", "off");
	set(&s, "gbs", "16");
	a = advise(&s);
	assert_true(says(&a, "T15", "overlap_grad_reduce"));
	set(&s, "overlap_grad_reduce", "on");
	a = advise(&s);
	assert_false(says(&a, "T15", "overlap_grad_reduce"));
}

static void test_notes_speak_and_are_silent(void **state)
{
	struct scenario s;
	struct findings a;

	(void)state;
	start(&s);
	a = advise(&s);
	assert_false(says(&a, "T7", NULL));
	assert_false(says(&a, "T19", NULL));
	assert_false(says(&a, "M16", NULL));
	set(&s, "gbs", "4");
	set(&s, "cuda_graphs", "full");
	a = advise(&s);
	assert_true(says(&a, "T7", NULL));
	assert_true(says(&a, "M16", NULL));
	case_moe(&s);
	a = advise(&s);
	assert_true(says(&a, "M15", NULL));
	set(&s, "imbalance", "1.5");
	a = advise(&s);
	assert_false(says(&a, "M15", NULL));
}

static void test_an_illegal_plan_gets_no_advice(void **state)
{
	struct scenario s;
	struct findings a;

	(void)state;
	start(&s);
	set(&s, "tp", "6");
	train_estimate(&s, &now);
	advice_give(&s, &now, &a);
	assert_int_equal(a.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_number_is_explained),
		cmocka_unit_test(test_terms_of_sums_add_up),
		cmocka_unit_test(test_formulas_give_their_number),
		cmocka_unit_test(test_what_if_is_what_turning_gives),
		cmocka_unit_test(test_an_arrow_points_to_what_is_faster),
		cmocka_unit_test(test_a_bubble_asks_for_chunks),
		cmocka_unit_test(test_a_plan_that_is_too_large_gets_remedies),
		cmocka_unit_test(test_overlaps_that_are_off_are_offered),
		cmocka_unit_test(test_notes_speak_and_are_silent),
		cmocka_unit_test(test_an_illegal_plan_gets_no_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
