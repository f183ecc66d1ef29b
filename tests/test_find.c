/* test_find.c - what / finds: never a knob that does nothing here while there is
 * anything else, and what a person means by a word. */
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tui/explorer/find.h"
#include "tui/view.h"

static const char *key_of(const struct found *found)
{
	return found->kind == FOUND_MICRO_BATCHES ? "micro-batches"
	       : found->kind == FOUND_KNOB        ? knob_table[found->index].key
	       : found->kind == FOUND_NUMBER      ? metric_table[found->index].key
						  : view_table[found->index].name;
}

static void test_words_find_what_they_mean(void **state)
{
	static const struct {
		const char *word, *first, *second;
	} t[] = {
		{ "micro", "mbs", "micro-batches" },
		{ "batch", "mbs", "gbs" },
		{ "memory", "total_bytes", "memory" },
		{ "bubble", "bubble_ratio", "bubble_seconds" },
		{ "cost", "run_dollars", NULL },
		{ "length", "seq", NULL },
		{ "days", "run_seconds", NULL },
		{ "nodes", "gpus", NULL },
		{ "money", "run_dollars", NULL },
		{ "budget", "run_dollars", NULL },
		{ "electricity", "run_joules", NULL },
		{ "carbon", "run_co2_grams", NULL },
		{ "heads", "tp", NULL },
		{ "long context", "seq", NULL },
		{ "8 bit", "precision", NULL },
		{ "ib", "network_gbps_per_gpu", NULL },
		{ "waiting", "exposed_seconds", "bubble_ratio" },
		{ "why", "explain", NULL },
		{ "advice", "overview", NULL },
		{ "tensor", "tp", NULL },
		{ "pipeline", "pp", NULL },
		{ "context", "cp", "seq" },
		{ "sequence", "seq", "sp" },
		{ "zero", "zero", "zero_group" },
		{ "recompute", "recompute", NULL },
		{ "gpus", "gpus", NULL },
		{ "tokens", "tokens", NULL },
		{ "schedule", "schedule", NULL },
		{ "micro-batches", "micro-batches", NULL },
		{ "accumulation", "micro-batches", "gbs" },
		{ "global_batch", "gbs", NULL },
		{ "Timeline", "timeline", NULL },
		{ "mfu", "mfu", NULL },
		{ "deadline", "search", NULL },
		{ "gantt", "timeline", NULL },
		{ "ctx", "seq", NULL },
		{ "seq length", "seq", NULL },
		{ "microbatch", "mbs", NULL },
		{ "batch size", "mbs", "gbs" },
		{ "activation checkpointing", "recompute", NULL },
		{ "gradient checkpointing", "recompute", NULL },
		{ "remat", "recompute", "remat_policy" },
		{ "quantization", "precision", NULL },
		{ "world size", "gpus", NULL },
		{ "eta", "run_seconds", NULL },
		{ "wall time", "run_seconds", NULL },
		{ "vram", "total_bytes", NULL },
		{ "hbm", "total_bytes", NULL },
	};
	struct found found[MAX_FOUND];
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int count = find_all(&s.explorer, t[i].word, found);

		if (count < 1 || strcmp(key_of(&found[0]), t[i].first) != 0 ||
		    (t[i].second &&
		     (count < 2 || strcmp(key_of(&found[1]), t[i].second) != 0)))
			fail_msg("%s: %s, %s", t[i].word,
				 count > 0 ? key_of(&found[0]) : "-",
				 count > 1 ? key_of(&found[1]) : "-");
	}
	assert_int_equal(find_all(&s.explorer, "", found), 0);
	assert_int_equal(find_all(&s.explorer, "xyzzy", found), 0);
	stage_close(&s);
}

/* Commands are done and plans opened by Enter; what can't be done says why. */
static void test_commands_and_plans_are_found(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/pin this");
	stage_shows(&s, "key: Enter presses it");
	stage_type(&s, "\n");
	assert_true(s.explorer.pinned);
	stage_type(&s, "/undo");
	stage_shows(&s, "nothing has changed yet");
	stage_type(&s, "\n");
	stage_type(&s, "l/undo\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	stage_type(&s, "/play the");
	stage_shows(&s, "only in the Timeline view");
	stage_type(&s, "\n3/play the\n");
	assert_true(s.explorer.playing);
	stage_type(&s, "/405b-16k");
	stage_shows(&s, "plan: Enter opens it");
	stage_type(&s, "\n");
	assert_string_equal(s.explorer.scenario.model.name, "llama3.1-405b");
	/* so are machines, models and software: "what if we had an NVL72" */
	stage_type(&s, "/gb300-nvl");
	stage_shows(&s, "cluster: Enter opens it");
	stage_type(&s, "\n");
	assert_string_equal(s.explorer.scenario.cluster.name, "gb300-nvl72");
	stage_type(&s, "u/mixtral-8x22b\n");
	assert_string_equal(s.explorer.scenario.model.name, "mixtral-8x22b");
	stage_type(&s, "u");
	assert_int_equal(s.explorer.scenario.cluster.gpus, 16384);
	stage_type(&s, "u");
	assert_string_equal(s.explorer.scenario.model.name, "llama3.1-70b");
	/* the row that follows from others turns, and is gone to */
	stage_type(&s, "/micro-batches\nh");
	assert_int_equal(s.explorer.estimate.micro_batches, 32);
	/* and takes a number, by = as any knob and by Enter */
	stage_shows(&s, "= type");
	stage_type(&s, "=");
	stage_shows(&s, "micro-batches = ");
	stage_shows(&s, "the global batch follows");
	stage_type(&s, "12\n");
	assert_int_equal(s.explorer.estimate.micro_batches, 12);
	stage_type(&s, "u");
	assert_int_equal(s.explorer.estimate.micro_batches, 32);
	stage_type(&s, "\nmany\n");
	stage_shows(&s, "micro-batches: 'many' is no number");
	stage_type(&s, "\e");
	/* the line that is typed into has the name that the knob has above */
	stage_type(&s, "/tp\n=");
	stage_shows(&s, "TP tensor = ");
	stage_type(&s, "\e");
	/* the reason stands in the list */
	stage_type(&s, "/goal");
	stage_shows(&s, "only for serving; this plan trains");
	stage_close(&s);
}

/* Of every word of every label and key: what can be turned stands first. */
static void test_no_useless_knob_before_a_useful_one(void **state)
{
	struct found found[MAX_FOUND];
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	for (int i = 0; i < knob_count(); i++) {
		int count = find_all(&s.explorer, knob_table[i].label, found);
		bool useless = false;

		assert_true(count > 0);
		for (int k = 0; k < count; k++) {
			bool idle = found[k].kind == FOUND_KNOB &&
				    !(knob_applies(&s.explorer.scenario,
						   &knob_table[found[k].index]) &&
				      knob_in_mode(&knob_table[found[k].index],
						   MODE_TRAINING));

			idle |= found[k].kind == FOUND_COMMAND &&
				found_is_useless(&found[k]);
			assert_int_equal(idle, found_is_useless(&found[k]));

			assert_true(idle || !useless);
			useless |= idle;
		}
	}
	stage_close(&s);
}

static void test_a_list_is_there_while_one_types(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	stage_type(&s, "/batc");
	stage_shows(&s, "micro-batch");
	stage_shows(&s, "global batch");
	stage_key(&s, KEYS_DOWN);
	stage_type(&s, "\n");
	assert_string_equal(explorer_knob(&s.explorer)->key, "gbs");
	stage_type(&s, "N");
	assert_string_equal(explorer_knob(&s.explorer)->key, "mbs");
	/* a knob that does nothing here, asked for by its name, says so */
	stage_type(&s, "/vpp group\n");
	stage_shows(&s, "has no effect in this plan");
	/* a number is explained, a view opened */
	stage_type(&s, "/bubble ratio\33/mfu\n");
	assert_int_equal(s.explorer.view, VIEW_EXPLAIN);
	stage_type(&s, "/traffic\n");
	assert_int_equal(s.explorer.view, VIEW_TRAFFIC);
	stage_type(&s, "/xyzzy\n");
	stage_shows(&s, "nothing matches 'xyzzy'");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_find_what_they_mean),
		cmocka_unit_test(test_commands_and_plans_are_found),
		cmocka_unit_test(test_no_useless_knob_before_a_useful_one),
		cmocka_unit_test(test_a_list_is_there_while_one_types),
	};

	setenv("HOME", NO_HOME, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
