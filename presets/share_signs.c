/* share_signs.c - see share_signs.h. */
#include "presets/share_signs.h"

#include <ctype.h>
#include <string.h>

bool share_is_plain(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("-._~+:", c));
}

void share_put(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++) {
		if (share_is_plain(*text))
			fputc(*text, stream);
		else
			fprintf(stream, "%%%02X", (unsigned char)*text);
	}
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool share_unescape(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		if (*text != '%') {
			*to++ = *text;
			continue;
		}
		if (hex(text[1]) < 0 || hex(text[2]) < 0 ||
		    (hex(text[1]) == 0 && hex(text[2]) == 0))
			return false;
		*to++ = (char)(hex(text[1]) * 16 + hex(text[2]));
		text += 2;
	}
	*to = '\0';
	return true;
}
