/* tail.c - see tail.h. */
#include "engine/serve/tail.h"

#include <math.h>

#include "engine/serve/pass_table.h"
#include "engine/serve/serve_parts.h"
#include "engine/serve/work.h"

enum { WAVES = 10, LEAST_WAVES = 3, MEMORY = 320 * 1024 };
enum { MOST_USERS = TAIL_REQUESTS / LEAST_WAVES }; /* of a share */
enum { HALVINGS = 6 };

/* So many requests of each user of a share, as far as there is room; 0: too few. */
static int requests_of(const struct scenario *s, double waves, double *each)
{
	const struct serving_plan *v = &s->plan.serving;
	struct serving_run run;
	struct server_part part;
	double requests;

	*each = 0;
	if (v->request_rate > 0)
		return TAIL_REQUESTS;
	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return 0;
	run_room(&run);
	run_part(&run, s, MOST_USERS, &part);
	if (part.users > MOST_USERS)
		return 0;
	requests = fmin(fmax(waves * part.users, 64), TAIL_REQUESTS);
	*each = requests / part.users;
	return (int)(requests * part.scale);
}

static bool simulate(const struct scenario *s, double waves, bool until_missed,
		     struct pass_tables *priced, struct serve_tail *out)
{
	double memory[MEMORY / sizeof(double)];
	struct arena arena = { (unsigned char *)memory, sizeof memory, 0 };
	struct serve_load load = { .requests = requests_of(s, waves, &out->each),
				   .users = MOST_USERS,
				   .until_missed = until_missed,
				   .priced = priced };
	const struct serving_plan *v = &s->plan.serving;

	if (load.requests < 1 || !serve_simulate(s, &load, &arena, &out->result))
		return false;
	out->as_many = out->each <= 0 || out->each >= WAVES;
	out->meets = !out->result.missed &&
		     (v->goal_ttft_seconds <= 0 ||
		      out->result.ttft.p99 <= v->goal_ttft_seconds) &&
		     (v->goal_tpot_seconds <= 0 ||
		      out->result.tpot.p99 <= v->goal_tpot_seconds);
	return true;
}

bool serve_tail(const struct scenario *s, struct serve_tail *out)
{
	return simulate(s, WAVES, false, NULL, out);
}

int serve_tail_curve(const struct scenario *s, const struct serve_point *point,
		     int count, struct serve_point *out, int most)
{
	struct pass_tables priced;
	int n = 0;

	priced.open = false;
	for (int i = 0; i < most && count > 0; i++) {
		const struct serve_point *at =
			&point[most > 1 ? i * (count - 1) / (most - 1) : 0];
		struct scenario held = *s;
		struct serve_tail tail;
		struct serve_yield yield;

		held.plan.serving.request_rate = 0;
		held.plan.serving.concurrency = (int64_t)at->concurrency;
		if (!simulate(&held, LEAST_WAVES, false, &priced, &tail) ||
		    tail.result.tpot.p99 <= 0)
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

/* Seconds in which a copy computes the shortest prompt that may be drawn, in passes
 * that carry nothing else. The simulation prices passes between entries of a table, and
 * they are not quite linear. */
static double least_seconds(const struct work *w, const struct server *server)
{
	static const double sure = 0.9;
	const struct serving_plan *v = &w->s->plan.serving;
	double least = (double)v->prompt_len * (1 - v->length_spread) - w->cached;
	double longest = (double)v->prompt_len * (1 + v->length_spread);
	struct queue_pass full = { .prompt_tokens = server->budget_tokens };

	if (!v->chunked_prefill)
		full.prompt_tokens = fmax(full.prompt_tokens, longest);
	full.prompt_context = w->cached + fmax(0, least) / 2;
	return sure * fmax(0, least) * work_pass_at(w, server, &full).stage /
	       full.prompt_tokens;
}

double tail_most_requests(const struct serving_run *run, const struct scenario *s)
{
	/* of a share's three requests of each user, and at least 64, a hundredth and
	 * two may be late, and all of them in the burst */
	static const double late = 0.01 * LEAST_WAVES, few = 3;
	const struct serving_plan *v = &s->plan.serving;
	const struct server *prompts = run_prompts(run);
	double copies = server_copies(prompts), each;
	struct work w;

	if (v->goal_percentile != GOAL_P99 || v->goal_ttft_seconds <= 0 ||
	    v->request_rate > 0 || v->length_shape == LENGTH_LOGNORMAL ||
	    v->batching == BATCHING_STATIC)
		return INFINITY;
	work_of(s, &w);
	/* while others decode, micro-batches between two prompts are free */
	if (prompts->context.shape.pp > 1 && !run->apart && !work_mixes(&w))
		return INFINITY;
	each = least_seconds(&w, prompts) * s->cluster.scale;
	return fmax(1, copies * (v->goal_ttft_seconds / each + few) / (1 - late));
}

/* The most requests that were found to keep the goals, and their 99th percentiles. */
struct slowest {
	double requests, ttft, tpot;
};

static bool keeps(const struct scenario *s, double requests, struct pass_tables *priced,
		  struct slowest *slowest)
{
	struct scenario held = *s;
	struct serve_tail tail;

	held.plan.serving.request_rate = 0;
	held.plan.serving.concurrency = (int64_t)requests;
	if (!simulate(&held, LEAST_WAVES, true, priced, &tail) || !tail.meets)
		return false;
	if (requests >= slowest->requests)
		*slowest = (struct slowest){ requests, tail.result.ttft.p99,
					     tail.result.tpot.p99 };
	return true;
}

/* More requests may give less where one of them takes a batch over a border: to a
 * larger captured graph, or to another way to add up. By how much is no law; 9 in 100
 * is the most that was met (a_larger_batch_may_give_less, test_serve_simulated.c). */
static const double falls_to = 0.85;

static double output_of(const struct serving_run *run, double requests)
{
	struct point p;

	run_at(run, requests, &p);
	return p.tokens_per_second;
}

/* Between `low` and `high`, which lie apart. */
static double between(double low, double high)
{
	return floor(sqrt(low * high) + 0.5);
}

/* Requests that leave some stage of a pipeline idle: of them more may give less, as
 * prompts hold up the few passes of each. */
static bool leave_stages_idle(const struct serving_run *run, double requests)
{
	double stages = run->decode.context.shape.pp;

	return stages > 1 && requests < stages * server_copies(&run->decode);
}

/* Of two pools more may give less, too, as copies of an engine wait for each other's
 * prompts. By Little's law none gives a rate with fewer than come while a prompt runs
 * that nobody is beside, and tokens follow each other as quickly as where no more
 * decode than that takes. */
static double fewest_in_pools(const struct serving_run *run, double least)
{
	static const double sure = 0.99; /* points are settled to less */
	const struct scenario *s = run->decode.context.scenario;
	double rate, stay;
	struct work w;

	work_of(s, &w);
	w.copies = 1;
	rate = least / w.output * s->cluster.scale;
	stay = work_prompts(&w, run_prompts(run), 1).pass +
	       (w.output - 1) * steady_least_tpot(&run->decode, rate);
	return ceil(sure * rate * stay);
}

double tail_fewest_requests(const struct serving_run *run, double high, double least)
{
	double low = 1, alone, each;

	if (run->apart)
		return fmax(low, fewest_in_pools(run, least));
	alone = output_of(run, low);
	if (least <= 0 || alone >= least)
		return low;
	each = fmin(high, ceil(least / alone * (1 - 1e-9)));
	if (leave_stages_idle(run, each))
		return each;
	while (high - low > 1) {
		double middle = fmin(high - 1, fmax(low + 1, between(low, high)));

		if (output_of(run, middle) >= falls_to * least)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* The search for the most requests that keep the goals halves what is left, by the same
 * steps whatever is wanted of it: who wants no output below `fewest` requests learns
 * the same number, or that it is below. Those before which it goes on as if they kept
 * the goals are tried only if it ends above. */
struct halving {
	const struct scenario *s;
	double most;   /* no more of them keep the goals */
	double fewest; /* that are of use */
	double passed[HALVINGS + 1];
	int passes;
	struct pass_tables *priced;
	struct slowest slowest;
};

static bool halving_keeps(struct halving *h, double requests)
{
	if (requests > h->most)
		return false;
	if (requests >= h->fewest)
		return keeps(h->s, requests, h->priced, &h->slowest);
	h->passed[h->passes++] = requests;
	return true;
}

/* The most that keep them up to `high`, which do not, as far as it is tried. */
static double halve(struct halving *h, double high)
{
	double low = 1;

	for (int i = 0; i < HALVINGS && high > h->fewest; i++) {
		double middle = between(low, high);

		if (middle <= low || middle >= high)
			break;
		if (halving_keeps(h, middle))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The most requests up to `high` that keep the goals, to some percent, and how slow
 * their slowest are; 0: none, or none that gives more than `least`. */
static double most_kept(const struct serving_run *run, const struct scenario *s,
			double high, double least, struct slowest *slowest)
{
	struct pass_tables priced;
	struct halving h = { .s = s,
			     .most = tail_most_requests(run, s),
			     .priced = &priced };
	double found = high, tried = fmin(high, h.most);

	priced.open = false;
	if (!run->apart && !leave_stages_idle(run, tried) &&
	    output_of(run, tried) < falls_to * least)
		return 0;
	h.fewest = tail_fewest_requests(run, high, least);
	if (h.fewest > tried || !halving_keeps(&h, 1))
		return 0;
	if (high > 1 && !halving_keeps(&h, high))
		found = halve(&h, high);
	if (found < h.fewest || output_of(run, found) < least)
		return 0;
	while (h.passes > 0)
		if (!keeps(s, h.passed[--h.passes], &priced, &h.slowest))
			return 0;
	*slowest = h.slowest;
	return found;
}

bool serve_tail_decides(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	return v->request_rate > 0 && v->goal_percentile == GOAL_P99 &&
	       (v->goal_ttft_seconds > 0 || v->goal_tpot_seconds > 0);
}

static void tell_slowest(const struct slowest *slowest, struct serving_estimate *out)
{
	out->slow_ttft_seconds = slowest->ttft;
	out->slow_tpot_seconds = slowest->tpot;
}

/* Of those that come at a rate: all of their output is good, or none. */
static bool rate_is_kept(const struct scenario *s, struct serving_estimate *out)
{
	struct serve_tail tail;

	if (!serve_tail_decides(s))
		return true;
	if (!serve_keeps_goals(s, out) || !simulate(s, WAVES, true, NULL, &tail) ||
	    !tail.meets)
		return false;
	tell_slowest(&(struct slowest){ 0, tail.result.ttft.p99, tail.result.tpot.p99 },
		     out);
	return true;
}

void serve_tail_goodput(const struct scenario *s, double least,
			struct serving_estimate *out)
{
	struct slowest slowest = { 0, 0, 0 };
	struct serving_run run;
	double most = 0;

	if (out->goodput <= 0 || !run_open(s, &run))
		return;
	if (s->plan.serving.request_rate > 0) {
		if (rate_is_kept(s, out))
			return;
	} else {
		run_room(&run);
		most = floor(fmin(out->goodput_concurrency,
				  MOST_USERS * run_shares(&run, INFINITY, MOST_USERS)));
		most = most_kept(&run, s, fmax(1, most), least, &slowest);
	}
	out->goodput = out->goodput_concurrency = 0;
	if (most <= 0)
		return;
	tell_slowest(&slowest, out);
	out->goodput = output_of(&run, most);
	out->goodput_concurrency = most;
}

/* Downwards: no faster than it is, not even by what rounding lets pass. */
static double rate_as_told(double rate)
{
	return fmin(rate, serve_rounded(rate, false));
}

/* Whether the requests that the scenario holds, but for its rate, are served at it. */
static bool held_at_rate(const struct scenario *s)
{
	struct scenario held = *s;
	struct serving_run run;
	struct point p;

	held.plan.serving.request_rate = 0;
	if (!run_open(&held, &run))
		return false;
	run_room(&run);
	if (run.room < 1)
		return false;
	run_working(&run, &held, run_in_flight(&run, &held, run_asked(&run, &held)),
		    &p);
	return rate_as_told(p.requests_per_second) == s->plan.serving.request_rate;
}

bool serve_switch_loop(struct scenario *s, const struct serving_estimate *e)
{
	struct serving_plan *v = &s->plan.serving;

	if (v->request_rate > 0) {
		/* those who were held before, where that is the load still */
		if (!held_at_rate(s))
			v->concurrency = (int64_t)fmax(1, round(e->concurrency));
		v->request_rate = 0;
		return true;
	}
	if (!(e->requests_per_second > 0))
		return false;
	v->request_rate = rate_as_told(e->requests_per_second);
	return true;
}
