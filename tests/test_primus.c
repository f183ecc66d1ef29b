/* test_primus.c - experiment files of Primus for its torchtitan and MaxText backends;
 * keys as in examples/ of AMD-AGI/Primus@fd1eeabb. */
#include <stdio.h>
#include <string.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

#define TRAINER(framework, model, overrides)                         \
	"work_group: ${PRIMUS_TEAM:amd}\nmodules:\n  pre_trainer:\n" \
	"    framework: " framework                                  \
	"\n    config: pre_trainer.yaml\n    model: " model          \
	".yaml\n    overrides:\n" overrides
#define TITAN(model, overrides)   TRAINER("torchtitan", model, overrides)
#define MAXTEXT(model, overrides) TRAINER("maxtext", model, overrides)
#define BATCH                                                            \
	"      training:\n        local_batch_size: ${PRIMUS_BATCH:6}\n" \
	"        seq_len: 4096\n"

/* The model is its file's, and what Primus sets otherwise than torchtitan is as there.
 */
static void torchtitan_is_overridden(void **state)
{
	struct scenario s;

	(void)state;
	read_good("torchtitan",
		  TITAN("llama3.1_8B",
			BATCH "        global_batch_size: 96\n"
			      "      parallelism:\n        tensor_parallel_degree: 2\n"
			      "        data_parallel_shard_degree: -1\n"),
		  &s);
	assert_string_equal(s.model.name, "llama3.1-8b");
	assert_string_equal(s.stack.name, "torchtitan");
	expect(&s, "tp", "2");
	expect(&s, "mbs", "6");
	expect(&s, "gbs", "96");
	expect(&s, "seq", "4096");
	expect(&s, "zero", "3");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "none");
	expect(&s, "compile", "on");
	assert_true(noted(IMPORT_ASSUMED, "activation_checkpoint.mode"));
	read_good("torchtitan",
		  TITAN("llama3.1_405B-fp8",
			BATCH "      activation_checkpoint: {mode: full}\n"
			      "      compile: {enable: false}\n"
			      "      primus_turbo: {enable_attention_float8: true}\n"),
		  &s);
	assert_string_equal(s.model.name, "llama3.1-405b");
	expect(&s, "precision", "fp8");
	expect(&s, "recompute", "full");
	expect(&s, "compile", "off");
	expect(&s, "fp8_attention", "on");
	assert_false(noted(IMPORT_ASSUMED, "compile.enable"));
}

/* torchtitan's own flavors, which are other models' sizes. */
static void flavors_are_models(void **state)
{
	static const char *const models[][2] = {
		{ TITAN("deepseek_v3_16b", BATCH), "deepseek-v2-lite" },
		{ TITAN("deepseek_v3_236b-fp8", BATCH), "deepseek-v2" },
		{ TITAN("deepseek_v3_671b", BATCH), "deepseek-v3" },
		{ TITAN("gpt_oss_20b", BATCH), "gpt-oss-20b" },
		{ TITAN("llama4_17Bx128E", BATCH), "llama4-maverick" },
		{ TITAN("qwen3_1.7b", BATCH), "qwen3-1.7b" },
		{ TITAN("llama3_70B", BATCH), "llama3-70b" },
		{ MAXTEXT("deepseek_v2_16B", "      max_target_length: 4096\n"),
		  "deepseek-v2-lite" },
		{ MAXTEXT("gemma4_31B", "      max_target_length: 4096\n"),
		  "gemma4-31b" },
		{ MAXTEXT("mixtral_8x22B", "      max_target_length: 4096\n"),
		  "mixtral-8x22b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
		struct scenario s;

		read_good(strstr(models[i][0], "maxtext") ? "maxtext" : "torchtitan",
			  models[i][0], &s);
		assert_string_equal(s.model.name, models[i][1]);
	}
	read_refused("torchtitan", TITAN("ours_of_9B", BATCH),
		     "file:6: no model 'ours_of_9B'");
	read_refused("maxtext", MAXTEXT("ours_of_9B", "      steps: 3\n"),
		     "file:6: no model 'ours_of_9B'");
}

/* Fewer layers are read, another width is none of the library's. */
static void networks_are_cut(void **state)
{
	struct scenario s;

	(void)state;
	read_good("torchtitan",
		  TITAN("llama3.1_405B", BATCH "      model: {n_layers: 4}\n"), &s);
	assert_int_equal(s.model.layers, 4);
	assert_int_equal(s.model.hidden, 16384);
	read_refused("torchtitan",
		     TITAN("llama3.1_8B", BATCH "      model: {n_layers: 64}\n"),
		     "model.n_layers is 64, and 32 in llama3.1-8b");
	read_refused("torchtitan",
		     TITAN("llama3.1_8B", BATCH "      model: {dim: 64}\n"),
		     "model.dim changes the network of llama3.1-8b");
}

/* Linear layers and experts run in 8 bits by two switches. */
static void experts_have_a_precision(void **state)
{
	struct scenario s;

	(void)state;
	read_good("torchtitan",
		  TITAN("deepseek_v3_16b-fp8",
			BATCH "      primus_turbo: {use_turbo_grouped_mm: true}\n"),
		  &s);
	expect(&s, "precision", "fp8");
	assert_int_equal(import_count(&report, IMPORT_APPROXIMATE), 0);
	read_good("torchtitan",
		  TITAN("llama4_17Bx16E",
			BATCH "      primus_turbo: {use_turbo_grouped_mm: true}\n"),
		  &s);
	expect(&s, "precision", "bf16");
	assert_true(noted(IMPORT_APPROXIMATE, "model.converters"));
	read_good("torchtitan",
		  TITAN("gpt_oss_20b-fp8",
			BATCH "      primus_turbo: {use_moe_fp8: false}\n"),
		  &s);
	assert_true(noted(IMPORT_APPROXIMATE, "primus_turbo.use_moe_fp8"));
}

/* What is left of a node is an axis' -1; experts' axis shards the dense weights too. */
static void maxtext_is_overridden(void **state)
{
	struct scenario s;

	(void)state;
	read_good("maxtext",
		  MAXTEXT("qwen3_30B_A3B", "      dcn_data_parallelism: -1\n"
					   "      dcn_fsdp_parallelism: 1\n"
					   "      ici_fsdp_parallelism: 1\n"
					   "      ici_data_parallelism: 1\n"
					   "      ici_expert_parallelism: -1\n"
					   "      remat_policy: \"minimal_flash\"\n"
					   "      max_target_length: 4096\n"
					   "      per_device_batch_size: 4\n"
					   "      quantization: \"nanoo_fp8\"\n"),
		  &s);
	assert_string_equal(s.model.name, "qwen3-30b-a3b");
	assert_string_equal(s.stack.name, "jax-xla");
	expect(&s, "gpus", "8");
	expect(&s, "ep", "8");
	expect(&s, "zero", "3");
	expect(&s, "mbs", "4");
	expect(&s, "gbs", "32");
	expect(&s, "precision", "fp8");
	expect(&s, "recompute", "selective");
	assert_true(noted(IMPORT_ASSUMED, "ici_expert_parallelism"));
	/* weights that rest in bf16 are what is stepped */
	expect(&s, "master_weights", "none");
	expect(&s, "optimizer", "adamw-bf16");
	read_good("maxtext",
		  MAXTEXT("llama2_70B", "      dcn_data_parallelism: -1\n"
					"      ici_fsdp_parallelism: 4\n"
					"      ici_tensor_sequence_parallelism: -1\n"
					"      per_device_batch_size: 2\n"),
		  &s);
	expect(&s, "tp", "2");
	expect(&s, "zero", "3");
	expect(&s, "gpus", "8");
	expect(&s, "recompute", "full");
	/* replicas alone shard nothing */
	read_good("maxtext",
		  MAXTEXT("llama2_7B", "      dcn_data_parallelism: -1\n"
				       "      ici_fsdp_parallelism: 1\n"),
		  &s);
	expect(&s, "zero", "0");
	read_refused("maxtext",
		     MAXTEXT("llama2_7B", "      dcn_expert_parallelism: -1\n"),
		     "file:8: dcn_expert_parallelism is -1");
}

/* grok1 is a shape of its own there. */
static void a_shape_stands_in_the_file_of_the_model(void **state)
{
	struct model_counts counts;
	struct scenario s;

	(void)state;
	read_good("maxtext", MAXTEXT("grok1", "      max_target_length: 8192\n"), &s);
	model_count(&s.model, &counts);
	assert_close(counts.total / 1e9, 316.5, 0.002);
	assert_int_equal(s.model.moe.experts, 8);
}

/* What would be another file's answer is none. */
static void other_settings_are_refused(void **state)
{
	(void)state;
	read_refused("torchtitan",
		     "modules:\n  t:\n    framework: torchtitan\n"
		     "    config: sft_trainer.yaml\n    model: llama3.1_8B.yaml\n"
		     "    overrides:\n" BATCH,
		     "file:4: its settings start from sft_trainer.yaml");
	read_refused("megatron", TITAN("llama3.1_8B", BATCH),
		     "import it as torchtitan");
	read_refused("megatron", TRAINER("hummingbirdxt", "wan", BATCH),
		     "Primus runs 'hummingbirdxt'");
	read_refused("torchtitan",
		     "modules:\n  t:\n    framework: torchtitan\n    overrides: 3\n",
		     "expected framework: NAME and overrides: with keys");
	read_refused("torchtitan",
		     "framework: torchtitan\noverrides:\n  training: {seq_len: 8}\n",
		     "expected modules: with a trainer");
	/* nobody names a model */
	read_refused(
		"torchtitan",
		"modules:\n  t:\n    framework: torchtitan\n    overrides:\n" BATCH,
		"names no model");
}

/* The machine is the folder's, for every backend, and is not assumed then. */
static void the_path_names_the_machine(void **state)
{
	static const char *const texts[][3] = {
		{ "torchtitan", TITAN("llama3.1_8B", BATCH), "/configs/MI355X/a.yaml" },
		{ "maxtext", MAXTEXT("llama3_8B", "      steps: 3\n"),
		  "/configs/MI355X/a.yaml" },
		{ "megatron",
		  TRAINER("megatron", "llama3.1_8B", "      micro_batch_size: 2\n"),
		  "x--MI355X--a.yaml" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const struct format *format = format_find(texts[i][0]);
		char text[2048];
		struct scenario s;
		struct error error;

		memset(&report, 0, sizeof report);
		snprintf(text, sizeof text, "%s", texts[i][1]);
		assert_true(format->in.read(&s, texts[i][2], text, strlen(text),
					    &report, &error));
		assert_string_equal(s.cluster.name, "mi355x");
		assert_false(noted(IMPORT_ASSUMED, "cluster"));
		read_good(texts[i][0], texts[i][1], &s);
		assert_string_equal(s.cluster.name, "mi300x");
		assert_true(noted(IMPORT_ASSUMED, "cluster"));
	}
}

/* What --set says stands over the word of the file. */
static void variables_are_given(void **state)
{
	static const struct script_given given = { .sets = 1,
						   .set = { "PRIMUS_BATCH=3" } };
	struct scenario s;

	(void)state;
	read_given(&given);
	read_good("torchtitan", TITAN("llama3.1_8B", BATCH), &s);
	read_given(NULL);
	expect(&s, "mbs", "3");
}

/* A file with helpers alone says so. */
static void helpers_are_no_configuration(void **state)
{
	(void)state;
	read_refused("torchtitan",
		     "import torchtitan\n\ndef helper(config):\n"
		     "    config.training.seq_len = 8\n    return Trainer.Config()\n\n"
		     "def other(config):\n    config.training.seq_len = 8\n"
		     "    return Trainer.Config()\n",
		     "no configuration stands in it");
}

/* Of what is stated alone the rest is torchtitan's default: 8 sequences, later 16384
 * tokens of a context of 2048. */
static void batches_have_defaults(void **state)
{
	struct scenario s;

	(void)state;
	read_good("torchtitan",
		  "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
		  "seq_len = 4096\n[parallelism]\ntensor_parallel_degree = 1\n",
		  &s);
	expect(&s, "mbs", "8");
	assert_true(noted(IMPORT_ASSUMED, "local_batch_size"));
	read_good("torchtitan",
		  "def llama3_8b() -> Trainer.Config:\n    return Trainer.Config(\n"
		  "        model_spec=model_registry(\"8B\"),\n"
		  "        training=TrainingConfig(max_context_length=8192),\n    )\n",
		  &s);
	expect(&s, "seq", "8192");
	expect(&s, "mbs", "2");
	read_good("torchtitan",
		  "def llama3_8b() -> Trainer.Config:\n    return Trainer.Config(\n"
		  "        model_spec=model_registry(\"8B\"),\n"
		  "        training=TrainingConfig(\n"
		  "            num_tokens_per_microbatch_per_dp_rank=4096),\n    )\n",
		  &s);
	expect(&s, "seq", "2048");
	expect(&s, "mbs", "2");
}

/* Depths of the prediction beyond the next token that an experiment leaves off. */
static void depths_are_left_off(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  TRAINER("megatron", "deepseek_v3",
			  "      mtp_num_layers: 0\n      micro_batch_size: 1\n"
			  "      global_batch_size: 64\n      seq_length: 4096\n"),
		  &s);
	assert_string_equal(s.model.name, "deepseek-v3");
	assert_int_equal(s.model.mtp_layers, 0);
	read_good("megatron",
		  TRAINER("megatron", "deepseek_v3",
			  "      micro_batch_size: 1\n      global_batch_size: 64\n"
			  "      seq_length: 4096\n"),
		  &s);
	assert_int_equal(s.model.mtp_layers, 1);
}

/* A switch of the shape that is off here makes another network than the model's. */
static void switches_are_off(void **state)
{
	(void)state;
	read_refused("megatron",
		     TRAINER("megatron", "deepseek_v2_lite",
			     "      micro_batch_size: 1\n      global_batch_size: 64\n"
			     "      seq_length: 4096\n"
			     "      multi_latent_attention: false\n"),
		     "multi_latent_attention is false, and on in deepseek-v2-lite");
	read_refused("megatron",
		     TRAINER("megatron", "llama3.1_8B",
			     "      micro_batch_size: 1\n      global_batch_size: 64\n"
			     "      seq_length: 4096\n      swiglu: false\n"),
		     "swiglu is false, and on in llama3.1-8b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depths_are_left_off),
		cmocka_unit_test(switches_are_off),
		cmocka_unit_test(torchtitan_is_overridden),
		cmocka_unit_test(flavors_are_models),
		cmocka_unit_test(networks_are_cut),
		cmocka_unit_test(experts_have_a_precision),
		cmocka_unit_test(maxtext_is_overridden),
		cmocka_unit_test(a_shape_stands_in_the_file_of_the_model),
		cmocka_unit_test(other_settings_are_refused),
		cmocka_unit_test(the_path_names_the_machine),
		cmocka_unit_test(variables_are_given),
		cmocka_unit_test(batches_have_defaults),
		cmocka_unit_test(helpers_are_no_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
