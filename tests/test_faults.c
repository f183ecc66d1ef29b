/* test_faults.c - when memory, a disk or a folder fails: every call of the main paths
 * once, and from there on.
 *
 * tests/faults/fault.c is loaded into the program and lets the chosen call fail. Of
 * allocations, of which a command makes thousands in the same few hundred
 * places while the library is read, FAULTS=all tries each place: each way by which
 * callers come to one, its first time and, in one command, later ones fewer and fewer.
 * Else a sample of the places is tried.
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

static char *read_file(const char *path);
static void write_file(const char *path, const char *text);

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

/* --- which calls fail --- */

/* of a sample: so many places from all over, and the last ones, where a command prints
 * and saves */
enum { FEW = 24, LAST = 20 };

/* The calls that fail one after the other: those of a list, or as many as there are. */
struct turns {
	bool later;   /* the later times of a place, too */
	FILE *places; /* of malloc; NULL: counted up */
	long n, stride, ending;
};

static bool is_all(void)
{
	const char *all = getenv("FAULTS");

	return all && strcmp(all, "all") == 0;
}

/* What malloc writes its places to, as fault.c says. */
static const char *places_of_malloc(void)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/places", home);
	return path;
}

static struct turns begin_turns(const char *call, bool later)
{
	struct turns turns = { .later = later && is_all(), .stride = 1 };
	long places = 0, n, nth;

	if (strcmp(call, "malloc") != 0)
		return turns;
	turns.places = fopen(places_of_malloc(), "r");
	assert_non_null(turns.places);
	while (fscanf(turns.places, "%ld %ld", &n, &nth) == 2)
		places += nth == 1;
	assert_true(places > FEW);
	rewind(turns.places);
	if (!is_all())
		turns.stride = places / FEW;
	turns.ending = places - LAST;
	return turns;
}

/* The number of the next call to fail; 0: all had their turn. `failed`: the last one
 * was made at all. Of places the sample takes the first times alone. */
static long next_turn(struct turns *turns, bool failed)
{
	long place, nth;

	if (!turns->places)
		return failed ? ++turns->n : 0;
	while (fscanf(turns->places, "%ld %ld", &place, &nth) == 2) {
		long n = turns->n;

		turns->n += nth == 1;
		if (nth == 1 ? n % turns->stride == 0 || n >= turns->ending
			     : turns->later)
			return place;
	}
	fclose(turns->places);
	return 0;
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

/* The scenario that a command printed, as the program reads and writes it. */
static struct ran read_back(const char *scenario)
{
	char path[128], arguments[160];

	snprintf(path, sizeof path, "%s/again.yaml", home);
	write_file(path, scenario);
	snprintf(arguments, sizeof arguments, "export yaml %s", path);
	return run_faulty(arguments, "none:1");
}

/* What could not be compared with the library's is written whole, which is the same. */
static bool is_same_scenario(const char *out, const char *right)
{
	struct ran ours = { 0 }, theirs = { 0 };
	bool same;

	if (!strstr(out, ": {name: \""))
		return false;
	theirs = read_back(out);
	ours = read_back(right);
	same = ours.status == 0 && theirs.status == 0 &&
	       strcmp(ours.out, theirs.out) == 0;
	ran_free(&ours);
	ran_free(&theirs);
	return same;
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
		   /* a list goes on behind a row that says why it is empty */
		   (strcmp(ran.out, right->out) != 0 &&
		    !strstr(ran.out, ": out of memory") &&
		    !is_same_scenario(ran.out, right->out))) {
		fail_msg("%s, %s: status %d\n%s\n%s", arguments, fault, ran.status,
			 ran.out, ran.err);
	}
	ran_free(&ran);
}

static void fail_calls(const char *arguments, const char *call, const char *onwards)
{
	struct ran right;
	struct turns turns;
	bool failed = true;

	setenv("FAULT_PLACES", places_of_malloc(), 1);
	right = run_faulty(arguments, "malloc:0");
	unsetenv("FAULT_PLACES");
	/* to read the library is the same in all of them; and what fails from a call on
	 * fails at the later times of its place anyway */
	turns = begin_turns(call, arguments == commands[0] && *onwards == '\0');
	for (long n; (n = next_turn(&turns, failed)) != 0;) {
		char fault[64];

		snprintf(fault, sizeof fault, "%s:%ld%s", call, n, onwards);
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

/* The number of the last allocation that came by a new way. */
static long count_allocations(const char *arguments)
{
	FILE *places;
	long n, nth, last = 0;
	struct ran ran;

	setenv("FAULT_PLACES", places_of_malloc(), 1);
	ran = run_faulty(arguments, "malloc:0");
	unsetenv("FAULT_PLACES");
	assert_int_equal(ran.status, 0);
	ran_free(&ran);
	places = fopen(places_of_malloc(), "r");
	assert_non_null(places);
	while (fscanf(places, "%ld %ld", &n, &nth) == 2)
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
	for (int i = 0; i < COMMANDS; i++)
		fail_calls(commands[i], "open", "");
}

/* Nothing can be printed: said, and never called good. */
static void test_commands_on_a_full_disk(void **state)
{
	char full[1200];

	(void)state;
	snprintf(full, sizeof full, "sh -c 'exec %s \"$@\" > /dev/full' sh", program);
	setenv("SHARDSCOPE", full, 1);
	for (int i = 0; i < COMMANDS; i++) {
		struct ran ran = run_faulty(commands[i], "none:1");

		if (ran.status != 2 || !strstr(ran.err, "the output can't be written"))
			fail_msg("%s: status %d, %s", commands[i], ran.status, ran.err);
		ran_free(&ran);
	}
	setenv("SHARDSCOPE", program, 1);
}

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
	return run_faulty(arguments, fault);
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
	text = read_file(path);
	if (text[0] != '\0' && strcmp(text, right) != 0)
		fail_msg("%s, %s: half of it is written", writers[writer].arguments,
			 fault);
	if (ran.status != 2 && text[0] == '\0')
		fail_msg("%s, %s: status %d, and nothing is written",
			 writers[writer].arguments, fault, ran.status);
	if (ran.status == 2 && ran.err[0] == '\0')
		fail_msg("%s, %s: no reason", writers[writer].arguments, fault);
	check_alone(folder, writers[writer].file, fault);
	ran_free(&ran);
	free(text);
}

static void fail_writes(int writer, const char *folder, const char *right,
			const char *call, const char *onwards)
{
	struct turns turns = begin_turns(call, false);
	bool failed = true;

	for (long n; (n = next_turn(&turns, failed)) != 0;) {
		char fault[64];

		snprintf(fault, sizeof fault, "%s:%ld%s", call, n, onwards);
		write_with(writer, folder, right, fault);
		failed = was_marked();
	}
}

static void test_files_are_written_whole_or_not(void **state)
{
	static const char *const calls[] = { "write", "fsync",   "rename", "close",
					     "open",  "mkstemp", "mkdir" };
	char folder[2][128], at_home[1200];

	(void)state;
	snprintf(folder[0], sizeof folder[0], "%s/files", home);
	snprintf(folder[1], sizeof folder[1], "%s/files/shardscope/clusters", home);
	assert_int_equal(mkdir(folder[0], 0700), 0);
	snprintf(at_home, sizeof at_home, "env XDG_CONFIG_HOME=%s %s", folder[0],
		 program);
	setenv("SHARDSCOPE", at_home, 1);
	for (int i = 0; i < WRITERS; i++) {
		const char *where = folder[i == WRITERS - 1];
		char path[256], *right;
		struct ran ran;

		snprintf(path, sizeof path, "%s/%s", where, writers[i].file);
		ran = write_one(i, path, "none:1");
		ran_free(&ran);
		right = read_file(path);
		assert_true(right[0] != '\0');
		for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
			fail_writes(i, where, right, calls[c], "");
			fail_writes(i, where, right, calls[c], "+");
		}
		free(right);
	}
	setenv("SHARDSCOPE", program, 1);
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
	if (vt_await(vt, "Overview")) {
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
			fail_msg("%s left %s", fault, entry->d_name);
	closedir(list);
}

static void check_no_leftover(const char *fault)
{
	char path[192];

	snprintf(path, sizeof path, "%s/state/shardscope", home);
	check_alone(path, "workspace.yaml", fault);
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
	again = read_file(path);
	same = strcmp(again, turned) == 0;
	free(again);
	return same;
}

/* The session is the old one or the new one, whole, and nothing lies beside it. */
static void save_with(const char *call, const char *onwards, const char *before,
		      const char *turned)
{
	struct turns turns = begin_turns(call, false);
	char path[192];
	bool failed = true;

	name_session("", path);
	for (long n; (n = next_turn(&turns, failed)) != 0;) {
		char fault[64], *now;
		bool aside;

		write_file(path, before);
		snprintf(fault, sizeof fault, "%s:%ld%s", call, n, onwards);
		type_and_quit("=6\r", fault);
		failed = was_marked();
		now = read_file(path);
		aside = strcmp(call, "malloc") == 0 && is_kept_aside(before);
		if (!aside && strcmp(now, before) != 0 && !is_saved(now, turned))
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
	write_file(path, before);
	setenv("FAULT_PLACES", places_of_malloc(), 1);
	type_and_quit("=6\r", "malloc:0");
	unsetenv("FAULT_PLACES");
	save_with("malloc", "", before, turned);
	save_with("malloc", "+", before, turned);
	free(before);
	free(turned);
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
		vt_expect(vt, "the workspace is not kept: ");
		vt_type(vt, "w\025");
		vt_type(vt, homes[i]);
		vt_type(vt, "/a.yaml\r");
		vt_expect(vt, "can't save here");
		vt_type(vt, "\033");
		vt_expect_asleep(vt);
		vt_type(vt, "q");
		vt_expect_exit(vt, 0);
		vt_expect(vt, "the workspace is not kept: ");
		vt_close(vt);
	}
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
		cmocka_unit_test(test_a_name_opens_one_file),
		cmocka_unit_test(test_commands_that_can_not_open),
		cmocka_unit_test(test_commands_on_a_full_disk),
		cmocka_unit_test(test_files_are_written_whole_or_not),
		cmocka_unit_test(test_a_home_that_takes_nothing),
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
