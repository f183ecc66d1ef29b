/* test_reply.c - the answers of a terminal are told from what is typed. */
#include <string.h>

#include "tests/support/close.h"
#include "tui/reply.h"

struct sample {
	const char *bytes, *left;
	bool has_paper, has_fence, partial;
	uint32_t paper;
	int column;
};

static const struct sample samples[] = {
	{ "\033]11;rgb:1e1e/2828/3434\033\\", "", true, false, false, 0x1e2834, 0 },
	{ "\033]11;rgb:1e1e/2828/3434\a\033[?62;22c", "", true, true, false, 0x1e2834,
	  0 },
	{ "\033]11;rgb:f/0/8\a", "", true, false, false, 0xff0088, 0 },
	{ "\033]11;rgb:fff/000/800\a", "", true, false, false, 0xff0080, 0 },
	{ "\033]11;rgba:ff/fd/f6/80\a", "", true, false, false, 0xfffdf6, 0 },
	{ "ab\033]11;rgb:00/00/00\ac\033[?1cd", "abcd", true, true, false, 0, 0 },
	/* arrows, a paste and Escape stay */
	{ "\033[A\033OB\033\033[200~x", "\033[A\033OB\033\033[200~x", false, false,
	  false, 0, 0 },
	/* not a colour: no answer */
	{ "\033]11;?\a", "", false, false, false, 0, 0 },
	{ "\033]11;rgb:\a", "", false, false, false, 0, 0 },
	{ "\033]11;rgb:1e/28\a", "", false, false, false, 0, 0 },
	{ "\033]11;rgb:1e,28,34\a", "", false, false, false, 0, 0 },
	{ "\033]11;rgb:xx/yy/zz\a", "", false, false, false, 0, 0 },
	/* not all of it yet */
	{ "\033]11;rgb:1e1e/28", "\033]11;rgb:1e1e/28", false, false, true, 0, 0 },
	{ "\033]11;rgb:1/2/3\033", "\033]11;rgb:1/2/3\033", false, false, true, 0, 0 },
	{ "\033[?62", "\033[?62", false, false, true, 0, 0 },
	{ "", "", false, false, false, 0, 0 },
	/* where the cursor is */
	{ "a\033[9;4Rb", "ab", false, false, false, 0, 4 },
	{ "\033[9;2R\033[?1c", "", false, true, false, 0, 2 },
	{ "\033[9;3~", "", false, false, false, 0, 0 },
	{ "\033[9;1", "\033[9;1", false, false, true, 0, 0 },
	{ "\033[1;4R", "\033[1;4R", false, false, false, 0, 0 },
};

static void test_answers_are_taken_and_keys_are_left(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		const struct sample *s = &samples[i];
		struct reply reply = { 0 };
		char bytes[128];
		size_t left;

		memcpy(bytes, s->bytes, strlen(s->bytes) + 1);
		left = reply_take(bytes, strlen(s->bytes), &reply);
		if (left != strlen(s->left) || memcmp(bytes, s->left, left) != 0 ||
		    reply.has_paper != s->has_paper ||
		    reply.has_fence != s->has_fence || reply.paper != s->paper ||
		    reply.column != s->column ||
		    reply_is_partial(bytes, left) != s->partial)
			fail_msg("case %zu: %zu left, paper %d %06x, fence %d, "
				 "column %d",
				 i, left, reply.has_paper, (unsigned)reply.paper,
				 reply.has_fence, reply.column);
	}
}

/* Where two tabs led the cursor says nothing of the characters before, and the other
 * way round. */
static void test_two_tabs_lead_to_a_place(void **state)
{
	static const struct {
		const char *bytes;
		int column;
		bool tabbed;
	} samples_of_tabs[] = {
		{ "\033[9;4R\033[9;17R", 4, true },
		{ "\033[9;2R\033[9;9R", 2, false },
		{ "\033[9;17R", 0, true },
		{ "\033[9;4R", 4, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof samples_of_tabs / sizeof samples_of_tabs[0];
	     i++) {
		struct reply reply = { 0 };
		char bytes[64];

		strcpy(bytes, samples_of_tabs[i].bytes);
		assert_int_equal(reply_take(bytes, strlen(bytes), &reply), 0);
		assert_int_equal(reply.column, samples_of_tabs[i].column);
		assert_int_equal(reply.tabbed, samples_of_tabs[i].tabbed);
	}
}

/* However the bytes come in pieces, the same is taken. */
static void test_pieces_make_the_same_answer(void **state)
{
	static const char whole[] =
		"k\033]11;rgb:1e1e/2828/3434\033\\l\033[?62;4cm\033[9;4Rn";

	(void)state;
	for (size_t cut = 0; cut < sizeof whole; cut++) {
		struct reply reply = { 0 };
		char bytes[128];
		size_t left;

		memcpy(bytes, whole, cut);
		left = reply_take(bytes, cut, &reply);
		memcpy(bytes + left, whole + cut, strlen(whole) - cut + 1);
		left = reply_take(bytes, left + strlen(whole) - cut, &reply);
		assert_int_equal(left, 4);
		assert_memory_equal(bytes, "klmn", 4);
		assert_true(reply.has_paper && reply.has_fence);
		assert_int_equal(reply.paper, 0x1e2834);
		assert_int_equal(reply.column, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_are_taken_and_keys_are_left),
		cmocka_unit_test(test_two_tabs_lead_to_a_place),
		cmocka_unit_test(test_pieces_make_the_same_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
