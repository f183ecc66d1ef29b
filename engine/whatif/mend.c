/* mend.c - the way out of a plan that can't run or does not fit. */
#include <stdio.h>
#include <string.h>

#include "engine/base/form.h"
#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "engine/train/train.h"
#include "engine/whatif/whatif.h"

void whatif_gpus(const struct scenario *scenario, struct estimate *scratch,
		 struct whatif_gpus *out)
{
	enum { MOST_STEPS = 1 << 16, MOST_GPUS = 1 << 24 };
	const struct plan *plan = &scenario->plan;
	struct scenario trial = *scenario;
	int64_t step = scenario_smallest_world(scenario);
	int64_t most = plan->micro_batch > 0 ? plan->global_batch / plan->micro_batch *
						       plan->tp * plan->cp * plan->pp
					     : 0;

	*out = (struct whatif_gpus){ .degrees = step };
	if (plan->mode != MODE_TRAINING) /* replicas, whatever the batch */
		most = step * 64;
	if (step < 1 || step > MOST_GPUS)
		return;
	if (most > MOST_GPUS)
		most = MOST_GPUS;
	for (int64_t i = 1; i <= MOST_STEPS && i * step <= most; i++) {
		trial.cluster.gpus = i * step;
		if (scenario_check(&trial, NULL) != 0)
			continue;
		if (out->legal == 0)
			out->legal = i * step;
		scenario_figures(&trial, scratch);
		if (scratch->fits) {
			out->fits = i * step;
			break;
		}
	}
}

bool whatif_best(const struct scenario *scenario, const struct knob *knob,
		 struct estimate *scratch, struct whatif_mend *out)
{
	struct whatif strip;

	*out = (struct whatif_mend){ .knob = knob };
	whatif_knob(scenario, knob, scratch, &strip);
	for (int i = 0; i < strip.count; i++) {
		const struct whatif_value *v = &strip.item[i];

		if (i == strip.present || !v->legal || !v->fits || v->lacks ||
		    v->tokens_per_second_per_gpu <= out->tokens_per_second_per_gpu)
			continue;
		out->value = v->value;
		out->tokens_per_second_per_gpu = v->tokens_per_second_per_gpu;
		out->memory_bytes = v->memory_bytes;
	}
	return out->tokens_per_second_per_gpu > 0;
}

int whatif_mends(const struct scenario *scenario, struct estimate *scratch,
		 struct whatif_mend out[MAX_WHATIF_MENDS])
{
	/* not what is trained (batch, sequence, precision), only how */
	static const char *const keys[] = { "tp",
					    "pp",
					    "cp",
					    "ep",
					    "etp",
					    "zero",
					    "mbs",
					    "recompute",
					    "sp",
					    "optimizer_offload",
					    "activation_offload" };
	int count = 0;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct knob *knob = knob_find(keys[i]);
		struct whatif_mend mend;
		int at;

		if (!knob || !knob_applies(scenario, knob) ||
		    !whatif_best(scenario, knob, scratch, &mend))
			continue;
		for (at = count; at > 0 && out[at - 1].tokens_per_second_per_gpu <
						   mend.tokens_per_second_per_gpu;
		     at--)
			if (at < MAX_WHATIF_MENDS)
				out[at] = out[at - 1];
		if (at < MAX_WHATIF_MENDS)
			out[at] = mend;
		if (count < MAX_WHATIF_MENDS)
			count++;
	}
	return count;
}

void whatif_cost(const struct scenario *scenario, const struct knob *knob, double value,
		 struct estimate *scratch, struct whatif_cost *out)
{
	struct scenario trial = *scenario;
	bool serves = scenario->plan.mode == MODE_INFERENCE;

	*out = (struct whatif_cost){ .value = value };
	if (!knob || !knob_set(&trial, knob, value))
		return;
	scenario_figures(&trial, scratch);
	out->knob = knob;
	out->legal = scratch->legal;
	out->fits = scratch->feasible;
	if (!scratch->legal)
		return;
	out->memory_bytes = scratch->memory.total_bytes;
	out->tokens_per_second_per_gpu =
		serves ? scratch->serving.output_tokens_per_second_per_gpu
		       : scratch->tokens_per_second_per_gpu;
}

size_t whatif_cost_text(const struct whatif_cost *cost, char *out, size_t size)
{
	char bytes[32];
	int length;

	form_text(FORM_BYTES, cost->memory_bytes, bytes, sizeof bytes);
	if (!cost->legal)
		length = snprintf(out, size, "breaks another rule");
	else if (!cost->fits)
		length = snprintf(out, size, "does not fit, %s", bytes);
	else
		length = snprintf(out, size, "%.0f tok/s per GPU, %s",
				  cost->tokens_per_second_per_gpu, bytes);
	return length > 0 ? (size_t)length : 0;
}
