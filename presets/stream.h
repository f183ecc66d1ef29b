/* stream.h - whole texts from and to streams, within bounds. */
#ifndef PRESETS_STREAM_H
#define PRESETS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "presets/error.h"

/* Closes a stream of open_memstream(&text, ...); stream may be NULL. The text, to be
 * freed; NULL where a write failed, and nothing is to be freed. */
char *stream_end(FILE *stream, char **text);
/* A whole file of at most `most` bytes (a number of MiB) with a zero behind them, "-"
 * for standard input; to be freed. NULL with the error. */
char *stream_read_file(const char *path, size_t most, size_t *length,
		       struct error *error);
/* As errors call a file: "-" is "standard input". */
const char *stream_name(const char *path);
/* A text in double quotes, as YAML, JSON, TOML and Python read it back byte by byte;
 * the text is UTF-8. */
void stream_put_quoted(FILE *stream, const char *text);
/* The same without quotes where YAML needs none: a name of letters, digits and -_./+ */
void stream_put_text(FILE *stream, const char *text);
/* All bytes, however many calls it takes; false with errno. */
bool stream_write(int file, const char *text, size_t length);

#endif
