/* trust.c - see trust.h. */
#include "engine/trust/trust.h"

#include <stdio.h>
#include <string.h>

static const char *const levels[TRUST_COUNT] = { "measured", "published", "open" };

static const char *const words[TRUST_FEATURES] = {
	[FEATURE_ZERO_1] = "zero-1",
	[FEATURE_ZERO_2] = "zero-2",
	[FEATURE_ZERO_3] = "zero-3",
	[FEATURE_ZERO_2_PP] = "zero-2-or-3-with-pp",
	[FEATURE_SHARD_GROUP] = "shard-group",
	[FEATURE_TP] = "tp",
	[FEATURE_TP_WIDE] = "tp-beyond-the-fast-domain",
	[FEATURE_SP] = "sp",
	[FEATURE_PP] = "pp",
	[FEATURE_INTERLEAVED] = "interleaved",
	[FEATURE_OTHER_SCHEDULE] = "other-schedule",
	[FEATURE_CP_RING] = "cp-ring",
	[FEATURE_CP_ALL_GATHER] = "cp-all-gather",
	[FEATURE_CP_ULYSSES] = "cp-ulysses",
	[FEATURE_EP] = "ep",
	[FEATURE_EP_ALONE] = "one-expert-per-rank",
	[FEATURE_ETP] = "etp",
	[FEATURE_EP_OVERLAP] = "ep-overlap",
	[FEATURE_FP16] = "fp16",
	[FEATURE_FP32] = "fp32",
	[FEATURE_FP8] = "fp8",
	[FEATURE_MXFP8] = "mxfp8",
	[FEATURE_NVFP4] = "nvfp4",
	[FEATURE_SELECTIVE] = "recompute-selective",
	[FEATURE_FULL] = "recompute-full",
	[FEATURE_OPTIMIZER_OFFLOAD] = "optimizer-offload",
	[FEATURE_ACTIVATION_OFFLOAD] = "activation-offload",
	[FEATURE_OTHER_OPTIMIZER] = "other-optimizer",
	[FEATURE_LORA] = "lora",
	[FEATURE_FROZEN] = "frozen-layers",
	[FEATURE_ATTENTION_COPIES] = "attention-copies",
	[FEATURE_KV_SHARDS] = "kv-shards",
	[FEATURE_NARROW_KV] = "kv-precision",
	[FEATURE_POOLS] = "prefill-pools",
	[FEATURE_SPECULATIVE] = "speculative",
	[FEATURE_WHOLE_PROMPTS] = "whole-prompts",
	[FEATURE_MORE_EXPERTS] = "redundant-experts",
	[FEATURE_OTHER_PRECISION] = "other-precision",
	[FEATURE_SPARSE_ATTENTION] = "sparse-attention",
	[FEATURE_COMPRESSED_ATTENTION] = "compressed-attention",
};

_Static_assert((int)TRUST_FEATURES <= 64, "features are bits");

const char *trust_word(enum trust level)
{
	return (unsigned)level < TRUST_COUNT ? levels[level] : "";
}

const char *trust_label(const struct doubts *doubts)
{
	return doubts->level == TRUST_MEASURED && doubts->apart != 0
		       ? "in parts"
		       : trust_word(doubts->level);
}

enum trust trust_find(const char *word)
{
	int i = 0;

	while (i < TRUST_COUNT && strcmp(levels[i], word) != 0)
		i++;
	return (enum trust)i;
}

const char *trust_feature_word(int feature)
{
	return feature >= 0 && feature < TRUST_FEATURES ? words[feature] : "";
}

int trust_feature_find(const char *word)
{
	int i = 0;

	if (strcmp(word, "one-expert-a-rank") == 0)
		return FEATURE_EP_ALONE;
	while (i < TRUST_FEATURES && strcmp(words[i], word) != 0)
		i++;
	return i;
}

static uint64_t bit(bool is, enum trust_feature feature)
{
	return is ? UINT64_C(1) << feature : 0;
}

static uint64_t sharding_features(const struct scenario *s)
{
	const struct plan *p = &s->plan;
	int64_t ranks = scenario_dp(s) * p->cp;

	/* one rank has nothing to share */
	if (ranks <= 1)
		return 0;
	return bit(p->zero == 1, FEATURE_ZERO_1) | bit(p->zero == 2, FEATURE_ZERO_2) |
	       bit(p->zero == 3, FEATURE_ZERO_3) |
	       bit(p->zero >= 2 && p->pp > 1, FEATURE_ZERO_2_PP) |
	       bit(p->zero > 0 && p->zero_group > 0 && p->zero_group < ranks,
		   FEATURE_SHARD_GROUP);
}

static uint64_t layer_features(const struct scenario *s)
{
	const struct plan *p = &s->plan;
	int64_t experts = s->model.moe.experts;
	bool cp = p->cp > 1, ep = experts > 0 && p->ep > 1;

	return bit(p->tp > 1, FEATURE_TP) |
	       bit(p->tp > cluster_domain(&s->cluster), FEATURE_TP_WIDE) |
	       bit(p->tp > 1 && p->sp, FEATURE_SP) |
	       bit(cp && p->cp_kind == CP_RING, FEATURE_CP_RING) |
	       bit(cp && p->cp_kind == CP_ALL_GATHER, FEATURE_CP_ALL_GATHER) |
	       bit(cp && p->cp_kind == CP_ULYSSES, FEATURE_CP_ULYSSES) |
	       bit(ep, FEATURE_EP) | bit(ep && p->ep >= experts, FEATURE_EP_ALONE) |
	       bit(experts > 0 && scenario_etp(s) > 1, FEATURE_ETP) |
	       bit(ep && p->ep_overlap, FEATURE_EP_OVERLAP);
}

static uint64_t pipeline_features(const struct scenario *s)
{
	const struct plan *p = &s->plan;
	bool chunked = scenario_chunks(s) > 1;
	bool known =
		p->schedule == SCHEDULE_1F1B || p->schedule == SCHEDULE_INTERLEAVED;

	if (p->pp <= 1)
		return 0;
	return bit(true, FEATURE_PP) |
	       bit(p->schedule == SCHEDULE_INTERLEAVED && chunked,
		   FEATURE_INTERLEAVED) |
	       bit(!known, FEATURE_OTHER_SCHEDULE);
}

static uint64_t precisions(const struct plan *p)
{
	return bit(p->precision == PRECISION_FP16, FEATURE_FP16) |
	       bit(p->precision == PRECISION_FP32, FEATURE_FP32) |
	       bit(p->precision == PRECISION_FP8, FEATURE_FP8) |
	       bit(p->precision == PRECISION_MXFP8, FEATURE_MXFP8) |
	       bit(p->precision == PRECISION_NVFP4, FEATURE_NVFP4) |
	       bit(!precision_table[p->precision].trains, FEATURE_OTHER_PRECISION);
}

static uint64_t memory_features(const struct plan *p)
{
	return precisions(p) |
	       bit(p->recompute == RECOMPUTE_SELECTIVE, FEATURE_SELECTIVE) |
	       bit(p->recompute == RECOMPUTE_FULL, FEATURE_FULL) |
	       bit(p->optimizer_offload > 0, FEATURE_OPTIMIZER_OFFLOAD) |
	       bit(plan_sends_activations(p), FEATURE_ACTIVATION_OFFLOAD) |
	       bit(p->optimizer != OPTIMIZER_ADAMW, FEATURE_OTHER_OPTIMIZER) |
	       bit(p->lora_rank > 0, FEATURE_LORA) |
	       bit(p->lora_rank == 0 && p->frozen_layers > 0, FEATURE_FROZEN);
}

static uint64_t find_network(const struct model *m)
{
	uint64_t features = 0;

	for (int i = 0; i < m->kinds; i++) {
		const struct attention *a = &m->kind[i].attention;

		features |= bit(a->index_topk > 0, FEATURE_SPARSE_ATTENTION) |
			    bit(a->compress > 0, FEATURE_COMPRESSED_ATTENTION);
	}
	return features;
}

static uint64_t serving_features(const struct scenario *s)
{
	const struct plan *p = &s->plan;
	const struct serving_plan *v = &p->serving;
	int64_t experts = s->model.moe.experts;
	bool ep = experts > 0 && p->ep > 1;

	return bit(p->tp > 1, FEATURE_TP) |
	       bit(p->tp > cluster_domain(&s->cluster), FEATURE_TP_WIDE) |
	       bit(p->pp > 1, FEATURE_PP) | bit(p->cp > 1, FEATURE_CP_RING) |
	       bit(ep, FEATURE_EP) | bit(ep && p->ep >= experts, FEATURE_EP_ALONE) |
	       bit(v->dp_attention > 1, FEATURE_ATTENTION_COPIES) |
	       bit(v->kv_shards > 1, FEATURE_KV_SHARDS) |
	       bit(v->kv_precision != KV_AUTO && v->kv_precision != KV_BF16,
		   FEATURE_NARROW_KV) |
	       bit(v->disaggregated, FEATURE_POOLS) |
	       bit(v->speculative > 0, FEATURE_SPECULATIVE) |
	       bit(!v->chunked_prefill, FEATURE_WHOLE_PROMPTS) |
	       bit(ep && v->redundant_experts > 0, FEATURE_MORE_EXPERTS) |
	       precisions(p);
}

int64_t trust_gpus(const struct scenario *s)
{
	const struct plan *p = &s->plan;
	const struct serving_plan *v = &p->serving;
	int64_t engine = p->tp * p->pp * p->cp;

	if (p->mode == MODE_TRAINING)
		return s->cluster.gpus;
	return engine * (v->dp_attention > 1 ? v->dp_attention : 1);
}

uint64_t trust_features(const struct scenario *s)
{
	if (s->plan.mode == MODE_INFERENCE)
		return serving_features(s) | find_network(&s->model);
	return sharding_features(s) | layer_features(s) | pipeline_features(s) |
	       memory_features(&s->plan) | find_network(&s->model);
}

static int count_bits(uint64_t bits)
{
	int count = 0;

	for (; bits != 0; bits &= bits - 1)
		count++;
	return count;
}

/* What the run that had most of the features lacked of them. */
static uint64_t find_lacking(const struct evidence *known, uint64_t features)
{
	uint64_t least = features;

	for (int i = 0; i < MAX_TOGETHER && known->together[i] != 0; i++) {
		uint64_t lacking = features & ~known->together[i];

		if (count_bits(lacking) < count_bits(least))
			least = lacking;
	}
	return least;
}

enum trust trust_of(const struct scenario *s, struct doubts *out)
{
	static const struct evidence none;
	bool other = (s->plan.mode == MODE_INFERENCE) != s->stack.serves;
	/* a stack's lists are of what it is for */
	const struct evidence *known = other ? &none : &s->stack.evidence;
	uint64_t features = trust_features(s);
	int64_t gpus = trust_gpus(s);
	bool beyond;

	out->unmeasured = features & ~known->measured;
	out->unpublished = out->unmeasured & ~known->published;
	out->large = gpus > TRUST_SCALE * known->measured_gpus;
	out->machine = scenario_unmeasured(s);
	beyond = out->large && gpus > TRUST_SCALE * known->published_gpus;
	out->features = out->unpublished != 0  ? TRUST_OPEN
			: out->unmeasured != 0 ? TRUST_PUBLISHED
					       : TRUST_MEASURED;
	out->apart =
		out->features == TRUST_MEASURED ? find_lacking(known, features) : 0;
	if (out->machine || beyond)
		out->level = TRUST_OPEN;
	else if (out->large && out->features == TRUST_MEASURED)
		out->level = TRUST_PUBLISHED;
	else
		out->level = out->features;
	return out->level;
}

bool trust_suffices(const struct scenario *s, int asked)
{
	struct doubts doubts;
	int level = asked > 0 ? (int)trust_of(s, &doubts) : 0;

	if (asked == TRUST_OF_FEATURES)
		return doubts.features < TRUST_OPEN;
	return asked == 0 || level < asked;
}

struct text {
	char *out;
	size_t size, used;
};

static void add(struct text *text, const char *what)
{
	size_t room = text->size - text->used, length = strlen(what);

	length = length < room ? length : room - 1;
	memcpy(text->out + text->used, what, length);
	text->used += length;
	text->out[text->used] = '\0';
}

/* A feature's word as it is read: "recompute selective". */
static void add_word(struct text *text, int feature)
{
	char word[40];

	snprintf(word, sizeof word, "%s", words[feature]);
	for (char *at = word; *at != '\0'; at++)
		if (*at == '-' && (at[1] < '0' || at[1] > '9'))
			*at = ' ';
	add(text, word);
}

/* Features that nobody measured on the stack; where nobody measured anything on it,
 * those that nobody published either. */
static void add_features(const struct scenario *s, const struct doubts *doubts,
			 bool none, struct text *text)
{
	uint64_t told = none ? doubts->unpublished : doubts->unmeasured;
	bool first = true;

	for (int i = 0; i < TRUST_FEATURES; i++) {
		if ((told >> i & 1) == 0)
			continue;
		if (first) {
			add(text, text->used ? "; " : "");
			add(text, none ? "nor published on " : "not measured on ");
			add(text, s->stack.name);
		}
		add(text, first ? ": " : ", ");
		add_word(text, i);
		if (!none && (doubts->unpublished >> i & 1))
			add(text, " (nor published)");
		first = false;
	}
}

size_t trust_text(const struct scenario *s, const struct doubts *doubts, char *out,
		  size_t size)
{
	struct text text = { out, size, 0 };
	bool none = doubts->large && s->stack.evidence.measured_gpus < 1;
	char gpus[96];

	out[0] = '\0';
	if (doubts->machine)
		add(&text, s->plan.mode == MODE_INFERENCE
				   ? "nothing is fitted to servers of this accelerator"
				   : "nobody measured this accelerator");
	if (none) {
		snprintf(gpus, sizeof gpus, "%sno measured %s on %.32s",
			 text.used ? "; " : "",
			 s->plan.mode == MODE_INFERENCE ? "engine" : "run",
			 s->stack.name);
		add(&text, gpus);
	} else if (doubts->large) {
		snprintf(gpus, sizeof gpus, "%slargest measured %s: %lld GPUs",
			 text.used ? "; " : "",
			 s->plan.mode == MODE_INFERENCE ? "engine" : "run",
			 (long long)s->stack.evidence.measured_gpus);
		add(&text, gpus);
	}
	add_features(s, doubts, none, &text);
	return text.used;
}

size_t trust_apart_text(const struct doubts *doubts, char *out, size_t size)
{
	struct text text = { out, size, 0 };
	bool first = true;

	out[0] = '\0';
	if (doubts->apart == 0)
		return 0;
	add(&text, "no measured run had all of it, the nearest lacks ");
	for (int i = 0; i < TRUST_FEATURES; i++) {
		if ((doubts->apart >> i & 1) == 0)
			continue;
		add(&text, first ? "" : ", ");
		add_word(&text, i);
		first = false;
	}
	return text.used;
}
