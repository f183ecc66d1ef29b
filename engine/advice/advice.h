/* advice.h - what would an expert say? Rules M1-M20 and T1-T36 with numbers. */
#ifndef ENGINE_ADVICE_H
#define ENGINE_ADVICE_H

#include "engine/estimate/estimate.h"
#include "engine/knob/finding.h"

/* The advice for a legal scenario, most valuable first. */
void advice_give(const struct scenario *scenario, const struct estimate *estimate,
		 struct findings *out);

/* Every rule of legality and advice, one after the other; NULL beyond the last. Codes
 * of a legality rule may come more than once. */
const struct rule *rule_at(int index);

#endif
