/* load.c - lengths and arrivals of a load, drawn from a seed. */
#include <math.h>

#include "engine/queue/queue_parts.h"

/* Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"
 * (SplitMix64). */
static uint64_t next_bits(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Above 0, below 1. */
static double uniform(uint64_t *state)
{
	return ((double)(next_bits(state) >> 11) + 0.5) * 0x1p-53;
}

/* Marsaglia and Bray 1964, the polar method. */
static double normal(uint64_t *state)
{
	for (;;) {
		double x = 2 * uniform(state) - 1, y = 2 * uniform(state) - 1;
		double r = x * x + y * y;

		if (r < 1)
			return x * sqrt(-2 * log(r) / r);
	}
}

/* Of that shape, mean 1: Marsaglia and Tsang 2000, "A simple method for generating
 * gamma variables"; below 1 with their boost. */
static double gamma_drawn(uint64_t *state, double shape)
{
	double boost = shape < 1 ? pow(uniform(state), 1 / shape) : 1;
	double k = shape < 1 ? shape + 1 : shape, d = k - 1.0 / 3;

	for (;;) {
		double x = normal(state), v = 1 + x / sqrt(9 * d);

		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(uniform(state)) < x * x / 2 + d - d * v + d * log(v))
			return boost * d * v / shape;
	}
}

static double gap(const struct queue_load *load, uint64_t *state)
{
	switch (load->arrivals) {
	case ARRIVE_POISSON: return -log(uniform(state)) / load->rate;
	case ARRIVE_BURSTY:
		return gamma_drawn(state, 1 / (load->burst * load->burst)) / load->rate;
	default: return 1 / load->rate;
	}
}

static int32_t length(const struct queue_load *load, double nominal, uint64_t *state)
{
	double tokens = nominal;

	if (load->spread > 0 && load->lengths == LENGTHS_EVEN) {
		tokens = nominal * (1 + load->spread * (2 * uniform(state) - 1));
	} else if (load->spread > 0) {
		/* a lognormal's mean is exp(mu + sigma^2 / 2) */
		double variance = log1p(load->spread * load->spread);

		tokens = nominal * exp(sqrt(variance) * normal(state) - variance / 2);
	}
	return (int32_t)fmin(fmax(1, tokens + 0.5), 1e9);
}

void load_draw(const struct queue_load *load, struct request *out)
{
	uint64_t lengths = load->seed, arrivals = load->seed ^ 0x5851f42d4c957f2d;
	double now = 0;

	for (int i = 0; i < load->requests; i++) {
		out[i] = (struct request){ .first = -1,
					   .next = NOBODY,
					   .before = NOBODY };
		if (load->lengths == LENGTHS_LISTED) {
			const struct queue_item *item = &load->list[i % load->listed];

			out[i].prompt = item->prompt;
			out[i].output = item->output;
			out[i].cached = item->cached;
		} else {
			out[i].prompt = length(load, load->prompt, &lengths);
			out[i].output = length(load, load->output, &lengths);
		}
		if (load->arrivals == ARRIVE_LISTED)
			out[i].arrival = load->list[i].arrival;
		else if (load->arrivals != ARRIVE_CLOSED)
			out[i].arrival = now += gap(load, &arrivals);
	}
}
