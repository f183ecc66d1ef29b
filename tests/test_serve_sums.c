/* test_serve_sums.c - what a server's estimate says in several ways is the same: rows
 * of traffic and their sums, parts of a pass, rates, money, utilisation and ranges, of
 * servers at random, each number worked out again from the others. */
#include <math.h>
#include <stdlib.h>

#include "engine/machine/cluster.h"
#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"
#include "presets/accuracy_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

static struct scenario s;
static struct estimate now;
static const struct serving_estimate *const v = &now.serving;

enum { SERVERS = 400 };

static bool near(double a, double b, double scale)
{
	return fabs(a - b) <= 1e-9 * fabs(scale) || a == b;
}

/* --- traffic --- */

static void check_row(const struct traffic *t)
{
	assert_true(t->payload_bytes > 0 && t->sent_bytes > 0 && t->count > 0);
	assert_true(t->total_bytes > 0 && t->total_seconds > 0);
	assert_true(t->network_bytes >= 0);
	assert_true(near(t->total_bytes, t->sent_bytes * t->count, t->total_bytes));
	assert_true(near(t->total_seconds, t->seconds * t->count, t->total_seconds));
	assert_true(t->network_bytes <= t->total_bytes * (1 + 1e-9));
	/* what stays on one link does not leave it */
	if (t->link == LINK_DOMAIN)
		assert_true(t->network_bytes == 0);
	if (t->dimension != DIM_HOST)
		assert_true(t->ranks > 1);
	assert_true(t->ranks_per_domain >= 1 && t->ranks_per_domain <= t->ranks);
}

static void rows_are_of_something_and_add_up(void **state)
{
	int rows = 0, hosts = 0, network = 0;

	(void)state;
	seed = 71;
	for (int i = 0; i < SERVERS; i++) {
		struct dimension_cost sum[DIM_COUNT] = { { 0 } };

		server_random(&s, &now);
		for (int k = 0; k < now.traffic_count; k++) {
			const struct traffic *t = &now.traffic[k];

			check_row(t);
			sum[t->dimension].bytes += t->total_bytes;
			sum[t->dimension].network_bytes += t->network_bytes;
			sum[t->dimension].payload_bytes += t->payload_bytes * t->count;
			sum[t->dimension].seconds += t->total_seconds;
			sum[t->dimension].exposed_seconds += t->exposed_seconds;
			rows++;
			hosts += t->dimension == DIM_HOST;
			network += t->network_bytes > 0;
		}
		for (int d = 0; d < DIM_COUNT; d++) {
			const struct dimension_cost *c = &now.cost[d];

			assert_true(near(sum[d].bytes, c->bytes, c->bytes));
			assert_true(
				near(sum[d].network_bytes, c->network_bytes, c->bytes));
			assert_true(near(sum[d].payload_bytes, c->payload_bytes,
					 c->payload_bytes));
			assert_true(near(sum[d].seconds, c->seconds, c->seconds));
			assert_true(near(sum[d].exposed_seconds, c->exposed_seconds,
					 c->seconds));
		}
	}
	assert_true(rows > SERVERS && hosts > 0 && network > 0);
}

/* --- a pass --- */

/* The largest part is what binds, and each bound comes up. */
static void a_pass_is_bound_by_its_largest_part(void **state)
{
	int bound[BOUND_COUNT] = { 0 }, seen = 0;

	(void)state;
	seed = 72;
	/* until there was one of each */
	for (int i = 0; i < SERVERS || (seen < BOUND_COUNT && i < 50 * SERVERS); i++) {
		double parts[BOUND_COUNT];

		server_random(&s, &now);
		parts[BOUND_COMPUTE] = v->compute_seconds;
		parts[BOUND_MEMORY] = v->memory_seconds;
		parts[BOUND_NETWORK] = v->network_seconds;
		parts[BOUND_OVERHEAD] = v->overhead_seconds;
		seen += bound[v->bound]++ == 0;
		assert_true(near(parts[0] + parts[1] + parts[2] + parts[3],
				 v->decode_seconds, v->decode_seconds));
		for (int k = 0; k < BOUND_COUNT; k++)
			assert_true(parts[k] >= -1e-12);
		for (int k = 0; k < BOUND_COUNT; k++)
			assert_true(parts[k] <= parts[v->bound] * (1 + 1e-9));
	}
	assert_int_equal(seen, BOUND_COUNT);
}

/* What fills a pass is named, and adds up to it, however slow a measured run is. */
static void fillings_add_up_to_a_pass(void **state)
{
	int lanes = 0, scaled = 0;

	(void)state;
	seed = 77;
	for (int i = 0; i < SERVERS; i++) {
		struct serve_lanes all;
		double drafts;

		server_random(&s, &now);
		if (!serve_lanes(&s, &all))
			continue;
		scaled += s.cluster.scale != 1;
		assert_int_equal(all.stages, s.plan.pp);
		/* drafting is beside the pass */
		drafts = s.plan.serving.speculative == SPECULATIVE_OFF
				 ? 0
				 : (double)s.plan.serving.draft_tokens *
					   s.plan.serving.draft_cost;
		assert_true(near(all.lane[LANE_DECODE].seconds * (1 + drafts),
				 v->decode_seconds, v->decode_seconds));
		for (int k = 0; k < LANE_COUNT; k++) {
			const struct serve_lane *lane = &all.lane[k];
			double sum = 0;

			for (int j = 0; j < lane->count; j++) {
				assert_true(lane->item[j].seconds > 0);
				assert_non_null(lane->item[j].name);
				sum += lane->item[j].seconds;
			}
			lanes += lane->count > 0;
			if (lane->count > 0 && lane->count < MAX_FILLINGS &&
			    sum < lane->seconds * (1 - 2e-6))
				fail_msg("%s: %g of %g s are named", s.model.name, sum,
					 lane->seconds);
			assert_true(lane->stage_seconds <= lane->seconds * (1 + 1e-9));
		}
	}
	assert_true(lanes > 2 * SERVERS && scaled > SERVERS / 8);
}

/* --- memory --- */

/* Adapters lie beside the weights of whoever serves them, each as large as the first,
 * and twice as large at twice the rank. */
static void adapters_are_all_held(void **state)
{
	int held = 0;

	(void)state;
	seed = 78;
	for (int i = 0; i < SERVERS / 4; i++) {
		static const int64_t count[] = { 0, 1, 2, 2 };
		double weights[4];
		bool legal = true;

		server_random(&s, &now);
		for (int k = 0; k < 4; k++) {
			s.plan.serving.adapters = count[k];
			s.plan.serving.adapter_rank = k == 3 ? 32 : 16;
			serve_estimate(&s, &now);
			weights[k] = now.memory.weights_bytes;
			legal = legal && now.legal;
		}
		if (!legal)
			continue;
		held++;
		assert_true(weights[1] > weights[0]);
		assert_close(weights[2] - weights[0], 2 * (weights[1] - weights[0]),
			     1e-6);
		assert_close(weights[3] - weights[0], 4 * (weights[1] - weights[0]),
			     1e-6);
	}
	assert_true(held > SERVERS / 16);
}

/* --- rates --- */

static void rates_are_of_the_same_requests(void **state)
{
	(void)state;
	seed = 73;
	for (int i = 0; i < SERVERS; i++) {
		const struct serving_plan *p = &s.plan.serving;
		double rate;

		server_random(&s, &now);
		rate = v->requests_per_second;
		assert_true(near(v->prompt_tokens_per_second,
				 rate * (double)p->prompt_len,
				 v->prompt_tokens_per_second));
		assert_true(near(v->output_tokens_per_second,
				 rate * (double)p->output_len,
				 v->output_tokens_per_second));
		assert_true(near(
			v->output_tokens_per_second_per_gpu * (double)s.cluster.gpus,
			v->output_tokens_per_second, v->output_tokens_per_second));
		assert_true(near(v->output_tokens_per_second_per_user * v->tpot_seconds,
				 1, 1));
		assert_true(near(v->request_seconds,
				 v->ttft_seconds +
					 ((double)p->output_len - 1) * v->tpot_seconds,
				 v->request_seconds));
		/* who decodes has room; prompts in a pool of their own need none of it
		 */
		if (v->waiting > 0)
			assert_true(v->concurrency - v->elsewhere <=
				    v->max_concurrency * (1 + 1e-9));
		assert_true(v->elsewhere == 0 || s.plan.serving.disaggregated);
		/* as many requests give as much, but for what halving leaves */
		if (v->goodput_concurrency == v->concurrency && v->stretch == 1)
			assert_true(fabs(v->goodput / v->output_tokens_per_second - 1) <
				    1e-3);
	}
}

/* --- utilisation and money --- */

/* The cluster computes at most its peak: what a cache holds is not computed. */
static void utilisation_is_of_what_is_computed(void **state)
{
	int cached = 0, priced = 0;

	(void)state;
	seed = 74;
	for (int i = 0; i < SERVERS; i++) {
		double gpus, watts;

		server_random(&s, &now);
		gpus = (double)s.cluster.gpus;
		assert_true(now.mfu > 0 && now.mfu <= 1);
		cached +=
			s.plan.serving.prefix_cache && s.plan.serving.shared_prefix > 0;
		if (v->output_tokens_per_second <= 0)
			continue;
		assert_true(near(v->dollars_per_million_tokens *
					 v->output_tokens_per_second / 1e6 * 3600,
				 gpus * s.cluster.price_per_gpu_hour,
				 gpus * s.cluster.price_per_gpu_hour));
		priced += s.cluster.price_per_gpu_hour > 0;
		watts = v->joules_per_token * v->output_tokens_per_second / gpus;
		assert_true(watts >= cluster_watts(&s.cluster, 0) * (1 - 1e-9));
		assert_true(watts <= cluster_watts(&s.cluster, 1) * (1 + 1e-9));
	}
	assert_true(cached > SERVERS / 20 && priced > SERVERS / 4);
}

/* More is done on a byte of weights where prompts run than where answers do, and no
 * rank computes beyond its peak. */
static void intensities_are_of_what_runs(void **state)
{
	(void)state;
	seed = 75;
	for (int i = 0; i < SERVERS; i++) {
		double peak = 0;

		server_random(&s, &now);
		for (int k = 0; k < PRECISION_COUNT; k++)
			peak = fmax(peak, s.cluster.accelerator.peak_flops[k]);
		assert_true(v->decode_intensity > 0 && v->prefill_intensity > 0);
		assert_true(v->decode_flops_per_second <= peak &&
			    v->prefill_flops_per_second <= peak);
		/* both within the roofline of memory */
		assert_true(v->decode_flops_per_second <=
			    v->decode_intensity *
				    s.cluster.accelerator.memory_bytes_per_second *
				    (1 + 1e-9));
		assert_true(v->prefill_flops_per_second <=
			    v->prefill_intensity *
				    s.cluster.accelerator.memory_bytes_per_second *
				    (1 + 1e-9));
	}
}

/* --- ranges --- */

/* As far below as above, by factors; what nobody measured is no surer than what was,
 * and what waits no surer than what does not. */
static void ranges_lie_around_their_means(void **state)
{
	(void)state;
	seed = 76;
	for (int i = 0; i < SERVERS; i++) {
		struct serve_spread alone, loaded, unknown;

		server_random(&s, &now);
		assert_true(near(v->tpot_low_seconds * v->tpot_high_seconds,
				 v->tpot_seconds * v->tpot_seconds,
				 v->tpot_seconds * v->tpot_seconds));
		assert_true(v->tpot_low_seconds < v->tpot_high_seconds);
		assert_true(v->output_low <= v->output_tokens_per_second &&
			    v->output_high >= v->output_tokens_per_second);
		if (isfinite(v->ttft_seconds))
			assert_true(near(v->ttft_low_seconds * v->ttft_high_seconds,
					 v->ttft_seconds * v->ttft_seconds,
					 v->ttft_seconds * v->ttft_seconds));
		s.cluster.accelerator.calibration.serving.unfitted = false;
		alone = serve_spread_of(&s, 1);
		s.plan.serving.batching = BATCHING_CONTINUOUS;
		s.plan.serving.disaggregated = true;
		loaded = serve_spread_of(&s, 2);
		assert_true(loaded.ttft > alone.ttft);
		assert_true(loaded.tpot == alone.tpot && loaded.rate == alone.rate);
		s.cluster.accelerator.calibration.serving.unfitted = true;
		unknown = serve_spread_of(&s, 2);
		assert_true(unknown.tpot >= loaded.tpot &&
			    unknown.ttft >= loaded.ttft && unknown.rate >= loaded.rate);
		assert_true(unknown.tpot > loaded.tpot || unknown.rate > loaded.rate);
	}
	/* two mixtures were measured to the first token: they are no surer */
	assert_true(accuracy_shipped()->serving[1].tpot >=
		    accuracy_shipped()->serving[0].tpot);
	assert_true(accuracy_shipped()->serving[1].loaded >=
		    accuracy_shipped()->serving[0].loaded);
	assert_true(accuracy_shipped()->serving[1].unfitted >=
		    accuracy_shipped()->serving[0].unfitted);
}

/* What is told in three digits is written in three: 0.173, not 0.17300000000000001. */
static void rounded_is_short(void **state)
{
	(void)state;
	for (int i = 100; i < 1000; i++)
		for (int e = -6; e <= 6; e++) {
			double exact, power = pow(10, abs(e));

			exact = e < 0 ? i / power : i * power;
			assert_true(serve_rounded(exact, false) == exact);
			assert_true(serve_rounded(exact, true) == exact);
			assert_true(serve_rounded(exact * 1.0001, false) == exact);
			assert_true(serve_rounded(exact * 0.9999, true) == exact);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounded_is_short),
		cmocka_unit_test(rows_are_of_something_and_add_up),
		cmocka_unit_test(a_pass_is_bound_by_its_largest_part),
		cmocka_unit_test(fillings_add_up_to_a_pass),
		cmocka_unit_test(adapters_are_all_held),
		cmocka_unit_test(rates_are_of_the_same_requests),
		cmocka_unit_test(utilisation_is_of_what_is_computed),
		cmocka_unit_test(intensities_are_of_what_runs),
		cmocka_unit_test(ranges_lie_around_their_means),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
