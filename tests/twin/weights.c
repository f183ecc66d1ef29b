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

/* An indexer (DeepSeek-V3.2-Exp, section 1; DeepSeek-V4's inference/model.py): queries
 * of each of its heads, a weight of each head, one key of a token, which has a norm
 * with scale and shift. Over compressed entries its key is one of those, made as they
 * are. Every rank has all of it: each needs all picks. */
static double indexer(const struct model *m, const struct attention *a, double query_in)
{
	double h = (double)m->hidden, w = (double)a->index_dim, sum = 0;

	for (int64_t head = 0; head < a->index_heads; head++)
		sum += w * query_in + h;
	if (a->index_heads == 0)
		return 0;
	if (a->compress == 0)
		return sum + w * h + 2 * w;
	for (int window = 0; window < 2; window++)
		for (int64_t place = 0; place < a->compress; place++)
			sum += w;
	/* in each of two windows a key and how much it weighs; a norm */
	return sum + 2 * (w * h + w * h) + w;
}

/* Entries of whole windows of tokens (DeepSeek-V4, compressed attention): a product for
 * what a token has to say and one for how much, a bias for each place, a norm; twice
 * where a window reaches into the one before it, as it does under an indexer. */
static double compressor(const struct model *m, const struct attention *a)
{
	double h = (double)m->hidden, d = (double)a->head_dim, sum = d;

	if (a->compress == 0)
		return 0;
	for (int window = 0; window < (a->index_topk > 0 ? 2 : 1); window++) {
		sum += d * h + d * h;
		for (int64_t place = 0; place < a->compress; place++)
			sum += d;
	}
	return sum;
}

/* Of each head to the hidden size, or of groups of heads to a few numbers each, and
 * from those. */
static double output(const struct model *m, const struct attention *a, int64_t tp,
		     int64_t which)
{
	double h = (double)m->hidden, sum = a->output_bias ? h : 0;

	for (int64_t head = 0; head < twin_mine(a->heads, tp, which); head++)
		sum += (double)a->value_dim *
		       (a->output_rank > 0 ? (double)a->output_rank : h);
	for (int64_t g = 0; g < a->output_groups && a->output_rank > 0; g++) {
		bool mine = false;

		for (int64_t q = 0; q < a->heads; q++)
			mine |= q * tp / a->heads == which &&
				q * a->output_groups / a->heads == g;
		sum += mine ? (double)a->output_rank * h : 0;
	}
	return sum;
}

static double attention(const struct model *m, const struct attention *a, int64_t tp,
			int64_t which)
{
	double h = (double)m->hidden, sum = 0;
	double bias = a->qkv_bias ? 1 : 0;
	double query_in = a->query_rank > 0 ? (double)a->query_rank : h;
	double key_and_value = (double)a->head_dim;

	if (!a->shared_kv)
		key_and_value += (double)a->value_dim;
	if (a->query_rank > 0) /* and the latent's norm */
		sum += h * (double)a->query_rank + (double)a->query_rank;
	for (int64_t head = 0; head < twin_mine(a->heads, tp, which); head++) {
		sum += (double)a->head_dim * (query_in + bias);
		sum += a->output_gate ? (double)a->value_dim * (h + bias) : 0;
		sum += a->sinks ? 1 : 0;
	}
	for (int64_t head = 0; head < shared_heads(a, tp, which); head++)
		sum += a->borrowed_kv ? 0 : key_and_value * (h + bias);
	/* one scale for all heads of queries, one for those of keys */
	if (a->qk_norm)
		sum += (double)a->head_dim * (a->borrowed_kv ? 1 : 2);
	return sum + output(m, a, tp, which) + compressor(m, a) +
	       indexer(m, a, query_in);
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
	return sum + indexer(m, a, query_in);
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
static double mlp(const struct model *m, int64_t width, int64_t ffn, bool bias,
		  struct twin_part part)
{
	double h = (double)width, sum = 0;

	for (int64_t f = 0; f < twin_mine(ffn, part.ranks, part.which); f++) {
		sum += (m->gated_mlp ? 2 : 1) * (h + (bias ? 1 : 0));
		sum += h;
	}
	return sum + (bias ? h : 0);
}

static void experts(const struct model *m, struct twin_split split,
		    struct twin_rank rank, struct twin_weights *out)
{
	int64_t width = m->moe.expert_latent > 0 ? m->moe.expert_latent : m->hidden;

	for (int64_t e = 0; e < m->moe.experts; e++) {
		/* its row of the router */
		out->dense += (double)m->hidden + (m->moe.router_bias ? 1 : 0);
		if (e * split.ep / m->moe.experts == rank.ep)
			out->expert +=
				mlp(m, width, m->moe.expert_ffn, m->moe.expert_bias,
				    (struct twin_part){ split.etp, rank.etp });
	}
	/* down to the experts' width and up again, whole on every rank */
	for (int64_t row = 0; row < m->moe.expert_latent; row++)
		out->dense += 2 * (double)m->hidden;
	if (m->moe.shared_ffn == 0)
		return;
	out->dense += mlp(m, m->hidden, m->moe.shared_ffn, false,
			  (struct twin_part){ split.tp, rank.tp });
	out->dense += m->moe.shared_gate ? (double)m->hidden : 0;
}

/* Norms of a layer: before each half, but one for both halves of a parallel block that
 * shares it; and behind each where there are post-norms. */
static double norms(const struct model *m, const struct layer_kind *kind)
{
	bool both = kind->mixer != MIXER_NONE && kind->mlp != MLP_NONE;
	double halves =
		(kind->mixer != MIXER_NONE ? 1 : 0) + (kind->mlp != MLP_NONE ? 1 : 0);
	double behind = m->post_norms ? halves : 0;

	if (both && m->parallel_block && m->shared_norm)
		halves = 1;
	return (halves + behind) * twin_norm(m);
}

/* A layer's own input (Gemma 3n, per-layer embeddings): from the embedding down to its
 * width, the gate from the layer likewise, back up, and a norm. */
static double own_input(const struct model *m)
{
	double h = (double)m->hidden, sum = 0;

	for (int64_t row = 0; row < m->input_width; row++)
		sum += h + h + h;
	return m->input_width > 0 ? sum + twin_norm(m) : 0;
}

void twin_layer(const struct model *m, const struct layer_kind *kind,
		struct twin_split split, struct twin_rank rank,
		struct twin_weights *out)
{
	out->dense += norms(m, kind) + own_input(m);
	if (kind->mixer == MIXER_ATTENTION)
		out->dense += attention(m, &kind->attention, split.tp, rank.tp);
	if (kind->mixer == MIXER_MLA)
		out->dense += latent_attention(m, &kind->attention, split.tp, rank.tp);
	if (kind->mixer == MIXER_MAMBA1)
		out->dense += mamba1(m, split.tp, rank.tp);
	/* Falcon-H1 (arXiv 2507.22448, section 2.1): both on the same input */
	if (kind->mixer == MIXER_MAMBA2 || kind->beside == MIXER_MAMBA2)
		out->dense += mamba2(m, split.tp, rank.tp);
	if (kind->mlp == MLP_DENSE)
		out->dense += mlp(m, m->hidden, kind->ffn, m->mlp_bias,
				  (struct twin_part){ split.tp, rank.tp });
	if (kind->mlp == MLP_MOE)
		experts(m, split, rank, out);
}

/* What the first stage has beside rows of words: positions and a norm whole, rows of
 * the layers' own inputs as it has words', and their norm. */
static double first_extras(const struct model *m, int64_t tp)
{
	double sum = m->embedding_norm ? twin_norm(m) : 0;

	if (m->position == POSITION_LEARNED)
		for (int64_t place = 0; place < m->max_positions; place++)
			sum += (double)m->hidden;
	for (int64_t i = 0; i < m->layers && m->input_width > 0; i++)
		sum += (double)(m->input_rows * m->input_width) / (double)tp;
	return sum + (double)m->input_width / (double)tp;
}

double twin_parameters(const struct model *m)
{
	struct twin_split whole = { 1, 1, 1 };
	struct twin_rank only = { 0, 0, 0, 0 };
	struct twin_weights sum = { 0, 0 };

	for (int64_t i = 0; i < m->layers; i++)
		twin_layer(m, &m->kind[m->layer[i]], whole, only, &sum);
	for (int64_t word = 0; word < m->vocab; word++)
		sum.dense += (double)m->hidden * (m->tied_embeddings ? 1 : 2) +
			     (m->head_bias ? 1 : 0);
	return sum.dense + sum.expert + twin_norm(m) + first_extras(m, 1);
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
		out->dense += h * (double)twin_mine(rows, p->tp, rank.tp) +
			      first_extras(m, p->tp);
	if (rank.pp != p->pp - 1)
		return;
	out->dense += twin_norm(m);
	if (!m->tied_embeddings || p->pp > 1)
		out->dense += h * (double)twin_mine(rows, p->tp, rank.tp);
	if (m->head_bias)
		out->dense += (double)twin_mine(rows, p->tp, rank.tp);
	/* layers that look up further tokens, on a rank without the table (Megatron
	 * Core, gpt_model.py: mtp_process) */
	if (m->mtp_layers > 0 && !m->tied_embeddings && p->pp > 1)
		out->dense += h * (double)twin_mine(rows, p->tp, rank.tp) +
			      first_extras(m, p->tp);
	for (int64_t i = 0; i < m->mtp_layers; i++) {
		twin_layer(m, &m->kind[m->layer[m->layers - 1]], split, rank, out);
		/* the projection that joins two tokens; a norm on each, one behind
		 * (DeepSeek-V3, arXiv 2412.19437, section 2.2) */
		out->dense += 2 * h * (double)twin_mine(m->hidden, p->tp, rank.tp);
		out->dense += 3 * twin_norm(m);
	}
}
