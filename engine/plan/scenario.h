/* scenario.h - model + cluster + stack + plan: all that an estimate depends on.
 *
 * A plain value: copy it, change a knob, estimate again.
 */
#ifndef ENGINE_PLAN_SCENARIO_H
#define ENGINE_PLAN_SCENARIO_H

#include "engine/machine/cluster.h"
#include "engine/machine/stack.h"
#include "engine/model/model.h"
#include "engine/plan/plan.h"

struct scenario {
	struct model model;
	struct cluster cluster;
	struct stack stack;
	struct plan plan;
};

/* A complete, legal starting point: every field of the plan set, one GPU,
 * bf16, no recomputation. Model, cluster and stack are left zero. */
void scenario_defaults(struct scenario *scenario);

/* world / (a b c); 0 if it does not divide. */
int64_t scenario_quotient(int64_t world, int64_t a, int64_t b, int64_t c);
/* Data parallel degree world / (tp*cp*pp); 0 if it does not divide. */
int64_t scenario_dp(const struct scenario *scenario);
/* Expert tensor parallel degree after the stack's rule. */
int64_t scenario_etp(const struct scenario *scenario);
/* Ranks that hold replicas of an expert, world / (etp*ep*pp); 0 if none. */
int64_t scenario_edp(const struct scenario *scenario);
/* Micro-batches per pipeline and step; 0 if it is not whole. */
int64_t scenario_micro_batches(const struct scenario *scenario);
/* The global batch of so many micro-batches, at least 1; 0: the degrees don't divide,
 * or there would be too many sequences. */
int64_t scenario_batch_of(const struct scenario *scenario, int64_t micro_batches);
/* Vocabulary rows after padding to the stack's multiple. */
int64_t scenario_padded_vocab(const struct scenario *scenario);
/* Virtual stages per rank that the schedule really uses. */
int64_t scenario_chunks(const struct scenario *scenario);
/* GPUs of the pool that only prefills; 0 unless the server is disaggregated. */
int64_t scenario_prefill_gpus(const struct scenario *scenario);
/* Degrees of an engine that only prefills: its own, or those of one that decodes. */
struct engine_degrees {
	int64_t tp, pp, ep, dp_attention;
};
struct engine_degrees scenario_prefill_engine(const struct scenario *scenario);
/* Smallest world these degrees can run on: pp * lcm(tp*cp, ep*etp). */
int64_t scenario_smallest_world(const struct scenario *scenario);

/* Whether nothing is fitted to measured runs of its accelerator in its mode: steps of
 * training, or servers. */
bool scenario_unmeasured(const struct scenario *scenario);
/* Among which runs its numbers are as sure as theirs. */
enum run_kind scenario_run_kind(const struct scenario *scenario);

/* Tokens that attend to each other: of a sequence, or of each document packed into it,
 * in the mean. */
int64_t scenario_attended_len(const struct scenario *scenario);
/* ZeRO 1 of a stack that sums whole fp32 gradients behind the last backward. */
bool scenario_sums_behind(const struct scenario *scenario);
/* Whether matrix products of training run in fp8 or fp4. */
bool scenario_trains_narrow(const struct scenario *scenario);
/* Whether its attention runs in fp8: flash kernels alone do. */
bool scenario_attends_narrow(const struct scenario *scenario);
/* Whether activations go to the host and come back. */
bool plan_sends_activations(const struct plan *plan);
/* Whether the first layers of what it trains do not train, and whether its head does
 * not either. */
bool scenario_freezes(const struct scenario *scenario);
bool scenario_freezes_head(const struct scenario *scenario);
/* Its layers that stay in 16 bits, or do not train, as kinds of their own, or no longer
 * so. */
void scenario_mark(struct scenario *scenario);
/* The same of a copy in `room`, where there are such layers; else the scenario. */
const struct scenario *scenario_marked(const struct scenario *scenario,
				       struct scenario *room);

#endif
