/* second_form.c - LLaMA-Factory's newer files ("v1") in the words of its older ones:
 * model, micro_batch_size, and what is shared out, tuned and multiplied in mappings of
 * their own (hiyouga/LLaMA-Factory@ff6d4d12e, src/llamafactory/v1/config).
 */
#include <string.h>

#include "presets/finetune/recipe.h"
#include "presets/import.h"

/* A key, of one value or (NULL) of any, is this one, with that value or (NULL) its own.
 */
static const struct {
	const char *key, *value, *as, *with;
} words[] = {
	{ "model", NULL, "model_name_or_path", NULL },
	{ "micro_batch_size", NULL, "per_device_train_batch_size", NULL },
	{ "cp_size", NULL, "context_parallel_size", NULL },
	{ "train_dataset", NULL, "do_train", "true" },
	{ "enable_activation_checkpointing", "false", "disable_gradient_checkpointing",
	  "true" },
	{ "flash_attn", "eager", "flash_attn", "disabled" },
	{ "dist_config.name", "fsdp2", "fsdp", "full_shard" },
	{ "dist_config.name", "fsdpturbo", "fsdp", "full_shard" },
	{ "dist_config.config_file", NULL, "deepspeed", NULL },
	{ "dist_config.ep_size", NULL, "expert_model_parallel_size", NULL },
	{ "peft_config.name", NULL, "finetuning_type", NULL },
	{ "peft_config.r", NULL, "lora_rank", NULL },
	{ "optim_config.name", "muon", "use_muon", "true" },
	{ "quant_config.quantization_bit", NULL, "quantization_bit", NULL },
};

/* What an absent key means there. */
static const struct {
	const char *key, *value;
} absent[] = {
	{ "per_device_train_batch_size", "1" },
	{ "finetuning_type", "full" },
	{ "bf16", "true" },
};

bool second_form_looks_like(const struct pairs *pairs)
{
	return pairs_find(pairs, "model") && (pairs_find(pairs, "model_class") ||
					      pairs_find(pairs, "peft_config.name"));
}

/* Pairs of a better and a worse answer: the file's name, its data or keys of the loss
 * say so; the task itself is a word of the command (`llamafactory-cli dpo FILE`). */
static const char *loss_of(const struct pairs *pairs)
{
	static const char *const keys[] = { "pref_loss", "pref_beta", "ref_model" };
	const struct pair *data = pairs_find(pairs, "train_dataset");
	const char *slash = strrchr(pairs->file, '/');

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (pairs_find(pairs, keys[i]))
			return "dpo";
	if (strstr(slash ? slash + 1 : pairs->file, "dpo") ||
	    (data && strstr(data->value, "dpo")))
		return "dpo";
	return NULL;
}

static bool add_task(struct pairs *pairs, struct import_report *report,
		     struct error *error)
{
	if (pairs_find(pairs, "stage"))
		return true;
	if (loss_of(pairs))
		return pairs_add(pairs, "stage", loss_of(pairs), 1, error);
	import_note(report, IMPORT_ASSUMED, "task",
		    "sft; the command says it, not this file");
	return true;
}

bool second_form_spell(struct pairs *pairs, struct import_report *report,
		       struct error *error)
{
	if (!add_task(pairs, report, error))
		return false;
	for (int i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->item[i];

		for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
			if (strcmp(words[k].key, pair->key) != 0 ||
			    (words[k].value &&
			     strcmp(words[k].value, pair->value) != 0))
				continue;
			pair->key = words[k].as;
			pair->value = words[k].with ? words[k].with : pair->value;
			break;
		}
	}
	for (size_t k = 0; k < sizeof absent / sizeof absent[0]; k++)
		if (!pairs_find(pairs, absent[k].key) &&
		    !pairs_add(pairs, absent[k].key, absent[k].value, 1, error))
			return false;
	return true;
}
