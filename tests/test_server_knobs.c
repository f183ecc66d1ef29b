/* test_server_knobs.c - what knobs of a server do: to which number, in which direction,
 * by how much, and why. */
#include "engine/knob/knob.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/effect.h"

enum { LLAMA, DEEPSEEK };

#define RISES        TIMES, 1.0001, 1e6
#define FALLS        TIMES, 0, 0.9999
#define IS(ratio)    TIMES, (ratio), (ratio)
#define ADDS(amount) PLUS, (amount), (amount)

static const struct effect rows[] = {
	{ LLAMA, "", "prompt", "2k", "4k", "prefill_seconds", TIMES, 1.8, 2.5,
	  "twice the tokens, and more to see for each" },
	{ LLAMA, "", "prompt", "2k", "4k", "kv_bytes_per_token", IS(1),
	  "of one token" },
	{ LLAMA, "", "output", "512", "1024", "request_seconds", TIMES, 1.4, 2,
	  "a pass for each token" },
	{ LLAMA, "", "concurrency", "16", "32", "kv_bytes", IS(2), "as many requests" },
	{ LLAMA, "", "concurrency", "16", "32", "output_tokens_per_second", TIMES, 1.3,
	  2, "weights are read once for more of them" },
	{ LLAMA, "", "kv_precision", "bf16", "fp8", "kv_bytes_per_token", IS(0.5),
	  "a byte in place of two" },
	{ LLAMA, "", "tp", "8", "4", "weights_bytes", TIMES, 1.98, 2.01,
	  "twice the part of each matrix" },
	{ LLAMA, "", "precision", "bf16", "fp8", "weights_bytes", TIMES, 0.5, 0.55,
	  "a byte in place of two, tables stay" },
	{ LLAMA, "", "memory_share", "0.9", "0.8", "kv_tokens", FALLS,
	  "a tenth of the memory less for the cache" },
	{ LLAMA, "prefix_cache=on", "shared_prefix", "0", "0.5", "prefill_seconds",
	  FALLS, "half of the prompt is there already" },
	{ LLAMA, "shared_prefix=0.5", "prefix_cache", "off", "on", "prefill_seconds",
	  FALLS, "half of the prompt is there already" },
	{ LLAMA, "prompt=16k host_prefix=0.5", "host_kv", "0", "64", "prefill_seconds",
	  FALLS, "half of the prompt is copied from the host" },
	{ LLAMA, "", "host_kv", "32", "64", "host_tokens", IS(2), "twice the memory" },
	{ LLAMA, "prompt=16k host_kv=64", "host_prefix", "0.2", "0.8", "ttft_seconds",
	  FALLS, "a copy of a token is quicker than computing it" },
	{ LLAMA, "", "host_overlap", "on", "off", "tpot_seconds", RISES,
	  "each request's share of scheduling is waited for" },
	{ LLAMA, "", "receive_interval", "1", "21", "ttft_seconds", RISES,
	  "ten more passes in the mean" },
	{ LLAMA, "", "batch_wait", "0", "20", "ttft_seconds", RISES,
	  "up to twenty passes until the next prompts" },
	{ LLAMA, "prompt=7600 output=64", "batch_wait", "0", "20", "ttft_seconds",
	  IS(1), "one prompt fills nine tenths of a pass of 8,192" },
	{ LLAMA, "", "length_spread", "0", "0.5", "ttft_seconds", FALLS,
	  "requests that began together part, and come one by one" },
	{ LLAMA, "length_spread=0.2", "length_shape", "uniform", "lognormal",
	  "ttft_seconds", FALLS, "a deviation of 0.2 in place of 0.2 / root 3" },
	{ LLAMA, "request_rate=4", "arrival_scv", "1", "4", "ttft_seconds", RISES,
	  "those that come together wait for each other" },
	{ LLAMA, "request_rate=4", "arrival_scv", "1", "0", "ttft_seconds", FALLS,
	  "whoever comes evenly waits for the pass under way alone" },
	{ DEEPSEEK, "", "routing_skew", "0", "1", "prefill_seconds", TIMES, 1.02, 1.5,
	  "1 + 1.77 / root of 16 = 1.44 times the rows of the experts" },
	{ DEEPSEEK, "routing_skew=1", "redundant_experts", "0", "32", "prefill_seconds",
	  FALLS, "copies of the busiest even out half of it" },
	/* Of 80 layers, on each of 8 ranks: qkv 3 x 8192 + 10240 / 8, output 1024 +
	 * 8192, gate and up 2 x 8192 + 57344 / 8, down 3584 + 8192: 70,400 of each
	 * rank, in two bytes */
	{ LLAMA, "adapter_rank=64", "adapters", "0", "8", "weights_bytes",
	  ADDS(8 * 2 * 64 * 80 * 70400.0), "eight adapters of rank 64" },
	{ LLAMA, "adapters=8", "adapter_rank", "16", "32", "weights_bytes",
	  ADDS(8 * 2 * 16 * 80 * 70400.0), "sixteen more of each" },
	{ LLAMA, "adapter_rank=64", "adapters", "0", "8", "tpot_seconds", RISES,
	  "two more kernels beside each matrix, and 5.8 GB to read" },
	{ LLAMA, "concurrency=4 adapter_rank=64", "adapters", "4", "8", "tpot_seconds",
	  TIMES, 0.999, 1.001, "four requests use four" },
	/* 61 layers, three of them dense: 58 x 32 copies of 3 x 7168 x 2048 weights in
	 * a byte, over 16 ranks */
	{ DEEPSEEK, "", "redundant_experts", "0", "32", "weights_bytes", TIMES, 1.08,
	  1.13, "32 copies beside 256 experts: an eighth of the experts more" },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static void begin(struct scenario *s, int which)
{
	static const char *const model[] = { "llama3.1-70b", "deepseek-v3" };
	static const char *const knobs[] = { "mode=inference gpus=8 tp=8",
					     "mode=inference gpus=16 tp=1 "
					     "dp_attention=16 ep=16" };
	struct error error = { "" };

	if (!scenario_blank(s, model[which], "dgx-h200", "vllm", &error))
		fail_msg("%s", error.text);
	effect_set(s, knobs[which]);
}

static void test_knobs_move_what_they_should(void **state)
{
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		struct scenario s;

		begin(&s, rows[i].scenario);
		effect_check(&rows[i], &s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_knobs_move_what_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
