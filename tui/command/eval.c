/* eval.c - one estimate. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/train/train.h"
#include "engine/trust/trust.h"
#include "presets/library.h"
#include "presets/report.h"
#include "tui/command.h"
#include "tui/command/idle.h"
#include "tui/command/simulate.h"

struct asked {
	bool json;
	/* knobs that options set, in their order */
	struct idle_of said; /* options, and a scenario's own file */
	struct start start;
	struct simulation_asked simulation;
};

static bool take_json(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->json = true;
	return true;
}

static bool take_simulate(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->simulation.wanted = true;
	return true;
}

static bool take_trace(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->simulation.trace = value;
	return take_simulate(context, NULL, error);
}

static bool take_lengths(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->simulation.lengths = value;
	return take_simulate(context, NULL, error);
}

/* A whole number of at most `most`, digits alone. */
static bool take_number(const char *name, const char *value, unsigned long long most,
			unsigned long long *out, struct error *error)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	if (errno == 0 && isdigit((unsigned char)*value) && *end == '\0' &&
	    *out <= most)
		return true;
	return error_set(error, NULL, 0,
			 "--%s takes a whole number up to %llu, not '%.40s'", name,
			 most, value);
}

static bool take_requests(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	unsigned long long number;

	if (!take_number("requests", value, 1 << 24, &number, error))
		return false;
	if (number < 1)
		return error_set(error, NULL, 0, "--requests takes a number from 1 on");
	asked->simulation.requests = (int64_t)number;
	return take_simulate(context, NULL, error);
}

static bool take_seed(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	unsigned long long number;

	if (!take_number("seed", value, 1ull << 53, &number, error))
		return false;
	asked->simulation.seed = number;
	return take_simulate(context, NULL, error);
}

static bool note_knob(void *context, const struct knob *knob, const char *text)
{
	struct asked *asked = context;

	(void)text;
	if (simulation_notes(&asked->simulation, knob))
		return true;
	idle_note(&asked->said, knob);
	return false;
}

const struct own_option eval_options[] = {
	{ "json", NULL, "one JSON object", take_json },
	{ "simulate", NULL, "a server request by request: percentiles beside the means",
	  take_simulate },
	{ "trace", "FILE",
	  "simulate the requests of a log: arrivals, prompts and outputs (CSV or JSON lines)",
	  take_trace },
	{ "lengths", "FILE",
	  "take only prompt and output lengths from a log; arrivals follow the knobs",
	  take_lengths },
	{ "requests", "N", "how many requests to simulate", take_requests },
	{ "seed", "N", "seed of the random draws; the same seed gives the same bytes",
	  take_seed },
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

/* What the stack has not: the numbers below are what it would give. */
static void print_lacks(const struct scenario *s)
{
	struct lacks lacks;

	scenario_lacks(s, &lacks);
	for (int i = 0; i < lacks.count; i++) {
		char text[256];

		lack_text(s, &lacks.item[i], text, sizeof text);
		printf("%-6s%s (%s)\n", ability_rule()->code, text,
		       s->stack.abilities.read);
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

struct line {
	const char *label, *key;
};

static void print_lines(const struct estimate *e, const struct line *line, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_metric(e, line[i].label, line[i].key);
}
#define PRINT_LINES(e, lines) print_lines(e, lines, sizeof(lines) / sizeof((lines)[0]))

static void print_host(const struct estimate *e)
{
	char bytes[32], capacity[32] = "an unknown size";

	form_text(FORM_BYTES, e->host_bytes, bytes, sizeof bytes);
	if (e->host_capacity_bytes > 0)
		form_text(FORM_BYTES, e->host_capacity_bytes, capacity,
			  sizeof capacity);
	printf("  %-22s %s of %s, %s\n", "on the host", bytes, capacity,
	       e->host_fits ? "fits" : "DOES NOT FIT");
}

static void print_range(const char *label, enum form form, double low, double high)
{
	char from[32], to[32];

	form_text(form, low, from, sizeof from);
	form_text(form, high, to, sizeof to);
	printf("  %-22s %s to %s\n", label, from, to);
}

static void print_memory(const struct estimate *e, bool serves)
{
	static const struct line trains[] = {
		{ "weights", "weights_bytes" },
		{ "gradients", "gradients_bytes" },
		{ "optimizer", "optimizer_bytes" },
		{ "activations", "activations_bytes" },
		{ "buffers", "buffers_bytes" },
		{ "framework", "framework_bytes" },
	};
	static const struct line served[] = {
		{ "weights", "weights_bytes" },
		{ "KV cache", "kv_bytes" },
		{ "activations", "activations_bytes" },
		{ "buffers", "buffers_bytes" },
		{ "framework", "framework_bytes" },
		{ "headroom", "headroom_bytes" },
		{ "KV cache per token", "kv_bytes_per_token" },
		{ "tokens in the cache", "kv_tokens" },
		{ "room for requests", "max_concurrency" },
	};
	char total[32], capacity[32];

	form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	printf("\nmemory of stage %d: %s of %s, ", e->fullest_stage, total, capacity);
	if (e->unsure)
		printf("unsure, %.0f %%: nobody measured this accelerator\n",
		       e->fit_probability * 100);
	else if (serves)
		puts(estimate_is_too_large(e) ? "DOES NOT FIT" : "fits");
	else
		printf("%s, the chance that it fits is %.0f %%\n",
		       estimate_is_too_large(e) ? "DOES NOT FIT" : "fits",
		       e->fit_probability * 100);
	if (serves)
		PRINT_LINES(e, served);
	else
		PRINT_LINES(e, trains);
	if (!serves)
		print_range("four of five runs", FORM_BYTES, e->memory_low_bytes,
			    e->memory_high_bytes);
	if (e->host_bytes > 0)
		print_host(e);
}

static void print_training(const struct estimate *e)
{
	static const struct line time[] = {
		{ "step", "step_seconds" },
		{ "compute", "compute_seconds" },
		{ "exposed communication", "exposed_seconds" },
		{ "bubble", "bubble_seconds" },
		{ "optimizer", "optimizer_seconds" },
		{ "bubble ratio", "bubble_ratio" },
	};
	static const struct line throughput[] = {
		{ "tokens/s", "tokens_per_second" },
		{ "tokens/s per GPU", "tokens_per_second_per_gpu" },
		{ "TFLOP/s per GPU", "tflops_per_gpu" },
		{ "MFU", "mfu" },
		{ "HFU", "hfu" },
	};
	static const struct line run[] = {
		{ "time", "run_seconds" },
		{ "cost", "run_dollars" },
		{ "energy", "run_joules" },
		{ "CO2", "run_co2_grams" },
		{ "per million", "run_dollars_per_million_tokens" },
		{ "goodput", "goodput" },
	};

	puts("\ntime of a step, mean over the stages");
	PRINT_LINES(e, time);
	print_range("four of five runs", FORM_SECONDS, e->step_low_seconds,
		    e->step_high_seconds);
	puts("\ncommunication of a step");
	print_dimensions(e);
	puts("\nthroughput");
	PRINT_LINES(e, throughput);
	puts("\nthe whole run");
	PRINT_LINES(e, run);
}

static void print_serving(const struct estimate *e)
{
	static const struct line pass[] = {
		{ "a prompt alone", "prefill_seconds" },
		{ "decode pass", "decode_seconds" },
		{ "  compute", "decode_compute_seconds" },
		{ "  memory", "decode_memory_seconds" },
		{ "  network", "decode_network_seconds" },
		{ "  overhead", "decode_overhead_seconds" },
		{ "pass with prompts", "mixed_seconds" },
		{ "time with prompts", "prefill_share" },
	};
	static const struct line throughput[] = {
		{ "output", "output_tokens_per_second" },
		{ "per GPU", "output_tokens_per_second_per_gpu" },
		{ "per user", "output_tokens_per_second_per_user" },
		{ "goodput", "goodput_tokens_per_second" },
		{ "requests per second", "requests_per_second" },
		{ "running", "running" },
		{ "waiting", "waiting" },
		{ "engines", "engines" },
		{ "cost of 1 M tokens", "dollars_per_million_tokens" },
		{ "joules per token", "joules_per_token" },
	};
	const struct serving_estimate *v = &e->serving;

	if (!e->fits)
		return;
	puts("\nlatency, and where four of five measured runs lie");
	print_metric(e, "TTFT", "ttft_seconds");
	print_range("", FORM_SECONDS, v->ttft_low_seconds, v->ttft_high_seconds);
	print_metric(e, "TPOT", "tpot_seconds");
	print_range("", FORM_SECONDS, v->tpot_low_seconds, v->tpot_high_seconds);
	print_metric(e, "per request", "request_seconds");
	printf("\npasses; decoding is bound by %s\n",
	       bound_label((enum bound)v->bound));
	PRINT_LINES(e, pass);
	puts("\ncommunication of a decode pass");
	print_dimensions(e);
	puts("\nthroughput");
	PRINT_LINES(e, throughput);
	print_range("output, 80 %", FORM_RATE, v->output_low, v->output_high);
}

/* An estimate beyond what was measured says where. */
static void print_extrapolation(const struct scenario *s)
{
	struct doubts doubts;
	char text[512];

	bool known = s->plan.mode == MODE_TRAINING || s->stack.serves;

	if (known && trust_of(s, &doubts) != TRUST_MEASURED &&
	    trust_text(s, &doubts, text, sizeof text) > 0)
		printf("beyond what was measured: %s\n", text);
}

/* What an old release of the stack had otherwise. */
static void print_undone(const struct scenario *s)
{
	char text[512];

	library_undone(s->stack.name, text, sizeof text);
	if (text[0] != '\0')
		printf("in that release, not as now: %s\n", text);
}

static void print_text(const struct scenario *s, const struct estimate *e,
		       const struct asked *asked)
{
	bool serves = s->plan.mode == MODE_INFERENCE;

	printf("%s%s on %lld x %s, %s\n", serves ? "serving " : "", s->model.name,
	       (long long)s->cluster.gpus, s->cluster.accelerator.name, s->stack.name);
	print_undone(s);
	command_print_start(&asked->start, s);
	idle_print(&asked->said, s, &e->problems);
	if (s->model.approximate[0] != '\0')
		printf("approximate: %s\n", s->model.approximate);
	print_extrapolation(s);
	print_problems(&e->problems);
	print_lacks(s);
	if (!e->legal)
		return;
	print_memory(e, serves);
	if (serves)
		print_serving(e);
	else
		print_training(e);
	simulation_print(&asked->simulation, s);
}

static int print_eval(const struct scenario *s, const struct estimate *e,
		      const struct asked *asked)
{
	const struct knob *idle[MAX_GIVEN];
	struct cJSON *root;
	char *text;

	if (asked->json) {
		root = report_object(s, e);
		report_start(root, &asked->start, s);
		report_lacks(root, s);
		report_idle(root, idle, idle_list(&asked->said, s, &e->problems, idle));
		if (asked->simulation.done)
			report_simulation(root, s, &asked->simulation.log,
					  &asked->simulation.result,
					  asked->simulation.seed);
		text = report_print(root, false);
		fputs(text ? text : "", stdout);
		free(text);
	} else {
		print_text(s, e, asked);
	}
	/* no server takes a request that its cache can't hold */
	if (asked->simulation.result.oversized > 0)
		return STATUS_NO;
	return e->feasible ? STATUS_GOOD : STATUS_NO;
}

static int evaluate(struct asked *asked, struct scenario *s)
{
	struct estimate *e = malloc(sizeof *e); /* it holds every stage */
	struct error error = { "" };
	int status;

	if (!e || !simulation_read(&asked->simulation, s, &error)) {
		free(e);
		return command_fail(&error);
	}
	scenario_estimate(s, e);
	if (asked->simulation.wanted && !simulation_run(&asked->simulation, s, &error))
		status = command_fail(&error);
	else
		status = command_finish(print_eval(s, e, asked));
	free(e);
	return status;
}

int command_eval(int argc, char **argv)
{
	struct asked asked = { .json = false };
	struct arguments arguments = {
		.context = &asked,
		.start = &asked.start,
		.knob = note_knob,
		.file = asked.said.file,
		.file_size = sizeof asked.said.file,
	};
	struct scenario scenario;
	int status;

	if (!options_read(command_find("eval"), &arguments, argc, argv, &scenario,
			  &status))
		return status;
	status = evaluate(&asked, &scenario);
	simulation_free(&asked.simulation);
	return status;
}
