/* given.h - what is said to a script of another tool, where none is read. */
#ifndef TUI_COMMAND_GIVEN_H
#define TUI_COMMAND_GIVEN_H

#include <stdbool.h>

#include "presets/error.h"
#include "presets/script/given.h"

/* False, and what it is in error, if --set or --function was given: both speak of a
 * script, which there is none of. A knob's name gets the option that turns it. */
bool given_to_none(const struct script_given *given, struct error *error);

#endif
