/* test_knob_moves.c - a knob that is shown as live moves some number of the estimate,
 * or stands below with the reason why it can't. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/glossary/glossary.h"
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "engine/whatif/whatif.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate base, turned;

enum family { DENSE, MOE, MLA, HYBRID };

/* Plans that between them make every knob of training live. */
static const struct plan_row {
	const char *name;
	enum family family;
	const char *settings;
} plans[] = {
	{ "dense", DENSE, "" },
	{ "MoE", MOE, "" },
	{ "shared experts", MLA, "gpus=64 pp=2 ep=8" },
	{ "LoRA", DENSE, "pp=1 lora_rank=16" },
	{ "frozen", DENSE, "pp=1 frozen_layers=60" },
	{ "hybrid", HYBRID, "" },
	{ "interleaved", DENSE,
	  "schedule=interleaved vpp=4 precision=fp8 tp_overlap=on" },
	{ "zero bubble", DENSE, "schedule=zb-h2" },
	{ "first and last", DENSE,
	  "schedule=1f1b split=first-last first_stage_layers=17 last_stage_layers=21" },
	{ "FSDP", DENSE, "pp=1 zero=3 recompute=selective" },
	{ "context", DENSE, "cp=2 gbs=64 optimizer_offload=0.5 recompute=full" },
	{ "padded", MOE, "moe_capacity=pad ep=4" },
	{ "leaves", DENSE, "gpus=256 leaf_gpus=64" },
	{ "captured", MOE, "cuda_graphs=partial ep=4" },
	{ "fp8", DENSE, "precision=fp8" },
	{ "fp4", DENSE, "precision=nvfp4" },
	{ "fp4 experts", MOE, "precision=nvfp4" },
	{ "chunked", DENSE, "pp=1 cross_entropy=chunked" },
	{ "LoRA split", DENSE, "pp=1 tp=2 sp=on lora_rank=16" },
	{ "sent out", DENSE, "pp=1 recompute=none offload_modules=attn_norm" },
	{ "custom", DENSE, "pp=1 recompute=selective remat_policy=custom" },
};

/* Knobs that are live on a plan and can't move a number there, why, and what has to be
 * set besides so that they do. */
static const struct {
	const char *plan; /* NULL = any */
	const char *key, *besides, *why;
} still[] = {
	{ "frozen", "pp", "frozen_layers=none",
	  "frozen layers are counted without a pipeline alone (X32)" },
	{ "fp4 experts", "moe_capacity", "capacity_factor=1.25",
	  "ranks wait for late hosts whether or not each waits for counts" },
	{ NULL, "compile", "fused_norms=off",
	  "fused kernels are there already, and the CPU keeps up" },
	{ "FSDP", "host_binding", "zero=1 document_len=off seq=128",
	  "layers wait for their weights longer than for the CPU" },
	{ NULL, "host_binding", "document_len=off seq=128",
	  "layers this long hide what the CPU launches" },
	{ NULL, "leaf_gpus", "gpus=256 oversubscription=4",
	  "a leaf switch that is not oversubscribed costs nothing" },
	{ NULL, "in_network_reduction", "gpus=256",
	  "two domains exchange their halves in one step as it is" },
	{ NULL, "network_gbps_per_gpu", "gpus=16", "the job is on one node" },
	{ "zero bubble", "split", "tp=4",
	  "20 layers each are the best split and the fullest's least" },
	{ NULL, "async_tp", "tp_overlap=off", "the two are ways to the same overlap" },
	{ "FSDP", "overlap_param_gather", "zero=1",
	  "layers are gathered one by one, as fsdp_prefetch says" },
	{ "FSDP", "overlap_grad_reduce", "fsdp_reshard=off",
	  "a layer's gradients share the backward with its second gather" },
};

static void set_all(struct scenario *s, const char *settings)
{
	char text[256], *rest = text;

	snprintf(text, sizeof text, "%s", settings);
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		char *value = strchr(word, '=');

		assert_non_null(value);
		*value++ = '\0';
		case_set(s, word, value);
	}
}

static void begin(const struct plan_row *row, struct scenario *s)
{
	static void (*const cases[])(struct scenario *) = {
		[DENSE] = case_dense,
		[MOE] = case_moe,
		[MLA] = case_mla,
		[HYBRID] = case_hybrid,
	};

	cases[row->family](s);
	s->stack.ep_overlap = 0.8;
	s->stack.splits_adapters = true;
	s->stack.graph_bytes = s->stack.graph_pipelined_bytes = 3e9;
	s->cluster.accelerator.peak_flops[PRECISION_NVFP4] =
		4 * s->cluster.accelerator.peak_flops[PRECISION_BF16];
	/* what a framework refuses is no matter of what a knob does */
	s->stack.rules = 0;
	case_set(s, "document_len", "2k");
	set_all(s, row->settings);
}

static bool differs(void)
{
	for (int i = 0; i < metric_count(); i++)
		if ((metric_table[i].modes & METRIC_TRAINING) &&
		    metric_get(&base, &metric_table[i]) !=
			    metric_get(&turned, &metric_table[i]))
			return true;
	for (int i = 0; i < base.stages; i++)
		if (base.stage[i].total_bytes != turned.stage[i].total_bytes ||
		    base.stage_time[i].busy_seconds !=
			    turned.stage_time[i].busy_seconds)
			return true;
	return false;
}

/* Some legal value of this knob gives another number than the one it has. */
static bool moves(const struct scenario *s, const struct knob *knob)
{
	double values[MAX_VALUES];
	int present, count = knob_values(s, knob, values, &present);

	train_estimate(s, &base);
	assert_true(base.legal);
	for (int i = 0; i < count; i++) {
		struct scenario other = *s;

		if (i == present || !knob_set(&other, knob, values[i]))
			continue;
		train_estimate(&other, &turned);
		if (turned.legal && differs())
			return true;
	}
	return false;
}

/* Its row in the list above, or -1. */
static int find_still(const char *plan, const char *key)
{
	for (int i = 0; i < (int)(sizeof still / sizeof still[0]); i++)
		if (strcmp(still[i].key, key) == 0 &&
		    (!still[i].plan || strcmp(still[i].plan, plan) == 0))
			return i;
	return -1;
}

static bool seen[MAX_KNOBS], excused[sizeof still / sizeof still[0]];

static void check(const struct plan_row *row, const struct scenario *s, int k)
{
	const struct knob *knob = &knob_table[k];
	struct scenario prepared = *s;
	int excuse;

	seen[k] = true;
	if (moves(s, knob))
		return;
	excuse = find_still(row->name, knob->key);
	if (excuse < 0)
		fail_msg("%s is live on the plan %s, and moves no number", knob->key,
			 row->name);
	excused[excuse] = true;
	set_all(&prepared, still[excuse].besides);
	if (!knob_applies(&prepared, knob) || !moves(&prepared, knob))
		fail_msg("%s moves nothing on the plan %s with %s either (%s)",
			 knob->key, row->name, still[excuse].besides,
			 still[excuse].why);
}

/* mode changes which numbers there are; those of the split have tests of their own. */
static bool is_turned(const struct knob *knob)
{
	static const char *const apart[] = { "mode", "layout", "split_embedding",
					     "split_loss",
					     "scale_fusion" /* test_hosts.c */ };

	for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
		if (strcmp(knob->key, apart[i]) == 0)
			return false;
	return knob_in_mode(knob, MODE_TRAINING);
}

static void test_live_knobs_move_a_number(void **state)
{
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		begin(&plans[i], &s);
		for (int k = 0; k < knob_count(); k++)
			if (is_turned(&knob_table[k]) &&
			    knob_applies(&s, &knob_table[k]))
				check(&plans[i], &s, k);
	}
	for (int k = 0; k < knob_count(); k++)
		if (is_turned(&knob_table[k]) && !seen[k])
			fail_msg("no plan turns %s", knob_table[k].key);
	for (size_t i = 0; i < sizeof still / sizeof still[0]; i++)
		if (!excused[i])
			fail_msg("%s needs no excuse", still[i].key);
}

/* The sentence that stands on a knob's page and over its strip. */
static void says_why(const struct scenario *s, const struct knob *knob,
		     const char *plan)
{
	static struct whatif strip;

	whatif_knob(s, knob, &turned, &strip);
	if (whatif_alike(&strip) && !glossary_still(knob->key) && !moves(s, knob))
		fail_msg("%s: no value of %s moves a number, and nothing says why",
			 plan, knob->key);
}

/* Of all shipped plans: a knob that is shown as live moves a number, or says why not.
 */
static void test_still_knobs_say_why(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		assert_true(scenario_read(&s, list[i].name, NULL, &error));
		for (int k = 0; s.plan.mode == MODE_TRAINING && k < knob_count(); k++)
			if (knob_in_mode(&knob_table[k], MODE_TRAINING) &&
			    knob_applies(&s, &knob_table[k]) &&
			    knob_table[k].type != KNOB_TEXT)
				says_why(&s, &knob_table[k], list[i].name);
	}
	for (size_t i = 0; i < sizeof still / sizeof still[0]; i++)
		if (!glossary_still(still[i].key))
			fail_msg("nothing says why %s may stand still", still[i].key);
}

static void test_a_layout_moves_a_number(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "split", "custom");
	case_set(&s, "layout", "Et*20|t*20|t*20|t*20L");
	assert_true(knob_applies(&s, knob_find("layout")));
	train_estimate(&s, &base);
	case_set(&s, "layout", "Et*19|t*20|t*22|t*19L");
	train_estimate(&s, &turned);
	assert_true(base.legal && turned.legal && differs());
}

/* 80 layers on 3 stages: with the embedding or the head counted as one they divide. */
static void test_counted_ends_make_a_split_even(void **state)
{
	static const char *const counted[] = { "split_embedding", "split_loss" };
	struct scenario s;

	(void)state;
	case_dense(&s);
	set_all(&s, "gpus=48 pp=3");
	train_estimate(&s, &base);
	assert_false(base.legal);
	for (int i = 0; i < 2; i++) {
		struct scenario other = s;

		case_set(&other, counted[i], "on");
		train_estimate(&other, &turned);
		assert_true(turned.legal);
	}
}

/* Any number of the mode. */
static bool some_number_moves(const struct scenario *s, const struct knob *knob)
{
	double values[MAX_VALUES];
	int present, count = knob_values(s, knob, values, &present);
	bool moved = false;

	scenario_estimate(s, &base);
	for (int i = 0; i < count && !moved; i++) {
		struct scenario other = *s;

		if (i == present || !knob_set(&other, knob, values[i]))
			continue;
		scenario_estimate(&other, &turned);
		for (int m = 0; m < metric_count() && turned.legal && !moved; m++)
			moved = (metric_table[m].modes >> s->plan.mode & 1) &&
				metric_get(&base, &metric_table[m]) !=
					metric_get(&turned, &metric_table[m]);
	}
	return moved;
}

/* What is said to do nothing does nothing, in no shipped plan. The host's memory is a
 * number of its own, whoever uses it. */
static void test_dead_knobs_move_nothing(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), dead = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		for (int k = 0; k < knob_count(); k++) {
			const struct knob *knob = &knob_table[k];

			if (!knob_in_mode(knob, s.plan.mode) ||
			    knob_applies(&s, knob) || knob->type == KNOB_TEXT ||
			    strcmp(knob->key, "host_memory_gib") == 0)
				continue;
			dead++;
			if (some_number_moves(&s, knob))
				fail_msg("%s: %s is said to do nothing, and does",
					 list[i].name, knob->key);
		}
	}
	assert_true(dead > 500);
}

/* Overlap of a stack that hides nothing, a recipe of a format that has one alone, what
 * calibrates training in a server, spare experts and imbalance without EP: nobody is
 * shown a knob that turns and turns. */
static void test_knobs_without_effect_are_dead(void **state)
{
	static const struct {
		const char *plan, *knob;
		bool live;
	} rows[] = {
		{ "bloom-176b-384-a100", "overlap_grad_reduce", false },
		{ "bloom-176b-384-a100", "overlap_param_gather", false },
		{ "megatron-1t-3072-a100", "tp_overlap", false },
		{ "megatron-1t-3072-a100", "async_tp", false },
		{ "llama3-70b-64-h100", "overlap_param_gather", true },
		{ "llama3-70b-64-h100", "tp_overlap", true },
		{ "mixtral-8x7b-64-h100", "ep_overlap", true },
		{ "llama3-70b-64-h100-fp8", "fp8_recipe", true },
		{ "llama3-70b-64-gb200", "fp8_recipe", false },
		{ "llama3-70b-64-h100", "compute_scale", true },
		{ "deepseek-v3-8-h200-serve", "compute_scale", false },
		{ "deepseek-v3-8-h200-serve", "network_scale", false },
		{ "deepseek-v3-8-h200-serve", "host_scale", false },
		{ "deepseek-v3-8-h200-serve", "scale", true },
		{ "deepseek-v3-8-h200-serve", "imbalance", false },
		{ "deepseek-v3-8-h200-serve", "redundant_experts", false },
		{ "deepseek-v3-8-b200-serve", "imbalance", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct knob *knob = knob_find(rows[i].knob);
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, rows[i].plan, NULL, &error))
			fail_msg("%s", error.text);
		if (knob_applies(&s, knob) != rows[i].live ||
		    some_number_moves(&s, knob) != rows[i].live)
			fail_msg("%s: %s", rows[i].plan, rows[i].knob);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_knobs_move_a_number),
		cmocka_unit_test(test_still_knobs_say_why),
		cmocka_unit_test(test_a_layout_moves_a_number),
		cmocka_unit_test(test_counted_ends_make_a_split_even),
		cmocka_unit_test(test_dead_knobs_move_nothing),
		cmocka_unit_test(test_knobs_without_effect_are_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
