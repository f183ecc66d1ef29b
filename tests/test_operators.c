/* test_operators.c - operators of one rank counted by hand: what a layer of each mixer
 * multiplies, holds and moves, and what narrow formats add. */
#include <math.h>
#include <string.h>

#include "engine/graph/graph.h"
#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct scenario scenario;
static struct mesh mesh;
static struct graph_context context;
static struct graph graph;

/* A layer of one mixer alone: hidden 32, two ranks of TP, 3 sequences of 40 tokens. */
static void layer_of(enum mixer_kind mixer)
{
	struct layer_kind kind = { .mixer = mixer, .mlp = MLP_NONE };
	struct model *m = &scenario.model;

	case_hybrid(&scenario);
	*m = (struct model){ .hidden = 32, .vocab = 100, .max_positions = 1 << 20 };
	strcpy(m->name, "small");
	m->ssm = (struct ssm){ .inner = 64,
			       .state = 8,
			       .heads = 8,
			       .head_dim = 8,
			       .groups = 4,
			       .conv = 4,
			       .chunk = 16,
			       .dt_rank = 6 };
	assert_true(model_add_layer(m, &kind));
	scenario.cluster.gpus = 2;
	scenario.plan.tp = 2;
	scenario.plan.pp = scenario.plan.cp = scenario.plan.ep = 1;
	scenario.plan.micro_batch = 3;
	scenario.plan.seq_len = 40;
	scenario.plan.precision = PRECISION_BF16;
}

static void draw(void)
{
	mesh_build(&scenario, &mesh);
	graph_context(&scenario, &mesh, &context);
	graph_layer(&context, 0, &graph);
}

static const struct graph_operator *named(const char *name)
{
	for (int i = 0; i < graph.count; i++)
		if (strcmp(graph.item[i].name, name) == 0)
			return &graph.item[i];
	fail_msg("no operator '%s'", name);
	return NULL;
}

enum { TOKENS = 120 };

static void check_gemm(const char *name, double columns, double inner)
{
	const struct graph_operator *op = named(name);

	assert_close(op->rows, TOKENS, 0);
	assert_close(op->columns, columns, 0);
	assert_close(op->inner, inner, 0);
	assert_close(op->forward_flops, 2.0 * TOKENS * columns * inner, 1e-12);
	assert_close(op->input_grad_flops, 2.0 * TOKENS * columns * inner, 1e-12);
	assert_close(op->weight_grad_flops, 2.0 * TOKENS * columns * inner, 1e-12);
}

/* Mamba-1 (arXiv 2312.00752, figure 3): x and z from the input, a convolution over x
 * with a bias, three small projections, the scan. Of 64 channels a rank has 32. */
static void test_mamba1_by_hand(void **state)
{
	const struct graph_operator *op;

	(void)state;
	layer_of(MIXER_MAMBA1);
	draw();
	check_gemm("input projection", 2 * 32, 32);
	assert_close(named("input projection")->kept_bytes, TOKENS * 64 * 2, 1e-12);
	op = named("short convolution");
	assert_close(op->weights, 32 * (4 + 1), 1e-12);
	assert_close(op->trainable, 32 * (4 + 1), 1e-12);
	assert_true(op->kept_bytes ==
		    0); /* made again, MambaInnerFn's checkpoint_lvl */
	assert_close(op->forward_bytes, TOKENS * 32 * 2 * 2, 1e-12);
	assert_close(op->backward_bytes, TOKENS * 32 * 3 * 2, 1e-12);
	check_gemm("step and state projection", 6 + 2 * 8, 32);
	check_gemm("step expansion", 32, 6);
	op = named("scan");
	assert_close(op->forward_flops, TOKENS * 9.0 * 32 * 8, 1e-12);
	assert_close(op->input_grad_flops, 2.5 * TOKENS * 9.0 * 32 * 8, 1e-12);
	assert_close(op->forward_bytes, TOKENS * 4.0 * 32 * 2 * 2, 1e-12);
	assert_close(op->backward_bytes, 2.5 * op->forward_bytes, 1e-12);
	assert_close(op->weights, 32 * (8 + 1), 1e-12);
	/* the result, and of each 2048 tokens two numbers in fp32 a state */
	assert_close(op->kept_bytes, TOKENS * (32 * 2 + 32 * 8 * 2 * 4 / 2048.0),
		     1e-12);
	check_gemm("output projection", 32, 32);
}

/* Mamba-2 (arXiv 2405.21060): the convolution runs over x, B and C, a rank has 2 of 4
 * groups, and one input projection gives all and a step for each head. */
static void test_mamba2_by_hand(void **state)
{
	const double conv = 32 + 2 * 2 * 8;
	const struct graph_operator *op;

	(void)state;
	layer_of(MIXER_MAMBA2);
	draw();
	check_gemm("input projection", 32 + conv + 4, 32);
	assert_close(named("input projection")->kept_bytes,
		     TOKENS * (32 + conv + 4) * 2, 1e-12);
	op = named("short convolution");
	assert_close(op->weights, conv * 5, 1e-12);
	assert_true(op->kept_bytes == 0); /* made again, as chunks' states are */
	op = named("scan");
	assert_close(op->kept_bytes, TOKENS * 32 * 2, 1e-12);
	assert_close(op->forward_flops,
		     TOKENS * 2 * (16 / 2.0 * (2 * 8 + 32) + 2 * 32 * 8), 1e-12);
	assert_close(op->forward_bytes,
		     TOKENS * (3 * (conv + 32) * 2 + 8.0 * 32 * 8 / 16), 1e-12);
	assert_close(op->weights, 3 * 4, 1e-12);
	op = named("gated norm");
	assert_close(op->weights, 32, 1e-12);
	/* what enters and what leaves */
	assert_close(op->kept_bytes, TOKENS * 2 * 32 * 2, 1e-12);
	assert_close(op->forward_bytes, TOKENS * 32 * 3 * 2, 1e-12);
	assert_close(op->backward_bytes, TOKENS * 32 * 5 * 2, 1e-12);
	check_gemm("output projection", 32, 32);
	/* fewer groups than ranks: each has one */
	scenario.model.ssm.groups = 1;
	draw();
	check_gemm("input projection", 32 + (32 + 2 * 8) + 4, 32);
}

/* Linear attention has two numbers of its own for each head and token, and the weights
 * of its norm for one head. */
static void test_linear_attention_by_hand(void **state)
{
	const double conv = 32 + 2 * 2 * 8;

	(void)state;
	layer_of(MIXER_LINEAR);
	draw();
	check_gemm("input projection", 32 + conv + 2 * 4, 32);
	assert_close(named("gated norm")->weights, 8, 1e-12);
	/* a decay and a step for each head; the convolution has no bias */
	assert_close(named("scan")->weights, 2 * 4, 1e-12);
	assert_close(named("short convolution")->weights, conv * 4, 1e-12);
	/* the kernel reads it, and makes its chunks' states again */
	assert_close(named("short convolution")->kept_bytes, TOKENS * conv * 2, 1e-12);
	assert_close(named("scan")->kept_bytes, TOKENS * 32 * 2, 1e-12);
	assert_close(named("gated norm")->kept_bytes, TOKENS * 32 * 2, 1e-12);
}

/* A short convolution takes what goes in and two gates from one projection, has a
 * filter of four taps for each channel, and nothing that scans. */
static void test_short_convolution_by_hand(void **state)
{
	(void)state;
	layer_of(MIXER_CONV);
	draw();
	check_gemm("input projection", 3 * 32, 32);
	check_gemm("output projection", 32, 32);
	assert_close(named("short convolution")->weights, 32 * 4, 1e-12);
	assert_close(named("scan")->weights, 0, 1e-12);
}

/* Lightning attention: query, key, value and gate of all heads from one projection,
 * activations where others convolve, decays that are no parameters, a norm over all
 * heads; no edge of a convolution travels. */
static void test_lightning_attention_by_hand(void **state)
{
	const struct graph_operator *op;

	(void)state;
	layer_of(MIXER_LIGHTNING);
	scenario.model.ssm.groups = scenario.model.ssm.heads;
	draw();
	check_gemm("input projection", 4 * 32, 32);
	check_gemm("output projection", 32, 32);
	op = named("activation");
	assert_close(op->weights, 0, 1e-12);
	assert_close(op->forward_bytes, TOKENS * 3 * 32 * 2 * 2, 1e-12);
	assert_close(named("gated norm")->weights, 32, 1e-12);
	op = named("scan");
	assert_close(op->weights, 0, 1e-12);
	/* half a chunk of 16 is seen by query and key and weighs values, 4 heads of 8
	 */
	assert_close(op->forward_flops,
		     TOKENS * 2 * (16 / 2.0 * (4 * 8 + 32) + 2 * 32 * 8), 1e-12);
	scenario.cluster.gpus = 4;
	scenario.plan.cp = 2;
	draw();
	assert_close(named("chunk states")->payload_bytes, 3 * 32 * 8 * 4 * 2, 1e-12);
}

/* Ranks of CP hand on the states and the edge of the convolution, in fp32, as large
 * for a long sequence as for a short one. */
static void test_states_that_travel(void **state)
{
	const double conv = 32 + 2 * 2 * 8;

	(void)state;
	layer_of(MIXER_MAMBA2);
	scenario.cluster.gpus = 4;
	scenario.plan.cp = 2;
	draw();
	assert_close(named("chunk states")->payload_bytes,
		     3 * (32 * 8 + (4 - 1) * conv) * 4 * 2, 1e-12);
	scenario.plan.seq_len *= 8;
	draw();
	assert_close(named("chunk states")->payload_bytes,
		     3 * (32 * 8 + (4 - 1) * conv) * 4 * 2, 1e-12);
}

/* Bytes for each element that turns narrow, and for one that no kernel before it writes
 * so. */
static void test_narrow_formats(void **state)
{
	static const struct {
		enum precision precision;
		enum fp8_recipe recipe;
		bool compile;
		double fused, alone;
		double weight; /* once a step */
	} rows[] = {
		{ PRECISION_BF16, FP8_CURRENT_SCALING, false, 0, 0, 0 },
		{ PRECISION_FP32, FP8_CURRENT_SCALING, false, 0, 0, 0 },
		{ PRECISION_FP8, FP8_DELAYED, false, 1.5, 4, 4 },
		{ PRECISION_FP8, FP8_CURRENT_SCALING, false, 1.5, 6, 6 },
		{ PRECISION_FP8, FP8_ROWWISE, false, 14, 14, 14 },
		{ PRECISION_FP8, FP8_ROWWISE, true, 10, 10, 10 },
		{ PRECISION_MXFP8, FP8_CURRENT_SCALING, false, 1.5, 4, 4 },
	};

	(void)state;
	case_dense(&scenario);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		scenario.plan.precision = rows[i].precision;
		scenario.plan.fp8_recipe = rows[i].recipe;
		scenario.plan.compile = rows[i].compile;
		mesh_build(&scenario, &mesh);
		graph_context(&scenario, &mesh, &context);
		assert_close(context.quantise_bytes, rows[i].fused, 0);
		assert_close(context.quantise_gradient_bytes, rows[i].fused, 0);
		assert_close(context.quantise_alone_bytes, rows[i].alone, 0);
		assert_close(context.quantise_weight_bytes, rows[i].weight, 0);
		/* mxfp8 alone is made of gathered 16 bits */
		bool made = rows[i].precision == PRECISION_MXFP8;

		scenario.plan.weight_format = WEIGHTS_FP8;
		graph_context(&scenario, &mesh, &context);
		assert_close(context.quantise_weight_bytes, made ? rows[i].weight : 0,
			     0);
		scenario.plan.zero = 3;
		graph_context(&scenario, &mesh, &context);
		assert_close(context.quantise_weight_bytes, 0, 0);
		scenario.plan.zero = 0;
		scenario.plan.weight_format = WEIGHTS_WIDE;
	}
}

/* A norm writes fp8 by a scale of the step before alone: what it left in 16 bits is
 * read, and written in two layouts, or in one where one scale a tensor is enough for
 * any product; what attention or an activation wrote is as with others. */
static void test_scales_of_this_step_are_found_behind_a_norm(void **state)
{
	static const struct {
		int precision, recipe;
		bool compile;
		double mxfp8_peak, bytes;
	} cases[] = {
		{ PRECISION_FP8, FP8_DELAYED, false, 0, 1.5 },
		{ PRECISION_FP8, FP8_CURRENT_SCALING, false, 0, 4 },
		{ PRECISION_FP8, FP8_CURRENT_SCALING, false, 1e15, 3 },
		{ PRECISION_FP8, FP8_BLOCKWISE, false, 0, 4 },
		{ PRECISION_FP8, FP8_BLOCKWISE, true, 0, 1.5 },
		{ PRECISION_MXFP8, FP8_DELAYED, false, 1e15, 4 + 2 / 32.0 },
	};

	(void)state;
	case_dense(&scenario);
	scenario.stack.saves_fp8_inputs = true;
	for (int i = 0; i < 6; i++) {
		int norms = 0, others = 0;

		scenario.plan.precision = cases[i].precision;
		scenario.plan.fp8_recipe = cases[i].recipe;
		scenario.plan.compile = cases[i].compile;
		scenario.cluster.accelerator.peak_flops[PRECISION_MXFP8] =
			cases[i].mxfp8_peak;
		draw();
		for (int k = 0; k < graph.count; k++) {
			const struct graph_operator *op = &graph.item[k];
			bool reads = strcmp(op->name, "qkv projection") == 0 ||
				     (op->makes & 1u << TENSOR_MLP_IN) != 0;

			if (op->kind != OPERATOR_GEMM)
				continue;
			assert_close(op->quantise_bytes, reads ? cases[i].bytes : 1.5,
				     0);
			assert_close(op->quantise_gradient_bytes, 1.5, 0);
			norms += reads;
			others += !reads;
		}
		assert_int_equal(norms, 2);
		assert_int_equal(others, 2);
	}
}

/* NVFP4: two bytes are read, and half a byte with a sixteenth of a scale written in two
 * layouts; a maximum that no kernel before finds reads two more. A norm finds it of
 * what it wrote, but not of what is rotated. Weights without squares read and write the
 * scales of both layouts once more. */
static void test_nvfp4_by_its_recipe(void **state)
{
	static const double whole = 2 + 2 * (0.5 + 1.0 / 16);

	(void)state;
	case_dense(&scenario);
	scenario.plan.precision = PRECISION_NVFP4;
	mesh_build(&scenario, &mesh);
	for (int rotated = 0; rotated < 2; rotated++)
		for (int squares = 0; squares < 2; squares++) {
			scenario.plan.fp4_rotation = rotated;
			scenario.plan.fp4_squares = squares;
			graph_context(&scenario, &mesh, &context);
			assert_close(context.quantise_bytes, whole + 2 * rotated, 0);
			assert_close(context.quantise_gradient_bytes, whole + 2, 0);
			assert_close(context.quantise_alone_bytes, whole + 2, 0);
			assert_close(context.quantise_weight_bytes,
				     whole + 2 + (squares ? 0 : 2 * 2 / 16.0), 0);
		}
}

/* A GEMM's input, rows x inner, and its output's gradient, rows x columns, at the
 * memory's rate; one short kernel more for each gradient that is rounded at random. */
static void test_nvfp4_in_an_operator(void **state)
{
	const struct graph_operator *op;
	double plain = 0;

	(void)state;
	case_dense(&scenario);
	scenario.plan.precision = PRECISION_NVFP4;
	scenario.plan.fp4_rotation = false;
	for (int random = 0; random < 2; random++) {
		scenario.plan.fp4_rounding = random;
		draw();
		op = named("qkv projection");
		assert_close(op->draws, random, 0);
		assert_close(op->quantise_bytes, 3.125, 0);
		assert_close(op->quantise_gradient_bytes, 5.125, 0);
		assert_close(op->narrow_weights, op->columns * op->inner, 0);
		assert_close(op->forward_bytes,
			     (op->rows + op->columns) * op->inner * 0.5625 +
				     op->rows * op->columns * 2 +
				     op->rows * op->inner * 3.125,
			     1e-12);
		if (!random)
			plain = op->input_grad_seconds;
	}
	assert_close(op->input_grad_seconds - plain, context.memory.kernel_seconds,
		     1e-9);
}

/* Routers are no layers of Transformer Engine: nothing of them turns narrow, and their
 * product runs at the rate of the head's. */
static void test_a_router_stays_wide(void **state)
{
	struct graph_operator wide;

	(void)state;
	case_moe(&scenario);
	draw();
	wide = *named("router");
	scenario.plan.precision = PRECISION_FP8;
	draw();
	assert_close(named("router")->forward_seconds, wide.forward_seconds, 0);
	assert_close(named("router")->forward_bytes, wide.forward_bytes, 0);
	assert_close(named("router")->narrow_weights, 0, 0);
	assert_true(named("expert gate and up")->narrow_weights > 0);
}

/* What a GEMM reads of an element: itself, a byte, or half of one, with scales for 32
 * or 16 of them. */
static void test_operands(void **state)
{
	static const struct {
		enum precision precision;
		double width, operand;
	} rows[] = {
		{ PRECISION_FP32, 4, 4 },
		{ PRECISION_BF16, 2, 2 },
		{ PRECISION_FP16, 2, 2 },
		{ PRECISION_FP8, 2, 1 },
		{ PRECISION_MXFP8, 2, 1 + 1.0 / 32 },
		{ PRECISION_NVFP4, 2, 0.5 + 1.0 / 16 },
	};

	(void)state;
	case_dense(&scenario);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		scenario.plan.precision = rows[i].precision;
		for (int saves = 0; saves < 2; saves++) {
			scenario.stack.saves_fp8_inputs = saves;
			mesh_build(&scenario, &mesh);
			graph_context(&scenario, &mesh, &context);
			assert_close(context.width, rows[i].width, 0);
			assert_close(context.operand_width, rows[i].operand, 0);
			/* servers of the same format read as much */
			assert_close(context.operand_width,
				     precision_table[rows[i].precision].operand_bytes,
				     0);
			assert_close(context.input_width,
				     saves ? rows[i].operand : rows[i].width, 0);
		}
	}
}

/* Of n hosts the slowest is sqrt(2 ln n) deviations of a fifth above the mean. */
static void test_the_slowest_host(void **state)
{
	(void)state;
	mesh = (struct mesh){ .ep = 1 };
	assert_close(graph_slowest_host(&scenario, &mesh), 1, 0);
	mesh.ep = 2;
	assert_close(graph_slowest_host(&scenario, &mesh), 1 + 0.2 * sqrt(2 * log(2)),
		     1e-12);
	mesh.ep = 64;
	assert_close(graph_slowest_host(&scenario, &mesh), 1 + 0.2 * sqrt(2 * log(64)),
		     1e-12);
}

/* What a view keeps of a layer outlives the mesh that it was drawn on. */
static void test_a_drawn_layer_stands_by_itself(void **state)
{
	int collectives = 0;

	(void)state;
	case_dense(&scenario);
	train_graph(&scenario, 0, &graph);
	for (int i = 0; i < graph.count; i++) {
		assert_null(graph.item[i].group);
		if (graph.item[i].kind != OPERATOR_COLLECTIVE)
			continue;
		assert_int_equal(graph.item[i].ranks, scenario.plan.tp);
		collectives++;
	}
	assert_true(collectives >= 4);
}

/* A byte in each of two layouts; in one where an accelerator with mxfp8 multiplies any
 * and a tensor has one scale; a scale per 32 or 16 elements besides. None where weights
 * are stored narrow, wide alone, or sharded. */
static void test_copies_of_weights(void **state)
{
	static const struct {
		int precision, recipe, format, zero;
		double mxfp8, bytes;
	} cases[] = {
		{ PRECISION_FP8, FP8_DELAYED, WEIGHTS_BOTH, 1, 0, 2 },
		{ PRECISION_FP8, FP8_DELAYED, WEIGHTS_BOTH, 1, 1e15, 1 },
		{ PRECISION_FP8, FP8_CURRENT_SCALING, WEIGHTS_BOTH, 1, 1e15, 1 },
		{ PRECISION_FP8, FP8_BLOCKWISE, WEIGHTS_BOTH, 1, 1e15, 2 },
		{ PRECISION_MXFP8, FP8_DELAYED, WEIGHTS_BOTH, 1, 1e15, 2 + 2 / 32.0 },
		{ PRECISION_FP8, FP8_DELAYED, WEIGHTS_BOTH, 3, 0, 0 },
		{ PRECISION_FP8, FP8_DELAYED, WEIGHTS_FP8, 1, 0, 0 },
		{ PRECISION_FP8, FP8_DELAYED, WEIGHTS_WIDE, 1, 0, 0 },
		{ PRECISION_BF16, FP8_DELAYED, WEIGHTS_BOTH, 1, 0, 0 },
	};

	(void)state;
	case_dense(&scenario);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		scenario.plan.precision = cases[i].precision;
		scenario.plan.fp8_recipe = cases[i].recipe;
		scenario.plan.weight_format = cases[i].format;
		scenario.plan.zero = cases[i].zero;
		scenario.cluster.accelerator.peak_flops[PRECISION_MXFP8] =
			cases[i].mxfp8;
		mesh_build(&scenario, &mesh);
		graph_context(&scenario, &mesh, &context);
		assert_close(context.weight_copy_bytes, cases[i].bytes, 1e-12);
	}
}

/* In fp8 a flash kernel's products run quicker by the accelerator's gain, and what it
 * reads and writes is turned there and back, two bytes and one; kernels that write the
 * scores out stay as they are, and so does bf16. */
static void test_attention_in_fp8(void **state)
{
	struct graph_operator wide, turned;

	(void)state;
	case_dense(&scenario);
	scenario.cluster.accelerator.calibration.fp8_attention_gain = 1.25;
	scenario.plan.precision = PRECISION_FP8;
	draw();
	wide = *named("attention");
	double compute = wide.forward_flops / 1.25;

	scenario.plan.fp8_attention = true;
	draw();
	turned = *named("attention");
	double heads = turned.columns +
		       turned.columns / (double)scenario.model.kind[0].attention.heads *
			       (double)scenario.model.kind[0].attention.kv_heads;

	assert_close(turned.turned_bytes, 3 * turned.rows * 2 * heads, 1e-12);
	struct roofline rate;

	graph_attention_rate(&context, &scenario.model.kind[0], &rate);
	assert_close(
		turned.forward_seconds -
			turned.turned_bytes * context.memory.seconds_per_byte,
		roofline_seconds(&rate, turned.forward_flops, turned.forward_bytes),
		1e-9);
	scenario.plan.fp8_attention = false;
	draw();
	graph_attention_rate(&context, &scenario.model.kind[0], &rate);
	assert_close(turned.forward_seconds -
			     turned.turned_bytes * context.memory.seconds_per_byte,
		     roofline_seconds(&rate, compute, turned.forward_bytes), 1e-9);
	scenario.plan.fp8_attention = true;
	scenario.plan.precision = PRECISION_BF16;
	draw();
	assert_true(named("attention")->turned_bytes == 0);
	scenario.plan.precision = PRECISION_FP8;
	scenario.plan.attention_kernel = ATTENTION_FUSED_SOFTMAX;
	draw();
	assert_true(named("attention")->turned_bytes == 0);
}

static double again_of(int part)
{
	double again = 0;

	train_graph(&scenario, part, &graph);
	for (int i = 0; i < graph.count; i++)
		again += graph.item[i].again;
	return again;
}

/* Full recomputation runs a layer again, and neither embedding nor head. */
static void test_what_runs_again(void **state)
{
	int kinds;

	(void)state;
	case_dense(&scenario);
	kinds = scenario.model.kinds;
	case_set(&scenario, "recompute", "none");
	for (int part = 0; part < kinds + 2; part++)
		assert_true(again_of(part) == 0);
	case_set(&scenario, "recompute", "full");
	assert_true(again_of(0) > 0);
	assert_true(again_of(kinds) == 0 && again_of(kinds + 1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mamba1_by_hand),
		cmocka_unit_test(test_mamba2_by_hand),
		cmocka_unit_test(test_linear_attention_by_hand),
		cmocka_unit_test(test_short_convolution_by_hand),
		cmocka_unit_test(test_lightning_attention_by_hand),
		cmocka_unit_test(test_states_that_travel),
		cmocka_unit_test(test_narrow_formats),
		cmocka_unit_test(test_scales_of_this_step_are_found_behind_a_norm),
		cmocka_unit_test(test_nvfp4_by_its_recipe),
		cmocka_unit_test(test_nvfp4_in_an_operator),
		cmocka_unit_test(test_a_router_stays_wide),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_the_slowest_host),
		cmocka_unit_test(test_a_drawn_layer_stands_by_itself),
		cmocka_unit_test(test_what_runs_again),
		cmocka_unit_test(test_attention_in_fp8),
		cmocka_unit_test(test_copies_of_weights),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
