/* serving.h - what is served, to whom, and how? The inference part of a plan, of the
 * calibration of an accelerator and of a stack.
 *
 * Degrees that training has too (TP, PP, EP, CP, ETP) are the plan's. An engine is
 * tp x dp_attention x cp x pp accelerators; a cluster runs as many as fit side by side.
 */
#ifndef ENGINE_MACHINE_SERVING_H
#define ENGINE_MACHINE_SERVING_H

#include <stdbool.h>
#include <stdint.h>

enum plan_mode { MODE_TRAINING, MODE_INFERENCE, MODE_COUNT };
enum batching { BATCHING_CONTINUOUS, BATCHING_STATIC, BATCHING_COUNT };

enum length_shape { LENGTH_UNIFORM, LENGTH_LOGNORMAL, LENGTH_SHAPE_COUNT };

enum goal_percentile { GOAL_MEAN, GOAL_P99, GOAL_PERCENTILE_COUNT };

enum kv_precision { KV_AUTO, KV_BF16, KV_FP8, KV_INT8, KV_FP4, KV_PRECISION_COUNT };

enum speculative {
	SPECULATIVE_OFF,
	SPECULATIVE_DRAFT, /* a small model of its own */
	SPECULATIVE_MTP,   /* the model's own MTP layers */
	SPECULATIVE_COUNT
};

struct serving_plan {
	/* workload */
	int64_t prompt_len, output_len; /* tokens of the mean request */
	int64_t concurrency;            /* requests in flight, all engines; 0 = as many
					   as fit */
	double request_rate;            /* requests a second; 0 = concurrency is held */
	double arrival_scv;   /* squared coefficient of variation of the times between
				 arrivals at a rate: 0 evenly, 1 Poisson, more in bursts
			       */
	int length_shape;     /* enum length_shape */
	double length_spread; /* of prompt and output, over their mean: on both sides
				 where they lie evenly, the standard deviation of a
				 lognormal */
	double shared_prefix; /* share of the prompt that requests have in
				 common */
	double goal_ttft_seconds, goal_tpot_seconds; /* 0 = none */
	int goal_percentile; /* enum goal_percentile: who has to keep them */
	/* engine */
	int64_t dp_attention; /* copies of the attention that share the experts */
	int64_t kv_shards;    /* TP ranks that share out one copy of the KV cache along
				 the sequence (decode context parallel) */
	int kv_precision, batching;
	bool chunked_prefill; /* prompts are cut and ride with decoding requests */
	bool host_overlap;    /* the host prepares the next pass while this one runs */
	int64_t max_batched_tokens; /* of one pass; 0 = by the stack */
	int64_t max_requests;       /* of one engine; 0 = by the stack */
	int64_t receive_interval;   /* decode passes between two looks for requests */
	int64_t batch_wait;         /* passes that prompts wait for more, at most */
	int64_t kv_block;           /* tokens of a KV page */
	double memory_share;  /* by the stack's meaning, enum share_meaning; 0 = as
				 it is by itself */
	bool prefix_cache;    /* a shared prefix is computed once */
	double host_kv_bytes; /* of each GPU's host memory, for its cache */
	double host_prefix; /* share of a prompt, behind what is shared, that lies there
			     */
	int64_t redundant_experts; /* further copies of the busiest ones, per layer */
	double routing_skew;  /* deviation of the experts' loads, over their mean */
	int64_t adapters;     /* LoRA adapters that a server holds at once; 0 = none */
	int64_t adapter_rank; /* and the rank that it has room for in each */
	/* speculation */
	int speculative;
	int64_t draft_tokens;
	double acceptance; /* of each drafted token; 0 = as published */
	double draft_cost; /* one draft token over one decode pass */
	/* prefill on GPUs of its own */
	bool disaggregated;
	int64_t prefill_gpus, prefill_tp, prefill_pp, prefill_ep, prefill_dp_attention;
};

/* Shares of the datasheet's rates that serving kernels reach, and fixed times inside a
 * captured graph. Arrays by enum precision; 0 = as bf16, and where that has none, all
 * of the datasheet's. A cluster that is read from a file has them all. */
enum { SERVING_PRECISIONS = 10 };

struct serving_calibration {
	double gemm_efficiency[SERVING_PRECISIONS];   /* of the dense peak */
	double stream_efficiency[SERVING_PRECISIONS]; /* of memory, reading weights */
	double roofline_exponent;    /* how the two bounds join: (a^p + b^p)^(1/p) */
	double kernel_seconds;       /* of a GEMM */
	double small_kernel_seconds; /* of a norm or another elementwise kernel */
	double elementwise_efficiency;
	double attention_efficiency;    /* prefill, of the bf16 peak */
	double attention_fixed_seconds; /* of one prefill attention kernel */
	double kv_efficiency;           /* of memory, reading a KV cache */
	double kv_efficiency_fp8;
	double decode_fixed_seconds; /* of one decode attention kernel */
	double latent_efficiency;    /* decode over MLA latents, of the bf16 peak */
	/* of the GEMM's, for experts in the precision that is stored: of 16-bit
	 * products where that is unpacked */
	double grouped_gemm_efficiency[SERVING_PRECISIONS];
	double grouped_stream_efficiency; /* of the GEMM's */
	double grouped_fixed_seconds;     /* routing, sorting, combining of one layer */
	double all_to_all_seconds;        /* start of a dispatch to experts */
	/* some of them are those of other accelerators, as its file has none */
	bool assumed;
	bool unfitted; /* to no run of a server on it */
};

/* What a server's memory share is a share of. */
enum share_meaning {
	SHARE_OF_REST, /* of what weights and buffers leave: the cache takes it */
	SHARE_OF_GPU,  /* of the whole GPU: what is held counts too (vLLM) */
	SHARE_STATIC,  /* of what libraries leave: weights and cache (SGLang) */
	SHARE_MEANING_COUNT
};

/* With which kernels a server reduces inside a domain where they are quicker than
 * NCCL's. */
enum reduction_kernels {
	REDUCES_NCCL,     /* none of its own */
	REDUCES_VLLM,     /* one-shot and two-shot (csrc/custom_all_reduce.cuh) */
	REDUCES_TENSORRT, /* one-shot with flags in the data */
	REDUCTION_KERNELS
};

/* What a person can't switch about a server. */
struct serving_stack {
	double iteration_seconds;  /* host time of a pass that nothing hides */
	double request_seconds;    /* and of each request in it */
	double overlapped_seconds; /* of each, what host_overlap hides behind the GPU */
	double prompt_seconds;     /* host time of one request before its first pass */
	double small_kernels;      /* short kernels of a dense layer */
	double quantise_kernels;   /* more of them where activations are quantised */
	double mxfp4_rows;         /* multiple of an expert's rows in mxfp4; 0 = 64 */
	double prefill_efficiency; /* of the calibrated rates in passes over prompts */
	double layer_cpu_seconds;  /* launching a layer of an uncaptured pass */
	double expert_cpu_seconds; /* the same of a layer with experts */
	bool mixes;                /* prompts and decoding requests share a pass */
	bool flash2; /* attends to prompts with FlashAttention 2's kernels, on any GPU
		      */
	bool narrow_kv;      /* KV precision auto: fp8 beside fp8 and fp4 weights */
	bool reserves;       /* a request is let in when its whole output fits */
	bool loads_by_layer; /* copies from the host run beside the layers before */
	bool swaps; /* with a cache on the host, preempted requests are copied there */
	double expects; /* else, share of all outputs to come that has to fit */
	/* of those that decode, while it falls to the least in so many passes; what
	 * those that are left have written, and so many tokens more, is expected once
	 * somebody has lost his cache; 0 passes: it stays */
	double expects_least, expects_ahead;
	double expects_most; /* tokens of one output, however long; 0 = all */
	int64_t expects_passes;
	int64_t max_requests, max_batched_tokens;
	/* The same on GPUs with less memory than that, or of that name; 0 = as above */
	double small_bytes;
	char small_name[24];
	int64_t small_requests, small_batched_tokens;
	/* tokens of a pass on GPUs of so much memory or more; 0 = as above */
	double large_bytes;
	int64_t large_batched_tokens;
	enum share_meaning share_of;
	enum reduction_kernels kernels;
	double other_bytes;       /* context, libraries, graphs */
	double logit_bytes;       /* peak of sampling, per logit */
	double activation_copies; /* hidden-wide tensors per batched token */
	double kept_reduces;      /* of a layer, whose tensors stay until a pass ends */
};

#endif
