/* test_layers.c - the operators of small layers row by row: shapes after the split,
 * bytes moved and held, calls between ranks, what a host launches. Each row is worked
 * out by hand from what the operator does. */
#include <math.h>
#include <string.h>

#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/small.h"

static const double tokens = (double)SEQ * SEQUENCES;
enum { W = 2 /* bytes of bf16 */ };

/* Bytes are of each element of rows x columns; weights, held and launches of all. */
struct row {
	const char *name;
	double rows, columns, forward, backward, weights, kept, saved, launches;
};

static void check(const struct row *row)
{
	const struct graph_operator *op = small_named(row->name);
	double elements = row->rows * row->columns;

	assert_close(op->rows, row->rows, 1e-12);
	assert_close(op->columns, row->columns, 1e-12);
	assert_close(op->forward_bytes, row->forward * elements, 1e-12);
	assert_close(op->backward_bytes, row->backward * elements, 1e-12);
	assert_close(op->weights, row->weights, 1e-12);
	assert_close(op->kept_bytes, row->kept, 1e-12);
	assert_close(op->saved_bytes, row->saved, 1e-12);
	/* a backward is driven from C++ at 1.3 times a forward (host.c) */
	assert_close(op->host_forward, row->launches, 1e-12);
	assert_close(op->host_backward, 1.3 * row->launches, 1e-12);
	if (op->kind == OPERATOR_GEMM || op->forward_flops > 0)
		return;
	assert_close(op->forward_seconds,
		     roofline_seconds(&context.memory, 0, op->forward_bytes), 1e-12);
	assert_close(op->input_grad_seconds,
		     roofline_seconds(&context.memory, 0, op->backward_bytes), 1e-12);
}

static void check_all(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&rows[i]);
}

#define CHECK(rows) check_all(rows, sizeof(rows) / sizeof *(rows))

static void check_call(const char *name, enum collective_kind kind, double payload,
		       int forward, int backward)
{
	const struct graph_operator *op = small_named(name);

	assert_int_equal(op->collective, kind);
	assert_close(op->payload_bytes, payload, 1e-12);
	assert_int_equal(op->forward_calls, forward);
	assert_int_equal(op->backward_calls, backward);
}

/* Latents are made of a rank's own rows and go to all; queries without one are made of
 * all rows of the input (DeepSeek-V2-Lite; Megatron Core's linear_q_proj). */
static void test_queries_without_a_latent_enter(void **state)
{
	(void)state;
	for (int ranked = 0; ranked < 2; ranked++) {
		case_mla(&scenario);
		scenario.model.kind[0].attention.query_rank = ranked ? 1536 : 0;
		scenario.plan.tp = 2;
		scenario.plan.sp = true;
		small_draw();
		double rows = context.tokens * 2;

		check_call("latents", COLLECTIVE_ALL_GATHER,
			   rows * (512 + 64 + (ranked ? 1536 : 0)), 1, 0);
		int entries = 0;

		for (int i = 0; i < graph.mixer_count; i++)
			entries += strcmp(graph.item[i].name, "attention input") == 0 &&
				   graph.item[i].payload_bytes == rows * 7168;
		assert_int_equal(entries, ranked ? 0 : 1);
	}
}

/* --- a dense layer --- */

static void launch(double each)
{
	scenario.stack.operator_launches = each;
}

/* A norm reads and writes, backward it reads two and writes one and its weights' sums;
 * it saves its input and keeps its output for the product behind it. */
static void test_a_dense_layer_row_by_row(void **state)
{
	const double half = tokens / TP, x = half * HIDDEN * W;
	const double ffn = (double)FFN / TP;
	const double heads = (double)HEADS / TP, keys = (double)KEYS / TP;
	const double qk = (heads + keys) * QUERY_DIM, qkv = qk + keys * VALUE_DIM;

	(void)state;
	for (int gated = 0; gated < 2; gated++) {
		double up = gated ? 2 : 1;
		const struct row rows[] = {
			{ "input norm", half, HIDDEN, 2 * W, 4 * W, HIDDEN, x, x, 7 },
			{ "rotary positions", tokens, qk, 2 * W, 2 * W, 0, 0, 0, 7 },
			{ "residual", half, HIDDEN, 3 * W, 2 * W, 0, 0, 0, 7 },
			{ "MLP norm", half, HIDDEN, 2 * W, 4 * W, HIDDEN, x, x, 7 },
			/* both halves in, one out; and their gradients */
			{ "activation", tokens, ffn, (up + 1) * W, (2 * up + 1) * W, 0,
			  0, tokens * ffn * W, 7 },
		};

		small_layer();
		scenario.plan.sp = true;
		scenario.model.gated_mlp = gated;
		scenario.model.norm = NORM_RMS;
		launch(7);
		small_draw();
		CHECK(rows);
		/* the keys, as far as they are shared, wait for attention's backward */
		assert_close(small_named("qkv projection")->columns, qkv, 1e-12);
		assert_close(small_named("qkv projection")->kept_bytes,
			     tokens * qkv * W, 1e-12);
		assert_close(small_named("output projection")->inner, heads * VALUE_DIM,
			     1e-12);
		assert_close(small_named(gated ? "gate and up" : "up")->columns,
			     up * ffn, 1e-12);
		assert_close(small_named(gated ? "gate and up" : "up")->saved_bytes,
			     tokens * up * ffn * W, 1e-12);
		assert_close(small_named("down")->inner, ffn, 1e-12);
	}
}

/* With dropout a mask of a byte is written, held and read again. */
static void test_dropout_holds_masks(void **state)
{
	const struct row row = { "residual",      tokens,    HIDDEN,
				 3 * W + 1,       2 * W + 1, 0,
				 tokens * HIDDEN, 0,         7 };

	(void)state;
	small_layer();
	scenario.model.dropout = 0.1;
	launch(7);
	small_draw();
	check(&row);
}

/* Op by op an RMS norm works in fp32: 36 bytes an element there and 92 back, in eight
 * operators, and it keeps its input and what it scales. Compiling makes it one kernel
 * again, and a layer norm is one anyway, which reads its rows more than once. */
static void test_norms_op_by_op(void **state)
{
	const double x = tokens * HIDDEN;

	(void)state;
	for (int way = 0; way < 3; way++) {
		bool steps = way == 0, compile = way == 1;
		double general = compile ? 1 : 1.404, back = compile ? 1 : 2.033;
		const struct row row = { "input norm",
					 tokens,
					 HIDDEN,
					 steps ? 36 : 2 * W * general,
					 steps ? 92 : 4 * W * back,
					 HIDDEN,
					 x * W,
					 x * (steps ? 8 : W),
					 steps     ? 7 * 8
					 : compile ? 3.5
						   : 7 };

		small_layer();
		scenario.model.norm = way == 2 ? NORM_LAYER : NORM_RMS;
		scenario.plan.fused_norms = false;
		scenario.plan.compile = compile;
		launch(7);
		small_draw();
		check(&row);
	}
}

/* A norm over the heads of queries and keys keeps what enters it, beside what attention
 * reads of what leaves it. */
static void test_norms_of_heads_keep_their_input(void **state)
{
	double heads = (HEADS + KEYS) / (double)TP;

	(void)state;
	small_layer();
	scenario.model.kind[0].attention.qk_norm = true;
	small_draw();
	assert_close(small_named("query and key norm")->kept_bytes,
		     tokens * heads * QUERY_DIM * W, 1e-12);
	assert_close(small_named("qkv projection")->kept_bytes,
		     tokens * (heads * QUERY_DIM + KEYS / TP * VALUE_DIM) * W, 1e-12);
}

/* So many parts of what SP gathered wait for the backward: one is what the norm keeps,
 * and without a pipeline more than one are all. */
static void check_gathered(double parts, int64_t stages, double kept)
{
	scenario.stack.saved_gather_shards = parts;
	scenario.plan.pp = stages;
	small_draw();
	assert_close(small_named("attention input")->kept_bytes, kept, 1e-12);
}

/* Megatron's sequence parallelism (Korthikanti 2022, section 4.2.2): gather the input,
 * scatter the sums of the output; backward the other way round, and the input again for
 * the weights' gradient. Without it one all-reduce each way. */
static void test_ranks_of_tp_exchange_rows(void **state)
{
	const double x = tokens * HIDDEN * W;

	(void)state;
	small_layer();
	scenario.plan.sp = true;
	small_draw();
	check_call("attention input", COLLECTIVE_ALL_GATHER, x, 1, 0);
	check_call("input again", COLLECTIVE_ALL_GATHER, x, 0, 1);
	assert_true(small_named("input again")->overlaps);
	check_call("input gradient", COLLECTIVE_REDUCE_SCATTER, x, 0, 1);
	assert_true(small_named("input gradient")->beside_weight_grad);
	check_call("attention output", COLLECTIVE_REDUCE_SCATTER, x, 1, 0);
	check_call("output gradient", COLLECTIVE_ALL_GATHER, x, 0, 1);
	check_gathered(1, 1, 0);
	check_gathered(2, 1, x / TP);
	check_gathered(1.5, 2, 0.5 * x / TP);
	small_layer();
	small_draw();
	check_call("attention input", COLLECTIVE_ALL_REDUCE, x, 0, 1);
	assert_true(small_named("attention input")->beside_weight_grad);
	check_call("attention output", COLLECTIVE_ALL_REDUCE, x, 1, 0);
	assert_null(small_find("input again"));
	assert_null(small_find("output gradient"));
}

/* What SP gathers of an input goes as the product reads it, twice; its output's
 * gradient in one layout where it has one scale, else in both; sums stay wide. */
static void check_narrow(bool sp, bool fp8, bool blocks, double in, double out)
{
	const double x = tokens * HIDDEN;

	scenario.plan.sp = sp;
	scenario.stack.gathers_fp8 = fp8;
	scenario.stack.gathers_blocks = blocks;
	small_draw();
	if (!sp) {
		check_call("attention input", COLLECTIVE_ALL_REDUCE, x * W, 0, 1);
		return;
	}
	check_call("attention input", COLLECTIVE_ALL_GATHER, x * in, 1, 0);
	check_call("MLP input", COLLECTIVE_ALL_GATHER, x * in, 1, 0);
	check_call("input again", COLLECTIVE_ALL_GATHER, x * in, 0, 1);
	check_call("input gradient", COLLECTIVE_REDUCE_SCATTER, x * W, 0, 1);
	check_call("attention output", COLLECTIVE_REDUCE_SCATTER, x * W, 1, 0);
	check_call("output gradient", COLLECTIVE_ALL_GATHER, x * out, 0, 1);
}

static void test_narrow_rows_are_gathered(void **state)
{
	static const struct {
		int precision, recipe;
		bool blocks; /* needs that of a stack */
		double in, out;
	} rows[] = {
		{ PRECISION_BF16, FP8_DELAYED, false, 2, 2 },
		{ PRECISION_FP8, FP8_DELAYED, false, 1, 1 },
		{ PRECISION_FP8, FP8_CURRENT_SCALING, false, 1, 1 },
		{ PRECISION_FP8, FP8_ROWWISE, true, 2, 2 },
		{ PRECISION_FP8, FP8_BLOCKWISE, true, 1, 2 },
		{ PRECISION_MXFP8, FP8_DELAYED, true, 33 / 32.0, 66 / 32.0 },
		{ PRECISION_NVFP4, FP8_DELAYED, true, 9 / 16.0, 9 / 8.0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool blocks = rows[i].blocks;

		small_layer();
		scenario.plan.precision = rows[i].precision;
		scenario.plan.fp8_recipe = rows[i].recipe;
		check_narrow(true, !blocks, blocks, rows[i].in, rows[i].out);
		check_narrow(true, blocks, !blocks, 2, 2);
		check_narrow(false, true, true, 2, 2);
	}
}

/* Frozen weights have no gradient of their own: one layout of what their product
 * gives; Megatron's adapters read the 16 bits that their matrix gathered. */
static void test_frozen_rows_are_gathered(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++) {
		bool megatron = way & 1, mxfp8 = way & 2;
		double byte = mxfp8 ? 33 / 32.0 : 1;
		const double x = tokens * HIDDEN;

		small_layer();
		scenario.plan.precision = mxfp8 ? PRECISION_MXFP8 : PRECISION_FP8;
		scenario.plan.fp8_recipe = FP8_DELAYED;
		scenario.plan.lora_rank = 8;
		scenario.plan.sp = true;
		scenario.stack.splits_adapters = megatron;
		scenario.stack.gathers_fp8 = scenario.stack.gathers_blocks = true;
		small_draw();
		check_call("attention input", COLLECTIVE_ALL_GATHER,
			   x * (megatron ? W : byte), 1, 0);
		check_call("output gradient", COLLECTIVE_ALL_GATHER, x * byte, 0, 1);
	}
}

/* Each rank turns its part of the rows narrow. The tensor that Hopper gathered with one
 * scale is written once more the other way round; others come in both layouts. */
static void test_parts_are_turned_narrow(void **state)
{
	static const struct {
		int precision, recipe;
		double mxfp8_peak, in, out;
	} rows[] = {
		{ PRECISION_FP8, FP8_CURRENT_SCALING, 0, 3.0 / TP + 2, 1.5 / TP + 2 },
		{ PRECISION_FP8, FP8_CURRENT_SCALING, 1e15, 3.0 / TP, 1.5 / TP },
		{ PRECISION_FP8, FP8_DELAYED, 0, 1.5 / TP + 2, 1.5 / TP + 2 },
		{ PRECISION_FP8, FP8_BLOCKWISE, 0, 4.0 / TP + 2, 1.5 / TP + 2 },
		{ PRECISION_MXFP8, FP8_DELAYED, 1e15, (4 + 2 / 32.0) / TP, 1.5 / TP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct graph_operator *enters, *leaves;

		small_layer();
		scenario.plan.precision = rows[i].precision;
		scenario.plan.fp8_recipe = rows[i].recipe;
		scenario.plan.sp = true;
		scenario.stack.saves_fp8_inputs = true;
		scenario.stack.gathers_fp8 = scenario.stack.gathers_blocks = true;
		scenario.cluster.accelerator.peak_flops[PRECISION_MXFP8] =
			rows[i].mxfp8_peak;
		small_draw();
		enters = small_named("qkv projection");
		leaves = small_named("output projection");
		assert_close(enters->quantise_bytes, rows[i].in, 1e-12);
		assert_close(enters->quantise_gradient_bytes, 1.5, 1e-12);
		assert_close(leaves->quantise_bytes, 1.5, 1e-12);
		assert_close(leaves->quantise_gradient_bytes, rows[i].out, 1e-12);
	}
}

/* A gate that is a matrix of its own reduces its input's gradient itself, and gathers
 * its input itself where it does so with SP, too; queries, keys and values are one. */
static void test_a_gate_enters_by_itself(void **state)
{
	(void)state;
	for (int way = 0; way < 8; way++) {
		bool gated = way & 1, sp = way & 2, gathers = way & 4;
		const double x = tokens * HIDDEN * W;
		int apart = gated && (!sp || gathers) ? 2 : 1;

		small_layer();
		scenario.model.gated_mlp = gated;
		scenario.plan.sp = sp;
		scenario.stack.reduces_by_product = true;
		scenario.stack.gathers_by_product = gathers;
		small_draw();
		check_call("attention input",
			   sp ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE, x, sp,
			   !sp);
		check_call("MLP input",
			   sp ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE, x,
			   sp ? apart : 0, sp ? 0 : apart);
	}
}

/* Where the sequence is the second axis, what SP gathers and what it scatters is copied
 * whole, each way. */
static void test_a_gathered_sequence_is_copied(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++) {
		bool sp = way & 1, copies = way & 2;
		double bytes = 0, back = 0;
		int found = 0;

		small_layer();
		scenario.plan.sp = sp;
		scenario.stack.copies_gathered = copies;
		small_draw();
		for (int i = 0; i < graph.count; i++)
			if (strcmp(graph.item[i].name, "gathered copy") == 0) {
				bytes += graph.item[i].forward_bytes;
				back += graph.item[i].backward_bytes;
				found++;
			}
		/* attention and MLP enter and leave */
		assert_int_equal(found, sp && copies ? 4 : 0);
		assert_close(bytes, found * tokens * HIDDEN * 2 * W, 1e-12);
		assert_close(back, bytes, 1e-12);
	}
}

/* Kernels of apex read their rows more than once, forward 1.404 and backward 2.033
 * times the traffic; compiled there are none. */
static void test_general_norms(void **state)
{
	(void)state;
	for (int compile = 0; compile < 2; compile++) {
		const struct graph_operator *norm;

		small_layer();
		scenario.stack.general_norms = true;
		scenario.plan.compile = compile;
		small_draw();
		norm = small_named("input norm");
		assert_close(norm->forward_bytes,
			     tokens * HIDDEN * 2 * W * (compile ? 1 : 1.404), 1e-12);
		assert_close(norm->backward_bytes,
			     tokens * HIDDEN * 4 * W * (compile ? 1 : 2.033), 1e-12);
	}
}

/* Dropout of stored scores is a kernel of its own: 2 W + 1 bytes a score each way. */
static void test_dropout_passes_over_scores(void **state)
{
	double forward[2], backward[2], scores;

	(void)state;
	for (int dropped = 0; dropped < 2; dropped++) {
		const struct graph_operator *core;

		small_layer();
		scenario.plan.attention_kernel = ATTENTION_FUSED_SOFTMAX;
		scenario.model.dropout = dropped ? 0.1 : 0;
		small_draw();
		core = small_named("attention");
		forward[dropped] = core->forward_bytes;
		backward[dropped] = core->backward_bytes;
		scores = core->forward_flops / (2 * (QUERY_DIM + VALUE_DIM));
	}
	assert_close(forward[1] - forward[0], scores * (2 * W + 1), 1e-9);
	assert_close(backward[1] - backward[0], scores * (2 * W + 1), 1e-9);
}

/* --- a mixture --- */

enum { EXPERTS = 8, CHOSEN = 3, EXPERT_FFN = 96, EP = 4 };

/* EP 4: a rank has two experts and the tokens of its part of the sequence. */
static void small_mixture(void)
{
	small_layer();
	scenario.model.kind[0].mlp = MLP_MOE;
	scenario.model.moe = (struct moe){ .experts = EXPERTS,
					   .experts_per_token = CHOSEN,
					   .expert_ffn = EXPERT_FFN };
	scenario.cluster.gpus = 4;
	scenario.plan.tp = 1;
	scenario.plan.ep = EP;
	scenario.plan.etp = 1;
	scenario.plan.moe_dispatcher = DISPATCH_ALLTOALL;
	scenario.plan.moe_capacity = CAPACITY_DROPLESS;
	scenario.plan.imbalance = 1;
	scenario.plan.grouped_gemm = true;
	launch(7);
}

/* A plain all-to-all: every token is copied for each expert that it chose, sent, sorted
 * by expert; and all of that again behind the experts. */
static void test_a_mixture_row_by_row(void **state)
{
	const double copies = tokens * CHOSEN;
	const struct row rows[] = {
		{ "permute", copies, HIDDEN, 2 * W, 2 * W, 0, 0, 0, 7 },
		{ "sort by expert", copies, HIDDEN, 2 * W, 2 * W, 0, 0,
		  copies * HIDDEN * W, 7 },
		{ "expert activation", copies, EXPERT_FFN, 3 * W, 5 * W, 0, 0,
		  copies * EXPERT_FFN * W, 7 },
		{ "unsort", copies, HIDDEN, 2 * W, 2 * W, 0, 0, 0, 7 },
		{ "unpermute and weigh", copies, HIDDEN, 2 * W, 2 * W, 0, 0, 0, 7 },
	};

	(void)state;
	small_mixture();
	scenario.model.gated_mlp = true;
	small_draw();
	CHECK(rows);
	check_call("dispatch", COLLECTIVE_ALL_TO_ALL, copies * HIDDEN * W, 1, 1);
	check_call("combine", COLLECTIVE_ALL_TO_ALL, copies * HIDDEN * W, 1, 1);
	assert_close(small_named("expert gate and up")->weights,
		     (double)EXPERTS / EP * 2 * EXPERT_FFN * HIDDEN, 1e-12);
	assert_close(small_named("expert gate and up")->saved_bytes,
		     copies * 2 * EXPERT_FFN * W, 1e-12);
	assert_close(small_named("expert down")->forward_flops,
		     2 * copies * EXPERT_FFN * HIDDEN, 1e-12);
	/* scores of every token in fp32, and no pass of its own for its gradient's sum
	 */
	assert_close(small_named("router")->kept_bytes, tokens * EXPERTS * 4, 1e-12);
}

/* A grouped layer adds three tenths of an operator for each expert (host.c), and each
 * of its matrices is a launch; loops are as many operators. */
static void test_experts_are_launched(void **state)
{
	const double local = (double)EXPERTS / EP;
	const struct graph_operator *op;

	(void)state;
	small_mixture();
	small_draw();
	op = small_named("expert down");
	assert_close(op->host_forward, 7 * (1 + 0.3 * local) + local, 1e-12);
	assert_close(op->host_backward, 1.3 * 7 * (1 + 0.3 * local) + 2 * local, 1e-12);
	scenario.plan.grouped_gemm = false;
	small_draw();
	op = small_named("expert down");
	assert_close(op->host_forward, 7 * local + local, 1e-12);
}

/* Without a grouped kernel each expert's product starts a kernel of its own, before the
 * activation and behind it. */
static void test_each_expert_starts_its_kernels(void **state)
{
	const char *const names[] = { "expert up", "expert gate and up",
				      "expert down" };
	double grouped[3][3], start;

	(void)state;
	for (int each = 0; each < 2; each++) {
		small_mixture();
		scenario.plan.grouped_gemm = !each;
		small_draw();
		start = ((double)EXPERTS / EP - 1) * context.gemm.kernel_seconds * each;
		for (int i = 0; i < 3; i++) {
			const struct graph_operator *op = small_find(names[i]);

			if (!op)
				continue;
			if (!each) {
				grouped[i][0] = op->forward_seconds;
				grouped[i][1] = op->input_grad_seconds;
				grouped[i][2] = op->weight_grad_seconds;
				continue;
			}
			assert_close(op->forward_seconds, grouped[i][0] + start, 1e-12);
			assert_close(op->input_grad_seconds, grouped[i][1] + start,
				     1e-12);
			assert_close(op->weight_grad_seconds, grouped[i][2] + start,
				     1e-12);
		}
	}
}

/* Clamped gates and biases of experts op by op: bytes of each element by what is read
 * and written (moe.c names the lines of Megatron); compiled there are none. */
static void test_what_experts_do_op_by_op(void **state)
{
	const double copies = tokens * CHOSEN;
	const struct row clamp = { "clamp of gates",
				   copies,
				   EXPERT_FFN,
				   8 * W,
				   11 * W + 8,
				   0,
				   0,
				   copies * 2 * EXPERT_FFN * W,
				   7 };
	const struct row biases = {
		"expert biases", copies, HIDDEN, 14 * W, 18 * W, 0, 0, 0, 7
	};

	(void)state;
	small_mixture();
	scenario.model.gated_mlp = true;
	small_draw();
	assert_null(small_find("clamp of gates"));
	assert_null(small_find("expert biases"));
	scenario.model.moe.activation_limit = 7;
	scenario.model.moe.expert_bias = true;
	small_draw();
	check(&clamp);
	check(&biases);
	scenario.plan.compile = true;
	small_draw();
	assert_null(small_find("clamp of gates"));
	assert_null(small_find("expert biases"));
}

/* --- the ends --- */

enum { VOCAB = 1000, PADDED = 1024 };

static void test_the_ends_row_by_row(void **state)
{
	const double x = tokens * HIDDEN * W;

	(void)state;
	small_layer();
	scenario.stack.vocab_multiple = 128;
	mesh_build(&scenario, &mesh);
	graph_context(&scenario, &mesh, &context);
	graph_embedding(&context, &graph);
	/* a row is read and written; backward fp32 sums are read and written */
	assert_close(small_named("embedding")->forward_bytes, 2 * x, 1e-12);
	assert_close(small_named("embedding")->backward_bytes, tokens * HIDDEN * 8,
		     1e-12);
	assert_close(small_named("embedding")->weights, (double)PADDED / TP * HIDDEN,
		     1e-12);
	check_call("embedded tokens", COLLECTIVE_ALL_REDUCE, x, 1, 0);
	graph_head(&context, &graph);
	assert_close(small_named("head")->columns, (double)PADDED / TP, 1e-12);
	assert_close(small_named("head")->weights, (double)PADDED / TP * HIDDEN, 1e-12);
	/* maximum, sum and the target's logit of each token */
	check_call("loss sums", COLLECTIVE_ALL_REDUCE, tokens * 4, 3, 0);
	for (int plain = 0; plain < 2; plain++) {
		scenario.plan.cross_entropy = plain ? CE_PLAIN : CE_FUSED;
		graph_head(&context, &graph);
		assert_close(small_named("cross-entropy")->forward_bytes,
			     tokens * PADDED / TP * (plain ? 12 : 6), 1e-12);
	}
	scenario.plan.vocab_parallel = false;
	graph_head(&context, &graph);
	check_call("whole logits", COLLECTIVE_ALL_GATHER, tokens * PADDED * W, 1, 0);
	assert_close(small_named("cross-entropy")->columns, PADDED, 1e-12);
}

/* Around an MTP layer (DeepSeek-V3, section 2.2): the token that follows is looked up
 * again, a norm on it and one on the hidden state, a product of both side by side, and
 * the head once more. Tables are those of the ends. */
static void test_an_mtp_layer_joins_two_tokens(void **state)
{
	double x = tokens * HIDDEN * W;

	(void)state;
	small_layer();
	scenario.stack.vocab_multiple = 128;
	mesh_build(&scenario, &mesh);
	graph_context(&scenario, &mesh, &context);
	graph_mtp(&context, &graph);
	assert_close(small_named("joining")->rows, tokens, 1e-12);
	assert_close(small_named("joining")->columns, (double)HIDDEN / TP, 1e-12);
	assert_close(small_named("joining")->inner, 2 * HIDDEN, 1e-12);
	assert_close(small_named("joining")->forward_flops,
		     2 * tokens * HIDDEN / TP * 2 * HIDDEN, 1e-12);
	assert_close(small_named("joining")->weights, 2.0 * HIDDEN * HIDDEN / TP,
		     1e-12);
	assert_true(small_named("joining")->forward_seconds > 0);
	assert_close(small_named("side by side")->forward_bytes, 4 * x, 1e-12);
	/* their gradients part again */
	assert_close(small_named("side by side")->backward_bytes, 4 * x, 1e-12);
	check_call("joined input", COLLECTIVE_ALL_REDUCE, 2 * x, 0, 1);
	check_call("joined", COLLECTIVE_ALL_GATHER, x, 1, 0);
	assert_close(small_named("embedding")->weights, 0, 0);
	assert_close(small_named("head")->weights, 0, 0);
	assert_close(small_named("head")->forward_flops,
		     2 * tokens * HIDDEN * PADDED / TP, 1e-12);
}

/* A tied head on the embedding's stage has no table of its own, elsewhere it has one;
 * its bias is its own. */
static void test_a_tied_head_has_its_bias(void **state)
{
	(void)state;
	for (int pp = 1; pp <= 2; pp++)
		for (int bias = 0; bias < 2; bias++) {
			double table = (double)PADDED / TP * HIDDEN;
			double own = bias ? (double)PADDED / TP : 0;

			small_layer();
			scenario.stack.vocab_multiple = 128;
			scenario.model.tied_embeddings = true;
			scenario.model.head_bias = bias;
			scenario.cluster.gpus = TP * pp;
			scenario.plan.pp = pp;
			mesh_build(&scenario, &mesh);
			graph_context(&scenario, &mesh, &context);
			graph_head(&context, &graph);
			assert_close(small_named("head")->weights,
				     (pp > 1 ? table : 0) + own, 1e-12);
			assert_close(small_named("head")->trainable,
				     (pp > 1 ? table : 0) + own, 1e-12);
		}
}

/* Heads that are rotated out of place leave copies behind: of DeepSeek-V2's 16 heads on
 * two ranks, queries and keys of 128 + 64 and values of 128, in bf16. Of shared keys
 * there are fewer. A compiler fuses the copies away. */
static void test_rotated_heads_are_copied(void **state)
{
	double heads = (double)HEADS / TP, keys = (double)KEYS / TP;

	(void)state;
	for (int compiled = 0; compiled < 2; compiled++) {
		small_layer();
		scenario.model.kind[0].attention.value_dim = QUERY_DIM;
		scenario.stack.saved_head_copies = 2 / 3.0;
		scenario.plan.compile = compiled;
		small_draw();
		assert_close(small_kind(OPERATOR_ATTENTION)->saved_bytes,
			     compiled ? 0
				      : tokens * (heads + 2 * keys) * QUERY_DIM * W *
						2 / 3,
			     1e-12);
	}
	case_mla(&scenario);
	scenario.plan.tp = 2;
	scenario.stack.saved_head_copies = 0.5;
	small_draw();
	heads = (double)scenario.model.kind[0].attention.heads / 2;
	assert_close(small_kind(OPERATOR_ATTENTION)->saved_bytes,
		     context.tokens * heads * (2 * (128 + 64) + 128) * W / 2, 1e-12);
}

static void same_operators(const struct graph *a, const struct graph *b)
{
	assert_int_equal(a->count, b->count);
	for (int i = 0; i < a->count; i++) {
		const struct graph_operator *x = &a->item[i], *y = &b->item[i];

		assert_string_equal(x->name, y->name);
		assert_close(x->payload_bytes, y->payload_bytes, 1e-12);
		assert_close(x->forward_bytes, y->forward_bytes, 1e-12);
		assert_close(x->backward_bytes, y->backward_bytes, 1e-12);
		assert_close(x->saved_bytes, y->saved_bytes, 1e-12);
		assert_close(x->kept_bytes, y->kept_bytes, 1e-12);
		assert_close(x->forward_seconds, y->forward_seconds, 1e-12);
		assert_close(x->input_grad_seconds, y->input_grad_seconds, 1e-12);
		assert_close(x->weight_grad_seconds, y->weight_grad_seconds, 1e-12);
	}
}

/* Whatever the others are in, and however these are gathered, a layer that stays in 16
 * bits is one of a plan in 16 bits. */
static void test_wide_layers_are_those_of_16_bits(void **state)
{
	static const struct {
		int precision, recipe;
	} formats[] = {
		{ PRECISION_FP8, FP8_DELAYED },
		{ PRECISION_FP8, FP8_CURRENT_SCALING },
		{ PRECISION_FP8, FP8_ROWWISE },
		{ PRECISION_FP8, FP8_BLOCKWISE },
		{ PRECISION_MXFP8, FP8_DELAYED },
		{ PRECISION_NVFP4, FP8_DELAYED },
	};
	static struct graph wide;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof formats / sizeof *formats; i++) {
		small_layer();
		scenario.plan.sp = i % 2 == 0;
		scenario.stack.gathers_fp8 = scenario.stack.gathers_blocks = true;
		scenario.plan.precision = formats[i / 2].precision;
		scenario.plan.fp8_recipe = formats[i / 2].recipe;
		scenario.model.kind[0].wide = true;
		small_draw();
		wide = graph;
		scenario.plan.precision = PRECISION_BF16;
		scenario.model.kind[0].wide = false;
		small_draw();
		same_operators(&wide, &graph);
	}
}

/* A state in fp32, and in 16 bits what the convolution looks back on: one tap less than
 * it has of all that it runs over, keys and queries (B and C) as well as values. */
static void test_a_state_space_keeps_what_it_looks_back_on(void **state)
{
	const struct layer_kind mamba2 = { .mixer = MIXER_MAMBA2 },
				mamba1 = { .mixer = MIXER_MAMBA1 },
				linear = { .mixer = MIXER_LINEAR };

	(void)state;
	case_hybrid(&scenario);
	/* 8192 wide, 2 x 8 groups x 128, 4 taps */
	assert_close(model_cache_bytes(&scenario.model, &mamba2, 4096, 1, 2),
		     8192.0 * 128 * 4 + 3 * (8192 + 2 * 8 * 128) * 2, 1e-12);
	assert_close(model_cache_bytes(&scenario.model, &mamba1, 4096, 1, 2),
		     8192.0 * 128 * 4 + 3 * 8192 * 2, 1e-12);
	/* Qwen3-Next: 32 heads of values, 16 of keys, of 128 */
	scenario.model.ssm = (struct ssm){ .inner = 4096,
					   .state = 128,
					   .heads = 32,
					   .head_dim = 128,
					   .groups = 16,
					   .conv = 4,
					   .chunk = 64 };
	assert_close(model_cache_bytes(&scenario.model, &linear, 1, 1, 2),
		     32.0 * 128 * 128 * 4 + 3 * (2 * 16 + 32) * 128 * 2, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_dense_layer_row_by_row),
		cmocka_unit_test(test_dropout_holds_masks),
		cmocka_unit_test(test_queries_without_a_latent_enter),
		cmocka_unit_test(test_norms_op_by_op),
		cmocka_unit_test(test_norms_of_heads_keep_their_input),
		cmocka_unit_test(test_ranks_of_tp_exchange_rows),
		cmocka_unit_test(test_narrow_rows_are_gathered),
		cmocka_unit_test(test_frozen_rows_are_gathered),
		cmocka_unit_test(test_parts_are_turned_narrow),
		cmocka_unit_test(test_a_gate_enters_by_itself),
		cmocka_unit_test(test_a_gathered_sequence_is_copied),
		cmocka_unit_test(test_general_norms),
		cmocka_unit_test(test_dropout_passes_over_scores),
		cmocka_unit_test(test_a_mixture_row_by_row),
		cmocka_unit_test(test_experts_are_launched),
		cmocka_unit_test(test_each_expert_starts_its_kernels),
		cmocka_unit_test(test_what_experts_do_op_by_op),
		cmocka_unit_test(test_the_ends_row_by_row),
		cmocka_unit_test(test_an_mtp_layer_joins_two_tokens),
		cmocka_unit_test(test_a_tied_head_has_its_bias),
		cmocka_unit_test(test_rotated_heads_are_copied),
		cmocka_unit_test(test_wide_layers_are_those_of_16_bits),
		cmocka_unit_test(test_a_state_space_keeps_what_it_looks_back_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
