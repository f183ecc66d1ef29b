/* test_waiting.c - long work: how far it is, what it would take, and leaving it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"
#include "tui/command.h"

/* Standard error of what follows goes to a file, until said() gives it back. */
static FILE *listen_to_errors(int *kept)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	fflush(stderr);
	*kept = dup(STDERR_FILENO);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	return file;
}

static void said(FILE *file, int kept, char *out, size_t size)
{
	size_t length;

	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	length = fread(out, 1, size - 1, file);
	out[length] = '\0';
	fclose(file);
}

/* A log gets whole lines, and a share never falls. */
static void test_a_log_gets_lines(void **state)
{
	struct progress progress;
	char text[1024];
	int kept;
	FILE *file = listen_to_errors(&kept);

	(void)state;
	progress_begin(&progress);
	assert_false(progress.terminal);
	assert_false(progress_is_due(&progress));
	progress.next = 0;
	assert_true(progress_is_due(&progress));
	progress.begun -= 100;
	progress_show(&progress, 0.5, "searching");
	assert_false(progress_is_due(&progress));
	progress_show(&progress, 0.25, "searching");
	progress_again(&progress);
	progress_show(&progress, 0.1, "again");
	progress_show(&progress, -1, "front");
	progress_end(&progress);
	said(file, kept, text, sizeof text);
	assert_string_equal(text, "shardscope: 50 %, searching, about 100 s to go\n"
				  "shardscope: 50 %, searching, about 100 s to go\n"
				  "shardscope: 10 %, again\n"
				  "shardscope: front, 0 s so far\n");
}

/* The share on a bar's line, or below 0. */
static int share_on(struct vt *vt)
{
	for (int row = 0; row < vt->rows; row++) {
		const char *end = strstr(vt_row(vt, row), " %  searching");
		const char *from = end;

		while (from && from > vt_row(vt, row) && from[-1] >= '0' &&
		       from[-1] <= '9')
			from--;
		if (end)
			return atoi(from);
	}
	return -1;
}

/* Whether the line of progress stands there with an answer: it is wiped before it is
 * written anew. */
static bool has_answer(struct vt *vt)
{
	static const char before[] = "searching, best ";

	for (int row = 0; row < vt->rows; row++) {
		const char *at = strstr(vt_row(vt, row), before);

		if (at)
			return at[sizeof before - 1] >= '0' &&
			       at[sizeof before - 1] <= '9';
	}
	return false;
}

/* A search of minutes shows that it comes on, and what was found until it is left. */
static void test_an_interrupt_prints_the_best_so_far(void **state)
{
	const char *const argv[] = {
		run_program(),  "search",    "deepseek-v3-1024-h100",
		"--exhaustive", "--threads", "1",
		"--top",        "3",         NULL
	};
	const struct vt_options options = { .columns = 100, .rows = 40 };
	struct vt *vt = vt_start(&options, argv);
	int before = -1;

	(void)state;
	vt_expect(vt, "%  searching, best");
	/* on a busy machine an answer takes longer than the first sign of life, and
	 * without one there is no best so far */
	while (!has_answer(vt))
		vt_expect_output(vt);
	for (int i = 0; i < 8; i++) {
		int share = share_on(vt);

		if (share >= 0) {
			assert_true(share >= before && share < 100);
			before = share;
		}
		vt_expect_output(vt);
	}
	assert_true(before >= 0);
	kill(vt->pid, SIGINT);
	vt_expect(vt, "the best so far, without a proof");
	vt_expect(vt, "  1 ");
	vt_expect_exit(vt, 130);
	vt_close(vt);
}

/* More than a minute of rows is told first; a part of it, or --yes, is taken at once.
 */
static void test_a_sweep_tells_its_length(void **state)
{
#define GRID                                                            \
	"sweep --vary tp=1..512 --vary pp=1..256 --vary mbs=1..64 "     \
	"--vary cp=1..512 --vary zero=0..3 --vary seq=1k..256k --vary " \
	"gbs=1..65536 --vary ep=1..64 --vary vpp=1..16 --vary gpus=1..4096"
	struct ran ran = run(GRID);

	(void)state;
	assert_int_equal(ran.status, 2);
	assert_string_equal(ran.out, "");
	assert_non_null(strstr(ran.err, "29686813949952 plans take about "));
	assert_non_null(strstr(ran.err, "--yes goes on"));
	ran_free(&ran);
	run_check(GRID " --shard 1/29686813949952", 0, "tp,pp,mbs", NULL);
	/* beyond what can be counted */
	run_check(GRID " --vary zero_group=1..256 --vary tokens=1..1000000000 --vary "
		       "document_len=1..1048576 --vary precision=bf16,fp8 "
		       "--vary sp=on,off",
		  2, "", "more than 9223372036854775808 plans take about ");
	ran = run(GRID " --yes | head -n 2");
	assert_non_null(strstr(ran.out, "\n1,1,1,1,0,1024,1,1,"));
	ran_free(&ran);
#undef GRID
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_log_gets_lines),
		cmocka_unit_test(test_an_interrupt_prints_the_best_so_far),
		cmocka_unit_test(test_a_sweep_tells_its_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
