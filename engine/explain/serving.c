/* serving.c - where a server's times and throughput come from. */
#include <math.h>
#include <stddef.h>

#include "engine/explain/server.h"

static void prefill(const struct asked *a, struct explanation *out)
{
	explain_scale(a, out);
	from(a, out, "passes", "over the prompt, as the token budget splits it",
	     "serving.prompt_passes_seconds");
	from(a, out, "host", "before the first", "stack.serving_prompt_seconds");
}

static void fill_mixed(const struct asked *a, struct explanation *out)
{
	const struct explain_pass *pass = &explain_server(a)->pass[PASS_MIXED];

	if (!pass->exists) {
		explain_say(out, "decode");
		from(a, out, "decode", "a pass that carries none", "decode_seconds");
	} else if (pass->batch.requests > 0) {
		explain_say(out, "scale * pass");
		explain_scale(a, out);
		from(a, out, "pass", "over requests and prompts",
		     "passes.mixed.seconds");
	} else {
		explain_say(out, "decode + scale * pass");
		from(a, out, "decode", "a pass over requests", "decode_seconds");
		explain_scale(a, out);
		from(a, out, "pass", "over prompts, until a stage is free",
		     "passes.mixed.stage_seconds");
	}
}

static void tpot_terms(const struct asked *a, struct explanation *out)
{
	from(a, out, "output", "tokens of the answer, the first from the prompt's pass",
	     "output");
	from(a, out, "gain", "tokens that a request gains per pass", "serving.gain");
	from(a, out, "step", "from one pass of a request to its next, undisturbed",
	     "serving.step_between_seconds");
	from(a, out, "behind", "prompts of others that are processed while it decodes",
	     "serving.behind");
	from(a, out, "added", "time that each of them adds for everyone",
	     "serving.added_seconds");
	explain_stretch(a, out);
}

static void ttft_terms(const struct asked *a, struct explanation *out)
{
	from(a, out, "served", "from its entry on", "serving.first_token_seconds");
	if (serving(a)->waiting <= 0) {
		explain_say(out, "served");
		return;
	}
	explain_say(out, "served + waiting / rate");
	from(a, out, "waiting", "requests without room", "waiting");
	from(a, out, "rate", "requests that end in a second", "requests_per_second");
}

static void computing(const struct asked *a, struct explanation *out)
{
	explain_scale(a, out);
	from(a, out, "kernels", "without their fixed times", "serving.kernel_seconds");
	from(a, out, "C", "computing alone", "passes.decode.compute_seconds");
	from(a, out, "M", "memory alone", "passes.decode.memory_seconds");
}

static void network(const struct asked *a, struct explanation *out)
{
	explain_scale(a, out);
	from(a, out, "TP", "over the ranks of a layer", "passes.decode.tp_seconds");
	from(a, out, "EP", "between experts", "passes.decode.ep_seconds");
	from(a, out, "CP", "over the ranks of a prompt", "passes.decode.cp_seconds");
	from(a, out, "PP", "between stages", "passes.decode.pp_seconds");
}

static void overhead(const struct asked *a, struct explanation *out)
{
	explain_scale(a, out);
	from(a, out, "pass", "whole", "passes.decode.seconds");
	from(a, out, "draft", "drafting, over a pass", "serving.draft_share");
	from(a, out, "compute", "of its kernels", "decode_compute_seconds");
	from(a, out, "memory", "weights and cache read", "decode_memory_seconds");
	from(a, out, "network", "collectives", "decode_network_seconds");
}

static void fill_requests(const struct asked *a, struct explanation *out)
{
	bool limited = a->scenario->plan.serving.request_rate > 0;

	explain_say(out, limited ? "min(arrive, c / (first + (output - 1) * TPOT))"
				 : "c / (first + (output - 1) * TPOT)");
	if (limited)
		from(a, out, "arrive", "requests in a second", "request_rate");
	from(a, out, "c", "requests that run", "running");
	from(a, out, "first", "from entry to first token",
	     "serving.first_token_seconds");
	from(a, out, "TPOT", "for each further one", "tpot_seconds");
	from(a, out, "output", "tokens that a request gets", "output");
}

static void fill_running(const struct asked *a, struct explanation *out)
{
	from(a, out, "room", "requests that fit", "max_concurrency");
	if (!isfinite(serving(a)->waiting)) {
		explain_say(out, "room");
		return;
	}
	explain_say(out, serving(a)->elsewhere > 0 ? "min(asked, room + elsewhere)"
						   : "min(asked, room)");
	if (serving(a)->elsewhere > 0)
		from(a, out, "elsewhere", "whose prompts run, or travel",
		     "serving.elsewhere");
	from(a, out, "asked", "set by concurrency or rate, or as many as fit",
	     "serving.asked");
}

static void fill_load(const struct asked *a, struct explanation *out)
{
	if (serving(a)->room_seconds > 0) {
		explain_say(out, "rate * full");
		from(a, out, "rate", "requests that come in a second",
		     "requests_per_second");
		from(a, out, "full", "until there is room for one",
		     "serving.room_seconds");
		return;
	}
	explain_say(out, "max(0, asked - running)");
	from(a, out, "asked", "set by concurrency or rate, or as many as fit",
	     "serving.asked");
	from(a, out, "running", "requests that fit", "running");
}

static void fill_engines(const struct asked *a, struct explanation *out)
{
	bool apart = a->scenario->plan.serving.disaggregated;

	explain_say(out, apart ? "floor((GPUs - pool) / (TP * DP * CP * PP))"
			       : "floor(GPUs / (TP * DP * CP * PP))");
	from(a, out, "GPUs", "of the cluster", "gpus");
	if (apart)
		from(a, out, "pool", "that prefill alone", "serving.prefill_pool");
	from(a, out, "TP", "ranks of a layer", "tp");
	from(a, out, "DP", "copies of the attention", "dp_attention");
	from(a, out, "CP", "ranks of a prompt", "cp");
	from(a, out, "PP", "stages", "pp");
}

static const char steady[] =
	"The steady state of continuous batching, with means instead of "
	"distributions; static batches run all prompts first, then all outputs "
	"together.";
static const char held_out[] =
	"Four of five measured runs lay inside when their stack, or their "
	"model, was left out of the fit; of the first token beside other "
	"requests, to which nothing is fitted, four of five of all measured runs.";
static const char kernels_source[] =
	"roofline: Williams et al. 2009; fits of measured kernels (aiconfigurator), "
	"presets/clusters: serving";
static const char queue_source[] = "mean value analysis: Reiser and Lavenberg "
				   "1980, Schweitzer 1979";
static const char runs[] = "tests/validation/README.md, Serving";
static const char definition[] = "by definition";
static const char bounds[] =
	"Kernel time is divided between compute and memory in proportion to their "
	"bounds; fixed times of kernels and the host are overhead.";

const struct explain_row explain_serving[] = {
	{ "ttft_seconds", "Time to first token", NULL,
	  "A closed loop starts with a burst and continues in waves: a prompt "
	  "waits for those ahead of it in its wave, mean over the first waves. "
	  "Where requests arrive at a rate, each finds the others waiting with "
	  "the share of time that they wait.",
	  queue_source, .fill = ttft_terms },
	{ "tpot_seconds", "Time per output token",
	  "(step / gain + behind * added / max(1, output - 1))", steady, queue_source,
	  .fill = tpot_terms },
	{ "ttft_seconds_low", "TTFT, low end", "TTFT / f", held_out, runs,
	  .terms = TERMS({ "TTFT", "predicted", "ttft_seconds" },
			 { "f", "that four of five left-out runs lie within",
			   "spread.ttft" }) },
	{ "ttft_seconds_high", "TTFT, high end", "TTFT * f", held_out, runs,
	  .terms = TERMS({ "TTFT", "predicted", "ttft_seconds" },
			 { "f", "that four of five left-out runs lie within",
			   "spread.ttft" }) },
	{ "tpot_seconds_low", "TPOT, low end", "TPOT / f", held_out, runs,
	  .terms = TERMS({ "TPOT", "predicted", "tpot_seconds" },
			 { "f", "that four of five left-out runs lie within",
			   "spread.tpot" }) },
	{ "tpot_seconds_high", "TPOT, high end", "TPOT * f", held_out, runs,
	  .terms = TERMS({ "TPOT", "predicted", "tpot_seconds" },
			 { "f", "that four of five left-out runs lie within",
			   "spread.tpot" }) },
	{ "prefill_seconds", "A prompt alone", "scale * (passes + host)",
	  "As many passes as the token budget requires; what a prefix cache holds "
	  "is not computed.",
	  kernels_source, .fill = prefill },
	{ "decode_seconds", "A decode pass", "compute + memory + network + overhead",
	  "One token of every request (and drafts): weights are read once, each cache "
	  "once, and a captured graph is launched.",
	  kernels_source,
	  .terms = TERMS(
		  { "compute", "of its kernels", "decode_compute_seconds" },
		  { "memory", "weights and cache read", "decode_memory_seconds" },
		  { "network", "collectives", "decode_network_seconds" },
		  { "overhead", "fixed times and host", "decode_overhead_seconds" }) },
	{ "mixed_seconds", "A pass that carries prompts", NULL,
	  "Where the stack does not mix them, a prefill pass runs between decode "
	  "passes.",
	  "Sarathi-Serve, arXiv 2403.02310, section 4.2", .fill = fill_mixed },
	{ "request_seconds", "A request", "TTFT + (output - 1) * TPOT", steady,
	  definition,
	  .terms = TERMS({ "TTFT", "to the first token", "ttft_seconds" },
			 { "TPOT", "for each further one", "tpot_seconds" },
			 { "output", "tokens that a request gets", "output" }) },
	{ "decode_compute_seconds", "Computing in a decode pass",
	  "if(C + M > 0, scale * kernels * C / (C + M), 0)", bounds, kernels_source,
	  .fill = computing },
	{ "decode_memory_seconds", "Reading in a decode pass",
	  "if(C + M > 0, scale * kernels * M / (C + M), 0)", bounds, kernels_source,
	  .fill = computing },
	{ "decode_network_seconds", "Collectives of a decode pass",
	  "scale * (TP + EP + CP + PP)",
	  "They are never hidden; inside a domain servers use their own reduction "
	  "kernels.",
	  EXPLAIN_LINK_SOURCE, .fill = network },
	{ "decode_overhead_seconds", "Overhead of a decode pass",
	  "scale * pass * (1 + draft) - compute - memory - network", bounds,
	  "presets/stacks: serving.iteration_us", .fill = overhead },
	{ "prefill_share", "Time with prompts", "min(1, rate * carrying / copies)",
	  "Of a server that prefills and decodes; of the prefill GPUs where they are "
	  "apart.",
	  "utilisation law: Denning and Buzen 1978",
	  .terms = TERMS(
		  { "rate", "requests that end in a second", "requests_per_second" },
		  { "carrying", "time of passes with prompts, for each of them",
		    "serving.carrying_seconds" },
		  { "copies", "of the attention that prefill",
		    "serving.prefill_copies" }) },

	{ "output_tokens_per_second", "Output tokens per second",
	  "requests * max(1, output)", steady, queue_source,
	  .terms = TERMS({ "requests", "a second", "requests_per_second" },
			 { "output", "tokens that a request gets", "output" }) },
	{ "output_tokens_per_second_low", "Output, low end", "output / f", held_out,
	  runs,
	  .terms = TERMS({ "output", "tokens per second, predicted",
			   "output_tokens_per_second" },
			 { "f", "that four of five left-out runs lie within",
			   "spread.rate" }) },
	{ "output_tokens_per_second_high", "Output, high end", "output * f", held_out,
	  runs,
	  .terms = TERMS({ "output", "tokens per second, predicted",
			   "output_tokens_per_second" },
			 { "f", "that four of five left-out runs lie within",
			   "spread.rate" }) },
	{ "output_tokens_per_second_per_gpu", "Output tokens per second per GPU",
	  "output / GPUs", "Idle GPUs and those that only prefill count.", definition,
	  .terms = TERMS({ "output", "tokens per second", "output_tokens_per_second" },
			 { "GPUs", "of the cluster", "gpus" }) },
	{ "output_tokens_per_second_per_user", "Output tokens per second per user",
	  "1 / TPOT", "What one user sees after the first token.", definition,
	  .terms = TERMS({ "TPOT", "of a request", "tpot_seconds" }) },
	{ "prompt_tokens_per_second", "Prompt tokens per second", "requests * prompt",
	  "With those that a prefix cache holds.", definition,
	  .terms = TERMS({ "requests", "a second", "requests_per_second" },
			 { "prompt", "tokens of a prompt", "prompt" }) },
	{ "requests_per_second", "Requests per second", NULL,
	  "Little's law: every request that arrives also ends.", "Little 1961",
	  .fill = fill_requests },
	{ "running", "Requests that run", NULL,
	  "With an arrival rate: rate * time in the system.", "Little 1961",
	  .fill = fill_running },
	{ "waiting", "Requests that wait", NULL,
	  "They queue in front of the server and add to TTFT.", definition,
	  .fill = fill_load },
	{ "goodput_tokens_per_second", "Goodput", "best",
	  "Without goals all output counts.",
	  "DistServe, arXiv 2401.09670, section 2.3",
	  .terms = TERMS({ "best", "found", "serving.goodput" }) },
	{ "goodput_concurrency", "Requests that keep the goals", "most",
	  "Latency grows with requests.", "DistServe, arXiv 2401.09670, section 2.3",
	  .terms = TERMS({ "most", "found", "serving.goodput_requests" }) },
	{ "engines", "Engines", NULL,
	  "Copies of the whole model that divide the requests between them; GPUs "
	  "left over stay idle.",
	  definition, .fill = fill_engines },
	{ "prefill_intensity", "FLOPs per byte of a prompt",
	  "if(bytes > 0, flops / bytes, 0)",
	  "Weights, activations and cache that pass through memory.",
	  "roofline: Williams et al. 2009",
	  .terms = TERMS({ "flops", "of a pass", "serving.prompt_flops" },
			 { "bytes", "of it", "serving.prompt_bytes" }) },
	{ "decode_intensity", "FLOPs per byte of decoding",
	  "if(bytes > 0, flops / bytes, 0)",
	  "About the requests of a copy while weights outweigh the cache.",
	  "roofline: Williams et al. 2009",
	  .terms = TERMS({ "flops", "of a pass", "serving.decode_flops" },
			 { "bytes", "of it", "serving.decode_bytes" }) },
	{ "dollars_per_million_tokens", "Cost of a million output tokens",
	  "if(output > 0, GPUs * price / 3600 / output * 1e6, 0)",
	  "Whole GPUs are paid by the hour; the cost of prompts is included.",
	  "presets/clusters: price_per_gpu_hour",
	  .terms = TERMS(
		  { "GPUs", "of the cluster", "gpus" },
		  { "price", "of a GPU and hour", "cluster.price_per_gpu_hour" },
		  { "output", "tokens per second", "output_tokens_per_second" }) },
	{ "joules_per_token", "Energy of an output token",
	  "if(output > 0, GPUs * W / output, 0)",
	  "busy: the share of a decode pass spent on computing and reading.",
	  "presets/clusters: tdp_watts, idle_watts, pue",
	  .terms = TERMS(
		  { "GPUs", "of the cluster", "gpus" },
		  { "W", "watts of a GPU with its share of everything else",
		    "serving.watts" },
		  { "output", "tokens per second", "output_tokens_per_second" }) },
	{ 0 },
};
