/* vt.h - drive a real terminal program in tests.
 *
 * A struct vt is a child process on a pty whose output is rendered by libvterm: a
 * test sees the cells that a person sees, after terminfo, after ncurses' own
 * optimiser and after the program's resize code. Every wait has an upper bound
 * and ends as soon as what it waits for is there; on failure the screen is printed.
 */
#ifndef TESTS_SUPPORT_VT_H
#define TESTS_SUPPORT_VT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <vterm.h>

struct vt {
	pid_t pid; /* child, -1 once reaped */
	int fd;    /* pty master, -1 once closed */
	int rows, columns;
	int status;     /* of waitpid(), once reaped */
	size_t bytes;   /* written by the child so far */
	bool alternate; /* modes that the child has switched on */
	bool cursor_visible;
	int mouse;   /* VTERM_PROP_MOUSE_* */
	bool pastes; /* bracketed paste (mode 2004) */
	bool ended;  /* the child's side is closed */
	bool keypad; /* application cursor keys (DECCKM) */
	VTerm *vterm;
	VTermScreen *screen;
	char line[8192]; /* result of vt_row() */
	char held[64];   /* an unfinished CSI ? sequence */
	size_t held_length;
	char clipboard[1 << 17]; /* the base64 of the last OSC 52 */
	size_t clipboard_length;
	bool in_clipboard;
	const char *background; /* what OSC 11 is answered; NULL: nothing */
	int questions;          /* OSC 11 so far */
	bool mute;
};

struct vt_options {
	int columns, rows;      /* 0: 80x24 */
	const char *term;       /* NULL: xterm-256color */
	const char *locale;     /* LC_ALL; NULL: C.UTF-8 */
	const char *background; /* "rgb:1e1e/1e1e/1e1e"; NULL: not known to tell */
	const char *env[6];     /* more "NAME=value", up to a NULL */
	bool mute;              /* answers no question */
};

/* Starts argv[0] on a pty of its own; fails the test if that is impossible. */
struct vt *vt_start(const struct vt_options *options, const char *const argv[]);
/* Kills the child if it still runs. */
void vt_close(struct vt *vt);
/* Closes the terminal, as a lost connection does. */
void vt_hang_up(struct vt *vt);

void vt_type(struct vt *vt, const char *bytes);
void vt_click(struct vt *vt, int row, int column);
void vt_wheel(struct vt *vt, int row, int column, bool down);
void vt_resize(struct vt *vt, int columns, int rows);

/* These fail the test after some seconds, with the screen. */
void vt_expect(struct vt *vt, const char *text);
void vt_expect_gone(struct vt *vt, const char *text);
void vt_expect_row(struct vt *vt, int row, const char *text);
/* Waits for a text; false where the child ends without it. */
bool vt_await(struct vt *vt, const char *text);
/* Waits for the end, however it ends; as of waitpid(). */
int vt_status(struct vt *vt);
void vt_expect_exit(struct vt *vt, int status);   /* exited with this status */
void vt_expect_killed(struct vt *vt, int signal); /* died of this signal */
/* Types a key and reads nothing of what comes; false if the child does not take it
 * because it waits to write. */
bool vt_type_unread(struct vt *vt, const char *bytes);
/* vt_expect_exit() of a child whose output nobody reads. */
void vt_expect_exit_unread(struct vt *vt, int status);
/* Calls of write() so far, and processor time in seconds; below 0: the kernel does not
 * tell. */
long vt_writes(const struct vt *vt);
double vt_processor_seconds(const struct vt *vt);
/* The next piece of output has arrived. */
void vt_expect_output(struct vt *vt);
/* The child is alive and waits for input: it sleeps, has read all of it, and sent all
 * that it had to send. */
void vt_expect_asleep(struct vt *vt);
/* The same at one look, for who knows that the child has read what was typed. */
void vt_expect_idle(struct vt *vt);

/* A sleeping child has set itself no alarm and nothing to send: only an event can wake
 * it. */
bool vt_waits_without_end(struct vt *vt);
/* The line settings are those of a shell: echo, lines, signals. */
bool vt_line_is_sane(struct vt *vt);

/* Whether a text is on the screen now. */
bool vt_find(struct vt *vt, const char *text, int *row);
const char *vt_row(struct vt *vt, int row); /* UTF-8, right trimmed */
VTermScreenCell vt_cell(struct vt *vt, int row, int column);
/* Highest code point and colour index on the screen; -1 = no colour. */
void vt_extremes(struct vt *vt, uint32_t *code, int *colour);

#endif
