/* graph.h - which operators does one rank run for one micro-batch of one layer,
 * with what shapes after the split, and the collectives between them?
 *
 * The same list is summed by train and shown by the Graph view.
 */
#ifndef ENGINE_GRAPH_H
#define ENGINE_GRAPH_H

#include "engine/base/formula.h"
#include "engine/collective/collective.h"
#include "engine/plan/mesh.h"
#include "engine/plan/scenario.h"
#include "engine/price/roofline.h"

enum operator_kind {
	OPERATOR_GEMM,
	OPERATOR_GROUPED_GEMM,
	OPERATOR_ATTENTION,
	OPERATOR_NORM,
	OPERATOR_ELEMENTWISE,
	OPERATOR_EMBEDDING,
	OPERATOR_LOSS,
	OPERATOR_ROUTER,
	OPERATOR_PERMUTE,
	OPERATOR_SCAN,
	OPERATOR_WAIT, /* for the host */
	OPERATOR_COLLECTIVE,
	OPERATOR_COUNT
};

/* Of a mixture of experts: tokens take both ways, and their sum goes on. */
enum graph_branch { BRANCH_NONE, BRANCH_ROUTED, BRANCH_SHARED };

/* Bits of what an operator of a layer makes, in which MaxText's policies are told. */
enum layer_tensor {
	TENSOR_ANY, /* all operators of layers */
	TENSOR_QKV,
	TENSOR_CONTEXT, /* attention's output */
	TENSOR_OUT,
	TENSOR_MLP_IN,
	TENSOR_MLP_OUT
};

/* One operator or collective for one micro-batch. FLOPs and bytes are those of this
 * rank; weights are elements. */
struct graph_operator {
	enum operator_kind kind;
	const char *name;            /* "qkv projection" */
	double rows, columns, inner; /* GEMM M, N, K; else rows x columns */
	enum graph_branch branch;
	double groups; /* grouped GEMM: local experts, else 1 */
	double forward_flops, input_grad_flops, weight_grad_flops;
	double forward_bytes, backward_bytes; /* memory traffic */
	double weights;                       /* held by this rank */
	double trainable; /* of them, or LoRA adapters beside a frozen base */
	/* grouped GEMM: FLOPs of rows that fill its tiles, seconds of starting all of
	 * its matrices, bytes of adding weight gradients to sums in fp32 */
	double padding_flops, start_seconds, sum_bytes;
	bool expert;        /* its weights reduce over edp, not dp*cp */
	double saved_bytes; /* held from forward to backward, dropped on recompute */
	double kept_bytes;  /* held although the operator is recomputed */
	uint32_t modules;   /* bits of enum recompute_module that recompute it */
	uint32_t makes;     /* bits of enum layer_tensor; 0 at the ends of a model */
	bool with_layer;    /* around an MTP layer, and runs again whole as that does */
	/* what of it is the input of which module: bits of enum offload_module */
	uint32_t kept_for, saved_for;
	double tiles; /* pieces that it takes one after the other; 0 = it is whole */
	/* What recomputation leaves: the share of it that runs again in the backward,
	 * and bytes held from forward to backward (layer_cost() of train). */
	double again, held_bytes;
	double away_bytes; /* of what would be held, on the host */
	/* Of other ranks, beside this one's own while it runs: at their most, in the
	 * backward. */
	double passing_bytes;
	double forward_seconds, input_grad_seconds, weight_grad_seconds;
	/* OPERATOR_WAIT: from the counts on, until a layer's kernels are over */
	double until_seconds;
	/* The CPU's work, in launches of a kernel; none where a graph is replayed. */
	double host_forward, host_backward;
	double turned_bytes; /* moved each way by turning attention to fp8 and back */
	double unpack_bytes; /* moved each way to read weights of 4 bits */
	/* moved beside a frozen matrix by its adapters: forward, for the gradient of
	 * the input, for that of their weights */
	double adapter_bytes, adapter_gradient_bytes, adapter_weight_bytes;
	double small_forward, small_backward; /* router: kernels beside its GEMM */
	/* traffic of each element of its input, and of its output's gradient, that
	 * turns narrow; of its weights those that do once a step; and kernels that draw
	 * random numbers for the gradient */
	double quantise_bytes, quantise_gradient_bytes, narrow_weights, draws;
	/* OPERATOR_COLLECTIVE: seconds above are of all calls each way */
	enum dimension dimension;
	enum collective_kind collective;
	enum algorithm algorithm;
	double call_bytes,
		remote_bytes;      /* of the busiest rank; see struct collective */
	const struct group *group; /* of the context's mesh, as long as that is there */
	int64_t ranks;             /* of the group */
	double payload_bytes, sent_bytes, network_bytes, call_seconds; /* of one call */
	int forward_calls, backward_calls;
	bool beside_weight_grad; /* its backward call runs beside the next GEMM's weight
				    gradient */
	bool overlaps;           /* with the operators behind it */
	/* Experts' exchange: it brings tokens back; see graph_hides_exchange(). */
	bool combines, beside_shared;
	bool narrow; /* it gathers what a product reads as that reads it */
	bool whole;  /* TP's overlap does not send it by pieces */
	double exposed_forward, exposed_backward; /* seconds that nothing hides */
};

/* Whether TP's overlap hides a share of it. */
static inline bool graph_in_pieces(const struct plan *plan,
				   const struct graph_operator *op)
{
	return op->dimension == DIM_TP && !op->whole &&
	       (plan->tp_overlap || plan->async_tp);
}

/* Whether `other` computes while the experts' exchange `op` travels, where shared
 * experts run in a stream of their own: all up to their activation beside the dispatch,
 * their last product beside the combine; backward likewise
 * (NVIDIA/Megatron-LM@0065cf8a, megatron/core/transformer/moe/shared_experts.py,
 * linear_fc1_forward_and_act and linear_fc2_forward). */
static inline bool graph_hides_exchange(const struct graph_operator *op,
					const struct graph_operator *other)
{
	bool last = (other->makes & 1u << TENSOR_MLP_OUT) != 0;

	return op->beside_shared && other->branch == BRANCH_SHARED &&
	       other->kind != OPERATOR_COLLECTIVE && last == op->combines;
}

/* Of an adapter, each way: two products, a scaling, a sum. */
enum { graph_adapter_kernels = 4 };

/* Half a byte, and of 64 weights together one scale in 8 bits and their share of
 * another (QLoRA, arXiv 2305.14314, section 3: double quantisation). */
static inline double graph_nf4_bytes(void)
{
	return 0.5 + 0.127 / 8;
}

/* Bytes of what a GEMM reads, in a precision whose activations take w: a byte of fp8,
 * with a scale per 32 elements in mxfp8, or half a byte and one per 16 in nvfp4. */
FORMULA(graph_operand, (double precision, double w),
	either(precision == 3, 1,
	       either(precision == 4, 1 + 1.0 / 32,
		      either(precision == 5, 0.5 + 1.0 / 16, w))));
_Static_assert(PRECISION_FP8 == 3 && PRECISION_MXFP8 == 4 && PRECISION_NVFP4 == 5,
	       "the numbers of these words in graph_operand");

/* Traffic of turning an element narrow in a kernel of its own: two bytes are read and
 * two written, and read once more for a maximum that is not that of the step before.
 * Scales per row need every matrix in two layouts with a pass for the maxima of each: 2
 * + 2 + 1, twice, and the transposing copy, which compiling fuses. In nvfp4 read for
 * the maximum and for the rotation, and written twice as half a byte with its scales.
 */
FORMULA(graph_narrow_alone, (double precision, double recipe, double compile),
	either(precision < 3, 0,
	       either(precision == 5, 2 + 2 + 2 * (0.5 + 1.0 / 16),
		      either(precision != 3, 4,
			     either(recipe == 1, 6,
				    either(recipe == 2, either(compile == 1, 10, 14),
					   4))))));
_Static_assert(FP8_CURRENT_SCALING == 1 && FP8_ROWWISE == 2,
	       "the numbers of these words in graph_narrow_alone");
/* Of a weight, once a step: its copies serve all micro-batches (Transformer Engine's
 * weight workspaces, is_first_microbatch). In nvfp4 scales in squares come out in the
 * order that the GEMM reads, others are read and written once more in each layout
 * (nvfp4_emits_gemm_swizzled_scales() of TransformerEngine@d0067d0,
 * pytorch/csrc/quantizer.cpp). What is stored in fp8 or fp4 is written so by the
 * optimizer, in place of 16 bits; but mxfp8, which each rank makes of 16 bits that were
 * gathered into the gradients' buffer (Megatron Core, param_and_grad_buffer.py,
 * _post_param_sync), where weights are not shared out. */
FORMULA(graph_narrow_weight,
	(double a, double precision, double stored, double squares, double zero),
	either((stored - 1) * (stored - 3) == 0,
	       either(precision == 4, either(zero < 3, a, 0), 0),
	       either(precision == 5, either(squares == 1, a, a + 4.0 / 16), a)));
_Static_assert(WEIGHTS_FP8 == 1 && WEIGHTS_FP4 == 3 && PRECISION_MXFP8 == 4,
	       "the numbers of these words in graph_narrow_weight");

/* Hosts differ from one launch to the next, and the ranks of an all-to-all wait for the
 * slowest: of n that is sqrt(2 ln n) deviations above the mean. */
FORMULA(graph_slowest, (double n, double deviation), 1 + deviation * sqrt(2 * ln(n)));

struct graph {
	int count;
	int mixer_count;   /* of them, those of a layer up to its MLP */
	bool forward_only; /* of a frozen layer: no gradient comes back to it */
	struct graph_operator item[MAX_OPERATORS];
};

/* What all layers of a scenario share; made once per estimate. */
struct graph_context {
	const struct scenario *scenario;
	const struct mesh *mesh;
	struct roofline gemm, head_gemm, memory;
	double tokens;        /* of a micro-batch on this rank: mbs * seq / cp */
	double norm_tokens;   /* where SP holds: / tp */
	double width;         /* bytes of an activation element */
	double input_width;   /* of a GEMM input that waits for the backward */
	double operand_width; /* of what a GEMM reads: its input and its weights */
	/* With SP: of what TP gathers for a product's input, and of its output's
	 * gradient; and traffic of turning round what came narrow */
	double gathered_width, gathered_gradient_width, gathered_turn;
	double weight_pass; /* bytes of turning a stored weight into an operand */
	bool op_by_op;      /* kernels of PyTorch's, none fused */
	/* fp8, fp4: traffic per element of a GEMM's input and of its output's gradient,
	 * where no kernel before it helps, and of a weight, once a step */
	double quantise_bytes, quantise_gradient_bytes, quantise_alone_bytes;
	double quantise_weight_bytes;
	double weight_copy_bytes; /* held of a weight that turns narrow, beside it */
	double unaligned_efficiency;
	double ffn_copies, head_copies; /* tensors that unfused software keeps */
	struct fabric fabric;           /* what carries its collectives */
	double operator_launches;       /* what an operator costs the CPU */
	double launch_seconds;          /* and one of its launches */
	bool frozen;                    /* LoRA: the base does not train */
	bool table_frozen, head_frozen; /* nor do the ends of a model */
	double adapter_rank;            /* of the adapters beside its matrices */
};

/* Bytes that turning a weight narrow moves, once a step. */
double graph_weight_traffic(const struct plan *plan);
/* What neither the head nor a router does: they run in bf16, and nothing of them turns
 * narrow (Transformer Engine quantises what its own linear layers read). */
void graph_stay_wide(struct graph_context *context);
void graph_context(const struct scenario *scenario, const struct mesh *mesh,
		   struct graph_context *out);

/* The layer of that kind on one rank, in order of the forward; times included. */
void graph_layer(const struct graph_context *context, int kind, struct graph *out);
/* The same where out holds the layer of the kind before: a mixer that both have is not
 * drawn again. */
void graph_next_layer(const struct graph_context *context, int kind, struct graph *out);
/* Embedding of the first stage; final norm, head and loss of the last; and what an MTP
 * layer has around its layer: looking up the token that follows, joining it with the
 * hidden states, and the head once more. */
void graph_embedding(const struct graph_context *context, struct graph *out);
void graph_head(const struct graph_context *context, struct graph *out);
void graph_mtp(const struct graph_context *context, struct graph *out);
/* At what rates a linear layer runs. */
void graph_linear_rate(const struct graph_context *context, double columns,
		       double inner, struct roofline *out);
/* The slowest of the hosts that an all-to-all waits for, over their mean. */
double graph_slowest_host(const struct scenario *scenario, const struct mesh *mesh);
/* At what rates the attention of a kind runs. */
void graph_attention_rate(const struct graph_context *context,
			  const struct layer_kind *kind, struct roofline *out);
/* Share of its forward's rate that the backward of an attention kernel reaches: less in
 * flash kernels. */
double graph_backward_rate(const struct scenario *scenario);
const char *operator_label(enum operator_kind kind);

#endif
