/* figures.c - means and percentiles of what became of the requests. */
#include <math.h>

#include "engine/queue/queue_parts.h"

static void swap(double *a, double *b)
{
	double c = *a;

	*a = *b;
	*b = c;
}

/* Puts the value of rank k where a sort would, none larger before it, none smaller
 * behind: Hoare 1961, "Algorithm 65: Find". */
static void find_rank(double *v, int n, int k)
{
	int left = 0, right = n - 1;

	while (left < right) {
		double pivot = v[left + (right - left) / 2];
		int i = left, j = right;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j)
				swap(&v[i++], &v[j--]);
		}
		if (j < k)
			left = i;
		if (i > k)
			right = j;
	}
}

/* Linear between neighbours. */
static double quantile(double *v, int n, double q)
{
	double at = q * (n - 1), next;
	int low = (int)at;

	find_rank(v, n, low);
	if (low + 1 >= n)
		return v[n - 1];
	next = v[low + 1];
	for (int i = low + 2; i < n; i++)
		next = fmin(next, v[i]);
	return v[low] + (at - low) * (next - v[low]);
}

static const double slowest = 0.99;

int figures_too_many(int n)
{
	return n - (int)(slowest * (n - 1));
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
	out->p50 = quantile(times, n, 0.5);
	out->p90 = quantile(times, n, 0.9);
	out->p99 = quantile(times, n, slowest);
}

double figures_tpot(const struct request *r)
{
	return r->output > 1 ? (r->end - r->first) / (r->output - 1) : 0;
}

static void keep_goals(const struct queue_system *s, const struct request *r,
		       struct queue_result *out)
{
	bool first = s->goal_ttft <= 0 || r->first - r->arrival <= s->goal_ttft;
	bool others = s->goal_tpot <= 0 || figures_tpot(r) <= s->goal_tpot;

	out->within_ttft += first;
	out->within_tpot += others;
	out->within_goals += first && others;
}

/* What a request takes of a cache at its end, over that of a server that decodes. */
static bool is_oversized(const struct queue_pool *pool, const struct request *r)
{
	return r->prompt - pool->cached + r->output > pool->room;
}

static void sum_requests(const struct simulation *s, struct queue_result *out)
{
	double begin = s->request[0].arrival, end = 0, inside = 0;
	int n = s->load->requests;

	for (int i = 0; i < n; i++) {
		const struct request *r = &s->request[i];

		out->prompt_tokens += r->prompt;
		out->output_tokens += r->output;
		out->cached_tokens +=
			fmin(r->prompt - 1, s->system->pool.cached + r->cached);
		out->oversized += is_oversized(&s->system->pool, r);
		inside += r->end - r->arrival;
		keep_goals(s->system, r, out);
		end = fmax(end, r->end);
	}
	out->seconds = end - begin;
	out->running = out->seconds > 0 ? inside / out->seconds : 0;
	out->within_goals /= n;
	out->within_ttft /= n;
	out->within_tpot /= n;
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
			scratch[several++] = figures_tpot(&s->request[i]);
	sum_times(scratch, several, &out->tpot);
}
