/* test_trainer.c - commands of transformers' Trainer, TRL's and ms-swift's, as
 * scenarios. */
#include <stdio.h>
#include <string.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static void swift_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer",
		  "nproc_per_node=2\n"
		  "CUDA_VISIBLE_DEVICES=0,1 \\\nNPROC_PER_NODE=$nproc_per_node \\\n"
		  "swift sft \\\n    --model Qwen/Qwen2.5-7B-Instruct \\\n"
		  "    --tuner_type lora --lora_rank 16 --torch_dtype bfloat16 \\\n"
		  "    --per_device_train_batch_size 2 --learning_rate 1e-4 \\\n"
		  "    --gradient_accumulation_steps $(expr 32 / $nproc_per_node) \\\n"
		  "    --max_length 4096 --deepspeed zero3_offload\n",
		  &s);
	assert_string_equal(s.model.name, "qwen2.5-7b");
	assert_string_equal(s.stack.name, "deepspeed");
	expect(&s, "zero", "3");
	expect(&s, "optimizer_offload", "1");
	expect(&s, "lora_rank", "16");
	expect(&s, "mbs", "2");
	expect(&s, "gpus", "2");
	expect(&s, "gbs", "64"); /* 2 x 16 on 2 */
	expect(&s, "seq", "4096");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "full");
	assert_true(noted(IMPORT_NOT_MODELLED, "learning_rate"));
	assert_true(noted(IMPORT_TAKEN, "NPROC_PER_NODE"));
}

/* One process, adapters of rank 8, a batch of at least 16, weights in 16 bits. */
static void swift_has_defaults(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer", "swift sft --model Qwen/Qwen2.5-7B --dataset a\n", &s);
	expect(&s, "lora_rank", "8");
	expect(&s, "gpus", "1");
	expect(&s, "mbs", "1");
	expect(&s, "gbs", "16");
	expect(&s, "zero", "0");
	assert_true(noted(IMPORT_ASSUMED, "seq"));
	assert_true(noted(IMPORT_ASSUMED, "precision"));
	read_good("trainer",
		  "NPROC_PER_NODE=8 NNODES=2 swift pt --model Qwen/Qwen2.5-7B "
		  "--per_device_train_batch_size 3\n",
		  &s);
	expect(&s, "lora_rank", "off");
	expect(&s, "master_weights", "none");
	expect(&s, "optimizer", "adamw-bf16");
	expect(&s, "gpus", "16");
	expect(&s, "gbs", "48");
	/* sequences over GPUs, by its own exchange */
	read_good("trainer",
		  "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B "
		  "--max_length 65536 --sequence_parallel_size 4 "
		  "--gradient_accumulation_steps 4\n",
		  &s);
	expect(&s, "cp", "4");
	expect(&s, "cp_kind", "ulysses");
	expect(&s, "gbs", "8");
}

static void trl_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer",
		  "accelerate launch --num_processes 16 \\\n"
		  "    --config_file=recipes/accelerate_configs/zero3.yaml \\\n"
		  "    src/open_r1/sft.py --model-name-or-path Qwen/Qwen2.5-7B \\\n"
		  "    --per_device_train_batch_size 2 --packing \\\n"
		  "    --gradient_accumulation_steps 8 --max_length 16384 \\\n"
		  "    --use_liger_kernel\n",
		  &s);
	assert_string_equal(s.stack.name, "deepspeed");
	expect(&s, "zero", "3");
	expect(&s, "gpus", "16");
	expect(&s, "gbs", "256");
	expect(&s, "seq", "16384");
	expect(&s, "lora_rank", "off");
	expect(&s, "cross_entropy", "chunked");
	expect(&s, "recompute", "full");
	expect(&s, "precision", "bf16");
	read_good("trainer",
		  "trl sft --model_name_or_path Qwen/Qwen2.5-0.5B --dataset_name a "
		  "--use_peft --num_processes 4\n",
		  &s);
	expect(&s, "lora_rank", "16");
	expect(&s, "seq", "1024");
	expect(&s, "mbs", "8");
	expect(&s, "gbs", "32");
	/* its files are the same keys; the command says which task */
	read_good("trainer",
		  "model_name_or_path: Qwen/Qwen2.5-7B\ntorch_dtype: bfloat16\n"
		  "bf16: true\ndataset_name: a\nmax_length: 2048\n"
		  "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
		  "load_in_4bit: true\nuse_peft: true\nlora_r: 32\n",
		  &s);
	expect(&s, "frozen_format", "nf4");
	expect(&s, "lora_rank", "32");
	assert_true(noted(IMPORT_ASSUMED, "task"));
	assert_true(noted(IMPORT_ASSUMED, "zero"));
}

/* A script of one's own has the Trainer's defaults. */
static void own_scripts_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer",
		  "torchrun --nproc_per_node=4 --nnodes 2 train.py \\\n"
		  "    --model_name_or_path meta-llama/Llama-2-7b-hf \\\n"
		  "    --bf16 True --model_max_length 512 \\\n"
		  "    --per_device_train_batch_size 4 \\\n"
		  "    --gradient_accumulation_steps 8 \\\n"
		  "    --fsdp \"full_shard auto_wrap\" \\\n"
		  "    --fsdp_transformer_layer_cls_to_wrap 'LlamaDecoderLayer'\n",
		  &s);
	assert_string_equal(s.model.name, "llama2-7b");
	expect(&s, "gpus", "8");
	expect(&s, "gbs", "256");
	expect(&s, "seq", "512");
	expect(&s, "zero", "3");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "none");
	/* DeepSpeed-Chat's */
	read_good("trainer",
		  "deepspeed --num_gpus 8 main.py --zero_stage 2 --offload \\\n"
		  "  --model_name_or_path facebook/opt-1.3b --max_seq_len 1024 \\\n"
		  "  --per_device_train_batch_size 8 --lora_dim 128 \\\n"
		  "  --gradient_checkpointing --dtype bf16 --deepspeed\n",
		  &s);
	expect(&s, "zero", "2");
	expect(&s, "optimizer_offload", "1");
	expect(&s, "lora_rank", "128");
	expect(&s, "seq", "1024");
	expect(&s, "recompute", "full");
	expect(&s, "gpus", "8");
	/* within a word of another command */
	read_good("trainer",
		  "srun bash -c \"accelerate launch train.py --bf16 "
		  "--model_name_or_path Qwen/Qwen2.5-7B --block_size 2048 "
		  "--per_device_train_batch_size 1\"\n",
		  &s);
	expect(&s, "seq", "2048");
	/* LLaMA-Factory's words in a command */
	read_good("trainer",
		  "llamafactory-cli train --stage sft --do_train True \\\n"
		  "  --model_name_or_path Qwen/Qwen2.5-7B --finetuning_type lora "
		  "\\\n"
		  "  --cutoff_len 4096 --per_device_train_batch_size 2 --bf16 True\n",
		  &s);
	expect(&s, "lora_rank", "8");
	expect(&s, "seq", "4096");
	expect(&s, "mbs", "2");
}

static void others_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "trl dpo --model_name_or_path Qwen/Qwen2.5-7B\n", "'trl dpo'" },
		{ "accelerate launch run_grpo.py --model_name_or_path a/b "
		  "--per_device_train_batch_size 1\n",
		  "run_grpo.py" },
		{ "swift rlhf --rlhf_type dpo --model Qwen/Qwen2.5-7B\n",
		  "swift rlhf" },
		{ "swift export --adapters a --merge_lora true\n", "trains nothing" },
		{ "swift sft --model Qwen/Qwen2.5-7B --task_type embedding\n",
		  "task_type is 'embedding'" },
		{ "swift sft --model Qwen/Qwen2.5-7B --tuner_type longlora\n",
		  "full and lora are modelled" },
		{ "CUDA_VISIBLE_DEVICES=0,1 swift sft --model Qwen/Qwen2.5-7B\n",
		  "work in turn" },
		{ "swift sft --model nobody/has-this-70B\n",
		  "no model 'nobody/has-this-70B'" },
		{ "swift sft --model Qwen/Qwen2.5-7B --max_length $LENGTH\n",
		  "--set LENGTH=VALUE" },
		{ "NPROC_PER_NODE=8 NNODES=$N swift sft --model Qwen/Qwen2.5-7B\n",
		  "--set NNODES=VALUE" },
		{ "swift sft --model Qwen/Qwen2.5-7B "
		  "--per_device_train_batch_size $(python size.py)\n",
		  "only running could tell" },
		{ "trl sft --config sft.yaml\n", "give that file" },
		{ "NPROC_PER_NODE=2 swift sft examples/sft.yaml\n",
		  "its settings stand in examples/sft.yaml: give that file" },
		{ "llamafactory-cli train examples/a.yaml\n", "give that file" },
		{ "model_name_or_path: Qwen/Qwen2.5-7B\nbeta: 0.05\n",
		  "its loss compares answers" },
		{ "python train.py --batch 8\n", "no command" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		read_refused("trainer", cases[i].text, cases[i].says);
	read_refused("llama-factory",
		     "model_name_or_path: Qwen/Qwen2.5-7B\nmax_seq_length: 2048\n",
		     "import trainer");
}

/* What only prepares stands beside what trains; the first that trains is read. */
static void first_of_several(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer",
		  "swift export --model Qwen/Qwen3-8B --to_cached_dataset true\n"
		  "swift sft --model Qwen/Qwen3-8B --max_length 8192\n"
		  "swift sft --model Qwen/Qwen3-4B --max_length 1024\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "seq", "8192");
	assert_true(noted(IMPORT_ASSUMED, "commands"));
}

/* Files that swift takes in place of flags; the machine is the launcher's. */
static void swift_files_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer",
		  "# arguments\nmodel: Qwen/Qwen2.5-7B-Instruct\n"
		  "torch_dtype: bfloat16\ntuner_type: lora\nlora_rank: 4\n"
		  "max_length: 4096\nper_device_train_batch_size: 2\n"
		  "gradient_accumulation_steps: 8\ndeepspeed: zero2\n",
		  &s);
	assert_string_equal(s.model.name, "qwen2.5-7b");
	expect(&s, "lora_rank", "4");
	expect(&s, "seq", "4096");
	expect(&s, "mbs", "2");
	expect(&s, "zero", "2");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "full");
	expect(&s, "gpus", "8");
	expect(&s, "gbs", "128");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	assert_true(noted(IMPORT_ASSUMED, "task"));
	read_good("trainer", "model: Qwen/Qwen2.5-7B\ntuner_type: full\n", &s);
	expect(&s, "lora_rank", "off");
	expect(&s, "seq", "2048");
	read_good("trainer", "model: Qwen/Qwen2.5-7B\nmax_length: 1024\n", &s);
	expect(&s, "lora_rank", "8");
}

/* What accelerate's launcher is told in place of a file. */
static void launchers_are_read(void **state)
{
	static const struct {
		const char *flags, *zero, *precision, *offload;
	} rows[] = {
		{ "--mixed_precision bf16 --use_deepspeed "
		  "--deepspeed_config_file configs/ds/stage3_no_offloading.conf",
		  "3", "bf16", "0" },
		{ "--mixed_precision fp16 --use_deepspeed --zero_stage 2 "
		  "--offload_optimizer_device cpu",
		  "2", "fp16", "1" },
		{ "--mixed_precision=bf16 --use_fsdp "
		  "--fsdp_sharding_strategy SHARD_GRAD_OP",
		  "2", "bf16", "0" },
		{ "--use_fsdp --fsdp_offload_params true", "3", "fp32", "1" },
		{ "--mixed_precision no", "0", "fp32", "0" },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[512];

		snprintf(text, sizeof text,
			 "accelerate launch %s --num_processes 8 finetune.py "
			 "--model_name_or_path Qwen/Qwen3-0.6B --max_seq_length 4096 "
			 "--per_device_train_batch_size 1\n",
			 rows[i].flags);
		read_good("trainer", text, &s);
		expect(&s, "zero", rows[i].zero);
		expect(&s, "precision", rows[i].precision);
		expect(&s, "optimizer_offload", rows[i].offload);
		expect(&s, "gpus", "8");
	}
}

/* accelerate starts a process on each GPU that is seen; `swift sft` alone is one. */
static void launched_swift_has_processes(void **state)
{
#define SWIFT(launch)                            \
	"CUDA_VISIBLE_DEVICES=0,1 \\\n" launch   \
	" --model Qwen/Qwen3-0.6B --tuner_type " \
	"lora --per_device_train_batch_size 1 --gradient_accumulation_steps 8\n"
	struct scenario s;

	(void)state;
	read_good("trainer",
		  SWIFT("accelerate launch --config_file fsdp.json swift/cli/sft.py"),
		  &s);
	expect(&s, "gpus", "2");
	expect(&s, "gbs", "16");
	expect(&s, "optimizer_offload", "0");
	read_good("trainer",
		  SWIFT("accelerate launch --config_file fsdp_offload.json "
			"swift/cli/sft.py"),
		  &s);
	expect(&s, "zero", "3");
	expect(&s, "optimizer_offload", "1");
	read_refused("trainer", SWIFT("swift sft"), "NPROC_PER_NODE is not set");
#undef SWIFT
}

/* A container's list of words is a command, in a manifest of several documents or in a
 * chart's values. */
static void manifests_start_trainers(void **state)
{
	static const char words[] =
		"\"--nproc_per_node=8\", \"train.py\", \"--model_name_or_path\", "
		"\"Qwen/Qwen3-8B\", \"--per_device_train_batch_size\", \"2\", "
		"\"--bf16\", \"True\"]\n";
	struct scenario s;
	char text[1024];

	(void)state;
	snprintf(text, sizeof text, "image: x/y\ncommand: [\"torchrun\", %s", words);
	read_good("trainer", text, &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "gpus", "8");
	expect(&s, "mbs", "2");
	snprintf(text, sizeof text,
		 "apiVersion: v1\nkind: Service\n---\nkind: PyTorchJob\nspec:\n"
		 "  containers:\n  - image: x\n    env:\n    - name: TP\n"
		 "      value: \"2\"\n    command: [bash, -c]\n    args:\n    - |\n"
		 "      torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 "
		 "--hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
		 "--tensor-model-parallel-size $TP --bf16\n");
	read_good("megatron", text, &s);
	expect(&s, "tp", "2");
	expect(&s, "gpus", "8");
	read_refused("megatron",
		     "kind: Job\nimage: x\ncommand: [torchrun, pretrain_gpt.py, "
		     "\"--num-layers=${LAYERS}\", --hidden-size=64]\n",
		     "file:3: --num-layers comes from $LAYERS");
}

/* DeepSpeed's launcher counts the GPUs that it is told one by one; a machine's name
 * alone means all it has, which nobody tells. */
static void included_gpus_count(void **state)
{
	static const struct {
		const char *include, *gpus;
	} rows[] = {
		{ "localhost:1", "1" },
		{ "localhost:0,1", "2" },
		{ "a:0,2@b:1", "3" },
		{ "a@b", "8" },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[512];

		snprintf(text, sizeof text,
			 "deepspeed --include %s finetune.py --model_name_or_path "
			 "Qwen/Qwen3-0.6B --model_max_length 384 "
			 "--per_device_train_batch_size 4 --bf16 --use_lora "
			 "--deepspeed configs/ds_config_zero3_offload.json\n",
			 rows[i].include);
		read_good("trainer", text, &s);
		expect(&s, "gpus", rows[i].gpus);
		expect(&s, "zero", "3");
		assert_true(noted(IMPORT_ASSUMED, "lora_rank"));
		assert_int_equal(noted(IMPORT_ASSUMED, "gpus"), i == 3);
	}
}

/* Qwen's script for one GPU: one process without a launcher. */
static void one_process_is_one_gpu(void **state)
{
	static const char rest[] =
		"finetune.py --model_name_or_path Qwen/Qwen3-0.6B --bf16 True "
		"--model_max_length 512 --per_device_train_batch_size 2 "
		"--gradient_accumulation_steps 8\n";
	char text[512];
	struct scenario s;

	(void)state;
	snprintf(text, sizeof text, "export CUDA_VISIBLE_DEVICES=0\npython %s", rest);
	read_good("trainer", text, &s);
	expect(&s, "gpus", "1");
	expect(&s, "gbs", "16");
	snprintf(text, sizeof text, "export CUDA_VISIBLE_DEVICES=0,1\npython %s", rest);
	read_good("trainer", text, &s);
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
}

/* PEFT's examples (examples/sft): four bits by their own word, and a file of
 * accelerate's that names DeepSpeed and no stage. */
static void longer_words_are_read(void **state)
{
	static const char start[] =
		"accelerate launch --config_file \"configs/deepspeed_config.yaml\" "
		"train.py --model_name_or_path \"meta-llama/Llama-2-70b-hf\" "
		"--max_length 2048 --per_device_train_batch_size 2 --bf16 True "
		"--use_peft_lora True --lora_r 8 ";
	char text[512];
	struct scenario s;

	(void)state;
	snprintf(text, sizeof text, "%s--use_4bit_quantization True\n", start);
	read_good("trainer", text, &s);
	assert_string_equal(s.stack.name, "deepspeed");
	expect(&s, "zero", "2");
	assert_true(noted(IMPORT_ASSUMED, "zero"));
	expect(&s, "lora_rank", "8");
	expect(&s, "frozen_format", "nf4");
	snprintf(text, sizeof text, "%s--use_4bit_quantization False\n", start);
	read_good("trainer", text, &s);
	expect(&s, "frozen_format", "wide");
}

/* ms-swift's second version called the model otherwise (01-ai/Yi's cookbook). */
static void older_names_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer",
		  "CUDA_VISIBLE_DEVICES=0 swift sft --model_id_or_path "
		  "01ai/Yi-1.5-6B-Chat --dataset a --output_dir output\n",
		  &s);
	assert_string_equal(s.model.name, "yi-6b");
	expect(&s, "gpus", "1");
	expect(&s, "lora_rank", "8");
}

/* open-thoughts' file: a batch of 96 of one sample and three steps is one of 32 GPUs.
 */
static void batches_tell_gpus(void **state)
{
	static const char start[] =
		"model_name_or_path: Qwen/Qwen2.5-32B-Instruct\nstage: sft\n"
		"do_train: true\nfinetuning_type: full\ndataset: a\n"
		"template: qwen\ncutoff_len: 16384\n"
		"deepspeed: train/zero3_offload.json\nbf16: true\n"
		"per_device_train_batch_size: 1\nglobal_batch_size: 96\n";
	char text[512];
	struct scenario s;

	(void)state;
	snprintf(text, sizeof text, "%sgradient_accumulation_steps: 3\n", start);
	read_good("llama-factory", text, &s);
	expect(&s, "gpus", "32");
	expect(&s, "gbs", "96");
	assert_false(noted(IMPORT_ASSUMED, "gpus"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(included_gpus_count),
		cmocka_unit_test(longer_words_are_read),
		cmocka_unit_test(batches_tell_gpus),
		cmocka_unit_test(one_process_is_one_gpu),
		cmocka_unit_test(older_names_are_read),
		cmocka_unit_test(swift_is_read),
		cmocka_unit_test(swift_has_defaults),
		cmocka_unit_test(trl_is_read),
		cmocka_unit_test(own_scripts_are_read),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(first_of_several),
		cmocka_unit_test(swift_files_are_read),
		cmocka_unit_test(launchers_are_read),
		cmocka_unit_test(launched_swift_has_processes),
		cmocka_unit_test(manifests_start_trainers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
