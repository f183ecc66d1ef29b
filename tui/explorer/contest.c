/* contest.c - see contest.h. */
#include "tui/explorer/contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/explorer.h"

bool contest_open(struct explorer *explorer, const char *name, struct error *error)
{
	struct contest *contest = calloc(1, sizeof *contest);

	if (!contest)
		return error_set(error, NULL, 0, "out of memory");
	if (!challenge_read(&contest->challenge, name, error) ||
	    (!challenge_best(&contest->challenge.problem, &contest->best) &&
	     !error_set(error, name, 0, "no plan of this challenge fits"))) {
		free(contest);
		return false;
	}
	contest_free(explorer);
	contest->kept = challenge_kept(&contest->challenge, &contest->best);
	explorer->scenario = explorer->origin = contest->challenge.problem.base;
	explorer->contest = contest;
	knobs_focus(explorer, contest->challenge.problem.axis[0].knob);
	explorer_update(explorer);
	explorer_say(explorer, ROLE_HINT, "%s ? shows what you can change",
		     contest->challenge.goal);
	return true;
}

void contest_free(struct explorer *explorer)
{
	free(explorer->contest);
	explorer->contest = NULL;
}

bool contest_allows(struct explorer *explorer, const struct scenario *to)
{
	const struct contest *contest = explorer->contest;
	struct challenge_lock lock;
	char text[400];

	if (!contest || challenge_allows(&contest->challenge.problem, to, &lock))
		return true;
	challenge_lock_text(&contest->challenge.problem, to, &lock, text, sizeof text);
	explorer_say(explorer, ROLE_WARNING, "%s", text);
	return false;
}

bool contest_locks(const struct explorer *explorer, const struct knob *knob)
{
	double unused;

	return explorer->contest &&
	       !challenge_neighbour(&explorer->contest->challenge.problem,
				    &explorer->scenario, knob, 1, &unused);
}

void contest_follow(struct explorer *explorer)
{
	struct contest *contest = explorer->contest;
	struct error error = { "" };

	if (!contest)
		return;
	contest->score = challenge_score(&contest->challenge.problem, &contest->best,
					 &explorer->scenario, &explorer->estimate);
	if (contest->score <= contest->kept)
		return;
	contest->kept = contest->score;
	if (challenge_keep(&contest->challenge, &contest->best, &explorer->scenario,
			   contest->score, &error) ||
	    contest->failed)
		return;
	contest->failed = true;
	explorer_say(explorer, ROLE_WARNING, "the answer could not be saved: %s",
		     error.text);
}

void contest_title(const struct explorer *explorer, char *out, size_t size)
{
	const struct contest *contest = explorer->contest;

	out[0] = '\0';
	if (!contest)
		return;
	/* a share that is not whole is never shown as such */
	if (contest->kept > 0)
		snprintf(out, size, "score %.1f %%, your best %.1f %%",
			 (int)(1000 * contest->score) / 10.0,
			 (int)(1000 * contest->kept) / 10.0);
	else
		snprintf(out, size, "score 0: the plan must fit first");
}

void contest_goal(const struct explorer *explorer, char *out, size_t size)
{
	const struct challenge *c = &explorer->contest->challenge;
	size_t used = (size_t)snprintf(out, size, "%s\nHint: %s\n", c->goal, c->hint);
	char values[320];

	for (int i = 0; i < c->problem.axes && used < size; i++) {
		challenge_values(&c->problem.axis[i], values, sizeof values);
		used += (size_t)snprintf(out + used, size - used, "%s: %s\n",
					 c->problem.axis[i].knob->key, values);
	}
	if (used < size)
		snprintf(out + used, size - used,
			 "Everything else is locked. Your score is the proven "
			 "best over yours; the best plan you find is kept.");
}
