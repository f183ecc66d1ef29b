/* library.h - the shipped and the user's own models, clusters and stacks as the engine
 * takes them.
 */
#ifndef PRESETS_LIBRARY_H
#define PRESETS_LIBRARY_H

#include "engine/plan/scenario.h"
#include "presets/preset.h"

/* Each takes a name or a path, fills the struct, keeps it on failure. A model may
 * be a config.json of Hugging Face. */
bool library_model(struct model *out, const char *name, struct error *error);
bool library_cluster(struct cluster *out, const char *name, struct error *error);
/* An accelerator by name, as validation files name it ("h100-sxm-80g"): the
 * shipped cluster that has it. */
bool library_accelerator(struct cluster *out, const char *name, struct error *error);
/* The shipped cluster of machines that people call "h200" or "GB300"; NULL: none. */
const char *library_machine(const char *word);
/* The one that a path names last: "run_h200.sh", "configs/MI355X/a.yaml", a folder of
 * Google Cloud's "a4x"; NULL: none. */
const char *library_machine_in(const char *path);
/* Sets scenario->stack and every knob that the stack has a default for. */
bool library_stack(struct scenario *scenario, const char *name, struct error *error);
/* What is otherwise in the release that a stack's name asks for than in the newest;
 * empty without one. */
void library_undone(const char *name, char *out, size_t size);

/* Another stack under a plan: knobs that are not as the stack before has them stay,
 * the others become as this one has them. */
bool library_change_stack(struct scenario *scenario, const char *name,
			  struct error *error);

/* The same from a node of a scenario: a name, or the whole as a mapping. */
bool library_model_node(struct model *out, const struct document *document,
			const struct node *node, struct error *error);
bool library_cluster_node(struct cluster *out, const struct document *document,
			  const struct node *node, struct error *error);
bool library_stack_node(struct scenario *scenario, const struct document *document,
			const struct node *node, struct error *error);

#endif
