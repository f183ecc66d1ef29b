/* report.h - an estimate as JSON, CSV or Markdown. Strings are to be freed. */
#ifndef PRESETS_REPORT_H
#define PRESETS_REPORT_H

#include "engine/estimate.h"

/* The object of `eval --json`, DESIGN section 5, with a newline. */
char *report_json(const struct scenario *scenario, const struct estimate *estimate);
/* One scenario, or against a baseline where it is not NULL. */
char *report_markdown(const struct scenario *scenario, const struct estimate *estimate,
		      const struct scenario *baseline, const struct estimate *before);
/* Header and rows of `sweep --csv`: every metric of metric_table. */
char *report_csv_header(const char *const *knobs, int count);
char *report_csv_row(const struct scenario *scenario, const struct estimate *estimate,
		     const char *const *knobs, int count);

#endif
