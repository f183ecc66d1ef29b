/* test_tail.c - the slowest percent of requests: what a search rules out without a
 * simulation is what a simulation rules out, and one that ends early says the same. */
#include <math.h>
#include <stdlib.h>

#include "engine/serve/serve_parts.h"
#include "engine/serve/tail.h"
#include "engine/serve/work.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

static struct estimate now;

static int servers(void)
{
	return some_of(300);
}

static bool simulate(const struct scenario *s, bool until_missed,
		     struct queue_result *out)
{
	struct serve_load load = {
		.requests = (int)fmax(64, 3 * (double)s->plan.serving.concurrency),
		.until_missed = until_missed,
	};
	struct arena arena = { 0 };
	bool good;

	arena.size = serve_simulation_bytes(s, &load);
	arena.base = malloc(arena.size + 1);
	assert_non_null(arena.base);
	good = arena.size > 0 && serve_simulate(s, &load, &arena, out);
	free(arena.base);
	return good;
}

static void draw(struct scenario *s)
{
	struct serving_plan *v = &s->plan.serving;

	do {
		server_random(s, &now);
		v->request_rate = 0;
		v->length_spread = 0.1 * (double)next(6);
		v->concurrency = 2 + (int64_t)next(200);
		v->prompt_len = 1 + (int64_t)next(6000);
		v->output_len = 2 + (int64_t)next(100);
		serve_estimate(s, &now);
	} while (!now.feasible);
	v->goal_percentile = GOAL_P99;
}

static bool beyond(const struct scenario *s, const struct queue_result *r)
{
	const struct serving_plan *v = &s->plan.serving;

	return (v->goal_ttft_seconds > 0 && r->ttft.p99 > v->goal_ttft_seconds) ||
	       (v->goal_tpot_seconds > 0 && r->tpot.p99 > v->goal_tpot_seconds);
}

/* Goals about what the percentiles are. */
static void a_simulation_may_end_early(void **state)
{
	int missed = 0;

	(void)state;
	seed = 51;
	for (int i = 0; i < servers(); i++) {
		struct queue_result whole, early;
		struct scenario s;

		draw(&s);
		assert_true(simulate(&s, false, &whole));
		s.plan.serving.goal_ttft_seconds =
			next(3) ? whole.ttft.p99 * (0.7 + 0.1 * (double)next(7)) : 0;
		s.plan.serving.goal_tpot_seconds =
			next(3) ? whole.tpot.p99 * (0.7 + 0.1 * (double)next(7)) : 0;
		assert_true(simulate(&s, true, &early));
		if (early.missed)
			assert_true(beyond(&s, &whole));
		else
			assert_true(early.ttft.p99 == whole.ttft.p99 &&
				    early.tpot.p99 == whole.tpot.p99);
		missed += early.missed;
	}
	assert_true(missed > servers() / 4);
}

/* Who is ruled out by the prompts of all, keeps the goal in no simulation. */
static void no_more_keep_the_goal_than_their_prompts_allow(void **state)
{
	int ruled = 0;

	(void)state;
	seed = 52;
	for (int i = 0; i < servers(); i++) {
		struct queue_result r;
		struct serving_run run;
		struct scenario s;
		double most;

		draw(&s);
		assert_true(simulate(&s, false, &r));
		assert_true(run_open(&s, &run));
		run_room(&run);
		s.plan.serving.goal_ttft_seconds = r.ttft.p99 * 1.0001;
		most = tail_most_requests(&run, &s);
		if (most < (double)s.plan.serving.concurrency)
			fail_msg("%s with %s, %lld in flight wait %g s: at most %g",
				 s.model.name, s.stack.name,
				 (long long)s.plan.serving.concurrency, r.ttft.p99,
				 most);
		/* and it is near */
		ruled += most < 2 * (double)s.plan.serving.concurrency;
	}
	assert_true(ruled > servers() / 8);
}

/* A queue that grows without end keeps no goal of the slowest percent, even one that
 * the first two thousand requests would; a rate that is served does. */
static void an_endless_queue_keeps_no_goal(void **state)
{
	int simulated = 0;

	(void)state;
	seed = 53;
	for (int i = 0; i < servers() / 3; i++) {
		struct serving_estimate goodput;
		struct serve_tail tail;
		struct serving_run run;
		struct scenario s;
		double full;

		draw(&s);
		assert_true(run_open(&s, &run));
		run_room(&run);
		full = run_full_rate(&run);
		s.plan.serving.goal_ttft_seconds = 1e5;
		for (int over = 0; over < 2; over++) {
			s.plan.serving.request_rate = full * (over ? 1.2 : 0.5);
			serve_estimate(&s, &now);
			goodput = now.serving;
			serve_tail_goodput(&s, 0, &goodput);
			if (over != !isfinite(now.serving.ttft_seconds))
				continue;
			assert_true(over == !(goodput.goodput > 0));
			simulated += over && serve_tail(&s, &tail) && tail.meets;
		}
	}
	assert_true(simulated > servers() / 12);
}

/* Of a share, where so many requests are in flight that three waves of them are more
 * than a key press has time for, nothing is told. */
enum { MOST_OF_A_SHARE = TAIL_REQUESTS / 3 };

/* A tail is the simulation of ten requests of each user, at least 64 and as many as
 * there is time for, of each share; those of arrivals are as many as there is time for.
 */
static void tails_are_ten_waves_of_requests(void **state)
{
	int waves = 0, least = 0, most = 0, rates = 0, scaled = 0, none = 0;

	(void)state;
	seed = 54;
	for (int i = 0; i < servers(); i++) {
		struct serve_load load = { .users = MOST_OF_A_SHARE };
		struct server_part part;
		struct serving_run run;
		struct serve_tail tail;
		struct queue_result whole;
		struct arena arena = { 0 };
		struct scenario s;
		double each;

		draw(&s);
		s.plan.serving.concurrency = 1 + (int64_t)next(next(4) ? 60 : 3000);
		if (next(4) == 0)
			s.plan.serving.request_rate = 1 + (double)next(3);
		assert_true(run_open(&s, &run));
		run_room(&run);
		run_part(&run, &s, MOST_OF_A_SHARE, &part);
		each = fmin(TAIL_REQUESTS, fmax(64, 10 * part.users));
		load.requests = (int)(each * part.scale);
		if (s.plan.serving.request_rate > 0)
			load.requests = TAIL_REQUESTS;
		if (!serve_tail(&s, &tail)) {
			none++;
			continue;
		}
		assert_true(s.plan.serving.request_rate > 0 ||
			    part.users <= MOST_OF_A_SHARE);
		arena.size = serve_simulation_bytes(&s, &load);
		arena.base = malloc(arena.size + 1);
		assert_non_null(arena.base);
		assert_true(serve_simulate(&s, &load, &arena, &whole));
		free(arena.base);
		assert_int_equal(tail.result.requests, whole.requests);
		assert_true(tail.result.ttft.p99 == whole.ttft.p99);
		assert_true(tail.result.tpot.p99 == whole.tpot.p99);
		rates += s.plan.serving.request_rate > 0;
		scaled += part.scale > 1;
		waves += each > 64 && each < TAIL_REQUESTS;
		least += each == 64;
		most += each == TAIL_REQUESTS;
	}
	if (servers() < 100)
		return;
	assert_true(waves > servers() / 8 && least > servers() / 20);
	assert_true(rates > servers() / 20 && scaled > servers() / 8);
	assert_true(most > 0 && none > 0);
}

/* The bound by hand: a copy that computes nothing but prompts, the shortest that may
 * come, in passes as full as they can be, a tenth faster than the table has them; three
 * in a hundred of three waves may be late, and three of a burst. */
static double most_by_hand(const struct scenario *s, const struct serving_run *run)
{
	const struct serving_plan *v = &s->plan.serving;
	const struct server *server = run_prompts(run);
	struct queue_pass pass = { .prompt_tokens = server->budget_tokens };
	double shortest, each;
	struct work w;

	work_of(s, &w);
	shortest = (double)v->prompt_len - v->length_spread * (double)v->prompt_len -
		   w.cached;
	if (!v->chunked_prefill &&
	    (1 + v->length_spread) * (double)v->prompt_len > pass.prompt_tokens)
		pass.prompt_tokens = (1 + v->length_spread) * (double)v->prompt_len;
	if (shortest <= 0)
		return INFINITY;
	/* each token of a prompt sees the half of it, in the mean */
	pass.prompt_context = w.cached + shortest / 2;
	each = 0.9 * s->cluster.scale * work_pass_at(&w, server, &pass).stage *
	       shortest / pass.prompt_tokens;
	return server_copies(server) * (v->goal_ttft_seconds / each + 3) / 0.97;
}

static void the_most_that_keep_a_goal_by_hand(void **state)
{
	int told = 0, whole = 0;

	(void)state;
	seed = 55;
	for (int i = 0; i < 3 * servers(); i++) {
		struct serving_run run;
		struct scenario s;
		double most;

		draw(&s);
		s.plan.serving.goal_ttft_seconds = 0.01 * (double)(1 + next(3000));
		assert_true(run_open(&s, &run));
		run_room(&run);
		most = tail_most_requests(&run, &s);
		if (isinf(most))
			continue;
		assert_close(most, fmax(1, most_by_hand(&s, &run)), 1e-12);
		told++;
		whole += !s.plan.serving.chunked_prefill;
	}
	assert_true(told > servers() && whole > servers() / 20);
}

/* What a server timed lately is not timed again: a run that was asked for other points
 * before says of each what one that was not says. */
static void points_are_those_of_a_run_that_begins(void **state)
{
	enum { POINTS = 24 };

	(void)state;
	seed = 33;
	for (int i = 0; i < servers() / 10; i++) {
		struct serving_run run, anew;
		struct point again, first;
		struct scenario s;

		draw(&s);
		assert_true(run_open(&s, &run));
		run_room(&run);
		for (int k = 0; k < POINTS; k++) {
			double running = 1 + (double)next(1 + (uint64_t)run.room);

			assert_true(run_open(&s, &anew));
			run_room(&anew);
			run_at(&run, running, &again);
			run_at(&run, running, &again);
			run_at(&anew, running, &first);
			assert_memory_equal(&again, &first, sizeof first);
		}
	}
}

/* Who wants no less than some output learns what a server gives within its goals, or
 * that it is less: also where more requests give less than fewer. */
static void what_is_wanted_of_the_goodput_is_told(void **state)
{
	static struct estimate whole, part;
	int less = 0, more = 0;

	(void)state;
	seed = 34;
	for (int i = 0; i < servers(); i++) {
		struct scenario s;
		struct serving_plan *v = &s.plan.serving;

		draw(&s);
		if (next(3) == 0)
			v->output_len = 1 + (int64_t)next(3);
		serve_estimate(&s, &now);
		if (!now.feasible)
			continue;
		v->goal_ttft_seconds =
			now.serving.ttft_seconds * (0.1 + 0.1 * (double)next(9));
		v->goal_tpot_seconds = now.serving.tpot_seconds * 2;
		serve_figures(&s, 0, &whole);
		for (int k = 0; k < 8; k++) {
			double is = whole.serving.goodput, least;

			least = is * (0.6 + 0.1 * k);
			serve_figures(&s, least, &part);
			if (is >= least)
				assert_true(part.serving.goodput == is);
			else
				assert_true(part.serving.goodput < least);
			more += is >= least;
			less += part.serving.goodput < is;
		}
	}
	assert_true(less > servers() / 10 && more > servers());
}

/* No fewer requests than are told to be the fewest give an output, also in two pools,
 * where more of them may give less. */
static void fewer_do_not_give_as_much(void **state)
{
	int pools = 0, less = 0, tight = 0, all = 0;

	(void)state;
	seed = 71;
	while (pools < servers()) {
		struct serving_run run;
		double before = 0;
		struct scenario s;

		draw(&s);
		if (!s.plan.serving.disaggregated || !run_open(&s, &run))
			continue;
		pools++;
		run_room(&run);
		for (double c = 1; c <= fmin(60, run.room); c++) {
			double fewest;
			struct point p;

			run_at(&run, c, &p);
			fewest = tail_fewest_requests(&run, 60, p.tokens_per_second);
			assert_true(fewest <= c);
			tight += fewest >= 0.8 * c;
			less += p.tokens_per_second < before * (1 - 1e-3);
			before = p.tokens_per_second;
			all++;
		}
	}
	assert_true(less > servers() / 10 && tight > all / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_simulation_may_end_early),
		cmocka_unit_test(an_endless_queue_keeps_no_goal),
		cmocka_unit_test(tails_are_ten_waves_of_requests),
		cmocka_unit_test(the_most_that_keep_a_goal_by_hand),
		cmocka_unit_test(points_are_those_of_a_run_that_begins),
		cmocka_unit_test(what_is_wanted_of_the_goodput_is_told),
		cmocka_unit_test(fewer_do_not_give_as_much),
		cmocka_unit_test(no_more_keep_the_goal_than_their_prompts_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
