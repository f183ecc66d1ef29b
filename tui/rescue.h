/* rescue.h - puts the terminal back when the program crashes.
 *
 * Everything that a signal handler may not do (terminfo, formatting) is done at
 * the start; the handler writes one prepared string, restores the line settings
 * and lets the signal kill the program.
 */
#ifndef TUI_RESCUE_H
#define TUI_RESCUE_H

/* Called by terminal.c: between add and arm the string is built. */
void rescue_begin(void);
void rescue_add(const char *bytes);
void rescue_add_byte(int byte);
/* Until the caller catches SIGINT, SIGTERM, SIGHUP and SIGQUIT itself each ends the
 * program at once, whether the terminal takes output or not. */
void rescue_from_early_ends(void);
/* The same from now on, of what the caller catches too: for as long as ncurses writes,
 * which goes on with its write whatever a handler says. */
void rescue_from_ends(void);
/* Installs the handlers of SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. */
void rescue_arm(void);
void rescue_disarm(void);
/* What the handlers do to the terminal, on this file that does not wait. */
void rescue_now(int file);

#endif
