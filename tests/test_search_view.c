/* test_search_view.c - scripted keys in the view Search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/stage.h"

static struct stage s;

static void open_search(const char *plan, int width, int height)
{
	stage_open(&s, plan, width, height);
	s.canvas.glyphs = GLYPHS_FULL;
	s.patient = true;
	stage_type(&s, "s");
	assert_int_equal(s.explorer.view, VIEW_SEARCH);
	stage_shows(&s, "proved");
}

/* How often a text is on the screen. */
static int count_of(const char *text)
{
	char *screen = stage_text(&s);
	int count = 0;

	assert_non_null(screen);
	for (const char *at = screen; (at = strstr(at, text)); at += strlen(text))
		count++;
	free(screen);
	return count;
}

/* Servers that keep no goal are listed, and not as if they did. */
static void test_goals_that_no_server_keeps(void **state)
{
	(void)state;
	stage_open(&s, "llama3.1-70b-4-h100-serve", 120, 36);
	case_set(&s.explorer.scenario, "goal_ttft", "2");
	case_set(&s.explorer.scenario, "goal_percentile", "p99");
	s.patient = true;
	stage_type(&s, "s");
	stage_shows(&s, "no server here keeps the goals");
	stage_lacks(&s, "meet the goals");
	stage_close(&s);
}

/* The plan under the cursor stands in full, if need be in short words: of the table's
 * row the end is cut where names are long. */
static void test_the_chosen_plan_is_not_cut(void **state)
{
	char *screen, *row, *end;

	(void)state;
	open_search("mixtral-8x7b-64-h100", 120, 36);
	screen = stage_text(&s);
	assert_non_null(screen);
	row = strstr(screen, "plan 1: ");
	assert_non_null(row);
	end = strchr(row, '\n');
	assert_non_null(end);
	*end = '\0';
	assert_non_null(strstr(row, "EP"));
	assert_null(strstr(row, "\u2026"));
	free(screen);
	stage_close(&s);
}

static void test_a_taken_plan_lights_up_what_it_changed(void **state)
{
	struct scenario before;
	int differ = 0, rows;
	char said[64];

	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	before = s.explorer.scenario;
	assert_int_equal(count_of("\u2022"), 0);
	/* the first opens its idea, the second takes it */
	rows = s.explorer.search->rows;
	stage_type(&s, "\n");
	assert_true(s.explorer.search->rows > rows);
	assert_memory_equal(&s.explorer.scenario, &before, sizeof before);
	stage_type(&s, "\n");
	for (int i = 0; i < knob_count(); i++)
		differ += !knob_same(&before, &s.explorer.scenario, &knob_table[i]);
	assert_true(differ > 1);
	snprintf(said, sizeof said, "%d knobs changed", differ);
	stage_shows(&s, said);
	stage_shows(&s, "as fast as the best");
	/* each lit knob in sight has its mark */
	assert_true(count_of("\u2022") >= 1);
	assert_true(count_of("\u2022") <= differ);
	/* the next change puts them out, undo too */
	stage_type(&s, "u");
	assert_int_equal(count_of("\u2022"), 0);
	assert_memory_equal(&s.explorer.scenario, &before, sizeof before);
	stage_close(&s);
}

/* Where 99 of 100 requests have to keep the goals, the table tells what the slowest of
 * them wait, which is more than the mean, and no more than the goals. */
static void test_the_slowest_are_told_where_they_are_asked_for(void **state)
{
	const struct planner_found *best;
	char text[32];

	(void)state;
	stage_open(&s, "llama3.1-70b-4-h100-serve", 120, 36);
	s.patient = true;
	case_set(&s.explorer.scenario, "goal_ttft", "8000");
	case_set(&s.explorer.scenario, "goal_tpot", "60");
	case_set(&s.explorer.scenario, "goal_percentile", "p99");
	stage_type(&s, "s");
	stage_shows(&s, "proved");
	assert_true(s.explorer.search->result.found > 0);
	best = &s.explorer.search->result.top[0];
	stage_shows(&s, "TPOT P99");
	stage_shows(&s, "TTFT P99");
	assert_true(best->slow_ttft_seconds > best->ttft_seconds);
	assert_true(best->slow_ttft_seconds <= 8);
	assert_true(best->slow_tpot_seconds > best->step_seconds);
	assert_true(best->slow_tpot_seconds <= 0.06);
	form_text(FORM_SECONDS, best->slow_ttft_seconds, text, sizeof text);
	stage_shows(&s, text);
	form_text(FORM_SECONDS, best->slow_tpot_seconds, text, sizeof text);
	stage_shows(&s, text);
	stage_close(&s);
	open_search("llama3.1-70b-4-h100-serve", 120, 36);
	assert_int_equal(count_of("P99"), 0);
	stage_close(&s);
}

static void test_rows_are_sorted(void **state)
{
	const struct search *search;
	int sorts[] = { SORT_STEP, SORT_RATE, SORT_MFU, SORT_BUBBLE, SORT_MEMORY };

	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	search = s.explorer.search;
	assert_true(search->rows == search->alike.rows && search->rows > 1);
	assert_true(search->rows < search->result.found);
	for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++) {
		stage_type(&s, "S");
		assert_int_equal(s.explorer.state[VIEW_SEARCH].sort, sorts[i]);
		for (int k = 1; k < search->rows; k++) {
			const struct planner_found *a =
				&search->result.top[search->order[k - 1]];
			const struct planner_found *b =
				&search->result.top[search->order[k]];

			if (sorts[i] == SORT_MEMORY)
				assert_true(a->memory_bytes <= b->memory_bytes);
			else if (sorts[i] == SORT_BUBBLE)
				assert_true(a->bubble_ratio <= b->bubble_ratio);
			else
				assert_true(a->step_seconds <= b->step_seconds);
		}
	}
	/* what is taken is the row that is seen */
	const struct planner_found least = search->result.top[search->order[0]];
	stage_type(&s, "g\n\n");
	assert_close(s.explorer.estimate.memory.total_bytes, least.memory_bytes, 1e-12);
	stage_close(&s);
}

/* Nobody has to know which pane has the focus to ask for plans. */
static void test_a_filter_is_taken_from_the_knobs_too(void **state)
{
	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	stage_type(&s, "\t/tp=4 pp=1..2");
	stage_shows(&s, "plans with these values: Enter shows them");
	stage_type(&s, "\n");
	stage_shows(&s, "with tp=4 pp=1..2");
	assert_int_equal(s.explorer.pane, PANE_VIEW);
	/* what has a name is found as ever, and in no other view is there such a table
	 */
	stage_type(&s, "\t/gbs\n");
	assert_int_equal(s.explorer.pane, PANE_KNOBS);
	stage_type(&s, "1/tp=4");
	stage_shows(&s, "nothing has that name");
	stage_type(&s, "\33");
	stage_close(&s);
}

/* Nor does the line that is typed into end within a word, on a narrow screen too. */
static void test_the_line_of_the_filter_is_not_cut(void **state)
{
	(void)state;
	open_search("llama3-8b-8-h100", 80, 24);
	stage_type(&s, "/");
	stage_shows(&s, "as tp=4,8 pp=1..4 bal !full\u2026\n");
	stage_close(&s);
}

static void test_rows_are_filtered(void **state)
{
	const struct search *search;

	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	stage_type(&s, "/Z1 !sel\n");
	stage_shows(&s, "with Z1 !sel");
	search = s.explorer.search;
	assert_true(search->rows > 0 && search->rows < search->result.found);
	for (int i = 0; i < search->rows; i++) {
		const char *name = search->row[search->order[i]].name;

		assert_non_null(strstr(name, "Z1"));
		assert_null(strstr(name, "sel"));
	}
	/* a pin is searched for, however far from the best it is */
	stage_type(&s, "/\025tp=4 pp=1..2\n");
	stage_shows(&s, "with tp=4");
	search = s.explorer.search;
	assert_true(search->rows > 0);
	for (int i = 0; i < search->rows; i++) {
		struct scenario plan;

		planner_scenario(&search->problem,
				 &search->result.top[search->order[i]], &plan);
		assert_int_equal(plan.plan.tp, 4);
		assert_true(plan.plan.pp <= 2);
	}
	stage_type(&s, "/\025nosuchplan\n");
	stage_shows(&s, "best has that in its name");
	stage_type(&s, "/\025tpp=2\n");
	stage_shows(&s, "tpp: no knob of that name");
	stage_type(&s, "/\025tp=lots\n");
	stage_shows(&s, "tp: ");
	stage_type(&s, "/\025nosuchplan\n");
	stage_shows(&s, "proved");
	assert_int_equal(s.explorer.search->rows, 0);
	stage_type(&s, "jkgG\n");
	stage_type(&s, "/\025\n");
	stage_shows(&s, "proved");
	assert_true(s.explorer.search->rows > 1);
	stage_lacks(&s, "with ");
	stage_close(&s);
}

static void test_answers_stand_below(void **state)
{
	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	stage_shows(&s, "fits: ");
	stage_shows(&s, "  micro-batch up to ");
	stage_shows(&s, "  models up to ");
	stage_shows(&s, "plan 1 if 10 % worse: network #");
	/* the plan under the cursor by whole names, changes by those of the knobs */
	stage_shows(&s, "plan 1: micro-batch ");
	stage_lacks(&s, "tp_overlap");
	stage_shows(&s, "you could save: ");
	stage_shows(&s, "trust");
	stage_shows(&s, "measured: all of it ran on ");
	stage_shows(&s, "your plan is as fast as the best");
	/* another aim */
	stage_type(&s, "ll");
	stage_shows(&s, "best by cost");
	stage_type(&s, "l");
	stage_shows(&s, "best by memory");
	stage_type(&s, "hhh");
	stage_shows(&s, "best by step");
	stage_close(&s);
}

/* As the command answers: where less known plans do more, what known ones do stands
 * beside it; who says how well plans are to be known gets one answer. */
static void test_an_answer_says_what_known_plans_do(void **state)
{
	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	stage_shows(&s, "fits: 1+ GPUs (known 2+)  micro-batch up to 64 (known 32)");
	stage_shows(&s, "sequence up to 524 k (known 442 k)  models up to 80.2 B ");
	stage_close(&s);
	open_search("llama3-8b-8-h100", 80, 24);
	stage_shows(&s, "fits 1+ GPUs (known 2+)  micro-batch 64 (known 32)");
	stage_type(&s, "/\025trust=published\n");
	stage_shows(&s, "fits 2+ GPUs  micro-batch up to 32");
	stage_close(&s);
	open_search("llama3-8b-8-h100", 200, 60);
	stage_shows(&s, "fits: 1+ GPUs (known plans: 2+)  micro-batch up to 64 ");
	stage_shows(&s, "models up to 80.2 B (known plans: 31.6 B)");
	stage_close(&s);
}

/* A row with others folded into it is opened first. */
static void take_row(void)
{
	int opened = s.explorer.search->opened;

	stage_type(&s, "\n");
	if (s.explorer.search && s.explorer.search->opened != opened)
		stage_type(&s, "\n");
}

/* What is asked by halves goes up and down; what is said of it only grows. */
static void test_what_is_known_of_an_answer_only_grows(void **state)
{
	double said = 0;
	int times = 0;

	(void)state;
	stage_open(&s, "llama3-70b-64-h100", 120, 36);
	stage_type(&s, "7");
	while (explorer_idle(&s.explorer)) {
		const struct search *search = s.explorer.search;
		double value;
		char unit, *screen, *at;

		if (!search || search->phase < SEARCH_ASK ||
		    search->inverse[INVERSE_SEQUENCE].done)
			continue;
		explorer_draw(&s.explorer, &s.canvas);
		screen = canvas_to_text(&s.canvas);
		assert_null(strstr(screen, "trying sequence"));
		at = strstr(screen, "fits: ");
		at = at ? strstr(at, "  sequence ") : NULL;
		if (at && sscanf(at, "  sequence %lf %c+ ...", &value, &unit) == 2) {
			value *= unit == 'M' ? 1e6 : unit == 'k' ? 1e3 : 1;
			assert_true(value >= said);
			said = value;
			times++;
		}
		free(screen);
	}
	assert_true(times > 0);
	stage_shows(&s, "sequence up to ");
	stage_close(&s);
}

/* A typed plan is held against the best, and says what keeps it from running. */
static void test_a_typed_plan_is_held_against_the_best(void **state)
{
	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	stage_type(&s, "/?mbs=1 ?recompute=full\n");
	stage_shows(&s, "why not #1 with mbs=1 recompute=full: +");
	stage_shows(&s, "recompute +");
	stage_type(&s, "/\025?tp=3\n");
	stage_shows(&s, "why not #1 with tp=3: ");
	stage_shows(&s, "does not divide");
	stage_type(&s, "/\025?tpp=3\n");
	stage_shows(&s, "no knob 'tpp'");
	stage_type(&s, "/\025reserve=0.2 trust=measured\n");
	stage_shows(&s, "measured plans, 20 % memory reserve");
	stage_type(&s, "/\025research\n");
	stage_shows(&s, "research, 5 % memory reserve");
	stage_close(&s);
}

/* Fewest GPUs: those that hold it, or that end the run in time. */
static void test_the_fewest_gpus_are_found(void **state)
{
	int64_t gpus;

	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	stage_type(&s, "llll");
	stage_shows(&s, "best by gpus");
	stage_shows(&s, "proved");
	stage_shows(&s, "your plan takes 8 GPUs; ");
	gpus = s.explorer.search->problem.base.cluster.gpus;
	assert_true(gpus < 8);
	take_row();
	assert_int_equal(s.explorer.scenario.cluster.gpus, gpus);
	assert_true(s.explorer.estimate.feasible);
	stage_type(&s, "/deadline=600d\n");
	stage_shows(&s, "proved");
	assert_true(s.explorer.search->problem.base.cluster.gpus > gpus);
	take_row();
	assert_true(s.explorer.estimate.run.seconds <= 600 * 86400.0);
	stage_type(&s, "/\025deadline=1h\n");
	stage_shows(&s, "no machine up to 16 times this one ends the run in time");
	stage_type(&s, "\n/\025deadline=soon\n");
	stage_shows(&s, "expected days or hours");
	stage_type(&s, "/\025\nhhhh");
	stage_shows(&s, "best by step");
	stage_close(&s);
}

static void test_fronts_are_drawn(void **state)
{
	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	stage_shows(&s, "tok/s/GPU");
	stage_shows(&s, "@ open plan");
	stage_lacks(&s, "B pinned");
	stage_type(&s, "p");
	stage_shows(&s, "B pinned");
	/* what nobody looks at is not searched, and goes on where it stopped */
	assert_int_equal(s.explorer.search->phase, SEARCH_OVER);
	assert_int_equal(s.explorer.search->front[PARETO_GPUS].at, 0);
	stage_type(&s, ".");
	stage_shows(&s, "GPUs");
	stage_lacks(&s, "100 %");
	assert_true(s.explorer.search->front[PARETO_GPUS].done);
	stage_lacks(&s, "searched");
	stage_type(&s, ".");
	stage_shows(&s, "100 %");
	stage_close(&s);
	/* where there is no room for both, + changes to the plot */
	open_search("llama3-8b-8-h100", 80, 24);
	stage_lacks(&s, "@ open plan");
	stage_type(&s, "+");
	stage_shows(&s, "@ open plan");
	stage_type(&s, "-");
	stage_lacks(&s, "@ open plan");
	stage_close(&s);
}

static void test_impossible_problems_say_what_would_do(void **state)
{
	(void)state;
	stage_open(&s, "llama3-8b-8-h100", 120, 36);
	s.patient = true;
	stage_type(&s, "/gpu_memory\n=5\ns");
	stage_shows(&s, "No plan fits: the closest needs ");
	stage_shows(&s, "kept free");
	stage_shows(&s, "GPUs would do");
	stage_shows(&s, "closest misses");
	assert_int_equal(s.explorer.search->misses.count, MAX_MISSES);
	/* Enter has nothing to take, and nothing breaks */
	stage_type(&s, "\njkS");
	stage_shows(&s, "No plan fits");
	stage_close(&s);
}

/* A person who waits sees how far it is and the best so far; nobody else a flicker. */
static void test_a_long_search_shows_how_far_it_is(void **state)
{
	struct search *search;

	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	search = s.explorer.search;
	search->phase = SEARCH_PLANS;
	search->result.progress = 0.4;
	search->seconds = 0.19;
	explorer_draw(&s.explorer, &s.canvas);
	char *text = canvas_to_text(&s.canvas);
	assert_non_null(strstr(text, "searching ..."));
	assert_null(strstr(text, "best 9"));
	free(text);
	search->seconds = 0.21;
	explorer_draw(&s.explorer, &s.canvas);
	text = canvas_to_text(&s.canvas);
	assert_non_null(strstr(text, "searching  40 %  best "));
	assert_non_null(strstr(text, "\u2588\u2588"));
	free(text);
	search->phase = SEARCH_OVER;
	stage_close(&s);
}

/* The next key throws away what is at work and begins anew. */
static void test_a_key_begins_anew(void **state)
{
	(void)state;
	stage_open(&s, "deepseek-v3-1024-h100", 120, 36);
	stage_type(&s, "s\t/pp\n");
	for (int i = 0; i < 200 && s.explorer.search == NULL; i++)
		explorer_idle(&s.explorer);
	assert_non_null(s.explorer.search);
	explorer_idle(&s.explorer);
	assert_true(s.explorer.search->phase <= SEARCH_ASK);
	stage_type(&s, "l");
	assert_true(s.explorer.search_stale);
	for (int i = 0; i < 200 && s.explorer.search_stale; i++)
		explorer_idle(&s.explorer);
	assert_memory_equal(&s.explorer.search->problem.base, &s.explorer.scenario,
			    sizeof s.explorer.scenario);
	assert_true(s.explorer.search->phase < SEARCH_OVER);
	stage_close(&s);
}

static void test_any_size_will_do(void **state)
{
	(void)state;
	open_search("llama3-8b-8-h100", 120, 36);
	for (int zoom = 0; zoom < 2; zoom++) {
		for (int width = 60; width < 200; width += 13) {
			for (int height = 16; height < 70; height += 5) {
				assert_true(canvas_resize(&s.canvas, width, height));
				explorer_draw(&s.explorer, &s.canvas);
			}
		}
		stage_type(&s, "+");
	}
	stage_close(&s);
}

/* Every short word of a row that is shown is told at the table, once, at 120 columns.
 */
static void test_short_names_are_told(void **state)
{
	(void)state;
	open_search("llama3-70b-64-h100", 120, 36);
	assert_int_equal(count_of(" mbs micro-batch  "), 1);
	assert_int_equal(count_of("  Z ZeRO"), 1);
	assert_int_equal(count_of("  sel recompute selective"), 1);
	assert_int_equal(count_of("noSP SP sequence off"), 1);
	/* of what is filtered away nothing is told */
	stage_type(&s, "/!noSP\n");
	stage_shows(&s, "mbs micro-batch");
	assert_int_equal(count_of("noSP SP"), 0);
	stage_close(&s);
	open_search("deepseek-v3-352-h800-serve", 200, 60);
	stage_shows(&s, "DPA DP attention  PD disaggregated  ptp prefill TP");
	stage_close(&s);
	open_search("llama3-70b-64-h100", 80, 24);
	assert_int_equal(count_of("mbs micro-batch"), 0);
	stage_close(&s);
}

/* The points of a front are one search that goes on with less memory: its nodes are
 * listed once. */
static void test_a_front_is_one_search(void **state)
{
	const struct search *search;
	int kept = 0;

	(void)state;
	stage_open(&s, "llama3-8b-8-h100", 120, 36);
	search_begin(&s.explorer);
	search = s.explorer.search;
	while (search->phase <= SEARCH_FRONT && search_slice(&s.explorer))
		kept += search->phase == SEARCH_FRONT && search->kept;
	assert_true(search->front[PARETO_MEMORY].count > 2);
	assert_true(kept >= search->front[PARETO_MEMORY].count - 1);
	assert_null(search->kept);
	stage_close(&s);
}

/* Every plan that was found stands on the smallest screen, too, and how the open one
 * compares: it takes this much longer, because of that. */
static void test_all_plans_stand_on_a_low_screen(void **state)
{
	static const struct {
		int width, height;
	} size[] = { { 80, 24 }, { 80, 30 }, { 100, 30 }, { 120, 36 } };

	(void)state;
	for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
		open_search("llama3-70b-64-h100", size[i].width, size[i].height);
		assert_int_equal(s.explorer.search->rows, 10);
		stage_shows(&s, " 10 ");
		stage_shows(&s, i == 0 ? "yours +16.4 %, +5.32 s =  TP +6.43 s"
				       : "+5.32 s =  TP +6.43 s");
		stage_shows(&s, i == 0 ? "plan 1, in parts: mbs1 TP2"
				       : "in parts: no measured run");
		stage_shows(&s, "you could save: ");
		stage_shows(&s, i < 2 ? "fits 7+ GPUs" : "fits: 7+ GPUs");
		stage_close(&s);
	}
	/* of another plan it tells why that is not the best */
	open_search("llama3-70b-64-h100", 80, 24);
	stage_type(&s, "j");
	stage_shows(&s, "plan 2 +");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_plans_stand_on_a_low_screen),
		cmocka_unit_test(test_a_front_is_one_search),
		cmocka_unit_test(test_goals_that_no_server_keeps),
		cmocka_unit_test(test_the_chosen_plan_is_not_cut),
		cmocka_unit_test(test_a_taken_plan_lights_up_what_it_changed),
		cmocka_unit_test(test_the_slowest_are_told_where_they_are_asked_for),
		cmocka_unit_test(test_rows_are_sorted),
		cmocka_unit_test(test_rows_are_filtered),
		cmocka_unit_test(test_a_filter_is_taken_from_the_knobs_too),
		cmocka_unit_test(test_the_line_of_the_filter_is_not_cut),
		cmocka_unit_test(test_answers_stand_below),
		cmocka_unit_test(test_an_answer_says_what_known_plans_do),
		cmocka_unit_test(test_what_is_known_of_an_answer_only_grows),
		cmocka_unit_test(test_a_typed_plan_is_held_against_the_best),
		cmocka_unit_test(test_the_fewest_gpus_are_found),
		cmocka_unit_test(test_fronts_are_drawn),
		cmocka_unit_test(test_impossible_problems_say_what_would_do),
		cmocka_unit_test(test_a_long_search_shows_how_far_it_is),
		cmocka_unit_test(test_a_key_begins_anew),
		cmocka_unit_test(test_any_size_will_do),
		cmocka_unit_test(test_short_names_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
