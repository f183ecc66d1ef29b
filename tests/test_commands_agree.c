/* test_commands_agree.c - what two commands tell of one plan is the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/advice/advice.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static cJSON *json_of(const char *arguments)
{
	struct ran ran = run(arguments);
	cJSON *root = cJSON_Parse(ran.out);

	if (!root)
		fail_msg("%s: %s", arguments, ran.err);
	ran_free(&ran);
	return root;
}

static cJSON *at(cJSON *root, const char *path)
{
	char copy[128], *rest = copy, *part;

	snprintf(copy, sizeof copy, "%s", path);
	while (root && (part = strsep(&rest, ".")))
		root = part[0] >= '0' && part[0] <= '9'
			       ? cJSON_GetArrayItem(root, atoi(part))
			       : cJSON_GetObjectItem(root, part);
	if (!root)
		fail_msg("no %s", path);
	return root;
}

/* "the first as options", given to eval with what was given to search, is the first:
 * also of a stack that knows no experts, where eval by itself would split them. */
static void test_the_first_as_options_is_the_first(void **state)
{
	static const char *const scenarios[] = {
		"--model granite-4.0-h-small --cluster dgx-a100-80g --gpus 2048 "
		"--stack nanotron",
		"--model llama3.1-70b --cluster dgx-h100 --gpus 256",
		"--model mixtral-8x7b --cluster dgx-h100 --gpus 64",
		"llama3-70b-64-h100",
	};
	static const char mark[] = "the first as options:";

	(void)state;
	for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
		char arguments[1024];
		cJSON *told, *again;
		struct ran ran;
		char *options;

		snprintf(arguments, sizeof arguments, "search %s --json", scenarios[i]);
		told = json_of(arguments);
		snprintf(arguments, sizeof arguments, "search %s", scenarios[i]);
		ran = run(arguments);
		options = strstr(ran.out, mark);
		assert_non_null(options);
		options += strlen(mark);
		*strchr(options, '\n') = '\0';
		snprintf(arguments, sizeof arguments, "eval %s %s --json", scenarios[i],
			 options);
		again = json_of(arguments);
		assert_close(at(again, "time.step_seconds")->valuedouble,
			     at(told, "best.time.step_seconds")->valuedouble, 1e-9);
		ran_free(&ran);
		cJSON_Delete(again);
		cJSON_Delete(told);
	}
}

/* What is wrong with a plan stands beside "feasible" in the JSON of both. */
static void test_compare_has_the_problems_of_eval(void **state)
{
	static const char *const knobs[] = { "tp=4 pp=8", "mbs=64", "pp=3" };

	(void)state;
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++) {
		char arguments[256], options[64] = "";
		char copy[64], *rest = copy, *part;
		cJSON *compared, *alone;

		snprintf(copy, sizeof copy, "%s", knobs[i]);
		while ((part = strsep(&rest, " "))) {
			snprintf(options + strlen(options),
				 sizeof options - strlen(options), " --%s", part);
		}
		snprintf(arguments, sizeof arguments,
			 "compare llama3-70b-64-h100 '%s' --json", knobs[i]);
		compared = json_of(arguments);
		snprintf(arguments, sizeof arguments,
			 "eval llama3-70b-64-h100%s --json", options);
		alone = json_of(arguments);
		assert_true(cJSON_GetArraySize(at(alone, "problems")) > 0);
		assert_true(cJSON_Compare(at(alone, "problems"),
					  at(compared, "plans.1.problems"), true));
		cJSON_Delete(alone);
		cJSON_Delete(compared);
	}
}

/* A plan that nobody gave is chosen for the first point: its row is what eval tells. */
static void test_a_sweep_begins_as_eval_does(void **state)
{
	static const struct {
		const char *scenario, *key, *first, *values;
	} cases[] = {
		{ "--model gpt3-6.7b --cluster gb200-nvl72 --gpus 1024", "gbs", "64",
		  "64,2048" },
		{ "--model llama3.1-8b --cluster dgx-h100", "gpus", "8", "8,64" },
		{ "--model llama3.1-8b --cluster dgx-h100", "gpus", "4", "4..6" },
		{ "--model llama3.1-8b --cluster dgx-h100 --gpus 8", "seq", "32768",
		  "32k,4k" },
		{ "--mode inference --model llama3.1-8b --cluster dgx-h100 --gpus 8 "
		  "--stack vllm",
		  "prompt", "60000", "60000,100" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char arguments[256];
		cJSON *row, *alone;

		snprintf(arguments, sizeof arguments, "sweep %s --vary %s=%s --json",
			 cases[i].scenario, cases[i].key, cases[i].values);
		row = json_of(arguments);
		snprintf(arguments, sizeof arguments, "eval %s --%s %s --json",
			 cases[i].scenario, cases[i].key, cases[i].first);
		alone = json_of(arguments);
		if (!cJSON_Compare(at(row, "scenario"), at(alone, "scenario"), true))
			fail_msg("%s: another plan than the first row's", arguments);
		assert_true(cJSON_IsTrue(at(row, "feasible")));
		cJSON_Delete(row);
		cJSON_Delete(alone);
	}
}

/* What eval takes may have a value that the search does not offer: its name has it. */
static void test_a_plan_from_outside_is_named_whole(void **state)
{
	static const char line[] = "--model qwen3-32b --cluster dgx-h100 --gpus 8 "
				   "--tokens 1B --seq 4096 --gbs 128";
	char arguments[256], name[32];
	cJSON *root;

	(void)state;
	snprintf(arguments, sizeof arguments, "eval %s --json", line);
	root = json_of(arguments);
	snprintf(name, sizeof name, " oo%g, is ",
		 at(root, "scenario.optimizer_offload")->valuedouble);
	assert_string_not_equal(name, " oo0, is ");
	snprintf(arguments, sizeof arguments, "search %s --top 1", line);
	run_check(arguments, 0, name, NULL);
	cJSON_Delete(root);
}

/* A rule's ways to break it stand one after the other: a code that comes back further
 * down would be another rule, and a severity for one would be taken for both. */
/* A question takes the plans that a search takes: known ones, and where none of them
 * fits the others; both say which. */
static void test_a_question_takes_what_a_search_takes(void **state)
{
	static const char *const lines[] = {
		"--model llama3-8b --cluster dgx-h100",
		"--model llama3-8b --cluster dgx-h100 --stack torchtitan",
		"--model llama2-13b --cluster dgx-a100-40g",
	};
	int less_known = 0;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		char arguments[512];
		cJSON *asked, *question, *known;
		double answer, beyond;

		snprintf(arguments, sizeof arguments,
			 "search %s --gpus 64 --gbs 256 --seq 4096 --ask gpus --json",
			 lines[i]);
		asked = json_of(arguments);
		question = at(asked, "questions.0");
		answer = at(question, "answer")->valuedouble;
		beyond = at(question, "beyond")->valuedouble;
		known = at(question, "known_answer");
		for (int k = 0; k < 3; k++) {
			/* the answer, what is beyond it, and the answer again by known
			 * plans alone */
			double gpus = k == 1 ? beyond : answer;
			bool fits = k == 0 || (k == 2 && known->valuedouble == answer);
			struct ran ran;

			if (gpus < 1)
				continue;
			snprintf(arguments, sizeof arguments,
				 "search %s --gpus %.0f --gbs 256 --seq 4096%s",
				 lines[i], gpus, k == 2 ? " --trust published" : "");
			ran = run(arguments);
			if (ran.status != (fits ? 0 : 1))
				fail_msg("%s: %s", arguments, ran.out);
			ran_free(&ran);
		}
		less_known += known->valuedouble != answer;
		assert_string_equal(at(question, "plan.trust")->valuestring,
				    known->valuedouble != answer ? "open" : "measured");
		cJSON_Delete(asked);
	}
	assert_true(less_known > 0);
}

/* With more memory a known plan may fit, which comes before faster ones that are less
 * known: these are not lost, so the fastest that is told never gets slower. */
static void test_more_memory_loses_no_plan(void **state)
{
	static const char *const gib[] = { "139.8", "160.77", "195.7" };
	double before = INFINITY;
	bool known = false;

	(void)state;
	for (size_t i = 0; i < sizeof gib / sizeof gib[0]; i++) {
		char arguments[256];
		cJSON *told, *other;
		double best;

		snprintf(arguments, sizeof arguments,
			 "search --model ling-3.0-flash --cluster dgx-h200 --gpus 16 "
			 "--stack mindspeed --gbs 1024 --seq 4096 "
			 "--gpu_memory_gib %s --json",
			 gib[i]);
		told = json_of(arguments);
		best = at(told, "best.time.step_seconds")->valuedouble;
		other = cJSON_GetObjectItem(told, "less_known");
		if (other)
			best = fmin(best, at(other, "time.step_seconds")->valuedouble);
		if (best > before)
			fail_msg("%s: %g s, with less memory %g s", arguments, best,
				 before);
		before = best;
		assert_false(known &&
			     strcmp(at(told, "best.trust")->valuestring, "open") == 0);
		known |= strcmp(at(told, "best.trust")->valuestring, "open") != 0;
		cJSON_Delete(told);
	}
	assert_true(known);
}

/* The fewest GPUs of a server are those that hold all requests, which a search does not
 * ask for: the answer says so. */
static void test_the_fewest_of_a_server_say_what_they_hold(void **state)
{
	struct ran ran = run("search --mode inference --model codellama-13b "
			     "--cluster h100-pcie --gpus 6 --stack tensorrt-llm "
			     "--concurrency 256 --ask gpus");

	(void)state;
	assert_non_null(strstr(ran.out, "with room for all 256 requests at once"));
	ran_free(&ran);
}

static void test_a_code_is_one_rule(void **state)
{
	const struct rule *rule, *later;

	(void)state;
	for (int i = 0; (rule = rule_at(i)); i++) {
		int k = i + 1;

		while (rule_at(k) && strcmp(rule->code, rule_at(k)->code) == 0)
			k++;
		for (; (later = rule_at(k)); k++)
			/* of advice a number may have several rooms; the rules of
			 * training and of servers share some */
			if (strcmp(rule->code, later->code) == 0 &&
			    rule->severity == SEVERITY_ERROR &&
			    strcmp(rule->text, later->text) != 0)
				fail_msg("%s: '%s' and '%s'", rule->code, rule->text,
					 later->text);
	}
}

/* What a stack has not is an error to check, and stands beside the numbers of whoever
 * prints them. */
static void check_lacks(const char *scenario, const char *knob, const char *value)
{
	enum { PRINTERS = 3 };
	char arguments[PRINTERS][256];
	cJSON *told, *problem;
	int errors = 0;

	snprintf(arguments[0], sizeof *arguments, "check %s --%s %s --json", scenario,
		 knob, value);
	told = json_of(arguments[0]);
	snprintf(arguments[0], sizeof *arguments, "eval %s --%s %s --json", scenario,
		 knob, value);
	snprintf(arguments[1], sizeof *arguments, "sweep %s --vary %s=%s --json",
		 scenario, knob, value);
	snprintf(arguments[2], sizeof *arguments, "export json %s --%s %s", scenario,
		 knob, value);
	for (int i = 0; i < PRINTERS; i++) {
		cJSON *root = json_of(arguments[i]), *lacks = at(root, "stack_lacks");

		errors = 0;
		cJSON_ArrayForEach(problem, at(told, "problems"))
		{
			if (strcmp(at(problem, "code")->valuestring, "C1") != 0)
				continue;
			assert_true(errors < cJSON_GetArraySize(lacks));
			assert_string_equal(
				cJSON_GetArrayItem(lacks, errors++)->valuestring,
				at(problem, "text")->valuestring);
		}
		assert_int_equal(cJSON_GetArraySize(lacks), errors);
		cJSON_Delete(root);
	}
	assert_int_equal(errors, cJSON_IsFalse(at(told, "ok")));
	cJSON_Delete(told);
}

static void test_what_a_stack_lacks_is_told_by_all(void **state)
{
	(void)state;
	check_lacks("nemotron-4-340b-1536-h100", "master_weights", "none");
	check_lacks("nemotron-4-340b-1536-h100", "master_weights", "fp32");
	check_lacks("palm-540b-6144-tpuv4", "master_weights", "16-bit");
	check_lacks("gpt3-175b-64-a100", "activation_offload", "1");
	check_lacks("llama3.1-70b-4-h100-serve", "host_overlap", "off");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_as_options_is_the_first),
		cmocka_unit_test(test_compare_has_the_problems_of_eval),
		cmocka_unit_test(test_a_sweep_begins_as_eval_does),
		cmocka_unit_test(test_a_plan_from_outside_is_named_whole),
		cmocka_unit_test(test_a_question_takes_what_a_search_takes),
		cmocka_unit_test(test_more_memory_loses_no_plan),
		cmocka_unit_test(test_the_fewest_of_a_server_say_what_they_hold),
		cmocka_unit_test(test_a_code_is_one_rule),
		cmocka_unit_test(test_what_a_stack_lacks_is_told_by_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
