/* test_explain_command.c - `explain`: what a script gets can be computed again, and
 * what is asked for is found or refused by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/base/formula.h"
#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static cJSON *explained(const char *key, const char *scenario)
{
	char arguments[256];
	struct ran ran;
	cJSON *root;

	snprintf(arguments, sizeof arguments, "explain %s %s --json", key, scenario);
	ran = run(arguments);
	if (ran.status != 0)
		fail_msg("%s: status %d, %s", arguments, ran.status, ran.err);
	root = cJSON_Parse(ran.out);
	assert_non_null(root);
	ran_free(&ran);
	return root;
}

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static const char *text(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* The value that a script computes from formula and terms. */
static double recomputed(const cJSON *root)
{
	struct formula_symbol symbols[48];
	struct formula_fault fault;
	const cJSON *term;
	int count = 0;
	double value;

	cJSON_ArrayForEach(term, cJSON_GetObjectItem(root, "terms"))
	{
		assert_true(count < 48);
		symbols[count].name = text(term, "symbol");
		symbols[count++].value = number(term, "value");
		assert_true(text(term, "meaning") && text(term, "unit"));
	}
	if (!formula_evaluate(text(root, "formula"), symbols, count, &value, &fault))
		fail_msg("%s: %s at %d", text(root, "formula"), fault.reason, fault.at);
	return value;
}

static void test_every_metric_is_there_and_its_formula_gives_it(void **state)
{
	static const char *const plans[] = { "llama3-70b-64-h100",
					     "llama3.1-70b-4-h100-serve" };

	(void)state;
	for (int mode = 0; mode < 2; mode++)
		for (int i = 0; i < metric_count(); i++) {
			const char *key = metric_table[i].key;
			cJSON *root;

			if (!(metric_table[i].modes >> mode & 1))
				continue;
			root = explained(key, plans[mode]);
			assert_string_equal(text(root, "key"), key);
			assert_true(text(root, "assumption") && text(root, "source"));
			assert_true(text(root, "formula"));
			assert_close(recomputed(root), number(root, "value"), 1e-6);
			cJSON_Delete(root);
		}
}

/* Each number of one object of eval --json by its path, whole as jq has it or from the
 * key on. */
static int explain_paths(const cJSON *object, const char *path, const char *scenario)
{
	const cJSON *item;
	int count = 0, place = 0;

	cJSON_ArrayForEach(item, object)
	{
		char deeper[256], arguments[512];
		struct ran ran;

		if (item->string)
			snprintf(deeper, sizeof deeper, "%.120s.%.80s", path,
				 item->string);
		else
			snprintf(deeper, sizeof deeper, "%.120s.%d", path, place++);
		count += explain_paths(item, deeper, scenario);
		if (!cJSON_IsNumber(item))
			continue;
		snprintf(arguments, sizeof arguments, "explain %s %s --json", deeper,
			 scenario);
		ran = run(arguments);
		if (ran.status != 0)
			fail_msg("%s: %s", arguments, ran.err);
		ran_free(&ran);
		count++;
	}
	return count;
}

static void test_a_number_is_found_by_its_path(void **state)
{
	static const char *const groups[] = { "model",         "memory",     "time",
					      "communication", "throughput", "run" };
	static const char *const plans[] = { "mixtral-8x7b-64-h100",
					     "llama3.1-70b-4-h100-serve" };

	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		char arguments[128];
		struct ran ran;
		int count = 0;
		cJSON *root;

		snprintf(arguments, sizeof arguments, "eval %s --json", plans[mode]);
		ran = run(arguments);
		root = cJSON_Parse(ran.out);
		ran_free(&ran);
		for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
			count += explain_paths(cJSON_GetObjectItem(root, groups[i]),
					       groups[i], plans[mode]);
		assert_in_range(count, 50, 500);
		cJSON_Delete(root);
	}
	run_check("explain memory.step_seconds", 2, NULL, "no number");
}

/* A key that a term names is a key of the same command. */
static void test_chains_end_at_knobs_and_constants(void **state)
{
	static const char *const ends[] = { "tp", "global_batch", "stack.dp_overlap",
					    "cluster.usable_bytes", "model.layers" };

	(void)state;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		cJSON *root = explained(ends[i], "llama3-70b-64-h100");

		assert_null(text(root, "formula"));
		assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "terms")),
				 0);
		assert_true(number(root, "value") > 0);
		cJSON_Delete(root);
	}
}

static void test_text_says_formula_terms_and_source(void **state)
{
	(void)state;
	run_check("explain mfu llama3-70b-64-h100", 0, "r * F / peak", NULL);
	run_check("explain mfu llama3-70b-64-h100", 0, "model FLOPs per token", NULL);
	run_check("explain mfu llama3-70b-64-h100", 0, "arXiv 2204.02311", NULL);
	run_check("explain stages.3.weights_bytes llama3-70b-64-h100", 0, "Weights",
		  NULL);
	run_check("explain tp", 0, "fastest links", NULL);
	run_check("explain schedule llama3-70b-64-h100", 0, "(schedule) = 1f1b\n",
		  NULL);
	run_check("explain sp llama3-70b-64-h100", 0, "(sp) = on\n", NULL);
	run_check("screen explain llama3-70b-64-h100 --number schedule", 0, "= 1f1b",
		  NULL);
}

/* A knob has the key of a number for its other name: the number is explained. */
static void test_a_number_goes_before_the_other_name_of_a_knob(void **state)
{
	static const char serve[] = "llama3.1-70b-4-h100-serve";
	int shared = 0;

	(void)state;
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];
		bool trains = metric->modes >> MODE_TRAINING & 1;
		char arguments[128], value[64], head[128];
		cJSON *root;

		if (!knob_find(metric->key))
			continue;
		shared++;
		root = explained(metric->key, trains ? "llama3-70b-64-h100" : serve);
		form_text(metric->form, number(root, "value"), value, sizeof value);
		cJSON_Delete(root);
		snprintf(head, sizeof head, "(%s) = %s\n", metric->key, value);
		snprintf(arguments, sizeof arguments, "explain %s %s", metric->key,
			 trains ? "llama3-70b-64-h100" : serve);
		run_check(arguments, 0, head, NULL);
		snprintf(arguments, sizeof arguments,
			 "screen explain %s --number %s --size 80x40",
			 trains ? "llama3-70b-64-h100" : serve, metric->key);
		run_check(arguments, 0, "formula", NULL);
	}
	assert_true(shared > 0);
	run_check("explain goodput llama3.1-70b-4-h100-serve", 0,
		  "(goodput_tokens_per_second) = ", NULL);
}

/* A word of the field comes with its numbers in the plan that was asked about: each as
 * eval has it; not with those of the other mode, nor those that everything tells of. */
static void test_a_word_has_its_numbers(void **state)
{
	struct ran ran;

	(void)state;
	run_check("explain bubble llama3-70b-64-h100", 0, " (bubble_ratio)\n", NULL);
	run_check("explain MFU llama3-70b-64-h100", 0, "39.4 %  MFU (mfu)\n", NULL);
	run_check("explain 'KV cache' llama3.1-70b-4-h100-serve", 0, " (kv_tokens)\n",
		  NULL);
	/* nobody said in which plan */
	run_check("explain bubble", 0,
		  "numbers of this scenario, llama3.1-70b on 64 x h100-sxm-80g, "
		  "megatron-core\n",
		  NULL);
	run_check("explain step_seconds deepseek-v3-1024-h100", 0,
		  "in this scenario, deepseek-v3 on 1024 x ", NULL);
	ran = run("explain 'KV cache' llama3-70b-64-h100");
	assert_null(strstr(ran.out, "numbers of this scenario"));
	ran_free(&ran);
	ran = run("explain GPU llama3-70b-64-h100");
	assert_null(strstr(ran.out, "numbers of this scenario"));
	ran_free(&ran);
}

static void test_what_is_not_there_is_refused(void **state)
{
	(void)state;
	run_check("explain", 2, NULL, "expected a key");
	run_check("explain step_second", 2, NULL, "did you mean 'step_seconds'");
	run_check("explain ttft_seconds", 2, NULL, "--mode inference has it");
	run_check("explain step_seconds llama3.1-70b-4-h100-serve", 2, NULL,
		  "--mode training has it");
	run_check("explain stages.64.total_bytes", 2, NULL, "no number");
	run_check("explain stack.nothing", 2, NULL, "no number");
	run_check("explain step_seconds llama3-70b-64-h100 --tp 24", 1, NULL,
		  "shardscope check says why");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_metric_is_there_and_its_formula_gives_it),
		cmocka_unit_test(test_a_number_is_found_by_its_path),
		cmocka_unit_test(test_chains_end_at_knobs_and_constants),
		cmocka_unit_test(test_text_says_formula_terms_and_source),
		cmocka_unit_test(test_a_number_goes_before_the_other_name_of_a_knob),
		cmocka_unit_test(test_a_word_has_its_numbers),
		cmocka_unit_test(test_what_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
