/* drawn.c - sums of the figures of many drawn scenarios: one line stands for a figure
 * of all of them. $SHARDSCOPE_TELL_DRAWN prints each scenario's own, for two programs
 * to be compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "engine/serve/serve.h"
#include "engine/serve/tail.h"
#include "engine/train/bound.h"
#include "engine/train/terms.h"
#include "engine/train/train.h"
#include "tests/numbers/draw.h"
#include "tests/numbers/estimated.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

/* Draws for one that is legal. */
enum { TRIES = 200 };

static struct estimate e;

/* Digits count, wherever a value lies: bytes and shares alike move their sum. What
 * cancels is nothing beside what it is a part of. Two that change places show. */
static double weigh(const struct figure *figure, int at)
{
	double part = fabs(figure->value) * (figure->scale > 0 ? 1e9 : 1e12) /
		      (figure->scale > 0 ? figure->scale : 1);

	if (figure->words[0] != '\0')
		return (1 + at % 7) * figures_word(figure->words);
	if (!isfinite(part))
		return 1 + at % 7;
	return (1 + 0.1 * (at % 7)) * copysign(log1p(part), figure->value);
}

static void tell(const struct scenario *s, const struct figures *own)
{
	any_describe(s);
	for (int i = 0; i < own->count; i++)
		if (own->item[i].words[0] != '\0')
			print_error("  %s %s\n", own->item[i].key, own->item[i].words);
		else
			print_error("  %s %.10g\n", own->item[i].key,
				    own->item[i].value);
}

/* Figures come in one order, of which some are missing. */
static void add_up(struct figures *sum, const struct figures *own, int at)
{
	int place = 0;

	for (int i = 0; i < own->count; i++) {
		int found = -1;

		for (int k = 0; k < sum->count && found < 0; k++) {
			int here = (place + k) % sum->count;

			if (strcmp(sum->item[here].key, own->item[i].key) == 0)
				found = here;
		}
		if (found < 0) {
			found = sum->count;
			figures_add(sum, own->item[i].key, 1, 0);
			sum->item[found].value = 0;
		}
		sum->item[found].value += weigh(&own->item[i], at + 3 * i);
		place = found + 1;
	}
}

static void add_terms_of(struct figures *out, const struct term *list,
			 struct holding *holding, const struct whole_step *whole)
{
	for (int t = 0; list[t].key; t++) {
		double sum = 0;
		char key[MAX_FIGURE_KEY];

		for (int i = 0; i < e.stages; i++) {
			holding_enter(holding, i, &whole->load[i].sum,
				      whole->result.in_flight[i]);
			holding->activations = e.stage[i].activations_bytes;
			holding->buffers = e.stage[i].buffers_bytes;
			sum += (i + 1) * list[t].value(holding);
		}
		snprintf(key, sizeof key, "terms.%s", list[t].key);
		figures_add(out, key, sum, 0);
	}
}

/* What a stage holds and how long its update takes, addend by addend. */
static void add_terms(struct figures *out, const struct scenario *s)
{
	static struct whole_step whole;
	static struct estimate again;
	struct holding holding;

	if (!train_step(s, &whole, &again))
		return;
	holding_begin(&whole.step, &holding);
	add_terms_of(out, framework_terms, &holding, &whole);
	add_terms_of(out, update_terms, &holding, &whole);
	add_terms_of(out, buffer_terms, &holding, &whole);
}

/* And what searches say of it before they know: never more than it is. */
static void add_bounds(struct figures *out, const struct scenario *s)
{
	static struct trial trial;
	struct layer_cost part[MAX_PARTS];
	struct train_bound bound;
	struct bound_shape shape;
	struct bound_bytes states, activations;
	double seconds, ends, bytes;

	trial.scenario = *s;
	trial_begin(&trial);
	trial_cost(&trial, part);
	/* Its layers that stay wide are kinds of their own, as its parts are. */
	s = &trial.scenario;
	train_bound(s, part, &bound);
	train_bound_shape(s, &shape);
	seconds = train_bound_pipeline(&bound, &shape);
	ends = train_bound_ends(&bound, s);
	train_bound_states(&bound, s, &states);
	train_bound_activations(&bound, s, &shape, &activations);
	bytes = train_bound_bytes(&bound, &states, &activations);
	assert_true(train_bound_scaled(s, seconds + ends) <= e.step_seconds);
	assert_true(isinf(bytes) ? !e.host_fits : bytes <= e.memory.total_bytes);
	figures_add(out, "bound.work", train_bound_work(&bound, &shape), 0);
	figures_add(out, "bound.pipeline", seconds, 0);
	figures_add(out, "bound.ends", ends, 0);
	figures_add(out, "bound.states", states.mean + states.first + states.layer, 0);
	figures_add(out, "bound.activations", activations.mean + activations.first, 0);
	figures_add(out, "bound.bytes", isinf(bytes) ? -1 : bytes, 0);
	trial_use(&trial, part);
	if (!trial_stages(&trial))
		return;
	figures_add(out, "trial.floor", trial_floor(&trial), 0);
	figures_add(out, "trial.pipeline_floor", trial_pipeline_floor(&trial), 0);
	assert_true(trial_seconds(&trial, 0) == e.step_seconds);
}

/* The operators of a layer or of an end on one rank, the n-th counted n times. */
static void add_graph(struct figures *out, const struct scenario *s)
{
	enum { ASPECTS = 18 };
	static struct graph graph;
	int part = (int)next((uint64_t)s->model.kinds + 2);
	double sum[ASPECTS] = { 0 };

	train_graph(s, part, &graph);
	for (int i = 0; i < graph.count; i++) {
		const struct graph_operator *op = &graph.item[i];
		const double value[ASPECTS] = {
			op->forward_flops,
			op->input_grad_flops,
			op->forward_bytes,
			op->backward_bytes,
			op->saved_bytes,
			op->kept_bytes,
			op->weights,
			op->trainable,
			op->forward_seconds,
			op->input_grad_seconds,
			op->weight_grad_seconds,
			op->payload_bytes,
			op->host_forward,
			op->host_backward,
			op->again,
			op->held_bytes,
			op->exposed_forward,
			op->exposed_backward,
		};

		for (int k = 0; k < ASPECTS; k++)
			sum[k] += (i + 1) * value[k];
	}
	figures_add(out, "graph.operators", graph.count, 0);
	for (int k = 0; k < ASPECTS; k++) {
		char key[MAX_FIGURE_KEY];

		snprintf(key, sizeof key, "graph.%d", k);
		figures_add(out, key, sum[k], 0);
	}
}

static void add_counts(struct figures *out, const struct model *m, const char *of)
{
	struct model_counts counts;
	char key[MAX_FIGURE_KEY];

	model_count(m, &counts);
	snprintf(key, sizeof key, "%s.counts", of);
	figures_add(out, key, counts.total, 0);
	figures_add(out, key, counts.active, 0);
	figures_add(out, key, counts.routed, 0);
	figures_add(out, key, counts.embedding + counts.head, 0);
	figures_add(out, key, counts.mtp + counts.mtp_active, 0);
}

/* The model of its own, of any length, and half or twice as large. */
static void add_model(struct figures *out, const struct model *m)
{
	static struct model other;
	int64_t seq = 1 + (int64_t)next(1u << (4 + next(16)));

	add_counts(out, m, "model");
	figures_add(out, "model.flops",
		    model_trained_flops_per_token(m, seq, false, 0, LORA_ALL), 0);
	figures_add(out, "model.flops",
		    model_trained_flops_per_token(m, seq, true, 0, LORA_ALL), 0);
	figures_add(out, "model.kv", model_kv_bytes_per_token(m, seq, 2), 0);
	for (int k = 0; k < m->kinds; k++)
		figures_add(out, "model.cache",
			    model_cache_bytes(m, &m->kind[k], (double)seq,
					      (double)(1u << next(4)), 1),
			    0);
	figures_add(out, "model.adapters",
		    model_adapters(m, 16, next(2) ? LORA_ALL : LORA_ATTENTION), 0);
	if (model_scale(m, next(2) ? 0.4 : 2.1, &other))
		add_counts(out, &other, "scaled");
}

/* What is remarked, with its numbers and the values that would mend it. */
static void add_remarks(struct figures *out)
{
	double sum = 0;

	for (int i = 0; i < e.problems.count; i++) {
		const struct finding *f = &e.problems.item[i];

		for (int k = 0; k < MAX_TERMS; k++)
			if (isfinite(f->value[k]))
				sum += (i + k + 1) * log1p(fabs(f->value[k]) * 1e3);
		for (int k = 0; k < f->nearest_count; k++)
			sum += (i + k + 11) * log1p(fabs(f->nearest[k]) * 1e3);
	}
	figures_add(out, "remarks", sum, 0);
}

static void trained(const struct scenario *s, struct figures *out)
{
	figures_trained(s, out);
	add_remarks(out);
	add_terms(out, s);
	add_bounds(out, s);
	add_graph(out, s);
	add_model(out, &s->model);
}

static void advised(const struct scenario *s, struct figures *out)
{
	static struct findings advice;

	out->count = 0;
	advice_give(s, &e, &advice);
	figures_add(out, "advice", advice.count, 0);
	for (int i = 0; i < advice.count; i++) {
		const struct finding *finding = &advice.item[i];
		char key[MAX_FIGURE_KEY];
		double sum = 0;

		for (int k = 0; k < MAX_TERMS; k++)
			if (isfinite(finding->value[k]))
				sum += (k + 1) * log1p(fabs(finding->value[k]) * 1e3);
		for (int k = 0; k < finding->nearest_count; k++)
			sum += (k + 11) * log1p(fabs(finding->nearest[k]));
		snprintf(key, sizeof key, "%s", finding->rule->code);
		figures_add(out, key, 100 + i + sum, 0);
		figures_say(out, "knob", finding->knob ? finding->knob : "");
	}
}

static void explained(const struct scenario *s, struct figures *out)
{
	figures_explained(s, &e, out);
}

static void served(const struct scenario *s, struct figures *out)
{
	struct serve_pool pool[2];
	struct serve_roofline roof;
	struct scenario begun = *s, loop = *s;
	int pools = serve_pools(s, pool);

	figures_served(s, out);
	add_remarks(out);
	for (int i = 0; i < pools; i++) {
		figures_add(out, "pool.first", (double)pool[i].first, 0);
		figures_add(out, "pool.gpus", (double)pool[i].gpus, 0);
		figures_add(out, "pool.engine", (double)pool[i].engine, 0);
		figures_add(out, "pool.engines", (double)pool[i].engines, 0);
		figures_add(out, "pool.tp", (double)pool[i].mesh.tp, 0);
	}
	serve_roofline(s, &roof);
	figures_add(out, "roof.flops", roof.flops_per_second, 0);
	figures_add(out, "roof.bytes", roof.bytes_per_second, 0);
	if (next(2))
		begun.plan.serving.concurrency = 64;
	serve_begin(&begun);
	if (e.fits && serve_switch_loop(&loop, &e.serving)) {
		figures_add(out, "loop.rate", loop.plan.serving.request_rate, 0);
		figures_add(out, "loop.requests", (double)loop.plan.serving.concurrency,
			    0);
	}
	figures_add(out, "begin.requests", (double)begun.plan.serving.concurrency, 0);
	figures_add(out, "begin.precision", begun.plan.precision, 0);
	figures_add(out, "begin.ttft", begun.plan.serving.goal_ttft_seconds, 0);
	figures_add(out, "begin.tpot", begun.plan.serving.goal_tpot_seconds, 0);
}

/* Request by request; of some what one request in a hundred exceeds along the curve. */
static void queued(const struct scenario *s, struct figures *out)
{
	enum { POINTS = 4, TAILS = 2 };
	struct serve_point point[POINTS], tail[TAILS];
	int count;

	figures_queued(s, out);
	if (next(12) != 0)
		return;
	count = serve_tail_curve(s, point, serve_curve(s, point, POINTS), tail, TAILS);
	for (int i = 0; i < count; i++) {
		figures_add(out, "tail.requests", tail[i].concurrency, 0);
		figures_add(out, "tail.ttft", tail[i].ttft_seconds, 0);
		figures_add(out, "tail.tpot", tail[i].tpot_seconds, 0);
		figures_add(out, "tail.output", tail[i].output_tokens_per_second, 0);
		figures_add(out, "tail.user", tail[i].per_user, 0);
		figures_add(out, "tail.meets", tail[i].meets, 0);
	}
}

/* What is drawn, of so many that are legal. */
static const struct kind {
	const char *word;
	int mode, count;
	bool fits; /* no other is looked at */
	void (*figures)(const struct scenario *s, struct figures *out);
} kinds[] = {
	{ "training", MODE_TRAINING, 400, false, trained },
	{ "serving", MODE_INFERENCE, 280, false, served },
	{ "queue", MODE_INFERENCE, 110, true, queued },
	{ "advice", MODE_TRAINING, 140, false, advised },
	{ "advice-to-servers", MODE_INFERENCE, 90, false, advised },
	{ "explained", MODE_TRAINING, 30, false, explained },
	{ "explained-servers", MODE_INFERENCE, 50, true, explained },
};

static const struct kind *kind_of(const char *title, const char **stack)
{
	*stack = strchr(title, ' ');
	assert_non_null(*stack);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strncmp(title, kinds[i].word, (size_t)(*stack - title)) == 0 &&
		    strlen(kinds[i].word) == (size_t)(*stack - title)) {
			++*stack;
			return &kinds[i];
		}
	fail_msg("nothing draws \"%s\"", title);
	return NULL;
}

/* A machine without a number that it needs gives none. */
static bool is_finite(int mode)
{
	return mode == MODE_INFERENCE ||
	       (isfinite(e.step_seconds) && isfinite(e.memory.total_bytes));
}

static void tell_of(const struct scenario *s, const struct figures *own)
{
	if (getenv("SHARDSCOPE_TELL_DRAWN"))
		tell(s, own);
}

/* Runs that nobody measured, and how their predictions score. */
static void scored(struct figures *out)
{
	enum { SETS = 40 };
	static struct figures own;

	for (int i = 0; i < SETS; i++) {
		figures_scored((uint64_t)i, &own);
		add_up(out, &own, i);
	}
}

void figures_drawn(const char *title, struct figures *out)
{
	static struct figures own;
	const char *stack;
	const struct kind *kind;
	uint64_t number = 0;
	int found = 0;

	out->count = 0;
	if (strcmp(title, "scores") == 0) {
		scored(out);
		return;
	}
	if (figures_of_table(title, out))
		return;
	kind = kind_of(title, &stack);
	for (; found < kind->count; number++) {
		struct scenario s;

		if (number > (uint64_t)kind->count * TRIES)
			fail_msg("%s: %d of %d can run", title, found, kind->count);
		draw_scenario(stack, kind->mode, number, &s);
		if (scenario_check(&s, NULL) > 0)
			continue;
		scenario_estimate(&s, &e);
		if (!e.legal || (kind->fits && !e.fits) || !is_finite(kind->mode))
			continue;
		kind->figures(&s, &own);
		tell_of(&s, &own);
		add_up(out, &own, found++);
	}
	figures_add(out, "draws", (double)number, 0);
}
