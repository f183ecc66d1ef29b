/* ability_file.h - the sheet of what a stack has, as YAML.
 *
 *     abilities:
 *       read: "NVIDIA/Megatron-LM@d98e8a64dd, 2026-08"
 *       rows:
 *       - {knob: schedule, has: [1f1b, interleaved], source: "schedules.py:723"}
 *       - {knob: zero, has: [0, 1], with: pp, from: 2, source: "engine.py:77"}
 *       - {knob: cp, most: 1, source: "topology_config.py:43"}
 *       - {knob: zero_group, source: not checked}
 *
 * `with` and `in` or `from`: the row holds only beside those values of another knob.
 */
#ifndef PRESETS_ABILITY_FILE_H
#define PRESETS_ABILITY_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/plan/scenario.h"
#include "presets/document.h"

/* The scenario parses values and is left as it was. */
bool abilities_read(const struct document *document, const struct node *map,
		    struct scenario *scenario, struct ability_sheet *out,
		    struct error *error);
/* The inside of the mapping `abilities`, as abilities_read takes it back. */
void abilities_write(const struct ability_sheet *sheet, FILE *stream);

#endif
