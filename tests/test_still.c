/* test_still.c - what a turn leaves where it was, and the shortest names of colours: a
 * key sends what differs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/sgr.h"

/* The row of the screen that holds the text, -1: none. */
static int row_of(struct stage *s, const char *text)
{
	char *screen = stage_text(s), *at = strstr(screen, text);
	int row = at ? 0 : -1;

	for (char *c = screen; at && c < at; c++)
		row += *c == '\n';
	free(screen);
	return row;
}

/* Colours of 24 bits that the table of 256 has are named by their place, but for those
 * places that users fill; what is counted is what is written. */
static void test_colours_have_short_names(void **state)
{
	static const struct {
		int colour;
		const char *name;
	} known[] = {
		{ 0x000000, "38;2;0;0;0;" },   { 0x0000ff, "38;2;0;0;255;" },
		{ 0x005f00, "38;5;22;" },      { 0x5fd7af, "38;5;79;" },
		{ 0xffffff, "38;5;231;" },     { 0x080808, "38;5;232;" },
		{ 0xeeeeee, "38;5;255;" },     { 0x5fd7b0, "38;2;95;215;176;" },
		{ 0xfe0000, "38;2;254;0;0;" }, { -1, "39;" },
	};
	const struct look plain = { .fore = -1, .back = -1 };
	char text[96];

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		struct look look = { .fore = known[i].colour, .back = -1, .bold = 1 };
		struct look from = { .fore = 0x123456, .back = -1, .bold = 1 };

		sgr_changes(text, sizeof text, from, look, true);
		assert_string_equal(text, known[i].name);
	}
	for (int colour = -1; colour < 1 << 24; colour += 257) {
		struct look look = { .fore = colour, .back = colour / 2, .bold = 1 };

		assert_int_equal(sgr_changes(text, sizeof text, plain, look, true),
				 sgr_length(plain, look, true));
		assert_int_equal(strlen(text), sgr_length(plain, look, true));
	}
	for (int colour = 0; colour < 256; colour++) {
		char name[16];
		uint32_t rgb = theme_rgb256(colour < 16 ? 16 : colour);
		struct look look = { .fore = (int)rgb, .back = -1 };

		/* the table of sgr.c is theme.c's */
		snprintf(name, sizeof name, "38;5;%d;", colour);
		sgr_changes(text, sizeof text, plain, look, true);
		if (colour > 21)
			assert_int_equal(strncmp(text, "38;5;", 5), 0);
		if (colour > 21 && colour < 232)
			assert_string_equal(text, name);
	}
}

/* Where not all boxes of a layer have room, those that have end above the sum, however
 * long the table is. */
static void test_boxes_stand_at_the_foot(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama2-70b-128-a100-fsdp", 120, 36);
	stage_type(&s, "5/TP\n");
	for (int i = 0; i < 2; i++) {
		int sum = row_of(&s, "forward  #"), box = row_of(&s, "|>");

		assert_true(sum > 0);
		assert_true(box > 0);
		/* the last line of boxes has its times two rows above its end */
		char *screen = stage_text(&s), *row = screen;

		for (int y = 0; y < sum - 2; y++)
			row = strchr(row, '\n') + 1;
		assert_non_null(strstr(row, "+-----------------+"));
		free(screen);
		stage_type(&s, i ? "u" : "h");
	}
	stage_close(&s);
}

/* A server that has no room for prompts beside decoding requests has its table where
 * one stands that has. */
static void test_operators_of_passes_stay(void **state)
{
	struct stage s;
	int row;

	(void)state;
	stage_open(&s, "llama3.1-70b-2-h100-serve", 120, 36);
	stage_type(&s, "3/TP\n");
	stage_shows(&s, "of passes carry");
	row = row_of(&s, "input norm");
	assert_true(row > 0);
	assert_true(row_of(&s, "| passes") > row);
	stage_type(&s, "h");
	stage_shows(&s, "no pass carries");
	assert_int_equal(row_of(&s, "input norm"), row);
	stage_close(&s);
}

/* Boxes in a row around the rank are whole lines, and a gap follows them, whatever the
 * groups are: a turn of PP leaves them where they are. */
static void test_boxes_of_nodes_stay(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "palm-540b-6144-tpuv4", 120, 36);
	stage_type(&s, "6/PP\n");
	for (int i = 0; i < 2; i++) {
		stage_shows(&s, "+node 0---+ +node 1---+ +node 2---+ +node 3---+ "
				"+node 4---+ +node 5---+");
		stage_shows(&s, "|  3 alike   =| d . . . |= 2 alike   =| d . . . |");
		assert_int_equal(row_of(&s, "+node 6"), -1);
		stage_type(&s, "l");
	}
	stage_close(&s);
	/* where the others have no need of the room there are more */
	stage_open(&s, "megatron-18b-256-a100", 120, 36);
	stage_type(&s, "6/PP\nl");
	stage_shows(&s, "+node 13-+");
	stage_shows(&s, "|            +node 16-+            +node 31-+");
	stage_shows(&s, "|  2 alike  =|p.......|= 14 alike =|........|");
	stage_close(&s);
}

/* A few words stand behind the sentence of the knob; what a pin does is said until its
 * first change was seen. */
static void test_sentences_stay(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-70b-64-h100", 120, 36);
	stage_type(&s, "/TP\nhhhhhhhhh");
	stage_shows(&s, "so keep it on the fastest links.  first value");
	stage_type(&s, "j");
	stage_lacks(&s, "first value");
	stage_type(&s, "pk");
	stage_lacks(&s, "pinned: every number");
	stage_type(&s, "ppl");
	stage_shows(&s, "pinned: every number now shows its change");
	stage_type(&s, "l");
	stage_lacks(&s, "pinned: every number");
	stage_type(&s, "pp");
	stage_shows(&s, "pinned: every number");
	stage_type(&s, "u");
	stage_lacks(&s, "pinned: every number");
	stage_close(&s);
}

/* Of a plan that can't run every view that has no other to show says why, Topology
 * too. */
static void test_every_view_says_why(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-8b-8-h100", 80, 24);
	s.explorer.scenario.cluster.gpus = 1;
	s.explorer.scenario.plan.global_batch = 8;
	explorer_update(&s.explorer);
	for (const char *view = "1234568"; *view != '\0'; view++) {
		stage_key(&s, *view);
		if (*view != '8')
			stage_shows(&s, "X7");
	}
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_colours_have_short_names),
		cmocka_unit_test(test_boxes_stand_at_the_foot),
		cmocka_unit_test(test_operators_of_passes_stay),
		cmocka_unit_test(test_boxes_of_nodes_stay),
		cmocka_unit_test(test_sentences_stay),
		cmocka_unit_test(test_every_view_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
