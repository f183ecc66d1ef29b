/* eval.c - one estimate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice.h"
#include "engine/knob.h"
#include "engine/train.h"
#include "presets/report.h"
#include "tui/command.h"

struct asked {
	bool json;
};

static bool take_json(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->json = true;
	return true;
}

const struct own_option eval_options[] = {
	{ "json", NULL, "one JSON object", take_json },
	{ NULL, NULL, NULL, NULL },
};

static void print_metric(const struct estimate *e, const char *label, const char *key)
{
	const struct metric *metric = metric_find(key);
	char text[64];

	form_text(metric->form, metric_get(e, metric), text, sizeof text);
	printf("  %-22s %s\n", label, text);
}

static void print_problems(const struct findings *problems)
{
	for (int i = 0; i < problems->count; i++) {
		const struct finding *f = &problems->item[i];
		char text[320], remedy[128];

		finding_text(f, text, sizeof text);
		printf("%-6s%s", f->rule->code, text);
		if (finding_remedy(f, remedy, sizeof remedy) > 0)
			printf("; try %s", remedy);
		putchar('\n');
	}
}

static void print_dimensions(const struct estimate *e)
{
	bool any = false;

	for (int d = 0; d < DIM_COUNT; d++) {
		char bytes[32], seconds[32], exposed[32];

		if (e->cost[d].bytes <= 0)
			continue;
		any = true;
		form_text(FORM_TRAFFIC, e->cost[d].bytes, bytes, sizeof bytes);
		form_text(FORM_SECONDS, e->cost[d].seconds, seconds, sizeof seconds);
		form_text(FORM_SECONDS, e->cost[d].exposed_seconds, exposed,
			  sizeof exposed);
		printf("  %-22s %s sent per GPU, %s, of it %s exposed\n",
		       dimension_label((enum dimension)d), bytes, seconds, exposed);
	}
	if (!any)
		puts("  none: one GPU holds it all");
}

static void print_text(const struct scenario *s, const struct estimate *e)
{
	char total[32], capacity[32];

	printf("%s on %lld x %s, %s\n", s->model.name, (long long)s->cluster.gpus,
	       s->cluster.accelerator.name, s->stack.name);
	if (s->model.approximate[0] != '\0')
		printf("approximate: %s\n", s->model.approximate);
	print_problems(&e->problems);
	if (!e->legal)
		return;
	form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	printf("\nmemory of stage %d: %s of %s, %s\n", e->fullest_stage, total,
	       capacity, e->fits ? "fits" : "DOES NOT FIT");
	print_metric(e, "weights", "weights_bytes");
	print_metric(e, "gradients", "gradients_bytes");
	print_metric(e, "optimizer", "optimizer_bytes");
	print_metric(e, "activations", "activations_bytes");
	print_metric(e, "buffers", "buffers_bytes");
	print_metric(e, "framework", "framework_bytes");
	puts("\ntime of a step, mean over the stages");
	print_metric(e, "step", "step_seconds");
	print_metric(e, "compute", "compute_seconds");
	print_metric(e, "exposed communication", "exposed_seconds");
	print_metric(e, "bubble", "bubble_seconds");
	print_metric(e, "optimizer", "optimizer_seconds");
	print_metric(e, "bubble ratio", "bubble_ratio");
	puts("\ncommunication of a step");
	print_dimensions(e);
	puts("\nthroughput");
	print_metric(e, "tokens/s", "tokens_per_second");
	print_metric(e, "tokens/s per GPU", "tokens_per_second_per_gpu");
	print_metric(e, "TFLOP/s per GPU", "tflops_per_gpu");
	print_metric(e, "MFU", "mfu");
	print_metric(e, "HFU", "hfu");
	puts("\nthe whole run");
	print_metric(e, "time", "run_seconds");
	print_metric(e, "cost", "run_dollars");
	print_metric(e, "energy", "run_joules");
	print_metric(e, "goodput", "goodput");
}

static int print_eval(const struct scenario *s, const struct estimate *e, bool json)
{
	char *text;

	if (json) {
		text = report_json(s, e);
		fputs(text ? text : "", stdout);
		free(text);
	} else {
		print_text(s, e);
	}
	return e->feasible ? STATUS_GOOD : STATUS_NO;
}

int command_eval(int argc, char **argv)
{
	struct asked asked = { false };
	struct arguments arguments = {
		.context = &asked,
	};
	struct scenario scenario;
	struct estimate *e;
	int status;

	if (!options_read(command_find("eval"), &arguments, argc, argv, &scenario,
			  &status))
		return status;
	e = malloc(sizeof *e); /* it holds every stage */
	if (!e)
		return command_fail(&(struct error){ "" });
	scenario_estimate(&scenario, e);
	status = command_finish(print_eval(&scenario, e, asked.json));
	free(e);
	return status;
}
