/* log.h - how long a step took, from the log of an MLPerf Training run: the lines that
 * begin with :::MLLOG (mlcommons/logging, mlperf_logging/mllog/README.md).
 *
 * What is read are the blocks between two evaluations: how many samples were trained
 * on from block_start to block_stop, by their times in milliseconds. The first block
 * warms up; the median of all counts.
 */
#ifndef PRESETS_MLPERF_LOG_H
#define PRESETS_MLPERF_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "presets/error.h"

struct mlperf_log {
	double step_seconds; /* median over the blocks */
	int blocks;
	int64_t global_batch;  /* 0 = not stated */
	int global_batch_line; /* where it is stated */
	int64_t sequence;      /* 0 = not stated */
	int sequence_line;
	char benchmark[32];
};

/* False with error filled where the text has no block that ended, no batch, or a line
 * that is none. */
bool mlperf_log_parse(const char *file, const char *text, size_t length,
		      struct mlperf_log *out, struct error *error);
bool mlperf_log_read(const char *path, struct mlperf_log *out, struct error *error);

#endif
