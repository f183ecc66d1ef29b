/* document.c - see document.h. */
#include "presets/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "presets/stream.h"

enum { BLOCK_BYTES = 1 << 16, MAX_KEYS = 4096 };

struct block {
	struct block *next;
	size_t used, size;
	max_align_t data[];
};

/* Everything a document holds lies in blocks that are freed together. */
static void *take(struct document *document, size_t bytes)
{
	struct block *block = document->storage;

	bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
		sizeof(max_align_t);
	if (!block || block->size - block->used < bytes) {
		size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

		block = malloc(sizeof *block + size);
		if (!block)
			return NULL;
		block->next = document->storage;
		block->used = 0;
		block->size = size;
		document->storage = block;
	}
	void *at = (char *)block->data + block->used;

	block->used += bytes;
	return at;
}

void document_free(struct document *document)
{
	struct block *block = document->storage;

	while (block) {
		struct block *next = block->next;

		free(block);
		block = next;
	}
	document->storage = NULL;
	document->root = NULL;
}

/* Where the parser is: the open lists and maps, innermost last. */
struct builder {
	struct document *document;
	struct error *error;
	int depth, nodes;
	bool repeats; /* equal keys in one mapping are kept */
	struct node *open[DOCUMENT_MAX_DEPTH];
	struct node *last[DOCUMENT_MAX_DEPTH]; /* last child of each */
	const char *key;                       /* waits for its value */
	int key_line;
};

static bool complain(const struct builder *b, int line, const char *what)
{
	return error_set(b->error, b->document->file, line, "%s", what);
}

static const char *keep_text(struct builder *b, const yaml_event_t *event)
{
	char *text = take(b->document, event->data.scalar.length + 1);

	if (text) {
		memcpy(text, event->data.scalar.value, event->data.scalar.length);
		text[event->data.scalar.length] = '\0';
	}
	return text;
}

static bool check_key(struct builder *b, const char *key, int line)
{
	const struct node *map = b->open[b->depth - 1];

	if (map->count >= MAX_KEYS)
		return error_set(b->error, b->document->file, line,
				 "more than %d keys in one mapping", MAX_KEYS);
	for (const struct node *node = map->child; node && !b->repeats;
	     node = node->next)
		if (strcmp(node->key, key) == 0)
			return error_set(b->error, b->document->file, line,
					 "key '%.60s' stands here again, first in line "
					 "%d; keep one of them",
					 key, place_line(node->line));
	return true;
}

/* A new node, hung into the innermost open list or map. */
static struct node *add_node(struct builder *b, enum node_kind kind, int line)
{
	struct node *node;

	if (++b->nodes > DOCUMENT_MAX_NODES) {
		error_set(b->error, b->document->file, line, "more than %d values",
			  DOCUMENT_MAX_NODES);
		return NULL;
	}
	node = take(b->document, sizeof *node);
	if (!node) {
		complain(b, line, "out of memory");
		return NULL;
	}
	*node = (struct node){ .kind = kind, .line = line, .key = b->key };
	b->key = NULL;
	if (b->depth == 0) {
		b->document->root = node;
		return node;
	}
	if (b->last[b->depth - 1])
		b->last[b->depth - 1]->next = node;
	else
		b->open[b->depth - 1]->child = node;
	b->last[b->depth - 1] = node;
	b->open[b->depth - 1]->count++;
	return node;
}

static bool expects_key(const struct builder *b)
{
	return b->depth > 0 && b->open[b->depth - 1]->kind == NODE_MAP && !b->key;
}

static bool on_scalar(struct builder *b, const yaml_event_t *event, int line)
{
	const char *text;

	if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
		return complain(b, line, "a value holds a zero byte");
	text = keep_text(b, event);
	if (!text)
		return complain(b, line, "out of memory");
	if (expects_key(b)) {
		b->key = text;
		b->key_line = line;
		return check_key(b, text, line);
	}
	struct node *node = add_node(b, NODE_SCALAR, line);

	if (!node)
		return false;
	node->text = text;
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return true;
}

static bool on_open(struct builder *b, enum node_kind kind, int line)
{
	struct node *node;

	if (expects_key(b))
		return complain(b, line,
				"a key must be plain text, not a list or mapping");
	if (b->depth == DOCUMENT_MAX_DEPTH)
		return error_set(b->error, b->document->file, line,
				 "nested deeper than %d levels", DOCUMENT_MAX_DEPTH);
	node = add_node(b, kind, line);
	if (!node)
		return false;
	b->open[b->depth] = node;
	b->last[b->depth] = NULL;
	b->depth++;
	return true;
}

static bool on_event(struct builder *b, const yaml_event_t *event)
{
	int line = place_at((long)event->start_mark.line + 1,
			    (long)event->start_mark.column + 1);

	switch (event->type) {
	case YAML_SCALAR_EVENT: return on_scalar(b, event, line);
	case YAML_SEQUENCE_START_EVENT: return on_open(b, NODE_LIST, line);
	case YAML_MAPPING_START_EVENT: return on_open(b, NODE_MAP, line);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: b->depth--; return true;
	case YAML_ALIAS_EVENT:
		return complain(b, line,
				"aliases (*name) are not read; write the value out");
	case YAML_DOCUMENT_START_EVENT:
		if (b->document->root)
			return complain(b, line,
					"a second document (---); one file holds one");
		return true;
	default: return true;
	}
}

static int line_at(const char *text, size_t length, size_t offset)
{
	long line = 1, column = 1;

	for (size_t i = 0; i < length && i < offset; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return place_at(line, column);
}

static bool parser_complains(struct builder *b, const yaml_parser_t *parser,
			     const char *text, size_t length)
{
	const char *problem = parser->problem ? parser->problem : "not YAML";
	int line = place_at((long)parser->problem_mark.line + 1,
			    (long)parser->problem_mark.column + 1);

	if (parser->error == YAML_MEMORY_ERROR)
		problem = "out of memory";
	if (parser->error == YAML_READER_ERROR)
		line = line_at(text, length, parser->problem_offset);
	if (parser->error == YAML_READER_ERROR || !parser->problem)
		return error_set(b->error, b->document->file, line,
				 "%s; expected UTF-8 text in YAML or JSON", problem);
	return error_set(b->error, b->document->file, line, "%s%s%s", problem,
			 parser->context ? " " : "",
			 parser->context ? parser->context : "");
}

static bool run_parser(struct builder *b, const char *text, size_t length)
{
	yaml_parser_t parser;
	bool good = true, done = false;

	if (!yaml_parser_initialize(&parser))
		return complain(b, 0, "out of memory");
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	while (good && !done) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			good = parser_complains(b, &parser, text, length);
			break;
		}
		good = on_event(b, &event);
		done = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return good;
}

static bool parse(struct document *document, const char *name, const char *text,
		  size_t length, bool repeats, struct error *error)
{
	struct builder *b;
	bool good;

	memset(document, 0, sizeof *document);
	strncpy(document->file, name, sizeof document->file - 1);
	error_clean(document->file);
	if (length > DOCUMENT_MAX_BYTES)
		return error_set(error, document->file, 0, "larger than %d MiB",
				 DOCUMENT_MAX_BYTES >> 20);
	b = calloc(1, sizeof *b);
	if (!b)
		return error_set(error, document->file, 0, "out of memory");
	b->document = document;
	b->error = error;
	b->repeats = repeats;
	good = run_parser(b, text, length);
	if (good && !document->root)
		good = error_set(error, document->file, 1, "empty; expected YAML keys");
	free(b);
	if (!good)
		document_free(document);
	return good;
}

bool document_parse(struct document *document, const char *name, const char *text,
		    size_t length, struct error *error)
{
	return parse(document, name, text, length, false, error);
}

bool document_parse_repeats(struct document *document, const char *name,
			    const char *text, size_t length, struct error *error)
{
	return parse(document, name, text, length, true, error);
}

bool document_read(struct document *document, const char *path, struct error *error)
{
	size_t length;
	char *text = stream_read_file(path, DOCUMENT_MAX_BYTES, &length, error);
	bool good;

	memset(document, 0, sizeof *document);
	good = text && document_parse(document, stream_name(path), text, length, error);
	free(text);
	return good;
}

struct node *node_get(const struct node *map, const char *key)
{
	struct node *node = map && map->kind == NODE_MAP ? map->child : NULL;

	while (node && strcmp(node->key, key) != 0)
		node = node->next;
	return node;
}

static bool wrong_kind(const struct document *document, const struct node *node,
		       const char *expected, struct error *error)
{
	static const char *const kinds[] = { "a value", "a list", "a mapping" };
	const char *key = node->key ? node->key : "item";

	if (node->kind != NODE_SCALAR)
		return error_set(error, document->file, node->line,
				 "%.60s is %s; expected %s", key, kinds[node->kind],
				 expected);
	return error_set(error, document->file, node->line,
			 "%.60s is '%.60s'; expected %s", key, node->text, expected);
}

bool node_number(const struct document *document, const struct node *node, double *out,
		 struct error *error)
{
	static const char suffixes[] = "kMGBT";
	static const double factor[] = { 1e3, 1e6, 1e9, 1e9, 1e12 };
	const char *expected = "a number";
	char *end;
	double value;

	if (node->kind != NODE_SCALAR || node->text[0] == '\0' || node->quoted ||
	    strspn(node->text, "+-.0123456789") == 0)
		return wrong_kind(document, node, expected, error);
	value = strtod(node->text, &end);
	if (*end != '\0' && end[1] == '\0' && strchr(suffixes, *end)) {
		value *= factor[strchr(suffixes, *end) - suffixes];
		end++;
	}
	if (*end != '\0' || end == node->text || !isfinite(value))
		return wrong_kind(document, node, expected, error);
	*out = value;
	return true;
}

bool node_count(const struct document *document, const struct node *node, int64_t *out,
		struct error *error)
{
	double value;

	if (!node_number(document, node, &value, error) || value != floor(value) ||
	    fabs(value) > 9007199254740992.0) /* 2^53: exact in a double */
		return wrong_kind(document, node, "a whole number", error);
	*out = (int64_t)value;
	return true;
}

bool node_bool(const struct document *document, const struct node *node, bool *out,
	       struct error *error)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{ "true", true },   { "false", false }, { "True", true },
		{ "False", false }, { "yes", true },    { "no", false },
		{ "on", true },     { "off", false },
	};

	for (size_t i = 0;
	     node->kind == NODE_SCALAR && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(node->text, words[i].word) == 0) {
			*out = words[i].value;
			return true;
		}
	return wrong_kind(document, node, "true or false", error);
}

bool node_text(const struct document *document, const struct node *node, char *out,
	       size_t size, struct error *error)
{
	if (node->kind != NODE_SCALAR)
		return wrong_kind(document, node, "text", error);
	if (strlen(node->text) >= size)
		return error_set(error, document->file, node->line,
				 "%.60s is longer than %d characters",
				 node->key ? node->key : "item", (int)size - 1);
	/* nothing of an earlier, longer text stays: structs are compared whole */
	memset(out, 0, size);
	memcpy(out, node->text, strlen(node->text));
	error_clean(out);
	return true;
}
