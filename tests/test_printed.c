/* test_printed.c - tables as the commands print them, as golden texts; how long
 * something took is no part of them. Numbers in them move when the model behind them is
 * mended: look at the difference, then run `make screens` to write it anew. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

enum { MOST = 1 << 16 };

/* "(169 ms)" and ", 345 ms)" become "(# ms)"; the proof's file has one name. */
static void settle(char *text, const char *file)
{
	char *out = text;

	for (const char *at = text; *at != '\0';) {
		size_t digits = strspn(at, "0123456789");

		if (file && strncmp(at, file, strlen(file)) == 0) {
			at += strlen(file);
			out += sprintf(out, "PROOF");
		} else if (digits > 0 && strncmp(at + digits, " ms)", 4) == 0) {
			at += digits;
			*out++ = '#';
		} else {
			do
				*out++ = *at++;
			while (*at && isdigit((unsigned char)at[-1]) &&
			       isdigit((unsigned char)*at));
		}
	}
	*out = '\0';
}

static bool is_same(const char *name, const char *text)
{
	char path[80], *golden = calloc(1, MOST);
	FILE *file;
	bool same;

	assert_non_null(golden);
	snprintf(path, sizeof path, "tests/screens/printed-%s.txt", name);
	file = fopen(path, "r");
	if (file) {
		assert_true(fread(golden, 1, MOST - 1, file) < MOST - 1);
		fclose(file);
	}
	same = strcmp(golden, text) == 0;
	if (!same && getenv("SHARDSCOPE_WRITE_SCREENS")) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
		same = true;
	}
	if (!same)
		print_error("%s differs; it is now\n%s\n", path, text);
	free(golden);
	return same;
}

static bool prints(const char *name, const char *arguments, int status,
		   const char *file)
{
	struct ran ran = run(arguments);
	char *text;
	bool same;

	if (ran.status != status)
		fail_msg("%s: status %d, %s", arguments, ran.status, ran.err);
	text = malloc(strlen(ran.out) + 1);
	assert_non_null(text);
	strcpy(text, ran.out);
	settle(text, file);
	same = is_same(name, text);
	free(text);
	ran_free(&ran);
	return same;
}

static void tables_look_as_they_did(void **state)
{
	static const struct {
		const char *name, *arguments;
		int status;
	} cases[] = {
		{ "search", "search llama3-70b-64-h100 --threads 1", 0 },
		{ "search-measured",
		  "search gpt-oss-120b-64-h100 --trust measured --threads 1", 0 },
		{ "search-sure",
		  "search llama2-70b-128-a100-fsdp --objective sure --threads 1", 0 },
		{ "search-server",
		  "search llama3.1-70b-4-h100-serve --top 5 --threads 1", 0 },
		{ "compare", "compare llama3-70b-64-h100 'tp=4 pp=8' 'sp=off pp=8'",
		  1 },
		{ "compare-markdown",
		  "compare llama3-70b-64-h100 'tp=4 pp=8 mbs=1' --markdown", 0 },
		{ "compare-servers", "compare llama3.1-70b-4-h100-serve tp=2", 0 },
		{ "check-remedies", "check llama3-70b-64-h100 --gbs 250", 1 },
		{ "check-further", "check llama3-70b-64-h100 --tp 3", 1 },
		{ "check-abilities",
		  "check llama3-70b-64-h100 --schedule zb-v --zero 2", 1 },
	};
	bool good = true;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		good = prints(cases[i].name, cases[i].arguments, cases[i].status,
			      NULL) &&
		       good;
	assert_true(good);
}

/* A sweep is a table on a terminal, whose width it keeps to. */
static bool sweeps(const char *name, int columns, int rows, const char *const argv[])
{
	struct vt_options options = { .columns = columns, .rows = rows };
	struct vt *vt = vt_start(&options, argv);
	char *text = calloc(1, MOST);
	size_t used = 0;
	bool same;

	assert_non_null(text);
	vt_expect_exit(vt, 0);
	for (int row = 0; row < rows; row++)
		used += (size_t)snprintf(text + used, MOST - used, "%s\n",
					 vt_row(vt, row));
	while (used > 1 && text[used - 2] == '\n')
		text[--used] = '\0';
	same = is_same(name, text);
	free(text);
	vt_close(vt);
	return same;
}

static void sweeps_look_as_they_did(void **state)
{
	static const struct {
		int columns, rows;
	} sizes[] = { { 80, 24 }, { 120, 36 }, { 200, 60 } };
	const char *const varied[] = { run_program(), "sweep",  "llama3-70b-64-h100",
				       "--vary",      "tp=4,8", "--vary",
				       "pp=2,4,8",    NULL };
	const char *const freed[] = {
		run_program(), "sweep",       "llama3-70b-64-h100",
		"--vary",      "gpus=64,128", "--free",
		"tp,pp",       NULL
	};
	/* tree sums up nothing here, and nothing is in fp8 */
	const char *const idle[] = { run_program(),
				     "sweep",
				     "llama3-70b-64-h100",
				     "--vary",
				     "collective=ring,tree",
				     "--vary",
				     "fp8_recipe=delayed,rowwise",
				     NULL };
	bool good = true;
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		snprintf(name, sizeof name, "sweep-%dx%d", sizes[i].columns,
			 sizes[i].rows);
		good = sweeps(name, sizes[i].columns, sizes[i].rows, varied) && good;
		snprintf(name, sizeof name, "sweep-free-%dx%d", sizes[i].columns,
			 sizes[i].rows);
		good = sweeps(name, sizes[i].columns, sizes[i].rows, freed) && good;
		snprintf(name, sizeof name, "sweep-idle-%dx%d", sizes[i].columns,
			 sizes[i].rows);
		good = sweeps(name, sizes[i].columns, sizes[i].rows, idle) && good;
	}
	assert_true(good);
}

/* A proof, what checks it, and the line where a changed one fails. */
static void proofs_look_as_they_did(void **state)
{
	char path[] = "/tmp/test_printed.XXXXXX", arguments[256];
	int file = mkstemp(path);
	bool good;

	(void)state;
	assert_true(file >= 0);
	close(file);
	snprintf(arguments, sizeof arguments,
		 "search --threads 1 --model llama2-13b --cluster dgx-a100-40g --stack "
		 "megatron-core --gpus 16 --gbs 64 --seq 4096 --mbs 1,2 --cp 1 "
		 "--optimizer_offload 0 --recompute none,full --vpp 1,2,4 --zero 0,1 "
		 "--certificate %s",
		 path);
	good = prints("certified", arguments, 0, path);
	snprintf(arguments, sizeof arguments, "verify %s", path);
	good = prints("verified", arguments, 0, path) && good;
	{
		char text[MOST];
		FILE *stream = fopen(path, "r+");
		size_t length;
		char *at;

		assert_non_null(stream);
		length = fread(text, 1, sizeof text - 1, stream);
		text[length] = '\0';
		good = is_same("certificate", text) && good;
		at = strstr(text, " time ");
		assert_non_null(at);
		at[6] = at[6] == '9' ? '8' : '9';
		rewind(stream);
		assert_true(fwrite(text, 1, length, stream) == length);
		fclose(stream);
	}
	good = prints("refuted", arguments, 1, path) && good;
	unlink(path);
	assert_true(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_look_as_they_did),
		cmocka_unit_test(sweeps_look_as_they_did),
		cmocka_unit_test(proofs_look_as_they_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
