/* library.h - the shipped and the user's own models, clusters, stacks, plans.
 *
 * Shipped presets are compiled into the binary from presets/<kind>/<name>.yaml.
 * A user's file in $XDG_CONFIG_HOME/shardscope/<kind>/ of the same name comes
 * first. Names may also be paths to files, and for models Hugging Face ids.
 */
#ifndef PRESETS_LIBRARY_H
#define PRESETS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/document.h"
#include "presets/error.h"

enum preset_kind {
	PRESET_MODEL,
	PRESET_CLUSTER,
	PRESET_STACK,
	PRESET_PLAN,
	PRESET_LESSON,
	PRESET_KIND_COUNT
};

/* Those that are opened as what is computed: models, clusters, stacks, plans. */
enum { PRESET_OPENED_COUNT = PRESET_PLAN + 1 };

struct preset {
	char name[MAX_NAME];
	char title[MAX_NOTE]; /* one line for lists: "70.6 B, 80 layers, GQA 8" */
	char alias[MAX_NAME]; /* a model's Hugging Face id, or empty */
	char also[MAX_NOTE];  /* other models of the same shape, parted by blanks */
	/* others that are said to be, and whose configuration nobody compared */
	char alike[MAX_NOTE];
	bool own;         /* from the user's folder */
	const char *text; /* YAML of a shipped preset; NULL for an own file */
	size_t length;
	char path[512]; /* of an own file */
};

/* "models", "clusters", "stacks", "plans", "lessons". */
const char *preset_kind_label(enum preset_kind kind);
/* All presets of a kind, sorted by name, own ones first where names clash. The
 * list is made once and stays valid. Returns the count. */
int preset_list(enum preset_kind kind, const struct preset **list);
/* False where memory ran out while the list was made. */
bool preset_list_is_whole(enum preset_kind kind);
/* By name or Hugging Face id; a model also by the id of a checkpoint tuned or quantised
 * from it. NULL: there is none. */
const struct preset *preset_find(enum preset_kind kind, const char *name);
/* YAML text of a preset, to be freed by the caller; NULL with error filled. */
char *preset_text(enum preset_kind kind, const char *name, struct error *error);
/* Open a preset by name, or a file by path, as a document. An unknown name is
 * answered with the nearest ones. */
bool preset_open(enum preset_kind kind, const char *name, struct document *document,
		 struct error *error);

/* Each takes a name or a path, fills the struct, keeps it on failure. A model may
 * be a config.json of Hugging Face. */
bool library_model(struct model *out, const char *name, struct error *error);
bool library_cluster(struct cluster *out, const char *name, struct error *error);
/* An accelerator by name, as validation files name it ("h100-sxm-80g"): the
 * shipped cluster that has it. */
bool library_accelerator(struct cluster *out, const char *name, struct error *error);
/* The shipped cluster of machines that people call "h200" or "GB300"; NULL: none. */
const char *library_machine(const char *word);
/* Sets scenario->stack and every knob that the stack has a default for. */
bool library_stack(struct scenario *scenario, const char *name, struct error *error);

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
