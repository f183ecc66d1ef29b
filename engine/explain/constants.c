/* constants.c - the numbers of the presets that explanations end at. */
#include <stddef.h>

#include "engine/explain/constants.h"

#define AT(field, type)                     \
	(offsetof(struct scenario, field) + \
	 0 * sizeof(char[_Generic(((struct scenario *)0)->field, type : 1)]))
#define REAL(key, title, form, field)                              \
	{                                                          \
		key, title, form, CONSTANT_REAL, AT(field, double) \
	}
#define WHOLE(key, title, field)                                           \
	{                                                                  \
		key, title, FORM_COUNT, CONSTANT_WHOLE, AT(field, int64_t) \
	}
#define FLAG(key, title, field)                                        \
	{                                                              \
		key, title, FORM_COUNT, CONSTANT_FLAG, AT(field, bool) \
	}

#define OF_PROTOCOL(transport, protocol, member)                                       \
	cluster.accelerator.transports.row[TRANSPORT_##transport][PROTOCOL_##protocol] \
		.member
#define PROTOCOL(word, transport, protocol)                                         \
	REAL("cluster." word "_start_seconds", "Start of a collective's kernel",    \
	     FORM_SECONDS, OF_PROTOCOL(transport, protocol, start_seconds)),        \
		REAL("cluster." word "_hop_seconds", "A step inside the domain",    \
		     FORM_SECONDS, OF_PROTOCOL(transport, protocol, hop_seconds)),  \
		REAL("cluster." word "_peer_seconds", "Each peer at once",          \
		     FORM_SECONDS, OF_PROTOCOL(transport, protocol, peer_seconds)), \
		REAL("cluster." word "_share", "Share of the domain's plateau",     \
		     FORM_PERCENT, OF_PROTOCOL(transport, protocol, share)),        \
		REAL("cluster." word "_peer_share",                                 \
		     "Share of the plateau towards one peer", FORM_PERCENT,         \
		     OF_PROTOCOL(transport, protocol, peer_share)),

/* Of one kind of runs (accuracy.h). */
#define SPREAD(kind, part, side, word, what)                                \
	REAL("cluster.accuracy." word "." #part "_" #side, what, FORM_REAL, \
	     cluster.accuracy.part[kind].side)
#define SPREADS(kind, word)                                                           \
	SPREAD(kind, time, low, word, "A tenth of runs is faster, by this"),          \
		SPREAD(kind, time, high, word, "A tenth of runs is slower, by this"), \
		SPREAD(kind, memory, low, word,                                       \
		       "A tenth of runs needs less, by this"),                        \
		SPREAD(kind, memory, high, word,                                      \
		       "A tenth of runs needs more, by this"),

const struct constant explain_constants[] = {
	SPREADS(RUN_DENSE, "dense") SPREADS(RUN_EXPERTS, "experts")
		SPREADS(RUN_ADAPTERS, "adapters") SPREADS(RUN_UNMEASURED, "unmeasured")
			SPREADS(RUN_TORUS, "torus")
				WHOLE("model.layers", "Layers", model.layers),
	WHOLE("model.hidden", "Hidden size", model.hidden),
	WHOLE("model.vocab", "Vocabulary", model.vocab),
	WHOLE("model.max_positions", "Learned positions", model.max_positions),
	WHOLE("model.input_rows", "Rows of the layers' own inputs", model.input_rows),
	WHOLE("model.input_width", "Width of a layer's own input, 0 = none",
	      model.input_width),
	WHOLE("model.mtp_layers", "Layers that predict further tokens",
	      model.mtp_layers),
	FLAG("model.gated_mlp", "Whether an MLP has a gate", model.gated_mlp),
	FLAG("model.parallel_block", "Whether mixer and MLP stand side by side",
	     model.parallel_block),
	FLAG("model.shared_norm", "Whether they share a norm", model.shared_norm),
	FLAG("model.tied_embeddings", "Whether the head is the embedding's table",
	     model.tied_embeddings),
	FLAG("model.mlp_bias", "Whether an MLP has biases", model.mlp_bias),
	FLAG("model.embedding_norm", "Whether the embedding has a norm",
	     model.embedding_norm),
	FLAG("model.norm_bias", "Whether a norm has a bias", model.norm_bias),
	FLAG("model.head_bias", "Whether the head has a bias", model.head_bias),
	FLAG("model.post_norms", "Whether a norm follows each sub-layer",
	     model.post_norms),
	REAL("model.dropout", "Dropout", FORM_PERCENT, model.dropout),
	WHOLE("model.experts", "Experts of a layer", model.moe.experts),
	WHOLE("model.experts_per_token", "Experts per token",
	      model.moe.experts_per_token),
	WHOLE("model.expert_ffn", "Width of an expert", model.moe.expert_ffn),
	WHOLE("model.expert_latent", "Width of what experts take, 0 = hidden",
	      model.moe.expert_latent),
	WHOLE("model.shared_ffn", "Width of the shared experts", model.moe.shared_ffn),
	WHOLE("model.group_limit", "Groups of experts that a token may reach, 0 = all",
	      model.moe.group_limit),
	FLAG("model.shared_gate", "Whether shared experts have a gate",
	     model.moe.shared_gate),
	FLAG("model.router_bias", "Whether the router has a bias",
	     model.moe.router_bias),
	FLAG("model.expert_bias", "Whether experts have biases", model.moe.expert_bias),
	REAL("model.activation_limit",
	     "Beyond which what enters an expert's activation is clamped, 0 = not",
	     FORM_REAL, model.moe.activation_limit),
	WHOLE("model.ssm_inner", "Inner width of a state-space layer", model.ssm.inner),
	WHOLE("model.ssm_state", "State of it", model.ssm.state),
	WHOLE("model.ssm_heads", "Heads of it", model.ssm.heads),
	WHOLE("model.ssm_head_dim", "Width of such a head", model.ssm.head_dim),
	WHOLE("model.ssm_groups", "Groups of it", model.ssm.groups),
	WHOLE("model.ssm_conv", "Taps of its convolution", model.ssm.conv),
	WHOLE("model.ssm_chunk", "Tokens of its chunk", model.ssm.chunk),
	WHOLE("model.ssm_dt_rank", "Rank of its step", model.ssm.dt_rank),
	WHOLE("cluster.gpus_per_node", "Accelerators of a node", cluster.gpus_per_node),
	REAL("cluster.memory_bytes", "Memory as sold", FORM_BYTES,
	     cluster.accelerator.memory_bytes),
	REAL("cluster.usable_bytes", "What a framework can allocate", FORM_BYTES,
	     cluster.accelerator.usable_bytes),
	REAL("cluster.memory_bytes_per_second", "Memory bandwidth, bytes/s",
	     FORM_TRAFFIC, cluster.accelerator.memory_bytes_per_second),
	REAL("cluster.host_bytes_per_second", "Host link, bytes/s each way",
	     FORM_TRAFFIC, cluster.accelerator.host_bytes_per_second),
	REAL("cluster.tdp_watts", "Power of a GPU that computes, watts", FORM_REAL,
	     cluster.accelerator.tdp_watts),
	REAL("cluster.idle_watts", "Power of a GPU that waits, watts", FORM_REAL,
	     cluster.accelerator.idle_watts),
	WHOLE("cluster.cores", "Cores that take a tile each",
	      cluster.accelerator.cores),
	REAL("cluster.unaligned_efficiency", "Share of a GEMM's rate with odd widths",
	     FORM_PERCENT, cluster.accelerator.calibration.unaligned_efficiency),
	REAL("cluster.narrow_head_efficiency",
	     "Share of flash attention's rate with narrow heads", FORM_PERCENT,
	     cluster.accelerator.calibration.narrow_head_efficiency),
	REAL("cluster.fp8_attention_gain", "Flash attention in fp8 over bf16",
	     FORM_REAL, cluster.accelerator.calibration.fp8_attention_gain),
	REAL("cluster.attention_half_seq",
	     "Tokens at which flash attention reaches half of its rate", FORM_REAL,
	     cluster.accelerator.calibration.attention_half_seq),
	REAL("cluster.memory_efficiency", "Share of memory bandwidth that is reached",
	     FORM_PERCENT, cluster.accelerator.calibration.memory_efficiency),
	REAL("cluster.kernel_seconds", "Fixed time of a kernel", FORM_SECONDS,
	     cluster.accelerator.calibration.kernel_seconds),
	REAL("cluster.tail_share", "Share of what idle cores of a GEMM cost",
	     FORM_PERCENT, cluster.accelerator.calibration.tail_share),
	REAL("cluster.launch_seconds", "CPU time of launching a kernel", FORM_SECONDS,
	     cluster.launch_seconds),
	REAL("cluster.step_seconds", "Fixed time of an optimizer step", FORM_SECONDS,
	     cluster.accelerator.calibration.step_seconds),
	FLAG("cluster.unmeasured", "Whether nobody measured training on it",
	     cluster.accelerator.calibration.unmeasured),
	REAL("cluster.serving_roofline_exponent", "How computing and reading join",
	     FORM_REAL, cluster.accelerator.calibration.serving.roofline_exponent),
	REAL("cluster.serving_kernel_seconds", "Fixed time of a GEMM", FORM_SECONDS,
	     cluster.accelerator.calibration.serving.kernel_seconds),
	REAL("cluster.serving_small_kernel_seconds", "Fixed time of a small kernel",
	     FORM_SECONDS,
	     cluster.accelerator.calibration.serving.small_kernel_seconds),
	REAL("cluster.serving_elementwise_efficiency",
	     "Share of memory bandwidth of small kernels", FORM_PERCENT,
	     cluster.accelerator.calibration.serving.elementwise_efficiency),
	REAL("cluster.serving_attention_efficiency",
	     "Share of the peak of prompt attention", FORM_PERCENT,
	     cluster.accelerator.calibration.serving.attention_efficiency),
	REAL("cluster.serving_attention_fixed_seconds",
	     "Fixed time of prompt attention", FORM_SECONDS,
	     cluster.accelerator.calibration.serving.attention_fixed_seconds),
	REAL("cluster.serving_kv_efficiency",
	     "Share of memory bandwidth that reads a cache", FORM_PERCENT,
	     cluster.accelerator.calibration.serving.kv_efficiency),
	REAL("cluster.serving_kv_efficiency_fp8", "The same of a cache in fp8",
	     FORM_PERCENT, cluster.accelerator.calibration.serving.kv_efficiency_fp8),
	REAL("cluster.serving_decode_fixed_seconds", "Fixed time of decode attention",
	     FORM_SECONDS,
	     cluster.accelerator.calibration.serving.decode_fixed_seconds),
	REAL("cluster.serving_latent_efficiency", "Share of the peak over latents",
	     FORM_PERCENT, cluster.accelerator.calibration.serving.latent_efficiency),
	REAL("cluster.serving_grouped_stream_efficiency",
	     "Share of reading weights, of experts", FORM_PERCENT,
	     cluster.accelerator.calibration.serving.grouped_stream_efficiency),
	REAL("cluster.serving_grouped_fixed_seconds", "Fixed time of routing",
	     FORM_SECONDS,
	     cluster.accelerator.calibration.serving.grouped_fixed_seconds),
	REAL("cluster.serving_all_to_all_seconds",
	     "Latency of an all-to-all in the domain", FORM_SECONDS,
	     cluster.accelerator.calibration.serving.all_to_all_seconds),
	MEASURED_PROTOCOLS(PROTOCOL)
		REAL("cluster.copy_share", "Rate of a copy over the plateau", FORM_REAL,
		     cluster.accelerator.transports.copy_share),
	REAL("cluster.collective_share",
	     "Share of the domain's plateau that a step reaches", FORM_PERCENT,
	     cluster.accelerator.calibration.collective_share),
	REAL("cluster.domain_bytes_per_second", "Fast domain, bytes/s each way",
	     FORM_TRAFFIC, cluster.link[LINK_DOMAIN].bytes_per_second),
	REAL("cluster.domain_efficiency", "Share of the domain that is reached",
	     FORM_PERCENT, cluster.link[LINK_DOMAIN].efficiency),
	REAL("cluster.domain_latency_seconds", "Latency of a hop in the domain",
	     FORM_SECONDS, cluster.link[LINK_DOMAIN].latency_seconds),
	REAL("cluster.network_bytes_per_second",
	     "Network of an accelerator, bytes/s each way", FORM_TRAFFIC,
	     cluster.link[LINK_NETWORK].bytes_per_second),
	REAL("cluster.network_efficiency", "Share of the network that is reached",
	     FORM_PERCENT, cluster.link[LINK_NETWORK].efficiency),
	REAL("cluster.network_latency_seconds", "Latency of a hop in the network",
	     FORM_SECONDS, cluster.link[LINK_NETWORK].latency_seconds),
	REAL("cluster.oversubscription", "Oversubscription above a leaf", FORM_REAL,
	     cluster.link[LINK_UPPER].oversubscription),
	REAL("cluster.price_per_gpu_hour", "Price of a GPU-hour", FORM_DOLLARS,
	     cluster.price_per_gpu_hour),
	REAL("cluster.host_watts_per_gpu", "CPU, NIC, fans and switches per GPU, watts",
	     FORM_REAL, cluster.host_watts_per_gpu),
	REAL("cluster.host_bytes_per_gpu", "Host memory for a GPU", FORM_BYTES,
	     cluster.host_bytes_per_gpu),
	REAL("cluster.host_memory_bytes_per_second",
	     "Bytes per second of a GPU's share of host memory, nominal", FORM_TRAFFIC,
	     cluster.host_memory_bytes_per_second),
	REAL("cluster.pue", "Power of the building over that of its machines",
	     FORM_REAL, cluster.pue),
	REAL("cluster.grid_grams_per_kwh", "CO2 of a kWh of the grid, grams", FORM_REAL,
	     cluster.grid_grams_per_kwh),
	REAL("cluster.node_mtbf_hours", "Hours between failures of a node", FORM_REAL,
	     cluster.node_mtbf_hours),
	REAL("cluster.checkpoint_bytes_per_second", "Storage of a node, bytes/s",
	     FORM_TRAFFIC, cluster.checkpoint_bytes_per_second),
	REAL("cluster.restart_seconds", "Time of a restart", FORM_DATE,
	     cluster.restart_seconds),
	WHOLE("stack.vocab_multiple", "Multiple that the vocabulary is padded to",
	      stack.vocab_multiple),
	REAL("stack.operator_launches", "CPU time of an operator, in launches",
	     FORM_REAL, stack.operator_launches),
	REAL("stack.kernel_gap_seconds", "Gap between kernels", FORM_SECONDS,
	     stack.kernel_gap_seconds),
	REAL("stack.dp_overlap", "Share of DP traffic that is hidden", FORM_PERCENT,
	     stack.dp_overlap),
	REAL("stack.tp_overlap", "Share of TP traffic that is hidden, with TP overlap",
	     FORM_PERCENT, stack.tp_overlap),
	REAL("stack.tp_grad_overlap", "Share of the weight gradient beside TP traffic",
	     FORM_PERCENT, stack.tp_grad_overlap),
	REAL("stack.sync_calls_per_layer", "DP collectives of a layer", FORM_REAL,
	     stack.sync_calls_per_layer),
	REAL("stack.layer_step_seconds", "CPU time of the optimizer for a layer",
	     FORM_SECONDS, stack.layer_step_seconds),
	REAL("stack.unfused_passes", "Memory passes of an unfused norm", FORM_REAL,
	     stack.unfused_passes),
	REAL("stack.ep_overlap", "Share of EP traffic that is hidden, with EP overlap",
	     FORM_PERCENT, stack.ep_overlap),
	REAL("stack.network_efficiency",
	     "Share of the network that the stack makes use of", FORM_PERCENT,
	     stack.network_efficiency),
	REAL("stack.context_bytes", "Context and libraries", FORM_BYTES,
	     stack.context_bytes),
	REAL("stack.communicator_bytes", "A communicator", FORM_BYTES,
	     stack.communicator_bytes),
	REAL("stack.graph_bytes", "Captured graphs", FORM_BYTES, stack.graph_bytes),
	REAL("stack.graph_pipelined_bytes", "Captured graphs, with PP", FORM_BYTES,
	     stack.graph_pipelined_bytes),
	REAL("stack.fragmentation", "Reserved over allocated", FORM_REAL,
	     stack.fragmentation),
	REAL("stack.logit_bytes", "Bytes of a logit at the loss's peak", FORM_REAL,
	     stack.logit_bytes),
	REAL("stack.parallel_logit_bytes", "The same where TP shards the vocabulary",
	     FORM_REAL, stack.parallel_logit_bytes),
	REAL("stack.saved_ffn_copies", "Wide tensors that an unfused activation keeps",
	     FORM_REAL, stack.saved_ffn_copies),
	REAL("stack.saved_head_copies",
	     "Copies of queries, keys and values that are kept", FORM_REAL,
	     stack.saved_head_copies),
	REAL("stack.saved_gather_shards", "Parts of a gathered input that are kept",
	     FORM_REAL, stack.saved_gather_shards),
	REAL("stack.sync_copy_bytes", "Bytes of 16-bit gradients beside the sum",
	     FORM_REAL, stack.sync_copy_bytes),
	REAL("stack.piped_logit_bytes", "Bytes of a logit until the step ends, with PP",
	     FORM_REAL, stack.piped_logit_bytes),
	REAL("stack.old_logit_bytes", "Bytes of a logit of the micro-batch before",
	     FORM_REAL, stack.old_logit_bytes),
	REAL("stack.compiled_logit_bytes",
	     "Bytes of a logit of a compiled loss, at most", FORM_REAL,
	     stack.compiled_logit_bytes),
	REAL("stack.serving_iteration_seconds", "Host time of a pass", FORM_SECONDS,
	     stack.serving.iteration_seconds),
	REAL("stack.serving_request_seconds", "Host time of each request in a pass",
	     FORM_SECONDS, stack.serving.request_seconds),
	REAL("stack.serving_prompt_seconds",
	     "Host time of a request before its first pass", FORM_SECONDS,
	     stack.serving.prompt_seconds),
	WHOLE("stack.serving_small_requests", "Requests of a copy on a small GPU",
	      stack.serving.small_requests),
	WHOLE("stack.serving_small_batched_tokens", "Tokens of a pass on a small GPU",
	      stack.serving.small_batched_tokens),
	WHOLE("stack.serving_large_batched_tokens", "Tokens of a pass on a large GPU",
	      stack.serving.large_batched_tokens),
	REAL("stack.serving_small_kernels", "Small kernels of a layer", FORM_REAL,
	     stack.serving.small_kernels),
	REAL("stack.serving_quantise_kernels", "Kernels that quantise, of a layer",
	     FORM_REAL, stack.serving.quantise_kernels),
	REAL("stack.serving_prefill_efficiency",
	     "Share of the rates in passes over prompts", FORM_PERCENT,
	     stack.serving.prefill_efficiency),
	REAL("stack.serving_layer_cpu_seconds", "CPU time of launching a layer",
	     FORM_SECONDS, stack.serving.layer_cpu_seconds),
	REAL("stack.serving_expert_cpu_seconds", "CPU time of launching experts",
	     FORM_SECONDS, stack.serving.expert_cpu_seconds),
	REAL("stack.serving_other_bytes", "Context, libraries and graphs of a server",
	     FORM_BYTES, stack.serving.other_bytes),
	REAL("stack.serving_logit_bytes", "Bytes of a logit at the peak of sampling",
	     FORM_REAL, stack.serving.logit_bytes),
	REAL("stack.serving_activation_copies", "Hidden-wide tensors of a token",
	     FORM_REAL, stack.serving.activation_copies),
	REAL("stack.serving_kept_reduces", "All-reduces of a layer that a pass keeps",
	     FORM_REAL, stack.serving.kept_reduces),
	WHOLE("stack.serving_max_requests", "Requests of a copy, by the stack",
	      stack.serving.max_requests),
	WHOLE("stack.serving_max_batched_tokens", "Tokens of a pass, by the stack",
	      stack.serving.max_batched_tokens),
	FLAG("stack.splits_master", "Whether a master weight is the rest of the weight",
	     stack.splits_master),
	FLAG("stack.splits_adapters", "Whether TP splits both matrices of an adapter",
	     stack.splits_adapters),
	FLAG("stack.serving_mixes", "Whether prompts and requests share a pass",
	     stack.serving.mixes),
	FLAG("stack.serving_reserves",
	     "Whether a request is let in with all its output", stack.serving.reserves),
	REAL("stack.serving_expects", "Share of outputs to come that has to fit",
	     FORM_PERCENT, stack.serving.expects),
	REAL("stack.serving_expects_least", "The same at the least", FORM_PERCENT,
	     stack.serving.expects_least),
	REAL("stack.serving_expects_ahead",
	     "Tokens expected of each beyond what is written", FORM_REAL,
	     stack.serving.expects_ahead),
	WHOLE("stack.serving_expects_passes",
	      "Decode passes until the least is expected",
	      stack.serving.expects_passes),
	FLAG("stack.serving_narrow_kv",
	     "Whether the cache is in fp8 beside fp8 weights", stack.serving.narrow_kv),
	{ 0 },
};

/* Of a layer kind, behind "model.kinds.0.". */
#define OF_KIND(field, title)                                        \
	{                                                            \
#field, title, FORM_COUNT, CONSTANT_WHOLE,           \
			offsetof(struct layer_kind, attention.field) \
	}
#define FLAG_OF_KIND(field, title)                                   \
	{                                                            \
#field, title, FORM_COUNT, CONSTANT_FLAG,            \
			offsetof(struct layer_kind, attention.field) \
	}

const struct constant explain_kind_constants[] = {
	OF_KIND(heads, "Heads"),
	OF_KIND(kv_heads, "Heads of keys and values"),
	OF_KIND(head_dim, "Width of a head"),
	OF_KIND(value_dim, "Width of a value head"),
	OF_KIND(window, "Tokens that a token sees back, 0 = all"),
	OF_KIND(query_rank, "Width of the query latent, 0 = none"),
	OF_KIND(kv_rank, "Width of the latent of keys and values"),
	OF_KIND(nope_dim, "Width of a head without positions"),
	OF_KIND(rope_dim, "Width of a head with positions"),
	OF_KIND(index_heads, "Heads of the indexer, 0 = none"),
	OF_KIND(index_dim, "Width of a head of the indexer"),
	OF_KIND(index_topk, "Entries that the indexer picks, 0 = all"),
	OF_KIND(compress, "Tokens of a compressed entry, 0 = none"),
	OF_KIND(output_rank, "Rank of a group's output, 0 = one matrix"),
	OF_KIND(output_groups, "Groups of heads of such an output"),
	FLAG_OF_KIND(shared_kv, "Whether a key is its value"),
	FLAG_OF_KIND(borrowed_kv, "Whether keys and values are an earlier layer's"),
	FLAG_OF_KIND(qkv_bias, "Whether queries, keys and values have biases"),
	FLAG_OF_KIND(output_bias, "Whether the output has a bias"),
	FLAG_OF_KIND(qk_norm, "Whether queries and keys have norms"),
	FLAG_OF_KIND(sinks, "Whether heads have sinks"),
	FLAG_OF_KIND(output_gate, "Whether the output has a gate"),
	{ "ffn", "Width of the MLP", FORM_COUNT, CONSTANT_WHOLE,
	  offsetof(struct layer_kind, ffn) },
	{ 0 },
};

#define ARRAY(key, title, form, words, field)                                \
	{                                                                    \
		key, title, form, words,                                     \
			offsetof(struct scenario, cluster.accelerator.field) \
	}

const struct constant_array explain_arrays[] = {
	ARRAY("cluster.peak_flops.", "Dense peak, FLOP/s", FORM_FLOPS, "precision",
	      peak_flops),
	ARRAY("cluster.gemm_efficiency.", "Share of the peak that large GEMMs reach",
	      FORM_PERCENT, "precision", calibration.gemm_efficiency),
	ARRAY("cluster.attention_efficiency.",
	      "Share of the peak that attention reaches", FORM_PERCENT,
	      "attention_kernel", calibration.attention_efficiency),
	ARRAY("cluster.serving_gemm_efficiency.", "Share of the peak, serving",
	      FORM_PERCENT, "precision", calibration.serving.gemm_efficiency),
	ARRAY("cluster.serving_grouped_gemm_efficiency.",
	      "Share of a GEMM's rate, of experts", FORM_PERCENT, "precision",
	      calibration.serving.grouped_gemm_efficiency),
	ARRAY("cluster.serving_stream_efficiency.", "Share of memory, reading weights",
	      FORM_PERCENT, "precision", calibration.serving.stream_efficiency),
	{ 0 },
};
