/* test_would_do.c - where nothing fits: each thing that would do does by a search of
 * its own, and what would do, and was not tried, is told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/miss.h"
#include "engine/predict/predict.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct planner_problem problem;
static struct planner_result result;
static struct misses misses;
static struct estimate e;

static int below(int n)
{
	return (int)next((uint64_t)n);
}

static void solve(const struct planner_problem *what)
{
	struct planner *planner = planner_start(what);

	assert_non_null(planner);
	while (planner_step(planner, 1000)) {
	}
	result = *planner_result(planner);
	planner_free(planner);
}

static void pin(const char *key, const char *text)
{
	char why[96];

	if (!planner_pin_text(&problem, knob_find(key), text, why, sizeof why))
		fail_msg("%s: %s", key, why);
}

/* A few plans, of which now and then none is legal or none fits. */
static void draw(void)
{
	static const char *const fixed[][2] = {
		{ "sp", "off" },
		{ "cp", "1" },
		{ "cp_kind", "ring" },
		{ "zero_group", "0" },
		{ "schedule", "1f1b" },
		{ "split", "auto" },
		{ "vpp", "1" },
		{ "mbs", "1" },
		{ "recompute", "none" },
		{ "recompute_modules", "core_attn" },
		{ "recompute_layers", "0" },
		{ "activation_offload", "0" },
		{ "optimizer_offload", "0" },
	};
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, below(2) ? "llama2-7b" : "gpt2-xl",
			    "dgx-a100-40g", "generic", &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = 3 + below(8);
	problem.base.plan.global_batch = 5 + below(12);
	problem.base.plan.seq_len = 1024 << below(3);
	problem.base.cluster.accelerator.usable_bytes *= 0.02 + 0.1 * below(8);
	problem.base.cluster.host_bytes_per_gpu = below(4) ? 1e12 : 1e9;
	problem.research = true;
	problem.top = 3;
	problem.reserve = below(4) ? 0.05 * below(3) : 0.6;
	planner_axes(&problem);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		pin(fixed[i][0], fixed[i][1]);
	pin("tp", below(2) ? "1,2" : "4,5");
	pin("pp", "1,2");
	pin("zero", below(2) ? "0,1" : "3");
	if (below(3) == 0)
		pin("optimizer_offload", "0,1");
	else if (below(4) == 0)
		pin("optimizer_offload", "1");
	if (below(4) == 0)
		pin("gbs", "6,7,9");
}

static bool has_axis(const char *key)
{
	for (int i = 0; i < problem.axes; i++)
		if (strcmp(problem.axis[i].knob->key, key) == 0)
			return problem.axis[i].count > 1;
	return false;
}

/* Whether something fits with this value of the knob, whatever is known of it. */
static bool fits_with(const char *key, double value)
{
	struct planner_problem asked;
	struct scenario base = problem.base;

	knob_set(&base, knob_find(key), value);
	planner_again(&problem, &base, &asked);
	assert_true(planner_pin(&asked, knob_find(key), &value, 1));
	asked.exhaustive = true;
	solve(&asked);
	return result.found > 0;
}

/* The fewest bytes of a legal plan that hosts hold; infinite: there is none. */
static double least_bytes(void)
{
	uint8_t choice[MAX_AXES] = { 0 };
	double least = INFINITY;
	int i;

	do {
		struct scenario s = problem.base;

		for (int k = 0; k < problem.axes; k++)
			knob_set(&s, problem.axis[k].knob,
				 problem.axis[k].value[choice[k]]);
		scenario_estimate(&s, &e);
		if (e.legal && e.host_fits)
			least = fmin(least, e.memory.total_bytes);
		for (i = problem.axes - 1; i >= 0; i--) {
			if (++choice[i] < problem.axis[i].count)
				break;
			choice[i] = 0;
		}
	} while (i >= 0);
	return least;
}

static int machines(double *value)
{
	int count = inverse_gpus(&problem.base.cluster, 512, value, 64), kept = 0;

	for (int i = 0; i < count; i++)
		if (value[i] > (double)problem.base.cluster.gpus)
			value[kept++] = value[i];
	return kept;
}

/* The next machine: the one that is told fits, no smaller one does. */
static void check_machine(void)
{
	double value[64];
	int count = machines(value), most = misses.gpus > 0 ? count : 3;

	for (int i = 0; i < most; i++) {
		bool fits = fits_with("gpus", value[i]);

		assert_int_equal(fits, value[i] == misses.gpus);
		if (fits)
			return;
	}
	assert_true(misses.gpus == 0);
}

/* The longest sequence: a sixteenth of an octave more does not fit. */
static void check_sequence(void)
{
	double step = exp2(floor(log2(misses.seq_len))) / 16;

	if (misses.seq_len == 0)
		return;
	assert_true(misses.seq_len < (double)problem.base.plan.seq_len);
	assert_true(fits_with("seq", misses.seq_len));
	if (misses.seq_len + step < (double)problem.base.plan.seq_len)
		assert_false(fits_with("seq", misses.seq_len + step));
}

static void test_each_thing_that_would_do(void **state)
{
	int told[6] = { 0 }, untold[6] = { 0 };

	(void)state;
	seed = 613;
	for (int round = 0; round < 150; round++) {
		struct planner_problem asked;
		double gpus, up, least;
		bool offload, batch;

		draw();
		solve(&problem);
		if (result.found > 0)
			continue;
		misses_begin(&misses, &problem);
		while (misses_next(&misses, &asked)) {
			struct planner_problem own = asked;

			/* nothing legal is nothing that hosts could hold */
			assert_true(misses.stage != MISS_OFFLOAD || misses.count > 0);

			solve(&own);
			misses_take(&misses, &own, &result);
		}
		least = least_bytes();
		assert_int_equal(misses.count > 0, isfinite(least));
		assert_true(misses.has_bytes == planner_room(&problem, &problem.base));
		if (misses.count > 0) {
			double usable = problem.base.cluster.accelerator.usable_bytes;

			assert_true(misses.miss[0].memory_bytes == least);
			assert_int_equal(misses.reserve, least <= usable);
			assert_close(misses.wants_bytes, least / (1 - problem.reserve),
				     1e-12);
		}
		check_machine();
		check_sequence();
		/* of what is legal only, and not what was tried */
		offload = misses.count > 0 && !has_axis("optimizer_offload") &&
			  problem.base.plan.optimizer_offload != 1 &&
			  fits_with("optimizer_offload", 1);
		assert_int_equal(misses.offload, offload);
		/* the next multiple of the GPUs, where no plan is legal */
		gpus = (double)problem.base.cluster.gpus;
		up = gpus * ceil((double)problem.base.plan.global_batch / gpus);
		batch = misses.count == 0 && !has_axis("gbs") && fits_with("gbs", up);
		assert_true(misses.batch == (batch ? up : 0));
		const bool has[6] = { misses.gpus > 0,    misses.offload,
				      misses.seq_len > 0, misses.batch > 0,
				      misses.reserve,     misses.count > 0 };
		for (int i = 0; i < 6; i++)
			*(has[i] ? &told[i] : &untold[i]) += 1;
	}
	for (int i = 0; i < 6; i++)
		if (told[i] < 1 || untold[i] < 3)
			fail_msg("%d: %d told, %d not", i, told[i], untold[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_thing_that_would_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
