/* model.c - parameter counts, FLOPs and cache bytes; see model.h. */
#include "engine/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Elements of one norm over `width`. */
static double norm_width(const struct model *m, int64_t width)
{
	return (double)width * (m->norm == NORM_LAYER && m->norm_bias ? 2 : 1);
}

static double attention_parameters(const struct model *m, const struct attention *a)
{
	double h = (double)m->hidden;
	double q = (double)(a->heads * a->head_dim);
	double k = (double)(a->kv_heads * a->head_dim);
	double v = (double)(a->kv_heads * a->value_dim);
	double o = (double)(a->heads * a->value_dim);
	double count = h * (q + k + v) + o * h;

	if (a->output_gate)
		count += h * o;
	/* the gate is a part of the query's projection (Qwen3-Next) */
	if (a->qkv_bias)
		count += q + k + v + (a->output_gate ? o : 0);
	if (a->output_bias)
		count += h;
	if (a->qk_norm)
		count += 2 * (double)a->head_dim;
	if (a->sinks)
		count += (double)a->heads;
	return count;
}

/* DeepSeek-V2 (arXiv 2405.04434) section 2.1: low-rank query and joint KV. */
static double mla_parameters(const struct model *m, const struct attention *a)
{
	double h = (double)m->hidden;
	double heads = (double)a->heads;
	double query = heads * (double)(a->nope_dim + a->rope_dim);
	double count =
		h * (double)(a->kv_rank + a->rope_dim) + (double)a->kv_rank +
		(double)a->kv_rank * heads * (double)(a->nope_dim + a->value_dim) +
		heads * (double)a->value_dim * h;

	if (a->query_rank > 0)
		count += h * (double)a->query_rank + (double)a->query_rank +
			 (double)a->query_rank * query;
	else
		count += h * query;
	return count;
}

/* Mamba (arXiv 2312.00752) and Mamba-2 (arXiv 2405.21060): projections, short
 * convolution with bias, decay and skip per channel or head. */
static double ssm_parameters(const struct model *m, enum mixer mixer)
{
	const struct ssm *s = &m->ssm;
	double h = (double)m->hidden, inner = (double)s->inner,
	       state = (double)s->state;
	double heads = (double)s->heads, groups = (double)s->groups,
	       conv = (double)s->conv;

	if (mixer == MIXER_MAMBA1) {
		double rank = (double)s->dt_rank;

		return 2 * h * inner + conv * inner + inner +
		       inner * (rank + 2 * state) + rank * inner + inner +
		       inner * state + inner + inner * h;
	}
	if (mixer == MIXER_LINEAR) {
		/* gated delta net: q, k of groups x state, v, z of inner; a, b a head
		 */
		double key = groups * state;

		return h * (2 * key + 2 * inner + 2 * heads) +
		       conv * (2 * key + inner) + 2 * heads + (double)s->head_dim +
		       inner * h;
	}
	return h * (2 * inner + 2 * groups * state + heads) +
	       (inner + 2 * groups * state) * (conv + 1) + 3 * heads + inner +
	       inner * h;
}

static double mixer_parameters(const struct model *m, const struct layer_kind *kind)
{
	switch (kind->mixer) {
	case MIXER_ATTENTION: return attention_parameters(m, &kind->attention);
	case MIXER_MLA: return mla_parameters(m, &kind->attention);
	case MIXER_MAMBA1:
	case MIXER_MAMBA2:
	case MIXER_LINEAR: return ssm_parameters(m, kind->mixer);
	default: return 0;
	}
}

int64_t model_expert_width(const struct model *model)
{
	return model->moe.expert_latent > 0 ? model->moe.expert_latent : model->hidden;
}

/* One MLP of ffn between inputs and outputs of that width; gated ones have three
 * matrices. */
static double mlp_parameters(const struct model *m, int64_t width, int64_t ffn,
			     bool bias)
{
	double h = (double)width, f = (double)ffn;
	double up = m->gated_mlp ? 2 : 1;

	return (up + 1) * h * f + (bias ? up * f + h : 0);
}

static double norm_parameters(const struct model *m, const struct layer_kind *kind)
{
	double norms = (kind->mixer != MIXER_NONE) + (kind->mlp != MLP_NONE);

	if (m->parallel_block && m->shared_norm && norms > 1)
		norms = 1;
	if (m->post_norms)
		norms *= 2;
	return norms * norm_width(m, m->hidden);
}

void model_count_layer(const struct model *model, const struct layer_kind *kind,
		       struct layer_counts *counts)
{
	const struct moe *moe = &model->moe;

	memset(counts, 0, sizeof *counts);
	counts->mixer = mixer_parameters(model, kind);
	if (model->position == POSITION_RELATIVE && kind->mixer == MIXER_ATTENTION)
		counts->mixer += (double)model->hidden * (double)model->hidden;
	counts->norms = norm_parameters(model, kind);
	if (kind->mlp == MLP_DENSE)
		counts->mlp = mlp_parameters(model, model->hidden, kind->ffn,
					     model->mlp_bias);
	if (kind->mlp == MLP_MOE) {
		counts->router = (double)(model->hidden * moe->experts) +
				 (moe->router_bias ? (double)moe->experts : 0);
		counts->routed = (double)moe->experts *
				 mlp_parameters(model, model_expert_width(model),
						moe->expert_ffn, moe->expert_bias);
		counts->latent = 2 * (double)model->hidden * (double)moe->expert_latent;
		if (moe->shared_ffn > 0)
			counts->shared = mlp_parameters(model, model->hidden,
							moe->shared_ffn, false) +
					 (moe->shared_gate ? (double)model->hidden : 0);
	}
	counts->total = counts->mixer + counts->mlp + counts->norms + counts->router +
			counts->routed + counts->shared + counts->latent;
	counts->active = counts->total;
	if (counts->routed > 0)
		counts->active -= counts->routed * (1 - (double)moe->experts_per_token /
								(double)moe->experts);
}

void model_count(const struct model *model, struct model_counts *counts)
{
	double h = (double)model->hidden, layers[MAX_LAYER_KINDS];

	memset(counts, 0, sizeof *counts);
	model_kinds_layers(model, layers);
	counts->embedding = (double)model->vocab * h;
	if (model->position == POSITION_LEARNED)
		counts->embedding += (double)model->max_positions * h;
	if (!model->tied_embeddings)
		counts->head = (double)model->vocab * h;
	if (model->head_bias)
		counts->head += (double)model->vocab;
	counts->total = counts->active =
		counts->embedding + counts->head +
		norm_width(model, model->hidden) * (model->embedding_norm ? 2 : 1);
	for (int k = 0; k < model->kinds; k++) {
		struct layer_counts layer;

		model_count_layer(model, &model->kind[k], &layer);
		counts->total += layers[k] * layer.total;
		counts->active += layers[k] * layer.active;
		counts->routed += layers[k] * layer.routed;
	}
	if (model->mtp_layers > 0 && model->kinds > 0) {
		struct layer_counts layer;

		model_count_layer(model, &model->kind[model_mtp_kind(model)], &layer);
		/* a layer, two norms and the projection that joins two inputs */
		counts->mtp = (double)model->mtp_layers *
			      (layer.total + 2 * h * h +
			       3 * norm_width(model, model->hidden));
	}
}

/* Rows and columns of the matrices of a mixer, added up. */
static double mixer_widths(const struct model *m, const struct layer_kind *kind)
{
	const struct attention *a = &kind->attention;
	const struct ssm *s = &m->ssm;
	double h = (double)m->hidden, heads = (double)a->heads;
	double inner = (double)s->inner, state = (double)s->state;
	double rank = (double)a->query_rank,
	       latent = (double)(a->kv_rank + a->rope_dim);
	double query = heads * (double)(a->nope_dim + a->rope_dim);
	double value = heads * (double)a->value_dim;
	double kv = (double)(a->kv_heads * (a->head_dim + a->value_dim));

	switch (kind->mixer) {
	case MIXER_ATTENTION:
		return h + heads * (double)a->head_dim + kv +
		       (a->output_gate ? value : 0) + value + h;
	case MIXER_MLA:
		return (rank > 0 ? h + rank + rank : h) + query + h + latent +
		       (double)a->kv_rank + heads * (double)a->nope_dim + value +
		       value + h;
	case MIXER_MAMBA1:
		return h + 2 * inner + inner + (double)s->dt_rank + 2 * state +
		       (double)s->dt_rank + inner + inner + h;
	case MIXER_MAMBA2:
	case MIXER_LINEAR:
		return h + 2 * inner + 2 * (double)s->groups * state +
		       (kind->mixer == MIXER_LINEAR ? 2 : 1) * (double)s->heads +
		       inner + h;
	default: return 0;
	}
}

static double layer_widths(const struct model *m, const struct layer_kind *kind,
			   bool mlp)
{
	double up = m->gated_mlp ? 2 : 1, widths = mixer_widths(m, kind);
	double ffn = kind->mlp == MLP_DENSE ? (double)kind->ffn
		     : kind->mlp == MLP_MOE ? (double)m->moe.shared_ffn
					    : 0;

	return widths + (ffn > 0 && mlp ? 2 * (double)m->hidden + (up + 1) * ffn : 0);
}

double model_adapters(const struct model *model, int64_t rank, bool mlp)
{
	double layers[MAX_LAYER_KINDS], widths = 0;

	if (rank < 1)
		return 0;
	model_kinds_layers(model, layers);
	for (int k = 0; k < model->kinds; k++)
		widths += layers[k] * layer_widths(model, &model->kind[k], mlp);
	if (model->mtp_layers > 0 && model->kinds > 0)
		widths += (double)model->mtp_layers *
			  layer_widths(model, &model->kind[model_mtp_kind(model)], mlp);
	return (double)rank * widths;
}

/* Mean number of positions that a token sees of a sequence of seq. */
static double positions_seen(int64_t seq, int64_t window, bool full_square)
{
	double s = (double)seq, w = (double)window;

	if (full_square)
		return window > 0 && w < s ? w : s;
	if (window > 0 && w < s)
		return w -
		       w * w / (2 * s); /* rows shorter than the window at the start */
	return s / 2;
}

/* Forward FLOPs of scores and values per token of one layer. */
static double attention_flops(const struct layer_kind *kind, int64_t seq,
			      bool full_square)
{
	const struct attention *a = &kind->attention;

	if (kind->mixer != MIXER_ATTENTION && kind->mixer != MIXER_MLA)
		return 0;
	return 2 * (double)a->heads * (double)(a->head_dim + a->value_dim) *
	       positions_seen(seq, a->window, full_square);
}

/* The scan itself, beyond its projections: cost-formulas 2.6, Mamba-2. */
static double scan_flops(const struct model *m, const struct layer_kind *kind)
{
	const struct ssm *s = &m->ssm;
	double chunk = s->chunk > 0 ? (double)s->chunk : 256;
	double inner = (double)s->inner, state = (double)s->state;

	if (kind->mixer == MIXER_MAMBA1)
		return 9 * inner * state;
	if (kind->mixer != MIXER_MAMBA2 && kind->mixer != MIXER_LINEAR)
		return 0;
	return 2 *
	       (chunk / 2 * ((double)s->groups * state + inner) + 2 * inner * state);
}

double model_trained_flops_per_token(const struct model *model, int64_t seq,
				     bool full_square, int64_t lora_rank, bool mlp)
{
	struct model_counts counts;
	double layers[MAX_LAYER_KINDS], weights, forward = 0;

	model_count(model, &counts);
	model_kinds_layers(model, layers);
	/* a tied table works once, as the head */
	weights = counts.active - counts.embedding;
	if (model->tied_embeddings)
		weights += (double)model->vocab * (double)model->hidden;
	for (int k = 0; k < model->kinds; k++)
		forward += layers[k] *
			   (attention_flops(&model->kind[k], seq, full_square) +
			    scan_flops(model, &model->kind[k]));
	if (model->mtp_layers > 0 && model->kinds > 0) {
		const struct layer_kind *kind = &model->kind[model_mtp_kind(model)];
		struct layer_counts layer;

		model_count_layer(model, kind, &layer);
		weights += (double)model->mtp_layers *
			   (layer.active +
			    2 * (double)model->hidden * (double)model->hidden +
			    (double)model->vocab * (double)model->hidden);
		forward += (double)model->mtp_layers *
			   (attention_flops(kind, seq, full_square) +
			    scan_flops(model, kind));
	}
	return model_weight_flops(lora_rank) * weights + 3 * forward +
	       6 * model_adapters(model, lora_rank, mlp);
}

double model_weight_flops(int64_t lora_rank)
{
	return lora_rank > 0 ? 4 : 6;
}

double model_flops_per_token(const struct model *model, int64_t seq, bool full_square)
{
	return model_trained_flops_per_token(model, seq, full_square, 0, true);
}

double model_cache_bytes(const struct model *model, const struct layer_kind *kind,
			 double tokens, double tp, double bytes_per_element)
{
	const struct attention *a = &kind->attention;
	double inner = (double)model->ssm.inner / tp;

	if (kind->mixer == MIXER_NONE)
		return 0;
	if (a->window > 0 && tokens > (double)a->window)
		tokens = (double)a->window;
	if (kind->mixer == MIXER_ATTENTION)
		return tokens * bytes_per_element * fmax(1, (double)a->kv_heads / tp) *
		       (double)(a->head_dim + a->value_dim);
	if (kind->mixer == MIXER_MLA)
		return tokens * bytes_per_element * (double)(a->kv_rank + a->rope_dim);
	return inner * ((double)model->ssm.state * 4 + (double)model->ssm.conv * 2);
}

double model_kv_bytes_per_token(const struct model *model, int64_t seq,
				double bytes_per_element)
{
	double bytes = 0;

	for (int k = 0; k < model->kinds && seq > 0; k++)
		bytes += (double)model_kind_layers(model, k) *
			 model_cache_bytes(model, &model->kind[k], (double)seq, 1,
					   bytes_per_element);
	return seq > 0 ? bytes / (double)seq : 0;
}

static bool attention_sound(const struct attention *a, int k, char *out, size_t size)
{
	if (a->heads < 1 || a->head_dim < 1 || a->value_dim < 1 || a->kv_heads < 1)
		snprintf(out, size, "layer kind %d has attention without heads", k);
	else if (a->heads % a->kv_heads != 0)
		snprintf(out, size, "%lld heads are not a multiple of %lld KV heads",
			 (long long)a->heads, (long long)a->kv_heads);
	else
		return true;
	return false;
}

static bool kind_sound(const struct model *m, int k, char *out, size_t size)
{
	const struct layer_kind *kind = &m->kind[k];

	if (kind->mixer == MIXER_NONE && kind->mlp == MLP_NONE)
		snprintf(out, size, "layer kind %d is empty", k);
	else if ((kind->mixer == MIXER_ATTENTION || kind->mixer == MIXER_MLA) &&
		 !attention_sound(&kind->attention, k, out, size))
		return false;
	else if (kind->mixer >= MIXER_MAMBA1 && (m->ssm.inner < 1 || m->ssm.state < 1))
		snprintf(out, size, "state-space layers without inner or state size");
	else if (kind->mlp == MLP_DENSE && kind->ffn < 1)
		snprintf(out, size, "a dense MLP of width 0");
	else if (kind->mlp == MLP_MOE && (m->moe.experts < 1 || m->moe.expert_ffn < 1))
		snprintf(out, size, "an MoE layer without experts or their width");
	else
		return true;
	return false;
}

bool model_sound(const struct model *model, char *out, int size)
{
	size_t room = (size_t)size;

	out[0] = '\0';
	if (model->hidden < 1 || model->vocab < 1 || model->layers < 1 ||
	    model->kinds < 1)
		snprintf(out, room, "a model needs hidden, vocab and layers above 0");
	else if (model->moe.experts > 0 &&
		 (model->moe.experts_per_token < 1 ||
		  model->moe.experts_per_token > model->moe.experts))
		snprintf(out, room, "%lld experts per token of %lld experts",
			 (long long)model->moe.experts_per_token,
			 (long long)model->moe.experts);
	for (int k = 0; k < model->kinds && out[0] == '\0'; k++)
		kind_sound(model, k, out, room);
	return out[0] == '\0';
}
