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
	step->pipeline.send_seconds = step->send.seconds;
}

/* Forward and backward over every cut; a stage sends (cuts / stages) on average. What
 * holds a stage is exposed; waiting beside computation is idle time of the pipeline. */
static void send_traffic(const struct step *step, struct estimate *out)
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
		exposed += step->result.transfer[i];
	step_traffic(out, "stage to stage", DIM_PP, COLLECTIVE_SEND,
		     &step->mesh.pp_group, each, step->send_bytes, &step->send,
		     exposed / (double)step->stages);
}

/* What pairs of a forward and a backward hid: the stages were busy that much less. The
 * list of traffic still has what every layer would hide by itself. */
static void hide_in_pairs(struct step *step, struct estimate *out)
{
	double m = (double)step->micro_batches, more = 0;

	for (int i = 0; i < step->stages; i++) {
		double each =
			step->work[i].forward_seconds + step->work[i].backward_seconds;
		double hidden = m * each - step->result.busy[i];

		hidden = lesser(larger(hidden, 0), step->work[i].exposed_seconds);
		step->work[i].exposed_seconds -= hidden;
		more += (m * step->work[i].alone_seconds - hidden) / step->stages;
	}
	step_expose_traffic(out, DIM_EP, more);
}

bool step_split(struct step *step)
{
	const struct plan *plan = &step->scenario->plan;
	double weights[MAX_LAYER_KINDS + 3];

	split_weights(step, weights);
	step->pipeline.stages = step->stages;
	step->pipeline.chunks = step->chunks;
	step->pipeline.micro_batches = step->micro_batches;
	step->pipeline.schedule = plan->schedule;
	step->pipeline.group = plan->micro_batch_group;
	step->pipeline.overlap_send = plan->overlap_p2p;
	step->pipeline.optimizer_sync = plan->optimizer_sync;
	step->pipeline.weighed = false;
	step->pipeline.enough = 0;
	step->pipeline.hides = step_hides_in_pairs(step->scenario);
	if (plan->split == SPLIT_BALANCED_MEMORY)
		return step_split_memory(step, weights);
	return split_layers(step->scenario, weights, &step->split);
}

void step_fill(struct step *step, struct estimate *out)
{
	send_cost(step);
	step_chunks(step, out);
}

void step_pipeline(struct step *step, struct estimate *out)
{
	step_fill(step, out);
	pipeline_step(&step->pipeline, &step->result);
	send_traffic(step, out);
	if (step->pipeline.hides)
		hide_in_pairs(step, out);
}
