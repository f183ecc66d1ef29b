/* columns.c - what logs of requests call their columns. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/requests/requests_parts.h"

/* Names without capitals, blanks, dashes and lines below. */
static const struct request_column column[] = {
	{ "arrivalseconds", FIELD_ARRIVAL, 1 },
	{ "arrival", FIELD_ARRIVAL, 1 },
	{ "arrivaltime", FIELD_ARRIVAL, 1 },
	{ "arrivedat", FIELD_ARRIVAL, 1 },
	{ "timestamp", FIELD_ARRIVAL, 1 }, /* Azure: a date; BurstGPT: seconds */
	{ "arrivalms", FIELD_ARRIVAL, 1e-3 },
	{ "timestampms", FIELD_ARRIVAL, 1e-3 },
	{ "prompttokens", FIELD_PROMPT, 1 },
	{ "prompt", FIELD_PROMPT, 1 },
	{ "promptlen", FIELD_PROMPT, 1 },
	{ "promptlength", FIELD_PROMPT, 1 },
	{ "inputlength", FIELD_PROMPT, 1 }, /* Mooncake */
	{ "inputlen", FIELD_PROMPT, 1 },
	{ "inputtokens", FIELD_PROMPT, 1 },
	{ "contexttokens", FIELD_PROMPT, 1 },    /* Azure */
	{ "requesttokens", FIELD_PROMPT, 1 },    /* BurstGPT */
	{ "numprefilltokens", FIELD_PROMPT, 1 }, /* Vidur */
	{ "outputtokens", FIELD_OUTPUT, 1 },
	{ "output", FIELD_OUTPUT, 1 },
	{ "outputlen", FIELD_OUTPUT, 1 },
	{ "outputlength", FIELD_OUTPUT, 1 },
	{ "generatedtokens", FIELD_OUTPUT, 1 },
	{ "responsetokens", FIELD_OUTPUT, 1 },
	{ "numdecodetokens", FIELD_OUTPUT, 1 },
	{ "prefixblocksseen", FIELD_PREFIX, PREFIX_BLOCK },
	{ "prefixtokens", FIELD_PREFIX, 1 },
	{ "cachedtokens", FIELD_PREFIX, 1 },
};

const struct request_column *column_find(const char *name, bool mooncake)
{
	static const struct request_column milliseconds = { "timestamp", FIELD_ARRIVAL,
							    1e-3 };
	char plain[32];
	size_t length = 0;

	for (; *name != '\0' && length + 1 < sizeof plain; name++)
		if (isalnum((unsigned char)*name))
			plain[length++] = (char)tolower((unsigned char)*name);
	plain[length] = '\0';
	if (*name != '\0')
		return NULL;
	if (mooncake && strcmp(plain, milliseconds.name) == 0)
		return &milliseconds;
	for (size_t i = 0; i < sizeof column / sizeof column[0]; i++)
		if (strcmp(plain, column[i].name) == 0)
			return &column[i];
	return NULL;
}

/* Days from 1970 on, of the Gregorian calendar: years begin in March, so that leap days
 * end them. */
static double days(int year, int month, int day)
{
	int y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
	int leaps = y / 4 - y / 100 + y / 400;

	return 365.0 * y + leaps + (153 * m + 2) / 5 + day - 1 - 719468;
}

bool column_number(const char *text, double *out)
{
	int year, month, day, hour, minute, used = 0;
	char *end;
	double seconds;

	/* plain numbers, most of a log, have no "-" within */
	if (text[0] != '\0' && strchr(text + 1, '-') &&
	    sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%n", &year, &month, &day, &hour,
		   &minute, &used) >= 5 &&
	    used > 0) {
		if (month < 1 || month > 12 || !isdigit((unsigned char)text[used]))
			return false;
		seconds = strtod(text + used, &end);
		/* a zone is the same in all lines */
		if (*end != '\0' && !strchr("+-Z", *end))
			return false;
		*out = days(year, month, day) * 86400 + hour * 3600.0 + minute * 60.0 +
		       seconds;
		return true;
	}
	seconds = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(seconds))
		return false;
	*out = seconds;
	return true;
}
