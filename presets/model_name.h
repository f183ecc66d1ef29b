/* model_name.h - what the name of a checkpoint says: "RedHatAI/Meta-Llama-3.1-70B-
 * Instruct-FP8" is llama3.1-70b in fp8.
 *
 * What stays of a name without publisher, tuning, dates and number format is compared
 * with the library's names and Hugging Face ids; nothing is opened.
 */
#ifndef PRESETS_MODEL_NAME_H
#define PRESETS_MODEL_NAME_H

#include "engine/model/model.h"
#include "presets/shelf.h"

/* An id, a path, or an entry of the Hugging Face cache; NULL: none is meant. */
const struct preset *model_name_find(const char *name);
/* The model of a recipe or a function that makes a configuration, where 31 is 3.1: what
 * stands before its task in "llama31_405b_pretrain_config", "qwen3_30b_a3b_sft_config",
 * "llama3_70b". */
const struct preset *model_name_recipe(const char *recipe);
/* Whether the name is of those whose configuration nobody compared with the preset's,
 * and what that does to costs, as a text behind what model.approximate holds. */
bool model_name_is_alike(const char *name, const struct preset *preset);
void model_name_doubt(const char *name, struct model *model);
/* Whether the name is of another model of the same shape, a later edition among them:
 * how many positions it was trained for is not the preset's, and not known then, but
 * where they are weights. */
bool model_name_is_other(const char *name, const struct preset *preset);
void model_name_forget_reach(struct model *model);
/* Whether a name is of a model that embeds or ranks texts, which the model then says.
 */
bool model_name_ranks(const char *name, struct model *model);
/* The same of a model that writes by diffusion (LLaDA). */
bool model_name_diffuses(const char *name, struct model *model);
/* Whether the name is of a model that sees or hears and the preset's is not, which is
 * then its text part, and that as such a text. */
bool model_name_sees(const char *name, const struct preset *preset);
void model_name_text_part(const char *name, struct model *model);
/* Whether the name is of a model that is known and whose shape is not: its config.json
 * stands behind a licence, or nothing of it was to be had. What is spelled like it is
 * another. */
bool model_name_is_closed(const char *name);
/* What stays of a name: "Meta-Llama-3.1-70B-Instruct-FP8" and "llama3.1-70b" are both
 * "llama3.170b". */
enum { MODEL_NAME_ID = 256 };
void model_name_reduce(const char *checkpoint, char out[MODEL_NAME_ID]);
/* A word of the knob `precision` that the name tells ("...-FP8", "...-AWQ"), or NULL;
 * *doubt becomes what is otherwise there, or NULL. */
const char *model_name_format(const char *name, const char **doubt);

#endif
