/* simulate.c - see simulate.h. */
#include "engine/serve/simulate.h"

#include <math.h>

#include "engine/serve/host.h"
#include "engine/serve/pass_table.h"
#include "engine/serve/serve.h"
#include "engine/serve/work.h"

/* What a prompt's computing hides of its copy from the host. */
static double hidden(struct pass_table *t)
{
	const struct scenario *s = t->work.s;
	double copy = host_copy_seconds(t->server, server_reloaded_tokens(s));
	double alone =
		pass_table_prompts(t, t->work.prompt, t->mean_prompt_context).pass;

	return copy > 0 ? host_hidden(s, copy, alone) * t->scale : 0;
}

static enum queue_scheduler scheduler_of(const struct work *w)
{
	if (w->s->plan.serving.batching == BATCHING_STATIC)
		return SERVE_STATIC;
	return work_mixes(w) ? SERVE_MIXED : SERVE_PROMPTS_FIRST;
}

/* Tokens of requests that the cache of a copy holds, beside what all of them share. */
static double room_tokens(const struct server *server)
{
	const struct scenario *s = server->context.scenario;
	double tokens = server_admitted_tokens(s) - server_cached_tokens(s);
	double one = server_request_bytes(&server->context, tokens);

	return one > 0 ? server->kv_room_bytes * tokens / one : INFINITY;
}

/* Where copies of the attention wait for each other, one of them alone does not see
 * them: its prompts then wait as long as they do in the mean. */
static int prompt_wait(const struct work *w, const struct server *server)
{
	const struct serving_plan *v = &w->s->plan.serving;
	double copies = server_copies(server);
	double each =
		v->concurrency > 0 ? (double)v->concurrency / copies : server->room;

	if (server->context.shape.dp <= 1 || v->batch_wait <= 0)
		return (int)v->batch_wait;
	return (int)round(work_held(w, server, each, w->output / w->accepted));
}

/* Which share of outputs to come has to fit, and how it falls. */
static void set_expected(struct queue_pool *pool, const struct serving_stack *stack)
{
	double passes = (double)stack->expects_passes;

	pool->expects = stack->expects;
	pool->expects_most = stack->expects_most;
	pool->retracts = passes > 0;
	if (passes <= 0)
		return;
	pool->expects_least = fmin(stack->expects, stack->expects_least);
	pool->expects_falls = (stack->expects - pool->expects_least) / passes;
	pool->expects_ahead = stack->expects_ahead;
}

static void open_pool(struct queue_pool *pool, struct pass_table *table,
		      const struct server *server, double servers)
{
	const struct scenario *s = server->context.scenario;
	const struct work *w = &table->work;

	bool hosts = s->plan.serving.host_kv_bytes > 0;
	double rest =
		fmax(1, (double)s->plan.serving.prompt_len - server_cached_tokens(s));
	double copied = server_reloaded_tokens(s);
	double some = copied > 0 ? copied : (double)s->plan.serving.prompt_len;

	*pool = (struct queue_pool){
		.servers = (int)servers,
		.scheduler = scheduler_of(w),
		.budget = server->budget_tokens,
		.lanes = (int)server->context.shape.pp,
		.unsplit = !s->plan.serving.chunked_prefill &&
			   s->plan.serving.batching != BATCHING_STATIC,
		.room = room_tokens(server),
		.cached = server_cached_tokens(s),
		.fetched = copied / rest,
		.fetch_seconds = host_copy_seconds(server, some) / some * table->scale,
		.fetch_hidden = copied > 0 ? hidden(table) : 0,
		.swaps = hosts && s->stack.serving.swaps,
		.most_requests = (int)server_request_limit(s),
		.reserves = s->stack.serving.reserves,
		.look_interval = (int)s->plan.serving.receive_interval,
		.prompt_wait = prompt_wait(w, server),
		.fill = server->context.shape.dp > 1
				? INFINITY
				: WORK_FILLED * server->budget_tokens,
		.gain = w->accepted,
		.each = w->tokens_each,
		.cost = pass_table_seconds,
		.server = table,
	};
	set_expected(pool, &s->stack.serving);
}

struct simulated {
	struct serving_run run;
	struct queue_system system;
	struct queue_load load;
	struct server_part part; /* of the cluster */
};

static enum queue_arrivals arrivals_of(const struct serving_plan *v)
{
	if (v->request_rate <= 0)
		return ARRIVE_CLOSED;
	if (v->arrival_scv <= 0)
		return ARRIVE_EVEN;
	return v->arrival_scv == 1 ? ARRIVE_POISSON : ARRIVE_BURSTY;
}

/* Of the cluster; those of a closed loop are ten of each user, as benchmarks send. */
static double requests_asked(const struct scenario *s, const struct serve_load *asked,
			     double flight)
{
	enum { MOST = 1 << 30 };

	if (asked->requests > 0)
		return asked->requests;
	if (asked->list && !asked->lengths_only)
		return asked->listed;
	return s->plan.serving.request_rate > 0 ? 2000 : fmin(MOST, 10 * flight);
}

static void set_list(const struct serve_load *asked, struct queue_load *load)
{
	load->lengths = LENGTHS_LISTED;
	load->list = asked->list;
	load->listed = asked->listed;
	if (asked->lengths_only)
		return;
	load->arrivals = ARRIVE_LISTED;
	load->requests =
		load->requests < asked->listed ? load->requests : asked->listed;
}

static void set_load(const struct scenario *s, const struct serve_load *asked,
		     struct simulated *out)
{
	const struct serving_plan *v = &s->plan.serving;
	struct queue_load *load = &out->load;
	double flight = out->part.users * out->part.scale;
	double requests = requests_asked(s, asked, flight) / out->part.scale;

	*load = (struct queue_load){
		.arrivals = arrivals_of(v),
		.lengths = v->length_shape == LENGTH_LOGNORMAL ? LENGTHS_LOGNORMAL
							       : LENGTHS_EVEN,
		.users = (int)fmin(out->part.users, 1e6),
		.rate = v->request_rate / out->part.scale,
		.burst = sqrt(v->arrival_scv),
		.prompt = (double)v->prompt_len,
		.output = (double)v->output_len,
		.spread = v->length_spread,
		.seed = asked->seed,
		.requests = (int)fmin(fmax(1, round(requests)), 1e9),
		.tell = asked->tell,
		.listener = asked->listener,
	};
	if (asked->list)
		set_list(asked, load);
}

/* The cache of a mean prompt, beside the collectives of the mean load. */
static double send_seconds(const struct scenario *s, const struct serving_run *run)
{
	struct point p;

	run_at(run, fmin(run_asked(run, s), run->room), &p);
	return p.transfer_seconds + p.contended_seconds;
}

/* What is different in a pool of prompts. */
static void set_prompts(const struct scenario *s, const struct server *server,
			struct queue_pool *pool)
{
	pool->scheduler = SERVE_PROMPTS_FIRST;
	/* nobody decodes there, and outputs are not expected */
	pool->expects = 0;
	pool->retracts = false;
	/* the limit that is asked for is of those that decode */
	pool->most_requests = (int)server_usual_requests(s);
	/* of a part of an engine: those that are there */
	pool->abreast = (int)server->context.shape.dp;
}

/* Their passes, but those that are priced already. */
static void open_tables(const struct serving_run *run, struct pass_tables *tables)
{
	for (int i = 0; i < 1 + run->apart; i++) {
		const struct server *server = i ? &run->prefill : &run->decode;

		if (tables->open)
			pass_table_move(&tables->of[i], server);
		else
			pass_table_open(&tables->of[i], server);
	}
	tables->open = true;
}

static bool set_up(const struct scenario *s, const struct serve_load *asked,
		   struct pass_tables *tables, struct simulated *out)
{
	const struct serving_plan *v = &s->plan.serving;

	if (scenario_check(s, NULL) != 0 || !run_open(s, &out->run))
		return false;
	run_room(&out->run);
	if (out->run.room < 1)
		return false;
	/* a list is of the whole cluster; else each part of it is alike */
	run_part(&out->run, s, asked->users > 0 ? asked->users : INFINITY, &out->part);
	if (asked->list)
		out->part =
			(struct server_part){ 1, out->part.users * out->part.scale, 1 };
	out->system = (struct queue_system){
		.host_seconds = s->stack.serving.prompt_seconds * s->cluster.scale,
		.goal_ttft = v->goal_ttft_seconds,
		.goal_tpot = v->goal_tpot_seconds,
		.until_missed = asked->until_missed,
	};
	open_tables(&out->run, tables);
	open_pool(&out->system.pool, &tables->of[0], &out->run.decode,
		  server_copies(&out->run.decode) / out->part.parts);
	if (out->run.apart) {
		open_pool(&out->system.prompts, &tables->of[1], &out->run.prefill,
			  server_copies(&out->run.prefill) / out->part.parts);
		set_prompts(s, &out->run.prefill, &out->system.prompts);
		out->system.send_seconds =
			send_seconds(s, &out->run) / (double)v->prompt_len;
	}
	set_load(s, asked, out);
	return true;
}

size_t serve_simulation_bytes(const struct scenario *s, const struct serve_load *asked)
{
	struct pass_tables tables;
	struct simulated sim;

	tables.open = false;
	if (!set_up(s, asked, &tables, &sim))
		return 0;
	return queue_bytes(&sim.load, &sim.system);
}

int64_t serve_simulated_requests(const struct scenario *s,
				 const struct serve_load *asked)
{
	struct pass_tables tables;
	struct simulated sim;

	tables.open = false;
	if (!set_up(s, asked, &tables, &sim))
		return 0;
	return (int64_t)round(sim.load.requests * sim.part.scale);
}

static void scale_up(double shares, struct queue_result *out)
{
	out->requests = (int)round(out->requests * shares);
	out->preempted = (int)round(out->preempted * shares);
	out->oversized = (int)round(out->oversized * shares);
	out->passes = (int64_t)round((double)out->passes * shares);
	out->running *= shares;
	out->prompt_tokens *= shares;
	out->output_tokens *= shares;
	out->recomputed_tokens *= shares;
	out->fetched_tokens *= shares;
	out->swapped_tokens *= shares;
	out->cached_tokens *= shares;
}

bool serve_simulate(const struct scenario *s, const struct serve_load *asked,
		    struct arena *arena, struct queue_result *out)
{
	struct pass_tables tables;
	struct simulated sim;

	tables.open = false;
	if (!set_up(s, asked, asked->priced ? asked->priced : &tables, &sim) ||
	    queue_bytes(&sim.load, &sim.system) > arena->size - arena->used ||
	    !queue_run(&sim.system, &sim.load, arena, NULL, out))
		return false;
	scale_up(sim.part.scale, out);
	return true;
}

void serve_yield(const struct scenario *s, const struct queue_result *r,
		 struct serve_yield *out)
{
	*out = (struct serve_yield){ 0 };
	if (r->seconds <= 0)
		return;
	out->requests_per_second = r->requests / r->seconds;
	out->prompt_tokens_per_second = r->prompt_tokens / r->seconds;
	out->output_tokens_per_second = r->output_tokens / r->seconds;
	out->dollars_per_million_tokens =
		serve_dollars(&s->cluster, out->output_tokens_per_second);
}
