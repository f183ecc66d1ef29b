/* model_file.c - see model_file.h. */
#include "presets/model_file.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/fields.h"
#include "presets/model_layers.h"
#include "presets/preset.h"
#include "presets/stream.h"

enum { MAX_LIKE = 4 };

static const char *const activation_words[] = { "silu", "gelu", "relu", "relu2", NULL };
static const char *const norm_words[] = { "rms", "layer", NULL };
static const char *const position_words[] = { "rope",     "learned", "alibi",
					      "relative", "none",    NULL };
#define MIXER_WORD(NAME, name) #name,
static const char *const mixer_words[] = { MIXERS(MIXER_WORD) NULL };
#undef MIXER_WORD
static const char *const quantised_words[] = { "all", "mlp", "experts", NULL };
static const char *const mlp_words[] = { "none", "dense", "moe", NULL };

#define D(member) offsetof(struct draft, member), sizeof(((struct draft *)0)->member)
#define COUNT(key, member)                           \
	{                                            \
		key, FIELD_COUNT, D(member), 0, NULL \
	}
#define SWITCH(key, member)                         \
	{                                           \
		key, FIELD_BOOL, D(member), 0, NULL \
	}
#define NUMBER(key, member, scale)                        \
	{                                                 \
		key, FIELD_NUMBER, D(member), scale, NULL \
	}
#define WORD(key, member, words)                     \
	{                                            \
		key, FIELD_WORD, D(member), 0, words \
	}
#define TEXT(key, member)                           \
	{                                           \
		key, FIELD_TEXT, D(member), 0, NULL \
	}
#define A(member) base.attention.member

static const struct field fields[] = {
	TEXT("title", note.title),
	TEXT("source", note.source),
	TEXT("also", note.also),
	TEXT("alike", note.alike),
	TEXT("name", model.name),
	TEXT("hf_id", model.hf_id),
	TEXT("approximate", model.approximate),
	TEXT("like", like),
	NUMBER("published.parameters", note.parameters, 0),
	NUMBER("published.active", note.active, 0),
	NUMBER("published.tolerance", note.tolerance, 0),
	COUNT("layers", layers),
	COUNT("hidden", model.hidden),
	COUNT("ffn", base.ffn),
	COUNT("vocab", model.vocab),
	COUNT("max_positions", model.max_positions),
	COUNT("heads", A(heads)),
	COUNT("kv_heads", A(kv_heads)),
	COUNT("head_dim", A(head_dim)),
	COUNT("value_dim", A(value_dim)),
	COUNT("window", A(window)),
	COUNT("full_every", full_every),
	COUNT("query_rank", A(query_rank)),
	COUNT("kv_rank", A(kv_rank)),
	COUNT("nope_dim", A(nope_dim)),
	COUNT("rope_dim", A(rope_dim)),
	COUNT("index_heads", A(index_heads)),
	COUNT("index_dim", A(index_dim)),
	COUNT("index_topk", A(index_topk)),
	COUNT("compress", A(compress)),
	COUNT("output_rank", A(output_rank)),
	COUNT("output_groups", A(output_groups)),
	SWITCH("shared_kv", A(shared_kv)),
	SWITCH("borrowed_kv", A(borrowed_kv)),
	SWITCH("qkv_bias", A(qkv_bias)),
	SWITCH("output_bias", A(output_bias)),
	SWITCH("qk_norm", A(qk_norm)),
	SWITCH("sinks", A(sinks)),
	SWITCH("output_gate", A(output_gate)),
	SWITCH("gated_mlp", model.gated_mlp),
	SWITCH("parallel_block", model.parallel_block),
	SWITCH("shared_norm", model.shared_norm),
	SWITCH("tied_embeddings", model.tied_embeddings),
	SWITCH("mlp_bias", model.mlp_bias),
	SWITCH("embedding_norm", model.embedding_norm),
	SWITCH("norm_bias", model.norm_bias),
	SWITCH("head_bias", model.head_bias),
	SWITCH("post_norms", model.post_norms),
	WORD("norm", model.norm, norm_words),
	WORD("activation", model.activation, activation_words),
	WORD("position", model.position, position_words),
	NUMBER("dropout", model.dropout, 0),
	WORD("precision", model.precision, precision_words),
	WORD("quantised", model.quantised, quantised_words),
	COUNT("quantised_group", model.quantised_group),
	COUNT("mtp_layers", model.mtp_layers),
	COUNT("input_rows", model.input_rows),
	COUNT("input_width", model.input_width),
	COUNT("experts", model.moe.experts),
	COUNT("experts_per_token", model.moe.experts_per_token),
	COUNT("expert_ffn", model.moe.expert_ffn),
	COUNT("expert_latent", model.moe.expert_latent),
	COUNT("shared_experts", model.moe.shared_experts),
	COUNT("shared_ffn", model.moe.shared_ffn),
	SWITCH("shared_gate", model.moe.shared_gate),
	SWITCH("router_bias", model.moe.router_bias),
	SWITCH("expert_bias", model.moe.expert_bias),
	NUMBER("activation_limit", model.moe.activation_limit, 0),
	COUNT("group_limit", model.moe.group_limit),
	COUNT("expert_groups", model.moe.groups),
	COUNT("dense_layers", dense_layers),
	COUNT("moe_every", moe_every),
	COUNT("moe_offset", moe_offset),
	COUNT("attention_every", attention_every),
	COUNT("attention_offset", attention_offset),
	TEXT("pattern", pattern),
	WORD("ssm.kind", ssm_kind, mixer_words),
	COUNT("ssm.inner", model.ssm.inner),
	COUNT("ssm.state", model.ssm.state),
	COUNT("ssm.heads", model.ssm.heads),
	COUNT("ssm.head_dim", model.ssm.head_dim),
	COUNT("ssm.groups", model.ssm.groups),
	COUNT("ssm.conv", model.ssm.conv),
	COUNT("ssm.chunk", model.ssm.chunk),
	COUNT("ssm.dt_rank", model.ssm.dt_rank),
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

#define KIND(member) \
	offsetof(struct layer_kind, member), sizeof(((struct layer_kind *)0)->member)

static const struct field kind_fields[] = {
	{ "mixer", FIELD_WORD, KIND(mixer), 0, mixer_words },
	{ "mlp", FIELD_WORD, KIND(mlp), 0, mlp_words },
	{ "beside", FIELD_WORD, KIND(beside), 0, mixer_words },
	{ "ffn", FIELD_COUNT, KIND(ffn), 0, NULL },
	{ "heads", FIELD_COUNT, KIND(attention.heads), 0, NULL },
	{ "kv_heads", FIELD_COUNT, KIND(attention.kv_heads), 0, NULL },
	{ "head_dim", FIELD_COUNT, KIND(attention.head_dim), 0, NULL },
	{ "value_dim", FIELD_COUNT, KIND(attention.value_dim), 0, NULL },
	{ "window", FIELD_COUNT, KIND(attention.window), 0, NULL },
	{ "query_rank", FIELD_COUNT, KIND(attention.query_rank), 0, NULL },
	{ "kv_rank", FIELD_COUNT, KIND(attention.kv_rank), 0, NULL },
	{ "nope_dim", FIELD_COUNT, KIND(attention.nope_dim), 0, NULL },
	{ "rope_dim", FIELD_COUNT, KIND(attention.rope_dim), 0, NULL },
	{ "index_heads", FIELD_COUNT, KIND(attention.index_heads), 0, NULL },
	{ "index_dim", FIELD_COUNT, KIND(attention.index_dim), 0, NULL },
	{ "index_topk", FIELD_COUNT, KIND(attention.index_topk), 0, NULL },
	{ "compress", FIELD_COUNT, KIND(attention.compress), 0, NULL },
	{ "output_rank", FIELD_COUNT, KIND(attention.output_rank), 0, NULL },
	{ "output_groups", FIELD_COUNT, KIND(attention.output_groups), 0, NULL },
	{ "shared_kv", FIELD_BOOL, KIND(attention.shared_kv), 0, NULL },
	{ "borrowed_kv", FIELD_BOOL, KIND(attention.borrowed_kv), 0, NULL },
	{ "qkv_bias", FIELD_BOOL, KIND(attention.qkv_bias), 0, NULL },
	{ "output_bias", FIELD_BOOL, KIND(attention.output_bias), 0, NULL },
	{ "qk_norm", FIELD_BOOL, KIND(attention.qk_norm), 0, NULL },
	{ "sinks", FIELD_BOOL, KIND(attention.sinks), 0, NULL },
	{ "output_gate", FIELD_BOOL, KIND(attention.output_gate), 0, NULL },
};

enum { KIND_FIELDS = sizeof kind_fields / sizeof kind_fields[0] };

/* DeepSeek-V2's widths, where a file only says mla: true. */
static void mla_defaults(struct draft *d)
{
	struct attention *a = &d->base.attention;

	d->base.mixer = MIXER_MLA;
	a->query_rank = a->query_rank ? a->query_rank : 1536;
	a->kv_rank = a->kv_rank ? a->kv_rank : 512;
	a->nope_dim = a->nope_dim ? a->nope_dim : 128;
	a->rope_dim = a->rope_dim ? a->rope_dim : 64;
	a->value_dim = a->value_dim ? a->value_dim : 128;
}

/* Keys that are not plain members: mla, kinds and the layer list. */
static bool read_other(const struct document *document, const struct node *node,
		       const char *key, void *base, bool *failed, struct error *error)
{
	struct draft *d = base;

	if (strcmp(key, "mla") == 0) {
		bool on = false;

		*failed = !node_bool(document, node, &on, error);
		if (on)
			mla_defaults(d);
		return !*failed;
	}
	if (strcmp(key, "layer_list") == 0)
		return true; /* read once the kinds are known */
	if (strcmp(key, "kinds") != 0)
		return false;
	if (node->kind != NODE_LIST || node->count > MAX_LAYER_KINDS) {
		error_set(error, document->file, node->line,
			  "kinds is a list of at most %d layer kinds", MAX_LAYER_KINDS);
		*failed = true;
		return false;
	}
	for (const struct node *item = node->child; item && !*failed;
	     item = item->next) {
		struct layer_kind kind = { 0 };

		*failed = !fields_read(document, item, kind_fields, KIND_FIELDS, &kind,
				       NULL, error);
		d->model.kind[d->model.kinds++] = kind;
	}
	return !*failed;
}

/* Which of the keys with habits were given. */
static void note_said(struct draft *d, const struct node *map)
{
	d->norm_said |= node_get(map, "norm") != NULL;
	d->bias_said |= node_get(map, "mlp_bias") || node_get(map, "qkv_bias");
	d->tied_said |= node_get(map, "tied_embeddings") != NULL;
	d->position_said |= node_get(map, "position") != NULL;
	d->activation_said |= node_get(map, "activation") != NULL;
}

static bool fill_draft(const struct document *document, const struct node *map,
		       struct draft *d, int depth, struct error *error);

static bool fill_from(const char *name, struct draft *d, int depth, struct error *error)
{
	struct document document;
	char *text = preset_text(PRESET_MODEL, name, error);
	bool good;

	if (!text)
		return false;
	good = document_parse(&document, name, text, strlen(text), error);
	free(text);
	if (!good)
		return false;
	good = fill_draft(&document, document.root, d, depth, error);
	document_free(&document);
	return good;
}

static bool fill_draft(const struct document *document, const struct node *map,
		       struct draft *d, int depth, struct error *error)
{
	const struct node *like = node_get(map, "like");

	if (map->kind != NODE_MAP)
		return error_set(error, document->file, map->line,
				 "a model is a mapping of keys and values");
	if (like && depth == MAX_LIKE)
		return error_set(error, document->file, like->line,
				 "like: more than %d models deep", MAX_LIKE);
	if (like && like->kind == NODE_SCALAR &&
	    !fill_from(like->text, d, depth + 1, error)) {
		struct error why = { "" };

		if (error)
			why = *error;
		return error_set(error, document->file, like->line, "like: %.300s",
				 why.text);
	}
	note_said(d, map);
	/* a shared width of the model it is like follows the new counts */
	if (like && (node_get(map, "shared_experts") || node_get(map, "expert_ffn")) &&
	    !node_get(map, "shared_ffn"))
		d->model.moe.shared_ffn = 0;
	return fields_read(document, map, fields, FIELDS, d, read_other, error);
}

/* On the keys of `base`, a model of the library, where it is given. */
static bool read_on(const struct document *document, const struct node *map,
		    const char *base, struct draft *d, struct error *error)
{
	const struct node *list = node_get(map, "layer_list");
	char why[MAX_NOTE];
	bool good = (!base || fill_from(base, d, 1, error)) &&
		    fill_draft(document, map, d, base ? 1 : 0, error);

	if (good && d->model.kinds == 0) {
		draft_habits(d);
		good = draft_add_layers(document, map, d, error);
	} else if (good) {
		good = draft_listed_layers(document, list, d, error);
	}
	if (good && !model_sound(&d->model, why, sizeof why))
		good = error_set(error, document->file, map->line, "%s", why);
	return good;
}

bool model_read(const struct document *document, const struct node *map,
		struct model *out, struct model_note *note, struct error *error)
{
	struct draft *d = calloc(1, sizeof *d);
	bool good = d ? read_on(document, map, NULL, d, error)
		      : error_set(error, document->file, 0, "out of memory");

	if (good) {
		*out = d->model;
		if (note)
			*note = d->note;
	}
	free(d);
	return good;
}

bool model_read_like(const struct document *document, const struct node *map,
		     const char *base, struct model *out, struct error *error)
{
	struct draft *d = calloc(1, sizeof *d);
	bool good = d ? read_on(document, map, base, d, error)
		      : error_set(error, document->file, 0, "out of memory");

	if (good)
		*out = d->model;
	free(d);
	return good;
}

static void write_members(const struct field *table, int count, const void *base,
			  FILE *stream, bool *first)
{
	for (int i = 0; i < count; i++) {
		if (field_zero(&table[i], base))
			continue;
		fprintf(stream, "%s%s: ", *first ? "" : ", ", table[i].key);
		field_print(&table[i], base, stream);
		*first = false;
	}
}

static void write_layer_list(const struct model *m, FILE *stream)
{
	for (int64_t i = 0; i < m->layers;) {
		int64_t run = i;

		while (run < m->layers && m->layer[run] == m->layer[i])
			run++;
		fprintf(stream, "%s%d*%lld", i ? " " : "", m->layer[i],
			(long long)(run - i));
		i = run;
	}
}

static void write_nested(const struct draft *d, const char *prefix, FILE *stream)
{
	size_t length = strlen(prefix);
	bool first = true;

	for (int i = 0; i < FIELDS; i++) {
		if (strncmp(fields[i].key, prefix, length) != 0 ||
		    field_zero(&fields[i], d))
			continue;
		fprintf(stream, "%s%s: ", first ? "" : ", ", fields[i].key + length);
		field_print(&fields[i], d, stream);
		first = false;
	}
}

/* The members that belong to the model as a whole; layers come as kinds and a list.
 * Habits would fill what is left out, so every key with one is written. */
bool model_write(const struct model *model, FILE *stream)
{
	struct draft *d = calloc(1, sizeof *d);
	bool first = false;

	if (!d)
		return false;
	d->model = *model;
	fputs("{name: ", stream);
	stream_put_quoted(stream, model->name);
	for (int i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];

		if (strchr(f->key, '.') || strcmp(f->key, "name") == 0 ||
		    f->offset >= offsetof(struct draft, base) || field_zero(f, d))
			continue;
		fprintf(stream, ", %s: ", f->key);
		field_print(f, d, stream);
	}
	if (model->ssm.inner > 0) {
		fputs(", ssm: {", stream);
		write_nested(d, "ssm.", stream);
		fputc('}', stream);
	}
	fputs(", kinds: [", stream);
	for (int k = 0; k < model->kinds; k++) {
		fputs(k ? ", {" : "{", stream);
		first = true;
		write_members(kind_fields, KIND_FIELDS, &model->kind[k], stream,
			      &first);
		fputc('}', stream);
	}
	fputs("], layer_list: \"", stream);
	write_layer_list(model, stream);
	fputs("\"}", stream);
	free(d);
	return true;
}
