/* trainer.c - commands and files of transformers' Trainer; see finetune.h.
 *
 * Defaults: huggingface/transformers (training_args.py), huggingface/trl
 * (trainer/base_config.py, sft_config.py, model_config.py), modelscope/ms-swift
 * (swift/trainers/arguments.py, swift/arguments).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/finetune/command.h"
#include "presets/finetune/finetune.h"
#include "presets/finetune/recipe.h"
#include "presets/finetune/task.h"

/* Whose defaults count. */
enum habit { OF_TRAINER, OF_TRL, OF_SWIFT };

static const struct mapping rows[] = {
	{ "per_device_train_batch_size", "mbs", NULL, "8", false },
	{ "optim", "optimizer", RECIPE_OPTIMIZERS, "adamw", true },
	{ "sequence_parallel_size", "cp", NULL, "1", false },
	{ "deepspeed_autotp_size", "tp", NULL, "1", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const struct mapping swift_rows[] = {
	{ "per_device_train_batch_size", "mbs", NULL, "1", false },
	{ "optim", "optimizer", RECIPE_OPTIMIZERS, "adamw", true },
	{ "sequence_parallel_size", "cp", NULL, "1", false },
	{ "deepspeed_autotp_size", "tp", NULL, "1", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const lengths[] = { "max_length",       "max_seq_length",
				       "model_max_length", "block_size",
				       "max_seq_len",      "max_len",
				       "cutoff_len",       NULL };

static const char *const ranks[] = { "lora_r", "lora_rank", "lora_dim", "use_llm_lora",
				     NULL };

static const char *const others[] = { "command",
				      "config_file",
				      "accelerate_config",
				      "num_processes",
				      "num_machines",
				      "nproc_per_node",
				      "nnodes",
				      "num_gpus",
				      "include",
				      "num_nodes",
				      "NPROC_PER_NODE",
				      "NNODES",
				      "gradient_accumulation_steps",
				      "gradient_checkpointing",
				      "grad_checkpoint",
				      "bf16",
				      "fp16",
				      "torch_dtype",
				      "dtype",
				      "deepspeed",
				      "zero_stage",
				      "offload",
				      "offload_optimizer_device",
				      "mixed_precision",
				      "fsdp",
				      "fsdp_config.fsdp_sharding_strategy",
				      "fsdp_config.fsdp_offload_params",
				      "fsdp_config.fsdp_activation_checkpointing",
				      "tuner_type",
				      "train_type",
				      "sft_type",
				      "use_peft",
				      "use_lora",
				      "use_peft_lora",
				      "lora_enable",
				      "use_llm_lora",
				      "freeze_llm",
				      "tune_llm",
				      "tune_mm_llm",
				      "load_in_4bit",
				      "load_in_8bit",
				      "use_4bit_quantization",
				      "use_8bit_quantization",
				      "quant_bits",
				      "quant_method",
				      "use_liger_kernel",
				      "attn_implementation",
				      "attn_impl",
				      "task_type",
				      "max_length",
				      "max_seq_length",
				      "model_max_length",
				      "block_size",
				      "max_seq_len",
				      "max_len",
				      "cutoff_len",
				      "lora_r",
				      "lora_rank",
				      "lora_dim",
				      NULL };

/* The last is ms-swift's before its third version, as its type of training is. */
static const char *const shape_keys[] = { "model_name_or_path", "model", "model_name",
					  "model_id_or_path", NULL };

static const struct pair *first_of(const struct mapped *m, const char *const *keys)
{
	const struct pair *pair = NULL;

	for (; *keys && !pair; keys++)
		pair = mapped_find(m, *keys);
	return pair;
}

/* A command of TRL's, one of its example scripts, or a file of its keys; ms-swift's
 * files name the model otherwise. */
static enum habit habit_of(const struct pairs *pairs)
{
	const struct pair *command = pairs_find(pairs, "command");

	if (!command)
		return pairs_find(pairs, "model_name_or_path") ? OF_TRL : OF_SWIFT;
	if (strncmp(command->value, "trl ", 4) == 0 ||
	    strcmp(command->value, "sft.py") == 0)
		return OF_TRL;
	return strncmp(command->value, "swift ", 6) == 0 ? OF_SWIFT : OF_TRAINER;
}

/* What one process holds on several GPUs without a word about how. */
static bool check_devices(const struct mapped *m)
{
	const struct pair *seen = pairs_find(m->pairs, "CUDA_VISIBLE_DEVICES");

	if (!seen || !strchr(seen->value, ',') ||
	    pairs_find(m->pairs, "NPROC_PER_NODE"))
		return true;
	return error_set(m->error, m->pairs->file, seen->line,
			 "CUDA_VISIBLE_DEVICES is '%.40s' and NPROC_PER_NODE is not "
			 "set: one process puts layers on GPUs that work in turn, "
			 "which is not modelled",
			 seen->value);
}

static bool read_model(const struct mapped *m)
{
	const struct pair *name = first_of(m, shape_keys);
	const struct pair *config = pairs_find(m->pairs, "config");

	if (!task_check(m) || !check_devices(m))
		return false;
	if (!name && config)
		return error_set(m->error, m->pairs->file, config->line,
				 "its settings stand in %.80s: give that file",
				 config->value);
	return mapped_model(m, name ? name->value : "", name);
}

static bool read_length(const struct mapped *m)
{
	const struct pair *length = first_of(m, lengths);
	bool swift = habit_of(m->pairs) == OF_SWIFT;

	if (length && isdigit((unsigned char)length->value[0]))
		return mapped_set(m, "seq", length->value, length);
	import_note(m->report, IMPORT_ASSUMED, "seq", "%s", swift ? "2048" : "1024");
	return mapped_set(m, "seq", swift ? "2048" : "1024", NULL);
}

static bool read_adapters(const struct mapped *m)
{
	static const char *const tuners[] = { "tuner_type", "train_type", "sft_type",
					      NULL };
	static const char *const switches[] = { "use_peft", "use_lora", "use_peft_lora",
						"lora_enable", NULL };
	const struct pair *tuner = first_of(m, tuners), *rank = first_of(m, ranks);
	const struct pair *on = first_of(m, switches);
	const struct pair *command = pairs_find(m->pairs, "command");
	enum habit habit = habit_of(m->pairs);
	bool lora = on ? mapped_true(m, on->key)
		       : habit == OF_TRAINER && rank && atoi(rank->value) > 0;

	if (habit == OF_SWIFT)
		lora = tuner ? strcmp(tuner->value, "lora") == 0 ||
				       strcmp(tuner->value, "lora_llm") == 0
			     : !command || strcmp(command->value, "swift sft") == 0;
	if (tuner && !lora && strcmp(tuner->value, "full") != 0)
		return task_refuse(m, tuner, "full and lora are modelled");
	if (!lora)
		return mapped_set(m, "lora_rank", "off", NULL);
	recipe_note_whole(m, "modules_to_save");
	/* TRL and ms-swift have a rank of their own; another program's is unknown */
	if (!rank && habit == OF_TRAINER)
		import_note(m->report, IMPORT_ASSUMED, "lora_rank",
			    "16; the program may have another");
	return mapped_set(m, "lora_rank",
			  rank                ? rank->value
			  : habit == OF_SWIFT ? "8"
					      : "16",
			  rank);
}

static bool names_deepspeed(const char *file)
{
	return strstr(file, "deepspeed") || strstr(file, "ds_config");
}

/* The file of accelerate that the launcher names is not opened: its name tells. */
static bool read_launcher(const struct mapped *m, bool *found)
{
	static const char *const keys[] = { "config_file", "accelerate_config", NULL };
	static const char *const plain[] = { "ddp", "multi_gpu", "single_gpu" };
	const struct pair *file = first_of(m, keys);
	const struct pair *stage = mapped_find(m, "zero_stage");
	int told = file ? recipe_stage_of(file->value) : -1;
	const char *stands;

	*found = true;
	if (stage)
		return mapped_set(m, "zero", stage->value, stage) &&
		       mapped_set(m, "optimizer_offload",
				  mapped_true(m, "offload") ||
						  mapped_is(m,
							    "offload_optimizer_device",
							    "cpu")
					  ? "1"
					  : "0",
				  NULL);
	*found = file && !pairs_find(m->pairs, "deepspeed") &&
		 !pairs_find(m->pairs, "fsdp");
	if (!file && !pairs_find(m->pairs, "command") &&
	    !pairs_find(m->pairs, "deepspeed") && !pairs_find(m->pairs, "fsdp"))
		import_note(m->report, IMPORT_ASSUMED, "zero",
			    "0; accelerate's file, which the launcher names, may say "
			    "more");
	if (!*found)
		return true;
	if (told >= 0)
		return mapped_set_count(m, "zero", told, file) &&
		       recipe_offload(m, file);
	if (strstr(file->value, "fsdp"))
		return mapped_set(m, "zero", "3", file) && recipe_offload(m, file);
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (strstr(file->value, plain[i]))
			return mapped_set(m, "zero", "0", file);
	/* accelerate's stage where its file says none (utils/dataclasses.py) */
	stands = names_deepspeed(file->value) ? "2" : "0";
	import_note(m->report, IMPORT_ASSUMED, "zero",
		    "%s; %.60s, which is not opened, may say more", stands,
		    file->value);
	return mapped_set(m, "zero", stands, file);
}

/* What accelerate's launcher says holds where the program says nothing of it. */
static bool read_launched(const struct mapped *m, const char *none)
{
	const struct pair *mixed = mapped_find(m, "mixed_precision");

	if (mixed &&
	    (strcmp(mixed->value, "bf16") == 0 || strcmp(mixed->value, "fp16") == 0) &&
	    !pairs_find(m->pairs, "bf16") && !pairs_find(m->pairs, "fp16"))
		return mapped_set(m, "precision", mixed->value, mixed);
	return recipe_precision(m, none);
}

/* Weights loaded in 16 bits are what is stepped, but where DeepSpeed or FSDP keeps
 * wider ones; adapters are made in 32 bits (peft, autocast_adapter_dtype). */
static bool read_precision(const struct mapped *m)
{
	static const char *const keys[] = { "torch_dtype", "dtype", NULL };
	const struct pair *type = first_of(m, keys);
	enum habit habit = habit_of(m->pairs);
	bool brain = type && strstr(type->value, "bf") == type->value;

	if (habit == OF_SWIFT && !type)
		import_note(m->report, IMPORT_ASSUMED, "precision", "bf16");
	if (habit == OF_SWIFT && type && strcmp(type->value, "bfloat16") != 0) {
		if (!mapped_set(m, "precision",
				strcmp(type->value, "float16") == 0 ? "fp16" : "fp32",
				type))
			return false;
	} else if (habit == OF_SWIFT) {
		if (!mapped_set(m, "precision", "bf16", type))
			return false;
	} else if (!read_launched(
			   m, habit == OF_TRL || brain ||
					      (type && strstr(type->value, "bfloat16"))
				      ? "bf16"
				      : "fp32")) {
		return false;
	}
	brain = (habit == OF_SWIFT && !type) ||
		(type && (strcmp(type->value, "bfloat16") == 0 ||
			  strcmp(type->value, "bf16") == 0));
	return !brain || m->out->plan.lora_rank > 0 || m->out->plan.zero > 0 ||
	       strcmp(m->out->stack.name, "deepspeed") == 0 ||
	       (mapped_set_pure(m, type) && mapped_set(m, "grad_dtype", "bf16", NULL));
}

static bool read_kernels(const struct mapped *m)
{
	/* InternVL's word is the shorter one, and holds for its text part, too */
	static const char *const keys[] = { "gradient_checkpointing", "grad_checkpoint",
					    NULL };
	const struct pair *again = first_of(m, keys);
	bool on = again ? mapped_true(m, again->key) : habit_of(m->pairs) != OF_TRAINER;

	if (!mapped_set(m, "recompute", on ? "full" : "none", again) ||
	    (on && !mapped_set(m, "recompute_layers", "all", NULL)))
		return false;
	if (mapped_true(m, "use_liger_kernel") &&
	    (!mapped_set(m, "cross_entropy", "chunked", NULL) ||
	     !mapped_set(m, "fused_norms", "on", NULL)))
		return false;
	return !(mapped_is(m, "attn_implementation", "eager") ||
		 mapped_is(m, "attn_impl", "eager")) ||
	       mapped_set(m, "attention_kernel", "unfused", NULL);
}

static bool read_base(const struct mapped *m)
{
	const struct pair *name = first_of(m, shape_keys);
	/* PEFT's own examples have the longer words (examples/sft/train.py) */
	bool four = mapped_true(m, "load_in_4bit") ||
		    mapped_true(m, "use_4bit_quantization") ||
		    (mapped_is(m, "quant_bits", "4") &&
		     mapped_is(m, "quant_method", "bnb"));
	bool few = four || mapped_true(m, "load_in_8bit") ||
		   mapped_true(m, "use_8bit_quantization") ||
		   mapped_find(m, "quant_bits") != NULL;

	return (four && recipe_base_nf4(m, "load_in_4bit")) ||
	       recipe_base_bits(m, name ? name->key : "", few);
}

static int64_t number(const struct mapped *m, const char *key, int64_t absent)
{
	const struct pair *pair = mapped_find(m, key);
	long long value = pair ? strtoll(pair->value, NULL, 10) : 0;

	return value > 0 && value < 1 << 20 ? value : absent;
}

/* "localhost:0,1@other:2": GPUs that DeepSpeed's launcher is told one by one
 * (launcher/runner.py, parse_resource_filter); 0 where a machine gives all it has. */
static int64_t included(const char *value)
{
	int64_t count = 0;

	while (*value != '\0' && *value != ' ') {
		size_t machine = strcspn(value, "@ "), name = strcspn(value, ":@ ");

		if (name == machine)
			return 0;
		for (size_t i = name; i < machine; i++)
			count += value[i] == ':' || value[i] == ',';
		value += machine;
		value += *value == '@';
	}
	return count;
}

/* GPUs by the launcher: accelerate counts all, the others those of a node; ms-swift
 * starts one process where nothing says more. 0: not told. */
static int64_t world_of(const struct mapped *m)
{
	bool swift = habit_of(m->pairs) == OF_SWIFT;
	int64_t each = number(m, "nproc_per_node", number(m, "num_gpus", 0));
	int64_t nodes = number(m, "nnodes", number(m, "num_nodes", 1));
	int64_t all = number(m, "num_processes", 0);
	const struct pair *some = mapped_find(m, "include");

	if (some && all == 0 && each == 0)
		return included(some->value);
	if (swift && each == 0 && pairs_find(m->pairs, "command")) {
		each = number(m, "NPROC_PER_NODE", 1);
		nodes = number(m, "NNODES", 1);
	}
	return all > 0 ? all : each * nodes;
}

/* ms-swift makes a batch of at least 16 where nothing is said. */
static bool read_batch(const struct mapped *m)
{
	int64_t world = world_of(m), dp, each;

	if (!recipe_batch(m, world, NULL))
		return false;
	if (habit_of(m->pairs) != OF_SWIFT ||
	    mapped_find(m, "gradient_accumulation_steps"))
		return true;
	dp = scenario_dp(m->out);
	each = m->out->plan.micro_batch * (dp > 0 ? dp : 1);
	return mapped_set_count(
		m, "gbs", each >= 16 ? each : (16 + each - 1) / each * each, NULL);
}

/* By Ulysses' exchange of heads, with zigzag rings beyond the heads
 * (swift/sequence_parallel). */
static bool splits_sequences(const struct pairs *pairs)
{
	const struct pair *size = pairs_find(pairs, "sequence_parallel_size");

	return size && atoi(size->value) > 1;
}

static bool read_rest(const struct mapped *m)
{
	bool found;

	if (splits_sequences(m->pairs) && !mapped_set(m, "cp_kind", "ulysses", NULL))
		return false;
	return read_length(m) && read_adapters(m) && read_launcher(m, &found) &&
	       (found || recipe_sharding(m)) && read_precision(m) && read_kernels(m) &&
	       read_base(m) && read_batch(m);
}

/* The stack that shards by what the launcher names. */
static const char *stack_of(const struct pairs *pairs)
{
	static const char *const keys[] = { "config_file", "accelerate_config" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct pair *file = pairs_find(pairs, keys[i]);

		if (file &&
		    (recipe_stage_of(file->value) > 0 || names_deepspeed(file->value)))
			return "deepspeed";
	}
	/* accelerate splits sequences beside shards alone, ms-swift by itself */
	return pairs_find(pairs, "zero_stage") || splits_sequences(pairs)
		       ? "deepspeed"
		       : recipe_stack(pairs);
}

bool trainer_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error)
{
	struct mapped_format format = { NULL,       rows,       others,
					shape_keys, read_model, read_rest };
	struct pairs pairs;
	const struct pair *command;

	if (command_is_yaml(text)
		    ? !pairs_from_yaml_repeats(&pairs, file, text, length, error)
		    : !command_pairs(&pairs, file, text, length, report, error))
		return false;
	command = pairs_find(&pairs, "command");
	if (command && strncmp(command->value, "llamafactory-cli", 16) == 0)
		return llama_factory_read_pairs(out, &pairs, report, error);
	if (!command)
		import_note(report, IMPORT_ASSUMED, "task",
			    "sft; the command says it, not this file");
	if (habit_of(&pairs) == OF_SWIFT)
		format.rows = swift_rows;
	recipe_spell_optimizer(&pairs, "optim", report);
	format.stack = stack_of(&pairs);
	return mapped_read(out, &format, &pairs, report, error);
}
