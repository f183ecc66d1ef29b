/* benchmark.c - scenarios of llm-d's benchmark as the script that their pools run.
 *
 * Keys: scenario, common.model, modelservice, decode, prefill and standalone of
 * llm-d/llm-d-benchmark (config/scenarios); what they are in the environment of a
 * pool, and what is so where one is absent: config/templates/jinja/_macros.j2 and
 * config/templates/values/defaults.yaml there.
 */
#include "presets/serving/benchmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/serving/chart.h"
#include "presets/serving/tool.h"
#include "presets/stream.h"

struct pools {
	FILE *out;
	int line;
	const struct node *common, *model; /* of the scenario */
	bool several;                      /* one of them only prefills */
};

/* A mapping's member that is a mapping; NULL. */
static const struct node *map_of(const struct node *node, const char *key)
{
	const struct node *found =
		node && node->kind == NODE_MAP ? node_get(node, key) : NULL;

	return found && found->kind == NODE_MAP ? found : NULL;
}

static void set(const struct pools *p, const char *name, const char *value)
{
	fprintf(p->out, "%s='", name);
	for (; *value != '\0'; value++)
		if (*value != '\'' && *value != '\n')
			fputc(*value, p->out);
	fputs("'; ", p->out);
}

/* What the template of a pool has in its environment. */
static void put_environment(const struct pools *p, const struct node *pool)
{
	static const struct {
		const char *name, *key, *absent;
	} of_model[] = {
		{ "VLLM_MAX_MODEL_LEN", "maxModelLen", "16384" },
		{ "VLLM_BLOCK_SIZE", "blockSize", "64" },
		{ "VLLM_ACCELERATOR_MEM_UTIL", "gpuMemoryUtilization", "0.95" },
		{ "VLLM_MAX_NUM_SEQ", "maxNumSeq", "256" },
		{ "VLLM_MAX_NUM_BATCHED_TOKENS", "maxNumBatchedTokens", "256" },
	}, of_split[] = {
		{ "TP_SIZE", "tensor", "1" },
		{ "DP_SIZE", "data", "1" },
		{ "DP_SIZE_LOCAL", "dataLocal", "1" },
		{ "LWS_GROUP_SIZE", "workers", "1" },
	};
	const struct node *common = map_of(p->common, "vllmCommon"),
			  *split = map_of(pool, "parallelism");

	for (size_t i = 0; i < sizeof of_model / sizeof of_model[0]; i++) {
		const char *own = scalar_of(p->model, of_model[i].key);

		own = own ? own : scalar_of(common, of_model[i].key);
		set(p, of_model[i].name, own ? own : of_model[i].absent);
	}
	for (size_t i = 0; i < sizeof of_split / sizeof of_split[0]; i++) {
		const char *own = scalar_of(split, of_split[i].key);

		set(p, of_split[i].name, own ? own : of_split[i].absent);
	}
}

/* What the benchmark's own command says by switches (_macros.j2): eager kernels unless
 * they are switched off. */
static const char *switches_of(const struct pools *p)
{
	const struct node *flags = map_of(map_of(p->common, "vllmCommon"), "flags");
	const char *eager = scalar_of(flags, "enforceEager"),
		   *none = scalar_of(flags, "noPrefixCaching");
	bool graphs = eager && strcmp(eager, "false") == 0;
	bool cold = none && strcmp(none, "true") == 0;

	return graphs ? cold ? " --no-enable-prefix-caching" : ""
	       : cold ? " --enforce-eager --no-enable-prefix-caching"
		      : " --enforce-eager";
}

static void put_pool(struct pools *p, const struct node *pool, enum role role)
{
	const struct node *engine = map_of(pool, "vllm");
	const char *command = scalar_of(engine, "customCommand"),
		   *copies = scalar_of(pool, "replicas"),
		   *id = scalar_of(p->model, "huggingfaceId");
	long count = copies ? strtol(copies, NULL, 10) : 1;

	id = id ? id : scalar_of(p->model, "name");
	if (!pool || count < 1 || !id)
		return;
	for (; p->line < place_line(pool->line); p->line++)
		fputc('\n', p->out);
	fprintf(p->out, MANIFEST_MARK " %ld %d; ",
		count > MANIFEST_REPLICAS ? (long)MANIFEST_REPLICAS : count,
		p->several ? (int)role : (int)ROLE_BOTH);
	set(p, "MODEL_NAME", id);
	set(p, "MODEL_PATH", id);
	put_environment(p, pool);
	fprintf(p->out, "%s%s\n",
		command ? command
			: "vllm serve $MODEL_PATH --max-model-len $VLLM_MAX_MODEL_LEN "
			  "--block-size $VLLM_BLOCK_SIZE --gpu-memory-utilization "
			  "$VLLM_ACCELERATOR_MEM_UTIL --tensor-parallel-size $TP_SIZE",
		command ? "" : switches_of(p));
	p->line++;
	for (; command && *command != '\0'; command++)
		p->line += *command == '\n';
}

static bool is_on(const struct node *part)
{
	const char *on = scalar_of(part, "enabled"),
		   *copies = scalar_of(part, "replicas");

	return part && (!on || strcmp(on, "false") != 0) &&
	       (!copies || strcmp(copies, "0") != 0);
}

/* Pools stand in modelservice or beside it. */
static const struct node *pool_of(const struct node *scenario, const char *key)
{
	const struct node *inside = map_of(map_of(scenario, "modelservice"), key);

	return inside ? inside : map_of(scenario, key);
}

static void put_scenario(struct pools *p, const struct node *scenario)
{
	const struct node *alone = map_of(scenario, "standalone"),
			  *decode = pool_of(scenario, "decode"),
			  *prefill = pool_of(scenario, "prefill");
	const char *on = scalar_of(alone, "enabled");

	p->common = map_of(scenario, "common");
	p->model = map_of(p->common, "model");
	if (!p->model)
		return;
	if (on && strcmp(on, "true") == 0) {
		p->several = false;
		put_pool(p, alone, ROLE_BOTH);
		return;
	}
	p->several = is_on(prefill);
	if (p->several)
		put_pool(p, prefill, ROLE_PREFILL);
	if (!decode || is_on(decode))
		put_pool(p, decode ? decode : scenario, ROLE_DECODE);
}

char *benchmark_script(const struct node *root)
{
	struct pools p = { .line = 1 };
	char *script = NULL;
	size_t size;

	p.out = open_memstream(&script, &size);
	if (!p.out)
		return NULL;
	for (const struct node *one = root->child; one; one = one->next) {
		const struct node *list =
			one->kind == NODE_MAP ? node_get(one, "scenario") : NULL;

		for (const struct node *item =
			     list && list->kind == NODE_LIST ? list->child : NULL;
		     item; item = item->next)
			put_scenario(&p, item);
	}
	if (!stream_end(p.out, &script) || p.line == 1) {
		free(script);
		script = NULL;
	}
	return script;
}
