/* scenario_file.h - scenario YAML in and out.
 *
 * format: 1, model, cluster and stack by preset name (or a whole mapping), then
 * one key per knob. Plans in presets/plans/ have this form too, with source,
 * measured and note keys that are kept for display only.
 */
#ifndef PRESETS_SCENARIO_FILE_H
#define PRESETS_SCENARIO_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/plan/scenario.h"
#include "presets/document.h"
#include "presets/error.h"

/* What a file that names none has: the assumption is told (kept.h). */
#define SCENARIO_CLUSTER "dgx-h100"
#define SCENARIO_STACK   "megatron-core"
#define SCENARIO_SERVER  "vllm" /* the stack, where mode is inference */

/* What a plan says beside the scenario. */
struct scenario_note {
	char title[MAX_NOTE], source[MAX_NOTE], note[512];
	/* 0 = not stated */
	double measured_step_seconds;
	double measured_output_tokens_per_second, measured_ttft_seconds,
		measured_tpot_seconds;
};

/* By plan name, path or shared line (share.h). note may be NULL. */
bool scenario_read(struct scenario *out, const char *name, struct scenario_note *note,
		   struct error *error);
bool scenario_parse(struct scenario *out, const char *file, const char *text,
		    size_t length, struct scenario_note *note, struct error *error);
/* The same from a mapping inside a document. */
bool scenario_from(struct scenario *out, const struct document *document,
		   const struct node *map, struct scenario_note *note,
		   struct error *error);
/* What eval and search print in JSON has the scenario inside, search that of the best
 * plan; of others the mapping itself. */
const struct node *scenario_within(const struct node *map);
/* The stack of a mapping that names none: that of servers, or what is usual on its
 * cluster. */
const char *scenario_usual_stack(const struct node *map, const struct cluster *cluster);
/* YAML that scenario_read takes back to an equal scenario; only what differs from
 * the defaults of model, cluster and stack. To be freed. NULL: out of memory. */
char *scenario_write(const struct scenario *scenario);
/* The same with whatever is a user's own preset written out whole. */
char *scenario_write_for_others(const struct scenario *scenario);
/* Built-in start: Llama-3 70B on 64 H100. */
bool scenario_start(struct scenario *out, struct error *error);
/* A model on a cluster with a stack, all knobs at their defaults; no stack: what is
 * usual on that cluster. */
bool scenario_blank(struct scenario *out, const char *model, const char *cluster,
		    const char *stack, struct error *error);

#endif
