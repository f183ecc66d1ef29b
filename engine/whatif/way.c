/* way.c - the way out of a plan that breaks rules which no single knob mends. */
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "engine/train/train.h"
#include "engine/whatif/whatif.h"

enum {
	MOST_CHECKS = 48, /* plans whose problems are asked for a mend */
	MOST_WAYS = 6     /* ways that are weighed by what they give */
};

struct seeker {
	const struct scenario *scenario;
	struct estimate *scratch;
	int turns; /* that a way may have now */
	int checks, weighed;
	struct whatif_way way, best;
	int best_asked;
};

/* Knobs of a way that change what was asked for, the machine or the batch, rather than
 * how it is split. */
static int count_asked(const struct whatif_way *way)
{
	int count = 0;

	for (int i = 0; i < way->turns; i++)
		count += way->turn[i].knob->group != GROUP_PARALLELISM;
	return count;
}

static bool is_better(const struct whatif_cost *a, const struct whatif_cost *b)
{
	if (a->fits != b->fits)
		return a->fits;
	return a->tokens_per_second_per_gpu > b->tokens_per_second_per_gpu;
}

bool whatif_way_set(const struct whatif_way *way, struct scenario *scenario)
{
	for (int i = 0; i < way->turns; i++)
		if (!knob_set(scenario, way->turn[i].knob, way->turn[i].value))
			return false;
	return way->turns > 0;
}

/* What the plan at the end of the way gives: all of its knobs but the last are set
 * before that one is weighed. */
static bool weigh_way(const struct seeker *seeker, struct whatif_way *way)
{
	struct scenario before = *seeker->scenario;
	struct whatif_way first = *way;
	const struct whatif_turn *last = &way->turn[way->turns - 1];

	first.turns--;
	if (first.turns > 0 && !whatif_way_set(&first, &before))
		return false;
	whatif_cost(&before, last->knob, last->value, seeker->scratch, &way->cost);
	return way->cost.legal;
}

/* A way that leads to a legal plan: the one that leaves most of what was asked for is
 * kept, and of those that do alike the one that fits and is fastest. */
static void keep_way(struct seeker *seeker)
{
	struct whatif_way *way = &seeker->way;
	int asked;

	way->turns = seeker->turns;
	asked = count_asked(way);
	if (seeker->best.turns > 0 && asked > seeker->best_asked)
		return;
	if (seeker->weighed++ >= MOST_WAYS || !weigh_way(seeker, way))
		return;
	if (seeker->best.turns > 0 && asked == seeker->best_asked &&
	    !is_better(&way->cost, &seeker->best.cost))
		return;
	seeker->best = *way;
	seeker->best_asked = asked;
}

static bool is_turned(const struct whatif_way *way, int turns, const struct knob *knob)
{
	for (int i = 0; i < turns; i++)
		if (way->turn[i].knob == knob)
			return true;
	return false;
}

/* Each value that mends one of the problems, and from there on those of the problems
 * that are left. */
static void seek_ways(struct seeker *seeker, const struct scenario *from, int turn)
{
	struct findings problems;
	struct scenario trial;

	if (seeker->checks++ >= MOST_CHECKS)
		return;
	scenario_check(from, &problems);
	for (int i = 0; i < problems.count; i++) {
		const struct finding *f = &problems.item[i];
		const struct knob *knob = f->knob ? knob_find(f->knob) : NULL;

		if (!knob || f->rule->severity != SEVERITY_ERROR ||
		    is_turned(&seeker->way, turn, knob))
			continue;
		for (int k = 0; k < f->nearest_count; k++) {
			trial = *from;
			if (!knob_set(&trial, knob, f->nearest[k]))
				continue;
			seeker->way.turn[turn] =
				(struct whatif_turn){ knob, f->nearest[k] };
			if (turn + 1 < seeker->turns)
				seek_ways(seeker, &trial, turn + 1);
			else if (scenario_check(&trial, NULL) == 0)
				keep_way(seeker);
		}
	}
}

/* Of a way whose end does not fit: a value of one of its degrees further away that
 * does. */
static void go_further(struct seeker *seeker)
{
	struct whatif_way *best = &seeker->best;
	struct scenario end = *seeker->scenario;
	struct whatif_mend mend;

	if (best->cost.fits || !whatif_way_set(best, &end))
		return;
	for (int i = 0; i < best->turns; i++) {
		struct whatif_way further = *best;
		const struct knob *knob = best->turn[i].knob;

		if (knob->group != GROUP_PARALLELISM ||
		    !whatif_best(&end, knob, seeker->scratch, &mend))
			continue;
		further.turn[i].value = mend.value;
		if (weigh_way(seeker, &further) && further.cost.fits) {
			*best = further;
			return;
		}
	}
}

bool whatif_way(const struct scenario *scenario, struct estimate *scratch,
		struct whatif_way *out)
{
	struct seeker seeker = { .scenario = scenario, .scratch = scratch };

	for (int turns = 2; turns <= MAX_WAY_TURNS && seeker.best.turns == 0; turns++) {
		seeker.turns = turns;
		seeker.checks = seeker.weighed = 0;
		seek_ways(&seeker, scenario, 0);
	}
	if (seeker.best.turns > 0)
		go_further(&seeker);
	*out = seeker.best;
	return out->turns > 0;
}
