/* test_performance.c - benchmarks of Megatron-Bridge and NeMo 2 as scenarios: what
 * their scripts set beside what they are told, commands that stand in a text, recipes
 * in Python. The forms are those of scripts/performance (NVIDIA-NeMo/Megatron-Bridge
 * @067f987df) and of AI-Hypercomputer/gpu-recipes@2e1fd5e. */
#include <string.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

#define COMMAND                                     \
	"python scripts/performance/run_script.py " \
	"--gpu gb200 --model_recipe_name llama3_70b --num_gpus 64 --gpus_per_node 4 "

static void a_type_has_its_recipe(void **state)
{
	static const struct {
		const char *words, *precision, *recipe;
	} types[] = {
		{ "", "bf16", "delayed" },
		{ "--compute_dtype bf16", "bf16", "delayed" },
		{ "--compute_dtype fp8_cs", "fp8", "current-scaling" },
		{ "--compute_dtype fp8_sc", "fp8", "blockwise" },
		{ "--compute_dtype fp8_mx", "mxfp8", "mxfp8" },
		{ "--compute_dtype nvfp4", "nvfp4", "delayed" },
		{ "--compute_dtype fp8 --fp8_recipe cs", "fp8", "current-scaling" },
	};
	struct scenario s;
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		snprintf(text, sizeof text, COMMAND "%s\n", types[i].words);
		read_good("megatron", text, &s);
		expect(&s, "precision", types[i].precision);
		expect(&s, "fp8_recipe", types[i].recipe);
	}
	read_refused("megatron", COMMAND "--compute_dtype int8\n",
		     "--compute_dtype is 'int8'; expected bf16, fp8_cs");
}

static void a_script_sets_more_than_it_is_told(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  COMMAND "--tensor_model_parallel_size 4 "
			  "--virtual_pipeline_model_parallel_size None\n",
		  &s);
	assert_string_equal(s.model.name, "llama3-70b");
	assert_string_equal(s.cluster.name, "gb200-nvl72");
	expect(&s, "gpus", "64");
	expect(&s, "sp", "on");
	expect(&s, "zero", "1");
	expect(&s, "overlap_grad_reduce", "on");
	assert_true(noted(IMPORT_TAKEN, "gpu"));
	read_good("megatron", COMMAND "--use_megatron_fsdp true\n", &s);
	expect(&s, "sp", "off");
	expect(&s, "zero", "3");
}

/* worker=$(cat <<END ...): the text is what runs, whoever starts it. */
static void a_command_in_a_text_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"megatron",
		"TP=2\n"
		"worker=$(cat <<- EOM\n"
		"  if [ \"\\$RANK\" -eq 0 ]; then\n"
		"    env # of rank 0 (alone)\n"
		"  fi\n"
		"  numactl --membind=\\$((LOCAL_RANK/4)) \\\n"
		"    " COMMAND "\\\n"
		"    --micro_batch_size 2 --seq_length 8192 \\\n"
		"    --tensor_model_parallel_size ${TP}\n"
		"EOM\n"
		")\n"
		"echo \"$worker\" > worker.sh\n"
		"torchrun --nproc-per-node=4 --nnodes=16 --no-python bash worker.sh\n",
		&s);
	assert_string_equal(s.model.name, "llama3-70b");
	expect(&s, "tp", "2");
	expect(&s, "mbs", "2");
	expect(&s, "seq", "8192");
	expect(&s, "gpus", "64");
}

/* A here-document that is written or handed on is a script, one that is printed says
 * how to call this one. */
static void a_document_is_a_script(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "sbatch <<EOF\n" COMMAND "--pipeline_model_parallel_size 4\nEOF\n",
		  &s);
	expect(&s, "pp", "4");
	read_good("megatron",
		  "cat <<EOF\nusage: --seq_length N --pipeline_model_parallel_size N "
		  "--tensor_model_parallel_size N --micro_batch_size N "
		  "--global_batch_size N --context_parallel_size N\nEOF\n" COMMAND "\n",
		  &s);
	assert_string_equal(s.model.name, "llama3-70b");
}

#define RECIPE                                                               \
	"from nemo.collections import llm\n"                                 \
	"from nemo.collections.llm.recipes import llama31_70b\n"             \
	"def recipe(profile_enabled: bool = False) -> run.Partial:\n"        \
	"  pretrain = llama31_70b.pretrain_recipe(performance_mode=True)\n"  \
	"  num_nodes = 8\n"                                                  \
	"  gbs = 256\n"                                                      \
	"  vp_size = None  # without\n"                                      \
	"  compute_dtype = \"fp8\"\n"                                        \
	"  pretrain = set_primary_perf_configs(\n"                           \
	"      pretrain, \"pre_train\", num_nodes=num_nodes,\n"              \
	"      num_gpus_per_node=8, mbs=2, gbs=gbs, tp_size=2, pp_size=4,\n" \
	"      vp_size=vp_size, compute_dtype=compute_dtype,\n"              \
	"      fp8_recipe=\"cs\")\n"                                         \
	"  pretrain.data.seq_length = 4096\n"

static void a_recipe_of_nemo_2_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron", RECIPE, &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	expect(&s, "gpus", "64");
	expect(&s, "tp", "2");
	expect(&s, "sp", "on");
	expect(&s, "pp", "4");
	expect(&s, "vpp", "1");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "256");
	expect(&s, "seq", "4096");
	expect(&s, "precision", "fp8");
	expect(&s, "fp8_recipe", "current-scaling");
	read_good("megatron",
		  RECIPE "  pretrain.trainer.strategy.context_parallel_size = 2\n", &s);
	expect(&s, "cp", "2");
}

/* What whoever calls the function knows is not made up. */
static void a_callers_degree_is_not_known(void **state)
{
	(void)state;
	read_refused("megatron",
		     "import nemo_run as run\n"
		     "def recipe(args, tp_size):\n"
		     "  r = llama31_70b.pretrain_recipe()\n"
		     "  r = set_primary_perf_configs(r, tp_size=tp_size)\n",
		     "tp_size comes from tp_size, which this file does not set");
	read_refused("megatron",
		     "import nemo_run as run\n"
		     "def recipe(args):\n"
		     "  r = llama31_70b.pretrain_recipe()\n"
		     "  r.trainer.strategy.tensor_model_parallel_size = args.tp\n",
		     "comes from args.tp, which this file does not set");
	read_refused("megatron",
		     "import nemo_run as run\n"
		     "r = zz9.pretrain_recipe()\n"
		     "r.trainer.strategy.tensor_model_parallel_size = 1\n",
		     "no model 'zz9' in the library");
}

/* Slurm tells a job what its script has asked for. */
static void slurms_variables_are_known(void **state)
{
	static const char script[] =
		"#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=4\n"
		"torchrun --nnodes $SLURM_NNODES --nproc-per-node 4 pretrain_gpt.py "
		"--num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
		"--seq-length 4096 --max-position-embeddings 4096 --vocab-size 32000 "
		"--tensor-model-parallel-size $SLURM_GPUS_PER_NODE "
		"--micro-batch-size 1 --global-batch-size $((SLURM_NNODES * 16))\n";
	static const struct script_given given = { .sets = 1,
						   .set = { "SLURM_NNODES=8" } };
	struct scenario s;

	(void)state;
	read_good("megatron", script, &s);
	expect(&s, "tp", "4");
	expect(&s, "gpus", "16");
	expect(&s, "gbs", "64");
	/* what the caller says stands over it */
	read_given(&given);
	read_good("megatron", script, &s);
	read_given(NULL);
	expect(&s, "gpus", "32");
	expect(&s, "gbs", "128");
}

/* Layers of a package of its own are not what the flags beside it say. */
static void foreign_layers_are_told(void **state)
{
#define SHAPE                                                                    \
	"torchrun pretrain_gpt.py --num-layers 24 --hidden-size 1024 --swiglu "  \
	"--num-attention-heads 8 --kv-channels 256 --group-query-attention "     \
	"--num-query-groups 2 --ffn-hidden-size 3584 --vocab-size 248320 "       \
	"--seq-length 4096 --micro-batch-size 1 --position-embedding-type rope " \
	"--disable-bias-linear --normalization RMSNorm "
	struct scenario s, gated;

	(void)state;
	read_good("megatron",
		  SHAPE "--spec slime_plugins.models.qwen3_5 get_qwen3_5_spec\n", &s);
	assert_non_null(strstr(s.model.approximate,
			       "--spec slime_plugins.models.qwen3_5 get_qwen3_5_spec "
			       "builds its layers"));
	read_good("megatron",
		  SHAPE "--spec mindspeed_llm.tasks.models.spec.qwen3_spec "
			"layer_spec\n",
		  &s);
	assert_string_equal(s.model.approximate, "");
	read_good("megatron", SHAPE "--use-gated-attention\n", &gated);
	assert_true(gated.model.kind[0].attention.output_gate);
	assert_false(s.model.kind[0].attention.output_gate);
#undef SHAPE
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_type_has_its_recipe),
		cmocka_unit_test(a_script_sets_more_than_it_is_told),
		cmocka_unit_test(a_command_in_a_text_is_read),
		cmocka_unit_test(a_document_is_a_script),
		cmocka_unit_test(a_recipe_of_nemo_2_is_read),
		cmocka_unit_test(a_callers_degree_is_not_known),
		cmocka_unit_test(slurms_variables_are_known),
		cmocka_unit_test(foreign_layers_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
