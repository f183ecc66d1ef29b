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
#include "presets/trace.h"

/* What is written of a timeline: the stages and micro-batches of a cut, with the
 * transfers among them alone, so that what is received is sent. */
struct chakra_source {
	const struct timeline *timeline;
	struct trace_cut cut;
	double bytes; /* of one transfer between stages */
};

/* What came of it. */
struct chakra_files {
	int count;
	double bytes; /* of all */
};

/* Bytes of one stage's file, to be freed; *length is set. NULL: no memory. */
char *chakra_stage(const struct chakra_source *source, int stage, size_t *length);
/* Bytes of one transfer between stages of the timeline. */
double chakra_transfer_bytes(const struct timeline *timeline,
			     const struct estimate *estimate);
/* Writes DIR/NAME.0.et and on, NAME the model's; makes the folder. */
bool chakra_write(const struct scenario *scenario, const struct trace_cut *cut,
		  const char *folder, struct chakra_files *files, struct error *error);

#endif
