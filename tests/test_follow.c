/* test_follow.c - what the explorer keeps of scenarios that it looked at before is what
 * it would reckon anew: estimate, pinned estimate, strip, advice, arrows, the curve of
 * a server and the timeline of a step, after any turns back and forth. */
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/predict/predict.h"
#include "engine/whatif/whatif.h"
#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/stage.h"
#include "tui/clock.h"
#include "tui/explorer/follow.h"
#include "tui/explorer/load.h"
#include "tui/view.h"

static struct estimate anew, scratch;

/* The clocks of this program: `late` seconds pass between two looks at the one, `busy`
 * between two at the other. */
static double late, busy;

double clock_seconds(void)
{
	static double now;

	return now += late;
}

double clock_worked(void)
{
	static double now;

	return now += busy;
}

static void check_estimate(const struct estimate *kept, const struct scenario *scenario)
{
	scenario_estimate(scenario, &anew);
	assert_int_equal(kept->legal, anew.legal);
	assert_int_equal(kept->fits, anew.fits);
	assert_int_equal(kept->problems.count, anew.problems.count);
	for (int i = 0; i < metric_count() && anew.legal; i++) {
		double a = metric_get(kept, &metric_table[i]);
		double b = metric_get(&anew, &metric_table[i]);

		if (!(a == b) && !(a != a && b != b))
			fail_msg("%s: %.17g, anew %.17g", metric_table[i].key, a, b);
	}
}

static void check_strip(const struct explorer *explorer)
{
	static struct whatif fresh;
	const struct whatif *kept = &explorer->strip;

	if (explorer->strip_knob < 0)
		return;
	whatif_knob(&explorer->scenario, &knob_table[explorer->strip_knob], &scratch,
		    &fresh);
	assert_int_equal(kept->count, fresh.count);
	assert_int_equal(kept->present, fresh.present);
	assert_ptr_equal(kept->metric, fresh.metric);
	for (int i = 0; i < fresh.count; i++) {
		const struct whatif_value *a = &kept->item[i], *b = &fresh.item[i];

		assert_true(a->value == b->value && a->legal == b->legal &&
			    a->fits == b->fits && a->lacks == b->lacks &&
			    a->moved == b->moved && a->step_seconds == b->step_seconds);
	}
}

/* What a number is explained with is of the scenario that is open. */
static void check_explained(const struct explorer *explorer)
{
	static const char *const keys[] = {
		"step_seconds", "compute_seconds",
		"bubble_ratio", "stages.0.activations_bytes",
		"tpot_seconds", "prefill_seconds"
	};
	static struct explanation kept, fresh;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		bool found = explain(&explorer->scenario, &explorer->estimate, keys[i],
				     &fresh);

		assert_int_equal(follow_explain(explorer->follow, &explorer->scenario,
						&explorer->estimate, keys[i], &kept),
				 found);
		if (!found)
			continue;
		assert_string_equal(kept.formula, fresh.formula);
		assert_int_equal(kept.terms, fresh.terms);
		for (int k = 0; k < fresh.terms; k++)
			assert_memory_equal(&kept.term[k].value, &fresh.term[k].value,
					    sizeof fresh.term[k].value);
	}
}

static void check_advice(struct explorer *explorer)
{
	static struct findings fresh;

	while (explorer_idle(explorer)) {
	}
	assert_true(explorer_is_settled(explorer));
	fresh.count = 0;
	if (explorer->estimate.legal)
		advice_give(&explorer->scenario, &explorer->estimate, &fresh);
	assert_int_equal(explorer->advice.count, fresh.count);
	for (int i = 0; i < fresh.count; i++)
		assert_ptr_equal(explorer->advice.item[i].rule, fresh.item[i].rule);
}

/* Of the knobs in sight; one of them at a time. */
static void check_an_arrow(const struct explorer *explorer)
{
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows);
	const struct knob_row *row = &rows[next((uint64_t)count)];
	struct whatif_arrow fresh = { 0 };

	if (row->kind != ROW_KNOB || !explorer->arrow_known[row->knob])
		return;
	if (whatif_tunes(&knob_table[row->knob]))
		whatif_arrow(&explorer->scenario, &knob_table[row->knob],
			     &explorer->estimate, &scratch, &fresh);
	assert_int_equal(explorer->arrow[row->knob].direction, fresh.direction);
	if (fresh.direction != 0)
		assert_true(explorer->arrow[row->knob].gain == fresh.gain);
}

static void check_curve(const struct explorer *explorer)
{
	struct serve_point fresh[40];
	const struct serve_point *kept;
	int count;

	if (explorer->scenario.plan.mode != MODE_INFERENCE)
		return;
	count = serve_curve(&explorer->scenario, fresh, 40);
	assert_int_equal(load_curve(explorer, &kept), count);
	for (int i = 0; i < count; i++)
		assert_true(kept[i].per_gpu == fresh[i].per_gpu &&
			    kept[i].per_user == fresh[i].per_user);
}

static void check_timeline(struct explorer *explorer)
{
	const struct play *play;

	if (explorer->view != VIEW_TIMELINE ||
	    explorer->scenario.plan.mode != MODE_TRAINING)
		return;
	play = explorer->play;
	assert_non_null(play);
	assert_memory_equal(&play->scenario, &explorer->scenario,
			    sizeof play->scenario);
	if (play->good)
		assert_close(play->timeline.pipeline_seconds,
			     explorer->estimate.pipeline_seconds, 1e-6);
	if (explorer->pinned && explorer->play_before)
		assert_memory_equal(&explorer->play_before->scenario,
				    &explorer->baseline, sizeof play->scenario);
}

static void check_plan(const char *plan, int presses)
{
	static const char keys[] = "hlhlhljkjkhluupUh13l";
	struct stage s;

	stage_open(&s, plan, 120, 36);
	for (int i = 0; i < presses; i++) {
		stage_key(&s, (unsigned char)keys[next(sizeof keys - 1)]);
		check_estimate(&s.explorer.estimate, &s.explorer.scenario);
		if (s.explorer.pinned)
			check_estimate(&s.explorer.before, &s.explorer.baseline);
		check_strip(&s.explorer);
		check_an_arrow(&s.explorer);
		check_curve(&s.explorer);
		check_timeline(&s.explorer);
		if (next(3) > 0)
			continue;
		check_advice(&s.explorer);
		check_explained(&s.explorer);
	}
	stage_close(&s);
}

static void test_what_is_kept_is_what_would_be_reckoned(void **state)
{
	const struct preset *plan;
	int count = preset_list(PRESET_PLAN, &plan);

	(void)state;
	seed = 11;
	for (int i = 0; i < count; i += 2)
		check_plan(plan[i].name, 60);
}

/* --- keys that change nothing -------------------------------------------------- */

enum { UNTOUCHED = 0xa5 };

static bool is_untouched(const struct explorer *explorer)
{
	const unsigned char *byte = (const unsigned char *)explorer->scratch;

	for (size_t i = 0; i < sizeof *explorer->scratch; i++)
		if (byte[i] != UNTOUCHED)
			return false;
	return true;
}

/* Pressed and settled, as a terminal sees it; a redraw too. */
static void press(struct stage *s, int key)
{
	stage_key(s, key);
	while (!explorer_is_settled(&s->explorer) && s->explorer.view != VIEW_SEARCH)
		explorer_idle(&s->explorer);
	explorer_draw(&s->explorer, &s->canvas);
}

/* What-if, arrows and schedules are reckoned in the scratch, and each schedule of a
 * timeline is counted: by none of these keys is anything of it touched. */
static void check_idle_keys(const char *plan, int view)
{
	static const char keys[] = "Zi\033?\033/\033\tjjk.,Sk\to\033hhhh";
	struct stage s;
	unsigned plays;

	stage_open(&s, plan, 120, 36);
	explorer_show(&s.explorer, (enum view_id)view);
	stage_type(&s, "hhhhhhhhhhhh"); /* to the first value */
	press(&s, 'p');
	press(&s, 'i'); /* what the values beside it would move */
	press(&s, 27);
	plays = s.explorer.plays;
	memset(s.explorer.scratch, UNTOUCHED, sizeof *s.explorer.scratch);
	for (size_t i = 0; keys[i] != '\0'; i++) {
		press(&s, (unsigned char)keys[i]);
		if (s.explorer.plays != plays || !is_untouched(&s.explorer))
			fail_msg("%s, %s: key %zu (%c) reckons", plan,
				 view_table[view].name, i, keys[i]);
	}
	stage_close(&s);
}

static void test_a_key_that_changes_nothing_reckons_nothing(void **state)
{
	const struct preset *plan;
	int count = preset_list(PRESET_PLAN, &plan);

	(void)state;
	for (int i = 0; i < count; i++)
		for (int view = 0; view < VIEW_COUNT; view++)
			if (view_table[view].tab && view != VIEW_SEARCH)
				check_idle_keys(plan[i].name, view);
}

/* The row of a knob and how many there are. */
static int find_row(const struct explorer *explorer, const char *key, int *count)
{
	struct knob_row rows[MAX_ROWS];

	*count = knob_rows(explorer, rows);
	for (int i = 0; i < *count; i++)
		if (rows[i].kind == ROW_KNOB &&
		    strcmp(knob_table[rows[i].knob].key, key) == 0)
			return i;
	return -1;
}

/* What only a pipeline of more stages has stands there before: to turn PP moves no
 * row. One GPU has no second stage. */
static void test_a_second_stage_moves_no_row(void **state)
{
	struct stage s;
	int schedule, memory, count, now;

	(void)state;
	stage_open(&s, "megatron-18b-256-a100", 120, 40);
	assert_int_equal(s.explorer.scenario.plan.pp, 1);
	schedule = find_row(&s.explorer, "schedule", &count);
	memory = find_row(&s.explorer, "recompute", &count);
	assert_true(schedule > 0 && schedule < memory);
	stage_type(&s, "/pp\n=2\n");
	assert_int_equal(s.explorer.scenario.plan.pp, 2);
	assert_int_equal(find_row(&s.explorer, "schedule", &now), schedule);
	assert_int_equal(find_row(&s.explorer, "recompute", &now), memory);
	assert_int_equal(now, count);
	stage_close(&s);
	stage_open(&s, NULL, 120, 40);
	s.explorer.scenario.cluster.gpus = 1;
	s.explorer.scenario.plan.pp = 1;
	memset(s.explorer.stays, 0, sizeof s.explorer.stays);
	knobs_keep_rows(&s.explorer);
	assert_int_equal(find_row(&s.explorer, "schedule", &count), -1);
	stage_close(&s);
}

/* One frame answers a key, its arrows and advice with it, however long others had the
 * processor meanwhile; what takes long itself follows the frame. */
static void test_others_that_work_part_no_frame(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "deepseek-v3-2048-h800", 120, 36);
	late = 1;
	stage_key(&s, 'l');
	assert_false(explorer_is_settled(&s.explorer));
	explorer_settle(&s.explorer);
	assert_true(explorer_is_settled(&s.explorer));
	busy = 1;
	stage_key(&s, 'l');
	explorer_settle(&s.explorer);
	assert_false(explorer_is_settled(&s.explorer));
	late = busy = 0;
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_kept_is_what_would_be_reckoned),
		cmocka_unit_test(test_a_key_that_changes_nothing_reckons_nothing),
		cmocka_unit_test(test_a_second_stage_moves_no_row),
		cmocka_unit_test(test_others_that_work_part_no_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
