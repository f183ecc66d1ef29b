/* document.c - see document.h. */
#include "presets/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "presets/json.h"
#include "presets/stream.h"
#include "presets/tree.h"

static bool named(struct tree *tree, const yaml_char_t *anchor, int line)
{
	return !anchor || tree_anchor(tree, (const char *)anchor, line);
}

/* Its anchor is of what is open now, so the one above has it as its last. */
static bool open_named(struct tree *tree, enum node_kind kind,
		       const yaml_char_t *anchor, int line)
{
	struct node *node;

	if (!tree_open(tree, kind, line))
		return false;
	if (!anchor || tree->skipped > 0)
		return true;
	node = tree->open[--tree->depth];
	if (!named(tree, anchor, line))
		return false;
	tree->open[tree->depth++] = node;
	return true;
}

static bool on_event(struct tree *tree, const yaml_event_t *event)
{
	int line = place_at((long)event->start_mark.line + 1,
			    (long)event->start_mark.column + 1);

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return tree_scalar(tree, (const char *)event->data.scalar.value,
				   event->data.scalar.length,
				   event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
				   line) &&
		       named(tree, event->data.scalar.anchor, line);
	case YAML_SEQUENCE_START_EVENT:
		return open_named(tree, NODE_LIST, event->data.sequence_start.anchor,
				  line);
	case YAML_MAPPING_START_EVENT:
		return open_named(tree, NODE_MAP, event->data.mapping_start.anchor,
				  line);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: tree_close(tree); return true;
	case YAML_ALIAS_EVENT:
		return tree_alias(tree, (const char *)event->data.alias.anchor, line);
	case YAML_DOCUMENT_START_EVENT:
		if (tree->document->root && tree->depth == 0)
			return tree_complain(
				tree, line,
				"a second document (---); one file holds one");
		return true;
	default: return true;
	}
}

/* `checked`: the text is JSON, and few things of JSON are no YAML. */
static bool parser_complains(struct tree *tree, const yaml_parser_t *parser,
			     const char *text, size_t length, bool checked)
{
	const char *problem = parser->problem ? parser->problem : "not YAML";
	int line = place_at((long)parser->problem_mark.line + 1,
			    (long)parser->problem_mark.column + 1);

	if (parser->error == YAML_MEMORY_ERROR)
		return error_set(tree->error, tree->document->file, 0, "out of memory");
	if (parser->error == YAML_READER_ERROR)
		line = place_in(text, parser->problem_offset < length
					      ? parser->problem_offset
					      : length);
	if (parser->error == YAML_READER_ERROR || !parser->problem)
		return error_set(tree->error, tree->document->file, line,
				 "%s; expected UTF-8 text in YAML or JSON", problem);
	if (checked)
		return tree_complain(
			tree, line,
			parser->context && strstr(parser->context, "quoted scalar")
				? "\\u needs four digits of one character; a pair of "
				  "surrogates (\\ud800-\\udfff) is not read, write the "
				  "character itself"
				: "a key of more than 1024 bytes, or with its colon in "
				  "another line, is not read; shorten it");
	return error_set(tree->error, tree->document->file, line, "%s%s%s%s", problem,
			 parser->context ? " " : "",
			 parser->context ? parser->context : "",
			 strstr(problem, "tab character") ? "; indent with spaces"
			 : strstr(problem, "Unicode character escape")
				 ? "; write the character itself"
				 : "");
}

static bool run_parser(struct tree *tree, const char *text, size_t length, bool checked)
{
	yaml_parser_t parser;
	bool good = true, done = false;

	if (!yaml_parser_initialize(&parser))
		return tree_complain(tree, 0, "out of memory");
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	while (good && !done) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			good = parser_complains(tree, &parser, text, length, checked);
			break;
		}
		good = on_event(tree, &event);
		done = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return good;
}

static bool is_named_json(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

enum form { FORM_ANY, FORM_REPEATS, FORM_MANY, FORM_JSON, FORM_LOOSE_JSON };

static bool parse(struct document *document, const char *name, const char *text,
		  size_t length, enum form form, struct error *error)
{
	struct tree *tree;
	char *json = NULL;
	bool good;

	memset(document, 0, sizeof *document);
	strncpy(document->file, name, sizeof document->file - 1);
	error_clean(document->file);
	if (length > DOCUMENT_MAX_BYTES)
		return error_set(error, document->file, 0,
				 "larger than %d MiB; expected a configuration",
				 DOCUMENT_MAX_BYTES >> 20);
	/* Notepad's mark of UTF-8 is no part of the text; to libyaml it is a column */
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		length -= 3;
	}
	if (form == FORM_ANY && (is_named_json(name) || json_looks_like(text, length)))
		form = FORM_JSON;
	tree = calloc(1, sizeof *tree);
	if (!tree)
		return error_set(error, document->file, 0, "out of memory");
	tree->document = document;
	tree->error = error;
	tree->repeats = form == FORM_REPEATS;
	if (form >= FORM_JSON)
		text = json = json_check(tree, text, length, form == FORM_LOOSE_JSON);
	good = text && (form != FORM_MANY || tree_open(tree, NODE_LIST, 1)) &&
	       run_parser(tree, text, length, form == FORM_JSON);
	free(json);
	if (good && !document->root)
		good = error_set(error, document->file, 1, "empty; expected YAML keys");
	free(tree);
	if (!good)
		document_free(document);
	return good;
}

bool document_parse(struct document *document, const char *name, const char *text,
		    size_t length, struct error *error)
{
	return parse(document, name, text, length, FORM_ANY, error);
}

bool document_parse_repeats(struct document *document, const char *name,
			    const char *text, size_t length, struct error *error)
{
	return parse(document, name, text, length, FORM_REPEATS, error);
}

bool document_parse_many(struct document *document, const char *name, const char *text,
			 size_t length, struct error *error)
{
	return parse(document, name, text, length, FORM_MANY, error);
}

bool document_parse_json(struct document *document, const char *name, const char *text,
			 size_t length, bool loose, struct error *error)
{
	return parse(document, name, text, length, loose ? FORM_LOOSE_JSON : FORM_JSON,
		     error);
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
