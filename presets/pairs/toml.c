/* toml.c - the part of TOML that configurations use: tables, bare and quoted keys,
 * strings, numbers, booleans, arrays (over several lines too), inline tables as text.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/pairs/pairs.h"

struct toml {
	struct pairs *pairs;
	const char *start, *at, *stop;
	int line;
	char section[PAIRS_MAX_KEY];
	struct error *error;
};

static int place(const struct toml *t)
{
	return pairs_place(t->start, t->at, t->line);
}

static bool fail(const struct toml *t, const char *what)
{
	return error_set(t->error, t->pairs->file, place(t), "%s", what);
}

static void skip_blanks(struct toml *t)
{
	while (t->at < t->stop && (*t->at == ' ' || *t->at == '\t' || *t->at == '\r'))
		t->at++;
}

/* To the end of a line, where only a comment may stand. */
static bool end_line(struct toml *t)
{
	skip_blanks(t);
	if (t->at < t->stop && *t->at == '#')
		while (t->at < t->stop && *t->at != '\n')
			t->at++;
	if (t->at == t->stop)
		return true;
	if (*t->at != '\n')
		return fail(t,
			    "something stands behind the value; expected a new line");
	t->at++;
	t->line++;
	return true;
}

static bool is_bare(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* "a.b" or "a"."b c" up to `end`, dotted. */
static bool read_key(struct toml *t, char end, char *out, size_t size)
{
	size_t used = 0;

	for (skip_blanks(t); t->at < t->stop && *t->at != end; skip_blanks(t)) {
		char c = *t->at++;

		if (c == '"' || c == '\'') {
			for (; t->at < t->stop && *t->at != c && *t->at != '\n';
			     t->at++)
				if (used < size - 1)
					out[used++] = *t->at;
			if (t->at == t->stop || *t->at++ != c)
				return fail(t, "a quoted key has no end");
		} else if (is_bare(c) || c == '.') {
			if (used < size - 1)
				out[used++] = c;
		} else {
			return fail(t, "expected key = value or [table]");
		}
	}
	out[used] = '\0';
	if (t->at == t->stop || used == 0 || used == size - 1)
		return fail(t, "expected key = value or [table]");
	t->at++;
	return true;
}

/* A string without its quotes; escapes keep their letter. */
static bool read_string(struct toml *t, char *out, size_t size, size_t *used)
{
	char quote = *t->at++;
	bool triple = t->stop - t->at >= 2 && t->at[0] == quote && t->at[1] == quote;

	t->at += triple ? 2 : 0;
	while (t->at < t->stop) {
		char c = *t->at++;

		if (c == quote &&
		    (!triple || (t->stop - t->at >= 2 && t->at[0] == quote &&
				 t->at[1] == quote))) {
			t->at += triple ? 2 : 0;
			return true;
		}
		if (c == '\n' && !triple)
			break;
		t->line += c == '\n';
		if (c == '\\' && quote == '"' && t->at < t->stop)
			c = *t->at++;
		if (*used < size - 1)
			out[(*used)++] = c;
	}
	return fail(t, "a string has no end");
}

/* Everything between brackets, words parted by blanks. */
static bool read_array(struct toml *t, char *out, size_t size, size_t *used)
{
	int depth = 0;

	while (t->at < t->stop) {
		char c = *t->at;

		if (c == '"' || c == '\'') {
			if (!read_string(t, out, size, used))
				return false;
			continue;
		}
		t->at++;
		t->line += c == '\n';
		if (c == '#')
			while (t->at < t->stop && *t->at != '\n')
				t->at++;
		else if (c == '[' || c == '{')
			depth++;
		else if (c == ']' || c == '}')
			depth--;
		else if (isspace((unsigned char)c) || c == ',') {
			if (*used > 0 && out[*used - 1] != ' ' && *used < size - 1)
				out[(*used)++] = ' ';
		} else if (*used < size - 1) {
			out[(*used)++] = c;
		}
		if (depth == 0)
			return true;
	}
	return fail(t, "a list has no end; expected ]");
}

static bool read_value(struct toml *t, char *out, size_t size)
{
	size_t used = 0;
	char c;

	skip_blanks(t);
	c = t->at < t->stop ? *t->at : '\n';
	if (c == '"' || c == '\'') {
		if (!read_string(t, out, size, &used))
			return false;
	} else if (c == '[' || c == '{') {
		if (!read_array(t, out, size, &used))
			return false;
	} else {
		for (; t->at < t->stop && *t->at != '\n' && *t->at != '#'; t->at++)
			if (*t->at != '_' && used < size - 1)
				out[used++] = *t->at;
		while (used > 0 && isspace((unsigned char)out[used - 1]))
			used--;
		if (used == 0)
			return fail(t, "a key without a value");
	}
	while (used > 0 && out[used - 1] == ' ')
		used--;
	out[used] = '\0';
	return true;
}

static bool read_table(struct toml *t)
{
	bool array = t->at + 1 < t->stop && t->at[1] == '[';

	t->at += array ? 2 : 1;
	if (!read_key(t, ']', t->section, sizeof t->section))
		return false;
	if (array && (t->at == t->stop || *t->at++ != ']'))
		return fail(t, "expected ]]");
	return end_line(t);
}

static bool read_pair(struct toml *t)
{
	char name[PAIRS_MAX_KEY], key[2 * PAIRS_MAX_KEY], value[PAIRS_MAX_VALUE];
	int line = place(t);

	if (!read_key(t, '=', name, sizeof name) || !read_value(t, value, sizeof value))
		return false;
	snprintf(key, sizeof key, "%s%s%s", t->section, t->section[0] ? "." : "", name);
	return pairs_add(t->pairs, key, value, line, t->error) && end_line(t);
}

static bool read_toml(struct toml *t)
{
	while (t->at < t->stop) {
		skip_blanks(t);
		if (t->at == t->stop)
			break;
		if (*t->at == '\n' || *t->at == '#') {
			if (!end_line(t))
				return false;
		} else if (!(*t->at == '[' ? read_table(t) : read_pair(t))) {
			return false;
		}
	}
	return true;
}

bool pairs_from_toml(struct pairs *out, const char *file, const char *text,
		     size_t length, struct error *error)
{
	struct toml t = { .pairs = out,
			  .start = text,
			  .at = text,
			  .stop = text + length,
			  .line = 1,
			  .error = error };

	pairs_begin(out, file);
	if (read_toml(&t))
		return true;
	pairs_free(out);
	return false;
}
