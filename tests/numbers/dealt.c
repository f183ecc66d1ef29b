/* dealt.c - layers dealt out to stages, with weights that are drawn: "balanced
 * layers:61 kinds:2 p:16 v:1 draw:3", and layout strings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/split.h"
#include "engine/schedule/schedule.h"
#include "tests/numbers/figures.h"
#include "tests/numbers/options.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static const char *const ways[SPLIT_COUNT] = { "auto",       "even",
					       "balanced",   "balanced-memory",
					       "first-last", "custom" };

/* Of a layer of each kind, then embedding, head and one MTP layer. */
static double weights[MAX_LAYER_KINDS + 3], bytes[MAX_LAYER_KINDS + 3];

static void draw_model(const char *title, struct scenario *s)
{
	int layers = (int)option_number(title, "layers", 32);
	int kinds = (int)option_number(title, "kinds", 1);
	int dense = (int)option_number(title, "dense", 0);

	s->model.hidden = 2048;
	s->model.vocab = (int64_t)option_number(title, "vocab", 131072);
	s->model.mtp_layers = (int64_t)option_number(title, "mtp", 0);
	for (int i = 0; i < layers; i++) {
		int drawn = dense > 0   ? i >= dense
			    : i < kinds ? i
					: (int)next((uint64_t)kinds);
		struct layer_kind kind = { .mixer = MIXER_ATTENTION,
					   .mlp = MLP_DENSE,
					   .ffn = 4096 * (1 + drawn),
					   .attention = { .heads = 32,
							  .kv_heads = 32,
							  .head_dim = 64,
							  .value_dim = 64 } };

		assert_true(model_add_layer(&s->model, &kind));
	}
}

static void draw_weights(const char *title, const struct scenario *s)
{
	double ends = option_number(title, "ends", 2);

	for (int i = 0; i < s->model.kinds + 3; i++) {
		double most = i < s->model.kinds ? 1 : ends;

		weights[i] = (i < s->model.kinds ? 0.5 : 0) +
			     most * (double)next(1000) / 1000;
		bytes[i] = (i < s->model.kinds ? 0.5 : 0) +
			   most * (double)next(1000) / 1000;
	}
}

static int schedule_of(const char *word)
{
	for (int kind = 0; kind < SCHEDULE_COUNT; kind++)
		if (strcmp(schedule_words[kind], word) == 0)
			return kind;
	return SCHEDULE_1F1B;
}

static void read_title(const char *title, struct scenario *s)
{
	struct plan *plan = &s->plan;
	size_t length = strcspn(title, " ");

	memset(s, 0, sizeof *s);
	seed = 99 + (uint64_t)option_number(title, "draw", 0) * 1000003;
	while (plan->split < SPLIT_COUNT &&
	       (strlen(ways[plan->split]) != length ||
		strncmp(ways[plan->split], title, length) != 0))
		plan->split++;
	assert_true(plan->split < SPLIT_COUNT);
	plan->pp = (int64_t)option_number(title, "p", 4);
	plan->vpp = (int64_t)option_number(title, "v", 1);
	plan->schedule = plan->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
	if (option_given(title, "schedule"))
		plan->schedule = schedule_of(option_word(title, "schedule"));
	plan->split_embedding = option_given(title, "embedding");
	plan->split_loss = option_given(title, "loss");
	plan->first_stage_layers = (int64_t)option_number(title, "first", 0);
	plan->last_stage_layers = (int64_t)option_number(title, "last", 0);
	s->stack.split_rule = option_given(title, "by_weights") ? SPLITS_BY_WEIGHTS : 0;
	snprintf(plan->layout, sizeof plan->layout, "%s", option_word(title, "layout"));
	draw_model(title, s);
	draw_weights(title, s);
}

/* Bytes of a stage that has p - k micro-batches in flight. */
static double stage_bytes(const void *of, int k, const int16_t *kind_layers)
{
	const struct scenario *s = of;
	double sum = k == 0 ? bytes[s->model.kinds] : 0;

	for (int kind = 0; kind < s->model.kinds; kind++)
		sum += kind_layers[kind] * bytes[kind] *
		       (1 + 0.1 * (double)(s->plan.pp - k % s->plan.pp));
	return sum;
}

static void add_stages(struct figures *out, const struct scenario *s,
		       const struct split *split, bool weighed)
{
	double layers = 0, kinds = 0, slowest = 0, fullest = 0;
	const int n = s->model.kinds;

	for (int k = 0; k < split->virtual_stages; k++) {
		double weight = k == split->embedding_stage ? weights[n] : 0;
		int16_t count[MAX_LAYER_KINDS];

		split_count(&s->model, split, k, count);
		weight += k == split->head_stage ? weights[n + 1] : 0;
		for (int i = 0; i < n; i++) {
			weight += count[i] * (weighed ? weights[i] : 1);
			kinds += (k + 1) * (i + 1) * count[i];
		}
		layers += (k + 1) * (split->first[k + 1] - split->first[k]);
		slowest = weight > slowest ? weight : slowest;
		weight = stage_bytes(s, k, count);
		fullest = weight > fullest ? weight : fullest;
	}
	figures_add(out, "stages.layers", layers, 0);
	figures_add(out, "stages.layers_by_kind", kinds, 0);
	figures_add(out, "slowest_seconds", slowest, 0);
	figures_add(out, "fullest_bytes", fullest, 0);
}

/* What is not there is not written. */
static void check_untouched(const struct scenario *s, const struct split *split)
{
	int16_t blank, count[MAX_LAYER_KINDS + 1];

	memset(&blank, 0x55, sizeof blank);
	memset(count, 0x55, sizeof count);
	if (split->virtual_stages == MAX_VIRTUAL)
		return;
	assert_int_equal(split->first[split->virtual_stages + 1], blank);
	split_count(&s->model, split, 0, count);
	assert_int_equal(count[s->model.kinds], blank);
}

static void add_layout(struct figures *out, const struct scenario *s,
		       const struct split *split)
{
	char text[MAX_LAYOUT];

	for (int size = 4; size <= MAX_LAYOUT; size++)
		if (split_layout(s, split, text, size)) {
			figures_say(out, "layout", text);
			figures_add(out, "layout_bytes", size, 0);
			return;
		}
}

/* What the string says, whatever the model. */
static void add_parsed(struct figures *out, const char *layout)
{
	static int16_t counts[MAX_VIRTUAL];
	struct layout_facts facts;
	char why[120] = "";
	double sum = 0;
	int stages = split_parse_layout(layout, counts, why, sizeof why);

	split_layout_facts(layout, &facts);
	for (int k = 0; k < stages; k++)
		sum += (k + 1) * counts[k];
	figures_add(out, "read.stages", stages, 0);
	figures_add(out, "read.stages.layers", sum, 0);
	figures_add(out, "read.facts.stages", facts.stages, 0);
	figures_add(out, "read.facts.layers", facts.layers, 0);
	figures_add(out, "read.facts.fault_at_character", facts.fault, 0);
	figures_say(out, "read.why", why);
}

void figures_dealt(const char *title, struct figures *out)
{
	static struct scenario s;
	static struct split split;
	struct split_cost cost = { stage_bytes, &s };
	bool weighed = !option_given(title, "alike"), done;

	read_title(title, &s);
	out->count = 0;
	if (s.plan.split == SPLIT_CUSTOM)
		add_parsed(out, s.plan.layout);
	memset(&split, 0x55, sizeof split);
	done = s.plan.split == SPLIT_BALANCED_MEMORY
		       ? split_by_memory(&s, weighed ? weights : NULL, &cost, &split)
		       : split_layers(&s, weighed ? weights : NULL, &split);
	figures_add(out, "chunks", (double)split_chunks(&s), 0);
	figures_say(out, "resolved", ways[split_resolve(&s)]);
	if (!done) {
		figures_say(out, "verdict", "no split");
		return;
	}
	check_untouched(&s, &split);
	figures_add(out, "virtual_stages", split.virtual_stages, 0);
	figures_add(out, "embedding_stage", split.embedding_stage, 0);
	figures_add(out, "head_stage", split.head_stage, 0);
	figures_add(out, "mtp_stage", split.mtp_stage, 0);
	figures_say(out, "even", split_is_even(&s, &split) ? "yes" : "no");
	add_stages(out, &s, &split, weighed);
	add_layout(out, &s, &split);
}
