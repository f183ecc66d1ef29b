/* zero.c - what data-parallel ranks share out, and how layers go to stages where
 * DeepSpeed's engine does both.
 *
 * Sources: Megatron-LM, megatron/training/arguments.py;
 * deepspeedai/DeepSpeed@edaa72212, deepspeed/runtime/engine.py
 * (_do_optimizer_sanity_check: bf16 without ZeRO takes BF16_Optimizer, whose states
 * each rank has a part of) and runtime/pipe/module.py
 * (_partition_layers); deepspeedai/Megatron-DeepSpeed@f4157bea,
 * megatron/model/gpt_model.py.
 */
#include <string.h>

#include "presets/megatron/parts.h"
#include "presets/megatron/take.h"
#include "presets/pairs/mapping.h"

bool megatron_is_deepspeed(const struct arguments *arguments)
{
	return arguments_find(arguments, "deepspeed") ||
	       arguments_find(arguments, "deepspeed-config") ||
	       arguments_find(arguments, "zero-stage");
}

bool megatron_zero_flag(const char *name)
{
	static const char *const names[] = { "deepspeed", "zero-stage",
					     "pp-partition-method", NULL };

	return word_among(name, names);
}

/* Of the flag, or of the file that DeepSpeed is given, which is not read. */
static bool read_stage(struct flag_reader *r, int64_t *zero)
{
	const struct argument *file = flag_find(r, "deepspeed-config");

	if (!flag_number(r, "zero-stage", zero))
		return false;
	if (flag_is_set(r, "bf16") && *zero == 0) {
		*zero = 1;
		import_note(r->report, IMPORT_ASSUMED, "zero",
			    "1: without ZeRO DeepSpeed's optimizer for bf16 shares "
			    "out its states");
	} else if (file && !flag_is_set(r, "zero-stage")) {
		import_note(r->report, IMPORT_ASSUMED, "zero",
			    "%lld; %.60s, which is not read, says", (long long)*zero,
			    file->value);
	}
	return true;
}

bool megatron_read_zero(struct flag_reader *r)
{
	static const char *const strategy[] = { "no_shard", "optim", "optim_grads",
						"optim_grads_params" };
	const struct argument *a = flag_find(r, "data-parallel-sharding-strategy");
	int64_t zero = flag_is_set(r, "use-distributed-optimizer"), instances = 1;
	bool fsdp = flag_is_set(r, "use-megatron-fsdp") ||
		    flag_is_set(r, "use-custom-fsdp");

	for (int i = 0; a && fsdp && i < 4; i++)
		if (strcmp(a->value, strategy[i]) == 0)
			zero = i;
	if (flag_is_set(r, "use-torch-fsdp2"))
		zero = 3;
	if (megatron_is_deepspeed(r->arguments) && !read_stage(r, &zero))
		return false;
	a = flag_is_set(r, "zero-stage") ? flag_find(r, "zero-stage") : a;
	return flag_number(r, "num-distributed-optimizer-instances", &instances) &&
	       flag_set_count(r, "zero", zero, a) &&
	       flag_set(r, "zero_group", "all", NULL);
}

const char *megatron_deepspeed_split(struct flag_reader *r)
{
	const char *ends =
		flag_says(r, "pp-partition-method", "embedding") ? "on" : "off";
	const struct argument *from = flag_find(r, "pp-partition-method");

	return flag_set(r, "split_embedding", ends, from) &&
			       flag_set(r, "split_loss", ends, from)
		       ? "auto"
		       : NULL;
}
