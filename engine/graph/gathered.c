/* gathered.c - where a block of TP begins and ends: what it gathers, sums and keeps. */
#include "engine/base/plain.h"
#include "engine/graph/build.h"

static double hidden_bytes(const struct graph_context *c)
{
	return c->tokens * (double)c->scenario->model.hidden * c->width;
}

/* Megatron's adapters know no sequence parallelism: what they are handed is gathered,
 * and waits for their backward so (Megatron-Bridge, peft/utils.py:
 * sequence_parallel_input_regather, which is off, would gather it again). */
static bool adapters_keep(const struct graph_context *c)
{
	return c->frozen && c->adapter_rank > 0 && c->scenario->stack.splits_adapters;
}

/* Parts of an input that SP gathered which wait for the backward. A pipeline's stages
 * wait for one another's shapes, so that a host is not far ahead of its accelerator; on
 * its own it is a pass ahead, and what its communication stream has not let go of
 * stays: all of it in five of six runs of nanotron's sweep at TP 16 and 32. */
static double gathered_parts(const struct graph_context *c)
{
	double ranks = (double)c->mesh->tp_group.ranks;
	double parts = c->scenario->stack.saved_gather_shards;

	if (adapters_keep(c))
		return ranks;
	return parts > 1 && c->scenario->plan.pp == 1 ? ranks : lesser(parts, ranks);
}

/* Matrices that enter by themselves; with SP fewer stacks have them so. */
static int entries(const struct graph_context *c, int products)
{
	const struct stack *stack = &c->scenario->stack;
	bool each = c->scenario->plan.sp ? stack->gathers_by_product
					 : stack->reduces_by_product;

	return each ? products : 1;
}

/* A gathered sequence lies part by part, and is scattered so: where it is not the first
 * axis, a copy puts the parts into place. Products that overlap spare some of that, but
 * sum what came from each rank in a pass of its own, and copy what they gathered for
 * the weight's gradient (pytorch torch/distributed/_symmetric_memory, stacked partials
 * and return_A). */
static void copy_gathered(const struct graph_context *c, struct graph *graph,
			  double hiddens)
{
	if (c->scenario->stack.copies_gathered && c->mesh->tp_group.ranks > 1)
		graph_memory(c, graph, OPERATOR_ELEMENTWISE, "gathered copy", c->tokens,
			     hiddens * (double)c->scenario->model.hidden, 2 * c->width,
			     2 * c->width);
}

void graph_enter_tp(const struct graph_context *c, struct graph *graph,
		    const char *name, double hiddens, int products)
{
	const struct group *tp = &c->mesh->tp_group;
	double bytes = hiddens * hidden_bytes(c);
	int calls = entries(c, products);
	struct graph_operator *op;
	double shards;

	if (!c->scenario->plan.sp) {
		op = graph_collective(c, graph, name, DIM_TP, COLLECTIVE_ALL_REDUCE, tp,
				      bytes, 0, calls);
		if (op)
			op->beside_weight_grad = true;
		return;
	}
	/* the backward gathers the input again beside the input gradient's GEMM: its
	 * bytes count, its time hides (Korthikanti 2022, section 4.2.2). Frozen weights
	 * have no gradient that would need it. */
	op = graph_collective(c, graph, name, DIM_TP, COLLECTIVE_ALL_GATHER, tp, bytes,
			      calls, 0);
	/* the norm's output is one part of what it gathered */
	shards = gathered_parts(c);
	if (op && shards > 1)
		op->kept_bytes = (shards - 1) * bytes / (double)tp->ranks;
	copy_gathered(c, graph, hiddens);
	if (!c->frozen || (c->adapter_rank > 0 && !adapters_keep(c))) {
		op = graph_collective(c, graph, "input again", DIM_TP,
				      COLLECTIVE_ALL_GATHER, tp, bytes, 0, calls);
		if (op)
			op->overlaps = true;
	}
	op = graph_collective(c, graph, "input gradient", DIM_TP,
			      COLLECTIVE_REDUCE_SCATTER, tp, bytes, 0, calls);
	if (op)
		op->beside_weight_grad = true;
}

void graph_leave_tp(const struct graph_context *c, struct graph *graph,
		    const char *name)
{
	const struct group *tp = &c->mesh->tp_group;

	if (!c->scenario->plan.sp) {
		graph_collective(c, graph, name, DIM_TP, COLLECTIVE_ALL_REDUCE, tp,
				 hidden_bytes(c), 1, 0);
		return;
	}
	copy_gathered(c, graph, 1);
	graph_collective(c, graph, name, DIM_TP, COLLECTIVE_REDUCE_SCATTER, tp,
			 hidden_bytes(c), 1, 0);
	graph_collective(c, graph, "output gradient", DIM_TP, COLLECTIVE_ALL_GATHER, tp,
			 hidden_bytes(c), 0, 1);
}
