/* json.c - see json.h. */
#include "presets/json.h"

#include <stdlib.h>
#include <string.h>

struct json {
	struct tree *tree;
	const char *at, *stop, *line_start;
	long line;
	bool loose;
	bool comma; /* a member must follow */
	char *text; /* of the string that was read, as long as the file at most */
	size_t used;
};

static int place_of(const struct json *j, const char *at)
{
	return place_at(j->line, at - j->line_start + 1);
}

static int place(const struct json *j)
{
	return place_of(j, j->at);
}

static bool fail(const struct json *j, const char *what)
{
	bool comment = !j->loose && j->at < j->stop && (*j->at == '#' || *j->at == '/');

	return tree_complain(j->tree, place(j),
			     comment ? "JSON has no comments; remove it" : what);
}

static bool is_at(const struct json *j, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(j->stop - j->at) >= length && memcmp(j->at, word, length) == 0;
}

static void step(struct json *j)
{
	if (*j->at++ == '\n') {
		j->line++;
		j->line_start = j->at;
	}
}

/* A comment of hjson: to the end of the line, or between slash and star. */
static bool skip_comment(struct json *j)
{
	bool block = is_at(j, "/*");

	if (!j->loose || !(block || is_at(j, "//") || is_at(j, "#")))
		return false;
	while (j->at < j->stop && (block ? !is_at(j, "*/") : *j->at != '\n'))
		step(j);
	if (block && j->at < j->stop)
		j->at += 2;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* To the next sign; '\0' at the end. */
static char skip(struct json *j)
{
	for (;;)
		if (j->at < j->stop && is_blank(*j->at))
			step(j);
		else if (!skip_comment(j))
			return j->at < j->stop ? *j->at : '\0';
}

/* --- strings --- */

static void put(struct json *j, unsigned long code)
{
	unsigned char *out = (unsigned char *)j->text + j->used;
	int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };

	out[0] = (unsigned char)(lead[more] | code >> 6 * more);
	for (int i = 1; i <= more; i++)
		out[i] = (unsigned char)(0x80 | (code >> 6 * (more - i) & 0x3f));
	j->used += (size_t)more + 1;
}

/* The four digits behind \u; -1 where they are none. */
static long read_hex(struct json *j)
{
	long code = 0;

	if (j->stop - j->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *digit = *j->at ? strchr(digits, *j->at) : NULL;

		if (!digit)
			return -1;
		code = code * 16 +
		       (digit - digits < 16 ? digit - digits : digit - digits - 6);
		j->at++;
	}
	return code;
}

/* Behind "\u": a character, or two surrogates that are one. */
static bool read_code(struct json *j)
{
	long code = read_hex(j), low = -1;

	if (code < 0)
		return fail(j, "\\u stands before four digits of 0-9 a-f");
	if (code >= 0xd800 && code < 0xdc00 && is_at(j, "\\u")) {
		j->at += 2;
		low = read_hex(j);
	}
	if (low >= 0xdc00 && low < 0xe000)
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	else if (code >= 0xd800 && code < 0xe000)
		return fail(j, "a surrogate \\ud800-\\udfff without its pair; write "
			       "the character itself, or both of a pair");
	put(j, (unsigned long)code);
	return true;
}

static bool read_escape(struct json *j)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *which = ++j->at < j->stop && *j->at ? strchr(from, *j->at) : NULL;

	if (which) {
		j->at++;
		put(j, (unsigned char)to[which - from]);
		return true;
	}
	if (!is_at(j, "u"))
		return fail(j, "no such escape; expected \\\" \\\\ \\/ \\b \\f \\n \\r "
			       "\\t or \\u and four digits");
	j->at++;
	return read_code(j);
}

/* At its first quote; what it says is in text then. */
static bool read_string(struct json *j)
{
	int start = place(j);

	j->used = 0;
	for (j->at++; j->at < j->stop && *j->at != '"';) {
		size_t length = utf8_length(j->at, (size_t)(j->stop - j->at));

		if (*j->at == '\n')
			return tree_complain(j->tree, start,
					     "a text has no end in its line; expected "
					     "\" (and \\n for a line break in it)");
		if ((unsigned char)*j->at < 0x20)
			return fail(j, "a control character in a text; write it as "
				       "\\u and four digits");
		if (length == 0)
			return fail(j, "these bytes are no UTF-8; expected UTF-8 text");
		if (*j->at == '\\') {
			if (!read_escape(j))
				return false;
			continue;
		}
		memcpy(j->text + j->used, j->at, length);
		j->used += length;
		j->at += length;
	}
	if (j->at == j->stop)
		return tree_complain(j->tree, start,
				     "the file ends within a text; expected \"");
	j->at++;
	return true;
}

/* --- values --- */

static size_t digits(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(const char *text, size_t length)
{
	size_t used = length > 0 && text[0] == '-', whole;

	whole = digits(text + used, length - used);
	if (whole == 0 || (whole > 1 && text[used] == '0'))
		return false;
	used += whole;
	if (used < length && text[used] == '.') {
		size_t part = digits(text + used + 1, length - used - 1);

		if (part == 0)
			return false;
		used += part + 1;
	}
	if (used < length && (text[used] == 'e' || text[used] == 'E')) {
		used++;
		used += used < length && (text[used] == '+' || text[used] == '-');
		if (used == length)
			return false;
		used += digits(text + used, length - used);
	}
	return used == length && text[length - 1] >= '0' && text[length - 1] <= '9';
}

/* A number or one of the words; the last three are Python's. */
static bool read_word(struct json *j)
{
	static const char *const words[] = { "true", "false",    "null",
					     "NaN",  "Infinity", "-Infinity" };
	const char *start = j->at;
	size_t length = 0;
	bool good;

	while (start + length < j->stop && !is_blank(start[length]) &&
	       (start[length] == '\0' || !strchr(",:[]{}\"", start[length])))
		length++;
	good = is_number(start, length);
	for (size_t i = 0; i < sizeof words / sizeof words[0] && !good; i++)
		good = strlen(words[i]) == length &&
		       memcmp(start, words[i], length) == 0;
	if (!good)
		return error_set(j->tree->error, j->tree->document->file, place(j),
				 "'%.*s' is no JSON; expected a number, true, false, "
				 "null, \"text\", [ or {",
				 length < 40 ? (int)length : 40, start);
	j->at += length;
	return tree_scalar(j->tree, start, length, false, place_of(j, start));
}

static bool read_value(struct json *j)
{
	int start;
	char c = skip(j);

	start = place(j);
	if (c == '{' || c == '[') {
		j->at++;
		j->comma = false;
		return tree_open(j->tree, c == '{' ? NODE_MAP : NODE_LIST, start);
	}
	if (c == '"')
		return read_string(j) &&
		       tree_scalar(j->tree, j->text, j->used, true, start);
	if (j->at == j->stop)
		return fail(j, "the file ends here; expected a value");
	return read_word(j);
}

static bool read_member(struct json *j)
{
	int start = place(j);

	if (j->tree->open[j->tree->depth - 1]->kind == NODE_LIST)
		return read_value(j);
	if (!is_at(j, "\""))
		return fail(j, "expected a key in double quotes");
	if (!read_string(j) || !tree_scalar(j->tree, j->text, j->used, true, start))
		return false;
	if (skip(j) != ':')
		return fail(j, "expected : behind a key");
	j->at++;
	return read_value(j);
}

/* What stands behind a value or an opening bracket, up to the next value. */
static bool read_next(struct json *j)
{
	const struct node *in = j->tree->open[j->tree->depth - 1];
	bool map = in->kind == NODE_MAP;
	char c = skip(j);

	if (c == (map ? '}' : ']')) {
		if (j->comma && !j->loose)
			return fail(j, "a comma before a closing bracket; remove it");
		j->comma = false;
		j->at++;
		tree_close(j->tree);
		return true;
	}
	if (j->at == j->stop)
		return error_set(j->tree->error, j->tree->document->file, place(j),
				 "the file ends here; expected %s for the bracket of "
				 "line %d",
				 map ? "}" : "]", place_line(in->line));
	if (in->count == 0 || j->comma) {
		j->comma = false;
		return read_member(j);
	}
	if (c != ',')
		return fail(j, map ? "expected , or } behind a value"
				   : "expected , or ] behind a value");
	j->at++;
	j->comma = true;
	return true;
}

bool json_looks_like(const char *text, size_t length)
{
	struct json j = { .at = text, .stop = text + length };

	if (is_at(&j, "\xef\xbb\xbf"))
		j.at += 3;
	if (skip(&j) != '{')
		return false;
	j.at++;
	skip(&j);
	return is_at(&j, "\"") || is_at(&j, "}");
}

bool json_read(struct tree *tree, const char *text, size_t length, bool loose)
{
	struct json j = { .tree = tree,
			  .at = text,
			  .stop = text + length,
			  .line_start = text,
			  .line = 1,
			  .loose = loose,
			  .text = malloc(length + 1) };
	bool good;

	if (!j.text)
		return tree_complain(tree, 0, "out of memory");
	if (is_at(&j, "\xef\xbb\xbf"))
		j.at += 3;
	good = read_value(&j);
	while (good && tree->depth > 0)
		good = read_next(&j);
	if (good && (skip(&j), j.at < j.stop))
		good = fail(&j, "something stands behind the end; expected one value "
				"in braces");
	free(j.text);
	return good;
}
