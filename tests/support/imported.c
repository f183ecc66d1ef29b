/* imported.c - see imported.h. */
#include "tests/support/imported.h"

#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/formats.h"
#include "tests/support/close.h"

struct import_report report;
static const char *model = "";
static const struct script_given *given;

void read_with(const char *name)
{
	model = name;
}

void read_given(const struct script_given *says)
{
	given = says;
}

bool read_as(const char *format, const char *text, struct scenario *out,
	     struct error *error)
{
	memset(&report, 0, sizeof report);
	snprintf(report.model, sizeof report.model, "%s", model);
	report.given = given;
	memset(out, 0, sizeof *out);
	error->text[0] = '\0';
	return format_find(format)->in.read(out, "file", text, strlen(text), &report,
					    error);
}

void read_good(const char *format, const char *text, struct scenario *out)
{
	struct error error;

	if (!read_as(format, text, out, &error))
		fail_msg("%s: %s", format, error.text);
}

void read_refused(const char *format, const char *text, const char *says)
{
	struct scenario s, zero;
	struct error error;

	memset(&zero, 0, sizeof zero);
	if (read_as(format, text, &s, &error))
		fail_msg("taken by %s: %s", format, text);
	if (!strstr(error.text, says) || strncmp(error.text, "file", 4) != 0)
		fail_msg("'%s' does not say %s", error.text, says);
	assert_memory_equal(&s, &zero, sizeof s);
}

void expect(const struct scenario *s, const char *key, const char *value)
{
	char text[MAX_LAYOUT];

	knob_print(s, knob_find(key), text, sizeof text);
	if (strcmp(text, value) != 0)
		fail_msg("%s is %s, expected %s", key, text, value);
}

bool noted(enum import_kind kind, const char *key)
{
	for (int i = 0; i < report.count; i++)
		if (report.note[i].kind == kind && strcmp(report.note[i].key, key) == 0)
			return true;
	return false;
}
