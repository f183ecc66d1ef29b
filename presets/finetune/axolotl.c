/* axolotl.c - axolotl's YAML; see finetune.h. */
#include <stdlib.h>
#include <string.h>

#include "presets/finetune/finetune.h"
#include "presets/finetune/recipe.h"

static const struct mapping rows[] = {
	{ "sequence_len", "seq", NULL, "512", false },
	{ "micro_batch_size", "mbs", NULL, "1", false },
	{ "optimizer", "optimizer", RECIPE_OPTIMIZERS, "adamw", true },
	{ "lora_r", "lora_rank", NULL, NULL, false },
	{ "tensor_parallel_size", "tp", NULL, "1", false },
	{ "context_parallel_size", "cp", NULL, "1", false },
	{ "sequence_parallel_degree", "cp", NULL, NULL, false },
	{ "expert_parallel_size", "ep", NULL, NULL, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const others[] = {
	"gradient_accumulation_steps",
	"bf16",
	"fp16",
	"bfloat16",
	"float16",
	"fp8",
	"deepspeed",
	"deepspeed.zero_optimization.stage",
	"fsdp",
	"fsdp_version",
	"fsdp_config.sharding_strategy",
	"fsdp_config.fsdp_sharding_strategy",
	"fsdp_config.offload_params",
	"fsdp_config.fsdp_offload_params",
	"fsdp_config.activation_checkpointing",
	"fsdp_config.fsdp_activation_checkpointing",
	"adapter",
	"load_in_4bit",
	"load_in_8bit",
	"quantize_moe_experts",
	"gradient_checkpointing",
	"activation_offloading",
	"attn_implementation",
	"flash_attention",
	"sdp_attention",
	"eager_attention",
	"torch_compile",
	"dp_shard_size",
	"dp_replicate_size",
	"liger_fused_linear_cross_entropy",
	"cut_cross_entropy",
	"liger_rms_norm",
	"tiled_mlp",
	"tiled_mlp_num_shards",
	NULL,
};

static const char *const shape_keys[] = { "base_model", NULL };

/* Keys of what costs otherwise than all weights or LoRA on the loss of the next token.
 */
static const struct {
	const char *key, *why;
} refused[] = {
	{ "rl", "it needs more than one model or loss" },
	{ "reward_model", "its loss compares pairs" },
	{ "process_reward_model", "its loss judges steps" },
	{ "kd_trainer", "a teacher takes part in its loss" },
	{ "lisa_n_layers", "which layers it leaves alone changes by the step" },
	{ "unfrozen_parameters", "it leaves the other parameters alone" },
	{ "hatchery.backend", "it trains on a remote service" },
};

static bool check_task(const struct mapped *m)
{
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		const struct pair *pair = pairs_find(m->pairs, refused[i].key);

		if (pair && pair->value[0] != '\0' && strcmp(pair->value, "false") != 0)
			return error_set(m->error, m->pairs->file, pair->line,
					 "%s is '%.40s': %s, which is not modelled; "
					 "tuning on the next token is",
					 refused[i].key, pair->value, refused[i].why);
	}
	return true;
}

static bool read_model(const struct mapped *m)
{
	const struct pair *name = mapped_find(m, "base_model"),
			  *adapter = pairs_find(m->pairs, "adapter");

	if (!check_task(m))
		return false;
	if (adapter && adapter->value[0] != '\0' &&
	    strcmp(adapter->value, "lora") != 0 && strcmp(adapter->value, "qlora") != 0)
		return error_set(m->error, m->pairs->file, adapter->line,
				 "adapter is '%.40s'; expected lora or qlora",
				 adapter->value);
	return mapped_model(m, name ? name->value : "", name);
}

/* As much as one group of shards holds, where there are replicas of it. */
static bool read_groups(const struct mapped *m)
{
	int64_t shards = 0, replicas = 1;

	if (!mapped_count(m, "dp_shard_size", &shards) ||
	    !mapped_count(m, "dp_replicate_size", &replicas))
		return false;
	if (shards > 1 && !mapped_set(m, "zero", "3", NULL))
		return false;
	return shards < 2 || replicas < 2 ||
	       mapped_set_count(m, "zero_group", shards * m->out->plan.cp, NULL);
}

/* Unless it is said, as many pieces as the sequence is longer than the model is wide
 * (axolotl, monkeypatch/tiled_mlp; arXiv 2506.13996, section 3.1). */
static bool read_tiles(const struct mapped *m)
{
	int64_t hidden = m->out->model.hidden > 0 ? m->out->model.hidden : 1;

	int64_t pieces = (m->out->plan.seq_len + hidden - 1) / hidden;

	return mapped_count(m, "tiled_mlp_num_shards", &pieces) &&
	       mapped_set_count(m, "mlp_tiles", pieces > 1 ? pieces : 1, NULL);
}

/* It lets accelerate stand rings without shards (monkeypatch/accelerate/
 * parallelism_config.py, ACCELERATE_ALLOW_CP_STANDALONE), which the stack's sheet, of
 * accelerate alone, refuses. */
static void allow_rings(const struct mapped *m)
{
	struct ability_sheet *sheet = &m->out->stack.abilities;
	int cp = (int)(knob_find("cp") - knob_table) + 1, kept = 0;

	if (m->out->plan.cp < 2 || m->out->plan.zero != 0)
		return;
	for (int i = 0; i < sheet->count; i++)
		if (sheet->row[i].has.knob != cp)
			sheet->row[kept++] = sheet->row[i];
	sheet->count = kept;
}

static bool read_kernels(const struct mapped *m)
{
	const struct pair *again = pairs_find(m->pairs, "gradient_checkpointing");
	bool on =
		again && strcmp(again->value, "false") != 0 && again->value[0] != '\0';
	bool away = mapped_true(m, "activation_offloading") ||
		    mapped_is(m, "gradient_checkpointing", "offload") ||
		    mapped_is(m, "gradient_checkpointing", "unsloth");
	bool chunked = mapped_true(m, "liger_fused_linear_cross_entropy") ||
		       mapped_true(m, "cut_cross_entropy");

	for (int i = 0; i < m->pairs->count; i++)
		on = on || strncmp(m->pairs->item[i].key,
				   "gradient_checkpointing_kwargs.", 30) == 0;
	if (again && strcmp(again->value, "false") == 0)
		on = false;
	return mapped_set(m, "recompute", on ? "full" : "none", again) &&
	       (!on || mapped_set(m, "recompute_layers", "all", again)) &&
	       mapped_set(m, "activation_offload", on && away ? "1" : "0", again) &&
	       mapped_set(m, "compile", mapped_true(m, "torch_compile") ? "on" : "off",
			  NULL) &&
	       (!chunked || mapped_set(m, "cross_entropy", "chunked", NULL)) &&
	       (!mapped_true(m, "tiled_mlp") || read_tiles(m)) &&
	       (!mapped_true(m, "liger_rms_norm") ||
		mapped_set(m, "fused_norms", "on", NULL)) &&
	       ((!mapped_is(m, "attn_implementation", "eager") &&
		 !mapped_true(m, "eager_attention")) ||
		mapped_set(m, "attention_kernel", "unfused", NULL));
}

/* GPUs by the axes of its mesh, those of experts beside those of shards; 0: the file
 * does not say. A set of shards has as many copies as there are GPUs for, one where
 * nothing says more (axolotl@067b021c8, utils/distributed.py, docs/nd_parallelism.qmd).
 */
static int64_t world_of(const struct mapped *m, int64_t shards, int64_t replicas)
{
	const struct plan *plan = &m->out->plan;
	const int64_t axes[] = { replicas, plan->tp, plan->cp,
				 m->out->model.moe.experts > 0 ? plan->ep : 1 };
	int64_t world = shards;

	for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
		if (axes[i] > (1 << 20) / world)
			return 0;
		world *= axes[i] > 1 ? axes[i] : 1;
	}
	return world;
}

static bool read_batch(const struct mapped *m)
{
	const struct pair *from = pairs_find(m->pairs, "dp_shard_size");
	int64_t shards = 0, replicas = 1, world = 0;

	if (!mapped_count(m, "dp_shard_size", &shards) ||
	    !mapped_count(m, "dp_replicate_size", &replicas))
		return false;
	if (shards > 1 && shards <= 1 << 20)
		world = world_of(m, shards, replicas);
	if (world > 0 && !pairs_find(m->pairs, "dp_replicate_size"))
		import_note(m->report, IMPORT_ASSUMED, "gpus",
			    "%lld, one set of shards", (long long)world);
	return recipe_batch(m, world, world > 0 ? from : NULL);
}

static bool read_rest(const struct mapped *m)
{
	const struct pair *adapter = pairs_find(m->pairs, "adapter");
	const struct pair *plugins = pairs_find(m->pairs, "plugins");

	/* lora_r may stand there without an adapter, and does nothing then */
	if ((!adapter || adapter->value[0] == '\0') &&
	    !mapped_set(m, "lora_rank", "off", NULL))
		return false;
	if (plugins && strstr(plugins->value, "DiffusionPlugin"))
		mapped_approximate(m, "plugins",
				   "diffusion: its attention looks both ways, and is "
				   "counted as causal");
	for (int i = 0;
	     i < m->pairs->count && !strstr(m->out->model.approximate, "rounds"); i++)
		if (strncmp(m->pairs->item[i].key, "qat.", 4) == 0)
			mapped_approximate(m, "qat",
					   "what rounds weights and activations as in "
					   "fewer bits is left out");
	recipe_note_whole(m, "lora_modules_to_save");
	if ((!mapped_true(m, "load_in_4bit") || !recipe_base_nf4(m, "load_in_4bit")) &&
	    !recipe_base_bits(m, "base_model",
			      mapped_true(m, "load_in_4bit") ||
				      mapped_true(m, "load_in_8bit")))
		return false;
	if (!read_kernels(m) || !recipe_sharding(m) || !read_groups(m))
		return false;
	allow_rings(m);
	return recipe_precision(m, "bf16") && read_batch(m);
}

static bool splits_sequences(const struct pairs *pairs)
{
	static const char *const keys[] = { "context_parallel_size",
					    "sequence_parallel_degree" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct pair *pair = pairs_find(pairs, keys[i]);

		if (pair && strtol(pair->value, NULL, 10) > 1)
			return true;
	}
	return false;
}

bool axolotl_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error)
{
	struct mapped_format format = { NULL,       rows,       others,
					shape_keys, read_model, read_rest };
	struct pairs pairs;

	if (!pairs_from_yaml_repeats(&pairs, file, text, length, error))
		return false;
	recipe_spell_optimizer(&pairs, "optimizer", report);
	format.stack = recipe_stack(&pairs);
	/* its own rings (monkeypatch/ring_attn), whatever shards beside them */
	if (strcmp(format.stack, "deepspeed") == 0 && splits_sequences(&pairs)) {
		format.stack = "fsdp";
		import_note(report, IMPORT_ASSUMED, "stack",
			    "fsdp, for DeepSpeed has no rings of keys and values");
	}
	return mapped_read(out, &format, &pairs, report, error);
}
