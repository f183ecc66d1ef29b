/* blocks.c - see blocks.h.
 *
 * block_configs: NVIDIA's models of a search over architectures (model_type
 * nemotron-nas, modeling_decilm.py and block_config.py of the published checkpoints):
 * each block has its own heads and MLP, or lacks either. LongCat-Flash: two attentions
 * and two dense MLPs a layer beside one mixture (transformers,
 * modeling_longcat_flash.py).
 */
#include "presets/hf/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_longcat(const struct hf_reader *r)
{
	return r->family && strcmp(r->family->model_type, "longcat_flash") == 0;
}

/* A layer of LongCat is two of others, which num_hidden_layers may count
 * (configuration_longcat_flash.py). */
const char *hf_layer_keys(const struct hf_reader *reader)
{
	return is_longcat(reader) ? "num_layers num_hidden_layers"
				  : "num_hidden_layers n_layer n_layers num_layers";
}

bool hf_has_blocks(struct hf_reader *reader)
{
	const struct node *list = hf_get(reader, "block_configs");

	return is_longcat(reader) || (list && list->kind == NODE_LIST);
}

static const char *text_of(const struct node *map, const char *key)
{
	const struct node *node = node_get(map, key);

	return node && node->kind == NODE_SCALAR ? node->text : "";
}

/* 2/3 of the multiple of the hidden size, up to the next 256. */
static int64_t gated_width(double multiple, int64_t hidden)
{
	double width = floor(2 * multiple * (double)hidden / 3);

	return width >= 1 && width < 1e9 ? ((int64_t)width + 255) / 256 * 256 : 0;
}

/* One block; a part of it that is another kind than ours counts as what is nearest. */
static bool take_block(const struct model *model, const struct node *block,
		       struct layer_kind *kind)
{
	const struct node *attention = node_get(block, "attention"),
			  *ffn = node_get(block, "ffn");
	int64_t group = strtoll(text_of(attention, "n_heads_in_group"), NULL, 10);
	const char *width = text_of(ffn, "intermediate_size");

	if (!attention || !ffn)
		return false;
	if (strcmp(text_of(attention, "no_op"), "true") == 0 ||
	    strcmp(text_of(attention, "replace_with_linear"), "true") == 0) {
		memset(&kind->attention, 0, sizeof kind->attention);
		kind->mixer = MIXER_NONE;
	} else if (group > 0) {
		kind->attention.kv_heads = kind->attention.heads / group;
	}
	kind->mlp = MLP_DENSE;
	kind->ffn = width[0] != '\0' && strcmp(width, "null") != 0
			    ? strtoll(width, NULL, 10)
			    : gated_width(strtod(text_of(ffn, "ffn_mult"), NULL),
					  model->hidden);
	if (strcmp(text_of(ffn, "no_op"), "true") == 0 || kind->ffn <= 0) {
		kind->mlp = MLP_NONE;
		kind->ffn = 0;
	}
	return kind->mixer == MIXER_NONE || kind->attention.kv_heads > 0;
}

static bool fail(struct hf_reader *r, int line, const char *what)
{
	r->failed = true;
	return error_set(r->error, r->document->file, line, "%s", what);
}

static bool add(struct hf_reader *r, struct model *model, const struct layer_kind *kind)
{
	/* a block without attention and MLP passes its input on */
	return (kind->mixer == MIXER_NONE && kind->mlp == MLP_NONE) ||
	       model_add_layer(model, kind) ||
	       fail(r, r->config->line, "more layers or kinds of layers than are kept");
}

static void read_list(struct hf_reader *r, struct model *model,
		      const struct layer_kind *base, const struct node *list)
{
	for (const struct node *block = list->child; block; block = block->next) {
		struct layer_kind kind = *base;

		if (!take_block(model, block, &kind)) {
			fail(r, block->line,
			     "a block of block_configs without attention or ffn");
			return;
		}
		if (!add(r, model, &kind))
			return;
	}
}

void hf_read_blocks(struct hf_reader *reader, struct model *model,
		    const struct layer_kind *base, int64_t layers)
{
	struct layer_kind attention = *base, experts = { 0 };

	if (!is_longcat(reader)) {
		read_list(reader, model, base, hf_get(reader, "block_configs"));
		return;
	}
	attention.mlp = MLP_DENSE;
	experts.mlp = MLP_MOE;
	for (int64_t i = 0; i < layers && !reader->failed; i++)
		if (!add(reader, model, &attention) ||
		    !add(reader, model, &attention) || !add(reader, model, &experts))
			return;
}
