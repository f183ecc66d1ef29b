/* test_serve_whole.c - what is told of a whole server, of servers at random: its
 * figures are those of its point, its goodput is the most that a count of all loads
 * finds, the shares it is simulated in are the most that are alike, remedies are the
 * nearest that help, and the table of a simulation has the passes that it stands for.
 */
#include <math.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/machine/cluster.h"
#include "engine/serve/kernels.h"
#include "engine/serve/pass_table.h"
#include "engine/serve/serve.h"
#include "engine/serve/tail.h"
#include "engine/serve/work.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"
#include "tests/twin/server.h"

static struct scenario s;
static struct estimate now;
static struct serving_run run;
static const struct serving_estimate *const v = &now.serving;

enum { SERVERS = 800 };

static void draw(void)
{
	server_random(&s, &now);
	assert_true(run_open(&s, &run));
	run_room(&run);
}

/* --- figures --- */

static void check_times(const struct point *p)
{
	double queue = 0;

	server_same(&s, "decode pass", v->decode_seconds, p->decode_seconds);
	server_same(&s, "pass with prompts", v->mixed_seconds, p->mixed_seconds);
	server_same(&s, "between passes", v->step_between_seconds, p->step_seconds);
	server_same(&s, "prompt", v->prefill_seconds, p->prefill_seconds);
	server_same(&s, "added", v->added_seconds, p->added_seconds);
	server_same(&s, "begin", v->begin_seconds, p->begin_seconds);
	server_same(&s, "transfer", v->transfer_seconds, p->transfer_seconds);
	server_same(&s, "contended", v->contended_seconds, p->contended_seconds);
	server_same(&s, "NIC", v->nic_share, p->nic_share);
	server_same(&s, "load", v->load_seconds, p->load_seconds);
	server_same(&s, "received", v->received_seconds, p->received_seconds);
	server_same(&s, "carrying", v->carrying_seconds, p->carrying_seconds);
	server_same(&s, "ahead", v->ahead, p->ahead);
	server_same(&s, "behind", v->behind, p->behind);
	server_same(&s, "gain", v->gain, p->gain);
	/* a leap of the rate stretches both, and none of a thousandth is one */
	server_same(&s, "TPOT", v->tpot_seconds, p->tpot_seconds * v->stretch);
	assert_true(v->stretch == 1 || v->stretch >= 1.001);
	if (s.plan.serving.request_rate <= 0)
		server_same(&s, "requests", v->requests_per_second,
			    p->requests_per_second);
	else if (v->requests_per_second < p->requests_per_second * (1 - 1e-9)) {
		server_same(&s, "rate", v->requests_per_second,
			    s.plan.serving.request_rate);
		if (v->stretch > 1)
			server_same(&s, "stretch", v->stretch,
				    p->requests_per_second / v->requests_per_second);
	}
	if (!isfinite(v->waiting))
		return;
	if (v->waiting > 0)
		queue = v->waiting / v->requests_per_second;
	server_same(&s, "TTFT", v->ttft_seconds, p->ttft_seconds * v->stretch + queue);
}

/* Tokens of a prompt that the GPUs' cache has, and behind them those of the hosts': all
 * but one at most. */
static int64_t shared_tokens(void)
{
	const struct serving_plan *plan = &s.plan.serving;

	if (!plan->prefix_cache)
		return 0;
	return (int64_t)(plan->shared_prefix * (double)plan->prompt_len);
}

static int64_t found_tokens(void)
{
	const struct serving_plan *plan = &s.plan.serving;
	int64_t rest = plan->prompt_len - shared_tokens(), found;

	if (!plan->prefix_cache || plan->host_kv_bytes <= 0)
		return 0;
	found = (int64_t)(plan->host_prefix * (double)rest);
	return found > 0 && found >= rest ? rest - 1 : found;
}

/* Of what is not cached, token by token in sums of prefixes: a prompt of p tokens, c of
 * them cached, computes what p compute less what c do. */
static double computed_flops(void)
{
	const struct serving_plan *plan = &s.plan.serving;
	struct model_counts counts;
	int64_t mean = plan->prompt_len + plan->output_len / 2;
	int64_t cached = shared_tokens() + found_tokens();
	double all, prefix;

	model_count(&s.model, &counts);
	all = (double)plan->prompt_len *
	      model_forward_flops_per_token(&s.model, &counts, plan->prompt_len, false);
	prefix = (double)cached *
		 model_forward_flops_per_token(&s.model, &counts, cached, false);
	return v->requests_per_second * (all - prefix) +
	       v->output_tokens_per_second *
		       model_forward_flops_per_token(&s.model, &counts, mean, true);
}

static void check_economy(void)
{
	double busy = (v->compute_seconds + v->memory_seconds) / v->decode_seconds;
	double peak = kernel_peak(&s, (enum precision)s.plan.precision);

	if (v->output_tokens_per_second <= 0)
		return;
	server_same(&s, "MFU", now.mfu * peak * (double)s.cluster.gpus,
		    computed_flops());
	if (v->concurrency < 1)
		busy *= v->concurrency;
	server_same(&s, "joules", v->joules_per_token * v->output_tokens_per_second,
		    (double)s.cluster.gpus * cluster_watts(&s.cluster, fmin(1, busy)));
}

/* What a rank holds, each thing once. */
static void check_memory(void)
{
	const struct stage_memory *m = &now.memory;
	const struct serving_plan *plan = &s.plan.serving;
	double copies = server_copies(&run.decode), here, one, tokens;
	int64_t prefix = shared_tokens(), admitted;

	tokens = (double)plan->prompt_len + (double)plan->output_len / 2;
	if (s.stack.serving.reserves || plan->batching == BATCHING_STATIC)
		tokens += (double)plan->output_len / 2;
	admitted = (int64_t)ceil(tokens - (double)prefix);
	one = twin_request_bytes(&run.decode.context, admitted);
	here = fmax(1, fmin(v->concurrency, v->max_concurrency) / copies);
	server_same(&s, "a request", v->request_bytes, one);
	server_same(&s, "cache", m->kv_bytes - v->prefix_bytes, one * here);
	if (prefix > 0)
		server_same(&s, "prefix", v->prefix_bytes,
			    twin_request_bytes(&run.decode.context, prefix));
	server_same(&s, "all", m->total_bytes,
		    m->weights_bytes + m->activations_bytes + m->buffers_bytes +
			    m->framework_bytes + m->kv_bytes);
	server_same(&s, "room", v->headroom_bytes,
		    fmax(0, s.cluster.accelerator.usable_bytes - m->total_bytes));
	if (v->kv_bytes_per_token <= 0)
		return;
	/* tokens of all caches, in whole blocks of what requests have */
	while (plan->kv_block > 0 && admitted % plan->kv_block != 0)
		admitted++;
	server_same(&s, "tokens of the caches", v->kv_tokens,
		    fmax(0, v->kv_room_bytes) / one * (double)admitted * copies);
	server_same(&s, "tokens of the hosts", v->host_tokens,
		    plan->host_kv_bytes / one * (double)admitted * copies);
}

static void figures_are_of_the_point(void **state)
{
	(void)state;
	seed = 101;
	for (int i = 0; i < SERVERS; i++) {
		struct point p;

		draw();
		run_working(&run, &s, run_in_flight(&run, &s, run_asked(&run, &s)), &p);
		server_same(&s, "rooms", v->max_concurrency,
			    run.decode.room * server_copies(&run.decode));
		server_same(&s, "beyond the room", v->elsewhere,
			    fmax(0, v->concurrency - v->max_concurrency));
		check_times(&p);
		check_economy();
		check_memory();
	}
}

/* --- rates --- */

/* Requests a second of so many in flight. */
static double gives(double running)
{
	struct point p;

	run_at(&run, running, &p);
	return p.requests_per_second;
}

/* No number in flight gives more than passes full of prompts take in, and nothing but
 * those. */
static void no_load_takes_in_more_than_full_passes(double rate)
{
	const struct server *prompts = run_prompts(&run);
	double most, stage;
	struct work w;

	s.plan.serving.request_rate = rate;
	work_of(&s, &w);
	stage = work_pass(&w, prompts, 0, prompts->budget_tokens).stage;
	most = server_copies(prompts) * prompts->budget_tokens /
	       (w.prompt * stage * s.cluster.scale);
	for (double n = 1; n < 2 * run.room; n = ceil(n * 1.3)) {
		double running = fmin(n, run.room);

		assert_true(gives(running) <= most * (1 + 1e-9));
	}
}

/* A rate has as many in flight as give it, all of them in the room where prompts have
 * no pool. A full server may give less than it does with fewer. */
static void a_rate_has_as_many_as_give_it(void **state)
{
	static const double shares[] = { 0.02, 0.3, 0.7, 0.97, 0.999, 1.01 };
	int inside = 0, full = 0;

	(void)state;
	seed = 104;
	for (int i = 0; i < SERVERS / 4; i++) {
		double most;

		draw();
		s.plan.serving.request_rate = 1;
		most = run_full_rate(&run);
		no_load_takes_in_more_than_full_passes(most);
		for (int k = 0; k < 6; k++) {
			double rate = shares[k] * most, asked;

			s.plan.serving.request_rate = rate;
			run_room(&run);
			asked = run_asked(&run, &s);
			if (!isfinite(asked) || asked == run.room) {
				full++;
				continue;
			}
			inside++;
			assert_true(run.apart || asked < run.room);
			assert_true(gives(asked) >= rate * (1 - 1e-6));
		}
	}
	assert_true(inside > SERVERS / 2 && full > SERVERS / 8);
}

/* Rates are known with one inside, with all that a copy has room for, and between them
 * with numbers of which each is as many times the one before, or one more. */
static void rates_are_known_evenly_apart(void **state)
{
	int large = 0, small = 0;

	(void)state;
	seed = 106;
	for (int i = 0; i < SERVERS / 4; i++) {
		const struct queue_room *line = &run.line;
		double times;

		draw();
		s.plan.serving.request_rate = 1;
		run_room(&run);
		if (run.room < 1)
			continue;
		times = pow(line->most, 1.0 / (ROOM_RATES - 1));
		assert_true(line->most == run.decode.room);
		assert_true(line->inside[0] == 1);
		assert_true(line->inside[line->count - 1] == line->most);
		for (int k = 1; k < line->count; k++) {
			double last = line->inside[k - 1], next = line->inside[k];

			assert_true(next <= fmax(last + 1, last * times + 1));
			assert_true(next >=
				    fmin(line->most, fmax(last + 1, last * times)) *
					    (1 - 1e-12));
		}
		large += line->count > 2 && times > 1.2;
		small += line->most < ROOM_RATES;
	}
	assert_true(large > 20 && small > 5);
}

/* --- what a pass is made of --- */

/* All that runs in a pass, the slowest first, and the slowest of it where there is no
 * room for all. */
static void kernels_are_all_of_the_pass(void **state)
{
	static struct serve_operator all[64], few[64];

	(void)state;
	seed = 105;
	for (int i = 0; i < SERVERS / 8; i++)
		for (int prefill = 0; prefill < 2; prefill++) {
			double seconds = 0, flops = 0;
			struct batch b;
			struct pass pass;
			struct point p;
			int count;

			draw();
			count = serve_operators(&s, prefill, all, 64);
			run_working(&run, &s,
				    run_in_flight(&run, &s, run_asked(&run, &s)), &p);
			if (prefill)
				run_prompt_batch(&run, &b);
			else
				run_decode_batch(&run, p.decoding, &b);
			serve_pass(prefill ? &run_prompts(&run)->context
					   : &run.decode.context,
				   &b, true, &pass);
			assert_int_equal(count, pass.operators);
			for (int k = 0; k < count; k++) {
				seconds += all[k].seconds - pass.operator[k].seconds;
				flops += all[k].flops - pass.operator[k].flops;
				assert_true(k == 0 ||
					    all[k - 1].seconds >= all[k].seconds);
			}
			assert_true(fabs(seconds) <= 1e-9 * pass.seconds);
			assert_true(fabs(flops) <= 1e-9 * pass.flops);
			assert_int_equal(serve_operators(&s, prefill, few, 5), 5);
			for (int k = 0; k < 5; k++)
				assert_true(few[k].seconds == all[k].seconds);
		}
}

/* --- what passes by --- */

static const struct traffic *row(const char *what)
{
	for (int i = 0; i < now.traffic_count; i++)
		if (strcmp(now.traffic[i].what, what) == 0)
			return &now.traffic[i];
	return NULL;
}

/* Caches that travel: a request's for each that ends in a pass, of a copy. */
static void caches_travel_once_for_each_request(void **state)
{
	int pools = 0, hosts = 0;

	(void)state;
	seed = 102;
	for (int i = 0; i < SERVERS; i++) {
		const struct serving_plan *plan = &s.plan.serving;
		const struct server *prompts;
		const struct traffic *t;
		double ends, reloaded, made;

		draw();
		ends = v->requests_per_second * v->decode_seconds;
		t = row("KV of prompts");
		assert_true((t != NULL) == run.apart);
		if (t) {
			server_same(&s, "caches", t->total_bytes,
				    ends / server_copies(&run.decode) *
					    run_travelling_bytes(&run));
			server_same(&s, "their time", t->total_seconds,
				    ends / server_copies(&run.decode) *
					    v->transfer_seconds);
			pools++;
		}
		prompts = run.apart ? &run.prefill : &run.decode;
		ends /= server_copies(prompts);
		reloaded = run_reloaded_bytes(&run);
		t = row("KV cache from the host");
		assert_true((t != NULL) == (reloaded > 0));
		if (t)
			server_same(&s, "from the host", t->total_bytes,
				    ends * reloaded);
		t = row("KV cache to the host");
		assert_true((t != NULL) == (plan->host_kv_bytes > 0));
		if (!t)
			continue;
		/* all that was computed of it: what neither cache had, and the answer
		 */
		made = (double)(plan->prompt_len + plan->output_len);
		made -= (double)(shared_tokens() + found_tokens());
		server_same(
			&s, "to the host", t->total_bytes,
			ends * twin_request_bytes(&prompts->context, (int64_t)made));
		server_same(&s, "over its link",
			    t->total_seconds * twin_host_rate(&s.cluster),
			    t->total_bytes);
		hosts++;
	}
	assert_true(pools > SERVERS / 10 && hosts > SERVERS / 10);
}

/* --- goals --- */

static bool keeps(double requests)
{
	const struct serving_plan *plan = &s.plan.serving;
	struct point p;

	run_at(&run, requests, &p);
	return (plan->goal_ttft_seconds <= 0 ||
		p.ttft_seconds <= plan->goal_ttft_seconds) &&
	       (plan->goal_tpot_seconds <= 0 ||
		p.tpot_seconds <= plan->goal_tpot_seconds);
}

/* Every number of requests is tried, up to those that there are. */
static void goodput_is_the_most(void **state)
{
	int some = 0, none = 0, all = 0;

	(void)state;
	seed = 103;
	for (int i = 0; i < SERVERS; i++) {
		struct point p;
		int most = 0, kept = 0;

		draw();
		s.plan.serving.request_rate = 0;
		s.plan.serving.concurrency = 1 + (int64_t)next(40);
		serve_estimate(&s, &now);
		if (!now.feasible || v->waiting > 0 || v->elsewhere > 0)
			continue;
		if (next(2))
			s.plan.serving.goal_ttft_seconds =
				v->ttft_seconds * 0.05 * (double)(1 + next(25));
		if (next(2))
			s.plan.serving.goal_tpot_seconds =
				v->tpot_seconds * 0.1 * (double)(3 + next(9));
		serve_estimate(&s, &now);
		for (int n = 1; n <= s.plan.serving.concurrency; n++)
			if (keeps(n)) {
				kept++;
				most = n;
			}
		/* where more keep what fewer don't, halving may find either end */
		if (kept != most && kept > 0)
			continue;
		server_same(&s, "requests within the goals", v->goodput_concurrency,
			    most);
		some += most > 0 && most < s.plan.serving.concurrency;
		none += most == 0;
		all += most == s.plan.serving.concurrency;
		if (most == 0) {
			assert_true(v->goodput == 0);
			continue;
		}
		run_at(&run, most, &p);
		server_same(&s, "goodput", v->goodput, p.tokens_per_second);
	}
	assert_true(some > SERVERS / 20 && none > SERVERS / 20 && all > SERVERS / 20);
}

/* --- remedies --- */

/* Whether a server that was told a remedy is cured by that value of the knob. */
static bool cured(const struct rule *rule, const char *knob, double value)
{
	static struct estimate then;
	struct scenario turned = s;

	if (!knob_set(&turned, knob_find(knob), value))
		return false;
	serve_estimate(&turned, &then);
	if (!then.legal || !then.fits)
		return false;
	for (int i = 0; i < then.problems.count; i++)
		if (strcmp(then.problems.item[i].rule->code, rule->code) == 0)
			return false;
	return true;
}

/* Of what only an estimate knows. */
static bool is_note(const struct rule *rule)
{
	for (int i = 0; serve_note(i); i++)
		if (serve_note(i) == rule)
			return true;
	return false;
}

/* A little further, where the present value is: what is nearest is the first that
 * helps. */
static double nearer(const struct finding *f)
{
	double value = f->nearest[0], unit = pow(10, floor(log10(value)) - 2);

	if (strcmp(f->knob, "prompt") == 0)
		return value + 1;
	/* how many more prompt elsewhere is found from below, and not to the last */
	if (strcmp(f->knob, "concurrency") == 0)
		return run.apart ? 2 * value + 8 : value + 1;
	if (strcmp(f->knob, "request_rate") == 0)
		return value + 2 * unit;
	if (strcmp(f->knob, "memory_share") == 0)
		return value + (value > s.plan.serving.memory_share ? -0.01 : 0.01);
	if (strcmp(f->knob, "tp") == 0)
		return value / 2;
	return value - 2 * unit;
}

static void draw_trouble(void)
{
	struct serving_plan *plan = &s.plan.serving;
	double part = 0.07 * (double)(1 + next(14));

	draw();
	plan->request_rate = 0;
	plan->concurrency = 1 + (int64_t)next(30);
	serve_estimate(&s, &now);
	switch (next(6)) {
	case 0: plan->goal_ttft_seconds = v->ttft_seconds * part; break;
	case 1: plan->goal_tpot_seconds = v->tpot_seconds * part; break;
	case 2: plan->concurrency = (int64_t)(v->max_concurrency * 40 * part); break;
	case 3:
		plan->prompt_len = (int64_t)fmin((double)(plan->prompt_len << next(14)),
						 knob_find("prompt")->max);
		break;
	case 4: s.plan.tp = s.plan.ep = plan->dp_attention = s.plan.pp = 1; break;
	default: plan->memory_share = 0.02 * (double)(1 + next(50));
	}
	serve_estimate(&s, &now);
}

static const char *const mended[] = { "goal_ttft", "goal_tpot",    "concurrency",
				      "prompt",    "memory_share", "tp" };
enum { MENDED = sizeof mended / sizeof mended[0] };

static void check_remedy(const struct finding *f, int *helped)
{
	if (!is_note(f->rule) || !f->knob || f->nearest_count != 1)
		return;
	for (int n = 0; n < MENDED; n++)
		helped[n] += strcmp(f->knob, mended[n]) == 0;
	/* as many as are told to have room */
	if (strcmp(f->knob, "concurrency") == 0)
		assert_true(f->nearest[0] == floor(f->value[1]) ||
			    f->nearest[0] == floor(f->value[3]));
	if (!cured(f->rule, f->knob, f->nearest[0]))
		server_fail(&s, f->rule->code, -1, f->nearest[0]);
	if (cured(f->rule, f->knob, nearer(f)))
		server_fail(&s, f->rule->code, nearer(f), f->nearest[0]);
}

static void remedies_are_the_nearest_that_help(void **state)
{
	static struct estimate told;
	int helped[MENDED] = { 0 };

	(void)state;
	seed = 107;
	for (int i = 0; i < 2 * SERVERS; i++) {
		draw_trouble();
		told = now;
		for (int k = 0; now.legal && k < told.problems.count; k++)
			check_remedy(&told.problems.item[k], helped);
	}
	for (int n = 0; n < MENDED; n++)
		if (helped[n] < 5)
			fail_msg("%s mended %d servers", mended[n], helped[n]);
}

/* --- ceilings --- */

/* Whoever decodes needs a pass for each of his tokens but the first: no ceiling is
 * above that, however short the answers are, so that a search leaves out what it can.
 */
static void ceilings_are_no_higher_than_decoding(void **state)
{
	int decoding = 0;

	(void)state;
	seed = 108;
	for (int i = 0; i < SERVERS; i++) {
		struct serve_ceiling ceiling;
		double each, all, tokens, most;
		struct timing pass;
		struct work w;

		draw();
		s.plan.serving.output_len = 2 + (int64_t)next(3);
		s.plan.serving.request_rate = 0;
		serve_estimate(&s, &now);
		if (!now.feasible)
			continue;
		assert_true(serve_ceiling(&s, &ceiling));
		assert_true(run_open(&s, &run));
		run.decode.context.fabric.any_size = true;
		run_room(&run);
		all = run.room;
		if (s.plan.serving.concurrency > 0)
			all = fmin(all, (double)s.plan.serving.concurrency);
		each = fmax(1, all / server_copies(&run.decode));
		work_of(&s, &w);
		pass = work_pass(&w, &run.decode, each, 0);
		tokens = (double)s.plan.serving.output_len;
		most = all * w.accepted / (tokens - 1) /
		       work_step(&w, &run.decode, each, pass) / s.cluster.scale;
		if (ceiling.tokens_per_second > most * tokens * (1 + 3e-3))
			server_fail(&s, "ceiling", ceiling.tokens_per_second,
				    most * tokens);
		decoding += ceiling.tokens_per_second > most * tokens * (1 - 1e-3);
	}
	assert_true(decoding > SERVERS / 100);
}

/* --- shares --- */

/* As many as divide both pools: copies that decode, and engines that take prompts. */
static void shares_are_the_most_that_are_alike(void **state)
{
	(void)state;
	seed = 104;
	for (int i = 0; i < SERVERS; i++) {
		struct serve_pool pool[2];
		struct server_part part;
		int most = 1, copies;
		double running;

		draw();
		copies = (int)server_copies(&run.decode);
		for (int n = 1; n <= copies; n++)
			if (copies % n == 0 &&
			    (!run.apart || (int)run.prefill.engines % n == 0))
				most = n;
		server_same(&s, "shares", run_shares(&run, 1, INFINITY), most);
		running = (double)(1 + next(3000));
		s.plan.serving.concurrency = (int64_t)running;
		s.plan.serving.request_rate = 0;
		run_part(&run, &s, INFINITY, &part);
		assert_true(fmod(most, part.parts) == 0);
		assert_true(part.users >= 1 && part.users == floor(part.users));
		server_same(&s, "users", part.users * part.scale, running);
		/* fewer, larger parts where that makes users whole */
		if (part.users > 1 && fabs(running / part.parts - part.users) >
					      0.01 * running / part.parts)
			for (int n = 1; n <= most; n++)
				if (most % n == 0 && copies / n <= 16)
					assert_true(
						fabs(round(running / n) - running / n) >
							0.01 * running / n ||
						running / n < 1);
		/* every GPU of an engine is in one pool */
		assert_int_equal(serve_pools(&s, pool), run.apart ? 2 : 1);
		assert_true(pool[0].first == 0 &&
			    pool[0].engines * pool[0].engine <= pool[0].gpus);
		assert_int_equal(pool[0].gpus + (run.apart ? pool[1].gpus : 0),
				 s.cluster.gpus);
		if (run.apart)
			assert_int_equal(pool[1].first, pool[0].gpus);
	}
}

/* --- the table --- */

/* At its entries it is what it stands for; between two it is between. */
static void a_table_has_the_passes_that_it_stands_for(void **state)
{
	static struct pass_table table;

	(void)state;
	seed = 105;
	for (int i = 0; i < SERVERS / 2; i++) {
		struct queue_pass pass = { .requests = 0 };
		struct queue_seconds told;
		struct timing is;
		struct work w;
		double step;

		draw();
		work_of(&s, &w);
		pass_table_open(&table, &run.decode);
		/* decoding alone */
		pass.requests = (double)(next(2) ? 1 + next(4) : 4u << next(8));
		pass.context = (double)(256u << next(10));
		told = pass_table_seconds(&table, &pass);
		is = work_pass_at(&w, &run.decode, &pass);
		step = work_step(&w, &run.decode, pass.requests, is) * s.cluster.scale;
		server_same(&s, "decoding of the table", told.busy, step);
		server_same(&s, "what follows", told.trail, 0);
		/* beside prompts, at the mean contexts */
		pass.prompt_tokens = (double)(8u << next(10));
		pass.context = table.mean_context;
		pass.prompt_context = table.mean_prompt_context;
		told = pass_table_seconds(&table, &pass);
		is = work_pass_at(&w, &run.decode, &pass);
		if (s.plan.pp == 1)
			assert_true(told.busy >=
					    is.pass * s.cluster.scale * (1 - 1e-2) ||
				    told.busy + told.trail >=
					    is.pass * s.cluster.scale * (1 - 1e-2));
		/* prompts alone */
		pass = (struct queue_pass){ .prompt_tokens = (double)(8u << next(10)),
					    .prompt_context =
						    (double)(256u << next(9)) };
		told = pass_table_seconds(&table, &pass);
		is = work_pass_at(&w, &run.decode, &pass);
		server_same(&s, "prompts of the table", told.busy,
			    is.stage * s.cluster.scale);
		assert_true(fabs(told.busy + told.trail - is.pass * s.cluster.scale) <
			    1e-9 * is.pass * s.cluster.scale);
	}
}

/* Whether a length that most passes have, an entry of its own, lies between. */
static bool has_usual(const struct pass_table *table, double low, double high)
{
	for (int i = 0; i < USUAL_TOKENS; i++)
		if (table->usual[i] > low && table->usual[i] < high)
			return true;
	return false;
}

/* Rises between two entries as far as those are apart. */
static void a_table_is_linear_between(void **state)
{
	static struct pass_table table;

	(void)state;
	seed = 106;
	for (int i = 0; i < SERVERS / 2; i++) {
		double context = 256.0 * (double)(1u << next(8)), part, low, high, is;
		double tokens = 8.0 * (double)(1u << next(9));
		struct queue_pass pass = { .requests = 1 + (double)next(4) };

		draw();
		part = (double)next(1000) / 1000;
		pass_table_open(&table, &run.decode);
		pass.context = context;
		low = pass_table_seconds(&table, &pass).busy;
		pass.context = 2 * context;
		high = pass_table_seconds(&table, &pass).busy;
		pass.context = context * (1 + part);
		is = pass_table_seconds(&table, &pass).busy;
		if (s.plan.pp == 1 &&
		    fabs(is - (low + part * (high - low))) > 1e-9 * high)
			server_fail(&s, "between contexts", is,
				    low + part * (high - low));
		/* tokens of prompts: two entries for each doubling */
		low = pass_table_prompts(&table, tokens, context).pass;
		high = pass_table_prompts(&table, tokens * sqrt(2), context).pass;
		is = pass_table_prompts(&table, tokens * (1 + part * (sqrt(2) - 1)),
					context)
			     .pass;
		if (!has_usual(&table, tokens, tokens * sqrt(2)) &&
		    fabs(is - (low + part * (high - low))) > 1e-6 * high)
			server_fail(&s, "between tokens", is,
				    low + part * (high - low));
		pass = (struct queue_pass){ .prompt_tokens = tokens * sqrt(2),
					    .prompt_context = context };
		server_same(&s, "half a doubling",
			    pass_table_prompts(&table, tokens * sqrt(2), context).pass,
			    work_pass_at(&table.work, &run.decode, &pass).pass);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_of_the_point),
		cmocka_unit_test(a_rate_has_as_many_as_give_it),
		cmocka_unit_test(rates_are_known_evenly_apart),
		cmocka_unit_test(kernels_are_all_of_the_pass),
		cmocka_unit_test(caches_travel_once_for_each_request),
		cmocka_unit_test(goodput_is_the_most),
		cmocka_unit_test(remedies_are_the_nearest_that_help),
		cmocka_unit_test(ceilings_are_no_higher_than_decoding),
		cmocka_unit_test(shares_are_the_most_that_are_alike),
		cmocka_unit_test(a_table_has_the_passes_that_it_stands_for),
		cmocka_unit_test(a_table_is_linear_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
