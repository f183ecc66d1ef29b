/* test_linear.c - the explorer as a conversation: what is said to each line, and that a
 * terminal that can't move its cursor gets it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tests/support/vt.h"
#include "tui/explorer/linear.h"

/* What is said to these lines, on the built-in start; to be freed. */
static char *talk_in(const char *lines, enum glyph_level glyphs, int width)
{
	struct stage stage;
	struct linear linear = { .explorer = &stage.explorer,
				 .glyphs = glyphs,
				 .line = { .width = width } };
	char *said = NULL;
	size_t size;

	stage_open(&stage, NULL, 80, 24);
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

static char *talk(const char *lines, enum glyph_level glyphs)
{
	return talk_in(lines, glyphs, 0);
}

static const struct sample {
	const char *lines, *said, *unsaid;
} samples[] = {
	{ "\n",
	  "llama3.1-70b on 64 x h100-sxm-80g with megatron-core. 868 tok/s per "
	  "GPU. Fits, 71.5 GiB.\n",
	  NULL },
	{ "pp 8\n",
	  "PP pipeline 8, was 4. 829 tok/s per GPU, down 4.6 %. Fits, 66.0 GiB, down "
	  "7.7 %.\n",
	  NULL },
	{ "pp=8\n", "PP pipeline 8, was 4.", NULL },
	{ "pp up\n", "PP pipeline 8, was 4.", NULL },
	{ "pp down\n", "PP pipeline 2, was 4.", NULL },
	{ "  global batch   128  \n", "global batch 128, was 256.", NULL },
	{ "tp 4\n", "Does not fit, ", NULL },
	{ "tp 3\n", "This plan can't run.\n", "tok/s per GPU, " },
	{ "tp 3\n", "; try tp 8, 2 or 4\n", NULL },
	{ "tp three\n", "tp takes a number", "was" },
	{ "tp\n", "8 868, 16 688, 32 illegal", NULL },
	{ "pp 8\nu\n",
	  "undone: PP pipeline 4 again, was 8\n868 tok/s per GPU, up 4.8 %.", NULL },
	{ "undo\n", "nothing to undo\n", NULL },
	{ "memory\n", "  activations 41.9 GiB\n", "step " },
	{ "numbers time\n", "step 37.7 s\n", "activations" },
	{ "why mfu\n", "  F is 449 GFLOP, model FLOPs per token\n", NULL },
	{ "why bubble ratio\n", "arXiv 2006.09503", NULL },
	{ "why bubble ratio\n", "To compare with:\n  p is 4, stages\n", NULL },
	{ "tp 3\nwhy mfu\n", "This plan can't run.", "GFLOP" },
	{ "take 1\n", "search first\n", NULL },
	{ "search\ntake 99\n", "take a number from 1 to ", NULL },
	{ "search\n",
	  " plans. The first gives 16.4 % more than yours.\n  1: micro-batch 1, TP "
	  "tensor 2, SP sequence off, CP context 2, ZeRO 3, recompute selective, "
	  "modules layernorm. 1011 tok/s per GPU, 71.0 GiB, in parts.\n",
	  "mbs1" },
	{ "tp 3\nsearch\n", " plans. Yours can't run.\n  1: ", NULL },
	{ "search\ntake 1\n", "took plan 1 of the search", NULL },
	{ "advice\n", "fp8", NULL },
	{ "open no-such-plan\n", "no-such-plan", NULL },
	{ "open llama3-405b-16k-h100\n", "405b", NULL },
	/* a word alone: what it means, and nothing is turned by a phrase */
	{ "what bubble\n", "a pipeline stage has nothing to do", "takes a number" },
	{ "What is a bubble?\n", "a pipeline stage has nothing to do", "no knob" },
	{ "what does mfu mean\n", "Here MFU is 39.4 %; why mfu tells", NULL },
	{ "what tp\n", "TP tensor (tp), here 8.\nInto how many parts", NULL },
	{ "explain bubble\n", "idle / phase = 7.3 %", "no knob" },
	{ "why tp\n", "TP tensor (tp), here 8.", "301 GB" },
	{ "why tp.bytes\n", "301 GB", NULL },
	{ "what\n", "For example: what bubble, what tp, why mfu", NULL },
	{ "mfu\n", "449 GFLOP", NULL },
	{ "knobs\n", "overlap:\n  overlap_grad_reduce: DP gradients on\n", NULL },
	{ "cost\n", "What the run costs", "CO2" },
	{ "set tp 16\n", "TP tensor 16, was 8.", NULL },
	{ "set\n", "set what?", NULL },
	{ "batch 256\n",
	  "batch may be micro-batch (mbs 256) or global batch (gbs 256)\n", "was" },
	{ "context 32k\n", "context may be CP context (cp 32k) or sequence (seq 32k)\n",
	  "was" },
	{ "nodes 4\n", "nodes is about GPUs, which is 64; gpus 32 would set that\n",
	  "was" },
	{ "micro-batches\n", "micro-batches 64 per pipeline, of a global batch of 256.",
	  "no knob" },
	{ "micro-batches 64\n", "micro-batches 64 per pipeline", "global batch is" },
	{ "micro-batches 8\n", "global batch 32, was 256.", NULL },
	{ "micro-batches none\n", "micro-batches 64 per pipeline", "was" },
	{ "price 4\n", "Fits, 71.5 GiB. Cost $129 k, up 33.8 %.", NULL },
	{ "pp 8\n", "Fits, 66.0 GiB, down 7.7 %.\n", "Cost" },
	{ "tp 3\nmicro-batches\n", "This plan can't run.", "micro-batches 0" },
	{ "gbs 32\nmicro-batches\n", "micro-batches 8 per pipeline", NULL },
	{ "fsdp 3\n", "zero 3 would set that\n", "was" },
	{ "vpp\n", "  It has no effect in this plan.\n", "868, " },
	{ "leaf_gpus\n",
	  "  All values give the same. Leaf switches cost nothing where ", NULL },
	{ "tp\n", "4 does not fit, 8 868, ", "All values give the same" },
	{ "mode inference\npp 1\ntp 1\n",
	  "No request fits beside the weights. Does not fit, ", "TPOT 0 s" },
	{ "tp 3\nprice\n", "  No value of this knob alone makes the plan run.\n",
	  "illegal, " },
	/* what is nothing, and what is near it */
	{ "frobnicate 3\n", "'frobnicate 3' is not a knob, number or term; help lists",
	  "similar" },
	{ "nvl72\n", "; open gb200-nvl72 opens that; help", NULL },
	{ "buble\n", "similar: bubble", NULL },
	{ "tensr 4\n", "similar: tp;", NULL },
	{ "undoo\n", "similar: undo;", NULL },
	{ "memry\n", "similar: memory", NULL },
	{ "faster\n", "similar: advice", NULL },
	{ "how do I\n", "'how do I' is not a knob, number or term; help", NULL },
	{ "x\n", "'x' is not a knob, number or term; help", NULL },
	/* the rows above the knobs, as the knobs */
	{ "model deepseek-v3\n", "opened deepseek-v3; u goes back", "is no knob" },
	{ "cluster=dgx-h200\n", "opened dgx-h200; u goes back", "is no knob" },
	{ "set stack torchtitan\n", "opened torchtitan; u goes back", "is no knob" },
	{ "cluster dgx-h20\n", "no cluster 'dgx-h20'; near: ", "no plan" },
	{ "open dgx-h20\n", "no cluster 'dgx-h20'; near: ", "no plan" },
	{ "open llama3.1-71b\n", "no model 'llama3.1-71b'; near: ", "no plan" },
	{ "timeline\n", "Timeline is a picture in the full-screen explorer", NULL },
	{ "?\n", "quit or q: leave; the workspace is kept\n", NULL },
	{ "q\npp 8\n", "868", "829" },
};

/* Opened by its number or from the list of them. */
static void test_a_lesson_that_is_opened_is_said_once(void **state)
{
	static const char *const ways[] = { "learn 9\nq\n", "learn\nlearn 9\nq\n",
					    "learn 8\nlearn 9\nq\n" };

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		char *said = talk(ways[i], GLYPHS_FULL);
		char *first = strstr(said, "[lesson bubble: step 1 ");

		assert_non_null(first);
		assert_null(strstr(first + 1, "[lesson bubble: step 1 "));
		free(said);
	}
}

static void test_every_line_is_answered(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		const struct sample *s = &samples[i];
		char *said = talk(s->lines, GLYPHS_FULL);

		if (!strstr(said, s->said) || (s->unsaid && strstr(said, s->unsaid)))
			fail_msg("to '%s':\n%s", s->lines, said);
		free(said);
	}
}

/* Nothing that a screen reader would spell: no box, no escape, ASCII where asked. */
static void test_nothing_is_drawn(void **state)
{
	char *said = talk("tp\nknobs\nnumbers\nadvice\nsearch\nwhy step\n?\npp 8\n",
			  GLYPHS_ASCII);

	(void)state;
	for (const char *c = said; *c != '\0'; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
	assert_null(strstr(said, "---"));
	assert_null(strstr(said, "?\n?"));
	free(said);
}

/* On a terminal a line ends between two words, and nothing else of it changes. */
static void test_no_word_is_cut(void **state)
{
	static const char lines[] = "what bubble\npp 8\nwhy step\nadvice\nknobs\n?\n";
	char *whole = talk(lines, GLYPHS_ASCII);
	char *cut = talk_in(lines, GLYPHS_ASCII, 40);
	const char *a = whole, *b = cut;
	int column = 0;

	(void)state;
	for (const char *c = cut; *c != '\0'; c++) {
		column = *c == '\n' ? 0 : column + 1;
		assert_true(column <= 40);
	}
	while (*a != '\0' && *b != '\0') {
		size_t length = strcspn(a, " \n");

		assert_int_equal(strcspn(b, " \n"), length);
		assert_memory_equal(a, b, length);
		a += length + strspn(a + length, " \n");
		b += length + strspn(b + length, " \n");
	}
	assert_string_equal(a, b);
	free(whole);
	free(cut);
}

static void test_a_dumb_terminal_gets_it(void **state)
{
	static char home[] = "/tmp/shardscope-linear-XXXXXX";
	const char *const argv[] = { run_program(), NULL };
	const char *const again[] = { run_program(), "--plain", "--ascii",
				      "--theme=plain", NULL };
	char place[96];
	struct vt *vt;

	(void)state;
	assert_non_null(mkdtemp(home));
	snprintf(place, sizeof place, "XDG_STATE_HOME=%s", home);
	vt = vt_start(&(struct vt_options){ .columns = 100,
					    .term = "dumb",
					    .env = { place } },
		      argv);
	vt_expect(vt, "868 tok/s per GPU");
	vt_type(vt, "pp 8\n");
	vt_expect(vt, "PP pipeline 8, was 4. 829 tok/s per GPU, down 4.6 %.");
	assert_false(vt->alternate);
	assert_int_equal(vt->mouse, VTERM_PROP_MOUSE_NONE);
	vt_type(vt, "q\n");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	/* the next one goes on there, however it is to look */
	vt = vt_start(&(struct vt_options){ .columns = 100,
					    .term = "dumb",
					    .env = { place } },
		      again);
	vt_expect(vt, "829 tok/s per GPU");
	vt_type(vt, "\004");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_line_is_answered),
		cmocka_unit_test(test_a_lesson_that_is_opened_is_said_once),
		cmocka_unit_test(test_nothing_is_drawn),
		cmocka_unit_test(test_no_word_is_cut),
		cmocka_unit_test(test_a_dumb_terminal_gets_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
