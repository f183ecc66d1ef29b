/* test_swift.c - launches of ms-swift, whose defaults are not Megatron's. */
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"

static void defaults_are_its_own(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "NNODES=2 \\\nNPROC_PER_NODE=8 \\\nmegatron sft \\\n"
		  "    --model Qwen/Qwen2.5-7B-Instruct --max_length 8192 \\\n"
		  "    --tensor_model_parallel_size 4 --sequence_parallel true\n",
		  &s);
	assert_string_equal(s.model.name, "qwen2.5-7b");
	expect(&s, "seq", "8192");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "selective");
	expect(&s, "zero", "1");
	expect(&s, "mbs", "1");
	expect(&s, "gbs", "16");
	expect(&s, "gpus", "16");
	expect(&s, "lora_rank", "off");
	assert_true(noted(IMPORT_TAKEN, "max-length"));
	read_good("megatron",
		  "megatron pt --model Qwen/Qwen3-30B-A3B --tuner_type lora \\\n"
		  "  --torch_dtype float16 --micro_batch_size 2 --global_batch_size 32 "
		  "--tensor_model_parallel_size 2 --sequence_parallel false "
		  "\\\n"
		  "  --use_distributed_optimizer false --recompute_granularity full "
		  "\\\n"
		  "  --recompute_method uniform --recompute_num_layers 1\n",
		  &s);
	expect(&s, "lora_rank", "8");
	expect(&s, "tp", "2");
	expect(&s, "sp", "off");
	expect(&s, "precision", "fp16");
	expect(&s, "zero", "0");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "32");
	expect(&s, "recompute", "full");
	/* the same flags of Megatron itself */
	read_good("megatron",
		  "python pretrain_gpt.py --model Qwen/Qwen2.5-7B --max_length 8192 "
		  "--micro-batch-size 1",
		  &s);
	expect(&s, "precision", "fp32");
	assert_false(noted(IMPORT_TAKEN, "max-length"));
}

static void other_losses_are_refused(void **state)
{
	(void)state;
	read_refused("megatron",
		     "megatron rlhf --model Qwen/Qwen2.5-7B --micro_batch_size 1",
		     "file:1: megatron rlhf");
	/* its settings in another file: what it does is reason enough */
	read_refused("megatron", "megatron rlhf --use_ray true --config grpo.yaml",
		     "file:1: megatron rlhf");
	read_refused("megatron", "megatron export --model Qwen/Qwen2.5-7B --to_hf true",
		     "file:1: megatron export converts a checkpoint");
	read_refused("megatron",
		     "megatron sft \\\n --model Qwen/Qwen2.5-7B \\\n --task_type "
		     "embedding",
		     "file:3: --task_type is 'embedding'");
}

/* `megatron sft FILE`: the same defaults stand behind the file's keys. */
static void its_files_have_them_too(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "ENV:\n  MAX_PIXELS: '1003520'\n"
		  "model: Qwen/Qwen2.5-7B-Instruct\ntuner_type: lora\nlora_rank: 16\n"
		  "max_length: 4096\nmicro_batch_size: 1\nglobal_batch_size: 4\n"
		  "tensor_model_parallel_size: 2\nsequence_parallel: true\n",
		  &s);
	assert_string_equal(s.model.name, "qwen2.5-7b");
	expect(&s, "precision", "bf16");
	expect(&s, "lora_rank", "16");
	expect(&s, "seq", "4096");
	expect(&s, "zero", "1");
	expect(&s, "sp", "on");
	read_good("megatron",
		  "model: Qwen/Qwen2.5-7B\npadding_free: true\n"
		  "use_distributed_optimizer: false\nmicro_batch_size: 1\n",
		  &s);
	expect(&s, "zero", "0");
	expect(&s, "lora_rank", "off");
	read_refused("megatron",
		     "model: Qwen/Qwen2.5-7B\nrlhf_type: grpo\nmicro_batch_size: 1\n",
		     "file:2: megatron rlhf");
	read_refused("megatron",
		     "model: Qwen/Qwen2.5-7B\nto_mcore: true\nmicro_batch_size: 1\n"
		     "tuner_type: full\n",
		     "file:2: megatron export converts");
}

/* Its other launcher, and what has transformers' arguments, of which bf16 and optimizer
 * are called as Megatron's, would be Megatron's defaults. */
static void transformers_launches_are_refused(void **state)
{
	(void)state;
	read_refused("megatron",
		     "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B-Instruct \\\n"
		     "  --tuner_type lora --optimizer muon --max_length 2048\n",
		     "swift sft runs by transformers");
	read_refused("megatron",
		     "CUDA_VISIBLE_DEVICES=0 swift deploy \\\n"
		     "  --model Qwen/Qwen2.5-7B-Instruct --infer_backend vllm\n",
		     "swift deploy trains nothing");
	read_refused("megatron",
		     "torchrun train.py --model Qwen/Qwen2.5-7B-Instruct --bf16 \\\n"
		     "  --per_device_train_batch_size 4\n",
		     "file:2: --per_device_train_batch_size is of transformers'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_its_own),
		cmocka_unit_test(its_files_have_them_too),
		cmocka_unit_test(other_losses_are_refused),
		cmocka_unit_test(transformers_launches_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
