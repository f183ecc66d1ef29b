/* neighbour.c - see neighbour.h. */
#include "presets/python/neighbour.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "presets/stream.h"

enum { MAX_BYTES = 4 << 20, MAX_AROUND = 16 };

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether a whole word of that name stands before `stop`. */
static bool holds_word(const char *at, const char *stop, const char *name)
{
	size_t length = strlen(name);

	while ((at = memmem(at, (size_t)(stop - at), name, length)) != NULL) {
		if (!is_name(at[-1]) && !is_name(at[length]))
			return true;
		at += length;
	}
	return false;
}

/* The names behind "import" end with the line, or with the bracket that opens them. */
static const char *end_of_names(const char *at)
{
	size_t length;

	at += strspn(at, " \t");
	length = strcspn(at, at[0] == '(' ? ")" : "\n");
	return at + length;
}

/* "a.b.c" of the statement that imports the name; its length, 0 where there is none. */
static size_t find_module(const char *text, const char *name, const char **module)
{
	for (const char *at = text; at; at = strchr(at, '\n')) {
		size_t length;

		at += *at == '\n';
		if (strncmp(at, "from ", 5) != 0)
			continue;
		*module = at + 5 + strspn(at + 5, " ");
		length = strcspn(*module, " \n");
		at = *module + length;
		if (length == 0 || strncmp(at, " import ", 8) != 0)
			continue;
		if (holds_word(at + 8, end_of_names(at + 8), name))
			return length;
	}
	return 0;
}

/* Cuts the last part of a folder's path off; false where there is no more of it. */
static bool go_up(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (folder[0] == '\0')
		return false;
	*(slash ? slash : folder) = '\0';
	return true;
}

/* The path of a module in this folder. */
static bool join(const char *folder, const char *module, size_t length,
		 char path[NEIGHBOUR_MAX_PATH])
{
	int used = snprintf(path, NEIGHBOUR_MAX_PATH, "%s%s%.*s.py", folder,
			    folder[0] ? "/" : "", (int)length, module);

	if (used < 0 || used >= NEIGHBOUR_MAX_PATH)
		return false;
	for (char *at = path + strlen(folder); at < path + used - 3; at++)
		*at = *at == '.' ? '/' : *at;
	return true;
}

char *neighbour_read(const char *file, const char *text, const char *name,
		     char path[NEIGHBOUR_MAX_PATH], size_t *length)
{
	char folder[NEIGHBOUR_MAX_PATH];
	const char *module = NULL;
	size_t words = find_module(text, name, &module);
	size_t dots = words > 0 ? strspn(module, ".") : 0;
	char *found = NULL;

	if (words == dots || strcmp(file, "-") == 0 || strlen(file) >= sizeof folder)
		return NULL;
	for (size_t i = dots; i < words; i++)
		if (!is_name(module[i]) && module[i] != '.')
			return NULL;
	snprintf(folder, sizeof folder, "%s", file);
	if (!strchr(folder, '/'))
		folder[0] = '\0';
	else
		go_up(folder);
	for (size_t i = 1; i < dots; i++)
		go_up(folder);
	for (int i = 0; i < MAX_AROUND && !found; i++) {
		if (join(folder, module + dots, words - dots, path))
			found = stream_read_file(path, MAX_BYTES, length, NULL);
		if (dots > 0 || !go_up(folder))
			break;
	}
	return found;
}
