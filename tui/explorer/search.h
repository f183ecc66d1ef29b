/* search.h - what the view Search knows: the best plans and what is asked beside them.
 *
 * Begun anew when the scenario, the aim or the filter changes, worked on in slices
 * while no key waits, on all processors: first the plans, then what the view says of
 * them, then one question after the other.
 */
#ifndef TUI_EXPLORER_SEARCH_H
#define TUI_EXPLORER_SEARCH_H

#include "engine/compare/compare.h"
#include "engine/planner/alike.h"
#include "engine/planner/inverse.h"
#include "engine/planner/miss.h"
#include "engine/planner/pareto.h"
#include "engine/planner/robust.h"
#include "engine/planner/why.h"

enum search_phase {
	SEARCH_FEWEST, /* of the aim gpus: how many there are to be */
	SEARCH_PLANS,
	SEARCH_ROWS, /* names and limits of the plans, changes that gain */
	SEARCH_ROBUST,
	SEARCH_ASK, /* the inverse questions that are answered soon */
	SEARCH_FRONT,
	SEARCH_MORE, /* the other questions, the front of GPUs while it is shown */
	SEARCH_MISSES,
	SEARCH_OVER
};

/* By what the table is sorted. */
enum search_sort {
	SORT_RANK,
	SORT_STEP,
	SORT_RATE,
	SORT_MFU,
	SORT_BUBBLE,
	SORT_MEMORY,
	SORT_COUNT
};

enum { MAX_FILTER = 128, MAX_PLAN_NAME = 96 };

struct search_row {
	char name[MAX_PLAN_NAME];
	int trust;         /* enum trust; TRUST_COUNT of servers */
	const char *known; /* what is called so */
	bool inside;       /* one like the best of its idea, whose row is opened */
	const char *limit; /* NULL until it is known */
	double limit_share;
};

/* A plan beside the best: where its seconds and bytes go. */
struct why_not {
	bool done, open;        /* it is the open plan */
	char what[80];          /* "plan 3", "your plan", "#1 with tp=8 pp=4" */
	char trouble[160];      /* why it can't run, or empty */
	struct compare compare; /* the best, then it */
};

struct worker;

struct search {
	struct planner_problem problem, next;
	struct planner_result result; /* as far as it is known */
	struct worker *worker;        /* the search at work, or NULL */
	struct worker *kept;          /* done, for the next point of a front */
	enum search_phase phase;
	double begun, drawn, seconds; /* clock_seconds(); since it began */
	bool due;                     /* there is something new to see */
	bool lacks, unsolved;    /* memory ran out, and before the best was known */
	char trouble[160];       /* what is wrong with the filter, or empty */
	double deadline_seconds; /* of the aim gpus; 0 = none */

	/* rows of the table: indices of result.top */
	int rows;
	uint8_t order[MAX_KEPT];
	struct search_row row[MAX_KEPT];
	char words[512]; /* what the short words of their names stand for */

	struct alike alike;
	bool folded;     /* what is alike is one row */
	int opened;      /* 1 + the idea whose plans are all shown; 0 = none */
	bool trust_said; /* a person said how well plans are to be known */
	bool unknown;    /* no known plan will do: these are others */
	bool again;      /* the plans are to be searched once more */
	struct why_not why_not;
	struct estimate best; /* of the first plan, for it */

	struct why why;
	bool why_done;
	struct robust robust;
	struct pareto front[PARETO_COUNT];
	struct inverse fewest;
	int asking; /* of inverse[], then the front of GPUs */
	struct inverse inverse[INVERSE_COUNT];
	struct misses misses;
};

/* "plan 3", "plan 3b": what a row is called, of the result's plans; its length. */
size_t search_plan_name(const struct search *search, const struct planner_found *found,
			char *out, size_t size);

#endif
