/* test_lesson.c - lessons as data: expressions, readers with places, draws by seed,
 * answers, and what is found wrong with a lesson. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "presets/lesson_file.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

enum { ROOM = 1 << 14 };

static struct lesson lesson;
static struct lesson_scene scene;

/* Reads this text as a lesson; false with the error. */
static bool read_text(const char *text, struct error *error)
{
	struct document document;
	bool good;

	error->text[0] = '\0';
	if (!document_parse(&document, "mine.yaml", text, strlen(text), error))
		return false;
	good = lesson_from(&lesson, &document, "mine", error);
	document_free(&document);
	return good;
}

/* A lesson that is good; `{` lines can be changed by tests. */
static const char good_text[] =
	"format: 1\n"
	"title: Half a batch\n"
	"sources: [\"Huang et al. 2019, arXiv 1811.06965\"]\n"
	"scenario: {plan: llama3-70b-64-h100, gbs: 64}\n"
	"vary: {gbs: [32, 64, 96], seq: [2048, 4096]}\n"
	"steps:\n"
	"  - text: There are {micro_batches} micro-batches and {pp} stages.\n"
	"    view: timeline\n"
	"    ask:\n"
	"      question: What share is bubble with half of them?\n"
	"      value: bubble_ratio\n"
	"      unit: percent\n"
	"      tolerance: 4 points\n"
	"      expect: (pp - 1) / (micro_batches + pp - 1)\n"
	"      within: 5 points\n"
	"    hints: [Fill and drain., Divide.]\n"
	"    turn: {gbs: gbs / 2}\n"
	"    reveal: From {before.bubble_ratio} to {bubble_ratio}.\n"
	"    why: {question: Why?, choices: [Less., More.], right: 2, because: So.}\n";

/* The good text with one piece replaced; to be freed. */
static char *with(const char *from, const char *to)
{
	const char *at = strstr(good_text, from);
	char *text = calloc(1, ROOM);

	assert_non_null(at);
	assert_non_null(text);
	snprintf(text, ROOM, "%.*s%s%s", (int)(at - good_text), good_text, to,
		 at + strlen(from));
	return text;
}

static void open_scene(void)
{
	struct error error;
	struct scenario to;

	assert_true(scenario_start(&scene.before, &error));
	scenario_estimate(&scene.before, &scene.before_estimate);
	scene.turned = false;
	to = scene.before;
	assert_true(knob_set(&to, knob_find("gbs"), 64));
	lesson_turn_to(&scene, &to);
}

static void test_expressions_name_numbers_knobs_and_both_states(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{ "pp", 4 },
		{ "gbs", 64 },
		{ "before.gbs", 256 },
		{ "after.gbs + before.gbs", 320 },
		{ "micro_batches", 16 },
		{ "fits and legal", 1 },
		{ "gbs == 64 and before.gbs == 64", 0 },
		{ "gbs == 64 or before.gbs == 64", 1 },
		{ "1 == 2 and 1 == 2 or 1 == 1", 1 },
		{ "(gbs < 100) and (pp >= 4)", 1 },
		{ "max(before.gbs, gbs) / min(before.gbs, gbs)", 4 },
		{ "if(before.gbs > gbs, 1, 2)", 1 },
	};

	(void)state;
	open_scene();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct formula_fault fault;
		double value;

		if (!lesson_value(&scene, cases[i].text, &value, &fault))
			fail_msg("%s: %s at %d", cases[i].text, fault.reason, fault.at);
		assert_close(value, cases[i].value, 1e-12);
	}
}

/* Numbers are those of the estimate, whatever room of the engine tells them. */
static void test_expressions_agree_with_the_estimate(void **state)
{
	double value;

	(void)state;
	open_scene();
	for (int i = 0; i < metric_count(); i++) {
		if (!(metric_table[i].modes & METRIC_TRAINING))
			continue;
		assert_true(lesson_value(&scene, metric_table[i].key, &value, NULL));
		assert_close(value, metric_get(&scene.after_estimate, &metric_table[i]),
			     1e-12);
	}
	assert_true(lesson_value(&scene, "stages.3.activations_bytes", &value, NULL));
	assert_close(value, scene.after_estimate.stage[3].activations_bytes, 1e-12);
}

static void test_expressions_know_nothing_else(void **state)
{
	static const struct {
		const char *text;
		int at;
	} cases[] = {
		{ "bubble", 0 },          { "1 + before.", 4 },
		{ "system(1)", 7 },       { "layout", 0 },
		{ "pp = 4", 3 },          { "tpot_seconds", 0 },
		{ "stages.99.bytes", 0 }, { "1 / (pp - pp)", 13 },
		{ "pp and", 6 },
	};

	(void)state;
	open_scene();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct formula_fault fault = { "", -1 };
		double value;

		if (lesson_value(&scene, cases[i].text, &value, &fault))
			fail_msg("%s = %g", cases[i].text, value);
		if (fault.at != cases[i].at)
			fail_msg("%s: %s at %d", cases[i].text, fault.reason, fault.at);
	}
	scene.turned = false;
	assert_false(lesson_value(&scene, "after.gbs", &(double){ 0 }, NULL));
}

static void test_texts_take_values(void **state)
{
	struct lesson_prose text = { "{pp} stages: {before.gbs} to {gbs}, "
				     "{gbs / before.gbs|percent}, {total_bytes|GiB} of "
				     "{capacity_bytes}",
				     0 };
	struct lesson_fault fault;
	char out[256];

	(void)state;
	open_scene();
	assert_true(lesson_text(&scene, &text, out, sizeof out, &fault));
	assert_non_null(strstr(out, "4 stages: 256 to 64, 25 %, "));
	strcpy(text.text, "a {nothing} b");
	assert_false(lesson_text(&scene, &text, out, sizeof out, &fault));
	assert_non_null(strstr(fault.text, "nothing"));
	strcpy(text.text, "a {pp|furlongs} b");
	assert_false(lesson_text(&scene, &text, out, sizeof out, &fault));
	strcpy(text.text, "a {pp b");
	assert_false(lesson_text(&scene, &text, out, sizeof out, &fault));
}

static void test_readers_name_line_and_column(void **state)
{
	static const struct {
		const char *from, *to, *said;
	} cases[] = {
		{ "format: 1", "format: 2", "mine.yaml:1: " },
		{ "title:", "tittle:", "a lesson has format, title" },
		{ "sources:", "source:",
		  "mine.yaml:3: unknown key 'source'; there are" },
		{ "plan: llama3-70b-64-h100", "plan: nobody", "mine.yaml:4: " },
		{ "gbs: 64}", "gbs: many}", "mine.yaml:4: " },
		{ "gbs: 64}", "gsb: 64}", "no knob 'gsb'; did you mean gbs? (column" },
		{ "seq: [2048, 4096]", "seq: [none]", "mine.yaml:5: " },
		{ "seq: [2048, 4096]", "seq: []", "at least one value" },
		{ "unit: percent", "unit: furlong", "no unit 'furlong'; there are" },
		{ "tolerance: 4 points", "tolerance: much",
		  "mine.yaml:13: expected a tolerance" },
		{ "      tolerance: 4 points\n", "", "ask needs a tolerance" },
		{ "      unit: percent\n", "", "a value needs its unit" },
		{ "[Fill and drain., Divide.]", "[Divide.]", "there are two hints" },
		{ "    turn: {gbs: gbs / 2}\n", "", "ask needs `turn`" },
		{ "right: 2", "right: 3", "why needs choices, and right" },
		{ "    view: timeline\n", "    measured: [nothing]\n",
		  "mine.yaml:8: no shipped plan" },
		{ "    view: timeline\n", "    goal: pp > 1\n", "not both" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = with(cases[i].from, cases[i].to);
		struct error error;

		if (read_text(text, &error))
			fail_msg("'%s' was read", cases[i].to);
		if (!strstr(error.text, cases[i].said))
			fail_msg("'%s': %s", cases[i].to, error.text);
		free(text);
	}
}

static void keep_first(void *context, const struct lesson_fault *fault)
{
	struct lesson_fault *first = context;

	if (first->text[0] == '\0')
		*first = *fault;
}

/* What is found wrong in the good text with one piece changed, or "". */
static const char *found_in(const char *from, const char *to, int seeds)
{
	static struct error said;
	struct lesson_fault first = { 0 };
	char *text = with(from, to);
	struct error error;

	if (!read_text(text, &error))
		fail_msg("%s", error.text);
	free(text);
	said.text[0] = '\0';
	if (lesson_check(&lesson, seeds, &scene, keep_first, &first).faults > 0)
		lesson_fault_say(&first, "mine.yaml", &said);
	return said.text;
}

static void test_a_good_lesson_is_good(void **state)
{
	(void)state;
	assert_string_equal(found_in("Why?", "Why?", 100), "");
}

#define ASKED                                                       \
	"    ask:\n"                                                \
	"      question: What share is bubble with half of them?\n" \
	"      value: bubble_ratio\n      unit: percent\n"          \
	"      tolerance: 4 points\n"                               \
	"      expect: (pp - 1) / (micro_batches + pp - 1)\n"       \
	"      within: 5 points\n"
#define LAST "because: So.}\n"
#define THEN(goal, turn)                                     \
	"  - text: Now you.\n    goal: " goal                \
	"\n    unlock: [pp, gbs, tp]\n    hints: [A., B.]\n" \
	"    turn: " turn "\n    reveal: So it is.\n"

static void test_checks_find_what_is_wrong(void **state)
{
	static const struct {
		const char *from, *to, *said;
	} cases[] = {
		/* what the engine says is not what the lesson expects */
		{ "expect: (pp - 1) / (micro_batches + pp - 1)",
		  "expect: (pp - 1) / micro_batches", "expected" },
		{ "micro_batches + pp - 1)", "micro_batchs + pp - 1)",
		  "mine.yaml:14: expect: no such symbol (column 28)" },
		{ "value: bubble_ratio", "value: bubble_ration", "mine.yaml:11: " },
		/* legal and fitting */
		{ "turn: {gbs: gbs / 2}", "turn: {gbs: gbs / 2, tp: 3}", "not legal" },
		{ "turn: {gbs: gbs / 2}", "turn: {gbs: gbs / 2, mbs: 8}",
		  "does not fit" },
		/* what stands on the screen before the turn is no question */
		{ "turn: {gbs: gbs / 2}", "turn: {zero: 2}", "on the screen" },
		{ "turn: {gbs: gbs / 2}", "turn: {gbs: gbs}", "changes nothing" },
		{ "{bubble_ratio}", "{bubble}", "mine.yaml:18: reveal: no such" },
		{ "are {micro_batches}", "are {after.micro_batches}",
		  "mine.yaml:7: text: no such symbol" },
		{ "vary: {gbs: [32, 64, 96], seq: [2048, 4096]}", "vary: {}",
		  "nothing varies" },
		{ "gbs: [32, 64, 96], seq: [2048, 4096]", "seq: [2048, 4096]",
		  "only 2 different draws" },
		{ "    hints: [Fill and drain., Divide.]\n", "", "no first hint" },
		{ "\"Huang et al. 2019, arXiv 1811.06965\"", "", "no source" },
		{ "view: timeline\n", "view: timeline\n    explain: bubble\n",
		  "no number 'bubble'" },
		{ "and {pp} stages", "and [nonsense]", "no word of the glossary" },
		{ "    why: {question: Why?, choices: [Less., More.], right: 2, because: "
		  "So.}\n",
		  "", "no step asks why" },
		{ ASKED,
		  "    goal: micro_batches < before.micro_batches\n    unlock: [gbs]\n",
		  "no step asks anything" },
		/* a goal is not met before, and by the turn */
		{ LAST, LAST THEN("pp > 1", "{pp: 8}"), "met before the turn" },
		{ LAST, LAST THEN("pp > 4", "{gbs: 32}"), "does not reach the goal" },
		{ LAST, LAST THEN("stags > 4", "{pp: 8}"), "goal: no such symbol" },
		{ LAST, LAST THEN("pp > 4", "{tp: 3}"), "not legal" },
		{ LAST, LAST THEN("pp > 4", "{pp: 8}"), "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *said = found_in(cases[i].from, cases[i].to, 100);

		if (!strstr(said, cases[i].said) ||
		    (cases[i].said[0] == '\0' && said[0] != '\0'))
			fail_msg("'%s' to '%s': '%s'", cases[i].from, cases[i].to,
				 said);
	}
}

static void test_texts_have_a_length(void **state)
{
	char long_text[512] = "From {before.bubble_ratio} to";

	(void)state;
	for (int i = 0; i < LESSON_WORDS; i++)
		strcat(long_text, " word");
	assert_non_null(strstr(found_in("From {before.bubble_ratio} to", long_text, 0),
			       "words, 60 at most"));
}

/* Choices that lie within the tolerance of each other are not asked. */
static void test_choices_are_told_apart(void **state)
{
	static const char value[] =
		"      value: bubble_ratio\n"
		"      unit: percent\n"
		"      tolerance: 4 points\n"
		"      expect: (pp - 1) / (micro_batches + pp - 1)\n"
		"      within: 5 points\n";
	const char *apart = "      of: after.bubble_ratio / before.bubble_ratio\n"
			    "      cuts: [0.9, 1.1]\n"
			    "      choices: [less, same, more]\n"
			    "      tolerance: 5 %\n";
	const char *close = "      of: after.bubble_ratio / after.bubble_ratio\n"
			    "      cuts: [0.9, 1.01]\n"
			    "      choices: [less, same, more]\n"
			    "      tolerance: 5 %\n";

	(void)state;
	assert_string_equal(found_in(value, apart, 100), "");
	assert_non_null(strstr(found_in(value, close, 100), "within the tolerance"));
}

/* The best of several values, and not one that does not fit. */
static void test_the_best_value_is_found(void **state)
{
	static const char value[] =
		"      value: bubble_ratio\n"
		"      unit: percent\n"
		"      tolerance: 4 points\n"
		"      expect: (pp - 1) / (micro_batches + pp - 1)\n"
		"      within: 5 points\n";
	struct lesson_fault fault;
	struct scenario drawn;
	double answer;
	bool clear;

	(void)state;
	found_in(value,
		 "      best: pp\n      values: [1, 4, 8, 2]\n"
		 "      least: total_bytes\n      tolerance: 0.1 %\n",
		 0);
	lesson.step[0].turns = 0;
	assert_true(lesson_draw(&lesson, "", &scene, &drawn, NULL, &fault));
	assert_true(lesson_stage(&lesson, 0, &drawn, &scene, &fault));
	assert_true(lesson_answer(&lesson.step[0], &scene, &answer, &clear, &fault));
	assert_true(clear);
	assert_int_equal((int)answer, 3);
	for (int i = 0; i < 4; i++) {
		double least = scene.after_estimate.memory.total_bytes;
		struct scenario other = drawn;
		struct estimate e;

		assert_true(knob_set(&other, knob_find("pp"), 1 << i));
		scenario_estimate(&other, &e);
		assert_true(e.memory.total_bytes >= least);
		if (i == 3)
			assert_close(e.memory.total_bytes, least, 1e-12);
	}
}

static void test_seeds_draw_numbers(void **state)
{
	struct scenario one, same, other;
	struct lesson_fault fault;
	struct error error;
	int different = 0;

	(void)state;
	assert_true(read_text(good_text, &error));
	assert_true(lesson_draw(&lesson, "", &scene, &one, NULL, &fault));
	assert_memory_equal(&one, &lesson.scenario, sizeof one);
	for (int i = 0; i < 40; i++) {
		char seed[24];

		snprintf(seed, sizeof seed, "student %d", i);
		assert_true(lesson_draw(&lesson, seed, &scene, &one, NULL, &fault));
		assert_true(lesson_draw(&lesson, seed, &scene, &same, NULL, &fault));
		assert_memory_equal(&one, &same, sizeof one);
		assert_true(
			lesson_draw(&lesson, "nobody", &scene, &other, NULL, &fault));
		different += memcmp(&one, &other, sizeof one) != 0;
	}
	assert_true(different > 20);
}

static void test_answers_are_judged(void **state)
{
	struct lesson_question q = { .ask = LESSON_VALUE,
				     .unit = lesson_unit_find("percent"),
				     .tolerance = 5 };

	(void)state;
	assert_true(lesson_is_right(&q, 42.9, 42.9));
	assert_true(lesson_is_right(&q, 42.9, 47.9));
	assert_false(lesson_is_right(&q, 42.9, 48.0));
	q.relative = true;
	q.tolerance = 0.1;
	assert_true(lesson_is_right(&q, 100, 91));
	assert_false(lesson_is_right(&q, 100, 89));
	assert_false(lesson_is_right(&q, 100, 0.0 / 0.0));
	q.ask = LESSON_RANGE;
	assert_true(lesson_is_right(&q, 2, 2));
	assert_false(lesson_is_right(&q, 2, 1));
}

static void test_all_that_ship_are_good(void **state)
{
	struct ran ran = run("lesson check all");

	(void)state;
	if (ran.status != 0)
		fail_msg("%s%s", ran.out, ran.err);
	assert_null(strstr(ran.out, "bad "));
	ran_free(&ran);
}

static void test_check_says_what_is_wrong_of_a_file(void **state)
{
	char path[] = "/tmp/shardscope-lesson-XXXXXX.yaml", arguments[96];
	int file = mkstemps(path, 5);
	char *text = with("value: bubble_ratio", "value: bubbles");
	FILE *stream = fdopen(file, "w");

	(void)state;
	fputs(text, stream);
	fclose(stream);
	snprintf(arguments, sizeof arguments, "lesson check %s", path);
	run_check(arguments, 1, "bad ", ":11: no such symbol (column 14)");
	free(text);
	remove(path);
	run_check("lesson check nowhere", 2, NULL, "no lesson 'nowhere'");
	run_check("lesson", 2, NULL, "usage: shardscope lesson check");
	run_check("lesson teach", 2, NULL, "usage: shardscope lesson check");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions_name_numbers_knobs_and_both_states),
		cmocka_unit_test(test_expressions_agree_with_the_estimate),
		cmocka_unit_test(test_expressions_know_nothing_else),
		cmocka_unit_test(test_texts_take_values),
		cmocka_unit_test(test_readers_name_line_and_column),
		cmocka_unit_test(test_a_good_lesson_is_good),
		cmocka_unit_test(test_checks_find_what_is_wrong),
		cmocka_unit_test(test_texts_have_a_length),
		cmocka_unit_test(test_choices_are_told_apart),
		cmocka_unit_test(test_the_best_value_is_found),
		cmocka_unit_test(test_seeds_draw_numbers),
		cmocka_unit_test(test_answers_are_judged),
		cmocka_unit_test(test_all_that_ship_are_good),
		cmocka_unit_test(test_check_says_what_is_wrong_of_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
