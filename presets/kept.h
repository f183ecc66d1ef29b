/* kept.h - settings of another tool's file that nothing here models, in a scenario
 * file: kept: {megatron: {"lr": "3e-4", "log-throughput": ""}} They mean nothing to an
 * estimate and come back on export to that tool. And what a reader assumed, until it is
 * settled: assumed: {"cluster": "dgx-h100", "gpus": "8"}
 */
#ifndef PRESETS_KEPT_H
#define PRESETS_KEPT_H

#include "engine/knob/knob.h"
#include "engine/plan/scenario.h"
#include "presets/import.h"

/* scenario_write() and what `kept` holds; it may be NULL. To be freed. */
char *kept_write(const struct scenario *scenario, const struct import_report *kept);
/* The notes of a scenario file, if it has any; what is no such file has none. */
void kept_read(const char *path, struct import_report *out);
/* The same of its text. */
void kept_parse(const char *file, const char *text, size_t length,
		struct import_report *out);
/* The knobs that a scenario file says, at most so many; returns how many. */
int kept_knobs(const char *path, const struct knob *out[], int most);

#endif
