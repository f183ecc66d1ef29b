/* gathered.c - where a block of TP begins and ends: what it gathers, sums and keeps. */
#include "engine/base/plain.h"
#include "engine/graph/build.h"

static double hidden_bytes(const struct graph_context *c, double width)
{
	return c->tokens * (double)c->scenario->model.hidden * width;
}

/* Megatron's adapters know no sequence parallelism: what they are handed is gathered,
 * and waits for their backward so (Megatron-Bridge, peft/utils.py:
 * sequence_parallel_input_regather, which is off, would gather it again). */
static bool adapters_keep(const struct graph_context *c)
{
	return c->frozen && c->adapter_rank > 0 && c->scenario->stack.splits_adapters;
}

/* PyTorch's layers save what they read, gathered as it is. A layer that runs again
 * under asynchronous TP gathers part by part into a buffer that its ranks share,
 * outside of the allocator. */
static bool products_keep(const struct graph_context *c)
{
	const struct plan *plan = &c->scenario->plan;

	return c->scenario->stack.keeps_gathered &&
	       !(plan->async_tp && plan->recompute == RECOMPUTE_FULL);
}

/* torchtitan's policy saves what is reduced and scattered, not what is gathered. A
 * named policy stands in place of it. */
static bool gathers_anew(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return scenario->stack.keeps_gathered &&
	       plan->recompute == RECOMPUTE_SELECTIVE &&
	       plan->remat_policy == REMAT_MODULES &&
	       (plan->recompute_modules & 1u << MODULE_PER_OP);
}

/* Parts of an input that SP gathered which wait for the backward. A pipeline's stages
 * wait for one another's shapes, so that a host is not far ahead of its accelerator; on
 * its own it is a pass ahead, and what its communication stream has not let go of
 * stays: all of it in five of six runs of nanotron's sweep at TP 16 and 32. */
static double gathered_parts(const struct graph_context *c)
{
	double ranks = (double)c->mesh->tp_group.ranks;
	double parts = c->scenario->stack.saved_gather_shards;

	if (adapters_keep(c) || products_keep(c))
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
			  double hiddens, double forward_width, double backward_width)
{
	if (c->scenario->stack.copies_gathered && c->mesh->tp_group.ranks > 1)
		graph_memory(c, graph, OPERATOR_ELEMENTWISE, "gathered copy", c->tokens,
			     hiddens * (double)c->scenario->model.hidden,
			     2 * forward_width, 2 * backward_width);
}

/* The input, to all ranks that hold columns of the products: as these read it, or as it
 * is where Megatron's adapters read what was gathered, too
 * (return_layernorm_output_gathered). */
static struct graph_operator *gather_input(const struct graph_context *c,
					   struct graph *graph, const char *name,
					   double hiddens, int forward, int backward)
{
	double width = adapters_keep(c) ? c->width : c->gathered_width;
	struct graph_operator *op = graph_collective(
		c, graph, name, DIM_TP, COLLECTIVE_ALL_GATHER, &c->mesh->tp_group,
		hiddens * hidden_bytes(c, width), forward, backward);

	if (op)
		op->narrow = width < c->width;
	return op;
}

static void enter_parts(const struct graph_context *c, struct graph *graph,
			const char *name, double hiddens, int calls)
{
	const struct group *tp = &c->mesh->tp_group;
	double shards = gathered_parts(c);
	struct graph_operator *op;

	/* the backward gathers the input again beside the input gradient's GEMM: its
	 * bytes count, its time hides (Korthikanti 2022, section 4.2.2). Frozen weights
	 * have no gradient that would need it. */
	op = gather_input(c, graph, name, hiddens, calls, 0);
	/* the norm's output is one part of what it gathered */
	if (op && shards > 1 && !gathers_anew(c->scenario))
		op->kept_bytes = (shards - 1) * op->payload_bytes / (double)tp->ranks;
	if (op && gathers_anew(c->scenario))
		op->modules = 1u << MODULE_PER_OP;
	copy_gathered(c, graph, hiddens,
		      op && op->narrow ? c->gathered_width : c->width, c->width);
	if (!c->scenario->stack.keeps_gathered &&
	    (!c->frozen || (c->adapter_rank > 0 && !adapters_keep(c)))) {
		op = gather_input(c, graph, "input again", hiddens, 0, calls);
		if (op)
			op->overlaps = true;
	}
	op = graph_collective(c, graph, "input gradient", DIM_TP,
			      COLLECTIVE_REDUCE_SCATTER, tp,
			      hiddens * hidden_bytes(c, c->width), 0, calls);
	if (op)
		op->beside_weight_grad = true;
}

void graph_enter_tp(const struct graph_context *c, struct graph *graph,
		    const char *name, double hiddens, int products)
{
	int calls = entries(c, products);
	struct graph_operator *op;

	if (c->scenario->plan.sp) {
		enter_parts(c, graph, name, hiddens, calls);
		return;
	}
	op = graph_collective(c, graph, name, DIM_TP, COLLECTIVE_ALL_REDUCE,
			      &c->mesh->tp_group, hiddens * hidden_bytes(c, c->width),
			      0, calls);
	if (op)
		op->beside_weight_grad = true;
}

void graph_leave_tp(const struct graph_context *c, struct graph *graph,
		    const char *name)
{
	const struct group *tp = &c->mesh->tp_group;
	bool narrow = c->gathered_width < c->width && tp->ranks > 1;
	double bytes = hidden_bytes(c, c->width);
	struct graph_operator *op;

	if (!c->scenario->plan.sp) {
		graph_collective(c, graph, name, DIM_TP, COLLECTIVE_ALL_REDUCE, tp,
				 bytes, 1, 0);
		return;
	}
	if (narrow)
		graph_gradient_gathered(c, graph);
	copy_gathered(c, graph, 1, c->width, c->gathered_gradient_width);
	graph_collective(c, graph, name, DIM_TP, COLLECTIVE_REDUCE_SCATTER, tp, bytes,
			 1, 0);
	op = graph_collective(c, graph, "output gradient", DIM_TP,
			      COLLECTIVE_ALL_GATHER, tp,
			      hidden_bytes(c, c->gathered_gradient_width), 0, 1);
	if (op)
		op->narrow = narrow;
}
