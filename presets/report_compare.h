/* report_compare.h - plans side by side as JSON and Markdown. Strings are to be freed;
 * NULL means that memory ran out. */
#ifndef PRESETS_REPORT_COMPARE_H
#define PRESETS_REPORT_COMPARE_H

#include "engine/compare/compare.h"
#include "engine/start/start.h"

/* What one of them is called, and what was assumed of it. */
struct compare_title {
	const char *name;
	struct start start;
};

/* The object of `compare --json`: plans (name, scenario, feasible, problems, tokens a
 * second, assumed), knobs that differ, and the rows of seconds and bytes with their
 * sums. */
char *report_compare_json(const struct compare *compare,
			  const struct scenario *const *scenario,
			  const struct estimate *const *estimate,
			  const struct compare_title *title);
char *report_compare_markdown(const struct compare *compare,
			      const struct scenario *const *scenario,
			      const struct compare_title *title);

#endif
