/* serving_waits.c - what a first token waits for beside passes, how prompts are cut
 * into passes, and how far a server's numbers may be off. */
#include <math.h>

#include "engine/explain/server.h"
#include "engine/serve/serve.h"

static const struct server *prompts_of(const struct asked *a)
{
	return run_prompts(&explain_server(a)->run);
}

VALUE(transfer, serving(a)->transfer_seconds)
VALUE(contended, serving(a)->contended_seconds)
VALUE(load, serving(a)->load_seconds)
VALUE(busy, serving(a)->nic_share)

/* --- the cache between pools --- */

VALUE(travelling, run_travelling_bytes(&explain_server(a)->run))

static void transfer_terms(const struct asked *a, struct explanation *out)
{
	if (transfer(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "scale * (bytes / (bw * if(e > 0, e, 1)) + hop)");
	explain_scale(a, out);
	from(a, out, "bytes", "the longest way of a prompt's cache",
	     "serving.travelling_bytes");
	from(a, out, "bw", "of a GPU's network", "cluster.network_bytes_per_second");
	from(a, out, "e", "share of it that is reached", "cluster.network_efficiency");
	from(a, out, "hop", "of the first byte", "cluster.network_latency_seconds");
}

/* Where collectives pause for it, it goes in their gaps; a short one runs beside them.
 */
static void contended_terms(const struct asked *a, struct explanation *out)
{
	double gaps = transfer(a) * busy(a) / (1 - busy(a));

	if (contended(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, fabs(contended(a) - gaps) <= 1e-9 * gaps
				 ? "transfer * busy / (1 - busy)"
				 : "transfer * busy");
	from(a, out, "transfer", "alone on the NIC", "serving.transfer_seconds");
	from(a, out, "busy", "share of the time that collectives have the NIC",
	     "serving.nic_share");
}

/* --- the cache on the host --- */

VALUE(load_bytes, run_reloaded_bytes(&explain_server(a)->run))

static double copy(const struct asked *a)
{
	double rate = cluster_host_rate(&a->scenario->cluster);

	return rate > 0 ? explain_scaled(a, load_bytes(a) / rate) : 0;
}

static void copy_terms(const struct asked *a, struct explanation *out)
{
	if (copy(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "scale * bytes / bw");
	explain_scale(a, out);
	from(a, out, "bytes", "a rank's part of what is found there",
	     "serving.load_bytes");
	from(a, out, "bw", "of its host link", "cluster.host_rate");
}

/* Between two copies of a request, without the copy. */
static double away(const struct asked *a)
{
	const struct serving_estimate *v = serving(a);

	return v->prefill_seconds + v->received_seconds + v->begin_seconds +
	       v->company_seconds + v->ahead * v->served_seconds + v->transfer_seconds +
	       v->contended_seconds +
	       (fmax(1, (double)a->scenario->plan.serving.output_len) - 1) *
		       v->tpot_seconds / v->stretch;
}

static void away_terms(const struct asked *a, struct explanation *out)
{
	explain_first_waits(a, out, true, true);
	from(a, out, "beside", "what collectives on the same NIC add to it",
	     "serving.contended_seconds");
	from(a, out, "output", "tokens that a request gets", "output");
	from(a, out, "TPOT", "for each further one", "tpot_seconds");
	from(a, out, "stretch", "at a leap of the rate", "serving.stretch");
}

static double sharers(const struct asked *a)
{
	double copies = server_copies(&explain_server(a)->run.decode);

	return fmax(1, serving(a)->concurrency / copies) * copies /
	       server_copies(prompts_of(a));
}

static void sharer_terms(const struct asked *a, struct explanation *out)
{
	from(a, out, "running", "requests in flight", "running");
	from(a, out, "copies", "of the attention that decode", "serving.copies");
	from(a, out, "links", "copies that prefill", "serving.prefill_copies");
}

static void load_terms(const struct asked *a, struct explanation *out)
{
	if (copy(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "(n * c - away + sqrt((n * c - away) * (n * c - away) + 4 * c "
			 "* away)) / 2");
	from(a, out, "n", "requests that take turns on the link",
	     "serving.load_sharers");
	from(a, out, "c", "of one copy", "serving.load_copy_seconds");
	from(a, out, "away", "between two copies of a request",
	     "serving.load_away_seconds");
	if (!a->scenario->stack.serving.loads_by_layer)
		return;
	explain_say(out, " - min(c, prefill) * (L - 1) / L");
	from(a, out, "prefill", "behind which all layers but one come",
	     "prefill_seconds");
	from(a, out, "L", "layers", "model.layers");
}

/* --- prompts --- */

static double prompt_passes(const struct asked *a)
{
	double scale = a->scenario->cluster.scale;

	return serving(a)->prefill_seconds / (scale > 0 ? scale : 1) -
	       a->scenario->stack.serving.prompt_seconds;
}

VALUE(whole_passes, explain_server(a)->whole_passes)

static void prompt_pass_terms(const struct asked *a, struct explanation *out)
{
	const struct explain_pass *pass = explain_server(a)->pass;

	if (!pass[PASS_WHOLE].exists) {
		explain_say(out, "rest");
		from(a, out, "rest", "one pass over it", "passes.rest.seconds");
		return;
	}
	explain_say(out, pass[PASS_REST].exists
				 ? "n * stage + rest + max(first - stage, last - rest)"
				 : "first + (n - 1) * stage");
	from(a, out, "first", "through all stages", "passes.whole.seconds");
	from(a, out, "n", "passes of as much as the budget allows",
	     "serving.whole_passes");
	from(a, out, "stage", "until the slowest stage is free",
	     "passes.whole.stage_seconds");
	if (!pass[PASS_REST].exists)
		return;
	from(a, out, "rest", "what is left of the prompt", "passes.rest.stage_seconds");
	from(a, out, "last", "that through all stages", "passes.rest.seconds");
}

/* --- ranges --- */

#define SPREAD_OF(name)                                                            \
	static double name##_spread(const struct asked *a)                         \
	{                                                                          \
		return serve_spread_of(a->scenario, serving(a)->concurrency).name; \
	}
#define FITTED_OF(name)                                                     \
	static double name##_fitted(const struct asked *a)                  \
	{                                                                   \
		bool experts = a->scenario->model.moe.experts > 0;          \
                                                                            \
		return a->scenario->cluster.accuracy.serving[experts].name; \
	}

SPREAD_OF(ttft)
SPREAD_OF(tpot)
SPREAD_OF(rate)
FITTED_OF(ttft)
FITTED_OF(tpot)
FITTED_OF(rate)
FITTED_OF(loaded)
FITTED_OF(pools)
FITTED_OF(unfitted)

static double unfitted(const struct asked *a)
{
	return scenario_unmeasured(a->scenario);
}

static void spread(const struct asked *a, struct explanation *out, const char *fitted)
{
	explain_say(out, "max(f, if(unmeasured > 0, u, 1))");
	from(a, out, "f", "of such runs", fitted);
	from(a, out, "u", "of accelerators that nothing is fitted to",
	     "spread.fitted.unfitted");
	from(a, out, "unmeasured", "whether this is one", "spread.unfitted");
}

FILL(tpot_terms, spread(a, out, "spread.fitted.tpot"))
FILL(rate_terms, spread(a, out, "spread.fitted.rate"))

/* Of requests that come and go beside each other by what the server is. */
static void ttft_terms(const struct asked *a, struct explanation *out)
{
	const struct serving_plan *plan = &a->scenario->plan.serving;

	if (plan->batching == BATCHING_STATIC || serving(a)->concurrency <= 1)
		spread(a, out, "spread.fitted.ttft");
	else
		spread(a, out,
		       plan->disaggregated ? "spread.fitted.pools"
					   : "spread.fitted.loaded");
}

#undef NODE_SOURCE
#define NODE_SOURCE      "a sum over the ways of a request"
#define NODE_SPREAD(...) NODE_FROM("presets/accuracy/serving.yaml", __VA_ARGS__)

static const char host_link[] = "mean value analysis of one link: Schweitzer 1979";
static const char within[] =
	"Four of five measured runs lay within it when their source was left out.";
static const char turns[] =
	"Requests of a copy of the attention take turns on the host link.";

const struct explain_node explain_serving_waits[] = {
	NODE("serving.transfer_seconds", "Cache to the GPUs that decode", FORM_SECONDS,
	     transfer, transfer_terms, NULL,
	     "Over the network, where pools are apart."),
	NODE("serving.travelling_bytes", "Cache of a prompt on its longest way",
	     FORM_BYTES, travelling, NULL, EXPLAIN_COUNTED,
	     "What one rank that decodes takes in, or fewer ranks send."),
	NODE("serving.contended_seconds", "A transfer beside collectives", FORM_SECONDS,
	     contended, contended_terms, NULL,
	     "Of the longer, by what the other takes of the NIC. Assumed: no "
	     "published run tells how the two share it."),
	NODE("serving.nic_share", "Share of the time that a NIC is busy", FORM_PERCENT,
	     busy, NULL, EXPLAIN_SIMULATED,
	     "With collectives, at the rate that both pools settle at."),
	NODE_FROM(host_link, "serving.load_seconds", "Wait for the cache on the host",
		  FORM_SECONDS, load, load_terms, NULL, turns),
	NODE_FROM(host_link, "serving.load_copy_seconds",
		  "Copying what the host has of a prompt", FORM_SECONDS, copy,
		  copy_terms, NULL, turns),
	NODE_FROM(host_link, "serving.load_bytes", "What the host has of a prompt",
		  FORM_BYTES, load_bytes, NULL, EXPLAIN_COUNTED, "Of one rank."),
	NODE_FROM(
		host_link, "serving.load_away_seconds",
		"Between two copies of a request", FORM_SECONDS, away, away_terms,
		"prefill + received + begin + company + ahead * served + transfer + beside + "
		"(max(1, output) - 1) * TPOT / stretch",
		turns),
	NODE_FROM(host_link, "serving.load_sharers", "Requests that share a host link",
		  FORM_REAL, sharers, sharer_terms,
		  "max(1, running / copies) * copies / links", turns),
	NODE("serving.prompt_passes_seconds", "Passes over a prompt", FORM_SECONDS,
	     prompt_passes, prompt_pass_terms, NULL,
	     "A pipeline takes the next one when its slowest stage is free."),
	NODE("serving.whole_passes", "Passes that a prompt fills", FORM_COUNT,
	     whole_passes, NULL, EXPLAIN_COUNTED,
	     "With as many tokens as the budget allows."),
	NODE_SPREAD("spread.ttft", "How far TTFT may be off", FORM_REAL, ttft_spread,
		    ttft_terms, NULL, within),
	NODE_SPREAD("spread.tpot", "How far TPOT may be off", FORM_REAL, tpot_spread,
		    tpot_terms, NULL, within),
	NODE_SPREAD("spread.rate", "How far output may be off", FORM_REAL, rate_spread,
		    rate_terms, NULL, within),
	NODE_SPREAD("spread.fitted.ttft", "TTFT of a request alone", FORM_REAL,
		    ttft_fitted, NULL, EXPLAIN_FITTED, within),
	NODE_SPREAD("spread.fitted.loaded", "TTFT beside other requests", FORM_REAL,
		    loaded_fitted, NULL, EXPLAIN_FITTED, within),
	NODE_SPREAD("spread.fitted.pools", "TTFT of a pool of prompts", FORM_REAL,
		    pools_fitted, NULL, EXPLAIN_FITTED, within),
	NODE_SPREAD("spread.fitted.tpot", "TPOT", FORM_REAL, tpot_fitted, NULL,
		    EXPLAIN_FITTED, within),
	NODE_SPREAD("spread.fitted.rate", "Output", FORM_REAL, rate_fitted, NULL,
		    EXPLAIN_FITTED, within),
	NODE_SPREAD("spread.fitted.unfitted", "Where nothing is fitted", FORM_REAL,
		    unfitted_fitted, NULL, EXPLAIN_FITTED, within),
	NODE_SPREAD("spread.unfitted", "Whether nothing is fitted", FORM_COUNT,
		    unfitted, NULL, EXPLAIN_COUNTED,
		    "No run of a server on this accelerator was fitted, or its file "
		    "says nothing of its kernels."),
	{ .row.key = NULL },
};
