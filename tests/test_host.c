/* test_host.c - what offload takes from the accelerators lands in the hosts' memory:
 * nothing is lost, a node's GPUs share it, and beyond it a plan does not fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/knob/knob.h"
#include "engine/planner/planner.h"
#include "engine/rules/legality.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/lint.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"

static const double gib = 1073741824.0;
static struct estimate now, whole;
static int edges[2];
/* --- nothing is lost --- */

static const char *const models[] = { "llama3.1-8b",      "gpt2-xl",     "mixtral-8x7b",
				      "deepseek-v2-lite", "mamba2-2.7b", "gemma2-2b" };
static const char *const stacks[] = { "generic", "fsdp", "megatron-core" };
static const char *const clusters[] = { "dgx-a100-40g", "dgx-v100", "gb200-nvl72" };

static void any_scenario(struct scenario *s)
{
	struct error error = { "" };
	struct plan *plan = &s->plan;

	if (!scenario_blank(s, models[next(6)], clusters[next(3)], stacks[next(3)],
			    &error))
		fail_msg("%s", error.text);
	s->cluster.gpus = 1 << next(7);
	plan->tp = 1 << next(3);
	plan->pp = 1 << next(4);
	plan->ep = s->model.moe.experts > 0 ? 1 << next(3) : 1;
	plan->vpp = 1 + (int64_t)next(2);
	plan->schedule = (int)next(8);
	plan->zero = (int64_t)next(4);
	plan->recompute = (int)next(3);
	plan->micro_batch = 1 << next(2);
	plan->global_batch = 1 << (4 + next(4));
	plan->seq_len = 1024;
	plan->split = SPLIT_BALANCED;
	plan->optimizer_offload = 0.25 * (double)next(5);
	plan->activation_offload = 0.25 * (double)next(5);
}

/* The layer that runs backward is held whole: what had gone out of it comes back. */
static void check_stage(const struct scenario *s, int i)
{
	const struct stage_memory *m = &now.stage[i], *all = &whole.stage[i];
	double each = m->in_flight > 0 ? m->host_activations_bytes / m->in_flight : 0;
	double kept = m->activations_bytes + m->host_activations_bytes;

	assert_close(m->optimizer_bytes,
		     all->optimizer_bytes * (1 - s->plan.optimizer_offload), 1e-12);
	/* 12 bytes of states, and a gradient in fp32 for the host's step */
	assert_close(m->host_optimizer_bytes,
		     all->optimizer_bytes * s->plan.optimizer_offload * 16 / 12, 1e-12);
	assert_true(m->weights_bytes == all->weights_bytes);
	assert_true(m->gradients_bytes == all->gradients_bytes);
	assert_true(all->host_optimizer_bytes == 0 && all->host_activations_bytes == 0);
	if (m->in_flight != all->in_flight)
		return;
	assert_true(kept >= all->activations_bytes * (1 - 1e-12));
	assert_true(kept <= (all->activations_bytes + each) * (1 + 1e-12));
}

/* What is sent comes back: each micro-batch crosses the link twice. */
static void check_traffic(const struct scenario *s)
{
	double sent = 0;

	for (int i = 0; i < now.traffic_count; i++)
		if (strcmp(now.traffic[i].what, "activations to host") == 0)
			sent += now.traffic[i].total_bytes;
	for (int i = 0; i < now.stages; i++) {
		const struct stage_memory *m = &now.stage[i];

		if (m->in_flight > 0)
			sent -= 2 * (double)now.micro_batches *
				m->host_activations_bytes / m->in_flight / now.stages;
	}
	if (s->plan.activation_offload > 0)
		assert_true(fabs(sent) <= 1e-9 * now.cost[DIM_HOST].bytes);
}

static void test_nothing_is_lost(void **state)
{
	int legal = 0, sent = 0;

	(void)state;
	seed = 20240229;
	for (int i = 0; i < 6000; i++) {
		struct scenario s, plain;

		any_scenario(&s);
		plain = s;
		plain.plan.optimizer_offload = plain.plan.activation_offload = 0;
		if (scenario_check(&s, NULL) > 0 || scenario_check(&plain, NULL) > 0)
			continue;
		train_estimate(&s, &now);
		train_estimate(&plain, &whole);
		legal++;
		assert_int_equal(now.stages, whole.stages);
		for (int k = 0; k < now.stages; k++)
			check_stage(&s, k);
		check_traffic(&s);
		assert_true(whole.host_bytes == 0 && whole.host_fits);
		assert_true(now.host_bytes > 0 || (s.plan.optimizer_offload == 0 &&
						   s.plan.activation_offload == 0));
		sent += s.plan.activation_offload == 1;
	}
	assert_true(legal > 600 && sent > 50);
}

/* --- the rule, in numbers --- */

static const struct finding *finding(const char *code)
{
	for (int i = 0; i < now.problems.count; i++)
		if (strcmp(now.problems.item[i].rule->code, code) == 0)
			return &now.problems.item[i];
	return NULL;
}

static void test_the_rule(void **state)
{
	const struct finding *f;
	struct scenario s;
	double states = 0;

	(void)state;
	case_dense(&s);
	case_set(&s, "zero", "1");
	case_set(&s, "optimizer_offload", "1");
	s.cluster.host_bytes_per_gpu = 0;
	train_estimate(&s, &now);
	assert_true(now.legal && now.fits && now.host_fits && now.feasible);
	assert_true(now.host_capacity_bytes == 0);
	/* fp32 weight, gradient and two moments, over DP 2, and as much again by half
	 */
	for (int i = 0; i < now.stages; i++)
		states = fmax(states, now.stage[i].parameters * 16 / 2 * 1.5);
	assert_close(now.host_bytes, states, 1e-12);

	s.cluster.host_bytes_per_gpu = states * (1 + 1e-12);
	train_estimate(&s, &now);
	assert_true(now.fits && now.host_fits && !finding("X25"));

	s.cluster.host_bytes_per_gpu = states * 0.755;
	train_estimate(&s, &now);
	assert_true(now.legal && !now.fits && !now.host_fits && !now.feasible);
	assert_true(now.step_seconds > 0);
	assert_false(estimate_is_too_large(&now));
	f = finding("X25");
	assert_non_null(f);
	assert_true(f->rule->severity == SEVERITY_ERROR);
	assert_close(f->value[0], states, 1e-12);
	assert_close(f->value[1], states * 0.755, 1e-12);
	assert_string_equal(f->knob, "optimizer_offload");
	assert_int_equal(f->nearest_count, 1);
	assert_close(f->nearest[0], 0.75, 1e-12);
}

/* A DGX-2's 16 GPUs reach 3 GB/s each when all copy, and one alone the 12 GB/s of PCIe
 * 3 (ZeRO-Infinity, arXiv 2104.07857, section 3): two share them, four have no more
 * than 16, and a second node changes nothing. */
static void test_few_gpus_have_the_way(void **state)
{
	static const struct {
		const char *gpus;
		double rate;
	} rows[] = { { "1", 12e9 }, { "2", 6e9 },  { "4", 3e9 },
		     { "8", 3e9 },  { "16", 3e9 }, { "64", 3e9 } };
	struct error error = { "" };
	struct scenario s;

	(void)state;
	assert_true(scenario_blank(&s, "gpt2-xl", "dgx2-v100", "fsdp", &error));
	case_set(&s, "precision", "fp16");
	case_set(&s, "seq", "1024");
	case_set(&s, "optimizer_offload", "1");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct traffic *sent = NULL;

		case_set(&s, "gpus", rows[i].gpus);
		case_set(&s, "gbs", rows[i].gpus);
		assert_close(cluster_host_rate(&s.cluster), rows[i].rate, 1e-12);
		train_estimate(&s, &now);
		for (int k = 0; k < now.traffic_count; k++)
			if (now.traffic[k].dimension == DIM_HOST)
				sent = &now.traffic[k];
		assert_non_null(sent);
		assert_close(sent->total_bytes / sent->total_seconds, rows[i].rate,
			     1e-9);
	}
	/* a link that nobody stated stays unknown */
	s.cluster.accelerator.host_bytes_per_second = 0;
	assert_true(cluster_host_rate(&s.cluster) <= 0);
}

/* DeepSpeed trains 13 billion parameters on one V100 of a DGX-2 with 1.5 TB
 * (ZeRO-Offload, arXiv 2101.06840, section 6.2): 24 bytes of each are 291 GiB. A job of
 * part of a node has all of its host, and the CPU's step all of its memory's rate. */
static void test_a_job_has_the_whole_host(void **state)
{
	double bytes, seconds;
	struct error error;
	struct scenario s;

	(void)state;
	assert_true(scenario_blank(&s, "llama-13b", "dgx2-v100", "deepspeed", &error));
	case_set(&s, "gpus", "1");
	case_set(&s, "gbs", "4");
	case_set(&s, "mbs", "4");
	case_set(&s, "seq", "1024");
	case_set(&s, "precision", "fp16");
	case_set(&s, "zero", "2");
	case_set(&s, "recompute", "full");
	case_set(&s, "optimizer_offload", "1");
	train_estimate(&s, &now);
	assert_true(now.fits && now.host_fits && !finding("X25"));
	bytes = now.host_bytes;
	assert_close(bytes, 24 * now.stage[0].parameters, 1e-12);
	assert_close(now.host_capacity_bytes, 16 * s.cluster.host_bytes_per_gpu, 1e-12);
	seconds = states_host_seconds(&s);

	s.cluster.gpus_per_node = 1; /* one GPU's share is the host's */
	train_estimate(&s, &now);
	assert_true(!now.host_fits && finding("X25"));
	assert_close(now.host_bytes, bytes, 1e-12);
	assert_close(now.host_capacity_bytes, s.cluster.host_bytes_per_gpu, 1e-12);
	assert_close(states_host_seconds(&s), 16 * seconds, 1e-12);
}

/* Activations are pinned as they are: no estimate counts their bytes twice. */
static void test_activations_have_no_buffers(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.stack.rules = 0;
	s.plan.activation_offload = 1;
	s.cluster.gpus_per_node = 1;
	train_estimate(&s, &now);
	assert_true(now.stage[0].host_activations_bytes > 0);
	s.cluster.host_bytes_per_gpu =
		now.stage[0].host_activations_bytes * (1 + 1e-12);
	train_estimate(&s, &now);
	assert_true(now.host_fits && !finding("X25"));
}

/* One stage holds more micro-batches than the next, and one node may hold both. */
static void test_a_node_is_shared(void **state)
{
	static const int64_t sizes[] = { 1, 3, 4, 8, 16 };
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.stack.rules = 0;
	s.cluster.gpus = 8;
	s.plan.tp = 1;
	s.plan.sp = false;
	s.plan.pp = 8;
	s.plan.activation_offload = 1;
	s.plan.optimizer_offload = 0.5;
	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		double most = 0;

		s.cluster.gpus_per_node = sizes[k];
		train_estimate(&s, &now);
		assert_true(now.legal);
		for (int64_t at = 0; at < 8; at += sizes[k]) {
			double bytes = 0, gpus = 0;

			for (int64_t i = at; i < at + sizes[k] && i < 8; i++, gpus++)
				bytes += 1.5 * now.stage[i].host_optimizer_bytes +
					 now.stage[i].host_activations_bytes;
			most = fmax(most, bytes / gpus);
		}
		assert_close(now.host_bytes, most, 1e-12);
	}
	assert_true(now.stage[0].host_activations_bytes >
		    2 * now.stage[7].host_activations_bytes);
}

/* Accelerators that are just too small for a share are not given it, and those that are
 * just large enough are: whatever comes back with it, and what the allocator can't use.
 */
static void check_who_has_no_room(const struct scenario *s, double share,
				  const struct estimate *mended)
{
	for (int has_room = 0; has_room < 2; has_room++) {
		double room = mended->memory.total_bytes * (has_room ? 1.03 : 0.9999);
		struct scenario full = *s;
		const struct finding *f;

		full.cluster.accelerator.usable_bytes *= room / mended->capacity_bytes;
		train_estimate(&full, &whole);
		if (estimate_is_too_large(&whole))
			continue;
		assert_close(whole.capacity_bytes, room, 1e-9);
		f = NULL;
		for (int i = 0; i < whole.problems.count; i++)
			if (strcmp(whole.problems.item[i].rule->code, "X25") == 0)
				f = &whole.problems.item[i];
		assert_non_null(f);
		assert_true(has_room ==
			    (f->nearest_count > 0 && f->nearest[0] == share));
		edges[has_room]++;
	}
}

/* A remedy that is offered mends: the rest fits on both sides. */
static void test_remedies_mend(void **state)
{
	int offered = 0, refused = 0, activations = 0, simulated = 0, mended = 0;
	double share;

	(void)state;
	seed = 77;
	for (int i = 0; i < 6000; i++) {
		const struct finding *f;
		struct scenario s, before;

		any_scenario(&s);
		/* the stack whose gradients go to the host with the states */
		if (i % 4 == 0)
			assert_true(library_stack(&s, "deepspeed", NULL));
		s.cluster.host_bytes_per_gpu = gib * (double)(1 << next(7));
		before = s;
		if (scenario_check(&s, NULL) > 0)
			continue;
		train_estimate(&s, &now);
		f = finding("X25");
		assert_true(!now.host_fits == (f != NULL));
		assert_true(!f || (!now.feasible &&
				   now.host_bytes > now.host_capacity_bytes));
		if (!f)
			continue;
		refused += f->nearest_count == 0;
		if (f->nearest_count == 0 || estimate_is_too_large(&now))
			continue;
		offered++;
		activations += strcmp(f->knob, "activation_offload") == 0;
		share = f->nearest[0];
		assert_true(knob_set(&s, knob_find(f->knob), share));
		train_estimate(&s, &now);
		assert_true(now.legal);
		/* other times may keep other micro-batches in flight */
		if (s.plan.schedule > SCHEDULE_BREADTH_FIRST) {
			simulated++;
			mended += now.host_fits;
			continue;
		}
		assert_true(now.host_fits && now.feasible);
		check_who_has_no_room(&before, share, &now);
	}
	assert_true(edges[0] > 10 && edges[1] > 30);
	assert_true(simulated > 10 && mended >= simulated * 19 / 20);
	assert_true(offered > 50 && refused > 10 && activations > 10);
}

/* Who says that a plan does not fit is not sure that it does: hosts that are smaller by
 * and by leave a chance that falls, to even where they are just full and to nothing, or
 * to what nobody measured, where they are half of that. */
static void test_small_hosts_leave_no_chance(void **state)
{
	int full = 0, unsure = 0;

	(void)state;
	seed = 79;
	for (int i = 0; i < 2000; i++) {
		struct scenario s;
		double before, need, shares;

		any_scenario(&s);
		s.cluster.accelerator.calibration.unmeasured = next(2) > 0;
		s.cluster.host_bytes_per_gpu = 0;
		if (scenario_check(&s, NULL) > 0)
			continue;
		train_estimate(&s, &now);
		before = now.fit_probability;
		need = now.host_bytes;
		shares = cluster_host_shares(&s.cluster);
		if (need <= 0 || before < 0.6)
			continue;
		for (double room = 4; room >= 0.5; room /= 2) {
			s.cluster.host_bytes_per_gpu = need * room / shares;
			train_estimate(&s, &now);
			assert_true(now.fit_probability <= before);
			/* half full in the eyes of nobody, 1.5 times the range */
			assert_true(room < 2 ||
				    now.fit_probability >=
					    before - (now.wide_chance ? 0.06 : 1e-3));
			before = now.fit_probability;
		}
		assert_true(!now.fits &&
			    now.fit_probability <= (now.unsure ? 0.5 : 1e-6));
		s.cluster.host_bytes_per_gpu = need / 1.005 / shares;
		train_estimate(&s, &now);
		assert_close(now.fit_probability, 0.5, 1e-9);
		unsure += now.unsure;
		full++;
	}
	assert_true(full > 50 && unsure > 5);
}

/* Parts of layers that wait on the host, by one of four knobs or two of them. */
static void send_some(struct plan *plan)
{
	plan->optimizer_offload = next(4) ? 0 : 1;
	plan->activation_offload = next(3) ? 0 : 0.5;
	plan->offload_modules = 0;
	plan->offload_share = 1;
	plan->recompute = next(2) ? RECOMPUTE_SELECTIVE : RECOMPUTE_NONE;
	plan->remat_policy = next(2) ? REMAT_MINIMAL_OFFLOADED : REMAT_MODULES;
	/* a policy stands before them */
	if (plan->remat_policy == REMAT_MODULES)
		plan->offload_modules = 1u << OFFLOAD_QKV_LINEAR;
}

/* The knob that is named sends something: turned to nothing, the host holds less. */
static void test_who_sends_is_named(void **state)
{
	static struct estimate without;
	int named[4] = { 0 };

	(void)state;
	seed = 78;
	for (int i = 0; i < 3000; i++) {
		const struct finding *f;
		struct scenario s;

		any_scenario(&s);
		send_some(&s.plan);
		s.stack.rules = 0;
		s.cluster.host_bytes_per_gpu = 1e6 * (double)(1 << next(12));
		train_estimate(&s, &now);
		f = finding("X25");
		if (!now.legal || !f)
			continue;
		named[0] += strcmp(f->knob, "optimizer_offload") == 0;
		named[1] += strcmp(f->knob, "activation_offload") == 0;
		named[2] += strcmp(f->knob, "offload_modules") == 0;
		named[3] += strcmp(f->knob, "remat_policy") == 0;
		assert_true(knob_set(&s, knob_find(f->knob), 0));
		train_estimate(&s, &without);
		if (without.legal)
			assert_true(without.host_bytes < now.host_bytes);
	}
	for (int i = 0; i < 4; i++)
		assert_true(named[i] > 10);
}

/* --- who asks --- */

static void test_search_takes_none_of_them(void **state)
{
	static struct planner_problem problem;
	double shares[] = { 1 };
	struct error error = { "" };
	struct planner *planner;

	(void)state;
	for (int small = 0; small < 2; small++) {
		memset(&problem, 0, sizeof problem);
		assert_true(scenario_blank(&problem.base, "llama3.1-70b", "dgx-h100",
					   "megatron-core", &error));
		problem.base.cluster.gpus = 8;
		problem.base.plan.global_batch = 8;
		if (small)
			problem.base.cluster.host_bytes_per_gpu = 100 * gib;
		problem.top = 10;
		planner_axes(&problem);
		planner_pin(&problem, knob_find("optimizer_offload"), shares, 1);
		planner = planner_start(&problem);
		assert_non_null(planner);
		while (planner_step(planner, 1000))
			;
		/* 70 G parameters x 24 bytes over 8 GPUs are 196 GiB */
		assert_int_equal(planner_result(planner)->found > 0, !small);
		planner_free(planner);
	}
}

static bool varies(const struct planner_problem *problem, const char *key, double value)
{
	for (int i = 0; i < problem->axes; i++)
		for (int k = 0; k < problem->axis[i].count; k++)
			if (problem->axis[i].knob == knob_find(key) &&
			    problem->axis[i].value[k] == value)
				return true;
	return false;
}

static void test_search_offloads_activations_on_request(void **state)
{
	static struct planner_problem problem;
	struct error error = { "" };

	(void)state;
	assert_true(scenario_blank(&problem.base, "llama3.1-70b", "dgx-h100",
				   "megatron-core", &error));
	problem.base.plan.optimizer_offload = 0.3;
	problem.base.plan.activation_offload = 0.2;
	planner_axes(&problem);
	assert_true(varies(&problem, "optimizer_offload", 0.3));
	/* nothing but what the plan has itself */
	assert_true(varies(&problem, "activation_offload", 0));
	assert_true(varies(&problem, "activation_offload", 0.2));
	assert_false(varies(&problem, "activation_offload", 0.5));
	assert_false(varies(&problem, "activation_offload", 1));
	assert_false(planner_leaves_offload(&problem));
	problem.base.plan.activation_offload = 0;
	planner_axes(&problem);
	assert_true(planner_leaves_offload(&problem));
	planner_pin(&problem, knob_find("activation_offload"), (double[]){ 0, 0.5, 1 },
		    3);
	assert_true(varies(&problem, "activation_offload", 0.5));
	assert_false(planner_leaves_offload(&problem));
	planner_axes(&problem);
	problem.base.cluster.host_bytes_per_gpu = 0; /* not told */
	planner_axes(&problem);
	assert_true(varies(&problem, "optimizer_offload", 1));
	assert_false(planner_leaves_offload(&problem));
}

static void test_search_says_that_hosts_are_full(void **state)
{
	static const char plan[] =
		"search --model llama3.1-70b --cluster dgx-h100 --gpus 8 --gbs 64 "
		"--optimizer-offload 1 --host-memory-gib 16";

	(void)state;
	run_check(plan, 1, "no legal plan: X25 every plan that breaks no rule", "");
	run_check(plan, 1, "112 GPUs would do", "");
}

/* Lint names the host, not the accelerator. */
static void test_lint(void **state)
{
	static struct lint lint;
	struct lint_rules rules = { 0 };
	struct scenario s;
	bool host = false;

	(void)state;
	case_dense(&s);
	case_set(&s, "zero", "1");
	case_set(&s, "optimizer_offload", "1");
	case_set(&s, "host_memory_gib", "16");
	train_estimate(&s, &now);
	lint_run(&s, &(struct start){ .wanted = false }, &now, &rules, &whole, &lint);
	for (int i = 0; i < lint.count; i++) {
		assert_string_not_equal(lint.item[i].code, "OOM");
		host |= strcmp(lint.item[i].code, "X25") == 0;
	}
	assert_true(host && lint.errors == 1);
}

static void test_rules_are_listed(void **state)
{
	int seen = 0;

	(void)state;
	for (int i = 0; rule_at(i); i++)
		seen += rule_at(i) == train_note(0);
	assert_int_equal(seen, 1);
	assert_null(train_note(-1));
	assert_null(train_note(1));
}

static void test_the_program_says_it(void **state)
{
	static const char plan[] = "llama3-70b-64-h100 --optimizer-offload 1 "
				   "--host-memory-gib ";
	char line[160];

	(void)state;
	snprintf(line, sizeof line, "eval %s16", plan);
	run_check(line, 1, "X25", "");
	run_check(line, 1, "on the host", "");
	snprintf(line, sizeof line, "check %s16", plan);
	run_check(line, 1, "offload needs", "");
	snprintf(line, sizeof line, "eval %s200", plan);
	run_check(line, 0, "of 200 GiB, fits", "");
	snprintf(line, sizeof line, "eval %s0", plan);
	run_check(line, 0, "of an unknown size, fits", "");
}

static void test_the_screen_shows_it(void **state)
{
	struct stage stage;
	struct scenario s;

	(void)state;
	stage_open(&stage, "llama3-70b-64-h100", 120, 36);
	stage_type(&stage, "2");
	stage_lacks(&stage, "on the host");
	s = stage.explorer.scenario;
	case_set(&s, "optimizer_offload", "0.9");
	case_set(&s, "host_memory_gib", "16");
	explorer_change(&stage.explorer, &s, "test");
	explorer_update(&stage.explorer);
	stage_shows(&stage, " of 16.0 GiB");
	stage_shows(&stage, "host is too small");
	stage_type(&stage, "1");
	stage_shows(&stage, "HOST IS TOO SMALL");
	stage_shows(&stage, "offload needs");
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_the_rule),
		cmocka_unit_test(test_a_job_has_the_whole_host),
		cmocka_unit_test(test_few_gpus_have_the_way),
		cmocka_unit_test(test_activations_have_no_buffers),
		cmocka_unit_test(test_a_node_is_shared),
		cmocka_unit_test(test_remedies_mend),
		cmocka_unit_test(test_small_hosts_leave_no_chance),
		cmocka_unit_test(test_who_sends_is_named),
		cmocka_unit_test(test_search_takes_none_of_them),
		cmocka_unit_test(test_search_offloads_activations_on_request),
		cmocka_unit_test(test_search_says_that_hosts_are_full),
		cmocka_unit_test(test_lint),
		cmocka_unit_test(test_rules_are_listed),
		cmocka_unit_test(test_the_program_says_it),
		cmocka_unit_test(test_the_screen_shows_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
