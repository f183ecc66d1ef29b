/* serving_ranges.c - by which factor the predictions of a server that no constant was
 * fitted to are off: each stack and each model is left out in turn. What is learned on
 * some of them is tried on the others, and widened until it holds its share of these.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/accuracy_file.h"
#include "presets/release.h"
#include "presets/runs/left_out.h"
#include "tests/validation/fit_serving.h"

static const double share = 0.8;

/* The first token under load is a figure of its own where prompts have GPUs of their
 * own. */
enum { RANGE_POOLS = RANGE_FIGURES, RANGES };
static const char *const range_words[RANGES] = { "TPOT", "TTFT", "rate", "loaded",
						 "pools" };

/* One figure of a run that was left out; it is there twice, once with its stack and
 * once with its model. */
struct miss {
	int figure;
	bool experts, model;  /* left out with its model */
	double error;         /* |log(predicted / measured)| */
	double weight;        /* one over all that were left out with it */
	double off;           /* |predicted / measured - 1| */
	int part;             /* what was left out */
	int source, kind;     /* of its run, and the figure that was measured */
	bool of[SCORE_KINDS]; /* what its server is */
};
struct misses {
	struct miss *item;
	int count;
};

/* Which misses a row of the answer is about; -1 is both. */
struct choice {
	int experts, model;
};

static bool has_experts(const struct scenario *s)
{
	return s->model.moe.experts > 0;
}

/* Llama 2 70B tells all of Llama 3.1 70B: what has one shape is one model. */
static bool is_alike(const struct serving_fit *f, int i, int k, bool model)
{
	const struct scenario *a = &f->set.run[i].scenario,
			      *b = &f->set.run[k].scenario;

	if (!f->set.run[i].readable || !f->set.run[k].readable)
		return false;
	if (!model)
		return release_same_stack(a->stack.name, b->stack.name);
	return a->model.layers == b->model.layers &&
	       a->model.hidden == b->model.hidden &&
	       a->model.moe.experts == b->model.moe.experts;
}

static int compare(const void *a, const void *b)
{
	double x = ((const struct miss *)a)->error, y = ((const struct miss *)b)->error;

	return (x > y) - (x < y);
}

static bool is_chosen(const struct miss *m, int figure, struct choice c)
{
	return m->figure == figure && (c.experts < 0 || m->experts == c.experts) &&
	       (c.model < 0 || m->model == c.model);
}

/* The factor that holds the share of what is chosen, of sorted misses: all runs count
 * alike, or all that were left out together count as one. */
static double factor(const struct misses *all, int figure, struct choice c, bool runs)
{
	double total = 0, sum = 0;

	for (int i = 0; i < all->count; i++)
		if (is_chosen(&all->item[i], figure, c))
			total += runs ? 1 : all->item[i].weight;
	for (int i = 0; i < all->count; i++) {
		if (!is_chosen(&all->item[i], figure, c))
			continue;
		sum += runs ? 1 : all->item[i].weight;
		if (sum >= share * total - 1e-9)
			return exp(all->item[i].error);
	}
	return NAN;
}

static int number(const struct misses *all, int figure, struct choice c)
{
	int n = 0;

	for (int i = 0; i < all->count; i++)
		n += is_chosen(&all->item[i], figure, c);
	return n;
}

static void print_row(const char *what, const struct misses *all, struct choice c)
{
	printf("%-24s", what);
	for (int k = 0; k < RANGES; k++) {
		int n = number(all, k, c);

		if (n > 0)
			printf("  %5d  %.3f  %.3f", n, factor(all, k, c, true),
			       factor(all, k, c, false));
		else
			printf("  %5s  %5s  %5s", "-", "-", "-");
	}
	putchar('\n');
	fflush(stdout);
}

/* As a range of its own: RANGE_POOLS or what was measured. */
static int range_of(const struct serving_fit *f, int i, int figure)
{
	bool apart = f->set.run[i].scenario.plan.serving.disaggregated;

	return figure == SCORE_TTFT_LOADED && apart ? RANGE_POOLS : figure;
}

static void keep(const struct serving_fit *f, int range, bool model, int part,
		 struct misses *all)
{
	int first = all->count;
	int figure = range == RANGE_POOLS ? SCORE_TTFT_LOADED : range;

	for (int i = 0; i < f->set.count; i++)
		if (f->left_out[i] && !isnan(f->error[i][figure]) &&
		    range_of(f, i, figure) == range) {
			all->item[all->count] = (struct miss){
				.figure = range,
				.part = part,
				.source = f->set.run[i].source,
				.kind = figure,
				.experts = has_experts(&f->set.run[i].scenario),
				.model = model,
				.error = fabs(f->error[i][figure]),
				.off = fabs(expm1(f->error[i][figure])),
			};
			run_kinds(&f->set.run[i].scenario, all->item[all->count++].of);
		}
	for (int i = first; i < all->count; i++)
		all->item[i].weight = 1.0 / (all->count - first);
}

/* Whether any of what is left out was measured in time. */
static bool tells(const struct serving_fit *f)
{
	for (int i = 0; i < f->set.count; i++)
		for (int k = 0; f->left_out[i] && k < RANGE_FIGURES; k++)
			if (f->set.run[i].scores_serving[k])
				return true;
	return false;
}

/* Refits without what is like run `like`. */
static void leave_out(struct serving_fit *f, int like, bool model, struct misses *all)
{
	const struct scenario *s = &f->set.run[like].scenario;
	struct misses here = { all->item + all->count, 0 };

	for (int i = 0; i < f->set.count; i++)
		f->left_out[i] = is_alike(f, like, i, model);
	if (!tells(f))
		return;
	serving_fit_search(f);
	for (int k = 0; k < RANGES; k++)
		keep(f, k, model, like, all);
	here.count = (int)(all->item + all->count - here.item);
	qsort(here.item, (size_t)here.count, sizeof *here.item, compare);
	print_row(model ? s->model.name : s->stack.name, &here,
		  (struct choice){ -1, -1 });
}

static void leave_out_each(struct serving_fit *f, bool model, struct misses *all)
{
	for (int i = 0; i < f->set.count; i++) {
		bool seen = !f->set.run[i].readable;

		for (int k = 0; k < i && !seen; k++)
			seen = is_alike(f, i, k, model);
		if (!seen)
			leave_out(f, i, model, all);
	}
}

/* The error that holds the share of what is chosen and was not left out with `without`.
 */
static double learned(const struct misses *all, int figure, struct choice c,
		      int without)
{
	int total = 0, n = 0;

	for (int i = 0; i < all->count; i++)
		total += is_chosen(&all->item[i], figure, c) &&
			 all->item[i].part != without;
	for (int i = 0; i < all->count; i++)
		if (is_chosen(&all->item[i], figure, c) &&
		    all->item[i].part != without && ++n >= share * total - 1e-9)
			return all->item[i].error;
	return NAN;
}

/* Share of the runs that a range learned on all other stacks, or all other models,
 * holds where it is so many times as wide. */
static double held(const struct misses *all, int figure, int experts, double wide)
{
	int tried = 0, good = 0;

	for (int i = 0; i < all->count; i++) {
		const struct miss *m = &all->item[i];
		struct choice c = { experts, m->model };
		double range;

		if (!is_chosen(m, figure, c))
			continue;
		range = learned(all, figure, c, m->part);
		if (isnan(range))
			continue;
		tried++;
		good += m->error <= wide * range;
	}
	return tried > 0 ? (double)good / tried : NAN;
}

static void print_learned(const struct misses *all, int figure, int experts)
{
	struct choice both = { experts, -1 };
	double bare = learned(all, figure, both, -1), wide = 1, holds;

	if (isnan(bare))
		return;
	holds = held(all, figure, experts, wide);
	while (held(all, figure, experts, wide) < share && wide < 4)
		wide += 0.02;
	printf("%-6s %-8s %5d  %.3f", range_words[figure],
	       experts < 0 ? "all"
	       : experts   ? "experts"
			   : "dense",
	       number(all, figure, both), exp(bare));
	if (isnan(holds)) {
		puts("      -      -      -      -");
		return;
	}
	printf("  %5.1f  %.2f  %.3f  %5.1f\n", 100 * holds, wide, exp(wide * bare),
	       100 * held(all, figure, experts, wide));
}

/* What was learned on the others, tried on each stack and each model. */
static void print_all_learned(const struct misses *all)
{
	puts("\nlearned on all other stacks, or models; held: % of the runs of the one "
	     "left out;\nwider so many times to hold 80 of 100\n"
	     "figure of       runs      f   held  wide      f   held");
	for (int k = 0; k < RANGES; k++)
		for (int experts = -1; experts < 2; experts++)
			print_learned(all, k, experts);
}

static void print_in_use(void)
{
	puts("\nin use    TPOT   TTFT   rate loaded  pools");
	for (int experts = 0; experts < 2; experts++) {
		const struct serve_spread *s = &accuracy_shipped()->serving[experts];

		printf("%-8s %.3f  %.3f  %.3f  %.3f  %.3f\n",
		       experts ? "experts" : "dense", s->tpot, s->ttft, s->rate,
		       s->loaded, s->pools);
	}
}

/* Of a source and a figure, whatever was left out; of a kind of servers, or with -1 of
 * all. */
static bool sum_up(const struct serving_fit *f, const struct misses *all, int source,
		   int figure, int kind, struct left_out *out)
{
	double *errors = malloc(sizeof *errors * ((size_t)all->count + 1));
	int n = 0;

	for (int i = 0; errors && i < all->count; i++)
		if (all->item[i].source == source && all->item[i].kind == figure &&
		    (kind < 0 || all->item[i].of[kind]))
			errors[n++] = all->item[i].off;
	*out = (struct left_out){
		.kind = LEFT_SERVING + figure + (1 + kind) * SCORE_FIGURES,
		.runs = n,
	};
	snprintf(out->source, sizeof out->source, "%.63s", f->set.source[source]);
	out->median = score_quantile(errors, n, 0.5);
	out->p90 = score_quantile(errors, n, 0.9);
	free(errors);
	return n > 0;
}

static bool write_left_out(const struct serving_fit *f, const struct misses *all,
			   const char *path)
{
	static struct left_outs table;
	FILE *file = fopen(path, "w");

	for (int kind = -1; kind < SCORE_KINDS; kind++)
		for (int s = 0; s < f->set.sources; s++)
			for (int k = 0; k < RANGE_FIGURES; k++)
				if (table.count < MAX_LEFT_OUT &&
				    sum_up(f, all, s, k, kind, &table.row[table.count]))
					table.count++;
	if (!file)
		return false;
	left_outs_write(&table, file);
	return fclose(file) == 0;
}

bool serving_fit_ranges(struct serving_fit *f, const char *left_out)
{
	static const struct {
		const char *name;
		struct choice choice;
	} rows[] = {
		{ "stacks, dense", { 0, 0 } },   { "models, dense", { 0, 1 } },
		{ "both, dense", { 0, -1 } },    { "stacks, experts", { 1, 0 } },
		{ "models, experts", { 1, 1 } }, { "both, experts", { 1, -1 } },
		{ "all", { -1, -1 } },
	};
	size_t most = (size_t)f->set.count * RANGE_FIGURES * 2 + 1;
	bool good = true;
	struct misses all = { calloc(most, sizeof *all.item), 0 };

	if (!all.item)
		return false;
	printf("%.0f %% of measured / predicted lie in 1/f .. f of what is left out\n"
	       "f': all that are left out together count as one run\n%-24s",
	       100 * share, "left out");
	for (int k = 0; k < RANGES; k++)
		printf("  %5s  %5s  %5s", range_words[k], "f", "f'");
	putchar('\n');
	leave_out_each(f, false, &all);
	leave_out_each(f, true, &all);
	qsort(all.item, (size_t)all.count, sizeof *all.item, compare);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		print_row(rows[i].name, &all, rows[i].choice);
	print_all_learned(&all);
	print_in_use();
	if (left_out)
		good = write_left_out(f, &all, left_out);
	free(all.item);
	return good;
}
