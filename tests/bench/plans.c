/* plans.c - how long a proof takes beside its search, and two plans beside each
 * other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/compare/compare.h"
#include "engine/planner/planner.h"
#include "engine/predict/predict.h"
#include "engine/verify/verify.h"
#include "presets/certificate.h"
#include "presets/certificate_read.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"
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

static bool prove(const struct planner_problem *problem, struct proof_time *out)
{
	static struct scenario scenario;
	char path[] = "/tmp/bench_proof.XXXXXX", *text = NULL;
	int file = mkstemp(path), line;
	double begun = bench_cpu(), searched, proved;
	struct planner *planner = planner_start(problem);
	struct verified verified = { false };
	const char *boxes;
	struct error error = { "" };
	size_t length;

	if (!planner || file < 0)
		return false;
	close(file);
	while (planner_step(planner, 1000)) {
	}
	searched = bench_cpu();
	if (certificate_save(path, problem, planner, planner_result(planner), &error))
		text = stream_read_file(path, 1 << 28, &length, &error);
	unlink(path);
	planner_free(planner);
	proved = bench_cpu();
	boxes = text ? certificate_read("proof", text, &scenario, &line, &error) : NULL;
	if (boxes && certificate_verify(&scenario, boxes, &verified) && !verified.good)
		error_set(&error, "proof", line + verified.line - 1, "%s",
			  verified.why);
	out->search = searched - begun;
	out->proof = proved - searched;
	out->verify = bench_cpu() - proved;
	free(text);
	if (!verified.good)
		fprintf(stderr, "bench: %s\n", error.text);
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
