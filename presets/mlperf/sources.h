/* sources.h - the settings that a submission's script takes from scripts beside it. */
#ifndef PRESETS_MLPERF_SOURCES_H
#define PRESETS_MLPERF_SOURCES_H

#include "presets/pairs/pairs.h"
#include "presets/script/shell.h"

/* A script's variables as pairs, at its end (shell_visitor.end); context: the pairs. */
bool mlperf_take_variables(void *context, const struct shell *shell);

/* Adds "source" = NAME for every script that the text sources, and what those of them
 * set that lie in the folder of `file`, where the pairs have no such key. */
void mlperf_add_sources(struct pairs *pairs, const char *file, const char *text);

#endif
