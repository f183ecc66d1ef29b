/* test_kv_host.c - a KV cache that goes on in host memory: what is copied in place of
 * computed, what the link takes, who is swapped. */
#include <math.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/queue/queue.h"
#include "engine/serve/host.h"
#include "engine/serve/serve.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now;

/* Llama-3.1 70B on 8 H100: 320 KiB of cache a token, 40 KiB on a rank, over a host link
 * of 55.6 GB/s. */
static void begin(struct scenario *s, const char *stack)
{
	struct error error = { "" };

	if (!scenario_blank(s, "llama3.1-70b", "dgx-h100", stack, &error))
		fail_msg("%s", error.text);
	case_set(s, "mode", "inference");
	case_set(s, "gpus", "8");
	case_set(s, "tp", "8");
	case_set(s, "prompt", "16000");
	case_set(s, "output", "100");
	case_set(s, "concurrency", "1");
	case_set(s, "kv_block", "16");
	case_set(s, "host_kv", "64");
	case_set(s, "host_prefix", "0.5");
}

static const double copy = 8000 * 40960 / 55.6e9;

/* vLLM copies before it computes: the first token waits for all of it. */
static void a_copy_takes_its_link(void **state)
{
	struct scenario s, half;
	double prefill, ttft;

	(void)state;
	begin(&s, "vllm");
	serve_estimate(&s, &now);
	assert_close(now.serving.load_seconds, copy, 1e-12);
	prefill = now.serving.prefill_seconds;
	ttft = now.serving.ttft_seconds;
	assert_close(ttft, prefill + now.serving.begin_seconds + copy, 1e-12);
	/* 8,000 tokens behind 8,000 others are computed, as behind a shared prefix */
	half = s;
	case_set(&half, "host_kv", "0");
	case_set(&half, "shared_prefix", "0.5");
	serve_estimate(&half, &now);
	assert_close(now.serving.prefill_seconds, prefill, 1e-12);
	assert_close(now.serving.ttft_seconds + copy, ttft, 1e-12);
	/* without a prefix cache nobody looks there */
	case_set(&s, "prefix_cache", "off");
	serve_estimate(&s, &now);
	assert_true(now.serving.prefill_seconds > 1.5 * prefill);
	assert_true(now.serving.load_seconds == 0);
}

/* SGLang copies layer by layer: one of 80 shows. */
static void layers_hide_a_copy(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s, "sglang");
	serve_estimate(&s, &now);
	assert_true(now.serving.prefill_seconds > copy);
	assert_close(now.serving.load_seconds, copy / 80, 1e-9);
	/* of a copy that is longer than what is computed, that much */
	case_set(&s, "host_prefix", "1");
	s.cluster.accelerator.host_bytes_per_second = 1e9;
	serve_estimate(&s, &now);
	assert_close(now.serving.load_seconds,
		     16000 * 40960 / 1e9 - now.serving.prefill_seconds * 79 / 80, 1e-9);
}

/* Where the link is the bottleneck, requests take turns on it: no more end than it
 * copies. */
static void a_full_link_bounds_the_rate(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s, "vllm");
	case_set(&s, "concurrency", "32");
	s.cluster.accelerator.host_bytes_per_second = 1e8;
	serve_estimate(&s, &now);
	assert_true(now.serving.requests_per_second <= 1e8 / (8000.0 * 40960));
	assert_true(now.serving.requests_per_second > 0.9e8 / (8000.0 * 40960));
	assert_close(now.serving.requests_per_second *
			     (now.serving.ttft_seconds + 99 * now.serving.tpot_seconds),
		     32, 1e-9);
}

static const struct traffic *row(const char *what)
{
	for (int i = 0; i < now.traffic_count; i++)
		if (strcmp(now.traffic[i].what, what) == 0)
			return &now.traffic[i];
	return NULL;
}

/* In the mean of a decode pass: what requests that end in it copy, and what was
 * computed for them. */
static void traffic_counts_both_ways(void **state)
{
	struct scenario s;
	double each;

	(void)state;
	begin(&s, "vllm");
	case_set(&s, "concurrency", "16");
	serve_estimate(&s, &now);
	each = now.serving.requests_per_second * now.serving.decode_seconds;
	assert_close(row("KV cache from the host")->total_bytes, each * 8000 * 40960,
		     1e-12);
	/* 8,000 of the prompt and 100 written, in whole pages */
	assert_close(row("KV cache to the host")->total_bytes, each * 8112 * 40960,
		     1e-12);
	assert_close(now.cost[DIM_HOST].bytes, each * 16112 * 40960, 1e-12);
	assert_close(now.serving.host_tokens, 8 * 64 * 1073741824.0 / 327680, 0.01);
	case_set(&s, "host_kv", "0");
	serve_estimate(&s, &now);
	assert_null(row("KV cache from the host"));
	assert_null(row("KV cache to the host"));
	assert_true(now.serving.host_tokens == 0);
}

static bool told(const char *code)
{
	for (int i = 0; i < now.problems.count; i++)
		if (strcmp(now.problems.item[i].rule->code, code) == 0)
			return true;
	return false;
}

static void limits_of_a_host(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s, "vllm");
	serve_estimate(&s, &now);
	assert_true(now.legal && !told("S32"));
	/* 16 GiB a GPU are 419,430 tokens; 64 requests find 512,000 */
	case_set(&s, "host_kv", "16");
	case_set(&s, "concurrency", "64");
	serve_estimate(&s, &now);
	assert_true(now.feasible && told("S32"));
	/* a DGX H100 has 2 TB for 8 */
	case_set(&s, "host_kv", "257");
	serve_estimate(&s, &now);
	assert_true(!now.legal && told("S30"));
	/* a server on four of them has all of it */
	case_set(&s, "tp", "4");
	case_set(&s, "gpus", "4");
	serve_estimate(&s, &now);
	assert_false(told("S30"));
	case_set(&s, "host_kv", "513");
	serve_estimate(&s, &now);
	assert_true(told("S30"));
	case_set(&s, "tp", "8");
	case_set(&s, "gpus", "8");
	case_set(&s, "host_kv", "16");
	s.cluster.accelerator.host_bytes_per_second = 0;
	serve_estimate(&s, &now);
	assert_true(!now.legal && told("S31"));
}

/* --- request by request --- */

static struct queue_record record[8];
static double memory[1 << 14];

/* One second for each 100 prompt tokens, one for each decoding pass. */
static struct queue_seconds simple(void *server, const struct queue_pass *p)
{
	(void)server;
	return (struct queue_seconds){ p->prompt_tokens / 100 + (p->requests > 0), 0 };
}

static struct queue_result run(const struct queue_pool *pool,
			       const struct queue_item *list, int count)
{
	struct queue_system system = { .pool = *pool };
	struct queue_load load = { .arrivals = ARRIVE_LISTED,
				   .lengths = LENGTHS_LISTED,
				   .requests = count,
				   .list = list,
				   .listed = count };
	struct arena arena = { (unsigned char *)memory, sizeof memory, 0 };
	struct queue_result out;

	if (!queue_run(&system, &load, &arena, record, &out))
		fail_msg("the load does not run");
	return out;
}

static const struct queue_pool plain = {
	.servers = 1,
	.scheduler = SERVE_MIXED,
	.budget = 200,
	.room = 1e9,
	.gain = 1,
	.each = 1,
	.cost = simple,
};

/* Half of each prompt is on the host, a token takes 10 ms of the link: A's 100 tokens
 * until 1 s, B's until 2 s; the other 100 take a second each. */
static void copies_take_turns(void **state)
{
	static const struct queue_item list[] = { { 0, 200, 1, 0 }, { 0, 200, 1, 0 } };
	struct queue_pool pool = plain;
	struct queue_result r;

	(void)state;
	pool.fetched = 0.5;
	pool.fetch_seconds = 0.01;
	r = run(&pool, list, 2);
	assert_close(record[0].first, 2, 1e-12);
	assert_close(record[1].first, 3, 1e-12);
	assert_close(r.fetched_tokens, 200, 1e-12);
	/* half a second of each hides */
	pool.fetch_hidden = 0.5;
	run(&pool, list, 2);
	assert_close(record[0].first, 1.5, 1e-12);
	assert_close(record[1].first, 2.5, 1e-12);
}

/* Room for 10 tokens, as in test_queue: B gives its cache back at 0.08 s with 5 tokens,
 * 4 of which are copied out and back by 0.48 s. A is done at 4.08 s; B computes one
 * token, has its second at 4.09 s and three more a second each. */
static void a_swapped_request_computes_one_token(void **state)
{
	static const struct queue_item list[] = { { 0, 4, 5, 0 }, { 0, 4, 5, 0 } };
	struct queue_pool pool = plain;
	struct queue_result r;

	(void)state;
	pool.room = 10;
	pool.swaps = true;
	pool.fetch_seconds = 0.1;
	r = run(&pool, list, 2);
	assert_close(record[0].end, 4.08, 1e-12);
	assert_close(record[1].end, 7.09, 1e-12);
	assert_int_equal(r.preempted, 1);
	assert_close(r.swapped_tokens, 4, 1e-12);
	assert_true(r.recomputed_tokens == 0);
	/* a slow link brings it back when A is long gone */
	pool.fetch_seconds = 2;
	run(&pool, list, 2);
	assert_close(record[1].end, 0.08 + 8 + 0.01 + 3, 1e-12);
}

/* What requests have in common saves nothing where no cache keeps it, and a plan says
 * so. */
static void prefixes_that_nobody_keeps(void **state)
{
	struct scenario s;
	const struct knob *shared = knob_find("shared_prefix");
	double without;

	(void)state;
	begin(&s, "vllm");
	case_set(&s, "prefix_cache", "off");
	case_set(&s, "shared_prefix", "0");
	serve_estimate(&s, &now);
	without = now.serving.ttft_seconds;
	case_set(&s, "shared_prefix", "0.9");
	serve_estimate(&s, &now);
	assert_close(now.serving.ttft_seconds, without, 1e-12);
	assert_false(knob_applies(&s, shared));
	case_set(&s, "prefix_cache", "on");
	assert_true(knob_applies(&s, shared));
	serve_estimate(&s, &now);
	assert_true(now.serving.ttft_seconds < without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_that_nobody_keeps),
		cmocka_unit_test(a_copy_takes_its_link),
		cmocka_unit_test(layers_hide_a_copy),
		cmocka_unit_test(a_full_link_bounds_the_rate),
		cmocka_unit_test(traffic_counts_both_ways),
		cmocka_unit_test(limits_of_a_host),
		cmocka_unit_test(copies_take_turns),
		cmocka_unit_test(a_swapped_request_computes_one_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
