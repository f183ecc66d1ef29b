/* test_file_forms.c - forms that files of other tools have and their own examples have
 * not: nanotron's other classes, defaults of nothing, variables of a launcher. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/run.h"

#define NANOTRON(shape)                                        \
	"model:\n  dtype: bfloat16\n  model_config:\n" shape   \
	"    hidden_size: 4608\n    num_attention_heads: 36\n" \
	"    num_hidden_layers: 32\n    vocab_size: 49152\n"   \
	"parallelism:\n  dp: 4\n  pp: 1\n  tp: 4\n"            \
	"tokens:\n  micro_batch_size: 1\n  sequence_length: 16384\n"

/* StarCoder2-7B: no gate, KV heads under another name, a window on most layers. */
static void test_nanotron_classes(void **state)
{
	struct model_counts counts;
	struct scenario s;

	(void)state;
	read_good("nanotron",
		  NANOTRON("    is_starcoder2_config: true\n    grouped_query: true\n"
			   "    num_kv_heads: 4\n    sliding_window_size: 4096\n"
			   "    global_attn_layers: [0, 3]\n"
			   "    activation_function: gelu_pytorch_tanh\n"),
		  &s);
	model_count(&s.model, &counts);
	assert_close(counts.total / 1e9, 7.17, 0.002);
	assert_false(s.model.gated_mlp);
	assert_int_equal(s.model.norm, NORM_LAYER);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 4);
	assert_int_equal(s.model.kind[s.model.layer[3]].attention.window, 0);
	assert_int_equal(s.model.kind[s.model.layer[1]].attention.window, 4096);
	read_good("nanotron",
		  NANOTRON("    is_starcoder2_config: true\n    multi_query: true\n"),
		  &s);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 1);
	read_good("nanotron", NANOTRON("    is_qwen2_config: true\n"), &s);
	assert_true(s.model.gated_mlp);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 36);
	/* a fork's class, which nothing names */
	read_refused("nanotron",
		     NANOTRON("    activation_function: gelu\n"
			      "    sinusoidal_position_embedding: true\n"),
		     "activation_function is no key of Llama's class");
}

#define PRIMUS(lines)                                                             \
	"modules:\n  pre_trainer:\n    framework: megatron\n"                     \
	"    config: pre_trainer.yaml\n    model: llama3.1_8B.yaml\n"             \
	"    overrides:\n      micro_batch_size: 1\n      global_batch_size: 8\n" \
	"      seq_length: 4096\n" lines

/* ${NAME:null} and ${NAME:false} are nothing, as null and false are. */
static void test_defaults_of_nothing(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  PRIMUS("      num_virtual_stages_per_pipeline_rank: ${VPP:null}\n"
			 "      use_distributed_optimizer: ${ZERO:false}\n"
			 "      sequence_parallel: ${SP:true}\n"
			 "      tensor_model_parallel_size: ${TP:2}\n"),
		  &s);
	expect(&s, "vpp", "1");
	expect(&s, "zero", "0");
	expect(&s, "tp", "2");
	expect(&s, "sp", "on");
}

#define TRAINER(framework, config, lines)                                         \
	"modules:\n  trainer:\n    framework: " framework "\n    config: " config \
	"\n    model: llama3.1_8B.yaml\n    overrides:\n"                         \
	"      tensor_model_parallel_size: 2\n" lines

/* What the file behind the overrides sets, which is not what Megatron itself does. */
static void test_settings_of_primus(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron", TRAINER("megatron", "pre_trainer.yaml", ""), &s);
	expect(&s, "zero", "1");
	expect(&s, "sp", "on");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "16");
	expect(&s, "seq", "1024");
	assert_true(noted(IMPORT_ASSUMED, "settings"));
	read_good("megatron", TRAINER("megatron", "sft_trainer.yaml", ""), &s);
	expect(&s, "mbs", "1");
	expect(&s, "gbs", "128");
	expect(&s, "seq", "2048");
	read_good("megatron",
		  TRAINER("megatron", "pre_trainer.yaml",
			  "      use_distributed_optimizer: false\n"
			  "      sequence_parallel: 0\n      seq_length: 4096\n"),
		  &s);
	expect(&s, "zero", "0");
	expect(&s, "sp", "off");
	expect(&s, "seq", "4096");
	read_good("megatron",
		  TRAINER("megatron", "pre_trainer.yaml",
			  "      use_torch_fsdp2: true\n"),
		  &s);
	expect(&s, "zero", "3");
	/* Megatron-Bridge's own files stand behind that one */
	read_good("megatron",
		  TRAINER("megatron_bridge", "pre_trainer.yaml",
			  "      global_batch_size: 8\n"),
		  &s);
	expect(&s, "zero", "0");
}

#define SHAPE \
	"--num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length 512 "

/* mpirun says how many there are when it starts the script: the least is assumed. */
static void test_world_of_a_launcher(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "WORLD_SIZE=$OMPI_COMM_WORLD_SIZE\n"
		  "MPI=(--rank $RANK --world-size ${WORLD_SIZE} --local-rank $L)\n"
		  "APP=\"python pretrain_gpt.py " SHAPE "${MPI[@]} \\\n"
		  "  --tensor-model-parallel-size 4\"\n$APP\n",
		  &s);
	expect(&s, "tp", "4");
	expect(&s, "gpus", "8");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	read_good("megatron",
		  "WORLD_SIZE=16\npython pretrain_gpt.py " SHAPE
		  "--world-size $WORLD_SIZE\n",
		  &s);
	expect(&s, "gpus", "16");
}

/* Of a key that stands twice the last counts, as yaml.safe_load() has it. */
static void test_repeated_keys(void **state)
{
	struct scenario s;

	(void)state;
	read_good("llama-factory",
		  "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\n"
		  "do_train: true\nfinetuning_type: lora\nlora_target: all\n"
		  "cutoff_len: 1024\nlora_rank: 8\nlora_target: all\nlora_rank: 16\n",
		  &s);
	expect(&s, "lora_rank", "16");
	expect(&s, "seq", "1024");
}

/* Embeddings that are trained whole are as large as many adapters: said. */
static void test_trained_whole(void **state)
{
	struct scenario s;

	(void)state;
	read_good("axolotl",
		  "base_model: codellama/CodeLlama-7b-hf\nadapter: lora\nlora_r: 16\n"
		  "sequence_len: 4096\nmicro_batch_size: 2\n"
		  "lora_modules_to_save:\n  - embed_tokens\n  - lm_head\n",
		  &s);
	assert_non_null(strstr(s.model.approximate, "trained whole"));
	read_good("llama-factory",
		  "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\n"
		  "do_train: true\nfinetuning_type: lora\nlora_target: all\n"
		  "additional_target: embed_tokens,lm_head\n",
		  &s);
	assert_non_null(strstr(s.model.approximate, "trained whole"));
	read_good("axolotl",
		  "base_model: codellama/CodeLlama-7b-hf\nadapter: lora\nlora_r: 16\n"
		  "sequence_len: 4096\nmicro_batch_size: 2\nlora_modules_to_save:\n",
		  &s);
	assert_string_equal(s.model.approximate, "");
}

static void expect_machine(const char *kind, const char *path, const char *content,
			   const char *cluster)
{
	char text[1024];
	struct scenario s;
	struct error error;

	memset(&report, 0, sizeof report);
	snprintf(text, sizeof text, "%s", content);
	if (!format_find(kind)->in.read(&s, path, text, strlen(text), &report, &error))
		fail_msg("%s: %s", path, error.text);
	assert_string_equal(s.cluster.name, cluster);
	assert_true(noted(IMPORT_ASSUMED, "cluster"));
}

/* Folders say which machine a file is for, where nothing in it does: assumed, and a
 * likelier one than DGX H100. */
static void test_machines_of_paths(void **state)
{
	static const char *const paths[][2] = {
		{ "training/a4x/llama3_8b/launch.sh", "gb200-nvl72" },
		{ "training/a4x-max/llama3/launch.sh", "gb300-nvl72" },
		{ "src/a3ultra/x.sh", "dgx-h200" },
		{ "src/a3mega/x.sh", "dgx-h100" },
		{ "src/a4/run_b300.sh", "dgx-b300" },
		{ "configs/H20/run.sh", "hgx-h20" },
		{ "runs/910C/run.sh", "ascend-910c" },
		/* a part of another word, and a file's own name, say nothing */
		{ "a4x-mine/a4.sh", "dgx-h100" },
		{ "mi300xyz/gb2000/run.sh", "dgx-h100" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		expect_machine("megatron", paths[i][0],
			       "python pretrain_gpt.py " SHAPE "\n", paths[i][1]);
		expect_machine("nanotron", paths[i][0],
			       NANOTRON("    is_llama_config: true\n"), paths[i][1]);
	}
}

/* Of the shape of a language model, and another job. */
static void test_embedding_models(void **state)
{
	static const char *const names[] = { "Qwen/Qwen3-Embedding-8B",
					     "Qwen/Qwen3-Reranker-4B" };
	char text[128];
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(text, sizeof text,
			 "python3 -m sglang.launch_server --model-path %s\n", names[i]);
		read_good("sglang", text, &s);
		assert_non_null(strstr(s.model.approximate, "it embeds or ranks"));
		assert_true(noted(IMPORT_APPROXIMATE, "model"));
	}
	read_good("sglang",
		  "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B\n", &s);
	assert_string_equal(s.model.approximate, "");
}

static const char *noted_text(const char *key)
{
	for (int i = 0; i < report.count; i++)
		if (report.note[i].kind == IMPORT_ASSUMED &&
		    strcmp(report.note[i].key, key) == 0)
			return report.note[i].text;
	return "";
}

#define RUN                                                                   \
	"torchrun --nproc_per_node 8 --nnodes $NNODES pretrain_gpt.py " SHAPE \
	"--tensor-model-parallel-size $TP --micro-batch-size $MBS\n"

/* A test that only running could tell is taken for false; which numbers of the plan
 * hang on it is said, and nothing of what is set anyhow or matters to no plan. */
static void test_doubtful_branches(void **state)
{
	static const char text[] = "TP=4\nMBS=2\nNNODES=1\n"
				   "if [ -f hosts ]; then\n"
				   "  export NNODES=2 PORT=6000\n  TP=8\nelse\n"
				   "  NNODES=1\nfi\n"
				   "if ls x; then MBS=4; DIR=a; fi\nMBS=1\n"
				   "if false; then MBS=16; fi\necho $PORT $DIR\n" RUN;
	struct script_given given = { .sets = 1, .set = { "TP=2" } };
	struct scenario s;

	(void)state;
	read_good("megatron", text, &s);
	expect(&s, "tp", "4");
	expect(&s, "mbs", "1");
	expect(&s, "gpus", "8");
	assert_non_null(strstr(noted_text("tests"), "NNODES in line 5, TP in line 6"));
	assert_null(strstr(noted_text("tests"), "MBS"));
	assert_null(strstr(noted_text("tests"), "PORT"));
	/* what the caller gives hangs on nothing */
	read_given(&given);
	read_good("megatron", text, &s);
	expect(&s, "tp", "2");
	assert_null(strstr(noted_text("tests"), "TP"));
	read_given(NULL);
	read_good("megatron", "TP=4\nMBS=2\nNNODES=1\n" RUN, &s);
	assert_false(noted(IMPORT_ASSUMED, "tests"));
}

#define MEGATRON                                                     \
	"python pretrain_gpt.py --num-layers 8 --hidden-size 1024 "  \
	"--num-attention-heads 8 --seq-length 512 --vocab-size 512 " \
	"--max-position-embeddings 512 --micro-batch-size 1 "

/* Megatron-DeepSpeed's own switch, and a folder that is called after its model. */
static void test_forks_of_megatron(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron", MEGATRON "--cpu-optimizer --zero-stage 3\n", &s);
	expect(&s, "optimizer_offload", "1");
	read_good("megatron",
		  "M=/data/LLM_model/Qwen3-30B-A3B-mcore\nmegatron sft --load \"$M\" "
		  "--max_length 4000 --micro_batch_size 2\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-30b-a3b");
	read_refused("megatron",
		     "megatron sft --load /data/merged-mcore --max_length 4000\n",
		     "this file names no model");
}

#define DEEPSPEED(stage)                                                        \
	"{\"zero_optimization\": {\"stage\": " stage                            \
	", \"offload_param\": {\"device\": \"cpu\"}}, \"bf16\": {\"enabled\": " \
	"true}}"

/* Parameters that rest on the host stay on the GPU here, which the model says, with a
 * model of the caller's too; below stage 3 DeepSpeed leaves them there itself. */
static void test_offloaded_parameters(void **state)
{
	char name[] = "/tmp/shardscope-form-XXXXXX.json", command[128];
	struct scenario s;
	FILE *stream;

	(void)state;
	read_with("llama2-7b");
	read_good("deepspeed", DEEPSPEED("3"), &s);
	assert_non_null(strstr(s.model.approximate, "offloads are counted on the GPU"));
	read_good("deepspeed", DEEPSPEED("2"), &s);
	assert_string_equal(s.model.approximate, "");
	read_good("accelerate",
		  "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\n"
		  "deepspeed_config:\n  zero_stage: 3\n  offload_param_device: nvme\n"
		  "num_processes: 8\n",
		  &s);
	assert_non_null(strstr(s.model.approximate, "offloads are counted on the GPU"));
	read_with("");
	stream = fdopen(mkstemps(name, 5), "w");
	assert_non_null(stream);
	fputs(DEEPSPEED("3"), stream);
	fclose(stream);
	snprintf(command, sizeof command, "eval --model llama2-7b %s", name);
	run_check(command, 0, "\napproximate: parameters that the file offloads", NULL);
	remove(name);
}

/* Flavors that torchtitan had not yet are a fork's, whose numbers stand in its code. */
static void test_flavors_of_forks(void **state)
{
	struct scenario s;

	(void)state;
	read_good("torchtitan",
		  "[model]\nname = \"llama3\"\nflavor = \"1B\"\n[training]\n"
		  "batch_size = 1\nseq_len = 4096\ntensor_parallel_degree = 8\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.2-1b");
	assert_true(noted(IMPORT_ASSUMED, "model"));
	assert_non_null(strstr(s.model.approximate, "its shape was not compared"));
	read_good("torchtitan",
		  "[model]\nname = \"llama3\"\nflavor = \"1B\"\n[training]\n"
		  "local_batch_size = 1\nseq_len = 4096\n",
		  &s);
	assert_false(noted(IMPORT_ASSUMED, "model"));
}

/* What is made of a model is called after it. */
static void test_names_within_names(void **state)
{
	(void)state;
	read_refused("axolotl",
		     "base_model: NousResearch/Hermes-3-Llama-3.2-3B\nadapter: lora\n"
		     "sequence_len: 2048\nmicro_batch_size: 1\n",
		     "near: llama3.2-3b");
	read_refused("vllm", "vllm serve ./gpt-oss-120b-experts-2of4\n",
		     "near: gpt-oss-120b");
}

/* A checkpoint behind a flag that nobody here knows, and its one value. */
static void test_positional_behind_flags(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm", "vllm serve --max-num-batches 100 Qwen/Qwen3-8B\n", &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	assert_true(noted(IMPORT_NOT_MODELLED, "max-num-batches"));
	/* one word is the value of its flag, as adapters are of theirs */
	read_refused("vllm", "vllm serve --other-name Qwen/Qwen3-8B\n",
		     "names no model");
	read_refused("vllm", "vllm serve --lora-paths one Qwen/Qwen3-8B\n",
		     "names no model");
}

/* Programs on transformers' Trainer say how many micro-batches a step has. */
static void test_accumulation(void **state)
{
#define STEP                                                      \
	"torchrun --nproc_per_node 8 pretrain.py --num-layers 4 " \
	"--hidden-size 256 --num-attention-heads 4 --seq-length " \
	"1024 --micro-batch-size 2 "
	struct scenario s;

	(void)state;
	read_good("megatron", STEP "--gradient-accumulation-steps 4\n", &s);
	expect(&s, "gbs", "64");
	assert_false(noted(IMPORT_ASSUMED, "gbs"));
	read_good("megatron", STEP "\n", &s);
	expect(&s, "gbs", "16");
	assert_true(noted(IMPORT_ASSUMED, "gbs"));
	read_refused("megatron", STEP "--gradient-accumulation-steps 0\n",
		     "expected 1 to");
#undef STEP
}

/* A benchmark's own file says for which server its keys are, whatever they are called.
 */
static void test_server_of_a_benchmark(void **state)
{
	static const char *const words[] = { "backend", "framework", "engine" };

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		char path[] = "/tmp/shardscope-form-XXXXXX";
		int file = mkstemp(path);

		assert_true(file >= 0);
		assert_true(dprintf(file,
				    "model: Qwen/Qwen3-8B\ntensor-parallel-size: 2\n"
				    "%s: sglang\nmax-num-seqs: 8\n",
				    words[i]) > 0);
		close(file);
		assert_string_equal(format_sniff(path)->name, "sglang");
		unlink(path);
	}
}

/* What is no text is told what it is, and what to do. */
static void test_no_texts(void **state)
{
	static const struct {
		const char *bytes, *says;
		size_t length;
	} cases[] = {
		{ "\x00\x01\x7f"
		  "ELF",
		  "no text: it holds zero bytes", 6 },
		{ "\xff\xfem\0o\0", "text in UTF-16; iconv", 6 },
		{ " \n\t\r\n", "empty; expected", 5 },
		{ "model:\tx\n\ttp: 2\n", "; indent with spaces", 16 },
	};
	struct scenario s;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[] = "/tmp/shardscope-XXXXXX";
		int file = mkstemp(path);

		assert_true(file >= 0);
		assert_true(write(file, cases[i].bytes, cases[i].length) ==
			    (ssize_t)cases[i].length);
		close(file);
		assert_false(format_open(path, &s, NULL, &error));
		if (!strstr(error.text, cases[i].says))
			fail_msg("%s", error.text);
		unlink(path);
	}
}

/* Experts under the names of nanotron's example, and keys of the shape that nobody
 * reads. */
static void test_nanotron_experts(void **state)
{
	struct scenario s;

	(void)state;
	read_good("nanotron",
		  NANOTRON("    is_llamoe_config: true\n    moe_num_experts: 4\n"
			   "    num_experts_per_tok: 1\n"
			   "    intermediate_size: 2048\n"),
		  &s);
	assert_int_equal(s.model.moe.experts, 4);
	assert_int_equal(s.model.moe.experts_per_token, 1);
	assert_int_equal(s.model.moe.expert_ffn, 2048);
	assert_string_equal(s.model.approximate, "");
	read_good("nanotron",
		  NANOTRON("    is_llama_config: true\n    fine_experts: 16\n"
			   "    router_dispatch_experts: 2\n"),
		  &s);
	assert_string_equal(s.model.approximate, "fine_experts is not read");
	/* MoEConfig's own defaults, not the width of the dense MLP */
	read_good("nanotron",
		  NANOTRON("    is_qwen2_config: true\n    intermediate_size: 768\n"
			   "    moe_config:\n      num_experts: 4\n"
			   "      enable_shared_expert: true\n"),
		  &s);
	assert_int_equal(s.model.moe.experts, 4);
	assert_int_equal(s.model.moe.experts_per_token, 2);
	assert_int_equal(s.model.moe.expert_ffn, 1408);
	assert_int_equal(s.model.moe.shared_ffn, 5632);
	read_good("nanotron",
		  NANOTRON("    is_qwen2_config: true\n    moe_config:\n"
			   "      num_experts: 4\n      top_k: 1\n"),
		  &s);
	assert_int_equal(s.model.moe.experts_per_token, 1);
	assert_int_equal(s.model.moe.shared_ffn, 0);
}

/* FlagScale's files for a tuner name that of the flags. */
static void test_flags_elsewhere(void **state)
{
	(void)state;
	read_refused("megatron",
		     "defaults:\n  - _self_\n  - train: 7b\nexperiment:\n"
		     "  exp_name: a\n",
		     "its flags stand in train/7b.yaml beside it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nanotron_experts),
		cmocka_unit_test(test_nanotron_classes),
		cmocka_unit_test(test_flags_elsewhere),
		cmocka_unit_test(test_defaults_of_nothing),
		cmocka_unit_test(test_settings_of_primus),
		cmocka_unit_test(test_world_of_a_launcher),
		cmocka_unit_test(test_repeated_keys),
		cmocka_unit_test(test_trained_whole),
		cmocka_unit_test(test_machines_of_paths),
		cmocka_unit_test(test_embedding_models),
		cmocka_unit_test(test_doubtful_branches),
		cmocka_unit_test(test_forks_of_megatron),
		cmocka_unit_test(test_offloaded_parameters),
		cmocka_unit_test(test_flavors_of_forks),
		cmocka_unit_test(test_names_within_names),
		cmocka_unit_test(test_positional_behind_flags),
		cmocka_unit_test(test_accumulation),
		cmocka_unit_test(test_server_of_a_benchmark),
		cmocka_unit_test(test_no_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
