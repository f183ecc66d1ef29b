/* test_megatron.c - launches of Megatron-LM as scenarios, in all their forms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "presets/megatron/megatron.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static const char script[] =
	"#!/bin/bash\n"
	"#SBATCH --nodes=4\n"
	"TP=${TP:-4}\n"
	"PP=2 # not --num-layers 3\n"
	"MODEL_ARGS=(\n"
	"  --num-layers $((PP * 16))\n"
	"  --hidden-size 4096 --num-attention-heads 32\n"
	"  --group_query_attention --num_query_groups 8\n"
	"  --swiglu --ffn-hidden-size=14336 --seq-length 8192\n"
	"  --padded-vocab-size 128256\n"
	")\n"
	"MODEL_ARGS+=(--untie-embeddings-and-output-weights --disable-bias-linear)\n"
	"LAUNCH=\"--nproc_per_node 8 --nnodes 4 --node_rank $RANK\"\n"
	"torchrun $LAUNCH pretrain_gpt.py \\\n"
	"  \"${MODEL_ARGS[@]}\" \\\n"
	"  --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} \\\n"
	"  --sequence-parallel --use-distributed-optimizer --bf16 \\\n"
	"  --num-layers-per-virtual-pipeline-stage 4 --no-overlap-p2p-communication "
	"\\\n"
	"  --micro-batch-size 2 --global-batch-size 128 --overlap-grad-reduce \\\n"
	"  --recompute-granularity selective --recompute-modules core_attn moe_act mhc "
	"\\\n"
	"  --data-path `rm -rf x` $(touch y) --lr 3e-4\n";

static void test_megatron_script(void **state)
{
	struct scenario s;
	struct model_counts counts;

	(void)state;
	read_good("megatron", script, &s);
	expect(&s, "tp", "4");
	expect(&s, "pp", "2");
	expect(&s, "vpp", "4");
	expect(&s, "sp", "on");
	expect(&s, "zero", "1");
	expect(&s, "gpus", "32");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "128");
	expect(&s, "seq", "8192");
	expect(&s, "schedule", "interleaved");
	expect(&s, "recompute", "selective");
	expect(&s, "recompute_modules", "core_attn+moe_act");
	expect(&s, "overlap_grad_reduce", "on");
	expect(&s, "overlap_param_gather", "off");
	expect(&s, "overlap_p2p", "off");
	expect(&s, "precision", "bf16");
	assert_int_equal(s.model.layers, 32);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 8);
	/* the shape of Llama-3 8B but for learned positions of no stated length and
	 * layer norms with a bias: 8.03 B */
	model_count(&s.model, &counts);
	assert_close(counts.total, 8.03e9, 1e-3);
	assert_true(noted(IMPORT_NOT_MODELLED, "recompute-modules"));
	assert_true(noted(IMPORT_NOT_MODELLED, "lr"));
	assert_true(noted(IMPORT_TAKEN, "hidden-size"));
	assert_false(noted(IMPORT_NOT_MODELLED, "node-rank"));
}

/* recompute-num-layers is of each chunk with method block (Megatron's arguments.py),
 * and ours of a stage: that times the chunks. uniform recomputes all, in such units. */
static void test_blocks_are_of_a_chunk(void **state)
{
	static const char head[] =
		"pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
		"--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 "
		"--global-batch-size 128 --pipeline-model-parallel-size 2 "
		"--num-layers-per-virtual-pipeline-stage 4 --recompute-granularity "
		"full --recompute-num-layers 3 --recompute-method ";
	char text[600];
	struct scenario s;

	(void)state;
	snprintf(text, sizeof text, "%sblock\n", head);
	read_good("megatron", text, &s);
	expect(&s, "vpp", "4");
	expect(&s, "recompute_layers", "12");
	snprintf(text, sizeof text, "%suniform\n", head);
	read_good("megatron", text, &s);
	expect(&s, "recompute_layers", "all");
	/* the first none of each chunk */
	snprintf(text, sizeof text, "%sblock --recompute-num-layers 0\n", head);
	read_good("megatron", text, &s);
	expect(&s, "recompute", "none");
}

/* A tokenizer of one's own says in its file's name how many thousands it has. */
static void test_thousands_of_words(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "python pretrain_gpt.py --num-layers 12 --hidden-size 512 "
		  "--num-attention-heads 8 --tokenizer-type Llama2Tokenizer "
		  "--tokenizer-model /src/v3.0/own-tokenizer-100k.ver3.model "
		  "--micro-batch-size 1 --global-batch-size 8",
		  &s);
	assert_int_equal(s.model.vocab, 100000);
	assert_true(noted(IMPORT_ASSUMED, "vocab-size"));
	read_good("megatron",
		  "python pretrain_gpt.py --num-layers 12 --hidden-size 512 "
		  "--num-attention-heads 8 --tokenizer-type Llama2Tokenizer "
		  "--tokenizer-model /src/1000kinds/plain.model "
		  "--micro-batch-size 1 --global-batch-size 8",
		  &s);
	assert_int_equal(s.model.vocab, 32000);
}

/* MindSpeed-LLM's list of the layers of each stage. */
static void test_layers_of_stages(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "python pretrain_gpt.py --num-layers 15 --hidden-size 1024 "
		  "--num-attention-heads 16 --pipeline-model-parallel-size 4 "
		  "--num-layer-list 3,4,4,4 --micro-batch-size 1 "
		  "--global-batch-size 64",
		  &s);
	expect(&s, "split", "custom");
	expect(&s, "layout", "Et*3|t*4|t*4|t*4L");
	assert_true(noted(IMPORT_TAKEN, "num-layer-list"));
}

/* A command in a variable, shown and then read once more: its backslashes go. */
static void test_eval_reads_once_more(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "ARGS=(--num-layers 16 --hidden-size 4096\n"
		  "--num-attention-heads 32 --seq-length 4096\n"
		  "--micro-batch-size 1 --global-batch-size 64\n"
		  "--pipeline-model-parallel-size 2\n"
		  "--pipeline-model-parallel-layout 'Et*3\\|\\(tttt\\|\\)*2tttttL')\n"
		  "cmd=\"python pretrain_gpt.py ${ARGS[@]}\"\n"
		  "echo $cmd\neval $cmd\n",
		  &s);
	expect(&s, "split", "custom");
	expect(&s, "layout", "Et*3|(tttt|)*2tttttL");
	expect(&s, "vpp", "2");
}

/* What Megatron refuses must not be read as if it were not there. */
static void test_megatron_refused(void **state)
{
	struct scenario s;
	struct findings findings;

	(void)state;
	read_good("megatron",
		  "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 "
		  "--hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
		  "--vocab-size 32000 --micro-batch-size 1 --global-batch-size 64 "
		  "--bf16 --recompute-granularity selective --recompute-num-layers 3\n",
		  &s);
	expect(&s, "recompute_layers", "3");
	assert_int_equal(scenario_check(&s, &findings), 1);
	assert_string_equal(findings.item[0].rule->code, "E17");
}

/* LLM360's K2 (k2-train, scripts/pretrain_65b.sh): a word of many lines, none of which
 * has a flag behind a blank. */
static void test_word_of_lines(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "bcprun -p 8 --env 'A=1' -c 'python /mount/main.py \\\n"
		  "--num-layers 80 \\\n--hidden-size 8192 \\\n"
		  "--ffn-hidden-size 22016 \\\n--num-attention-heads 64 \\\n"
		  "--swiglu \\\n--vocab-size 32032 \\\n--seq-length 2048 \\\n"
		  "--tensor-model-parallel-size 8 \\\n"
		  "--pipeline-model-parallel-size 4 \\\n"
		  "--micro-batch-size 4 \\\n--global-batch-size 2040 \\\n"
		  "--bf16\n'\n",
		  &s);
	expect(&s, "tp", "8");
	expect(&s, "pp", "4");
	expect(&s, "gbs", "2040");
	assert_int_equal(s.model.layers, 80);
}

/* Launches of other kinds: a string of options inside sh -c, a model by its id, one
 * that nothing names, deepspeed's own words for the machines. */
static void test_megatron_launches(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "#SBATCH -N 4\n#SBATCH --gpus-per-node=8\nDIR=`pwd`\noptions=\" \\\n"
		  "  --tensor-model-parallel-size ${TP:-2} --num-layers 24 \\\n"
		  "  --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 \\\n"
		  "  --micro-batch-size 2 --global-batch-size 2048 --bf16\"\n"
		  "run_cmd=\"python -u ${DIR}/pretrain_gpt.py ${options}\"\n"
		  "srun -l --container-image nvcr sh -c \"${run_cmd}\"\n",
		  &s);
	expect(&s, "tp", "2");
	expect(&s, "gpus", "32");
	expect(&s, "gbs", "2048");
	assert_int_equal(s.model.layers, 24);
	read_good("megatron",
		  "megatron sft --model Qwen/Qwen3-30B-A3B "
		  "--tensor_model_parallel_size 2 --expert_model_parallel_size 8 "
		  "--micro_batch_size 1 --global_batch_size 16\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-30b-a3b");
	assert_true(noted(IMPORT_TAKEN, "model"));
	read_refused("megatron",
		     "x --tensor-model-parallel-size 1 --expert-model-parallel-size 16 "
		     "--micro-batch-size 1 --global-batch-size 16\n",
		     "names no model");
	read_good("megatron",
		  "deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --num-layers 8 "
		  "--hidden-size 512 --num-attention-heads 8 --bf16\n",
		  &s);
	expect(&s, "gpus", "16");
}

#define SHAPE                                                               \
	"torchrun --nproc_per_node 8 %s --num-layers 8 --hidden-size 1024 " \
	"--num-attention-heads 16 --seq-length 2048 "

/* Flags that forks and older versions call otherwise. */
static void test_forks(void **state)
{
	static const struct {
		const char *flags, *knob, *value;
	} forks[] = {
		{ "--checkpoint-activations", "recompute", "full" },
		{ "--activations-checkpoint-method uniform", "recompute", "full" },
		{ "--bf16 --fp8-hybrid", "precision", "fp8" },
		{ "--ds-sequence-parallel-size 4", "cp", "4" },
		{ "--ds-sequence-parallel-size 4", "cp_kind", "ulysses" },
		{ "--ds-sequence-parallel-size 1", "cp_kind", "ring" },
		{ "--model-parallel-size 4", "tp", "4" },
		{ "--model-parallel-size 4 --tensor-model-parallel-size 2", "tp", "2" },
		{ "--batch-size 4", "mbs", "4" },
		{ "--step-batch-size-schedule '0:768 250B:1536'", "gbs", "1536" },
		{ "--language-model-type 2b --decoder-seq-length 512", "seq", "512" },
	};
	static const struct {
		const char *program, *flags, *why;
	} doubts[] = {
		{ "pretrain_bert.py", "", "an encoder" },
		{ "pretrain_gpt.py", "--tokenizer-type BertWordPieceCase",
		  "an encoder" },
		{ "pretrain_gpt.py", "--data-path my_text_sentence", "an encoder" },
		{ "x/pretrain_retro.py", "", "retrieval" },
		{ "pretrain_gpt.py", "--transformer-type huggingface", "Hugging Face" },
		{ "pretrain_vlm.py", "--vision-model-type clip", "vision" },
	};
	char text[512];
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof forks / sizeof forks[0]; i++) {
		snprintf(text, sizeof text, SHAPE "%s\n", "pretrain_gpt.py",
			 forks[i].flags);
		read_good("megatron", text, &s);
		expect(&s, forks[i].knob, forks[i].value);
		if (i + 1 < sizeof forks / sizeof forks[0])
			assert_string_equal(s.model.approximate, "");
	}
	for (size_t i = 0; i < sizeof doubts / sizeof doubts[0]; i++) {
		snprintf(text, sizeof text, SHAPE "%s\n", doubts[i].program,
			 doubts[i].flags);
		read_good("megatron", text, &s);
		assert_non_null(strstr(s.model.approximate, doubts[i].why));
	}
	snprintf(text, sizeof text,
		 SHAPE "--intermediate-size 3000 --attention-head-type multiquery "
		       "--n-head-kv 4 --normalization rmsnorm "
		       "--position-embedding-type rotary\n",
		 "train.py");
	read_good("megatron", text, &s);
	assert_int_equal(s.model.kind[0].ffn, 3000);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 4);
	assert_int_equal(s.model.norm, NORM_RMS);
	assert_int_equal(s.model.position, POSITION_ROPE);
	/* a list of experts, one count a mixture */
	snprintf(text, sizeof text,
		 SHAPE "--num-experts 32 32 64 64 --moe-expert-parallel-size 2 "
		       "--mlp-type residual\n",
		 "train.py");
	read_good("megatron", text, &s);
	assert_int_equal(s.model.moe.experts, 48);
	assert_true(noted(IMPORT_APPROXIMATE, "num-experts"));
	assert_true(s.model.moe.shared_ffn > 0);
}

/* Words of Megatron-DeepSpeed, and experts behind a narrower width. */
static void test_megatron_deepspeed(void **state)
{
	static const char launch[] =
		"ZERO=2\ndeepspeed --num_gpus 8 pretrain_gpt.py --num-layers 4 "
		"--hidden-size 512 --num-attention-heads 8 --fp16 --deepspeed "
		"--zero-stage ${ZERO} --micro-batch-size 1 --topk 1 "
		"--moe-expert-parallel-size ";
	struct scenario s;
	char text[512];

	(void)state;
	snprintf(text, sizeof text, "%s4 --num-experts 16\n", launch);
	read_good("megatron", text, &s);
	expect(&s, "zero", "2");
	expect(&s, "ep", "4");
	assert_true(noted(IMPORT_TAKEN, "zero-stage"));
	assert_int_equal(s.model.moe.experts_per_token, 1);
	assert_int_equal(s.model.kind[s.model.layer[0]].mlp, MLP_DENSE);
	assert_int_equal(s.model.kind[s.model.layer[1]].mlp, MLP_MOE);
	/* a dense one */
	snprintf(text, sizeof text, "%s1 --num-experts 1\n", launch);
	read_good("megatron", text, &s);
	assert_int_equal(s.model.moe.experts, 0);
	expect(&s, "zero", "2");
	read_refused("megatron",
		     "x --num-layers 4 --hidden-size 512 --num-attention-heads 8 "
		     "--zero-stage 4\n",
		     "--zero-stage");
}

static void test_megatron_latent_experts(void **state)
{
	struct scenario s;
	char *text;

	(void)state;
	read_good("megatron",
		  "x --num-layers 2 --hidden-size 512 --num-attention-heads 8 "
		  "--num-experts 8 --moe-ffn-hidden-size 256 --moe-latent-size 128 "
		  "--activation-func-clamp-value 7.5 --bf16\n",
		  &s);
	assert_int_equal(s.model.moe.expert_latent, 128);
	assert_float_equal(s.model.moe.activation_limit, 7.5, 0);
	assert_string_equal(s.model.approximate, "");
	text = megatron_write(&s);
	assert_non_null(strstr(text, "--moe-latent-size 128"));
	assert_non_null(strstr(text, "--activation-func-clamp-value 7.5"));
	free(text);
}

static void test_megatron_yaml(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\nMODEL_ARGS:\n"
		  "  --num-layers: 6\n  --hidden-size: 1024\n"
		  "  --num-attention-heads: 16\n  --num-experts: 8\n"
		  "  --moe-router-topk: 2\n  --moe-layer-freq: ([0]*2+[1]*4)\n"
		  "  --moe-token-dispatcher-type: flex\n"
		  "  --moe-flex-dispatcher-backend: hybridep\n"
		  "  --tensor-model-parallel-size: 1\n"
		  "  --tensor-model-parallel-size: 2\n" /* argparse: the last */
		  "  --expert-model-parallel-size: 4\n  --sequence-parallel: true\n"
		  "  --swiglu: false\n  --recompute-modules: \"[layernorm mlp]\"\n"
		  "  --recompute-granularity: selective\n  --fp8-format: hybrid\n"
		  "  --fp8-recipe: tensorwise\n  --bf16: true\n  --seq-length: 512\n"
		  "  --micro-batch-size: 1\n  --global-batch-size: 32\n",
		  &s);
	expect(&s, "tp", "2");
	expect(&s, "ep", "4");
	expect(&s, "moe_dispatcher", "hybridep");
	expect(&s, "precision", "fp8");
	expect(&s, "fp8_recipe", "current-scaling");
	expect(&s, "recompute_modules", "layernorm+mlp");
	expect(&s, "gpus", "8"); /* one node, as nobody said */
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	assert_int_equal(s.model.kinds, 2);
	assert_int_equal(s.model.kind[s.model.layer[1]].mlp, MLP_DENSE);
	assert_int_equal(s.model.kind[s.model.layer[2]].mlp, MLP_MOE);
	assert_false(s.model.gated_mlp);
}

/* Whole numbers as Python's int() takes them; a name with bars stays one. */
static void test_bars_in_numbers(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "python pretrain_gpt.py --num-layers 2_4 --hidden-size 1_024 "
		  "--num-attention-heads 16 --seq-length 4_096 "
		  "--max-position-embeddings 4_096 --global-batch-size 1_024 "
		  "--wandb-exp-name 2024_05\n",
		  &s);
	assert_int_equal(s.model.layers, 24);
	assert_int_equal(s.model.hidden, 1024);
	expect(&s, "seq", "4096");
	expect(&s, "gbs", "1024");
	assert_true(noted(IMPORT_NOT_MODELLED, "wandb-exp-name"));
	for (int i = 0; i < report.count; i++)
		if (strcmp(report.note[i].key, "wandb-exp-name") == 0)
			assert_string_equal(report.note[i].text, "2024_05");
	read_refused("megatron",
		     "python pretrain_gpt.py --num-layers 24 --hidden-size 1__024 "
		     "--num-attention-heads 16\n",
		     "--hidden-size is '1__024'");
	/* Hydra's nothing, in quotes */
	read_good("megatron",
		  "MODEL_ARGS:\n  model.num_layers: 12\n  model.hidden_size: 768\n"
		  "  model.num_attention_heads: 12\n"
		  "  model.virtual_pipeline_model_parallel_size: 'null'\n",
		  &s);
	expect(&s, "vpp", "1");
}

static void test_megatron_printed(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "0: using world size: 64, data-parallel size: 4\n"
		  "------------------------ arguments ------------------------\n"
		  "  add_bias_linear ................................. False\n"
		  "  bf16 ............................................ True\n"
		  "  cp_comm_type .................................... ['p2p']\n"
		  "  attention_backend ............................... "
		  "AttnBackend.flash\n"
		  "0:   data_parallel_size ............................. 4\n"
		  "  ffn_hidden_size ................................. 53248\n"
		  "  global_batch_size ............................... 64\n"
		  "  hidden_size ..................................... 16384\n"
		  "  kv_channels ..................................... 128\n"
		  "  micro_batch_size ................................ 1\n"
		  "  microbatch_group_size_per_vp_stage .............. 4\n"
		  "  moe_layer_freq .................................. 1\n"
		  "  num_attention_heads ............................. 128\n"
		  "  num_experts ..................................... None\n"
		  "  num_layers ...................................... 126\n"
		  "  overlap_p2p_comm ................................ False\n"
		  "  pipeline_model_parallel_layout .................. None\n"
		  "  pipeline_model_parallel_size .................... 2\n"
		  "  recompute_granularity ........................... full\n"
		  "  recompute_method ................................ block\n"
		  "  recompute_num_layers ............................ 5\n"
		  "  seq_length ...................................... 8192\n"
		  "  tensor_model_parallel_size ...................... 8\n"
		  "  use_distributed_optimizer ....................... True\n"
		  "  world_size ...................................... 64\n"
		  "-------------------- end of arguments ---------------------\n",
		  &s);
	expect(&s, "tp", "8");
	expect(&s, "gpus", "64");
	expect(&s, "overlap_p2p", "off");
	expect(&s, "attention_kernel", "flash2");
	expect(&s, "cp_kind", "ring");
	expect(&s, "recompute", "full");
	expect(&s, "recompute_layers", "5");
	expect(&s, "micro_batch_group", "4");
	expect(&s, "layout", "none");
	assert_false(s.model.mlp_bias);
	assert_int_equal(s.model.layers, 126);
}

static void test_megatron_layout(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "torchrun --nproc_per_node 4 pretrain.py --num-layers 8 "
		  "--hidden-size 512 --num-attention-heads 8 --seq-length 512 "
		  "--micro-batch-size 1 --global-batch-size 8 "
		  "--pipeline-model-parallel-size 4 "
		  "--pipeline-model-parallel-layout 'Et|t|t|t|t|t|t|tL'\n",
		  &s);
	expect(&s, "split", "custom");
	expect(&s, "vpp", "2");
	expect(&s, "layout", "Et|t|t|t|t|t|t|tL");
	assert_int_equal(scenario_check(&s, NULL), 0);
}

/* Each is refused with FILE:LINE and the flag; nothing is changed. */
static void test_megatron_hostile(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "file:1" },
		{ "echo hello\n", "no flags" },
		{ "x --num-layers 4 \\\n --hidden-size -3 --num-attention-heads 4",
		  "file:2" },
		{ "x --num-layers 99999999999999999999 --hidden-size 64 "
		  "--num-attention-heads 4",
		  "num-layers" },
		{ "x --num-layers 4 --hidden-size 64 --num-attention-heads 0",
		  "file:1" },
		{ "x --num-layers 4 --hidden-size 64 --num-attention-heads 4 \\\n"
		  "--tensor-model-parallel-size 0",
		  "file:2" },
		{ "x --num-layers 4 --hidden-size 64 --num-attention-heads 4 "
		  "--global-batch-size nan",
		  "global-batch-size" },
		{ "x --num-layers 4 --hidden-size 64 --num-attention-heads 4 "
		  "--num-experts 4 --moe-layer-freq '[0]*99999999999'",
		  "moe-layer-freq" },
		{ "x --num-layers 4 --hidden-size 64 --num-attention-heads 4 "
		  "--moe-layer-freq __import__('os')",
		  "moe-layer-freq" },
		{ "x --num-layers 4 --hidden-size 64 --num-attention-heads 4 "
		  "--pipeline-model-parallel-layout '((((((t'",
		  "layout" },
		{ "MODEL_ARGS: [\n", "file:" },
		{ "MODEL_ARGS:\n  model.config.num_layers: 12\n"
		  "  model.config.hidden_size: 768\n"
		  "  model.config.num_attention_heads: 16\n",
		  "model.config.num_layers changes a recipe of NeMo 2" },
		{ "python analyze_data.py --analyzing-task reduce --num-layers 1 "
		  "--hidden-size 1 --num-attention-heads 1\n",
		  "an analysis of data and trains nothing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		read_refused("megatron", bad[i].text, bad[i].says);
}

/* Any beginning of a script is read or refused, never more. */
static void test_megatron_cut(void **state)
{
	char text[sizeof script];
	struct scenario s;
	struct error error;

	(void)state;
	for (size_t length = 0; length < sizeof script; length += 3) {
		memcpy(text, script, length);
		text[length] = '\0';
		if (!read_as("megatron", text, &s, &error))
			assert_true(error.text[0] != '\0');
	}
}

/* What import writes is read back as the same scenario. */
static void test_yaml_again(void **state)
{
	struct scenario s, again;
	struct error error = { "" };
	char *text;

	(void)state;
	read_good("megatron", script, &s);
	text = scenario_write(&s);
	assert_non_null(text);
	if (!scenario_parse(&again, "written", text, strlen(text), NULL, &error))
		fail_msg("%s", error.text);
	for (int i = 0; i < knob_count(); i++)
		assert_true(knob_same(&s, &again, &knob_table[i]));
	free(text);
}

/* Overrides as words of a command, in the forms of real launch scripts. */
static void test_bridge_words(void **state)
{
	static const char *const forms[] = {
		/* one line, as in the guide from Megatron-LM to Megatron-Bridge */
		"python pretrain.py model.tensor_model_parallel_size=4 "
		"model.num_layers=32 model.hidden_size=4096 "
		"model.num_attention_heads=32 train.micro_batch_size=2 "
		"train.global_batch_size=128 model.seq_length=8192 "
		"model.sequence_parallel=true +mixed_precision=bf16_mixed "
		"model.recompute_granularity=selective "
		"'model.recompute_modules=[mlp,moe_act]'",
		/* several lines, variables, additions and flags between them */
		"TP=4\nSEQ=8192\nuv run torchrun --nproc_per_node=8 run.py --log x \\\n"
		"  model.tensor_model_parallel_size=${TP} \\\n"
		"  model.num_layers=32 model.hidden_size=4096 \\\n"
		"  model.num_attention_heads=32 \\\n  --tee 3 \\\n"
		"  train.micro_batch_size=2 train.global_batch_size=128 \\\n"
		"  model.virtual_pipeline_model_parallel_size=null \\\n"
		"  dataset.seq_length=$SEQ ++model.sequence_parallel=True \\\n"
		"  mixed_precision=bf16_mixed model.recompute_granularity=selective "
		"\\\n  model.recompute_modules='[\"mlp\", \"moe_act\"]'\n",
		/* a command put together in a variable, run inside a container */
		"#SBATCH --nodes=1\n#SBATCH --gpus-per-node=8\nO=\" \\\n"
		"  model.tensor_model_parallel_size=4 model.num_layers=32 \\\n"
		"  model.hidden_size=4096 model.num_attention_heads=32 \\\n"
		"  train.micro_batch_size=2 train.global_batch_size=128 \\\n"
		"  model.seq_length=8192 model.sequence_parallel=True \\\n"
		"  mixed_precision=bf16_mixed model.recompute_granularity=selective "
		"\\\n  model.recompute_modules=[mlp,moe_act] \\\n\"\n"
		"C=\"python run.py\"\nC=\"$C $O\"\n"
		"srun --mpi=pmix bash -c \"$C\"\n",
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		read_good("megatron", forms[i], &s);
		assert_int_equal(s.model.layers, 32);
		assert_int_equal(s.model.hidden, 4096);
		expect(&s, "tp", "4");
		expect(&s, "sp", "on");
		expect(&s, "mbs", "2");
		expect(&s, "gbs", "128");
		expect(&s, "seq", "8192");
		expect(&s, "gpus", "8");
		expect(&s, "precision", "bf16");
		expect(&s, "recompute", "selective");
		expect(&s, "recompute_modules", "mlp+moe_act");
		assert_true(noted(IMPORT_TAKEN, "tensor-model-parallel-size"));
	}
	/* called otherwise than Megatron's flag */
	read_good("megatron",
		  "python x.py model.num_layers=8 model.hidden_size=512 "
		  "model.num_attention_heads=8 model.pipeline_model_parallel_size=4 "
		  "model.virtual_pipeline_model_parallel_size=2 "
		  "model.microbatch_group_size_per_vp_stage=8 "
		  "train.micro_batch_size=1 train.global_batch_size=16\n",
		  &s);
	expect(&s, "micro_batch_group", "8");
	read_refused("megatron",
		     "python x.py model.tensor_model_parallel_size=$TP "
		     "model.num_layers=2 model.hidden_size=64 "
		     "model.num_attention_heads=4",
		     "file:1: --tensor-model-parallel-size");
	read_refused(
		"megatron",
		"python x.py \\\n model.tensor_model_parallel_size=2 \\\n"
		" model.num_layers=x model.hidden_size=64 model.num_attention_heads=4",
		"file:3: --num-layers");
}

/* The same in a file of YAML, of Megatron-Bridge and of NeMo. */
static void test_bridge_yaml(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "model:\n  tensor_model_parallel_size: 4\n  num_layers: 32\n"
		  "  hidden_size: 4096\n  num_attention_heads: 32\n"
		  "  sequence_parallel: true\n  context_parallel_size: null\n"
		  "  recompute_granularity: selective\n"
		  "  recompute_modules: [mlp, moe_act]\n  bias_dropout_fusion: false\n"
		  "train:\n  micro_batch_size: 2\n  global_batch_size: 128\n"
		  "dataset:\n  sequence_length: 8192\n"
		  "mixed_precision: bf16_mixed\nlogger:\n  log_interval: 1\n",
		  &s);
	assert_int_equal(s.model.layers, 32);
	expect(&s, "tp", "4");
	expect(&s, "cp", "1");
	expect(&s, "sp", "on");
	expect(&s, "gbs", "128");
	expect(&s, "seq", "8192");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute_modules", "mlp+moe_act");
	read_good("megatron",
		  "name: gpt\ntrainer:\n  devices: 8\n  num_nodes: 2\n"
		  "  precision: bf16\nmodel:\n  tensor_model_parallel_size: 2\n"
		  "  encoder_seq_length: 4096\n  num_layers: 4\n  hidden_size: 512\n"
		  "  num_attention_heads: 8\n  micro_batch_size: 1\n"
		  "  global_batch_size: 64\n  optim:\n    name: adam\n    lr: 0.1\n",
		  &s);
	expect(&s, "gpus", "16");
	expect(&s, "tp", "2");
	expect(&s, "seq", "4096");
	assert_true(noted(IMPORT_NOT_MODELLED, "lr"));
	read_refused("megatron",
		     "trainer:\n  devices: 9223372036854775807\n"
		     "  num_nodes: 9223372036854775807\nmodel:\n  num_layers: 4\n"
		     "  hidden_size: 512\n  num_attention_heads: 8\n",
		     "file:2: ");
	read_refused("megatron",
		     "model:\n  num_layers: 4\n  hidden_size: wide\n"
		     "  num_attention_heads: 8\n",
		     "file:3: --hidden-size");
}

/* What a recipe names, and what it leaves open. */
static void test_bridge_recipe(void **state)
{
	static const struct {
		const char *words, *model;
	} recipes[] = {
		{ "--recipe llama31_405b_pretrain_config", "llama3.1-405b" },
		{ "--recipe qwen3_30b_a3b_pretrain_16gpu_h100_bf16_config",
		  "qwen3-30b-a3b" },
		{ "--recipe=deepseek_v3_sft_config", "deepseek-v3" },
		{ "--recipe qwen25_1p5b_sft_1gpu_h100_bf16_config", "qwen2.5-1.5b" },
		{ "--recipe qwen3_600m_sft_yarn_128k_config", "qwen3-0.6b" },
		{ "--recipe gemma3_vl_12b_peft_config", "gemma3-12b" },
		{ "--recipe kimi_k25_vl_sft_config", "kimi-k2.5" },
		{ "--recipe qwen35_vl_9b_fsdp_sft_config", "qwen3.5-9b" },
		{ "--model gpt_oss_20b --mode pretrain --dataset mock", "gpt-oss-20b" },
	};
	struct scenario s;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
		snprintf(text, sizeof text,
			 "torchrun --nproc_per_node=8 run_recipe.py %s -sl 8192 -mb 1 "
			 "-tp 2 -gb 64 model.sequence_parallel=true",
			 recipes[i].words);
		read_good("megatron", text, &s);
		assert_string_equal(s.model.name, recipes[i].model);
		expect(&s, "tp", "2");
		expect(&s, "seq", "8192");
		expect(&s, "gbs", "64");
		expect(&s, "sp", "on");
		expect(&s, "precision", "bf16");
		assert_true(noted(IMPORT_ASSUMED, "recipe"));
		/* but where the name has it */
		assert_int_equal(noted(IMPORT_ASSUMED, "precision"),
				 !strstr(recipes[i].words, "_bf16_"));
	}
	read_good("megatron",
		  "python setup_experiment.py --model_recipe_name llama3_70b "
		  "--num_gpus 64 --gpus_per_node 8 -tp 4 -pp 4 -mb 1 -gb 128",
		  &s);
	assert_string_equal(s.model.name, "llama3-70b");
	expect(&s, "gpus", "64");
	/* of these scripts the degrees hang on how many there are */
	read_refused("megatron",
		     "python setup_experiment.py --model_recipe_name llama3_70b "
		     "--num_gpus $JOB_TOTAL_GPUS --gpus_per_node 8",
		     "--num-gpus comes from $JOB_TOTAL_GPUS");
}

/* NeMo's overrides have the same form, with names of their own. */
static void test_nemo_words(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "TP=4\npython3 -u megatron_gpt_pretraining.py \\\n"
		  "  trainer.precision=bf16-mixed trainer.num_nodes=4 \\\n"
		  "  trainer.devices=8 ++model.tensor_model_parallel_size=$TP \\\n"
		  "  model.pipeline_model_parallel_size=2 \\\n"
		  "  model.encoder_seq_length=4096 model.num_layers=32 \\\n"
		  "  model.hidden_size=4096 model.num_attention_heads=32 \\\n"
		  "  training.model.micro_batch_size=1 \\\n"
		  "  model.global_batch_size=64 exp_manager.create_x=False \\\n"
		  "  model.activations_checkpoint_granularity=selective \\\n"
		  "  model.tokenizer.merge_file=/a/merges.txt\n",
		  &s);
	expect(&s, "gpus", "32");
	expect(&s, "tp", "4");
	expect(&s, "pp", "2");
	expect(&s, "seq", "4096");
	expect(&s, "mbs", "1");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "selective");
	assert_true(noted(IMPORT_NOT_MODELLED, "merge-file"));
}

static int layers_of(const struct model *m, enum mixer_kind mixer, enum mlp_kind mlp)
{
	int count = 0;

	for (int i = 0; i < m->layers; i++)
		count += m->kind[m->layer[i]].mixer == mixer &&
			 m->kind[m->layer[i]].mlp == mlp;
	return count;
}

#define FORK                                                             \
	"--hidden-size 1024 --num-attention-heads 16 --seq-length 2048 " \
	"--max-position-embeddings 2048 --padded-vocab-size 32000 "

/* Forks' names of what Megatron has; a program of another network; and what no reader
 * knows but looks like the shape. */
static void shapes_of_forks(void **state)
{
	struct scenario s;

	(void)state;
	/* MindSpeed: dense layers first, places that hold none, older names */
	read_good("megatron",
		  "pretrain_gpt.py --num-layers 8 --noop-layers 6,7 --ffn-hidden-size "
		  "4096 --num-experts 16 --moe-router-topk 2 --moe-intermediate-size "
		  "512 --n-shared-experts 1 --first-k-dense-replace 2 "
		  "--moe-layer-freq -1 --moe-token-dispatcher-type alltoall_seq "
		  "--pipeline-model-parallel-size 4 --geglu " FORK,
		  &s);
	assert_int_equal(s.model.layers, 6);
	assert_int_equal(layers_of(&s.model, MIXER_ATTENTION, MLP_DENSE), 2);
	assert_int_equal(layers_of(&s.model, MIXER_ATTENTION, MLP_MOE), 4);
	assert_int_equal(s.model.moe.expert_ffn, 512);
	assert_true(s.model.gated_mlp);
	expect(&s, "moe_dispatcher", "alltoall");
	expect(&s, "split", "balanced");
	assert_string_equal(s.model.approximate, "");
	/* Megatron's own other gated one */
	read_good("megatron", "pretrain_gpt.py --num-layers 2 --quick-geglu " FORK, &s);
	assert_true(s.model.gated_mlp);
	read_good("megatron", "pretrain_gpt.py --num-layers 2 --gelu-tanh " FORK, &s);
	assert_true(s.model.gated_mlp);
	/* a program of Mamba layers alone */
	read_good("megatron", "pretrain_mamba.py --num-layers 6 " FORK, &s);
	assert_int_equal(layers_of(&s.model, MIXER_MAMBA2, MLP_NONE), 6);
	read_refused("megatron",
		     "pretrain_mamba.py --num-layers 6 --hybrid-mlp-ratio 0.5 " FORK,
		     "--hybrid-mlp-ratio makes the program draw");
	/* '-' and M of a fork's own spec */
	read_refused("megatron",
		     "pretrain.py --hybrid-override-pattern M-*- --num-experts 8 " FORK,
		     "--num-experts 8, and the hybrid pattern has no E");
	read_good("megatron",
		  "pretrain_gpt.py --num-layers 4 --num-zero-experts 8 " FORK, &s);
	assert_string_equal(s.model.approximate, "not read: --num-zero-experts");
	read_good("megatron",
		  "pretrain_gpt.py --num-layers 4 --moe-router-enable-expert-bias "
		  "--linear-key-head-dim 0 --no-expert-log " FORK,
		  &s);
	assert_string_equal(s.model.approximate, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_word_of_lines),
		cmocka_unit_test(shapes_of_forks),
		cmocka_unit_test(test_megatron_script),
		cmocka_unit_test(test_blocks_are_of_a_chunk),
		cmocka_unit_test(test_eval_reads_once_more),
		cmocka_unit_test(test_layers_of_stages),
		cmocka_unit_test(test_thousands_of_words),
		cmocka_unit_test(test_megatron_refused),
		cmocka_unit_test(test_megatron_launches),
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_megatron_deepspeed),
		cmocka_unit_test(test_megatron_latent_experts),
		cmocka_unit_test(test_megatron_yaml),
		cmocka_unit_test(test_bars_in_numbers),
		cmocka_unit_test(test_megatron_printed),
		cmocka_unit_test(test_megatron_layout),
		cmocka_unit_test(test_megatron_hostile),
		cmocka_unit_test(test_megatron_cut),
		cmocka_unit_test(test_yaml_again),
		cmocka_unit_test(test_bridge_words),
		cmocka_unit_test(test_bridge_yaml),
		cmocka_unit_test(test_bridge_recipe),
		cmocka_unit_test(test_nemo_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
