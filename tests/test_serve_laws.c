/* test_serve_laws.c - what holds of every server, whatever is served to whom. */
#include <math.h>
#include <string.h>

#include "engine/knob.h"
#include "engine/serve.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

enum { SERVERS = 4000 };

static struct estimate now, before;

static void fail_at(const struct scenario *s, const char *what, double is, double bound)
{
	const struct plan *p = &s->plan;

	fail_msg("%s: %g, not %g; %s on %s with %s, %lld GPUs, TP %lld PP %lld EP %lld "
		 "DP %lld, c %lld, %lld + %lld, apart %d, batching %d",
		 what, is, bound, s->model.name, s->cluster.name, s->stack.name,
		 (long long)s->cluster.gpus, (long long)p->tp, (long long)p->pp,
		 (long long)p->ep, (long long)p->serving.dp_attention,
		 (long long)p->serving.concurrency, (long long)p->serving.prompt_len,
		 (long long)p->serving.output_len, p->serving.disaggregated,
		 p->serving.batching);
}

/* A token leaves the last stage before the next one enters the first. */
static void no_token_is_faster_than_a_pass(void **state)
{
	struct scenario s;
	int pipelines = 0;

	(void)state;
	seed = 11;
	for (int i = 0; i < SERVERS; i++) {
		const struct serving_estimate *v = &now.serving;

		server_random(&s, &now);
		pipelines += s.plan.pp > 1;
		if (v->tpot_seconds * v->gain < v->decode_seconds * (1 - 1e-9))
			fail_at(&s, "TPOT", v->tpot_seconds * v->gain,
				v->decode_seconds);
	}
	assert_true(pipelines > SERVERS / 4);
}

/* Requests that one server of prompts, a copy of the attention, sees. */
static double each(const struct scenario *s)
{
	const struct plan *p = &s->plan;
	struct engine_degrees e = scenario_prefill_engine(s);
	double copies = now.serving.engines * (double)p->serving.dp_attention;

	if (p->serving.disaggregated)
		copies = (double)(scenario_prefill_gpus(s) /
				  (e.tp * e.pp * p->cp * e.dp_attention) *
				  e.dp_attention);
	return fmax(1, now.serving.concurrency / copies);
}

/* In a closed loop nobody waits for more than the others: C prompts and a pass, where
 * there is room for all. */
static void nobody_waits_for_more_than_the_others(void **state)
{
	struct scenario s;
	int few = 0;

	(void)state;
	seed = 12;
	for (int i = 0; i < SERVERS; i++) {
		const struct serving_estimate *v = &now.serving;
		double most;

		server_random(&s, &now);
		if (!(v->waiting <= 0))
			continue;
		most = each(&s) * v->prefill_seconds + v->transfer_seconds +
		       v->decode_seconds;
		few += each(&s) < 8;
		if (v->ttft_seconds > most)
			fail_at(&s, "TTFT", v->ttft_seconds, most);
		assert_true(v->ttft_seconds >= v->prefill_seconds);
	}
	assert_true(few > SERVERS / 8);
}

/* Little 1961: every request is somewhere, before, in or between the pools. */
static void every_request_is_somewhere(void **state)
{
	struct scenario s;
	int pools = 0;

	(void)state;
	seed = 13;
	for (int i = 0; i < SERVERS; i++) {
		const struct serving_estimate *v = &now.serving;
		double asked, there;

		server_random(&s, &now);
		asked = v->concurrency + v->waiting;
		there = v->requests_per_second * v->request_seconds;
		if (!isfinite(asked))
			continue;
		pools += s.plan.serving.disaggregated;
		if (fabs(there - asked) > 1e-3 * asked)
			fail_at(&s, "requests", there, asked);
		if (s.plan.serving.concurrency > 0 && s.plan.serving.request_rate <= 0)
			assert_close(asked, (double)s.plan.serving.concurrency, 1e-9);
		assert_true(v->prefill_share >= 0 && v->prefill_share <= 1 + 1e-9);
	}
	assert_true(pools > SERVERS / 8);
}

/* A queue that grows for ever has no length. */
static void a_queue_without_end_has_no_length(void **state)
{
	struct error error;
	struct scenario s;

	(void)state;
	if (!scenario_blank(&s, "llama3.1-8b", "dgx-h100", "vllm", &error))
		fail_msg("%s", error.text);
	case_set(&s, "mode", "inference");
	case_set(&s, "request_rate", "100000");
	serve_estimate(&s, &now);
	assert_true(now.feasible);
	assert_true(isinf(now.serving.waiting));
	assert_true(isinf(now.serving.ttft_seconds));
	assert_true(isinf(now.serving.request_seconds));
	assert_true(now.serving.requests_per_second < 100000);
}

/* Requests that prefill elsewhere don't decode: the more of them a small pool keeps,
 * the fewer the pass has. */
static void a_slow_prefill_pool_empties_the_other(void **state)
{
	struct error error;
	struct scenario s;

	(void)state;
	if (!scenario_blank(&s, "gpt-oss-120b", "dgx-h200", "vllm", &error))
		fail_msg("%s", error.text);
	case_set(&s, "mode", "inference");
	case_set(&s, "precision", "fp8");
	case_set(&s, "gpus", "8");
	case_set(&s, "prompt", "8192");
	case_set(&s, "output", "1024");
	case_set(&s, "concurrency", "128");
	case_set(&s, "disaggregated", "on");
	case_set(&s, "prefill_gpus", "4");
	serve_estimate(&s, &before);
	case_set(&s, "gpus", "5");
	case_set(&s, "prefill_gpus", "1");
	serve_estimate(&s, &now);
	assert_true(now.feasible && before.feasible);
	assert_true(now.serving.ttft_seconds > 2 * before.serving.ttft_seconds);
	assert_true(now.serving.decode_seconds < before.serving.decode_seconds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_token_is_faster_than_a_pass),
		cmocka_unit_test(nobody_waits_for_more_than_the_others),
		cmocka_unit_test(every_request_is_somewhere),
		cmocka_unit_test(a_queue_without_end_has_no_length),
		cmocka_unit_test(a_slow_prefill_pool_empties_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
