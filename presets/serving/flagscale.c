/* flagscale.c - servers that a file has as keys, as the commands that are made of them:
 * a list of FlagScale's, values of the charts of Google's recipes for GPUs.
 *
 * Keys: serve_id, engine, engine_args, engine_args_specific, resources, profile of
 * FlagOpen/FlagScale (examples/<model>/conf/serve); what SGLang calls otherwise:
 * flagscale/serve/args_mapping/mapping.py there. Values: model.name, model.tp_size,
 * serverArgs of AI-Hypercomputer/gpu-recipes (src/helm-charts, the templates of
 * inference).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/serving/benchmark.h"
#include "presets/serving/chart.h"
#include "presets/serving/tool.h"
#include "presets/stream.h"

struct server {
	FILE *out;
	bool sglang;
};

static void put_quoted(FILE *out, const char *text)
{
	fputs(" '", out);
	for (; *text != '\0'; text++)
		if (*text != '\'' && *text != '\n')
			fputc(*text, out);
	fputc('\'', out);
}

/* "tensor_parallel_size" as the flag of that tool. */
static void put_name(const struct server *s, const char *key)
{
	static const char *const of_sglang[][2] = {
		{ "model", "model-path" },
		{ "max_model_len", "context-length" },
		{ "max_num_seqs", "max-running-requests" },
		{ "tensor_parallel_size", "tp-size" },
		{ "pipeline_parallel_size", "pp-size" },
		{ "gpu_memory_utilization", "mem-fraction-static" },
	};

	for (size_t i = 0; s->sglang && i < sizeof of_sglang / sizeof of_sglang[0]; i++)
		if (strcmp(of_sglang[i][0], key) == 0) {
			fprintf(s->out, " --%s", of_sglang[i][1]);
			return;
		}
	fputs(" --", s->out);
	for (; *key != '\0'; key++)
		fputc(*key == '_' ? '-' : *key, s->out);
}

/* Scalars as flags; true is a switch, false none, but for what is on by itself. */
static void put_flags(const struct server *s, const struct node *map)
{
	for (const struct node *node = map && map->kind == NODE_MAP ? map->child : NULL;
	     node; node = node->next) {
		if (node->kind != NODE_SCALAR || node->text[0] == '\0' ||
		    strcmp(node->key, "model") == 0)
			continue;
		if (strcmp(node->text, "false") == 0) {
			if (strncmp(node->key, "enable_", 7) == 0 && !s->sglang) {
				fputs(" --no-", s->out);
				for (const char *c = node->key; *c != '\0'; c++)
					fputc(*c == '_' ? '-' : *c, s->out);
			}
			continue;
		}
		put_name(s, node->key);
		if (strcmp(node->text, "true") != 0)
			put_quoted(s->out, node->text);
	}
}

static bool put_server(const struct server *s, const struct node *entry)
{
	const struct node *args = node_get(entry, "engine_args"),
			  *own = node_get(entry, "engine_args_specific"),
			  *resources = node_get(entry, "resources");
	const char *model = scalar_of(args, "model"),
		   *copies = scalar_of(resources, "num_replicas");
	long count = copies ? strtol(copies, NULL, 10) : 1;

	if (!model)
		return false;
	fprintf(s->out, MANIFEST_MARK " %ld %d; ",
		count < 1 || count > MANIFEST_REPLICAS ? 1 : count, (int)ROLE_BOTH);
	fputs(s->sglang ? "python -m sglang.launch_server --model-path" : "vllm serve",
	      s->out);
	put_quoted(s->out, model);
	put_flags(s, args);
	if (own && own->kind == NODE_MAP)
		put_flags(s, node_get(own, s->sglang ? "sglang" : "vllm"));
	fputc('\n', s->out);
	return true;
}

/* The servers of this tool in a list, or in lists of one. Returns whether there are
 * any.
 */
static bool put_list(struct server *s, const struct tool *tool, const struct node *list,
		     int *line)
{
	bool any = false;

	for (const struct node *entry = list->kind == NODE_LIST ? list->child : NULL;
	     entry; entry = entry->next) {
		const char *engine = scalar_of(entry, "engine");

		if (entry->kind == NODE_LIST && put_list(s, tool, entry, line))
			any = true;
		s->sglang = engine && strcmp(engine, "sglang") == 0;
		if (!engine || !scalar_of(entry, "serve_id") ||
		    strcmp(tool->name, engine) != 0)
			continue;
		for (; *line < place_line(entry->line); (*line)++)
			fputc('\n', s->out);
		if (put_server(s, entry)) {
			any = true;
			(*line)++;
		}
	}
	return any;
}

char *flagscale_script(const struct tool *tool, const struct node *root)
{
	char *script = NULL;
	size_t size;
	int line = 1;
	struct server s = { .out = open_memstream(&script, &size) };
	bool any;

	error_note_memory(!s.out);
	any = s.out && put_list(&s, tool, root, &line);
	if (!s.out || !stream_end(s.out, &script) || !any) {
		free(script);
		return NULL;
	}
	return script;
}

/* model: {name, tp_size, pp_size} beside vllm: {serverArgs}. */
static bool put_values(const struct server *s, const struct tool *tool,
		       const struct node *root)
{
	static const char *const degrees[][2] = { { "tp_size", "tensor_parallel_size" },
						  { "pp_size",
						    "pipeline_parallel_size" } };
	const struct node *model = node_get(root, "model"),
			  *part = node_get(root, tool->name);
	const struct node *args = part ? node_get(part, "serverArgs") : NULL;
	const char *name = scalar_of(model, "name");

	if (!args || !name)
		return false;
	for (int line = 1; line < place_line(model->line); line++)
		fputc('\n', s->out);
	fputs(s->sglang ? "python -m sglang.launch_server --model-path" : "vllm serve",
	      s->out);
	put_quoted(s->out, name);
	for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
		const char *degree = scalar_of(model, degrees[i][0]);

		if (!degree)
			continue;
		put_name(s, degrees[i][1]);
		put_quoted(s->out, degree);
	}
	put_flags(s, args);
	fputc('\n', s->out);
	return true;
}

char *values_script(const struct tool *tool, const struct node *root)
{
	char *script = NULL;
	size_t size;
	struct server s = { .out = open_memstream(&script, &size) };
	bool any = false;

	error_note_memory(!s.out);
	s.sglang = strcmp(tool->name, "sglang") == 0;
	for (const struct node *one = root->child; one && s.out && !any;
	     one = one->next)
		any = one->kind == NODE_MAP && put_values(&s, tool, one);
	if (!s.out || !stream_end(s.out, &script) || !any) {
		free(script);
		return NULL;
	}
	return script;
}
