/* machine.c - how many accelerators a model gets where nobody said it: whole nodes. */
#include "engine/serve/pass.h"
#include "engine/start/parts.h"
#include "engine/train/states.h"

/* Of the memory, the most that is filled by what a run holds by definition. Training
 * leaves half for activations, buffers and the framework; a server a quarter for keys
 * and values (DeepSeek-V3 in fp8 is served from 16 GPUs of 80 GB, Llama 3.1 405B from 8
 * of 141: their model cards). */
static const double most_of_training = 0.5, most_of_server = 0.75;

/* Bytes that one replica holds, wherever they lie. */
static double replica_bytes(const struct scenario *s)
{
	const struct shards whole = { 1, 1, false };
	struct model_counts counts;
	struct states each;

	model_count(&s->model, &counts);
	if (s->plan.mode == MODE_INFERENCE)
		return counts.total * serve_weight_bytes(s) / most_of_server;
	states_bytes(s, &whole, &each);
	/* adapters are small beside what they adapt */
	if (s->plan.lora_rank > 0)
		return counts.total * each.dense.weight / most_of_training;
	return counts.total *
	       (each.dense.weight + each.dense.gradient + each.dense.optimizer) /
	       most_of_training;
}

enum { MOST = 1 << 20 }; /* of the knob */

static int64_t common_multiple(int64_t a, int64_t b)
{
	int64_t x = a, y = b;

	while (y > 0) {
		int64_t rest = x % y;

		x = y;
		y = rest;
	}
	return a / x * b;
}

/* Degrees that were given are of so many. */
static int64_t given_degrees(const struct start *start, const struct scenario *s)
{
	static const char *const keys[] = { "tp", "pp", "cp" };
	int64_t product = 1;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (start_is_given(start, keys[i]))
			product *= (int64_t)knob_get(s, knob_find(keys[i]));
	if (start_is_given(start, "ep"))
		product = common_multiple(
			product,
			s->plan.ep * (start_is_given(start, "pp") ? s->plan.pp : 1));
	return product;
}

int64_t start_gpus(const struct start *start, const struct scenario *s)
{
	double room = s->cluster.accelerator.usable_bytes, bytes = replica_bytes(s);
	int64_t node = s->cluster.gpus_per_node > 0 ? s->cluster.gpus_per_node : 1;
	int64_t gpus = common_multiple(node, given_degrees(start, s));

	while (gpus <= MOST / 2 && (double)gpus * room < bytes)
		gpus *= 2;
	return gpus;
}
