/* test_small_stack.c - the program where `ulimit -s` leaves next to nothing: as batch
 * systems and containers are set up, and as the threads of some C libraries are. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

#define SERVER \
	"--mode inference --model llama3.1-8b --cluster dgx-h100 --gpus 8 --stack vllm"

/* 192 KiB are less than an estimate of an interleaved pipeline works in, and half of
 * what the tail of a server does. */
static const int kib = 192;

static void check(const char *arguments)
{
	char line[512];
	int status;

	snprintf(line, sizeof line, "ulimit -s %d && exec %s %s > /dev/null 2>&1", kib,
		 run_program(), arguments);
	status = system(line);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s: status %d", arguments, status);
}

static void test_commands(void **state)
{
	static const char *const commands[] = {
		"eval llama3-8b-8-h100",
		"eval deepseek-v3-2048-h800 --json",
		"explain step_seconds megatron-1t-3072-a100",
		"check llama3-8b-8-h100",
		"compare llama3-8b-8-h100 tp=1",
		"sweep llama3-8b-8-h100 --vary tp=1,2",
		"search llama3-8b-8-h100 --threads 1",
		"search llama3-8b-8-h100 --threads 3",
		"export trace megatron-1t-3072-a100",
		"screen timeline megatron-1t-3072-a100",
		"screen search llama3-8b-8-h100",
		"eval " SERVER,
		"eval " SERVER " --simulate",
		"import megatron tests/fuzz/seeds/megatron/args.yaml",
	};

	(void)state;
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		check(commands[i]);
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
		cmocka_unit_test(test_the_status_is_the_commands),
		cmocka_unit_test(test_the_explorer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
