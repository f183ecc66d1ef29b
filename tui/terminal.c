/* terminal.c - see terminal.h. The only file that includes <curses.h>. */
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

/* term.h leaves macros behind that are ordinary words here. */
#undef lines
#undef columns
#undef tab

#include "tui/action.h"
#include "tui/outlet.h"
#include "tui/painter.h"
#include "tui/paste.h"
#include "tui/reply.h"
#include "tui/rescue.h"
#include "tui/terminal.h"
#include "tui/text.h"

enum { KEY_FOCUS_IN = KEY_MAX + 1, KEY_FOCUS_OUT, KEY_PASTE, KEY_PAPER, KEY_FENCE };

enum {
	PASTE_BLOCK = 1 << 16,
	PASTE_MS = 1000 /* a paste whose end does not come is over then */
};

/* A terminal that is always readable and never gives anything is lost. */
enum { BARREN_MAX = 100, MOST_CLICKS = 16 };

static const int fatal_flags[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define FLAGS (sizeof fatal_flags / sizeof fatal_flags[0])

/* One process has one terminal. */
static struct {
	SCREEN *screen;
	WINDOW *keys; /* a pad: to read from it draws nothing */
	enum palette palette;
	int colours;
	enum glyph_level glyphs;
	bool mouse;
	int barren; /* times that input was there and none came */
	sigset_t while_waiting;
	const char *paste_on, *paste_off; /* bracketed paste, or empty */
	struct paste paste;
	/* what was read behind a paste: keys that ncurses has not seen */
	char held[PASTE_BLOCK];
	size_t held_at, held_length;
	/* of the mouse, read with one key of ncurses; the next one last */
	struct terminal_event clicked[MOST_CLICKS];
	int clicks;
} terminal;

static volatile sig_atomic_t caught, stops;

static void on_signal(int signal)
{
	caught = signal;
}

static void on_stop(int signal)
{
	stops = signal;
}

/* --- open and close --------------------------------------------------------- */

static bool refuse(struct error *error, const char *what, const char *name)
{
	snprintf(error->text, sizeof error->text,
		 "%s%.60s%s; `shardscope screen` and "
		 "`shardscope eval` print without one",
		 what, name, name[0] != '\0' ? "'" : "");
	for (char *p = error->text; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
			*p = '?';
	return false;
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
	if (!is_usable(term, error))
		return false;
	/* The terminal knows its size better than an exported LINES. */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	rescue_begin();
	catch_stop();
	terminal.screen = newterm(NULL, stdout, stdin);
	if (terminal.screen == NULL)
		return refuse(error, "no memory for the terminal", "");
	return true;
}

/* Ends of the program, Ctrl-Z and resizes are let in while terminal_read() waits
 * and at no other time. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked;

	sigemptyset(&action.sa_mask);
	sigemptyset(&blocked);
	for (size_t i = 0; i < FLAGS; i++) {
		sigaction(fatal_flags[i], &action, NULL);
		sigaddset(&blocked, fatal_flags[i]);
	}
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
	rescue_arm();
}

/* Some terminals send cursor keys in their other form whatever they were told, and
 * focus reports along with the mouse. */
static const struct {
	const char *bytes;
	int code;
} sequences[] = {
	{ "\033[A", KEY_UP },       { "\033OA", KEY_UP },
	{ "\033[B", KEY_DOWN },     { "\033OB", KEY_DOWN },
	{ "\033[C", KEY_RIGHT },    { "\033OC", KEY_RIGHT },
	{ "\033[D", KEY_LEFT },     { "\033OD", KEY_LEFT },
	{ "\033[H", KEY_HOME },     { "\033OH", KEY_HOME },
	{ "\033[F", KEY_END },      { "\033OF", KEY_END },
	{ "\033[1~", KEY_HOME },    { "\033[4~", KEY_END },
	{ "\033[3~", KEY_DC },      { "\033[Z", KEY_BTAB },
	{ "\033[5~", KEY_PPAGE },   { "\033[6~", KEY_NPAGE },
	{ "\033OP", KEY_F(1) },     { "\033[11~", KEY_F(1) },
	{ "\033[I", KEY_FOCUS_IN }, { "\033[O", KEY_FOCUS_OUT },
	{ "\033[200~", KEY_PASTE }, { REPLY_PAPER, KEY_PAPER },
	{ REPLY_FENCE, KEY_FENCE },
};
enum { SEQUENCES = sizeof sequences / sizeof sequences[0] };

static void define_keys(void)
{
	for (size_t i = 0; i < SEQUENCES; i++)
		define_key(sequences[i].bytes, sequences[i].code);
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
	define_keys();
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
	terminal.held_length = reply_wait(terminal.held, sizeof terminal.held,
					  &terminal.while_waiting, &caught, &reply);
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
	catch_signals();
	outlet_open(&terminal.while_waiting, &caught);
	painter_begin();
	prepare_rescue();
	begin_paste();
	terminal_set_mouse(!options->no_mouse);
	pick_palette(options);
	return true;
}

void terminal_close(void)
{
	if (terminal.screen == NULL)
		return;
	if (outlet_takes()) {
		outlet_send(terminal.paste_off, strlen(terminal.paste_off));
		terminal_set_mouse(false);
		endwin();
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

/* --- events ----------------------------------------------------------------- */

void terminal_set_mouse(bool on)
{
	/* Asked for: the press of the first button and the wheel, no more. */
	mmask_t mask = on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0;

	mouseinterval(0);
	terminal.mouse = on && mousemask(mask, NULL) != 0;
	if (!on)
		mousemask(0, NULL);
}

bool terminal_has_mouse(void)
{
	return terminal.mouse;
}

static enum terminal_event_kind mouse_kind(mmask_t state)
{
	if (state & BUTTON1_PRESSED)
		return EVENT_CLICK;
	return state & (BUTTON4_PRESSED | BUTTON5_PRESSED) ? EVENT_WHEEL : EVENT_NONE;
}

/* What the mouse did. ncurses hands out one key for all that is there at once, and the
 * events behind it from the last to the first. */
static struct terminal_event mouse_event(void)
{
	MEVENT mouse;

	while (terminal.clicks < MOST_CLICKS && getmouse(&mouse) == OK) {
		enum terminal_event_kind kind = mouse_kind(mouse.bstate);

		if (kind == EVENT_NONE)
			continue;
		terminal.clicked[terminal.clicks++] = (struct terminal_event){
			.kind = kind,
			.x = mouse.x,
			.y = mouse.y,
			.argument = mouse.bstate & BUTTON4_PRESSED ? -1 : 1,
		};
	}
	if (terminal.clicks == 0)
		return (struct terminal_event){ .kind = EVENT_NONE };
	return terminal.clicked[--terminal.clicks];
}

static int named_key(wint_t code)
{
	static const struct {
		int code, key;
	} table[] = {
		{ KEY_UP, KEYS_UP },         { KEY_DOWN, KEYS_DOWN },
		{ KEY_LEFT, KEYS_LEFT },     { KEY_RIGHT, KEYS_RIGHT },
		{ KEY_PPAGE, KEYS_PAGE_UP }, { KEY_NPAGE, KEYS_PAGE_DOWN },
		{ KEY_HOME, KEYS_HOME },     { KEY_END, KEYS_END },
		{ KEY_BTAB, KEYS_BACKTAB },  { KEY_BACKSPACE, KEYS_BACKSPACE },
		{ KEY_DC, KEYS_DELETE },     { KEY_F(1), KEYS_F1 },
		{ KEY_ENTER, '\n' },
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if ((wint_t)table[i].code == code)
			return table[i].key;
	return 0;
}

static int plain_key(wint_t code)
{
	if (code == '\r')
		return '\n';
	if (code == 0x7f || code == 8)
		return KEYS_BACKSPACE;
	return (int)code;
}

/* Bytes behind a paste that were read along with it, or those that have come since. */
static size_t fill_held(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	const struct timespec limit = { .tv_sec = PASTE_MS / 1000 };
	ssize_t length = 0;
	int ready;

	if (terminal.held_at < terminal.held_length)
		return terminal.held_length - terminal.held_at;
	do /* a resize is no reason to stop */
		ready = ppoll(&input, 1, &limit, &terminal.while_waiting);
	while (ready < 0 && errno == EINTR && caught == 0);
	if (ready > 0)
		length = read(STDIN_FILENO, terminal.held, sizeof terminal.held);
	terminal.held_at = 0;
	terminal.held_length = length > 0 ? (size_t)length : 0;
	return terminal.held_length;
}

/* A paste is read in blocks, past ncurses: byte by byte a long one takes seconds. */
static struct terminal_event paste_event(void)
{
	struct paste *paste = &terminal.paste;
	size_t left;

	memset(paste, 0, sizeof *paste);
	while (!paste->ended && caught == 0 && (left = fill_held()) > 0)
		terminal.held_at +=
			paste_take(paste, terminal.held + terminal.held_at, left);
	return (struct terminal_event){ .kind = EVENT_PASTE,
					.argument = paste->bytes > INT_MAX
							    ? INT_MAX
							    : (int)paste->bytes };
}

const char *terminal_pasted(void)
{
	return terminal.paste.text;
}

/* A sequence that is held: its key, 0 for one that means nothing here. */
static int held_sequence(const char *at, size_t left, size_t *length)
{
	for (size_t i = 0; i < SEQUENCES; i++) {
		*length = strlen(sequences[i].bytes);
		if (*length <= left && memcmp(at, sequences[i].bytes, *length) == 0)
			return sequences[i].code == KEY_PASTE
				       ? KEY_PASTE
				       : named_key((wint_t)sequences[i].code);
	}
	*length = 1;
	if (left < 2 || at[1] != '[')
		return *at;
	for (*length = 2; *length < left && (at[*length] < 0x40 || at[*length] > 0x7e);)
		++*length;
	*length += *length < left;
	return 0;
}

/* The next key that is held, as ncurses would give it. */
static struct terminal_event held_event(void)
{
	const char *at = terminal.held + terminal.held_at;
	size_t left = terminal.held_length - terminal.held_at, length = 1;
	struct terminal_event event = { .kind = EVENT_NONE };
	mbstate_t state = { 0 };
	wchar_t code;

	if (*at == '\033') {
		event.key = held_sequence(at, left, &length);
	} else {
		length = mbrtowc(&code, at, left, &state);
		if (length == 0 || length > left)
			length = 1, code = L'?';
		event.key = plain_key((wint_t)code);
	}
	terminal.held_at += length;
	if (event.key == KEY_PASTE)
		return paste_event();
	if (event.key != 0)
		event.kind = EVENT_KEY;
	return event;
}

/* The rest of an answer that came late, over a slow line: other colours from now on. */
static struct terminal_event late_reply(const char *start)
{
	struct terminal_event event = { .kind = EVENT_NONE };
	struct reply reply = { 0 };
	char bytes[64];
	size_t length = (size_t)snprintf(bytes, sizeof bytes, "%s", start);
	wint_t code;

	wtimeout(terminal.keys, REPLY_MS);
	while (length < sizeof bytes && length > 0 &&
	       wget_wch(terminal.keys, &code) == OK) {
		bytes[length++] = code < 0x7f ? (char)code : '?';
		length = reply_take(bytes, length, &reply);
	}
	nodelay(terminal.keys, TRUE);
	if (reply.has_paper && terminal.palette != PALETTE_MONO) {
		terminal.palette =
			theme_palette(terminal.colours, theme_background(reply.paper));
		event.kind = EVENT_RESIZE;
	}
	return event;
}

/* The next event that curses has; a key that means nothing is passed over. */
static struct terminal_event next_event(void)
{
	struct terminal_event event = { .kind = EVENT_NONE };
	wint_t code;
	int status;

	if (terminal.clicks > 0)
		return terminal.clicked[--terminal.clicks];
	while (event.kind == EVENT_NONE && terminal.held_at < terminal.held_length)
		event = held_event();
	while (event.kind == EVENT_NONE &&
	       (status = wget_wch(terminal.keys, &code)) != ERR) {
		terminal.barren = 0;
		if (status == KEY_CODE_YES && code == KEY_RESIZE)
			event.kind = EVENT_RESIZE;
		else if (status == KEY_CODE_YES && code == KEY_PASTE)
			event = paste_event();
		else if (status == KEY_CODE_YES && code == KEY_PAPER)
			event = late_reply(REPLY_PAPER);
		else if (status == KEY_CODE_YES && code == KEY_FENCE)
			event = late_reply(REPLY_FENCE);
		else if (status == KEY_CODE_YES && code == KEY_MOUSE)
			event = mouse_event();
		else
			event.key = status == KEY_CODE_YES ? named_key(code)
							   : plain_key(code);
		if (event.key != 0)
			event.kind = EVENT_KEY;
	}
	return event;
}

/* The size may change while the program sleeps, without a SIGWINCH. */
static bool size_has_changed(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ||
	    size.ws_col == 0 || (size.ws_row == LINES && size.ws_col == COLS))
		return false;
	resizeterm(size.ws_row, size.ws_col);
	return true;
}

/* Gone, or readable with nothing to read: end of file. */
static bool is_lost(short events)
{
	int waiting = 0;

	if (events & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	if (!(events & POLLIN))
		return false;
	return ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || waiting == 0 ||
	       terminal.barren > BARREN_MAX;
}

/* Give the terminal back, stop, and take it again as the shell left it. */
static void stop_here(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t stop, before;

	stops = 0;
	if (!outlet_takes())
		return;
	outlet_send(terminal.paste_off, strlen(terminal.paste_off));
	def_prog_mode();
	endwin();
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
	doupdate();
	outlet_send(terminal.paste_on, strlen(terminal.paste_on));
	painter_forget();
}

static struct terminal_event take_event(int ready, short events)
{
	bool lost = ready > 0 && is_lost(events);
	struct terminal_event event;

	if (caught != 0)
		return (struct terminal_event){ .kind = EVENT_SIGNAL,
						.argument = caught };
	if (stops != 0) {
		stop_here();
		size_has_changed();
		return (struct terminal_event){ .kind = EVENT_RESIZE };
	}
	terminal.barren++;
	event = next_event();
	if (event.kind == EVENT_NONE && lost)
		event.kind = EVENT_LOST;
	else if (event.kind == EVENT_NONE && ready < 0 && size_has_changed())
		event.kind = EVENT_RESIZE;
	if (event.kind == EVENT_RESIZE)
		painter_forget();
	return event;
}

/* Lets signals in and waits for input. */
static struct terminal_event wait_event(const struct timespec *limit)
{
	static const struct timespec at_once = { 0 };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	bool held = terminal.held_at < terminal.held_length || terminal.clicks > 0;
	int ready = ppoll(&input, 1, held ? &at_once : limit, &terminal.while_waiting);

	if (ready < 0 && errno != EINTR)
		return (struct terminal_event){ .kind = EVENT_LOST };
	if (ready <= 0)
		terminal.barren = 0;
	return take_event(ready, input.revents);
}

struct terminal_event terminal_read(int timeout_ms)
{
	static const struct timespec at_once = { 0 };
	struct timespec limit = { .tv_sec = timeout_ms / 1000,
				  .tv_nsec = timeout_ms % 1000 * 1000000L };
	struct terminal_event event = wait_event(&at_once);

	if (timeout_ms > 0 && event.kind == EVENT_NONE)
		return wait_event(&limit);
	/* Back from Ctrl-Z, or a key without meaning: wait on. */
	while (timeout_ms < 0 && event.kind == EVENT_NONE)
		event = wait_event(NULL);
	return event;
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

void terminal_show(const struct canvas *canvas)
{
	size_t length;
	const char *bytes = painter_frame(canvas, terminal.palette, &length);

	if (bytes && !outlet_send(bytes, length))
		painter_forget();
}

bool terminal_has(const char *capability)
{
	const char *string = tigetstr(capability);

	return string != NULL && string != (const char *)-1;
}
