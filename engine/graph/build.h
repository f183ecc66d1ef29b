/* build.h - small steps that the rooms of the graph share. */
#ifndef ENGINE_GRAPH_BUILD_H
#define ENGINE_GRAPH_BUILD_H

#include "engine/graph/graph.h"
#include "engine/model/shape.h"

/* Append an operator of zero cost; the list's last slot is reused when full, which
 * MAX_OPERATORS rules out for the layers that exist. */
struct graph_operator *graph_add(struct graph *graph, enum operator_kind kind,
				 const char *name);
/* A linear layer of rows x inner times inner x columns: FLOPs forward 2MNK, both
 * gradients the same, weights, quantisation traffic, times; `beside` are weights beside
 * the matrix, a bias. groups > 1 is a grouped GEMM of that many experts with rows in
 * all. Saved bytes are the caller's. */
struct graph_operator *graph_linear(const struct graph_context *c, struct graph *graph,
				    const char *name, double rows, double columns,
				    double inner, double beside, double groups);
/* narrow.c: widths and traffic by the formats of the plan, behind `width`; and a linear
 * layer's input and output's gradient turned narrow. */
void graph_set_formats(struct graph_context *context);
void graph_quantise(const struct graph_context *c, const struct graph *graph,
		    struct graph_operator *op);
/* The gradient of the last GEMM's output was turned narrow before it was gathered. */
void graph_gradient_gathered(const struct graph_context *c, struct graph *graph);
/* Bytes of an element of a GEMM's input that waits for its weights' gradient: none
 * where they are frozen and have no adapters. */
double graph_saved_width(const struct graph_context *c);
/* Of what a gated activation reads. */
static inline double graph_gate_width(const struct graph_context *c)
{
	return c->scenario->plan.fp8_gates && c->scenario->model.gated_mlp ? 1
									   : c->width;
}
/* The same context for matrices without adapters. */
struct graph_context graph_frozen(const struct graph_context *c);
/* A memory-bound operator: bytes moved forward and backward per element. */
struct graph_operator *graph_memory(const struct graph_context *c, struct graph *graph,
				    enum operator_kind kind, const char *name,
				    double rows, double columns, double forward_bytes,
				    double backward_bytes);
/* A norm over rows x columns with its weights. Saves its input and keeps its output,
 * the next GEMM's input, unless `layernorm` is recomputed. */
void graph_norm(const struct graph_context *c, struct graph *graph, const char *name,
		double rows, double columns);
/* Whether it is several kernels. */
bool graph_norm_by_steps(const struct graph_context *c);
/* A collective with its cost; nothing is added where the group is one. */
struct graph_operator *graph_collective(const struct graph_context *c,
					struct graph *graph, const char *name,
					enum dimension dimension,
					enum collective_kind kind,
					const struct group *group, double payload_bytes,
					int forward_calls, int backward_calls);
/* A collective of that cost; calls, payload and seconds are the caller's. */
struct graph_operator *graph_call(struct graph *graph, const char *name,
				  enum dimension dimension, enum collective_kind kind,
				  const struct group *group,
				  const struct collective *cost);
/* Entering a column-parallel region of `products` matrices, whose input is so many
 * hidden states wide: with SP gather the sequence (again in backward for the weight
 * gradient, and scatter its gradient), without SP reduce the input's gradient in
 * backward only. */
void graph_enter_tp(const struct graph_context *c, struct graph *graph,
		    const char *name, double hiddens, int products);
/* Leaving a row-parallel region: reduce-scatter with SP, all-reduce without. */
void graph_leave_tp(const struct graph_context *c, struct graph *graph,
		    const char *name);
/* Dropout and residual addition behind a sub-layer. */
void graph_residual(const struct graph_context *c, struct graph *graph);

/* Weights that an operator has which is no matrix. */
void graph_own_weights(const struct graph_context *c, const struct shape *shape,
		       struct graph_operator *op);

/* Attention between its projections, and what context parallelism adds to it. */
void graph_core(const struct graph_context *c, const struct shape *shape,
		const struct mixing *mixing, struct graph *graph);
/* An indexer's scores over all entries, which pick those that are attended to. */
void graph_scores(const struct graph_context *c, const struct shape *shape,
		  const struct mixing *mixing, struct graph *graph);
void graph_merge(const struct graph_context *c, const struct shape *shape,
		 const struct mixing *mixing, struct graph *graph);
void graph_keys(const struct graph_context *c, const struct mixing *mixing,
		struct graph *graph);
/* Router, dispatch, routed experts and combine. */
void graph_moe(const struct graph_context *c, struct graph *graph);
/* Small kernels of a router with its preprocessing. */
void graph_router_kernels(const struct scenario *scenario, double *forward,
			  double *backward);
/* What the CPU does for the operators of a layer of that kind, `from` on. */
void graph_count_host(const struct graph_context *c, int kind, int from,
		      struct graph *graph);

/* Collectives of the adapters beside the matrix that was drawn last, of a half of a
 * layer. */
void graph_adapter_calls(const struct graph_context *context,
			 const struct shapes *shapes, const struct shape *shape,
			 struct graph *graph);

#endif
