/* foreign.h - whether a text is a scenario of ours, before it is read as one. Told by
 * its outermost keys alone, so that a scenario with a mistake is told the mistake, and
 * a file of another program that it is of no kind that is known.
 */
#ifndef PRESETS_FOREIGN_H
#define PRESETS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/* Ours: "model:" at the start of a line, with a name or a mapping behind it. */
bool text_is_scenario(const char *text);
/* Of its keys none is a scenario's, or most are others'. In JSON those of the outermost
 * mapping count: {"model": "llama3.1-8b", "tpp": 3} is a scenario with a mistake. */
bool text_is_foreign(const char *text);

/* Why something is no text in which keys could stand; NULL where it is one. */
const char *text_why_none(const char *text, size_t length);
/* What a text is that is of no kind that is read, the surest words first; NULL: nobody
 * can tell. */
const char *text_told(const char *text, bool markdown, bool script);

#endif
