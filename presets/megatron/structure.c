/* structure.c - flags of the network's shape that nothing here reads: forks have more
 * of them than anybody can list, and a shape without them is another one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/flags.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"

/* A flag that holds one of these is of the shape ... */
static const char *const parts[] = {
	"expert",      "mamba",         "latent",     "dense-replace",
	"hash-layers", "layer-freq",    "layer-list", "attention-freq",
	"lora-rank",   "geglu",         "glu-act",    "hidden-dim",
	"ngram",       "interval-attn", "kv-head",    "head-kv",
	"kv-group",    "value-group",   NULL,
};
/* ... and so is one that begins with these ... */
static const char *const heads[] = {
	"linear-key", "linear-val", "linear-num", "linear-attn",
	"index-",     "hybrid-",    "enable-dsa", NULL,
};
/* ... unless one of these says that it is of the run: of routing, storing, placing. */
static const char *const trifles[] = {
	"context", "router",  "use-fused", "check-",         "target-",   "-teacher",
	"infer",   "recomp",  "moe-pad",   "weight-sh",      "log",       "d-conv",
	"chunk",   "freeze",  "capacity",  "aux-loss",       "profile",   "export",
	"convert", "offload", "ckpt",      "train-",         "-train",    "parallel",
	"overlap", "comm",    "lora-lr",   "load-",          "index-str", "-ntrain",
	"-bias",   "swap",    "retro",     "num-layer-list", NULL,
};

static bool holds(const char *name, const char *const *words)
{
	while (*words && !strstr(name, *words))
		words++;
	return *words != NULL;
}

static bool begins(const char *name, const char *const *words)
{
	while (*words && strncmp(name, *words, strlen(*words)) != 0)
		words++;
	return *words != NULL;
}

/* Whether a value says that there is something. */
static bool says_so(const char *value)
{
	static const char *const nothing[] = { "0",     "0.0",  "-1",    "None",
					       "false", "none", "False", NULL };

	return !word_among(value, nothing);
}

static bool is_left(const char *name)
{
	return !megatron_flag(name) && !megatron_plan_flag(name) &&
	       !megatron_model_flag(name);
}

/* FlagScale's, of which its reader has made a width. */
static bool is_width(const struct arguments *arguments, const char *name)
{
	const struct argument *of = arguments_find(arguments, "multiple-of"),
			      *width = arguments_find(arguments, "ffn-hidden-size");

	return of && width && width->line == of->line &&
	       strcmp(name, "hidden-dim-multiplier") == 0;
}

static bool is_unread(const struct arguments *arguments, char *why, size_t size)
{
	size_t used = 0;

	why[0] = '\0';
	for (int i = 0; i < arguments->count; i++) {
		const struct argument *a = &arguments->item[i];

		if (!is_left(a->name) || arguments_find(arguments, a->name) != a ||
		    !(holds(a->name, parts) || begins(a->name, heads)) ||
		    strncmp(a->name, "no-", 3) == 0 || holds(a->name, trifles) ||
		    is_width(arguments, a->name) || !says_so(a->value) ||
		    used >= size - 60)
			continue;
		used += (size_t)snprintf(why + used, size - used, "%s--%.40s",
					 used ? ", " : "not read: ", a->name);
	}
	return used > 0;
}

int64_t megatron_noops(const struct arguments *arguments)
{
	const struct argument *a = arguments_find(arguments, "noop-layers");
	int64_t count = 0;

	for (const char *at = a ? a->value : ""; *at != '\0';) {
		at += strspn(at, ", \"'");
		count += *at >= '0' && *at <= '9';
		at += strcspn(at, ", \"'");
	}
	return count;
}

int64_t megatron_dense_first(const struct arguments *arguments)
{
	const struct argument *a = arguments_find(arguments, "first-k-dense-replace");

	return a ? strtoll(a->value, NULL, 10) : 0;
}

bool megatron_is_mamba(const struct arguments *arguments, const struct argument **drawn)
{
	static const char *const ratios[] = { "hybrid-attention-ratio",
					      "hybrid-mlp-ratio" };
	const struct argument *program = arguments_find(arguments, "program"),
			      *spec = arguments_find(arguments, "spec");

	if (!(program && strstr(program->value, "mamba")) &&
	    !(spec && strstr(spec->value, "mamba")))
		return false;
	for (size_t i = 0; i < 2; i++) {
		const struct argument *a = arguments_find(arguments, ratios[i]);

		if (a && strtod(a->value, NULL) > 0)
			*drawn = a;
	}
	return true;
}

/* Layers that another package builds, whatever the flags say: MindSpeed's take theirs
 * from flags, Megatron's own too. */
static const struct argument *foreign_spec(const struct arguments *arguments)
{
	const struct argument *spec = arguments_find(arguments, "spec");

	return spec && strstr(spec->value, ".models") &&
			       strncmp(spec->value, "megatron", 8) != 0 &&
			       strncmp(spec->value, "mindspeed", 9) != 0
		       ? spec
		       : NULL;
}

void megatron_note_doubts(const struct arguments *arguments, struct model *m,
			  int64_t index_topk)
{
	const struct argument *spec = foreign_spec(arguments);
	char why[MAX_NOTE];

	if (arguments_find(arguments, "encoder-num-layers"))
		snprintf(m->approximate, sizeof m->approximate,
			 "encoder-decoder: read as its decoder only");
	if (arguments_find(arguments, "experimental-attention-variant") &&
	    index_topk == 0)
		snprintf(m->approximate, sizeof m->approximate,
			 "an experimental attention variant is read as full attention");
	if (spec)
		snprintf(m->approximate, sizeof m->approximate,
			 "--spec %.60s builds its layers: read as the flags say",
			 spec->value);
	if (is_unread(arguments, why, sizeof why))
		snprintf(m->approximate, sizeof m->approximate, "%s", why);
	if (megatron_doubt(arguments))
		snprintf(m->approximate, sizeof m->approximate, "%s",
			 megatron_doubt(arguments));
}
