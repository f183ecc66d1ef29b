/* given.c - what is said to a script, where none is read. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/command/given.h"

bool given_to_none(const struct script_given *given, struct error *error)
{
	const char *text, *equals;
	const struct knob *knob;
	char name[64];

	if (given->function)
		return error_set(error, NULL, 0,
				 "--function %.60s: names a configuration of another "
				 "tool's file, and none is read",
				 given->function);
	if (given->sets == 0)
		return true;
	text = given->set[0];
	equals = strchr(text, '=');
	snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
	knob = knob_find(name);
	if (knob)
		return error_set(
			error, NULL, 0,
			"--set %.60s: sets a variable of a script, and none is "
			"read; the knob is --%s %.60s",
			text, knob->key, equals + 1);
	return error_set(error, NULL, 0,
			 "--set %.60s: sets a variable of a script, and none is read",
			 text);
}
