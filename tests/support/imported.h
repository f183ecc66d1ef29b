/* imported.h - a text read as another tool's file, for tests of the readers. */
#ifndef TESTS_SUPPORT_IMPORTED_H
#define TESTS_SUPPORT_IMPORTED_H

#include <stdbool.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

/* Of the last file that was read. */
extern struct import_report report;

/* What --model says from here on; "" is nothing. */
void read_with(const char *name);
/* What the command line says of a script from here on; NULL is nothing. */
void read_given(const struct script_given *says);
/* The file is called "file"; error and report are emptied first. */
bool read_as(const char *format, const char *text, struct scenario *out,
	     struct error *error);
/* Fails the test where it can't be read. */
void read_good(const char *format, const char *text, struct scenario *out);
/* Fails the test where it is read, or the refusal does not say this of "file", or the
 * scenario is touched. */
void read_refused(const char *format, const char *text, const char *says);
/* A knob has this value, as it is printed. */
void expect(const struct scenario *s, const char *key, const char *value);
bool noted(enum import_kind kind, const char *key);

#endif
