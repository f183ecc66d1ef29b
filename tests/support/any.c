/* any.c - see any.h. */
#include "tests/support/any.h"

#include <stdlib.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct model *models;
static int model_count_all;
static struct cluster *clusters;
static int cluster_count;

/* Scenarios as each stack that trains leaves them, to be filled with a model and a
 * cluster. */
static struct scenario blank[32];
static int stacks;

static void load_stacks(void)
{
	const struct preset *list;
	int count = preset_list(PRESET_STACK, &list);

	stacks = 0;
	assert_true(count > 10 && count <= 32);
	for (int i = 0; i < count; i++) {
		scenario_defaults(&blank[stacks]);
		assert_true(library_stack(&blank[stacks], list[i].name, NULL));
		stacks += !blank[stacks].stack.serves;
	}
}

int any_load(void **state)
{
	const struct preset *list;

	(void)state;
	load_stacks();
	model_count_all = preset_list(PRESET_MODEL, &list);
	models = calloc((size_t)model_count_all, sizeof *models);
	for (int i = 0; i < model_count_all; i++)
		assert_true(library_model(&models[i], list[i].name, NULL));
	cluster_count = preset_list(PRESET_CLUSTER, &list);
	clusters = calloc((size_t)cluster_count, sizeof *clusters);
	for (int i = 0; i < cluster_count; i++)
		assert_true(library_cluster(&clusters[i], list[i].name, NULL));
	return 0;
}

int any_unload(void **state)
{
	(void)state;
	free(models);
	free(clusters);
	return 0;
}

const struct knob *any_knob(void)
{
	enum { NONE = 30 }; /* draws of so many more */
	const struct knob *list[MAX_KNOBS];
	uint64_t count = 0, drawn;

	for (int i = 0; i < knob_count(); i++)
		if (knob_table[i].group != GROUP_SERVING)
			list[count++] = &knob_table[i];
	drawn = next(count + NONE);
	return drawn < count ? list[drawn] : NULL;
}

void any_scenario(struct scenario *s)
{
	int64_t model = (int64_t)next((uint64_t)model_count_all);
	int64_t cluster = (int64_t)next((uint64_t)cluster_count);

	*s = blank[next((uint64_t)stacks)];
	s->model = models[model];
	s->cluster = clusters[cluster];
	s->cluster.gpus = 1 << next(12);
	s->plan.tp = 1 << next(4);
	s->plan.pp = 1 << next(5);
	s->plan.cp = 1 << next(2);
	s->plan.ep = s->model.moe.experts ? 1 << next(5) : 1;
	s->plan.vpp = 1 + (int64_t)next(3);
	s->plan.zero = (int64_t)next(4);
	s->plan.micro_batch = 1 << next(3);
	s->plan.global_batch = s->plan.micro_batch << (4 + next(6));
	s->plan.seq_len = 1024 << next(4);
	s->plan.split = SPLIT_BALANCED;
	/* a handful of other knobs, anywhere in their domains */
	for (int i = 0; i < 6; i++) {
		const struct knob *knob = any_knob();
		double values[MAX_VALUES];
		int present, count;

		if (!knob || knob->group == GROUP_CLUSTER || knob->group == GROUP_RUN)
			continue;
		count = knob_values(s, knob, values, &present);
		if (count > 0)
			knob_set(s, knob, values[next((uint64_t)count)]);
	}
}

void any_describe(const struct scenario *s)
{
	print_error("model %s on %s with %s:", s->model.name, s->cluster.name,
		    s->stack.name);
	for (int i = 0; i < knob_count(); i++) {
		char text[MAX_LAYOUT + 8];

		knob_print(s, &knob_table[i], text, sizeof text);
		print_error(" %s=%s", knob_table[i].key, text);
	}
	print_error("\n");
}
