/* pass.c - a pass of a server a second time: layer after layer, half after half, hop
 * after hop, with the prices of half a layer. See server.h. */
#include <math.h>

#include "engine/serve/layer.h"
#include "tests/twin/server.h"

/* What a rank is busy with, by what keeps it. */
struct busy {
	double computing, network[DIM_COUNT];
	double flops, bytes, network_bytes;
};

static void add_half(const struct layer_pass *half, double times, double slower,
		     struct busy *out)
{
	for (int i = 0; i < half->operators; i++) {
		const struct pass_operator *op = &half->operator[i];

		out->computing += times * op->seconds * slower;
		out->flops += times * op->flops;
		out->bytes += times * op->bytes;
	}
	for (int i = 0; i < half->traffic_count; i++) {
		const struct traffic *t = &half->traffic[i];

		out->network[t->dimension] += times * t->seconds;
		out->network_bytes += times * t->network_bytes;
	}
}

/* Both halves of every layer. */
static void run_layers(const struct serve_context *c, const struct batch *b,
		       struct busy *out)
{
	const struct model *m = &c->scenario->model;
	double reached = c->scenario->stack.serving.prefill_efficiency, slower = 1;
	struct layer_pass half;

	if (b->prompt_tokens > 0 && reached > 0)
		slower = 1 / reached;
	for (int k = 0; k < m->kinds; k++) {
		layer_begin(&half, true);
		layer_mixer(c, &m->kind[k], b, &half);
		add_half(&half, c->layers[k], slower, out);
		layer_begin(&half, true);
		layer_mlp(c, &m->kind[k], b, &half);
		add_half(&half, c->layers[k], slower, out);
	}
}

static double tokens_of(const struct batch *b)
{
	return b->tokens_each * b->requests + b->prompt_tokens;
}

/* A row of the table for each token, read and written in 16 bits, with those of layers
 * that have inputs of their own; logits of the last token of each, which sampling
 * reads four times in 16 bits. */
static void run_ends(const struct serve_context *c, const struct batch *b,
		     struct busy *out)
{
	const struct scenario *s = c->scenario;
	double tokens = tokens_of(b), sampled = b->tokens_each * b->requests;
	double vocab = (double)scenario_padded_vocab(s), row = 0;
	struct layer_pass end;
	struct kernel k;

	for (int64_t layer = 0; layer < s->model.layers; layer++)
		row += (double)s->model.input_width;
	row += (double)s->model.hidden;
	sampled += b->prompt_requests;
	layer_begin(&end, true);
	kernel_elementwise(&c->rates, 1, tokens * row * (2 + 2), &k);
	layer_kernel(&end, "embedding", 1, &k);
	if (sampled > 0) {
		kernel_gemm(&c->rates, false, sampled, vocab / c->shape.tp,
			    (double)s->model.hidden, &k);
		layer_kernel(&end, "LM head", 1, &k);
		kernel_elementwise(&c->rates, 4, 4 * 2 * sampled * vocab / c->shape.tp,
				   &k);
		layer_kernel(&end, "sampling", 4, &k);
		layer_all_reduce(c, "embedded tokens",
				 2 * tokens * (double)s->model.hidden, &end);
		layer_gather(c, "logits", 2 * sampled * vocab, &end);
	}
	add_half(&end, 1, 1, out);
}

static double launching(const struct serve_context *c)
{
	const struct serving_stack *v = &c->scenario->stack.serving;
	const struct model *m = &c->scenario->model;
	double seconds = 0;

	for (int k = 0; k < m->kinds; k++) {
		bool experts = m->kind[k].mlp == MLP_MOE && v->expert_cpu_seconds > 0;

		seconds += c->layers[k] *
			   (experts ? v->expert_cpu_seconds : v->layer_cpu_seconds);
	}
	return seconds;
}

/* Each stage's host takes the pass on; one that is not replayed is launched, which
 * shows where it takes longer than what it launches. */
static double host_of(const struct serve_context *c, const struct batch *b,
		      const struct busy *all)
{
	const struct serving_stack *v = &c->scenario->stack.serving;
	double waits =
		c->scenario->plan.serving.host_overlap ? 0 : v->overlapped_seconds;
	double seconds = 0, busy = all->computing + all->network[DIM_TP] +
				   all->network[DIM_EP] + all->network[DIM_CP];

	for (int stage = 0; stage < (int)c->shape.pp; stage++)
		seconds += v->iteration_seconds +
			   (v->request_seconds + waits) *
				   (b->requests + b->prompt_requests);
	if (!b->captured && launching(c) > busy)
		seconds += launching(c) - busy;
	return seconds;
}

static double network_of(const struct busy *b)
{
	return b->network[DIM_TP] + b->network[DIM_EP] + b->network[DIM_CP];
}

/* Hidden states from each stage to the next. */
static double run_hops(const struct serve_context *c, const struct batch *b,
		       struct busy *out)
{
	double tokens = tokens_of(b), one = 0;

	for (int hop = 1; hop < (int)c->shape.pp; hop++) {
		struct layer_pass send;

		layer_begin(&send, true);
		layer_send(c, "activations",
			   2 * tokens * (double)c->scenario->model.hidden, &send);
		one = send.network_seconds[DIM_PP];
		out->network[DIM_PP] += one;
		/* a rank sends on what its stage has done, once */
		if (hop == 1)
			out->network_bytes += send.network_bytes;
	}
	return one;
}

static void one_pass(const struct serve_context *c, const struct batch *b,
		     struct pass *out)
{
	struct busy layers = { 0 }, ends = { 0 }, all;
	double most = ceil((double)c->scenario->model.layers / c->shape.pp), hop;

	run_layers(c, b, &layers);
	all = layers;
	run_ends(c, b, &ends);
	all.computing += ends.computing;
	all.flops += ends.flops;
	all.bytes += ends.bytes;
	all.network_bytes += ends.network_bytes;
	for (int d = 0; d < DIM_COUNT; d++)
		all.network[d] += ends.network[d];
	hop = run_hops(c, b, &all);
	*out = (struct pass){ .tp_seconds = all.network[DIM_TP],
			      .ep_seconds = all.network[DIM_EP],
			      .cp_seconds = all.network[DIM_CP],
			      .pp_seconds = all.network[DIM_PP],
			      .flops = all.flops,
			      .bytes = all.bytes,
			      .network_bytes = all.network_bytes };
	out->host_seconds = host_of(c, b, &all);
	out->seconds =
		all.computing + network_of(&all) + out->pp_seconds + out->host_seconds;
	/* the last stage has the head beside as many layers as any; what the ends
	 * send is shared out with the layers' */
	out->stage_seconds = (layers.computing + network_of(&all)) * most /
				     (double)c->scenario->model.layers +
			     ends.computing + out->host_seconds / c->shape.pp + hop;
}

void twin_pass(const struct serve_context *c, const struct batch *b, struct pass *out)
{
	bool halves = c->scenario->plan.ep_overlap && c->shape.dp > 1 &&
		      c->shape.ep > 1 && b->requests + b->prompt_tokens > 1;
	double layers = (double)c->scenario->model.layers;
	double travelling, computing, seconds, stage, host;
	struct batch half = *b;

	if (!halves) {
		one_pass(c, b, out);
		return;
	}
	half.requests = b->requests / 2;
	half.prompt_tokens = b->prompt_tokens / 2;
	half.prompt_requests = b->prompt_requests / 2;
	one_pass(c, &half, out);
	host = out->host_seconds;
	travelling = 2 * out->ep_seconds;
	computing = 2 * (out->seconds - host - out->ep_seconds);
	/* what takes longer, and the first and the last of as many pieces of the other
	 * as there are layers, which have half a layer each to hide behind */
	seconds = fmax(computing, travelling) + fmin(computing, travelling) / layers;
	stage = 2 * (out->stage_seconds - host / c->shape.pp) * seconds /
		(computing + travelling);
	out->seconds = seconds + host;
	out->stage_seconds = stage + host / c->shape.pp;
	out->ep_seconds = seconds - computing;
	out->tp_seconds *= 2;
	out->cp_seconds *= 2;
	out->pp_seconds *= 2;
	out->flops *= 2;
	out->bytes *= 2;
	out->network_bytes *= 2;
}
