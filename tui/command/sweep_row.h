/* sweep_row.h - a point of a sweep: its best plan where knobs are free, and its line of
 * the table on a terminal. */
#ifndef TUI_COMMAND_SWEEP_ROW_H
#define TUI_COMMAND_SWEEP_ROW_H

#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"
#include "presets/error.h"

enum { MAX_FREE = 24, MAX_VARIED = 16 };

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

/* Adds up the plans that a knob moves nothing in; `plans` is how many were asked. */
struct sweep_idle {
	long long plans, idle[MAX_VARIED];
};
void sweep_idle_count(struct sweep_idle *out, const struct knob *const *varied,
		      int count, const struct scenario *scenario);
/* A line on standard error for each knob that moved nothing in all or some plans. */
void sweep_idle_tell(const struct sweep_idle *idle, const struct knob *const *varied,
		     int count);

/* What rows remark of varied knobs, by the codes of the rules: the first few texts. */
enum { MAX_NOTES = 8 };
struct sweep_notes {
	int count;
	char code[MAX_NOTES][8], text[MAX_NOTES][320];
};

/* The table: varied knobs, free ones, what came out, and the codes of remarks. */
void sweep_table_head(const struct knob *const *varied, int count,
		      const struct sweep_free *free, bool serves);
void sweep_table_row(const struct knob *const *varied, int count,
		     const struct sweep_free *free, const struct scenario *scenario,
		     const struct estimate *estimate, struct sweep_notes *notes);
/* Below the table: what the codes of its rows mean. */
void sweep_table_notes(const struct sweep_notes *notes);

#endif
