/* test_compare.c - where plans differ: rows add up, whatever the plans are, and the
 * command says the same of names, files and turned knobs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/compare/compare.h"
#include "engine/predict/predict.h"
#include "presets/library.h"
#include "presets/report_compare.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static struct scenario a, b;
static struct estimate ea, eb;

static void compare(struct compare *out)
{
	const struct scenario *const s[] = { &a, &b };
	const struct estimate *const e[] = { &ea, &eb };

	scenario_estimate(&a, &ea);
	scenario_estimate(&b, &eb);
	compare_plans(s, e, 2, out);
}

static void adds_up(const struct compare_sum *sum, const char *name)
{
	double value[2] = { 0 }, more = 0;

	for (int i = 0; i < sum->rows; i++) {
		value[0] += sum->row[i].value[0];
		value[1] += sum->row[i].value[1];
		more += sum->row[i].more[1];
	}
	for (int i = 0; i < 2; i++)
		if (fabs(value[i] - sum->sum.value[i]) > 1e-12 * sum->sum.value[i])
			fail_msg("%s: rows are %.17g, the sum is %.17g", name, value[i],
				 sum->sum.value[i]);
	assert_true(fabs(more - (sum->sum.value[1] - sum->sum.value[0])) <=
		    1e-11 * sum->sum.value[0]);
}

/* Each shipped plan against itself with another way to pipeline and to recompute. */
static void rows_add_up(void **state)
{
	struct compare c;
	struct error error;
	const struct preset *list;
	char why[128];
	int seen = 0, count;

	(void)state;
	count = preset_list(PRESET_PLAN, &list);
	for (int i = 0; i < count; i++) {
		const char *name = list[i].name;

		if (!scenario_read(&a, name, NULL, &error))
			fail_msg("%s", error.text);
		b = a;
		if (a.plan.mode == MODE_TRAINING)
			assert_true(compare_turn(&b, "recompute=full mbs=2", why,
						 sizeof why));
		else
			assert_true(compare_turn(&b, "concurrency=3", why, sizeof why));
		compare(&c);
		if (!c.legal[0] || !c.legal[1])
			continue;
		seen++;
		adds_up(&c.seconds, name);
		adds_up(&c.bytes, name);
		if (!c.serves)
			assert_true(c.seconds.sum.value[1] == eb.step_seconds);
		assert_true(c.bytes.sum.value[1] == eb.memory.total_bytes);
	}
	assert_true(seen > 40);
}

static void turns_knobs(void **state)
{
	struct error error;
	struct compare c;
	char why[128];

	(void)state;
	assert_true(scenario_start(&a, &error));
	b = a;
	assert_true(compare_turn(&b, "tp=4, pp=8", why, sizeof why));
	assert_int_equal(b.plan.tp, 4);
	assert_int_equal(b.plan.pp, 8);
	compare(&c);
	assert_int_equal(c.knobs, 2);
	assert_string_equal(c.knob[0]->key, "tp");
	assert_string_equal(c.knob[1]->key, "pp");
	assert_false(compare_turn(&b, "tpp=4", why, sizeof why));
	assert_non_null(strstr(why, "did you mean"));
	assert_false(compare_turn(&b, "tp", why, sizeof why));
	assert_false(compare_turn(&b, "tp=", why, sizeof why));
	assert_true(compare_turn(&b, "", why, sizeof why));
}

static void says(const char *arguments, int status, const char *expected)
{
	struct ran ran = run(arguments);

	if (ran.status != status)
		fail_msg("%s: status %d, %s", arguments, ran.status, ran.err);
	if (!strstr(status == 2 ? ran.err : ran.out, expected))
		fail_msg("%s: no '%s' in\n%s%s", arguments, expected, ran.out, ran.err);
	ran_free(&ran);
}

static void compares_what_is_named(void **state)
{
	struct ran ran = run("compare llama3-70b-64-h100 pp=2 --mbs 1 --json");
	cJSON *root = cJSON_Parse(ran.out), *rows, *row, *sum;
	double more = 0;

	(void)state;
	assert_non_null(root);
	rows = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "seconds"), "rows");
	cJSON_ArrayForEach(row, rows) more +=
		cJSON_GetArrayItem(cJSON_GetObjectItem(row, "more_than_first"), 1)
			->valuedouble;
	sum = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "seconds"), "sum");
	sum = cJSON_GetArrayItem(cJSON_GetObjectItem(sum, "more_than_first"), 1);
	assert_true(more != 0 && fabs(more - sum->valuedouble) < 1e-9);
	cJSON_Delete(root);
	ran_free(&ran);
	says("compare llama3-70b-64-h100 llama3-70b-64-h100-fp8", 0, "precision");
	says("compare llama3-70b-64-h100 llama3-70b-64-h100", 0, "no knob differs");
	says("compare llama3-70b-64-h100 llama3-405b-16k-h100 mixtral-8x7b-64-h100", 0,
	     "C - A");
	says("compare llama3-70b-64-h100 tp=4 --markdown", 1, "| **step** |");
	says("compare llama3-70b-64-h100 tp=3", 1, "can't run");
	says("compare llama3-70b-64-h100", 2, "two plans or more");
	/* what the options say is the plan that knobs are turned of */
	says("compare --model llama3.1-70b --gpus 64 'tp=8 pp=1'", 0,
	     "A  as the options say: llama3.1-70b on 64 x h100-sxm-80g, megatron-core\n"
	     "   assumed: dgx-h100, megatron-core, seq 4096, gbs 1024, tp 4, sp on, pp "
	     "4, mbs 1, zero 1, split auto, recompute none, tokens 1 T\n"
	     "B  tp=8 pp=1: llama3.1-70b on 64 x");
	/* models without a plan get one each */
	says("compare llama3.1-8b qwen3-8b --gpus 16", 0,
	     "A  llama3.1-8b: llama3.1-8b on 16 x h100-sxm-80g, megatron-core\n"
	     "   assumed: dgx-h100, megatron-core, seq 4096, gbs 512, ");
	says("compare llama3.1-8b qwen3-8b --gpus 16", 0,
	     "B  qwen3-8b: qwen3-8b on 16 x h100-sxm-80g, megatron-core\n   assumed: ");
	says("compare llama3.1-8b llama3-70b-64-h100", 0,
	     "  tokens                     1 T       100 B\n");
	says("compare llama3.1-8b tp=4 --gpus 16", 0,
	     "\nB  tp=4: llama3.1-8b on 16 x ");
	says("compare llama3.1-8b", 2, "two plans or more");
	says("compare llama3.1-8b qwen3-8b --model gpt2", 2, "two models");
	says("compare", 2, "two plans or more");
	says("compare nobodys tp=8", 2, "no plan 'nobodys'");
	says("compare llama3-70b-64-h100 tpp=3", 2, "did you mean");
	says("compare llama3-70b-64-h100 llama3.1-70b-4-h100-serve", 2, "one mode");
}

/* A path or a name may have whatever ends a cell or begins a tag. */
static void names_are_escaped(void **state)
{
	struct compare_title title[2] = { { .name = "a|b_<c>" }, { .name = "*d*" } };
	const struct scenario *const s[] = { &a, &b };
	struct compare c;
	struct error error;
	char *text;

	(void)state;
	assert_true(scenario_read(&a, "llama3-8b-8-h100", NULL, &error));
	b = a;
	snprintf(a.model.name, sizeof a.model.name, "x`y`");
	compare(&c);
	text = report_compare_markdown(&c, s, title);
	assert_non_null(strstr(text, "- **A** a\\|b_\\<c\\>: x\\`y\\` on 8 x "));
	assert_non_null(strstr(text, "- **B** \\*d\\*: llama3-8b on 8 x "));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(turns_knobs),
		cmocka_unit_test(compares_what_is_named),
		cmocka_unit_test(names_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
