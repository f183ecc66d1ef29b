/* scored.c - scores of measured runs that nobody measured: drawn ones. */
#include <math.h>

#include "engine/score/score.h"
#include "tests/numbers/draw.h"
#include "tests/numbers/estimated.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

enum { RUNS = 120 };

/* Within a third of what it should be, and now and then far off. */
static double off(void)
{
	double near = exp(0.01 * ((double)next(60) - 30));

	return next(12) ? near : 1.7 * near;
}

static void draw_serving(struct score_serving *out, double predicted)
{
	*out = (struct score_serving){ .scores = next(3) == 0, .predicted = predicted };
	out->measured = predicted * off();
	out->low = 0.7 * predicted;
	out->high = next(3) ? 1.3 * predicted : 0;
}

/* One call of next() in a statement: C leaves open which of several is first. */
static void draw_run(struct score_run *run)
{
	double seconds = 0.1 * (1 + (double)next(40)), bytes = 1e9 * (double)next(80);

	*run = (struct score_run){ .predicted_seconds = seconds,
				   .low_seconds = 0.8 * seconds,
				   .high_seconds = 1.2 * seconds,
				   .predicted_bytes = bytes,
				   .low_bytes = 0.9 * bytes,
				   .high_bytes = 1.1 * bytes };
	run->source = (int)next(3);
	run->cluster = (int)next(4);
	run->experts = next(2);
	run->ranking = (int)next(12);
	run->predicted = next(12) != 0;
	run->scores_time = next(4) != 0;
	run->scores_memory = next(2);
	run->scores_fit = next(2);
	run->measured_seconds = seconds * off();
	run->measured_bytes = bytes * off();
	run->measured_fits = next(3) != 0;
	run->unsure = next(6) == 0;
	run->load = 0.01 * (double)next(140);
	run->predicted_fits = run->load < 1;
	run->fit_probability = fmin(1, fmax(0, 1.5 - run->load));
	for (int k = 0; k < SCALE_COUNT; k++)
		run->share[k] = 0.1 * (double)next(10);
	for (int k = 0; k < SCORE_FIGURES; k++)
		draw_serving(&run->serving[k], seconds);
}

static void add_errors(struct figures *out, const struct score_errors *e)
{
	const double value[] = { e->n,     e->median, e->mean,    e->p90,
				 e->worst, e->bias,   e->in_range };

	for (int i = 0; i < 7; i++)
		figures_add(out, "errors", value[i], 0);
}

static void add_score(struct figures *out, const struct score *s)
{
	const struct score_fit *fit = &s->fit;
	const double of_fit[] = {
		fit->fits_fits,         fit->fits_out,       fit->out_fits,
		fit->out_out,           fit->fits_unsure,    fit->out_unsure,
		fit->balanced_accuracy, fit->least_load_out, fit->brier
	};

	figures_add(out, "runs", s->runs, 0);
	figures_add(out, "refused", s->refused, 0);
	add_errors(out, &s->time);
	add_errors(out, &s->memory);
	for (int kind = 0; kind < 2; kind++) {
		add_errors(out, &s->of_kind[kind]);
		for (int c = 0; c < SCORE_CALIBRATIONS; c++) {
			add_errors(out, &s->calibrated[kind][c].before);
			add_errors(out, &s->calibrated[kind][c].after);
		}
	}
	for (int i = 0; i < 9; i++)
		figures_add(out, "fit", of_fit[i], 0);
	for (int k = 0; k < SCORE_FIGURES; k++)
		add_errors(out, &s->serving[k]);
	figures_add(out, "ranking.groups", s->ranking.groups, 0);
	figures_add(out, "ranking.runs", s->ranking.runs, 0);
	figures_add(out, "ranking.tau", s->ranking.tau, 0);
	figures_add(out, "ranking.top1", s->ranking.top1_regret, 0);
	figures_add(out, "ranking.top3", s->ranking.top3_regret, 0);
}

static void add_scales(struct figures *out, const struct calibration_run *runs,
		       int count, const struct calibration_prior *prior)
{
	struct scales scales;

	calibrate_scales(runs, count, next(2), prior, &scales);
	for (int k = 0; k < SCALE_COUNT; k++)
		figures_add(out, "scale", scales.scale[k], 0);
	figures_add(out, "kept", scales.kept, 0);
	figures_add(out, "before", scales.before, 0);
	figures_add(out, "left_out", scales.left_out, 0);
	figures_add(out, "shift", calibrate_shift(&runs[0], &scales), 0);
}

void figures_scored(uint64_t number, struct figures *out)
{
	static struct score_run runs[RUNS];
	struct calibration_run few[CALIBRATION_RUNS];
	const struct calibration_prior prior = { .compute = 0.1,
						 .network = 0.15,
						 .host = 0.2,
						 .noise = 0.06,
						 .expert_noise = 0.09,
						 .noise_runs = 3 };
	struct score score;
	int count, source;

	seed = draw_hash("runs", number) | 1;
	count = 4 + (int)next(RUNS - 4);
	source = (int)next(4) - 1;
	for (int i = 0; i < count; i++)
		draw_run(&runs[i]);
	for (int i = 0; i < CALIBRATION_RUNS; i++) {
		few[i].residual = log(off());
		for (int k = 0; k < SCALE_COUNT; k++)
			few[i].share[k] = 0.1 * (double)next(10);
	}
	out->count = 0;
	assert_true(score_runs(runs, count, source, &score));
	assert_true(score_calibration(runs, count, source, &prior, &score));
	add_score(out, &score);
	add_scales(out, few, 1 + (int)next(CALIBRATION_RUNS), &prior);
}
