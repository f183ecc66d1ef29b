/* test_hosts.c - what the CPU does for a layer, and when it sets the pace. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/graph/build.h"
#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

/* DeepSeek-V3 as in NVIDIA's guide for GB200: 8 local experts, mxfp8. */
static void deepseek(struct scenario *s)
{
	struct error error;

	assert_true(scenario_blank(s, "deepseek-v3", "gb200-nvl72", "megatron-core",
				   &error));
	s->model.mtp_layers = 0;
	case_set(s, "gpus", "256");
	case_set(s, "pp", "8");
	case_set(s, "vpp", "4");
	case_set(s, "ep", "32");
	case_set(s, "precision", "mxfp8");
	case_set(s, "moe_dispatcher", "deepep");
	case_set(s, "split", "custom");
	case_set(s, "layout", "Et|(tt|)*30L");
	case_set(s, "gbs", "2048");
	case_set(s, "host_binding", "off");
}

static const struct graph *draw(const struct scenario *s)
{
	static struct graph_context context;
	static struct graph graph;
	static struct mesh mesh;

	mesh_build(s, &mesh);
	graph_context(s, &mesh, &context);
	graph_layer(&context, s->model.kinds - 1, &graph);
	return &graph;
}

static double launches(const struct scenario *s, const char *name, bool backward)
{
	const struct graph *graph = draw(s);

	for (int i = 0; i < graph->count; i++)
		if (strcmp(graph->item[i].name, name) == 0)
			return backward ? graph->item[i].host_backward
					: graph->item[i].host_forward;
	fail_msg("no %s", name);
	return 0;
}

static double all_launches(const struct scenario *s)
{
	const struct graph *graph = draw(s);
	double sum = 0;

	for (int i = 0; i < graph->count; i++)
		sum += graph->item[i].host_forward + graph->item[i].host_backward;
	return sum;
}

static double seconds(const struct scenario *s)
{
	static struct estimate e;

	train_estimate(s, &e);
	assert_true(e.legal);
	return e.step_seconds;
}

/* 72, 31 and 17 kernels (the guide, 2.1.4 and 2.2.1), two launches each. */
static void test_router_launches_what_was_counted(void **state)
{
	struct scenario s;

	(void)state;
	deepseek(&s);
	case_set(&s, "router_fusion", "off");
	case_set(&s, "moe_dispatcher", "alltoall");
	assert_close(launches(&s, "router", false), 72 * 2, 1e-12);
	case_set(&s, "router_fusion", "on");
	assert_close(launches(&s, "router", false), 31 * 2, 1e-12);
	case_set(&s, "moe_dispatcher", "deepep");
	assert_close(launches(&s, "router", false), 17 * 2, 1e-12);
}

/* Scales of 8 experts: 9 launches each (4 tensors, 2 fills, the kernel, 2 swizzles), 4
 * with one buffer, 2 with one swizzle; of the input forward, of the gradient back. */
static void test_scales_launch_for_each_expert(void **state)
{
	static const char *const words[] = { "each", "zeroed", "fused" };
	static const double each[] = { 9, 4, 2 };
	double forward[3], backward[3], step[3];
	struct scenario s;

	(void)state;
	deepseek(&s);
	for (int i = 0; i < 3; i++) {
		case_set(&s, "scale_fusion", words[i]);
		forward[i] = launches(&s, "expert down", false);
		backward[i] = launches(&s, "expert down", true);
		step[i] = seconds(&s);
	}
	for (int i = 1; i < 3; i++) {
		assert_close(forward[0] - forward[i], 8 * (each[0] - each[i]), 1e-12);
		assert_close(backward[0] - backward[i], 8 * (each[0] - each[i]), 1e-12);
		assert_true(step[i] < step[i - 1]);
	}
}

static void test_graphs_take_their_scopes_launches(void **state)
{
	double none, attention, router, whole;
	struct scenario s;

	(void)state;
	deepseek(&s);
	none = all_launches(&s);
	case_set(&s, "cuda_graphs", "partial");
	case_set(&s, "graph_scopes", "attn");
	attention = all_launches(&s);
	assert_true(launches(&s, "query up", false) == 0);
	case_set(&s, "graph_scopes", "attn+moe_router+moe_preprocess");
	router = all_launches(&s);
	assert_true(launches(&s, "router", false) == 0);
	/* the router decides how many rows experts get: no graph has them */
	case_set(&s, "graph_scopes", "attn+moe_router+moe_preprocess+moe");
	assert_close(all_launches(&s), router, 1e-12);
	assert_true(launches(&s, "expert down", false) > 0);
	case_set(&s, "moe_capacity", "pad");
	assert_true(launches(&s, "expert down", false) == 0);
	whole = all_launches(&s);
	assert_true(none > attention && attention > router && router > whole);
	case_set(&s, "cuda_graphs", "full");
	assert_true(all_launches(&s) == 0);
}

static double waits(const struct graph *graph)
{
	double sum = 0;

	for (int i = 0; i < graph->count; i++)
		if (graph->item[i].kind == OPERATOR_WAIT)
			sum += graph->item[i].forward_seconds;
	return sum;
}

/* Seconds of a launch: of 7 us, half as long again off their cores, of the slowest of
 * 32 that differ by a fifth. */
static double launch(double scale)
{
	return scale * 7e-6 * 1.5 * (1 + 0.2 * sqrt(2 * log(32)));
}

static double until_launched(const struct graph *graph)
{
	double sum = 0;

	for (int i = 0; i < graph->count; i++)
		sum += graph->item[i].host_forward;
	return sum;
}

/* From the counts on, round to the next layer's: any operator begins when its first
 * kernel is launched, 20 launches at most behind those before, and all from it on take
 * their time. */
static double by_the_latest(const struct graph *graph, double seconds, double *kernels)
{
	int wait = 0, n = graph->count;
	double latest = 0, launched = 0;

	while (graph->item[wait].kind != OPERATOR_WAIT)
		wait++;
	for (int first = 1; first < n; first++) {
		const struct graph_operator *op = &graph->item[(wait + first) % n];
		double behind = 0;

		for (int i = first; i < n; i++)
			behind += graph->item[(wait + i) % n].forward_seconds;
		if (first == 1)
			*kernels = behind;
		latest =
			fmax(latest, (launched + fmin(20, op->host_forward)) * seconds +
					     behind);
		launched += op->host_forward;
	}
	return fmax(latest, launched * seconds);
}

/* A dropless layer waits once a forward: then its host has launched nothing ahead.
 * Where two micro-batches take turns it waits for one operator. A fixed capacity or
 * HybridEP needs no wait. */
static void test_dropless_layers_wait_for_their_counts(void **state)
{
	static const double scales[] = { 0.1, 0.5, 1, 2, 8 };
	double kernels = 0, before = 0;
	struct scenario s;

	(void)state;
	deepseek(&s);
	for (int i = 0; i < 5; i++) {
		double until, wait;

		s.cluster.accelerator.calibration.host_scale = scales[i];
		wait = waits(draw(&s));
		until = by_the_latest(draw(&s), launch(scales[i]), &kernels);
		assert_close(wait, until - kernels, 1e-9);
		/* for one operator at least */
		assert_true(wait >= 20 * launch(scales[i]) * (1 - 1e-12) &&
			    wait > before);
		before = wait;
	}
	/* a host that is far behind is all that counts */
	assert_close(before + kernels, until_launched(draw(&s)) * launch(8), 1e-9);
	s.cluster.accelerator.calibration.host_scale = 1;
	case_set(&s, "ep_overlap", "on");
	assert_close(waits(draw(&s)), 20 * launch(1), 1e-9);
	case_set(&s, "ep_overlap", "off");
	case_set(&s, "moe_capacity", "pad");
	assert_true(waits(draw(&s)) == 0);
	case_set(&s, "moe_capacity", "dropless");
	case_set(&s, "moe_dispatcher", "hybridep");
	assert_true(waits(draw(&s)) == 0);
}

/* With a fixed capacity the host runs ahead, and the slower of both sets the pace:
 * never slower than where it waits in each layer. Where ranks wait for each other, some
 * host is late anyway. */
static void test_a_host_that_runs_ahead_is_no_slower(void **state)
{
	struct scenario s;

	(void)state;
	for (int i = 0; i < 10; i++) {
		bool alone = i % 2;
		double dropless, padded;

		deepseek(&s);
		case_set(&s, "moe_dispatcher", "alltoall");
		if (alone)
			case_set(&s, "ep", "1");
		s.cluster.accelerator.calibration.host_scale = 0.25 * (1 << i / 2);
		dropless = seconds(&s);
		case_set(&s, "moe_capacity", "pad");
		case_set(&s, "capacity_factor", "1");
		padded = seconds(&s);
		assert_true(padded <= dropless * (i == 1 ? 0.9999 : 1 + 1e-12));
	}
}

/* The public ladder, predicted: each step of software is faster than the one before,
 * and all together gain what was measured, 1.9 times, within a sixth. */
static void test_the_ladder_of_gb200_is_climbed(void **state)
{
	static const char *const steps[] = {
		"scale_fusion=zeroed",
		"router_fusion=on",
		"moe_dispatcher=deepep",
		"recompute_modules=mlp+moe_act",
		"cuda_graphs=partial",
		"host_binding=on",
		"scale_fusion=fused",
		"graph_scopes=attn+moe_router+moe_preprocess+shared_experts",
		"moe_dispatcher=hybridep",
	};
	struct scenario s;
	double before, first;

	(void)state;
	deepseek(&s);
	case_set(&s, "moe_dispatcher", "alltoall");
	case_set(&s, "router_fusion", "off");
	case_set(&s, "scale_fusion", "each");
	case_set(&s, "recompute", "selective");
	case_set(&s, "recompute_modules", "mlp+mla_up_proj");
	case_set(&s, "graph_scopes", "attn+moe_router+moe_preprocess");
	before = first = seconds(&s);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		char pair[96];
		char *value;

		strcpy(pair, steps[i]);
		value = strchr(pair, '=');
		*value++ = '\0';
		case_set(&s, pair, value);
		if (seconds(&s) >= before)
			fail_msg("%s: %g s, not below %g", steps[i], seconds(&s),
				 before);
		before = seconds(&s);
	}
	assert_close(first / before, 1.9, 1.0 / 6);
}

/* Launches cost what the machine's cores take, and nothing where a program is compiled
 * whole. */
static void test_hosts_set_the_pace_of_short_layers(void **state)
{
	struct scenario s;
	double quick, slow;

	(void)state;
	deepseek(&s);
	case_set(&s, "seq", "256");
	slow = seconds(&s);
	s.cluster.launch_seconds /= 2;
	quick = seconds(&s);
	assert_true(quick < 0.7 * slow);
	s.stack.operator_launches = 0;
	assert_true(all_launches(&s) == 0);
	assert_true(seconds(&s) < quick);
}

/* NVFP4 of 8 experts: behind scales in squares the maximum of each tensor is filled and
 * found, two launches, and each gradient that is rounded at random draws its numbers in
 * a short kernel, two more. Of a norm's output its own kernel finds it, unless it is
 * rotated. */
static void test_nvfp4_launches(void **state)
{
	struct scenario s;
	double forward, backward, norm;

	(void)state;
	deepseek(&s);
	case_set(&s, "fp4_rotation", "off");
	case_set(&s, "fp4_rounding", "off");
	forward = launches(&s, "expert down", false);
	backward = launches(&s, "expert down", true);
	norm = launches(&s, "query down", false);
	case_set(&s, "precision", "nvfp4");
	assert_close(launches(&s, "expert down", false), forward + 8 * 2, 1e-12);
	assert_close(launches(&s, "expert down", true), backward + 8 * 2, 1e-12);
	assert_close(launches(&s, "query down", false), norm, 1e-12);
	case_set(&s, "fp4_rotation", "on");
	assert_close(launches(&s, "query down", false), norm + 2, 1e-12);
	case_set(&s, "fp4_rounding", "on");
	assert_close(launches(&s, "expert down", false), forward + 8 * 2, 1e-12);
	assert_close(launches(&s, "expert down", true), backward + 8 * (2 + 2), 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_router_launches_what_was_counted),
		cmocka_unit_test(test_scales_launch_for_each_expert),
		cmocka_unit_test(test_nvfp4_launches),
		cmocka_unit_test(test_graphs_take_their_scopes_launches),
		cmocka_unit_test(test_dropless_layers_wait_for_their_counts),
		cmocka_unit_test(test_a_host_that_runs_ahead_is_no_slower),
		cmocka_unit_test(test_the_ladder_of_gb200_is_climbed),
		cmocka_unit_test(test_hosts_set_the_pace_of_short_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
