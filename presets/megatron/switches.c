/* switches.c - flags that take no value: a variable behind one holds further flags.
 *
 * Sources: Megatron-LM, megatron/training/arguments.py (action='store_true');
 * microsoft/Megatron-DeepSpeed, megatron/arguments.py, and DeepSpeed's own
 * (deepspeed/__init__.py, _add_core_arguments).
 */
#include <string.h>

#include "presets/megatron/flags.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"

bool megatron_is_switch(const char *name)
{
	static const char *const switches[] = {
		"accumulate-allreduce-grads-in-fp32",
		"add-qkv-bias",
		"attention-output-gate",
		"bf16",
		"checkpoint-activations",
		"cpu-offloading",
		"cpu-optimizer",
		"deepspeed",
		"disable-bias-linear",
		"embed-layernorm",
		"enable-cuda-graph",
		"fine-grained-activation-offloading",
		"first-last-layers-bf16",
		"fp16",
		"fp4-param-gather",
		"fp8-e4m3",
		"fp8-hybrid",
		"fp8-param-gather",
		"geglu",
		"gelu-tanh",
		"grad-reduce-in-bf16",
		"group-query-attention",
		"moe-pad-expert-input-to-capacity",
		"multi-head-latent-attention",
		"multi-latent-attention",
		"no-masked-softmax-fusion",
		"optimizer-cpu-offload",
		"qk-layernorm",
		"quick-geglu",
		"recompute-activations",
		"reuse-grad-buf-for-mxfp8-param-ag",
		"squared-relu",
		"swiglu",
		"untie-embeddings-and-output-weights",
		NULL,
	};
	const struct flag *flag = megatron_flag(name);

	return strncmp(name, "use-", 4) == 0 || word_among(name, switches) ||
	       (flag && (flag->form == FLAG_ON || flag->form == FLAG_OFF));
}
