/* test_published.c - habits of files as people publish them, one made-up file each. */
#include <string.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

/* How many GPUs a file counts is not assumed. */
static void ray_counts_gpus(void **state)
{
	struct scenario s;

	(void)state;
	read_good("llama-factory",
		  "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\n"
		  "do_train: true\nray_num_workers: 4\n"
		  "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n",
		  &s);
	expect(&s, "gpus", "4");
	expect(&s, "gbs", "32");
	assert_false(noted(IMPORT_ASSUMED, "gpus"));
	assert_false(noted(IMPORT_ASSUMED, "gbs"));
}

/* Newer files of LLaMA-Factory leave the task to the command; what they say of pairs
 * is not the loss of the next token. */
static void pairs_of_answers_are_refused(void **state)
{
	struct scenario s;
#define NEW                                        \
	"model: Qwen/Qwen3-4B\nmodel_class: llm\n" \
	"peft_config:\n  name: lora\n  r: 16\ncutoff_len: 64\n"

	(void)state;
	read_good("llama-factory", NEW "train_dataset: data/mine.yaml\n", &s);
	assert_true(noted(IMPORT_ASSUMED, "task"));
	read_refused("llama-factory", NEW "train_dataset: data/mine_dpo.yaml\n",
		     "stage is 'dpo'");
	read_refused("llama-factory", NEW "train_dataset: a.yaml\npref_beta: 0.1\n",
		     "stage is 'dpo'");
#undef NEW
}

static void axolotl_trains_otherwise(void **state)
{
	struct scenario s;
#define AX "base_model: Qwen/Qwen3-8B\nsequence_len: 512\n"

	(void)state;
	read_refused("axolotl", AX "lisa_n_layers: 4\n",
		     "file:3: lisa_n_layers is '4'");
	read_refused("axolotl", AX "hatchery:\n  backend: tinker\n  lora_rank: 16\n",
		     "file:4: hatchery.backend is 'tinker'");
	read_refused("axolotl", AX "unfrozen_parameters:\n  - ^lm_head\n",
		     "leaves the other parameters alone");
	read_refused("axolotl", AX "reward_model: true\n", "compares pairs");
	read_good("axolotl", AX "lisa_n_layers:\nrl:\nreward_model: false\n", &s);
}

/* What the trainer fills in is not fp32 without a word. */
static void automatic_precision_is_assumed(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama3.1-8b");
	read_good("deepspeed",
		  "{\"fp16\": {\"enabled\": \"auto\"}, \"bf16\": {\"enabled\": "
		  "\"auto\"}, \"zero_optimization\": {\"stage\": 2}}",
		  &s);
	expect(&s, "precision", "bf16");
	assert_true(noted(IMPORT_ASSUMED, "precision"));
	read_good("deepspeed",
		  "{\"fp16\": {\"enabled\": \"auto\"},"
		  " \"zero_optimization\": {\"stage\": 2}}",
		  &s);
	expect(&s, "precision", "fp16");
	read_good("deepspeed", "{\"zero_optimization\": {\"stage\": 2}}", &s);
	expect(&s, "precision", "fp32"); /* DeepSpeed's default */
	assert_false(noted(IMPORT_ASSUMED, "precision"));
	read_with("");
}

/* Degrees stood under [training] and [experimental], 8 bits was a switch. */
static void older_torchtitan_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("torchtitan",
		  "[model]\nname = \"llama3\"\nflavor = \"70B\"\n"
		  "[training]\nbatch_size = 8\nseq_len = 8192\n"
		  "data_parallel_shard_degree = 4\ntensor_parallel_degree = 8\n"
		  "[experimental]\npipeline_parallel_degree = 2\n"
		  "pipeline_parallel_schedule = \"interleaved_1f1b\"\n"
		  "enable_async_tensor_parallel = true\n"
		  "[float8]\nenable_float8_linear = true\n",
		  &s);
	expect(&s, "tp", "8");
	expect(&s, "pp", "2");
	expect(&s, "gpus", "64");
	expect(&s, "schedule", "interleaved");
	expect(&s, "async_tp", "on");
	expect(&s, "precision", "fp8");
	read_good("torchtitan",
		  "[model]\nname = \"llama3\"\nflavor = \"8B\"\n"
		  "[training]\nseq_len = 8192\ntensor_parallel_degree = 2\n"
		  "[float8]\nenable_float8_linear = false\n",
		  &s);
	expect(&s, "precision", "bf16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ray_counts_gpus),
		cmocka_unit_test(pairs_of_answers_are_refused),
		cmocka_unit_test(axolotl_trains_otherwise),
		cmocka_unit_test(automatic_precision_is_assumed),
		cmocka_unit_test(older_torchtitan_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
