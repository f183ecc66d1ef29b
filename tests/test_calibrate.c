/* test_calibrate.c - measured runs of a machine: what is believed of them, and how they
 * are read from an MLPerf log. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/predict/predict.h"
#include "engine/score/calibrate.h"
#include "presets/accuracy_file.h"
#include "presets/library.h"
#include "presets/mlperf/log.h"
#include "presets/runs/left_out.h"
#include "presets/runs/runs.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static struct calibration_run slower(double factor, double network)
{
	return (struct calibration_run){ .residual = log(factor),
					 .share = { 1 - network, network, 0 } };
}

static const struct calibration_prior *prior(void)
{
	return &accuracy_shipped()->prior;
}

static void the_prior_ships_with_ranges_of_every_kind(void **state)
{
	(void)state;
	assert_true(prior()->compute > 0 && prior()->network > prior()->compute &&
		    prior()->host > prior()->network);
	assert_true(prior()->noise > 0 && prior()->expert_noise > prior()->noise);
	for (int k = 0; k < RUN_KINDS; k++) {
		assert_true(accuracy_shipped()->time[k].low < 1);
		assert_true(accuracy_shipped()->time[k].high > 1);
		assert_true(accuracy_shipped()->memory[k].high > 1);
	}
}

static void one_run_moves_nothing_that_chance_may_do(void **state)
{
	struct scales s;

	(void)state;
	for (double factor = 0.8; factor < 1.3; factor += 0.05) {
		struct calibration_run run = slower(factor, 0.2);

		calibrate_scales(&run, 1, false, prior(), &s);
		assert_true(s.kept == 0 && s.left_out == 0);
		for (int j = 0; j < SCALE_COUNT; j++)
			assert_close(s.scale[j], 1, 1e-12);
	}
	/* what is off by twice is another machine; two such runs say it */
	struct calibration_run runs[] = { slower(2, 0.2), slower(2, 0.2) };

	calibrate_scales(runs, 1, false, prior(), &s);
	assert_true(s.kept > 0 && s.scale[SCALE_COMPUTE] > 1.01);
	calibrate_scales(runs, 2, false, prior(), &s);
	assert_true(calibrate_shift(&runs[0], &s) > 0.5 * log(2));
}

/* Two runs far off and one that is met: what the two say makes the third worse by more
 * than it mends either of them by the other and the third. */
static void scales_that_unseen_runs_disown_are_none(void **state)
{
	struct calibration_run runs[] = { slower(1.35, 0.2), slower(1, 0.2),
					  slower(1.35, 0.2) };
	struct scales s;

	(void)state;
	calibrate_scales(runs, 3, false, prior(), &s);
	assert_true(s.before > 0 && s.left_out > 0);
	assert_true(s.kept == 0);
	for (int j = 0; j < SCALE_COUNT; j++)
		assert_close(s.scale[j], 1, 1e-12);
	/* all three alike say it */
	runs[1] = runs[0];
	calibrate_scales(runs, 3, false, prior(), &s);
	assert_true(s.kept > 0 && s.left_out < s.before);
	assert_true(s.scale[SCALE_COMPUTE] > 1);
}

/* Mixtures scatter by as much as this machine is off: eight say so, of which each is
 * met by the others, four do not. */
static void runs_vouch_for_each_other(void **state)
{
	static const double around[] = { -0.1, 0.1, -0.15, 0.15, -0.05, 0.05, 0, 0 };
	struct calibration_run runs[8];
	struct scales s;

	(void)state;
	for (int i = 0; i < 8; i++)
		runs[i] = slower(1.12 * exp(around[i]), 0.1);
	calibrate_scales(runs, 4, true, prior(), &s);
	assert_true(s.kept == 0);
	calibrate_scales(runs, 8, true, prior(), &s);
	assert_true(s.kept > 0.4 && s.scale[SCALE_COMPUTE] > 1.03);
	assert_true(s.left_out < 0.9 * s.before);
}

/* Each by the other three, the middle ones of four come no nearer, whatever the first
 * does. */
static void what_the_median_run_does_not_gain_is_let_go(void **state)
{
	static const double factors[] = { 1.3, 1.2, 1.15, 1.05 };
	struct calibration_run runs[4];
	struct scales s;

	(void)state;
	for (int i = 0; i < 4; i++)
		runs[i] = slower(factors[i], 0.2);
	calibrate_scales(runs, 4, false, prior(), &s);
	assert_true(s.left_out > 0.9 * s.before);
	assert_true(s.kept == 0 && s.scale[SCALE_COMPUTE] == 1);
}

/* Five of eight runs are slow by an eighth, three are not: the scales of seven bring
 * the slow ones nearer and take the others away, by about as much. */
static void a_gain_within_its_error_is_none(void **state)
{
	static const double factors[] = {
		1.13, 1.11, 1.12, 1.14, 1.15, 1.03, 0.93, 0.93
	};
	struct calibration_run runs[8];
	struct scales s;

	(void)state;
	for (int i = 0; i < 8; i++)
		runs[i] = slower(factors[i], 0.2);
	calibrate_scales(runs, 8, false, prior(), &s);
	assert_true(s.left_out < 0.9 * s.before);
	assert_true(s.kept == 0);
	for (int i = 5; i < 8; i++)
		runs[i] = slower(factors[i - 5], 0.2);
	calibrate_scales(runs, 8, false, prior(), &s);
	assert_true(s.kept > 0.4);
}

static void more_runs_are_believed_more(void **state)
{
	struct calibration_run runs[32];
	double before = 0;

	(void)state;
	for (int i = 0; i < 32; i++)
		runs[i] = slower(1.2, 0.1 + 0.01 * (i % 5));
	for (int n = 1; n <= 32; n *= 2) {
		struct scales s;

		calibrate_scales(runs, n, false, prior(), &s);
		assert_true(calibrate_shift(&runs[0], &s) >= before);
		before = calibrate_shift(&runs[0], &s);
		if (n >= 8)
			assert_true(s.left_out < 0.4 * s.before);
	}
	assert_true(before > log(1.1) && before < log(1.2));
}

/* Of runs that differ in what they wait for, that scale moves. */
static void the_scale_that_explains_the_runs_moves(void **state)
{
	struct calibration_run runs[12];
	struct scales s;

	(void)state;
	for (int i = 0; i < 12; i++) {
		double network = i % 2 ? 0.5 : 0.1;

		runs[i] = slower(pow(1.4, network), network);
	}
	calibrate_scales(runs, 12, false, prior(), &s);
	assert_true(s.scale[SCALE_NETWORK] > 1.1);
	assert_true(s.scale[SCALE_COMPUTE] < 1.03);
	for (int i = 0; i < 12; i++)
		runs[i] = (struct calibration_run){ .residual = log(1.3),
						    .share = { 0.3, 0, 0.7 } };
	calibrate_scales(runs, 12, false, prior(), &s);
	assert_true(s.scale[SCALE_HOST] > s.scale[SCALE_COMPUTE] + 0.1);
}

static void an_odd_run_among_many_moves_little(void **state)
{
	struct calibration_run runs[9];
	struct scales s;

	(void)state;
	for (int i = 0; i < 9; i++)
		runs[i] = slower(1 + 0.01 * (i - 4), 0.1);
	runs[8] = slower(3, 0.1);
	calibrate_scales(runs, 9, false, prior(), &s);
	assert_close(s.scale[SCALE_COMPUTE], 1, 0.01);
}

/* The scales of the engine are those that were fitted: where they are set, the step
 * moves as its shares say. */
static void scales_move_the_step_as_its_shares_say(void **state)
{
	static struct scenario s, scratch;
	static struct estimate e;
	struct calibration_run run = { 0 };
	struct scales scales = { .scale = { 1.04, 1.06, 1.2 } };
	struct error error;
	double seconds;

	(void)state;
	assert_true(scenario_read(&s, "mixtral-8x7b-64-h100", NULL, &error));
	run_scale_shares(&s, &scratch, &e, run.share);
	assert_true(run.share[SCALE_COMPUTE] > 0.4 && run.share[SCALE_NETWORK] > 0.01);
	scenario_estimate(&s, &e);
	seconds = e.step_seconds;
	s.cluster.accelerator.calibration.compute_scale = 1.04;
	s.cluster.accelerator.calibration.network_scale = 1.06;
	s.cluster.accelerator.calibration.host_scale = 1.2;
	scenario_estimate(&s, &e);
	assert_close(log(e.step_seconds / seconds), calibrate_shift(&run, &scales),
		     0.1);
}

/* A link carries no more than its line, however fast a run was. */
static void no_scale_lifts_a_link_above_its_line(void **state)
{
	static struct scenario s;
	static struct estimate e;
	struct error error;

	(void)state;
	assert_true(scenario_read(&s, "llama3-70b-64-h100", NULL, &error));
	s.cluster.accelerator.calibration.network_scale = 0.1;
	scenario_estimate(&s, &e);
	for (int i = 0; i < e.traffic_count; i++) {
		const struct traffic *t = &e.traffic[i];

		if (t->kind == COLLECTIVE_SEND && t->network_bytes > 0)
			assert_true(t->call_bytes / t->seconds <
				    s.cluster.link[LINK_NETWORK].bytes_per_second *
					    1.001);
	}
}

/* On all measured runs: of each machine some runs calibrate, the others are predicted.
 */
static void one_run_makes_no_source_worse(void **state)
{
	struct run_set set = { 0 };
	struct run_scores scores = { 0 };
	glob_t found = { 0 };
	struct error error;
	int tried = 0;

	(void)state;
	assert_int_equal(glob("tests/validation/*.yaml", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		assert_true(runs_read(&set, found.gl_pathv[i], &error));
	globfree(&found);
	assert_true(runs_score(&set, &scores));
	for (int k = 0; k < set.sources; k++)
		for (int e = 0; e < 2; e++) {
			const struct score_calibrated *one =
				&scores.source[k].calibrated[e][0];

			tried += one->before.n > 0;
			/* a shift below what a table prints is none */
			if (one->after.median > one->before.median + 5e-4)
				fail_msg("%s: %g instead of %g", set.source[k],
					 one->after.median, one->before.median);
		}
	assert_true(tried > 15);
	run_scores_free(&scores);
	runs_free(&set);
}

#define EVENT(key, value, time, samples)                                           \
	"0: :::MLLOG {\"namespace\": \"\", \"time_ms\": " time ", \"key\": \"" key \
	"\", \"value\": " value                                                    \
	", \"metadata\": {\"file\": \"a.py\", \"samples_count\": " samples "}}\n"
#define BATCH EVENT("global_batch_size", "16", "0", "0")

static struct mlperf_log parse(const char *text)
{
	struct mlperf_log log;
	struct error error = { "" };

	if (!mlperf_log_parse("result.txt", text, strlen(text), &log, &error))
		fail_msg("%s", error.text);
	return log;
}

/* Three blocks of 10, 4 and 4 steps; the first is slow, evaluations are not counted. */
static void a_log_tells_the_median_step(void **state)
{
	struct mlperf_log log = parse(
		"other output\n" BATCH EVENT("max_sequence_length", "8192", "0",
					     "0") EVENT("block_start", "null", "0", "0")
			EVENT("block_stop", "null", "90000", "160") EVENT(
				"eval_start", "null", "90000",
				"160") EVENT("eval_stop", "null", "190000", "160")
				EVENT("block_start", "null", "190000", "160") EVENT(
					"block_stop", "null", "198000", "224")
					EVENT("block_start", "null", "200000", "224")
						EVENT("eval_start", "null", "209000",
						      "288") EVENT("block_stop", "null",
								   "999000", "288"));

	(void)state;
	assert_int_equal(log.blocks, 3);
	assert_close(log.step_seconds, 2.25, 1e-12);
	assert_int_equal(log.global_batch, 16);
	assert_int_equal(log.global_batch_line, 2);
	assert_int_equal(log.sequence, 8192);
	/* GPT-3 counts tokens */
	log = parse(BATCH EVENT("submission_benchmark", "\"gpt3\"", "0",
				"0") EVENT("max_sequence_length", "2048", "0", "0")
			    EVENT("block_start", "null", "0", "0")
				    EVENT("block_stop", "null", "6000", "98304"));
	assert_close(log.step_seconds, 2, 1e-12);
}

static void refuses(const char *text, const char *why)
{
	struct mlperf_log log;
	struct error error = { "" };

	if (mlperf_log_parse("result.txt", text, strlen(text), &log, &error) ||
	    !strstr(error.text, why))
		fail_msg("no '%s' in '%s'", why, error.text);
}

static void a_log_that_tells_nothing_is_an_error(void **state)
{
	(void)state;
	refuses("", "no block_start and block_stop");
	refuses(BATCH, "no block_start and block_stop");
	refuses(EVENT("block_start", "null", "0", "0")
			EVENT("block_stop", "null", "9", "64"),
		"no global_batch_size");
	refuses("\n:::MLLOG {\"key\": ",
		"result.txt:2: behind :::MLLOG stands no JSON");
	refuses(EVENT("global_batch_size", "\"many\"", "0", "0"), "result.txt:1: its");
	/* time that runs backwards, samples that stand still, an end alone */
	refuses(BATCH EVENT("block_start", "null", "9", "0")
			EVENT("block_stop", "null", "0", "64") EVENT("block_start",
								     "null", "0", "64")
				EVENT("block_stop", "null", "9", "64")
					EVENT("block_stop", "null", "99", "128"),
		"no block_start and block_stop");
}

/* The command with a log in place of seconds: of another plan it is refused, and so is
 * a log beside seconds. */
static void the_command_reads_a_log(void **state)
{
#define PLAN "calibrate llama3-8b-8-h100 --gbs 16 "
	static const struct {
		const char *options;
		int status;
		const char *says;
	} rows[] = {
		{ PLAN "--seq 4096 --mllog", 2,
		  "max_sequence_length is 8192, but this plan's is 4096; give the plan "
		  "that ran, or --seq 8192" },
		{ PLAN "--gbs 32 --seq 8192 --mllog", 2,
		  "global_batch_size is 16, but this plan's is 32; give the plan that "
		  "ran, or --gbs 16" },
		{ PLAN "--seq 8192 --measured-step 3 --mllog", 2,
		  "both say how long a step took" },
		{ PLAN "--seq 8192 --mllog", 0, ": a step takes 3 s\n" },
	};
	char home[] = "/tmp/shardscope-mllog-XXXXXX", file[64], line[256];
	char usual[512], at_home[700];
	FILE *log;

	(void)state;
	assert_non_null(mkdtemp(home));
	snprintf(file, sizeof file, "%s/result.txt", home);
	log = fopen(file, "w");
	assert_non_null(log);
	fputs(BATCH EVENT("max_sequence_length", "8192", "0", "0")
		      EVENT("block_start", "null", "0", "0")
			      EVENT("block_stop", "null", "30000", "160"),
	      log);
	assert_int_equal(fclose(log), 0);
	snprintf(usual, sizeof usual, "%s", run_program());
	snprintf(at_home, sizeof at_home, "env XDG_CONFIG_HOME=%s %s", home, usual);
	setenv("SHARDSCOPE", at_home, 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ran ran;

		snprintf(line, sizeof line, "%s %s", rows[i].options, file);
		ran = run(line);
		if (ran.status != rows[i].status ||
		    !strstr(ran.status == 2 ? ran.err : ran.out, rows[i].says))
			fail_msg("%s: status %d\n%s%s", line, ran.status, ran.out,
				 ran.err);
		ran_free(&ran);
	}
	setenv("SHARDSCOPE", usual, 1);
	snprintf(line, sizeof line, "rm -rf %s", home);
	assert_int_equal(system(line), 0);
}

static void a_table_of_what_was_left_out_comes_back(void **state)
{
	static struct left_outs all, back;
	struct left_out total;
	struct error error;
	char path[] = "/tmp/shardscope-left-out-XXXXXX";
	int handle = mkstemp(path);
	FILE *file = fdopen(handle, "w");

	(void)state;
	all.count = 6;
	all.row[0] = (struct left_out){ "a", LEFT_DENSE, 10, 0.1, 0.2 };
	all.row[1] = (struct left_out){ "a", LEFT_EXPERTS, 3, 0.3, 0.4 };
	all.row[2] = (struct left_out){ "b", LEFT_DENSE, 5, 0.2, 0.6 };
	all.row[3] = (struct left_out){ "a", LEFT_SERVING + SCORE_TPOT, 7, 0.05, 0.1 };
	all.row[4] =
		(struct left_out){ "a", LEFT_SERVING + SCORE_TTFT_LOADED, 7, 0.4, 0.5 };
	all.row[5] = (struct left_out){
		"a", LEFT_SERVING + (1 + SCORE_PIPELINED) * SCORE_FIGURES + SCORE_RATE,
		7, 0.6, 0.7
	};
	left_outs_write(&all, file);
	fclose(file);
	assert_true(left_outs_read(&back, path, &error));
	assert_int_equal(back.count, 6);
	assert_int_equal(back.row[5].kind, all.row[5].kind);
	assert_true(left_outs_total(&back, LEFT_DENSE, &total));
	assert_close(total.median, 0.15, 1e-9);
	assert_close(total.p90, 0.4, 1e-9);
	assert_int_equal(total.runs, 15);
	assert_close(left_outs_find(&back, "a", LEFT_EXPERTS)->median, 0.3, 1e-9);
	assert_null(left_outs_find(&back, "b", LEFT_EXPERTS));
	/* figures of servers are kinds of their own */
	assert_close(left_outs_find(&back, "a", LEFT_SERVING + SCORE_TTFT_LOADED)->p90,
		     0.5, 1e-9);
	assert_null(left_outs_find(&back, "a", LEFT_SERVING + SCORE_RATE));
	assert_false(left_outs_total(&back, LEFT_SERVING + SCORE_TTFT, &total));
	file = fopen(path, "a");
	fputs("c,dense,many,0.1,0.2\n", file);
	fclose(file);
	assert_false(left_outs_read(&back, path, &error));
	assert_non_null(strstr(error.text, ":8: expected"));
	unlink(path);
	assert_false(left_outs_read(&back, path, &error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_prior_ships_with_ranges_of_every_kind),
		cmocka_unit_test(one_run_moves_nothing_that_chance_may_do),
		cmocka_unit_test(scales_that_unseen_runs_disown_are_none),
		cmocka_unit_test(runs_vouch_for_each_other),
		cmocka_unit_test(what_the_median_run_does_not_gain_is_let_go),
		cmocka_unit_test(a_gain_within_its_error_is_none),
		cmocka_unit_test(more_runs_are_believed_more),
		cmocka_unit_test(the_scale_that_explains_the_runs_moves),
		cmocka_unit_test(an_odd_run_among_many_moves_little),
		cmocka_unit_test(scales_move_the_step_as_its_shares_say),
		cmocka_unit_test(no_scale_lifts_a_link_above_its_line),
		cmocka_unit_test(one_run_makes_no_source_worse),
		cmocka_unit_test(a_log_tells_the_median_step),
		cmocka_unit_test(a_log_that_tells_nothing_is_an_error),
		cmocka_unit_test(the_command_reads_a_log),
		cmocka_unit_test(a_table_of_what_was_left_out_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
