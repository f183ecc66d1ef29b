/* test_lora.c - adapters on a frozen model: what is not computed is not counted. */
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/graph/graph.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now, full;

/* Llama-3 8B on one GPU without a pipeline or a shard. */
static void small(struct scenario *s, int64_t rank)
{
	struct error error = { "" };

	if (!scenario_blank(s, "llama3-8b", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s->cluster.gpus = 1;
	s->cluster.accelerator.usable_bytes = 4e12;
	s->plan.sp = false;
	s->plan.global_batch = 16;
	s->plan.seq_len = 4096;
	s->plan.lora_rank = rank;
}

/* 32 layers of 4096 with 32 heads and 8 KV heads of 128, and 14336 in the MLP. */
static const double widths =
	32.0 * ((4096 + 6144) + (4096 + 4096) + (4096 + 2 * 14336) + (14336 + 4096));

static void test_adapters_by_hand(void **state)
{
	struct model model;

	(void)state;
	assert_true(library_model(&model, "llama3-8b", NULL));
	assert_close(model_adapters(&model, 16, LORA_ALL), 16 * widths, 1e-12);
	assert_true(model_adapters(&model, 0, LORA_ALL) == 0);
}

/* 2 + 2 FLOPs for a frozen weight, 6 for one of an adapter, attention as ever: 6 L s
 * heads head_dim. */
static void test_flops_by_hand(void **state)
{
	const double weights = 8030261248.0 - 128256.0 * 4096;
	const double scores = 6.0 * 32 * 4096 * 32 * 128;
	struct scenario s;

	(void)state;
	small(&s, 16);
	train_estimate(&s, &now);
	assert_true(now.legal);
	assert_close(now.flops_per_token, 4 * weights + 6 * 16 * widths + scores, 1e-9);
	assert_close(now.mfu,
		     now.flops_per_token * 16 * 4096 / now.step_seconds / 989.4e12,
		     1e-3);
	small(&s, 0);
	train_estimate(&s, &full);
	assert_close(full.flops_per_token, 6 * weights + scores, 1e-9);
}

static void test_explain_tells_the_definition(void **state)
{
	struct explanation x;
	struct scenario s;

	(void)state;
	small(&s, 16);
	train_estimate(&s, &now);
	assert_true(explain(&s, &now, "flops_per_token", &x));
	assert_non_null(strstr(x.formula, "w * (N - table) + 6 * A"));
	for (int i = 0; i < x.terms; i++) {
		if (strcmp(x.term[i].symbol, "w") == 0)
			assert_true(x.term[i].value == 4);
		if (strcmp(x.term[i].symbol, "A") == 0)
			assert_close(x.term[i].value, 16 * widths, 1e-12);
		if (strcmp(x.term[i].symbol, "S") == 0)
			assert_close(x.term[i].value, 6.0 * 32 * 4096 * 32 * 128, 1e-6);
	}
}

struct sums {
	double trainable, gemm_flops;
};

static void add(const struct graph *graph, double times, struct sums *out)
{
	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];

		out->trainable += times * op->trainable;
		if (op->kind == OPERATOR_GEMM)
			out->gemm_flops +=
				times * (op->forward_flops + op->input_grad_flops +
					 op->weight_grad_flops);
	}
}

static void sum_graph(const struct scenario *s, struct sums *out)
{
	struct graph_context context;
	struct graph graph;
	struct mesh mesh;

	*out = (struct sums){ 0, 0 };
	mesh_build(s, &mesh);
	graph_context(s, &mesh, &context);
	for (int k = 0; k < s->model.kinds; k++) {
		graph_layer(&context, k, &graph);
		add(&graph, (double)model_kind_layers(&s->model, k), out);
	}
	graph_embedding(&context, &graph);
	add(&graph, 1, out);
	graph_head(&context, &graph);
	add(&graph, 1, out);
}

/* The model's count of adapters is that of the operators that run, for every kind of
 * layer there is, also where a rank has one expert alone. */
static void test_the_operators_have_the_model_s_adapters(void **state)
{
	void (*const cases[])(struct scenario *) = { case_dense, case_moe, case_mla,
						     case_hybrid };
	struct scenario s;
	struct sums sums;

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		cases[c](&s);
		s.plan.tp = s.plan.pp = 1;
		s.plan.sp = false;
		s.plan.lora_rank = 8;
		s.model.mtp_layers = 0;
		sum_graph(&s, &sums);
		assert_close(sums.trainable, model_adapters(&s.model, 8, LORA_ALL),
			     1e-12);
		if (s.model.moe.experts > 0)
			s.plan.ep = s.model.moe.experts;
		sum_graph(&s, &sums);
		assert_close(sums.trainable, model_adapters(&s.model, 8, LORA_ALL),
			     1e-12);
	}
}

/* What the matrix products execute is what MFU counts of them; norms have no product.
 */
static void test_counted_is_executed(void **state)
{
	struct scenario s;
	struct sums sums;

	(void)state;
	small(&s, 16);
	train_estimate(&s, &now);
	sum_graph(&s, &sums);
	assert_close(sums.gemm_flops / 4096,
		     now.flops_per_token - 6.0 * 32 * 4096 * 32 * 128, 1e-4);
}

/* The n-th call of that name of a layer's mixer: its bytes, 0 where there is none. */
static double mixer_call(const struct graph *graph, const char *name, int n)
{
	for (int i = 0; i < graph->mixer_count; i++)
		if (strcmp(graph->item[i].name, name) == 0 && n-- == 0)
			return graph->item[i].payload_bytes;
	return 0;
}

/* Heads that expand from latents are split by columns: their adapters take the latents
 * where the frozen layer hands them on by pieces, and their inner columns meet. The
 * matrices that make the latents are whole on every rank and send nothing. */
static void test_adapters_beside_latents(void **state)
{
	struct graph_context context;
	struct graph graph;
	struct mesh mesh;
	struct scenario s;

	(void)state;
	case_mla(&s);
	s.plan.tp = 2;
	s.plan.sp = s.plan.tp_overlap = true;
	s.plan.lora_rank = 8;
	s.stack.splits_adapters = true;
	mesh_build(&s, &mesh);
	graph_context(&s, &mesh, &context);
	graph_layer(&context, 0, &graph);
	const double rows = context.tokens * 2;

	assert_close(mixer_call(&graph, "adapter's input", 0), rows * 1536, 1e-12);
	assert_close(mixer_call(&graph, "adapter's input", 1), rows * 512, 1e-12);
	assert_true(mixer_call(&graph, "adapter's input", 2) == 0);
	for (int n = 0; n < 3; n++)
		assert_close(mixer_call(&graph, "adapter's inner output", n), rows * 8,
			     1e-12);
	assert_true(mixer_call(&graph, "adapter's inner output", 3) == 0);
	assert_close(mixer_call(&graph, "adapter's output", 0), rows * 7168, 1e-12);
}

/* Adam's 34 bytes a weight and the norm's 4 for adapters alone, and of the fixed times
 * of a step and of its layers the share that trains. */
static void test_a_frozen_weight_has_no_optimizer(void **state)
{
	const double layer = 4096.0 * (4096 + 6144 + 3 * 14336) + 2 * 4096;
	const double adapters = 16 * widths;
	struct scenario s;

	(void)state;
	small(&s, 16);
	s.stack.layer_step_seconds = 1e-3;
	s.cluster.accelerator.calibration.step_seconds = 0.01;
	train_estimate(&s, &now);
	double rate = s.cluster.accelerator.memory_bytes_per_second *
		      s.cluster.accelerator.calibration.memory_efficiency;
	double trained = adapters / (32 * layer + adapters);
	assert_close(now.optimizer_seconds,
		     0.01 * trained + 38 * adapters / rate + 32e-3 * trained, 1e-9);
	assert_close(now.memory.optimizer_bytes, 12 * adapters, 1e-12);
	assert_close(now.memory.gradients_bytes, 4 * adapters, 1e-12);
	/* the largest gradient in 16 bits: the head's; gate and up's adapters' */
	small(&s, 0);
	train_estimate(&s, &full);
	assert_close(full.memory.buffers_bytes - now.memory.buffers_bytes,
		     2 * (4096.0 * 128256 - 16 * (4096 + 28672)), 1e-9);
}

/* Gradients of adapters alone are reduced: 8 ranks, fp32 out and bf16 back. */
static void test_a_frozen_weight_has_no_traffic(void **state)
{
	struct scenario s;

	(void)state;
	small(&s, 16);
	s.cluster.gpus = 8;
	s.plan.zero = 1;
	train_estimate(&s, &now);
	assert_close(now.cost[DIM_DP].bytes, (4 + 2) * 16 * widths * 7 / 8, 1e-9);
}

/* Below the first adapter nobody asks for a gradient. */
static void test_the_frozen_table_has_no_backward(void **state)
{
	struct graph_context context;
	struct graph graph;
	struct scenario s;
	struct mesh mesh;

	(void)state;
	for (int64_t rank = 0; rank <= 8; rank += 8) {
		small(&s, rank);
		mesh_build(&s, &mesh);
		graph_context(&s, &mesh, &context);
		graph_embedding(&context, &graph);
		assert_int_equal(graph.item[0].backward_bytes > 0, rank == 0);
	}
}

/* Of Llama-3 8B's layer with and without adapters beside all matrices. */
static void draw(struct scenario *s, struct graph_context *context, struct graph *graph,
		 struct mesh *mesh)
{
	mesh_build(s, mesh);
	graph_context(s, mesh, context);
	graph_layer(context, 0, graph);
}

/* Forward an adapter reads the input, writes, scales and adds its output: 1 and 1 + 2 +
 * 3 tensors of 2 bytes; backward it scales and reads the gradient, writes its own and
 * adds it: 3 and 1 + 3; for the gradients of its matrices it reads both once. The rest
 * is the difference to a twin whose adapters have no rank to speak of. */
static void test_what_an_adapter_moves(void **state)
{
	const double tokens = 4096, in = 4096, out = 6144;
	struct graph_context context;
	struct graph graph;
	struct scenario s;
	struct mesh mesh;
	const struct graph_operator *op;

	(void)state;
	small(&s, 16);
	draw(&s, &context, &graph, &mesh);
	for (op = graph.item; strcmp(op->name, "qkv projection") != 0; op++)
		assert_true(op < graph.item + graph.count);
	assert_close(op->adapter_bytes, 2 * tokens * (in + 6 * out), 1e-12);
	assert_close(op->adapter_gradient_bytes, 2 * tokens * (4 * in + 3 * out),
		     1e-12);
	assert_close(op->adapter_weight_bytes, 2 * tokens * (in + out), 1e-12);
	assert_close(op->weight_grad_seconds,
		     context.gemm.kernel_seconds +
			     op->weight_grad_flops * context.gemm.seconds_per_flop +
			     op->adapter_weight_bytes * context.memory.seconds_per_byte,
		     1e-9);
	double eager = op->forward_seconds, launches = op->host_forward;

	/* a compiler scales while it adds */
	s.plan.compile = true;
	draw(&s, &context, &graph, &mesh);
	op = graph.item + (op - graph.item);
	assert_close(op->adapter_bytes, 2 * tokens * (in + 4 * out), 1e-12);
	assert_close(eager - op->forward_seconds,
		     2 * tokens * 2 * out * context.memory.seconds_per_byte, 1e-6);
	/* matrices of attention alone have adapters: an MLP moves nothing beside its
	 * own */
	s.plan.compile = false;
	s.plan.lora_targets = LORA_ATTENTION;
	draw(&s, &context, &graph, &mesh);
	for (int i = 0; i < graph.count; i++)
		if (graph.item[i].makes & (1u << TENSOR_MLP_IN | 1u << TENSOR_MLP_OUT))
			assert_true(graph.item[i].adapter_bytes == 0);
	/* those of queries, keys and values alone: nothing behind the scores */
	s.plan.lora_targets = LORA_QKV;
	draw(&s, &context, &graph, &mesh);
	for (int i = 0; i < graph.count; i++)
		if (graph.item[i].kind == OPERATOR_GEMM)
			assert_true((graph.item[i].adapter_bytes > 0) ==
				    ((graph.item[i].makes & 1u << TENSOR_QKV) != 0));
	/* two modules more, a scaling and a sum */
	assert_close(launches, 3 * context.operator_launches + 2 * 2, 1e-9);
}

/* Bytes of adapters' collectives in a layer, forward and backward, as gathered. */
static void adapters_calls(const char *word, bool overlap, double out[2])
{
	struct graph_context context;
	struct graph graph;
	struct mesh mesh;
	struct scenario s;

	small(&s, 16);
	s.stack.splits_adapters = true;
	s.plan.tp = 4;
	s.plan.sp = strcmp(word, "no sp") != 0;
	s.plan.tp_overlap = overlap;
	s.plan.lora_exchange = strcmp(word, "exchange") == 0;
	draw(&s, &context, &graph, &mesh);
	out[0] = out[1] = 0;
	for (int i = 0; i < graph.count; i++) {
		const struct graph_operator *op = &graph.item[i];

		if (op->kind != OPERATOR_COLLECTIVE || !strstr(op->name, "adapter"))
			continue;
		assert_true(op->whole && op->dimension == DIM_TP);
		out[0] += op->forward_calls * op->payload_bytes;
		out[1] += op->backward_calls * op->payload_bytes;
	}
}

/* Two matrices are split by columns, two by rows; r columns of each go round once each
 * way (ParallelLinearAdapter). */
static void test_what_ranks_send_for_adapters(void **state)
{
	double tokens = 4096, thin = 4 * tokens * 16 * 2, wide = tokens * 4096 * 2,
	       bytes[2];

	(void)state;
	adapters_calls("gathered", false, bytes);
	assert_close(bytes[0], thin + 2 * wide, 1e-12);
	assert_close(bytes[1], thin + 2 * wide, 1e-12);
	/* kernels that gather by pieces hand on no gathered input */
	adapters_calls("gathered", true, bytes);
	assert_close(bytes[0], thin + 4 * wide, 1e-12);
	assert_close(bytes[1], thin + 4 * wide, 1e-12);
	adapters_calls("exchange", false, bytes);
	assert_close(bytes[0], thin + 2 * wide / 4, 1e-12);
	assert_close(bytes[1], thin + 2 * wide / 4, 1e-12);
	/* rows are whole: the gradient of each input is added up, outputs are not cut
	 */
	adapters_calls("no sp", false, bytes);
	assert_close(bytes[0], thin + 2 * wide, 1e-12);
	assert_close(bytes[1], thin + 2 * wide, 1e-12);
}

/* Bytes of the collectives of that name backward, and kept of those forward. */
static double gathers(bool splits, int targets, double *kept)
{
	struct graph_context context;
	struct graph graph;
	struct mesh mesh;
	struct scenario s;
	double again = 0;

	small(&s, 16);
	s.stack.splits_adapters = splits;
	s.plan.tp = 4;
	s.plan.sp = true;
	s.plan.lora_targets = targets;
	draw(&s, &context, &graph, &mesh);
	*kept = 0;
	for (int i = 0; i < graph.count; i++) {
		const struct graph_operator *op = &graph.item[i];

		if (op->kind != OPERATOR_COLLECTIVE)
			continue;
		*kept += op->kept_bytes;
		if (strcmp(op->name, "input again") == 0)
			again += op->backward_calls * op->payload_bytes;
	}
	return again;
}

/* Megatron's adapters keep the gathered input that they are handed; beside others it is
 * gathered again, and for frozen matrices without one it is not needed again. */
static void test_adapters_keep_what_was_gathered(void **state)
{
	const double wide = 4096.0 * 4096 * 2;
	double kept;

	(void)state;
	assert_true(gathers(true, LORA_ALL, &kept) == 0);
	assert_close(kept, 2 * wide * 3 / 4, 1e-12);
	assert_true(gathers(true, LORA_ATTENTION, &kept) == 0);
	assert_close(kept, wide * 3 / 4, 1e-12);
	assert_close(gathers(false, LORA_ALL, &kept), 2 * wide, 1e-12);
	assert_true(kept == 0);
	assert_close(gathers(false, LORA_ATTENTION, &kept), wide, 1e-12);
}

/* A product in fp8 keeps its input in fp8; an adapter beside a frozen one computes in
 * 16 bits. */
static void test_adapters_keep_16_bits(void **state)
{
	struct graph_context context;
	struct graph graph;
	struct mesh mesh;
	struct scenario s;

	(void)state;
	small(&s, 16);
	s.stack.saves_fp8_inputs = true;
	s.plan.precision = PRECISION_FP8;
	draw(&s, &context, &graph, &mesh);
	assert_close(graph.item[0].saved_bytes, context.norm_tokens * 4096 * 2, 1e-12);
	s.plan.lora_rank = 0;
	draw(&s, &context, &graph, &mesh);
	assert_close(graph.item[0].saved_bytes, context.norm_tokens * 4096, 1e-12);
}

/* Each rank more adds as much as the one before, from the first on: to what is held of
 * weights, gradients, optimizer and activations, of dense layers and of experts. */
static void test_adapters_grow_with_their_rank(void **state)
{
	static const char *const models[] = { "llama3-8b", "mixtral-8x7b",
					      "deepseek-v2-lite", "gpt2-xl" };

	(void)state;
	for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
		struct stage_memory held[4];
		double seconds[4];
		struct error error = { "" };
		struct scenario s;

		small(&s, 0);
		if (!library_model(&s.model, models[i], &error))
			fail_msg("%s", error.text);
		s.plan.seq_len = 1024;
		for (int rank = 1; rank < 4; rank++) {
			s.plan.lora_rank = rank;
			train_estimate(&s, &now);
			if (!now.legal)
				fail_msg("%s is not legal", models[i]);
			held[rank] = now.memory;
			seconds[rank] = now.step_seconds;
		}
#define GROWS(bytes)                                 \
	assert_true(held[2].bytes >= held[1].bytes); \
	assert_close(held[3].bytes + held[1].bytes, 2 * held[2].bytes, 1e-9)
		GROWS(weights_bytes);
		GROWS(gradients_bytes);
		GROWS(optimizer_bytes);
		GROWS(activations_bytes);
		assert_true(held[2].optimizer_bytes > held[1].optimizer_bytes);
		/* what is launched and moved beside each matrix is the same */
		assert_close(seconds[2], seconds[1], 0.01);
#undef GROWS
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adapters_by_hand),
		cmocka_unit_test(test_adapters_grow_with_their_rank),
		cmocka_unit_test(test_flops_by_hand),
		cmocka_unit_test(test_explain_tells_the_definition),
		cmocka_unit_test(test_adapters_beside_latents),
		cmocka_unit_test(test_the_operators_have_the_model_s_adapters),
		cmocka_unit_test(test_counted_is_executed),
		cmocka_unit_test(test_a_frozen_weight_has_no_optimizer),
		cmocka_unit_test(test_a_frozen_weight_has_no_traffic),
		cmocka_unit_test(test_the_frozen_table_has_no_backward),
		cmocka_unit_test(test_what_an_adapter_moves),
		cmocka_unit_test(test_what_ranks_send_for_adapters),
		cmocka_unit_test(test_adapters_keep_what_was_gathered),
		cmocka_unit_test(test_adapters_keep_16_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
