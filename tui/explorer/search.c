/* search.c - the search behind the view Search; see search.h. */
#include "tui/explorer/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/trust/trust.h"
#include "tui/clock.h"
#include "tui/explorer.h"
#include "tui/worker.h"

enum { SHOWN = 10 }; /* ideas */

/* No key waits longer; nobody sees more than ten frames a second of it. */
static const double slice_seconds = 0.005, frame_seconds = 0.1;

void search_forget(struct explorer *explorer)
{
	if (explorer->search) {
		worker_free(explorer->search->worker);
		worker_free(explorer->search->kept);
	}
	free(explorer->search);
	explorer->search = NULL;
}

/* --- the filter: "tp=4,8" pins a knob; of the others each word must be in a plan's
 * name, or with a ! before it must not --- */

/* What else the search is told: as --reserve and --trust are. */
static bool set_word(struct search *search, const char *word, const char *value)
{
	struct planner_problem *problem = &search->problem;
	char *end;

	if (word[0] == 't') {
		search->trust_said = true;
		problem->trust = 1 + (int)trust_find(value);
		if (problem->trust <= TRUST_COUNT)
			return true;
		snprintf(search->trouble, sizeof search->trouble,
			 "trust: expected measured, published or open");
		return false;
	}
	problem->reserve = strtod(value, &end);
	if (end != value && *end == '\0' && problem->reserve >= 0 &&
	    problem->reserve < 1)
		return true;
	snprintf(search->trouble, sizeof search->trouble,
		 "reserve: expected a share, as 0.05");
	return false;
}

static bool pin_word(struct search *search, const char *word)
{
	const char *equals = strchr(word, '=');
	const struct knob *knob;
	char key[32], why[128];

	if (strncmp(word, "deadline=", 9) == 0) {
		search->deadline_seconds = inverse_deadline(equals + 1);
		if (search->deadline_seconds > 0)
			return true;
		snprintf(search->trouble, sizeof search->trouble,
			 "deadline: expected days or hours, as 30d or 72h");
		return false;
	}
	if (strncmp(word, "reserve=", 8) == 0 || strncmp(word, "trust=", 6) == 0)
		return set_word(search, word, equals + 1);
	snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
	knob = knob_find(key);
	if (!knob)
		snprintf(why, sizeof why, "no knob of that name");
	if (knob &&
	    planner_pin_text(&search->problem, knob, equals + 1, why, sizeof why))
		return true;
	snprintf(search->trouble, sizeof search->trouble, "%.31s: %.120s", key, why);
	return false;
}

/* Single values are part of what the usual axes are made for: once to set them, and
 * once to pin. */
static bool pin(struct search *search, const char *filter)
{
	for (int pass = 0; pass < 2; pass++) {
		char copy[MAX_FILTER], *rest = copy, *word;

		snprintf(copy, sizeof copy, "%s", filter);
		if (pass > 0 && !search->trust_said)
			search->problem.trust =
				planner_usual_trust(&search->problem.base);
		search->problem.falls_back =
			!search->trust_said && search->problem.trust > 0;
		if (pass > 0)
			planner_axes(&search->problem);
		while ((word = strsep(&rest, " ")))
			if (word[0] != '?' && strchr(word, '=') &&
			    !pin_word(search, word))
				return false;
	}
	return true;
}

static bool has_word(const char *filter, const char *wanted)
{
	char copy[MAX_FILTER], *rest = copy, *word;

	snprintf(copy, sizeof copy, "%s", filter);
	while ((word = strsep(&rest, " ")))
		if (strcmp(word, wanted) == 0)
			return true;
	return false;
}

static void name_rows(struct explorer *explorer)
{
	struct search *search = explorer->search;
	struct doubts doubts;

	for (int i = 0; i < search->result.found; i++) {
		struct scenario s;

		planner_scenario(&search->problem, &search->result.top[i], &s);
		planner_name(&search->problem, &s, search->row[i].name,
			     sizeof search->row[i].name);
		search->row[i].trust = (int)trust_of(&s, &doubts);
		search->row[i].known = trust_label(&doubts);
		search->row[i].limit = NULL;
	}
	planner_alike(&search->problem, &search->result, &search->alike);
	search_arrange_rows(explorer);
}

/* What limits each plan, one estimate a call; then what would gain from here. */
static bool explain_rows(struct explorer *explorer)
{
	struct search *search = explorer->search;
	struct scenario s;

	for (int i = 0; i < search->result.found; i++) {
		struct search_row *row = &search->row[i];

		if (row->limit)
			continue;
		planner_scenario(&search->problem, &search->result.top[i], &s);
		scenario_estimate(&s, explorer->scratch);
		row->limit = why_limit(explorer->scratch, &row->limit_share);
		return true;
	}
	if (why_step(&search->why, explorer->scratch))
		return true;
	if (search->result.found > 0) {
		planner_scenario(&search->problem, &search->result.top[0], &s);
		why_pair(&search->why, &s, explorer->scratch);
	}
	search->why_done = true;
	return false;
}

/* --- the order of work --- */

/* What was found so far stays on the screen, and is not called the best. */
static void leave_without_memory(struct explorer *explorer)
{
	struct search *search = explorer->search;

	search->lacks = true;
	search->unsolved = search->phase <= SEARCH_PLANS;
	search->phase = SEARCH_OVER;
	search->due = true;
	explorer_say(explorer, ROLE_BAD,
		     "out of memory: the search ended early; `search` in a shell may "
		     "have more");
}

static void start_worker(struct explorer *explorer,
			 const struct planner_problem *problem)
{
	explorer->search->worker = worker_start(problem, explorer->threads);
	if (!explorer->search->worker)
		leave_without_memory(explorer);
}

void search_begin(struct explorer *explorer)
{
	struct search *search;

	search_forget(explorer);
	explorer->search_stale = false;
	explorer->search = search = calloc(1, sizeof *search);
	if (!search)
		return;
	search->begun = clock_seconds();
	search->problem.base = explorer->scenario;
	search->problem.objective = explorer->objective;
	search->problem.reserve = 0.05;
	/* servers are few enough to see all */
	search->problem.top =
		explorer->scenario.plan.mode == MODE_INFERENCE ? MAX_TOP : SHOWN;
	search->problem.each = planner_each(SHOWN);
	search->phase = SEARCH_OVER;
	search->due = true;
	search->problem.research = has_word(explorer->filter, "research");
	search->trust_said = search->problem.research;
	if (!pin(search, explorer->filter))
		return;
	search->phase = SEARCH_PLANS;
	if (explorer->objective == OBJECTIVE_GPUS) {
		search->phase = SEARCH_FEWEST;
		inverse_begin(&search->fewest, INVERSE_GPUS, &search->problem,
			      search->deadline_seconds);
		return;
	}
	start_worker(explorer, &search->problem);
}

/* The machine has so many GPUs from now on, and the shortest step is sought. */
static void set_fewest(struct search *search)
{
	const struct knob *gpus = knob_find("gpus");
	struct scenario base = search->problem.base;
	double answer = search->fewest.answer;

	knob_set(&base, gpus, answer);
	search->next = search->problem;
	planner_again(&search->next, &base, &search->problem);
	planner_pin(&search->problem, gpus, &answer, 1);
	search->problem.objective = OBJECTIVE_STEP;
}

static void enter(struct explorer *explorer, enum search_phase phase)
{
	struct search *search = explorer->search;

	search->phase = phase;
	search->due = true;
	switch (phase) {
	case SEARCH_PLANS:
		set_fewest(search);
		start_worker(explorer, &search->problem);
		break;
	case SEARCH_ROWS:
		name_rows(explorer);
		why_begin(&search->why, &search->problem, &explorer->scenario,
			  &explorer->estimate);
		break;
	case SEARCH_FRONT:
		pareto_begin(&search->front[PARETO_MEMORY],
			     pareto_usual(&search->problem), &search->problem);
		break;
	case SEARCH_ROBUST:
		if (!robust_begin(&search->robust, &search->problem, &search->result))
			search->robust.done = search->lacks = true;
		break;
	case SEARCH_ASK:
		for (int i = 0; i < INVERSE_COUNT; i++)
			inverse_begin(&search->inverse[i], (enum inverse_kind)i,
				      &search->problem, 0);
		pareto_begin(&search->front[PARETO_GPUS], PARETO_GPUS,
			     &search->problem);
		break;
	case SEARCH_MISSES: misses_begin(&search->misses, &search->problem); break;
	default: break;
	}
}

/* Of the questions before this one. */
static bool next_question(struct search *search, int end)
{
	for (; search->asking < end; search->asking++)
		if (inverse_next(&search->inverse[search->asking], &search->next))
			return true;
	return false;
}

/* The next search of the phase, or false at its end. */
static bool next_search(struct search *search, bool shows_gpus)
{
	switch (search->phase) {
	case SEARCH_FEWEST: return inverse_next(&search->fewest, &search->next);
	case SEARCH_FRONT:
		return pareto_next(&search->front[PARETO_MEMORY], &search->next);
	case SEARCH_ROBUST: return robust_next(&search->robust, &search->next);
	case SEARCH_MISSES: return misses_next(&search->misses, &search->next);
	case SEARCH_PLANS: {
		bool again = search->again;

		search->again = false;
		return again;
	}
	case SEARCH_ASK: return next_question(search, INVERSE_SEQUENCE);
	case SEARCH_MORE:
		return next_question(search, INVERSE_COUNT) ||
		       (shows_gpus &&
			pareto_next(&search->front[PARETO_GPUS], &search->next));
	default: return false;
	}
}

/* The front of GPUs is a search for each count, which nobody waits for who does not
 * look at it: it is searched while it is shown, and goes on where it stopped. */
static bool shows_gpus(const struct explorer *explorer)
{
	return explorer->state[VIEW_SEARCH].choice == 1;
}

static bool is_wanted_again(const struct explorer *explorer)
{
	const struct search *search = explorer->search;

	return shows_gpus(explorer) && search->asking == INVERSE_COUNT &&
	       !search->front[PARETO_GPUS].done;
}

static void take_answer(struct explorer *explorer, const struct planner_result *result)
{
	struct search *search = explorer->search;

	switch (search->phase) {
	case SEARCH_FEWEST:
		if (!inverse_take(&search->fewest, &search->next, result))
			leave_without_memory(explorer);
		break;
	case SEARCH_PLANS:
		search->result = *result;
		if (result->found > 0 || search->trust_said ||
		    search->problem.trust == 0) {
			enter(explorer, SEARCH_ROWS);
			return;
		}
		/* nothing that is known fits: what else does */
		search->trust_said = search->unknown = true;
		search->next = search->problem;
		planner_again_at(&search->next, &search->next.base, 0,
				 &search->problem);
		search->next = search->problem;
		search->again = true;
		return;
	case SEARCH_FRONT:
		pareto_take(&search->front[PARETO_MEMORY], &search->next, result);
		break;
	case SEARCH_ROBUST: robust_take(&search->robust, result); break;
	case SEARCH_MISSES: misses_take(&search->misses, &search->next, result); break;
	case SEARCH_ASK:
	case SEARCH_MORE:
		/* without a deadline there is nothing to estimate */
		if (search->asking < INVERSE_COUNT)
			inverse_take(&search->inverse[search->asking], &search->next,
				     result);
		else
			pareto_take(&search->front[PARETO_GPUS], &search->next, result);
		break;
	default: break;
	}
}

/* What comes behind a phase; where nothing is found there is nothing to rank. */
static enum search_phase phase_after(const struct search *search)
{
	switch (search->phase) {
	case SEARCH_FEWEST: return search->fewest.found ? SEARCH_PLANS : SEARCH_OVER;
	case SEARCH_ROWS:
		return search->result.found > 0 ? SEARCH_ROBUST : SEARCH_MISSES;
	case SEARCH_ROBUST: return SEARCH_ASK;
	case SEARCH_ASK: return SEARCH_FRONT;
	case SEARCH_FRONT: return SEARCH_MORE;
	default: return SEARCH_OVER;
	}
}

/* Whether the next point of a front is the same search with less memory. */
static bool goes_on(const struct search *search)
{
	const struct pareto *front = &search->front[PARETO_MEMORY];

	return search->phase == SEARCH_FRONT && !front->done && pareto_lessens(front);
}

/* One slice of the search at work; false once it has its answer. */
static bool work(struct explorer *explorer)
{
	struct search *search = explorer->search;
	bool more = worker_step(search->worker, slice_seconds);
	double now = clock_seconds();

	search->seconds = now - search->begun;
	if (now - search->drawn >= frame_seconds) {
		search->drawn = now;
		search->due = true;
		if (more && search->phase == SEARCH_PLANS) {
			search->result = *worker_result(search->worker);
			name_rows(explorer);
		}
	}
	if (more)
		return true;
	if (worker_result(search->worker)->failed)
		leave_without_memory(explorer);
	else
		take_answer(explorer, worker_result(search->worker));
	if (goes_on(search))
		search->kept = search->worker;
	else
		worker_free(search->worker);
	search->worker = NULL;
	return false;
}

/* The next search of the phase. */
static void start_next(struct explorer *explorer)
{
	struct search *search = explorer->search;

	if (!search->kept) {
		start_worker(explorer, &search->next);
		return;
	}
	search->worker = search->kept;
	search->kept = NULL;
	worker_lessen(search->worker, search->next.reserve);
}

bool search_slice(struct explorer *explorer)
{
	struct search *search = explorer->search;

	if (explorer->search_stale || !search) {
		search_begin(explorer);
		return explorer->search != NULL;
	}
	if (search->phase > SEARCH_ROWS && search->result.found > 0 &&
	    !search->why_not.done) {
		search_compare_chosen(explorer);
		search->due = true;
		return true;
	}
	if (search->phase == SEARCH_OVER && is_wanted_again(explorer))
		search->phase = SEARCH_MORE;
	if (search->phase == SEARCH_OVER)
		return false;
	if (search->worker) {
		work(explorer);
		return true;
	}
	if (search->phase == SEARCH_ROWS && explain_rows(explorer))
		return true;
	if (next_search(search, shows_gpus(explorer))) {
		start_next(explorer);
		return search->worker != NULL;
	}
	enter(explorer, phase_after(search));
	return search->phase != SEARCH_OVER;
}

bool search_has_come_to(const struct explorer *explorer, enum search_phase phase)
{
	return explorer->view == VIEW_SEARCH && explorer->search &&
	       !explorer->search_stale && explorer->search->phase >= phase &&
	       explorer->search->phase != SEARCH_MISSES;
}

/* The plan under the cursor of the table; NULL if there is none. */
const struct planner_found *search_chosen(const struct explorer *explorer)
{
	const struct search *search = explorer->search;
	int at = explorer->state[VIEW_SEARCH].cursor;

	return search && at < search->rows ? &search->result.top[search->order[at]]
					   : NULL;
}
