/* legality.h - can this scenario run at all? */
#ifndef ENGINE_RULES_LEGALITY_H
#define ENGINE_RULES_LEGALITY_H

#include "engine/knob/finding.h"
#include "engine/plan/scenario.h"

/* Every legality rule of the chosen stack, errors first, with the nearest values
 * that break nothing else. Returns the number of errors (warnings apart); 0 means
 * that the plan can run. findings may be NULL: then it stops at the first error. */
int scenario_check(const struct scenario *scenario, struct findings *findings);
/* The same in two steps: the rules that are broken, then the values that would mend
 * them, which take longer to find than all the rest of an estimate may. Findings behind
 * the rules' own stay as they are. */
int scenario_problems(const struct scenario *scenario, struct findings *findings);
void scenario_mend(const struct scenario *scenario, struct findings *findings);
/* The first error alone, without values that would mend it: those take longer to find
 * than an estimate does. False: there is none. */
bool scenario_first_problem(const struct scenario *scenario, struct finding *out);

#endif
