/* test_plan_names.c - a plan's short name says what the plan is: read back by a reader
 * of its own, it gives the plan again, and nothing usual is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/planner.h"
#include "engine/schedule/schedule.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct planner_problem problem;
static struct scenario scenario;
static char name[400], plain[900], words[900];

static int below(int n)
{
	return (int)next((uint64_t)n);
}

static void begin(const char *model, const char *cluster, const char *stack)
{
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	/* an axis that is read behind the last one is no pointer */
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, model, cluster, stack, &error))
		fail_msg("%s", error.text);
}

/* How people write a knob before its number, where that is not its key in capitals. */
static const struct {
	const char *key, *short_name;
} own[] = {
	{ "mbs", "mbs" },
	{ "zero", "Z" },
	{ "zero_group", "ZG" },
	{ "recompute_layers", "rl" },
	{ "micro_batch_group", "mg" },
	{ "optimizer_offload", "oo" },
	{ "activation_offload", "ao" },
	{ "dp_attention", "DPA" },
	{ "kv_shards", "KVS" },
	{ "disaggregated", "PD" },
	{ "prefill_gpus", "pg" },
	{ "prefill_tp", "ptp" },
	{ "gpus", "GPUs" },
	{ "gbs", "gbs" },
	{ "seq", "seq" },
	{ "tp", "TP" },
	{ "pp", "PP" },
	{ "cp", "CP" },
	{ "ep", "EP" },
	{ "etp", "ETP" },
	{ "vpp", "VPP" },
};

static const char *short_name(const struct knob *knob)
{
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (strcmp(own[i].key, knob->key) == 0)
			return own[i].short_name;
	return NULL;
}

static bool is(const struct knob *knob, const char *key)
{
	return strcmp(knob->key, key) == 0;
}

/* What a plan has of a knob that its name does not tell. */
static double usual(const struct knob *knob, const struct scenario *s)
{
	/* long, and the same in nearly every plan */
	if (knob->type == KNOB_SET)
		return knob_get(s, knob) > 0 ? knob_get(&problem.base, knob) : 0;
	if (is(knob, "schedule"))
		return s->plan.schedule == SCHEDULE_INTERLEAVED || s->plan.pp == 1
			       ? s->plan.schedule
			       : SCHEDULE_1F1B;
	if (is(knob, "sp"))
		return s->plan.tp == 1 ? s->plan.sp : 1;
	if (is(knob, "etp"))
		return s->plan.tp == 1 && s->plan.etp == 1 ? 1 : 0;
	if (is(knob, "mbs") || is(knob, "zero"))
		return -1; /* always told */
	if (is(knob, "dp_attention") || is(knob, "kv_shards") ||
	    (knob->group == GROUP_PARALLELISM && !is(knob, "cp_kind")))
		return knob_get(s, knob) < 1 ? 0 : 1;
	return 0;
}

/* Whether the axis is of those that a name may tell: it does something, and is free or
 * has another value, or a degree. */
static bool may_be_told(const struct planner_axis *axis)
{
	return knob_applies(&scenario, axis->knob) &&
	       (axis->count > 1 || axis->value[0] != knob_get(&scenario, axis->knob) ||
		is(axis->knob, "mbs") || axis->knob->group == GROUP_PARALLELISM);
}

/* The word of the name that tells this axis, or NULL. */
static char token[MAX_AXES][60];
static int tokens;

static void cut_name(void)
{
	char copy[sizeof name], *rest = copy, *word;

	tokens = 0;
	/* where there is nothing to tell */
	if (strcmp(name, "TP1") == 0)
		return;
	snprintf(copy, sizeof copy, "%s", name);
	while ((word = strsep(&rest, " ")))
		snprintf(token[tokens++], sizeof token[0], "%s", word);
}

/* What this word says of the knob; false if it speaks of another one. */
static bool says(const char *word, const struct knob *knob, double *value)
{
	const char *begins = short_name(knob);
	struct scenario s = scenario;
	char why[100];

	if (is(knob, "schedule")) {
		for (int k = 0; k < SCHEDULE_COUNT; k++)
			if (strcmp(schedule_words[k], word) == 0) {
				*value = k;
				return true;
			}
		return false;
	}
	if (is(knob, "sp")) {
		*value = 0;
		return strcmp(word, "noSP") == 0;
	}
	if (knob->type == KNOB_WORD) {
		for (int k = 1; knob->words[k]; k++)
			if (strncmp(knob->words[k], word, 3) == 0 &&
			    strlen(word) == 3) {
				*value = k;
				return true;
			}
		return false;
	}
	if (knob->type == KNOB_BOOL) {
		*value = 1;
		return begins && strcmp(word, begins) == 0;
	}
	/* sets are told as they are typed */
	if (knob->type == KNOB_SET) {
		begins = "";
		*value = knob_parse(&s, knob, word, why, sizeof why)
				 ? knob_get(&s, knob)
				 : -1;
		return *value >= 0;
	}
	if (!begins || strncmp(word, begins, strlen(begins)) != 0)
		return false;
	word += strlen(begins);
	if (*word < '0' || (*word > '9' && strcmp(word, "auto") != 0))
		return false;
	if (!knob_parse(&s, knob, word, why, sizeof why))
		return false;
	*value = knob_get(&s, knob);
	return true;
}

/* Words of which only the beginning is told: those with the same one are alike. */
static bool same_word(const struct knob *knob, double a, double b)
{
	return a == b ||
	       (knob->type == KNOB_WORD && !is(knob, "schedule") && a > 0 && b > 0 &&
		strncmp(knob->words[(int)a], knob->words[(int)b], 3) == 0);
}

/* Every axis is what the name says, or what it need not say; and every word tells
 * something. Returns how many words were understood. */
static void read_back(void)
{
	bool used[MAX_AXES] = { false };

	cut_name();
	for (int i = 0; i < problem.axes; i++) {
		const struct knob *knob = problem.axis[i].knob;
		double value = 0, now = knob_get(&scenario, knob);
		int at = 0;

		if (!may_be_told(&problem.axis[i]))
			continue;
		while (at < tokens && (used[at] || !says(token[at], knob, &value)))
			at++;
		if (at == tokens) {
			if (now != usual(knob, &scenario))
				fail_msg("%s: %s %g is not told", name, knob->key, now);
			continue;
		}
		used[at] = true;
		if (!same_word(knob, value, now))
			fail_msg("%s: %s is %g", name, knob->key, now);
		if (now == usual(knob, &scenario))
			fail_msg("%s: %s %g need not be told", name, knob->key, now);
	}
	for (int i = 0; i < tokens; i++)
		if (!used[i])
			fail_msg("%s: what is %s?", name, token[i]);
}

/* Labels stand in columns: one blank is as good as two. */
static void squeeze(const char *from, char *out)
{
	char *start = out;

	for (; *from != '\0'; from++)
		if (*from != ' ' || (out > start && out[-1] != ' '))
			*out++ = *from;
	*out = '\0';
}

/* The long name has an item for each word, each a label with its value. */
static void check_plain(void)
{
	char copy[sizeof plain], *rest = copy, *item;
	int items = 0;

	snprintf(copy, sizeof copy, "%s", plain);
	if (strcmp(plain, "nothing is split") == 0) {
		assert_string_equal(name, "TP1");
		return;
	}
	while (rest) {
		bool known = false;

		item = strstr(rest, ", ");
		if (item)
			*item = '\0';
		for (int i = 0; i < problem.axes; i++) {
			char label[60], value[60], whole[130];

			squeeze(problem.axis[i].knob->label, label);
			knob_print(&scenario, problem.axis[i].knob, value,
				   sizeof value);
			snprintf(whole, sizeof whole, "%s %s", label, value);
			known |= strcmp(whole, rest) == 0;
		}
		if (!known)
			fail_msg("%s: %s", plain, rest);
		items++;
		rest = item ? item + 2 : NULL;
	}
	assert_int_equal(items, tokens);
}

/* What its short words stand for: each is in the name, is explained by a label, and is
 * said once however often it is asked. */
static void check_words(void)
{
	char copy[sizeof words], *rest = copy, *next_one, again[sizeof words];

	words[0] = '\0';
	planner_name_words(&problem, &scenario, words, sizeof words);
	snprintf(again, sizeof again, "%s", words);
	planner_name_words(&problem, &scenario, again, sizeof again);
	assert_string_equal(again, words);
	snprintf(copy, sizeof copy, "%s", words);
	for (; rest && *rest; rest = next_one) {
		char *blank;
		bool is_short = false, meant = false;

		next_one = strstr(rest, "  ");
		if (next_one) {
			*next_one = '\0';
			next_one += 2;
		}
		blank = strchr(rest, ' ');
		assert_non_null(blank);
		*blank = '\0';
		for (int i = 0; i < tokens; i++)
			is_short |= strncmp(token[i], rest, strlen(rest)) == 0;
		for (int i = 0; i < problem.axes; i++) {
			char label[60];

			squeeze(problem.axis[i].knob->label, label);
			meant |= strncmp(blank + 1, label, strlen(label)) == 0;
			/* a label that begins with the word needs no explanation */
			assert_false(strcmp(blank + 1, label) == 0 &&
				     strncmp(label, rest, strlen(rest)) == 0 &&
				     label[strlen(rest)] == ' ');
		}
		if (!is_short || !meant)
			fail_msg("%s: %s stands for %s", name, rest, blank + 1);
	}
}

/* What does not begin like its knob's label is explained. */
static void check_all_explained(void)
{
	static const char *const rows[][3] = {
		{ "mbs", "mbs", "mbs micro-batch" },
		{ "zero", "Z", "Z ZeRO" },
		{ "recompute", "sel", "sel recompute selective" },
		{ "recompute", "ful", "ful recompute full" },
	};

	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
		for (int i = 0; i < tokens; i++) {
			size_t length = strlen(rows[r][1]);

			if (strncmp(token[i], rows[r][1], length) != 0 ||
			    (token[i][length] != '\0' &&
			     (token[i][length] < '0' || token[i][length] > '9')))
				continue;
			if (!strstr(words, rows[r][2]))
				fail_msg("%s: %s", name, words);
		}
}

static void check_name(void)
{
	char small[12];

	planner_name(&problem, &scenario, name, sizeof name);
	planner_plain_name(&problem, &scenario, plain, sizeof plain);
	read_back();
	check_plain();
	check_words();
	check_all_explained();
	/* no more than there is room for, which is not what stands behind it */
	for (size_t size = 1; size <= strlen(words); size += 1 + strlen(words) / 9) {
		char room[sizeof words];

		memset(room, 'x', sizeof room);
		room[0] = '\0';
		planner_name_words(&problem, &scenario, room, size);
		assert_true(strlen(room) == size - 1 &&
			    strncmp(room, words, size - 1) == 0);
		for (size_t i = size; i < sizeof room; i++)
			assert_true(room[i] == 'x');
	}
	planner_name(&problem, &scenario, small, sizeof small);
	assert_true(strncmp(small, name, strlen(small)) == 0);
	assert_true(strlen(small) == sizeof small - 1 || strlen(small) == strlen(name));
}

static void any_plan(void)
{
	scenario = problem.base;
	for (int i = 0; i < problem.axes; i++) {
		const struct planner_axis *axis = &problem.axis[i];

		if (below(3))
			knob_set(&scenario, axis->knob,
				 axis->value[below(axis->count)]);
	}
}

/* Some values of an axis, or one. */
static void thin(void)
{
	for (int i = 0; i < problem.axes; i++)
		if (below(3) == 0)
			problem.axis[i].count = 1 + below(problem.axis[i].count);
}

static void test_names_of_training(void **state)
{
	static const char *const models[] = { "llama2-13b", "mixtral-8x7b",
					      "deepseek-v3", "mamba2-2.7b" };

	(void)state;
	seed = 61;
	for (int round = 0; round < 4000; round++) {
		if (round % 20 == 0) {
			begin(models[below(4)], "dgx-h100", "generic");
			problem.base.cluster.gpus = 64;
			problem.research = true;
			planner_axes(&problem);
			if (below(2))
				planner_pin(&problem, knob_find("schedule"),
					    (double[]){ 0, 1, 2, 4, 5, 7 }, 6);
			if (below(3) == 0)
				planner_pin(&problem, knob_find("gpus"),
					    (double[]){ 64, 32 }, 2);
			if (below(3) == 0)
				planner_pin(&problem, knob_find("gbs"),
					    (double[]){ 64, 32 }, 2);
			if (below(3) == 0)
				planner_pin(&problem, knob_find("micro_batch_group"),
					    (double[]){ 0, 4, 8 }, 3);
			thin();
		}
		any_plan();
		check_name();
	}
}

static void test_names_of_servers(void **state)
{
	(void)state;
	seed = 62;
	for (int round = 0; round < 2000; round++) {
		if (round % 20 == 0) {
			begin(below(2) ? "deepseek-v3" : "llama3.1-70b", "dgx-h100",
			      "vllm");
			problem.base.cluster.gpus = 64;
			problem.base.plan.mode = MODE_INFERENCE;
			problem.research = true;
			planner_axes(&problem);
			thin();
		}
		any_plan();
		check_name();
	}
}

/* One rank that does nothing unusual has a name too. */
static void test_nothing_is_split(void **state)
{
	(void)state;
	begin("llama2-13b", "dgx-h100", "vllm");
	problem.base.plan.mode = MODE_INFERENCE;
	problem.base.cluster.gpus = 1;
	planner_axes(&problem);
	scenario = problem.base;
	scenario.plan.tp = scenario.plan.pp = 1;
	check_name();
	assert_string_equal(name, "TP1");
	assert_string_equal(plain, "nothing is split");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_training),
		cmocka_unit_test(test_names_of_servers),
		cmocka_unit_test(test_nothing_is_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
