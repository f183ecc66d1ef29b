/* test_serve_laws.c - what holds of every server, whatever is served to whom. */
#include <math.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/serve/serve.h"
#include "engine/start/start.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

static int servers(void)
{
	return some_of(4000);
}

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
	for (int i = 0; i < servers(); i++) {
		const struct serving_estimate *v = &now.serving;

		server_random(&s, &now);
		pipelines += s.plan.pp > 1;
		if (v->tpot_seconds * v->gain < v->decode_seconds * (1 - 1e-9))
			fail_at(&s, "TPOT", v->tpot_seconds * v->gain,
				v->decode_seconds);
	}
	assert_true(pipelines > servers() / 4);
}

/* Engines of a pool of prompts. */
static double pools_of(const struct scenario *s)
{
	struct engine_degrees e = scenario_prefill_engine(s);

	return (double)(scenario_prefill_gpus(s) /
			(e.tp * e.pp * s->plan.cp * e.dp_attention));
}

/* Servers of prompts, each a copy of the attention. */
static double copies(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	if (!v->disaggregated)
		return now.serving.engines * (double)v->dp_attention;
	return pools_of(s) * (double)scenario_prefill_engine(s).dp_attention;
}

/* Requests that one of them sees; where prompts run alone, copies of an engine wait for
 * each other. */
static double each(const struct scenario *s)
{
	bool apart = s->plan.serving.disaggregated;

	return fmax(1, now.serving.concurrency / (apart ? pools_of(s) : copies(s)));
}

/* Who comes at a rate finds all of them, and waits for as many again that join its
 * pass. */
static double met(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double servers = v->disaggregated ? pools_of(s) : copies(s);

	if (v->request_rate <= 0 || v->batching == BATCHING_STATIC)
		return each(s);
	return 1 + 2 * fmax(1, v->arrival_scv) * now.serving.concurrency / servers;
}

/* Passes of a prompt. Of a budget those that decode take their tokens first, drafts
 * among them: all who are there, or what requests have of all of their tokens. */
static double passes_of(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double prompt = (double)v->prompt_len, budget = now.serving.budget_tokens;
	double guessed =
		v->speculative != SPECULATIVE_OFF ? (double)v->draft_tokens : 0;
	double decoded = (double)v->output_len / now.serving.gain * (1 + guessed);

	return prompt / fmax(budget - each(s) * (1 + guessed),
			     budget * prompt / (prompt + decoded));
}

/* What decodes beside the passes of a prompt, where the prompts of all have more of
 * them than an output has: each carries those that decode, too. */
static double beside_prompts(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double passes = passes_of(s);

	if (v->disaggregated || v->batching == BATCHING_STATIC || !v->chunked_prefill ||
	    each(s) * passes * now.serving.gain < (double)v->output_len)
		return 0;
	return passes * now.serving.decode_seconds;
}

/* Nobody waits for more than the others: C prompts and a pass, where there is room for
 * all. A batch of prompts may be too large for the quickest
 * all-reduce, which each alone is not. */
static void nobody_waits_for_more_than_the_others(void **state)
{
	struct scenario s;
	int few = 0;

	(void)state;
	seed = 12;
	for (int i = 0; i < servers(); i++) {
		const struct serving_estimate *v = &now.serving;
		double most, begin;

		server_random(&s, &now);
		if (!(v->waiting <= 0))
			continue;
		/* between two pools for half a pass in the mean, and the one that gives
		 * the first token */
		begin = (s.plan.serving.disaggregated ? 1.5 : 1) * v->decode_seconds;
		most = met(&s) * (v->prefill_seconds + beside_prompts(&s)) +
		       v->transfer_seconds + begin + v->contended_seconds +
		       v->load_seconds + v->received_seconds;
		few += each(&s) < 8;
		/* the approximate analysis of waits is off by up to a tenth where few
		 * micro-batches go round in a pipeline */
		if (v->ttft_seconds > most * 1.01)
			fail_at(&s, "TTFT", v->ttft_seconds, most);
		if (v->ttft_seconds < v->prefill_seconds)
			fail_at(&s, "TTFT of a prompt", v->ttft_seconds,
				v->prefill_seconds);
	}
	assert_true(few > servers() / 8);
}

/* A batch has whole prompts: where some have two and others one, their first tokens
 * come between those of the two, and no later than prompts one after the other. */
static void no_batch_has_a_part_of_a_prompt(void **state)
{
	int parts = 0;

	(void)state;
	seed = 17;
	for (int i = 0; i < servers() / 4; i++) {
		const struct serving_estimate *v = &now.serving;
		double fewer, more, share, copies, expected;
		struct scenario s, whole;

		server_random(&s, &now);
		s.plan.serving.batching = BATCHING_STATIC;
		s.plan.serving.disaggregated = false;
		s.plan.serving.host_kv_bytes = 0;
		s.plan.serving.request_rate = 0.01 * (double)(1 << next(12));
		serve_estimate(&s, &now);
		if (!now.feasible || !(v->waiting <= 0) || v->room_seconds > 0)
			continue;
		copies = v->engines * (double)s.plan.serving.dp_attention;
		share = v->concurrency / copies;
		if (share <= 1 || share + 1 > v->max_concurrency / copies)
			continue;
		whole = s;
		whole.plan.serving.request_rate = 0;
		whole.plan.serving.concurrency = (int64_t)(floor(share) * copies);
		serve_estimate(&whole, &before);
		fewer = before.serving.ttft_seconds;
		whole.plan.serving.concurrency += (int64_t)copies;
		serve_estimate(&whole, &before);
		more = before.serving.ttft_seconds;
		expected = fewer + (more - fewer) * (share - floor(share));
		expected *= v->stretch;
		if (fabs(v->ttft_seconds - expected) > 1e-6 * expected)
			fail_at(&s, "TTFT of a batch", v->ttft_seconds, expected);
		parts += share - floor(share) > 0.1;
	}
	assert_true(parts > servers() / 40);
}

/* Little 1961: every request is somewhere, before, in or between the pools. */
static void every_request_is_somewhere(void **state)
{
	struct scenario s;
	int pools = 0;

	(void)state;
	seed = 13;
	for (int i = 0; i < servers(); i++) {
		const struct serving_estimate *v = &now.serving;
		double asked, there;

		server_random(&s, &now);
		/* who gets one token is gone when that has come */
		if (i % 16 == 0) {
			s.plan.serving.output_len = 1;
			serve_estimate(&s, &now);
		}
		asked = v->concurrency + v->waiting;
		there = v->requests_per_second * v->request_seconds;
		if (!isfinite(asked))
			continue;
		if (s.plan.serving.output_len == 1)
			assert_close(v->request_seconds, v->ttft_seconds, 1e-12);
		pools += s.plan.serving.disaggregated;
		if (fabs(there - asked) > 1e-3 * asked)
			fail_at(&s, "requests", there, asked);
		if (s.plan.serving.concurrency > 0 && s.plan.serving.request_rate <= 0)
			assert_close(asked, (double)s.plan.serving.concurrency, 1e-9);
		assert_true(v->prefill_share >= 0 && v->prefill_share <= 1 + 1e-9);
	}
	assert_true(pools > servers() / 8);
}

/* A queue that grows for ever has no length. */
static void a_queue_without_end_has_no_length(void **state)
{
	struct error error;
	struct scenario s;

	(void)state;
	assert_true(scenario_blank(&s, "llama3.1-8b", "dgx-h100", "vllm", &error));
	case_set(&s, "mode", "inference");
	case_set(&s, "request_rate", "100000");
	serve_estimate(&s, &now);
	assert_true(now.feasible && isinf(now.serving.waiting));
	assert_true(isinf(now.serving.ttft_seconds) &&
		    isinf(now.serving.request_seconds));
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

/* Nothing that a server gives is above what its search takes for possible; nor do
 * prompts take more of their servers than there is. */
static void no_server_gives_more_than_its_ceiling(void **state)
{
	struct scenario s;
	struct serve_ceiling c;
	int pools = 0;

	(void)state;
	seed = 15;
	for (int i = 0; i < servers(); i++) {
		const struct serving_estimate *v = &now.serving;
		double rate;

		server_random(&s, &now);
		s.plan.serving.goal_ttft_seconds =
			next(2) ? v->ttft_seconds * 0.25 * (double)(1 + next(5)) : 0;
		s.plan.serving.goal_tpot_seconds =
			next(2) ? v->tpot_seconds * 0.25 * (double)(2 + next(4)) : 0;
		s.plan.serving.arrival_scv = (double)next(3);
		serve_estimate(&s, &now);
		assert_true(serve_ceiling(&s, &c));
		rate = fmax(v->goodput, v->output_tokens_per_second);
		if (rate > c.tokens_per_second * (1 + 1e-6))
			fail_at(&s, "tokens a second", rate, c.tokens_per_second);
		if (v->tpot_seconds < c.tpot_seconds * (1 - 1e-6))
			fail_at(&s, "time per token", v->tpot_seconds, c.tpot_seconds);
		/* of pools that fall behind, the other may have few */
		if (isfinite(v->ttft_seconds) &&
		    v->tpot_seconds < c.loaded_tpot_seconds * (1 - 1e-6))
			fail_at(&s, "time per token at a rate", v->tpot_seconds,
				c.loaded_tpot_seconds);
		pools += s.plan.serving.disaggregated;
		rate = v->requests_per_second * v->carrying_seconds;
		if (s.plan.serving.disaggregated && rate > copies(&s) * (1 + 1e-6))
			fail_at(&s, "busy servers", rate, copies(&s));
	}
	assert_true(pools > servers() / 8);
}

/* Whatever else a server could do, it gives no more than its processes receive, one
 * request after the other; what is asked for beyond that waits without end where
 * prompts have a pool of their own. */
static void no_server_gives_more_than_it_receives(void **state)
{
	struct scenario s;
	struct serve_ceiling c;
	int queues = 0;

	(void)state;
	seed = 16;
	for (int i = 0; i < servers() / 4; i++) {
		double slow = 1000, most;

		server_random(&s, &now);
		if (s.plan.serving.batching == BATCHING_STATIC)
			continue;
		s.stack.serving.prompt_seconds = slow;
		serve_estimate(&s, &now);
		assert_true(serve_ceiling(&s, &c));
		most = copies(&s) / (slow * s.cluster.scale);
		if (c.tokens_per_second >
		    most * (double)s.plan.serving.output_len * (1 + 1e-9))
			fail_at(&s, "tokens a second", c.tokens_per_second,
				most * (double)s.plan.serving.output_len);
		if (!s.plan.serving.disaggregated)
			continue;
		s.plan.serving.request_rate = 1.01 * most;
		serve_estimate(&s, &now);
		assert_true(!isfinite(now.serving.ttft_seconds));
		queues++;
	}
	assert_true(queues > servers() / 64);
}

/* What a server holds is there, whatever share it is given. */
static void a_full_cache_is_within_the_gpu(void **state)
{
	struct scenario s;

	(void)state;
	seed = 14;
	for (int i = 0; i < servers() / 2; i++) {
		const struct stage_memory *m = &now.memory;
		double held, full;

		server_random(&s, &now);
		s.plan.serving.memory_share = 0.01 * (double)(1 + next(100));
		s.plan.serving.request_rate = 0;
		s.plan.serving.concurrency = 0;
		serve_estimate(&s, &now);
		if (!now.feasible)
			continue;
		held = m->total_bytes - m->kv_bytes;
		full = held + now.serving.kv_share_bytes;
		if (full > now.capacity_bytes * (1 + 1e-9))
			fail_at(&s, "memory", full, now.capacity_bytes);
		/* a shared prefix is held once */
		if (m->kv_bytes > now.serving.kv_share_bytes * (1 + 1e-9))
			fail_at(&s, "cache", m->kv_bytes, now.serving.kv_share_bytes);
	}
}

/* GiB for the KV cache of a GPU that servers logged: llm-d-planner's runs of vLLM 0.19
 * (accuracy/results/v0.19.0), SGLang in vllm issue 21348. */
static void cache_room_is_as_logged(void **state)
{
	static const struct {
		const char *stack, *model, *tp, *precision, *share;
		double gib;
	} rows[] = {
		{ "vllm", "llama3.1-8b", "1", "bf16", "0.95", 58.11 },
		{ "vllm", "llama3.1-8b", "4", "bf16", "0.95", 67.44 },
		{ "vllm", "llama3.1-70b", "2", "fp8", "0.95", 37.28 },
		{ "vllm", "mixtral-8x7b", "2", "bf16", "0.95", 28.44 },
		{ "sglang", "qwen3-235b-a22b", "4", "fp8-block", "0.93", 16.46 },
	};
	struct error error;
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!scenario_blank(&s, rows[i].model, "dgx-h100", rows[i].stack,
				    &error))
			fail_msg("%s", error.text);
		case_set(&s, "mode", "inference");
		case_set(&s, "gpus", rows[i].tp);
		case_set(&s, "tp", rows[i].tp);
		case_set(&s, "precision", rows[i].precision);
		case_set(&s, "memory_share", rows[i].share);
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		assert_close(now.serving.kv_share_bytes / 1073741824, rows[i].gib,
			     0.05);
	}
}

static void begin_server(struct scenario *s, const char *const names[3], const char *tp)
{
	struct error error;

	if (!scenario_blank(s, names[0], names[1], names[2], &error))
		fail_msg("%s", error.text);
	case_set(s, "mode", "inference");
	case_set(s, "gpus", tp);
	case_set(s, "tp", tp);
	s->plan.precision = s->model.precision;
}

/* A checkpoint may quantise some matrices alone. GiB of weights of a GPU that vLLM
 * logged: llm-d-planner (docs/empirical-vllm-memory-results.md), vllm issue 6746. */
static void weights_are_as_the_checkpoint_has_them(void **state)
{
	static const struct {
		const char *model, *tp;
		double gib;
	} rows[] = {
		{ "gpt-oss-20b", "1", 13.47 },
		{ "gpt-oss-120b", "1", 64.38 },
		{ "meta-llama/Llama-3.1-405B-Instruct-FP8", "8", 57.75 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const names[3] = { rows[i].model, "dgx-h100", "vllm" };
		struct scenario s;

		begin_server(&s, names, rows[i].tp);
		s.plan.serving.max_requests = 1;
		serve_estimate(&s, &now);
		assert_close(now.memory.weights_bytes / 1073741824, rows[i].gib, 0.03);
		/* and read as wide as they are */
		s.plan.serving.concurrency = 1;
		serve_estimate(&s, &now);
		s.model.quantised = QUANTISED_ALL;
		serve_estimate(&s, &before);
		assert_true(now.memory.weights_bytes > before.memory.weights_bytes);
		assert_true(now.serving.decode_seconds > before.serving.decode_seconds);
	}
}

/* vLLM sorted the logits of all requests to sample, before release 0.17: GiB for the
 * cache that logs of 2025 have (vllm issues 21348 and 27508, recipe of Kimi K2
 * Thinking). */
static void an_older_release_needs_more_to_sample(void **state)
{
	static const struct {
		const char *model, *cluster, *stack, *tp, *share, *tokens;
		double gib;
	} rows[] = {
		{ "qwen3-235b-a22b", "dgx-h100", "vllm@0.9.2", "4", "0.9", "8192",
		  8.11 },
		{ "gpt-oss-120b", "dgx-h100", "vllm@0.11.0", "1", "0.95", "1024",
		  1.71 },
		{ "kimi-k2-thinking", "dgx-h200", "vllm@0.11.1", "8", "0.9", "8192",
		  46.8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const names[3] = { rows[i].model, rows[i].cluster,
					       rows[i].stack };
		struct scenario s;

		begin_server(&s, names, rows[i].tp);
		if (i == 0)
			s.plan.precision = PRECISION_FP8_BLOCK;
		case_set(&s, "memory_share", rows[i].share);
		case_set(&s, "max_batched_tokens", rows[i].tokens);
		serve_estimate(&s, &now);
		/* of 79 GiB: what is left is a small rest */
		assert_close(now.serving.kv_share_bytes / 1073741824, rows[i].gib,
			     0.15);
	}
}

/* Before 0.6.4 vLLM's profile counted what all-reduces held, where there are any: 16
 * tokens a block, vllm-project/vllm pull 2031 (7351 and 20865 blocks, 31615 before it
 * counted them). */
static void an_old_profile_counts_what_all_reduces_held(void **state)
{
	static const struct {
		const char *model, *stack, *tp;
		double tokens;
	} rows[] = {
		{ "llama2-7b", "vllm@0.2.5", "1", 117616 },
		{ "llama2-70b", "vllm@0.2.5", "4", 333840 },
		{ "llama2-70b", "vllm@0.6.4", "4", 505840 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const names[3] = { rows[i].model, "dgx-a100-80g",
					       rows[i].stack };
		struct scenario s;

		begin_server(&s, names, rows[i].tp);
		case_set(&s, "memory_share", "0.9");
		case_set(&s, "max_batched_tokens", "4096");
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		assert_close(now.serving.kv_tokens, rows[i].tokens, 0.06);
	}
}

/* The cache of a token and what running requests hold are one formula: states of fixed
 * size and heads that TP can't split too. */
static void a_token_and_a_server_count_alike(void **state)
{
	/* Mamba-2's one group stands on both ranks: of its 2 x 128 channels each layer
	 * keeps three values behind the convolution, in 16 bits */
	static const struct {
		const char *model;
		double twice; /* bytes of a request that both ranks hold */
	} models[] = { { "llama3.1-8b", 0 },
		       { "mamba2-2.7b", 64 * 2 * 128 * 3 * 2 },
		       { "jamba-v0.1", 0 },
		       { "gemma3-12b", 0 } };
	struct error error;
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
		const struct serving_estimate *v = &now.serving;

		if (!scenario_blank(&s, models[i].model, "dgx-h100", "vllm", &error))
			fail_msg("%s", error.text);
		case_set(&s, "mode", "inference");
		case_set(&s, "prompt", "2048");
		case_set(&s, "output", "512");
		case_set(&s, "gpus", "2");
		case_set(&s, "tp", "2");
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		assert_close(now.memory.kv_bytes * 2,
			     (v->kv_bytes_per_token * 2304 + models[i].twice) *
				     v->concurrency,
			     1e-9);
	}
	/* 4 heads on 8 ranks: each is kept twice */
	if (!scenario_blank(&s, "qwen3-30b-a3b", "dgx-h100", "vllm", &error))
		fail_msg("%s", error.text);
	case_set(&s, "mode", "inference");
	case_set(&s, "gpus", "8");
	case_set(&s, "tp", "8");
	serve_estimate(&s, &now);
	assert_close(now.memory.kv_bytes * 8,
		     2 * now.serving.kv_bytes_per_token * 2304 *
			     now.serving.concurrency,
		     1e-9);
}

/* A server that is told nothing else reads the weights as they are published, and is
 * not told to take wider ones; training begins in bf16. */
static void weights_are_served_as_published(void **state)
{
	static const struct {
		const char *model, *cluster;
		enum precision published;
	} rows[] = {
		{ "deepseek-v3", "dgx-h200", PRECISION_FP8_BLOCK },
		{ "kimi-k2", "dgx-b200", PRECISION_FP8_BLOCK },
		{ "gpt-oss-120b", "dgx-h100", PRECISION_MXFP4 },
		{ "llama3.1-8b", "dgx-h100", PRECISION_BF16 },
	};
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s, given, narrow;
		struct start start = { 0 };

		if (!scenario_blank(&s, rows[i].model, rows[i].cluster, "vllm", &error))
			fail_msg("%s", error.text);
		s.cluster.gpus = 8;
		given = s;
		given.plan.mode = MODE_TRAINING;
		start_choose(&start, &given);
		assert_int_equal(given.plan.precision, PRECISION_BF16);
		case_set(&s, "mode", "inference");
		given = s;
		start = (struct start){ 0 };
		start_choose(&start, &s);
		assert_int_equal(s.plan.precision, rows[i].published);
		/* what publishers call fp4 is the model's own format of four bits */
		narrow = s;
		case_set(&narrow, "precision", "fp4");
		assert_int_equal(narrow.plan.precision,
				 s.model.precision == PRECISION_MXFP4
					 ? PRECISION_MXFP4
					 : PRECISION_NVFP4);
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		for (int k = 0; k < now.problems.count; k++)
			assert_true(!now.problems.item[k].knob ||
				    strcmp(now.problems.item[k].knob, "precision"));
		start = (struct start){ 0 };
		start_give(&start, knob_find("precision"));
		start_choose(&start, &given);
		assert_int_equal(given.plan.precision, PRECISION_BF16);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_token_is_faster_than_a_pass),
		cmocka_unit_test(nobody_waits_for_more_than_the_others),
		cmocka_unit_test(no_batch_has_a_part_of_a_prompt),
		cmocka_unit_test(every_request_is_somewhere),
		cmocka_unit_test(no_server_gives_more_than_its_ceiling),
		cmocka_unit_test(no_server_gives_more_than_it_receives),
		cmocka_unit_test(a_full_cache_is_within_the_gpu),
		cmocka_unit_test(cache_room_is_as_logged),
		cmocka_unit_test(weights_are_as_the_checkpoint_has_them),
		cmocka_unit_test(an_older_release_needs_more_to_sample),
		cmocka_unit_test(an_old_profile_counts_what_all_reduces_held),
		cmocka_unit_test(a_token_and_a_server_count_alike),
		cmocka_unit_test(weights_are_served_as_published),
		cmocka_unit_test(a_queue_without_end_has_no_length),
		cmocka_unit_test(a_slow_prefill_pool_empties_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
