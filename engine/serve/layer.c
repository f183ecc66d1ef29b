/* layer.c - mixer and MLP of one layer kind in a pass. */
#include "engine/serve/layer.h"

#include <math.h>
#include <string.h>

void layer_kernel(struct layer_pass *out, const char *name, double count,
		  const struct kernel *k)
{
	out->compute_seconds += k->compute_seconds;
	out->memory_seconds += k->memory_seconds;
	out->fixed_seconds += k->fixed_seconds;
	out->seconds += k->seconds;
	out->flops += k->flops;
	out->bytes += k->bytes;
	if (out->operators == MAX_LAYER_OPERATORS)
		return;
	out->operator[out->operators++] =(struct pass_operator){
		.name = name,
		.count = count,
		.flops = k->flops,
		.bytes = k->bytes,
		.compute_seconds = k->compute_seconds,
		.memory_seconds = k->memory_seconds,
		.seconds = k->seconds,
	};
}

static double tokens_of(const struct serve_context *c, const struct batch *b)
{
	return b->requests * b->tokens_each + b->prompt_tokens / c->shape.cp;
}

static void linear(const struct serve_context *c, const char *name, double rows,
		   double columns, double inner, struct layer_pass *out)
{
	struct kernel k;

	kernel_gemm(c->scenario, !out->wide, rows, columns, inner, &k);
	layer_kernel(out, name, 1, &k);
}

/* What picks the entries that are attended to, whole on every rank: its projections,
 * and scores over all keys of a context. */
static void indexer(const struct serve_context *c, const struct attention *a,
		    const struct batch *b, struct layer_pass *out)
{
	double h = (double)c->scenario->model.hidden, tokens = tokens_of(c, b);
	double wide = (double)(a->index_heads * a->index_dim);
	double queries = b->requests * b->tokens_each;
	double prompts = b->prompt_tokens / c->shape.cp;
	struct kernel k;

	if (a->index_heads <= 0)
		return;
	linear(c, "indexer queries", tokens, wide,
	       a->query_rank > 0 ? (double)a->query_rank : h, out);
	linear(c, "indexer keys and weights", tokens,
	       (double)a->index_dim * (a->compress > 0 ? 4 : 1) +
		       (double)a->index_heads,
	       h, out);
	if (b->requests > 0) {
		kernel_decode_attention(
			c->scenario, false,
			2 * queries * wide * attention_scored(a, b->context),
			b->requests * attention_index_bytes(a, b->context), &k);
		layer_kernel(out, "indexer scores", 1, &k);
	}
	if (prompts > 0) {
		kernel_prompt_attention(c->scenario,
					2 * prompts * wide *
						attention_scored(a, b->prompt_context),
					prompts * (wide + (double)a->index_dim), &k);
		layer_kernel(out, "indexer scores, prompts", 1, &k);
	}
}

/* The cores of decoding requests and of prompts, each its own kernel. width: of a
 * query-key head and a value head together; entry: elements a token keeps. */
static void cores(const struct serve_context *c, const struct attention *a,
		  const struct batch *b, double heads, double width,
		  double latent_width, double entry, struct layer_pass *out)
{
	double context = attention_seen(a, b->context) / c->shape.kv_shards;
	double queries = b->requests * b->tokens_each;
	bool latent = latent_width > 0;
	struct kernel k;

	if (b->requests > 0) {
		kernel_decode_attention(c->scenario, latent,
					2 * queries * heads * context *
						(latent ? latent_width : width),
					b->requests * context * entry * c->kv_bytes +
						queries * heads * width * 2,
					&k);
		layer_kernel(out, "decode attention", 1, &k);
	}
	/* every shard sees all queries of the ranks that share, and their outputs and
	 * sums are added up (flash decoding across ranks) */
	if (b->requests > 0 && c->shape.kv_shards > 1) {
		double each = queries * heads * c->shape.kv_shards * 2;

		layer_gather(c, "KV shard queries", each * width / 2, out);
		layer_all_reduce(c, "KV shard outputs", each * width / 2, out);
	}
	if (b->prompt_tokens > 0) {
		double tokens = b->prompt_tokens / c->shape.cp;

		kernel_prompt_attention(
			c->scenario,
			2 * tokens * heads * attention_seen(a, b->prompt_context) *
				width,
			tokens * (heads * width * 2 + entry * c->kv_bytes), &k);
		layer_kernel(out, "prompt attention", 1, &k);
	}
}

/* In two steps where groups of heads have a rank of their own each. */
static void output(const struct serve_context *c, const struct attention *a,
		   double inner, const struct batch *b, struct layer_pass *out)
{
	double h = (double)c->scenario->model.hidden, tokens = tokens_of(c, b);
	double groups = fmax(1, (double)a->output_groups / c->shape.tp);
	double ranks = groups * (double)a->output_rank;

	if (a->output_rank > 0) {
		linear(c, "output down", tokens, ranks, inner / groups, out);
		inner = ranks;
	}
	linear(c, "output projection", tokens, h, inner, out);
}

static void attention(const struct serve_context *c, const struct layer_kind *kind,
		      const struct batch *b, struct layer_pass *out)
{
	const struct attention *a = &kind->attention;
	double h = (double)c->scenario->model.hidden, tp = c->shape.tp;
	double heads = (double)a->heads / tp, qk = (double)a->head_dim,
	       v = (double)a->value_dim;
	double kv = fmax(1, (double)a->kv_heads / tp);
	double tokens = tokens_of(c, b);

	double entry = attention_entry(a, kv), rank = (double)a->query_rank;

	if (rank > 0) {
		linear(c, "query down, keys and values", tokens, rank + entry, h, out);
		linear(c, "query up", tokens, heads * qk, rank, out);
	} else {
		linear(c, "QKV projection", tokens,
		       heads * qk * (a->output_gate ? 2 : 1) + entry, h, out);
	}
	if (a->compress > 0)
		linear(c, "compressed keys", tokens, attention_compressor(a), h, out);
	indexer(c, a, b, out);
	cores(c, a, b, heads, qk + v, 0, entry, out);
	output(c, a, heads * v, b, out);
}

/* DeepSeek-V2 (arXiv 2405.04434), section 2.1: decoding folds the up projections into
 * query and output and attends over the latents; prompts expand keys and values. */
static void latent(const struct serve_context *c, const struct layer_kind *kind,
		   const struct batch *b, struct layer_pass *out)
{
	const struct attention *a = &kind->attention;
	double h = (double)c->scenario->model.hidden,
	       heads = (double)a->heads / c->shape.tp;
	double rank = (double)a->kv_rank, rope = (double)a->rope_dim;
	double nope = (double)a->nope_dim, v = (double)a->value_dim;
	double q_rank = (double)a->query_rank, tokens = tokens_of(c, b);
	double decoding = b->requests * b->tokens_each;

	linear(c, "latent projections", tokens, q_rank + rank + rope, h, out);
	linear(c, "query up", tokens, heads * (nope + rope), q_rank > 0 ? q_rank : h,
	       out);
	if (decoding > 0) {
		linear(c, "absorbed keys", decoding, heads * nope, rank, out);
		linear(c, "absorbed values", decoding, heads * v, rank, out);
	}
	if (b->prompt_tokens > 0)
		linear(c, "KV up", tokens - decoding, heads * (nope + v), rank, out);
	indexer(c, a, b, out);
	cores(c, a, b, heads, nope + rope + v, 2 * rank + rope, rank + rope, out);
	linear(c, "output projection", tokens, h, heads * v, out);
}

/* Mamba and linear attention: projections, and a state that is read and written by
 * decoding requests, once for each chunk of a prompt. */
static void state_space(const struct serve_context *c, enum mixer mixer,
			const struct batch *b, struct layer_pass *out)
{
	const struct model *m = &c->scenario->model;
	double weights = model_state_space_parameters(m, mixer);
	double h = (double)m->hidden, tp = c->shape.tp, tokens = tokens_of(c, b);
	double state = (double)m->ssm.inner * (double)m->ssm.state / tp;
	double chunks = ceil(b->prompt_tokens / fmax(1, (double)m->ssm.chunk));
	struct kernel kernel;

	linear(c, "SSM projections", tokens, weights / h / tp, h, out);
	kernel_elementwise(c->scenario, 2,
			   (b->requests * b->tokens_each + chunks) * state * 8 +
				   tokens * (double)m->ssm.inner / tp * 8,
			   &kernel);
	kernel.flops = 6 * tokens * state;
	layer_kernel(out, "state update", 2, &kernel);
}

static void dense(const struct serve_context *c, double ffn, double tokens,
		  struct layer_pass *out)
{
	double h = (double)c->scenario->model.hidden, f = ffn / c->shape.tp;
	double up = c->scenario->model.gated_mlp ? 2 : 1;

	linear(c, up > 1 ? "gate and up" : "up", tokens, up * f, h, out);
	linear(c, "down", tokens, h, f, out);
}

/* Norms, residuals, rotary positions, cache writes, activations, quantisation. */
static void elementwise(const struct serve_context *c, const struct layer_kind *kind,
			double tokens, struct layer_pass *out)
{
	const struct model *m = &c->scenario->model;
	const struct serving_stack *v = &c->scenario->stack.serving;
	double wide = (double)(kind->mlp == MLP_DENSE ? kind->ffn : m->moe.shared_ffn) /
		      c->shape.tp;
	double heads = (double)(kind->attention.heads + 2 * kind->attention.kv_heads) *
		       (double)kind->attention.head_dim / c->shape.tp;
	double kernels = v->small_kernels;
	bool narrow = c->scenario->plan.precision >= PRECISION_FP8 &&
		      c->scenario->plan.precision != PRECISION_INT4;
	struct kernel k;

	if (narrow)
		kernels += v->quantise_kernels;
	kernel_elementwise(c->scenario, kernels,
			   tokens * ((double)m->hidden * (narrow ? 20 : 16) +
				     heads * 4 + wide * (narrow ? 7 : 6)),
			   &k);
	layer_kernel(out, "elementwise", kernels, &k);
}

void layer_pass(const struct serve_context *c, int k, const struct batch *b,
		struct layer_pass *out)
{
	const struct model *m = &c->scenario->model;
	const struct layer_kind *kind = &m->kind[k];
	double h = (double)m->hidden, tokens = tokens_of(c, b);
	bool both = kind->mixer != MIXER_NONE && kind->mlp != MLP_NONE;

	memset(out, 0, sizeof *out);
	out->prompts = b->prompt_tokens > 0;
	out->wide = !serve_quantises(c->scenario, MATRIX_MIXER);
	if (kind->mixer == MIXER_ATTENTION)
		attention(c, kind, b, out);
	else if (kind->mixer == MIXER_MLA)
		latent(c, kind, b, out);
	else if (kind->mixer != MIXER_NONE)
		state_space(c, kind->mixer, b, out);
	if (kind->beside != MIXER_NONE)
		state_space(c, kind->beside, b, out);
	out->wide = !serve_quantises(c->scenario, MATRIX_MLP);
	if (kind->mixer != MIXER_NONE && b->prompt_tokens > 0)
		layer_ring(c, "keys and values", b->prompt_tokens * h * 2 / c->shape.tp,
			   out);
	/* a parallel block reduces once (PaLM, arXiv 2204.02311, section 2) */
	if (kind->mixer != MIXER_NONE &&
	    !(both && m->parallel_block && kind->mlp == MLP_DENSE))
		layer_all_reduce(c, "attention output", tokens * h * 2, out);
	if (kind->mlp == MLP_DENSE) {
		dense(c, (double)kind->ffn, tokens, out);
		layer_all_reduce(c, "MLP output", tokens * h * 2, out);
	} else if (kind->mlp == MLP_MOE) {
		layer_experts(c, tokens, out);
		if (m->moe.shared_ffn > 0)
			dense(c, (double)m->moe.shared_ffn, tokens, out);
		if (c->shape.dp <= 1)
			layer_all_reduce(c, "expert output", tokens * h * 2, out);
	}
	elementwise(c, kind, tokens, out);
}
