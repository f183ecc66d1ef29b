/* launched.c - see launched.h. Files of the models: primus/configs/models/torchtitan;
 * what the keys of primus_turbo turn: primus/backends/torchtitan/patches/turbo
 * (AMD-AGI/Primus@fd1eeabb).
 */
#include "presets/torchtitan/launched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/primus/primus.h"
#include "presets/torchtitan/rows.h"

/* "deepseek_v3_16b-fp8": a flavor of torchtitan's or a model by its own name, and the
 * converter of its linear layers. */
static bool name_model(struct pairs *out, const struct pair *model, struct error *error)
{
	const char *value = model->value, *behind, *family;
	size_t length = strlen(value);
	bool narrow = length > 4 && strcmp(value + length - 4, "-fp8") == 0;
	const struct flavor *row = NULL;
	int line = model->line;
	char name[128];

	snprintf(name, sizeof name, "%.*s", (int)(narrow ? length - 4 : length), value);
	if (!pairs_find(out, "model.converters") &&
	    !pairs_add(out, "model.converters",
		       narrow ? "primus_turbo quantize.linear.float8" : "primus_turbo",
		       line, error))
		return false;
	if (primus_preset(name))
		return pairs_add(out, "def", name, line, error);
	family = torchtitan_family(name, &behind);
	if (family && *behind == '_')
		row = torchtitan_flavor(family, behind + 1, false);
	return (!row || pairs_add(out, "model.name", family, line, error)) &&
	       pairs_add(out, "model.flavor", row ? row->flavor : name, line, error);
}

bool launched_by_primus(struct pairs *out, const char *file, const char *text,
			size_t length, struct import_report *report,
			struct error *error)
{
	const struct pair *model;

	if (!primus_pairs(out, file, text, length, report, error))
		return false;
	model = pairs_find(out, "primus.model");
	if (!model || pairs_find(out, "model.flavor") || name_model(out, model, error))
		return true;
	pairs_free(out);
	return false;
}

/* What Primus lays over a flavor: fewer layers are read, another width is another
 * model. */
static bool cut_network(const struct mapped *m)
{
	static const char *const standard[] = {
		"model.name",           "model.flavor",
		"model.converters",     "model.hf_assets_path",
		"model.tokenizer_path", "model.print_after_conversion",
		"model.n_layers",       NULL
	};
	struct model *model = &m->out->model;
	int64_t layers = model->layers;

	for (int i = 0; i < m->pairs->count; i++) {
		const struct pair *pair = &m->pairs->item[i];

		if (strncmp(pair->key, "model.", 6) == 0 &&
		    !word_among(pair->key, standard))
			return error_set(m->error, m->pairs->file, pair->line,
					 "%.60s changes the network of %.60s; --model "
					 "config.json says to what",
					 pair->key, model->name);
	}
	if (!mapped_count(m, "model.n_layers", &layers))
		return false;
	if (layers < 1 || layers > model->layers)
		return error_set(m->error, m->pairs->file,
				 mapped_find(m, "model.n_layers")->line,
				 "model.n_layers is %lld, and %lld in %.60s; --model "
				 "config.json says what it is",
				 (long long)layers, (long long)model->layers,
				 model->name);
	memset(model->layer + layers, 0, (size_t)(model->layers - layers));
	model->layers = layers;
	return true;
}

bool launched_begin(const struct mapped *m)
{
	return !mapped_find(m, "primus.model") ||
	       (cut_network(m) &&
		primus_machine(m->out, m->pairs->file, m->report, m->error));
}

/* Experts run in 8 bits by a switch of their own, which pre_trainer.yaml has on. */
static void doubt_experts(const struct mapped *m)
{
	bool turbo = mapped_true(m, "primus_turbo.enable_primus_turbo") ||
		     !mapped_find(m, "primus_turbo.enable_primus_turbo");
	const struct pair *converters = mapped_find(m, "model.converters"),
			  *narrow = mapped_find(m, "primus_turbo.use_moe_fp8");
	bool linear = converters && strstr(converters->value, "float8") != NULL;
	bool experts = turbo && mapped_true(m, "primus_turbo.use_turbo_grouped_mm") &&
		       (!narrow || mapped_true(m, narrow->key));

	if (m->out->model.moe.experts < 1 || linear == experts)
		return;
	import_note(m->report, IMPORT_APPROXIMATE,
		    narrow ? narrow->key : "model.converters",
		    experts ? "experts run in fp8 and the rest in bf16: all are "
			      "counted in bf16"
			    : "experts stay in bf16 and the rest runs in fp8: all are "
			      "counted in fp8");
}

bool launched_settle(const struct mapped *m)
{
	static const char attends[] = "primus_turbo.enable_attention_float8";
	const struct pair *converters = mapped_find(m, "model.converters");

	if (!mapped_find(m, "primus.model"))
		return true;
	doubt_experts(m);
	if (!mapped_true(m, attends) || !converters ||
	    !strstr(converters->value, "primus_turbo"))
		return true;
	return mapped_set(m, "fp8_attention", "on", mapped_find(m, attends));
}
