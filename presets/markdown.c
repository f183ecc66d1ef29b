/* markdown.c - see markdown.h. */
#include "presets/markdown.h"

#include <ctype.h>
#include <string.h>

/* A line of ``` or ~~~; what stands behind it is the language, NULL where the line is
 * none. */
static const char *fence(const char *line, const char *end)
{
	while (line < end && (*line == ' ' || *line == '\t' || *line == '>'))
		line++;
	if (end - line < 3 ||
	    (memcmp(line, "```", 3) != 0 && memcmp(line, "~~~", 3) != 0))
		return NULL;
	while (line < end && (*line == '`' || *line == '~' || *line == ' '))
		line++;
	return line;
}

static bool is_shell(const char *word, const char *end)
{
	static const char *const names[] = { "bash", "sh",      "shell",
					     "zsh",  "console", "shell-session",
					     "text", "cmd",     "terminal" };
	size_t length = 0;

	while (word + length < end &&
	       (isalnum((unsigned char)word[length]) || word[length] == '-'))
		length++;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
			return true;
	return length == 0;
}

static const char *end_of(const char *line, const char *stop)
{
	const char *end = memchr(line, '\n', (size_t)(stop - line));

	return end ? end : stop;
}

bool markdown_looks_like(const char *text, size_t length)
{
	const char *stop = text + length;
	int fences = 0;

	if (length > 2 && memcmp(text, "#!", 2) == 0)
		return false;
	for (const char *at = text; at < stop;) {
		const char *end = end_of(at, stop);

		fences += fence(at, end) != NULL;
		at = end + 1;
	}
	return fences >= 2;
}

static void blank(char *from, const char *end)
{
	memset(from, ' ', (size_t)(end - from));
}

/* Returns how many blocks of a shell there are; `only` leaves those alone. */
static int walk(char *text, size_t length, bool change, bool only)
{
	const char *stop = text + length;
	bool inside = false, shell = false;
	int shells = 0;

	for (char *at = text; at < stop;) {
		const char *end = end_of(at, stop), *language = fence(at, end);

		if (language) {
			inside = !inside;
			shell = inside && is_shell(language, end);
			shells += shell;
		}
		if (change && (language || !inside || (only && !shell)))
			blank(at, end);
		/* "$ vllm serve": the prompt is no word of it */
		else if (change && end - at > 2 && memcmp(at, "$ ", 2) == 0)
			*at = ' ';
		at += end - at + 1;
	}
	return shells;
}

void markdown_keep_code(char *text, size_t length)
{
	bool only = walk(text, length, false, false) > 0;

	walk(text, length, true, only);
}
