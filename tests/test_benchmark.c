/* test_benchmark.c - scenarios of llm-d's benchmark, and values of its charts, as
 * servers. */
#include <stdio.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"

#define HEAD                                                             \
	"scenario:\n  - name: a\n    common:\n      model:\n"            \
	"        name: Qwen/Qwen3-32B\n        path: models/Qwen3-32B\n" \
	"        huggingfaceId: Qwen/Qwen3-32B\n"                        \
	"        maxModelLen: 16000\n        blockSize: 32\n"
#define COMMAND                                                             \
	"          customCommand: |\n            ${accelerator.preamble}\n" \
	"            vllm serve /model-cache/$MODEL_PATH \\\n"              \
	"            --block-size $VLLM_BLOCK_SIZE \\\n"                    \
	"            --max-num-seqs $VLLM_MAX_NUM_SEQ \\\n"                 \
	"            --data-parallel-size $((LWS_GROUP_SIZE * "             \
	"DP_SIZE_LOCAL)) \\\n"                                              \
	"            --tensor-parallel-size $TP_SIZE\n"

/* Two pools, of which one is sized by its group. */
static void pools_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  HEAD "    modelservice:\n      prefill:\n        enabled: true\n"
		       "        replicas: 3\n        vllm:\n" COMMAND
		       "        parallelism:\n          tensor: 1\n"
		       "    decode:\n      replicas: 1\n      vllm:\n" COMMAND
		       "      parallelism:\n        tensor: 2\n"
		       "        dataLocal: 4\n        workers: 2\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "disaggregated", "on");
	expect(&s, "prefill_tp", "1");
	expect(&s, "prefill_gpus", "3");
	expect(&s, "tp", "2");
	expect(&s, "gpus", "19"); /* 3 and 2 x 4 x 2 */
	expect(&s, "kv_block", "32");
}

/* The chart's command has switches: eager kernels where nothing says otherwise. */
static void switches_are_read(void **state)
{
	static const char pool[] = "    modelservice:\n      decode:\n"
				   "        replicas: 1\n";
	char text[1024];
	struct scenario s;

	(void)state;
	snprintf(text, sizeof text,
		 "%s      vllmCommon:\n        flags:\n"
		 "          enforceEager: false\n          noPrefixCaching: true\n%s",
		 HEAD, pool);
	read_good("vllm", text, &s);
	expect(&s, "prefix_cache", "off");
	assert_false(noted(IMPORT_TAKEN, "enforce-eager") ||
		     noted(IMPORT_NOT_MODELLED, "enforce-eager"));
	snprintf(text, sizeof text, "%s%s", HEAD, pool);
	read_good("vllm", text, &s);
	expect(&s, "prefix_cache", "on");
	assert_true(noted(IMPORT_TAKEN, "enforce-eager") ||
		    noted(IMPORT_NOT_MODELLED, "enforce-eager"));
}

/* A pool without a command of its own has the chart's; one that is off has none. */
static void absent_commands_are_the_charts(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  HEAD "    modelservice:\n      prefill:\n        enabled: false\n"
		       "      decode:\n        replicas: 2\n"
		       "        parallelism:\n          tensor: 4\n",
		  &s);
	expect(&s, "disaggregated", "off");
	expect(&s, "tp", "4");
	expect(&s, "gpus", "8");
	read_good("vllm",
		  HEAD "    standalone:\n      enabled: true\n      vllm:\n" COMMAND
		       "      parallelism:\n        tensor: 2\n"
		       "    modelservice:\n      enabled: false\n",
		  &s);
	expect(&s, "tp", "2");
	expect(&s, "gpus", "2");
	read_refused("vllm",
		     "scenario:\n  - name: a\n    common:\n      x:\n"
		     "        huggingfaceId: b\n",
		     "no command starts a server");
}

/* A chart's place of the model may be made of its name. */
static void a_name_fills_its_place(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "modelArtifacts:\n  name: facebook/opt-125m\n"
		  "  uri: hf://\"{{ .Values.modelArtifacts.name }}\"\ndecode:\n"
		  "  replicas: 2\n  containers:\n  - name: vllm\n"
		  "    image: ghcr.io/llm-d/llm-d:v0.2\n    modelCommand: vllmServe\n",
		  &s);
	assert_string_equal(s.model.name, "opt-125m");
	expect(&s, "gpus", "2");
}

/* What a chart makes has its pools in labels. */
static void labels_name_roles(void **state)
{
#define DEPLOYMENT(role, tp)                                                           \
	"---\napiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1\n"           \
	"  template:\n    metadata:\n      labels:\n        llm-d.ai/role: " role "\n" \
	"    spec:\n      containers:\n      - name: vllm\n"                           \
	"        command: [vllm, serve]\n"                                             \
	"        args: [Qwen/Qwen3-8B, --tensor-parallel-size, \"" tp "\"]\n"
	struct scenario s;

	(void)state;
	read_good("vllm", DEPLOYMENT("decode", "2") DEPLOYMENT("prefill", "1"), &s);
	expect(&s, "disaggregated", "on");
	expect(&s, "tp", "2");
	expect(&s, "prefill_tp", "1");
	expect(&s, "gpus", "3");
#undef DEPLOYMENT
}

/* Servers of vllm-ascend's tests: the first case; of several nodes the servers, whose
 * own degrees are variables, without those that join another's. */
static void cases_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"vllm",
		"_words: &words\n  - \"--tensor-parallel-size\"\n  - \"4\"\n"
		"  - \"--data-parallel-size\"\n  - \"2\"\n  - \"--max-num-seqs\"\n"
		"  - \"$SEQS\"\n  - --compilation-config\n"
		"  - '{\"cudagraph_mode\": \"FULL_DECODE_ONLY\"}'\n"
		"test_cases:\n  - name: \"a\"\n    model: \"org/Qwen3-30B-A3B-W8A8\"\n"
		"    envs:\n      SEQS: \"32\"\n    server_cmd: *words\n"
		"  - name: b\n    model: org/Qwen3-32B\n    server_cmd: *words\n",
		&s);
	assert_string_equal(s.model.name, "qwen3-30b-a3b");
	expect(&s, "precision", "int8");
	expect(&s, "tp", "4");
	expect(&s, "dp_attention", "2");
	expect(&s, "gpus", "8");
	expect(&s, "max_requests", "32");
	read_good("vllm",
		  "model: org/Qwen3-235B-A22B\nnum_nodes: 2\ndeployment:\n  -\n"
		  "    server_cmd: >\n      vllm serve org/Qwen3-235B-A22B\n"
		  "      --tensor-parallel-size 8\n      --data-parallel-size 4\n"
		  "      --data-parallel-size-local 2\n  -\n    server_cmd: >\n"
		  "      vllm serve org/Qwen3-235B-A22B\n      --headless\n"
		  "      --tensor-parallel-size 8\n      --data-parallel-size 4\n"
		  "      --data-parallel-size-local 2\n"
		  "      --data-parallel-start-rank 2\n",
		  &s);
	expect(&s, "tp", "8");
	expect(&s, "dp_attention", "4");
	expect(&s, "gpus", "32");
}

#define NODE(index, size, first, split)                                               \
	"  - node_index: " index "\n    dp_size: " size "\n    dp_rank_start: " first \
	"\n    tp_size: " split "\n"
#define TEMPLATE(index, role)                                              \
	"  - node_index: " index "\n    server_cmd_template:\n"            \
	"      - --data-parallel-size\n      - ${DP_SIZE}\n"               \
	"      - --tensor-parallel-size\n      - ${TP_SIZE}\n"             \
	"      - --enable-expert-parallel\n      - --kv-transfer-config\n" \
	"      - '{\"kv_connector\": \"M\", \"kv_role\": \"" role "\"}'\n"

static void templates_have_their_nodes_degrees(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "model: \"org/Qwen3-235B-A22B\"\nconfig:\n" NODE("0", "4", "0", "8")
			  NODE("1", "4", "2", "8")
				  NODE("2", "8", "0",
				       "2") "templates:\n" TEMPLATE("0", "kv_producer")
					  TEMPLATE("1", "kv_producer")
						  TEMPLATE("2", "kv_consumer"),
		  &s);
	expect(&s, "disaggregated", "on");
	expect(&s, "prefill_tp", "8");
	expect(&s, "prefill_dp_attention", "4");
	expect(&s, "prefill_gpus", "32");
	expect(&s, "tp", "2");
	expect(&s, "ep", "16");
	expect(&s, "gpus", "48");
}

/* Roles of AIBrix's StormService, whose connector is of both kinds. */
static void roles_are_pools(void **state)
{
#define ROLE(name, copies)                                                             \
	"        - name: " name "\n          replicas: " copies "\n"                   \
	"          stateful: true\n          template:\n            spec:\n"           \
	"              containers:\n              - name: x\n"                         \
	"                image: vllm/vllm-openai\n                command: [sh, -c]\n" \
	"                args:\n                - |\n"                                 \
	"                  vllm serve Qwen/Qwen3-32B --tensor-parallel-size=4 \\\n"    \
	"                  --kv-transfer-config '{\"kv_connector\":\"NixlConnector\"," \
	"\"kv_role\":\"kv_both\"}'\n"
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "apiVersion: orchestration.aibrix.ai/v1alpha1\nkind: StormService\n"
		  "spec:\n  replicas: 1\n  template:\n    spec:\n      roles:\n" ROLE(
			  "prefill", "2") ROLE("decode", "3"),
		  &s);
	expect(&s, "disaggregated", "on");
	expect(&s, "tp", "4");
	expect(&s, "prefill_tp", "4");
	expect(&s, "prefill_gpus", "8");
	expect(&s, "gpus", "20");
#undef ROLE
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_are_read),
		cmocka_unit_test(switches_are_read),
		cmocka_unit_test(absent_commands_are_the_charts),
		cmocka_unit_test(a_name_fills_its_place),
		cmocka_unit_test(labels_name_roles),
		cmocka_unit_test(cases_are_read),
		cmocka_unit_test(templates_have_their_nodes_degrees),
		cmocka_unit_test(roles_are_pools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
