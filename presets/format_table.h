/* format_table.h - every form that a scenario can be read from or written in, in one
 * table: readers and writers of a tool stand side by side.
 */
#ifndef PRESETS_FORMAT_TABLE_H
#define PRESETS_FORMAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/estimate/estimate.h"
#include "engine/plan/scenario.h"
#include "presets/chakra.h"
#include "presets/error.h"
#include "presets/import.h"
#include "presets/trace.h"

/* What is written. */
struct format_request {
	const struct scenario *scenario;
	const struct estimate *estimate; /* of the scenario */
	/* Compared with in a report, or NULL. */
	const struct scenario *baseline;
	const struct estimate *before;
	/* What the scenario's own file had beside, or NULL. */
	const struct import_report *kept;
	const char *assumed; /* what was taken by itself, for a report; NULL: nothing */
	const struct start *start; /* the same by key; NULL: nothing was started */
	struct trace_cut cut;      /* of a trace */
	/* Why there is nothing to write, or NULL. */
	struct error *error;
};

/* Of which plans a target can be told. */
enum format_of { FORMAT_OF_ANY, FORMAT_OF_TRAINING, FORMAT_OF_SERVERS };

struct format_in {
	const char *help;
	/* text ends with a zero. False with FILE:LINE, *out unchanged. NULL: it is only
	 * written. */
	bool (*read)(struct scenario *out, const char *file, const char *text,
		     size_t length, struct import_report *report, struct error *error);
	bool keeps; /* its writer gives back what is not modelled */
};

struct format_out {
	const char *help, *suffix;
	enum format_of of;
	/* A string to be freed, or NULL. Both NULL: it is only read. */
	char *(*write)(const struct format_request *request);
	/* Of a format of several files, instead: into that folder. */
	bool (*write_folder)(const struct format_request *request, const char *folder,
			     struct chakra_files *files);
};

struct format {
	const char *name;
	struct format_in in;
	struct format_out out;
};

extern const struct format format_table[];
int format_count(void);
/* A format that can be read, or one that can be written, by name; NULL: there is none.
 */
const struct format *format_find(const char *name);
const struct format *format_find_written(const char *name);
bool format_is_written(const struct format *format);
/* Whether the format is one of plans of this kind; false with the error, which names
 * those that are. */
bool format_suits(const struct format *format, const struct scenario *scenario,
		  struct error *error);

/* The knob that one of the trainers and servers calls by this flag, without dashes;
 * NULL: none does. */
const char *format_flag_knob(const char *flag);

#endif
