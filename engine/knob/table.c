/* table.c - one row for each thing that a person can turn. */
#include "engine/collective/units.h"
#include "engine/knob/knob.h"
#include "engine/schedule/schedule.h"

static const char *const collective_words[] = { "auto",
#define WORD_OF(NAME, id, word, has) word,
						COLLECTIVE_UNITS(WORD_OF)
#undef WORD_OF
							NULL };
static const char *const cp_words[] = { "ring", "all-gather", "ulysses", NULL };
static const char *const recompute_words[] = { "none", "selective", "full", NULL };
static const char *const module_words[] = {
	"core_attn",   "layernorm",      "mlp",    "moe_act", "moe",
	"mla_up_proj", "shared_experts", "per-op", NULL
};
static const char *const remat_words[] = { "modules",
					   "minimal_with_context",
					   "minimal",
					   "save_dot_with_context_except_mlp",
					   "save_dot_except_mlpwi",
					   "save_dot_except_mlp",
					   "save_qkv_proj",
					   "save_out_proj",
					   "qkv_proj_offloaded",
					   "minimal_offloaded",
					   "custom",
					   NULL };
static const char *const tensor_words[] = { "qkv",    "context", "out",
					    "mlp_in", "mlp_out", NULL };
static const char *const offload_words[] = { "attn_norm", "qkv_linear", "core_attn",
					     "attn_proj", "mlp_norm",   "expert_fc1",
					     "moe_act",   NULL };
static const char *const scope_words[] = { "attn",           "mlp",
					   "moe_router",     "moe_preprocess",
					   "shared_experts", "moe",
					   "mamba",          NULL };
static const char *const weight_words[] = { "wide", "fp8", "both", "fp4", NULL };
static const char *const base_words[] = { "wide", "fp8", "nf4", "nvfp4", "int4", NULL };
static const char *const target_words[] = { "all", "attention", "qkv", NULL };
static const char *const scale_words[] = { "each", "zeroed", "fused", NULL };
static const char *const split_words[] = {
	"auto", "even", "balanced", "balanced-memory", "first-last", "custom", NULL
};
static const char *const optimizer_words[] = { "adamw",     "adamw-8bit", "adamw-bf16",
					       "adafactor", "muon",       "sgd",
					       NULL };
static const char *const master_words[] = { "auto",   "fp32", "rest",
					    "16-bit", "none", NULL };
static const char *const grad_words[] = { "fp32", "bf16", NULL };
static const char *const fp8_words[] = { "delayed",   "current-scaling", "rowwise",
					 "blockwise", "mxfp8",           NULL };
static const char *const ce_words[] = { "plain", "fused", "chunked", NULL };
static const char *const dispatcher_words[] = { "alltoall", "allgather", "deepep",
						"hybridep", NULL };
static const char *const capacity_words[] = { "dropless", "drop", "pad", NULL };
static const char *const graph_words[] = { "none", "partial", "full", NULL };
static const char *const sync_words[] = { "barrier", "post-validation", NULL };
static const char *const flops_words[] = { "causal", "full", NULL };
const char *const precision_words[] = { "bf16",  "fp16",  "fp32",      "fp8",
					"mxfp8", "nvfp4", "fp8-block", "int8",
					"int4",  "mxfp4", NULL };
static const char *const mode_words[] = { "training", "inference", NULL };
static const char *const batching_words[] = { "continuous", "static", NULL };
static const char *const percentile_words[] = { "mean", "p99", NULL };
static const char *const length_words[] = { "uniform", "lognormal", NULL };
static const char *const kv_words[] = { "auto", "bf16", "fp8", "int8", "fp4", NULL };
static const char *const speculative_words[] = { "off", "draft", "mtp", NULL };
static const char *const attention_words[] = { "unfused", "fused-softmax", "flash1",
					       "flash2",  "flash3",        NULL };

/* What a knob asks of the scenario `s` before it does anything, by name. */
#define WHERE(name, condition)                     \
	static bool name(const struct scenario *s) \
	{                                          \
		return condition;                  \
	}

WHERE(has_tp, s->plan.tp > 1)
WHERE(has_offload, s->plan.optimizer_offload > 0 || plan_sends_activations(&s->plan))
WHERE(has_pp, s->plan.pp > 1)
WHERE(has_cp, s->plan.cp > 1)
WHERE(has_experts, s->model.moe.experts > 0)
WHERE(has_ep, has_experts(s) && s->plan.ep > 1)

/* Experts on several ranks, which get more than the mean unless each is, in training,
 * filled up to its capacity or keeps no more than that. */
static bool has_imbalance(const struct scenario *s)
{
	bool evened =
		s->plan.moe_capacity == CAPACITY_PAD ||
		(s->plan.moe_capacity == CAPACITY_DROP && s->plan.capacity_factor <= 1);

	return has_ep(s) && (s->plan.mode == MODE_INFERENCE || !evened);
}

/* Several on a rank. */
WHERE(has_local_experts, has_experts(s) && s->model.moe.experts > s->plan.ep)
WHERE(has_shared_experts, has_experts(s) && s->model.moe.shared_ffn > 0)
WHERE(has_capacity, has_experts(s) && s->plan.moe_capacity != CAPACITY_DROPLESS)
WHERE(is_interleaved, has_pp(s) && s->plan.schedule == SCHEDULE_INTERLEAVED)

/* Schedules whose stages may end their step one after the other (pipeline.h). */
WHERE(has_skewed_end, has_pp(s) && !schedule_by_rounds(s->plan.schedule))
/* Schedules that take as many chunks as are asked for. */
WHERE(takes_chunks, has_pp(s) && schedule_takes_chunks(s->plan.schedule))
WHERE(has_chunks, is_interleaved(s) && s->plan.vpp > 1)
WHERE(has_sharding, s->plan.zero > 0)
WHERE(is_fsdp, s->plan.zero == 3)
WHERE(has_first_last, has_pp(s) && s->plan.split == SPLIT_FIRST_LAST)
WHERE(has_layout, has_pp(s) && s->plan.split == SPLIT_CUSTOM)
WHERE(has_even_split,
      has_pp(s) && (s->plan.split == SPLIT_AUTO || s->plan.split == SPLIT_EVEN))
WHERE(is_full, s->plan.recompute == RECOMPUTE_FULL)
WHERE(has_dense_mlp, model_has_dense_mlp(&s->model))
WHERE(has_chunked_loss, s->plan.cross_entropy == CE_CHUNKED)
WHERE(is_selective, s->plan.recompute == RECOMPUTE_SELECTIVE)
WHERE(is_custom, is_selective(s) && s->plan.remat_policy == REMAT_CUSTOM)

/* Modules, not a policy, say what runs again. */
WHERE(has_modules, is_selective(s) && s->plan.remat_policy == REMAT_MODULES)
/* Something is kept that could go. */
WHERE(keeps_tensors,
      s->plan.recompute != RECOMPUTE_FULL &&
	      !(is_selective(s) && s->plan.remat_policy != REMAT_MODULES))

WHERE(names_modules, keeps_tensors(s) && s->plan.offload_modules != 0)
WHERE(has_gates, s->model.gated_mlp)
WHERE(has_adapters, s->plan.serving.adapters > 0)
WHERE(is_lora, s->plan.lora_rank > 0)
WHERE(may_freeze, !is_lora(s) && (s->plan.pp < 2 || s->plan.frozen_layers > 0))
WHERE(has_split_adapters, is_lora(s) && s->plan.tp > 1 && s->plan.sp &&
				  s->stack.splits_adapters &&
				  s->plan.lora_targets != LORA_QKV)
WHERE(has_narrow_weights, !is_lora(s) && scenario_trains_narrow(s))

/* In fp32 there is one weight. */
WHERE(is_half, s->plan.precision != PRECISION_FP32)
WHERE(is_partial, s->plan.cuda_graphs == GRAPHS_PARTIAL)
WHERE(has_block_scales,
      s->plan.precision == PRECISION_MXFP8 || s->plan.precision == PRECISION_NVFP4)
WHERE(is_fp4, s->plan.precision == PRECISION_NVFP4)

/* Weights that train are quantised again after each step. */
WHERE(has_fp4_weights, is_fp4(s) && !is_lora(s))

WHERE(may_attend_narrow,
      scenario_trains_narrow(s) && attention_table[s->plan.attention_kernel].flash)

/* The other narrow formats say how they are scaled. */
WHERE(is_fp8, s->plan.precision == PRECISION_FP8)

/* What a stack hides behind computing: nothing, where its share is 0. The ranks that
 * share an expert exchange rows as those do that share a layer. */
static bool hides_tp(const struct scenario *s)
{
	bool shares = has_tp(s) || (has_experts(s) && s->plan.etp > 1);

	return shares && s->stack.tp_overlap > 0;
}

/* Tokens of a server travel to experts where copies of the attention share these, by
 * rank or by expert. */
static bool hides_ep(const struct scenario *s)
{
	bool copies = s->plan.serving.dp_attention > 1 ||
		      (s->plan.serving.disaggregated &&
		       scenario_prefill_engine(s).dp_attention > 1);

	if (s->plan.mode == MODE_INFERENCE)
		return has_experts(s) && copies;
	return has_ep(s) && s->stack.ep_overlap > 0;
}

/* Experts may be on more ranks than dense layers have copies; and where each stage
 * holds two copies of the weights, they are summed whatever the ranks. */
static bool hides_dp(const struct scenario *s)
{
	int64_t alone = s->plan.pp * (has_experts(s) ? 1 : s->plan.tp);
	bool copies = has_pp(s) && schedule_weight_copies(s->plan.schedule) > 1;

	return s->stack.dp_overlap > 0 && (copies || s->cluster.gpus > alone);
}

/* What is summed whole behind the backward hides behind nothing. */
WHERE(hides_gradients, hides_dp(s) && !scenario_sums_behind(s))

WHERE(hides_sharding, has_sharding(s) && hides_dp(s))

/* Servers have constants of their own. */
WHERE(is_training, s->plan.mode == MODE_TRAINING)

WHERE(has_upper_link, s->cluster.link[LINK_UPPER].span > 0)

/* The job leaves the fast domain. */
WHERE(has_network, cluster_domain(&s->cluster) < s->cluster.gpus)

WHERE(has_peers, s->cluster.gpus > 1)
WHERE(is_continuous, s->plan.serving.batching == BATCHING_CONTINUOUS)
WHERE(has_hidden_host, s->stack.serving.overlapped_seconds > 0)
WHERE(has_rate, s->plan.serving.request_rate > 0)
WHERE(is_speculative, s->plan.serving.speculative != SPECULATIVE_OFF)
WHERE(keeps_prefixes, s->plan.serving.prefix_cache)
WHERE(has_host_kv, s->plan.serving.host_kv_bytes > 0)
WHERE(is_disaggregated, s->plan.serving.disaggregated)
WHERE(is_disaggregated_moe, is_disaggregated(s) && has_experts(s))

/* The offset of a field, checked to have the type that the knob's type needs. */
#define FIELD(path, type)                  \
	(offsetof(struct scenario, path) + \
	 0 * sizeof(char[_Generic(((struct scenario *)0)->path, type : 1)]))

#define COUNT(path, lo, hi)                                                         \
	.type = KNOB_INT, .offset = FIELD(path, int64_t), .min = (lo), .max = (hi), \
	.scale = 1
#define REAL(path, lo, hi, factor)                                                  \
	.type = KNOB_REAL, .offset = FIELD(path, double), .min = (lo), .max = (hi), \
	.scale = (factor)
#define SWITCH(path)                                                                 \
	.type = KNOB_BOOL, .step = STEP_WORD, .offset = FIELD(path, bool), .max = 1, \
	.scale = 1
#define WORD(path, list)                                                  \
	.type = KNOB_WORD, .step = STEP_WORD, .offset = FIELD(path, int), \
	.max = (double)(sizeof(list) / sizeof(list)[0] - 2), .scale = 1,  \
	.words = (list)

#define MAX_DEGREE 4096
#define MAX_SEQ    (16 << 20)
#define MAX_BATCH  (16 << 20)
#define MAX_GPUS   (1 << 20)
#define GIB        1073741824.0

const struct knob knob_table[] = {
	{ "tp", "tensor_parallel", "TP  tensor", "",
	  "GPUs that split every matrix of a layer: heavy traffic, so keep it on the "
	  "fastest links.",
	  GROUP_PARALLELISM, COUNT(plan.tp, 1, MAX_DEGREE), .step = STEP_DEGREE,
	  .both = true },
	{ "sp", "sequence_parallel", "SP  sequence", "",
	  "Splits norms, dropout and residuals along the sequence within each TP "
	  "group: less memory for the same traffic.",
	  GROUP_PARALLELISM, SWITCH(plan.sp), .applies = has_tp },
	{ "pp", "pipeline_parallel", "PP  pipeline", "",
	  "Stages that each hold some layers: little traffic, but they idle while the "
	  "pipeline fills and drains.",
	  GROUP_PARALLELISM, COUNT(plan.pp, 1, MAX_STAGES), .step = STEP_DEGREE,
	  .both = true },
	{ "vpp", "virtual_pipeline", "VPP virtual", "",
	  "Chunks of layers per stage (interleaved, breadth-first, hanayo). More "
	  "chunks shrink the bubble but add transfers.",
	  GROUP_PARALLELISM, COUNT(plan.vpp, 1, MAX_CHUNKS), .step = STEP_ONE,
	  .applies = takes_chunks },
	{ "cp", "context_parallel", "CP  context", "",
	  "GPUs that split every sequence between them: for sequences whose "
	  "activations are too large for one GPU.",
	  GROUP_PARALLELISM, COUNT(plan.cp, 1, MAX_DEGREE), .step = STEP_DEGREE,
	  .both = true },
	{ "cp_kind", "cp_comm_type", "CP  kind", "",
	  "How attention sees the whole sequence under CP: keys and values passed "
	  "round a ring, gathered, or heads exchanged (Ulysses).",
	  GROUP_PARALLELISM, WORD(plan.cp_kind, cp_words), .applies = has_cp },
	{ "ep", "expert_parallel", "EP  expert", "",
	  "GPUs that divide a layer's experts between them; tokens travel to their "
	  "experts by all-to-all.",
	  GROUP_PARALLELISM, COUNT(plan.ep, 1, MAX_DEGREE), .step = STEP_DEGREE,
	  .applies = has_experts, .both = true },
	{ "etp", "expert_tensor_parallel", "ETP expert TP", "",
	  "Tensor parallel degree inside each expert; auto follows the stack "
	  "(Megatron: TP).",
	  GROUP_PARALLELISM, COUNT(plan.etp, 0, MAX_DEGREE), .step = STEP_DEGREE,
	  .zero = "auto", .applies = has_experts },
	{ "zero", "zero_stage", "ZeRO", "",
	  "What data-parallel ranks shard: 0 nothing, 1 optimizer states, 2 also "
	  "gradients, 3 also weights (FSDP).",
	  GROUP_PARALLELISM, COUNT(plan.zero, 0, 3), .step = STEP_ONE },
	{ "zero_group", "shard_group", "ZeRO group", "",
	  "GPUs that hold one set of shards together. A smaller group (HSDP) "
	  "replicates the set, and that of the experts as often.",
	  GROUP_PARALLELISM, COUNT(plan.zero_group, 0, MAX_GPUS), .step = STEP_DEGREE,
	  .zero = "all", .applies = has_sharding },
	{ "fsdp_reshard", "reshard_after_forward", "FSDP reshard", "",
	  "Frees gathered weights after the forward pass and gathers them again for "
	  "the backward pass: less memory, more traffic.",
	  GROUP_PARALLELISM, SWITCH(plan.fsdp_reshard), .applies = is_fsdp },
	{ "fsdp_prefetch", NULL, "FSDP prefetch", "layers",
	  "How many layers ahead weights are gathered.", GROUP_PARALLELISM,
	  COUNT(plan.fsdp_prefetch, 0, 16), .step = STEP_ONE, .applies = is_fsdp },

	{ "mbs", "micro_batch", "micro-batch", "sequences",
	  "Sequences that one GPU processes at a time. Larger micro-batches use the "
	  "GPU better but need more activation memory.",
	  GROUP_BATCH, COUNT(plan.micro_batch, 1, MAX_BATCH), .step = STEP_SERIES },
	{ "gbs", "global_batch", "global batch", "sequences",
	  "Sequences per optimizer step over all GPUs. It is chosen for the training, "
	  "not for the machine.",
	  GROUP_BATCH, COUNT(plan.global_batch, 1, MAX_BATCH), .step = STEP_SERIES },
	{ "seq", "seq_len", "sequence", "tokens", "Tokens per sequence; 8k means 8192.",
	  GROUP_BATCH, COUNT(plan.seq_len, 1, MAX_SEQ), .step = STEP_DOUBLE },
	{ "document_len", "packed_length", "packed document", "tokens",
	  "Mean length of documents packed into a sequence; they don't attend to each "
	  "other. Off: one document per sequence.",
	  GROUP_BATCH, COUNT(plan.document_len, 0, MAX_SEQ), .step = STEP_DOUBLE,
	  .zero = "off" },

	{ "schedule", "pipeline_schedule", "schedule", "",
	  "The order in which stages run forward and backward passes. Interleaved with "
	  "VPP 1 is 1f1b.",
	  GROUP_PIPELINE, WORD(plan.schedule, schedule_words), .applies = has_pp },
	{ "micro_batch_group", "microbatch_group", "VPP group", "micro-batches",
	  "Micro-batches that pass through one chunk before the next chunk's turn "
	  "(interleaved); auto is PP.",
	  GROUP_PIPELINE, COUNT(plan.micro_batch_group, 0, 65536), .step = STEP_SERIES,
	  .zero = "auto", .applies = has_chunks },
	{ "split", "stage_split", "layer split", "",
	  "How layers are assigned to stages: auto does as the stack does, balanced "
	  "evens out time, balanced-memory evens out memory.",
	  GROUP_PIPELINE, WORD(plan.split, split_words), .applies = has_pp },
	{ "first_stage_layers", "decoder_first_pipeline_num_layers", "first stage",
	  "layers",
	  "Layers on the first stage (split first-last); auto includes it in the even "
	  "split.",
	  GROUP_PIPELINE, COUNT(plan.first_stage_layers, 0, MAX_LAYERS),
	  .step = STEP_ONE, .zero = "auto", .applies = has_first_last },
	{ "last_stage_layers", "decoder_last_pipeline_num_layers", "last stage",
	  "layers",
	  "Layers on the last stage (split first-last); auto includes it in the even "
	  "split.",
	  GROUP_PIPELINE, COUNT(plan.last_stage_layers, 0, MAX_LAYERS),
	  .step = STEP_ONE, .zero = "auto", .applies = has_first_last },
	{ "split_embedding", "account_for_embedding_in_pipeline_split",
	  "count embedding", "",
	  "Counts the embedding as one layer of the first stage in an even split.",
	  GROUP_PIPELINE, SWITCH(plan.split_embedding), .applies = has_even_split },
	{ "split_loss", "account_for_loss_in_pipeline_split", "count LM head", "",
	  "Counts LM head and loss as one layer of the last stage in an even split.",
	  GROUP_PIPELINE, SWITCH(plan.split_loss), .applies = has_even_split },
	{ "layout", "pipeline_model_parallel_layout", "layout", "",
	  "Megatron's layout string: E embedding, t layer, m MTP, L loss, | next "
	  "stage, *n repeat; used with split custom.",
	  GROUP_PIPELINE, .type = KNOB_TEXT, .step = STEP_WORD,
	  .offset = offsetof(struct scenario, plan.layout), .size = MAX_LAYOUT,
	  .scale = 1, .zero = "none", .applies = has_layout },
	{ "optimizer_sync", NULL, "optimizer sync", "",
	  "Whether a step ends with a barrier for the gradient norm, or checks it "
	  "afterwards (zero bubble).",
	  GROUP_PIPELINE, WORD(plan.optimizer_sync, sync_words),
	  .applies = has_skewed_end },

	{ "recompute", "recompute_granularity", "recompute", "",
	  "Recomputes activations in the backward pass instead of storing them: for "
	  "some modules, or for whole layers.",
	  GROUP_MEMORY, WORD(plan.recompute, recompute_words) },
	{ "recompute_layers", "recompute_num_layers", "recompute layers", "layers",
	  "Layers per stage that full recomputation applies to.", GROUP_MEMORY,
	  COUNT(plan.recompute_layers, 0, MAX_LAYERS), .step = STEP_ONE, .zero = "all",
	  .applies = is_full },
	{ "recompute_modules", NULL, "modules", "",
	  "Parts of a layer that selective recomputation applies to, joined by +.",
	  GROUP_MEMORY, .type = KNOB_SET, .step = STEP_WORD,
	  .offset = FIELD(plan.recompute_modules, uint64_t),
	  .max = (double)((1 << MODULE_COUNT) - 1), .scale = 1, .zero = "none",
	  .words = module_words, .applies = has_modules },
	{ "remat_policy", NULL, "remat policy", "",
	  "MaxText's named policies instead of modules: a layer stores its input and "
	  "the named tensors, or sends them to the host.",
	  GROUP_MEMORY, WORD(plan.remat_policy, remat_words), .applies = is_selective },
	{ "remat_kept", NULL, "kept products", "",
	  "Tensors of a layer that a custom remat policy stores besides its input, "
	  "joined by +.",
	  GROUP_MEMORY, .type = KNOB_SET, .step = STEP_WORD,
	  .offset = FIELD(plan.remat_kept, uint64_t),
	  .max = (double)((1 << REMAT_TENSOR_COUNT) - 1), .scale = 1, .zero = "none",
	  .words = tensor_words, .applies = is_custom },
	{ "remat_sent", NULL, "sent products", "",
	  "Tensors of a layer that a custom remat policy sends to the host, joined by "
	  "+; a tensor named in both lists is sent.",
	  GROUP_MEMORY, .type = KNOB_SET, .step = STEP_WORD,
	  .offset = FIELD(plan.remat_sent, uint64_t),
	  .max = (double)((1 << REMAT_TENSOR_COUNT) - 1), .scale = 1, .zero = "none",
	  .words = tensor_words, .applies = is_custom },
	{ "mlp_tiles", "tiled_mlp_num_shards", "MLP tiles", "",
	  "Pieces of the sequence that a dense MLP processes one after the other; each "
	  "piece's forward runs again in the backward pass.",
	  GROUP_MEMORY, COUNT(plan.mlp_tiles, 1, 1024), .step = STEP_SERIES,
	  .applies = has_dense_mlp },
	{ "optimizer", NULL, "optimizer", "",
	  "Its states take 4 to 12 bytes per parameter before sharding.", GROUP_MEMORY,
	  WORD(plan.optimizer, optimizer_words) },
	{ "master_weights", "main_params_dtype", "master weights", "",
	  "What the optimizer updates besides a 16-bit weight: an fp32 copy, its low "
	  "bits (rest), a 16-bit copy, or none; auto as the stack does.",
	  GROUP_MEMORY, WORD(plan.master_weights, master_words), .applies = is_half },
	{ "optimizer_offload", "optimizer_offload_fraction", "CPU optimizer", "",
	  "Share of optimizer states kept in host memory and updated by the CPU.",
	  GROUP_MEMORY, REAL(plan.optimizer_offload, 0, 1, 1), .step = STEP_TENTH },
	{ "activation_offload", NULL, "CPU activations", "",
	  "Share of the activations kept in host memory until the backward.",
	  GROUP_MEMORY, REAL(plan.activation_offload, 0, 1, 1), .step = STEP_TENTH },
	{ "offload_modules", NULL, "CPU modules", "",
	  "Parts of a layer whose input waits in host memory until the backward pass "
	  "(Megatron's fine-grained offload), joined by +.",
	  GROUP_MEMORY, .type = KNOB_SET, .step = STEP_WORD,
	  .offset = FIELD(plan.offload_modules, uint64_t),
	  .max = (double)((1 << OFFLOAD_COUNT) - 1), .scale = 1, .zero = "none",
	  .words = offload_words, .applies = keeps_tensors },
	{ "offload_share", NULL, "CPU module share", "",
	  "Share of the CPU modules that is really sent: that of a stage's first "
	  "layers; later layers keep theirs.",
	  GROUP_MEMORY, REAL(plan.offload_share, 0, 1, 1), .step = STEP_TENTH,
	  .applies = names_modules },
	{ "lora_rank", "lora", "LoRA rank", "",
	  "Trains low-rank adapters of this rank on a frozen model; off trains all "
	  "weights.",
	  GROUP_MEMORY, COUNT(plan.lora_rank, 0, 4096), .step = STEP_SERIES,
	  .zero = "off" },
	{ "frozen_layers", NULL, "frozen layers", "layers",
	  "First layers that do not train, nor does the embedding: they have no "
	  "gradients and no backward pass, and need PP 1.",
	  GROUP_MEMORY, COUNT(plan.frozen_layers, 0, MAX_LAYERS), .step = STEP_ONE,
	  .zero = "none", .applies = may_freeze },
	{ "frozen_head", NULL, "frozen head", "",
	  "The last norm and the head do not train either; gradients still pass "
	  "through them.",
	  GROUP_MEMORY, SWITCH(plan.frozen_head), .applies = scenario_freezes },
	{ "lora_targets", NULL, "LoRA targets", "",
	  "Which matrices of a layer have adapters: all, attention's, or only qkv. "
	  "Frozen matrices without one need not store their inputs.",
	  GROUP_MEMORY, WORD(plan.lora_targets, target_words), .applies = is_lora },
	{ "lora_exchange", NULL, "LoRA all-to-all", "",
	  "TP ranks exchange an adapter's output by one all-to-all instead of "
	  "gathering all of it and keeping a part (NeMo's a2a_experimental).",
	  GROUP_MEMORY, SWITCH(plan.lora_exchange), .applies = has_split_adapters },
	{ "frozen_format", NULL, "frozen weights", "",
	  "Format of LoRA's frozen weights; 4-bit ones are unpacked before each "
	  "matrix product (nf4: QLoRA; int4: GPTQ, AWQ).",
	  GROUP_MEMORY, WORD(plan.frozen_format, base_words), .applies = is_lora },

	{ "precision", "dtype", "precision", "",
	  "Number format of the large matrix products.", GROUP_PRECISION,
	  WORD(plan.precision, precision_words), .both = true },
	{ "grad_dtype", "main_grads_dtype", "gradients", "",
	  "Format in which gradients are accumulated and reduced.", GROUP_PRECISION,
	  WORD(plan.grad_dtype, grad_words) },
	{ "fp8_recipe", NULL, "fp8 recipe", "",
	  "How fp8 scaling factors are set: finer ones cost memory traffic.",
	  GROUP_PRECISION, WORD(plan.fp8_recipe, fp8_words), .applies = is_fp8 },
	{ "weight_format", NULL, "stored weights", "",
	  "Layer weights stored in 16 bits, only in the fp8 or fp4 that they are "
	  "multiplied in, or in 16 bits with narrow copies beside them.",
	  GROUP_PRECISION, WORD(plan.weight_format, weight_words),
	  .applies = has_narrow_weights },
	{ "fp4_rotation", "fp4_random_hadamard", "fp4 rotation", "",
	  "Rotates the inputs of nvfp4 weight gradients, 16 values at a time (random "
	  "Hadamard), to spread outliers; costs extra passes over memory.",
	  GROUP_PRECISION, SWITCH(plan.fp4_rotation), .applies = is_fp4 },
	{ "fp4_rounding", "fp4_stochastic_rounding", "fp4 rounding", "",
	  "Rounds nvfp4 gradients stochastically, so that small ones are not lost; "
	  "each tensor needs random numbers first.",
	  GROUP_PRECISION, SWITCH(plan.fp4_rounding), .applies = is_fp4 },
	{ "fp4_squares", "fp4_2d_quantization", "fp4 2-D scales", "",
	  "One scale per 16 x 16 block of nvfp4 weights, the same forward and "
	  "backward; off: one per 16 values along each product.",
	  GROUP_PRECISION, SWITCH(plan.fp4_squares), .applies = has_fp4_weights },
	{ "wide_first", "num_layers_at_start_in_bf16", "bf16 at start", "layers",
	  "First layers that stay in 16 bits while the others train in fp8 or fp4.",
	  GROUP_PRECISION, COUNT(plan.wide_first, 0, MAX_LAYERS), .step = STEP_ONE,
	  .zero = "none", .applies = scenario_trains_narrow },
	{ "wide_last", "num_layers_at_end_in_bf16", "bf16 at end", "layers",
	  "Last layers, most sensitive to rounding, that stay in 16 bits while the "
	  "others train in fp8 or fp4.",
	  GROUP_PRECISION, COUNT(plan.wide_last, 0, MAX_LAYERS), .step = STEP_ONE,
	  .zero = "none", .applies = scenario_trains_narrow },
	{ "fp8_gates", "activation_func_fp8_input_store", "fp8 gates", "",
	  "Stores the inputs of gated activation functions in fp8.", GROUP_PRECISION,
	  SWITCH(plan.fp8_gates), .applies = has_gates },
	{ "attention_kernel", "attention_backend", "attention", "",
	  "The kernel of the attention core; flash kernels never write the scores to "
	  "memory.",
	  GROUP_PRECISION, WORD(plan.attention_kernel, attention_words) },
	{ "fp8_attention", "fp8_dot_product_attention", "fp8 attention", "",
	  "Computes attention scores and values in fp8 too; attention's inputs and "
	  "outputs are converted on the way in and out.",
	  GROUP_PRECISION, SWITCH(plan.fp8_attention), .applies = may_attend_narrow },
	{ "fused_norms", NULL, "fused norms", "",
	  "Runs norms, rotary positions and activations as one kernel each.",
	  GROUP_PRECISION, SWITCH(plan.fused_norms) },
	{ "compile", "torch_compile", "compile", "",
	  "Compiles the model (torch.compile): element-wise work is fused, fewer "
	  "kernels are launched.",
	  GROUP_PRECISION, SWITCH(plan.compile) },
	{ "cuda_graphs", "cuda_graph_impl", "CUDA graphs", "",
	  "Replays recorded kernels instead of launching each; takes memory.",
	  GROUP_PRECISION, WORD(plan.cuda_graphs, graph_words) },
	{ "graph_scopes", "cuda_graph_scope", "graph scopes", "",
	  "Parts of a layer that partial CUDA graphs capture, joined by +; routed "
	  "experts only where their capacity is padded.",
	  GROUP_PRECISION, .type = KNOB_SET, .step = STEP_WORD,
	  .offset = FIELD(plan.graph_scopes, uint64_t),
	  .max = (double)((1 << SCOPE_COUNT) - 1), .scale = 1, .zero = "none",
	  .words = scope_words, .applies = is_partial },
	{ "scale_fusion", NULL, "scale fusion", "",
	  "How the experts' block scales are prepared: one by one with fills, one by "
	  "one without, or all in one fused kernel.",
	  GROUP_PRECISION, WORD(plan.scale_fusion, scale_words),
	  .applies = has_block_scales },
	{ "host_binding", "numa_binding", "CPU binding", "",
	  "Binds each process to the cores next to its GPU: faster launches.",
	  GROUP_PRECISION, SWITCH(plan.host_binding) },
	{ "cross_entropy", "cross_entropy_loss_fusion", "cross-entropy", "",
	  "The loss over the vocabulary: op by op, in one fused kernel, or in chunks, "
	  "without ever holding all logits.",
	  GROUP_PRECISION, WORD(plan.cross_entropy, ce_words) },
	{ "loss_tiles", NULL, "loss tiles", "",
	  "Pieces of the sequence that a chunked cross-entropy takes in turn.",
	  GROUP_PRECISION, COUNT(plan.loss_tiles, 1, 65536), .step = STEP_SERIES,
	  .applies = has_chunked_loss },
	{ "vocab_parallel", "loss_parallel", "vocab parallel", "",
	  "Keeps logits split over TP; off gathers them whole on each TP rank.",
	  GROUP_PRECISION, SWITCH(plan.vocab_parallel), .applies = has_tp },

	{ "overlap_grad_reduce", NULL, "DP gradients", "",
	  "Reduces gradients while the backward pass is still running.", GROUP_OVERLAP,
	  SWITCH(plan.overlap_grad_reduce), .applies = hides_gradients },
	{ "overlap_param_gather", NULL, "DP parameters", "",
	  "Gathers updated parameters while the next forward pass runs.", GROUP_OVERLAP,
	  SWITCH(plan.overlap_param_gather), .applies = hides_sharding },
	{ "tp_overlap", "tp_comm_overlap", "TP overlap", "",
	  "Splits TP collectives and matrix products into pieces that overlap.",
	  GROUP_OVERLAP, SWITCH(plan.tp_overlap), .applies = hides_tp },
	{ "async_tp", NULL, "async TP", "",
	  "TP overlap done by the compiler (torchtitan).", GROUP_OVERLAP,
	  SWITCH(plan.async_tp), .applies = hides_tp },
	{ "overlap_p2p", "overlap_p2p_comm", "PP sends", "",
	  "Runs pipeline sends and receives during computation.", GROUP_OVERLAP,
	  SWITCH(plan.overlap_p2p), .applies = has_pp },
	{ "ep_overlap", "overlap_moe_expert_parallel_comm", "EP all-to-all", "",
	  "Hides the experts' all-to-all behind another micro-batch's computation.",
	  GROUP_OVERLAP, SWITCH(plan.ep_overlap), .applies = hides_ep, .both = true },
	{ "collective", "collective_algorithm", "collectives", "",
	  "One algorithm for every collective that it can run; the others use the "
	  "fastest that the software has.",
	  GROUP_OVERLAP, WORD(plan.collective, collective_words), .applies = has_peers,
	  .both = true },
	{ "shared_expert_overlap", "moe_shared_expert_overlap", "shared experts", "",
	  "Runs shared experts while routed tokens travel, which hides some of that.",
	  GROUP_OVERLAP, SWITCH(plan.shared_expert_overlap),
	  .applies = has_shared_experts },

	{ "moe_dispatcher", "moe_token_dispatcher_type", "dispatcher", "",
	  "How tokens travel to their experts and back.", GROUP_MOE,
	  WORD(plan.moe_dispatcher, dispatcher_words), .applies = has_experts },
	{ "moe_capacity", NULL, "capacity", "",
	  "Dropless keeps every token; drop discards tokens above an expert's "
	  "capacity; pad also fills experts up to it, in compute and traffic.",
	  GROUP_MOE, WORD(plan.moe_capacity, capacity_words), .applies = has_experts },
	{ "capacity_factor", "moe_expert_capacity_factor", "capacity factor", "",
	  "The most tokens that an expert accepts, as a multiple of the mean.",
	  GROUP_MOE, REAL(plan.capacity_factor, 0.1, 64, 1), .step = STEP_TENTH,
	  .applies = has_capacity },
	{ "imbalance", "moe_imbalance", "imbalance", "",
	  "Tokens on the busiest GPU over the mean; all others wait for it. Early in "
	  "training it can be several times the mean.",
	  GROUP_MOE, REAL(plan.imbalance, 1, 64, 1), .step = STEP_TENTH,
	  .applies = has_imbalance, .both = true },
	{ "grouped_gemm", "moe_grouped_gemm", "grouped GEMM", "",
	  "Runs all local experts in one kernel instead of one after the other.",
	  GROUP_MOE, SWITCH(plan.grouped_gemm), .applies = has_local_experts },
	{ "router_fusion", "moe_router_fusion", "router fusion", "",
	  "Fuses router scores, top-k and auxiliary-loss counts.", GROUP_MOE,
	  SWITCH(plan.router_fusion), .applies = has_experts },

	{ "gpus", "world_size", "GPUs", "", "GPUs (accelerators) that the job uses.",
	  GROUP_CLUSTER, COUNT(cluster.gpus, 1, MAX_GPUS), .step = STEP_SERIES },
	{ "gpus_per_node", NULL, "GPUs per node", "",
	  "GPUs that share one host and its network cards.", GROUP_CLUSTER,
	  COUNT(cluster.gpus_per_node, 1, 1024), .step = STEP_SERIES },
	{ "nvlink_domain", "domain", "fast domain", "GPUs",
	  "GPUs connected by the fastest links (NVLink, Infinity Fabric, HCCS).",
	  GROUP_CLUSTER, COUNT(cluster.link[LINK_DOMAIN].span, 1, MAX_GPUS),
	  .step = STEP_SERIES },
	{ "nvlink_gbs", "domain_gbs", "domain link", "GB/s",
	  "Bandwidth inside the fast domain, per GPU and direction.", GROUP_CLUSTER,
	  REAL(cluster.link[LINK_DOMAIN].bytes_per_second, 0.1, 1e5, 1e9),
	  .step = STEP_DOUBLE },
	{ "network_gbps_per_gpu", "network_gbps", "network", "Gb/s",
	  "Network bandwidth per GPU and direction.", GROUP_CLUSTER,
	  REAL(cluster.link[LINK_NETWORK].bytes_per_second, 0.1, 1e5, 1e9 / 8),
	  .step = STEP_DOUBLE },
	{ "in_network_reduction", "sharp", "SHARP", "",
	  "Network switches add up what passes through them: an all-reduce between "
	  "domains sends bytes once, not twice.",
	  GROUP_CLUSTER, SWITCH(cluster.link[LINK_NETWORK].in_network_reduction),
	  .applies = has_network },
	{ "leaf_gpus", NULL, "leaf switch", "GPUs",
	  "GPUs behind one leaf switch, above which the network is oversubscribed.",
	  GROUP_CLUSTER, COUNT(cluster.link[LINK_UPPER].span, 0, MAX_GPUS),
	  .step = STEP_SERIES, .zero = "none" },
	{ "oversubscription", NULL, "oversubscribed", "",
	  "Bandwidth below a leaf switch divided by the bandwidth above it.",
	  GROUP_CLUSTER, REAL(cluster.link[LINK_UPPER].oversubscription, 1, 64, 1),
	  .step = STEP_SERIES, .applies = has_upper_link },
	{ "gpu_memory_gib", "usable_gib", "GPU memory", "GiB",
	  "Memory of a GPU that a framework can use; less than nominal.", GROUP_CLUSTER,
	  REAL(cluster.accelerator.usable_bytes, 0.25, 4096, GIB),
	  .step = STEP_SERIES },
	{ "host_memory_gib", "host_gib_per_gpu", "host memory", "GiB",
	  "Host memory of a node per GPU, nominal.", GROUP_CLUSTER,
	  REAL(cluster.host_bytes_per_gpu, 0, 65536, GIB), .step = STEP_SERIES,
	  .zero = "unknown", .applies = has_offload },
	{ "scale", "calibration", "calibration", "",
	  "Measured over predicted step time of a run on this cluster; 1 means not "
	  "calibrated.",
	  GROUP_CLUSTER, REAL(cluster.scale, 0.1, 10, 1), .step = STEP_TENTH },
	{ "compute_scale", NULL, "kernels", "",
	  "Kernel time, measured over predicted, from runs on this cluster.",
	  GROUP_CLUSTER,
	  REAL(cluster.accelerator.calibration.compute_scale, 0.1, 10, 1),
	  .step = STEP_TENTH, .applies = is_training },
	{ "network_scale", NULL, "links", "",
	  "Transfer time per byte, measured over predicted, from runs on this cluster.",
	  GROUP_CLUSTER,
	  REAL(cluster.accelerator.calibration.network_scale, 0.1, 10, 1),
	  .step = STEP_TENTH, .applies = is_training },
	{ "host_scale", NULL, "hosts", "",
	  "CPU time (launches and fixed work), measured over predicted, from runs on "
	  "this cluster.",
	  GROUP_CLUSTER, REAL(cluster.accelerator.calibration.host_scale, 0.1, 10, 1),
	  .step = STEP_TENTH, .applies = is_training },

	{ "tokens", "training_tokens", "training run", "tokens",
	  "Tokens of the whole training run; 15T means 15e12.", GROUP_RUN,
	  REAL(plan.tokens, 1, 1e18, 1), .step = STEP_DECADE, .moves = "run_seconds" },
	{ "price", "price_per_gpu_hour", "price", "$/GPU-h",
	  "Dollars per GPU and hour.", GROUP_RUN,
	  REAL(cluster.price_per_gpu_hour, 0, 1e4, 1), .step = STEP_TENTH, .both = true,
	  .moves = "run_dollars" },
	{ "pue", NULL, "PUE", "",
	  "Power drawn by the whole data centre over power drawn by its machines.",
	  GROUP_RUN, REAL(cluster.pue, 1, 5, 1), .step = STEP_TENTH, .both = true,
	  .moves = "run_joules" },
	{ "grid_gco2_per_kwh", "grid_carbon", "grid CO2", "g/kWh",
	  "Grams of CO2 per kWh of the local grid: world 481, India 713, Norway 30 "
	  "(2023).",
	  GROUP_RUN, REAL(cluster.grid_grams_per_kwh, 0, 2000, 1), .step = STEP_SERIES,
	  .moves = "run_co2_grams" },
	{ "node_mtbf_hours", "mtbf", "node MTBF", "hours",
	  "Mean time between failures of one node.", GROUP_RUN,
	  REAL(cluster.node_mtbf_hours, 1, 1e9, 1), .step = STEP_DECADE,
	  .moves = "goodput" },
	{ "checkpoint_gbs", NULL, "checkpoint rate", "GB/s",
	  "Speed at which one node writes a checkpoint.", GROUP_RUN,
	  REAL(cluster.checkpoint_bytes_per_second, 0.001, 1e5, 1e9),
	  .step = STEP_DECADE, .moves = "goodput" },
	{ "restart_seconds", NULL, "restart", "s",
	  "Time lost on detecting a failure and restarting.", GROUP_RUN,
	  REAL(cluster.restart_seconds, 0, 1e6, 1), .step = STEP_DECADE,
	  .moves = "goodput" },
	{ "flops_convention", NULL, "FLOPs of scores", "",
	  "Whether attention FLOPs are counted for the causal half, or for the full "
	  "square as some papers do.",
	  GROUP_RUN, WORD(plan.flops_convention, flops_words) },

	{ "mode", NULL, "mode", "",
	  "Training or serving: switches workload, plan and metrics.", GROUP_SERVING,
	  WORD(plan.mode, mode_words), .both = true },
	{ "prompt", "prompt_len", "prompt", "tokens",
	  "Tokens in the prompt of the mean request, which prefill processes.",
	  GROUP_SERVING, COUNT(plan.serving.prompt_len, 1, MAX_SEQ),
	  .step = STEP_DOUBLE },
	{ "output", "output_len", "output", "tokens",
	  "Tokens generated for the mean request, one decode pass each.", GROUP_SERVING,
	  COUNT(plan.serving.output_len, 1, MAX_SEQ), .step = STEP_DOUBLE },
	{ "concurrency", "max_concurrency", "concurrency", "requests",
	  "Requests in flight over all engines; max fills the KV cache.", GROUP_SERVING,
	  COUNT(plan.serving.concurrency, 0, MAX_BATCH), .step = STEP_DOUBLE,
	  .zero = "max" },
	{ "request_rate", "requests_per_second", "request rate", "requests/s",
	  "Requests that arrive per second; the number in flight follows. Off keeps "
	  "the concurrency fixed.",
	  GROUP_SERVING, REAL(plan.serving.request_rate, 0, 1e6, 1),
	  .step = STEP_DECADE, .zero = "off" },
	{ "arrival_scv", NULL, "arrival SCV", "",
	  "How bursty arrivals are (squared coefficient of variation of the gaps): 0 "
	  "evenly spaced, 1 Poisson, above 1 bursts.",
	  GROUP_SERVING, REAL(plan.serving.arrival_scv, 0, 1000, 1), .step = STEP_TENTH,
	  .applies = has_rate },
	{ "length_shape", "length_distribution", "length shape", "",
	  "Distribution of prompt and output lengths: uniform about the mean, or "
	  "lognormal, where a few are very long.",
	  GROUP_SERVING, WORD(plan.serving.length_shape, length_words) },
	{ "length_spread", NULL, "length spread", "",
	  "Spread of lengths, as a share of the mean: half-width of the uniform, "
	  "standard deviation of the lognormal; 0: all equal.",
	  GROUP_SERVING, REAL(plan.serving.length_spread, 0, 10, 1),
	  .step = STEP_TENTH },
	{ "shared_prefix", NULL, "shared prefix", "",
	  "Share of the prompt common to all requests; a prefix cache skips it.",
	  GROUP_SERVING, REAL(plan.serving.shared_prefix, 0, 1, 1), .step = STEP_TENTH,
	  .applies = keeps_prefixes },
	{ "goal_ttft", "ttft_goal", "goal TTFT, ms", "ms",
	  "Longest acceptable time to the first token.", GROUP_SERVING,
	  REAL(plan.serving.goal_ttft_seconds, 0, 1e7, 1e-3), .step = STEP_DECADE,
	  .zero = "none" },
	{ "goal_tpot", "tpot_goal", "goal TPOT, ms", "ms",
	  "Longest acceptable time per output token.", GROUP_SERVING,
	  REAL(plan.serving.goal_tpot_seconds, 0, 1e6, 1e-3), .step = STEP_DECADE,
	  .zero = "none" },
	{ "goal_percentile", NULL, "goals of", "",
	  "Who must meet the goals when servers are searched: the mean request, or 99 "
	  "of 100, as found by a short simulation.",
	  GROUP_SERVING, WORD(plan.serving.goal_percentile, percentile_words) },
	{ "batching", NULL, "batching", "",
	  "Continuous: requests join and leave at any pass; static: a batch starts and "
	  "ends together.",
	  GROUP_SERVING, WORD(plan.serving.batching, batching_words) },
	{ "chunked_prefill", "enable_chunked_prefill", "chunked prefill", "",
	  "Splits prompts into chunks of the token budget, so that decoding continues "
	  "alongside them.",
	  GROUP_SERVING, SWITCH(plan.serving.chunked_prefill) },
	{ "host_overlap", "async_scheduling", "host overlap", "",
	  "The host schedules the next pass while the GPU runs this one (vLLM's async "
	  "scheduling, the overlap scheduler of SGLang and TensorRT-LLM).",
	  GROUP_SERVING, SWITCH(plan.serving.host_overlap),
	  .applies = has_hidden_host },
	{ "max_batched_tokens", "max_num_batched_tokens", "token budget", "tokens",
	  "The most tokens that one pass processes.", GROUP_SERVING,
	  COUNT(plan.serving.max_batched_tokens, 0, MAX_SEQ), .step = STEP_DOUBLE,
	  .zero = "auto" },
	{ "max_requests", "max_num_seqs", "request limit", "requests",
	  "The most requests that one copy of the attention runs at once.",
	  GROUP_SERVING, COUNT(plan.serving.max_requests, 0, MAX_BATCH),
	  .step = STEP_DOUBLE, .zero = "auto" },
	{ "receive_interval", "scheduler_recv_interval", "receive interval", "passes",
	  "Decode passes between two checks for new requests, which wait for the next "
	  "check (SGLang).",
	  GROUP_SERVING, COUNT(plan.serving.receive_interval, 1, 65536),
	  .step = STEP_DOUBLE, .applies = is_continuous },
	{ "batch_wait", "batch_wait_timeout_iters", "batch wait", "passes",
	  "The most passes that prompts wait for others, until nine tenths of a pass "
	  "are full (TensorRT-LLM).",
	  GROUP_SERVING, COUNT(plan.serving.batch_wait, 0, 65536), .step = STEP_DOUBLE,
	  .zero = "none", .applies = is_continuous },
	{ "dp_attention", "attention_dp", "DP attention", "",
	  "Copies of attention in one engine, each with its own requests and KV cache; "
	  "they share the experts.",
	  GROUP_SERVING, COUNT(plan.serving.dp_attention, 1, MAX_DEGREE),
	  .step = STEP_DEGREE, .applies = has_experts },
	{ "kv_shards", "decode_context_parallel_size", "KV shards", "",
	  "TP ranks that split one copy of the KV cache along the sequence.",
	  GROUP_SERVING, COUNT(plan.serving.kv_shards, 1, MAX_DEGREE),
	  .step = STEP_DEGREE, .applies = has_tp },
	{ "kv_precision", "kv_cache_dtype", "KV precision", "",
	  "Number format of the KV cache; auto is bf16.", GROUP_SERVING,
	  WORD(plan.serving.kv_precision, kv_words) },
	{ "kv_block", "block_size", "KV block", "tokens",
	  "Tokens per page of the KV cache.", GROUP_SERVING,
	  COUNT(plan.serving.kv_block, 1, 65536), .step = STEP_DOUBLE },
	{ "memory_share", "gpu_memory_utilization", "memory share", "",
	  "The server's memory share as it counts: vLLM of all memory, SGLang for "
	  "weights and cache, others for cache of the rest. auto: SGLang's own.",
	  GROUP_SERVING, REAL(plan.serving.memory_share, 0, 1, 1), .step = STEP_TENTH,
	  .zero = "auto" },
	{ "prefix_cache", "enable_prefix_caching", "prefix cache", "",
	  "Keeps the KV cache of prefixes that requests share.", GROUP_SERVING,
	  SWITCH(plan.serving.prefix_cache) },
	{ "redundant_experts", "num_redundant_experts", "spare experts", "",
	  "Extra copies of the busiest experts, to even out the load.", GROUP_SERVING,
	  COUNT(plan.serving.redundant_experts, 0, 4096), .step = STEP_SERIES,
	  .zero = "none", .applies = has_ep },
	{ "routing_skew", NULL, "routing skew", "",
	  "How uneven the experts' loads are (standard deviation over mean); the more "
	  "GPUs divide the experts, the more the busiest has.",
	  GROUP_SERVING, REAL(plan.serving.routing_skew, 0, 16, 1), .step = STEP_TENTH,
	  .applies = has_ep },
	{ "adapters", "max_loras", "LoRA adapters", "",
	  "LoRA adapters held at once, on the matrices of attention and dense MLPs; "
	  "requests use them in turn.",
	  GROUP_SERVING, COUNT(plan.serving.adapters, 0, 4096), .step = STEP_SERIES,
	  .zero = "none" },
	{ "adapter_rank", "max_lora_rank", "adapter rank", "",
	  "Largest rank that the server has room for in a LoRA adapter.", GROUP_SERVING,
	  COUNT(plan.serving.adapter_rank, 1, 4096), .step = STEP_SERIES,
	  .applies = has_adapters },
	{ "speculative", "spec_algo", "speculation", "",
	  "Drafts tokens with a small model, or with the model's own MTP layers, and "
	  "checks them in one pass.",
	  GROUP_SERVING, WORD(plan.serving.speculative, speculative_words) },
	{ "draft_tokens", "num_speculative_tokens", "draft tokens", "tokens",
	  "Tokens drafted before each checking pass.", GROUP_SERVING,
	  COUNT(plan.serving.draft_tokens, 0, 64), .step = STEP_ONE,
	  .applies = is_speculative },
	{ "acceptance", NULL, "acceptance", "",
	  "Share of drafted tokens that are accepted; less after an MTP layer's first. "
	  "Auto: 0.85 with MTP, 0.7 with a draft model.",
	  GROUP_SERVING, REAL(plan.serving.acceptance, 0, 1, 1), .step = STEP_TENTH,
	  .zero = "auto", .applies = is_speculative },
	{ "draft_cost", NULL, "draft cost", "",
	  "Time to draft one token over the time of a decode pass.", GROUP_SERVING,
	  REAL(plan.serving.draft_cost, 0, 1, 1), .step = STEP_TENTH,
	  .applies = is_speculative },
	{ "disaggregated", "disaggregation", "disaggregated", "",
	  "Prefill on separate GPUs; the KV cache is sent to the others.",
	  GROUP_SERVING, SWITCH(plan.serving.disaggregated) },
	{ "prefill_gpus", NULL, "prefill GPUs", "",
	  "GPUs that only prefill; auto is half of all.", GROUP_SERVING,
	  COUNT(plan.serving.prefill_gpus, 0, MAX_GPUS), .step = STEP_DEGREE,
	  .zero = "auto", .applies = is_disaggregated },
	{ "prefill_tp", NULL, "prefill TP", "", "TP of a prefill engine.",
	  GROUP_SERVING, COUNT(plan.serving.prefill_tp, 0, MAX_DEGREE),
	  .step = STEP_DEGREE, .zero = "same", .applies = is_disaggregated },
	{ "prefill_pp", NULL, "prefill PP", "", "PP of a prefill engine.",
	  GROUP_SERVING, COUNT(plan.serving.prefill_pp, 0, MAX_STAGES),
	  .step = STEP_DEGREE, .zero = "same", .applies = is_disaggregated },
	{ "prefill_ep", NULL, "prefill EP", "", "EP of a prefill engine.",
	  GROUP_SERVING, COUNT(plan.serving.prefill_ep, 0, MAX_DEGREE),
	  .step = STEP_DEGREE, .zero = "same", .applies = is_disaggregated_moe },
	{ "prefill_dp_attention", NULL, "prefill DP att.", "",
	  "Copies of attention in a prefill engine.", GROUP_SERVING,
	  COUNT(plan.serving.prefill_dp_attention, 0, MAX_DEGREE), .step = STEP_DEGREE,
	  .zero = "same", .applies = is_disaggregated_moe },
	{ "host_kv", "host_cache_size", "KV on host, GiB", "GiB",
	  "Host memory per GPU that keeps KV cache evicted from the GPU.",
	  GROUP_SERVING, REAL(plan.serving.host_kv_bytes, 0, 1e5, 1073741824.0),
	  .step = STEP_DECADE, .zero = "none" },
	{ "host_prefix", NULL, "prefix on host", "",
	  "Share of a prompt, after the shared prefix, whose KV cache is in host "
	  "memory: it is copied instead of computed.",
	  GROUP_SERVING, REAL(plan.serving.host_prefix, 0, 1, 1), .step = STEP_TENTH,
	  .applies = has_host_kv },
};

_Static_assert(sizeof knob_table / sizeof knob_table[0] <= MAX_KNOBS,
	       "who keeps one thing of each knob has room for MAX_KNOBS");

int knob_count(void)
{
	return (int)(sizeof knob_table / sizeof knob_table[0]);
}

const char *knob_group_label(enum knob_group group)
{
	static const char *const label[GROUP_COUNT] = {
		[GROUP_PARALLELISM] = "parallelism",
		[GROUP_BATCH] = "batch",
		[GROUP_PIPELINE] = "pipeline",
		[GROUP_MEMORY] = "memory",
		[GROUP_PRECISION] = "kernels",
		[GROUP_OVERLAP] = "overlap",
		[GROUP_MOE] = "experts",
		[GROUP_CLUSTER] = "cluster",
		[GROUP_RUN] = "the run",
		[GROUP_SERVING] = "serving",
	};

	return (unsigned)group < GROUP_COUNT ? label[group] : "";
}

bool knob_in_mode(const struct knob *knob, int mode)
{
	bool serves = knob->group == GROUP_SERVING;

	return knob->both || knob->group == GROUP_CLUSTER ||
	       serves == (mode == MODE_INFERENCE);
}

bool knob_applies(const struct scenario *scenario, const struct knob *knob)
{
	return knob_in_mode(knob, scenario->plan.mode) &&
	       (!knob->applies || knob->applies(scenario));
}
