/* export.h - what a scenario and its estimate can be written as; one table serves
 * the explorer and the command line. */
#ifndef TUI_EXPLORER_EXPORT_H
#define TUI_EXPLORER_EXPORT_H

#include "engine/estimate.h"
#include "presets/import.h"

struct export_format {
	const char *name, *suffix, *help;
	/* A string to be freed, or NULL. */
	char *(*write)(const struct scenario *scenario,
		       const struct estimate *estimate);
	/* The same with what the scenario's own file had beside; NULL where the format
	 * has no room for it. */
	char *(*write_kept)(const struct scenario *scenario,
			    const struct import_report *kept);
};

extern const struct export_format export_table[];
int export_count(void);
const struct export_format *export_find(const char *name);

#endif
