/* search_answer.c - the answers of `search --ask` as text; see search_print.h. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/trust/trust.h"
#include "presets/report.h"
#include "tui/command/search_print.h"

enum { MAX_PLAN = 160, MAX_FORM = 32 };

static const char *form(enum form kind, double value, char out[MAX_FORM])
{
	form_text(kind, value, out, MAX_FORM);
	return out;
}

static void answer_text(const struct inverse *q, double value, char *out, size_t size)
{
	struct model scaled;
	struct model_counts counts;
	char text[MAX_FORM];
	bool serves = q->problem->base.plan.mode == MODE_INFERENCE;

	if (q->kind == INVERSE_GPUS)
		snprintf(out, size, "%.0f GPU%s", value, value == 1 ? "" : "s");
	else if (q->kind == INVERSE_MODEL &&
		 model_scale(&q->problem->base.model, value, &scaled)) {
		model_count(&scaled, &counts);
		snprintf(out, size, "%s parameters (%lld layers, hidden %lld)",
			 form(FORM_COUNT, counts.total, text), (long long)scaled.layers,
			 (long long)scaled.hidden);
	} else
		snprintf(out, size, "%s %.0f",
			 serves && q->kind == INVERSE_SEQUENCE ? "prompt"
							       : inverse_word(q->kind),
			 value);
}

/* What else stands behind an answer: an end that is none of the memory. */
static void print_end(const struct inverse *q)
{
	int64_t positions = q->problem->base.model.max_positions;
	const struct knob *knob = knob_find(inverse_word(q->kind));
	int64_t node = q->problem->base.cluster.gpus_per_node;

	const struct plan *plan = &q->problem->base.plan;

	/* a few odd numbers of these are all that is tried beyond one */
	if (q->kind == INVERSE_GPUS && node > 1 && q->answer > (double)node)
		printf(", in whole nodes of %lld", (long long)node);
	/* a rate is served by who keeps up with it, whoever waits */
	if (q->kind == INVERSE_GPUS && plan->mode == MODE_INFERENCE &&
	    !(plan->serving.request_rate > 0))
		printf(", with room for all %lld requests at once",
		       (long long)plan->serving.concurrency);
	if (knob && q->kind != INVERSE_GPUS && q->answer >= knob->max)
		fputs(", the most that the knob takes", stdout);
	if (q->kind == INVERSE_SEQUENCE && positions > 0 &&
	    q->answer > (double)positions)
		printf("; the model was made for %lld", (long long)positions);
}

/* The plan that answers: of a server not the step but the wait for a token. */
static void print_answer(const struct planner_problem *problem, const struct inverse *q,
			 const struct estimate *e)
{
	char plan[MAX_PLAN], step[MAX_FORM], memory[MAX_FORM], date[MAX_FORM];

	planner_name(problem, &q->scenario, plan, sizeof plan);
	form(FORM_BYTES, e->memory.total_bytes, memory);
	form(FORM_SECONDS, e->step_seconds, step);
	if (problem->base.plan.mode == MODE_INFERENCE)
		printf("\n  %s: TPOT %s, %s, %.*f tok/s per GPU",
		       plan[0] ? plan : "as given",
		       form(FORM_SECONDS, e->serving.tpot_seconds, step), memory,
		       e->tokens_per_second_per_gpu < 10 ? 3 : 0,
		       e->tokens_per_second_per_gpu);
	else
		printf("\n  %s: %s per step, %s, MFU %.1f %%",
		       plan[0] ? plan : "as given", step, memory, e->mfu * 100);
	if (q->kind == INVERSE_GPUS && e->run.seconds > 0 &&
	    problem->base.plan.mode != MODE_INFERENCE)
		printf(", the run in %s", form(FORM_DATE, e->run.seconds, date));
	putchar('\n');
}

/* What plans that are known answer, where others answer more. */
static void print_known_answer(const struct inverse *q)
{
	static const char known[] = "measured or published";
	struct doubts doubts;
	char value[96];

	if (q->answer == q->known)
		return;
	printf(", by a plan that is %s", trust_word(trust_of(&q->scenario, &doubts)));
	if (q->known > 0) {
		answer_text(q, q->known, value, sizeof value);
		printf("; by plans that are %s: %s", known, value);
	} else {
		printf("; no plan that is %s does", known);
	}
}

/* Where what is known was asked for, a plan that is less known may answer otherwise. */
static void print_known(const struct planner_problem *problem, const struct inverse *q)
{
	if (q->open) {
		print_known_answer(q);
		return;
	}
	if (problem->trust == 1 + TRUST_MEASURED)
		fputs(", by plans that are measured", stdout);
	else if (problem->trust == 1 + TRUST_PUBLISHED)
		fputs(", by plans that are measured or published", stdout);
	else if (problem->trust == TRUST_OF_FEATURES)
		fputs(", by plans of measured or published features", stdout);
}

static void print_question(const struct planner_problem *problem,
			   const struct inverse *q, struct estimate *e)
{
	static const char *const asked[INVERSE_COUNT] = {
		"smallest cluster", "largest micro-batch", "longest sequence",
		"largest model of this shape"
	};
	char value[96], date[MAX_FORM];

	printf("\n%s", asked[q->kind]);
	if (q->deadline_seconds > 0)
		printf(" that ends in %s", form(FORM_DATE, q->deadline_seconds, date));
	if (q->count == 0 && !q->found) {
		puts(q->deadline_seconds > 0
			     ? ": none, not even at the full rate of 16 times the GPUs"
			     : ": nothing to try");
		return;
	}
	if (!q->found) {
		printf(": none of the %d tried\n", q->count);
		return;
	}
	answer_text(q, q->answer, value, sizeof value);
	printf(": %s", value);
	answer_text(q, q->beyond, value, sizeof value);
	if (q->beyond > 0)
		printf(", not %s", value);
	print_end(q);
	print_known(problem, q);
	scenario_estimate(&q->scenario, e);
	print_answer(problem, q, e);
}

void search_print_questions(const struct planner_problem *problem,
			    const struct search_extra *extra)
{
	struct estimate *e = malloc(sizeof *e);

	for (int i = 0; e && i < extra->questions; i++)
		print_question(problem, extra->question[i], e);
	free(e);
}
