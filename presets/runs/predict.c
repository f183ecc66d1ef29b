/* predict.c - predictions beside the measured runs, and their scores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/serve/simulate.h"
#include "engine/train/train.h"
#include "presets/accuracy_file.h"
#include "presets/report.h"
#include "presets/runs/runs.h"

/* Predicted bytes of the kind that was measured, on the stage that was measured. */
static double predicted_bytes(const struct measured_run *run,
			      const struct estimate *estimate)
{
	int first = run->last_only ? estimate->stages - 1 : 0;
	int end = !run->last_only && run->scenario.stack.reports_first
			  ? 1
			  : estimate->stages;
	double most = 0;

	for (int i = first; i < end; i++) {
		const struct stage_memory *held = &estimate->stage[i];
		double bytes = run->memory_kind == MEMORY_ALLOCATED
				       ? held->allocated_bytes
				       : held->reserved_bytes;

		most = bytes > most ? bytes : most;
	}
	return most;
}

static void predict_serving(const struct measured_run *run,
			    const struct estimate *estimate, struct score_run *out)
{
	const struct serving_estimate *v = &estimate->serving;

	/* a server that holds no request has no times */
	out->predicted = estimate->feasible;
	out->predicted_fits = estimate->fits;
	out->fit_probability = estimate->fit_probability;
	out->load = estimate->memory.total_bytes / estimate->capacity_bytes;
	out->serving[SCORE_TPOT].predicted = v->tpot_seconds;
	out->serving[SCORE_TPOT].low = v->tpot_low_seconds;
	out->serving[SCORE_TPOT].high = v->tpot_high_seconds;
	out->serving[SCORE_TTFT].predicted = v->ttft_seconds;
	out->serving[SCORE_TTFT].low = v->ttft_low_seconds;
	out->serving[SCORE_TTFT].high = v->ttft_high_seconds;
	out->serving[SCORE_RATE].predicted = v->output_tokens_per_second;
	out->serving[SCORE_RATE].low = v->output_low;
	out->serving[SCORE_RATE].high = v->output_high;
	out->serving[SCORE_TTFT_LOADED].predicted = v->ttft_seconds;
	out->serving[SCORE_TTFT_LOADED].low = v->ttft_low_seconds;
	out->serving[SCORE_TTFT_LOADED].high = v->ttft_high_seconds;
	/* logs tell the tokens of one copy of the attention, the bytes of one GPU */
	out->serving[SCORE_KV_TOKENS].predicted =
		v->kv_tokens /
		(v->engines * (double)run->scenario.plan.serving.dp_attention);
	out->serving[SCORE_KV_GIB].predicted = v->kv_share_bytes / 1073741824;
}

static bool scores_burst(const struct measured_run *run)
{
	return run->requests > 0 && (run->scores_serving[SCORE_RATE_BURST] ||
				     run->scores_serving[SCORE_TTFT_BURST] ||
				     run->scores_serving[SCORE_TPOT_BURST]);
}

/* All requests at once: no steady state, so request by request. */
static void predict_burst(const struct measured_run *run, struct score_run *out)
{
	struct serve_load load = { .requests = run->requests };
	struct scenario s = run->scenario;
	struct queue_result result;
	struct arena arena = { 0 };

	s.plan.serving.concurrency = run->requests;
	arena.size = serve_simulation_bytes(&s, &load);
	arena.base = malloc(arena.size + 1);
	if (arena.base && serve_simulate(&s, &load, &arena, &result)) {
		out->serving[SCORE_RATE_BURST].predicted =
			result.output_tokens / result.seconds;
		out->serving[SCORE_TTFT_BURST].predicted = result.ttft.mean;
		out->serving[SCORE_TPOT_BURST].predicted = result.tpot.mean;
	}
	free(arena.base);
}

/* A measured server ran. Few sources state its memory share: where they don't and the
 * stack's default does not hold the weights it was started with one that does, the
 * nearest. */
static void estimate_server(const struct measured_run *run, struct estimate *estimate)
{
	const struct scenario *s = &run->scenario;
	const struct finding *f = &estimate->problems.item[0];
	struct scenario raised = *s;

	scenario_estimate(s, estimate);
	if (run->states_share || !estimate->legal || estimate->fits ||
	    estimate->problems.count < 1 || !f->knob ||
	    strcmp(f->knob, "memory_share") != 0)
		return;
	if (knob_set(&raised, knob_find("memory_share"), f->nearest[0]))
		scenario_estimate(&raised, estimate);
}

static double passes(const struct estimate *estimate)
{
	double seconds = 0;

	for (int i = 0; i < estimate->stages; i++)
		seconds += estimate->stage_time[i].forward_seconds +
			   estimate->stage_time[i].backward_seconds;
	return seconds;
}

/* Both passes of all layers of one micro-batch: what they take beside the same layers
 * once more, so that embedding, head and loss cancel. Only of a single stage. */
static double layers_alone(const struct measured_run *run, struct estimate *estimate)
{
	struct scenario twice = run->scenario;
	const struct model *m = &run->scenario.model;
	double seconds;

	for (int64_t i = 0; i < m->layers; i++)
		if (!model_add_layer(&twice.model, &m->kind[m->layer[i]]))
			return 0;
	scenario_estimate(&twice, estimate);
	seconds = estimate->legal && estimate->stages == 1 ? passes(estimate) : 0;
	scenario_estimate(&run->scenario, estimate);
	return fmax(seconds - passes(estimate), 0);
}

/* The range is as wide as that of the whole step. */
static void predict_layers(const struct measured_run *run, struct estimate *estimate,
			   struct score_run *out)
{
	double seconds = layers_alone(run, estimate);
	double share = seconds / out->predicted_seconds;

	out->predicted = seconds > 0;
	out->predicted_seconds = seconds;
	out->low_seconds *= share;
	out->high_seconds *= share;
}

void run_kinds(const struct scenario *s, bool kind[SCORE_KINDS])
{
	bool serves = s->plan.mode == MODE_INFERENCE;

	kind[SCORE_PIPELINED] = serves && s->plan.pp > 1;
	kind[SCORE_DRAFTING] = serves && s->plan.serving.speculative != SPECULATIVE_OFF;
	kind[SCORE_POOLED] = serves && s->plan.serving.disaggregated;
}

void run_predict(const struct measured_run *run, struct estimate *estimate,
		 struct score_run *out)
{
	double ratio;

	*out = (struct score_run){
		.source = run->source,
		.cluster = run->group,
		.experts = run->scenario.model.moe.experts > 0,
		.ranking = -1,
		.scores_time = run->scores_time,
		.scores_memory = run->scores_memory,
		.scores_fit = run->scores_fit,
		.measured_seconds = run->step_seconds,
		.measured_bytes = run->peak_bytes,
		.measured_fits = run->fits,
	};
	run_kinds(&run->scenario, out->kind);
	for (int f = 0; f < SCORE_FIGURES; f++) {
		out->serving[f].scores = run->scores_serving[f];
		out->serving[f].measured = run->serving[f];
	}
	estimate->legal = false;
	estimate->problems.count = 0;
	if (!run->readable)
		return;
	if (run->scenario.plan.mode == MODE_INFERENCE)
		estimate_server(run, estimate);
	else
		scenario_estimate(&run->scenario, estimate);
	if (!estimate->legal)
		return;
	if (run->scenario.plan.mode == MODE_INFERENCE) {
		predict_serving(run, estimate, out);
		if (scores_burst(run))
			predict_burst(run, out);
		return;
	}
	out->predicted = true;
	out->unsure = estimate->unsure;
	out->predicted_seconds = estimate->step_seconds;
	out->low_seconds = estimate->step_low_seconds;
	out->high_seconds = estimate->step_high_seconds;
	if (run->layers_only)
		predict_layers(run, estimate, out);
	out->predicted_bytes = predicted_bytes(run, estimate);
	ratio = out->predicted_bytes / estimate->memory.total_bytes;
	out->low_bytes = estimate->memory_low_bytes * ratio;
	out->high_bytes = estimate->memory_high_bytes * ratio;
	out->predicted_fits = estimate->fits;
	out->load = estimate->memory.total_bytes / estimate->capacity_bytes;
	out->fit_probability = estimate->fit_probability;
}

void run_scale_shares(const struct scenario *scenario, struct scenario *scratch,
		      struct estimate *estimate, double *out)
{
	struct calibration *c = &scratch->cluster.accelerator.calibration;
	double *const scales[SCALE_COUNT] = { [SCALE_COMPUTE] = &c->compute_scale,
					      [SCALE_NETWORK] = &c->network_scale,
					      [SCALE_HOST] = &c->host_scale };
	const double longer = 1.1;
	double seconds;

	*scratch = *scenario;
	scenario_estimate(scratch, estimate);
	seconds = estimate->step_seconds;
	for (int i = 0; i < SCALE_COUNT; i++) {
		double as_it_is = *scales[i];

		*scales[i] = as_it_is * longer;
		scenario_estimate(scratch, estimate);
		out[i] = log(estimate->step_seconds / seconds) / log(longer);
		*scales[i] = as_it_is;
	}
}

static bool same_contest(const struct measured_run *a, const struct measured_run *b)
{
	return a->group == b->group &&
	       strcmp(a->scenario.model.name, b->scenario.model.name) == 0 &&
	       a->scenario.cluster.gpus == b->scenario.cluster.gpus &&
	       a->scenario.plan.seq_len == b->scenario.plan.seq_len &&
	       a->scenario.plan.global_batch == b->scenario.plan.global_batch;
}

/* Runs of one contest get the index of its first run. */
static int contest(const struct run_set *set, const struct score_run *rows, int i)
{
	for (int k = i - 1; k >= 0 && set->run[k].group == set->run[i].group; k--)
		if (rows[k].ranking >= 0 && same_contest(&set->run[k], &set->run[i]))
			return rows[k].ranking;
	return i;
}

static bool same_layout(const struct scenario *a, const struct scenario *b)
{
	for (int k = 0; k < knob_count(); k++) {
		const struct knob *knob = &knob_table[k];

		if ((knob_applies(a, knob) || knob_applies(b, knob)) &&
		    !knob_same(a, b, knob))
			return false;
	}
	return true;
}

/* Runs of a contest that no knob and no release tells apart get one number: that of the
 * first of them, from 1. */
static void number_layout(const struct run_set *set, struct score_run *rows, int i)
{
	for (int k = rows[i].ranking; k < i; k++)
		if (rows[k].ranking == rows[i].ranking &&
		    rows[k].predicted_seconds == rows[i].predicted_seconds &&
		    same_layout(&set->run[k].scenario, &set->run[i].scenario)) {
			rows[k].layout = rows[i].layout = k + 1;
			return;
		}
}

bool runs_score(const struct run_set *set, struct run_scores *out)
{
	struct estimate *estimate = calloc(1, sizeof *estimate);
	struct scenario *scratch = malloc(sizeof *scratch);
	const struct accuracy *accuracy = accuracy_shipped();
	bool good;

	out->rows = calloc((size_t)set->count + 1, sizeof *out->rows);
	out->source = calloc((size_t)set->sources + 1, sizeof *out->source);
	good = estimate && scratch && accuracy && out->rows && out->source;
	for (int i = 0; good && i < set->count; i++) {
		run_predict(&set->run[i], estimate, &out->rows[i]);
		if (out->rows[i].predicted && out->rows[i].scores_time)
			run_scale_shares(&set->run[i].scenario, scratch, estimate,
					 out->rows[i].share);
		if (set->run[i].scores_time && set->run[i].readable)
			out->rows[i].ranking = contest(set, out->rows, i);
		if (out->rows[i].ranking >= 0 && out->rows[i].predicted)
			number_layout(set, out->rows, i);
	}
	for (int k = 0; good && k < set->sources; k++)
		good = score_runs(out->rows, set->count, k, &out->source[k]) &&
		       score_calibration(out->rows, set->count, k, &accuracy->prior,
					 &out->source[k]);
	good = good && score_total(out->rows, set->count, out->source, set->sources,
				   &out->total);
	free(estimate);
	free(scratch);
	if (!good)
		run_scores_free(out);
	return good;
}

void run_scores_free(struct run_scores *scores)
{
	free(scores->rows);
	free(scores->source);
	memset(scores, 0, sizeof *scores);
}

static void add_errors(cJSON *object, const char *key, const struct score_errors *e)
{
	cJSON *o = cJSON_AddObjectToObject(object, key);

	cJSON_AddNumberToObject(o, "n", e->n);
	cJSON_AddNumberToObject(o, "median", e->median);
	cJSON_AddNumberToObject(o, "mean", e->mean);
	cJSON_AddNumberToObject(o, "p90", e->p90);
	cJSON_AddNumberToObject(o, "worst", e->worst);
	cJSON_AddNumberToObject(o, "bias", e->bias);
	cJSON_AddNumberToObject(o, "in_range", e->in_range);
}

static void add_calibrated(cJSON *object, const struct score *score)
{
	cJSON *list = cJSON_AddArrayToObject(object, "calibrated");

	for (int e = 0; e < 2; e++)
		for (int c = 0; c < SCORE_CALIBRATIONS; c++) {
			cJSON *one = cJSON_CreateObject();

			cJSON_AddBoolToObject(one, "experts", e == 1);
			cJSON_AddNumberToObject(one, "by_runs", score_calibrating[c]);
			add_errors(one, "before", &score->calibrated[e][c].before);
			add_errors(one, "after", &score->calibrated[e][c].after);
			cJSON_AddItemToArray(list, one);
		}
}

/* What was measured of servers of a kind. */
static void add_kinds(cJSON *object, const struct score *score)
{
	cJSON *list = cJSON_AddArrayToObject(object, "servers");

	for (int k = 0; k < SCORE_KINDS; k++)
		for (int f = 0; f < SCORE_FIGURES; f++) {
			cJSON *one;

			if (score->serving_of[k][f].n == 0)
				continue;
			one = cJSON_CreateObject();
			cJSON_AddStringToObject(one, "kind", score_kinds[k]);
			cJSON_AddStringToObject(one, "figure", score_words[f].use);
			add_errors(one, "errors", &score->serving_of[k][f]);
			cJSON_AddItemToArray(list, one);
		}
}

static cJSON *score_object(const char *name, const struct score *score)
{
	cJSON *object = cJSON_CreateObject(), *fit, *ranking;

	cJSON_AddStringToObject(object, "source", name);
	cJSON_AddNumberToObject(object, "runs", score->runs);
	cJSON_AddNumberToObject(object, "refused", score->refused);
	add_errors(object, "time", &score->time);
	add_errors(object, "time_dense", &score->of_kind[0]);
	add_errors(object, "time_experts", &score->of_kind[1]);
	add_calibrated(object, score);
	add_errors(object, "memory", &score->memory);
	for (int f = 0; f < SCORE_FIGURES; f++)
		add_errors(object, score_words[f].use, &score->serving[f]);
	add_kinds(object, score);
	fit = cJSON_AddObjectToObject(object, "fit");
	cJSON_AddNumberToObject(fit, "fits_predicted_fits", score->fit.fits_fits);
	cJSON_AddNumberToObject(fit, "fits_predicted_out", score->fit.fits_out);
	cJSON_AddNumberToObject(fit, "out_predicted_fits", score->fit.out_fits);
	cJSON_AddNumberToObject(fit, "out_predicted_out", score->fit.out_out);
	cJSON_AddNumberToObject(fit, "fits_unsure", score->fit.fits_unsure);
	cJSON_AddNumberToObject(fit, "out_unsure", score->fit.out_unsure);
	cJSON_AddNumberToObject(fit, "balanced_accuracy", score->fit.balanced_accuracy);
	cJSON_AddNumberToObject(fit, "least_load_out", score->fit.least_load_out);
	cJSON_AddNumberToObject(fit, "brier", score->fit.brier);
	ranking = cJSON_AddObjectToObject(object, "ranking");
	cJSON_AddNumberToObject(ranking, "groups", score->ranking.groups);
	cJSON_AddNumberToObject(ranking, "runs", score->ranking.runs);
	cJSON_AddNumberToObject(ranking, "tau", score->ranking.tau);
	cJSON_AddNumberToObject(ranking, "top1_regret", score->ranking.top1_regret);
	cJSON_AddNumberToObject(ranking, "top3_regret", score->ranking.top3_regret);
	return object;
}

static void add_predicted(cJSON *row, bool predicted, const char *key, double value)
{
	if (predicted)
		cJSON_AddNumberToObject(row, key, value);
	else
		cJSON_AddNullToObject(row, key);
}

static void add_serving(cJSON *row, const struct measured_run *run,
			const struct score_run *p)
{
	for (int f = 0; f < SCORE_FIGURES; f++) {
		const struct score_serving *one = &p->serving[f];
		const char *name = score_words[f].key;
		bool has = p->predicted && one->predicted > 0;
		char key[64];

		if (f > SCORE_RATE && !run->scores_serving[f])
			continue;
		snprintf(key, sizeof key, "predicted_%s", name);
		add_predicted(row, has, key, one->predicted);
		snprintf(key, sizeof key, "predicted_%s_low", name);
		add_predicted(row, has && one->high > 0, key, one->low);
		snprintf(key, sizeof key, "predicted_%s_high", name);
		add_predicted(row, has && one->high > 0, key, one->high);
		snprintf(key, sizeof key, "measured_%s", name);
		add_predicted(row, run->serving[f] > 0, key, run->serving[f]);
	}
}

static cJSON *row_object(const struct measured_run *run, struct estimate *estimate)
{
	cJSON *row = cJSON_CreateObject();
	struct score_run p;

	run_predict(run, estimate, &p);
	cJSON_AddStringToObject(row, "id", run->id);
	if (run->software_version[0] != '\0')
		cJSON_AddStringToObject(row, "software_version", run->software_version);
	else
		cJSON_AddNullToObject(row, "software_version");
	if (run->scenario.plan.mode == MODE_INFERENCE) {
		add_serving(row, run, &p);
		cJSON_AddBoolToObject(row, "feasible", p.predicted);
		cJSON_AddItemToObject(row, "problems", report_problems(estimate));
		return row;
	}
	add_predicted(row, p.predicted, "predicted_step_seconds", p.predicted_seconds);
	add_predicted(row, p.predicted, "predicted_step_low_seconds", p.low_seconds);
	add_predicted(row, p.predicted, "predicted_step_high_seconds", p.high_seconds);
	add_predicted(row, p.predicted, "predicted_peak_memory_bytes",
		      p.predicted_bytes);
	add_predicted(row, p.predicted, "predicted_memory_low_bytes", p.low_bytes);
	add_predicted(row, p.predicted, "predicted_memory_high_bytes", p.high_bytes);
	add_predicted(row, p.predicted, "load", p.load);
	add_predicted(row, p.predicted, "fit_probability", p.fit_probability);
	add_predicted(row, run->step_seconds > 0, "measured_step_seconds",
		      run->step_seconds);
	add_predicted(row, run->peak_bytes > 0, "measured_peak_memory_bytes",
		      run->peak_bytes);
	cJSON_AddBoolToObject(row, "feasible", p.predicted && estimate->feasible);
	cJSON_AddItemToObject(row, "problems", report_problems(estimate));
	return row;
}

char *runs_json(const struct run_set *set, const struct run_scores *scores)
{
	struct estimate *estimate = calloc(1, sizeof *estimate);
	cJSON *object = cJSON_CreateObject();
	cJSON *sources = cJSON_AddArrayToObject(object, "sources"), *rows;
	char *text;

	for (int k = 0; k < set->sources; k++)
		cJSON_AddItemToArray(sources,
				     score_object(set->source[k], &scores->source[k]));
	cJSON_AddItemToObject(object, "total", score_object("total", &scores->total));
	rows = cJSON_AddArrayToObject(object, "rows");
	for (int i = 0; estimate && i < set->count; i++)
		cJSON_AddItemToArray(rows, row_object(&set->run[i], estimate));
	text = estimate ? cJSON_PrintUnformatted(object) : NULL;
	cJSON_Delete(object);
	free(estimate);
	return text;
}
