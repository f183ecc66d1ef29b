/* test_bounds.c - no shipped constant lies on a bound of what the fit may give it: then
 * a formula is missing, not a number. */
#include <stdio.h>
#include <string.h>

#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/validation/constants.h"
#include "tests/validation/serving_constants.h"

/* Every constant of that scenario's cluster and stack. */
static int check(const struct scenario *s)
{
	int checked = 0;

	for (int k = 0; k < constant_count; k++) {
		const struct constant *c = &constants[k];

		if (!constant_touches(c, s))
			continue;
		double value = constant_get(c, s);

		checked++;
		if (value == 0) /* not stated: all of it, or one for all layers */
			continue;
		if (value < c->low * 0.999 || value > c->high * 1.001)
			fail_msg("%s %s is %g, beyond %g to %g", c->owner, c->key,
				 value / c->unit, c->low / c->unit, c->high / c->unit);
		if (constant_on_bound(c, value))
			fail_msg("%s %s is %g, on a bound of %g to %g: what the fit "
				 "lacks there is a formula",
				 c->owner, c->key, value / c->unit, c->low / c->unit,
				 c->high / c->unit);
	}
	return checked;
}

static void no_constant_of_a_cluster_is_on_its_bound(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_CLUSTER, &list), checked = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct scenario s;
		struct error error;

		scenario_defaults(&s);
		if (!library_cluster(&s.cluster, list[i].name, &error))
			fail_msg("%s", error.text);
		s.stack.name[0] = '\0';
		checked += check(&s);
	}
	assert_true(checked > 100);
}

static void no_constant_of_a_stack_is_on_its_bound(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list), checked = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct scenario s;
		struct error error;

		scenario_defaults(&s);
		s.cluster.accelerator.name[0] = '\0';
		if (!library_stack(&s, list[i].name, &error))
			fail_msg("%s", error.text);
		checked += check(&s);
	}
	assert_true(checked > 60);
}

/* What flash attention reaches of what GEMMs do, alone and therefore in a step: the
 * sources stand in constants.c. Files have three digits. */
static void flash_attention_follows_the_gemms(void **state)
{
	static const struct {
		const char *cluster;
		enum attention_kernel kernel;
		double attention, gemm; /* shares of the peak, alone */
	} alone[] = {
		{ "dgx-a100-80g", ATTENTION_FLASH2, .66, .81 },
		{ "dgx-h100", ATTENTION_FLASH2, .349, .785 },
		{ "dgx-h100", ATTENTION_FLASH3, .556, .785 },
		{ "dgx-h200", ATTENTION_FLASH2, .349, .785 },
		{ "hgx-h800", ATTENTION_FLASH3, .556, .785 },
		{ "dgx-b200", ATTENTION_FLASH3, .57, .668 },
		{ "gb300-nvl72", ATTENTION_FLASH3, .57, .668 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
		const struct calibration *c;
		struct scenario s;
		struct error error;

		scenario_defaults(&s);
		if (!library_cluster(&s.cluster, alone[i].cluster, &error))
			fail_msg("%s", error.text);
		c = &s.cluster.accelerator.calibration;
		assert_close(c->attention_efficiency[alone[i].kernel],
			     c->gemm_efficiency[PRECISION_BF16] * alone[i].attention /
				     alone[i].gemm,
			     .003);
	}
}

static void bounds_by_definition_are_none(void **state)
{
	const struct constant share = { .low = 0, .high = 1, .unit = 1 };
	const struct constant passes = { .low = 1, .high = 12, .unit = 1 };

	(void)state;
	assert_false(constant_on_bound(&share, 0));
	assert_false(constant_on_bound(&share, 1));
	assert_true(constant_on_bound(&passes, 12));
	assert_true(constant_on_bound(&passes, 1));
	assert_false(constant_on_bound(&passes, 3.5));
}

/* A run of a dated release of a stack has its name behind an "@": what is fitted to
 * that stack moves it, and no other. */
static void constants_of_a_stack_move_its_releases(void **state)
{
	static const char *const others[] = { "vllm-omni", "vll", "sglang@0.5.9" };
	struct scenario s = { 0 };
	int moved = 0;

	(void)state;
	for (int k = 0; k < serving_constant_count; k++) {
		const struct serving_constant *c = &serving_constants[k];

		if (!c->stack || strcmp(c->owner, "vllm") != 0)
			continue;
		snprintf(s.stack.name, sizeof s.stack.name, "vllm@2025-10-29");
		moved += serving_constant_touches(c, &s);
		for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
			snprintf(s.stack.name, sizeof s.stack.name, "%s", others[i]);
			assert_false(serving_constant_touches(c, &s));
		}
	}
	assert_true(moved >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_constant_of_a_cluster_is_on_its_bound),
		cmocka_unit_test(no_constant_of_a_stack_is_on_its_bound),
		cmocka_unit_test(flash_attention_follows_the_gemms),
		cmocka_unit_test(bounds_by_definition_are_none),
		cmocka_unit_test(constants_of_a_stack_move_its_releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
