/* finetune.h - configurations of trainers that tune published models, as scenarios.
 *
 * Keys: LLaMA-Factory (src/llamafactory/hparams, and transformers' TrainingArguments),
 * axolotl (docs/config-reference.qmd), TRL and ms-swift (trainer.c).
 */
#ifndef PRESETS_FINETUNE_FINETUNE_H
#define PRESETS_FINETUNE_FINETUNE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"
#include "presets/pairs/pairs.h"

/* Each as format_in.read of presets/format_table.h. */
bool llama_factory_read(struct scenario *out, const char *file, const char *text,
			size_t length, struct import_report *report,
			struct error *error);
bool axolotl_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error);

/* A command of transformers' Trainer, TRL's, ms-swift's or LLaMA-Factory's, or TRL's
 * YAML. */
bool trainer_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error);
/* As llama_factory_read(), of a command's flags; takes the pairs over. */
bool llama_factory_read_pairs(struct scenario *out, struct pairs *pairs,
			      struct import_report *report, struct error *error);

#endif
