/* layer.c - one layer kind in a pass, shape by shape. */
#include "engine/serve/layer.h"

#include <math.h>
#include <stddef.h>

#include "engine/base/plain.h"
#include "engine/model/shape.h"

void layer_kernel(struct layer_pass *out, const char *name, double count,
		  const struct kernel *k)
{
	out->compute_seconds += k->compute_seconds;
	out->memory_seconds += k->memory_seconds;
	out->fixed_seconds += k->fixed_seconds;
	out->seconds += k->seconds;
	out->flops += k->flops;
	out->bytes += k->bytes;
	if (!out->lists || out->operators == MAX_LAYER_OPERATORS)
		return;
	out->operator[out->operators++] =(struct pass_operator){
		.name = name,
		.count = count,
		.flops = k->flops,
		.bytes = k->bytes,
		.compute_seconds = k->compute_seconds,
		.memory_seconds = k->memory_seconds,
		.fixed_seconds = k->fixed_seconds,
		.seconds = k->seconds,
		.rates = k->rates,
		.stored = k->stored,
		.used = k->used,
	};
}

void layer_begin(struct layer_pass *out, bool lists)
{
	clear_bytes(out, offsetof(struct layer_pass, operator));
	out->lists = lists;
}

/* What the shapes of a layer are priced with. */
struct drawing {
	const struct serve_context *context;
	const struct batch *batch;
	const struct shapes *shapes;
	bool large;      /* its matrices are quantised */
	double tokens;   /* on this rank */
	double decoding; /* of them, of decoding requests */
	double prompts;  /* and of prompts */
	double fixed;    /* kernels that a short one counts for */
	double narrow;   /* bytes moved to turn inputs of products narrow */
	double adapted;  /* adapters that its requests use, and what is done for them */
	double adapter_matrices, adapter_flops, adapter_bytes;
	struct layer_pass *out;
};

/* Norms, rotary positions, cache writes and the activation of the dense layer that the
 * constant of the stacks is counted for. */
static const double small_of_dense_layer = 5;

static void add_linear(const struct drawing *d, const struct shape *shape,
		       double columns, const char *name)
{
	struct kernel k;

	if (shape->rows <= 0)
		return;
	kernel_gemm(&d->context->rates, d->large, shape->rows, columns, shape->inner,
		    &k);
	layer_kernel(d->out, name, 1, &k);
}

/* A short kernel, or what another one does on the way. */
static void add_small(const struct drawing *d, const char *name, double kernels,
		      double bytes)
{
	struct kernel k;

	kernel_elementwise(&d->context->rates, kernels, bytes, &k);
	layer_kernel(d->out, name, kernels, &k);
}

/* Every shard of the cache sees all queries of the ranks that share, and their outputs
 * and sums are added up (flash decoding across ranks). */
static void share_out(const struct drawing *d, const struct mixing *m)
{
	double width = m->query_dim + m->value_dim;
	double each = d->decoding * m->heads * d->context->shape.kv_shards * 2;

	if (d->context->shape.kv_shards <= 1)
		return;
	layer_gather(d->context, "KV shard queries", each * width / 2, d->out);
	layer_all_reduce(d->context, "KV shard outputs", each * width / 2, d->out);
}

/* The cores of decoding requests and of prompts, each its own kernel. */
static void add_core(const struct drawing *d)
{
	const struct mixing *m = &d->shapes->mixing;
	const struct serve_context *c = d->context;
	const struct batch *b = d->batch;
	double context = attention_seen(m->attention, b->context) / c->shape.kv_shards;
	double width = m->query_dim + m->value_dim;
	struct kernel k;

	if (b->requests > 0) {
		kernel_decode_attention(&c->rates, m->latent > 0,
					2 * d->decoding * m->heads * context *
						(m->latent > 0 ? m->latent : width),
					b->requests * context * m->entry * c->kv_bytes +
						d->decoding * m->heads * width * 2,
					&k);
		layer_kernel(d->out, "decode attention", 1, &k);
		share_out(d, m);
	}
	if (b->prompt_tokens <= 0)
		return;
	kernel_prompt_attention(
		&c->rates,
		2 * d->prompts * m->heads *
			attention_seen(m->attention, b->prompt_context) * width,
		d->prompts * (m->heads * width * 2 + m->entry * c->kv_bytes), &k);
	layer_kernel(d->out, "prompt attention", 1, &k);
}

/* Those that pick the entries: over all keys of a context, in a byte an element. */
static void add_scores(const struct drawing *d)
{
	const struct mixing *m = &d->shapes->mixing;
	const struct attention *a = m->attention;
	const struct batch *b = d->batch;
	struct kernel k;

	if (b->requests > 0) {
		kernel_decode_attention(
			&d->context->rates, false,
			2 * d->decoding * m->index * attention_scored(a, b->context),
			b->requests * attention_index_bytes(a, b->context), &k);
		layer_kernel(d->out, "indexer scores", 1, &k);
	}
	if (d->prompts > 0) {
		kernel_prompt_attention(&d->context->rates,
					2 * d->prompts * m->index *
						attention_scored(a, b->prompt_context),
					d->prompts * (m->index + (double)a->index_dim),
					&k);
		layer_kernel(d->out, "indexer scores, prompts", 1, &k);
	}
}

/* A state is read and written by every decoding request, and once for each chunk of a
 * prompt. */
static void add_scan(const struct drawing *d, const struct shape *shape)
{
	const struct scan *m = &d->shapes->mixing.scan;
	double chunk = fmax(1, (double)d->context->scenario->model.ssm.chunk);
	double chunks = ceil(d->batch->prompt_tokens / chunk);
	struct kernel k;

	kernel_elementwise(&d->context->rates, 2,
			   (d->decoding + chunks) * m->state * 8 +
				   d->tokens * shape->columns * 8,
			   &k);
	/* decay and input, and the output of each element */
	k.flops = d->decoding * 6 * m->state + d->prompts * m->flops;
	layer_kernel(d->out, shape->name, 2, &k);
}

/* What decoding requests and prompts leave, and what the other parts of a prompt need
 * of it. */
static void add_keys(const struct drawing *d)
{
	double entry = d->shapes->mixing.entry;

	if (d->shapes->mixing.attention->borrowed_kv)
		return;
	add_small(d, "cache writes", d->fixed,
		  d->tokens * entry * (2 + d->context->kv_bytes));
	layer_ring(d->context, "keys and values", d->batch->prompt_tokens * entry * 2,
		   d->out);
}

static void add_states(const struct drawing *d)
{
	const struct scan *m = &d->shapes->mixing.scan;

	layer_ring(d->context, "chunk states",
		   d->batch->prompt_requests * (m->state + m->conv_state) * 4 *
			   d->context->shape.cp,
		   d->out);
}

static void add_experts(const struct drawing *d)
{
	const struct serve_context *c = d->context;

	layer_experts(c, d->tokens, d->out);
	/* that of the activation inside */
	add_small(d, "activation", d->fixed, 0);
	if (c->shape.dp <= 1)
		layer_all_reduce(c, "expert output",
				 d->tokens * (double)c->scenario->model.hidden * 2,
				 d->out);
}

static void add_shape(const struct drawing *d, const struct shape *shape)
{
	double elements = shape->rows * shape->columns;

	switch (shape->kind) {
	case SHAPE_NORM: add_small(d, shape->name, d->fixed, 4 * elements); break;
	case SHAPE_INNER_NORM:
	case SHAPE_ELEMENTWISE:
	case SHAPE_ACTIVATION:
		add_small(d, shape->name, d->fixed, 2 * shape->forward * elements);
		break;
	/* the norm behind it reads and writes the sum too */
	case SHAPE_RESIDUAL: add_small(d, shape->name, 0, 4 * elements); break;
	case SHAPE_CORE: add_core(d); break;
	case SHAPE_SCORES: add_scores(d); break;
	case SHAPE_SCAN: add_scan(d, shape); break;
	case SHAPE_EXPERTS: add_experts(d); break;
	case SHAPE_KEYS: add_keys(d); break;
	case SHAPE_STATES: add_states(d); break;
	/* shared experts' sums travel with those of the others */
	case SHAPE_LEAVE:
		if (shape->part != PART_SHARED)
			layer_all_reduce(d->context, shape->name, 2 * elements, d->out);
		break;
	default: break;
	}
}

/* Inputs that a norm wrote turn narrow in a pass of their own; activations are
 * written narrow. */
static double narrowing(const struct drawing *d, const struct shape *shape)
{
	bool hidden = shape->inner == (double)d->context->scenario->model.hidden;

	return shape->rows * shape->inner * (hidden ? 2 : 1);
}

/* Beside each matrix the input is shrunk to the rank and expanded to the output: each
 * row by the adapter of its request, all of which are read once (Punica, arXiv
 * 2310.18547, section 4; vLLM's lora_shrink and lora_expand). */
static void adapt(struct drawing *d, const struct shape *shape)
{
	double weights = server_adapter_weights(d->context->scenario, shape);

	if (weights <= 0)
		return;
	d->adapter_matrices++;
	d->adapter_flops += 2 * shape->rows * weights;
	d->adapter_bytes += 2 * d->adapted * weights +
			    2 * shape->rows * (shape->inner + 2 * shape->columns);
}

static void add_adapters(const struct drawing *d)
{
	struct kernel k;

	if (d->adapter_matrices <= 0)
		return;
	kernel_elementwise(&d->context->rates, 2 * d->fixed * d->adapter_matrices,
			   d->adapter_bytes, &k);
	k.flops = d->adapter_flops;
	layer_kernel(d->out, "LoRA adapters", 2 * d->adapter_matrices, &k);
}

static void add_shapes(struct drawing *d)
{
	const struct shapes *shapes = d->shapes;

	for (int i = 0; i < shapes->count; i++) {
		const struct shape *shape = &shapes->item[i], *next = shape + 1;

		if (shape->kind != SHAPE_LINEAR) {
			add_shape(d, shape);
			continue;
		}
		d->narrow += narrowing(d, shape);
		if (d->adapted > 0)
			adapt(d, shape);
		if (i + 1 < shapes->count && next->joined) {
			add_linear(d, shape, shape->columns + next->columns,
				   next->joined);
			if (d->adapted > 0)
				adapt(d, next);
			i++;
		} else {
			add_linear(d, shape, shape->columns, shape->name);
		}
	}
}

/* The constant of a stack is that of a layer of two halves. Where products run in 16
 * bits, weights are unpacked and what they meet stays as it is. */
static void add_quantisation(const struct drawing *d)
{
	const struct scenario *s = d->context->scenario;

	if (d->shapes->count > 0 && d->large && d->context->rates.operand_bytes < 2)
		add_small(d, "quantisation", s->stack.serving.quantise_kernels / 2,
			  d->narrow);
}

static void add_half(const struct serve_context *c, const struct layer_kind *kind,
		     enum serve_matrix matrix, const struct batch *b,
		     void (*draw)(const struct model *, const struct layer_kind *,
				  const struct share *, struct shapes *),
		     struct layer_pass *out)
{
	struct shapes shapes;
	struct drawing d = { .context = c, .batch = b, .shapes = &shapes, .out = out };
	struct share share;

	out->prompts = b->prompt_tokens > 0;
	out->copies = b->copies;
	d.large = serve_quantises(c->scenario, matrix);
	d.decoding = b->requests * b->tokens_each;
	d.prompts = b->prompt_tokens / c->shape.cp;
	d.tokens = d.decoding + d.prompts;
	d.fixed = c->scenario->stack.serving.small_kernels / small_of_dense_layer;
	share = (struct share){ .tp = c->shape.tp,
				.rows = d.tokens,
				.norm_rows = d.tokens,
				.decoding = d.decoding };
	draw(&c->scenario->model, kind, &share, &shapes);
	d.adapted = fmin((double)c->scenario->plan.serving.adapters,
			 fmax(1, b->requests + b->prompt_requests));
	add_shapes(&d);
	add_adapters(&d);
	add_quantisation(&d);
}

void layer_mixer(const struct serve_context *c, const struct layer_kind *kind,
		 const struct batch *b, struct layer_pass *out)
{
	add_half(c, kind, MATRIX_MIXER, b, shapes_mixer, out);
}

void layer_mlp(const struct serve_context *c, const struct layer_kind *kind,
	       const struct batch *b, struct layer_pass *out)
{
	add_half(c, kind, MATRIX_MLP, b, shapes_mlp, out);
}
