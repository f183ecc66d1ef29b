/* llama_factory.c - LLaMA-Factory's YAML; see finetune.h. */
#include <stdio.h>
#include <string.h>

#include "presets/finetune/command.h"
#include "presets/finetune/finetune.h"
#include "presets/finetune/recipe.h"

static const struct mapping rows[] = {
	{ "cutoff_len", "seq", NULL, "2048", false },
	{ "per_device_train_batch_size", "mbs", NULL, "8", false },
	{ "optim", "optimizer", RECIPE_OPTIMIZERS, "adamw", true },
	{ "lora_rank", "lora_rank", NULL, NULL, false },
	/* with Megatron as the trainer (mcore_adapter) */
	{ "tensor_model_parallel_size", "tp", NULL, "1", false },
	{ "pipeline_model_parallel_size", "pp", NULL, "1", false },
	{ "virtual_pipeline_model_parallel_size", "vpp", NULL, NULL, false },
	{ "expert_model_parallel_size", "ep", NULL, NULL, false },
	{ "context_parallel_size", "cp", NULL, "1", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const others[] = {
	"gradient_accumulation_steps",
	"ray_num_workers",
	"bf16",
	"fp16",
	"fp8",
	"pure_bf16",
	"deepspeed",
	"deepspeed.zero_optimization.stage",
	"fsdp",
	"stage",
	"do_train",
	"finetuning_type",
	"quantization_bit",
	"disable_gradient_checkpointing",
	"flash_attn",
	"enable_liger_kernel",
	"use_muon",
	"sequence_parallel",
	"use_distributed_optimizer",
	"global_batch_size",
	"oft_block_size",
	"freeze_trainable_layers",
	"freeze_trainable_modules",
	"freeze_extra_modules",
	"command",
	NULL,
};

static const char *const shape_keys[] = { "model_name_or_path", NULL };

#define LOW_RANK "its states of low rank are not modelled"

static bool refuse(const struct mapped *m, const char *key, const char *why)
{
	const struct pair *pair = pairs_find(m->pairs, key);

	return error_set(m->error, m->pairs->file, pair ? pair->line : 1,
			 "%s is '%.40s': %s", key, pair ? pair->value : "absent", why);
}

/* The arguments of transformers' Trainer are others' too: TRL calls the length and the
 * data otherwise, which would be defaults. The key that says so, or NULL. */
static const char *key_of_trl(const struct mapped *m)
{
	static const char *const own[] = { "stage",       "finetuning_type",
					   "template",    "cutoff_len",
					   "dataset_dir", "model_class" };
	static const char *const theirs[] = { "max_seq_length", "max_length",
					      "dataset_mixer",  "dataset_mixture.seed",
					      "dataset_name",   "attn_implementation",
					      "use_peft" };

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (pairs_find(m->pairs, own[i]))
			return NULL;
	for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
		if (pairs_find(m->pairs, theirs[i]))
			return theirs[i];
	return NULL;
}

/* Switches that change what a step costs in a way that nothing here models. */
static const struct {
	const char *key, *why;
} refused[] = {
	{ "use_badam", "it trains a block of layers at a time, which is not modelled" },
	{ "use_galore", LOW_RANK },
	{ "use_apollo", LOW_RANK },
	{ "use_llama_pro", "the layers that it adds are not modelled" },
	{ "use_asft_loss",
	  "a reference model takes part in its loss, which is not modelled" },
	{ "use_kt",
	  "its experts stay on the CPU (KTransformers), which is not modelled" },
};

/* What is estimated is a step on the loss of the next token. */
static bool check_task(const struct mapped *m)
{
	const struct pair *stage = pairs_find(m->pairs, "stage");

	if (key_of_trl(m))
		return refuse(m, key_of_trl(m),
			      "a key of TRL, whose files import trainer reads; "
			      "LLaMA-Factory's say stage, finetuning_type, template or "
			      "cutoff_len");
	if (pairs_find(m->pairs, "model_class") && !mapped_is(m, "model_class", "llm"))
		return refuse(m, "model_class",
			      "the loss of the next token (llm) is modelled");
	if (!mapped_true(m, "do_train"))
		return refuse(m, "do_train", "this file trains nothing");
	if (stage && strcmp(stage->value, "sft") != 0 &&
	    strcmp(stage->value, "pt") != 0)
		return refuse(m, "stage",
			      "it needs more than one model or loss, which is not "
			      "modelled; pt and sft are");
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (mapped_true(m, refused[i].key))
			return refuse(m, refused[i].key, refused[i].why);
	if (pairs_find(m->pairs, "mixture_of_depths"))
		return refuse(m, "mixture_of_depths",
			      "layers that tokens pass by are not modelled");
	if (pairs_find(m->pairs, "deepspeed") &&
	    strstr(pairs_find(m->pairs, "deepspeed")->value, "autotp"))
		return refuse(m, "deepspeed",
			      "the TP degree stands in that file; write it out as "
			      "tensor_model_parallel_size");
	if (!mapped_is(m, "finetuning_type", "full") &&
	    !mapped_is(m, "finetuning_type", "freeze") &&
	    !mapped_is(m, "finetuning_type", "lora") &&
	    !mapped_is(m, "finetuning_type", "oft") &&
	    pairs_find(m->pairs, "finetuning_type"))
		return refuse(
			m, "finetuning_type",
			"it is no kind that is modelled; full, freeze, lora and oft "
			"are");
	return true;
}

static bool read_model(const struct mapped *m)
{
	const struct pair *name = mapped_find(m, "model_name_or_path");
	const struct pair *config = pairs_find(m->pairs, "config");

	if (!name && config && pairs_find(m->pairs, "command"))
		return error_set(m->error, m->pairs->file, config->line,
				 "its settings stand in %.80s: give that file",
				 config->value);
	return check_task(m) && mapped_model(m, name ? name->value : "", name);
}

/* An orthogonal adapter has d / b blocks of b (b - 1) / 2 numbers for a width of d, a
 * low-rank one 2 d r: as many at a rank of (b - 1) / 4. */
static bool read_orthogonal(const struct mapped *m)
{
	int64_t block = 32;
	size_t used = strlen(m->out->model.approximate);
	static const char why[] = "orthogonal adapters are read as low-rank ones";

	if (!mapped_count(m, "oft_block_size", &block))
		return false;
	import_note(m->report, IMPORT_APPROXIMATE, "finetuning_type",
		    "%s of as many parameters", why);
	snprintf(m->out->model.approximate + used,
		 sizeof m->out->model.approximate - used, "%s%s", used ? "; " : "",
		 why);
	return mapped_set_count(m, "lora_rank", block > 5 ? (block + 1) / 4 : 1,
				pairs_find(m->pairs, "oft_block_size"));
}

/* Parts that a frozen model trains beside its last layers: none, or the head. */
static bool read_extra(const struct mapped *m, bool *head)
{
	const struct pair *extra = pairs_find(m->pairs, "freeze_extra_modules");

	*head = extra && strcmp(extra->value, "lm_head") == 0;
	return !extra || *head || strcmp(extra->value, "none") == 0 ||
	       refuse(m, "freeze_extra_modules",
		      "lm_head is the only further part that is modelled");
}

/* freeze trains whole layers at the end, two unless it says more (model/adapter.py,
 * _setup_freeze_tuning); neither the embedding nor the head. */
static bool read_freeze(const struct mapped *m)
{
	const struct pair *last = pairs_find(m->pairs, "freeze_trainable_layers");
	const struct pair *parts = pairs_find(m->pairs, "freeze_trainable_modules");
	int64_t count = 2, layers = m->out->model.layers;
	bool head;

	if (parts && strcmp(parts->value, "all") != 0)
		return refuse(m, "freeze_trainable_modules",
			      "parts of layers train; whole layers are modelled");
	if (last && last->value[0] == '-')
		return refuse(m, "freeze_trainable_layers",
			      "the first layers train, which is not modelled; the last "
			      "ones are");
	if (!mapped_count(m, "freeze_trainable_layers", &count) ||
	    !read_extra(m, &head) || !mapped_set(m, "lora_rank", "off", NULL))
		return false;
	if (count >= layers)
		import_note(m->report, IMPORT_APPROXIMATE, "finetuning_type",
			    "all layers train: the embedding counts as if it did, too");
	return mapped_set_count(m, "frozen_layers", count < layers ? layers - count : 0,
				last) &&
	       mapped_set(m, "frozen_head", head ? "off" : "on", NULL);
}

/* lora is what an absent finetuning_type means, of rank 8. */
static bool read_adapters(const struct mapped *m)
{
	const struct pair *rank = mapped_find(m, "lora_rank");

	if (mapped_is(m, "finetuning_type", "oft"))
		return read_orthogonal(m);
	if (mapped_is(m, "finetuning_type", "freeze"))
		return read_freeze(m);
	if (mapped_is(m, "finetuning_type", "full"))
		return mapped_set(m, "lora_rank", "off", NULL);
	return rank || mapped_set(m, "lora_rank", "8", NULL);
}

static bool read_kernels(const struct mapped *m)
{
	bool again = !mapped_true(m, "disable_gradient_checkpointing");

	if (!mapped_set(m, "recompute", again ? "full" : "none", NULL) ||
	    (again && !mapped_set(m, "recompute_layers", "all", NULL)))
		return false;
	if (mapped_true(m, "enable_liger_kernel") &&
	    (!mapped_set(m, "cross_entropy", "chunked", NULL) ||
	     !mapped_set(m, "fused_norms", "on", NULL)))
		return false;
	if (mapped_true(m, "use_adam_mini"))
		mapped_approximate(m, "use_adam_mini",
				   "Adam-mini's few second moments are counted as "
				   "Adam's");
	if (mapped_true(m, "use_muon") && !mapped_set(m, "optimizer", "muon", NULL))
		return false;
	return !mapped_is(m, "flash_attn", "disabled") ||
	       mapped_set(m, "attention_kernel", "unfused", NULL);
}

/* Newer files say the batch of all ranks. */
static bool read_whole_batch(const struct mapped *m)
{
	const struct pair *batch = pairs_find(m->pairs, "global_batch_size");

	return !batch || mapped_set(m, "gbs", batch->value, batch);
}

/* GPUs by number, or as many as make one batch of all ranks of what each of them runs
 * and accumulates; 0: not told. */
static bool told_world(const struct mapped *m, int64_t *world)
{
	int64_t steps = 0, batch = 0, each;

	if (!mapped_count(m, "ray_num_workers", world) ||
	    !mapped_count(m, "gradient_accumulation_steps", &steps) ||
	    !mapped_count(m, "global_batch_size", &batch))
		return false;
	each = steps * m->out->plan.micro_batch;
	if (*world == 0 && each > 0 && batch % each == 0)
		*world = batch / each * scenario_smallest_world(m->out);
	return true;
}

static bool read_rest(const struct mapped *m)
{
	const struct pair *bits = pairs_find(m->pairs, "quantization_bit");
	const struct pair *method = pairs_find(m->pairs, "quantization_method");
	const struct pair *type = pairs_find(m->pairs, "quantization_type");
	bool nf4 = bits && strcmp(bits->value, "4") == 0 &&
		   (!method || strncmp(method->value, "b", 1) == 0) &&
		   (!type || strcmp(type->value, "nf4") == 0);
	int64_t world = 0;

	if (!read_kernels(m) || !read_adapters(m) || !recipe_sharding(m) ||
	    !recipe_precision(m, "bf16") ||
	    !mapped_set(m, "sp", mapped_true(m, "sequence_parallel") ? "on" : "off",
			NULL))
		return false;
	if (mapped_true(m, "use_distributed_optimizer") &&
	    !mapped_set(m, "zero", "1", NULL))
		return false;
	recipe_note_whole(m, "additional_target");
	if ((!nf4 || !recipe_base_nf4(m, "quantization_bit")) &&
	    !recipe_base_bits(m, "model_name_or_path", bits != NULL))
		return false;
	return told_world(m, &world) &&
	       recipe_batch(m, world, mapped_find(m, "ray_num_workers")) &&
	       read_whole_batch(m);
}

bool llama_factory_read_pairs(struct scenario *out, struct pairs *pairs,
			      struct import_report *report, struct error *error)
{
	struct mapped_format format = { NULL,       rows,       others,
					shape_keys, read_model, read_rest };

	recipe_spell_optimizer(pairs, "optim", report);
	format.stack = pairs_find(pairs, "tensor_model_parallel_size") ||
				       pairs_find(pairs, "pipeline_model_parallel_size")
			       ? "megatron-core"
			       : recipe_stack(pairs);
	return mapped_read(out, &format, pairs, report, error);
}

bool llama_factory_read(struct scenario *out, const char *file, const char *text,
			size_t length, struct import_report *report,
			struct error *error)
{
	struct pairs pairs;

	/* a script with its command */
	if (!command_is_yaml(text) && strstr(text, "llamafactory-cli"))
		return trainer_read(out, file, text, length, report, error);
	if (!pairs_from_yaml_repeats(&pairs, file, text, length, error))
		return false;
	if (second_form_looks_like(&pairs) &&
	    !second_form_spell(&pairs, report, error)) {
		pairs_free(&pairs);
		return false;
	}
	return llama_factory_read_pairs(out, &pairs, report, error);
}
