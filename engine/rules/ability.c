/* ability.c - see ability.h. */
#include "engine/rules/ability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/rules/rules.h"
#include "engine/trust/trust.h"

const struct rule *ability_rule(void)
{
	int i = 0;

	while (legality_table[i].breaks != breaks_ability)
		i++;
	return &legality_table[i].rule;
}

enum { BITS = 64 };

static const struct knob *knob_of(const struct ability_span *span)
{
	return span->knob > 0 ? &knob_table[span->knob - 1] : NULL;
}

static bool is_bit(double value)
{
	return value >= 0 && value < BITS && floor(value) == value;
}

/* Whether a value is one of the span; members of a set must all be. */
static bool spans(const struct ability_span *span, const struct knob *knob,
		  double value)
{
	if (span->is_range)
		return value >= span->least && value <= span->most;
	if (knob->type == KNOB_SET)
		return ((uint64_t)value & ~span->bits) == 0;
	return is_bit(value) && (span->bits >> (int)value & 1);
}

/* What a span's knob asks for here. ETP 0 is what the stack makes of it, and one chunk
 * a stage, interleaved, is 1F1B. */
static double asked(const struct scenario *scenario, const struct knob *knob)
{
	if (knob->offset == offsetof(struct scenario, plan.etp))
		return (double)scenario_etp(scenario);
	if (knob->offset == offsetof(struct scenario, plan.schedule) &&
	    scenario->plan.schedule == SCHEDULE_INTERLEAVED &&
	    scenario_chunks(scenario) == 1)
		return SCHEDULE_1F1B;
	return knob_get(scenario, knob);
}

static bool is_met(const struct scenario *scenario, const struct ability_span *span)
{
	const struct knob *knob = knob_of(span);

	return knob && knob_applies(scenario, knob) &&
	       spans(span, knob, asked(scenario, knob));
}

bool ability_lacks(const struct scenario *scenario, const struct ability *row)
{
	const struct knob *knob = knob_of(&row->has);

	if (row->unknown || !knob || !knob_applies(scenario, knob) ||
	    spans(&row->has, knob, asked(scenario, knob)))
		return false;
	return row->with.knob == 0 || is_met(scenario, &row->with);
}

static double missing(const struct scenario *scenario, const struct ability *row,
		      const struct knob *knob)
{
	double value = asked(scenario, knob);

	return knob->type == KNOB_SET ? (double)((uint64_t)value & ~row->has.bits)
				      : value;
}

bool stack_runs(const struct scenario *scenario)
{
	uint64_t makers = scenario->stack.abilities.makers;
	enum maker maker = scenario->cluster.accelerator.maker;

	return makers == 0 || maker == MAKER_UNKNOWN || (makers >> maker & 1) != 0;
}

static void lack_machine(const struct scenario *scenario, struct lack *out)
{
	const char *usual = scenario->cluster.training_stack;

	clear_bytes(out, sizeof *out);
	out->row = &scenario->stack.abilities.machines;
	if (scenario->plan.mode == MODE_TRAINING && usual[0] != '\0' &&
	    strcmp(usual, scenario->stack.name) != 0)
		out->stack = usual;
}

int scenario_lacks(const struct scenario *scenario, struct lacks *out)
{
	const struct ability_sheet *sheet = &scenario->stack.abilities;
	int count = 0;

	if (!stack_runs(scenario)) {
		if (!out)
			return 1;
		lack_machine(scenario, &out->item[count++]);
	}

	for (int i = 0; i < sheet->count; i++) {
		const struct ability *row = &sheet->row[i];
		struct lack *lack;

		if (!ability_lacks(scenario, row))
			continue;
		if (!out)
			return 1;
		lack = &out->item[count++];
		clear_bytes(lack, sizeof *lack);
		lack->row = row;
		lack->knob = knob_of(&row->has);
		lack->value = missing(scenario, row, lack->knob);
	}
	if (out)
		out->count = count;
	return count;
}

static void offer(struct lack *lack, struct scenario *trial, double value)
{
	for (int i = 0; i < lack->nearest_count; i++)
		if (lack->nearest[i] == value)
			return;
	if (lack->nearest_count == MAX_NEAREST || !knob_set(trial, lack->knob, value) ||
	    ability_lacks(trial, lack->row) || scenario_check(trial, NULL) > 0)
		return;
	lack->nearest[lack->nearest_count++] = value;
}

void lack_mend(const struct scenario *scenario, struct lack *lack)
{
	struct scenario trial = *scenario;
	double values[MAX_VALUES];
	int present, count;

	lack->nearest_count = 0;
	if (!lack->knob)
		return;
	if (lack->knob->type == KNOB_SET) {
		offer(lack, &trial,
		      (double)((uint64_t)knob_get(scenario, lack->knob) &
			       lack->row->has.bits));
		return;
	}
	count = knob_values(scenario, lack->knob, values, &present);
	for (int i = present - 1; i >= 0; i--)
		offer(lack, &trial, values[i]);
	for (int i = present + 1; i < count; i++)
		offer(lack, &trial, values[i]);
}

size_t lack_text(const struct scenario *scenario, const struct lack *lack, char *out,
		 size_t size)
{
	const struct ability_span *with = &lack->row->with;
	const struct knob *other = knob_of(with);
	char value[96], beside[128] = "";
	int n;

	if (!lack->knob) {
		n = snprintf(out, size, "%s does not run on %s", scenario->stack.name,
			     scenario->cluster.accelerator.name);
		return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
	}
	if (other) {
		knob_print_value(other, asked(scenario, other), value, sizeof value);
		snprintf(beside, sizeof beside, " with %s %s", other->key, value);
	}
	knob_print_value(lack->knob, lack->value, value, sizeof value);
	n = snprintf(out, size, "%s has no %s %s%s", scenario->stack.name,
		     lack->knob->key, value, beside);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

size_t lack_remedy(const struct lack *lack, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	if (lack->stack)
		used = (size_t)snprintf(out, size, "stack %s", lack->stack);
	for (int i = 0; i < lack->nearest_count && used < size - 1; i++) {
		char value[96];
		int n;

		knob_print_value(lack->knob, lack->nearest[i], value, sizeof value);
		n = snprintf(out + used, size - used, "%s%s",
			     i == 0 ? lack->knob->key : "", i == 0 ? " " : " or ");
		used += (size_t)n;
		if (used < size - 1)
			used += (size_t)snprintf(out + used, size - used, "%s", value);
	}
	return used < size ? used : size - 1;
}

size_t lack_source(const struct scenario *scenario, const struct ability *row,
		   char *out, size_t size)
{
	int n = snprintf(out, size, "%s (%s)", row->source,
			 scenario->stack.abilities.read);

	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

const struct ability *ability_turned(const struct scenario *scenario,
				     const struct scenario *turned,
				     const struct knob *knob)
{
	const struct ability_sheet *sheet = &scenario->stack.abilities;

	for (int i = 0; i < sheet->count; i++)
		if (ability_lacks(turned, &sheet->row[i]) &&
		    (knob_of(&sheet->row[i].has) == knob ||
		     knob_of(&sheet->row[i].with) == knob ||
		     !ability_lacks(scenario, &sheet->row[i])))
			return &sheet->row[i];
	return NULL;
}

const struct ability *ability_against(const struct scenario *scenario,
				      const struct knob *knob, double value)
{
	struct scenario turned;

	if (scenario->stack.abilities.count == 0)
		return NULL;
	turned = *scenario;
	return knob_set(&turned, knob, value) ? ability_turned(scenario, &turned, knob)
					      : NULL;
}

uint64_t abilities_held(const struct scenario *scenario,
			bool (*is_free)(const void *context, const struct knob *knob),
			const void *context)
{
	const struct ability_sheet *sheet = &scenario->stack.abilities;
	uint64_t held = 0;

	for (int i = 0; i < sheet->count; i++) {
		const struct ability *row = &sheet->row[i];

		if (!row->unknown &&
		    (is_free(context, knob_of(&row->has)) ||
		     (row->with.knob != 0 && is_free(context, knob_of(&row->with)))))
			held |= UINT64_C(1) << i;
	}
	return held;
}

bool ability_never(const struct stack *stack, const struct knob *knob, double value)
{
	const struct ability_sheet *sheet = &stack->abilities;

	for (int i = 0; i < sheet->count; i++) {
		const struct ability *row = &sheet->row[i];

		if (!row->unknown && row->with.knob == 0 &&
		    knob_of(&row->has) == knob && !spans(&row->has, knob, value))
			return true;
	}
	return false;
}

const struct knob *ability_knob(const struct ability *row)
{
	return knob_of(&row->has);
}

bool ability_has_all(const struct ability *row, const double *value, int count)
{
	const struct knob *knob = knob_of(&row->has);

	/* 0 is what the stack makes of it */
	if (!knob || knob->offset == offsetof(struct scenario, plan.etp))
		return false;
	for (int i = 0; i < count; i++) {
		bool may_be_1f1b =
			knob->offset == offsetof(struct scenario, plan.schedule) &&
			value[i] == SCHEDULE_INTERLEAVED;

		if (!spans(&row->has, knob, value[i]) ||
		    (may_be_1f1b && !spans(&row->has, knob, SCHEDULE_1F1B)))
			return false;
	}
	return true;
}

bool breaks_ability(const struct facts *f, struct broken *out)
{
	const struct stack *stack = &f->scenario->stack;

	for (int i = 0; stack->held >> i != 0 && i < stack->abilities.count; i++) {
		if ((stack->held >> i & 1) == 0 ||
		    !ability_lacks(f->scenario, &stack->abilities.row[i]))
			continue;
		*out = (struct broken){
			.value = { (double)i },
			.mend = { { knob_of(&stack->abilities.row[i].has)->key,
				    MEND_AROUND, 0 } },
		};
		return true;
	}
	return false;
}

bool breaks_trust(const struct facts *f, struct broken *out)
{
	if (trust_suffices(f->scenario, f->scenario->stack.trusted))
		return false;
	*out = (struct broken){ .value = { 0 } };
	return true;
}
