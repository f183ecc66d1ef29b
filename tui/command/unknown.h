/* unknown.h - what somebody meant with an option that there is not. */
#ifndef TUI_COMMAND_UNKNOWN_H
#define TUI_COMMAND_UNKNOWN_H

#include "tui/command.h"

/* False, and what is said of it in error: what this command calls a flag of another
 * tool or a word that people use, what of its numbers the word stands for, or the
 * option that is spelled nearest. */
bool option_unknown(const struct command *command, const char *name,
		    struct error *error);
/* The same where a word begins just one option and is used for another thing: nobody is
 * given context parallelism who asks for a --context of so many tokens. True where it
 * is the option itself, or only short for it. */
bool option_is_meant(const struct command *command, const char *word,
		     const char *option, struct error *error);

#endif
