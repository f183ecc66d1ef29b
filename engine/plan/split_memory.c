/* split_memory.c - contiguous partition of the layers that minimises the memory of the
 * fullest stage. No stage gets smaller by a layer more, so filling stages one after the
 * other up to a bound finds room for all layers whenever any partition does; the least
 * bound is found among the sizes that stages really can have (as EXACT-BISECT does of
 * the source that split_balance.c names). What freedom is left goes to even work. */
#include <math.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/plan/split_balance.h"

enum { ROUNDS = 128 };

struct filling {
	const struct split_cost *cost;
	const double *weights; /* of a layer of each kind, for even work */
	int layers, parts, kinds;
	int16_t before[MAX_LAYERS + 1][MAX_LAYER_KINDS]; /* layers of each kind */
	double work[MAX_LAYERS + 1];
	int16_t least[MAX_VIRTUAL + 1]; /* earliest start of part k */
};

static void load_layers(const struct model *model, const double *weights,
			const struct split_cost *cost, struct filling *f)
{
	size_t bytes = (size_t)model->kinds * sizeof f->before[0][0];

	f->cost = cost;
	f->layers = (int)model->layers;
	f->kinds = model->kinds;
	memset(f->before[0], 0, bytes);
	f->work[0] = 0;
	for (int i = 0; i < f->layers; i++) {
		memcpy(f->before[i + 1], f->before[i], bytes);
		f->before[i + 1][model->layer[i]]++;
		f->work[i + 1] = f->work[i] + (weights ? weights[model->layer[i]] : 1);
	}
}

/* Bytes of the stage of part k with layers from to to - 1. */
static double part(const struct filling *f, int k, int from, int to)
{
	int16_t count[MAX_LAYER_KINDS];

	for (int i = 0; i < f->kinds; i++)
		count[i] = (int16_t)(f->before[to][i] - f->before[from][i]);
	return f->cost->bytes(f->cost->of, k, count);
}

/* The last layer that a part can reach from `from` within bound, by halving; *more is
 * what one layer more would take. */
static int reach_layer(const struct filling *f, int k, int from, double bound,
		       double *more)
{
	int low = from, high = f->layers;

	*more = INFINITY;
	while (low < high) {
		int middle = low + (high - low + 1) / 2;
		double bytes = part(f, k, from, middle);

		if (bytes <= bound) {
			low = middle;
		} else {
			high = middle - 1;
			*more = bytes;
		}
	}
	return low;
}

/* Fill parts up to bound. Returns whether all layers found a place; then *reached is
 * the greatest part, else the least bound that would change something. */
static bool probe_bound(const struct filling *f, double bound, double *reached)
{
	double greatest = 0, next = INFINITY, more;
	int from = 0;

	for (int k = 0; k < f->parts; k++) {
		int to = reach_layer(f, k, from, bound, &more);

		greatest = fmax(greatest, part(f, k, from, to));
		next = fmin(next, more);
		from = to;
	}
	if (from == f->layers && greatest <= bound) {
		*reached = greatest;
		return true;
	}
	/* an empty part above the bound is one that nothing can mend */
	*reached =
		fmax(next < INFINITY ? next : bound, greatest > bound ? greatest : 0);
	return false;
}

static double least_bound(const struct filling *f)
{
	double low = 0, high = 0, reached;

	for (int k = 0; k < f->parts; k++) {
		low = fmax(low, part(f, k, 0, 0));
		high = fmax(high, part(f, k, 0, f->layers));
	}
	for (int i = 0; i < ROUNDS && low < high; i++) {
		double middle = i % 4 == 3 ? low : low + (high - low) / 2;

		if (probe_bound(f, middle, &reached))
			high = reached;
		else
			low = fmax(reached, low < middle ? middle : low);
	}
	return high;
}

/* Fill least[] from the right: layers least[k] and on fit in parts k and on. */
static void fill_least(struct filling *f, double bound)
{
	int to = f->layers;

	f->least[f->parts] = (int16_t)to;
	for (int k = f->parts - 1; k > 0; k--) {
		int low = 0, high = to;

		while (low < high) {
			int middle = low + (high - low) / 2;

			if (part(f, k, middle, to) <= bound)
				high = middle;
			else
				low = middle + 1;
		}
		f->least[k] = (int16_t)low;
		to = low;
	}
}

/* Where part k ends: nearest to an even share of the work that is left, within the
 * bound and leaving a layer for each later part if that can be. */
static int choose_cut(const struct filling *f, int k, int from, double bound)
{
	double rest = f->work[f->layers] - f->work[from], more;
	double goal = f->work[from] + rest / (f->parts - k);
	int most = reach_layer(f, k, from, bound, &more);
	int room = f->layers - (f->parts - 1 - k);
	int to = (int)higher(f->least[k + 1], from);

	most = (int)lower(most, room);
	if (to == from && most > from)
		to = from + 1;
	while (to < most && fabs(f->work[to + 1] - goal) < fabs(f->work[to] - goal))
		to++;
	return to;
}

bool split_memory(const struct scenario *scenario, const double *weights,
		  const struct split_cost *cost, struct split *out)
{
	struct filling f = { .parts = out->virtual_stages };
	double bound;

	load_layers(&scenario->model, weights, cost, &f);
	if (f.layers + 2 < f.parts)
		return false;
	bound = least_bound(&f) * (1 + 1e-9);
	fill_least(&f, bound);
	out->first[0] = 0;
	for (int k = 1; k < f.parts; k++)
		out->first[k] =
			(int16_t)choose_cut(&f, k - 1, out->first[k - 1], bound);
	out->first[f.parts] = (int16_t)f.layers;
	return true;
}
