/* value.h - what the files of this room share. */
#ifndef ENGINE_KNOB_VALUE_H
#define ENGINE_KNOB_VALUE_H

#include "engine/knob/knob.h"

/* Letters in lower case with '_' as '-', until either ends. */
bool knob_spelled(const char *a, const char *b, size_t length);
/* Whether value is inside the domain; the domain in words to why if not. */
bool knob_inside(const struct knob *knob, double value, char *why, size_t size);
/* The number at the start of text in the C locale's form, whatever the locale;
 * *end behind it, equal to text if there is none. */
double knob_scan(const char *text, const char **end);
/* The shortest decimal that knob_scan reads back to value (times scale). */
size_t knob_decimal(double value, double scale, double stored, char *out, size_t size);

#endif
