/* graph.h - which operators does one rank run for one micro-batch of one layer,
 * with what shapes after the split, and the collectives between them?
 *
 * The same list is summed by train and shown by the Graph view.
 */
#ifndef ENGINE_GRAPH_H
#define ENGINE_GRAPH_H

#include "engine/estimate.h"
#include "engine/mesh.h"
#include "engine/scenario.h"

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
	OPERATOR_COLLECTIVE,
	OPERATOR_COUNT
};

struct operator
{
	enum operator_kind kind;
	const char *name;            /* "qkv projection" */
	double rows, columns, inner; /* GEMM M, N, K; else rows x columns */
	double groups;               /* grouped GEMM: local experts */
	double forward_flops, input_grad_flops, weight_grad_flops;
	double forward_bytes, backward_bytes; /* memory traffic */
	double weights;                       /* elements on this rank */
	bool expert;        /* its weights reduce over edp, not dp*cp */
	double saved_bytes; /* held from forward to backward */
	int module;         /* enum recompute_module that recomputes it, or -1 */
	double forward_seconds, input_grad_seconds, weight_grad_seconds;
	/* OPERATOR_COLLECTIVE */
	enum dimension dimension;
	enum collective_kind collective;
	double payload_bytes, sent_bytes, network_bytes;
	bool in_forward, in_backward;
};

struct graph {
	int count;
	struct operator item[MAX_OPERATORS];
};

/* The layer of that kind on one rank; times included. */
void graph_layer(const struct scenario *scenario, const struct mesh *mesh, int kind,
		 struct graph *out);
/* Embedding of the first stage; head and loss of the last. */
void graph_embedding(const struct scenario *scenario, const struct mesh *mesh,
		     struct graph *out);
void graph_head(const struct scenario *scenario, const struct mesh *mesh,
		struct graph *out);
const char *operator_label(enum operator_kind kind);

#endif
