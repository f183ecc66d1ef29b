/* attention.c - what attention holds, sees and keeps; see model.h. */
#include <math.h>

#include "engine/model/model.h"

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Entries behind the window, or all of them. */
static double far(const struct attention *a, double tokens)
{
	return a->compress > 0 ? floor(tokens / (double)a->compress)
	       : a->window > 0 ? 0
			       : tokens;
}

static double near(const struct attention *a, double tokens)
{
	return a->window > 0 ? smaller(tokens, (double)a->window) : 0;
}

double attention_kept(const struct attention *a, double tokens)
{
	return near(a, tokens) + far(a, tokens);
}

double attention_seen(const struct attention *a, double tokens)
{
	double entries = far(a, tokens);

	if (a->index_topk > 0)
		entries = smaller(entries, (double)a->index_topk);
	return near(a, tokens) + entries;
}

double attention_scored(const struct attention *a, double tokens)
{
	return a->index_heads > 0 ? far(a, tokens) : 0;
}

/* Mean over a causal sequence where at most `most` are seen: rows at the start are
 * shorter. */
static double mean_up_to(double seq, double most)
{
	return most < seq ? most - most * most / (2 * seq) : seq / 2;
}

double attention_mean_seen(const struct attention *a, double seq)
{
	double entries = a->compress > 0 ? seq / (double)a->compress
			 : a->window > 0 ? 0
					 : seq;
	double seen = a->window > 0 ? mean_up_to(seq, (double)a->window) : 0;

	if (entries <= 0)
		return seen;
	return seen + (a->index_topk > 0 ? mean_up_to(entries, (double)a->index_topk)
					 : entries / 2);
}

double attention_mean_scored(const struct attention *a, double seq)
{
	if (a->index_heads <= 0)
		return 0;
	return seq / (a->compress > 0 ? (double)a->compress : 1) / 2;
}

double attention_entry(const struct attention *a, double kv_heads)
{
	return kv_heads * (double)(a->head_dim + (a->shared_kv ? 0 : a->value_dim));
}

double attention_index_bytes(const struct attention *a, double tokens)
{
	double wide = (double)a->index_dim;

	return attention_scored(a, tokens) * (wide + 4 * ceil(wide / 128));
}

double attention_compressor(const struct attention *a)
{
	if (a->compress <= 0)
		return 0;
	return 2 * (a->index_topk > 0 ? 2 : 1) * (double)a->head_dim;
}

/* Queries of its own, a key a token with its norm, and a weight a head. Compressed keys
 * are made as compressed entries are. */
double attention_index_parameters(const struct attention *a, double hidden)
{
	double wide = (double)a->index_dim, heads = (double)a->index_heads;
	double from = a->query_rank > 0 ? (double)a->query_rank : hidden;
	double keys = a->compress > 0 ? 4 * hidden * wide +
						2 * (double)a->compress * wide + wide
				      : hidden * wide + 2 * wide;

	return heads > 0 ? from * heads * wide + keys + hidden * heads : 0;
}

static double query(const struct attention *a, double hidden, double columns)
{
	double rank = (double)a->query_rank;

	return rank > 0 ? hidden * rank + rank + rank * columns : hidden * columns;
}

static double output(const struct attention *a, double hidden, double inner)
{
	double rank = (double)a->output_rank;

	return rank > 0 ? inner * rank + (double)a->output_groups * rank * hidden
			: inner * hidden;
}

static double plain_parameters(const struct attention *a, double h)
{
	double q = (double)(a->heads * a->head_dim);
	double kv = attention_entry(a, (double)a->kv_heads);
	double o = (double)(a->heads * a->value_dim);
	double count = query(a, h, q) + h * kv + output(a, h, o);

	if (a->output_gate)
		count += h * o;
	/* the gate is a part of the query's projection (Qwen3-Next) */
	if (a->qkv_bias)
		count += q + kv + (a->output_gate ? o : 0);
	if (a->output_bias)
		count += h;
	if (a->qk_norm)
		count += 2 * (double)a->head_dim;
	if (a->sinks)
		count += (double)a->heads;
	/* with a bias for each place of a window, and a norm */
	if (a->compress > 0)
		count += attention_compressor(a) * (h + (double)a->compress / 2) +
			 (double)a->head_dim;
	return count;
}

/* DeepSeek-V2 (arXiv 2405.04434) section 2.1: low-rank query and joint KV. */
static double latent_parameters(const struct attention *a, double h)
{
	double heads = (double)a->heads;

	return h * (double)(a->kv_rank + a->rope_dim) + (double)a->kv_rank +
	       (double)a->kv_rank * heads * (double)(a->nope_dim + a->value_dim) +
	       heads * (double)a->value_dim * h +
	       query(a, h, heads * (double)(a->nope_dim + a->rope_dim));
}

double attention_parameters(const struct attention *a, enum mixer mixer, double hidden)
{
	return (mixer == MIXER_MLA ? latent_parameters(a, hidden)
				   : plain_parameters(a, hidden)) +
	       attention_index_parameters(a, hidden);
}
