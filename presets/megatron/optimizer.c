/* optimizer.c - the optimizer of a list of Megatron-LM arguments: its kind, the types
 * of its states, and what is on the hosts. */
#include <stdio.h>
#include <string.h>

#include "presets/megatron/flags.h"
#include "presets/megatron/parts.h"
#include "presets/megatron/take.h"

/* Megatron holds either moment in a type of its own, fp32 if none is said. */
static bool has_equal_moments(struct flag_reader *r)
{
	const struct argument *first = flag_find(r, "exp-avg-dtype");
	const struct argument *second = flag_find(r, "exp-avg-sq-dtype");

	return strcmp(first ? first->value : "fp32", second ? second->value : "fp32") ==
	       0;
}

/* Moments of fp16 take the bytes of those of bf16, and a scale for each tensor beside
 * them (Transformer Engine, pytorch/optimizers/fused_adam.py). */
static const char *adam_of(struct flag_reader *r)
{
	if (!flag_is_set(r, "use-precision-aware-optimizer"))
		return "adamw";
	if (flag_says(r, "exp-avg-dtype", "fp16"))
		import_note(r->report, IMPORT_APPROXIMATE, "exp-avg-dtype",
			    "moments in fp16 are counted as those in bf16");
	if (flag_says(r, "exp-avg-dtype", "bf16") ||
	    flag_says(r, "exp-avg-dtype", "fp16"))
		return "adamw-bf16";
	return flag_says(r, "exp-avg-dtype", "fp8") ||
			       flag_says(r, "exp-avg-dtype", "uint8")
		       ? "adamw-8bit"
		       : "adamw";
}

/* Transformer Engine keeps of a master weight in fp32 the bits that the weight lacks,
 * whatever the moments have, but not where a part of them is on the host. */
static const char *master_of(const struct flag_reader *r, const char *optimizer)
{
	if (!flag_is_set(r, "use-precision-aware-optimizer"))
		return "auto";
	if (flag_says(r, "main-params-dtype", "fp16"))
		return "16-bit";
	return strcmp(optimizer, "adamw") == 0 && r->out->stack.splits_master &&
			       !flag_is_set(r, "optimizer-cpu-offload")
		       ? "rest"
		       : "auto";
}

bool megatron_read_optimizer(struct flag_reader *r)
{
	const struct argument *kind = flag_find(r, "optimizer");
	const struct argument *share = flag_find(r, "optimizer-offload-fraction");
	const char *name = kind && strstr(kind->value, "muon")       ? "muon"
			   : kind && strcmp(kind->value, "sgd") == 0 ? "sgd"
								     : adam_of(r);

	if (strncmp(name, "adamw", 5) == 0 &&
	    flag_is_set(r, "use-precision-aware-optimizer") && !has_equal_moments(r))
		import_note(r->report, IMPORT_APPROXIMATE, "exp-avg-sq-dtype",
			    "the second moment is counted as wide as the first");
	if (kind && name[0] == 'a' && strcmp(kind->value, "adam") != 0)
		import_note(r->report, IMPORT_APPROXIMATE, "optimizer",
			    "%.40s: costs of AdamW", kind->value);
	return flag_set(r, "optimizer", name, kind) &&
	       flag_set(r, "master_weights", master_of(r, name),
			flag_find(r, "main-params-dtype")) &&
	       flag_set(r, "optimizer_offload",
			!flag_is_set(r, "optimizer-cpu-offload") ? "0"
			: share                                  ? share->value
								 : "1",
			share);
}

bool megatron_read_offload(struct flag_reader *r)
{
	const struct plan *plan = &r->out->plan;
	int64_t layers = 0, stage = r->out->model.layers / plan->pp;
	char text[32];

	if (!flag_number(r, "cpu-offloading-num-layers", &layers) ||
	    (!flag_is_set(r, "fine-grained-activation-offloading") &&
	     !flag_set(r, "offload_modules", "none", NULL)))
		return false;
	layers = layers > stage ? stage : layers;
	snprintf(text, sizeof text, "%.9g",
		 stage > 0 ? (double)layers / (double)stage : 0);
	return flag_set(r, "activation_offload", text, NULL);
}
