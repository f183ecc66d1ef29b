/* folder.h - the folders of the user's own files and the presets found there. */
#ifndef PRESETS_FOLDER_H
#define PRESETS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "presets/error.h"

/* $XDG_CONFIG_HOME/shardscope (or ~/.config/shardscope) + "/" + rest; empty if there
 * is no home. False if it does not fit. */
bool folder_config(char *out, size_t size, const char *rest);
/* $XDG_STATE_HOME/shardscope (or ~/.local/state/shardscope) + "/" + rest. */
bool folder_state(char *out, size_t size, const char *rest);
/* Make the folders above a file, as mkdir -p does, readable by the user alone. */
bool folder_make(const char *file, struct error *error);
/* Calls back with the name of each *.yaml file of a folder, without the suffix. False,
 * with errno, where the folder can't be opened. */
bool folder_each(const char *path, void (*found)(void *context, const char *name),
		 void *context);
/* "~/plan.yaml" as a shell would read it; other paths unchanged. False if it does not
 * fit. */
bool file_expand(const char *path, char *out, size_t size);
/* Where a path leads once every link at its end is followed, also one to a file that is
 * not there yet. False if it does not fit. */
bool file_target(const char *path, char *out, size_t size);
/* Remove what a save of this file left behind when it was killed: FILE.XXXXXX. Only for
 * a file that nobody else is saving now. */
void file_sweep(const char *path);
/* Save atomically: temporary file, fsync, rename; the old file stays whole. */
bool file_save(const char *path, const char *text, size_t length, struct error *error);

#endif
