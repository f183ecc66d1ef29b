/* traffic.c - every message that every rank sends in one step. */
#include "tests/twin/tensor.h"
#include <math.h>

/* A ring passes one of p parts on in each of p - 1 steps. */
static double gather(double bytes, int64_t ranks)
{
	double sent = 0;

	for (int64_t step = 1; step < ranks; step++)
		sent += bytes / (double)ranks;
	return sent;
}

/* Scattered by a ring, and gathered again. */
static double reduce(double bytes, int64_t ranks)
{
	return gather(bytes, ranks) + gather(bytes, ranks);
}

struct run {
	const struct scenario *s;
	struct twin_rank rank;
	double tokens;          /* of a micro-batch on a rank of a CP group */
	double own;             /* of them, what a rank has outside of TP */
	double width;           /* bytes */
	double entry, gradient; /* of what is gathered: inputs, outputs' gradients */
	double *sent;           /* by dimension */
};

/* In front of matrices that are split by columns, and behind those split by rows
 * (Shoeybi 2019, section 3; with SP Korthikanti 2022, section 4.2.2: the input is
 * gathered again for its weights' gradient). */
static void pass_tp(const struct run *r, double in, double out, bool narrow)
{
	double elements = r->tokens * (double)r->s->model.hidden;
	double wide = elements * r->width;
	double entry = narrow ? elements * r->entry : wide;
	double gradient = narrow ? elements * r->gradient : wide;
	int64_t tp = r->s->plan.tp;

	if (r->s->plan.sp)
		r->sent[DIM_TP] += in * (gather(entry, tp) + gather(wide, tp) +
					 gather(entry, tp)) +
				   out * (gather(wide, tp) + gather(gradient, tp));
	else
		r->sent[DIM_TP] += in * reduce(wide, tp) + out * reduce(wide, tp);
}

static void around_tp(const struct run *r, double in, double out)
{
	pass_tp(r, in, out, true);
}

/* Bytes of an element that TP gathers. What one scale a tensor is enough for goes in
 * fp8; of other formats a product takes its input in the layout at hand, and a gradient
 * is sent in both (TransformerEngine@d0067d0, pytorch/distributed.py). */
static void widths(struct run *r)
{
	const struct plan *p = &r->s->plan;
	const struct stack *stack = &r->s->stack;
	bool tensor =
		p->precision == PRECISION_FP8 &&
		(p->fp8_recipe == FP8_DELAYED || p->fp8_recipe == FP8_CURRENT_SCALING);
	double byte = 1;

	r->entry = r->gradient = r->width = p->precision == PRECISION_FP32 ? 4 : 2;
	if (p->precision < PRECISION_FP8 || p->precision > PRECISION_NVFP4 ||
	    (p->precision == PRECISION_FP8 && p->fp8_recipe == FP8_ROWWISE) ||
	    !(tensor ? stack->gathers_fp8 : stack->gathers_blocks))
		return;
	if (p->precision == PRECISION_MXFP8)
		byte += 1.0 / 32;
	if (p->precision == PRECISION_NVFP4)
		byte = 1.0 / 2 + 1.0 / 16;
	r->entry = byte;
	r->gradient = tensor ? byte : byte + byte;
}

/* Times that an MLP's input enters: by its gate apart, where that is a matrix of its
 * own. */
static double enters(const struct run *r)
{
	const struct stack *stack = &r->s->stack;
	bool apart =
		r->s->plan.sp ? stack->gathers_by_product : stack->reduces_by_product;

	return r->s->model.gated_mlp && apart ? 2 : 1;
}

/* width: of a query and an output together, entry: of a key and its value. */
static void context(const struct run *r, double heads, double kv_heads, double width,
		    double entry)
{
	const struct plan *p = &r->s->plan;
	double kv = r->tokens * kv_heads * entry * r->width;
	double queries = r->tokens * heads * width * r->width;

	for (int64_t peer = 1; peer < p->cp; peer++) {
		if (p->cp_kind == CP_ULYSSES)
			/* its part of all heads there, and of the outputs back; twice.
			 * A head of keys and values is sent whole */
			r->sent[DIM_CP] += 2 * (kv / fmin((double)p->cp, kv_heads) +
						queries / (double)p->cp);
		else
			/* keys and values forward, again backward, and gradients */
			r->sent[DIM_CP] += 3 * kv;
	}
}

/* Latents: each rank makes those of its tokens, gathered forward, their gradients
 * summed backward. */
static void latents(const struct run *r, const struct attention *a)
{
	int64_t tp = r->s->plan.tp;
	double bytes = (double)(a->query_rank + a->kv_rank + a->rope_dim) * r->tokens *
		       r->width;

	r->sent[DIM_TP] += r->s->plan.sp ? 2 * gather(bytes, tp) : reduce(bytes, tp);
}

/* States and the edge of the convolution in fp32, from every rank to every other, both
 * ways. */
static void pass_states(const struct run *r, bool whole_edge)
{
	const struct plan *p = &r->s->plan;
	const struct ssm *s = &r->s->model.ssm;
	double inner = (double)twin_mine(s->inner, p->tp, r->rank.tp);
	double groups = (double)twin_mine(s->groups, p->tp, r->rank.tp);
	double edge = whole_edge ? inner + 2 * groups * (double)s->state : inner;
	double bytes = 4 * (double)p->micro_batch *
		       (inner * (double)s->state + (double)(s->conv - 1) * edge);

	for (int64_t peer = 1; peer < p->cp; peer++)
		r->sent[DIM_CP] += 2 * bytes;
}

static void mix(const struct run *r, const struct layer_kind *kind)
{
	const struct attention *a = &kind->attention;
	const struct plan *p = &r->s->plan;
	double heads = (double)twin_mine(a->heads, p->tp, r->rank.tp), kv = 0;
	double wide = (double)(a->head_dim + a->value_dim);

	for (int64_t i = 0; i < a->kv_heads; i++)
		kv += i * p->tp / a->kv_heads == r->rank.tp;
	if (kind->mixer == MIXER_MLA) {
		latents(r, a);
		/* queries without a latent are made of the whole input */
		around_tp(r, a->query_rank == 0, 1);
		context(r, heads, heads, wide, wide);
		return;
	}
	around_tp(r, 1, 1);
	/* a key that is its value is sent once */
	if (kind->mixer == MIXER_ATTENTION)
		context(r, heads, kv < 1 ? 1 : kv, wide,
			a->shared_kv ? (double)a->head_dim : wide);
	else
		pass_states(r, kind->mixer == MIXER_MAMBA2);
	if (kind->beside == MIXER_NONE)
		return;
	/* two mixers, each with a sum of its own */
	around_tp(r, 1, 1);
	pass_states(r, true);
}

/* Every copy of every token to each rank with the chance that its expert is there;
 * back, and both again for the gradients. */
static void route(const struct run *r)
{
	const struct model *m = &r->s->model;
	const struct plan *p = &r->s->plan;
	int64_t etp = p->etp > 0 ? p->etp : p->tp;
	int64_t width = m->moe.expert_latent > 0 ? m->moe.expert_latent : m->hidden;
	double row = (double)width * r->width, rows = 0;

	for (int64_t t = 0; t < (int64_t)r->own; t++)
		for (int64_t copy = 0; copy < m->moe.experts_per_token; copy++) {
			rows += (double)etp;
			for (int64_t peer = 1; peer < p->ep; peer++)
				r->sent[DIM_EP] += 4 * row / (double)p->ep;
		}
	/* ranks that share experts see each other's rows, and sum what they made */
	r->sent[DIM_TP] += 4 * gather(rows * row, etp);
	if (m->moe.shared_ffn > 0)
		around_tp(r, enters(r), 1);
}

static void layer(const struct run *r, const struct layer_kind *kind)
{
	if (kind->mixer != MIXER_NONE)
		mix(r, kind);
	/* a parallel block enters and leaves once (PaLM, arXiv 2204.02311, section 2)
	 */
	if (kind->mlp == MLP_DENSE &&
	    !(r->s->model.parallel_block && kind->mixer != MIXER_NONE))
		around_tp(r, enters(r), 1);
	if (kind->mlp == MLP_MOE)
		route(r);
}

static void head(const struct run *r)
{
	const struct plan *p = &r->s->plan;
	int64_t rows = r->s->model.vocab;

	while (rows % (p->tp * r->s->stack.vocab_multiple) != 0)
		rows++;
	pass_tp(r, 1, 0, false);
	if (!p->vocab_parallel) {
		r->sent[DIM_TP] += gather(r->tokens * (double)rows * r->width, p->tp);
		return;
	}
	/* maximum, sum, and the score that is asked for: a float each */
	for (int number = 0; number < 3; number++)
		r->sent[DIM_TP] += reduce(r->tokens * 4, p->tp);
}

/* The token that follows is looked up and written beside the hidden state, both enter
 * a product split by columns, and all ranks gather what it makes (Megatron Core,
 * multi_token_prediction.py); with SP each keeps a part, whose gradient they gather. */
static void join(const struct run *r)
{
	const struct plan *p = &r->s->plan;
	double state = r->tokens * (double)r->s->model.hidden * r->width;

	pass_tp(r, 2, 0, p->precision != PRECISION_NVFP4);
	r->sent[DIM_TP] += gather(state, p->tp);
	if (p->sp)
		r->sent[DIM_TP] += gather(state, p->tp);
	/* the table's rows: summed, and scattered with SP, and gathered again */
	r->sent[DIM_TP] += reduce(state, p->tp);
}

static void micro_batch(const struct run *r)
{
	const struct model *m = &r->s->model;
	const struct plan *p = &r->s->plan;
	double message = r->own * (double)m->hidden * r->width;

	if (r->rank.pp == 0) /* rows of the table are on all ranks: summed */
		r->sent[DIM_TP] +=
			reduce(r->tokens * (double)m->hidden * r->width, p->tp);
	for (int64_t i = 0; i < m->layers; i++)
		if (i * p->pp / m->layers == r->rank.pp)
			layer(r, &m->kind[m->layer[i]]);
	if (r->rank.pp < p->pp - 1)
		r->sent[DIM_PP] += message;
	if (r->rank.pp > 0)
		r->sent[DIM_PP] += message;
	if (r->rank.pp != p->pp - 1)
		return;
	head(r);
	for (int64_t i = 0; i < m->mtp_layers; i++) {
		join(r);
		layer(r, &m->kind[m->layer[m->layers - 1]]);
		head(r);
	}
}

/* Gradients of some weights, and the weights back (Rajbhandari 2020, section 7). */
static double data_parallel(const struct scenario *s, double elements, int64_t ranks,
			    int64_t micro_batches)
{
	const struct plan *p = &s->plan;
	bool fp32 = p->precision == PRECISION_FP32;
	double gradient = elements * (fp32 || p->grad_dtype == GRAD_FP32 ? 4 : 2);
	double weight = elements * (fp32 ? 4 : 2), sent = 0;

	bool whole = (s->stack.reduces_whole || s->stack.reduces_behind) &&
		     gradient > 2 * elements;

	/* sums may be turned to another format before they are sent */
	if (!fp32 && s->stack.reduced_bytes > 0) {
		gradient = elements * s->stack.reduced_bytes;
		whole |= s->stack.reduces_whole && gradient > 2 * elements;
	}
	if (p->zero == 0)
		return reduce(gradient, ranks);
	if (p->zero == 1 && whole)
		return reduce(gradient, ranks) + gather(weight, ranks);
	if (p->zero == 1)
		return gather(gradient, ranks) + gather(weight, ranks);
	/* PyTorch's stages keep what a backward gathered until a forward frees it, so
	 * that each pass behind a forward gathers, and the first; they reduce once */
	if (p->zero == 3 && p->fsdp_reshard && p->pp > 1 && s->stack.torch_stages)
		return gather(gradient, ranks) +
		       gather(weight, ranks) * (double)(micro_batches + 1);
	for (int64_t i = 0; i < micro_batches; i++) {
		sent += gather(gradient, ranks);
		if (p->zero == 3)
			sent += gather(weight, ranks) * (p->fsdp_reshard ? 2
							 : p->pp > 1     ? 0
									 : 1);
	}
	if (p->zero == 3 && !p->fsdp_reshard && p->pp > 1)
		/* kept under a pipeline: once a step */
		return gather(gradient, ranks) + gather(weight, ranks);
	return p->zero == 2 ? sent + gather(weight, ranks) : sent;
}

void twin_traffic(const struct scenario *s, struct twin_sent *out)
{
	const struct plan *p = &s->plan;
	int64_t dp = s->cluster.gpus / (p->tp * p->cp * p->pp);
	int64_t etp = p->etp > 0 ? p->etp : p->tp;
	int64_t edp = s->cluster.gpus / (etp * p->ep * p->pp);
	int64_t m = p->global_batch / (dp * p->micro_batch);

	*out = (struct twin_sent){ { 0 } };
	for (int64_t rank = 0; rank < s->cluster.gpus; rank++) {
		struct twin_weights w, table;
		struct run r = { .s = s,
				 .rank = twin_rank(s, rank),
				 .sent = out->bytes };

		r.tokens = (double)(p->micro_batch * p->seq_len) / (double)p->cp;
		r.own = p->sp ? r.tokens / (double)p->tp : r.tokens;
		widths(&r);
		for (int64_t i = 0; i < m; i++)
			micro_batch(&r);
		twin_weights(s, r.rank, &w);
		out->bytes[DIM_DP] += data_parallel(s, w.dense, dp * p->cp, m);
		out->bytes[DIM_DP] += data_parallel(s, w.expert, edp, m);
		if (!(s->model.tied_embeddings || s->model.mtp_layers > 0) ||
		    p->pp == 1 || (r.rank.pp > 0 && r.rank.pp < p->pp - 1))
			continue;
		/* both ends have the table, and need the sum */
		struct scenario ends = *s;

		/* words alone: positions and norms are on one of them */
		ends.model.layers = ends.model.mtp_layers = 0;
		ends.model.input_width = ends.model.embedding_norm = 0;
		ends.model.position = POSITION_NONE;
		twin_weights(&ends, (struct twin_rank){ r.rank.tp, 0, 0, 0 }, &table);
		out->bytes[DIM_PP] +=
			reduce(table.dense * (p->precision == PRECISION_FP32 ||
							      p->grad_dtype == GRAD_FP32
						      ? 4
						      : 2),
			       2);
	}
}
