/* test_faults.c - what is written to files where memory, a disk or a folder fails:
 * every call of it once, and from there on. See tests/support/fault.h for what
 * FAULTS=all tries.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/fault.h"
#include "tests/support/vt.h"

/* of a sample: so many places from all over, and the last ones, where the program saves
 */
enum { FEW = 24, LAST = 20 };

/* --- commands that write a file --- */

static void check_alone(const char *folder, const char *name, const char *fault);

static const struct {
	const char *arguments, *file; /* the file is named last, or by the program */
	bool named;
} writers[] = {
	{ "search llama3-8b-8-h100 --threads 1 --top 2 --certificate", "out", true },
	{ "challenge small-bubble --pp 8 --by me --answer", "out", true },
	{ "calibrate llama3-8b-8-h100 --measured-step 10", "dgx-h100.runs", false },
};
enum { WRITERS = sizeof writers / sizeof *writers };

static struct ran write_one(int writer, const char *path, const char *fault)
{
	char arguments[512];

	snprintf(arguments, sizeof arguments, "%s %s", writers[writer].arguments,
		 writers[writer].named ? path : "");
	return fault_run(arguments, fault);
}

/* The file is there whole and the command says so, or it says why not and there is
 * none; nothing lies beside it. */
static void write_with(int writer, const char *folder, const char *right,
		       const char *fault)
{
	char path[256], *text;
	struct ran ran;

	snprintf(path, sizeof path, "%s/%s", folder, writers[writer].file);
	unlink(path);
	ran = write_one(writer, path, fault);
	text = fault_read(path);
	if (text[0] != '\0' && strcmp(text, right) != 0)
		fault_complain("%s, %s: half of it is written",
			       writers[writer].arguments, fault);
	if (ran.status != 2 && text[0] == '\0')
		fault_complain("%s, %s: status %d, and nothing is written",
			       writers[writer].arguments, fault, ran.status);
	if (ran.status == 2 && ran.err[0] == '\0')
		fault_complain("%s, %s: no reason", writers[writer].arguments, fault);
	check_alone(folder, writers[writer].file, fault);
	ran_free(&ran);
	free(text);
}

static void fail_writes(int writer, const char *folder, const char *right,
			const char *call, const char *onwards)
{
	struct fault_turns turns = fault_turns(call, false, FEW, LAST);
	bool failed = true;

	for (long n; (n = fault_next(&turns, failed)) != 0;) {
		char fault[64];

		snprintf(fault, sizeof fault, "%s:%ld%s", call, n, onwards);
		write_with(writer, folder, right, fault);
		failed = fault_was_marked();
	}
}

static void test_files_are_written_whole_or_not(void **state)
{
	static const char *const calls[] = { "write", "fsync",   "rename", "close",
					     "open",  "mkstemp", "mkdir" };
	char folder[2][128], at_home[1200];

	(void)state;
	snprintf(folder[0], sizeof folder[0], "%s/files", fault_home);
	snprintf(folder[1], sizeof folder[1], "%s/files/shardscope/clusters",
		 fault_home);
	assert_int_equal(mkdir(folder[0], 0700), 0);
	snprintf(at_home, sizeof at_home, "env XDG_CONFIG_HOME=%s %s", folder[0],
		 fault_program);
	setenv("SHARDSCOPE", at_home, 1);
	for (int i = 0; i < WRITERS; i++) {
		const char *where = folder[i == WRITERS - 1];
		char path[256], *right;
		struct ran ran;

		snprintf(path, sizeof path, "%s/%s", where, writers[i].file);
		ran = write_one(i, path, "none:1");
		ran_free(&ran);
		right = fault_read(path);
		assert_true(right[0] != '\0');
		for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
			fail_writes(i, where, right, calls[c], "");
			fail_writes(i, where, right, calls[c], "+");
		}
		free(right);
	}
	setenv("SHARDSCOPE", fault_program, 1);
	fault_check();
}

/* A folder of traces: what the command calls good is all there. */
static void test_traces_are_written_whole_or_not(void **state)
{
	enum { ROOM = 1 << 20 };
	char folder[128], path[192], arguments[256], *right;
	struct fault_turns turns;
	struct ran ran;

	(void)state;
	snprintf(folder, sizeof folder, "%s/traces", fault_home);
	snprintf(path, sizeof path, "%s/llama3.1-70b.0.et", folder);
	snprintf(arguments, sizeof arguments,
		 "export chakra %s llama3-70b-64-h100 --tp 8 --pp 2 --gbs 16", folder);
	ran = fault_run_noting(arguments);
	assert_int_equal(ran.status, 0);
	ran_free(&ran);
	right = fault_read(path);
	assert_true(right[0] != '\0');
	turns = fault_turns("malloc", false, FEW, LAST);
	for (long n; (n = fault_next(&turns, true)) != 0;) {
		char fault[64], *now;

		unlink(path);
		snprintf(fault, sizeof fault, "malloc:%ld", n);
		ran = fault_run(arguments, fault);
		now = fault_read(path);
		if (ran.status == 0 && memcmp(now, right, ROOM) != 0)
			fault_complain("%s: a trace that is not whole", fault);
		if (ran.status != 0 && (ran.status != 2 || ran.err[0] == '\0'))
			fault_complain("%s: status %d, %s", fault, ran.status, ran.err);
		ran_free(&ran);
		free(now);
	}
	free(right);
	fault_check();
}

/* Opens the explorer, types and leaves; whatever fails, it ends by itself. */
static void type_and_quit(const char *keys, const char *fault)
{
	static char command[1100], config[160], state[160], setting[64], marked[160];
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	const struct vt_options options = { .env = { config, state, setting, marked } };
	struct vt *vt;

	snprintf(command, sizeof command, "exec %s", fault_program);
	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", fault_home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", fault_home);
	snprintf(setting, sizeof setting, "FAULT=%s", fault);
	snprintf(marked, sizeof marked, "FAULT_MARK=%s", fault_mark);
	vt = vt_start(&options, argv);
	if (vt_await(vt, "Overview")) {
		vt_type(vt, keys);
		vt_type(vt, "q");
	}
	if (!WIFEXITED(vt_status(vt)))
		fault_complain("%s: wait status %#x", fault, (unsigned)vt->status);
	vt_close(vt);
}

static void name_session(const char *suffix, char out[192])
{
	snprintf(out, 192, "%s/state/shardscope/workspace.yaml%s", fault_home, suffix);
}

/* No file lies beside this one that no one will read again. */
static void check_alone(const char *folder, const char *name, const char *fault)
{
	size_t length = strlen(name);
	struct dirent *entry;
	DIR *list = opendir(folder);

	assert_non_null(list);
	while ((entry = readdir(list)))
		if (strncmp(entry->d_name, name, length) == 0 &&
		    entry->d_name[length] == '.')
			fault_complain("%s left %s", fault, entry->d_name);
	closedir(list);
}

static void check_no_leftover(const char *fault)
{
	char path[192];

	snprintf(path, sizeof path, "%s/state/shardscope", fault_home);
	check_alone(path, "workspace.yaml", fault);
}

/* Where memory ran out while it was read, the old one was moved aside. */
static bool is_kept_aside(const char *before)
{
	char path[192], *text;
	bool same;

	name_session(".damaged", path);
	text = fault_read(path);
	same = strcmp(text, before) == 0;
	free(text);
	return same && unlink(path) == 0;
}

/* The new session; one in which what could not be compared with the library's is
 * written whole becomes it when it is opened and saved again. */
static bool is_saved(const char *now, const char *turned)
{
	char path[192], *again;
	bool same = strcmp(now, turned) == 0;

	if (same)
		return true;
	type_and_quit("=2\r=6\r", "none:1");
	name_session("", path);
	again = fault_read(path);
	same = strcmp(again, turned) == 0;
	free(again);
	return same;
}

/* The session is the old one or the new one, whole, and nothing lies beside it. */
static void save_with(const char *call, const char *onwards, const char *before,
		      const char *turned)
{
	struct fault_turns turns = fault_turns(call, false, FEW, LAST);
	char path[192];
	bool failed = true;

	name_session("", path);
	for (long n; (n = fault_next(&turns, failed)) != 0;) {
		char fault[64], *now;
		bool aside;

		fault_write(path, before);
		snprintf(fault, sizeof fault, "%s:%ld%s", call, n, onwards);
		type_and_quit("=6\r", fault);
		failed = fault_was_marked();
		now = fault_read(path);
		aside = strcmp(call, "malloc") == 0 && is_kept_aside(before);
		if (!aside && strcmp(now, before) != 0 && !is_saved(now, turned))
			fault_complain("%s left\n%s", fault, now);
		check_no_leftover(fault);
		free(now);
	}
}

static void test_a_session_is_saved_whole_or_not(void **state)
{
	static const char *const calls[] = { "write", "fsync",   "rename", "close",
					     "open",  "mkstemp", "mkdir" };
	char path[192], *before, *turned;

	(void)state;
	type_and_quit("=2\r", "none:1");
	name_session("", path);
	before = fault_read(path);
	type_and_quit("=6\r", "none:1");
	turned = fault_read(path);
	assert_string_not_equal(before, turned);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		save_with(calls[i], "", before, turned);
		save_with(calls[i], "+", before, turned);
	}
	fault_write(path, before);
	setenv("FAULT_PLACES", fault_places(), 1);
	type_and_quit("=6\r", "malloc:0");
	unsetenv("FAULT_PLACES");
	save_with("malloc", "", before, turned);
	save_with("malloc", "+", before, turned);
	free(before);
	free(turned);
	fault_check();
}

/* A home where nobody can make anything, root neither: it is said while one works and
 * when one leaves, and all else goes on. */
static void test_a_home_that_takes_nothing(void **state)
{
	static const char *const homes[] = { "/sys", "/proc", "/dev/null/home" };
	static char setting[96], path[96];

	(void)state;
	for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
		const char *const argv[] = { "/bin/sh", "-c", "exec $SHARDSCOPE",
					     NULL };
		const struct vt_options options = {
			.columns = 120, .env = { setting, path, "FAULT=none:1" }
		};
		struct vt *vt;

		snprintf(setting, sizeof setting, "XDG_STATE_HOME=%s", homes[i]);
		snprintf(path, sizeof path, "XDG_CONFIG_HOME=%s", homes[i]);
		vt = vt_start(&options, argv);
		vt_expect(vt, "MEMORY");
		vt_type(vt, "=2\r");
		vt_expect(vt, "the workspace could not be saved: ");
		vt_type(vt, "w\025");
		vt_type(vt, homes[i]);
		vt_type(vt, "/a.yaml\r");
		vt_expect(vt, "can't save here");
		vt_type(vt, "\033");
		vt_expect_asleep(vt);
		vt_type(vt, "q");
		vt_expect_exit(vt, 0);
		vt_expect(vt, "the workspace could not be saved: ");
		vt_close(vt);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_are_written_whole_or_not),
		cmocka_unit_test(test_traces_are_written_whole_or_not),
		cmocka_unit_test(test_a_home_that_takes_nothing),
		cmocka_unit_test(test_a_session_is_saved_whole_or_not),
	};

#ifdef __SANITIZE_ADDRESS__
	(void)tests;
	puts("test_faults: a sanitizer has an allocator of its own");
	return 0;
#else
	return cmocka_run_group_tests(tests, fault_begin, fault_end);
#endif
}
