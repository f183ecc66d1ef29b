/* serve.c - puts passes, memory and the steady state together into an estimate. */
#include "engine/serve/serve.h"

#include <math.h>
#include <string.h>

#include "engine/rules/legality.h"
#include "engine/serve/host.h"
#include "engine/serve/kernels.h"
#include "engine/serve/nic.h"
#include "engine/serve/serve_parts.h"

bool serve_keeps_goals(const struct scenario *s, const struct serving_estimate *v)
{
	struct point p = { .ttft_seconds = v->ttft_seconds,
			   .tpot_seconds = v->tpot_seconds };

	return isfinite(p.ttft_seconds) && run_meets(s, &p);
}

/* The most whole requests below `high`, which do not, that keep both goals, as one
 * does, at `p`. Where those that are left give less than `least`, as none gives more
 * than one alone, any that do. (More may give less than fewer: in two pools a pass over
 * prompts that just not all fit.) */
static double most_within(const struct serving_run *run, const struct scenario *s,
			  double high, double least, struct point *p)
{
	double low = 1, alone = p->tokens_per_second;
	struct point tried;

	while (high - low > 1 && (high - 1) * alone >= least * (1 - 1e-9)) {
		double middle = floor((low + high) / 2);

		run_at(run, middle, &tried);
		if (run_meets(s, &tried)) {
			low = middle;
			*p = tried;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Output tokens a second while both goals hold, at the most requests that allow it:
 * whole ones, where all that are there do not. */
static void goodput(const struct serving_run *run, const struct scenario *s,
		    double least, struct serving_estimate *out)
{
	double high = fmax(out->concurrency, fmin(1, run->room));
	struct point p;

	out->goodput = out->output_tokens_per_second;
	out->goodput_concurrency = out->concurrency;
	if (s->plan.serving.request_rate > 0 && serve_keeps_goals(s, out))
		return;
	run_at(run, high, &p);
	if (s->plan.serving.request_rate > 0 || !run_meets(s, &p)) {
		run_at(run, 1, &p);
		out->goodput = out->goodput_concurrency = 0;
		if (!run_meets(s, &p))
			return;
		high = most_within(run, s, ceil(high), least, &p);
	}
	out->goodput = p.tokens_per_second;
	/* no more are there to be served */
	if (s->plan.serving.request_rate > 0)
		out->goodput = fmin(fmin(out->goodput, serve_asked_tokens(s)),
				    out->output_tokens_per_second);
	out->goodput_concurrency = high;
}

/* What one decode pass consists of: computing and memory share what both bounds leave
 * in proportion. */
static void divide(const struct pass *pass, struct serving_estimate *out)
{
	double kernels = pass->seconds - pass->tp_seconds - pass->ep_seconds -
			 pass->cp_seconds - pass->pp_seconds;
	double bounds = pass->compute_seconds + pass->memory_seconds;
	double work = fmax(0, kernels - pass->fixed_seconds - pass->host_seconds);

	out->network_seconds = pass->tp_seconds + pass->ep_seconds + pass->cp_seconds +
			       pass->pp_seconds;
	out->compute_seconds = bounds > 0 ? work * pass->compute_seconds / bounds : 0;
	out->memory_seconds = bounds > 0 ? work * pass->memory_seconds / bounds : 0;
	out->overhead_seconds = kernels - work;
}

/* The largest of the parts that are shown. */
static int bound_of(const struct serving_estimate *v)
{
	int bound =
		v->compute_seconds > v->memory_seconds ? BOUND_COMPUTE : BOUND_MEMORY;
	double most = fmax(v->compute_seconds, v->memory_seconds);

	if (v->network_seconds > most)
		bound = BOUND_NETWORK;
	return v->overhead_seconds > fmax(most, v->network_seconds) ? BOUND_OVERHEAD
								    : bound;
}

static void traffic(const struct pass *pass, struct estimate *out)
{
	for (int i = 0; i < pass->traffic_count && out->traffic_count < MAX_TRAFFIC;
	     i++) {
		const struct traffic *t = &pass->traffic[i];
		struct dimension_cost *cost = &out->cost[t->dimension];

		out->traffic[out->traffic_count++] = *t;
		cost->bytes += t->total_bytes;
		cost->network_bytes += t->network_bytes;
		cost->payload_bytes += t->payload_bytes * t->count;
		cost->seconds += t->total_seconds;
		cost->exposed_seconds += t->exposed_seconds;
	}
}

double serve_dollars(const struct cluster *c, double tokens_per_second)
{
	return (double)c->gpus * c->price_per_gpu_hour / 3600 / tokens_per_second * 1e6;
}

/* Of a prompt's forward, without what is taken from a cache in place of computed. */
static double prompt_flops(const struct scenario *s, const struct model_counts *counts,
			   double flops_per_token)
{
	double cached = server_cached_tokens(s) + server_reloaded_tokens(s);

	return (double)s->plan.serving.prompt_len * flops_per_token -
	       cached * model_forward_flops_per_token(&s->model, counts,
						      (int64_t)cached, false);
}

/* Utilisation, power and money of the whole cluster at this throughput. */
static void economy(const struct scenario *s, const struct model_counts *counts,
		    struct estimate *out)
{
	const struct cluster *c = &s->cluster;
	struct serving_estimate *v = &out->serving;
	double gpus = (double)c->gpus;
	double peak = kernel_peak(s, (enum precision)s->plan.precision), busy;
	double flops =
		v->requests_per_second * prompt_flops(s, counts, out->flops_per_token) +
		v->output_tokens_per_second *
			model_forward_flops_per_token(&s->model, counts,
						      (int64_t)server_mean_context(s),
						      true);

	out->mfu = flops / gpus / peak;
	busy = v->decode_seconds > 0
		       ? fmin(1, (v->compute_seconds + v->memory_seconds) /
					 v->decode_seconds)
		       : 1;
	if (v->concurrency < 1)
		busy *= v->concurrency;
	if (v->output_tokens_per_second <= 0)
		return;
	v->dollars_per_million_tokens = serve_dollars(c, v->output_tokens_per_second);
	v->joules_per_token =
		gpus * cluster_watts(c, busy) / v->output_tokens_per_second;
}

struct serve_spread serve_spread_of(const struct scenario *s, double concurrency)
{
	const struct serve_spread *spread =
		&s->cluster.accuracy.serving[s->model.moe.experts > 0];
	double least = scenario_unmeasured(s) ? spread->unfitted : 1;
	/* requests come and go beside each other */
	bool loaded = s->plan.serving.batching != BATCHING_STATIC && concurrency > 1;
	double beside = s->plan.serving.disaggregated ? spread->pools : spread->loaded;

	return (struct serve_spread){
		.tpot = fmax(spread->tpot, least),
		.ttft = fmax(loaded ? beside : spread->ttft, least),
		.rate = fmax(spread->rate, least),
	};
}

static void ranges(const struct scenario *s, struct serving_estimate *v)
{
	struct serve_spread by = serve_spread_of(s, v->concurrency);

	v->tpot_low_seconds = v->tpot_seconds / by.tpot;
	v->tpot_high_seconds = v->tpot_seconds * by.tpot;
	v->ttft_low_seconds = v->ttft_seconds / by.ttft;
	v->ttft_high_seconds = v->ttft_seconds * by.ttft;
	v->output_low = v->output_tokens_per_second / by.rate;
	v->output_high = v->output_tokens_per_second * by.rate;
}

/* As a measured run slows the pass; what drafting takes of it is overhead. */
static void scale_parts(double scale, struct serving_estimate *v)
{
	v->compute_seconds *= scale;
	v->memory_seconds *= scale;
	v->network_seconds *= scale;
	v->overhead_seconds = v->decode_seconds - v->compute_seconds -
			      v->memory_seconds - v->network_seconds;
}

static void passes(const struct serving_run *run, const struct scenario *s,
		   double decoding, struct estimate *out)
{
	struct serving_estimate *v = &out->serving;
	struct batch b;
	struct pass pass;

	run_decode_batch(run, decoding, &b);
	serve_pass(&run->decode.context, &b, true, &pass);
	divide(&pass, v);
	scale_parts(s->cluster.scale, v);
	v->bound = bound_of(v);
	traffic(&pass, out);
	nic_traffic(&run->decode, run_prompts(run), out);
	host_traffic(&run->decode, run_prompts(run), out);
	v->decode_intensity = pass.bytes > 0 ? pass.flops / pass.bytes : 0;
	v->decode_flops_per_second = pass.flops / pass.seconds;
	run_prompt_batch(run, &b);
	serve_pass(&run_prompts(run)->context, &b, false, &pass);
	v->prefill_intensity = pass.bytes > 0 ? pass.flops / pass.bytes : 0;
	v->prefill_flops_per_second = pass.flops / pass.seconds;
}

/* Requests without room wait for one to end: those that are held and too many, or those
 * that a rate brings while all is full. */
static void waiting(const struct serving_run *run, const struct scenario *s,
		    double asked, struct serving_estimate *v)
{
	v->room_seconds =
		isfinite(asked) ? run_room_wait(run, v->requests_per_second) : 0;
	v->waiting = fmax(0, asked - v->concurrency) +
		     v->requests_per_second * v->room_seconds;
	if (v->waiting > 0 && isfinite(v->waiting) && v->requests_per_second > 0)
		v->ttft_seconds += v->waiting / v->requests_per_second;
	/* a queue that grows without end */
	if (!isfinite(v->waiting))
		v->ttft_seconds = INFINITY;
	v->request_seconds = serve_request_seconds(s, v->ttft_seconds, v->tpot_seconds);
}

static void take_point(const struct point *p, struct serving_estimate *v)
{
	v->ttft_seconds = p->ttft_seconds;
	v->tpot_seconds = p->tpot_seconds;
	v->prefill_seconds = p->prefill_seconds;
	v->decode_seconds = p->decode_seconds;
	v->mixed_seconds = p->mixed_seconds;
	v->prefill_share = p->prefill_share;
	v->requests_per_second = p->requests_per_second;
	v->step_between_seconds = p->step_seconds;
	v->added_seconds = p->added_seconds;
	v->served_seconds = p->served_seconds;
	v->company_seconds = p->company_seconds;
	v->received_seconds = p->received_seconds;
	v->begin_seconds = p->begin_seconds;
	v->transfer_seconds = p->transfer_seconds;
	v->contended_seconds = p->contended_seconds;
	v->nic_share = p->nic_share;
	v->load_seconds = p->load_seconds;
	v->carrying_seconds = p->carrying_seconds;
	v->ahead = p->ahead;
	v->behind = p->behind;
	v->gain = p->gain;
	v->stretch = 1;
}

/* No more end than come. Where a kernel that is quicker from so many requests on makes
 * the rate leap past what comes, the server hovers at the leap: now slower, now quicker
 * than its requests, which by Little's law take as long as so many at that rate do. A
 * thousandth is no leap, but what halving leaves. */
static void hold_to_rate(double rate, struct serving_estimate *v)
{
	double over = v->requests_per_second / rate;

	v->prefill_share /= over;
	v->requests_per_second = rate;
	if (over < 1.001)
		return;
	v->stretch = over;
	v->ttft_seconds *= over;
	v->tpot_seconds *= over;
}

static void times(const struct serving_run *run, const struct scenario *s, double least,
		  struct estimate *out)
{
	const struct serving_plan *plan = &s->plan.serving;
	struct serving_estimate *v = &out->serving;
	double asked = run_asked(run, s);
	struct point p;

	v->concurrency = run_in_flight(run, s, asked);
	v->elsewhere = fmax(0, v->concurrency - run->room);
	run_working(run, s, v->concurrency, &p);
	take_point(&p, v);
	if (plan->request_rate > 0 && v->requests_per_second > plan->request_rate)
		hold_to_rate(plan->request_rate, v);
	v->output_tokens_per_second =
		v->requests_per_second * fmax(1, (double)plan->output_len);
	v->prompt_tokens_per_second = v->requests_per_second * (double)plan->prompt_len;
	v->output_tokens_per_second_per_gpu =
		v->output_tokens_per_second / (double)s->cluster.gpus;
	v->output_tokens_per_second_per_user = 1 / v->tpot_seconds;
	waiting(run, s, asked, v);
	goodput(run, s, least, v);
	passes(run, s, p.decoding, out);
	ranges(s, v);
}

/* What each stage holds, with the requests that run on a copy. */
static void hold(const struct serving_run *run, double requests, struct estimate *out)
{
	out->memory = run->held;
	/* without room for one request, one is what is missing; a cached prefix is held
	 * once for all */
	out->memory.kv_bytes =
		run_prefix_bytes(run) +
		run_request_bytes(run) * fmax(1, run->room > 0 ? requests : 1);
	out->memory.total_bytes += out->memory.kv_bytes;
	out->memory.allocated_bytes += out->memory.kv_bytes;
	out->memory.reserved_bytes = out->memory.allocated_bytes;
	out->memory.in_flight = requests;
	out->stages = (int)run->decode.context.shape.pp;
	for (int i = 0; i < out->stages; i++) {
		out->stage[i] = out->memory;
		/* what trains alone */
		out->stage_time[i] = (struct stage_time){ 0 };
	}
	out->fullest_stage = 0;
	/* no server's memory was measured: there is no range to tell */
	out->memory_low_bytes = out->memory_high_bytes = out->memory.total_bytes;
}

static void memory(const struct serving_run *run, const struct scenario *s,
		   struct estimate *out)
{
	const struct server *server = &run->decode;
	struct serving_estimate *v = &out->serving;
	double copies = server->context.shape.dp * server->engines;
	double tokens = server_admitted_tokens(s) - server_cached_tokens(s);
	double one = run_request_bytes(run);

	hold(run, fmin(v->concurrency, run->room) / copies, out);
	v->kv_bytes = out->memory.kv_bytes;
	v->kv_share_bytes = server->kv_share_bytes;
	v->kv_room_bytes = server->kv_room_bytes;
	v->budget_tokens = server->budget_tokens;
	v->communicators = server_communicators(server);
	v->admitted_tokens = tokens;
	v->prefix_bytes = run_prefix_bytes(run);
	v->request_bytes = one;
	v->kv_bytes_per_token = model_kv_bytes_per_token(
		&s->model, (int64_t)server_mean_context(s), server->context.kv_bytes);
	v->max_concurrency = run->room;
	/* states alone have no size per token */
	if (v->kv_bytes_per_token > 0) {
		double each = copies * server_held_tokens(s, tokens) / one;

		v->kv_tokens = fmax(0, server->kv_room_bytes) * each;
		v->host_tokens = s->plan.serving.host_kv_bytes * each;
	}
	v->headroom_bytes = fmax(0, out->capacity_bytes - out->memory.total_bytes);
	v->engines = server->engines;
}

static void begin(const struct scenario *s, struct model_counts *counts,
		  struct estimate *out)
{
	memset(out, 0, offsetof(struct estimate, traffic));
	model_count(&s->model, counts);
	out->parameters = counts->total;
	out->active_parameters = counts->active;
	/* over the causal half; MTP layers run only to draft, which is no model's work
	 */
	out->flops_per_token = model_forward_flops_per_token(
		&s->model, counts, s->plan.serving.prompt_len, false);
	out->capacity_bytes = s->cluster.accelerator.usable_bytes;
	out->host_fits = true; /* a server offloads nothing */
	out->world = s->cluster.gpus;
	out->dp = s->plan.serving.dp_attention;
	out->etp = scenario_etp(s);
	out->micro_batches = out->chunks = 1;
	out->padded_vocab = scenario_padded_vocab(s);
}

/* Passes that were priced before may have run by the rules. */
static void price_any_size(struct server *server)
{
	collective_of_any_size(&server->context.fabric);
	server->passes.count = server->passes.next = 0;
}

bool serve_ceiling(const struct scenario *s, struct serve_ceiling *out)
{
	double scale = s->cluster.scale, rate = s->plan.serving.request_rate;
	struct serving_run run;

	*out = (struct serve_ceiling){ 0 };
	if (!run_open(s, &run))
		return false;
	run_room(&run);
	price_any_size(&run.decode);
	if (run.apart)
		price_any_size(&run.prefill);
	if (run.room >= 1) {
		out->tokens_per_second = run_ceiling(&run, s);
		out->tpot_seconds = steady_least_tpot(&run.decode, 0) * scale;
		out->loaded_tpot_seconds = out->tpot_seconds;
		if (rate > 0)
			out->loaded_tpot_seconds =
				steady_least_tpot(&run.decode, rate * scale) * scale;
	} else
		out->bytes = run.held.total_bytes + run_prefix_bytes(&run) +
			     run_request_bytes(&run);
	return true;
}

double serve_request_seconds(const struct scenario *s, double ttft, double tpot)
{
	return ttft + ((double)s->plan.serving.output_len - 1) * tpot;
}

double serve_asked_tokens(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	return v->request_rate * fmax(1, (double)v->output_len);
}

void serve_figures(const struct scenario *s, double least, struct estimate *out)
{
	struct serving_run run;
	struct model_counts counts;
	struct serving_estimate *v = &out->serving;

	begin(s, &counts, out);
	out->legal = scenario_problems(s, &out->problems) == 0;
	if (!out->legal)
		return;
	if (!run_open(s, &run)) {
		out->legal = false; /* scenario_check() names it */
		return;
	}
	run_room(&run);
	out->fits = run.room >= 1;
	out->fit_probability = out->fits ? 1 : 0;
	if (out->fits)
		times(&run, s, least, out);
	memory(&run, s, out);
	if (!out->fits) {
		serve_explain_room(&run, s, &out->problems);
		return;
	}
	serve_explain_load(&run, s, v, &out->problems);
	estimate_check_pin(s, out);
	out->feasible = true;
	out->step_seconds = v->decode_seconds;
	out->step_low_seconds = v->tpot_low_seconds;
	out->step_high_seconds = v->tpot_high_seconds;
	out->tokens_per_second = v->output_tokens_per_second;
	out->tokens_per_second_per_gpu = v->output_tokens_per_second_per_gpu;
	economy(s, &counts, out);
}

void serve_estimate(const struct scenario *s, struct estimate *out)
{
	serve_figures(s, 0, out);
	scenario_mend(s, &out->problems);
}
