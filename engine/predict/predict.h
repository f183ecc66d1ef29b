/* predict.h - the estimate of a scenario, whatever its mode. */
#ifndef ENGINE_PREDICT_H
#define ENGINE_PREDICT_H

#include "engine/estimate/estimate.h"

/* The estimate of the scenario's mode: train_estimate() or serve_estimate(). */
void scenario_estimate(const struct scenario *scenario, struct estimate *out);
/* The same without what would mend its problems, and of training without the list of
 * traffic, for who looks at many plans. */
void scenario_figures(const struct scenario *scenario, struct estimate *out);

#endif
