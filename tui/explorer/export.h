/* export.h - what a scenario and its estimate can be written as; one table serves
 * the explorer and the command line. */
#ifndef TUI_EXPLORER_EXPORT_H
#define TUI_EXPLORER_EXPORT_H

#include "engine/estimate/estimate.h"
#include "presets/error.h"
#include "presets/import.h"
#include "presets/trace.h"

/* What is written. */
struct export_request {
	const struct scenario *scenario;
	const struct estimate *estimate; /* of the scenario */
	/* Compared with in a report, or NULL. */
	const struct scenario *baseline;
	const struct estimate *before;
	/* What the scenario's own file had beside, or NULL. */
	const struct import_report *kept;
	const char *assumed; /* what was taken by itself, for a report; NULL: nothing */
	struct trace_cut cut; /* of a trace */
	/* Why there is nothing to write, or NULL. */
	struct error *error;
};

/* Of which plans a target can be told. */
enum export_of { EXPORT_OF_ANY, EXPORT_OF_TRAINING, EXPORT_OF_SERVERS };

struct export_format {
	const char *name, *suffix, *help;
	enum export_of of;
	/* A string to be freed, or NULL. */
	char *(*write)(const struct export_request *request);
	/* Of a format of several files, instead: into that folder, and how many. */
	bool (*write_folder)(const struct export_request *request, const char *folder,
			     int *files);
};

extern const struct export_format export_table[];
int export_count(void);
const struct export_format *export_find(const char *name);
/* Whether the format is one of plans of this kind; false with the error, which names
 * those that are. */
bool export_suits(const struct export_format *format, const struct scenario *scenario,
		  struct error *error);

#endif
