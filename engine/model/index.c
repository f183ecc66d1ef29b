/* index.c - see index.h. */
#include "engine/model/index.h"

#include <stdio.h>
#include <string.h>

/* Queries from the latent or from the input, a key a token or a window, and a weight a
 * head. Compressed keys are made as compressed entries are. */
void index_draw(const struct model *model, const struct attention *a,
		const struct share *share, struct shapes *out)
{
	double h = (double)model->hidden, wide = (double)a->index_dim;
	double queries = out->mixing.index, rank = (double)a->query_rank;
	double keys = wide * (a->compress > 0 ? 4 : 1) + (double)a->index_heads;
	struct shape *shape;

	if (a->index_heads <= 0)
		return;
	shape_linear(out, "indexer queries", share->norm_rows, queries,
		     rank > 0 ? rank : h)
		->kept = queries;
	shape_linear(out, "indexer keys and weights", share->norm_rows, keys, h)->kept =
		keys;
	shape = shape_norm(out, "indexer norm", share->norm_rows, wide, 2);
	shape->weights =
		a->compress > 0 ? 2 * (double)a->compress * wide + wide : 2 * wide;
	shape_add(out, SHAPE_SCORES, "indexer scores", share->rows, queries);
}

void index_say(const struct attention *a, char *out, int size)
{
	size_t used = strlen(out);

	if (a->index_heads > 0)
		snprintf(out + used, (size_t)size - used, " + %s * I * w + h * I + %s",
			 a->query_rank > 0 ? "q" : "h",
			 a->compress > 0 ? "4 * h * w + 2 * m * w + w"
					 : "h * w + 2 * w");
}
