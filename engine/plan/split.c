/* split.c - which layers go to which stage and chunk? */
#include "engine/plan/split.h"

#include <string.h>

#include "engine/plan/split_balance.h"
#include "engine/plan/split_layout.h"
#include "engine/schedule/schedule.h"

static int64_t whole_chunks(const struct layout *layout, int64_t pp)
{
	return pp > 0 && layout->stages % pp == 0 ? layout->stages / pp : 0;
}

int64_t split_chunks(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;
	struct layout layout;

	if (plan->split != SPLIT_CUSTOM)
		return schedule_chunks(plan->schedule, plan->pp, plan->vpp);
	return layout_parse(plan->layout, &layout, NULL, 0)
		       ? whole_chunks(&layout, plan->pp)
		       : 0;
}

void split_count(const struct model *model, const struct split *split, int k,
		 int16_t *count)
{
	int from = split->first[k], to = split->first[k + 1];

	if (model->kinds == 1) {
		count[0] = (int16_t)(to - from);
		return;
	}
	memset(count, 0, (size_t)model->kinds * sizeof *count);
	for (int i = from, end; i < to; i = end) {
		int kind = model->layer[i];

		for (end = i; end < to; end++)
			if (model->layer[end] != kind)
				break;
		count[kind] = (int16_t)(count[kind] + end - i);
	}
}

/* The same number everywhere, where embedding and loss may count as layers. */
static bool split_even(const struct scenario *scenario, struct split *out)
{
	const struct plan *plan = &scenario->plan;
	int64_t stages = out->virtual_stages;
	int64_t before = plan->split_embedding ? 1 : 0;
	int64_t slots = scenario->model.layers + before + (plan->split_loss ? 1 : 0);
	int64_t each = slots / stages;

	if (slots % stages != 0)
		return false;
	out->first[0] = 0;
	for (int64_t k = 1; k < stages; k++)
		out->first[k] = (int16_t)(k * each - before);
	out->first[stages] = (int16_t)scenario->model.layers;
	return true;
}

/* A stage ends with the layer at which the weights so far, the head's included, reach
 * its share (nanotron's build_model). */
static bool split_by_weights(const struct scenario *scenario, struct split *out)
{
	const struct model *model = &scenario->model;
	double head = (double)model->vocab * (double)model->hidden, total = head,
	       sum = 0;
	double weights[MAX_LAYER_KINDS] = { 0 };
	struct layer_counts counts;
	int k = 0;

	for (int i = 0; i < model->kinds; i++) {
		model_count_layer(model, &model->kind[i], &counts);
		weights[i] = counts.active;
	}
	for (int i = 0; i < model->layers; i++)
		total += weights[model->layer[i]];
	out->first[0] = 0;
	for (int i = 0; i < model->layers; i++) {
		sum += weights[model->layer[i]];
		while (k < out->virtual_stages - 1 &&
		       sum >= total * (k + 1) / out->virtual_stages)
			out->first[++k] = (int16_t)(i + 1);
	}
	while (k < out->virtual_stages)
		out->first[++k] = (int16_t)model->layers;
	return true;
}

int split_resolve(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;
	int64_t stages = plan->pp * split_chunks(scenario);
	int64_t slots = scenario->model.layers + (plan->split_embedding ? 1 : 0) +
			(plan->split_loss ? 1 : 0);

	if (plan->split != SPLIT_AUTO ||
	    scenario->stack.split_rule == SPLITS_BY_WEIGHTS)
		return plan->split;
	return stages > 0 && slots % stages == 0 ? SPLIT_EVEN : SPLIT_BALANCED;
}

bool split_is_even(const struct scenario *scenario, const struct split *split)
{
	size_t entries = (size_t)split->virtual_stages + 1;
	struct split even;

	even.virtual_stages = split->virtual_stages;
	return split_even(scenario, &even) &&
	       memcmp(even.first, split->first, entries * sizeof even.first[0]) == 0;
}

/* Given counts for the first and last pipeline stage, the same for the others;
 * each stage's layers spread evenly over its chunks, as Megatron does. */
static bool split_first_last(const struct scenario *scenario, int chunks,
			     struct split *out)
{
	const struct plan *plan = &scenario->plan;
	int64_t pp = plan->pp, layers = scenario->model.layers;
	int64_t first = plan->first_stage_layers, last = plan->last_stage_layers;
	int64_t others = pp - (first > 0) - (last > 0), left = layers - first - last;
	int64_t each, at = 0;

	if (first < 0 || last < 0 || left < 0)
		return false;
	each = others > 0 ? left / others : 0;
	first = first > 0 ? first : each;
	last = last > 0 ? last : each;
	for (int64_t k = 0; k < out->virtual_stages; k++) {
		int64_t place = k % pp;

		out->first[k] = (int16_t)at;
		at += (place == 0 ? first : place == pp - 1 ? last : each) / chunks;
	}
	out->first[out->virtual_stages] = (int16_t)at;
	/* what does not divide is left over */
	return at == layers;
}

/* Counts, and the ends where they are unless a layout says otherwise. */
static bool start_split(const struct scenario *scenario, int64_t chunks,
			struct split *out)
{
	const struct model *model = &scenario->model;
	const struct plan *plan = &scenario->plan;

	if (chunks < 1 || chunks > MAX_CHUNKS || plan->pp < 1 ||
	    plan->pp > MAX_STAGES || plan->pp * chunks > MAX_VIRTUAL ||
	    model->layers < 1 || model->layers > MAX_LAYERS || model->kinds < 1)
		return false;
	out->virtual_stages = (int)(plan->pp * chunks);
	out->embedding_stage = 0;
	out->head_stage = out->mtp_stage = (int16_t)(out->virtual_stages - 1);
	return true;
}

static bool split_custom(const struct scenario *scenario, struct split *out)
{
	const struct model *model = &scenario->model;
	struct layout layout;
	int at = 0;

	if (!layout_parse(scenario->plan.layout, &layout, NULL, 0) ||
	    layout.total != model->layers || layout.mtp_layers != model->mtp_layers ||
	    !start_split(scenario, whole_chunks(&layout, scenario->plan.pp), out))
		return false;
	for (int k = 0; k < layout.stages; k++) {
		out->first[k] = (int16_t)at;
		at += layout.layers[k];
	}
	out->first[layout.stages] = (int16_t)at;
	out->embedding_stage = layout.embedding_stage;
	out->head_stage = layout.head_stage;
	if (layout.mtp_stage >= 0)
		out->mtp_stage = layout.mtp_stage;
	return true;
}

bool split_layers(const struct scenario *scenario, const double *weights,
		  struct split *out)
{
	const struct plan *plan = &scenario->plan;

	if (plan->split == SPLIT_CUSTOM)
		return split_custom(scenario, out);
	if (!start_split(scenario, split_chunks(scenario), out))
		return false;
	switch (plan->split) {
	case SPLIT_EVEN: return split_even(scenario, out);
	case SPLIT_FIRST_LAST:
		return split_first_last(scenario, out->virtual_stages / (int)plan->pp,
					out);
	case SPLIT_BALANCED:
	case SPLIT_BALANCED_MEMORY: return split_balance(scenario, weights, out);
	default:
		if (scenario->stack.split_rule == SPLITS_BY_WEIGHTS)
			return split_by_weights(scenario, out);
		return split_even(scenario, out) ||
		       split_balance(scenario, weights, out);
	}
}

bool split_by_memory(const struct scenario *scenario, const double *weights,
		     const struct split_cost *cost, struct split *out)
{
	return start_split(scenario, split_chunks(scenario), out) &&
	       split_memory(scenario, weights, cost, out);
}
