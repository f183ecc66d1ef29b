/* certificate_read.h - a file of certificate.h, read for engine/verify/. */
#ifndef PRESETS_CERTIFICATE_READ_H
#define PRESETS_CERTIFICATE_READ_H

#include "engine/verify/verify.h"
#include "presets/error.h"

struct certificate_boxes {
	const char *text; /* in the file's */
	int line;         /* of the file, where they begin */
};

/* The text ends with a zero. False with FILE:LINE. */
bool certificate_read(const char *name, const char *text, struct verify_question *out,
		      struct certificate_boxes *boxes, struct error *error);

#endif
