/* test_whatif.c - a strip and an arrow are the estimates of the turned scenario. */
#include <math.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "engine/whatif/whatif.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now, scratch, turned_estimate;
static struct whatif strip;

typedef void make_case(struct scenario *);
static make_case *const cases[] = { case_dense, case_moe, case_mla, case_hybrid };
enum { CASES = sizeof cases / sizeof cases[0] };

static void check_item(const struct scenario *s, const struct knob *knob,
		       const struct whatif_value *item)
{
	struct scenario turned = *s;

	assert_true(knob_set(&turned, knob, item->value));
	scenario_estimate(&turned, &turned_estimate);
	assert_int_equal(turned_estimate.legal, item->legal);
	assert_int_equal(turned_estimate.fits, item->fits);
	if (!item->legal) {
		assert_non_null(item->problem.rule);
		assert_string_equal(item->problem.rule->code,
				    turned_estimate.problems.item[0].rule->code);
		assert_true(item->step_seconds == 0 && item->memory_bytes == 0);
		return;
	}
	assert_null(item->problem.rule);
	assert_close(item->step_seconds, turned_estimate.step_seconds, 1e-12);
	assert_close(item->memory_bytes, turned_estimate.memory.total_bytes, 1e-12);
	assert_close(item->tokens_per_second_per_gpu,
		     turned_estimate.tokens_per_second_per_gpu, 1e-12);
}

static void check_strip(const struct scenario *s, const struct knob *knob)
{
	whatif_knob(s, knob, &scratch, &strip);
	assert_true(strip.count >= 1 && strip.count <= MAX_VALUES);
	assert_true(strip.present >= 0 && strip.present < strip.count);
	if (knob->type == KNOB_TEXT)
		return;
	assert_close(strip.item[strip.present].value, knob_get(s, knob), 1e-12);
	for (int i = 0; i < strip.count; i++) {
		if (i > 0)
			assert_true(strip.item[i].value > strip.item[i - 1].value);
		check_item(s, knob, &strip.item[i]);
	}
}

static void test_strips_are_estimates(void **state)
{
	static const char *const keys[] = { "tp",        "pp",   "vpp",
					    "cp",        "ep",   "zero",
					    "mbs",       "gbs",  "seq",
					    "schedule",  "sp",   "recompute",
					    "precision", "gpus", "layout" };
	struct scenario s;

	(void)state;
	for (int c = 0; c < CASES; c++) {
		cases[c](&s);
		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
			check_strip(&s, knob_find(keys[k]));
	}
}

static void test_a_strip_leaves_the_scenario_alone(void **state)
{
	static struct scenario s, before;

	(void)state;
	case_moe(&s);
	memcpy(&before, &s, sizeof s);
	whatif_knob(&s, knob_find("ep"), &scratch, &strip);
	assert_memory_equal(&before, &s, sizeof s);
}

static void test_illegal_values_say_which_rule(void **state)
{
	struct scenario s;
	bool found = false;

	(void)state;
	case_dense(&s);
	case_set(&s, "gpus", "96"); /* TP 12 divides 96 GPUs, not 64 heads */
	whatif_knob(&s, knob_find("tp"), &scratch, &strip);
	for (int i = 0; i < strip.count; i++) {
		if (strip.item[i].value != 12)
			continue;
		found = true;
		assert_false(strip.item[i].legal);
		assert_string_equal(strip.item[i].problem.rule->code, "E4");
	}
	assert_true(found);
}

static double rate_of(const struct scenario *s, const struct knob *knob, int direction)
{
	struct scenario turned = *s;
	double value = knob_neighbour(s, knob, direction);

	if (value == knob_get(s, knob) || !knob_set(&turned, knob, value))
		return 0;
	scenario_estimate(&turned, &turned_estimate);
	return turned_estimate.feasible ? turned_estimate.tokens_per_second_per_gpu : 0;
}

static void check_arrow(const struct scenario *s, const struct knob *knob)
{
	struct whatif_arrow arrow;
	double present = now.feasible ? now.tokens_per_second_per_gpu : 0;
	double down = rate_of(s, knob, -1), up = rate_of(s, knob, 1);
	double best = fmax(down, up);

	whatif_arrow(s, knob, &now, &scratch, &arrow);
	if (knob->applies && !knob->applies(s)) {
		assert_int_equal(arrow.direction, 0);
		return;
	}
	if (best <= present) {
		assert_int_equal(arrow.direction, 0);
		assert_true(arrow.gain == 0);
		return;
	}
	assert_close(arrow.direction > 0 ? up : down, best, 1e-12);
	assert_close(arrow.gain, 1 - present / best, 1e-9);
}

static void test_arrows_point_to_the_faster_neighbour(void **state)
{
	struct scenario s;

	(void)state;
	for (int c = 0; c < CASES; c++) {
		cases[c](&s);
		train_estimate(&s, &now);
		for (int i = 0; i < knob_count(); i++)
			if (knob_table[i].type != KNOB_TEXT &&
			    knob_table[i].type != KNOB_SET)
				check_arrow(&s, &knob_table[i]);
	}
}

static void test_an_arrow_leads_out_of_what_does_not_fit(void **state)
{
	struct scenario s;
	struct whatif_arrow arrow;
	const struct knob *mbs = knob_find("mbs");

	(void)state;
	case_dense(&s);
	while (true) {
		train_estimate(&s, &now);
		assert_true(now.legal);
		if (!now.fits)
			break;
		assert_true(knob_set(&s, mbs, 2 * knob_get(&s, mbs)));
	}
	whatif_arrow(&s, mbs, &now, &scratch, &arrow);
	if (rate_of(&s, mbs, -1) > 0) {
		assert_int_equal(arrow.direction, -1);
		assert_close(arrow.gain, 1, 1e-12);
	} else {
		assert_int_equal(arrow.direction, 0);
	}
}

/* A strip that shows the same number at every value shows nothing: a knob of the run
 * moves days, dollars, energy or CO2, all others throughput. */
static void test_a_strip_shows_what_its_knob_moves(void **state)
{
	static const struct {
		const char *knob, *metric;
	} t[] = {
		{ "price", "run_dollars" },
		{ "tokens", "run_seconds" },
		{ "pue", "run_joules" },
		{ "grid_gco2_per_kwh", "run_co2_grams" },
		{ "node_mtbf_hours", "goodput" },
		{ "restart_seconds", "goodput" },
		{ "tp", "tokens_per_second_per_gpu" },
	};
	struct scenario s;

	(void)state;
	case_dense(&s);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		double least = INFINITY, most = -INFINITY;

		whatif_knob(&s, knob_find(t[i].knob), &scratch, &strip);
		assert_string_equal(strip.metric->key, t[i].metric);
		for (int k = 0; k < strip.count; k++) {
			if (!strip.item[k].legal)
				continue;
			least = fmin(least, strip.item[k].moved);
			most = fmax(most, strip.item[k].moved);
		}
		assert_true(least < most);
	}
}

/* A run lies in its range as its step does, and a million tokens cost their share. */
static void test_a_run_has_the_range_of_its_step(void **state)
{
	struct scenario s;
	const struct run_cost *run = &now.run;
	double low, high;

	(void)state;
	case_dense(&s);
	train_estimate(&s, &now);
	low = now.step_low_seconds / now.step_seconds;
	high = now.step_high_seconds / now.step_seconds;
	assert_true(low < 1 && high > 1);
	assert_close(run->seconds_low, run->seconds * low, 1e-12);
	assert_close(run->dollars_high, run->dollars * high, 1e-12);
	assert_close(run->joules_low, run->joules * low, 1e-12);
	assert_close(run->co2_high_grams, run->co2_grams * high, 1e-12);
	assert_close(run->co2_grams, run->joules / 3.6e6 * 480, 1e-12);
	assert_close(run->dollars_per_million_tokens * s.plan.tokens / 1e6,
		     run->dollars, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strips_are_estimates),
		cmocka_unit_test(test_a_strip_leaves_the_scenario_alone),
		cmocka_unit_test(test_illegal_values_say_which_rule),
		cmocka_unit_test(test_arrows_point_to_the_faster_neighbour),
		cmocka_unit_test(test_an_arrow_leads_out_of_what_does_not_fit),
		cmocka_unit_test(test_a_strip_shows_what_its_knob_moves),
		cmocka_unit_test(test_a_run_has_the_range_of_its_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
