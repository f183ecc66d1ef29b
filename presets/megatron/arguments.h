/* arguments.h - the flags of a Megatron-LM launch, whatever form they came in.
 *
 * A command line, a shell script with arrays and simple variables (read, never
 * executed), the MODEL_ARGS mapping of a YAML file, or the block of arguments
 * that Megatron prints at start become one list of names and values. Names are
 * without dashes in front and with '-' for '_'.
 */
#ifndef PRESETS_MEGATRON_ARGUMENTS_H
#define PRESETS_MEGATRON_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "presets/document.h"
#include "presets/error.h"

struct argument {
	const char *name;
	const char *value; /* several words joined by spaces; "" for a switch */
	int line;
};

enum { ARGUMENTS_SKIPPED = 64 };

struct arguments {
	int count, capacity;
	struct argument *item;
	int64_t world; /* GPUs, from the launcher or the batch header; 0 = not said */
	int64_t nodes, per_node;
	struct text_block *blocks; /* owns all strings */
	size_t bytes;
	char file[256];
	int skipped_count;
	struct argument skipped[ARGUMENTS_SKIPPED]; /* "a.b.c", in mappings not read */
	int skipped_more;                           /* beyond these */
};

enum { ARGUMENTS_MAX = 4096, ARGUMENTS_MAX_BYTES = 4 << 20 };

/* From text of any of the forms. False with FILE:LINE if there are no flags. */
bool arguments_read(struct arguments *out, const char *file, const char *text,
		    size_t length, struct error *error);
void arguments_free(struct arguments *arguments);
/* The last one of that name, as Python's argparse takes it; NULL if absent. */
const struct argument *arguments_find(const struct arguments *arguments,
				      const char *name);

/* For the readers of the forms. Copies into the list's own storage; NULL when a
 * bound is reached. */
const char *arguments_keep(struct arguments *arguments, const char *text,
			   size_t length);
bool arguments_add(struct arguments *arguments, const char *name, const char *value,
		   int line);
/* The world of nodes and GPUs of a node, where both are known. */
void arguments_take_world(struct arguments *arguments);
/* Words of a command, "--name", "--name=value" and values, from words[0] on. */
struct shell_word {
	const char *text;
	int line;
};
bool arguments_add_words(struct arguments *arguments, const struct shell_word *words,
			 int count);
/* A shell script or command line. */
bool arguments_from_shell(struct arguments *arguments, const char *text, size_t length,
			  struct error *error);

/* What stands in a mapping that is not read is told by its whole key. Depth is bounded
 * by the document's. */
void arguments_skip(struct arguments *arguments, const struct node *node,
		    const char *prefix);

/* A configuration of NeMo, parsed (nemo.c). */
bool nemo_looks_like(const struct node *root);
bool arguments_from_nemo(struct arguments *arguments, const struct node *root,
			 struct error *error);

/* Overrides of a Megatron-Bridge configuration (bridge.c). */
bool bridge_looks_like(const char *text, size_t length);
bool arguments_from_bridge(struct arguments *arguments, const char *text, size_t length,
			   struct error *error);
/* "model.tensor_model_parallel_size=8" or "++train.global_batch_size=64": a word of a
 * command that overrides a field, as Hydra writes it. */
bool bridge_is_override(const char *word);
/* Adds the flag of such a word; false when a bound is reached. */
bool bridge_add_override(struct arguments *arguments, const char *word, int line);

#endif
