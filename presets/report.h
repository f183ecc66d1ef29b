/* report.h - an estimate as JSON, CSV or Markdown. Strings are to be freed; NULL
 * means that memory ran out. Keys are a contract: DESIGN of the command line in the
 * README, section "For scripts". */
#ifndef PRESETS_REPORT_H
#define PRESETS_REPORT_H

#include <stdio.h>

#include "engine/estimate/estimate.h"
#include "engine/explain/explain.h"
#include "engine/planner/alike.h"
#include "engine/planner/inverse.h"
#include "engine/planner/miss.h"
#include "engine/planner/pareto.h"
#include "engine/planner/planner.h"
#include "engine/planner/robust.h"
#include "engine/planner/why.h"
#include "engine/queue/queue.h"
#include "engine/start/start.h"
#include "engine/train/train.h"
#include "presets/requests/requests.h"

/* The object of `eval --json` in one line, for streams of them. */
char *report_json_line(const struct scenario *scenario, const struct estimate *estimate,
		       const struct start *start);
/* One scenario in some ten lines with the rest folded, or against a baseline where it
 * is not NULL what changed. assumed is what a start or a reader took by itself, "" for
 * nothing. */
char *report_markdown(const struct scenario *scenario, const struct estimate *estimate,
		      const struct scenario *baseline, const struct estimate *before,
		      const char *assumed);
/* A name as the text of a cell or a line of Markdown. */
void report_put_cell(FILE *stream, const char *text);
/* Header and rows of `sweep --csv`: these knobs, then feasible and why not, then every
 * metric of that mode (enum plan_mode), then the rest of the scenario: names and every
 * other knob. */
char *report_csv_header(int mode, const char *const *knobs, int count);
char *report_csv_row(int mode, const struct scenario *scenario,
		     const struct estimate *estimate, const char *const *knobs,
		     int count);

/* What was asked beside the best plans; NULL and 0 where it was not. */
struct search_extra {
	int questions;
	const struct inverse *question[INVERSE_COUNT];
	const struct pareto *front;
	const struct robust *robust;
	const struct misses *misses;
	const struct why *why;
	const struct start *start; /* never NULL */
	bool stopped;              /* before its end: there is no proof */
	/* no measured or published plan will do: these are others */
	bool unknown;
	/* The fastest plan of any trust, where that is left out and faster; or NULL. */
	const struct planner_problem *less_known;
	const struct planner_found *faster;
	const struct alike *alike; /* never NULL: which of the plans are one idea */
	int top, rows;             /* plans, and ideas, that are shown */
};

/* A rule's code and how many candidates break it first. */
struct broken_rule {
	const char *code;
	double plans;
};
/* Those that ruled anything out, the most first; how many. */
int report_broken_rules(const struct planner_problem *problem,
			const struct planner_counts *counts,
			struct broken_rule out[MAX_RULES]);

/* The object of `search --json`. */
char *report_search(const struct planner_problem *problem,
		    const struct planner_result *result,
		    const struct search_extra *extra, double seconds);

/* The object of `explain --json`, with a newline: "formula" is null where an
 * explanation ends, "means" and "why" where no row of the glossary tells of it; "words"
 * are the terms that these two link to. */
char *report_explanation(const char *key, const struct explanation *explanation,
			 const struct start *start, const struct scenario *scenario);
/* The same of a term, which has no value and no formula. */
char *report_word(const struct glossary_word *word);

struct cJSON;
/* The object of `eval --json`, for lists of them; to be released with
 * cJSON_Delete. */
struct cJSON *report_object(const struct scenario *scenario,
			    const struct estimate *estimate);
/* Its text with a newline behind it, to be freed; takes root over. NULL: out of
 * memory. */
char *report_print(struct cJSON *root, bool one_line);
/* From now on no object is printed of which a part found no memory. */
void report_watch_memory(void);
/* Whether there was one, or anything could not be read for want of memory. */
bool report_is_short(void);
/* Something else is left out of a report for want of memory. */
void report_falls_short(void);
/* Every knob by its key, with model, cluster, stack and dp. */
struct cJSON *report_scenario(const struct scenario *scenario);
/* The values that would mend a problem, by the knob's key. */
struct cJSON *report_nearest(const struct finding *finding);
/* Adds `assumed`: what a start chose, by key; empty where nothing was. */
void report_start(struct cJSON *root, const struct start *start,
		  const struct scenario *scenario);
/* Adds `without_effect`: knobs that were given and move nothing; nothing without any.
 */
void report_idle(struct cJSON *root, const struct knob *const knobs[], int count);
/* Adds `stack_lacks`: options that the stack has not (C1); the numbers are what it
 * would give with them. */
void report_lacks(struct cJSON *root, const struct scenario *scenario);
/* Adds `simulation`: what became of the requests of a server, by `eval --simulate`. */
void report_simulation(struct cJSON *root, const struct scenario *scenario,
		       const struct request_log *log, const struct queue_result *result,
		       uint64_t seed);
/* The list of problems. */
struct cJSON *report_problems(const struct estimate *estimate);

#endif
