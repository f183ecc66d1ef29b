/* cases.c - lists of servers of vllm-ascend's tests as the commands that they start.
 *
 * Keys: vllm-project/vllm-ascend, tests/e2e/nightly. One node: test_cases, each with
 * model, envs and server_cmd, the words behind the model. Several: deployment, of which
 * each node's server_cmd is a whole command; or templates beside config, where a node's
 * own degrees are variables of its words (multi_node/external_dp/scripts).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/serving/benchmark.h"
#include "presets/serving/chart.h"
#include "presets/serving/tool.h"
#include "presets/stream.h"

struct cases {
	FILE *out;
	const struct node *root;
	int line; /* that is written */
	bool any;
};

/* A word that may hold variables: "$SERVER_PORT", "${DP_SIZE}". */
static void put_word(FILE *out, const char *text)
{
	bool variable = text[0] == '$' && !strpbrk(text, "\"`\\ (");

	fputc(variable ? '"' : '\'', out);
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else if (*text != '\n')
			fputc(*text, out);
	fputc(variable ? '"' : '\'', out);
}

static bool is_name(const char *key)
{
	for (const char *c = key; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	return !isdigit((unsigned char)key[0]) && key[0] != '\0';
}

/* Scalars of a mapping as variables; in capitals where they are a node's own. */
static void put_variables(FILE *out, const struct node *map, bool capitals)
{
	for (const struct node *node = map && map->kind == NODE_MAP ? map->child : NULL;
	     node; node = node->next) {
		if (node->kind != NODE_SCALAR || !is_name(node->key))
			continue;
		for (const char *c = node->key; *c != '\0'; c++)
			fputc(capitals ? toupper((unsigned char)*c) : *c, out);
		fputc('=', out);
		put_word(out, node->text);
		fputs("; ", out);
	}
}

/* The node of config that a template is for; NULL. */
static const struct node *config_of(const struct cases *c, const struct node *entry)
{
	const char *index = scalar_of(entry, "node_index");
	const struct node *list = index ? node_get(c->root, "config") : NULL;

	for (const struct node *one = list && list->kind == NODE_LIST ? list->child
								      : NULL;
	     one; one = one->next) {
		const char *own = scalar_of(one, "node_index");

		if (own && strcmp(own, index) == 0)
			return one;
	}
	return NULL;
}

/* A node whose copies join those of another's server starts none of its own. */
static bool joins(const struct node *config)
{
	const char *first = scalar_of(config, "dp_rank_start");

	return first && strtol(first, NULL, 10) > 0;
}

static void put_entry(struct cases *c, const struct node *entry,
		      const struct node *words)
{
	const struct node *config = config_of(c, entry);
	const char *model = scalar_of(entry, "model");

	model = model ? model : scalar_of(c->root, "model");
	if (joins(config) || (words->kind != NODE_SCALAR && !model))
		return;
	for (; c->line < place_line(entry->line); c->line++)
		fputc('\n', c->out);
	put_variables(c->out, node_get(entry, "envs"), false);
	put_variables(c->out, config, true);
	if (words->kind == NODE_SCALAR) {
		for (const char *text = words->text; *text != '\0'; text++)
			fputc(*text == '\n' ? ' ' : *text, c->out);
	} else {
		fputs("vllm serve ", c->out);
		put_word(c->out, model);
		for (const struct node *word = words->child; word; word = word->next) {
			fputc(' ', c->out);
			if (word->kind == NODE_SCALAR)
				put_word(c->out, word->text);
		}
	}
	fputc('\n', c->out);
	c->line++;
	c->any = true;
}

/* The servers of a list; of cases, which run one after the other, the first. */
static void put_list(struct cases *c, const char *key, const char *command, bool first)
{
	const struct node *list = node_get(c->root, key), *words;

	for (const struct node *entry = list && list->kind == NODE_LIST ? list->child
									: NULL;
	     entry && !(first && c->any); entry = entry->next)
		if (entry->kind == NODE_MAP && (words = node_get(entry, command)) &&
		    words->kind != NODE_MAP)
			put_entry(c, entry, words);
}

char *cases_script(const struct tool *tool, const struct node *root)
{
	char *script = NULL;
	size_t size;
	struct cases c = { .line = 1 };

	if (!root || strcmp(tool->name, "vllm") != 0)
		return NULL;
	c.out = open_memstream(&script, &size);
	error_note_memory(!c.out);
	if (!c.out)
		return NULL;
	/* the documents of the file */
	for (c.root = root->child; c.root; c.root = c.root->next) {
		if (c.root->kind != NODE_MAP)
			continue;
		put_list(&c, "test_cases", "server_cmd", true);
		put_list(&c, "deployment", "server_cmd", false);
		put_list(&c, "templates", "server_cmd_template", false);
	}
	if (!stream_end(c.out, &script) || !c.any) {
		free(script);
		return NULL;
	}
	return script;
}
