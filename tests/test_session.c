/* test_session.c - what is kept between sessions survives other explorers, other
 * versions, links, and a save that was killed. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/folder.h"
#include "presets/stream.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

static char home[] = "/tmp/shardscope-home-XXXXXX";

static const char *place(const char *name)
{
	static char path[4][160];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof path[turn], "%s/shardscope/%s", home, name);
	return path[turn];
}

static struct vt *open_with(const char *first, const char *second)
{
	const char *const argv[] = { run_program(), first, second, NULL };
	static char config[96], state[96];

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s", home);
	const struct vt_options options = { .columns = 140,
					    .rows = 30,
					    .env = { config, state } };
	struct vt *vt = vt_start(&options, argv);

	vt_expect(vt, "MEMORY");
	return vt;
}

static void quit(struct vt *vt)
{
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

static void put(const char *name, const char *text)
{
	struct error error = { "" };

	if (!folder_make(place(name), &error) ||
	    !file_save(place(name), text, strlen(text), &error))
		fail_msg("%s", error.text);
}

static bool holds(const char *name, const char *text)
{
	size_t length;
	char *all = stream_read_file(place(name), 1 << 20, &length, NULL);
	bool does = all && strstr(all, text);

	free(all);
	return does;
}

static void forget(void)
{
	char command[120];

	snprintf(command, sizeof command, "rm -rf '%s/shardscope'", home);
	assert_int_equal(system(command), 0);
}

/* One on Mixtral, one on Llama 405B; whichever ends last, both are there again. */
static void test_two_explorers_keep_both_sessions(void **state)
{
	struct vt *first, *second;

	(void)state;
	forget();
	first = open_with(NULL, NULL);
	second = open_with(NULL, NULL);
	vt_expect(second, "another explorer keeps session 1 of this home; this one is "
			  "kept as session 2");
	vt_type(second, "ollama3-405b-16k-h100\r");
	vt_expect(second, "llama3.1-405b ");
	vt_type(first, "omixtral-8x7b\r");
	vt_expect(first, "mixtral-8x7b ");
	quit(first);
	quit(second);
	assert_true(holds("workspace.yaml", "model: mixtral-8x7b"));
	assert_true(holds("workspace-2.yaml", "model: llama3.1-405b"));
	first = open_with(NULL, NULL);
	vt_expect(first, "mixtral-8x7b ");
	vt_expect(first, "session 2 is kept too: shardscope --session 2");
	second = open_with(NULL, NULL);
	vt_expect(second, "llama3.1-405b ");
	vt_close(second); /* killed: what it held is free again */
	second = open_with("--session", "2");
	vt_expect(second, "llama3.1-405b ");
	quit(second);
	quit(first);
}

static void test_a_session_that_is_open_is_refused(void **state)
{
	struct vt *first, *second;
	const char *argv[] = { run_program(), "--session=1", NULL };
	char setting[96];

	(void)state;
	forget();
	first = open_with(NULL, NULL);
	snprintf(setting, sizeof setting, "XDG_STATE_HOME=%s", home);
	second = vt_start(&(struct vt_options){ .env = { setting } }, argv);
	vt_expect(second, "shardscope: another explorer keeps session 1");
	vt_expect_exit(second, 2);
	vt_close(second);
	quit(first);
	run_check("--session 0", 2, NULL, "expected a number from 1 to 99");
}

static void test_a_newer_file_stays_where_it_is(void **state)
{
	static const char newer[] = "format: 7\nwhat: nobody knows yet\n";
	struct vt *vt;

	(void)state;
	forget();
	put("workspace.yaml", newer);
	for (int i = 0; i < 2; i++) {
		vt = open_with(NULL, NULL);
		vt_expect(vt, "format 7; this shardscope reads format 1");
		vt_expect(vt, "this is session 2; ");
		vt_expect(vt, i == 0 ? "llama3.1-70b " : "mixtral-8x7b ");
		vt_type(vt, "omixtral-8x7b\r");
		vt_expect(vt, "mixtral-8x7b ");
		quit(vt);
	}
	assert_true(holds("workspace.yaml", newer));
	assert_true(holds("workspace-2.yaml", "mixtral-8x7b"));
	assert_int_not_equal(access(place("workspace.yaml.damaged"), F_OK), 0);
}

/* A folder, and where permissions bind, a file without them. */
static void test_what_cant_be_read_stays_where_it_is(void **state)
{
	struct stat about;
	struct vt *vt;

	(void)state;
	forget();
	put("x", "");
	assert_int_equal(mkdir(place("workspace.yaml"), 0700), 0);
	if (geteuid() != 0) {
		put("workspace-2.yaml", "format: 1\n");
		assert_int_equal(chmod(place("workspace-2.yaml"), 0), 0);
	}
	vt = open_with(NULL, NULL);
	vt_expect(vt, "is not a file");
	vt_type(vt, "l");
	quit(vt);
	assert_int_equal(stat(place("workspace.yaml"), &about), 0);
	assert_true(S_ISDIR(about.st_mode));
	if (geteuid() != 0)
		assert_true(holds("workspace-3.yaml", "format: 1"));
	else
		assert_true(holds("workspace-2.yaml", "format: 1"));
}

static void test_links_are_followed(void **state)
{
	struct stat about;
	struct vt *vt;

	(void)state;
	forget();
	put("x", "");
	assert_int_equal(symlink("../elsewhere.yaml", place("workspace.yaml")), 0);
	vt = open_with(NULL, NULL);
	vt_type(vt, "l");
	quit(vt);
	assert_int_equal(lstat(place("workspace.yaml"), &about), 0);
	assert_true(S_ISLNK(about.st_mode));
	assert_true(holds("../elsewhere.yaml", "format: 1"));
	/* a damaged file is moved, its link stays */
	put("../elsewhere.yaml", "format: 1\nscenario: {");
	vt = open_with(NULL, NULL);
	vt_expect(vt, "moved to elsewhere.yaml.damaged");
	quit(vt);
	assert_int_equal(lstat(place("workspace.yaml"), &about), 0);
	assert_true(S_ISLNK(about.st_mode));
	assert_int_equal(access(place("../elsewhere.yaml.damaged"), F_OK), 0);
}

static void test_what_a_killed_save_left_is_removed(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	put("workspace.yaml.aB3xYz", "format: 1\n");
	put("workspace.yaml.damaged", "kept");
	put("workspace-2.yaml.aB3xYz", "another's");
	vt = open_with(NULL, NULL);
	quit(vt);
	assert_int_not_equal(access(place("workspace.yaml.aB3xYz"), F_OK), 0);
	assert_int_equal(access(place("workspace.yaml.damaged"), F_OK), 0);
	assert_int_equal(access(place("workspace-2.yaml.aB3xYz"), F_OK), 0);
}

/* The file of a model with a quote in its name: opened, turned, left, found again. */
static void test_a_quote_in_a_name_loses_no_session(void **state)
{
	struct ran model = run("show llama3-8b");
	struct vt *vt;

	(void)state;
	forget();
	put("a\"b\\c.yaml", model.out);
	ran_free(&model);
	vt = open_with("--model", place("a\"b\\c.yaml"));
	vt_type(vt, "p");
	vt_expect(vt, "a\"b\\c ");
	quit(vt);
	vt = open_with(NULL, NULL);
	vt_expect(vt, "a\"b\\c ");
	quit(vt);
}

static int make_home(void **state)
{
	(void)state;
	return mkdtemp(home) ? 0 : -1;
}

static int remove_home(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", home);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_explorers_keep_both_sessions),
		cmocka_unit_test(test_a_session_that_is_open_is_refused),
		cmocka_unit_test(test_a_newer_file_stays_where_it_is),
		cmocka_unit_test(test_what_cant_be_read_stays_where_it_is),
		cmocka_unit_test(test_links_are_followed),
		cmocka_unit_test(test_what_a_killed_save_left_is_removed),
		cmocka_unit_test(test_a_quote_in_a_name_loses_no_session),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
