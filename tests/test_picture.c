/* test_picture.c - the chart of the view Timeline is drawn once for what it shows: keys
 * that change nothing in it find it kept, and what is kept is what would be drawn. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/stage.h"

static void forget(struct spots *spots)
{
	for (int i = 0; i < 2; i++) {
		free(spots->picture[i]);
		spots->picture[i] = NULL;
	}
}

/* The screen as it is, and as it is drawn from nothing. */
static void check_same(struct stage *s, const char *after)
{
	char *kept = stage_text(s), *anew;

	forget(s->explorer.drawn);
	anew = stage_text(s);
	if (strcmp(kept, anew) != 0)
		fail_msg("after '%s':\n%s\nis to be\n%s", after, kept, anew);
	free(kept);
	free(anew);
}

static void test_what_is_kept_is_what_would_be_drawn(void **state)
{
	static const char *const keys[] = {
		"3", "j", "h", "\t", "j",  "+", "+", ".", ".", ",", "S", "\t",
		"p", "l", "l", "u",  "\t", "j", "-", "-", "p", "4", "3", "\33"
	};
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-70b-64-h100", 120, 36);
	for (int size = 0; size < 2; size++) {
		assert_true(canvas_resize(&s.canvas, size ? 80 : 120, size ? 24 : 36));
		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
			stage_type(&s, keys[i]);
			check_same(&s, keys[i]);
		}
	}
	stage_close(&s);
}

/* A new picture is made before the old one is freed: the same place is the same one. */
static void test_keys_that_change_nothing_draw_nothing(void **state)
{
	const struct picture *picture;
	struct stage s;

	(void)state;
	stage_open(&s, "megatron-1t-3072-a100", 200, 60);
	stage_type(&s, "3G");
	free(stage_text(&s));
	picture = s.explorer.spots->picture[0];
	assert_non_null(picture);
	for (int i = 0; i < 3; i++) {
		stage_type(&s, "j");
		free(stage_text(&s));
		assert_ptr_equal(s.explorer.spots->picture[0], picture);
	}
	stage_type(&s, "+");
	free(stage_text(&s));
	assert_ptr_not_equal(s.explorer.spots->picture[0], picture);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_kept_is_what_would_be_drawn),
		cmocka_unit_test(test_keys_that_change_nothing_draw_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
