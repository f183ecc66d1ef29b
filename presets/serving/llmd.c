/* llmd.c - a plan of vLLM's servers as values of llm-d's charts: its pods by
 * llm-d-modelservice, what picks one of them by inferencepool. One file is both
 * charts'.
 *
 * Keys: llm-d-incubation/llm-d-modelservice@3051935 (chart 0.4.12), values.yaml and
 * templates/_helpers.tpl; llm-d/llm-d, guides/pd-disaggregation/gaie-pd/values.yaml and
 * guides/wide-ep-lws/manifests/modelserver/base/decode.yaml for pods of several nodes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/serving/container.h"
#include "presets/serving/print.h"
#include "presets/serving/serving.h"
#include "presets/stream.h"

enum { WORDS = 4, SERVICE = 8000, BEHIND_PROXY = 8200, SIDE_CHANNEL = 5600 };

struct chart {
	const struct job *job;
	FILE *body;
	char name[41];
	bool pools;
};

/* Pods of several nodes: a group of a LeaderWorkerSet. */
static bool takes_nodes(const struct server_words *words)
{
	return words->spread.nodes > 1;
}

static struct server_words *words_of(const struct chart *c, enum role role)
{
	struct server_words *words = job_server(c->job, role, false, NULL);

	if (!words)
		return NULL;
	job_keep(c->job, words);
	container_drop_places(c->job->tool, &words->w);
	if (role != ROLE_BOTH)
		write_flag(&words->w, c->job->tool->role_flag, "kv_both");
	return words;
}

static bool any_of_nodes(const struct chart *c)
{
	static const enum role roles[] = { ROLE_PREFILL, ROLE_DECODE };
	bool any = false;

	for (int i = 0; i < 2; i++) {
		struct server_words *words =
			words_of(c, c->pools ? roles[i] : ROLE_BOTH);

		any = any || (words && takes_nodes(words));
		free(words);
	}
	return any;
}

/* Copies of the attention in each pod. */
static int64_t local_copies(const struct server_words *words)
{
	const struct plan *plan = &words->pool.plan;
	int64_t gpus = container_gpus(words), each = plan->tp * plan->pp * plan->cp;

	if (words->pool.model.moe.experts == 0 || gpus < each)
		return 1;
	return gpus / each;
}

/* Behind "exec", each line as deep as the script. */
static void put_command(const struct chart *c, const struct tool_writer *w)
{
	struct export_out *out = c->job->out;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	out->failed = out->failed || !stream;
	if (!stream)
		return;
	out->body = stream;
	fputs("exec ", stream);
	print_command(c->job->tool, w);
	out->body = c->body;
	out->failed = !stream_end(stream, &text) || out->failed;
	for (char *rest = NULL, *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		fprintf(c->body, "      %s\n", line);
	free(text);
}

/* A whole command, for pods that have to be told their place: each group's own number
 * and its leader's address are in the environment (kubernetes-sigs/lws). Copies of the
 * attention answer on every node, ranks of one copy on the first alone. */
static void put_script(const struct chart *c, struct server_words *words, int port)
{
	struct tool_writer w = words->w;
	int64_t local = local_copies(words), dp = words->pool.plan.serving.dp_attention;
	bool copies = words->pool.model.moe.experts > 0 && dp > local &&
		      words->spread.copies > 0;

	write_count(&w, "port", port);
	fputs("    modelCommand: custom\n    command: [/bin/bash, -c]\n    args:\n"
	      "    - |\n",
	      c->body);
	if (copies) {
		fprintf(c->body, "      START=$(( ${LWS_WORKER_INDEX:-0} * %lld ))\n",
			(long long)local);
		write_count(&w, "data-parallel-size-local", local);
		write_flag(&w, "data-parallel-address", "${LWS_LEADER_ADDRESS}");
		write_flag(&w, "data-parallel-start-rank", "${START}");
		write_flag(&w, "data-parallel-hybrid-lb", "");
	} else {
		fputs("      LATER=\n"
		      "      [ \"${LWS_WORKER_INDEX:-0}\" = 0 ] || LATER=--headless\n",
		      c->body);
		write_count(&w, "nnodes", words->spread.nodes);
		write_flag(&w, "node-rank", "${LWS_WORKER_INDEX}");
		write_flag(&w, "master-addr", "${LWS_LEADER_ADDRESS}");
	}
	words->spread.nodes = copies ? 1 : words->spread.nodes;
	put_command(c, &w);
}

static void put_arguments(const struct chart *c, const struct server_words *words)
{
	struct tool_writer w = words->w;
	struct entries *flags = calloc(1, sizeof *flags);

	c->job->out->failed = c->job->out->failed || !flags;
	if (!flags)
		return;
	*flags = words->flags;
	w.flags = flags;
	/* the chart's own words, by parallelism */
	write_without(&w, "tensor-parallel-size");
	write_without(&w, "data-parallel-size");
	fputs("    modelCommand: vllmServe\n    args:\n", c->body);
	container_flags(c->job->out, WORDS, flags, NULL, '-');
	free(flags);
}

static void put_environment(const struct chart *c, const struct server_words *words)
{
	bool channel = words->w.role != ROLE_BOTH;

	if (!channel && !container_variables(NULL, 0, &words->w))
		return;
	fputs("    env:\n", c->body);
	container_variables(c->body, WORDS, &words->w);
	if (channel)
		fprintf(c->body,
			"    - name: VLLM_NIXL_SIDE_CHANNEL_HOST\n      valueFrom:\n"
			"        fieldRef:\n          fieldPath: status.podIP\n"
			"    - name: VLLM_NIXL_SIDE_CHANNEL_PORT\n      value: \"%d\"\n",
			SIDE_CHANNEL);
}

static void put_ports(const struct chart *c, const struct server_words *words, int port)
{
	fprintf(c->body, "    ports:\n    - containerPort: %d\n", port);
	if (words->w.role != ROLE_BOTH)
		fprintf(c->body, "    - containerPort: %d\n", SIDE_CHANNEL);
	fprintf(c->body,
		"    readinessProbe:\n      httpGet:\n        path: /health\n"
		"        port: %d\n",
		port);
}

static void put_pool(const struct chart *c, enum role role)
{
	struct server_words *words = words_of(c, role);
	int port = role == ROLE_DECODE ? BEHIND_PROXY : SERVICE;
	int64_t gpus, engines, copies, local;

	if (!words)
		return;
	gpus = container_gpus(words);
	engines = words->pool.cluster.gpus / job_engine(&words->pool.plan);
	local = local_copies(words);
	copies = words->pool.model.moe.experts > 0
			 ? words->pool.plan.serving.dp_attention
			 : 1;
	fprintf(c->body,
		"%s:\n  create: true\n  replicas: %lld\n  parallelism:\n"
		"    tensor: %lld\n    data: %lld\n    dataLocal: %lld\n"
		"    workers: %lld\n  containers:\n  - name: vllm\n"
		"    image: ghcr.io/llm-d/llm-d-cuda:v0.5.0\n",
		role == ROLE_PREFILL ? "prefill" : "decode",
		(long long)(engines > 0 ? engines : 1), (long long)words->pool.plan.tp,
		(long long)copies, (long long)(local < copies ? local : copies),
		(long long)words->spread.nodes);
	put_environment(c, words);
	if (takes_nodes(words))
		put_script(c, words, port);
	else
		put_arguments(c, words);
	put_ports(c, words, port);
	fprintf(c->body,
		"    resources:\n      limits:\n        nvidia.com/gpu: \"%lld\"\n"
		"    mountModelVolume: true\n",
		(long long)gpus);
	free(words);
}

/* Which pod a request goes to: of two pools first one that prefills, whose address the
 * proxy beside the one that decodes is told. */
static void put_picker(const struct chart *c)
{
	static const char plugins[] =
		"  pluginsConfigFile: pd-config.yaml\n  pluginsCustomConfig:\n"
		"    pd-config.yaml: |\n"
		"      apiVersion: inference.networking.x-k8s.io/v1alpha1\n"
		"      kind: EndpointPickerConfig\n      plugins:\n"
		"      - type: prefill-header-handler\n      - type: prefill-filter\n"
		"      - type: decode-filter\n      - type: queue-scorer\n"
		"      - type: pd-profile-handler\n        parameters:\n"
		"          threshold: 0\n          hashBlockSize: 5\n"
		"      schedulingProfiles:\n      - name: prefill\n        plugins:\n"
		"        - pluginRef: prefill-filter\n"
		"        - pluginRef: queue-scorer\n      - name: decode\n"
		"        plugins:\n        - pluginRef: decode-filter\n"
		"        - pluginRef: queue-scorer\n";

	fprintf(c->body,
		"inferenceExtension:\n  replicas: 1\n  image:\n"
		"    hub: ghcr.io/llm-d\n    name: llm-d-inference-scheduler\n"
		"    tag: v0.5.0\n  extProcPort: 9002\n%s"
		"inferencePool:\n  targetPorts:\n  - number: %d\n"
		"  modelServerType: vllm\n  modelServers:\n    matchLabels:\n"
		"      llm-d.ai/model: %s",
		c->pools ? plugins : "", SERVICE, c->name);
}

static void put_model(const struct chart *c)
{
	struct server_words *words = words_of(c, c->pools ? ROLE_DECODE : ROLE_BOTH);
	const struct scenario *s = c->job->whole;
	struct model_counts counts;

	if (!words)
		return;
	model_count(&s->model, &counts);
	fputs("modelArtifacts:\n  name: ", c->body);
	stream_put_quoted(c->body, words->w.checkpoint);
	fputs("\n  uri: \"hf://{{ .Values.modelArtifacts.name }}\"\n", c->body);
	/* room for weights in 16 bits, however they are stored */
	fprintf(c->body,
		"  size: %.0fGi\n  authSecretName: llm-d-hf-token\n  labels:\n"
		"    llm-d.ai/inference-serving: \"true\"\n    llm-d.ai/model: %s\n",
		ceil(counts.total * 2.5 / 1073741824), c->name);
	free(words);
}

char *llmd_write(const struct scenario *scenario, const struct import_report *kept,
		 struct error *error)
{
	struct job job;
	struct chart c = { .job = &job, .pools = scenario->plan.serving.disaggregated };

	if (job_tool(scenario) != &tool_vllm) {
		error_set(error, NULL, 0,
			  "llm-d starts vLLM, and this plan's stack is %s; set --stack "
			  "vllm, or export dynamo",
			  scenario->stack.name);
		return NULL;
	}
	if (!job_begin(&job, &tool_vllm, scenario, kept))
		return NULL;
	c.body = job.out->body;
	container_name(scenario, c.name);
	fputs("# helm install models llm-d-modelservice/llm-d-modelservice -f THIS\n"
	      "# helm install pool oci://registry.k8s.io/gateway-api-inference-extension"
	      "/charts/inferencepool -f THIS\n",
	      c.body);
	fprintf(c.body, "multinode: %s\n", any_of_nodes(&c) ? "true" : "false");
	put_model(&c);
	fprintf(c.body,
		"routing:\n  servicePort: %d\n  proxy:\n    enabled: %s\n"
		"    targetPort: %d\n    connector: nixlv2\n    secure: false\n",
		SERVICE, c.pools ? "true" : "false", BEHIND_PROXY);
	if (c.pools) {
		put_pool(&c, ROLE_PREFILL);
		put_pool(&c, ROLE_DECODE);
	} else {
		fputs("prefill:\n  create: false\n", c.body);
		put_pool(&c, ROLE_BOTH);
	}
	put_picker(&c);
	return job_end(&job, "");
}
