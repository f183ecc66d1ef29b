/* test_narrow.c - training in nvfp4: what the recipe of a file says, what it costs, and
 * how it is written again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/graph/graph.h"
#include "engine/knob/knob.h"
#include "engine/train/states.h"
#include "engine/train/train.h"
#include "presets/formats.h"
#include "presets/mlperf/mlperf.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static const char command[] =
	"torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
	"--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 "
	"--global-batch-size 128 --bf16 --fp4-format e2m1";

static void read_script(const char *before, const char *behind, struct scenario *out)
{
	char text[1024];

	snprintf(text, sizeof text, "#!/bin/bash\n%s%s%s\n", before, command, behind);
	read_good("megatron", text, out);
}

/* Transformer Engine takes these from the environment: NVTE_..._DISABLE_... set to 1.
 */
static void test_a_script_says_its_recipe(void **state)
{
	struct scenario s;

	(void)state;
	read_script("", " --fp4-recipe nvfp4", &s);
	expect(&s, "precision", "nvfp4");
	expect(&s, "fp4_rotation", "on");
	expect(&s, "fp4_rounding", "on");
	expect(&s, "fp4_squares", "on");
	assert_false(noted(IMPORT_NOT_MODELLED, "fp4-recipe"));
	read_script("export NVTE_NVFP4_DISABLE_RHT=1\n"
		    "NVTE_NVFP4_DISABLE_2D_QUANTIZATION=1 "
		    "NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=0 ",
		    "", &s);
	expect(&s, "fp4_rotation", "off");
	expect(&s, "fp4_rounding", "on");
	expect(&s, "fp4_squares", "off");
	read_script("", " --fp4-recipe custom", &s);
	assert_true(noted(IMPORT_APPROXIMATE, "fp4-recipe"));
}

static void test_a_submission_says_its_recipe(void **state)
{
	static const char text[] =
		"export DGXNNODES=1\nexport DGXNGPU=8\nexport MINIBS=1\nexport FP4=True\n"
		"export NVTE_NVFP4_DISABLE_RHT=1\n"
		"export NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=0\n";
	struct error error = { "" };
	struct scenario s;

	(void)state;
	memset(&report, 0, sizeof report);
	assert_true(mlperf_read(&s, "llama2_70b_lora/config_DGXB200_1x8x1.sh", text,
				strlen(text), &report, &error));
	expect(&s, "precision", "nvfp4");
	expect(&s, "fp4_rotation", "off");
	expect(&s, "fp4_rounding", "on");
}

/* What is no flag stands in front of the command. */
static void test_a_recipe_comes_back(void **state)
{
	static const char *const keys[] = { "fp4_rotation", "fp4_rounding",
					    "fp4_squares" };
	struct scenario s, back;

	(void)state;
	for (int off = 0; off < 8; off++) {
		char *text;

		case_dense(&s);
		case_set(&s, "precision", "nvfp4");
		for (int i = 0; i < 3; i++)
			case_set(&s, keys[i], off >> i & 1 ? "off" : "on");
		text = format_find_written("megatron")
			       ->out.write(&(struct format_request){ .scenario = &s });
		read_good("megatron", text, &back);
		expect(&back, "precision", "nvfp4");
		for (int i = 0; i < 3; i++)
			expect(&back, keys[i], off >> i & 1 ? "off" : "on");
		free(text);
	}
}

/* Megatron's switch keeps one layer at each end, unless it says how many; NVIDIA's
 * recipe of Nemotron 3 Super the last 14. */
static void test_layers_that_stay_wide_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_script("", " --first-last-layers-bf16", &s);
	expect(&s, "wide_first", "1");
	expect(&s, "wide_last", "1");
	read_script("",
		    " --first-last-layers-bf16 --num-layers-at-start-in-bf16 2 "
		    "--num-layers-at-end-in-bf16 8",
		    &s);
	expect(&s, "wide_first", "2");
	expect(&s, "wide_last", "8");
	/* nothing without the switch */
	read_script("", " --num-layers-at-end-in-bf16 8", &s);
	expect(&s, "wide_last", "none");
	read_good("megatron",
		  "cfg.model.num_layers = 32\ncfg.model.hidden_size = 4096\n"
		  "cfg.model.num_attention_heads = 32\n"
		  "cfg.model.seq_length = 4096\n"
		  "cfg.mixed_precision = \"nemotron_3_super_bf16_with_nvfp4_mixed\"\n",
		  &s);
	expect(&s, "precision", "nvfp4");
	expect(&s, "wide_first", "1");
	expect(&s, "wide_last", "14");
}

/* A Bridge recipe of each name stores weights as mixed_precision.py says, unless the
 * field behind it says otherwise; Megatron's flag goes with its format alone. */
static void test_weights_are_stored_as_recipes_say(void **state)
{
	static const struct {
		const char *name, *field, *stored;
	} cases[] = {
		{ "bf16_with_fp8_current_scaling_mixed", "", "fp8" },
		{ "bf16_with_fp8_current_scaling_mixed",
		  "cfg.mixed_precision.fp8_param_gather = False\n", "wide" },
		{ "bf16_with_fp8_subchannel_scaling_mixed", "", "wide" },
		{ "bf16_with_mxfp8_mixed", "", "fp8" },
		{ "bf16_with_nvfp4_mixed", "", "fp4" },
		{ "bf16_with_nvfp4_mixed",
		  "cfg.mixed_precision.fp4_param_gather = False\n", "wide" },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[512];

		snprintf(text, sizeof text,
			 "cfg.model.num_layers = 32\ncfg.model.hidden_size = 4096\n"
			 "cfg.model.num_attention_heads = 32\n"
			 "cfg.model.seq_length = 4096\n"
			 "cfg.mixed_precision = get_mixed_precision_config(\"%s\")\n%s",
			 cases[i].name, cases[i].field);
		read_good("megatron", text, &s);
		expect(&s, "weight_format", cases[i].stored);
	}
	read_script("", " --fp4-param-gather", &s);
	expect(&s, "weight_format", "fp4");
	read_script("", "", &s);
	expect(&s, "weight_format", "wide");
}

static void test_wide_layers_come_back(void **state)
{
	static const char *const formats[] = { "megatron", "bridge" };
	struct scenario s, back;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *text;

		case_dense(&s);
		case_set(&s, "precision", "nvfp4");
		case_set(&s, "wide_first", "2");
		case_set(&s, "wide_last", "8");
		case_set(&s, "weight_format", i == 0 ? "fp4" : "wide");
		text = format_find_written(formats[i])
			       ->out.write(&(struct format_request){ .scenario = &s });
		read_good("megatron", text, &back);
		expect(&back, "precision", "nvfp4");
		expect(&back, "wide_first", "2");
		expect(&back, "wide_last", "8");
		expect(&back, "weight_format", i == 0 ? "fp4" : "wide");
		/* the network is as before */
		assert_int_equal(s.model.kinds, 1);
		free(text);
	}
}

/* A stage with k layers that stay wide takes what k layers of bf16 and the others of
 * fp8 take, forward and backward, and keeps their activations; the stages between are
 * as without. */
static void test_wide_layers_cost_what_they_cost(void **state)
{
	static struct estimate wide, narrow, mixed;
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.stack.saves_fp8_inputs = true;
	train_estimate(&s, &wide);
	case_set(&s, "precision", "fp8");
	case_set(&s, "fp8_recipe", "current-scaling");
	train_estimate(&s, &narrow);
	case_set(&s, "wide_first", "5");
	case_set(&s, "wide_last", "20");
	train_estimate(&s, &mixed);
	assert_true(wide.legal && narrow.legal && mixed.legal);
	assert_true(wide.stage_time[1].forward_seconds >
		    1.2 * narrow.stage_time[1].forward_seconds);
	for (int i = 0; i < 4; i++) {
		static const double share[] = { 5.0 / 20, 0, 0, 1 };
		const struct stage_time *w = &wide.stage_time[i],
					*n = &narrow.stage_time[i],
					*m = &mixed.stage_time[i];

		assert_close(m->forward_seconds,
			     share[i] * w->forward_seconds +
				     (1 - share[i]) * n->forward_seconds,
			     1e-9);
		assert_close(m->backward_seconds,
			     share[i] * w->backward_seconds +
				     (1 - share[i]) * n->backward_seconds,
			     1e-9);
		assert_close(mixed.stage[i].activations_bytes,
			     share[i] * wide.stage[i].activations_bytes +
				     (1 - share[i]) * narrow.stage[i].activations_bytes,
			     1e-9);
	}
	/* a scenario is left as it is */
	assert_int_equal(s.model.kinds, 1);
	assert_false(s.model.kind[0].wide);
}

/* What the Graph view and Explain show: the layers at the ends are kinds of their own.
 */
static void test_wide_layers_are_told(void **state)
{
	static struct estimate e;
	struct scenario s, room;
	struct explanation x;
	struct graph graph;

	(void)state;
	case_dense(&s);
	case_set(&s, "precision", "fp8");
	case_set(&s, "fp8_recipe", "current-scaling");
	case_set(&s, "wide_first", "5");
	assert_int_equal(scenario_marked(&s, &room)->model.kinds, 2);
	train_estimate(&s, &e);
	assert_true(explain(&s, &e, "stages.0.kinds.0.layers", &x));
	assert_close(x.value, 5, 0);
	assert_true(explain(&s, &e, "stages.0.kinds.1.layers", &x));
	assert_close(x.value, 15, 0);
	train_graph(&s, 0, &graph);
	assert_close(graph.item[1].quantise_bytes, 0, 0);
	train_graph(&s, 1, &graph);
	for (int i = 0; i < graph.count; i++)
		if (graph.item[i].kind == OPERATOR_GEMM)
			assert_true(graph.item[i].quantise_bytes >= 1.5);
	/* in 16 bits there is nothing to keep wide */
	case_set(&s, "precision", "bf16");
	assert_ptr_equal(scenario_marked(&s, &room), &s);
}

/* Weights stored in fp8 stay in 16 bits where the layers do. */
static void test_stored_weights_of_wide_layers(void **state)
{
	static struct estimate e;
	struct explanation x;
	struct model_counts counts;
	struct layer_counts layer;
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "precision", "fp8");
	case_set(&s, "fp8_recipe", "current-scaling");
	case_set(&s, "weight_format", "fp8");
	case_set(&s, "wide_last", "10");
	train_estimate(&s, &e);
	model_count(&s.model, &counts);
	model_count_layer(&s.model, &s.model.kind[0], &layer);
	for (int first = 0; first <= 10; first += 5) {
		s.plan.wide_first = first;
		s.plan.wide_last = 10 - first;
		train_estimate(&s, &e);
		assert_true(explain(&s, &e, "states.weight_bytes", &x) && x.computes);
		assert_close(x.value,
			     1 + (counts.embedding + counts.head + 10 * layer.total) /
					     counts.total,
			     1e-9);
	}
}

/* Weights stored in fp8 go round so, those in mxfp8 in 16 bits: two bytes, though they
 * are kept in two layouts of 1 + 1/32. */
static void test_mxfp8_goes_round_in_16_bits(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "zero", "1");
	s.cluster.accelerator.peak_flops[PRECISION_MXFP8] = 2e15;
	case_set(&s, "precision", "mxfp8");
	assert_close(states_trained_bytes(&s), 2, 0);
	case_set(&s, "weight_format", "fp8");
	assert_close(states_trained_bytes(&s), 2, 0);
	assert_true(step_weight_bytes(&s) > 2);
	assert_close(step_layer_weight_bytes(&s.plan), 2 + 2 / 32.0, 1e-12);
	/* shards of ZeRO-3 are gathered as they are kept, and so is what comes back
	 * from a host */
	case_set(&s, "zero", "3");
	assert_close(states_trained_bytes(&s), step_weight_bytes(&s), 0);
	case_set(&s, "zero", "1");
	case_set(&s, "precision", "fp8");
	assert_true(states_trained_bytes(&s) < 1.1);
}

/* Weights in mxfp8 have no buffer but that one (NVIDIA/TransformerEngine,
 * pytorch/tensor/utils.py, replace_raw_data). */
static void test_exports_reuse_the_gradients_buffer(void **state)
{
	static const char *const precisions[] = { "fp8", "mxfp8" };
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "zero", "1");
	case_set(&s, "weight_format", "fp8");
	for (int i = 0; i < 2; i++) {
		char *text;

		case_set(&s, "precision", precisions[i]);
		text = format_find_written("megatron")
			       ->out.write(&(struct format_request){ .scenario = &s });
		assert_non_null(strstr(text, "--fp8-param-gather"));
		assert_int_equal(
			strstr(text, "--reuse-grad-buf-for-mxfp8-param-ag") != NULL, i);
		free(text);
	}
}

/* A script that asks for such weights without that buffer stops in Megatron: what is
 * taken instead is told. */
static void test_a_gather_without_its_buffer_is_told(void **state)
{
	static const char script[] =
		"torchrun --nproc_per_node=8 pretrain_gpt.py --num-layers 32 "
		"--hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
		"--max-position-embeddings 4096 --vocab-size 32000 "
		"--micro-batch-size 1 --global-batch-size 64 --bf16 "
		"--fp8-format e4m3 --fp8-param-gather --use-distributed-optimizer ";
	static const struct {
		const char *more;
		bool told;
	} rows[] = {
		{ "--fp8-recipe mxfp8\n", true },
		{ "--fp8-recipe mxfp8 --reuse-grad-buf-for-mxfp8-param-ag\n", false },
		{ "--fp8-recipe tensorwise\n", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		char text[1024];

		snprintf(text, sizeof text, "%s%s", script, rows[i].more);
		read_good("megatron", text, &s);
		expect(&s, "weight_format", "fp8");
		assert_int_equal(
			noted(IMPORT_ASSUMED, "reuse-grad-buf-for-mxfp8-param-ag"),
			rows[i].told);
	}
}

/* Without rates for 4 bits there is no such training, and the screen says which formats
 * there are. */
static void test_an_accelerator_without_fp4(void **state)
{
	static struct estimate e;
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "precision", "nvfp4");
	train_estimate(&s, &e);
	assert_false(e.legal);
	assert_string_equal(e.problems.item[0].rule->code, "X9");
	s.cluster.accelerator.peak_flops[PRECISION_NVFP4] = 1e16;
	train_estimate(&s, &e);
	assert_true(e.legal);
}

/* Weights turn narrow once a step, whatever the micro-batches: all of the layers of a
 * stage, not the embedding and the head. */
static void test_weights_turn_narrow_once_a_step(void **state)
{
	static struct estimate e;
	struct explanation x;
	struct scenario s;
	/* of a rank: 20 layers on TP 8 */
	double weights = 20 * (8192.0 * 10240 + 8192.0 * 8192 + 3 * 8192.0 * 28672) / 8;
	double first = 0;

	(void)state;
	case_dense(&s);
	s.cluster.accelerator.peak_flops[PRECISION_NVFP4] = 4e15;
	case_set(&s, "precision", "nvfp4");
	for (int batch = 128; batch <= 256; batch *= 2) {
		s.plan.global_batch = batch;
		train_estimate(&s, &e);
		assert_true(e.legal);
		assert_true(explain(&s, &e, "stages.1.narrow_weights", &x));
		assert_close(x.value, weights, 1e-9);
		assert_true(explain(&s, &e, "stages.1.narrow_seconds", &x));
		assert_true(x.computes);
		assert_close(x.value, weights * 5.125 / (3.35e12 * 0.8), 1e-9);
		if (batch == 128)
			first = x.value;
	}
	assert_close(x.value, first, 0);
	case_set(&s, "lora_rank", "16");
	train_estimate(&s, &e);
	assert_true(explain(&s, &e, "stages.1.narrow_seconds", &x));
	assert_close(x.value, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_script_says_its_recipe),
		cmocka_unit_test(test_a_submission_says_its_recipe),
		cmocka_unit_test(test_a_recipe_comes_back),
		cmocka_unit_test(test_layers_that_stay_wide_are_read),
		cmocka_unit_test(test_weights_are_stored_as_recipes_say),
		cmocka_unit_test(test_wide_layers_come_back),
		cmocka_unit_test(test_wide_layers_cost_what_they_cost),
		cmocka_unit_test(test_wide_layers_are_told),
		cmocka_unit_test(test_stored_weights_of_wide_layers),
		cmocka_unit_test(test_mxfp8_goes_round_in_16_bits),
		cmocka_unit_test(test_exports_reuse_the_gradients_buffer),
		cmocka_unit_test(test_a_gather_without_its_buffer_is_told),
		cmocka_unit_test(test_an_accelerator_without_fp4),
		cmocka_unit_test(test_weights_turn_narrow_once_a_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
