/* test_stopped.c - a terminal that is stopped (Ctrl-S) before any one of the program's
 * writes keeps no signal from ending it: not the writes of ncurses either, which open
 * the screen, switch the mouse and close the screen. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/demo.h"
#include "tests/support/vt.h"

/* The opening, a frame, a switch of the mouse, another frame and the end take fewer. */
enum { WRITES = 60, PATIENCE_MS = 20000 };

static char library[600], self[500];

/* Stopped before its n-th write, and whether it came to that many. */
static struct vt *begin(int n, char *mark, size_t size)
{
	static char preload[640], fault[64], marked[160];
	const char *const argv[] = { self, "--demo", NULL };

	snprintf(mark, size, "/tmp/shardscope-stopped-%d-%d", (int)getpid(), n);
	snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library);
	snprintf(fault, sizeof fault, "FAULT=stop:%d", n);
	snprintf(marked, sizeof marked, "FAULT_MARK=%s", mark);
	unlink(mark);
	return vt_start(&(struct vt_options){ .env = { preload, fault, marked } },
			argv);
}

static bool has_ended(struct vt *vt)
{
	return waitpid(vt->pid, &vt->status, WNOHANG) == vt->pid;
}

/* It is asked to end again and again: the first time may be what it ends by. */
static void end_by_signals(struct vt *vt, int n, int signal)
{
	int left = PATIENCE_MS;

	while (!has_ended(vt)) {
		if (left-- == 0)
			fail_msg("stopped before write %d, it does not end", n);
		kill(vt->pid, signal);
		poll(NULL, 0, 1);
	}
	vt->pid = -1;
	if (!WIFEXITED(vt->status) || WEXITSTATUS(vt->status) != 128 + signal)
		fail_msg("stopped before write %d: wait status %#x", n,
			 (unsigned)vt->status);
}

/* Opens, and switches the mouse off and on, unless it was stopped before. */
static void let_it_write(struct vt *vt, const char *mark)
{
	static const char *const keys[] = { "", "m", "m" };

	for (size_t i = 0; i < 3 && access(mark, F_OK) != 0; i++)
		vt_type_unread(vt, keys[i]);
}

static void test_no_write_keeps_a_signal(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	bool stopped = true;
	char mark[120];
	int n;

	(void)state;
	for (n = 1; n < WRITES && stopped; n++) {
		struct vt *vt = begin(n, mark, sizeof mark);

		let_it_write(vt, mark);
		end_by_signals(vt, n, signals[n % 3]);
		stopped = access(mark, F_OK) == 0;
		unlink(mark);
		assert_true(vt_line_is_sane(vt));
		vt_close(vt);
	}
	/* some were of ncurses, some of frames; and there is an end to them */
	assert_in_range(n, 8, WRITES - 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_write_keeps_a_signal),
	};
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (argc > 1 && strcmp(argv[1], "--demo") == 0)
		return demo_main(argc, argv);
	assert_true(length > 0);
	snprintf(library, sizeof library, "%.*s/../fault.so",
		 (int)(strrchr(self, '/') - self), self);
#ifdef __SANITIZE_ADDRESS__
	puts("test_stopped: a sanitizer has a write() of its own");
	return tests[0].test_func == NULL;
#else
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
