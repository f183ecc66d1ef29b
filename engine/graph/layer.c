/* layer.c - one layer of a kind: norms, mixer, MLP, residuals, collectives. */
#include "engine/graph/build.h"

static void mixer(const struct graph_context *c, const struct layer_kind *kind,
		  struct graph *out)
{
	if (kind->mixer == MIXER_ATTENTION)
		graph_attention(c, kind, out);
	else if (kind->mixer == MIXER_MLA)
		graph_mla(c, kind, out);
	else if (kind->mixer != MIXER_NONE)
		graph_ssm(c, kind, out);
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

void graph_layer(const struct graph_context *c, int k, struct graph *out)
{
	const struct model *m = &c->scenario->model;
	const struct layer_kind *kind = &m->kind[k];
	double h = (double)m->hidden;
	bool both = kind->mixer != MIXER_NONE && kind->mlp != MLP_NONE;
	bool parallel = both && m->parallel_block;

	out->count = 0;
	if (kind->mixer != MIXER_NONE) {
		graph_norm(c, out, "input norm", c->norm_tokens, h);
		mixer(c, kind, out);
		if (m->post_norms)
			graph_norm(c, out, "post norm", c->norm_tokens, h);
		if (!parallel)
			graph_residual(c, out);
	}
	if (kind->mlp != MLP_NONE) {
		int from;

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
		[OPERATOR_COLLECTIVE] = "collective",
	};

	return kind < OPERATOR_COUNT ? labels[kind] : "?";
}
