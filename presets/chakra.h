/* chakra.h - a training step as Chakra execution traces, which ASTRA-sim runs: one file
 * a pipeline stage, as its ranks are all alike.
 *
 * Schema: mlcommons/chakra, schema/protobuf/et_def.proto; attributes that the reader
 * asks for: src/feeder/et_feeder_node.cpp; each message behind its length as a varint:
 * src/third_party/utils/protoio.cc. What a stage computes is a node of so many
 * microseconds, with the collectives of its own ranks that it waits for in it; between
 * stages activations and gradients are sent and received.
 */
#ifndef PRESETS_CHAKRA_H
#define PRESETS_CHAKRA_H

#include <stdbool.h>

#include "engine/timeline/timeline.h"
#include "presets/error.h"

/* Bytes of one stage's file, to be freed; *length is set. bytes are those of one
 * transfer between stages. NULL: no memory. */
char *chakra_stage(const struct timeline *timeline, int stage, double bytes,
		   size_t *length);
/* Bytes of one transfer between stages of the timeline. */
double chakra_transfer_bytes(const struct timeline *timeline,
			     const struct estimate *estimate);
/* Writes DIR/NAME.0.et and on, NAME the model's; makes the folder. Tells how many. */
bool chakra_write(const struct scenario *scenario, const char *folder, int *files,
		  struct error *error);

#endif
