/* sgr.h - the way from one look to another as one sequence of ECMA-48 (SGR). */
#ifndef TUI_SGR_H
#define TUI_SGR_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/theme.h"

/* The parameters, each with a semicolon; returns their bytes. Where colours are
 * 0xRRGGBB, one that the table of 256 has is named by its place there: that takes half
 * of the bytes. */
int sgr_changes(char *out, size_t size, struct look from, struct look to, bool rgb);
/* Bytes of that. */
int sgr_length(struct look from, struct look to, bool rgb);

#endif
