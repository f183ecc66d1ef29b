/* error.c - see error.h. */
#include "presets/error.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of the sequence that these bytes begin with; 0 if it is broken, overlong or longer
 * than they are. */
static size_t utf8_length(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = left == 0      ? 0
		   : s[0] < 0x80  ? 1
		   : s[0] >= 0xf0 ? 4
		   : s[0] >= 0xe0 ? 3
		   : s[0] >= 0xc2 ? 2
				  : 0;

	if (n > left || n == 0 || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

bool error_is_memory(const struct error *error)
{
	const char *memory = strstr(error->text, "out of memory");
	const char *file = strstr(error->text, strerror(ENOMEM));

	return (memory && (memory == error->text || memory[-1] == ' ')) ||
	       (file && file > error->text && file[-1] == ' ');
}

bool error_is_text(const char *text)
{
	const char *stop = text + strlen(text);
	size_t n = 1;

	for (; text < stop && n > 0; text += n)
		n = utf8_length(text, (size_t)(stop - text));
	return n > 0;
}

/* Characters that turn the direction of what follows: U+061C, U+200E, U+200F, U+202A to
 * U+202E, U+2066 to U+2069 (Unicode Standard Annex 9, section 2), and those that end a
 * line where \n does: U+2028 and U+2029, at which a comment of YAML is over. A name
 * could make a line say something else with them. */
static bool turns_line(const unsigned char *s)
{
	if (s[0] == 0xd8)
		return s[1] == 0x9c;
	if (s[0] != 0xe2)
		return false;
	if (s[1] == 0x80)
		return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae);
	return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

void error_clean(char *text)
{
	char *stop = text + strlen(text);

	while (text < stop) {
		unsigned char *s = (unsigned char *)text;
		size_t n = utf8_length(text, (size_t)(stop - text));
		/* C0, DEL and the C1 controls, which some terminals obey too */
		bool control = *s < 0x20 || *s == 0x7f ||
			       (s[0] == 0xc2 && s[1] < 0xa0) ||
			       (n > 1 && turns_line(s));

		if (n == 0 || control)
			*s = '?';
		text += n == 0 || control ? 1 : n;
	}
}

/* Lines that leave room for the column; what is beyond stands there negative. */
enum { LINE_BITS = 20, MOST_LINES = 1 << LINE_BITS, MOST_COLUMNS = 2047 };

int place_at(long line, long column)
{
	if (line < 1)
		return 0;
	if (line >= MOST_LINES)
		return line > INT_MAX ? -INT_MAX : (int)-line;
	return (int)line |
	       (column > 0 && column <= MOST_COLUMNS ? (int)column << LINE_BITS : 0);
}

int place_in(const char *text, size_t offset)
{
	long line = 1, column = 1;

	for (size_t i = 0; i < offset; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return place_at(line, column);
}

int place_line(int place)
{
	return place < 0 ? -place : place & (MOST_LINES - 1);
}

/* Whoever goes on without what could not be read would call half an answer good. */
static bool ran_out;

bool error_ran_out_of_memory(void)
{
	return ran_out;
}

void error_note_memory(bool lacks)
{
	ran_out = ran_out || lacks;
}

bool error_set(struct error *error, const char *file, int line, const char *format, ...)
{
	int column = line > 0 ? line >> LINE_BITS : 0;
	struct error unheard;
	size_t used = 0;
	va_list args;

	if (!error)
		error = &unheard;
	line = place_line(line);
	if (file && line > 0)
		used = (size_t)snprintf(error->text, sizeof error->text,
					"%.200s:%d: ", file, line);
	else if (file)
		used = (size_t)snprintf(error->text, sizeof error->text,
					"%.200s: ", file);
	va_start(args, format);
	vsnprintf(error->text + used, sizeof error->text - used, format, args);
	va_end(args);
	used = strlen(error->text);
	if (file && column > 0)
		snprintf(error->text + used, sizeof error->text - used, " (column %d)",
			 column);
	error_clean(error->text);
	ran_out = ran_out || error_is_memory(error);
	return false;
}
