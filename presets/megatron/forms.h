/* forms.h - the flags of a Megatron-LM launch, whatever form they came in.
 *
 * A command line, a shell script with arrays and simple variables (read, never
 * executed), the MODEL_ARGS mapping of a YAML file, or the block of arguments
 * that Megatron prints at start become one list of names and values.
 */
#ifndef PRESETS_MEGATRON_FORMS_H
#define PRESETS_MEGATRON_FORMS_H

#include "presets/document.h"
#include "presets/script/shell.h"

/* From text of any of the forms; given may be NULL. False with FILE:LINE if there are
 * no flags. */
bool arguments_read(struct arguments *out, const char *file, const char *text,
		    size_t length, const struct script_given *given,
		    struct error *error);

/* Words of a command, "--name", "--name=value" and values, from words[0] on. */
bool arguments_add_words(struct arguments *arguments, const struct shell_word *words,
			 int count);
/* A shell script or command line. */
bool arguments_from_shell(struct arguments *arguments, const char *text, size_t length,
			  struct error *error);

/* What stands in a mapping that is not read is told by its whole key. Depth is bounded
 * by the document's. */
void arguments_skip(struct arguments *arguments, const struct node *node,
		    const char *prefix);

/* The block that Megatron prints (printed.c). */
bool printed_looks_like(const char *text, size_t length);
bool arguments_from_printed(struct arguments *arguments, const char *text,
			    size_t length);

/* Keys of YAML (yaml.c). */
bool arguments_from_yaml(struct arguments *arguments, const char *text, size_t length,
			 struct error *error);

/* One of its members as a flag; false when a bound is reached. */
bool arguments_add_member(struct arguments *arguments, const struct node *node);

/* A training file of FlagScale, parsed (flagscale.c). */
bool flagscale_looks_like(const struct node *root);
bool arguments_from_flagscale(struct arguments *arguments, const struct node *root,
			      struct error *error);

/* A file of `megatron sft FILE` of ms-swift, parsed (swift.c): that launcher is told
 * beside its keys; false when a bound is reached. */
bool swift_looks_like(const struct node *root);
bool swift_add_file(struct arguments *arguments, const struct node *root);

/* A configuration of NeMo, parsed (nemo.c). */
bool nemo_looks_like(const struct node *root);
bool arguments_from_nemo(struct arguments *arguments, const struct node *root,
			 struct error *error);

/* Overrides of a Megatron-Bridge configuration (bridge.c). */
bool bridge_looks_like(const char *text, size_t length);
bool arguments_from_bridge(struct arguments *arguments, const char *text, size_t length,
			   struct error *error);
/* The flag of a field ("ddp.overlap_grad_reduce"), by the table or by its own name. */
bool bridge_add_field(struct arguments *arguments, const char *field, const char *value,
		      int line, struct error *error);
/* Of what Bridge's providers have otherwise than Megatron's flags: a table of positions
 * reaches as far as a sequence (gpt_provider.py), hybrids have none
 * (mamba_provider.py). False when a bound is reached. */
bool bridge_add_positions(struct arguments *arguments);
/* A file of recipes in Python (recipe.c), of which arguments->given says the function.
 */
bool recipe_looks_like(const char *text);
bool arguments_from_recipe(struct arguments *arguments, const char *text, size_t length,
			   struct error *error);
/* A file of NeMo 2's own recipes (nemo2_recipe.c). */
bool nemo2_recipe_looks_like(const char *text);
bool arguments_from_nemo2_recipe(struct arguments *arguments, const char *text,
				 size_t length, struct error *error);
/* A recipe of NeMo 2 in Python (nemo2.c). */
bool nemo2_looks_like(const char *text);
bool arguments_from_nemo2(struct arguments *arguments, const char *text, size_t length,
			  struct error *error);
/* What the performance scripts of Megatron-Bridge and NeMo set beside what they are
 * told (performance.c), where it is one of theirs; false with the error. */
bool performance_add(struct arguments *arguments, struct error *error);
/* Whether it understands this flag, of such a launch. */
bool performance_flag(const struct arguments *arguments, const char *name);
/* "model.tensor_model_parallel_size=8" or "++train.global_batch_size=64": a word of a
 * command that overrides a field, as Hydra writes it. */
bool bridge_is_override(const char *word);
/* Adds the flag of such a word; false when a bound is reached. */
bool bridge_add_override(struct arguments *arguments, const char *word, int line);

#endif
