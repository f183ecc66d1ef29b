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

/* Mamba (arXiv 2312.00752) and Mamba-2 (arXiv 2405.21060): projections, short
 * convolution with bias, decay and skip per channel or head. */
double model_state_space_parameters(const struct model *m, enum mixer mixer)
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
	double count = 0;

	if (kind->mixer == MIXER_ATTENTION || kind->mixer == MIXER_MLA)
		count = attention_parameters(&kind->attention, kind->mixer,
					     (double)m->hidden);
	else if (kind->mixer != MIXER_NONE)
		count = model_state_space_parameters(m, kind->mixer);
	if (kind->beside != MIXER_NONE)
		count += model_state_space_parameters(m, kind->beside);
	return count;
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

/* Rows and columns of the matrices of a state space, added up. */
static double ssm_widths(const struct model *m, enum mixer mixer)
{
	const struct ssm *s = &m->ssm;
	double h = (double)m->hidden, inner = (double)s->inner,
	       state = (double)s->state, rank = (double)s->dt_rank;

	if (mixer == MIXER_NONE)
		return 0;
	if (mixer == MIXER_MAMBA1)
		return h + 2 * inner + inner + rank + 2 * state + rank + inner + inner +
		       h;
	return h + 2 * inner + 2 * (double)s->groups * state +
	       (mixer == MIXER_LINEAR ? 2 : 1) * (double)s->heads + inner + h;
}

/* The same of attention; MLA's keys and values come of a latent. */
static double attention_widths(const struct attention *a, enum mixer mixer, double h)
{
	double heads = (double)a->heads, rank = (double)a->query_rank;
	double latent = (double)(a->kv_rank + a->rope_dim);
	double value = heads * (double)a->value_dim;
	double first = rank > 0 ? h + rank + rank : h, last = value + h;
	double index = a->index_topk > 0 ? (rank > 0 ? rank : h) + h + h +
						   (double)(a->index_heads + 1) *
							   (double)a->index_dim +
						   (double)a->index_heads
					 : 0;

	if (mixer == MIXER_MLA)
		return first + heads * (double)(a->nope_dim + a->rope_dim) + h +
		       latent + (double)a->kv_rank + heads * (double)a->nope_dim +
		       value + last + index;
	if (a->output_rank > 0)
		last += 2 * (double)(a->output_groups * a->output_rank);
	return first + heads * (double)a->head_dim + (rank > 0 ? h : 0) +
	       attention_entry(a, (double)a->kv_heads) + (a->output_gate ? value : 0) +
	       last + index + (a->compress > 0 ? 2 * h + attention_compressor(a) : 0);
}

static double mixer_widths(const struct model *m, const struct layer_kind *kind)
{
	bool attends = kind->mixer == MIXER_ATTENTION || kind->mixer == MIXER_MLA;

	return (attends ? attention_widths(&kind->attention, kind->mixer,
					   (double)m->hidden)
			: ssm_widths(m, kind->mixer)) +
	       ssm_widths(m, kind->beside);
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

/* Forward FLOPs of scores and values per token of one layer, and of its indexer. */
static double attention_flops(const struct layer_kind *kind, int64_t seq,
			      bool full_square)
{
	const struct attention *a = &kind->attention;
	double s = (double)seq;

	if (kind->mixer != MIXER_ATTENTION && kind->mixer != MIXER_MLA)
		return 0;
	return 2 * (double)a->heads * (double)(a->head_dim + a->value_dim) *
		       (full_square ? attention_seen(a, s)
				    : attention_mean_seen(a, s)) +
	       2 * (double)(a->index_heads * a->index_dim) *
		       (full_square ? attention_scored(a, s)
				    : attention_mean_scored(a, s));
}

/* The scan itself, beyond its projections: cost-formulas 2.6, Mamba-2. */
static double scan_flops(const struct model *m, const struct layer_kind *kind)
{
	const struct ssm *s = &m->ssm;
	double chunk = s->chunk > 0 ? (double)s->chunk : 256;
	double inner = (double)s->inner, state = (double)s->state;
	enum mixer mixer = kind->beside != MIXER_NONE ? kind->beside : kind->mixer;

	if (mixer == MIXER_MAMBA1)
		return 9 * inner * state;
	if (mixer != MIXER_MAMBA2 && mixer != MIXER_LINEAR)
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

static double state_bytes(const struct model *model, enum mixer mixer, double tp)
{
	if (mixer < MIXER_MAMBA1)
		return 0;
	return (double)model->ssm.inner / tp *
	       ((double)model->ssm.state * 4 + (double)model->ssm.conv * 2);
}

double model_cache_bytes(const struct model *model, const struct layer_kind *kind,
			 double tokens, double tp, double bytes_per_element)
{
	const struct attention *a = &kind->attention;
	double entry = kind->mixer == MIXER_MLA
			       ? (double)(a->kv_rank + a->rope_dim)
			       : attention_entry(a, fmax(1, (double)a->kv_heads / tp));

	if (kind->mixer != MIXER_ATTENTION && kind->mixer != MIXER_MLA)
		return state_bytes(model, kind->mixer, tp);
	return attention_kept(a, tokens) * bytes_per_element * entry +
	       attention_index_bytes(a, tokens) + state_bytes(model, kind->beside, tp);
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
	else if (a->index_heads > 0 && (a->index_topk < 1 || a->index_dim < 1))
		snprintf(out, size, "an indexer without a width or picks");
	else if (a->compress < 0 || a->compress > 1 << 20)
		snprintf(out, size, "compressed entries of %lld tokens",
			 (long long)a->compress);
	else if (a->output_rank > 0 && a->output_groups < 1)
		snprintf(out, size, "an output in two steps without groups");
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
	else if (kind->beside != MIXER_NONE &&
		 (kind->beside < MIXER_MAMBA1 || kind->mixer != MIXER_ATTENTION))
		snprintf(out, size,
			 "beside the mixer of layer kind %d stands no state "
			 "space, or none beside attention",
			 k);
	else if ((kind->mixer >= MIXER_MAMBA1 || kind->beside >= MIXER_MAMBA1) &&
		 (m->ssm.inner < 1 || m->ssm.state < 1))
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
