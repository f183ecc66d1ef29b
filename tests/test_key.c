/* test_key.c - the one table of keys: no key twice, the promised ones bound, text
 * entry apart. */
#include "tests/support/close.h"

#include <string.h>

#include "tui/action.h"

static void test_no_key_is_bound_twice(void **state)
{
	(void)state;
	for (int i = 0; i < key_count(); i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(key_table[i].key, key_table[j].key);
}

static void test_every_row_is_named_and_every_action_is_helped(void **state)
{
	(void)state;
	for (int i = 0; i < key_count(); i++) {
		/* "1-9" stands for all digits. */
		bool helped = key_table[i].action == ACTION_VIEW;
		assert_non_null(key_table[i].name);
		for (int j = 0; j < key_count(); j++)
			helped = helped ||
				 (key_table[j].help != NULL &&
				  strstr(key_table[j].name, key_table[i].name));
		if (!helped)
			fail_msg("key %s is in no line of the help", key_table[i].name);
	}
}

static void test_promised_keys(void **state)
{
	static const struct {
		int key;
		enum action_kind kind;
		int argument;
	} t[] = {
		{ 'h', ACTION_LEFT, 0 },
		{ 'j', ACTION_DOWN, 0 },
		{ 'k', ACTION_UP, 0 },
		{ 'l', ACTION_RIGHT, 0 },
		{ 'g', ACTION_HOME, 0 },
		{ 'G', ACTION_END, 0 },
		{ '/', ACTION_FILTER, 0 },
		{ 'n', ACTION_NEXT_MATCH, 0 },
		{ 'N', ACTION_PREVIOUS_MATCH, 0 },
		{ 4, ACTION_PAGE_DOWN, 0 },
		{ 21, ACTION_PAGE_UP, 0 },
		{ 18, ACTION_REDO, 0 },
		{ 'u', ACTION_UNDO, 0 },
		{ 'U', ACTION_REDO, 0 },
		{ '\t', ACTION_NEXT_PANE, 0 },
		{ KEYS_BACKTAB, ACTION_PREVIOUS_PANE, 0 },
		{ '1', ACTION_VIEW, 0 },
		{ '9', ACTION_VIEW, 8 },
		{ '=', ACTION_EDIT, 0 },
		{ '\n', ACTION_ENTER, 0 },
		{ 'w', ACTION_WRITE, 0 },
		{ 'o', ACTION_OPEN, 0 },
		{ 'e', ACTION_EXPORT, 0 },
		{ 'p', ACTION_PIN, 0 },
		{ 's', ACTION_SEARCH, 0 },
		{ ' ', ACTION_FOLD, 0 },
		{ '?', ACTION_HELP, 0 },
		{ 'q', ACTION_QUIT, 0 },
		{ 27, ACTION_ESCAPE, 0 },
		{ 12, ACTION_REDRAW, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct action action = key_action(t[i].key, false);
		assert_int_equal(action.kind, t[i].kind);
		assert_int_equal(action.argument, t[i].argument);
	}
	assert_int_equal(key_action('Z', false).kind, ACTION_NONE);
	assert_int_equal(key_action(-5, false).kind, ACTION_NONE);
}

/* No function is reachable by a function key only. */
static void test_function_keys_are_never_alone(void **state)
{
	(void)state;
	for (int i = 0; i < key_count(); i++) {
		bool other = key_table[i].key < KEYS_F1;
		for (int j = 0; j < key_count(); j++)
			other = other || (key_table[j].action == key_table[i].action &&
					  key_table[j].key < KEYS_F1);
		assert_true(other);
	}
}

static void test_text_entry_takes_every_character(void **state)
{
	(void)state;
	for (int key = ' '; key < 0x3000; key++) {
		struct action action = key_action(key, true);
		if (key == 0x7f)
			continue;
		assert_int_equal(action.kind, ACTION_TEXT);
		assert_int_equal(action.argument, key);
	}
	assert_int_equal(key_action('\n', true).kind, ACTION_ENTER);
	assert_int_equal(key_action(27, true).kind, ACTION_ESCAPE);
	assert_int_equal(key_action(KEYS_BACKSPACE, true).kind, ACTION_BACKSPACE);
	assert_int_equal(key_action(KEYS_F1, true).kind, ACTION_HELP);
	for (int key = 1; key < ' '; key++)
		assert_int_not_equal(key_action(key, true).kind, ACTION_QUIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_key_is_bound_twice),
		cmocka_unit_test(test_every_row_is_named_and_every_action_is_helped),
		cmocka_unit_test(test_promised_keys),
		cmocka_unit_test(test_function_keys_are_never_alone),
		cmocka_unit_test(test_text_entry_takes_every_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
