/* mlp.c - a dense MLP, or the shared experts, on one rank. */
#include "engine/graph/build.h"

void graph_mlp(const struct graph_context *c, double ffn, bool bias, uint32_t modules,
	       struct graph *graph)
{
	const struct model *m = &c->scenario->model;
	const struct plan *plan = &c->scenario->plan;
	double f = ffn / (double)c->mesh->tp, h = (double)m->hidden;
	double up = m->gated_mlp ? 2 : 1;
	struct graph_operator *op;

	/* a dense one piece by piece: forward without keeping anything, backward with
	 * the forward of each piece before it (TiledMLP, arXiv 2506.13996) */
	double pieces = modules & 1u << MODULE_MLP && plan->mlp_tiles > 1
				? (double)plan->mlp_tiles
				: 0;

	graph_enter_tp(c, graph, "MLP input");
	op = graph_linear(c, graph, m->gated_mlp ? "gate and up" : "up", c->tokens,
			  up * f, h, bias, 1);
	op->saved_bytes = c->tokens * up * f * graph_gate_width(c);
	op->modules = modules | 1u << MODULE_PER_OP;
	op->tiles = pieces;
	op = graph_memory(c, graph, OPERATOR_ELEMENTWISE, "activation", c->tokens, f,
			  (up + 1) * c->width * (c->norm_passes > 1 ? 1.7 : 1),
			  (2 * up + 1) * c->width * (c->norm_passes > 1 ? 1.7 : 1));
	op->saved_bytes = c->tokens * f * graph_saved_width(c);
	if (m->gated_mlp)
		op->saved_bytes += c->ffn_copies * c->tokens * f * c->width;
	op->modules = modules | 1u << MODULE_PER_OP;
	op->tiles = pieces;
	graph_linear(c, graph, "down", c->tokens, h, f, bias, 1);
	graph_leave_tp(c, graph, "MLP output");
}
