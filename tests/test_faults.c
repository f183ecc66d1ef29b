/* test_faults.c - when memory, a disk or a folder fails: every call of the main paths
 * once, and from there on. FAULTS=all tries each allocation, else a sample of them.
 *
 * tests/faults/fault.c is loaded into the program and lets the chosen call fail.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

static char home[] = "/tmp/shardscope-faults-XXXXXX";
static char program[1024], mark[128]; /* with the library loaded */

static const char *const commands[] = {
	"eval llama3-8b-8-h100",
	"eval llama3-8b-8-h100 --json",
	"eval --model qwen3-30b-a3b --cluster dgx-h100 --gpus 16 --mode inference",
	"check deepseek-v3-2048-h800",
	"search llama3-8b-8-h100 --threads 1 --top 2 --json",
	"sweep llama3-8b-8-h100 --vary tp=1,2",
	"explain step_seconds llama3-8b-8-h100",
	"list models",
	"show llama3-8b-8-h100",
	"export megatron llama3-8b-8-h100",
	"export trace llama3-8b-8-h100",
	"screen overview llama3-8b-8-h100",
	"import megatron tests/fuzz/seeds/megatron/args.yaml",
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static bool was_marked(void)
{
	return unlink(mark) == 0;
}

/* The next call to fail: each of a few, then fewer and fewer. */
static int after(int n)
{
	const char *all = getenv("FAULTS");

	return all && strcmp(all, "all") == 0 ? n + 1 : n + 1 + n / 3;
}

static struct ran run_faulty(const char *arguments, const char *fault)
{
	struct ran ran;
	char *clock;

	setenv("FAULT", fault, 1);
	ran = run(arguments);
	unsetenv("FAULT");
	/* the only number that differs between two runs: how long a search took */
	clock = strstr(ran.out, "\"proof\"");
	if (clock)
		*clock = '\0';
	return ran;
}

/* The right answer, or an error: never half an answer called good, never a crash. */
static void check_command(const char *arguments, const struct ran *right,
			  const char *fault)
{
	struct ran ran = run_faulty(arguments, fault);

	if (ran.status == 2) {
		if (ran.err[0] == '\0' && !strstr(fault, "malloc"))
			fail_msg("%s, %s: no reason", arguments, fault);
	} else if (ran.status != right->status ||
		   /* a list goes on behind a row that says why it is empty; a cluster
		    * that could not be compared with the library's is written whole */
		   (strcmp(ran.out, right->out) != 0 &&
		    !strstr(ran.out, "\ncluster: {name: \"dgx-h100\"") &&
		    !strstr(ran.out, ": out of memory"))) {
		fail_msg("%s, %s: status %d\n%s\n%s", arguments, fault, ran.status,
			 ran.out, ran.err);
	}
	ran_free(&ran);
}

static void fail_calls(const char *arguments, const char *call, const char *onwards)
{
	struct ran right = run_faulty(arguments, "none:1");
	bool failed = true;

	for (int n = 1; failed; n = after(n)) {
		char fault[64];

		snprintf(fault, sizeof fault, "%s:%d%s", call, n, onwards);
		check_command(arguments, &right, fault);
		failed = was_marked();
	}
	ran_free(&right);
}

static void test_commands_without_memory(void **state)
{
	(void)state;
	for (int i = 0; i < COMMANDS; i++) {
		fail_calls(commands[i], "malloc", "");
		fail_calls(commands[i], "malloc", "+");
	}
}

static void test_commands_that_can_not_open(void **state)
{
	(void)state;
	for (int i = 0; i < COMMANDS; i++)
		fail_calls(commands[i], "open", "");
}

/* --- the explorer, which saves what a person has turned --- */

static char *read_file(const char *path)
{
	char *text = calloc(1, 1 << 16);
	FILE *file = fopen(path, "r");

	assert_non_null(text);
	if (file) {
		assert_true(fread(text, 1, (1 << 16) - 1, file) < (1 << 16) - 1);
		fclose(file);
	}
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Opens the explorer, types and leaves; whatever fails, it ends by itself. */
static void type_and_quit(const char *keys, const char *fault)
{
	static char command[1100], config[160], state[160], setting[64], marked[160];
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	const struct vt_options options = { .env = { config, state, setting, marked } };
	struct vt *vt;

	snprintf(command, sizeof command, "exec %s", program);
	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	snprintf(setting, sizeof setting, "FAULT=%s", fault);
	snprintf(marked, sizeof marked, "FAULT_MARK=%s", mark);
	vt = vt_start(&options, argv);
	if (vt_await(vt, "MEMORY")) {
		vt_type(vt, keys);
		vt_type(vt, "q");
	}
	if (!WIFEXITED(vt_status(vt)))
		fail_msg("%s: wait status %#x", fault, (unsigned)vt->status);
	vt_close(vt);
}

static void name_session(const char *suffix, char out[192])
{
	snprintf(out, 192, "%s/state/shardscope/workspace.yaml%s", home, suffix);
}

/* Files beside the session that no one will read again. */
static void check_no_leftover(const char *fault)
{
	char path[192];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof path, "%s/state/shardscope", home);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		if (strncmp(entry->d_name, "workspace.yaml.", 15) == 0)
			fail_msg("%s left %s", fault, entry->d_name);
	closedir(folder);
}

/* Where memory ran out while it was read, the old one was moved aside. */
static bool is_kept_aside(const char *before)
{
	char path[192], *text;
	bool same;

	name_session(".damaged", path);
	text = read_file(path);
	same = strcmp(text, before) == 0;
	free(text);
	return same && unlink(path) == 0;
}

/* The session is the old one or the new one, whole, and nothing lies beside it. */
static void save_with(const char *call, const char *onwards, const char *before,
		      const char *turned)
{
	char path[192];
	bool failed = true;

	name_session("", path);
	for (int n = 1; failed; n = after(n)) {
		char fault[64], *now;
		bool aside;

		write_file(path, before);
		snprintf(fault, sizeof fault, "%s:%d%s", call, n, onwards);
		type_and_quit("=6\r", fault);
		failed = was_marked();
		now = read_file(path);
		aside = strcmp(call, "malloc") == 0 && is_kept_aside(before);
		if (!aside && strcmp(now, before) != 0 && strcmp(now, turned) != 0)
			fail_msg("%s left\n%s", fault, now);
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
	before = read_file(path);
	type_and_quit("=6\r", "none:1");
	turned = read_file(path);
	assert_string_not_equal(before, turned);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		save_with(calls[i], "", before, turned);
		save_with(calls[i], "+", before, turned);
	}
	save_with("malloc", "", before, turned);
	save_with("malloc", "+", before, turned);
	free(before);
	free(turned);
}

static int find_library(void **state)
{
	char self[400];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	(void)state;
	assert_true(length > 0);
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	assert_non_null(mkdtemp(home));
	snprintf(mark, sizeof mark, "%s/failed", home);
	snprintf(program, sizeof program, "env LD_PRELOAD=%s/../fault.so %s", self,
		 run_program());
	setenv("SHARDSCOPE", program, 1);
	setenv("FAULT_MARK", mark, 1);
	return 0;
}

static int remove_home(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", home);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands_without_memory),
		cmocka_unit_test(test_commands_that_can_not_open),
		cmocka_unit_test(test_a_session_is_saved_whole_or_not),
	};

#ifdef __SANITIZE_ADDRESS__
	(void)tests;
	(void)remove_home;
	(void)find_library;
	puts("test_faults: a sanitizer has an allocator of its own");
	return 0;
#else
	return cmocka_run_group_tests(tests, find_library, remove_home);
#endif
}
