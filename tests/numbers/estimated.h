/* estimated.h - what estimates of both modes have. */
#ifndef TESTS_NUMBERS_ESTIMATED_H
#define TESTS_NUMBERS_ESTIMATED_H

#include "engine/estimate/estimate.h"
#include "tests/numbers/figures.h"

void figures_findings(struct figures *out, const char *key,
		      const struct findings *findings);
void figures_metrics(struct figures *out, const struct estimate *estimate, int mode);
void figures_stages(struct figures *out, const struct estimate *estimate);
void figures_traffic(struct figures *out, const struct traffic *list, int count);
/* All figures of a scenario of training, of a server, and of 60 requests to it. */
void figures_trained(const struct scenario *scenario, struct figures *out);
void figures_served(const struct scenario *scenario, struct figures *out);
void figures_queued(const struct scenario *scenario, struct figures *out);
/* Pages of Explain that next() of random.h picks; scores of the drawn runs of that
 * number. */
void figures_explained(const struct scenario *scenario, const struct estimate *estimate,
		       struct figures *out);
void figures_scored(uint64_t number, struct figures *out);
/* Rows of tables; false where there is none of that title. */
bool figures_of_table(const char *title, struct figures *out);

#endif
