/* fit.c - constants of accelerators and stacks, fitted to measured steps.
 *
 *     make fit                        errors and constants, nothing is written
 *     make fit FIT="--write"          and into presets/clusters and presets/stacks
 *     make fit FIT="--rows"           and every run's log(predicted / measured)
 *     make fit FIT="--each"           each source in turn left out, and how it is met
 *     make fit FIT="--each --by stack"  the same of stacks; model and chip as well
 *     make fit FIT="--each --left-out FILE"  as a table that validate takes
 *     make left-out                   the same, with every run, and the ranges that are
 *                                     learned of them, into the files that have them
 *     make fit FIT="--each --neutral" from micro-benchmarks, and from what others hold
 *                                     where there are none: what presets hold was
 *                                     fitted to all sources
 *     make fit FIT="--out NAME"       without one source, stack ... of that name
 *
 * Least squares and then coordinate descent on the mean over sources of |log(predicted
 * / measured)|, with half of the same inside each contest of layouts, and a weak pull
 * towards the value that the presets hold. Memory plays no part. The sources of
 * kept_apart are in no fit: they show what is met unseen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "presets/accuracy_file.h"
#include "presets/runs/left_out.h"
#include "tests/validation/fit.h"
#include "tests/validation/left_runs.h"

const double fit_pull = 0.0015;
/* A source counts whole from so many runs on: one run alone fits anything. */
const double fit_enough_runs = 10;

static const char *const kept_apart[] = {
	"megatron_gb200_ladder", "megatron_moe_zoo", "megatron_bridge_cards",
	"mlperf_8b_amd",         "mlperf_lora",      "tpu_recipes",
};

bool fit_takes(const struct fit *f, int i)
{
	return fit_scores(f, i) && !f->left_out[f->part[i]] &&
	       !f->apart[f->set.run[i].source];
}

bool fit_scores(const struct fit *f, int i)
{
	return f->set.run[i].scores_time && f->set.run[i].readable;
}

void fit_predict(struct fit *f, int i)
{
	struct score_run row;

	run_predict(&f->set.run[i], &f->estimate, &row);
	f->error[i] =
		row.predicted ? log(row.predicted_seconds / row.measured_seconds) : NAN;
}

double fit_objective(const struct fit *f)
{
	static double sum[MAX_CONTESTS];
	static int n[MAX_CONTESTS];
	double total = 0, sources = 0;

	memset(sum, 0, sizeof sum);
	memset(n, 0, sizeof n);
	for (int i = 0; i < f->set.count; i++) {
		if (!fit_takes(f, i) || isnan(f->error[i]))
			continue;
		sum[f->contest[i] % MAX_CONTESTS] += f->error[i];
		n[f->contest[i] % MAX_CONTESTS]++;
	}
	for (int s = 0; s < f->set.sources; s++) {
		double loss = 0, runs = 0;

		for (int i = 0; i < f->set.count; i++) {
			int c = f->contest[i] % MAX_CONTESTS;

			if (f->set.run[i].source != s || !fit_takes(f, i) ||
			    isnan(f->error[i]))
				continue;
			loss += fabs(f->error[i]);
			if (n[c] > 3)
				loss += 0.5 * fabs(f->error[i] - sum[c] / n[c]);
			runs++;
		}
		if (runs > 0) {
			double weight = fmin(1, runs / fit_enough_runs);

			total += weight * loss / runs;
			sources += weight;
		}
	}
	return sources > 0 ? total / sources : 0;
}

double fit_tether(const struct constant *c)
{
	double off = log((c->value + 1e-9) / (c->start + 1e-9));

	return fit_pull * fmin(off * off, 9);
}

void fit_apply(struct fit *f, const struct constant *c)
{
	for (int i = 0; i < f->set.count; i++)
		if (fit_scores(f, i) && constant_touches(c, &f->set.run[i].scenario)) {
			constant_set(c, &f->set.run[i].scenario, c->value);
			fit_predict(f, i);
		}
}

/* Try a value; keep it if the objective falls. */
static bool try_value(struct fit *f, struct constant *c, double value, double *best)
{
	double old = c->value, now;

	if (value < c->low || value > c->high || value == old)
		return false;
	c->value = value;
	fit_apply(f, c);
	now = fit_objective(f) + fit_tether(c);
	if (now < *best - 1e-7) {
		*best = now;
		return true;
	}
	c->value = old;
	return false;
}

static void descend(struct fit *f, struct constant *c, double step)
{
	double best = fit_objective(f) + fit_tether(c), before = c->value;
	double up = c->share ? fmin(c->high, c->value + step * 0.5)
			     : fmax(c->value, c->low + 1e-9) * (1 + step);
	double down =
		c->share ? fmax(c->low, c->value - step * 0.5) : c->value / (1 + step);

	if (!try_value(f, c, up, &best))
		try_value(f, c, down, &best);
	if (c->value == before)
		fit_apply(f, c); /* back to what it was */
}

/* Runs that share a constant begin with one value of it, whatever their presets hold.
 */
static void begin(struct fit *f)
{
	for (int i = 0; i < f->set.count; i++)
		for (int k = 0; k < constant_count; k++)
			if (constants[k].found && fit_scores(f, i) &&
			    constant_touches(&constants[k], &f->set.run[i].scenario))
				constant_set(&constants[k], &f->set.run[i].scenario,
					     constants[k].value);
	for (int i = 0; i < f->set.count; i++)
		if (fit_scores(f, i))
			fit_predict(f, i);
}

static void fit_once(struct fit *f, int rounds)
{
	double step = 0.25;

	if (!fit_solve(f, 60))
		exit(2);
	for (int r = 0; r < rounds; r++) {
		double before = fit_objective(f);

		for (int k = 0; k < constant_count; k++)
			if (!constants[k].fixed)
				descend(f, &constants[k], step);
		if (before - fit_objective(f) < 1e-4)
			step *= 0.6;
		if (step < 0.01)
			break;
	}
}

/* What is neutral says little: the pull is to where the last fit of the runs that take
 * part came, until another gains less than a hundredth. */
static void run_fit(struct fit *f, int rounds, bool neutral)
{
	double before;

	begin(f);
	do {
		before = fit_objective(f);
		fit_once(f, rounds);
		for (int k = 0; k < constant_count && neutral; k++)
			constants[k].start = constants[k].value;
	} while (neutral && fit_objective(f) < 0.99 * before);
}

static const struct scenario *touched_by(const struct fit *f, const struct constant *c)
{
	for (int i = 0; i < f->set.count; i++)
		if (fit_scores(f, i) && constant_touches(c, &f->set.run[i].scenario))
			return &f->set.run[i].scenario;
	return NULL;
}

/* The preset's value, as the first run that it touches holds it. */
static void start(struct fit *f)
{
	for (int k = 0; k < constant_count; k++) {
		struct constant *c = &constants[k];

		const struct scenario *s = touched_by(f, c);

		c->found = s != NULL;
		if (s)
			c->begin = c->start = c->value = constant_get(c, s);
	}
}

/* All at once, for each looks at what the presets hold of the others. */
static void start_neutral(const struct fit *f)
{
	double neutral[256];

	if (constant_count > (int)(sizeof neutral / sizeof neutral[0]))
		exit(2);
	for (int k = 0; k < constant_count; k++)
		if (constants[k].found)
			neutral[k] = constants_neutral(&constants[k],
						       touched_by(f, &constants[k]));
	for (int k = 0; k < constant_count; k++)
		if (constants[k].found && !constants[k].held)
			constants[k].begin = constants[k].start = constants[k].value =
				neutral[k];
}

static void restore(struct fit *f)
{
	for (int k = 0; k < constant_count; k++) {
		constants[k].unseen = false;
		constants[k].fixed = constants[k].held;
		constants[k].value = constants[k].start = constants[k].begin;
		fit_apply(f, &constants[k]);
	}
}

/* Constants of a stack that only what is left out runs take no part; constants of
 * silicon that only it has stay as they are. */
static void forget(struct fit *f)
{
	for (int k = 0; k < constant_count; k++) {
		struct constant *c = &constants[k];
		bool elsewhere = !c->stack || c->known;

		for (int i = 0; i < f->set.count && !elsewhere; i++)
			elsewhere = fit_takes(f, i) &&
				    constant_touches(c, &f->set.run[i].scenario);
		c->unseen = !elsewhere;
		c->fixed = c->unseen || c->held;
	}
}

/* An unknown stack is the middle of those that are known. */
static void guess(struct fit *f)
{
	for (int k = 0; k < constant_count; k++)
		if (constants[k].unseen) {
			constants[k].value = constants_middle(&constants[k]);
			fit_apply(f, &constants[k]);
		}
}

/* Of one part, dense or of mixtures. Left out as a table's row; false: it has none. */
static bool sum_up(const struct fit *f, int part, bool experts, struct left_out *out)
{
	double *errors = malloc(sizeof *errors * ((size_t)f->set.count + 1));
	int n = 0;

	for (int i = 0; errors && i < f->set.count; i++)
		if (f->part[i] == part && fit_scores(f, i) && !isnan(f->error[i]) &&
		    (f->set.run[i].scenario.model.moe.experts > 0) == experts)
			errors[n++] = fabs(expm1(f->error[i]));
	*out = (struct left_out){ .kind = experts, .runs = n };
	snprintf(out->source, sizeof out->source, "%.63s", f->part_name[part]);
	out->median = score_quantile(errors, n, 0.5);
	out->p90 = score_quantile(errors, n, 0.9);
	free(errors);
	return n > 0;
}

static void print_part(const struct fit *f, int part, struct left_outs *table)
{
	for (int e = 0; e < 2; e++) {
		struct left_out row;
		double bias = 0;
		int n = 0;

		if (!sum_up(f, part, e == 1, &row))
			continue;
		for (int i = 0; i < f->set.count; i++)
			if (f->part[i] == part && fit_scores(f, i) &&
			    !isnan(f->error[i]) &&
			    (f->set.run[i].scenario.model.moe.experts > 0) ==
				    (e == 1)) {
				bias += f->error[i];
				n++;
			}
		printf("%-26s %-7s %5d  median %5.1f %%  p90 %5.1f %%  bias %+5.1f "
		       "%%%s\n",
		       row.source, e ? "experts" : "dense", row.runs, 100 * row.median,
		       100 * row.p90, 100 * bias / n,
		       f->left_out[part] ? "  left out" : "");
		if (table && table->count < MAX_LEFT_OUT)
			table->row[table->count++] = row;
	}
	fflush(stdout);
}

/* What some runs of its machines mend of a source that was left out: with constants
 * that were fitted to it there is nothing to learn. A source's runs stand together. */
static void print_calibrated(const struct fit *f, int part)
{
	struct run_set set = f->set;
	struct run_scores scores = { 0 };
	int first = 0, end;

	while (first < f->set.count && f->part[first] != part)
		first++;
	for (end = first; end < f->set.count && f->part[end] == part;)
		end++;
	set.run += first;
	set.count = end - first;
	if (first == end || !runs_score(&set, &scores))
		return;
	for (int e = 0; e < 2; e++)
		for (int c = 0; c < SCORE_CALIBRATIONS; c++) {
			const struct score_calibrated *one =
				&scores.source[set.run->source].calibrated[e][c];

			if (one->before.n > 0)
				printf("%-26s %-7s calibrated by %d: median %5.1f > "
				       "%5.1f %%\n",
				       f->part_name[part], e ? "experts" : "dense",
				       score_calibrating[c], 100 * one->before.median,
				       100 * one->after.median);
		}
	run_scores_free(&scores);
}

static void print_range(const struct left_runs *all, int kind)
{
	struct learned range;
	double held;
	int count = 0;

	for (int i = 0; i < all->count; i++)
		count += all->run[i].kind == kind;
	if (count < 1)
		return;
	printf("%-12s %5d runs left out", accuracy_kind_word((enum run_kind)kind),
	       count);
	if (left_runs_learn(all, kind, NULL, &range, &held))
		printf("  80 %% of measured / predicted in %.3f .. %.3f of %d parts; "
		       "learned on all but one they held %.0f %%",
		       exp(range.low), exp(range.high), range.parts, 100 * held);
	printf("\n");
}

static const char *part_of(const struct fit *f, int i, const char *by)
{
	const struct scenario *s = &f->set.run[i].scenario;

	if (strcmp(by, "stack") == 0)
		return s->stack.name;
	if (strcmp(by, "model") == 0)
		return s->model.name;
	return strcmp(by, "chip") == 0 ? s->cluster.accelerator.name
				       : f->set.source[f->set.run[i].source];
}

static void deal_parts(struct fit *f, const char *by)
{
	for (int i = 0; i < f->set.count; i++) {
		const char *name = part_of(f, i, by);
		int k = 0;

		while (k < f->parts && strcmp(f->part_name[k], name) != 0)
			k++;
		if (k == f->parts)
			snprintf(f->part_name[f->parts++], MAX_NAME, "%s", name);
		f->part[i] = k;
	}
	for (int s = 0; s < f->set.sources; s++)
		for (size_t k = 0; k < sizeof kept_apart / sizeof kept_apart[0]; k++)
			f->apart[s] |= strcmp(f->set.source[s], kept_apart[k]) == 0;
}

struct asked {
	bool write, each, rows, neutral;
	const char *by, *out, *table;
	const char *runs, *accuracy; /* files to be written; NULL = none */
};

static bool load(struct fit *f, struct asked *asked, int argc, char **argv)
{
	struct error error;

	asked->by = "source";
	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		asked->write |= strcmp(argv[i], "--write") == 0;
		asked->each |= strcmp(argv[i], "--each") == 0;
		asked->rows |= strcmp(argv[i], "--rows") == 0;
		asked->neutral |= strcmp(argv[i], "--neutral") == 0;
		if (more && strcmp(argv[i], "--by") == 0)
			asked->by = argv[++i];
		else if (more && strcmp(argv[i], "--out") == 0)
			asked->out = argv[++i];
		else if (more && strcmp(argv[i], "--left-out") == 0)
			asked->table = argv[++i];
		else if (more && strcmp(argv[i], "--runs") == 0)
			asked->runs = argv[++i];
		else if (more && strcmp(argv[i], "--accuracy") == 0)
			asked->accuracy = argv[++i];
		else if (argv[i][0] != '-' && !runs_read(&f->set, argv[i], &error)) {
			fprintf(stderr, "fit: %s\n", error.text);
			return false;
		}
	}
	size_t n = (size_t)f->set.count + 1;

	f->error = calloc(n, sizeof *f->error);
	f->contest = calloc(n, sizeof *f->contest);
	f->part = calloc(n, sizeof *f->part);
	f->part_name = calloc(n, sizeof *f->part_name);
	f->left_out = calloc(n, sizeof *f->left_out);
	f->apart = calloc(n, sizeof *f->apart);
	if (!f->error || !f->contest || !f->part || !f->part_name || !f->left_out ||
	    !f->apart || f->set.sources < 1)
		return false;
	deal_parts(f, asked->by);
	return true;
}

static void number_contests(struct fit *f)
{
	struct run_scores scores = { 0 };

	if (!runs_score(&f->set, &scores))
		exit(2);
	for (int i = 0; i < f->set.count; i++)
		f->contest[i] = scores.rows[i].ranking < 0 ? 0 : scores.rows[i].ranking;
	run_scores_free(&scores);
}

/* Whether some run of the part is timed, and all of them are in no fit anyway. */
static bool is_timed(const struct fit *f, int part, bool *apart)
{
	bool timed = false;

	*apart = true;
	for (int i = 0; i < f->set.count; i++) {
		if (f->part[i] != part || !fit_scores(f, i))
			continue;
		timed = true;
		*apart &= f->apart[f->set.run[i].source];
	}
	return timed;
}

static void print_rows(const struct fit *f, int part)
{
	for (int i = 0; i < f->set.count; i++)
		if ((part < 0 || f->part[i] == part) && fit_scores(f, i))
			printf("row %s %.4f\n", f->set.run[i].id, f->error[i]);
}

/* The errors of the part, beside what they are with the constants that ship. */
static bool heap_up(const struct fit *f, int part, const double *shipped,
		    struct left_runs *runs)
{
	bool good = true;

	for (int i = 0; good && i < f->set.count; i++) {
		const struct measured_run *run = &f->set.run[i];
		struct left_run row = { .kind = (int)scenario_run_kind(&run->scenario),
					.error = f->error[i],
					.shipped = shipped[i] };

		if (f->part[i] != part || !fit_scores(f, i) || isnan(f->error[i]))
			continue;
		snprintf(row.source, sizeof row.source, "%.63s", f->part_name[part]);
		snprintf(row.id, sizeof row.id, "%s", run->id);
		good = left_runs_add(runs, &row);
	}
	return good;
}

static bool write_table(const struct left_outs *table, const char *path)
{
	FILE *file = fopen(path, "w");

	if (file)
		left_outs_write(table, file);
	if (file && fclose(file) == 0)
		return true;
	perror(path);
	return false;
}

/* What was asked to be written of all parts. */
static bool write_all(const struct left_outs *table, const struct left_runs *runs,
		      const struct asked *asked)
{
	for (int k = 0; k < RUN_KINDS; k++)
		print_range(runs, k);
	return (!asked->table || write_table(table, asked->table)) &&
	       (!asked->runs || left_runs_write(runs, asked->runs)) &&
	       (!asked->accuracy || left_runs_ship(runs, asked->accuracy));
}

/* What is in no fit is met by the fit of all others: that once. */
static bool each(struct fit *f, int rounds, const struct asked *asked)
{
	static struct left_outs table;
	struct left_runs runs = { 0 };
	double *shipped = malloc(sizeof *shipped * ((size_t)f->set.count + 1));
	bool apart, all = false, good = shipped != NULL;

	for (int i = 0; good && i < f->set.count; i++)
		if (fit_scores(f, i)) {
			fit_predict(f, i);
			shipped[i] = f->error[i];
		}
	/* those that are apart last */
	for (int turn = 0; turn < 2; turn++)
		for (int p = 0; good && p < f->parts; p++) {
			if (!is_timed(f, p, &apart) || apart != (turn == 1) ||
			    (asked->out && strcmp(asked->out, f->part_name[p]) != 0))
				continue;
			if (!apart || !all) {
				restore(f);
				f->left_out[p] = true;
				forget(f);
				run_fit(f, rounds, asked->neutral);
				guess(f);
				all = apart;
			}
			f->left_out[p] = true;
			print_part(f, p, &table);
			if (strcmp(asked->by, "source") == 0)
				print_calibrated(f, p);
			good = heap_up(f, p, shipped, &runs);
			if (asked->rows)
				print_rows(f, p);
			f->left_out[p] = false;
		}
	good = good && write_all(&table, &runs, asked);
	left_runs_free(&runs);
	free(shipped);
	return good;
}

static void print_constants(void)
{
	for (int k = 0; k < constant_count; k++)
		if (constants[k].found)
			printf("%-20s %-34s %10.4g  was %.4g%s\n", constants[k].owner,
			       constants[k].key, constants[k].value / constants[k].unit,
			       constants[k].start / constants[k].unit,
			       constant_on_bound(&constants[k], constants[k].value)
				       ? "  ON ITS BOUND"
				       : "");
}

int main(int argc, char **argv)
{
	static struct fit f;
	struct asked asked = { 0 };
	int rounds = 200;

	if (!load(&f, &asked, argc, argv))
		return 2;
	constants_hold();
	number_contests(&f);
	start(&f);
	if (asked.neutral)
		start_neutral(&f);
	if (asked.each)
		return each(&f, rounds, &asked) ? 0 : 2;
	for (int p = 0; p < f.parts; p++)
		f.left_out[p] = asked.out && strcmp(asked.out, f.part_name[p]) == 0;
	forget(&f);
	run_fit(&f, rounds, asked.neutral);
	guess(&f);
	for (int p = 0; p < f.parts; p++)
		print_part(&f, p, NULL);
	printf("objective %.4f\n", fit_objective(&f));
	print_constants();
	if (asked.rows)
		print_rows(&f, -1);
	return asked.write && !constants_write() ? 2 : 0;
}
