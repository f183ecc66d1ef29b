/* write_plan.c - what the knobs turn, as Megatron-LM flags: the rows of flags.c, and
 * what needs more than one flag. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/plan/split.h"
#include "engine/train/train.h"
#include "presets/megatron/flags.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"

bool megatron_has(const char *knob)
{
	static const char *const keys[] = {
		"vpp",
		"zero",
		"zero_group",
		"schedule",
		"split",
		"recompute_layers",
		"optimizer",
		"optimizer_offload",
		"master_weights",
		"precision",
		"grad_dtype",
		"weight_format",
		"cuda_graphs",
		"graph_scopes",
		"moe_dispatcher",
		"moe_capacity",
		"activation_offload",
		"tokens",
		"gpus",
		NULL,
	};

	if (word_among(knob, keys))
		return true;
	for (const struct flag *flag = megatron_flags; flag->name; flag++)
		if (strcmp(flag->knob, knob) == 0)
			return true;
	return false;
}

static void put_set(const struct flag_writer *w, const struct flag *flag, char *value)
{
	const char *per_op = strstr(value, "per-op");

	if (per_op)
		export_unsaid(w->out, flag->knob, "%s", value);
	if (per_op || strcmp(value, "none") == 0)
		return;
	for (char *c = value; *c != '\0'; c++)
		if (*c == '+')
			*c = ' ';
	w->put(w->out, flag->name, value);
}

static void put_flag(const struct flag_writer *w, const struct flag *flag)
{
	const struct knob *knob = knob_find(flag->knob);
	const struct scenario *s = w->scenario;
	char value[MAX_LAYOUT], word[32];

	if (!knob_applies(s, knob) ||
	    (megatron_is_hybrid(&s->model) && megatron_is_split_flag(flag->name)))
		return;
	knob_print(s, knob, value, sizeof value);
	if (flag->absent && strcmp(value, flag->absent) == 0)
		return;
	switch (flag->form) {
	case FLAG_WORD:
		if (mapping_theirs(flag->words, value, word))
			w->put(w->out, flag->name, word);
		else
			export_unsaid(w->out, flag->knob, "%s", value);
		break;
	case FLAG_LIST: put_set(w, flag, value); break;
	case FLAG_ON:
		if (flag->words && strncmp(flag->words, value, strlen(value)) != 0)
			export_unsaid(w->out, flag->knob, "%s; written as %.*s", value,
				      (int)strcspn(flag->words, " "), flag->words);
		w->put(w->out, flag->name, "");
		break;
	case FLAG_OFF: w->put(w->out, flag->name, ""); break;
	default: w->put(w->out, flag->name, value); break;
	}
}

static bool keeps_narrow(const struct plan *plan)
{
	return plan->weight_format == WEIGHTS_FP8 || plan->weight_format == WEIGHTS_FP4;
}

static void put_layout(const struct flag_writer *w)
{
	const struct scenario *s = w->scenario;
	char layout[MAX_LAYOUT];
	struct estimate *scratch = malloc(sizeof *scratch);
	struct split split;

	error_note_memory(!scratch);
	/* a plan that breaks a rule, or serves, has no costs to balance by */
	if ((scratch && s->plan.mode == MODE_TRAINING &&
	     train_layout(s, scratch, layout, sizeof layout)) ||
	    (split_layers(s, NULL, &split) &&
	     split_layout(s, &split, layout, sizeof layout)))
		w->put(w->out, "pipeline-model-parallel-layout", layout);
	else
		export_unsaid(w->out, "split", "these layers can't be dealt out");
	free(scratch);
}

static void put_stages(const struct flag_writer *w)
{
	const struct scenario *s = w->scenario;
	const struct plan *plan = &s->plan;
	int64_t chunks = plan->schedule == SCHEDULE_INTERLEAVED ? plan->vpp : 1;
	int64_t layers = s->model.layers + plan->split_embedding + plan->split_loss;
	char schedule[32];

	if (plan->pp < 2)
		return;
	knob_print(s, knob_find("schedule"), schedule, sizeof schedule);
	if (plan->schedule != SCHEDULE_1F1B && plan->schedule != SCHEDULE_INTERLEAVED)
		export_unsaid(w->out, "schedule", "%s; written as 1F1B", schedule);
	/* their pattern has the ends of stages */
	if (megatron_is_hybrid(&s->model))
		return;
	if (plan->split == SPLIT_BALANCED || plan->split == SPLIT_BALANCED_MEMORY ||
	    (plan->split == SPLIT_AUTO && layers % (plan->pp * chunks) != 0))
		put_layout(w);
	else if (plan->split != SPLIT_CUSTOM && chunks > 1)
		megatron_put_count(w, "num-virtual-stages-per-pipeline-rank", chunks);
}

static void put_recompute(const struct flag_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	int64_t chunks = scenario_chunks(w->scenario);

	if (plan->recompute != RECOMPUTE_FULL)
		return;
	if (plan->recompute_layers == 0) {
		w->put(w->out, "recompute-method", "uniform");
		w->put(w->out, "recompute-num-layers", "1");
		return;
	}
	chunks = chunks > 0 ? chunks : 1;
	if (plan->recompute_layers % chunks != 0)
		export_unsaid(w->out, "recompute_layers",
			      "%lld per stage; Megatron counts them per chunk",
			      (long long)plan->recompute_layers);
	w->put(w->out, "recompute-method", "block");
	megatron_put_count(w, "recompute-num-layers",
			   (plan->recompute_layers + chunks - 1) / chunks);
}

static void put_zero(const struct flag_writer *w)
{
	static const char *const strategy[] = { "no_shard", "optim", "optim_grads",
						"optim_grads_params" };
	const struct plan *plan = &w->scenario->plan;
	int64_t ranks = scenario_dp(w->scenario) * plan->cp;

	if (plan->zero < 1)
		return;
	w->put(w->out, "use-distributed-optimizer", "");
	if (plan->zero > 1) {
		w->put(w->out, "use-megatron-fsdp", "");
		w->put(w->out, "data-parallel-sharding-strategy", strategy[plan->zero]);
		w->put(w->out, "ckpt-format", "fsdp_dtensor");
	}
	if (plan->zero_group < 1 || plan->zero_group == ranks)
		return;
	if (ranks % plan->zero_group == 0)
		megatron_put_count(w, "num-distributed-optimizer-instances",
				   ranks / plan->zero_group);
	else
		export_unsaid(w->out, "zero_group", "%lld",
			      (long long)plan->zero_group);
}

static void put_precision(const struct flag_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	bool bf16_grads = plan->grad_dtype == GRAD_BF16;

	switch (plan->precision) {
	case PRECISION_FP16: w->put(w->out, "fp16", ""); break;
	case PRECISION_FP32: break;
	default: w->put(w->out, "bf16", ""); break;
	}
	if (plan->precision == PRECISION_FP8)
		w->put(w->out, "fp8-format", "hybrid");
	if (plan->precision == PRECISION_MXFP8) {
		w->put(w->out, "fp8-format", "e4m3");
		w->put(w->out, "fp8-recipe", "mxfp8");
	}
	if (scenario_trains_narrow(w->scenario) && plan->weight_format == WEIGHTS_BOTH)
		export_unsaid(w->out, "weight_format",
			      "both; Transformer Engine keeps copies as it is built");
	if (plan->precision == PRECISION_NVFP4)
		w->put(w->out, "fp4-format", "e2m1");
	if (plan->precision == PRECISION_NVFP4 && keeps_narrow(plan))
		w->put(w->out, "fp4-param-gather", "");
	else if (scenario_trains_narrow(w->scenario) && keeps_narrow(plan))
		w->put(w->out, "fp8-param-gather", "");
	/* without it Megatron stops: such weights have no buffer of their own */
	if (plan->precision == PRECISION_MXFP8 && keeps_narrow(plan) && plan->zero < 3)
		w->put(w->out, "reuse-grad-buf-for-mxfp8-param-ag", "");
	if (scenario_trains_narrow(w->scenario) &&
	    (plan->wide_first > 0 || plan->wide_last > 0)) {
		w->put(w->out, "first-last-layers-bf16", "");
		megatron_put_count(w, "num-layers-at-start-in-bf16", plan->wide_first);
		megatron_put_count(w, "num-layers-at-end-in-bf16", plan->wide_last);
	}
	if (plan->precision == PRECISION_FP16 && !bf16_grads)
		w->put(w->out, "accumulate-allreduce-grads-in-fp32", "");
	if (plan->precision != PRECISION_FP16 && bf16_grads)
		w->put(w->out, "grad-reduce-in-bf16", "");
}

/* Narrow moments have the flag already. */
static void put_master(const struct flag_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	bool adam = plan->optimizer == OPTIMIZER_ADAMW && plan->optimizer_offload <= 0;
	bool narrow = plan->optimizer == OPTIMIZER_ADAMW_BF16 ||
		      plan->optimizer == OPTIMIZER_ADAMW_8BIT;

	if (plan->master_weights == MASTER_AUTO || plan->precision == PRECISION_FP32)
		return;
	if (plan->master_weights == MASTER_FP32 ||
	    plan->master_weights == MASTER_NONE || plan->zero < 1 ||
	    (narrow ? plan->master_weights == MASTER_REST : !adam)) {
		export_unsaid(w->out, "master_weights",
			      "what fp32 adds, or fp16, of Adam's shared states alone");
		return;
	}
	if (!narrow)
		w->put(w->out, "use-precision-aware-optimizer", "");
	if (plan->master_weights == MASTER_HALF)
		w->put(w->out, "main-params-dtype", "fp16");
}

static void put_optimizer(const struct flag_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	bool bf16 = plan->optimizer == OPTIMIZER_ADAMW_BF16;
	char share[32];

	switch (plan->optimizer) {
	case OPTIMIZER_MUON: w->put(w->out, "optimizer", "muon"); break;
	case OPTIMIZER_SGD: w->put(w->out, "optimizer", "sgd"); break;
	case OPTIMIZER_ADAFACTOR:
		export_unsaid(w->out, "optimizer", "adafactor; written as adam");
		break;
	case OPTIMIZER_ADAMW_BF16:
	case OPTIMIZER_ADAMW_8BIT:
		w->put(w->out, "use-precision-aware-optimizer", "");
		w->put(w->out, "exp-avg-dtype", bf16 ? "bf16" : "fp8");
		w->put(w->out, "exp-avg-sq-dtype", bf16 ? "bf16" : "fp8");
		break;
	default: break;
	}
	put_master(w);
	if (plan->optimizer_offload <= 0)
		return;
	if (plan->optimizer == OPTIMIZER_MUON || plan->optimizer == OPTIMIZER_SGD) {
		export_unsaid(w->out, "optimizer_offload",
			      "%.3g; Megatron offloads Adam alone",
			      plan->optimizer_offload);
		return;
	}
	/* arguments.py:1885: by the path of that one */
	if (plan->optimizer == OPTIMIZER_ADAMW ||
	    plan->optimizer == OPTIMIZER_ADAFACTOR)
		w->put(w->out, "use-precision-aware-optimizer", "");
	w->put(w->out, "optimizer-cpu-offload", "");
	snprintf(share, sizeof share, "%.17g", plan->optimizer_offload);
	w->put(w->out, "optimizer-offload-fraction", share);
}

static void put_moe(const struct flag_writer *w)
{
	static const char *const type[DISPATCH_COUNT] = { "alltoall", "allgather",
							  "flex", "flex" };
	const struct plan *plan = &w->scenario->plan;

	if (w->scenario->model.moe.experts == 0)
		return;
	/* asked for with one expert a rank too, where there is nothing to group
	 * (transformer_config.py:1964) */
	if (!knob_applies(w->scenario, knob_find("grouped_gemm")) &&
	    plan->recompute == RECOMPUTE_SELECTIVE &&
	    (plan->recompute_modules >> MODULE_MOE_ACT & 1))
		w->put(w->out, "moe-grouped-gemm", "");
	w->put(w->out, "moe-token-dispatcher-type", type[plan->moe_dispatcher]);
	if (plan->moe_dispatcher == DISPATCH_DEEPEP)
		w->put(w->out, "moe-flex-dispatcher-backend", "deepep");
	if (plan->moe_dispatcher == DISPATCH_HYBRIDEP)
		w->put(w->out, "moe-flex-dispatcher-backend", "hybridep");
	if (plan->moe_capacity != CAPACITY_DROPLESS && plan->capacity_factor == 1)
		w->put(w->out, "moe-expert-capacity-factor", "1");
	if (plan->moe_capacity == CAPACITY_PAD)
		w->put(w->out, "moe-pad-expert-input-to-capacity", "");
}

/* Whole layers, and fewer than all of them. */
static void put_offload(const struct flag_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	int64_t all = w->scenario->model.layers;
	double share = plan->activation_offload * (double)all;
	int64_t layers = (int64_t)(share + 0.5);

	if (knob_applies(w->scenario, knob_find("offload_modules")) &&
	    plan->offload_modules != 0)
		w->put(w->out, "fine-grained-activation-offloading", "");
	if (!(plan->activation_offload > 0))
		return;
	layers = layers < 1 ? 1 : layers >= all ? all - 1 : layers;
	if (layers < 1 || plan->pp > 1) {
		export_unsaid(w->out, "activation_offload",
			      "%.3g; Megatron offloads whole layers, without a "
			      "pipeline, and keeps one",
			      plan->activation_offload);
		return;
	}
	if (share != (double)layers)
		export_unsaid(w->out, "activation_offload",
			      "%.3g; written as %lld of %lld layers",
			      plan->activation_offload, (long long)layers,
			      (long long)all);
	w->put(w->out, "cpu-offloading", "");
	megatron_put_count(w, "cpu-offloading-num-layers", layers);
}

static void put_scopes(const struct flag_writer *w)
{
	static const char *const words[SCOPE_COUNT] = {
		[SCOPE_ATTN] = "attn",
		[SCOPE_MLP] = "mlp",
		[SCOPE_MOE_ROUTER] = "moe_router",
		[SCOPE_MOE_PREPROCESS] = "moe_preprocess",
		[SCOPE_MAMBA] = "mamba",
	};
	uint64_t scopes = w->scenario->plan.graph_scopes, all = (1u << SCOPE_COUNT) - 1;
	char text[128] = "";

	for (int i = 0; i < SCOPE_COUNT; i++) {
		size_t used = strlen(text);

		if (words[i] && (scopes & 1u << i))
			snprintf(text + used, sizeof text - used, "%s%s",
				 used ? " " : "", words[i]);
	}
	w->put(w->out, "cuda-graph-impl", "transformer_engine");
	if (scopes == all)
		return;
	if (text[0] != '\0')
		w->put(w->out, "cuda-graph-scope", text);
	/* they are in the router's graph, and alone in none */
	if ((scopes >> SCOPE_SHARED_EXPERTS & 1) != (scopes >> SCOPE_MOE_ROUTER & 1) ||
	    (scopes & 1u << SCOPE_MOE) || text[0] == '\0')
		export_unsaid(w->out, "graph_scopes", "written as %s",
			      text[0] ? text : "Megatron's own");
}

static void put_rest(const struct flag_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	double samples = plan->tokens / (double)plan->seq_len;
	struct scenario base;

	put_offload(w);
	if (plan->attention_kernel == ATTENTION_UNFUSED)
		w->put(w->out, "no-masked-softmax-fusion", "");
	if (plan->cuda_graphs == GRAPHS_PARTIAL)
		put_scopes(w);
	if (plan->cuda_graphs == GRAPHS_FULL) {
		w->put(w->out, "cuda-graph-impl", "full_iteration");
		w->put(w->out, "no-check-for-nan-in-loss-and-grad", "");
	}
	/* a run length that nobody stated is not made up */
	scenario_defaults(&base);
	if (plan->tokens != base.plan.tokens && samples >= 1 && samples < 1e15)
		megatron_put_count(w, "train-samples", (int64_t)(samples + 0.5));
}

void megatron_write_plan(const struct flag_writer *w)
{
	for (const struct flag *flag = megatron_flags; flag->name; flag++)
		put_flag(w, flag);
	put_stages(w);
	put_recompute(w);
	put_zero(w);
	put_precision(w);
	put_optimizer(w);
	put_moe(w);
	put_rest(w);
	export_unsaid_knobs(w->out, w->scenario, "megatron-core", megatron_has);
}
