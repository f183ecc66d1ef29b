/* test_posttrain.c - tuning that Megatron-LM has not by itself: MindSpeed-LLM's
 * program, and those of models that see, whose text part may stay as it is. */
#include <stdio.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"

#define MINDSPEED(flags)                                                                   \
	"torchrun --nproc_per_node 8 posttrain_gpt.py --num-layers 8 --hidden-size "       \
	"1024 --num-attention-heads 16 --seq-length 2048 --vocab-size 32000 --bf16 " flags \
	"\n"

/* The list of matrices switches adapters on, of rank 16 unless it is said. */
static void mindspeed_has_adapters(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  MINDSPEED("--stage sft --lora-r 8 --lora-alpha 32 "
			    "--lora-target-modules linear_qkv linear_proj linear_fc1 "
			    "linear_fc2"),
		  &s);
	expect(&s, "lora_rank", "8");
	expect(&s, "lora_targets", "all");
	assert_true(noted(IMPORT_TAKEN, "lora-r"));
	read_good("megatron",
		  MINDSPEED("--stage sft --qlora --lora-target-modules linear_qkv"),
		  &s);
	expect(&s, "lora_rank", "16");
	expect(&s, "lora_targets", "qkv");
	expect(&s, "frozen_format", "nf4");
	read_good("megatron",
		  MINDSPEED("--stage sft --lora-target-modules linear_qkv linear_proj"),
		  &s);
	expect(&s, "lora_targets", "attention");
	/* a rank alone does nothing there */
	read_good("megatron", MINDSPEED("--stage sft --lora-r 8"), &s);
	expect(&s, "lora_rank", "off");
	assert_true(noted(IMPORT_NOT_MODELLED, "lora-r"));
}

static void mindspeed_prefers(void **state)
{
	(void)state;
	read_refused("megatron", MINDSPEED("--stage dpo --dpo-beta 0.1"),
		     "the program is for preference learning");
}

/* Pai-Megatron-Patch has a program for each family, whose network no flag tells. */
static void a_familys_program_is_told(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"megatron",
		"torchrun --nproc_per_node 8 finetune_megatron_chatglm.py --num-layers "
		"28 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048\n",
		&s);
	assert_non_null(strstr(s.model.approximate, "another family's networks"));
	read_good("megatron",
		  "torchrun --nproc_per_node 8 train.py --num-layers 24 --hidden-size "
		  "1024 --num-attention-heads 16 --seq-length 2048 "
		  "--retro-add-retriever\n",
		  &s);
	assert_non_null(strstr(s.model.approximate, "retrieval"));
}

/* BigScience's Megatron-DeepSpeed: the gate of an MLP by its own words. */
static void bigscience_has_gates(void **state)
{
	static const char *const kinds[] = { "geglu", "swiglu", "reglu", "liglu" };

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct scenario s;
		char text[512];

		snprintf(text, sizeof text,
			 "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 "
			 "--hidden-size 2048 --ffn-hidden-size 5456 "
			 "--num-attention-heads 16 --seq-length 2048 --vocab-size "
			 "50257 --glu-activation %s\n",
			 kinds[i]);
		read_good("megatron", text, &s);
		assert_true(s.model.gated_mlp);
		assert_string_equal(s.model.approximate, "");
	}
}

#define SEES(flags)                                                                 \
	"torchrun --nproc_per_node 4 internvl/train/internvl_chat_finetune.py \\\n" \
	"  --model_name_or_path Qwen/Qwen2.5-7B --max_seq_length 8192 --bf16 True " \
	"--per_device_train_batch_size 4 --gradient_accumulation_steps 2 " flags "\n"

/* InternVL's: adapters on a text part that is frozen are what trains. */
static void a_frozen_text_part_adapts(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trainer",
		  SEES("--freeze_llm True --use_llm_lora 16 --grad_checkpoint True"),
		  &s);
	expect(&s, "lora_rank", "16");
	expect(&s, "recompute", "full");
	expect(&s, "gbs", "32");
	assert_true(noted(IMPORT_TAKEN, "use_llm_lora"));
	read_good("trainer", SEES("--freeze_llm False --use_llm_lora 0"), &s);
	expect(&s, "lora_rank", "off");
	read_good("trainer", SEES("--tune_llm false --use_lora true --lora_r 64"), &s);
	expect(&s, "lora_rank", "64");
	read_good("trainer", SEES("--lora_enable False --lora_r 64"), &s);
	expect(&s, "lora_rank", "off");
}

/* The language part of InternVL's table of models, told as a part. */
static void text_parts_go_by_their_names(void **state)
{
	static const char *const rows[][2] = {
		{ "OpenGVLab/InternVL2_5-1B", "qwen2.5-0.5b" },
		{ "OpenGVLab/InternVL2_5-8B", "internlm2-7b" },
		{ "OpenGVLab/InternVL2_5-26B", "internlm2-20b" },
		{ "OpenGVLab/InternVL2_5-78B", "qwen2.5-72b" },
		{ "OpenGVLab/InternVL3_5-30B-A3B-Pretrained", "qwen3-30b-a3b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		char text[256];

		snprintf(text, sizeof text,
			 "torchrun --nproc_per_node 8 tune.py --model_name_or_path %s "
			 "--per_device_train_batch_size 1\n",
			 rows[i][0]);
		read_good("trainer", text, &s);
		assert_string_equal(s.model.name, rows[i][1]);
		assert_non_null(strstr(s.model.approximate, "the text part of"));
	}
}

static void a_text_part_that_stays_is_refused(void **state)
{
	static const char *const flags[] = {
		SEES("--freeze_llm True"), SEES("--freeze_llm True --use_llm_lora 0"),
		SEES("--tune_llm false"), SEES("--tune_mm_llm False --tune_mm_mlp True")
	};

	(void)state;
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		read_refused("trainer", flags[i], "the text part stays as it is");
	read_refused("trainer", SEES("--tune_mm_mlp_adapter True"),
		     "only what joins eyes and text trains");
}

/* A sum that lacks a number is short of its variable, not of a run. */
static void sums_name_what_they_lack(void **state)
{
#define ACCUMULATES(sum)                                                        \
	"GRADIENT_ACC=$((512 / " sum "))\ntorchrun --nproc_per_node 8 tune.py " \
	"--model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1 " \
	"--max_seq_length 2048 --gradient_accumulation_steps ${GRADIENT_ACC}\n"
	(void)state;
	read_refused("trainer", ACCUMULATES("WORLD_SIZE / 8"),
		     "comes from $WORLD_SIZE, which nothing sets");
	read_refused("trainer", "ALL=$((WORLD_SIZE * 8))\n" ACCUMULATES("ALL"),
		     "comes from $WORLD_SIZE, which nothing sets");
	read_refused("trainer", "ALL=$(count)\n" ACCUMULATES("ALL"),
		     "hangs on what only running could tell");
#undef ACCUMULATES
}

/* optimum-habana's launcher, torch's as a module: the program behind them tells the
 * task, a switch in front of it takes no value, and the first counts processes. */
static void launchers_name_no_task(void **state)
{
	struct scenario s;

#define BEHIND(launcher, program)                                                \
	"python3 " launcher " " program " --model_name_or_path Qwen/Qwen2.5-7B " \
	"--per_device_train_batch_size 4 --max_seq_length 384\n"
	(void)state;
	read_refused(
		"trainer",
		BEHIND("../gaudi_spawn.py --world_size 8 --use_deepspeed", "run_qa.py"),
		"command is 'run_qa.py': it needs more than one model or");
	read_refused(
		"trainer",
		BEHIND("-m torch.distributed.run --nproc_per_node 2", "run_glue.py"),
		"command is 'run_glue.py'");
	read_good(
		"trainer",
		BEHIND("../gaudi_spawn.py --world_size 8 --use_mpi", "run_lora_clm.py"),
		&s);
	expect(&s, "gpus", "8");
	expect(&s, "gbs", "32");
	assert_false(noted(IMPORT_ASSUMED, "gpus"));
#undef BEHIND
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mindspeed_has_adapters),
		cmocka_unit_test(mindspeed_prefers),
		cmocka_unit_test(bigscience_has_gates),
		cmocka_unit_test(a_familys_program_is_told),
		cmocka_unit_test(a_frozen_text_part_adapts),
		cmocka_unit_test(text_parts_go_by_their_names),
		cmocka_unit_test(a_text_part_that_stays_is_refused),
		cmocka_unit_test(launchers_name_no_task),
		cmocka_unit_test(sums_name_what_they_lack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
