/* planner.h - which plan is best? Exact search over values of some knobs, with a proof.
 *
 * The answer is the optimum of train_estimate() itself. Combinations are sorted by a
 * bound that no plan with these values can beat, and tried in that order until the
 * bound is worse than the answer (branch and bound, Land & Doig 1960, best first). The
 * search works in slices, so that a caller can draw, stop or start anew between them.
 */
#ifndef ENGINE_PLANNER_H
#define ENGINE_PLANNER_H

#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"
#include "engine/predict/objective.h"

enum {
	MAX_AXES = 24,
	MAX_AXIS_VALUES = 48,
	MAX_TOP = 64,               /* that can be asked for */
	MAX_KEPT = 2 * MAX_TOP + 1, /* with those like them, and one more at work */
};

/* A knob and the values that it may take. */
struct planner_axis {
	const struct knob *knob;
	bool said; /* a person's own values, though they may be the usual ones */
	int count;
	double value[MAX_AXIS_VALUES];
};

struct planner_problem {
	struct scenario base; /* every other knob */
	int axes;
	struct planner_axis axis[MAX_AXES];
	/* Of servers that score the same, as all do that keep up with a rate, that
	 * comes first whose mean request takes the shortest from its arrival to its
	 * last token. Other ties go to the plan that comes first in the order of the
	 * axes and their values. */
	enum objective objective;
	double reserve; /* share of the memory that stays free */
	int top;        /* how many of the best are wanted, 1 to MAX_TOP */
	/* So many ideas are wanted too (struct idea), with at most this many plans of
	 * each beside the best ones; 0 = plans, whatever they are like. */
	int each;
	bool exhaustive;
	bool any;    /* one that fits will do, whichever: is there one at all? */
	bool strict; /* where nothing fits, the nearest miss is not wanted */
	/* What the stack's sheet lacks is proposed too (engine/rules/ability.h). Else
	 * it is where a person pinned it. */
	bool research;
	/* 1 + enum trust (engine/trust/trust.h): no plan that is less known; 0 = any.
	 * Values that none of them has are no usual ones. */
	int trust;
	/* It is the usual trust that nobody asked for: where no such plan fits, less
	 * known ones are taken. Who searches does that, by a search of its own. */
	bool falls_back;
};

/* The degrees of a plan of training, samples against CP counted together: plans that
 * share them differ in offload, recomputation, chunks or in how states are shared. */
struct idea {
	int64_t gpus, tp, sp, pp, ep, etp, batch, seq_len;
	double samples; /* of a micro-batch on each rank of CP */
};

struct planner_found {
	uint8_t choice[MAX_AXES]; /* index of each axis's value */
	double score, step_seconds, tokens_per_second_per_gpu, mfu, bubble_ratio;
	double memory_bytes, memory_share;
	/* of a server, whose step_seconds is that of a token; all with so many
	 * requests: those asked for, or the most that keep the goals where those are
	 * more */
	double ttft_seconds, request_seconds, requests;
	/* of one request in a hundred, where these have to keep the goals; else 0 */
	double slow_ttft_seconds, slow_tpot_seconds;
	/* of a server: some request keeps the goals, if there are any; all that come at
	 * a rate are served */
	bool keeps_goals, keeps_up;
	/* of its good tokens: requests that they are, and what a million costs */
	double requests_per_second, dollars_per_million_tokens;
	struct idea idea; /* of training */
};

/* Where the candidates went: all of them add up to `candidates`. */
struct planner_counts {
	double candidates, explored; /* explored: whose step was worked out */
	double repeated;  /* the same plan under another name (VPP of 1F1B, SP at TP 1)
			   */
	double undivided; /* degrees that don't divide the GPUs or the batch */
	double unruly;    /* break a rule whatever the inner knobs are */
	double bounded;   /* no better than the answer could be */
	double too_large; /* don't fit, which showed before their time was known */
	double illegal, out_of_memory; /* of the explored */
	/* of the undivided and unruly: by the rule that they break first, a row of the
	 * mode's rules, rules_of() in engine/rules/rules.h */
	double broken[MAX_RULES];
};

struct planner_result {
	struct planner_counts counts;
	int found; /* best first */
	struct planner_found top[MAX_KEPT];
	bool has_nearest; /* where nothing fits: the legal plan that needs least */
	struct planner_found nearest;
	bool done;
	bool failed;     /* no memory: it ended, and what is missing is not proved */
	double progress; /* 0 to 1 */
};

struct planner;

/* How many plans of each idea are kept where so many ideas are asked for. */
int planner_each(int top);
/* Whose idea a plan of training is. */
void planner_idea(const struct scenario *scenario, struct idea *out);

/* Bytes that a plan may take: the usable ones without the reserve; of a server all. */
double planner_room(const struct planner_problem *problem,
		    const struct scenario *scenario);

/* The usual axes for this scenario: the degrees, micro-batch, ZeRO, recomputation and
 * schedule. Activation offload is none of them, beyond what the scenario has itself: no
 * measured run covers it, so it is free only where it is pinned to several values. */
void planner_axes(struct planner_problem *problem);
/* Whether activation offload could be tried here, but is not: the hosts' memory is
 * known, and nobody asked. */
bool planner_leaves_offload(const struct planner_problem *problem);
/* Whether nobody measured this accelerator: then plans that are left out for their
 * memory may fit all the same (unsure in engine/estimate/estimate.h). */
bool planner_is_unsure(const struct planner_problem *problem);
/* The rows of the stack's sheet that hold in this search, for stack.held: those that
 * speak of an axis whose values are the usual ones. */
uint64_t planner_held(const struct planner_problem *problem);
/* Whether no plan that is known as well as the problem asks has this value of the knob:
 * it is a feature that the stack's runs and plans lack, alone. trusted.c */
bool planner_distrusts(const struct planner_problem *problem, const struct knob *knob,
		       double value);
/* What a search asks for unless it is told: measured or published plans; where this
 * machine or scale is in nobody's run, plans of measured or published features
 * (TRUST_OF_FEATURES); 0, any, where what is not searched is itself unknown, and for
 * servers. */
int planner_usual_trust(const struct scenario *base);
/* An axis by knob, added or replaced. False if there is no room for it. */
bool planner_pin(struct planner_problem *problem, const struct knob *knob,
		 const double *values, int count);
/* The same as a person types it: "4", "1,2,4" or "1..8". One value is set in the base
 * too. False with the reason in why. */
bool planner_pin_text(struct planner_problem *problem, const struct knob *knob,
		      const char *text, char *why, size_t size);
/* The axis of this knob if it was pinned: is not the usual one; else NULL. */
const struct planner_axis *planner_pinned(const struct planner_problem *problem,
					  const struct knob *knob);
/* The same question about another base: usual axes are made anew for it, others (pins)
 * stay. out may not be the problem. */
void planner_again(const struct planner_problem *problem, const struct scenario *base,
		   struct planner_problem *out);
/* The same with plans of another trust. */
void planner_again_at(const struct planner_problem *problem,
		      const struct scenario *base, int trust,
		      struct planner_problem *out);
/* The scenario of a found plan. */
void planner_scenario(const struct planner_problem *problem,
		      const struct planner_found *found, struct scenario *out);

/* "mbs1 TP4 PP8 Z1 VPP5 sel": the axes' values in a scenario, degrees of 1, what is
 * usual and what was given left out. */
void planner_name(const struct planner_problem *problem,
		  const struct scenario *scenario, char *out, size_t size);
/* The same with the knobs' whole names: "micro-batch 1, TP tensor 4, ZeRO 1". */
void planner_plain_name(const struct planner_problem *problem,
			const struct scenario *scenario, char *out, size_t size);
/* Adds to `out` what the short words of the name stand for, those that are not in it
 * already, two blanks apart: "mbs micro-batch  Z ZeRO  sel recompute selective". TP, PP
 * and the like are how the labels of their knobs begin. */
void planner_name_words(const struct planner_problem *problem,
			const struct scenario *scenario, char *out, size_t size);

/* NULL if memory runs out. The problem is copied. */
struct planner *planner_start(const struct planner_problem *problem);
/* Estimate up to `estimates` plans; false once all is known, or memory ran out. */
bool planner_step(struct planner *planner, int estimates);
const struct planner_result *planner_result(const struct planner *planner);
/* Once it is done: the same search from the start with more memory in reserve, by the
 * lists that are there, whose bounds have become what was found out of each node. Of
 * several searchers that which was split comes first. */
void planner_lessen(struct planner *planner, double reserve);
void planner_free(struct planner *planner);

/* --- several searchers of one problem, each on a thread of its own --- */

/* Shares what is left between this searcher and up to `count` new ones, which borrow
 * its lists: free them first. Once only. Returns how many were made. */
int planner_split(struct planner *planner, struct planner **parts, int count);
/* What the searchers together have found: nothing that is worse than as many plans as
 * are wanted need be looked for. */
void planner_expect(struct planner *planner, const struct planner_result *all);
/* Adds what this searcher found and counted to a result that begins as zero with done
 * true and progress 1. The plans are those that one searcher would find; the counts
 * add up, but who tried what differs. */
void planner_merge(const struct planner *planner, struct planner_result *into);

#endif
