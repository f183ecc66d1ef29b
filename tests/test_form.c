/* Numbers as text: one table of form, value and what a person reads. */
#include "engine/knob/finding.h"

#include <math.h>
#include <string.h>

#include "tests/support/close.h"

static const struct {
	enum form form;
	double value;
	const char *text;
} cases[] = {
	{ FORM_COUNT, 0, "0" },
	{ FORM_COUNT, 512, "512" },
	{ FORM_COUNT, -3, "-3" },
	{ FORM_COUNT, 99999, "99999" },
	{ FORM_COUNT, 128256, "128 k" },
	{ FORM_COUNT, 70.55e9, "70.5 B" },
	{ FORM_COUNT, 8.03e9, "8.03 B" },
	{ FORM_COUNT, 999.6e9, "1.00 T" },
	{ FORM_COUNT, 3e20, "300000000 T" },
	{ FORM_REAL, 0, "0" },
	{ FORM_REAL, 2.5, "2.5" },
	{ FORM_REAL, 400, "400" },
	{ FORM_REAL, 79.14, "79.1" },
	{ FORM_REAL, 1234.5, "1234" },
	{ FORM_REAL, 0.05, "0.05" },
	{ FORM_REAL, 0.001234, "0.00123" },
	{ FORM_REAL, -0.25, "-0.25" },
	{ FORM_REAL, 100, "100" },
	{ FORM_REAL, 1e11, "100 B" },
	{ FORM_REAL, 123456, "123 k" },
	{ FORM_REAL, 1e30, "1.00e+30" },
	{ FORM_PERCENT, 0, "0.0 %" },
	{ FORM_PERCENT, 0.9712, "97.1 %" },
	{ FORM_PERCENT, 1, "100 %" },
	{ FORM_PERCENT, 0.0043, "0.43 %" },
	{ FORM_PERCENT, -0.059, "-5.9 %" },
	{ FORM_PERCENT, -1e-9, "0.00 %" },
	{ FORM_BYTES, 0, "0 B" },
	{ FORM_BYTES, 300, "300 B" },
	{ FORM_BYTES, 1536, "1.50 KiB" },
	{ FORM_BYTES, 62386500000.0, "58.1 GiB" },
	{ FORM_BYTES, -1181116006.4, "-1.10 GiB" },
	{ FORM_BYTES, 2e12, "1.82 TiB" },
	{ FORM_TRAFFIC, 5e10, "50.0 GB" },
	{ FORM_TRAFFIC, 999.9e6, "1.00 GB" },
	{ FORM_SECONDS, 0, "0 s" },
	{ FORM_SECONDS, 1e-13, "0 s" },
	{ FORM_SECONDS, 7.152, "7.15 s" },
	{ FORM_SECONDS, 112.4, "112 s" },
	{ FORM_SECONDS, 0.34, "340 ms" },
	{ FORM_SECONDS, 4.2e-6, "4.20 us" },
	{ FORM_SECONDS, -0.12, "-120 ms" },
	{ FORM_TOKENS, 15e12, "15 T" },
	{ FORM_TOKENS, 2.1e6, "2.1 M" },
	{ FORM_FLOPS, 2.52e12, "2.52 TFLOP" },
	{ FORM_RATE, 7152, "7152 tok/s" },
	{ FORM_RATE, 454321, "454 k tok/s" },
	{ FORM_RATE, 1.5e6, "1.50 M tok/s" },
	{ FORM_DOLLARS, 12.34e6, "$12.3 M" },
	{ FORM_DOLLARS, -950, "-$950" },
	{ FORM_ENERGY, 3.6e9, "1.00 MWh" },
	{ FORM_MASS, 2.61e6, "2.61 t" },
	{ FORM_MASS, 431, "431 g" },
	{ FORM_ENERGY, 1.287e6 * 3.6e6, "1.29 GWh" },
	{ FORM_DATE, 54 * 86400, "54.0 days" },
	{ FORM_DATE, 7200, "2.00 h" },
	{ FORM_DATE, 90, "1.50 min" },
	{ FORM_DATE, 2 * 31557600.0, "2.00 years" },
	{ FORM_REAL, NAN, "-" },
	{ FORM_BYTES, INFINITY, "-" },
};

static void test_table(void **state)
{
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t length =
			form_text(cases[i].form, cases[i].value, text, sizeof text);

		assert_string_equal(text, cases[i].text);
		assert_int_equal(length, strlen(text));
	}
}

/* No value makes a text longer than a column can hold. */
static void test_short(void **state)
{
	char text[64] = "";

	(void)state;
	for (int form = 0; form <= FORM_WORD; form++)
		for (double value = 1e-12; value < 1e12; value *= 1.37) {
			assert_true(form_text((enum form)form, value, text,
					      sizeof text) <= 12);
			assert_null(strchr(text, ','));
			assert_true(form_text((enum form)form, -value, text,
					      sizeof text) <= 13);
		}
}

/* A small buffer holds as much as fits, and always its end. */
static void test_small_buffers(void **state)
{
	char text[16];

	(void)state;
	for (int form = 0; form <= FORM_WORD; form++)
		for (size_t size = 0; size < sizeof text; size++) {
			memset(text, 'x', sizeof text);
			form_text((enum form)form, 123456789.0, text, size);
			for (size_t i = size; i < sizeof text; i++)
				assert_int_equal(text[i], 'x');
			if (size > 0)
				assert_true(strlen(text) < size);
		}
}

static const struct rule rule = { "E7", SEVERITY_ERROR,
				  "global batch {0} is no multiple of {1} x {2:real}, "
				  "{3:percent} {4:bytes} {5:word} {x} {9",
				  "here" };

static void test_finding(void **state)
{
	struct finding finding = { .rule = &rule,
				   .value = { 100, 8, 1.5, 0.25, 1048576, 2 },
				   .knob = "recompute",
				   .nearest = { 0, 1 },
				   .nearest_count = 2 };
	char text[200];
	size_t length;

	(void)state;
	length = finding_text(&finding, text, sizeof text);
	assert_int_equal(length, strlen(text));
	assert_string_equal(text, "global batch 100 is no multiple of 8 x 1.5, 25.0 % "
				  "1.00 MiB full {x} {9");
	length = finding_remedy(&finding, text, sizeof text);
	assert_int_equal(length, strlen(text));
	assert_string_equal(text, "recompute none or selective");
	finding.knob = "gbs";
	finding.nearest[0] = 96;
	finding.nearest[1] = 104;
	finding.nearest[2] = 112;
	finding.nearest_count = 3;
	finding_remedy(&finding, text, sizeof text);
	assert_string_equal(text, "gbs 96, 104 or 112");
	finding_remedy(&finding, text, 6);
	assert_string_equal(text, "gbs 9");
	finding_text(&finding, text, 9);
	assert_string_equal(text, "global b");
	finding.nearest_count = 0;
	assert_int_equal(finding_remedy(&finding, text, sizeof text), 0);
	assert_string_equal(text, "");
}

/* What JSON calls a value that it does not shorten. */
static void test_units(void **state)
{
	(void)state;
	assert_string_equal(form_unit(FORM_BYTES), form_unit(FORM_TRAFFIC));
	assert_string_equal(form_unit(FORM_DATE), "seconds");
	assert_string_equal(form_unit(FORM_PERCENT), "1");
	for (int form = 0; form <= FORM_WORD; form++)
		assert_true(form_unit((enum form)form)[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),         cmocka_unit_test(test_short),
		cmocka_unit_test(test_small_buffers), cmocka_unit_test(test_finding),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
