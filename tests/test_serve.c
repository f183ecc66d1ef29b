/* test_serve.c - inference: cited numbers, and what must hold whatever is served. */
#include <math.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/planner/planner.h"
#include "engine/predict/objective.h"
#include "engine/serve/serve.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"

static struct estimate now, other;

static void serve(struct scenario *s, const char *model, const char *cluster,
		  const char *stack)
{
	struct error error = { "" };

	if (!scenario_blank(s, model, cluster, stack, &error))
		fail_msg("%s", error.text);
	s->plan.mode = MODE_INFERENCE;
	s->cluster.gpus = 8;
	s->plan.tp = 8;
}

static void turn(struct scenario *s, const char *key, const char *value)
{
	char why[200] = "";

	if (!knob_find(key) || !knob_parse(s, knob_find(key), value, why, sizeof why))
		fail_msg("%s: %s", key, why);
}

/* DeepSeek-V3 (arXiv 2412.19437, section 2.1.1), Llama 3.1 405B, Qwen2.5-72B: published
 * bytes of the cache per token in 16 bits. */
static void caches_are_as_large_as_published(void **state)
{
	static const struct {
		const char *model;
		double bytes;
	} rows[] = {
		{ "deepseek-v3", 70272 },
		{ "llama3.1-405b", 516096 },
		{ "qwen2.5-72b", 327680 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;

		serve(&s, rows[i].model, "dgx-b200", "vllm");
		turn(&s, "gpus", "64");
		turn(&s, "pp", "8");
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		assert_close(now.serving.kv_bytes_per_token, rows[i].bytes, 1e-9);
	}
}

/* Latent experts: less weights by E 3 (h - l) ffn a layer, the two projections whole on
 * each rank, and shorter rows to the experts. By hand for Mixtral at half its width, on
 * 8 GPUs with one expert each. */
static void latent_experts_are_lighter(void **state)
{
	struct scenario s;
	double layers, h, l, f, less;

	(void)state;
	serve(&s, "mixtral-8x7b", "dgx-h100", "vllm");
	turn(&s, "tp", "1");
	turn(&s, "dp_attention", "8");
	turn(&s, "ep", "8");
	serve_estimate(&s, &now);
	assert_true(now.legal);
	layers = (double)s.model.layers;
	h = (double)s.model.hidden;
	f = (double)s.model.moe.expert_ffn;
	s.model.moe.expert_latent = s.model.hidden / 2;
	l = (double)s.model.moe.expert_latent;
	serve_estimate(&s, &other);
	assert_true(other.legal);
	less = layers * (3 * (h - l) * f - 2 * h * l) * 2;
	assert_close(now.memory.weights_bytes - other.memory.weights_bytes, less, 1e-6);
	assert_true(other.cost[DIM_EP].bytes < 0.51 * now.cost[DIM_EP].bytes);
	assert_true(other.serving.tpot_seconds < now.serving.tpot_seconds);
}

static void memory_is_the_sum_of_its_parts(void **state)
{
	struct scenario s;
	const struct stage_memory *m = &now.memory;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
	serve_estimate(&s, &now);
	assert_true(now.feasible);
	assert_close(m->total_bytes,
		     m->weights_bytes + m->kv_bytes + m->activations_bytes +
			     m->buffers_bytes + m->framework_bytes,
		     1e-12);
	/* 70.55 B parameters in bf16 over 8 ranks, norms on each */
	assert_close(m->weights_bytes, 70.55e9 * 2 / 8, 0.002);
	/* 64 requests of 2048 + 512 / 2 tokens with one of 8 KV heads on a rank */
	assert_close(m->kv_bytes, 64.0 * (2048 + 256) * 327680 / 8, 1e-3);
}

/* Where stages do not divide the layers, the fullest has one more: of Llama 3's 32 over
 * 5 it has 7, over 8 just 4. A layer has 4096 x (4096 + 2 x 1024) weights of queries,
 * keys and values, 4096^2 behind them, 3 x 4096 x 14336 of the MLP and two norms (arXiv
 * 2407.21783, table 3). */
static void the_fullest_stage_has_a_layer_more(void **state)
{
	double layer = 4096.0 * (4096 + 2 * 1024) + 4096.0 * 4096 + 3.0 * 4096 * 14336 +
		       2 * 4096;
	struct scenario s;

	(void)state;
	serve(&s, "llama3-8b", "dgx-h100", "vllm");
	turn(&s, "tp", "1");
	turn(&s, "gpus", "8");
	turn(&s, "pp", "8");
	serve_estimate(&s, &other);
	turn(&s, "gpus", "5");
	turn(&s, "pp", "5");
	serve_estimate(&s, &now);
	assert_true(now.legal && other.legal);
	assert_close(now.memory.weights_bytes - other.memory.weights_bytes,
		     3 * layer * 2, 1e-9);
	assert_close(now.memory.kv_bytes / other.memory.kv_bytes, 7.0 / 4, 1e-9);
}

/* Reading weights and cache can't be faster than memory, computing not than the peak.
 */
static void passes_respect_the_hardware(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
	for (int c = 1; c <= 256; c *= 4) {
		const struct accelerator *a = &s.cluster.accelerator;
		double bytes, flops;

		s.plan.serving.concurrency = c;
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		bytes = now.memory.weights_bytes + now.memory.kv_bytes;
		flops = 2 * 69.5e9 / 8 * c;
		assert_true(now.serving.decode_seconds >
			    (bytes - 128256.0 * 8192 * 2 / 8) /
				    a->memory_bytes_per_second);
		assert_true(now.serving.decode_seconds > flops / a->peak_flops[0]);
		assert_true(now.serving.tpot_seconds >= now.serving.decode_seconds);
	}
}

static void more_requests_take_longer_and_give_more(void **state)
{
	static struct serve_point curve[32];
	struct scenario s;
	int count;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "tensorrt-llm");
	count = serve_curve(&s, curve, 32);
	assert_true(count > 6);
	for (int i = 1; i < count; i++) {
		assert_true(curve[i].concurrency > curve[i - 1].concurrency);
		assert_true(curve[i].tpot_seconds >= curve[i - 1].tpot_seconds);
		assert_true(curve[i].output_tokens_per_second >=
			    curve[i - 1].output_tokens_per_second * 0.999);
	}
}

/* Leviathan et al. 2023, equation 1: with acceptance .7 and 3 drafts 2.533 tokens. */
static void speculation_yields_what_its_paper_says(void **state)
{
	struct scenario s;
	double plain;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
	s.plan.serving.concurrency = 1;
	serve_estimate(&s, &now);
	plain = now.serving.tpot_seconds;
	turn(&s, "speculative", "draft");
	turn(&s, "draft_cost", "0");
	serve_estimate(&s, &other);
	/* four tokens cost little more than one where weights are streamed */
	assert_true(other.serving.tpot_seconds > plain / 2.533);
	assert_true(other.serving.tpot_seconds < plain / 2.533 * 1.1);
	turn(&s, "acceptance", "0.0001");
	serve_estimate(&s, &other);
	assert_true(other.serving.tpot_seconds >= plain);
}

/* Of DeepSeek-V3's one MTP layer 85 to 90 % of the second tokens hold (arXiv
 * 2412.19437, section 5.4.3), and seven drafts by it yield 3.2 tokens a pass
 * (nebius/MTP-DeepSeek-V3-0324, original MTP, temperature 0). */
static void a_reused_layer_drafts_worse(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "deepseek-v3", "dgx-h200", "tensorrt-llm");
	turn(&s, "precision", "fp8-block");
	turn(&s, "speculative", "mtp");
	turn(&s, "draft_tokens", "1");
	serve_estimate(&s, &now);
	assert_close(now.serving.gain, 1.85, 1e-12);
	turn(&s, "draft_tokens", "2");
	serve_estimate(&s, &now);
	assert_close(now.serving.gain, 1.85 + 0.85 * 0.85 * 0.855, 1e-12);
	turn(&s, "draft_tokens", "7");
	serve_estimate(&s, &now);
	assert_close(now.serving.gain, 3.2, 0.01);
	/* what somebody says holds for the first, and three layers for three tokens */
	turn(&s, "acceptance", "0.9");
	turn(&s, "draft_tokens", "3");
	s.model.mtp_layers = 3;
	serve_estimate(&s, &now);
	assert_close(now.serving.gain, 1 + 0.9 + 0.81 + 0.729, 1e-12);
}

/* DeepSeek-V3's latents, 512 + 64 wide in 61 layers of 16 bits: one rank sends them to
 * each of eight that decode a request together, or to the one that does so alone. */
static void every_rank_takes_all_latents(void **state)
{
	struct scenario s;
	const struct link *net = &s.cluster.link[LINK_NETWORK];
	double once;

	(void)state;
	serve(&s, "deepseek-v3", "dgx-h200", "tensorrt-llm");
	turn(&s, "gpus", "16");
	turn(&s, "precision", "fp8-block");
	turn(&s, "kv_precision", "bf16");
	turn(&s, "ep", "8");
	turn(&s, "disaggregated", "on");
	turn(&s, "prefill_gpus", "8");
	turn(&s, "prefill_tp", "1");
	turn(&s, "prefill_ep", "8");
	turn(&s, "prefill_dp_attention", "8");
	turn(&s, "prompt", "1024");
	turn(&s, "concurrency", "8");
	once = 1024.0 * (512 + 64) * 61 * 2 / (net->bytes_per_second * net->efficiency);
	serve_estimate(&s, &now);
	assert_true(now.feasible);
	assert_close(now.serving.transfer_seconds, 8 * once + net->latency_seconds,
		     1e-9);
	turn(&s, "tp", "1");
	turn(&s, "dp_attention", "8");
	serve_estimate(&s, &now);
	assert_true(now.feasible);
	assert_close(now.serving.transfer_seconds, once + net->latency_seconds, 1e-9);
	/* half of the pass that is met, and the one that gives the first token */
	assert_close(now.serving.begin_seconds, 1.5 * now.serving.decode_seconds, 1e-9);
}

/* Little's law: requests in flight are rate x time. */
static void a_rate_leads_to_its_concurrency(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "llama3.1-8b", "dgx-h100", "vllm");
	turn(&s, "tp", "1");
	turn(&s, "request_rate", "40");
	serve_estimate(&s, &now);
	assert_true(now.feasible);
	assert_close(now.serving.requests_per_second, 40, 0.01);
	assert_close(now.serving.concurrency, 40 * now.serving.request_seconds, 0.15);
	turn(&s, "request_rate", "100000");
	serve_estimate(&s, &now);
	assert_true(isinf(now.serving.ttft_seconds) || now.serving.waiting > 0);
}

static void a_prefix_cache_saves_prefill(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
	turn(&s, "prompt", "8192");
	serve_estimate(&s, &now);
	turn(&s, "shared_prefix", "0.75");
	serve_estimate(&s, &other);
	assert_true(other.serving.prefill_seconds < now.serving.prefill_seconds / 2);
	assert_true(other.serving.max_concurrency >= now.serving.max_concurrency);
	turn(&s, "prefix_cache", "off");
	serve_estimate(&s, &other);
	assert_close(other.serving.prefill_seconds, now.serving.prefill_seconds, 1e-12);
}

static void goodput_keeps_to_the_goals(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
	s.plan.serving.concurrency = 512;
	serve_estimate(&s, &now);
	assert_close(now.serving.goodput, now.serving.output_tokens_per_second, 1e-9);
	s.plan.serving.goal_tpot_seconds = now.serving.tpot_seconds * 0.6;
	serve_estimate(&s, &other);
	assert_true(other.serving.goodput < now.serving.goodput);
	assert_true(other.serving.goodput_concurrency < 512);
	s.plan.serving.concurrency = (int64_t)other.serving.goodput_concurrency;
	serve_estimate(&s, &now);
	assert_true(now.serving.tpot_seconds <= s.plan.serving.goal_tpot_seconds);
	s.plan.serving.goal_tpot_seconds = 1e-6;
	serve_estimate(&s, &now);
	assert_true(now.serving.goodput == 0);
}

/* One measured run slows everything alike, also what the goals and the rate are held
 * against. */
static void a_measured_run_scales_goals_and_rates(void **state)
{
	struct scenario s;
	double plain;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
	s.plan.serving.concurrency = 128;
	serve_estimate(&s, &now);
	plain = now.serving.tpot_seconds;
	s.cluster.scale = 1.5;
	serve_estimate(&s, &now);
	assert_close(now.serving.tpot_seconds, 1.5 * plain, 1e-9);
	assert_close(now.serving.goodput, now.serving.output_tokens_per_second, 1e-9);
	s.plan.serving.goal_tpot_seconds = 1.2 * plain;
	serve_estimate(&s, &now);
	assert_true(now.serving.goodput_concurrency < 128);
	s.plan.serving.goal_tpot_seconds = 0;
	turn(&s, "request_rate", "2");
	serve_estimate(&s, &now);
	assert_close(now.serving.requests_per_second, 2, 0.01);
	assert_close(now.serving.concurrency, 2 * now.serving.request_seconds, 0.15);
}

static void prefill_elsewhere_leaves_decoding_alone(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
	turn(&s, "gpus", "16");
	turn(&s, "tp", "8");
	turn(&s, "prompt", "8192");
	serve_estimate(&s, &now);
	turn(&s, "disaggregated", "on");
	turn(&s, "prefill_gpus", "8");
	serve_estimate(&s, &other);
	assert_true(other.feasible);
	assert_true(other.serving.tpot_seconds < now.serving.tpot_seconds);
	turn(&s, "prefill_gpus", "16");
	serve_estimate(&s, &other);
	assert_false(other.legal);
	assert_string_equal(other.problems.item[0].rule->code, "S1");
}

/* A queue that grows for ever is not served, however good what comes out of it is. */
static void the_fewest_gpus_carry_the_rate(void **state)
{
	static struct planner_problem problem;
	struct planner *planner;
	double most = 0, gpus[] = { 1, 2, 4, 8, 16 };

	(void)state;
	memset(&problem, 0, sizeof problem);
	serve(&problem.base, "llama3.1-70b", "dgx-h100", "vllm");
	turn(&problem.base, "precision", "fp8");
	turn(&problem.base, "request_rate", "8");
	turn(&problem.base, "goal_tpot", "40");
	problem.top = 1;
	problem.objective = OBJECTIVE_GPUS;
	planner_axes(&problem);
	assert_true(planner_pin(&problem, knob_find("gpus"), gpus, 5));
	planner = planner_start(&problem);
	assert_non_null(planner);
	while (planner_step(planner, 1000)) {
	}
	assert_true(planner_result(planner)->found > 0);
	planner_scenario(&problem, &planner_result(planner)->top[0], &problem.base);
	planner_free(planner);
	serve_estimate(&problem.base, &now);
	assert_close(now.serving.requests_per_second, 8, 0.02);
	assert_true(isfinite(now.serving.ttft_seconds));
	assert_true(now.serving.tpot_seconds <= 0.04);
	/* half of them would not do, whatever the plan */
	most = (double)problem.base.cluster.gpus / 2;
	assert_true(most >= 1);
	for (int tp = 1; tp <= (int)most; tp *= 2) {
		problem.base.cluster.gpus = (int64_t)most;
		problem.base.plan.tp = tp;
		problem.base.plan.pp = 1;
		problem.base.plan.serving.disaggregated = false;
		serve_estimate(&problem.base, &now);
		assert_false(now.feasible && isfinite(now.serving.ttft_seconds) &&
			     now.serving.tpot_seconds <= 0.04);
	}
}

static void impossible_servers_are_explained(void **state)
{
	static const struct {
		const char *key, *value, *code;
	} rows[] = {
		{ "tp", "16", "S1" },       { "tp", "5", "S3" },
		{ "ep", "2", "S17" },       { "dp_attention", "2", "S1" },
		{ "kv_shards", "3", "S9" }, { "speculative", "mtp", "S11" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;

		serve(&s, "llama3.1-70b", "dgx-h100", "vllm");
		turn(&s, rows[i].key, rows[i].value);
		serve_estimate(&s, &now);
		assert_false(now.legal);
		assert_string_equal(now.problems.item[0].rule->code, rows[i].code);
		assert_non_null(now.problems.item[0].knob);
	}
}

/* The pool that prefills is an engine too. */
static void experts_are_dealt_out_in_each_pool(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "mixtral-8x7b", "dgx-h100", "sglang");
	turn(&s, "gpus", "16");
	turn(&s, "tp", "4");
	turn(&s, "ep", "4");
	turn(&s, "disaggregated", "on");
	turn(&s, "prefill_gpus", "8");
	serve_estimate(&s, &now);
	assert_true(now.legal);
	turn(&s, "prefill_tp", "1");
	serve_estimate(&s, &now);
	assert_false(now.legal);
	assert_string_equal(now.problems.item[0].rule->code, "S5");
	turn(&s, "prefill_ep", "1");
	serve_estimate(&s, &now);
	assert_true(now.legal);
}

static void what_does_not_fit_says_so(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "llama3.1-405b", "dgx-h100", "vllm");
	serve_estimate(&s, &now);
	assert_true(now.legal);
	assert_false(now.fits);
	assert_false(now.feasible);
	assert_true(now.memory.total_bytes > now.capacity_bytes);
	turn(&s, "precision", "fp8");
	serve_estimate(&s, &now);
	assert_true(now.feasible);
}

/* Every model, every stack, both phases: finite, positive, the same bytes twice. */
static void anything_can_be_served(void **state)
{
	static const char *const stacks[] = { "vllm", "sglang", "tensorrt-llm",
					      "generic", "megatron-core" };
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct scenario s;

		serve(&s, list[i].name, "gb300-nvl72", stacks[i % 5]);
		turn(&s, "gpus", "64");
		turn(&s, "pp", "2");
		turn(&s, "tp", "1");
		turn(&s, "precision", i % 2 ? "fp8" : "bf16");
		serve_estimate(&s, &now);
		if (!now.legal)
			fail_msg("%s: %s", list[i].name,
				 now.problems.item[0].rule->text);
		for (int k = 0; k < metric_count(); k++) {
			double value = metric_get(&now, &metric_table[k]);

			if (!isfinite(value) || value < 0)
				fail_msg("%s: %s is %g", list[i].name,
					 metric_table[k].key, value);
		}
		if (!now.fits)
			continue;
		assert_true(now.serving.output_tokens_per_second > 0);
		assert_true(now.mfu > 0 && now.mfu < 1);
		memset(&other, 0xff, sizeof other);
		serve_estimate(&s, &other);
		assert_true(other.serving.tpot_seconds == now.serving.tpot_seconds);
	}
}

/* What a server begins with: goals where nobody has one, the format that the model was
 * published in, and the most requests that keep the goals; what was given stays. */
static void a_server_begins_with_what_is_missing(void **state)
{
	(void)state;
	for (int given = 0; given < 32; given++) {
		struct scenario s;
		struct serving_plan *v = &s.plan.serving;
		bool ttft = given & 1, tpot = given & 2, both = !ttft && !tpot;

		serve(&s, "deepseek-v3", "dgx-h200", "vllm");
		if (ttft)
			v->goal_ttft_seconds = 1;
		if (tpot)
			v->goal_tpot_seconds = 0.1;
		if (given & 4)
			s.plan.precision = PRECISION_FP8;
		if (given & 8)
			v->request_rate = 0.5;
		if (given & 16)
			v->concurrency = 3;
		int64_t before = v->concurrency;
		serve_begin(&s);
		assert_true(v->goal_ttft_seconds == (ttft ? 1 : both ? 2 : 0));
		assert_true(v->goal_tpot_seconds == (tpot ? 0.1 : both ? 0.05 : 0));
		assert_int_equal(s.plan.precision,
				 given & 4 ? PRECISION_FP8 : s.model.precision);
		if (given & 24) {
			assert_true(v->concurrency == before);
			continue;
		}
		serve_estimate(&s, &now);
		assert_true(now.feasible && v->concurrency > 0);
		assert_true(v->goal_ttft_seconds <= 0 ||
			    now.serving.ttft_seconds <= v->goal_ttft_seconds);
		assert_true(v->goal_tpot_seconds <= 0 ||
			    now.serving.tpot_seconds <= v->goal_tpot_seconds);
	}
}

/* Who comes at a rate waits while all places are taken, and is served; goals know of
 * the wait. */
static void goals_know_of_waits_for_room(void **state)
{
	struct scenario s;

	(void)state;
	serve(&s, "llama3.1-8b", "dgx-h100", "vllm");
	turn(&s, "gpus", "1");
	turn(&s, "tp", "1");
	turn(&s, "max_requests", "8");
	turn(&s, "concurrency", "8");
	serve_estimate(&s, &now);
	s.plan.serving.request_rate = 0.9 * now.serving.requests_per_second;
	serve_estimate(&s, &now);
	assert_true(now.serving.waiting > 0 && isfinite(now.serving.ttft_seconds));
	assert_close(now.serving.waiting,
		     now.serving.requests_per_second * now.serving.room_seconds, 1e-9);
	assert_true(now.serving.room_seconds > 0.5 * now.serving.ttft_seconds);
	s.plan.serving.goal_tpot_seconds = 1;
	s.plan.serving.goal_ttft_seconds = 1.01 * now.serving.ttft_seconds;
	serve_estimate(&s, &now);
	assert_true(objective_serves(&now, true));
	assert_close(now.serving.goodput, now.serving.output_tokens_per_second, 1e-9);
	s.plan.serving.goal_ttft_seconds = 0.9 * now.serving.ttft_seconds;
	serve_estimate(&s, &now);
	assert_true(objective_serves(&now, false) && !objective_serves(&now, true));
	assert_true(now.serving.goodput < now.serving.output_tokens_per_second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caches_are_as_large_as_published),
		cmocka_unit_test(latent_experts_are_lighter),
		cmocka_unit_test(memory_is_the_sum_of_its_parts),
		cmocka_unit_test(the_fullest_stage_has_a_layer_more),
		cmocka_unit_test(passes_respect_the_hardware),
		cmocka_unit_test(more_requests_take_longer_and_give_more),
		cmocka_unit_test(speculation_yields_what_its_paper_says),
		cmocka_unit_test(a_reused_layer_drafts_worse),
		cmocka_unit_test(every_rank_takes_all_latents),
		cmocka_unit_test(a_rate_leads_to_its_concurrency),
		cmocka_unit_test(a_prefix_cache_saves_prefill),
		cmocka_unit_test(goodput_keeps_to_the_goals),
		cmocka_unit_test(a_measured_run_scales_goals_and_rates),
		cmocka_unit_test(prefill_elsewhere_leaves_decoding_alone),
		cmocka_unit_test(the_fewest_gpus_carry_the_rate),
		cmocka_unit_test(impossible_servers_are_explained),
		cmocka_unit_test(experts_are_dealt_out_in_each_pool),
		cmocka_unit_test(what_does_not_fit_says_so),
		cmocka_unit_test(anything_can_be_served),
		cmocka_unit_test(a_server_begins_with_what_is_missing),
		cmocka_unit_test(goals_know_of_waits_for_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
