/* test_program.c - the real program on a pty: it opens, follows keys, survives what
 * terminals do, and comes back to where it was. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

static char home[] = "/tmp/shardscope-home-XXXXXX";

/* plan: NULL for what the program begins with */
static struct vt *open_plan(const char *plan, int columns, int rows, const char *term,
			    const char *locale, const char *extra)
{
	const char *const argv[] = { run_program(), plan, NULL };
	static char config[96], state[96];

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = { .columns = columns,
					    .rows = rows,
					    .term = term,
					    .locale = locale,
					    .env = { config, state, extra } };
	return vt_start(&options, argv);
}

static struct vt *open_program(int columns, int rows, const char *term,
			       const char *locale, const char *extra)
{
	return open_plan(NULL, columns, rows, term, locale, extra);
}

static void forget(void)
{
	char path[128];

	snprintf(path, sizeof path, "%s/state/shardscope/workspace.yaml", home);
	unlink(path);
}

static void test_it_opens_turns_and_quits(void **state)
{
	struct vt *vt = open_program(120, 36, NULL, NULL, NULL);

	(void)state;
	vt_expect(vt, "llama3.1-70b");
	vt_expect(vt, "MEMORY");
	vt_type(vt, "=6\r");
	vt_expect(vt, "THIS PLAN CAN'T RUN");
	vt_type(vt, "u");
	vt_expect(vt, "TRAFFIC");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	assert_true(vt_line_is_sane(vt));
	vt_close(vt);
}

static void test_m_gives_the_mouse_away_and_back(void **state)
{
	struct vt *vt = open_program(100, 30, NULL, NULL, NULL);

	(void)state;
	vt_expect(vt, "MEMORY");
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_CLICK);
	vt_type(vt, "m");
	vt_expect(vt, "mouse off");
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_NONE);
	vt_type(vt, "m");
	vt_expect(vt, "mouse on");
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_CLICK);
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* Column of a text in a row of the screen, counted in cells; -1: it is not there. */
static int column_of(struct vt *vt, int row, const char *text)
{
	const char *line = vt_row(vt, row), *at = strstr(line, text);
	int column = 0;

	if (!at)
		return -1;
	for (; line < at; line++)
		column += ((unsigned char)*line & 0xc0) != 0x80;
	return column;
}

static void click_text(struct vt *vt, const char *text)
{
	vt_expect(vt, text);
	/* not on half a frame: what it shows may be gone when the click is read */
	vt_expect_asleep(vt);
	for (int row = 0; row < vt->rows; row++)
		if (column_of(vt, row, text) >= 0) {
			vt_click(vt, row, column_of(vt, row, text));
			return;
		}
	fail_msg("'%s' is not there", text);
}

static void test_clicks_go_by_place(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(120, 36, NULL, NULL, NULL);
	vt_expect(vt, "Tab numbers"); /* the knobs have the focus */
	click_text(vt, "Traffic");
	vt_expect(vt, "collective");
	click_text(vt, "Overview");
	vt_expect(vt, "bubble ratio");
	click_text(vt, "bubble ratio");
	vt_expect(vt, "Tab knobs"); /* the view has it */
	click_text(vt, "bubble ratio");
	vt_expect(vt, "formula");
	click_text(vt, "Esc back");
	vt_expect(vt, "q quit");
	click_text(vt, "PP  pipeline");
	vt_expect(vt, "Tab numbers"); /* the last row of a frame comes last */
	vt_expect(vt, "Stages that each hold");
	click_text(vt, "u undo");
	vt_expect(vt, "nothing to undo");
	vt_wheel(vt, 10, 10, true);
	vt_expect_gone(vt, "nothing to undo");
	click_text(vt, "q quit");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* Rows of lists, of the palette and of a search, and items of the timeline: the first
 * click points, the second takes. */
static void test_rows_and_items_are_clicked(void **state)
{
	struct vt *vt;
	int row;

	(void)state;
	forget();
	vt = open_program(120, 36, NULL, NULL, NULL);
	vt_expect(vt, "q quit");
	/* a knob, then its list, then a value of it */
	click_text(vt, "schedule   ");
	vt_expect(vt, "The order in which stages run");
	click_text(vt, "schedule   ");
	vt_expect(vt, "filter:");
	click_text(vt, "gpipe");
	click_text(vt, "gpipe");
	vt_expect_gone(vt, "filter:");
	vt_expect(vt, "\u25c2 gpipe \u25b8");
	/* the palette; a second click goes there */
	vt_type(vt, "/bubble");
	vt_expect(vt, "find: bubble");
	click_text(vt, "zero bubble");
	click_text(vt, "zero bubble");
	vt_expect(vt, "what it means");
	click_text(vt, "Esc back");
	/* an item of the timeline */
	click_text(vt, "Timeline");
	vt_expect(vt, "waits for nothing");
	vt_expect_asleep(vt);
	assert_true(vt_find(vt, "waits for nothing", &row));
	assert_true(vt_find(vt, "\u25cf", &row));
	vt_click(vt, row, 60);
	vt_expect_gone(vt, "waits for nothing");
	/* a row of the search */
	click_text(vt, "Search");
	vt_expect(vt, "proved best");
	vt_expect(vt, "plan 1: ");
	assert_true(vt_find(vt, "plan 1: ", &row));
	vt_expect(vt, "not tried: ");
	assert_true(vt_find(vt, "tok/s/GPU  bubble  memory", &row));
	vt_click(vt, row + 3, 60);
	vt_expect_gone(vt, "plan 1: ");
	vt_expect(vt, "plan 3: ");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* The second click is on an arrow that only the first one makes appear: taken in one
 * piece with it, it would find the row that was there before and open its list. */
static void test_two_queued_clicks_mean_what_they_show(void **state)
{
	struct vt *vt;
	char both[96];
	int row, column;

	(void)state;
	forget();
	vt = open_program(120, 36, NULL, NULL, NULL);
	vt_expect(vt, "q quit"); /* the last row comes last */
	assert_true(vt_find(vt, "PP  pipeline", &row));
	vt_click(vt, row, 6);
	vt_expect(vt, "\u25c2 4 \u25b8");
	column = column_of(vt, row, "\u25c2 4");
	assert_true(column > 0);
	/* back to another knob, then both in one piece */
	vt_click(vt, row - 2, 6);
	vt_expect_gone(vt, "\u25c2 4 \u25b8");
	vt_expect_asleep(vt);
	snprintf(both, sizeof both,
		 "\033[<0;7;%dM\033[<0;7;%dm\033[<0;%d;%dM\033[<0;%d;%dm", row + 1,
		 row + 1, column + 1, row + 1, column + 1, row + 1);
	vt_type(vt, both);
	vt_expect(vt, "\u25c2 2 \u25b8");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* Every value of the strip that runs has a bar that is seen: no block is reversed. */
static void test_bars_are_seen_without_colour(void **state)
{
	struct vt *vt;
	int blocks = 0;

	(void)state;
	forget();
	vt = open_program(120, 36, NULL, NULL, "NO_COLOR=1");
	vt_expect(vt, "q quit");
	for (int row = 0; row < 36; row++)
		for (int column = 36; column < 118; column++) {
			VTermScreenCell cell = vt_cell(vt, row, column);

			if (cell.chars[0] != 0x2588)
				continue;
			assert_false(cell.attrs.reverse);
			blocks++;
		}
	assert_true(blocks > 8);
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

static void test_q_closes_what_lies_on_top(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(80, 24, NULL, NULL, NULL);
	vt_expect(vt, "Tab numbers");
	vt_type(vt, "?");
	vt_expect(vt, "Esc back");
	vt_type(vt, "q");
	vt_expect(vt, "Tab numbers");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

static void test_it_comes_back_to_where_it_was(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(120, 36, NULL, NULL, NULL);
	vt_expect(vt, "MEMORY");
	vt_type(vt, "omixtral-8x7b\r");
	vt_expect(vt, "mixtral-8x7b ");
	vt_type(vt, "4");
	vt_expect(vt, "collective");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	vt = open_program(120, 36, NULL, NULL, NULL);
	vt_expect(vt, "mixtral-8x7b ");
	vt_expect(vt, "collective");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* A lost connection saves; a killed program has saved within a second. */
/* What stands beside the view is part of it. */
static void test_the_view_beside_is_kept(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(200, 60, NULL, NULL, NULL);
	vt_expect(vt, "q quit");
	vt_type(vt, "|||");
	vt_expect(vt, "traffic");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	vt = open_program(200, 60, NULL, NULL, NULL);
	vt_expect(vt, "q quit");
	vt_expect_row(vt, 2, "\u2500 traffic \u2500");
	for (int i = 0; i < 3; i++)
		vt_type(vt, "|");
	vt_expect_gone(vt, "topology");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	vt = open_program(200, 60, NULL, NULL, NULL);
	vt_expect(vt, "q quit");
	assert_false(vt_find(vt, "\u2500 explain", NULL));
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	forget();
}

static void test_a_lost_connection_loses_nothing(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(100, 30, NULL, NULL, NULL);
	vt_expect(vt, "MEMORY");
	vt_type(vt, "omixtral-8x22b\r");
	vt_expect(vt, "mixtral-8x22b ");
	vt_hang_up(vt);
	vt_expect_exit(vt, 128 + SIGHUP);
	vt_close(vt);
	vt = open_program(100, 30, NULL, NULL, NULL);
	vt_expect(vt, "mixtral-8x22b ");
	vt_close(vt);
}

static void test_a_damaged_workspace_is_moved_aside(void **state)
{
	char path[128], aside[160];
	struct vt *vt;
	FILE *file;

	(void)state;
	snprintf(path, sizeof path, "%s/state/shardscope/workspace.yaml", home);
	snprintf(aside, sizeof aside, "%s.damaged", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("format: 1\nscenario: {model: [", file);
	fclose(file);
	vt = open_program(100, 30, NULL, NULL, NULL);
	vt_expect(vt, "llama3.1-70b");
	vt_expect(vt, "moved to");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	assert_int_equal(access(aside, F_OK), 0);
	unlink(aside);
}

static void test_a_read_only_home_is_said_and_harmless(void **state)
{
	const char *const argv[] = { run_program(), NULL };
	const struct vt_options options = { .columns = 100,
					    .rows = 30,
					    .env = { "XDG_CONFIG_HOME=/proc/none",
						     "XDG_STATE_HOME=/proc/none" } };
	struct vt *vt = vt_start(&options, argv);

	(void)state;
	vt_expect(vt, "MEMORY");
	vt_type(vt, "l");
	vt_expect(vt, "could not be saved");
	vt_type(vt, "q");
	/* on the way out, too, where it stays to be read */
	vt_expect(vt, "shardscope: the workspace could not be saved");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* The lock of its session would be the standard error, and complaints stand in it. */
static void test_a_closed_stream_is_none_of_its_files(void **state)
{
	const char *const argv[] = { "sh", "-c", "exec \"$0\" 2>&-", run_program(),
				     NULL };
	const struct vt_options options = { .columns = 100, .rows = 30 };
	struct vt *vt = vt_start(&options, argv);
	char path[64], target[64] = "";

	(void)state;
	vt_expect(vt, "MEMORY");
	snprintf(path, sizeof path, "/proc/%d/fd/2", (int)vt->pid);
	assert_true(readlink(path, target, sizeof target - 1) > 0);
	assert_string_equal(target, "/dev/null");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

static void test_resizes_are_followed(void **state)
{
	static const int sizes[][2] = { { 80, 24 }, { 200, 60 }, { 20, 5 },
					{ 61, 17 }, { 1, 1 },    { 120, 36 } };
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(120, 36, NULL, NULL, NULL);
	vt_expect(vt, "MEMORY");
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			vt_resize(vt, sizes[i][0], sizes[i][1]);
	vt_expect(vt, "THROUGHPUT");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

static void test_poor_terminals_get_what_they_can_show(void **state)
{
	struct vt *vt;
	uint32_t code;
	int colour;

	(void)state;
	forget();
	vt = open_program(80, 24, "vt100", "C", NULL);
	vt_expect(vt, "MEMORY");
	vt_expect(vt, "# weights");
	vt_extremes(vt, &code, &colour);
	assert_true(code < 0x80);
	assert_int_equal(colour, -1);
	vt_close(vt);
	vt = open_program(80, 24, NULL, NULL, "NO_COLOR=1");
	vt_expect(vt, "MEMORY");
	vt_extremes(vt, &code, &colour);
	assert_int_equal(colour, -1);
	vt_close(vt);
}

static void test_it_sleeps_when_there_is_nothing_to_do(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(120, 36, NULL, NULL, NULL);
	vt_expect(vt, "MEMORY");
	vt_expect_asleep(vt);
	assert_true(vt_waits_without_end(vt));
	vt_close(vt);
}

/* To close the help over 64 lanes takes more bytes than one frame: what had no
 * room follows by itself, until all is as if it were painted anew. */
static void test_what_a_frame_has_no_room_for_follows(void **state)
{
	enum { COLUMNS = 120, ROWS = 36 };
	char *shown[ROWS];
	struct vt *vt;
	long before;

	(void)state;
	forget();
	vt = open_plan("megatron-1t-512-a100", COLUMNS, ROWS, "screen-256color", NULL,
		       NULL);
	vt_expect(vt, "MEMORY");
	vt_type(vt, "3?");
	vt_expect(vt, "tensor");
	vt_expect_asleep(vt);
	before = vt_writes(vt);
	vt_type(vt, "?");
	vt_expect_output(vt);
	vt_expect_asleep(vt);
	if (before >= 0)
		assert_in_range(vt_writes(vt) - before, 2, 4);
	for (int y = 0; y < ROWS; y++) {
		shown[y] = strdup(vt_row(vt, y));
		assert_non_null(shown[y]);
	}
	vt_expect(vt, "stage 0");
	vt_type(vt, "\f");
	vt_expect_output(vt);
	vt_expect_asleep(vt);
	for (int y = 0; y < ROWS; y++) {
		assert_string_equal(shown[y], vt_row(vt, y));
		free(shown[y]);
	}
	vt_close(vt);
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

/* Four characters at a time; what is no digit is padding. */
static void decode(const char *from, char *to, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvw"
				     "xyz0123456789+/";
	size_t used = 0;

	for (; from[0] != '\0' && used + 4 < size; from += 4) {
		unsigned bits = 0;

		assert_true(strlen(from) >= 4);
		for (int i = 0; i < 4; i++) {
			const char *digit = strchr(digits, from[i]);

			bits = bits << 6 | (digit ? (unsigned)(digit - digits) : 0);
		}
		to[used++] = (char)(bits >> 16);
		if (from[2] != '=')
			to[used++] = (char)(bits >> 8 & 255);
		if (from[3] != '=')
			to[used++] = (char)(bits & 255);
	}
	to[used] = '\0';
}

/* A list of targets with what each would get; Tab copies it, Enter saves it, and
 * nothing is overwritten without asking. */
static void test_export_shows_copies_and_saves(void **state)
{
	static const int sizes[][2] = { { 80, 24 }, { 140, 40 } };
	static char text[1 << 17];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct vt *vt;
		char path[128], typed[160];

		forget();
		vt = open_program(sizes[i][0], sizes[i][1], NULL, NULL, NULL);
		vt_expect(vt, "MEMORY");
		vt_type(vt, "e");
		vt_expect(vt, "export");
		vt_expect(vt, "format: 1"); /* of yaml, the first */
		vt_type(vt, "a torchrun");
		vt_expect(vt, "torchrun --nproc");
		vt_type(vt, "\t");
		vt_expect(vt, "sent to the terminal's clipboard");
		decode(vt->clipboard, text, sizeof text);
		assert_non_null(strstr(text, "--tensor-model-parallel-size "));
		assert_non_null(strstr(text, "#!/bin/bash\n"));
		assert_int_equal(text[strlen(text) - 1], '\n');
		vt_type(vt, "\r");
		vt_expect(vt, "export megatron to:");
		snprintf(path, sizeof path, "%s/out.sh", home);
		snprintf(typed, sizeof typed, "\025%s\r", path);
		vt_type(vt, typed);
		if (i > 0) {
			vt_expect(vt, "exists; y overwrites it, any other key cancels");
			vt_type(vt, "\r"); /* the key that asked is no answer */
			vt_expect_gone(vt, "exists; y");
			vt_type(vt, "\r");
			vt_expect(vt, "exists; y");
			vt_type(vt, "y");
		}
		vt_expect(vt, "written: ");
		assert_int_equal(access(path, R_OK), 0);
		vt_type(vt, "q");
		vt_expect_exit(vt, 0);
		vt_close(vt);
	}
}

/* A model of Hugging Face on the command line; another tool's file, which `w` does not
 * write over. */
static void test_other_tools_files_open(void **state)
{
	const char *const model[] = { run_program(), "--model",
				      "tests/fuzz/seeds/hf/hybrid.json", NULL };
	const char *const script[] = { run_program(),
				       "tests/fuzz/seeds/megatron/script", NULL };
	static char home_state[96];
	const struct vt_options options = { .columns = 100,
					    .rows = 30,
					    .env = { home_state } };
	struct vt *vt;

	(void)state;
	snprintf(home_state, sizeof home_state, "XDG_STATE_HOME=%s/state", home);
	vt = vt_start(&options, model);
	vt_expect(vt, "hybrid (approximate)");
	vt_expect(vt, "MEMORY");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	vt = vt_start(&options, script);
	vt_expect(vt, "read as megatron: ");
	vt_expect(vt, "MEMORY");
	vt_type(vt, "w");
	vt_expect(vt, "write to: megatron-32.yaml");
	vt_type(vt, "\033");
	vt_expect_gone(vt, "write to:");
	vt_type(vt, "etorchrun");
	vt_expect(vt, "export");
	vt_type(vt, "\t");
	vt_expect(vt, "sent to the terminal's clipboard");
	{
		static char text[1 << 17];

		decode(vt->clipboard, text, sizeof text);
		assert_non_null(strstr(text, " --data-path")); /* kept */
	}
	vt_type(vt, "\033");
	vt_expect_gone(vt, "filter:");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	forget();
}

static void test_a_terminal_without_a_clipboard_says_so(void **state)
{
	struct vt *vt;

	(void)state;
	forget();
	vt = open_program(100, 30, "vt220", NULL, NULL);
	vt_expect(vt, "MEMORY");
	vt_type(vt, "e\t");
	vt_expect(vt, "no clipboard (OSC 52)");
	assert_int_equal(vt->clipboard_length, 0);
	vt_type(vt, "\033");
	vt_expect_gone(vt, "no clipboard (OSC 52)");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_opens_turns_and_quits),
		cmocka_unit_test(test_m_gives_the_mouse_away_and_back),
		cmocka_unit_test(test_clicks_go_by_place),
		cmocka_unit_test(test_rows_and_items_are_clicked),
		cmocka_unit_test(test_q_closes_what_lies_on_top),
		cmocka_unit_test(test_two_queued_clicks_mean_what_they_show),
		cmocka_unit_test(test_bars_are_seen_without_colour),
		cmocka_unit_test(test_it_comes_back_to_where_it_was),
		cmocka_unit_test(test_the_view_beside_is_kept),
		cmocka_unit_test(test_a_lost_connection_loses_nothing),
		cmocka_unit_test(test_a_damaged_workspace_is_moved_aside),
		cmocka_unit_test(test_a_read_only_home_is_said_and_harmless),
		cmocka_unit_test(test_a_closed_stream_is_none_of_its_files),
		cmocka_unit_test(test_resizes_are_followed),
		cmocka_unit_test(test_poor_terminals_get_what_they_can_show),
		cmocka_unit_test(test_it_sleeps_when_there_is_nothing_to_do),
		cmocka_unit_test(test_what_a_frame_has_no_room_for_follows),
		cmocka_unit_test(test_export_shows_copies_and_saves),
		cmocka_unit_test(test_other_tools_files_open),
		cmocka_unit_test(test_a_terminal_without_a_clipboard_says_so),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
