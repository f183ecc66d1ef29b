/* test_hf_forms.c - config.json files that write layers block by block, and how
 * checkpoints say that their weights are stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/hf/hf_model.h"
#include "presets/library.h"
#include "tests/support/close.h"

static struct import_report report;

static bool read_text(const char *text, struct model *model, struct error *error)
{
	struct document document;
	bool good;

	memset(&report, 0, sizeof report);
	if (!document_parse(&document, "config.json", text, strlen(text), error))
		return false;
	good = hf_model_read(&document, model, &report, error);
	document_free(&document);
	return good;
}

/* What classes have where a file is silent: Gemma's heads of 256, Granite's own head of
 * the vocabulary, Mixtral's experts, whose number nobody may make up. */
static void test_silent_files(void **state)
{
#define SHAPE(type)                                                \
	"{\"model_type\": \"" type "\", \"hidden_size\": 64, "     \
	"\"num_hidden_layers\": 1, \"num_attention_heads\": 2, "   \
	"\"num_key_value_heads\": 1, \"intermediate_size\": 256, " \
	"\"vocab_size\": 1000}"
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text(SHAPE("gemma2"), &model, &error));
	assert_int_equal(model.kind[0].attention.head_dim, 256);
	assert_true(model.tied_embeddings);
	assert_true(read_text(SHAPE("granite"), &model, &error));
	assert_int_equal(model.kind[0].attention.head_dim, 32);
	assert_false(model.tied_embeddings);
	assert_false(read_text(SHAPE("mixtral"), &model, &error));
	assert_non_null(strstr(error.text, "no num_experts of this mixtral"));
#undef SHAPE
}

/* LongCat-Flash (arXiv 2509.01322): 560 B, of which 27 B are active on average. */
static void test_longcat(void **state)
{
	static const char text[] =
		"{\"model_type\": \"longcat_flash\", \"num_layers\": 28,"
		/* halves of layers, as its class writes them */
		"\"num_hidden_layers\": 56,"
		"\"hidden_size\": 6144, \"num_attention_heads\": 64,"
		"\"ffn_hidden_size\": 12288, \"q_lora_rank\": 1536,"
		"\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128,"
		"\"qk_rope_head_dim\": 64, \"v_head_dim\": 128,"
		"\"n_routed_experts\": 512, \"expert_ffn_hidden_size\": 2048,"
		"\"moe_topk\": 12, \"zero_expert_num\": 256, \"vocab_size\": 131072}";
	struct model_counts counts;
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text(text, &model, &error));
	model_count(&model, &counts);
	assert_close(counts.total / 1e9, 560, 0.005);
	assert_close(counts.active / 1e9, 27, 0.04);
	assert_int_equal(model.moe.experts_per_token, 8);
	assert_non_null(strstr(model.approximate, "experts that pass a token on"));
}

/* Step-3 (arXiv 2507.19427, table 1: 316 B of text, 38 B a token) names the layers that
 * have experts one by one, and projects queries by two smaller matrices. */
static void test_step3(void **state)
{
	static const char start[] =
		"{\"model_type\": \"step3_text\", \"num_hidden_layers\": 61,"
		"\"hidden_size\": 7168, \"intermediate_size\": 18432,"
		"\"num_attention_heads\": 64, \"num_attention_groups\": 1,"
		"\"head_dim\": 256, \"share_q_dim\": 2048, \"moe_num_experts\": 48,"
		"\"moe_top_k\": 3, \"moe_intermediate_size\": 5120,"
		"\"share_expert_dim\": 5120, \"vocab_size\": 128815,"
		"\"moe_layers_enum\": \"";
	/* what the projection of queries has more where it is one matrix */
	static const double whole =
		61 * (7168.0 * 64 * 256 - 2048.0 * (7168 + 64 * 256));
	struct model_counts counts;
	struct error error;
	struct model model;
	char text[1024];
	size_t used = sizeof start - 1;

	(void)state;
	memcpy(text, start, sizeof start);
	for (int i = 4; i < 60; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%d",
					 i > 4 ? "," : "", i);
	snprintf(text + used, sizeof text - used, "\"}");
	assert_true(read_text(text, &model, &error));
	for (int i = 0; i < 61; i++)
		assert_int_equal(model.kind[model.layer[i]].mlp == MLP_MOE,
				 i >= 4 && i < 60);
	model_count(&model, &counts);
	assert_close((counts.total - whole) / 1e9, 316, 0.01);
	assert_close((counts.active - whole) / 1e9, 38, 0.03);
	assert_non_null(strstr(model.approximate, "queries in two low-rank parts"));
}

/* Encoders are of BERT's shape, whatever they call their widths; ALBERT has one layer
 * for all of its own. */
static void test_encoders(void **state)
{
	static const struct {
		const char *text;
		double millions;
	} files[] = {
		{ "{\"model_type\": \"distilbert\", \"dim\": 768, \"hidden_dim\": 3072,"
		  "\"n_heads\": 12, \"n_layers\": 6, \"vocab_size\": 30522,"
		  "\"max_position_embeddings\": 512}",
		  66.36 },
		{ "{\"model_type\": \"xlm-roberta\", \"hidden_size\": 768,"
		  "\"intermediate_size\": 3072, \"num_attention_heads\": 12,"
		  "\"num_hidden_layers\": 12, \"vocab_size\": 250002,"
		  "\"max_position_embeddings\": 514, \"type_vocab_size\": 1}",
		  277.5 },
		{ "{\"model_type\": \"xlm\", \"emb_dim\": 2048, \"n_heads\": 16,"
		  "\"n_layers\": 12, \"vocab_size\": 30145,"
		  "\"max_position_embeddings\": 512}",
		  667 },
	};
	struct model_counts counts;
	struct error error;
	struct model model;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		assert_true(read_text(files[i].text, &model, &error));
		model_count(&model, &counts);
		assert_close(counts.total / 1e6, files[i].millions, 0.003);
		assert_non_null(strstr(model.approximate, "looks both ways"));
	}
	assert_false(read_text("{\"model_type\": \"albert\", \"hidden_size\": 4096,"
			       "\"num_attention_heads\": 64, \"vocab_size\": 30000,"
			       "\"num_hidden_layers\": 12}",
			       &model, &error));
	assert_non_null(strstr(error.text, "one layer for all"));
}

#define BLOCK(group, no_attention, mult, no_ffn)                                     \
	"{\"attention\": {\"n_heads_in_group\": " group ", \"no_op\": " no_attention \
	"}, \"ffn\": {\"ffn_mult\": " mult ", \"no_op\": " no_ffn "}}"

static void test_blocks(void **state)
{
	static const char text[] =
		"{\"model_type\": \"nemotron-nas\", \"hidden_size\": 8192,"
		"\"num_hidden_layers\": 5, \"num_attention_heads\": 64,"
		"\"vocab_size\": 1000, \"block_configs\": [" BLOCK("8", "false", "2.625", "false") "," BLOCK(
			"8", "false", "5.25",
			"false") "," BLOCK("null", "true", "1.3125",
					   "false") "," BLOCK("null", "true", "null",
							      "true") "," BLOCK("16",
										"false",
										"5.25",
										"false") "]}";
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text(text, &model, &error));
	/* the block without either is none */
	assert_int_equal(model.layers, 4);
	assert_int_equal(model.kind[model.layer[0]].ffn, 14336);
	assert_int_equal(model.kind[model.layer[1]].ffn, 28672);
	assert_int_equal(model.kind[model.layer[1]].attention.kv_heads, 8);
	assert_int_equal(model.kind[model.layer[2]].mixer, MIXER_NONE);
	assert_int_equal(model.kind[model.layer[2]].ffn, 7168);
	assert_int_equal(model.kind[model.layer[3]].attention.kv_heads, 4);
	assert_string_equal(model.approximate, "");
	assert_false(read_text("{\"model_type\": \"nemotron-nas\", \"hidden_size\": 64,"
			       "\"num_attention_heads\": 4, \"vocab_size\": 9,"
			       "\"num_hidden_layers\": 1, \"block_configs\": [{}]}",
			       &model, &error));
	assert_non_null(strstr(error.text, "without attention or ffn"));
}

#define MODEL                                                                          \
	"{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4," \
	"\"num_hidden_layers\": 2, \"intermediate_size\": 128, \"vocab_size\": 100"

static void test_quantised(void **state)
{
	static const struct {
		const char *config, *precision;
		bool mixed;
	} forms[] = {
		{ "\"quant_method\": \"fp8\"", "fp8", false },
		{ "\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]",
		  "fp8-block", false },
		{ "\"quant_method\": \"mxfp4\"", "mxfp4", false },
		{ "\"quant_method\": \"awq\", \"bits\": 4", "int4", false },
		{ "\"quant_method\": \"gptq\", \"bits\": 8", "int8", false },
		{ "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"", "nvfp4",
		  false },
		{ "\"quant_method\": \"modelopt\", \"quant_algo\": \"MIXED_PRECISION\","
		  "\"quantized_layers\": {\"a\": {\"quant_algo\": \"FP8\"}}",
		  "nvfp4", true },
		{ "\"quant_method\": \"compressed-tensors\", \"config_groups\": "
		  "{\"group_0\": {\"weights\": {\"num_bits\": 4, \"type\": \"int\"}}}",
		  "int4", false },
		{ "\"quant_method\": \"compressed-tensors\", \"config_groups\": "
		  "{\"group_0\": {\"weights\": {\"num_bits\": 4, \"type\": \"float\", "
		  "\"group_size\": 32}}}",
		  "mxfp4", false },
		{ "\"quant_method\": \"compressed-tensors\", \"config_groups\": "
		  "{\"group_0\": {\"weights\": {\"num_bits\": 4, \"type\": \"float\", "
		  "\"group_size\": 16}}}",
		  "nvfp4", false },
		{ "\"quant_method\": \"compressed-tensors\", \"config_groups\": "
		  "{\"group_0\": {\"weights\": {\"num_bits\": 4, \"type\": \"float\"}},"
		  "\"group_1\": {\"weights\": {\"num_bits\": 8, \"type\": \"float\"}}}",
		  "nvfp4", true },
	};
	struct error error;
	struct model model;
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		snprintf(text, sizeof text, MODEL ", \"quantization_config\": {%s}}",
			 forms[i].config);
		assert_true(read_text(text, &model, &error));
		assert_string_equal(precision_words[model.precision],
				    forms[i].precision);
		assert_int_equal(strstr(model.approximate, "differ in precision") !=
					 NULL,
				 forms[i].mixed);
	}
	assert_true(read_text(MODEL "}", &model, &error));
	assert_string_equal(precision_words[model.precision], "bf16");
}

static void put(const char *path, const char *text)
{
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

/* hf_quant_config.json says it beside a config.json, and is none itself. */
static void test_beside(void **state)
{
	static const char quantisation[] =
		"{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": "
		"{\"quant_algo\": \"FP8\", \"exclude_modules\": [\"lm_head\"]}}";
	char folder[] = "/tmp/shardscope-XXXXXX", config[64], beside[64];
	struct error error;
	struct model model;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(config, sizeof config, "%s/config.json", folder);
	snprintf(beside, sizeof beside, "%s/hf_quant_config.json", folder);
	put(config, MODEL "}");
	put(beside, quantisation);
	assert_true(library_model(&model, config, &error));
	assert_string_equal(precision_words[model.precision], "fp8");
	remove(config);
	remove(beside);
	rmdir(folder);
	assert_false(read_text(quantisation, &model, &error));
	assert_non_null(strstr(error.text, "config.json beside it"));
}

static const struct layer_kind *kind_of(const struct model *model, int layer)
{
	return &model->kind[model->layer[layer]];
}

/* Laguna has heads by the layer, Trinity every fourth without a window, MiMo sinks
 * where there is one (configuration_laguna.py, configuration_afmoe.py of transformers).
 */
static void test_patterns(void **state)
{
#define COMMON                                                                       \
	"\"hidden_size\": 1024, \"intermediate_size\": 2048, \"num_hidden_layers\":" \
	" 4, \"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"head_dim\":"  \
	" 128, \"vocab_size\": 32000, \"sliding_window\": 512"
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text(
		"{\"model_type\": \"laguna\", " COMMON ", \"layer_types\":"
		"[\"full_attention\", \"sliding_attention\", \"sliding_attention\","
		"\"sliding_attention\"], \"num_attention_heads_per_layer\": [8, 12, 12,"
		"12]}",
		&model, &error));
	assert_int_equal(kind_of(&model, 0)->attention.heads, 8);
	assert_int_equal(kind_of(&model, 0)->attention.window, 0);
	assert_int_equal(kind_of(&model, 1)->attention.heads, 12);
	assert_int_equal(kind_of(&model, 1)->attention.window, 512);
	assert_string_equal(model.approximate, "");
	assert_true(read_text("{\"model_type\": \"afmoe\", " COMMON
			      ", \"num_experts\": 0,"
			      "\"global_attn_every_n_layers\": 4}",
			      &model, &error));
	assert_int_equal(kind_of(&model, 2)->attention.window, 512);
	assert_int_equal(kind_of(&model, 3)->attention.window, 0);
	assert_true(kind_of(&model, 3)->attention.output_gate && model.post_norms);
	assert_string_equal(model.approximate, "");
	assert_true(read_text("{\"model_type\": \"mimo_v2\", " COMMON
			      ", \"hybrid_layer_pattern\": [0, 1, 1, 0],"
			      "\"add_swa_attention_sink_bias\": true,"
			      "\"swa_num_key_value_heads\": 4}",
			      &model, &error));
	assert_true(kind_of(&model, 1)->attention.sinks);
	assert_false(kind_of(&model, 0)->attention.sinks);
	assert_int_equal(kind_of(&model, 1)->attention.kv_heads, 4);
	assert_string_equal(model.approximate, "");
#undef COMMON
}

/* Ling 2.5 has lightning attention beside MLA, the last of each group; Ling 3 Kimi's
 * delta attention. What is left over of the groups is MLA. */
static void test_groups(void **state)
{
#define LING                                                                        \
	"\"model_type\": \"bailing_hybrid\", \"hidden_size\": 1024,"                \
	"\"intermediate_size\": 2048, \"num_hidden_layers\": 5,"                    \
	"\"num_attention_heads\": 8, \"num_key_value_heads\": 8, \"head_dim\": 64," \
	"\"vocab_size\": 32000, \"kv_lora_rank\": 256, \"q_lora_rank\": null,"      \
	"\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128," \
	"\"layer_group_size\": 2"
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text("{" LING "}", &model, &error));
	assert_int_equal(kind_of(&model, 0)->mixer, MIXER_LIGHTNING);
	assert_int_equal(kind_of(&model, 0)->attention.heads, 0);
	assert_int_equal(model.ssm.inner, 512);
	assert_int_equal(model.ssm.groups, 8);
	assert_int_equal(model.ssm.chunk, 64);
	assert_int_equal(kind_of(&model, 1)->mixer, MIXER_MLA);
	assert_int_equal(kind_of(&model, 4)->mixer, MIXER_MLA);
	assert_string_equal(model.approximate, "");
	assert_true(
		read_text("{" LING ", \"short_conv_kernel_size\": 4}", &model, &error));
	assert_int_equal(kind_of(&model, 2)->mixer, MIXER_LINEAR);
	assert_int_equal(model.ssm.inner, 512);
	assert_int_equal(kind_of(&model, 3)->mixer, MIXER_MLA);
	assert_non_null(strstr(model.approximate, "state-space scan"));
#undef LING
}

/* MiniMax: 0 is lightning attention, in a list of numbers or of names. A request keeps
 * one square of a head's width for each of 8 heads, in 16 bits, and no token more. */
static void test_lightning(void **state)
{
#define MINIMAX                                                 \
	"\"hidden_size\": 512, \"intermediate_size\": 1024,"    \
	"\"num_hidden_layers\": 4, \"num_attention_heads\": 8," \
	"\"num_key_value_heads\": 2, \"head_dim\": 64, \"vocab_size\": 32000"
	static const char *const texts[] = {
		"{\"model_type\": \"minimax_m1\", \"attn_type_list\": [0, 0, 0, 1]," MINIMAX
		"}",
		"{\"model_type\": \"minimax\", \"block_size\": 256, \"layer_types\": "
		"[\"linear_attention\", \"linear_attention\", \"linear_attention\","
		"\"full_attention\"]," MINIMAX "}"
	};
	/* of a token the one layer of attention: 2 heads, key and value */
	const double token = 2 * 2 * 64 * 2, states = 3 * 8 * 64.0 * 64 * 2;
	struct error error;
	struct model model;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		assert_true(read_text(texts[i], &model, &error));
		assert_int_equal(kind_of(&model, 2)->mixer, MIXER_LIGHTNING);
		assert_int_equal(kind_of(&model, 3)->mixer, MIXER_ATTENTION);
		assert_int_equal(kind_of(&model, 3)->attention.kv_heads, 2);
		assert_int_equal(model.ssm.chunk, 256);
		assert_string_equal(model.approximate, "");
		assert_close(model_kv_bytes_per_token(&model, 1, 2), states + token,
			     1e-12);
		assert_close(model_kv_bytes_per_token(&model, 1000, 2),
			     states / 1000 + token, 1e-12);
	}
#undef MINIMAX
}

/* LFM2-350M: the count of its model card to the last one. */
static void test_convolutions(void **state)
{
	static const char text[] =
		"{\"model_type\": \"lfm2\", \"hidden_size\": 1024,"
		"\"intermediate_size\": 6656, \"block_auto_adjust_ff_dim\": true,"
		"\"block_ffn_dim_multiplier\": 1.0, \"block_multiple_of\": 256,"
		"\"num_hidden_layers\": 16, \"num_attention_heads\": 16,"
		"\"num_key_value_heads\": 8, \"vocab_size\": 65536,"
		"\"conv_L_cache\": 3, \"full_attn_idxs\": [2, 5, 8, 10, 12, 14]}";
	struct model_counts counts;
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text(text, &model, &error));
	model_count(&model, &counts);
	assert_close(counts.total, 354483968, 0);
	assert_int_equal(kind_of(&model, 0)->mixer, MIXER_CONV);
	assert_int_equal(kind_of(&model, 14)->mixer, MIXER_ATTENTION);
	assert_int_equal(kind_of(&model, 0)->ffn, 4608);
	assert_string_equal(model.approximate, "");
	/* what a file leaves to the tokenizer */
	assert_false(read_text("{\"model_type\": \"gla\", \"hidden_size\": 1024,"
			       "\"num_hidden_layers\": 4}",
			       &model, &error));
	assert_non_null(strstr(error.text, "no vocab_size of this gla"));
}

/* Classes that bear a later one's name, or that say a width otherwise. */
static void test_first_classes(void **state)
{
	static const struct {
		const char *text;
		double millions;
		int64_t kv_heads;
		const char *approximate;
	} files[] = {
		/* ChatGLM-6B: no gate, one table at both ends */
		{ "{\"model_type\": \"chatglm\", \"hidden_size\": 4096,"
		  "\"inner_hidden_size\": 16384, \"num_attention_heads\": 32,"
		  "\"num_layers\": 28, \"vocab_size\": 130528}",
		  6173, 32, "" },
		/* Falcon-40B as it was first published */
		{ "{\"model_type\": \"RefinedWeb\", \"hidden_size\": 8192,"
		  "\"n_head\": 128, \"n_head_kv\": 8, \"n_layer\": 60,"
		  "\"parallel_attn\": true, \"vocab_size\": 65024}",
		  41303, 8, "" },
		{ "{\"model_type\": \"RefinedWebModel\", \"hidden_size\": 4544,"
		  "\"multi_query\": true, \"n_head\": 71, \"n_layer\": 32,"
		  "\"parallel_attn\": true, \"vocab_size\": 65024}",
		  6922, 1, "" },
		/* Phi-2 as it was first published */
		{ "{\"model_type\": \"mixformer-sequential\", \"n_embd\": 2560,"
		  "\"n_head\": 32, \"n_inner\": null, \"n_layer\": 32,"
		  "\"vocab_size\": 51200}",
		  2780, 32, "" },
		/* gate and up in one number; eyes without a key of theirs */
		{ "{\"model_type\": \"molmo\", \"hidden_size\": 3584,"
		  "\"intermediate_size\": 37888, \"num_attention_heads\": 28,"
		  "\"num_key_value_heads\": 4, \"num_hidden_layers\": 28,"
		  "\"qkv_bias\": true, \"vocab_size\": 152064,"
		  "\"embedding_size\": 152064}",
		  7616, 4, "the text part alone" },
		/* DeepSeek's class without its latent attention */
		{ "{\"model_type\": \"deepseek_v2\", \"hidden_size\": 1280,"
		  "\"intermediate_size\": 6848, \"kv_lora_rank\": null,"
		  "\"qk_nope_head_dim\": 0, \"qk_rope_head_dim\": 0,"
		  "\"v_head_dim\": 0, \"num_attention_heads\": 10,"
		  "\"num_hidden_layers\": 2, \"vocab_size\": 1000}",
		  68.3, 10, "" },
	};
	struct model_counts counts;
	struct error error;
	struct model model;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		if (!read_text(files[i].text, &model, &error))
			fail_msg("%s: %s", files[i].text, error.text);
		model_count(&model, &counts);
		assert_close(counts.total / 1e6, files[i].millions, 0.004);
		assert_int_equal(kind_of(&model, 0)->attention.kv_heads,
				 files[i].kv_heads);
		assert_int_equal(kind_of(&model, 0)->attention.value_dim,
				 kind_of(&model, 0)->attention.head_dim);
		assert_string_equal(model.approximate, files[i].approximate);
	}
}

#define SMALL                                                 \
	"\"hidden_size\": 1024, \"num_attention_heads\": 16," \
	"\"num_hidden_layers\": 24, \"vocab_size\": 50272, \"ffn_dim\": 4096"

/* What a config.json has beside a language model is said. */
static void test_other_parts(void **state)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{ "{\"model_type\": \"llama\", " SMALL
		  ", \"vision_config\": {\"a\": 1}}",
		  "the text part alone" },
		{ "{\"model_type\": \"qwen\", " SMALL ", \"visual\": {\"layers\": 48}}",
		  "the text part alone" },
		{ "{\"model_type\": \"llama\", " SMALL
		  ", \"mm_vision_tower\": \"a/b\"}",
		  "the text part alone" },
		{ "{\"model_type\": \"qwen2_5_omni\", \"thinker_config\": {"
		  "\"text_config\": {\"model_type\": \"qwen2\", " SMALL "}}}",
		  "the thinker's text part alone" },
		{ "{\"model_type\": \"qwen\", " SMALL
		  ", \"audio\": {\"n_layer\": 32}, \"audio_token_id\": 7}",
		  "the text part alone" },
		{ "{\"model_type\": \"opt\", " SMALL ", \"word_embed_proj_dim\": 512}",
		  "embeddings narrower" },
		{ "{\"model_type\": \"llama\", " SMALL
		  ", \"architectures\": [\"LlamaForSequenceClassification\"]}",
		  "another head" },
		{ "{\"model_type\": \"gpt_neox_reward_model\", " SMALL
		  ", \"architectures\": [\"GPTNeoXRewardModel\"]}",
		  "another head" },
		{ "{\"model_type\": \"mistral\", " SMALL
		  ", \"architectures\": [\"MistralModel\"]}",
		  "no head behind the last layer" },
		{ "{\"model_type\": \"gpt2\", " SMALL
		  ", \"architectures\": [\"GPT2LMHeadModel\"]}",
		  "" },
		{ "{\"model_type\": \"chatglm\", " SMALL
		  ", \"padded_vocab_size\": 1000, "
		  "\"architectures\": [\"ChatGLMModel\"]}",
		  "" },
		{ "{\"model_type\": \"llama\", " SMALL ", \"is_causal\": false}",
		  "looks both ways" },
		{ "{\"model_type\": \"llama\", " SMALL
		  ", \"architectures\": [\"LlamaForCausalLMEagle3\"]}",
		  "a draft of another model" },
		{ "{\"model_type\": \"llama\", " SMALL ", \"draft_vocab_size\": 32000}",
		  "a draft of another model" },
		{ "{\"model_type\": \"xverse\", " SMALL "}", "" },
		{ "{\"model_type\": \"opt\", " SMALL ", \"word_embed_proj_dim\": 1024}",
		  "" },
		{ "{\"model_type\": \"llama\", " SMALL
		  ", \"apply_query_key_layer_scaling\": true,"
		  "\"vision_config\": null}",
		  "" },
	};
	struct error error;
	struct model model;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		assert_true(read_text(files[i].text, &model, &error));
		if (files[i].says[0] == '\0')
			assert_string_equal(model.approximate, "");
		else if (!strstr(model.approximate, files[i].says))
			fail_msg("%s: %s", files[i].text, model.approximate);
	}
}

/* Parameters of small networks, counted tensor by tensor in the code of their classes
 * (ml-explore/mlx-lm@HEAD 2026-11, mlx_lm/models), and what is told where a file leaves
 * a size to its class. */
static void test_small_classes(void **state)
{
#define WIDE                                                                     \
	"\"hidden_size\": 128, \"num_hidden_layers\": 4, \"vocab_size\": 1000, " \
	"\"num_attention_heads\": 4, \"num_key_value_heads\": 2, "               \
	"\"intermediate_size\": 256, \"tie_word_embeddings\": false, "
#define NARROW                                                                   \
	"\"hidden_size\": 128, \"num_hidden_layers\": 4, \"vocab_size\": 1000, " \
	"\"num_attention_heads\": 8, \"num_key_value_heads\": 4, "               \
	"\"intermediate_size\": 256, \"tie_word_embeddings\": false, "
	static const struct {
		const char *text;
		double total;
		const char *doubt;
	} cases[] = {
		{ "{\"model_type\": \"apertus\", " NARROW
		  "\"mlp_bias\": true, \"qk_norm\": true}",
		  717584, NULL },
		{ "{\"model_type\": \"exaone_moe\", " WIDE

		  "\"head_dim\": 32, \"moe_intermediate_size\": 64, "
		  "\"num_experts\": 4, \"num_experts_per_tok\": 2, "
		  "\"num_shared_experts\": 1, "
		  "\"is_moe_layer\": [false, true, true, true]}",
		  922508, NULL },
		{ "{\"model_type\": \"bailing_moe_linear\", \"hidden_size\": 1024, "
		  "\"num_hidden_layers\": 4, \"intermediate_size\": 2048, "
		  "\"moe_intermediate_size\": 1024, \"num_experts\": 4, "
		  "\"num_experts_per_tok\": 2, \"num_shared_experts\": 2, "
		  "\"num_attention_heads\": 4, \"num_key_value_heads\": 4, "
		  "\"vocab_size\": 10000, \"first_k_dense_replace\": 0, "
		  "\"layer_group_size\": 2, \"group_norm_size\": 1}",
		  114879488, NULL },
		{ "{\"model_type\": \"deepseek_v32\", " NARROW
		  "\"moe_intermediate_size\": 256, \"n_routed_experts\": 4, "
		  "\"num_experts_per_tok\": 2, \"n_shared_experts\": 1, "
		  "\"kv_lora_rank\": 4, \"q_lora_rank\": 4, "
		  "\"qk_rope_head_dim\": 32, \"v_head_dim\": 16, "
		  "\"qk_nope_head_dim\": 32}",
		  0, "without the sizes of its indexer" },
		{ "{\"model_type\": \"afmoe\", " NARROW
		  "\"head_dim\": 32, \"num_experts\": 4, "
		  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 128}",
		  0, "before those of experts is not stated" },
		{ "{\"model_type\": \"laguna\", " NARROW
		  "\"head_dim\": 32, \"num_experts\": 4, "
		  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 128}",
		  0, "which layers have experts is not stated" },
		{ "{\"model_type\": \"qwen3_5_moe\", " NARROW
		  "\"head_dim\": 32, \"num_experts\": 4, "
		  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 128}",
		  0, "which layers have linear attention is not stated" },
		{ "{\"model_type\": \"qwen3\", " NARROW
		  "\"num_target_layers\": 36, \"dflash_config\": {\"mask_token_id\": 1}}",
		  0, "a draft of another model" },
		/* by hand: 4 x (73,888 of attention, 3 x 128 x 256, two norms) and
		 * 1000 x 128 + 128 */
		{ "{\"model_type\": \"minicpm3\", \"hidden_size\": 128, "
		  "\"num_hidden_layers\": 4, \"num_attention_heads\": 4, "
		  "\"intermediate_size\": 256, \"vocab_size\": 1000, "
		  "\"q_lora_rank\": 96, \"kv_lora_rank\": 64, "
		  "\"qk_nope_head_dim\": 32, \"qk_rope_head_dim\": 16}",
		  817920, NULL },
		{ "{\"model_type\": \"some_ngram\", " NARROW "\"x\": 1}", 0,
		  "embeddings of n-grams" },
		{ "{\"model_type\": \"mamba2\", \"hidden_size\": 128, "
		  "\"num_hidden_layers\": 4, \"vocab_size\": 1000, "
		  "\"num_heads\": 8, \"head_dim\": 32, \"state_size\": 16, "
		  "\"expand\": 2, \"n_groups\": 1, "
		  "\"time_step_rank\": \"auto\"}",
		  0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct model_counts counts;
		struct error error;
		struct model model;

		if (!read_text(cases[i].text, &model, &error))
			fail_msg("%zu: %s", i, error.text);
		model_count(&model, &counts);
		if (cases[i].total > 0)
			assert_close(counts.total / cases[i].total, 1, 0.001);
		if (cases[i].doubt)
			assert_non_null(strstr(model.approximate, cases[i].doubt));
		else
			assert_string_equal(model.approximate, "");
	}
#undef NARROW
#undef WIDE
}

/* Published files in the words of classes of their own. Parameters in millions are
 * added up by hand, matrix by matrix; entries of the cache are those of 2-byte values.
 */
static void test_own_words(void **state)
{
	static const struct {
		const char *text;
		double total, active, entry; /* 0 = not asked */
		const char *doubt;           /* "" = there is none */
	} cases[] = {
		/* Salesforce/codegen-2B-mono */
		{ "{\"model_type\": \"codegen\", \"n_embd\": 2560, \"n_head\": 32, "
		  "\"n_layer\": 32, \"vocab_size\": 51200, \"n_positions\": 2048, "
		  "\"activation_function\": \"gelu_new\", "
		  "\"tie_word_embeddings\": false}",
		  2779, 0, 327680, "" },
		/* facebook/xglm-564M */
		{ "{\"model_type\": \"xglm\", \"d_model\": 1024, \"ffn_dim\": 4096, "
		  "\"num_layers\": 24, \"attention_heads\": 16, "
		  "\"vocab_size\": 256008, \"activation_function\": \"gelu\"}",
		  564.5, 0, 98304, "" },
		/* inceptionai/jais-13b */
		{ "{\"model_type\": \"jais\", \"n_embd\": 5120, \"n_head\": 40, "
		  "\"n_layer\": 40, \"n_inner\": 13653, \"vocab_size\": 84992, "
		  "\"activation_function\": \"swiglu\"}",
		  13021, 0, 819200, "" },
		/* allenai/OLMo-7B */
		{ "{\"model_type\": \"hf_olmo\", \"d_model\": 4096, \"n_heads\": 32, "
		  "\"n_layers\": 32, \"mlp_hidden_size\": 22016, "
		  "\"vocab_size\": 50304, \"block_type\": \"sequential\", "
		  "\"weight_tying\": false}",
		  6888, 0, 524288, "" },
		/* GSAI-ML/LLaDA-8B-Base */
		{ "{\"model_type\": \"llada\", \"d_model\": 4096, \"n_heads\": 32, "
		  "\"n_kv_heads\": 32, \"n_layers\": 32, "
		  "\"mlp_hidden_size\": 12288, \"vocab_size\": 126464, "
		  "\"weight_tying\": false}",
		  8016, 0, 524288, "a diffusion model" },
		/* facebook/MobileLLM-125M */
		{ "{\"model_type\": \"mobilellm\", \"hidden_size\": 576, "
		  "\"intermediate_size\": 1536, \"num_attention_heads\": 9, "
		  "\"num_key_value_heads\": 3, \"num_hidden_layers\": 30, "
		  "\"share_embedding\": true, \"tie_word_embeddings\": false, "
		  "\"vocab_size\": 32000}",
		  124.6, 0, 23040, "" },
		/* google/vaultgemma-1b: tied, as transformers has it where a file says
		 * nothing */
		{ "{\"model_type\": \"vaultgemma\", \"hidden_size\": 1152, "
		  "\"intermediate_size\": 6912, \"num_attention_heads\": 4, "
		  "\"num_key_value_heads\": 4, \"head_dim\": 256, "
		  "\"num_hidden_layers\": 26, \"vocab_size\": 256000}",
		  1039, 0, 106496, "" },
		/* PowerInfer/SmallThinker-21BA3B-Instruct */
		{ "{\"model_type\": \"smallthinker\", \"hidden_size\": 2560, "
		  "\"head_dim\": 128, \"moe_ffn_hidden_size\": 768, "
		  "\"moe_num_primary_experts\": 64, "
		  "\"moe_num_active_primary_experts\": 6, "
		  "\"num_attention_heads\": 28, \"num_key_value_heads\": 4, "
		  "\"num_hidden_layers\": 4, \"tie_word_embeddings\": false, "
		  "\"sliding_window_layout\": [0, 1, 1, 1], "
		  "\"sliding_window_size\": 4096, \"vocab_size\": 151936}",
		  2372.4, 1003.8, 8192, "" },
		/* Snowflake/snowflake-arctic-base: 480 B, 17 B a token */
		{ "{\"model_type\": \"arctic\", \"hidden_size\": 7168, "
		  "\"intermediate_size\": 4864, \"num_hidden_layers\": 35, "
		  "\"num_attention_heads\": 56, \"num_key_value_heads\": 8, "
		  "\"num_local_experts\": 128, \"num_experts_per_tok\": 2, "
		  "\"moe_layer_frequency\": 1, \"use_residual\": true, "
		  "\"parallel_attn_mlp_res\": true, "
		  "\"tie_word_embeddings\": false, \"vocab_size\": 32000}",
		  478584, 17311, 143360, "" },
		/* tencent/Tencent-Hunyuan-Large: every second layer keeps keys */
		{ "{\"model_type\": \"hunyuan\", \"hidden_size\": 6400, "
		  "\"intermediate_size\": 18304, \"num_hidden_layers\": 64, "
		  "\"num_attention_heads\": 80, \"num_key_value_heads\": 8, "
		  "\"attention_head_dim\": 128, \"num_experts\": 16, "
		  "\"moe_topk\": 1, \"num_shared_expert\": 1, \"use_cla\": true, "
		  "\"cla_share_factor\": 2, \"tie_word_embeddings\": true, "
		  "\"vocab_size\": 128512}",
		  392000, 54608, 131072, "" },
		/* nanochat, of no row: what squares has no gate */
		{ "{\"model_type\": \"nanochat\", \"hidden_size\": 1280, "
		  "\"intermediate_size\": 5120, \"num_attention_heads\": 10, "
		  "\"num_hidden_layers\": 20, \"hidden_act\": \"relu2\", "
		  "\"tie_word_embeddings\": false, \"vocab_size\": 65536}",
		  561, 0, 102400, "read like Llama" },
		/* GPT-2's words under a name that nobody knows */
		{ "{\"model_type\": \"never_heard\", \"n_embd\": 1024, "
		  "\"n_head\": 16, \"n_layer\": 24, \"vocab_size\": 50000, "
		  "\"activation_function\": \"gelu_new\"}",
		  353.5, 0, 98304, "read like GPT-2" },
		/* thinkingmachines/Inkling: 975 B, 41 B a token; "hybrid" attends to
		   all */
		{ "{\"model_type\": \"inkling_mm_model\", \"text_config\": {"
		  "\"model_type\": \"inkling_text\", \"hidden_size\": 6144, "
		  "\"intermediate_size\": 24576, \"moe_intermediate_size\": 3072, "
		  "\"num_hidden_layers\": 6, \"num_attention_heads\": 64, "
		  "\"num_key_value_heads\": 8, \"swa_num_key_value_heads\": 16, "
		  "\"head_dim\": 128, \"sliding_window_size\": 512, "
		  "\"n_routed_experts\": 256, \"n_shared_experts\": 2, "
		  "\"num_experts_per_tok\": 6, \"conv_kernel_size\": 4, "
		  "\"tie_word_embeddings\": false, \"vocab_size\": 201024, "
		  "\"layer_types\": [\"hybrid_sliding\", \"hybrid_sliding\", "
		  "\"hybrid_sliding\", \"hybrid_sliding\", \"hybrid_sliding\", "
		  "\"hybrid\"], \"mlp_layer_types\": [\"sparse\", \"sparse\", "
		  "\"sparse\", \"sparse\", \"sparse\", \"sparse\"]}}",
		  90877, 5940, 24576, "short convolutions and relative positions" },
		/* Falcon-H1-0.5B without mamba_d_ssm: its heads tell it; 521 M are
		 * published */
		{ "{\"model_type\": \"falcon_h1\", \"head_dim\": 64, "
		  "\"hidden_size\": 1024, \"intermediate_size\": 2048, "
		  "\"mamba_d_conv\": 4, \"mamba_d_head\": 64, \"mamba_d_state\": 128, "
		  "\"mamba_n_groups\": 1, \"mamba_n_heads\": 24, "
		  "\"mamba_use_mlp\": true, \"num_attention_heads\": 8, "
		  "\"num_hidden_layers\": 36, \"num_key_value_heads\": 2, "
		  "\"tie_word_embeddings\": false, \"vocab_size\": 32784}",
		  521.5, 0, 0, "" },
		/* ByteDance/Ouro-1.4B */
		{ "{\"model_type\": \"ouro\", \"hidden_size\": 2048, "
		  "\"intermediate_size\": 5632, \"num_attention_heads\": 16, "
		  "\"num_hidden_layers\": 24, \"total_ut_steps\": 4, "
		  "\"tie_word_embeddings\": false, \"vocab_size\": 49152}",
		  1435, 0, 0, "passes the layers several times" },
	};
	static const char *const refused[][2] = {
		{ "recurrent_gemma", "Griffin" },
		{ "zamba2", "one attention for many layers" },
		{ "openelm", "OpenELM" },
		{ "clip", "compares images and texts" },
		{ "siglip_vision_model", "compares images and texts" },
		{ "vit", "which sees" },
	};
	struct error error;
	struct model model;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct model_counts counts;

		if (!read_text(cases[i].text, &model, &error))
			fail_msg("%zu: %s", i, error.text);
		model_count(&model, &counts);
		assert_close(counts.total / 1e6, cases[i].total, 0.001);
		if (cases[i].active > 0)
			assert_close(counts.active / 1e6, cases[i].active, 0.001);
		if (cases[i].entry > 0)
			assert_close(model_kv_bytes_per_token(&model, 1024, 2),
				     cases[i].entry, 1e-9);
		if (cases[i].doubt[0] == '\0')
			assert_string_equal(model.approximate, "");
		assert_non_null(strstr(model.approximate, cases[i].doubt));
	}
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		snprintf(text, sizeof text, "{\"model_type\": \"%s\"}", refused[i][0]);
		assert_false(read_text(text, &model, &error));
		assert_non_null(strstr(error.text, refused[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_words),
		cmocka_unit_test(test_small_classes),
		cmocka_unit_test(test_silent_files),
		cmocka_unit_test(test_longcat),
		cmocka_unit_test(test_step3),
		cmocka_unit_test(test_encoders),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_lightning),
		cmocka_unit_test(test_convolutions),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_quantised),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_first_classes),
		cmocka_unit_test(test_other_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
