/* beside.c - the YAML of settings that a command names, where it stands in the folder
 * of the file with the command; see tool.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/serving/tool.h"
#include "presets/stream.h"

enum { MAX_SETTINGS = 1 << 20, MAX_PATH = 1024 };

static bool read_at(struct pairs *out, const char *folder, int length, const char *name)
{
	char path[MAX_PATH], *text;
	size_t bytes;
	bool good;

	if (snprintf(path, sizeof path, "%.*s%s", length, folder, name) >= MAX_PATH)
		return false;
	text = stream_read_file(path, MAX_SETTINGS, &bytes, NULL);
	good = text && pairs_from_yaml(out, path, text, bytes, NULL);
	free(text);
	return good;
}

/* A path of a container has a folder that is not here: its last name is what both have.
 * Another is of the folder of the file, or of the one around it. */
bool beside_read(struct pairs *out, const char *file, const char *name)
{
	const char *slash = strrchr(file, '/'), *last = strrchr(name, '/');
	int folder = slash ? (int)(slash - file + 1) : 0;
	char above[MAX_PATH];

	if (strchr(name, '$') || strstr(name, "..") || strcmp(name, "-") == 0)
		return false;
	if (name[0] == '/')
		return strcmp(last + 1, file + folder) != 0 && last[1] != '\0' &&
		       read_at(out, file, folder, last + 1);
	return read_at(out, file, folder, name) ||
	       (snprintf(above, sizeof above, "../%s", name) < MAX_PATH &&
		read_at(out, file, folder, above));
}
