/* serving_nodes.c - what a server's numbers are made of, below its estimate. */
#include <math.h>
#include <stddef.h>

#include "engine/explain/server.h"
#include "engine/serve/serve.h"

VALUE(stretch, serving(a)->stretch)
VALUE(step_between, serving(a)->step_between_seconds)
VALUE(ahead, serving(a)->ahead)
VALUE(behind, serving(a)->behind)
VALUE(added, serving(a)->added_seconds)
VALUE(served, serving(a)->served_seconds)
VALUE(begin, serving(a)->begin_seconds)
VALUE(company, serving(a)->company_seconds)
VALUE(received, serving(a)->received_seconds)
VALUE(carrying, serving(a)->carrying_seconds)
VALUE(goodput, serving(a)->goodput)
VALUE(goodput_requests, serving(a)->goodput_concurrency)
VALUE(communicators, serving(a)->communicators)
VALUE(prefix, serving(a)->prefix_bytes)
VALUE(request, serving(a)->request_bytes)
VALUE(decode_flops, explain_server(a)->pass[PASS_DECODE].cost.flops)
VALUE(decode_bytes, explain_server(a)->pass[PASS_DECODE].cost.bytes)
VALUE(prompt_flops, explain_server(a)->prompt.flops)
VALUE(prompt_bytes, explain_server(a)->prompt.bytes)
VALUE(weight_bytes, explain_server(a)->run.decode.context.weight_bytes)

static double first_token(const struct asked *a)
{
	const struct serving_estimate *v = serving(a);

	return v->stretch *
	       (v->prefill_seconds + v->received_seconds + v->begin_seconds +
		v->company_seconds + v->ahead * v->served_seconds +
		v->transfer_seconds + v->contended_seconds + v->load_seconds);
}

void explain_stretch(const struct asked *a, struct explanation *out)
{
	if (serving(a)->stretch == 1)
		return;
	explain_say(out, " * stretch");
	from(a, out, "stretch", "at a leap of the rate", "serving.stretch");
}

void explain_first_waits(const struct asked *a, struct explanation *out, bool received,
			 bool company)
{
	from(a, out, "prefill", "a prompt alone", "prefill_seconds");
	if (received)
		from(a, out, "received", "wait until those before it are received",
		     "serving.received_seconds");
	from(a, out, "begin", "what is left of the pass that is under way",
	     "serving.begin_seconds");
	if (company)
		from(a, out, "company", "until others of its pass are out, too",
		     "serving.company_seconds");
	from(a, out, "ahead", "prompts of others that stand before it",
	     "serving.ahead");
	from(a, out, "served", "wait for each of them", "serving.served_seconds");
	from(a, out, "transfer", "of the cache to the GPUs that decode",
	     "serving.transfer_seconds");
}

static void first_token_terms(const struct asked *a, struct explanation *out)
{
	bool waits = serving(a)->received_seconds > 0;
	bool loads = serving(a)->load_seconds > 0;
	bool shares = serving(a)->company_seconds > 0;
	bool beside = serving(a)->contended_seconds > 0;

	explain_say(out, "(prefill + %sbegin + %sahead * served + transfer%s%s)",
		    waits ? "received + " : "", shares ? "company + " : "",
		    beside ? " + beside" : "", loads ? " + load" : "");
	explain_first_waits(a, out, waits, shares);
	if (beside)
		from(a, out, "beside", "what collectives on the same NIC add to it",
		     "serving.contended_seconds");
	if (loads)
		from(a, out, "load", "wait for the cache that lies on the host",
		     "serving.load_seconds");
	explain_stretch(a, out);
}

/* Of those that come at a rate others wait for room. */
static double asked(const struct asked *a)
{
	double held = serving(a)->room_seconds > 0 ? 0 : serving(a)->waiting;

	return serving(a)->concurrency + held;
}

VALUE(room_wait, serving(a)->room_seconds)
VALUE(elsewhere, serving(a)->elsewhere)

static double copies(const struct asked *a)
{
	return serving(a)->engines * (double)plan(a)->dp_attention;
}

static double prefill_copies(const struct asked *a)
{
	const struct server *prompts = run_prompts(&explain_server(a)->run);

	return prompts->engines * prompts->context.shape.dp;
}

static double draft_share(const struct asked *a)
{
	if (plan(a)->speculative == SPECULATIVE_OFF || plan(a)->draft_tokens < 1)
		return 0;
	return (double)plan(a)->draft_tokens * plan(a)->draft_cost;
}

static void draft_terms(const struct asked *a, struct explanation *out)
{
	if (draft_share(a) == 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "g * cost");
	from(a, out, "g", "drafted tokens", "draft_tokens");
	from(a, out, "cost", "of one over a pass", "draft_cost");
}

static double kernels(const struct asked *a)
{
	const struct pass *p = &explain_server(a)->pass[PASS_DECODE].cost;

	return fmax(0, p->seconds - p->tp_seconds - p->ep_seconds - p->cp_seconds -
			       p->pp_seconds - p->fixed_seconds - p->host_seconds);
}

static double large(const struct asked *a)
{
	double all, small;

	server_weights(&explain_server(a)->run.decode.context, &all, &small);
	return all;
}

static double small(const struct asked *a)
{
	double all, few;

	server_weights(&explain_server(a)->run.decode.context, &all, &few);
	return few;
}

VALUE(vocab, (double)a->estimate->padded_vocab)

static void communicator_terms(const struct asked *a, struct explanation *out)
{
	bool experts = a->scenario->model.moe.experts > 0;

	explain_say(out, "(TP > 1) + (PP > 1)%s", experts ? " + (EP > 1)" : "");
	from(a, out, "TP", "ranks of a layer", "tp");
	from(a, out, "PP", "stages", "pp");
	if (experts)
		from(a, out, "EP", "ranks of a layer's experts", "ep");
}

static double scores(const struct asked *a)
{
	const struct model *m = &a->scenario->model;
	struct model_counts counts;

	model_count(m, &counts);
	if (m->tied_embeddings)
		counts.embedding -= (double)m->vocab * (double)m->hidden;
	return a->estimate->flops_per_token - 2 * (counts.active - counts.embedding);
}

static double busy(const struct asked *a)
{
	const struct serving_estimate *v = serving(a);
	double share = fmin(1, (v->compute_seconds + v->memory_seconds) /
				       fmax(v->decode_seconds, 1e-9));

	return v->concurrency < 1 ? share * v->concurrency : share;
}

VALUE(watts, cluster_watts(&a->scenario->cluster, busy(a)))

#undef NODE_SOURCE
#define NODE_SOURCE \
	"continuous batching: Orca, OSDI 2022; Sarathi-Serve, arXiv 2403.02310"

static const char queue[] =
	"What the closed loop returned: mean value analysis (Reiser and Lavenberg 1980, "
	"Schweitzer 1979), and for the first token the burst that a load begins with; "
	"of requests at a rate, the queue of their prompts (Pollaczek and Khinchine).";
static const char decoding[] = "Summed over the kernels of one decode pass.";
static const char held[] = "Of one rank of the fullest stage.";

const struct explain_node explain_serving_nodes[] = {
	NODE("serving.first_token_seconds", "From entry to first token", FORM_SECONDS,
	     first_token, first_token_terms, NULL, "Without waiting for room."),
	NODE("serving.stretch", "Stretch at a leap of the rate", FORM_REAL, stretch,
	     NULL, EXPLAIN_SIMULATED,
	     "What a full rate is over that of arrivals: where a kernel that is "
	     "quicker for more requests lets the rate leap past them, the server "
	     "hovers at the leap, and requests take longer by Little's law."),
	NODE("serving.step_between_seconds", "From one pass of a request to its next",
	     FORM_SECONDS, step_between, NULL, EXPLAIN_SIMULATED, queue),
	NODE("serving.ahead", "Prompts before a request", FORM_REAL, ahead, NULL,
	     EXPLAIN_SIMULATED, queue),
	NODE("serving.behind", "Prompts while it decodes", FORM_REAL, behind, NULL,
	     EXPLAIN_SIMULATED, queue),
	NODE("serving.served_seconds", "Wait for each prompt before", FORM_SECONDS,
	     served, NULL, EXPLAIN_SIMULATED, queue),
	NODE("serving.added_seconds", "Added by each prompt", FORM_SECONDS, added, NULL,
	     EXPLAIN_SIMULATED,
	     "To the time of all that decode. Of a pipeline more than it is waited "
	     "for: as many micro-batches go around as it has stages, none overtakes "
	     "another, so all wait for the slowest."),
	NODE("serving.begin_seconds", "Until the pass under way ends", FORM_SECONDS,
	     begin, NULL, EXPLAIN_SIMULATED,
	     "Where pools are apart, half a decode pass in the mean and the one "
	     "that gives the first token."),
	NODE("serving.company_seconds", "Until others of its pass are out",
	     FORM_SECONDS, company, NULL, EXPLAIN_SIMULATED,
	     "Prompts that share a pass leave the last stage of a pipeline "
	     "together: those of a burst fill passes, later ones are those that "
	     "come in a round, dealt out over the micro-batches."),
	NODE("serving.received_seconds", "Wait for reception", FORM_SECONDS, received,
	     NULL, EXPLAIN_SIMULATED,
	     "Each copy's process takes one request after the other, so long each: "
	     "no more come out of a server than go in."),
	NODE("serving.carrying_seconds", "Passes with prompts, for each", FORM_SECONDS,
	     carrying, NULL, EXPLAIN_SIMULATED, queue),
	NODE("serving.room_seconds", "Until there is room", FORM_SECONDS, room_wait,
	     NULL, EXPLAIN_SIMULATED,
	     "How often a server is full of those that come at a rate: a "
	     "birth-death chain over what it gives with each number of them "
	     "(Kelly 1979), and the line before it (Allen and Cunneen)."),
	NODE("serving.asked", "Requests in flight", FORM_REAL, asked, NULL,
	     EXPLAIN_SIMULATED,
	     "The concurrency, as many as fit, or as many as the rate leads to by "
	     "Little's law."),
	NODE("serving.elsewhere", "Requests in the other pool", FORM_REAL, elsewhere,
	     NULL, EXPLAIN_SIMULATED,
	     "So many more than the pool that decodes has room for are in flight, "
	     "as a prompt takes no room there."),
	NODE_OF("serving.copies", "Copies of the attention", FORM_REAL, copies,
		"engines * DP", "In all engines.",
		{ "engines", "side by side", "engines" },
		{ "DP", "copies of the attention in each", "dp_attention" }),
	NODE("serving.prefill_copies", "Copies that prefill", FORM_REAL, prefill_copies,
	     NULL, EXPLAIN_COUNTED,
	     "The same copies, or those of the pool that only prefills."),
	NODE("serving.draft_share", "Drafting over a pass", FORM_PERCENT, draft_share,
	     draft_terms, NULL, "Of a decode pass."),
	NODE_OF("serving.kernel_seconds", "Kernels without fixed times", FORM_SECONDS,
		kernels, "max(0, pass - TP - EP - CP - PP - fixed - host)", decoding,
		{ "pass", "whole", "passes.decode.seconds" },
		{ "TP", "over the ranks of a layer", "passes.decode.tp_seconds" },
		{ "EP", "between experts", "passes.decode.ep_seconds" },
		{ "CP", "over the ranks of a prompt", "passes.decode.cp_seconds" },
		{ "PP", "between stages", "passes.decode.pp_seconds" },
		{ "fixed", "of kernels", "passes.decode.fixed_seconds" },
		{ "host", "of a pass", "passes.decode.host_seconds" }),
	NODE("serving.decode_flops", "FLOPs of a decode pass", FORM_FLOPS, decode_flops,
	     NULL, EXPLAIN_COUNTED, decoding),
	NODE("serving.decode_bytes", "Bytes of a decode pass", FORM_TRAFFIC,
	     decode_bytes, NULL, EXPLAIN_COUNTED, decoding),
	NODE("serving.prompt_flops", "FLOPs of a pass over a prompt", FORM_FLOPS,
	     prompt_flops, NULL, EXPLAIN_COUNTED, "Summed over its kernels."),
	NODE("serving.prompt_bytes", "Bytes of a pass over a prompt", FORM_TRAFFIC,
	     prompt_bytes, NULL, EXPLAIN_COUNTED, "Summed over its kernels."),
	NODE("serving.goodput", "Output within the goals", FORM_RATE, goodput, NULL,
	     EXPLAIN_SIMULATED,
	     "At the most requests that keep both, found by halving."),
	NODE("serving.goodput_requests", "Requests within the goals", FORM_REAL,
	     goodput_requests, NULL, EXPLAIN_SIMULATED, "Found by halving."),
	NODE("serving.communicators", "Communicators of a rank", FORM_COUNT,
	     communicators, communicator_terms, NULL,
	     "One for each group of more than one rank."),
	NODE("serving.weight_bytes", "Bytes of a weight", FORM_REAL, weight_bytes, NULL,
	     EXPLAIN_COUNTED, "Of the precision, with its scales."),
	NODE("serving.large_parameters", "Elements of quantised matrices", FORM_COUNT,
	     large, NULL, EXPLAIN_COUNTED, held),
	NODE("serving.small_parameters",
	     "Elements of tables, norms, routers and what is not quantised", FORM_COUNT,
	     small, NULL, EXPLAIN_COUNTED, held),
	NODE("serving.prefix_bytes", "A shared prefix", FORM_BYTES, prefix, NULL,
	     EXPLAIN_COUNTED, "Its pages, held once."),
	NODE("serving.request_bytes", "A request", FORM_BYTES, request, NULL,
	     EXPLAIN_COUNTED, "Its pages and states on one rank."),
	NODE_OF("serving.padded_vocab", "Vocabulary after padding", FORM_COUNT, vocab,
		"ceil(V / (max(k, 1) * TP)) * max(k, 1) * TP", "To whole tiles.",
		{ "V", "vocabulary", "model.vocab" },
		{ "k", "multiple, by the stack", "stack.vocab_multiple" },
		{ "TP", "ranks that split it", "tp" }),
	NODE("serving.score_flops", "Attention scores and scans", FORM_FLOPS, scores,
	     NULL, EXPLAIN_COUNTED,
	     "Of a forward, over the positions that a token sees."),
	NODE_OF("serving.watts",
		"Power of a GPU with its share of everything else, watts", FORM_REAL,
		watts,
		"(idle + min(1, (compute + memory) / max(pass, 1e-9)) * min(1, c) * "
		"(TDP - idle) + host) * if(PUE > 0, PUE, 1)",
		"A GPU that computes or reads draws its TDP.",
		{ "idle", "of a GPU that waits, watts", "cluster.idle_watts" },
		{ "compute", "of a decode pass", "decode_compute_seconds" },
		{ "memory", "of it", "decode_memory_seconds" },
		{ "pass", "whole", "decode_seconds" },
		{ "c", "requests that run", "running" },
		{ "TDP", "of a GPU that computes, watts", "cluster.tdp_watts" },
		{ "host", "CPU, NIC, fans and switches per GPU, watts",
		  "cluster.host_watts_per_gpu" },
		{ "PUE", "of the data centre", "cluster.pue" }),
	{ .row.key = NULL },
};
