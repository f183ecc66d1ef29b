/* objective.c - see objective.h. */
#include "engine/predict/objective.h"

#include <string.h>

static const char *const objectives[OBJECTIVE_COUNT] = {
	"step", "throughput", "cost", "memory", "gpus", "sure"
};

const char *objective_word(enum objective objective)
{
	return (unsigned)objective < OBJECTIVE_COUNT ? objectives[objective] : "";
}

enum objective objective_find(const char *word)
{
	int i = 0;

	while (i < OBJECTIVE_COUNT && strcmp(objectives[i], word) != 0)
		i++;
	return (enum objective)i;
}

double objective_of_step(enum objective objective, const struct scenario *s,
			 double seconds, double bytes)
{
	double gpus = (double)s->cluster.gpus;
	double tokens = (double)s->plan.global_batch * (double)s->plan.seq_len;

	switch (objective) {
	case OBJECTIVE_THROUGHPUT: return seconds * gpus / tokens;
	case OBJECTIVE_COST:
		return s->plan.tokens / tokens * seconds * gpus / 3600 *
		       s->cluster.price_per_gpu_hour;
	case OBJECTIVE_MEMORY: return bytes;
	case OBJECTIVE_GPUS: return gpus * 1e6 + seconds;
	default: return seconds;
	}
}

double objective_room(const struct scenario *s, double reserve)
{
	const struct accelerator *a = &s->cluster.accelerator;

	return (a->usable_bytes > 0 ? a->usable_bytes : a->memory_bytes) *
	       (1 - reserve);
}
