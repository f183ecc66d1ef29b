/* test_bridge_recipes.c - recipes of Megatron-Bridge in Python as scenarios. The forms
 * are those of src/megatron/bridge/recipes (NVIDIA-NeMo/Megatron-Bridge@067f987df). */
#include <string.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

#define HEAD                                                                 \
	"from megatron.bridge.training.config import ConfigContainer\n\n"    \
	"LONG: int = 16 * 1024\n\n"                                          \
	"def dense_pretrain_64gpu_gb200_bf16_config(\n"                      \
	"    hf_path: str = \"Qwen/Qwen3-32B\",\n"                           \
	") -> ConfigContainer:\n"                                            \
	"    \"\"\"Recommended: TP=1.\"\"\"\n"                               \
	"    cfg = _pretrain_common()\n"                                     \
	"    cfg.model = AutoBridge.from_hf_pretrained(hf_path)"             \
	".to_megatron_provider(load_weights=False)\n"                        \
	"    cfg.model.tensor_model_parallel_size = 4\n"                     \
	"    cfg.model.pipeline_model_parallel_size = 2\n"                   \
	"    cfg.model.virtual_pipeline_model_parallel_size = None\n"        \
	"    cfg.model.sequence_parallel = True\n"                           \
	"    cfg.dataset.seq_length = LONG\n"                                \
	"    cfg.train.global_batch_size = 1_024\n"                          \
	"    cfg.optimizer.exp_avg_dtype = torch.bfloat16\n"                 \
	"    return cfg\n\n"                                                 \
	"def dense_peft_8gpu_h100_bf16_config() -> ConfigContainer:\n"       \
	"    cfg = _peft_common()\n"                                         \
	"    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\")"   \
	".get_model_config()\n"                                              \
	"    return cfg\n\n"                                                 \
	"def wide_pretrain_128gpu_gb200_bf16_config() -> ConfigContainer:\n" \
	"    cfg = dense_pretrain_64gpu_gb200_bf16_config()\n"               \
	"    cfg.model.tensor_model_parallel_size = 8\n"                     \
	"    return cfg\n\n"                                                 \
	"def hybrid_pretrain_8gpu_h100_bf16_config() -> ConfigContainer:\n"  \
	"    cfg = _pretrain_common()\n"                                     \
	"    cfg.model = HybridModelProvider(\n"                             \
	"        hybrid_layer_pattern=\"M-M*-\",\n"                          \
	"        hidden_size=1024, num_attention_heads=8,\n"                 \
	"        ffn_hidden_size=4096, tensor_model_parallel_size=2,\n"      \
	"    )\n"                                                            \
	"    return cfg\n\n"                                                 \
	"def strange_pretrain_config() -> ConfigContainer:\n"                \
	"    cfg = _pretrain_common()\n"                                     \
	"    cfg.model = OwnModelProvider(hidden_size=64, num_layers=2)\n"   \
	"    return cfg\n"

static void read_function(const char *name, struct scenario *out)
{
	read_given(&(struct script_given){ .function = name });
	read_good("megatron", HEAD, out);
	read_given(NULL);
}

static void a_recipe_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_function("dense_pretrain_64gpu_gb200_bf16_config", &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	assert_string_equal(s.cluster.name, "gb200-nvl72");
	expect(&s, "gpus", "64");
	expect(&s, "tp", "4");
	expect(&s, "pp", "2");
	expect(&s, "sp", "on");
	expect(&s, "seq", "16384");
	expect(&s, "gbs", "1024");
	expect(&s, "mbs", "2"); /* of _pretrain_common() */
	expect(&s, "precision", "bf16");
	expect(&s, "lora_rank", "off");
}

static void finetuning_has_adapters(void **state)
{
	struct scenario s;

	(void)state;
	read_function("dense_peft_8gpu_h100_bf16_config", &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "lora_rank", "32");
	expect(&s, "gbs", "128");
	expect(&s, "seq", "2048");
	assert_true(noted(IMPORT_TAKEN, "peft"));
}

/* What a recipe starts from in its own file is read before it. */
static void a_recipe_starts_from_another(void **state)
{
	struct scenario s;

	(void)state;
	read_function("wide_pretrain_128gpu_gb200_bf16_config", &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "gpus", "128");
	expect(&s, "tp", "8");
	expect(&s, "pp", "2");
}

/* HybridModelProvider has other defaults than Megatron's flags. */
static void providers_have_their_defaults(void **state)
{
	struct error error;
	struct scenario s;

	(void)state;
	read_function("hybrid_pretrain_8gpu_h100_bf16_config", &s);
	assert_int_equal(s.model.norm, NORM_RMS);
	assert_int_equal(s.model.position, POSITION_NONE);
	assert_false(s.model.mlp_bias);
	assert_false(s.model.tied_embeddings);
	assert_int_equal(s.model.layers, 5);
	expect(&s, "tp", "2");
	read_given(&(struct script_given){ .function = "strange_pretrain_config" });
	assert_false(read_as("megatron", HEAD, &s, &error));
	assert_non_null(strstr(error.text, "OwnModelProvider has defaults of its own"));
	read_given(NULL);
}

static void which_recipe_has_to_be_said(void **state)
{
	(void)state;
	read_refused("megatron", HEAD,
		     "5 configurations; --function NAME says which: dense_pretrain_");
	read_given(&(struct script_given){ .function = "none_config" });
	read_refused("megatron", HEAD, "no configuration is called 'none_config'");
	read_given(NULL);
	read_refused("megatron",
		     "def a_config() -> ConfigContainer:\n"
		     "    cfg = _pretrain_common()\n"
		     "    cfg.model = AutoBridge.from_hf_pretrained(\"a/Zz-9B\")\n",
		     "no model 'a/Zz-9B'");
}

/* Types are PyTorch's in Python, and a text is none. */
static void types_are_torchs(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"megatron",
		"import torch\ncfg.model.num_layers = 4\ncfg.model.hidden_size = 512\n"
		"cfg.model.num_attention_heads = 8\n"
		"cfg.optimizer.use_precision_aware_optimizer = True\n"
		"cfg.optimizer.exp_avg_dtype = torch.bfloat16\n"
		"cfg.optimizer.exp_avg_sq_dtype = torch.bfloat16\n",
		&s);
	expect(&s, "optimizer", "adamw-bf16");
	assert_false(noted(IMPORT_APPROXIMATE, "exp-avg-sq-dtype"));
	/* the second moment has a type of its own */
	read_good("megatron",
		  "import torch\ncfg.model.num_layers = 4\n"
		  "cfg.model.hidden_size = 512\ncfg.model.num_attention_heads = 8\n"
		  "cfg.optimizer.use_precision_aware_optimizer = True\n"
		  "cfg.optimizer.exp_avg_dtype = torch.bfloat16\n"
		  "cfg.optimizer.exp_avg_sq_dtype = torch.float32\n",
		  &s);
	expect(&s, "optimizer", "adamw-bf16");
	assert_true(noted(IMPORT_APPROXIMATE, "exp-avg-sq-dtype"));
}

#define MOMENTS(first, second)                                                  \
	"import torch\ncfg.model.num_layers = 4\ncfg.model.hidden_size = 512\n" \
	"cfg.model.num_attention_heads = 8\n"                                   \
	"cfg.optimizer.use_precision_aware_optimizer = True\n"                  \
	"cfg.optimizer.exp_avg_dtype = torch." first "\n"                       \
	"cfg.optimizer.exp_avg_sq_dtype = torch." second "\n"

/* Those of fp16 are as wide as those of bf16; one alone that is narrow is told. */
static void moments_are_as_wide_as_they_say(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron", MOMENTS("float16", "float16"), &s);
	expect(&s, "optimizer", "adamw-bf16");
	assert_true(noted(IMPORT_APPROXIMATE, "exp-avg-dtype"));
	assert_false(noted(IMPORT_APPROXIMATE, "exp-avg-sq-dtype"));
	read_good("megatron", MOMENTS("uint8", "uint8"), &s);
	expect(&s, "optimizer", "adamw-8bit");
	assert_false(noted(IMPORT_APPROXIMATE, "exp-avg-sq-dtype"));
	read_good("megatron", MOMENTS("float32", "bfloat16"), &s);
	expect(&s, "optimizer", "adamw");
	assert_true(noted(IMPORT_APPROXIMATE, "exp-avg-sq-dtype"));
	read_good("megatron", MOMENTS("float32", "float32"), &s);
	expect(&s, "optimizer", "adamw");
	assert_false(noted(IMPORT_APPROXIMATE, "exp-avg-sq-dtype"));
}

/* A layout that the file's own function makes is not one of equal stages. */
static void a_layout_of_its_own_function(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "def deep_sft_256gpu_h100_bf16_config() -> ConfigContainer:\n"
		  "    cfg = _sft_common()\n"
		  "    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-32B\")"
		  ".get_model_config()\n"
		  "    cfg.model.pipeline_model_parallel_size = 16\n"
		  "    cfg.model.pipeline_model_parallel_layout = "
		  "_get_deep_pipeline_layout(16, 1)\n"
		  "    return cfg\n",
		  &s);
	expect(&s, "split", "balanced");
	assert_true(noted(IMPORT_ASSUMED, "split"));
	/* one that stands in brackets, in two parts, as the file's own constant */
	read_good("megatron",
		  "_DEEP_LAYOUT = (\n    \"Et*15|\"\n    \"t*17|t*16|t*16L\"\n)\n\n"
		  "def deep_sft_256gpu_h100_bf16_config() -> ConfigContainer:\n"
		  "    cfg = _sft_common()\n"
		  "    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-32B\")"
		  ".get_model_config()\n"
		  "    cfg.model.pipeline_model_parallel_size = 4\n"
		  "    cfg.model.pipeline_model_parallel_layout = _DEEP_LAYOUT\n"
		  "    return cfg\n",
		  &s);
	expect(&s, "split", "custom");
	expect(&s, "layout", "Et*15|t*17|t*16|t*16L");
}

/* A recipe in another file tells adapters by its name or by the command's scheme, and
 * has what experts under TP need. */
static void a_command_tells_adapters(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "python run_recipe.py --recipe qwen3_30b_a3b_peft_config "
		  "model.tensor_model_parallel_size=2 "
		  "model.expert_model_parallel_size=4 train.global_batch_size=32",
		  &s);
	expect(&s, "lora_rank", "32");
	expect(&s, "sp", "on");
	assert_true(noted(IMPORT_ASSUMED, "lora_rank"));
	expect(&s, "grouped_gemm", "on");
	expect(&s, "cross_entropy", "fused");
	expect(&s, "moe_dispatcher", "alltoall");
	assert_true(noted(IMPORT_ASSUMED, "sp"));
	read_good("megatron",
		  "python run_recipe.py --model qwen3_8b --mode lora "
		  "peft.dim=8 train.global_batch_size=32 "
		  "model.tensor_model_parallel_size=2",
		  &s);
	expect(&s, "lora_rank", "8");
	expect(&s, "sp", "off");
	assert_false(noted(IMPORT_ASSUMED, "lora_rank"));
	read_good("megatron",
		  "python run_recipe.py --recipe qwen3_8b_sft_config "
		  "train.global_batch_size=32",
		  &s);
	expect(&s, "lora_rank", "off");
	expect(&s, "zero", "1");
}

/* recipes/common.py: optim_grads_params counts where FSDP is on. */
static void a_command_turns_on_fsdp(void **state)
{
	static const struct {
		const char *says, *zero;
		bool assumed;
	} cases[] = {
		{ "ddp.use_megatron_fsdp=True", "3", true },
		{ "ddp.use_megatron_fsdp=False", "1", true },
		{ "ddp.use_megatron_fsdp=True "
		  "ddp.data_parallel_sharding_strategy=optim_grads",
		  "2", false },
	};
	char text[320];
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(text, sizeof text,
			 "python run_recipe.py --recipe qwen3_8b_pretrain_config "
			 "train.global_batch_size=32 %s",
			 cases[i].says);
		read_good("megatron", text, &s);
		expect(&s, "zero", cases[i].zero);
		assert_int_equal(noted(IMPORT_ASSUMED, "zero"), cases[i].assumed);
	}
}

/* perf_recipes/kimi/b200/kimi_k2.py: what starts from a function of another file leaves
 * to it what all models of experts have (kimi_bridge.py). */
static void a_base_elsewhere_has_the_usual(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"megatron",
		"from megatron.bridge.perf_recipes.kimi.common import kimi_k2_base\n"
		"def kimi_k2_pretrain_256gpu_b200_fp8mx_config() -> ConfigContainer:\n"
		"    cfg = kimi_k2_base()\n"
		"    cfg.model.seq_length = 4096\n"
		"    cfg.model.tensor_model_parallel_size = 1\n"
		"    cfg.model.pipeline_model_parallel_size = 16\n"
		"    cfg.model.expert_model_parallel_size = 16\n"
		"    cfg.train.global_batch_size = 2048\n"
		"    cfg.train.micro_batch_size = 1\n"
		"    return cfg\n",
		&s);
	assert_string_equal(s.model.name, "kimi-k2");
	assert_true(noted(IMPORT_ASSUMED, "elsewhere"));
	expect(&s, "grouped_gemm", "on");
	expect(&s, "moe_dispatcher", "alltoall");
	expect(&s, "etp", "1");
	expect(&s, "cross_entropy", "fused");
}

/* llama3.py, deepseek_v3.py: names end in GPUs, chip, precision and maybe a length. */
static void names_tell_the_machine(void **state)
{
	static const struct {
		const char *says, *gpus, *cluster, *precision, *cp;
	} cases[] = {
		{ "llama3_8b_pretrain_64gpu_h100_bf16_128k_config", "64", "dgx-h100",
		  "bf16", "1" },
		{ "deepseek_v3_pretrain_256gpu_gb200_fp8mx_config", "256",
		  "gb200-nvl72", "mxfp8", NULL },
		{ "deepseek_v3_pretrain_256gpu_gb200_fp8mx_config "
		  "mixed_precision=bf16_mixed",
		  "256", "gb200-nvl72", "bf16", NULL },
		/* what is said besides goes before */
		{ "llama3_8b_pretrain_64gpu_h100_nvfp4_128k_config --nnodes 4 "
		  "--nproc_per_node 8 model.context_parallel_size=4",
		  "32", "dgx-h100", "nvfp4", NULL },
		{ "qwen3_8b_pretrain_config", "8", "dgx-h100", "bf16", NULL },
	};
	char text[320];
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(text, sizeof text, "python run_recipe.py --recipe %s",
			 cases[i].says);
		read_good("megatron", text, &s);
		expect(&s, "gpus", cases[i].gpus);
		expect(&s, "precision", cases[i].precision);
		assert_string_equal(s.cluster.name, cases[i].cluster);
		assert_int_equal(noted(IMPORT_ASSUMED, "cp"), cases[i].cp != NULL);
	}
}

/* Files of tutorials/recipes/llama/conf and of examples: overrides of a recipe that the
 * command names, and what all recipes have besides. */
static void overrides_leave_it_to_the_recipe(void **state)
{
#define OVERRIDES                                                    \
	"dataset:\n  seq_length: 4096\ntrain:\n  train_iters: 100\n" \
	"  global_batch_size: 128\n  micro_batch_size: 2\n"
	struct scenario s;

	(void)state;
	read_with("llama3.2-1b");
	read_good("megatron", OVERRIDES "peft:\n  dim: 8\n  alpha: 16\n", &s);
	expect(&s, "precision", "bf16");
	expect(&s, "zero", "1");
	expect(&s, "lora_rank", "8");
	assert_true(noted(IMPORT_ASSUMED, "precision"));
	assert_true(noted(IMPORT_ASSUMED, "recipe"));
	read_good("megatron", OVERRIDES "mixed_precision: fp16_mixed\n", &s);
	expect(&s, "precision", "fp16");
	expect(&s, "lora_rank", "off");
	read_refused("megatron", OVERRIDES "model:\n  teacher:\n    seq_length: 1\n",
		     "distillation");
	read_with("");
	read_refused("megatron", OVERRIDES, "names no model");
#undef OVERRIDES
}

/* Layers that the stages of a recipe can't share: its file, which is not opened, counts
 * embedding and loss as two more, or has a layout. */
static void a_recipe_divides_its_layers(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "python run_recipe.py --recipe llama31_405b_pretrain_config "
		  "model.tensor_model_parallel_size=4 "
		  "model.pipeline_model_parallel_size=16 "
		  "model.virtual_pipeline_model_parallel_size=8 "
		  "train.global_batch_size=1536",
		  &s);
	expect(&s, "split", "even");
	expect(&s, "split_embedding", "on");
	expect(&s, "split_loss", "on");
	assert_true(noted(IMPORT_ASSUMED, "split_loss"));
	read_good("megatron",
		  "python run_recipe.py --recipe deepseek_v3_pretrain_config "
		  "model.pipeline_model_parallel_size=16 "
		  "model.expert_model_parallel_size=8 train.global_batch_size=512",
		  &s);
	expect(&s, "split", "balanced");
	expect(&s, "split_embedding", "off");
	/* a command that is no recipe's is what it says */
	read_good("megatron",
		  "python pretrain_gpt.py --num-layers 30 --hidden-size 1024 "
		  "--num-attention-heads 16 --pipeline-model-parallel-size 4 "
		  "--micro-batch-size 1 --global-batch-size 64",
		  &s);
	expect(&s, "split", "even");
	expect(&s, "split_embedding", "off");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recipe_divides_its_layers),
		cmocka_unit_test(a_layout_of_its_own_function),
		cmocka_unit_test(a_command_tells_adapters),
		cmocka_unit_test(a_command_turns_on_fsdp),
		cmocka_unit_test(overrides_leave_it_to_the_recipe),
		cmocka_unit_test(names_tell_the_machine),
		cmocka_unit_test(a_base_elsewhere_has_the_usual),
		cmocka_unit_test(types_are_torchs),
		cmocka_unit_test(moments_are_as_wide_as_they_say),
		cmocka_unit_test(a_recipe_is_read),
		cmocka_unit_test(finetuning_has_adapters),
		cmocka_unit_test(a_recipe_starts_from_another),
		cmocka_unit_test(providers_have_their_defaults),
		cmocka_unit_test(which_recipe_has_to_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
