/* manifest.c - servers that Kubernetes starts, as the script that their containers are:
 * manifests, graphs of NVIDIA Dynamo, values of llm-d's charts and of vLLM's production
 * stack, services of KServe.
 *
 * Keys: Kubernetes' Container; DynamoGraphDeployment (spec.services, ai-dynamo/dynamo);
 * values of llm-d-modelservice (modelArtifacts, prefill, decode); LLMInferenceService
 * (kserve/kserve@aaac4e294, config/llmisvcconfig). What stands in a file's line n
 * stands in line n of the script too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/serving/benchmark.h"
#include "presets/serving/chart.h"
#include "presets/serving/tool.h"
#include "presets/stream.h"

struct manifest {
	const struct tool *tool;
	FILE *out;
	int line;                     /* that is written */
	const char *model;            /* of llm-d, which its command is given */
	bool pools;                   /* some of them prefill only */
	bool any;                     /* a container was found */
	enum role role;               /* of what is walked through */
	const char *copies, *group;   /* group: pods of a LeaderWorkerSet's */
	const struct node *split;     /* parallelism; NULL */
	const struct node *container; /* whose words are written; NULL */
};

static const char group_size[] = "LWS_GROUP_SIZE";

static void go_to(struct manifest *m, int line)
{
	for (; m->line < place_line(line); m->line++)
		fputc('\n', m->out);
}

/* "$(NAME)" in a container's words is what its environment says, and no command
 * (Kubernetes, "Define dependent environment variables"). The value, and how many
 * characters it stands for; NULL where nothing says it. */
static const char *dependent(const struct manifest *m, const char *text, size_t *length)
{
	const struct node *env = m->container ? node_get(m->container, "env") : NULL;
	size_t name;

	if (strncmp(text, "$(", 2) != 0)
		return NULL;
	name = strcspn(text + 2, ") \t\n");
	if (text[2 + name] != ')')
		return NULL;
	*length = name + 3;
	for (const struct node *item = env && env->kind == NODE_LIST ? env->child
								     : NULL;
	     item; item = item->next) {
		const char *own = scalar_of(item, "name"),
			   *value = scalar_of(item, "value");

		if (own && value && strlen(own) == name &&
		    strncmp(own, text + 2, name) == 0 && !strchr(value, '\n'))
			return value;
	}
	/* set by the controller (kubernetes-sigs/lws, pkg/utils/pod/pod_utils.go) */
	return m->group && name == sizeof group_size - 1 &&
			       strncmp(text + 2, group_size, name) == 0
		       ? m->group
		       : NULL;
}

static void put_letter(struct manifest *m, char letter, bool quoted)
{
	if (letter == '\'' && quoted)
		fputs("'\\''", m->out);
	else
		fputc(letter, m->out);
	m->line += letter == '\n';
}

/* With what it depends on in its place. */
static void put_text(struct manifest *m, const char *text, size_t length, bool quoted)
{
	for (size_t i = 0; i < length;) {
		size_t stands = 1;
		const char *value = dependent(m, text + i, &stands);

		if (value && i + stands <= length) {
			for (; *value != '\0'; value++)
				put_letter(m, *value, quoted);
			i += stands;
		} else {
			put_letter(m, text[i++], quoted);
		}
	}
}

static void put_word(struct manifest *m, const char *word)
{
	/* Compose puts variables in */
	if (m->container && strchr(word, '$') && chart_is_service(m->container) &&
	    !strpbrk(word, "\"`\\")) {
		fprintf(m->out, "\"%s\"", word);
		return;
	}
	fputc('\'', m->out);
	put_text(m, word, strlen(word), true);
	fputc('\'', m->out);
}

/* A script, without the blanks at its end, behind which more may stand. */
static void put_script(struct manifest *m, const char *text)
{
	size_t length = strlen(text);

	while (length > 0 && strchr(" \t\r\n\\", text[length - 1]))
		length--;
	fputc(' ', m->out);
	put_text(m, text, length, false);
}

/* The words of a list, or those of one text. A word that is a script stands as it is.
 */
static void put_list(struct manifest *m, const struct node *list, bool script)
{
	const struct node *node = list && list->kind == NODE_LIST ? list->child : list;

	for (; node; node = list->kind == NODE_LIST ? node->next : NULL) {
		if (node->kind != NODE_SCALAR)
			continue;
		if (script || strchr(node->text, '\n') || strstr(node->text, " -")) {
			put_script(m, node->text);
		} else {
			fputc(' ', m->out);
			put_word(m, node->text);
		}
	}
}

/* ["/bin/sh", "-c"]: what comes next is a script. */
static bool is_shell(const struct node *command)
{
	const struct node *last =
		command && command->kind == NODE_LIST ? command->child : NULL;

	while (last && last->next)
		last = last->next;
	return last && last->kind == NODE_SCALAR && last->text[0] == '-' &&
	       strchr(last->text, 'c') && strlen(last->text) <= 4;
}

static void put_environment(struct manifest *m, const struct node *container)
{
	const struct node *env = node_get(container, "env");

	if (m->group && strspn(m->group, "0123456789") == strlen(m->group))
		fprintf(m->out, "%s=%s; ", group_size, m->group);
	for (const struct node *item = env && env->kind == NODE_LIST ? env->child
								     : NULL;
	     item; item = item->next) {
		const char *name = scalar_of(item, "name"),
			   *value = scalar_of(item, "value");

		if (!name || !value || strchr(value, '\n'))
			continue;
		fprintf(m->out, "%s=", name);
		put_word(m, value);
		fputs("; ", m->out);
	}
}

/* A key of a mapping that a controller makes a flag of. */
struct field {
	const char *key, *flag;
};

/* fields ends with one without a key. */
static void put_fields(struct manifest *m, const struct node *map,
		       const struct field *fields)
{
	for (; fields->key; fields++)
		if (scalar_of(map, fields->key)) {
			fprintf(m->out, " --%s ", fields->flag);
			put_word(m, scalar_of(map, fields->key));
		}
}

/* Degrees of llm-d's charts and KServe, which multiply local copies by workers where
 * data is unsaid (llm-d-modelservice, templates/_helpers.tpl). */
static void put_parallelism(struct manifest *m, const struct node *split)
{
	static const struct field fields[] = {
		{ "tensor", "tensor-parallel-size" },
		{ "pipeline", "pipeline-parallel-size" },
		{ "data", "data-parallel-size" },
		{ NULL, NULL },
	};
	const char *local = scalar_of(split, "dataLocal"),
		   *workers = scalar_of(split, "workers");

	put_fields(m, split, fields);
	if (local && !scalar_of(split, "data"))
		fprintf(m->out, " --data-parallel-size %ld",
			strtol(local, NULL, 10) *
				(workers ? strtol(workers, NULL, 10) : 1));
}

/* What the image starts where the container only has arguments. */
static void put_entry(struct manifest *m, const struct node *container,
		      const struct node *command, const struct node *args)
{
	const char *image = scalar_of(container, "image"),
		   *chart = scalar_of(container, "modelCommand");
	bool serves = chart && (strcmp(chart, "vllmServe") == 0 ||
				strcmp(chart, "imageDefault") == 0);

	if (command && chart_is_service(container)) {
		args = command;
		command = NULL;
	}
	if (command || chart_names(args, m->tool->sign))
		return;
	if (serves ||
	    (image ? strstr(image, "vllm") != NULL : !chart && chart_is_vllms(args)))
		fputs(" vllm serve", m->out);
	else if (image && strstr(image, "sglang"))
		fputs(" python -m sglang.launch_server", m->out);
	if (serves && m->model)
		fprintf(m->out, " %s", m->model);
	if (serves)
		put_parallelism(m, m->split);
}

/* How often what comes next is started, and in which role: further replicas are servers
 * of their own. In front, for nobody knows which line of a script starts the server. */
static void put_mark(struct manifest *m)
{
	long copies = m->copies ? strtol(m->copies, NULL, 10) : 1;

	if (copies < 1 || copies > MANIFEST_REPLICAS)
		copies = 1;
	fprintf(m->out, MANIFEST_MARK " %ld %d; ", copies,
		m->pools ? (int)m->role : (int)ROLE_BOTH);
}

/* One server's command. */
static void put_command(struct manifest *m, const struct node *container, bool script)
{
	const struct node *command = node_get(container, "command"),
			  *args = node_get(container, "args");

	if (!script) {
		put_entry(m, container, command, args);
		put_list(m, command, false);
	}
	put_list(m, args, script);
	if (script && !args) /* the script is the last word of the command */
		put_list(m, command, true);
}

static void put_container(struct manifest *m, const struct node *container)
{
	const struct node *command = node_get(container, "command"),
			  *args = node_get(container, "args");
	bool script = is_shell(command);

	if (!command && !args && !scalar_of(container, "modelCommand"))
		return;
	m->any = true;
	m->container = container;
	go_to(m, command ? command->line : args ? args->line : container->line);
	put_mark(m);
	put_environment(m, container);
	put_command(m, container, script);
	m->container = NULL;
	fputc('\n', m->out);
	m->line++;
}

static void begin_server(struct manifest *m, const struct node *node, const char *model)
{
	m->any = true;
	go_to(m, node->line);
	put_mark(m);
	fputs("vllm serve ", m->out);
	put_word(m, model);
}

/* vLLM's production stack: modelSpec says what its chart makes a command of
 * (helm/templates/deployment-vllm-multi.yaml). */
static void put_spec(struct manifest *m, const struct node *spec)
{
	static const struct field fields[] = {
		{ "tensorParallelSize", "tensor-parallel-size" },
		{ "pipelineParallelSize", "pipeline-parallel-size" },
		{ "maxModelLen", "max-model-len" },
		{ "maxNumSeqs", "max-num-seqs" },
		{ "maxNumBatchedTokens", "max-num-batched-tokens" },
		{ "gpuMemoryUtilization", "gpu-memory-utilization" },
		{ "dtype", "dtype" },
		{ NULL, NULL },
	};
	const struct node *config = node_get(spec, "vllmConfig");

	m->copies = scalar_of(spec, "replicaCount");
	begin_server(m, spec, scalar_of(spec, "modelURL"));
	put_fields(m, config, fields);
	if (config && config->kind == NODE_MAP)
		put_list(m, node_get(config, "extraArgs"), false);
	fputc('\n', m->out);
	m->line++;
}

static enum role role_of(const struct node *node, enum role around)
{
	const char *kind = chart_role(node);

	if (chart_says(kind, "prefill") || chart_says(node->key, "prefill"))
		return ROLE_PREFILL;
	if (chart_says(kind, "decode") || chart_says(node->key, "decode"))
		return ROLE_DECODE;
	return around;
}

/* Files of a ConfigMap, as the commands that would write them. */
static void put_files(struct manifest *m, const struct node *map)
{
	const struct node *data = node_get(map, "data");

	if (!data || data->kind != NODE_MAP)
		return;
	for (const struct node *file = data->child; file; file = file->next) {
		if (file->kind != NODE_SCALAR || strchr(file->key, '\''))
			continue;
		go_to(m, file->line);
		fprintf(m->out, "cat > '%s' <<'END_OF_FILE'\n%s\nEND_OF_FILE\n",
			file->key, file->text);
		m->line += 3;
		for (const char *c = file->text; *c != '\0'; c++)
			m->line += *c == '\n';
	}
}

/* One pool of an LLMInferenceService: KServe's template makes the command, unless the
 * container has one. */
static void put_workload(struct manifest *m, const struct node *workload,
			 const char *model)
{
	const struct node *container = chart_main(workload),
			  *env = container ? node_get(container, "env") : NULL,
			  *split = node_get(workload, "parallelism");

	m->copies = scalar_of(workload, "replicas");
	if (container && node_get(container, "command")) {
		put_container(m, container);
		return;
	}
	begin_server(m, workload, model);
	put_parallelism(m, split);
	if (chart_says(scalar_of(split, "expert"), "true"))
		fputs(" --enable-expert-parallel", m->out);
	if (container)
		put_list(m, node_get(container, "args"), false);
	for (const struct node *item = env && env->kind == NODE_LIST ? env->child
								     : NULL;
	     item; item = item->next)
		if (scalar_of(item, "name") && scalar_of(item, "value") &&
		    strcmp(scalar_of(item, "name"), "VLLM_ADDITIONAL_ARGS") == 0)
			put_script(m, scalar_of(item, "value"));
	fputc('\n', m->out);
	m->line++;
}

/* KServe's older kind: arguments of its runtime, which hands them on to vLLM, and
 * degrees across nodes. False where none of its runtimes is meant. */
static bool put_predictor(struct manifest *m, const struct node *spec)
{
	static const struct field fields[] = {
		{ "tensorParallelSize", "tensor-parallel-size" },
		{ "pipelineParallelSize", "pipeline-parallel-size" },
		{ NULL, NULL },
	};
	const struct node *predictor = node_get(spec, "predictor");
	const struct node *model = predictor && predictor->kind == NODE_MAP
					   ? node_get(predictor, "model")
					   : NULL;
	const char *name = model ? chart_served(model) : NULL;

	if (!name || strcmp(m->tool->sign, "vllm") != 0)
		return false;
	m->copies = scalar_of(predictor, "minReplicas");
	begin_server(m, model, name);
	put_fields(m, node_get(predictor, "workerSpec"), fields);
	put_list(m, node_get(model, "args"), false);
	fputc('\n', m->out);
	m->line++;
	return true;
}

/* KServe's own kind: spec.model.uri, and a pool that decodes beside one that prefills.
 * False where the node is another. */
static bool put_service(struct manifest *m, const struct node *node)
{
	const char *kind = scalar_of(node, "kind"), *uri, *name;
	const struct node *spec = kind ? node_get(node, "spec") : NULL, *prefill;

	if (spec && strcmp(kind, "InferenceService") == 0)
		return put_predictor(m, spec);
	if (!spec || strncmp(kind, "LLMInferenceService", 19) != 0)
		return false;
	prefill = node_get(spec, "prefill");
	uri = scalar_of(node_get(spec, "model"), "uri");
	name = scalar_of(node_get(spec, "model"), "name");
	name = uri && (strncmp(uri, "hf://", 5) == 0 || !name) ? uri : name;
	m->pools = prefill && prefill->kind == NODE_MAP;
	m->role = m->pools ? ROLE_DECODE : ROLE_BOTH;
	if (name)
		put_workload(m, spec, name + 5 * (strncmp(name, "hf://", 5) == 0));
	m->role = ROLE_PREFILL;
	if (name && m->pools)
		put_workload(m, prefill, name + 5 * (strncmp(name, "hf://", 5) == 0));
	return true;
}

/* Depth is bounded by the document's. */
static void walk(struct manifest *m, const struct node *node)
{
	const struct manifest outer = *m;
	const char *copies =
		node->kind == NODE_MAP ? scalar_of(node, "replicas") : NULL;
	const struct node *split =
		node->kind == NODE_MAP ? node_get(node, "parallelism") : NULL;

	if (chart_is_off(node))
		return;
	m->copies = copies ? copies : m->copies;
	m->split = split ? split : m->split;
	if (node->kind == NODE_MAP && node_get(node, "workerTemplate"))
		m->group = scalar_of(node, "size");
	m->role = role_of(node, m->role);
	if (node->kind == NODE_MAP && scalar_of(node, "kind") &&
	    strcmp(scalar_of(node, "kind"), "ConfigMap") == 0)
		put_files(m, node);
	if (node->kind == NODE_MAP &&
	    (node_get(node, "args") || node_get(node, "command") ||
	     node_get(node, "modelCommand")))
		put_container(m, node);
	if (scalar_of(node, "modelURL") && strcmp(m->tool->sign, "vllm") == 0)
		put_spec(m, node);
	if (!put_service(m, node))
		for (const struct node *child = node->child; child; child = child->next)
			if (child->kind != NODE_SCALAR)
				walk(m, child);
	m->pools = outer.pools;
	m->copies = outer.copies;
	m->split = outer.split;
	m->group = outer.group;
	m->role = outer.role;
}

char *manifest_script(const struct tool *tool, const char *file, const char *text,
		      size_t length)
{
	struct manifest m = { .tool = tool, .line = 1 };
	struct document document;
	char *script = NULL;
	size_t size;

	if (!chart_looks_like(text, length) ||
	    !chart_parse(&document, file, text, length, NULL))
		return NULL;
	script = benchmark_script(document.root);
	script = script ? script : flagscale_script(tool, document.root);
	script = script ? script : cases_script(tool, document.root);
	script = script ? script : values_script(tool, document.root);
	m.out = script ? NULL : open_memstream(&script, &size);
	if (m.out) {
		m.model = chart_model(document.root);
		m.pools = chart_has_pools(document.root);
		walk(&m, document.root);
		if (!stream_end(m.out, &script) || !m.any) {
			free(script);
			script = NULL;
		}
	}
	document_free(&document);
	return script;
}

bool manifest_is_whole(const char *file, const char *text, size_t length,
		       struct error *error)
{
	struct document document;
	bool whole = !chart_looks_like(text, length) ||
		     chart_parse(&document, file, text, length, error);

	if (whole && chart_looks_like(text, length))
		document_free(&document);
	return whole;
}
