/* test_check.c - the lint: what is found, how severe, and what a user's rules make of
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "engine/advice/advice.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/lint.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static struct estimate estimates[2];
static struct lint lint;

static void run_lint(const struct scenario *s, const char *rules_text)
{
	struct lint_rules rules = { 0 };
	struct error error = { "" };

	if (rules_text &&
	    !lint_rules_parse(&rules, "rules", rules_text, strlen(rules_text), &error))
		fail_msg("%s", error.text);
	train_estimate(s, &estimates[0]);
	lint_run(s, &(struct start){ .wanted = false }, &estimates[0], &rules,
		 &estimates[1], &lint);
}

static const struct lint_item *item(const char *code)
{
	for (int i = 0; i < lint.count; i++)
		if (strcmp(lint.item[i].code, code) == 0)
			return &lint.item[i];
	return NULL;
}

static void test_problems(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	run_lint(&s, NULL);
	assert_int_equal(lint.errors, 0);
	case_set(&s, "gpus", "60");
	run_lint(&s, NULL);
	assert_true(lint.errors > 0);
	assert_int_equal(lint.item[0].level, LINT_ERROR);
	assert_non_null(item("E1"));
	assert_non_null(strstr(item("E1")->source, "Megatron-LM megatron/training"));
	assert_non_null(strstr(item("E1")->remedy, "gpus "));
}

/* What is offered against too little memory fits; the GPU counts are the smallest. */
static void test_memory(void **state)
{
	struct scenario s;
	struct whatif_mend mends[MAX_WHATIF_MENDS];
	int count;

	(void)state;
	case_dense(&s);
	case_set(&s, "tp", "1");
	case_set(&s, "pp", "4");
	case_set(&s, "zero", "1");
	run_lint(&s, NULL);
	assert_non_null(item("OOM"));
	assert_true(item("OOM")->remedy[0] != '\0');
	assert_true(item("OOM")->mends > 0);
	count = whatif_mends(&s, &estimates[1], mends);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		struct scenario turned = s;

		assert_true(knob_set(&turned, mends[i].knob, mends[i].value));
		train_estimate(&turned, &estimates[1]);
		assert_true(estimates[1].feasible);
		if (i > 0)
			assert_true(mends[i].tokens_per_second_per_gpu <=
				    mends[i - 1].tokens_per_second_per_gpu);
	}
}

static void test_smallest_gpus(void **state)
{
	struct scenario s, trial;
	struct whatif_gpus gpus;

	(void)state;
	case_dense(&s);
	whatif_gpus(&s, &estimates[1], &gpus);
	assert_int_equal(gpus.degrees, s.plan.tp * s.plan.pp * s.plan.cp);
	assert_true(gpus.legal >= gpus.degrees && gpus.fits >= gpus.legal);
	trial = s;
	for (int64_t n = 1; n <= gpus.fits; n++) {
		trial.cluster.gpus = n;
		train_estimate(&trial, &estimates[1]);
		assert_int_equal(estimates[1].legal && n < gpus.legal, 0);
		assert_int_equal(estimates[1].feasible, n == gpus.fits);
	}
	case_set(&s, "tp", "3"); /* divides no heads, whatever the count */
	whatif_gpus(&s, &estimates[1], &gpus);
	assert_int_equal(gpus.legal, 0);
	assert_int_equal(gpus.fits, 0);
}

static void test_severities(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "tp", "1");
	case_set(&s, "sp", "on");
	run_lint(&s, NULL);
	assert_int_equal(item("E26")->level, LINT_WARNING);
	run_lint(&s, "rules: {E26: off}");
	assert_null(item("E26"));
	run_lint(&s, "format: 1\nrules:\n  E26: error\n  OOM: hint\n");
	assert_int_equal(item("E26")->level, LINT_ERROR);
	assert_int_equal(lint.errors, 1);
	run_lint(&s, "rules: {E26: hint, OOM: warning}");
	assert_int_equal(lint.errors, 0);
	case_set(&s, "gpus", "3");
	run_lint(&s, "rules: {E1: warning}"); /* still not legal, only less loud */
	assert_int_equal(item("E1")->level, LINT_WARNING);
	assert_false(estimates[0].legal);
}

/* Advice is told only where it is asked for. */
static void test_advice(void **state)
{
	struct scenario s;
	char rules[4096] = "rules: {OOM: error";
	int told = 0;

	(void)state;
	case_dense(&s);
	for (int i = 0; rule_at(i); i++)
		if (!strstr(rules, rule_at(i)->code) &&
		    rule_at(i)->severity == SEVERITY_HINT)
			snprintf(rules + strlen(rules), sizeof rules - strlen(rules),
				 ", %s: warning", rule_at(i)->code);
	strcat(rules, "}");
	run_lint(&s, NULL);
	for (int i = 0; i < lint.count; i++)
		assert_true(lint.item[i].code[0] == 'E' || lint.item[i].code[0] == 'X');
	run_lint(&s, rules);
	for (int i = 0; i < lint.count; i++)
		told += lint.item[i].code[0] == 'M' || lint.item[i].code[0] == 'T';
	assert_true(told > 0);
	assert_int_equal(lint.errors, 0);
}

static void test_broken_rules(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "empty" },
		{ "[", "rules:" },
		{ "rules: [E1]", "expected rules:" },
		{ "x: 1", "expected rules:" },
		{ "rules:\n  E99: off\n", "rules:2: no rule 'E99'" },
		{ "rules:\n  E1: loud\n", "rules:2: E1: expected error, warning" },
		{ "rules:\n  E1: [off]\n", "rules:2" },
		{ "format: 2\nrules: {E1: off}\n", "format 2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct lint_rules rules;
		struct error error = { "" };

		assert_false(lint_rules_parse(&rules, "rules", bad[i].text,
					      strlen(bad[i].text), &error));
		if (!strstr(error.text, bad[i].says))
			fail_msg("'%s' does not say %s", error.text, bad[i].says);
	}
}

static void test_command(void **state)
{
	char path[] = "/tmp/shardscope-rules-XXXXXX", arguments[512];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_true(write(fd, "rules: {E7: warning, E1: off}\n", 30) == 30);
	close(fd);
	run_check("check --gpus 64 --mbs 1 --gbs 255", 1, "E7    error: ", NULL);
	run_check("check --gpus 64 --mbs 1 --gbs 255", 1, "legal from ", NULL);
	run_check("check --gpus 64 --mbs 1 --gbs 255 --json", 1, "\"smallest_gpus\"",
		  NULL);
	run_check("check --gpus 64 --mbs 1 --gbs 255 --json", 1, "\"ok\":\tfalse",
		  NULL);
	snprintf(arguments, sizeof arguments,
		 "check --gpus 64 --mbs 1 --gbs 255 --rules %s", path);
	run_check(arguments, 0, "ok: by the user's rules, but it can't run", NULL);
	run_check("check tests/fuzz/seeds/megatron/script --stack megatron", 0,
		  "ok: legal on megatron-core", NULL);
	run_check("check --rules no/such/file", 2, NULL, "no/such/file");
	run_check("check --gpus 64 --tp 2 --pp 1 --json", 1,
		  "\"nearest\":\t{\n\t\t\t\t\"", NULL);
	run_check("list rules", 0, "E7 ", NULL);
	run_check("list challenges", 0, "small-bubble ", NULL);
	run_check("check no/such/file.yaml", 2, NULL, "no/such/file");
	unlink(path);
}

/* What the command says of the plan: its rate, 0 where it has none, and if it fits. */
static cJSON *ask(const char *line)
{
	char arguments[640];
	struct ran ran;
	cJSON *root;

	snprintf(arguments, sizeof arguments, "check %s --json", line);
	ran = run(arguments);
	root = cJSON_Parse(ran.out);
	assert_non_null(root);
	ran_free(&ran);
	return root;
}

static double rate_of(const cJSON *root)
{
	const cJSON *throughput = cJSON_GetObjectItem(root, "throughput");
	const cJSON *rate =
		cJSON_GetObjectItem(throughput, "tokens_per_second_per_gpu");

	if (!rate)
		rate = cJSON_GetObjectItem(throughput,
					   "output_tokens_per_second_per_gpu");
	return rate ? rate->valuedouble : 0;
}

/* The remedy is told with the figures that the command has once it is taken. */
static void compare(const char *taken, const cJSON *remedy)
{
	const cJSON *rate = cJSON_GetObjectItem(remedy, "tokens_per_second_per_gpu");
	cJSON *root = ask(taken);

	assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(remedy, "feasible")),
			 cJSON_IsTrue(cJSON_GetObjectItem(root, "feasible")));
	assert_close(rate ? rate->valuedouble : 0, rate_of(root), 1e-9);
	cJSON_Delete(root);
}

static void follow(const char *line, const char *stated, const cJSON *remedy)
{
	const char *knob = cJSON_GetObjectItem(remedy, "knob")->valuestring;
	char taken[512], given[64];

	snprintf(given, sizeof given, "--%s %s", knob, stated);
	assert_non_null(strstr(line, given));
	snprintf(taken, sizeof taken, "%.*s--%s %s%s",
		 (int)(strstr(line, given) - line), line, knob,
		 cJSON_GetObjectItem(remedy, "value")->valuestring,
		 strstr(line, given) + strlen(given));
	compare(taken, remedy);
}

/* Whatever a file's reader assumed, the rest of its plan stays as it was read. */
static void test_remedies_of_files(void **state)
{
	static const char *const files[] = {
		"maxtext/named",     "megatron/args.yaml", "megatron/overrides",
		"mlperf/config.sh",  "sglang/script",      "trtllm/script",
		"nanotron/exported", "megatron/recipe.py", "torchtitan/exported",
	};
	int followed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char line[512], taken[600];
		cJSON *root, *problem, *remedy;

		snprintf(line, sizeof line, "tests/fuzz/seeds/%s", files[i]);
		root = ask(line);
		cJSON_ArrayForEach(problem, cJSON_GetObjectItem(root, "problems"))
			cJSON_ArrayForEach(remedy,
					   cJSON_GetObjectItem(problem, "remedies"))
		{
			snprintf(taken, sizeof taken, "%s --%s %s", line,
				 cJSON_GetObjectItem(remedy, "knob")->valuestring,
				 cJSON_GetObjectItem(remedy, "value")->valuestring);
			compare(taken, remedy);
			followed++;
		}
		cJSON_Delete(root);
	}
	assert_true(followed >= 12);
}

/* Plans of which only a part is given: once a degree can't be, nothing else is chosen,
 * but it is for the degree that mends it. */
static void test_remedies_as_taken(void **state)
{
	static const struct {
		const char *line, *knob, *stated;
	} table[] = {
		{ "--model olmoe-1b-7b --cluster dgx-b200 --gpus 64 --vpp 1 --pp 7",
		  "pp", "7" },
		{ "--model deepseek-v3 --cluster dgx-h100 --gpus 2048 --tp 3", "tp",
		  "3" },
		{ "--model gpt-oss-120b --cluster hgx-h20 --gpus 256 --pp 7 --mbs 2",
		  "pp", "7" },
		{ "--model llama3.1-70b --mode inference --gpus 8 --tp 3", "tp", "3" },
		{ "--model aquila-7b --cluster dgx-v100 --stack torchtitan --gpus 1024 "
		  "--pp 4 --ep 64 --mbs 4 --gbs 96",
		  "ep", "64" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		cJSON *root = ask(table[i].line), *problem, *remedy;
		int followed = 0;

		cJSON_ArrayForEach(problem, cJSON_GetObjectItem(root, "problems"))
			cJSON_ArrayForEach(remedy,
					   cJSON_GetObjectItem(problem, "remedies"))
		{
			if (strcmp(cJSON_GetObjectItem(remedy, "knob")->valuestring,
				   table[i].knob) != 0)
				continue;
			follow(table[i].line, table[i].stated, remedy);
			followed++;
		}
		assert_true(followed > 0);
		cJSON_Delete(root);
	}
}

/* Another stack brings its own defaults, but leaves what the plan says by itself. */
static void test_change_stack(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "zero", "2");
	case_set(&s, "mbs", "3");
	assert_true(library_change_stack(&s, "fsdp", NULL));
	assert_string_equal(s.stack.name, "fsdp");
	assert_int_equal(s.plan.zero, 2);
	assert_int_equal(s.plan.micro_batch, 3);
	assert_false(library_change_stack(&s, "no/such/stack.yaml", NULL));
	assert_string_equal(s.stack.name, "fsdp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_smallest_gpus),
		cmocka_unit_test(test_severities),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_broken_rules),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_remedies_as_taken),
		cmocka_unit_test(test_remedies_of_files),
		cmocka_unit_test(test_change_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
