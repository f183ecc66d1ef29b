/* remat.c - what MaxText keeps of a layer, by the name of a policy or tensor by tensor.
 */
#include <stdio.h>
#include <string.h>

#include "presets/maxtext/remat.h"

/* Names that mean the same here: what is quantised is not kept apart. */
static const char *policy_name(const char *name)
{
	if (strcmp(name, "minimal_flash") == 0 ||
	    strcmp(name, "minimal_with_context_and_quantization") == 0)
		return "minimal_with_context";
	return strcmp(name, "minimal_with_quantization") == 0 ? "minimal" : name;
}

/* Tensors of a custom policy (base.yml), by the product that they are or that they are
 * part of. */
static const struct {
	const char *tensor, *product;
} products[] = {
	{ "qkv_proj", "qkv" },          { "query_proj", "qkv" },
	{ "key_proj", "qkv" },          { "value_proj", "qkv" },
	{ "kv_proj", "qkv" },           { "context", "context" },
	{ "attention_out", "context" }, { "out_proj", "out" },
	{ "mlpwi", "mlp_in" },          { "mlpwi_0", "mlp_in" },
	{ "mlpwi_1", "mlp_in" },        { "moe_mlpwi_0", "mlp_in" },
	{ "moe_mlpwi_1", "mlp_in" },    { "mlpwo", "mlp_out" },
	{ "moe_mlpwo", "mlp_out" },
};
enum { PRODUCTS = sizeof products / sizeof products[0] };

/* Products of which a tensor is where `place` says, joined by +. */
static void join_products(const struct mapped *m, const char *place, char out[64])
{
	const char *last = "";

	out[0] = '\0';
	for (int i = 0; i < PRODUCTS; i++) {
		size_t used = strlen(out);

		if (!mapped_is(m, products[i].tensor, place) ||
		    strcmp(products[i].product, last) == 0)
			continue;
		last = products[i].product;
		snprintf(out + used, 64 - used, "%s%s", used ? "+" : "", last);
	}
}

/* Queries, keys and values are one product here, and so are gate and up: where one of
 * them alone is named, all count. */
static void note_parts(const struct mapped *m)
{
	const struct pair *parts[] = { mapped_find(m, "query_proj"),
				       mapped_find(m, "key_proj"),
				       mapped_find(m, "value_proj") };
	bool one = false;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			one |= parts[i] && (!parts[j] || strcmp(parts[i]->value,
								parts[j]->value) != 0);
	if (one && !mapped_find(m, "kv_proj"))
		import_note(m->report, IMPORT_APPROXIMATE, "query_proj",
			    "queries, keys and values count together");
	if (mapped_is(m, "decoder_layer_input", "offload"))
		import_note(m->report, IMPORT_APPROXIMATE, "decoder_layer_input",
			    "a layer's input stays on the accelerator");
}

static bool read_custom(const struct mapped *m)
{
	char kept[64], sent[64];

	join_products(m, "device", kept);
	join_products(m, "offload", sent);
	note_parts(m);
	return mapped_set(m, "remat_kept", kept[0] ? kept : "none", NULL) &&
	       mapped_set(m, "remat_sent", sent[0] ? sent : "none", NULL);
}

/* Policies between full and none keep some products, or send them to the host; a custom
 * one is told tensor by tensor elsewhere in the file. */
bool maxtext_read_remat(const struct mapped *m)
{
	const struct pair *policy = mapped_find(m, "remat_policy");
	const char *name = policy ? policy->value : "full";
	bool full = strcmp(name, "full") == 0, none = strcmp(name, "none") == 0;

	if (strcmp(name, "custom") == 0 && !read_custom(m))
		return false;
	return mapped_set(m, "recompute",
			  full   ? "full"
			  : none ? "none"
				 : "selective",
			  policy) &&
	       (!full || mapped_set(m, "recompute_layers", "all", policy)) &&
	       (full || none ||
		mapped_set(m, "remat_policy", policy_name(name), policy));
}
