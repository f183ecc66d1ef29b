/* check.c - run the rules of a scenario's stack, and find the way out. */
#include <math.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/rules/legality.h"
#include "engine/rules/rules.h"
#include "engine/schedule/schedule.h"

void rules_derive(const struct scenario *scenario, struct facts *f)
{
	const struct plan *plan = &scenario->plan;
	bool whole;

	f->scenario = scenario;
	f->plan = plan;
	f->model = &scenario->model;
	f->world = scenario->cluster.gpus;
	f->tp = plan->tp;
	f->pp = plan->pp;
	f->cp = plan->cp;
	f->ep = plan->ep;
	f->etp = scenario_etp(scenario);
	f->dp = scenario_dp(scenario);
	if (plan->split == SPLIT_CUSTOM) {
		split_layout_facts(plan->layout, &f->layout);
		whole = plan->pp > 0 && f->layout.stages % plan->pp == 0;
		f->chunks =
			whole && f->layout.stages > 0 ? f->layout.stages / plan->pp : 0;
	} else {
		f->chunks = scenario_chunks(scenario);
	}
	f->moe = scenario->model.moe.experts > 0;
	f->micro_batches = f->dp > 0 ? scenario_micro_batches(scenario) : 0;
	f->chunked = f->pp > 1 && f->chunks > 1;
	f->interleaved = f->chunked && schedule_by_rounds(plan->schedule);
}

static bool within(int64_t count, int64_t most)
{
	return count > 0 && count <= most;
}

static bool can_serve(const struct serving_plan *v)
{
	enum { DEGREE = 4096, TOKENS = 1 << 26 };

	return within(v->dp_attention, DEGREE) && within(v->kv_shards, DEGREE) &&
	       within(v->prompt_len, TOKENS) && within(v->output_len, TOKENS) &&
	       within(v->concurrency + 1, TOKENS) && within(v->kv_block, TOKENS) &&
	       within(v->receive_interval, TOKENS) &&
	       within(v->batch_wait + 1, TOKENS) && within(v->prefill_tp + 1, DEGREE) &&
	       within(v->prefill_pp + 1, DEGREE) && within(v->prefill_ep + 1, DEGREE) &&
	       within(v->prefill_dp_attention + 1, DEGREE);
}

/* Counts below 1 would divide by zero and huge ones overflow; knobs and readers
 * let in neither. */
bool rules_countable(const struct scenario *scenario)
{
	enum { DEGREE = 4096, BATCH = 1 << 26, WORLD = 1 << 24 };
	const struct plan *p = &scenario->plan;

	return within(p->tp, DEGREE) && within(p->pp, DEGREE) &&
	       within(p->cp, DEGREE) && within(p->ep, DEGREE) &&
	       within(p->etp + 1, DEGREE + 1) && within(p->vpp, DEGREE) &&
	       within(p->micro_batch, BATCH) && within(p->global_batch, BATCH) &&
	       within(p->seq_len, BATCH) && within(p->micro_batch_group + 1, BATCH) &&
	       p->precision >= 0 && p->precision < PRECISION_COUNT &&
	       within(scenario->cluster.gpus, WORLD) &&
	       within(scenario->model.layers, MAX_LAYERS) &&
	       within(scenario->model.kinds, MAX_LAYER_KINDS) &&
	       (p->mode != MODE_INFERENCE || can_serve(&p->serving));
}

const struct legality *rules_of(const struct scenario *scenario, int *count)
{
	if (scenario->plan.mode == MODE_INFERENCE) {
		*count = serving_rules();
		return serving_table;
	}
	*count = legality_count();
	return legality_table;
}

bool rules_reads(const struct legality *row, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = row->reads; (at = strstr(at, key)); at += length)
		if ((at == row->reads || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

bool rules_hold(const struct legality *row, const struct stack *stack)
{
	return row->bit == 0 || (stack->rules >> row->bit & 1);
}

/* How many rows are broken, warnings left out. */
static int broken_rows(const struct scenario *scenario)
{
	struct facts facts;
	struct broken out;
	int count, broken = 0;
	const struct legality *rows = rules_of(scenario, &count);

	rules_derive(scenario, &facts);
	for (int i = 0; i < count; i++) {
		const struct legality *row = &rows[i];

		broken += row->rule.severity == SEVERITY_ERROR &&
			  rules_hold(row, &scenario->stack) &&
			  row->breaks(&facts, &out);
	}
	return broken;
}

/* What a remedy may leave broken; each pass is tried where the one before found no
 * value. */
enum pass {
	PASS_LEGAL, /* nothing */
	PASS_FEWER, /* fewer rows than now, maybe others */
	PASS_COUNT
};

struct search {
	const struct scenario *scenario;
	struct scenario trial; /* differs in that knob alone */
	enum pass pass;
	int before; /* rows broken now */
	const struct legality *rule;
	const struct knob *knob;
	struct finding *finding;
};

/* Whether the row then holds, and of the others as many as this pass asks for. */
static bool mends_rule(struct search *search, double value)
{
	const struct legality *row = search->rule;
	struct facts facts;
	struct broken out;

	if (!knob_set(&search->trial, search->knob, value) ||
	    !rules_countable(&search->trial))
		return false;
	rules_derive(&search->trial, &facts);
	if (row->breaks(&facts, &out))
		return false;
	return broken_rows(&search->trial) <
	       (search->pass == PASS_LEGAL ? 1 : search->before);
}

static bool offer_value(struct search *search, double value)
{
	struct finding *finding = search->finding;

	for (int i = 0; i < finding->nearest_count; i++)
		if (finding->nearest[i] == value)
			return true;
	if (finding->nearest_count == MAX_NEAREST || !mends_rule(search, value))
		return false;
	finding->nearest[finding->nearest_count++] = value;
	return true;
}

enum { MAX_TRIES = 6 };

/* The nearest legal multiple on each side. */
static void offer_multiples(struct search *search, double now, int64_t n)
{
	double below = floor(now / (double)n) * (double)n;

	for (int i = 0; i < MAX_TRIES && below >= 1; i++, below -= (double)n)
		if (below != now && offer_value(search, below))
			break;
	below = floor(now / (double)n) * (double)n;
	for (int i = 1; i <= MAX_TRIES; i++)
		if (offer_value(search, below + (double)i * (double)n))
			break;
}

/* The nearest legal divisor on each side; n is heads, layers or experts. */
static void offer_divisors(struct search *search, double now, int64_t n)
{
	enum { FARTHEST = 8192 };
	int64_t value = (int64_t)now;

	for (int64_t d = value - 1; d >= 1 && d > value - FARTHEST; d--)
		if (n % d == 0 && offer_value(search, (double)d))
			break;
	for (int64_t d = value + 1; d <= n && d < value + FARTHEST; d++)
		if (n % d == 0 && offer_value(search, (double)d))
			break;
}

static void offer_around(struct search *search)
{
	double values[MAX_VALUES];
	int present, n;

	n = knob_values(search->scenario, search->knob, values, &present);
	for (int i = present - 1; i >= 0; i--)
		if (offer_value(search, values[i]))
			break;
	for (int i = present + 1; i < n; i++)
		if (offer_value(search, values[i]))
			break;
}

/* The trial is the scenario again: that knob alone was set in it. A real one may not
 * come back to the last bit. */
static void take_back(struct search *search, double now)
{
	if (search->knob->type == KNOB_REAL ||
	    !knob_set(&search->trial, search->knob, now))
		copy_bytes(&search->trial, search->scenario, sizeof search->trial);
}

static void offer_mends(struct search *search, const struct broken *broken)
{
	struct finding *finding = search->finding;

	for (int i = 0; i < MAX_MENDS && broken->mend[i].knob; i++) {
		const struct mend *mend = &broken->mend[i];
		double now;

		if (finding->nearest_count > 0 &&
		    strcmp(finding->knob, mend->knob) != 0)
			break;
		search->knob = knob_find(mend->knob);
		if (!search->knob)
			continue;
		finding->knob = search->knob->key;
		now = knob_get(search->scenario, search->knob);
		if (mend->kind == MEND_VALUE)
			offer_value(search, (double)mend->n);
		else if (mend->kind == MEND_MULTIPLE && mend->n > 0)
			offer_multiples(search, now, mend->n);
		else if (mend->kind == MEND_DIVISOR)
			offer_divisors(search, now, mend->n);
		else if (mend->kind == MEND_AROUND)
			offer_around(search);
		take_back(search, now);
	}
}

static void find_remedy(struct search *search, const struct legality *rule,
			const struct broken *broken, struct finding *finding)
{
	/* of none broken there are no fewer */
	int passes = search->before > 0 ? PASS_COUNT : PASS_FEWER;

	search->rule = rule;
	search->finding = finding;
	for (int pass = 0; pass < passes && finding->nearest_count == 0; pass++) {
		search->pass = (enum pass)pass;
		offer_mends(search, broken);
	}
	if (finding->nearest_count == 0)
		finding->knob = broken->mend[0].knob;
}

static const struct rule incomplete = {
	"X0", SEVERITY_ERROR,
	"the scenario is incomplete: it needs a model, a cluster and values in "
	"range",
	"the scenario, and what each knob accepts"
};

static void name_problem(const struct legality *row, const struct broken *broken,
			 struct finding *finding)
{
	clear_bytes(finding, sizeof *finding);
	finding->rule = &row->rule;
	memcpy(finding->value, broken->value, sizeof finding->value);
}

bool scenario_first_problem(const struct scenario *scenario, struct finding *out)
{
	struct facts facts;
	struct broken broken;
	int count;
	const struct legality *rows = rules_of(scenario, &count);

	if (!rules_countable(scenario)) {
		*out = (struct finding){ .rule = &incomplete };
		return true;
	}
	rules_derive(scenario, &facts);
	for (int i = 0; i < count; i++) {
		if (rows[i].rule.severity != SEVERITY_ERROR ||
		    !rules_hold(&rows[i], &scenario->stack) ||
		    !rows[i].breaks(&facts, &broken))
			continue;
		name_problem(&rows[i], &broken, out);
		return true;
	}
	return false;
}

int scenario_problems(const struct scenario *scenario, struct findings *findings)
{
	struct facts facts;
	struct broken broken;
	int errors = 0, count;
	const struct legality *rows = rules_of(scenario, &count);

	if (findings)
		findings->count = 0;
	if (!rules_countable(scenario)) {
		if (findings)
			findings->item[findings->count++] =
				(struct finding){ .rule = &incomplete };
		return 1;
	}
	rules_derive(scenario, &facts);
	for (int i = 0; i < count; i++) {
		const struct legality *row = &rows[i];

		if (!rules_hold(row, &scenario->stack) || !row->breaks(&facts, &broken))
			continue;
		errors += row->rule.severity == SEVERITY_ERROR;
		if (!findings && errors > 0)
			return errors;
		if (findings && findings->count < MAX_FINDINGS)
			name_problem(row, &broken, &findings->item[findings->count++]);
	}
	return errors;
}

void scenario_mend(const struct scenario *scenario, struct findings *findings)
{
	struct facts facts;
	struct broken broken;
	struct search search;
	int count, at = 0;
	const struct legality *rows = rules_of(scenario, &count);

	if (findings->count == 0 || !rules_countable(scenario))
		return;
	rules_derive(scenario, &facts);
	search.scenario = scenario;
	/* errors come first: a plan with warnings alone is not gone through again */
	search.before = findings->item[0].rule->severity == SEVERITY_ERROR
				? broken_rows(scenario)
				: 0;
	copy_bytes(&search.trial, scenario, sizeof search.trial);
	for (int i = 0; i < count && at < findings->count; i++) {
		if (&rows[i].rule != findings->item[at].rule)
			continue;
		if (rows[i].breaks(&facts, &broken))
			find_remedy(&search, &rows[i], &broken, &findings->item[at]);
		at++;
	}
}

int scenario_check(const struct scenario *scenario, struct findings *findings)
{
	int errors = scenario_problems(scenario, findings);

	if (findings)
		scenario_mend(scenario, findings);
	return errors;
}
