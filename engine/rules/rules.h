/* rules.h - what the files of legality share.
 *
 * A rule is a row of a table: its words, the bit of struct stack that switches it
 * on (0 = it holds on every stack, or by definition), and a function that says
 * whether a scenario breaks it. Functions run inside every estimate, so they only
 * calculate; terms and remedies are filled in when a rule is broken.
 */
#ifndef ENGINE_RULES_RULES_H
#define ENGINE_RULES_RULES_H

#include "engine/knob/knob.h"
#include "engine/plan/scenario.h"
#include "engine/plan/split.h"
#include "engine/rules/legality.h"

/* The degrees, derived once for all rules. */
struct facts {
	const struct scenario *scenario;
	const struct plan *plan;
	const struct model *model;
	int64_t world, tp, pp, cp, dp, ep, etp, micro_batches, chunks;
	bool moe, chunked;          /* chunked: several chunks a stage, in effect */
	bool interleaved;           /* and one pass after the other, as Megatron does */
	struct layout_facts layout; /* of SPLIT_CUSTOM */
};

enum mend_kind {
	MEND_NONE,
	MEND_VALUE,    /* n itself */
	MEND_MULTIPLE, /* the nearest multiples of n */
	MEND_DIVISOR,  /* the nearest divisors of n */
	MEND_AROUND    /* the knob's own candidate values */
};

/* A way out: this knob set to a value of that kind. */
struct mend {
	const char *knob;
	enum mend_kind kind;
	int64_t n;
};

enum { MAX_MENDS = 3 };

struct broken {
	double value[MAX_TERMS];
	struct mend mend[MAX_MENDS]; /* tried in this order */
};

struct legality {
	struct rule rule;
	int bit; /* En; 0 = every stack */
	bool (*breaks)(const struct facts *facts, struct broken *out);
	/* Keys of the knobs that can change its verdict: once those are chosen, it is
	 * known. */
	const char *reads;
};

/* The rules of the scenario's mode. */
const struct legality *rules_of(const struct scenario *scenario, int *count);
/* The degrees of this scenario; what does not divide is 0. */
void rules_derive(const struct scenario *scenario, struct facts *facts);
/* Whether every count is in the range that the functions below can take. */
bool rules_countable(const struct scenario *scenario);
/* Whether the rule reads the knob of this key. */
bool rules_reads(const struct legality *row, const char *key);
/* Whether this stack has the rule. */
bool rules_hold(const struct legality *row, const struct stack *stack);

/* The rows, errors before warnings. */
extern const struct legality legality_table[]; /* of training */
int legality_count(void);
extern const struct legality serving_table[]; /* of mode inference */
int serving_rules(void);

bool breaks_e1(const struct facts *f, struct broken *out);
bool breaks_e2(const struct facts *f, struct broken *out);
bool breaks_e3(const struct facts *f, struct broken *out);
bool breaks_e4(const struct facts *f, struct broken *out);
bool breaks_e5(const struct facts *f, struct broken *out);
bool breaks_e6(const struct facts *f, struct broken *out);
bool breaks_e7(const struct facts *f, struct broken *out);
bool breaks_e8(const struct facts *f, struct broken *out);
bool breaks_e8_counted(const struct facts *f, struct broken *out);
bool breaks_e8_even(const struct facts *f, struct broken *out);
bool breaks_e8_even_counted(const struct facts *f, struct broken *out);
bool breaks_e9(const struct facts *f, struct broken *out);
bool breaks_e9_even(const struct facts *f, struct broken *out);
bool breaks_e10(const struct facts *f, struct broken *out);
bool breaks_e12_single(const struct facts *f, struct broken *out);
bool breaks_e12_pair(const struct facts *f, struct broken *out);
bool breaks_e13(const struct facts *f, struct broken *out);
bool breaks_e13_group(const struct facts *f, struct broken *out);
bool breaks_e14(const struct facts *f, struct broken *out);
bool breaks_e15(const struct facts *f, struct broken *out);
bool breaks_e16(const struct facts *f, struct broken *out);
bool breaks_e16_dense(const struct facts *f, struct broken *out);
bool breaks_e17(const struct facts *f, struct broken *out);
bool breaks_e17_empty(const struct facts *f, struct broken *out);
bool breaks_e18_gemm(const struct facts *f, struct broken *out);
bool breaks_e18_mla(const struct facts *f, struct broken *out);
bool breaks_e19(const struct facts *f, struct broken *out);
bool breaks_e20(const struct facts *f, struct broken *out);
bool breaks_e21_full(const struct facts *f, struct broken *out);
bool breaks_e21_chunks(const struct facts *f, struct broken *out);
bool breaks_e21_dispatcher(const struct facts *f, struct broken *out);
bool breaks_e21_moe(const struct facts *f, struct broken *out);
bool breaks_e21_alone(const struct facts *f, struct broken *out);
bool breaks_e21_precision(const struct facts *f, struct broken *out);
bool breaks_e21_shared(const struct facts *f, struct broken *out);
bool breaks_e22_layers(const struct facts *f, struct broken *out);
bool breaks_e22_pp(const struct facts *f, struct broken *out);
bool breaks_e22_recompute(const struct facts *f, struct broken *out);
bool breaks_e22_graphs(const struct facts *f, struct broken *out);
bool breaks_e23(const struct facts *f, struct broken *out);
bool breaks_e24(const struct facts *f, struct broken *out);
bool breaks_e26(const struct facts *f, struct broken *out);
bool breaks_e27(const struct facts *f, struct broken *out);
bool breaks_e28(const struct facts *f, struct broken *out);
bool breaks_e29(const struct facts *f, struct broken *out);
bool breaks_e30(const struct facts *f, struct broken *out);
bool breaks_e31(const struct facts *f, struct broken *out);
bool breaks_e32(const struct facts *f, struct broken *out);
bool breaks_e33(const struct facts *f, struct broken *out);
bool breaks_e34(const struct facts *f, struct broken *out);
bool breaks_e35(const struct facts *f, struct broken *out);
bool breaks_e36(const struct facts *f, struct broken *out);
bool breaks_e36_stage(const struct facts *f, struct broken *out);
bool breaks_e37(const struct facts *f, struct broken *out);
bool breaks_e37_layers(const struct facts *f, struct broken *out);
bool breaks_e38(const struct facts *f, struct broken *out);

bool breaks_heads(const struct facts *f, struct broken *out);
bool breaks_ulysses(const struct facts *f, struct broken *out);
bool breaks_scan(const struct facts *f, struct broken *out);
bool breaks_sequence(const struct facts *f, struct broken *out);
bool breaks_positions(const struct facts *f, struct broken *out);
bool breaks_documents(const struct facts *f, struct broken *out);
bool breaks_shard_group(const struct facts *f, struct broken *out);
bool breaks_expert_width(const struct facts *f, struct broken *out);
bool breaks_precision(const struct facts *f, struct broken *out);
bool breaks_wide_layers(const struct facts *f, struct broken *out);
bool breaks_wide_kinds(const struct facts *f, struct broken *out);
bool breaks_trained_precision(const struct facts *f, struct broken *out);
bool breaks_host_link(const struct facts *f, struct broken *out);
bool breaks_recipe(const struct facts *f, struct broken *out);
bool breaks_frozen_layers(const struct facts *f, struct broken *out);
bool breaks_frozen_stages(const struct facts *f, struct broken *out);
bool breaks_lora(const struct facts *f, struct broken *out);
bool breaks_balance(const struct facts *f, struct broken *out);
bool breaks_stages(const struct facts *f, struct broken *out);
bool breaks_capacity(const struct facts *f, struct broken *out);
bool breaks_layout_text(const struct facts *f, struct broken *out);
bool breaks_layout_layers(const struct facts *f, struct broken *out);
bool breaks_split(const struct facts *f, struct broken *out);
bool breaks_even_stages(const struct facts *f, struct broken *out);
bool breaks_even_batches(const struct facts *f, struct broken *out);
bool breaks_few_batches(const struct facts *f, struct broken *out);
bool breaks_own_chunks(const struct facts *f, struct broken *out);
bool breaks_chunks(const struct facts *f, struct broken *out);
bool breaks_nodes(const struct facts *f, struct broken *out);
bool breaks_zero3_pipeline(const struct facts *f, struct broken *out);
bool breaks_ability(const struct facts *f, struct broken *out); /* ability.c */
bool breaks_trust(const struct facts *f, struct broken *out);   /* ability.c */

#endif
