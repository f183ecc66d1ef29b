/* test_masters.c - what an optimizer steps beside a weight in 16 bits: bytes of it in
 * memory and in an update by hand, the files that say so, and what is written of it. */
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "presets/formats.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static struct estimate all, now;

/* Weight and master weight that an update moves: fp32 is read and written and the
 * weight written (4 + 4 + 2); the rest of one is read and written with the weight (2 +
 * 2
 * + 2 + 2); a copy in 16 bits is read and written and the weight written (2 + 2 + 2);
 * the weight alone is read and written (2 + 2). */
static const struct {
	const char *word, *optimizer;
	double held, moved; /* per parameter, with the moments */
} rows[] = {
	{ "fp32", "adamw", 4 + 8, 8 + 16 + 10 },
	{ "rest", "adamw", 2 + 8, 8 + 16 + 8 },
	{ "16-bit", "adamw", 2 + 8, 8 + 16 + 6 },
	{ "none", "adamw", 8, 8 + 16 + 4 },
	{ "none", "adamw-bf16", 4, 8 + 8 + 4 },
	{ "auto", "adamw", 4 + 8, 8 + 16 + 10 },
};

static void test_bytes(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "pp", "1");
	case_set(&s, "zero", "1");
	train_estimate(&s, &all);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct accelerator *a = &s.cluster.accelerator;
		/* 8 ranks hold the same eighth of the model */
		double own = all.stage[0].parameters / 8;
		double rate =
			a->memory_bytes_per_second * a->calibration.memory_efficiency;

		case_set(&s, "master_weights", rows[i].word);
		case_set(&s, "optimizer", rows[i].optimizer);
		train_estimate(&s, &now);
		assert_close(now.memory.optimizer_bytes, rows[i].held * own, 1e-12);
		assert_close(all.optimizer_seconds - now.optimizer_seconds,
			     (rows[0].moved - rows[i].moved) * own / rate, 1e-6);
		assert_close(now.memory.weights_bytes, 2 * all.stage[0].parameters,
			     1e-12);
	}
}

/* The rest of a weight is that of bf16; in fp32 there is one weight, whatever is said.
 */
static void test_where_a_rest_is_none(void **state)
{
	static const struct {
		const char *key, *value, *word;
		double held;
	} lines[] = {
		{ "precision", "fp16", "rest", 12 },
		{ "precision", "fp16", "16-bit", 10 },
		{ "precision", "fp32", "rest", 8 },
		{ "precision", "fp32", "none", 8 },
		{ "precision", "fp32", "fp32", 8 },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		case_dense(&s);
		case_set(&s, "pp", "1");
		case_set(&s, "zero", "1");
		case_set(&s, lines[i].key, lines[i].value);
		case_set(&s, "master_weights", lines[i].word);
		train_estimate(&s, &now);
		assert_close(now.memory.optimizer_bytes,
			     lines[i].held * now.stage[0].parameters / 8, 1e-12);
	}
}

/* DeepSpeed's change 8010: offloaded states of bf16 fall from about 10 bytes to 6, and
 * the gradient that steps them has 2. */
static void test_on_the_host(void **state)
{
	static const char *const words[] = { "auto", "fp32", "rest", "16-bit", "none" };
	struct scenario s;
	double own;

	(void)state;
	case_dense(&s);
	case_set(&s, "pp", "1");
	case_set(&s, "zero", "2");
	case_set(&s, "optimizer_offload", "1");
	case_set(&s, "master_weights", "16-bit");
	train_estimate(&s, &now);
	own = now.stage[0].parameters / 8;
	assert_close(now.stage[0].host_optimizer_bytes, (2 + 8 + 2) * own, 1e-12);
	case_set(&s, "optimizer", "adamw-bf16");
	train_estimate(&s, &now);
	assert_close(now.stage[0].host_optimizer_bytes, (2 + 4 + 2) * own, 1e-12);
	case_set(&s, "master_weights", "fp32");
	train_estimate(&s, &now);
	assert_close(now.stage[0].host_optimizer_bytes, (4 + 4 + 4) * own, 1e-12);
	/* weights in fp32 are their own master, whatever is said of one */
	case_set(&s, "precision", "fp32");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		case_set(&s, "master_weights", words[i]);
		train_estimate(&s, &now);
		assert_close(now.stage[0].host_optimizer_bytes, (0 + 4 + 4) * own,
			     1e-12);
	}
}

#define LLAMA_FACTORY                                                                  \
	"model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\ndo_train: true\n" \
	"finetuning_type: full\n"

static void test_files_that_say_so(void **state)
{
	static const struct {
		const char *format, *text, *master, *optimizer;
	} files[] = {
		{ "deepspeed",
		  "{\"bf16\": {\"enabled\": true, \"bf16_master_weights_and_grads\": true,"
		  " \"bf16_optimizer_states\": true}, \"zero_optimization\": {\"stage\": 2}}",
		  "16-bit", "adamw-bf16" },
		{ "deepspeed",
		  "{\"bf16\": {\"enabled\": true, \"bf16_optimizer_states\": true},"
		  " \"zero_optimization\": {\"stage\": 2}}",
		  "auto", "adamw" },
		{ "deepspeed",
		  "{\"fp16\": {\"enabled\": true, \"fp16_master_weights_and_grads\": true},"
		  " \"zero_optimization\": {\"stage\": 2}}",
		  "16-bit", "adamw" },
		{ "llama-factory", LLAMA_FACTORY "pure_bf16: true\n", "none",
		  "adamw-bf16" },
		{ "llama-factory", LLAMA_FACTORY "bf16: true\n", "auto", "adamw" },
		{ "llama-factory",
		  LLAMA_FACTORY "pure_bf16: true\ndeepspeed: ds_z2_config.json\n",
		  "auto", "adamw" },
		{ "torchtitan",
		  "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
		  "dtype = \"bfloat16\"\n",
		  "none", "adamw-bf16" },
		{ "torchtitan",
		  "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
		  "dtype = \"float32\"\n",
		  "auto", "adamw" },
	};
	struct scenario s;

	(void)state;
	read_with("llama3.1-8b");
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		read_good(files[i].format, files[i].text, &s);
		expect(&s, "master_weights", files[i].master);
		expect(&s, "optimizer", files[i].optimizer);
	}
	read_with("");
}

static char *write_as(const char *format, const struct scenario *s)
{
	struct format_request request = { .scenario = s };
	char *text = format_find_written(format)->out.write(&request);

	assert_non_null(text);
	return text;
}

/* What a target has a word for comes back, and what it has none for is said. */
static void test_there_and_back(void **state)
{
	static const struct {
		const char *format, *word, *optimizer;
		bool said; /* with a word; else left unsaid */
	} ways[] = {
		{ "megatron", "rest", "adamw", true },
		{ "megatron", "16-bit", "adamw", true },
		{ "megatron", "16-bit", "adamw-bf16", true },
		{ "megatron", "none", "adamw-bf16", false },
		{ "megatron", "rest", "sgd", false },
		{ "megatron", "fp32", "adamw-bf16", false },
		{ "bridge", "16-bit", "adamw", true },
		{ "deepspeed", "16-bit", "adamw", true },
		{ "deepspeed", "16-bit", "adamw-bf16", true },
		{ "deepspeed", "none", "adamw-bf16", false },
		{ "torchtitan", "none", "adamw-bf16", true },
		{ "torchtitan", "16-bit", "adamw", false },
	};
	struct scenario s, back;

	(void)state;
	read_with("llama3.1-8b");
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct error error = { "" };
		char *text;

		case_dense(&s);
		assert_true(scenario_blank(
			&s, "llama3.1-8b", "dgx-h100",
			strcmp(ways[i].format, "bridge") == 0     ? "megatron-core"
			: strcmp(ways[i].format, "megatron") == 0 ? "megatron-core"
								  : ways[i].format,
			&error));
		case_set(&s, "zero", "1");
		case_set(&s, "gpus", "8");
		case_set(&s, "master_weights", ways[i].word);
		case_set(&s, "optimizer", ways[i].optimizer);
		text = write_as(ways[i].format, &s);
		if ((strstr(text, "master_weights:") == NULL) != ways[i].said)
			fail_msg("%s %s:\n%s", ways[i].format, ways[i].word, text);
		if (ways[i].said) {
			read_good(strcmp(ways[i].format, "bridge") == 0
					  ? "megatron"
					  : ways[i].format,
				  text, &back);
			expect(&back, "master_weights", ways[i].word);
			expect(&back, "optimizer", ways[i].optimizer);
		}
		free(text);
	}
	read_with("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_where_a_rest_is_none),
		cmocka_unit_test(test_on_the_host),
		cmocka_unit_test(test_files_that_say_so),
		cmocka_unit_test(test_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
