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
#include "presets/pairs/mapping.h"

struct reader {
	const struct arguments *arguments;
	struct scenario *out;
	struct import_report *report;
	struct error *error;
};

/* Flags that more than one row of the table would need. */
static const char *const plan_flags[] = {
	"num-layers-per-virtual-pipeline-stage",
	"num-virtual-stages-per-pipeline-rank",
	"virtual-pipeline-model-parallel-size",
	"recompute-activations",
	"recompute-method",
	"recompute-num-layers",
	"use-distributed-optimizer",
	"data-parallel-sharding-strategy",
	"use-megatron-fsdp",
	"use-torch-fsdp2",
	"zero-stage",
	"moe-expert-parallel-size",
	"num-distributed-optimizer-instances",
	"bf16",
	"fp16",
	"fp8-format",
	"fp8",
	"fp4-format",
	"optimizer",
	"use-precision-aware-optimizer",
	"exp-avg-dtype",
	"exp-avg-sq-dtype",
	"main-grads-dtype",
	"accumulate-allreduce-grads-in-fp32",
	"grad-reduce-in-bf16",
	"optimizer-cpu-offload",
	"optimizer-offload-fraction",
	"cpu-offloading",
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
	"train-iters",
	"world-size",
	"encoder-seq-length",
	"decoder-seq-length",
	"nnodes",
	"nproc-per-node",
	NULL,
};

bool megatron_plan_flag(const char *name)
{
	return word_among(name, plan_flags);
}

static const struct argument *find(const struct reader *r, const char *name)
{
	return arguments_find(r->arguments, name);
}

static bool is_set(const struct reader *r, const char *name)
{
	return find(r, name) != NULL;
}

static bool says(const struct reader *r, const char *name, const char *word)
{
	const struct argument *a = find(r, name);

	return a && strstr(a->value, word) != NULL;
}

static bool set(struct reader *r, const char *key, const char *text,
		const struct argument *from)
{
	char why[256];

	return knob_parse(r->out, knob_find(key), text, why, sizeof why) ||
	       error_set(r->error, r->arguments->file, from ? from->line : 1,
			 "--%s: %s", from ? from->name : key, why);
}

static bool set_count(struct reader *r, const char *key, int64_t value,
		      const struct argument *from)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	return set(r, key, text, from);
}

/* A whole number; false and the error where it is none. */
static bool number(struct reader *r, const char *name, int64_t *out)
{
	const struct argument *a = find(r, name);
	char *end;

	if (!a)
		return true;
	*out = strtoll(a->value, &end, 10);
	return (end > a->value && *end == '\0' && *out >= 0 &&
		*out <= INT64_C(1) << 50) ||
	       error_set(r->error, r->arguments->file, a->line,
			 "--%s is '%.40s'; expected a whole number", name, a->value);
}

/* The first word of "['p2p', 'a2a']", "AttnBackend.flash" or "p2p a2a". */
static const char *first_word(const char *value, size_t *length)
{
	const char *dot = strchr(value, '.');

	value += strspn(value, "[]'\"(, ");
	if (dot && strncmp(value, "AttnBackend.", 12) == 0)
		value = dot + 1;
	*length = strcspn(value, "[]'\"(), ");
	return value;
}

static bool take_word(struct reader *r, const struct flag *flag,
		      const struct argument *a)
{
	char word[32];
	size_t length;
	const char *value = first_word(a->value, &length);

	if (mapping_ours(flag->words, value, length, word))
		return set(r, flag->knob, word, a);
	import_note(r->report, IMPORT_NOT_MODELLED, a->name, "%s", a->value);
	return set(r, flag->knob, flag->absent, a);
}

/* Words that the knob has; the others are listed. */
static bool take_list(struct reader *r, const struct flag *flag,
		      const struct argument *a)
{
	static const char separators[] = "[]'\"(), ";
	const struct knob *knob = knob_find(flag->knob);
	char known[256] = "";

	for (const char *at = a->value + strspn(a->value, separators); *at != '\0';
	     at += strspn(at, separators)) {
		int length = (int)strcspn(at, separators);
		bool found = false;

		for (int i = 0; knob->words[i]; i++)
			found = found ||
				(strlen(knob->words[i]) == (size_t)length &&
				 memcmp(at, knob->words[i], (size_t)length) == 0);
		if (found)
			snprintf(known + strlen(known), sizeof known - strlen(known),
				 "%s%.*s", known[0] ? "+" : "", length, at);
		else
			import_note(r->report, IMPORT_NOT_MODELLED, a->name, "%.*s",
				    length > 100 ? 100 : length, at);
		at += length;
	}
	return set(r, flag->knob, known[0] ? known : "none", a);
}

static bool take_flag(struct reader *r, const struct flag *flag)
{
	const struct argument *a = find(r, flag->name);
	char word[32];

	if (!a)
		return !flag->absent || set(r, flag->knob, flag->absent, NULL);
	switch (flag->form) {
	case FLAG_WORD: return take_word(r, flag, a);
	case FLAG_LIST: return take_list(r, flag, a);
	case FLAG_ON:
		snprintf(word, sizeof word, "%.*s",
			 flag->words ? (int)strcspn(flag->words, " ") : 2,
			 flag->words ? flag->words : "on");
		return set(r, flag->knob, word, a);
	case FLAG_OFF: return set(r, flag->knob, "off", a);
	default: return set(r, flag->knob, a->value, a);
	}
}

static bool read_batch(struct reader *r)
{
	const struct argument *seq = find(r, "encoder-seq-length");
	/* of a model with eyes, --seq-length is that of an image */
	const struct argument *text = is_set(r, "language-model-type") ||
						      is_set(r, "vision-model-type") ||
						      is_set(r, "img-h")
					      ? find(r, "decoder-seq-length")
					      : NULL;

	if (text && !set(r, "seq", text->value, text))
		return false;
	if (!is_set(r, "micro-batch-size")) {
		import_note(r->report, IMPORT_ASSUMED, "mbs", "1");
		if (!set(r, "mbs", "1", NULL))
			return false;
	}
	if (is_set(r, "seq-length"))
		return true;
	if (seq)
		return set(r, "seq", seq->value, seq);
	import_note(r->report, IMPORT_ASSUMED, "seq", "2048");
	return set(r, "seq", "2048", NULL);
}

/* Three ways to ask for virtual stages; all mean chunks a rank here. */
static bool read_stages(struct reader *r)
{
	struct plan *plan = &r->out->plan;
	int64_t v = 1, layers = 0;
	const struct argument *each = find(r, "num-layers-per-virtual-pipeline-stage");
	const struct argument *layout = find(r, "pipeline-model-parallel-layout");
	const struct argument *from = find(r, "num-virtual-stages-per-pipeline-rank");
	const char *split =
		layout && plan->layout[0] ? "custom"
		: plan->first_stage_layers > 0 || plan->last_stage_layers > 0
			? "first-last"
			: "even";

	if (!number(r, "virtual-pipeline-model-parallel-size", &v) ||
	    !number(r, "num-virtual-stages-per-pipeline-rank", &v) ||
	    !number(r, "num-layers-per-virtual-pipeline-stage", &layers))
		return false;
	from = from ? from : find(r, "virtual-pipeline-model-parallel-size");
	if (each && layers > 0 && !from) {
		int64_t all =
			r->out->model.layers + plan->split_embedding + plan->split_loss;

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
	return set_count(r, "vpp", plan->pp > 1 && v > 0 ? v : 1, from) &&
	       set(r, "schedule", plan->pp > 1 && v > 1 ? "interleaved" : "1f1b",
		   NULL) &&
	       set(r, "split", split, NULL);
}

static bool read_recompute(struct reader *r)
{
	struct plan *plan = &r->out->plan;
	int64_t layers = 0;

	if (is_set(r, "recompute-activations") &&
	    !set(r, "recompute", "selective", find(r, "recompute-activations")))
		return false;
	if (!number(r, "recompute-num-layers", &layers))
		return false;
	/* uniform recomputes all layers, in units of that many; block that many layers
	 * of every chunk; selective refuses them (E17), which a rule says */
	if (plan->recompute == RECOMPUTE_NONE ||
	    (plan->recompute == RECOMPUTE_FULL &&
	     !says(r, "recompute-method", "block")))
		layers = 0;
	return set_count(r, "recompute_layers", layers * plan->vpp,
			 find(r, "recompute-num-layers"));
}

/* Megatron-DeepSpeed's name of EP. */
static bool read_experts(struct reader *r)
{
	const struct argument *ep = find(r, "moe-expert-parallel-size");

	return !ep || r->out->model.moe.experts == 0 || set(r, "ep", ep->value, ep);
}

static bool read_zero(struct reader *r)
{
	static const char *const strategy[] = { "no_shard", "optim", "optim_grads",
						"optim_grads_params" };
	const struct argument *a = find(r, "data-parallel-sharding-strategy");
	int64_t zero = is_set(r, "use-distributed-optimizer"), instances = 1;
	bool fsdp = is_set(r, "use-megatron-fsdp") || is_set(r, "use-custom-fsdp");

	for (int i = 0; a && fsdp && i < 4; i++)
		if (strcmp(a->value, strategy[i]) == 0)
			zero = i;
	if (is_set(r, "use-torch-fsdp2"))
		zero = 3;
	/* Megatron-DeepSpeed's own word */
	if (!number(r, "zero-stage", &zero))
		return false;
	a = is_set(r, "zero-stage") ? find(r, "zero-stage") : a;
	return number(r, "num-distributed-optimizer-instances", &instances) &&
	       set_count(r, "zero", zero, a) && set(r, "zero_group", "all", NULL);
}

static bool read_precision(struct reader *r)
{
	const char *precision = is_set(r, "bf16")   ? "bf16"
				: is_set(r, "fp16") ? "fp16"
						    : "fp32";
	const char *grad = "fp32";

	/* arguments.py: bf16 accumulates in fp32 unless it is told not to; fp16
	 * gradients are 2 bytes, which costs what bf16 does */
	if (is_set(r, "grad-reduce-in-bf16") || says(r, "main-grads-dtype", "bf16") ||
	    (is_set(r, "fp16") && !is_set(r, "accumulate-allreduce-grads-in-fp32")))
		grad = "bf16";
	if (is_set(r, "fp8-format") || is_set(r, "fp8"))
		precision = says(r, "fp8-recipe", "mxfp8") ? "mxfp8" : "fp8";
	if (is_set(r, "fp4-format"))
		precision = "nvfp4";
	return set(r, "precision", precision, NULL) && set(r, "grad_dtype", grad, NULL);
}

static bool read_optimizer(struct reader *r)
{
	const struct argument *kind = find(r, "optimizer");
	const struct argument *share = find(r, "optimizer-offload-fraction");
	const char *name = "adamw";

	if (kind && strstr(kind->value, "muon"))
		name = "muon";
	else if (kind && strcmp(kind->value, "sgd") == 0)
		name = "sgd";
	else if (is_set(r, "use-precision-aware-optimizer") &&
		 says(r, "exp-avg-dtype", "bf16"))
		name = "adamw-bf16";
	else if (is_set(r, "use-precision-aware-optimizer") &&
		 (says(r, "exp-avg-dtype", "fp8") || says(r, "exp-avg-dtype", "uint8")))
		name = "adamw-8bit";
	if (kind && name[0] == 'a' && strcmp(kind->value, "adam") != 0)
		import_note(r->report, IMPORT_APPROXIMATE, "optimizer",
			    "%.40s: costs of AdamW", kind->value);
	return set(r, "optimizer", name, kind) &&
	       set(r, "optimizer_offload",
		   !is_set(r, "optimizer-cpu-offload") ? "0"
		   : share                             ? share->value
						       : "1",
		   share);
}

static bool read_offload(struct reader *r)
{
	const struct plan *plan = &r->out->plan;
	int64_t layers = 0, stage = r->out->model.layers / plan->pp;
	char text[32];

	if (!number(r, "cpu-offloading-num-layers", &layers))
		return false;
	layers = layers > stage ? stage : layers;
	snprintf(text, sizeof text, "%.9g",
		 stage > 0 ? (double)layers / (double)stage : 0);
	return set(r, "activation_offload", text, NULL);
}

/* Megatron's words are ours; its router's graph has the shared experts in it. */
static bool read_scopes(struct reader *r)
{
	static const char *const words[] = { "attn", "mlp", "moe_router",
					     "moe_preprocess", "mamba" };
	const struct argument *scope = find(r, "cuda-graph-scope");
	char scopes[128] = "";

	if (!scope)
		scope = find(r, "cuda-graph-modules");
	for (size_t i = 0; scope && i < sizeof words / sizeof words[0]; i++) {
		size_t used = strlen(scopes);

		if (strstr(scope->value, words[i]))
			snprintf(scopes + used, sizeof scopes - used, "%s%s",
				 used ? "+" : "", words[i]);
	}
	if (strstr(scopes, "moe_router"))
		strcat(scopes, "+shared_experts");
	return scopes[0] == '\0' || set(r, "graph_scopes", scopes, scope);
}

static bool read_kernels(struct reader *r)
{
	const struct argument *graph = find(r, "cuda-graph-impl");
	const char *graphs = "none";

	if (is_set(r, "enable-cuda-graph") ||
	    (graph && strcmp(graph->value, "none") != 0))
		graphs = says(r, "cuda-graph-scope", "full_iteration") ||
					 says(r, "cuda-graph-impl", "full_iteration")
				 ? "full"
				 : "partial";
	if (is_set(r, "use-flash-attn") && !is_set(r, "attention-backend") &&
	    !set(r, "attention_kernel", "flash2", find(r, "use-flash-attn")))
		return false;
	/* without Transformer Engine: its own attention, whose masked softmax is one
	 * kernel (megatron/core/transformer/dot_product_attention.py), and norms of
	 * PyTorch */
	if (says(r, "transformer-impl", "local") &&
	    !(set(r, "fused_norms", "off", find(r, "transformer-impl")) &&
	      (is_set(r, "use-flash-attn") ||
	       set(r, "attention_kernel", "fused-softmax",
		   find(r, "transformer-impl")))))
		return false;
	/* unfused attention scales, masks and takes the softmax in one kernel */
	if (r->out->plan.attention_kernel == ATTENTION_FUSED_SOFTMAX &&
	    is_set(r, "no-masked-softmax-fusion") &&
	    !set(r, "attention_kernel", "unfused", find(r, "no-masked-softmax-fusion")))
		return false;
	return set(r, "cuda_graphs", graphs, graph) && read_scopes(r);
}

static bool read_moe(struct reader *r)
{
	const struct argument *type = find(r, "moe-token-dispatcher-type");
	const char *dispatcher = "allgather";
	const struct argument *factor = find(r, "moe-expert-capacity-factor");

	if (type && strcmp(type->value, "flex") == 0)
		dispatcher = says(r, "moe-flex-dispatcher-backend", "hybridep")
				     ? "hybridep"
				     : "deepep";
	else if (type)
		dispatcher = type->value;
	return set(r, "moe_dispatcher", dispatcher, type) &&
	       set(r, "moe_capacity",
		   !factor                                         ? "dropless"
		   : is_set(r, "moe-pad-expert-input-to-capacity") ? "pad"
								   : "drop",
		   factor);
}

/* Machines: what the launcher says, else one node where the plan fits on one. */
static bool read_world(struct reader *r)
{
	struct scenario *out = r->out;
	int64_t world = r->arguments->world, each = r->arguments->per_node;
	int64_t smallest = scenario_smallest_world(out);

	if (!number(r, "world-size", &world))
		return false;
	if (each > 0 && !set_count(r, "gpus_per_node", each, find(r, "nproc-per-node")))
		return false;
	if (each > 0 && each < out->cluster.link[LINK_DOMAIN].span &&
	    !set_count(r, "nvlink_domain", each, NULL))
		return false;
	if (world > 0)
		return set_count(r, "gpus", world, find(r, "nproc-per-node"));
	world = smallest;
	if (smallest > 0 && out->cluster.gpus_per_node % smallest == 0) {
		out->cluster.gpus = world = out->cluster.gpus_per_node;
		if (is_set(r, "global-batch-size") && scenario_micro_batches(out) < 1)
			world = smallest;
	}
	import_note(r->report, IMPORT_ASSUMED, "gpus", "%lld", (long long)world);
	return set_count(r, "gpus", world, NULL);
}

/* Needs the world: Megatron's own default of the global batch is one micro-batch. */
static bool read_run(struct reader *r)
{
	struct scenario *out = r->out;
	int64_t samples = 0, steps = 0, dp = scenario_dp(out), instances = 1;
	int64_t ranks = dp * out->plan.cp;

	if (!is_set(r, "global-batch-size")) {
		import_note(r->report, IMPORT_ASSUMED, "gbs", "micro-batch x DP");
		if (!set_count(r, "gbs", out->plan.micro_batch * (dp > 0 ? dp : 1),
			       NULL))
			return false;
	}
	if (!number(r, "train-samples", &samples) ||
	    !number(r, "train-iters", &steps) ||
	    !number(r, "num-distributed-optimizer-instances", &instances))
		return false;
	if (instances > 1 && ranks % instances == 0 &&
	    !set_count(r, "zero_group", ranks / instances,
		       find(r, "num-distributed-optimizer-instances")))
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
	struct reader r = { arguments, out, report, error };

	for (const struct flag *flag = megatron_flags; flag->name; flag++)
		if (!take_flag(&r, flag))
			return false;
	return read_experts(&r) && read_batch(&r) && read_stages(&r) &&
	       read_recompute(&r) && read_zero(&r) && read_precision(&r) &&
	       read_optimizer(&r) && read_offload(&r) && read_kernels(&r) &&
	       read_moe(&r) && read_world(&r) && read_run(&r);
}
