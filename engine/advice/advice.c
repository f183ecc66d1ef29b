/* advice.c - tries the moves, reads the notes, orders what is worth saying. */
#include "engine/advice/advice.h"

#include <math.h>
#include <string.h>

#include "engine/advice/rules.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/train/train.h"

/* Below this a move is not worth a line. */
static const double least_gain = 0.01;
static const double least_relief = 0.01;
/* Memory that is freed beyond need must be much and cost next to nothing. */
static const double least_room = 0.05, most_loss = 0.005;

/* Advice with the worth by which it is ordered. */
struct told {
	struct finding finding;
	double worth;
};

enum { MAX_TOLD = 128 };

struct list {
	int count;
	struct told item[MAX_TOLD];
};

static void add_finding(struct list *list, const struct finding *finding, double worth)
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
	double value, gain, memory_bytes, host_bytes, bubble_ratio;
	bool fits;
};

/* Slower plans that fit are better than faster ones that don't. */
static bool better(const struct tried *a, const struct tried *b, enum aim aim)
{
	if (a->fits != b->fits)
		return a->fits;
	if (aim == AIM_ROOM || (aim == AIM_MEMORY && !a->fits))
		return a->memory_bytes < b->memory_bytes;
	return a->gain > b->gain;
}

/* Of a server that holds nothing there is nothing to gain on. */
static double gain_of(const struct estimate *to, const struct estimate *from)
{
	return from->tokens_per_second > 0
		       ? to->tokens_per_second / from->tokens_per_second - 1
		       : 0;
}

/* One move on its way through the values of its knob. */
struct attempt {
	const struct situation *now;
	const struct move *move;
	const struct knob *knob;
	struct scenario from; /* with the move's first knob turned */
	struct scenario
		turned; /* and with the knob itself, which is all that differs */
	struct tried best;
};

static void try_value(struct attempt *trial, double value)
{
	const struct situation *now = trial->now;
	struct estimate e;
	struct tried this;

	if (!knob_set(&trial->turned, trial->knob, value) ||
	    knob_same(&trial->turned, now->scenario, trial->knob) ||
	    ability_turned(&trial->from, &trial->turned, trial->knob))
		return;
	scenario_figures(&trial->turned, &e);
	if (!e.legal)
		return;
	this = (struct tried){ value,
			       gain_of(&e, now->estimate),
			       e.memory.total_bytes,
			       e.host_bytes,
			       e.bubble_ratio,
			       e.fits };
	if (isnan(trial->best.value) || better(&this, &trial->best, trial->move->aim))
		trial->best = this;
}

/* Two steps of the knob, as far as it goes. */
static void try_steps(struct attempt *trial, int direction)
{
	double next = knob_neighbour(&trial->from, trial->knob, direction);

	try_value(trial, next);
	if (knob_set(&trial->turned, trial->knob, next))
		try_value(trial,
			  knob_neighbour(&trial->turned, trial->knob, direction));
}

static void try_values(struct attempt *trial)
{
	double values[MAX_VALUES], value = trial->move->value;
	int count, present;

	switch (trial->move->trial) {
	case TRIAL_ADD:
		value = (double)((uint64_t)knob_get(&trial->from, trial->knob) |
				 (uint64_t)value);
		try_value(trial, value);
		break;
	case TRIAL_VALUE: try_value(trial, value); break;
	case TRIAL_ABOVE:
		count = knob_values(&trial->from, trial->knob, values, &present);
		for (int i = present + 1; i < count; i++)
			try_value(trial, values[i]);
		break;
	default: try_steps(trial, trial->move->trial == TRIAL_DOWN ? -1 : 1);
	}
}

/* What a move is worth, or a negative number if it is not worth a line: what makes
 * the plan fit, then what comes near, then what is faster, then room. */
static double worth_of(const struct situation *now, const struct move *move,
		       const struct tried *tried)
{
	const struct estimate *e = now->estimate;
	double relief = 1 - tried->memory_bytes / e->memory.total_bytes;

	/* the host is what is full */
	if (move->aim == AIM_MEMORY && !estimate_is_too_large(e))
		relief = 1 - tried->host_bytes / e->host_bytes;
	switch (move->aim) {
	case AIM_SPEED:
		return tried->fits && tried->gain >= least_gain ? tried->gain : -1;
	case AIM_MEMORY:
		if (relief < least_relief)
			return -1;
		return tried->fits ? 100 + tried->gain : 10 + relief;
	case AIM_ROOM:
		return relief >= least_room && tried->gain >= -most_loss ? 0.02 * relief
									 : -1;
	}
	return -1;
}

/* The scenario is copied for moves that are worth a trial alone: most are not. False:
 * this one is none, or the knob can't be turned. */
static bool begin_move(const struct situation *now, const struct move *move,
		       struct attempt *trial)
{
	const struct knob *first;

	if (!move->worth(now))
		return false;
	first = move->first_knob ? knob_find(move->first_knob) : NULL;
	trial->now = now;
	trial->move = move;
	trial->knob = knob_find(move->knob);
	trial->from = *now->scenario;
	trial->best = (struct tried){ .value = NAN };
	if (first && (ability_against(now->scenario, first, move->first_value) ||
		      !knob_set(&trial->from, first, move->first_value)))
		return false;
	if (!trial->knob || !knob_applies(&trial->from, trial->knob))
		return false;
	trial->turned = trial->from;
	return true;
}

static void try_move(const struct situation *now, const struct move *move,
		     struct list *list)
{
	struct attempt trial;
	struct finding finding = { .rule = &move->rule,
				   .knob = move->knob,
				   .first = move->first_knob,
				   .first_value = move->first_value };
	const struct tried *best = &trial.best;
	double worth;

	if (!begin_move(now, move, &trial))
		return;
	try_values(&trial);
	if (isnan(best->value))
		return;
	worth = worth_of(now, move, best);
	if (worth < 0)
		return;
	finding.value[0] = best->value;
	finding.value[1] = best->gain;
	finding.value[2] = best->memory_bytes;
	finding.value[3] = best->memory_bytes / now->estimate->capacity_bytes;
	finding.value[4] = best->bubble_ratio;
	finding.nearest[0] = best->value;
	finding.nearest_count = 1;
	add_finding(list, &finding, worth);
}

static void read_note(const struct situation *now, const struct note *note,
		      struct list *list)
{
	struct finding finding = { .rule = &note->rule, .knob = note->knob };

	if (note->holds(now, finding.value))
		add_finding(list, &finding,
			    note->rule.severity == SEVERITY_WARNING ? 0.03 : 0);
}

static bool is_asked_for(const struct move *move, const struct estimate *now)
{
	return move->aim == AIM_SPEED || (move->aim == AIM_MEMORY) == !now->fits;
}

/* Two rules that turn the same knob to the same value are one piece of advice. */
static bool is_said(const struct findings *said, const struct finding *finding)
{
	for (int i = 0; i < said->count && finding->nearest_count > 0; i++) {
		const struct finding *earlier = &said->item[i];

		if (earlier->nearest_count > 0 &&
		    earlier->nearest[0] == finding->nearest[0] &&
		    strcmp(earlier->knob, finding->knob) == 0)
			return true;
	}
	return false;
}

static void advise_training(const struct situation *now, struct list *list)
{
	for (int i = 0; i < advice_move_count(); i++)
		if (is_asked_for(&advice_moves[i], now->estimate))
			try_move(now, &advice_moves[i], list);
	for (int i = 0; i < advice_note_count(); i++)
		read_note(now, advice_note(i), list);
}

static void advise_server(const struct situation *now, struct list *list)
{
	for (int i = 0; i < advice_serving_move_count(); i++)
		if (is_asked_for(&advice_serving_moves[i], now->estimate))
			try_move(now, &advice_serving_moves[i], list);
	for (int i = 0; i < advice_serving_note_count(); i++)
		read_note(now, &advice_serving_notes[i], list);
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
	if (scenario->plan.mode == MODE_INFERENCE)
		advise_server(&now, &list);
	else
		advise_training(&now, &list);
	for (int i = 0; i < list.count && out->count < MAX_FINDINGS; i++)
		if (!is_said(out, &list.item[i].finding))
			out->item[out->count++] = list.item[i].finding;
}
