/* commands.c - see commands.h. */
#include "tests/support/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/fault.h"

/* @ is the folder that commands_begin() fills */
static const char *const commands[] = {
	"eval llama3-8b-8-h100",
	"eval llama3-8b-8-h100 --json",
	"eval --model qwen3-30b-a3b --cluster dgx-h100 --gpus 16 --mode inference",
	"check deepseek-v3-2048-h800",
	"search llama3-8b-8-h100 --threads 1 --top 2 --json",
	"sweep llama3-8b-8-h100 --vary tp=1,2",
	"explain step_seconds llama3-8b-8-h100",
	"list models",
	"show llama3-8b-8-h100",
	"export megatron llama3-8b-8-h100",
	"export trace llama3-8b-8-h100",
	"screen overview llama3-8b-8-h100",
	"screen search llama3-8b-8-h100",
	"import megatron tests/fuzz/seeds/megatron/args.yaml",

	"eval --mode inference --model llama3.1-70b --cluster dgx-h200 --stack vllm "
	"--gpus 8 --tp 4 --simulate --json",
	"eval --mode inference --model llama3.1-70b --cluster dgx-h200 --stack vllm "
	"--gpus 8 --tp 4 --trace @/requests.csv",
	"check tests/fuzz/seeds/megatron/script --json",
	"check llama3-8b-8-h100 --rules tests/fuzz/seeds/rules/own.yaml",
	"search llama3-8b-8-h100 --threads 1 --pareto memory --json",
	"search llama3-8b-8-h100 --threads 1 --ask mbs --json",
	"search llama3-8b-8-h100 --threads 1 --robust --json",
	"search --mode inference --model llama3.1-8b --cluster dgx-h100 --gpus 8 --stack "
	"vllm --threads 1 --top 2 --json",
	"sweep llama3-8b-8-h100 --vary tp=1,2 --free pp --csv",
	"compare llama3-8b-8-h100 tp=2",
	"compare llama3-8b-8-h100 tp=2 --json",
	"verify @/proof",
	"explain bubble",
	"explain mfu llama3-8b-8-h100 --json",
	"list clusters",
	"list stacks",
	"list plans --json",
	"list lessons",
	"list challenges",
	"list rules",
	"show dgx-h100",
	"show megatron-core",
	"show llama3.1-8b",
	"export bridge llama3-8b-8-h100",
	"export deepspeed llama3-8b-8-h100 --stack deepspeed",
	"export torchtitan llama3-8b-8-h100",
	"export torchtitan-py llama3-8b-8-h100",
	"export nanotron llama3-8b-8-h100",
	"export accelerate llama3-8b-8-h100",
	"export vllm --mode inference --model llama3.1-8b --cluster dgx-h100 --gpus 8 "
	"--stack vllm",
	"export sglang --mode inference --model llama3.1-8b --cluster dgx-h100 --gpus 8 "
	"--stack sglang",
	"export trtllm --mode inference --model llama3.1-8b --cluster dgx-h100 --gpus 8 "
	"--stack tensorrt-llm",
	"export markdown llama3-8b-8-h100",
	"export markdown llama3-8b-8-h100 --baseline llama3-70b-64-h100",
	"export csv llama3-8b-8-h100",
	"export yaml llama3-8b-8-h100",
	"share llama3-8b-8-h100 --tp 2",
	"screen memory llama3-8b-8-h100 --format svg",
	"screen timeline llama3-70b-64-h100 --format ansi",
	"screen traffic llama3-70b-64-h100",
	"screen graph llama3-70b-64-h100",
	"screen topology llama3-70b-64-h100",
	"screen explain llama3-70b-64-h100",
	"screen help",
	"import hf tests/fuzz/seeds/hf/config.json",
	"import deepspeed tests/fuzz/seeds/deepspeed/exported --model llama3.1-8b",
	"import torchtitan tests/fuzz/seeds/torchtitan/exported",
	"import nanotron tests/fuzz/seeds/nanotron/exported",
	"import accelerate tests/fuzz/seeds/accelerate/exported --model llama3.1-8b",
	"import llama-factory tests/fuzz/seeds/llama-factory/full.yaml",
	"import axolotl tests/fuzz/seeds/axolotl/qlora.yml",
	"import maxtext tests/fuzz/seeds/maxtext/named",
	"import mlperf tests/fuzz/seeds/mlperf/config.sh",
	"import vllm tests/fuzz/seeds/vllm/script",
	"import sglang tests/fuzz/seeds/sglang/script",
	"import trtllm tests/fuzz/seeds/trtllm/script",
	"lesson sheet bubble --seeds @/students.txt --answers",
	"lesson check bubble",
	"lesson grade @/answers",
	"challenge list",
	"challenge small-bubble --pp 8",
	"challenge rank @/answers",
	"schema eval",
	"schema lesson",
	"completion bash",
	"completion fish",
	"manual",
	"validate tests/validation/fms_fsdp.yaml",
	"validate tests/validation/fms_fsdp.yaml --json",
	"learn bubble --plain < tests/README.md",
	"llama3-8b-8-h100 --plain < @/lines",
	"--help",
	"eval --help",
	"--version",
	"export dynamo llama3.1-70b-4-h100-serve",
	"export llm-d llama3.1-70b-4-h100-serve --stack vllm",
	"export chakra @/traces llama3-8b-8-h100",
};

char *command[sizeof commands / sizeof *commands];
const int tried_count = sizeof commands / sizeof *commands;

static void name_commands(const char *folder)
{
	for (int i = 0; i < tried_count; i++) {
		const char *at = strchr(commands[i], '@');
		size_t size = strlen(commands[i]) + strlen(folder) + 1;

		command[i] = calloc(1, size);
		assert_non_null(command[i]);
		snprintf(command[i], size, "%.*s%s%s",
			 (int)(at ? at - commands[i] : (int)size), commands[i],
			 at ? folder : "", at ? at + 1 : "");
	}
}

static void fill(const char *folder, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fault_write(path, text);
}

void commands_begin(const char *folder)
{
	char shell[512], *answer = fault_read("tests/fuzz/seeds/answers/bubble.yaml");
	struct ran ran;

	fill(folder, "requests.csv",
	     "arrival,prompt,output\n0,512,64\n0.5,1024,32\n1,256,16\n");
	fill(folder, "students.txt", "anna\nben\n");
	fill(folder, "lines", "pp 2\nwhat bubble\nwhy mfu\nmemory\nundo\nquit\n");
	snprintf(shell, sizeof shell, "mkdir %s/answers", folder);
	assert_int_equal(system(shell), 0);
	fill(folder, "answers/anna.yaml", answer);
	free(answer);
	name_commands(folder);
	snprintf(shell, sizeof shell,
		 "search llama3-8b-8-h100 --threads 1 --tp 1,2 --pp 1 --certificate "
		 "%s/proof",
		 folder);
	ran = run(shell);
	assert_int_equal(ran.status, 0);
	ran_free(&ran);
}

void commands_end(void)
{
	for (int i = 0; i < tried_count; i++)
		free(command[i]);
}
