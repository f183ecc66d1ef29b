/* moe.c - router, dispatch, experts and combine on one rank. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/collective/collective.h"
#include "engine/graph/build.h"
#include "engine/model/shape.h"

/* What a rank sends and what its experts work on. */
struct routing {
	double tokens; /* that this rank dispatches */
	double sent; /* of their copies, mean of the ranks: below 1 some are dropped */
	double busy; /* the same that the busiest rank gets */
	double rows; /* of expert input on this rank, all local experts */
	double experts, top_k;
	double width; /* of a row: the hidden size, or that of latent experts */
	struct shape shape[EXPERT_SHAPES];
};

/* Megatron's moe-expert-capacity-factor: an expert takes so many times the mean of
 * tokens and no more. Where nothing is padded the rest is as without; with
 * moe-pad-expert-input-to-capacity every expert gets that many rows from every rank
 * (megatron/core/transformer/moe/moe_utils.py, topk_softmax_with_capacity). */
static void limit_rows(const struct graph_context *c, struct routing *r)
{
	const struct plan *plan = &c->scenario->plan;
	double capacity = plan->capacity_factor;

	/* one rank with all experts works on the tokens that it has */
	r->sent = 1;
	r->busy = c->mesh->ep > 1 ? larger(plan->imbalance, 1) : 1;
	if (plan->moe_capacity == CAPACITY_DROP) {
		r->sent = lesser(1, capacity);
		r->busy = lesser(r->busy, capacity);
	} else if (plan->moe_capacity == CAPACITY_PAD) {
		r->sent = r->busy = capacity;
	}
}

static void route_tokens(const struct graph_context *c, struct routing *r)
{
	const struct model *m = &c->scenario->model;
	struct share share = { .tp = (double)c->mesh->etp };

	limit_rows(c, r);
	r->tokens = c->norm_tokens;
	r->width = (double)model_expert_width(m);
	r->top_k = (double)m->moe.experts_per_token;
	r->experts = (double)m->moe.experts / (double)c->mesh->ep;
	/* ETP gathers the rows of its ranks, each of which holds a slice of all experts
	 */
	r->rows = r->tokens * r->top_k * (double)c->mesh->etp * r->busy;
	share.rows = r->rows;
	share.norm_rows = r->tokens;
	shapes_experts(m, &share, r->shape);
}

/* Whether the dispatcher sends a token once to each domain, and there to each rank. */
static bool sends_once(const struct graph_context *c)
{
	int dispatcher = c->scenario->plan.moe_dispatcher;

	return dispatcher == DISPATCH_DEEPEP || dispatcher == DISPATCH_HYBRIDEP;
}

static double remote_copies(const struct graph_context *c, const struct routing *r)
{
	const struct moe *moe = &c->scenario->model.moe;

	return collective_remote_copies(&c->mesh->ep_group, r->top_k,
					(double)moe->experts, sends_once(c),
					(double)moe->group_limit);
}

/* Copies of a token that are sent: to ranks where they are, to experts where not. */
static double sent_copies(const struct graph_context *c, const struct routing *r)
{
	return sends_once(c)
		       ? collective_rank_copies(&c->mesh->ep_group, r->top_k,
						(double)c->scenario->model.moe.experts)
		       : r->top_k;
}

/* Of so many bytes of a rank, where the way there takes `there`. DeepEP's combine on
 * NVLink falls behind its dispatch in a domain of many ranks. What goes round inside
 * a domain goes beside what crosses its border, and is as slow as in a group that ends
 * there. */
static double combine_seconds(const struct graph_context *c, double bytes, double there)
{
	const struct habits *habits = &c->scenario->stack.habits;
	const struct group *ep = &c->mesh->ep_group;
	struct group inside = *ep;
	struct collective cost;

	if (c->scenario->plan.moe_dispatcher != DISPATCH_DEEPEP ||
	    (double)ep->per_domain <= habits->wide_ranks)
		return there;
	inside.ranks = ep->per_domain;
	inside.link = LINK_DOMAIN;
	collective_dispatch(&c->fabric, &inside, EXCHANGE_ONCE, bytes, 0, &cost);
	return larger(there, habits->wide_combine * cost.seconds);
}

static void draw_exchange(const struct graph_context *c, struct graph *graph,
			  const char *name, const struct routing *r, double width)
{
	const struct group *ep = &c->mesh->ep_group;
	double token_bytes = r->tokens * r->width * width;
	double copies = sent_copies(c, r);
	bool in = name[0] == 'd';
	struct graph_operator *op;
	struct collective cost;
	double back;

	if (ep->ranks < 2)
		return;
	if (c->scenario->plan.moe_dispatcher == DISPATCH_ALLGATHER) {
		graph_collective(c, graph, name, DIM_EP,
				 in ? COLLECTIVE_ALL_GATHER : COLLECTIVE_REDUCE_SCATTER,
				 ep, token_bytes * (double)ep->ranks, 1, 1);
		return;
	}
	/* it ends when the busiest rank has everything; the mean sends less */
	collective_dispatch(&c->fabric, ep,
			    sends_once(c) ? EXCHANGE_ONCE : EXCHANGE_PLAIN,
			    r->busy * token_bytes * copies,
			    r->busy * token_bytes * remote_copies(c, r), &cost);
	op = graph_call(graph, name, DIM_EP, COLLECTIVE_ALL_TO_ALL, ep, &cost);
	op->payload_bytes = r->sent * token_bytes * copies;
	op->forward_calls = op->backward_calls = 1;
	op->sent_bytes = cost.sent_bytes * r->sent / r->busy;
	op->network_bytes = cost.network_bytes * r->sent / r->busy;
	/* gradients of what is combined are dispatched, and the other way round */
	back = combine_seconds(c, r->busy * token_bytes * copies, cost.seconds);
	op->forward_seconds = in ? cost.seconds : back;
	op->input_grad_seconds = in ? back : cost.seconds;
	op->overlaps = c->scenario->plan.ep_overlap;
	op->combines = !in;
	op->beside_shared = !op->overlaps && c->scenario->plan.shared_expert_overlap;
	op->modules = 1u << MODULE_MOE;
}

/* Megatron adds the biases of the experts' outputs op by op, expert after expert,
 * weighed by what the router gave in fp32 (TEGroupedMLP, _apply_bias in
 * megatron/core/transformer/moe/experts.py). Of each element forward: the product is
 * written (4), added to the output (2 + 4 + 4), the experts joined (4 + 4) and cast (4
 * + 2); backward the gradient is cast (2 + 4), multiplied twice and summed for the
 * biases and the weights (4 + 4 + 4, twice), and cast back (4 + 2). */
static void add_biases(const struct graph_context *c, struct graph *graph,
		       const struct routing *r)
{
	struct graph_operator *op;

	if (!c->scenario->model.moe.expert_bias || c->scenario->plan.compile)
		return;
	op = graph_memory(c, graph, OPERATOR_ELEMENTWISE, "expert biases", r->rows,
			  r->width, 14 * c->width, 18 * c->width);
	op->modules = 1u << MODULE_MOE;
}

/* gpt-oss clamps the gate from above and what it gates from both sides. Megatron does
 * so op by op before the fused activation (weighted_bias_quick_geglu_impl in
 * megatron/core/fusions/fused_bias_geglu.py): both halves are read and written (4 bytes
 * an element), and joined (4). Backward each comparison makes a mask (2 + 1), two are
 * joined (2 + 1), the gradient is kept or not (1 + 2 + 2), and the halves are joined
 * again (4). What is joined is saved besides. */
static void clamp_gates(const struct graph_context *c, struct graph *graph,
			const struct routing *r)
{
	double ffn = r->shape[EXPERT_ACTIVATION].columns;
	struct graph_operator *op;

	if (c->scenario->model.moe.activation_limit <= 0 || c->scenario->plan.compile)
		return;
	op = graph_memory(c, graph, OPERATOR_ELEMENTWISE, "clamp of gates", r->rows,
			  ffn, 8 * c->width, 11 * c->width + 8);
	op->saved_bytes = r->rows * 2 * ffn * graph_gate_width(c);
	op->modules = 1u << MODULE_MOE | 1u << MODULE_MOE_ACT;
}

/* Without a grouped kernel each expert launches its own: of the GEMMs before and behind
 * the activation. */
static void launch_each(const struct graph_context *c, struct graph *graph,
			const struct routing *r)
{
	double launches = (r->experts - 1) * c->gemm.kernel_seconds;

	for (int i = 1, left = 2; left > 0 && i <= graph->count; i++) {
		struct graph_operator *gemm = &graph->item[graph->count - i];

		if (!gemm->expert)
			continue;
		left--;
		gemm->forward_seconds += launches;
		gemm->input_grad_seconds += launches;
		gemm->weight_grad_seconds += launches;
	}
}

static struct graph_operator *multiply(const struct graph_context *c,
				       struct graph *graph, const struct shape *shape,
				       double matrices)
{
	return graph_linear(c, graph, shape->name, shape->rows, shape->columns,
			    shape->inner, shape->weights, matrices);
}

static void activate(const struct graph_context *c, struct graph *graph,
		     const struct shape *shape)
{
	struct graph_operator *op = graph_memory(
		c, graph, OPERATOR_ELEMENTWISE, shape->name, shape->rows,
		shape->columns, shape->forward * c->width, shape->backward * c->width);

	op->saved_bytes = shape->rows * shape->saved * graph_saved_width(c);
	op->modules = 1u << MODULE_MOE | 1u << MODULE_MOE_ACT | 1u << MODULE_PER_OP;
}

static void draw_experts(const struct graph_context *c, struct graph *graph,
			 const struct routing *r)
{
	const struct shape *up = &r->shape[EXPERT_UP];
	uint32_t moe = 1u << MODULE_MOE;
	struct graph_operator *op;

	op = multiply(c, graph, up, r->experts);
	op->expert = true;
	op->saved_bytes = up->rows * up->saved * graph_gate_width(c);
	op->modules = moe | 1u << MODULE_PER_OP;
	op->makes = 1u << TENSOR_MLP_IN;
	op->saved_for = 1u << OFFLOAD_MOE_ACT;
	clamp_gates(c, graph, r);
	activate(c, graph, &r->shape[EXPERT_ACTIVATION]);
	op = multiply(c, graph, &r->shape[EXPERT_DOWN], r->experts);
	op->expert = true;
	op->modules = moe;
	op->makes = 1u << TENSOR_MLP_OUT;
	if (!c->scenario->plan.grouped_gemm)
		launch_each(c, graph, r);
	add_biases(c, graph, r);
}

static void draw_router(const struct graph_context *c, struct graph *graph,
			const struct shape *shape)
{
	struct graph_operator *op = multiply(c, graph, shape, 1);

	/* top-k, masks, counts and losses are short, and many */
	graph_router_kernels(c->scenario, &op->small_forward, &op->small_backward);
	op->kind = OPERATOR_ROUTER;
	/* scores in fp32, and which experts they chose */
	op->kept_bytes = shape->rows * shape->columns * 4;
	op->forward_seconds += op->small_forward * c->memory.kernel_seconds;
	op->input_grad_seconds += op->small_backward * c->memory.kernel_seconds;
}

/* Tokens go to latent experts at their narrower width, and come back at it; each rank
 * projects its own tokens by a whole matrix (Megatron's moe_layer.py, fc1_latent_proj
 * and fc2_latent_proj, which are duplicated over TP). */
static void draw_latent(const struct graph_context *c, struct graph *graph,
			const struct shape *shape, bool down)
{
	struct graph_operator *op;

	if (c->scenario->model.moe.expert_latent == 0)
		return;
	op = multiply(c, graph, shape, 1);
	/* the norm saves what the first one reads */
	op->saved_bytes = down ? 0 : shape->rows * shape->inner * c->input_width;
	op->modules = 1u << MODULE_MOE;
}

/* A plain all-to-all sends one copy for each chosen expert, in the order of the ranks
 * that have them: tokens are permuted before and summed behind it, and sorted by expert
 * on both sides of the experts. Fused dispatchers read tokens where they lie and sum
 * what comes back: only the rows of local experts are moved (Megatron-LM,
 * megatron/core/transformer/moe/token_dispatcher.py). */
static bool orders_copies(const struct graph_context *c)
{
	return c->scenario->plan.moe_dispatcher == DISPATCH_ALLTOALL && c->mesh->ep > 1;
}

static struct graph_operator *move_rows(const struct graph_context *c,
					struct graph *graph, const char *name,
					double rows, double width)
{
	struct graph_operator *op = graph_memory(c, graph, OPERATOR_PERMUTE, name, rows,
						 width, 2 * c->width, 2 * c->width);

	op->modules = 1u << MODULE_MOE;
	return op;
}

/* Without a fixed capacity the host has to know how many rows come before it can launch
 * what works on them: it waits for the router, and the accelerator then for its next
 * operator (megatron/core/transformer/moe/token_dispatcher.py). HybridEP does without
 * (deepseek-ai/DeepEP@94a9f8f, docs/README_Hybrid-EP.md). */
static void wait_for_counts(const struct graph_context *c, struct graph *graph)
{
	const struct plan *plan = &c->scenario->plan;
	struct graph_operator *op;

	if (plan->moe_capacity == CAPACITY_PAD || plan->cuda_graphs == GRAPHS_FULL ||
	    plan->moe_dispatcher == DISPATCH_HYBRIDEP || c->operator_launches <= 0)
		return;
	op = graph_add(graph, OPERATOR_WAIT, "wait for counts");
	op->forward_seconds = c->operator_launches * c->launch_seconds;
	op->modules = 1u << MODULE_MOE;
}

static double dispatched_width(const struct graph_context *c)
{
	bool narrow = c->operand_width < c->width && c->scenario->stack.sends_fp8_rows;

	return collective_row_bytes(narrow, c->width);
}

/* The dispatched rows are the first expert GEMM's input. */
static void sort_rows(const struct graph_context *c, struct graph *graph,
		      const struct routing *r)
{
	struct graph_operator *op =
		move_rows(c, graph, "sort by expert", r->rows, r->width);

	op->saved_bytes = r->rows * r->width * graph_saved_width(c);
	op->saved_for = 1u << OFFLOAD_EXPERT_FC1;
}

void graph_moe(const struct graph_context *c, struct graph *graph)
{
	/* LoRA leaves the router and the routed experts alone */
	const struct graph_context bare = graph_frozen(c);
	struct graph_context wide;
	struct routing r;
	int from = graph->count;
	double h;

	route_tokens(c, &r);
	h = r.width;
	wide = bare;
	graph_stay_wide(&wide);
	draw_router(&wide, graph, &r.shape[EXPERT_ROUTER]);
	draw_latent(&bare, graph, &r.shape[EXPERT_LATENT_DOWN], true);
	if (orders_copies(c))
		move_rows(c, graph, "permute", r.sent * r.tokens * r.top_k, h);
	wait_for_counts(c, graph);
	draw_exchange(c, graph, "dispatch", &r, dispatched_width(c));
	if (c->mesh->etp > 1)
		graph_collective(c, graph, "expert rows", DIM_TP, COLLECTIVE_ALL_GATHER,
				 &c->mesh->etp_group, r.rows * h * c->width, 1, 1);
	sort_rows(&bare, graph, &r);
	draw_experts(&bare, graph, &r);
	if (c->mesh->etp > 1)
		graph_collective(c, graph, "expert sums", DIM_TP,
				 COLLECTIVE_REDUCE_SCATTER, &c->mesh->etp_group,
				 r.rows * h * c->width, 1, 1);
	move_rows(c, graph, "unsort", r.rows, h);
	draw_exchange(c, graph, "combine", &r, c->width);
	if (orders_copies(c))
		move_rows(c, graph, "unpermute and weigh", r.sent * r.tokens * r.top_k,
			  h);
	draw_latent(&bare, graph, &r.shape[EXPERT_LATENT_UP], false);
	for (int i = from; i < graph->count; i++)
		graph->item[i].branch = BRANCH_ROUTED;
}
