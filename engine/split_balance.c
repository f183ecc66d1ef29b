/* split_balance.c - contiguous partition of the layers that minimises the slowest
 * stage: bisection on the bound whose ends always are sums of real parts (Pinar &
 * Aykanat 2004, "Fast optimal load balancing algorithms for 1D partitioning",
 * EXACT-BISECT), then the cuts nearest to even among all that keep the bound. */
#include "engine/split_balance.h"

#include <math.h>

#include "engine/plain.h"
#include "engine/schedule/schedule.h"

struct balance {
	int layers, parts;
	double before, after;           /* embedding in the first, head in the last */
	double sum[MAX_LAYERS + 1];     /* prefix sums */
	int16_t least[MAX_VIRTUAL + 1]; /* earliest start of part k */
};

static void load(const struct scenario *scenario, const double *weights,
		 struct balance *b)
{
	const struct model *model = &scenario->model;
	double mtp = (double)model->mtp_layers;

	b->layers = (int)model->layers;
	b->sum[0] = 0;
	for (int i = 0; i < b->layers; i++)
		b->sum[i + 1] = b->sum[i] + (weights ? weights[model->layer[i]] : 1.0);
	b->before = weights ? weights[model->kinds] : 0;
	b->after = weights ? weights[model->kinds + 1] + mtp * weights[model->kinds + 2]
			   : mtp;
}

/* Weight of layers a to b - 1 as part k. */
static double part(const struct balance *b, int k, int from, int to)
{
	return b->sum[to] - b->sum[from] +
	       ((k == 0 ? b->before : 0) + (k == b->parts - 1 ? b->after : 0));
}

/* Fill parts greedily up to bound. Returns whether all layers found a place; then
 * *reached is the greatest part, else the least bound that would change something. */
static bool probe(const struct balance *b, double bound, double *reached)
{
	const double *sum = b->sum, *last = sum + b->layers, *to = sum;
	double greatest = 0, next = INFINITY;

	for (int k = 0; k < b->parts; k++) {
		double more =
			(k == 0 ? b->before : 0) + (k == b->parts - 1 ? b->after : 0);
		double from = *to;

		while (to < last && to[1] - from + more <= bound)
			to++;
		if (*to - from + more > greatest)
			greatest = *to - from + more;
		if (to < last && to[1] - from + more < next)
			next = to[1] - from + more;
	}
	if (to == last && greatest <= bound) {
		*reached = greatest;
		return true;
	}
	*reached = larger(next < INFINITY && next > bound ? next : bound,
			  greatest > bound ? greatest : 0);
	return false;
}

/* The least possible greatest part. */
static double least_bound(const struct balance *b)
{
	double total = b->sum[b->layers] + b->before + b->after;
	double most = larger(b->before, b->after), high = total, reached;
	double low = larger(total / b->parts, most);

	for (int i = 0; i < b->layers; i++)
		if (b->sum[i + 1] - b->sum[i] > most)
			most = b->sum[i + 1] - b->sum[i];
	/* no part needs more than the mean and one more layer */
	if (probe(b, total / b->parts + most, &reached))
		high = reached;
	/* Each round moves an end to a sum of parts: low stays a lower bound of the
	 * answer, high is one that was reached. Every other round tries low itself. */
	for (int i = 0; i < 128 && low < high; i++) {
		double middle = i % 2 == 0 ? low : low + (high - low) / 2;

		if (probe(b, middle, &reached))
			high = reached;
		else
			low = larger(reached, middle);
	}
	return high;
}

/* Fill least[] from the right: layers least[k] and on fit in parts k and on. */
static void fill_least(struct balance *b, double bound)
{
	int to = b->layers;

	b->least[b->parts] = (int16_t)to;
	for (int k = b->parts - 1; k > 0; k--) {
		int from = to;

		while (from > 0 && part(b, k, from - 1, to) <= bound)
			from--;
		b->least[k] = (int16_t)from;
		to = from;
	}
}

/* Where part k ends if it starts at from: nearest to an even share of the rest,
 * within the bound and leaving a layer for each later part if that can be. */
static int choose_cut(const struct balance *b, int k, int from, double bound)
{
	double rest =
		b->sum[b->layers] - b->sum[from] + b->after + (k == 0 ? b->before : 0);
	double share = rest / (b->parts - k);
	int least = b->least[k + 1] > from ? b->least[k + 1] : from;
	int room = b->layers - (b->parts - 1 - k);
	int to = least;

	if (to == from && from < room && part(b, k, from, from + 1) <= bound)
		to = from + 1;
	while (to < room && part(b, k, from, to + 1) <= bound &&
	       fabs(part(b, k, from, to + 1) - share) <
		       fabs(part(b, k, from, to) - share))
		to++;
	return to;
}

/* Two copies: stage k runs half of the micro-batches on part k and half on the mirrored
 * part, so that only their sum counts. Fill pairs from both ends inwards up to bound,
 * the left part to half of it first. Returns whether all layers found a place. */
static bool fill_pairs(const struct balance *b, double bound, int16_t *first)
{
	int left = 0, right = b->layers, p = b->parts;

	first[p] = (int16_t)b->layers;
	for (int k = 0; k < p / 2; k++) {
		double before = k == 0 ? b->before : 0, half = bound / 2;
		double room = bound - (k == 0 ? b->before + b->after : 0);
		double from = b->sum[left], to = b->sum[right];

		if (room < 0)
			return false;
		half = half - before < room ? half - before : room;
		first[k] = (int16_t)left;
		while (left < right && b->sum[left + 1] - from <= half)
			left++;
		while (right > left &&
		       b->sum[left] - from + to - b->sum[right - 1] <= room)
			right--;
		while (left < right &&
		       b->sum[left + 1] - from + to - b->sum[right] <= room)
			left++;
		first[p - 1 - k] = (int16_t)right;
	}
	return left == right;
}

enum { HALVINGS = 40 };

static void balance_pairs(const struct balance *b, int16_t *first)
{
	double low = 2 * (b->sum[b->layers] + b->before + b->after) / b->parts;
	double high = b->sum[b->layers] + b->before + b->after;

	for (int i = 0; i < HALVINGS && low < high; i++) {
		double middle = i == 0 ? low : low + (high - low) / 2;

		if (fill_pairs(b, middle, first))
			high = middle;
		else
			low = middle;
	}
	fill_pairs(b, high, first);
}

bool split_balance(const struct scenario *scenario, const double *weights,
		   struct split *out)
{
	struct balance b;
	double bound;
	int from = 0;

	b.parts = out->virtual_stages;
	load(scenario, weights, &b);
	if (b.layers + 2 < b.parts || !isfinite(b.sum[b.layers] + b.before + b.after))
		return false;
	if (b.parts == 1) {
		out->first[0] = 0;
		out->first[1] = (int16_t)b.layers;
		return true;
	}
	if (schedule_weight_copies(scenario->plan.schedule) == 2 && b.parts % 2 == 0) {
		balance_pairs(&b, out->first);
		return true;
	}
	bound = least_bound(&b) *
		(1 + 1e-9); /* sums of equal parts differ in rounding */
	fill_least(&b, bound);
	for (int k = 0; k < b.parts; k++) {
		out->first[k] = (int16_t)from;
		from = k + 1 < b.parts ? choose_cut(&b, k, from, bound) : b.layers;
	}
	out->first[b.parts] = (int16_t)b.layers;
	return true;
}
