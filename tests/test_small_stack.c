/* test_small_stack.c - the program where `ulimit -s` leaves next to nothing: as batch
 * systems and containers are set up, and as the threads of some C libraries are. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/support/close.h"
#include "tests/support/commands.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

#define SERVER \
	"--mode inference --model llama3.1-8b --cluster dgx-h100 --gpus 8 --stack vllm"

/* 192 KiB are less than an estimate of an interleaved pipeline works in, and half of
 * what the tail of a server does. */
static const int kib = 192;

static char folder[] = "/tmp/shardscope-stack-XXXXXX";

static int begin(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	commands_begin(folder);
	return 0;
}

static int end(void **state)
{
	char line[64];

	(void)state;
	commands_end();
	snprintf(line, sizeof line, "rm -rf %s", folder);
	return system(line);
}

/* The status is that of where there is room, and so is what is said. */
static void check(const char *arguments, bool said)
{
	char usual[700], small[800];
	struct ran wanted = run(arguments), ran;

	snprintf(usual, sizeof usual, "%s", run_program());
	snprintf(small, sizeof small, "sh -c 'ulimit -s %d && exec %s \"$@\"' sh", kib,
		 usual);
	setenv("SHARDSCOPE", small, 1);
	ran = run(arguments);
	setenv("SHARDSCOPE", usual, 1);
	ran_cut_clock(&wanted);
	ran_cut_clock(&ran);
	if (ran.status != wanted.status || (said && strcmp(ran.out, wanted.out) != 0))
		fail_msg("%s: status %d, not %d\n%s", arguments, ran.status,
			 wanted.status, ran.err);
	ran_free(&ran);
	ran_free(&wanted);
}

static void test_commands(void **state)
{
	static const char *const larger[] = {
		"eval deepseek-v3-2048-h800 --json",
		"explain step_seconds megatron-1t-3072-a100",
		"export trace megatron-1t-3072-a100 --micro-batches 8",
		"screen timeline megatron-1t-3072-a100",
		"validate",
		"eval " SERVER,
		"eval " SERVER " --simulate",
		"search deepseek-v3-2048-h800 --threads 1 --robust --json",
	};

	(void)state;
	for (int i = 0; i < tried_count; i++)
		check(command[i], true);
	for (size_t i = 0; i < sizeof larger / sizeof larger[0]; i++)
		check(larger[i], true);
	/* threads leave other plans for the same reasons each time */
	check("search llama3-8b-8-h100 --threads 3", false);
}

/* A step more is known of the machine the second time: what is said differs. */
static void test_calibrations(void **state)
{
	char usual[512], at_home[700];

	(void)state;
	snprintf(usual, sizeof usual, "%s", run_program());
	snprintf(at_home, sizeof at_home, "env XDG_CONFIG_HOME=%s %s", folder, usual);
	setenv("SHARDSCOPE", at_home, 1);
	check("calibrate deepseek-v3-2048-h800 --measured-step 16", false);
	check("calibrate llama3-405b-16k-h100 --measured-step 6", false);
	check("eval deepseek-v3-2048-h800", true);
	setenv("SHARDSCOPE", usual, 1);
}

/* What is told to be wrong is told as ever: the status comes through. */
static void test_the_status_is_the_commands(void **state)
{
	char line[512];
	int status;

	(void)state;
	snprintf(line, sizeof line,
		 "ulimit -s %d && exec %s eval nothing > /dev/null 2>&1", kib,
		 run_program());
	status = system(line);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

/* Every view of the explorer; a signal ends it, no thread that only waits
 * takes it away, and the terminal is as it was. */
static void test_the_explorer(void **state)
{
	char line[256];
	const char *const argv[] = { "/bin/sh", "-c", line, NULL };
	struct vt *vt;

	(void)state;
	snprintf(line, sizeof line, "ulimit -s %d && exec %s megatron-1t-3072-a100",
		 kib, run_program());
	vt = vt_start(&(struct vt_options){ .columns = 120, .rows = 36 }, argv);
	vt_expect(vt, "Overview");
	for (const char *view = "234567"; *view; view++) {
		vt_type(vt, (const char[]){ *view, '\0' });
		vt_type(vt, "\033[C");
	}
	vt_type(vt, "1");
	vt_expect(vt, "MFU");
	kill(vt->pid, SIGTERM);
	vt_expect_exit(vt, 128 + SIGTERM);
	assert_false(vt->alternate);
	vt_close(vt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_calibrations),
		cmocka_unit_test(test_the_status_is_the_commands),
		cmocka_unit_test(test_the_explorer),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
