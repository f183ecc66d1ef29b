/* given.c - see given.h. */
#include "presets/script/given.h"

#include <stdlib.h>
#include <string.h>

const char *given_value(const struct script_given *given, const char *name,
			size_t length)
{
	char own[128];

	for (int i = 0; given && i < given->sets; i++)
		if (strncmp(given->set[i], name, length) == 0 &&
		    given->set[i][length] == '=')
			return given->set[i] + length + 1;
	if (!given || !given->environment || length >= sizeof own)
		return NULL;
	memcpy(own, name, length);
	own[length] = '\0';
	return getenv(own);
}
