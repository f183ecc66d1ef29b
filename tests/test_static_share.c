/* test_static_share.c - what SGLang takes of the memory where nobody says, by the
 * arithmetic of srt/server_args.py on what nvidia-smi says of each card. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/formats.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static struct scenario scenario;
static struct estimate estimate;

static void make(const char *cluster, const char *stack)
{
	struct error error;

	if (!scenario_blank(&scenario, "deepseek-v3", cluster, stack, &error))
		fail_msg("%s", error.text);
	scenario.plan.mode = MODE_INFERENCE;
	case_set(&scenario, "precision", "fp8-block");
}

/* MiB of the card; 512, 1.5 a token of a prompt's part, 2 a captured request, 128 a
 * rank, with DP attention 4.5 a captured request and copy. */
static void test_by_hand(void **state)
{
	static const struct {
		const char *cluster;
		int tp, pp, copies;
		const char *speculative;
		double card, left;
	} rows[] = {
		{ "dgx-h100", 1, 1, 1, "off", 81559, 512 + 12288 + 512 + 128 },
		{ "dgx-h100", 8, 1, 1, "off", 81559, 512 + 12288 + 1024 + 1024 },
		{ "dgx-h100", 4, 2, 1, "off", 81559, 512 + 12288 + 1024 + 1024 },
		{ "dgx-h200", 1, 1, 8, "off", 143771,
		  512 + 12288 + 1024 + 1024 + 4.5 * 512 * 8 },
		{ "dgx-h200", 1, 1, 2, "off", 143771,
		  512 + 12288 + 512 + 256 + 3 * 256 * 2 },
		{ "dgx-b200", 8, 1, 1, "off", 183359, 512 + 24576 + 1024 + 1024 },
		{ "dgx-h200", 8, 1, 1, "mtp", 143771,
		  512 + 12288 + 1024 + 1024 + 2048 },
		{ "dgx-h200", 8, 1, 1, "draft", 143771,
		  512 + 12288 + 1024 + 1024 + 6144 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double wanted = (rows[i].card - rows[i].left) / rows[i].card, told,
		       seen;

		make(rows[i].cluster, "sglang");
		scenario.plan.tp = rows[i].tp;
		scenario.plan.pp = rows[i].pp;
		scenario.plan.serving.dp_attention = rows[i].copies;
		scenario.cluster.gpus = rows[i].tp * rows[i].pp * rows[i].copies;
		case_set(&scenario, "speculative", rows[i].speculative);
		case_set(&scenario, "memory_share", "auto");
		told = server_memory_share(&scenario);
		/* a framework sees some hundred MiB less than nvidia-smi */
		if (fabs(told - wanted) > 0.0035)
			fail_msg("%s tp %d x %d: %g instead of %g", rows[i].cluster,
				 rows[i].tp, rows[i].copies, told, wanted);
		/* of what it sees, to the thousandth */
		seen = 1 - rows[i].left * 1048576 /
				   scenario.cluster.accelerator.usable_bytes;
		assert_true(fabs(told - seen) <= 0.0005 + 1e-12);
		assert_true(fabs(1000 * told - round(1000 * told)) < 1e-9);
	}
}

/* Shorter parts of prompts leave more, but not more than all but 10 GiB of a large
 * card; what is asked for goes before. */
static void test_what_moves_it(void **state)
{
	double usual, shorter, least;

	(void)state;
	make("dgx-h100", "sglang");
	scenario.cluster.gpus = scenario.plan.tp = 8;
	assert_close(server_memory_share(&scenario), 0.88, 1e-12);
	case_set(&scenario, "memory_share", "auto");
	usual = server_memory_share(&scenario);
	scenario.plan.serving.max_batched_tokens = 4096;
	shorter = server_memory_share(&scenario);
	scenario.plan.serving.max_batched_tokens = 1024;
	least = server_memory_share(&scenario);
	assert_true(usual < shorter && shorter <= least);
	assert_close(least, 1 - 10 / 79.1, 1e-2);
	scenario.plan.serving.memory_share = 0.7;
	assert_close(server_memory_share(&scenario), 0.7, 1e-12);
	make("dgx-h100", "tensorrt-llm");
	scenario.plan.serving.memory_share = 0;
	assert_close(server_memory_share(&scenario), 0.9, 1e-12);
}

/* However short the part of a prompt, room is left as for 2,048 tokens of it. A card so
 * small that a token more would show: of 3,750 MiB 512 + 3,072 + 2 for each of 8
 * captured requests + 128 are left, so that 22 are taken, 5.87 thousandths. */
static void test_the_least_part(void **state)
{
	(void)state;
	make("dgx-h100", "sglang");
	case_set(&scenario, "memory_share", "auto");
	scenario.cluster.gpus = 1;
	scenario.cluster.accelerator.memory_bytes = 3750 * 1048576.0;
	scenario.cluster.accelerator.usable_bytes = 3750 * 1048576.0;
	for (int tokens = 1; tokens <= 2048; tokens *= 2) {
		scenario.plan.serving.max_batched_tokens = tokens;
		assert_close(server_memory_share(&scenario), 0.006, 1e-12);
	}
	/* 1.5 MiB more to be left: 20.5 of 3,750 are 5.47 thousandths */
	scenario.plan.serving.max_batched_tokens = 2049;
	assert_close(server_memory_share(&scenario), 0.005, 1e-12);
}

/* Weights and cache together take the share of what libraries leave. */
static void test_room(void **state)
{
	double gpu;

	(void)state;
	make("dgx-h200", "sglang");
	scenario.cluster.gpus = scenario.plan.tp = 8;
	case_set(&scenario, "memory_share", "auto");
	serve_estimate(&scenario, &estimate);
	gpu = scenario.cluster.accelerator.usable_bytes -
	      estimate.memory.framework_bytes;
	assert_close(estimate.serving.kv_share_bytes + estimate.memory.weights_bytes,
		     gpu * server_memory_share(&scenario), 1e-9);
}

/* What the server reckons itself is not written; what a command leaves out is that. */
static void test_export(void **state)
{
	struct format_request request = { .scenario = &scenario };
	struct scenario read;
	char *text;

	(void)state;
	make("dgx-h200", "sglang");
	scenario.cluster.gpus = scenario.plan.tp = 8;
	case_set(&scenario, "memory_share", "auto");
	text = format_find_written("sglang")->out.write(&request);
	assert_non_null(text);
	assert_null(strstr(text, "mem-fraction-static"));
	read_good("sglang", text, &read);
	expect(&read, "memory_share", "auto");
	free(text);
	scenario.plan.serving.memory_share = 0.8;
	text = format_find_written("sglang")->out.write(&request);
	assert_non_null(strstr(text, "--mem-fraction-static 0.8"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_what_moves_it),
		cmocka_unit_test(test_the_least_part),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_export),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
