/* ssm.c - Mamba-1, Mamba-2 and linear attention on one rank. */
#include <math.h>

#include "engine/graph/build.h"

struct widths {
	double inner, state, heads, groups;
	double in;         /* columns of the input projection */
	double conv;       /* channels of the short convolution */
	double flops;      /* of the scan, per token forward */
	double scan_bytes; /* of memory traffic, per token forward */
};

static void measure(const struct graph_context *c, enum mixer mixer, struct widths *w)
{
	const struct ssm *s = &c->scenario->model.ssm;
	double tp = (double)c->mesh->tp, chunk = s->chunk > 0 ? (double)s->chunk : 256;

	w->inner = (double)s->inner / tp;
	w->state = (double)s->state;
	w->heads = (double)s->heads / tp;
	/* groups are split like heads, and repeated where there are fewer than ranks */
	w->groups = fmax((double)s->groups / tp, 1);
	if (mixer == MIXER_MAMBA1) {
		w->in = 2 * w->inner;
		w->conv = w->inner;
		w->flops = 9 * w->inner * w->state;
		w->scan_bytes = 4 * w->inner * c->width * 2;
		return;
	}
	w->conv = w->inner + 2 * w->groups * w->state;
	w->in = w->inner + w->conv + (mixer == MIXER_LINEAR ? 2 : 1) * w->heads;
	/* state-space duality in chunks: inside a chunk like attention, between chunks
	 * by states (arXiv 2405.21060 section 6) */
	w->flops = 2 * (chunk / 2 * (w->groups * w->state + w->inner) +
			2 * w->inner * w->state);
	w->scan_bytes =
		3 * (w->conv + w->inner) * c->width + 8 * w->inner * w->state / chunk;
}

/* Context parallelism passes states and the convolution's edge, whatever the length. */
static void pass_states(const struct graph_context *c, struct graph *graph,
			const struct widths *w)
{
	const struct plan *plan = &c->scenario->plan;
	double bytes = (double)plan->micro_batch *
		       (w->inner * w->state +
			(double)(c->scenario->model.ssm.conv - 1) * w->conv) *
		       4;

	graph_collective(c, graph, "chunk states", DIM_CP, COLLECTIVE_ALL_GATHER,
			 &c->mesh->cp_group, bytes * (double)plan->cp, 1, 1);
}

void graph_ssm(const struct graph_context *c, enum mixer mixer, struct graph *graph)
{
	const struct ssm *s = &c->scenario->model.ssm;
	double h = (double)c->scenario->model.hidden;
	double chunk = s->chunk > 0 ? (double)s->chunk : 256;
	struct graph_operator *op;
	struct widths w;

	measure(c, mixer, &w);
	graph_enter_tp(c, graph, "mixer input");
	op = graph_linear(c, graph, "input projection", c->tokens, w.in, h, false, 1);
	op->kept_bytes = c->tokens * w.in * c->width;
	op = graph_memory(c, graph, OPERATOR_ELEMENTWISE, "short convolution",
			  c->tokens, w.conv, 2 * c->width, 3 * c->width);
	op->weights = w.conv * ((double)s->conv + 1);
	op->trainable = c->frozen ? 0 : op->weights;
	op->kept_bytes = c->tokens * w.conv * c->width;
	if (mixer == MIXER_MAMBA1) {
		double rank = (double)s->dt_rank;

		graph_linear(c, graph, "step and state projection", c->tokens,
			     rank + 2 * w.state, w.inner, false, 1);
		graph_linear(c, graph, "step expansion", c->tokens, w.inner, rank, true,
			     1);
	}
	pass_states(c, graph, &w);
	op = graph_add(graph, OPERATOR_SCAN, "scan");
	op->rows = c->tokens;
	op->columns = w.inner;
	op->inner = w.state;
	op->forward_flops = c->tokens * w.flops;
	op->input_grad_flops = 2.5 * op->forward_flops;
	op->forward_bytes = c->tokens * w.scan_bytes;
	op->backward_bytes = 2.5 * op->forward_bytes;
	op->kept_bytes =
		c->tokens * (w.inner * c->width + w.inner * w.state * 4 / chunk);
	op->weights = mixer == MIXER_MAMBA1 ? w.inner * (w.state + 1) : 3 * w.heads;
	op->trainable = c->frozen ? 0 : op->weights;
	op->forward_seconds =
		roofline_seconds(&c->gemm, op->forward_flops, op->forward_bytes);
	op->input_grad_seconds =
		roofline_seconds(&c->gemm, op->input_grad_flops, op->backward_bytes);
	if (mixer != MIXER_MAMBA1) {
		op = graph_memory(c, graph, OPERATOR_NORM, "gated norm", c->tokens,
				  w.inner, 3 * c->width, 5 * c->width);
		op->weights = mixer == MIXER_LINEAR ? (double)s->head_dim : w.inner;
		op->trainable = c->frozen ? 0 : op->weights;
		op->kept_bytes = c->tokens * w.inner * c->width;
	}
	graph_linear(c, graph, "output projection", c->tokens, h, w.inner, false, 1);
	graph_leave_tp(c, graph, "mixer output");
}
