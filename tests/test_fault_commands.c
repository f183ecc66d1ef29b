/* test_fault_commands.c - every command where memory ends at any call, where nothing
 * can be opened, and where nothing can be printed: the right answer or an error, never
 * half of one. See tests/support/fault.h for what FAULTS=all tries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/fault.h"

/* What is tried more closely: of a sample so many places from all over, and the last
 * ones; of the others behind it fewer, for they read the same library. */
enum { CLOSELY = 14, FEW = 24, LAST = 20, FEWER = 3, LATEST = 4 };

/* @ is the folder that fill_home() fills */
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
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* Each with the folder's name in it. */
static char *command[COMMANDS];

static void name_commands(void)
{
	for (int i = 0; i < COMMANDS; i++) {
		const char *at = strchr(commands[i], '@');
		size_t size = strlen(commands[i]) + strlen(fault_home) + 1;

		command[i] = calloc(1, size);
		assert_non_null(command[i]);
		snprintf(command[i], size, "%.*s%s%s",
			 (int)(at ? at - commands[i] : (int)size), commands[i],
			 at ? fault_home : "", at ? at + 1 : "");
	}
}

static void fill(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", fault_home, name);
	fault_write(path, text);
}

static int fill_home(void **state)
{
	char shell[512], *answer = fault_read("tests/fuzz/seeds/answers/bubble.yaml");
	int status = fault_begin(state);
	struct ran ran;

	fill("requests.csv",
	     "arrival,prompt,output\n0,512,64\n0.5,1024,32\n1,256,16\n");
	fill("students.txt", "anna\nben\n");
	fill("lines", "pp 2\nwhat bubble\nwhy mfu\nmemory\nundo\nquit\n");
	snprintf(shell, sizeof shell, "mkdir %s/answers", fault_home);
	assert_int_equal(system(shell), 0);
	fill("answers/anna.yaml", answer);
	free(answer);
	name_commands();
	snprintf(shell, sizeof shell,
		 "search llama3-8b-8-h100 --threads 1 --tp 1,2 --pp 1 --certificate "
		 "%s/proof",
		 fault_home);
	ran = fault_run(shell, "none:1");
	assert_int_equal(ran.status, 0);
	ran_free(&ran);
	return status;
}

static int empty_home(void **state)
{
	for (int i = 0; i < COMMANDS; i++)
		free(command[i]);
	return fault_end(state);
}

/* The right answer, or an error: never half an answer called good, never a crash. */
static void check_command(const char *arguments, const struct ran *right,
			  const char *fault)
{
	struct ran ran = fault_run(arguments, fault);

	if (ran.status == 2) {
		if (ran.err[0] == '\0')
			fault_complain("%s, %s: no reason", arguments, fault);
	} else if ((ran.status != right->status || strcmp(ran.out, right->out) != 0) &&
		   /* a conversation goes on where it said so; of a folder of answers
		    * each that can't be read is said */
		   !strstr(ran.out, "out of memory; ") &&
		   !strstr(ran.out, "can't be read: ") &&
		   !strstr(ran.err, "can't be read: ")) {
		fault_complain("%s, %s: status %d\n%s\n%s", arguments, fault,
			       ran.status, ran.out, ran.err);
	}
	ran_free(&ran);
}

static void fail_calls(int which, const char *call, const char *onwards)
{
	const char *arguments = command[which];
	struct ran right = fault_run_noting(arguments);
	bool failed = true, closely = which < CLOSELY;
	static struct fault_ways tried[2];
	struct fault_turns turns;

	/* to read the library is the same in all of them; and what fails from a call on
	 * fails at the later times of its place anyway */
	turns = fault_turns(call, which == 0 && *onwards == '\0', closely ? FEW : FEWER,
			    closely ? LAST : LATEST);
	turns.ways = &tried[*onwards != '\0'];
	for (long n; (n = fault_next(&turns, failed)) != 0;) {
		char fault[64];

		snprintf(fault, sizeof fault, "%s:%ld%s", call, n, onwards);
		check_command(arguments, &right, fault);
		failed = fault_was_marked();
	}
	ran_free(&right);
}

/* FAULTS_PART=2/8 tries every eighth command, from the second on: all of them in one go
 * are hours with FAULTS=all. */
static bool is_asked(int which)
{
	const char *text = getenv("FAULTS_PART");
	int part = 1, parts = 1;

	if (text && (sscanf(text, "%d/%d", &part, &parts) != 2 || part < 1 ||
		     part > parts || parts > COMMANDS))
		fail_msg("FAULTS_PART=%s is no part of a whole", text);
	return which % parts == part - 1;
}

static void test_commands_without_memory(void **state)
{
	(void)state;
	for (int i = 0; i < COMMANDS; i++) {
		if (!is_asked(i))
			continue;
		fail_calls(i, "malloc", "");
		if (i < CLOSELY || fault_is_all())
			fail_calls(i, "malloc", "+");
	}
	fault_check();
}

/* The number of the last allocation that came by a new way. */
static long count_allocations(const char *arguments)
{
	FILE *places;
	long n, nth, last = 0;
	unsigned long long way;
	struct ran ran;

	ran = fault_run_noting(arguments);
	assert_int_equal(ran.status, 0);
	ran_free(&ran);
	places = fopen(fault_places(), "r");
	assert_non_null(places);
	while (fscanf(places, "%ld %ld %llx", &n, &nth, &way) == 3)
		last = n;
	fclose(places);
	return last;
}

/* Who asks for a preset by name waits for no other: all models are some hundred files.
 */
static void test_a_name_opens_one_file(void **state)
{
	long all = count_allocations("list models");

	(void)state;
	assert_true(count_allocations("show llama3-8b") < all / 10);
	assert_true(count_allocations("eval llama3-8b-8-h100") < all / 4);
}

static void test_commands_that_can_not_open(void **state)
{
	(void)state;
	for (int i = 0; i < COMMANDS; i++)
		if (is_asked(i))
			fail_calls(i, "open", "");
	fault_check();
}

/* Nothing can be printed: said, and never called good. */
static void test_commands_on_a_full_disk(void **state)
{
	char full[1200];

	(void)state;
	snprintf(full, sizeof full, "sh -c 'exec %s \"$@\" > /dev/full' sh",
		 fault_program);
	setenv("SHARDSCOPE", full, 1);
	for (int i = 0; i < COMMANDS; i++) {
		struct ran ran;

		if (!is_asked(i))
			continue;
		ran = fault_run(command[i], "none:1");

		if (ran.status != 2 || !strstr(ran.err, "the output can't be written"))
			fault_complain("%s: status %d, %s", command[i], ran.status,
				       ran.err);
		ran_free(&ran);
	}
	setenv("SHARDSCOPE", fault_program, 1);
	fault_check();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands_without_memory),
		cmocka_unit_test(test_a_name_opens_one_file),
		cmocka_unit_test(test_commands_that_can_not_open),
		cmocka_unit_test(test_commands_on_a_full_disk),
	};

#ifdef __SANITIZE_ADDRESS__
	(void)tests;
	(void)fill_home;
	(void)empty_home;
	puts("test_fault_commands: a sanitizer has an allocator of its own");
	return 0;
#else
	return cmocka_run_group_tests(tests, fill_home, empty_home);
#endif
}
