/* formats.h - files of other tools: which kind one is, and opening it as a scenario. */
#ifndef PRESETS_FORMATS_H
#define PRESETS_FORMATS_H

#include <stdbool.h>

#include "presets/format_table.h"

/* A scenario by a plan's name, or a file: ours or another tool's. report->format tells
 * which, and is empty before but for its model; it may be NULL. */
bool format_open(const char *name, struct scenario *out, struct import_report *report,
		 struct error *error);
/* The reader of a file by path, by what its first 64 KiB hold; NULL for a scenario, for
 * standard input and for what can't be read or told. */
const struct format *format_sniff(const char *path);
/* A file by path, '-' for standard input, in the form of this reader. */
bool format_read(const struct format *reader, const char *path, struct scenario *out,
		 struct import_report *report, struct error *error);

#endif
