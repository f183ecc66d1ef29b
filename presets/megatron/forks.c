/* forks.c - flags that forks and older versions of Megatron call otherwise.
 *
 * Sources: microsoft/Megatron-DeepSpeed, megatron/arguments.py (num-key-value-heads,
 * ds-sequence-parallel-size, checkpoint-activations, cpu-optimizer, mlp-type,
 * normalization in small letters); alibaba/Pai-Megatron-Patch,
 * megatron_patch/arguments.py (intermediate-size, n-head-kv,
 * shared-moe-ffn-hidden-size); Megatron-LM up to v3.0 (model-parallel-size,
 * activations-checkpoint-method, fp8-hybrid), its core up to v0.12 (alltoall_seq);
 * Ascend/MindSpeed-LLM, features_manager/arguments/deprecated_args.py and module.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/flags.h"
#include "presets/megatron/parts.h"

/* A flag, of one value or (NULL) of any, is this one, with that value or (NULL) its
 * own; a switch may come with it. */
static const struct renamed {
	const char *name, *value, *as, *with, *also;
} table[] = {
	{ "intermediate-size", NULL, "ffn-hidden-size", NULL, NULL },
	{ "n-head-kv", NULL, "num-query-groups", NULL, "group-query-attention" },
	{ "num-key-value-heads", NULL, "num-query-groups", NULL,
	  "group-query-attention" },
	{ "num-kv-heads", NULL, "num-query-groups", NULL, "group-query-attention" },
	{ "attention-head-type", "multiquery", "num-query-groups", "1",
	  "group-query-attention" },
	{ "position-embedding-type", "rotary", "position-embedding-type", "rope",
	  NULL },
	/* Megatron's own, which have no table of positions either */
	{ "position-embedding-type", "yarn", "position-embedding-type", "rope", NULL },
	{ "position-embedding-type", "mrope", "position-embedding-type", "rope", NULL },
	/* bigscience-workshop/Megatron-DeepSpeed, as --embed-layernorm */
	{ "position-embedding-type", "alibi", "position-embedding-type", "none", NULL },
	{ "pad-vocab-size-to", NULL, "padded-vocab-size", NULL, NULL },
	{ "use-llama2-rotary-position-embeddings", NULL,
	  "use-rotary-position-embeddings", NULL, NULL },
	{ "normalization", "rmsnorm", "normalization", "RMSNorm", NULL },
	{ "checkpoint-activations", NULL, "recompute-granularity", "full", NULL },
	{ "activations-checkpoint-method", NULL, "recompute-granularity", "full",
	  NULL },
	{ "fp8-hybrid", NULL, "fp8-format", "hybrid", NULL },
	{ "fp8-e4m3", NULL, "fp8-format", "e4m3", NULL },
	{ "cpu-optimizer", NULL, "optimizer-cpu-offload", NULL, NULL },
	{ "ds-sequence-parallel-size", NULL, "context-parallel-size", NULL, NULL },
	/* Ascend/MindSpeed, features_manager/context_parallel/ */
	{ "context-parallel-algo", "megatron_cp_algo", "cp-comm-type", "p2p", NULL },
	{ "context-parallel-algo", "ulysses_cp_algo", "cp-comm-type", "a2a", NULL },
	{ "context-parallel-algo", "kvallgather_cp_algo", "cp-comm-type", "all_gather",
	  NULL },
	{ "model-parallel-size", NULL, "tensor-model-parallel-size", NULL, NULL },
	{ "batch-size", NULL, "micro-batch-size", NULL, NULL },
	/* NVIDIA-NeMo/Megatron-Bridge, examples/conversion and scripts/performance */
	{ "tp", NULL, "tensor-model-parallel-size", NULL, NULL },
	{ "pp", NULL, "pipeline-model-parallel-size", NULL, NULL },
	{ "cp", NULL, "context-parallel-size", NULL, NULL },
	{ "ep", NULL, "expert-model-parallel-size", NULL, NULL },
	{ "etp", NULL, "expert-tensor-parallel-size", NULL, NULL },
	{ "moe-token-dispatcher-type", "alltoall_seq", "moe-token-dispatcher-type",
	  "alltoall", NULL },
	{ "moe-intermediate-size", NULL, "moe-ffn-hidden-size", NULL, NULL },
	{ "n-shared-experts", NULL, "num-shared-experts", NULL, NULL },
	{ "multi-head-latent-attention", NULL, "multi-latent-attention", NULL, NULL },
	{ "qk-rope-head-dim", NULL, "qk-pos-emb-head-dim", NULL, NULL },
	{ "qk-nope-head-dim", NULL, "qk-head-dim", NULL, NULL },
	{ "geglu", NULL, "swiglu", NULL, NULL }, /* gated, too */
	{ "quick-geglu", NULL, "swiglu", NULL, NULL },
	/* Ascend/MindSpeed-LLM, core/transformer/mlp.py: gated_linear_unit = True */
	{ "gelu-tanh", NULL, "swiglu", NULL, NULL },
	/* THUDM/slime, scripts/models */
	{ "use-gated-attention", NULL, "attention-output-gate", NULL, NULL },
	{ "glu-activation", "geglu", "swiglu", "", NULL },
	{ "glu-activation", "swiglu", "swiglu", "", NULL },
	{ "glu-activation", "reglu", "swiglu", "", NULL },
	{ "glu-activation", "liglu", "swiglu", "", NULL },
	{ "num-moe-experts", NULL, "num-experts", NULL, NULL },
	{ "shared-moe-ffn-hidden-size", NULL, "moe-shared-expert-intermediate-size",
	  NULL, NULL },
};

static bool rename_one(struct arguments *arguments, int index,
		       const struct renamed *row)
{
	struct argument *a = &arguments->item[index];
	int line = a->line;
	const struct argument *own = arguments_find(arguments, row->as);

	if (own && strcmp(a->name, row->as) != 0)
		return true;
	/* Falcon's: multiquery is a word of all that share, n-head-kv the number */
	if (row->also && row->with && arguments_find(arguments, "n-head-kv"))
		return true;
	if (strcmp(a->name, "ds-sequence-parallel-size") == 0 &&
	    strcmp(a->value, "1") != 0 &&
	    !arguments_add(arguments, "cp-comm-type", "a2a", line))
		return false;
	a = &arguments->item[index]; /* the list may have moved */
	a->name = row->as;
	a->value = row->with ? row->with : a->value;
	return !row->also || arguments_find(arguments, row->also) ||
	       arguments_add(arguments, row->also, "", line);
}

/* "64 64 128 128" of Megatron-DeepSpeed's pyramid: experts of each mixture. Their mean
 * is counted where they differ; returns how many kinds there are. */
static bool level_experts(struct arguments *arguments, struct import_report *report)
{
	const struct argument *found = arguments_find(arguments, "num-experts");
	const char *at = found ? found->value : "";
	long long sum = 0, first = 0;
	int count = 0;
	bool differ = false;
	char text[24], *end;

	for (; *at != '\0'; at = end + strspn(end, " ")) {
		long long value = strtoll(at, &end, 10);

		if (end == at || value < 1 || value > 1 << 20)
			return true; /* refused where it is read */
		first = count == 0 ? value : first;
		differ = differ || value != first;
		sum += value;
		count++;
	}
	if (count < 2)
		return true;
	if (differ)
		import_note(report, IMPORT_APPROXIMATE, "num-experts",
			    "mixtures of %s experts: their mean is counted",
			    found->value);
	snprintf(text, sizeof text, "%lld", (sum + count / 2) / count);
	return arguments_add(arguments, "num-experts", text, found->line);
}

/* "0:768 250B:1536" of Megatron-LM, a batch from so many samples or tokens on, which
 * excludes --global-batch-size: the last is that of the rest. */
static bool last_batch(struct arguments *arguments, struct import_report *report)
{
	const struct argument *steps =
		arguments_find(arguments, "step-batch-size-schedule");
	const char *last = steps ? strrchr(steps->value, ':') : NULL;

	if (!last || arguments_find(arguments, "global-batch-size"))
		return true;
	if (strchr(steps->value, ':') != last)
		import_note(report, IMPORT_ASSUMED, "step-batch-size-schedule",
			    "its last batch, %.20s", last + 1);
	return arguments_add(arguments, "global-batch-size", last + 1, steps->line);
}

/* "7,7,8,8" of MindSpeed-LLM: layers of each stage, as a layout. Beside chunks of
 * stages it is another list, which is left. */
static bool layers_of_stages(struct arguments *arguments)
{
	static const char layout[] = "pipeline-model-parallel-layout";
	const struct argument *list = arguments_find(arguments, "num-layer-list");
	const struct argument *mtp = arguments_find(arguments, "mtp-num-layers");
	long depths = mtp ? strtol(mtp->value, NULL, 10) : 0;
	char text[MAX_LAYOUT] = "E", *end;
	size_t used = 1;

	if (!list || arguments_find(arguments, layout) ||
	    arguments_find(arguments, "num-layers-per-virtual-pipeline-stage") ||
	    arguments_find(arguments, "num-virtual-stages-per-pipeline-rank"))
		return true;
	for (const char *at = list->value; *at != '\0'; at = end + strspn(end, ", ")) {
		long layers = strtol(at, &end, 10);

		if (end == at || layers < 0 || layers > MAX_LAYERS)
			return true; /* not known, and its stages are told elsewhere */
		if (used + 16 > sizeof text)
			return true;
		used += (size_t)snprintf(text + used, sizeof text - used, "%st*%ld",
					 at == list->value ? "" : "|", layers);
	}
	for (; depths > 0 && depths < 8 && used + 3 < sizeof text; depths--)
		text[used++] = 'm';
	if (used < 2 || used + 2 > sizeof text)
		return true;
	memcpy(text + used, "L", 2);
	return arguments_add(arguments, layout, text, list->line);
}

/* Python's int() takes "146_484_375"; other words keep their bars. */
static bool drop_bars(struct arguments *arguments, struct argument *a)
{
	size_t length = strlen(a->value), used = 0;
	char plain[32];

	if (!strchr(a->value, '_') || length >= sizeof plain ||
	    strspn(a->value, "0123456789_") != length || strstr(a->value, "__") ||
	    a->value[0] == '_' || a->value[length - 1] == '_' ||
	    !(megatron_flag(a->name) || megatron_plan_flag(a->name) ||
	      megatron_model_flag(a->name)))
		return true;
	for (const char *c = a->value; *c != '\0'; c++)
		if (*c != '_')
			plain[used++] = *c;
	a->value = arguments_keep(arguments, plain, used);
	return a->value != NULL;
}

/* What THUDM/slime's trainer sets whatever the command says
 * (slime/backends/megatron_utils/arguments.py, _set_default_megatron_args). */
static bool add_slime(struct arguments *arguments, struct import_report *report)
{
	const struct argument *actor = arguments_find(arguments, "actor-num-nodes");
	int line;

	if (!actor || !arguments_find(arguments, "hf-checkpoint"))
		return true;
	line = actor->line;
	import_note(report, IMPORT_ASSUMED, "settings",
		    "the distributed optimizer, bf16 and 4096 tokens where nothing "
		    "says otherwise, as slime has them");
	return arguments_add(arguments, "use-distributed-optimizer", "", line) &&
	       (arguments_find(arguments, "fp16") ||
		arguments_add(arguments, "bf16", "", line)) &&
	       (arguments_find(arguments, "seq-length") ||
		arguments_add(arguments, "seq-length", "4096", line));
}

bool megatron_rename(struct arguments *arguments, struct import_report *report)
{
	int count = arguments->count;

	for (int i = 0; i < count; i++)
		if (!drop_bars(arguments, &arguments->item[i]))
			return false;
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
			const struct argument *a = &arguments->item[i];

			if (strcmp(a->name, table[k].name) == 0 &&
			    (!table[k].value ||
			     strcmp(a->value, table[k].value) == 0)) {
				if (!rename_one(arguments, i, &table[k]))
					return false;
				break;
			}
		}
	return level_experts(arguments, report) && last_batch(arguments, report) &&
	       layers_of_stages(arguments) && add_slime(arguments, report);
}

static const char learns[] = "reinforcement learning";
/* These may tune, and their passes are a step's. */
static const char judges[] = "evaluation",
		  tunes[] = "a task of tasks/main.py, evaluation or tuning",
		  embeds[] = "embeddings";

const char *megatron_task(const struct arguments *arguments)
{
	static const struct {
		const char *part, *task;
	} programs[] = {
		{ "generat", "generation" },
		{ "evaluat", judges },
		{ "infer", "inference" },
		{ "_server", "a server" },
		{ "convert", "conversion" },
		{ "export", "conversion" },
		{ "quantize", "quantisation" },
		{ "prune", "pruning" },
		{ "_rl.", learns },
		{ "grpo", learns },
		{ "ppo_", learns },
		{ "_ppo", learns },
		{ "dpo", "preference learning" },
	};
	static const struct {
		const char *flag, *task;
	} flags[] = {
		{ "analyzing-task", "an analysis of data" },
		{ "num-tokens-to-generate", "generation" },
		{ "tokens-to-generate", "generation" },
		{ "out-seq-length", "generation" },
		{ "inference", judges },
		{ "indexer-batch-size", embeds },
		{ "perform-rl-step", learns },
		{ "grpo-iterations", learns },
		{ "advantage-estimator", learns }, /* slime */
	};
	const struct argument *program = arguments_find(arguments, "program");
	/* MindSpeed-LLM's posttrain_gpt.py, whose program is one for all */
	const struct argument *stage = arguments_find(arguments, "stage");

	if (stage && program && strstr(program->value, "posttrain") &&
	    stage->value[0] != '\0' && strcmp(stage->value, "sft") != 0)
		return "preference learning";
	/* before what the program is called: train_rl.py is called so by few */
	for (int i = 0; i < arguments->count; i++)
		if (strncmp(arguments->item[i].name, "grpo-", 5) == 0)
			return learns;
	/* Megatron's tasks/main.py */
	if (program && strcmp(program->value, "main.py") == 0 &&
	    arguments_find(arguments, "task"))
		return tunes;
	for (size_t i = 0; i < sizeof programs / sizeof programs[0] && program; i++)
		if (strstr(program->value, programs[i].part))
			return programs[i].task;
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (arguments_find(arguments, flags[i].flag))
			return flags[i].task;
	return NULL;
}

bool megatron_is_modelled(const struct arguments *arguments, struct error *error)
{
	const char *task = megatron_task(arguments);

	if (task == learns)
		return error_set(
			error, arguments->file, 1,
			"the program is of %s: it generates and holds more than one "
			"model, which is not modelled; pre-training and SFT are",
			task);
	return !task || task == judges || task == tunes || task == embeds ||
	       error_set(
		       error, arguments->file, 1,
		       "the program is for %s and trains nothing; pre-training and "
		       "SFT are modelled, of servers those of vllm, sglang and trtllm",
		       task);
}

/* Pai-Megatron-Patch has a program for each family. */
static const char family[] = "a program of another family's networks: what they have "
			     "otherwise than these flags is left out";

/* What a script starts, and flags that only such a program has, say that the network is
 * another one than the flags alone describe; so does a path: FlagScale's files of RWKV
 * have the flags of a GPT. */
const char *megatron_doubt(const struct arguments *arguments)
{
	static const char encoder[] = "an encoder: its attention looks both ways, and "
				      "is counted as causal";
	static const struct {
		const char *part, *why;
	} programs[] = {
		{ "bert", encoder },
		{ "t5", "encoder-decoder: read as its decoder only" },
		{ "retro", "retrieval: its encoder and cross attention are left out" },
		{ "vision", "a vision model: read as a text model of its layers" },
		{ "_vlm", "the vision part is left out" },
		{ "llava", "the vision part is left out" },
		{ "glm", family },
		{ "falcon", family },
		{ "galactica", family },
		{ "huggingface",
		  "a model of Hugging Face behind Megatron's flags: what "
		  "its class has otherwise is left out" },
	};
	static const struct {
		const char *flag, *value, *why;
	} flags[] = {
		{ "transformer-type", "huggingface",
		  "a model of Hugging Face behind Megatron's flags: what its class has "
		  "otherwise is left out" },
		{ "bert-no-binary-head", NULL, encoder },
		{ "tokenizer-type", "BertWordPiece", encoder },
		/* preprocess_data.py --split-sentences, which no decoder reads */
		{ "data-path", "_text_sentence", encoder },
		{ "retro-add-retriever", NULL,
		  "retrieval: its encoder and cross attention are left out" },
		{ "retro-project-dir", NULL,
		  "retrieval: its encoder and cross attention are left out" },
		{ "vision-model-type", NULL, "the vision part is left out" },
		{ "language-model-type", NULL, "the vision part is left out" },
		{ "model-provider", "llava_vlm", "the vision part is left out" },
		{ "image-token-id", NULL, "the vision part is left out" },
		{ "img-h", NULL, "the vision part is left out" },
		{ "mrope-section", NULL, "the vision part is left out" },
		{ "kd", NULL, "distillation: the teacher's forward pass is left out" },
		{ "mlp-type", "residual",
		  "a dense MLP beside the experts is counted as a shared one" },
	};
	const struct argument *program = arguments_find(arguments, "program");

	for (size_t i = 0; program && i < sizeof programs / sizeof programs[0]; i++)
		if (strstr(program->value, programs[i].part))
			return programs[i].why;
	if (program && strstr(program->value, "llama") &&
	    !arguments_find(arguments, "swiglu") &&
	    !arguments_find(arguments, "glu-activation"))
		return "a program of Llama's networks: their gated MLP, which no flag "
		       "tells, is left out";
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		const struct argument *a = arguments_find(arguments, flags[i].flag);

		if (a && (!flags[i].value || strstr(a->value, flags[i].value)))
			return flags[i].why;
	}
	return strstr(arguments->file, "rwkv")
		       ? "its path says RWKV, which is read as attention of these widths"
		       : NULL;
}
