/* place.c - which GPUs run which engine. */
#include "engine/rules/legality.h"
#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"

static void pool(const struct server *server, int64_t first, int64_t gpus,
		 struct serve_pool *out)
{
	out->mesh = server->context.mesh;
	out->first = first;
	out->gpus = gpus;
	out->engine = (int64_t)server->context.shape.ranks;
	out->engines = (int64_t)server->engines;
}

int serve_pools(const struct scenario *s, struct serve_pool out[2])
{
	struct serving_run run;
	int64_t decoding = s->cluster.gpus - scenario_prefill_gpus(s);

	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return 0;
	pool(&run.decode, 0, decoding, &out[0]);
	if (!run.apart)
		return 1;
	pool(&run.prefill, decoding, s->cluster.gpus - decoding, &out[1]);
	return 2;
}
