/* write_model.c - the network as Megatron-LM flags. */
#include <stdlib.h>
#include <string.h>

#include "engine/model/mixer.h"
#include "presets/megatron/parts.h"
#include "presets/stream.h"

void megatron_put_count(const struct flag_writer *w, const char *flag, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	w->put(w->out, flag, text);
}

static void put_number(const struct flag_writer *w, const char *flag, double value)
{
	char text[24];

	snprintf(text, sizeof text, "%.9g", value);
	w->put(w->out, flag, text);
}

static void put_switch(const struct flag_writer *w, const char *flag, bool on)
{
	if (on)
		w->put(w->out, flag, "");
}

static const struct layer_kind *kind_of(const struct model *m, int64_t layer)
{
	return &m->kind[m->layer[layer]];
}

/* The attention that most layers have; NULL if there is none. */
static const struct layer_kind *main_attention(const struct model *m)
{
	const struct layer_kind *best = NULL;
	int64_t most = 0;

	for (int k = 0; k < m->kinds; k++) {
		const struct layer_kind *kind = &m->kind[k];
		int64_t layers = model_kind_layers(m, k);

		if (mixer_of(kind)->attends && layers > most) {
			best = kind;
			most = layers;
		}
	}
	return best;
}

bool megatron_is_hybrid(const struct model *m)
{
	for (int k = 0; k < m->kinds; k++)
		if (!mixer_of(&m->kind[k])->attends || m->kind[k].mlp == MLP_NONE)
			return true;
	return false;
}

/* "([0]*3+[1]*58)" of a property of layers; to be freed. */
static char *run_list(const struct model *m, bool (*has)(const struct layer_kind *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (int64_t i = 0, next; i < m->layers; i = next) {
		bool on = has(kind_of(m, i));

		for (next = i + 1; next < m->layers && has(kind_of(m, next)) == on;)
			next++;
		fprintf(stream, "%s[%d]*%lld", i ? "+" : "(", on,
			(long long)(next - i));
	}
	fputc(')', stream);
	return stream_end(stream, &text);
}

static bool is_moe(const struct layer_kind *kind)
{
	return kind->mlp == MLP_MOE;
}

static bool has_window(const struct layer_kind *kind)
{
	return kind->attention.window > 0;
}

static void put_list(const struct flag_writer *w, const char *flag,
		     bool (*has)(const struct layer_kind *))
{
	const struct model *m = &w->scenario->model;
	int64_t with = 0;
	char *list;

	for (int64_t i = 0; i < m->layers; i++)
		with += has(kind_of(m, i));
	if (with == m->layers)
		return;
	list = run_list(m, has);
	if (list)
		w->put(w->out, flag, list);
	free(list);
}

/* One letter for each mixer and each MLP; returns how many. */
static size_t put_letters(const struct flag_writer *w, const struct layer_kind *kind,
			  char *out)
{
	const struct mixer *mixer = mixer_of(kind);
	size_t used = 0;

	if (mixer->nearest && mixer->scans)
		export_unsaid(w->out, mixer->label, "written as %s",
			      mixer->nearest->label);
	if (mixer->nearest)
		mixer = mixer->nearest;
	if (mixer->letter != '\0')
		out[used++] = mixer->letter;
	else if (kind->mixer != MIXER_NONE)
		export_unsaid(w->out, mixer->label, "left out");
	if (kind->mlp != MLP_NONE)
		out[used++] = kind->mlp == MLP_MOE ? 'E' : '-';
	return used;
}

enum { MAX_DEPTHS = 64 }; /* of MTP layers */

static void put_pattern(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;
	char pattern[3 * (MAX_LAYERS + MAX_DEPTHS) + 1];
	bool ends[MAX_LAYERS];
	size_t used = 0;

	if (!megatron_stage_ends(w, ends)) {
		export_unsaid(w->out, "split", "these layers can't be dealt out");
		memset(ends, 0, sizeof ends);
	}
	for (int64_t i = 0; i < m->layers; i++) {
		used += put_letters(w, kind_of(m, i), pattern + used);
		if (ends[i])
			pattern[used++] = '|';
	}
	for (int64_t i = 0; i < m->mtp_layers && i < MAX_DEPTHS; i++) {
		pattern[used++] = '/';
		used += put_letters(w, &m->kind[model_mtp_kind(m)], pattern + used);
	}
	pattern[used] = '\0';
	w->put(w->out, "hybrid-layer-pattern", pattern);
	if (m->ssm.heads < 1)
		return;
	megatron_put_count(w, "mamba-state-dim", m->ssm.state);
	megatron_put_count(w, "mamba-head-dim", m->ssm.head_dim);
	megatron_put_count(w, "mamba-num-groups", m->ssm.groups);
	megatron_put_count(w, "mamba-num-heads", m->ssm.heads);
}

/* One switch of Megatron's is for the biases of all matrices. */
static bool linear_bias(const struct model *m)
{
	return m->mlp_bias || m->moe.expert_bias;
}

static bool other_biases(const struct model *m)
{
	bool bias = linear_bias(m), other = false;

	for (int k = 0; k < m->kinds; k++) {
		const struct layer_kind *kind = &m->kind[k];

		if (mixer_of(kind)->attends && !mixer_of(kind)->latent)
			other = other || kind->attention.output_bias != bias ||
				(bias && !kind->attention.qkv_bias);
		if (kind->mlp == MLP_DENSE)
			other = other || m->mlp_bias != bias;
		if (kind->mlp == MLP_MOE)
			other = other || m->moe.expert_bias != bias ||
				m->moe.router_bias;
	}
	return other;
}

static bool has_indexer(const struct layer_kind *kind)
{
	return kind->attention.index_heads > 0;
}

/* Layers behind the first `offset` share an indexer, freq of them at a time
 * (is_dsa_skip_topk_layer() in Megatron's dsa.py). */
static void put_sharing(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;
	int64_t offset = 0, freq = 1;

	while (offset < m->layers && has_indexer(kind_of(m, offset)))
		offset++;
	if (offset == m->layers)
		return;
	while (offset + freq - 1 < m->layers &&
	       !has_indexer(kind_of(m, offset + freq - 1)))
		freq++;
	megatron_put_count(w, "dsa-indexer-topk-freq", freq);
	megatron_put_count(w, "dsa-indexer-skip-topk-offset", offset);
	for (int64_t i = offset; i < m->layers; i++)
		if (has_indexer(kind_of(m, i)) != ((i + 1 - offset) % freq == 0)) {
			export_unsaid(w->out, "indexers",
				      "shared by layers in no steady rhythm");
			return;
		}
}

static void put_indexer(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;

	for (int k = 0; k < m->kinds; k++) {
		const struct attention *a = &m->kind[k].attention;

		if (!has_indexer(&m->kind[k]) || m->kind[k].mixer != MIXER_MLA)
			continue;
		w->put(w->out, "experimental-attention-variant", "dsa");
		megatron_put_count(w, "dsa-indexer-n-heads", a->index_heads);
		megatron_put_count(w, "dsa-indexer-head-dim", a->index_dim);
		megatron_put_count(w, "dsa-indexer-topk", a->index_topk);
		put_sharing(w);
		return;
	}
}

static void put_attention(const struct flag_writer *w, const struct layer_kind *kind)
{
	const struct model *m = &w->scenario->model;
	const struct attention *a = &kind->attention;

	megatron_put_count(w, "num-attention-heads", a->heads);
	/* the norms of MLA's compressed queries and keys, without which it has none */
	put_switch(w, "qk-layernorm", a->qk_norm || mixer_of(kind)->latent);
	put_switch(w, "add-qkv-bias", a->qkv_bias && !linear_bias(m));
	if (a->sinks)
		w->put(w->out, "softmax-type", "learnable");
	put_switch(w, "attention-output-gate", a->output_gate);
	if (mixer_of(kind)->latent) {
		put_switch(w, "multi-latent-attention", true);
		if (a->query_rank > 0)
			megatron_put_count(w, "q-lora-rank", a->query_rank);
		megatron_put_count(w, "kv-lora-rank", a->kv_rank);
		megatron_put_count(w, "qk-head-dim", a->nope_dim);
		megatron_put_count(w, "qk-pos-emb-head-dim", a->rope_dim);
		megatron_put_count(w, "v-head-dim", a->value_dim);
		put_indexer(w);
		/* MLA has its own widths; Megatron asks for this one all the same */
		if (m->hidden % a->heads != 0)
			megatron_put_count(w, "kv-channels", a->value_dim);
		return;
	}
	if (a->kv_heads != a->heads) {
		put_switch(w, "group-query-attention", true);
		megatron_put_count(w, "num-query-groups", a->kv_heads);
	}
	if (a->head_dim * a->heads != m->hidden)
		megatron_put_count(w, "kv-channels", a->head_dim);
}

static void put_window(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;
	char text[40];
	int64_t window = 0;

	for (int k = 0; k < m->kinds; k++) {
		int64_t own = m->kind[k].attention.window;

		if (own > 0 && window > 0 && own != window)
			export_unsaid(w->out, "window",
				      "%lld tokens; all windows are written as %lld",
				      (long long)own, (long long)window);
		window = window > 0 ? window : own;
	}
	if (window == 0)
		return;
	snprintf(text, sizeof text, "%lld,0", (long long)window);
	w->put(w->out, "window-size", text);
	put_list(w, "window-attn-skip-freq", has_window);
}

static void put_moe(const struct flag_writer *w)
{
	const struct moe *moe = &w->scenario->model.moe;

	if (moe->experts == 0)
		return;
	megatron_put_count(w, "num-experts", moe->experts);
	megatron_put_count(w, "moe-router-topk", moe->experts_per_token);
	megatron_put_count(w, "moe-ffn-hidden-size", moe->expert_ffn);
	if (moe->expert_latent > 0)
		megatron_put_count(w, "moe-latent-size", moe->expert_latent);
	if (moe->activation_limit > 0)
		put_number(w, "activation-func-clamp-value", moe->activation_limit);
	if (moe->shared_ffn > 0)
		megatron_put_count(w, "moe-shared-expert-intermediate-size",
				   moe->shared_ffn);
	put_switch(w, "moe-shared-expert-gate", moe->shared_gate);
	if (moe->group_limit > 0 && moe->groups > 0) {
		megatron_put_count(w, "moe-router-num-groups", moe->groups);
		megatron_put_count(w, "moe-router-group-topk", moe->group_limit);
	} else if (moe->group_limit > 0) {
		export_unsaid(w->out, "group_limit",
			      "%lld; of how many groups is not stated",
			      (long long)moe->group_limit);
	}
	/* the softmax of a single score is 1 whatever it is */
	put_switch(w, "moe-router-pre-softmax", moe->experts_per_token == 1);
	if (!megatron_is_hybrid(&w->scenario->model))
		put_list(w, "moe-layer-freq", is_moe);
}

/* Megatron asks for the reach of positions, and compares it with the sequence; only
 * learned ones are a table of that length. */
static void put_positions(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;
	int64_t reach = m->max_positions, seq = w->scenario->plan.seq_len;

	if (reach < 1 || (m->position != POSITION_LEARNED && reach < seq))
		reach = seq;
	megatron_put_count(w, "max-position-embeddings", reach);
}

static void put_outline(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;

	if (m->vocab > 0)
		megatron_put_count(w, "vocab-size", m->vocab);
	if (w->scenario->stack.vocab_multiple != 128)
		megatron_put_count(w, "make-vocab-size-divisible-by",
				   w->scenario->stack.vocab_multiple);
	put_positions(w);
	put_switch(w, "untie-embeddings-and-output-weights", !m->tied_embeddings);
	put_switch(w, "swiglu", m->gated_mlp);
	put_switch(w, "squared-relu",
		   !m->gated_mlp && m->activation == ACTIVATION_RELU2);
	if (m->norm == NORM_RMS)
		w->put(w->out, "normalization", "RMSNorm");
	if (m->position != POSITION_LEARNED)
		w->put(w->out, "position-embedding-type",
		       m->position == POSITION_ROPE ? "rope" : "none");
	put_switch(w, "disable-bias-linear", !linear_bias(m));
	put_number(w, "hidden-dropout", m->dropout);
	put_number(w, "attention-dropout", m->dropout);
	if (m->mtp_layers > 0)
		megatron_put_count(w, "mtp-num-layers", m->mtp_layers);
}

/* Attention that Megatron has none of. */
static void put_strange(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;
	bool compressed = false, beside = false, borrowed = false;

	for (int k = 0; k < m->kinds; k++) {
		compressed = compressed || m->kind[k].attention.compress > 0;
		beside = beside || m->kind[k].beside != MIXER_NONE;
		borrowed = borrowed || m->kind[k].attention.borrowed_kv;
	}
	if (compressed)
		export_unsaid(w->out, "compressed attention",
			      "written as full attention, with whole projections");
	if (beside)
		export_unsaid(w->out, "state spaces beside attention",
			      "they are left out");
	if (m->input_width > 0)
		export_unsaid(w->out, "inputs of layers",
			      "their tables and projections are left out");
	if (borrowed)
		export_unsaid(w->out, "borrowed keys and values",
			      "every layer is written with its own");
}

/* What Megatron has no word for. */
static void put_remarks(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;
	const struct layer_kind *main = main_attention(m);
	bool same = true, same_ffn = true;
	int64_t ffn = 0;

	if (m->approximate[0] != '\0')
		export_unsaid(w->out, "model", "approximate: %s", m->approximate);
	if (m->position == POSITION_ALIBI || m->position == POSITION_RELATIVE)
		export_unsaid(w->out, "positions",
			      "ALiBi or relative, written as none");
	if (m->parallel_block)
		export_unsaid(w->out, "parallel block",
			      "attention and MLP are written one after the other");
	if (m->post_norms || m->embedding_norm)
		export_unsaid(w->out, "norms", "those %s are left out",
			      m->post_norms ? "behind sub-layers" : "of the embedding");
	if (m->head_bias || other_biases(m) || (m->norm == NORM_LAYER && !m->norm_bias))
		export_unsaid(w->out, "biases",
			      "in some matrices or norms; written in all or none");
	if (m->gated_mlp && m->activation != ACTIVATION_SILU)
		export_unsaid(w->out, "activation", "gated, written as swiglu");
	put_strange(w);
	for (int k = 0; k < m->kinds; k++) {
		struct attention a = m->kind[k].attention;

		if (main && m->kind[k].mixer == main->mixer) {
			a.window = main->attention.window;
			a.index_heads = main->attention.index_heads;
			a.index_dim = main->attention.index_dim;
			same = same && memcmp(&a, &main->attention, sizeof a) == 0;
		}
		if (m->kind[k].mlp == MLP_DENSE) {
			same_ffn = same_ffn && (ffn == 0 || ffn == m->kind[k].ffn);
			ffn = m->kind[k].ffn;
		}
	}
	if (!same)
		export_unsaid(w->out, "layers",
			      "several kinds of attention, written as the commonest");
	if (!same_ffn)
		export_unsaid(w->out, "layers",
			      "MLPs of several widths, written as one of their "
			      "mean");
}

/* The mean of all dense MLPs, in 64s where they differ. */
static int64_t dense_width(const struct model *m)
{
	int64_t sum = 0, count = 0;

	for (int k = 0; k < m->kinds; k++)
		if (m->kind[k].mlp == MLP_DENSE) {
			sum += model_kind_layers(m, k) * m->kind[k].ffn;
			count += model_kind_layers(m, k);
		}
	if (count == 0 || sum % count == 0)
		return count > 0 ? sum / count : 0;
	return (sum / count + 32) / 64 * 64;
}

void megatron_write_model(const struct flag_writer *w)
{
	const struct model *m = &w->scenario->model;
	const struct layer_kind *main = main_attention(m);
	int64_t ffn = dense_width(m);

	if (megatron_is_hybrid(m))
		put_pattern(w);
	else
		megatron_put_count(w, "num-layers", m->layers);
	megatron_put_count(w, "hidden-size", m->hidden);
	if (ffn > 0)
		megatron_put_count(w, "ffn-hidden-size", ffn);
	if (main)
		put_attention(w, main);
	else /* Megatron wants heads that TP divides even where no layer has any */
		megatron_put_count(w, "num-attention-heads",
				   m->ssm.heads > 0 ? m->ssm.heads
						    : w->scenario->plan.tp);
	put_window(w);
	put_moe(w);
	put_outline(w);
	put_remarks(w);
}
