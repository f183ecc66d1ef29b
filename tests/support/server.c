/* server.c - servers at random. */
#include "tests/support/server.h"

#include <math.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static const char *any(enum preset_kind kind)
{
	const struct preset *list;
	int count = preset_list(kind, &list);

	return list[next((uint64_t)count)].name;
}

static int64_t power(uint64_t most)
{
	return (int64_t)1 << next(most);
}

static void draw_engine(struct scenario *s)
{
	struct serving_plan *v = &s->plan.serving;
	static const enum precision formats[] = { PRECISION_BF16, PRECISION_FP8,
						  PRECISION_FP16, PRECISION_INT8 };

	s->cluster.gpus = 8 * power(4);
	s->plan.tp = power(4);
	s->plan.pp = power(4);
	s->plan.precision = (int)formats[next(4)];
	if (s->model.moe.experts > 0 && next(2)) {
		v->dp_attention = power(3);
		s->plan.ep = s->plan.tp * v->dp_attention;
	}
	s->plan.ep_overlap = next(4) == 0;
	v->batching = next(4) == 0 ? BATCHING_STATIC : BATCHING_CONTINUOUS;
	v->chunked_prefill = next(4) != 0;
	v->max_batched_tokens = next(2) ? 0 : 512 * power(6);
	v->max_requests = next(3) ? 0 : 16 * power(6);
	v->kv_precision = (int)next(KV_PRECISION_COUNT);
	v->memory_share = 0.8 + 0.05 * (double)next(5);
	v->disaggregated = v->batching == BATCHING_CONTINUOUS && next(3) == 0;
	v->prefill_gpus = s->cluster.gpus / 2;
	if (next(4) == 0)
		s->cluster.scale = 1.3;
}

static void draw_load(struct scenario *s)
{
	struct serving_plan *v = &s->plan.serving;

	v->prompt_len = 1 + (int64_t)next(next(3) ? 4000 : 100000);
	v->output_len = 1 + (int64_t)next(1500);
	v->concurrency = next(8) ? power(9) : 0;
	v->request_rate = next(6) ? 0 : 0.01 * (double)power(12);
	v->shared_prefix = next(3) ? 0 : 0.5;
	v->host_kv_bytes = next(4) ? 0 : 32 * 1073741824.0;
	v->host_prefix = 0.1 * (double)next(10);
	if (next(3))
		return;
	v->speculative = s->model.mtp_layers > 0 ? SPECULATIVE_MTP : SPECULATIVE_DRAFT;
	v->draft_tokens = 1 + (int64_t)next(4);
	v->acceptance = 0.1 * (double)next(10);
	v->draft_cost = 0.05;
}

void server_random(struct scenario *out, struct estimate *estimate)
{
	static const char *const stacks[] = { "vllm", "sglang", "tensorrt-llm",
					      "lmdeploy", "generic" };
	struct error error;

	for (;;) {
		const char *model = any(PRESET_MODEL), *cluster = any(PRESET_CLUSTER);

		if (!scenario_blank(out, model, cluster, stacks[next(5)], &error))
			fail_msg("%s", error.text);
		out->plan.mode = MODE_INFERENCE;
		draw_engine(out);
		draw_load(out);
		serve_estimate(out, estimate);
		if (estimate->feasible)
			return;
	}
}

void server_fail(const struct scenario *s, const char *what, double is, double wanted)
{
	const struct plan *p = &s->plan;

	fail_msg(
		"%s: %.15g, not %.15g; %s on %s with %s, %lld GPUs, TP %lld PP %lld EP "
		"%lld DP %lld, c %lld, %lld + %lld, apart %d, batching %d",
		what, is, wanted, s->model.name, s->cluster.name, s->stack.name,
		(long long)s->cluster.gpus, (long long)p->tp, (long long)p->pp,
		(long long)p->ep, (long long)p->serving.dp_attention,
		(long long)p->serving.concurrency, (long long)p->serving.prompt_len,
		(long long)p->serving.output_len, p->serving.disaggregated,
		p->serving.batching);
}

void server_same(const struct scenario *s, const char *what, double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9 * fabs(wanted)) && is != wanted)
		server_fail(s, what, is, wanted);
}
