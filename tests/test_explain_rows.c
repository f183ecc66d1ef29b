/* test_explain_rows.c - whatever the scenario, a formula of Explain gives its number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/formula.h"
#include "engine/explain/row.h"
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "engine/serve/serve.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/any.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"
#include "tests/support/walk.h"

/* Of a stage behind the dot. */
static const char *const of_stage[] = {
	"weights_bytes",        "gradients_bytes",
	"optimizer_bytes",      "activations_bytes",
	"buffers_bytes",        "framework_bytes",
	"total_bytes",          "allocated_bytes",
	"reserved_bytes",       "in_flight",
	"parameters",           "layers",
	"forward_seconds",      "backward_seconds",
	"busy_seconds",         "exposed_seconds",
	"idle_seconds",         "optimizer_seconds",
	"recompute_seconds",    "kv_bytes",
	"host_optimizer_bytes", "host_activations_bytes",
};

static void check_all(struct walk *w, bool deep)
{
	int stage = (int)next((uint64_t)w->estimate->stages);

	w->count = w->path_length = 0;
	for (int i = 0; i < metric_count(); i++)
		if (metric_table[i].modes & METRIC_TRAINING)
			walk_follow(w, metric_table[i].key, deep);
	for (size_t i = 0; i < sizeof of_stage / sizeof of_stage[0]; i++) {
		char key[64];

		snprintf(key, sizeof key, "stages.%d.%s", stage, of_stage[i]);
		walk_follow(w, key, deep);
	}
}

/* Legal scenarios of all that ships, some of them scaled by a measured run, some on
 * nodes that the job fills in part. */
static void check_scenarios(int count, bool deep)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct walk *w = malloc(sizeof *w);
	int legal = 0;

	while (legal < count) {
		struct scenario s;

		any_scenario(&s);
		/* one measured run scales times; half a node fails like a whole one */
		s.cluster.scale = legal % 3 == 0 ? 1.2 : 1;
		if (legal % 5 == 0)
			s.cluster.gpus_per_node = 6;
		if (scenario_check(&s, NULL) > 0)
			continue;
		train_estimate(&s, e);
		if (!e->legal)
			continue;
		legal++;
		w->scenario = &s;
		w->estimate = e;
		check_all(w, deep);
	}
	free(e);
	free(w);
}

static void test_formulas_give_their_number_for_any_scenario(void **state)
{
	(void)state;
	seed = 99;
	check_scenarios(some_of(400), false);
}

static void test_chains_end_for_any_scenario(void **state)
{
	(void)state;
	seed = 7;
	check_scenarios(some_of(40), true);
}

/* What lies below the estimate: tables, and where their keys stand. # is any of the
 * first so many places, @ any algorithm of collectives. */
struct table {
	const char *prefix;
	const struct explain_node *nodes;
	int many[2];
};
static const struct table below_server[] = {
	{ "", explain_model, { 0 } },
	{ "model.kinds.#.", explain_model_kind, { 2 } },
	{ "", explain_serving_nodes, { 0 } },
	{ "", explain_serving_waits, { 0 } },
	{ "", explain_serving_plan, { 0 } },
	{ "passes.decode.", explain_pass_nodes, { 0 } },
	{ "passes.mixed.", explain_pass_nodes, { 0 } },
	{ "passes.whole.", explain_pass_nodes, { 0 } },
	{ "passes.rest.", explain_pass_nodes, { 0 } },
	{ "passes.decode.operators.#.", explain_pass_operator, { 10 } },
	{ "passes.mixed.operators.#.", explain_pass_operator, { 10 } },
	{ "passes.whole.operators.#.", explain_pass_operator, { 10 } },
	{ "passes.rest.operators.#.", explain_pass_operator, { 10 } },
	{ "passes.decode.traffic.#.", explain_traffic, { 3 } },
	{ "passes.mixed.traffic.#.", explain_traffic, { 3 } },
	{ "passes.mixed.traffic.#.by.@.", explain_algorithm, { 3 } },
	{ "passes.rest.traffic.#.by.@.", explain_algorithm, { 3 } },
	{ "traffic.#.", explain_traffic, { 4 } },
	{ "traffic.#.by.@.", explain_algorithm, { 4 } },
	{ NULL, NULL, { 0 } },
};
static const struct table below_step[] = {
	{ "", explain_model, { 0 } },
	{ "", explain_degrees_nodes, { 0 } },
	{ "", explain_states, { 0 } },
	{ "", explain_rates, { 0 } },
	{ "model.kinds.#.", explain_model_kind, { 2 } },
	{ "stages.#.", explain_stage, { 4 } },
	{ "stages.#.", explain_stage_times, { 4 } },
	{ "stages.#.", explain_stage_shown, { 4 } },
	{ "stages.#.kinds.#.", explain_stage_kind, { 4, 2 } },
	{ "chunks.#.", explain_chunk, { 4 } },
	{ "chunks.#.kinds.#.", explain_chunk_kind, { 4, 2 } },
	{ "kinds.#.", explain_layer, { 2 } },
	{ "embedding.", explain_layer, { 0 } },
	{ "head.", explain_layer, { 0 } },
	{ "mtp.", explain_layer, { 0 } },
	{ "kinds.#.operators.#.", explain_operator, { 2, 24 } },
	{ "kinds.#.operators.#.", explain_exposure, { 2, 24 } },
	{ "head.operators.#.", explain_operator, { 4 } },
	{ "head.operators.#.", explain_exposure, { 4 } },
	{ "mtp.operators.#.", explain_exposure, { 4 } },
	{ "traffic.#.", explain_traffic, { 8 } },
	{ "traffic.#.parts.#.", explain_traffic_part, { 8, 4 } },
	{ "traffic.#.by.@.", explain_algorithm, { 8 } },
	{ "traffic.#.by.@.", explain_algorithm, { 8 } },
	{ NULL, NULL, { 0 } },
};

/* The key of a node, at places that are drawn. */
static void draw_key(const struct table *table, const char *node, char *key)
{
	int length = 0, place = 0;

	for (const char *at = table->prefix; *at; at++) {
		char *end = key + length;
		size_t room = EXPLAIN_MAX_KEY - (size_t)length;

		if (*at == '#')
			length += snprintf(end, room, "%d",
					   (int)next((uint64_t)table->many[place++]));
		else if (*at == '@')
			length += snprintf(end, room, "%s",
					   algorithm_name((enum algorithm)(
						   1 + next(ALGORITHM_COUNT - 1))));
		else
			length += snprintf(end, room, "%c", *at);
	}
	snprintf(key + length, EXPLAIN_MAX_KEY - (size_t)length, "%s", node);
}

/* Knobs whose formulas have a case of their own, turned more often than by chance. */
static void turn_rare_knobs(struct scenario *s)
{
	static const char *const rare[] = { "recompute",       "recompute_layers",
					    "weight_format",   "frozen_format",
					    "lora_rank",       "optimizer",
					    "fsdp_reshard",    "optimizer_offload",
					    "offload_modules", "wide_first",
					    "cross_entropy",   "document_len",
					    "fp8_attention",   "zero_group",
					    "frozen_layers",   "frozen_head" };

	for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
		const struct knob *knob = knob_find(rare[i]);
		double values[MAX_VALUES];
		int present, count = knob_values(s, knob, values, &present);

		if (count > 0 && next(4) == 0)
			knob_set(s, knob, values[next((uint64_t)count)]);
	}
}

/* Of each table that there is, how many of its numbers were met. */
struct met {
	const struct explain_node *nodes;
	int count;
};
static struct met met[40];

static void count_met(const struct explain_node *nodes)
{
	int i = 0;

	while (met[i].nodes && met[i].nodes != nodes)
		i++;
	met[i].nodes = nodes;
	met[i].count++;
}

/* What other numbers needed before moves no word and no digit of a page. */
static void check_same(const struct walk *w, const char *key,
		       const struct explanation *later)
{
	static struct explanation alone;

	assert_true(explain(w->scenario, w->estimate, key, &alone));
	assert_string_equal(later->formula, alone.formula);
	/* and what it needed by itself is gone: no word was of that */
	assert_string_equal(later->title, alone.title);
	assert_string_equal(later->assumption, alone.assumption);
	assert_string_equal(later->source, alone.source);
	assert_memory_equal(&later->value, &alone.value, sizeof alone.value);
	assert_int_equal(later->computes, alone.computes);
	assert_int_equal(later->terms, alone.terms);
	for (int i = 0; i < alone.terms; i++) {
		assert_string_equal(later->term[i].key, alone.term[i].key);
		assert_string_equal(later->term[i].symbol, alone.term[i].symbol);
		assert_string_equal(later->term[i].meaning, alone.term[i].meaning);
		assert_memory_equal(&later->term[i].value, &alone.term[i].value,
				    sizeof alone.term[i].value);
	}
	assert_int_equal(later->besides, alone.besides);
	for (int i = 0; i < alone.besides; i++)
		assert_memory_equal(&later->beside[i].value, &alone.beside[i].value,
				    sizeof alone.beside[i].value);
}

/* Each number below the estimate by itself, whether or not a chain comes by. Returns
 * how many there are in this scenario. */
static int check_below(struct walk *w, const struct table *below)
{
	struct explain_facts *facts = explain_facts();
	struct explanation *x = malloc(sizeof *x);
	int there = 0;

	/* not the first of a path: it may be an end */
	w->path_length = 2;
	snprintf(w->path[0], sizeof w->path[0], "below");
	for (; below->prefix; below++)
		for (const struct explain_node *n = below->nodes; n->row.key; n++) {
			char *key = w->path[1];

			draw_key(below, n->row.key, key);
			if (!explain_with(facts, w->scenario, w->estimate, key, x))
				continue;
			check_same(w, key, x);
			walk_check(w, key, x);
			count_met(below->nodes);
			there++;
		}
	free(facts);
	free(x);
	return there;
}

/* Layers in 16 bits and frozen ones are marked in a model of their own, which is gone
 * with the facts: where a knob's values are written down is told all the same. */
static void test_words_outlive_the_facts(void **state)
{
	static const char *const turned[] = { "wide_first", "frozen_layers" };
	struct explain_facts *facts = NULL;
	struct estimate *e = calloc(1, sizeof *e);
	struct walk *w = malloc(sizeof *w);
	struct scenario s;
	struct explanation x;
	int sheets = 0;

	(void)state;
	for (size_t n = 0; n < sizeof turned / sizeof *turned; n++) {
		assert_true(scenario_read(&s, "nemotron-h-56b-6144-h100", NULL, NULL));
		assert_true(knob_set(&s, knob_find(turned[n]), 3));
		train_estimate(&s, e);
		w->scenario = &s;
		w->estimate = e;
		facts = explain_facts();
		for (int i = 0; i < knob_count(); i++) {
			if (!explain_with(facts, &s, e, knob_table[i].key, &x))
				continue;
			check_same(w, knob_table[i].key, &x);
			sheets += strcmp(x.source, "a knob: yours to turn") != 0;
		}
		free(facts);
	}
	assert_true(sheets > 20);
	free(e);
	free(w);
}

/* The first table that was met fewer than fifty times, or NULL. */
static const struct table *hardly_met(const struct table *below)
{
	memset(met + sizeof met / sizeof *met - 1, 0, sizeof *met);
	for (; below->prefix; below++) {
		int i = 0;

		while (met[i].nodes && met[i].nodes != below->nodes)
			i++;
		if (met[i].count < some_of(50))
			return below;
	}
	return NULL;
}

static void test_what_lies_below_gives_its_number(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct walk *w = malloc(sizeof *w);

	(void)state;
	seed = 31;
	/* a rare table may ask for more draws than the others; none is passed by */
	for (int legal = 0; legal < some_of(200) || hardly_met(below_step);) {
		struct scenario s;

		if (legal == 2000)
			fail_msg("%s%s: hardly met", hardly_met(below_step)->prefix,
				 hardly_met(below_step)->nodes->row.key);
		any_scenario(&s);
		turn_rare_knobs(&s);
		train_estimate(&s, e);
		if (!e->legal)
			continue;
		legal++;
		w->scenario = &s;
		w->estimate = e;
		assert_true(check_below(w, below_step) > 100);
	}
	free(e);
	free(w);
}

static void test_servers_give_their_numbers(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct walk *w = malloc(sizeof *w);

	(void)state;
	seed = 21;
	for (int i = some_of(200); i > 0; i--) {
		struct scenario s;

		server_random(&s, e);
		/* a queue without end has no numbers */
		if (!isfinite(e->serving.ttft_seconds))
			continue;
		w->scenario = &s;
		w->estimate = e;
		assert_true(check_below(w, below_server) > 60);
		w->count = w->path_length = 0;
		for (int k = 0; k < metric_count(); k++)
			if (metric_table[k].modes & METRIC_INFERENCE)
				walk_follow(w, metric_table[k].key, i % 4 == 0);
		for (size_t k = 0; k < sizeof of_stage / sizeof of_stage[0]; k++) {
			char key[64];

			if (strstr(of_stage[k], "_seconds") ||
			    strstr(of_stage[k], "gradients") ||
			    strstr(of_stage[k], "optimizer") ||
			    strstr(of_stage[k], "host_"))
				continue;
			snprintf(key, sizeof key, "stages.0.%s", of_stage[k]);
			walk_follow(w, key, i % 4 == 0);
		}
	}
	free(e);
	free(w);
}

/* What has a name is called by it, each once: no x0 .. x15 of collectives, operators or
 * stages. */
static void test_terms_have_their_names(void **state)
{
	static const struct {
		const char *key, *symbol[2];
	} row[] = {
		{ "tp.exposed_seconds", { "attention_input", "loss_sums" } },
		{ "kinds.0.forward_seconds", { "qkv_projection", "residual_2" } },
		{ "compute_seconds", { "stage_0", "stage_3" } },
	};
	struct estimate *e = calloc(1, sizeof *e);
	struct explanation x;
	struct error error = { "" };
	struct scenario s;

	(void)state;
	assert_true(scenario_read(&s, "llama3-70b-64-h100", NULL, &error));
	scenario_estimate(&s, e);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		assert_true(explain(&s, e, row[i].key, &x));
		for (int k = 0; k < 2 && row[i].symbol[k]; k++) {
			int found = 0;

			for (int t = 0; t < x.terms; t++)
				found +=
					strcmp(x.term[t].symbol, row[i].symbol[k]) == 0;
			if (found != 1)
				fail_msg("%s: %s is there %d times", row[i].key,
					 row[i].symbol[k], found);
		}
	}
	free(e);
}

static double term(const struct explanation *x, const char *symbol)
{
	for (int i = 0; i < x->terms; i++)
		if (strcmp(x->term[i].symbol, symbol) == 0)
			return x->term[i].value;
	fail_msg("no term %s", symbol);
	return 0;
}

/* Where all-reduce changes to a quicker kernel, more requests are done in a second than
 * come, and the server hovers: its times are stretched, and their formulas say so. */
static void test_a_leap_of_the_rate_is_told(void **state)
{
	static const char *const keys[] = { "ttft_seconds", "tpot_seconds",
					    "requests_per_second", "request_seconds" };
	struct estimate *e = calloc(1, sizeof *e);
	struct walk *w = calloc(1, sizeof *w);
	struct explanation x;
	struct error error = { "" };
	struct scenario s;
	int leaps = 0;

	(void)state;
	if (!scenario_blank(&s, "llama3.1-70b", "dgx-h100", "vllm", &error))
		fail_msg("%s", error.text);
	s.plan.mode = MODE_INFERENCE;
	s.plan.tp = s.cluster.gpus = 8;
	w->scenario = &s;
	w->estimate = e;
	for (double rate = 1; rate < 3; rate *= 1.01) {
		s.plan.serving.request_rate = rate;
		serve_estimate(&s, e);
		if (e->serving.stretch == 1)
			continue;
		leaps++;
		assert_true(e->serving.stretch > 1);
		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
			w->count = w->path_length = 0;
			walk_follow(w, keys[i], true);
		}
		assert_true(explain(&s, e, "tpot_seconds", &x));
		assert_close(term(&x, "stretch"), e->serving.stretch, 1e-12);
	}
	assert_true(leaps > 0);
	free(e);
	free(w);
}

/* FSDP that keeps its weights under a pipeline sums whole gradients in fp32, whatever
 * type they travel in: no rank shares them. */
static void test_gradients_of_kept_weights_are_whole(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct explanation x;
	struct scenario s;
	double value;

	(void)state;
	if (!scenario_blank(&s, "llama3.1-8b", "dgx-h100", "fsdp", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 16;
	s.plan.pp = 2;
	s.plan.zero = 3;
	s.plan.fsdp_reshard = false;
	s.plan.grad_dtype = GRAD_BF16;
	s.plan.global_batch = 64;
	train_estimate(&s, e);
	assert_true(e->legal && explain(&s, e, "stages.0.gradients_bytes", &x));
	assert_true(walk_compute(&x, &value));
	assert_close(value, 4 * e->stage[0].parameters, 1e-9);
	assert_close(x.value, value, 1e-9);
	assert_close(term(&x, "g"), 4, 1e-12);
	assert_false(formula_uses(x.formula, "d"));
	free(e);
}

/* A stage whose weights are frozen scatters nothing, and gathers them again: what that
 * shows of a backward has a formula. */
static void test_frozen_weights_are_gathered_again(void **state)
{
	static const char *const knobs[][2] = {
		{ "gpus", "128" },       { "tp", "2" },   { "sp", "on" },
		{ "pp", "8" },           { "zero", "3" }, { "zero_group", "1" },
		{ "mbs", "2" },          { "gbs", "64" }, { "grad_dtype", "bf16" },
		{ "lora_rank", "1024" },
	};
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct explanation x;
	struct scenario s;
	double value;

	(void)state;
	if (!scenario_blank(&s, "laguna-s-2.1", "a100-pcie", "internevo", &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
		case_set(&s, knobs[i][0], knobs[i][1]);
	s.plan.split = SPLIT_BALANCED;
	train_estimate(&s, e);
	assert_true(e->legal);
	assert_true(explain(&s, e, "chunks.1.scatter_seconds", &x) && x.value == 0);
	assert_true(explain(&s, e, "chunks.1.shard_backward", &x) && x.value > 0);
	assert_true(walk_compute(&x, &value));
	assert_close(value, x.value, 1e-9);
	free(e);
}

/* A bubble told by the step and a step told by the bubble would explain neither. */
static void test_the_bubble_is_told_without_the_step(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct explanation x;
	struct scenario s;

	(void)state;
	if (!scenario_read(&s, "llama3-70b-64-h100", NULL, &error))
		fail_msg("%s", error.text);
	train_estimate(&s, e);
	assert_true(explain(&s, e, "bubble_seconds", &x) && x.computes);
	assert_false(formula_uses(x.formula, "step"));
	assert_close(term(&x, "idle"), e->bubble_ratio * e->pipeline_seconds, 1e-9);
	assert_true(term(&x, "late") >= 0);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas_give_their_number_for_any_scenario),
		cmocka_unit_test(test_chains_end_for_any_scenario),
		cmocka_unit_test(test_what_lies_below_gives_its_number),
		cmocka_unit_test(test_words_outlive_the_facts),
		cmocka_unit_test(test_servers_give_their_numbers),
		cmocka_unit_test(test_a_leap_of_the_rate_is_told),
		cmocka_unit_test(test_gradients_of_kept_weights_are_whole),
		cmocka_unit_test(test_frozen_weights_are_gathered_again),
		cmocka_unit_test(test_the_bubble_is_told_without_the_step),
		cmocka_unit_test(test_terms_have_their_names),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
