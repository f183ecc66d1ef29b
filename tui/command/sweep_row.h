/* sweep_row.h - a point of a sweep: its best plan where knobs are free, and its line of
 * the table on a terminal. */
#ifndef TUI_COMMAND_SWEEP_ROW_H
#define TUI_COMMAND_SWEEP_ROW_H

#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"
#include "presets/error.h"

enum { MAX_FREE = 24 };

/* Knobs of --free, that the best plan of each point chooses. */
struct sweep_free {
	bool all; /* all that a search is free to choose */
	int count;
	const struct knob *knob[MAX_FREE];
};

/* "tp,pp" or "all". */
bool sweep_free_read(struct sweep_free *out, const char *text, struct error *error);
/* Sets the free knobs as the best plan has them, with what is varied as it is; the
 * scenario is left alone where nothing fits. False without memory. */
bool sweep_free_choose(const struct sweep_free *free, const struct knob *const *varied,
		       int count, struct scenario *scenario);

/* The table: varied knobs, free ones, and what came out. */
void sweep_table_head(const struct knob *const *varied, int count,
		      const struct sweep_free *free, bool serves);
void sweep_table_row(const struct knob *const *varied, int count,
		     const struct sweep_free *free, const struct scenario *scenario,
		     const struct estimate *estimate);

#endif
