/* run.c - the servers of a scenario, and what it asks of them. */
#include <math.h>

#include "engine/serve/serve_parts.h"

static double budget(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double tokens = (double)(v->max_batched_tokens > 0
					 ? v->max_batched_tokens
					 : s->stack.serving.max_batched_tokens);

	if (tokens <= 0)
		tokens = 8192;
	/* without chunks a prompt passes whole, however long */
	if (!v->chunked_prefill)
		tokens = fmax(tokens, (double)v->prompt_len);
	return tokens;
}

static void open_server(struct server *server, double gpus)
{
	server->engines = floor(gpus / server->context.shape.ranks);
	server->budget_tokens = budget(server->context.scenario);
	server->room = 0;
}

/* False if a pool is too small for one engine, which serve_check() names. */
bool run_open(const struct scenario *s, struct serving_run *run)
{
	const struct serving_plan *v = &s->plan.serving;
	double gpus = (double)s->cluster.gpus;

	run->apart = v->disaggregated;
	serve_context(s, &run->decode.context);
	if (run->apart) {
		double pool =
			v->prefill_gpus > 0 ? (double)v->prefill_gpus : floor(gpus / 2);

		serve_prefill_context(s, &run->prefill.context);
		open_server(&run->prefill, pool);
		gpus -= pool;
	}
	open_server(&run->decode, gpus);
	return run->decode.engines >= 1 && (!run->apart || run->prefill.engines >= 1);
}

void run_room(struct serving_run *run)
{
	server_memory(&run->decode, &run->held);
	server_room(&run->decode, &run->held);
	/* buffers grow with the requests that they are for */
	server_memory(&run->decode, &run->held);
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
}

/* The point at which `running` requests run in all engines together; requests are dealt
 * out evenly, and a copy of the attention runs at least one while it runs. */
void run_at(const struct serving_run *run, double running, struct point *out)
{
	double copies = run->decode.context.shape.dp * run->decode.engines;
	double each = running / copies;

	steady_point(&run->decode, run->apart ? &run->prefill : &run->decode,
		     fmax(each, 1), out);
	if (each < 1) {
		out->tokens_per_second *= each;
		out->requests_per_second *= each;
	}
}

bool run_meets(const struct scenario *s, const struct point *p)
{
	const struct serving_plan *v = &s->plan.serving;
	double ttft = p->ttft_seconds * s->cluster.scale;
	double tpot = p->tpot_seconds * s->cluster.scale;

	return (v->goal_ttft_seconds <= 0 || ttft <= v->goal_ttft_seconds) &&
	       (v->goal_tpot_seconds <= 0 || tpot <= v->goal_tpot_seconds);
}

/* Requests in flight that a rate leads to, Little's law: L = rate x time in the system.
 * Latency grows with L, so that the answer is between none and all. Infinite where even
 * a full cache is too slow. */
double run_at_rate(const struct serving_run *run, const struct scenario *s)
{
	double rate = s->plan.serving.request_rate, low = 0, high = run->room;
	struct point p;

	run_at(run, high, &p);
	if (p.requests_per_second < rate)
		return INFINITY;
	for (int i = 0; i < 24; i++) {
		double middle = (low + high) / 2;

		run_at(run, middle, &p);
		if (p.requests_per_second < rate)
			low = middle;
		else
			high = middle;
	}
	return high;
}

void run_decode_batch(const struct serving_run *run, const struct scenario *s,
		      double requests, struct batch *b)
{
	const struct serving_plan *v = &s->plan.serving;

	*b = (struct batch){
		.requests = requests / run->decode.context.shape.pp,
		.tokens_each = v->speculative == SPECULATIVE_OFF
				       ? 1
				       : 1 + (double)v->draft_tokens,
		.context = server_mean_context(s),
		.captured = true,
	};
}

void run_prompt_batch(const struct serving_run *run, const struct scenario *s,
		      struct batch *b)
{
	const struct serving_plan *v = &s->plan.serving;
	const struct server *server = run->apart ? &run->prefill : &run->decode;
	double cached =
		v->prefix_cache ? floor(v->shared_prefix * (double)v->prompt_len) : 0;
	double tokens = fmax(1, (double)v->prompt_len - cached);

	*b = (struct batch){
		.prompt_tokens = fmin(tokens, server->budget_tokens),
		.prompt_context = cached + tokens / 2,
		.prompt_requests = 1,
	};
}
