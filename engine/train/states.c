/* states.c - see states.h. */
#include "engine/train/states.h"

#include "engine/graph/graph.h"
#include "engine/plan/mesh.h"

/* Either word means: as they are multiplied. */
static bool stores_narrow(const struct plan *plan)
{
	return plan->weight_format == WEIGHTS_FP8 || plan->weight_format == WEIGHTS_FP4;
}

/* Scales per 32 or 16 elements run along rows or along columns, and both are stored
 * (Transformer Engine, MXFP8Tensor and NVFP4Tensor). */
static double narrow_bytes(const struct plan *plan)
{
	double one = graph_operand_value(plan->precision, 2);

	return plan->precision > PRECISION_FP8 ? 2 * one : one;
}

/* Frozen weights in fp4 replace those of 16 bits before the first step, in both layouts
 * where products take them as they are (mlcommons/training_results_v5.1, Dell,
 * llama2_70b_lora, custom_callbacks.py). */
static double frozen_bytes(const struct plan *plan)
{
	double wide = plan->precision == PRECISION_FP32 ? 4 : 2;
	const double each[FROZEN_FORMAT_COUNT] = {
		[FROZEN_WIDE] = wide,
		[FROZEN_FP8] = 1,
		[FROZEN_NF4] = graph_nf4_bytes(),
		[FROZEN_INT4] = precision_table[PRECISION_INT4].weight_bytes,
		[FROZEN_NVFP4] = plan->precision == PRECISION_NVFP4
					 ? narrow_bytes(plan)
					 : graph_operand_value(PRECISION_NVFP4, 2),
	};

	return each[plan->frozen_format];
}

double step_layer_weight_bytes(const struct plan *plan)
{
	bool narrow =
		plan->precision >= PRECISION_FP8 && plan->precision <= PRECISION_NVFP4;

	if (plan->lora_rank > 0)
		return frozen_bytes(plan);
	if (narrow && stores_narrow(plan))
		return narrow_bytes(plan);
	return plan->precision == PRECISION_FP32 ? 4 : 2;
}

double states_wide_weights(const struct model *model)
{
	double sum = 0;

	for (int k = 0; k < model->kinds; k++) {
		struct layer_counts counts;

		if (!model->kind[k].wide)
			continue;
		model_count_layer(model, &model->kind[k], &counts);
		sum += (double)model_kind_layers(model, k) * counts.total;
	}
	return sum;
}

/* Mean of the layers' weights of so many bytes and those of the ends and some layers,
 * which stay wide. */
static double mean_bytes(const struct scenario *scenario, double layer)
{
	double wide = scenario->plan.precision == PRECISION_FP32 ? 4 : 2;
	struct model_counts counts;
	double ends;

	if (layer == wide)
		return wide;
	model_count(&scenario->model, &counts);
	ends = (counts.embedding + counts.head +
		states_wide_weights(&scenario->model)) /
	       counts.total;
	return layer * (1 - ends) + wide * ends;
}

double step_weight_bytes(const struct scenario *scenario)
{
	return mean_bytes(scenario, step_layer_weight_bytes(&scenario->plan));
}

/* Weights in mxfp8 go round in 16 bits, through the buffer of the gradients (Megatron
 * Core, reuse_grad_buf_for_mxfp8_param_ag).
 * Of fp4 one layout goes round: the other is made of it on each rank, and the scales of
 * the maxima of all (NVIDIA/TransformerEngine@d0067d0, pytorch/tensor/utils.py,
 * _cast_master_weights_to_nvfp4_2d). */
double states_trained_bytes(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	if (plan->lora_rank > 0)
		return plan->precision == PRECISION_FP32 ? 4 : 2;
	if (stores_narrow(plan) && plan->precision == PRECISION_MXFP8 && plan->zero < 3)
		return 2;
	return stores_narrow(plan) && plan->precision == PRECISION_NVFP4
		       ? mean_bytes(scenario, 0.5)
		       : step_weight_bytes(scenario);
}

double step_gradient_bytes(const struct scenario *scenario)
{
	bool wide = scenario->plan.precision == PRECISION_FP32 ||
		    scenario->plan.grad_dtype == GRAD_FP32;

	return wide ? 4 : 2;
}

double step_sent_bytes(const struct scenario *scenario)
{
	double sent = scenario->stack.reduced_bytes;

	return sent > 0 && scenario->plan.precision != PRECISION_FP32
		       ? sent
		       : step_gradient_bytes(scenario);
}

double step_moment_bytes(const struct habits *habits, enum optimizer optimizer)
{
	const double moments[OPTIMIZER_COUNT] = {
		[OPTIMIZER_ADAMW] = 8,
		[OPTIMIZER_ADAMW_8BIT] = 2,
		[OPTIMIZER_ADAMW_BF16] = 4,
		[OPTIMIZER_ADAFACTOR] = habits->factored_bytes,
		[OPTIMIZER_MUON] = 4,
		[OPTIMIZER_SGD] = 4,
	};

	return moments[optimizer];
}

static double moments_of(const struct scenario *scenario)
{
	return step_moment_bytes(&scenario->stack.habits,
				 (enum optimizer)scenario->plan.optimizer);
}

double step_master_rest(const struct scenario *scenario)
{
	return states_master_rest_value(scenario->stack.splits_master,
					scenario->plan.optimizer,
					scenario->plan.master_weights);
}

double step_master_bytes(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return states_master_value(plan->precision, plan->master_weights,
				   step_master_rest(scenario), plan->optimizer_offload,
				   plan->weight_format, (double)plan->lora_rank);
}

/* Master weight and moments per trained parameter (cost-formulas 2.7). */
double step_optimizer_bytes(const struct scenario *scenario)
{
	return step_master_bytes(scenario) + moments_of(scenario);
}

double step_stepped_bytes(const struct scenario *scenario)
{
	return states_stepped_value(step_master_bytes(scenario),
				    scenario->plan.precision,
				    scenario->plan.master_weights);
}

double states_moved_bytes(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return states_moved_value(moments_of(scenario), step_stepped_bytes(scenario),
				  plan->optimizer);
}

double states_host_moved_bytes(const struct scenario *scenario)
{
	return states_host_moved_value(moments_of(scenario),
				       step_stepped_bytes(scenario),
				       step_gradient_bytes(scenario));
}

double states_host_seconds(const struct scenario *scenario)
{
	const struct cluster *c = &scenario->cluster;
	double rate =
		states_host_rate_value(c->host_memory_bytes_per_second,
				       cluster_host_shares(c), cluster_host_rate(c));

	return rate > 0 ? states_host_moved_bytes(scenario) / rate : 0;
}

bool states_stay_whole(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return plan->pp > 1 && ((plan->zero == 3 && !plan->fsdp_reshard) ||
				(plan->zero >= 2 && scenario->stack.torch_stages));
}

bool states_gradients_follow(const struct scenario *scenario)
{
	return scenario->stack.offloads_gradients && scenario->plan.zero >= 2;
}

void states_shards(const struct scenario *scenario, struct shards *out)
{
	const struct plan *plan = &scenario->plan;
	int64_t copies = mesh_copies(scenario), dp = scenario_dp(scenario);
	int64_t edp = scenario->model.moe.experts > 0 ? scenario_edp(scenario) : 1;

	/* degrees that do not divide the ranks leave none */
	dp = dp > 1 ? dp : 1;
	edp = edp > 1 ? edp : 1;
	states_share(plan, dp * plan->cp * copies, edp * copies, out);
	out->replicated = dp * copies > 1;
}

/* What a rank of so many holds of the bytes of whole states. */
static void share_out(const struct scenario *scenario,
		      const struct weight_states *whole, int64_t ranks,
		      struct weight_states *out)
{
	const struct plan *plan = &scenario->plan;
	double share = 1 / (double)ranks;

	out->weight = whole->weight * (plan->zero >= 3 ? share : 1);
	out->gradient = whole->gradient * (plan->zero >= 2 ? share : 1);
	out->optimizer = whole->optimizer * (plan->zero >= 1 ? share : 1);
	out->host = whole->host * (plan->zero >= 1 ? share : 1);
	if (states_gradients_follow(scenario))
		out->gradient *= 1 - plan->optimizer_offload;
	/* whole, and summed in fp32 */
	if (states_stay_whole(scenario))
		out->gradient = 4;
}

void states_bytes(const struct scenario *scenario, const struct shards *shards,
		  struct states *out)
{
	const struct plan *plan = &scenario->plan;
	const struct weight_states whole = {
		.weight = step_weight_bytes(scenario),
		.gradient = step_gradient_bytes(scenario),
		.optimizer = step_optimizer_bytes(scenario),
		.host = states_on_host_value(step_optimizer_bytes(scenario),
					     plan->master_weights, plan->precision),
	};

	share_out(scenario, &whole, shards->dense, &out->dense);
	share_out(scenario, &whole, shards->expert, &out->expert);
	/* fp16 with its loss scaling sums in 16 bit: its copy is in the sum */
	out->sync_copy = plan->zero < 3 && shards->replicated &&
					 plan->precision != PRECISION_FP16
				 ? scenario->stack.sync_copy_bytes
				 : 0;
}
