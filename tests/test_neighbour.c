/* test_neighbour.c - a configuration in Python that starts from one of another file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"

static char folder[64];

static void write_file(const char *path, const char *text)
{
	char whole[256];
	FILE *stream;

	snprintf(whole, sizeof whole, "%s/%s", folder, path);
	stream = fopen(whole, "w");
	assert_non_null(stream);
	fputs(text, stream);
	assert_int_equal(fclose(stream), 0);
}

static void make_folder(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof whole, "%s/%s", folder, path);
	assert_int_equal(mkdir(whole, 0700), 0);
}

static const char base[] =
	"def llama3_70b() -> Trainer.Config:\n"
	"    return Trainer.Config(\n"
	"        model_spec=model_registry(\"70B\"),\n"
	"        training=TrainingConfig(\n"
	"            num_tokens_per_microbatch_per_dp_rank=2 * 8192,\n"
	"            max_context_length=8192,\n        ),\n"
	"        parallelism=ParallelismConfig(tensor_parallel_degree=8),\n"
	"    )\n";

static const char own[] =
	"from torchtitan.models.llama3 import model_registry\n"
	"from torchtitan.models.llama3.config_registry import (\n"
	"    llama3_70b,\n)\n\n"
	"def mine() -> GraphTrainer.Config:\n"
	"    config = to_graph_trainer_config(llama3_70b(), model_registry)\n"
	"    config.parallelism.pipeline_parallel_degree = 2\n"
	"    return config\n";

/* The same of Megatron-Bridge. */
static const char bridge_base[] =
	"from megatron.bridge.training.config import ConfigContainer\n"
	"def qwen3_8b_pretrain_config() -> ConfigContainer:\n"
	"    cfg = _pretrain_common()\n"
	"    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\")\n"
	"    cfg.model.tensor_model_parallel_size = 4\n"
	"    cfg.train.global_batch_size = 96\n    return cfg\n";

static const char bridge_own[] =
	"from bridge.recipes.qwen3 import qwen3_8b_pretrain_config\n"
	"from megatron.bridge.training.config import ConfigContainer\n"
	"def qwen3_8b_pretrain_8gpu_b200_config() -> ConfigContainer:\n"
	"    cfg = qwen3_8b_pretrain_config()\n"
	"    cfg.model.pipeline_model_parallel_size = 2\n    return cfg\n";

static void a_recipe_of_bridge_too(void **state)
{
	char arguments[256];

	(void)state;
	make_folder("bridge");
	make_folder("bridge/recipes");
	write_file("bridge/mine.py", bridge_own);
	snprintf(arguments, sizeof arguments, "import megatron %s/bridge/mine.py",
		 folder);
	run_check(arguments, 2, NULL, "starts from qwen3_8b_pretrain_config()");
	write_file("bridge/recipes/qwen3.py", bridge_base);
	run_check(arguments, 0, "model: qwen3-8b", NULL);
	run_check(arguments, 0, "tp: 4", NULL);
	run_check(arguments, 0, "pp: 2", NULL);
	run_check(arguments, 0, "gbs: 96", NULL);
	run_check(arguments, 0, "cluster: dgx-b200", NULL);
}

static int make_tree(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/shardscope-neighbour-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	make_folder("torchtitan");
	make_folder("torchtitan/models");
	make_folder("torchtitan/models/llama3");
	make_folder("torchtitan/experiments");
	write_file("torchtitan/experiments/config_registry.py", own);
	return 0;
}

static int remove_tree(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

static void check(int status, const char *out, const char *err)
{
	char arguments[256];

	snprintf(arguments, sizeof arguments,
		 "import torchtitan %s/torchtitan/experiments/config_registry.py",
		 folder);
	run_check(arguments, status, out, err);
}

static void it_is_read_behind_what_it_starts_from(void **state)
{
	(void)state;
	check(2, NULL, "starts from llama3_70b()");
	write_file("torchtitan/models/llama3/config_registry.py", base);
	check(0, "model: llama3.1-70b", NULL);
	check(0, "\ntp: 8\n", NULL);
	check(0, "\npp: 2\n", NULL);
	check(0, "\nseq: 8192\n", NULL);
	check(0, "\nmbs: 2\n", NULL);
	/* one that lacks the function is as none */
	write_file("torchtitan/models/llama3/config_registry.py",
		   "def llama3_8b() -> Trainer.Config:\n    return Trainer.Config()\n");
	check(2, NULL, "config_registry.py:7: it starts from llama3_70b()");
	/* and one that never ends */
	write_file("torchtitan/models/llama3/config_registry.py",
		   "from torchtitan.models.llama3.config_registry import llama3_8b\n"
		   "def llama3_70b():\n    return to_config(llama3_8b())\n");
	check(2, NULL, "starts from llama3_70b()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_read_behind_what_it_starts_from,
						make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(a_recipe_of_bridge_too, make_tree,
						remove_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
