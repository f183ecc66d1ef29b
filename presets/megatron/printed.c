/* printed.c - the block of arguments that Megatron prints at start. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/megatron/forms.h"

/* "  tensor_model_parallel_size ...... 4": Megatron's own print at start. Lines of
 * a log may carry a prefix such as "0: ". */
static bool printed_line(const char *line, size_t length, char name[128],
			 char value[512])
{
	const char *dots = NULL;

	for (size_t i = 0; i + 4 < length && !dots; i++)
		if (memcmp(line + i, " ....", 5) == 0 ||
		    memcmp(line + i, " ... ", 5) == 0)
			dots = line + i;
	if (!dots)
		return false;
	const char *end = dots, *start = dots, *right = dots;

	while (start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
		start--;
	while (right < line + length && (*right == ' ' || *right == '.'))
		right++;
	if (start == end || end - start > 127 || right == line + length)
		return false;
	snprintf(name, 128, "%.*s", (int)(end - start), start);
	snprintf(value, 512, "%.*s", (int)(line + length - right), right);
	for (size_t n = strlen(value); n > 0 && isspace((unsigned char)value[n - 1]);
	     n--)
		value[n - 1] = '\0';
	return true;
}

/* None and False stand for an absent flag, but for what a flag switches off. */
static bool add_printed(struct arguments *arguments, const char *name,
			const char *value, int line)
{
	static const char *const off[][2] = {
		{ "add_bias_linear", "disable-bias-linear" },
		{ "overlap_p2p_comm", "no-overlap-p2p-communication" },
	};

	if (strcmp(value, "None") == 0)
		return true;
	/* the argument has another name than its flag */
	if (strcmp(name, "microbatch_group_size_per_vp_stage") == 0)
		name = "microbatch-group-size-per-virtual-pipeline-stage";
	if (strcmp(value, "False") != 0)
		return arguments_add(arguments, name,
				     strcmp(value, "True") == 0 ? "" : value, line);
	for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
		if (strcmp(off[i][0], name) == 0)
			return arguments_add(arguments, off[i][1], "", line);
	return true;
}

bool arguments_from_printed(struct arguments *arguments, const char *text,
			    size_t length)
{
	int line = 1;

	for (const char *at = text; at < text + length; line++) {
		const char *end = memchr(at, '\n', (size_t)(text + length - at));
		size_t width = end ? (size_t)(end - at) : (size_t)(text + length - at);
		char name[128], value[512];

		if (printed_line(at, width, name, value)) {
			const char *found = memmem(at, width, name, strlen(name));

			if (!add_printed(arguments, name, value,
					 place_at(line, found - at + 1)))
				return false;
		}
		at += width + 1;
	}
	return true;
}

bool printed_looks_like(const char *text, size_t length)
{
	int found = 0;

	for (const char *at = text; at < text + length && found < 5;) {
		const char *end = memchr(at, '\n', (size_t)(text + length - at));
		size_t width = end ? (size_t)(end - at) : (size_t)(text + length - at);
		char name[128], value[512];

		found += printed_line(at, width, name, value);
		at += width + 1;
	}
	return found >= 5;
}
