/* mlperf.h - the settings of an MLPerf Training submission as a scenario.
 *
 * Names: config_*.sh of NVIDIA's and AMD's submissions, mlcommons/training_results_v4.1
 * to v5.1. What a benchmark fixes: mlcommons/training_policies, training_rules.adoc.
 */
#ifndef PRESETS_MLPERF_MLPERF_H
#define PRESETS_MLPERF_MLPERF_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

/* As format_in.read of presets/format_table.h. */
bool mlperf_read(struct scenario *out, const char *file, const char *text,
		 size_t length, struct import_report *report, struct error *error);

#endif
