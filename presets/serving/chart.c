/* chart.c - see chart.h. */
#include "presets/serving/chart.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *scalar_of(const struct node *map, const char *key)
{
	const struct node *node =
		map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

	return node && node->kind == NODE_SCALAR ? node->text : NULL;
}

const char *chart_model(const struct node *root)
{
	for (const struct node *one = root->child; one; one = one->next) {
		const struct node *artifacts =
			one->kind == NODE_MAP ? node_get(one, "modelArtifacts") : NULL;
		const char *name = scalar_of(artifacts, "name"),
			   *uri = scalar_of(artifacts, "uri");
		const char *path = uri ? strstr(uri, "://") : NULL;

		/* "hf://{{ .Values.modelArtifacts.name }}" */
		if (uri && name && strstr(uri, "{{"))
			return name;
		if (uri && strncmp(uri, "hf://", 5) == 0)
			return uri + 5;
		if (name || path)
			return name ? name : path + 3;
	}
	return NULL;
}

const char *chart_role(const struct node *node)
{
	static const char *const path[] = { "spec", "template", "metadata", "labels" };
	const char *kind = scalar_of(node, "subComponentType"),
		   *type = scalar_of(node, "type");

	const char *name = scalar_of(node, "name");

	/* a role of AIBrix's StormService, {name: prefill, template: ...} */
	if (name && (strcmp(name, "prefill") == 0 || strcmp(name, "decode") == 0) &&
	    node_get(node, "template"))
		return name;
	/* v1beta1 of Dynamo's graphs; others have types of their own */
	if (type && (strcmp(type, "prefill") == 0 || strcmp(type, "decode") == 0))
		return type;

	for (size_t i = 0; !kind && node && i < sizeof path / sizeof path[0]; i++)
		node = node->kind == NODE_MAP ? node_get(node, path[i]) : NULL;
	return kind ? kind : scalar_of(node, "llm-d.ai/role");
}

bool chart_says(const char *text, const char *word)
{
	return text && strcasestr(text, word) != NULL;
}

bool chart_is_off(const struct node *node)
{
	const char *create = scalar_of(node, "create");

	return create && strcmp(create, "false") == 0;
}

bool chart_has_pools(const struct node *node)
{
	if (!node || chart_is_off(node))
		return false;
	if (node->kind == NODE_MAP && (chart_says(node->key, "prefill") ||
				       chart_says(chart_role(node), "prefill")))
		return true;
	for (const struct node *child = node->child; child; child = child->next)
		if (chart_has_pools(child))
			return true;
	return false;
}

const struct node *chart_main(const struct node *workload)
{
	const struct node *template = node_get(workload, "template");
	const struct node *list = template ? node_get(template, "containers") : NULL;
	const struct node *one = list && list->kind == NODE_LIST ? list->child : NULL;

	while (one) {
		const char *name = scalar_of(one, "name");

		if (name && strcasestr(name, "main"))
			break;
		one = one->next;
	}
	return one;
}

/* "--model_id=org/name" among the arguments. */
static const char *model_argument(const struct node *args)
{
	static const char *const flags[] = { "--model_id", "--model-id", "--model" };

	for (const struct node *one = args && args->kind == NODE_LIST ? args->child
								      : NULL;
	     one; one = one->next)
		for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
			size_t length = strlen(flags[i]);

			if (one->kind != NODE_SCALAR ||
			    strncmp(one->text, flags[i], length) != 0)
				continue;
			if (one->text[length] == '=')
				return one->text + length + 1;
			if (one->text[length] == '\0' && one->next &&
			    one->next->kind == NODE_SCALAR)
				return one->next->text;
		}
	return NULL;
}

const char *chart_served(const struct node *model)
{
	const struct node *format = node_get(model, "modelFormat");
	const char *kind = scalar_of(format, "name"),
		   *uri = scalar_of(model, "storageUri");
	const char *named = model_argument(node_get(model, "args"));

	if (!kind ||
	    (strcasecmp(kind, "huggingface") != 0 && strcasecmp(kind, "vllm") != 0))
		return NULL;
	if (named && named[0] != '/')
		return named;
	if (!uri)
		return named;
	return strncmp(uri, "hf://", 5) == 0 ? uri + 5 : uri;
}

bool chart_looks_like(const char *text, size_t length)
{
	static const char *const signs[] = {
		"\napiVersion:",  "\nmodelArtifacts:", "\nservices:",    "containers:",
		"mainContainer:", "modelSpec:",        "huggingfaceId:", "serve_id:",
		"server_cmd",     "\n  serverArgs:"
	};

	if ((length > 11 && strncmp(text, "apiVersion:", 11) == 0) ||
	    (length > 9 && strncmp(text, "services:", 9) == 0))
		return true;
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (memmem(text, length, signs[i], strlen(signs[i])))
			return true;
	return false;
}

bool chart_names(const struct node *list, const char *sign)
{
	for (const struct node *node = list && list->kind == NODE_LIST ? list->child
								       : NULL;
	     node; node = node->next)
		if (node->kind == NODE_SCALAR && strstr(node->text, sign))
			return true;
	return list && list->kind == NODE_SCALAR && strstr(list->text, sign);
}

bool chart_is_service(const struct node *container)
{
	return scalar_of(container, "image") && !scalar_of(container, "name") &&
	       !node_get(container, "args") && !node_get(container, "entrypoint");
}

bool chart_is_vllms(const struct node *args)
{
	static const char *const own[] = { "--max-model-len", "--max-num-seqs",
					   "--max-num-batched-tokens",
					   "--kv-transfer-config" };

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (chart_names(args, own[i]))
			return true;
	return false;
}

/* "{{HF_TOKEN}}", which somebody else fills in, is no YAML: as words of its kind. */
static char *without_holes(const char *text, size_t length)
{
	char *filled = malloc(length + 1), *at = filled, *stop = filled + length;

	error_note_memory(!filled);
	if (!filled)
		return NULL;
	memcpy(filled, text, length);
	*stop = '\0';
	while ((at = memmem(at, (size_t)(stop - at), "{{", 2))) {
		char *line = memchr(at, '\n', (size_t)(stop - at));
		size_t rest = (size_t)((line ? line : stop) - at);
		char *end = memmem(at, rest, "}}", 2);

		for (char *c = at; end && c < end + 2; c++)
			*c = *c == '{'                           ? '<'
			     : *c == '}'                         ? '>'
			     : *c != '\0' && strchr(":#\"'", *c) ? '_'
								 : *c;
		at += end ? (size_t)(end - at) + 2 : rest;
	}
	return filled;
}

bool chart_parse(struct document *out, const char *file, const char *text,
		 size_t length, struct error *error)
{
	char *filled;
	bool good;

	if (document_parse_many(out, file, text, length, error))
		return true;
	filled = without_holes(text, length);
	good = filled && document_parse_many(out, file, filled, length, NULL);
	free(filled);
	return good;
}

/* The one cluster of ours that all of them are, as Google's nodes are labelled
 * (cloud.google.com/kubernetes-engine/docs/how-to/gpus). */
static const char *labelled(const char *name, size_t length)
{
	static const char *const labels[][2] = {
		{ "nvidia-l4", "l4" },
		{ "nvidia-tesla-a100", "dgx-a100-40g" },
		{ "nvidia-a100-80gb", "dgx-a100-80g" },
		{ "nvidia-h100-80gb", "dgx-h100" },
		{ "nvidia-h100-mega-80gb", "dgx-h100" },
		{ "nvidia-h200-141gb", "dgx-h200" },
		{ "nvidia-b200", "dgx-b200" },
		{ "nvidia-gb200", "gb200-nvl72" },
		{ "nvidia-rtx-pro-6000", "rtx-pro-6000" },
	};

	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
		if (strlen(labels[i][0]) == length &&
		    strncmp(labels[i][0], name, length) == 0)
			return labels[i][1];
	return NULL;
}

const char *chart_cluster(const char *text, size_t length, struct import_report *report)
{
	static const char word[] = "cloud.google.com/gke-accelerator:";
	const char *stop = text + length, *at = text, *cluster = NULL;

	while ((at = memmem(at, (size_t)(stop - at), word, sizeof word - 1))) {
		const char *line = at, *name = at + sizeof word - 1, *found;
		size_t used = 0;

		while (line > text && line[-1] != '\n' && line[-1] != '#')
			line--;
		while (name < stop && strchr(" \"'", *name))
			name++;
		while (name + used < stop && !strchr(" \"'\r\n#", name[used]))
			used++;
		at = name + used;
		if (line > text && line[-1] == '#')
			continue;
		found = labelled(name, used);
		if (!found || (cluster && strcmp(cluster, found) != 0))
			return NULL;
		cluster = found;
	}
	if (cluster)
		import_note(report, IMPORT_TAKEN, "gke-accelerator", "%s", cluster);
	return cluster;
}
