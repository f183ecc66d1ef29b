/* test_silence.c - what a file does not state stands for a value, which README and the
 * headers name: a plan or server on constants that are not there has the numbers of one
 * on constants that state just that. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

static struct estimate stated, silent;

#define AT(path)     offsetof(struct scenario, path)
#define OF(name)     AT(cluster.accelerator.calibration.name)
#define SERVES(name) OF(serving.name)

/* Which constant, so many in a row, and what stands for one that is not there. */
struct row {
	const char *name;
	size_t offset;
	int count;
	double value;
};

static const struct row of_training[] = {
	{ "gemm_efficiency", OF(gemm_efficiency), PRECISION_COUNT, 1 },
	{ "attention_efficiency", OF(attention_efficiency), ATTENTION_COUNT, 1 },
	{ "unaligned_efficiency", OF(unaligned_efficiency), 1, 1 },
	{ "narrow_head_efficiency", OF(narrow_head_efficiency), 1, 1 },
	{ "fp8_attention_gain", OF(fp8_attention_gain), 1, 1 },
	{ "memory_efficiency", OF(memory_efficiency), 1, 1 },
	{ "collective_share", OF(collective_share), 1, 1 },
	{ "compute_scale", OF(compute_scale), 1, 1 },
	{ "network_scale", OF(network_scale), 1, 1 },
	{ "host_scale", OF(host_scale), 1, 1 },
	{ "domain efficiency", AT(cluster.link[LINK_DOMAIN].efficiency), 1, 1 },
	{ "network efficiency", AT(cluster.link[LINK_NETWORK].efficiency), 1, 1 },
	{ "oversubscription", AT(cluster.link[LINK_UPPER].oversubscription), 1, 1 },
	{ "scale", AT(cluster.scale), 1, 1 },
	{ "software's network", AT(stack.network_efficiency), 1, 1 },
};

static const struct row of_servers[] = {
	{ "roofline_exponent", SERVES(roofline_exponent), 1, 2 },
	{ "elementwise_efficiency", SERVES(elementwise_efficiency), 1, 1 },
	{ "latent_efficiency", SERVES(latent_efficiency), 1, 1 },
	{ "attention_efficiency", SERVES(attention_efficiency), 1, 1 },
	{ "kv_efficiency", SERVES(kv_efficiency), 1, 1 },
	{ "kv_efficiency_fp8", SERVES(kv_efficiency_fp8), 1, 1 },
	{ "grouped_stream_efficiency", SERVES(grouped_stream_efficiency), 1, 1 },
	{ "gemm_efficiency", SERVES(gemm_efficiency), PRECISION_COUNT, 1 },
	{ "stream_efficiency", SERVES(stream_efficiency), PRECISION_COUNT, 1 },
	{ "grouped_gemm_efficiency", SERVES(grouped_gemm_efficiency), PRECISION_COUNT,
	  1 },
	{ "domain efficiency", AT(cluster.link[LINK_DOMAIN].efficiency), 1, 1 },
	{ "network efficiency", AT(cluster.link[LINK_NETWORK].efficiency), 1, 1 },
	{ "prefill_efficiency", AT(stack.serving.prefill_efficiency), 1, 1 },
};

static void put(struct scenario *s, const struct row *row, double value)
{
	for (int i = 0; i < row->count; i++)
		memcpy((char *)s + row->offset + (size_t)i * sizeof value, &value,
		       sizeof value);
}

/* One constant, or all of them, not stated. */
static void check(const struct scenario *s, const struct row *rows, size_t count,
		  int modes)
{
	size_t from = next(count), to = from + 1;
	struct scenario says = *s, none = *s;

	if (next(4) == 0)
		from = 0, to = count;
	for (size_t i = from; i < to; i++) {
		put(&says, &rows[i], rows[i].value);
		put(&none, &rows[i], 0);
	}
	scenario_estimate(&says, &stated);
	scenario_estimate(&none, &silent);
	assert_int_equal(stated.legal, silent.legal);
	for (int i = 0; i < metric_count() && stated.legal; i++) {
		const struct metric *m = &metric_table[i];
		double is = metric_get(&silent, m), wanted = metric_get(&stated, m);

		if (!(m->modes & modes) || is == wanted || isnan(wanted) ||
		    fabs(is - wanted) <= 1e-9 * fabs(wanted))
			continue;
		fail_msg("without %s%s %s is %.9g, not %.9g", rows[from].name,
			 to - from > 1 ? " and all others" : "", m->key, is, wanted);
	}
}

static void test_of_training(void **state)
{
	(void)state;
	seed = 81;
	for (int left = some_of(2000); left > 0;) {
		struct scenario s;

		any_scenario(&s);
		if (scenario_check(&s, NULL) > 0)
			continue;
		check(&s, of_training, sizeof of_training / sizeof of_training[0],
		      METRIC_TRAINING);
		left--;
	}
}

static void test_of_servers(void **state)
{
	(void)state;
	seed = 82;
	for (int left = some_of(2000); left > 0; left--) {
		struct scenario s;

		server_random(&s, &stated);
		check(&s, of_servers, sizeof of_servers / sizeof of_servers[0],
		      METRIC_INFERENCE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_training),
		cmocka_unit_test(test_of_servers),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
