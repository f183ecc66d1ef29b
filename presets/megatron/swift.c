/* swift.c - what `megatron sft` of ms-swift means otherwise than Megatron itself.
 *
 * Defaults: modelscope/ms-swift, swift/megatron/arguments (megatron_base_args.py).
 */
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"

static const struct argument *given(const struct arguments *a, const char *name)
{
	const struct argument *found = arguments_find(a, name);

	return found && strcmp(found->value, "None") != 0 ? found : NULL;
}

static bool says(const struct arguments *a, const char *name, const char *value)
{
	const struct argument *found = given(a, name);

	return found && strcmp(found->value, value) == 0;
}

static bool put(const struct arguments *a, struct scenario *out, const char *knob,
		const char *value, struct error *error)
{
	char why[256];

	return knob_parse(out, knob_find(knob), value, why, sizeof why) ||
	       error_set(error, a->file, 1, "%s: %s", knob, why);
}

/* Keys that files of `megatron sft` have and Megatron's own never. */
static bool is_own_key(const char *key)
{
	static const char *const keys[] = {
		"rlhf_type",
		"tuner_type",
		"train_type",
		"padding_free",
		"freeze_llm",
		"freeze_vit",
		"split_dataset_ratio",
		"mcore_model",
		"dataset_num_proc",
		"model_author",
		"torch_dtype",
		"task_type",
		NULL,
	};

	return word_among(key, keys);
}

bool swift_looks_like(const struct node *root)
{
	const struct node *node = root->kind == NODE_MAP ? root->child : NULL;

	if (!node_get(root, "model") && !node_get(root, "mcore_model"))
		return false;
	while (node && !is_own_key(node->key))
		node = node->next;
	return node != NULL;
}

/* Which of its commands a file is for, only its keys tell. */
bool swift_add_file(struct arguments *arguments, const struct node *root)
{
	const struct node *loss = node_get(root, "rlhf_type");
	const struct node *sharded = node_get(root, "use_distributed_optimizer");
	const struct node *stays = node_get(root, "to_hf");

	if (!stays)
		stays = node_get(root, "to_mcore");
	if (sharded && sharded->kind == NODE_SCALAR &&
	    strcasecmp(sharded->text, "false") == 0 &&
	    !arguments_add(arguments, "use-distributed-optimizer", "false",
			   sharded->line))
		return false;
	return arguments_add(arguments, "swift-task",
			     loss    ? "rlhf"
			     : stays ? "export"
				     : "sft",
			     loss    ? loss->line
			     : stays ? stays->line
				     : root->line);
}

bool swift_flag(const struct arguments *a, const char *name)
{
	static const char *const names[] = { "max-length", "lora-rank",   "tuner-type",
					     "train-type", "torch-dtype", "task-type",
					     NULL };

	return arguments_find(a, "swift-task") && word_among(name, names);
}

/* Adapters of rank 8, where the tuner is lora. */
static bool put_adapters(const struct arguments *a, struct scenario *out,
			 struct error *error)
{
	const struct argument *rank = given(a, "lora-rank");
	/* lora_llm: adapters in the text part, the eyes whole */
	bool lora = says(a, "tuner-type", "lora") || says(a, "train-type", "lora") ||
		    says(a, "tuner-type", "lora_llm");

	return put(a, out, "lora_rank",
		   !lora  ? "off"
		   : rank ? rank->value
			  : "8",
		   error);
}

static bool put_batch(const struct arguments *a, struct scenario *out,
		      struct import_report *report, struct error *error)
{
	const struct argument *length = given(a, "max-length");

	import_settle(report, "seq");
	import_settle(report, "gbs");
	import_settle(report, "mbs");
	if (!given(a, "seq-length") && !length)
		import_note(report, IMPORT_ASSUMED, "seq", "2048");
	return (given(a, "seq-length") ||
		put(a, out, "seq", length ? length->value : "2048", error)) &&
	       (given(a, "micro-batch-size") || put(a, out, "mbs", "1", error)) &&
	       (given(a, "global-batch-size") || put(a, out, "gbs", "16", error));
}

bool swift_trains(const struct arguments *a, struct error *error)
{
	const struct argument *task = arguments_find(a, "swift-task");
	const struct argument *type = given(a, "task-type");

	if (!task)
		return true;
	if (strcmp(task->value, "export") == 0)
		return error_set(error, a->file, task->line,
				 "megatron export converts a checkpoint and trains "
				 "nothing; sft and pt are modelled");
	if (strcmp(task->value, "sft") != 0 && strcmp(task->value, "pt") != 0)
		return error_set(error, a->file, task->line,
				 "megatron %.20s needs more than one model or loss, "
				 "which is not modelled; sft and pt are",
				 task->value);
	if (type && strcmp(type->value, "causal_lm") != 0)
		return error_set(error, a->file, type->line,
				 "--task_type is '%.40s'; the loss of the next token "
				 "(causal_lm) is modelled",
				 type->value);
	return true;
}

bool swift_is_megatrons(const struct arguments *a, struct error *error)
{
	static const char *const trains[] = { "sft", "pt", "rlhf", NULL };
	const struct argument *plain = arguments_find(a, "swift-plain");
	const struct argument *batch = arguments_find(a, "per-device-train-batch-size");

	if (plain && !word_among(plain->value, trains))
		return error_set(error, a->file, plain->line,
				 "swift %.20s trains nothing; of ms-swift megatron sft "
				 "and pt are read, of servers the commands of vllm, "
				 "sglang and trtllm",
				 plain->value);
	if (plain)
		return error_set(
			error, a->file, plain->line,
			"swift %.20s runs by transformers, whose arguments are "
			"not Megatron's; megatron sft and pt are read",
			plain->value);
	return !batch || arguments_find(a, "micro-batch-size") ||
	       error_set(error, a->file, batch->line,
			 "--per_device_train_batch_size is of transformers' Trainer, "
			 "whose commands are not read; Megatron's are, and files of "
			 "LLaMA-Factory and axolotl");
}

bool swift_settle(const struct arguments *a, struct scenario *out,
		  struct import_report *report, struct error *error)
{
	const struct argument *task = arguments_find(a, "swift-task");
	const char *precision =
		says(a, "torch-dtype", "float16") || says(a, "fp16", "true") ? "fp16"
		: says(a, "torch-dtype", "float32")                          ? "fp32"
									     : "bf16";

	if (!task)
		return true;
	if (out->model.moe.experts > 0 && !given(a, "expert-tensor-parallel-size") &&
	    !put(a, out, "etp", "1", error))
		return false;
	/* Megatron's own default is allgather */
	if (out->model.moe.experts > 0 && !given(a, "moe-token-dispatcher-type") &&
	    !put(a, out, "moe_dispatcher", "alltoall", error))
		return false;
	if (!given(a, "recompute-granularity") &&
	    !put(a, out, "recompute", "selective", error))
		return false;
	if (!given(a, "data-parallel-sharding-strategy") &&
	    !put(a, out, "zero",
		 says(a, "use-distributed-optimizer", "false") ? "0" : "1", error))
		return false;
	if (out->plan.precision == PRECISION_FP32)
		import_settle(report, "precision");
	if (out->plan.precision == PRECISION_FP32 &&
	    !put(a, out, "precision", precision, error))
		return false;
	return put_batch(a, out, report, error) && put_adapters(a, out, error);
}
