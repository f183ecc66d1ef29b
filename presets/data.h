/* data.h - the YAML files that are compiled into the binary (see embed.sh). */
#ifndef PRESETS_DATA_H
#define PRESETS_DATA_H

#include <stddef.h>

struct preset_file {
	const char *kind, *name;   /* "models", "gpt3-175b" */
	const unsigned char *text; /* zero-terminated */
	size_t length;
};

/* Ends with a row of zeros. */
extern const struct preset_file presets_data[];

#endif
