/* outlet.h - bytes to the terminal, without ever being stuck there.
 *
 * A terminal may take no output: Ctrl-S, a frozen ssh, a tmux that nobody drives. The
 * one who writes waits for it then with the signals let in that end the program.
 */
#ifndef TUI_OUTLET_H
#define TUI_OUTLET_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* `mask` while it waits; *ended not 0: a signal ends the program, nobody waits on. */
void outlet_open(const sigset_t *mask, const volatile sig_atomic_t *ended);
void outlet_close(void);
/* All bytes; false if the program is ended meanwhile, or the terminal is lost. */
bool outlet_send(const char *bytes, size_t length);
/* It takes some bytes now. */
bool outlet_takes(void);
/* Forgets what it has not taken yet; returns the file that can be written to. */
int outlet_drop(void);

#endif
