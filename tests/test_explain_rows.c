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

/* Whose formulas are arithmetic in every scenario; of a stage behind the dot. */
static const char *const computed[] = {
	"flops_per_token",
	"capacity_bytes",
	"host_capacity_bytes",
	"step_seconds",
	"bubble_seconds",
	"exposed_seconds",
	"bubble_ratio",
	"idle_to_ideal",
	"step_seconds_low",
	"total_bytes_high",
	"tokens_per_second",
	"tokens_per_second_per_gpu",
	"tokens_per_step",
	"tflops_per_gpu",
	"mfu",
	"mfu_bf16",
	"hfu",
	"run_steps",
	"run_seconds",
	"run_gpu_hours",
	"run_dollars",
	"run_joules",
	"run_failures",
	"goodput",
	"checkpoint_bytes",
	"checkpoint_seconds",
	"checkpoint_interval_seconds",
	".weights_bytes",
	".gradients_bytes",
	".optimizer_bytes",
	".activations_bytes",
	".buffers_bytes",
	".framework_bytes",
	".host_optimizer_bytes",
	".host_activations_bytes",
	".total_bytes",
	".allocated_bytes",
	".reserved_bytes",
	".idle_seconds",
};
/* Arithmetic but with Muon. What is in flight is at most what a paper says of it. */
static const char *const sometimes[] = { ".optimizer_seconds" };

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

static void check_key(const struct scenario *s, const struct estimate *e,
		      const char *name, bool always)
{
	struct explanation x;
	char key[64];
	double value;
	int stage = (int)next((uint64_t)e->stages);

	if (name[0] == '.')
		snprintf(key, sizeof key, "stages.%d%s", stage, name);
	else
		snprintf(key, sizeof key, "%s", name);
	if (!explain(s, e, key, &x))
		fail_msg("%s is not explained", key);
	assert_true(x.terms < (int)(sizeof x.term / sizeof x.term[0]));
	if (!compute(&x, &value)) {
		if (always)
			fail_msg("%s: '%s' is no arithmetic", key, x.formula);
		return;
	}
	if (fabs(value - x.value) >
	    1e-6 * fabs(x.value) + 1e-9 * (1 + e->step_seconds)) {
		any_describe(s);
		fail_msg("%s: '%s' gives %g, not %g", key, x.formula, value, x.value);
	}
}

static void test_formulas_give_their_number_for_any_scenario(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	int legal = 0;

	(void)state;
	seed = 99;
	while (legal < 400) {
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
		for (size_t i = 0; i < sizeof computed / sizeof computed[0]; i++)
			check_key(&s, e, computed[i], true);
		for (size_t i = 0; i < sizeof sometimes / sizeof sometimes[0]; i++)
			check_key(&s, e, sometimes[i], false);
	}
	free(e);
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
	assert_close(term(&x, "d"), 1, 1e-12);
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
		cmocka_unit_test(test_gradients_of_kept_weights_are_whole),
		cmocka_unit_test(test_the_bubble_is_told_without_the_step),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
