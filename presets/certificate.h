/* certificate.h - the proof of a search as a file: the question, the answer and the
 * boxes of engine/planner/certify.h, line by line. */
#ifndef PRESETS_CERTIFICATE_H
#define PRESETS_CERTIFICATE_H

#include "engine/planner/planner.h"
#include "presets/error.h"

/* What `planner` found of the problem, which it searched to its end. */
bool certificate_save(const char *path, const struct planner_problem *problem,
		      const struct planner *planner,
		      const struct planner_result *result, struct error *error);

#endif
