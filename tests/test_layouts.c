/* test_layouts.c - Megatron's layout strings against one that is written out, symbol by
 * symbol, by the hand that makes it. */
#include <stdio.h>
#include <string.h>

#include "engine/plan/split.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct scenario scenario;
static struct split split;
static int16_t counts[MAX_VIRTUAL];
static char why[120];

static int below(int n)
{
	return (int)next((uint64_t)n);
}

/* A text, and what it says without brackets and counts. */
static char text[4000], flat[40000];

static void say(const char *what)
{
	assert_true(strlen(text) + strlen(what) < sizeof text);
	strcat(text, what);
	if (below(6) == 0)
		strcat(text, below(2) ? " " : ",");
}

/* So often, said or not where it is once. */
static int say_times(int most)
{
	int times = 1 + below(most);
	char number[16];

	if (times == 1 && below(3))
		return 1;
	say("*");
	snprintf(number, sizeof number, "%d", times);
	say(number);
	return times;
}

static void repeat_flat(size_t from, int times)
{
	size_t length = strlen(flat) - from;

	assert_true(from + length * (size_t)times < sizeof flat);
	for (int i = 1; i < times; i++) {
		memcpy(flat + from + (size_t)i * length, flat + from, length);
		flat[from + (size_t)(i + 1) * length] = '\0';
	}
}

/* Layers and ends of stages, in brackets up to so deep. */
static void say_body(int deep)
{
	for (int items = 1 + below(4); items > 0; items--) {
		size_t from = strlen(flat);

		if (deep > 0 && below(3) == 0) {
			say("(");
			say_body(deep - 1);
			say(")");
		} else {
			bool ends = below(2);

			say(ends ? "|" : "t");
			strcat(flat, ends ? "|" : "t");
		}
		repeat_flat(from, say_times(3));
	}
}

static void say_layout(void)
{
	size_t from;

	text[0] = flat[0] = '\0';
	say("E");
	strcat(flat, "E");
	say_body(4);
	if (below(3) == 0) {
		from = strlen(flat);
		say("m");
		strcat(flat, "m");
		repeat_flat(from, say_times(3));
		if (below(3) == 0) {
			say("|");
			strcat(flat, "|");
		}
	}
	say("L");
	strcat(flat, "L");
}

/* What stands on a stage. */
static int on_stage(int stage, char symbol)
{
	int at = 0, count = 0;

	for (const char *c = flat; *c != '\0'; c++) {
		at += *c == '|';
		count += at == stage && *c == symbol;
	}
	return count;
}

static int in_all(char symbol)
{
	int count = 0;

	for (const char *c = flat; *c != '\0'; c++)
		count += *c == symbol;
	return count;
}

/* The plan with this layout runs what it says, on pp stages or on none. */
static void check_plan(int stages, int pp)
{
	struct layer_kind kind = { .mixer = MIXER_ATTENTION, .mlp = MLP_DENSE };

	memset(&scenario, 0, sizeof scenario);
	for (int i = 0; i < in_all('t'); i++)
		assert_true(model_add_layer(&scenario.model, &kind));
	scenario.model.mtp_layers = in_all('m');
	scenario.plan.split = SPLIT_CUSTOM;
	scenario.plan.pp = pp;
	snprintf(scenario.plan.layout, sizeof scenario.plan.layout, "%s", text);
	assert_int_equal(split_chunks(&scenario), stages % pp == 0 ? stages / pp : 0);
	assert_int_equal(split_layers(&scenario, NULL, &split),
			 stages % pp == 0 && in_all('t') > 0 &&
				 stages / pp <= MAX_CHUNKS);
	if (stages % pp != 0 || in_all('t') == 0 || stages / pp > MAX_CHUNKS)
		return;
	assert_int_equal(split.virtual_stages, stages);
	for (int k = 0; k < stages; k++) {
		assert_int_equal(split.first[k + 1] - split.first[k], on_stage(k, 't'));
		assert_true(on_stage(k, 'E') == 0 || split.embedding_stage == k);
		assert_true(on_stage(k, 'L') == 0 || split.head_stage == k);
		assert_true(on_stage(k, 'm') == 0 || split.mtp_stage == k);
	}
	/* another model's layers, or MTP layers, are not those of the text */
	scenario.model.mtp_layers++;
	assert_false(split_layers(&scenario, NULL, &split));
	scenario.model.mtp_layers--;
	assert_true(model_add_layer(&scenario.model, &kind));
	assert_false(split_layers(&scenario, NULL, &split));
}

/* A split as a text is the same split, and the text has the room that it needs. */
static void check_text(void)
{
	static char again[8000];
	struct split same;
	int length;

	scenario.model.layers--;
	assert_true(split_layers(&scenario, NULL, &split));
	assert_true(split_layout(&scenario, &split, again, sizeof again));
	length = (int)strlen(again);
	assert_true(split_layout(&scenario, &split, again, length + 1));
	assert_int_equal(strlen(again), length);
	snprintf(scenario.plan.layout, sizeof scenario.plan.layout, "%s", again);
	again[length] = 'x';
	assert_false(split_layout(&scenario, &split, again, length));
	assert_string_equal(again, "");
	assert_int_equal(again[length], 'x');
	assert_false(split_layout(&scenario, &split, again, 0));
	if (length >= MAX_LAYOUT)
		return;
	assert_true(split_layers(&scenario, NULL, &same));
	for (int k = 0; k <= split.virtual_stages; k++)
		assert_int_equal(same.first[k], split.first[k]);
	assert_int_equal(same.embedding_stage, split.embedding_stage);
	assert_int_equal(same.head_stage, split.head_stage);
	assert_int_equal(same.mtp_stage, split.mtp_stage);
}

static void test_brackets_are_what_they_stand_for(void **state)
{
	int told = 0;

	(void)state;
	seed = 41;
	for (int round = 0; round < 3000; round++) {
		struct layout_facts facts;
		int stages, layers;

		say_layout();
		stages = 1 + in_all('|');
		layers = in_all('t');
		if (stages > 256 || layers > 256 || strlen(text) >= MAX_LAYOUT)
			continue;
		told++;
		assert_int_equal(split_parse_layout(text, counts, why, sizeof why),
				 stages);
		assert_string_equal(why, "");
		for (int k = 0; k < stages; k++)
			assert_int_equal(counts[k], on_stage(k, 't'));
		split_layout_facts(text, &facts);
		assert_int_equal(facts.stages, stages);
		assert_int_equal(facts.layers, layers);
		for (int pp = 1; pp <= stages && pp <= MAX_STAGES; pp++)
			if (pp == stages || (stages % pp != 0 && pp < 5) || pp == 2)
				check_plan(stages, pp);
		if (layers > 0 && stages <= MAX_STAGES)
			check_text();
	}
	assert_true(told > 1500);
}

/* Stages that are alike are said once. */
static void test_layouts_are_short(void **state)
{
	static const struct {
		int layers, pp, mtp;
		const char *text;
	} rows[] = {
		{ 8, 1, 0, "Et*8L" },
		{ 8, 2, 0, "Et*4|t*4L" },
		{ 9, 3, 1, "Et*3|t*3|t*3mL" },
		{ 8, 4, 0, "Et*2|(t*2|)*2,t*2L" },
		{ 80, 40, 2, "Et*2|(t*2|)*38,t*2m*2L" },
		{ 5, 5, 0, "Et|(t|)*3,tL" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct layer_kind kind = { .mixer = MIXER_ATTENTION };

		memset(&scenario, 0, sizeof scenario);
		for (int l = 0; l < rows[i].layers; l++)
			assert_true(model_add_layer(&scenario.model, &kind));
		scenario.model.mtp_layers = rows[i].mtp;
		scenario.plan.split = SPLIT_EVEN;
		scenario.plan.pp = rows[i].pp;
		assert_true(split_layers(&scenario, NULL, &split));
		assert_true(split_layout(&scenario, &split, text, sizeof text));
		assert_string_equal(text, rows[i].text);
	}
}

/* What can't be read: at which character, and that it is said. */
static void test_faults_have_a_place(void **state)
{
	static const struct {
		const char *text;
		int at;
		const char *says;
	} rows[] = {
		{ "x", 1, "not one of" },
		{ "Etx|L", 3, "not one of" },
		{ "", 1, "embedding (E) is missing" },
		{ "tL", 3, "embedding (E) is missing" },
		{ "Et", 3, "loss (L) is missing" },
		{ "EEtL", 2, "second embedding" },
		{ "tEL", 2, "not first" },
		{ "|EtL", 2, "not first" },
		{ "EtL t", 5, "follows the loss" },
		{ "EtL|", 4, "follows the loss" },
		{ "EtLL", 4, "follows the loss" },
		{ "Em|mL", 4, "on two stages" },
		{ "EmtL", 3, "follows an MTP layer" },
		{ "Et*L", 4, "a number is missing" },
		{ "Et*0L", 4, "repeated 0 times" },
		{ "Et*10001L", 4, "repeated too often" },
		{ "E(tL", 5, "not closed" },
		{ "Et)L", 3, "closes that was not opened" },
		{ "E(((((t)))))L", 6, "nested too deep" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct layout_facts facts;
		char place[40];

		snprintf(place, sizeof place, " at character %d", rows[i].at);
		assert_int_equal(
			split_parse_layout(rows[i].text, counts, why, sizeof why), -1);
		if (!strstr(why, rows[i].says) ||
		    strcmp(why + strlen(why) - strlen(place), place) != 0)
			fail_msg("%s: %s", rows[i].text, why);
		split_layout_facts(rows[i].text, &facts);
		assert_int_equal(facts.stages, -1);
		assert_int_equal(facts.fault, rows[i].at);
	}
}

/* As much as there is room for, and one more. */
static void test_limits(void **state)
{
	static const struct {
		const char *before, *after;
		int most;
	} rows[] = { { "Et*", "L", MAX_LAYERS }, { "E|*", "L", MAX_VIRTUAL - 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int more = 0; more < 2; more++) {
			char layout[40];

			snprintf(layout, sizeof layout, "%s%d%s", rows[i].before,
				 rows[i].most + more, rows[i].after);
			assert_int_equal(
				split_parse_layout(layout, counts, why, sizeof why) < 0,
				more);
		}
	assert_int_equal(
		split_parse_layout("E((((t))))*10000", counts, why, sizeof why), -1);
	assert_int_equal(split_parse_layout("E((((t))))L", counts, why, sizeof why), 1);
	assert_int_equal(counts[0], 1);
	/* brackets around nothing end too, at some number of steps */
	assert_int_equal(split_parse_layout("E()*10000tL", counts, why, sizeof why), 1);
	assert_int_equal(
		split_parse_layout("E(()*9999)*9999tL", counts, why, sizeof why), -1);
	assert_non_null(strstr(why, "too many"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brackets_are_what_they_stand_for),
		cmocka_unit_test(test_layouts_are_short),
		cmocka_unit_test(test_faults_have_a_place),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
