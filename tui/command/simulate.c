/* simulate.c - see simulate.h. */
#include "tui/command/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/form.h"
#include "engine/knob/knob.h"
#include "tui/command.h"

/* Knobs that a file speaks of, the first ones of lengths alone. */
static const char *const spoken[] = { "prompt",        "output",      "length_shape",
				      "length_spread", "concurrency", "request_rate",
				      "arrival_scv" };
enum { LENGTHS_SPOKEN = 4, SPOKEN = sizeof spoken / sizeof spoken[0] };

bool simulation_notes(struct simulation_asked *asked, const struct knob *knob)
{
	for (int i = 0; i < SPOKEN; i++)
		if (strcmp(knob->key, spoken[i]) == 0)
			asked->given |= 1u << i;
	return false;
}

static bool contradicts(const struct simulation_asked *asked, struct error *error)
{
	int most = asked->trace ? SPOKEN : LENGTHS_SPOKEN;

	for (int i = 0; i < most; i++) {
		if (!(asked->given >> i & 1))
			continue;
		error_set(error, NULL, 0,
			  "--%s and %.200s both say %s; leave one out%s", spoken[i],
			  asked->trace ? asked->trace : asked->lengths,
			  i < LENGTHS_SPOKEN ? "how long requests are"
					     : "when requests come",
			  i < LENGTHS_SPOKEN ? "" : ", or take its --lengths alone");
		return true;
	}
	return false;
}

/* The estimate beside it is of the mean request, at the mean rate. */
static void take_means(const struct simulation_asked *asked, struct scenario *s)
{
	const struct request_log *log = &asked->log;
	struct serving_plan *v = &s->plan.serving;

	v->prompt_len = (int64_t)fmax(1, round(log->prompt));
	v->output_len = (int64_t)fmax(1, round(log->output));
	v->length_spread = 0;
	if (!asked->trace)
		return;
	v->request_rate = log->seconds > 0 ? (log->count - 1) / log->seconds : 0;
	if (log->seconds <= 0)
		v->concurrency = log->count;
}

bool simulation_read(struct simulation_asked *asked, struct scenario *s,
		     struct error *error)
{
	const char *path = asked->trace ? asked->trace : asked->lengths;
	int most = asked->trace ? (int)asked->requests : 0;

	if (asked->wanted && s->plan.mode != MODE_INFERENCE)
		return error_set(error, NULL, 0,
				 "only a server has requests; add --mode inference");
	if (!path)
		return true;
	if (asked->trace && asked->lengths)
		return error_set(error, NULL, 0,
				 "--trace and --lengths both say how long requests "
				 "are; leave one out");
	if (contradicts(asked, error) || !requests_read(&asked->log, path, most, error))
		return false;
	if (asked->trace && !asked->log.arrives)
		return error_set(error, asked->log.file, 1,
				 "no column of arrivals, such as arrival_seconds; "
				 "--lengths takes a file without");
	if (asked->trace && asked->log.count < asked->requests)
		return error_set(error, asked->log.file, 0,
				 "%d requests with an output, and --requests asks for "
				 "%lld",
				 asked->log.count, (long long)asked->requests);
	take_means(asked, s);
	return true;
}

struct listener {
	struct progress progress;
	double requests;
};

static void tell(void *context, int done)
{
	struct listener *l = context;

	if (progress_is_due(&l->progress))
		progress_show(&l->progress, done / l->requests, "%d of %.0f requests",
			      done, l->requests);
}

/* Hits of the prefix cache are the file's where there is one. */
static void drop_prefixes(struct simulation_asked *asked, const struct scenario *s)
{
	if (s->plan.serving.prefix_cache)
		return;
	for (int i = 0; i < asked->log.count; i++)
		asked->log.item[i].cached = 0;
}

bool simulation_run(struct simulation_asked *asked, const struct scenario *s,
		    struct error *error)
{
	struct listener listener;
	struct serve_load load = {
		.requests = (int)asked->requests,
		.seed = asked->seed,
		.list = asked->log.item,
		.listed = asked->log.count,
		.lengths_only = !asked->trace,
		.tell = tell,
		.listener = &listener,
	};
	struct arena arena = { 0 };

	drop_prefixes(asked, s);
	listener.requests = (double)serve_simulated_requests(s, &load);
	arena.size = serve_simulation_bytes(s, &load);
	if (arena.size == 0)
		return true;
	arena.base = malloc(arena.size);
	if (!arena.base)
		return error_set(error, NULL, 0,
				 "no memory for so many requests; --requests N asks "
				 "for fewer");
	progress_begin(&listener.progress);
	asked->done = serve_simulate(s, &load, &arena, &asked->result);
	progress_end(&listener.progress);
	free(arena.base);
	return true;
}

void simulation_free(struct simulation_asked *asked)
{
	requests_free(&asked->log);
}

/* --- as text --- */

static void print_times(const char *label, const struct queue_times *times)
{
	const double value[] = { times->mean, times->p50, times->p90, times->p99 };

	printf("  %-22s", label);
	for (int i = 0; i < 4; i++) {
		char text[32];

		form_text(FORM_SECONDS, value[i], text, sizeof text);
		printf(" %10s", text);
	}
	putchar('\n');
}

static void print_number(const char *label, enum form form, double value)
{
	char text[32];

	form_text(form, value, text, sizeof text);
	printf("  %-22s %10s\n", label, text);
}

static const char *arrivals(const struct simulation_asked *asked,
			    const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	if (asked->trace)
		return "as listed";
	if (v->request_rate <= 0)
		return "a closed loop that begins as a burst";
	if (v->arrival_scv <= 0)
		return "evenly";
	return v->arrival_scv == 1 ? "Poisson" : "in bursts";
}

static void print_goals(const struct scenario *s, const struct queue_result *r)
{
	const struct serving_plan *v = &s->plan.serving;

	if (v->goal_ttft_seconds > 0)
		print_number("within goal TTFT", FORM_PERCENT, r->within_ttft);
	if (v->goal_tpot_seconds > 0)
		print_number("within goal TPOT", FORM_PERCENT, r->within_tpot);
	if (v->goal_ttft_seconds > 0 && v->goal_tpot_seconds > 0)
		print_number("within both goals", FORM_PERCENT, r->within_goals);
}

static void print_log(const struct request_log *log, int64_t positions)
{
	int beyond = requests_beyond(log, positions);

	if (log->left_out > 0)
		printf("  left out: %d without prompt or output\n", log->left_out);
	if (log->count > 0)
		printf("  longest: %lld tokens, line %ld\n", (long long)log->longest,
		       log->longest_line);
	if (beyond > 0)
		printf("  longer than the model's %lld positions: %d, which a server "
		       "refuses and these figures serve\n",
		       (long long)positions, beyond);
}

static void print_rest(const struct simulation_asked *asked, const struct scenario *s)
{
	const struct queue_result *r = &asked->result;
	struct serve_yield yield;

	serve_yield(s, r, &yield);
	print_number("requests per second", FORM_REAL, yield.requests_per_second);
	print_number("output", FORM_RATE, yield.output_tokens_per_second);
	print_number("in the server", FORM_REAL, r->running);
	print_number("cost of 1 M tokens", FORM_DOLLARS,
		     yield.dollars_per_million_tokens);
	if (r->cached_tokens > 0)
		print_number("from prefix cache", FORM_PERCENT,
			     r->cached_tokens / r->prompt_tokens);
	if (r->fetched_tokens > 0)
		print_number("from the host", FORM_PERCENT,
			     r->fetched_tokens / r->prompt_tokens);
	if (r->preempted > 0)
		print_number("caches taken back", FORM_COUNT, r->preempted);
	if (r->oversized > 0)
		printf("  %d requests are larger than the whole cache of a server\n",
		       r->oversized);
}

void simulation_print(const struct simulation_asked *asked, const struct scenario *s)
{
	const struct queue_result *r = &asked->result;
	char span[32];

	if (!asked->done)
		return;
	form_text(FORM_SECONDS, r->seconds, span, sizeof span);
	printf("\nsimulated: %d requests in %s, arrivals %s, seed %llu\n", r->requests,
	       span, arrivals(asked, s), (unsigned long long)asked->seed);
	print_log(&asked->log, s->model.max_positions);
	printf("  %-22s %10s %10s %10s %10s\n", "", "mean", "P50", "P90", "P99");
	print_times("TTFT", &r->ttft);
	print_times("TPOT", &r->tpot);
	print_times("a request", &r->request);
	print_goals(s, r);
	print_rest(asked, s);
}
