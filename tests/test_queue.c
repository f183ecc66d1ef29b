/* The simulation of a server, request by request: whole schedules worked out by hand,
 * and what holds of every one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/queue/queue.h"
#include "engine/queue/room.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

enum { MOST = 4000 };

static struct queue_record record[MOST];
static double memory[1 << 20];

/* Every pass takes one second for each 100 prompt tokens, one for each decoding pass.
 */
static struct queue_seconds simple(void *server, const struct queue_pass *p)
{
	(void)server;
	return (struct queue_seconds){ p->prompt_tokens / 100 + (p->requests > 0), 0 };
}

static struct queue_pool pool(enum queue_scheduler scheduler, double budget)
{
	return (struct queue_pool){
		.servers = 1,
		.scheduler = scheduler,
		.budget = budget,
		.room = 1e9,
		.gain = 1,
		.each = 1,
		.cost = simple,
	};
}

static struct queue_result run(const struct queue_system *system,
			       const struct queue_load *load)
{
	struct arena arena = { (unsigned char *)memory, sizeof memory, 0 };
	struct queue_result out;

	assert_true(load->requests <= MOST);
	assert_true(queue_bytes(load, system) <= sizeof memory);
	if (!queue_run(system, load, &arena, record, &out))
		fail_msg("the load does not run");
	return out;
}

static struct queue_load listed(const struct queue_item *list, int count)
{
	return (struct queue_load){ .arrivals = ARRIVE_LISTED,
				    .lengths = LENGTHS_LISTED,
				    .requests = count,
				    .list = list,
				    .listed = count };
}

static void is(int who, double first, double end)
{
	if (fabs(record[who].first - first) > 1e-9 ||
	    fabs(record[who].end - end) > 1e-9)
		fail_msg("request %d: first token at %g, last at %g; by hand %g, %g",
			 who, record[who].first, record[who].end, first, end);
}

/* Budget 200 tokens a pass, a decoding request takes one of them.
 *
 *   pass  from  to     decode  prompt tokens        what happens at its end
 *   1     0     1.5    -       A 150                A has its first token
 *   2     1.5   4.49   A       B 199 of 250         A 2 of 3
 *   3     4.49  7      A       B 51, C 100          A 3 of 3: ends; B, C first
 *   4     7     8      B, C    -                    B 2 of 2, C 2 of 3: B ends
 *   5     8     9      C       -                    C ends
 */
static void prompts_ride_in_chunks(void **state)
{
	static const struct queue_item list[] = { { 0, 150, 3, 0 },
						  { 1, 250, 2, 0 },
						  { 2, 100, 3, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200) };
	struct queue_load load = listed(list, 3);
	struct queue_result r = run(&s, &load);

	(void)state;
	is(0, 1.5, 7);
	is(1, 7, 8);
	is(2, 7, 9);
	assert_int_equal(r.passes, 5);
	assert_close(r.ttft.mean, (1.5 + 6 + 5) / 3, 1e-12);
	assert_close(r.ttft.p50, 5, 1e-12);
	assert_close(r.tpot.mean, (5.5 / 2 + 1 + 1) / 3, 1e-12);
	assert_close(r.request.mean, (7 + 7 + 7) / 3.0, 1e-12);
	assert_close(r.running, 21 / 9.0, 1e-12);
}

/* The same three where prompts run alone and first:
 *
 *   1  0    1.5  A 150 alone: first
 *   2  1.5  3.5  B 200 of 250 (A waits)
 *   3  3.5  5.0  B 50, C 100: both first
 *   4  5    6    A, B, C: A 2 of 3, B ends, C 2 of 3
 *   5  6    7    A, C end
 */
static void prompts_go_first(void **state)
{
	static const struct queue_item list[] = { { 0, 150, 3, 0 },
						  { 1, 250, 2, 0 },
						  { 2, 100, 3, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 200) };
	struct queue_load load = listed(list, 3);

	(void)state;
	run(&s, &load);
	is(0, 1.5, 7);
	is(1, 5, 6);
	is(2, 5, 7);
}

/* A batch begins when the one before is done: A alone until 3.5 s (1.5 + 2 passes); B
 * and C: prompts in 2 + 1.5 s, then two passes. */
static void a_static_batch_stays_together(void **state)
{
	static const struct queue_item list[] = { { 0, 150, 3, 0 },
						  { 1, 250, 2, 0 },
						  { 2, 100, 3, 0 } };
	struct queue_system s = { .pool = pool(SERVE_STATIC, 200) };
	struct queue_load load = listed(list, 3);

	(void)state;
	run(&s, &load);
	is(0, 1.5, 3.5);
	is(1, 7, 8);
	is(2, 7, 9);
}

/* Room for 10 tokens; two requests of 4 + 5 tokens, each let in with its prompt and one
 * token more: both hold 5.
 *
 *   1  0     0.08  A 4, B 4: both first (2 tokens of each: 5 + 5 are held)
 *   2  0.08        one more of each would be 12 > 10: B gives its cache back and has 5
 *                  tokens to compute (4 and the one it has written); 5 + 6 > 10: waits
 *      4.08        A has all its tokens
 *   3  4.08  4.13  B 5 again: its 2nd token, 3 to go
 *   4  4.13  7.13  B ends
 */
static void a_full_cache_preempts_the_youngest(void **state)
{
	static const struct queue_item list[] = { { 0, 4, 5, 0 }, { 0, 4, 5, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200) };
	struct queue_load load = listed(list, 2);
	struct queue_result r;

	(void)state;
	s.pool.room = 10;
	r = run(&s, &load);
	is(0, 0.08, 4.08);
	is(1, 0.08, 7.13);
	assert_int_equal(r.preempted, 1);
	assert_close(r.recomputed_tokens, 5, 1e-12);
}

/* With its output set aside the second is let in when the first is done. */
static void a_reserving_server_preempts_nobody(void **state)
{
	static const struct queue_item list[] = { { 0, 4, 5, 0 }, { 0, 4, 5, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200) };
	struct queue_load load = listed(list, 2);
	struct queue_result r;

	(void)state;
	s.pool.room = 10;
	s.pool.reserves = true;
	r = run(&s, &load);
	is(0, 0.04, 4.04);
	is(1, 4.08, 8.08);
	assert_int_equal(r.preempted, 0);
}

/* Two pools: prompts of 100 in 1 s, one after the other as they don't fit a pass of
 * 100; caches travel 2 s each over one network: at 1 + 2 = 3 s, and 3 + 2 = 5 s. A's
 * three tokens leave with the passes from 3, 4 and 5 s on, B's with those from 5 s on.
 */
static void caches_share_the_network(void **state)
{
	static const struct queue_item list[] = { { 0, 100, 3, 0 }, { 0, 100, 3, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200),
				  .prompts = pool(SERVE_PROMPTS_FIRST, 100),
				  .send_seconds = 0.02 };
	struct queue_load load = listed(list, 2);

	(void)state;
	run(&s, &load);
	is(0, 4, 6);
	is(1, 6, 8);
}

/* Half a second for each to be received, one after the other: at .5, 1 and 1.5 s. A's
 * first token leaves at .6, B's and C's 10 prompt tokens ride beside decoding from the
 * passes that begin at 1.6 on: B comes while that from .6 to 1.6 runs, C too.
 *
 *   0.5  0.6   A 10: first
 *   0.6  1.6   A 2
 *   1.6  2.8   A 3, B 10, C 10: first
 */
/* Two copies of one engine, prompts of 300, 100 and 200: A at 0 runs alone until 3;
 * B and C come at 1 and 2, find a copy idle and wait for A all the same. From 3 on each
 * copy has one of them: both are done when the longer is, at 5; a pass decodes each.
 * Copies that don't wait for each other: B runs from 1 to 2, C from 2 to 4. */
static void copies_of_an_engine_run_abreast(void **state)
{
	static const struct queue_item list[] = { { 0, 300, 1, 0 },
						  { 1, 100, 1, 0 },
						  { 2, 200, 1, 0 } };
	struct queue_load load = listed(list, 3);
	struct queue_system s = { .pool = pool(SERVE_MIXED, 1e9),
				  .prompts = pool(SERVE_PROMPTS_FIRST, 1e9) };

	(void)state;
	s.pool.servers = 3;
	s.prompts.servers = 2;
	s.prompts.abreast = 2;
	run(&s, &load);
	is(0, 4, 4);
	is(1, 6, 6);
	is(2, 6, 6);
	s.prompts.abreast = 1;
	run(&s, &load);
	is(1, 3, 3);
	is(2, 5, 5);
}

static void a_burst_is_received_one_by_one(void **state)
{
	static const struct queue_item list[] = { { 0, 10, 3, 0 },
						  { 0, 10, 1, 0 },
						  { 0, 10, 1, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200), .host_seconds = 0.5 };
	struct queue_load load = listed(list, 3);

	(void)state;
	run(&s, &load);
	is(0, 0.6, 2.8);
	is(1, 2.8, 2.8);
	is(2, 2.8, 2.8);
	/* two servers take turns; C, received at 1 s, goes to who is idle */
	s.pool.servers = 2;
	run(&s, &load);
	is(0, 0.6, 2.6);
	is(1, 0.6, 0.6);
	is(2, 1.1, 1.1);
}

/* A pipeline is free for the next pass before a prompt has left it; a prepared request
 * misses the pass that began meanwhile. */
static struct queue_seconds staged(void *server, const struct queue_pass *p)
{
	(void)server;
	return (struct queue_seconds){ 1, p->requests > 0 ? 0 : 3 };
}

static void a_prompt_leaves_the_last_stage(void **state)
{
	static const struct queue_item list[] = { { 0, 100, 1, 0 }, { 0, 100, 1, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 100) };
	struct queue_load load = listed(list, 2);

	(void)state;
	s.pool.cost = staged;
	s.host_seconds = 0.5;
	run(&s, &load);
	is(0, 4.5, 4.5);
	is(1, 5.5, 5.5);
}

/* Nobody goes on before his token is there, three seconds behind the first stage:
 *
 *   0  1  A's prompt: first at 4      1  2  B's, who came at 0.5: first at 5
 *   4  5  A 2 of 2                    5  6  B 2 of 2
 */
static void who_decodes_has_its_token(void **state)
{
	static const struct queue_item list[] = { { 0, 100, 2, 0 },
						  { 0.5, 100, 2, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 100) };
	struct queue_load load = listed(list, 2);

	(void)state;
	s.pool.cost = staged;
	run(&s, &load);
	is(0, 4, 5);
	is(1, 5, 6);
}

/* Prompts have each of four stages for a second, or go round beside others in four; a
 * pass that decodes takes a quarter of one. */
static struct queue_seconds in_rounds(void *server, const struct queue_pass *p)
{
	(void)server;
	if (p->prompt_tokens <= 0)
		return (struct queue_seconds){ 0.25, 0 };
	return p->aside > 0 ? (struct queue_seconds){ 4, 0 }
			    : (struct queue_seconds){ 1, 3 };
}

/* A's token stands behind B's prompt in the pipeline, and leaves it when that does:
 *
 *   0  1  A's prompt: first at 4      1  2     B's, who came at 0.5: first at 5
 *   4  5  A 2 of 3, behind B          5  5.25  A 3 of 3, B 2 of 2
 */
static void no_token_overtakes_a_prompt(void **state)
{
	static const struct queue_item list[] = { { 0, 100, 3, 0 },
						  { 0.5, 100, 2, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 100) };
	struct queue_load load = listed(list, 2);

	(void)state;
	s.pool.cost = in_rounds;
	run(&s, &load);
	is(0, 4, 5.25);
	is(1, 5, 5.25);
}

/* Four micro-batches, of which one carries B's prompt, then C's: of two rounds A, who
 * may be in any of them, decodes in one and a half.
 *
 *   0     1      A's prompt: first at 4
 *   4     4.25   A 2 of 4               B has come
 *   4.25  8.25   B's prompt             C has come; three quarters of a round
 *   8.25  12.25  C's prompt, A 3 of 4   one and a half: a half is left
 *   12.25 12.5   A 4 of 4
 */
static void others_decode_beside_the_first_prompts(void **state)
{
	static const struct queue_item list[] = { { 0, 100, 4, 0 },
						  { 4.1, 100, 1, 0 },
						  { 5, 100, 1, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 100) };
	struct queue_load load = listed(list, 3);

	(void)state;
	s.pool.cost = in_rounds;
	s.pool.lanes = 4;
	run(&s, &load);
	is(0, 4, 12.5);
	is(1, 8.25, 8.25);
	is(2, 12.25, 12.25);
}

/* A second in the first of four stages for each 100 tokens, three in the others. */
static struct queue_seconds by_length(void *server, const struct queue_pass *p)
{
	(void)server;
	return (struct queue_seconds){ p->prompt_tokens / 100,
				       3 * p->prompt_tokens / 100 };
}

/* A prompt's last, short chunk is behind its long one: 100 tokens are out at 4 s, the
 * last stage has the other 20 then for 0.2 s; alone they take 0.8 s. */
static void no_chunk_overtakes_another(void **state)
{
	static const struct queue_item list[] = { { 0, 120, 1, 0 }, { 9, 20, 1, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 100) };
	struct queue_load load = listed(list, 2);

	(void)state;
	s.pool.cost = by_length;
	run(&s, &load);
	is(0, 4.2, 4.2);
	is(1, 9.8, 9.8);
}

/* A prefix that the cache holds is neither computed nor kept twice; a pass that gives
 * two tokens halves the passes. */
static void a_cached_prefix_and_drafts(void **state)
{
	static const struct queue_item list[] = { { 0, 150, 5, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200) };
	struct queue_load load = listed(list, 1);

	(void)state;
	s.pool.cached = 100;
	s.pool.gain = 2;
	run(&s, &load);
	is(0, 0.5, 2.5);
}

/* A decodes from 0.5 s on, a pass a second; B comes at 1 s, with three passes between
 * two looks: at 3.5 s three are over since the pass with A's prompt.
 *
 *   0    0.5   A 50: first
 *   0.5  3.5   A 2, 3, 4
 *   3.5  5.5   A 5 and B 100: A ends, B first
 *   5.5  6.5   B ends; C, who came at 6 s, is seen at once: nobody decodes
 *   6.5  7     C 50: first and last
 */
static void requests_wait_to_be_seen(void **state)
{
	static const struct queue_item list[] = { { 0, 50, 5, 0 },
						  { 1, 100, 2, 0 },
						  { 6, 50, 1, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200) };
	struct queue_load load = listed(list, 3);

	(void)state;
	s.pool.look_interval = 3;
	run(&s, &load);
	is(0, 0.5, 5.5);
	is(1, 5.5, 6.5);
	is(2, 7, 7);
}

/* A decodes from 0.5 s on. B's 60 tokens wait at most two passes for others, from 1.5 s
 * on, the end of the pass in which it came: until 3.5 s. D comes at 6.2 s, E at 6.6 s:
 * together they fill the 150 tokens of `fill`, so that both go at 7.1 s.
 *
 *   0    0.5   A 50: first
 *   0.5  3.5   A 2, 3, 4
 *   3.5  5.1   A 5, B 60: first
 *   5.1  7.1   A 6, 7; B 2, 3
 *   7.1  9.7   A 8, B ends; D 80, E 80: first and last
 *   9.7  10.7  A ends
 */
static void prompts_wait_for_others(void **state)
{
	static const struct queue_item list[] = {
		{ 0, 50, 9, 0 }, { 1, 60, 4, 0 }, { 6.2, 80, 1, 0 }, { 6.6, 80, 1, 0 }
	};
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200) };
	struct queue_load load = listed(list, 4);

	(void)state;
	s.pool.prompt_wait = 2;
	s.pool.fill = 150;
	run(&s, &load);
	is(0, 0.5, 10.7);
	is(1, 5.1, 9.7);
	is(2, 9.7, 9.7);
	is(3, 9.7, 9.7);
}

/* Two requests of 4 + 10 tokens, half of what is to come has to fit: the second needs 5
 * (the first holds 5) and half of 20, so that 20 tokens of room take both, 19 one. */
static void outputs_to_come_are_expected(void **state)
{
	static const struct queue_item list[] = { { 0, 4, 10, 0 }, { 0, 4, 10, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 200) };
	struct queue_load load = listed(list, 2);

	(void)state;
	s.pool.expects = 0.5;
	s.pool.room = 20;
	run(&s, &load);
	assert_close(record[1].first, 0.08, 1e-9);
	s.pool.room = 19;
	run(&s, &load);
	is(0, 0.04, 9.04);
	is(1, 9.08, 18.08);
}

/* B is let in beside A, as 4 + 5 and 5 + 20 tokens and a tenth of A's other 15 fit into
 * 36. C does not fit. After eleven passes together the cache is full: B has written
 * less than A, loses its cache and goes behind C, who has room only when A has ended.
 * All of what C will write has to fit too, so that B, of 16 tokens to compute, waits
 * for C. */
static void who_has_written_least_goes_behind_the_others(void **state)
{
	static const struct queue_item list[] = { { 0, 4, 20, 0 },
						  { 3.5, 4, 20, 0 },
						  { 6, 10, 20, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 200) };
	struct queue_load load = listed(list, 3);
	struct queue_result r;

	(void)state;
	s.pool.room = 36;
	s.pool.retracts = true;
	s.pool.expects = s.pool.expects_least = 0.1;
	r = run(&s, &load);
	is(0, 0.04, 19.08);
	is(1, 4.08, 45.34);
	is(2, 19.18, 38.18);
	assert_int_equal(r.preempted, 1);
	assert_close(r.recomputed_tokens, 16, 0);
	/* of a server that expects 0.2 at first the tenth is reached after ten passes
	 */
	s.pool.expects = 0.2;
	s.pool.expects_falls = 0.01;
	run(&s, &load);
	assert_close(record[1].first, 19.08, 1e-9);
}

/* Two that came together have written six tokens each when 6 + 6 and 4 + 6 fill a cache
 * of 22: the one with the longer prompt loses it, although the other one is the
 * younger, and computes twelve tokens again when that has ended. */
static void of_those_who_wrote_as_much_the_longest_prompt_goes(void **state)
{
	static const struct queue_item list[] = { { 0, 6, 8, 0 }, { 0, 4, 8, 0 } };
	struct queue_system s = { .pool = pool(SERVE_PROMPTS_FIRST, 200) };
	struct queue_load load = listed(list, 2);
	struct queue_result r;

	(void)state;
	s.pool.room = 22;
	s.pool.retracts = true;
	s.pool.expects = s.pool.expects_least = 0.1;
	r = run(&s, &load);
	is(0, 0.06, 8.22);
	is(1, 0.1, 7.1);
	assert_int_equal(r.preempted, 1);
	assert_close(r.recomputed_tokens, 12, 0);
	/* who retracts by age alone takes it from the younger */
	s.pool.retracts = false;
	r = run(&s, &load);
	is(0, 0.1, 7.1);
	assert_int_equal(r.preempted, 1);
}

/* 250 of 300 tokens were computed before: half a second is left. Goals count alone and
 * together. Cache for 400: the second is larger than that, and is let in alone. */
static void a_list_has_prefixes_goals_and_sizes(void **state)
{
	static const struct queue_item list[] = { { 0, 300, 3, 250 },
						  { 10, 500, 2, 0 } };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 1000),
				  .goal_ttft = 1,
				  .goal_tpot = 1.5 };
	struct queue_load load = listed(list, 2);
	struct queue_result r;

	(void)state;
	s.pool.room = 400;
	r = run(&s, &load);
	is(0, 0.5, 2.5);
	is(1, 15, 16);
	assert_close(r.cached_tokens, 250, 0);
	assert_close(r.within_ttft, 0.5, 0);
	assert_close(r.within_tpot, 1, 0);
	assert_close(r.within_goals, 0.5, 0);
	assert_int_equal(r.oversized, 1);
}

static struct queue_seconds random_cost(void *server, const struct queue_pass *p)
{
	(void)server;
	return (struct queue_seconds){
		0.002 + 1e-5 * p->prompt_tokens + 1e-5 * p->requests +
			1e-8 * p->requests * p->context +
			1e-9 * p->prompt_tokens * p->prompt_context,
		0
	};
}

/* Any scheduler, load and cache. */
static void random_system(struct queue_system *s, struct queue_load *load)
{
	double room = next(2) ? 1e9 : 3000 + (double)next(20000);

	*s = (struct queue_system){
		.pool = pool((enum queue_scheduler)next(SERVE_COUNT),
			     64 + (double)next(4000)),
		.host_seconds = next(2) ? 0 : 0.003,
	};
	s->pool.cost = random_cost;
	s->pool.room = room;
	s->pool.reserves = next(2) == 0;
	s->pool.most_requests = next(3) ? 0 : 1 + (int)next(16);
	s->pool.servers = 1 + (int)next(3);
	s->pool.expects = next(2) ? 0 : 0.1 * (double)next(11);
	s->pool.look_interval = (int)next(3) * 5;
	s->pool.prompt_wait = (int)next(3) * 4;
	s->pool.fill = 0.9 * s->pool.budget;
	if (next(4) == 0) {
		s->prompts = s->pool;
		s->prompts.scheduler = SERVE_PROMPTS_FIRST;
		s->prompts.servers = 1 + (int)next(3);
		s->prompts.abreast = (int)next(4);
		s->prompts.room = 1e9;
		s->send_seconds = 1e-6 * (double)next(20);
	}
	*load = (struct queue_load){
		.arrivals = (enum queue_arrivals)next(ARRIVE_LISTED),
		.lengths = (enum queue_lengths)next(LENGTHS_LISTED),
		.requests = 200 + (int)next(600),
		.users = 1 + (int)next(64),
		.rate = 1 + (double)next(40),
		.burst = 2,
		.prompt = 1 + (double)next(800),
		.output = 1 + (double)next(300),
		.spread = 0.1 * (double)next(9),
		.seed = next(1u << 30),
	};
}

/* Little 1961; order; no request is lost, and each gets its tokens. */
static void laws_hold_of_every_load(void **state)
{
	struct queue_system s;
	struct queue_load load;
	int preempted = 0, pools = 0;

	(void)state;
	seed = 31;
	for (int i = 0; i < 700; i++) {
		struct queue_result r;
		double inside = 0;

		random_system(&s, &load);
		r = run(&s, &load);
		preempted += r.preempted > 0;
		pools += s.prompts.servers > 0;
		for (int k = 0; k < load.requests; k++) {
			const struct queue_record *q = &record[k];

			assert_true(q->first > q->arrival && q->end >= q->first);
			assert_true(q->output == 1 || q->end > q->first);
			/* each further token needs a pass */
			assert_true(q->end - q->first >=
				    0.002 * (q->output - 1) * (1 - 1e-9));
			inside += q->end - q->arrival;
		}
		assert_close(inside / load.requests, r.request.mean, 1e-9);
		assert_close(r.running * r.seconds, inside, 1e-9);
		assert_true(r.ttft.p50 <= r.ttft.p90 && r.ttft.p90 <= r.ttft.p99);
		if (load.arrivals == ARRIVE_CLOSED)
			assert_true(r.running <= load.users * (1 + 1e-9));
	}
	if (preempted < 20 || pools < 60)
		fail_msg("%d of the loads preempt, %d have two pools", preempted,
			 pools);
}

/* While all users are there, rate x time in the system is their number. */
static void a_closed_loop_holds_its_users(void **state)
{
	struct queue_system s = { .pool = pool(SERVE_MIXED, 2048) };
	struct queue_load load = { .arrivals = ARRIVE_CLOSED,
				   .requests = 4000,
				   .users = 16,
				   .prompt = 500,
				   .output = 100,
				   .spread = 0.2,
				   .seed = 3 };
	struct queue_result r;

	(void)state;
	s.pool.cost = random_cost;
	r = run(&s, &load);
	assert_close(r.running, 16, 0.02);
	assert_close(r.requests / r.seconds * r.request.mean, 16, 0.02);
}

/* Prompts of 100 take their pool a second each, decoding next to nothing: it gives one
 * request a second whoever decodes, and who comes waits for the seven others at most,
 * and a pass of who decodes. */
static void a_slow_pool_of_prompts_limits_both(void **state)
{
	struct queue_system s = { .pool = pool(SERVE_MIXED, 1e9),
				  .prompts = pool(SERVE_PROMPTS_FIRST, 100) };
	struct queue_load load = { .arrivals = ARRIVE_CLOSED,
				   .requests = 1000,
				   .users = 8,
				   .prompt = 100,
				   .output = 2 };
	struct queue_result r;

	(void)state;
	for (int servers = 1; servers < 4; servers++) {
		s.pool.servers = servers;
		r = run(&s, &load);
		assert_close(r.requests / r.seconds, 1, 0.02);
		assert_close(r.requests / r.seconds * r.request.mean, 8, 0.02);
		for (int k = 0; k < load.requests; k++)
			assert_true(record[k].first - record[k].arrival <=
				    8 + 2 + 1e-9);
	}
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
	static struct queue_record before[MOST];
	struct queue_system s;
	struct queue_load load;
	int differ = 0;

	(void)state;
	seed = 77;
	for (int i = 0; i < 40; i++) {
		struct queue_result a, b;
		size_t bytes;

		random_system(&s, &load);
		load.spread = 0.5;
		load.prompt = 300;
		bytes = (size_t)load.requests * sizeof before[0];
		a = run(&s, &load);
		memcpy(before, record, bytes);
		b = run(&s, &load);
		assert_memory_equal(before, record, bytes);
		assert_memory_equal(&a, &b, sizeof a);
		load.seed++;
		run(&s, &load);
		differ += memcmp(before, record, bytes) != 0;
	}
	assert_int_equal(differ, 40);
}

/* Means and variations are what was asked for. */
static void loads_are_as_asked(void **state)
{
	static const double burst[] = { 0.5, 1, 3 };
	struct queue_system s = { .pool = pool(SERVE_MIXED, 1e6) };
	struct queue_load load = { .arrivals = ARRIVE_BURSTY,
				   .lengths = LENGTHS_LOGNORMAL,
				   .requests = 4000,
				   .rate = 50,
				   .prompt = 1000,
				   .output = 20,
				   .spread = 1,
				   .seed = 5 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		double gaps = 0, squares = 0, mean;

		load.burst = burst[i];
		run(&s, &load);
		for (int k = 1; k < load.requests; k++) {
			double gap = record[k].arrival - record[k - 1].arrival;

			gaps += gap;
			squares += gap * gap;
		}
		mean = gaps / (load.requests - 1);
		assert_close(mean, 0.02, 0.1);
		assert_close(sqrt(squares / (load.requests - 1) - mean * mean) / mean,
			     burst[i], 0.1);
	}
	double prompts = 0;

	for (int k = 0; k < load.requests; k++)
		prompts += record[k].prompt;
	assert_close(prompts / load.requests, 1000, 0.06);
}

/* --- until there is room --- */

/* c servers of one request a second each. */
static struct queue_room rooms(double c, double arrival_scv, double work_scv)
{
	return (struct queue_room){ .most = c,
				    .inside = { 1, c },
				    .rate = { 1, c },
				    .count = c > 1 ? 2 : 1,
				    .arrival_scv = arrival_scv,
				    .work_scv = work_scv,
				    .overlap = 1 };
}

/* Erlang 1917: the chance to find all c busy, over what they give more than comes. */
static double erlang(double c, double load)
{
	double term = 1, sum = 0, full;

	for (double k = 0; k < c; term *= load / ++k)
		sum += term;
	full = term * c / (c - load);
	return full / (sum + full) / (c - load);
}

static void waits_for_room_are_those_of_erlang(void **state)
{
	(void)state;
	for (double c = 1; c <= 200; c *= 2)
		for (double load = 0.1; load < 0.99; load += 0.2) {
			struct queue_room q = rooms(c, 1, 1);

			double wait = erlang(c, load * c);

			assert_true(fabs(queue_room_wait(&q, load * c) - wait) <=
				    1e-9 * wait + 1e-10);
		}
}

/* Pollaczek and Khinchine of one server: work that is always the same waits half as
 * long; who comes faster than all are served waits for ever. */
static void waits_for_room_by_work_and_rate(void **state)
{
	struct queue_room one = rooms(1, 1, 0), even = rooms(50, 0, 0),
			  clumps = rooms(50, 4, 0), single = rooms(50, 1, 0);

	(void)state;
	assert_close(queue_room_wait(&one, 0.8), 0.8 / (2 * 0.2), 1e-9);
	assert_true(isinf(queue_room_wait(&one, 1)) && isinf(queue_room_wait(&one, 2)));
	assert_true(queue_room_wait(&one, 0) == 0);
	/* regular gaps and work: nobody meets anybody; clumps do */
	assert_true(queue_room_wait(&even, 45) < 1e-6);
	assert_true(queue_room_wait(&clumps, 45) > 4 * queue_room_wait(&single, 45));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prompts_ride_in_chunks),
		cmocka_unit_test(prompts_go_first),
		cmocka_unit_test(copies_of_an_engine_run_abreast),
		cmocka_unit_test(a_static_batch_stays_together),
		cmocka_unit_test(a_full_cache_preempts_the_youngest),
		cmocka_unit_test(a_reserving_server_preempts_nobody),
		cmocka_unit_test(caches_share_the_network),
		cmocka_unit_test(a_burst_is_received_one_by_one),
		cmocka_unit_test(a_prompt_leaves_the_last_stage),
		cmocka_unit_test(who_decodes_has_its_token),
		cmocka_unit_test(no_token_overtakes_a_prompt),
		cmocka_unit_test(others_decode_beside_the_first_prompts),
		cmocka_unit_test(no_chunk_overtakes_another),
		cmocka_unit_test(a_cached_prefix_and_drafts),
		cmocka_unit_test(requests_wait_to_be_seen),
		cmocka_unit_test(prompts_wait_for_others),
		cmocka_unit_test(outputs_to_come_are_expected),
		cmocka_unit_test(who_has_written_least_goes_behind_the_others),
		cmocka_unit_test(of_those_who_wrote_as_much_the_longest_prompt_goes),
		cmocka_unit_test(a_list_has_prefixes_goals_and_sizes),
		cmocka_unit_test(laws_hold_of_every_load),
		cmocka_unit_test(a_closed_loop_holds_its_users),
		cmocka_unit_test(a_slow_pool_of_prompts_limits_both),
		cmocka_unit_test(the_same_seed_gives_the_same_bytes),
		cmocka_unit_test(loads_are_as_asked),
		cmocka_unit_test(waits_for_room_are_those_of_erlang),
		cmocka_unit_test(waits_for_room_by_work_and_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
