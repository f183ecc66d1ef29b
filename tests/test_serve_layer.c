/* test_serve_layer.c - FLOPs and bytes of a serving layer counted by hand, and seconds
 * of its kernels. */
#include <math.h>
#include <string.h>

#include "engine/serve/layer.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"

static struct scenario s;
static struct serve_context context;
static struct layer_pass layer;
/* Three requests decode two tokens each, beside 200 tokens of a prompt. */
static struct batch batch;

/* Of the scenario as it is now. */
static const struct chip_rates *rates_now(void)
{
	chip_rates(&s, &context.rates);
	return &context.rates;
}

static void serve(const char *model, double tp)
{
	struct error error = { "" };

	if (!scenario_blank(&s, model, "dgx-h100", "vllm", &error))
		fail_msg("%s", error.text);
	s.plan.mode = MODE_INFERENCE;
	s.plan.precision = PRECISION_BF16;
	s.cluster.gpus = (int64_t)tp;
	s.plan.tp = (int64_t)tp;
	serve_context(&s, &context);
	context.shape = (struct engine_shape){ tp, 1, 1, 1, 1, 1, tp, 1 };
	context.kv_bytes = 2;
	batch = (struct batch){ .requests = 3,
				.tokens_each = 2,
				.context = 1000,
				.prompt_tokens = 200,
				.prompt_context = 500,
				.prompt_requests = 1 };
}

/* Both halves of a layer of that kind, of the scenario as it is now. */
static void layer_pass(struct serve_context *c, int kind, const struct batch *b,
		       struct layer_pass *out)
{
	chip_rates(&s, &c->rates);
	layer_begin(out, true);
	layer_mixer(c, &s.model.kind[kind], b, out);
	layer_mlp(c, &s.model.kind[kind], b, out);
}

static const struct pass_operator *named(const char *name)
{
	for (int i = 0; i < layer.operators; i++)
		if (strcmp(layer.operator[i].name, name) == 0)
			return &layer.operator[i];
	fail_msg("no operator '%s'", name);
	return NULL;
}

static double payload(const char *name)
{
	for (int i = 0; i < layer.traffic_count; i++)
		if (strcmp(layer.traffic[i].what, name) == 0)
			return layer.traffic[i].payload_bytes;
	fail_msg("no traffic '%s'", name);
	return 0;
}

static bool has(const char *name)
{
	for (int i = 0; i < layer.operators; i++)
		if (strcmp(layer.operator[i].name, name) == 0)
			return true;
	return false;
}

/* 2 rows columns inner FLOPs; weights once, input and output in two bytes. */
static void check_gemm(const char *name, double rows, double columns, double inner)
{
	const struct pass_operator *op = named(name);

	assert_close(op->flops, 2 * rows * columns * inner, 1e-12);
	assert_close(op->bytes, columns * inner * 2 + 2 * rows * (columns + inner),
		     1e-12);
	assert_close(op->count, 1, 0);
}

enum { ROWS = 3 * 2 + 200 };

/* Llama-3.1 70B, hidden 8192, 64 heads and 8 of keys and values of 128, FFN 28672. */
static void test_grouped_queries_by_hand(void **state)
{
	const struct pass_operator *op;

	(void)state;
	serve("llama3.1-70b", 4);
	layer_pass(&context, 0, &batch, &layer);
	check_gemm("qkv projection", ROWS, 16 * 128 + 2 * (128 + 128), 8192);
	check_gemm("output projection", ROWS, 8192, 16 * 128);
	check_gemm("gate and up", ROWS, 2 * 28672 / 4, 8192);
	check_gemm("down", ROWS, 8192, 28672 / 4);
	op = named("decode attention");
	assert_close(op->flops, 2.0 * 6 * 16 * 1000 * 256, 1e-12);
	assert_close(op->bytes, 3.0 * 1000 * 2 * 256 * 2 + 6.0 * 16 * 256 * 2, 1e-12);
	op = named("prompt attention");
	assert_close(op->flops, 2.0 * 200 * 16 * 500 * 256, 1e-12);
	assert_close(op->bytes, 200.0 * (16 * 256 * 2 + 2 * 256 * 2), 1e-12);
	/* read and written once each in two bytes, the activation's two inputs and its
	 * output; the norm behind a residual reads and writes the sum, too */
	assert_close(named("input norm")->bytes, ROWS * 8192.0 * 4, 1e-12);
	assert_close(named("MLP norm")->bytes, ROWS * 8192.0 * 4, 1e-12);
	assert_close(named("rotary positions")->bytes, ROWS * (16 + 2) * 128.0 * 4,
		     1e-12);
	assert_close(named("cache writes")->bytes, ROWS * 2 * 256.0 * 4, 1e-12);
	assert_close(named("activation")->bytes, ROWS * 28672.0 / 4 * 6, 1e-12);
	assert_close(named("residual")->bytes, ROWS * 8192.0 * 4, 1e-12);
	assert_close(named("input norm")->count, s.stack.serving.small_kernels / 5,
		     1e-12);
	/* what each kernel asks for adds up */
	double flops = 0, bytes = 0, seconds = 0;

	for (int i = 0; i < layer.operators; i++) {
		flops += layer.operator[i].flops;
		bytes += layer.operator[i].bytes;
		seconds += layer.operator[i].seconds;
	}
	assert_close(layer.flops, flops, 1e-12);
	assert_close(layer.bytes, bytes, 1e-12);
	assert_close(layer.seconds, seconds, 1e-12);
	assert_true(layer.prompts);
}

/* Decoding alone runs no kernel of prompts, and the other way round. */
static void test_one_kind_of_tokens_alone(void **state)
{
	(void)state;
	serve("llama3.1-70b", 4);
	batch.prompt_tokens = 0;
	layer_pass(&context, 0, &batch, &layer);
	assert_false(has("prompt attention") || layer.prompts);
	check_gemm("qkv projection", 6, 16 * 128 + 2 * 256, 8192);
	batch.prompt_tokens = 200;
	batch.requests = 0;
	layer_pass(&context, 0, &batch, &layer);
	assert_false(has("decode attention"));
	check_gemm("qkv projection", 200, 16 * 128 + 2 * 256, 8192);
	/* CP shares prompts out */
	context.shape.cp = 2;
	layer_pass(&context, 0, &batch, &layer);
	check_gemm("qkv projection", 100, 16 * 128 + 2 * 256, 8192);
	assert_close(named("prompt attention")->flops, 2.0 * 100 * 16 * 500 * 256,
		     1e-12);
}

/* More ranks than heads of keys and values: each keeps a whole one. */
static void test_repeated_keys(void **state)
{
	(void)state;
	serve("llama3.1-70b", 16);
	layer_pass(&context, 0, &batch, &layer);
	check_gemm("qkv projection", ROWS, 4 * 128 + (128 + 128), 8192);
	assert_close(named("decode attention")->bytes,
		     3.0 * 1000 * 256 * 2 + 6.0 * 4 * 256 * 2, 1e-12);
	/* shards of the cache: a part of the context, and what they gather */
	context.shape.kv_shards = 2;
	layer_pass(&context, 0, &batch, &layer);
	assert_close(named("decode attention")->flops, 2.0 * 6 * 4 * 500 * 256, 1e-12);
	/* six tokens' queries of the four heads of both, and as much back, in 16 bits
	 */
	assert_close(payload("KV shard queries"), 6.0 * 2 * 4 * 128 * 2, 1e-12);
	assert_close(payload("KV shard outputs"), 6.0 * 2 * 4 * 128 * 2, 1e-12);
}

/* A window ends what is looked at, of requests and of prompts. */
static void test_windows(void **state)
{
	(void)state;
	serve("llama3.1-70b", 4);
	s.model.kind[0].attention.window = 300;
	layer_pass(&context, 0, &batch, &layer);
	assert_close(named("decode attention")->flops, 2.0 * 6 * 16 * 300 * 256, 1e-12);
	assert_close(named("prompt attention")->flops, 2.0 * 200 * 16 * 300 * 256,
		     1e-12);
}

/* DeepSeek-V3 (arXiv 2412.19437, section 4.2): hidden 7168, 128 heads of 128 + 64 and
 * 128, ranks 1536 and 512. Decoding works on latents of 512 + 64. */
static void test_latent_attention_by_hand(void **state)
{
	int kind = 0;

	(void)state;
	serve("deepseek-v3", 8);
	layer_pass(&context, kind, &batch, &layer);
	check_gemm("latent projections", ROWS, 1536 + 512 + 64, 7168);
	check_gemm("query up", ROWS, 16 * (128 + 64), 1536);
	check_gemm("absorbed keys", 6, 16 * 128, 512);
	check_gemm("absorbed values", 6, 16 * 128, 512);
	check_gemm("KV up", 200, 16 * (128 + 128), 512);
	check_gemm("output projection", ROWS, 7168, 16 * 128);
	assert_close(named("decode attention")->flops,
		     2.0 * 6 * 16 * 1000 * (2 * 512 + 64), 1e-12);
	assert_close(named("decode attention")->bytes,
		     3.0 * 1000 * (512 + 64) * 2 + 6.0 * 16 * (192 + 128) * 2, 1e-12);
	assert_close(named("prompt attention")->flops,
		     2.0 * 200 * 16 * 500 * (192 + 128), 1e-12);
	assert_close(named("prompt attention")->bytes,
		     200.0 * (16 * (192 + 128) * 2 + (512 + 64) * 2), 1e-12);
}

/* Mixtral: 8 experts of 14336, two for each token. */
static void test_experts_by_hand(void **state)
{
	const struct pass_operator *op;

	(void)state;
	serve("mixtral-8x7b", 2);
	context.shape.etp = 2;
	layer_pass(&context, 0, &batch, &layer);
	op = named("router");
	assert_close(op->flops, 2.0 * ROWS * 8 * 4096, 1e-12);
	op = named("routing and combining");
	/* tokens in and out; rows to their experts and back, in 16 bits; half of gate
	 * and up on each of two ranks, and the operand made of them */
	assert_close(op->bytes,
		     ROWS * 4.0 * 4096 +
			     ROWS * 2.0 * (4096 * (2 + 2.0) + 7168 * (4 + 2.0)),
		     1e-12);
	assert_close(op->count, 4, 0);
	assert_false(has("latent down"));
}

/* Of so many tokens that each choose at random: experts that nobody chose, token by
 * token. */
static void test_only_chosen_experts_are_read(void **state)
{
	static const double tokens[] = { 1, 2, 3, 10, 100, 100000 };
	const double weights = 14336.0 * 4096;

	(void)state;
	serve("mixtral-8x7b", 1);
	for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
		double untouched = 8;

		for (int t = 0; t < (int)tokens[i]; t++)
			untouched *= 1 - 2.0 / 8;
		layer_begin(&layer, true);
		layer_experts(&context, tokens[i], &layer);
		assert_close(named("expert down")->bytes,
			     (8 - untouched) * weights * 2 +
				     2 * tokens[i] * (14336 + 4096) * 2,
			     1e-9);
	}
}

/* The mean of the largest of n standard normal values, by its integral: n x f(x)
 * F(x)^(n-1). */
static double largest_normal(int n)
{
	double sum = 0, step = 1e-3;

	for (double x = -9; x < 9; x += step)
		sum += step * n * x * exp(-x * x / 2) / sqrt(2 * acos(-1)) *
		       pow(0.5 * erfc(-x / sqrt(2)), n - 1);
	return sum;
}

/* Where some experts are chosen more often than others all wait for the rank with most
 * rows: of n ranks, whose loads lie as far apart as those of their experts over the
 * root of how many they have. Copies of the busiest even out half of it. */
static void test_the_busiest_rank_of_many(void **state)
{
	static const int ranks[] = { 2, 4, 8, 16, 32, 64, 128 };
	const double skew = 0.2;

	(void)state;
	serve("deepseek-v3", 1);
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		int n = ranks[i];
		double apart = skew / sqrt(256.0 / n), even, busy;
		double expected = apart * largest_normal(n);

		context.shape.ep = n;
		s.plan.serving.redundant_experts = 0;
		s.plan.serving.routing_skew = 0;
		layer_begin(&layer, true);
		layer_experts(&context, 4096, &layer);
		even = named("expert down")->flops;
		assert_close(even, 2.0 * 4096 * 8 / n * 2048 * 7168, 1e-12);
		s.plan.serving.routing_skew = skew;
		layer_begin(&layer, true);
		layer_experts(&context, 4096, &layer);
		busy = named("expert down")->flops / even - 1;
		/* Blom's quantile is within 2 % of the mean of the largest, of two 5 %
		 */
		assert_close(busy, expected, n == 2 ? 0.05 : 0.02);
		s.plan.serving.redundant_experts = 32;
		layer_begin(&layer, true);
		layer_experts(&context, 4096, &layer);
		assert_close(named("expert down")->flops / even - 1, busy / 2, 1e-9);
	}
}

/* On chips with such products rows travel to experts in their format: Qwen3-30B's 2048
 * and 768 in NVFP4 with a scale each 16, and 16 bits on what comes out. */
static void test_narrow_rows_of_experts(void **state)
{
	struct serving_calibration *c = &s.cluster.accelerator.calibration.serving;
	double narrow = 0.5 + 1.0 / 16, peak;
	const struct pass_operator *op;

	(void)state;
	serve("qwen3-30b-a3b", 1);
	peak = s.cluster.accelerator.peak_flops[PRECISION_BF16];
	s.cluster.accelerator.peak_flops[PRECISION_NVFP4] = 1e15;
	s.plan.precision = PRECISION_NVFP4;
	layer_pass(&context, 0, &batch, &layer);
	assert_close(named("routing and combining")->bytes,
		     ROWS * 4.0 * 2048 +
			     ROWS * 8.0 * (2048 * (narrow + 2) + 768 * (4 + narrow)),
		     1e-12);
	/* an accelerator without them multiplies in 16 bits */
	s.cluster.accelerator.peak_flops[PRECISION_NVFP4] = 0;
	layer_pass(&context, 0, &batch, &layer);
	assert_close(named("routing and combining")->bytes,
		     ROWS * 4.0 * 2048 + ROWS * 8.0 * (2048 * 4.0 + 768 * 6.0), 1e-12);
	/* at the rate of weights that are unpacked, or else at that of 16 bits */
	c->gemm_efficiency[PRECISION_BF16] = 0.5;
	c->grouped_gemm_efficiency[PRECISION_BF16] = 0.8;
	c->grouped_gemm_efficiency[PRECISION_NVFP4] = 0.4;
	layer_pass(&context, 0, &batch, &layer);
	op = named("expert down");
	assert_close(op->compute_seconds, op->flops / (peak * 0.5 * 0.4), 1e-12);
	c->grouped_gemm_efficiency[PRECISION_NVFP4] = 0;
	layer_pass(&context, 0, &batch, &layer);
	assert_close(op->compute_seconds, op->flops / (peak * 0.5 * 0.8), 1e-12);
}

/* gpt-oss in MXFP4, a scale for each 32: 2,880 wide experts are stored 3,072 wide, and
 * half of 2,880 rows as 1,472 (vLLM) or 1,536 (TensorRT-LLM). Tokens meet them in the
 * narrowest format that the chip multiplies with them. */
static void test_experts_in_mxfp4(void **state)
{
	static const struct {
		const char *stack;
		double rows;
	} stored[] = { { "vllm", 1472 }, { "tensorrt-llm", 1536 } };
	double *peak = s.cluster.accelerator.peak_flops;

	(void)state;
	for (size_t i = 0; i < sizeof stored / sizeof stored[0]; i++) {
		struct error error = { "" };

		serve("gpt-oss-20b", 2);
		if (!library_stack(&s, stored[i].stack, &error))
			fail_msg("%s", error.text);
		context.shape.etp = 2;
		s.plan.precision = PRECISION_MXFP4;
		assert_close(serve_weight_bytes(&s), 4.25 / 8, 1e-12);
		batch = (struct batch){ .requests = 100000, .tokens_each = 1 };
		layer_pass(&context, 0, &batch, &layer);
		assert_close(named("expert down")->flops,
			     2 * 400000.0 * 3072 * stored[i].rows, 1e-12);
		/* every one of 32 experts is read */
		assert_close(named("expert down")->bytes,
			     32 * 3072 * stored[i].rows * 4.25 / 8 +
				     400000 * (2 * 3072 + 2 * stored[i].rows),
			     1e-12);
		/* the rest is in 16 bits, and nothing is turned narrow for it */
		assert_false(has("quantisation"));
	}
	assert_close(kernel_operand_bytes(&s), 2, 0);
	peak[PRECISION_NVFP4] = 9e15;
	assert_close(kernel_operand_bytes(&s), 2, 0);
	peak[PRECISION_MXFP8] = 4e15;
	assert_close(kernel_operand_bytes(&s), 1 + 1.0 / 32, 1e-12);
	assert_close(kernel_peak(&s, PRECISION_MXFP4), 4e15, 1e-12);
	peak[PRECISION_MXFP4] = 8e15;
	assert_close(kernel_operand_bytes(&s), 4.25 / 8, 1e-12);
	s.plan.precision = PRECISION_NVFP4;
	assert_close(serve_weight_bytes(&s), 4.5 / 8, 1e-12);
	assert_close(kernel_peak(&s, PRECISION_NVFP4), 9e15, 1e-12);
	/* blocks of 128 have a scale of four bytes, where the chip has such products */
	s.plan.precision = PRECISION_FP8_BLOCK;
	peak[PRECISION_FP8_BLOCK] = 0;
	assert_close(kernel_operand_bytes(&s), 1, 0);
	assert_close(kernel_peak(&s, PRECISION_FP8_BLOCK), peak[PRECISION_FP8], 0);
	peak[PRECISION_FP8_BLOCK] = 3e15;
	assert_close(kernel_operand_bytes(&s), 1 + 4.0 / 128, 1e-12);
	assert_close(kernel_peak(&s, PRECISION_FP8_BLOCK), 3e15, 0);
}

/* Bytes of a weight and of an element of the KV cache by their formats: scales of 32
 * bits for 128 x 128 weights (DeepSeek-V3's), of 8 bits for 32 (OCP MX 1.0,
 * section 5.2) or 16 elements (NVFP4), of 16 bits with zeros of 4 for 128 (AWQ), or as
 * the model has them. */
static void test_bytes_of_each_format(void **state)
{
	static const struct {
		enum precision precision;
		double weight;
	} weights[] = {
		{ PRECISION_FP32, 4 },
		{ PRECISION_BF16, 2 },
		{ PRECISION_FP16, 2 },
		{ PRECISION_FP8, 1 },
		{ PRECISION_INT8, 1 },
		{ PRECISION_FP8_BLOCK, (128 * 128 * 8 + 32) / (8.0 * 128 * 128) },
		{ PRECISION_MXFP8, (32 * 8 + 8) / (8.0 * 32) },
		{ PRECISION_NVFP4, (16 * 4 + 8) / (8.0 * 16) },
		{ PRECISION_MXFP4, (32 * 4 + 8) / (8.0 * 32) },
		{ PRECISION_INT4, (128 * 4 + 16 + 4) / (8.0 * 128) },
	};
	static const struct {
		enum kv_precision precision;
		double element;
	} caches[] = { { KV_FP8, 1 },
		       { KV_INT8, 1 },
		       { KV_FP4, (16 * 4 + 8) / (8.0 * 16) },
		       { KV_BF16, 2 } };

	(void)state;
	serve("llama3.1-8b", 1);
	for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
		s.plan.precision = weights[i].precision;
		assert_close(serve_weight_bytes(&s), weights[i].weight, 1e-12);
		for (size_t k = 0; k < sizeof caches / sizeof *caches; k++) {
			s.plan.serving.kv_precision = caches[k].precision;
			assert_close(serve_kv_element_bytes(&s), caches[k].element,
				     1e-12);
		}
		/* auto: the activations' own, narrow where the stack says so */
		s.plan.serving.kv_precision = KV_AUTO;
		for (int narrow = 0; narrow < 2; narrow++) {
			bool eight = weights[i].precision == PRECISION_FP8 ||
				     weights[i].precision == PRECISION_NVFP4;

			s.stack.serving.narrow_kv = narrow;
			assert_close(serve_kv_element_bytes(&s),
				     weights[i].precision == PRECISION_FP32 ? 4
				     : narrow && eight                      ? 1
									    : 2,
				     1e-12);
		}
	}
	/* groups of its own, without zeros, where it was published so */
	s.plan.precision = s.model.precision = PRECISION_INT4;
	s.model.quantised_group = 32;
	assert_close(serve_weight_bytes(&s), (32 * 4 + 16) / (8.0 * 32), 1e-12);
}

/* Where experts work at a width of their own (Nemotron 3), tokens go down and up. */
static void test_latent_experts(void **state)
{
	int kind = 0;

	(void)state;
	serve("nemotron-3-super", 1);
	while (s.model.kind[kind].mlp != MLP_MOE)
		kind++;
	assert_true(s.model.moe.expert_latent > 0);
	layer_pass(&context, kind, &batch, &layer);
	check_gemm("latent down", ROWS, (double)s.model.moe.expert_latent,
		   (double)s.model.hidden);
	check_gemm("latent up", ROWS, (double)s.model.hidden,
		   (double)s.model.moe.expert_latent);
}

/* Mamba: of a decoding request's state each byte is read and written in fp32, of a
 * prompt once for each chunk. */
static void test_states_by_hand(void **state)
{
	const struct pass_operator *op;
	double of_state;

	(void)state;
	serve("mamba2-2.7b", 2);
	layer_pass(&context, 0, &batch, &layer);
	of_state = (double)s.model.ssm.inner * (double)s.model.ssm.state / 2;
	op = named("scan");
	/* a prompt in chunks: 2 (c/2 (g n + i) + 2 i n) a token (arXiv 2405.21060) */
	assert_close(op->flops,
		     6.0 * 6 * of_state +
			     200.0 * 2 *
				     ((double)s.model.ssm.chunk / 2 *
					      (fmax(1, (double)s.model.ssm.groups / 2) *
						       (double)s.model.ssm.state +
					       (double)s.model.ssm.inner / 2) +
				      2 * of_state),
		     1e-12);
	assert_close(op->bytes,
		     (6 + ceil(200.0 / (double)s.model.ssm.chunk)) * of_state * 8 +
			     ROWS * (double)s.model.ssm.inner / 2 * 8,
		     1e-12);
	assert_close(op->count, 2, 0);
}

/* A GEMM's seconds: its start, and both bounds rounded where they meet. */
/* Llama 3.1 8B, rank 16: beside 4096 x 6144 of queries, keys and values an adapter of
 * each, 3 x 4096 + 6144 wide; beside the output 4096 + 4096; of both halves of the MLP
 * 2 x 4096 + 28672; beside its way down 14336 + 4096. Each row goes through its own,
 * reads the input and adds to the output; of four each is read once. */
static void test_adapters_by_hand(void **state)
{
	const double wide = 18432 + 8192 + 36864 + 18432, rows = 3 * 2 + 200;
	const double moved =
		4096 + 2 * 6144 + 4096 + 2 * 4096 + 4096 + 2 * 28672 + 14336 + 2 * 4096;

	(void)state;
	serve("llama3.1-8b", 1);
	s.plan.serving.adapter_rank = 16;
	layer_pass(&context, 0, &batch, &layer);
	assert_false(has("LoRA adapters"));
	for (int64_t adapters = 1; adapters <= 8; adapters *= 2) {
		double used = fmin((double)adapters, 4), flops = 0, bytes = 0;

		s.plan.serving.adapters = adapters;
		layer_pass(&context, 0, &batch, &layer);
		for (int i = 0; i < layer.operators; i++)
			if (strcmp(layer.operator[i].name, "LoRA adapters") == 0) {
				flops += layer.operator[i].flops;
				bytes += layer.operator[i].bytes;
			}
		assert_close(flops, 2 * rows * 16 * wide, 1e-12);
		assert_close(bytes, 2 * used * 16 * wide + 2 * rows * moved, 1e-12);
	}
}

static void test_kernels_by_hand(void **state)
{
	struct serving_calibration *c;
	struct kernel k;
	double compute, memory;

	(void)state;
	serve("llama3.1-70b", 1);
	c = &s.cluster.accelerator.calibration.serving;
	c->roofline_exponent = 3;
	c->kernel_seconds = 5e-6;
	c->gemm_efficiency[PRECISION_BF16] = 0.8;
	c->stream_efficiency[PRECISION_BF16] = 0.9;
	s.cluster.accelerator.peak_flops[PRECISION_BF16] = 1e15;
	s.cluster.accelerator.memory_bytes_per_second = 3e12;
	kernel_gemm(rates_now(), true, 64, 8192, 4096, &k);
	compute = 2.0 * 64 * 8192 * 4096 / (1e15 * 0.8);
	memory = (8192.0 * 4096 * 2 + 2.0 * 64 * (8192 + 4096)) / (3e12 * 0.9);
	assert_close(k.compute_seconds, compute, 1e-12);
	assert_close(k.memory_seconds, memory, 1e-12);
	assert_close(k.seconds, 5e-6 + cbrt(pow(compute, 3) + pow(memory, 3)), 1e-9);
	c->roofline_exponent = 2;
	kernel_gemm(rates_now(), true, 64, 8192, 4096, &k);
	assert_close(k.seconds, 5e-6 + hypot(compute, memory), 1e-14);
	c->roofline_exponent = 3;
	c->attention_efficiency = 0.5;
	c->attention_fixed_seconds = 7e-6;
	kernel_prompt_attention(rates_now(), 1e12, 1e9, &k);
	assert_close(k.seconds, 7e-6 + 1e12 / (1e15 * 0.5) + 1e9 / (3e12 * 0.9), 1e-12);
	c->decode_fixed_seconds = 3e-6;
	c->kv_efficiency = 0.6;
	c->latent_efficiency = 0.25;
	kernel_decode_attention(rates_now(), false, 1e9, 1e9, &k);
	assert_close(k.compute_seconds, 1e9 / (1e15 * 0.5), 1e-12);
	assert_close(k.memory_seconds, 1e9 / (3e12 * 0.6), 1e-12);
	assert_close(k.seconds,
		     3e-6 + cbrt(pow(k.compute_seconds, 3) + pow(k.memory_seconds, 3)),
		     1e-9);
	kernel_decode_attention(rates_now(), true, 1e9, 1e9, &k);
	assert_close(k.compute_seconds, 1e9 / (1e15 * 0.25), 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grouped_queries_by_hand),
		cmocka_unit_test(test_one_kind_of_tokens_alone),
		cmocka_unit_test(test_repeated_keys),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_latent_attention_by_hand),
		cmocka_unit_test(test_experts_by_hand),
		cmocka_unit_test(test_only_chosen_experts_are_read),
		cmocka_unit_test(test_the_busiest_rank_of_many),
		cmocka_unit_test(test_narrow_rows_of_experts),
		cmocka_unit_test(test_experts_in_mxfp4),
		cmocka_unit_test(test_bytes_of_each_format),
		cmocka_unit_test(test_latent_experts),
		cmocka_unit_test(test_states_by_hand),
		cmocka_unit_test(test_adapters_by_hand),
		cmocka_unit_test(test_kernels_by_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
