/* print.h - flags as a shell command, JSON values and YAML. */
#ifndef PRESETS_SERVING_PRINT_H
#define PRESETS_SERVING_PRINT_H

#include "presets/serving/tool.h"

/* A flag that was read before and that no knob stands for; one that is there already
 * stays, unless it was only a default. */
void print_keep(struct entries *flags, const char *key, const char *value);
/* The command, behind the YAML that it takes; no newline at the end. */
void print_command(const struct tool *tool, const struct tool_writer *w);

#endif
