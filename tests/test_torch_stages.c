/* test_torch_stages.c - what PyTorch's tensor parallelism and its stages of a pipeline
 * keep and send, counted by hand. */
#include <stdlib.h>
#include <string.h>

#include "engine/train/states.h"
#include "engine/train/step.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/small.h"

static double x; /* bytes of the input that all ranks of TP have gathered */

static void draw(bool keeps, const char *recompute, const char *modules, bool async)
{
	small_layer();
	scenario.plan.sp = true;
	scenario.stack.keeps_gathered = keeps;
	scenario.plan.async_tp = async;
	case_set(&scenario, "recompute", recompute);
	if (modules)
		case_set(&scenario, "recompute_modules", modules);
	small_draw();
	x = 2.0 * SEQ * SEQUENCES * HIDDEN;
}

/* A linear layer saves its input as it read it, so that nothing is gathered again;
 * under torchtitan's policy per operator it is, as in the forward. */
static void test_products_keep_what_was_gathered(void **state)
{
	struct layer_cost cost;

	(void)state;
	draw(false, "none", NULL, false);
	assert_true(small_named("attention input")->kept_bytes == 0);
	assert_non_null(small_find("input again"));
	draw(true, "none", NULL, false);
	assert_close(small_named("attention input")->kept_bytes, x / TP, 1e-12);
	assert_null(small_find("input again"));
	draw(true, "full", NULL, false);
	assert_close(small_named("MLP input")->kept_bytes, x / TP, 1e-12);
	draw(true, "full", NULL, true);
	assert_true(small_named("MLP input")->kept_bytes == 0);
	draw(true, "selective", "per-op", false);
	layer_cost(&context, &graph, false, &cost);
	assert_true(small_named("MLP input")->held_bytes == 0);
	assert_true(small_named("MLP input")->again == 1);
	assert_null(small_find("input again"));
}

/* What is gathered again runs beside the gradient of the product's input, and the
 * gradient of its weight waits for both (Korthikanti 2022, section 4.2.2). */
static void test_what_is_gathered_again_hides_behind_one_product(void **state)
{
	struct layer_cost cost;
	struct graph_operator *again = NULL;

	(void)state;
	for (int short_of = 0; short_of < 2; short_of++) {
		draw(false, "none", NULL, false);
		for (int i = 0; i < graph.count && !again; i++)
			if (strcmp(graph.item[i].name, "input again") == 0)
				again = &graph.item[i];
		assert_non_null(again);
		for (int i = 0; i < graph.count; i++)
			if (graph.item[i].kind == OPERATOR_GEMM) {
				graph.item[i].input_grad_seconds =
					short_of ? 3e-6 : 9e-6;
				break;
			}
		again->input_grad_seconds = 5e-6;
		layer_cost(&context, &graph, false, &cost);
		assert_close(again->exposed_backward + 1, short_of ? 1 + 2e-6 : 1,
			     1e-12);
	}
}

static void torchtitan(struct scenario *s, struct estimate *e, const char *schedule,
		       const char *vpp)
{
	struct error error = { "" };

	if (!scenario_blank(s, "llama3-8b", "dgx-h100", "torchtitan", &error))
		fail_msg("%s", error.text);
	s->cluster.gpus = 64;
	case_set(s, "tp", "2");
	case_set(s, "sp", "on");
	case_set(s, "pp", "4");
	case_set(s, "schedule", schedule);
	case_set(s, "vpp", vpp);
	case_set(s, "split", "even");
	case_set(s, "zero", "3");
	case_set(s, "fsdp_reshard", "off");
	case_set(s, "mbs", "1");
	case_set(s, "gbs", "64"); /* 8 micro-batches on each of 8 replicas */
	case_set(s, "seq", "4096");
	case_set(s, "recompute", "full");
	train_estimate(s, e);
}

/* 1F1B on four stages has 4, 3, 2 and 1 micro-batches in flight. A message is 4096 / 2
 * tokens of 4096 in 16 bits. */
static void test_stages_have_a_buffer_for_each_message(void **state)
{
	const double message = 2048 * 4096 * 2.0;
	static const double in[] = { 0, 1, 1, 1 }, out[] = { 1, 1, 1, 0 };
	struct estimate *e = calloc(1, sizeof *e), *bare = calloc(1, sizeof *bare);
	struct scenario s;

	(void)state;
	torchtitan(&s, e, "1f1b", "1");
	s.stack.torch_stages = false;
	train_estimate(&s, bare);
	for (int i = 0; i < 4; i++) {
		double n = 4 - i;

		assert_close(e->stage[i].in_flight, n, 1e-12);
		assert_close(e->stage[i].buffers_bytes - bare->stage[i].buffers_bytes,
			     message * ((8 - n) * in[i] + (8 + n) * out[i]), 1e-9);
	}
	torchtitan(&s, e, "interleaved", "2");
	s.stack.torch_stages = false;
	train_estimate(&s, bare);
	for (int i = 0; i < 4; i++) {
		double n = e->stage[i].in_flight;

		assert_close(e->stage[i].buffers_bytes - bare->stage[i].buffers_bytes,
			     message * ((8 - n) * (1 + in[i]) + (8 + n) * (1 + out[i])),
			     1e-9);
	}
	free(bare);
	free(e);
}

/* Weights stay whole behind the first backward and gradients are summed whole, in fp32,
 * whatever is freed behind a forward: of a stage's weights 2 + 4 bytes. */
static void test_stages_hold_whole_weights_and_gradients(void **state)
{
	struct estimate *e = calloc(1, sizeof *e), *freed = calloc(1, sizeof *freed);
	struct scenario s;

	(void)state;
	torchtitan(&s, e, "1f1b", "1");
	case_set(&s, "fsdp_reshard", "on");
	train_estimate(&s, freed);
	assert_close(freed->stage[1].gradients_bytes, 4 * freed->stage[1].parameters,
		     1e-12);
	assert_close(freed->stage[1].buffers_bytes, e->stage[1].buffers_bytes, 1e-12);
	s.stack.torch_stages = false;
	train_estimate(&s, freed);
	assert_close(freed->stage[1].gradients_bytes,
		     2 * freed->stage[1].parameters / 8, 1e-12);
	free(freed);
	free(e);
}

/* They are reduced in one go behind the last micro-batch's backward, beside nothing. */
static void test_stages_reduce_behind_the_last_backward(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct scenario s;
	double seconds[2] = { 0, 0 };

	(void)state;
	for (int torch = 0; torch < 2; torch++) {
		torchtitan(&s, e, "1f1b", "1");
		s.stack.torch_stages = torch;
		train_estimate(&s, e);
		for (int i = 0; i < e->traffic_count; i++)
			if (strcmp(e->traffic[i].what, "scatter gradients") == 0) {
				assert_close(e->traffic[i].count, 1, 1e-12);
				seconds[torch] = e->traffic[i].exposed_seconds /
						 e->traffic[i].total_seconds;
			}
	}
	assert_close(seconds[1], 1, 1e-9);
	assert_true(seconds[0] < 0.5);
	free(e);
}

/* A backward leaves weights gathered, a forward frees them where the plan reshards
 * ("always"): of a stage's passes in any order those gather that come first or behind a
 * forward. 1F1B on the first of four stages runs three forwards, then one and a
 * backward in turn, then the backwards that are left. */
static int gathers_in_order(int ahead, int micro_batches)
{
	int gathers = 0, forwards = 0;
	bool whole = false;

	for (int backwards = 0; backwards < micro_batches;) {
		bool forward =
			forwards < micro_batches && forwards - backwards <= ahead;

		gathers += !whole;
		whole = !forward;
		forwards += forward;
		backwards += !forward;
	}
	return gathers;
}

static void test_stages_gather_once_more_than_they_run_forwards(void **state)
{
	static const char *const vpp[] = { "1", "2" };
	struct estimate *e = calloc(1, sizeof *e);
	struct scenario s;

	(void)state;
	for (int ahead = 0; ahead <= 8; ahead++)
		assert_int_equal(gathers_in_order(ahead, 8), 9);
	for (int i = 0; i < 2; i++) {
		double gathers = 0, scatters = 0, bare = 0;

		torchtitan(&s, e, i ? "interleaved" : "1f1b", vpp[i]);
		case_set(&s, "fsdp_reshard", "on");
		train_estimate(&s, e);
		for (int k = 0; k < e->traffic_count; k++) {
			const struct traffic *t = &e->traffic[k];

			if (strcmp(t->what, "gather weights") == 0)
				gathers += t->count;
			if (strcmp(t->what, "scatter gradients") != 0)
				continue;
			scatters += t->count;
			bare += t->exposed_seconds / t->total_seconds;
		}
		assert_close(gathers, 9 * (i + 1), 1e-12);
		assert_close(scatters, i + 1, 1e-12);
		assert_close(bare, 1, 1e-9);
	}
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_products_keep_what_was_gathered),
		cmocka_unit_test(test_what_is_gathered_again_hides_behind_one_product),
		cmocka_unit_test(test_stages_have_a_buffer_for_each_message),
		cmocka_unit_test(test_stages_hold_whole_weights_and_gradients),
		cmocka_unit_test(test_stages_reduce_behind_the_last_backward),
		cmocka_unit_test(test_stages_gather_once_more_than_they_run_forwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
