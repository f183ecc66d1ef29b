/* shape.h - which operators does a layer have, and with what shapes?
 *
 * A layer is drawn once, as a list of shapes on one rank, and everything that follows
 * from its operators is read from that list: parameters and model FLOPs here, the
 * operators of a training step (engine/graph) and of a server's passes (engine/serve).
 * They differ in who asks: in how many rows there are, in how many ranks split them,
 * and in what becomes of a row once it is computed. No shape has a price.
 */
#ifndef ENGINE_MODEL_SHAPE_H
#define ENGINE_MODEL_SHAPE_H

#include "engine/model/model.h"

/* What one rank does of a layer. */
struct share {
	double tp;        /* ranks that split heads, channels and MLPs */
	double rows;      /* tokens of a pass on this rank */
	double norm_rows; /* of them where sequence parallelism splits them */
	double decoding;  /* of the rows, those that attend over a cache: a server's */
};

enum shape_kind {
	SHAPE_LINEAR,     /* rows x inner times inner x columns */
	SHAPE_NORM,       /* over the hidden size, on norm_rows */
	SHAPE_INNER_NORM, /* inside a mixer */
	SHAPE_ELEMENTWISE,
	SHAPE_ACTIVATION, /* of an MLP */
	SHAPE_RESIDUAL,   /* dropout and addition behind a half of the layer */
	SHAPE_CORE,       /* attention between its projections */
	SHAPE_SCORES,     /* of an indexer, over all entries */
	SHAPE_MERGE,      /* of the parts of a context-parallel ring */
	SHAPE_SCAN,       /* of a state space */
	SHAPE_EXPERTS,    /* router, dispatch, routed experts, combine */
	/* between ranks */
	SHAPE_ENTER,   /* a region that tp splits by columns ... */
	SHAPE_LEAVE,   /* ... and its end */
	SHAPE_LATENTS, /* rows that are split go to all of tp */
	SHAPE_KEYS,    /* keys and values to the other parts of a sequence */
	SHAPE_STATES   /* states of chunks to the other parts of a sequence */
};

/* Whose a shape is, where that decides what recomputes it, if anything is saved. */
enum shape_part { PART_NONE, PART_EXPANSION, PART_MLP, PART_SHARED };

struct shape {
	uint8_t kind, part; /* enum shape_kind, enum shape_part */
	bool borrowed;      /* it works with weights that another shape has */
	uint8_t further; /* matrices that are run as one with it: servers hold adapters
			    for each */
	const char *name;
	/* of a matrix with the input of the one before, what servers call both, which
	 * they run as one */
	const char *joined;
	double rows, columns, inner;
	double weights;     /* beside those of a matrix: biases, scales, filters */
	double kept, saved; /* elements of a row from forward to backward, whatever
			       is recomputed, and unless its part is */
	double forward, backward; /* elements moved for each of rows x columns */
	bool unfused;             /* more of them where kernels run op by op */
};

/* What a state space works on and keeps of a request, on one rank. */
struct scan {
	double state;       /* elements, all channels */
	double state_bytes; /* that a request keeps, whatever its length */
	/* of a row, in chunks: FLOPs of a forward; traffic in elements, and what of it
	 * is fp32 whatever the precision; what is kept for the backward */
	double flops, traffic, traffic_bytes, kept, kept_bytes;
	double conv_state; /* elements that the short convolution looks back on */
};

/* What a mixer works on between its projections and what it keeps of a request, on one
 * rank: attention has heads, a state space a state, and where one stands beside the
 * other both are there. */
struct mixing {
	const struct attention *attention; /* NULL where there is none */
	double heads, kv_heads;
	double query_dim, value_dim; /* widths of a query-key and of a value head */
	double sharing; /* query, key and value heads over three times query heads */
	double entry;   /* elements of an entry of the cache, which decoding reads */
	double latent;  /* widths of both products over latents; 0 = over heads */
	double index;   /* width of an indexer's queries; 0 = all entries are seen */
	struct scan scan;
};

enum { MAX_SHAPES = 32 };

/* One half of a layer, in the order of the forward. */
struct shapes {
	int count;
	struct mixing mixing;
	struct shape item[MAX_SHAPES];
};

/* The halves of a layer: norm, mixer (or MLP), residual. Nothing where it has none. */
void shapes_mixer(const struct model *model, const struct layer_kind *kind,
		  const struct share *share, struct shapes *out);
void shapes_mlp(const struct model *model, const struct layer_kind *kind,
		const struct share *share, struct shapes *out);

/* A mixture of experts between what carries tokens to their ranks and back. */
enum expert_shape {
	EXPERT_ROUTER,
	EXPERT_LATENT_DOWN, /* to the width of latent experts, and back */
	EXPERT_UP,          /* of all experts of a rank, as the next two */
	EXPERT_ACTIVATION,
	EXPERT_DOWN,
	EXPERT_LATENT_UP,
	EXPERT_SHAPES
};

/* Each in its place; without latents those have no weights and are not run. The share's
 * tp are the ranks that slice an expert, its rows those of all experts here, its
 * norm_rows the tokens that are routed. */
void shapes_experts(const struct model *model, const struct share *share,
		    struct shape out[EXPERT_SHAPES]);

/* The mixing of a layer on one of tp ranks. */
void shapes_measure(const struct model *model, const struct layer_kind *kind, double tp,
		    struct mixing *out);
/* Whether both halves have one input (PaLM). */
bool shapes_parallel(const struct model *model, const struct layer_kind *kind);
/* Whether the first (second) halves of kind k and the one before are the same. */
bool shapes_same_mixer(const struct model *model, int k);
bool shapes_same_mlp(const struct model *model, int k);
/* Up to which shape of a half the matrices have adapters (enum lora_targets): what
 * makes queries, keys and values stands before what mixes them. */
static inline int shapes_adapted(const struct shapes *shapes, int targets)
{
	int end = 0;

	if (targets != LORA_QKV)
		return shapes->count;
	while (end < shapes->count && shapes->item[end].kind != SHAPE_CORE &&
	       shapes->item[end].kind != SHAPE_SCAN)
		end++;
	return end;
}

/* Weights of one norm over the hidden size. */
double model_norm_weights(const struct model *model);

/* For those who draw: append one. Inline, for an estimate draws some dozens. */
static inline struct shape *shape_add(struct shapes *shapes, enum shape_kind kind,
				      const char *name, double rows, double columns)
{
	/* the last one is overwritten: never, no half of a layer comes near it
	 * (test_models.c) */
	int at = shapes->count < MAX_SHAPES ? shapes->count++ : MAX_SHAPES - 1;
	struct shape *shape = &shapes->item[at];

	*shape = (struct shape){

		.kind = (uint8_t)kind, .name = name, .rows = rows, .columns = columns
	};
	return shape;
}

static inline struct shape *shape_linear(struct shapes *shapes, const char *name,
					 double rows, double columns, double inner)
{
	struct shape *shape = shape_add(shapes, SHAPE_LINEAR, name, rows, columns);

	shape->inner = inner;
	return shape;
}

static inline struct shape *shape_norm(struct shapes *shapes, const char *name,
				       double rows, double columns, double tensors)
{
	struct shape *shape = shape_add(shapes, SHAPE_INNER_NORM, name, rows, columns);

	shape->forward = tensors;
	shape->backward = tensors + 2;
	return shape;
}

static inline struct shape *shape_rotary(struct shapes *shapes, double rows,
					 double columns)
{
	struct shape *shape =
		shape_add(shapes, SHAPE_ELEMENTWISE, "rotary positions", rows, columns);

	shape->forward = shape->backward = 2;
	return shape;
}

/* What a rank holds of its weights. */
static inline double shape_weights(const struct shape *shape)
{
	/* inner is that of a matrix, and of a scan's state */
	return shape->kind == SHAPE_LINEAR && !shape->borrowed
		       ? shape->columns * shape->inner + shape->weights
		       : shape->weights;
}

#endif
