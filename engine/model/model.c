/* model.c - parameter counts, FLOPs and cache bytes; see model.h. */
#include "engine/model/model.h"

#include <stdio.h>

#include "engine/model/mixer.h"
#include "engine/model/shape.h"

int64_t model_expert_width(const struct model *model)
{
	return model->moe.expert_latent > 0 ? model->moe.expert_latent : model->hidden;
}

/* A layer as one rank has it that shares it with nobody, and meets one token. */
static const struct share whole = { .tp = 1, .rows = 1, .norm_rows = 1 };

static double add_weights(const struct shapes *shapes, struct layer_counts *counts)
{
	double norms = 0, rest = 0;

	for (int i = 0; i < shapes->count; i++) {
		const struct shape *shape = &shapes->item[i];

		if (shape->kind == SHAPE_NORM)
			norms += shape->weights;
		else
			rest += shape_weights(shape);
	}
	counts->norms += norms;
	return rest;
}

void model_count_experts(const struct model *model, struct layer_counts *counts)
{
	struct shape shape[EXPERT_SHAPES];

	shapes_experts(model, &whole, shape);
	counts->router = shape_weights(&shape[EXPERT_ROUTER]);
	counts->routed =
		(double)model->moe.experts *
		(shape_weights(&shape[EXPERT_UP]) + shape_weights(&shape[EXPERT_DOWN]));
	counts->latent = shape_weights(&shape[EXPERT_LATENT_DOWN]) +
			 shape_weights(&shape[EXPERT_LATENT_UP]);
}

static void count_mixer(const struct model *model, const struct layer_kind *kind,
			struct layer_counts *counts)
{
	struct shapes shapes;

	*counts = (struct layer_counts){ 0 };
	shapes_mixer(model, kind, &whole, &shapes);
	counts->mixer = add_weights(&shapes, counts);
}

double model_beside_parameters(const struct model *model, const struct layer_kind *kind)
{
	struct layer_counts counts = { 0 };
	struct shapes shapes = { .count = 0 };

	mixer_rows[kind->beside]->draw(model, kind, &whole, &shapes);
	return add_weights(&shapes, &counts);
}

static void count_mlp(const struct model *model, const struct layer_kind *kind,
		      struct layer_counts *counts)
{
	bool experts = kind->mlp == MLP_MOE;
	struct shapes shapes;

	*counts = (struct layer_counts){ 0 };
	shapes_mlp(model, kind, &whole, &shapes);
	*(experts ? &counts->shared : &counts->mlp) = add_weights(&shapes, counts);
	if (experts)
		model_count_experts(model, counts);
}

/* Both halves; a token meets some of the routed experts. */
static void join_halves(const struct model *model, const struct layer_counts *mixer,
			const struct layer_counts *mlp, struct layer_counts *out)
{
	*out = *mlp;
	out->mixer = mixer->mixer;
	out->norms += mixer->norms;
	out->total = out->mixer + out->mlp + out->norms + out->router + out->routed +
		     out->shared + out->latent;
	out->active = out->total;
	if (out->routed > 0)
		out->active -= out->routed * (1 - (double)model->moe.experts_per_token /
							  (double)model->moe.experts);
}

void model_count_layer(const struct model *model, const struct layer_kind *kind,
		       struct layer_counts *counts)
{
	struct layer_counts mixer, mlp;

	count_mixer(model, kind, &mixer);
	count_mlp(model, kind, &mlp);
	join_halves(model, &mixer, &mlp, counts);
}

/* Norm and matrix that join two inputs, a norm before the head, and a layer. */
static void count_mtp(const struct model *model, const struct layer_counts *layer,
		      struct model_counts *counts)
{
	double join = 2 * (double)model->hidden * (double)model->hidden;
	double copies = (double)model->mtp_layers;

	counts->mtp = copies * (layer->total + join + 3 * model_norm_weights(model));
	counts->mtp_active = copies * (layer->active + join);
}

static void count_layers(const struct model *model, struct model_counts *counts)
{
	int mtp = model->mtp_layers > 0 ? model_mtp_kind(model) : -1;
	struct layer_counts mixer, mlp, layer;
	double layers[MAX_LAYER_KINDS];

	model_kinds_layers(model, layers);
	for (int k = 0; k < model->kinds; k++) {
		if (!shapes_same_mixer(model, k))
			count_mixer(model, &model->kind[k], &mixer);
		if (!shapes_same_mlp(model, k))
			count_mlp(model, &model->kind[k], &mlp);
		join_halves(model, &mixer, &mlp, &layer);
		counts->total += layers[k] * layer.total;
		counts->active += layers[k] * layer.active;
		counts->routed += layers[k] * layer.routed;
		if (k == mtp)
			count_mtp(model, &layer, counts);
	}
}

double model_input_table(const struct model *model)
{
	double width = (double)model->input_width;

	return (double)model->input_rows * (double)model->layers * width + width;
}

void model_count(const struct model *model, struct model_counts *counts)
{
	double h = (double)model->hidden;

	*counts = (struct model_counts){ 0 };
	counts->embedding = (double)model->vocab * h;
	if (model->position == POSITION_LEARNED)
		counts->embedding += (double)model->max_positions * h;
	counts->embedding += model_input_table(model);
	if (!model->tied_embeddings)
		counts->head = (double)model->vocab * h;
	if (model->head_bias)
		counts->head += (double)model->vocab;
	counts->total = counts->active =
		counts->embedding + counts->head +
		model_norm_weights(model) * (model->embedding_norm ? 2 : 1);
	count_layers(model, counts);
}

/* Rows and columns of the matrices of a layer, added up; of the experts' the shared
 * ones alone. */
static double layer_widths(const struct model *m, const struct layer_kind *kind,
			   int targets)
{
	struct shapes shapes;
	double widths = 0;

	for (int half = 0; half < (targets == LORA_ALL ? 2 : 1); half++) {
		int end;

		(half ? shapes_mlp : shapes_mixer)(m, kind, &whole, &shapes);
		end = shapes_adapted(&shapes, targets);
		for (int i = 0; i < end; i++)
			if (shapes.item[i].kind == SHAPE_LINEAR)
				widths += shapes.item[i].columns + shapes.item[i].inner;
	}
	return widths;
}

double model_adapters(const struct model *model, int64_t rank, int targets)
{
	double layers[MAX_LAYER_KINDS], widths = 0;

	if (rank < 1)
		return 0;
	model_kinds_layers(model, layers);
	for (int k = 0; k < model->kinds; k++)
		widths += layers[k] * layer_widths(model, &model->kind[k], targets);
	if (model->mtp_layers > 0 && model->kinds > 0)
		widths += (double)model->mtp_layers *
			  layer_widths(model, &model->kind[model_mtp_kind(model)],
				       targets);
	return (double)rank * widths;
}

/* Forward FLOPs of a token beyond the weights it meets: scores and values, those of an
 * indexer, a scan. */
static double mixing_flops(const struct model *m, const struct layer_kind *kind,
			   int64_t seq, bool full_square)
{
	double s = (double)seq, seen, scored;
	struct mixing mixing;
	const struct attention *a;

	shapes_measure(m, kind, 1, &mixing);
	a = mixing.attention;
	if (!a)
		return mixing.scan.flops;
	seen = full_square ? attention_seen(a, s) : attention_mean_seen(a, s);
	scored = full_square ? attention_scored(a, s) : attention_mean_scored(a, s);
	return mixing.scan.flops +
	       2 * mixing.heads * (mixing.query_dim + mixing.value_dim) * seen +
	       2 * mixing.index * scored;
}

/* Weights that a token is multiplied with: a tied table works once, as the head. */
static double working_weights(const struct model *model,
			      const struct model_counts *counts)
{
	return counts->active - counts->embedding +
	       (model->tied_embeddings ? (double)model->vocab * (double)model->hidden
				       : 0);
}

static double layers_mixing(const struct model *model, int64_t seq, bool full_square)
{
	double layers[MAX_LAYER_KINDS], sum = 0;

	model_kinds_layers(model, layers);
	for (int k = 0; k < model->kinds; k++)
		sum += layers[k] *
		       mixing_flops(model, &model->kind[k], seq, full_square);
	return sum;
}

double model_weight_flops(int64_t lora_rank)
{
	return lora_rank > 0 ? 4 : 6;
}

double model_forward_flops_per_token(const struct model *model,
				     const struct model_counts *counts, int64_t seq,
				     bool full_square)
{
	return 2 * working_weights(model, counts) +
	       layers_mixing(model, seq, full_square);
}

double model_counted_flops_per_token(const struct model *model,
				     const struct model_counts *counts, int64_t seq,
				     bool full_square, int64_t lora_rank, int targets)
{
	double mtp = (double)model->mtp_layers;
	double weights = working_weights(model, counts);
	double mixing = layers_mixing(model, seq, full_square);

	/* MTP layers take the head once more each */
	if (model->mtp_layers > 0 && model->kinds > 0) {
		weights += counts->mtp_active +
			   mtp * (double)model->vocab * (double)model->hidden;
		mixing += mtp * mixing_flops(model, &model->kind[model_mtp_kind(model)],
					     seq, full_square);
	}
	return model_weight_flops(lora_rank) * weights + 3 * mixing +
	       6 * model_adapters(model, lora_rank, targets);
}

double model_spared_flops_per_token(const struct model *model, int64_t seq,
				    bool full_square, bool head)
{
	double layers[MAX_LAYER_KINDS], weights = 0, mixing = 0;
	struct layer_counts counts;

	model_kinds_layers(model, layers);
	for (int k = 0; k < model->kinds; k++) {
		if (!model->kind[k].frozen)
			continue;
		model_count_layer(model, &model->kind[k], &counts);
		weights += layers[k] * counts.active;
		mixing += layers[k] *
			  mixing_flops(model, &model->kind[k], seq, full_square);
	}
	if (head)
		weights += (double)(1 + model->mtp_layers) / 2 * (double)model->vocab *
			   (double)model->hidden;
	return 4 * weights + 2 * mixing;
}

double model_frozen_weights(const struct model *model, bool head)
{
	double layers[MAX_LAYER_KINDS], sum = 0;
	struct model_counts all;
	struct layer_counts counts;

	model_count(model, &all);
	model_kinds_layers(model, layers);
	for (int k = 0; k < model->kinds; k++) {
		if (!model->kind[k].frozen)
			continue;
		model_count_layer(model, &model->kind[k], &counts);
		sum += layers[k] * counts.total;
	}
	sum += all.embedding;
	if (head)
		sum += all.head + model_norm_weights(model);
	else if (model->tied_embeddings)
		sum -= (double)model->vocab * (double)model->hidden;
	return sum;
}

double model_trained_flops_per_token(const struct model *model, int64_t seq,
				     bool full_square, int64_t lora_rank, int targets)
{
	struct model_counts counts;

	model_count(model, &counts);
	return model_counted_flops_per_token(model, &counts, seq, full_square,
					     lora_rank, targets);
}

double model_cache_bytes(const struct model *model, const struct layer_kind *kind,
			 double tokens, double tp, double bytes_per_element)
{
	struct mixing mixing;
	const struct attention *a;

	shapes_measure(model, kind, tp, &mixing);
	a = mixing.attention;
	if (!a || a->borrowed_kv)
		return mixing.scan.state_bytes;
	return attention_kept(a, tokens) * bytes_per_element * mixing.entry +
	       attention_index_bytes(a, tokens) + mixing.scan.state_bytes;
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

/* A state space has the widths that its row speaks of. */
static bool scan_sound(const struct model *m, const struct mixer *mixer, char *out,
		       size_t size)
{
	const struct {
		const char *key;
		int64_t width;
	} widths[] = { { "model.ssm_inner", m->ssm.inner },
		       { "model.ssm_state", m->ssm.state } };

	for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
		const char *meaning = mixer_meaning(mixer, widths[i].key);

		if (!meaning || widths[i].width >= 1)
			continue;
		snprintf(out, size, "%s without %s", mixer->label, meaning);
		return false;
	}
	return true;
}

static bool kind_sound(const struct model *m, int k, char *out, size_t size)
{
	const struct layer_kind *kind = &m->kind[k];
	const struct mixer *mixer = mixer_of(kind), *beside = mixer_rows[kind->beside];

	if (kind->mixer == MIXER_NONE && kind->mlp == MLP_NONE)
		snprintf(out, size, "layer kind %d is empty", k);
	else if (mixer->attends && !attention_sound(&kind->attention, k, out, size))
		return false;
	else if (kind->beside != MIXER_NONE &&
		 (!beside->scans || !mixer->attends || mixer->latent))
		snprintf(out, size,
			 "beside the mixer of layer kind %d stands no state "
			 "space, or none beside attention",
			 k);
	else if (!scan_sound(m, mixer, out, size) || !scan_sound(m, beside, out, size))
		return false;
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
	else if (model->input_width > 0 &&
		 (model->input_rows < 1 || model->moe.experts > 0))
		snprintf(out, room,
			 "inputs of layers (input_width) need input_rows and no "
			 "experts");
	for (int k = 0; k < model->kinds && out[0] == '\0'; k++)
		kind_sound(model, k, out, room);
	return out[0] == '\0';
}

bool model_has_dense_mlp(const struct model *model)
{
	for (int k = 0; k < model->kinds; k++)
		if (model->kind[k].mlp == MLP_DENSE)
			return true;
	return false;
}
