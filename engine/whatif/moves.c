/* moves.c - which numbers turning a knob moves. */
#include <math.h>

#include "engine/predict/predict.h"
#include "engine/whatif/whatif.h"

/* What a person watches, of training and of a server. */
static const char *const watched[] = {
	"total_bytes",
	"weights_bytes",
	"gradients_bytes",
	"optimizer_bytes",
	"activations_bytes",
	"kv_bytes",
	"max_concurrency",
	"host_bytes",
	"ttft_seconds",
	"tpot_seconds",
	"step_seconds",
	"compute_seconds",
	"exposed_seconds",
	"bubble_seconds",
	"optimizer_seconds",
	"tokens_per_second_per_gpu",
	"mfu",
	"output_tokens_per_second_per_gpu",
	"goodput_tokens_per_second",
	"goodput",
	"run_seconds",
	"run_dollars",
	"run_joules",
	"dollars_per_million_tokens",
	"joules_per_token",
};

int whatif_moves(const struct scenario *scenario, const struct knob *knob, double value,
		 const struct estimate *now, struct estimate *scratch,
		 struct whatif_move out[MAX_WHATIF_MOVES])
{
	struct scenario turned = *scenario;
	int count = 0;

	scratch->problems.count = 0;
	if (!knob_set(&turned, knob, value))
		return -1;
	scenario_estimate(&turned, scratch);
	if (!scratch->legal || !now->legal || turned.plan.mode != scenario->plan.mode)
		return -1;
	for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
		const struct metric *metric = metric_find(watched[i]);
		double before = metric_get(now, metric);
		double after = metric_get(scratch, metric);

		if (!(metric->modes >> turned.plan.mode & 1) ||
		    count == MAX_WHATIF_MOVES)
			continue;
		if (fabs(after - before) >= 0.01 * fmax(fabs(before), fabs(after)) &&
		    after != before)
			out[count++] = (struct whatif_move){ metric, before, after };
	}
	return count;
}
