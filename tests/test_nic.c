/* test_nic.c - caches that travel between pools beside collectives on the same NIC. */
#include <math.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "engine/serve/work.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now;

/* DeepSeek-V3: 16 GPUs of two nodes decode with EP 16 over both, two of 8 prefill, each
 * inside a node. */
static void begin(struct scenario *s, const char *cluster)
{
	static const char *const knobs[][2] = {
		{ "mode", "inference" },
		{ "gpus", "32" },
		{ "tp", "1" },
		{ "dp_attention", "16" },
		{ "ep", "16" },
		{ "precision", "fp8-block" },
		{ "disaggregated", "on" },
		{ "prefill_gpus", "16" },
		{ "prefill_tp", "8" },
		{ "prefill_dp_attention", "1" },
		{ "prefill_ep", "8" },
		{ "prompt", "16000" },
		{ "output", "500" },
		{ "concurrency", "256" },
	};
	struct error error = { "" };

	if (!scenario_blank(s, "deepseek-v3", cluster, "sglang", &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
		case_set(s, knobs[i][0], knobs[i][1]);
	serve_estimate(s, &now);
	assert_true(now.feasible);
}

/* Share of a decode pass that its collectives have the NIC. */
static double share(const struct scenario *s)
{
	double bytes = 0;

	for (int i = 0; i < now.traffic_count; i++)
		if (now.traffic[i].dimension == DIM_EP)
			bytes += now.traffic[i].network_bytes;
	return bytes / work_nic_rate(s) / now.serving.decode_seconds;
}

/* A long transfer gets what collectives leave it, and they are not charged. */
static void a_long_transfer_waits(void **state)
{
	const struct serving_estimate *v = &now.serving;
	struct scenario s;
	double u;

	(void)state;
	begin(&s, "dgx-h200");
	u = share(&s);
	assert_true(u > 0.005);
	assert_close(v->contended_seconds, v->transfer_seconds * u / (1 - u), 1e-9);
	assert_close(v->step_between_seconds, v->decode_seconds, 1e-9);
	assert_close(v->ttft_seconds,
		     v->prefill_seconds + v->begin_seconds +
			     v->ahead * v->added_seconds + v->transfer_seconds +
			     v->contended_seconds,
		     1e-9);
}

/* Collectives that are longer than a transfer are longer by what it takes of them, and
 * it is not charged. */
static void a_short_transfer_delays(void **state)
{
	const struct serving_estimate *v = &now.serving;
	struct scenario s;
	double each;

	(void)state;
	begin(&s, "dgx-h200");
	case_set(&s, "prompt", "400");
	case_set(&s, "concurrency", "512");
	serve_estimate(&s, &now);
	assert_true(v->contended_seconds == 0);
	/* at the rate of before: one part in a thousand, of a thousandth */
	each = share(&s) * v->transfer_seconds * v->requests_per_second / 16;
	assert_true(each > 1e-5);
	assert_close(v->step_between_seconds / v->decode_seconds - 1, each, 0.01);
	assert_close(v->requests_per_second * (v->ttft_seconds + 499 * v->tpot_seconds),
		     512, 1e-9);
}

/* Inside one domain collectives do not touch the NIC. */
static void a_domain_has_no_contention(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s, "gb200-nvl72");
	assert_true(now.serving.transfer_seconds > 0);
	assert_true(now.serving.contended_seconds == 0);
	assert_close(now.serving.step_between_seconds, now.serving.decode_seconds,
		     1e-12);
}

/* What comes in over the NIC is in Traffic: the caches of a pass. */
static void traffic_has_the_caches(void **state)
{
	const struct traffic *row = NULL;
	struct scenario s;

	(void)state;
	begin(&s, "dgx-h200");
	for (int i = 0; i < now.traffic_count; i++)
		if (strcmp(now.traffic[i].what, "KV of prompts") == 0)
			row = &now.traffic[i];
	assert_non_null(row);
	/* 61 layers of 512 + 64 latents in 16 bits, 16 copies share the requests */
	assert_close(row->network_bytes,
		     16000.0 * 61 * 576 * 2 * now.serving.requests_per_second *
			     now.serving.decode_seconds / 16,
		     1e-9);
	assert_close(row->total_seconds,
		     now.serving.transfer_seconds * now.serving.requests_per_second *
			     now.serving.decode_seconds / 16,
		     1e-9);
	case_set(&s, "disaggregated", "off");
	serve_estimate(&s, &now);
	for (int i = 0; i < now.traffic_count; i++)
		assert_true(strcmp(now.traffic[i].what, "KV of prompts") != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_transfer_waits),
		cmocka_unit_test(a_short_transfer_delays),
		cmocka_unit_test(a_domain_has_no_contention),
		cmocka_unit_test(traffic_has_the_caches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
