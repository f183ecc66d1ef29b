/* plan.c - everything that a knob turns, from a list of Megatron-LM arguments.
 *
 * Defaults are Megatron's (arguments.py), not those of the stack preset: a flag that
 * is not there is off. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/plan/split.h"
#include "presets/megatron/flags.h"
#include "presets/megatron/parts.h"
#include "presets/megatron/take.h"
#include "presets/pairs/mapping.h"

/* Flags that more than one row of the table would need. */
static const char *const plan_flags[] = {
	"num-layers-per-virtual-pipeline-stage",
	"num-virtual-stages-per-pipeline-rank",
	"virtual-pipeline-model-parallel-size",
	"recompute-activations",
	"recompute-method",
	"recompute-num-layers",
	"num-layer-list",
	"use-distributed-optimizer",
	"data-parallel-sharding-strategy",
	"use-megatron-fsdp",
	"use-torch-fsdp2",
	"moe-expert-parallel-size",
	"num-distributed-optimizer-instances",
	"bf16",
	"fp16",
	"fp8-format",
	"fp8-param-gather",
	"reuse-grad-buf-for-mxfp8-param-ag",
	"fp8",
	"fp4-format",
	"fp4",
	"fp4-param-gather",
	"fp4-recipe",
	"first-last-layers-bf16",
	"num-layers-at-start-in-bf16",
	"num-layers-at-end-in-bf16",
	"optimizer",
	"use-precision-aware-optimizer",
	"exp-avg-dtype",
	"exp-avg-sq-dtype",
	"main-params-dtype",
	"main-grads-dtype",
	"accumulate-allreduce-grads-in-fp32",
	"grad-reduce-in-bf16",
	"optimizer-cpu-offload",
	"optimizer-offload-fraction",
	"cpu-offloading",
	"fine-grained-activation-offloading",
	"cpu-offloading-num-layers",
	"use-flash-attn",
	"transformer-impl",
	"no-masked-softmax-fusion",
	"cuda-graph-impl",
	"cuda-graph-scope",
	"cuda-graph-modules",
	"enable-cuda-graph",
	"moe-token-dispatcher-type",
	"moe-flex-dispatcher-backend",
	"moe-pad-expert-input-to-capacity",
	"train-samples",
	"gradient-accumulation-steps",
	"train-iters",
	"world-size",
	"schedules-method", /* MindSpeed's */
	"encoder-seq-length",
	"decoder-seq-length",
	"dataloader-seq-length",
	"nnodes",
	"nproc-per-node",
	NULL,
};

bool megatron_plan_flag(const char *name)
{
	for (int i = 0; i < 3; i++)
		if (strcmp(name, megatron_fp4_variables[i].flag) == 0)
			return true;
	return word_among(name, plan_flags) || megatron_zero_flag(name);
}

const struct fp4_variable megatron_fp4_variables[3] = {
	{ "NVTE_NVFP4_DISABLE_RHT", "NVTE-NVFP4-DISABLE-RHT", "fp4_rotation" },
	{ "NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING",
	  "NVTE-NVFP4-DISABLE-STOCHASTIC-ROUNDING", "fp4_rounding" },
	{ "NVTE_NVFP4_DISABLE_2D_QUANTIZATION", "NVTE-NVFP4-DISABLE-2D-QUANTIZATION",
	  "fp4_squares" },
};

/* pretrain_vlm.py: --seq-length is of the image, whose places stand beside the text's
 * in a sequence of the decoder. */
static bool read_text_and_image(struct flag_reader *r)
{
	int64_t text = 0, image = 0;

	if (!flag_is_set(r, "img-h") || !flag_is_set(r, "dataloader-seq-length"))
		return true;
	return flag_number(r, "dataloader-seq-length", &text) &&
	       flag_number(r, "seq-length", &image) &&
	       flag_set_count(r, "seq", text + image,
			      flag_find(r, "dataloader-seq-length"));
}

static bool read_batch(struct flag_reader *r)
{
	const struct argument *seq = flag_find(r, "encoder-seq-length");
	/* of a model with eyes, --seq-length is that of an image */
	const struct argument *text =
		flag_is_set(r, "language-model-type") ||
				flag_is_set(r, "vision-model-type") ||
				flag_is_set(r, "img-h")
			? flag_find(r, "decoder-seq-length")
			: NULL;

	if (text && !flag_set(r, "seq", text->value, text))
		return false;
	if (!text && !read_text_and_image(r))
		return false;
	if (!flag_is_set(r, "micro-batch-size")) {
		import_note(r->report, IMPORT_ASSUMED, "mbs", "1");
		if (!flag_set(r, "mbs", "1", NULL))
			return false;
	}
	if (flag_is_set(r, "seq-length"))
		return true;
	if (seq)
		return flag_set(r, "seq", seq->value, seq);
	return unsaid_length(r);
}

/* Where no count and no layout says how layers go to stages: evenly, but for DeepSpeed,
 * and for a layout that a function of Megatron-Bridge sets. */
static const char *told_split(struct flag_reader *r)
{
	const struct argument *by = flag_find(r, "bridge-layout");

	if (megatron_is_deepspeed(r->arguments))
		return megatron_deepspeed_split(r);
	if (!by || r->out->plan.pp < 2)
		return "even";
	import_note(r->report, IMPORT_ASSUMED, "split",
		    "balanced; the layout that %.60s() sets is not read", by->value);
	return "balanced";
}

/* Three ways to ask for virtual stages; all mean chunks a rank here. */
static bool read_stages(struct flag_reader *r)
{
	struct plan *plan = &r->out->plan;
	int64_t v = 1, layers = 0;
	const struct argument *each =
		flag_find(r, "num-layers-per-virtual-pipeline-stage");
	const struct argument *layout = flag_find(r, "pipeline-model-parallel-layout");
	const struct argument *from =
		flag_find(r, "num-virtual-stages-per-pipeline-rank");
	const char *split =
		layout && plan->layout[0] ? "custom"
		: plan->first_stage_layers > 0 || plan->last_stage_layers > 0
			? "first-last"
			: "even";

	if (strcmp(split, "even") == 0)
		split = told_split(r);
	if (!split || !flag_number(r, "virtual-pipeline-model-parallel-size", &v) ||
	    !flag_number(r, "num-virtual-stages-per-pipeline-rank", &v) ||
	    !flag_number(r, "num-layers-per-virtual-pipeline-stage", &layers))
		return false;
	from = from ? from : flag_find(r, "virtual-pipeline-model-parallel-size");
	if (each && layers > 0 && !from) {
		int64_t all = r->out->model.layers + megatron_noops(r->arguments) +
			      plan->split_embedding + plan->split_loss;

		from = each;
		if (all % (plan->pp * layers) != 0)
			return error_set(r->error, r->arguments->file, each->line,
					 "--%s: %lld layers are no multiple of PP %lld "
					 "x %lld",
					 each->name, (long long)all,
					 (long long)plan->pp, (long long)layers);
		v = all / (plan->pp * layers);
	}
	if (layout && plan->layout[0]) {
		char why[128];
		int16_t counts[MAX_VIRTUAL];
		int stages = split_parse_layout(plan->layout, counts, why, sizeof why);

		if (stages < 0)
			return error_set(r->error, r->arguments->file, layout->line,
					 "--%s: %s", layout->name, why);
		from = layout;
		v = stages % plan->pp == 0 ? stages / plan->pp : 1;
	}
	return flag_set_count(r, "vpp", plan->pp > 1 && v > 0 ? v : 1, from) &&
	       flag_set(r, "schedule",
			flag_says(r, "schedules-method", "dualpipev") ? "dualpipev"
			: plan->pp > 1 && v > 1                       ? "interleaved"
								      : "1f1b",
			flag_find(r, "schedules-method")) &&
	       flag_set(r, "split",
			megatron_noops(r->arguments) > 0 ? "balanced" : split, NULL);
}

static bool read_recompute(struct flag_reader *r)
{
	struct plan *plan = &r->out->plan;
	int64_t layers = 0;

	if (flag_is_set(r, "recompute-activations") &&
	    !flag_set(r, "recompute", "selective",
		      flag_find(r, "recompute-activations")))
		return false;
	if (!flag_number(r, "recompute-num-layers", &layers))
		return false;
	/* the first none of each chunk (core/transformer/transformer_block.py) */
	if (plan->recompute == RECOMPUTE_FULL && layers == 0 &&
	    flag_says(r, "recompute-method", "block") &&
	    flag_is_set(r, "recompute-num-layers") &&
	    !flag_set(r, "recompute", "none", flag_find(r, "recompute-num-layers")))
		return false;
	/* uniform recomputes all layers, in units of that many; block that many layers
	 * of every chunk; selective refuses them (E17), which a rule says */
	if (plan->recompute == RECOMPUTE_NONE ||
	    (plan->recompute == RECOMPUTE_FULL &&
	     !flag_says(r, "recompute-method", "block")))
		layers = 0;
	return flag_set_count(r, "recompute_layers", layers * plan->vpp,
			      flag_find(r, "recompute-num-layers"));
}

/* Megatron-DeepSpeed's name of EP. */
static bool read_experts(struct flag_reader *r)
{
	const struct argument *ep = flag_find(r, "moe-expert-parallel-size");

	return !ep || r->out->model.moe.experts == 0 ||
	       flag_set(r, "ep", ep->value, ep);
}

/* Sharded weights in mxfp8 are gathered through the buffer of the gradients, with the
 * flag that asks for it alone: Transformer Engine can't place them in a buffer of their
 * own ("replace_raw_data for MXFP8Tensor is not supported yet"), and the run stops. So
 * there is nothing to choose. */
static void note_gather(struct flag_reader *r)
{
	if (flag_is_set(r, "fp8-param-gather") && flag_says(r, "fp8-recipe", "mxfp8") &&
	    flag_is_set(r, "use-distributed-optimizer") &&
	    !flag_is_set(r, "use-megatron-fsdp") &&
	    !flag_is_set(r, "reuse-grad-buf-for-mxfp8-param-ag"))
		import_note(r->report, IMPORT_ASSUMED,
			    "reuse-grad-buf-for-mxfp8-param-ag",
			    "set: without it Megatron stops at weights in mxfp8");
}

static bool read_precision(struct flag_reader *r)
{
	const char *precision = flag_is_set(r, "bf16")   ? "bf16"
				: flag_is_set(r, "fp16") ? "fp16"
							 : "fp32";
	const char *grad = "fp32", *stored = "wide";

	/* arguments.py: bf16 accumulates in fp32 unless it is told not to; fp16
	 * gradients are 2 bytes, which costs what bf16 does */
	if (flag_is_set(r, "grad-reduce-in-bf16") ||
	    flag_says(r, "main-grads-dtype", "bf16") ||
	    (flag_is_set(r, "fp16") &&
	     !flag_is_set(r, "accumulate-allreduce-grads-in-fp32")))
		grad = "bf16";
	if (flag_is_set(r, "fp8-format") || flag_is_set(r, "fp8"))
		precision = flag_says(r, "fp8-recipe", "mxfp8") ? "mxfp8" : "fp8";
	if (flag_is_set(r, "fp4-format") || flag_is_set(r, "fp4"))
		precision = flag_says(r, "fp4-recipe", "mxfp4") ? "mxfp4" : "nvfp4";
	if (flag_is_set(r, "fp8-param-gather"))
		stored = "fp8";
	note_gather(r);
	return flag_set(r, "precision", precision, NULL) &&
	       flag_set(r, "weight_format", stored, flag_find(r, "fp8-param-gather")) &&
	       flag_set(r, "grad_dtype", grad, NULL);
}

/* One layer at each end, unless it says how many. */
static bool read_wide_layers(struct flag_reader *r)
{
	bool wide = flag_is_set(r, "first-last-layers-bf16");
	int64_t first = wide, last = wide;

	return !wide || (flag_number(r, "num-layers-at-start-in-bf16", &first) &&
			 flag_number(r, "num-layers-at-end-in-bf16", &last) &&
			 flag_set_count(r, "wide_first", first, NULL) &&
			 flag_set_count(r, "wide_last", last, NULL));
}

static bool read_fp4(struct flag_reader *r)
{
	const struct argument *recipe = flag_find(r, "fp4-recipe");

	/* a recipe in Python; what it does is not in the flags */
	if (recipe && strcmp(recipe->value, "custom") == 0)
		import_note(r->report, IMPORT_APPROXIMATE, "fp4-recipe",
			    "custom: costs of Transformer Engine's NVFP4BlockScaling");
	if (flag_is_set(r, "fp4-param-gather") && flag_is_set(r, "fp4-format") &&
	    !flag_set(r, "weight_format", "fp4", flag_find(r, "fp4-param-gather")))
		return false;
	for (int i = 0; i < 3; i++) {
		const struct argument *a = flag_find(r, megatron_fp4_variables[i].flag);

		if (a && !flag_set(r, megatron_fp4_variables[i].knob,
				   strcmp(a->value, "1") == 0 ? "off" : "on", a))
			return false;
	}
	return true;
}

/* Megatron's words are ours; its router's graph has the shared experts in it. */
static bool read_scopes(struct flag_reader *r)
{
	static const char *const words[] = { "attn", "mlp", "moe_router",
					     "moe_preprocess", "mamba" };
	const struct argument *scope = flag_find(r, "cuda-graph-scope");
	char scopes[128] = "";

	if (!scope)
		scope = flag_find(r, "cuda-graph-modules");
	for (size_t i = 0; scope && i < sizeof words / sizeof words[0]; i++) {
		size_t used = strlen(scopes);

		if (strstr(scope->value, words[i]))
			snprintf(scopes + used, sizeof scopes - used, "%s%s",
				 used ? "+" : "", words[i]);
	}
	if (strstr(scopes, "moe_router"))
		strcat(scopes, "+shared_experts");
	return scopes[0] == '\0' || flag_set(r, "graph_scopes", scopes, scope);
}

static bool read_kernels(struct flag_reader *r)
{
	const struct argument *graph = flag_find(r, "cuda-graph-impl");
	const char *graphs = "none";

	if (flag_is_set(r, "enable-cuda-graph") ||
	    (graph && strcmp(graph->value, "none") != 0))
		graphs = flag_says(r, "cuda-graph-scope", "full_iteration") ||
					 flag_says(r, "cuda-graph-impl",
						   "full_iteration")
				 ? "full"
				 : "partial";
	if (flag_is_set(r, "use-flash-attn") && !flag_is_set(r, "attention-backend") &&
	    !flag_set(r, "attention_kernel", "flash2", flag_find(r, "use-flash-attn")))
		return false;
	/* without Transformer Engine: its own attention, whose masked softmax is one
	 * kernel (megatron/core/transformer/dot_product_attention.py), and norms of
	 * PyTorch */
	if (flag_says(r, "transformer-impl", "local") &&
	    !(flag_set(r, "fused_norms", "off", flag_find(r, "transformer-impl")) &&
	      (flag_is_set(r, "use-flash-attn") ||
	       flag_set(r, "attention_kernel", "fused-softmax",
			flag_find(r, "transformer-impl")))))
		return false;
	/* unfused attention scales, masks and takes the softmax in one kernel */
	if (r->out->plan.attention_kernel == ATTENTION_FUSED_SOFTMAX &&
	    flag_is_set(r, "no-masked-softmax-fusion") &&
	    !flag_set(r, "attention_kernel", "unfused",
		      flag_find(r, "no-masked-softmax-fusion")))
		return false;
	return flag_set(r, "cuda_graphs", graphs, graph) && read_scopes(r);
}

static bool read_moe(struct flag_reader *r)
{
	const struct argument *type = flag_find(r, "moe-token-dispatcher-type");
	const char *dispatcher = "allgather";
	const struct argument *factor = flag_find(r, "moe-expert-capacity-factor");

	if (type && strcmp(type->value, "flex") == 0)
		dispatcher = flag_says(r, "moe-flex-dispatcher-backend", "hybridep")
				     ? "hybridep"
				     : "deepep";
	else if (type)
		dispatcher = type->value;
	return flag_set(r, "moe_dispatcher", dispatcher, type) &&
	       flag_set(r, "moe_capacity",
			!factor ? "dropless"
			: flag_is_set(r, "moe-pad-expert-input-to-capacity") ? "pad"
									     : "drop",
			factor);
}

/* Machines: what the launcher says, else one node where the plan fits on one. */
static bool read_world(struct flag_reader *r)
{
	struct scenario *out = r->out;
	int64_t world = r->arguments->world, each = r->arguments->per_node;
	int64_t smallest = scenario_smallest_world(out);
	const struct argument *said = flag_find(r, "world-size");

	/* empty: of a variable that the launcher sets when it starts the script */
	if (said && said->value[0] != '\0' && !flag_number(r, "world-size", &world))
		return false;
	if (each > 0 &&
	    !flag_set_count(r, "gpus_per_node", each, flag_find(r, "nproc-per-node")))
		return false;
	if (each > 0 && each < out->cluster.link[LINK_DOMAIN].span &&
	    !flag_set_count(r, "nvlink_domain", each, NULL))
		return false;
	if (world > 0)
		return flag_set_count(r, "gpus", world, flag_find(r, "nproc-per-node"));
	world = r->arguments->nodes * out->cluster.gpus_per_node;
	if (each == 0 && r->arguments->nodes > 1 && r->arguments->nodes < 1 << 20 &&
	    smallest > 0 && world % smallest == 0) {
		import_note(r->report, IMPORT_ASSUMED, "gpus", "%lld, nodes of %lld",
			    (long long)world, (long long)out->cluster.gpus_per_node);
		return flag_set_count(r, "gpus", world, NULL);
	}
	world = smallest;
	if (smallest > 0 && out->cluster.gpus_per_node % smallest == 0) {
		out->cluster.gpus = world = out->cluster.gpus_per_node;
		if (flag_is_set(r, "global-batch-size") &&
		    scenario_micro_batches(out) < 1)
			world = smallest;
	}
	import_note(r->report, IMPORT_ASSUMED, "gpus", "%lld", (long long)world);
	return flag_set_count(r, "gpus", world, NULL);
}

/* Needs the world: Megatron's own default of the global batch is one micro-batch on
 * each replica; programs on transformers' Trainer say how many. */
static bool read_global_batch(struct flag_reader *r, int64_t dp)
{
	const struct argument *from = flag_find(r, "gradient-accumulation-steps");
	int64_t micro_batches = 1;

	if (flag_is_set(r, "global-batch-size"))
		return true;
	if (!flag_number(r, "gradient-accumulation-steps", &micro_batches))
		return false;
	if (!from)
		import_note(r->report, IMPORT_ASSUMED, "gbs", "micro-batch x DP");
	if (micro_batches < 1 || micro_batches > 1 << 20)
		return error_set(r->error, r->arguments->file, from->line,
				 "--%s is '%.40s'; expected 1 to %d", from->name,
				 from->value, 1 << 20);
	return flag_set_count(
		r, "gbs", micro_batches * r->out->plan.micro_batch * (dp > 0 ? dp : 1),
		from);
}

static bool read_run(struct flag_reader *r)
{
	struct scenario *out = r->out;
	int64_t samples = 0, steps = 0, dp = scenario_dp(out), instances = 1;
	int64_t ranks = dp * out->plan.cp;

	if (!read_global_batch(r, dp))
		return false;
	/* empty: a variable that the script works out when it runs */
	for (int i = 0; i < 2; i++) {
		const struct argument *a =
			flag_find(r, i ? "train-iters" : "train-samples");

		if (a && a->value[0] != '\0' &&
		    !flag_number(r, a->name, i ? &steps : &samples))
			return false;
	}
	if (!flag_number(r, "num-distributed-optimizer-instances", &instances))
		return false;
	if (instances > 1 && ranks % instances == 0 &&
	    !flag_set_count(r, "zero_group", ranks / instances,
			    flag_find(r, "num-distributed-optimizer-instances")))
		return false;
	double tokens = (double)out->plan.seq_len *
			(samples > 0 ? (double)samples
				     : (double)steps * (double)out->plan.global_batch);

	if (tokens >= 1 && tokens <= 1e18)
		out->plan.tokens = tokens;
	return true;
}

bool megatron_plan(const struct arguments *arguments, struct scenario *out,
		   struct import_report *report, struct error *error)
{
	struct flag_reader r = { arguments, out, report, error };

	for (const struct flag *flag = megatron_flags; flag->name; flag++)
		if (!flag_take(&r, flag))
			return false;
	return read_experts(&r) && read_batch(&r) && read_stages(&r) &&
	       read_recompute(&r) && megatron_read_zero(&r) && read_precision(&r) &&
	       read_fp4(&r) && read_wide_layers(&r) && megatron_read_optimizer(&r) &&
	       megatron_read_offload(&r) && read_kernels(&r) && read_moe(&r) &&
	       read_world(&r) && read_run(&r);
}
