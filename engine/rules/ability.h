/* ability.h - does the stack have what the plan asks of it? See
 * engine/machine/ability.h for the sheet. */
#ifndef ENGINE_RULES_ABILITY_H
#define ENGINE_RULES_ABILITY_H

#include "engine/knob/finding.h"
#include "engine/knob/knob.h"
#include "engine/plan/scenario.h"

/* One thing that the stack lacks. */
struct lack {
	const struct ability *row; /* of the scenario's stack */
	const struct knob *knob;   /* NULL: it does not run on such an accelerator */
	double value; /* the plan's; of a set those members alone that are missing */
	int nearest_count;
	double nearest[MAX_NEAREST]; /* values that it has, and that are legal here */
	const char *stack; /* that is usual on the machine, where it is another; NULL */
};

struct lacks {
	int count;
	struct lack item[MAX_ABILITIES + 1];
};

/* The rule that stands for all of them: code C1. */
const struct rule *ability_rule(void);

/* Whether the stack has what this row speaks of; a knob that does nothing in the
 * scenario asks for nothing. */
bool ability_lacks(const struct scenario *scenario, const struct ability *row);
/* Whether the stack runs on the scenario's accelerators, as far as both files say. */
bool stack_runs(const struct scenario *scenario);
/* All that the stack lacks, the machine first; points into the scenario. out may be
 * NULL, then it stops at the first. Returns how many. */
int scenario_lacks(const struct scenario *scenario, struct lacks *out);
/* Fills `nearest` of one item. */
void lack_mend(const struct scenario *scenario, struct lack *lack);
/* "deepspeed has no zero 3 with pp 4", "megatron-core does not run on tpu-v5p". */
size_t lack_text(const struct scenario *scenario, const struct lack *lack, char *out,
		 size_t size);
/* "zero 1", "zero 0 or 1", "stack jax-xla"; empty if there is none. */
size_t lack_remedy(const struct lack *lack, char *out, size_t size);
/* The file and line that says so, and what was read when. */
size_t lack_source(const struct scenario *scenario, const struct ability *row,
		   char *out, size_t size);
/* The row that refuses this value of the knob in this scenario, or NULL: one of this
 * knob, or one that nothing else in the plan broke before. */
const struct ability *ability_against(const struct scenario *scenario,
				      const struct knob *knob, double value);
/* The same of a scenario in which the knob, and nothing else, is turned already. */
const struct ability *ability_turned(const struct scenario *scenario,
				     const struct scenario *turned,
				     const struct knob *knob);

/* Whether the stack has this value of the knob in no plan at all. */
bool ability_never(const struct stack *stack, const struct knob *knob, double value);
/* The knob of which a row says what the stack has. */
const struct knob *ability_knob(const struct ability *row);
/* Whether it has all these values of the row's knob, whatever else a plan is. */
bool ability_has_all(const struct ability *row, const double *value, int count);
/* The rows that hold as legality in a search, for stack.held: those of
 * which it is free to choose a side. */
uint64_t abilities_held(const struct scenario *scenario,
			bool (*is_free)(const void *context, const struct knob *knob),
			const void *context);

#endif
