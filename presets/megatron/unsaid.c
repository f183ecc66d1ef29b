/* unsaid.c - what a recipe sets by itself that a command only names: of what stands in
 * its file, which is not opened, what all of them have or Megatron would not start
 * without.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "presets/megatron/parts.h"
#include "presets/megatron/take.h"
#include "presets/pairs/mapping.h"

static bool assume(struct scenario *out, struct import_report *report, const char *knob,
		   const char *value, const char *because)
{
	char why[256];

	import_note(report, IMPORT_ASSUMED, knob, "%s, %s", value, because);
	return knob_parse(out, knob_find(knob), value, why, sizeof why);
}

/* "llama3_8b_128k_pretrain_config" is of sequences of 131072; 0: the name is of none.
 */
static long long length_in(const char *recipe)
{
	const char *at = recipe;

	while ((at = strchr(at, '_'))) {
		char *end;
		long long thousands = strtoll(++at, &end, 10);

		if (end > at && *end == 'k' && (end[1] == '_' || end[1] == '\0') &&
		    thousands > 0 && thousands <= 4096)
			return thousands * 1024;
	}
	return 0;
}

bool unsaid_length(struct flag_reader *r)
{
	const struct argument *recipe = flag_find(r, "recipe");
	long long length = recipe ? length_in(recipe->value) : 0;

	if (length == 0) {
		import_note(r->report, IMPORT_ASSUMED, "seq", "2048");
		return flag_set(r, "seq", "2048", NULL);
	}
	import_note(r->report, IMPORT_ASSUMED, "seq", "%lld, by the recipe's name",
		    length);
	/* the recipe splits sequences that no GPU holds */
	if (!flag_find(r, "context-parallel-size"))
		import_note(r->report, IMPORT_ASSUMED, "cp",
			    "1: the recipe's own is not read");
	return flag_set_count(r, "seq", length, recipe);
}

/* Layers that its stages can't share evenly: the recipe counts the embedding and the
 * loss as layers (llama31_405b, qwen3_235b_a22b), or has a layout. */
static bool take_split(const struct arguments *arguments, struct scenario *out,
		       struct import_report *report)
{
	static const char *const says[] = { "pipeline-model-parallel-layout",
					    "bridge-layout",
					    "account-for-embedding-in-pipeline-split",
					    "account-for-loss-in-pipeline-split",
					    "decoder-first-pipeline-num-layers",
					    "decoder-last-pipeline-num-layers" };
	const struct plan *plan = &out->plan;
	int64_t chunks = plan->pp * (plan->vpp > 1 ? plan->vpp : 1);

	for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
		if (arguments_find(arguments, says[i]))
			return true;
	if (plan->pp < 2 || plan->split != SPLIT_EVEN ||
	    out->model.layers % chunks == 0)
		return true;
	if ((out->model.layers + 2) % chunks != 0)
		return assume(out, report, "split", "balanced",
			      "as the recipe's layout is not read");
	return assume(out, report, "split_embedding", "on",
		      "or its layers do not divide") &&
	       assume(out, report, "split_loss", "on", "or its layers do not divide");
}

/* Of Bridge's recipes: experts that are not split, run in one GEMM behind an
 * all-to-all.
 */
static bool take_experts(const struct arguments *arguments, struct scenario *out,
			 struct import_report *report)
{
	char why[256];

	/* as Bridge's providers have them (models, moe_grouped_gemm = True) */
	if (!arguments_find(arguments, "moe-grouped-gemm") &&
	    !assume(out, report, "grouped_gemm", "on", "as the recipes have it"))
		return false;
	if (!arguments_find(arguments, "moe-token-dispatcher-type") &&
	    !assume(out, report, "moe_dispatcher", "alltoall",
		    "as the recipes have it"))
		return false;
	/* experts under TP need it (transformer_config.py), so the recipe has it */
	if (out->plan.tp > 1 && !out->plan.sp &&
	    !arguments_find(arguments, "sequence-parallel")) {
		import_note(report, IMPORT_ASSUMED, "sp",
			    "on, as experts under TP need");
		if (!knob_parse(out, knob_find("sp"), "on", why, sizeof why))
			return false;
	}
	if (out->plan.etp == 1 ||
	    arguments_find(arguments, "expert-tensor-parallel-size"))
		return true;
	import_note(report, IMPORT_ASSUMED, "etp", "1, as in the recipes");
	return knob_parse(out, knob_find("etp"), "1", why, sizeof why);
}

/* States are shared out in all recipes; what FSDP, where a command turns it on, shares
 * out besides is that of recipes/common.py: data_parallel_sharding_strategy. */
static bool take_shards(const struct arguments *arguments, bool is_bridge,
			struct scenario *out, struct import_report *report)
{
	const struct argument *fsdp = arguments_find(arguments, "use-megatron-fsdp");

	if (is_bridge && fsdp && strcasecmp(fsdp->value, "false") != 0 &&
	    !arguments_find(arguments, "data-parallel-sharding-strategy"))
		return assume(out, report, "zero", "3",
			      "optim_grads_params as in the recipes");
	return out->plan.zero != 0 || megatron_is_deepspeed(arguments) ||
	       assume(out, report, "zero", "1", "as in the recipes");
}

/* What all recipes of Megatron-Bridge have but for the precision: states that are
 * shared out (recipes/common.py), and experts that are not split, though Megatron would
 * by TP. NeMo's have the first alone. */
bool unsaid_take(const struct arguments *arguments, const struct argument *recipe,
		 struct scenario *out, struct import_report *report)
{
	bool is_bridge = strcmp(recipe->name, "nemo-recipe") != 0;

	if (!take_split(arguments, out, report) ||
	    !take_shards(arguments, is_bridge, out, report))
		return false;
	if (!is_bridge)
		return true;
	/* as Bridge's provider has it (models/gpt_provider.py) */
	if (!arguments_find(arguments, "cross-entropy-loss-fusion") &&
	    !assume(out, report, "cross_entropy", "fused", "as the recipes have it"))
		return false;
	return out->model.moe.experts == 0 || take_experts(arguments, out, report);
}

/* Whether a recipe that another file holds is one of adapters: by its name
 * ("qwen3_8b_peft_config"), or by the scheme that its command asks for. */
static bool is_peft(const struct arguments *arguments, const struct argument *recipe)
{
	static const char *const flags[] = { "mode", "peft-scheme", "peft" };
	bool is = recipe && strcmp(recipe->name, "nemo-recipe") != 0 &&
		  (strstr(recipe->value, "_peft") || strstr(recipe->value, "_lora"));

	for (size_t i = 0; recipe && i < sizeof flags / sizeof flags[0]; i++) {
		const struct argument *a = arguments_find(arguments, flags[i]);

		is = is || (a && (strcmp(a->value, "lora") == 0 ||
				  strcmp(a->value, "dora") == 0));
	}
	return is;
}

/* LoRA's default rank (megatron/bridge/peft/lora.py), which a recipe may change. */
bool unsaid_adapters(const struct arguments *arguments, const struct argument *recipe,
		     struct scenario *out, struct import_report *report)
{
	const struct argument *rank = arguments_find(arguments, "dim");
	char why[256];

	if (!is_peft(arguments, recipe))
		return true;
	if (!rank)
		import_note(report, IMPORT_ASSUMED, "lora_rank",
			    "32, as the recipes have it");
	return knob_parse(out, knob_find("lora_rank"), rank ? rank->value : "32", why,
			  sizeof why);
}
