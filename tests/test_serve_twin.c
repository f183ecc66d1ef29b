/* test_serve_twin.c - the closed form of servers against its twin
 * (tests/twin/server.h), term by term: what a request waits for, where and how long, of
 * any server, load and way to run prompts. */
#include <math.h>

#include "engine/serve/serve.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"
#include "tests/twin/server.h"

static struct estimate now;

enum { SERVERS = 1200 };

/* --- servers --- */

/* What hardly anybody turns. */
static void draw_rare(struct scenario *s)
{
	struct serving_plan *v = &s->plan.serving;

	v->length_spread = next(2) ? 0 : 0.2 * (double)(1 + next(5));
	v->length_shape = next(2) ? LENGTH_LOGNORMAL : 0;
	v->arrival_scv = 0.5 * (double)next(5);
	v->receive_interval = next(2) ? 1 : 1 + (int64_t)next(20);
	v->batch_wait = next(2) ? 0 : (int64_t)next(40);
	if (next(8) == 0)
		v->prompt_len = 1 + (int64_t)next(3);
	v->kv_block = 1 + (int64_t)next(64);
	v->max_batched_tokens = next(2) ? v->max_batched_tokens : 100 << next(9);
	s->stack.serving.prompt_seconds *= next(3) ? 1 : (double)(1 << next(8));
	s->stack.serving.mixes = next(2);
	s->stack.serving.loads_by_layer = next(2);
	s->cluster.accelerator.host_bytes_per_second *= next(3) ? 1 : 0.02;
	if (next(4) == 0)
		s->cluster.link[LINK_NETWORK].bytes_per_second *= 0.05;
}

/* With room for some. */
static void draw(struct scenario *s, struct serving_run *run)
{
	do {
		server_random(s, &now);
		draw_rare(s);
		serve_estimate(s, &now);
	} while (!now.feasible);
	assert_true(run_open(s, run));
	run_room(run);
}

/* --- term by term --- */

struct term {
	const char *name;
	size_t at;
	bool time;
};

#define TERM(name, time)                                  \
	{                                                 \
#name, offsetof(struct point, name), time \
	}
static const struct term terms[] = {
	TERM(requests, false),
	TERM(decoding, false),
	TERM(decode_seconds, true),
	TERM(step_seconds, true),
	TERM(mixed_seconds, true),
	TERM(prefill_seconds, true),
	TERM(gain, false),
	TERM(nic_share, false),
	TERM(transfer_seconds, true),
	TERM(begin_seconds, true),
	TERM(added_seconds, true),
	TERM(served_seconds, true),
	TERM(company_seconds, true),
	TERM(ahead, false),
	TERM(behind, false),
	TERM(received_seconds, true),
	TERM(contended_seconds, true),
	TERM(load_seconds, true),
	TERM(carrying_seconds, true),
	TERM(ttft_seconds, true),
	TERM(tpot_seconds, true),
	TERM(requests_per_second, false),
	TERM(prefill_share, false),
	TERM(tokens_per_second, false),
};

static double value(const struct point *p, const struct term *term)
{
	return *(const double *)((const char *)p + term->at);
}

/* Of numbers that are differences of larger ones, what is left is as exact as those. */
static double size_of(const struct point *p, const struct term *term)
{
	if (term->time)
		return fmax(p->ttft_seconds * 1e-3, value(p, term));
	return fmax(fabs(value(p, term)), 1e-3);
}

static void compare_points(const struct scenario *s, const struct point *is,
			   const struct point *twin)
{
	for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
		double a = value(is, &terms[i]), b = value(twin, &terms[i]);

		if (fabs(a - b) > 1e-6 * size_of(twin, &terms[i]))
			fail_msg("%s: %.12g, the twin has %.12g; %s on %s with %s, "
				 "%lld GPUs, TP %lld PP %lld DP %lld, %lld + %lld, "
				 "%g requests, apart %d, batching %d",
				 terms[i].name, a, b, s->model.name, s->cluster.name,
				 s->stack.name, (long long)s->cluster.gpus,
				 (long long)s->plan.tp, (long long)s->plan.pp,
				 (long long)s->plan.serving.dp_attention,
				 (long long)s->plan.serving.prompt_len,
				 (long long)s->plan.serving.output_len, is->requests,
				 s->plan.serving.disaggregated,
				 s->plan.serving.batching);
	}
}

/* Everything takes as much longer as measured runs did. */
static void slow_down(struct point *p, double scale)
{
	for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
		if (terms[i].time)
			*(double *)((char *)p + terms[i].at) *= scale;
	p->requests_per_second /= scale;
	p->tokens_per_second /= scale;
}

/* Requests in a copy: of a loop those that are met and itself, though not all of them
 * decode. */
static double in_copy(const struct scenario *s, const struct point *p)
{
	const struct serving_plan *v = &s->plan.serving;

	if (v->request_rate > 0 || v->disaggregated || v->batching == BATCHING_STATIC)
		return p->decoding;
	return p->met + 1;
}

static void points_are_the_twins(void **state)
{
	int pools = 0, rates = 0, batches = 0, contended = 0, loaded = 0, received = 0;

	(void)state;
	seed = 91;
	for (int i = 0; i < SERVERS; i++) {
		struct serving_run run;
		struct scenario s;
		struct point is, twin;
		double running, copies;

		draw(&s, &run);
		running = fmax(1, run.room * (1 + (double)next(1000)) / 1000);
		if (next(2))
			running = now.serving.concurrency;
		copies = server_copies(&run.decode);
		run_at(&run, running, &is);
		twin_point(&run, running / copies, in_copy(&s, &is), &twin);
		slow_down(&twin, s.cluster.scale);
		compare_points(&s, &is, &twin);
		pools += run.apart;
		rates += s.plan.serving.request_rate > 0;
		batches += s.plan.serving.batching == BATCHING_STATIC;
		contended += is.nic_share > 0;
		loaded += is.load_seconds > 0;
		received += is.received_seconds > 0;
	}
	assert_true(pools > SERVERS / 10 && rates > SERVERS / 40);
	assert_true(batches > SERVERS / 20 && contended > SERVERS / 40);
	assert_true(loaded > SERVERS / 40 && received > SERVERS / 20);
}

/* --- a pass --- */

static void draw_batch(const struct scenario *s, struct batch *b)
{
	*b = (struct batch){ .requests = next(4) ? (double)next(200) / 2 : 0,
			     .tokens_each = 1 + (double)next(3),
			     .context = 1 + (double)next(20000),
			     .captured = next(2),
			     .prompt_tokens = next(2) ? (double)next(9000) : 0 };
	if (b->prompt_tokens > 0) {
		b->prompt_context = (double)next(9000);
		b->prompt_requests = 1 + (double)next(3);
	}
	if (next(4) == 0)
		b->copies = 1 + (double)next((uint64_t)s->plan.serving.dp_attention);
}

static void same_figures(const struct scenario *s, const char *what,
			 const struct pass *is, const struct pass *twin)
{
	const double figure[][2] = {
		{ is->seconds, twin->seconds },
		{ is->stage_seconds, twin->stage_seconds },
		{ is->tp_seconds, twin->tp_seconds },
		{ is->ep_seconds, twin->ep_seconds },
		{ is->cp_seconds, twin->cp_seconds },
		{ is->pp_seconds, twin->pp_seconds },
		{ is->host_seconds, twin->host_seconds },
		{ is->flops, twin->flops },
		{ is->bytes, twin->bytes },
		{ is->network_bytes, twin->network_bytes },
	};

	for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++)
		if (fabs(figure[i][0] - figure[i][1]) >
		    1e-9 * fmax(fabs(figure[i][1]), is->seconds))
			fail_msg("figure %d of %s: %.12g, not %.12g; %s on %s with %s",
				 (int)i, what, figure[i][0], figure[i][1],
				 s->model.name, s->cluster.name, s->stack.name);
}

/* Kernels take as long as what starts them and the larger of what they compute and what
 * they read, and no longer than all three one after the other. */
static void check_bounds(const struct pass_operator *op)
{
	double compute = op->compute_seconds, memory = op->memory_seconds;
	double most = op->fixed_seconds + compute + memory;

	assert_true(compute >= 0 && memory >= 0 && op->fixed_seconds >= 0);
	assert_true(op->count >= 0 && op->flops >= 0 && op->bytes >= 0);
	assert_true(op->seconds >=
		    (op->fixed_seconds + fmax(compute, memory)) * (1 - 1e-9));
	assert_true(op->network || op->seconds <= most * (1 + 1e-9));
}

/* What is listed is what is summed. */
static void check_lists(const struct pass *pass)
{
	double flops = 0, bytes = 0, travels[DIM_COUNT] = { 0 }, sent = 0;

	for (int i = 0; i < pass->operators; i++) {
		flops += pass->operator[i].flops;
		bytes += pass->operator[i].bytes;
	}
	for (int i = 0; i < pass->traffic_count; i++) {
		const struct traffic *t = &pass->traffic[i];

		travels[t->dimension] += t->exposed_seconds;
		sent += t->network_bytes;
		assert_true(t->exposed_seconds <= t->total_seconds * (1 + 1e-9));
		assert_close(t->total_bytes, t->sent_bytes * t->count, 1e-9);
		assert_close(t->total_seconds, t->seconds * t->count, 1e-9);
	}
	for (int i = 0; i < pass->operators; i++)
		check_bounds(&pass->operator[i]);
	assert_close(pass->flops, flops, 1e-9);
	assert_close(pass->bytes, bytes, 1e-9);
	assert_close(pass->tp_seconds, travels[DIM_TP], 1e-9);
	assert_close(pass->ep_seconds, travels[DIM_EP], 1e-9);
	assert_close(pass->cp_seconds, travels[DIM_CP], 1e-9);
	assert_true(sent <= pass->network_bytes * (1 + 1e-9));
}

static void passes_are_the_twins(void **state)
{
	int halves = 0, stages = 0;

	(void)state;
	seed = 93;
	for (int i = 0; i < SERVERS; i++) {
		static struct pass is, list, twin;
		struct serving_run run;
		struct scenario s;
		struct batch b;

		draw(&s, &run);
		draw_batch(&s, &b);
		if (b.requests + b.prompt_tokens <= 0)
			continue;
		s.plan.ep_overlap = i % 2;
		serve_pass(&run.decode.context, &b, false, &is);
		serve_pass(&run.decode.context, &b, true, &list);
		twin_pass(&run.decode.context, &b, &twin);
		same_figures(&s, "a pass", &is, &twin);
		same_figures(&s, "a pass with its lists", &list, &twin);
		check_lists(&list);
		halves += serve_halves(&run.decode.context, &b);
		stages += s.plan.pp > 1;
	}
	assert_true(halves > SERVERS / 100 && stages > SERVERS / 4);
}

/* --- memory --- */

static void room_is_let_in_one_by_one(void **state)
{
	int some = 0;

	(void)state;
	seed = 92;
	for (int i = 0; i < SERVERS; i++) {
		struct stage_memory held;
		struct serving_run run;
		struct scenario s;
		double room;

		draw(&s, &run);
		s.plan.serving.memory_share = 0.01 * (double)(1 + next(100));
		if (next(2))
			s.plan.serving.max_requests = 1 + (int64_t)next(300);
		run_room(&run);
		server_memory(&run.decode, &held);
		room = twin_room(&run.decode, &held, server_request_limit(&s));
		if (server_request_limit(&s) > 0 && run.decode.room != room)
			fail_msg("room for %g, the twin has %g: %s on %s with %s",
				 run.decode.room, room, s.model.name, s.cluster.name,
				 s.stack.name);
		some += room > 0;
	}
	assert_true(some > SERVERS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_the_twins),
		cmocka_unit_test(passes_are_the_twins),
		cmocka_unit_test(room_is_let_in_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
