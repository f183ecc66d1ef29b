/* options.c - see options.h. */
#include "tests/numbers/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *find(const char *title, const char *key)
{
	char name[24];
	const char *at;

	snprintf(name, sizeof name, " %s:", key);
	at = strstr(title, name);
	return at ? at + strlen(name) : NULL;
}

bool option_given(const char *title, const char *key)
{
	return find(title, key) != NULL;
}

double option_number(const char *title, const char *key, double usual)
{
	const char *at = find(title, key);

	return at ? atof(at) : usual;
}

const char *option_word(const char *title, const char *key)
{
	static char value[400];
	const char *at = find(title, key);

	snprintf(value, sizeof value, "%.*s", at ? (int)strcspn(at, " ") : 0,
		 at ? at : "");
	return value;
}
