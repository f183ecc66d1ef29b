/* test_hf.c - config.json files of published models, read and counted.
 *
 * Shapes are facts of the published files; counts in billions are those that
 * the publishers state or that the files' tensors add up to. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/formats.h"
#include "presets/hf/hf_model.h"
#include "tests/support/close.h"

static bool read_text(const char *text, struct model *model,
		      struct import_report *report, struct error *error)
{
	struct document document;
	bool good;

	memset(report, 0, sizeof *report);
	if (!document_parse(&document, "config.json", text, strlen(text), error))
		return false;
	good = hf_model_read(&document, model, report, error);
	document_free(&document);
	return good;
}

static const struct {
	const char *name, *text;
	double billions, active;
} published[] = {
	{ "Llama-3.1-70B",
	  "{\"model_type\": \"llama\", \"hidden_size\": 8192, "
	  "\"intermediate_size\": 28672,"
	  "\"num_attention_heads\": 64, \"num_hidden_layers\": 80,"
	  "\"num_key_value_heads\": 8, \"tie_word_embeddings\": false,"
	  "\"vocab_size\": 128256}",
	  70.554, 70.554 },
	{ "Qwen3-30B-A3B",
	  "{\"model_type\": \"qwen3_moe\", \"decoder_sparse_step\": 1, "
	  "\"head_dim\": 128,"
	  "\"hidden_size\": 2048, \"intermediate_size\": 6144, \"mlp_only_layers\": [],"
	  "\"moe_intermediate_size\": 768, \"num_attention_heads\": 32,"
	  "\"num_experts\": 128, \"num_experts_per_tok\": 8, \"num_hidden_layers\": 48,"
	  "\"num_key_value_heads\": 4, \"sliding_window\": null,"
	  "\"tie_word_embeddings\": false, \"vocab_size\": 151936}",
	  30.532, 3.35 },
	{ "Mixtral-8x7B",
	  "{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"intermediate_size\": "
	  "14336, \"num_attention_heads\": 32, \"num_experts_per_tok\": 2,"
	  "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
	  "\"num_local_experts\": 8,"
	  "\"tie_word_embeddings\": false, \"vocab_size\": 32000}",
	  46.703, 12.88 },
	{ "DeepSeek-V3",
	  "{\"model_type\": \"deepseek_v3\", \"first_k_dense_replace\": 3, "
	  "\"head_dim\": 64,"
	  "\"hidden_size\": 7168, \"intermediate_size\": 18432, \"kv_lora_rank\": 512,"
	  "\"moe_intermediate_size\": 2048, \"moe_layer_freq\": 1, \"n_group\": 8,"
	  "\"n_routed_experts\": 256, \"n_shared_experts\": 1,"
	  "\"num_attention_heads\": 128, \"num_experts_per_tok\": 8,"
	  "\"num_hidden_layers\": 61, \"num_nextn_predict_layers\": 1,"
	  "\"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64,"
	  "\"topk_group\": 4, \"v_head_dim\": 128, \"vocab_size\": 129280,"
	  "\"tie_word_embeddings\": false}",
	  671.03, 37.55 },
	{ "Llama-4-Scout",
	  "{\"model_type\": \"llama4\", \"text_config\": {\"model_type\": "
	  "\"llama4_text\","
	  "\"attention_chunk_size\": 8192, \"head_dim\": 128, \"hidden_size\": 5120,"
	  "\"interleave_moe_layer_step\": 1, \"intermediate_size\": 8192,"
	  "\"intermediate_size_mlp\": 16384, \"num_attention_heads\": 40,"
	  "\"num_experts_per_tok\": 1, \"num_hidden_layers\": 48,"
	  "\"num_key_value_heads\": 8, \"num_local_experts\": 16,"
	  "\"vocab_size\": 202048}}",
	  107.77, 17.17 },
	{ "gpt-oss-20b",
	  "{\"model_type\": \"gpt_oss\", \"attention_bias\": true, \"head_dim\": 64,"
	  "\"hidden_size\": 2880, \"intermediate_size\": 2880, \"layer_types\": ["
	  "\"sliding_attention\", \"full_attention\", \"sliding_attention\","
	  "\"full_attention\", \"sliding_attention\", \"full_attention\","
	  "\"sliding_attention\", \"full_attention\", \"sliding_attention\","
	  "\"full_attention\", \"sliding_attention\", \"full_attention\","
	  "\"sliding_attention\", \"full_attention\", \"sliding_attention\","
	  "\"full_attention\", \"sliding_attention\", \"full_attention\","
	  "\"sliding_attention\", \"full_attention\", \"sliding_attention\","
	  "\"full_attention\", \"sliding_attention\", \"full_attention\"],"
	  "\"num_attention_heads\": 64, \"num_experts_per_tok\": 4,"
	  "\"num_hidden_layers\": 24, \"num_key_value_heads\": 8,"
	  "\"num_local_experts\": 32, \"sliding_window\": 128,"
	  "\"tie_word_embeddings\": false, \"vocab_size\": 201088}",
	  20.91, 0 },
	{ "Nemotron-H-56B",
	  "{\"model_type\": \"nemotron_h\", \"attention_head_dim\": 128, "
	  "\"chunk_size\": "
	  "128, \"conv_kernel\": 4, \"expand\": 2, \"hidden_size\": 8192,"
	  "\"hybrid_override_pattern\": "
	  "\"M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-"
	  "M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-\","
	  "\"intermediate_size\": 32768, \"mamba_head_dim\": 64, "
	  "\"mamba_num_heads\": 256,"
	  "\"n_groups\": 8, \"num_attention_heads\": 64, \"num_hidden_layers\": 118,"
	  "\"num_key_value_heads\": 8, \"ssm_state_size\": 256,"
	  "\"time_step_limit\": [0.0, Infinity], \"tie_word_embeddings\": false,"
	  "\"vocab_size\": 131072}",
	  56.32, 0 },
	{ "Maverick",
	  "{\"model_type\": \"llama4\", \"text_config\": {\"model_type\": "
	  "\"llama4_text\", \"head_dim\": 128, \"hidden_size\": 5120,"
	  "\"interleave_moe_layer_step\": 2, \"intermediate_size\": 8192,"
	  "\"intermediate_size_mlp\": 16384, \"num_attention_heads\": 40,"
	  "\"num_experts_per_tok\": 1, \"num_hidden_layers\": 48,"
	  "\"num_key_value_heads\": 8, \"num_local_experts\": 128,"
	  "\"vocab_size\": 202048}}",
	  400.71, 17.18 },
	{ "GLM-4.7-Flash", /* MLA */
	  "{\"model_type\": \"glm4_moe_lite\", \"num_hidden_layers\": 47,"
	  "\"hidden_size\": 2048, \"num_attention_heads\": 20, \"head_dim\": 64,"
	  "\"intermediate_size\": 10240, \"vocab_size\": 154880,"
	  "\"n_routed_experts\": 64, \"n_shared_experts\": 1,"
	  "\"num_experts_per_tok\": 4, \"moe_intermediate_size\": 1536,"
	  "\"first_k_dense_replace\": 1, \"kv_lora_rank\": 512,"
	  "\"q_lora_rank\": 768, \"qk_nope_head_dim\": 192,"
	  "\"qk_rope_head_dim\": 64, \"v_head_dim\": 256,"
	  "\"tie_word_embeddings\": false}",
	  29.94, 3.9 },
	{ "MiniMax-M3", /* the text part without a model_type of its own */
	  "{\"model_type\": \"minimax_m3_vl\", \"text_config\": {"
	  "\"hidden_size\": 6144, \"intermediate_size\": 3072,"
	  "\"dense_intermediate_size\": 12288, \"shared_intermediate_size\": 3072,"
	  "\"num_hidden_layers\": 60, \"num_attention_heads\": 64,"
	  "\"num_key_value_heads\": 4, \"head_dim\": 128, \"vocab_size\": 200064,"
	  "\"num_local_experts\": 128, \"num_experts_per_tok\": 4,"
	  "\"n_shared_experts\": 1, \"use_qk_norm\": true,"
	  "\"moe_layer_freq\": [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,"
	  "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,"
	  "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],"
	  "\"tie_word_embeddings\": false}}",
	  425.95, 0 },
	{ "DBRX", /* keys in mappings of their own */
	  "{\"model_type\": \"dbrx\", \"d_model\": 6144, \"n_heads\": 48,"
	  "\"n_layers\": 40, \"vocab_size\": 100352,"
	  "\"attn_config\": {\"kv_n_heads\": 8},"
	  "\"ffn_config\": {\"ffn_hidden_size\": 10752, \"moe_num_experts\": 16,"
	  "\"moe_top_k\": 4}, \"tie_word_embeddings\": false}",
	  131.6, 36.47 },
	{ "Hunyuan-A13B", /* one value a layer */
	  "{\"model_type\": \"hunyuan_v1_moe\", \"hidden_size\": 4096,"
	  "\"intermediate_size\": 3072, \"moe_intermediate_size\": [3072, 3072],"
	  "\"num_attention_heads\": 32, \"num_key_value_heads\": 8,"
	  "\"attention_head_dim\": 128, \"num_hidden_layers\": 32,"
	  "\"num_experts\": 64, \"moe_topk\": [8, 8],"
	  "\"num_shared_expert\": [1, 1], \"vocab_size\": 128167,"
	  "\"tie_word_embeddings\": true}",
	  80.39, 12.75 },
	{ "Bamba-9B",
	  "{\"model_type\": \"bamba\", \"attn_layer_indices\": [9, 18, 27],"
	  "\"hidden_size\": 4096, \"intermediate_size\": 14336,"
	  "\"mamba_d_conv\": 4, \"mamba_d_head\": 64, \"mamba_d_state\": 128,"
	  "\"mamba_expand\": 2, \"mamba_n_groups\": 1, \"mamba_n_heads\": 128,"
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 32,"
	  "\"num_key_value_heads\": 8, \"tie_word_embeddings\": false,"
	  "\"vocab_size\": 128256}",
	  9.78, 0 },
	{ "BLOOM",
	  "{\"model_type\": \"bloom\", \"n_embed\": 14336, \"n_layer\": 70,"
	  "\"num_attention_heads\": 112, \"vocab_size\": 250880}",
	  176.25, 0 },
	{ "LLaVA-1.5", /* the class says the rest */
	  "{\"model_type\": \"llava\", \"text_config\": {\"model_type\": "
	  "\"llama\", \"vocab_size\": 32064}, \"vision_config\": {},"
	  "\"tie_word_embeddings\": false}",
	  6.74, 0 },
	{ "Nemotron-3-Super, latent experts",
	  "{\"model_type\": \"nemotron_h\", \"chunk_size\": 128, \"conv"
	  "_kernel\": 4, \"head_dim\": 128, \"hidden_size\": 4096, \"hy"
	  "brid_override_pattern\": \"MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEME"
	  "MEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME\", \""
	  "intermediate_size\": 2688, \"mamba_head_dim\": 64, \"mamba_n"
	  "um_heads\": 128, \"mlp_hidden_act\": \"relu2\", \"moe_interm"
	  "ediate_size\": 2688, \"moe_latent_size\": 1024, \"moe_shared"
	  "_expert_intermediate_size\": 5376, \"n_groups\": 8, \"n_rout"
	  "ed_experts\": 512, \"n_shared_experts\": 1, \"num_attention_"
	  "heads\": 32, \"num_experts_per_tok\": 22, \"num_hidden_layer"
	  "s\": 88, \"num_key_value_heads\": 2, \"ssm_state_size\": 128"
	  ", \"tie_word_embeddings\": false, \"vocab_size\": 131072}",
	  120.7, 12.77 },
	{ "Nemotron-3.5-Lightning, a list of sublayers and no count",
	  "{\"model_type\": \"nemotron_h\", \"chunk_size\": 128, \"conv"
	  "_kernel\": 4, \"head_dim\": 128, \"hidden_size\": 2688, \"in"
	  "termediate_size\": 1856, \"mamba_head_dim\": 64, \"mamba_num"
	  "_heads\": 64, \"mlp_hidden_act\": \"relu2\", \"moe_intermedi"
	  "ate_size\": 1856, \"moe_latent_size\": null, \"moe_shared_ex"
	  "pert_intermediate_size\": 3712, \"n_groups\": 8, \"n_routed_"
	  "experts\": 128, \"n_shared_experts\": 1, \"num_attention_hea"
	  "ds\": 32, \"num_experts_per_tok\": 6, \"num_key_value_heads\""
	  ": 2, \"ssm_state_size\": 128, \"tie_word_embeddings\": false"
	  ", \"vocab_size\": 131072, \"layers_block_type\": [\"mamba\","
	  " \"moe\", \"mamba\", \"moe\", \"mamba\", \"attention\", \"mo"
	  "e\", \"mamba\", \"moe\", \"mamba\", \"moe\", \"mamba\", \"at"
	  "tention\", \"moe\", \"mamba\", \"moe\", \"mamba\", \"moe\", "
	  "\"mamba\", \"attention\", \"moe\", \"mamba\", \"moe\", \"mam"
	  "ba\", \"moe\", \"mamba\", \"attention\", \"moe\", \"mamba\","
	  " \"moe\", \"mamba\", \"moe\", \"mamba\", \"attention\", \"mo"
	  "e\", \"mamba\", \"moe\", \"mamba\", \"moe\", \"mamba\", \"mo"
	  "e\", \"mamba\", \"attention\", \"moe\", \"mamba\", \"moe\", "
	  "\"mamba\", \"moe\", \"mamba\", \"moe\", \"mamba\", \"moe\"]}",
	  31.6, 3.6 },
	{ "Falcon-7B, one key-value head",
	  "{\"model_type\": \"falcon\", \"hidden_size\": 4544, \"num_hi"
	  "dden_layers\": 32, \"num_attention_heads\": 71, \"num_kv_hea"
	  "ds\": 71, \"multi_query\": true, \"new_decoder_architecture\""
	  ": false, \"parallel_attn\": true, \"bias\": false, \"vocab_s"
	  "ize\": 65024}",
	  6.922, 0 },
	{ "Qwen-1.8B of 2023, half widths",
	  "{\"model_type\": \"qwen\", \"hidden_size\": 2048, \"intermed"
	  "iate_size\": 11008, \"num_attention_heads\": 16, \"num_hidde"
	  "n_layers\": 24, \"kv_channels\": 128, \"vocab_size\": 151936"
	  ", \"tie_word_embeddings\": false}",
	  1.837, 0 },
	{ "BERT base",
	  "{\"model_type\": \"bert\", \"hidden_size\": 768, \"intermedi"
	  "ate_size\": 3072, \"num_attention_heads\": 12, \"num_hidden_"
	  "layers\": 12, \"max_position_embeddings\": 512, \"vocab_size"
	  "\": 30522, \"hidden_act\": \"gelu\"}",
	  0.109, 0 },
	{ "MiniMax-M1",
	  "{\"attn_type_list\": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,"
	  " 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0,"
	  " 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,"
	  " 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0,"
	  " 0, 0, 0, 0, 0, 0, 1], \"head_dim\": 128, \"hidden_act\": \""
	  "silu\", \"hidden_size\": 6144, \"intermediate_size\": 9216, "
	  "\"model_type\": \"minimax_m1\", \"num_attention_heads\": 64,"
	  " \"num_experts_per_tok\": 2, \"num_hidden_layers\": 80, \"nu"
	  "m_key_value_heads\": 8, \"num_local_experts\": 32, \"postnor"
	  "m\": true, \"shared_intermediate_size\": 0, \"tie_word_embed"
	  "dings\": false, \"vocab_size\": 200064}",
	  456, 0 },
};

static void test_published_counts(void **state)
{
	static struct import_report report;
	struct error error = { "" };

	(void)state;
	for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
		struct model model;
		struct model_counts counts;

		if (!read_text(published[i].text, &model, &report, &error))
			fail_msg("%s: %s", published[i].name, error.text);
		model_count(&model, &counts);
		print_message("%s %.3f B, active %.3f B\n", published[i].name,
			      counts.total / 1e9, counts.active / 1e9);
		assert_close(counts.total / 1e9, published[i].billions, 0.005);
		if (published[i].active > 0)
			assert_close(counts.active / 1e9, published[i].active, 0.01);
	}
}

static void test_patterns(void **state)
{
	static struct import_report report;
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text(published[3].text, &model, &report, &error));
	assert_int_equal(model.layers, 61);
	assert_int_equal(model.kind[model.layer[2]].mlp, MLP_DENSE);
	assert_int_equal(model.kind[model.layer[3]].mlp, MLP_MOE);
	assert_int_equal(model.kind[0].mixer, MIXER_MLA);
	assert_int_equal(model.kind[0].attention.head_dim, 192);
	assert_int_equal(model.mtp_layers, 1);
	assert_true(read_text(published[5].text, &model, &report, &error));
	assert_int_equal(model.kind[model.layer[0]].attention.window, 128);
	assert_int_equal(model.kind[model.layer[1]].attention.window, 0);
	assert_true(read_text(published[4].text, &model, &report, &error));
	assert_int_equal(model.kind[model.layer[0]].attention.window, 8192);
	assert_int_equal(model.kind[model.layer[3]].attention.window, 0);
}

/* MTP modules of MiniMax, of which a switch takes all away. */
static void test_mtp_modules(void **state)
{
	static const char text[] =
		"{\"model_type\": \"minimax_m2\", \"hidden_size\": 64,"
		"\"intermediate_size\": 32, \"num_attention_heads\": 4,"
		"\"num_hidden_layers\": 2, \"num_local_experts\": 4,"
		"\"num_experts_per_tok\": 2, \"vocab_size\": 100,"
		"\"num_mtp_modules\": 3, \"mtp_transformer_layers\": 2,"
		"\"quantization_config\": {\"quant_method\": \"fp8\"},"
		"\"use_mtp\": true}";
	static struct import_report report;
	char off[sizeof text + 1];
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text(text, &model, &report, &error));
	assert_int_equal(model.mtp_layers, 6);
	assert_int_equal(import_count(&report, IMPORT_APPROXIMATE), 0);
	assert_int_equal(import_count(&report, IMPORT_NOT_MODELLED), 0);
	assert_string_equal(report.note[report.count - 1].key, "quantization_config");
	assert_int_equal(report.note[report.count - 1].kind, IMPORT_TAKEN);
	snprintf(off, sizeof off, "%.*sfalse}", (int)sizeof text - 6, text);
	assert_true(read_text(off, &model, &report, &error));
	assert_int_equal(model.mtp_layers, 0);
}

/* gpt-oss has one though its file may leave it out. */
static void test_limit_of_gates(void **state)
{
	static const char words[] =
		"{\"model_type\": \"gpt_oss\", \"head_dim\": 64, \"hidden_size\": 2880,"
		"\"intermediate_size\": 2880, \"num_attention_heads\": 64,"
		"\"num_experts_per_tok\": 4, \"num_hidden_layers\": 2,"
		"\"num_local_experts\": 32, \"vocab_size\": 201088%s}";
	static struct import_report report;
	struct error error;
	struct model model;
	char text[400];

	(void)state;
	snprintf(text, sizeof text, words, "");
	assert_true(read_text(text, &model, &report, &error));
	assert_float_equal(model.moe.activation_limit, 7, 0);
	snprintf(text, sizeof text, words, ", \"swiglu_limit\": 7.5");
	assert_true(read_text(text, &model, &report, &error));
	assert_float_equal(model.moe.activation_limit, 7.5, 0);
	snprintf(text, sizeof text, words, ", \"swiglu_limit\": [1]");
	assert_false(read_text(text, &model, &report, &error));
}

/* Each reason is said, joined in one line. */
static void test_reasons(void **state)
{
	static struct import_report report;
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text("{\"model_type\": \"deepseek_v4\", \"hidden_size\": 64,"
			      "\"num_attention_heads\": 4, \"num_hidden_layers\": 2,"
			      "\"vocab_size\": 100, \"hc_mult\": 4,"
			      "\"expert_dtype\": \"fp4\", \"quantization_config\":"
			      "{\"quant_method\": \"fp8\"}}",
			      &model, &report, &error));
	assert_int_equal(import_count(&report, IMPORT_APPROXIMATE), 2);
	assert_non_null(strstr(model.approximate, "hyper-connections"));
	assert_non_null(strstr(model.approximate, "; experts are in fp4"));
}

static void test_unknown_family_is_said(void **state)
{
	static struct import_report report;
	struct error error;
	struct model model;

	(void)state;
	assert_true(read_text("{\"model_type\": \"never_heard\", \"hidden_size\": 64,"
			      "\"num_attention_heads\": 4, \"num_hidden_layers\": 2,"
			      "\"vocab_size\": 100, \"some_new_key\": 3}",
			      &model, &report, &error));
	assert_true(strlen(model.approximate) > 0);
	assert_int_equal(import_count(&report, IMPORT_NOT_MODELLED), 1);
}

static void test_broken_files(void **state)
{
	static const struct {
		const char *text, *says;
	} broken[] = {
		{ "", "" },
		{ "{}", "model_type" },
		{ "[1, 2]", "" },
		{ "{\"model_type\": \"llama\"}", "hidden_size" },
		{ "{\"model_type\": \"llama\", \"hidden_size\": \"wide\"}",
		  "hidden_size" },
		{ "{\"model_type\": \"llama\", \"hidden_size\": -1}", "hidden_size" },
		{ "{\"model_type\": \"llama\", \"hidden_size\": 1e30}", "hidden_size" },
		{ "{\"model_type\": \"llama\", \"hidden_size\": {\"a\": 1}}",
		  "hidden_size" },
		{ "{\"model_type\": \"llama\", \"hidden_size\": 64, \"vocab_size\": 9,"
		  "\"num_hidden_layers\": 99999999, \"num_attention_heads\": 4}",
		  "layers" },
		{ "{\"model_type\": \"llama\", \"hidden_size\": 64, \"vocab_size\": 9,"
		  "\"num_hidden_layers\": 2, \"num_attention_heads\": 0}",
		  "" },
		{ "{\"model_type\": \"nemotron_h\", \"hidden_size\": 64, "
		  "\"vocab_size\": 9,"
		  "\"hybrid_override_pattern\": \"M?\", \"ssm_state_size\": 16,"
		  "\"num_hidden_layers\": 2, \"num_attention_heads\": 4}",
		  "layer 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		static struct import_report report;
		struct error error = { "" };
		struct model model;

		assert_false(read_text(broken[i].text, &model, &report, &error));
		assert_true(strlen(error.text) > 0);
		assert_non_null(strstr(error.text, "config.json"));
		if (!strstr(error.text, broken[i].says))
			fail_msg("'%s' does not name '%s'", error.text, broken[i].says);
	}
}

/* Files of published models, where $SHARDSCOPE_CORPUS names a folder with a folder hf:
 * each loads, and those that are counted somewhere have that count. */
static void test_corpus(void **state)
{
	static const struct {
		const char *name;
		double billions;
	} count[] = {
		{ "Llama-3.1-8B", 8.03 },    { "Llama-3.1-70B", 70.55 },
		{ "Qwen3-32B", 32.76 },      { "Qwen3-30B-A3B", 30.53 },
		{ "Mixtral-8x7B", 46.70 },   { "DeepSeek-V3", 671.03 },
		{ "Kimi-K2", 1026.41 },      { "GLM-5", 743.91 },
		{ "Llama-4-Scout", 107.77 }, { "MiniMax-M2.5", 228.69 },
	};
	const char *corpus = getenv("SHARDSCOPE_CORPUS");
	static struct import_report report;
	char folder[512], path[1024];
	struct dirent *entry;
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof folder, "%s/hf", corpus ? corpus : "");
	dir = corpus ? opendir(folder) : NULL;
	while (dir && (entry = readdir(dir))) {
		struct model_counts counts;
		struct scenario s;
		struct error error;

		if (!strstr(entry->d_name, ".json"))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		memset(&report, 0, sizeof report);
		if (!format_read(format_find("hf"), path, &s, &report, &error))
			fail_msg("%s", error.text);
		model_count(&s.model, &counts);
		for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
			if (strstr(entry->d_name, count[i].name))
				assert_close(counts.total / 1e9, count[i].billions,
					     0.005);
	}
	if (!dir)
		skip();
	closedir(dir);
}

static void read_good(const char *text, struct model *model,
		      struct import_report *report)
{
	struct error error;

	if (!read_text(text, model, report, &error))
		fail_msg("%s", error.text);
}

#define SMALL                                              \
	"\"hidden_size\": 64, \"num_attention_heads\": 4," \
	"\"num_hidden_layers\": 2, \"vocab_size\": 100"

/* Each entry of Nemotron's list is one sublayer; Bamba's are layers with an MLP. */
static void test_sublayers(void **state)
{
	static struct import_report report;
	struct model model;

	(void)state;
	read_good("{\"model_type\": \"nemotron_h\", \"layers_block_type\": [\"mamba\","
		  "\"moe\", \"attention\", \"mlp\"], \"hidden_size\": 64,"
		  "\"ssm_state_size\": 16, \"num_attention_heads\": 4, \"vocab_size\": "
		  "9, \"n_routed_experts\": 4, \"moe_intermediate_size\": 32}",
		  &model, &report);
	assert_int_equal(model.layers, 4);
	assert_int_equal(model.kind[model.layer[0]].mixer, MIXER_MAMBA2);
	assert_int_equal(model.kind[model.layer[0]].mlp, MLP_NONE);
	assert_int_equal(model.kind[model.layer[1]].mixer, MIXER_NONE);
	assert_int_equal(model.kind[model.layer[1]].mlp, MLP_MOE);
	assert_int_equal(model.kind[model.layer[2]].mixer, MIXER_ATTENTION);
	assert_int_equal(model.kind[model.layer[3]].mlp, MLP_DENSE);
	read_good("{\"model_type\": \"bamba\", \"layers_block_type\": [\"mamba\","
		  "\"attention\"], \"mamba_d_state\": 16," SMALL "}",
		  &model, &report);
	assert_int_equal(model.kind[model.layer[0]].mixer, MIXER_MAMBA2);
	assert_int_equal(model.kind[model.layer[0]].mlp, MLP_DENSE);
	/* Kimi counts from 1 */
	read_good("{\"model_type\": \"kimi_linear\", \"linear_attn_config\": {"
		  "\"num_heads\": 4, \"head_dim\": 16, \"full_attn_layers\": [2],"
		  "\"kda_layers\": [1]}," SMALL "}",
		  &model, &report);
	assert_int_equal(model.kind[model.layer[0]].mixer, MIXER_LINEAR);
	assert_int_equal(model.kind[model.layer[1]].mixer, MIXER_ATTENTION);
}

/* Jamba (arXiv 2403.19887, section 3.1; configuration_jamba.py): the layers i with
 * i % period = offset have experts, and attention likewise. */
static void test_periods_begin_at_their_offset(void **state)
{
	struct import_report report;
	struct model model;

	(void)state;
	for (int offset = 0; offset < 4; offset++) {
		char text[800];

		snprintf(text, sizeof text,
			 "{\"model_type\": \"jamba\", \"hidden_size\": 64, "
			 "\"num_hidden_layers\": 8, \"vocab_size\": 100, "
			 "\"num_attention_heads\": 4, \"num_key_value_heads\": 4, "
			 "\"intermediate_size\": 128, \"num_experts\": 4, "
			 "\"num_experts_per_tok\": 2, \"attn_layer_period\": 8, "
			 "\"attn_layer_offset\": %d, \"expert_layer_period\": 4, "
			 "\"expert_layer_offset\": %d, \"mamba_d_state\": 16, "
			 "\"mamba_d_conv\": 4, \"mamba_expand\": 2, "
			 "\"mamba_dt_rank\": 4}",
			 offset + 1, offset);
		read_good(text, &model, &report);
		for (int i = 0; i < 8; i++) {
			const struct layer_kind *kind = &model.kind[model.layer[i]];

			assert_int_equal(kind->mlp == MLP_MOE, i % 4 == offset);
			assert_int_equal(kind->mixer == MIXER_ATTENTION,
					 i == offset + 1);
		}
	}
}
/* What is not read, or read as another thing, is said with its true reason. */
static void test_doubts(void **state)
{
	static const struct {
		const char *text, *says;
	} doubts[] = {
		{ "{\"model_type\": \"llama\", \"own_expert_count\": 8," SMALL "}",
		  "not read: own_expert_count" },
		{ "{\"model_type\": \"lfm2\", \"layer_types\": [\"conv\","
		  "\"full_attention\"]," SMALL "}",
		  "short convolutions" },
		{ "{\"model_type\": \"bert\"," SMALL "}", "looks both ways" },
		{ "{\"model_type\": \"gemma3n\", \"altup_num_inputs\": 4," SMALL "}",
		  "AltUp" },
		{ "{\"model_type\": \"deepseek_v32\", \"index_topk\": 64," SMALL "}",
		  "without the sizes of its indexer" },
		{ "{\"model_type\": \"ernie4_5_moe\", \"moe_num_experts\": 4,"
		  "\"moe_k\": 2, \"intermediate_size\": 128," SMALL "}",
		  "the width of experts is not stated" },
		{ "{\"model_type\": \"mixtral\", \"num_local_experts\": 8, \"intermediate_size\": 128," SMALL
		  "}",
		  "how many experts see a token is not stated" },
	};
	static const char *const plain[] = {
		"{\"model_type\": \"llama\", \"own_expert_count\": 0," SMALL "}",
		"{\"model_type\": \"gemma4\", \"num_kv_shared_layers\": 0,"
		"\"attention_k_eq_v\": false," SMALL "}",
		"{\"model_type\": \"llama\", \"is_moe\": false, \"num_experts\": 9000,"
		"\"num_experts_per_tok\": 4," SMALL "}",
		"{\"model_type\": \"llama\", \"layerdrop\": 0.1, \"mamba\": null," SMALL
		"}",
	};
	static struct import_report report;
	struct model model;

	(void)state;
	for (size_t i = 0; i < sizeof doubts / sizeof doubts[0]; i++) {
		read_good(doubts[i].text, &model, &report);
		if (!strstr(model.approximate, doubts[i].says))
			fail_msg("'%s' does not say %s", model.approximate,
				 doubts[i].says);
	}
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		read_good(plain[i], &model, &report);
		assert_string_equal(model.approximate, "");
		assert_int_equal(model.moe.experts, 0);
	}
}

/* What picked, compressed and shared entries keep of a request, by hand: DeepSeek-V3.2
 * a latent of 576 in 16 bits and a key of 128 bytes with its scale for each token;
 * DeepSeek-V4 its window, an entry of 512 for 4 or 128 tokens, keys for those of 4. */
static void test_sparse_caches(void **state)
{
	static const char v32[] =
		"{\"model_type\": \"deepseek_v32\", \"kv_lora_rank\": 512,"
		"\"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128,"
		"\"qk_rope_head_dim\": 64, \"v_head_dim\": 128,"
		"\"index_n_heads\": 64, \"index_head_dim\": 128,"
		"\"index_topk\": 2048," SMALL "}";
	static const char v4[] =
		"{\"model_type\": \"deepseek_v4\", \"compress_ratios\": [0, 4, 128],"
		"\"sliding_window\": 128, \"head_dim\": 512,"
		"\"num_key_value_heads\": 1, \"index_n_heads\": 64,"
		"\"index_head_dim\": 128, \"index_topk\": 512,"
		"\"num_hidden_layers\": 3, \"hidden_size\": 4096,"
		"\"num_attention_heads\": 64, \"vocab_size\": 100}";
	const double window = 128 * 1024;
	static struct import_report report;
	const struct attention *a;
	struct model model;

	(void)state;
	read_good(v32, &model, &report);
	a = &model.kind[0].attention;
	assert_string_equal(model.approximate, "");
	assert_close(model_cache_bytes(&model, &model.kind[0], 1000, 8, 2),
		     1000 * (576 * 2 + 132), 1e-12);
	assert_close(attention_seen(a, 1000), 1000, 1e-12);
	assert_close(attention_seen(a, 65536), 2048, 1e-12);
	assert_close(attention_scored(a, 65536), 65536, 1e-12);
	/* at its start a sequence has less than are picked */
	assert_close(attention_mean_seen(a, 4096), 2048 - 512, 1e-12);
	read_good(v4, &model, &report);
	assert_int_equal(model.kinds, 3);
	assert_close(model_cache_bytes(&model, &model.kind[0], 65536, 1, 2), window,
		     1e-12);
	assert_close(model_cache_bytes(&model, &model.kind[1], 65536, 1, 2),
		     window + 16384 * (1024 + 132), 1e-12);
	assert_close(model_cache_bytes(&model, &model.kind[2], 65536, 1, 2),
		     window + 512 * 1024, 1e-12);
	assert_close(attention_seen(&model.kind[1].attention, 65536), 128 + 512, 1e-12);
	assert_close(attention_seen(&model.kind[2].attention, 65536), 128 + 512, 1e-12);
	assert_close(attention_seen(&model.kind[2].attention, 1000), 128 + 7, 1e-12);
}

/* GLM-5.2: three layers in four have no indexer of their own. */
static void test_shared_picks(void **state)
{
	static struct import_report report;
	struct layer_counts full, shared;
	struct model model;

	(void)state;
	read_good("{\"model_type\": \"glm_moe_dsa\", \"n_routed_experts\": 0,"
		  "\"kv_lora_rank\": 64,"
		  "\"q_lora_rank\": 96, \"qk_nope_head_dim\": 32,"
		  "\"qk_rope_head_dim\": 16, \"v_head_dim\": 32,"
		  "\"index_n_heads\": 4, \"index_head_dim\": 128,"
		  "\"index_topk\": 256,"
		  "\"indexer_types\": [\"full\", \"shared\"]," SMALL "}",
		  &model, &report);
	assert_int_equal(model.kinds, 2);
	model_count_layer(&model, &model.kind[0], &full);
	model_count_layer(&model, &model.kind[1], &shared);
	/* queries from the latent, a key with its norm, a weight a head */
	assert_close(full.mixer - shared.mixer,
		     96 * 4 * 128 + (double)model.hidden * (128 + 4) + 2 * 128, 1e-12);
	assert_close(attention_seen(&model.kind[1].attention, 1000), 256, 1e-12);
	assert_close(attention_scored(&model.kind[1].attention, 1000), 0, 1e-12);
	assert_close(model_cache_bytes(&model, &model.kind[1], 1000, 1, 2),
		     1000 * 80 * 2, 1e-12);
}

/* Gemma 4 E: the last layers borrow keys and values, and have twice the MLP. */
static void test_wide_tail(void **state)
{
	static struct import_report report;
	struct model model;

	(void)state;
	read_good("{\"model_type\": \"gemma4\", \"num_hidden_layers\": 5,"
		  "\"hidden_size\": 64, \"num_attention_heads\": 4,"
		  "\"vocab_size\": 100, \"intermediate_size\": 256,"
		  "\"num_kv_shared_layers\": 2, \"use_double_wide_mlp\": true}",
		  &model, &report);
	for (int i = 0; i < 5; i++)
		assert_int_equal(model.kind[model.layer[i]].ffn, i < 3 ? 256 : 512);
	assert_null(strstr(model.approximate, "not read"));
}

/* Gemma 4 E2B (google/gemma-4-E2B): an input of its own for every layer, keys and
 * values of the last 20 borrowed. */
static void test_layer_inputs(void **state)
{
	static const char text[] =
		"{\"model_type\": \"gemma4\", \"text_config\": {\"hidden_size\": 1536,"
		"\"model_type\": \"gemma4_text\", \"num_hidden_layers\": 35,"
		"\"intermediate_size\": 6144, \"num_attention_heads\": 8,"
		"\"num_key_value_heads\": 1, \"head_dim\": 256,"
		"\"global_head_dim\": 512, \"vocab_size\": 262144,"
		"\"sliding_window\": 512, \"sliding_window_pattern\": 5,"
		"\"num_kv_shared_layers\": 20, \"use_double_wide_mlp\": true,"
		"\"hidden_size_per_layer_input\": 256, \"tie_word_embeddings\": true,"
		"\"vocab_size_per_layer_input\": 262144,"
		"\"hidden_activation\": \"gelu_pytorch_tanh\"}}";
	static struct import_report report;
	struct model_counts counts;
	struct layer_counts layer;
	struct model model;
	int borrowed = 0;

	(void)state;
	read_good(text, &model, &report);
	assert_string_equal(model.approximate, "");
	model_count(&model, &counts);
	assert_close(model_input_table(&model), 262144.0 * 35 * 256 + 256, 1e-15);
	assert_close(counts.embedding, 262144.0 * 1536 + 262144.0 * 35 * 256 + 256,
		     1e-15);
	/* 2.3 B are published without the table, 5.1 B with it and 0.45 B of encoders
	 */
	assert_close(counts.total - model_input_table(&model), 2.3e9, 0.01);
	assert_close(counts.total + 0.45e9, 5.1e9, 0.01);
	for (int i = 0; i < 35; i++) {
		const struct layer_kind *kind = &model.kind[model.layer[i]];

		borrowed += kind->attention.borrowed_kv;
		assert_int_equal(kind->attention.borrowed_kv, i >= 15);
		if (!kind->attention.borrowed_kv)
			continue;
		assert_close(model_cache_bytes(&model, kind, 1000, 1, 2), 0, 0);
		/* queries and outputs of 8 heads, a norm of queries */
		model_count_layer(&model, kind, &layer);
		assert_close(layer.mixer,
			     2 * 1536.0 * 8 * (double)kind->attention.head_dim +
				     (double)kind->attention.head_dim,
			     1e-12);
	}
	assert_int_equal(borrowed, 20);
	/* twelve layers keep 512 tokens, three all of them */
	assert_close(4096 * model_kv_bytes_per_token(&model, 4096, 2),
		     12 * 512.0 * 2 * 256 * 2 + 3 * 4096.0 * 2 * 512 * 2, 0.03);
}

/* Falcon-H1: every layer has both, and keeps both. */
static void test_both_mixers(void **state)
{
	static struct import_report report;
	struct layer_kind alone;
	struct model model;

	(void)state;
	read_good("{\"model_type\": \"falcon_h1\", \"mamba_d_ssm\": 64,"
		  "\"mamba_d_state\": 16, \"mamba_n_heads\": 2,"
		  "\"mamba_d_head\": 32," SMALL "}",
		  &model, &report);
	assert_string_equal(model.approximate, "");
	assert_int_equal(model.kind[0].mixer, MIXER_ATTENTION);
	assert_int_equal(model.kind[0].beside, MIXER_MAMBA2);
	alone = model.kind[0];
	alone.beside = MIXER_NONE;
	/* a state of 64 x 16 in fp32, and of 64 + 2 x 16 channels the three values that
	 * the convolution of four taps looks back on, in 16 bits */
	assert_close(model_cache_bytes(&model, &model.kind[0], 100, 1, 2) -
			     model_cache_bytes(&model, &alone, 100, 1, 2),
		     64 * 16 * 4 + (64 + 2 * 16) * 3 * 2, 1e-12);
}

/* Networks that nothing here is like. */
static void test_refusals(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "{\"model_type\": \"t5\", \"is_encoder_decoder\": true," SMALL "}",
		  "t5 is an encoder-decoder" },
		{ "{\"model_type\": \"rwkv5\", \"hidden_size\": 64}", "RWKV" },
		{ "{\"model_type\": \"bamba\", \"mamba_d_state\": 16," SMALL "}",
		  "nothing says which is which" },
		{ "{\"model_type\": \"granitemoehybrid\", \"mamba_d_state\": 16,"
		  "\"num_local_experts\": 0," SMALL "}",
		  "nothing says which is which" },
		{ "{\"model_type\": \"glm4_moe\"," SMALL "}",
		  "no num_experts of this glm4_moe" },
	};
	static struct import_report report;
	struct model model;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(read_text(bad[i].text, &model, &report, &error));
		if (!strstr(error.text, bad[i].says))
			fail_msg("'%s' does not say %s", error.text, bad[i].says);
	}
}

/* Checkpoints quantised matrix by matrix name each of them. */
static void test_long_maps(void **state)
{
	enum { NAMES = 30000 };
	static struct import_report report;
	char *text = malloc(NAMES * 40);
	struct model model;
	int used;

	(void)state;
	assert_non_null(text);
	used = sprintf(text, "{\"model_type\": \"llama\", \"quantization_config\": "
			     "{\"quantized_layers\": {");
	for (int i = 0; i < NAMES; i++)
		used += sprintf(text + used, "%s\"layer.%d\": {\"algo\": [8]}",
				i ? "," : "", i);
	sprintf(text + used, "}, \"quant_method\": \"modelopt\"}," SMALL "}");
	read_good(text, &model, &report);
	assert_int_equal(model.layers, 2);
	assert_string_equal(model.approximate, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_counts),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_mtp_modules),
		cmocka_unit_test(test_limit_of_gates),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_unknown_family_is_said),
		cmocka_unit_test(test_broken_files),
		cmocka_unit_test(test_sublayers),
		cmocka_unit_test(test_periods_begin_at_their_offset),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_long_maps),
		cmocka_unit_test(test_corpus),
		cmocka_unit_test(test_sparse_caches),
		cmocka_unit_test(test_shared_picks),
		cmocka_unit_test(test_layer_inputs),
		cmocka_unit_test(test_both_mixers),
		cmocka_unit_test(test_wide_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
