/* family.c - see family.h. Defaults are those of transformers' configuration and
 * modeling classes of that name. */
#include "presets/hf/family.h"

#include <string.h>

#define LN   FAMILY_LAYER_NORM
#define ROPE POSITION_ROPE
#define SILU ACTIVATION_SILU
#define GELU ACTIVATION_GELU
#define BERT                                                                \
	(FAMILY_TIED | FAMILY_LAYER_NORM | FAMILY_NOT_GATED | FAMILY_BIAS | \
	 FAMILY_EMBEDDING_NORM | FAMILY_ENCODER)

static const struct family families[] = {
	{ "llama", 0, ROPE, SILU },
	{ "llama4", FAMILY_QK_NORM, ROPE, SILU },
	{ "mistral", 0, ROPE, SILU },
	{ "mistral3", 0, ROPE, SILU },
	{ "ministral", 0, ROPE, SILU },
	{ "ministral3", 0, ROPE, SILU },
	{ "mixtral", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "qwen2", FAMILY_QKV_BIAS | FAMILY_WINDOW_NEEDS_SWITCH, ROPE, SILU },
	{ "qwen2_vl", FAMILY_QKV_BIAS | FAMILY_WINDOW_NEEDS_SWITCH, ROPE, SILU },
	{ "qwen2_5_vl", FAMILY_QKV_BIAS | FAMILY_WINDOW_NEEDS_SWITCH, ROPE, SILU },
	{ "qwen2_moe",
	  FAMILY_QKV_BIAS | FAMILY_SHARED_GATE | FAMILY_WINDOW_NEEDS_SWITCH, ROPE,
	  SILU },
	{ "qwen3", FAMILY_QK_NORM | FAMILY_WINDOW_NEEDS_SWITCH, ROPE, SILU },
	{ "qwen3_moe", FAMILY_QK_NORM | FAMILY_WINDOW_NEEDS_SWITCH, ROPE, SILU },
	{ "qwen3_vl", FAMILY_QK_NORM, ROPE, SILU },
	{ "qwen3_vl_moe", FAMILY_QK_NORM, ROPE, SILU },
	{ "qwen3_next", FAMILY_QK_NORM | FAMILY_SHARED_GATE | FAMILY_OUTPUT_GATE, ROPE,
	  SILU },
	{ "qwen3_5", FAMILY_QK_NORM, ROPE, SILU },
	{ "qwen3_5_moe", FAMILY_QK_NORM | FAMILY_SHARED_GATE, ROPE, SILU },
	{ "deepseek", 0, ROPE, SILU },
	{ "deepseek_v2", 0, ROPE, SILU },
	{ "deepseek_v3", 0, ROPE, SILU },
	{ "deepseek_v32", 0, ROPE, SILU },
	{ "deepseek_v4", 0, ROPE, SILU },
	{ "deepseek_ref", 0, ROPE, SILU },
	{ "kimi_k2", 0, ROPE, SILU },
	{ "kimi_linear", 0, ROPE, SILU },
	{ "chatglm", FAMILY_QKV_BIAS, ROPE, SILU },
	/* the first of that name, see hf_family() */
	{ "chatglm-6b", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS, ROPE, GELU },
	{ "glm", FAMILY_QKV_BIAS, ROPE, SILU },
	{ "glm4", FAMILY_QKV_BIAS | FAMILY_POST_NORMS, ROPE, SILU },
	{ "glm4_moe", 0, ROPE, SILU },
	{ "glm4_moe_lite", 0, ROPE, SILU },
	{ "glm_moe_dsa", 0, ROPE, SILU },
	{ "minimax", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "minimax_m2", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "minimax_text_01", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "minimax_m3", 0, ROPE, SILU },
	{ "gpt_oss",
	  FAMILY_QKV_BIAS | FAMILY_OUTPUT_BIAS | FAMILY_SINKS | FAMILY_EXPERT_BIAS |
		  FAMILY_EXPERT_FFN,
	  ROPE, SILU },
	{ "gemma", FAMILY_TIED, ROPE, GELU },
	{ "gemma2", FAMILY_TIED | FAMILY_POST_NORMS, ROPE, GELU },
	{ "gemma3", FAMILY_TIED | FAMILY_POST_NORMS | FAMILY_QK_NORM, ROPE, GELU },
	{ "gemma4", FAMILY_TIED | FAMILY_POST_NORMS | FAMILY_QK_NORM, ROPE, GELU },
	{ "phi3", 0, ROPE, SILU },
	{ "phi3_v", 0, ROPE, SILU },
	{ "phimoe", FAMILY_EXPERT_FFN | LN | FAMILY_BIAS, ROPE, SILU },
	{ "phi",
	  LN | FAMILY_NOT_GATED | FAMILY_BIAS | FAMILY_PARALLEL | FAMILY_SHARED_NORM,
	  ROPE, GELU },
	{ "olmo", LN | FAMILY_NORM_NO_BIAS, ROPE, SILU },
	{ "olmo2", FAMILY_QK_NORM, ROPE, SILU },
	{ "olmo3", FAMILY_QK_NORM, ROPE, SILU },
	{ "olmoe", FAMILY_QK_NORM | FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "granite", 0, ROPE, SILU },
	{ "granitemoe", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "mimo", FAMILY_QKV_BIAS | FAMILY_WINDOW_NEEDS_SWITCH, ROPE, SILU },
	{ "mimo_v2_flash", 0, ROPE, SILU },
	{ "mimo_v2", 0, ROPE, SILU },
	{ "mistral4", 0, ROPE, SILU },
	{ "hy_v3", FAMILY_QK_NORM, ROPE, SILU },
	{ "laguna", FAMILY_QK_NORM, ROPE, SILU },
	{ "mellum", FAMILY_QK_NORM, ROPE, SILU },
	{ "afmoe", FAMILY_QK_NORM | FAMILY_POST_NORMS | FAMILY_OUTPUT_GATE, ROPE,
	  SILU },
	{ "bailing_hybrid", FAMILY_QK_NORM | FAMILY_OUTPUT_GATE, ROPE, SILU },
	{ "bailing2_5_moe", FAMILY_QK_NORM | FAMILY_OUTPUT_GATE, ROPE, SILU },
	{ "bailing_moe_linear", FAMILY_QK_NORM, ROPE, SILU },
	{ "bailing_moe", 0, ROPE, SILU },
	{ "dots1", FAMILY_QK_NORM, ROPE, SILU },
	{ "telechat3", 0, ROPE, SILU },
	{ "helium", 0, ROPE, SILU },
	/* xIELU, which costs what another elementwise function does */
	{ "apertus", FAMILY_QK_NORM | FAMILY_NOT_GATED, ROPE, SILU },
	{ "seed_oss", 0, ROPE, SILU },
	{ "step3p5", 0, ROPE, SILU },
	{ "step3", 0, ROPE, SILU },
	{ "step3p7", 0, ROPE, SILU },
	{ "ernie4_5", FAMILY_TIED, ROPE, SILU },
	{ "ernie4_5_moe", FAMILY_TIED, ROPE, SILU },
	{ "hunyuan_v1_dense", FAMILY_QK_NORM, ROPE, SILU },
	{ "hunyuan_v1_moe", FAMILY_QK_NORM | FAMILY_EXPERT_FFN, ROPE, SILU },
	/* what both were called before transformers had them */
	{ "hunyuan", FAMILY_QK_NORM | FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "xverse", 0, ROPE, SILU },
	{ "exaone", 0, ROPE, SILU },
	{ "exaone4", FAMILY_QK_NORM, ROPE, SILU },
	{ "exaone4_5", FAMILY_QK_NORM, ROPE, SILU },
	{ "exaone_moe", FAMILY_QK_NORM, ROPE, SILU },
	{ "smollm3", FAMILY_TIED, ROPE, SILU },
	{ "internlm", FAMILY_QKV_BIAS | FAMILY_OUTPUT_BIAS, ROPE, SILU },
	{ "internlm2", 0, ROPE, SILU },
	{ "orion", LN, ROPE, SILU },
	{ "yi", 0, ROPE, SILU },
	{ "baichuan", 0, ROPE, SILU },
	{ "grok-1", FAMILY_TIED | FAMILY_EXPERT_FFN | FAMILY_POST_NORMS, ROPE, GELU },
	{ "dbrx", LN | FAMILY_NORM_NO_BIAS | FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "cohere",
	  FAMILY_TIED | LN | FAMILY_NORM_NO_BIAS | FAMILY_PARALLEL | FAMILY_SHARED_NORM,
	  ROPE, SILU },
	{ "cohere2",
	  FAMILY_TIED | LN | FAMILY_NORM_NO_BIAS | FAMILY_PARALLEL | FAMILY_SHARED_NORM,
	  ROPE, SILU },
	{ "nemotron", LN | FAMILY_NOT_GATED, ROPE, ACTIVATION_RELU2 },
	{ "nemotron_h", FAMILY_NOT_GATED, POSITION_NONE, ACTIVATION_RELU2 },
	{ "arcee", FAMILY_NOT_GATED, ROPE, ACTIVATION_RELU2 },
	{ "jamba", FAMILY_EXPERT_FFN, POSITION_NONE, SILU },
	{ "bamba", 0, ROPE, SILU },
	{ "falcon_h1", 0, ROPE, SILU },
	{ "granitemoehybrid", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "mamba", FAMILY_TIED, POSITION_NONE, SILU },
	{ "mamba2", FAMILY_TIED, POSITION_NONE, SILU },
	{ "gpt2", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS, POSITION_LEARNED,
	  GELU },
	{ "gpt_bigcode",
	  FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS | FAMILY_MULTI_QUERY,
	  POSITION_LEARNED, GELU },
	{ "starcoder2", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS, ROPE, GELU },
	{ "gpt_neo", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS,
	  POSITION_LEARNED, GELU },
	{ "gpt_neox", LN | FAMILY_NOT_GATED | FAMILY_BIAS | FAMILY_PARALLEL, ROPE,
	  GELU },
	{ "gptj",
	  LN | FAMILY_NOT_GATED | FAMILY_MLP_BIAS | FAMILY_PARALLEL |
		  FAMILY_SHARED_NORM,
	  ROPE, GELU },
	{ "bloom",
	  FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS | FAMILY_EMBEDDING_NORM,
	  POSITION_ALIBI, GELU },
	{ "opt", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS, POSITION_LEARNED,
	  ACTIVATION_RELU },
	{ "mpt", FAMILY_TIED | LN | FAMILY_NORM_NO_BIAS | FAMILY_NOT_GATED,
	  POSITION_ALIBI, GELU },
	{ "falcon",
	  FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_PARALLEL | FAMILY_MULTI_QUERY,
	  ROPE, GELU },
	{ "stablelm", LN, ROPE, SILU },
	{ "persimmon", LN | FAMILY_NOT_GATED | FAMILY_BIAS | FAMILY_QK_NORM, ROPE,
	  ACTIVATION_RELU2 },
	{ "qwen", FAMILY_QKV_BIAS | FAMILY_HALF_FFN, ROPE, SILU },
	{ "minicpm", FAMILY_TIED, ROPE, SILU },
	{ "minicpm3", FAMILY_TIED, ROPE, SILU },
	{ "minimax_m1", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "lfm2", FAMILY_TIED | FAMILY_QK_NORM, ROPE, SILU },
	{ "lfm2_moe", FAMILY_TIED | FAMILY_QK_NORM, ROPE, SILU },
	{ "longcat_flash", 0, ROPE, SILU },
	{ "nemotron-nas", 0, ROPE, SILU },
	{ "deci", 0, ROPE, SILU },
	{ "qwen3_omni_moe", FAMILY_QK_NORM, ROPE, SILU },
	{ "qwen2_5_omni", FAMILY_QKV_BIAS | FAMILY_WINDOW_NEEDS_SWITCH, ROPE, SILU },
	{ "falcon_mamba", 0, POSITION_NONE, SILU },
	{ "phi-msft",
	  LN | FAMILY_NOT_GATED | FAMILY_BIAS | FAMILY_PARALLEL | FAMILY_SHARED_NORM,
	  ROPE, GELU },
	{ "mixformer-sequential",
	  LN | FAMILY_NOT_GATED | FAMILY_BIAS | FAMILY_PARALLEL | FAMILY_SHARED_NORM,
	  ROPE, GELU },
	{ "bert", BERT, POSITION_LEARNED, GELU },
	{ "roberta", BERT, POSITION_LEARNED, GELU },
	{ "xlm-roberta", BERT, POSITION_LEARNED, GELU },
	{ "xlm-roberta-xl", BERT, POSITION_LEARNED, GELU },
	{ "camembert", BERT, POSITION_LEARNED, GELU },
	{ "distilbert", BERT, POSITION_LEARNED, GELU },
	{ "electra", BERT, POSITION_LEARNED, GELU },
	{ "ernie", BERT, POSITION_LEARNED, GELU },
	{ "mpnet", BERT, POSITION_LEARNED, GELU },
	{ "data2vec-text", BERT, POSITION_LEARNED, GELU },
	{ "megatron-bert", BERT, POSITION_LEARNED, GELU },
	{ "roberta-prelayernorm", BERT, POSITION_LEARNED, GELU },
	{ "splinter", BERT, POSITION_LEARNED, GELU },
	{ "xlm", BERT, POSITION_LEARNED, GELU },
	{ "flaubert", BERT, POSITION_LEARNED, GELU },
	/* Falcon's first two classes: of 40B, with KV heads by number, and of 7B */
	{ "RefinedWeb", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_PARALLEL, ROPE,
	  GELU },
	{ "RefinedWebModel",
	  FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_PARALLEL | FAMILY_MULTI_QUERY,
	  ROPE, GELU },
	{ "molmo", FAMILY_HALF_FFN, ROPE, SILU },
	{ "modernbert", FAMILY_TIED | LN | FAMILY_NORM_NO_BIAS | FAMILY_ENCODER, ROPE,
	  GELU },
	{ "codegen",
	  LN | FAMILY_NOT_GATED | FAMILY_MLP_BIAS | FAMILY_PARALLEL |
		  FAMILY_SHARED_NORM,
	  ROPE, GELU },
	/* its positions are sines, which are no parameters */
	{ "xglm", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS, POSITION_NONE,
	  GELU },
	{ "biogpt", FAMILY_TIED | LN | FAMILY_NOT_GATED | FAMILY_BIAS, POSITION_LEARNED,
	  GELU },
	{ "jais", FAMILY_TIED | LN | FAMILY_BIAS, POSITION_ALIBI, SILU },
	{ "phi3small", FAMILY_TIED | LN | FAMILY_BIAS, ROPE, GELU },
	{ "hf_olmo", LN | FAMILY_NORM_NO_BIAS | FAMILY_HALF_FFN, ROPE, SILU },
	{ "llada", 0, ROPE, SILU },
	{ "vaultgemma", FAMILY_TIED, ROPE, GELU },
	{ "bitnet", FAMILY_TIED, ROPE, ACTIVATION_RELU2 },
	{ "mobilellm", 0, ROPE, SILU },
	{ "skywork", 0, ROPE, SILU },
	{ "cwm", 0, ROPE, SILU },
	{ "hyperclovax", 0, ROPE, SILU },
	{ "flex_olmo", FAMILY_QK_NORM | FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "smallthinker", 0, ROPE, ACTIVATION_RELU },
	{ "arctic", FAMILY_EXPERT_FFN, ROPE, SILU },
	{ "inkling", FAMILY_QK_NORM, ROPE, SILU },
	{ "inkling_mm_model", FAMILY_QK_NORM, ROPE, SILU },
	{ "jetmoe", FAMILY_TIED | FAMILY_EXPERT_FFN, ROPE, SILU },
};

static const struct family_usual usual[] = {
	{ "llama", 4096, 32, 32, 32, 128, 11008, 32000 },
	{ "mistral", 4096, 32, 32, 8, 128, 14336, 32000 },
	{ "qwen2", 4096, 32, 32, 32, 128, 22016, 151936 },
	{ "gemma3", 2304, 26, 8, 4, 256, 9216, 262208 },
};

struct family_usual family_usual_of(const struct family *family)
{
	for (size_t i = 0; family && i < sizeof usual / sizeof usual[0]; i++)
		if (strcmp(usual[i].model_type, family->model_type) == 0)
			return usual[i];
	return (struct family_usual){ 0 };
}

static const struct family *find(const char *model_type, size_t length)
{
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (strlen(families[i].model_type) == length &&
		    strncmp(families[i].model_type, model_type, length) == 0)
			return &families[i];
	return NULL;
}

/* "qwen3_vl_text" is the text part of qwen3_vl, "minimax_m3_vl" is minimax_m3 with
 * eyes, "gpt_neox_reward_model" is gpt_neox with another head. */
const struct family *family_find(const char *model_type)
{
	static const char *const endings[] = { "", "_text", "_vl", "_reward_model" };
	const struct family *found = NULL;
	size_t length = strlen(model_type);

	for (size_t i = 0; i < sizeof endings / sizeof endings[0] && !found; i++) {
		size_t tail = strlen(endings[i]);

		if (length > tail &&
		    strcmp(model_type + length - tail, endings[i]) == 0)
			found = find(model_type, length - tail);
	}
	return found;
}
