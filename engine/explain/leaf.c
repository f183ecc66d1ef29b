/* leaf.c - where explanations end: what a person set, and what a preset states. */
#include <stddef.h>
#include <string.h>

#include "engine/explain/row.h"
#include "engine/knob/knob.h"

/* A number of a preset; its file says where it comes from. */
struct constant {
	const char *key, *title;
	enum form form;
	bool whole; /* an int64_t, not a double */
	size_t offset;
};

#define REAL_AT(field)                      \
	(offsetof(struct scenario, field) + \
	 0 * sizeof(char[_Generic(((struct scenario *)0)->field, double : 1)]))
#define WHOLE_AT(field)                     \
	(offsetof(struct scenario, field) + \
	 0 * sizeof(char[_Generic(((struct scenario *)0)->field, int64_t : 1)]))
#define REAL(key, title, form, field)                   \
	{                                               \
		key, title, form, false, REAL_AT(field) \
	}
#define WHOLE(key, title, field)                              \
	{                                                     \
		key, title, FORM_COUNT, true, WHOLE_AT(field) \
	}

static const struct constant constants[] = {
	WHOLE("model.layers", "Layers", model.layers),
	WHOLE("model.hidden", "Hidden size", model.hidden),
	WHOLE("model.vocab", "Vocabulary", model.vocab),
	WHOLE("model.experts", "Experts of a layer", model.moe.experts),
	WHOLE("model.experts_per_token", "Experts per token",
	      model.moe.experts_per_token),
	WHOLE("model.expert_ffn", "Width of an expert", model.moe.expert_ffn),
	WHOLE("model.expert_latent", "Width of what experts take, 0 = hidden",
	      model.moe.expert_latent),
	WHOLE("cluster.gpus_per_node", "Accelerators of a node", cluster.gpus_per_node),
	REAL("cluster.memory_bytes", "Memory as sold", FORM_BYTES,
	     cluster.accelerator.memory_bytes),
	REAL("cluster.usable_bytes", "What a framework can allocate", FORM_BYTES,
	     cluster.accelerator.usable_bytes),
	REAL("cluster.memory_bytes_per_second", "Memory bandwidth, bytes/s",
	     FORM_TRAFFIC, cluster.accelerator.memory_bytes_per_second),
	REAL("cluster.host_bytes_per_second", "Host link, bytes/s each way",
	     FORM_TRAFFIC, cluster.accelerator.host_bytes_per_second),
	REAL("cluster.domain_bytes_per_second", "Fast domain, bytes/s each way",
	     FORM_TRAFFIC, cluster.link[LINK_DOMAIN].bytes_per_second),
	REAL("cluster.network_bytes_per_second", "Network of an accelerator, bytes/s",
	     FORM_TRAFFIC, cluster.link[LINK_NETWORK].bytes_per_second),
	REAL("cluster.domain_efficiency", "Share of the domain that is reached",
	     FORM_PERCENT, cluster.link[LINK_DOMAIN].efficiency),
	REAL("cluster.network_efficiency", "Share of the network that is reached",
	     FORM_PERCENT, cluster.link[LINK_NETWORK].efficiency),
	REAL("stack.context_bytes", "Context and libraries", FORM_BYTES,
	     stack.context_bytes),
	REAL("stack.communicator_bytes", "A communicator", FORM_BYTES,
	     stack.communicator_bytes),
	REAL("stack.fragmentation", "Reserved over allocated", FORM_REAL,
	     stack.fragmentation),
	REAL("stack.dp_overlap", "Share of DP traffic that is hidden", FORM_PERCENT,
	     stack.dp_overlap),
	REAL("stack.tp_overlap", "Share of TP traffic that is hidden, with TP overlap",
	     FORM_PERCENT, stack.tp_overlap),
	REAL("stack.ep_overlap", "Share of EP traffic that is hidden, with EP overlap",
	     FORM_PERCENT, stack.ep_overlap),
};

static double constant_value(const struct scenario *scenario,
			     const struct constant *constant)
{
	const char *at = (const char *)scenario + constant->offset;
	int64_t whole;
	double real;

	if (constant->whole) {
		memcpy(&whole, at, sizeof whole);
		return (double)whole;
	}
	memcpy(&real, at, sizeof real);
	return real;
}

static bool end_at_constant(const struct scenario *scenario, const char *key,
			    struct explanation *out)
{
	for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
		if (strcmp(constants[i].key, key) != 0)
			continue;
		out->title = constants[i].title;
		out->form = constants[i].form;
		out->value = constant_value(scenario, &constants[i]);
		out->assumption = "A fact of the preset, or measured; nothing here "
				  "computes it.";
		out->source = strncmp(key, "model.", 6) == 0     ? "the model's file"
			      : strncmp(key, "cluster.", 8) == 0 ? "the cluster's file"
								 : "the stack's file";
		return true;
	}
	return false;
}

static bool end_at_knob(const struct scenario *scenario, const char *key,
			struct explanation *out)
{
	const struct knob *knob = knob_find(key);

	if (!knob)
		return false;
	out->title = knob->label;
	out->form = knob->type == KNOB_INT ? FORM_COUNT : FORM_REAL;
	out->value = knob_get(scenario, knob);
	out->assumption = knob->help;
	out->source = "a knob: yours to turn";
	return true;
}

bool explain_leaf(const struct scenario *scenario, const char *key,
		  struct explanation *out)
{
	out->formula = "none: this is where an explanation ends";
	out->computes = false;
	out->terms = 0;
	return end_at_constant(scenario, key, out) || end_at_knob(scenario, key, out);
}
