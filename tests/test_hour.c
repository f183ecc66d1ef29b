/* test_hour.c - an hour at the keyboard: 36,000 keys, ten a second, in one explorer.
 * Nothing breaks, and memory that was taken is given back. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/close.h"
#include "tests/support/lean.h"
#include "tests/support/run.h"

/* Undo has no end: a turn that is remembered takes some hundred bytes. */
enum { KEYS = 36000, WARM = 6000, MOST_GROWTH = 3 << 20 };

#if defined(__SANITIZE_ADDRESS__)
static const bool is_measured = false; /* its allocator keeps no such account */
#else
static const bool is_measured = true;
#endif

static void test_an_hour_of_keys(void **state)
{
	struct stage s;
	size_t warm, after;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	lean_on_keys(&s, 1, WARM);
	warm = mallinfo2().uordblks;
	for (int i = 0; i < (KEYS - WARM) / 1000; i++) {
		/* back to a plan, wherever the keys have led */
		stage_act(&s, (struct action){ .kind = ACTION_ESCAPE });
		stage_act(&s, (struct action){ .kind = ACTION_ESCAPE });
		lean_on_keys(&s, 100 + (uint64_t)i, 1000);
	}
	after = mallinfo2().uordblks;
	if (is_measured && after > warm + MOST_GROWTH)
		fail_msg("%zu bytes more are in use after %d keys", after - warm, KEYS);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_hour_of_keys),
	};

	setenv("HOME", NO_HOME, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
