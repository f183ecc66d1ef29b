/* paths.c - interleaved 1F1B by its longest paths through one stage.
 *
 * Such a path reaches a stage as early as its work can come, stays on it for all it
 * has left, and leaves it for the last backward. Reaching a stage is a flow shop of
 * forwards alone, in which only a group's first and last micro-batch can lie on the
 * longest path; leaving is the same of backwards, seen from the end.
 *
 * No step is shorter. Where all virtual stages but the first (with the embedding) and
 * the last (with the head) are equal, none is longer either: nobody waits in the
 * steady state, because whoever hands work on has a step's slack.
 */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/pipeline/rounds.h"

/* Shares of a virtual stage's time: sends take no more than this of the shorter of
 * forward and backward, and the embedding no more than this of both and than the head.
 * Beyond, delays of one stage meet those of another. */
static const double most_latency = 0.5;
static const double most_embedding = 0.15;

static bool same(double a, double b)
{
	return fabs(a - b) < 1e-9 * b;
}

static double surplus(double of_forward, double of_backward)
{
	return larger(of_forward, 0) + larger(of_backward, 0);
}

bool rounds_are_even(const struct rounds *r)
{
	int last = r->stages * r->chunks - 1;
	double f = r->forward[1], b = r->backward[1], first, head, least;

	if (r->chunks < 2 || r->group < r->stages || last < 3 ||
	    r->micro_batches % r->group != 0 ||
	    r->latency > most_latency * lesser(f, b))
		return false;
	for (int k = 2; k < last; k++)
		if (!same(r->forward[k], f) || !same(r->backward[k], b))
			return false;
	/* a shorter last one lets the others wait */
	least = 1e-9 * (f + b);
	if (surplus(f - r->forward[last], b - r->backward[last]) > least)
		return false;
	first = surplus(r->forward[0] - f, r->backward[0] - b);
	head = surplus(r->forward[last] - f, r->backward[last] - b);
	return first <= least || (first <= most_embedding * (f + b) && head >= first);
}

/* One direction. early[s]: how much later than after all its work before, and nothing
 * else, stage s comes to something that it does; time[] are those of that direction. */
static void delay_stages(const struct rounds *r, const double *time, int64_t group,
			 double *early)
{
	double last[MAX_STAGES], done[MAX_STAGES]; /* of a stage's chunk before */
	double first = -r->latency, handed = -r->latency, more = (double)(group - 1);
	int p = r->stages, turns = p * (r->chunks - 1);

	for (int s = 0; s < p; s++)
		early[s] = done[s] = last[s] = 0;
	for (int k = 0, s = 0; k < p * r->chunks; k++, s = s + 1 < p ? s + 1 : 0) {
		first = larger(last[s], first + r->latency);
		early[s] = larger(early[s], first - done[s]);
		first += time[k];
		done[s] += (more + 1) * time[k];
		handed = larger(first + more * time[k], handed + r->latency + time[k]);
		last[s] = handed;
		/* later stages are busy both ways before the last chunk's last */
		if (k < turns || 2 * (p - 1 - s) >= group - 1)
			early[s] = larger(early[s], handed - done[s]);
	}
}

double rounds_paths(const struct rounds *r)
{
	double come[MAX_STAGES], go[MAX_STAGES], longest = 0;
	int64_t first = lower(r->group, r->micro_batches);
	int64_t rest = r->micro_batches % r->group;

	delay_stages(r, r->forward, first, come);
	delay_stages(r, r->backward, rest > 0 ? rest : first, go);
	for (int s = 0; s < r->stages; s++) {
		double work = 0;

		for (int k = s; k < r->stages * r->chunks; k += r->stages)
			work += r->forward[k] + r->backward[k];
		longest = larger(longest,
				 come[s] + (double)r->micro_batches * work + go[s]);
	}
	return longest;
}
