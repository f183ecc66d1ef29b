/* test_start.c - a model, a machine and a number of accelerators are enough: the plan
 * to begin with is legal, fits where any does, and leaves alone what was given. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/estimate/estimate.h"
#include "engine/planner/planner.h"
#include "engine/predict/predict.h"
#include "engine/start/start.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static struct estimate estimate;

static void blank(struct scenario *s, const char *model, const char *cluster,
		  const char *stack)
{
	struct error error = { "" };

	if (!scenario_blank(s, model, cluster, stack, &error))
		fail_msg("%s on %s: %s", model, cluster, error.text);
}

static void give(struct start *start, struct scenario *s, const char *key, double value)
{
	const struct knob *knob = knob_find(key);

	assert_true(knob_set(s, knob, value));
	start_give(start, knob);
}

/* Severe enough to be told, and not of what the person said (the GPUs) or what nobody
 * can help (the model is too large). */
static const char *own_warning(const struct findings *problems)
{
	static const char *const theirs[] = { "X18", "S15", "S18", "S19", "S25" };

	for (int i = 0; i < problems->count; i++) {
		const struct rule *rule = problems->item[i].rule;
		bool known = rule->severity == SEVERITY_HINT;

		for (size_t k = 0; k < sizeof theirs / sizeof theirs[0]; k++)
			known |= strcmp(rule->code, theirs[k]) == 0;
		if (!known)
			return rule->code;
	}
	return NULL;
}

static void begin(struct scenario *s, int64_t gpus, int mode)
{
	struct start start = { 0 };

	give(&start, s, "gpus", (double)gpus);
	give(&start, s, "mode", mode);
	start_choose(&start, s);
	scenario_estimate(s, &estimate);
	if (!estimate.legal)
		fail_msg("%s on %lld x %s, %s: %s", s->model.name, (long long)gpus,
			 s->cluster.name, s->stack.name,
			 estimate.problems.item[0].rule->code);
	if (own_warning(&estimate.problems))
		fail_msg("%s on %lld x %s, %s: warns of its own %s", s->model.name,
			 (long long)gpus, s->cluster.name, s->stack.name,
			 own_warning(&estimate.problems));
}

static const int64_t counts[] = { 1, 8, 48, 64, 72, 512, 1024, 16384 };
enum { COUNTS = sizeof counts / sizeof counts[0] };

static void every_start_is_legal(void **state)
{
	static const char *const clusters[] = { "dgx-h100",     "gb200-nvl72",
						"dgx-a100-80g", "mi300x",
						"tpu-v5p",      "dgx-v100" };
	static const char *const stacks[] = { "megatron-core", "fsdp", "torchtitan",
					      "megatron-deepspeed" };
	const struct preset *list;
	int models = preset_list(PRESET_MODEL, &list);
	struct scenario s;

	(void)state;
	for (int m = 0; m < models; m += models / some_of(models))
		for (size_t c = 0; c < sizeof clusters / sizeof clusters[0]; c++)
			for (int n = 0; n < COUNTS; n++) {
				/* every stack meets every model and every count */
				size_t k = c == 0 ? 0 : (c + (size_t)(m + n)) % 4;

				blank(&s, list[m].name, clusters[c], stacks[k]);
				begin(&s, counts[n], MODE_TRAINING);
			}
}

/* Every machine and every software that ships, by lot: what is trained with and what
 * serves. */
static void any_start_is_legal(void **state)
{
	enum { DRAWN = 3000 };
	const struct preset *model, *cluster, *stack;
	int models = preset_list(PRESET_MODEL, &model);
	int clusters = preset_list(PRESET_CLUSTER, &cluster);
	int stacks = preset_list(PRESET_STACK, &stack);
	struct scenario s;

	(void)state;
	seed = 15;
	for (int i = 0; i < some_of(DRAWN); i++) {
		blank(&s, model[next((uint64_t)models)].name,
		      cluster[next((uint64_t)clusters)].name,
		      stack[next((uint64_t)stacks)].name);
		begin(&s, counts[next(COUNTS)],
		      s.stack.serves ? MODE_INFERENCE : MODE_TRAINING);
		/* as it is published, where the accelerator has that at all */
		if (s.stack.serves && s.plan.precision != PRECISION_FP16)
			assert_int_equal(s.plan.precision, s.model.precision);
	}
}

static void every_server_is_legal(void **state)
{
	static const char *const clusters[] = { "dgx-h100", "gb200-nvl72", "mi300x",
						"dgx-a100-80g" };
	static const char *const stacks[] = { "vllm", "sglang", "tensorrt-llm" };
	const struct preset *list;
	int models = preset_list(PRESET_MODEL, &list);
	struct scenario s;

	(void)state;
	for (int m = 0; m < models; m += models / some_of(models))
		for (size_t c = 0; c < sizeof clusters / sizeof clusters[0]; c++)
			for (int n = 0; n < COUNTS; n++) {
				blank(&s, list[m].name, clusters[c],
				      stacks[(c + (size_t)(m + n)) % 3]);
				begin(&s, counts[n], MODE_INFERENCE);
				/* engines of 8 x 8 hold any model that ships */
				if (counts[n] >= 512 && !estimate.fits)
					fail_msg("%s on %s", s.model.name, clusters[c]);
			}
}

/* Whether the search finds a plan that fits: all its axes but activation offload. */
static bool any_fits(const struct scenario *s)
{
	static struct planner_problem problem;
	struct planner *planner;
	bool found;

	problem = (struct planner_problem){
		.base = *s, .any = true, .strict = true, .top = 1
	};
	planner_axes(&problem);
	planner_pin(&problem, knob_find("activation_offload"), (double[]){ 0 }, 1);
	planner = planner_start(&problem);
	assert_non_null(planner);
	while (planner_step(planner, INT_MAX)) {
	}
	found = planner_result(planner)->found > 0;
	planner_free(planner);
	return found;
}

static void what_can_fit_fits(void **state)
{
	static const struct {
		const char *cluster, *stack;
		int64_t gpus;
	} machines[] = {
		{ "dgx-h100", "megatron-core", 1 },
		{ "dgx-h100", "megatron-core", 8 },
		{ "dgx-h100", "megatron-core", 64 },
		{ "dgx-v100", "megatron-core", 48 },
		{ "gb200-nvl72", "generic", 72 },
	};
	const struct preset *list;
	int models = preset_list(PRESET_MODEL, &list), fit = 0;
	struct scenario s;

	(void)state;
	for (size_t c = 0; c < sizeof machines / sizeof machines[0]; c++)
		for (int m = 0; m < models; m += models / some_of(models)) {
			blank(&s, list[m].name, machines[c].cluster, machines[c].stack);
			begin(&s, machines[c].gpus, MODE_TRAINING);
			fit += estimate.feasible;
			if (!estimate.feasible && any_fits(&s))
				fail_msg("%s on %lld x %s could fit", list[m].name,
					 (long long)machines[c].gpus,
					 machines[c].cluster);
		}
	assert_true(fit > some_of(models));
	/* and on many accelerators all do */
	for (int m = 0; m < models; m += models / some_of(models)) {
		blank(&s, list[m].name, "dgx-h100", "megatron-core");
		begin(&s, 512, MODE_TRAINING);
		if (!estimate.feasible)
			fail_msg("%s on 512 H100", list[m].name);
	}
}

/* Samples of 4 M tokens for large models, GPT-3's for small ones, and what divides. */
static void batches_are_usual(void **state)
{
	static const struct {
		const char *model;
		int64_t gpus;
		double least, most; /* tokens */
	} cases[] = {
		{ "llama3-70b", 64, 3e6, 6e6 },
		{ "llama3.1-405b", 1024, 3e6, 6e6 },
		{ "llama3.1-405b", 16384, 12e6, 24e6 }, /* as published: 16 M */
		{ "llama3-8b", 8, 1.4e6, 3e6 },
		{ "gpt2-xl", 8, 0.7e6, 1.5e6 },
		{ "llama3-70b", 72, 3e6, 6e6 },
		{ "llama3-8b", 48, 1.4e6, 3e6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct scenario s;
		double tokens;

		blank(&s, cases[i].model, "dgx-h100", "megatron-core");
		begin(&s, cases[i].gpus, MODE_TRAINING);
		tokens = (double)(s.plan.global_batch * s.plan.seq_len);
		if (tokens < cases[i].least || tokens > cases[i].most)
			fail_msg("%s on %lld: %g tokens a step", cases[i].model,
				 (long long)cases[i].gpus, tokens);
		assert_true(s.model.max_positions == 0 ||
			    s.plan.seq_len <= s.model.max_positions);
	}
}

/* What one would try: no pipeline for what a node holds, TP inside the node, all of
 * Llama 3 405B's published degrees but CP. */
static void layouts_are_usual(void **state)
{
	struct scenario s;

	(void)state;
	blank(&s, "llama3-8b", "dgx-h100", "megatron-core");
	begin(&s, 64, MODE_TRAINING);
	assert_int_equal(s.plan.pp, 1);
	assert_true(s.plan.tp <= 2);
	blank(&s, "llama3.1-405b", "dgx-h100", "megatron-core");
	begin(&s, 1024, MODE_TRAINING);
	assert_int_equal(s.plan.tp, 8);
	assert_int_equal(s.plan.pp, 16);
	assert_int_equal(s.plan.zero, 1);
	blank(&s, "llama3-70b", "dgx-h100", "fsdp");
	begin(&s, 64, MODE_TRAINING);
	assert_int_equal(s.plan.zero, 3);
	assert_int_equal(s.plan.pp, 1);
	blank(&s, "llama3-70b", "dgx-h100", "vllm");
	begin(&s, 8, MODE_INFERENCE);
	assert_int_equal(s.plan.tp, 4);
	blank(&s, "llama3-8b", "dgx-h100", "vllm");
	begin(&s, 8, MODE_INFERENCE);
	assert_int_equal(s.plan.tp, 1);
}

/* Machines whose nodes make stages that the layers don't divide by: uneven stages are
 * tried before the states are shared over everybody, which is an eighth as fast. */
static void odd_machines_have_uneven_stages(void **state)
{
	static const struct {
		const char *model;
		int64_t gpus;
		double least; /* tokens per second and GPU, half of what search finds */
	} cases[] = {
		{ "llama3.1-405b", 100000, 78 },
		{ "llama3.1-405b", 12000, 80 },
		{ "deepseek-v3", 12000, 290 },
		{ "gpt3-175b", 1000, 220 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct scenario s;

		blank(&s, cases[i].model, "dgx-h100", "megatron-core");
		begin(&s, cases[i].gpus, MODE_TRAINING);
		scenario_estimate(&s, &estimate);
		assert_true(estimate.legal);
		if (!(estimate.tokens_per_second_per_gpu > cases[i].least))
			fail_msg("%s on %lld: %g tok/s per GPU", cases[i].model,
				 (long long)cases[i].gpus,
				 estimate.tokens_per_second_per_gpu);
	}
}

/* 126 layers on as many stages as are given, with embedding and loss among them or not,
 * whichever divides. */
static void given_stages_divide_the_layers(void **state)
{
	static const struct {
		int64_t gpus, pp;
	} given[] = { { 1024, 16 }, { 1152, 18 }, { 1008, 126 }, { 896, 7 } };

	(void)state;
	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
		struct start start = { 0 };
		struct scenario s;

		blank(&s, "llama3.1-405b", "dgx-h100", "megatron-core");
		give(&start, &s, "gpus", (double)given[i].gpus);
		give(&start, &s, "pp", (double)given[i].pp);
		give(&start, &s, "tp", 8);
		start_choose(&start, &s);
		scenario_estimate(&s, &estimate);
		if (!estimate.legal)
			fail_msg("pp %lld: %s", (long long)given[i].pp,
				 estimate.problems.item[0].rule->code);
		assert_int_equal(s.plan.split_embedding, given[i].pp == 16);
	}
}

static void what_is_given_stays(void **state)
{
	static const struct {
		const char *key;
		double value;
	} given[] = {
		{ "tp", 8 },   { "pp", 4 },  { "mbs", 2 },        { "gbs", 96 },
		{ "zero", 0 }, { "cp", 2 },  { "seq", 8192 },     { "recompute", 2 },
		{ "sp", 0 },   { "tp", 1 },  { "gbs", 7 },        { "seq", 100000 },
		{ "pp", 3 },   { "mbs", 3 }, { "tokens", 2e12 },  { "precision", 0 },
		{ "sp", 1 },   { "tp", 16 }, { "split_loss", 1 }, { "ep", 8 },
		{ "vpp", 2 },
	};
	static const char *const models[] = { "llama3-70b", "mixtral-8x7b", "gpt2-xl",
					      "llama3.1-405b" };

	(void)state;
	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
		for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
			struct start start = { 0 };
			struct scenario s;

			blank(&s, models[m], "dgx-h100", "megatron-core");
			give(&start, &s, "gpus", 48);
			give(&start, &s, given[i].key, given[i].value);
			start_choose(&start, &s);
			assert_close(knob_get(&s, knob_find(given[i].key)),
				     given[i].value, 0);
			assert_close((double)s.cluster.gpus, 48, 0);
			for (int k = 0; k < start.chosen; k++)
				assert_string_not_equal(start.choice[k]->key,
							given[i].key);
		}
}

/* All degrees given: the batch is made for them. */
static void batch_follows_given_degrees(void **state)
{
	struct start start = { 0 };
	struct scenario s;

	(void)state;
	blank(&s, "llama3-8b", "dgx-h100", "megatron-core");
	give(&start, &s, "gpus", 720);
	give(&start, &s, "tp", 1);
	give(&start, &s, "pp", 1);
	give(&start, &s, "cp", 1);
	give(&start, &s, "mbs", 4);
	start_choose(&start, &s);
	scenario_estimate(&s, &estimate);
	assert_true(estimate.legal);
	assert_int_equal(s.plan.global_batch % (720 * 4), 0);
}

/* A micro-batch has as many tokens, whatever the sequence: a small model on short ones
 * would be all launches. */
static void short_sequences_come_in_larger_micro_batches(void **state)
{
	static const int64_t lengths[] = { 128, 512, 1024 };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		struct start start = { 0 };
		struct scenario s;

		blank(&s, "gpt2", "dgx-h100", "megatron-core");
		give(&start, &s, "gpus", 1);
		give(&start, &s, "seq", (double)lengths[i]);
		start_choose(&start, &s);
		assert_true(s.plan.micro_batch * lengths[i] >= 4096 &&
			    s.plan.micro_batch * lengths[i] <= 4 * 4096);
	}
}

/* Where nobody says how many, whole nodes on which every shipped model that trains or
 * serves at all does: of 70B on 80 GB, 18 bytes of a parameter fill half of 32. */
static void machines_are_sized_for_the_model(void **state)
{
	static const struct {
		const char *model;
		int64_t trains, serves;
	} rows[] = {
		{ "llama3.1-8b", 8, 8 },
		{ "llama3.1-70b", 32, 8 },
		{ "llama3.1-405b", 256, 16 },
		{ "deepseek-v3", 512, 16 },
		{ "gpt2", 8, 8 },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct start trains = { 0 }, serves = { 0 };

		blank(&s, rows[i].model, "dgx-h100", "megatron-core");
		start_choose(&trains, &s);
		assert_int_equal(s.cluster.gpus, rows[i].trains);
		scenario_estimate(&s, &estimate);
		assert_true(estimate.legal && estimate.fits);
		blank(&s, rows[i].model, "dgx-h100", "vllm");
		give(&serves, &s, "mode", MODE_INFERENCE);
		start_choose(&serves, &s);
		assert_int_equal(s.cluster.gpus, rows[i].serves);
		scenario_estimate(&s, &estimate);
		assert_true(estimate.legal && estimate.fits);
	}
}

/* Degrees that were given divide it, and what is stated is kept. */
static void machines_are_sized_for_given_degrees(void **state)
{
	static const struct {
		const char *arguments, *says;
	} rows[] = {
		{ "--model llama3.1-8b --tp 8 --pp 4", " on 32 x " },
		{ "--model llama3.1-8b --pp 3", " on 24 x " },
		{ "--model mixtral-8x7b --ep 8 --pp 4", " on 32 x " },
		{ "--model llama3.1-8b --tp 4 --dp 16", " on 64 x " },
		{ "--model llama3.1-8b --dp 1", " on 1 x " },
		{ "--model llama3.1-8b --gpus 1", " on 1 x " },
		{ "--model llama3.1-8b --cluster gb200-nvl72", " on 4 x " },
		{ "--model llama3.1-8b --cluster l4", " on 16 x " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char line[200];
		struct ran ran;

		snprintf(line, sizeof line, "eval %s", rows[i].arguments);
		ran = run(line);
		if (!strstr(ran.out, rows[i].says))
			fail_msg("%s: no '%s' in\n%s%s", line, rows[i].says, ran.out,
				 ran.err);
		ran_free(&ran);
	}
}

static void starts_are_told(void **state)
{
	static const struct {
		const char *arguments, *says;
	} cases[] = {
		{ "eval --model llama3-8b --cluster dgx-h100 --gpus 8",
		  "assumed: megatron-core, seq 4096, gbs 512, tp " },
		{ "eval --model llama3-8b",
		  "assumed: dgx-h100, megatron-core, gpus 8, seq 4096, gbs 512, tp " },
		/* a model where a scenario stands is one without a plan */
		{ "eval llama3-8b",
		  "assumed: dgx-h100, megatron-core, gpus 8, seq 4096, gbs 512, tp " },
		{ "check meta-llama/Meta-Llama-3-8B --gpus 8",
		  "assumed: dgx-h100, megatron-core, seq 4096, gbs 512, tp " },
		{ "check --model gpt3-175b --cluster dgx-h100 --gpus 512",
		  "assumed: megatron-core, seq 2048, gbs 2048, tp " },
		{ "search --model llama3-8b --gpus 8 --seq 2k --top 1",
		  "assumed: dgx-h100, megatron-core, gbs 1024, tokens 1 T\n" },
		/* a server of a stack that serves */
		{ "check --mode inference --model deepseek-v3 --cluster dgx-h200 "
		  "--gpus 16",
		  "assumed: vllm, precision fp8-block, tp 8, pp 1, prompt 2048" },
		{ "search --mode inference --model deepseek-v3 --cluster dgx-h200 "
		  "--gpus 16 --top 1",
		  "assumed: vllm, precision fp8-block, prompt 2048" },
		{ "eval --mode inference --model llama3-8b --gpus 8 --memory_share 0.8",
		  "assumed: dgx-h100, vllm, tp 1, pp 1, prompt 2048" },
		{ "screen overview --model llama3-8b --gpus 8",
		  "assumed: dgx-h100, megatron-core, seq 4096, gbs 512, tp " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ran ran = run(cases[i].arguments);

		if (ran.status != 0 || !strstr(ran.out, cases[i].says))
			fail_msg("%s: no '%s' in\n%s%s", cases[i].arguments,
				 cases[i].says, ran.out, ran.err);
		ran_free(&ran);
	}
}

static cJSON *assumed(const char *arguments, cJSON **root)
{
	struct ran ran = run(arguments);
	cJSON *object;

	*root = cJSON_Parse(ran.out);
	if (!*root)
		fail_msg("%s: %s", arguments, ran.err);
	ran_free(&ran);
	object = cJSON_GetObjectItem(*root, "assumed");
	assert_true(cJSON_IsObject(object));
	return object;
}

static void starts_are_told_in_json(void **state)
{
	static const char *const bare[] = {
		"eval --model llama3-8b --gpus 8 --seq 2k --json",
		"check --model llama3-8b --gpus 8 --seq 2k --json",
		"search --model llama3-8b --gpus 8 --seq 2k --top 1 --json",
	};
	static const char *const whole[] = {
		"eval llama3-70b-64-h100 --gpus 128 --json",
		"check llama3-70b-64-h100 --json",
		"search llama3-70b-64-h100 --tp 8 --pp 4 --top 1 --json",
		"eval --model llama3-8b --scenario llama3-70b-64-h100 --json",
	};
	cJSON *root, *object;

	(void)state;
	for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++) {
		object = assumed(bare[i], &root);
		assert_close(cJSON_GetObjectItem(object, "gbs")->valuedouble, 1024, 0);
		assert_string_equal(cJSON_GetObjectItem(object, "stack")->valuestring,
				    "megatron-core");
		assert_null(cJSON_GetObjectItem(object, "seq"));
		assert_null(cJSON_GetObjectItem(object, "gpus"));
		/* a search chooses the degrees itself */
		assert_true(!cJSON_GetObjectItem(object, "tp") == (i == 2));
		cJSON_Delete(root);
	}
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
		object = assumed(whole[i], &root);
		assert_int_equal(cJSON_GetArraySize(object), 0);
		cJSON_Delete(root);
	}
}

/* What goes into a file or a pipe is not mixed with it. */
static void files_say_it_beside(void **state)
{
	struct ran ran = run("export yaml --model llama3-8b --gpus 8");

	(void)state;
	assert_int_equal(ran.status, 0);
	assert_null(strstr(ran.out, "assumed"));
	assert_non_null(strstr(ran.err, "shardscope: assumed: dgx-h100, "));
	ran_free(&ran);
	/* SP stays for the TP that follows */
	ran = run("sweep --model mixtral-8x7b --gpus 64 --vary tp=1,2,4 --vary ep=4,8");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.err, "shardscope: assumed: "));
	assert_non_null(strstr(ran.out, "\n4,8,1,"));
	ran_free(&ran);
}

/* A search over several sizes of the machine has degrees for each of them. */
static void searches_over_sizes_have_degrees(void **state)
{
	struct ran ran = run("search --model llama3-70b --cluster dgx-h100 "
			     "--gpus 32,64 --zero 1 --top 1");

	(void)state;
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, " TP"));
	ran_free(&ran);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_start_is_legal),
		cmocka_unit_test(any_start_is_legal),
		cmocka_unit_test(every_server_is_legal),
		cmocka_unit_test(what_can_fit_fits),
		cmocka_unit_test(batches_are_usual),
		cmocka_unit_test(layouts_are_usual),
		cmocka_unit_test(odd_machines_have_uneven_stages),
		cmocka_unit_test(given_stages_divide_the_layers),
		cmocka_unit_test(what_is_given_stays),
		cmocka_unit_test(batch_follows_given_degrees),
		cmocka_unit_test(short_sequences_come_in_larger_micro_batches),
		cmocka_unit_test(machines_are_sized_for_the_model),
		cmocka_unit_test(machines_are_sized_for_given_degrees),
		cmocka_unit_test(starts_are_told),
		cmocka_unit_test(starts_are_told_in_json),
		cmocka_unit_test(files_say_it_beside),
		cmocka_unit_test(searches_over_sizes_have_degrees),
	};

	return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
