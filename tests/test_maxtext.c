/* test_maxtext.c - files of MaxText as scenarios; the shapes are its own
 * (configs/models/ of AI-Hypercomputer/maxtext@e591f30cb), the counts published. */
#include <stdio.h>
#include <string.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static void shapes_count_as_published(void **state)
{
	static const struct {
		const char *keys;
		double billions, active;
	} shapes[] = {
		{ "base_emb_dim: 4096\nbase_num_query_heads: 32\n"
		  "base_num_kv_heads: 8\nbase_mlp_dim: 14336\n"
		  "base_num_decoder_layers: 32\nhead_dim: 128\n"
		  "mlp_activations: [\"silu\",\"linear\"]\nvocab_size: 128_256\n"
		  "decoder_block: llama2\n",
		  8.03, 8.03 },
		{ "base_emb_dim: 4608\nbase_num_query_heads: 32\n"
		  "base_num_kv_heads: 16\nbase_mlp_dim: 36864\n"
		  "base_num_decoder_layers: 23\nhead_dim: 128\n"
		  "mlp_activations: [\"gelu\",\"linear\"]\nvocab_size: 256128\n"
		  "decoder_block: gemma2\nlogits_via_embedding: true\n"
		  "sliding_window_size: 4096\n",
		  27.2, 27.2 },
		{ "base_emb_dim: 7168\nbase_num_query_heads: 128\n"
		  "base_num_kv_heads: 128\nbase_mlp_dim: 18432\n"
		  "base_moe_mlp_dim: 2048\nbase_num_decoder_layers: 61\n"
		  "first_num_dense_layers: 3\nvocab_size: 129280\n"
		  "num_experts: 256\nnum_experts_per_tok: 8\nshared_experts: 1\n"
		  "routed_bias: true\ndecoder_block: deepseek\n"
		  "attention_type: mla\nq_lora_rank: 1536\nkv_lora_rank: 512\n"
		  "qk_nope_head_dim: 128\nqk_rope_head_dim: 64\nv_head_dim: 128\n"
		  "use_indexer: true\nindexer_n_heads: 64\nindexer_head_dim: 128\n"
		  "indexer_topk: 2048\n",
		  671.88, 38.40 },
		{ "base_emb_dim: 2048\nbase_num_decoder_layers: 48\n"
		  "base_num_query_heads: 16\nbase_num_kv_heads: 2\nhead_dim: 256\n"
		  "vocab_size: 151936\nbase_mlp_dim: 512\nbase_moe_mlp_dim: 512\n"
		  "num_experts: 512\nshared_experts: 1\nnum_experts_per_tok: 10\n"
		  "inhomogeneous_layer_cycle_interval: 4\n"
		  "decoder_block: qwen3_next\n",
		  79.67, 3.87 },
		/* of its first months, test_tflops_16b_params.sh: one number of heads,
		 * no gate, a table for both ends */
		{ "base_emb_dim: 6144\nbase_mlp_dim: 24576\nbase_num_heads: 24\n"
		  "base_num_decoder_layers: 36\nhead_dim: 256\n",
		  16.51, 16.51 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct model_counts counts;
		struct scenario s;

		read_good("maxtext", shapes[i].keys, &s);
		model_count(&s.model, &counts);
		assert_close(counts.total / 1e9, shapes[i].billions, 0.002);
		assert_close(counts.active / 1e9, shapes[i].active, 0.002);
	}
}

static void windows_take_turns(void **state)
{
	struct scenario s;

	(void)state;
	read_good("maxtext",
		  "base_emb_dim: 64\nbase_num_query_heads: 4\nbase_num_kv_heads: 4\n"
		  "base_num_decoder_layers: 6\nhead_dim: 16\nsliding_window_size: 128\n"
		  "decoder_block: gemma3\n",
		  &s);
	for (int i = 0; i < 6; i++)
		assert_int_equal(s.model.kind[s.model.layer[i]].attention.window,
				 i < 5 ? 128 : 0);
	read_good("maxtext",
		  "base_emb_dim: 64\nbase_num_query_heads: 4\nbase_num_kv_heads: 1\n"
		  "base_num_decoder_layers: 3\nhead_dim: 16\nsliding_window_size: 128\n"
		  "decoder_block: deepseek4\ncompress_ratios: [0, 4, 128]\n"
		  "indexer_n_heads: 4\nindexer_head_dim: 8\nindexer_topk: 32\n",
		  &s);
	assert_int_equal(s.model.kind[0].attention.compress, 0);
	assert_int_equal(s.model.kind[1].attention.compress, 4);
	assert_int_equal(s.model.kind[1].attention.index_heads, 4);
	assert_int_equal(s.model.kind[2].attention.compress, 128);
	assert_int_equal(s.model.kind[2].attention.index_heads, 0);
}

/* 2 slices of 32 chips: 4 x tensor, 2 stages, 4 x fsdp inside, data between them. */
static void degrees_are_products(void **state)
{
	struct scenario s;

	(void)state;
	read_good("maxtext",
		  "model_name: llama3.1-70b\nici_tensor_parallelism: 4\n"
		  "ici_pipeline_parallelism: 2\nici_fsdp_parallelism: 4\n"
		  "dcn_data_parallelism: 2\nper_device_batch_size: 0.5\n"
		  "num_pipeline_microbatches: 4\nnum_pipeline_repeats: 5\n"
		  "max_target_length: 8192\nremat_policy: minimal\n"
		  "quantization: fp8\nhardware: gpu\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	assert_string_equal(s.stack.name, "jax-xla");
	expect(&s, "gpus", "64");
	expect(&s, "tp", "4");
	expect(&s, "pp", "2");
	expect(&s, "vpp", "5");
	expect(&s, "zero", "3");
	expect(&s, "zero_group", "4");
	expect(&s, "gbs", "32"); /* half a sequence for each of 64 */
	expect(&s, "mbs", "1");  /* of 8 ranks, in 4 parts */
	expect(&s, "seq", "8192");
	expect(&s, "precision", "fp8");
	expect(&s, "recompute", "selective");
	assert_false(noted(IMPORT_ASSUMED, "gpus"));
	read_good("maxtext", "model_name: llama3.1-8b\nici_fsdp_parallelism: -1\n", &s);
	expect(&s, "zero", "3");
	expect(&s, "seq", "2048");
	assert_string_equal(s.cluster.name, "tpu-v5p");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	assert_true(noted(IMPORT_ASSUMED, "per_device_batch_size"));
	/* what is left beside 256 is one at least: a node has no room for them */
	read_good("maxtext",
		  "model_name: llama3.1-8b\nici_fsdp_parallelism: -1\n"
		  "ici_fsdp_transpose_parallelism: 256\nper_device_batch_size: 2\n",
		  &s);
	expect(&s, "gpus", "256");
	expect(&s, "gbs", "512");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
}

static void others_are_refused(void **state)
{
#define NAME "model_name: llama3.1-8b\n"
	(void)state;
	read_refused("maxtext", "per_device_batch_size: 1\n", "names no model");
	read_refused("maxtext", "model_name: zz-9b\n", "no model 'zz-9b'");
	read_refused("maxtext", "base_emb_dim: 64\ndecoder_block: envy\n",
		     "file:2: decoder_block is 'envy'");
	read_refused("maxtext",
		     "base_emb_dim: 64\nbase_num_query_heads: 5\n"
		     "base_num_kv_heads: 2\n",
		     "not sound");
	read_refused("maxtext", NAME "per_device_batch_size: none of it\n",
		     "file:2: per_device_batch_size is");
	read_refused("maxtext", NAME "ici_tensor_parallelism: -1\n",
		     "file:2: ici_tensor_parallelism is -1");
	read_refused("maxtext",
		     "base_emb_dim: 64\nbase_num_query_heads: 4\n"
		     "base_num_kv_heads: 1\ncompress_ratios: [4, -4]\n",
		     "compressed entries of -4 tokens");
	read_refused("maxtext", NAME "quantization: int8\n", "file:2: quantization is");
	read_refused("maxtext", NAME "base_config: inference/inference.yml\n",
		     "a server of MaxText");
	read_refused("maxtext", NAME "distill_alpha: 0.5\n", "distillation");
	read_refused("maxtext", NAME "use_dpo: true\n", "file:2: use_dpo");
	read_refused("maxtext",
		     NAME "ici_tensor_parallelism: 4000000000000000000\n"
			  "dcn_tensor_parallelism: 4000000000000000000\n",
		     "file:");
#undef NAME
}

/* What xpk is told says how many chips there are: by cores, by chips, by their torus,
 * with two devices of JAX on a chip of tpu7x. */
static void chips_are_counted(void)
{
	static const struct {
		const char *words, *axes, *cluster, *gpus, *gbs;
	} kinds[] = {
		{ "--device-type=v6e-256", "", "tpu-v6e", "256", "512" },
		{ "--device-type=v5p-128", "", "tpu-v5p", "64", "128" },
		{ "--tpu-type=v6e-16 --num-slices=2", "", "tpu-v6e", "32", "64" },
		{ "--tpu-type=tpu7x-4x4x4", "", "tpu-v7x", "64", "256" },
		{ "--device-type=tpu7x-4x4x4", "ici_fsdp_parallelism=128", "tpu-v7x",
		  "64", "256" },
		/* axes that say all are believed */
		{ "--device-type=v6e-256", "ici_fsdp_parallelism=16", "tpu-v6e", "16",
		  "32" },
	};
	struct scenario s;
	char text[512];

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		snprintf(text, sizeof text,
			 "xpk workload create %s --command=\"python3 -m MaxText.train "
			 "MaxText/configs/base.yml model_name=llama3.1-70b "
			 "per_device_batch_size=2 %s\"\n",
			 kinds[i].words, kinds[i].axes);
		read_good("maxtext", text, &s);
		assert_string_equal(s.cluster.name, kinds[i].cluster);
		expect(&s, "gpus", kinds[i].gpus);
		expect(&s, "gbs", kinds[i].gbs);
	}
	read_good(
		"maxtext",
		"xpk workload create --device-type=tpu7x-2x2x2 --command=\"python3 -m "
		"MaxText.train MaxText/configs/base.yml model_name=llama3.1-70b "
		"ici_data_parallelism=2 ici_fsdp_parallelism=8\"\n",
		&s);
	expect(&s, "gpus", "8");
	expect(&s, "zero_group", "4");
}

/* Copies of the weights by an axis that is left open, or one to a slice. */
static void groups_of_open_axes(void **state)
{
	static const struct {
		const char *machine, *axes, *group;
	} rows[] = {
		/* 128 devices of 64 chips: 4 copies in shards of 32 */
		{ "tpu7x-4x4x4", "ici_data_parallelism=4 ici_fsdp_parallelism=-1",
		  "16" },
		{ "v5p-128", "ici_data_parallelism=-1 ici_fsdp_parallelism=16", "16" },
		{ "v5p-128", "ici_fsdp_parallelism=-1", "all" },
		{ "v5p-128 --num-slices=2", "ici_fsdp_parallelism=-1", "64" },
		{ "v5p-128 --num-slices=2",
		  "dcn_data_parallelism=-1 ici_fsdp_parallelism=-1", "64" },
		{ "v5p-128 --num-slices=2",
		  "dcn_data_parallelism=1 dcn_fsdp_parallelism=2 "
		  "ici_fsdp_parallelism=-1",
		  "all" },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[512];

		snprintf(text, sizeof text,
			 "xpk workload create --device-type=%s --command=\"python3 -m "
			 "MaxText.train MaxText/configs/base.yml "
			 "model_name=llama3.1-70b %s\"\n",
			 rows[i].machine, rows[i].axes);
		read_good("maxtext", text, &s);
		expect(&s, "zero_group", rows[i].group);
	}
}

/* A command: variables, words in one word behind --command, the last of a key. */
static void commands_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("maxtext",
		  "# run it\nexport EXECUTABLE=\"train\"\nBATCH=2\n"
		  "ARGS=\"model_name=llama3.1-70b dtype=bfloat16 \\\n"
		  "per_device_batch_size=$BATCH max_target_length=4096 \\\n"
		  "max_target_length=8192 run_name=$NOBODY\"\n"
		  "xpk workload create --device-type=v6e-256 \\\n"
		  "  --command=\"set -e && python3 -m MaxText.$EXECUTABLE \\\n"
		  "  MaxText/configs/base.yml ici_fsdp_parallelism=16 \\\n"
		  "  ici_tensor_parallelism=2 remat_policy='full' ${ARGS}\"\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	assert_string_equal(s.cluster.name, "tpu-v6e");
	expect(&s, "tp", "2");
	expect(&s, "gpus", "32");
	expect(&s, "gbs", "64");
	expect(&s, "seq", "8192");
	expect(&s, "recompute", "full");
	read_refused("maxtext",
		     "python3 -m MaxText.train base.yml model_name=llama2-7b "
		     "per_device_batch_size=$BATCH\n",
		     "per_device_batch_size comes from $BATCH");
	chips_are_counted();
	read_refused("maxtext",
		     "python3 -m benchmarks.benchmark_runner xpk --num_slices=1 "
		     "--model_name=llama3_1_70b_8192_bs4\n",
		     "a table of MaxText's benchmarks, which is not in this file");
	/* what stands in a file that is not opened */
	read_refused("maxtext",
		     "python3 -m MaxText.train models/gpu/llama2_7b.yml steps=9\n",
		     "stand in llama2_7b.yml, which is not opened");
	read_good("maxtext",
		  "python3 -m MaxText.train models/gpu/llama2_7b.yml "
		  "per_device_batch_size=4 max_target_length=4096\n",
		  &s);
	assert_string_equal(s.model.name, "llama2-7b");
	assert_string_equal(s.cluster.name, "dgx-h100");
	assert_true(noted(IMPORT_ASSUMED, "config"));
	/* kept by a variable */
	read_good("maxtext",
		  "RUN=\"-m maxtext.trainers.pre_train.train configs/base.yml "
		  "model_name=llama3-8b quantization=te_nvfp4_no_rht "
		  "per_device_batch_size=4 ici_fsdp_parallelism=4\"\n"
		  "python3 ${RUN}\n",
		  &s);
	expect(&s, "precision", "nvfp4");
	expect(&s, "gbs", "16");
	read_refused("maxtext", "python3 -m MaxText.train base.yml steps=9\n",
		     "names no model");
	read_refused("maxtext", "python3 -m MaxText.decode base.yml\n",
		     "no command of MaxText's");
	read_refused("maxtext",
		     "python3 -m maxtext.trainers.post_train.train_rl rl.yml "
		     "model_name=llama2-7b per_device_batch_size=1\n",
		     "need more than one model");
}

/* Doublings go to heads and MLP, to the width, to the layers, in turn. */
static void the_scale_of_parameters(void **state)
{
	static const struct {
		int scale, layers, hidden, heads, ffn;
	} sizes[] = {
		{ 1, 16, 2048, 16, 7168 },     { 2, 16, 2048, 32, 14336 },
		{ 4, 16, 4096, 32, 14336 },    { 8, 32, 4096, 32, 14336 },
		{ 128, 64, 8192, 128, 57344 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct scenario s;
		char text[200];

		snprintf(text, sizeof text,
			 "python3 -m MaxText.train base.yml per_device_batch_size=1 "
			 "global_parameter_scale=%d\n",
			 sizes[i].scale);
		read_good("maxtext", text, &s);
		assert_int_equal(s.model.layers, sizes[i].layers);
		assert_int_equal(s.model.hidden, sizes[i].hidden);
		assert_int_equal(s.model.kind[0].attention.heads, sizes[i].heads);
		assert_int_equal(s.model.kind[0].ffn, sizes[i].ffn);
	}
	read_refused("maxtext", "base_emb_dim: 2048\nglobal_parameter_scale: 3\n",
		     "expected a power of two");
}

/* Its policies by their own names. */
static void policies_are_read(void **state)
{
	static const struct {
		const char *name, *recompute, *policy;
	} rows[] = {
		{ "full", "full", "modules" },
		{ "none", "none", "modules" },
		{ "minimal", "selective", "minimal" },
		{ "minimal_flash", "selective", "minimal_with_context" },
		{ "minimal_with_quantization", "selective", "minimal" },
		{ "save_dot_except_mlp", "selective", "save_dot_except_mlp" },
		{ "qkv_proj_offloaded", "selective", "qkv_proj_offloaded" },
		{ "custom", "selective", "custom" },
	};
	struct scenario s;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text,
			 "model_name: llama2-7b\nper_device_batch_size: 1\n"
			 "max_target_length: 4096\nici_fsdp_parallelism: 8\n"
			 "remat_policy: %s\n",
			 rows[i].name);
		read_good("maxtext", text, &s);
		expect(&s, "recompute", rows[i].recompute);
		expect(&s, "remat_policy", rows[i].policy);
		assert_false(noted(IMPORT_APPROXIMATE, "remat_policy"));
	}
	/* tensor by tensor; what base.yml has for the others is remat */
	read_good("maxtext",
		  "model_name: llama2-7b\nper_device_batch_size: 1\n"
		  "max_target_length: 4096\nici_fsdp_parallelism: 8\n"
		  "remat_policy: custom\nquery_proj: device\nkey_proj: device\n"
		  "value_proj: device\nout_proj: offload\nmlpwi_0: remat\n",
		  &s);
	expect(&s, "remat_kept", "qkv");
	expect(&s, "remat_sent", "out");
	assert_false(noted(IMPORT_APPROXIMATE, "query_proj"));
	read_good("maxtext",
		  "model_name: llama2-7b\nper_device_batch_size: 1\n"
		  "max_target_length: 4096\nici_fsdp_parallelism: 8\n"
		  "remat_policy: custom\nquery_proj: device\n",
		  &s);
	expect(&s, "remat_kept", "qkv");
	expect(&s, "remat_sent", "none");
	assert_true(noted(IMPORT_APPROXIMATE, "query_proj"));
}

/* What its shapes have and nothing here costs is said, in the model too. */
/* mixtral_8x1b.yml of configs/models/gpu: five layers beside a name of 32. */
static void a_name_overrides_sizes(void **state)
{
	static const char text[] =
		"model_name: mixtral-8x7b\nbase_num_decoder_layers: 5\n"
		"per_device_batch_size: 8\nmax_target_length: 4096\n";
	char changed[256];
	struct scenario s;

	(void)state;
	read_good("maxtext", text, &s);
	assert_int_equal(s.model.layers, 32);
	assert_true(noted(IMPORT_ASSUMED, "base_num_decoder_layers"));
	snprintf(changed, sizeof changed, "%soverride_model_config: true\n", text);
	read_refused("maxtext", changed,
		     "base_num_decoder_layers changes mixtral-8x7b");
	/* sizes without a name are the model's own */
	read_with("llama3-8b");
	read_good("maxtext", text, &s);
	assert_false(noted(IMPORT_ASSUMED, "base_num_decoder_layers"));
	read_with("");
}

static void doubts_are_told(void **state)
{
	struct scenario s;

	(void)state;
	read_good("maxtext",
		  "base_emb_dim: 2048\nbase_num_query_heads: 16\n"
		  "base_num_kv_heads: 8\nbase_mlp_dim: 8192\n"
		  "base_num_decoder_layers: 16\nhead_dim: 128\nvocab_size: 32000\n"
		  "decoder_block: llama2\nshare_kv_projections: true\n"
		  "mhc_expansion_rate: 4\n",
		  &s);
	assert_true(noted(IMPORT_APPROXIMATE, "share_kv_projections"));
	assert_true(noted(IMPORT_APPROXIMATE, "mhc_expansion_rate"));
	assert_non_null(
		strstr(s.model.approximate, "counted apart; hyper-connections"));
	read_good("maxtext",
		  "base_emb_dim: 2048\nbase_num_query_heads: 16\n"
		  "base_num_kv_heads: 8\nbase_mlp_dim: 8192\n"
		  "base_num_decoder_layers: 16\nhead_dim: 128\nvocab_size: 32000\n"
		  "decoder_block: llama2\nshare_kv_projections: false\n"
		  "mhc_expansion_rate: 1\n",
		  &s);
	assert_string_equal(s.model.approximate, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_count_as_published),
		cmocka_unit_test(windows_take_turns),
		cmocka_unit_test(degrees_are_products),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(commands_are_read),
		cmocka_unit_test(the_scale_of_parameters),
		cmocka_unit_test(policies_are_read),
		cmocka_unit_test(a_name_overrides_sizes),
		cmocka_unit_test(doubts_are_told),
		cmocka_unit_test(groups_of_open_axes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
