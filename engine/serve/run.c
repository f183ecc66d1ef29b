/* run.c - the servers of a scenario, and what it asks of them. */
#include <math.h>

#include "engine/rules/legality.h"
#include "engine/serve/serve_parts.h"
#include "engine/serve/work.h"

static double budget(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double tokens = v->max_batched_tokens > 0 ? (double)v->max_batched_tokens
						  : server_usual_tokens(s);

	/* without chunks, or a limit, a prompt passes whole, however long */
	if (!v->chunked_prefill || tokens <= 0)
		tokens = fmax(tokens, (double)v->prompt_len);
	return tokens;
}

static void open_server(struct server *server, double gpus)
{
	collective_fabric(server->context.scenario, &server->choices,
			  &server->context.fabric);
	server->passes.count = server->passes.next = 0;
	server->timed = &server->passes;
	server->engines = floor(gpus / server->context.shape.ranks);
	server->budget_tokens = budget(server->context.scenario);
	server->room = 0;
}

/* False if a pool is too small for one engine, which scenario_check() names. */
bool run_open(const struct scenario *s, struct serving_run *run)
{
	double gpus = (double)s->cluster.gpus;
	double pool = (double)scenario_prefill_gpus(s);

	run->apart = s->plan.serving.disaggregated;
	serve_context(s, &run->decode.context);
	if (run->apart) {
		serve_prefill_context(s, &run->prefill.context);
		open_server(&run->prefill, pool);
		gpus -= pool;
	}
	open_server(&run->decode, gpus);
	return run->decode.engines >= 1 && (!run->apart || run->prefill.engines >= 1);
}

/* As run_at() with requests that are held, also where the scenario has a rate. */
static void run_held(const struct serving_run *run, double running, struct point *out);

/* What a copy of the attention gives with so many inside. A pool that only decodes has
 * nobody whose prompt runs. */
static double given(const struct serving_run *run, double inside)
{
	const struct scenario *s = run->decode.context.scenario;
	double copies = server_copies(&run->decode);
	struct point p;

	if (run->apart)
		return steady_decode_rate(&run->decode, inside) / s->cluster.scale;
	run_held(run, inside * copies, &p);
	return p.requests_per_second / copies;
}

/* That from one to as many as it has room for: evenly apart on a logarithmic axis. Each
 * sees its share of those who come, as it does in the simulation. */
static void sample_rates(struct serving_run *run, struct queue_room *line)
{
	const struct scenario *s = run->decode.context.scenario;
	double factor = pow(run->decode.room, 1.0 / (ROOM_RATES - 1)), n = 1;
	struct work w;

	*line = (struct queue_room){ .most = run->decode.room };
	if (s->plan.serving.request_rate <= 0 || run->room < 1)
		return;
	work_of(s, &w);
	line->arrival_scv = s->plan.serving.arrival_scv;
	line->work_scv = work_spread(&w) * work_spread(&w);
	line->overlap = work_overlap(&w);
	while (line->count < ROOM_RATES) {
		line->inside[line->count] = n;
		line->rate[line->count++] = given(run, n);
		if (n >= line->most)
			break;
		n = fmin(line->most, fmax(n + 1, ceil(n * factor)));
	}
}

void run_room(struct serving_run *run)
{
	run->line.count = 0;
	server_memory(&run->decode, &run->held);
	server_room(&run->decode, &run->held);
	run->room =
		run->decode.room * run->decode.context.shape.dp * run->decode.engines;
	if (run->apart) {
		struct stage_memory other;

		server_memory(&run->prefill, &other);
		server_room(&run->prefill, &other);
		if (run->prefill.room < 1) {
			run->held = other;
			run->room = 0;
		}
	}
	sample_rates(run, &run->line);
}

double server_copies(const struct server *server)
{
	return server->context.shape.dp * server->engines;
}

static double common_divisor(double a, double b)
{
	while (b >= 1) {
		double rest = fmod(a, b);

		a = b;
		b = rest;
	}
	return a;
}

double run_shares(const struct serving_run *run, double running, double most)
{
	double copies = server_copies(&run->decode), shares;

	if (!run->apart)
		return copies;
	/* copies that run their passes together stay together, where they can */
	shares = common_divisor(copies, run->prefill.engines);
	if (running <= most * shares)
		return shares;
	return common_divisor(copies, server_copies(&run->prefill));
}

/* Users of a part are whole: of the divisors of `parts` the largest for which that is
 * no more than a percent off, while a part stays small. Fewer users than parts leave
 * servers idle. */
static double whole_users(double parts, double copies, double running, double most)
{
	enum { MOST_COPIES = 16 };

	for (double n = parts; n >= 1; n--) {
		double users = running / n;

		if (fmod(parts, n) > 0)
			continue;
		if (users > most || copies / n > MOST_COPIES)
			break;
		if (users >= 1 && fabs(round(users) - users) <= 0.01 * users)
			return n;
	}
	return parts;
}

void run_part(const struct serving_run *run, const struct scenario *s, double most,
	      struct server_part *out)
{
	const struct serving_plan *v = &s->plan.serving;
	double running = v->concurrency > 0 ? (double)v->concurrency : run->room;

	out->parts = run_shares(run, running, most);
	if (v->request_rate <= 0)
		out->parts = whole_users(out->parts, server_copies(&run->decode),
					 running, most);
	out->users = fmax(1, round(running / out->parts));
	out->scale = v->request_rate > 0 ? out->parts : running / out->users;
}

static void slow_rates(struct point *p, double factor)
{
	p->tokens_per_second *= factor;
	p->requests_per_second *= factor;
}

/* A measured run slows everything alike. */
static void slow_times(struct point *p, double factor)
{
	double *const all[] = {
		&p->decode_seconds,   &p->step_seconds,      &p->mixed_seconds,
		&p->prefill_seconds,  &p->ttft_seconds,      &p->tpot_seconds,
		&p->added_seconds,    &p->begin_seconds,     &p->transfer_seconds,
		&p->load_seconds,     &p->contended_seconds, &p->carrying_seconds,
		&p->received_seconds, &p->served_seconds,    &p->company_seconds
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		*all[i] *= factor;
}

/* Requests are dealt out evenly, and a copy of the attention runs at least one while it
 * runs. */
static void point_of(const struct serving_run *run, double running, bool held,
		     struct point *out)
{
	double scale = run->decode.context.scenario->cluster.scale;
	double each = running / server_copies(&run->decode);

	if (held)
		steady_held(&run->decode, run_prompts(run), each, out);
	else
		steady_point(&run->decode, run_prompts(run), each, out);
	slow_times(out, scale);
	slow_rates(out, 1 / scale);
}

/* The point at which `running` requests run in all engines together. */
void run_at(const struct serving_run *run, double running, struct point *out)
{
	point_of(run, running, false, out);
	out->room_seconds = run_room_wait(run, out->requests_per_second);
}

static void run_held(const struct serving_run *run, double running, struct point *out)
{
	point_of(run, running, true, out);
}

double run_full_rate(const struct serving_run *run)
{
	const struct scenario *s = run->decode.context.scenario;
	double full = given(run, run->decode.room) * server_copies(&run->decode);

	if (!run->apart)
		return full;
	return fmin(full,
		    steady_ceiling(&run->decode, &run->prefill, run->decode.room) /
			    s->cluster.scale);
}

double run_room_wait(const struct serving_run *run, double rate)
{
	if (run->line.count == 0)
		return 0;
	return queue_room_wait(&run->line, rate / server_copies(&run->decode));
}

double run_ceiling(const struct serving_run *run, const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double most = run->room, each, rate;

	if (v->request_rate <= 0 && v->concurrency > 0)
		most = fmin(most, (double)v->concurrency);
	most = fmin(most, tail_most_requests(run, s));
	each = most / server_copies(&run->decode);
	rate = steady_ceiling(&run->decode, run_prompts(run), each) / s->cluster.scale;
	return rate * fmax(1, (double)v->output_len);
}

double run_prefix_bytes(const struct serving_run *run)
{
	double prefix = server_cached_tokens(run->decode.context.scenario);

	return prefix > 0 ? server_request_bytes(&run->decode.context, prefix) : 0;
}

double run_request_bytes(const struct serving_run *run)
{
	const struct scenario *s = run->decode.context.scenario;

	return server_request_bytes(&run->decode.context,
				    server_admitted_tokens(s) -
					    server_cached_tokens(s));
}

bool run_meets(const struct scenario *s, const struct point *p)
{
	const struct serving_plan *v = &s->plan.serving;

	return (v->goal_ttft_seconds <= 0 ||
		p->ttft_seconds + p->room_seconds <= v->goal_ttft_seconds) &&
	       (v->goal_tpot_seconds <= 0 || p->tpot_seconds <= v->goal_tpot_seconds);
}

/* How many more requests than `running` come, while they are in the server, as it has
 * requests at that rate. */
static double excess(const struct serving_run *run, double rate, double running)
{
	struct point p;

	point_of(run, running, false, &p);
	return running * (rate / p.requests_per_second - 1);
}

/* Between low, where more come, and high, where no more do: the straight line between
 * them, and half of what an end is off where that stays (the Illinois algorithm: Dowell
 * and Jarratt 1971, BIT 11). */
static double settle(const struct serving_run *run, double rate, double low,
		     double high)
{
	double over = excess(run, rate, low), under = excess(run, rate, high);

	for (int i = 0; i < 40 && low < high * (1 - 1e-9) && under < 0; i++) {
		double middle = (low * -under + high * over) / (over - under), more;

		middle = fmin(fmax(middle, low + 0.02 * (high - low)),
			      high - 1e-3 * (high - low));
		more = excess(run, rate, middle);
		if (more > 0) {
			low = middle;
			over = more;
			under /= 2;
		} else {
			high = middle;
			under = more;
			over /= 2;
		}
	}
	return high;
}

/* Requests in flight that a rate leads to, Little's law: L = rate x time in the system,
 * the fewest of which that is so; in two pools those whose prompts run have no room to
 * be short of. Between rate times that of a request alone, whom
 * nobody comes to meet, and a full server. Where those that come unevenly make that too
 * long, it is full, and others wait; infinite where a full cache is too slow even if it
 * always is. */
static double at_rate(const struct serving_run *run, const struct scenario *s)
{
	double copies = run->decode.context.shape.dp * run->decode.engines;
	double rate = s->plan.serving.request_rate, low, high, most = run->room;
	double few = 1e-9 * fmin(copies, run->room);

	if (run->apart && rate >= run_full_rate(run))
		return INFINITY;
	if (run->apart)
		most = 1e12;
	high = few + excess(run, rate, few);
	for (low = high; excess(run, rate, high) > 0; high *= 2) {
		if (high >= most)
			return rate < run_full_rate(run) ? run->room : INFINITY;
		low = high;
		high = fmin(high, most / 2);
	}
	return low < high ? settle(run, rate, low, high) : high;
}

double run_asked(const struct serving_run *run, const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	if (v->request_rate > 0)
		return at_rate(run, s);
	return v->concurrency > 0 ? (double)v->concurrency : run->room;
}

/* Requests that decode, of so many in flight. */
static double decoding(const struct serving_run *run, double running, struct point *out)
{
	run_at(run, running, out);
	return out->decoding * server_copies(&run->decode);
}

/* Prompts in a pool of their own take no room where others decode: as many more are in
 * flight as fill that while theirs run (Little's law). From the room upwards, as
 * waiting for prompts grows with them, while what is found decodes within the room;
 * where that leads beyond it, between what does and what does not; and by doubling
 * where it hardly leads on, as nearly all wait for their prompts. */
double run_in_flight(const struct serving_run *run, const struct scenario *s,
		     double asked)
{
	double found = run->room, beyond = asked, next;
	double more = fmax(0, (double)s->plan.serving.output_len - 1);
	double room = run->room * (1 + 1e-3); /* as exactly as points are found */
	double copies = server_copies(&run->decode);
	struct point p;

	if (!run->apart || asked <= run->room || !isfinite(asked))
		return fmin(asked, run->room);
	if (decoding(run, asked, &p) <= room)
		return asked;
	run_at(run, found, &p);
	for (int i = 0; i < 48 && beyond - found > 1e-3 * found; i++) {
		next = run->room * (1 + p.ttft_seconds / (more * p.tpot_seconds));
		if (next > found && next - found < 1e-3 * found) {
			if (p.decoding * copies >= run->room * (1 - 1e-3))
				break;
			next = 2 * found;
		}
		if (!(next > found && next < beyond))
			next = (found + beyond) / 2;
		if (decoding(run, next, &p) <= room)
			found = next;
		else
			beyond = next;
	}
	return found;
}

void run_working(const struct serving_run *run, const struct scenario *s,
		 double running, struct point *out)
{
	run_at(run, running, out);
	if (running >= run->room &&
	    out->requests_per_second < s->plan.serving.request_rate)
		run_held(run, run->room, out);
}

void run_decode_batch(const struct serving_run *run, double requests, struct batch *b)
{
	steady_batch(&run->decode, requests, 0, b);
}

const struct server *run_prompts(const struct serving_run *run)
{
	return run->apart ? &run->prefill : &run->decode;
}

void run_prompt_batch(const struct serving_run *run, struct batch *b)
{
	steady_batch(run_prompts(run), 0, INFINITY, b);
}
