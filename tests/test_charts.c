/* test_charts.c - servers as graphs of Dynamo and values of llm-d's charts: what is
 * written is read as the same plan, pods have the GPUs of their engines, and whoever
 * parts an engine over nodes is left to say so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "presets/document.h"
#include "presets/formats.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/random.h"

enum { ROW = 3 };

/* A reader, its stack, and what it is written as. */
static const struct {
	const char *reader, *stack;
} tools[] = { { "vllm", "vllm" },
	      { "sglang", "sglang" },
	      { "trtllm", "tensorrt-llm" } };

static char *write_as(const char *format, const struct scenario *s)
{
	struct error error = { .text = "" };
	struct format_request request = { .scenario = s, .error = &error };
	char *text = format_find_written(format)->out.write(&request);

	if (!text)
		fail_msg("%s: %s", format, error.text);
	return text;
}

static void draw_plan(struct scenario *s, const char *stack, bool pools)
{
	static const char *const models[] = { "llama3.1-8b", "mixtral-8x7b",
					      "deepseek-v3" };
	struct serving_plan *v = &s->plan.serving;
	struct error error;

	do {
		if (!scenario_blank(s, models[next(3)], "dgx-h100", stack, &error))
			fail_msg("%s", error.text);
		s->plan.mode = MODE_INFERENCE;
		s->cluster.gpus = 8 << next(4);
		s->plan.tp = 1 << next(5);
		s->plan.pp = 1 << next(2);
		v->dp_attention = 1 << next(3);
		if (s->model.moe.experts > 0 && next(2))
			s->plan.ep = s->plan.tp * v->dp_attention;
		/* SGLang counts GB */
		v->host_kv_bytes =
			pools ? 0
			      : (double)next(3) * (strcmp(stack, "sglang") == 0
							   ? 16e9
							   : 16.0 * 1073741824);
		v->memory_share = 0.8;
		v->max_requests = (int64_t)next(2) * 128;
		v->disaggregated = pools;
		v->prefill_gpus = pools ? s->cluster.gpus >> (1 + next(2)) : 0;
		v->prefill_tp = pools ? 1 << next(4) : 0;
		v->prefill_pp = pools ? 1 : 0;
		v->prefill_dp_attention = pools ? 1 : 0;
		v->prefill_ep = pools ? 1 : 0;
	} while (scenario_check(s, NULL) != 0);
}

/* Whether the head of a text says that it lacks a knob. */
static bool is_unsaid(const char *text, const char *knob)
{
	char line[128];

	snprintf(line, sizeof line, "in this target: %s", knob);
	return strstr(text, line) != NULL;
}

/* Sizes are written in other units than they are kept in. */
static bool same_value(const char *one, const char *other)
{
	double a = strtod(one, NULL), b = strtod(other, NULL);

	return strcmp(one, other) == 0 || (a > 0 && fabs(a - b) <= 1e-6 * a);
}

static void check_same(const char *text, const struct scenario *wrote,
		       const struct scenario *read)
{
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		char one[256], other[256];

		if (!knob_in_mode(knob, MODE_INFERENCE) || !knob_applies(wrote, knob) ||
		    is_unsaid(text, knob->key))
			continue;
		knob_print(wrote, knob, one, sizeof one);
		knob_print(read, knob, other, sizeof other);
		if (!same_value(one, other))
			fail_msg("%s was %s and is read as %s in\n%s", knob->key, one,
				 other, text);
	}
}

/* Behind the head, whose notes tell what a file keeps. */
static const char *body_of(const char *text)
{
	while (*text == '#')
		text = strchr(text, '\n') + 1;
	return text;
}

/* Whether something that parts the plan has no word. */
static bool is_less(const char *text)
{
	static const char *const degrees[] = {
		"gpus", "tp", "ep", "dp_attention", "precision", "prefill_"
	};
	bool less = false;

	for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
		less = less || is_unsaid(text, degrees[i]);
	return less;
}

static void check_way_back(const char *format, const char *reader,
			   const struct scenario *s)
{
	char *text = write_as(format, s), *again;
	struct format_request request = { 0 };
	struct scenario read;

	read_good(reader, text, &read);
	assert_string_equal(read.model.name, s->model.name);
	check_same(text, s, &read);
	/* no command says these */
	read.plan.serving.prompt_len = s->plan.serving.prompt_len;
	read.plan.serving.output_len = s->plan.serving.output_len;
	read.plan.serving.concurrency = s->plan.serving.concurrency;
	request = (struct format_request){ .scenario = &read, .kept = &report };
	again = format_find_written(format)->out.write(&request);
	assert_non_null(again);
	if (!is_less(text) && strcmp(body_of(text), body_of(again)) != 0)
		fail_msg("written again, it differs:\n%s\n--- and\n%s", text, again);
	free(again);
	free(text);
}

static void test_graphs_come_back(void **state)
{
	(void)state;
	seed = 21;
	for (int i = 0; i < some_of(120); i++) {
		struct scenario s;

		draw_plan(&s, tools[i % ROW].stack, i / ROW % 2 == 0);
		check_way_back("dynamo", tools[i % ROW].reader, &s);
	}
}

static void test_charts_come_back(void **state)
{
	(void)state;
	seed = 22;
	for (int i = 0; i < some_of(120); i++) {
		struct scenario s;

		draw_plan(&s, tools[i % 4 / 2].stack, i % 2 == 0);
		check_way_back("llm-d", tools[i % 4 / 2].reader, &s);
	}
}

/* A number under these keys, one below the other; 0 where there is none. */
static int64_t number_at(const struct node *node, const char *const *path)
{
	for (; node && *path; path++)
		node = node->kind == NODE_MAP ? node_get(node, *path) : NULL;
	return node && node->kind == NODE_SCALAR ? strtoll(node->text, NULL, 10) : 0;
}

/* Every GPU of the plan is a pod's, and none is two pods'. */
static void check_gpus(const char *text, const struct scenario *s)
{
	static const char *const replicas[] = { "replicas", NULL },
				 *const nodes[] = { "multinode", "nodeCount", NULL },
				 *const gpus[] = { "resources", "limits", "gpu", NULL };
	struct document document;
	struct error error;
	int64_t all = 0;

	if (!document_parse_many(&document, "file", text, strlen(text), &error))
		fail_msg("%s in\n%s", error.text, text);
	for (const struct node *one = document.root->child; one; one = one->next) {
		const struct node *spec = node_get(one, "spec");
		const struct node *services = spec ? node_get(spec, "services") : NULL;

		for (const struct node *service = services ? services->child : NULL;
		     service; service = service->next) {
			int64_t count = number_at(service, nodes);

			all += number_at(service, replicas) * number_at(service, gpus) *
			       (count > 0 ? count : 1);
		}
	}
	document_free(&document);
	if (!is_unsaid(text, "gpus") && all != s->cluster.gpus)
		fail_msg("%lld GPUs of %lld in\n%s", (long long)all,
			 (long long)s->cluster.gpus, text);
}

static void expect_none(const char *text, const char *word)
{
	if (strstr(text, word))
		fail_msg("%s stands in\n%s", word, text);
}

/* The operator gives a worker its place (deploy/operator/internal/dynamo), and nothing
 * here is a shell that would put a variable in. */
static void test_graphs_of_pods(void **state)
{
	static const char *const places[] = { "--nnodes",
					      "--node-rank",
					      "--master-addr",
					      "--dist-init-addr",
					      "--data-parallel-address",
					      "--gpus-per-node",
					      "gpus_per_node:",
					      "--headless",
					      "CUDA_VISIBLE_DEVICES",
					      "${",
					      "server_role" };

	(void)state;
	seed = 23;
	for (int i = 0; i < some_of(90); i++) {
		struct scenario s;
		char *text;

		draw_plan(&s, tools[i % ROW].stack, i / ROW % 2 == 0);
		text = write_as("dynamo", &s);
		check_gpus(text, &s);
		for (size_t k = 0; k < sizeof places / sizeof places[0]; k++)
			expect_none(text, places[k]);
		free(text);
	}
}

static void expect_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no\n%s\nin\n%s", line, text);
}

/* Who carries caches between pools, in each tool's words. */
static void test_carriers(void **state)
{
	static const char *const lines[][2] = {
		{ "- \"{\\\"kv_connector\\\": \\\"NixlConnector\\\", "
		  "\\\"kv_role\\\": \\\"kv_both\\\"}\"\n",
		  "- \"--disaggregation-mode\"\n          - \"decode\"\n" },
		{ "- \"--disaggregation-transfer-backend\"\n          - \"nixl\"\n",
		  "- \"--disaggregation-bootstrap-port\"\n          - \"12345\"\n" },
		{ "    cache_transceiver_config:\n      backend: \"DEFAULT\"\n"
		  "    disable_overlap_scheduler: true\n",
		  "- \"--extra-engine-args\"\n          - \"/engine/prefill.yaml\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < ROW; i++) {
		struct scenario s;
		struct error error;
		char *text;

		assert_true(scenario_blank(&s, "llama3.1-8b", "dgx-h200",
					   tools[i].stack, &error));
		s.plan.mode = MODE_INFERENCE;
		s.plan.serving.disaggregated = true;
		s.cluster.gpus = 2;
		text = write_as("dynamo", &s);
		expect_line(text, lines[i][0]);
		expect_line(text, lines[i][1]);
		expect_line(text, "      subComponentType: prefill\n");
		free(text);
	}
}

/* Behind the chart's proxy the pool that decodes listens elsewhere; copies over nodes
 * answer on each of them, ranks on the first. */
static void test_charts_of_pods(void **state)
{
	static const char *const lines[] = {
		"multinode: true\n",
		"    data: 16\n    dataLocal: 8\n    workers: 2\n",
		"      START=$(( ${LWS_WORKER_INDEX:-0} * 8 ))\n",
		"--data-parallel-address \"${LWS_LEADER_ADDRESS}\"",
		"--data-parallel-hybrid-lb",
		"    - containerPort: 8200\n    - containerPort: 5600\n",
		"--all2all-backend deepep_low_latency",
		"        - pluginRef: prefill-filter\n",
		"  targetPorts:\n  - number: 8000\n",
		"    connector: nixlv2\n",
	};
	struct scenario s;
	struct error error;
	char *text;

	(void)state;
	assert_true(scenario_blank(&s, "deepseek-v3", "dgx-h200", "vllm", &error));
	s.plan.mode = MODE_INFERENCE;
	case_set(&s, "precision", "fp8-block");
	s.cluster.gpus = 32;
	s.plan.ep = s.plan.serving.dp_attention = 16;
	s.plan.serving.disaggregated = true;
	text = write_as("llm-d", &s);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		expect_line(text, lines[i]);
	expect_none(text, "--headless");
	expect_none(text, "name: START");
	free(text);
	s.plan.tp = 16;
	s.plan.ep = s.plan.serving.dp_attention = 1;
	text = write_as("llm-d", &s);
	expect_line(text, "LATER=--headless\n");
	expect_line(text, "--nnodes 2 \\\n");
	expect_none(text, "hybrid-lb");
	free(text);
}

/* The chart has no word for SGLang's command: a script, in pods that listen to all,
 * with its own proxy's protocol, port and metrics. */
static void test_charts_of_sglang(void **state)
{
	static const char *const lines[] = {
		"    connector: sglang\n",
		"  - name: sglang\n",
		"      exec python3 -m sglang.launch_server --model-path ",
		"--disaggregation-mode prefill",
		"--disaggregation-mode decode",
		"--disaggregation-transfer-backend nixl",
		"--disaggregation-bootstrap-port 8998",
		"    - containerPort: 8998\n",
		"--host 0.0.0.0",
		"--node-rank \"${LWS_WORKER_INDEX}\"",
		"--dist-init-addr \"${LWS_LEADER_ADDRESS}:20000\"",
		"--enable-metrics",
		"    total-queued-requests-metric: \"sglang:num_queue_reqs\"\n",
		"  modelServerType: sglang\n",
	};
	struct scenario s, read;
	struct error error;
	char *text;

	(void)state;
	assert_true(scenario_blank(&s, "deepseek-v3", "dgx-h200", "sglang", &error));
	s.plan.mode = MODE_INFERENCE;
	case_set(&s, "precision", "fp8-block");
	s.cluster.gpus = 32;
	s.plan.ep = s.plan.serving.dp_attention = 16;
	s.plan.serving.disaggregated = true;
	text = write_as("llm-d", &s);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		expect_line(text, lines[i]);
	expect_none(text, "VLLM");
	expect_none(text, "vllm");
	expect_none(text, "--headless");
	free(text);
	/* one with LMCache has it again, by the container's environment */
	read_good("sglang",
		  "LMCACHE_MAX_LOCAL_CPU_SIZE=20 python3 -m sglang.launch_server "
		  "--model-path meta-llama/Llama-3.1-8B --enable-lmcache\n",
		  &s);
	snprintf(report.kept, sizeof report.kept, "sglang");
	text = format_find_written("llm-d")->out.write(
		&(struct format_request){ .scenario = &s, .kept = &report });
	expect_line(text, "    - name: LMCACHE_MAX_LOCAL_CPU_SIZE\n");
	expect_line(text, "      exec python3 ");
	read_good("sglang", text, &read);
	free(text);
	assert_close(read.plan.serving.host_kv_bytes, 20 * 1073741824.0, 1e-9);
}

static void test_other_stacks_are_refused(void **state)
{
	static const char *const rows[][3] = {
		{ "dynamo", "lmdeploy", "--stack vllm, sglang or tensorrt-llm" },
		{ "llm-d", "tensorrt-llm",
		  "set --stack vllm or sglang, or export dynamo" },
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct error error = { .text = "" };
		struct scenario s;
		struct format_request request = { .scenario = &s, .error = &error };

		assert_true(scenario_blank(&s, "llama3.1-8b", "dgx-h200", rows[i][1],
					   &error));
		s.plan.mode = MODE_INFERENCE;
		assert_null(format_find_written(rows[i][0])->out.write(&request));
		expect_line(error.text, rows[i][2]);
	}
}

/* Dynamo's own word for a pool, in its newest graphs and on a line. */
static void test_words_for_pools(void **state)
{
	static const char graph[] =
		"apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nspec:\n"
		"  components:\n  - name: one\n    podTemplate:\n      spec:\n"
		"        containers:\n        - args: [--model, Qwen/Qwen3-32B, "
		"--tensor-parallel-size, \"4\"]\n"
		"          command: [python3, -m, dynamo.vllm]\n"
		"    replicas: 3\n    type: decode\n"
		"  - name: other\n    podTemplate:\n      spec:\n"
		"        containers:\n        - args: [--model, Qwen/Qwen3-32B, "
		"--tensor-parallel-size, \"2\"]\n"
		"          command: [python3, -m, dynamo.vllm]\n"
		"    replicas: 2\n    type: prefill\n";
	static const char lines[] =
		"python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B "
		"--tensor-parallel-size 4 --disaggregation-mode decode &\n"
		"python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B "
		"--tensor-parallel-size 2 --disaggregation-mode prefill &\n";
	struct scenario s;

	(void)state;
	read_good("vllm", graph, &s);
	expect(&s, "disaggregated", "on");
	expect(&s, "tp", "4");
	expect(&s, "prefill_tp", "2");
	expect(&s, "prefill_gpus", "4");
	expect(&s, "gpus", "16");
	read_good("trtllm", lines, &s);
	expect(&s, "disaggregated", "on");
	expect(&s, "tp", "4");
	expect(&s, "prefill_tp", "2");
	expect(&s, "gpus", "6");
	assert_false(noted(IMPORT_NOT_MODELLED, "disaggregation_mode"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs_come_back),
		cmocka_unit_test(test_charts_come_back),
		cmocka_unit_test(test_graphs_of_pods),
		cmocka_unit_test(test_carriers),
		cmocka_unit_test(test_charts_of_pods),
		cmocka_unit_test(test_charts_of_sglang),
		cmocka_unit_test(test_other_stacks_are_refused),
		cmocka_unit_test(test_words_for_pools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
