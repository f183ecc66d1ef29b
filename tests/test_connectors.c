/* test_connectors.c - a cache on the host beside caches that travel, and LMCache: read
 * from a server's command, written so that the server starts, and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/formats.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

#define SERVE "vllm serve meta-llama/Llama-3.1-70B -tp 4 --kv-transfer-config '"
#define NIXL  "{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_both\"}"
#define OFFLOAD                                                                  \
	"{\"kv_connector\": \"OffloadingConnector\", \"kv_role\": \"kv_both\", " \
	"\"kv_connector_extra_config\": {\"cpu_bytes_to_use\": 17179869184}}"
#define SEVERAL(one, other)                                                 \
	"{\"kv_connector\": \"MultiConnector\", \"kv_role\": \"kv_both\", " \
	"\"kv_connector_extra_config\": {\"connectors\": [" one ", " other "]}}"
#define LMCACHE "{\"kv_connector\": \"LMCacheConnectorV1\", \"kv_role\": \"kv_both\"}"
#define LMCACHE_OF(gib)                                            \
	"{\"kv_connector\": \"LMCacheConnectorV1\", \"kv_role\": " \
	"\"kv_both\", \"kv_connector_extra_config\": "             \
	"{\"lmcache.local_cpu\": true, \"lmcache.max_local_cpu_size\": " gib "}}"
#define SGLANG \
	"python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-70B --tp 4 "

/* With what came with the last file that was read, or without. */
static char *write_as(const char *format, const struct scenario *s, bool with)
{
	struct import_report *kept = with ? &report : NULL;
	struct error error = { .text = "" };
	struct format_request request = { .scenario = s,
					  .kept = kept,
					  .error = &error };
	char *text;

	snprintf(report.kept, sizeof report.kept, "%s", format);
	text = format_find_written(format)->out.write(&request);
	if (!text)
		fail_msg("%s: %s", format, error.text);
	return text;
}

static double host_gib(const struct scenario *s)
{
	return s->plan.serving.host_kv_bytes / 1073741824;
}

/* GiB of each rank: vLLM's own are bytes of all of them, LMCache's are each rank's. */
static void test_read(void **state)
{
	static const struct {
		const char *tool, *text;
		double gib;
	} rows[] = {
		{ "vllm", SERVE OFFLOAD "'", 4 },
		{ "vllm", SERVE SEVERAL(NIXL, OFFLOAD) "'", 4 },
		{ "vllm", SERVE SEVERAL(OFFLOAD, NIXL) "'", 4 },
		{ "vllm", SERVE LMCACHE_OF("20") "'", 20 },
		{ "vllm", "LMCACHE_MAX_LOCAL_CPU_SIZE=7 " SERVE LMCACHE_OF("20") "'",
		  20 },
		{ "vllm", SERVE SEVERAL(NIXL, LMCACHE_OF("20")) "'", 20 },
		{ "vllm",
		  "LMCACHE_MAX_LOCAL_CPU_SIZE=7 " SERVE SEVERAL(NIXL, LMCACHE) "'", 7 },
		{ "vllm", SERVE NIXL "'", 0 },
		{ "sglang", "LMCACHE_MAX_LOCAL_CPU_SIZE=20 " SGLANG "--enable-lmcache",
		  20 },
		{ "sglang",
		  "LMCACHE_MAX_LOCAL_CPU_SIZE=20 LMCACHE_LOCAL_CPU=False " SGLANG
		  "--enable-lmcache",
		  0 },
		{ "sglang", "LMCACHE_MAX_LOCAL_CPU_SIZE=20 " SGLANG "--page-size 64",
		  0 },
		{ "sglang", SGLANG "--enable-lmcache --page-size 64", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;

		read_good(rows[i].tool, rows[i].text, &s);
		if (host_gib(&s) < rows[i].gib - 1e-6 ||
		    host_gib(&s) > rows[i].gib + 1e-6)
			fail_msg("%g GiB instead of %g of\n%s", host_gib(&s),
				 rows[i].gib, rows[i].text);
	}
}

static void expect_text(const char *text, const char *words, bool there)
{
	if ((strstr(text, words) != NULL) != there)
		fail_msg("%s %s in\n%s", there ? "no" : "there is", words, text);
}

/* What came as a member of JSON is a flag of its own afterwards, and not both: vLLM
 * would take the flag's word and lose the rest. */
static void test_written_once(void **state)
{
	struct scenario s;
	char *text;

	(void)state;
	read_good("vllm", SERVE OFFLOAD "'", &s);
	text = write_as("vllm", &s, true);
	expect_text(text, "--kv-offloading-size 16", true);
	expect_text(text, "kv-transfer-config", false);
	free(text);
	read_good("sglang", "LMCACHE_MAX_LOCAL_CPU_SIZE=20 " SGLANG "--enable-lmcache",
		  &s);
	text = write_as("sglang", &s, true);
	expect_text(text, "LMCACHE_MAX_LOCAL_CPU_SIZE=20 python3", true);
	expect_text(text, "--enable-lmcache", true);
	expect_text(text, "hicache", false);
	expect_text(text, "host_kv", false);
	read_good("sglang", text, &s);
	free(text);
	assert_close(host_gib(&s), 20, 1e-9);
	s.plan.serving.host_kv_bytes = 0;
	text = write_as("sglang", &s, true);
	expect_text(text, "lmcache", false);
	free(text);
}

static void make_pools(struct scenario *s, const char *stack)
{
	struct error error;

	assert_true(scenario_blank(s, "llama3.1-8b", "dgx-h200", stack, &error));
	s->plan.mode = MODE_INFERENCE;
	s->plan.serving.disaggregated = true;
	s->plan.serving.prefill_gpus = 2;
	s->cluster.gpus = 4;
	s->plan.serving.host_kv_bytes = 64e9;
}

/* In pools the cache on the host stands beside who carries caches between them: vLLM's
 * own flag would put itself in his place. */
static void test_beside_what_travels(void **state)
{
	struct scenario s, read;
	char *text;

	(void)state;
	make_pools(&s, "vllm");
	text = write_as("vllm", &s, false);
	expect_text(text, "\"kv_connector\": \"MultiConnector\"", true);
	expect_text(text, "{\"cpu_bytes_to_use\": 64000000000}", true);
	expect_text(text, "kv-offloading-size", false);
	expect_text(text, "in this target: host_kv", false);
	read_good("vllm", text, &read);
	free(text);
	assert_true(read.plan.serving.disaggregated);
	assert_close(read.plan.serving.host_kv_bytes, 64e9, 1e-6);
	text = write_as("dynamo", &s, false);
	read_good("vllm", text, &read);
	free(text);
	assert_close(read.plan.serving.host_kv_bytes, 64e9, 1e-6);
}

/* A server of SGLang that decodes alone keeps no prefixes, and refuses to start with a
 * hierarchy of caches (srt/server_args.py: handle_pd_disaggregation sets
 * disable_radix_cache). */
static void test_decoders_of_sglang(void **state)
{
	struct scenario s, read;
	char *text, *decode;

	(void)state;
	make_pools(&s, "sglang");
	text = write_as("sglang", &s, false);
	expect_text(text, "--enable-hierarchical-cache", true);
	/* those that prefill stand first */
	decode = text;
	for (char *next = text; next;
	     next = strstr(next + 1, "--disaggregation-mode prefill"))
		decode = next;
	expect_text(decode, "--disaggregation-mode decode", true);
	expect_text(decode, "--enable-hierarchical-cache", false);
	read_good("sglang", text, &read);
	free(text);
	assert_true(read.plan.serving.disaggregated);
	assert_close(read.plan.serving.host_kv_bytes, 64e9, 1e-6);
}

#define OPTIONS(connector)                                          \
	"cat > o.yaml <<'EOF'\nkv_connector_config:\n  " connector  \
	"\nEOF\ntrtllm-serve meta-llama/Llama-3.1-70B --tp_size 4 " \
	"--extra_llm_api_options o.yaml\n"

/* TensorRT-LLM's connector by its preset's name (NVIDIA/TensorRT-LLM pull 12626) or by
 * where its module is; the variables are those of the command that names the file. */
static void test_connector_of_tensorrt(void **state)
{
	static const struct {
		const char *text;
		double gib;
		bool again;
	} rows[] = {
		{ "export LMCACHE_MAX_LOCAL_CPU_SIZE=20\n" OPTIONS(
			  "connector: lmcache"),
		  20, true },
		{ "LMCACHE_MAX_LOCAL_CPU_SIZE=3 trtllm-serve meta-llama/Llama-3.1-70B "
		  "--tp_size 4 --kv_connector lmcache\n",
		  3, true },
		{ "export LMCACHE_MAX_LOCAL_CPU_SIZE=7\n" OPTIONS(
			  "connector_module: "
			  "lmcache.integration.tensorrt_llm.tensorrt_adapter"),
		  7, true },
		{ OPTIONS("connector: lmcache"), 5, true },
		{ "export LMCACHE_MAX_LOCAL_CPU_SIZE=20\n" OPTIONS(
			  "connector: lmcache-mp"),
		  0, false },
		{ "export LMCACHE_CONFIG_FILE=c.yaml\n" OPTIONS("connector: lmcache"),
		  0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		char *text;

		read_good("trtllm", rows[i].text, &s);
		assert_close(host_gib(&s) + 1, rows[i].gib + 1, 1e-9);
		text = write_as("trtllm", &s, true);
		expect_text(text, "host_cache_size", false);
		expect_text(text, "LMCACHE_MAX_LOCAL_CPU_SIZE=", rows[i].again);
		if (rows[i].again) {
			read_good("trtllm", text, &s);
			assert_close(host_gib(&s), rows[i].gib, 1e-9);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_written_once),
		cmocka_unit_test(test_beside_what_travels),
		cmocka_unit_test(test_decoders_of_sglang),
		cmocka_unit_test(test_connector_of_tensorrt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
