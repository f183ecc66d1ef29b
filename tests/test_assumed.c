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

/* The command with this scenario where its words have a %. */
static void holds(const char *form, const char *scenario, const char *words)
{
	const char *at = strchr(form, '%');
	char command[4096];

	snprintf(command, sizeof command, "%.*s%s%s", (int)(at - form), form, scenario,
		 at + 1);
	run_check(command, 0, words, NULL);
}

/* The file says neither machine nor vocabulary; both are no word of the knobs. */
static void check_commands(const char *scenario)
{
	static const char *const forms[] = {
		"eval % --json",
		"check % --json",
		"explain mfu % --json",
		"compare % llama3-8b-8-h100 --json",
		"search % --tp 1 --pp 1 --zero 0 --json",
		"export json %",
	};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		holds(forms[i], scenario, "\"cluster\":\t\"dgx-h100\",\n");
		holds(forms[i], scenario, "\"others\":\t\"vocab-size 51200\"\n");
	}
	holds("sweep % --vary mbs=1,2 --json", scenario,
	      "\"assumed\":{\"cluster\":\"dgx-h100\",\"others\":\"vocab-size 51200\"}");
	holds("compare % llama3-8b-8-h100", scenario,
	      "\n   assumed: dgx-h100, vocab-size 51200\nB  ");
	holds("compare llama3-8b-8-h100 % --markdown", scenario,
	      "; assumed: dgx-h100, vocab-size 51200\n");
	holds("export markdown %", scenario,
	      "| assumed | dgx-h100, vocab-size 51200 |");
	holds("screen overview --size 120x36 %", scenario,
	      "~ assumed: dgx-h100, vocab-size 51200");
}

static void test_each_command_tells(void **state)
{
	(void)state;
	check_commands(file);
}

/* A shared line takes along what was assumed; what an option settles, it does not. */
static void test_a_line_tells(void **state)
{
	char command[256];
	struct ran ran;

	(void)state;
	snprintf(command, sizeof command, "share %s", file);
	ran = run(command);
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, ",assumed=cluster,other=vocab-size%2051200,"));
	ran.out[strcspn(ran.out, "\n")] = '\0';
	check_commands(ran.out);
	holds("share %", ran.out, ran.out);
	holds("export share %", ran.out, ran.out);
	holds("export yaml %", ran.out,
	      "assumed:\n  \"cluster\": \"dgx-h100\"\n  \"vocab-size\": \"51200\"\n");
	holds("eval --json --cluster dgx-h100 %", ran.out,
	      "\"assumed\":\t{\n\t\t\"others\":\t\"vocab-size 51200\"\n");
	ran_free(&ran);
	snprintf(command, sizeof command, "share %s --cluster dgx-h100", file);
	ran = run(command);
	assert_null(strstr(ran.out, "assumed="));
	assert_non_null(strstr(ran.out, ",other=vocab-size"));
	ran_free(&ran);
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
		cmocka_unit_test(test_a_line_tells),
		cmocka_unit_test(test_settled_is_not_told),
	};

	return cmocka_run_group_tests(tests, write_file, remove_file);
}
