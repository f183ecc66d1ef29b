/* shape.c - see shape.h: the halves of a layer. */
#include "engine/model/shape.h"

#include "engine/model/mixer.h"

double model_norm_weights(const struct model *m)
{
	return (double)m->hidden * (m->norm == NORM_LAYER && m->norm_bias ? 2 : 1);
}

static void add_norm(const struct model *m, const struct share *share, const char *name,
		     struct shapes *out)
{
	struct shape *shape =
		shape_add(out, SHAPE_NORM, name, share->norm_rows, (double)m->hidden);

	shape->weights = model_norm_weights(m);
}

static void add_residual(const struct model *m, const struct share *share,
			 struct shapes *out)
{
	shape_add(out, SHAPE_RESIDUAL, "residual", share->norm_rows, (double)m->hidden);
}

bool shapes_parallel(const struct model *m, const struct layer_kind *kind)
{
	return m->parallel_block && kind->mixer != MIXER_NONE && kind->mlp != MLP_NONE;
}

void shapes_measure(const struct model *m, const struct layer_kind *kind, double tp,
		    struct mixing *out)
{
	struct mixing beside;

	mixer_of(kind)->measure(m, kind, tp, out);
	if (kind->beside == MIXER_NONE)
		return;
	mixer_rows[kind->beside]->measure(m, kind, tp, &beside);
	out->scan = beside.scan;
}

static bool same_join(const struct model *m, int k)
{
	return k > 0 && m->kind[k].wide == m->kind[k - 1].wide &&
	       m->kind[k].frozen == m->kind[k - 1].frozen &&
	       shapes_parallel(m, &m->kind[k]) == shapes_parallel(m, &m->kind[k - 1]);
}

bool shapes_same_mixer(const struct model *m, int k)
{
	return same_join(m, k) && model_same_mixer(&m->kind[k], &m->kind[k - 1]);
}

bool shapes_same_mlp(const struct model *m, int k)
{
	return same_join(m, k) && m->kind[k].mlp == m->kind[k - 1].mlp &&
	       m->kind[k].ffn == m->kind[k - 1].ffn;
}

void shapes_mixer(const struct model *m, const struct layer_kind *kind,
		  const struct share *share, struct shapes *out)
{
	out->count = 0;
	shapes_measure(m, kind, share->tp, &out->mixing);
	if (kind->mixer == MIXER_NONE)
		return;
	add_norm(m, share, "input norm", out);
	mixer_of(kind)->draw(m, kind, share, out);
	if (kind->beside != MIXER_NONE)
		mixer_rows[kind->beside]->draw(m, kind, share, out);
	if (m->post_norms)
		add_norm(m, share, "post norm", out);
	if (!shapes_parallel(m, kind))
		add_residual(m, share, out);
}

/* One MLP; gated ones have three matrices. A parallel block has entered the region
 * already, and leaves it once (PaLM, arXiv 2204.02311, section 2). */
static void add_mlp(const struct model *m, const struct share *share, double ffn,
		    enum shape_part part, bool merged, struct shapes *out)
{
	double h = (double)m->hidden, f = ffn / share->tp, up = m->gated_mlp ? 2 : 1;
	bool bias = part == PART_MLP && m->mlp_bias;
	int from = out->count;
	struct shape *shape;

	if (!merged)
		shape_add(out, SHAPE_ENTER, "MLP input", share->rows, h);
	shape = shape_linear(out, m->gated_mlp ? "gate and up" : "up", share->rows,
			     up * f, h);
	shape->weights = bias ? up * f : 0;
	shape->saved = up * f;
	shape->further = m->gated_mlp;
	shape = shape_add(out, SHAPE_ACTIVATION, "activation", share->rows, f);
	shape->forward = up + 1;
	shape->backward = 2 * up + 1;
	shape->unfused = m->gated_mlp; /* the other is one kernel anyway */
	shape->saved = f;
	shape = shape_linear(out, "down", share->rows, h, f);
	shape->weights = bias ? h : 0;
	/* what weighs the shared experts is one row (Qwen's shared_expert_gate) */
	if (part == PART_SHARED && m->moe.shared_gate)
		shape->weights += h;
	if (!merged)
		shape_add(out, SHAPE_LEAVE, "MLP output", share->rows, h);
	for (; from < out->count; from++)
		out->item[from].part = (uint8_t)part;
}

/* The layer's own input, from its rows of a table and from the embedding, gated by what
 * the layer made, and added to it; small matrices that every rank has whole. */
static void add_layer_input(const struct model *m, const struct share *share,
			    struct shapes *out)
{
	double h = (double)m->hidden, w = (double)m->input_width;
	struct shape *shape;

	if (m->input_width <= 0)
		return;
	shape_linear(out, "layer input", share->norm_rows, w, h)->kept = w;
	shape_linear(out, "layer input gate", share->norm_rows, w, h)->kept = w;
	shape = shape_add(out, SHAPE_ELEMENTWISE, "gated layer input", share->norm_rows,
			  w);
	shape->forward = 3;
	shape->backward = 5;
	shape_linear(out, "layer input output", share->norm_rows, h, w);
	add_norm(m, share, "layer input norm", out);
}

void shapes_mlp(const struct model *m, const struct layer_kind *kind,
		const struct share *share, struct shapes *out)
{
	bool parallel = shapes_parallel(m, kind);

	out->count = 0;
	if (kind->mlp == MLP_NONE)
		return;
	if (!(parallel && m->shared_norm))
		add_norm(m, share, "MLP norm", out);
	if (kind->mlp == MLP_DENSE) {
		add_mlp(m, share, (double)kind->ffn, PART_MLP, parallel, out);
	} else {
		shape_add(out, SHAPE_EXPERTS, "experts", share->norm_rows,
			  (double)model_expert_width(m));
		if (m->moe.shared_ffn > 0)
			add_mlp(m, share, (double)m->moe.shared_ffn, PART_SHARED, false,
				out);
	}
	if (m->post_norms)
		add_norm(m, share, "MLP post norm", out);
	add_layer_input(m, share, out);
	add_residual(m, share, out);
}
