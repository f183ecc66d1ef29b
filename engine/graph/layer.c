/* layer.c - one layer of a kind: norms, mixer, MLP, residuals, collectives. */
#include <string.h>

#include "engine/graph/build.h"

static void mixer(const struct graph_context *c, const struct layer_kind *kind,
		  struct graph *out)
{
	if (kind->mixer == MIXER_ATTENTION)
		graph_attention(c, kind, out);
	else if (kind->mixer == MIXER_MLA)
		graph_mla(c, kind, out);
	else if (kind->mixer != MIXER_NONE)
		graph_ssm(c, kind->mixer, out);
	if (kind->beside != MIXER_NONE)
		graph_ssm(c, kind->beside, out);
}

/* What the MLP of a layer is drawn with: its own adapters, or none. */
static const struct graph_context *mlp_context(const struct graph_context *c,
					       struct graph_context *bare)
{
	if (!c->frozen || c->scenario->plan.lora_targets == LORA_ALL)
		return c;
	*bare = graph_frozen(c);
	return bare;
}

static void mlp(const struct graph_context *c, const struct layer_kind *kind,
		struct graph *out)
{
	if (kind->mlp == MLP_DENSE)
		graph_mlp(c, (double)kind->ffn, c->scenario->model.mlp_bias,
			  1u << MODULE_MLP, out);
	else if (kind->mlp == MLP_MOE)
		graph_moe(c, out);
}

/* A parallel block enters and leaves the TP region once: the MLP's own collectives
 * behind position `from` are dropped (PaLM, arXiv 2204.02311 section 2). */
static void merge_collectives(struct graph *out, int from)
{
	int kept = from;

	for (int i = from; i < out->count; i++) {
		const struct graph_operator *op = &out->item[i];

		if (op->kind == OPERATOR_COLLECTIVE && op->dimension == DIM_TP)
			continue;
		if (kept != i)
			out->item[kept] = *op;
		kept++;
	}
	out->count = kept;
}

static bool is_parallel(const struct model *m, const struct layer_kind *kind)
{
	return m->parallel_block && kind->mixer != MIXER_NONE && kind->mlp != MLP_NONE;
}

static void mixer_half(const struct graph_context *c, const struct layer_kind *kind,
		       struct graph *out)
{
	const struct model *m = &c->scenario->model;
	double h = (double)m->hidden;

	if (kind->mixer == MIXER_NONE)
		return;
	graph_norm(c, out, "input norm", c->norm_tokens, h);
	mixer(c, kind, out);
	if (m->post_norms)
		graph_norm(c, out, "post norm", c->norm_tokens, h);
	if (!is_parallel(m, kind))
		graph_residual(c, out);
}

static void mlp_half(const struct graph_context *c, const struct layer_kind *kind,
		     struct graph *out)
{
	const struct model *m = &c->scenario->model;
	double h = (double)m->hidden;
	bool parallel = is_parallel(m, kind);
	struct graph_context bare;
	int from;

	if (kind->mlp == MLP_NONE)
		return;
	c = mlp_context(c, &bare);
	if (!(parallel && m->shared_norm))
		graph_norm(c, out, "MLP norm", c->norm_tokens, h);
	from = out->count;
	mlp(c, kind, out);
	if (parallel && kind->mlp == MLP_DENSE)
		merge_collectives(out, from);
	if (m->post_norms)
		graph_norm(c, out, "MLP post norm", c->norm_tokens, h);
	graph_residual(c, out);
}

void graph_layer(const struct graph_context *c, int k, struct graph *out)
{
	const struct layer_kind *kind = &c->scenario->model.kind[k];

	out->count = 0;
	mixer_half(c, kind, out);
	out->mixer_count = out->count;
	mlp_half(c, kind, out);
	graph_count_host(c, k, 0, out);
}

void graph_next_layer(const struct graph_context *c, int k, struct graph *out)
{
	const struct model *m = &c->scenario->model;
	const struct layer_kind *kind = &m->kind[k], *last = kind - 1;

	if (kind->mixer != last->mixer || kind->beside != last->beside ||
	    is_parallel(m, kind) != is_parallel(m, last) ||
	    memcmp(&kind->attention, &last->attention, sizeof kind->attention) != 0) {
		graph_layer(c, k, out);
		return;
	}
	out->count = out->mixer_count;
	mlp_half(c, kind, out);
	graph_count_host(c, k, out->mixer_count, out);
}

const char *operator_label(enum operator_kind kind)
{
	static const char *const labels[OPERATOR_COUNT] = {
		[OPERATOR_GEMM] = "GEMM",
		[OPERATOR_GROUPED_GEMM] = "grouped GEMM",
		[OPERATOR_ATTENTION] = "attention",
		[OPERATOR_NORM] = "norm",
		[OPERATOR_ELEMENTWISE] = "elementwise",
		[OPERATOR_EMBEDDING] = "lookup",
		[OPERATOR_LOSS] = "loss",
		[OPERATOR_ROUTER] = "router",
		[OPERATOR_PERMUTE] = "permute",
		[OPERATOR_SCAN] = "scan",
		[OPERATOR_WAIT] = "wait",
		[OPERATOR_COLLECTIVE] = "collective",
	};

	return kind < OPERATOR_COUNT ? labels[kind] : "?";
}
