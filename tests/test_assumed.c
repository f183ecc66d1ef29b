/* test_assumed.c - what a reader assumed of a file is told by every command that
 * answers for it, in words and as JSON, until it is settled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"

static char file[] = "/tmp/shardscope-assumed-XXXXXX.sh";

static int write_file(void **state)
{
	FILE *stream = fdopen(mkstemps(file, 3), "w");

	(void)state;
	if (!stream)
		return -1;
	fputs("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size "
	      "1024 --num-attention-heads 16 --seq-length 512 --max-position-embeddings "
	      "512 --micro-batch-size 4 --global-batch-size 64 --bf16 "
	      "--tensor-model-parallel-size 1\n",
	      stream);
	return fclose(stream);
}

static int remove_file(void **state)
{
	(void)state;
	return remove(file);
}

/* The command with the file where its words have a %. */
static void holds(const char *form, const char *words)
{
	const char *at = strchr(form, '%');
	char command[256];

	snprintf(command, sizeof command, "%.*s%s%s", (int)(at - form), form, file,
		 at + 1);
	run_check(command, 0, words, NULL);
}

/* The file says neither machine nor vocabulary; both are no word of the knobs. */
static void test_each_command_tells(void **state)
{
	static const char *const forms[] = {
		"eval % --json",
		"check % --json",
		"explain mfu % --json",
		"compare % llama3-8b-8-h100 --json",
		"search % --tp 1 --pp 1 --zero 0 --json",
		"export json %",
	};

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		holds(forms[i], "\"cluster\":\t\"dgx-h100\",\n");
		holds(forms[i], "\"others\":\t\"vocab-size 51200\"\n");
	}
	holds("sweep % --vary mbs=1,2 --json",
	      "\"assumed\":{\"cluster\":\"dgx-h100\",\"others\":\"vocab-size 51200\"}");
	holds("compare % llama3-8b-8-h100",
	      "\n   assumed: dgx-h100, vocab-size 51200\nB  ");
	holds("compare llama3-8b-8-h100 % --markdown",
	      "; assumed: dgx-h100, vocab-size 51200\n");
	holds("export markdown %", "| assumed | dgx-h100, vocab-size 51200 |");
	holds("screen overview --size 120x36 %",
	      "~ assumed: dgx-h100, vocab-size 51200");
}

/* A plan that is the first with knobs turned rests on what the first does, but for
 * these; what an option says nobody assumed. */
static void test_settled_is_not_told(void **state)
{
	char plan[] = "/tmp/shardscope-assumed-XXXXXX.yaml", command[256];
	FILE *stream = fdopen(mkstemps(plan, 5), "w");

	(void)state;
	assert_non_null(stream);
	fputs("model: llama2-7b\nstack: megatron-core\nzero: 2\ngpus: 8\ngbs: 8\n"
	      "assumed: {gpus: '8', vocab-size: '51200'}\n",
	      stream);
	fclose(stream);
	snprintf(command, sizeof command, "compare %s 'gpus=16 gbs=16' 'tp=2'", plan);
	run_check(command, 0, "\n   assumed: dgx-h100, vocab-size 51200\nC ", NULL);
	run_check(command, 0,
		  "\n   assumed: dgx-h100, gpus 8, vocab-size 51200\n\nthey differ",
		  NULL);
	snprintf(command, sizeof command, "sweep %s --vary gpus=8,16 --json", plan);
	run_check(
		command, 0,
		"\"assumed\":{\"cluster\":\"dgx-h100\",\"others\":\"vocab-size 51200\"}",
		NULL);
	snprintf(command, sizeof command, "compare %s 'tp=2' --gpus 8 --json", plan);
	run_check(
		command, 0,
		"\"assumed\":\t{\n\t\t\t\t\"cluster\":\t\"dgx-h100\",\n\t\t\t\t\"others\":",
		NULL);
	remove(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_command_tells),
		cmocka_unit_test(test_settled_is_not_told),
	};

	return cmocka_run_group_tests(tests, write_file, remove_file);
}
