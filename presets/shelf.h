/* shelf.h - which models, clusters, stacks, plans and lessons there are.
 *
 * Shipped presets are compiled into the binary from presets/<kind>/<name>.yaml.
 * A user's file in $XDG_CONFIG_HOME/shardscope/<kind>/ of the same name comes
 * first.
 */
#ifndef PRESETS_SHELF_H
#define PRESETS_SHELF_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/limits.h"
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
	const char *title; /* one line for lists: "70.6 B, 80 layers, GQA 8" */
	const char *alias; /* a model's Hugging Face id, or empty */
	const char *also;  /* other models of the same shape, parted by blanks */
	/* others that are said to be, and whose configuration nobody compared */
	const char *alike;
	bool described;   /* the file was read for what stands above, empty before */
	bool own;         /* from the user's folder */
	const char *text; /* YAML of a shipped preset; NULL for an own file */
	size_t length;
	char *path; /* of an own file; NULL: there was no memory for it */
	/* of a shipped one that was opened, or NULL: its nodes, and what its reader
	 * made of them */
	struct document *kept;
	void *made;
};

/* "models", "clusters", "stacks", "plans", "lessons". */
const char *preset_kind_label(enum preset_kind kind);
/* All presets of a kind, sorted by name, own ones first where names clash. The
 * list is made once and stays valid. Returns the count. */
int preset_list(enum preset_kind kind, const struct preset **list);
/* The one of that very name, in any case; no other file is read. NULL: there is none.
 */
const struct preset *shelf_find(enum preset_kind kind, const char *name);
/* False where memory ran out while the list was made. */
bool preset_list_is_whole(enum preset_kind kind);
/* A shipped text or an own file as a document; a shipped one is read once, and the
 * same nodes are given again. */
bool shelf_open(const struct preset *preset, struct document *document,
		struct error *error);
/* What a reader made of a shipped preset, for the next time. */
void shelf_keep_made(const struct preset *preset, const void *made, size_t size);

#endif
