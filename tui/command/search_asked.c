/* search_asked.c - the options of `search`. */
#include "tui/command/search_asked.h"

#include <stdlib.h>
#include <string.h>

#include "engine/trust/trust.h"

bool search_take_knob(void *context, const struct knob *knob, const char *text)
{
	struct asked *asked = context;

	if (asked->pins == MAX_PINS)
		return false;
	asked->pin[asked->pins].knob = knob;
	asked->pin[asked->pins++].text = text;
	return true;
}

static bool take_count(const char *name, const char *value, int most, int *out,
		       struct error *error)
{
	char *end;
	long count = strtol(value, &end, 10);

	*out = (int)count;
	return (end != value && *end == '\0' && count >= 1 && count <= most) ||
	       error_set(error, NULL, 0, "--%s %.40s: expected 1 to %d", name, value,
			 most);
}

static bool take_top(void *context, const char *value, struct error *error)
{
	return take_count("top", value, MAX_TOP, &((struct asked *)context)->top,
			  error);
}

static bool take_threads(void *context, const char *value, struct error *error)
{
	return take_count("threads", value, 32, &((struct asked *)context)->threads,
			  error);
}

static bool take_objective(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->objective = objective_find(value);
	asked->has_objective = true;
	return asked->objective != OBJECTIVE_COUNT ||
	       error_set(error, NULL, 0,
			 "--objective %.40s: expected step, "
			 "throughput, cost, memory, gpus or sure",
			 value);
}

static bool take_reserve(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	char *end;

	asked->reserve = strtod(value, &end);
	return (end != value && *end == '\0' && asked->reserve >= 0 &&
		asked->reserve < 1) ||
	       error_set(error, NULL, 0, "--reserve %.40s: expected a share, as 0.05",
			 value);
}

static bool take_deadline(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->deadline_seconds = inverse_deadline(value);
	return asked->deadline_seconds > 0 ||
	       error_set(error, NULL, 0,
			 "--deadline %.40s: expected days or hours, as 30d or 72h",
			 value);
}

static bool take_trust(void *context, const char *value, struct error *error)
{
	enum trust level = trust_find(value);

	((struct asked *)context)->trust = 1 + (int)level;
	return level != TRUST_COUNT ||
	       error_set(error, NULL, 0,
			 "--trust %.40s: expected measured, published or open", value);
}

static bool take_ask(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	enum inverse_kind kind = inverse_find(value);

	if (kind == INVERSE_COUNT)
		return error_set(error, NULL, 0,
				 "--ask %.40s: expected gpus, mbs, seq or model",
				 value);
	asked->ask[kind] = true;
	return true;
}

static bool take_front(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->front = pareto_find(value);
	return asked->front != PARETO_COUNT ||
	       error_set(error, NULL, 0,
			 "--pareto %.40s: expected memory, gpus or users", value);
}

static bool take_certificate(void *context, const char *value, struct error *error)
{
	((struct asked *)context)->certificate = value;
	return value[0] != '\0' ||
	       error_set(error, NULL, 0, "--certificate: expected a file to write to");
}

TAKE_SWITCH(struct asked, robust)
TAKE_SWITCH(struct asked, why)
TAKE_SWITCH(struct asked, json)
TAKE_SWITCH(struct asked, exhaustive)
TAKE_SWITCH(struct asked, research)

const struct own_option search_options[] = {
	{ "top", "N", "how many of the best plans to show (10)", take_top },
	{ "objective", "step|throughput|cost|memory|gpus|sure",
	  "step (default), throughput, cost of the run, memory (headroom), gpus: the "
	  "fewest that hold it, or sure: the step at the pessimistic end of its range",
	  take_objective },
	{ "deadline", "DAYS", "with gpus: the fewest that end the run in DAYS or 72h",
	  take_deadline },
	{ "reserve", "SHARE", "share of the memory to leave free (0.05)",
	  take_reserve },
	{ "ask", "gpus|mbs|seq|model",
	  "the smallest cluster (gpus), the largest micro-batch (mbs), the longest "
	  "sequence (seq) or the largest model of this shape (model) that fits",
	  take_ask },
	{ "pareto", "memory|gpus|users",
	  "plans that no other beats in both throughput and memory, GPUs or, of "
	  "servers, speed for each user",
	  take_front },
	{ "robust", NULL,
	  "rank the ten best plans again with the network, matrix products (GEMMs) or "
	  "memory 10 % worse",
	  take_robust },
	{ "why", NULL, "which changes to the scenario's own plan gain most", take_why },
	{ "exhaustive", NULL, "estimate every plan; this finds the same best plan",
	  take_exhaustive },
	{ "trust", "measured|published|open",
	  "how well known a plan has to be: measured on this stack, used in a "
	  "published plan (default), or any (open)",
	  take_trust },
	{ "research", NULL,
	  "also propose what nobody ran on this stack, and what the stack lacks",
	  take_research },
	{ "certificate", "FILE", "write the proof to FILE, for shardscope verify",
	  take_certificate },
	{ "threads", "N", "how many threads at most (default: all processors)",
	  take_threads },
	{ "json", NULL, "one JSON object", take_json },
	{ NULL, NULL, NULL, NULL },
};
