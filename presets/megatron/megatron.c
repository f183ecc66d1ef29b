/* megatron.c - a file of Megatron-LM arguments as a scenario; see megatron.h. */
#include "presets/megatron/megatron.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/megatron/flags.h"
#include "presets/megatron/parts.h"
#include "presets/model_name.h"
#include "presets/pairs/mapping.h"
#include "presets/primus/primus.h"
#include "presets/script/notes.h"

/* Of the launcher or of run_recipe.py, not of the training. */
static bool is_launcher(const char *name)
{
	static const char *const names[] = {
		"node-rank",    "master-addr",  "master-port",   "rdzv-endpoint",
		"rdzv-id",      "rdzv-backend", "rdzv-conf",     "tee",
		"local-addr",   "redirects",    "log-dir",       "role",
		"max-restarts", "num-nodes",    "num-gpus",      "gpus-per-node",
		"no-sync",      "recipe",       "recipe-source", "model-recipe-name",
		"step-func",    "mode",         "dataset",       "nemo-recipe",
		NULL,
	};

	return word_among(name, names);
}

/* One note a flag, the last of a name as it is that one which counts. */
static void note_flags(const struct arguments *arguments, struct import_report *report)
{
	for (int i = 0; i < arguments->count; i++) {
		const struct argument *a = &arguments->item[i];
		bool known = megatron_flag(a->name) || megatron_plan_flag(a->name) ||
			     megatron_model_flag(a->name) ||
			     swift_flag(arguments, a->name) ||
			     adapters_flag(arguments, a->name) ||
			     performance_flag(arguments, a->name);

		if (strncmp(a->name, "primus-", 7) == 0 ||
		    strncmp(a->name, "swift-", 6) == 0 || is_launcher(a->name) ||
		    strncmp(a->name, "bridge-", 7) == 0 ||
		    strcmp(a->name, "nemo-network") == 0 ||
		    strcmp(a->name, "program") == 0 ||
		    arguments_find(arguments, a->name) != a)
			continue;
		import_note(report, known ? IMPORT_TAKEN : IMPORT_NOT_MODELLED, a->name,
			    "%s", a->value);
	}
	for (int i = 0; i < arguments->skipped_count; i++)
		import_note(report, IMPORT_SKIPPED, arguments->skipped[i].name, "%.80s",
			    arguments->skipped[i].value);
	if (arguments->skipped_more > 0)
		import_note(report, IMPORT_SKIPPED, "deeper keys", "%d more",
			    arguments->skipped_more);
}

static const struct argument *find_recipe(const struct arguments *arguments)
{
	/* --model is a recipe to those scripts that have --mode, too */
	const char *const names[] = { "recipe", "model-recipe-name", "nemo-recipe",
				      arguments_find(arguments, "mode") ? "model"
									: "recipe" };
	const struct argument *recipe = NULL;

	for (size_t i = 0; i < sizeof names / sizeof names[0] && !recipe; i++)
		recipe = arguments_find(arguments, names[i]);
	return recipe;
}

/* The checkpoint that `megatron sft` starts from, called after its model: a folder
 * "Qwen3-30B-A3B-mcore"; NULL where its name is no model's. That of Megatron-Bridge's
 * overrides (checkpoint.pretrained_checkpoint) is what else they tune: found or not. */
static const struct argument *find_folder(const struct arguments *arguments,
					  const struct preset **found)
{
	static const char *const folders[] = { "mcore-model", "load" };
	const struct argument *from =
		arguments_find(arguments, "pretrained-checkpoint");

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		const struct argument *a = arguments_find(arguments, folders[i]);

		if (a && arguments_find(arguments, "swift-task") &&
		    (*found = model_name_find(a->value)))
			return a;
	}
	if (from && from->value[0] != '\0')
		*found = model_name_find(from->value);
	return from && from->value[0] != '\0' ? from : NULL;
}

/* A file may leave the shape to another one: a recipe, a checkpoint. The flag that says
 * which; where several do, the first whose name is known. A tokenizer tells nothing:
 * many sizes share one. */
static const struct argument *find_name(const struct arguments *arguments,
					const struct preset **found)
{
	/* ids of Hugging Face, but for the recipes */
	static const char *const named[] = { "recipe",        "model-recipe-name",
					     "nemo-recipe",   "primus-model",
					     "model",         "hf-path",
					     "hf-model-path", "bridge-function",
					     "hf-checkpoint" /* slime */ };
	const struct argument *first = NULL;

	for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
		const struct argument *a = arguments_find(arguments, named[i]);

		if (!a || a->value[0] == '\0')
			continue;
		first = first ? first : a;
		/* mamba_370M of Primus is no mamba-370m of others */
		if (strcmp(a->name, "primus-model") == 0) {
			char own[MAX_NAME];

			snprintf(own, sizeof own, "primus-%s", a->value);
			if ((*found = model_name_find(own)))
				return a;
		}
		if ((*found = primus_preset(a->value)))
			return a;
	}
	return first ? first : find_folder(arguments, found);
}

/* The stack that a file of Primus builds may have another mixer than its model: GDN or
 * KDA, for which there is no flag. */
static bool check_spec(const struct arguments *arguments, const struct model *m,
		       struct error *error)
{
	const struct argument *spec = arguments_find(arguments, "spec");
	bool linear =
		spec && (strstr(spec->value, "gdn") || strstr(spec->value, "kda"));

	for (int i = 0; linear && i < m->kinds; i++)
		if (m->kind[i].mixer == MIXER_LINEAR)
			linear = false;
	return !linear ||
	       error_set(error, arguments->file, spec->line,
			 "spec builds %.60s, and %.60s has no delta net in it; --model "
			 "config.json says what it is",
			 spec->value, m->name);
}

/* A switch of the shape that an override turns off has to be off in the model. */
static bool check_off(const struct arguments *arguments, const struct model *m,
		      struct error *error)
{
	const struct {
		const char *name;
		bool on;
	} switches[] = {
		{ "multi_latent_attention",
		  m->kind[m->layer[m->layers - 1]].attention.kv_rank > 0 },
		{ "swiglu", m->gated_mlp },
		{ "untie_embeddings_and_output_weights", !m->tied_embeddings },
	};

	for (int i = 0; i < arguments->count; i++)
		for (size_t k = 0; k < sizeof switches / sizeof switches[0]; k++)
			if (strcmp(arguments->item[i].name, "primus-off") == 0 &&
			    strcmp(arguments->item[i].value, switches[k].name) == 0 &&
			    switches[k].on)
				return error_set(
					error, arguments->file, arguments->item[i].line,
					"%s is false, and on in %.60s; --model "
					"config.json says what it is",
					switches[k].name, m->name);
	return true;
}

/* What an override of Primus says of the shape has to be what its model is; it may have
 * fewer layers. */
static bool override_shape(const struct arguments *arguments, struct model *m,
			   struct error *error)
{
	const struct attention *a = &m->kind[m->layer[m->layers - 1]].attention;
	const struct {
		const char *flag;
		int64_t own;
	} shape[] = {
		{ "num-layers", m->layers },
		{ "hidden-size", m->hidden },
		{ "num-attention-heads", a->heads },
		{ "num-experts", m->moe.experts },
		{ "moe-ffn-hidden-size", m->moe.expert_ffn },
		{ "moe-router-topk", m->moe.experts_per_token },
	};
	const struct argument *depths = arguments_find(arguments, "mtp-num-layers");

	for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
		const struct argument *said = arguments_find(arguments, shape[i].flag);
		char *end;
		long long value = said ? strtoll(said->value, &end, 10) : shape[i].own;

		if (!said || (*end == '\0' && value == shape[i].own))
			continue;
		if (i > 0 || *end != '\0' || value < 1 || value > m->layers)
			return error_set(error, arguments->file, said->line,
					 "%s is %.40s, and %lld in %.60s; --model "
					 "config.json says what it is",
					 said->name, said->value,
					 (long long)shape[i].own, m->name);
		memset(m->layer + value, 0, (size_t)(m->layers - value));
		m->layers = value;
	}
	/* depths beyond the next token are none of the layers, and may be left off */
	if (depths && depths->value[0] >= '0' && depths->value[0] <= '9' &&
	    strtoll(depths->value, NULL, 10) <= m->mtp_layers)
		m->mtp_layers = strtoll(depths->value, NULL, 10);
	return true;
}

static bool read_model(const struct arguments *arguments, struct model *out,
		       struct import_report *report, struct error *error)
{
	static const char *const shape[] = { "hidden-size", "num-layers",
					     "num-attention-heads" };
	const struct preset *found = NULL;
	const struct argument *a, *other;
	struct import_name named = { arguments->file, 1, "", NULL };
	bool primus = arguments_find(arguments, "primus-model") != NULL;

	other = arguments_find(arguments, "crossattn-emb-size");
	if (other && report->model[0] == '\0')
		return error_set(error, arguments->file, other->line,
				 "--%s is of a diffusion transformer, which is not "
				 "modelled; decoders are",
				 other->name);
	for (size_t i = 0; i < sizeof shape / sizeof shape[0] && !primus; i++)
		if (arguments_find(arguments, shape[i]))
			return megatron_model(arguments, out, report, error);
	a = find_name(arguments, &found);
	if (!found && report->model[0] == '\0' &&
	    (other = arguments_find(arguments, "nemo-network")))
		return error_set(error, arguments->file, other->line,
				 "'%.79s' makes its network another than a decoder of "
				 "attention and MLP, which its fields do not tell; "
				 "--model NAME or --model config.json says what it is",
				 other->value);
	if (primus && a && !found && report->model[0] == '\0' &&
	    strncmp(a->value, "diffusion", 9) == 0)
		return error_set(error, arguments->file, a->line,
				 "%.60s is a diffusion model, which is not modelled; "
				 "decoders are",
				 a->value);
	if (a)
		named = (struct import_name){ arguments->file, a->line, a->value,
					      found };
	return import_model(out, &named, report, error) &&
	       (!primus || report->model[0] != '\0' ||
		(check_spec(arguments, out, error) &&
		 check_off(arguments, out, error) &&
		 override_shape(arguments, out, error)));
}

/* The stack's rule, which a flag may change. */
static bool read_vocab_multiple(const struct arguments *arguments, struct scenario *out,
				struct error *error)
{
	const struct argument *a =
		arguments_find(arguments, "make-vocab-size-divisible-by");
	char *end;
	long long multiple = a ? strtoll(a->value, &end, 10) : 0;

	if (!a)
		return true;
	if (end == a->value || *end != '\0' || multiple < 1 || multiple > 1 << 20)
		return error_set(error, arguments->file, a->line,
				 "--%s is '%.40s'; expected 1 to %d", a->name, a->value,
				 1 << 20);
	out->stack.vocab_multiple = multiple;
	return true;
}

/* A recipe sets more than a command does. Of that only these are the same in all of
 * them. */
static bool take_recipe(const struct arguments *arguments, struct scenario *out,
			struct import_report *report)
{
	const struct argument *named = find_recipe(arguments);
	const struct argument *recipe =
		named ? named : arguments_find(arguments, "bridge-overrides");
	const struct argument *primus = arguments_find(arguments, "primus-model");
	const struct argument *set = arguments_find(arguments, "primus-settings");
	char why[256];

	if (!recipe && !primus && !arguments->apart)
		return true;
	if (set)
		import_note(report, IMPORT_ASSUMED, "settings",
			    "%s, as in Primus' files", set->value);
	if (!recipe && primus)
		import_note(report, IMPORT_ASSUMED, "recipe",
			    "Megatron's defaults for what else stands behind %.40s",
			    primus->value);
	else if (recipe)
		import_note(report, IMPORT_ASSUMED, "recipe",
			    "Megatron's defaults for what %.40s sets by itself",
			    recipe->value);
	else
		import_note(report, IMPORT_ASSUMED, "elsewhere",
			    "Megatron's defaults for what another file adds to this");
	/* of one whose other half stands in a file that is not here, too */
	if (!recipe && arguments->apart)
		recipe = arguments_find(arguments, "bridge-function");
	if (recipe && !unsaid_take(arguments, recipe, out, report))
		return false;
	if (out->plan.precision != PRECISION_FP32)
		return true;
	import_note(report, IMPORT_ASSUMED, "precision", "bf16, as in the recipes");
	return knob_parse(out, knob_find("precision"), "bf16", why, sizeof why);
}

/* Whether any flag is Megatron's. Another program may name a model, too, and all else
 * of it would be defaults. */
static bool has_flags(const struct arguments *arguments, struct error *error)
{
	const struct preset *found;

	if (!find_name(arguments, &found) || find_recipe(arguments) ||
	    arguments_find(arguments, "primus-model") ||
	    arguments_find(arguments, "swift-task") ||
	    arguments_find(arguments, "bridge-function"))
		return true;
	for (int i = 0; i < arguments->count; i++) {
		const char *name = arguments->item[i].name;

		if (megatron_flag(name) || megatron_plan_flag(name) ||
		    megatron_model_flag(name))
			return true;
	}
	return error_set(error, arguments->file, arguments->item[0].line,
			 "no flag of Megatron's; the first of %d others is --%.40s: "
			 "another kind of file?",
			 arguments->count, arguments->item[0].name);
}

/* A flag that says something of the training, and whose value nothing gives, is no
 * default: the script would not run. */
static bool check_missing(const struct arguments *arguments, struct error *error)
{
	/* of these an estimate has a default that is told */
	static const char *const no_matter[] = { "nnodes",      "nproc-per-node",
						 "train-iters", "train-samples",
						 "world-size",  NULL };

	for (int i = 0; i < arguments->count; i++) {
		const struct argument *a = &arguments->item[i];
		bool known = megatron_flag(a->name) || megatron_plan_flag(a->name) ||
			     megatron_model_flag(a->name);

		if (!known || !a->missing || word_among(a->name, no_matter) ||
		    arguments_find(arguments, a->name) != a)
			continue;
		if (a->value[0] == '\0')
			return a->untold ? script_untold(arguments, a, error)
					 : script_missing(arguments, a->name, a->line,
							  a->missing, error);
	}
	return true;
}

/* What the name of a recipe in Python, the environment of a script, or the path says of
 * the machine; DGX H100 without. */
static bool read_machine(const struct arguments *arguments, struct scenario *out,
			 struct import_report *report, struct error *error)
{
	const struct argument *a = arguments_find(arguments, "bridge-machine");
	const char *word = a ? a->value : arguments->machine;
	const char *name = word ? library_machine(word) : NULL;

	name = name ? name : library_machine_in(arguments->file);
	if (!library_cluster(&out->cluster, name ? name : "dgx-h100", error))
		return false;
	import_note(report, IMPORT_ASSUMED, "cluster", "%s", out->cluster.name);
	return !arguments_find(arguments, "primus-model") ||
	       primus_machine(out, arguments->file, report, error);
}

/* What takes Megatron's flags there; on Ascend it is Huawei's layer over its core. */
static const char *stack_of(const struct arguments *arguments,
			    const struct cluster *cluster)
{
	if (megatron_is_deepspeed(arguments))
		return "megatron-deepspeed";
	return strcmp(cluster->training_stack, "mindspeed") == 0
		       ? cluster->training_stack
		       : "megatron-core";
}

static bool read_scenario(const struct arguments *arguments, struct scenario *out,
			  struct import_report *report, struct error *error)
{

	scenario_defaults(out);
	note_flags(arguments, report);
	script_note(arguments, report);
	if (!swift_is_megatrons(arguments, error) || !swift_trains(arguments, error) ||
	    !megatron_is_modelled(arguments, error) || !check_missing(arguments, error))
		return false;
	if (!read_model(arguments, &out->model, report, error) ||
	    !read_machine(arguments, out, report, error) ||
	    !library_stack(out, stack_of(arguments, &out->cluster), error) ||
	    !read_vocab_multiple(arguments, out, error) ||
	    !megatron_plan(arguments, out, report, error) ||
	    !take_recipe(arguments, out, report) ||
	    !megatron_adapters(arguments, find_recipe(arguments), out, report) ||
	    !swift_settle(arguments, out, report, error) ||
	    !has_flags(arguments, error))
		return false;
	if (megatron_task(arguments))
		import_note(report, IMPORT_ASSUMED, "mode",
			    "a step of training with these flags; the file is for %s",
			    megatron_task(arguments));
	if (out->model.approximate[0] != '\0')
		import_note(report, IMPORT_APPROXIMATE, "model", "%s",
			    out->model.approximate);
	return true;
}

bool megatron_read(struct scenario *out, const char *file, const char *text,
		   size_t length, struct import_report *report, struct error *error)
{
	struct arguments arguments;
	struct scenario made;
	bool good;

	if (!arguments_read(&arguments, file, text, length, report->given, error))
		return false;
	good = megatron_rename(&arguments, report)
		       ? megatron_read_pattern(&arguments, error) &&
				 read_scenario(&arguments, &made, report, error)
		       : error_set(error, arguments.file, 1, "more than %d flags",
				   ARGUMENTS_MAX);
	arguments_free(&arguments);
	if (good)
		*out = made;
	return good;
}
