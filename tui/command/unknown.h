/* unknown.h - what somebody meant with an option that there is not. */
#ifndef TUI_COMMAND_UNKNOWN_H
#define TUI_COMMAND_UNKNOWN_H

#include "tui/command.h"

/* False, and what is said of it in error: what this command calls a flag of another
 * tool or a word that people use, what of its numbers the word stands for, or the
 * option that is spelled nearest. */
bool option_unknown(const struct command *command, const char *name,
		    struct error *error);

#endif
