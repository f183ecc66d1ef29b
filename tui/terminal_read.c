/* terminal_read.c - keys, clicks, pastes, resizes and answers of the terminal as
 * events; see terminal.h. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "tui/action.h"
#include "tui/painter.h"
#include "tui/reply.h"
#include "tui/terminal_parts.h"

enum {
	KEY_FOCUS_IN = KEY_MAX + 1,
	KEY_FOCUS_OUT,
	KEY_PASTE,
	KEY_PAPER,
	KEY_FENCE,
	KEY_PLACE
};

/* A paste whose end does not come is over then. */
enum { PASTE_MS = 1000 };

/* A terminal that is always readable and never gives anything is lost. */
enum { BARREN_MAX = 100 };

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
	{ REPLY_FENCE, KEY_FENCE }, { REPLY_PLACE, KEY_PLACE },
};
enum { SEQUENCES = sizeof sequences / sizeof sequences[0] };

void terminal_define_keys(void)
{
	for (size_t i = 0; i < SEQUENCES; i++)
		define_key(sequences[i].bytes, sequences[i].code);
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
	while (ready < 0 && errno == EINTR && terminal_caught == 0);
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
	while (!paste->ended && terminal_caught == 0 && (left = fill_held()) > 0)
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
	terminal_take_reply(&reply);
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
		else if (status == KEY_CODE_YES && code == KEY_PLACE)
			event = late_reply(REPLY_PLACE);
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

static struct terminal_event take_event(int ready, short events)
{
	bool lost = ready > 0 && is_lost(events);
	struct terminal_event event;

	if (terminal_caught != 0)
		return (struct terminal_event){ .kind = EVENT_SIGNAL,
						.argument = terminal_caught };
	if (terminal_stops != 0) {
		terminal_stop();
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
