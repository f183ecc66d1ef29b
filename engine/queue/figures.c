/* figures.c - means and percentiles of what became of the requests. */
#include <math.h>
#include <stdlib.h>

#include "engine/queue/queue_parts.h"

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Linear between neighbours. */
static double quantile(const double *sorted, int n, double q)
{
	double at = q * (n - 1);
	int low = (int)at;
	double beyond = at - low;

	return low + 1 < n ? sorted[low] + beyond * (sorted[low + 1] - sorted[low])
			   : sorted[n - 1];
}

static void sum_times(double *times, int n, struct queue_times *out)
{
	double sum = 0;

	*out = (struct queue_times){ 0 };
	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
		sum += times[i];
	out->mean = sum / n;
	qsort(times, (size_t)n, sizeof *times, by_size);
	out->p50 = quantile(times, n, 0.5);
	out->p90 = quantile(times, n, 0.9);
	out->p99 = quantile(times, n, 0.99);
}

static double tpot_of(const struct request *r)
{
	return r->output > 1 ? (r->end - r->first) / (r->output - 1) : 0;
}

static bool keeps_goals(const struct queue_system *s, const struct request *r)
{
	return (s->goal_ttft <= 0 || r->first - r->arrival <= s->goal_ttft) &&
	       (s->goal_tpot <= 0 || tpot_of(r) <= s->goal_tpot);
}

static void sum_requests(const struct simulation *s, struct queue_result *out)
{
	double begin = s->request[0].arrival, end = 0, inside = 0, kept = 0;

	for (int i = 0; i < s->load->requests; i++) {
		const struct request *r = &s->request[i];

		out->prompt_tokens += r->prompt;
		out->output_tokens += r->output;
		inside += r->end - r->arrival;
		kept += keeps_goals(s->system, r);
		end = fmax(end, r->end);
	}
	out->seconds = end - begin;
	out->running = out->seconds > 0 ? inside / out->seconds : 0;
	out->within_goals = kept / s->load->requests;
}

void figures_sum(const struct simulation *s, double *scratch)
{
	struct queue_result *out = s->out;
	int n = s->load->requests, several = 0;

	out->requests = n;
	sum_requests(s, out);
	for (int i = 0; i < n; i++)
		scratch[i] = s->request[i].first - s->request[i].arrival;
	sum_times(scratch, n, &out->ttft);
	for (int i = 0; i < n; i++)
		scratch[i] = s->request[i].end - s->request[i].arrival;
	sum_times(scratch, n, &out->request);
	for (int i = 0; i < n; i++)
		if (s->request[i].output > 1)
			scratch[several++] = tpot_of(&s->request[i]);
	sum_times(scratch, several, &out->tpot);
}
