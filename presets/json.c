/* json.c - see json.h. */
#include "presets/json.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With its quotes; 0 where it has no end in its line, which cJSON would take. */
static size_t quoted_length(const char *text)
{
	size_t i = 1;

	for (; (unsigned char)text[i] >= ' ' && text[i] != '"'; i++)
		i += text[i] == '\\' && (unsigned char)text[i + 1] >= ' ';
	return text[i] == '"' ? i + 1 : 0;
}

/* Of a word of Python or, `loose`, a comment; else 0. */
static size_t hidden_length(const char *text, bool loose)
{
	const char *end = strncmp(text, "/*", 2) == 0 ? strstr(text + 2, "*/") : NULL;
	size_t sign = *text == '-';

	if (loose)
		return *text == '#' || strncmp(text, "//", 2) == 0 ? strcspn(text, "\n")
		       : end ? (size_t)(end + 2 - text)
			     : 0;
	return strncmp(text, "NaN", 3) == 0               ? 3
	       : strncmp(text + sign, "Infinity", 8) == 0 ? 8 + sign
							  : 0;
}

/* Makes comments blank, or words an empty list, which is neither a key nor part of a
 * number, and bounds what cJSON gets. What is wrong, and where. */
static const char *prepare(char *text, size_t length, bool loose, size_t *at)
{
	int depth = 0, values = 0;
	char last = '\0';

	for (size_t used; *at < length; *at += used ? used : 1) {
		char *s = text + *at, c = *s;

		used = c == '"' ? quoted_length(s) : hidden_length(s, loose);
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		values += c == '{' || c == '[' || c == ',';
		if (!loose && (c == '#' || c == '/'))
			return "JSON has no comments; remove it";
		if (used == 0 && c == '/')
			return "no comment, or one without an end; expected // or */";
		if (used == 0 && c == '"')
			return "a text has no end in its line; expected \" (and \\n, "
			       "\\t, \\u for control characters)";
		if (!loose && last == ',' && (c == '}' || c == ']'))
			return "a comma before a closing bracket; remove it";
		if (depth > DOCUMENT_MAX_DEPTH)
			return "nested deeper than 64 levels";
		if (values > 2 * DOCUMENT_MAX_NODES) /* at least half are values */
			return "more than 1048576 values";
		last = strchr(" \t\r\n", c) ? last : c;
		for (size_t i = 0; i < used && c != '"'; i++)
			s[i] = !loose ? "[]       "[i] : s[i] == '\n' ? '\n' : ' ';
	}
	return NULL;
}

/* What is no JSON, and where. */
static const char *check(const char *text, size_t *at)
{
	const char *end = text;
	cJSON *root = cJSON_ParseWithOpts(text, &end, true);
	bool good = root;

	cJSON_Delete(root);
	while (*end && *end != '\\' && end > text &&
	       !strchr(" \t\r\n,:[]{}\"", end[-1]))
		end--; /* cJSON stands within a word */
	*at = (size_t)(end - text);
	return good           ? NULL
	       : *end == '\0' ? "the file ends here; expected the rest of the JSON"
	       : *end == '\\'
		       ? "no such escape; expected \\\" \\\\ \\/ \\b \\f \\n \\r "
			 "\\t, or \\u and four digits of one character"
		       : "this is no JSON; expected a number, true, false, null, "
			 "\"text\", \"key\": or a comma";
}

char *json_check(struct tree *tree, const char *text, size_t length, bool loose)
{
	char *copy = calloc(1, length + 1);
	const char *wrong = "out of memory";
	size_t at = 0;

	if (copy)
		wrong = prepare(memcpy(copy, text, length), length, loose, &at);
	if (!wrong && !loose)
		wrong = check(copy, &at);
	for (size_t i = 0; i < length && !wrong; i++) {
		copy[i] = loose ? copy[i] : text[i];
		if (copy[i] == '\t')
			copy[i] = ' '; /* libyaml refuses it before the first brace */
	}
	if (!wrong)
		return copy;
	tree_complain(tree, place_in(text, at), wrong);
	free(copy);
	return NULL;
}

bool json_looks_like(const char *text, size_t length)
{
	char head[256], c = '\0';
	size_t bom = length > 2 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	snprintf(head, sizeof head, "%.*s", length < 255 ? (int)length : 255, text);
	return sscanf(head + bom, " { %c", &c) == 1 && (c == '"' || c == '}');
}
