/* layer.c - the operators of a layer, shape by shape. */
#include "engine/graph/build.h"
#include "engine/model/mixer.h"

/* What recomputes it: a matrix or an activation that is kept for its part's sake. */
static uint32_t modules_of(const struct shape *shape)
{
	static const uint32_t modules[] = {
		[PART_EXPANSION] = 1u << MODULE_MLA_UP_PROJ,
		[PART_MLP] = 1u << MODULE_MLP | 1u << MODULE_PER_OP,
		[PART_SHARED] = 1u << MODULE_SHARED_EXPERTS | 1u << MODULE_MOE |
				1u << MODULE_PER_OP,
	};

	return shape->saved > 0 ? modules[shape->part] : 0;
}

/* A dense MLP may run piece by piece: forward without keeping anything, backward with
 * the forward of each piece before it (TiledMLP, arXiv 2506.13996). */
static double tiles_of(const struct graph_context *c, const struct shape *shape)
{
	double tiles = (double)c->scenario->plan.mlp_tiles;

	return shape->part == PART_MLP && shape->saved > 0 && tiles > 1 ? tiles : 0;
}

static void add_linear(const struct graph_context *c, const struct shape *shape,
		       struct graph *graph)
{
	bool gates = shape->part == PART_MLP || shape->part == PART_SHARED;
	struct graph_operator *op =
		graph_linear(c, graph, shape->name, shape->rows, shape->columns,
			     shape->inner, shape->weights, 1);

	op->kept_bytes = shape->rows * shape->kept * c->width;
	op->saved_bytes =
		shape->rows * shape->saved * (gates ? graph_gate_width(c) : c->width);
	op->modules = modules_of(shape);
	op->tiles = tiles_of(c, shape);
	if (gates)
		op->makes = 1u << (shape->saved > 0 ? TENSOR_MLP_IN : TENSOR_MLP_OUT);
}

static double op_by_op_traffic(const struct graph_context *c, const struct shape *shape)
{
	const struct habits *habits = &c->scenario->stack.habits;

	return shape->kind == SHAPE_ACTIVATION ? habits->unfused_gate
					       : habits->unfused_rotary;
}

static void add_elementwise(const struct graph_context *c, const struct shape *shape,
			    struct graph *graph)
{
	bool norm = shape->kind == SHAPE_INNER_NORM;
	double times = shape->unfused && c->op_by_op ? op_by_op_traffic(c, shape) : 1;
	struct graph_operator *op = graph_memory(
		c, graph, norm ? OPERATOR_NORM : OPERATOR_ELEMENTWISE, shape->name,
		shape->rows, shape->columns, shape->forward * c->width * times,
		shape->backward * c->width * times);

	graph_own_weights(c, shape, op);
	op->kept_bytes = shape->rows * shape->kept * c->width;
}

static void add_activation(const struct graph_context *c, const struct shape *shape,
			   struct graph *graph)
{
	double elements = shape->rows * shape->saved;
	struct graph_operator *op;

	add_elementwise(c, shape, graph);
	op = &graph->item[graph->count - 1];
	op->saved_bytes = elements * graph_saved_width(c);
	if (c->scenario->model.gated_mlp)
		op->saved_bytes += c->ffn_copies * elements * c->width;
	op->modules = modules_of(shape);
	op->tiles = tiles_of(c, shape);
}

/* With SP a rank has made latents of its part of the rows. */
static void add_latents(const struct graph_context *c, const struct shape *shape,
			struct graph *graph)
{
	const struct group *tp = &c->mesh->tp_group;
	double bytes = shape->rows * shape->columns * c->width;
	bool sp = c->scenario->plan.sp;

	graph_collective(c, graph, shape->name, DIM_TP, COLLECTIVE_ALL_GATHER, tp,
			 bytes, sp, 0);
	graph_collective(c, graph, "latent gradients", DIM_TP,
			 sp ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE, tp,
			 bytes, 0, 1);
}

static void add_scan(const struct graph_context *c, const struct shape *shape,
		     const struct scan *scan, struct graph *graph)
{
	struct graph_operator *op = graph_add(graph, OPERATOR_SCAN, shape->name);
	double backward = c->scenario->stack.habits.scan_backward;

	op->rows = shape->rows;
	op->columns = shape->columns;
	op->inner = shape->inner;
	op->forward_flops = op->rows * scan->flops;
	op->input_grad_flops = backward * op->forward_flops;
	op->forward_bytes = op->rows * (scan->traffic * c->width + scan->traffic_bytes);
	op->backward_bytes = backward * op->forward_bytes;
	op->kept_bytes = op->rows * (scan->kept * c->width + scan->kept_bytes);
	graph_own_weights(c, shape, op);
	op->forward_seconds =
		roofline_seconds(&c->gemm, op->forward_flops, op->forward_bytes);
	op->input_grad_seconds =
		roofline_seconds(&c->gemm, op->input_grad_flops, op->backward_bytes);
}

/* Context parallelism passes states and the convolution's edge, whatever the length. */
static void add_states(const struct graph_context *c, const struct shape *shape,
		       const struct scan *scan, struct graph *graph)
{
	const struct plan *plan = &c->scenario->plan;
	double bytes = (double)plan->micro_batch * (scan->state + scan->conv_state) * 4;

	graph_collective(c, graph, shape->name, DIM_CP, COLLECTIVE_ALL_GATHER,
			 &c->mesh->cp_group, bytes * (double)plan->cp, 1, 1);
}

/* Matrices that a region begins with, where a stack has each for itself: queries, keys
 * and values are one anyway. */
static int products_of(const struct shape *enter)
{
	return enter->part == PART_NONE ? 1 : 1 + enter[1].further;
}

static void add_shape(const struct graph_context *c, const struct shapes *shapes,
		      const struct shape *shape, struct graph *graph)
{
	switch (shape->kind) {
	case SHAPE_LINEAR:
		add_linear(c, shape, graph);
		graph_adapter_calls(c, shapes, shape, graph);
		break;
	case SHAPE_NORM:
		graph_norm(c, graph, shape->name, shape->rows, shape->columns);
		break;
	case SHAPE_INNER_NORM:
	case SHAPE_ELEMENTWISE: add_elementwise(c, shape, graph); break;
	case SHAPE_ACTIVATION: add_activation(c, shape, graph); break;
	case SHAPE_RESIDUAL: graph_residual(c, graph); break;
	case SHAPE_CORE: graph_core(c, shape, &shapes->mixing, graph); break;
	case SHAPE_SCORES: graph_scores(c, shape, &shapes->mixing, graph); break;
	case SHAPE_MERGE: graph_merge(c, shape, &shapes->mixing, graph); break;
	case SHAPE_SCAN: add_scan(c, shape, &shapes->mixing.scan, graph); break;
	case SHAPE_EXPERTS: graph_moe(c, graph); break;
	case SHAPE_ENTER:
		graph_enter_tp(c, graph, shape->name, 1, products_of(shape));
		break;
	case SHAPE_LEAVE: graph_leave_tp(c, graph, shape->name); break;
	case SHAPE_LATENTS: add_latents(c, shape, graph); break;
	case SHAPE_KEYS: graph_keys(c, &shapes->mixing, graph); break;
	case SHAPE_STATES: add_states(c, shape, &shapes->mixing.scan, graph); break;
	}
}

static struct share share_of(const struct graph_context *c)
{
	return (struct share){ .tp = (double)c->mesh->tp,
			       .rows = c->tokens,
			       .norm_rows = c->norm_tokens };
}

/* What policies and fine-grained offload call an operator's tensors. The norm before a
 * half has its input and makes that of the first product; latents that queries and keys
 * are made of again are no input of attention. */
static void name_tensors(struct graph *out, int from, bool mixer, bool latent)
{
	bool core = false, norm = false;

	for (int i = from; i < out->count; i++) {
		struct graph_operator *op = &out->item[i];

		op->makes |= 1u << TENSOR_ANY;
		if (op->kind == OPERATOR_NORM && !norm) {
			norm = true;
			op->kept_for =
				1u << (mixer ? OFFLOAD_ATTN_NORM : OFFLOAD_MLP_NORM);
			op->saved_for = mixer ? 1u << OFFLOAD_QKV_LINEAR : 0;
		} else if (op->kind == OPERATOR_ATTENTION) {
			core = true;
			op->makes |= 1u << TENSOR_CONTEXT;
			op->kept_for = 1u << OFFLOAD_ATTN_PROJ;
		} else if (op->kind == OPERATOR_GEMM && mixer) {
			op->makes |= 1u << (core ? TENSOR_OUT : TENSOR_QKV);
			if (core)
				continue;
			op->saved_for = 1u << OFFLOAD_CORE_ATTN;
			op->kept_for = latent ? 0 : op->saved_for;
		}
	}
}

static void mixer_half(const struct graph_context *c, const struct layer_kind *kind,
		       struct graph *out)
{
	const struct share share = share_of(c);
	struct graph_context bare;
	struct shapes shapes;
	int adapted;

	shapes_mixer(&c->scenario->model, kind, &share, &shapes);
	adapted = shapes_adapted(&shapes, c->scenario->plan.lora_targets);
	if (adapted < shapes.count)
		bare = graph_frozen(c);
	for (int i = 0; i < shapes.count; i++)
		add_shape(i < adapted ? c : &bare, &shapes, &shapes.item[i], out);
	name_tensors(out, 0, true, mixer_of(kind)->latent);
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

static void mlp_half(const struct graph_context *c, const struct layer_kind *kind,
		     struct graph *out)
{
	const struct share share = share_of(c);
	struct graph_context bare;
	struct shapes shapes;
	int start = out->count;

	c = mlp_context(c, &bare);
	shapes_mlp(&c->scenario->model, kind, &share, &shapes);
	for (int i = 0; i < shapes.count; i++) {
		int from = out->count;

		add_shape(c, &shapes, &shapes.item[i], out);
		if (shapes.item[i].part == PART_SHARED)
			for (; from < out->count; from++)
				out->item[from].branch = BRANCH_SHARED;
	}
	name_tensors(out, start, false, false);
}

/* What a layer is drawn with: the plan's format, or 16 bits. */
static const struct graph_context *kind_context(const struct graph_context *c,
						const struct layer_kind *kind,
						struct graph_context *wide)
{
	if (!kind->wide)
		return c;
	*wide = *c;
	graph_stay_wide(wide);
	return wide;
}

/* No gradient of what it makes is asked for: it keeps nothing, and has no backward. */
static void drop_backward(struct graph_operator *op)
{
	op->trainable = 0;
	op->saved_bytes = op->kept_bytes = 0;
	op->input_grad_flops = op->weight_grad_flops = op->backward_bytes = 0;
	op->input_grad_seconds = op->weight_grad_seconds = 0;
	op->quantise_gradient_bytes = op->draws = 0;
	op->small_backward = op->host_backward = 0;
	op->backward_calls = 0;
}

static void freeze(const struct layer_kind *kind, struct graph *out)
{
	out->forward_only = kind->frozen;
	for (int i = 0; kind->frozen && i < out->count; i++)
		drop_backward(&out->item[i]);
}

void graph_layer(const struct graph_context *c, int k, struct graph *out)
{
	const struct layer_kind *kind = &c->scenario->model.kind[k];
	struct graph_context wide;

	c = kind_context(c, kind, &wide);
	out->count = 0;
	mixer_half(c, kind, out);
	out->mixer_count = out->count;
	mlp_half(c, kind, out);
	graph_count_host(c, k, 0, out);
	freeze(kind, out);
}

void graph_next_layer(const struct graph_context *c, int k, struct graph *out)
{
	const struct model *m = &c->scenario->model;
	struct graph_context wide;

	c = kind_context(c, &m->kind[k], &wide);
	if (!shapes_same_mixer(m, k)) {
		graph_layer(c, k, out);
		return;
	}
	out->count = out->mixer_count;
	mlp_half(c, &m->kind[k], out);
	graph_count_host(c, k, out->mixer_count, out);
	freeze(&m->kind[k], out);
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
