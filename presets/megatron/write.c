/* write.c - a scenario as a Megatron-LM command, and as overrides of Megatron-Bridge.
 */
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/flags.h"
#include "presets/megatron/megatron.h"
#include "presets/megatron/parts.h"

static void put_flag(struct export_out *out, const char *flag, const char *value)
{
	/* brackets, bars and stars mean something to a shell */
	bool plain =
		value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
				    "UVWXYZ0123456789_.,+- ")] == '\0';

	fprintf(out->body, " \\\n  --%s%s", flag, value[0] ? " " : "");
	fprintf(out->body, plain ? "%s" : "'%s'", value);
}

/* Flags that came with the file and that no knob or shape stands for. Variables stay
 * what they are; anything else that a shell would act on is quoted. */
static void put_kept(struct export_out *out, const struct import_report *kept)
{
	for (int i = 0; i < kept->count; i++) {
		const struct import_note *note = &kept->note[i];
		const char *value = note->text;

		if (note->kind != IMPORT_NOT_MODELLED || megatron_flag(note->key) ||
		    megatron_plan_flag(note->key) || megatron_model_flag(note->key))
			continue;
		if (strlen(value) >= sizeof note->text - 1 || strchr(value, '\'') ||
		    strlen(note->key) >= sizeof note->key - 1) {
			export_unsaid(out, note->key,
				      "its value is too long to be kept");
			continue;
		}
		bool plain =
			value[strspn(value,
				     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"
				     "MNOPQRSTUVWXYZ0123456789_.,+-/:=@%${} ")] == '\0';

		fprintf(out->body, " \\\n  --%s%s", note->key, value[0] ? " " : "");
		fprintf(out->body, plain ? "%s" : "'%s'", value);
	}
	if (kept->left_out > 0)
		export_unsaid(out, "more flags", "%d; the file has too many of them",
			      kept->left_out);
}

char *megatron_write(const struct scenario *scenario)
{
	return megatron_write_kept(scenario, NULL);
}

char *megatron_write_kept(const struct scenario *scenario,
			  const struct import_report *kept)
{
	struct export_out *out = export_begin();
	struct flag_writer writer = { scenario, out, put_flag };
	int64_t gpus = scenario->cluster.gpus, each = scenario->cluster.gpus_per_node;
	char title[2 * MAX_NOTE];

	if (!out)
		return NULL;
	each = each < 1 ? 1 : each > gpus ? gpus : each;
	each = gpus % each == 0 ? each : 1;
	fprintf(out->body,
		"torchrun --nproc-per-node %lld --nnodes %lld pretrain_gpt.py",
		(long long)each, (long long)(gpus / each));
	megatron_write_model(&writer);
	megatron_write_plan(&writer);
	if (kept && strcmp(kept->format, "megatron") == 0)
		put_kept(out, kept);
	fputc('\n', out->body);
	export_subject(scenario, title, sizeof title);
	return export_end(out, "#!/bin/bash\n", "#", title);
}

/* Where Megatron-Bridge keeps a flag; the others are fields of the model of the same
 * name. Fields: NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/training/config.py. */
static const struct {
	const char *flag, *field, *value; /* value of a switch, NULL = True */
} bridge_fields[] = {
	{ "micro-batch-size", "train.micro_batch_size", NULL },
	{ "global-batch-size", "train.global_batch_size", NULL },
	{ "train-samples", "train.train_samples", NULL },
	{ "num-virtual-stages-per-pipeline-rank",
	  "model.virtual_pipeline_model_parallel_size", NULL },
	{ "decoder-first-pipeline-num-layers",
	  "model.num_layers_in_first_pipeline_stage", NULL },
	{ "decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage",
	  NULL },
	{ "use-distributed-optimizer", "ddp.use_distributed_optimizer", NULL },
	{ "overlap-grad-reduce", "ddp.overlap_grad_reduce", NULL },
	{ "overlap-param-gather", "ddp.overlap_param_gather", NULL },
	{ "use-megatron-fsdp", "ddp.use_megatron_fsdp", NULL },
	{ "data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy",
	  NULL },
	{ "num-distributed-optimizer-instances",
	  "ddp.num_distributed_optimizer_instances", NULL },
	{ "grad-reduce-in-bf16", "ddp.grad_reduce_in_fp32", "False" },
	{ "accumulate-allreduce-grads-in-fp32", "ddp.grad_reduce_in_fp32", NULL },
	{ "tp-comm-overlap", "comm_overlap.tp_comm_overlap", NULL },
	{ "no-overlap-p2p-communication", "comm_overlap.overlap_p2p_comm", "False" },
	{ "overlap-moe-expert-parallel-comm",
	  "comm_overlap.overlap_moe_expert_parallel_comm", NULL },
	{ "optimizer", "optimizer.optimizer", NULL },
	{ "use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer",
	  NULL },
	{ "exp-avg-dtype", "optimizer.exp_avg_dtype", NULL },
	{ "exp-avg-sq-dtype", "optimizer.exp_avg_sq_dtype", NULL },
	{ "optimizer-cpu-offload", "optimizer.optimizer_cpu_offload", NULL },
	{ "optimizer-offload-fraction", "optimizer.optimizer_offload_fraction", NULL },
	{ "disable-bias-linear", "model.add_bias_linear", "False" },
	{ "untie-embeddings-and-output-weights",
	  "model.share_embeddings_and_output_weights", "False" },
	{ "swiglu", "model.gated_linear_unit", NULL },
	{ "num-experts", "model.num_moe_experts", NULL },
	{ "recompute-num-layers", "model.recompute_num_layers", NULL },
	{ "bf16", NULL, NULL }, /* mixed_precision says these */
	{ "fp16", NULL, NULL },
	{ "fp8-format", NULL, NULL },
	{ "fp8-recipe", NULL, NULL },
	{ "fp4-format", NULL, NULL },
	{ "group-query-attention", NULL, NULL }, /* num_query_groups says it */
	{ "attention-dropout", "model.attention_dropout", NULL },
};

static void put_value(struct export_out *out, const char *value)
{
	bool number = value[strspn(value, "0123456789.+-e")] == '\0';

	if (value[0] == '\0')
		fputs("True", out->body);
	else if (number || value[0] == '(' || value[0] == '[')
		fputs(value, out->body);
	else
		fprintf(out->body, "\"%s\"", value);
}

/* recompute_modules and the like: words as a list. */
static void put_words(struct export_out *out, const char *value)
{
	fputc('[', out->body);
	for (const char *at = value; *at != '\0'; at += strspn(at, " ")) {
		int length = (int)strcspn(at, " ");

		fprintf(out->body, "%s\"%.*s\"", at == value ? "" : ", ", length, at);
		at += length;
	}
	fputc(']', out->body);
}

static void put_field(struct export_out *out, const char *flag, const char *value)
{
	const char *field = NULL, *fixed = NULL;
	bool found = false;

	for (size_t i = 0; i < sizeof bridge_fields / sizeof bridge_fields[0]; i++)
		if (strcmp(bridge_fields[i].flag, flag) == 0) {
			found = true;
			field = bridge_fields[i].field;
			fixed = bridge_fields[i].value;
		}
	if (found && !field)
		return;
	fprintf(out->body, "cfg.%s", field ? field : "model.");
	for (const char *c = field ? "" : flag; *c != '\0'; c++)
		fputc(*c == '-' ? '_' : *c, out->body);
	fputs(" = ", out->body);
	if (fixed)
		fputs(fixed, out->body);
	else if (strcmp(flag, "recompute-modules") == 0)
		put_words(out, value);
	else if (strcmp(flag, "window-size") == 0)
		fprintf(out->body, "(%s)", value);
	else
		put_value(out, value);
	fputc('\n', out->body);
}

/* Names of src/megatron/bridge/training/mixed_precision.py. */
static void put_precision(struct export_out *out, const struct plan *plan)
{
	static const char *const fp8[FP8_RECIPE_COUNT] = {
		[FP8_DELAYED] = "bf16_with_fp8_delayed_scaling_mixed",
		[FP8_CURRENT_SCALING] = "bf16_with_fp8_current_scaling_mixed",
		[FP8_ROWWISE] = "bf16_with_fp8_current_scaling_mixed",
		[FP8_BLOCKWISE] = "bf16_with_fp8_subchannel_scaling_mixed",
		[FP8_MXFP8] = "bf16_with_mxfp8_mixed",
	};
	const char *name = "bf16_mixed";

	switch (plan->precision) {
	case PRECISION_FP16: name = "fp16_mixed"; break;
	case PRECISION_FP8: name = fp8[plan->fp8_recipe]; break;
	case PRECISION_MXFP8: name = "bf16_with_mxfp8_mixed"; break;
	case PRECISION_NVFP4: name = "bf16_with_nvfp4_mixed"; break;
	case PRECISION_FP32: return;
	default: break;
	}
	fprintf(out->body, "cfg.mixed_precision = \"%s\"\n", name);
}

char *bridge_write(const struct scenario *scenario)
{
	struct export_out *out = export_begin();
	struct flag_writer writer = { scenario, out, put_field };
	char title[2 * MAX_NOTE];

	if (!out)
		return NULL;
	fprintf(out->body,
		"# overrides of a Megatron-Bridge ConfigContainer for %lld GPUs\n",
		(long long)scenario->cluster.gpus);
	put_precision(out, &scenario->plan);
	megatron_write_model(&writer);
	megatron_write_plan(&writer);
	export_subject(scenario, title, sizeof title);
	return export_end(out, "", "#", title);
}
