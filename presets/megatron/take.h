/* take.h - flags into knobs, by the table of flags.h and one at a time. */
#ifndef PRESETS_MEGATRON_TAKE_H
#define PRESETS_MEGATRON_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/plan/scenario.h"
#include "presets/import.h"
#include "presets/megatron/flags.h"
#include "presets/script/arguments.h"

struct flag_reader {
	const struct arguments *arguments;
	struct scenario *out;
	struct import_report *report;
	struct error *error;
};

const struct argument *flag_find(const struct flag_reader *reader, const char *name);
bool flag_is_set(const struct flag_reader *reader, const char *name);
/* Whether the word stands anywhere in its value. */
bool flag_says(const struct flag_reader *reader, const char *name, const char *word);
/* A knob by its text; `from` says where in errors, and may be NULL. */
bool flag_set(struct flag_reader *reader, const char *key, const char *text,
	      const struct argument *from);
bool flag_set_count(struct flag_reader *reader, const char *key, int64_t value,
		    const struct argument *from);
/* A whole number; *out stays where the flag is absent. */
bool flag_number(struct flag_reader *reader, const char *name, int64_t *out);
/* A row of the table: its value, or what its absence means. */
bool flag_take(struct flag_reader *reader, const struct flag *flag);

#endif
