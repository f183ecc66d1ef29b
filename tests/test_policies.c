/* test_policies.c - what named policies keep of a layer, what they compute again and
 * what they send to the host, by hand; and the files that name them. */
#include <stdlib.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "presets/formats.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

/* Llama-3 70B on TP 8 with SP, 8192 tokens, 16 bits: bytes of a layer's tensors. */
#define INPUT   (8192.0 / 8 * 8192 * 2)
#define QKV     (8192.0 * 10240 / 8 * 2)
#define CONTEXT (8192.0 * 8 * (128 * 2 + 4)) /* with a sum of each row and head */
#define OUT     INPUT
#define MLP_IN  (8192.0 * 2 * 28672 / 8 * 2)
#define MLP_OUT INPUT

static double value(const struct scenario *s, const char *key)
{
	static struct estimate e;
	struct explanation x;

	train_estimate(s, &e);
	assert_true(e.legal);
	assert_true(explain(s, &e, key, &x));
	return x.value;
}

static void begin(struct scenario *s, const char *policy)
{
	case_dense(s);
	case_set(s, "recompute", "selective");
	case_set(s, "remat_policy", policy);
}

/* The names that save_only_these_names() gets in MaxText's get_remat_policy(), and the
 * input that a scan over layers carries. */
static void test_policies_keep_what_they_name(void **state)
{
	static const struct {
		const char *policy;
		double kept, sent;
	} rows[] = {
		{ "minimal_with_context", QKV + CONTEXT + OUT + MLP_IN + MLP_OUT, 0 },
		{ "minimal", QKV + OUT + MLP_IN + MLP_OUT, 0 },
		{ "save_dot_with_context_except_mlp", QKV + CONTEXT + OUT, 0 },
		{ "save_dot_except_mlpwi", QKV + OUT + MLP_OUT, 0 },
		{ "save_dot_except_mlp", QKV + OUT, 0 },
		{ "save_qkv_proj", QKV, 0 },
		{ "save_out_proj", OUT, 0 },
		{ "qkv_proj_offloaded", 0, QKV },
		{ "minimal_offloaded", 0, QKV + OUT + MLP_IN + MLP_OUT },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(&s, rows[i].policy);
		assert_close(value(&s, "kinds.0.saved_bytes"), INPUT + rows[i].kept,
			     1e-9);
		assert_close(value(&s, "kinds.0.sent_bytes"), rows[i].sent, 1e-9);
	}
}

/* A custom policy of the same tensors is the named one; what is kept and sent is sent.
 */
static void test_custom_policies_are_lists(void **state)
{
	static const struct {
		const char *kept, *sent, *like;
	} rows[] = {
		{ "qkv+out", "none", "save_dot_except_mlp" },
		{ "qkv+context+out+mlp_in+mlp_out", "none", "minimal_with_context" },
		{ "qkv", "qkv", "qkv_proj_offloaded" },
	};
	static const char *const keys[] = { "kinds.0.saved_bytes", "kinds.0.sent_bytes",
					    "kinds.0.again_flops" };
	struct scenario s, named;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(&s, "custom");
		case_set(&s, "remat_kept", rows[i].kept);
		case_set(&s, "remat_sent", rows[i].sent);
		begin(&named, rows[i].like);
		assert_true(plan_sends_activations(&s.plan) ==
			    plan_sends_activations(&named.plan));
		for (int k = 0; k < 3; k++)
			assert_close(value(&s, keys[k]), value(&named, keys[k]), 1e-12);
	}
}

/* FLOPs that run again: products that are not saved and that something asks for, which
 * nothing does of the MLP's output; attention unless its output is saved. */
static void test_policies_compute_the_rest_again(void **state)
{
	const double tokens = 8192, h = 8192;
	const double attention = 4 * tokens * (tokens / 2 + 0.5) * 8 * 128;
	const double qkv = 2 * tokens * 10240 / 8 * h, out = 2 * tokens * h * h / 8;
	const double mlp = 2 * tokens * 2 * 28672 / 8 * h;
	const struct {
		const char *policy;
		double again;
	} rows[] = {
		{ "minimal_with_context", 0 },
		{ "minimal", attention },
		{ "save_dot_with_context_except_mlp", mlp },
		{ "save_dot_except_mlpwi", attention + mlp },
		{ "save_dot_except_mlp", attention + mlp },
		{ "save_qkv_proj", attention + mlp + out },
		{ "save_out_proj", attention + mlp + qkv },
		{ "qkv_proj_offloaded", attention + mlp + out },
		{ "minimal_offloaded", attention },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(&s, rows[i].policy);
		assert_close(value(&s, "kinds.0.again_flops"), rows[i].again, 2e-4);
	}
}

/* Each names the input of a part. */
static void test_modules_send_their_input(void **state)
{
	static const struct {
		const char *modules;
		double sent;
	} rows[] = {
		{ "none", 0 },
		{ "attn_norm", INPUT },
		{ "qkv_linear", INPUT },
		{ "core_attn", QKV },
		{ "core_attn+attn_proj", QKV + CONTEXT },
		{ "mlp_norm", INPUT },
		{ "expert_fc1+moe_act", 0 },
		{ "attn_norm+qkv_linear+mlp_norm", 3 * INPUT },
	};
	struct scenario s;
	double whole;

	(void)state;
	case_dense(&s);
	whole = value(&s, "kinds.0.saved_bytes");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		case_set(&s, "offload_modules", rows[i].modules);
		assert_close(value(&s, "kinds.0.sent_bytes"), rows[i].sent, 1e-9);
		assert_close(value(&s, "kinds.0.saved_bytes"), whole - rows[i].sent,
			     1e-9);
	}
}

/* What is computed again is not there to be sent. */
static void test_nothing_goes_twice(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "recompute", "selective");
	case_set(&s, "recompute_modules", "layernorm");
	case_set(&s, "offload_modules", "attn_norm+qkv_linear");
	assert_close(value(&s, "kinds.0.sent_bytes"), INPUT, 1e-9);
	case_set(&s, "recompute", "full");
	assert_close(value(&s, "kinds.0.sent_bytes"), 0, 0);
	assert_close(value(&s, "kinds.0.saved_bytes"), INPUT, 1e-9);
}

static void test_experts_send_their_rows(void **state)
{
	struct scenario s;

	(void)state;
	case_moe(&s);
	case_set(&s, "offload_modules", "expert_fc1");
	assert_true(value(&s, "kinds.0.sent_bytes") > 0);
	case_set(&s, "offload_modules", "moe_act");
	assert_true(value(&s, "kinds.0.sent_bytes") > 0);
}

/* --fine-grained-activation-offloading switches --offload-modules on. */
static void test_megatron_says_its_modules(void **state)
{
	static const char plain[] =
		"pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
		"--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 "
		"--global-batch-size 128 --offload-modules core_attn attn_proj";
	static const char *const formats[] = { "megatron", "bridge" };
	struct scenario s, back;
	char text[512];

	(void)state;
	read_good("megatron", plain, &s);
	expect(&s, "offload_modules", "none");
	snprintf(text, sizeof text, "%s --fine-grained-activation-offloading", plain);
	read_good("megatron", text, &s);
	expect(&s, "offload_modules", "core_attn+attn_proj");
	for (int i = 0; i < 2; i++) {
		char *written;

		case_dense(&s);
		case_set(&s, "offload_modules", "core_attn+mlp_norm");
		written =
			format_find_written(formats[i])
				->out.write(&(struct format_request){ .scenario = &s });
		read_good("megatron", written, &back);
		expect(&back, "offload_modules", "core_attn+mlp_norm");
		free(written);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policies_keep_what_they_name),
		cmocka_unit_test(test_policies_compute_the_rest_again),
		cmocka_unit_test(test_custom_policies_are_lists),
		cmocka_unit_test(test_modules_send_their_input),
		cmocka_unit_test(test_nothing_goes_twice),
		cmocka_unit_test(test_experts_send_their_rows),
		cmocka_unit_test(test_megatron_says_its_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
