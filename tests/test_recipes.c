/* test_recipes.c - servers as Kubernetes starts them, recipes in Markdown, and files of
 * two kinds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

/* A text as a file of that name, by the door that tells the kinds apart. */
static bool open_text(const char *name, const char *text, struct scenario *out,
		      struct error *error)
{
	char path[96];
	FILE *stream;
	bool good;

	snprintf(path, sizeof path, "/tmp/shardscope-%d-%s", (int)getpid(), name);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
	memset(&report, 0, sizeof report);
	good = format_open(path, out, &report, error);
	remove(path);
	return good;
}

/* An output that holds fences of its own has lost its end. */
static void test_fences(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("fences.md",
			      "# A\n```shell\npip install sglang\n```\nsays\n"
			      "```\nHere:\n  ```python\n  import time\n  ```\n"
			      "and so on\n```\nThen:\n```shell\n"
			      "python -m sglang.launch_server \\\n"
			      "  --model-path Qwen/Qwen3-8B --tp 2\n```\n",
			      &s, &error));
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "2");
}

static void test_graph(void **state)
{
	static const char head[] =
		"apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nspec:\n"
		"  services:\n    Frontend:\n      replicas: 1\n";
	static const char decode[] =
		"    VllmDecodeWorker:\n      replicas: 2\n      extraPodSpec:\n"
		"        mainContainer:\n"
		"          command: [python3, -m, dynamo.vllm]\n"
		"          args: [--model, Qwen/Qwen3-32B, "
		"--tensor-parallel-size, \"4\"]\n";
	static const char prefill[] =
		"    VllmPrefillWorker:\n      extraPodSpec:\n        mainContainer:\n"
		"          command: [/bin/sh, -c]\n"
		"          args:\n            - \"python3 -m dynamo.vllm --model "
		"Qwen/Qwen3-32B -tp 2 --is-prefill-worker\"\n";
	char text[2048];
	struct scenario s;
	struct error error;

	(void)state;
	snprintf(text, sizeof text, "%s%s%s", head, decode, prefill);
	assert_true(open_text("graph.yaml", text, &s, &error));
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "disaggregated", "on");
	expect(&s, "tp", "4");
	expect(&s, "prefill_tp", "2");
	expect(&s, "prefill_gpus", "2");
	expect(&s, "gpus", "10");
	/* alone it is a whole server, whatever its name */
	snprintf(text, sizeof text, "%s%s", head, decode);
	read_good("vllm", text, &s);
	expect(&s, "disaggregated", "off");
	expect(&s, "tp", "4");
	/* errors name the line of the file */
	snprintf(text, sizeof text, "%s%s", head,
		 "    Worker:\n      mainContainer:\n        args: [python3, -m, "
		 "dynamo.vllm, --model, nobody/has-this]\n");
	read_refused("vllm", text, "file:9: no model 'nobody/has-this'");
}

#define WORKER(name, more)                                                     \
	"    " name ":\n      extraPodSpec:\n        mainContainer:\n"         \
	"          command: [/bin/bash, -c]\n          args:\n          - |\n" \
	"            exec python3 -m dynamo.vllm --model Qwen/Qwen3-32B \\\n"  \
	"              --max-num-seqs 64 \\\n              " more "\n"

/* Scripts of many lines keep the role of where they stand; who prefills may be marked
 * alone. */
static void test_pools_of_scripts(void **state)
{
	static const char head[] =
		"apiVersion: nvidia.com/v1alpha1\nspec:\n  services:\n";
	static const struct {
		const char *decode, *prefill;
	} graphs[] = {
		{ WORKER("decode", "--tensor-parallel-size 4"),
		  WORKER("prefill", "--tensor-parallel-size 2") },
		{ WORKER("a", "--tensor-parallel-size 4"),
		  WORKER("b", "--tensor-parallel-size 2 --is-prefill-worker") },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[2048];
		struct scenario s;

		snprintf(text, sizeof text, "%s%s%s", head, graphs[i].decode,
			 graphs[i].prefill);
		read_good("vllm", text, &s);
		expect(&s, "disaggregated", "on");
		expect(&s, "tp", "4");
		expect(&s, "prefill_tp", "2");
		expect(&s, "gpus", "6");
		expect(&s, "max_requests", "64");
		assert_false(noted(IMPORT_ASSUMED, "line"));
	}
}

/* Kubernetes puts what a container's environment says into its words. */
static void dependent_words(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n"
		  "    spec:\n      containers:\n      - name: server\n"
		  "        image: vllm/vllm-openai:v0.10.0\n"
		  "        command: [python3, -m, vllm.entrypoints.openai.api_server]\n"
		  "        args:\n        - --model=$(MODEL_ID)\n"
		  "        - --tensor-parallel-size=$(TP)\n"
		  "        env:\n        - name: MODEL_ID\n"
		  "          value: Qwen/Qwen3-32B\n"
		  "        - name: TP\n          value: \"2\"\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "tp", "2");
	read_refused("vllm",
		     "apiVersion: v1\nspec:\n  containers:\n  - image: vllm-openai\n"
		     "    args: [--model=$(MODEL_ID)]\n",
		     "no model '$(MODEL_ID)'");
}

/* The YAML of an engine stands in a ConfigMap, or is missing. */
static void test_config_map(void **state)
{
	static const char graph[] =
		"apiVersion: nvidia.com/v1alpha1\nspec:\n  services:\n    worker:\n"
		"      replicas: 2\n      extraPodSpec:\n        mainContainer:\n"
		"          command: [python3, -m, dynamo.trtllm]\n"
		"          args: [--model-path, nvidia/DeepSeek-R1-FP4, "
		"--extra-engine-args, /config/agg.yaml]\n";
	static const char map[] =
		"---\napiVersion: v1\nkind: ConfigMap\ndata:\n  other.yaml: |\n"
		"    tensor_parallel_size: 2\n  agg.yaml: |\n"
		"    tensor_parallel_size: 8\n    moe_expert_parallel_size: 4\n"
		"    kv_cache_config:\n      dtype: fp8\n    max_batch_size: 96\n";
	char text[2048];
	struct scenario s;

	(void)state;
	snprintf(text, sizeof text, "%s%s", graph, map);
	read_good("trtllm", text, &s);
	assert_string_equal(s.model.name, "deepseek-v3");
	expect(&s, "tp", "8");
	expect(&s, "ep", "4");
	expect(&s, "kv_precision", "fp8");
	expect(&s, "max_requests", "96");
	/* two whole servers */
	expect(&s, "gpus", "16");
	assert_true(noted(IMPORT_ASSUMED, "replicas"));
	read_refused("trtllm", graph, "tp_size stands in agg.yaml, which is not here");
}

static void test_chart(void **state)
{
	struct scenario s;

	(void)state;
	/* of vLLM's production stack */
	read_good("vllm",
		  "servingEngineSpec:\n  modelSpec:\n  - name: llama\n"
		  "    modelURL: meta-llama/Llama-3.1-70B-Instruct\n"
		  "    replicaCount: 3\n    requestGPU: 4\n    vllmConfig:\n"
		  "      tensorParallelSize: 4\n      maxNumSeqs: 48\n"
		  "      extraArgs: [--kv-cache-dtype, fp8]\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	expect(&s, "tp", "4");
	expect(&s, "gpus", "12");
	expect(&s, "max_requests", "48");
	expect(&s, "kv_precision", "fp8");
	read_good("vllm",
		  "modelArtifacts:\n  uri: \"hf://Qwen/Qwen3-32B\"\n"
		  "decode:\n  replicas: 1\n  parallelism:\n    tensor: 4\n"
		  "  containers:\n  - name: vllm\n    modelCommand: vllmServe\n"
		  "    args: [--max-model-len, \"32000\"]\n"
		  "prefill:\n  replicas: 4\n  parallelism:\n    tensor: 1\n"
		  "  containers:\n  - name: vllm\n    modelCommand: vllmServe\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "tp", "4");
	expect(&s, "prefill_tp", "1");
	expect(&s, "prefill_gpus", "4");
	expect(&s, "gpus", "8");
	/* the chart multiplies local copies by workers, and names the model to an image
	 */
	read_good("vllm",
		  "modelArtifacts:\n  uri: \"hf://deepseek-ai/DeepSeek-R1-0528\"\n"
		  "decode:\n  parallelism:\n    tensor: 1\n    dataLocal: 8\n"
		  "    workers: 2\n  containers:\n  - name: vllm\n"
		  "    image: vllm/vllm-openai:latest\n    modelCommand: imageDefault\n"
		  "    args: [--enable-expert-parallel]\n",
		  &s);
	assert_string_equal(s.model.name, "deepseek-v3");
	expect(&s, "dp_attention", "16");
	expect(&s, "ep", "16");
	expect(&s, "gpus", "16");
}

/* Several documents, a script of many lines, and what the environment gives it. */
static void test_deployment(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "apiVersion: v1\nkind: Service\n---\napiVersion: apps/v1\n"
		  "kind: Deployment\nspec:\n  template:\n    spec:\n"
		  "      containers:\n      - image: vllm/vllm-openai:latest\n"
		  "        env:\n        - name: TP\n          value: \"8\"\n"
		  "        command: [/bin/bash, -c]\n        args:\n        - |\n"
		  "          set -e\n          vllm serve "
		  "meta-llama/Llama-3.1-70B-Instruct \\\n"
		  "            --tensor-parallel-size $TP\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	expect(&s, "tp", "8");
	/* the image knows what it starts */
	read_good("vllm",
		  "containers:\n- image: vllm/vllm-openai:v0.9\n"
		  "  args: [--model, meta-llama/Llama-3.1-8B, -tp, \"2\"]\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-8b");
	expect(&s, "tp", "2");
	read_good("sglang",
		  "containers:\n- image: lmsysorg/sglang:latest\n"
		  "  command: [python3, -m, sglang.launch_server]\n"
		  "  args: [--model-path, meta-llama/Llama-3.1-8B, --tp, \"2\"]\n",
		  &s);
	expect(&s, "tp", "2");
}

static const char recipe[] =
	"# A recipe\n\nUse `vllm serve nobody/has-this` to start.\n\n"
	"```python\nprint('vllm serve nobody/else')\n```\n\n"
	"```bash\n$ vllm serve openai/gpt-oss-20b --tensor-parallel-size 2\n```\n"
	"and larger\n~~~\nvllm serve openai/gpt-oss-120b -tp 4\n~~~\n";

static void test_markdown(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("recipe.md", recipe, &s, &error));
	assert_string_equal(s.model.name, "gpt-oss-20b");
	expect(&s, "tp", "2");
	assert_true(noted(IMPORT_ASSUMED, "commands"));
	/* by its look too, and prose alone starts nothing */
	assert_true(open_text("recipe.txt", recipe, &s, &error));
	assert_string_equal(s.model.name, "gpt-oss-20b");
	assert_false(open_text("prose.md", "Use `vllm serve openai/gpt-oss-20b`.\n", &s,
			       &error));
}

static void test_two_kinds(void **state)
{
	static const char both[] =
		"vllm serve openai/gpt-oss-20b\n"
		"python -m sglang.launch_server --model-path openai/gpt-oss-20b --tp 2\n";
	struct scenario s;
	struct error error;

	(void)state;
	assert_false(open_text("both.sh", both, &s, &error));
	assert_non_null(strstr(error.text, "of vllm and of sglang"));
	read_good("sglang", both, &s);
	expect(&s, "tp", "2");
	/* two trainers of ms-swift; a server beside one of them is no second trainer */
	assert_false(open_text("both.sh",
			       "megatron sft --model Qwen/Qwen3-8B --max_length 4096\n"
			       "swift sft --model Qwen/Qwen3-8B --max_length 4096\n",
			       &s, &error));
	assert_non_null(
		strstr(error.text, "starts training of megatron and of trainer"));
	assert_true(open_text("one.sh",
			      "swift sft --model Qwen/Qwen3-8B --max_length 4096 "
			      "--per_device_train_batch_size 1\nswift export --x y\n",
			      &s, &error));
}

/* The server stands anywhere in a container's script: its replicas and its role are
 * its own, not the last line's. */
static void replicas_are_of_the_server_in_a_script(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 3\n"
		  "  template:\n    spec:\n      containers:\n      - name: vllm\n"
		  "        command: [\"/bin/sh\", \"-c\"]\n        args:\n        - |\n"
		  "          vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 &\n"
		  "          sleep 60\n          tail -f /dev/null\n",
		  &s);
	expect(&s, "gpus", "6");
	assert_true(noted(IMPORT_ASSUMED, "replicas"));
	read_good("vllm",
		  "apiVersion: v1\nkind: List\nprefill:\n  replicas: 2\n"
		  "  containers:\n  - command: [\"bash\", \"-c\"]\n    args:\n    - |\n"
		  "      vllm serve Qwen/Qwen3-32B -tp 1 &\n      wait\n"
		  "decode:\n  replicas: 1\n"
		  "  containers:\n  - command: [\"bash\", \"-c\"]\n    args:\n    - |\n"
		  "      vllm serve Qwen/Qwen3-32B -tp 4 &\n      wait\n",
		  &s);
	expect(&s, "disaggregated", "on");
	expect(&s, "prefill_gpus", "2");
	expect(&s, "gpus", "6");
	/* words that somebody's own script has by chance */
	read_good("vllm", "servers-of-manifest 1 99\nvllm serve Qwen/Qwen3-32B -tp 4\n",
		  &s);
	expect(&s, "gpus", "4");
}

/* Shells that only call kubectl, and what it is given, further in than the text: each
 * manifest is a document. A shell that starts a server stands over them. */
static void test_manifests_in_markdown(void **state)
{
#define MANIFEST                                                                       \
	"1. Apply\n\n      ```yaml\n      apiVersion: apps/v1\n      kind: "           \
	"Deployment\n      spec:\n        template:\n          spec:\n            "    \
	"containers:\n            - name: a\n              image: "                    \
	"vllm/vllm-openai:latest\n              command: [\"/bin/sh\", \"-c\"]\n"      \
	"              args: [\n                \"vllm serve Qwen/Qwen3-32B -tp 4\"\n" \
	"              ]\n      ```\n"
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("k8s.md",
			      "# Kubernetes\n\n```console\nkubectl apply -f a.yaml\n"
			      "```\n\n```yaml\nkind: Secret\n```\n\n" MANIFEST
			      "\n```bash\nkubectl get pods\n```\n",
			      &s, &error));
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "tp", "4");
	assert_true(open_text("shell.md",
			      MANIFEST "\n```bash\n$ vllm serve Qwen/Qwen3-8B -tp 2\n"
				       "```\n",
			      &s, &error));
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "2");
	/* one that ends with the file */
	assert_true(
		open_text("end.md", "```\nkubectl\n```\n" MANIFEST "```", &s, &error));
	assert_string_equal(s.model.name, "qwen3-32b");
#undef MANIFEST
}

/* How many pods a group of a LeaderWorkerSet has is what its containers are told. */
static void test_a_group_of_pods(void **state)
{
	static const char text[] =
		"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec:\n"
		"  replicas: 1\n  leaderWorkerTemplate:\n    size: 2\n"
		"    leaderTemplate:\n      spec:\n        containers:\n"
		"          - name: leader\n            image: vllm/vllm-openai:latest\n"
		"            command: [sh, -c, \"vllm serve Qwen/Qwen3-32B -tp 4 "
		"--pipeline-parallel-size %s\"]\n"
		"    workerTemplate:\n      spec:\n        containers:\n"
		"          - name: worker\n            image: vllm/vllm-openai:latest\n"
		"            command: [sh, -c, \"sleep 1\"]\n";
	static const char *const sizes[] = { "$(LWS_GROUP_SIZE)", "$LWS_GROUP_SIZE" };
	struct scenario s;
	struct error error;
	char whole[1024];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		snprintf(whole, sizeof whole, text, sizes[i]);
		assert_true(open_text("lws.yaml", whole, &s, &error));
		expect(&s, "pp", "2");
		expect(&s, "tp", "4");
		expect(&s, "gpus", "8");
	}
}

#define SERVICE                                                                \
	"apiVersion: serving.kserve.io/v1alpha2\n"                             \
	"kind: LLMInferenceService\nmetadata:\n  name: a\nspec:\n"             \
	"  model:\n    uri: hf://deepseek-ai/DeepSeek-R1-0528\n    name: r1\n" \
	"  replicas: 1\n  parallelism:\n    data: 16\n    dataLocal: 8\n"      \
	"    expert: true\n    tensor: 1\n  template:\n    containers:\n"      \
	"    - name: main\n      env:\n      - name: VLLM_ADDITIONAL_ARGS\n"   \
	"        value: >-\n          --gpu-memory-utilization 0.8\n"          \
	"          --max-num-seqs 64\n"

/* KServe's template makes the command: nothing in the file starts vLLM. */
static void services_of_kserve_are_read(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("service.yaml", SERVICE, &s, &error));
	assert_string_equal(report.format, "vllm");
	assert_string_equal(s.model.name, "deepseek-v3");
	expect(&s, "tp", "1");
	expect(&s, "dp_attention", "16");
	expect(&s, "ep", "16");
	expect(&s, "gpus", "16");
	expect(&s, "memory_share", "0.8");
	expect(&s, "max_requests", "64");
	assert_true(open_text("service.yaml",
			      SERVICE "  prefill:\n    replicas: 2\n    parallelism:\n"
				      "      tensor: 8\n    template:\n"
				      "      containers:\n      - name: main\n",
			      &s, &error));
	expect(&s, "disaggregated", "on");
	expect(&s, "prefill_tp", "8");
	expect(&s, "prefill_gpus", "16");
	expect(&s, "gpus", "32");
}

/* A file of flags is of the tool that has them. */
static void flags_alone_tell_their_tool(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("sglang.yaml",
			      "served-model-name: deepseek-ai/DeepSeek-R1\n"
			      "tensor-parallel-size: 4\nmem-fraction-static: 0.9\n"
			      "disaggregation-mode: decode\n",
			      &s, &error));
	assert_string_equal(report.format, "sglang");
	assert_string_equal(s.model.name, "deepseek-v3");
	expect(&s, "tp", "4");
	expect(&s, "memory_share", "0.9");
	assert_false(open_text("trtllm.yaml",
			       "tp_size: 8\npp_size: 1\n"
			       "kv_cache_free_gpu_mem_fraction: 0.90\n",
			       &s, &error));
	assert_non_null(strstr(error.text, "this file names no model"));
	/* AI-Hypercomputer/gpu-recipes, src/frameworks/a4x/trtllm-configs */
	assert_false(open_text("qwen3-235b-a22b-fp8.yaml",
			       "tp_size: 4\npp_size: 1\nbackend: pytorch\n"
			       "llm_api_args:\n  enable_chunked_prefill: true\n"
			       "  kv_cache_config:\n    enable_block_reuse: false\n",
			       &s, &error));
	assert_non_null(strstr(error.text, "this file names no model"));
}

/* KServe's older kind: a runtime's arguments, a model by id or by where it is stored.
 */
static void test_inference_service(void **state)
{
#define PREDICTOR(format, rest)                                           \
	"apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\n" \
	"metadata:\n  name: a\nspec:\n  predictor:\n    minReplicas: 1\n" \
	"    model:\n      modelFormat:\n        name: " format "\n" rest
	static const char by_id[] = PREDICTOR(
		"huggingface", "      args:\n        - --model_name=llama3\n"
			       "        - --model_id=meta-llama/Meta-Llama-3-8B\n"
			       "        - --tensor-parallel-size=2\n"
			       "    workerSpec:\n      pipelineParallelSize: 2\n"
			       "      tensorParallelSize: 1\n");
	static const char by_place[] =
		PREDICTOR("vLLM", "      storageUri: hf://Qwen/Qwen3-8B\n"
				  "      args: [--max-model-len=4096]\n");
	char text[1024];
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("service.yaml", by_id, &s, &error));
	assert_string_equal(s.model.name, "llama3-8b");
	expect(&s, "tp", "2"); /* its arguments stand behind */
	expect(&s, "pp", "2");
	assert_true(open_text("service.yaml", by_place, &s, &error));
	snprintf(text, sizeof text, "```sh\nls\n```\n```yaml\n%s```\n", by_place);
	assert_true(open_text("service.md", text, &s, &error));
	assert_false(open_text("service.yaml",
			       PREDICTOR("sklearn", "      storageUri: gs://a/iris\n"),
			       &s, &error));
	assert_non_null(strstr(error.text, "no command starts a server"));
	assert_true(open_text("tag.sh",
			      "docker tag vllm/vllm-openai:v0.12 vllm/vllm-openai:x\n"
			      "vllm serve Qwen/Qwen3-8B -tp 2\n",
			      &s, &error));
	assert_string_equal(s.model.name, "qwen3-8b");
#undef PREDICTOR
}

/* FlagScale's list of servers: one tool's flags under its own names. */
static void servers_of_flagscale(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("serve.yaml",
			      "- serve_id: vllm_model\n  engine: vllm\n"
			      "  engine_args:\n    model: /share/QwQ-32B # a folder\n"
			      "    served_model_name: qwq\n"
			      "    tensor_parallel_size: 4\n    max_num_seqs: 8\n"
			      "    enable_prefix_caching: false\n"
			      "    enforce_eager: true\n"
			      "  resources:\n    num_replicas: 2\n    num_gpus: 4\n",
			      &s, &error));
	assert_string_equal(s.stack.name, "vllm");
	assert_string_equal(s.model.name, "qwen2.5-32b");
	expect(&s, "tp", "4");
	expect(&s, "gpus", "8");
	expect(&s, "max_requests", "8");
	assert_true(open_text("serve.yaml",
			      "- serve_id: vllm_model\n  engine: sglang\n"
			      "  engine_args:\n    model: /models/Qwen3-8B/\n"
			      "    max_num_seqs: 4\n  engine_args_specific:\n"
			      "    vllm:\n      tensor_parallel_size: 1\n"
			      "    sglang:\n      tp: 2\n      page_size: 16\n",
			      &s, &error));
	assert_string_equal(s.stack.name, "sglang");
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "2");
	expect(&s, "max_requests", "4");
	expect(&s, "kv_block", "16");
	/* its robots serve no model of ours */
	assert_false(open_text("serve.yaml",
			       "- serve_id: vllm_model\n  engine_args:\n"
			       "    model: local/path\n    port: 5000\n",
			       &s, &error));
}

/* A title that is no model's prefers no command whose model is a variable's. */
static void a_title_that_names_no_model(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("GLM.md",
			      "# GLM\n```bash\nvllm serve zai-org/GLM-4.5-Air-FP8 "
			      "--tensor-parallel-size 8\n```\nOr:\n```bash\n"
			      "vllm serve $model_name --tensor-parallel-size 4\n```\n",
			      &s, &error));
	assert_string_equal(s.model.name, "glm-4.5-air");
	expect(&s, "tp", "8");
}

/* KServe's template of such services says as much as one of them; a file of DeepSpeed's
 * may have a model_type inside; a script is one by its name too. */
static void told_by_more_than_a_word(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(open_text("service.yaml",
			      "apiVersion: serving.kserve.io/v1alpha2\n"
			      "kind: LLMInferenceServiceConfig\n"
			      "metadata:\n  name: a\nspec:\n  model:\n"
			      "    uri: pvc://somewhere\n    name: openai/gpt-oss-20b\n"
			      "  replicas: 1\n  parallelism:\n    tensor: 2\n"
			      "  template:\n    containers:\n    - name: main\n",
			      &s, &error));
	assert_string_equal(s.model.name, "gpt-oss-20b");
	expect(&s, "tp", "2");
	assert_false(open_text("ds.json",
			       "{\"train_micro_batch_size_per_gpu\": 1, "
			       "\"data_efficiency\": {\"model_type\": \"decoder\"}}",
			       &s, &error));
	assert_non_null(strstr(error.text, "names no model"));
	assert_false(open_text("convert.sh", "python convert.py --target-tp 2\n", &s,
			       &error));
	assert_non_null(strstr(error.text, "a script, of whose commands none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_by_more_than_a_word),
		cmocka_unit_test(a_title_that_names_no_model),
		cmocka_unit_test(servers_of_flagscale),
		cmocka_unit_test(test_inference_service),
		cmocka_unit_test(test_a_group_of_pods),
		cmocka_unit_test(test_manifests_in_markdown),
		cmocka_unit_test(replicas_are_of_the_server_in_a_script),
		cmocka_unit_test(test_fences),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_pools_of_scripts),
		cmocka_unit_test(dependent_words),
		cmocka_unit_test(test_config_map),
		cmocka_unit_test(test_chart),
		cmocka_unit_test(test_deployment),
		cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_two_kinds),
		cmocka_unit_test(services_of_kserve_are_read),
		cmocka_unit_test(flags_alone_tell_their_tool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
