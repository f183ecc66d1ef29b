/* trust.h - has anybody run such a plan? From features of measured runs and published
 * plans, as the stack's YAML lists them: of training, or of servers where the stack
 * serves. */
#ifndef ENGINE_TRUST_H
#define ENGINE_TRUST_H

#include <stddef.h>
#include <stdint.h>

#include "engine/plan/scenario.h"

enum trust { TRUST_MEASURED, TRUST_PUBLISHED, TRUST_OPEN, TRUST_COUNT };

/* The bits of struct evidence: what a plan can be made of. */
enum trust_feature {
	FEATURE_ZERO_1,
	FEATURE_ZERO_2,
	FEATURE_ZERO_3,
	FEATURE_ZERO_2_PP, /* ZeRO 2 or 3 beside a pipeline */
	FEATURE_SHARD_GROUP,
	FEATURE_TP,
	FEATURE_TP_WIDE, /* TP beyond the fast domain */
	FEATURE_SP,
	FEATURE_PP,
	FEATURE_INTERLEAVED,
	FEATURE_OTHER_SCHEDULE,
	FEATURE_CP_RING,
	FEATURE_CP_ALL_GATHER,
	FEATURE_CP_ULYSSES,
	FEATURE_EP,
	FEATURE_EP_ALONE, /* one expert a rank: a hot expert is a hot rank */
	FEATURE_ETP,
	FEATURE_EP_OVERLAP,
	FEATURE_FP16,
	FEATURE_FP32,
	FEATURE_FP8,
	FEATURE_MXFP8,
	FEATURE_NVFP4,
	FEATURE_SELECTIVE,
	FEATURE_FULL,
	FEATURE_OPTIMIZER_OFFLOAD,
	FEATURE_ACTIVATION_OFFLOAD,
	FEATURE_OTHER_OPTIMIZER, /* than AdamW in fp32 */
	FEATURE_LORA,
	FEATURE_FROZEN, /* layers that do not train */
	/* of servers */
	FEATURE_ATTENTION_COPIES,
	FEATURE_KV_SHARDS,
	FEATURE_NARROW_KV, /* a precision of the cache that was asked for */
	FEATURE_POOLS,     /* prefill on GPUs of its own */
	FEATURE_SPECULATIVE,
	FEATURE_WHOLE_PROMPTS, /* prompts are not cut */
	FEATURE_MORE_EXPERTS,  /* copies of busy ones */
	FEATURE_OTHER_PRECISION,
	/* of the network, whatever the plan */
	FEATURE_SPARSE_ATTENTION,     /* an indexer picks what is seen */
	FEATURE_COMPRESSED_ATTENTION, /* an entry of several tokens */
	TRUST_FEATURES
};

/* Why a plan is not measured. */
struct doubts {
	enum trust level;
	uint64_t unmeasured;  /* features in no measured run of the stack */
	uint64_t unpublished; /* of these, those in no published plan either */
	bool large;           /* many times the GPUs of what was run */
	bool machine;         /* nobody measured this accelerator */
	enum trust features;  /* the level by its features alone */
	/* Of a plan each feature of which was measured: those that the run which had
	 * most of them lacked. 0 where one had all. */
	uint64_t apart;
};

/* More than so many times the largest measured number of GPUs is no more measured. */
enum { TRUST_SCALE = 4 };
/* What may be asked of a plan: 0 nothing, 1 + the least level, or that its features are
 * published at least, on a machine or so many GPUs as nobody measured. */
enum { TRUST_OF_FEATURES = 1 + TRUST_COUNT };

/* "measured", "published", "open"; TRUST_COUNT if there is none. */
const char *trust_word(enum trust level);
enum trust trust_find(const char *word);
/* The same of a plan, where "in parts" is measured, but never all of it in one run. */
const char *trust_label(const struct doubts *doubts);
/* "zero-3", "one-expert-per-rank": the words of the YAML. */
const char *trust_feature_word(int feature);
/* The feature that such a word names, an earlier word of it too; TRUST_FEATURES if
 * there is none. */
int trust_feature_find(const char *word);
/* What the plan is made of, as bits. */
uint64_t trust_features(const struct scenario *scenario);
/* GPUs that work on one thing: all of a training run, an engine of a server. */
int64_t trust_gpus(const struct scenario *scenario);
enum trust trust_of(const struct scenario *scenario, struct doubts *out);
/* Whether the plan is what is asked of it. */
bool trust_suffices(const struct scenario *scenario, int asked);
/* "in no measured run of deepspeed: zero-3 (nor published), cp-ring"; empty where
 * nothing lowers it. */
size_t trust_text(const struct scenario *scenario, const struct doubts *doubts,
		  char *out, size_t size);
/* "no measured run had all of it, the nearest lacks ep, fp8"; empty where one had, or
 * where something was in none at all. */
size_t trust_apart_text(const struct doubts *doubts, char *out, size_t size);

#endif
