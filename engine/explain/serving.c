/* serving.c - where a server's times and throughput come from. */
#include <math.h>

#include "engine/explain/row.h"
#include "engine/serve/serve.h"

static const struct serving_estimate *serving(const struct asked *a)
{
	return &a->estimate->serving;
}

static const struct serving_plan *plan(const struct asked *a)
{
	return &a->scenario->plan.serving;
}

static double gpus(const struct asked *a)
{
	return (double)a->scenario->cluster.gpus;
}

void explain_prompt(const struct asked *a, struct explanation *out)
{
	explain_term(out, "prompt", "tokens of a prompt", FORM_COUNT,
		     (double)plan(a)->prompt_len);
}

void explain_output(const struct asked *a, struct explanation *out)
{
	explain_term(out, "output", "tokens that a request gets", FORM_COUNT,
		     (double)plan(a)->output_len);
}

void explain_running(const struct asked *a, struct explanation *out)
{
	explain_term(out, "c", "requests that run, in all engines", FORM_REAL,
		     serving(a)->concurrency);
	explain_term(out, "engines", "side by side", FORM_REAL, serving(a)->engines);
	explain_term(out, "DP", "copies of the attention in each", FORM_COUNT,
		     (double)plan(a)->dp_attention);
}

void explain_degrees(const struct asked *a, struct explanation *out)
{
	const struct plan *p = &a->scenario->plan;

	explain_term(out, "GPUs", "of the cluster", FORM_COUNT, gpus(a));
	explain_term(out, "TP", "ranks of a layer", FORM_COUNT, (double)p->tp);
	explain_term(out, "PP", "stages", FORM_COUNT, (double)p->pp);
	explain_term(out, "CP", "ranks of a prompt", FORM_COUNT, (double)p->cp);
	explain_term(out, "DP", "copies of the attention", FORM_COUNT,
		     (double)plan(a)->dp_attention);
}

static void rates(const struct asked *a, struct explanation *out)
{
	const struct accelerator *acc = &a->scenario->cluster.accelerator;
	const struct serving_calibration *c = &acc->calibration.serving;
	int p = a->scenario->plan.precision;

	explain_term(out, "peak", "dense peak of bf16, FLOP/s", FORM_FLOPS,
		     acc->peak_flops[PRECISION_BF16]);
	explain_term(out, "ec", "share of it that GEMMs reach", FORM_PERCENT,
		     c->gemm_efficiency[p] > 0 ? c->gemm_efficiency[p]
					       : c->gemm_efficiency[PRECISION_BF16]);
	explain_term(out, "B", "memory bandwidth, a second", FORM_TRAFFIC,
		     acc->memory_bytes_per_second);
	explain_term(out, "em", "share of it that weights are read with", FORM_PERCENT,
		     c->stream_efficiency[p] > 0
			     ? c->stream_efficiency[p]
			     : c->stream_efficiency[PRECISION_BF16]);
	explain_term(out, "t0", "fixed time of a GEMM", FORM_SECONDS,
		     c->kernel_seconds);
}

static void prefill(const struct asked *a, struct explanation *out)
{
	explain_prompt(a, out);
	explain_term(out, "prefix", "share of it that a cache may hold", FORM_PERCENT,
		     plan(a)->prefix_cache ? plan(a)->shared_prefix : 0);
	rates(a, out);
}

static void parts(const struct asked *a, struct explanation *out)
{
	explain_term(out, "compute", "of its kernels", FORM_SECONDS,
		     serving(a)->compute_seconds);
	explain_term(out, "memory", "weights and cache read", FORM_SECONDS,
		     serving(a)->memory_seconds);
	explain_term(out, "network", "collectives", FORM_SECONDS,
		     serving(a)->network_seconds);
	explain_term(out, "overhead", "fixed times and host", FORM_SECONDS,
		     serving(a)->overhead_seconds);
}

static void decode(const struct asked *a, struct explanation *out)
{
	parts(a, out);
	rates(a, out);
}

static void mixed(const struct asked *a, struct explanation *out)
{
	explain_running(a, out);
	explain_term(out, "decode", "a pass without prompts", FORM_SECONDS,
		     serving(a)->decode_seconds);
	explain_term(out, "budget", "tokens of a pass, by the plan", FORM_COUNT,
		     (double)plan(a)->max_batched_tokens);
	explain_term(out, "budget'", "and by the stack", FORM_COUNT,
		     (double)a->scenario->stack.serving.max_batched_tokens);
}

static void tpot(const struct asked *a, struct explanation *out)
{
	explain_output(a, out);
	explain_term(out, "gain", "tokens that a pass gives a request", FORM_REAL,
		     serving(a)->gain);
	explain_term(out, "step", "from a request's pass to its next, undisturbed",
		     FORM_SECONDS, serving(a)->step_between_seconds);
	explain_term(out, "behind", "prompts of others that pass while it decodes",
		     FORM_REAL, serving(a)->behind);
	explain_term(out, "added", "by each of them to everybody's time", FORM_SECONDS,
		     serving(a)->added_seconds);
}

static void share(const struct asked *a, struct explanation *out)
{
	const struct plan *p = &a->scenario->plan;
	struct engine_degrees e = scenario_prefill_engine(a->scenario);
	double copies = serving(a)->engines * (double)plan(a)->dp_attention;

	if (plan(a)->disaggregated)
		copies = (double)(scenario_prefill_gpus(a->scenario) /
				  (e.tp * e.pp * e.dp_attention * p->cp) *
				  e.dp_attention);
	explain_term(out, "rate", "requests that end in a second", FORM_REAL,
		     serving(a)->requests_per_second);
	explain_term(out, "carrying", "time of passes with prompts, for each of them",
		     FORM_SECONDS, serving(a)->carrying_seconds);
	explain_term(out, "copies", "of the attention that prefill", FORM_REAL, copies);
}

static void ttft(const struct asked *a, struct explanation *out)
{
	explain_term(out, "prefill", "a prompt alone", FORM_SECONDS,
		     serving(a)->prefill_seconds);
	explain_term(out, "ahead", "prompts of others that stand before it", FORM_REAL,
		     serving(a)->ahead);
	explain_term(out, "added", "wait for each of them", FORM_SECONDS,
		     serving(a)->added_seconds);
	explain_term(out, "begin", "half of the pass that is under way", FORM_SECONDS,
		     serving(a)->begin_seconds);
	explain_term(out, "transfer", "of the cache to the GPUs that decode",
		     FORM_SECONDS, serving(a)->transfer_seconds);
	explain_term(out, "waiting", "requests without room", FORM_REAL,
		     serving(a)->waiting);
	explain_term(out, "rate", "requests that end in a second", FORM_REAL,
		     serving(a)->requests_per_second);
}

static void request(const struct asked *a, struct explanation *out)
{
	if (isfinite(serving(a)->ttft_seconds))
		explain_term(out, "TTFT", "to the first token", FORM_SECONDS,
			     serving(a)->ttft_seconds);
	explain_term(out, "TPOT", "for each further one", FORM_SECONDS,
		     serving(a)->tpot_seconds);
	explain_output(a, out);
}

static void shares(const struct asked *a, struct explanation *out)
{
	explain_term(out, "pass", "of decoding requests", FORM_SECONDS,
		     serving(a)->decode_seconds);
	parts(a, out);
}

static void spread(const struct asked *a, double f, struct explanation *out)
{
	explain_term(out, "f", "that four of five left-out runs lie within", FORM_REAL,
		     f);
	explain_term(out, "experts", "of the model; more make it less sure", FORM_COUNT,
		     (double)a->scenario->model.moe.experts);
}

static struct serve_spread spreads(const struct asked *a)
{
	return serve_spread_of(a->scenario, serving(a)->concurrency);
}

static void ttft_range(const struct asked *a, struct explanation *out)
{
	explain_term(out, "TTFT", "predicted", FORM_SECONDS, serving(a)->ttft_seconds);
	spread(a, spreads(a).ttft, out);
}

static void tpot_range(const struct asked *a, struct explanation *out)
{
	explain_term(out, "TPOT", "predicted", FORM_SECONDS, serving(a)->tpot_seconds);
	spread(a, spreads(a).tpot, out);
}

static void output_range(const struct asked *a, struct explanation *out)
{
	explain_term(out, "output", "tokens a second, predicted", FORM_RATE,
		     serving(a)->output_tokens_per_second);
	spread(a, spreads(a).rate, out);
}

static void throughput(const struct asked *a, struct explanation *out)
{
	explain_term(out, "requests", "a second", FORM_REAL,
		     serving(a)->requests_per_second);
	explain_output(a, out);
}

static void each_gpu(const struct asked *a, struct explanation *out)
{
	explain_term(out, "output", "tokens a second", FORM_RATE,
		     serving(a)->output_tokens_per_second);
	explain_term(out, "GPUs", "of the cluster", FORM_COUNT, gpus(a));
}

static void each_user(const struct asked *a, struct explanation *out)
{
	explain_term(out, "TPOT", "of a request", FORM_SECONDS,
		     serving(a)->tpot_seconds);
}

static void prompts(const struct asked *a, struct explanation *out)
{
	explain_term(out, "requests", "a second", FORM_REAL,
		     serving(a)->requests_per_second);
	explain_prompt(a, out);
}

static void requests(const struct asked *a, struct explanation *out)
{
	explain_term(out, "running", "requests that run", FORM_REAL,
		     serving(a)->concurrency);
	explain_term(out, "waiting", "requests without room", FORM_REAL,
		     serving(a)->waiting);
	if (isfinite(serving(a)->ttft_seconds))
		explain_term(out, "TTFT", "to the first token", FORM_SECONDS,
			     serving(a)->ttft_seconds);
	explain_term(out, "TPOT", "for each further one", FORM_SECONDS,
		     serving(a)->tpot_seconds);
	explain_output(a, out);
}

static void load(const struct asked *a, struct explanation *out)
{
	explain_term(out, "asked",
		     "by the plan's concurrency or rate, or as many as fit", FORM_REAL,
		     serving(a)->concurrency + serving(a)->waiting);
	explain_term(out, "rate",
		     "requests that arrive in a second; 0 holds the "
		     "concurrency",
		     FORM_REAL, plan(a)->request_rate);
	explain_term(out, "room", "requests that fit", FORM_REAL,
		     serving(a)->max_concurrency);
}

static void goals(const struct asked *a, struct explanation *out)
{
	explain_term(out, "TTFT*", "goal; 0 is none", FORM_SECONDS,
		     plan(a)->goal_ttft_seconds);
	explain_term(out, "TPOT*", "goal; 0 is none", FORM_SECONDS,
		     plan(a)->goal_tpot_seconds);
	explain_term(out, "c", "requests that run", FORM_REAL, serving(a)->concurrency);
	explain_term(out, "c*", "requests that keep the goals", FORM_REAL,
		     serving(a)->goodput_concurrency);
}

static void intensity(const struct asked *a, struct explanation *out)
{
	explain_term(out, "prefill", "FLOP/s of a rank", FORM_FLOPS,
		     serving(a)->prefill_flops_per_second);
	explain_term(out, "decode", "FLOP/s of a rank", FORM_FLOPS,
		     serving(a)->decode_flops_per_second);
	explain_term(
		out, "ridge", "FLOPs a byte at which both bounds meet, bf16", FORM_REAL,
		a->scenario->cluster.accelerator.peak_flops[PRECISION_BF16] /
			fmax(1,
			     a->scenario->cluster.accelerator.memory_bytes_per_second));
}

static void money(const struct asked *a, struct explanation *out)
{
	const struct cluster *c = &a->scenario->cluster;

	explain_term(out, "GPUs", "of the cluster", FORM_COUNT, gpus(a));
	explain_term(out, "price", "of a GPU and hour", FORM_DOLLARS,
		     c->price_per_gpu_hour);
	explain_term(out, "tdp", "watts of a GPU", FORM_REAL, c->accelerator.tdp_watts);
	explain_term(out, "idle", "watts of a GPU", FORM_REAL,
		     c->accelerator.idle_watts);
	explain_term(out, "host", "watts for each GPU", FORM_REAL,
		     c->host_watts_per_gpu);
	explain_term(out, "pue", "of the building", FORM_REAL, c->pue);
	explain_term(out, "output", "tokens a second", FORM_RATE,
		     serving(a)->output_tokens_per_second);
}

static const char steady[] =
	"Continuous batching in its steady state, means instead of distributions; "
	"static batches run all prompts first and all outputs together.";
static const char held_out[] =
	"Four of five measured runs lay inside when their stack, or their model, was "
	"left out of the fit; a queue that the workload's own bursts make is not in "
	"it.";
static const char kernels_source[] =
	"engine/serve/kernels.h; fits of measured kernels (aiconfigurator), "
	"presets/clusters: serving";
static const char queue_source[] =
	"mean value analysis: Reiser and Lavenberg 1980, Schweitzer 1979; "
	"engine/serve/steady.c";
static const char runs[] = "tests/validation/README.md, Serving";
static const char definition[] = "by definition";
static const char bounds[] =
	"What both bounds leave of the kernels is shared out in proportion to them; "
	"fixed times of kernels and the host are overhead.";

const struct explain_row explain_serving[] = {
	{ "ttft_seconds", "Time to first token",
	  "prefill + ahead * added + begin + transfer + waiting / rate",
	  "A closed loop: each request is followed by the next, and finds each of the "
	  "others before it with the share of its time that one waits for its prompt. "
	  "A "
	  "burst at the start stays bunched for longer and is not in it.",
	  queue_source, ttft },
	{ "tpot_seconds", "Time per output token",
	  "(output / gain * step + behind * added) / output", steady, queue_source,
	  tpot },
	{ "ttft_seconds_low", "TTFT, low end", "TTFT / f", held_out, runs, ttft_range },
	{ "ttft_seconds_high", "TTFT, high end", "TTFT * f", held_out, runs,
	  ttft_range },
	{ "tpot_seconds_low", "TPOT, low end", "TPOT / f", held_out, runs, tpot_range },
	{ "tpot_seconds_high", "TPOT, high end", "TPOT * f", held_out, runs,
	  tpot_range },
	{ "prefill_seconds", "A prompt alone",
	  "sum over its passes of t0 + ((flops / ec peak)^p + (bytes / em B)^p)^(1/p)",
	  "As many passes as the budget of tokens calls for; what a prefix cache holds "
	  "is not computed.",
	  kernels_source, prefill },
	{ "decode_seconds", "A decode pass", "compute + memory + network + overhead",
	  "One token of every request (and drafts): weights are read once, each cache "
	  "once, and a captured graph is launched.",
	  kernels_source, decode },
	{ "mixed_seconds", "A pass that carries prompts",
	  "a pass over decoding requests and prompt tokens up to the budget",
	  "Where the stack does not mix them a prompt pass stands between decode "
	  "passes.",
	  "Sarathi-Serve, arXiv 2403.02310, section 4.2; engine/serve/steady.c",
	  mixed },
	{ "request_seconds", "A request", "TTFT + (output - 1) * TPOT", steady,
	  definition, request },
	{ "decode_compute_seconds", "Computing in a decode pass",
	  "kernels * compute / (compute + memory)", bounds, kernels_source, shares },
	{ "decode_memory_seconds", "Reading in a decode pass",
	  "kernels * memory / (compute + memory)", bounds, kernels_source, shares },
	{ "decode_network_seconds", "Collectives of a decode pass", "TP + EP + CP + PP",
	  "Nothing hides them; inside a domain servers reduce with kernels of their "
	  "own.",
	  "engine/serve/traffic.c; presets/clusters: serving.all_reduce_us", shares },
	{ "decode_overhead_seconds", "Overhead of a decode pass",
	  "fixed times of kernels + host", bounds,
	  "presets/stacks: serving.iteration_us", shares },
	{ "prefill_share", "Time with prompts", "min(1, rate * carrying / copies)",
	  "Of a server that prefills and decodes; of the prefill GPUs where they are "
	  "apart.",
	  "engine/serve/steady.c", share },

	{ "output_tokens_per_second", "Output tokens a second", "requests * output",
	  steady, queue_source, throughput },
	{ "output_tokens_per_second_low", "Output, low end", "output / f", held_out,
	  runs, output_range },
	{ "output_tokens_per_second_high", "Output, high end", "output * f", held_out,
	  runs, output_range },
	{ "output_tokens_per_second_per_gpu", "Output tokens a second of a GPU",
	  "output / GPUs", "Idle GPUs and those that only prefill count.", definition,
	  each_gpu },
	{ "output_tokens_per_second_per_user", "Output tokens a second of a user",
	  "1 / TPOT", "What one reader sees, once the first token is there.",
	  definition, each_user },
	{ "prompt_tokens_per_second", "Prompt tokens a second", "requests * prompt",
	  "With those that a prefix cache holds.", definition, prompts },
	{ "requests_per_second", "Requests a second",
	  "(running + waiting) / (TTFT + (output - 1) * TPOT)",
	  "Little's law: every request that comes ends.",
	  "Little 1961; engine/serve/steady.c", requests },
	{ "running", "Requests that run", "min(asked, room)",
	  "With a rate: as many as it leads to, rate * time in the system.",
	  "Little 1961; engine/serve/run.c", load },
	{ "waiting", "Requests that wait", "max(0, asked - room)",
	  "They stand before the server and add to TTFT.", definition, load },
	{ "goodput_tokens_per_second", "Goodput",
	  "output at the most requests, up to c, that keep both goals",
	  "Without goals all output is good.",
	  "DistServe, arXiv 2401.09670, section 2.3", goals },
	{ "goodput_concurrency", "Requests that keep the goals",
	  "the most, up to c, that do", "Latency grows with requests.",
	  "DistServe, arXiv 2401.09670, section 2.3", goals },
	{ "engines", "Engines", "floor(GPUs / (TP * DP * CP * PP))",
	  "Copies of the whole model that share out the requests; GPUs that make no "
	  "engine stay idle.",
	  definition, explain_degrees },
	{ "prefill_intensity", "FLOPs a byte of a prompt", "flops / bytes of one pass",
	  "Weights, activations and cache that pass through memory.",
	  "roofline: Williams et al. 2009", intensity },
	{ "decode_intensity", "FLOPs a byte of decoding", "flops / bytes of one pass",
	  "About the requests of a copy while weights outweigh the cache.",
	  "roofline: Williams et al. 2009", intensity },
	{ "dollars_per_million_tokens", "Cost of a million output tokens",
	  "GPUs * price / 3600 / output * 1e6",
	  "Whole GPUs by the hour; prompts are paid with the output.",
	  "presets/clusters: price_per_gpu_hour", money },
	{ "joules_per_token", "Energy of an output token",
	  "GPUs * (idle + busy * (tdp - idle) + host) * pue / output",
	  "busy: what computing and reading take of a decode pass.",
	  "presets/clusters: tdp_watts, idle_watts, pue", money },
	{ 0 },
};
