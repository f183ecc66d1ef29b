/* serving_ranges.c - by which factor the predictions of a server that no constant was
 * fitted to are off: each stack and each model is left out in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/release.h"
#include "tests/validation/fit_serving.h"

static const double share = 0.8;

/* One figure of a run that was left out; it is there twice, once with its stack and
 * once with its model. */
struct miss {
	int figure;
	bool experts, model; /* left out with its model */
	double error;        /* |log(predicted / measured)| */
	double weight;       /* one over all that were left out with it */
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
	for (int k = 0; k < RANGE_FIGURES; k++) {
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

static void keep(const struct serving_fit *f, int figure, bool model,
		 struct misses *all)
{
	int first = all->count;

	for (int i = 0; i < f->set.count; i++)
		if (f->left_out[i] && !isnan(f->error[i][figure]))
			all->item[all->count++] = (struct miss){
				.figure = figure,
				.experts = has_experts(&f->set.run[i].scenario),
				.model = model,
				.error = fabs(f->error[i][figure]),
			};
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
	for (int k = 0; k < RANGE_FIGURES; k++)
		keep(f, k, model, all);
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

static void print_in_use(void)
{
	for (int experts = 0; experts < 2; experts++) {
		const struct serve_spread *s = serve_spread(experts);

		printf("%-24s  %5s  %.3f  %5s  %5s  %.3f  %5s  %5s  %.3f\n",
		       experts ? "in use, experts" : "in use, dense", "", s->tpot, "",
		       "", s->ttft, "", "", s->rate);
	}
}

bool serving_fit_ranges(struct serving_fit *f)
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
	struct misses all = { calloc(most, sizeof *all.item), 0 };

	if (!all.item)
		return false;
	printf("%.0f %% of measured / predicted lie in 1/f .. f of what is left out\n"
	       "f': all that are left out together count as one run\n%-24s",
	       100 * share, "left out");
	for (int k = 0; k < RANGE_FIGURES; k++)
		printf("  %5s  %5s  %5s", serving_figures[k], "f", "f'");
	putchar('\n');
	leave_out_each(f, false, &all);
	leave_out_each(f, true, &all);
	qsort(all.item, (size_t)all.count, sizeof *all.item, compare);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		print_row(rows[i].name, &all, rows[i].choice);
	print_in_use();
	free(all.item);
	return true;
}
