/* test_graph_rows.c - every operator of random layers once more from its own shape:
 * what turning it narrow moves, kernel by kernel, what it takes, what the CPU does for
 * it. Of random stacks, precisions, adapters, graphs; nothing here asks
 * engine/graph/ but for the list. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/graph/build.h"
#include "engine/model/mixer.h"
#include "engine/rules/legality.h"
#include "engine/train/step.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct scenario s;
static struct mesh mesh;
static struct graph_context context;

static struct graph drawn;
static struct graph *const graph = &drawn;

static bool narrow; /* this layer's linear ones */

/* --- what is drawn --- */

static double between(double least, double most)
{
	return least + (most - least) * (double)next(1000) / 1000;
}

static void twist(void)
{
	struct plan *p = &s.plan;
	struct accelerator *a = &s.cluster.accelerator;

	p->precision = (int)next(PRECISION_NVFP4 + 1);
	p->fp8_recipe = (int)next(FP8_MXFP8);
	p->weight_format = (int)next(4);
	p->compile = next(3) == 0;
	p->fused_norms = next(2);
	p->fp4_rotation = next(2);
	p->fp4_rounding = next(2);
	p->fp4_squares = next(2);
	p->lora_rank = next(3) ? 0 : 8;
	p->lora_targets = (int)next(2);
	p->frozen_format = (int)next(FROZEN_FORMAT_COUNT);
	p->grouped_gemm = next(3) != 0;
	p->router_fusion = next(2);
	p->scale_fusion = (int)next(SCALES_COUNT);
	p->moe_capacity = (int)next(3);
	p->cuda_graphs = (int)next(3);
	p->graph_scopes = next(1u << SCOPE_COUNT);
	p->shared_expert_overlap = next(2);
	p->host_binding = next(2);
	p->ep_overlap = next(2);
	s.stack.ep_overlap = 0.4 * (double)next(3);
	s.stack.saves_fp8_inputs = next(2);
	s.stack.gathers_fp8 = next(2);
	s.stack.gathers_blocks = next(2);
	s.stack.operator_launches = next(5) ? between(1, 30) : 0;
	s.stack.general_norms = next(2);
	s.stack.reduces_by_product = next(2);
	s.stack.gathers_by_product = next(2);
	s.stack.kernel_gap_seconds = next(2) ? between(0, 1e-5) : 0;
	if (next(2))
		a->peak_flops[PRECISION_MXFP8] = next(2) ? 2e15 : 0;
	if (next(2))
		a->calibration.unaligned_efficiency = between(0.3, 1);
}

static bool draw_scenario(void)
{
	any_scenario(&s);
	if (scenario_check(&s, NULL) > 0)
		return false;
	twist();
	mesh_build(&s, &mesh);
	graph_context(&s, &mesh, &context);
	return true;
}

static void draw_layer(int kind)
{
	s.model.kind[kind].wide = next(5) == 0;
	narrow = s.plan.precision >= PRECISION_FP8 && !s.model.kind[kind].wide;
	graph_layer(&context, kind, graph);
}

/* --- kernels that turn an operand narrow --- */

static double operand(void)
{
	double block = s.plan.precision == PRECISION_MXFP8   ? 32
		       : s.plan.precision == PRECISION_NVFP4 ? 16
							     : INFINITY;

	return (s.plan.precision == PRECISION_NVFP4 ? 0.5 : 1) + 1 / block;
}

static double wide(void)
{
	return s.plan.precision == PRECISION_FP32 ? 4 : 2;
}

/* A kernel of its own for an element: it reads two bytes, writes two layouts, and all
 * that its recipe needs before. */
static double by_itself(void)
{
	const double reads = 2, maximum = 2, layout = 1, turned = 2 + 2;

	if (s.plan.precision == PRECISION_NVFP4)
		return reads + maximum + 2 * operand();
	if (s.plan.precision == PRECISION_MXFP8)
		return reads + 2 * layout;
	switch (s.plan.fp8_recipe) {
	case FP8_CURRENT_SCALING: return reads + maximum + 2 * layout;
	case FP8_ROWWISE:
		return 2 * (maximum + reads + layout) + (s.plan.compile ? 0 : turned);
	default: return reads + 2 * layout;
	}
}

/* Beside what the kernel before it would write anyway. */
static double with_a_neighbour(void)
{
	if (s.plan.precision == PRECISION_NVFP4)
		return by_itself() - (s.plan.fp4_rotation ? 0 : 2);
	if (s.plan.precision == PRECISION_FP8 && s.plan.fp8_recipe == FP8_ROWWISE)
		return by_itself();
	return 1.5;
}

static bool one_scale_a_tensor(void)
{
	return s.plan.precision == PRECISION_FP8 &&
	       (s.plan.fp8_recipe == FP8_DELAYED ||
		s.plan.fp8_recipe == FP8_CURRENT_SCALING);
}

/* Whether ranks of SP turn their parts narrow and gather those. */
static bool gathers_narrow(void)
{
	if (!s.plan.sp || mesh.tp < 2 || !narrow ||
	    (s.plan.precision == PRECISION_FP8 && s.plan.fp8_recipe == FP8_ROWWISE))
		return false;
	return one_scale_a_tensor() ? s.stack.gathers_fp8 : s.stack.gathers_blocks;
}

/* Each rank its part of the rows; for the weight's gradient all of them are turned
 * round, or put in order, where a layout is not the other's. */
static double of_parts(double each)
{
	bool any_layout = s.cluster.accelerator.peak_flops[PRECISION_MXFP8] > 0;
	bool none = s.plan.lora_rank > 0 || s.plan.precision == PRECISION_MXFP8 ||
		    (one_scale_a_tensor() && any_layout);

	return each / (double)mesh.tp + (none ? 0 : operand() + operand());
}

/* Of what a norm left in 16 bits, for it knows no scale of this step. */
static double after_a_norm(bool gathered)
{
	bool fp8 = s.plan.precision == PRECISION_FP8;
	int recipe = s.plan.fp8_recipe;
	bool one_scale = fp8 && recipe == FP8_CURRENT_SCALING;
	bool any_layout = s.cluster.accelerator.peak_flops[PRECISION_MXFP8] > 0;
	bool asked = (fp8 && recipe == FP8_BLOCKWISE) || s.stack.saves_fp8_inputs;

	if (s.plan.compile || !asked || s.plan.precision == PRECISION_NVFP4 ||
	    (fp8 && recipe != FP8_CURRENT_SCALING && recipe != FP8_BLOCKWISE))
		return with_a_neighbour();
	return 2 + (one_scale && (any_layout || gathered) ? 1 : 2) * operand();
}

/* --- one product --- */

struct wanted {
	double narrow_in, narrow_out, draws;
	double bytes, seconds, input_grad, weight_grad;
};

static double given(double efficiency)
{
	return efficiency > 0 ? efficiency : 1;
}

static void rate_of(const struct graph_operator *op, struct roofline *out)
{
	bool sixteen = s.plan.precision >= PRECISION_FP8 &&
		       (!narrow || op->kind == OPERATOR_ROUTER);
	int64_t both = (int64_t)op->columns | (int64_t)op->inner;

	roofline_gemm(&s.cluster.accelerator, &s.stack.habits,
		      sixteen ? PRECISION_BF16 : (enum precision)s.plan.precision, out);
	out->kernel_seconds += s.stack.kernel_gap_seconds;
	if (op->columns > 512 && both % 64 != 0)
		out->seconds_per_flop /=
			given(s.cluster.accelerator.calibration.unaligned_efficiency);
}

/* Frozen weights of 4 bits are written out, but where the product takes them. */
static bool unpacks(void)
{
	return s.plan.frozen_format == FROZEN_NF4 ||
	       s.plan.frozen_format == FROZEN_INT4 ||
	       (s.plan.frozen_format == FROZEN_NVFP4 &&
		s.plan.precision != PRECISION_NVFP4);
}

/* Four bits, and scales: of NF4 8 bits for 64 and 32 for 256 of those, of int4 20 for
 * 128, of NVFP4 8 for 16. */
static double stored(void)
{
	if (s.plan.frozen_format == FROZEN_INT4)
		return (128 * 4 + 20) / 128.0 / 8;
	return 0.5 + (s.plan.frozen_format == FROZEN_NF4 ? 0.127 / 8 : 1.0 / 16);
}

/* What comes beside the product itself: weights unpacked, adapters, the router's small
 * kernels, an expert's own starts. */
static void add_beside(const struct graph_operator *op, const struct roofline *memory,
		       const struct roofline *rate, struct wanted *w)
{
	double in = op->rows * op->inner * wide(),
	       out = op->rows * op->columns * wide();
	double matrix = op->groups * op->columns * op->inner;
	bool fused = s.plan.compile || s.stack.operator_launches <= 0;
	double per_byte = memory->seconds_per_byte, short_one = memory->kernel_seconds;

	if (s.plan.lora_rank > 0 && unpacks()) {
		double unpacked = matrix * (stored() + wide()) * per_byte;

		w->seconds += unpacked;
		w->input_grad += unpacked;
	}
	if (s.plan.lora_rank > 0 && op->trainable > 0) {
		w->seconds += (in + (fused ? 4 : 6) * out) * per_byte + 4 * short_one;
		w->input_grad += (4 * in + 3 * out) * per_byte + 4 * short_one;
		w->weight_grad += (in + out) * per_byte;
	}
	if (op->kind == OPERATOR_ROUTER) {
		double backward = (s.plan.router_fusion ? 31 : 72) - 14;
		bool fused_too = s.plan.moe_dispatcher == DISPATCH_DEEPEP ||
				 s.plan.moe_dispatcher == DISPATCH_HYBRIDEP;

		assert_close(op->small_backward, backward, 0);
		assert_close(op->small_forward, backward + (fused_too ? 0 : 14), 0);
		w->seconds += op->small_forward * short_one;
		w->input_grad += op->small_backward * short_one;
	}
	if (op->expert && !s.plan.grouped_gemm) {
		double starts = (op->groups - 1) * rate->kernel_seconds;

		w->seconds += starts;
		w->input_grad += starts;
		w->weight_grad += starts;
	}
}

static void time_product(const struct graph_operator *op, double bytes,
			 const struct roofline *memory, struct wanted *w)
{
	bool frozen = s.plan.lora_rank > 0;
	double adapters = frozen ? 2 * op->rows * op->trainable : 0;
	double flops = 2 * op->rows * op->columns * op->inner;
	double matrix = op->groups * op->columns * op->inner;
	double padding = op->groups > 1 ? 2 * 16 * matrix : 0;
	double starts, sums = op->groups > 1 ? 4 * matrix : 0;
	struct roofline r;
	double m = op->rows, n = op->columns, k = op->inner, f;

	rate_of(op, &r);
	f = r.seconds_per_flop;
	starts = op->groups > 1 ? op->groups * 0.36 * r.kernel_seconds : 0;
	assert_close(op->forward_flops, flops + adapters, 1e-12);
	assert_close(op->input_grad_flops, flops + adapters, 1e-12);
	assert_close(op->weight_grad_flops, frozen ? adapters : flops, 1e-12);
	w->seconds = w->input_grad =
		roofline_seconds(&r, flops + adapters + padding, bytes) + starts;
	w->weight_grad = roofline_seconds(&r, flops + padding, bytes + sums) + starts;
	if (op->groups <= 1) {
		w->seconds += f * roofline_tail_flops(&r, m, n, k);
		w->input_grad += f * roofline_tail_flops(&r, m, k, n);
		w->weight_grad += f * roofline_tail_flops(&r, n, k, m);
	}
	if (frozen)
		w->weight_grad = roofline_seconds(&r, adapters, 0);
	add_beside(op, memory, &r, w);
}

/* Where a product stands: behind a norm, behind what SP gathered, before what SP
 * scatters. */
struct place {
	bool norm, entered, leaves;
};

static void want_narrow(const struct graph_operator *op, const struct place *at,
			struct wanted *w)
{
	bool gathered = at->entered && gathers_narrow();

	/* Megatron's adapters read what their matrix gathered, in 16 bits */
	if (s.plan.lora_rank > 0 && op->trainable > 0 && s.stack.splits_adapters)
		gathered = false;
	w->narrow_in = op->groups > 1 ? by_itself()
		       : at->norm     ? after_a_norm(gathered)
				      : with_a_neighbour();
	w->narrow_out = op->groups > 1 || s.plan.precision == PRECISION_NVFP4
				? by_itself()
				: with_a_neighbour();
	if (gathered)
		w->narrow_in = of_parts(w->narrow_in);
	if (at->leaves && gathers_narrow())
		w->narrow_out = of_parts(w->narrow_out);
	if (s.plan.precision == PRECISION_NVFP4 && s.plan.fp4_rounding)
		w->draws = op->groups;
}

static void want_product(const struct graph_operator *op, const struct place *at,
			 struct wanted *w)
{
	bool turns = narrow && op->kind != OPERATOR_ROUTER;
	double matrix = op->groups * op->columns * op->inner;
	double in = op->rows * op->inner, out = op->rows * op->columns;
	double bytes = (in + matrix) * (turns ? operand() : wide()) + out * wide();
	struct roofline memory;

	memset(w, 0, sizeof *w);
	roofline_memory(&s.cluster.accelerator, 0.5, &memory);
	memory.kernel_seconds += s.stack.kernel_gap_seconds / 2;
	time_product(op, bytes, &memory, w);
	if (turns)
		want_narrow(op, at, w);
	w->bytes = bytes + in * w->narrow_in;
	w->seconds += in * w->narrow_in * memory.seconds_per_byte;
	w->input_grad += out * w->narrow_out * memory.seconds_per_byte +
			 w->draws * memory.kernel_seconds;
	assert_close(op->backward_bytes, 2 * bytes + out * w->narrow_out, 1e-9);
	assert_close(op->narrow_weights, turns && s.plan.lora_rank == 0 ? matrix : 0,
		     1e-12);
}

/* --- what the CPU does --- */

static bool is_captured(enum graph_scope scope)
{
	return s.plan.cuda_graphs == GRAPHS_PARTIAL &&
	       (s.plan.graph_scopes >> scope & 1) &&
	       (scope != SCOPE_MOE || s.plan.moe_capacity == CAPACITY_PAD);
}

static enum graph_scope scope_of(int kind, int i)
{
	const struct layer_kind *layer = &s.model.kind[kind];
	const struct graph_operator *op = &graph->item[i];

	if (i < graph->mixer_count)
		return mixer_of(layer)->scans ? SCOPE_MAMBA : SCOPE_ATTN;
	if (layer->mlp != MLP_MOE)
		return SCOPE_MLP;
	if (op->kind == OPERATOR_ROUTER || op->kind == OPERATOR_NORM)
		return SCOPE_MOE_ROUTER;
	if (op->modules >> MODULE_SHARED_EXPERTS & 1 && !s.plan.shared_expert_overlap)
		return SCOPE_SHARED_EXPERTS;
	return SCOPE_MOE;
}

/* Operators of the framework that one of ours is. */
static double operators_in(const struct graph_operator *op)
{
	bool fused = s.plan.fused_norms || s.plan.compile;

	switch (op->kind) {
	case OPERATOR_NORM: return fused || s.model.norm != NORM_RMS ? 1 : 8;
	case OPERATOR_ELEMENTWISE: return fused ? 1 : 3;
	case OPERATOR_ATTENTION:
		return attention_table[s.plan.attention_kernel].flash ? 1 : 5;
	case OPERATOR_SCAN: return 3;
	case OPERATOR_GROUPED_GEMM:
		return s.plan.grouped_gemm ? 1 + 0.3 * op->groups : op->groups;
	case OPERATOR_WAIT: return 0;
	default: return 1;
	}
}

/* Launches for one tensor that turns narrow. */
static double scales_of(const struct graph_operator *op, bool backward)
{
	static const double fusions[] = { 9, 4, 2 };
	double each = s.plan.fp8_recipe == FP8_DELAYED ? 3 : 5;

	if (s.plan.precision != PRECISION_FP8)
		each = fusions[s.plan.scale_fusion];
	if (s.plan.precision == PRECISION_NVFP4 &&
	    (backward || s.plan.fp4_rotation || op->groups > 1))
		each += 2;
	return op->groups * each + (backward ? 2 * op->draws : 0);
}

static void check_host(int kind, int i)
{
	const struct graph_operator *op = &graph->item[i];
	double launch = s.stack.operator_launches * (s.plan.compile ? 0.5 : 1);
	double each = operators_in(op) * launch;
	double matrices = op->groups > 1 ? op->groups : 0, forward, backward;

	if (op->adapter_bytes > 0)
		each += 2 * launch + 2 * 2;
	forward = each + matrices;
	backward = 1.3 * each + 2 * matrices;
	if (op->kind == OPERATOR_COLLECTIVE) {
		forward = op->forward_calls * each;
		backward = op->backward_calls * each;
	}
	if (op->quantise_bytes > 0) {
		forward += scales_of(op, false);
		backward += scales_of(op, true);
	}
	if (is_captured(scope_of(kind, i)))
		forward = backward = 0;
	if (op->kind == OPERATOR_ROUTER) {
		double before = op->small_forward - op->small_backward;
		bool router = is_captured(SCOPE_MOE_ROUTER);
		bool counts = router && is_captured(SCOPE_MOE_PREPROCESS);

		forward =
			2 * ((counts ? 0 : before) + (router ? 0 : op->small_backward));
		backward = router ? 0 : 2 * 1.3 * op->small_backward;
	}
	if (s.plan.cuda_graphs == GRAPHS_FULL || s.stack.operator_launches <= 0)
		forward = backward = 0;
	assert_close(op->host_forward, forward, 1e-12);
	assert_close(op->host_backward, backward, 1e-12);
}

/* --- all of a layer --- */

static void check_product(const struct graph_operator *op, const struct place *at)
{
	struct wanted w;

	want_product(op, at, &w);
	assert_close(op->quantise_bytes, w.narrow_in, 1e-12);
	assert_close(op->quantise_gradient_bytes, w.narrow_out, 1e-12);
	assert_close(op->draws, w.draws, 0);
	assert_close(op->forward_bytes, w.bytes, 1e-9);
	assert_close(op->forward_seconds, w.seconds, 1e-9);
	assert_close(op->input_grad_seconds, w.input_grad, 1e-9);
	assert_close(op->weight_grad_seconds, w.weight_grad, 1e-9);
}

static void check_moved(const struct graph_operator *op)
{
	struct roofline memory;

	roofline_memory(&s.cluster.accelerator, 0.5, &memory);
	memory.kernel_seconds += s.stack.kernel_gap_seconds / 2;
	assert_close(op->forward_seconds,
		     roofline_seconds(&memory, 0, op->forward_bytes), 1e-12);
	assert_close(op->input_grad_seconds,
		     roofline_seconds(&memory, 0, op->backward_bytes), 1e-12);
}

/* DeepEP's way back from experts falls behind beyond 16 ranks of a domain; over several
 * only what goes round inside each. */
static void check_call(const struct graph_operator *op)
{
	bool slow = s.plan.moe_dispatcher == DISPATCH_DEEPEP &&
		    mesh.ep_group.per_domain > 16;
	bool out = strcmp(op->name, "dispatch") == 0;
	bool back = strcmp(op->name, "combine") == 0;

	if (slow && (out || back) && mesh.ep_group.link != LINK_DOMAIN) {
		double there = out ? op->forward_seconds : op->input_grad_seconds;
		double other = out ? op->input_grad_seconds : op->forward_seconds;

		assert_close(there, op->call_seconds, 1e-12);
		assert_true(other >= there && other <= 2.4 * there * (1 + 1e-12));
		return;
	}
	assert_close(op->forward_seconds,
		     op->call_seconds * op->forward_calls * (back && slow ? 2.4 : 1),
		     1e-12);
	assert_close(op->input_grad_seconds,
		     op->call_seconds * op->backward_calls * (out && slow ? 2.4 : 1),
		     1e-12);
}

static int products, norms_read, entries, exits, waited, again, beside;

static bool is_named(const struct graph_operator *op, const char *what)
{
	static const char *const parts[] = { "attention", "mixer", "MLP" };
	char name[32];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%s %s", parts[i], what);
		if (strcmp(op->name, name) == 0)
			return true;
	}
	return false;
}

/* Whether collectives behind it, one after the other, scatter its sums. */
static bool leaves_tp(int i)
{
	while (++i < graph->count &&
	       (graph->item[i].kind == OPERATOR_COLLECTIVE ||
		strcmp(graph->item[i].name, "gathered copy") == 0))
		if (is_named(&graph->item[i], "output"))
			return true;
	return false;
}

/* An accelerator that waits for its host runs a layer item by item: each when the one
 * before is over and its first kernel is launched. */
static void check_wait(void)
{
	double now = 0, sum = 0, launched = 0, most = s.stack.operator_launches;
	int wait = 0, n = graph->count;

	if (s.plan.compile)
		most /= 2;
	while (wait < n && graph->item[wait].kind != OPERATOR_WAIT)
		wait++;
	if (wait == n)
		return;
	for (int i = wait + 1; i < wait + n; i++) {
		const struct graph_operator *op = &graph->item[i % n];
		double first = launched + fmin(most, op->host_forward);

		now = fmax(now, first * context.launch_seconds) + op->forward_seconds;
		sum += op->forward_seconds;
		launched += op->host_forward;
	}
	now = fmax(now, launched * context.launch_seconds);
	assert_close(graph->item[wait].forward_seconds,
		     s.plan.ep_overlap && mesh.ep > 1 && s.stack.ep_overlap > 0
			     ? most * context.launch_seconds
			     : now - sum,
		     1e-6);
	waited++;
}

/* Where a pass runs without its pair, what would have hidden beside the other shows:
 * what the experts' exchanges take and do not hide in the pass itself, and those of a
 * forward once more where the backward runs it again. */
static void check_alone(bool full)
{
	static struct layer_cost cost;
	double forward = 0, backward = 0, all = 0;

	layer_cost(&context, graph, full, &cost);
	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];
		double hidden = op->forward_seconds - op->exposed_forward;

		if (op->kind != OPERATOR_COLLECTIVE || !op->overlaps ||
		    op->dimension != DIM_EP)
			continue;
		forward += hidden;
		backward += op->input_grad_seconds - op->exposed_backward +
			    (op->again > 0 ? hidden : 0);
		all += op->forward_seconds * (op->again > 0 ? 2 : 1) +
		       op->input_grad_seconds;
		again += op->again > 0 && hidden > 0;
	}
	assert_close(cost.alone_forward, forward, 1e-9);
	assert_close(cost.alone_backward, backward, 1e-9);
	assert_close(cost.pairs_hide,
		     fmin(all, s.stack.ep_overlap * (cost.forward + cost.input_grad +
						     cost.weight_grad)),
		     1e-9);
}

/* Shared experts in a stream of their own: their first products and the activation run
 * while tokens are dispatched, the last product while they come back; backward their
 * gradients. */
static double shared_seconds(bool back, bool backward)
{
	double seconds = 0;

	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];
		bool down = strcmp(op->name, "down") == 0;

		if (op->branch != BRANCH_SHARED || op->kind == OPERATOR_COLLECTIVE ||
		    down != back)
			continue;
		seconds += backward ? op->input_grad_seconds + op->weight_grad_seconds
				    : op->forward_seconds;
	}
	return seconds;
}

static void check_shared(void)
{
	static struct layer_cost cost;

	layer_cost(&context, graph, false, &cost);
	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];
		bool back = strcmp(op->name, "combine") == 0;
		double hides = s.stack.ep_overlap * s.plan.shared_expert_overlap;

		if ((!back && strcmp(op->name, "dispatch") != 0) || s.plan.ep_overlap ||
		    s.plan.moe_dispatcher == DISPATCH_ALLGATHER)
			continue;
		assert_close(op->exposed_forward,
			     fmax(0, op->forward_seconds -
					     hides * shared_seconds(back, false)),
			     1e-9);
		assert_close(op->exposed_backward,
			     fmax(0, op->input_grad_seconds -
					     hides * shared_seconds(back, true)),
			     1e-9);
		beside += hides > 0 && op->exposed_forward < op->forward_seconds;
	}
}

static void check_layer(int kind)
{
	struct place at = { false, false, false };

	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];

		check_host(kind, i);
		switch (op->kind) {
		case OPERATOR_GEMM:
		case OPERATOR_GROUPED_GEMM:
		case OPERATOR_ROUTER:
			at.leaves = op->kind == OPERATOR_GEMM && leaves_tp(i);
			check_product(op, &at);
			products += narrow;
			norms_read += narrow && at.norm;
			entries += at.entered && gathers_narrow();
			exits += at.leaves && gathers_narrow();
			at.entered = false;
			break;
		case OPERATOR_NORM:
		case OPERATOR_ELEMENTWISE:
		case OPERATOR_PERMUTE: check_moved(op); break;
		case OPERATOR_COLLECTIVE:
			check_call(op);
			at.entered |= is_named(op, "input") && op->forward_calls > 0;
			continue;
		default: break;
		}
		/* collectives between hand on what the norm wrote */
		at.norm = op->kind == OPERATOR_NORM;
	}
	check_wait();
	check_alone(next(2));
	check_shared();
}

static void test_operators_of_any_layer(void **state)
{
	int legal = 0;

	(void)state;
	seed = 31;
	while (legal < 1500) {
		if (!draw_scenario())
			continue;
		legal++;
		for (int kind = 0; kind < s.model.kinds; kind++) {
			draw_layer(kind);
			check_layer(kind);
		}
	}
	assert_true(products > 1000 && norms_read > 300);
	assert_true(entries > 100 && exits > 100 && waited > 100 && again > 100);
	assert_true(beside > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operators_of_any_layer),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
