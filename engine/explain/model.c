/* model.c - where the counts of a model come from. */
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/row.h"
#include "engine/model/mixer.h"
#include "engine/train/train.h"

static const struct model *model_of(const struct asked *a)
{
	return &a->scenario->model;
}

static struct model_counts counts_of(const struct asked *a)
{
	struct model_counts counts;

	model_count(model_of(a), &counts);
	return counts;
}

VALUE(embedding, counts_of(a).embedding)
VALUE(head, counts_of(a).head)

/* Embeddings that no product reads: of a tied table the head does. */
static double table(const struct asked *a)
{
	const struct model *m = model_of(a);

	return embedding(a) -
	       (m->tied_embeddings ? (double)m->vocab * (double)m->hidden : 0);
}

VALUE(weight_flops, model_weight_flops(a->scenario->plan.lora_rank))

static double adapters(const struct asked *a)
{
	return model_adapters(model_of(a), a->scenario->plan.lora_rank,
			      a->scenario->plan.lora_targets);
}

static double spared(const struct asked *a)
{
	return train_spared_flops(a->scenario,
				  a->scenario->plan.flops_convention == FLOPS_FULL);
}

VALUE(frozen,
      scenario_freezes(a->scenario)
	      ? model_frozen_weights(model_of(a), scenario_freezes_head(a->scenario))
	      : 0)

static double scores(const struct asked *a)
{
	return a->estimate->flops_per_token + spared(a) -
	       weight_flops(a) * (counts_of(a).active - table(a)) - 6 * adapters(a);
}

static double count_norms(const struct asked *a)
{
	struct model_counts counts = counts_of(a);
	double layers = 0;

	for (int k = 0; k < model_of(a)->kinds; k++) {
		struct layer_counts layer;

		model_count_layer(model_of(a), &model_of(a)->kind[k], &layer);
		layers += (double)model_kind_layers(model_of(a), k) * layer.total;
	}
	return counts.total - counts.embedding - counts.head - layers;
}

static void embedding_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, "V * h");
	explain_from(a, out, "V", "vocabulary", "model.vocab");
	explain_from(a, out, "h", "hidden size", "model.hidden");
	if (model_of(a)->position == POSITION_LEARNED) {
		explain_say(out, " + n * h");
		explain_from(a, out, "n", "learned positions", "model.max_positions");
	}
	if (model_of(a)->input_width <= 0)
		return;
	explain_say(out, " + r * L * w + w");
	explain_from(a, out, "r", "rows of the layers' own inputs", "model.input_rows");
	explain_from(a, out, "L", "layers", "model.layers");
	explain_from(a, out, "w", "width of one", "model.input_width");
}

static void norm_terms(const struct asked *a, struct explanation *out)
{
	const struct model *m = model_of(a);

	explain_say(out,
		    m->norm == NORM_LAYER ? "h * (1 + bias) * (1 + e)" : "h * (1 + e)");
	explain_from(a, out, "h", "hidden size", "model.hidden");
	if (m->norm == NORM_LAYER)
		explain_from(a, out, "bias", "1 if a norm has one", "model.norm_bias");
	explain_from(a, out, "e", "1 if the embedding has a norm",
		     "model.embedding_norm");
}

/* Layers of each kind, the embedding, the head and the norms beside them. */
void explain_parameters(const struct asked *a, struct explanation *out, bool active)
{
	explain_say(out, "emb + head + norms");
	explain_from(a, out, "emb", "embeddings", "model.embedding");
	explain_from(a, out, "head", "output matrix", "model.head");
	explain_from(a, out, "norms", "behind the last layer", "model.end_norms");
	for (int k = 0; k < model_of(a)->kinds; k++) {
		char n[16], x[16];

		snprintf(n, sizeof n, "n%d", k);
		snprintf(x, sizeof x, "x%d", k);
		explain_say(out, " + %s * %s", n, x);
		explain_from(a, out, n, "layers of the kind", "model.kinds.%d.layers",
			     k);
		explain_from(a, out, x, "parameters of one", "model.kinds.%d.%s", k,
			     active ? "active" : "parameters");
	}
}

#undef NODE_SOURCE
#define NODE_SOURCE "a count over the matrices of the model's file"

const struct explain_node explain_model[] = {
	NODE("model.embedding", "Embeddings", FORM_COUNT, embedding, embedding_terms,
	     NULL, "The input table and learned positions."),
	NODE_OF("model.head", "Output matrix", FORM_COUNT, head,
		"(1 - tied) * V * h + bias * V", "None of its own where it is tied.",
		{ "tied", "1 if it is the embedding's table", "model.tied_embeddings" },
		{ "V", "vocabulary", "model.vocab" },
		{ "h", "hidden size", "model.hidden" },
		{ "bias", "1 if it has one", "model.head_bias" }),
	NODE_OF("model.table", "Embeddings that only look up", FORM_COUNT, table,
		"all - tied * V * h",
		"A tied table is multiplied only once, as the head.",
		{ "all", "embeddings", "model.embedding" },
		{ "tied", "1 if the head is the table", "model.tied_embeddings" },
		{ "V", "vocabulary", "model.vocab" },
		{ "h", "hidden size", "model.hidden" }),
	NODE("model.end_norms", "Norms beside the layers", FORM_COUNT, count_norms,
	     norm_terms, NULL, "Behind the last layer, and of the embedding."),
	NODE_OF("model.weight_flops", "FLOPs of a token for each weight", FORM_COUNT,
		weight_flops, "if(r > 0, 4, 6)",
		"2 forward, 2 for its input's gradient, 2 for its own, which a frozen "
		"one has not.",
		{ "r", "rank of LoRA's adapters, 0 = none", "lora_rank" }),
	NODE("model.adapters", "Weights of LoRA adapters", FORM_COUNT, adapters, NULL,
	     EXPLAIN_COUNTED, "r (in + out) beside each matrix of a layer."),
	NODE("model.spared_flops", "FLOPs that frozen layers spare", FORM_FLOPS, spared,
	     NULL, EXPLAIN_COUNTED,
	     "No gradient goes below the first layer that trains: 4 per weight and two "
	     "thirds of attention; 2 per weight of a frozen head."),
	NODE("model.frozen", "Weights that do not train", FORM_COUNT, frozen, NULL,
	     EXPLAIN_COUNTED,
	     "Of frozen layers, the embedding, and a frozen head and its norm."),
	NODE("model.score_flops", "Attention scores, scans, MTP layers", FORM_FLOPS,
	     scores, NULL, EXPLAIN_COUNTED,
	     "Over the positions that a token attends to, forward and backward."),
	{ .row.key = NULL },
};

/* --- of one kind --- */

static struct layer_counts layer_of(const struct asked *a)
{
	struct layer_counts counts;

	model_count_layer(model_of(a), &model_of(a)->kind[a->kind], &counts);
	return counts;
}

#define PART(name)                                \
	static double name(const struct asked *a) \
	{                                         \
		return layer_of(a).name;          \
	}

PART(mixer)
PART(mlp)
PART(router)
PART(routed)
PART(shared)
PART(latent)
PART(total)
PART(active)

VALUE(layer_norms, layer_of(a).norms)

/* One copy, whatever ranks repeat, mean over a request's context. */
static double cache_bytes(const struct asked *a)
{
	int64_t seq = (int64_t)server_mean_context(a->scenario);

	return seq > 0 ? model_cache_bytes(model_of(a), &model_of(a)->kind[a->kind],
					   (double)seq, 1,
					   serve_kv_element_bytes(a->scenario)) /
				 (double)seq
		       : 0;
}

VALUE(layers, (double)model_kind_layers(model_of(a), a->kind))

static void add_parts(const struct asked *a, struct explanation *out, bool all)
{
	bool experts = model_of(a)->kind[a->kind].mlp == MLP_MOE;

	explain_say(out, "mixer + norms");
	own(a, out, "mixer", "attention, or what stands for it", "mixer");
	own(a, out, "norms", "of the layer", "norms");
	if (!experts) {
		explain_say(out, " + mlp");
		own(a, out, "mlp", "of the layer", "mlp");
		return;
	}
	explain_say(out, all ? " + router + routed + shared + latent"
			     : " + router + routed * k / E + shared + latent");
	own(a, out, "router", "of tokens to experts", "router");
	own(a, out, "routed", "all routed experts", "routed");
	own(a, out, "shared", "experts that every token uses", "shared");
	own(a, out, "latent", "to the width of experts and back", "latent");
	if (all)
		return;
	explain_from(a, out, "k", "experts of a token", "model.experts_per_token");
	explain_from(a, out, "E", "experts of a layer", "model.experts");
}

FILL(total_terms, add_parts(a, out, true))
FILL(active_terms, add_parts(a, out, false))

static void add_mixer(const struct asked *a, struct explanation *out, int which)
{
	const struct layer_kind *kind = &model_of(a)->kind[a->kind];
	const struct mixer *mixer = mixer_rows[which];
	char text[256] = "";

	if (mixer->say)
		mixer->say(model_of(a), kind, text, sizeof text);
	explain_say(out, "%s", mixer->say ? text : mixer->parameters);
	for (int i = 0; i < MAX_MIXER_SYMBOLS && mixer->symbol[i].symbol; i++) {
		const struct formula_link *s = &mixer->symbol[i];

		if (formula_uses(out->formula, s->symbol))
			explain_from(a, out, s->symbol, s->meaning, "%s", s->key);
	}
}

static void mixer_terms(const struct asked *a, struct explanation *out)
{
	const struct layer_kind *kind = &model_of(a)->kind[a->kind];

	add_mixer(a, out, (int)kind->mixer);
	if (kind->beside == MIXER_NONE)
		return;
	explain_say(out, " + beside");
	own(a, out, "beside", "the state space beside it", "beside");
}

VALUE(beside, model_beside_parameters(model_of(a), &model_of(a)->kind[a->kind]))

FILL(beside_terms, add_mixer(a, out, (int)model_of(a)->kind[a->kind].beside))

/* (up + 1) h f, with biases up f + h. */
static void feed_forward(const struct asked *a, struct explanation *out,
			 const char *width, const char *ffn, bool bias)
{
	explain_say(out, "(2 + gated) * h * f");
	explain_from(a, out, "gated", "1 with a gate", "model.gated_mlp");
	explain_from(a, out, "h", "width of its input", "%s", width);
	explain_from(a, out, "f", "width inside", "%s", ffn);
	if (bias)
		explain_say(out, " + (1 + gated) * f + h");
}

static void mlp_terms(const struct asked *a, struct explanation *out)
{
	char ffn[32];

	if (model_of(a)->kind[a->kind].mlp != MLP_DENSE) {
		explain_say(out, "0");
		return;
	}
	snprintf(ffn, sizeof ffn, "model.kinds.%d.ffn", a->kind);
	feed_forward(a, out, "model.hidden", ffn, model_of(a)->mlp_bias);
	if (model_of(a)->input_width <= 0)
		return;
	explain_say(out, " + 3 * h * w");
	explain_from(a, out, "w", "width of the layer's own input",
		     "model.input_width");
}

/* Says 0 of a kind whose MLP is dense, or that has none. */
static bool lacks_experts(const struct asked *a, struct explanation *out)
{
	if (model_of(a)->kind[a->kind].mlp == MLP_MOE)
		return false;
	explain_say(out, "0");
	return true;
}

static void routed_terms(const struct asked *a, struct explanation *out)
{
	const struct moe *moe = &model_of(a)->moe;

	if (lacks_experts(a, out))
		return;
	explain_say(out, "E * (");
	explain_from(a, out, "E", "experts of a layer", "model.experts");
	feed_forward(a, out,
		     moe->expert_latent > 0 ? "model.expert_latent" : "model.hidden",
		     "model.expert_ffn", moe->expert_bias);
	explain_say(out, ")");
}

static void shared_terms(const struct asked *a, struct explanation *out)
{
	if (lacks_experts(a, out))
		return;
	if (model_of(a)->moe.shared_ffn <= 0) {
		explain_say(out, "0");
		return;
	}
	feed_forward(a, out, "model.hidden", "model.shared_ffn", false);
	if (model_of(a)->moe.shared_gate)
		explain_say(out, " + h");
}

static void router_terms(const struct asked *a, struct explanation *out)
{
	if (lacks_experts(a, out))
		return;
	explain_say(out, "h * E + bias * E");
	explain_from(a, out, "h", "hidden size", "model.hidden");
	explain_from(a, out, "E", "experts of a layer", "model.experts");
	explain_from(a, out, "bias", "1 if it has one", "model.router_bias");
}

static void latent_terms(const struct asked *a, struct explanation *out)
{
	if (lacks_experts(a, out))
		return;
	explain_say(out, "2 * h * l");
	explain_from(a, out, "h", "hidden size", "model.hidden");
	explain_from(a, out, "l", "width of what experts take, 0 = hidden",
		     "model.expert_latent");
}

static void layer_norm_terms(const struct asked *a, struct explanation *out)
{
	const struct model *m = model_of(a);
	const struct layer_kind *kind = &m->kind[a->kind];
	int halves = (kind->mixer != MIXER_NONE) + (kind->mlp != MLP_NONE);
	bool shared = m->shared_norm && shapes_parallel(m, kind);

	bool input = m->input_width > 0 && kind->mlp != MLP_NONE;

	explain_say(out, "%d * h%s",
		    (shared ? 1 : halves) + (m->post_norms ? halves : 0) + input,
		    m->norm == NORM_LAYER ? " * (1 + bias)" : "");
	explain_from(a, out, "h", "hidden size", "model.hidden");
	if (m->norm == NORM_LAYER)
		explain_from(a, out, "bias", "1 if a norm has one", "model.norm_bias");
}

static const char whole[] = "Of one layer, whole.";

const struct explain_node explain_model_kind[] = {
	NODE("layers", "Layers of the kind", FORM_COUNT, layers, NULL, EXPLAIN_COUNTED,
	     "Counted in the model's file, MTP apart."),
	NODE("cache_bytes_per_token", "Cache of a layer and token", FORM_BYTES,
	     cache_bytes, NULL, EXPLAIN_COUNTED,
	     "Keys and values, a latent, or a state over the context; a window cuts, "
	     "compressed entries stand for many tokens, an indexer keeps keys."),
	NODE("parameters", "Parameters of a layer", FORM_COUNT, total, total_terms,
	     NULL, whole),
	NODE("active", "Parameters of a layer that a token uses", FORM_COUNT, active,
	     active_terms, NULL, whole),
	NODE("mixer", "Parameters of the mixer", FORM_COUNT, mixer, mixer_terms, NULL,
	     "Projections, biases and whatever else trains."),
	NODE("beside", "Parameters of a state space beside attention", FORM_COUNT,
	     beside, beside_terms, NULL, whole),
	NODE("mlp", "Parameters of the MLP", FORM_COUNT, mlp, mlp_terms, NULL, whole),
	NODE("norms", "Parameters of the norms", FORM_COUNT, layer_norms,
	     layer_norm_terms, NULL, whole),
	NODE("router", "Parameters of the router", FORM_COUNT, router, router_terms,
	     NULL, whole),
	NODE("routed", "Parameters of routed experts", FORM_COUNT, routed, routed_terms,
	     NULL, whole),
	NODE("shared", "Parameters of shared experts", FORM_COUNT, shared, shared_terms,
	     NULL, whole),
	NODE("latent", "Projections of latent experts", FORM_COUNT, latent,
	     latent_terms, NULL, whole),
	{ .row.key = NULL },
};
