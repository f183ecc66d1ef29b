/* plugins.h - what accelerate starts beside FSDP: DeepSpeed and Megatron-LM.
 *
 * Keys: accelerate/commands/config/cluster.py and utils/dataclasses.py
 * (DeepSpeedPlugin, MegatronLMPlugin).
 */
#ifndef PRESETS_ACCELERATE_PLUGINS_H
#define PRESETS_ACCELERATE_PLUGINS_H

#include "presets/pairs/mapping.h"

#define ACCELERATE_PARALLEL "parallelism_config.parallelism_config_"

/* How the file's distributed_type is read; NULL: as FSDP, or as data parallelism. */
const struct mapped_format *accelerate_plugin(const struct pairs *pairs);
/* The machines by num_machines, once num_processes is taken. */
bool accelerate_machines(const struct mapped *m);

#endif
