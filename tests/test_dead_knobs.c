/* test_dead_knobs.c - what a plan says to be without effect has none: a knob that does
 * not apply to a random scenario, turned to whatever it can be, moves no number of its
 * estimate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "engine/serve/serve.h"
#include "engine/train/train.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

static struct estimate base, turned;
static struct scenario s, other;

static void check_same(const struct knob *knob, int mode)
{
	char text[80];

	knob_print(&other, knob, text, sizeof text);
	/* rules look at some of them: schedules of one stage, for one */
	if (!turned.legal)
		return;
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];

		if (!(metric->modes & mode))
			continue;
		double was = metric_get(&base, metric),
		       is = metric_get(&turned, metric);

		/* bytes of a host that keeps none, which are the knob itself */
		if (strcmp(metric->key, "host_capacity_bytes") == 0 || was == is ||
		    (isnan(was) && isnan(is)) || fabs(is - was) <= 1e-12 * fabs(was))
			continue;
		any_describe(&s);
		fail_msg("%s=%s does not apply and moves %s from %.9g to %.9g",
			 knob->key, text, metric->key, was, is);
	}
}

/* One of its values, at random; false where it is as it was, or applies now. */
static bool turn(const struct knob *knob)
{
	double values[MAX_VALUES];
	int present, count = knob_values(&s, knob, values, &present);

	other = s;
	return count > 0 && knob_set(&other, knob, values[next((uint64_t)count)]) &&
	       !knob_applies(&other, knob);
}

static void test_of_training(void **state)
{
	bool seen[MAX_KNOBS] = { false };
	int kinds = 0;

	(void)state;
	seed = 61;
	for (int left = some_of(1000); left > 0;) {
		any_scenario(&s);
		if (scenario_check(&s, NULL) > 0)
			continue;
		train_estimate(&s, &base);
		if (!base.legal)
			continue;
		left--;
		for (int i = 0; i < knob_count(); i++) {
			const struct knob *knob = &knob_table[i];

			if (knob->group == GROUP_SERVING || knob_applies(&s, knob) ||
			    !turn(knob))
				continue;
			train_estimate(&other, &turned);
			check_same(knob, METRIC_TRAINING);
			kinds += !seen[i];
			seen[i] = true;
		}
	}
	assert_true(kinds > 20);
}

static void test_of_servers(void **state)
{
	bool seen[MAX_KNOBS] = { false };
	int kinds = 0;

	(void)state;
	seed = 62;
	for (int left = some_of(1000); left > 0; left--) {
		server_random(&s, &base);
		/* copies of the attention may share each expert, too */
		if (left % 2 && s.plan.serving.dp_attention > 1) {
			s.plan.ep = 1;
			serve_estimate(&s, &base);
		}
		if (!base.legal)
			continue;
		for (int k = 0; k < knob_count(); k++) {
			const struct knob *knob = &knob_table[k];

			if (knob_applies(&s, knob) || !turn(knob))
				continue;
			serve_estimate(&other, &turned);
			check_same(knob, METRIC_INFERENCE);
			kinds += !seen[k];
			seen[k] = true;
		}
	}
	assert_true(kinds > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_training),
		cmocka_unit_test(test_of_servers),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
