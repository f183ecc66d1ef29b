/* command.h - a command that starts transformers' Trainer, as pairs.
 *
 * `swift sft`, `trl sft`, `accelerate launch`, `torchrun` or `deepspeed` with a program
 * that takes --model_name_or_path and --per_device_train_batch_size.
 */
#ifndef PRESETS_FINETUNE_COMMAND_H
#define PRESETS_FINETUNE_COMMAND_H

#include "presets/import.h"
#include "presets/pairs/pairs.h"

/* Every flag of the first such command, '_' for '-', those of its launcher among them;
 * a switch alone is "true". "command" tells what is started: "swift sft", "trl dpo",
 * "llamafactory-cli train", or the program ("finetune.py"). NPROC_PER_NODE and NNODES
 * are there where `swift` is started with them. False with the error. */
bool command_pairs(struct pairs *out, const char *file, const char *text, size_t length,
		   struct import_report *report, struct error *error);
/* Whether a text is the settings themselves, YAML with a model at the start of a line,
 * and no command. */
bool command_is_yaml(const char *text);

#endif
