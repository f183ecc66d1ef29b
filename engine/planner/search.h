/* search.h - what the files of the search share; only engine/planner/ includes it.
 *
 * README.md has one search from its nouns to its answer, with a drawing. Each axis has
 * a role. Outer axes decide what one micro-batch costs; dividing axes decide how many
 * micro-batches and stages there are. A choice of both is a node. Inside a node there
 * are three lists of options, for shape, mode and state, and a plan is one of each. No
 * option breaks a rule, and no plan stands there twice.
 */
#ifndef ENGINE_PLANNER_SEARCH_H
#define ENGINE_PLANNER_SEARCH_H

#include "engine/planner/planner.h"
#include "engine/rules/rules.h"
#include "engine/train/relax.h"

enum role {
	ROLE_OUTER = DECIDES_COST,
	ROLE_DIVIDES = DECIDES_BATCH,
	ROLE_SHAPE = DECIDES_SHAPE,
	ROLE_MODE = DECIDES_MODE,
	ROLE_STATE = DECIDES_STATES,
	ROLE_COUNT = TRAIN_ROLES
};

struct rule_list {
	int count;
	uint8_t row[MAX_RULES]; /* of planner->rule */
};

/* The values of the knobs that shapes, modes and states are made of. */
struct inner {
	int schedule, split, recompute;
	int64_t vpp, micro_batch_group, recompute_layers, zero, zero_group;
	uint64_t recompute_modules;
	double activation_offload, optimizer_offload;
};

/* One choice of a role's axes. Those with the same key are the same plan. */
struct option {
	uint8_t choice[MAX_AXES];
	struct inner inner;
	double key[3];
	double times;  /* candidates that are this option, whatever the node is */
	int row;       /* of the rule that it breaks in every node; -1: of none */
	bool has_even; /* shapes: an earlier one differs in that its split is even */
	bool has_once; /* states: an earlier one is the same of one copy of the weights
			*/
	struct bound_shape shape;  /* of a shape: what the bound reads of it */
	struct train_states least; /* of a state: bytes that it takes at least */
	struct train_bound bound;  /* of a mode: its layers' costs at least */
};

struct options {
	int count, capacity;
	struct option *item;
};

/* Micro-batches in flight on each stage: held[first] and on. */
struct flight {
	int schedule, stages, chunks, first;
	int64_t micro_batches;
};

struct flights {
	int count, capacity, used, room;
	struct flight *item;
	double *held;
};

/* A shape with a mode. No plan with both has a better score than its bound, or a
 * shorter pipeline phase. */
struct pair {
	double bound;                   /* score */
	double pipeline;                /* seconds */
	struct bound_bytes activations; /* bytes that each stage holds at least */
	int shape, mode;
};

/* A choice of all outer and dividing axes. No plan in it goes below its bounds. */
struct node {
	double bound;   /* score */
	double bytes;   /* of the fullest stage */
	double request; /* of a server: seconds of a request */
	/* The same bounds once the node was opened, of the plans in it that were not
	 * too large then; 0 before. */
	double known_bound, known_bytes;
	uint32_t index;
	int outer; /* place of its outer choice's bound in planner->outers */
	uint8_t choice[MAX_AXES];
};

struct planner {
	struct planner_problem problem;
	struct planner_result result;
	enum role role[MAX_AXES];
	double size[ROLE_COUNT]; /* candidates: choices of all its axes */
	struct train_set set;    /* all plans */
	const struct legality *rule;
	bool divides[MAX_RULES]; /* rows that say that degrees don't divide */
	bool trains;             /* bounds are of training */
	bool serves;             /* bounds are of what a server could give */
	double expected;  /* other searchers have found enough plans up to this score */
	double worst;     /* score above which no plan is wanted */
	struct idea idea; /* that all plans of the node at work share */
	bool failed;      /* memory ran out, so that nothing is proved */

	/* listing nodes: outer and dividing axes in the order in which they are fixed
	 */
	int depth, order[MAX_AXES], at[MAX_AXES];
	double below[MAX_AXES + 1]; /* candidates that share the choices up to there */
	/* Rules by what decides them: the axes up to one; an option of a role; of
	 * these, an option alone, whatever the node is; several options together. */
	struct rule_list decided[MAX_AXES + 1];
	struct rule_list option_rules[ROLE_COUNT], menu_rules[ROLE_COUNT];
	struct rule_list mixed;
	int level;
	bool listed, costed;
	double closed_by_lists; /* candidates that are in no node */
	struct planner_counts of_lists;
	uint8_t choice[MAX_AXES];
	/* As the base has them; and with the values that cost least, which a node's
	 * bound is made of. */
	struct inner given, relaxed;
	struct train_bound outer;
	struct train_bound *outers; /* of each outer choice */
	int outer_count, outer_capacity;

	int nodes, capacity, next;
	int first, stride; /* this searcher's first node, and how far to its next */
	bool borrowed;     /* another searcher owns the nodes */
	struct node *node;

	/* the node at work */
	bool inside;
	struct options menu[ROLE_COUNT]; /* options before rules and degrees */
	struct options option[ROLE_COUNT];
	struct layer_cost *cost;   /* trial->parts, once for each mode */
	int costs;                 /* modes that there is room for */
	struct train_states least; /* bytes that any option for the states takes */
	double known; /* least bound of those pairs that are not too large */
	int pairs, pair_capacity, pair, state;
	struct pair *pair_list;
	bool dealt;   /* the pair's layers are dealt out, alike for all its states */
	bool stale;   /* and must be again, after an estimate with its own traffic */
	double floor; /* then: seconds that its pipeline takes at least */
	/* Whether the pair's balanced split is the even one, which is another pair. */
	enum { EVEN_NOT, EVEN, EVEN_UNKNOWN } even;
	struct flights flights;
	struct trial *trial;
	struct estimate estimate;
};

/* space.c: the axis of a knob, or NULL; and of each axis, whether it was pinned. */
const struct planner_axis *search_find_axis(const struct planner_problem *problem,
					    const struct knob *knob);
void search_pins(const struct planner_problem *problem, bool *is_pinned);

/* order.c: roles, the order in which axes are fixed, and where rules are decided. */
void search_arrange(struct planner *planner);
/* The axes of a role, what another one's meaning hangs on first; how many. */
int search_role_axes(const struct planner *planner, enum role role, int *axis);
/* The next choice of a role's axes; false after the last. */
bool search_advance(const struct planner *planner, uint8_t *choice, enum role role);
void search_apply(const struct planner *planner, const uint8_t *choice, enum role role,
		  struct scenario *out);
/* The first of these rules that is broken; -1 = none. */
int search_broken(const struct planner *planner, const struct rule_list *rules,
		  const struct facts *facts);
void search_reject(struct planner *planner, int row, double candidates);

/* list.c: nodes with their bounds, and in their order. */
void search_list(struct planner *planner, int *budget);
void search_sort(struct planner *planner);
/* What holds of all plans alike; false if none is legal. Bounds are of the relaxed
 * plan, rules of the given one. */
bool search_root(struct planner *planner);
/* The rule that all plans break, where none is legal. */
int search_root_rule(const struct planner *planner);
/* Fixes the axis of this level to its next value. That may be part of a plan
 * (FIX_STANDS), names others again (FIX_REPEATS), or breaks a rule, whose row it
 * returns. */
enum { FIX_STANDS = -1, FIX_REPEATS = -2 };
int search_fix(struct planner *planner);
/* menu.c: the options that any node chooses from; false without memory. */
bool search_menu(struct planner *planner);
/* open.c: the options of a node, and their pairs of shape and mode, best bound first.
 */
void search_open(struct planner *planner, struct node *node);
void search_get(const struct plan *plan, struct inner *out);
void search_put(const struct inner *inner, enum role role, struct plan *plan);
/* serve.c: the bounds of a server's node. False where it is another name of one that is
 * listed. */
bool search_ceiling(struct planner *planner, struct node *node);
/* try.c: the plans of the node. False when it is done. */
bool search_try(struct planner *planner, const struct node *node, int *budget);

/* flight.c: say what is in flight in the stages just dealt, if that needs no times. */
void search_hold(struct planner *planner);

/* planner.c */
/* Another searcher of the same problem that borrows the lists; NULL without memory. */
struct planner *search_copy(const struct planner *planner);
/* Candidates of which nothing more is asked. */
double search_closed(const struct planner_counts *counts);
/* Whether the value of a knob means what an earlier one does: it does nothing here, or
 * stands for what others lead to. The scenario is left as it was. */
bool search_named_again(const struct planner *planner, struct scenario *scenario,
			const uint8_t *choice);
/* keep.c: what of the found is kept, and what is not wanted any more. */
void search_keep(const struct planner *planner, const struct planner_found *found,
		 struct planner_result *result);
void search_set_worst(struct planner *planner);
/* Whether a server with so good a score and so short a request comes behind all that
 * are wanted, or with the same of both may, by the order of the axes. */
bool search_is_behind(const struct planner *planner, double score, double request,
		      const uint8_t *choice);
/* The score above which no plan is wanted; inside a node, none of its idea. */
double search_worst(const struct planner *planner);
/* Bytes that a plan may take. */
double search_room(const struct planner *planner, const struct scenario *scenario);
/* Bytes beyond which a plan is of no interest: until something fits, what might be the
 * nearest miss is. */
double search_limit(const struct planner *planner, const struct scenario *scenario);
void search_take(struct planner *planner, const struct scenario *scenario,
		 const uint8_t *choice);
/* Room for one more item of this size; without memory false, and the search fails. */
bool search_grow(struct planner *planner, void **items, int count, int *capacity,
		 size_t size);

#endif
