/* test_serve_plans.c - the laws of queues on every shipped plan of a server, with few
 * and many requests in flight, of the closed form and request by request. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "engine/serve/simulate.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct estimate now, alone;
static int pools; /* of prompts that were tried */

typedef void law(const char *name, const struct scenario *s);

static void fail_at(const char *name, const struct scenario *s, const char *what,
		    double is, double bound)
{
	fail_msg("%s with %lld in flight: %s is %.6g, not %.6g", name,
		 (long long)s->plan.serving.concurrency, what, is, bound);
}

/* Every plan with continuous batching, with 1, 4, 32 and as many requests as it says;
 * whoever has to wait for room is left out. */
static void each_plan(law *holds)
{
	static const int64_t flights[] = { 1, 4, 32, 0 };
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), held = 0;

	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		if (s.plan.mode != MODE_INFERENCE ||
		    s.plan.serving.batching == BATCHING_STATIC)
			continue;
		for (size_t k = 0; k < sizeof flights / sizeof flights[0]; k++) {
			if (flights[k] > 0)
				s.plan.serving.concurrency = flights[k];
			serve_estimate(&s, &now);
			if (!now.feasible || now.serving.waiting > 0)
				continue;
			holds(list[i].name, &s);
			held++;
		}
	}
	assert_true(held > 45);
}

/* Servers of prompts, which wait for nobody but their own. */
static double each(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	const struct engine_degrees p = scenario_prefill_engine(s);
	double servers = now.serving.engines * (double)v->dp_attention;

	if (v->disaggregated)
		servers = (double)(scenario_prefill_gpus(s) /
				   (p.tp * p.pp * s->plan.cp * p.dp_attention));
	return ceil(now.serving.concurrency / servers);
}

/* A token takes a pass, nobody waits for more than the prompts of all others, and every
 * request is somewhere (Little 1961). */
static void closed_form_holds(const char *name, const struct scenario *s)
{
	const struct serving_estimate *v = &now.serving;
	double there = v->requests_per_second * v->request_seconds;
	double most = each(s) * v->prefill_seconds + 1.5 * v->decode_seconds +
		      v->transfer_seconds + v->contended_seconds + v->load_seconds +
		      v->received_seconds;

	if (v->tpot_seconds * v->gain < v->decode_seconds * (1 - 1e-9))
		fail_at(name, s, "TPOT", v->tpot_seconds * v->gain, v->decode_seconds);
	if (v->ttft_seconds > most * 1.01)
		fail_at(name, s, "TTFT", v->ttft_seconds, most);
	if (v->ttft_seconds < v->prefill_seconds * (1 - 1e-9))
		fail_at(name, s, "TTFT", v->ttft_seconds, v->prefill_seconds);
	if (fabs(there - v->concurrency) > 0.02 * v->concurrency)
		fail_at(name, s, "rate x time", there, v->concurrency);
}

static void test_closed_forms(void **state)
{
	(void)state;
	each_plan(closed_form_holds);
}

static void simulate(const struct scenario *s, int requests, struct queue_result *out)
{
	struct serve_load load = { .requests = requests, .seed = 3 };
	struct arena arena = { 0 };

	arena.size = serve_simulation_bytes(s, &load);
	arena.base = malloc(arena.size + 1);
	assert_non_null(arena.base);
	assert_true(arena.size > 0 && serve_simulate(s, &load, &arena, out));
	free(arena.base);
}

static void simulation_holds(const char *name, const struct scenario *s)
{
	int64_t users = s->plan.serving.concurrency;
	struct scenario one = *s;
	struct queue_result r;
	double there;

	if (users < 1 || users > 32)
		return;
	one.plan.serving.concurrency = 1;
	one.plan.serving.output_len = 2;
	serve_estimate(&one, &alone);
	simulate(s, (int)(100 * users), &r);
	there = r.requests / r.seconds * r.request.mean;
	if (fabs(there - (double)users) > 0.02 * (double)users)
		fail_at(name, s, "rate x time", there, (double)users);
	if (r.tpot.mean * now.serving.gain < alone.serving.decode_seconds * (1 - 1e-2))
		fail_at(name, s, "TPOT", r.tpot.mean * now.serving.gain,
			alone.serving.decode_seconds);
	/* between two entries of the table of passes */
	if (r.ttft.mean < now.serving.prefill_seconds * (1 - 8e-2))
		fail_at(name, s, "TTFT", r.ttft.mean, now.serving.prefill_seconds);
}

static void test_simulations(void **state)
{
	(void)state;
	each_plan(simulation_holds);
}

/* Where next to nothing is decoded, twice the pool that decodes gives no more; twice
 * the prompts' does. */
static void prompts_limit(const char *name, const struct scenario *plan)
{
	struct scenario s = *plan;
	struct serving_plan *v = &s.plan.serving;
	int64_t prefill = scenario_prefill_gpus(plan);
	double less, more, twice;

	if (!v->disaggregated || v->concurrency != 32)
		return;
	pools++;
	v->output_len = 2;
	v->concurrency = 64 * s.cluster.gpus;
	serve_estimate(&s, &now);
	less = now.serving.requests_per_second;
	s.cluster.gpus += s.cluster.gpus - prefill;
	v->prefill_gpus = prefill;
	serve_estimate(&s, &now);
	more = now.serving.requests_per_second;
	s.cluster.gpus += prefill;
	v->prefill_gpus = 2 * prefill;
	serve_estimate(&s, &now);
	twice = now.serving.requests_per_second;
	if (more > less * 1.02)
		fail_at(name, &s, "rate with twice who decode", more, less);
	if (twice < more * 1.5)
		fail_at(name, &s, "rate with twice who prefill", twice, more);
}

static void test_pools_of_prompts(void **state)
{
	(void)state;
	each_plan(prompts_limit);
	assert_true(pools >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_forms),
		cmocka_unit_test(test_simulations),
		cmocka_unit_test(test_pools_of_prompts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
