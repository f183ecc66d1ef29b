/* test_layer_at_work.c - the layer that runs backward holds all its tensors: those that
 * it computes again and those that come back from the host, of the kind that lacks
 * most. */
#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/effect.h"

static struct estimate one, other;

static void estimate_of(const char *model, const char *knobs, struct estimate *out)
{
	struct error error = { "" };
	struct scenario s;

	if (!scenario_blank(&s, model, "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 64;
	s.stack.rules = 0;
	effect_set(&s, "pp=1 zero=1 micro_batch=1 global_batch=64 seq_len=4096 "
		       "recompute=none attention_kernel=flash2");
	effect_set(&s, knobs);
	train_estimate(&s, out);
	assert_true(out->legal);
}

/* With flash attention selective recomputation of attention's core has nothing to drop:
 * neither does it add anything, whatever other kinds of layers hold. */
static void test_other_kinds_bring_nothing_back(void **state)
{
	static const char *const hybrids[] = { "jamba-v0.1", "granite-4.0-h-small",
					       "ling-2.6-flash", "qwen3-next-80b-a3b" };

	(void)state;
	for (int i = 0; i < 4; i++) {
		estimate_of(hybrids[i], "ep=8", &one);
		estimate_of(hybrids[i],
			    "ep=8 recompute=selective recompute_modules=core_attn",
			    &other);
		assert_close(other.stage[0].activations_bytes,
			     one.stage[0].activations_bytes, 1e-12);
	}
}

/* All layers are alike, and an even share of what they keep is a layer's. */
static void test_a_layer_comes_back_from_the_host(void **state)
{
	double layers, ends, layer;

	(void)state;
	estimate_of("llama3.1-8b", "", &one);
	estimate_of("llama3.1-8b", "activation_offload=1", &other);
	layers = one.stage[0].activations_bytes;
	layer = other.stage[0].activations_bytes;
	/* embedding and head keep inputs: two of them, 4096 tokens of 4096 in 16 bits
	 */
	ends = layers - 32 * layer;
	assert_true(layer > 0);
	assert_true(ends >= 0 && ends <= 2 * 4096.0 * 4096 * 2);
	assert_close(other.stage[0].host_activations_bytes, layers, 1e-12);
	estimate_of("llama3.1-8b", "activation_offload=0.5", &other);
	assert_close(other.stage[0].activations_bytes, layers / 2 + layer / 2, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_kinds_bring_nothing_back),
		cmocka_unit_test(test_a_layer_comes_back_from_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
