/* split_balance.c - contiguous partition of the layers that minimises the slowest
 * stage: a bound that rises from one sum of real parts to the next (as in Pinar &
 * Aykanat 2004, "Fast optimal load balancing algorithms for 1D partitioning", whose
 * bisection pays where there are many kinds of layers), then the cuts nearest to even
 * among all that keep the bound: even parts, and of several chunks even stages. */
#include "engine/plan/split_balance.h"

#include <math.h>

#include "engine/base/plain.h"
#include "engine/schedule/schedule.h"

struct balance {
	int layers, parts, schedule;
	int row;                        /* parts of a row: one of each stage */
	double before, after;           /* embedding in the first, head in the last */
	double sum[MAX_LAYERS + 1];     /* prefix sums */
	int16_t least[MAX_VIRTUAL + 1]; /* earliest start of part k */
};

/* What stages of several chunks were given beside an even share, so that the next chunk
 * makes up for it: a stage with one layer more in each of its chunks would be the
 * slowest by as many. */
struct owed {
	double each;              /* an even share of a part */
	double given[MAX_STAGES]; /* to each stage so far */
	double left;              /* owed to stages that have none of this row yet */
};

static void owe(struct owed *o, double each, int stages)
{
	o->each = each;
	o->left = 0;
	for (int s = 0; s < stages; s++)
		o->given[s] = 0;
}

/* What the stage of part k should get of a rest for so many parts. */
static double fair_share(struct owed *o, const struct balance *b, int k, double rest)
{
	int row = k / b->row, stage = schedule_stage(b->schedule, b->row, k);
	double own;

	if (k % b->row == 0) {
		o->left = 0;
		for (int s = 0; s < b->row; s++)
			o->left += row * o->each - o->given[s];
	}
	own = row * o->each - o->given[stage];
	rest = (rest - o->left) / (b->parts - k);
	o->left -= own;
	return rest + own;
}

static void give(struct owed *o, const struct balance *b, int k, double weight)
{
	o->given[schedule_stage(b->schedule, b->row, k)] += weight;
}

static void load_sums(const struct model *model, const double *weights,
		      struct balance *b)
{
	b->sum[0] = 0;
	for (int i = 0; i < b->layers; i++)
		b->sum[i + 1] = b->sum[i] + (weights ? weights[model->layer[i]] : 1.0);
}

/* Weight of layers a to b - 1 as part k. */
static double part(const struct balance *b, int k, int from, int to)
{
	return b->sum[to] - b->sum[from] +
	       ((k == 0 ? b->before : 0) + (k == b->parts - 1 ? b->after : 0));
}

/* Fill parts greedily up to bound, which no end alone exceeds. Returns whether all
 * layers found a place; then *reached is the greatest part, else the least bound that
 * would change something. */
static bool probe_bound(const struct balance *b, double bound, double *reached)
{
	const double *sum = b->sum, *last = sum + b->layers, *to = sum;
	double greatest = 0, next = INFINITY;

	for (int k = 0; k < b->parts; k++) {
		double more =
			(k == 0 ? b->before : 0) + (k == b->parts - 1 ? b->after : 0);
		double from = *to;

		while (to < last && to[1] - from + more <= bound)
			to++;
		greatest = larger(greatest, *to - from + more);
		if (to < last)
			next = lesser(next, to[1] - from + more);
	}
	*reached = to == last ? greatest : next;
	return to == last;
}

/* The least possible greatest part: the mean or an end at least, else the next sum of
 * real parts as long as not all layers find a place. */
static double least_bound(const struct balance *b)
{
	double total = b->sum[b->layers] + b->before + b->after;
	double bound = larger(total / b->parts, larger(b->before, b->after));

	while (!probe_bound(b, bound, &bound)) {
	}
	return bound;
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

/* Where part k ends if it starts at from: nearest to its stage's fair share of the
 * rest, within the bound and leaving a layer for each later part if that can be. */
static int choose_cut(const struct balance *b, int k, int from, double bound,
		      struct owed *owed)
{
	double rest =
		b->sum[b->layers] - b->sum[from] + b->after + (k == 0 ? b->before : 0);
	double share = fair_share(owed, b, k, rest);
	int least = (int)higher(b->least[k + 1], from);
	int room = b->layers - (b->parts - 1 - k);
	int to = least;

	if (to == from && from < room && part(b, k, from, from + 1) <= bound)
		to = from + 1;
	while (to < room && part(b, k, from, to + 1) <= bound &&
	       fabs(part(b, k, from, to + 1) - share) <
		       fabs(part(b, k, from, to) - share))
		to++;
	give(owed, b, k, part(b, k, from, to));
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
		half = lesser(half - before, room);
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
	double low = 0, high = b->sum[b->layers] + b->before + b->after;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (fill_pairs(b, middle, first))
			high = middle;
		else
			low = middle;
	}
	fill_pairs(b, high, first);
}

/* Layers that all weigh the same, so that counts of them say everything. */
struct alike {
	int layers, parts;
	double weight, before, after;
	int first, inner, last; /* most layers of such a part within the bound */
};

/* Equal sums differ in rounding. */
static const double slack = 1e-9;

/* Layers with `more` besides that weigh no more than bound. */
static int most_layers(const struct alike *a, double more, double bound)
{
	double count = (bound * (1 + slack) - more) / a->weight;

	return count < 1 ? 0 : count < a->layers ? (int)count : a->layers;
}

/* The least greatest part: the next sum of real parts as long as not all layers find a
 * place. Inner parts, where there are any, soon take one more each. */
static void bound_alike(struct alike *a)
{
	double total = a->layers * a->weight + a->before + a->after;
	double bound = larger(total / a->parts, larger(a->before, a->after));
	double each = a->parts > 2 ? a->weight : INFINITY;

	for (;;) {
		a->first = most_layers(a, a->before, bound);
		a->inner = most_layers(a, 0, bound);
		a->last = most_layers(a, a->after, bound);
		if (a->first + (int64_t)(a->parts - 2) * a->inner + a->last >=
		    a->layers)
			return;
		bound = lesser((a->inner + 1) * each,
			       lesser(a->before + (a->first + 1) * a->weight,
				      a->after + (a->last + 1) * a->weight));
	}
}

/* Where part k ends that starts at from and would best take so many layers, see
 * choose_cut(). */
static int cut_alike(const struct alike *a, int k, int from, int best)
{
	int room = a->layers - (a->parts - 1 - k);
	int most = from + (k == 0 ? a->first : a->inner);
	int least = a->layers - (a->parts - 2 - k) * a->inner - a->last;
	int to = from + best;

	most = (int)lower(most, room);
	least = (int)higher(least, from);
	if (least == from && from < most)
		least = from + 1;
	return (int)higher(lower(to, most), least);
}

/* Parts that take what is nearest to an even share of the rest, c + d / q layers with q
 * parts to go. That is c, one more or one less, and d changes by what was taken: where
 * it gets larger than that, a bound holds, which holds for all later parts too. */
static void cut_inner(const struct alike *a, int from, int16_t *first)
{
	double rest = a->layers - from + a->after / a->weight, d;
	int q = a->parts - 1, c = (int)lesser(rest / q, a->layers);

	d = rest - (double)c * q;
	for (int k = 1; k < a->parts; k++, q--) {
		double half = q * (0.5 - slack);
		int best = c + (d > half) - (d < -half), to;

		first[k] = (int16_t)from;
		to = cut_alike(a, k, from, best);
		d += c - (to - from);
		from = to;
	}
}

/* The same where stages have several chunks. */
static void cut_chunks(const struct alike *a, const struct balance *b, int16_t *first)
{
	struct owed owed;

	owe(&owed, (a->layers * a->weight + a->before + a->after) / a->parts, b->row);
	for (int k = 0, from = 0; k < a->parts; k++) {
		double before = k == 0 ? a->before : 0;
		double rest = (a->layers - from) * a->weight + a->after + before;
		double best = (fair_share(&owed, b, k, rest) - before) / a->weight;
		int to;

		best = lesser(larger(best, 0), a->layers) + 0.5 + slack;
		to = cut_alike(a, k, from, (int)best);
		first[k] = (int16_t)from;
		give(&owed, b, k, (to - from) * a->weight + before);
		from = to;
	}
}

static void balance_alike(const struct balance *b, double weight, int16_t *first)
{
	struct alike a = { .layers = b->layers,
			   .parts = b->parts,
			   .weight = weight,
			   .before = b->before,
			   .after = b->after };
	double share;

	bound_alike(&a);
	first[a.parts] = (int16_t)a.layers;
	if (b->row < a.parts) {
		cut_chunks(&a, b, first);
		return;
	}
	share = ((a.layers * weight + a.before + a.after) / a.parts - a.before) /
		weight;
	first[0] = 0;
	cut_inner(&a, cut_alike(&a, 0, 0, share > 0 ? (int)(share + 0.5 - slack) : 0),
		  first);
}

/* Embedding in the first part, head and MTP layers in the last. */
static void load_ends(const struct model *model, const double *weights,
		      struct balance *b)
{
	double mtp = (double)model->mtp_layers;

	b->layers = (int)model->layers;
	b->before = weights ? weights[model->kinds] : 0;
	b->after = weights ? weights[model->kinds + 1] + mtp * weights[model->kinds + 2]
			   : mtp;
}

/* Any weights. */
static void balance_sums(struct balance *b, int16_t *first)
{
	double bound = least_bound(b) * (1 + slack);
	struct owed owed;

	fill_least(b, bound);
	owe(&owed, (b->sum[b->layers] + b->before + b->after) / b->parts, b->row);
	first[0] = 0;
	for (int k = 1; k < b->parts; k++)
		first[k] = (int16_t)choose_cut(b, k - 1, first[k - 1], bound, &owed);
	first[b->parts] = (int16_t)b->layers;
}

bool split_balance(const struct scenario *scenario, const double *weights,
		   struct split *out)
{
	const struct model *model = &scenario->model;
	int copies = schedule_weight_copies(scenario->plan.schedule);
	double weight = weights ? weights[0] : 1;
	struct balance b;

	b.parts = out->virtual_stages;
	b.row = (int)scenario->plan.pp;
	b.schedule = scenario->plan.schedule;
	load_ends(model, weights, &b);
	if (b.parts == 1) {
		out->first[0] = 0;
		out->first[1] = (int16_t)b.layers;
		return true;
	}
	if (b.layers + 2 < b.parts)
		return false;
	if ((!weights || model->kinds == 1) && weight > 0 &&
	    isfinite(b.before + b.after + weight * b.layers) &&
	    (copies == 1 || b.parts % 2 != 0)) {
		balance_alike(&b, weight, out->first);
		return true;
	}
	load_sums(model, weights, &b);
	if (!isfinite(b.sum[b.layers] + b.before + b.after))
		return false;
	if (copies == 2 && b.parts % 2 == 0)
		balance_pairs(&b, out->first);
	else
		balance_sums(&b, out->first);
	return true;
}
