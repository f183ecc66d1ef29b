/* test_serve_notes.c - what a server's estimate warns of, and that its remedies help.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/serve/serve.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

static struct estimate now;

static const struct finding *find(const char *code)
{
	for (int i = 0; i < now.problems.count; i++)
		if (strcmp(now.problems.item[i].rule->code, code) == 0)
			return &now.problems.item[i];
	return NULL;
}

static void make(struct scenario *s, const char *model, const char *knobs)
{
	struct error error = { "" };
	char key[40], value[40], why[200];
	int used;

	if (!scenario_blank(s, model, "dgx-h100", "vllm", &error))
		fail_msg("%s", error.text);
	s->plan.mode = MODE_INFERENCE;
	s->cluster.gpus = 8;
	for (; sscanf(knobs, " %39[^=]=%39s%n", key, value, &used) == 2; knobs += used)
		if (!knob_parse(s, knob_find(key), value, why, sizeof why))
			fail_msg("%s %s: %s", key, value, why);
	scenario_estimate(s, &now);
}

/* The warning is there, names this knob, and setting that makes it go away. */
static void mends(const char *model, const char *knobs, const char *code,
		  const char *knob)
{
	struct scenario s;
	const struct finding *f;
	char text[320], label[120];

	make(&s, model, knobs);
	assert_true(now.legal);
	f = find(code);
	if (!f)
		fail_msg("%s: no %s", knobs, code);
	assert_true(f->rule->severity == SEVERITY_WARNING);
	assert_true(finding_text(f, text, sizeof text) > 10);
	if (!f->knob || strcmp(f->knob, knob) != 0 || f->nearest_count != 1)
		fail_msg("%s: %s turns %s", knobs, text, f->knob ? f->knob : "nothing");
	snprintf(label, sizeof label, "%s %s=%g", knobs, knob, f->nearest[0]);
	assert_true(knob_set(&s, knob_find(knob), f->nearest[0]));
	scenario_estimate(&s, &now);
	if (!now.legal || !now.fits || find(code))
		fail_msg("%s: %s is still there", label, code);
}

static void test_remedies_help(void **state)
{
	(void)state;
	mends("llama3.1-70b", "tp=4 prompt=1M", "S18", "prompt");
	mends("llama3.1-70b", "tp=4 prompt=1M chunked_prefill=off", "S19", "prompt");
	mends("llama3.1-70b", "tp=1", "S19", "tp");
	mends("llama3.1-70b", "tp=4 goal_ttft=50", "S20", "goal_ttft");
	mends("llama3.1-70b", "tp=4 goal_tpot=5", "S20", "goal_tpot");
	mends("llama3.1-70b", "tp=4 request_rate=50", "S21", "request_rate");
	mends("llama3.1-70b", "tp=4 concurrency=1000", "S22", "concurrency");
	mends("llama3.1-70b", "tp=4 goal_tpot=25", "S23", "concurrency");
	mends("llama3.1-70b", "tp=4 goal_tpot=30 request_rate=5", "S23",
	      "request_rate");
	mends("mixtral-8x7b", "tp=2 batching=static concurrency=4k", "S22",
	      "concurrency");
	mends("gpt-oss-120b", "tp=4 goal_ttft=1 disaggregated=on", "S20", "goal_ttft");
	mends("mamba2-2.7b", "goal_tpot=0.1", "S20", "goal_tpot");
	mends("llama3.1-70b", "tp=2 memory_share=0.5", "S25", "memory_share");
	mends("llama3.1-70b", "tp=4 memory_share=1", "S26", "memory_share");
}

/* Those that come at a rate find each other otherwise than those that are held do: at
 * the rate that is named no more are inside than keep the goals, of any server. */
static void test_the_rate_that_is_named_keeps_the_goals(void **state)
{
	int named = 0;

	(void)state;
	seed = 77;
	for (int i = 0; i < some_of(600); i++) {
		const struct finding *f;
		struct scenario s;

		server_random(&s, &now);
		s.plan.serving.request_rate = now.serving.requests_per_second;
		s.plan.serving.arrival_scv = (double)next(4);
		s.plan.serving.goal_tpot_seconds =
			now.serving.tpot_seconds * (0.5 + 0.05 * (double)next(12));
		scenario_estimate(&s, &now);
		f = find("S23");
		if (!now.legal || !f)
			continue;
		named++;
		assert_string_equal(f->knob, "request_rate");
		assert_int_equal(f->nearest_count, 1);
		s.plan.serving.request_rate = f->nearest[0];
		scenario_estimate(&s, &now);
		if (find("S20") || find("S21") || find("S23"))
			server_fail(&s, "TPOT", now.serving.tpot_seconds,
				    s.plan.serving.goal_tpot_seconds);
	}
	assert_true(named > some_of(600) / 10);
}

/* The longest prompt is the longest: one token more does not fit. */
static void test_the_longest_prompt_is_the_longest(void **state)
{
	struct scenario s;
	double prompt;

	(void)state;
	make(&s, "llama3.1-70b", "tp=4 prompt=1M");
	prompt = find("S18")->nearest[0];
	s.plan.serving.prompt_len = (int64_t)prompt + 1;
	scenario_estimate(&s, &now);
	assert_false(now.fits);
}

static void test_a_good_plan_is_left_alone(void **state)
{
	struct scenario s;

	(void)state;
	make(&s, "llama3.1-70b", "tp=4 goal_ttft=2000 goal_tpot=100");
	assert_true(now.feasible);
	assert_int_equal(now.problems.count, 0);
	make(&s, "llama3.1-70b", "tp=4 concurrency=0");
	assert_null(find("S22"));
}

/* vLLM lets in whose prompt has room, and preempts; TensorRT-LLM who has room for all.
 * Where the limit of requests is what is full, nobody is preempted. */
static void test_who_is_let_in_without_room(void **state)
{
	static const char *const stacks[] = { "vllm", "tensorrt-llm" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct error error = { "" };
		struct scenario s;
		char text[512];

		make(&s, "llama3.1-70b", "tp=4 concurrency=1000");
		assert_true(library_stack(&s, stacks[i], &error));
		serve_estimate(&s, &now);
		finding_text(find("S22"), text, sizeof text);
		assert_true(!strstr(text, "preempt some") == (i == 1));
		s.plan.serving.max_requests = 16;
		serve_estimate(&s, &now);
		finding_text(find("S22"), text, sizeof text);
		assert_null(strstr(text, "preempt some"));
	}
}

/* At a rate too, where it is near what a full cache serves: nearly all of the time
 * until the first token is a wait for room. */
static void test_who_comes_without_room(void **state)
{
	struct scenario s;
	char text[512];

	(void)state;
	make(&s, "llama3.1-70b", "tp=4 precision=bf16 prompt=30000 output=4000");
	s.plan.serving.request_rate = 0.9 * now.serving.requests_per_second;
	serve_estimate(&s, &now);
	assert_non_null(find("S22"));
	finding_text(find("S22"), text, sizeof text);
	assert_non_null(strstr(text, "preempt some"));
	/* who waits for all of its tokens' room loses none of it */
	s.stack.serving.reserves = true;
	serve_estimate(&s, &now);
	assert_null(find("S22"));
	/* and hardly any come to half of what is served */
	s.stack.serving.reserves = false;
	s.plan.serving.request_rate /= 2;
	serve_estimate(&s, &now);
	assert_null(find("S22"));
}

/* 8 GPUs can't hold what needs more: there is no remedy, and none is made up. */
static void test_no_remedy_is_none(void **state)
{
	struct scenario s;

	(void)state;
	make(&s, "deepseek-v3", "tp=8 ep=8");
	assert_true(now.legal);
	assert_false(now.fits);
	assert_non_null(find("S19"));
	assert_int_equal(find("S19")->nearest_count, 0);
}

static void test_the_notes_are_among_all_rules(void **state)
{
	int seen = 0;

	(void)state;
	for (int i = 0; rule_at(i); i++)
		for (int n = 0; serve_note(n); n++)
			seen += rule_at(i) == serve_note(n);
	assert_int_equal(seen, 12);
	assert_null(serve_note(-1));
}

/* More requests give a GPU more and a user less; the knee lies between. */
static void test_the_knee_lies_on_the_curve(void **state)
{
	struct serve_point point[40];
	struct scenario s;
	int count, knee;

	(void)state;
	make(&s, "llama3.1-70b", "tp=4");
	count = serve_curve(&s, point, 40);
	knee = serve_knee(point, count);
	assert_true(knee > 0 && knee < count - 1);
	assert_true(point[count - 1].concurrency == now.serving.max_concurrency);
	for (int i = 0; i < count; i++) {
		assert_close(point[i].per_user, 1 / point[i].tpot_seconds, 1e-12);
		assert_close(point[i].per_gpu, point[i].output_tokens_per_second / 8,
			     1e-12);
		/* not farther from the chord than the knee */
		double width = point[0].per_user - point[count - 1].per_user;
		double height = point[count - 1].per_gpu - point[0].per_gpu;
		double beyond = (point[i].per_user - point[knee].per_user) / width +
				(point[i].per_gpu - point[knee].per_gpu) / height;

		assert_true(beyond <= 1e-12);
	}
	assert_int_equal(serve_knee(point, 2), -1);
}

static double filled(const struct serve_lane *lane)
{
	double sum = 0;

	for (int i = 0; i < lane->count; i++)
		sum += lane->item[i].seconds;
	return sum;
}

/* What fills a pass is all of it, and the passes are those of the estimate. */
static void test_lanes_are_full(void **state)
{
	static const char *const models[] = { "llama3.1-70b", "mixtral-8x7b",
					      "deepseek-v2-lite" };
	struct serve_lanes lanes;
	struct scenario s;

	(void)state;
	for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
		make(&s, models[m], "tp=4");
		assert_true(serve_lanes(&s, &lanes));
		for (int l = 0; l < LANE_COUNT; l++)
			assert_close(filled(&lanes.lane[l]), lanes.lane[l].seconds,
				     2e-6);
		assert_close(lanes.lane[LANE_DECODE].seconds,
			     now.serving.decode_seconds, 1e-9);
		assert_close(lanes.lane[LANE_MIXED].seconds, now.serving.mixed_seconds,
			     1e-9);
		assert_true(lanes.mixed_share > 0 && lanes.mixed_share <= 1);
	}
	make(&s, "llama3.1-70b", "tp=4 batching=static");
	assert_true(serve_lanes(&s, &lanes));
	assert_true(lanes.mixed_share == 0);
	make(&s, "llama3.1-70b", "tp=1");
	assert_false(serve_lanes(&s, &lanes));
}

/* While a request writes O tokens, each of the others that are held beside it comes
 * once with a prompt that one pass takes: of its O passes about as many carry one. */
static void test_passes_that_carry_prompts(void **state)
{
	static const struct {
		const char *knobs;
		double others, output;
	} rows[] = {
		{ "tp=8 concurrency=8 prompt=256 output=256", 7, 256 },
		{ "tp=8 concurrency=16 prompt=256 output=512", 15, 512 },
		{ "tp=8 concurrency=32 prompt=512 output=512", 31, 512 },
		{ "tp=8 concurrency=32 prompt=512 output=2048", 31, 2048 },
	};
	struct serve_lanes lanes;
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double share = rows[i].others / rows[i].output;

		make(&s, "llama3.1-8b", rows[i].knobs);
		assert_true(serve_lanes(&s, &lanes));
		assert_close(lanes.mixed_share, share, 0.15);
	}
}

static void test_pools_hold_every_gpu_once(void **state)
{
	struct serve_pool pool[2];
	struct scenario s;

	(void)state;
	make(&s, "llama3.1-70b", "tp=4");
	assert_int_equal(serve_pools(&s, pool), 1);
	assert_int_equal(pool[0].engines, 2);
	assert_int_equal(pool[0].engine, 4);
	make(&s, "llama3.1-70b",
	     "tp=2 disaggregated=on gpus=16 prefill_gpus=12 "
	     "prefill_tp=4");
	assert_int_equal(serve_pools(&s, pool), 2);
	assert_int_equal(pool[0].first, 0);
	assert_int_equal(pool[0].gpus, 4);
	assert_int_equal(pool[0].engines, 2);
	assert_int_equal(pool[1].first, 4);
	assert_int_equal(pool[1].gpus, 12);
	assert_int_equal(pool[1].engines, 3);
	make(&s, "llama3.1-70b", "tp=3");
	assert_int_equal(serve_pools(&s, pool), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remedies_help),
		cmocka_unit_test(test_the_rate_that_is_named_keeps_the_goals),
		cmocka_unit_test(test_the_longest_prompt_is_the_longest),
		cmocka_unit_test(test_a_good_plan_is_left_alone),
		cmocka_unit_test(test_who_is_let_in_without_room),
		cmocka_unit_test(test_who_comes_without_room),
		cmocka_unit_test(test_no_remedy_is_none),
		cmocka_unit_test(test_the_notes_are_among_all_rules),
		cmocka_unit_test(test_the_knee_lies_on_the_curve),
		cmocka_unit_test(test_lanes_are_full),
		cmocka_unit_test(test_passes_that_carry_prompts),
		cmocka_unit_test(test_pools_hold_every_gpu_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
