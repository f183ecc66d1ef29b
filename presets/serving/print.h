/* print.h - flags as a shell command, JSON values and YAML. */
#ifndef PRESETS_SERVING_PRINT_H
#define PRESETS_SERVING_PRINT_H

#include "presets/serving/tool.h"

/* A flag that was read before and that no knob stands for; one that is there already
 * stays, unless it was only a default. */
void print_keep(struct entries *flags, const char *key, const char *value);
/* Whether JSON and YAML write it without quotes: a number, true, false. */
bool print_is_bare(const char *text);
/* A member of a JSON flag that is JSON itself. */
bool print_is_object(const struct entry *entry);
/* What the YAML beside a command holds: all flags but those of a list, NULL: it is not
 * written. Returns whether there is any. */
bool print_file(const struct tool *tool, const struct tool_writer *w,
		const char *const *cli, FILE *stream);
/* The command, behind the YAML that it takes; no newline at the end. */
void print_command(const struct tool *tool, const struct tool_writer *w);

#endif
