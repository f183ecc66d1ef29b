/* flops.c - what each token of a sequence computes, layer by layer. */
#include "tests/twin/tensor.h"

/* How much of the sequence token t sees: those before it as far as the window goes,
 * and itself, whose score is half on the right side of the diagonal. */
static double sees(int64_t t, int64_t window)
{
	double sum = 0.5;

	for (int64_t back = 1; back <= t; back++)
		if (window == 0 || back < window)
			sum += 1;
	/* the last one of a full window is there to its half */
	return window > 0 && t >= window ? sum + 0.5 : sum;
}

/* Weights that a token is multiplied with: of the experts those it goes to. */
static double touched(const struct model *m, const struct layer_kind *kind)
{
	struct twin_split whole = { 1, 1, 1 };
	struct twin_rank only = { 0, 0, 0, 0 };
	struct twin_weights sum = { 0, 0 };

	twin_layer(m, kind, whole, only, &sum);
	if (kind->mlp != MLP_MOE)
		return sum.dense;
	for (int64_t e = 0; e < m->moe.experts_per_token; e++)
		sum.dense += sum.expert / (double)m->moe.experts;
	return sum.dense;
}

/* Entries that token t attends to: the window before it, and what lies behind that,
 * token by token or as entries of so many; of these as many as an indexer picks. */
static double attends(const struct attention *a, int64_t t)
{
	double sum = a->window > 0 ? sees(t, a->window) : 0;

	if (a->compress > 0)
		return sum + sees(t / a->compress, a->index_topk);
	return a->window > 0 ? sum : sees(t, a->index_topk);
}

/* The indexer scores everything that it may pick. */
static double scores(const struct attention *a, int64_t t)
{
	double sum = 0;

	for (int64_t head = 0; head < a->index_heads; head++)
		sum += 2 * (double)a->index_dim *
		       sees(a->compress > 0 ? t / a->compress : t, 0);
	return sum;
}

/* Two FLOPs for each of a score's and a value's products, with every position seen. */
static double mixing(const struct model *m, const struct layer_kind *kind, int64_t t)
{
	const struct attention *a = &kind->attention;
	const struct ssm *s = &m->ssm;
	double sum = 0, state = (double)s->state, inner = (double)s->inner;

	if (kind->mixer == MIXER_ATTENTION || kind->mixer == MIXER_MLA)
		for (int64_t head = 0; head < a->heads; head++)
			sum += attends(a, t) * 2 * (double)(a->head_dim + a->value_dim);
	sum += scores(a, t);
	/* a state of every channel: decay, input, sum, output and their products */
	if (kind->mixer == MIXER_MAMBA1)
		sum = 9 * inner * state;
	/* scores with the tokens of the chunk so far, then the state in and out
	 * (arXiv 2405.21060, section 6) */
	if (kind->mixer == MIXER_MAMBA2 || kind->beside == MIXER_MAMBA2)
		sum += 2 * sees(t % s->chunk, 0) * ((double)s->groups * state + inner) +
		       2 * inner * state + 2 * inner * state;
	return sum;
}

double twin_flops(const struct model *m, int64_t seq)
{
	const struct layer_kind *last = &m->kind[m->layer[m->layers - 1]];
	double sum = 0, h = (double)m->hidden;

	for (int64_t t = 0; t < seq; t++) {
		double token = 0;

		for (int64_t i = 0; i < m->layers; i++) {
			const struct layer_kind *kind = &m->kind[m->layer[i]];

			token += 2 * touched(m, kind) + mixing(m, kind, t);
		}
		token += 2 * (twin_norm(m) + (double)m->vocab * h +
			      (m->head_bias ? (double)m->vocab : 0) +
			      (m->embedding_norm ? twin_norm(m) : 0));
		for (int64_t i = 0; i < m->mtp_layers; i++)
			token += 2 * (touched(m, last) + 2 * h * h +
				      (double)m->vocab * h) +
				 mixing(m, last, t);
		/* the gradients of inputs and of weights, each as much again */
		sum += 3 * token;
	}
	return sum / (double)seq;
}
