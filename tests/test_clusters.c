/* Every shipped cluster and stack is read, and its figures are possible ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/scenario.h"
#include "engine/serve/serve.h"
#include "engine/start/start.h"
#include "engine/train/train.h"
#include "presets/cluster_file.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static void between(const char *name, const char *what, double value, double low,
		    double high)
{
	if (!(value >= low && value <= high))
		fail_msg("%s: %s is %g, expected %g to %g", name, what, value, low,
			 high);
}

static void check_cluster(const char *name)
{
	struct cluster c;
	struct error error;

	if (!library_cluster(&c, name, &error))
		fail_msg("%s", error.text);
	const struct accelerator *a = &c.accelerator;
	const struct calibration *k = &a->calibration;

	between(name, "fp16 or bf16 peak",
		a->peak_flops[PRECISION_BF16] + a->peak_flops[PRECISION_FP16], 1e14,
		1e16);
	between(name, "memory", a->memory_bytes, 16e9, 400e9);
	between(name, "usable memory", a->usable_bytes, 0.85 * a->memory_bytes,
		1.0738 * a->memory_bytes);
	between(name, "memory rate", a->memory_bytes_per_second, 2.5e11, 1e13);
	between(name, "a launch", c.launch_seconds, 1e-6, 2e-5);
	between(name, "power", a->tdp_watts, 50, 1500);
	between(name, "domain rate", c.link[LINK_DOMAIN].bytes_per_second, 1e10, 2e12);
	between(name, "domain efficiency", c.link[LINK_DOMAIN].efficiency, 0.3, 1);
	between(name, "network rate", c.link[LINK_NETWORK].bytes_per_second, 1e9, 2e11);
	between(name, "network efficiency", c.link[LINK_NETWORK].efficiency, 0.3, 1);
	between(name, "price", c.price_per_gpu_hour, 0.2, 20);
	between(name, "host memory", c.host_bytes_per_gpu, 0.8 * a->memory_bytes,
		8 * a->memory_bytes);
	between(name, "MTBF", c.node_mtbf_hours, 100, 1e5);
	between(name, "memory efficiency", k->memory_efficiency, 0.2, 1);
	between(name, "kernel time", k->kernel_seconds, 1e-6, 1e-4);
	between(name, "step time", k->step_seconds, 1e-4, 0.06);
	between(name, "unaligned", k->unaligned_efficiency, 0.3, 1);
	between(name, "narrow heads", k->narrow_head_efficiency, 0.3, 1);
	for (int p = 0; p <= PRECISION_NVFP4; p++)
		if (a->peak_flops[p] > 0)
			between(name, "GEMM efficiency", k->gemm_efficiency[p], 0.2,
				0.95);
	assert_true(c.source[0] != '\0');
	/* it says all of its kernels */
	assert_false(k->serving.assumed);
}

/* No way of moving bytes is quicker than its line; copies stay inside a chip. */
static void check_shares(const char *name)
{
	const struct link *domain;
	struct cluster c;
	struct error error;

	if (!library_cluster(&c, name, &error))
		fail_msg("%s", error.text);
	domain = &c.link[LINK_DOMAIN];
	for (int i = 0; i < TRANSPORT_COUNT * PROTOCOL_COUNT; i++) {
		const struct protocol *p =
			&c.accelerator.transports
				 .row[i / PROTOCOL_COUNT][i % PROTOCOL_COUNT];

		between(name, "share", domain->efficiency * p->share, 0, 1);
		between(name, "peer share", domain->efficiency * p->peer_share, 0, 1);
	}
}

static void every_cluster_is_possible(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_CLUSTER, &list);

	(void)state;
	assert_true(count >= 18);
	for (int i = 0; i < count; i++) {
		check_cluster(list[i].name);
		check_shares(list[i].name);
		assert_true(list[i].title[0] != '\0');
	}
}

static void the_accelerators_of_the_field_are_there(void **state)
{
	static const char *const names[] = {
		"a100-sxm-40g",
		"a100-sxm-80g",
		"a100-pcie-80g",
		"h100-sxm-80g",
		"h800-sxm-80g",
		"h200-sxm-141g",
		"gh200-96g",
		"b200-sxm-180g",
		"b300-sxm-288g",
		"gb200-nvl72",
		"gb300-nvl72",
		"mi250x-gcd-64g",
		"mi300x-192g",
		"mi355x-288g",
		"tpu-v4",
		"tpu-v5p",
		"tpu-v6e",
		"ascend-910b",
		"v100-sxm2-32g",
		"v100-sxm3-32g",
		"h100-sxm-96g",
		"mi325x-256g",
		"mi350x-288g",
		"tpu-v7x",
		"ascend-910c-die-64g",
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct cluster c;
		struct error error;

		if (!library_accelerator(&c, names[i], &error))
			fail_msg("%s", error.text);
	}
}

static void every_stack_is_possible(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list);

	(void)state;
	assert_true(count >= 12);
	for (int i = 0; i < count; i++) {
		static struct scenario s;
		struct error error;
		const char *name = list[i].name;

		scenario_defaults(&s);
		if (!library_stack(&s, name, &error))
			fail_msg("%s", error.text);
		if (s.stack.serves)
			continue;
		assert_true(s.stack.rules != 0 && s.stack.source[0] != '\0');
		between(name, "DP overlap", s.stack.dp_overlap, 0, 1);
		between(name, "TP overlap", s.stack.tp_overlap, 0, 1);
		between(name, "gradient overlap", s.stack.tp_grad_overlap, 0, 1);
		between(name, "EP overlap", s.stack.ep_overlap, 0, 1);
		between(name, "network", s.stack.network_efficiency, 0.1, 1);
		between(name, "an operator in launches", s.stack.operator_launches, 0,
			60);
		between(name, "logit bytes", s.stack.logit_bytes, 2, 24);
		between(name, "fragmentation", s.stack.fragmentation, 1, 1.3);
	}
}

/* --- kernels that a file does not state --- */

static void read_text(struct cluster *out, const char *text)
{
	struct document document;
	struct error error;

	if (!document_parse(&document, "mine.yaml", text, strlen(text), &error) ||
	    !cluster_read(&document, document.root, out, NULL, &error))
		fail_msg("%s", error.text);
	document_free(&document);
}

static const char bare[] = "{gpus_per_node: 8, accelerator: {name: mine, "
			   "peak_tflops: {bf16: 989, fp8: 1979}, memory_gb: 80, "
			   "memory_gbs: 3350}, domain: {span: 8, gbs: 450}, "
			   "network: {gbs: 50}%s}";

static void read_bare(struct cluster *out, const char *more)
{
	char text[sizeof bare + 256];

	snprintf(text, sizeof text, bare, more);
	read_text(out, text);
}

/* Of three, of which 0 states nothing: the one in the middle, or the mean of two. */
static double middle(double a, double b, double c)
{
	double least = fmin(fmin(a, b), c), most = fmax(fmax(a, b), c), sum = a + b + c;
	int stated = (a > 0) + (b > 0) + (c > 0);

	return stated == 3 ? sum - least - most : stated > 0 ? sum / stated : 0;
}

static void check_middle(const char *what, const struct cluster c[3], size_t offset,
			 int rates, const struct cluster *mine)
{
	for (int i = 0; i < rates; i++) {
		size_t at = offset + (size_t)i * sizeof(double);
		double of[4];

		for (int k = 0; k < 4; k++)
			memcpy(&of[k], (const char *)(k < 3 ? &c[k] : mine) + at,
			       sizeof of[k]);
		if (fabs(of[3] - middle(of[0], of[1], of[2])) > 1e-9)
			fail_msg("%s: rate %d is %g, of the three %g %g %g", what, i,
				 of[3], of[0], of[1], of[2]);
	}
}

/* Each is that of the generations that were measured. */
static void silent_kernels_are_those_in_the_middle(void **state)
{
	static const char *const names[] = { "dgx-a100-80g", "dgx-h100", "dgx-b200" };
	enum {
		TRAINING = offsetof(struct calibration, unmeasured) / sizeof(double),
		SERVING = offsetof(struct serving_calibration, assumed) / sizeof(double)
	};
	struct cluster c[3], mine;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct error error;

		if (!library_cluster(&c[i], names[i], &error))
			fail_msg("%s", error.text);
		assert_false(c[i].accelerator.calibration.assumed);
	}
	read_bare(&mine, "");
	assert_true(mine.accelerator.calibration.serving.assumed);
	assert_true(mine.accelerator.calibration.assumed);
	assert_true(mine.accelerator.calibration.unmeasured);
	for (int i = LINK_DOMAIN; i <= LINK_NETWORK; i++) {
		assert_true(mine.link[i].assumed && !c[1].link[i].assumed);
		check_middle("efficiency", c,
			     offsetof(struct cluster, link[i].efficiency), 1, &mine);
		check_middle("latency", c,
			     offsetof(struct cluster, link[i].latency_seconds), 1,
			     &mine);
	}
	check_middle("launch", c, offsetof(struct cluster, launch_seconds), 1, &mine);
	check_middle("serving", c,
		     offsetof(struct cluster, accelerator.calibration.serving), SERVING,
		     &mine);
	check_middle("calibration", c,
		     offsetof(struct cluster, accelerator.calibration), TRAINING,
		     &mine);
}

/* A file that states some shares of training gets what no kernel does without. */
static void stated_shares_stay(void **state)
{
	const struct calibration *k, *u;
	struct cluster mine, none;

	(void)state;
	read_bare(&none, "");
	read_bare(&mine, ", calibration: {gemm_efficiency: {bf16: 0.5}, kernel_us: 3}");
	k = &mine.accelerator.calibration;
	u = &none.accelerator.calibration;
	assert_close(k->gemm_efficiency[PRECISION_BF16], 0.5, 1e-12);
	assert_close(k->gemm_efficiency[PRECISION_FP8],
		     u->gemm_efficiency[PRECISION_FP8], 0);
	assert_true(k->gemm_efficiency[PRECISION_NVFP4] == 0);
	assert_close(k->kernel_seconds, 3e-6, 1e-12);
	assert_close(k->memory_efficiency, u->memory_efficiency, 0);
	assert_close(k->attention_efficiency[ATTENTION_FLASH2],
		     u->attention_efficiency[ATTENTION_FLASH2], 0);
	assert_true(k->step_seconds == 0 && k->tail_share == 0 && k->assumed);
}

/* A step on a machine whose file states nothing is that of shares as usual, and says
 * so; of one whose file states them nothing is said. */
static void a_step_on_assumed_kernels_says_so(void **state)
{
	static struct estimate e;
	const struct start none = { 0 };
	struct scenario s;
	struct error error;
	char text[256];

	(void)state;
	if (!scenario_blank(&s, "llama3.1-8b", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	case_set(&s, "gpus", "8");
	case_set(&s, "gbs", "64");
	assert_int_equal(start_text(&none, &s, text, sizeof text), 0);
	read_bare(&s.cluster, "");
	s.cluster.gpus = 8;
	start_text(&none, &s, text, sizeof text);
	assert_string_equal(text, "kernels as on measured accelerators, "
				  "links as on measured machines");
	train_estimate(&s, &e);
	between("mine", "MFU", e.mfu, 0.2, 0.6);
}

/* What it states stays, and narrow formats read as what it has of 16 bits. */
static void stated_kernels_stay(void **state)
{
	const struct serving_calibration *k, *u;
	struct cluster mine, none;

	(void)state;
	read_bare(&none, "");
	read_bare(&mine, ", serving: {gemm_efficiency: {bf16: 0.5}, kernel_us: 3}");
	k = &mine.accelerator.calibration.serving;
	u = &none.accelerator.calibration.serving;
	assert_close(k->gemm_efficiency[PRECISION_BF16], 0.5, 1e-12);
	assert_true(k->gemm_efficiency[PRECISION_FP8] == 0);
	assert_close(k->kernel_seconds, 3e-6, 1e-12);
	assert_close(k->kv_efficiency, u->kv_efficiency, 0);
	assert_close(k->stream_efficiency[PRECISION_BF16],
		     u->stream_efficiency[PRECISION_BF16], 0);
	assert_true(k->stream_efficiency[PRECISION_FP8] == 0 && k->assumed);
}

/* It is told beside the answer, ranges are those of a machine that nobody measured, and
 * a copy of the file says so too. */
static void what_is_assumed_of_kernels_is_told(void **state)
{
	static struct estimate own, measured;
	const struct start none = { 0 };
	struct serve_spread spread;
	struct scenario s, as_read;
	struct error error;
	size_t size;
	FILE *stream;
	char text[256], *copy;

	(void)state;
	if (!scenario_blank(&s, "deepseek-v3", "dgx-h100", "vllm", &error))
		fail_msg("%s", error.text);
	case_set(&s, "mode", "inference");
	case_set(&s, "gpus", "16");
	case_set(&s, "tp", "16");
	assert_int_equal(start_text(&none, &s, text, sizeof text), 0);
	spread = serve_spread_of(&s, 32);
	assert_true(spread.tpot < s.cluster.accuracy.serving[1].unfitted);
	read_bare(&s.cluster, "");
	s.cluster.gpus = 16;
	start_text(&none, &s, text, sizeof text);
	assert_string_equal(text, "kernels as on measured accelerators, "
				  "links as on measured machines");
	spread = serve_spread_of(&s, 32);
	assert_close(spread.tpot, s.cluster.accuracy.serving[1].unfitted, 1e-12);
	/* and of drafts that nobody measured */
	case_set(&s, "speculative", "mtp");
	start_text(&none, &s, text, sizeof text);
	assert_string_equal(text,
			    "acceptance 0.85, kernels as on measured accelerators, "
			    "links as on measured machines");
	case_set(&s, "acceptance", "0.5");
	start_text(&none, &s, text, sizeof text);
	assert_string_equal(text, "kernels as on measured accelerators, "
				  "links as on measured machines");
	stream = open_memstream(&copy, &size);
	cluster_write(&s.cluster, stream);
	fclose(stream);
	as_read = s;
	read_text(&as_read.cluster, copy);
	free(copy);
	assert_true(as_read.cluster.accelerator.calibration.serving.assumed);
	as_read.cluster.gpus = 16;
	serve_estimate(&s, &own);
	serve_estimate(&as_read, &measured);
	assert_close(own.serving.tpot_seconds, measured.serving.tpot_seconds, 1e-12);
	/* training has those of its own */
	case_set(&s, "mode", "training");
	s.cluster.accelerator.calibration.assumed = false;
	s.cluster.link[LINK_DOMAIN].assumed = s.cluster.link[LINK_NETWORK].assumed =
		false;
	assert_int_equal(start_text(&none, &s, text, sizeof text), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cluster_is_possible),
		cmocka_unit_test(the_accelerators_of_the_field_are_there),
		cmocka_unit_test(every_stack_is_possible),
		cmocka_unit_test(silent_kernels_are_those_in_the_middle),
		cmocka_unit_test(stated_kernels_stay),
		cmocka_unit_test(stated_shares_stay),
		cmocka_unit_test(a_step_on_assumed_kernels_says_so),
		cmocka_unit_test(what_is_assumed_of_kernels_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
