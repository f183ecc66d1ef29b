/* test_fault_commands.c - every command where memory ends at any call, where nothing
 * can be opened, and where nothing can be printed: the right answer or an error, never
 * half of one. See tests/support/fault.h for what FAULTS=all tries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/commands.h"
#include "tests/support/fault.h"

/* What is tried more closely: of a sample so many places from all over, and the last
 * ones; of the others behind it fewer, for they read the same library. */
enum { CLOSELY = 14, FEW = 24, LAST = 20, FEWER = 3, LATEST = 4 };

static int fill_home(void **state)
{
	int status = fault_begin(state);

	commands_begin(fault_home);
	return status;
}

static int empty_home(void **state)
{
	commands_end();
	return fault_end(state);
}

/* The right answer, or an error: never half an answer called good, never a crash. */
static void check_command(const char *arguments, const struct ran *right,
			  const char *fault)
{
	struct ran ran = fault_run(arguments, fault);

	if (ran.status == 2) {
		if (ran.err[0] == '\0')
			fault_complain("%s, %s: no reason", arguments, fault);
	} else if ((ran.status != right->status || strcmp(ran.out, right->out) != 0) &&
		   /* a conversation goes on where it said so; of a folder of answers
		    * each that can't be read is said */
		   !strstr(ran.out, "out of memory; ") &&
		   !strstr(ran.out, "can't be read: ") &&
		   !strstr(ran.err, "can't be read: ")) {
		fault_complain("%s, %s: status %d\n%s\n%s", arguments, fault,
			       ran.status, ran.out, ran.err);
	}
	ran_free(&ran);
}

static void fail_calls(int which, const char *call, const char *onwards)
{
	const char *arguments = command[which];
	struct ran right = fault_run_noting(arguments);
	bool failed = true, closely = which < CLOSELY;
	static struct fault_ways tried[2];
	struct fault_turns turns;

	/* to read the library is the same in all of them; and what fails from a call on
	 * fails at the later times of its place anyway */
	turns = fault_turns(call, which == 0 && *onwards == '\0', closely ? FEW : FEWER,
			    closely ? LAST : LATEST);
	turns.ways = &tried[*onwards != '\0'];
	for (long n; (n = fault_next(&turns, failed)) != 0;) {
		char fault[64];

		snprintf(fault, sizeof fault, "%s:%ld%s", call, n, onwards);
		check_command(arguments, &right, fault);
		failed = fault_was_marked();
	}
	ran_free(&right);
}

/* FAULTS_PART=2/8 tries every eighth command, from the second on: all of them in one go
 * are hours with FAULTS=all. */
static bool is_asked(int which)
{
	const char *text = getenv("FAULTS_PART");
	int part = 1, parts = 1;

	if (text && (sscanf(text, "%d/%d", &part, &parts) != 2 || part < 1 ||
		     part > parts || parts > tried_count))
		fail_msg("FAULTS_PART=%s is no part of a whole", text);
	return which % parts == part - 1;
}

static void test_commands_without_memory(void **state)
{
	(void)state;
	for (int i = 0; i < tried_count; i++) {
		if (!is_asked(i))
			continue;
		fail_calls(i, "malloc", "");
		if (i < CLOSELY || fault_is_all())
			fail_calls(i, "malloc", "+");
	}
	fault_check();
}

/* The number of the last allocation that came by a new way. */
static long count_allocations(const char *arguments)
{
	FILE *places;
	long n, nth, last = 0;
	unsigned long long way;
	struct ran ran;

	ran = fault_run_noting(arguments);
	assert_int_equal(ran.status, 0);
	ran_free(&ran);
	places = fopen(fault_places(), "r");
	assert_non_null(places);
	while (fscanf(places, "%ld %ld %llx", &n, &nth, &way) == 3)
		last = n;
	fclose(places);
	return last;
}

/* Who asks for a preset by name waits for no other: all models are some hundred files.
 */
static void test_a_name_opens_one_file(void **state)
{
	long all = count_allocations("list models");

	(void)state;
	assert_true(count_allocations("show llama3-8b") < all / 10);
	assert_true(count_allocations("eval llama3-8b-8-h100") < all / 4);
}

static void test_commands_that_can_not_open(void **state)
{
	(void)state;
	for (int i = 0; i < tried_count; i++)
		if (is_asked(i))
			fail_calls(i, "open", "");
	fault_check();
}

/* Nothing can be printed: said, and never called good. */
static void test_commands_on_a_full_disk(void **state)
{
	char full[1200];

	(void)state;
	snprintf(full, sizeof full, "sh -c 'exec %s \"$@\" > /dev/full' sh",
		 fault_program);
	setenv("SHARDSCOPE", full, 1);
	for (int i = 0; i < tried_count; i++) {
		struct ran ran;

		if (!is_asked(i))
			continue;
		ran = fault_run(command[i], "none:1");

		if (ran.status != 2 || !strstr(ran.err, "the output can't be written"))
			fault_complain("%s: status %d, %s", command[i], ran.status,
				       ran.err);
		ran_free(&ran);
	}
	setenv("SHARDSCOPE", fault_program, 1);
	fault_check();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands_without_memory),
		cmocka_unit_test(test_a_name_opens_one_file),
		cmocka_unit_test(test_commands_that_can_not_open),
		cmocka_unit_test(test_commands_on_a_full_disk),
	};

#ifdef __SANITIZE_ADDRESS__
	(void)tests;
	(void)fill_home;
	(void)empty_home;
	puts("test_fault_commands: a sanitizer has an allocator of its own");
	return 0;
#else
	return cmocka_run_group_tests(tests, fill_home, empty_home);
#endif
}
