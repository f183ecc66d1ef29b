/* test_kernels.c - one kernel of a layer counted in a second way: attention position by
 * position, under every kernel and with what the ranks of a sequence exchange; GEMMs as
 * three products; the ends of a model; what a host launches. */
#include <math.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/small.h"

/* --- attention --- */

/* What one query sees of one key, back to the begin of its document and no further than
 * its window. Positions are as wide as a token: of its own and of the one where its
 * window ends it sees half, so that n positions see n^2 / 2 together, as closed
 * formulas have it. */
static double sees(int query, int key, int64_t window, int64_t document)
{
	int64_t back = query - key;

	if (back < 0 || (document > 0 && query / document != key / document))
		return 0;
	if (window > 0 && back > window)
		return 0;
	return back == 0 || back == window ? 0.5 : 1;
}

/* Of one head over all sequences, token by token. */
static double count_pairs(int64_t window, int64_t document, bool all)
{
	double pairs = 0;

	for (int query = 0; query < SEQ; query++)
		for (int key = 0; key < SEQ; key++)
			pairs += all ? 1 : sees(query, key, window, document);
	return SEQUENCES * pairs;
}

static void check_flops(int kernel, double pairs)
{
	const struct graph_operator *op;
	/* scores against keys, and values by scores */
	double flops = pairs * HEADS / TP * 2 * (QUERY_DIM + VALUE_DIM);
	/* backward gradients of queries, keys, values and scores are four products for
	 * two; a flash kernel computes the scores again, a fifth (arXiv 2307.08691,
	 * section 4.1) */
	double backward = kernel >= ATTENTION_FLASH1 ? 2.5 : 2;

	small_draw();
	op = small_kind(OPERATOR_ATTENTION);
	assert_close(op->forward_flops, flops, 1e-12);
	assert_close(op->input_grad_flops, backward * op->forward_flops, 1e-12);
	assert_true(op->weight_grad_flops == 0);
}

static void test_attention_position_by_position(void **state)
{
	(void)state;
	for (int kernel = 0; kernel < ATTENTION_COUNT; kernel++) {
		/* those that keep scores compute the whole square, whatever is seen */
		bool square = kernel < ATTENTION_FLASH1;

		small_layer();
		scenario.plan.attention_kernel = kernel;
		check_flops(kernel, count_pairs(0, 0, square));
		scenario.model.kind[0].attention.window = 32;
		check_flops(kernel, count_pairs(32, 0, square));
		scenario.model.kind[0].attention.window = 0;
		scenario.plan.document_len = 48;
		check_flops(kernel, count_pairs(0, 48, square));
		/* a document longer than the sequence is the sequence */
		scenario.plan.document_len = 2 * SEQ;
		check_flops(kernel, count_pairs(0, 0, square));
	}
}

/* What is read and written: queries, keys as wide, values and outputs, of 16 bits;
 * where scores are stored also those, in fp32 by each of the softmax's operators, or
 * once in 16 bits each way around one kernel. */
static void test_what_attention_moves(void **state)
{
	const double heads = (double)HEADS / TP, tokens = (double)SEQ * SEQUENCES;
	const double rows = tokens * heads * (2 * QUERY_DIM + 2 * VALUE_DIM) * 2;
	const double scores = count_pairs(0, 0, true) * heads;

	(void)state;
	for (int kernel = 0; kernel < ATTENTION_COUNT; kernel++) {
		const struct graph_operator *op;
		double stored = kernel == ATTENTION_UNFUSED         ? 24
				: kernel == ATTENTION_FUSED_SOFTMAX ? 8
								    : 0;

		small_layer();
		scenario.plan.attention_kernel = kernel;
		small_draw();
		op = small_kind(OPERATOR_ATTENTION);
		assert_close(op->forward_bytes, rows + stored * scores, 1e-12);
		assert_close(op->backward_bytes, 2 * op->forward_bytes, 1e-12);
	}
}

/* Held for the backward (Korthikanti 2022, section 4.1): the softmax's output of two
 * bytes a score and head, under dropout a mask of one and its output of two, so 5 a
 * s^2; op by op the softmax works in fp32 beside. Flash keeps none of it, but an
 * exponent of four bytes a row. The output waits for the projection behind it. */
static void test_what_attention_holds(void **state)
{
	const double heads = (double)HEADS / TP, tokens = (double)SEQ * SEQUENCES;
	const double scores = count_pairs(0, 0, true) * heads;

	(void)state;
	for (int kernel = 0; kernel < ATTENTION_COUNT; kernel++)
		for (int dropout = 0; dropout < 2; dropout++) {
			bool flash = kernel >= ATTENTION_FLASH1;
			double score = flash ? 0 : dropout ? 5 : 2;
			const struct graph_operator *op;

			if (kernel == ATTENTION_UNFUSED)
				score += 4;
			small_layer();
			scenario.plan.attention_kernel = kernel;
			scenario.model.dropout = dropout ? 0.1 : 0;
			small_draw();
			op = small_kind(OPERATOR_ATTENTION);
			assert_close(op->saved_bytes, scores * score, 1e-12);
			assert_close(op->kept_bytes,
				     tokens * heads * (VALUE_DIM * 2 + (flash ? 4 : 0)),
				     1e-12);
		}
}

/* Backward FLOPs are twice and a half those of the forward, and run slower. */
static void test_attention_runs_at_its_kernels_rate(void **state)
{
	const struct graph_operator *op;
	struct roofline rate;

	(void)state;
	for (int kernel = 0; kernel < ATTENTION_COUNT; kernel++) {
		double share;

		small_layer();
		scenario.plan.attention_kernel = kernel;
		small_draw();
		op = small_kind(OPERATOR_ATTENTION);
		graph_attention_rate(&context, &scenario.model.kind[0], &rate);
		assert_close(
			op->forward_seconds,
			roofline_seconds(&rate, op->forward_flops, op->forward_bytes),
			1e-12);
		share = graph_backward_rate(&scenario);
		assert_true(kernel < ATTENTION_FLASH1 ? share == 1
						      : share > 0.7 && share < 1);
		rate.seconds_per_flop /= share;
		assert_close(op->input_grad_seconds,
			     roofline_seconds(&rate, op->input_grad_flops,
					      op->backward_bytes),
			     1e-12);
	}
}

/* --- ranks that share a sequence --- */

enum { CP = 4 };

static void share_sequence(int kind)
{
	small_layer();
	scenario.cluster.gpus = TP * CP;
	scenario.plan.cp = CP;
	scenario.plan.cp_kind = kind;
	small_draw();
}

/* Keys and values of this rank's tokens and heads. */
static double own_keys(void)
{
	return (double)SEQ * SEQUENCES / CP * KEYS / TP * (QUERY_DIM + VALUE_DIM) * 2;
}

static void check_exchange(const char *name, enum collective_kind kind, double payload,
			   int forward, int backward)
{
	const struct graph_operator *op = small_named(name);

	assert_int_equal(op->dimension, DIM_CP);
	assert_int_equal(op->collective, kind);
	assert_int_equal(op->ranks, CP);
	assert_close(op->payload_bytes, payload, 1e-12);
	assert_int_equal(op->forward_calls, forward);
	assert_int_equal(op->backward_calls, backward);
	assert_close(op->forward_seconds, forward * op->call_seconds, 1e-12);
	assert_close(op->input_grad_seconds, backward * op->call_seconds, 1e-12);
}

/* Ring attention (arXiv 2310.01889, section 3): each of n - 1 steps passes on what a
 * rank has; backward the gradients travel with it. */
static void test_a_ring_passes_keys_on(void **state)
{
	(void)state;
	share_sequence(CP_RING);
	check_exchange("ring KV", COLLECTIVE_SEND, own_keys(), CP - 1, 2 * (CP - 1));
	assert_true(small_named("ring KV")->overlaps);
	/* backward a part and its gradient, and those that come next */
	assert_close(small_named("ring KV")->passing_bytes, 4 * own_keys(), 1e-12);
	/* one tensor where a key is its value */
	scenario.model.kind[0].attention.shared_kv = true;
	scenario.model.kind[0].attention.value_dim = QUERY_DIM;
	small_draw();
	check_exchange("ring KV", COLLECTIVE_SEND,
		       (double)SEQ * SEQUENCES / CP * KEYS / TP * QUERY_DIM * 2, CP - 1,
		       2 * (CP - 1));
}

/* What a ring brings round is added up part by part: of each part but the first every
 * number of the output is read, what stands there too, and written; backward every
 * number of the gradients of queries, keys and values. Counted one by one. */
static void test_a_ring_adds_its_parts_up(void **state)
{
	double forward = 0, backward = 0;
	const struct graph_operator *op;

	(void)state;
	share_sequence(CP_RING);
	for (int part = 1; part < CP; part++)
		for (int head = 0; head < HEADS / TP; head++) {
			bool has_keys = head < KEYS / TP;

			forward += 3 * VALUE_DIM * 2;
			backward += 3 * QUERY_DIM * 2;
			backward += has_keys ? 3 * (QUERY_DIM + VALUE_DIM) * 2 : 0;
		}
	op = small_named("sum of the ring's parts");
	assert_close(op->forward_bytes, forward * SEQ * SEQUENCES / CP, 1e-12);
	assert_close(op->backward_bytes, backward * SEQ * SEQUENCES / CP, 1e-12);
	share_sequence(CP_ALL_GATHER);
	assert_null(small_find("sum of the ring's parts"));
}

/* All keys on every rank, again backward, and the sums of their gradients (Llama 3,
 * arXiv 2407.21783, section 3.3.2). */
static void test_gathered_keys(void **state)
{
	(void)state;
	share_sequence(CP_ALL_GATHER);
	check_exchange("gather KV", COLLECTIVE_ALL_GATHER, CP * own_keys(), 1, 1);
	check_exchange("KV gradient", COLLECTIVE_REDUCE_SCATTER, CP * own_keys(), 0, 1);
	/* all of them, and their gradients */
	assert_close(small_named("gather KV")->passing_bytes, 2 * CP * own_keys(),
		     1e-12);
}

/* Ulysses (arXiv 2309.14509, section 3): queries, keys and values go in, outputs come
 * back; two heads of keys on four ranks are each sent twice. */
static void test_heads_change_places(void **state)
{
	const double tokens = (double)SEQ * SEQUENCES / CP;
	double queries = tokens * HEADS / TP * (QUERY_DIM + VALUE_DIM) * 2;

	(void)state;
	share_sequence(CP_ULYSSES);
	check_exchange("heads to sequence", COLLECTIVE_ALL_TO_ALL,
		       queries + CP / (KEYS / TP) * own_keys(), 1, 1);
	/* heads enough for all */
	scenario.model.kind[0].attention.kv_heads = HEADS;
	small_draw();
	check_exchange("heads to sequence", COLLECTIVE_ALL_TO_ALL,
		       queries + HEADS / KEYS * own_keys(), 1, 1);
}

/* A rank's share of pairs is the mean, and of what it moves and holds. */
static void test_ranks_share_attention(void **state)
{
	struct graph_operator whole;

	(void)state;
	small_layer();
	small_draw();
	whole = *small_kind(OPERATOR_ATTENTION);
	for (int kind = 0; kind < CP_KIND_COUNT; kind++) {
		const struct graph_operator *op;

		share_sequence(kind);
		op = small_kind(OPERATOR_ATTENTION);
		assert_close(op->forward_flops, whole.forward_flops / CP, 1e-12);
		assert_close(op->forward_bytes, whole.forward_bytes / CP, 1e-12);
		assert_close(op->kept_bytes, whole.kept_bytes / CP, 1e-12);
	}
}

/* --- GEMMs --- */

/* Rates of one GEMM on a rank, its tail by roofline.h. */
static double gemm_seconds(double rows, double columns, double inner, double out,
			   double in)
{
	struct roofline rate;

	graph_linear_rate(&context, out, in, &rate);
	return roofline_seconds(&rate, 2 * rows * columns * inner,
				(rows * inner + rows * columns + columns * inner) * 2) +
	       rate.seconds_per_flop * roofline_tail_flops(&rate, rows, columns, inner);
}

/* Y = XW of T x I times I x O, then dX = dY W' of T x O times O x I, and dW = X' dY of
 * I x T times T x O: each a GEMM with tiles of its own. */
static void test_gradients_are_products_of_their_own(void **state)
{
	(void)state;
	small_layer();
	scenario.cluster.accelerator.cores = 11;
	scenario.cluster.accelerator.calibration.tail_share = 0.7;
	scenario.cluster.accelerator.calibration.unaligned_efficiency = 0.6;
	small_draw();
	for (int i = 0; i < graph.count; i++) {
		const struct graph_operator *op = &graph.item[i];
		double t = op->rows, out = op->columns, in = op->inner;

		if (op->kind != OPERATOR_GEMM)
			continue;
		assert_close(op->forward_seconds, gemm_seconds(t, out, in, out, in),
			     1e-12);
		assert_close(op->input_grad_seconds, gemm_seconds(t, in, out, out, in),
			     1e-12);
		assert_close(op->weight_grad_seconds, gemm_seconds(out, in, t, out, in),
			     1e-12);
	}
}

/* Tensor cores want rows of 128 bytes: 64 elements of bf16. Narrow outputs are cheap.
 */
static void test_rows_that_are_no_multiple_of_64_are_slow(void **state)
{
	static const struct {
		double columns, inner;
		bool slow;
	} rows[] = { { 1024, 1024, false }, { 1024, 1088, false }, { 1024, 1056, true },
		     { 1056, 1024, true },  { 520, 1024, true },   { 512, 1056, false },
		     { 513, 1024, true },   { 576, 64, false } };
	struct roofline rate;

	(void)state;
	small_layer();
	scenario.cluster.accelerator.calibration.unaligned_efficiency = 0.6;
	small_draw();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		graph_linear_rate(&context, rows[i].columns, rows[i].inner, &rate);
		assert_close(rate.seconds_per_flop,
			     context.gemm.seconds_per_flop / (rows[i].slow ? 0.6 : 1),
			     1e-12);
		assert_close(rate.seconds_per_byte, context.gemm.seconds_per_byte,
			     1e-12);
	}
}

/* --- what is added to a kernel's start --- */

static void test_gaps_between_kernels(void **state)
{
	struct graph_context plain;

	(void)state;
	small_layer();
	scenario.stack.kernel_gap_seconds = 0;
	small_draw();
	plain = context;
	scenario.stack.kernel_gap_seconds = 3e-6;
	small_draw();
	assert_close(context.gemm.kernel_seconds, plain.gemm.kernel_seconds + 3e-6,
		     1e-12);
	assert_close(context.head_gemm.kernel_seconds,
		     plain.head_gemm.kernel_seconds + 3e-6, 1e-12);
	/* every second one is fused with a neighbour */
	assert_close(context.memory.kernel_seconds,
		     plain.memory.kernel_seconds + 1.5e-6, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attention_position_by_position),
		cmocka_unit_test(test_what_attention_moves),
		cmocka_unit_test(test_what_attention_holds),
		cmocka_unit_test(test_attention_runs_at_its_kernels_rate),
		cmocka_unit_test(test_a_ring_passes_keys_on),
		cmocka_unit_test(test_a_ring_adds_its_parts_up),
		cmocka_unit_test(test_gathered_keys),
		cmocka_unit_test(test_heads_change_places),
		cmocka_unit_test(test_ranks_share_attention),
		cmocka_unit_test(test_gradients_are_products_of_their_own),
		cmocka_unit_test(test_rows_that_are_no_multiple_of_64_are_slow),
		cmocka_unit_test(test_gaps_between_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
