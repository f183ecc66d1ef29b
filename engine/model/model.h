/* model.h - what is the network? Shapes, layer kinds and parameter counts.
 *
 * A model is a list of layers; equal layers share a kind, so that costs are
 * computed once per kind. All counts are elements, never bytes.
 */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/limits.h"
#include "engine/model/mixers.h"

#define MIXER_MEMBER(NAME, name) MIXER_##NAME,
enum mixer_kind { MIXERS(MIXER_MEMBER) MIXER_COUNT };
#undef MIXER_MEMBER

enum mlp_kind { MLP_NONE, MLP_DENSE, MLP_MOE, MLP_COUNT };

enum norm_kind { NORM_RMS, NORM_LAYER, NORM_COUNT };

enum activation {
	ACTIVATION_SILU,
	ACTIVATION_GELU,
	ACTIVATION_RELU,
	ACTIVATION_RELU2,
	ACTIVATION_COUNT
};

enum position_kind {
	POSITION_ROPE,
	POSITION_LEARNED,
	POSITION_ALIBI,
	POSITION_RELATIVE, /* Gopher: one hidden x hidden matrix per layer */
	POSITION_NONE,
	POSITION_COUNT
};

/* Attention of one layer kind. For MLA head_dim is the width of a query-key
 * head, nope_dim + rope_dim, and value_dim that of a value head. */
struct attention {
	int64_t heads, kv_heads, head_dim, value_dim;
	int64_t window; /* tokens seen back, 0 = all */
	/* MLA; query_rank 0 = none. Attention may have a query_rank, too. */
	int64_t query_rank, kv_rank, nope_dim, rope_dim;
	/* Sparse attention (DeepSeek-V3.2-Exp, section 1): an indexer of index_heads
	 * heads, index_dim wide, keeps a key a token and picks the index_topk entries
	 * that a query attends to; 0 = all. Without heads of its own a layer takes the
	 * picks of one before it (GLM-5.2). */
	int64_t index_heads, index_dim, index_topk;
	/* Compressed attention (DeepSeek-V4, MaxText's attention_compressed.py): behind
	 * the window one entry stands for so many tokens; 0 = none, and the window is
	 * all that there is. */
	int64_t compress;
	/* Output in two steps: each of output_groups groups of heads to output_rank,
	 * those together to the hidden size; 0 = one matrix. */
	int64_t output_rank, output_groups;
	bool qkv_bias, output_bias, qk_norm, sinks;
	bool shared_kv; /* a head's key is its value */
	/* Keys and values are those of an earlier layer, which alone projects and keeps
	 * them (num_kv_shared_layers of Gemma 3n and Gemma 4 E). */
	bool borrowed_kv;
	bool output_gate;
};

/* Mamba-1, Mamba-2, or a linear attention written in the same terms. */
struct ssm {
	int64_t inner, state, heads, head_dim, groups, conv, chunk, dt_rank;
};

struct moe {
	int64_t experts, experts_per_token, expert_ffn;
	/* Width at which routed experts take tokens and give them back, behind a
	 * projection down and before one up (latent experts: Nemotron 3, Megatron's
	 * --moe-latent-size); 0 = the hidden size. */
	int64_t expert_latent;
	int64_t shared_experts; /* count, for words and the advice */
	int64_t shared_ffn;     /* width of all shared experts together */
	bool shared_gate, router_bias, expert_bias;
	/* Beyond which what enters an expert's activation is clamped (gpt-oss,
	 * swiglu_limit); 0 = it is not. */
	double activation_limit;
	int64_t group_limit; /* expert groups (nodes) a token may reach, 0 = all */
	int64_t groups;      /* that there are; 0 = not stated */
};

struct layer_kind {
	enum mixer_kind mixer;
	enum mlp_kind mlp;
	/* A state space on the same input, its output added to the attention's
	 * (Falcon-H1, arXiv 2507.22448, section 2.1); MIXER_NONE as a rule. */
	enum mixer_kind beside;
	struct attention attention; /* of mixers that attend */
	int64_t ffn;                /* width of a dense MLP */
	/* The plan keeps it in 16 bits beside narrow ones; it does not train, nor does
	 * any layer below it (model_mark()). */
	bool wide, frozen;
};

/* Which matrices the published weights have in a narrow format: all large ones, those
 * of MLPs and experts, or the routed experts' alone. */
enum quantised { QUANTISED_ALL, QUANTISED_MLP, QUANTISED_EXPERTS, QUANTISED_COUNT };

struct model {
	char name[MAX_NAME];
	char hf_id[MAX_NAME];       /* Hugging Face id, or empty */
	char approximate[MAX_NOTE]; /* why costs are approximate, or empty */
	int precision;              /* enum precision of the published weights */
	int quantised;              /* enum quantised: which of them are in it */
	int64_t quantised_group;    /* weights that share a scale; 0 = as usual */
	int64_t layers, hidden, vocab, max_positions;
	/* A table of so many rows gives every layer an input of its own, of this width,
	 * behind a gate (per-layer embeddings of Gemma 3n and Gemma 4 E); 0 = none. */
	int64_t input_rows, input_width;
	int64_t mtp_layers; /* multi-token prediction layers after the last one */
	bool gated_mlp, parallel_block, shared_norm; /* shared_norm: one norm per
							parallel block (PaLM) */
	bool tied_embeddings, mlp_bias, embedding_norm, norm_bias, head_bias;
	bool post_norms; /* Gemma: a norm behind each sub-layer too */
	enum norm_kind norm;
	enum activation activation;
	enum position_kind position;
	double dropout; /* probability; > 0 stores masks */
	struct moe moe;
	struct ssm ssm;
	int kinds;
	struct layer_kind kind[MAX_LAYER_KINDS];
	uint8_t layer[MAX_LAYERS]; /* kind of each layer */
};

/* Parameter counts of the whole model, in elements. */
struct model_counts {
	double total;      /* without MTP layers, as published counts do */
	double active;     /* per token: top-k of the routed experts; with embeddings */
	double embedding;  /* input table and learned positions */
	double head;       /* output matrix; 0 if tied */
	double routed;     /* all routed expert weights */
	double mtp;        /* MTP layers, not in total */
	double mtp_active; /* of them, per token; the head that they share apart */
};

/* Counts of a layer of this kind; experts per rank are the graph's affair. */
struct layer_counts {
	double mixer; /* that beside it, too */
	double mlp, norms, router, routed, shared, total, active;
	double latent; /* projections to the width of latent experts and back */
};

/* Width at which routed experts take tokens. */
int64_t model_expert_width(const struct model *model);

void model_count_layer(const struct model *model, const struct layer_kind *kind,
		       struct layer_counts *counts);
/* Of a layer of experts the router, the routed experts and their projections alone. */
void model_count_experts(const struct model *model, struct layer_counts *counts);
void model_count(const struct model *model, struct model_counts *counts);
/* Weights of the table of the layers' own inputs and of its norm, in elements. */
double model_input_table(const struct model *model);
/* Weights of the state space beside a layer's attention. */
double model_beside_parameters(const struct model *model,
			       const struct layer_kind *kind);
/* Layers of this kind, MTP apart. */
int64_t model_kind_layers(const struct model *model, int kind);
/* The same of all kinds at once; layers has room for MAX_LAYER_KINDS. */
void model_kinds_layers(const struct model *model, double *layers);
/* Append one layer, sharing the kind with an equal earlier one. False if the
 * model has MAX_LAYERS layers or MAX_LAYER_KINDS kinds already. Readers build
 * every model with it; unused parts of kind must be zero. */
bool model_add_layer(struct model *model, const struct layer_kind *kind);
/* Of a request of so many tokens: entries of keys and values that a layer keeps, those
 * that its last token attends to, and those that an indexer scores for it. */
double attention_kept(const struct attention *attention, double tokens);
double attention_seen(const struct attention *attention, double tokens);
double attention_scored(const struct attention *attention, double tokens);
/* attention_seen() and attention_scored(), mean over the tokens of a causal sequence of
 * seq; a sequence without a window or an index is seen to its half. */
double attention_mean_seen(const struct attention *attention, double seq);
double attention_mean_scored(const struct attention *attention, double seq);
/* Elements that a layer keeps for an entry, of kv_heads heads. */
double attention_entry(const struct attention *attention, double kv_heads);
/* Bytes of the indexer's keys of so many tokens: one byte an element and a scale of
 * four for each 128 of them, whatever the cache is in (DeepSeek-V3.2-Exp's
 * inference/model.py, k_cache and k_scale_cache; vLLM's indexer cache). */
double attention_index_bytes(const struct attention *attention, double tokens);
/* Columns of what makes compressed entries of a token, 0 without: two products of the
 * head's width each, twice that where windows overlap, as they do with an indexer. */
double attention_compressor(const struct attention *attention);
/* Whether two kinds mix tokens alike. */
bool model_same_mixer(const struct layer_kind *a, const struct layer_kind *b);
/* Whether some layer has an MLP that is not one of experts. */
bool model_has_dense_mlp(const struct model *model);
/* Kind of the model's MTP layers: that of its last layer, or its narrow twin (Megatron
 * counts those that stay wide among the others, fp8_utils.py,
 * is_first_last_bf16_layer). */
int model_mtp_kind(const struct model *model);
/* Of a forward alone, without MTP layers: 2 x the weights, scores and scans. */
double model_forward_flops_per_token(const struct model *model,
				     const struct model_counts *counts, int64_t seq,
				     bool full_square);
/* LoRA (arXiv 2106.09685, section 4.1): weights of adapters of this rank, r (in + out)
 * beside each matrix of a layer, query, key and value as one and gate and up as one.
 * The router, the routed experts, the embedding and the head have none, as the defaults
 * of PEFT (target_modules all-linear) and Megatron Bridge leave the head out.
 * `targets`: matrices of the mixers alone, or of them those that make queries, keys and
 * values. */
enum lora_targets { LORA_ALL, LORA_ATTENTION, LORA_QKV, LORA_TARGETS_COUNT };
double model_adapters(const struct model *model, int64_t rank, int targets);
/* FLOPs of a token for each weight: 2 forward, 2 for the gradient of its input and 2
 * for its own, which a frozen one has not: 6, or 4 under LoRA. */
double model_weight_flops(int64_t lora_rank);
/* Model FLOPs per token, forward and backward (3 x forward), DESIGN section 2:
 * 6 x active weights without the embedding table, plus attention scores over
 * the causal half (or the full square) of a sequence of seq tokens. Of adapters of this
 * rank on a frozen model 4 x its weights + 6 x the adapters + attention as ever; rank 0
 * trains all. */
double model_trained_flops_per_token(const struct model *model, int64_t seq,
				     bool full_square, int64_t lora_rank, int targets);
/* Of them what layers that are marked as frozen have not, since no gradient goes below
 * the first layer that trains: 4 x their active weights and two thirds of their
 * attention. `head`: it does not train either, and has no gradient of its weights. */
double model_spared_flops_per_token(const struct model *model, int64_t seq,
				    bool full_square, bool head);
/* Weights that do not train where layers are marked so: theirs and the embedding's,
 * and, with `head`, those of the head and the last norm. A table that is tied to a head
 * that trains, trains. */
double model_frozen_weights(const struct model *model, bool head);
/* The same for one who has the counts. */
double model_counted_flops_per_token(const struct model *model,
				     const struct model_counts *counts, int64_t seq,
				     bool full_square, int64_t lora_rank, int targets);
/* What one layer of that kind keeps of a request of so many tokens, on one of the tp
 * ranks that split it: keys and values (heads that TP can't split are kept whole, a
 * window cuts), MLA's latent (every rank has all of it), or a state of one size, in
 * fp32 with the 16-bit inputs of its convolution. */
double model_cache_bytes(const struct model *model, const struct layer_kind *kind,
			 double tokens, double tp, double bytes_per_element);
/* The same of all layers without TP, over seq tokens, per token. */
double model_kv_bytes_per_token(const struct model *model, int64_t seq,
				double bytes_per_element);
/* A model whose depth and widths are `factor` times those of this one, rounded to
 * what models have: whole groups of heads of the same width, hidden and MLP sizes in
 * 128s or what of that they are now multiples of. Vocabulary, experts and key-value
 * heads that are shared stay as they are. False if it has too many layers. out may not
 * be the model. */
bool model_scale(const struct model *model, double factor, struct model *out);
/* Layers that a plan runs in another way than the others: so many at the start and at
 * the end in 16 bits, and the first so many frozen. */
struct layer_marks {
	int64_t wide_first, wide_last, frozen;
};
/* Make kinds of their own of these layers, and of no others. False, and nothing is
 * changed, if there are too many kinds. */
bool model_mark(struct model *model, const struct layer_marks *marks);
/* Empty, or what is wrong with the shape, in out (size bytes): true if sound. */
bool model_sound(const struct model *model, char *out, int size);

#endif
