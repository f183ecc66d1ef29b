/* model.c - the network that a list of Megatron-LM arguments describes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/mixer.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"

static const char *const model_flags[] = {
	"num-layers",
	"hidden-size",
	"ffn-hidden-size",
	"num-attention-heads",
	"group-query-attention",
	"num-query-groups",
	"kv-channels",
	"swiglu",
	"squared-relu",
	"disable-bias-linear",
	"add-qkv-bias",
	"padded-vocab-size",
	"vocab-size",
	"untie-embeddings-and-output-weights",
	"num-experts",
	"moe-router-topk",
	"topk",
	"expert-interval",
	"moe-ffn-hidden-size",
	"moe-shared-expert-intermediate-size",
	"num-shared-experts",
	"parallel-attention",
	"mlp-type",
	"transformer-type",
	"moe-shared-expert-gate",
	"moe-layer-freq",
	"first-k-dense-replace",
	"noop-layers",
	"moe-latent-size",
	"multi-latent-attention",
	"q-lora-rank",
	"kv-lora-rank",
	"qk-head-dim",
	"qk-pos-emb-head-dim",
	"v-head-dim",
	"mtp-num-layers",
	"hybrid-layer-pattern",
	"hybrid-override-pattern",
	"position-embedding-type",
	"max-position-embeddings",
	"normalization",
	"qk-layernorm",
	"hidden-dropout",
	"mamba-state-dim",
	"mamba-head-dim",
	"mamba-num-groups",
	"mamba-num-heads",
	"window-size",
	"window-attn-skip-freq",
	"softmax-type",
	"activation-func-clamp-value",
	"attention-output-gate",
	"make-vocab-size-divisible-by",
	"attention-dropout",
	"moe-router-group-topk",
	"moe-router-num-groups",
	"encoder-num-layers",
	"decoder-num-layers",
	"experimental-attention-variant",
	"dsa-indexer-n-heads",
	"dsa-indexer-head-dim",
	"dsa-indexer-topk",
	"dsa-indexer-topk-freq",
	"dsa-indexer-skip-topk-offset",
	"use-rotary-position-embeddings",
	"embed-layernorm",
	NULL,
};

bool megatron_model_flag(const char *name)
{
	return word_among(name, model_flags);
}

struct reader {
	const struct arguments *arguments;
	struct import_report *report;
	struct error *error;
	bool failed;
};

static bool is_set(const struct reader *r, const char *name)
{
	return arguments_find(r->arguments, name) != NULL;
}

static int64_t count(struct reader *r, const char *name, int64_t fallback)
{
	const struct argument *a = arguments_find(r->arguments, name);
	char *end;

	if (!a || r->failed || strcmp(a->value, "None") == 0)
		return fallback;
	long long value = strtoll(a->value, &end, 10);

	if (end == a->value || *end != '\0' || value < 0 || value > INT64_C(1) << 40) {
		r->failed = true;
		error_set(r->error, r->arguments->file, a->line,
			  "--%s is '%.40s'; expected a whole number", name, a->value);
		return fallback;
	}
	return value;
}

static int64_t assumed(struct reader *r, const char *name, int64_t value)
{
	if (!is_set(r, name))
		import_note(r->report, IMPORT_ASSUMED, name, "%lld", (long long)value);
	return count(r, name, value);
}

static bool says(const struct reader *r, const char *name, const char *word)
{
	const struct argument *a = arguments_find(r->arguments, name);

	return a && strcmp(a->value, word) == 0;
}

static void read_outline(struct reader *r, struct model *m)
{
	bool bias = !is_set(r, "disable-bias-linear");
	const struct argument *dropout = arguments_find(r->arguments, "hidden-dropout");

	m->hidden = count(r, "hidden-size", 0);
	if (!r->failed && m->hidden == 0) {
		r->failed = true;
		error_set(r->error, r->arguments->file, 1,
			  "no --hidden-size: the shape of the model is not given");
	}
	m->vocab = count(r, "padded-vocab-size", 0);
	if (m->vocab == 0 && !is_set(r, "vocab-size"))
		m->vocab = megatron_vocab(r->arguments, r->report);
	if (m->vocab == 0)
		m->vocab = assumed(r, "vocab-size", 51200);
	m->tied_embeddings = !is_set(r, "untie-embeddings-and-output-weights");
	m->gated_mlp = is_set(r, "swiglu");
	m->activation = m->gated_mlp                ? ACTIVATION_SILU
			: is_set(r, "squared-relu") ? ACTIVATION_RELU2
						    : ACTIVATION_GELU;
	m->norm = says(r, "normalization", "RMSNorm") ? NORM_RMS : NORM_LAYER;
	m->norm_bias = m->norm == NORM_LAYER;
	m->mlp_bias = bias;
	m->position = says(r, "position-embedding-type", "rope") ||
				      is_set(r, "use-rotary-position-embeddings")
			      ? POSITION_ROPE
		      : says(r, "position-embedding-type", "none") ? POSITION_NONE
								   : POSITION_LEARNED;
	m->embedding_norm = is_set(r, "embed-layernorm");
	m->max_positions = count(r, "max-position-embeddings", 0);
	m->dropout = dropout ? strtod(dropout->value, NULL) : 0.1;
	m->mtp_layers = count(r, "mtp-num-layers", 0);
	m->parallel_block = is_set(r, "parallel-attention");
	m->shared_norm = says(r, "parallel-attention", "one norm");
}

static void read_moe(struct reader *r, struct model *m, int64_t ffn)
{
	const struct argument *limit;
	struct moe *moe = &m->moe;

	moe->experts = count(r, "num-experts", 0);
	/* one expert is Megatron-DeepSpeed's word for none */
	if (moe->experts == 1 && is_set(r, "moe-expert-parallel-size"))
		moe->experts = 0;
	if (moe->experts == 0)
		return;
	moe->experts_per_token = count(r, "moe-router-topk", count(r, "topk", 2));
	moe->expert_ffn = count(r, "moe-ffn-hidden-size", ffn);
	moe->expert_latent = count(r, "moe-latent-size", 0);
	moe->shared_ffn = count(r, "moe-shared-expert-intermediate-size", 0);
	if (moe->shared_ffn == 0)
		moe->shared_ffn = count(r, "num-shared-experts", 0) * moe->expert_ffn;
	if (says(r, "mlp-type", "residual"))
		moe->shared_ffn = ffn;
	moe->shared_experts = moe->shared_ffn > 0;
	moe->shared_gate = is_set(r, "moe-shared-expert-gate");
	moe->group_limit = count(r, "moe-router-group-topk", 0);
	moe->groups = count(r, "moe-router-num-groups", 0);
	moe->expert_bias = m->mlp_bias;
	limit = arguments_find(r->arguments, "activation-func-clamp-value");
	moe->activation_limit = limit ? strtod(limit->value, NULL) : 0;
	if (!(moe->activation_limit > 0))
		moe->activation_limit = 0;
}

/* "128,0" or "(128, 0)": tokens seen back; -1 is all of them. */
static int64_t window(struct reader *r)
{
	const struct argument *a = arguments_find(r->arguments, "window-size");
	long long back = a ? strtoll(a->value + strspn(a->value, "([ "), NULL, 10) : 0;

	return back > 0 && back < INT64_C(1) << 40 ? back : 0;
}

static void read_attention(struct reader *r, const struct model *m,
			   struct layer_kind *base)
{
	struct attention *a = &base->attention;

	a->heads = count(r, "num-attention-heads", 0);
	if (!r->failed && a->heads == 0) {
		r->failed = true;
		error_set(r->error, r->arguments->file, 1,
			  "no --num-attention-heads: the "
			  "shape of the model is not given");
	}
	if (r->failed)
		return;
	/* without the switch the number of groups means nothing */
	a->kv_heads = is_set(r, "group-query-attention")
			      ? count(r, "num-query-groups", 1)
			      : a->heads;
	a->head_dim = count(r, "kv-channels", m->hidden / a->heads);
	a->value_dim = a->head_dim;
	a->qkv_bias = m->mlp_bias || is_set(r, "add-qkv-bias");
	a->output_bias = m->mlp_bias;
	a->qk_norm = is_set(r, "qk-layernorm");
	a->sinks = says(r, "softmax-type", "learnable");
	a->output_gate = is_set(r, "attention-output-gate");
	a->window = window(r);
	base->mixer = MIXER_ATTENTION;
	if (!is_set(r, "multi-latent-attention"))
		return;
	base->mixer = MIXER_MLA;
	a->query_rank = count(r, "q-lora-rank", 0);
	a->kv_rank = assumed(r, "kv-lora-rank", 32);
	a->nope_dim = assumed(r, "qk-head-dim", 128);
	a->rope_dim = assumed(r, "qk-pos-emb-head-dim", 64);
	a->value_dim = assumed(r, "v-head-dim", 128);
	a->head_dim = a->nope_dim + a->rope_dim;
	a->kv_heads = a->heads;
	if (!says(r, "experimental-attention-variant", "dsa"))
		return;
	a->index_heads = count(r, "dsa-indexer-n-heads", 0);
	a->index_dim = count(r, "dsa-indexer-head-dim", 0);
	a->index_topk = count(r, "dsa-indexer-topk", 0);
}

static void read_ssm(struct reader *r, struct model *m)
{
	m->ssm.state = count(r, "mamba-state-dim", 128);
	m->ssm.head_dim = count(r, "mamba-head-dim", 64);
	m->ssm.groups = count(r, "mamba-num-groups", 8);
	m->ssm.inner = 2 * m->hidden;
	m->ssm.heads = count(r, "mamba-num-heads",
			     m->ssm.head_dim > 0 ? m->ssm.inner / m->ssm.head_dim : 0);
	m->ssm.inner = m->ssm.heads * m->ssm.head_dim;
	m->ssm.conv = 4;
	m->ssm.chunk = 128;
}

/* "([0]*3+[1]*58)" or "[0,1,1]": which layers are MoE. Appends to out; returns the
 * count or -1. Python's list sums and products of literal lists, nothing else. */
static int moe_list(const char *text, uint8_t *out, int room)
{
	int count_out = 0;

	for (const char *at = text; *at != '\0';) {
		if (*at != '[') {
			if (!strchr("()+ \"'", *at))
				return -1;
			at++;
			continue;
		}
		int start = count_out;

		for (at++; *at != '\0' && *at != ']'; at++) {
			if (*at != '0' && *at != '1' && *at != ',' && *at != ' ')
				return -1;
			if (*at == '0' || *at == '1') {
				if (count_out == room)
					return -1;
				out[count_out++] = *at == '1';
			}
		}
		at += *at == ']';
		at += strspn(at, " ");
		if (*at != '*')
			continue;
		char *end;
		long times = strtol(at + 1, &end, 10);
		int piece = count_out - start;

		if (end == at + 1 || times < 0 || piece * times > room - start)
			return -1;
		for (int i = piece; i < piece * (int)times; i++)
			out[start + i] = out[start + i % piece];
		count_out = start + piece * (int)times;
		at = end;
	}
	return count_out;
}

/* "1 0 1": the count, or -1. */
static int word_list(const char *text, uint8_t *out, int room)
{
	int count_out = 0;

	for (; *text != '\0'; text++) {
		if (*text == ' ')
			continue;
		if (count_out == room)
			return -1;
		out[count_out++] = *text == '1';
	}
	return count_out;
}

/* Which layers a flag of that kind picks: a list, or a step (false if absent). */
static bool list_or_step(struct reader *r, const char *name, int64_t layers, bool first,
			 uint8_t *out)
{
	const struct argument *freq = arguments_find(r->arguments, name);
	char *end;

	memset(out, 1, (size_t)layers);
	/* Megatron-DeepSpeed: every second layer unless it says otherwise */
	if (first && !freq && is_set(r, "moe-expert-parallel-size")) {
		int64_t each = count(r, "expert-interval", 2);

		for (int64_t i = 0; i < layers && each > 0; i++)
			out[i] = (i + 1) % each == 0;
		return each > 0;
	}
	if (!freq || freq->value[0] == '\0')
		return true;
	long step = strtol(freq->value, &end, 10);

	/* a list of YAML is its words */
	if (*end == ' ' && freq->value[strspn(freq->value, "01 ")] == '\0')
		return word_list(freq->value, out, MAX_LAYERS) == layers;
	if (*end != '\0')
		return moe_list(freq->value, out, MAX_LAYERS) == layers;
	/* MindSpeed: -1 is every layer, too */
	if (step == -1 && first)
		return true;
	/* MoE is the first of step layers; full attention, not the window, the last */
	for (int64_t i = 0; i < layers && step > 0; i++)
		out[i] = (uint8_t)(first ? i % step == 0 : (i + 1) % step != 0);
	return step > 0;
}

static bool bad_list(struct reader *r, const char *name, int64_t layers)
{
	return error_set(
		r->error, r->arguments->file, arguments_find(r->arguments, name)->line,
		"--%s names no list of %lld zeros and ones", name, (long long)layers);
}

/* Layers without an indexer of their own (dsa.py, is_dsa_skip_topk_layer): behind the
 * first `offset`, all but each freq-th. */
static bool takes_picks(struct reader *r, int64_t layer)
{
	int64_t freq = count(r, "dsa-indexer-topk-freq", 1),
		offset = count(r, "dsa-indexer-skip-topk-offset", 0);
	int64_t behind = layer + 1 - (offset > 1 ? offset : 1);

	return freq > 1 && behind > 0 && behind % freq != 0;
}

static bool add_layers(struct reader *r, struct model *m, const struct layer_kind *base,
		       int64_t layers)
{
	uint8_t moe[MAX_LAYERS], windows[MAX_LAYERS];

	if (layers < 1 || layers > MAX_LAYERS)
		return error_set(r->error, r->arguments->file, 1,
				 "--num-layers is %lld; expected 1 to %d",
				 (long long)layers, MAX_LAYERS);
	if (!list_or_step(r, "moe-layer-freq", layers, true, moe))
		return bad_list(r, "moe-layer-freq", layers);
	/* MindSpeed: these come before all mixtures */
	for (int64_t i = 0, k = megatron_dense_first(r->arguments); i < k && i < layers;
	     i++)
		moe[i] = 0;
	if (!list_or_step(r, "window-attn-skip-freq", layers, false, windows))
		return bad_list(r, "window-attn-skip-freq", layers);
	for (int64_t i = 0; i < layers; i++) {
		struct layer_kind kind = *base;

		if (takes_picks(r, i))
			kind.attention.index_heads = kind.attention.index_dim = 0;
		kind.mlp = m->moe.experts > 0 && moe[i]  ? MLP_MOE
			   : base->mixer == MIXER_MAMBA2 ? MLP_NONE
							 : MLP_DENSE;
		kind.ffn = kind.mlp == MLP_DENSE ? base->ffn : 0;
		kind.attention.window = windows[i] ? base->attention.window : 0;
		if (!model_add_layer(m, &kind))
			return error_set(r->error, r->arguments->file, 1,
					 "too many kinds of layers");
	}
	return true;
}

/* "M-M*-|M-/…": M Mamba, * attention, - MLP, E MoE, G gated delta net; | parts
 * stages, / parts what MTP layers are made of. */
static bool add_pattern(struct reader *r, struct model *m,
			const struct layer_kind *base, const char *pattern)
{
	/* a fork's spec may make '-' its mixtures and M another mixer, as
	 * Pai-Megatron-Patch does for Qwen3-Next */
	if (m->moe.experts > 1 && !strchr(pattern, 'E'))
		return error_set(r->error, r->arguments->file, 1,
				 "--num-experts %lld, and the hybrid pattern has no E: "
				 "what its letters mean stands in a fork's layer spec; "
				 "--model NAME or --model config.json gives the "
				 "network",
				 (long long)m->moe.experts);
	for (const char *c = pattern; *c != '\0' && *c != '/'; c++) {
		struct layer_kind kind = { 0 };

		kind.mixer = mixer_lettered(*c);
		switch (*c) {
		case '|': continue;
		case '*':
			kind = *base;
			kind.ffn = 0;
			kind.mlp = MLP_NONE;
			break;
		case '-':
			kind.mlp = MLP_DENSE;
			kind.ffn = base->ffn;
			break;
		case 'E': kind.mlp = MLP_MOE; break;
		default:
			if (mixer_of(&kind)->scans)
				break;
			return error_set(r->error, r->arguments->file, 1,
					 "--hybrid-layer-pattern has '%c'; expected "
					 "M, *, -, E, G, | or /",
					 *c);
		}
		if (!model_add_layer(m, &kind))
			return error_set(
				r->error, r->arguments->file, 1,
				"--hybrid-layer-pattern has more than %d layers",
				MAX_LAYERS);
	}
	if (!is_set(r, "mamba-state-dim") || !is_set(r, "mamba-head-dim") ||
	    !is_set(r, "mamba-num-groups"))
		snprintf(
			m->approximate, sizeof m->approximate,
			"hybrid pattern: state-space sizes not given are Megatron's defaults");
	return true;
}

bool megatron_model(const struct arguments *arguments, struct model *out,
		    struct import_report *report, struct error *error)
{
	struct reader r = { .arguments = arguments, .report = report, .error = error };
	const struct argument *pattern =
		arguments_find(arguments, "hybrid-layer-pattern");
	struct model m = { 0 };
	struct layer_kind base = { 0 };
	const struct argument *drawn = NULL;
	char why[MAX_NOTE];

	if (!pattern)
		pattern = arguments_find(arguments, "hybrid-override-pattern");
	snprintf(m.name, sizeof m.name, "megatron");
	read_outline(&r, &m);
	/* Megatron: 4h, or two thirds of it in 64s where the MLP is gated */
	base.ffn = count(&r, "ffn-hidden-size",
			 m.gated_mlp ? 8 * m.hidden / 3 / 64 * 64 : 4 * m.hidden);
	read_moe(&r, &m, base.ffn);
	read_attention(&r, &m, &base);
	if (!pattern && megatron_is_mamba(arguments, &drawn))
		base = (struct layer_kind){ .mixer = MIXER_MAMBA2 };
	if (drawn)
		return error_set(error, arguments->file, drawn->line,
				 "--%s makes the program draw the layers; "
				 "--hybrid-override-pattern or --model says which they "
				 "are",
				 drawn->name);
	if (pattern || base.mixer == MIXER_MAMBA2)
		read_ssm(&r, &m);
	if (r.failed)
		return false;
	int64_t layers = count(&r, "num-layers", count(&r, "decoder-num-layers", 0)) -
			 megatron_noops(arguments);

	if (r.failed || !(pattern ? add_pattern(&r, &m, &base, pattern->value)
				  : add_layers(&r, &m, &base, layers)))
		return false;
	megatron_note_doubts(arguments, &m, base.attention.index_topk);
	if (!model_sound(&m, why, sizeof why))
		return error_set(error, arguments->file, 1, "%s", why);
	*out = m;
	return true;
}
