/* neighbour.h - the file that a name of a Python text is imported from. */
#ifndef PRESETS_PYTHON_NEIGHBOUR_H
#define PRESETS_PYTHON_NEIGHBOUR_H

#include <stddef.h>

enum { NEIGHBOUR_MAX_PATH = 512 };

/* Of "from a.b.c import name": the text of a/b/c.py in the folder of `file` or in one
 * around it, of "from .c import name" that of c.py beside it; to be freed, its path
 * filled. NULL where the text does not import the name or no such file is there.
 * `file` "-" has no folder. */
char *neighbour_read(const char *file, const char *text, const char *name,
		     char path[NEIGHBOUR_MAX_PATH], size_t *length);

#endif
