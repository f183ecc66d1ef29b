/* test_arguments.c - what is exported, against what its target takes: names, types,
 * choices and the conditions between them, as tests/arguments/ lists them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/planner/planner.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/start/start.h"
#include "presets/format_table.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/arguments.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

/* Where a format's table is, and how its text becomes names and values. */
struct target {
	const char *format, *tool, *program;
	bool (*read)(struct pairs *out, const char *file, const char *text,
		     size_t length, struct error *error);
	void (*facts)(struct given *given, const struct scenario *scenario);
	bool serves;
};

enum { MAX_FACTS = 24 };
static struct fact facts[MAX_FACTS];

static void add_fact(struct given *g, const char *name, double value)
{
	int i = 0;

	while (facts[i].name)
		i++;
	assert_true(i + 1 < MAX_FACTS);
	facts[i] = (struct fact){ name, value };
	facts[i + 1].name = NULL;
	g->facts = facts;
}

static double number(const struct given *g, const char *name, double absent)
{
	for (int i = 0; i < g->pairs->count; i++)
		if (strcmp(g->pairs->item[i].key, name) == 0)
			return strtod(g->pairs->item[i].value, NULL);
	return absent;
}

static void add_model(struct given *g, const struct scenario *s)
{
	const struct layer_kind *kind = &s->model.kind[0];

	add_fact(g, "world_size", (double)s->cluster.gpus);
	add_fact(g, "model.moe", s->model.moe.experts > 0);
	add_fact(g, "model.num_experts", (double)s->model.moe.experts);
	add_fact(g, "model.num_layers", (double)s->model.layers);
	if (kind->mixer == MIXER_ATTENTION || kind->mixer == MIXER_MLA) {
		add_fact(g, "model.mla", kind->mixer == MIXER_MLA);
		add_fact(g, "model.num_attention_heads", (double)kind->attention.heads);
		add_fact(g, "model.num_kv_heads", (double)kind->attention.kv_heads);
	}
}

/* "Et*2|(t|)*6,tL" has 8: what ends in a bar, as often as it is repeated, and the
 * last. */
static double layout_stages(const char *layout)
{
	double stages = 1, inside = 0;
	bool open = false;

	for (const char *at = layout; *at != '\0'; at++) {
		if (*at == '(')
			open = true;
		else if (*at == '|' && open)
			inside++;
		else if (*at == '|')
			stages++;
		if (*at != ')')
			continue;
		stages += inside * (at[1] == '*' ? strtod(at + 2, NULL) : 1);
		inside = 0;
		open = false;
	}
	return stages;
}

static void megatron_facts(struct given *g, const struct scenario *s)
{
	double tp = number(g, "--tensor-model-parallel-size", 1),
	       pp = number(g, "--pipeline-model-parallel-size", 1),
	       cp = number(g, "--context-parallel-size", 1);
	double dp = (double)s->cluster.gpus / (tp * pp * cp);
	double batch = number(g, "--global-batch-size", 0) /
		       (dp * number(g, "--micro-batch-size", 1));
	double chunks = number(g, "--num-virtual-stages-per-pipeline-rank", 0);

	add_model(g, s);
	add_fact(g, "data_parallel_size", dp);
	add_fact(g, "num_microbatches", batch);
	add_fact(g, "expert_tensor_parallel_size_or_tp",
		 number(g, "--expert-tensor-parallel-size", tp));
	add_fact(g, "microbatch_group_size_per_vp_stage_or_pp",
		 number(g, "--microbatch-group-size-per-virtual-pipeline-stage", pp));
	for (int i = 0; i < g->pairs->count; i++)
		if (strcmp(g->pairs->item[i].key, "--pipeline-model-parallel-layout") ==
		    0)
			chunks = layout_stages(g->pairs->item[i].value) / pp;
	if (chunks > 1)
		add_fact(g, "virtual_pipeline_model_parallel_size", chunks);
}

static void titan_facts(struct given *g, const struct scenario *s)
{
	double pp = number(g, "parallelism.pipeline_parallel_degree", 1);
	double each = number(g, "parallelism.pipeline_parallel_layers_per_stage", 0);
	double tp = number(g, "parallelism.tensor_parallel_degree", 1),
	       cp = number(g, "parallelism.context_parallel_degree", 1);
	double ends =
		number(g, "parallelism.pipeline_parallel_first_stage_less_layers", 1) +
		number(g, "parallelism.pipeline_parallel_last_stage_less_layers", 1);
	double layers = (double)s->model.layers + ends;
	double stages = each > 0 ? (double)(int64_t)((layers + each - 1) / each) : pp;

	add_model(g, s);
	add_fact(g, "data_parallel_size",
		 number(g, "parallelism.data_parallel_shard_degree", 1) *
			 number(g, "parallelism.data_parallel_replicate_degree", 1));
	add_fact(g, "virtual_stages", stages);
	add_fact(g, "layers_per_stage_floor", (double)(int64_t)(layers / stages));
	add_fact(g, "pp_microbatches",
		 pp > 1 ? number(g, "parallelism.num_pp_microbatches", 1) : 1);
	add_fact(g, "seq_len_divisor", tp * (cp > 1 ? 2 * cp : 1));
}

static void deepspeed_facts(struct given *g, const struct scenario *s)
{
	double pp = (double)s->plan.pp * (double)s->plan.cp;

	add_model(g, s);
	add_fact(g, "data_parallel_size",
		 (double)s->cluster.gpus /
			 (pp * number(g, "tensor_parallel.autotp_size", 1)));
}

static void accelerate_facts(struct given *g, const struct scenario *s)
{
	static const char *const sizes[] = { "tp_size", "cp_size", "dp_shard_size",
					     "dp_replicate_size" };
	double total = 1;

	add_model(g, s);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		char name[96];

		snprintf(name, sizeof name, "parallelism_config.parallelism_config_%s",
			 sizes[i]);
		total *= number(g, name, 1);
	}
	add_fact(g, "parallelism_total", total);
}

/* "    config.training.x = 1", "cfg.model.y = [...]" as names and values. */
static bool read_settings(struct pairs *out, const char *file, const char *text,
			  size_t length, struct error *error)
{
	char line[PAIRS_MAX_VALUE], *value;

	(void)length;
	pairs_begin(out, file);
	for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at++) {
		snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
		char *name = line + strspn(line, " ");

		value = strstr(name, " = ");
		if (!value ||
		    (strncmp(name, "config.", 7) != 0 && strncmp(name, "cfg.", 4) != 0))
			continue;
		*value = '\0';
		value += 3;
		if (*value == '"') {
			value++;
			value[strcspn(value, "\"")] = '\0';
		}
		if (strcmp(name, "cfg.mixed_precision") == 0 ||
		    strcmp(value, "None") == 0)
			continue;
		if (*value == '[')
			for (char *c = value; *c != '\0'; c++)
				if (strchr("[]\",", *c))
					memmove(c, c + 1, strlen(c)), c--;
		name += strncmp(name, "config.", 7) == 0 ? 7 : 0;
		/* of the provider of hybrid models, which the table does not have */
		if (strcmp(name, "cfg.model.hybrid_layer_pattern") == 0 &&
		    strstr(text, "HybridModelProvider"))
			continue;
		if (!pairs_add(out, name, value, 1, error))
			return false;
	}
	return true;
}

static const struct target targets[] = {
	{ "megatron", "megatron-lm", "pretrain_gpt.py", NULL, megatron_facts, false },
	{ "bridge", "megatron-bridge", NULL, read_settings, add_model, false },
	{ "torchtitan", "torchtitan-toml", NULL, pairs_from_toml, titan_facts, false },
	{ "torchtitan-py", "torchtitan-python", NULL, read_settings, titan_facts,
	  false },
	{ "nanotron", "nanotron", NULL, pairs_from_yaml, add_model, false },
	{ "deepspeed", "deepspeed", NULL, pairs_from_json, deepspeed_facts, false },
	{ "accelerate", "accelerate", NULL, pairs_from_yaml, accelerate_facts, false },
	{ "vllm", "vllm", "vllm serve ", NULL, add_model, true },
	{ "sglang", "sglang", "sglang.launch_server ", NULL, add_model, true },
	{ "trtllm", "trtllm", "trtllm-serve ", NULL, add_model, true },
};

/* One command of a text, or all of it. */
static int check_text(const struct target *target, const struct tool_arguments *tool,
		      const struct scenario *s, const char *title, const char *text)
{
	struct given given = { .tool = tool, .title = title };
	static const char hybrids[] = "pretrain_hybrid.py"; /* of Megatron-LM */
	struct error error = { "" };
	struct pairs pairs;

	if (!target->read)
		given_words(&pairs, text,
			    strstr(text, hybrids) ? hybrids : target->program);
	else if (!target->read(&pairs, title, text, strlen(text), &error))
		fail_msg("%s", error.text);
	facts[0].name = NULL;
	given.fragment = strstr(text, "a fragment of a") != NULL;
	given.pairs = &pairs;
	target->facts(&given, s);
	given_check(&given);
	assert_true(pairs.count > 0);
	assert_true(tool->conditions == 0 || given.held > 0);
	pairs_free(&pairs);
	return given.problems;
}

/* Servers of pools are many commands; the last of TensorRT-LLM's stands in front of
 * them. */
static int check_export(const struct target *target, const struct tool_arguments *tool,
			const struct scenario *s, const char *title)
{
	struct format_request request = { .scenario = s };
	char *text = format_find_written(target->format)->out.write(&request);
	int problems = 0;

	assert_non_null(text);
	/* some plans are none of the target's, and it says so */
	if (strstr(text, "refuses it")) {
		free(text);
		return 0;
	}
	for (const char *at = text; at && problems == 0;) {
		problems += check_text(target, tool, s, title, at);
		at = target->serves ? strstr(at, target->program) : NULL;
		at = at ? strstr(at + 1, target->program) : NULL;
		if (at && strncmp(at, "trtllm-serve disaggregated", 26) == 0)
			at = NULL;
	}
	free(text);
	return problems;
}

static int check_plans(const struct target *target)
{
	struct tool_arguments tool;
	const struct preset *list;
	int problems = 0, count = preset_list(PRESET_PLAN, &list);

	tool_arguments_read(&tool, target->tool);
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		if ((s.plan.mode == MODE_INFERENCE) == target->serves)
			problems += check_export(target, &tool, &s, list[i].name);
	}
	tool_arguments_free(&tool);
	return problems;
}

static int check_models(const struct target *target)
{
	struct tool_arguments tool;
	const struct preset *list;
	int problems = 0, count = preset_list(PRESET_MODEL, &list);

	tool_arguments_read(&tool, target->tool);
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_blank(&s, list[i].name, "dgx-h100",
				    target->serves ? "vllm" : "megatron-core", &error))
			fail_msg("%s", error.text);
		s.plan.mode = target->serves ? MODE_INFERENCE : MODE_TRAINING;
		if (s.model.position == POSITION_LEARNED &&
		    s.plan.seq_len > s.model.max_positions)
			s.plan.seq_len = s.model.max_positions;
		problems += check_export(target, &tool, &s, list[i].name);
	}
	tool_arguments_free(&tool);
	return problems;
}

/* The ten best ideas of the usual search of a plan. */
static void search(const struct scenario *base, struct planner_problem *problem,
		   struct planner_result *out)
{
	struct planner *planner;

	*problem = (struct planner_problem){ .base = *base,
					     .reserve = 0.05,
					     .top = 10,
					     .trust = planner_usual_trust(base) };
	planner_axes(problem);
	problem->each = 1;
	planner = planner_start(problem);
	assert_non_null(planner);
	while (planner_step(planner, INT_MAX)) {
	}
	*out = *planner_result(planner);
	planner_free(planner);
}

/* What a person takes from the search's list starts as well, whatever it is written
 * for; a stack's plan, for every target. */
static int check_winners(const struct tool_arguments *tool, const struct scenario *base,
			 const char *title)
{
	static struct planner_problem problem;
	static struct planner_result result;
	int problems = 0;

	search(base, &problem, &result);
	for (int i = 0; i < result.found; i++) {
		char name[160];
		struct scenario s;

		planner_scenario(&problem, &result.top[i], &s);
		snprintf(name, sizeof name, "%s, plan %d", title, i + 1);
		for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++)
			if ((s.plan.mode == MODE_INFERENCE) == targets[t].serves)
				problems +=
					check_export(&targets[t], &tool[t], &s, name);
	}
	return problems;
}

static void test_winners(void **state)
{
	struct tool_arguments tool[sizeof targets / sizeof targets[0]];
	const struct preset *list;
	int problems = 0, count = preset_list(PRESET_PLAN, &list);

	(void)state;
	for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++)
		tool_arguments_read(&tool[t], targets[t].tool);
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_read(&s, list[i].name, NULL, &error))
			fail_msg("%s", error.text);
		problems += check_winners(tool, &s, list[i].name);
	}
	for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++)
		tool_arguments_free(&tool[t]);
	assert_int_equal(problems, 0);
}

/* What is turned by lot: degrees, precision, what is computed again, experts, servers.
 */
static const char *const turned[] = {
	"tp",
	"sp",
	"pp",
	"schedule",
	"vpp",
	"split",
	"cp",
	"cp_kind",
	"ep",
	"etp",
	"zero",
	"zero_group",
	"mbs",
	"gbs",
	"seq",
	"precision",
	"fp8_recipe",
	"recompute",
	"recompute_layers",
	"recompute_modules",
	"lora_rank",
	"optimizer",
	"optimizer_offload",
	"activation_offload",
	"grad_dtype",
	"cuda_graphs",
	"tp_overlap",
	"async_tp",
	"overlap_grad_reduce",
	"overlap_param_gather",
	"ep_overlap",
	"moe_dispatcher",
	"moe_capacity",
	"capacity_factor",
	"shared_expert_overlap",
	"fsdp_reshard",
	"compile",
	"attention_kernel",
	"cross_entropy",
	"split_embedding",
	"split_loss",
	"first_stage_layers",
	"last_stage_layers",
	"grouped_gemm",
	"router_fusion",
	"document_len",
	"dp_attention",
	"kv_precision",
	"speculative",
	"kv_shards",
	"chunked_prefill",
	"prefix_cache",
	"redundant_experts",
	"disaggregated",
	"memory_share",
	"adapters",
	"adapter_rank",
	"host_kv",
	"kv_block",
	"max_requests",
	"max_batched_tokens",
	"receive_interval",
	"host_overlap",
	"batch_wait",
	"draft_tokens",
	"prefill_tp",
	"prefill_pp",
	"prefill_ep",
	"prefill_dp_attention",
};

/* Sets a knob to one of its values, if the plan is then legal and the stack has it. */
static void turn(struct scenario *s)
{
	static struct estimate estimate;
	const struct knob *knob =
		knob_find(turned[next(sizeof turned / sizeof turned[0])]);
	double values[MAX_VALUES];
	struct scenario before = *s;
	int present, count;

	assert_non_null(knob);
	if (!knob_applies(s, knob))
		return;
	count = knob_values(s, knob, values, &present);
	if (!knob_set(s, knob, values[next((uint64_t)count)]) ||
	    scenario_lacks(s, NULL) > 0) {
		*s = before;
		return;
	}
	scenario_estimate(s, &estimate);
	if (!estimate.legal)
		*s = before;
}

/* Plans that nobody would write, but which are legal and within the sheet of the
 * target's own stack. */
static int check_drawn(const struct target *target, const char *stack)
{
	enum { DRAWN = 120, TURNS = 24 };
	struct tool_arguments tool;
	const struct preset *list;
	int problems = 0, count = preset_list(PRESET_MODEL, &list);

	tool_arguments_read(&tool, target->tool);
	for (int i = 0; i < DRAWN; i++) {
		const char *model = list[next((uint64_t)count)].name;
		struct error error = { "" };
		struct start start = { 0 };
		struct scenario s;
		char title[128];

		if (!scenario_blank(&s, model, "dgx-b200", stack, &error))
			fail_msg("%s", error.text);
		s.plan.mode = target->serves ? MODE_INFERENCE : MODE_TRAINING;
		s.cluster.gpus = 8 << next(6);
		start_give(&start, knob_find("gpus"));
		start_choose(&start, &s);
		for (int k = 0; k < TURNS; k++)
			turn(&s);
		snprintf(title, sizeof title, "%s on %s, %d", model, stack, i);
		problems += check_export(target, &tool, &s, title);
	}
	tool_arguments_free(&tool);
	return problems;
}

static void test_drawn_plans(void **state)
{
	static const char *const stacks[] = {
		"megatron-core", "megatron-core", "torchtitan", "torchtitan",
		"nanotron",      "deepspeed",     "fsdp",       "vllm",
		"sglang",        "tensorrt-llm",
	};
	int problems = 0;

	(void)state;
	seed = 15;
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
		problems += check_drawn(&targets[i], stacks[i]);
	assert_int_equal(problems, 0);
}

static void test_plans(void **state)
{
	int problems = 0;

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
		problems += check_plans(&targets[i]);
	assert_int_equal(problems, 0);
}

static void test_models(void **state)
{
	int problems = 0;

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
		problems += check_models(&targets[i]);
	assert_int_equal(problems, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans),
		cmocka_unit_test(test_drawn_plans),
		cmocka_unit_test(test_winners),
		cmocka_unit_test(test_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
