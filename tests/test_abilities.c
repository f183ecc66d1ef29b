/* test_abilities.c - what stacks have: the sheets, what they refuse and leave alone. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/planner.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/rules/legality.h"
#include "presets/library.h"
#include "presets/lint.h"
#include "presets/scenario_file.h"
#include "presets/stack_file.h"
#include "tests/support/any.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/measured.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static int read_all(void **state)
{
	(void)state;
	return measured_read("tests/validation/*.yaml");
}

/* Llama 3 8B or Mixtral on 64 H100 under a stack (MindSpeed on Ascend), one plan that
 * every stack runs. */
static void plain(struct scenario *out, const char *model, const char *stack)
{
	static const char *const knobs[][2] = {
		{ "gpus", "64" }, { "tp", "1" },          { "sp", "off" },
		{ "mbs", "1" },   { "gbs", "256" },       { "seq", "4096" },
		{ "zero", "0" },  { "schedule", "1f1b" },
	};
	struct error error = { "" };

	scenario_defaults(out);
	if (!library_model(&out->model, model, &error) ||
	    !library_cluster(&out->cluster,
			     strcmp(stack, "mindspeed") == 0 ? "ascend-910b"
							     : "dgx-h100",
			     &error) ||
	    !library_stack(out, stack, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
		case_set(out, knobs[i][0], knobs[i][1]);
}

/* "pp=4 zero=2" */
static void turn(struct scenario *s, const char *knobs)
{
	char text[256], *save = NULL;

	snprintf(text, sizeof text, "%s", knobs);
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		*value = '\0';
		case_set(s, word, value + 1);
	}
}

static const struct {
	const char *stack, *model, *knobs;
	const char *says, *source; /* NULL: the stack has it */
} table[] = {
	{ "deepspeed", "llama3-8b", "pp=4 zero=2", "deepspeed has no zero 2 with pp 4",
	  "deepspeed/runtime/pipe/engine.py:77" },
	{ "deepspeed", "llama3-8b", "pp=4 zero=3", "deepspeed has no zero 3 with pp 4",
	  "deepspeed/runtime/pipe/engine.py:77" },
	{ "deepspeed", "llama3-8b", "pp=4 zero=1", NULL, NULL },
	{ "deepspeed", "llama3-8b", "zero=3", NULL, NULL },
	{ "deepspeed", "llama3-8b", "pp=4 vpp=2 schedule=interleaved",
	  "deepspeed has no schedule interleaved", "schedule.py:135" },
	/* one chunk a stage is 1F1B whatever it is called */
	{ "deepspeed", "llama3-8b", "pp=4 vpp=1 schedule=interleaved", NULL, NULL },
	{ "deepspeed", "llama3-8b", "pp=4 schedule=zb-v",
	  "deepspeed has no schedule zb-v", "schedule.py:135" },
	{ "deepspeed", "llama3-8b", "cp=4 cp_kind=ring",
	  "deepspeed has no cp_kind ring", "sequence/layer.py:40" },
	{ "deepspeed", "llama3-8b", "cp=4 cp_kind=ulysses", NULL, NULL },
	{ "deepspeed", "mixtral-8x7b", "ep=8 zero=3",
	  "deepspeed has no zero 3 with ep 8", "deepspeed/runtime/engine.py:1890" },
	{ "nanotron", "llama3-8b", "zero=2", "nanotron has no zero 2",
	  "helpers.py:409" },
	{ "nanotron", "llama3-8b", "zero=3", "nanotron has no zero 3",
	  "helpers.py:409" },
	{ "nanotron", "llama3-8b", "zero=1 optimizer_offload=1",
	  "nanotron has no optimizer_offload 1", "config.py" },
	{ "nanotron", "llama3-8b", "activation_offload=0.5",
	  "nanotron has no activation_offload 0.5", "parallelism_config.py" },
	{ "fsdp", "llama3-8b", "pp=4 vpp=2", "fsdp has no pp 4",
	  "parallelism_config.py:311" },
	{ "fsdp", "llama3-8b", "pp=4 schedule=zb-v", "fsdp has no pp 4",
	  "parallelism_config.py:311" },
	{ "megatron-lm-2021", "llama3-8b", "cp=4", "megatron-lm-2021 has no cp 4",
	  "megatron/arguments.py:595" },
	{ "megatron-lm-2021", "mixtral-8x7b", "ep=8", "megatron-lm-2021 has no ep 8",
	  "megatron/arguments.py:595" },
	{ "megatron-lm-2021", "gpt3-6.7b", "seq=2048 precision=fp8",
	  "megatron-lm-2021 has no precision fp8", "megatron/arguments.py:559" },
	{ "megatron-lm-2021", "gpt3-6.7b", "seq=2048 pp=4 split=balanced",
	  "megatron-lm-2021 has no split balanced", "megatron/arguments.py:130" },
	{ "megatron-lm-2021", "gpt3-6.7b", "seq=2048 optimizer_offload=0.5",
	  "megatron-lm-2021 has no optimizer_offload 0.5", "megatron/arguments.py" },
	{ "megatron-deepspeed", "llama3-8b", "pp=4 vpp=2 schedule=interleaved zero=1",
	  "megatron-deepspeed has no schedule interleaved with zero 1",
	  "schedule.py:189" },
	{ "megatron-deepspeed", "llama3-8b", "pp=4 zero=2",
	  "megatron-deepspeed has no zero 2 with pp 4", "engine.py:77" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=gpipe",
	  "megatron-core has no schedule gpipe", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=breadth-first vpp=2",
	  "megatron-core has no schedule breadth-first", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=zb-h1",
	  "megatron-core has no schedule zb-h1", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=zb-2p",
	  "megatron-core has no schedule zb-2p", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=zb-v",
	  "megatron-core has no schedule zb-v", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=v-half",
	  "megatron-core has no schedule v-half", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=dualpipev",
	  "megatron-core has no schedule dualpipev", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=chimera",
	  "megatron-core has no schedule chimera", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 schedule=hanayo vpp=2",
	  "megatron-core has no schedule hanayo", "schedules.py:723" },
	{ "megatron-core", "llama3-8b", "pp=4 vpp=2 schedule=interleaved", NULL, NULL },
	{ "megatron-core", "llama3-8b", "optimizer=adafactor",
	  "megatron-core has no optimizer adafactor", "arguments.py:2913" },
	{ "megatron-core", "llama3-8b", "zero=2 optimizer=muon",
	  "megatron-core has no optimizer muon with zero 2", "arguments.py:1150" },
	{ "megatron-core", "llama3-8b", "precision=fp8 fp8_recipe=rowwise",
	  "megatron-core has no fp8_recipe rowwise", "transformer_config.py:594" },
	{ "torchtitan", "llama3-8b", "precision=fp16",
	  "torchtitan has no precision fp16", "configs.py:94" },
	{ "torchtitan", "llama3-8b", "cp=4 cp_kind=ulysses",
	  "torchtitan has no cp_kind ulysses", "configs.py:239" },
	{ "torchtitan", "llama3-8b", "pp=4 schedule=zb-v", NULL, NULL },
	{ "torchtitan", "llama3-8b", "pp=4 schedule=v-half",
	  "torchtitan has no schedule v-half", "schedules.py" },
	{ "torchtitan", "llama3-8b", "recompute=selective recompute_modules=mlp+per-op",
	  "torchtitan has no recompute_modules mlp", "activation_checkpoint.py:185" },
	{ "aleph-alpha-scaling", "llama3-8b", "cp=8", "aleph-alpha-scaling has no cp 8",
	  "topology_config.py:43" },
	{ "aleph-alpha-scaling", "llama3-8b", "pp=4 split=first-last",
	  "aleph-alpha-scaling has no split first-last", "topology_config.py:77" },
	{ "nanotron", "llama3-8b", "pp=4 split=first-last",
	  "nanotron has no split first-last", "base.py:216" },
	{ "torchtitan", "mixtral-8x7b", "tp=4 ep=8 etp=2", "torchtitan has no etp 2",
	  "configs.py:282" },
	{ "zero-bubble", "llama3-8b", "pp=4 schedule=zb-v", NULL, NULL },
	{ "zero-bubble", "llama3-8b",
	  "pp=4 schedule=zb-v precision=bf16 optimizer_sync=post-validation",
	  "zero-bubble has no precision bf16 with optimizer_sync post-validation",
	  "zbpp_utils.py:136" },
	{ "mindspeed", "llama3-8b", "pp=4 schedule=dualpipev", NULL, NULL },
	{ "hai-llm", "llama3-8b", "pp=4 schedule=dualpipe", NULL, NULL },
	{ "generic", "llama3-8b", "pp=4 schedule=chimera", NULL, NULL },
	{ "vllm", "llama3-8b", "mode=training", "vllm has no mode training", "README" },
	{ "sglang", "llama3-8b", "mode=inference tp=8 pp=2 speculative=mtp",
	  "sglang has no speculative mtp with pp 2", "server_args.py:7803" },
	{ "sglang", "llama3-8b", "mode=inference kv_precision=int8",
	  "sglang has no kv_precision int8", "server_args.py:4995" },
	{ "lmdeploy", "llama3-8b", "mode=inference tp=8 pp=2", "lmdeploy has no pp 2",
	  "messages.py:209" },
	{ "lmdeploy", "llama3-8b", "mode=inference speculative=draft",
	  "lmdeploy has no speculative draft", "proposers" },
};

/* All that is said of it, one line each. */
static bool said(const struct scenario *s, const char *says, const char *source)
{
	struct lacks lacks;

	scenario_lacks(s, &lacks);
	for (int i = 0; i < lacks.count; i++) {
		char text[256], where[512];

		lack_text(s, &lacks.item[i], text, sizeof text);
		lack_source(s, lacks.item[i].row, where, sizeof where);
		if (strcmp(text, says) == 0)
			return strstr(where, source) &&
			       strstr(where, s->stack.abilities.read);
	}
	return false;
}

static void plans_that_no_such_software_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scenario s;

		plain(&s, table[i].model, table[i].stack);
		turn(&s, "mode=training");
		turn(&s, table[i].knobs);
		if (!table[i].says && scenario_lacks(&s, NULL) > 0)
			fail_msg("%s: %s is refused", table[i].stack, table[i].knobs);
		if (table[i].says && !said(&s, table[i].says, table[i].source))
			fail_msg("%s: %s: not said: %s, %s", table[i].stack,
				 table[i].knobs, table[i].says, table[i].source);
	}
}

static bool has_code(const struct lint *lint, const char *code)
{
	for (int i = 0; i < lint->count; i++)
		if (strcmp(lint->item[i].code, code) == 0)
			return lint->item[i].level == LINT_ERROR;
	return false;
}

/* A lack is no illegality: the plan has its estimate; and what is offered is legal and
 * there. */
static void a_lack_is_estimated_and_mended(void **state)
{
	struct estimate *e = calloc(2, sizeof *e);
	struct lint *lint = calloc(1, sizeof *lint);
	struct lint_rules none = { 0 };
	int mended = 0;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scenario s;
		struct lacks lacks;

		plain(&s, table[i].model, table[i].stack);
		turn(&s, "mode=training");
		turn(&s, table[i].knobs);
		if (!table[i].says || scenario_check(&s, NULL) > 0)
			continue;
		scenario_estimate(&s, e);
		assert_true(e->legal);
		lint_run(&s, &(struct start){ .wanted = false }, e, &none, e + 1, lint);
		assert_true(has_code(lint, "C1"));
		scenario_lacks(&s, &lacks);
		for (int l = 0; l < lacks.count; l++) {
			lack_mend(&s, &lacks.item[l]);
			for (int n = 0; n < lacks.item[l].nearest_count; n++) {
				struct scenario other = s;

				assert_true(knob_set(&other, lacks.item[l].knob,
						     lacks.item[l].nearest[n]));
				assert_false(ability_lacks(&other, lacks.item[l].row));
				assert_int_equal(scenario_check(&other, NULL), 0);
				mended++;
			}
		}
	}
	assert_true(mended > 20);
	free(lint);
	free(e);
}

/* Which machine a stack runs on is of its sheet too; an unknown one refuses nothing. */
static void a_stack_runs_on_its_makers(void **state)
{
	static const struct {
		const char *stack, *cluster;
		bool runs;
	} rows[] = {
		{ "megatron-core", "dgx-h100", true },
		{ "megatron-core", "mi300x", true },
		{ "megatron-core", "tpu-v5p", false },
		{ "megatron-core", "ascend-910b", false },
		{ "mindspeed", "ascend-910c", true },
		{ "mindspeed", "dgx-h100", false },
		{ "jax-xla", "tpu-v7x", true },
		{ "jax-xla", "dgx-h100", true },
		{ "jax-xla", "ascend-910b", false },
		{ "tensorrt-llm", "mi325x", false },
		{ "vllm", "tpu-v6e", true },
		{ "generic", "tpu-v4", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct error error = { "" };
		struct lacks lacks;
		struct scenario s;
		char text[256], want[256];

		if (!scenario_blank(&s, "llama3-8b", rows[i].cluster, rows[i].stack,
				    &error))
			fail_msg("%s", error.text);
		s.plan.mode = s.stack.serves ? MODE_INFERENCE : MODE_TRAINING;
		if (stack_runs(&s) != rows[i].runs)
			fail_msg("%s on %s", rows[i].stack, rows[i].cluster);
		scenario_lacks(&s, &lacks);
		if (rows[i].runs) {
			assert_true(lacks.count == 0 || lacks.item[0].knob);
			continue;
		}
		assert_null(lacks.item[0].knob);
		lack_text(&s, &lacks.item[0], text, sizeof text);
		snprintf(want, sizeof want, "%s does not run on %s", rows[i].stack,
			 s.cluster.accelerator.name);
		assert_string_equal(text, want);
		/* there is no plan that mends it, but a stack */
		lack_mend(&s, &lacks.item[0]);
		assert_int_equal(lacks.item[0].nearest_count, 0);
		s.cluster.accelerator.maker = MAKER_UNKNOWN;
		assert_true(stack_runs(&s));
	}
}

/* Who names a machine alone begins with software that runs there. */
static void what_is_usual_runs(void **state)
{
	static const char *const modes[] = { "training", "inference" };
	const struct preset *list;
	int count = preset_list(PRESET_CLUSTER, &list);

	(void)state;
	for (int i = 0; i < 2 * count; i++) {
		struct error error = { "" };
		struct scenario s;
		char text[256];

		snprintf(text, sizeof text, "model: llama3-8b\ncluster: %s\nmode: %s\n",
			 list[i / 2].name, modes[i % 2]);
		if (!scenario_parse(&s, "silent", text, strlen(text), NULL, &error))
			fail_msg("%s", error.text);
		assert_true(s.cluster.accelerator.maker != MAKER_UNKNOWN);
		assert_true(s.stack.abilities.makers != 0);
		if (!stack_runs(&s))
			fail_msg("%s does not run on %s", s.stack.name,
				 list[i / 2].name);
	}
}

/* The commands say so, and what does run there. */
static void check_names_the_stack_that_runs(void **state)
{
	static const char *const begun[][2] = { { "tpu-v4", "jax-xla" },
						{ "ascend-910b", "mindspeed" },
						{ "mi300x", "megatron-core" } };
	struct ran ran = run("check --model llama3-8b --cluster tpu-v5p --gpus 64 "
			     "--stack megatron-core");

	(void)state;
	assert_int_equal(ran.status, 1);
	assert_non_null(strstr(ran.out, "megatron-core does not run on tpu-v5p"));
	assert_non_null(strstr(ran.out, "nearest that works: stack jax-xla"));
	ran_free(&ran);
	ran = run("check --model llama3-8b --cluster tpu-v5p --gpus 64 "
		  "--stack megatron-core --json");
	assert_non_null(strstr(ran.out, "\"stack jax-xla\""));
	ran_free(&ran);
	ran = run("eval --model llama3-8b --cluster tpu-v5p --gpus 64 "
		  "--stack megatron-core");
	assert_non_null(strstr(ran.out, "does not run on tpu-v5p"));
	ran_free(&ran);
	for (size_t i = 0; i < sizeof begun / sizeof begun[0]; i++) {
		char arguments[128], want[64];

		snprintf(arguments, sizeof arguments,
			 "eval --model llama3-8b --cluster %s --gpus 64", begun[i][0]);
		ran = run(arguments);
		snprintf(want, sizeof want, "assumed: %s", begun[i][1]);
		assert_non_null(strstr(ran.out, want));
		assert_null(strstr(ran.out, "does not run"));
		ran_free(&ran);
	}
}

static void fail_lack(const char *who, const struct scenario *s)
{
	struct lacks lacks;
	char text[256], where[512];

	scenario_lacks(s, &lacks);
	lack_text(s, &lacks.item[0], text, sizeof text);
	lack_source(s, lacks.item[0].row, where, sizeof where);
	fail_msg("%s: %s: %s", who, text, where);
}

/* Who measured a run had what it needs: where a sheet says no, the sheet is wrong. */
static void no_measured_run_is_beyond_its_stack(void **state)
{
	(void)state;
	measured_check(20, 3582);
	for (int i = 0; i < measured_set.count; i++) {
		const struct measured_run *run = &measured_set.run[i];

		if (run->readable && scenario_lacks(&run->scenario, NULL) > 0)
			fail_lack(run->id, &run->scenario);
	}
}

static void no_shipped_plan_is_beyond_its_stack(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		if (scenario_lacks(&s, NULL) > 0)
			fail_lack(list[i].name, &s);
	}
}

/* A stack is written into a scenario file whole, its sheet too. */
static void a_sheet_comes_back_from_its_file(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list), sheets = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct document document;
		struct scenario *s = calloc(2, sizeof *s);
		char *text = NULL;
		size_t size = 0;
		FILE *stream = open_memstream(&text, &size);

		scenario_defaults(&s[0]);
		scenario_defaults(&s[1]);
		assert_true(library_stack(&s[0], list[i].name, &error));
		stack_write(&s[0].stack, stream);
		fclose(stream);
		if (!document_parse(&document, "stack", text, size, &error) ||
		    !stack_read(&document, document.root, &s[1], NULL, &error))
			fail_msg("%s: %s", list[i].name, error.text);
		assert_memory_equal(&s[0].stack, &s[1].stack, sizeof s[0].stack);
		sheets += s[0].stack.abilities.count > 0;
		document_free(&document);
		free(text);
		free(s);
	}
	/* all but the unknown one */
	assert_int_equal(sheets, count - 1);
}

static void solve(struct planner_problem *problem, struct planner_result *out)
{
	struct planner *planner = planner_start(problem);

	assert_non_null(planner);
	while (planner_step(planner, INT_MAX)) {
	}
	*out = *planner_result(planner);
	planner_free(planner);
}

/* What a search proposes is there, unless everything is asked for or pinned. */
static void a_search_proposes_what_is_there(void **state)
{
	static const char *const stacks[] = { "megatron-core",
					      "megatron-lm-2021",
					      "megatron-deepspeed",
					      "deepspeed",
					      "fsdp",
					      "torchtitan",
					      "nanotron",
					      "internevo",
					      "aleph-alpha-scaling",
					      "jax-xla" };
	static struct planner_problem problem;
	static struct planner_result result, all;
	int beyond = 0;

	(void)state;
	for (size_t i = 0; i < sizeof stacks / sizeof stacks[0]; i++) {
		memset(&problem, 0, sizeof problem);
		plain(&problem.base, "llama3-8b", stacks[i]);
		turn(&problem.base, "gpus=16 gbs=64");
		problem.top = 8;
		planner_axes(&problem);
		solve(&problem, &result);
		assert_true(result.found > 0);
		for (int n = 0; n < result.found; n++) {
			struct scenario s;

			planner_scenario(&problem, &result.top[n], &s);
			if (scenario_lacks(&s, NULL) > 0)
				fail_lack(stacks[i], &s);
		}
		problem.research = true;
		planner_axes(&problem);
		solve(&problem, &all);
		assert_true(all.top[0].score <= result.top[0].score);
		beyond += all.top[0].score < result.top[0].score;
	}
	assert_true(beyond >= 3);
}

/* Pinned on both sides, it is what a person wants to know. */
static void what_is_pinned_is_searched(void **state)
{
	static struct planner_problem problem;
	static struct planner_result result;
	double four = 4, three = 3;

	(void)state;
	memset(&problem, 0, sizeof problem);
	plain(&problem.base, "llama3-8b", "deepspeed");
	turn(&problem.base, "gpus=16 gbs=64 pp=4 zero=3");
	problem.top = 1;
	planner_axes(&problem);
	planner_pin(&problem, knob_find("pp"), &four, 1);
	solve(&problem, &result);
	assert_true(result.found > 0); /* with another ZeRO */
	planner_pin(&problem, knob_find("zero"), &three, 1);
	solve(&problem, &result);
	assert_true(result.found > 0);
}

static void broken_sheets_are_refused(void **state)
{
	static const struct {
		const char *row, *says;
	} cases[] = {
		{ "{knob: shedule, has: [1f1b], source: s}", "did you mean schedule" },
		{ "{knob: schedule, has: [2f2b], source: s}", "schedule" },
		{ "{knob: schedule, has: [1f1b]}", "needs knob and source" },
		{ "{knob: zero, has: [0], most: 1, source: s}", "`has` or `most`" },
		{ "{knob: zero, source: s}", "`has` or `most`" },
		{ "{knob: zero, has: [0], source: not checked}", "not checked" },
		{ "{knob: zero, has: [0], with: pp, source: s}", "with" },
		{ "{knob: zero, has: [0], from: 2, source: s}", "go with" },
		{ "{knob: zero, has: [0], whit: pp, source: s}", "no key 'whit'" },
		{ "{knob: activation_offload, has: [0.5], source: s}", "whole" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[512];
		struct error error = { "" };
		struct document document;
		struct scenario s;
		int n = snprintf(text, sizeof text,
				 "title: t\nabilities:\n  read: r\n  rows:\n  - %s\n",
				 cases[i].row);

		scenario_defaults(&s);
		assert_true(document_parse(&document, "stack.yaml", text, (size_t)n,
					   &error));
		assert_false(stack_read(&document, document.root, &s, NULL, &error));
		if (!strstr(error.text, cases[i].says) ||
		    !strstr(error.text, "stack.yaml:5"))
			fail_msg("%s: %s", cases[i].row, error.text);
		document_free(&document);
	}
}

/* check says no; eval gives the numbers with a word above them. */
static void what_lacks_is_told(void **state)
{
	static const char plan[] = "--model llama3-8b --cluster dgx-h100 --gpus 64 "
				   "--tp 1 --pp 4 --schedule zb-v";
	static const char says[] = "megatron-core has no schedule zb-v";
	char arguments[256];

	(void)state;
	snprintf(arguments, sizeof arguments, "check %s", plan);
	run_check(arguments, 1, says, NULL);
	snprintf(arguments, sizeof arguments, "eval %s", plan);
	run_check(arguments, 0, says, NULL);
	run_check("search llama3-70b-64-h100 --trust measured --top 1 --json", 0,
		  "\"trust\":\t\"measured\"", NULL);
	run_check("search llama3-70b-64-h100 --trust sure", 2, NULL,
		  "expected measured, published or open");
}

/* A row that has a value is lacked by no plan with it, whatever else the plan is: a
 * search does not ask such rows at all. Of what it has not, some plan lacks it. */
static void a_row_that_has_a_value_is_never_lacked(void **state)
{
	struct scenario s;
	int had = 0, lacked = 0;

	(void)state;
	seed = 31;
	for (int round = 0; round < 20000; round++) {
		const struct ability *row;
		double value;

		any_scenario(&s);
		if (s.stack.abilities.count == 0)
			continue;
		row = &s.stack.abilities.row[round % s.stack.abilities.count];
		if (!ability_knob(row))
			continue;
		value = knob_get(&s, ability_knob(row));
		if (ability_has_all(row, &value, 1)) {
			had++;
			assert_false(ability_lacks(&s, row));
		}
		lacked += ability_lacks(&s, row);
	}
	assert_true(had > 5000);
	assert_true(lacked > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_that_no_such_software_runs),
		cmocka_unit_test(a_lack_is_estimated_and_mended),
		cmocka_unit_test(a_stack_runs_on_its_makers),
		cmocka_unit_test(what_is_usual_runs),
		cmocka_unit_test(check_names_the_stack_that_runs),
		cmocka_unit_test(no_measured_run_is_beyond_its_stack),
		cmocka_unit_test(no_shipped_plan_is_beyond_its_stack),
		cmocka_unit_test(a_sheet_comes_back_from_its_file),
		cmocka_unit_test(a_search_proposes_what_is_there),
		cmocka_unit_test(what_is_pinned_is_searched),
		cmocka_unit_test(broken_sheets_are_refused),
		cmocka_unit_test(what_lacks_is_told),
		cmocka_unit_test_setup_teardown(a_row_that_has_a_value_is_never_lacked,
						any_load, any_unload),
	};

	return cmocka_run_group_tests(tests, read_all, measured_forget);
}
