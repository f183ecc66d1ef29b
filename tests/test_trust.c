/* test_trust.c - how much of a plan was run before, by the runs and plans that ship. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/planner.h"
#include "engine/trust/trust.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/measured.h"
#include "tests/support/run.h"

static int read_all(void **state)
{
	static const char *const served[] = {
		"aic_silicon_agg",      "disagg",
		"gpustack_lab",         "misc_published",
		"trtllm_perf_overview", "trtllm_rtx_pro_6000",
	};

	(void)state;
	if (measured_read("tests/validation/*.yaml") != 0)
		return -1;
	/* read, not predicted: what they are made of is asked */
	for (size_t i = 0; i < sizeof served / sizeof served[0]; i++) {
		struct error error = { "" };
		char path[96];

		snprintf(path, sizeof path, "tests/validation/inference/%s.yaml",
			 served[i]);
		if (!runs_read(&measured_set, path, &error))
			return -1;
	}
	return 0;
}

/* Whether the run says how fast it was. */
static bool is_timed(const struct measured_run *run)
{
	bool timed = run->step_seconds > 0;

	for (int i = 0; i < SCORE_FIGURES; i++)
		timed |= run->serving[i] > 0;
	return run->readable && timed;
}

/* Of sets one of which holds another only the larger stays. */
static void keep_largest(uint64_t *together, uint64_t features)
{
	int kept = 0;

	for (int i = 0; i < MAX_TOGETHER && together[i] != 0; i++)
		if ((features & ~together[i]) == 0)
			return;
	for (int i = 0; i < MAX_TOGETHER; i++) {
		uint64_t set = together[i];

		together[i] = 0;
		if ((set & ~features) != 0)
			together[kept++] = set;
	}
	assert_true(kept < MAX_TOGETHER);
	together[kept] = features;
}

static void count(struct evidence *e, const struct scenario *s, bool measured)
{
	uint64_t features = trust_features(s);
	int64_t *gpus = measured ? &e->measured_gpus : &e->published_gpus;
	int64_t own = trust_gpus(s);

	if (measured)
		e->measured |= features;
	else
		e->published |= features;
	if (measured && features != 0)
		keep_largest(e->together, features);
	*gpus = own > *gpus ? own : *gpus;
}

/* "vllm@0.19.1" is a release of vllm. */
static bool is_stack(const struct scenario *s, const char *stack)
{
	size_t length = strlen(stack);

	return strncmp(s->stack.name, stack, length) == 0 &&
	       (s->stack.name[length] == '\0' || s->stack.name[length] == '@');
}

/* A stack's lists are of what it is for. */
static bool is_of_its_mode(const struct scenario *s)
{
	return (s->plan.mode == MODE_INFERENCE) == s->stack.serves;
}

/* What runs with a step time and shipped plans of this stack are made of. */
static void gather(const char *stack, struct evidence *out)
{
	const struct preset *list;
	int plans = preset_list(PRESET_PLAN, &list);

	memset(out, 0, sizeof *out);
	for (int i = 0; i < measured_set.count; i++) {
		const struct measured_run *run = &measured_set.run[i];

		if (is_timed(run) && is_of_its_mode(&run->scenario) &&
		    is_stack(&run->scenario, stack))
			count(out, &run->scenario, true);
	}
	for (int i = 0; i < plans; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		if (is_of_its_mode(&s) && is_stack(&s, stack))
			count(out, &s, false);
	}
}

static void print(const char *before, uint64_t features)
{
	bool first = true;

	if (features == 0)
		return;
	printf("%s[", before);
	for (int i = 0; i < TRUST_FEATURES; i++)
		if (features >> i & 1) {
			printf("%s%s", first ? "" : ", ", trust_feature_word(i));
			first = false;
		}
	puts("]");
}

/* The lists of a stack's YAML are those of what ships; a stack whose lists are old is
 * printed as it should be. */
static void lists_are_those_of_the_runs(void **state)
{
	const struct preset *list;
	int stacks = preset_list(PRESET_STACK, &list), wrong = 0, some = 0;

	(void)state;
	for (int i = 0; i < stacks; i++) {
		struct error error = { "" };
		struct evidence found;
		struct scenario s;

		scenario_defaults(&s);
		assert_true(library_stack(&s, list[i].name, &error));
		gather(list[i].name, &found);
		some += found.measured != 0;
		if (memcmp(&found, &s.stack.evidence, sizeof found) == 0)
			continue;
		wrong++;
		printf("presets/stacks/%s.yaml should say\n", list[i].name);
		if (found.measured != 0)
			puts("measured:");
		for (int k = 0; k < MAX_TOGETHER; k++)
			print("- ", found.together[k]);
		if (found.measured_gpus > 0)
			printf("measured_gpus: %lld\n", (long long)found.measured_gpus);
		print("published: ", found.published);
		if (found.published_gpus > 0)
			printf("published_gpus: %lld\n",
			       (long long)found.published_gpus);
	}
	assert_true(some >= 8);
	assert_int_equal(wrong, 0);
}

static void every_run_is_measured_and_every_plan_published(void **state)
{
	const struct preset *list;
	int plans = preset_list(PRESET_PLAN, &list);
	struct doubts doubts;

	(void)state;
	for (int i = 0; i < measured_set.count; i++) {
		const struct measured_run *run = &measured_set.run[i];

		if (is_timed(run) && is_of_its_mode(&run->scenario) &&
		    trust_of(&run->scenario, &doubts) != TRUST_MEASURED &&
		    !doubts.machine)
			fail_msg("%s is %s", run->id, trust_word(doubts.level));
		if (is_timed(run) && is_of_its_mode(&run->scenario) && doubts.apart)
			fail_msg("%s was measured in parts", run->id);
	}
	for (int i = 0; i < plans; i++) {
		struct error error = { "" };
		struct scenario s;

		assert_true(scenario_read(&s, list[i].name, NULL, &error));
		if (is_of_its_mode(&s) && trust_of(&s, &doubts) == TRUST_OPEN &&
		    !doubts.machine)
			fail_msg("%s is open", list[i].name);
	}
}

/* One feature lowers it, and is named. */
static void a_feature_lowers_the_whole(void **state)
{
	static const struct {
		const char *key, *value, *says;
		enum trust level;
	} cases[] = {
		{ "zero", "2", "zero-2 (nor published)", TRUST_OPEN },
		{ "optimizer_offload", "1", "optimizer offload (nor published)",
		  TRUST_OPEN },
		{ "schedule", "zb-v", "other schedule (nor published)", TRUST_OPEN },
		{ "gpus", "131072", "largest measured run: ", TRUST_OPEN },
	};
	struct error error = { "" };
	struct scenario plain;

	(void)state;
	assert_true(scenario_read(&plain, "llama3-70b-64-h100", NULL, &error));
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct scenario s = plain;
		struct doubts doubts;
		char text[256];

		assert_int_equal(trust_of(&s, &doubts), TRUST_MEASURED);
		assert_int_equal(trust_text(&s, &doubts, text, sizeof text), 0);
		case_set(&s, cases[i].key, cases[i].value);
		assert_int_equal(trust_of(&s, &doubts), cases[i].level);
		trust_text(&s, &doubts, text, sizeof text);
		if (!strstr(text, cases[i].says))
			fail_msg("%s: %s", cases[i].key, text);
	}
}

/* Each feature was in some run, and no run had all: that is not called measured alone,
 * and what the nearest run lacks is named. */
static void parts_of_runs_are_no_run(void **state)
{
	static const char *const turned[][2] = { { "gpus", "1024" },
						 { "tp", "2" },
						 { "sp", "on" },
						 { "ep", "256" },
						 { "etp", "1" },
						 { "zero", "3" },
						 { "recompute", "selective" } };
	struct error error = { "" };
	struct scenario s;
	struct doubts doubts;
	char text[256];

	(void)state;
	if (!scenario_blank(&s, "deepseek-v3", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < sizeof turned / sizeof turned[0]; i++)
		case_set(&s, turned[i][0], turned[i][1]);
	assert_int_equal(trust_of(&s, &doubts), TRUST_MEASURED);
	assert_string_equal(trust_label(&doubts), "in parts");
	assert_int_equal(trust_text(&s, &doubts, text, sizeof text), 0);
	trust_apart_text(&doubts, text, sizeof text);
	assert_string_equal(
		text,
		"no measured run had all of it, the nearest lacks zero-3, one expert per rank");
	case_set(&s, "ep", "64");
	case_set(&s, "recompute", "full");
	trust_of(&s, &doubts);
	assert_string_equal(trust_label(&doubts), "measured");
	assert_int_equal(trust_apart_text(&doubts, text, sizeof text), 0);
	/* what is in no run at all is told as that */
	case_set(&s, "ep", "256");
	case_set(&s, "zero", "2");
	trust_of(&s, &doubts);
	assert_string_equal(trust_label(&doubts), "open");
	assert_int_equal(doubts.apart, 0);
}

/* A network that no run had is named in whatever mode, whatever the plan. */
static void attention_that_nobody_ran_is_open(void **state)
{
	static const struct {
		const char *model, *says;
	} networks[] = {
		{ "deepseek-v3.2", "sparse attention (nor published)" },
		{ "deepseek-v4-flash", "compressed attention (nor published)" },
		{ "deepseek-v3", NULL },
	};
	static const char *const modes[] = { "training", "inference" };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof networks / sizeof networks[0]; i++) {
		struct error error = { "" };
		struct scenario s;
		struct doubts doubts;
		char text[512];

		scenario_defaults(&s);
		assert_true(
			library_cluster(&s.cluster, "dgx-h200", &error) &&
			library_model(&s.model, networks[i / 2].model, &error) &&
			library_stack(&s, i % 2 ? "sglang" : "megatron-core", &error));
		case_set(&s, "mode", modes[i % 2]);
		trust_of(&s, &doubts);
		trust_text(&s, &doubts, text, sizeof text);
		if (!networks[i / 2].says) {
			assert_null(strstr(text, "attention"));
			continue;
		}
		assert_int_equal(doubts.level, TRUST_OPEN);
		if (!strstr(text, networks[i / 2].says))
			fail_msg("%s: %s", networks[i / 2].model, text);
	}
}

static void one_expert_a_rank_is_named(void **state)
{
	struct scenario s;
	struct doubts doubts;

	(void)state;
	case_moe(&s);
	assert_false(trust_features(&s) >> FEATURE_ZERO_3 & 1);
	case_set(&s, "ep", "4");
	assert_false(trust_features(&s) >> FEATURE_EP_ALONE & 1);
	case_set(&s, "ep", "8");
	assert_true(trust_features(&s) >> FEATURE_EP_ALONE & 1);
	/* a stack of which nothing is known */
	assert_int_equal(trust_of(&s, &doubts), TRUST_OPEN);
	assert_true(doubts.large);
}

static void solve(const struct planner_problem *problem, struct planner_result *out)
{
	struct planner *planner = planner_start(problem);

	assert_non_null(planner);
	while (planner_step(planner, INT_MAX)) {
	}
	*out = *planner_result(planner);
	planner_free(planner);
}

/* Asked for known plans, a search finds the best of these: the same as among all plans
 * the first that is as known. */
static void a_search_finds_the_best_of_the_known(void **state)
{
	static struct planner_problem problem;
	static struct planner_result all, known;
	struct error error = { "" };
	int later = 0;

	(void)state;
	assert_true(scenario_read(&problem.base, "llama3-70b-64-h100", NULL, &error));
	/* twice as many as the plan's, where the best is nobody's */
	problem.base.cluster.gpus *= 2;
	problem.top = MAX_TOP;
	planner_axes(&problem);
	solve(&problem, &all);
	for (int level = TRUST_MEASURED; level <= TRUST_PUBLISHED; level++) {
		struct doubts doubts;
		struct scenario s;
		int first = 0;

		problem.trust = 1 + level;
		solve(&problem, &known);
		assert_true(known.found > 0);
		for (int i = 0; i < known.found; i++) {
			planner_scenario(&problem, &known.top[i], &s);
			assert_true((int)trust_of(&s, &doubts) <= level);
		}
		for (; first < all.found; first++) {
			planner_scenario(&problem, &all.top[first], &s);
			if ((int)trust_of(&s, &doubts) <= level)
				break;
		}
		later += first > 0;
		if (first < all.found)
			assert_true(known.top[0].score == all.top[first].score);
		else
			assert_true(known.top[0].score >= all.top[first - 1].score);
	}
	assert_int_equal(later, 2);
}

/* A search wants what was at least published; of machines and scales in nobody's run
 * the features alone; of servers anything. */
static void a_search_asks_for_what_is_known(void **state)
{
	struct scenario s;
	struct error error = { "" };

	(void)state;
	if (!scenario_blank(&s, "llama3.1-70b", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 64;
	assert_int_equal(planner_usual_trust(&s), 1 + TRUST_PUBLISHED);
	s.plan.mode = MODE_INFERENCE;
	assert_int_equal(planner_usual_trust(&s), 0);
	s.plan.mode = MODE_TRAINING;
	s.cluster.gpus = 1 << 20;
	assert_int_equal(planner_usual_trust(&s), TRUST_OF_FEATURES);
}

/* On a machine that nobody measured no plan is known, but each of its features is: a
 * search there takes no plan that nobody could vouch for elsewhere. */
static void a_new_machine_excuses_no_feature(void **state)
{
	static struct planner_problem problem;
	static struct planner_result known, any;
	struct error error = { "" };
	struct doubts doubts;
	struct scenario s;
	int others = 0;

	(void)state;
	if (!scenario_blank(&problem.base, "llama3.1-8b", "l40s", "megatron-core",
			    &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = 64;
	problem.base.plan.global_batch = 512;
	problem.top = MAX_TOP;
	planner_axes(&problem);
	solve(&problem, &any);
	problem.trust = planner_usual_trust(&problem.base);
	solve(&problem, &known);
	assert_true(known.found > 0);
	for (int i = 0; i < known.found; i++) {
		planner_scenario(&problem, &known.top[i], &s);
		assert_int_equal(trust_of(&s, &doubts), TRUST_OPEN);
		assert_true(doubts.machine);
		assert_int_equal(doubts.unpublished, 0);
	}
	for (int i = 0; i < any.found; i++) {
		planner_scenario(&problem, &any.top[i], &s);
		others += !trust_suffices(&s, TRUST_OF_FEATURES);
	}
	assert_true(others > 0);
}

static void words_come_back(void **state)
{
	(void)state;
	for (int i = 0; i < TRUST_COUNT; i++)
		assert_int_equal(trust_find(trust_word((enum trust)i)), i);
	assert_int_equal(trust_find("sure"), TRUST_COUNT);
	for (int i = 0; i < TRUST_FEATURES; i++)
		assert_int_equal(trust_feature_find(trust_feature_word(i)), i);
	assert_int_equal(trust_feature_find("nothing"), TRUST_FEATURES);
	/* in stacks that somebody wrote when it was called so */
	assert_string_equal(trust_feature_word(trust_feature_find("one-expert-a-rank")),
			    "one-expert-per-rank");
}

/* An estimate beyond what was measured says where, others don't. */
static void estimates_say_where_they_extrapolate(void **state)
{
	(void)state;
	run_check("eval llama3-70b-64-h100 --gpus 65536 --gbs 65536", 0,
		  "beyond what was measured: largest measured run: 6144 GPUs", NULL);
	run_check("eval deepseek-v3-2048-h800", 0,
		  "beyond what was measured: no measured run on hai-llm\n", NULL);
	run_check("eval --model llama3.1-8b --cluster mi300x --stack fsdp --gpus 8 "
		  "--mbs 1 --gbs 8",
		  0, "beyond what was measured: nobody measured this accelerator",
		  NULL);
	/* servers of another machine than trained ones are measured on */
	run_check("eval --mode inference --model llama3.1-8b --cluster dgx-v100 "
		  "--stack vllm --gpus 1 --precision fp16",
		  0,
		  "beyond what was measured: nothing is fitted to servers of this "
		  "accelerator",
		  NULL);
	run_check("eval llama3-70b-64-h100 --json", 0, "\"extrapolates\":\tnull", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates_say_where_they_extrapolate),
		cmocka_unit_test(lists_are_those_of_the_runs),
		cmocka_unit_test(every_run_is_measured_and_every_plan_published),
		cmocka_unit_test(a_feature_lowers_the_whole),
		cmocka_unit_test(parts_of_runs_are_no_run),
		cmocka_unit_test(attention_that_nobody_ran_is_open),
		cmocka_unit_test(one_expert_a_rank_is_named),
		cmocka_unit_test(a_search_finds_the_best_of_the_known),
		cmocka_unit_test(a_search_asks_for_what_is_known),
		cmocka_unit_test(a_new_machine_excuses_no_feature),
		cmocka_unit_test(words_come_back),
	};

	return cmocka_run_group_tests(tests, read_all, measured_forget);
}
