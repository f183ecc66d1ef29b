/* stages.c - which layers go where, and the pipeline over them. */
#include "engine/base/plain.h"
#include "engine/collective/collective.h"
#include "engine/schedule/schedule.h"
#include "engine/train/step.h"

/* The slower of GPU and host, each way. */
static double layer_seconds(const struct layer_cost *cost)
{
	return larger(cost->forward + cost->exposed_forward, cost->host_forward) +
	       larger(cost->input_grad + cost->weight_grad + cost->recompute +
			      cost->exposed_backward,
		      cost->host_backward);
}

/* Relative work per kind, embedding, head and MTP, for balanced splits. */
static void split_weights(const struct step *step, double *weights)
{
	const struct model *m = &step->scenario->model;
	int n = 0;

	for (int k = 0; k < m->kinds; k++)
		weights[n++] = layer_seconds(&step->kind[k]);
	weights[n++] = step->embedding.forward + step->embedding.input_grad;
	weights[n++] =
		step->head.forward + step->head.input_grad + step->head.weight_grad;
	weights[n] = m->mtp_layers > 0 ? step->mtp.forward + step->mtp.input_grad +
						 step->mtp.weight_grad
				       : 0;
}

double step_message_bytes(const struct step *step)
{
	return step->context.norm_tokens * (double)step->scenario->model.hidden *
	       step->context.width;
}

/* One transfer between neighbouring stages. */
static void send_cost(struct step *step)
{
	const struct scenario *s = step->scenario;

	step->send_bytes = step_message_bytes(step);
	clear_bytes(&step->join, sizeof step->join);
	step->join_seconds = 0;
	if (!s->plan.sp && s->stack.scatters_sends && step->stages > 1) {
		collective_cost(&step->context.fabric, &step->mesh.tp_group,
				COLLECTIVE_ALL_GATHER, step->send_bytes, &step->join);
		step->send_bytes /= (double)step->mesh.tp;
		step->join_seconds =
			step->join.seconds *
			schedule_cuts(s->plan.schedule, step->stages, step->chunks) /
			(double)(step->stages * step->chunks - 1);
	}
	collective_cost(&step->context.fabric, &step->mesh.pp_group, COLLECTIVE_SEND,
			step->send_bytes, &step->send);
}

/* Forward and backward over every cut; a stage sends (cuts / stages) on average. What
 * holds a stage is exposed; waiting beside computation is idle time of the pipeline. */
static void send_traffic(const struct step *step, const double *transfer,
			 struct estimate *out)
{
	double cuts = schedule_cuts(step->scenario->plan.schedule, step->stages,
				    step->chunks);
	double each = 2 * (double)step->micro_batches * cuts / (double)step->stages;
	double exposed = 0;

	if (step->stages < 2)
		return;
	if (step->join.seconds > 0)
		step_traffic(out, "join messages", DIM_TP, COLLECTIVE_ALL_GATHER,
			     &step->mesh.tp_group, each,
			     step->send_bytes * (double)step->mesh.tp, &step->join,
			     each * step->join.seconds);
	for (int i = 0; i < step->stages; i++)
		exposed += transfer[i];
	step_traffic(out, "stage to stage", DIM_PP, COLLECTIVE_SEND,
		     &step->mesh.pp_group, each, step->send_bytes, &step->send,
		     exposed / (double)step->stages);
}

/* What pairs of a forward and a backward hid: the stages were busy that much less. The
 * list of traffic still has what every layer would hide by itself. */
static void hide_in_pairs(const struct step *step, const double *busy,
			  struct stage_load *load, struct estimate *out)
{
	double m = (double)step->micro_batches, more = 0;

	for (int i = 0; i < step->stages; i++) {
		struct stage_work *work = &load[i].work;
		double each = work->forward_seconds + work->backward_seconds;
		double hidden = m * each - busy[i];

		hidden = lesser(larger(hidden, 0), work->exposed_seconds);
		work->exposed_seconds -= hidden;
		more += (m * work->alone_seconds - hidden) / step->stages;
	}
	step_expose_traffic(out, DIM_EP, more);
}

/* All that a pipeline is asked but for times. */
static void ask_pipeline(const struct step *step, struct pipeline_input *out)
{
	const struct plan *plan = &step->scenario->plan;

	out->stages = step->stages;
	out->chunks = step->chunks;
	out->micro_batches = step->micro_batches;
	out->schedule = plan->schedule;
	out->group = plan->micro_batch_group;
	out->overlap_send = plan->overlap_p2p;
	out->optimizer_sync = plan->optimizer_sync;
	out->weighed = false;
	out->enough = 0;
	out->hides = step_hides_in_pairs(step->scenario);
}

bool step_split(struct step *step, struct pipeline_input *pipeline,
		struct pipeline_result *result)
{
	double weights[MAX_LAYER_KINDS + 3];

	split_weights(step, weights);
	ask_pipeline(step, pipeline);
	if (step->scenario->plan.split == SPLIT_BALANCED_MEMORY)
		return step_split_memory(step, weights, pipeline, result);
	return split_layers(step->scenario, weights, &step->split);
}

void step_fill(struct step *step, struct stage_load *load,
	       struct pipeline_input *pipeline, struct estimate *out)
{
	send_cost(step);
	pipeline->send_seconds = step->send.seconds;
	step_chunks(step, load, pipeline, out);
}

void step_pipeline(struct whole_step *whole, struct estimate *out)
{
	const struct pipeline_result *result = &whole->result;

	step_fill(&whole->step, whole->load, &whole->pipeline, out);
	pipeline_step(&whole->pipeline, &whole->result);
	send_traffic(&whole->step, result->transfer, out);
	if (whole->pipeline.hides)
		hide_in_pairs(&whole->step, result->busy, whole->load, out);
}
