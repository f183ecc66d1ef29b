/* ssm.h - what state spaces and linear attention have in common. */
#ifndef ENGINE_MODEL_SSM_H
#define ENGINE_MODEL_SSM_H

#include "engine/model/mixer.h"

/* One of them on one rank: what differs between them. */
struct ssm_form {
	double inner, heads, groups, state;
	double in;            /* columns of the input projection */
	double conv;          /* channels of the short convolution ... */
	double filter;        /* ... and weights of each; 0 = activations alone */
	double step_rank;     /* Mamba-1: of the projection to the step; else 0 */
	double scan_weights;  /* decays and skips */
	double norm_weights;  /* of the gated norm, 0 = there is none */
	double state_element; /* bytes of one that a request keeps */
	double flops;         /* of the scan, a row */
	double traffic, traffic_bytes; /* of the scan, a row: elements, and fp32 */
	/* What waits for the backward, a row: elements of the convolution and of the
	 * norm, and bytes of the scan beside its result. Kernels make the states of
	 * their chunks again, and Mamba's what the convolution made. */
	double kept_conv, kept_norm, kept_bytes;
};

/* Widths that all of them have: inner, heads, groups, state. */
void ssm_widths(const struct model *model, double tp, struct ssm_form *out);
/* Scan in chunks: inside a chunk like attention, between chunks by states (state-space
 * duality, arXiv 2405.21060, section 6). Needs conv. */
void ssm_chunks(const struct model *model, struct ssm_form *out);
/* The columns of their rows (mixer.h), all but `form`. A request keeps a state, as
 * a rule in fp32, and the 16-bit inputs of its convolution. */
void ssm_measure(const struct model *model, const struct layer_kind *kind, double tp,
		 struct mixing *out);
void ssm_draw(const struct model *model, const struct layer_kind *kind,
	      const struct share *share, struct shapes *out);
int64_t ssm_inner(const struct model *model, const struct layer_kind *kind);
int64_t ssm_heads(const struct model *model, const struct layer_kind *kind);

#endif
