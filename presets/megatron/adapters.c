/* adapters.c - LoRA beside frozen weights, where Megatron-LM itself has none.
 *
 * MindSpeed-LLM: mindspeed_llm/features_manager/finetune/lora.py (rank 16) and
 * tasks/posttrain/lora/utils.py, where a list of matrices is what switches it on.
 */
#include <string.h>

#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"

static const struct argument *matrices(const struct arguments *arguments)
{
	const struct argument *a = arguments_find(arguments, "lora-target-modules");

	return a && a->value[0] != '\0' && !arguments_find(arguments, "swift-task")
		       ? a
		       : NULL;
}

bool adapters_flag(const struct arguments *arguments, const char *name)
{
	static const char *const names[] = { "lora-r", "lora-target-modules", "qlora",
					     NULL };

	return matrices(arguments) && word_among(name, names);
}

static bool set(struct scenario *out, const char *knob, const char *value)
{
	char why[256];

	return knob_parse(out, knob_find(knob), value, why, sizeof why);
}

/* "linear_qkv linear_proj": of attention alone; with those of the MLP, all. */
static const char *targets_of(const char *names)
{
	if (strstr(names, "fc") || strstr(names, "all"))
		return "all";
	return strstr(names, "proj") || strstr(names, "linear_o") ? "attention" : "qkv";
}

static bool read_matrices(const struct arguments *arguments, const char *named,
			  struct scenario *out)
{
	const struct argument *rank = arguments_find(arguments, "lora-r");

	return set(out, "lora_rank",
		   rank && rank->value[0] != '\0' ? rank->value : "16") &&
	       set(out, "lora_targets", targets_of(named)) &&
	       (!arguments_find(arguments, "qlora") ||
		set(out, "frozen_format", "nf4"));
}

bool megatron_adapters(const struct arguments *arguments, const struct argument *recipe,
		       struct scenario *out, struct import_report *report)
{
	const struct argument *a = arguments_find(arguments, "bridge-lora"),
			      *targets =
				      arguments_find(arguments, "bridge-lora-targets"),
			      *named = matrices(arguments);

	if (!a && named)
		return read_matrices(arguments, named->value, out);
	if (!a)
		return unsaid_adapters(arguments, recipe, out, report);
	import_note(report, IMPORT_TAKEN, "peft", "LoRA of rank %s%s%s", a->value,
		    targets ? " beside " : "", targets ? targets->value : "");
	return (!targets || set(out, "lora_targets", targets->value)) &&
	       set(out, "lora_rank", a->value);
}
