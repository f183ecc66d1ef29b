/* test_rates.c - no kernel of a server computes or reads faster than its accelerator
 * can: on every cluster, in every format that it takes, and whole passes of every
 * server. */
#include <stdio.h>

#include "engine/serve/kernels.h"
#include "engine/serve/pass.h"
#include "engine/serve/serve.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static int checked;

/* Rounding apart. `of`: the format that its products run in. */
static void is_physical(const struct scenario *s, const struct kernel *k,
			enum precision of, const char *what)
{
	double peak = kernel_peak(s, of);
	double rate = s->cluster.accelerator.memory_bytes_per_second;
	char name[16];

	snprintf(name, sizeof name, "%d", (int)s->plan.precision);
	checked++;
	if (k->flops > 1.000001 * peak * k->compute_seconds)
		fail_msg("%s in format %s on %s: %.3f of the peak", what, name,
			 s->cluster.name, k->flops / k->compute_seconds / peak);
	if (k->bytes > 1.000001 * rate * k->memory_seconds)
		fail_msg("%s in format %s on %s: %.3f of what the memory gives", what,
			 name, s->cluster.name, k->bytes / k->memory_seconds / rate);
}

static void check_kernels(const struct scenario *s)
{
	enum precision of = (enum precision)s->plan.precision;
	struct chip_rates rates;
	struct kernel k;

	chip_rates(s, &rates);
	kernel_gemm(&rates, true, 4096, 8192, 8192, &k);
	is_physical(s, &k, of, "a product");
	kernel_gemm(&rates, true, 1, 8192, 8192, &k);
	is_physical(s, &k, of, "a product with one row");
	kernel_gemm(&rates, false, 4096, 8192, 8192, &k);
	is_physical(s, &k, PRECISION_BF16, "a product in 16 bits");
	kernel_experts(&rates, 65536, 4096, 4096, 8, &k);
	is_physical(s, &k, of, "experts");
	kernel_experts(&rates, 8, 4096, 4096, 8, &k);
	is_physical(s, &k, of, "experts with a row each");
	kernel_prompt_attention(&rates, 1e12, 1e9, &k);
	is_physical(s, &k, PRECISION_BF16, "attention of prompts");
	for (int latent = 0; latent < 2; latent++) {
		kernel_decode_attention(&rates, latent, 1e11, 1e10, &k);
		is_physical(s, &k, PRECISION_BF16, "attention of decoding requests");
	}
	kernel_elementwise(&rates, 1, 1e9, &k);
	is_physical(s, &k, PRECISION_BF16, "elementwise work");
}

static void every_cluster_keeps_to_its_datasheet(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_CLUSTER, &list);

	(void)state;
	checked = 0;
	for (int i = 0; i < count; i++) {
		struct scenario s;
		struct error error;

		if (!scenario_blank(&s, "llama3.1-8b", list[i].name, "vllm", &error))
			fail_msg("%s", error.text);
		for (int p = 0; p < PRECISION_COUNT; p++)
			for (int kv = 0; kv < 2; kv++) {
				s.plan.precision = p;
				case_set(&s, "kv_precision", kv ? "fp8" : "bf16");
				check_kernels(&s);
			}
	}
	assert_true(checked > 1000);
}

static void check_pass(const struct scenario *s, const struct batch *b)
{
	double peak = kernel_peak(s, (enum precision)s->plan.precision);
	struct serve_context context;
	struct pass pass;

	if (kernel_peak(s, PRECISION_BF16) > peak)
		peak = kernel_peak(s, PRECISION_BF16);
	serve_context(s, &context);
	context.fabric.any_size = false;
	serve_pass(&context, b, false, &pass);
	checked++;
	if (pass.flops > peak * pass.seconds ||
	    pass.bytes > s->cluster.accelerator.memory_bytes_per_second * pass.seconds)
		fail_msg("%s on %s with %s, format %d, %g + %g tokens", s->model.name,
			 s->cluster.name, s->stack.name, s->plan.precision, b->requests,
			 b->prompt_tokens);
}

/* The rates of stacks, too: what they make of a pass over prompts. */
static void every_server_keeps_to_its_datasheet(void **state)
{
	static const char *const models[] = { "llama3.1-70b", "deepseek-v3",
					      "gpt-oss-120b" };
	static const struct batch batches[] = {
		{ .requests = 256,
		  .tokens_each = 1,
		  .context = 2000,
		  .captured = true },
		{ .prompt_tokens = 32768,
		  .prompt_context = 16384,
		  .prompt_requests = 1 },
	};
	const struct preset *clusters, *stacks;
	int count = preset_list(PRESET_CLUSTER, &clusters);
	int all = preset_list(PRESET_STACK, &stacks);
	struct scenario s;
	struct error error;

	(void)state;
	checked = 0;
	for (int i = 0; i < 3 * count * all; i++) {
		const char *model = models[i % 3];

		if (!scenario_blank(&s, model, clusters[i / 3 % count].name,
				    stacks[i / 3 / count].name, &error))
			fail_msg("%s", error.text);
		if (!s.stack.serves)
			continue;
		for (int p = 0; p < PRECISION_COUNT; p++)
			for (int b = 0; b < 2; b++) {
				s.plan.precision = p;
				check_pass(&s, &batches[b]);
			}
	}
	assert_true(checked > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cluster_keeps_to_its_datasheet),
		cmocka_unit_test(every_server_keeps_to_its_datasheet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
