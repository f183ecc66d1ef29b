/* stack.h - what software runs it? Rules, habits and costs of a framework.
 *
 * What a person can switch (overlaps, attention kernel, gradient dtype) is a
 * knob of the plan; a stack's YAML gives the knobs their defaults. What a
 * person can't switch stands here.
 */
#ifndef ENGINE_MACHINE_STACK_H
#define ENGINE_MACHINE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/limits.h"
#include "engine/machine/ability.h"
#include "engine/machine/habits.h"
#include "engine/machine/serving.h"

enum etp_rule { ETP_IS_TP, ETP_IS_ONE, ETP_RULE_COUNT };
enum split_rule { SPLITS_EVENLY, SPLITS_BY_WEIGHTS, SPLIT_RULE_COUNT };
enum kv_rule { KV_DIVIDES_OR_MULTIPLE, KV_TP_DIVIDES_HEADS, KV_RULE_COUNT };

struct stack {
	char name[MAX_NAME];
	char source[MAX_NOTE];
	uint64_t rules; /* bit n: rule En is asserted by this stack */
	enum etp_rule etp_rule;
	enum kv_rule kv_rule;
	enum split_rule split_rule; /* where the plan leaves the split to it */
	bool serves;                /* an inference server */
	struct serving_stack serving;
	int64_t vocab_multiple; /* vocab is padded to this x TP; 1 = not */
	/* Without SP a message between stages is cut over the TP ranks and gathered
	 * behind the send; otherwise each of them sends all of it. */
	bool scatters_sends;
	/* ZeRO 1 all-reduces fp32 gradients whole in one call behind the last
	 * backward. */
	bool reduces_behind;
	/* time */
	double operator_launches;  /* CPU time of one operator, in launches of a kernel
				    */
	double kernel_gap_seconds; /* between kernels, on top of the accelerator's own
				    */
	double dp_overlap;         /* hidden share of DP traffic where it overlaps */
	double tp_overlap;         /* hidden share of TP traffic where it overlaps */
	double tp_grad_overlap;    /* share of weight-gradient time that the input
				      gradient's TP collective runs beside */
	double sync_calls_per_layer; /* DP collectives per layer: buckets or tensors;
					0 = one for all layers */
	double layer_step_seconds;   /* CPU time of the optimizer step per layer, of one
					that trains whole */
	bool adds_in_gemm; /* the GEMM of a weight's gradient adds it to the sum */
	/* An MLP's gate is a matrix of its own, which reduces its input's gradient by
	 * itself without SP; with SP it gathers its input by itself, too. */
	bool reduces_by_product, gathers_by_product;
	/* The sequence is a tensor's second axis: SP's collectives, which know of the
	 * first alone, stand beside a copy of the whole. */
	bool copies_gathered;
	/* ZeRO 1 all-reduces gradients, of which a rank then keeps its part: but those
	 * that are held and sent in 16 bits. */
	bool reduces_whole;
	double reduced_bytes;  /* of a gradient as it travels; 0 = as it is held */
	double sum_copy_bytes; /* moved for a parameter where a gradient is copied
				  before it is added to a sum in fp32 */
	/* FSDP's copies, on the stream that computes: times that what was gathered, a
	 * gradient as it is held, and as it travels, are read or written. */
	double gathered_passes, gradient_passes, sent_passes;
	bool general_norms; /* kernels of its norms read their rows more than once */
	double ep_overlap;  /* hidden share of EP traffic where it overlaps */
	double network_efficiency; /* x link efficiency: the stack's own share */
	struct habits habits;      /* which all stacks have alike */
	/* memory */
	double context_bytes;                      /* CUDA context, libraries */
	double communicator_bytes;                 /* per communicator group in use */
	double graph_bytes, graph_pipelined_bytes; /* captured CUDA graphs, with PP */
	double fragmentation;        /* reserved / allocated of activations */
	double logit_bytes;          /* peak bytes per logit of the loss */
	double parallel_logit_bytes; /* where TP shards the vocabulary; 0 = the same */
	double saved_ffn_copies;    /* ffn-wide tensors that an unfused gated activation
				       keeps beside its inputs and output */
	double saved_head_copies;   /* copies of queries, keys and values that rotary
				       positions and layout changes keep */
	double saved_gather_shards; /* of an input that SP gathered, at most so many
				       ranks' parts wait for the backward
				       in a pipeline; without one all */
	/* A product keeps the input that SP gathered for it, which then is not gathered
	 * again for its weight's gradient. */
	bool keeps_gathered;
	double sync_copy_bytes;   /* per parameter with DP: 16-bit gradients beside
				     the fp32 sum, below ZeRO-3 */
	double piped_logit_bytes; /* of every micro-batch until the step ends, with PP
				   */
	double old_logit_bytes;   /* of the micro-batch before, per logit */
	double compiled_logit_bytes; /* at most, per logit, where the loss is compiled
					and TP does not shard the vocabulary; 0 = it
					is not */
	/* PyTorch's stages of a pipeline: a buffer for each micro-batch's message, both
	 * ways, and outputs kept until their backward; weights that stay gathered
	 * behind a backward, and gradients that are reduced behind the last one. */
	bool torch_stages;
	bool reports_first; /* prints the memory of the first stage alone */
	double dropout;     /* its default, for measured runs that state none */
	bool saves_norm_input_fp32;
	bool sends_fp8_rows; /* tokens go to their experts in fp8 where it trains in it
			      */
	/* moments that are narrow leave of a master weight the 16 bits that the 16-bit
	 * weight lacks */
	bool splits_master;
	/* gradients that ZeRO shares are summed on the host where the states are there
	 */
	bool offloads_gradients;
	bool splits_adapters; /* TP splits both matrices of an adapter (Megatron's) */
	/* With SP a product's input is turned narrow before TP gathers it, and so is an
	 * output's gradient: to fp8 with one scale a tensor; with scales of blocks, too
	 */
	bool gathers_fp8, gathers_blocks;
	bool saves_fp8_inputs; /* inputs of fp8 GEMMs wait for the backward in fp8
				  (Transformer Engine), not in bf16 (torchao) */
	struct ability_sheet abilities;
	struct evidence evidence;
	int trusted;   /* what is asked of a plan (trust_suffices()); set by searches
			  alone; 0 = any */
	uint64_t held; /* bit n: row n of the sheet is a rule; set by searches alone */
};

#endif
