/* test_serve_simulated.c - the simulation of a server is that of the scenario: its
 * queue, put together here from the knobs, gives the same, and what is told of its tail
 * is what trying every number of requests says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/host.h"
#include "engine/serve/pass_table.h"
#include "engine/serve/serve.h"
#include "engine/serve/tail.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"
#include "tests/twin/server.h"

static struct scenario s;
static struct estimate now;
static struct serving_run run;
static struct pass_table tables[2];

enum { SERVERS = 400 };

/* --- servers --- */

static void draw_load(struct serving_plan *v)
{
	v->concurrency = 1 + (int64_t)next(60);
	v->request_rate = 0;
	v->prompt_len = 1 + (int64_t)next(3000);
	v->output_len = 1 + (int64_t)next(100);
	v->length_spread = next(2) ? 0 : 0.4;
	v->length_shape = next(2) ? LENGTH_LOGNORMAL : LENGTH_UNIFORM;
	v->receive_interval = next(2) ? 1 : 1 + (int64_t)next(20);
	v->batch_wait = next(2) ? 0 : (int64_t)next(40);
	v->goal_ttft_seconds = next(2) ? 0 : 0.5;
	v->goal_tpot_seconds = next(2) ? 0 : 0.02;
	v->prefix_cache = next(4) > 0;
}

static void draw(void)
{
	struct serving_plan *v = &s.plan.serving;

	do {
		server_random(&s, &now);
		draw_load(v);
		s.stack.serving.mixes = next(2);
		s.stack.serving.swaps = next(2);
		s.stack.serving.expects = next(2) ? 0 : 0.3;
		s.stack.serving.expects_least = 0.06;
		s.stack.serving.expects_passes = next(2) ? 0 : 40;
		s.stack.serving.expects_ahead = 5;
		s.stack.serving.expects_most = next(2) ? 0 : 30;
		serve_estimate(&s, &now);
		if (now.feasible && next(4) == 0) {
			v->request_rate = now.serving.requests_per_second * 0.6;
			v->arrival_scv = 0.5 * (double)next(4);
			serve_estimate(&s, &now);
		}
	} while (!now.feasible);
	assert_true(run_open(&s, &run));
	run_room(&run);
}

/* --- the queue of a scenario --- */

/* Tokens of a mean request for each of its bytes beyond a shared prefix. */
static double tokens_of_room(const struct server *server, double prefix)
{
	double tokens = server_admitted_tokens(&s);
	double behind = tokens - prefix;
	double one = twin_request_bytes(&server->context, (int64_t)ceil(behind));

	return server->kv_room_bytes / (one / tokens);
}

static enum queue_scheduler scheduler(void)
{
	if (s.plan.serving.batching == BATCHING_STATIC)
		return SERVE_STATIC;
	if (s.plan.serving.chunked_prefill && s.stack.serving.mixes)
		return SERVE_MIXED;
	return SERVE_PROMPTS_FIRST;
}

/* Of one host link, for a token of what it copies; a stack that goes by layers hides
 * all but one of them behind a prompt of the mean length. */
static void set_host(struct queue_pool *pool, const struct server *server,
		     double shared, double prompt)
{
	const struct serving_plan *v = &s.plan.serving;
	double rate = twin_host_rate(&s.cluster), bytes, tokens, copy;
	double found = 0, rest = (double)v->prompt_len - shared;
	double layers = (double)s.model.layers;
	struct timing alone;

	pool->swaps = v->host_kv_bytes > 0 && s.stack.serving.swaps;
	if (v->prefix_cache && v->host_kv_bytes > 0)
		found = fmax(0, fmin(rest - 1, floor(v->host_prefix * rest)));
	pool->fetched = found / fmax(1, rest);
	tokens = found > 0 ? found : (double)v->prompt_len;
	bytes = twin_request_bytes(&server->context, (int64_t)tokens);
	copy = rate > 0 ? bytes / rate : 0;
	pool->fetch_seconds = copy / tokens * s.cluster.scale;
	if (found <= 0 || copy <= 0 || !s.stack.serving.loads_by_layer)
		return;
	alone = pass_table_prompts(pool->server, prompt,
				   (double)v->prompt_len - prompt / 2);
	pool->fetch_hidden =
		fmin(copy, alone.pass) * (1 - 1 / layers) * s.cluster.scale;
}

static void set_pool(struct queue_pool *pool, struct pass_table *table,
		     const struct server *server, double servers_of_part)
{
	const struct serving_plan *v = &s.plan.serving;
	double shared = 0, copies = server_copies(server), each;
	struct point one;
	struct work w;

	if (v->prefix_cache)
		shared = floor(v->shared_prefix * (double)v->prompt_len);
	work_of(&s, &w);
	pass_table_open(table, server);
	twin_point(&run, 1, 1, &one);
	*pool = (struct queue_pool){
		.servers = (int)servers_of_part,
		.scheduler = scheduler(),
		.budget = server->budget_tokens,
		.lanes = (int)server->context.shape.pp,
		.room = tokens_of_room(server, shared),
		.cached = shared,
		.most_requests = (int)server_request_limit(&s),
		.reserves = s.stack.serving.reserves,
		.expects = s.stack.serving.expects,
		.expects_most = s.stack.serving.expects_most,
		.retracts = s.stack.serving.expects_passes > 0,
		.look_interval = (int)v->receive_interval,
		.prompt_wait = (int)v->batch_wait,
		.fill = 0.9 * server->budget_tokens,
		.gain = one.gain,
		.each = v->speculative != SPECULATIVE_OFF ? 1 + (double)v->draft_tokens
							  : 1,
		.cost = pass_table_seconds,
		.server = table,
	};
	pool->unsplit = !v->chunked_prefill && v->batching != BATCHING_STATIC;
	if (pool->retracts && pool->expects > 0) {
		pool->expects_least = 0.06;
		pool->expects_falls = (0.3 - 0.06) / 40;
	}
	pool->expects_ahead = pool->retracts ? 5 : 0;
	set_host(pool, server, shared, w.prompt);
	if (v->dp_attention <= 1 && server == &run.decode)
		return;
	if (server->context.shape.dp <= 1)
		return;
	/* a copy alone does not see the others that it waits for */
	pool->fill = INFINITY;
	each = v->concurrency > 0 ? (double)v->concurrency / copies : server->room;
	if (v->batch_wait > 0)
		pool->prompt_wait = (int)round(
			work_held(&w, server, each, (double)v->output_len / one.gain));
}

static void set_system(struct queue_system *system, const struct server_part *part)
{
	const struct serving_plan *v = &s.plan.serving;
	struct point mean;

	*system = (struct queue_system){
		.host_seconds = s.stack.serving.prompt_seconds * s.cluster.scale,
		.goal_ttft = v->goal_ttft_seconds,
		.goal_tpot = v->goal_tpot_seconds,
	};
	set_pool(&system->pool, &tables[0], &run.decode,
		 server_copies(&run.decode) / part->parts);
	if (!run.apart)
		return;
	set_pool(&system->prompts, &tables[1], &run.prefill,
		 server_copies(&run.prefill) / part->parts);
	system->prompts.scheduler = SERVE_PROMPTS_FIRST;
	system->prompts.expects = 0; /* nobody decodes there */
	system->prompts.retracts = false;
	system->prompts.abreast = (int)run.prefill.context.shape.dp;
	system->prompts.most_requests = (int)server_usual_requests(&s);
	run_at(&run, fmin(run_asked(&run, &s), run.room), &mean);
	system->send_seconds = (mean.transfer_seconds + mean.contended_seconds) /
			       (double)v->prompt_len;
}

static void set_requests(struct queue_load *load, const struct server_part *part,
			 int requests)
{
	const struct serving_plan *v = &s.plan.serving;
	bool closed = v->request_rate <= 0;

	*load = (struct queue_load){
		.arrivals = closed ? ARRIVE_CLOSED : ARRIVE_BURSTY,
		.lengths = v->length_shape == LENGTH_LOGNORMAL ? LENGTHS_LOGNORMAL
							       : LENGTHS_EVEN,
		.users = (int)part->users,
		.rate = v->request_rate / part->scale,
		.burst = sqrt(v->arrival_scv),
		.prompt = (double)v->prompt_len,
		.output = (double)v->output_len,
		.spread = v->length_spread,
		.seed = 7,
		.requests = (int)fmax(1, round(requests / part->scale)),
	};
	if (!closed && v->arrival_scv <= 0)
		load->arrivals = ARRIVE_EVEN;
	if (!closed && v->arrival_scv == 1)
		load->arrivals = ARRIVE_POISSON;
}

static void run_queue(const struct queue_system *system, const struct queue_load *load,
		      struct queue_result *out)
{
	struct arena arena = { 0 };

	arena.size = queue_bytes(load, system);
	arena.base = malloc(arena.size + 1);
	assert_non_null(arena.base);
	assert_true(queue_run(system, load, &arena, NULL, out));
	free(arena.base);
}

static void simulate(const struct serve_load *load, struct queue_result *out)
{
	struct arena arena = { 0 };

	arena.size = serve_simulation_bytes(&s, load);
	arena.base = malloc(arena.size + 1);
	assert_non_null(arena.base);
	if (arena.size == 0 || !serve_simulate(&s, load, &arena, out))
		server_fail(&s, "the load does not run", 0, 1);
	free(arena.base);
}

static void check_times(const char *what, const struct queue_times *is,
			const struct queue_times *wanted)
{
	server_same(&s, what, is->mean, wanted->mean);
	server_same(&s, what, is->p50, wanted->p50);
	server_same(&s, what, is->p90, wanted->p90);
	server_same(&s, what, is->p99, wanted->p99);
}

/* Counts are those of all parts alike, times those of one. */
static void check_result(const struct queue_result *is, const struct queue_result *one,
			 double parts)
{
	server_same(&s, "requests", is->requests, round(one->requests * parts));
	server_same(&s, "seconds", is->seconds, one->seconds);
	server_same(&s, "passes", (double)is->passes,
		    round((double)one->passes * parts));
	server_same(&s, "preempted", is->preempted, round(one->preempted * parts));
	server_same(&s, "oversized", is->oversized, round(one->oversized * parts));
	server_same(&s, "running", is->running, one->running * parts);
	server_same(&s, "prompt tokens", is->prompt_tokens, one->prompt_tokens * parts);
	server_same(&s, "output tokens", is->output_tokens, one->output_tokens * parts);
	server_same(&s, "computed again", is->recomputed_tokens,
		    one->recomputed_tokens * parts);
	server_same(&s, "from the host", is->fetched_tokens,
		    one->fetched_tokens * parts);
	server_same(&s, "swapped", is->swapped_tokens, one->swapped_tokens * parts);
	server_same(&s, "cached", is->cached_tokens, one->cached_tokens * parts);
	server_same(&s, "within", is->within_goals, one->within_goals);
	check_times("TTFT", &is->ttft, &one->ttft);
	check_times("TPOT", &is->tpot, &one->tpot);
	check_times("request", &is->request, &one->request);
}

static void simulations_are_of_the_scenario(void **state)
{
	int pools = 0, parts = 0, hosts = 0, waits = 0, rates = 0;

	(void)state;
	seed = 111;
	for (int i = 0; i < SERVERS; i++) {
		struct serve_load asked = { .requests = 40 + (int)next(200),
					    .seed = 7 };
		struct queue_system system;
		struct queue_result is, one;
		struct server_part part;
		struct queue_load load;

		draw();
		asked.users = next(2) ? 0 : 20;
		run_part(&run, &s, asked.users > 0 ? asked.users : INFINITY, &part);
		set_system(&system, &part);
		set_requests(&load, &part, asked.requests);
		run_queue(&system, &load, &one);
		simulate(&asked, &is);
		check_result(&is, &one, part.scale);
		server_same(&s, "requests asked",
			    (double)serve_simulated_requests(&s, &asked),
			    round(load.requests * part.scale));
		pools += run.apart;
		parts += part.parts > 1;
		hosts += is.fetched_tokens > 0;
		waits += system.pool.prompt_wait > 0 && system.pool.fill == INFINITY;
		rates += s.plan.serving.request_rate > 0;
	}
	assert_true(pools > SERVERS / 10 && parts > SERVERS / 4);
	assert_true(hosts > SERVERS / 40 && rates > SERVERS / 10);
	assert_true(waits > SERVERS / 100);
}

/* --- tails --- */

/* Whether 99 of 100 keep the goals where so many are held, in three waves. */
static bool keeps(double requests)
{
	struct serve_point point = { .concurrency = requests }, out;

	return serve_tail_curve(&s, &point, 1, &out, 1) == 1 && out.meets;
}

/* Who asks for at least so many tokens a second learns what everybody learns, or that
 * it is less. */
static void asking_for_an_output_changes_nothing(const struct serving_estimate *mean,
						 const struct serving_estimate *tail)
{
	for (int i = 1; i < 20; i++) {
		double least = mean->goodput * 0.05 * (double)i;
		struct serving_estimate asked = *mean;
		bool less = tail->goodput < least;

		serve_tail_goodput(&s, least, &asked);
		server_same(&s, "goodput for who asks for an output", asked.goodput,
			    less ? 0 : tail->goodput);
		server_same(&s, "its requests", asked.goodput_concurrency,
			    less ? 0 : tail->goodput_concurrency);
	}
}

static void tails_keep_to_the_goals(void **state)
{
	int some = 0, none = 0, all = 0;

	(void)state;
	seed = 112;
	for (int i = 0; i < SERVERS / 2; i++) {
		const struct serving_estimate *v = &now.serving;
		struct serving_plan *plan = &s.plan.serving;
		struct serving_estimate mean;
		double high, found;
		struct point p;

		draw();
		plan->request_rate = 0;
		plan->concurrency = 1 + (int64_t)next(24);
		/* one token has no time per token to draw */
		plan->output_len++;
		plan->goal_ttft_seconds = plan->goal_tpot_seconds = 0;
		serve_estimate(&s, &now);
		if (!now.feasible || v->waiting > 0)
			continue;
		if (next(2))
			plan->goal_ttft_seconds =
				v->ttft_seconds * 0.4 * (double)(1 + next(8));
		else
			plan->goal_tpot_seconds =
				v->tpot_seconds * 0.8 +
				v->tpot_seconds * 0.1 * (double)next(8);
		serve_estimate(&s, &now);
		high = v->goodput_concurrency;
		if (v->goodput <= 0)
			continue;
		mean = *v;
		serve_tail_goodput(&s, 0, &now.serving);
		asking_for_an_output_changes_nothing(&mean, v);
		found = v->goodput_concurrency;
		assert_true(found <= high);
		some += found > 0 && found < high;
		none += found == 0;
		all += found == high;
		if (found == 0) {
			assert_false(keeps(1) && high > 1 && keeps(high));
			continue;
		}
		assert_true(keeps(found));
		assert_true(found == high || !keeps(found + 1));
		/* the plan is another one than was drawn */
		assert_true(run_open(&s, &run));
		run_room(&run);
		run_at(&run, found, &p);
		server_same(&s, "goodput of the tail", v->goodput, p.tokens_per_second);
	}
	assert_true(some > SERVERS / 100 && none > SERVERS / 100 &&
		    all > SERVERS / 100);
}

/* Of two requests on eight stages 191 tokens a second come out, of three 177: who asks
 * for 183 learns that two keep the goal. */
static void an_idle_pipeline_may_give_less(void **state)
{
	static const char *const knobs[][2] = {
		{ "gpus", "32" },
		{ "tp", "2" },
		{ "pp", "8" },
		{ "prompt", "1347" },
		{ "output", "9" },
		{ "concurrency", "10" },
		{ "length_spread", "0.4" },
		{ "shared_prefix", "0.5" },
		{ "batch_wait", "16" },
		{ "kv_block", "32" },
		{ "memory_share", "1" },
	};
	struct error error = { "" };
	struct serving_estimate mean, tail;

	(void)state;
	if (!scenario_blank(&s, "lfm2-1.2b", "dgx-b300", "tensorrt-llm", &error))
		fail_msg("%s", error.text);
	case_set(&s, "mode", "inference");
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
		case_set(&s, knobs[i][0], knobs[i][1]);
	s.stack.serving.mixes = false;
	s.plan.serving.goal_tpot_seconds = 0.011333006525601037;
	serve_estimate(&s, &now);
	mean = tail = now.serving;
	serve_tail_goodput(&s, 0, &tail);
	assert_true(tail.goodput_concurrency == 2);
	asking_for_an_output_changes_nothing(&mean, &tail);
}

/* A batch of one more may go another way: of twelve requests the passes are quicker by
 * a tenth than of thirteen, and the twelve are still found. */
static void a_larger_batch_may_give_less(void **state)
{
	static const char *const knobs[][2] = {
		{ "gpus", "16" },
		{ "tp", "8" },
		{ "precision", "int8" },
		{ "prompt", "1709" },
		{ "output", "84" },
		{ "concurrency", "15" },
		{ "length_shape", "lognormal" },
		{ "length_spread", "0.4" },
		{ "chunked_prefill", "off" },
		{ "receive_interval", "3" },
		{ "kv_precision", "int8" },
		{ "kv_block", "1" },
		{ "memory_share", "0.8" },
		{ "prefix_cache", "off" },
		{ "speculative", "draft" },
		{ "acceptance", "0.2" },
		{ "draft_cost", "0.05" },
		{ "host_prefix", "0.4" },
	};
	struct error error = { "" };
	struct serving_estimate mean, tail;
	double twelve, thirteen;

	(void)state;
	if (!scenario_blank(&s, "qwen3-14b", "dgx-b200", "sglang", &error))
		fail_msg("%s", error.text);
	case_set(&s, "mode", "inference");
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
		case_set(&s, knobs[i][0], knobs[i][1]);
	s.cluster.scale = 1.3;
	s.plan.serving.goal_ttft_seconds = 0.11569965715190041;
	s.plan.serving.concurrency = 12;
	serve_estimate(&s, &now);
	twelve = now.serving.output_tokens_per_second;
	s.plan.serving.concurrency = 13;
	serve_estimate(&s, &now);
	thirteen = now.serving.output_tokens_per_second;
	assert_true(thirteen < 0.95 * twelve);
	s.plan.serving.concurrency = 15;
	serve_estimate(&s, &now);
	mean = tail = now.serving;
	serve_tail_goodput(&s, 0, &tail);
	assert_true(tail.goodput_concurrency == 12);
	asking_for_an_output_changes_nothing(&mean, &tail);
}

/* To arrivals at the rate that is served, and back to those who were held: as often as
 * one likes. At any other rate back to those in flight. */
static void loops_are_switched(void **state)
{
	(void)state;
	seed = 113;
	for (int i = 0; i < SERVERS; i++) {
		int64_t held;
		double rate;

		draw();
		s.plan.serving.request_rate = 0;
		serve_estimate(&s, &now);
		if (!now.feasible)
			continue;
		held = s.plan.serving.concurrency;
		rate = now.serving.requests_per_second;
		assert_true(serve_switch_loop(&s, &now.serving));
		assert_true(s.plan.serving.request_rate <= rate &&
			    s.plan.serving.request_rate > rate * 0.99);
		serve_estimate(&s, &now);
		assert_true(serve_switch_loop(&s, &now.serving));
		assert_true(s.plan.serving.request_rate == 0);
		server_same(&s, "held", (double)s.plan.serving.concurrency,
			    (double)held);
		s.plan.serving.request_rate = rate / 2;
		serve_estimate(&s, &now);
		assert_true(serve_switch_loop(&s, &now.serving));
		assert_true(s.plan.serving.request_rate == 0);
		server_same(&s, "in flight", (double)s.plan.serving.concurrency,
			    now.serving.concurrency < 0.5
				    ? 1
				    : round(now.serving.concurrency));
	}
}

/* One request that takes minutes is a load like any other. */
static void slow_servers_are_switched(void **state)
{
	(void)state;
	assert_true(scenario_read(&s, "llama3.1-70b-4-h100-serve", NULL, NULL));
	s.plan.serving.request_rate = 0;
	s.plan.serving.concurrency = 1;
	s.plan.serving.output_len = 8192;
	serve_estimate(&s, &now);
	assert_true(now.serving.requests_per_second > 0 &&
		    now.serving.requests_per_second < 0.1);
	assert_true(serve_switch_loop(&s, &now.serving));
	assert_true(s.plan.serving.request_rate > 0 &&
		    s.plan.serving.request_rate < 0.1);
	serve_estimate(&s, &now);
	assert_true(serve_switch_loop(&s, &now.serving));
	assert_true(s.plan.serving.request_rate == 0);
	assert_int_equal(s.plan.serving.concurrency, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simulations_are_of_the_scenario),
		cmocka_unit_test(tails_keep_to_the_goals),
		cmocka_unit_test(an_idle_pipeline_may_give_less),
		cmocka_unit_test(a_larger_batch_may_give_less),
		cmocka_unit_test(loops_are_switched),
		cmocka_unit_test(slow_servers_are_switched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
