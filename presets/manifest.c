/* manifest.c - see manifest.h. */
#include "presets/manifest.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/document.h"

struct script {
	FILE *stream;
	int line;     /* that is written */
	int commands; /* so far */
};

static const struct node *list_of(const struct node *map, const char *key)
{
	const struct node *node = node_get(map, key);

	return node && node->kind == NODE_LIST ? node : NULL;
}

/* Whether a list of words, or a script that is one of them, has flags. */
static bool has_flags(const struct node *list)
{
	const struct node *node = list ? list->child : NULL;

	for (; node; node = node->next)
		if (node->kind == NODE_SCALAR &&
		    (strncmp(node->text, "--", 2) == 0 || strstr(node->text, " --")))
			return true;
	return false;
}

/* One word, in quotes. What a template fills in (${NAME}) is a variable. */
static void put_word(const struct script *s, const char *text)
{
	bool open = strstr(text, "${") && !strpbrk(text, " \n\"'`\\");

	fputc(open ? '"' : '\'', s->stream);
	for (; *text != '\0'; text++)
		if (*text == '\'' && !open)
			fputs("'\\''", s->stream);
		else
			fputc(*text, s->stream);
	fputc(open ? '"' : '\'', s->stream);
}

static void put_words(struct script *s, const struct node *list)
{
	const struct node *node = list ? list->child : NULL;

	for (; node; node = node->next) {
		if (node->kind != NODE_SCALAR)
			continue;
		for (; s->line < place_line(node->line); s->line++)
			fputs(" \\\n", s->stream);
		fputc(' ', s->stream);
		put_word(s, node->text);
		for (const char *c = node->text; *c != '\0'; c++)
			s->line += *c == '\n';
	}
}

static void put_variables(const struct script *s, const struct node *list)
{
	const struct node *node = list ? list->child : NULL;

	for (; node; node = node->next) {
		const struct node *name = node->kind == NODE_MAP
						  ? node_get(node, "name")
						  : NULL,
				  *value = name ? node_get(node, "value") : NULL;

		if (!value || name->kind != NODE_SCALAR || value->kind != NODE_SCALAR ||
		    strchr(value->text, '\n'))
			continue;
		fprintf(s->stream, "export %.80s=", name->text);
		put_word(s, value->text);
		fputs("; ", s->stream);
	}
}

static void put_container(struct script *s, const struct node *map)
{
	const struct node *command = list_of(map, "command"),
			  *words = list_of(map, "args");

	if (!has_flags(command) && !has_flags(words))
		return;
	put_variables(s, list_of(map, "env"));
	put_words(s, command);
	put_words(s, words);
	fputc('\n', s->stream);
	s->line++;
	s->commands++;
}

/* As deep as a document may be. */
static void find_containers(struct script *s, const struct node *node)
{
	if (node->kind == NODE_MAP)
		put_container(s, node);
	for (const struct node *child = node->kind == NODE_SCALAR ? NULL : node->child;
	     child; child = child->next)
		find_containers(s, child);
}

char *manifest_commands(const char *text, size_t length)
{
	struct script s = { .line = 1 };
	struct document document;
	struct error error;
	char *out = NULL;
	size_t size;

	if (!memmem(text, length, "image:", 6) ||
	    (!memmem(text, length, "command:", 8) && !memmem(text, length, "args:", 5)))
		return NULL;
	if (!document_parse_many(&document, "manifest", text, length, &error))
		return NULL;
	s.stream = open_memstream(&out, &size);
	if (s.stream) {
		find_containers(&s, document.root);
		if (fclose(s.stream) != 0 || s.commands == 0) {
			free(out);
			out = NULL;
		}
	}
	document_free(&document);
	return out;
}
