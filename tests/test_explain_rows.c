/* test_explain_rows.c - whatever the scenario, a formula of Explain gives its number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/formula.h"
#include "engine/explain/explain.h"
#include "engine/rules/legality.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

enum { WALKED = 24000, DEPTH = 32 };

/* Keys that one scenario's chains have been through: each is walked once. */
struct walk {
	const struct scenario *scenario;
	const struct estimate *estimate;
	int count, path_length;
	char seen[WALKED][EXPLAIN_MAX_KEY];
	char path[DEPTH][EXPLAIN_MAX_KEY];
};

/* Computes the formula with the terms, as a reader would. False where it is in words.
 */
static bool compute(const struct explanation *x, double *value)
{
	struct formula_symbol symbols[sizeof x->term / sizeof x->term[0]];

	for (int i = 0; i < x->terms; i++)
		symbols[i] =
			(struct formula_symbol){ x->term[i].symbol, x->term[i].value };
	return formula_evaluate(x->formula, symbols, x->terms, value, NULL);
}

static void describe(const struct walk *w, const struct explanation *x)
{
	any_describe(w->scenario);
	for (int i = 0; i < w->path_length; i++)
		print_error("%s > ", w->path[i]);
	print_error("\n%s\n", x->formula);
	for (int i = 0; i < x->terms; i++)
		print_error("  %s = %.12g (%s)\n", x->term[i].symbol, x->term[i].value,
			    x->term[i].key);
}

/* The formula gives the value, with no term that it does not use and none without a
 * page. */
static void check_page(const struct walk *w, const char *key,
		       const struct explanation *x)
{
	double value = 0;

	if (!compute(x, &value) || !x->computes ||
	    fabs(value - x->value) >
		    1e-6 * fabs(x->value) + 1e-9 * w->estimate->step_seconds) {
		describe(w, x);
		fail_msg("%s: '%s' gives %.9g, not %.9g", key, x->formula, value,
			 x->value);
	}
	assert_true(x->terms < EXPLAIN_MAX_TERMS);
	for (int i = 0; i < x->terms; i++) {
		for (int j = 0; j < i; j++)
			if (strcmp(x->term[i].symbol, x->term[j].symbol) == 0) {
				describe(w, x);
				fail_msg("%s has %s twice", key, x->term[i].symbol);
			}
		if (!formula_uses(x->formula, x->term[i].symbol)) {
			describe(w, x);
			fail_msg("%s does not use %s", key, x->term[i].symbol);
		}
		if (!x->term[i].key[0]) {
			describe(w, x);
			fail_msg("%s: %s has no key", key, x->term[i].symbol);
		}
	}
}

static bool is_seen(struct walk *w, const char *key)
{
	for (int i = 0; i < w->path_length; i++)
		if (strcmp(w->path[i], key) == 0)
			fail_msg("%s leads to itself", key);
	for (int i = 0; i < w->count; i++)
		if (strcmp(w->seen[i], key) == 0)
			return true;
	assert_true(w->count < WALKED);
	snprintf(w->seen[w->count++], sizeof w->seen[0], "%s", key);
	return false;
}

/* Every chain from a key to its ends, each number once. */
static void follow(struct walk *w, const char *key, bool deep)
{
	struct explanation *x;

	if (is_seen(w, key))
		return;
	x = malloc(sizeof *x);
	if (!explain(w->scenario, w->estimate, key, x))
		fail_msg("%s is not explained", key);
	assert_true(w->path_length < DEPTH);
	snprintf(w->path[w->path_length++], sizeof w->path[0], "%s", key);
	if (x->computes || x->terms > 0 || w->path_length == 1)
		check_page(w, key, x);
	for (int i = 0; deep && i < x->terms; i++) {
		struct explanation_term *term = &x->term[i];
		struct explanation next;

		follow(w, term->key, deep);
		assert_true(explain(w->scenario, w->estimate, term->key, &next));
		if (next.value != term->value) {
			describe(w, x);
			fail_msg("%s: %s is %.17g, its page says %.17g", key,
				 term->symbol, term->value, next.value);
		}
	}
	w->path_length--;
	free(x);
}

/* Of a stage behind the dot. */
static const char *const of_stage[] = {
	"weights_bytes",        "gradients_bytes",
	"optimizer_bytes",      "activations_bytes",
	"buffers_bytes",        "framework_bytes",
	"total_bytes",          "allocated_bytes",
	"reserved_bytes",       "in_flight",
	"parameters",           "layers",
	"forward_seconds",      "backward_seconds",
	"busy_seconds",         "exposed_seconds",
	"idle_seconds",         "optimizer_seconds",
	"recompute_seconds",    "kv_bytes",
	"host_optimizer_bytes", "host_activations_bytes",
};

static void check_all(struct walk *w, bool deep)
{
	int stage = (int)next((uint64_t)w->estimate->stages);

	w->count = w->path_length = 0;
	for (int i = 0; i < metric_count(); i++)
		if (metric_table[i].modes & METRIC_TRAINING)
			follow(w, metric_table[i].key, deep);
	for (size_t i = 0; i < sizeof of_stage / sizeof of_stage[0]; i++) {
		char key[64];

		snprintf(key, sizeof key, "stages.%d.%s", stage, of_stage[i]);
		follow(w, key, deep);
	}
}

/* Legal scenarios of all that ships, some of them scaled by a measured run, some on
 * nodes that the job fills in part. */
static void check_scenarios(int count, bool deep)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct walk *w = malloc(sizeof *w);
	int legal = 0;

	while (legal < count) {
		struct scenario s;

		any_scenario(&s);
		/* one measured run scales times; half a node fails like a whole one */
		s.cluster.scale = legal % 3 == 0 ? 1.2 : 1;
		if (legal % 5 == 0)
			s.cluster.gpus_per_node = 6;
		if (scenario_check(&s, NULL) > 0)
			continue;
		train_estimate(&s, e);
		if (!e->legal)
			continue;
		legal++;
		w->scenario = &s;
		w->estimate = e;
		check_all(w, deep);
	}
	free(e);
	free(w);
}

static void test_formulas_give_their_number_for_any_scenario(void **state)
{
	(void)state;
	seed = 99;
	check_scenarios(400, false);
}

static void test_chains_end_for_any_scenario(void **state)
{
	(void)state;
	seed = 7;
	check_scenarios(40, true);
}

static double term(const struct explanation *x, const char *symbol)
{
	for (int i = 0; i < x->terms; i++)
		if (strcmp(x->term[i].symbol, symbol) == 0)
			return x->term[i].value;
	fail_msg("no term %s", symbol);
	return 0;
}

/* FSDP that keeps its weights under a pipeline sums whole gradients in fp32, whatever
 * type they travel in: no rank shares them. */
static void test_gradients_of_kept_weights_are_whole(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct explanation x;
	struct scenario s;
	double value;

	(void)state;
	if (!scenario_blank(&s, "llama3.1-8b", "dgx-h100", "fsdp", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 16;
	s.plan.pp = 2;
	s.plan.zero = 3;
	s.plan.fsdp_reshard = false;
	s.plan.grad_dtype = GRAD_BF16;
	s.plan.global_batch = 64;
	train_estimate(&s, e);
	assert_true(e->legal && explain(&s, e, "stages.0.gradients_bytes", &x));
	assert_true(compute(&x, &value));
	assert_close(value, 4 * e->stage[0].parameters, 1e-9);
	assert_close(x.value, value, 1e-9);
	assert_close(term(&x, "g"), 4, 1e-12);
	assert_false(formula_uses(x.formula, "d"));
	free(e);
}

/* A bubble told by the step and a step told by the bubble would explain neither. */
static void test_the_bubble_is_told_without_the_step(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct explanation x;
	struct scenario s;

	(void)state;
	if (!scenario_read(&s, "llama3-70b-64-h100", NULL, &error))
		fail_msg("%s", error.text);
	train_estimate(&s, e);
	assert_true(explain(&s, e, "bubble_seconds", &x) && x.computes);
	assert_false(formula_uses(x.formula, "step"));
	assert_close(term(&x, "idle"), e->bubble_ratio * e->pipeline_seconds, 1e-9);
	assert_true(term(&x, "late") >= 0);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas_give_their_number_for_any_scenario),
		cmocka_unit_test(test_chains_end_for_any_scenario),
		cmocka_unit_test(test_gradients_of_kept_weights_are_whole),
		cmocka_unit_test(test_the_bubble_is_told_without_the_step),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
