/* test_terminal.c - what a person on a real terminal would notice, one test for
 * each known trap: the event loop and the terminal with a small client. */
#include "tests/support/close.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/demo.h"
#include "tests/support/vt.h"
#include "tui/theme.h"

static char self[4096];

static struct vt *start(const struct vt_options *options, const char *argument)
{
	const char *const argv[] = { self, "--demo", argument, NULL };
	struct vt *vt = vt_start(options, argv);

	vt_expect(vt, "q quit");
	vt_expect_asleep(vt);
	return vt;
}

static struct vt *start_plain(void)
{
	return start(&(struct vt_options){ 0 }, NULL);
}

static void quit(struct vt *vt)
{
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	assert_false(vt->alternate);
	assert_true(vt->cursor_visible);
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_NONE);
	assert_false(vt->pastes);
	vt_close(vt);
}

static void test_colours_and_characters_of_each_terminal(void **state)
{
	static const struct {
		struct vt_options options;
		const char *argument;
		int least, most; /* highest colour index; -1 = none */
		uint32_t most_code;
		bool unicode;
	} t[] = {
		{ { .term = "xterm-256color" }, NULL, 8, 255, 0xffff, true },
		{ { .term = "tmux-256color" }, NULL, 8, 255, 0xffff, true },
		{ { .term = "screen-256color" }, NULL, 8, 255, 0xffff, true },
		{ { .term = "screen" }, NULL, 1, 7, 0xffff, true },
		{ { .term = "xterm" }, NULL, 1, 7, 0xffff, true },
		{ { .term = "linux" }, NULL, 1, 7, 0x2593, true },
		{ { .term = "vt100" }, NULL, -1, -1, 0xffff, true },
		{ { .term = "vt220", .locale = "C" }, NULL, -1, -1, 0x7e, false },
		{ { .locale = "C" }, NULL, 8, 255, 0x7e, false },
		{ { .locale = "C" }, "--color=never", -1, -1, 0x7e, false },
		{ { .env = { "NO_COLOR=1" } }, NULL, -1, -1, 0xffff, true },
		{ { .env = { "NO_COLOR=" } }, NULL, 8, 255, 0xffff, true },
		{ { .env = { "NO_COLOR=1" } }, "--color=always", 8, 255, 0xffff, true },
		{ { .env = { "COLORFGBG=0;15" } }, NULL, 8, 255, 0xffff, true },
		/* Locales that are not installed: ssh hands them over. */
		{ { .locale = "xx_YY.UTF-8" }, NULL, 8, 255, 0xffff, true },
		{ { .locale = "xx_YY" }, NULL, 8, 255, 0x7e, false },
		{ { 0 }, "--ascii", 8, 255, 0x7e, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct vt *vt = start(&t[i].options, t[i].argument);
		uint32_t code;
		int colour;
		vt_extremes(vt, &code, &colour);
		if (colour < t[i].least || colour > t[i].most ||
		    code > t[i].most_code || (code > 0x7e) != t[i].unicode)
			fail_msg("case %zu (%s): highest colour %d, character U+%04X",
				 i, t[i].options.term != NULL ? t[i].options.term : "-",
				 colour, (unsigned)code);
		vt_close(vt);
	}
}

/* Of the first part of the bar: an index or 0xRRGGBB; -1 = the terminal's own. */
static int colour_of_weights(struct vt *vt)
{
	VTermScreenCell cell = vt_cell(vt, 1, 25);
	VTermColor colour = cell.bg; /* a blank on its colour */

	if (VTERM_COLOR_IS_DEFAULT_BG(&colour))
		colour = cell.fg;
	if (VTERM_COLOR_IS_DEFAULT_FG(&colour))
		return -1;
	if (VTERM_COLOR_IS_INDEXED(&colour))
		return colour.indexed.idx;
	return colour.rgb.red << 16 | colour.rgb.green << 8 | colour.rgb.blue;
}

static void test_background_is_asked_for(void **state)
{
	static const struct {
		struct vt_options options;
		const char *argument;
		enum palette palette;
		int questions;
	} t[] = {
		{ { .background = "rgb:1e1e/1e1e/1e1e" }, NULL, PALETTE_256_DARK, 1 },
		{ { .background = "rgb:ff/ff/ff" }, NULL, PALETTE_256_LIGHT, 1 },
		{ { .background = "rgba:0000/2b2b/3636/ffff" },
		  NULL,
		  PALETTE_256_DARK,
		  1 },
		{ { .background = "nonsense" }, NULL, PALETTE_256, 1 },
		{ { .background = NULL }, NULL, PALETTE_256, 1 },
		{ { .background = "rgb:1e1e/1e1e/1e1e", .env = { "COLORFGBG=0;15" } },
		  NULL,
		  PALETTE_256_LIGHT,
		  0 },
		{ { .background = "rgb:1e1e/1e1e/1e1e" },
		  "--theme=light",
		  PALETTE_256_LIGHT,
		  0 },
		{ { .background = "rgb:1e/1e/1e", .env = { "COLORTERM=truecolor" } },
		  NULL,
		  PALETTE_RGB_DARK,
		  1 },
		{ { .background = "rgb:1e/1e/1e", .env = { "NO_COLOR=1" } },
		  NULL,
		  PALETTE_MONO,
		  0 },
		{ { .background = "rgb:1e/1e/1e", .term = "linux" },
		  NULL,
		  PALETTE_8,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct vt *vt = start(&t[i].options, t[i].argument);
		int wish = theme_colour(ROLE_WEIGHTS, t[i].palette);

		if (colour_of_weights(vt) != wish || vt->questions != t[i].questions)
			fail_msg("case %zu: colour %x, not %x; %d questions", i,
				 (unsigned)colour_of_weights(vt), (unsigned)wish,
				 vt->questions);
		/* nothing of an answer was taken for a key */
		assert_false(vt_find(vt, "said", NULL));
		quit(vt);
	}
}

/* What repeats lines and blocks, which are three bytes each, sends less and shows the
 * same; who says nothing is not trusted with it. */
static void test_lines_are_repeated_where_that_works(void **state)
{
	size_t bytes[2];
	char *row[2][36];

	(void)state;
	for (int mute = 0; mute < 2; mute++) {
		struct vt *vt =
			start(&(struct vt_options){ .columns = 120,
						    .rows = 36,
						    .mute = mute > 0,
						    .env = { "COLORFGBG=15;0" } },
			      NULL);
		size_t before = vt->bytes;

		vt_expect_asleep(vt);
		vt_resize(vt, 120, 30);
		vt_expect_asleep(vt);
		bytes[mute] = vt->bytes - before;
		for (int y = 0; y < 30; y++)
			row[mute][y] = strdup(vt_row(vt, y));
		quit(vt);
	}
	for (int y = 0; y < 30; y++) {
		assert_string_equal(row[0][y], row[1][y]);
		free(row[0][y]);
		free(row[1][y]);
	}
	assert_true(bytes[0] + 200 < bytes[1]);
}

/* An answer over a slow line changes the colours when it comes, and types nothing. */
static void test_a_late_answer_counts_from_then_on(void **state)
{
	struct vt *vt = start_plain();

	(void)state;
	assert_int_equal(colour_of_weights(vt),
			 theme_colour(ROLE_WEIGHTS, PALETTE_256));
	vt_type(vt, "\033]11;rgb:ffff/ffff/ffff\033\\\033[?1;2cl");
	vt_expect_row(vt, 1, "knob 0     = 1");
	assert_int_equal(colour_of_weights(vt),
			 theme_colour(ROLE_WEIGHTS, PALETTE_256_LIGHT));
	quit(vt);
}

static void test_basic_console_has_no_eighths(void **state)
{
	struct vt *vt = start(&(struct vt_options){ .term = "linux" }, NULL);

	(void)state;
	for (int column = 24; column < 79; column++) {
		uint32_t code = vt_cell(vt, 1, column).chars[0];
		assert_true(code < 0x7f || code == 0x2588 || code == 0x258c ||
			    code == 0x2590 || code == 0xb7 || code == 0x2502);
	}
	vt_close(vt);
}

static void test_wide_characters_keep_the_row_straight(void **state)
{
	struct vt *vt = start_plain();

	(void)state;
	vt_expect_row(vt, 21, "─ field 你好 ───");
	assert_int_equal(vt_cell(vt, 21, 79).chars[0], 0x2500);
	quit(vt);
}

static void test_keys_and_a_split_arrow(void **state)
{
	struct vt *vt = start_plain();

	(void)state;
	vt_type(vt, "l");
	vt_expect_row(vt, 1, "knob 0     = 1");
	vt_type(vt, "\033OB"); /* down, as the terminal was told to send it */
	vt_type(vt, "l");
	vt_expect_row(vt, 2, "knob 1     = 1");
	/* The bytes of one key in single writes. */
	vt_type(vt, "\033");
	vt_type(vt, "O");
	vt_type(vt, "B");
	vt_type(vt, "l");
	vt_expect_row(vt, 3, "knob 2     = 1");
	vt_type(vt, "\033[3~xZ\033[1;5D"); /* keys without a meaning here */
	vt_type(vt, "h");
	vt_expect_row(vt, 3, "knob 2     = 0");
	quit(vt);
}

static void test_escape_leaves_text_entry(void **state)
{
	struct vt *vt = start_plain();

	(void)state;
	vt_type(vt, "=8k");
	vt_expect_row(vt, 22, "8k");
	vt_type(vt, "q\x7f\033[D4");
	vt_expect_row(vt, 22, "84k");
	assert_true(vt->cursor_visible);
	vt_type(vt, "\033");
	vt_expect_row(vt, 0, "said 84k");
	quit(vt);
}

static void test_typed_unicode(void **state)
{
	struct vt *vt = start_plain();

	(void)state;
	vt_type(vt, "=é你\r");
	vt_expect_row(vt, 0, "said é你");
	quit(vt);
}

static void test_idle_and_meaningless_keys_send_nothing(void **state)
{
	struct vt *vt = start_plain();
	size_t before = vt->bytes;

	(void)state;
	vt_expect_asleep(vt);
	assert_int_equal(vt->bytes, before);
	assert_true(vt_waits_without_end(vt));
	vt_type(vt, "xyZ");
	vt_expect_asleep(vt);
	assert_int_equal(vt->bytes, before);
	/* A frame that is the same again sends nothing either. */
	vt_type(vt, "k");
	vt_expect_asleep(vt);
	assert_int_equal(vt->bytes, before);
	vt_type(vt, "j");
	vt_expect_asleep(vt);
	assert_in_range(vt->bytes - before, 1, 400);
	quit(vt);
}

static void test_queued_keys_are_taken_before_one_frame(void **state)
{
	struct vt *vt = start_plain();
	char keys[402] = "";
	size_t before = vt->bytes;

	(void)state;
	for (int i = 0; i < 200; i++)
		strcat(keys, "l");
	vt_type(vt, keys);
	vt_expect_row(vt, 1, "= 200");
	vt_expect_asleep(vt);
	/* 200 frames would be 200 times some 30 bytes. */
	assert_in_range(vt->bytes - before, 1, 1500);
	quit(vt);
}

/* Whatever changes: the bytes of a frame go out together. */
static void test_a_frame_is_one_write(void **state)
{
	static const char *const keys[] = { "j", "G", "\f", "l", "m" };
	struct vt *vt = start(&(struct vt_options){ .columns = 200, .rows = 60 }, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		long before = vt_writes(vt);

		if (before < 0)
			break; /* the kernel does not count */
		vt_type(vt, keys[i]);
		vt_expect_output(vt);
		vt_expect_asleep(vt);
		/* a change is saved a second later, which is drawn */
		assert_in_range(vt_writes(vt) - before, 1, i < 3 ? 1 : 3);
	}
	quit(vt);
}

/* Frames pile up until the terminal takes no more: it can still be ended, saves, and
 * leaves the line as it was. */
static void test_a_terminal_that_nobody_reads_keeps_no_signal(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	char path[] = "/tmp/shardscope-test-XXXXXX", setting[64], line[32] = "";
	int file = mkstemp(path), taken;

	(void)state;
	assert_true(file >= 0);
	close(file);
	snprintf(setting, sizeof setting, "DEMO_SAVE=%s", path);
	for (size_t i = 0; i < 3; i++) {
		struct vt *vt = start(&(struct vt_options){ .columns = 200,
							    .rows = 60,
							    .env = { setting } },
				      NULL);
		vt_type(vt, "ll");
		vt_expect_row(vt, 1, "= 2");
		for (taken = 0; taken < 40000 && vt_type_unread(vt, "\f"); taken++)
			;
		assert_in_range(taken, 1, 39999);
		kill(vt->pid, signals[i]);
		vt_expect_exit_unread(vt, 128 + signals[i]);
		assert_true(vt_line_is_sane(vt));
		vt_close(vt);
	}
	FILE *saved = fopen(path, "r");
	assert_non_null(saved);
	assert_non_null(fgets(line, sizeof line, saved));
	fclose(saved);
	unlink(path);
	assert_string_equal(line, "saved 2\n");
}

/* Whether the child catches the signal, and is the program: a shell does not. */
static bool catches(const struct vt *vt, int signal)
{
	char path[64], line[256];
	unsigned long caught = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)vt->pid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "SigCgt: %lx", &caught) == 1)
			break;
	if (file)
		fclose(file);
	return caught >> (signal - 1) & 1;
}

/* It takes nothing from before the program begins: the first frame waits for it, and
 * the screen that ncurses opens before that. */
static void test_a_terminal_that_is_stopped_keeps_no_early_signal(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	const char *const argv[] = { "sh", "-c", "read line; exec \"$0\" --demo", self,
				     NULL };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct vt *vt = vt_start(&(struct vt_options){ 0 }, argv);

		vt_type(vt, "\023\n"); /* Ctrl-S */
		while (!catches(vt, SIGTERM))
			poll(NULL, 0, 1);
		kill(vt->pid, signals[i]);
		vt_expect_exit_unread(vt, 128 + signals[i]);
		assert_true(vt_line_is_sane(vt));
		vt_close(vt);
	}
}

static void test_resize(void **state)
{
	/* also a width alone and a height alone, as where a pane beside it opens */
	static const int size[][2] = { { 80, 24 },  { 100, 24 }, { 100, 40 },
				       { 200, 50 }, { 40, 10 },  { 10, 3 },
				       { 1, 1 },    { 300, 12 }, { 39, 60 },
				       { 2, 100 },  { 120, 36 }, { 80, 24 } };
	struct vt *vt = start_plain();
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
		int columns = size[i][0], rows = size[i][1];
		vt_resize(vt, columns, rows);
		vt_expect_asleep(vt);
		if (columns >= 40 && rows >= 10) {
			snprintf(text, sizeof text, "demo %dx%d", columns, rows);
			vt_expect_row(vt, 0, text);
			vt_expect_row(vt, rows - 1, "q quit");
		} else if (columns >= 9) {
			vt_expect_row(vt, 0, "too small");
		}
	}
	/* A window that is dragged: only the last size counts. */
	for (int i = 0; i < 50; i++)
		vt_resize(vt, 70 + i, 20 + i % 7);
	vt_resize(vt, 1, 1);
	vt_resize(vt, 100, 30);
	vt_expect_row(vt, 0, "demo 100x30");
	vt_expect_row(vt, 29, "q quit");
	quit(vt);
}

static void test_exported_lines_are_not_believed(void **state)
{
	struct vt *vt =
		start(&(struct vt_options){ .columns = 90,
					    .rows = 30,
					    .env = { "LINES=24", "COLUMNS=80" } },
		      NULL);

	(void)state;
	vt_expect_row(vt, 0, "demo 90x30");
	vt_resize(vt, 100, 31);
	vt_expect_row(vt, 0, "demo 100x31");
	quit(vt);
}

static void test_mouse_click_wheel_and_switch(void **state)
{
	struct vt *vt = start_plain();

	(void)state;
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_CLICK);
	vt_click(vt, 5, 3);
	vt_type(vt, "l");
	vt_expect_row(vt, 5, "knob 4     = 1");
	vt_wheel(vt, 7, 30, true);
	vt_expect_row(vt, 0, "wheel 1 at 30,7");
	vt_wheel(vt, 8, 31, false);
	vt_expect_row(vt, 0, "wheel -1 at 31,8");
	vt_type(vt, "m");
	vt_expect(vt, "mouse off");
	vt_expect_asleep(vt);
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_NONE);
	vt_type(vt, "m");
	vt_expect(vt, "mouse on");
	vt_expect_asleep(vt);
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_CLICK);
	quit(vt);
}

static void test_mouse_can_be_left_alone(void **state)
{
	struct vt *vt = start(&(struct vt_options){ 0 }, "--no-mouse");

	(void)state;
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_NONE);
	vt_expect(vt, "mouse off");
	quit(vt);
}

static void test_focus_reports_are_no_keys(void **state)
{
	struct vt *vt = start_plain();
	size_t before = vt->bytes;

	(void)state;
	vt_type(vt, "\033[I");
	vt_type(vt, "\033[O");
	vt_expect_asleep(vt);
	assert_int_equal(vt->bytes, before);
	vt_type(vt, "l");
	vt_expect_row(vt, 1, "knob 0     = 1");
	quit(vt);
}

/* Needs a shell: a lone child is an orphaned process group, which the kernel does
 * not stop. */
static void test_suspend_and_resume(void **state)
{
	const char *const shell[] = { "bash", "--norc", "--noprofile", "-i", NULL };
	const struct vt_options options = { .env = { "PS1=READY " } };
	struct vt *vt = vt_start(&options, shell);
	char command[4200];

	(void)state;
	vt_expect(vt, "READY");
	snprintf(command, sizeof command,
		 "bind 'set enable-bracketed-paste off'; clear; '%s' --demo\n", self);
	vt_type(vt, command);
	vt_expect(vt, "q quit");
	vt_type(vt, "l");
	vt_expect(vt, "= 1");
	vt_type(vt, "\x1a");
	vt_expect(vt, "Stopped");
	vt_expect(vt, "READY");
	assert_false(vt->alternate);
	assert_true(vt->cursor_visible);
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_NONE);
	assert_false(vt->pastes);
	vt_resize(vt, 90, 30); /* while it sleeps */
	vt_type(vt, "fg\n");
	vt_expect_row(vt, 0, "demo 90x30");
	vt_expect_row(vt, 29, "q quit");
	assert_true(vt->alternate);
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_CLICK);
	assert_true(vt->pastes);
	vt_type(vt, "l");
	vt_expect_row(vt, 1, "= 2");
	vt_type(vt, "u"); /* a stop that comes while a frame is drawn is not lost */
	vt_expect(vt, "Stopped");
	vt_expect(vt, "READY");
	vt_type(vt, "clear; PS1='BACK '; fg\n");
	vt_expect_row(vt, 1, "= 77");
	vt_type(vt, "q");
	vt_expect(vt, "BACK"); /* what is typed before is thrown away */
	vt_type(vt, "stty -a; echo status $?\n");
	vt_expect(vt, "status 0");
	assert_false(vt_find(vt, "-icanon", NULL));
	vt_close(vt);
}

static void test_every_end_leaves_a_sane_terminal(void **state)
{
	static const struct {
		const char *keys;
		int signal, exit, killed;
	} t[] = {
		{ "q", 0, 0, 0 },
		{ "\x03", 0, 128 + SIGINT, 0 },
		{ "\x1c", 0, 128 + SIGQUIT, 0 },
		{ "", SIGTERM, 128 + SIGTERM, 0 },
		{ "", SIGHUP, 128 + SIGHUP, 0 },
		{ "S", 0, 0, SIGSEGV },
		{ "", SIGABRT, 0, SIGABRT },
		{ "", SIGBUS, 0, SIGBUS },
		{ "", SIGFPE, 0, SIGFPE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct vt *vt = start_plain();
		vt_type(vt, t[i].keys);
		if (t[i].signal != 0)
			kill(vt->pid, t[i].signal);
		if (t[i].killed != 0)
			vt_expect_killed(vt, t[i].killed);
		else
			vt_expect_exit(vt, t[i].exit);
		if (vt->alternate || !vt->cursor_visible || vt->mouse != 0 ||
		    vt->pastes || !vt_line_is_sane(vt))
			fail_msg("case %zu: alternate %d cursor %d mouse %d line %d", i,
				 vt->alternate, vt->cursor_visible, vt->mouse,
				 vt_line_is_sane(vt));
		vt_close(vt);
	}
}

static void test_signals_end_it_while_keys_pour_in(void **state)
{
	struct vt *vt = start_plain();
	char keys[2001];

	(void)state;
	memset(keys, 'l', 2000);
	keys[2000] = '\0';
	vt_type(vt, keys);
	kill(vt->pid, SIGTERM);
	vt_expect_exit(vt, 128 + SIGTERM);
	vt_close(vt);
}

static void test_a_lost_terminal_ends_it(void **state)
{
	const char *const argv[] = { "sh", "-c", "trap '' HUP; exec \"$0\" --demo",
				     self, NULL };
	struct vt *vt = vt_start(&(struct vt_options){ 0 }, argv);

	(void)state;
	vt_expect(vt, "q quit");
	vt_hang_up(vt);
	vt_expect_exit(vt, 128 + SIGHUP);
	vt_close(vt);
}

static void expect_refusal(const struct vt_options *options, const char *script,
			   const char *reason)
{
	const char *const argv[] = { "sh", "-c", script, self, NULL };
	struct vt *vt = vt_start(options, argv);

	vt_expect_exit(vt, 2);
	vt_expect(vt, reason);
	vt_expect(vt, "shardscope screen");
	vt_expect(vt, "shardscope eval");
	assert_false(vt->alternate);
	vt_close(vt);
}

static void test_unusable_terminals_are_refused_in_one_line(void **state)
{
	static const char run[] = "exec \"$0\" --demo";

	(void)state;
	expect_refusal(
		&(struct vt_options){ .columns = 160, .term = "no-such-term" }, run,
		"unknown terminal type (try TERM=xterm-256color): 'no-such-term'");
	expect_refusal(&(struct vt_options){ .columns = 160, .term = "dumb" }, run,
		       "cannot move its cursor: TERM='dumb'");
	expect_refusal(&(struct vt_options){ .columns = 160, .term = "" }, run,
		       "TERM is not set");
	expect_refusal(&(struct vt_options){ .columns = 160, .term = "\033[2J" }, run,
		       "unknown terminal type");
	expect_refusal(&(struct vt_options){ .columns = 160 },
		       "\"$0\" --demo < /dev/null", "`shardscope --plain`");
	expect_refusal(&(struct vt_options){ .columns = 160 },
		       "\"$0\" --demo > /dev/null", "needs a terminal");
}

static void test_idle_work_follows_the_frame(void **state)
{
	struct vt *vt = start_plain();

	(void)state;
	vt_expect_row(vt, 0, "slices 20");
	vt_type(vt, "s");
	vt_expect_row(vt, 0, "saves 1 slices 20");
	quit(vt);
}

static void test_changes_are_saved_within_a_second_and_at_the_end(void **state)
{
	char path[] = "/tmp/shardscope-test-XXXXXX", setting[64], line[32] = "";
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	close(file);
	snprintf(setting, sizeof setting, "DEMO_SAVE=%s", path);
	const struct vt_options options = { .env = { setting } };
	struct vt *vt = start(&options, NULL);
	vt_expect_row(vt, 0, "saves 0");
	vt_type(vt, "l");
	vt_expect_row(vt, 0, "saves 1"); /* by itself */
	vt_expect_asleep(vt);
	assert_true(vt_waits_without_end(vt));
	vt_type(vt, "ll");
	vt_expect_row(vt, 1, "= 3");
	kill(vt->pid, SIGHUP); /* before the second is over, or not: saved */
	vt_expect_exit(vt, 128 + SIGHUP);
	vt_close(vt);
	FILE *saved = fopen(path, "r");
	assert_non_null(saved);
	assert_non_null(fgets(line, sizeof line, saved));
	fclose(saved);
	unlink(path);
	assert_string_equal(line, "saved 3\n");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_colours_and_characters_of_each_terminal),
		cmocka_unit_test(test_background_is_asked_for),
		cmocka_unit_test(test_lines_are_repeated_where_that_works),
		cmocka_unit_test(test_a_late_answer_counts_from_then_on),
		cmocka_unit_test(test_basic_console_has_no_eighths),
		cmocka_unit_test(test_wide_characters_keep_the_row_straight),
		cmocka_unit_test(test_keys_and_a_split_arrow),
		cmocka_unit_test(test_escape_leaves_text_entry),
		cmocka_unit_test(test_typed_unicode),
		cmocka_unit_test(test_idle_and_meaningless_keys_send_nothing),
		cmocka_unit_test(test_queued_keys_are_taken_before_one_frame),
		cmocka_unit_test(test_a_frame_is_one_write),
		cmocka_unit_test(test_a_terminal_that_nobody_reads_keeps_no_signal),
		cmocka_unit_test(test_a_terminal_that_is_stopped_keeps_no_early_signal),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_exported_lines_are_not_believed),
		cmocka_unit_test(test_mouse_click_wheel_and_switch),
		cmocka_unit_test(test_mouse_can_be_left_alone),
		cmocka_unit_test(test_focus_reports_are_no_keys),
		cmocka_unit_test(test_suspend_and_resume),
		cmocka_unit_test(test_every_end_leaves_a_sane_terminal),
		cmocka_unit_test(test_signals_end_it_while_keys_pour_in),
		cmocka_unit_test(test_a_lost_terminal_ends_it),
		cmocka_unit_test(test_unusable_terminals_are_refused_in_one_line),
		cmocka_unit_test(test_idle_work_follows_the_frame),
		cmocka_unit_test(test_changes_are_saved_within_a_second_and_at_the_end),
	};

	if (argc > 1 && strcmp(argv[1], "--demo") == 0)
		return demo_main(argc, argv);
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	assert_true(length > 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
