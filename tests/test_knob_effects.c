/* test_knob_effects.c - what each knob of training does: to which number, in which
 * direction, by how much. Sizes follow by hand from the paper or the arithmetic that
 * the row names; where only a direction is sure, the bounds say how far it may go. */
#include <string.h>

#include "engine/knob/knob.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/effect.h"

enum { DENSE, MOE, MLA, HYBRID };

/* By a little or by much: rises from 0.01 % on, falls alike. */
#define RISES        TIMES, 1.0001, 1e6
#define FALLS        TIMES, 0, 0.9999
#define IS(ratio)    TIMES, (ratio), (ratio)
#define ADDS(amount) PLUS, (amount), (amount)

/* Llama-3 70B on TP 8: elements of the padded vocabulary, of a rank's part of a layer,
 * and of its part of the head with the final norm. */
#define VOCAB 129024.0
#define LAYER ((8192.0 * 10240 + 8192.0 * 8192 + 3 * 8192.0 * 28672) / 8 + 2 * 8192)
#define HEAD  (VOCAB / 8 * 8192 + 8192)
/* Bytes that a rank keeps of one micro-batch, eighths by SP and TP: of the hidden size;
 * of gate, up and what goes down; of a whole layer (four of the hidden size: its input,
 * both norms' outputs and the residual; Q, K, V; what attention gives; the three; the
 * softmax's fp32 sums of 64 heads). The first stage has 20 layers and 4 in flight. */
#define PART   (8192.0 * 2 / 8)
#define ROW    (8192 * PART)
#define WIDE   (3 * 28672 * PART)
#define KEPT   (4 * ROW + (10240 + 8192) * PART + WIDE + 8192.0 * 64 / 8 * 4)
#define EXPERT (3 * 4096.0 * 14336 * 2)

static const struct effect rows[] = {
	/* parallelism */
	{ DENSE, "", "tp", "8", "4", "tp.bytes", IS(3.0 / 7),
	  "half the micro-batches of (4 - 1)/4 in place of (8 - 1)/8" },
	{ DENSE, "", "tp", "8", "4", "weights_bytes", TIMES, 1.99, 2,
	  "twice the part of each matrix; norms are whole" },
	{ DENSE, "", "sp", "on", "off", "tp.bytes", TIMES, 0.79999, 0.80001,
	  "an all-reduce each way is 4 halves, SP with the input gathered again 5" },
	{ DENSE, "", "sp", "on", "off", "activations_bytes", ADDS(80 * 4 * 7 * ROW),
	  "Korthikanti 2022, table 2: norms and residuals whole on every rank" },
	{ DENSE, "", "pp", "4", "2", "pp.bytes", IS(1.0 / 3),
	  "one border in place of three, two stages share it, half the micro-batches" },
	{ DENSE, "", "pp", "4", "2", "weights_bytes", TIMES, 1.9, 2,
	  "40 layers a stage in place of 20" },
	{ DENSE, "", "vpp", "1", "5", "pp.bytes", IS(19.0 / 3),
	  "20 virtual stages have 19 borders, four have 3" },
	{ DENSE, "", "vpp", "1", "5", "bubble_ratio", TIMES, 0.1, 0.8,
	  "Narayanan 2021, section 2.2.2: the bubble divides by v, uneven ends stay" },
	{ DENSE, "", "cp", "1", "2", "activations_bytes", IS(0.5),
	  "half the tokens of each sequence on a rank" },
	{ DENSE, "", "cp", "1", "2", "cp.bytes", PLUS,
	  128 * 20.0 * 3 * 4096 * 2 * 128 * 2, 128 * 20.0 * 3 * 4096 * 2 * 128 * 2,
	  "a ring of two passes K and V of its head forward, and with gradients back" },
	{ DENSE, "cp=2", "cp_kind", "ring", "all-gather", "cp.bytes", IS(1),
	  "gathered twice and scattered once is what a ring of two passes" },
	{ DENSE, "tp=4 cp=2", "cp_kind", "ring", "ulysses", "cp.bytes", IS(3),
	  "half of (8 queries, 8 outputs, K, V) two ways, against 3 of K and V" },
	{ MOE, "", "ep", "8", "4", "ep.bytes", IS((3.0 / 4) / (7.0 / 8)),
	  "of 8 ranks 7 are others, of 4 three" },
	{ MOE, "", "ep", "8", "4", "weights_bytes", ADDS(16 * EXPERT),
	  "two experts on a rank, in each of 16 layers" },
	{ MOE, "ep=2 tp=4", "etp", "4", "1", "tp.bytes", FALLS,
	  "experts need no rows of other ranks" },
	{ MOE, "ep=2 tp=4", "etp", "4", "2", "weights_bytes",
	  ADDS(16 * 4 * (EXPERT / 2 - EXPERT / 4)),
	  "each of four experts on half as many ranks" },
	{ DENSE, "", "zero", "0", "1", "optimizer_bytes", IS(0.5),
	  "Rajbhandari 2020, section 5: shared out over two ranks" },
	{ DENSE, "", "zero", "1", "2", "gradients_bytes", IS(0.5), "the same" },
	{ DENSE, "", "zero", "2", "3", "weights_bytes", IS(0.5), "the same" },
	{ DENSE, "", "zero", "0", "1", "dp.bytes", IS((4.0 + 2) / (2 * 4)),
	  "an fp32 gradient scattered and a bf16 weight gathered, not 2 gradients" },
	{ DENSE, "pp=1 zero=3", "zero_group", "all", "2", "weights_bytes", IS(4),
	  "a set of shards on 2 ranks of 8" },
	{ DENSE, "pp=1 zero=3", "fsdp_reshard", "on", "off", "dp.bytes", IS(0.75),
	  "bf16 weights gathered once, not twice, and fp32 gradients scattered: 6 of "
	  "8" },
	{ DENSE, "pp=1 zero=3", "fsdp_prefetch", "1", "3", "buffers_bytes",
	  ADDS(2 * HEAD * 2), "two more of the largest layers in bf16" },

	/* batch */
	{ DENSE, "", "mbs", "1", "2", "activations_bytes", IS(2),
	  "as many micro-batches in flight, each twice as large" },
	{ DENSE, "", "mbs", "1", "2", "pp.bytes", IS(1),
	  "half as many, twice as large" },
	{ DENSE, "", "gbs", "128", "256", "tp.bytes", IS(2),
	  "twice the micro-batches" },
	{ DENSE, "", "gbs", "128", "256", "dp.bytes", IS(1), "once a step" },
	{ DENSE, "", "gbs", "128", "256", "bubble_ratio", TIMES, 0.5, 0.8,
	  "(p-1)/(m+p-1) halves with m = 128; what uneven ends wait for stays" },
	{ DENSE, "", "seq", "8k", "4k", "activations_bytes", IS(0.5), "tokens" },
	{ DENSE, "", "seq", "8k", "4k", "flops_per_token", PLUS,
	  -6.0 * 80 * 4096 * 64 * 128, -6.0 * 80 * 4096 * 64 * 128,
	  "6 L s heads head_dim of causal attention" },
	{ DENSE, "", "document_len", "off", "2k", "flops_per_token", PLUS,
	  -6.0 * 80 * 6144 * 64 * 128, -6.0 * 80 * 6144 * 64 * 128,
	  "6 L s heads head_dim, where s is a document's" },
	{ DENSE, "", "document_len", "off", "2k", "compute_seconds", TIMES, 0.8, 0.96,
	  "attention is a tenth of the step, three quarters of it go" },

	/* pipeline */
	{ DENSE, "", "schedule", "1f1b", "gpipe", "activations_bytes", TIMES, 16, 16.2,
	  "all 64 micro-batches in flight, not four, on the stage with the head too" },
	{ DENSE, "", "schedule", "1f1b", "zb-h1", "bubble_seconds", FALLS,
	  "Qi 2023, table 2: weight gradients fill the bubble" },
	{ DENSE, "vpp=5 schedule=interleaved", "micro_batch_group", "4", "8",
	  "activations_bytes", IS(39.0 / 23),
	  "more of one chunk before the next one's turn: 2 (p - 1) + (v - 1) g + 1" },
	{ DENSE, "", "split", "even", "balanced", "step_seconds", TIMES, 0.9, 1,
	  "the slowest stage has the head and gives layers away" },
	{ DENSE, "split=first-last", "first_stage_layers", "20", "17",
	  "activations_bytes", IS(63.0 / 80),
	  "the fullest is the second then: 3 micro-batches of 21 layers, not 4 of 20" },
	{ DENSE, "split=first-last", "last_stage_layers", "20", "23", "step_seconds",
	  TIMES, 1.05, 1.15, "three more layers beside the head" },
	{ DENSE, "schedule=zb-h2", "optimizer_sync", "barrier", "post-validation",
	  "step_seconds", FALLS, "Qi 2023, section 4: stages end one after the other" },

	/* memory */
	{ DENSE, "", "recompute", "none", "full", "activations_bytes",
	  ADDS(-79 * (KEPT - ROW)),
	  "a layer keeps its input, but for the one that is run again" },
	{ DENSE, "", "recompute", "none", "full", "tp.bytes", TIMES,
	  1125.0 / 805 - 1e-5, 1125.0 / 805 + 1e-5,
	  "two more of five in each of 160 halves of layers, not in the ends" },
	{ DENSE, "recompute=full", "recompute_layers", "all", "10", "recompute_seconds",
	  IS(0.5), "10 layers of 20" },
	{ DENSE, "recompute=selective", "recompute_modules", "core_attn", "mlp",
	  "activations_bytes", ADDS(-79 * WIDE),
	  "three ffn-wide tensors, where flash keeps none; one layer is run again" },
	{ DENSE, "recompute=selective", "remat_policy", "minimal", "save_qkv_proj",
	  "activations_bytes", FALLS, "of four products a layer keeps one" },
	{ DENSE, "recompute=selective", "remat_policy", "save_qkv_proj",
	  "qkv_proj_offloaded", "recompute_seconds", IS(1),
	  "the same runs again, wherever the rest is kept" },
	{ DENSE, "recompute=selective remat_policy=custom", "remat_kept", "none",
	  "mlp_in", "activations_bytes", RISES, "two ffn-wide tensors a layer" },
	{ DENSE, "recompute=selective remat_policy=custom remat_kept=mlp_in",
	  "remat_sent", "none", "mlp_in", "activations_bytes", FALLS,
	  "they wait on the host" },
	{ DENSE, "recompute=none pp=1", "offload_modules", "none", "attn_norm",
	  "activations_bytes", ADDS(-79 * 8192.0 * 8192 / 8 * 2),
	  "the norm's input, split by SP, of all 80 layers but the one at work" },
	{ DENSE, "recompute=none pp=1", "offload_modules", "none", "core_attn",
	  "activations_bytes", ADDS(-79 * 8192.0 * 10240 / 8 * 2),
	  "queries, keys and values of all 80 layers but the one at work" },
	{ DENSE, "recompute=none pp=1 offload_modules=attn_norm", "offload_share", "1",
	  "0.75", "activations_bytes", ADDS(19.75 * 8192.0 * 8192 / 8 * 2),
	  "a quarter of the groups of 80 layers stays, and less comes back" },
	{ DENSE, "", "optimizer", "adamw", "adamw-8bit", "optimizer_bytes",
	  IS(6.0 / 12), "Dettmers 2021: a byte for each moment; fp32 master weights" },
	{ DENSE, "", "optimizer", "adamw", "adamw-8bit", "optimizer_seconds", FALLS,
	  "fewer bytes of moments to read and write (test_update.c)" },
	{ DENSE, "", "optimizer", "sgd", "muon", "optimizer_seconds", RISES,
	  "products of its own beside as many bytes" },
	{ DENSE, "", "optimizer_offload", "0", "1", "optimizer_seconds", RISES,
	  "host memory is slower" },
	{ DENSE, "", "optimizer", "adamw", "adamw-bf16", "optimizer_bytes",
	  IS(8.0 / 12), "DeepSeek-V3, section 3.3.1: bf16 moments" },
	{ DENSE, "", "optimizer", "adamw", "adafactor", "optimizer_bytes", TIMES,
	  4.0 / 12, 4.1 / 12, "Shazeer 2018: rows and columns alone" },
	{ DENSE, "", "optimizer", "adamw", "muon", "optimizer_bytes", IS(8.0 / 12),
	  "Jordan 2024: one fp32 momentum" },
	{ DENSE, "", "optimizer", "adamw", "sgd", "optimizer_bytes", IS(8.0 / 12),
	  "one fp32 momentum" },
	{ DENSE, "", "master_weights", "fp32", "16-bit", "optimizer_bytes",
	  IS(10.0 / 12), "a copy in 16 bits in place of 32, moments as before" },
	{ DENSE, "", "master_weights", "fp32", "none", "optimizer_bytes", IS(8.0 / 12),
	  "the weight itself is stepped" },
	{ DENSE, "", "master_weights", "fp32", "rest", "optimizer_seconds", FALLS,
	  "fewer bytes to read and write" },
	{ DENSE, "", "optimizer_offload", "0", "0.5", "optimizer_bytes", IS(0.5),
	  "the other half is on the host" },
	{ DENSE, "", "optimizer_offload", "0.5", "1", "host.bytes", IS(2),
	  "as many gradients out and weights back" },
	{ DENSE, "", "activation_offload", "0", "0.5", "activations_bytes",
	  IS(0.5 + 0.5 / 80),
	  "the other half is on the host, but of the layer at work" },
	{ DENSE, "pp=1", "lora_rank", "16", "32", "optimizer_bytes", IS(2),
	  "Hu 2021, section 4.1: r (in + out) beside each matrix" },
	{ DENSE, "pp=1", "lora_rank", "16", "32", "dp.bytes", IS(2),
	  "adapters alone have gradients" },

	/* precision and kernels */
	{ DENSE, "", "precision", "bf16", "fp32", "weights_bytes", IS(2), "4 bytes" },
	{ DENSE, "", "precision", "bf16", "fp32", "optimizer_bytes", IS(8.0 / 12),
	  "the weights are their own masters" },
	{ DENSE, "", "precision", "bf16", "fp8", "step_seconds", TIMES, 0.5, 0.9,
	  "matrix products at twice the rate" },
	{ DENSE, "", "grad_dtype", "fp32", "bf16", "gradients_bytes", IS(0.5),
	  "2 bytes" },
	{ DENSE, "", "grad_dtype", "fp32", "bf16", "dp.bytes", IS((2.0 + 2) / (4 + 2)),
	  "scattered in 2 bytes, weights gathered in 2" },
	{ DENSE, "precision=fp8", "fp8_recipe", "delayed", "rowwise", "compute_seconds",
	  RISES, "every matrix in two layouts, maxima in passes of their own" },
	{ DENSE, "recompute=none", "attention_kernel", "flash2", "fused-softmax",
	  "activations_bytes", ADDS(80 * (8 * 8192.0 * 8192 * 2 - 8 * 8192.0 * 4)),
	  "s^2 scores of 8 heads are kept in 16 bits, and no sums" },
	{ DENSE, "", "attention_kernel", "flash2", "flash3", "compute_seconds", FALLS,
	  "the accelerator's shares: 0.75 of the peak, not 0.6" },
	{ DENSE, "", "fused_norms", "on", "off", "compute_seconds", RISES,
	  "3.5 passes over memory in place of one" },
	{ DENSE, "fused_norms=off", "compile", "off", "on", "compute_seconds", FALLS,
	  "the compiler fuses what is not" },
	{ DENSE, "", "cuda_graphs", "none", "full", "framework_bytes", ADDS(3e9),
	  "what the stack says that graphs take" },
	{ DENSE,
	  "cuda_graphs=partial gpu_memory_gib=500 host_binding=off mbs=1 seq=256",
	  "graph_scopes", "none", "attn+mlp", "step_seconds", FALLS,
	  "short layers wait for launches, of which captured parts need none" },
	{ MOE, "seq=128", "host_binding", "on", "off", "step_seconds", RISES,
	  "launches take half as long again" },
	{ DENSE, "recompute=none", "mlp_tiles", "1", "4", "activations_bytes",
	  ADDS(-(80 - 0.25) * WIDE),
	  "arXiv 2506.13996: the pieces keep their input alone, but for one" },
	{ DENSE, "pp=1 cross_entropy=chunked", "loss_tiles", "8", "16", "buffers_bytes",
	  ADDS(-6 * 8192 * VOCAB / 8 / 16),
	  "half of the logits, fp32 and a gradient of 16 bits" },
	{ DENSE, "pp=1", "cross_entropy", "plain", "fused", "buffers_bytes",
	  ADDS(-(8.0 - 6) * 8192 * VOCAB / 8),
	  "6 bytes a logit in place of the stack's 8" },
	{ DENSE, "pp=1", "vocab_parallel", "on", "off", "tp.bytes",
	  ADDS(16 * 7.0 / 8 * 8192 * (VOCAB * 2 - 2 * 3 * 4)),
	  "whole bf16 logits gathered, in place of three sums of a float a token" },
	{ DENSE, "pp=1", "vocab_parallel", "on", "off", "buffers_bytes",
	  ADDS(8.0 * 8192 * VOCAB * 7 / 8), "whole logits on each of 8 ranks" },
	{ DENSE, "pp=1", "vocab_parallel", "on", "off", "compute_seconds",
	  ADDS(16 * 2 * 12 * 8192 * VOCAB * 7 / 8 / (3.35e12 * 0.8)),
	  "the loss of all rows: 12 bytes a logit each way over memory" },

	{ DENSE, "precision=nvfp4", "fp4_rotation", "off", "on", "compute_seconds",
	  RISES, "a pass for maxima of what norms and activations wrote" },
	{ DENSE, "precision=nvfp4", "fp4_rounding", "off", "on", "compute_seconds",
	  RISES, "a kernel of one thread for each gradient" },
	{ DENSE, "precision=nvfp4", "fp4_squares", "on", "off", "optimizer_seconds",
	  RISES, "scales of both layouts are read and written once more" },
	{ DENSE, "precision=fp8", "wide_first", "none", "2", "compute_seconds", RISES,
	  "two of 20 layers of the first stage at half the rate" },
	{ DENSE, "precision=fp8", "wide_last", "none", "4", "step_seconds", RISES,
	  "the last stage has the head as well" },
	{ DENSE, "precision=fp8 zero=3", "weight_format", "wide", "fp8", "dp.bytes",
	  TIMES, 0.75, 0.76,
	  "weights are gathered in one byte, gradients scattered in four" },
	{ DENSE, "precision=fp8 pp=1", "weight_format", "wide", "both", "buffers_bytes",
	  RISES, "each weight of a layer once more in fp8, in two layouts" },
	{ DENSE, "precision=fp8 pp=1", "weight_format", "wide", "fp8", "weights_bytes",
	  TIMES, 0.5, 0.53, "one byte in place of two; embedding and head stay wide" },
	{ DENSE, "precision=nvfp4 pp=1", "weight_format", "wide", "fp4",
	  "weights_bytes", TIMES, 1.125 / 2, 0.59,
	  "half a byte and a sixteenth of a scale, in two layouts; the ends stay wide" },
	{ DENSE, "precision=nvfp4", "weight_format", "wide", "fp4", "dp.bytes", TIMES,
	  4.5 / 6, 0.8, "four bytes of a gradient, half a one of a weight for two" },
	{ DENSE, "pp=1", "frozen_layers", "none", "60", "gradients_bytes", TIMES, 0.25,
	  0.3, "a quarter of the layers, and the head" },
	{ DENSE, "pp=1", "frozen_layers", "none", "60", "compute_seconds", TIMES, 0.45,
	  0.6, "60 of 80 layers without two of three parts" },
	{ DENSE, "pp=1 frozen_layers=60", "frozen_head", "off", "on", "gradients_bytes",
	  PLUS, -4 * HEAD, -4 * HEAD, "its matrix and its norm" },
	{ DENSE, "lora_rank=16 pp=1", "frozen_format", "wide", "nf4", "weights_bytes",
	  TIMES, 0.25, 0.30,
	  "QLoRA, section 3: 4.127 bits in place of 16; embedding and head stay wide" },
	{ DENSE, "lora_rank=16 pp=1", "frozen_format", "nf4", "int4", "weights_bytes",
	  TIMES, 1.0, 4.15625 / 4.126, "4.156 bits in place of 4.127" },
	{ DENSE, "lora_rank=16 pp=1 precision=nvfp4", "frozen_format", "wide", "nvfp4",
	  "weights_bytes", TIMES, 1.125 / 2, 0.59,
	  "half a byte and a sixteenth of a scale, in two layouts; the ends stay wide" },
	{ DENSE, "lora_rank=16 pp=1", "frozen_format", "wide", "nvfp4", "weights_bytes",
	  TIMES, 0.5625 / 2, 0.33, "in one layout, which is written out" },
	{ DENSE, "lora_rank=16", "frozen_format", "wide", "nvfp4", "compute_seconds",
	  RISES, "each product's weights are written out in 16 bits first" },
	{ DENSE, "lora_rank=16", "frozen_format", "wide", "nf4", "compute_seconds",
	  RISES, "each product's weights are written out in 16 bits first" },
	{ DENSE, "lora_rank=16 recompute=none", "lora_targets", "all", "attention",
	  "activations_bytes", ADDS(-80 * (8192 * 8 + 28672) * PART),
	  "the MLP's inputs need not be kept, the first gathered from 8 ranks" },
	{ DENSE, "lora_rank=16", "lora_targets", "all", "attention", "gradients_bytes",
	  IS((8192 + 10240 / 8 + 8192 / 8 + 8192.0) /
	     (8192 + 10240 / 8 + 8192 / 8 + 8192.0 + 8192 + 57344 / 8 + 28672 / 8 +
	      8192.0)),
	  "Hu 2021, section 4.1: r (in + out), of two matrices in place of four" },
	{ DENSE, "lora_rank=16", "lora_targets", "attention", "qkv", "gradients_bytes",
	  IS((8192 + 10240 / 8.0) / (8192 + 10240 / 8 + 8192 / 8 + 8192.0)),
	  "r (in + out) of the first of attention's two" },
	{ DENSE, "lora_rank=16", "lora_exchange", "off", "on", "tp.bytes", FALLS,
	  "an eighth of an output each way in place of seven" },
	{ DENSE, "precision=fp8", "fp8_attention", "off", "on", "compute_seconds",
	  FALLS, "flash in fp8 takes three quarters of its time in bf16" },
	{ DENSE, "recompute=none pp=1", "fp8_gates", "off", "on", "activations_bytes",
	  ADDS(-80 * 8192.0 * 2 * 28672 / 8),
	  "a byte less of gate and up in each of 80 layers" },

	/* overlaps */
	{ DENSE, "", "overlap_grad_reduce", "on", "off", "dp.exposed_seconds", RISES,
	  "nothing hides the reduction" },
	{ DENSE, "", "overlap_param_gather", "on", "off", "dp.exposed_seconds", RISES,
	  "nothing hides the gather" },
	/* at TP 4 what is gathered again is over before its product's gradient */
	{ DENSE, "tp=4", "tp_overlap", "off", "on", "tp.exposed_seconds", TIMES, 0.29,
	  0.31, "the stack hides 0.7 of it" },
	{ DENSE, "tp=4", "async_tp", "off", "on", "tp.exposed_seconds", TIMES, 0.29,
	  0.31, "the same 0.7" },
	{ DENSE, "vpp=5", "overlap_p2p", "on", "off", "step_seconds", RISES,
	  "sends wait for each other" },
	{ MOE, "", "ep_overlap", "off", "on", "ep.exposed_seconds", FALLS,
	  "the stack hides a share behind computing" },
	{ MLA, "", "shared_expert_overlap", "off", "on", "ep.exposed_seconds", FALLS,
	  "shared experts compute meanwhile" },

	{ DENSE, "sp=off", "collective", "ring", "doubling", "tp.bytes",
	  IS(3 / (2 * 7.0 / 8)), "n lg 8 of an all-reduce, in place of 2(p-1)/p n" },

	/* experts */
	{ MOE, "", "moe_dispatcher", "alltoall", "allgather", "ep.bytes", IS(8.0 / 2),
	  "every token to all 8 ranks, not to its 2 experts" },
	{ MOE, "capacity_factor=0.5", "moe_capacity", "dropless", "drop", "ep.bytes",
	  IS(0.5), "half of the copies are dropped" },
	{ MOE, "moe_capacity=pad", "capacity_factor", "1", "2", "ep.bytes", IS(2),
	  "every expert gets twice the rows" },
	{ MOE, "", "imbalance", "1", "2", "ep.bytes", IS(1), "the mean sends as much" },
	{ MOE, "", "imbalance", "1", "2", "compute_seconds", RISES,
	  "the busiest rank works on twice the rows" },
	{ MOE, "ep=2", "grouped_gemm", "on", "off", "compute_seconds", RISES,
	  "four experts on a rank launch their own kernels" },

	{ MOE, "", "router_fusion", "off", "on", "compute_seconds", FALLS,
	  "41 small kernels less a layer and direction" },

	/* machine */
	{ DENSE, "", "gpus", "64", "128", "tp.bytes", IS(0.5),
	  "half the micro-batches" },
	{ DENSE, "", "gpus", "64", "128", "optimizer_bytes", IS(0.5),
	  "four ranks share" },
	{ DENSE, "", "gpus_per_node", "8", "4", "run_failures", TIMES, 1.9, 2.2,
	  "twice the nodes" },
	{ DENSE, "", "nvlink_domain", "8", "16", "dp.network_bytes", IS(0),
	  "two ranks 8 apart are in one domain" },
	{ DENSE, "", "nvlink_gbs", "450", "900", "tp.seconds", TIMES, 0.5, 0.7,
	  "transfers halve, latencies stay" },
	{ DENSE, "", "network_gbps_per_gpu", "400", "800", "dp.seconds", TIMES, 0.49,
	  0.6, "transfers halve, latencies stay" },
	{ DENSE, "gpus=256 zero=0", "in_network_reduction", "off", "on", "dp.bytes",
	  IS(8.0 / 14), "Graham 2020: a sum goes up once, not 2 (p - 1)/p times" },
	{ DENSE, "gpus=256 oversubscription=4", "leaf_gpus", "64", "8", "dp.seconds",
	  TIMES, 3.5, 4,
	  "no two replicas share a leaf: rings of all cross its border" },
	{ DENSE, "gpus=256 leaf_gpus=16", "oversubscription", "1", "4", "dp.seconds",
	  TIMES, 1.8, 2, "eight rings cross a border of four links" },
	{ DENSE, "", "gpu_memory_gib", "40", "80", "capacity_bytes", IS(2),
	  "as it says" },
	{ DENSE, "optimizer_offload=0.5", "host_memory_gib", "128", "256",
	  "host_capacity_bytes", IS(2), "as it says" },
	{ DENSE, "", "scale", "1", "1.25", "step_seconds", IS(1.25), "as it says" },
	{ DENSE, "", "compute_scale", "1", "1.25", "compute_seconds", TIMES, 1.2, 1.25,
	  "kernels, but not the gaps between them" },
	{ DENSE, "", "network_scale", "1", "1.25", "tp.seconds", TIMES, 1.1, 1.25,
	  "bytes, but not what starts a collective" },
	{ DENSE, "", "host_scale", "1", "1.25", "optimizer_seconds", RISES,
	  "what the CPU does in each step" },

	/* the run */
	{ DENSE, "", "tokens", "1T", "2T", "run_steps", TIMES, 1.99999, 2,
	  "whole steps" },
	{ DENSE, "", "price", "2", "3", "run_dollars", IS(1.5), "dollars an hour" },
	{ DENSE, "", "pue", "1.2", "1.5", "run_joules", IS(1.5 / 1.2), "of all power" },
	{ DENSE, "", "grid_gco2_per_kwh", "480", "24", "run_co2_grams", IS(24.0 / 480),
	  "grams of each kWh" },
	{ DENSE, "", "node_mtbf_hours", "20000", "10000", "run_failures", TIMES, 2, 2.1,
	  "twice as often, and the run takes longer" },
	{ DENSE, "", "checkpoint_gbs", "2", "4", "checkpoint_seconds", IS(0.5),
	  "bytes over the nodes' rate" },
	{ DENSE, "", "restart_seconds", "600", "1200", "goodput",
	  ADDS(-600 / (20000 * 3600.0 / 8)),
	  "600 s more lost at each failure of 8 nodes" },
	{ DENSE, "", "flops_convention", "causal", "full", "flops_per_token",
	  ADDS(6.0 * 80 * 8192 * 64 * 128), "the other half of the square" },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static void test_knobs_move_what_they_should(void **state)
{
	static void (*const begin[])(struct scenario *) = { [DENSE] = case_dense,
							    [MOE] = case_moe,
							    [MLA] = case_mla,
							    [HYBRID] = case_hybrid };

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		struct scenario s;

		begin[rows[i].scenario](&s);
		s.stack.ep_overlap = 0.8;
		s.stack.splits_adapters = true;
		s.stack.graph_bytes = s.stack.graph_pipelined_bytes = 3e9;
		s.cluster.accelerator.peak_flops[PRECISION_NVFP4] =
			4 * s.cluster.accelerator.peak_flops[PRECISION_BF16];
		/* what a framework refuses is no matter of what a knob does */
		s.stack.rules = 0;
		effect_check(&rows[i], &s);
	}
}

/* mode changes which numbers there are; test_knob_moves has the layout and what an even
 * split counts. */
static void test_every_knob_has_a_row(void **state)
{
	static const char *const apart[] = { "mode",
					     "layout",
					     "split_loss",
					     "split_embedding",
					     "scale_fusion", /* test_hosts.c */
					     NULL };

	(void)state;
	effect_all_turned(rows, ROWS, MODE_TRAINING, apart);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_knobs_move_what_they_should),
		cmocka_unit_test(test_every_knob_has_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
