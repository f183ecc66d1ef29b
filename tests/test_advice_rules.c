/* test_advice_rules.c - each rule of advice speaks where it should and is silent where
 * it should; what a move claims is what turning the knob gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice/rules.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/train/train.h"
#include "engine/whatif/whatif.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now, scratch;
static struct findings said;

enum which { DENSE, MOE, MLA, HYBRID };

/* One for each row of the tables, in their order. Words are "key=value" of knobs, or
 * "@..." for what no knob turns. */
struct pair {
	const char *code;
	enum which which;
	const char *speaks, *silent;
};

static const struct pair of_moves[] = {
	{ "T5", DENSE, "", "gbs=4096" },
	{ "T5", DENSE, "schedule=1f1b", "" },
	{ "T6", DENSE, "vpp=5 zero=2", "zero=2" },
	{ "T5", DENSE, "gbs=64 mbs=2", "gbs=64" },
	{ "T4", DENSE, "pp=8", "pp=8 tp=1" },
	{ "T2", DENSE, "tp=16", "" },
	{ "T1", DENSE, "", "pp=1" },
	{ "T9", DENSE, "cp=2", "cp=2 seq=32k" },
	{ "T12", MOE, "etp=2", "" },
	{ "T29", DENSE, "gbs=512", "gbs=64" },
	{ "M3", DENSE, "recompute=selective", "" },
	{ "T15", MOE, "overlap_grad_reduce=off overlap_param_gather=off", "" },
	{ "T15", MOE, "overlap_param_gather=off", "" },
	{ "T15", DENSE, "", "tp_overlap=on" },
	{ "T15", DENSE, "vpp=5 overlap_p2p=off", "vpp=5" },
	{ "T3", MOE, "@ep_hides vpp=2", "@ep_hides vpp=2 ep_overlap=on" },
	{ "T3", MOE, "etp=2", "" },
	{ "T8", DENSE, "gbs=16", "gbs=16 seq=4k" },
	{ "T23", HYBRID, "mbs=2", "mbs=2 tp=1" },
	{ "T24", DENSE, "zero=3 seq=512", "seq=512" },
	{ "T28", DENSE, "zero=2", "" },
	{ "T29", DENSE, "@slow_cpu", "" },
	{ "T13", MOE, "ep=1 gpu_memory_gib=300 grouped_gemm=off seq=256",
	  "ep=1 gpu_memory_gib=300 seq=256" },
	{ "T32", DENSE, "", "precision=fp8" },
	{ "T38", DENSE, "attention_kernel=unfused", "" },
	{ "T38", DENSE, "attention_kernel=flash2", "" },
	{ "T39", DENSE, "fused_norms=off", "" },
	{ "M17", HYBRID, "sp=off seq=16k", "seq=16k" },
	{ "T26", DENSE, "@large_vocab", "" },
	{ "M9", DENSE, "zero=0", "" },
	{ "M17", HYBRID, "sp=off precision=fp32", "precision=fp32" },
	{ "M7", DENSE, "mbs=4", "" },
	{ "M17", DENSE, "sp=off", "" },
	{ "M9", DENSE, "mbs=4", "" },
	{ "M2", DENSE, "attention_kernel=unfused", "" },
	{ "M6", DENSE, "mbs=4", "" },
	{ "M6", MLA, "recompute=selective", "recompute=selective gpu_memory_gib=300" },
	{ "M12", MLA, "vpp=2", "" },
	{ "M8", MOE, "ep=2", "ep=2 gpu_memory_gib=300" },
	{ "M4", DENSE, "tp=1", "" },
	{ "M4", MOE, "mbs=2", "" },
	{ "M5", DENSE, "mbs=4", "" },
	{ "T10", DENSE, "mbs=4", "mbs=8 seq=4k" },
	{ "M11", DENSE, "pp=1", "" },
	{ "M18", DENSE, "mbs=4", "mbs=4 optimizer=adamw-bf16" },
	{ "M18", DENSE, "mbs=4", "mbs=4 grad_dtype=bf16" },
	{ "M14", DENSE, "mbs=4", "mbs=4 optimizer_offload=0.5" },
	{ "M3", MLA, "recompute=full recompute_layers=1", "recompute=full" },
};

static const struct pair of_notes[] = {
	{ "M1", DENSE, "tp=4", "" },
	{ "M19", MOE, "ep=4", "" },
	{ "M12", MLA, "vpp=2", "" },
	{ "M13", MOE, "recompute=selective recompute_modules=moe",
	  "recompute=selective" },
	{ "M15", MOE, "", "imbalance=2" },
	{ "M16", DENSE, "cuda_graphs=full", "" },
	{ "M11", DENSE, "vocab_parallel=off", "" },
	{ "M20", MOE, "zero=3 @large_vocab", "zero=3" },
	{ "M10", DENSE, "cp=2", "" },
	{ "T3", MOE, "etp=2", "" },
	{ "T7", MOE, "gbs=32", "" },
	{ "T5", DENSE, "gbs=64", "" },
	{ "T4", DENSE, "tp=16", "" },
	{ "T11", DENSE, "tp=4 cp=2 cp_kind=ulysses nvlink_domain=4",
	  "tp=4 cp=2 nvlink_domain=4" },
	{ "T14", MOE, "", "ep=4" },
	{ "T16", DENSE, "zero=2", "" },
	{ "T19", DENSE, "seq=128k", "" },
	{ "T21", MLA, "pp=1 zero=3", "pp=1 zero=3 zero_group=64" },
	{ "T25", DENSE, "@odd_vocab", "" },
	{ "T26", DENSE, "pp=8", "pp=1" },
	{ "T27", MLA, "grad_dtype=bf16", "" },
	{ "T30", DENSE, "gpus=72 nvlink_domain=72 pp=1 gbs=72",
	  "gpus=64 nvlink_domain=72 pp=1 gbs=72" },
	{ "T37", DENSE, "scale=0.5", "" },
	{ "T1", DENSE, "recompute=full", "" },
	{ "T2", DENSE, "tp=16", "" },
	{ "T17", DENSE, "tp=16", "" },
	{ "T18", DENSE, "@torus zero=3 pp=1 gbs=8 seq=1k", "@torus zero=3 pp=1 gbs=8" },
	{ "T20", DENSE, "leaf_gpus=16 oversubscription=8 gbs=8",
	  "leaf_gpus=64 oversubscription=8 gbs=8" },
	{ "T22", MLA, "@ethernet", "" },
	{ "T31", MOE, "", "overlap_grad_reduce=off overlap_param_gather=off" },
	{ "T15", MLA, "", "shared_expert_overlap=on" },
	{ "T33", DENSE, "@torchtitan", "@torchtitan tp=1 sp=off" },
	{ "T35", DENSE, "tp=1", "" },
	{ "T36", MOE, "tp=16 ep=1 sp=on", "" },
	{ "T25", DENSE, "@odd_width", "" },
};

static void turn_special(struct scenario *s, const char *word)
{
	if (strcmp(word, "@ep_hides") == 0)
		s->stack.ep_overlap = 0.8;
	else if (strcmp(word, "@slow_cpu") == 0)
		s->stack.operator_launches = 400;
	else if (strcmp(word, "@large_vocab") == 0)
		s->model.vocab = 1024000;
	else if (strcmp(word, "@odd_vocab") == 0)
		s->model.vocab = 50257, s->stack.vocab_multiple = 1;
	else if (strcmp(word, "@torus") == 0)
		s->cluster.torus = true;
	else if (strcmp(word, "@ethernet") == 0)
		strcpy(s->cluster.link[LINK_NETWORK].name, "RoCE 400G");
	else if (strcmp(word, "@torchtitan") == 0)
		strcpy(s->stack.name, "torchtitan");
	else if (strcmp(word, "@odd_width") == 0)
		s->model.kind[0].ffn = 28680; /* 3585 a rank of 8 */
	else
		fail_msg("unknown word %s", word);
}

static void make(struct scenario *s, enum which which, const char *words)
{
	static void (*const cases[])(struct scenario *) = { case_dense, case_moe,
							    case_mla, case_hybrid };
	char text[200], *save = NULL;

	cases[which](s);
	snprintf(text, sizeof text, "%s", words);
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		if (!equals) {
			turn_special(s, word);
			continue;
		}
		*equals = '\0';
		case_set(s, word, equals + 1);
	}
}

static void advise(struct scenario *s, enum which which, const char *words)
{
	char text[200];

	make(s, which, words);
	train_estimate(s, &now);
	if (!now.legal) {
		finding_text(&now.problems.item[0], text, sizeof text);
		fail_msg("\"%s\" is illegal: %s", words, text);
	}
	advice_give(s, &now, &said);
}

static const struct finding *find(const struct rule *rule)
{
	for (int i = 0; i < said.count; i++)
		if (said.item[i].rule == rule)
			return &said.item[i];
	return NULL;
}

static void check_text(const struct finding *finding)
{
	char text[300];

	for (int i = 0; i < MAX_TERMS; i++)
		assert_true(isfinite(finding->value[i]));
	assert_true(finding_text(finding, text, sizeof text) > 10);
	assert_null(strchr(text, '{'));
	assert_true(finding->rule->source[0]);
}

static int check_pair(const struct pair *pair, const struct rule *rule)
{
	struct scenario s;
	int wrong = 0;

	assert_string_equal(pair->code, rule->code);
	advise(&s, pair->which, pair->speaks);
	if (find(rule))
		check_text(find(rule));
	else
		wrong++, print_error("%s is silent on \"%s\": %s\n", rule->code,
				     pair->speaks, rule->text);
	advise(&s, pair->which, pair->silent);
	if (find(rule))
		wrong++, print_error("%s speaks on \"%s\": %s\n", rule->code,
				     pair->silent, rule->text);
	return wrong;
}

static void test_each_move_speaks_and_is_silent(void **state)
{
	int wrong = 0;

	(void)state;
	assert_int_equal(advice_move_count(), sizeof of_moves / sizeof of_moves[0]);
	for (int i = 0; i < advice_move_count(); i++)
		wrong += check_pair(&of_moves[i], &advice_moves[i].rule);
	assert_int_equal(wrong, 0);
}

static void test_each_note_speaks_and_is_silent(void **state)
{
	int wrong = 0;

	(void)state;
	assert_int_equal(advice_note_count(), sizeof of_notes / sizeof of_notes[0]);
	for (int i = 0; i < advice_note_count(); i++)
		wrong += check_pair(&of_notes[i], &advice_note(i)->rule);
	assert_int_equal(wrong, 0);
}

static const struct move *move_of(const struct rule *rule)
{
	for (int i = 0; i < advice_move_count(); i++)
		if (&advice_moves[i].rule == rule)
			return &advice_moves[i];
	return NULL;
}

/* Every effect that is claimed is the estimate of the turned scenario. */
static void check_effects(const struct scenario *s)
{
	for (int i = 0; i < said.count; i++) {
		const struct finding *f = &said.item[i];
		const struct move *move = move_of(f->rule);
		struct scenario turned = *s;

		check_text(f);
		if (!move)
			continue;
		if (move->first_knob)
			assert_true(knob_set(&turned, knob_find(move->first_knob),
					     move->first_value));
		assert_int_equal(f->nearest_count, 1);
		assert_true(knob_set(&turned, knob_find(f->knob), f->nearest[0]));
		train_estimate(&turned, &scratch);
		assert_true(scratch.legal);
		assert_close(f->value[0], f->nearest[0], 1e-12);
		assert_true(fabs(f->value[1] -
				 (scratch.tokens_per_second / now.tokens_per_second -
				  1)) < 1e-9);
		assert_close(f->value[2], scratch.memory.total_bytes, 1e-9);
		assert_close(f->value[3],
			     scratch.memory.total_bytes / scratch.capacity_bytes, 1e-9);
		if (move->aim == AIM_SPEED)
			assert_true(scratch.fits && f->value[1] >= 0.01);
		else
			assert_true(f->value[2] < now.memory.total_bytes);
	}
}

static void test_effects_are_measured(void **state)
{
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof of_moves / sizeof of_moves[0]; i++) {
		advise(&s, of_moves[i].which, of_moves[i].speaks);
		check_effects(&s);
	}
}

/* What makes it fit comes before what does not, the fastest of them first; speed is in
 * falling order. */
static void test_the_most_valuable_comes_first(void **state)
{
	struct scenario s;
	double last = INFINITY;
	bool cured = true;

	(void)state;
	advise(&s, DENSE, "mbs=4");
	assert_false(now.fits);
	assert_true(said.count > 3);
	for (int i = 0; i < said.count; i++) {
		const struct finding *f = &said.item[i];
		const struct move *move = move_of(f->rule);

		if (!move || move->aim != AIM_MEMORY)
			continue;
		if (f->value[3] > 1)
			cured = false;
		else
			assert_true(cured && f->value[1] <= last);
		last = f->value[1];
	}
	assert_true(said.item[0].value[3] <= 1);
	advise(&s, DENSE, "");
	last = INFINITY;
	for (int i = 0; i < said.count; i++) {
		const struct move *move = move_of(said.item[i].rule);

		if (!move || move->aim != AIM_SPEED)
			continue;
		assert_true(said.item[i].value[1] <= last);
		last = said.item[i].value[1];
	}
}

static void test_nothing_is_said_twice(void **state)
{
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof of_moves / sizeof of_moves[0]; i++) {
		advise(&s, of_moves[i].which, of_moves[i].speaks);
		for (int a = 0; a < said.count; a++)
			for (int b = 0; b < a; b++) {
				assert_ptr_not_equal(said.item[a].rule,
						     said.item[b].rule);
				if (said.item[a].nearest_count == 0 ||
				    said.item[b].nearest_count == 0)
					continue;
				assert_false(said.item[a].nearest[0] ==
						     said.item[b].nearest[0] &&
					     strcmp(said.item[a].knob,
						    said.item[b].knob) == 0);
			}
	}
}

static bool says(const char *code)
{
	for (int i = 0; i < said.count; i++)
		if (strcmp(said.item[i].rule->code, code) == 0)
			return true;
	return false;
}

/* FlashAttention 2 does not run on V100. */
static void test_kernels_need_their_hardware(void **state)
{
	struct scenario s;

	(void)state;
	make(&s, DENSE, "attention_kernel=unfused gpu_memory_gib=300");
	train_estimate(&s, &now);
	advice_give(&s, &now, &said);
	assert_true(says("T38"));
	s.cluster.accelerator.year = 2017;
	train_estimate(&s, &now);
	advice_give(&s, &now, &said);
	assert_false(says("T38"));
}

static void test_an_illegal_plan_gets_none(void **state)
{
	struct scenario s;

	(void)state;
	make(&s, DENSE, "tp=24");
	train_estimate(&s, &now);
	assert_false(now.legal);
	said.count = 7;
	advice_give(&s, &now, &said);
	assert_int_equal(said.count, 0);
}

static void test_one_gpu_is_advised(void **state)
{
	struct scenario s;

	(void)state;
	advise(&s, HYBRID, "gpus=1 tp=1 sp=off gbs=8");
	assert_false(now.fits);
	assert_true(said.count > 0);
	check_effects(&s);
}

static void check_the_stack_has_it(const char *plan, const struct scenario *turned)
{
	static struct lacks lacks;
	char text[200];

	if (scenario_lacks(turned, &lacks) == 0)
		return;
	lack_text(turned, &lacks.item[0], text, sizeof text);
	fail_msg("%s: %s", plan, text);
}

/* How many changes of this plan are proposed, of which the stack must have each. */
static int check_proposals(const char *plan, const struct scenario *s)
{
	struct whatif_mend mends[MAX_WHATIF_MENDS];
	int count = 0, mended;

	scenario_estimate(s, &now);
	advice_give(s, &now, &said);
	for (int i = 0; i < said.count; i++) {
		const struct finding *f = &said.item[i];
		struct scenario turned = *s;

		if (f->nearest_count == 0)
			continue;
		if (f->first)
			knob_set(&turned, knob_find(f->first), f->first_value);
		knob_set(&turned, knob_find(f->knob), f->nearest[0]);
		check_the_stack_has_it(plan, &turned);
		count++;
	}
	mended = now.fits ? 0 : whatif_mends(s, &scratch, mends);
	for (int i = 0; i < mended; i++) {
		struct scenario turned = *s;

		knob_set(&turned, mends[i].knob, mends[i].value);
		check_the_stack_has_it(plan, &turned);
	}
	return count + mended;
}

/* FlashAttention in Megatron-LM of 2021, a pipeline under FSDP: legal, and nowhere to
 * be had. */
static void test_what_the_stack_lacks_is_not_proposed(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), proposed = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		proposed += check_proposals(list[i].name, &s);
		assert_true(
			knob_set(&s, knob_find("gpu_memory_gib"),
				 s.cluster.accelerator.usable_bytes / 3 / (1 << 30)));
		proposed += check_proposals(list[i].name, &s);
	}
	assert_true(proposed > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_move_speaks_and_is_silent),
		cmocka_unit_test(test_each_note_speaks_and_is_silent),
		cmocka_unit_test(test_effects_are_measured),
		cmocka_unit_test(test_the_most_valuable_comes_first),
		cmocka_unit_test(test_nothing_is_said_twice),
		cmocka_unit_test(test_kernels_need_their_hardware),
		cmocka_unit_test(test_an_illegal_plan_gets_none),
		cmocka_unit_test(test_one_gpu_is_advised),
		cmocka_unit_test(test_what_the_stack_lacks_is_not_proposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
