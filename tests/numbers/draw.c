/* draw.c - see draw.h. */
#include "tests/numbers/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain/constants.h"
#include "engine/knob/knob.h"
#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

enum { DRAWN_KNOBS = 7 };

static struct model *models;
static struct cluster *clusters;
static struct scenario *stacks;

static void load(void)
{
	const struct preset *list;
	int count;

	if (models)
		return;
	count = preset_list(PRESET_MODEL, &list);
	models = calloc((size_t)count, sizeof *models);
	for (int i = 0; i < count; i++)
		assert_true(library_model(&models[i], list[i].name, NULL));
	count = preset_list(PRESET_CLUSTER, &list);
	clusters = calloc((size_t)count, sizeof *clusters);
	for (int i = 0; i < count; i++)
		assert_true(library_cluster(&clusters[i], list[i].name, NULL));
	count = preset_list(PRESET_STACK, &list);
	stacks = calloc((size_t)count, sizeof *stacks);
	for (int i = 0; i < count; i++) {
		scenario_defaults(&stacks[i]);
		assert_true(library_stack(&stacks[i], list[i].name, NULL));
	}
}

uint64_t draw_hash(const char *word, uint64_t number)
{
	uint64_t hash = 0xcbf29ce484222325u ^ number;

	for (; *word; word++)
		hash = (hash ^ (unsigned char)*word) * 0x100000001b3u;
	hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Whether the draws take this model: a line of models.txt. */
static bool is_drawn(const char *name)
{
	static char *text;
	char line[80];

	if (!text) {
		FILE *file = fopen("tests/numbers/models.txt", "r");
		size_t length = 0;

		assert_non_null(file);
		assert_true(getdelim(&text, &length, '\0', file) > 0);
		fclose(file);
	}
	snprintf(line, sizeof line, "\n%s\n", name);
	return strstr(text, line);
}

/* The preset that this draw likes best: one more of them takes only its own share. */
static int any_preset(enum preset_kind kind)
{
	const struct preset *list;
	int count = preset_list(kind, &list), best = 0;
	uint64_t salt = next(1u << 30), most = 0;

	for (int i = 0; i < count; i++) {
		uint64_t hash = draw_hash(list[i].name, salt);

		if (hash < most || (kind == PRESET_MODEL && !is_drawn(list[i].name)))
			continue;
		most = hash;
		best = i;
	}
	return best;
}

static bool is_rare(const struct model *m)
{
	bool rare = m->mtp_layers > 0 || m->input_width > 0 || m->moe.expert_latent > 0;

	for (int k = 0; k < m->kinds; k++)
		rare |= m->kind[k].beside != MIXER_NONE ||
			m->kind[k].attention.index_topk > 0 ||
			m->kind[k].attention.compress > 0 ||
			m->kind[k].mixer == MIXER_MAMBA1;
	return rare;
}

/* Each second one is of an architecture that few models have. */
static int any_model(void)
{
	bool rare = next(2);
	int model = any_preset(PRESET_MODEL);

	for (int tries = 0; rare && tries < 8 && !is_rare(&models[model]); tries++)
		model = any_preset(PRESET_MODEL);
	return model;
}

static const struct knob *any_knob_of(const struct scenario *s)
{
	const struct knob *best = NULL;
	uint64_t salt = next(1u << 30), most = 0;

	for (int i = 0; i < knob_count(); i++) {
		uint64_t hash = draw_hash(knob_table[i].key, salt);

		if (!knob_in_mode(&knob_table[i], s->plan.mode) ||
		    strcmp(knob_table[i].key, "mode") == 0 || hash < most)
			continue;
		most = hash;
		best = &knob_table[i];
	}
	return best;
}

static void turn_knobs(struct scenario *s)
{
	for (uint64_t left = next(DRAWN_KNOBS); left > 0; left--) {
		const struct knob *knob = any_knob_of(s);
		double values[MAX_VALUES];
		int present, count = knob_values(s, knob, values, &present);

		/* one that does nothing is turned now and then: it must do nothing */
		/* a word that came later moves no draw */
		if (strcmp(knob->key, "frozen_format") == 0 && count > FROZEN_NVFP4)
			count = FROZEN_NVFP4 + 1;
		if (count > 0 && (knob_applies(s, knob) || next(4) == 0))
			knob_set(s, knob, values[next((uint64_t)count)]);
	}
}

static int any_constant(int count)
{
	uint64_t salt = next(1u << 30), most = 0;
	int best = 0;

	for (int i = 0; i < count; i++) {
		const char *key = explain_constants[i].key;
		uint64_t hash = draw_hash(key, salt);

		/* these are stated once for all: tests/test_habits.c turns them */
		if (hash < most || strncmp(key, "habits.", 7) == 0 ||
		    strncmp(key, "accuracy.", 9) == 0)
			continue;
		most = hash;
		best = i;
	}
	return best;
}

/* What knobs turned one by one seldom come to: everything on the hosts, adapters on a
 * frozen base, narrow formats, a layer computed again in parts. */
static void draw_together(struct scenario *s)
{
	struct plan *p = &s->plan;

	if (next(6) == 0) {
		p->optimizer_offload = 0.25 * (double)(1 + next(4));
		p->activation_offload = 0.25 * (double)next(5);
		s->cluster.host_bytes_per_gpu = 1e9 * (double)(1u << next(10));
	}
	if (next(6) == 0) {
		p->lora_rank = 8 << next(5);
		p->lora_targets = !next(2)            ? LORA_ALL
				  : p->lora_rank > 32 ? LORA_QKV
						      : LORA_ATTENTION;
		p->frozen_format = (int)next(FROZEN_NVFP4 + 1);
	}
	if (next(6) == 0) {
		p->precision = PRECISION_FP8;
		p->fp8_recipe = (int)next(FP8_RECIPE_COUNT);
		p->weight_format = (int)next(WEIGHT_FORMAT_COUNT);
		p->fp8_gates = next(2);
	}
	if (next(4) == 0) {
		p->recompute = (int)next(RECOMPUTE_COUNT);
		p->recompute_modules = next(1u << MODULE_COUNT);
		p->recompute_layers = (int64_t)next(4);
	}
	if (p->cp > 1 && next(2))
		p->cp_kind = (int)next(CP_KIND_COUNT);
	if (s->model.moe.experts > 0 && next(3) == 0) {
		p->moe_dispatcher = (int)next(DISPATCH_COUNT);
		p->moe_capacity = (int)next(CAPACITY_COUNT);
		p->capacity_factor = 0.5 + 0.25 * (double)next(8);
		p->imbalance = 1 + 0.25 * (double)next(5);
		p->ep_overlap = next(2);
		p->etp = next(2) ? 0 : 1 << next(3);
	}
}

static void draw_training(struct scenario *s)
{
	static const int64_t widths[] = { 1, 1, 2, 2, 4, 4, 8, 16, 64, 3, 40, 640 },
			     depths[] = { 1, 1, 2, 2, 4, 4, 8, 16, 3, 6, 12 };
	struct plan *p = &s->plan;
	int64_t width = widths[next(12)];

	p->tp = 1 << next(4);
	p->pp = depths[next(11)];
	p->vpp = p->pp > 1 && next(2) ? 1 + (int64_t)next(4) : 1;
	p->cp = next(3) ? 1 : 1 << next(4);
	p->ep = s->model.moe.experts ? 1 << next(7) : 1;
	p->zero = (int64_t)next(4);
	p->micro_batch = 1 << next(3);
	p->global_batch = p->micro_batch * width * (1 + (int64_t)next(4));
	p->global_batch *= next(2) ? p->pp : 1 << next(5);
	p->seq_len = 512 << next(6);
	p->split = next(4) ? SPLIT_BALANCED : SPLIT_EVEN;
	draw_together(s);
	s->cluster.gpus = p->tp * p->pp * p->cp * width;
}

/* The same of servers: drafts, a pool for prompts, experts over copies of attention. */
static void serve_together(struct scenario *s)
{
	struct serving_plan *v = &s->plan.serving;

	if (next(6) == 0) {
		v->speculative =
			s->model.mtp_layers > 0 ? SPECULATIVE_MTP : SPECULATIVE_DRAFT;
		v->draft_tokens = 1 + (int64_t)next(5);
		v->acceptance = 0.1 * (double)next(10);
		v->draft_cost = 0.05 * (double)next(4);
	}
	if (next(8) == 0) {
		v->disaggregated = true;
		v->prefill_gpus = s->cluster.gpus;
		s->cluster.gpus *= 2;
	}
	if (s->model.moe.experts > 0 && next(4) == 0) {
		v->dp_attention = 1 << next(4);
		s->plan.ep = s->plan.tp * v->dp_attention;
		s->cluster.gpus *= v->dp_attention;
		s->plan.ep_overlap = next(2);
	}
	if (next(6) == 0)
		v->kv_precision = (int)next(KV_PRECISION_COUNT);
	if (next(10) == 0)
		v->shared_prefix = 0.25 * (double)next(4);
}

static void draw_server(struct scenario *s)
{
	static const int64_t copies[] = { 1, 1, 1, 2, 4, 3, 16, 256 };
	struct plan *p = &s->plan;

	p->tp = 1 << next(4);
	p->pp = next(3) ? 1 : 1 << next(3);
	p->cp = next(6) ? 1 : 2;
	p->ep = s->model.moe.experts && next(2) ? p->tp : 1;
	s->cluster.gpus = p->tp * p->pp * p->cp * copies[next(8)];
	p->serving.prompt_len = 1 + (int64_t)next(1u << (4 + next(12)));
	p->serving.output_len = 1 + (int64_t)next(1u << (2 + next(10)));
	p->serving.concurrency = next(4) ? 1 << next(10) : 0;
	if (next(4) == 0)
		p->serving.request_rate = 0.05 * (double)(1u << next(12));
	serve_together(s);
	if (next(16) != 0)
		return;
	p->serving.goal_percentile = GOAL_P99;
	p->serving.goal_ttft_seconds = 0.2 * (double)(1u << next(6));
	p->serving.goal_tpot_seconds = 0.01 * (double)(1u << next(4));
}

/* Tori of one to three axes, and a measured run that scales all times. */
static void turn_machine(struct scenario *s)
{
	if (next(8) == 0)
		s->cluster.torus_axes = (int)next(4);
	if (next(6) == 0)
		s->cluster.scale = 0.7 + 0.1 * (double)next(8);
}

/* Machines and software that no preset is: what is written there once is none, half or
 * twice as much, so that what stands in for a number that nobody stated is run too. */
static void turn_constants(struct scenario *s)
{
	static const double factors[] = { 0, 0, 0.25, 0.5, 2, 3 };
	int count = 0;

	while (explain_constants[count].key)
		count++;
	for (uint64_t left = next(3) ? 0 : 1 + next(3); left > 0; left--) {
		const struct constant *constant =
			&explain_constants[any_constant(count)];
		char *at = (char *)s + constant->offset;
		bool *flag = (bool *)at;
		double value;

		if (constant->type == CONSTANT_FLAG) {
			*flag = !*flag;
		} else if (constant->type == CONSTANT_REAL) {
			memcpy(&value, at, sizeof value);
			value *= factors[next(6)];
			memcpy(at, &value, sizeof value);
		}
	}
}

/* The same of rates by precision or kernel: of one of them, or of all. */
static void turn_rates(struct scenario *s)
{
	static const double factors[] = { 0, 0, 0.25, 0.5, 2, 3 };
	const struct constant_array *array = explain_arrays;
	const struct knob *knob;
	uint64_t all = next(3), which, arrays = 0, words = 0;
	double factor = factors[next(6)];

	while (array[arrays].key)
		arrays++;
	array += next(arrays);
	knob = knob_find(array->knob);
	while (knob->words[words])
		words++;
	which = next(words);
	for (uint64_t i = 0; i < words; i++) {
		char *at = (char *)s + array->offset + i * sizeof(double);
		double value;

		if (all != 0 && i != which)
			continue;
		memcpy(&value, at, sizeof value);
		value *= factor;
		memcpy(at, &value, sizeof value);
	}
}

/* Layers that no model has. */
static void turn_kinds(struct scenario *s)
{
	struct layer_kind *kind = &s->model.kind[next((uint64_t)s->model.kinds)];
	struct attention *a = &kind->attention;
	uint64_t what = next(48);

	if (kind->mixer != MIXER_ATTENTION && kind->mixer != MIXER_MLA)
		return;
	a->window = what == 0 ? 1 << (6 + next(7)) : what == 1 ? 0 : a->window;
	a->qkv_bias ^= what == 2;
	a->output_bias ^= what == 3;
	a->qk_norm ^= what == 4;
	a->sinks ^= what == 5;
	a->output_gate ^= what == 6;
	if (a->index_topk > 0 && what < 24)
		a->index_topk = 128 << next(5);
}

void draw_known(const char *stack, int mode, uint64_t number, struct scenario *out)
{
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list), i = 0;

	load();
	while (i < count && strcmp(list[i].name, stack) != 0)
		i++;
	assert_true(i < count);
	seed = draw_hash(stack, number) | 1;
	*out = stacks[i];
	out->model = models[any_model()];
	out->cluster = clusters[any_preset(PRESET_CLUSTER)];
	out->plan.mode = mode;
	if (mode == MODE_INFERENCE)
		draw_server(out);
	else
		draw_training(out);
	turn_machine(out);
	turn_knobs(out);
}

void draw_scenario(const char *stack, int mode, uint64_t number, struct scenario *out)
{
	draw_known(stack, mode, number, out);
	turn_constants(out);
	if (next(6) == 0)
		turn_rates(out);
	turn_kinds(out);
}
