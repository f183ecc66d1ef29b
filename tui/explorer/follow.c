/* follow.c - what follows from the open scenario: estimate, strip, remedies, advice and
 * arrows; see follow.h. */
#include "tui/explorer/follow.h"

#include <stdlib.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/schedule/schedule.h"
#include "tui/clock.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/view.h"
#include "tui/widget.h"

/* Schedules without a shortcut cost up to a third of a millisecond an estimate: what
 * needs many of them then waits until the frame is out. */
static bool is_cheap(const struct explorer *explorer)
{
	const struct plan *plan = &explorer->scenario.plan;

	return plan->pp == 1 || schedule_by_rounds(plan->schedule);
}

/* What advises to turn a knob that is locked is no advice. */
static void drop_locked(struct explorer *explorer)
{
	struct findings *advice = &explorer->advice;
	int kept = 0;

	for (int i = 0; i < advice->count; i++) {
		const char *key = advice->item[i].knob;
		const struct knob *knob = key ? knob_find(key) : NULL;

		if (knob &&
		    (contest_locks(explorer, knob) || course_locks(explorer, knob)))
			continue;
		advice->item[kept++] = advice->item[i];
	}
	advice->count = kept;
}

static void update_advice(struct explorer *explorer)
{
	explorer->advice.count = 0;
	if (explorer->estimate.legal)
		advice_give(&explorer->scenario, &explorer->estimate,
			    &explorer->advice);
	drop_locked(explorer);
	explorer->advice_done = true;
}

static int rank(const struct whatif_cost *cost)
{
	return cost->legal + cost->fits;
}

/* A value that fits is offered before one that is nearer and does not, and that one
 * before one that breaks another rule. */
static void prefer_fitting(struct finding *finding, struct whatif_cost *cost)
{
	for (int k = 1; k < finding->nearest_count; k++)
		for (int at = k; at > 0 && rank(&cost[at]) > rank(&cost[at - 1]);
		     at--) {
			struct whatif_cost other = cost[at - 1];
			double value = finding->nearest[at - 1];

			cost[at - 1] = cost[at];
			cost[at] = other;
			finding->nearest[at - 1] = finding->nearest[at];
			finding->nearest[at] = value;
		}
}

/* Of a degree whose nearest values do not fit the best of those further away is offered
 * first; what is trained or served is not changed to make it fit. */
static void offer_further(struct explorer *explorer, struct finding *finding,
			  struct whatif_cost cost[MAX_NEAREST])
{
	int last = finding->nearest_count;
	const struct knob *knob = last > 0 ? cost[0].knob : NULL;
	struct whatif_mend best;

	if (!knob || cost[0].fits || knob->group != GROUP_PARALLELISM ||
	    !whatif_best(&explorer->scenario, knob, explorer->scratch, &best))
		return;
	if (last == MAX_NEAREST)
		last--;
	memmove(finding->nearest + 1, finding->nearest,
		(size_t)last * sizeof finding->nearest[0]);
	memmove(cost + 1, cost, (size_t)last * sizeof cost[0]);
	finding->nearest_count = last + 1;
	finding->nearest[0] = best.value;
	whatif_cost(&explorer->scenario, knob, best.value, explorer->scratch, &cost[0]);
}

/* Some value of one knob makes the plan legal. */
static bool is_mended(const struct explorer *explorer)
{
	const struct findings *problems = &explorer->estimate.problems;

	for (int i = 0; i < problems->count; i++)
		if (problems->item[i].nearest_count > 0 && explorer->mend[i][0].legal)
			return true;
	return false;
}

/* Some value of one knob of its split gives a server room for a request. */
static bool makes_room(const struct explorer *explorer)
{
	const struct findings *problems = &explorer->estimate.problems;

	for (int i = 0; i < problems->count; i++)
		if (problems->item[i].nearest_count > 0 && explorer->mend[i][0].fits &&
		    explorer->mend[i][0].knob->group == GROUP_PARALLELISM)
			return true;
	return false;
}

static void weigh_mends(struct explorer *explorer)
{
	struct findings *problems = &explorer->estimate.problems;

	explorer->way.turns = 0;
	for (int i = 0; i < problems->count; i++) {
		for (int k = 0; k < problems->item[i].nearest_count; k++)
			whatif_cost(&explorer->scenario,
				    knob_find(problems->item[i].knob),
				    problems->item[i].nearest[k], explorer->scratch,
				    &explorer->mend[i][k]);
		prefer_fitting(&problems->item[i], explorer->mend[i]);
		offer_further(explorer, &problems->item[i], explorer->mend[i]);
	}
	if (!explorer->estimate.legal && !is_mended(explorer))
		whatif_way(&explorer->scenario, explorer->scratch, &explorer->way);
	else if (explorer->estimate.legal && !has_numbers(explorer) &&
		 !makes_room(explorer))
		whatif_room(&explorer->scenario, explorer->scratch, &explorer->way);
}

/* --- what was reckoned before ------------------------------------------------ */

/* Of the scenarios that were looked at last: to turn a knob there and back over its
 * values, to undo and to look at a pinned plan again costs nothing. Of the strips,
 * those of the knobs that were under the cursor last. */
enum { MOST_KEPT = 12, MOST_STRIPS = 6 };

struct reckoning {
	struct scenario scenario;
	unsigned looked; /* the higher, the later; 0: never */
	struct estimate estimate;
	struct findings advice;
	bool advice_done;
	struct whatif_arrow arrow[MAX_KNOBS];
	bool arrow_known[MAX_KNOBS];
	bool mends_known; /* of what is broken, in the order in which it is told */
	struct whatif_cost mend[MAX_FINDINGS][MAX_NEAREST];
	struct whatif_way way;
};

struct follow {
	struct reckoning kept[MOST_KEPT];
	struct whatif_kept strip[MOST_STRIPS];
	unsigned strip_looked[MOST_STRIPS]; /* the higher, the later; 0: never */
	struct reckoning *now;              /* of the open scenario; NULL: none yet */
	unsigned looks;
	/* what numbers of one scenario are explained with; NULL: nothing was so far */
	struct explain_facts *facts;
	struct scenario explained;
};

struct follow *follow_make(void)
{
	return calloc(1, sizeof(struct follow));
}

void follow_free(struct follow *follow)
{
	if (follow)
		free(follow->facts);
	free(follow);
}

/* Scenarios mostly differ in the plan alone, which stands at the end. */
static bool is_same(const struct scenario *a, const struct scenario *b)
{
	return memcmp(&a->plan, &b->plan, sizeof a->plan) == 0 &&
	       memcmp(a, b, sizeof *a) == 0;
}

static struct reckoning *reckon(struct follow *follow, const struct scenario *scenario)
{
	/* the one at hand is kept, whatever else is asked */
	struct reckoning *oldest = &follow->kept[follow->now == &follow->kept[0]];

	for (int i = 0; i < MOST_KEPT; i++) {
		struct reckoning *r = &follow->kept[i];

		if (r->looked > 0 && is_same(&r->scenario, scenario)) {
			r->looked = ++follow->looks;
			return r;
		}
		if (r != follow->now && r->looked < oldest->looked)
			oldest = r;
	}
	oldest->scenario = *scenario;
	oldest->looked = ++follow->looks;
	oldest->advice_done = oldest->mends_known = false;
	memset(oldest->arrow_known, 0, sizeof oldest->arrow_known);
	scenario_estimate(scenario, &oldest->estimate);
	return oldest;
}

const struct estimate *follow_estimate(struct follow *follow,
				       const struct scenario *scenario)
{
	return &reckon(follow, scenario)->estimate;
}

bool follow_explain(struct follow *follow, const struct scenario *scenario,
		    const struct estimate *estimate, const char *key,
		    struct explanation *out)
{
	if (!follow->facts || !is_same(&follow->explained, scenario)) {
		follow->explained = *scenario;
		if (follow->facts)
			explain_forget(follow->facts);
		else
			follow->facts = explain_facts();
	}
	return explain_with(follow->facts, &follow->explained, estimate, key, out);
}

/* What the idle work has found for the scenario before. What a lesson or a challenge
 * locks is left out of its advice, and only there. */
static void keep_found(struct explorer *explorer)
{
	struct reckoning *now = explorer->follow->now;

	if (!now)
		return;
	now->advice_done =
		explorer->advice_done && !explorer->contest && !explorer->course;
	now->advice = explorer->advice;
	memcpy(now->arrow, explorer->arrow, sizeof now->arrow);
	memcpy(now->arrow_known, explorer->arrow_known, sizeof now->arrow_known);
}

static void take_reckoning(struct explorer *explorer)
{
	struct reckoning *now = reckon(explorer->follow, &explorer->scenario);

	explorer->follow->now = now;
	explorer->estimate = now->estimate;
	explorer->advice_done =
		now->advice_done && !explorer->contest && !explorer->course;
	if (explorer->advice_done)
		explorer->advice = now->advice;
	memcpy(explorer->arrow, now->arrow, sizeof now->arrow);
	memcpy(explorer->arrow_known, now->arrow_known, sizeof now->arrow_known);
}

/* Each problem is reckoned once: the remedies, what they give and their order. */
static void take_mends(struct explorer *explorer)
{
	struct reckoning *now = explorer->follow->now;

	if (now->mends_known) {
		memcpy(explorer->mend, now->mend, sizeof now->mend);
		explorer->way = now->way;
		return;
	}
	weigh_mends(explorer);
	now->estimate.problems = explorer->estimate.problems;
	memcpy(now->mend, explorer->mend, sizeof now->mend);
	now->way = explorer->way;
	now->mends_known = true;
}

/* What is kept of this knob's strip, or the place of the one that nobody looked at for
 * longest. */
static struct whatif_kept *find_strip(struct follow *follow, const struct knob *knob)
{
	int oldest = 0;

	for (int i = 0; i < MOST_STRIPS; i++) {
		if (follow->strip[i].knob == knob) {
			oldest = i;
			break;
		}
		if (follow->strip_looked[i] < follow->strip_looked[oldest])
			oldest = i;
	}
	follow->strip_looked[oldest] = ++follow->looks;
	return &follow->strip[oldest];
}

void explorer_strip(struct explorer *explorer)
{
	const struct knob *knob = explorer_knob(explorer);

	explorer->strip_knob = knob ? (int)(knob - knob_table) : -1;
	if (knob)
		whatif_knob_again(&explorer->scenario, knob, explorer->scratch,
				  find_strip(explorer->follow, knob), &explorer->strip);
}

/* --- after a change ---------------------------------------------------------- */

void explorer_update(struct explorer *explorer)
{
	keep_found(explorer);
	take_reckoning(explorer);
	knobs_keep_rows(explorer);
	contest_follow(explorer);
	if (explorer->pinned) {
		explorer->before =
			reckon(explorer->follow, &explorer->baseline)->estimate;
		explorer->before_mode = explorer->baseline.plan.mode;
	}
	explorer->search_stale = explorer->play_stale = true;
	/* an event of another step is none of this one */
	if (!explorer->playing)
		explorer->state[VIEW_TIMELINE].first = 0;
	take_mends(explorer);
	explorer_strip(explorer);
	if (is_cheap(explorer) && !explorer->advice_done)
		update_advice(explorer);
	if (explorer->view == VIEW_TIMELINE)
		play_refresh(explorer);
}

/* --- before the frame, or after it ------------------------------------------- */

/* Knobs in sight, and just out of it, whose arrow is not known; returns how many. A
 * frame may have a row more than the one before, where a note became shorter. */
static int find_without_arrow(const struct explorer *explorer, int knob[MAX_ROWS])
{
	enum { MARGIN = 2 };
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows), height = explorer->spots->knobs.height;
	int first = scroll_first(explorer->first_row, explorer->row, count, height);
	int end = first + height + MARGIN, found = 0;

	if (height == 0) /* nothing was drawn so far */
		first = 0, end = count;
	for (int i = first < MARGIN ? 0 : first - MARGIN; i < end && i < count; i++)
		if (rows[i].kind == ROW_KNOB && !explorer->arrow_known[rows[i].knob])
			knob[found++] = rows[i].knob;
	return found;
}

enum { SLICE = 4 }; /* arrows between two looks at the clock */

/* Arrows of the rows in sight: a slice of them, and more while it is not that late;
 * false: all are there. */
static bool point_arrows(struct explorer *explorer, double end)
{
	int knob[MAX_ROWS], count = find_without_arrow(explorer, knob), i;

	for (i = 0; i < count; i++) {
		struct whatif_arrow *arrow = &explorer->arrow[knob[i]];

		if (i > 0 && i % SLICE == 0 && clock_worked() >= end)
			break;
		arrow->direction = 0;
		if (whatif_tunes(&knob_table[knob[i]]))
			whatif_arrow(&explorer->scenario, &knob_table[knob[i]],
				     &explorer->estimate, explorer->scratch, arrow);
		explorer->arrow_known[knob[i]] = true;
	}
	return i < count;
}

/* The next of what follows; of arrows as many as there is time for until then. */
static bool idle_until(struct explorer *explorer, double end)
{
	if (!explorer->advice_done) {
		update_advice(explorer);
		return true;
	}
	if (point_arrows(explorer, end))
		return true;
	return explorer->view == VIEW_SEARCH && search_slice(explorer);
}

bool explorer_idle(struct explorer *explorer)
{
	return idle_until(explorer, 0);
}

bool explorer_is_settled(const struct explorer *explorer)
{
	int knob[MAX_ROWS];

	return explorer->advice_done && explorer->view != VIEW_SEARCH &&
	       find_without_arrow(explorer, knob) == 0;
}

/* Longer than nearly every plan takes, shorter than anybody notices. Of work, not of
 * time: where others have the processor, too, one frame is there sooner than two. */
static const double settle_seconds = 0.008;

void explorer_settle(struct explorer *explorer)
{
	double end = clock_worked() + settle_seconds;

	while (explorer->view != VIEW_SEARCH && idle_until(explorer, end) &&
	       clock_worked() < end) {
	}
}
