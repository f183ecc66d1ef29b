/* adapters.c - what TP ranks send for the adapters beside a frozen matrix.
 *
 * Megatron's (NeMo@8cfedd7, collections/llm/peft; Megatron-Bridge@067f987,
 * peft/utils.py, ParallelLinearAdapter; TransformerEngine from 1.5 on). Of the two
 * matrices the inner one is split over its output of r columns where the frozen one is
 * split by columns, and over its input where that is split by rows; the outer one is
 * split over its output. Neither knows sequence parallelism: what enters is gathered
 * before, what leaves is scattered behind. No kernel hides any of it by pieces.
 */
#include "engine/graph/build.h"

struct beside {
	const struct graph_context *context;
	struct graph *graph;
	double inner, wide; /* bytes of r columns of all rows, and of what is whole:
			     * the frozen matrix's input or its output */
};

static void add_call(const struct beside *b, const char *name,
		     enum collective_kind kind, int forward, int backward)
{
	double bytes = kind == COLLECTIVE_ALL_TO_ALL
			       ? b->wide / (double)b->context->mesh->tp
			       : b->wide;
	struct graph_operator *op =
		graph_collective(b->context, b->graph, name, DIM_TP, kind,
				 &b->context->mesh->tp_group, bytes, forward, backward);

	if (op)
		op->whole = true;
}

/* Of r columns: forward to all ranks, backward the sum of what they make of it. */
static void inner_calls(const struct beside *b, enum collective_kind forward)
{
	const struct beside narrow = { b->context, b->graph, 0, b->inner };

	add_call(&narrow, "adapter's inner output", forward, 1, 0);
	add_call(&narrow, "adapter's inner gradient", COLLECTIVE_ALL_REDUCE, 0, 1);
}

/* The frozen layer hands on the input that it gathered, unless its kernels gather by
 * pieces; without sequence parallelism the input's gradient is added up. */
static void call_columns(const struct beside *b)
{
	const struct plan *plan = &b->context->scenario->plan;

	if (plan->sp && plan->tp_overlap) {
		add_call(b, "adapter's input", COLLECTIVE_ALL_GATHER, 1, 0);
		add_call(b, "adapter's input gradient", COLLECTIVE_REDUCE_SCATTER, 0,
			 1);
	}
	inner_calls(b, COLLECTIVE_ALL_GATHER);
	if (!plan->sp)
		add_call(b, "adapter's input gradient", COLLECTIVE_ALL_REDUCE, 0, 1);
}

/* Columns that a rank has of all rows become all columns of its rows: by one exchange,
 * or gathered and cut, and the gradient gathered again. */
static void rows(const struct beside *b)
{
	const struct plan *plan = &b->context->scenario->plan;

	inner_calls(b, COLLECTIVE_ALL_REDUCE);
	if (plan->sp && plan->lora_exchange)
		add_call(b, "adapter's output", COLLECTIVE_ALL_TO_ALL, 1, 1);
	else
		add_call(b, "adapter's output", COLLECTIVE_ALL_GATHER, 1, plan->sp);
}

void graph_adapter_calls(const struct graph_context *c, const struct shapes *shapes,
			 const struct shape *shape, struct graph *graph)
{
	const struct shape *last = &shapes->item[shapes->count - 1];
	struct beside b = { c, graph, shape->rows * c->adapter_rank * c->width, 0 };
	bool entered = shape > shapes->item && shape[-1].kind == SHAPE_ENTER;
	bool leaves = shape < last && shape[1].kind == SHAPE_LEAVE;

	if (!c->frozen || c->adapter_rank <= 0 || c->mesh->tp < 2 ||
	    !c->scenario->stack.splits_adapters)
		return;
	b.wide = shape->rows * c->width * (leaves ? shape->columns : shape->inner);
	/* heads expand from latents as from any input; others are whole on every rank
	 */
	if (entered || shape->part == PART_EXPANSION)
		call_columns(&b);
	else if (leaves)
		rows(&b);
}
