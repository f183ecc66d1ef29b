/* layers.c - costs per layer kind: sums over the operator graph. */
#include <math.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/schedule/schedule.h"
#include "engine/train/step.h"

bool step_hides_in_pairs(const struct scenario *scenario)
{
	return scenario->plan.pp > 1 && scenario->plan.ep_overlap &&
	       schedule_pairs(scenario->plan.schedule);
}

/* Of a layer that does not run again whole. */
static inline bool runs_again(const struct graph_context *c, const struct graph *graph,
			      const struct graph_operator *op)
{
	const struct plan *plan = &c->scenario->plan;

	if (graph->forward_only)
		return false;
	if (op->with_layer)
		return plan->recompute == RECOMPUTE_FULL;
	if (step_has_policy(plan))
		return step_policy_recomputes(plan, op);
	if (op->tiles > 1)
		return true;
	return plan->recompute == RECOMPUTE_SELECTIVE &&
	       (op->modules & plan->recompute_modules) != 0;
}

/* The GEMM that follows a collective; NULL where none does. */
static const struct graph_operator *gemm_behind(const struct graph *graph,
						const struct graph_operator *op)
{
	for (const struct graph_operator *next = op + 1;
	     next < graph->item + graph->count; next++)
		if (next->kind == OPERATOR_GEMM || next->kind == OPERATOR_GROUPED_GEMM)
			return next;
	return NULL;
}

static bool runs_beside(const struct graph_operator *op,
			const struct graph_operator *other)
{
	if (op->beside_shared)
		return graph_hides_exchange(op, other);
	return op->dimension == DIM_CP ? other->kind == OPERATOR_ATTENTION
				       : other->kind != OPERATOR_COLLECTIVE;
}

/* Attention time hides a ring's transfers, the gradient of a product's input what TP
 * gathers once more for that of its weights (Korthikanti 2022, section 4.2.2: the
 * weights' gradient waits for both); shared experts what routed ones send; for other
 * overlaps all computation does, up to the share that the stack reaches. */
static double hiding_time(const struct graph_context *c, const struct graph *graph,
			  const struct graph_operator *op, bool forward)
{
	const struct graph_operator *gemm = gemm_behind(graph, op);
	double seconds = 0;

	if (op->dimension == DIM_TP)
		return gemm ? gemm->input_grad_seconds : 0;
	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *other = &graph->item[i];

		if (runs_beside(op, other))
			seconds += forward ? other->forward_seconds
					   : other->input_grad_seconds +
						     other->weight_grad_seconds;
	}
	if (op->beside_shared)
		return seconds * c->scenario->stack.ep_overlap;
	/* dispatch and combine share what there is to hide behind */
	return op->dimension == DIM_EP ? seconds / 2 * c->scenario->stack.ep_overlap
				       : seconds;
}

static double hidden_share(const struct graph_context *c,
			   const struct graph_operator *op)
{
	return graph_in_pieces(&c->scenario->plan, op) ? c->scenario->stack.tp_overlap
						       : 0;
}

static void expose_call(const struct graph_context *c, const struct graph *graph,
			struct graph_operator *op)
{
	const struct graph_operator *gemm = gemm_behind(graph, op);
	double keep = 1 - hidden_share(c, op);
	double beside =
		op->beside_weight_grad && gemm
			? c->scenario->stack.tp_grad_overlap * gemm->weight_grad_seconds
			: 0;

	op->exposed_forward = op->forward_seconds * keep;
	op->exposed_backward = larger(0, op->input_grad_seconds * keep - beside);
	if (!op->overlaps && !op->beside_shared)
		return;
	op->exposed_forward =
		larger(0, op->forward_seconds - hiding_time(c, graph, op, true));
	op->exposed_backward =
		larger(0, op->input_grad_seconds - hiding_time(c, graph, op, false));
}

static void add_weights(struct layer_cost *out, const struct graph_operator *op)
{
	if (op->expert) {
		out->expert += op->weights;
		out->expert_trainable += op->trainable;
	} else {
		out->dense += op->weights;
		out->dense_trainable += op->trainable;
	}
}

/* What hides in a pair, and shows where the pass runs alone. */
static void add_alone(const struct graph_operator *op, bool again,
		      struct layer_cost *out)
{
	double times = again ? 2 : 1; /* once more in the backward */

	out->alone_forward += op->forward_seconds - op->exposed_forward;
	out->alone_backward +=
		op->input_grad_seconds - op->exposed_backward +
		(times - 1) * (op->forward_seconds - op->exposed_forward);
	out->pairs_hide += times * op->forward_seconds + op->input_grad_seconds;
}

/* What waits for the backward, on the accelerator and on the host. */
static void hold_tensors(const struct graph_context *c, bool again,
			 struct graph_operator *op)
{
	const struct plan *plan = &c->scenario->plan;
	double saved = again || op->kind == OPERATOR_COLLECTIVE ? 0 : op->saved_bytes;

	op->held_bytes = op->kept_bytes + saved;
	op->away_bytes = 0;
	/* the token that follows is kept where the layer that runs again whole has its
	 * own input */
	if (op->with_layer && again)
		op->held_bytes = 0;
	/* beside layers that run again whole the others send nothing either: modules
	 * are named beside modules that do */
	if (plan->recompute == RECOMPUTE_FULL || op->makes == 0)
		return;
	if (step_has_policy(plan)) {
		step_policy_holds(c, op);
		return;
	}
	/* the first layers send theirs: a mean over them */
	op->away_bytes = (op->kept_for & plan->offload_modules ? op->kept_bytes : 0) +
			 (op->saved_for & plan->offload_modules ? saved : 0);
	op->away_bytes *= plan->offload_share;
	op->held_bytes -= op->away_bytes;
}

static void add_operator(const struct graph_context *c, const struct graph *graph,
			 bool full, struct graph_operator *op, struct layer_cost *out)
{
	bool again = full || runs_again(c, graph, op);

	op->again = again;
	hold_tensors(c, again, op);
	out->sent_bytes += op->away_bytes;
	if (op->kind == OPERATOR_COLLECTIVE) {
		out->exposed_forward += op->exposed_forward;
		out->exposed_backward += op->exposed_backward;
		out->whole_bytes += op->kept_bytes;
		out->saved_bytes += op->held_bytes;
		out->passing_bytes = larger(out->passing_bytes, op->passing_bytes);
		if (again)
			out->exposed_backward += op->exposed_forward;
		if (op->overlaps && op->dimension == DIM_EP)
			add_alone(op, again, out);
		return;
	}
	out->forward += op->forward_seconds;
	out->input_grad += op->input_grad_seconds;
	out->weight_grad += op->weight_grad_seconds;
	out->flops += op->forward_flops;
	out->whole_bytes +=
		op->kept_bytes +
		(op->tiles > 1 ? op->saved_bytes / op->tiles : op->saved_bytes);
	out->saved_bytes += op->held_bytes;
	out->gemm_bytes = larger(out->gemm_bytes, op->trainable / op->groups);
	out->narrow += op->narrow_weights;
	add_weights(out, op);
	if (again) {
		out->recompute += op->forward_seconds;
		out->again_flops += op->forward_flops;
	}
}

/* torchtitan's per-op policy saves the layer's input, attention's output and every
 * second matrix product: half of the GEMM time comes again with the cheap operators
 * that its modules bit marks. */
static void per_op_policy(const struct graph_context *c, struct graph *graph,
			  struct layer_cost *out)
{
	const struct plan *plan = &c->scenario->plan;
	double input = c->norm_tokens * (double)c->scenario->model.hidden * c->width;

	if (graph->forward_only)
		return;
	/* the head is no layer */
	if (step_has_policy(plan)) {
		/* a scan over layers carries each one's input */
		out->saved_bytes += graph->item[0].makes != 0 ? input : 0;
		return;
	}
	if (plan->recompute != RECOMPUTE_SELECTIVE ||
	    !(plan->recompute_modules & 1u << MODULE_PER_OP) ||
	    graph->item[graph->count - 1].kind == OPERATOR_LOSS ||
	    graph->item[0].kind == OPERATOR_EMBEDDING)
		return;
	for (int i = 0; i < graph->count; i++) {
		struct graph_operator *op = &graph->item[i];
		double half = op->rows * op->columns * c->width / 2;

		if (op->kind != OPERATOR_GEMM)
			continue;
		out->saved_bytes += half - op->kept_bytes;
		op->held_bytes += half - op->kept_bytes;
		if (runs_again(c, graph, op))
			continue;
		op->again = 0.5;
		out->recompute += op->forward_seconds / 2;
		out->again_flops += op->forward_flops / 2;
	}
	/* the input of the second norm follows from what is saved */
	if (out->saved_bytes > input)
		out->saved_bytes -= input;
}

static void add_host(const struct graph_context *c, const struct graph *graph,
		     struct layer_cost *out)
{
	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];

		out->host_forward += op->host_forward;
		out->host_backward += op->host_backward + op->again * op->host_forward;
		out->wait_forward += op->until_seconds > 0 ? op->forward_seconds : 0;
	}
	out->host_forward *= c->launch_seconds;
	out->host_backward *= c->launch_seconds;
}

void layer_cost(const struct graph_context *c, struct graph *graph, bool full,
		struct layer_cost *out)
{
	const struct plan *plan = &c->scenario->plan;

	clear_bytes(out, sizeof *out);
	for (int i = 0; i < graph->count; i++) {
		if (graph->item[i].kind == OPERATOR_COLLECTIVE)
			expose_call(c, graph, &graph->item[i]);
		add_operator(c, graph, full, &graph->item[i], out);
	}
	per_op_policy(c, graph, out);
	out->forward_only = graph->forward_only;
	/* behind all that both compute, up to the share that the stack reaches */
	out->pairs_hide =
		lesser(out->pairs_hide,
		       c->scenario->stack.ep_overlap *
			       (out->forward + out->input_grad + out->weight_grad));
	out->gemm_bytes *= c->width;
	add_host(c, graph, out);
	/* a layer that is recomputed whole keeps its input alone */
	if (full)
		out->saved_bytes =
			c->norm_tokens * (double)c->scenario->model.hidden * c->width;
	if (full)
		out->sent_bytes = 0;
	out->host_bytes = out->saved_bytes * plan->activation_offload + out->sent_bytes;
	out->saved_bytes *= 1 - plan->activation_offload;
}

/* The collectives of one graph that runs `layers` times per micro-batch and GPU. */
static void add_traffic(const struct step *step, const struct graph *graph, bool full,
			double layers, struct estimate *out)
{
	const struct graph_context *c = &step->context;
	double runs = layers * (double)step->micro_batches;

	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];
		int calls = op->forward_calls + op->backward_calls;
		double exposed = op->exposed_forward + op->exposed_backward;
		double seconds = op->forward_seconds + op->input_grad_seconds;

		if (op->kind != OPERATOR_COLLECTIVE || calls == 0)
			continue;
		seconds /= calls;
		if (full || runs_again(c, graph, op)) {
			calls += op->forward_calls;
			exposed += op->exposed_forward;
		}
		step_traffic(out, op->name, op->dimension, op->collective, op->group,
			     runs * calls, op->payload_bytes,
			     &(struct collective){ .seconds = seconds,
						   .sent_bytes = op->sent_bytes,
						   .network_bytes = op->network_bytes,
						   .algorithm = op->algorithm,
						   .pieces = 1,
						   .call_bytes = op->call_bytes,
						   .remote_bytes = op->remote_bytes },
			     runs * exposed);
	}
}

/* Mix of whole recomputation on some of a stage's layers and none on the others. */
double step_recomputed_share(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;
	double layers = (double)scenario->model.layers / (double)plan->pp;

	if (plan->recompute != RECOMPUTE_FULL)
		return 0;
	if (plan->recompute_layers <= 0 || (double)plan->recompute_layers >= layers)
		return 1;
	return (double)plan->recompute_layers / layers;
}

static void mix(struct layer_cost *cost, const struct layer_cost *full, double share)
{
	cost->recompute += share * (full->recompute - cost->recompute);
	cost->exposed_backward +=
		share * (full->exposed_backward - cost->exposed_backward);
	cost->saved_bytes += share * (full->saved_bytes - cost->saved_bytes);
	cost->host_bytes += share * (full->host_bytes - cost->host_bytes);
	cost->again_flops += share * (full->again_flops - cost->again_flops);
	cost->host_backward += share * (full->host_backward - cost->host_backward);
}

/* The same again where nothing has changed that it reads. */
static void cost_once(const struct graph_context *c, struct graph *graph, int part,
		      bool full, struct part_costs *known, struct layer_cost *out)
{
	if (!known || !known->has[full][part]) {
		layer_cost(c, graph, full, out);
		if (!known)
			return;
		known->has[full][part] = true;
		known->cost[full][part] = *out;
	}
	*out = known->cost[full][part];
}

/* Of a kind of layers, the share that runs again whole in the backward. */
static double share_again(const struct step *step, const struct graph *graph)
{
	return graph->forward_only ? 0 : step_recomputed_share(step->scenario);
}

static void one_layer(struct step *step, struct graph *graph, int kind,
		      struct part_costs *known)
{
	struct layer_cost *cost = &step->kind[kind];
	double share = share_again(step, graph);

	cost_once(&step->context, graph, kind, false, known, cost);
	cost->trained = (cost->dense_trainable + cost->expert_trainable) /
			(cost->dense + cost->expert);
	if (share > 0) {
		struct layer_cost full;

		cost_once(&step->context, graph, kind, true, known, &full);
		mix(cost, &full, share);
	}
}

static void add_cost(struct layer_cost *to, const struct layer_cost *from)
{
	to->forward += from->forward;
	to->input_grad += from->input_grad;
	to->weight_grad += from->weight_grad;
	to->recompute += from->recompute;
	to->exposed_forward += from->exposed_forward;
	to->exposed_backward += from->exposed_backward;
	to->alone_forward += from->alone_forward;
	to->alone_backward += from->alone_backward;
	to->pairs_hide += from->pairs_hide;
	to->saved_bytes += from->saved_bytes;
	to->host_bytes += from->host_bytes;
	to->sent_bytes += from->sent_bytes;
	to->whole_bytes += from->whole_bytes;
	to->flops += from->flops;
	to->again_flops += from->again_flops;
	to->host_forward += from->host_forward;
	to->wait_forward += from->wait_forward;
	to->host_backward += from->host_backward;
	to->dense += from->dense;
	to->dense_trainable += from->dense_trainable;
	to->narrow += from->narrow;
	to->gemm_bytes = larger(to->gemm_bytes, from->gemm_bytes);
	to->passing_bytes = larger(to->passing_bytes, from->passing_bytes);
}

/* An MTP layer: a layer of the last kind, and what stands around it. */
static void mtp_layer(struct step *step, struct graph *graph, int part,
		      struct part_costs *known)
{
	struct layer_cost around;

	cost_once(&step->context, graph, part, false, known, &around);
	step->mtp = step->kind[model_mtp_kind(&step->scenario->model)];
	add_cost(&step->mtp, &around);
}

/* Parts behind the kinds of layers. */
enum { EMBEDDING, HEAD, MTP };

int step_parts(const struct model *model)
{
	return model->kinds + MTP + (model->mtp_layers > 0);
}

void step_draw(const struct graph_context *c, int part, struct graph *graph)
{
	int end = part - c->scenario->model.kinds;

	if (end < 0)
		graph_layer(c, part, graph);
	else if (end == EMBEDDING)
		graph_embedding(c, graph);
	else if (end == HEAD)
		graph_head(c, graph);
	else
		graph_mtp(c, graph);
}

void step_cost(struct step *step, int part, struct graph *graph,
	       struct part_costs *known)
{
	int end = part - step->scenario->model.kinds;
	struct layer_cost *cost = end == EMBEDDING ? &step->embedding : &step->head;

	if (end < 0)
		one_layer(step, graph, part, known);
	else if (end == MTP)
		mtp_layer(step, graph, part, known);
	else
		cost_once(&step->context, graph, part, false, known, cost);
}

void step_part_traffic(const struct step *step, int part, const struct graph *graph,
		       struct estimate *out)
{
	const struct model *m = &step->scenario->model;
	double stages = (double)step->stages, share, layers;
	int end = part - m->kinds;

	if (end >= 0) {
		add_traffic(step, graph, false,
			    end == MTP ? (double)m->mtp_layers / stages : 1 / stages,
			    out);
		return;
	}
	share = share_again(step, graph);
	layers = step->kind_layers[part] / stages;
	if (m->mtp_layers > 0 && part == model_mtp_kind(m))
		layers += (double)m->mtp_layers / stages;
	if (share < 1)
		add_traffic(step, graph, false, layers * (1 - share), out);
	if (share > 0)
		add_traffic(step, graph, true, layers * share, out);
}

void step_layers(struct step *step, struct estimate *out)
{
	int parts = step_parts(&step->scenario->model);
	int kinds = step->scenario->model.kinds;
	struct graph graph;

	model_kinds_layers(&step->scenario->model, step->kind_layers);
	for (int part = 0; part < parts; part++) {
		if (part > 0 && part < kinds)
			graph_next_layer(&step->context, part, &graph);
		else
			step_draw(&step->context, part, &graph);
		step_cost(step, part, &graph, NULL);
		step_part_traffic(step, part, &graph, out);
	}
}
