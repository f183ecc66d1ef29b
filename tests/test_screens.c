/* test_screens.c - golden screens: every view at three sizes, as text.
 *
 * Numbers in them move when the model behind them is mended: look at the difference,
 * then run `make screens` to write them anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tui/view.h"

static const struct {
	int width, height;
} sizes[] = { { 80, 24 }, { 120, 36 }, { 200, 60 } };

static char *read_golden(const char *path)
{
	enum { ROOM = 1 << 17 };
	char *text = calloc(1, ROOM);
	FILE *file = fopen(path, "r");

	assert_non_null(text);
	if (file) {
		assert_true(fread(text, 1, ROOM - 1, file) < ROOM - 1);
		fclose(file);
	}
	return text;
}

static void write_golden(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* What is on the stage now, against a file of that name. */
static bool is_same(struct stage *stage, const char *name, const char *view)
{
	char path[160], *text, *golden;
	bool same;

	snprintf(path, sizeof path, "tests/screens/%s-%s-%dx%d.txt", name, view,
		 stage->canvas.width, stage->canvas.height);
	stage->explorer.view = (enum view_id)view_find(view);
	if (stage->explorer.view == VIEW_TIMELINE)
		play_refresh(&stage->explorer);
	text = stage_text(stage);
	golden = read_golden(path);
	same = strcmp(text, golden) == 0;
	if (!same && getenv("SHARDSCOPE_WRITE_SCREENS"))
		write_golden(path, text);
	else if (!same)
		print_error("%s differs; it is now\n%s\n", path, text);
	free(text);
	free(golden);
	return same || getenv("SHARDSCOPE_WRITE_SCREENS");
}

static bool is_golden(const char *plan, const char *view, int width, int height)
{
	struct stage stage;
	bool same;

	stage_open(&stage, plan, width, height);
	same = is_same(&stage, plan, view);
	stage_close(&stage);
	return same;
}

/* A server: what it has apart from its model, cluster and stack as "knob=value ...". */
static bool is_golden_server(const char *bases[3], const char *knobs, const char *view,
			     int width, int height)
{
	struct stage stage;
	char name[80];
	bool same;

	stage_open(&stage, NULL, width, height);
	stage_serve(&stage, bases[0], bases[1], bases[2], knobs);
	snprintf(name, sizeof name, "serve-%s", bases[0]);
	same = is_same(&stage, name, view);
	stage_close(&stage);
	return same;
}

/* What the view Search shows behind these keys. */
static void test_searches_look_as_they_did(void **state)
{
	static const struct {
		const char *name, *keys, *view;
	} cases[] = {
		{ "search-taken", "sp\n", "search" },
		{ "search-filtered", "s/pp=2..8 !ful\nSSSSS", "search" },
		{ "search-gpus", "s.lllh", "search" },
		{ "search-impossible", "/gpu_memory\n=5\ns", "search" },
		{ "search-opened", "s\n", "search" },
		{ "search-why-not", "s/?tp=8 ?pp=1\n", "search" },
		{ "search-measured", "s/trust=measured reserve=0.1\n", "search" },
		{ "search-research", "s/research schedule=zb-v,1f1b\n", "search" },
		{ "illegal", "/tp\n=3\n", "overview" },
		{ "illegal-traffic", "4/tp\n=3\n", "traffic" },
		{ "lacking", "/zero_group\n=0\n/zero\n=1\n/pp\n=2\n/schedule\n\n",
		  "overview" },
	};
	bool good = true;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int size = 0; size < 3; size++) {
			struct stage stage;

			stage_open(&stage, "llama3-8b-8-h100", sizes[size].width,
				   sizes[size].height);
			stage.patient = true;
			for (const char *key = cases[i].keys; *key != '\0'; key++) {
				stage_key(&stage, (unsigned char)*key);
				free(stage_text(&stage));
			}
			good = is_same(&stage, cases[i].name, cases[i].view) && good;
			stage_close(&stage);
		}
	assert_true(good);
}

static void test_every_view_looks_as_it_did(void **state)
{
	bool good = true;

	(void)state;
	for (int view = 0; view < VIEW_COUNT; view++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			good = is_golden("llama3-70b-64-h100", view_table[view].name,
					 sizes[i].width, sizes[i].height) &&
			       good;
	assert_true(good);
}

static void test_a_mixture_of_experts_looks_as_it_did(void **state)
{
	bool good = true;

	(void)state;
	for (int view = 0; view < VIEW_COUNT; view++)
		good = is_golden("deepseek-v3-1024-h100", view_table[view].name, 120,
				 36) &&
		       good;
	assert_true(good);
}

static void test_a_server_looks_as_it_did(void **state)
{
	const char *bases[] = { "llama3.1-70b", "dgx-h100", "vllm" };
	bool good = true;

	(void)state;
	for (int view = 0; view <= VIEW_EXPLAIN; view++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			good = is_golden_server(bases,
						"gpus=8 tp=4 goal_ttft=1000 "
						"goal_tpot=40 concurrency=96",
						view_table[view].name, sizes[i].width,
						sizes[i].height) &&
			       good;
	assert_true(good);
}

static void test_a_server_of_experts_looks_as_it_did(void **state)
{
	const char *bases[] = { "deepseek-v3", "hgx-h800", "sglang" };
	bool good = true;

	(void)state;
	for (int view = 0; view <= VIEW_EXPLAIN; view++)
		good = is_golden_server(bases,
					"gpus=96 tp=1 dp_attention=32 ep=32 "
					"precision=fp8_block concurrency=2048 "
					"disaggregated=on prefill_gpus=32 "
					"goal_ttft=2000 goal_tpot=100 prompt=4096",
					view_table[view].name, 120, 36) &&
		       good;
	assert_true(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_searches_look_as_they_did),
		cmocka_unit_test(test_every_view_looks_as_it_did),
		cmocka_unit_test(test_a_mixture_of_experts_looks_as_it_did),
		cmocka_unit_test(test_a_server_looks_as_it_did),
		cmocka_unit_test(test_a_server_of_experts_looks_as_it_did),
	};

	setenv("HOME", NO_HOME, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
