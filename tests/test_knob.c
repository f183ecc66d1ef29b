/* The table of knobs: sound rows, values in and out, neighbours. */
#include "engine/knob/knob.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/schedule/schedule.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct scenario scenario;
static char why[200];

static int start(void **state)
{
	(void)state;
	scenario_defaults(&scenario);
	scenario.cluster.gpus = 64;
	scenario.cluster.gpus_per_node = 8;
	return 0;
}

static bool parse(const char *key, const char *text)
{
	return knob_parse(&scenario, knob_find(key), text, why, sizeof why);
}

static void test_table(void **state)
{
	(void)state;
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];

		assert_ptr_equal(knob_find(knob->key), knob);
		assert_true(strlen(knob->label) <= 16 && strlen(knob->label) > 0);
		assert_true(strlen(knob->help) > 20 && strlen(knob->help) < 160);
		assert_int_equal(knob->help[strlen(knob->help) - 1], '.');
		assert_true(knob->scale > 0);
		assert_true(knob->type == KNOB_TEXT || knob->max > knob->min);
		assert_non_null(knob->unit);
		assert_true(knob->group < GROUP_COUNT);
		assert_true(i == 0 || knob->group >= knob[-1].group);
		if (knob->alias)
			assert_ptr_equal(knob_find(knob->alias), knob);
		if (knob->type == KNOB_WORD || knob->type == KNOB_SET)
			assert_non_null(knob->words);
		assert_true(knob->zero || knob->type != KNOB_SET);
	}
	for (int i = 0; i < GROUP_COUNT; i++)
		assert_true(strlen(knob_group_label((enum knob_group)i)) > 0);
}

/* Each enum of plan.h and its list of words have the same length. */
static void test_words(void **state)
{
	static const struct {
		const char *key;
		int count;
	} words[] = {
		{ "cp_kind", CP_KIND_COUNT },
		{ "schedule", SCHEDULE_COUNT },
		{ "split", SPLIT_COUNT },
		{ "optimizer_sync", SYNC_COUNT },
		{ "recompute", RECOMPUTE_COUNT },
		{ "optimizer", OPTIMIZER_COUNT },
		{ "precision", PRECISION_COUNT },
		{ "grad_dtype", GRAD_DTYPE_COUNT },
		{ "fp8_recipe", FP8_RECIPE_COUNT },
		{ "attention_kernel", ATTENTION_COUNT },
		{ "cuda_graphs", GRAPHS_COUNT },
		{ "cross_entropy", CE_COUNT },
		{ "moe_dispatcher", DISPATCH_COUNT },
		{ "moe_capacity", CAPACITY_COUNT },
		{ "flops_convention", FLOPS_COUNT },
		{ "recompute_modules", MODULE_COUNT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		const struct knob *knob = knob_find(words[i].key);
		int n = 0;

		while (knob->words[n])
			n++;
		assert_int_equal(n, words[i].count);
	}
}

/* The knob offers all the schedules that a step can be estimated with, each once. */
static void test_schedules(void **state)
{
	const struct knob *knob = knob_find("schedule");

	(void)state;
	for (int i = 0; i < SCHEDULE_COUNT; i++) {
		assert_non_null(knob->words[i]);
		assert_true(schedule_table[i].generate || schedule_table[i].order);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(knob->words[i], knob->words[j]);
	}
	assert_null(knob->words[SCHEDULE_COUNT]);
}

static void test_find(void **state)
{
	(void)state;
	assert_ptr_equal(knob_find("attention-kernel"), knob_find("attention_kernel"));
	assert_string_equal(knob_find("Recompute-Modules")->key, "recompute_modules");
	assert_string_equal(knob_find("micro-batch")->key, "mbs");
	assert_null(knob_find(""));
	assert_null(knob_find("dp"));
	assert_null(knob_find("t"));
	assert_null(knob_find("tpp"));
	assert_string_equal(knob_nearest_key("precison"), "precision");
	assert_string_equal(knob_nearest_key("recompute_module"), "recompute_modules");
	assert_string_equal(knob_nearest_key("gsb"), "gbs");
	assert_null(knob_nearest_key("completely_different"));
	assert_null(
		knob_nearest_key("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
}

/* Values as the published runs write them. */
static void test_published(void **state)
{
	static const char *const pairs[][2] = {
		{ "tp", "8" },
		{ "pp", "16" },
		{ "vpp", "24" },
		{ "cp", "32" },
		{ "ep", "64" },
		{ "etp", "4" },
		{ "sp", "true" },
		{ "zero", "3" },
		{ "zero_group", "64" },
		{ "mbs", "18" },
		{ "gbs", "2048" },
		{ "seq", "1048576" },
		{ "precision", "nvfp4" },
		{ "recompute", "full" },
		{ "recompute_modules", "per-op" },
		{ "recompute_modules", "['layernorm', 'moe_act']" },
		{ "attention_kernel", "fused-softmax" },
		{ "attention_kernel", "flash1" },
		{ "fused_norms", "False" },
		{ "overlap_grad_reduce", "True" },
		{ "ep_overlap", "False" },
		{ "fp8_recipe", "tensorwise" },
		{ "fp8_recipe", "current-scaling" },
		{ "fp8_recipe", "rowwise" },
		{ "fp8_recipe", "mxfp8" },
		{ "fp8_recipe", "subchannel" },
		{ "compile", "True" },
		{ "async_tp", "False" },
		{ "moe_dispatcher", "hybridep" },
		{ "moe_dispatcher", "deepep" },
		{ "moe_capacity", "pad" },
		{ "layout", "Et*4|(t*4|)*14tmL" },
		{ "optimizer_sync", "post-validation" },
		{ "schedule", "1f1b" },
		{ "schedule", "interleaved" },
		{ "gpus", "384" },
		{ "gpus_per_node", "8" },
		{ "network_gbps_per_gpu", "200" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		assert_non_null(knob_find(pairs[i][0]));
		assert_true(parse(pairs[i][0], pairs[i][1]));
	}
	assert_int_equal(scenario.plan.fp8_recipe, FP8_BLOCKWISE);
	assert_int_equal(scenario.plan.recompute_modules,
			 1 << MODULE_LAYERNORM | 1 << MODULE_MOE_ACT);
	assert_close(scenario.cluster.link[LINK_NETWORK].bytes_per_second, 25e9, 0);
	assert_string_equal(scenario.plan.layout, "Et*4|(t*4|)*14tmL");
}

static void test_suffixes(void **state)
{
	(void)state;
	assert_true(parse("seq", "8k"));
	assert_int_equal(scenario.plan.seq_len, 8192);
	assert_true(parse("seq", " 4M "));
	assert_int_equal(scenario.plan.seq_len, 4 << 20);
	assert_true(parse("seq", "0.5k"));
	assert_int_equal(scenario.plan.seq_len, 512);
	assert_true(parse("tokens", "100B"));
	assert_true(knob_get(&scenario, knob_find("tokens")) == 100e9);
	assert_false(parse("seq", "8B"));
	assert_true(parse("tokens", "15T"));
	assert_close(scenario.plan.tokens, 15e12, 0);
	assert_true(parse("tokens", "300 G"));
	assert_close(scenario.plan.tokens, 300e9, 0);
	assert_true(parse("etp", "auto"));
	assert_int_equal(scenario.plan.etp, 0);
	assert_true(parse("zero_group", "ALL"));
	assert_true(parse("imbalance", "1.25"));
	assert_close(scenario.plan.imbalance, 1.25, 0);
	assert_true(parse("sp", "yes"));
	assert_true(scenario.plan.sp);
	assert_true(parse("sp", "off"));
	assert_false(scenario.plan.sp);
	assert_true(parse("recompute_modules", "moe_act+core-attn"));
	assert_int_equal(scenario.plan.recompute_modules,
			 1 << MODULE_MOE_ACT | 1 << MODULE_CORE_ATTN);
	assert_true(parse("recompute_modules", "none"));
	assert_true(parse("recompute_modules", "[]"));
	assert_int_equal(scenario.plan.recompute_modules, 0);
	assert_true(parse("cp_kind", "all_gather"));
	assert_int_equal(scenario.plan.cp_kind, CP_ALL_GATHER);
}

/* What is refused leaves the scenario as it was and names the knob. */
static void test_refused(void **state)
{
	static const char *const pairs[][2] = {
		{ "tp", "" },
		{ "tp", "0" },
		{ "tp", "-1" },
		{ "tp", "1e30" },
		{ "tp", "nan" },
		{ "tp", "inf" },
		{ "tp", "8x" },
		{ "tp", "8 8" },
		{ "tp", "2.5" },
		{ "tp", "8kk" },
		{ "tp", "+8" },
		{ "tp", "0x8" },
		{ "tp", "auto" },
		{ "tp", "99999999999999999999999999999999" },
		{ "pp", "257" },
		{ "seq", "64M" },
		{ "zero", "4" },
		{ "zero", "-1" },
		{ "sp", "maybe" },
		{ "sp", "2" },
		{ "precision", "bf" },
		{ "precision", "" },
		{ "precision", "bf166" },
		{ "schedule", "1" },
		{ "tokens", "0" },
		{ "tokens", "NaN" },
		{ "tokens", "1e400" },
		{ "imbalance", "0.9" },
		{ "layout", "Et\033[2J" },
		{ "recompute_modules", "" },
		{ "price", "-1" },
		{ "recompute_modules", "core_attn,mlpp" },
		{ "price", "1,5" },
		{ "optimizer_offload", "1.01" },
		{ "price", "." },
		{ "tokens", "1e" },
		{ "tokens", "T" },
		{ "gpus", "\t" },
	};
	struct scenario before;

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		before = scenario;
		if (parse(pairs[i][0], pairs[i][1]))
			fail_msg("%s accepted '%s'", pairs[i][0], pairs[i][1]);
		assert_memory_equal(&before, &scenario, sizeof scenario);
		assert_non_null(strstr(why, pairs[i][0]));
		assert_false(knob_parse(&scenario, knob_find(pairs[i][0]), pairs[i][1],
					why, 0));
		assert_false(knob_parse(&scenario, knob_find(pairs[i][0]), pairs[i][1],
					why, 4));
		assert_true(strlen(why) < 4);
	}
	parse("schedule", "x");
	assert_string_equal(why, "schedule takes gpipe, 1f1b, interleaved, "
				 "breadth-first, zb-h1, zb-h2, zb-1p, zb-2p, zb-v, "
				 "v-half, v-min, dualpipe, dualpipev, chimera or "
				 "hanayo");
	parse("tp", "5000");
	assert_string_equal(why, "tp takes a whole number from 1 to 4096");
	assert_false(knob_set(&scenario, knob_find("tp"), NAN));
	assert_false(knob_set(&scenario, knob_find("tp"), INFINITY));
	assert_false(knob_set(&scenario, knob_find("layout"), 0));
}

static double random_value(const struct knob *knob)
{
	double share = rand() / (RAND_MAX + 1.0);

	if (knob->type == KNOB_REAL)
		return knob->min + (knob->max - knob->min) * pow(share, 1 + rand() % 6);
	if (knob->max - knob->min < 64)
		return floor(knob->min + share * (knob->max - knob->min + 1));
	return floor(knob->min + (knob->max - knob->min) * pow(share, rand() % 5));
}

/* Print, parse, print: the same value and the same text, for every knob. */
static void test_round_trip(void **state)
{
	struct scenario other;
	char text[256], again[256];

	(void)state;
	srand((unsigned)seed_or(7));
	for (int round = 0; round < 400; round++)
		for (int i = 0; i < knob_count(); i++) {
			const struct knob *knob = &knob_table[i];

			if (knob->type != KNOB_TEXT)
				assert_true(
					knob_set(&scenario, knob, random_value(knob)));
			else if (round % 2)
				assert_true(parse("layout", "Et*2|(tt|)*5t|tmL"));
			knob_print(&scenario, knob, text, sizeof text);
			other = scenario;
			if (knob->type != KNOB_TEXT)
				knob_set(&other, knob, knob->min);
			if (!knob_parse(&other, knob, text, why, sizeof why))
				fail_msg("%s: '%s': %s", knob->key, text, why);
			if (!knob_same(&scenario, &other, knob))
				fail_msg("%s: '%s' comes back different", knob->key,
					 text);
			knob_print(&other, knob, again, sizeof again);
			assert_string_equal(text, again);
			assert_true(knob_show(&other, knob, again, 17) <= 16);
			assert_true(strlen(again) <= 16);
		}
}

static void expect_values(const char *key, int n, const double *expected, int at)
{
	double values[MAX_VALUES];
	int present;

	assert_int_equal(knob_values(&scenario, knob_find(key), values, &present), n);
	assert_int_equal(present, at);
	for (int i = 0; i < n; i++)
		assert_close(values[i], expected[i], 1e-12);
}

static void test_candidates(void **state)
{
	(void)state;
	parse("tp", "8");
	expect_values("tp", 7, (double[]){ 1, 2, 4, 8, 16, 32, 64 }, 3);
	scenario.cluster.gpus = 24;
	expect_values("tp", 9, (double[]){ 1, 2, 3, 4, 6, 8, 12, 16, 24 }, 5);
	parse("tp", "5");
	expect_values("tp", 10, (double[]){ 1, 2, 3, 4, 5, 6, 8, 12, 16, 24 }, 4);
	parse("tp", "100");
	expect_values("tp", 10, (double[]){ 1, 2, 3, 4, 6, 8, 12, 16, 24, 100 }, 9);
	expect_values("etp", 10, (double[]){ 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 }, 0);
	expect_values("zero", 4, (double[]){ 0, 1, 2, 3 }, 1);
	expect_values("sp", 2, (double[]){ 0, 1 }, 0);
	expect_values("schedule", SCHEDULE_COUNT,
		      (double[]){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 },
		      2);
	expect_values("optimizer_offload", 11,
		      (double[]){ 0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1 }, 0);
	assert_close(knob_neighbour(&scenario, knob_find("tokens"), 1), 2e12, 1e-12);
	assert_close(knob_neighbour(&scenario, knob_find("tokens"), -1), 5e11, 1e-12);
	assert_close(knob_neighbour(&scenario, knob_find("seq"), 1), 8192, 0);
	assert_close(knob_neighbour(&scenario, knob_find("gbs"), 1), 384, 0);
	assert_close(knob_neighbour(&scenario, knob_find("gbs"), -1), 192, 0);
	expect_values("layout", 1, (double[]){ 0 }, 0);
}

/* Strips are rising, hold the present value, and step and step back meet. */
static void test_neighbours(void **state)
{
	static const int64_t worlds[] = {
		0, 1, 7, 24, 64, 720, 2048, 1000003, 1048576
	};
	double values[MAX_VALUES];
	int present;

	(void)state;
	srand((unsigned)seed_or(3));
	for (int round = 0; round < 90; round++)
		for (int i = 0; i < knob_count(); i++) {
			const struct knob *knob = &knob_table[i];
			int n;

			scenario.cluster.gpus = worlds[round % 9];
			if (knob->type != KNOB_TEXT)
				knob_set(&scenario, knob, random_value(knob));
			n = knob_values(&scenario, knob, values, &present);
			assert_true(n >= 1 && n <= MAX_VALUES && present < n);
			assert_true(values[present] == knob_get(&scenario, knob));
			for (int k = 1; k < n; k++)
				assert_true(values[k] > values[k - 1]);
			for (int k = 0; k < n && knob->type != KNOB_TEXT; k++)
				assert_true(knob_set(&scenario, knob, values[k]));
		}
}

static void test_reversible(void **state)
{
	(void)state;
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		double low;

		if (knob->type == KNOB_TEXT || knob->type == KNOB_SET)
			continue;
		scenario.cluster.gpus = 1920;
		knob_set(&scenario, knob, knob->min);
		for (int step = 0; step < 30; step++) {
			double before = knob_get(&scenario, knob);
			double up = knob_neighbour(&scenario, knob, 1);

			if (up >= knob->max || up == before)
				break;
			low = knob_get(&scenario, knob);
			assert_true(knob_set(&scenario, knob, up));
			/* a minimum off the series is met on the way down only there */
			if (step > 0 || knob->step != STEP_TENTH)
				assert_close(knob_neighbour(&scenario, knob, -1), low,
					     1e-9);
		}
	}
}

static void show(const char *key, const char *text, const char *expected)
{
	char out[32];

	assert_true(parse(key, text));
	knob_show(&scenario, knob_find(key), out, sizeof out);
	assert_string_equal(out, expected);
}

static void test_show(void **state)
{
	(void)state;
	scenario.stack.etp_rule = ETP_IS_TP;
	show("tp", "4", "4");
	show("etp", "auto", "4 (auto)");
	show("zero_group", "all", "16 (all)");
	show("seq", "8192", "8192");
	show("seq", "128k", "128 Ki");
	show("tokens", "15T", "15 T");
	show("optimizer_offload", "0.5", "0.5");
	show("lora_rank", "off", "off");
	show("precision", "BF16", "bf16");
	show("sp", "1", "on");
	show("network_gbps_per_gpu", "400", "400");
}

static void test_degrees(void **state)
{
	(void)state;
	scenario.cluster.gpus = 2048;
	scenario.model.moe.experts = 256;
	scenario.plan.tp = 2;
	scenario.plan.pp = 16;
	scenario.plan.ep = 64;
	assert_int_equal(scenario_dp(&scenario), 64);
	scenario.stack.etp_rule = ETP_IS_TP;
	assert_int_equal(scenario_etp(&scenario), 2);
	assert_int_equal(scenario_edp(&scenario), 1);
	assert_int_equal(scenario_smallest_world(&scenario), 2048);
	scenario.stack.etp_rule = ETP_IS_ONE;
	assert_int_equal(scenario_edp(&scenario), 2);
	assert_int_equal(scenario_smallest_world(&scenario), 1024);
	scenario.plan.cp = 3;
	assert_int_equal(scenario_dp(&scenario), 0);
	assert_int_equal(scenario_smallest_world(&scenario), 16 * 192);
	assert_int_equal(scenario_micro_batches(&scenario), 0);
	scenario.plan.cp = 1;
	scenario.plan.global_batch = 640;
	assert_int_equal(scenario_micro_batches(&scenario), 10);
	scenario.plan.global_batch = 641;
	assert_int_equal(scenario_micro_batches(&scenario), 0);
	scenario.model.vocab = 129280;
	assert_int_equal(scenario_padded_vocab(&scenario), 129280);
	scenario.stack.vocab_multiple = 128;
	scenario.model.vocab = 50257;
	assert_int_equal(scenario_padded_vocab(&scenario), 50432);
	scenario.plan.vpp = 4;
	assert_int_equal(scenario_chunks(&scenario), 4);
	scenario.plan.schedule = SCHEDULE_1F1B;
	assert_int_equal(scenario_chunks(&scenario), 1);
}

/* Words of few letters, so that many are near: the bounded distance is the distance up
 * to its bound, and above the bound behind it. */
static void test_distance_within(void **state)
{
	(void)state;
	seed = seed_or(4711);
	assert_int_equal(knob_distance("recieve", "receive"), 1);
	assert_int_equal(knob_distance("Fsdp_", "fsdp-x"), 1);
	for (int round = 0; round < 20000; round++) {
		char word[2][10];
		int most = (int)next(6), whole, within;

		for (int i = 0; i < 2; i++) {
			int length = (int)next(9);

			for (int j = 0; j < length; j++)
				word[i][j] = (char)('a' + next(3));
			word[i][length] = '\0';
		}
		whole = knob_distance(word[0], word[1]);
		within = knob_distance_within(word[0], word[1], most);
		if (whole <= most)
			assert_int_equal(within, whole);
		else
			assert_true(within > most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_table, start),
		cmocka_unit_test_setup(test_words, start),
		cmocka_unit_test_setup(test_schedules, start),
		cmocka_unit_test_setup(test_find, start),
		cmocka_unit_test_setup(test_distance_within, start),
		cmocka_unit_test_setup(test_published, start),
		cmocka_unit_test_setup(test_suffixes, start),
		cmocka_unit_test_setup(test_refused, start),
		cmocka_unit_test_setup(test_round_trip, start),
		cmocka_unit_test_setup(test_candidates, start),
		cmocka_unit_test_setup(test_neighbours, start),
		cmocka_unit_test_setup(test_reversible, start),
		cmocka_unit_test_setup(test_show, start),
		cmocka_unit_test_setup(test_degrees, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
