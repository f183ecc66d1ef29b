/* formats.h - the files of other tools that can be read, in one table. */
#ifndef PRESETS_FORMATS_H
#define PRESETS_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

struct format_reader {
	const char *name, *help;
	/* text ends with a zero. False with FILE:LINE, *out unchanged. */
	bool (*read)(struct scenario *out, const char *file, const char *text,
		     size_t length, struct import_report *report, struct error *error);
	bool keeps; /* its writer gives back what is not modelled */
};

extern const struct format_reader format_table[];
int format_count(void);
const struct format_reader *format_find(const char *name);
/* A scenario by a plan's name, or a file: ours or another tool's. report->format tells
 * which, and is empty before but for its model; it may be NULL. */
bool format_open(const char *name, struct scenario *out, struct import_report *report,
		 struct error *error);
/* The reader of a file by path, by what its first 64 KiB hold; NULL for a scenario, for
 * standard input and for what can't be read or told. */
const struct format_reader *format_sniff(const char *path);
/* A file by path, '-' for standard input, in the form of this reader. */
bool format_read(const struct format_reader *reader, const char *path,
		 struct scenario *out, struct import_report *report,
		 struct error *error);

#endif
