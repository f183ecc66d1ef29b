/* simulate.c - see simulate.h. */
#include "engine/serve/simulate.h"

#include <math.h>

#include "engine/serve/host.h"
#include "engine/serve/serve.h"
#include "engine/serve/work.h"

enum { REQUEST_ENTRIES = 40, CONTEXT_ENTRIES = 20, TOKEN_ENTRIES = 44 };

struct pass_table {
	struct work work;
	const struct server *server;
	double scale, mean_context, mean_prompt_context;
	/* seconds; pass 0 = not asked for yet */
	struct timing decode[REQUEST_ENTRIES][CONTEXT_ENTRIES];
	struct timing prompt[TOKEN_ENTRIES][CONTEXT_ENTRIES];
	/* who decodes never waits for idle copies, a pool of prompts decodes nothing */
	union {
		struct timing mixed[REQUEST_ENTRIES][TOKEN_ENTRIES];
		struct timing alone[TOKEN_ENTRIES][CONTEXT_ENTRIES];
	};
};

/* An axis: whole numbers up to `dense`, then one or two `steps` for each doubling. */
struct axis {
	int dense, steps, entries;
	double unit;
};

static const struct axis requests_axis = { 4, 2, REQUEST_ENTRIES, 1 };
static const struct axis context_axis = { 1, 1, CONTEXT_ENTRIES, 256 };
static const struct axis tokens_axis = { 1, 2, TOKEN_ENTRIES, 8 };

static const double root_of_two = 1.41421356237309505;

static double entry_value(const struct axis *a, int i)
{
	int beyond = i - a->dense;
	double half = beyond % a->steps ? root_of_two : 1;

	if (beyond <= 0)
		return a->unit * i;
	return a->unit * a->dense * half * (double)(1LL << beyond / a->steps);
}

/* Between which two entries a value lies. */
struct place {
	int at;
	double beyond; /* share of the way to the next */
};

static struct place find(const struct axis *a, double value)
{
	double v = value / a->unit, low, high;
	double within = fmin(v, entry_value(a, a->entries - 1) / a->unit);
	int i = (int)within, doublings;

	if (within > a->dense) {
		double mantissa = 2 * frexp(within / a->dense, &doublings);

		i = a->dense + a->steps * (doublings - 1) +
		    (a->steps > 1 && mantissa >= root_of_two);
	}
	if (i > a->entries - 2)
		i = a->entries - 2;
	low = entry_value(a, i);
	high = entry_value(a, i + 1);

	return (struct place){ i, (value - low) / (high - low) };
}

static struct timing between(struct timing a, struct timing b, double beyond)
{
	return (struct timing){ a.pass + (b.pass - a.pass) * beyond,
				a.stage + (b.stage - a.stage) * beyond };
}

static struct timing ask_of(const struct pass_table *t, const struct work *work,
			    struct timing *entry, const struct queue_pass *pass)
{
	if (entry->pass <= 0)
		*entry = work_pass_at(work, t->server, pass);
	return *entry;
}

static struct timing ask(const struct pass_table *t, struct timing *entry, double n,
			 double context, double tokens, double prompt_context)
{
	return ask_of(t, &t->work, entry,
		      &(struct queue_pass){ n, context, tokens, prompt_context, 0 });
}

static struct timing decode_at(struct pass_table *t, double n, double context)
{
	struct place r = find(&requests_axis, n), c = find(&context_axis, context);
	struct timing row[2];

	for (int i = 0; i < 2; i++) {
		double requests = entry_value(&requests_axis, r.at + i);
		struct timing *e = &t->decode[r.at + i][c.at];

		row[i] = between(
			ask(t, &e[0], requests, entry_value(&context_axis, c.at), 0, 0),
			ask(t, &e[1], requests, entry_value(&context_axis, c.at + 1), 0,
			    0),
			c.beyond);
	}
	return between(row[0], row[1], r.beyond);
}

static struct timing prompts_of(const struct pass_table *t, const struct work *work,
				struct timing table[TOKEN_ENTRIES][CONTEXT_ENTRIES],
				const struct queue_pass *p)
{
	struct place k = find(&tokens_axis, p->prompt_tokens);
	struct place c = find(&context_axis, p->prompt_context);
	struct timing row[2];

	for (int i = 0; i < 2; i++) {
		double n = entry_value(&tokens_axis, k.at + i);
		struct timing *e = &table[k.at + i][c.at];
		struct queue_pass near = { 0, 0, n, entry_value(&context_axis, c.at),
					   0 };
		struct queue_pass far = near;

		far.prompt_context = entry_value(&context_axis, c.at + 1);
		row[i] = between(ask_of(t, work, &e[0], &near),
				 ask_of(t, work, &e[1], &far), c.beyond);
	}
	return between(row[0], row[1], k.beyond);
}

static struct timing prompts_at(struct pass_table *t, double tokens, double context)
{
	return prompts_of(t, &t->work, t->prompt,
			  &(struct queue_pass){ 0, 0, tokens, context, 0 });
}

/* The experts that copies of the attention share get the tokens of those that have
 * any. */
static struct timing prompts_abreast(struct pass_table *t, const struct queue_pass *p)
{
	double dp = t->server->context.shape.dp;
	struct timing all = prompts_at(t, p->prompt_tokens, p->prompt_context);
	struct work alone = t->work;

	if (p->copies <= 0 || p->copies >= dp)
		return all;
	alone.copies = 1;
	return between(prompts_of(t, &alone, t->alone, p), all,
		       (p->copies - 1) / (dp - 1));
}

static struct timing mixed_at(struct pass_table *t, double n, double tokens)
{
	struct place r = find(&requests_axis, n), k = find(&tokens_axis, tokens);
	struct timing row[2];

	for (int i = 0; i < 2; i++) {
		double requests = entry_value(&requests_axis, r.at + i);
		struct timing *e = &t->mixed[r.at + i][k.at];
		double low = entry_value(&tokens_axis, k.at);
		double high = entry_value(&tokens_axis, k.at + 1);

		row[i] = between(ask(t, &e[0], requests, t->mean_context, low,
				     t->mean_prompt_context),
				 ask(t, &e[1], requests, t->mean_context, high,
				     t->mean_prompt_context),
				 k.beyond);
	}
	return between(row[0], row[1], r.beyond);
}

/* Attention reads what each request has: it is added to the rest of a pass. */
static struct timing beside_prompts(struct pass_table *t, const struct queue_pass *p)
{
	struct timing all = mixed_at(t, p->requests, p->prompt_tokens);
	struct timing more = decode_at(t, p->requests, p->context);
	struct timing less = decode_at(t, p->requests, t->mean_context);
	struct timing deep = prompts_at(t, p->prompt_tokens, p->prompt_context);
	struct timing shallow = prompts_at(t, p->prompt_tokens, t->mean_prompt_context);

	all.pass += more.pass - less.pass + deep.pass - shallow.pass;
	all.stage += more.stage - less.stage + deep.stage - shallow.stage;
	return all;
}

static struct queue_seconds pass_seconds(void *server, const struct queue_pass *p)
{
	struct pass_table *t = server;
	bool pipeline = t->server->context.shape.pp > 1;
	struct timing alone = { 0, 0 }, all;
	double step = 0;

	if (p->requests > 0) {
		alone = decode_at(t, p->requests, p->context);
		step = work_step(&t->work, t->server, p->requests, alone);
	}
	if (p->prompt_tokens <= 0)
		return (struct queue_seconds){ step * t->scale, 0 };
	if (p->requests <= 0) {
		all = prompts_abreast(t, p);
		return (struct queue_seconds){ all.stage * t->scale,
					       (all.pass - all.stage) * t->scale };
	}
	all = beside_prompts(t, p);
	/* prompts delay the others by what they take of one stage */
	step += pipeline ? all.stage - alone.stage : all.pass - alone.pass;
	return (struct queue_seconds){ fmax(step, 1e-9) * t->scale, 0 };
}

/* What a prompt's computing hides of its copy from the host. */
static double hidden(struct pass_table *t)
{
	const struct scenario *s = t->work.s;
	double copy = host_copy_seconds(t->server, server_reloaded_tokens(s));
	double alone = prompts_at(t, t->work.prompt, t->mean_prompt_context).pass;

	return copy > 0 ? host_hidden(s, copy, alone) * t->scale : 0;
}

static void open_table(struct pass_table *t, const struct server *server)
{
	const struct scenario *s = server->context.scenario;

	work_of(s, &t->work);
	t->server = server;
	t->scale = s->cluster.scale;
	t->mean_context = server_mean_context(s);
	t->mean_prompt_context = t->work.cached + t->work.prompt / 2;
	for (int i = 0; i < REQUEST_ENTRIES; i++) {
		for (int k = 0; k < CONTEXT_ENTRIES; k++)
			t->decode[i][k].pass = 0;
		for (int k = 0; k < TOKEN_ENTRIES; k++)
			t->mixed[i][k].pass = 0;
	}
	for (int i = 0; i < TOKEN_ENTRIES; i++)
		for (int k = 0; k < CONTEXT_ENTRIES; k++)
			t->prompt[i][k].pass = 0;
}

static enum queue_scheduler scheduler_of(const struct work *w)
{
	if (w->s->plan.serving.batching == BATCHING_STATIC)
		return SERVE_STATIC;
	return work_mixes(w) ? SERVE_MIXED : SERVE_PROMPTS_FIRST;
}

/* Tokens of requests that the cache of a copy holds. */
static double room_tokens(const struct server *server)
{
	const struct scenario *s = server->context.scenario;
	double tokens = server_admitted_tokens(s);
	double one = server_request_bytes(&server->context,
					  tokens - server_cached_tokens(s));

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
		.room = room_tokens(server),
		.cached = server_cached_tokens(s),
		.fetched = copied / rest,
		.fetch_seconds = host_copy_seconds(server, some) / some * table->scale,
		.fetch_hidden = copied > 0 ? hidden(table) : 0,
		.swaps = hosts && s->stack.serving.swaps,
		.most_requests = (int)server_request_limit(s),
		.reserves = s->stack.serving.reserves,
		.expects = s->stack.serving.expects,
		.look_interval = (int)s->plan.serving.receive_interval,
		.prompt_wait = prompt_wait(w, server),
		.fill = server->context.shape.dp > 1
				? INFINITY
				: WORK_FILLED * server->budget_tokens,
		.gain = w->accepted,
		.each = w->tokens_each,
		.cost = pass_seconds,
		.server = table,
	};
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

static bool set_up(const struct scenario *s, const struct serve_load *asked,
		   struct simulated *out, struct pass_table tables[2])
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
	};
	open_table(&tables[0], &out->run.decode);
	open_pool(&out->system.pool, &tables[0], &out->run.decode,
		  server_copies(&out->run.decode) / out->part.parts);
	if (out->run.apart) {
		open_table(&tables[1], &out->run.prefill);
		open_pool(&out->system.prompts, &tables[1], &out->run.prefill,
			  server_copies(&out->run.prefill) / out->part.parts);
		out->system.prompts.scheduler = SERVE_PROMPTS_FIRST;
		/* the limit that is asked for is of those that decode */
		out->system.prompts.most_requests = (int)server_usual_requests(s);
		/* of a part of an engine: those that are there */
		out->system.prompts.abreast = (int)out->run.prefill.context.shape.dp;
		out->system.send_seconds =
			send_seconds(s, &out->run) / (double)v->prompt_len;
	}
	set_load(s, asked, out);
	return true;
}

size_t serve_simulation_bytes(const struct scenario *s, const struct serve_load *asked)
{
	struct pass_table tables[2];
	struct simulated sim;

	if (!set_up(s, asked, &sim, tables))
		return 0;
	return queue_bytes(&sim.load, &sim.system);
}

int64_t serve_simulated_requests(const struct scenario *s,
				 const struct serve_load *asked)
{
	struct pass_table tables[2];
	struct simulated sim;

	if (!set_up(s, asked, &sim, tables))
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
	struct pass_table tables[2];
	struct simulated sim;

	if (!set_up(s, asked, &sim, tables) ||
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
