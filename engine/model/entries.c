/* entries.c - what attention sees and keeps; see model.h. */
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
