/* inverse.c - see inverse.h. */
#include "engine/planner/inverse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/predict/predict.h"
#include "engine/train/train.h"

static const struct {
	const char *word, *knob; /* knob NULL: it is the model that changes */
} kinds[INVERSE_COUNT] = {
	[INVERSE_GPUS] = { "gpus", "gpus" },
	[INVERSE_MICRO_BATCH] = { "mbs", "mbs" },
	[INVERSE_SEQUENCE] = { "seq", "seq" },
	[INVERSE_MODEL] = { "model", NULL },
};

const char *inverse_word(enum inverse_kind kind)
{
	return (unsigned)kind < INVERSE_COUNT ? kinds[kind].word : "";
}

enum inverse_kind inverse_find(const char *word)
{
	int i = 0;

	while (i < INVERSE_COUNT && strcmp(kinds[i].word, word) != 0)
		i++;
	return (enum inverse_kind)i;
}

double inverse_deadline(const char *text)
{
	char *end;
	double number = strtod(text, &end);
	double unit = *end == 'h' ? 3600 : 86400;

	if (end == text || !(number > 0) || isinf(number))
		return 0;
	if (*end == 'd' || *end == 'h')
		end++;
	return *end == '\0' ? number * unit : 0;
}

/* Machines come in nodes, and those in twos and a few odd numbers of twos. */
int inverse_gpus(const struct cluster *cluster, double most, double *value, int room)
{
	int64_t node = cluster->gpus_per_node > 0 ? cluster->gpus_per_node : 1;
	int count = 0;

	for (int64_t n = 1; n < node && (double)n <= most && count < room; n++)
		value[count++] = (double)n;
	for (int64_t nodes = 1; (double)(nodes * node) <= most && count < room;
	     nodes++) {
		int64_t odd = nodes;

		while (odd % 2 == 0)
			odd /= 2;
		if (odd <= 15)
			value[count++] = (double)(nodes * node);
	}
	return count;
}

static void add(struct inverse *inverse, double value)
{
	if (inverse->count < MAX_TRIED)
		inverse->value[inverse->count++] = value;
}

static int rising(const void *a, const void *b)
{
	return compare(*(const double *)a, *(const double *)b);
}

static int falling(const void *a, const void *b)
{
	return rising(b, a);
}

/* No machine of fewer GPUs computes the run in time at its full rate. */
static void drop_hopeless(struct inverse *inverse)
{
	struct scenario room;
	const struct scenario *s = scenario_marked(&inverse->problem->base, &room);
	struct model_counts counts;

	model_count(&s->model, &counts);
	double flops = s->plan.tokens * train_flops_per_token(s, &counts, false);
	double peak = s->cluster.accelerator.peak_flops[s->plan.precision] *
		      inverse->deadline_seconds / fmin(1, s->cluster.scale);
	int kept = 0;

	/* dropped tokens are counted, and not computed */
	if (s->model.moe.experts > 0 && s->plan.moe_capacity == CAPACITY_DROP)
		flops *= fmin(1, s->plan.capacity_factor);
	for (int i = 0; i < inverse->count; i++)
		if (inverse->value[i] * peak >= flops)
			inverse->value[kept++] = inverse->value[i];
	inverse->count = kept;
}

static void fill_gpus(struct inverse *inverse)
{
	const struct cluster *cluster = &inverse->problem->base.cluster;
	double most =
		fmax(64 * (double)cluster->gpus_per_node, 16 * (double)cluster->gpus);

	inverse->count = inverse_gpus(cluster, fmin(most, knob_find("gpus")->max),
				      inverse->value, MAX_TRIED);
}

static void fill_micro_batches(struct inverse *inverse)
{
	int64_t batch = inverse->problem->base.plan.global_batch;

	for (int64_t n = 1; n <= batch; n++)
		if (batch % n == 0)
			add(inverse, (double)n);
}

/* Sixteen steps to the octave, from a kilotoken on. */
static void fill_sequences(struct inverse *inverse)
{
	double most = knob_find("seq")->max;

	for (double octave = 1024; octave <= most; octave *= 2)
		for (int i = 0; i < 16; i++)
			if (octave * (16 + i) / 16 <= most)
				add(inverse, octave * (16 + i) / 16);
}

static void fill_models(struct inverse *inverse)
{
	enum { EIGHTHS = 8 * 16 };

	for (int i = 1; i <= EIGHTHS; i++) {
		struct model model;

		if (model_scale(&inverse->problem->base.model, i / 8.0, &model))
			add(inverse, i / 8.0);
	}
}

/* A server's sequence is its prompt, and it has no micro-batch. */
static const char *knob_of(const struct inverse *inverse)
{
	bool serves = inverse->problem->base.plan.mode == MODE_INFERENCE;

	if (serves && inverse->kind == INVERSE_SEQUENCE)
		return "prompt";
	return kinds[inverse->kind].knob;
}

static void fill_counts(struct inverse *inverse)
{
	static void (*const usual[INVERSE_COUNT])(struct inverse *) = {
		[INVERSE_GPUS] = fill_gpus,
		[INVERSE_MICRO_BATCH] = fill_micro_batches,
		[INVERSE_SEQUENCE] = fill_sequences,
		[INVERSE_MODEL] = fill_models,
	};
	const char *key = knob_of(inverse);
	const struct planner_axis *axis =
		key ? planner_pinned(inverse->problem, knob_find(key)) : NULL;

	if (inverse->kind == INVERSE_MICRO_BATCH &&
	    inverse->problem->base.plan.mode == MODE_INFERENCE)
		return;
	if (!axis || axis->count < 2) {
		usual[inverse->kind](inverse);
		return;
	}
	for (int i = 0; i < axis->count; i++)
		add(inverse, axis->value[i]);
}

/* Nothing is known yet: the wanted end first where each is tried, else the middle. */
static void start(struct inverse *inverse)
{
	inverse->low = -1;
	inverse->high = inverse->count;
	inverse->at = inverse->rising ? 0 : inverse->count / 2;
	inverse->done = inverse->count == 0;
}

void inverse_keep(struct inverse *inverse, double above, double below)
{
	int kept = 0;

	for (int i = 0; i < inverse->count; i++)
		if (inverse->value[i] > above && inverse->value[i] < below)
			inverse->value[kept++] = inverse->value[i];
	inverse->count = kept;
	start(inverse);
}

void inverse_begin(struct inverse *inverse, enum inverse_kind kind,
		   const struct planner_problem *problem, double deadline_seconds)
{
	memset(inverse, 0, sizeof *inverse);
	inverse->kind = kind;
	inverse->problem = problem;
	inverse->deadline_seconds = kind == INVERSE_GPUS ? deadline_seconds : 0;
	fill_counts(inverse);
	if (inverse->deadline_seconds > 0)
		drop_hopeless(inverse);
	/* a server has no micro-batches */
	if (kinds[kind].knob &&
	    !knob_in_mode(knob_find(knob_of(inverse)), problem->base.plan.mode))
		inverse->count = 0;
	inverse->rising = kind == INVERSE_GPUS || kind == INVERSE_MICRO_BATCH;
	qsort(inverse->value, (size_t)inverse->count, sizeof *inverse->value,
	      kind == INVERSE_MICRO_BATCH ? falling : rising);
	start(inverse);
}

static bool set_value(const struct inverse *inverse, double value,
		      struct planner_problem *out)
{
	struct scenario base = inverse->problem->base;
	const char *key = knob_of(inverse);
	const struct knob *knob = key ? knob_find(key) : NULL;

	if (knob)
		knob_set(&base, knob, value);
	else if (!model_scale(&inverse->problem->base.model, value, &base.model))
		return false;
	planner_again_at(inverse->problem, &base,
			 inverse->open ? 0 : inverse->problem->trust, out);
	return !knob || planner_pin(out, knob, &value, 1);
}

bool inverse_next(struct inverse *inverse, struct planner_problem *out)
{
	bool best = inverse->answering || inverse->deadline_seconds > 0;

	if (inverse->done || !set_value(inverse, inverse->value[inverse->at], out))
		return false;
	out->top = 1;
	out->strict = true;
	out->any = !best;
	if (!best)
		out->objective = OBJECTIVE_MEMORY;
	else if (out->objective == OBJECTIVE_GPUS || inverse->deadline_seconds > 0)
		out->objective = OBJECTIVE_STEP;
	return true;
}

/* Whether the run at this plan ends in time; false if memory ran out. */
static bool in_time(const struct inverse *inverse, const struct scenario *s, bool *good)
{
	struct estimate *e;

	*good = true;
	if (!(inverse->deadline_seconds > 0))
		return true;
	e = malloc(sizeof *e);
	if (!e)
		return false;
	scenario_figures(s, e);
	*good = e->feasible && e->run.seconds <= inverse->deadline_seconds;
	free(e);
	return true;
}

/* Whether less known plans are to be asked for what known ones can't do: no more than
 * that. A deadline is one of the best known plan. */
static void ask_open_plans(struct inverse *inverse)
{
	bool fewer = inverse->kind == INVERSE_GPUS;
	double beyond = inverse->beyond;

	if (inverse->open || !inverse->problem->falls_back ||
	    inverse->problem->trust == 0 || inverse->deadline_seconds > 0)
		return;
	inverse->known = inverse->found ? inverse->answer : 0;
	if (inverse->found)
		inverse_keep(inverse, fewer ? -INFINITY : inverse->answer,
			     fewer ? inverse->answer : INFINITY);
	else
		start(inverse);
	inverse->open = !inverse->done;
	inverse->answering = false;
	inverse->beyond = inverse->open ? 0 : beyond;
}

static void take_answer(struct inverse *inverse, const struct planner_problem *problem,
			const struct planner_result *result)
{
	struct model_counts counts;

	inverse->done = true;
	if (result->found == 0) {
		inverse->found = inverse->open && inverse->known > 0;
		return;
	}
	inverse->found = true;
	inverse->answer = inverse->value[inverse->at];
	planner_scenario(problem, &result->top[0], &inverse->scenario);
	model_count(&inverse->scenario.model, &counts);
	inverse->parameters = counts.total;
	ask_open_plans(inverse);
}

/* Go on to the next value, or to the answer if it is known. */
static void go_on(struct inverse *inverse)
{
	if (inverse->rising) {
		inverse->answering = inverse->low >= 0;
		inverse->at = inverse->answering ? inverse->low : inverse->high + 1;
		inverse->done = !inverse->answering && inverse->at == inverse->count;
		return;
	}
	inverse->answering = inverse->high - inverse->low == 1;
	inverse->at =
		inverse->answering ? inverse->low : (inverse->low + inverse->high) / 2;
	inverse->done = inverse->answering && inverse->low < 0;
}

bool inverse_take(struct inverse *inverse, const struct planner_problem *problem,
		  const struct planner_result *result)
{
	struct scenario best;
	bool good = result->found > 0;

	if (inverse->done)
		return true;
	if (good) {
		planner_scenario(problem, &result->top[0], &best);
		if (!in_time(inverse, &best, &good))
			return false;
	}
	if (inverse->answering || (good && inverse->deadline_seconds > 0)) {
		take_answer(inverse, problem, result);
		return true;
	}
	if (good) {
		inverse->low = inverse->at;
	} else {
		inverse->high = inverse->at;
		inverse->beyond = inverse->value[inverse->at];
	}
	go_on(inverse);
	if (inverse->done)
		ask_open_plans(inverse);
	return true;
}
