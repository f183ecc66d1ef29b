/* weights.c - what each rank holds, tensor by tensor and row by row. */
#include "tests/twin/tensor.h"

int64_t twin_mine(int64_t items, int64_t ranks, int64_t which)
{
	int64_t mine = 0;

	for (int64_t i = 0; i < items; i++)
		mine += i * ranks / items == which;
	return mine;
}

double twin_norm(const struct model *m)
{
	/* a scale, and a shift where the norm has one */
	return (double)m->hidden * (m->norm == NORM_LAYER && m->norm_bias ? 2 : 1);
}

/* Key-value heads that the query heads of a rank look at (Ainslie 2023, GQA). */
static int64_t shared_heads(const struct attention *a, int64_t tp, int64_t which)
{
	int64_t count = 0;

	for (int64_t kv = 0; kv < a->kv_heads; kv++) {
		bool used = false;

		for (int64_t q = 0; q < a->heads; q++)
			used |= q * tp / a->heads == which &&
				q * a->kv_heads / a->heads == kv;
		count += used;
	}
	return count;
}

static double attention(const struct model *m, const struct attention *a, int64_t tp,
			int64_t which)
{
	double h = (double)m->hidden, sum = 0;
	double bias = a->qkv_bias ? 1 : 0;

	for (int64_t head = 0; head < twin_mine(a->heads, tp, which); head++) {
		sum += (double)a->head_dim * (h + bias); /* queries */
		sum += h * (double)a->value_dim;         /* output */
		sum += a->output_gate ? (double)a->value_dim * (h + bias) : 0;
	}
	for (int64_t head = 0; head < shared_heads(a, tp, which); head++)
		sum += (double)(a->head_dim + a->value_dim) * (h + bias);
	return sum + (a->output_bias ? h : 0);
}

/* DeepSeek-V2 (arXiv 2405.04434), equations 9 to 19: what makes latents is on every
 * rank, what makes heads of them is split by heads. */
static double latent_attention(const struct model *m, const struct attention *a,
			       int64_t tp, int64_t which)
{
	double h = (double)m->hidden, sum = 0;
	double query_in = a->query_rank > 0 ? (double)a->query_rank : h;

	if (a->query_rank > 0)
		sum += h * (double)a->query_rank + (double)a->query_rank;
	sum += h * (double)a->kv_rank + (double)a->kv_rank; /* latent and its norm */
	sum += h * (double)a->rope_dim;                     /* the shared key */
	for (int64_t head = 0; head < twin_mine(a->heads, tp, which); head++) {
		sum += query_in * (double)(a->nope_dim + a->rope_dim);
		sum += (double)a->kv_rank * (double)(a->nope_dim + a->value_dim);
		sum += (double)a->value_dim * h;
	}
	return sum;
}

/* Mamba (arXiv 2312.00752, algorithm 2): every channel of the inner width is its own.
 */
static double mamba1(const struct model *m, int64_t tp, int64_t which)
{
	const struct ssm *s = &m->ssm;
	double h = (double)m->hidden, sum = 0;

	for (int64_t c = 0; c < twin_mine(s->inner, tp, which); c++) {
		sum += 2 * h;                      /* its input and its gate */
		sum += (double)s->conv + 1;        /* its filter and bias */
		sum += 2 * (double)s->state;       /* its part of B and C */
		sum += 2 * (double)s->dt_rank + 1; /* and of the step, there and back */
		sum += (double)s->state + 1;       /* its row of A, its D */
		sum += h;                          /* output */
	}
	return sum;
}

/* Mamba-2 (arXiv 2405.21060, section 7): heads, and groups that share B and C. */
static double mamba2(const struct model *m, int64_t tp, int64_t which)
{
	const struct ssm *s = &m->ssm;
	double h = (double)m->hidden, filter = (double)s->conv + 1, sum = 0;

	for (int64_t c = 0; c < twin_mine(s->inner, tp, which); c++)
		sum += 2 * h + filter + 1 + h; /* input, gate, filter, norm, output */
	for (int64_t g = 0; g < twin_mine(s->groups, tp, which); g++)
		for (int64_t n = 0; n < s->state; n++)
			sum += 2 * (h + filter); /* a row of B and of C */
	for (int64_t head = 0; head < twin_mine(s->heads, tp, which); head++)
		sum += h + 3; /* its step, the step's bias, A and D */
	return sum;
}

/* Rows of the first matrices and columns of the last, one by one. */
static double mlp(const struct model *m, int64_t ffn, bool bias, int64_t ranks,
		  int64_t which)
{
	double h = (double)m->hidden, sum = 0;

	for (int64_t f = 0; f < twin_mine(ffn, ranks, which); f++) {
		sum += (m->gated_mlp ? 2 : 1) * (h + (bias ? 1 : 0));
		sum += h;
	}
	return sum + (bias ? h : 0);
}

static void experts(const struct model *m, struct twin_split split,
		    struct twin_rank rank, struct twin_weights *out)
{
	for (int64_t e = 0; e < m->moe.experts; e++) {
		out->dense += (double)m->hidden; /* its row of the router */
		if (e * split.ep / m->moe.experts == rank.ep)
			out->expert += mlp(m, m->moe.expert_ffn, m->moe.expert_bias,
					   split.etp, rank.etp);
	}
	if (m->moe.shared_ffn > 0)
		out->dense += mlp(m, m->moe.shared_ffn, false, split.tp, rank.tp);
}

void twin_layer(const struct model *m, const struct layer_kind *kind,
		struct twin_split split, struct twin_rank rank,
		struct twin_weights *out)
{
	if (kind->mixer != MIXER_NONE)
		out->dense += twin_norm(m);
	if (kind->mlp != MLP_NONE)
		out->dense += twin_norm(m);
	if (kind->mixer == MIXER_ATTENTION)
		out->dense += attention(m, &kind->attention, split.tp, rank.tp);
	if (kind->mixer == MIXER_MLA)
		out->dense += latent_attention(m, &kind->attention, split.tp, rank.tp);
	if (kind->mixer == MIXER_MAMBA1)
		out->dense += mamba1(m, split.tp, rank.tp);
	if (kind->mixer == MIXER_MAMBA2)
		out->dense += mamba2(m, split.tp, rank.tp);
	if (kind->mlp == MLP_DENSE)
		out->dense += mlp(m, kind->ffn, m->mlp_bias, split.tp, rank.tp);
	if (kind->mlp == MLP_MOE)
		experts(m, split, rank, out);
}

double twin_parameters(const struct model *m)
{
	struct twin_split whole = { 1, 1, 1 };
	struct twin_rank only = { 0, 0, 0, 0 };
	struct twin_weights sum = { 0, 0 };

	for (int64_t i = 0; i < m->layers; i++)
		twin_layer(m, &m->kind[m->layer[i]], whole, only, &sum);
	for (int64_t word = 0; word < m->vocab; word++)
		sum.dense += (double)m->hidden * (m->tied_embeddings ? 1 : 2);
	return sum.dense + sum.expert + twin_norm(m);
}

struct twin_rank twin_rank(const struct scenario *s, int64_t rank)
{
	const struct plan *p = &s->plan;
	int64_t stage = s->cluster.gpus / p->pp, inside = rank % stage;
	int64_t etp = p->etp > 0 ? p->etp : p->tp;

	return (struct twin_rank){ inside % p->tp, rank / stage, inside % etp,
				   inside / etp % p->ep };
}

void twin_weights(const struct scenario *s, struct twin_rank rank,
		  struct twin_weights *out)
{
	const struct model *m = &s->model;
	const struct plan *p = &s->plan;
	struct twin_split split = { p->tp, p->ep, p->etp > 0 ? p->etp : p->tp };
	double h = (double)m->hidden;
	int64_t rows = m->vocab;

	/* words are added until every rank has as many in whole units */
	while (rows % (p->tp * s->stack.vocab_multiple) != 0)
		rows++;
	*out = (struct twin_weights){ 0, 0 };
	for (int64_t i = 0; i < m->layers; i++)
		if (i * p->pp / m->layers == rank.pp)
			twin_layer(m, &m->kind[m->layer[i]], split, rank, out);
	if (rank.pp == 0)
		out->dense += h * (double)twin_mine(rows, p->tp, rank.tp);
	if (rank.pp != p->pp - 1)
		return;
	out->dense += twin_norm(m);
	if (!m->tied_embeddings || p->pp > 1)
		out->dense += h * (double)twin_mine(rows, p->tp, rank.tp);
	for (int64_t i = 0; i < m->mtp_layers; i++) {
		twin_layer(m, &m->kind[m->layer[m->layers - 1]], split, rank, out);
		/* the projection that joins two tokens; a norm on each, one behind
		 * (DeepSeek-V3, arXiv 2412.19437, section 2.2) */
		out->dense += 2 * h * (double)twin_mine(m->hidden, p->tp, rank.tp);
		out->dense += 3 * twin_norm(m);
	}
}
