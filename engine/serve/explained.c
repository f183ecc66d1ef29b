/* explained.c - what only an estimate knows: no room for a request, goals and rates out
 * of reach, requests that wait; each with the nearest value that works. */
#include <math.h>
#include <stddef.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "engine/serve/host.h"
#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"

enum note {
	NOTE_REQUEST,
	NOTE_WEIGHTS,
	NOTE_SHARE_SMALL,
	NOTE_SHARE_LARGE,
	NOTE_TTFT,
	NOTE_TPOT,
	NOTE_RATE,
	NOTE_WAITING,
	NOTE_CROWDED,
	NOTE_SHORT,
	NOTE_MISSED,
	NOTE_HOST,
	NOTE_COUNT
};

static const struct rule notes[NOTE_COUNT] = {
	[NOTE_REQUEST] = { "S18", SEVERITY_WARNING,
			   "one request of {0} tokens takes {1:bytes} of KV cache "
			   "per GPU, and {2:bytes} are left for it",
			   "PagedAttention, arXiv 2309.06180, section 3" },
	[NOTE_WEIGHTS] = { "S19", SEVERITY_WARNING,
			   "weights, activations and framework take {0:bytes} of "
			   "{1:bytes}: no room for a KV cache",
			   "the accelerator's capacity: its YAML" },
	[NOTE_SHARE_SMALL] = { "S25", SEVERITY_WARNING,
			       "memory share {0:percent} leaves no room for a KV cache "
			       "of one request ({1:bytes}) beside the weights: "
			       "{2:bytes} per GPU",
			       "the stack's share of the memory: its YAML" },
	[NOTE_SHARE_LARGE] = { "S26", SEVERITY_WARNING,
			       "memory share {0:percent} gives {1:bytes} "
			       "per GPU to the KV cache, and {2:bytes} are "
			       "left for it: the server can't start",
			       "the stack's share of the memory: its YAML" },
	[NOTE_TTFT] = { "S20", SEVERITY_WARNING,
			"no batch keeps the goal TTFT {0:seconds}: a request alone "
			"waits {1:seconds}",
			"mean value analysis: Schweitzer 1979" },
	[NOTE_TPOT] = { "S20", SEVERITY_WARNING,
			"no batch keeps the goal TPOT {0:seconds}: a request alone "
			"takes {1:seconds} per token",
			"mean value analysis: Schweitzer 1979" },
	[NOTE_RATE] = { "S21", SEVERITY_WARNING,
			"{0:real} requests arrive per second, and a full cache serves "
			"{1:real}: the queue grows without end",
			"Little 1961" },
	[NOTE_WAITING] = { "S22", SEVERITY_WARNING,
			   "{0} requests are asked for, and "
			   "there is room for {1}: {2} wait",
			   "PagedAttention, arXiv 2309.06180, section 4.3" },
	[NOTE_CROWDED] = { "S22", SEVERITY_WARNING,
			   "{0} requests are asked for, and there is room for {1} with "
			   "all their tokens: {2} wait. This server would let more of "
			   "them in and preempt some: only --simulate tells how long "
			   "they wait then",
			   "PagedAttention, arXiv 2309.06180, section 4.5" },
	[NOTE_SHORT] = { "S22", SEVERITY_WARNING,
			 "{0:seconds} of the {1:seconds} until the first token are a "
			 "wait for room for all of a request's tokens. This server "
			 "would let more requests in and preempt some: only --simulate "
			 "tells how long they wait then",
			 "PagedAttention, arXiv 2309.06180, section 4.5" },
	[NOTE_MISSED] = { "S23", SEVERITY_WARNING,
			  "{0:real} requests miss the goals: TTFT {1:seconds}, TPOT "
			  "{2:seconds}; up to {3:real} keep them",
			  "mean value analysis: Schweitzer 1979" },
	[NOTE_HOST] = { "S32", SEVERITY_WARNING,
			"host memory holds {0:real} tokens of cache, and {1:real} "
			"requests in flight find {2:real} there: fewer will be found",
			"a count of the tokens that the host holds" },
};

const struct rule *serve_note(int index)
{
	return index >= 0 && index < NOTE_COUNT ? &notes[index] : NULL;
}

static struct finding *tell(struct findings *out, enum note note, double a, double b,
			    double c)
{
	struct finding *f;

	if (out->count == MAX_FINDINGS)
		return NULL;
	f = &out->item[out->count++];
	*f = (struct finding){ .rule = &notes[note], .value = { a, b, c } };
	return f;
}

static void mend(struct finding *f, const char *knob, double value)
{
	if (!f || !(value > 0))
		return;
	f->knob = knob;
	f->nearest[0] = value;
	f->nearest_count = 1;
}

/* Who lets requests in before all their tokens have room, and finds none then: the
 * first tokens come sooner than those of a queue, some of them twice. */
static bool preempts(const struct serving_run *run, const struct scenario *s)
{
	return !s->stack.serving.reserves && !run->apart &&
	       s->plan.serving.batching == BATCHING_CONTINUOUS &&
	       run->decode.room < server_request_limit(s);
}

/* Three digits, down for what may be at most and up for what must be at least. Of
 * powers of ten those below one are not exact, their inverses are. */
double serve_rounded(double value, bool up)
{
	double exponent = floor(log10(value)) - 2, power = pow(10, fabs(exponent));
	double units = exponent < 0 ? value * power : value / power;

	units = up ? ceil(units - 1e-9) : floor(units + 1e-9);
	return exponent < 0 ? units / power : units * power;
}

static bool fits(const struct scenario *s)
{
	struct serving_run run;

	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return false;
	run_room(&run);
	return run.room >= 1;
}

/* The longest prompt of which one request fits; 0 = none does. */
static double longest_prompt(const struct scenario *s)
{
	struct scenario t = *s;
	int64_t low = 1, high = s->plan.serving.prompt_len;

	t.plan.serving.prompt_len = low;
	if (high <= low || !fits(&t))
		return 0;
	while (high - low > 1) {
		t.plan.serving.prompt_len = low + (high - low) / 2;
		if (fits(&t))
			low = t.plan.serving.prompt_len;
		else
			high = t.plan.serving.prompt_len;
	}
	return (double)low;
}

/* The smallest TP above the present one with which a request fits; 0 = none. */
static double smallest_tp(const struct scenario *s)
{
	struct scenario t = *s;

	for (t.plan.tp *= 2; t.plan.tp <= s->cluster.gpus; t.plan.tp *= 2) {
		/* experts go over all ranks of an engine, or stay as they are */
		if (s->plan.ep > 1 && s->plan.ep == s->plan.tp)
			t.plan.ep = t.plan.tp;
		if (t.plan.ep == s->plan.ep && fits(&t))
			return (double)t.plan.tp;
	}
	return 0;
}

/* The share nearest to the present one, in hundredths, with which a request of `need`
 * bytes fits; 0 = none. What it gives is linear in it, what is left doesn't depend on
 * it.
 */
static double nearest_share(const struct serving_run *run, const struct scenario *s,
			    double need)
{
	double left = server_left_bytes(s, &run->held), least, most;
	double none = server_bytes_of_share(s, &run->held, 0);
	double each = (server_bytes_of_share(s, &run->held, 1) - none) / 100;

	if (!(each > 0) || need > left)
		return 0;
	least = fmax(1, ceil((need - none) / each + 1e-6));
	most = fmin(100, floor((left - none) / each - 1e-6));
	if (least > most)
		return 0;
	return (server_memory_share(s) * 100 < least ? least : most) / 100;
}

/* Of the first request: what it shares with others is held by itself, of layers with a
 * state as a state of its own. */
static double first_bytes(const struct server *server, double tokens, double shared)
{
	const struct serve_context *c = &server->context;

	return server_request_bytes(c, tokens - shared) +
	       (shared > 0 ? server_request_bytes(c, shared) : 0);
}

/* No request fits: a shorter prompt, or more GPUs to an engine. */
void serve_explain_room(const struct serving_run *run, const struct scenario *s,
			struct findings *out)
{
	const struct server *server = &run->decode;
	double tokens = server_admitted_tokens(s), prompt = longest_prompt(s);
	double share = server_memory_share(s), left, need, better;
	struct finding *f;

	if (run->apart && run->decode.room >= 1)
		server = &run->prefill;
	left = server_left_bytes(s, &run->held);
	need = first_bytes(server, tokens, server_cached_tokens(s));
	better = nearest_share(run, s, need);
	if (better > 0) {
		f = server->kv_share_bytes > left
			    ? tell(out, NOTE_SHARE_LARGE, share, server->kv_share_bytes,
				   left)
			    : tell(out, NOTE_SHARE_SMALL, share, need,
				   fmax(0, server->kv_share_bytes));
		mend(f, "memory_share", better);
		return;
	}
	if (server->kv_room_bytes > 0)
		f = tell(out, NOTE_REQUEST, tokens, need, server->kv_share_bytes);
	else
		f = tell(out, NOTE_WEIGHTS, run->held.total_bytes,
			 s->cluster.accelerator.usable_bytes, 0);
	/* a prompt that passes whole takes activations too */
	if (prompt > 0)
		mend(f, "prompt", prompt);
	else
		mend(f, "tp", smallest_tp(s));
}

static void explain_goals(const struct serving_run *run, const struct scenario *s,
			  struct findings *out)
{
	const struct serving_plan *plan = &s->plan.serving;
	struct point one;
	double ttft, tpot;

	run_at(run, 1, &one);
	ttft = one.ttft_seconds;
	tpot = one.tpot_seconds;
	if (plan->goal_ttft_seconds > 0 && ttft > plan->goal_ttft_seconds)
		mend(tell(out, NOTE_TTFT, plan->goal_ttft_seconds, ttft, 0),
		     "goal_ttft", serve_rounded(ttft * 1e3, true));
	if (plan->goal_tpot_seconds > 0 && tpot > plan->goal_tpot_seconds)
		mend(tell(out, NOTE_TPOT, plan->goal_tpot_seconds, tpot, 0),
		     "goal_tpot", serve_rounded(tpot * 1e3, true));
}

/* The rate at which no more than so many are inside, who give `output` tokens a second
 * in a closed loop: those that come find each other otherwise. 0 = none was found. */
static double rate_of_inside(const struct serving_run *run, const struct scenario *s,
			     double most, double output)
{
	double rate = output / (double)s->plan.serving.output_len;
	struct scenario t = *s;

	for (int i = 0; i < 8; i++) {
		double inside;

		t.plan.serving.request_rate = rate = serve_rounded(rate, false);
		inside = run_asked(run, &t);
		if (inside <= most * (1 + 1e-3))
			return rate;
		rate *= fmin(0.995, most / inside);
	}
	return 0;
}

/* Goals that fewer requests would keep. */
static void explain_missed(const struct serving_run *run, const struct scenario *s,
			   const struct serving_estimate *v, struct findings *out)
{
	struct finding *f;

	if (!(v->goodput_concurrency >= 1) ||
	    v->goodput_concurrency >= v->concurrency * 0.999)
		return;
	f = tell(out, NOTE_MISSED, v->concurrency, v->ttft_seconds, v->tpot_seconds);
	if (!f)
		return;
	f->value[3] = v->goodput_concurrency;
	if (s->plan.serving.request_rate > 0)
		mend(f, "request_rate",
		     rate_of_inside(run, s, v->goodput_concurrency, v->goodput));
	else
		mend(f, "concurrency", floor(v->goodput_concurrency));
}

/* What the requests in flight find on the host has to be there at once. */
static void explain_host(const struct scenario *s, const struct serving_estimate *v,
			 struct findings *out)
{
	double found = v->concurrency * server_reloaded_tokens(s);

	if (found > v->host_tokens && v->host_tokens > 0)
		tell(out, NOTE_HOST, v->host_tokens, v->concurrency, found);
}

/* Of the time to the first token of those that come at a rate: less than that of it is
 * no reason to speak of the cache. */
static const double noted = 0.1;

void serve_explain_load(const struct serving_run *run, const struct scenario *s,
			const struct serving_estimate *v, struct findings *out)
{
	const struct serving_plan *plan = &s->plan.serving;
	double full;

	if (plan->request_rate > 0 && !isfinite(v->ttft_seconds)) {
		full = run_full_rate(run);
		mend(tell(out, NOTE_RATE, plan->request_rate, full, 0), "request_rate",
		     serve_rounded(full, false));
	} else if (plan->request_rate <= 0 && v->waiting >= 1) {
		mend(tell(out, preempts(run, s) ? NOTE_CROWDED : NOTE_WAITING,
			  (double)plan->concurrency, floor(v->concurrency), v->waiting),
		     "concurrency", floor(v->concurrency));
	} else if (plan->request_rate > 0 && preempts(run, s) &&
		   v->room_seconds > noted * v->ttft_seconds) {
		tell(out, NOTE_SHORT, v->room_seconds, v->ttft_seconds, 0);
	}
	explain_host(s, v, out);
	if (plan->goal_ttft_seconds <= 0 && plan->goal_tpot_seconds <= 0)
		return;
	if (v->goodput <= 0)
		explain_goals(run, s, out);
	else
		explain_missed(run, s, v, out);
}
