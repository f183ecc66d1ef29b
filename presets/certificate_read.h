/* certificate_read.h - the scenario of a certificate; what follows it is for
 * engine/verify/. */
#ifndef PRESETS_CERTIFICATE_READ_H
#define PRESETS_CERTIFICATE_READ_H

#include "engine/plan/scenario.h"
#include "presets/error.h"

/* The text behind the scenario, and the file's line where it begins; the text ends with
 * a zero. NULL with FILE:LINE. */
const char *certificate_read(const char *name, const char *text, struct scenario *out,
			     int *line, struct error *error);

#endif
