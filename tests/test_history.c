/* test_history.c - undo, change, redo: in any order, against a list of whole scenarios;
 * and the screen where the numbers are too large for it. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/effect.h"
#include "tests/support/random.h"
#include "tests/support/stage.h"
#include "tui/explorer/history.h"

static void test_a_change_forgets_what_could_be_redone(void **state)
{
	struct history history = { 0 };
	struct scenario a, b, c, now;

	(void)state;
	case_dense(&a);
	b = c = a;
	b.plan.tp = 4;
	c.plan.pp = 2;
	now = b;
	assert_true(history_push(&history, &a, &b, "TP"));
	assert_non_null(history_undo(&history, &now));
	assert_memory_equal(&now, &a, sizeof a);
	assert_true(history_push(&history, &a, &c, "PP"));
	now = c;
	assert_null(history_redo(&history, &now));
	assert_memory_equal(&now, &c, sizeof c);
	assert_string_equal(history_undo(&history, &now), "PP");
	assert_null(history_undo(&history, &now));
	assert_string_equal(history_redo(&history, &now), "PP");
	assert_null(history_redo(&history, &now));
	assert_memory_equal(&now, &c, sizeof c);
	history_free(&history);
}

/* Whoever turns knobs all day: a change takes its text and a few dozen bytes. */
static void test_a_change_takes_little(void **state)
{
	enum { PRESSES = 10000, BYTES = 48 };
	struct history history = { 0 };
	struct scenario a, b;

	(void)state;
	case_dense(&a);
	b = a;
	b.plan.tp = 4;
	for (int i = 0; i < PRESSES; i++)
		assert_true(history_push(&history, i % 2 ? &b : &a, i % 2 ? &a : &b,
					 "TP 1 to 4"));
	assert_in_range(history.at, 1, PRESSES * BYTES);
	assert_in_range(history.capacity, 1, 2 * PRESSES * BYTES);
	for (int i = 0; i < PRESSES; i++)
		assert_string_equal(history_undo(&history, &a), "TP 1 to 4");
	assert_int_equal(history.at, 0);
	history_free(&history);
}

enum { DEEP = 300 };

/* Any order of undo, redo and change, with every state kept whole beside it. */
static void test_any_order_gives_the_state_it_had(void **state)
{
	static struct scenario kept[DEEP];
	struct history history = { 0 };
	struct scenario now;
	int done = 0, count = 0;

	(void)state;
	seed = 77;
	case_dense(&kept[0]);
	now = kept[0];
	for (int i = 0; i < 4000; i++) {
		uint64_t what = next(3);

		if (what == 0) {
			assert_int_equal(history_undo(&history, &now) != NULL,
					 done > 0);
			done -= done > 0;
		} else if (what == 1) {
			assert_int_equal(history_redo(&history, &now) != NULL,
					 done < count);
			done += done < count;
		} else if (done < DEEP - 1) {
			struct scenario to = now;

			to.plan.global_batch = (int64_t)next(1000);
			to.plan.tp += (int64_t)next(2);
			to.cluster.scale = (double)next(7);
			assert_true(history_push(&history, &now, &to, "change"));
			kept[++done] = now = to;
			count = done;
		}
		assert_int_equal(history.done, done);
		assert_int_equal(history.count, count);
		assert_memory_equal(&now, &kept[done], sizeof now);
	}
	history_free(&history);
}

/* A click on the line of headings, or on the verdict above it, is no click on a stage.
 */
static void test_headings_of_memory_choose_nothing(void **state)
{
	static const int heights[] = { 24, 36, 60 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct stage s;

		stage_open(&s, "megatron-1t-3072-a100", 120, heights[i]);
		explorer_show(&s.explorer, VIEW_MEMORY);
		s.explorer.pane = PANE_VIEW;
		stage_type(&s, "jjj");
		assert_int_equal(s.explorer.state[VIEW_MEMORY].cursor, 3);
		for (int row = 0; row < 2; row++) {
			struct rect view = s.explorer.spots->view;

			stage_act(&s, (struct action){ ACTION_CLICK, 0, view.x + 2,
						       view.y + row });
			assert_int_equal(s.explorer.state[VIEW_MEMORY].cursor, 3);
		}
		stage_close(&s);
	}
}

/* Cells of the bar on one line of Memory, up to the last of its last part. */
static int filled(const struct stage *s, int row)
{
	struct rect view = s->explorer.spots->view;
	int from = view.x + 15, x = view.x + view.width - 1;

	while (x > from &&
	       s->canvas.cell[(view.y + row) * s->canvas.width + x].code != '%')
		x--;
	return x - from + 1;
}

/* Bars of stages that are too large go on behind the limit, each as far as it is. */
static void test_bars_go_on_behind_the_limit(void **state)
{
	struct stage s;
	const struct estimate *e;
	int first, last;
	double ratio;

	(void)state;
	stage_open(&s, "megatron-1t-3072-a100", 200, 24);
	explorer_show(&s.explorer, VIEW_MEMORY);
	case_set(&s.explorer.scenario, "recompute", "none");
	case_set(&s.explorer.scenario, "gpu_memory_gib", "10");
	explorer_update(&s.explorer);
	free(stage_text(&s));
	e = &s.explorer.estimate;
	assert_true(e->stage[9].total_bytes > 2 * e->capacity_bytes);
	/* below three rows of numbers, a line on the stage and the heading */
	first = filled(&s, 6);
	last = filled(&s, 15);
	ratio = e->stage[9].total_bytes / e->stage[0].total_bytes;
	assert_true(ratio < 0.95);
	assert_true(last > first * (ratio - 0.02) && last < first * (ratio + 0.02));
	stage_close(&s);
}

/* 72 accelerators in 18 nodes of 4 are one domain. */
static void test_topology_says_the_domain(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-70b-64-gb200", 120, 36);
	explorer_show(&s.explorer, VIEW_TOPOLOGY);
	stage_shows(&s, "4 per node, 64 per domain");
	stage_close(&s);
	stage_open(&s, "deepseek-v3-256-gb200", 120, 36);
	explorer_show(&s.explorer, VIEW_TOPOLOGY);
	/* 256 are four domains of 64, of 72 that each could hold */
	stage_shows(&s, "4 per node, 64 per domain");
	stage_close(&s);
}

static void test_what_was_undone_is_said_in_the_words_of_the_screen(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/mbs\n=4\nu");
	stage_shows(&s, "undone: micro-batch 2 again, was 4");
	stage_type(&s, "U");
	stage_shows(&s, "redone: micro-batch 4, was 2");
	stage_type(&s, "/tp\nhu");
	stage_shows(&s, "undone: TP tensor 8 again, was 4");
	/* another plan differs in more knobs than a line has room for */
	stage_type(&s, "ollama3-405b-16k-h100\nu");
	stage_shows(&s, "undone: opening llama3-405b-16k-h100");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_change_forgets_what_could_be_redone),
		cmocka_unit_test(test_a_change_takes_little),
		cmocka_unit_test(test_any_order_gives_the_state_it_had),
		cmocka_unit_test(test_headings_of_memory_choose_nothing),
		cmocka_unit_test(test_bars_go_on_behind_the_limit),
		cmocka_unit_test(test_topology_says_the_domain),
		cmocka_unit_test(
			test_what_was_undone_is_said_in_the_words_of_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
