/* test_models.c - every shipped model against what its publisher counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/graph/graph.h"
#include "engine/model/mixer.h"
#include "presets/library.h"
#include "presets/model_file.h"
#include "presets/model_name.h"
#include "tests/support/close.h"

static void read_shipped(const char *name, struct model *model, struct model_note *note)
{
	struct document document;
	struct error error = { "" };

	memset(note, 0, sizeof *note);
	if (!preset_open(PRESET_MODEL, name, &document, &error) ||
	    !model_read(&document, document.root, model, note, &error))
		fail_msg("%s: %s", name, error.text);
	document_free(&document);
}

static void shelf_is_wide(void **state)
{
	static const char *const named[] = {
		"gpt3-175b",       "megatron-1t",     "bloom-176b",      "palm-540b",
		"opt-175b",        "glm-130b",        "falcon-180b",     "mt-nlg-530b",
		"gopher-280b",     "llama2-70b",      "llama3.1-8b",     "llama3.1-70b",
		"llama3.1-405b",   "mixtral-8x7b",    "mixtral-8x22b",   "deepseek-v2",
		"deepseek-v3",     "kimi-k2",         "qwen3-235b-a22b", "gpt-oss-20b",
		"gpt-oss-120b",    "mamba2-2.7b",     "nemotron-h-56b",  "jamba-v0.1",
		"nemotron-4-340b", "nemotron-3-nano", "gemma2-27b",      "gemma3-27b"
	};
	const struct preset *list;

	(void)state;
	assert_true(preset_list(PRESET_MODEL, &list) >= 45);
	for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
		if (!preset_find(PRESET_MODEL, named[i]))
			fail_msg("no model %s", named[i]);
}

static void counts_agree_with_publishers(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list), stated = 0, active = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct model model;
		struct model_note note;
		struct model_counts counts;

		read_shipped(list[i].name, &model, &note);
		model_count(&model, &counts);
		if (note.parameters <= 0)
			continue;
		stated++;
		/* a wide tolerance would hold nothing */
		if (note.tolerance <= 0 || note.tolerance > 0.03)
			fail_msg("%s: tolerance %g", list[i].name, note.tolerance);
		close_check(counts.total, note.parameters, note.tolerance, list[i].name,
			    __FILE__, __LINE__);
		if (note.active <= 0)
			continue;
		active++;
		close_check(counts.active, note.active, note.tolerance, list[i].name,
			    __FILE__, __LINE__);
	}
	assert_true(stated >= 35);
	assert_true(active >= 15);
}

static void everyone_has_title_and_source(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct model model;
		struct model_note note;
		char expected[16];
		struct model_counts counts;

		read_shipped(list[i].name, &model, &note);
		if (note.title[0] == '\0' || note.source[0] == '\0')
			fail_msg("%s: no title or source", list[i].name);
		assert_string_equal(note.title, list[i].title);
		assert_string_equal(model.hf_id, list[i].alias);
		/* the title's first number is the count, to the digits it has */
		model_count(&model, &counts);
		snprintf(expected, sizeof expected, "%.8s", note.title);
		assert_close(strtod(expected, NULL) * 1e9, counts.total, 0.03);
	}
}

/* A list says "like" with the parent's id only if it has its own. */
static void ids_are_unique(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	(void)state;
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i && list[i].alias[0] != '\0'; k++)
			assert_string_not_equal(list[i].alias, list[k].alias);
}

/* A name that two presets claim would be answered with the one that stands first. */
static void other_names_mean_one_model(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list), names = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		char words[2 * MAX_NOTE + 1], *rest = words, *word;

		snprintf(words, sizeof words, "%s%s%s", list[i].also,
			 list[i].also[0] && list[i].alike[0] ? " " : "", list[i].alike);
		while ((word = strsep(&rest, " ")) && *word != '\0') {
			const struct preset *found = model_name_find(word);

			if (found != &list[i])
				fail_msg("%s of %s means %s", word, list[i].name,
					 found ? found->name : "nothing");
			names++;
		}
	}
	assert_true(names >= 60);
}

/* A name whose shape nobody compared says so, by whatever way it comes; the model's own
 * and its checked names do not. */
static void unchecked_names_say_so(void **state)
{
	struct error error = { "" };
	struct model model;

	(void)state;
	assert_true(library_model(&model, "zai-org/GLM-4.6-FP8", &error));
	assert_non_null(strstr(model.approximate, "by its name alone"));
	assert_true(library_model(&model, "zai-org/GLM-4.7", &error));
	assert_string_equal(model.approximate, "");
	assert_true(library_model(&model, "glm-4.5", &error));
	assert_string_equal(model.approximate, "");
	assert_true(library_model(&model, "Qwen/Qwen2.5-VL-7B-Instruct", &error));
	assert_non_null(strstr(model.approximate, "the text part of"));
	assert_true(
		library_model(&model, "microsoft/Phi-4-multimodal-instruct", &error));
	assert_non_null(strstr(model.approximate, "the text part of"));
	assert_true(library_model(&model, "mistralai/Pixtral-12B-2409", &error));
	assert_non_null(strstr(model.approximate, "the text part of"));
	assert_true(library_model(&model, "google/gemma-3-12b-it", &error));
	assert_non_null(strstr(model.approximate, "the text part of"));
	assert_true(library_model(&model, "Qwen/Qwen3.5-9B", &error));
	assert_non_null(strstr(model.approximate, "the text part of"));
	assert_true(library_model(&model, "google/gemma-3-1b-it", &error));
	assert_string_equal(model.approximate, "");
	assert_true(library_model(&model, "gemma3-12b", &error));
	assert_string_equal(model.approximate, "");
	assert_true(library_model(&model, "Qwen/Qwen3-Embedding-8B", &error));
	assert_non_null(strstr(model.approximate, "it embeds or ranks"));
	assert_true(library_model(&model, "qwen2.5-7b", &error));
	assert_string_equal(model.approximate, "");
}

/* Words of a conversion, and points that a file's name can't have. */
static void names_of_conversions(void **state)
{
	static const struct {
		const char *name, *means;
	} names[] = {
		{ "org/Llama-4-Scout-17B-16E-Linearized-bnb-nf4-bf16", "llama4-scout" },
		{ "qwen3_5_35B_A3B", "qwen3.5-35b-a3b" },
		{ "qwen2_5_7B", "qwen2.5-7b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const struct preset *found = model_name_find(names[i].name);

		if (!found)
			fail_msg("%s means nothing", names[i].name);
		assert_string_equal(found->name, names[i].means);
	}
	assert_null(model_name_find("qwen3_9_35B_A3B"));
}

static const char *refusal_of(const char *name)
{
	static struct error error;
	struct model model;

	assert_false(library_model(&model, name, &error));
	return error.text;
}

/* A model whose shape was not to be had is named as that, and no model that is spelled
 * like it is offered. */
static void closed_models_are_told(void **state)
{
	static const char *const names[] = { "pfnet/plamo-2-translate",
					     "pfnet/plamo-3-nict-31b-base",
					     "mistralai/Mistral-Medium-3.5-128B",
					     "thinkingmachines/Inkling-NVFP4" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct error error = { "" };
		struct model model;

		assert_false(library_model(&model, names[i], &error));
		assert_non_null(strstr(error.text, "known without its shape"));
		assert_non_null(strstr(error.text, "--model config.json"));
		assert_null(strstr(error.text, "near"));
	}
	/* a small one of them is open */
	assert_null(strstr(refusal_of("pfnet/plamo-2-1b"), "known without its shape"));
}

/* What is shipped is read once: the second time it is the same, also after somebody
 * changed what he got, or asked for another name of it. */
static void read_once(void **state)
{
	struct document first, second;
	struct model made[3];
	struct cluster cluster[2];

	(void)state;
	assert_true(preset_open(PRESET_STACK, "vllm", &first, NULL));
	assert_true(preset_open(PRESET_STACK, "vllm", &second, NULL));
	assert_ptr_equal(first.root, second.root);
	document_free(&first);
	assert_non_null(node_get(second.root, "title"));
	document_free(&second);
	assert_true(library_model(&made[0], "qwen3-8b", NULL));
	made[2] = made[0];
	memset(&made[0], 1, sizeof made[0]);
	assert_true(library_model(&made[1], "Qwen/Qwen3-8B", NULL));
	assert_memory_equal(&made[1], &made[2], sizeof made[1]);
	assert_true(library_cluster(&cluster[0], "dgx-h100", NULL));
	cluster[0].gpus = 77;
	assert_true(library_cluster(&cluster[1], "dgx-h100", NULL));
	assert_true(cluster[1].gpus != 77);
}

/* Published models by their Hugging Face ids, counted from their config.json, in
 * billions; active parameters where the source counts the same. Tuned and quantised
 * checkpoints of them mean them too. */
static void ids_name_published_models(void **state)
{
	static const struct {
		const char *id;
		double total, active;
	} published[] = {
		{ "meta-llama/Llama-3.1-8B", 8.03, 0 },
		{ "meta-llama/Llama-3.1-70B", 70.55, 0 },
		{ "meta-llama/Llama-3.1-405B", 405.85, 0 },
		{ "meta-llama/Llama-3.1-405B-Instruct-FP8", 405.85, 0 },
		{ "meta-llama/Meta-Llama-3.1-70B-Instruct", 70.55, 0 },
		{ "Qwen/Qwen3-32B", 32.76, 0 },
		{ "Qwen/Qwen3-30B-A3B", 30.53, 0 },
		{ "Qwen/Qwen3-235B-A22B", 235.09, 22.19 },
		{ "Qwen/Qwen3-235B-A22B-Thinking-2507", 235.09, 22.19 },
		{ "Qwen/Qwen3-Coder-480B-A35B-Instruct", 480.15, 0 },
		{ "mistralai/Mixtral-8x7B-v0.1", 46.70, 12.88 },
		{ "mistralai/Mixtral-8x7B-Instruct-v0.1", 46.70, 12.88 },
		{ "mistralai/Mixtral-8x22B-v0.1", 140.62, 39.15 },
		{ "deepseek-ai/DeepSeek-V3", 671.03, 37.55 },
		{ "deepseek-ai/DeepSeek-R1", 671.03, 37.55 },
		{ "moonshotai/Kimi-K2-Instruct", 1026.41, 32.86 },
		{ "zai-org/GLM-5", 743.91, 41.78 },
		{ "openai/gpt-oss-120b", 116.79, 0 },
		{ "meta-llama/Llama-4-Scout-17B-16E", 107.77, 0 },
		{ "meta-llama/Llama-4-Scout-17B-16E-Instruct", 107.77, 0 },
		{ "meta-llama/Llama-4-Maverick-17B-128E", 400.71, 17.18 },
		{ "MiniMaxAI/MiniMax-M2.5", 228.69, 0 },
		{ "MiniMaxAI/MiniMax-M3", 425.95, 0 },
		{ "XiaomiMiMo/MiMo-V2-Flash", 309.43, 0 },
		{ "stepfun-ai/Step-3.7-Flash", 195.83, 0 },
		{ "MiniMaxAI/MiniMax-M2.7", 228.69, 0 },
		{ "zai-org/GLM-5.2-FP8", 743.38, 41.25 },
		{ "zai-org/GLM-4.5V-FP8", 106.85, 0 },
		{ "Qwen/Qwen3-VL-235B-A22B-Instruct-FP8", 235.09, 22.19 },
		{ "Qwen/Qwen3.5-397B-A17B-FP8", 396.35, 0 },
		{ "nvidia/Qwen3.6-27B-NVFP4", 26.90, 0 },
		{ "google/gemma-4-31B-it-qat-w4a16-ct", 30.81, 0 },
		{ "baidu/ERNIE-4.5-300B-A47B-PT", 299.48, 47.93 },
		{ "mistralai/Mistral-Large-3-675B-Instruct-2512", 673.42, 0 },
		{ "baichuan-inc/Baichuan2-13B-Chat", 13.90, 0 },
		{ "Qwen/Qwen-72B", 72.29, 0 },
		{ "nvidia/NVIDIA-Nemotron-3-Nano-4B-FP8", 3.9736, 0 },
		{ "poolside/Laguna-M.1-NVFP4", 225.80, 0 },
		{ "LiquidAI/LFM2.5-230M", 0.2297, 0 },
		{ "inclusionAI/Ling-2.6-flash-fp8", 104.19, 7.46 },
		{ "dots-studio/dots3-note-prev", 279.53, 0 },
		/* by hand from their config.json */
		{ "mistralai/Devstral-2-123B-Instruct-2512", 125.02, 0 },
		{ "mistralai/Devstral-Small-2-24B-Instruct-2512", 23.57, 0 },
		{ "LGAI-EXAONE/EXAONE-4.5-33B", 32.53, 0 },
		{ "LiquidAI/LFM2.5-VL-1.6B", 1.1703, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
		struct model model;
		struct model_counts counts;
		struct error error = { "" };

		if (!library_model(&model, published[i].id, &error))
			fail_msg("%s", error.text);
		model_count(&model, &counts);
		close_check(counts.total / 1e9, published[i].total, 0.005,
			    published[i].id, __FILE__, __LINE__);
		if (published[i].active > 0)
			close_check(counts.active / 1e9, published[i].active, 0.005,
				    published[i].id, __FILE__, __LINE__);
	}
	assert_null(preset_find(PRESET_MODEL, "no/such-model-instruct"));
	assert_null(preset_find(PRESET_MODEL, "./llama3.1-70b"));
}

static void writing_and_reading_gives_the_same(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct model model, back;
		struct document document;
		struct error error = { "" };
		char *text = NULL;
		size_t size = 0;
		FILE *stream = open_memstream(&text, &size);

		assert_non_null(stream);
		if (!library_model(&model, list[i].name, &error))
			fail_msg("%s", error.text);
		assert_string_equal(model.name, list[i].name);
		model_write(&model, stream);
		assert_int_equal(fclose(stream), 0);
		memset(&back, 0, sizeof back);
		if (!document_parse(&document, "written", text, size, &error) ||
		    !model_read(&document, document.root, &back, NULL, &error))
			fail_msg("%s: %s\n%s", list[i].name, error.text, text);
		if (memcmp(&model, &back, sizeof model) != 0)
			fail_msg("%s comes back changed:\n%s", list[i].name, text);
		document_free(&document);
		free(text);
	}
}

static void an_id_finds_its_model(void **state)
{
	struct model by_name, by_id;

	(void)state;
	assert_true(library_model(&by_name, "llama3.1-70b", NULL));
	assert_true(library_model(&by_id, "meta-llama/Llama-3.1-70B", NULL));
	assert_memory_equal(&by_name, &by_id, sizeof by_name);
}

/* 6 x (weights without the input table) + 6 x layers x seq x heads x head_dim, the
 * causal half of PaLM's appendix B (arXiv 2204.02311). */
static void flops_per_token(void **state)
{
	struct model model;

	(void)state;
	assert_true(library_model(&model, "llama3.1-70b", NULL));
	assert_close(model_trained_flops_per_token(&model, 8192, false, 0, LORA_ALL),
		     6 * (70553706496.0 - 128256.0 * 8192) + 6.0 * 80 * 8192 * 64 * 128,
		     1e-9);
	assert_true(library_model(&model, "llama3.1-405b", NULL));
	assert_close(model_trained_flops_per_token(&model, 8192, false, 0, LORA_ALL),
		     6 * (405853388800.0 - 128256.0 * 16384) +
			     6.0 * 126 * 8192 * 128 * 128,
		     1e-9);
	/* Llama 3 (arXiv 2407.21783) section 3.2: 3.8e25 FLOPs on 15.6 T tokens */
	assert_close(15.6e12 * model_trained_flops_per_token(&model, 8192, false, 0,
							     LORA_ALL),
		     3.8e25, 0.05);
	/* GPT-3 (arXiv 2005.14165) appendix D: 3.14e23 for 300 B tokens, 6ND */
	assert_true(library_model(&model, "gpt3-175b", NULL));
	assert_close(
		300e9 * model_trained_flops_per_token(&model, 1, false, 0, LORA_ALL),
		3.14e23, 0.01);
}

/* 2 x layers x kv_heads x head_dim elements; MLA keeps rank and rotary part. */
static void cache_bytes_per_token(void **state)
{
	static const struct {
		const char *name;
		double bytes;
	} known[] = {
		{ "llama2-70b", 2.0 * 80 * 8 * 128 * 2 },
		{ "llama3.1-405b", 516096 }, /* 126 layers, 504 KiB */
		{ "gpt3-175b", 4718592 },    /* 4.5 MiB */
		{ "qwen2.5-72b", 327680 },   /* DeepSeek-V3 ISCA 2025, table 1 */
		{ "deepseek-v3", 70272 },    /* the same table: 70.272 KB */
		{ "palm-540b", 2.0 * 118 * 256 * 2 },
		{ "laguna-m.1", 2.0 * 70 * 8 * 128 * 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		struct model model;

		assert_true(library_model(&model, known[i].name, NULL));
		close_check(model_kv_bytes_per_token(&model, 8192, 2), known[i].bytes,
			    1e-12, known[i].name, __FILE__, __LINE__);
	}
}

/* What a model knows is its own, not that of the one that it is like: a server of more
 * is warned (S14). Of published configurations and copies of them. */
static void models_know_their_positions(void **state)
{
	static const struct {
		const char *name;
		int64_t positions;
	} known[] = {
		{ "llama2-13b", 4096 },         { "llama3-70b", 8192 },
		{ "llama3.1-70b", 131072 },     { "llama3.2-3b", 131072 },
		{ "llama4-maverick", 1 << 20 }, { "mixtral-8x7b", 32768 },
		{ "mixtral-8x22b", 65536 },     { "deepseek-v3.2", 163840 },
		{ "kimi-k2", 131072 },          { "kimi-k2.5", 262144 },
		{ "moonlight-16b-a3b", 8192 },  { "qwen3-235b-a22b", 40960 },
		{ "gemma2-27b", 8192 },         { "gemma3-4b", 131072 },
		{ "gpt-oss-120b", 131072 },     { "qwen3-coder-480b-a35b", 262144 },
		{ "llama-65b", 2048 },          { "mistral-large-3-675b", 36 * 8192 },
		{ "qwen2.5-72b", 131072 },      { "intern-s1", 65536 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		struct model model;

		assert_true(library_model(&model, known[i].name, NULL));
		assert_int_equal(model.max_positions, known[i].positions);
	}
}

/* Layers by kind, where a rule of the file deals them out. */
static void layers_are_dealt_out_as_published(void **state)
{
	static const struct {
		const char *name;
		int attention, ssm, dense, moe, windowed;
	} known[] = {
		{ "llama3.1-405b", 126, 0, 126, 0, 0 },
		{ "deepseek-v3", 61, 0, 3, 58, 0 },
		{ "kimi-k2", 61, 0, 1, 60, 0 },
		{ "gpt-oss-120b", 36, 0, 0, 36, 18 },
		{ "gemma3-27b", 62, 0, 62, 0, 52 },
		{ "llama4-maverick", 48, 0, 24, 24, 36 },
		{ "jamba-v0.1", 4, 28, 16, 16, 0 },
		{ "jamba-1.5-large", 9, 63, 36, 36, 0 },
		{ "nemotron-h-56b", 10, 54, 54, 0, 0 },
		{ "nemotron-3-nano", 6, 23, 0, 23, 0 },
		{ "qwen3-next-80b-a3b", 12, 36, 0, 48, 0 },
		{ "mamba2-2.7b", 0, 64, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		struct model model;
		int attention = 0, ssm = 0, dense = 0, moe = 0, windowed = 0;

		assert_true(library_model(&model, known[i].name, NULL));
		for (int64_t layer = 0; layer < model.layers; layer++) {
			const struct layer_kind *k = &model.kind[model.layer[layer]];

			attention +=
				k->mixer == MIXER_ATTENTION || k->mixer == MIXER_MLA;
			ssm += k->mixer >= MIXER_MAMBA1;
			dense += k->mlp == MLP_DENSE;
			moe += k->mlp == MLP_MOE;
			windowed += k->attention.window > 0;
		}
		if (attention != known[i].attention || ssm != known[i].ssm ||
		    dense != known[i].dense || moe != known[i].moe ||
		    windowed != known[i].windowed)
			fail_msg("%s: %d attention, %d ssm, %d dense, %d moe, %d "
				 "windowed",
				 known[i].name, attention, ssm, dense, moe, windowed);
	}
}

/* Half a layer as a server draws it, which has the most operators. */
static void halves_have_room(void **state)
{
	const struct share share = {
		.tp = 2, .rows = 8, .norm_rows = 4, .decoding = 4
	};
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct model model;
		struct shapes shapes;

		assert_true(library_model(&model, list[i].name, NULL));
		for (int k = 0; k < model.kinds; k++) {
			shapes_mixer(&model, &model.kind[k], &share, &shapes);
			assert_true(shapes.count < MAX_SHAPES);
			shapes_mlp(&model, &model.kind[k], &share, &shapes);
			assert_true(shapes.count < MAX_SHAPES);
		}
	}
}

/* A rank that shares a layer with nobody trains all of its parameters: what is counted
 * and what a step works with are read from one list. */
static void a_lone_rank_holds_the_layer(void **state)
{
	static struct scenario s;
	static struct graph graph;
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct graph_context context;
		struct mesh mesh;

		scenario_defaults(&s);
		assert_true(library_model(&s.model, list[i].name, NULL));
		assert_true(library_cluster(&s.cluster, "dgx-h100", NULL));
		s.cluster.gpus = 1;
		mesh_build(&s, &mesh);
		graph_context(&s, &mesh, &context);
		for (int k = 0; k < s.model.kinds; k++) {
			struct layer_counts counts;
			double held = 0;

			graph_layer(&context, k, &graph);
			for (int op = 0; op < graph.count; op++)
				held += graph.item[op].weights;
			model_count_layer(&s.model, &s.model.kind[k], &counts);
			close_check(held, counts.total, 1e-12, list[i].name, __FILE__,
				    __LINE__);
		}
	}
}

/* A width is asked of the mixers that work with it, by name, and of no others. */
static void state_spaces_have_their_widths(void **state)
{
	struct model model, other;
	struct model_note note;
	char why[200];

	(void)state;
	read_shipped("mamba2-2.7b", &model, &note);
	assert_true(model_sound(&model, why, sizeof why));
	other = model;
	other.ssm.state = 0;
	assert_false(model_sound(&other, why, sizeof why));
	assert_string_equal(why, "Mamba-2 without state");
	other = model;
	other.ssm.inner = 0;
	assert_false(model_sound(&other, why, sizeof why));
	assert_string_equal(why, "Mamba-2 without inner width");
	read_shipped("lfm2-1.2b", &model, &note);
	assert_int_equal(model.ssm.state, 0);
	assert_true(model_sound(&model, why, sizeof why));
	model.ssm.inner = 0;
	assert_false(model_sound(&model, why, sizeof why));
	assert_string_equal(why, "short convolution without inner width");
}

/* What no network can be is refused with its reason, whichever number is missing. */
static void broken_models_are_refused(void **state)
{
	static struct model whole, broken;
	struct layer_kind *kind = &broken.kind[0];
	struct attention *attention = &kind->attention;
	const struct {
		int64_t *number, value;
		const char *reason;
	} rows[] = {
		{ &broken.hidden, 0, "needs hidden, vocab and layers" },
		{ &broken.vocab, 0, "needs hidden, vocab and layers" },
		{ &attention->heads, 0, "attention without heads" },
		{ &attention->kv_heads, 5, "not a multiple" },
		{ &attention->index_heads, 4, "an indexer without" },
		{ &attention->compress, -1, "compressed entries" },
		{ &attention->output_rank, 64, "in two steps without groups" },
		{ &broken.moe.experts_per_token, 0, "0 experts per token of 8" },
		{ &broken.moe.experts_per_token, 9, "9 experts per token of 8" },
		{ &broken.moe.expert_ffn, 0, "without experts or their width" },
		{ &broken.input_width, 64, "need input_rows and no experts" },
	};
	struct model_note note;
	char why[200];

	(void)state;
	read_shipped("mixtral-8x7b", &whole, &note);
	assert_true(model_sound(&whole, why, sizeof why));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		broken = whole;
		*rows[i].number = rows[i].value;
		assert_false(model_sound(&broken, why, sizeof why));
		if (!strstr(why, rows[i].reason))
			fail_msg("'%s' instead of '%s'", why, rows[i].reason);
	}
	broken = whole;
	kind->mlp = MLP_DENSE;
	kind->ffn = 0;
	assert_false(model_sound(&broken, why, sizeof why));
	assert_string_equal(why, "a dense MLP of width 0");
	kind->mlp = MLP_NONE;
	kind->mixer = MIXER_NONE;
	assert_false(model_sound(&broken, why, sizeof why));
	assert_string_equal(why, "layer kind 0 is empty");
}

/* LLaDA 2 has the config of Ling 2, and settles tokens otherwise. */
static void test_diffusion_is_said(void **state)
{
	struct error error;
	struct model model;

	(void)state;
	assert_true(library_model(&model, "inclusionAI/LLaDA2.1-mini", &error));
	assert_string_equal(model.name, "ling-mini-2.0");
	assert_non_null(strstr(model.approximate, "a diffusion model"));
	assert_true(library_model(&model, "inclusionAI/LLaDA2.1-flash", &error));
	assert_non_null(strstr(model.approximate, "by its name alone"));
	assert_non_null(strstr(model.approximate, "token by token"));
	assert_true(library_model(&model, "inclusionAI/Ling-mini-2.0", &error));
	assert_string_equal(model.approximate, "");
	assert_true(library_model(&model, "deepseek-ai/DeepSeek-Math-V2", &error));
	assert_string_equal(model.name, "deepseek-v3.2");
	assert_non_null(strstr(model.approximate, "by its name alone"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diffusion_is_said),
		cmocka_unit_test(read_once),
		cmocka_unit_test(shelf_is_wide),
		cmocka_unit_test(broken_models_are_refused),
		cmocka_unit_test(counts_agree_with_publishers),
		cmocka_unit_test(everyone_has_title_and_source),
		cmocka_unit_test(ids_are_unique),
		cmocka_unit_test(other_names_mean_one_model),
		cmocka_unit_test(closed_models_are_told),
		cmocka_unit_test(ids_name_published_models),
		cmocka_unit_test(unchecked_names_say_so),
		cmocka_unit_test(names_of_conversions),
		cmocka_unit_test(writing_and_reading_gives_the_same),
		cmocka_unit_test(an_id_finds_its_model),
		cmocka_unit_test(flops_per_token),
		cmocka_unit_test(cache_bytes_per_token),
		cmocka_unit_test(models_know_their_positions),
		cmocka_unit_test(layers_are_dealt_out_as_published),
		cmocka_unit_test(halves_have_room),
		cmocka_unit_test(a_lone_rank_holds_the_layer),
		cmocka_unit_test(state_spaces_have_their_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
