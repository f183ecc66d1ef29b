/* test_queue_twin.c - the simulation of servers against its twin, who runs one pass
 * after the other and counts everything anew (tests/twin/queue.h): when each request
 * of small loads has its first token and its last, for every way to serve them. */
#include <math.h>
#include <stdlib.h>

#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/twin/queue.h"

enum { LOADS = 2000 };

static double memory[1 << 16];
static struct queue_item list[TWIN_REQUESTS];

/* Linear in what it carries; with a pipeline behind it. */
static struct queue_seconds linear(void *server, const struct queue_pass *p)
{
	const double *slow = server;

	return (struct queue_seconds){
		*slow * (0.01 + 0.002 * p->requests + 1e-5 * p->requests * p->context +
			 0.001 * p->prompt_tokens +
			 1e-6 * p->prompt_tokens * p->prompt_context +
			 0.0003 * p->prompts + 0.0007 * p->aside +
			 1e-6 * p->aside * p->context),
		p->prompt_tokens > 0 ? slow[1] * (1 + 0.05 * p->prompt_tokens) : 0,
	};
}

static void draw_pool(struct queue_pool *pool, double *pace)
{
	static const double gains[] = { 1, 1, 1, 2, 1.5, 2.75 };

	pace[0] = 0.5 + (double)next(3);
	pace[1] = next(3) ? 0 : 0.01317194713;
	*pool = (struct queue_pool){ .servers = 1 + (int)next(2), .cost = linear };
	pool->server = pace;
	pool->scheduler = (enum queue_scheduler)next(SERVE_COUNT);
	pool->budget = 1 + (double)next(300);
	pool->unsplit = pool->scheduler == SERVE_PROMPTS_FIRST && next(3) == 0;
	pool->room = next(3) ? 150.0317 + (double)next(900) : 1e6;
	pool->cached = next(4) ? 0 : (double)next(60);
	pool->most_requests = next(3) ? 0 : 1 + (int)next(6);
	pool->reserves = next(3) == 0;
	pool->expects = pool->reserves || next(3) ? 0 : 0.25 * (double)next(5);
	pool->look_interval = next(3) ? 0 : (int)next(7);
	pool->prompt_wait = next(3) ? 0 : (int)next(9);
	pool->fill = (double)next(400);
	pool->gain = gains[next(6)];
	pool->each = next(4) ? 1 : 3;
	pool->lanes = next(3) ? 0 : 1 + (int)next(4);
	/* of most, by what was drawn for other things */
	pool->retracts = !pool->reserves && (int)pool->fill % 4 > 0;
	pool->expects_most = (int)pool->fill % 5 > 2 ? 0 : 3 * fmod(pool->fill, 9);
	if (!pool->retracts)
		return;
	pool->expects = 0.1 * (int)fmod(pool->fill, 11);
	pool->expects_least = pool->expects * 0.14;
	pool->expects_falls = 0.01 * (int)fmod(pool->fill, 7);
	pool->expects_ahead = (int)pool->fill % 20;
}

static void draw_load(struct queue_load *load)
{
	double now = 0, gap = 0.01 * (double)(1u << next(7));

	*load = (struct queue_load){ .lengths = LENGTHS_LISTED, .list = list };
	load->requests = load->listed = 1 + (int)next(24);
	load->arrivals = next(3) ? ARRIVE_LISTED : ARRIVE_CLOSED;
	load->users = 1 + (int)next((uint64_t)load->requests);
	for (int i = 0; i < load->requests; i++) {
		list[i].arrival = now;
		list[i].prompt = 1 + (int)next(next(3) ? 90 : 400);
		list[i].output = 1 + (int)next(next(3) ? 12 : 90);
		list[i].cached = next(4) ? 0 : (int)next((uint64_t)list[i].prompt);
		/* no two things at once but where one follows from the other */
		if (next(3))
			now += gap * (0.1234567 + 0.01 * (double)next(150));
	}
}

static void draw_system(struct queue_system *s, double pace[2][2])
{
	*s = (struct queue_system){ 0 };
	draw_pool(&s->pool, pace[0]);
	s->host_seconds = next(3) ? 0 : 0.003719317;
	if (next(3))
		return;
	draw_pool(&s->prompts, pace[1]);
	s->prompts.servers += (int)next(2);
	s->prompts.abreast = (int)next(4);
	s->send_seconds = 1.013731e-4 * (double)next(20);
	s->send_latency = 0.001711137;
}

static void tell(const struct queue_system *s, const struct queue_load *load, int who,
		 const struct queue_record *here, const struct queue_record *there)
{
	for (int k = 0; k < 2; k++) {
		const struct queue_pool *p = k ? &s->prompts : &s->pool;

		print_error(
			"%d servers, scheduler %d, budget %g, room %g, cached %g, "
			"most %d, reserves %d, expects %g, retracts %d, look %d, wait %d, fill "
			"%g, gain %g, each %g, unsplit %d, lanes %d\n",
			p->servers, p->scheduler, p->budget, p->room, p->cached,
			p->most_requests, p->reserves, p->expects, p->retracts,
			p->look_interval, p->prompt_wait, p->fill, p->gain, p->each,
			p->unsplit, p->lanes);
	}
	for (int i = 0; i < load->requests; i++)
		print_error("%d: at %g, %d + %d, cached %d: %.9g to %.9g, the twin "
			    "%.9g to %.9g\n",
			    i, list[i].arrival, list[i].prompt, list[i].output,
			    list[i].cached, here[i].first, here[i].end, there[i].first,
			    there[i].end);
	fail_msg("request %d differs, %d users", who,
		 load->arrivals == ARRIVE_CLOSED ? load->users : 0);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-7 * (1 + fabs(a));
}

static void draw(struct queue_system *system, double pace[2][2],
		 struct queue_load *load)
{
	draw_system(system, pace);
	draw_load(load);
	/* who asks again at once comes with a pass: two servers in step would part by
	 * the last bit of a sum */
	if (load->arrivals == ARRIVE_CLOSED)
		system->pool.servers = 1;
}

static void serve_both(const struct queue_system *system, const struct queue_load *load,
		       struct twin_queue *twin)
{
	struct queue_record here[TWIN_REQUESTS], there[TWIN_REQUESTS];
	struct arena arena = { (unsigned char *)memory, sizeof memory, 0 };
	struct queue_result result;

	assert_true(queue_bytes(load, system) <= sizeof memory);
	assert_true(queue_run(system, load, &arena, here, &result));
	twin_queue(system, load, there, twin);
	for (int i = 0; i < load->requests; i++)
		if (!near(here[i].first, there[i].first) ||
		    !near(here[i].end, there[i].end))
			tell(system, load, i, here, there);
	assert_int_equal(result.passes, twin->passes);
	assert_int_equal(result.preempted, twin->preempted);
	assert_close(result.recomputed_tokens, twin->recomputed_tokens, 1e-9);
}

/* One load in four thousand meets what these do: who has no room, in a server that
 * expects less with every pass, beside prompts that wait for others; prompts of two
 * servers in step that come out of their pipelines together, to a batch; who comes from
 * another pool and loses its cache before its first token. */
static void test_the_twin_serves_what_seldom_meets(void **state)
{
	static const struct {
		uint64_t seed;
		int before;
	} rows[] = { { 1, 17 }, { 1, 16841 }, { 3, 19183 }, { 2, 7130 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct queue_system system;
		struct twin_queue twin;
		struct queue_load load;
		double pace[2][2];

		seed = rows[i].seed;
		for (int n = 0; n <= rows[i].before; n++)
			draw(&system, pace, &load);
		serve_both(&system, &load, &twin);
	}
}

static void test_the_twin_serves_each_request_at_the_same_time(void **state)
{
	int preempted = 0, pools = 0, held = 0, closed = 0, retracted = 0;

	(void)state;
	seed = 1961;
	for (int n = some_of(LOADS); n > 0; n--) {
		struct queue_system system;
		struct twin_queue twin;
		struct queue_load load;
		double pace[2][2];

		draw(&system, pace, &load);
		serve_both(&system, &load, &twin);
		preempted += twin.preempted > 0;
		retracted += twin.preempted > 0 && system.pool.retracts;
		pools += system.prompts.servers > 0;
		held += system.pool.prompt_wait > 0;
		closed += load.arrivals == ARRIVE_CLOSED;
	}
	assert_true(preempted > some_of(LOADS) / 60 && pools > some_of(LOADS) / 6);
	assert_true(retracted > some_of(LOADS) / 120);
	assert_true(held > some_of(LOADS) / 10 && closed > some_of(LOADS) / 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_twin_serves_what_seldom_meets),
		cmocka_unit_test(test_the_twin_serves_each_request_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
