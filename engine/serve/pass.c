/* pass.c - see pass.h: layers of a kind, the ends, and what passes between ranks. */
#include "engine/serve/pass.h"

#include <math.h>
#include <string.h>

#include "engine/model/shape.h"
#include "engine/serve/kernels.h"
#include "engine/serve/layer.h"

static bool is_published(const struct scenario *s)
{
	return s->plan.precision == s->model.precision;
}

bool serve_quantises(const struct scenario *s, enum serve_matrix matrix)
{
	if (!is_published(s))
		return true;
	switch (s->model.quantised) {
	case QUANTISED_MLP: return matrix != MATRIX_MIXER;
	case QUANTISED_EXPERTS: return matrix == MATRIX_EXPERT;
	default: return true;
	}
}

/* A published checkpoint in 4 bits may have groups of its own, with a scale of 16 bits
 * each and no zeros. */
double serve_weight_bytes(const struct scenario *s)
{
	if (s->plan.precision == PRECISION_INT4 && is_published(s) &&
	    s->model.quantised_group > 0)
		return 0.5 + 2.0 / (double)s->model.quantised_group;
	return precision_table[s->plan.precision].weight_bytes;
}

double serve_kv_element_bytes(const struct scenario *s)
{
	switch (s->plan.serving.kv_precision) {
	case KV_FP8:
	case KV_INT8: return 1;
	case KV_FP4: return precision_table[PRECISION_NVFP4].operand_bytes;
	case KV_BF16: return 2;
	default: break;
	}
	if (s->plan.precision == PRECISION_FP32)
		return 4;
	return s->stack.serving.narrow_kv && (s->plan.precision == PRECISION_FP8 ||
					      s->plan.precision == PRECISION_NVFP4)
		       ? 1
		       : 2;
}

static void shape(const struct scenario *s, struct engine_degrees degrees,
		  struct serve_context *out)
{
	struct engine_shape *e = &out->shape;

	e->tp = (double)degrees.tp;
	e->pp = (double)degrees.pp;
	e->cp = (double)s->plan.cp;
	e->dp = (double)degrees.dp_attention;
	e->ranks = e->tp * e->pp * e->cp * e->dp;
	e->ep = s->model.moe.experts > 0 ? (double)degrees.ep : 1;
	e->etp = fmax(1, e->tp * e->dp / e->ep);
	e->kv_shards =
		(double)(s->plan.serving.kv_shards > 0 ? s->plan.serving.kv_shards : 1);
	mesh_place(s,
		   &(struct mesh_degrees){ .world = (int64_t)e->ranks,
					   .tp = degrees.tp,
					   .cp = s->plan.cp,
					   .pp = degrees.pp,
					   .ep = (int64_t)e->ep,
					   .etp = (int64_t)e->etp },
		   &out->mesh);
	collective_fabric(s, NULL, &out->fabric);
	out->scenario = s;
	chip_rates(s, &out->rates);
	out->weight_bytes = serve_weight_bytes(s);
	out->kv_bytes = serve_kv_element_bytes(s);
	model_kinds_layers(&s->model, out->layers);
}

void serve_context(const struct scenario *s, struct serve_context *out)
{
	const struct plan *p = &s->plan;

	shape(s,
	      (struct engine_degrees){ p->tp, p->pp, p->ep, p->serving.dp_attention },
	      out);
}

void serve_prefill_context(const struct scenario *s, struct serve_context *out)
{
	shape(s, scenario_prefill_engine(s), out);
	out->shape.kv_shards = 1;
}

/* Embedding rows are looked up; the head works on one row of each request. */
static void ends(const struct serve_context *c, const struct batch *b,
		 struct layer_pass *out)
{
	const struct model *m = &c->scenario->model;
	double h = (double)m->hidden;
	double tokens = b->requests * b->tokens_each + b->prompt_tokens;
	double rows = b->requests * b->tokens_each + b->prompt_requests;
	double vocab = (double)scenario_padded_vocab(c->scenario);
	struct kernel k;

	kernel_elementwise(&c->rates, 1,
			   tokens * (h + (double)(m->layers * m->input_width)) * 4, &k);
	layer_kernel(out, "embedding", 1, &k);
	if (rows <= 0)
		return;
	kernel_gemm(&c->rates, false, rows, vocab / c->shape.tp, h, &k);
	layer_kernel(out, "LM head", 1, &k);
	/* sampling reads the logits a few times */
	kernel_elementwise(&c->rates, 4, rows * vocab * 8 / c->shape.tp, &k);
	layer_kernel(out, "sampling", 4, &k);
	layer_all_reduce(c, "embedded tokens", tokens * h * 2, out);
	layer_gather(c, "logits", rows * vocab * 2, out);
}

static void add_operator(struct pass *out, const struct pass_operator *op,
			 double layers)
{
	struct pass_operator *to = NULL;

	for (int i = 0; i < out->operators && !to; i++)
		if (strcmp(out->operator[i].name, op->name) == 0)
			to = &out->operator[i];
	if (!to) {
		if (out->operators == MAX_PASS_OPERATORS)
			return;
		to = &out->operator[out->operators++];
		*to = (struct pass_operator){ .name = op->name,
					      .rates = op->rates,
					      .stored = op->stored,
					      .used = op->used,
					      .network = op->network };
	}
	to->count += op->count * layers;
	to->flops += op->flops * layers;
	to->bytes += op->bytes * layers;
	to->compute_seconds += op->compute_seconds * layers;
	to->memory_seconds += op->memory_seconds * layers;
	to->fixed_seconds += op->fixed_seconds * layers;
	to->seconds += op->seconds * layers;
}

static void add_traffic(struct pass *out, const struct traffic *from, double layers)
{
	struct traffic *to = NULL;

	for (int i = 0; i < out->traffic_count && !to; i++)
		if (strcmp(out->traffic[i].what, from->what) == 0)
			to = &out->traffic[i];
	if (!to) {
		if (out->traffic_count ==
		    (int)(sizeof out->traffic / sizeof out->traffic[0]))
			return;
		to = &out->traffic[out->traffic_count++];
		*to = *from;
		to->count = to->total_bytes = to->network_bytes = 0;
		to->total_seconds = to->exposed_seconds = 0;
	}
	to->count += layers;
	to->total_bytes += from->sent_bytes * layers;
	to->network_bytes += from->network_bytes * layers;
	to->total_seconds += from->seconds * layers;
	to->exposed_seconds += from->seconds * layers;
}

static void add_layers(struct pass *out, const struct layer_pass *layer, double layers,
		       bool list)
{
	out->compute_seconds += layer->compute_seconds * layers;
	out->memory_seconds += layer->memory_seconds * layers;
	out->fixed_seconds += layer->fixed_seconds * layers;
	out->seconds += layer->seconds * layers;
	out->flops += layer->flops * layers;
	out->bytes += layer->bytes * layers;
	out->tp_seconds += layer->network_seconds[DIM_TP] * layers;
	out->ep_seconds += layer->network_seconds[DIM_EP] * layers;
	out->cp_seconds += layer->network_seconds[DIM_CP] * layers;
	out->network_bytes += layer->network_bytes * layers;
	if (!list)
		return;
	for (int i = 0; i < layer->operators; i++)
		add_operator(out, &layer->operator[i], layers);
	for (int i = 0; i < layer->traffic_count; i++)
		add_traffic(out, &layer->traffic[i], layers);
}

/* Kinds that follow each other often share one of their halves. */
static void layers_of(const struct serve_context *c, const struct batch *b, bool list,
		      struct pass *out)
{
	const struct model *m = &c->scenario->model;
	struct layer_pass mixer, mlp;

	for (int k = 0; k < m->kinds; k++) {
		const struct layer_kind *kind = &m->kind[k];

		if (!shapes_same_mixer(m, k)) {
			layer_begin(&mixer, list);
			layer_mixer(c, kind, b, &mixer);
		}
		if (!shapes_same_mlp(m, k)) {
			layer_begin(&mlp, list);
			layer_mlp(c, kind, b, &mlp);
		}
		add_layers(out, &mixer, c->layers[k], list);
		add_layers(out, &mlp, c->layers[k], list);
	}
}

/* From each stage to the next: hidden states, sharded over TP by most servers. */
static void sends(const struct serve_context *c, const struct batch *b, bool list,
		  struct pass *out)
{
	double tokens = b->requests * b->tokens_each + b->prompt_tokens;
	struct layer_pass hop;

	if (c->shape.pp < 2)
		return;
	layer_begin(&hop, list);
	layer_send(c, "activations", tokens * (double)c->scenario->model.hidden * 2,
		   &hop);
	out->pp_seconds += hop.network_seconds[DIM_PP] * (c->shape.pp - 1);
	/* a rank sends on what its stage has done */
	out->network_bytes += hop.network_bytes;
	for (int i = 0; i < hop.traffic_count; i++)
		add_traffic(out, &hop.traffic[i], (c->shape.pp - 1) / c->shape.pp);
}

/* Launching an uncaptured pass: the slower of host and GPU counts. */
static double launching(const struct serve_context *c)
{
	const struct serving_stack *v = &c->scenario->stack.serving;
	const struct model *m = &c->scenario->model;
	double seconds = 0;

	for (int k = 0; k < m->kinds; k++)
		seconds += c->layers[k] *
			   (m->kind[k].mlp == MLP_MOE && v->expert_cpu_seconds > 0
				    ? v->expert_cpu_seconds
				    : v->layer_cpu_seconds);
	return seconds;
}

/* Of one request in a pass. */
static double request_host(const struct scenario *s)
{
	const struct serving_stack *v = &s->stack.serving;
	bool hidden = s->plan.serving.host_overlap;

	return v->request_seconds + (hidden ? 0 : v->overlapped_seconds);
}

/* Of all stages: each takes the pass on, and launches its own layers. */
static void host(const struct serve_context *c, const struct batch *b, struct pass *out)
{
	const struct serving_stack *v = &c->scenario->stack.serving;
	double requests = b->requests + b->prompt_requests;
	double busy =
		out->seconds + out->tp_seconds + out->ep_seconds + out->cp_seconds;

	out->host_seconds = c->shape.pp * (v->iteration_seconds +
					   request_host(c->scenario) * requests);
	if (!b->captured)
		out->host_seconds += fmax(0, launching(c) - busy);
}

static void one_pass(const struct serve_context *c, const struct batch *b, bool list,
		     struct pass *out)
{
	const struct model *m = &c->scenario->model;
	double layers = (double)m->layers, share;
	double efficiency = c->scenario->stack.serving.prefill_efficiency;
	struct layer_pass end;

	memset(out, 0, offsetof(struct pass, traffic));
	out->traffic_count = out->operators = 0;
	layers_of(c, b, list, out);
	out->ends = out->operators;
	if (b->prompt_tokens > 0 && efficiency > 0) {
		double busy = out->seconds;

		out->seconds /= efficiency;
		out->fixed_seconds += out->seconds - busy;
	}
	layer_begin(&end, list);
	ends(c, b, &end);
	add_layers(out, &end, 1, list);
	sends(c, b, list, out);
	host(c, b, out);
	/* the fullest stage has the layers that don't divide, the last one the head */
	share = ceil(layers / c->shape.pp) / layers;
	out->stage_seconds = (out->seconds - end.seconds + out->tp_seconds +
			      out->ep_seconds + out->cp_seconds) *
				     share +
			     end.seconds + out->host_seconds / c->shape.pp;
	if (c->shape.pp > 1)
		out->stage_seconds += out->pp_seconds / (c->shape.pp - 1);
	out->seconds += out->tp_seconds + out->ep_seconds + out->cp_seconds +
			out->pp_seconds + out->host_seconds;
}

static void twice(struct pass *out)
{
	double *const all[] = { &out->compute_seconds, &out->memory_seconds,
				&out->fixed_seconds,   &out->tp_seconds,
				&out->ep_seconds,      &out->cp_seconds,
				&out->pp_seconds,      &out->flops,
				&out->bytes,           &out->network_bytes };

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		*all[i] *= 2;
	for (int i = 0; i < out->operators; i++) {
		struct pass_operator *op = &out->operator[i];

		op->count *= 2;
		op->flops *= 2;
		op->bytes *= 2;
		op->compute_seconds *= 2;
		op->memory_seconds *= 2;
		op->fixed_seconds *= 2;
		op->seconds *= 2;
	}
	for (int i = 0; i < out->traffic_count; i++) {
		struct traffic *t = &out->traffic[i];

		t->count *= 2;
		t->total_bytes *= 2;
		t->network_bytes *= 2;
		t->total_seconds *= 2;
		t->exposed_seconds *= 2;
	}
}

/* Two halves of the batch take turns, so that one travels while the other computes
 * (DeepSeek-V3, arXiv 2412.19437, section 3.4.2; SGLang's two-batch overlap). Each half
 * reads the weights for itself. What is longer shows, and the first and last layer's
 * share of the other. */
static void two_halves(const struct serve_context *c, const struct batch *b, bool list,
		       struct pass *out)
{
	struct batch half = *b;
	double computing, travelling, exposed, host, stage;

	half.requests /= 2;
	half.prompt_tokens /= 2;
	half.prompt_requests /= 2;
	one_pass(c, &half, list, out);
	host = out->host_seconds;
	travelling = 2 * out->ep_seconds;
	computing = 2 * (out->seconds - host) - travelling;
	exposed = fmax(0, travelling - computing) +
		  fmin(travelling, computing) / (double)c->scenario->model.layers;
	stage = 2 * (out->stage_seconds - host / c->shape.pp);
	if (out->seconds > host)
		stage *= (computing + exposed) / (computing + travelling);
	twice(out);
	out->seconds = computing + exposed + host;
	out->stage_seconds = stage + host / c->shape.pp;
	for (int i = 0; i < out->traffic_count; i++)
		if (out->traffic[i].dimension == DIM_EP && travelling > 0)
			out->traffic[i].exposed_seconds *= exposed / travelling;
	out->ep_seconds = exposed;
}

/* Ranks that share every expert exchange nothing beside which the other half could run:
 * there is no dispatch (SGLang wants a backend of all-to-all for its two batches). */
bool serve_halves(const struct serve_context *c, const struct batch *b)
{
	bool travels = c->shape.dp > 1 && c->shape.ep > 1;

	return c->scenario->plan.ep_overlap && travels &&
	       b->requests + b->prompt_tokens > 1;
}

void serve_pass(const struct serve_context *c, const struct batch *b, bool list,
		struct pass *out)
{
	if (serve_halves(c, b))
		two_halves(c, b, list, out);
	else
		one_pass(c, b, list, out);
}
