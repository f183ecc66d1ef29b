/* test_remedies.c - what Enter offers for a plan that can't run leads to one that can,
 * by one knob or by several together. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/explorer/linear.h"

static int count_remedies(const struct stage *s)
{
	int count = 0;

	for (int i = 0; i < s->explorer.spots->count; i++)
		count += s->explorer.spots->item[i].kind == SPOT_REMEDY;
	return count;
}

/* The n-th remedy is taken, and taken back. */
static void take(struct stage *s, int n, const char *what)
{
	const struct spots *spots = s->explorer.spots;

	for (int i = 0; i < spots->count; i++) {
		if (spots->item[i].kind != SPOT_REMEDY || n-- > 0)
			continue;
		strcpy(s->explorer.state[s->explorer.view].key, spots->item[i].key);
		break;
	}
	stage_type(s, "\n");
	if (!s->explorer.estimate.legal) {
		stage_lacks(s, "THIS PLAN CAN'T RUN");
		fail_msg("%s: Enter leads to a plan that can't run", what);
	}
	stage_type(s, "u");
	assert_false(s->explorer.estimate.legal);
}

static void test_each_remedy_leads_to_a_legal_plan(void **state)
{
	static const char *const plans[] = { NULL, "deepseek-v3-2048-h800",
					     "mixtral-8x7b-64-h100",
					     "palm-540b-6144-tpuv4",
					     "llama3.1-70b-4-h100-serve" };
	static const char *const wrong[] = { "/tp\n=3\n",
					     "/tp\n=3\n/pp\n=5\n",
					     "/seq\n=8191\n/cp\n=3\n",
					     "/pp\n=3\n/tp\n=12\n",
					     "/gbs\n=7\n/mbs\n=2\n",
					     "/tp\n=7\n/pp\n=7\n/gbs\n=9\n",
					     "/gpus\n=17\n/tp\n=5\n" };
	struct stage s;

	(void)state;
	for (size_t p = 0; p < sizeof plans / sizeof plans[0]; p++)
		for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
			stage_open(&s, plans[p], 120, 36);
			stage_type(&s, wrong[w]);
			stage_lacks(&s, "breaks another rule");
			if (!s.explorer.estimate.legal) {
				stage_type(&s, "\t");
				for (int i = 0; i < count_remedies(&s); i++)
					take(&s, i, wrong[w]);
			}
			stage_close(&s);
		}
}

/* No value of TP or of PP alone makes TP 3 x PP 5 legal on 64 GPUs. The nearest, TP 4,
 * does not fit: the way ends at TP 8. */
static void test_knobs_mend_a_plan_together(void **state)
{
	static const char *const sizes[] = { "1", "2", "3", "4", "5", "6" };
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/tp\n=3\n/pp\n=5\n");
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		stage_type(&s, sizes[i]);
		stage_shows(
			&s,
			"Tab Enter sets TP tensor 8, PP pipeline 4: 868 tok/s per GPU, 71.5 GiB");
		stage_lacks(&s, "Enter here");
	}
	stage_type(&s, "\t\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	assert_int_equal(s.explorer.scenario.plan.pp, 4);
	assert_true(s.explorer.estimate.feasible);
	/* one undo for both */
	stage_type(&s, "u");
	assert_int_equal(s.explorer.scenario.plan.tp, 3);
	assert_int_equal(s.explorer.scenario.plan.pp, 5);
	stage_close(&s);
	stage_open(&s, NULL, 80, 24);
	stage_type(&s, "/tp\n=3\n/pp\n=5\n");
	stage_shows(&s, "Tab Enter sets TP tensor 8, PP pipeline 4: 868");
	stage_close(&s);
}

/* Below the reasons stands what the last plan had, without the legend of a bar that
 * they cover. */
static void test_no_legend_is_left_without_its_bar(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	s.canvas.colour = true;
	s.canvas.glyphs = GLYPHS_FULL;
	stage_type(&s, "k");
	stage_shows(&s, "\u2588 optimizer");
	stage_type(&s, "/tp\n=3\n/pp\n=5\n");
	stage_shows(&s, " the last plan that ran ");
	stage_shows(&s, "idle/ideal");
	stage_lacks(&s, "\u2588 optimizer");
	stage_close(&s);
}

/* Line by line the same is said. */
static void test_lines_say_the_way_out(void **state)
{
	static const char lines[] = "tp 3\npp 5\nq\n";
	struct stage s;
	char *said = NULL;
	size_t size = 0;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	struct linear linear = { .explorer = &s.explorer,
				 .in = fmemopen((void *)(size_t)lines, strlen(lines),
						"r"),
				 .out = open_memstream(&said, &size) };
	assert_int_equal(linear_run(&linear), 0);
	fclose(linear.in);
	fclose(linear.out);
	if (!strstr(said, "try tp 8, pp 4 together\n") || strstr(said, "gpus 60"))
		fail_msg("%s", said);
	free(said);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_remedy_leads_to_a_legal_plan),
		cmocka_unit_test(test_knobs_mend_a_plan_together),
		cmocka_unit_test(test_no_legend_is_left_without_its_bar),
		cmocka_unit_test(test_lines_say_the_way_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
