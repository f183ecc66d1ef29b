/* test_paste.c - what is pasted is text where text is typed, and nothing elsewhere. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/stream.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"
#include "tui/paste.h"

#define PASTE(text) "\033[200~" text "\033[201~"

static char home[] = "/tmp/shardscope-paste-XXXXXX";

static struct vt *open_program(void)
{
	const char *const argv[] = { run_program(), "--fresh", NULL };
	static char config[96], state[96];

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = { .columns = 120,
					    .rows = 36,
					    .env = { config, state } };
	struct vt *vt = vt_start(&options, argv);

	vt_expect(vt, "MEMORY");
	assert_true(vt->pastes);
	return vt;
}

static void quit(struct vt *vt)
{
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* Prose holds a w, and a blank line is Enter twice: nothing is written. */
static void test_prose_is_no_key(void **state)
{
	struct vt *vt = open_program();

	(void)state;
	vt_type(vt, PASTE("well, what about the weights?\r\r\ry\rq"));
	vt_expect(vt, "35 bytes pasted, but ignored: no input field is open");
	assert_false(vt_find(vt, "write to:", NULL));
	assert_int_not_equal(access("llama3.1-70b-64.yaml", F_OK), 0);
	vt_type(vt, "=");
	vt_expect_gone(vt, "bytes pasted");
	vt_type(vt, "\033");
	quit(vt);
}

static void test_a_field_takes_it(void **state)
{
	struct vt *vt = open_program();

	(void)state;
	vt_type(vt, "=" PASTE(" 4\r"));
	vt_expect(vt, "TP tensor = 4");
	vt_type(vt, "\r");
	vt_expect(vt, "DOES NOT FIT");
	vt_type(vt, "o" PASTE("mixtral-8x7b\n"));
	vt_expect(vt, "filter: mixtral-8x7b");
	/* keys in the same breath are keys, a mark that breaks off is text */
	vt_type(vt, "\025" PASTE("a\033[201b") "z\033[D\033[C\033OD" PASTE("c\u00e9"));
	vt_expect(vt, "filter: a?[201bc\u00e9z");
	vt_type(vt, "\033");
	quit(vt);
}

static void test_what_is_no_line_or_does_not_fit_is_refused(void **state)
{
	char long_text[400];
	struct vt *vt = open_program();

	(void)state;
	memset(long_text, 'x', sizeof long_text);
	memcpy(long_text, "\033[200~", 6);
	strcpy(long_text + 300, "\033[201~");
	vt_type(vt, "o" PASTE("one\ntwo"));
	vt_expect(vt, "7 bytes pasted, but ignored: more than one line");
	vt_type(vt, long_text);
	vt_expect(vt, "294 bytes pasted, but ignored: more than the field holds");
	vt_type(vt, "\033");
	quit(vt);
}

/* The question whether a file may be overwritten is answered by a key, y. */
static void test_no_paste_overwrites(void **state)
{
	char path[96], typed[160];
	struct error error = { "" };
	struct vt *vt = open_program();
	size_t length;

	(void)state;
	snprintf(path, sizeof path, "%s/own.yaml", home);
	FILE *own = fopen(path, "w");
	assert_non_null(own);
	fputs("my own text\n", own);
	fclose(own);
	snprintf(typed, sizeof typed, "w\025\033[200~%s\033[201~\r", path);
	vt_type(vt, typed);
	vt_expect(vt, "exists; y overwrites it");
	vt_type(vt, PASTE("y\r\r"));
	vt_expect(vt, "3 bytes pasted, but ignored");
	vt_type(vt, "\r"); /* still asked, and this is no answer */
	vt_expect_gone(vt, "bytes pasted");
	vt_type(vt, "\r");
	vt_expect(vt, "exists; y overwrites it");
	vt_type(vt, "\033\033");
	vt_expect_gone(vt, "write to:");
	char *text = stream_read_file(path, 1 << 20, &length, &error);
	assert_string_equal(text, "my own text\n");
	free(text);
	vt_type(vt, typed);
	vt_expect(vt, "exists; y overwrites it");
	vt_type(vt, "y");
	vt_expect(vt, "written: ");
	text = stream_read_file(path, 1 << 20, &length, &error);
	assert_non_null(strstr(text, "format: 1"));
	free(text);
	quit(vt);
}

static void test_a_megabyte_costs_little(void **state)
{
	enum { BYTES = 1 << 20 };
	char *text = malloc(BYTES + 16);
	struct vt *vt = open_program();
	double before;

	(void)state;
	assert_non_null(text);
	vt_expect_asleep(vt);
	before = vt_processor_seconds(vt);
	memset(text, 'w', BYTES);
	for (int i = 0; i < BYTES; i += 77)
		text[i] = '\r';
	memcpy(text, "\033[200~", 6);
	strcpy(text + BYTES, "\033[201~");
	vt_type(vt, text);
	vt_expect(vt, "1048570 bytes pasted, but ignored");
	vt_expect_asleep(vt);
	/* ten milliseconds alone on a machine; seconds as keys */
	assert_true(vt_processor_seconds(vt) - before < 0.3);
	free(text);
	quit(vt);
}

/* Its end never comes, and signals are let in meanwhile. */
static void test_a_paste_that_breaks_off(void **state)
{
	struct vt *vt = open_program();

	(void)state;
	vt_type(vt, "\033[200~half");
	vt_expect(vt, "4 bytes pasted");
	vt_type(vt, "\033[200~half");
	kill(vt->pid, SIGTERM);
	vt_expect_exit(vt, 128 + SIGTERM);
	assert_false(vt->pastes);
	vt_close(vt);
}

/* However the bytes are cut into pieces. */
static void test_pieces_make_the_same_text(void **state)
{
	static const char bytes[] = "a\033[2\033[20b\033\033[201\033[201~rest";

	(void)state;
	seed = 5;
	for (int i = 0; i < 500; i++) {
		struct paste paste = { .bytes = 0 };
		size_t at = 0;

		while (!paste.ended) {
			size_t left = sizeof bytes - 1 - at;
			size_t piece = 1 + next(left);

			at += paste_take(&paste, bytes + at, piece);
		}
		assert_string_equal(bytes + at, "rest");
		assert_string_equal(paste.text, "a\033[2\033[20b\033\033[201");
		assert_int_equal(paste.bytes, 15);
	}
}

static int make_home(void **state)
{
	char path[128];

	(void)state;
	if (!mkdtemp(home))
		return -1;
	snprintf(path, sizeof path, "%s/state", home);
	return mkdir(path, 0700);
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
		cmocka_unit_test(test_prose_is_no_key),
		cmocka_unit_test(test_a_field_takes_it),
		cmocka_unit_test(test_what_is_no_line_or_does_not_fit_is_refused),
		cmocka_unit_test(test_no_paste_overwrites),
		cmocka_unit_test(test_a_megabyte_costs_little),
		cmocka_unit_test(test_a_paste_that_breaks_off),
		cmocka_unit_test(test_pieces_make_the_same_text),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
