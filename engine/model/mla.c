/* mla.c - multi-head latent attention: DeepSeek-V2 (arXiv 2405.04434), section 2.1,
 * low-rank queries and joint keys and values. */
#include <stdio.h>

#include "engine/model/index.h"
#include "engine/model/mixer.h"

static void measure_mla(const struct model *model, const struct layer_kind *kind,
			double tp, struct mixing *out)
{
	const struct attention *a = &kind->attention;
	double rank = (double)a->kv_rank, rope = (double)a->rope_dim;

	(void)model;
	*out = (struct mixing){
		.attention = a,
		.heads = (double)a->heads / tp,
		.kv_heads = (double)a->heads / tp,
		.query_dim = (double)a->nope_dim + rope,
		.value_dim = (double)a->value_dim,
		.sharing =
			(double)(a->heads + 2 * a->kv_heads) / (double)(3 * a->heads),
		.entry = rank + rope, /* every rank keeps the whole latent */
		.latent = 2 * rank + rope,
		.index = (double)(a->index_heads * a->index_dim),
	};
}

/* The down projections are whole on every TP rank, as in Megatron Core and vLLM. */
static void draw_down(const struct attention *a, double h, const struct share *share,
		      struct shapes *out)
{
	double rank = (double)a->query_rank, latent = out->mixing.entry;
	double norms = rank + (double)a->kv_rank;
	struct shape *shape;

	if (rank > 0)
		shape_linear(out, "query down", share->norm_rows, rank, h)->kept = rank;
	shape = shape_linear(out, "KV down", share->norm_rows, latent, h);
	shape->joined = rank > 0 ? "latent projections" : NULL;
	shape->kept = latent;
	shape = shape_norm(out, "latent norms", share->norm_rows, norms, 2);
	shape->weights = shape->kept = norms;
	shape_add(out, SHAPE_LATENTS, "latents", share->rows, rank + latent);
}

/* Up projections are split by heads. Decoding folds those of keys and values into
 * query and output and attends over the latents; prompts expand them. */
static void draw_up(const struct attention *a, double h, const struct share *share,
		    struct shapes *out)
{
	double count = out->mixing.heads, qk = out->mixing.query_dim;
	double nope = (double)a->nope_dim, v = out->mixing.value_dim;
	double rank = (double)a->kv_rank;
	struct shape *shape;

	/* queries that have no latent are made of the whole input */
	if (a->query_rank <= 0)
		shape_add(out, SHAPE_ENTER, "attention input", share->rows, h);
	shape = shape_linear(out, "query up", share->rows, count * qk,
			     a->query_rank > 0 ? (double)a->query_rank : h);

	shape->saved = count * qk;
	shape->part = PART_EXPANSION;
	if (share->decoding > 0) {
		shape_linear(out, "absorbed keys", share->decoding, count * nope, rank)
			->borrowed = true;
		shape_linear(out, "absorbed values", share->decoding, count * v, rank)
			->borrowed = true;
	}
	shape = shape_linear(out, "KV up", share->rows - share->decoding,
			     count * (nope + v), rank);
	/* keys with the shared rotary part spread over the heads, and values */
	shape->saved = count * (qk + v);
	shape->part = PART_EXPANSION;
}

static void draw_mla(const struct model *model, const struct layer_kind *kind,
		     const struct share *share, struct shapes *out)
{
	const struct attention *a = &kind->attention;
	const struct mixing *m = &out->mixing;
	double h = (double)model->hidden;
	double width = m->heads * m->value_dim, keys = m->heads * m->query_dim;

	draw_down(a, h, share, out);
	draw_up(a, h, share, out);
	shape_rotary(out, share->rows, 2 * keys);
	index_draw(model, a, share, out);
	shape_add(out, SHAPE_KEYS, "keys and values", share->rows, keys + width);
	shape_add(out, SHAPE_CORE, "attention", share->rows, width);
	shape_add(out, SHAPE_MERGE, "sum of the ring's parts", share->rows, width);
	shape_linear(out, "output projection", share->rows, h, width);
	shape_add(out, SHAPE_LEAVE, "attention output", share->rows, h);
}

static void say(const struct model *model, const struct layer_kind *kind, char *out,
		int size)
{
	(void)model;
	snprintf(out, (size_t)size,
		 "h * (c + r) + c + c * H * (n + v) + H * v * h + %s",
		 kind->attention.query_rank > 0 ? "h * q + q + q * H * (n + r)"
						: "h * H * (n + r)");
	index_say(&kind->attention, out, size);
}

const struct mixer mixer_mla = {
	.label = "MLA",
	.nearest = &mixer_attention,
	.attends = true,
	.latent = true,
	.channels = mixer_heads,
	.measure = measure_mla,
	.draw = draw_mla,
	.say = say,
	.symbol = { { "h", "hidden size", "model.hidden" },
		    { "H", "heads", ".heads" },
		    { "c", "width of the latent", ".kv_rank" },
		    { "q", "width of the query's latent", ".query_rank" },
		    { "n", "width of a head without positions", ".nope_dim" },
		    { "r", "width of a head with positions", ".rope_dim" },
		    { "v", "width of a value head", ".value_dim" },
		    { "m", "tokens of a compressed entry", ".compress" },
		    { "I", "heads of the indexer", ".index_heads" },
		    { "w", "width of one", ".index_dim" } },
};
