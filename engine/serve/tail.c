/* tail.c - see tail.h. */
#include "engine/serve/tail.h"

#include <math.h>

#include "engine/serve/serve_parts.h"

enum { WAVES = 10, LEAST_WAVES = 3, MEMORY = 320 * 1024 };
enum { MOST_USERS = TAIL_REQUESTS / LEAST_WAVES }; /* of a share */

/* So many requests of each user of a share, as far as there is room; 0: too few. */
static int requests_of(const struct scenario *s, double waves)
{
	const struct serving_plan *v = &s->plan.serving;
	struct serving_run run;
	struct server_part part;

	if (v->request_rate > 0)
		return TAIL_REQUESTS;
	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return 0;
	run_room(&run);
	run_part(&run, s, MOST_USERS, &part);
	if (part.users > MOST_USERS)
		return 0;
	return (int)(fmin(fmax(waves * part.users, 64), TAIL_REQUESTS) * part.scale);
}

static bool simulate(const struct scenario *s, double waves, struct serve_tail *out)
{
	double memory[MEMORY / sizeof(double)];
	struct arena arena = { (unsigned char *)memory, sizeof memory, 0 };
	struct serve_load load = { .requests = requests_of(s, waves),
				   .users = MOST_USERS };
	const struct serving_plan *v = &s->plan.serving;
	size_t needed;

	if (load.requests < 1)
		return false;
	needed = serve_simulation_bytes(s, &load);
	if (needed == 0 || needed > sizeof memory ||
	    !serve_simulate(s, &load, &arena, &out->result))
		return false;
	out->meets = (v->goal_ttft_seconds <= 0 ||
		      out->result.ttft.p99 <= v->goal_ttft_seconds) &&
		     (v->goal_tpot_seconds <= 0 ||
		      out->result.tpot.p99 <= v->goal_tpot_seconds);
	return true;
}

bool serve_tail(const struct scenario *s, struct serve_tail *out)
{
	return simulate(s, WAVES, out);
}

int serve_tail_curve(const struct scenario *s, const struct serve_point *point,
		     int count, struct serve_point *out, int most)
{
	int n = 0;

	for (int i = 0; i < most && count > 0; i++) {
		const struct serve_point *at =
			&point[most > 1 ? i * (count - 1) / (most - 1) : 0];
		struct scenario held = *s;
		struct serve_tail tail;
		struct serve_yield yield;

		held.plan.serving.request_rate = 0;
		held.plan.serving.concurrency = (int64_t)at->concurrency;
		if (!simulate(&held, LEAST_WAVES, &tail) || tail.result.tpot.p99 <= 0)
			break;
		serve_yield(&held, &tail.result, &yield);
		out[n++] = (struct serve_point){
			.concurrency = at->concurrency,
			.ttft_seconds = tail.result.ttft.p99,
			.tpot_seconds = tail.result.tpot.p99,
			.output_tokens_per_second = yield.output_tokens_per_second,
			.per_gpu = yield.output_tokens_per_second /
				   (double)s->cluster.gpus,
			.per_user = 1 / tail.result.tpot.p99,
			.meets = tail.meets,
		};
	}
	return n;
}

static bool keeps(const struct scenario *s, double requests)
{
	struct scenario held = *s;
	struct serve_tail tail;

	held.plan.serving.request_rate = 0;
	held.plan.serving.concurrency = (int64_t)requests;
	return simulate(&held, LEAST_WAVES, &tail) && tail.meets;
}

static double output_of(const struct serving_run *run, double requests)
{
	struct point p;

	run_at(run, requests, &p);
	return p.tokens_per_second;
}

/* The most requests up to `high` that keep the goals, to some percent; 0: none, or none
 * that gives more than `least`. */
static double most_kept(const struct serving_run *run, const struct scenario *s,
			double high, double least)
{
	enum { HALVINGS = 6 };
	double low = 1;

	if (keeps(s, high))
		return high;
	if (output_of(run, high) < least || !keeps(s, 1))
		return 0;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = floor(sqrt(low * high) + 0.5);

		if (middle <= low || middle >= high)
			break;
		if (keeps(s, middle))
			low = middle;
		else if (output_of(run, high = middle) < least)
			return 0;
	}
	return low;
}

void serve_tail_goodput(const struct scenario *s, double least,
			struct serving_estimate *out)
{
	struct serving_run run;
	struct serve_tail tail;
	double most;

	if (out->goodput <= 0 || !run_open(s, &run))
		return;
	run_room(&run);
	most = floor(fmin(out->goodput_concurrency,
			  MOST_USERS * run_shares(&run, INFINITY, MOST_USERS)));
	if (s->plan.serving.request_rate > 0)
		most = serve_tail(s, &tail) && tail.meets ? out->goodput_concurrency
							  : 0;
	else
		most = most_kept(&run, s, fmax(1, most), least);
	out->goodput = out->goodput_concurrency = 0;
	if (most <= 0)
		return;
	out->goodput = output_of(&run, most);
	out->goodput_concurrency = most;
}

/* To three digits, downwards: no faster than it is. */
static double rounded(double rate)
{
	double unit = pow(10, floor(log10(rate)) - 2);

	return floor(rate / unit) * unit;
}

bool serve_switch_loop(struct scenario *s, const struct serving_estimate *e)
{
	struct serving_plan *v = &s->plan.serving;

	if (v->request_rate > 0) {
		if (!(e->concurrency >= 0.5))
			v->concurrency = 1;
		else
			v->concurrency = (int64_t)round(e->concurrency);
		v->request_rate = 0;
		return true;
	}
	if (!(e->requests_per_second > 0))
		return false;
	v->request_rate = rounded(e->requests_per_second);
	return true;
}
