/* test_glossary.c - every knob, number, collective and schedule says what it means and
 * why one would turn it; the terms that they lean on exist, stand on each other without
 * a circle, and are told in plain words. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/collective/collective.h"
#include "engine/estimate/estimate.h"
#include "engine/explain/explain.h"
#include "engine/glossary/glossary.h"
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/whatif/whatif.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

enum { MOST_NAMES = 512 };

static bool is_term(const struct glossary_word *word)
{
	return word->kind <= WORD_SCHEDULE;
}

static void test_every_knob_and_number_has_its_row(void **state)
{
	(void)state;
	for (int i = 0; i < knob_count(); i++) {
		const char *key = knob_table[i].key;
		int rows = 0;

		for (int j = 0; j < glossary_count(); j++)
			rows += glossary_at(j)->kind == WORD_KNOB &&
				strcmp(glossary_at(j)->key, key) == 0;
		if (rows != 1)
			fail_msg("%d rows of knob %s", rows, key);
	}
	for (int i = 0; i < metric_count(); i++) {
		const struct glossary_word *word = glossary_find(metric_table[i].key);

		if (!word || word->kind != WORD_NUMBER)
			fail_msg("no row of number %s", metric_table[i].key);
	}
}

/* No row of a knob or number that is gone. */
static void test_every_row_is_of_something(void **state)
{
	(void)state;
	for (int i = 0; i < glossary_count(); i++) {
		const struct glossary_word *word = glossary_at(i);
		bool found = is_term(word);

		if (word->kind == WORD_KNOB)
			found = knob_find(word->key) != NULL;
		for (int j = 0; j < metric_count() && word->kind == WORD_NUMBER; j++) {
			const char *key = metric_table[j].key;
			const char *dot = strchr(key, '.');

			found |= strcmp(word->key, key) == 0 ||
				 (dot && strcmp(word->key, dot) == 0);
		}
		if (!found)
			fail_msg("nothing is called %s", word->key);
	}
}

static void test_every_collective_schedule_and_dimension_is_a_term(void **state)
{
	const struct knob *schedule = knob_find("schedule");

	(void)state;
	for (int i = 0; i < COLLECTIVE_COUNT; i++) {
		const char *label = collective_label((enum collective_kind)i);

		if (!glossary_term(label) ||
		    glossary_term(label)->kind != WORD_COLLECTIVE)
			fail_msg("no row of collective %s", label);
	}
	for (int i = 0; schedule->words[i]; i++)
		if (!glossary_term(schedule->words[i]) ||
		    glossary_term(schedule->words[i])->kind != WORD_SCHEDULE)
			fail_msg("no row of schedule %s", schedule->words[i]);
	for (int i = 0; i < DIM_COUNT; i++)
		if (!glossary_term(dimension_label((enum dimension)i)))
			fail_msg("no term %s", dimension_label((enum dimension)i));
}

static void test_there_are_enough_terms(void **state)
{
	int terms = 0;

	(void)state;
	for (int i = 0; i < glossary_count(); i++)
		terms += glossary_at(i)->kind == WORD_TERM;
	assert_true(terms >= 60);
}

static int sentences(const char *text)
{
	int count = 0;

	for (; *text != '\0'; text++)
		count += strchr(".?!", *text) && (text[1] == ' ' || text[1] == '\0');
	return count;
}

static void check_text(const char *key, const char *text)
{
	char plain[GLOSSARY_MAX_TEXT];
	size_t length = glossary_plain(text, plain, sizeof plain);

	if (length < 24 || length > 260)
		fail_msg("%s: %zu characters: %s", key, length, text);
	if (sentences(plain) < 1 || sentences(plain) > 4)
		fail_msg("%s: %d sentences: %s", key, sentences(plain), text);
	if (strpbrk(plain, "[]|") || plain[length - 1] != '.')
		fail_msg("%s: %s", key, plain);
	if (!isupper((unsigned char)plain[0]) && !isdigit((unsigned char)plain[0]))
		fail_msg("%s begins small: %s", key, plain);
}

static void test_texts_are_short_and_whole(void **state)
{
	(void)state;
	for (int i = 0; i < glossary_count(); i++) {
		const struct glossary_word *word = glossary_at(i);

		check_text(word->key, word->means);
		check_text(word->key, word->why);
		/* one or two sentences; a term may need a third */
		if (sentences(word->means) > 3)
			fail_msg("%s: %s", word->key, word->means);
	}
}

/* Calls back with what stands behind each bracket: the name that it links to. */
static void each_link(const char *text, void (*each)(void *context, const char *name),
		      void *context)
{
	char name[64];

	while ((text = strchr(text, '['))) {
		const char *end = strchr(text, ']');
		const char *bar = memchr(text, '|', (size_t)(end - text));

		assert_non_null(end);
		if (bar)
			text = bar;
		snprintf(name, sizeof name, "%.*s", (int)(end - text - 1), text + 1);
		text = end;
		each(context, name);
	}
}

static void check_link(void *context, const char *name)
{
	if (!glossary_term(name))
		fail_msg("%s links to '%s', which is no term", (const char *)context,
			 name);
}

static void test_every_link_leads_to_a_term(void **state)
{
	(void)state;
	for (int i = 0; i < glossary_count(); i++) {
		const struct glossary_word *word = glossary_at(i);

		each_link(word->means, check_link, (void *)(uintptr_t)word->key);
		each_link(word->why, check_link, (void *)(uintptr_t)word->key);
	}
}

static void visit(const struct glossary_word *word, const struct glossary_word *from,
		  int depth)
{
	const struct glossary_word *links[GLOSSARY_MAX_LINKS];
	int count = glossary_links(word->means, links, 0);

	if (depth > 24)
		fail_msg("%s is told in a circle", from->key);
	for (int i = 0; i < count; i++) {
		if (links[i] == from)
			fail_msg("%s is told by %s, which needs it", from->key,
				 word->key);
		visit(links[i], from, depth + 1);
	}
}

static void test_no_term_is_told_in_a_circle(void **state)
{
	(void)state;
	for (int i = 0; i < glossary_count(); i++)
		if (is_term(glossary_at(i)))
			visit(glossary_at(i), glossary_at(i), 0);
}

/* Whether the word, or several of it, stands in a text. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strcasestr(at, word)); at++) {
		const char *end = at + length + (at[length] == 's');

		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)*end))
			return true;
	}
	return false;
}

static void test_no_term_is_told_by_itself(void **state)
{
	(void)state;
	for (int i = 0; i < glossary_count(); i++) {
		const struct glossary_word *word = glossary_at(i);
		char plain[GLOSSARY_MAX_TEXT], names[256], *rest = names, *name;

		if (!is_term(word))
			continue;
		glossary_plain(word->means, plain, sizeof plain);
		snprintf(names, sizeof names, "%s%s%s", word->key,
			 word->also ? "," : "", word->also ? word->also : "");
		while ((name = strsep(&rest, ",")))
			if (has_word(plain, name))
				fail_msg("%s is told by '%s': %s", word->key, name,
					 plain);
	}
}

/* What has two capitals is an abbreviation or a name of the field: it needs its link.
 */
static void check_bare(const char *key, const char *text)
{
	int depth = 0, capitals = 0;
	const char *start = text;

	for (const char *at = text;; at++) {
		if (isalnum((unsigned char)*at)) {
			capitals += depth == 0 && isupper((unsigned char)*at);
			continue;
		}
		if (capitals >= 2 && strncmp(start, "GPU", 3) != 0)
			fail_msg("%s: %.*s without a link: %s", key, (int)(at - start),
				 start, text);
		capitals = 0;
		start = at + 1;
		depth += (*at == '[') - (*at == ']');
		if (*at == '\0')
			return;
	}
}

static void test_no_abbreviation_without_its_link(void **state)
{
	(void)state;
	for (int i = 0; i < glossary_count(); i++) {
		check_bare(glossary_at(i)->key, glossary_at(i)->means);
		check_bare(glossary_at(i)->key, glossary_at(i)->why);
	}
}

static void test_a_name_means_one_term(void **state)
{
	const struct glossary_word *owner[MOST_NAMES];
	char all[MOST_NAMES][48];
	int count = 0;

	(void)state;
	for (int i = 0; i < glossary_count(); i++) {
		const struct glossary_word *word = glossary_at(i);
		char names[256], *rest = names, *name;

		if (!is_term(word))
			continue;
		snprintf(names, sizeof names, "%s%s%s", word->key,
			 word->also ? "," : "", word->also ? word->also : "");
		while ((name = strsep(&rest, ","))) {
			assert_true(count < MOST_NAMES && strlen(name) < 48);
			for (int j = 0; j < count; j++)
				if (strcasecmp(all[j], name) == 0)
					fail_msg("%s means %s and %s", name,
						 owner[j]->key, word->key);
			owner[count] = word;
			strcpy(all[count++], name);
			if (glossary_term(name) != word)
				fail_msg("%s is not found by '%s'", word->key, name);
		}
	}
}

static void test_names_are_found_as_people_write_them(void **state)
{
	static const struct {
		const char *typed, *key;
	} t[] = {
		{ "bubble", "pipeline bubble" },
		{ "Pipeline-Bubbles", "pipeline bubble" },
		{ "pipeline_bubble", "pipeline bubble" },
		{ "mfu", "MFU" },
		{ "micro-batches", "micro-batch" },
		{ "FSDP", "FSDP" },
		{ "1F1B", "1f1b" },
		{ "all reduce", "all-reduce" },
		{ "checkpointing", "recomputation" },
	};
	char plain[64];

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const struct glossary_word *word = glossary_term(t[i].typed);

		assert_non_null(word);
		assert_string_equal(word->key, t[i].key);
	}
	assert_null(glossary_term("bubbl"));
	assert_null(glossary_term(""));
	assert_string_equal(glossary_find("stages.3.total_bytes")->key, "total_bytes");
	assert_string_equal(glossary_find("ep.exposed_seconds")->key,
			    ".exposed_seconds");
	assert_null(glossary_find("kinds.0.operators.3.bytes"));
	assert_int_equal(glossary_plain("a [b|c] d]|[", plain, sizeof plain), 5);
	assert_string_equal(plain, "a b d");
	assert_int_equal(glossary_plain("a [b c]", plain, 4), 3);
	assert_string_equal(plain, "a b");
}

/* The page of each knob and number of both modes carries its row. */
static void test_explain_carries_the_words(void **state)
{
	static const char *const plans[] = { "llama3-70b-64-h100",
					     "llama3.1-70b-4-h100-serve" };
	static struct estimate e;
	static struct explanation x;
	struct scenario s;

	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		assert_true(scenario_read(&s, plans[mode], NULL, NULL));
		scenario_estimate(&s, &e);
		for (int i = 0; i < metric_count(); i++) {
			if (!(metric_table[i].modes >> mode & 1))
				continue;
			assert_true(explain(&s, &e, metric_table[i].key, &x));
			assert_non_null(x.word);
		}
		for (int i = 0; i < knob_count(); i++) {
			assert_true(explain(&s, &e, knob_table[i].key, &x));
			assert_non_null(x.word);
			assert_string_equal(x.word->key, knob_table[i].key);
		}
	}
}

static void test_the_command_tells_words(void **state)
{
	(void)state;
	run_check("explain bubble", 0, "has nothing to do", NULL);
	run_check("explain all-reduce --json", 0, "\"value\":\tnull", NULL);
	run_check("explain pipeline-bubble --json", 0,
		  "\"words\":\t[\"pipeline stage\"", NULL);
	run_check("explain tp", 0, "why change it", NULL);
	run_check("explain mfu", 0, "why it matters", NULL);
	run_check("explain mfu --json", 0, "\"means\":\t\"The share of its peak", NULL);
	run_check("explain bubbel", 2, NULL, "did you mean 'bubble'");
}

/* A formula that names a knob is found from the knob, and no other. */
static void test_a_knob_knows_its_formulas(void **state)
{
	static struct estimate e;
	static struct explanation x;
	struct explain_uses uses;
	struct scenario s;
	int stands = 0;

	(void)state;
	assert_true(scenario_read(&s, "llama3-70b-64-h100", NULL, NULL));
	scenario_estimate(&s, &e);
	for (int i = 0; i < knob_count(); i++) {
		explain_uses(&s, &e, knob_table[i].key, &uses);
		stands += uses.count > 0;
		for (int j = 0; j < uses.count; j++) {
			bool named = false;

			assert_true(explain(&s, &e, uses.key[j], &x));
			assert_string_equal(x.title, uses.title[j]);
			for (int k = 0; k < x.terms; k++) {
				const char *key = x.term[k].key;

				if (strncmp(key, "cluster.", 8) == 0)
					key += 8;
				named |= knob_find(key) == &knob_table[i];
			}
			assert_true(named);
		}
	}
	assert_true(stands > 10);
	explain_uses(&s, &e, "tokens", &uses);
	assert_int_equal(uses.count, 2);
	assert_string_equal(uses.key[0], "run_steps");
	assert_string_equal(uses.key[1], "run_dollars_per_million_tokens");
	explain_uses(&s, &e, "gbs", &uses);
	assert_string_equal(uses.key[0], "tokens_per_step");
}

/* What a page says that another value moves is what one gets by turning the knob. */
static void test_moves_are_those_of_the_turned_plan(void **state)
{
	static struct estimate now, turned;
	struct whatif_move moves[MAX_WHATIF_MOVES];
	struct scenario s, other;
	int count;

	(void)state;
	assert_true(scenario_read(&s, "llama3-70b-64-h100", NULL, NULL));
	scenario_estimate(&s, &now);
	count = whatif_moves(&s, knob_find("tp"), 4, &now, &turned, moves);
	other = s;
	other.plan.tp = 4;
	scenario_estimate(&other, &turned);
	assert_true(count > 5);
	for (int i = 0; i < count; i++) {
		assert_true(moves[i].before == metric_get(&now, moves[i].metric));
		assert_true(moves[i].after == metric_get(&turned, moves[i].metric));
		assert_true(moves[i].before != moves[i].after);
	}
	assert_int_equal(whatif_moves(&s, knob_find("pue"), s.cluster.pue * 2, &now,
				      &turned, moves),
			 1);
	assert_string_equal(moves[0].metric->key, "run_joules");
	assert_int_equal(whatif_moves(&s, knob_find("tp"), 3, &now, &turned, moves),
			 -1);
	assert_true(turned.problems.count > 0);
}

/* The pages: of the knob under the cursor, of a word that is found, of all words. */
static void test_pages_in_the_explorer(void **state)
{
	(void)state;
	run_check("screen overview --size 100x40 --keys i", 0, "why change it", NULL);
	run_check("screen overview --size 100x40 --keys i", 0, "tokens/s/GPU       688",
		  NULL);
	run_check("screen overview --size 100x60 --focus gbs --keys i", 0,
		  "tokens_per_step", NULL);
	run_check("screen overview --size 100x40 --keys '?i'", 0,
		  "one forward one backward", NULL);
	run_check("screen overview --size 100x60 --keys '?iG'", 0, "zero bubble", NULL);
	run_check("screen overview --size 100x40 --keys '/zero bub\n'", 0,
		  "They nearly remove the waiting", NULL);
	run_check("screen memory --size 100x40 --keys '\ti'", 0, "glossary", NULL);
	/* above the values of a knob stands what it means, on a low screen one line */
	run_check("screen overview --size 80x24 --focus tp --keys '\n'", 0,
		  "compute one layer together (tensor parallelism)", NULL);
	run_check("screen overview --size 80x18 --focus tp --keys '\n'", 0,
		  "GPUs that split every matrix", NULL);
}

static void test_micro_batches_have_the_page_of_their_word(void **state)
{
	(void)state;
	run_check("screen overview --size 100x30 --keys '/micro-batches\n'", 0,
		  "i what", NULL);
	run_check("screen overview --size 100x30 --keys '/micro-batches\ni'", 0,
		  "The few sequences that a GPU processes", NULL);
}

/* "tokens a second" reads like a slip of the pen to many. */
static void test_rates_are_per_something(void **state)
{
	static const char slip[] = "s a second";

	(void)state;
	for (int i = 0; i < glossary_count(); i++) {
		const struct glossary_word *w = glossary_at(i);

		if (strstr(w->means, slip) || strstr(w->why, slip))
			fail_msg("%s: '%s'", w->key, slip);
	}
	for (int i = 0; i < knob_count(); i++)
		if (strstr(knob_table[i].help, slip))
			fail_msg("%s: %s", knob_table[i].key, knob_table[i].help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_knob_and_number_has_its_row),
		cmocka_unit_test(test_every_row_is_of_something),
		cmocka_unit_test(
			test_every_collective_schedule_and_dimension_is_a_term),
		cmocka_unit_test(test_there_are_enough_terms),
		cmocka_unit_test(test_texts_are_short_and_whole),
		cmocka_unit_test(test_every_link_leads_to_a_term),
		cmocka_unit_test(test_no_term_is_told_in_a_circle),
		cmocka_unit_test(test_no_term_is_told_by_itself),
		cmocka_unit_test(test_no_abbreviation_without_its_link),
		cmocka_unit_test(test_a_name_means_one_term),
		cmocka_unit_test(test_names_are_found_as_people_write_them),
		cmocka_unit_test(test_explain_carries_the_words),
		cmocka_unit_test(test_the_command_tells_words),
		cmocka_unit_test(test_a_knob_knows_its_formulas),
		cmocka_unit_test(test_moves_are_those_of_the_turned_plan),
		cmocka_unit_test(test_pages_in_the_explorer),
		cmocka_unit_test(test_micro_batches_have_the_page_of_their_word),
		cmocka_unit_test(test_rates_are_per_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
