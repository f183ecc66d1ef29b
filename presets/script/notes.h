/* notes.h - what reading a script has assumed, for the report. */
#ifndef PRESETS_SCRIPT_NOTES_H
#define PRESETS_SCRIPT_NOTES_H

#include "presets/import.h"
#include "presets/script/arguments.h"

struct shell;

/* Arguments by the script's own comment, variables of the environment, loops of which
 * the first round is read, tests that only running could tell. */
void script_note(const struct arguments *arguments, struct import_report *report);
/* False, with what would give it, where the value was to come from a variable that
 * nobody has set. */
bool script_missing(const struct arguments *arguments, const char *flag, int line,
		    const char *missing, struct error *error);
/* The same of one that a command sets, which is never run. */
bool script_untold(const struct arguments *arguments, const struct argument *argument,
		   struct error *error);
/* "--hidden-size ${HIDDEN_SIZE}" somewhere in the script: the variable behind a flag,
 * which a text of many flags has lost; NULL where there is none. */
const char *script_variable(const struct shell *shell, const char *flag);

#endif
