/* test_settings.c - servers whose settings stand elsewhere than in a command: units of
 * systemd, a YAML beside the script, services of Docker Compose, patches of Kustomize.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/run.h"

static char folder[] = "/tmp/shardscope-settings-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *stream;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	assert_int_equal(fclose(stream), 0);
}

static void remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	assert_int_equal(remove(path), 0);
}

static void evaluate(const char *name, int status, const char *out, const char *err)
{
	char command[256];

	snprintf(command, sizeof command, "eval %s/%s", folder, name);
	run_check(command, status, out, err);
}

static void test_units_of_systemd(void **state)
{
	static const char *const units[] = {
		"sudo tee /etc/systemd/system/x.service << EOF\n[Unit]\nDescription=a\n"
		"[Service]\nExecStart=/opt/venv/bin/vllm serve Qwen/Qwen3-8B -tp 2\nEOF\n",
		"[Service]\nExecStart=vllm serve Qwen/Qwen3-8B -tp 2\n",
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		read_good("vllm", units[i], &s);
		assert_string_equal(s.model.name, "qwen3-8b");
		expect(&s, "tp", "2");
	}
}

/* Flags of the command go before the file's; a path of a container is that of the name
 * here. */
static void test_a_file_beside(void **state)
{
	(void)state;
	write_file("config.yaml", "model: Qwen/Qwen3-8B\ntensor-parallel-size: 4\n"
				  "kv-cache-dtype: fp8\n");
	write_file("run.sh", "docker run vllm/vllm-openai vllm serve --config "
			     "/workspace/config.yaml -tp 2\n");
	evaluate("run.sh", 0, "serving qwen3-8b on 2 x", "read as vllm");
	write_file("run.sh", "vllm serve Qwen/Qwen3-14B --config config.yaml\n");
	evaluate("run.sh", 0, "serving qwen3-14b on 4 x", NULL);
	write_file("run.sh", "python3 -m sglang.launch_server --config config.yaml\n");
	write_file("config.yaml", "model-path: Qwen/Qwen3-8B\ntp-size: 2\n");
	evaluate("run.sh", 0, "serving qwen3-8b on 2 x", NULL);
	remove_file("config.yaml");
	write_file("run.sh", "vllm serve --config /workspace/config.yaml -tp 2\n");
	evaluate("run.sh", 2, NULL,
		 "run.sh:1: the model stands in config.yaml, which is not here");
	write_file("run.sh", "vllm serve Qwen/Qwen3-8B --config config.yaml\n");
	evaluate("run.sh", 2, NULL,
		 "tensor-parallel-size stands in config.yaml, which is not here");
	/* a manifest is not the settings that it names */
	write_file("run.sh", "trtllm-serve Qwen/Qwen3-8B --extra_llm_api_options "
			     "/configs/run.sh\n");
	evaluate("run.sh", 2, NULL, "tp_size stands in run.sh, which is not here");
	remove_file("run.sh");
}

static void test_compose(void **state)
{
	static const char service[] =
		"services:\n  llm:\n    image: vllm/vllm-openai:latest\n    command:\n"
		"      - google/gemma-3-27b-it\n      - --tensor-parallel-size\n"
		"      - ${TP}\n      - --max-model-len\n      - \"8192\"\n";

	(void)state;
	read_refused("vllm", service, "--tensor-parallel-size is open");
	write_file("compose.yaml", service);
	evaluate("compose.yaml --set TP=2", 0, "serving gemma3-27b on 2 x", NULL);
	remove_file("compose.yaml");
	/* Kubernetes' command is a program */
	read_refused("vllm",
		     "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n"
		     "    image: vllm/vllm-openai\n    command: [sleep, infinity]\n",
		     "no command starts a server");
}

/* A patch of Kustomize leaves image and program to the file that it changes. */
static void test_patches(void **state)
{
	(void)state;
	write_file("patch.yaml",
		   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: decode}\n"
		   "spec:\n  template:\n    spec:\n      containers:\n"
		   "        - name: modelserver\n          args:\n"
		   "            - \"Qwen/Qwen3-32B\"\n"
		   "            - \"--max-model-len=9216\"\n"
		   "            - \"--tensor-parallel-size=4\"\n");
	evaluate("patch.yaml", 0, "serving qwen3-32b on 4 x", "read as vllm");
	remove_file("patch.yaml");
}

/* The keys say whose YAML it is: a degree alone is of several. */
static void test_whose_yaml(void **state)
{
	(void)state;
	write_file("a.yaml", "served_model_name: a\ntensor_parallel_size: 2\n");
	evaluate("a.yaml --model qwen3-8b", 0, ", vllm\n", "read as vllm");
	write_file("a.yaml", "model: \"Qwen/Qwen3-8B\"\nmax-model-len: 8192\n");
	evaluate("a.yaml", 0, "serving qwen3-8b on 1 x", "read as vllm");
	write_file("a.yaml",
		   "kv_cache_config: {dtype: fp8}\ntensor_parallel_size: 2\n");
	evaluate("a.yaml --model qwen3-8b", 0, ", tensorrt-llm\n", NULL);
	remove_file("a.yaml");
}

/* Recipes whose degrees are parameters are none of defaults. */
static void test_first_recipes(void **state)
{
	(void)state;
	write_file("a.py", "from megatron.bridge.models import Provider56B\n\n"
			   "def model_config(\n    tensor_parallelism: int = 8,\n):\n"
			   "    return Provider56B(tensor_model_parallel_size="
			   "tensor_parallelism)\n\n"
			   "def pretrain_config(global_batch_size: int = 768) -> "
			   "ConfigContainer:\n"
			   "    cfg = ConfigContainer(model=model_config())\n"
			   "    cfg.train.micro_batch_size = 1\n    return cfg\n");
	evaluate("a.py --function pretrain_config --model qwen3-8b", 2, NULL,
		 "a.py:3: a recipe as Megatron-Bridge had them first");
	remove_file("a.py");
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* A place that Kubernetes fills is no model, what it is served as names one; argparse
 * takes the beginning of a flag for it. */
static void test_kubernetes_places(void **state)
{
	struct scenario s;

	(void)state;
	read_good("sglang",
		  "apiVersion: a/v1\nkind: Runtime\nspec:\n  runner:\n"
		  "    image: lmsysorg/sglang:v0.5\n    command:\n"
		  "    - python3\n    - -m\n    - sglang.launch_server\n"
		  "    - --model-path\n    - $(MODEL_PATH)\n    - --tp-size\n"
		  "    - \"2\"\n    - --mem-frac\n    - \"0.82\"\n"
		  "    - --served-model-name\n"
		  "    - RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	expect(&s, "tp", "2");
	expect(&s, "memory_share", "0.82");
	expect(&s, "precision", "fp8");
	assert_true(noted(IMPORT_ASSUMED, "model"));
	/* one that is not known is told by its own name */
	read_refused("sglang",
		     "python3 -m sglang.launch_server --model-path '$(MODEL_PATH)' "
		     "--served-model-name BAAI/bge-m3\n",
		     "no model 'BAAI/bge-m3' in the library");
	/* of several flags it is none */
	read_good("vllm", "vllm serve Qwen/Qwen3-8B --max-num 4\n", &s);
	expect(&s, "max_requests", "auto");
	assert_true(noted(IMPORT_NOT_MODELLED, "max-num"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units_of_systemd),
		cmocka_unit_test(test_a_file_beside),
		cmocka_unit_test(test_compose),
		cmocka_unit_test(test_patches),
		cmocka_unit_test(test_whose_yaml),
		cmocka_unit_test(test_first_recipes),
		cmocka_unit_test(test_kubernetes_places),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
