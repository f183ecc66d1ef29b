/* test_published.c - habits of files as people publish them, one made-up file each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/foreign.h"
#include "presets/formats.h"
#include "presets/library.h"
#include "presets/report.h"
#include "presets/scenario_file.h"
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

/* Some layers at a time, and degrees of a file that is not opened. */
static void llama_factory_trains_otherwise(void **state)
{
#define LF "model_name_or_path: Qwen/Qwen3-8B\ndo_train: true\nfinetuning_type: full\n"
	(void)state;
	read_refused("llama-factory", LF "use_badam: true\n", "use_badam is 'true'");
	read_refused("llama-factory", LF "use_apollo: true\n",
		     "use_apollo is 'true': its states of low rank");
	read_refused("llama-factory", LF "mixture_of_depths: convert\n",
		     "layers that tokens pass by");
	read_refused("llama-factory", LF "use_galore: true\n",
		     "use_galore is 'true': its states of low rank");
	read_refused("llama-factory", LF "deepspeed: ds_z2_autotp_config.json\n",
		     "the TP degree stands in that file");
#undef LF
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

/* Of batch, micro-batch and accumulation two do not tell how many GPUs there are. */
static void a_batch_alone_is_of_any_gpus(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama3.1-8b");
	read_good("deepspeed",
		  "{\"train_batch_size\": 512, \"gradient_accumulation_steps\": 4,"
		  " \"zero_optimization\": {\"stage\": 1}}",
		  &s);
	expect(&s, "gpus", "8");
	expect(&s, "mbs", "16");
	expect(&s, "gbs", "512");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	assert_true(noted(IMPORT_ASSUMED, "mbs"));
	read_good("deepspeed",
		  "{\"train_batch_size\": 16, \"train_micro_batch_size_per_gpu\": 16,"
		  " \"zero_optimization\": {\"stage\": 1}}",
		  &s);
	expect(&s, "gpus", "1"); /* two would want 32 */
	expect(&s, "mbs", "16");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	assert_false(noted(IMPORT_ASSUMED, "mbs"));
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

/* Files of flags in a variable, which launchers source. */
static void texts_of_flags_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "TOKENIZER_MODEL=Qwen/Qwen2.5-7B\n"
		  "MODEL_ARGS=\" \\\n  --num-layers 36 \\\n  --hidden-size 2048 \\\n"
		  "  --num-attention-heads 16 \\\n  --micro-batch-size 2 \\\n"
		  "  --seq-length 4096 \\\n\"\n",
		  &s);
	assert_int_equal(s.model.layers, 36);
	assert_int_equal(s.model.hidden, 2048);
	assert_int_equal(s.model.vocab, 152064);
	expect(&s, "mbs", "2");
	expect(&s, "seq", "4096");
	expect(&s, "precision", "bf16");
	assert_true(noted(IMPORT_ASSUMED, "precision"));
	assert_true(noted(IMPORT_ASSUMED, "elsewhere"));
	read_refused("megatron", "TITLE=\"a text\"\nFLAGS=\"--verbose\"\n", "file:");
}

/* What trains nothing is said to be read as if it did. */
static void evaluations_are_told(void **state)
{
	struct scenario s;
#define SHAPE                                                          \
	"--num-layers 24 --hidden-size 1024 --num-attention-heads 16 " \
	"--micro-batch-size 8 --seq-length 1024 --fp16 "

	(void)state;
	read_good("megatron", "torchrun finetune_x.py " SHAPE "--inference\n", &s);
	assert_true(noted(IMPORT_ASSUMED, "mode"));
	read_good("megatron", "torchrun tasks/main.py " SHAPE "--task WIKITEXT103\n",
		  &s);
	assert_true(noted(IMPORT_ASSUMED, "mode"));
	read_good("megatron",
		  "torchrun tools/create_doc_index.py " SHAPE
		  "--indexer-batch-size 128\n",
		  &s);
	assert_true(noted(IMPORT_ASSUMED, "mode"));
	read_good("megatron", "torchrun pretrain_gpt.py " SHAPE "\n", &s);
	assert_false(noted(IMPORT_ASSUMED, "mode"));
#undef SHAPE
}

/* Networks that flags do not tell make the model approximate. */
static void other_networks_are_told(void **state)
{
	static const struct {
		const char *program, *more, *says;
	} cases[] = {
		{ "train.py", "--model-provider llava_vlm", "vision part" },
		{ "pretrain_llama.py", "--ffn-hidden-size 11008", "gated MLP" },
		{ "pretrain_gpt.py", "--kd --num-layers-teacher 48", "teacher" },
	};
	struct scenario s;
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(text, sizeof text,
			 "torchrun %s --num-layers 24 --hidden-size 1024 "
			 "--num-attention-heads 16 --micro-batch-size 8 "
			 "--seq-length 1024 --bf16 %s\n",
			 cases[i].program, cases[i].more);
		read_good("megatron", text, &s);
		assert_non_null(strstr(s.model.approximate, cases[i].says));
	}
	read_good("megatron",
		  "torchrun pretrain_llama.py --num-layers 24 --hidden-size 1024 "
		  "--num-attention-heads 16 --micro-batch-size 8 --seq-length 1024 "
		  "--bf16 --swiglu\n",
		  &s);
	assert_string_equal(s.model.approximate, "");
}

/* NeMo 2's own recipes: what the parameters have without a caller. */
static void recipes_of_nemo_2_are_read(void **state)
{
	struct scenario s;
#define HEAD                                        \
	"from nemo.collections import llm\n"        \
	"NAME = \"llama3_8b_16k\"\n\n"              \
	"def trainer(\n"                            \
	"    tensor_parallelism: int = 4,\n"        \
	"    pipeline_parallelism: int = 2,\n"      \
	"    context_parallelism: int = 2,\n"       \
	"    sequence_parallelism: bool = False,\n" \
	"    num_nodes: int = 1,\n"                 \
	"    num_gpus_per_node: int = 8,\n"         \
	") -> run.Config[nl.Trainer]:\n"            \
	"    return run.Config(nl.Trainer)\n\n"
#define RECIPE(body)                                                    \
	"def pretrain_recipe(num_nodes: int = 4, name: str = \"x\"):\n" \
	"    recipe = run.Partial(\n        fn,\n" body "    )\n"       \
	"    return recipe\n\n"                                         \
	"def finetune_recipe(seq_length: int = 77):\n    pass\n"

	(void)state;
	read_good(
		"megatron",
		HEAD RECIPE("        trainer=trainer(num_nodes=num_nodes, "
			    "tensor_parallelism=2),\n"
			    "        data=run.Config(MockDataModule, seq_length=16384,"
			    " global_batch_size=512, micro_batch_size=1),\n"),
		&s);
	assert_string_equal(s.model.name, "llama3-8b");
	expect(&s, "tp", "2"); /* told; the others are the trainer's own */
	expect(&s, "pp", "2");
	expect(&s, "cp", "2");
	expect(&s, "gpus", "32");
	expect(&s, "seq", "16384");
	expect(&s, "gbs", "512");
	expect(&s, "sp", "off");
	expect(&s, "precision", "bf16");
	expect(&s, "zero", "1");
	read_refused("megatron",
		     HEAD RECIPE("        trainer=other_trainer(num_nodes=1),\n"
				 "        data=run.Config(MockDataModule, "
				 "seq_length=16, global_batch_size=5, "
				 "micro_batch_size=1),\n"),
		     "its degrees are those of other_trainer");
	read_refused("megatron",
		     HEAD RECIPE("        trainer=trainer(num_nodes=1),\n"
				 "        data=run.Config(MockDataModule),\n"),
		     "does not say its batch and length");
	read_refused(
		"megatron",
		"from nemo.collections import llm\ndef finetune_recipe(n: int = 1):\n"
		"    return cfg\n",
		"pretrain_recipe() is read");
#undef HEAD
#undef RECIPE
}

/* A script that starts from one and sets no degree has those of the recipe, which does
 * not stand in it; one of two is neither. */
static void recipes_that_stand_elsewhere_are_refused(void **state)
{
	(void)state;
	read_refused("megatron",
		     "import nemo_run as run\n"
		     "r = llama3_70b.pretrain_recipe(num_nodes=1)\n",
		     "its degrees and batch stand in NeMo's llama3_70b.py");
	read_refused("megatron",
		     "import nemo_run as run\n"
		     "a = llama3_8b.pretrain_recipe(num_nodes=1)\n"
		     "b = llama3_70b.pretrain_recipe(num_nodes=1)\n",
		     "from llama3_8b and from llama3_70b");
}

/* Recipes of Megatron-Bridge whose precision a function makes. */
static void precision_by_a_call_is_read(void **state)
{
	struct scenario s;
#define BRIDGE(precision)                                                    \
	"from megatron.bridge.training.config import ConfigContainer\n"      \
	"def qwen3_8b_pretrain_16gpu_h100_config() -> ConfigContainer:\n"    \
	"    cfg = _pretrain_common()\n"                                     \
	"    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\")\n" \
	"    cfg.mixed_precision = " precision "\n"                          \
	"    cfg.model.tensor_model_parallel_size = 2\n"                     \
	"    cfg.train.global_batch_size = 64\n"                             \
	"    cfg.model.seq_length = 4096\n    return cfg\n"

	(void)state;
	read_good("megatron", BRIDGE("_perf_precision(\"fp8_cs\")"), &s);
	expect(&s, "precision", "fp8");
	expect(&s, "fp8_recipe", "current-scaling");
	read_good("megatron", BRIDGE("bf16_with_mxfp8_mixed()"), &s);
	expect(&s, "precision", "mxfp8");
	read_good("megatron", BRIDGE("_my_nvfp4_precision()"), &s);
	expect(&s, "precision", "nvfp4");
	read_good("megatron", BRIDGE("MixedPrecisionConfig(bf16=True)"), &s);
	expect(&s, "precision", "bf16");
	read_refused("megatron", BRIDGE("_whatever()"), "_whatever() makes");
#undef BRIDGE
}

/* A base of another file, degrees of a caller, and variables by other names. */
static void recipes_of_bridge_stand_alone(void **state)
{
	struct scenario s;
#define BRIDGE                                                          \
	"from megatron.bridge.training.config import ConfigContainer\n" \
	"def qwen3_8b_config() -> ConfigContainer:\n"

	(void)state;
	read_refused("megatron",
		     BRIDGE "    cfg = qwen3_8b_base_config()\n"
			    "    cfg.model.tensor_model_parallel_size = 2\n",
		     "qwen3_8b_base_config(), which stands in another file");
	read_good("megatron",
		  BRIDGE "    cfg = qwen3_8b_base_config()\n"
			 "    cfg.model.seq_length = 4096\n"
			 "    cfg.train.global_batch_size = 64\n",
		  &s);
	assert_true(noted(IMPORT_ASSUMED, "elsewhere"));
	expect(&s, "precision", "bf16");
	expect(&s, "zero", "1");
	read_refused("megatron",
		     BRIDGE "    cfg = ConfigContainer()\n"
			    "    cfg.train.train_iters = 5\n"
			    "    p.tensor_model_parallel_size = args.tp_size\n",
		     "p.tensor_model_parallel_size comes from args.tp_size");
	read_good("megatron",
		  BRIDGE "    cfg = _pretrain_common()\n"
			 "    cfg.train.train_iters = 5\n"
			 "    provider.tensor_model_parallel_size = 4\n",
		  &s);
	expect(&s, "tp", "4");
#undef BRIDGE
	read_refused("megatron",
		     "model:\n  tensor_model_parallel_size: 1\n"
		     "  crossattn_emb_size: 5120\n  hidden_size: 5120\n"
		     "  num_layers: 40\n  num_attention_heads: 40\n",
		     "of a diffusion transformer");
}

/* The destination of --fp4-format, as Primus says it; NeMo's name of an optimizer. */
static void other_words_are_read(void **state)
{
	struct scenario s;
#define PRIMUS                                                                     \
	"modules:\n  pre_trainer:\n    framework: megatron\n"                      \
	"    config: pre_trainer.yaml\n    model: llama3.1_8B.yaml\n"              \
	"    overrides:\n      micro_batch_size: 2\n      global_batch_size: 32\n" \
	"      seq_length: 8192\n"

	(void)state;
	read_good("megatron", PRIMUS "      fp4: e2m1\n      fp4_recipe: mxfp4\n", &s);
	expect(&s, "precision", "mxfp4");
	read_good("megatron", PRIMUS "      fp4: e2m1\n", &s);
	expect(&s, "precision", "nvfp4");
#undef PRIMUS
	read_good("megatron",
		  "trainer:\n  devices: 8\n  num_nodes: 1\n  precision: bf16\n"
		  "model:\n  micro_batch_size: 1\n  global_batch_size: 8\n"
		  "  tensor_model_parallel_size: 1\n  encoder_seq_length: 2048\n"
		  "  num_layers: 12\n  hidden_size: 768\n  num_attention_heads: 12\n"
		  "  megatron_amp_O2: true\n"
		  "  optim:\n    name: mcore_distributed_optim\n",
		  &s);
	expect(&s, "zero", "1");
}

/* A manifest for GKE asks for nodes of chips in a torus. */
static void nodes_of_a_manifest_are_read(void **state)
{
#define JOB(label, torus)                                                          \
	"kind: JobSet\nspec:\n  nodeSelector:\n"                                   \
	"    cloud.google.com/gke-tpu-accelerator: tpu7x\n"                        \
	"    cloud.google.com/" label ": " torus "\n"                              \
	"  command:\n  - python3 -m MaxText.train MaxText/configs/base.yml "       \
	"model_name=llama3.1-70b per_device_batch_size=2 ici_fsdp_parallelism=-1 " \
	"max_target_length=8192\n"
	static const char *const jobs[] = { JOB("gke-tpu-topology", "4x8x8"),
					    JOB("gke-tpu-slice-topology", "4x8x8") };

	(void)state;
	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
		struct scenario s;

		read_good("maxtext", jobs[i], &s);
		assert_string_equal(s.cluster.name, "tpu-v7x");
		expect(&s, "gpus", "256");
		expect(&s, "gbs", "1024"); /* two devices a chip */
	}
#undef JOB
}

/* What stands around the text's part of a model that sees. */
static void vocabulary_around_a_text_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("hf",
		  "{\"model_type\": \"exaone4_5\", \"vocab_size\": 153600,"
		  " \"tie_word_embeddings\": false, \"text_config\": {"
		  "\"model_type\": \"exaone4_5_text\", \"hidden_size\": 5120,"
		  " \"intermediate_size\": 27392, \"num_hidden_layers\": 64,"
		  " \"num_attention_heads\": 40, \"num_key_value_heads\": 8,"
		  " \"sliding_window\": 4096, \"sliding_window_pattern\": \"LLLG\"}}",
		  &s);
	assert_int_equal(s.model.vocab, 153600);
	assert_false(s.model.tied_embeddings);
	assert_int_equal(s.model.kind[s.model.layer[2]].attention.window, 4096);
	assert_int_equal(s.model.kind[s.model.layer[3]].attention.window, 0);
	read_good("hf",
		  "{\"model_type\": \"exaone\", \"hidden_size\": 4096,"
		  " \"intermediate_size\": 14336, \"num_layers\": 32,"
		  " \"num_attention_heads\": 32, \"num_key_value_heads\": 8,"
		  " \"vocab_size\": 102400, \"activation_function\": \"silu\"}",
		  &s);
	assert_string_equal(s.model.approximate, "");
}

/* A model of the same shape may know more positions; where they are weights, they are
 * the same. */
static void reach_is_of_the_very_model(void **state)
{
	static const struct {
		const char *name;
		int64_t reach;
	} cases[] = {
		{ "Qwen/Qwen3-8B", 40960 },
		{ "Qwen/Qwen3-VL-8B-Instruct", 0 },
		{ "Qwen/Qwen3-4B-Instruct-2507", 0 },
		{ "Qwen/Qwen2.5-7B-Instruct", 131072 },
		{ "Qwen/Qwen2.5-7B-Instruct-1M", 0 },
		{ "zai-org/GLM-4.7", 0 },
		{ "microsoft/DialoGPT-large", 1024 },
	};
	struct scenario s;
	struct model model;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(library_model(&model, cases[i].name, NULL));
		assert_int_equal(model.max_positions, cases[i].reach);
		snprintf(text, sizeof text, "vllm serve %s\n", cases[i].name);
		read_good("vllm", text, &s);
		assert_int_equal(s.model.max_positions, cases[i].reach);
	}
}

/* Pools of unequal engines have no one number of replicas. */
static void replicas_of_unequal_pools_are_null(void **state)
{
	static const char text[] =
		"model: deepseek-v3\ncluster: dgx-h200\nstack: vllm\n"
		"mode: inference\ngpus: 24\ntp: 16\nep: 16\ndisaggregated: on\n"
		"prefill_gpus: 8\nprefill_tp: 8\nprefill_ep: 8\n";
	struct scenario s, again;
	char *printed;

	(void)state;
	assert_true(scenario_parse(&s, "file", text, sizeof text - 1, NULL, NULL));
	printed = report_print(report_scenario(&s), true);
	assert_non_null(strstr(printed, "\"dp\":null"));
	/* and what we print, we open */
	assert_true(
		scenario_parse(&again, "file", printed, strlen(printed), NULL, NULL));
	assert_int_equal(again.plan.tp, 16);
	free(printed);
}

/* The whole answer of eval, or of a search, as a script saved it. */
static void answers_are_opened(void **state)
{
	static const char text[] = "model: llama3.1-8b\ncluster: dgx-h100\n"
				   "stack: fsdp\ngpus: 16\ntp: 2\n";
	static const char *const before[] = { "{\"scenario\":",
					      "{\"best\":{\"scenario\":" };
	static const char *const behind[] = { ",\"feasible\":true}",
					      ",\"trust\":\"open\"},\"top\":[]}" };
	struct scenario s, again;
	char *printed;

	(void)state;
	assert_true(scenario_parse(&s, "file", text, sizeof text - 1, NULL, NULL));
	printed = report_print(report_scenario(&s), true);
	for (size_t i = 0; i < 2; i++) {
		static char whole[64 << 10];

		snprintf(whole, sizeof whole, "%s%s%s", before[i], printed, behind[i]);
		assert_false(text_is_foreign(whole));
		assert_true(scenario_parse(&again, "file", whole, strlen(whole), NULL,
					   NULL));
		assert_string_equal(again.stack.name, "fsdp");
		assert_int_equal(again.cluster.gpus, 16);
	}
	/* a search that found nothing has none */
	assert_false(scenario_parse(&again, "file", "{\"best\":null}", 13, NULL, NULL));
	free(printed);
}

/* Experts that a CPU computes cost otherwise. */
static void experts_on_the_host_are_refused(void **state)
{
	(void)state;
	read_refused("sglang",
		     "python -m sglang.launch_server --model Qwen/Qwen3-30B-A3B "
		     "--kt-weight-path cpu --kt-num-gpu-experts 8\n",
		     "keeps experts in host memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ray_counts_gpus),
		cmocka_unit_test(pairs_of_answers_are_refused),
		cmocka_unit_test(llama_factory_trains_otherwise),
		cmocka_unit_test(axolotl_trains_otherwise),
		cmocka_unit_test(automatic_precision_is_assumed),
		cmocka_unit_test(a_batch_alone_is_of_any_gpus),
		cmocka_unit_test(older_torchtitan_is_read),
		cmocka_unit_test(texts_of_flags_are_read),
		cmocka_unit_test(evaluations_are_told),
		cmocka_unit_test(other_networks_are_told),
		cmocka_unit_test(recipes_of_nemo_2_are_read),
		cmocka_unit_test(recipes_that_stand_elsewhere_are_refused),
		cmocka_unit_test(precision_by_a_call_is_read),
		cmocka_unit_test(recipes_of_bridge_stand_alone),
		cmocka_unit_test(other_words_are_read),
		cmocka_unit_test(nodes_of_a_manifest_are_read),
		cmocka_unit_test(vocabulary_around_a_text_is_read),
		cmocka_unit_test(reach_is_of_the_very_model),
		cmocka_unit_test(replicas_of_unequal_pools_are_null),
		cmocka_unit_test(answers_are_opened),
		cmocka_unit_test(experts_on_the_host_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
