/* compare.c - see compare.h. */
#include "engine/compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/words.h"

static const struct {
	const char *key, *label;
	enum dimension dimension;
} exposed[] = {
	{ "exposed.tp", "TP exposed", DIM_TP },
	{ "exposed.cp", "CP exposed", DIM_CP },
	{ "exposed.ep", "EP exposed", DIM_EP },
	{ "exposed.pp", "PP exposed", DIM_PP },
	{ "exposed.dp", "DP exposed", DIM_DP },
	{ "exposed.host", "host exposed", DIM_HOST },
};

enum { EXPOSED = sizeof exposed / sizeof exposed[0] };

/* The row of this key, made where it is new. */
static double *find_row(struct compare_sum *sum, const char *key, const char *label,
			int plan)
{
	int at = 0;

	while (at < sum->rows && strcmp(sum->row[at].key, key) != 0)
		at++;
	if (at == sum->rows)
		sum->row[sum->rows++] =
			(struct compare_row){ .key = key, .label = label };
	return &sum->row[at].value[plan];
}

static void add_training(const struct estimate *e, int plan, struct compare_sum *out)
{
	*find_row(out, "compute", "compute", plan) =
		e->compute_seconds - e->recompute_seconds;
	*find_row(out, "recompute", "recompute", plan) = e->recompute_seconds;
	for (int d = 0; d < EXPOSED; d++)
		*find_row(out, exposed[d].key, exposed[d].label, plan) =
			e->cost[exposed[d].dimension].exposed_seconds;
	*find_row(out, "bubble", "bubble", plan) = e->bubble_seconds;
	*find_row(out, "optimizer", "optimizer", plan) = e->optimizer_seconds;
	out->sum.value[plan] = e->step_seconds;
}

static void add_serving(const struct estimate *e, int plan, struct compare_sum *out)
{
	const struct serving_estimate *v = &e->serving;

	*find_row(out, "compute", "compute", plan) = v->compute_seconds;
	*find_row(out, "memory", "memory", plan) = v->memory_seconds;
	*find_row(out, "network", "network", plan) = v->network_seconds;
	*find_row(out, "overhead", "overhead", plan) = v->overhead_seconds;
	out->sum.value[plan] = v->compute_seconds + v->memory_seconds +
			       v->network_seconds + v->overhead_seconds;
}

static void add_bytes(const struct estimate *e, bool serves, int plan,
		      struct compare_sum *out)
{
	const struct stage_memory *m = &e->memory;

	*find_row(out, "weights", "weights", plan) = m->weights_bytes;
	if (serves) {
		*find_row(out, "kv", "KV cache", plan) = m->kv_bytes;
	} else {
		*find_row(out, "gradients", "gradients", plan) = m->gradients_bytes;
		*find_row(out, "optimizer", "optimizer", plan) = m->optimizer_bytes;
	}
	*find_row(out, "activations", "activations", plan) = m->activations_bytes;
	*find_row(out, "buffers", "buffers", plan) = m->buffers_bytes;
	*find_row(out, "framework", "framework", plan) = m->framework_bytes;
	out->sum.value[plan] = m->total_bytes;
}

static void settle(struct compare_row *row, int plans)
{
	for (int i = 0; i < plans; i++) {
		row->more[i] = row->value[i] - row->value[0];
		row->matters |= row->value[i] != 0;
	}
}

static void settle_all(struct compare_sum *sum, int plans)
{
	for (int i = 0; i < sum->rows; i++)
		settle(&sum->row[i], plans);
	settle(&sum->sum, plans);
}

static void add_knobs(const struct scenario *const *s, struct compare *out)
{
	for (int k = 0; k < knob_count(); k++) {
		const struct knob *knob = &knob_table[k];
		bool differs = false, applies = false;

		for (int i = 0; i < out->plans; i++) {
			differs |= !knob_same(s[0], s[i], knob);
			applies |= knob_applies(s[i], knob);
		}
		if (differs && applies && out->knobs < MAX_COMPARE_KNOBS)
			out->knob[out->knobs++] = knob;
	}
}

void compare_plans(const struct scenario *const *s, const struct estimate *const *e,
		   int plans, struct compare *out)
{
	*out = (struct compare){ .plans = plans };
	out->serves = s[0]->plan.mode == MODE_INFERENCE;
	out->seconds.sum = (struct compare_row){
		.key = out->serves ? "decode" : "step",
		.label = out->serves ? "decode pass" : "step",
	};
	out->bytes.sum = (struct compare_row){ .key = "total", .label = "memory" };
	for (int i = 0; i < plans; i++) {
		out->legal[i] = e[i]->legal;
		out->fits[i] = e[i]->feasible;
		if (!e[i]->legal)
			continue;
		if (out->serves)
			add_serving(e[i], i, &out->seconds);
		else
			add_training(e[i], i, &out->seconds);
		add_bytes(e[i], out->serves, i, &out->bytes);
		out->rate[i] = out->serves
				       ? e[i]->serving.output_tokens_per_second_per_gpu
				       : e[i]->tokens_per_second_per_gpu;
		if (out->rate[0] > 0)
			out->gain[i] = out->rate[i] / out->rate[0] - 1;
	}
	settle_all(&out->seconds, plans);
	settle_all(&out->bytes, plans);
	add_knobs(s, out);
}

/* One word KEY=VALUE. */
static bool turn_knob(struct scenario *scenario, char *word, char *why, size_t size)
{
	char *value = strchr(word, '=');
	const struct knob *knob;

	if (!value) {
		snprintf(why, size, "'%.40s': expected KNOB=VALUE, as tp=8", word);
		return false;
	}
	*value++ = '\0';
	knob = knob_find(word);
	if (!knob) {
		const char *near = knob_nearest_key(word);

		snprintf(why, size, "no knob '%.40s'%s%s", word,
			 near ? "; did you mean " : "", near ? near : "");
		return false;
	}
	return knob_parse(scenario, knob, value, why, size);
}

bool compare_turn(struct scenario *scenario, const char *text, char *why, size_t size)
{
	struct words words = { .at = text };
	char word[256];

	while (words_next(&words)) {
		if (!words_copy(&words, word, sizeof word)) {
			snprintf(why, size, "no knob's value is so long");
			return false;
		}
		if (!turn_knob(scenario, word, why, size))
			return false;
	}
	return true;
}
