/* batch.c - how many samples a step has where nobody said it. */
#include <math.h>

#include "engine/model/model.h"
#include "engine/start/parts.h"

/* Tokens of a step by parameters. Up to 13e9: GPT-3 (arXiv 2005.14165), table 2.1;
 * above: Llama 2 (arXiv 2307.09288), section 2.2, all sizes 4 M. */
static const struct {
	double parameters, tokens;
} usual[] = {
	{ 1e9, 0.5e6 },
	{ 3e9, 1e6 },
	{ 10e9, 2e6 },
	{ INFINITY, 4e6 },
};

/* On many accelerators no fewer for each: Llama 3 405B took 16 M tokens on 16384
 * (arXiv 2407.21783, section 3.4.1 and table 4). */
static const double least_tokens_per_gpu = 1024;

/* Training in mixed precision with Adam keeps so many bytes of a parameter: ZeRO
 * (arXiv 1910.02054), section 3.1, and a gradient in fp32. */
static const double bytes_per_parameter = 18;

/* As many as hold the states, a power of two: one replica of the model. */
static int64_t replica(const struct scenario *s, double parameters)
{
	double room = s->cluster.accelerator.usable_bytes, gpus = 1;

	while (gpus < (double)s->cluster.gpus &&
	       gpus * room < bytes_per_parameter * parameters)
		gpus *= 2;
	return (int64_t)gpus;
}

static int64_t usual_samples(const struct scenario *s)
{
	struct model_counts counts;
	double gpus = (double)s->cluster.gpus, tokens, samples;
	int row = 0;

	model_count(&s->model, &counts);
	while (counts.total > usual[row].parameters)
		row++;
	tokens = fmax(usual[row].tokens, least_tokens_per_gpu * gpus);
	samples = round(tokens / (double)s->plan.seq_len);
	/* each replica has one at least */
	return (int64_t)fmax(fmax(samples, 1), gpus / (double)replica(s, counts.total));
}

static int64_t odd_part(int64_t n)
{
	while (n > 1 && n % 2 == 0)
		n /= 2;
	return n;
}

/* The odd part of the world (and of the micro-batch) times a power of two: whatever
 * degrees divide the world leave a DP that divides it. */
void start_batch(struct start *start, struct scenario *s)
{
	double wanted = (double)usual_samples(s), batch;

	batch = (double)(odd_part(s->cluster.gpus) * odd_part(s->plan.micro_batch));
	while (batch * M_SQRT2 < wanted)
		batch *= 2;
	start_set(start, s, "gbs", batch);
}

void start_divide_batch(struct start *start, struct scenario *s)
{
	int64_t dp = scenario_dp(s), part = dp * s->plan.micro_batch;
	int64_t batch = s->plan.global_batch;

	if (part > 0 && batch % part != 0)
		start_set(start, s, "gbs", (double)((batch + part - 1) / part * part));
}
