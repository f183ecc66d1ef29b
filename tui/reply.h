/* reply.h - what a terminal answers when it is asked for its background, whether it
 * repeats characters that are not ASCII, and where its tab stops are.
 *
 * The question is xterm's OSC 11 (ctlseqs, "Change VT100 text background color to Pt"),
 * with a request for the device attributes (DA1, ECMA-48) behind it: terminals answer
 * in order and nearly all know the second one, so its answer ends the waiting early.
 *
 * terminfo's "rep" promises a repetition (REP, ECMA-48 8.3.103) of ASCII alone; most
 * terminals repeat anything, tmux 3.3 and mosh do not. So three characters are written
 * by it, and the terminal is asked where its cursor is then (CPR). Nobody waits for
 * that answer. Behind it two tabs are tried: stops are in every eighth column unless
 * somebody has set others (DEC STD 070). Row nine it is because no key of any terminal
 * begins like that answer.
 */
#ifndef TUI_REPLY_H
#define TUI_REPLY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLY_QUESTION "\033]11;?\033\\\033[c"
#define REPLY_TRIAL    "\033[9;1H\u2500\033[2b\033[6n\r\t\t\033[6n"
/* how the answers begin */
#define REPLY_PAPER "\033]11;"
#define REPLY_FENCE "\033[?"
#define REPLY_PLACE "\033[9;"

enum {
	REPLY_MS = 100,     /* nobody waits longer for a first frame */
	REPLY_ROW = 9,      /* that the trial needs */
	REPLY_REPEATED = 4, /* the column, from one, behind three characters */
	REPLY_TABBED = 17   /* behind two tabs */
};

struct reply {
	bool has_paper, has_fence;
	uint32_t paper; /* 0xRRGGBB */
	int column;     /* after the trial, from one; 0: not told */
	bool tabbed;    /* two tabs led where they should */
};

/* Takes the answers that are complete out of the bytes and notes what they say; returns
 * how many bytes are left. */
size_t reply_take(char *bytes, size_t length, struct reply *reply);
/* Whether the bytes end within an answer. */
bool reply_is_partial(const char *bytes, size_t length);
/* Reads standard input until the answers are there or the time is over. What was typed
 * meanwhile is left in bytes; returns how many. `mask` while it waits; *ended not 0: a
 * signal ends the program. */
size_t reply_wait(char *bytes, size_t room, const sigset_t *mask,
		  const volatile sig_atomic_t *ended, struct reply *reply);

#endif
