/* fuzz_format.c - any bytes as a file of one format (FORMAT): read or refused with a
 * message, and what was read can be written in every form. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/accelerate/accelerate.h"
#include "presets/deepspeed/deepspeed.h"
#include "presets/formats.h"
#include "presets/megatron/megatron.h"
#include "presets/nanotron/nanotron.h"
#include "presets/scenario_file.h"
#include "presets/torchtitan/torchtitan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(const struct scenario *s)
{
	char *(*const writers[])(const struct scenario *) = {
		scenario_write,   megatron_write, bridge_write,    deepspeed_write,
		torchtitan_write, nanotron_write, accelerate_write
	};

	for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
		free(writers[i](s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct import_report report;
	struct error error = { "" };
	struct scenario s;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	memset(&report, 0, sizeof report);
	if (format_find(FORMAT)->read(&s, "file", text, size, &report, &error)) {
		write_all(&s);
		scenario_check(&s, NULL);
	} else if (error.text[0] == '\0') {
		abort(); /* refused without a word */
	}
	free(text);
	return 0;
}
