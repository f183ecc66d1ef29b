/* test_hybrid_pattern.c - Megatron's pattern of a hybrid: what it says of stages and of
 * MTP layers, in and out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/megatron/megatron.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

#define HYBRID(pattern, more)                                                            \
	"torchrun --nproc_per_node 8 pretrain_hybrid.py --hybrid-layer-pattern " pattern \
	" --mamba-state-dim 128 --mamba-head-dim 64 --mamba-num-groups 8 "               \
	"--mamba-num-heads 64 --hidden-size 4096 --num-attention-heads 32 "              \
	"--micro-batch-size 1 --global-batch-size 32 --seq-length 4096 --bf16 " more     \
	"\n"

/* Stages end where the pattern says: two in each of two ranks are two chunks. */
static void test_ends_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  HYBRID("'M-M-M*|M-M-M*|M-M-M*|M-M-M-M*'",
			 "--pipeline-model-parallel-size 2"),
		  &s);
	assert_int_equal(s.model.layers, 26);
	expect(&s, "vpp", "2");
	expect(&s, "schedule", "interleaved");
	expect(&s, "split", "custom");
	expect(&s, "layout", "Et*6|t*6|t*6|t*8L");
	read_good("megatron", HYBRID("'M-M*|M-M-'", "--pipeline-model-parallel-size 2"),
		  &s);
	expect(&s, "vpp", "1");
	expect(&s, "layout", "Et*4|t*4L");
	read_good("megatron", HYBRID("'M-M*M-M-'", "--pipeline-model-parallel-size 2"),
		  &s);
	expect(&s, "split", "even");
	/* what MTP layers are made of ends no stage, and counts them */
	read_good("megatron",
		  HYBRID("'M-M*|M-M-/*-/*-'", "--pipeline-model-parallel-size 2"), &s);
	assert_int_equal(s.model.mtp_layers, 2);
	assert_int_equal(s.model.layers, 8);
	expect(&s, "layout", "Et*4|t*4mmL");
}

static char *write_with(struct scenario *s, const char *model, const char *const *knobs)
{
	struct error error;
	char why[256];
	char *text;

	scenario_defaults(s);
	if (!library_model(&s->model, model, &error) ||
	    !library_cluster(&s->cluster, "dgx-h100", &error) ||
	    !library_stack(s, "megatron-core", &error))
		fail_msg("%s", error.text);
	for (int i = 0; knobs[i]; i += 2)
		if (!knob_parse(s, knob_find(knobs[i]), knobs[i + 1], why, sizeof why))
			fail_msg("%s: %s", knobs[i], why);
	text = megatron_write(s);
	assert_non_null(text);
	return text;
}

/* Beside such a pattern Megatron refuses every other word on stages
 * (megatron/training/arguments.py, validate_args). */
static void test_ends_are_written(void **state)
{
	static const char *const refused[] = {
		"--num-layers-per-virtual-pipeline-stage",
		"--num-virtual-stages-per-pipeline-rank",
		"--pipeline-model-parallel-layout",
		"--account-for-embedding-in-pipeline-split",
		"--account-for-loss-in-pipeline-split",
		"--decoder-first-pipeline-num-layers",
	};
	static const char *const splits[] = { "auto", "balanced", "even" };
	struct scenario s, again;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const char *const knobs[] = {
			"gpus",
			"256",
			"tp",
			"8",
			"pp",
			"2",
			"vpp",
			i ? "1" : "2",
			"schedule",
			i ? "1f1b" : "interleaved",
			"mbs",
			"1",
			"gbs",
			"768",
			"seq",
			"8192",
			"split",
			splits[i],
			"split_embedding",
			i == 2 ? "off" : "on",
			"split_loss",
			i == 2 ? "off" : "on",
			NULL,
		};
		char *text = write_with(&s, "nemotron-h-56b", knobs);

		for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++)
			if (strstr(text, refused[k]))
				fail_msg("%s in\n%s", refused[k], text);
		assert_non_null(strstr(text, "pretrain_hybrid.py"));
		assert_non_null(strchr(text, '|'));
		read_good("megatron", text, &again);
		expect(&again, "vpp", i ? "1" : "2");
		expect(&again, "pp", "2");
		assert_int_equal(again.model.layers, s.model.layers);
		free(text);
	}
}

static void test_depths_are_written(void **state)
{
	static const char *const knobs[] = { "gpus", "64", "tp", "4", "ep", "8", NULL };
	static const char *const dense[] = { "gpus", "64", "ep", "8", NULL };
	struct scenario s, again;
	char *text = write_with(&s, "nemotron-3-super", knobs);

	(void)state;
	assert_non_null(strstr(text, "EMEMEMEME/E'"));
	assert_null(strchr(text, '|'));
	read_good("megatron", text, &again);
	assert_int_equal(again.model.mtp_layers, s.model.mtp_layers);
	free(text);
	/* MLA's norms have a switch of their own */
	text = write_with(&s, "deepseek-v3", dense);
	assert_non_null(strstr(text, "--qk-layernorm"));
	assert_non_null(strstr(text, "pretrain_gpt.py"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_are_read),
		cmocka_unit_test(test_ends_are_written),
		cmocka_unit_test(test_depths_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
