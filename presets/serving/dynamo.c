/* dynamo.c - a plan of servers as a graph of NVIDIA Dynamo for Kubernetes.
 *
 * Fields: DynamoGraphDeployment of nvidia.com/v1alpha1, which later operators convert
 * (ai-dynamo/dynamo, deploy/operator/api/v1alpha1); examples/backends/{vllm,sglang,
 * trtllm}/deploy/disagg.yaml. What parts an engine over nodes is the operator's to say
 * (deploy/operator/internal/dynamo/backend_vllm.go, backend_sglang.go,
 * backend_trtllm.go).
 */
#include <stdlib.h>
#include <string.h>

#include "presets/serving/container.h"
#include "presets/serving/print.h"
#include "presets/serving/serving.h"
#include "presets/stream.h"

enum { WORDS = 10, BOOTSTRAP = 12345 };

static const char runtime[] = "nvcr.io/nvidia/ai-dynamo/%s-runtime:1.3.1";

/* Flags of dynamo.trtllm itself (components/src/dynamo/trtllm/backend_args.py); all
 * other settings are its engine's, in a file. */
static const char *const own_flags[] = {
	"max_batch_size", "max_num_tokens",      "max_seq_len", "max_beam_width",
	"kv_block_size",  "disaggregation_mode", NULL
};

struct graph {
	const struct job *job;
	FILE *body;
	bool files; /* settings are a file, as TensorRT-LLM's */
};

static const struct {
	const char *service, *word, *file;
} roles[ROLE_COUNT] = {
	[ROLE_BOTH] = { "Worker", NULL, "worker" },
	[ROLE_PREFILL] = { "PrefillWorker", "prefill", "prefill" },
	[ROLE_DECODE] = { "DecodeWorker", "decode", "decode" },
};

/* trtllm-serve's words for what its engine calls otherwise (llmapi/llm_args.py). */
static void rename_keys(struct entries *flags)
{
	static const char *const names[][2] = {
		{ "tp_size", "tensor_parallel_size" },
		{ "pp_size", "pipeline_parallel_size" },
		{ "cp_size", "context_parallel_size" },
		{ "ep_size", "moe_expert_parallel_size" },
	};

	for (int i = 0; i < flags->count; i++)
		for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
			if (strcmp(flags->item[i].key, names[k][0]) == 0)
				snprintf(flags->item[i].key, sizeof flags->item[i].key,
					 "%s", names[k][1]);
}

/* Of trtllm-serve, which is not what runs. */
static void drop_server(const struct tool_writer *w)
{
	static const char *const server[] = { "host",
					      "server_role",
					      "backend",
					      "log_level",
					      "num_postprocess_workers",
					      "reasoning_parser",
					      "tool_parser",
					      "metadata_server_config_file",
					      "otlp_traces_endpoint",
					      "chat_template",
					      "disagg_cluster_uri",
					      "fail_fast_on_attention_window_too_large",
					      "custom_tokenizer",
					      NULL };

	for (int i = 0; server[i]; i++)
		write_without(w, server[i]);
}

/* What tells a worker its part, and who carries caches between them. */
static void write_part(const struct graph *g, const struct tool_writer *w)
{
	const char *mode = roles[w->role].word;

	container_drop_places(g->job->tool, w);
	if (g->files)
		drop_server(w);
	if (!mode)
		return;
	write_flag(w, g->files ? "disaggregation_mode" : "disaggregation-mode", mode);
	if (g->job->tool == &tool_vllm)
		write_flag(w, g->job->tool->role_flag, "kv_both");
	if (g->job->tool != &tool_sglang)
		return;
	write_flag(w, "disaggregation-transfer-backend", "nixl");
	write_count(w, "disaggregation-bootstrap-port", BOOTSTRAP);
	write_flag(w, "host", "0.0.0.0");
}

static struct server_words *words_of(const struct graph *g, enum role role)
{
	struct server_words *words = job_server(g->job, role, false, NULL);

	if (!words)
		return NULL;
	job_keep(g->job, words);
	write_part(g, &words->w);
	rename_keys(&words->flags);
	if (g->files && words->pool.plan.serving.kv_block != 32)
		for (int i = 0; i < words->flags.count; i++)
			if (strcmp(words->flags.item[i].key,
				   "kv_cache_config.tokens_per_block") == 0)
				write_flag(&words->w, "kv_block_size",
					   words->flags.item[i].value);
	return words;
}

/* The engine's settings as one file of a ConfigMap. */
static void put_settings(const struct graph *g, enum role role)
{
	struct server_words *words = words_of(g, role);
	char *text = NULL;
	size_t size;
	FILE *stream = words ? open_memstream(&text, &size) : NULL;

	g->job->out->failed = g->job->out->failed || !stream;
	if (stream) {
		if (!print_file(g->job->tool, &words->w, own_flags, stream))
			fputs("{}\n", stream);
		g->job->out->failed = !stream_end(stream, &text) || g->job->out->failed;
	}
	fprintf(g->body, "  %s.yaml: |\n", roles[role].file);
	for (char *rest = NULL, *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		fprintf(g->body, "    %s\n", line);
	free(text);
	free(words);
}

static void put_settings_of(const struct graph *g, const char *name)
{
	fprintf(g->body,
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s-engine\ndata:\n",
		name);
	if (g->job->whole->plan.serving.disaggregated) {
		put_settings(g, ROLE_PREFILL);
		put_settings(g, ROLE_DECODE);
	} else {
		put_settings(g, ROLE_BOTH);
	}
	fputs("---\n", g->body);
}

static void put_image(const struct graph *g)
{
	fputs("          image: ", g->body);
	fprintf(g->body, runtime, g->files ? "tensorrtllm" : g->job->tool->name);
	fputc('\n', g->body);
}

static void put_arguments(const struct graph *g, const struct server_words *words)
{
	const struct tool *tool = g->job->tool;
	char path[64];

	put_image(g);
	fprintf(g->body,
		"          command: [python3, -m, dynamo.%s]\n          args:\n",
		tool->name);
	container_word(g->body, WORDS, tool == &tool_vllm ? "--model" : "--model-path");
	container_word(g->body, WORDS, words->w.checkpoint);
	container_flags(g->job->out, WORDS, &words->flags, g->files ? own_flags : NULL,
			'-');
	if (g->files) {
		snprintf(path, sizeof path, "/engine/%s.yaml",
			 roles[words->w.role].file);
		container_word(g->body, WORDS, "--extra-engine-args");
		container_word(g->body, WORDS, path);
	}
	if (container_variables(NULL, 0, &words->w)) {
		fputs("          env:\n", g->body);
		container_variables(g->body, WORDS, &words->w);
	}
}

static void put_worker(const struct graph *g, enum role role, const char *name)
{
	struct server_words *words = words_of(g, role);
	int64_t engines;

	if (!words)
		return;
	engines = words->pool.cluster.gpus / job_engine(&words->pool.plan);
	fprintf(g->body, "    %s:\n      componentType: worker\n", roles[role].service);
	if (roles[role].word)
		fprintf(g->body, "      subComponentType: %s\n", roles[role].word);
	fprintf(g->body, "      replicas: %lld\n",
		(long long)(engines > 0 ? engines : 1));
	if (words->spread.nodes > 1)
		fprintf(g->body, "      multinode:\n        nodeCount: %lld\n",
			(long long)words->spread.nodes);
	fprintf(g->body,
		"      resources:\n        limits:\n          gpu: \"%lld\"\n"
		"      envFromSecret: hf-token-secret\n      extraPodSpec:\n",
		(long long)container_gpus(words));
	if (g->files)
		fprintf(g->body,
			"        volumes:\n        - name: engine\n          configMap:\n"
			"            name: %s-engine\n",
			name);
	fputs("        mainContainer:\n", g->body);
	put_arguments(g, words);
	if (g->files)
		fputs("          volumeMounts:\n          - name: engine\n"
		      "            mountPath: /engine\n",
		      g->body);
	free(words);
}

char *dynamo_write(const struct scenario *scenario, const struct import_report *kept,
		   struct error *error)
{
	const struct tool *tool = job_tool(scenario);
	struct job job;
	struct graph g = { .job = &job, .files = tool == &tool_trtllm };
	char name[41];

	if (!tool) {
		error_set(error, NULL, 0,
			  "Dynamo starts vLLM, SGLang or TensorRT-LLM, and this plan's "
			  "stack is %s; set --stack vllm, sglang or tensorrt-llm",
			  scenario->stack.name);
		return NULL;
	}
	if (!job_begin(&job, tool, scenario, kept))
		return NULL;
	g.body = job.out->body;
	container_name(scenario, name);
	if (g.files)
		put_settings_of(&g, name);
	fprintf(g.body,
		"apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\n"
		"metadata:\n  name: %s\nspec:\n  backendFramework: %s\n  services:\n"
		"    Frontend:\n      componentType: frontend\n      replicas: 1\n"
		"      extraPodSpec:\n        mainContainer:\n",
		name, tool->name);
	put_image(&g);
	if (scenario->plan.serving.disaggregated) {
		put_worker(&g, ROLE_PREFILL, name);
		put_worker(&g, ROLE_DECODE, name);
	} else {
		put_worker(&g, ROLE_BOTH, name);
	}
	return job_end(&job, "");
}
