/* primus.h - experiment files of Primus: a trainer, its model's file, and overrides of
 * the settings of a backend.
 *
 * How they are laid over each other: primus/core/config/primus_config.py
 * (AMD-AGI/Primus@fd1eeabb).
 */
#ifndef PRESETS_PRIMUS_PRIMUS_H
#define PRESETS_PRIMUS_PRIMUS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/import.h"
#include "presets/node.h"
#include "presets/pairs/pairs.h"

/* The mapping of a document that names a framework and overrides it, or NULL. */
const struct node *primus_trainer(const struct node *root);
/* The text with "${NAME:word}" as what is given for NAME, else the word. False where it
 * has none such. */
bool primus_default(const char *text, const struct script_given *given, char *out,
		    size_t size);
/* What the trainer's model is called by, "llama3.1_8B"; "" where it names none. */
void primus_model(const struct node *trainer, const struct script_given *given,
		  char *out, size_t size);
/* The library's model of such a name, or NULL. */
const struct preset *primus_preset(const char *name);
/* Whether a text is a file of Primus for this backend. */
bool primus_runs(const char *text, const char *framework);
/* Its overrides under the backend's keys, its model as "primus.model", and behind them
 * what Primus sets otherwise than the backend. Fills out, to be freed; false with
 * FILE:LINE, and nothing is to be freed. */
bool primus_pairs(struct pairs *out, const char *file, const char *text, size_t length,
		  struct import_report *report, struct error *error);
/* The machine that the path names; MI300X, which is told, where it names none. False
 * with the error. */
bool primus_machine(struct scenario *out, const char *path,
		    struct import_report *report, struct error *error);

/* What primus/configs sets otherwise than the backend itself; NULL behind the last. */
struct primus_setting {
	const char *framework;
	const char *of; /* the model, or Megatron's file of settings; NULL: all */
	const char *key, *value;
};
const struct primus_setting *primus_setting(size_t i);

#endif
