/* host.c - what the CPU does for an operator, counted in launches of a kernel. */
#include "engine/base/plain.h"
#include "engine/graph/build.h"
#include "engine/model/mixer.h"

static const struct habits *habits_of(const struct graph_context *c)
{
	return &c->scenario->stack.habits;
}

/* Of one quantised tensor, scales per tensor or row: data in two layouts, a maximum, a
 * scale, a cast; with those of the step before neither maximum nor scale. Scales per 32
 * elements: four tensors, two fills with zeros, the kernel, two swizzles. The fills
 * went when one buffer held all of a grouped GEMM, the swizzles when one kernel did
 * them (Megatron-LM@1d9edcf, DeepSeek-V3 GB200 optimisation guide, 2.1.2 and 2.1.3). */
static double tensor_launches(const struct plan *plan)
{
	static const double blocks[SCALES_COUNT] = {
		[SCALES_EACH] = 9, [SCALES_ZEROED] = 4, [SCALES_FUSED] = 2
	};

	if (precision_table[plan->precision].blocks)
		return blocks[plan->scale_fusion];
	return plan->fp8_recipe == FP8_DELAYED ? 3 : 5;
}

/* NVFP4 has a maximum of the whole tensor, too: filled with zero, then found, where no
 * kernel before does that (see quantise_bytes() of build.c). */
static double maximum_launches(const struct graph_context *c,
			       const struct graph_operator *op, bool backward)
{
	const struct plan *plan = &c->scenario->plan;

	return plan->precision == PRECISION_NVFP4 &&
			       (backward || plan->fp4_rotation || op->groups > 1)
		       ? 2
		       : 0;
}

/* Of the scales of what an operator reads, or of its output's gradient. */
static double quantise_launches(const struct graph_context *c,
				const struct graph_operator *op, bool backward)
{
	double each;

	if (op->quantise_bytes <= 0)
		return 0;
	each = tensor_launches(&c->scenario->plan) + maximum_launches(c, op, backward);
	return op->groups * each +
	       (backward ? op->draws * habits_of(c)->small_launches : 0);
}

/* Operators of the framework in a forward. */
static double operators_of(const struct graph_context *c,
			   const struct graph_operator *op)
{
	switch (op->kind) {
	/* two casts, square, mean, a sum, its root, two products */
	case OPERATOR_NORM: return graph_norm_by_steps(c) ? 8 : 1;
	case OPERATOR_ELEMENTWISE: return c->op_by_op ? 3 : 1;
	case OPERATOR_ATTENTION:
		return attention_table[c->scenario->plan.attention_kernel].flash ? 1
										 : 5;
	case OPERATOR_SCAN: return 3; /* inside chunks, between them, outputs */
	case OPERATOR_GROUPED_GEMM:
		return c->scenario->plan.grouped_gemm
			       ? 1 + habits_of(c)->expert_launches * op->groups
			       : op->groups;
	case OPERATOR_WAIT: return 0;
	default: return 1;
	}
}

static bool fuses_preprocess(const struct plan *plan)
{
	return plan->moe_dispatcher == DISPATCH_DEEPEP ||
	       plan->moe_dispatcher == DISPATCH_HYBRIDEP;
}

/* Of the scopes that a layer is captured in by parts, the one of an operator. */
static enum graph_scope scope_of(const struct graph_context *c, int k,
				 const struct graph *graph, int i)
{
	const struct layer_kind *kind = &c->scenario->model.kind[k];
	const struct graph_operator *op = &graph->item[i];
	bool shared = op->modules & 1u << MODULE_SHARED_EXPERTS;

	if (i < graph->mixer_count)
		return mixer_of(kind)->scans ? SCOPE_MAMBA : SCOPE_ATTN;
	if (kind->mlp != MLP_MOE)
		return SCOPE_MLP;
	if (op->kind == OPERATOR_ROUTER || op->kind == OPERATOR_NORM)
		return SCOPE_MOE_ROUTER;
	/* side by side with what travels they are none of it */
	return shared && !c->scenario->plan.shared_expert_overlap ? SCOPE_SHARED_EXPERTS
								  : SCOPE_MOE;
}

static bool is_captured(const struct graph_context *c, enum graph_scope scope)
{
	const struct plan *plan = &c->scenario->plan;

	/* rows that the router decides have no fixed shape */
	if (scope == SCOPE_MOE && plan->moe_capacity != CAPACITY_PAD)
		return false;
	return plan->cuda_graphs == GRAPHS_PARTIAL &&
	       (plan->graph_scopes & 1u << scope) != 0;
}

/* No gradient passes the preprocessing, which fused dispatchers do in one kernel. */
void graph_router_kernels(const struct scenario *scenario, double *forward,
			  double *backward)
{
	const struct habits *habits = &scenario->stack.habits;
	const struct plan *plan = &scenario->plan;
	double all = plan->router_fusion ? habits->fused_router_kernels
					 : habits->router_kernels;

	*backward = all - habits->preprocess_kernels;
	*forward = fuses_preprocess(plan) ? *backward : all;
}

static void count_router(const struct graph_context *c, struct graph_operator *op)
{
	double forward = op->small_forward, backward = op->small_backward;
	double preprocess = forward - backward;

	if (is_captured(c, SCOPE_MOE_ROUTER)) {
		backward = 0;
		forward = is_captured(c, SCOPE_MOE_PREPROCESS) ? 0 : preprocess;
	}
	op->host_forward = forward * habits_of(c)->small_launches;
	op->host_backward = backward * habits_of(c)->backward_launches *
			    habits_of(c)->small_launches;
}

/* Its adapters' two modules, their scaling and their sum. */
static double adapter_launches(const struct graph_context *c,
			       const struct graph_operator *op)
{
	return op->adapter_bytes > 0
		       ? 2 * c->operator_launches + 2 * habits_of(c)->small_launches
		       : 0;
}

static void count_launches(const struct graph_context *c, struct graph_operator *op)
{
	double operators =
		operators_of(c, op) * c->operator_launches + adapter_launches(c, op);
	double matrices = op->groups > 1 ? op->groups : 0;
	double forward = 1, backward = habits_of(c)->backward_launches;

	if (op->kind == OPERATOR_COLLECTIVE) {
		forward = op->forward_calls;
		backward = op->backward_calls;
	}
	op->host_forward =
		forward * operators + matrices + quantise_launches(c, op, false);
	op->host_backward =
		backward * operators + 2 * matrices + quantise_launches(c, op, true);
}

/* A host that waited for the counts has launched nothing ahead: what follows, up to the
 * next layer's counts, runs no sooner than it is launched, an operator when its first
 * kernel is. What that takes beyond the kernels' own time the accelerator waits. Where
 * two micro-batches take turns the other's kernels are at hand but for one operator. */
static void wait_for_launches(const struct graph_context *c, struct graph *graph)
{
	double launched = 0, kernels = 0, until = 0;
	struct graph_operator *wait = graph->item;
	bool turns = c->scenario->plan.ep_overlap && c->mesh->ep > 1 &&
		     c->scenario->stack.ep_overlap > 0;

	while (wait < graph->item + graph->count && wait->kind != OPERATOR_WAIT)
		wait++;
	if (wait == graph->item + graph->count || turns)
		return;
	for (int i = 1, at = (int)(wait - graph->item); i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[(at + i) % graph->count];
		double first =
			launched + lesser(op->host_forward, c->operator_launches);

		until = larger(until, first * c->launch_seconds) + op->forward_seconds;
		launched += op->host_forward;
		kernels += op->forward_seconds;
	}
	wait->until_seconds = larger(until, launched * c->launch_seconds);
	wait->forward_seconds = wait->until_seconds - kernels;
}

void graph_count_host(const struct graph_context *c, int k, int from,
		      struct graph *graph)
{
	const struct plan *plan = &c->scenario->plan;

	for (int i = from; i < graph->count; i++) {
		struct graph_operator *op = &graph->item[i];

		op->host_forward = op->host_backward = 0;
		/* nothing to launch in a compiled program, or in a captured step */
		if (plan->cuda_graphs == GRAPHS_FULL || c->operator_launches <= 0)
			continue;
		if (op->kind == OPERATOR_ROUTER)
			count_router(c, op);
		else if (plan->cuda_graphs != GRAPHS_PARTIAL ||
			 !is_captured(c, scope_of(c, k, graph, i)))
			count_launches(c, op);
	}
	wait_for_launches(c, graph);
}
