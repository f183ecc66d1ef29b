/* test_formula.c - arithmetic over named values: one text, compiled and computed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/formula.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static const struct formula_symbol symbols[] = {
	{ "a", 3 }, { "b", 4 }, { "zero", 0 }, { "bytes_1", 2.5 }, { "K", -1 },
};
enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };

static double of(const char *text)
{
	struct formula_fault fault = { "", 0 };
	double value;

	if (!formula_evaluate(text, symbols, SYMBOLS, &value, &fault))
		fail_msg("%s: %s at %d", text, fault.reason, fault.at);
	return value;
}

static void test_arithmetic_is_that_of_school(void **state)
{
	(void)state;
	assert_true(of("1 + 2 * 3") == 7);
	assert_true(of("(1 + 2) * 3") == 9);
	assert_true(of("8 / 2 / 2") == 2);
	assert_true(of("8 - 2 - 2") == 4);
	assert_true(of("-a * -b") == 12);
	assert_true(of("--a") == 3);
	assert_true(of("2 - -K") == 1);
	assert_true(of(" a*b\n+\tbytes_1 ") == 14.5);
	assert_close(of("1.5e3 + .25 + 2e-2"), 1500.27, 1e-15);
	assert_close(of("34 / 1e9"), 34e-9, 1e-15);
}

static void test_functions_and_comparisons(void **state)
{
	(void)state;
	assert_true(of("min(a, b)") == 3);
	assert_true(of("max(a, b, 9, 1)") == 9);
	assert_true(of("ceil(a / 2) + floor(a / 2) + sqrt(b)") == 5);
	assert_close(of("exp(ln(a) * 2)"), 9, 1e-12);
	assert_true(of("if(a < b, 10, 20)") == 10);
	assert_true(of("if(a >= b, 10, 20)") == 20);
	assert_true(of("(a <= 3) + (a == 3) + (a != 3) + (a > 3)") == 2);
	/* what is not taken may be anything */
	assert_true(of("if(zero > 0, a / zero, 7)") == 7);
}

static void test_faults_name_the_place(void **state)
{
	static const struct {
		const char *text, *reason;
		int at;
	} cases[] = {
		{ "", "expected a number", 0 },
		{ "a +", "expected a number", 3 },
		{ "a + c", "no such symbol", 4 },
		{ "a b", "expected an operator", 2 },
		{ "min(a)", "too few", 6 },
		{ "sqrt(a, b)", "too many", 9 },
		{ "sin(a)", "no such function", 4 },
		{ "(a", "expected )", 2 },
		{ "min(a, b", "expected , or )", 8 },
		{ "a / zero", "not finite", 8 },
		{ "1e", "power of ten", 2 },
		{ "a = b", "expected an operator", 2 },
		{ "abcdefghijabcdefghijabcdefghijab", "at most 31", 31 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct formula_fault fault = { "", -1 };
		double value;

		assert_false(formula_evaluate(cases[i].text, symbols, SYMBOLS, &value,
					      &fault));
		if (!strstr(fault.reason, cases[i].reason) || fault.at != cases[i].at)
			fail_msg("%s: %s at %d", cases[i].text, fault.reason, fault.at);
	}
}

/* Thousands of brackets are refused before they fill the stack. */
static void test_deep_nesting_is_refused(void **state)
{
	char text[20001];
	double value;

	(void)state;
	memset(text, '(', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_false(formula_evaluate(text, symbols, SYMBOLS, &value, NULL));
	memset(text, '-', sizeof text - 1);
	text[sizeof text - 2] = '1';
	assert_true(formula_evaluate(text, symbols, SYMBOLS, &value, NULL));
}

/* Any bytes: an answer or a fault, never a read beyond the end. */
static void test_any_text_ends(void **state)
{
	static const char letters[] = "ab(),+-*/<>=!.0919e minaxcelforsqt_?\"";
	char text[24];
	int fine = 0;

	(void)state;
	seed = 7;
	for (int n = 0; n < 100000; n++) {
		int length = (int)next(sizeof text - 1);
		double value;

		for (int i = 0; i < length; i++)
			text[i] = letters[next(sizeof letters - 1)];
		text[length] = '\0';
		if (formula_evaluate(text, symbols, SYMBOLS, &value, NULL)) {
			assert_true(isfinite(value));
			fine++;
		}
	}
	assert_true(fine > 100);
}

FORMULA(states, (double b, double D, double d, double zero),
	b *either(zero >= 3, D / d, D) + max(min(b, d), 0));

/* The estimate's value and the printed text are one expression. */
static void test_compiled_and_printed_agree(void **state)
{
	char text[FORMULA_MAX_TEXT];

	(void)state;
	assert_true(formula_words(states_text, text));
	assert_string_equal(text, "b * if(zero >= 3, D / d, D) + max(min(b, d), 0)");
	for (int zero = 0; zero <= 3; zero++) {
		struct formula_symbol with[] = {
			{ "b", 2 }, { "D", 7e9 }, { "d", 64 }, { "zero", zero }
		};
		double value;

		assert_true(formula_evaluate(text, with, 4, &value, NULL));
		assert_true(value == states_value(2, 7e9, 64, zero));
	}
}

/* A formatter may take b * f(x) for a pointer, and breaks lines. */
static void test_words_do_not_hang_on_formatting(void **state)
{
	char text[FORMULA_MAX_TEXT], many[2 * FORMULA_MAX_TEXT];

	(void)state;
	assert_true(formula_words("1e-9*a - 2.5e+3-1e3", text));
	assert_string_equal(text, "1e-9 * a - 2.5e+3 - 1e3");
	assert_true(formula_words("b *either(a<=-1.5 ,c\n\t , (d-a)/ 2)", text));
	assert_string_equal(text, "b * if(a <= -1.5, c, (d - a) / 2)");
	memset(many, '1', sizeof many - 1);
	many[sizeof many - 1] = '\0';
	assert_false(formula_words(many, text));
}

static void test_a_symbol_is_used_as_a_whole_word(void **state)
{
	(void)state;
	assert_true(formula_uses("b * (D / d)", "d"));
	assert_false(formula_uses("b * (Dd / d2)", "d"));
	assert_false(formula_uses("max(a, b)", "m"));
	assert_true(formula_uses("tp + dp", "dp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic_is_that_of_school),
		cmocka_unit_test(test_functions_and_comparisons),
		cmocka_unit_test(test_faults_name_the_place),
		cmocka_unit_test(test_deep_nesting_is_refused),
		cmocka_unit_test(test_any_text_ends),
		cmocka_unit_test(test_compiled_and_printed_agree),
		cmocka_unit_test(test_words_do_not_hang_on_formatting),
		cmocka_unit_test(test_a_symbol_is_used_as_a_whole_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
