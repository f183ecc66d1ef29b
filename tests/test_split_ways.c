/* test_split_ways.c - which layers go to which stage, against every way to part them:
 * few layers on few stages, all ways written down, and the split must be the one that
 * engine/plan/split.h promises. */
#include <math.h>
#include <string.h>

#include "engine/model/shape.h"
#include "engine/plan/split.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

enum { MOST_LAYERS = 9, MOST_PARTS = 6, MOST_WAYS = 4096, UNTOUCHED = 0x5a };

static struct scenario scenario;
static struct split split;

static int below(int n)
{
	return (int)next((uint64_t)n);
}

static double between(double a, double b)
{
	return a + (b - a) * below(1 << 20) / (1 << 20);
}

/* A model of so many layers of up to so many kinds. */
static void make(int layers, int kinds, int pp, int vpp, int how)
{
	struct layer_kind kind = { .mixer = MIXER_ATTENTION, .mlp = MLP_DENSE };

	memset(&scenario, 0, sizeof scenario);
	memset(&split, UNTOUCHED, sizeof split);
	for (int i = 0; i < layers; i++) {
		kind.ffn = 1 + (i < kinds ? i : below(kinds));
		assert_true(model_add_layer(&scenario.model, &kind));
	}
	scenario.plan.pp = pp;
	scenario.plan.vpp = vpp;
	scenario.plan.split = how;
	scenario.plan.schedule = vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
}

/* What any split is: layers in their order, each once, counted by kind, and nothing
 * beyond its stages written. */
static void check_parts(void)
{
	const unsigned char *behind =
		(const unsigned char *)&split.first[split.virtual_stages + 1];

	assert_true(split.virtual_stages < MAX_VIRTUAL);
	assert_int_equal(*behind, UNTOUCHED);
	assert_int_equal(split.virtual_stages, scenario.plan.pp * scenario.plan.vpp);
	assert_int_equal(split.first[0], 0);
	assert_int_equal(split.first[split.virtual_stages], scenario.model.layers);
	for (int k = 0; k < split.virtual_stages; k++) {
		int16_t count[MAX_LAYER_KINDS] = { 0 }, told[MAX_LAYER_KINDS];

		assert_true(split.first[k] <= split.first[k + 1]);
		for (int i = split.first[k]; i < split.first[k + 1]; i++)
			count[scenario.model.layer[i]]++;
		memset(told, UNTOUCHED, sizeof told);
		split_count(&scenario.model, &split, k, told);
		for (int kind = 0; kind < scenario.model.kinds; kind++)
			assert_int_equal(told[kind], count[kind]);
		if (scenario.model.kinds < MAX_LAYER_KINDS)
			assert_int_equal(*(unsigned char *)&told[scenario.model.kinds],
					 UNTOUCHED);
	}
}

/* --- the same number everywhere --- */

static void check_even(int layers, int pp, int vpp, bool embedding, bool loss)
{
	int parts = pp * vpp, slots = layers + embedding + loss;

	make(layers, 1, pp, vpp, SPLIT_EVEN);
	scenario.plan.split_embedding = embedding;
	scenario.plan.split_loss = loss;
	assert_int_equal(split_layers(&scenario, NULL, &split), slots % parts == 0);
	scenario.plan.split = SPLIT_AUTO;
	assert_int_equal(split_resolve(&scenario),
			 slots % parts == 0 ? SPLIT_EVEN : SPLIT_BALANCED);
	scenario.plan.split = SPLIT_EVEN;
	assert_int_equal(split_resolve(&scenario), SPLIT_EVEN);
	if (slots % parts != 0)
		return;
	check_parts();
	for (int k = 0; k < parts; k++) {
		int here = split.first[k + 1] - split.first[k];

		here += k == 0 ? embedding : 0;
		here += k == parts - 1 ? loss : 0;
		assert_int_equal(here, slots / parts);
	}
	assert_true(split_is_even(&scenario, &split));
	for (int k = 1; k < parts; k++) {
		struct split other = split;

		other.first[k]++;
		assert_false(split_is_even(&scenario, &other));
	}
	assert_int_equal(split.embedding_stage, 0);
	assert_int_equal(split.head_stage, parts - 1);
	assert_int_equal(split.mtp_stage, parts - 1);
}

/* Embedding and loss count as a layer each where the plan says so. */
static void test_even_slots(void **state)
{
	(void)state;
	for (int layers = 1; layers <= 26; layers++)
		for (int pp = 1; pp <= 6; pp++)
			for (int vpp = 1; vpp <= (pp > 1 ? 3 : 1); vpp++)
				for (int ends = 0; ends < 4; ends++)
					check_even(layers, pp, vpp, ends & 1, ends & 2);
}

/* --- nanotron's rule --- */

static double active_weight(int layer)
{
	struct layer_counts counts;

	model_count_layer(&scenario.model,
			  &scenario.model.kind[scenario.model.layer[layer]], &counts);
	return counts.active;
}

/* A stage ends with the layer at which the weights so far reach its share of all, the
 * head's included; stages for which no layer is left have none. Weights are whole
 * numbers, and small ones fall on shares. */
static void test_shares_of_weights(void **state)
{
	(void)state;
	seed = 31;
	for (int round = 0; round < 2000; round++) {
		int count = 1 + below(20), pp = 1 + below(8), k = 1;
		double total, sum = 0, before = 0;

		make(count, 1 + below(3), pp, 1, SPLIT_AUTO);
		scenario.stack.split_rule = SPLITS_BY_WEIGHTS;
		scenario.model.hidden = 1 + below(2) * 63;
		scenario.model.vocab = 1 + below(20);
		assert_int_equal(split_resolve(&scenario), SPLIT_AUTO);
		assert_true(split_layers(&scenario, NULL, &split));
		check_parts();
		total = (double)(scenario.model.vocab * scenario.model.hidden);
		for (int i = 0; i < count; i++)
			total += active_weight(i);
		for (int i = 0; i < count; i++, before = sum) {
			sum += active_weight(i);
			/* every share that lies in this layer ends a stage with it */
			for (; k < pp && total * k <= sum * pp; k++) {
				assert_true(total * k > before * pp);
				assert_int_equal(split.first[k], i + 1);
			}
		}
		for (; k < pp; k++)
			assert_int_equal(split.first[k], count);
	}
}

/* --- given counts for the ends --- */

/* Layers of a stage with `each` on those that are not given. */
static int given(int stage, int each)
{
	const struct plan *plan = &scenario.plan;

	if (stage == 0 && plan->first_stage_layers > 0)
		return (int)plan->first_stage_layers;
	if (stage == plan->pp - 1 && plan->last_stage_layers > 0)
		return (int)plan->last_stage_layers;
	return each;
}

/* The count of the others with which all layers have a place, in whole chunks; -1 if
 * there is none. */
static int each_of_others(void)
{
	for (int each = 0; each <= scenario.model.layers; each++) {
		bool whole = true;
		int sum = 0;

		for (int s = 0; s < scenario.plan.pp; s++) {
			sum += given(s, each);
			whole &= given(s, each) % scenario.plan.vpp == 0;
		}
		if (whole && sum == scenario.model.layers)
			return each;
	}
	return -1;
}

static void test_first_and_last_as_given(void **state)
{
	int good = 0;

	(void)state;
	seed = 36;
	for (int round = 0; round < 4000; round++) {
		int pp = 2 + below(4), vpp = 1 + below(2), each;

		make(1 + below(16), 1, pp, vpp, SPLIT_FIRST_LAST);
		scenario.plan.first_stage_layers = below(6);
		scenario.plan.last_stage_layers = below(6);
		each = each_of_others();
		assert_int_equal(split_layers(&scenario, NULL, &split), each >= 0);
		if (each < 0)
			continue;
		good++;
		check_parts();
		for (int k = 0; k < pp * vpp; k++)
			assert_int_equal(split.first[k + 1] - split.first[k],
					 given(k % pp, each) / vpp);
	}
	assert_true(good > 300);
	/* the most stages that there is room for, all but the ends without a layer */
	for (int more = 0; more < 2; more++) {
		make(2 * MAX_CHUNKS, 1, MAX_VIRTUAL / MAX_CHUNKS + more, MAX_CHUNKS,
		     SPLIT_FIRST_LAST);
		scenario.plan.first_stage_layers = MAX_CHUNKS;
		scenario.plan.last_stage_layers = MAX_CHUNKS;
		assert_int_equal(split_layers(&scenario, NULL, &split), !more);
	}
}

/* --- all ways --- */

/* What a part with layers from..to - 1 weighs. */
static double (*weigh)(int k, int from, int to);
static int layers, parts;
static double weights[MAX_LAYER_KINDS + 3];

static int ways;
static int8_t way[MOST_WAYS][MOST_PARTS + 1];

static void list_ways(int k, int8_t *cut)
{
	if (k == parts) {
		assert_true(ways < MOST_WAYS);
		memcpy(way[ways++], cut, (size_t)parts + 1);
		return;
	}
	cut[parts] = (int8_t)layers;
	for (int to = cut[k - 1]; to <= layers; to++) {
		cut[k] = (int8_t)to;
		list_ways(k + 1, cut);
	}
}

static double greatest(const int8_t *cut)
{
	double most = 0;

	for (int k = 0; k < parts; k++)
		most = fmax(most, weigh(k, cut[k], cut[k + 1]));
	return most;
}

static double least_greatest(void)
{
	int8_t cut[MOST_PARTS + 1] = { 0 };
	double least = INFINITY;

	ways = 0;
	cut[parts] = (int8_t)layers;
	list_ways(1, cut);
	for (int i = 0; i < ways; i++)
		least = fmin(least, greatest(way[i]));
	return least;
}

/* Keeps the ways of which this is true. */
static void keep_if(bool (*good)(const int8_t *cut, int k, double limit), int k,
		    double limit)
{
	int kept = 0;

	for (int i = 0; i < ways; i++)
		if (good(way[i], k, limit))
			memmove(way[kept++], way[i], sizeof way[i]);
	ways = kept;
}

static bool is_within(const int8_t *cut, int k, double limit)
{
	(void)k;
	return greatest(cut) <= limit;
}

static bool has_layers(const int8_t *cut, int k, double limit)
{
	(void)limit;
	return cut[k + 1] > cut[k];
}

static bool leaves_layers(const int8_t *cut, int k, double limit)
{
	(void)limit;
	return cut[k + 1] <= layers - (parts - 1 - k);
}

static bool ends_at(const int8_t *cut, int k, double limit)
{
	return cut[k + 1] == (int)limit;
}

/* The same where some way has it; else all stay, and this is false. */
static bool prefer(bool (*good)(const int8_t *cut, int k, double limit), int k)
{
	for (int i = 0; i < ways; i++)
		if (good(way[i], k, 0)) {
			keep_if(good, k, 0);
			return true;
		}
	return false;
}

/* An even share of the work from this layer on for part k and those behind it. */
static double (*share_from)(int k, int from);
static double (*work_of)(int k, int from, int to);

/* How far the work of part k is from an even share of what is left. */
static double off_share(int k, int from, int to)
{
	return fabs(work_of(k, from, to) - share_from(k, from));
}

/* Of all ways that keep the least bound: part by part the one whose work is nearest to
 * an even share of what is left, a layer for each part if that can be. Where layers are
 * too few for that, the later parts come first. */
static void check_nearest_to_even(void)
{
	keep_if(is_within, 0, least_greatest() * (1 + 1e-9));
	for (int k = 0; k + 1 < parts; k++) {
		int from = split.first[k], taken = split.first[k + 1], least = layers;
		bool enough = prefer(leaves_layers, k);
		double off = INFINITY;

		if (enough)
			prefer(has_layers, k);
		for (int i = 0; i < ways; i++) {
			off = fmin(off, off_share(k, from, way[i][k + 1]));
			least = way[i][k + 1] < least ? way[i][k + 1] : least;
		}
		/* two may be equally near */
		if (enough)
			assert_close(off_share(k, from, taken) + 1, off + 1, 1e-9);
		else
			assert_int_equal(taken, least);
		keep_if(ends_at, k, taken);
		assert_true(ways > 0);
	}
}

static void check_cuts(void)
{
	double most = 0;

	check_parts();
	for (int k = 0; k < parts; k++)
		most = fmax(most, weigh(k, split.first[k], split.first[k + 1]));
	assert_close(most, least_greatest(), 1e-9);
	check_nearest_to_even();
}

/* --- by time --- */

static double of_ends(int k)
{
	int kinds = scenario.model.kinds;
	double ends = k == 0 ? weights[kinds] : 0;

	if (k == parts - 1)
		ends += weights[kinds + 1] +
			(double)scenario.model.mtp_layers * weights[kinds + 2];
	return ends;
}

static double seconds(int k, int from, int to)
{
	double sum = of_ends(k);

	for (int i = from; i < to; i++)
		sum += weights[scenario.model.layer[i]];
	return sum;
}

/* What a stage lacks, before a row of parts, of an even share of the rows so far. */
static double lacks(int row, int stage)
{
	int pp = (int)scenario.plan.pp;
	double all = parts > 1 ? of_ends(0) + of_ends(parts - 1) : of_ends(0), own = 0;

	for (int i = 0; i < layers; i++)
		all += weights[scenario.model.layer[i]];
	for (int k = stage; k < row * pp; k += pp)
		own += seconds(k, split.first[k], split.first[k + 1]);
	return row * all / parts - own;
}

/* An even share of the rest, and what the stage lacks more than the others. */
static double share_of_seconds(int k, int from)
{
	int pp = (int)scenario.plan.pp;
	double left = k == 0 ? of_ends(0) : 0;

	for (int i = from; i < layers; i++)
		left += weights[scenario.model.layer[i]];
	left += parts > 1 ? of_ends(parts - 1) : 0;
	for (int stage = k % pp; stage < pp; stage++)
		left -= lacks(k / pp, stage);
	return left / (parts - k) + lacks(k / pp, k % pp);
}

/* Some layers, one kind of them or several, and stages that they suffice for. */
static void any_stages(int how)
{
	int vpp, pp;

	layers = 1 + below(MOST_LAYERS);
	do {
		pp = 1 + below(MOST_PARTS);
		vpp = 1 + (pp > 1 && below(4) == 0);
	} while (pp * vpp > layers + 2 || pp * vpp > MOST_PARTS);
	parts = pp * vpp;
	make(layers, 1 + below(2) * below(3), pp, vpp, how);
	scenario.model.mtp_layers = below(3) ? 0 : 1 + below(2);
}

static void test_the_slowest_stage_is_the_least_of_all_ways(void **state)
{
	(void)state;
	seed = 32;
	weigh = work_of = seconds;
	share_from = share_of_seconds;
	for (int round = 0; round < 4000; round++) {
		bool given = below(8) > 0;
		double ends = below(3) ? 1 : 6, unit = below(2) ? 1 : 1e-4;
		int kinds;

		any_stages(below(4) ? SPLIT_BALANCED : SPLIT_BALANCED_MEMORY);
		kinds = scenario.model.kinds;
		for (int i = 0; i < kinds; i++)
			weights[i] = given ? between(0.2, 3) * unit : 1;
		for (int i = kinds; i < kinds + 2; i++)
			weights[i] = given && below(4) ? between(0, ends) * unit : 0;
		weights[kinds + 2] = given ? between(0.2, 3) * unit : 1;
		assert_true(split_layers(&scenario, given ? weights : NULL, &split));
		check_cuts();
	}
}

/* Fewer layers than stages between the ends, and weights that are no numbers. */
static void test_what_has_no_balance(void **state)
{
	(void)state;
	for (int l = 1; l <= 5; l++)
		for (int pp = 1; pp <= 9; pp++) {
			make(l, 1, pp, 1, SPLIT_BALANCED);
			assert_int_equal(split_layers(&scenario, NULL, &split),
					 pp == 1 || pp <= l + 2);
		}
	for (int end = 0; end < 4; end++) {
		double row[] = { 1, 2, 3, 4 };

		make(4, 1, 2, 1, SPLIT_BALANCED);
		scenario.model.mtp_layers = 1;
		row[end] = INFINITY;
		assert_false(split_layers(&scenario, row, &split));
		row[end] = NAN;
		assert_false(split_layers(&scenario, row, &split));
	}
}

/* --- by memory --- */

static double layer_bytes[MAX_LAYER_KINDS], end_bytes[2], falls;
static int asked; /* how often somebody wanted to know */

static double stage_bytes(const void *of, int k, const int16_t *count)
{
	double bytes = k == 0 ? end_bytes[0] : 0;

	(void)of;
	asked++;
	bytes += k == parts - 1 ? end_bytes[1] : 0;
	for (int kind = 0; kind < scenario.model.kinds; kind++)
		bytes += count[kind] * layer_bytes[kind] * (1 + falls * (parts - k));
	return bytes;
}

static double bytes_of(int k, int from, int to)
{
	int16_t count[MAX_LAYER_KINDS] = { 0 };

	for (int i = from; i < to; i++)
		count[scenario.model.layer[i]]++;
	return stage_bytes(NULL, k, count);
}

/* The work that is evened is that of layers alone. */
static double layer_seconds(int k, int from, int to)
{
	return seconds(k, from, to) - of_ends(k);
}

static double share_of_layers(int k, int from)
{
	double left = 0;

	for (int i = from; i < layers; i++)
		left += weights[scenario.model.layer[i]];
	return left / (parts - k);
}

/* In any unit. */
static void any_bytes(bool weighed)
{
	static const double units[] = { 1e-3, 1, 1e9 };
	double unit = units[below(3)];

	for (int i = 0; i < scenario.model.kinds; i++) {
		weights[i] = weighed ? between(0.2, 3) : 1;
		layer_bytes[i] = between(1, 9) * unit;
	}
	end_bytes[0] = below(3) ? between(0, 12) * unit : 0;
	end_bytes[1] = below(3) ? between(0, 12) * unit : 0;
	falls = below(3) ? between(0, 1) : 0;
}

static void test_the_fullest_stage_is_the_least_of_all_ways(void **state)
{
	struct split_cost cost = { stage_bytes, NULL };

	(void)state;
	seed = 33;
	weigh = bytes_of;
	work_of = layer_seconds;
	share_from = share_of_layers;
	for (int round = 0; round < 4000; round++) {
		bool weighed = below(4) > 0;

		any_stages(SPLIT_BALANCED_MEMORY);
		any_bytes(weighed);
		assert_true(split_by_memory(&scenario, weighed ? weights : NULL, &cost,
					    &split));
		check_cuts();
	}
}

/* A size is asked for at every step of the search for the bound, and each takes time:
 * sizes that stages really have bring it to an end long before halving would, which
 * takes some fifty rounds. */
static void test_few_sizes_are_asked_for(void **state)
{
	struct split_cost cost = { stage_bytes, NULL };
	const int rounds = 300;

	(void)state;
	seed = 35;
	asked = 0;
	for (int round = 0; round < rounds; round++) {
		parts = 16;
		make(60, 3, parts, 1, SPLIT_BALANCED_MEMORY);
		any_bytes(true);
		assert_true(split_by_memory(&scenario, weights, &cost, &split));
	}
	assert_true(asked / rounds < 16 * 6 * 24);
}

/* --- two copies of the weights --- */

/* A stage runs part k and its mirror. */
static double pair_seconds(int k, int from, int to)
{
	(void)k;
	(void)from;
	(void)to;
	return 0;
}

static double slowest_pair(const int8_t *cut)
{
	double most = 0;

	for (int k = 0; k < parts / 2; k++)
		most = fmax(most, seconds(k, cut[k], cut[k + 1]) +
					  seconds(parts - 1 - k, cut[parts - 1 - k],
						  cut[parts - k]));
	return most;
}

/* Never more than a layer above the least of all ways, and most often the least. */
static void test_mirrored_parts_count_together(void **state)
{
	int exact = 0;
	const int rounds = 2000;

	(void)state;
	seed = 34;
	weigh = pair_seconds;
	for (int round = 0; round < rounds; round++) {
		double least = INFINITY, heaviest = 0, most;
		double unit = below(2) ? 1 : 1e-4;
		int8_t cut[MOST_PARTS + 1];
		int kinds;

		layers = 2 + below(MOST_LAYERS - 1);
		parts = 2 * (1 + below(MOST_PARTS / 2));
		parts = parts < layers + 2 ? parts : 2;
		make(layers, 1 + below(3), parts, 1, SPLIT_BALANCED);
		scenario.plan.schedule =
			below(2) ? SCHEDULE_DUALPIPE : SCHEDULE_CHIMERA;
		kinds = scenario.model.kinds;
		for (int i = 0; i < kinds + 3; i++)
			weights[i] = between(0.2, 3) * unit;
		scenario.model.mtp_layers = below(2);
		for (int i = 0; i < kinds; i++)
			heaviest = fmax(heaviest, weights[i]);
		assert_true(split_layers(&scenario, weights, &split));
		check_parts();
		least_greatest();
		for (int i = 0; i < ways; i++)
			least = fmin(least, slowest_pair(way[i]));
		for (int k = 0; k <= parts; k++)
			cut[k] = (int8_t)split.first[k];
		most = slowest_pair(cut);
		assert_true(most >= least * (1 - 1e-9));
		assert_true(most <= (least + heaviest) * (1 + 1e-9));
		exact += most <= least * (1 + 1e-9);
	}
	assert_true(exact > rounds * 9 / 10);
}

/* Of what a stage has, its two parts have about half each, the embedding counted. */
static void test_mirrored_parts_are_halves(void **state)
{
	(void)state;
	seed = 37;
	for (int round = 0; round < 300; round++) {
		double most = 0, left;

		layers = 40 + below(20);
		parts = 2 * (1 + below(4));
		make(layers, 2, parts, 1, SPLIT_BALANCED);
		scenario.plan.schedule = SCHEDULE_DUALPIPE;
		weights[0] = between(0.5, 1);
		weights[1] = between(0.5, 1);
		weights[2] = between(0, 3);
		weights[3] = weights[4] = 0;
		assert_true(split_layers(&scenario, weights, &split));
		for (int k = 0; k < parts / 2; k++)
			most = fmax(most,
				    seconds(k, split.first[k], split.first[k + 1]) +
					    seconds(parts - 1 - k,
						    split.first[parts - 1 - k],
						    split.first[parts - k]));
		for (int k = 0; k < parts / 2; k++) {
			left = seconds(k, split.first[k], split.first[k + 1]);
			assert_true(fabs(left - most / 2) < 2);
		}
		if (layers % parts != 0)
			continue;
		weights[1] = weights[0];
		weights[2] = 0;
		assert_true(split_layers(&scenario, weights, &split));
		for (int k = 0; k <= parts; k++)
			assert_int_equal(split.first[k], k * layers / parts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even_slots),
		cmocka_unit_test(test_shares_of_weights),
		cmocka_unit_test(test_first_and_last_as_given),
		cmocka_unit_test(test_the_slowest_stage_is_the_least_of_all_ways),
		cmocka_unit_test(test_what_has_no_balance),
		cmocka_unit_test(test_the_fullest_stage_is_the_least_of_all_ways),
		cmocka_unit_test(test_few_sizes_are_asked_for),
		cmocka_unit_test(test_mirrored_parts_count_together),
		cmocka_unit_test(test_mirrored_parts_are_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
