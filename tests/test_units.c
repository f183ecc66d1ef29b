/* test_units.c - laws of units over drawn plans and servers of every stack: the engine
 * may know no second, dollar or watt of its own. Measured in other seconds every time
 * is as much longer and nothing else moves; a price moves dollars alone; a run of twice
 * the tokens is twice as long. */
#include <math.h>
#include <string.h>

#include "engine/explain/constants.h"
#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "presets/library.h"
#include "tests/numbers/draw.h"
#include "tests/support/any.h"
#include "tests/support/close.h"

enum { DRAWS = 400 }; /* of each stack */

static struct estimate plain, other;

static void times(void *at, double factor)
{
	double value;

	memcpy(&value, at, sizeof value);
	value *= factor;
	memcpy(at, &value, sizeof value);
}

static bool is_per_second(const char *key)
{
	return strstr(key, "per_second") || strstr(key, "watts") ||
	       strstr(key, "per_gpu_hour");
}

/* Every constant and knob that says a time or a rate, in seconds `factor` times as
 * short. */
static void slow_down(struct scenario *s, double factor)
{
	struct serving_plan *v = &s->plan.serving;

	for (const struct constant *k = explain_constants; k->key; k++)
		if (k->type == CONSTANT_REAL && is_per_second(k->key))
			times((char *)s + k->offset, 1 / factor);
		else if (k->type == CONSTANT_REAL &&
			 (strstr(k->key, "_seconds") || strstr(k->key, "_hours")))
			times((char *)s + k->offset, factor);
	for (int i = 0; i < PRECISION_COUNT; i++)
		s->cluster.accelerator.peak_flops[i] /= factor;
	s->cluster.link[LINK_UPPER].bytes_per_second /= factor;
	s->cluster.link[LINK_UPPER].latency_seconds *= factor;
	v->request_rate /= factor;
	v->goal_ttft_seconds *= factor;
	v->goal_tpot_seconds *= factor;
}

/* 1 of a time, -1 of a rate, 0 of anything else. */
static int power_of_time(const struct metric *m)
{
	if (m->form == FORM_SECONDS || m->form == FORM_DATE || strstr(m->key, "hours"))
		return 1;
	if (strstr(m->key, "per_second") || strstr(m->key, "tflops") ||
	    m->form == FORM_RATE)
		return -1;
	return 0;
}

/* A rate says so: in its unit and in its text. */
static void test_constants_that_are_rates_have_their_unit(void **state)
{
	int rates = 0;

	(void)state;
	for (const struct constant *k = explain_constants; k->key; k++) {
		bool flops = strstr(k->key, "peak_flops") != NULL;
		char text[64];

		if (!flops && !strstr(k->key, "bytes_per_second"))
			continue;
		rates++;
		form_text(k->form, 3e12, text, sizeof text);
		assert_string_equal(form_unit(k->form), flops ? "FLOP/s" : "bytes/s");
		assert_string_equal(text, flops ? "3.00 TFLOP/s" : "3.00 TB/s");
	}
	assert_true(rates >= 7);
}

static bool near(double a, double b, double scale)
{
	return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-12 * scale;
}

static void compare(const struct scenario *s, const char *law, const double *factor,
		    int mode)
{
	double scale = plain.step_seconds + plain.serving.request_seconds;

	for (int i = 0; i < metric_count(); i++) {
		const struct metric *m = &metric_table[i];
		double was = metric_get(&plain, m) * factor[i],
		       is = metric_get(&other, m);

		if (!(m->modes >> mode & 1) || near(was, is, scale * factor[i]))
			continue;
		any_describe(s);
		fail_msg("%s: %s is %.12g, not %.12g", law, m->key, is, was);
	}
}

/* A power of two: sums round alike, whatever the unit. In small units all take long, in
 * large ones all are over at once: none is told from a second by its size. */
static void check_time(const struct scenario *s)
{
	static const double units[] = { 4, 0x1p-20, 0x1p20, 0x1p-64, 0x1p64 };
	static int turn;
	double factor[256], slower = units[turn++ % 5];
	struct scenario slow = *s;

	assert_true(metric_count() <= 256);
	slow_down(&slow, slower);
	scenario_estimate(&slow, &other);
	for (int i = 0; i < metric_count(); i++)
		factor[i] = pow(slower, power_of_time(&metric_table[i]));
	compare(s, "in other seconds", factor, s->plan.mode);
}

static void check_price(const struct scenario *s)
{
	struct scenario dear = *s;
	double factor[256];

	dear.cluster.price_per_gpu_hour *= 3;
	scenario_estimate(&dear, &other);
	for (int i = 0; i < metric_count(); i++)
		factor[i] = strstr(metric_table[i].key, "dollars") ? 3 : 1;
	compare(s, "at another price", factor, s->plan.mode);
}

/* Twice as many replicas with as many sequences each: none computes, keeps of a
 * sequence or sends beside its replica anything else, whatever exchanges gradients. */
static void check_replicas(const struct scenario *s)
{
	struct scenario more = *s;

	if (s->plan.split == SPLIT_BALANCED || s->plan.split == SPLIT_BALANCED_MEMORY ||
	    s->plan.zero > 1 || s->plan.ep > 1)
		return;
	more.cluster.gpus *= 2;
	more.plan.global_batch *= 2;
	if (scenario_check(&more, NULL) > 0)
		return;
	scenario_estimate(&more, &other);
	/* twice the chips are another torus, whose axes may be rings: exchanges are
	 * quicker, and where the CPU sets the pace it waits for the rest computing */
	if (!s->cluster.torus)
		assert_close(other.compute_seconds, plain.compute_seconds, 1e-9);
	assert_close(other.recompute_seconds, plain.recompute_seconds, 1e-9);
	assert_close(other.flops_per_token, plain.flops_per_token, 1e-12);
	assert_close(other.cost[DIM_TP].bytes, plain.cost[DIM_TP].bytes, 1e-9);
	assert_close(other.cost[DIM_CP].bytes, plain.cost[DIM_CP].bytes, 1e-9);
	for (int i = 0; i < plain.stages; i++) {
		assert_close(other.stage[i].activations_bytes,
			     plain.stage[i].activations_bytes, 1e-9);
		assert_close(other.stage[i].parameters, plain.stage[i].parameters,
			     1e-12);
	}
}

static void for_each(bool serves, void (*check)(const struct scenario *s))
{
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list), checked = 0;

	for (int i = 0; i < count; i++) {
		struct scenario s;

		scenario_defaults(&s);
		assert_true(library_stack(&s, list[i].name, NULL));
		if (s.stack.serves != serves)
			continue;
		for (uint64_t n = 0; n < DRAWS; n++) {
			draw_known(list[i].name,
				   serves ? MODE_INFERENCE : MODE_TRAINING, n, &s);
			if (scenario_check(&s, NULL) > 0)
				continue;
			/* a checkpoint counts as a second at least: this takes longer
			 */
			s.cluster.checkpoint_bytes_per_second = 1e-26;
			scenario_estimate(&s, &plain);
			if (!plain.legal || !isfinite(plain.step_seconds))
				continue;
			check(&s);
			checked++;
		}
	}
	assert_true(checked > DRAWS);
}

static void test_a_step_in_other_seconds(void **state)
{
	(void)state;
	for_each(false, check_time);
}

static void test_a_server_in_other_seconds(void **state)
{
	(void)state;
	for_each(true, check_time);
}

static void test_a_price_is_paid_in_dollars(void **state)
{
	(void)state;
	for_each(false, check_price);
	for_each(true, check_price);
}

static void test_replicas_do_as_much(void **state)
{
	(void)state;
	for_each(false, check_replicas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constants_that_are_rates_have_their_unit),
		cmocka_unit_test(test_a_step_in_other_seconds),
		cmocka_unit_test(test_a_server_in_other_seconds),
		cmocka_unit_test(test_replicas_do_as_much),
		cmocka_unit_test(test_a_price_is_paid_in_dollars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
