/* llmd.c - a plan of vLLM's or SGLang's servers as values of llm-d's charts: its pods
 * by llm-d-modelservice, what picks one of them by inferencepool. One file is both
 * charts'. The chart has a word for vLLM's command alone; SGLang's is a script.
 *
 * Keys: llm-d-incubation/llm-d-modelservice@3051935 (chart 0.4.12), values.yaml and
 * templates/_helpers.tpl; llm-d/llm-d, guides/pd-disaggregation/gaie-pd/values.yaml and
 * guides/wide-ep-lws/manifests/modelserver/base/decode.yaml for pods of several nodes;
 * llm-d/llm-d@103017a, guides/wide-ep-lws/modelserver/gpu/sglang and its issue 1709 for
 * SGLang's words and ports; what picks pods is told its metrics as
 * kubernetes-sigs/gateway-api-inference-extension says of model servers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/serving/container.h"
#include "presets/serving/print.h"
#include "presets/serving/serving.h"
#include "presets/stream.h"

enum {
	WORDS = 4,
	SERVICE = 8000,
	BEHIND_PROXY = 8200,
	SIDE_CHANNEL = 5600,
	BOOTSTRAP = 8998
};

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

static bool is_sglang(const struct chart *c)
{
	return c->job->tool == &tool_sglang;
}

/* Who carries caches from a pool to the other. */
static void add_channel(const struct chart *c, struct tool_writer *w)
{
	bool sglang = is_sglang(c);

	if (w->role == ROLE_BOTH)
		return;
	write_flag(w, c->job->tool->role_flag,
		   sglang ? c->job->tool->roles[w->role] : "kv_both");
	if (sglang)
		write_flag(w, "disaggregation-transfer-backend", "nixl");
	if (sglang && w->role == ROLE_PREFILL)
		write_count(w, "disaggregation-bootstrap-port", BOOTSTRAP);
}

static struct server_words *words_of(const struct chart *c, enum role role)
{
	struct server_words *words = job_server(c->job, role, false, NULL);

	if (!words)
		return NULL;
	/* by which pods are picked */
	if (is_sglang(c))
		write_default(&words->w, "enable-metrics", "");
	job_keep(c->job, words);
	container_drop_places(c->job->tool, &words->w);
	add_channel(c, &words->w);
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

/* Pods of vLLM that have to be told their place: copies of the attention answer on
 * every node, ranks of one copy on the first alone. */
static void place_vllm(const struct chart *c, struct server_words *words,
		       struct tool_writer *w)
{
	int64_t local = local_copies(words), dp = words->pool.plan.serving.dp_attention;
	bool copies = words->pool.model.moe.experts > 0 && dp > local &&
		      words->spread.copies > 0;

	if (copies) {
		fprintf(c->body, "      START=$(( ${LWS_WORKER_INDEX:-0} * %lld ))\n",
			(long long)local);
		write_count(w, "data-parallel-size-local", local);
		write_flag(w, "data-parallel-address", "${LWS_LEADER_ADDRESS}");
		write_flag(w, "data-parallel-start-rank", "${START}");
		write_flag(w, "data-parallel-hybrid-lb", "");
	} else {
		fputs("      LATER=\n"
		      "      [ \"${LWS_WORKER_INDEX:-0}\" = 0 ] || LATER=--headless\n",
		      c->body);
		write_count(w, "nnodes", words->spread.nodes);
		write_flag(w, "node-rank", "${LWS_WORKER_INDEX}");
		write_flag(w, "master-addr", "${LWS_LEADER_ADDRESS}");
	}
	words->spread.nodes = copies ? 1 : words->spread.nodes;
}

static void place_sglang(const struct server_words *words, const struct tool_writer *w)
{
	write_flag(w, "host", "0.0.0.0");
	if (!takes_nodes(words))
		return;
	write_count(w, "nnodes", words->spread.nodes);
	write_flag(w, "node-rank", "${LWS_WORKER_INDEX}");
	write_flag(w, "dist-init-addr", "${LWS_LEADER_ADDRESS}:20000");
}

/* A whole command: each group's own number and its leader's address are in the
 * environment (kubernetes-sigs/lws), and so are variables before a command. */
static void put_script(const struct chart *c, struct server_words *words, int port)
{
	struct tool_writer w = words->w;

	w.place[0] = '\0';
	write_count(&w, "port", port);
	fputs("    modelCommand: custom\n    command: [/bin/bash, -c]\n    args:\n"
	      "    - |\n",
	      c->body);
	if (is_sglang(c))
		place_sglang(words, &w);
	else
		place_vllm(c, words, &w);
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
	bool channel = words->w.role != ROLE_BOTH && !is_sglang(c);

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
	if (is_sglang(c) && words->w.role == ROLE_PREFILL)
		fprintf(c->body, "    - containerPort: %d\n", BOOTSTRAP);
	else if (!is_sglang(c) && words->w.role != ROLE_BOTH)
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
		"    workers: %lld\n  containers:\n  - name: %s\n    image: %s\n",
		role == ROLE_PREFILL ? "prefill" : "decode",
		(long long)(engines > 0 ? engines : 1), (long long)words->pool.plan.tp,
		(long long)copies, (long long)(local < copies ? local : copies),
		(long long)words->spread.nodes, c->job->tool->name,
		is_sglang(c) ? "docker.io/lmsysorg/sglang:latest"
			     : "ghcr.io/llm-d/llm-d-cuda:v0.5.0");
	put_environment(c, words);
	if (takes_nodes(words) || is_sglang(c))
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

	static const char metrics[] =
		"  flags:\n"
		"    total-queued-requests-metric: \"sglang:num_queue_reqs\"\n"
		"    kv-cache-usage-percentage-metric: \"sglang:token_usage\"\n"
		"    lora-info-metric: \"\"\n";

	fprintf(c->body,
		"inferenceExtension:\n  replicas: 1\n  image:\n"
		"    hub: ghcr.io/llm-d\n    name: llm-d-inference-scheduler\n"
		"    tag: v0.5.0\n  extProcPort: 9002\n%s%s"
		"inferencePool:\n  targetPorts:\n  - number: %d\n"
		"  modelServerType: %s\n  modelServers:\n    matchLabels:\n"
		"      llm-d.ai/model: %s",
		is_sglang(c) ? metrics : "", c->pools ? plugins : "", SERVICE,
		c->job->tool->name, c->name);
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
	const struct tool *tool = job_tool(scenario);
	struct job job;
	struct chart c = { .job = &job, .pools = scenario->plan.serving.disaggregated };

	if (tool != &tool_vllm && tool != &tool_sglang) {
		error_set(error, NULL, 0,
			  "llm-d starts vLLM and SGLang, and this plan's stack is %s; "
			  "set --stack vllm or sglang, or export dynamo",
			  scenario->stack.name);
		return NULL;
	}
	if (!job_begin(&job, tool, scenario, kept))
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
		"    targetPort: %d\n    connector: %s\n    secure: false\n",
		SERVICE, c.pools ? "true" : "false", BEHIND_PROXY,
		is_sglang(&c) ? "sglang" : "nixlv2");
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
