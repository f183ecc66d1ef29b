/* export.h - what a scenario and its estimate can be written as; one table serves
 * the explorer and the command line. */
#ifndef TUI_EXPLORER_EXPORT_H
#define TUI_EXPLORER_EXPORT_H

#include "engine/estimate.h"
#include "presets/error.h"
#include "presets/import.h"

/* What is written. */
struct export_request {
	const struct scenario *scenario;
	const struct estimate *estimate; /* of the scenario */
	/* Compared with in a report, or NULL. */
	const struct scenario *baseline;
	const struct estimate *before;
	/* What the scenario's own file had beside, or NULL. */
	const struct import_report *kept;
	/* Why there is nothing to write, where a format can say so; or NULL. */
	struct error *error;
};

struct export_format {
	const char *name, *suffix, *help;
	/* A string to be freed, or NULL. */
	char *(*write)(const struct export_request *request);
};

extern const struct export_format export_table[];
int export_count(void);
const struct export_format *export_find(const char *name);

#endif
