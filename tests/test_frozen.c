/* test_frozen.c - layers that do not train: no gradient comes back to them, so they
 * keep nothing, add nothing up and run once; what is not computed is not counted. */
#include <string.h>

#include "engine/graph/graph.h"
#include "engine/rules/legality.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now, full;

/* Llama-3 8B: 32 layers of 4096 with 32 heads and 8 KV heads of 128, and 14336 in the
 * MLP; two norms each. */
#define LAYER  (4096.0 * 6144 + 4096.0 * 4096 + 3 * 4096.0 * 14336 + 2 * 4096)
#define TABLE  (128256.0 * 4096)
#define SCORES (6.0 * 32 * 4096 * 32 * 128)

static void small(struct scenario *s, const char *model, int64_t frozen, bool head)
{
	struct error error = { "" };

	if (!scenario_blank(s, model, "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s->cluster.gpus = 1;
	s->cluster.accelerator.usable_bytes = 4e12;
	s->plan.sp = false;
	s->plan.zero = 0;
	s->plan.global_batch = 16;
	s->plan.seq_len = 4096;
	s->plan.frozen_layers = frozen;
	s->plan.frozen_head = head;
}

static const struct estimate *cost(const struct scenario *s, struct estimate *out)
{
	train_estimate(s, out);
	assert_true(out->legal);
	return out;
}

/* Of 28 frozen layers: 2 FLOPs of 6 a weight, a third of their attention; 4 of a frozen
 * head. */
static void test_flops_by_hand(void **state)
{
	const double all = 6 * (32 * LAYER + TABLE + 4096) + SCORES;
	struct scenario s;

	(void)state;
	small(&s, "llama3-8b", 28, false);
	assert_close(cost(&s, &now)->flops_per_token,
		     all - 4 * 28 * LAYER - 2.0 / 3 * SCORES * 28 / 32, 1e-9);
	small(&s, "llama3-8b", 28, true);
	assert_close(cost(&s, &now)->flops_per_token,
		     all - 4 * 28 * LAYER - 2.0 / 3 * SCORES * 28 / 32 - 2 * TABLE,
		     1e-9);
}

/* In fp32 a gradient has 4 bytes, master weight and moments 12; weights in 16 bits are
 * all there. */
static void test_memory_by_hand(void **state)
{
	const double ends[] = { TABLE + 4096, 0 };
	struct scenario s;

	(void)state;
	for (int head = 0; head < 2; head++) {
		const double trained = 4 * LAYER + ends[head];

		small(&s, "llama3-8b", 28, head);
		cost(&s, &now);
		assert_close(now.memory.weights_bytes,
			     2 * (32 * LAYER + 2 * TABLE + 4096), 1e-9);
		assert_close(now.memory.gradients_bytes, 4 * trained, 1e-9);
		assert_close(now.memory.optimizer_bytes, 12 * trained, 1e-9);
		assert_close(now.run.checkpoint_bytes,
			     2 * (32 * LAYER + 2 * TABLE + 4096) + 12 * trained, 1e-9);
	}
}

/* Qwen2.5 0.5B: a table that is the head trains through the head, unless that is frozen
 * too. */
static void test_a_tied_table_trains_with_the_head(void **state)
{
	const double layer = 896.0 * (896 + 2 * 128) + (896 + 2 * 128) + 896.0 * 896 +
			     3 * 896.0 * 4864 + 2 * 896;
	struct scenario s;
	double table;

	(void)state;
	small(&s, "qwen2.5-0.5b", 20, false);
	table = (double)scenario_padded_vocab(&s) * 896;
	cost(&s, &now);
	assert_close(now.memory.gradients_bytes, 4 * (4 * layer + table + 896), 1e-9);
	s.plan.frozen_head = true;
	cost(&s, &now);
	assert_close(now.memory.gradients_bytes, 4 * 4 * layer, 1e-9);
}

/* A frozen layer keeps nothing for a backward, whatever is recomputed or offloaded: 28
 * of 32 leave an eighth of the layers' activations, and what the ends keep. */
static void test_frozen_layers_keep_nothing(void **state)
{
	static const int ways[] = { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE };
	struct scenario s;
	double kept[3];

	(void)state;
	for (int way = 0; way < 2; way++) {
		static const int64_t frozen[] = { 0, 16, 28 };

		for (int i = 0; i < 3; i++) {
			small(&s, "llama3-8b", frozen[i], false);
			s.plan.recompute = ways[way];
			s.plan.recompute_modules = 1u << MODULE_CORE_ATTN;
			kept[i] = cost(&s, &now)->memory.activations_bytes;
		}
		/* a straight line of the layers that train */
		if (way == 0)
			assert_close((kept[0] - kept[2]) / (kept[0] - kept[1]),
				     28.0 / 16, 1e-9);
		assert_true(kept[2] < kept[0] / 4);
	}
	small(&s, "llama3-8b", 28, false);
	s.plan.recompute = RECOMPUTE_FULL;
	cost(&s, &now);
	s.plan.frozen_layers = 0;
	cost(&s, &full);
	assert_close(now.recompute_seconds / full.recompute_seconds, 4.0 / 32, 1e-9);
}

static double gathered(const struct estimate *e)
{
	double bytes = 0;

	for (int i = 0; i < e->traffic_count; i++)
		if (strcmp(e->traffic[i].what, "gather weights") == 0)
			bytes += e->traffic[i].count * e->traffic[i].payload_bytes;
	return bytes;
}

/* ZeRO 3 gathers frozen layers for the forward alone, and scatters nothing of them. */
static void test_shards_of_frozen_layers_come_once(void **state)
{
	const double all = 2 * (32 * LAYER + 2 * TABLE + 4096);
	struct scenario s;

	(void)state;
	small(&s, "llama3-8b", 0, false);
	s.cluster.gpus = 8;
	s.plan.zero = 3;
	assert_close(gathered(cost(&s, &now)), 2 * 2 * all, 1e-9);
	s.plan.frozen_layers = 28;
	assert_close(gathered(cost(&s, &now)), 2 * (2 * all - 2 * (28 * LAYER + TABLE)),
		     1e-9);
	s.plan.fsdp_reshard = false;
	assert_close(gathered(cost(&s, &now)), 2 * all, 1e-9);
}

struct sums {
	double trainable, gemm_flops;
};

static void add(const struct graph *graph, double times, struct sums *out)
{
	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];

		out->trainable += times * op->trainable;
		if (op->kind == OPERATOR_GEMM || op->kind == OPERATOR_GROUPED_GEMM ||
		    op->kind == OPERATOR_ROUTER)
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

/* What products spare by freezing is what model FLOPs leave out beside attention, and
 * what trains is the rest of the weights, for every kind of layer there is. */
static void test_counted_is_executed(void **state)
{
	void (*const cases[])(struct scenario *) = { case_dense, case_moe, case_mla,
						     case_hybrid };
	struct scenario s;
	struct sums whole, frozen;

	(void)state;
	for (size_t c = 0; c < 2 * sizeof cases / sizeof cases[0]; c++) {
		struct model_counts counts;

		cases[c / 2](&s);
		s.plan.tp = s.plan.pp = s.plan.ep = 1;
		s.plan.sp = false;
		s.plan.seq_len = s.plan.micro_batch = 1;
		s.model.mtp_layers = 0;
		sum_graph(&s, &whole);
		model_count(&s.model, &counts);
		s.plan.frozen_layers = s.model.layers / 2;
		s.plan.frozen_head = c % 2;
		scenario_mark(&s);
		sum_graph(&s, &frozen);
		assert_close(whole.trainable - frozen.trainable,
			     model_frozen_weights(&s.model, s.plan.frozen_head), 1e-3);
		assert_true(frozen.gemm_flops < whole.gemm_flops);
	}
}

/* More frozen layers never cost more time or memory. */
static void test_freezing_costs_nothing(void **state)
{
	void (*const cases[])(struct scenario *) = { case_dense, case_moe, case_mla,
						     case_hybrid };
	struct scenario s;

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		double seconds = 1e30, bytes = 1e30;

		cases[c](&s);
		s.cluster.gpus = 64;
		s.plan.pp = s.plan.vpp = 1;
		s.plan.schedule = SCHEDULE_1F1B;
		s.plan.zero = 3;
		s.plan.tp = 1;
		s.plan.sp = false;
		for (int64_t n = 0; n < s.model.layers; n += 3) {
			s.plan.frozen_layers = n;
			cost(&s, &now);
			assert_true(now.step_seconds < seconds);
			assert_true(now.memory.total_bytes <= bytes * (1 + 1e-12));
			seconds = now.step_seconds;
			bytes = now.memory.total_bytes;
		}
	}
}

/* Under adapters all layers are frozen anyway: the number is not asked. */
static void test_adapters_freeze_by_themselves(void **state)
{
	struct scenario s;

	(void)state;
	small(&s, "llama3-8b", 0, false);
	s.plan.lora_rank = 16;
	cost(&s, &full);
	s.plan.frozen_layers = 28;
	cost(&s, &now);
	assert_true(now.step_seconds == full.step_seconds);
	assert_true(now.memory.total_bytes == full.memory.total_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flops_by_hand),
		cmocka_unit_test(test_memory_by_hand),
		cmocka_unit_test(test_a_tied_table_trains_with_the_head),
		cmocka_unit_test(test_frozen_layers_keep_nothing),
		cmocka_unit_test(test_shards_of_frozen_layers_come_once),
		cmocka_unit_test(test_counted_is_executed),
		cmocka_unit_test(test_freezing_costs_nothing),
		cmocka_unit_test(test_adapters_freeze_by_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
