/* predict.c - see predict.h. */
#include "engine/predict/predict.h"

#include "engine/serve/serve.h"
#include "engine/train/train.h"

void scenario_estimate(const struct scenario *scenario, struct estimate *out)
{
	if (scenario->plan.mode == MODE_INFERENCE)
		serve_estimate(scenario, out);
	else
		train_estimate(scenario, out);
}

void scenario_figures(const struct scenario *scenario, struct estimate *out)
{
	if (scenario->plan.mode == MODE_INFERENCE)
		serve_figures(scenario, 0, out);
	else
		train_figures(scenario, out);
}
