/* keep.c - the best plans, and the best of those with other degrees. */
#include <math.h>
#include <string.h>

#include "engine/planner/alike.h"
#include "engine/planner/search.h"

void planner_idea(const struct scenario *s, struct idea *out)
{
	const struct plan *p = &s->plan;

	*out = (struct idea){
		.gpus = s->cluster.gpus,
		.tp = p->tp,
		.sp = p->sp && p->tp > 1,
		.pp = p->pp,
		.ep = p->ep,
		.etp = scenario_etp(s),
		.batch = p->global_batch,
		.seq_len = p->seq_len,
		.samples = (double)p->micro_batch / (double)p->cp,
	};
}

int planner_each(int top)
{
	enum { USUAL = 6 };
	int room = (MAX_KEPT - 1) / (top < 1 ? 1 : top) - 1;

	return room < 1 ? 1 : room < USUAL ? room : USUAL;
}

static bool is_idea(const struct planner_found *found, const struct idea *idea)
{
	return memcmp(&found->idea, idea, sizeof *idea) == 0;
}

/* Better score, or the same and a shorter request, or earlier in the order of the axes.
 * Requests are of servers, for training has none. */
static bool precedes(const struct planner *p, const struct planner_found *a,
		     const struct planner_found *b)
{
	if (a->score != b->score)
		return a->score < b->score;
	if (a->request_seconds != b->request_seconds)
		return a->request_seconds < b->request_seconds;
	return memcmp(a->choice, b->choice, (size_t)p->problem.axes) < 0;
}

bool search_is_behind(const struct planner *p, double score, double request,
		      const uint8_t *choice)
{
	const struct planner_result *r = &p->result;
	struct planner_found found = { .score = score, .request_seconds = request };

	memcpy(found.choice, choice, sizeof found.choice);
	return r->found == p->problem.top && precedes(p, &r->top[r->found - 1], &found);
}

/* The best of each idea, until there are as many as are wanted; beside the best plans
 * only those that are nearly as fast as the best of their idea. What goes is no better
 * than the last idea, so it does not matter in which order plans were found. */
static void keep_ideas(const struct planner *p, struct planner_result *r)
{
	int leader[MAX_TOP], count[MAX_TOP] = { 0 }, ideas = 0, kept = 0;

	for (int i = 0; i < r->found && ideas < p->problem.top; i++) {
		const struct planner_found *found = &r->top[i];
		bool among_best = kept < p->problem.top;
		int at = 0;

		while (at < ideas && !is_idea(&r->top[leader[at]], &found->idea))
			at++;
		if (at < ideas && !among_best &&
		    (count[at] == p->problem.each ||
		     !alike_is_as_fast(found->score, r->top[leader[at]].score)))
			continue;
		if (at == ideas)
			leader[ideas++] = kept;
		count[at] += !among_best;
		r->top[kept++] = *found;
	}
	r->found = kept;
}

void search_keep(const struct planner *p, const struct planner_found *found,
		 struct planner_result *r)
{
	int most = p->problem.each > 0 ? MAX_KEPT : p->problem.top, at = r->found;

	if (at == most && !precedes(p, found, &r->top[at - 1]))
		return;
	at -= at == most;
	r->found = at + 1;
	for (; at > 0 && precedes(p, found, &r->top[at - 1]); at--)
		r->top[at] = r->top[at - 1];
	r->top[at] = *found;
	if (p->problem.each > 0)
		keep_ideas(p, r);
}

/* The last idea's best plan, or where plans are wanted, the last plan. */
static double last_wanted(const struct planner_problem *problem,
			  const struct planner_result *r)
{
	int ideas = 0;

	if (r->found < problem->top)
		return INFINITY;
	for (int i = 0; problem->each > 0 && i < r->found; i++) {
		int at = 0;

		while (!is_idea(&r->top[at], &r->top[i].idea))
			at++;
		ideas += at == i;
	}
	return problem->each > 0 && ideas < problem->top ? INFINITY
							 : r->top[r->found - 1].score;
}

/* Of an idea that is known, what is among the best or as fast as its best. */
static double last_of_idea(const struct planner *p)
{
	const struct planner_result *r = &p->result;
	int at = 0, more = 0, last = 0, top = p->problem.top;

	while (at < r->found && !is_idea(&r->top[at], &p->idea))
		at++;
	if (at == r->found || r->found < top)
		return INFINITY;
	for (int i = top; i < r->found; i++)
		if (is_idea(&r->top[i], &p->idea)) {
			more++;
			last = i;
		}
	if (more == p->problem.each)
		return r->top[last].score;
	return fmax(r->top[top - 1].score, alike_limit(r->top[at].score));
}

void search_set_worst(struct planner *p)
{
	p->worst = fmin(p->expected, last_wanted(&p->problem, &p->result));
	if (p->inside && p->trains && p->problem.each > 0)
		p->worst = fmin(p->worst, last_of_idea(p));
}

double search_worst(const struct planner *p)
{
	return p->worst;
}

void planner_expect(struct planner *p, const struct planner_result *all)
{
	p->expected = last_wanted(&p->problem, all);
	search_set_worst(p);
}
