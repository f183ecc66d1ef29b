/* advice.c - tries the moves, reads the notes, orders what is worth saying. */
#include "engine/advice.h"

#include <math.h>
#include <string.h>

#include "engine/advice/rules.h"
#include "engine/train.h"

/* Below this a move is not worth a line. */
static const double least_gain = 0.01;
static const double least_relief = 0.01;

/* Advice with the worth by which it is ordered. */
struct told {
	struct finding finding;
	double worth;
};

enum { MAX_TOLD = 64 };

struct list {
	int count;
	struct told item[MAX_TOLD];
};

static void tell(struct list *list, const struct finding *finding, double worth)
{
	int at = list->count;

	if (list->count == MAX_TOLD)
		return;
	for (; at > 0 && list->item[at - 1].worth < worth; at--)
		list->item[at] = list->item[at - 1];
	list->item[at].finding = *finding;
	list->item[at].worth = worth;
	list->count++;
}

struct tried {
	double value, gain, memory_bytes;
	bool fits;
};

/* Slower plans that fit are better than faster ones that don't. */
static bool better(const struct tried *a, const struct tried *b, enum aim aim)
{
	if (a->fits != b->fits)
		return a->fits;
	if (aim == AIM_MEMORY && !a->fits)
		return a->memory_bytes < b->memory_bytes;
	return a->gain > b->gain;
}

static void try_value(const struct situation *now, const struct move *move,
		      const struct knob *knob, double value, struct tried *best)
{
	struct scenario turned = *now->scenario;
	struct estimate e;
	struct tried this;

	if (!knob_set(&turned, knob, value) || knob_same(&turned, now->scenario, knob))
		return;
	train_estimate(&turned, &e);
	if (!e.legal)
		return;
	this = (struct tried){ value,
			       e.tokens_per_second / now->estimate->tokens_per_second -
				       1,
			       e.memory.total_bytes, e.fits };
	if (isnan(best->value) || better(&this, best, move->aim))
		*best = this;
}

static void try_values(const struct situation *now, const struct move *move,
		       const struct knob *knob, struct tried *best)
{
	struct scenario turned = *now->scenario;
	int direction = move->trial == TRIAL_DOWN ? -1 : 1;
	double values[MAX_VALUES];
	int count, present;

	if (move->trial == TRIAL_VALUE) {
		try_value(now, move, knob, move->value, best);
		return;
	}
	if (move->trial == TRIAL_ABOVE) {
		count = knob_values(now->scenario, knob, values, &present);
		for (int i = present + 1; i < count; i++)
			try_value(now, move, knob, values[i], best);
		return;
	}
	for (int i = 0; i < 2; i++) {
		double next = knob_neighbour(&turned, knob, direction);

		try_value(now, move, knob, next, best);
		if (!knob_set(&turned, knob, next))
			return;
	}
}

static void try_move(const struct situation *now, const struct move *move,
		     struct list *list)
{
	const struct knob *knob = knob_find(move->knob);
	struct tried best = { .value = NAN };
	struct finding finding = { .rule = &move->rule, .knob = move->knob };
	double relief;

	if (!knob || (knob->applies && !knob->applies(now->scenario)) ||
	    !move->worth(now))
		return;
	try_values(now, move, knob, &best);
	if (isnan(best.value))
		return;
	relief = 1 - best.memory_bytes / now->estimate->memory.total_bytes;
	if (move->aim == AIM_SPEED && !(best.fits && best.gain >= least_gain))
		return;
	if (move->aim == AIM_MEMORY && relief < least_relief)
		return;
	finding.value[0] = best.value;
	finding.value[1] = best.gain;
	finding.value[2] = best.memory_bytes;
	finding.value[3] = best.memory_bytes / now->estimate->capacity_bytes;
	finding.nearest[0] = best.value;
	finding.nearest_count = 1;
	/* what makes it fit, then what comes near, then what is faster */
	if (move->aim == AIM_MEMORY)
		tell(list, &finding, best.fits ? 100 + best.gain : 10 + relief);
	else
		tell(list, &finding, best.gain);
}

static void read_note(const struct situation *now, const struct note *note,
		      struct list *list)
{
	struct finding finding = { .rule = &note->rule, .knob = note->knob };

	if (note->holds(now, finding.value))
		tell(list, &finding,
		     note->rule.severity == SEVERITY_WARNING ? 0.03 : 0);
}

void advice_give(const struct scenario *scenario, const struct estimate *estimate,
		 struct findings *out)
{
	struct situation now = { .scenario = scenario,
				 .estimate = estimate,
				 .plan = &scenario->plan,
				 .model = &scenario->model,
				 .domain = cluster_domain(&scenario->cluster),
				 .etp = scenario_etp(scenario),
				 .moe = scenario->model.moe.experts > 0 };
	struct list list = { 0 };

	out->count = 0;
	if (!estimate->legal)
		return;
	for (int i = 0; i < advice_move_count(); i++)
		if (advice_moves[i].aim == AIM_SPEED || !estimate->fits)
			try_move(&now, &advice_moves[i], &list);
	for (int i = 0; i < advice_note_count(); i++)
		read_note(&now, &advice_notes[i], &list);
	for (int i = 0; i < list.count && out->count < MAX_FINDINGS; i++)
		out->item[out->count++] = list.item[i].finding;
}
