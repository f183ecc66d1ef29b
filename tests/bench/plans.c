/* plans.c - how long a proof takes beside its search, and two plans beside each
 * other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/compare/compare.h"
#include "engine/planner/certify.h"
#include "engine/predict/predict.h"
#include "engine/verify/verify.h"
#include "presets/scenario_file.h"
#include "tests/bench/bench.h"

static const struct {
	const char *name, *model, *cluster;
	int gpus;
} example[] = {
	{ "gpt3-175b on 4096 A100", "gpt3-175b", "dgx-a100-80g", 4096 },
	{ "deepseek-v3 on 2048 H800", "deepseek-v3", "hgx-h800", 2048 },
	{ "llama3.1-405b on 16384 H100", "llama3.1-405b", "dgx-h100", 16384 },
};

static bool ask(size_t i, struct planner_problem *problem)
{
	struct error error = { "" };

	memset(problem, 0, sizeof *problem);
	if (!scenario_blank(&problem->base, example[i].model, example[i].cluster,
			    "megatron-core", &error)) {
		fprintf(stderr, "bench: %s\n", error.text);
		return false;
	}
	problem->base.cluster.gpus = example[i].gpus;
	problem->base.plan.global_batch = 4096;
	problem->base.plan.seq_len = 2048;
	problem->reserve = 0.05;
	problem->top = 10;
	problem->each = planner_each(problem->top);
	problem->trust = planner_usual_trust(&problem->base);
	planner_axes(problem);
	return true;
}

/* What a file of the certificate would give back. */
static void question_of(const struct planner_problem *problem,
			const struct planner *planner, struct verify_question *out)
{
	const struct planner_found *best = &planner_result(planner)->top[0];
	int axis[MAX_AXES], axes = planner_certificate_axes(planner, axis);

	memset(out, 0, sizeof *out);
	out->base = problem->base;
	for (int i = 0; i < problem->axes; i++)
		if (problem->axis[i].count == 1)
			knob_set(&out->base, problem->axis[i].knob,
				 problem->axis[i].value[0]);
	out->base.stack.trusted = problem->trust;
	out->base.stack.held = planner_held(problem);
	out->objective = problem->objective;
	out->reserve = problem->reserve;
	out->answer = best->score;
	out->candidates = planner_result(planner)->counts.candidates;
	for (; out->axes < axes; out->axes++) {
		const struct planner_axis *from = &problem->axis[axis[out->axes]];
		struct verify_axis *to = &out->axis[out->axes];

		*to = (struct verify_axis){ .knob = from->knob, .count = from->count };
		for (int v = 0; v < from->count; v++) {
			to->value[v] = from->value[v];
			knob_print_value(from->knob, from->value[v], to->name[v],
					 VERIFY_NAME);
		}
		out->best[out->axes] = best->choice[axis[out->axes]];
	}
}

static bool prove(const struct planner_problem *problem, struct proof_time *out)
{
	static struct verify_question question;
	double begun = bench_cpu(), searched, proved;
	struct planner *planner = planner_start(problem);
	struct verified verified;
	char *boxes;

	if (!planner)
		return false;
	while (planner_step(planner, 1000)) {
	}
	searched = bench_cpu();
	boxes = planner_certify(planner, planner_result(planner)->top[0].score);
	proved = bench_cpu();
	question_of(problem, planner, &question);
	planner_free(planner);
	if (!boxes || !certificate_verify(&question, boxes, &verified))
		return false;
	if (!verified.good)
		fprintf(stderr, "bench: %d: %s\n", verified.line, verified.why);
	out->search = searched - begun;
	out->proof = proved - searched;
	out->verify = bench_cpu() - proved;
	free(boxes);
	return verified.good;
}

int bench_proofs(struct proof_time *out, int most)
{
	enum { RUNS = 5 };
	static struct planner_problem problem;
	int count = 0;

	for (size_t i = 0; i < sizeof example / sizeof example[0] && count < most;
	     i++) {
		double search[RUNS], proof[RUNS], verify[RUNS];

		if (!ask(i, &problem))
			return 0;
		for (int k = 0; k < RUNS; k++) {
			if (!prove(&problem, &out[count]))
				return 0;
			search[k] = out[count].search;
			proof[k] = out[count].proof;
			verify[k] = out[count].verify;
		}
		out[count].search = bench_median(search, RUNS);
		out[count].proof = bench_median(proof, RUNS);
		out[count].verify = bench_median(verify, RUNS);
		out[count++].name = example[i].name;
	}
	return count;
}

double bench_compare(void)
{
	enum { RUNS = 200 };
	static struct scenario a, b;
	static struct estimate first, second;
	static struct compare compare;
	struct error error = { "" };
	char why[128];
	double begun;

	if (!scenario_read(&a, "deepseek-v3-1024-h100", NULL, &error)) {
		fprintf(stderr, "bench: %s\n", error.text);
		return NAN;
	}
	b = a;
	if (!compare_turn(&b, "ep=16 pp=16 vpp=1 split=balanced mbs=2", why,
			  sizeof why))
		return NAN;
	begun = bench_cpu();
	for (int i = 0; i < RUNS; i++) {
		scenario_estimate(&a, &first);
		scenario_estimate(&b, &second);
		compare_plans((const struct scenario *const[]){ &a, &b },
			      (const struct estimate *const[]){ &first, &second }, 2,
			      &compare);
	}
	return (bench_cpu() - begun) / RUNS;
}
