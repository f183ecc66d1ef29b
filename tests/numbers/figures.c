/* figures.c - names and numbers of an estimate of training. */
#include "tests/numbers/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/numbers/estimated.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

void figures_add(struct figures *out, const char *key, double value, double scale)
{
	struct figure *figure = &out->item[out->count];

	if (fabs(value) <= 1e-12 * scale)
		return;
	assert_true(out->count < MAX_FIGURES && strlen(key) < sizeof figure->key);
	memset(figure, 0, sizeof *figure);
	strcpy(figure->key, key);
	figure->value = value;
	figure->scale = scale;
	out->count++;
}

void figures_say(struct figures *out, const char *key, const char *words)
{
	struct figure *figure = &out->item[out->count];

	if (words[0] == '\0')
		return;
	assert_true(out->count < MAX_FIGURES && strlen(key) < sizeof figure->key);
	memset(figure, 0, sizeof *figure);
	strcpy(figure->key, key);
	snprintf(figure->words, sizeof figure->words, "%s", words);
	out->count++;
}

/* "MODEL+CLUSTER+STACK" with all knobs at their defaults, or a plan. */
static void read_base(const char *name, struct scenario *out)
{
	struct error error = { "" };
	char text[200], *cluster, *stack;
	bool read;

	snprintf(text, sizeof text, "%s", name);
	cluster = strchr(text, '+');
	stack = cluster ? strchr(cluster + 1, '+') : NULL;
	if (stack) {
		*cluster++ = '\0';
		*stack++ = '\0';
		read = scenario_blank(out, text, cluster, stack, &error);
	} else {
		read = scenario_read(out, text, NULL, &error);
	}
	if (!read)
		fail_msg("%s: %s", name, error.text);
}

void figures_scenario(const char *title, struct scenario *out)
{
	char text[1024], *rest = text, *word, *value;

	assert_true(strlen(title) < sizeof text);
	strcpy(text, title);
	word = strtok_r(rest, " ", &rest);
	assert_non_null(word);
	read_base(word, out);
	while ((word = strtok_r(rest, " ", &rest))) {
		value = strchr(word, '=');
		if (!value || strchr(value, ',') || strstr(value, ".."))
			continue;
		*value++ = '\0';
		case_set(out, word, value);
	}
}

void figures_findings(struct figures *out, const char *key,
		      const struct findings *findings)
{
	char words[MAX_FIGURE_WORDS] = "";
	size_t used = 0;

	for (int i = 0; i < findings->count && used < sizeof words; i++)
		used += (size_t)snprintf(words + used, sizeof words - used, "%s%s",
					 i > 0 ? " " : "",
					 findings->item[i].rule->code);
	figures_say(out, key, words);
}

void figures_metrics(struct figures *out, const struct estimate *e, int mode)
{
	double seconds =
		mode == METRIC_TRAINING ? e->step_seconds : e->serving.request_seconds;

	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];
		double scale = metric->form == FORM_SECONDS   ? seconds
			       : metric->form == FORM_BYTES   ? e->memory.total_bytes
			       : metric->form == FORM_PERCENT ? 1
							      : 0;

		if (metric->modes & mode)
			figures_add(out, metric->key, metric_get(e, metric), scale);
	}
}

/* Numbers of stages, the n-th counted n times, so that one that moves to another stage
 * shows. */
static void add_stages(struct figures *out, const struct estimate *e, const char *key,
		       const void *first, size_t size, double scale)
{
	char name[MAX_FIGURE_KEY];
	double sum = 0;

	for (int i = 0; i < e->stages; i++) {
		double value;

		memcpy(&value, (const char *)first + (size_t)i * size, sizeof value);
		sum += (i + 1) * value;
	}
	snprintf(name, sizeof name, "stages.%s", key);
	figures_add(out, name, sum, scale * e->stages * e->stages);
}

#define STAGES(of, field, scale) \
	add_stages(out, e, #field, &e->of[0].field, sizeof e->of[0], scale)

void figures_stages(struct figures *out, const struct estimate *e)
{
	double bytes = e->memory.total_bytes;

	STAGES(stage, weights_bytes, bytes);
	STAGES(stage, gradients_bytes, bytes);
	STAGES(stage, optimizer_bytes, bytes);
	STAGES(stage, activations_bytes, bytes);
	STAGES(stage, buffers_bytes, bytes);
	STAGES(stage, framework_bytes, bytes);
	STAGES(stage, reserved_bytes, bytes);
	STAGES(stage, kv_bytes, bytes);
	STAGES(stage, host_optimizer_bytes, bytes);
	STAGES(stage, host_activations_bytes, bytes);
	STAGES(stage, in_flight, 1);
	STAGES(stage, parameters, 1);
	STAGES(stage, layers, 1);
}

static void add_stage_times(struct figures *out, const struct estimate *e)
{
	double seconds = e->step_seconds;

	STAGES(stage_time, forward_seconds, seconds);
	STAGES(stage_time, backward_seconds, seconds);
	STAGES(stage_time, busy_seconds, seconds);
	STAGES(stage_time, exposed_seconds, seconds);
	STAGES(stage_time, idle_seconds, seconds);
	STAGES(stage_time, optimizer_seconds, seconds);
	STAGES(stage_time, recompute_seconds, seconds);
}

double figures_word(const char *word)
{
	double sum = 0;

	for (int i = 0; word[i] != '\0'; i++)
		sum += (i + 1) * word[i];
	return sum;
}

void figures_traffic(struct figures *out, const struct traffic *list, int count)
{
	double sum[9] = { 0 };
	static const char *const keys[] = {
		"calls",        "call_bytes",  "sent_bytes", "call_seconds", "pieces",
		"remote_bytes", "total_bytes", "links",      "algorithms"
	};

	for (int i = 0; i < count; i++) {
		const struct traffic *t = &list[i];
		double value[9] = { t->count,
				    t->call_bytes,
				    t->sent_bytes,
				    t->seconds,
				    t->pieces,
				    t->remote_bytes,
				    t->total_bytes,
				    (double)t->ranks * (int)t->link,
				    figures_word(algorithm_name(t->algorithm)) };

		for (int k = 0; k < 9; k++)
			sum[k] += (i + 1) * value[k];
	}
	figures_add(out, "traffic.kinds", count, 0);
	for (int k = 0; k < 9; k++) {
		char key[MAX_FIGURE_KEY];

		snprintf(key, sizeof key, "traffic.%s", keys[k]);
		figures_add(out, key, sum[k], 0);
	}
}

static void add_degrees(struct figures *out, const struct estimate *e)
{
	figures_add(out, "world", (double)e->world, 0);
	figures_add(out, "dp", (double)e->dp, 0);
	figures_add(out, "etp", (double)e->etp, 0);
	figures_add(out, "edp", (double)e->edp, 0);
	figures_add(out, "micro_batches", (double)e->micro_batches, 0);
	figures_add(out, "chunks", (double)e->chunks, 0);
	figures_add(out, "padded_vocab", (double)e->padded_vocab, 0);
	figures_add(out, "stages", e->stages, 0);
	figures_add(out, "fullest_stage", e->fullest_stage, 0);
	figures_add(out, "slowest_stage", e->slowest_stage, 0);
}

void figures_trained(const struct scenario *s, struct figures *out)
{
	static struct estimate e;
	static struct train_chunks chunks;

	train_chunks(s, &e, &chunks);
	out->count = 0;
	figures_say(out, "verdict",
		    !e.legal   ? "illegal"
		    : e.unsure ? "unsure"
		    : e.fits   ? "fits"
			       : "too large");
	figures_findings(out, "problems", &e.problems);
	add_degrees(out, &e);
	if (!e.legal)
		return;
	figures_metrics(out, &e, METRIC_TRAINING);
	figures_add(out, "pipeline_seconds", e.pipeline_seconds, e.step_seconds);
	figures_add(out, "end_idle_seconds", e.end_idle_seconds, e.step_seconds);
	figures_add(out, "send_seconds", chunks.input.send_seconds, 0);
	figures_say(out, "layout", chunks.layout);
	figures_stages(out, &e);
	add_stage_times(out, &e);
	figures_traffic(out, e.traffic, e.traffic_count);
}

void figures_training(const char *title, struct figures *out)
{
	struct scenario s;

	figures_scenario(title, &s);
	figures_trained(&s, out);
}
