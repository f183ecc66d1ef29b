#include "engine/plan/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct scenario scenario;
static struct split split;

/* A model of so many layers; kind 1 from layer `dense` on if dense > 0. */
static void make(int layers, int dense, int pp, int vpp, int how)
{
	struct layer_kind kind = { .mixer = MIXER_ATTENTION, .mlp = MLP_DENSE };

	memset(&scenario, 0, sizeof scenario);
	for (int i = 0; i < layers; i++) {
		kind.ffn = i < dense ? 2 : 1;
		assert_true(model_add_layer(&scenario.model, &kind));
	}
	scenario.plan.pp = pp;
	scenario.plan.vpp = vpp;
	scenario.plan.split = how;
	scenario.plan.schedule = vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
}

static void check_complete(void)
{
	int total = 0;

	assert_int_equal(split.first[0], 0);
	for (int k = 0; k < split.virtual_stages; k++) {
		int16_t count[MAX_LAYER_KINDS];
		int here = 0;

		split_count(&scenario.model, &split, k, count);
		for (int kind = 0; kind < scenario.model.kinds; kind++)
			here += count[kind];
		assert_int_equal(here, split.first[k + 1] - split.first[k]);
		assert_true(here >= 0);
		total += here;
	}
	assert_int_equal(total, scenario.model.layers);
}

static void test_even(void **state)
{
	(void)state;
	make(96, 0, 8, 3, SPLIT_EVEN);
	assert_true(split_layers(&scenario, NULL, &split));
	assert_int_equal(split.virtual_stages, 24);
	for (int k = 0; k <= 24; k++)
		assert_int_equal(split.first[k], 4 * k);
	check_complete();
	make(61, 0, 16, 1, SPLIT_EVEN);
	assert_false(split_layers(&scenario, NULL, &split));
	make(126, 0, 16, 1, SPLIT_EVEN); /* Llama 3 405B: 126 + 2 = 16 x 8 */
	scenario.plan.split_embedding = scenario.plan.split_loss = true;
	assert_true(split_layers(&scenario, NULL, &split));
	assert_int_equal(split.first[1], 7);
	assert_int_equal(split.first[15], 119);
	check_complete();
}

/* nanotron's rule on its 1.3B model, whose head weighs as much as four layers. */
static void test_by_weights(void **state)
{
	static const int16_t layers[8] = { 3, 2, 3, 2, 3, 2, 1, 0 };
	struct layer_kind kind = {
		.mixer = MIXER_ATTENTION,
		.mlp = MLP_DENSE,
		.ffn = 8192,
		.attention = { .heads = 32,
			       .kv_heads = 32,
			       .head_dim = 64,
			       .value_dim = 64 },
	};

	(void)state;
	make(0, 0, 8, 1, SPLIT_AUTO);
	scenario.model.hidden = 2048;
	scenario.model.vocab = 131072;
	scenario.model.gated_mlp = true;
	for (int i = 0; i < 16; i++)
		assert_true(model_add_layer(&scenario.model, &kind));
	scenario.stack.split_rule = SPLITS_BY_WEIGHTS;
	assert_true(split_layers(&scenario, NULL, &split));
	for (int k = 0; k < 8; k++)
		assert_int_equal(split.first[k + 1] - split.first[k], layers[k]);
	check_complete();
	scenario.plan.pp = 1;
	assert_true(split_layers(&scenario, NULL, &split));
	check_complete();
	scenario.plan.split = SPLIT_EVEN; /* a person's own word counts */
	scenario.plan.pp = 8;
	assert_true(split_layers(&scenario, NULL, &split));
	assert_int_equal(split.first[1], 2);
}

/* The exact optimum by dynamic programming over all cuts. */
static double best_partition(const double *weight, int layers, int parts, double before,
			     double after)
{
	static double best[64][64];

	for (int k = 0; k < parts; k++) {
		for (int to = 0; to <= layers; to++) {
			double sum = k == 0 ? before : 0;

			sum += k == parts - 1 ? after : 0;
			best[k][to] = INFINITY;
			for (int from = to; from >= 0; from--) {
				double earlier = k > 0       ? best[k - 1][from]
						 : from == 0 ? 0
							     : INFINITY;

				sum += from < to ? weight[from] : 0;
				best[k][to] = fmin(best[k][to], fmax(sum, earlier));
			}
		}
	}
	return best[parts - 1][layers];
}

static double slowest(const double *weights)
{
	double most = 0;

	for (int k = 0; k < split.virtual_stages; k++) {
		int16_t count[MAX_LAYER_KINDS];
		double sum = 0;

		split_count(&scenario.model, &split, k, count);
		for (int kind = 0; kind < scenario.model.kinds; kind++)
			sum += count[kind] * weights[kind];
		sum += k == split.embedding_stage ? weights[scenario.model.kinds] : 0;
		sum += k == split.head_stage ? weights[scenario.model.kinds + 1] : 0;
		most = fmax(most, sum);
	}
	return most;
}

static void test_balanced_is_the_optimum(void **state)
{
	(void)state;
	srand((unsigned)seed_or(7));
	for (int round = 0; round < 400; round++) {
		double weight[64], weights[5];
		int layers = 1 + rand() % 60, pp = 1 + rand() % 16;

		pp = pp > layers + 2 ? layers + 2 : pp;
		make(layers, rand() % 5, pp, 1, SPLIT_BALANCED);
		for (int i = 0; i < 5; i++)
			weights[i] = 0.1 * (1 + rand() % 30);
		for (int i = 0; i < layers; i++)
			weight[i] = weights[scenario.model.layer[i]];
		assert_true(split_layers(&scenario, weights, &split));
		check_complete();
		assert_close(slowest(weights),
			     best_partition(weight, layers, pp,
					    weights[scenario.model.kinds],
					    weights[scenario.model.kinds + 1]),
			     1e-8);
	}
}

/* Counting equal layers and summing them up come to the same cuts. */
static void test_equal_layers_are_cut_like_any(void **state)
{
	int16_t counted[65];

	(void)state;
	srand((unsigned)seed_or(11));
	for (int round = 0; round < 400; round++) {
		double one[4] = { 0 }, two[5] = { 0 };
		int layers = 2 + rand() % 60, pp = 1 + rand() % 64;

		pp = pp > layers + 2 ? layers + 2 : pp;
		/* of which no sum is another one's but for equal counts */
		one[0] = two[0] = two[1] = 1 + rand() % 1000 * 1e-3;
		one[1] = two[2] = (rand() % 4 + (1 + rand() % 999) * 1.237e-4) * one[0];
		one[2] = two[3] = (rand() % 4 + (1 + rand() % 999) * 1.711e-4) * one[0];
		make(layers, 0, pp, 1, SPLIT_BALANCED);
		assert_true(split_layers(&scenario, one, &split));
		check_complete();
		memcpy(counted, split.first, sizeof counted);
		make(layers, 1, pp, 1, SPLIT_BALANCED);
		assert_int_equal(scenario.model.kinds, 2);
		assert_true(split_layers(&scenario, two, &split));
		for (int k = 0; k <= split.virtual_stages; k++)
			assert_int_equal(counted[k], split.first[k]);
	}
}

/* Of two cuts that are as near to even the stage that holds more micro-batches gets the
 * fewer layers, counted or summed up. */
static void test_of_cuts_as_near_the_earlier_is_taken(void **state)
{
	static const double one[] = { 1, 0, 0, 0 }, two[] = { 1, 1, 0, 0, 0 };

	(void)state;
	for (int layers = 3; layers < 30; layers += 2) {
		make(layers, 0, 2, 1, SPLIT_BALANCED);
		assert_true(split_layers(&scenario, one, &split));
		assert_int_equal(split.first[1], layers / 2);
		make(layers, 1, 2, 1, SPLIT_BALANCED);
		assert_true(split_layers(&scenario, two, &split));
		assert_int_equal(split.first[1], layers / 2);
	}
}

/* Equal layers on stages of several chunks: no stage gets two more than another,
 * however few there are to a chunk. The slowest chunk alone would let the same stages
 * take the longer one each time: 60 layers on 16 stages with 3 chunks, 6 on one and 3
 * on the next. */
static void test_chunks_of_a_stage_make_up_for_each_other(void **state)
{
	(void)state;
	for (int pp = 2; pp <= 16; pp++)
		for (int vpp = 2; vpp <= 4; vpp++)
			for (int layers = pp * vpp; layers <= 96; layers++) {
				int most = 0, least = layers;

				make(layers, 0, pp, vpp, SPLIT_BALANCED);
				assert_true(split_layers(&scenario, NULL, &split));
				for (int s = 0; s < pp; s++) {
					int own = 0;

					for (int k = s; k < pp * vpp; k += pp)
						own += split.first[k + 1] -
						       split.first[k];
					most = own > most ? own : most;
					least = own < least ? own : least;
				}
				if (most - least > 1)
					fail_msg("%d layers, pp %d, vpp %d: %d to %d",
						 layers, pp, vpp, least, most);
			}
}

/* As many stages, chunks and layers as there is room for, and one more. */
static void test_limits(void **state)
{
	static const struct {
		int layers, pp, vpp;
		bool good;
	} rows[] = {
		{ 1, 1, 1, true },
		{ MAX_LAYERS, MAX_STAGES, 1, true },
		{ MAX_LAYERS, MAX_STAGES + 1, 1, false },
		{ MAX_LAYERS, MAX_STAGES, MAX_VIRTUAL / MAX_STAGES, true },
		{ MAX_LAYERS, MAX_STAGES, MAX_VIRTUAL / MAX_STAGES + 1, false },
		{ MAX_LAYERS, 2, MAX_CHUNKS, true },
		{ MAX_LAYERS, 2, MAX_CHUNKS + 1, false },
		{ 32, 0, 1, false },
		{ 32, -1, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		make(rows[i].layers, 0, rows[i].pp, rows[i].vpp, SPLIT_BALANCED);
		scenario.plan.schedule = SCHEDULE_INTERLEAVED;
		if (split_layers(&scenario, NULL, &split) != rows[i].good)
			fail_msg("%d layers, pp %d, vpp %d", rows[i].layers, rows[i].pp,
				 rows[i].vpp);
		if (rows[i].good)
			check_complete();
	}
	make(1, 0, 1, 1, SPLIT_EVEN);
	scenario.model.layers = 0;
	assert_false(split_layers(&scenario, NULL, &split));
	scenario.model.layers = MAX_LAYERS + 1;
	assert_false(split_layers(&scenario, NULL, &split));
	scenario.model.layers = 1;
	scenario.model.kinds = 0;
	assert_false(split_layers(&scenario, NULL, &split));
}

/* Ends that weigh more than all layers together, on as few stages as there may be. */
static void test_ends_that_outweigh_all_layers(void **state)
{
	(void)state;
	srand((unsigned)seed_or(12));
	for (int round = 0; round < 3000; round++) {
		double weights[4] = { 1 }, weight[12];
		int layers = 1 + rand() % 12, pp = 2 + rand() % 3;

		for (int i = 0; i < layers; i++)
			weight[i] = 1;
		weights[1] = 0.001 * (rand() % 30000);
		weights[2] = 0.001 * (rand() % 30000);
		if (pp > layers + 2)
			continue;
		make(layers, 0, pp, 1, SPLIT_BALANCED);
		assert_true(split_layers(&scenario, weights, &split));
		check_complete();
		assert_close(slowest(weights),
			     best_partition(weight, layers, pp, weights[1], weights[2]),
			     1e-8);
	}
}

/* Ends without weight: shares fall on the half of a layer, and which way these go does
 * not hang on the last bit of a sum: in other units weights are cut alike. */
static void test_units_of_weights_change_no_cut(void **state)
{
	static const double units[] = { 0.1, 0.3, 0.7, 1e-3, 3e-7, 1.1 };
	int16_t cut[MAX_VIRTUAL + 1];

	(void)state;
	for (int layers = 2; layers <= 64; layers++)
		for (int pp = 1; pp <= 16 && pp <= layers; pp++) {
			make(layers, 0, pp, 1, SPLIT_BALANCED);
			assert_true(split_layers(&scenario, (double[]){ 1, 0, 0, 0 },
						 &split));
			memcpy(cut, split.first, sizeof cut);
			for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
				double weights[] = { units[i], 0, 0, 0 };

				assert_true(split_layers(&scenario, weights, &split));
				for (int k = 0; k <= pp; k++)
					assert_int_equal(cut[k], split.first[k]);
			}
		}
}

static void test_layout_strings(void **state)
{
	static const char *const good[] = { "Et*2|(tt|)*5t|tmL", "Et*7|t*7mL",
					    "Et*2|(t*2|)*34,t*3|(t*2|)*3,tL" };
	static const int stages[] = { 8, 2, 40 }, layers[] = { 14, 14, 80 };
	static const char *const bad[] = { "",
					   "E",
					   "tL",
					   "EtLL",
					   "EEtL",
					   "tEL",
					   "EtL|t",
					   "Et*L",
					   "Et*0L",
					   "E(tL",
					   "Et)L",
					   "Ex|L",

					   "Etm|mL",
					   "Emt|L",
					   "E(((((t)))))L",
					   "E(|*9999)*9999L",
					   "Et*99999999999999999999L" };
	static int16_t counts[MAX_VIRTUAL];
	char why[80];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int total = 0;

		assert_int_equal(split_parse_layout(good[i], counts, why, sizeof why),
				 stages[i]);
		for (int k = 0; k < stages[i]; k++)
			total += counts[k];
		assert_int_equal(total, layers[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(split_parse_layout(bad[i], counts, why, sizeof why),
				 -1);
		assert_true(strlen(why) > 0);
	}
}

static void test_custom_reads_back_what_it_prints(void **state)
{
	char text[MAX_LAYOUT];

	(void)state;
	make(61, 3, 16, 1, SPLIT_BALANCED);
	scenario.model.mtp_layers = 1;
	assert_true(split_layers(&scenario, NULL, &split));
	assert_true(split_layout(&scenario, &split, text, sizeof text));
	scenario.plan.split = SPLIT_CUSTOM;
	strcpy(scenario.plan.layout, text);
	assert_true(split_layers(&scenario, NULL, &split));
	check_complete();
	assert_true(split_layout(&scenario, &split, text, sizeof text));
	assert_string_equal(text, scenario.plan.layout);
	assert_false(split_layout(&scenario, &split, text, 8));
	assert_string_equal(text, "");
	scenario.plan.pp = 5; /* 16 stages are no whole chunks */
	assert_false(split_layers(&scenario, NULL, &split));
}

static void test_first_last(void **state)
{
	(void)state;
	make(70, 0, 12, 1, SPLIT_FIRST_LAST); /* BLOOM: 5, 6 ..., 5 */
	scenario.plan.first_stage_layers = scenario.plan.last_stage_layers = 5;
	assert_true(split_layers(&scenario, NULL, &split));
	assert_int_equal(split.first[1], 5);
	assert_int_equal(split.first[11], 65);
	check_complete();
	scenario.plan.last_stage_layers = 6;
	assert_false(split_layers(&scenario, NULL, &split));
	scenario.plan.first_stage_layers = 900;
	assert_false(split_layers(&scenario, NULL, &split));
	scenario.plan.first_stage_layers = -1;
	assert_false(split_layers(&scenario, NULL, &split));
	make(70, 0, 1, 1, SPLIT_FIRST_LAST);
	assert_true(split_layers(&scenario, NULL, &split));
	assert_int_equal(split.first[1], 70);
	/* counts are of stages, half of them in each of two chunks */
	make(24, 0, 4, 2, SPLIT_FIRST_LAST);
	scenario.plan.first_stage_layers = scenario.plan.last_stage_layers = 4;
	assert_true(split_layers(&scenario, NULL, &split));
	assert_int_equal(split.first[1], 2);
	assert_int_equal(split.first[2], 6);
	assert_int_equal(split.first[4], 12);
	check_complete();
}

/* Bytes of stages that hold p - k micro-batches of layers, as 1F1B's do, and more where
 * the embedding and the head are. */
static double layer_bytes[MAX_LAYER_KINDS], end_bytes[2], each_bytes;

static double stage_bytes(const void *of, int k, const int16_t *kind_layers)
{
	const struct scenario *s = of;
	double bytes = k == 0 ? end_bytes[0] : 0;

	bytes += k + 1 == s->plan.pp ? end_bytes[1] : 0;
	for (int kind = 0; kind < s->model.kinds; kind++)
		bytes += kind_layers[kind] * layer_bytes[kind] *
			 (1 + each_bytes * (double)(s->plan.pp - k));
	return bytes;
}

/* The least fullest stage by dynamic programming over all cuts. */
static double least_fullest(int layers, int parts)
{
	static double best[64][64];

	for (int k = 0; k < parts; k++) {
		for (int to = 0; to <= layers; to++) {
			int16_t count[MAX_LAYER_KINDS] = { 0 };

			best[k][to] = INFINITY;
			for (int from = to; from >= 0; from--) {
				double earlier = k > 0       ? best[k - 1][from]
						 : from == 0 ? 0
							     : INFINITY;

				if (from < to)
					count[scenario.model.layer[from]]++;
				best[k][to] =
					fmin(best[k][to],
					     fmax(stage_bytes(&scenario, k, count),
						  earlier));
			}
		}
	}
	return best[parts - 1][layers];
}

/* Of twelve layers on four stages: what the ends may have, and what they may not. */
static void test_first_and_last_counts(void **state)
{
	static const struct {
		int first, last, pp;
		bool good;
		int inner; /* layers of each stage between */
	} rows[] = {
		{ 2, 2, 4, true, 4 },    { 0, 0, 4, true, 3 },
		{ 3, 0, 4, true, 3 },    { 0, 6, 4, true, 2 },
		{ 6, 6, 4, true, 0 },    { 6, 6, 2, true, 0 },
		{ 12, 0, 1, true, 0 },   { 2, 3, 4, false, 0 },
		{ 5, 6, 2, false, 0 },   { 13, 0, 4, false, 0 },
		{ 0, 13, 4, false, 0 },  { 7, 6, 4, false, 0 },
		{ -1, 1, 4, false, 0 },  { 1, -1, 4, false, 0 },
		{ 12, -1, 4, false, 0 }, { -3, 15, 4, false, 0 },
		{ 3, 4, 3, true, 5 },    { 0, 12, 2, true, 0 },
		{ 15, -3, 4, false, 0 }, { 6, 6, 1, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		make(12, 0, rows[i].pp, 1, SPLIT_FIRST_LAST);
		scenario.plan.first_stage_layers = rows[i].first;
		scenario.plan.last_stage_layers = rows[i].last;
		if (split_layers(&scenario, NULL, &split) != rows[i].good)
			fail_msg("first %d, last %d of %d stages", rows[i].first,
				 rows[i].last, rows[i].pp);
		if (!rows[i].good)
			continue;
		check_complete();
		for (int k = 0; k < rows[i].pp; k++) {
			int expected = k == 0 && rows[i].first > 0 ? rows[i].first
				       : k == rows[i].pp - 1 && rows[i].last > 0
					       ? rows[i].last
					       : rows[i].inner;

			assert_int_equal(split.first[k + 1] - split.first[k], expected);
		}
	}
}

static void test_balanced_memory_is_the_optimum(void **state)
{
	struct split_cost cost = { stage_bytes, &scenario };

	(void)state;
	srand((unsigned)seed_or(8));
	for (int round = 0; round < 400; round++) {
		int layers = 1 + rand() % 60, pp = 1 + rand() % 16;
		double fullest = 0;

		pp = pp > layers + 2 ? layers + 2 : pp;
		make(layers, rand() % 5, pp, 1, SPLIT_BALANCED_MEMORY);
		for (int i = 0; i < MAX_LAYER_KINDS; i++)
			layer_bytes[i] = 0.1 * (1 + rand() % 30);
		end_bytes[0] = 0.3 * (rand() % 30);
		end_bytes[1] = 0.3 * (rand() % 30);
		each_bytes = 0.05 * (rand() % 30);
		assert_true(split_by_memory(&scenario, NULL, &cost, &split));
		check_complete();
		for (int k = 0; k < pp; k++) {
			int16_t count[MAX_LAYER_KINDS];

			split_count(&scenario.model, &split, k, count);
			fullest = fmax(fullest, stage_bytes(&scenario, k, count));
		}
		assert_close(fullest, least_fullest(layers, pp), 1e-8);
	}
}

/* The least sum of mirrored parts: all ways to take layers off both ends. */
static double best_pairs(const double *weight, int left, int right, int pairs,
			 double ends)
{
	double best = INFINITY, inside = 0;

	for (int i = left; i < right; i++)
		inside += weight[i];
	if (pairs == 1)
		return inside + ends;
	for (int a = left; a <= right; a++) {
		for (int b = right; b >= a; b--) {
			double here = ends;

			for (int i = left; i < right; i++)
				here += i < a || i >= b ? weight[i] : 0;
			if (here >= best)
				continue;
			best = fmin(best,
				    fmax(here, best_pairs(weight, a, b, pairs - 1, 0)));
		}
	}
	return best;
}

/* With two copies the two parts of a stage count together; within a layer of the best.
 */
static void test_balanced_for_two_copies(void **state)
{
	(void)state;
	srand((unsigned)seed_or(9));
	for (int round = 0; round < 200; round++) {
		double weight[16], weights[5], fullest = 0, heaviest = 0;
		int layers = 4 + rand() % 8, pp = 2 * (1 + rand() % 3), p;

		make(layers, rand() % 4, pp, 1, SPLIT_BALANCED);
		scenario.plan.schedule =
			round % 2 ? SCHEDULE_DUALPIPE : SCHEDULE_CHIMERA;
		for (int i = 0; i < 5; i++)
			weights[i] = 0.1 * (1 + rand() % 30);
		for (int i = 0; i < layers; i++) {
			weight[i] = weights[scenario.model.layer[i]];
			heaviest = fmax(heaviest, weight[i]);
		}
		assert_true(split_layers(&scenario, weights, &split));
		check_complete();
		p = split.virtual_stages;
		for (int k = 0; k < p / 2; k++) {
			double sum = k == 0 ? weights[scenario.model.kinds] +
						      weights[scenario.model.kinds + 1]
					    : 0;

			for (int i = 0; i < layers; i++)
				sum += (i >= split.first[k] &&
					i < split.first[k + 1]) ||
						       (i >= split.first[p - 1 - k] &&
							i < split.first[p - k])
					       ? weight[i]
					       : 0;
			fullest = fmax(fullest, sum);
		}
		assert_true(fullest <=
			    best_pairs(weight, 0, layers, p / 2,
				       weights[scenario.model.kinds] +
					       weights[scenario.model.kinds + 1]) +
				    heaviest + 1e-9);
	}
}

static void fill_case(struct scenario *s, int which, int schedule)
{
	static void (*const fill[])(struct scenario *) = { case_dense, case_moe,
							   case_mla };

	fill[which](s);
	s->plan.schedule = schedule;
	s->plan.split = SPLIT_BALANCED_MEMORY;
}

/* The real stages: never fuller than balanced by time, and what the layout string says
 * is the same plan. */
static void test_memory_of_estimates(void **state)
{
	static const int schedules[] = { SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_ZB_H1,
					 SCHEDULE_ZB_2P };
	static struct estimate by_memory, by_time;
	struct scenario s;

	(void)state;
	for (int i = 0; i < 12; i++) {
		fill_case(&s, i % 3, schedules[i / 3]);
		train_estimate(&s, &by_memory);
		assert_true(by_memory.legal);
		assert_true(train_layout(&s, &by_time, s.plan.layout, MAX_LAYOUT));
		s.plan.split = SPLIT_CUSTOM;
		train_estimate(&s, &by_time);
		assert_true(by_time.legal);
		assert_close(by_time.memory.total_bytes, by_memory.memory.total_bytes,
			     1e-12);
		assert_close(by_time.step_seconds, by_memory.step_seconds, 1e-12);
		s.plan.split = SPLIT_BALANCED;
		train_estimate(&s, &by_time);
		assert_true(by_memory.memory.total_bytes <=
			    by_time.memory.total_bytes * (1 + 1e-9));
	}
}

static void test_layout_that_has_no_room(void **state)
{
	static struct estimate scratch;
	struct scenario s;
	char text[8] = "before", whole[MAX_LAYOUT] = "before";

	(void)state;
	fill_case(&s, 0, SCHEDULE_1F1B);
	assert_false(train_layout(&s, &scratch, text, sizeof text));
	assert_string_equal(text, "");
	s.plan.pp = 7; /* illegal */
	assert_false(train_layout(&s, &scratch, whole, sizeof whole));
	assert_string_equal(whole, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even),
		cmocka_unit_test(test_by_weights),
		cmocka_unit_test(test_balanced_is_the_optimum),
		cmocka_unit_test(test_of_cuts_as_near_the_earlier_is_taken),
		cmocka_unit_test(test_equal_layers_are_cut_like_any),
		cmocka_unit_test(test_chunks_of_a_stage_make_up_for_each_other),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_ends_that_outweigh_all_layers),
		cmocka_unit_test(test_units_of_weights_change_no_cut),
		cmocka_unit_test(test_layout_strings),
		cmocka_unit_test(test_custom_reads_back_what_it_prints),
		cmocka_unit_test(test_first_last),
		cmocka_unit_test(test_first_and_last_counts),
		cmocka_unit_test(test_balanced_memory_is_the_optimum),
		cmocka_unit_test(test_balanced_for_two_copies),
		cmocka_unit_test(test_memory_of_estimates),
		cmocka_unit_test(test_layout_that_has_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
