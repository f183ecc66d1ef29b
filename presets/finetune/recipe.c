/* recipe.c - see recipe.h. */
#include "presets/finetune/recipe.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/model_name.h"

void recipe_spell_optimizer(struct pairs *pairs, const char *key,
			    struct import_report *report)
{
	for (int i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->item[i];
		char word[32];

		if (strcmp(pair->key, key) != 0 ||
		    mapping_ours(RECIPE_OPTIMIZERS, pair->value, strlen(pair->value),
				 word))
			continue;
		import_note(report, IMPORT_APPROXIMATE, key, "%.40s: costs of AdamW",
			    pair->value);
		pair->value = "adamw";
	}
}

const char *recipe_stack(const struct pairs *pairs)
{
	for (int i = 0; i < pairs->count; i++)
		if (strncmp(pairs->item[i].key, "deepspeed", 9) == 0)
			return "deepspeed";
	return "fsdp";
}

int recipe_stage_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *const words[] = { "zero", "stage", "_z", "-z" };

	file = slash ? slash + 1 : file;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		const char *at = strstr(file, words[i]);

		if (!at)
			continue;
		at += strlen(words[i]);
		at += strspn(at, "_-");
		if (*at >= '0' && *at <= '3' && !isdigit((unsigned char)at[1]))
			return *at - '0';
	}
	return -1;
}

bool recipe_offload(const struct mapped *m, const struct pair *file)
{
	bool offload =
		strstr(file->value, "offload") && !strstr(file->value, "no_offload");

	return mapped_set(m, "optimizer_offload", offload ? "1" : "0", file);
}

static bool read_deepspeed(const struct mapped *m, bool *found)
{
	static const char inside[] = "deepspeed.zero_optimization.stage";
	const struct pair *file = mapped_find(m, "deepspeed"),
			  *stage = mapped_find(m, inside);

	*found = file || stage;
	if (!*found)
		return true;
	if (stage)
		return mapped_set(m, "zero", stage->value, stage);
	if (recipe_stage_of(file->value) < 0)
		return error_set(m->error, m->pairs->file, file->line,
				 "deepspeed is '%.60s', which does not tell the ZeRO "
				 "stage; write it out as deepspeed: "
				 "{zero_optimization: {stage: N}}",
				 file->value);
	return mapped_set_count(m, "zero", recipe_stage_of(file->value), file) &&
	       recipe_offload(m, file);
}

static bool true_of_either(const struct mapped *m, const char *key)
{
	char whole[64], old[64];

	snprintf(whole, sizeof whole, "fsdp_config.%s", key);
	snprintf(old, sizeof old, "fsdp_config.fsdp_%s", key);
	return mapped_true(m, whole) || mapped_true(m, old);
}

static const char *strategy_of(const struct mapped *m)
{
	static const char *const keys[] = { "fsdp_config.sharding_strategy",
					    "fsdp_config.fsdp_sharding_strategy",
					    "fsdp" };
	const struct pair *pair = NULL;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !pair; i++)
		pair = mapped_find(m, keys[i]);
	return pair ? pair->value : "";
}

static bool read_fsdp(const struct mapped *m)
{
	const char *strategy = strategy_of(m);
	bool some = false, two, hybrid;

	for (int i = 0; i < m->pairs->count; i++)
		some = some || (strncmp(m->pairs->item[i].key, "fsdp", 4) == 0 &&
				m->pairs->item[i].value[0] != '\0');
	two = strstr(strategy, "SHARD_GRAD_OP") || strstr(strategy, "shard_grad_op") ||
	      strstr(strategy, "ZERO2");
	hybrid = strstr(strategy, "HYBRID") || strstr(strategy, "hybrid");
	if (strstr(strategy, "NO_SHARD") || strstr(strategy, "no_shard"))
		some = false;
	if (!mapped_set(m, "zero",
			!some ? "0"
			: two ? "2"
			      : "3",
			NULL) ||
	    !mapped_set(m, "optimizer_offload",
			some && true_of_either(m, "offload_params") ? "1" : "0", NULL))
		return false;
	if (some && true_of_either(m, "activation_checkpointing") &&
	    (!mapped_set(m, "recompute", "full", NULL) ||
	     !mapped_set(m, "recompute_layers", "all", NULL)))
		return false;
	return !some || !hybrid ||
	       mapped_set_count(m, "zero_group", m->out->cluster.gpus_per_node, NULL);
}

bool recipe_sharding(const struct mapped *m)
{
	bool found;

	return read_deepspeed(m, &found) && (found || read_fsdp(m));
}

/* Without autocast the weights that train stay in 16 bits (LLaMA-Factory, model/
 * adapter.py: "remaining trainable params in half precision"; axolotl's bf16: full).
 * DeepSpeed's optimizer has a master weight whatever it is given. */
static bool keep_pure(const struct mapped *m, const struct pair *from)
{
	if (strcmp(m->out->stack.name, "deepspeed") == 0)
		return true;
	return mapped_set_pure(m, from) && mapped_set(m, "grad_dtype", "bf16", NULL);
}

bool recipe_precision(const struct mapped *m, const char *none)
{
	const struct pair *bf16 = pairs_find(m->pairs, "bf16"),
			  *fp16 = pairs_find(m->pairs, "fp16");
	bool full = mapped_is(m, "bf16", "full");
	bool pure = mapped_true(m, "pure_bf16") || mapped_true(m, "bfloat16");

	/* beside bf16: linear layers by torchao, each tensor scaled by its own values
	 * (axolotl@067b021c8, docs/mixed_precision.qmd; LLaMA-Factory@ff6d4d12e,
	 * hparams/training_args.py) */
	if (mapped_true(m, "fp8"))
		return mapped_set(m, "precision", "fp8", pairs_find(m->pairs, "fp8")) &&
		       mapped_set(m, "fp8_recipe", "current-scaling", NULL);
	if ((pure || full) && !keep_pure(m, full ? bf16 : NULL))
		return false;
	if (pure || full || mapped_true(m, "bf16") ||
	    (bf16 && strcmp(bf16->value, "auto") == 0))
		return mapped_set(m, "precision", "bf16", bf16);
	if (mapped_true(m, "fp16") || mapped_true(m, "float16"))
		return mapped_set(m, "precision", "fp16", fp16);
	if (!bf16 && !fp16)
		import_note(m->report, IMPORT_ASSUMED, "precision", "%s", none);
	return mapped_set(m, "precision", bf16 || fp16 ? "fp32" : none, NULL);
}

void recipe_note_whole(const struct mapped *m, const char *key)
{
	const struct pair *pair = pairs_find(m->pairs, key);

	if (pair && pair->value[0] != '\0' && m->out->plan.lora_rank > 0)
		mapped_approximate(m, key,
				   "what is trained whole beside the adapters is left "
				   "out");
}

bool recipe_base_nf4(const struct mapped *m, const char *key)
{
	return m->out->plan.lora_rank > 0 &&
	       (m->out->model.moe.experts == 0 ||
		mapped_true(m, "quantize_moe_experts")) &&
	       mapped_set(m, "frozen_format", "nf4", pairs_find(m->pairs, key));
}

bool recipe_base_bits(const struct mapped *m, const char *name, bool few)
{
	const struct pair *checkpoint = pairs_find(m->pairs, name);
	const char *doubt,
		*format = checkpoint ? model_name_format(checkpoint->value, &doubt)
				     : NULL;

	bool nf4 = checkpoint && (strstr(checkpoint->value, "bnb") ||
				  strstr(checkpoint->value, "nf4"));
	bool bnb;

	/* a checkpoint of groups of four bits, whose experts have them too, or one of
	 * bitsandbytes, which leaves their tensors alone */
	if (format && strcmp(format, "int4") == 0 && m->out->plan.lora_rank > 0 &&
	    (m->out->model.moe.experts == 0 || !nf4))
		return mapped_set(m, "frozen_format", nf4 ? "nf4" : "int4", NULL);
	bnb = few;
	few = few || (format && strncmp(format, "int", 3) == 0);
	/* bitsandbytes replaces linear layers; experts are one tensor of three axes
	 * since transformers 5 (bitsandbytes' issue 1849) */
	if (few)
		mapped_approximate(
			m, "quantisation",
			bnb && m->out->model.moe.experts > 0
				? "experts stay in 16 bits under bitsandbytes; the rest "
				  "of the base, of few bits, is counted in 16, too"
				: "base weights of few bits are counted in 16");
	return true;
}

bool recipe_batch(const struct mapped *m, int64_t world, const struct pair *from)
{
	int64_t steps = 1, dp, batch;

	if (!mapped_count(m, "gradient_accumulation_steps", &steps) ||
	    !mapped_set_world(m, world, from))
		return false;
	dp = scenario_dp(m->out);
	batch = m->out->plan.micro_batch * (steps > 0 ? steps : 1) * (dp > 0 ? dp : 1);
	if (world < 1)
		import_note(m->report, IMPORT_ASSUMED, "gbs", "%lld, of as many GPUs",
			    (long long)batch);
	return mapped_set_count(m, "gbs", batch,
				pairs_find(m->pairs, "gradient_accumulation_steps"));
}
