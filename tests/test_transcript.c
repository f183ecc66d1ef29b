/* test_transcript.c - the lesson on the bubble as its reader sees it, as a golden text:
 * who has never met the word can say from it what a pipeline bubble is and what makes
 * it small.
 *
 * Numbers in it move when the model behind them is mended: read the difference aloud,
 * then run `make screens` to write it anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/explorer/course.h"
#include "tui/explorer/linear.h"

/* What is said to these lines in a lesson; to be freed. */
static char *talk(const char *name, const char *lines)
{
	struct stage stage;
	struct linear linear = { .explorer = &stage.explorer, .glyphs = GLYPHS_ASCII };
	struct error error = { "" };
	char *said = NULL;
	size_t size;

	stage_open(&stage, NULL, 80, 24);
	assert_true(course_open(&stage.explorer, name, NULL, &error));
	linear.in = fmemopen((void *)(size_t)lines, strlen(lines), "r");
	linear.out = open_memstream(&said, &size);
	assert_non_null(linear.in);
	assert_non_null(linear.out);
	assert_int_equal(linear_run(&linear), 0);
	fclose(linear.in);
	fclose(linear.out);
	stage_close(&stage);
	return said;
}

/* All that a reader of the lesson on the bubble is told, with a wrong first answer:
 * what a bubble is and what makes it small has to stand in it. */
static void test_the_lesson_on_the_bubble_reads_as_it_did(void **state)
{
	static const char path[] = "tests/screens/lesson-bubble.txt";
	char *said =
		talk("bubble", "\n\n20\nhint\n40\ngbs 16\n\n2\n\n\nhint\ngbs 128\n\n");
	char *golden = calloc(1, 1 << 16);
	FILE *file = fopen(path, "r");

	(void)state;
	assert_non_null(golden);
	if (file) {
		assert_true(fread(golden, 1, (1 << 16) - 1, file) < (1 << 16) - 1);
		fclose(file);
	}
	if (getenv("SHARDSCOPE_WRITE_SCREENS")) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(said, file);
		fclose(file);
	} else if (strcmp(golden, said) != 0) {
		print_error("%s differs; it is now\n%s\n", path, said);
		fail();
	}
	assert_non_null(strstr(said, "That waiting is the bubble."));
	assert_non_null(strstr(said, "Many micro-batches make its share small"));
	free(golden);
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_lesson_on_the_bubble_reads_as_it_did),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
