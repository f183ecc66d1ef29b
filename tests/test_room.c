/* test_room.c - a large screen is used: in every view of every plan no more than a
 * third of the rows is left empty, nor a quarter in one piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/formats.h"
#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/explorer/last.h"
#include "tui/view.h"

/* Rows of the view without a character. */
struct room {
	int empty, gap; /* all; the most of them one below the other */
};

static struct room room_of(const struct stage *s, struct rect view)
{
	struct room room = { 0, 0 };
	int gap = 0;

	for (int y = view.y; y < view.y + view.height; y++) {
		bool blank = true;

		for (int x = view.x; x < view.x + view.width && blank; x++)
			blank = s->canvas.cell[y * s->canvas.width + x].code == ' ';
		gap = blank ? gap + 1 : 0;
		room.empty += blank;
		room.gap = gap > room.gap ? gap : room.gap;
	}
	return room;
}

static bool has_room_to_spare(const char *plan, int view)
{
	struct stage s;
	struct rect rect;
	struct room room;
	bool spare;

	stage_open(&s, plan, 200, 60);
	explorer_show(&s.explorer, (enum view_id)view);
	free(stage_text(&s));
	rect = s.explorer.spots->view;
	room = room_of(&s, rect);
	spare = room.empty * 3 > rect.height || room.gap * 4 > rect.height;
	if (spare)
		print_error("%s, %s: %d of %d rows are empty, %d together\n", plan,
			    view_table[view].name, room.empty, rect.height, room.gap);
	stage_close(&s);
	return spare;
}

static void test_no_view_wastes_a_large_screen(void **state)
{
	const struct preset *list;
	int count;
	int bad = 0;

	(void)state;
	count = preset_list(PRESET_PLAN, &list);
	for (int i = 0; i < count; i++)
		for (int view = 0; view < VIEW_COUNT; view++)
			if (view != VIEW_HELP)
				bad += has_room_to_spare(list[i].name, view);
	assert_int_equal(bad, 0);
}

/* Plans that have no numbers, or few: a server without room for a request, a plan that
 * breaks a rule or does not fit, as it is opened and as it was turned to; one GPU. */
static const struct {
	const char *plan, *model, *knobs; /* of a server: of what, and how; or NULL */
	const char *keys;
	bool opened; /* no plan ran before */
} odd[] = {
	{ "llama3.1-70b-4-h100-serve", NULL, NULL, "/tp\n=1\n/pp\n=1\n", false },
	{ NULL, "llama3.1-70b", "gpus=1", "", true },
	{ NULL, "llama3.1-405b", "gpus=8 tp=4 pp=2", "", true },
	{ NULL, "llama3.1-70b", "gpus=2 tp=2 prompt=128000", "", true },
	{ "llama3-70b-64-h100", NULL, NULL, "/tp\n=3\n", false },
	{ "llama3-70b-64-h100", NULL, NULL, "/tp\n=3\n", true },
	{ "llama3.1-70b-4-h100-serve", NULL, NULL, "/tp\n=3\n", true },
	{ "llama3-70b-64-h100", NULL, NULL, "/mbs\n=4\n", false },
	{ "llama3-70b-64-h100", NULL, NULL, "/tp\n=1\n/pp\n=1\n", false },
	{ "llama3-8b-8-h100", NULL, NULL, "/gpus\n=1\n", false },
	{ "qwen3-30b-a3b-1-b200-serve", NULL, NULL, "", false },
};

/* `more` rows above a third. */
static bool is_wasted(const struct stage *s, struct rect view, size_t at,
		      const char *what, int more)
{
	struct room room = room_of(s, view);

	if ((room.empty - more) * 3 <= view.height)
		return false;
	print_error("odd plan %zu, %s: %d of %d rows are empty\n", at, what, room.empty,
		    view.height);
	return true;
}

static int waste_of(size_t at, int view)
{
	struct stage s;
	int bad;

	stage_open(&s, odd[at].plan, 200, 60);
	if (odd[at].model)
		stage_serve(&s, odd[at].model, "dgx-h100", "vllm", odd[at].knobs);
	stage_type(&s, odd[at].keys);
	if (odd[at].opened)
		last_free(&s.explorer);
	if (view_table[view].tab)
		explorer_show(&s.explorer, (enum view_id)view);
	else
		stage_type(&s, view == VIEW_HELP ? "?" : "i");
	free(stage_text(&s));
	bad = is_wasted(&s, s.explorer.spots->view, at, view_table[view].name, 0);
	/* between the parts of an explanation there is a blank row */
	if (s.explorer.spots_beside->view.height > 0)
		bad += is_wasted(&s, s.explorer.spots_beside->view, at, "beside it", 1);
	stage_close(&s);
	return bad;
}

static void test_odd_plans_waste_none(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t at = 0; at < sizeof odd / sizeof odd[0]; at++)
		for (int view = 0; view < VIEW_COUNT; view++)
			bad += waste_of(at, view);
	assert_int_equal(bad, 0);
}

/* Of such a plan there is what mends it, and the view as the first remedy makes it. */
static void test_remedies_are_drawn(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 200, 60);
	stage_serve(&s, "llama3.1-70b", "dgx-h100", "vllm", "gpus=1");
	last_free(&s.explorer);
	stage_shows(&s, "sets GPUs 2, TP tensor 2: ");
	stage_shows(&s, "the same plan with GPUs 2, TP tensor 2");
	stage_shows(&s, "memory at each value of TP tensor: none fits");
	stage_type(&s, "1");
	stage_shows(&s, "room for");
	stage_type(&s, "\t\n");
	assert_int_equal(s.explorer.scenario.cluster.gpus, 2);
	assert_int_equal(s.explorer.scenario.plan.tp, 2);
	assert_true(s.explorer.estimate.feasible);
	stage_lacks(&s, "the same plan with");
	stage_close(&s);
	/* of a plan that breaks a rule, and what stands there is no plan that ran */
	stage_open(&s, "llama3-70b-64-h100", 200, 60);
	stage_type(&s, "/tp\n=3\n");
	last_free(&s.explorer);
	stage_shows(&s, "the same plan with TP tensor 8");
	stage_type(&s, "=5\n");
	stage_shows(&s, "the same plan with TP tensor");
	stage_type(&s, "=8\n=3\n");
	stage_shows(&s, "the last plan that ran");
	stage_close(&s);
}

/* Nor does the view beside it: what it leaves explains the number under the cursor. */
static void test_no_view_beside_wastes_it(void **state)
{
	static const char *const plans[] = { "deepseek-v3-2048-h800",
					     "llama3.1-70b-4-h100-serve" };
	struct stage s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		stage_open(&s, plans[i], 200, 60);
		stage_type(&s, "2|||");
		for (int next = 0; next < 6; next++) {
			struct rect rect;

			free(stage_text(&s));
			rect = s.explorer.spots_beside->view;
			assert_true(room_of(&s, rect).empty * 3 <= rect.height);
			stage_type(&s, "|");
		}
		stage_close(&s);
	}
	stage_open(&s, "deepseek-v3-2048-h800", 200, 60);
	stage_type(&s, "2||");
	for (int next = 0; next < 6 && beside_view(&s.explorer, 200) != VIEW_TRAFFIC;
	     next++)
		stage_type(&s, "|");
	stage_shows(&s, "- explain --");
	stage_shows(&s, "total_bytes");
	stage_close(&s);
}

/* Beside Explain stands what it was opened over, and below a short view Overview: of a
 * plan that can't run the last one that ran. */
static void test_explain_leaves_no_view_empty(void **state)
{
	static const char *const plans[] = { "llama3-8b-8-h100",
					     "deepseek-v3-352-h800-serve" };
	struct stage s;
	struct rect rect;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		stage_open(&s, plans[i], 200, 60);
		stage_type(&s, "28");
		stage_shows(&s, "- overview --");
		rect = s.explorer.spots_beside->view;
		assert_true(room_of(&s, rect).empty * 3 <= rect.height);
		stage_type(&s, "/tp\n=7\n");
		assert_false(s.explorer.estimate.legal);
		stage_shows(&s, "the last plan that ran");
		stage_shows(&s, "each part, and the limit");
		stage_lacks(&s, "in this scenario");
		assert_true(room_of(&s, rect).empty * 2 <= rect.height);
		stage_close(&s);
	}
	/* the plan that ran last, though it never stood there */
	stage_open(&s, "llama3-8b-8-h100", 200, 60);
	stage_type(&s, "2/tp\n=7\n8");
	stage_shows(&s, "the last plan that ran");
	stage_close(&s);
}

/* A change stands apart from its number: "33.6 % -8.6", not "33.6 %-8.6pt". */
static void test_a_change_stands_apart(void **state)
{
	static const char *const glued[] = { "%-", "%+" };
	struct stage s;
	char *text;

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		stage_open(&s, "deepseek-v2-2048-h800", wide ? 200 : 120,
			   wide ? 60 : 36);
		for (const char *key = "phhllllhh"; *key != '\0'; key++) {
			stage_key(&s, *key);
			text = stage_text(&s);
			for (size_t i = 0; i < 2; i++)
				for (char *at = text; (at = strstr(at, glued[i])); at++)
					assert_false(at[2] >= '0' && at[2] <= '9');
			free(text);
		}
		stage_close(&s);
	}
}

/* The knobs' own pane says below them what the one under the cursor means; not while a
 * lesson asks for it. */
static void test_the_knob_is_told_where_there_is_room(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 200, 60);
	stage_shows(&s, "- TP tensor --");
	stage_shows(&s, "Into how many parts each matrix");
	stage_shows(&s, "why change it");
	stage_type(&s, "jj");
	stage_shows(&s, "- PP pipeline --");
	stage_shows(&s, "Into how many stages the layers");
	assert_true(room_of(&s, s.explorer.spots->knobs).empty * 4 <
		    s.explorer.spots->knobs.height);
	stage_close(&s);
	/* nor the stage that holds most, whatever its numbers */
	stage_open(&s, "llama3-405b-16k-h100", 160, 48);
	stage_type(&s, "3");
	stage_shows(&s, "on stage 0");
	stage_close(&s);
	/* where the list of exports cuts a sentence it stands above it */
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "ebridge");
	stage_shows(&s, "bridge: overrides of a Megatron-Bridge configuration");
	stage_close(&s);
	/* where it has none the list has it all */
	stage_open(&s, NULL, 120, 36);
	stage_lacks(&s, "- TP tensor --");
	stage_close(&s);
}

/* Nor is a sentence cut where there is room for it. */
static void test_lists_say_all_of_it(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 200, 60);
	stage_type(&s, "e");
	for (int i = 0; i < format_count(); i++) {
		char line[128];

		if (!format_table[i].out.write ||
		    !format_suits(&format_table[i], &s.explorer.scenario, NULL))
			continue;
		snprintf(line, sizeof line, "%-17s %s", format_table[i].name,
			 format_table[i].out.help);
		stage_shows(&s, line);
	}
	stage_close(&s);
}

/* Of a plan that was opened so and can't run, the strip is tall. */
static void test_reasons_alone_leave_half_a_screen_at_most(void **state)
{
	struct stage s;
	struct rect rect;

	(void)state;
	stage_open(&s, NULL, 200, 60);
	stage_type(&s, "=3\n");
	last_forget(&s.explorer);
	stage_shows(&s, "THIS PLAN CAN'T RUN");
	stage_lacks(&s, "the last plan that ran");
	rect = s.explorer.spots->view;
	assert_true(room_of(&s, rect).empty * 2 <= rect.height);
	stage_close(&s);
}

/* What explains stands beside the view that it explains, whatever lies between; where
 * nothing is wanted beside, and of a search, it is there alone. */
static void test_help_stands_beside_its_view(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 200, 60);
	stage_type(&s, "2?");
	stage_shows(&s, "- memory -");
	stage_shows(&s, "- help -");
	stage_shows(&s, "fullest is stage 0 of 4");
	stage_shows(&s, "What each pipeline stage holds at its peak");
	stage_type(&s, "i");
	stage_shows(&s, "- memory -");
	stage_shows(&s, "- glossary -");
	stage_type(&s, "\33\33");
	stage_shows(&s, "- memory -");
	stage_shows(&s, "- explain -");
	stage_type(&s, "7?");
	stage_shows(&s, "- help -");
	stage_lacks(&s, "- search -");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_view_wastes_a_large_screen),
		cmocka_unit_test(test_odd_plans_waste_none),
		cmocka_unit_test(test_remedies_are_drawn),
		cmocka_unit_test(test_no_view_beside_wastes_it),
		cmocka_unit_test(test_explain_leaves_no_view_empty),
		cmocka_unit_test(test_a_change_stands_apart),
		cmocka_unit_test(test_the_knob_is_told_where_there_is_room),
		cmocka_unit_test(test_lists_say_all_of_it),
		cmocka_unit_test(test_help_stands_beside_its_view),
		cmocka_unit_test(test_reasons_alone_leave_half_a_screen_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
