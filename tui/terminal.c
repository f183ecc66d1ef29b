/* terminal.c - open and close, signals, frames; see terminal.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "tui/outlet.h"
#include "tui/painter.h"
#include "tui/reply.h"
#include "tui/rescue.h"
#include "tui/terminal_parts.h"

static const int fatal_flags[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define FLAGS (sizeof fatal_flags / sizeof fatal_flags[0])

struct terminal_state terminal;
volatile sig_atomic_t terminal_caught, terminal_stops;

static void on_signal(int signal)
{
	terminal_caught = signal;
}

static void on_stop(int signal)
{
	terminal_stops = signal;
}

/* --- open and close --------------------------------------------------------- */

static bool refuse(struct error *error, const char *what, const char *name)
{
	snprintf(error->text, sizeof error->text,
		 "%s%.60s%s; `shardscope --plain` works line by line, "
		 "`shardscope screen` and `shardscope eval` print",
		 what, name, name[0] != '\0' ? "'" : "");
	for (char *p = error->text; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
			*p = '?';
	return false;
}

static int add_to_rescue(int byte)
{
	rescue_add_byte(byte);
	return byte;
}

static void prepare_rescue(void)
{
	static const char *const capability[] = { "rmkx", "sgr0", "op", "cnorm",
						  "rmcup" };

	/* Where there is a mouse (kmous), these are its switches in ncurses too. */
	if (tigetstr("kmous") != NULL && tigetstr("kmous") != (const char *)-1)
		rescue_add("\033[?1006;1000l");
	for (size_t i = 0; i < sizeof capability / sizeof capability[0]; i++) {
		const char *string = tigetstr(capability[i]);
		if (string != NULL && string != (const char *)-1)
			tputs(string, 1, add_to_rescue);
	}
	rescue_add("\r\n");
}

/* Asked before newterm(), which prints and leaks on a terminal it does not like. */
static bool is_usable(const char *term, struct error *error)
{
	int status = 0;

	if (setupterm(term, STDOUT_FILENO, &status) == ERR)
		return refuse(error,
			      "unknown terminal type (try TERM=xterm-256color): '",
			      term);
	const char *move = tigetstr("cup");
	bool usable = move != NULL && move != (const char *)-1;
	prepare_rescue();
	del_curterm(cur_term);
	if (!usable)
		return refuse(error, "this terminal cannot move its cursor: TERM='",
			      term);
	return true;
}

/* ncurses has a handler of its own for Ctrl-Z, and ignores the signal while it draws,
 * which drops one that waits. It leaves alone what it finds taken; so does this, where
 * the shell has no job control. */
static void catch_stop(void)
{
	struct sigaction action = { .sa_handler = on_stop }, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGTSTP, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGTSTP, &action, NULL);
}

static bool open_screen(struct error *error)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return refuse(error,
			      "the explorer needs a terminal on standard input "
			      "and output",
			      "");
	if (term == NULL || term[0] == '\0')
		return refuse(error, "TERM is not set: try TERM=xterm-256color", "");
	rescue_begin();
	if (!is_usable(term, error))
		return false;
	/* The terminal knows its size better than an exported LINES. */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	/* ncurses would take these, and wait for a terminal that takes nothing */
	rescue_from_early_ends();
	catch_stop();
	terminal.screen = newterm(NULL, stdout, stdin);
	if (terminal.screen == NULL)
		return refuse(error, "no memory for the terminal", "");
	return true;
}

static sigset_t ends_of_the_program(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	for (size_t i = 0; i < FLAGS; i++)
		sigaddset(&ends, fatal_flags[i]);
	return ends;
}

static void catch_ends(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FLAGS; i++)
		sigaction(fatal_flags[i], &action, NULL);
}

/* Then there is nothing left to do but to end. */
static bool is_ending(void)
{
	sigset_t pending;
	bool ending = terminal_caught != 0;

	sigpending(&pending);
	for (size_t i = 0; i < FLAGS; i++)
		ending |= sigismember(&pending, fatal_flags[i]) == 1;
	return ending;
}

/* Ncurses writes until the terminal takes it, and so long nothing else would see a
 * signal: between these two each ends the program at once. */
static void begin_to_write_by_ncurses(void)
{
	sigset_t ends = ends_of_the_program();

	rescue_from_ends();
	sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

static void end_to_write_by_ncurses(void)
{
	sigset_t ends = ends_of_the_program();

	sigprocmask(SIG_BLOCK, &ends, NULL);
	catch_ends();
}

/* Ends of the program, Ctrl-Z and resizes are let in while terminal_read() waits
 * and at no other time. */
static void catch_signals(void)
{
	sigset_t blocked = ends_of_the_program();

	catch_ends();
	sigaddset(&blocked, SIGTSTP);
	sigaddset(&blocked, SIGWINCH);
	sigprocmask(SIG_BLOCK, &blocked, &terminal.while_waiting);
	for (size_t i = 0; i < FLAGS; i++)
		sigdelset(&terminal.while_waiting, fatal_flags[i]);
	sigdelset(&terminal.while_waiting, SIGTSTP);
	sigdelset(&terminal.while_waiting, SIGWINCH);
	/* A write to a closed terminal fails; that is enough. */
	signal(SIGPIPE, SIG_IGN);
}

/* Where there is a mouse, its terminal reads private modes and passes over those that
 * it does not know. */
static void begin_paste(void)
{
	bool knows = terminal_has("BE") || terminal_has("kmous");

	terminal.paste_on = knows ? "\033[?2004h" : "";
	terminal.paste_off = knows ? "\033[?2004l" : "";
	rescue_add(terminal.paste_off);
	outlet_send(terminal.paste_on, strlen(terminal.paste_on));
}

static void set_mouse(bool on)
{
	/* Asked for: the press of the first button and the wheel, no more. */
	mmask_t mask = on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0;

	mouseinterval(0);
	terminal.mouse = on && mousemask(mask, NULL) != 0;
	if (!on)
		mousemask(0, NULL);
}

static void begin_keys(void)
{
	terminal.keys = newpad(1, 1);
	if (!terminal.keys)
		terminal.keys = stdscr;
	keypad(terminal.keys, TRUE);
	nodelay(terminal.keys, TRUE);
	intrflush(terminal.keys, FALSE);
	if (getenv("ESCDELAY") == NULL)
		set_escdelay(25);
	terminal_define_keys();
}

/* Whether characters that are not ASCII can be repeated, and tabs used: the first frame
 * erases what the trial wrote. */
static void try_repetition(void)
{
	if (terminal.glyphs == GLYPHS_FULL && painter_can_repeat() &&
	    LINES >= REPLY_ROW)
		outlet_send(REPLY_TRIAL, strlen(REPLY_TRIAL));
}

/* The line makes no blanks of tabs. */
static bool sends_tabs(void)
{
	struct termios line;

	return tcgetattr(STDOUT_FILENO, &line) == 0 && (line.c_oflag & TABDLY) == TAB0;
}

void terminal_take_reply(const struct reply *reply)
{
	if (reply->column > 0)
		painter_repeat_all(reply->column == REPLY_REPEATED);
	if (reply->tabbed && sends_tabs())
		painter_use_tabs(true);
}

/* Where there is a mouse the terminal reads private sequences and passes over those
 * that it does not know; one with 8 colours has nothing to choose from. */
static enum background ask_background(void)
{
	struct reply reply = { 0 };

	if (terminal.colours < 256 || !terminal_has("kmous"))
		return BACKGROUND_UNKNOWN;
	outlet_send(REPLY_QUESTION, strlen(REPLY_QUESTION));
	terminal.held_at = 0;
	terminal.held_length =
		reply_wait(terminal.held, sizeof terminal.held, &terminal.while_waiting,
			   &terminal_caught, &reply);
	terminal_take_reply(&reply);
	return reply.has_paper ? theme_background(reply.paper) : BACKGROUND_UNKNOWN;
}

static void pick_palette(const struct terminal_options *options)
{
	enum background background = options->background;

	terminal.colours = environment_wants_colour(options->colour)
				   ? environment_colours(tigetnum("colors"))
				   : 0;
	if (background == BACKGROUND_UNKNOWN)
		background = environment_background();
	if (background == BACKGROUND_UNKNOWN)
		background = ask_background();
	terminal.palette = theme_palette(terminal.colours, background);
}

bool terminal_open(const struct terminal_options *options, struct error *error)
{
	if (!open_screen(error))
		return false;
	cbreak();
	noecho();
	nonl();
	begin_keys();
	terminal.glyphs = options->glyphs == GLYPHS_AUTO
				  ? environment_glyphs()
				  : (enum glyph_level)options->glyphs;
	doupdate(); /* ncurses takes the screen; every frame is the painter's */
	set_mouse(!options->no_mouse);
	catch_signals();
	outlet_open(&terminal.while_waiting, &terminal_caught);
	painter_begin();
	rescue_arm();
	begin_paste();
	try_repetition();
	pick_palette(options);
	return true;
}

void terminal_close(void)
{
	if (terminal.screen == NULL)
		return;
	if (outlet_takes()) {
		outlet_send(terminal.paste_off, strlen(terminal.paste_off));
		begin_to_write_by_ncurses();
		set_mouse(false);
		endwin();
		end_to_write_by_ncurses();
	} else {
		/* endwin() would wait for it without end */
		rescue_now(outlet_drop());
	}
	rescue_disarm();
	outlet_close();
	delscreen(terminal.screen);
	terminal.screen = NULL;
	painter_end();
}

/* --- on its way -------------------------------------------------------------- */

void terminal_set_mouse(bool on)
{
	if (is_ending())
		return;
	begin_to_write_by_ncurses();
	set_mouse(on);
	end_to_write_by_ncurses();
}

bool terminal_has_mouse(void)
{
	return terminal.mouse;
}

void terminal_stop(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t stop, before;

	terminal_stops = 0;
	if (!outlet_takes() || is_ending())
		return;
	outlet_send(terminal.paste_off, strlen(terminal.paste_off));
	def_prog_mode();
	begin_to_write_by_ncurses();
	endwin();
	end_to_write_by_ncurses();
	sigemptyset(&action.sa_mask);
	sigaction(SIGTSTP, &action, NULL);
	kill(getpid(), SIGTSTP);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	/* it goes on here */
	sigprocmask(SIG_SETMASK, &before, NULL);
	action.sa_handler = on_stop;
	sigaction(SIGTSTP, &action, NULL);
	def_shell_mode();
	flushinp();
	begin_to_write_by_ncurses();
	doupdate();
	end_to_write_by_ncurses();
	outlet_send(terminal.paste_on, strlen(terminal.paste_on));
	painter_forget();
}

/* --- frames ----------------------------------------------------------------- */

bool terminal_fit(struct canvas *canvas)
{
	canvas->glyphs = terminal.glyphs;
	canvas->colour = terminal.palette != PALETTE_MONO;
	if (canvas->cell == NULL || canvas->width != COLS || canvas->height != LINES)
		return canvas_resize(canvas, COLS, LINES);
	canvas_erase(canvas);
	return true;
}

void terminal_redraw(void)
{
	painter_forget();
}

bool terminal_show(const struct canvas *canvas)
{
	size_t length;
	const char *bytes = painter_frame(canvas, terminal.palette, &length);

	if (bytes && !outlet_send(bytes, length))
		painter_forget();
	return bytes != NULL;
}

bool terminal_is_behind(void)
{
	return painter_is_behind();
}

bool terminal_has(const char *capability)
{
	const char *string = tigetstr(capability);

	return string != NULL && string != (const char *)-1;
}
