/* attention.c - MHA, GQA and MQA, over all tokens or a window. */
#include <stdio.h>

#include "engine/base/plain.h"
#include "engine/model/index.h"
#include "engine/model/mixer.h"

static void measure_attention(const struct model *model, const struct layer_kind *kind,
			      double tp, struct mixing *out)
{
	const struct attention *a = &kind->attention;

	(void)model;
	*out = (struct mixing){
		.attention = a,
		.heads = (double)a->heads / tp,
		/* those that tp can't split are whole on every rank */
		.kv_heads = larger((double)a->kv_heads / tp, 1),
		.query_dim = (double)a->head_dim,
		.value_dim = (double)a->value_dim,
		.sharing =
			(double)(a->heads + 2 * a->kv_heads) / (double)(3 * a->heads),
		.index = (double)(a->index_heads * a->index_dim),
	};
	out->entry = attention_entry(a, out->kv_heads);
}

/* Query, key and value of one input; the gate is a part of the query's projection
 * (Qwen3-Next). */
static struct shape *project_once(double h, const struct attention *a,
				  const struct share *share, struct shapes *out)
{
	const struct mixing *m = &out->mixing;
	double gate = a->output_gate ? m->heads * m->value_dim : 0;
	double keys = a->borrowed_kv ? 0 : m->entry;
	double width = m->heads * m->query_dim + keys + gate;
	struct shape *shape =
		shape_linear(out, "qkv projection", share->rows, width, h);

	shape->weights = a->qkv_bias ? width : 0;
	shape->kept = width;
	shape->further = 2;
	return shape;
}

/* Queries through a latent, keys and values from the input itself. */
static struct shape *project_twice(double h, const struct attention *a,
				   const struct share *share, struct shapes *out)
{
	const struct mixing *m = &out->mixing;
	double rank = (double)a->query_rank, q = m->heads * m->query_dim;
	double entry = m->entry;
	struct shape *shape;

	shape_linear(out, "query down", share->norm_rows, rank, h)->kept = rank;
	shape = shape_linear(out, "KV projection", share->rows, entry, h);
	shape->joined = "query down, keys and values";
	shape->weights = a->qkv_bias ? entry : 0;
	shape->kept = entry;
	shape = shape_norm(out, "query latent norm", share->norm_rows, rank, 2);
	shape->weights = shape->kept = rank;
	shape = shape_linear(out, "query up", share->rows, q, rank);
	shape->weights = a->qkv_bias ? q : 0;
	shape->kept = q;
	return shape;
}

static void draw_projections(const struct model *model, const struct attention *a,
			     const struct share *share, struct shapes *out)
{
	const struct mixing *m = &out->mixing;
	double h = (double)model->hidden;
	/* queries and keys, however wide values are */
	double positioned =
		(m->heads + (a->borrowed_kv ? 0 : m->kv_heads)) * m->query_dim;
	struct shape *shape = a->query_rank > 0 ? project_twice(h, a, share, out)
						: project_once(h, a, share, out);

	if (model->position == POSITION_RELATIVE)
		shape->weights += h * h / share->tp;
	if (a->qk_norm) {
		/* what enters waits beside what attention reads */
		shape = shape_norm(out, "query and key norm", share->rows, positioned,
				   2);
		shape->weights = (a->borrowed_kv ? 1 : 2) * m->query_dim;
		shape->kept = positioned;
	}
	if (model->position == POSITION_ROPE)
		shape_rotary(out, share->rows, positioned)->unfused = true;
}

/* Keys and values of whole windows of tokens, beside those of the last ones, with a
 * bias for each place of a window, and a norm. */
static void draw_compressor(double h, const struct attention *a,
			    const struct share *share, struct shapes *out)
{
	double columns = attention_compressor(a);
	struct shape *shape;

	if (columns <= 0)
		return;
	shape_linear(out, "compressed keys", share->norm_rows, columns, h)->kept =
		columns;
	shape = shape_add(out, SHAPE_ELEMENTWISE, "windows of tokens", share->norm_rows,
			  columns);
	shape->forward = 2;
	shape->backward = 3;
	shape->weights = columns / 2 * (double)a->compress + (double)a->head_dim;
}

/* Groups of heads to a rank each, the ranks to the hidden size; with one step all at
 * once. */
static void draw_output(double h, const struct attention *a, const struct share *share,
			struct shapes *out)
{
	double inner = out->mixing.heads * out->mixing.value_dim;
	double groups = larger(1, (double)a->output_groups / share->tp);
	double ranks = groups * (double)a->output_rank;

	if (a->output_rank > 0) {
		shape_linear(out, "output down", share->rows, ranks, inner / groups);
		inner = ranks;
	}
	shape_linear(out, "output projection", share->rows, h, inner)->weights =
		a->output_bias ? h : 0;
}

static void draw_attention(const struct model *model, const struct layer_kind *kind,
			   const struct share *share, struct shapes *out)
{
	const struct attention *a = &kind->attention;
	const struct mixing *m = &out->mixing;
	double h = (double)model->hidden, width = m->heads * m->value_dim;

	shape_add(out, SHAPE_ENTER, "attention input", share->rows, h);
	draw_projections(model, a, share, out);
	draw_compressor(h, a, share, out);
	index_draw(model, a, share, out);
	shape_add(out, SHAPE_KEYS, "keys and values", share->rows, m->entry);
	shape_add(out, SHAPE_CORE, "attention", share->rows, width)->weights =
		a->sinks ? m->heads : 0;
	shape_add(out, SHAPE_MERGE, "sum of the ring's parts", share->rows, width);
	draw_output(h, a, share, out);
	shape_add(out, SHAPE_LEAVE, "attention output", share->rows, h);
}

static void say_weights(const struct model *model, const struct layer_kind *kind,
			char *out, int size)
{
	const struct attention *a = &kind->attention;
	const char *entry = a->borrowed_kv ? "0"
			    : a->shared_kv ? "KV * d"
					   : "KV * (d + v)";
	const char *windows = a->compress <= 0    ? ""
			      : a->index_topk > 0 ? " + 2 * d * (2 * h + m) + d"
						  : " + 1 * d * (2 * h + m) + d";

	snprintf(out, (size_t)size, "%s + h * %s%s%s%s%s%s%s%s%s%s%s",
		 a->query_rank > 0 ? "h * q + q + q * H * d" : "h * H * d", entry,
		 a->output_rank > 0 ? " + H * v * o + g * o * h" : " + H * v * h",
		 a->output_gate ? " + h * H * v" : "", a->qkv_bias ? " + H * d + " : "",
		 a->qkv_bias ? entry : "",
		 a->qkv_bias && a->output_gate ? " + H * v" : "",
		 a->output_bias ? " + h" : "",
		 !a->qk_norm      ? ""
		 : a->borrowed_kv ? " + d"
				  : " + 2 * d",
		 a->sinks ? " + H" : "",
		 model->position == POSITION_RELATIVE ? " + h * h" : "", windows);
	index_say(a, out, size);
}

const struct mixer mixer_attention = {
	.label = "attention",
	.letter = '*',
	.attends = true,
	.channels = mixer_heads,
	.measure = measure_attention,
	.draw = draw_attention,
	.say = say_weights,
	.symbol = { { "h", "hidden size", "model.hidden" },
		    { "H", "heads", ".heads" },
		    { "KV", "heads of keys and values", ".kv_heads" },
		    { "d", "width of a head", ".head_dim" },
		    { "v", "width of a value head", ".value_dim" },
		    { "q", "width of the query's latent", ".query_rank" },
		    { "o", "rank of a group's output", ".output_rank" },
		    { "g", "groups of heads", ".output_groups" },
		    { "m", "tokens of a compressed entry", ".compress" },
		    { "I", "heads of the indexer", ".index_heads" },
		    { "w", "width of one", ".index_dim" } },
};
