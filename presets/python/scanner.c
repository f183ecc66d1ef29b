/* scanner.c - see scanner.h. Literals and their products are read, nothing is run. */
#include "presets/python/scanner.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int place(const struct python *p)
{
	return pairs_place(p->start, p->at, p->line);
}

static void skip_blanks(struct python *p, bool lines)
{
	while (p->at < p->stop) {
		if (*p->at == '#')
			while (p->at < p->stop && *p->at != '\n')
				p->at++;
		else if (*p->at == '\\' && p->at + 1 < p->stop && p->at[1] == '\n')
			p->at++;
		else if (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' ||
			 (*p->at == '\n' && (lines || p->at[-1] == '\\'))) {
			p->line += *p->at == '\n';
			p->at++;
		} else {
			return;
		}
	}
}

/* The same key later in the file wins. */
bool python_set(struct python *p, const char *key, const char *value, int line)
{
	return pairs_set(p->pairs, key, value, line, p->error);
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "a.b.c", with dashes where it is a flag. */
static void read_name(struct python *p, bool flag, char *out, size_t size)
{
	size_t used = 0;

	while (p->at < p->stop && (is_name(*p->at) || (flag && *p->at == '-'))) {
		char c = *p->at++;

		if (used < size - 1)
			out[used++] = c == '-' ? '_' : c;
	}
	out[used] = '\0';
}

static void read_string(struct python *p, char *out, size_t size)
{
	char quote = *p->at++;
	bool triple = p->stop - p->at >= 2 && p->at[0] == quote && p->at[1] == quote;
	size_t used = 0;

	p->at += triple ? 2 : 0;
	while (p->at < p->stop) {
		char c = *p->at++;

		if (c == quote &&
		    (!triple || (p->stop - p->at >= 2 && p->at[0] == quote &&
				 p->at[1] == quote))) {
			p->at += triple ? 2 : 0;
			break;
		}
		p->line += c == '\n';
		if (c == '\n' && !triple)
			break;
		if (c == '\\' && p->at < p->stop)
			c = *p->at++;
		if (used < size - 1)
			out[used++] = c;
	}
	out[used] = '\0';
}

/* "8 * 2048" and "1_000" become a number; what is none stays text. */
static void multiply(char *text, size_t size)
{
	long long product = 1;
	char plain[64];
	size_t used = 0;

	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '_' || *c == ' ')
			continue;
		if (used == sizeof plain - 1)
			return;
		plain[used++] = *c;
	}
	plain[used] = '\0';
	for (const char *at = plain;;) {
		char *end;
		long long factor = strtoll(at, &end, 10);

		if (end == at || (*end != '*' && *end != '\0') ||
		    __builtin_mul_overflow(product, factor, &product))
			return;
		if (*end == '\0')
			break;
		at = end + 1;
	}
	snprintf(text, size, "%lld", product);
}

/* Up to a comma, a bracket that closes, or the end of a line outside brackets. */
static void read_literal(struct python *p, char *out, size_t size)
{
	size_t used = 0;

	while (p->at < p->stop && !strchr(",)]}#\n", *p->at)) {
		char c = *p->at++;

		if (used < size - 1)
			out[used++] = c;
	}
	while (used > 0 && isspace((unsigned char)out[used - 1]))
		used--;
	out[used] = '\0';
	multiply(out, size);
	if (strcmp(out, "True") == 0)
		snprintf(out, size, "true");
	if (strcmp(out, "False") == 0)
		snprintf(out, size, "false");
}

static bool open_bracket(struct python *p, const char *section)
{
	size_t used = strlen(p->prefix);

	if (p->depth == PYTHON_MAX_CALLS)
		return error_set(p->error, p->pairs->file, place(p),
				 "brackets deeper than %d levels", PYTHON_MAX_CALLS);
	p->length[p->depth++] = used;
	if (section[0] != '\0')
		snprintf(p->prefix + used, sizeof p->prefix - used, "%s.", section);
	p->at++;
	return true;
}

static void close_bracket(struct python *p)
{
	if (p->depth > 0)
		p->prefix[p->length[--p->depth]] = '\0';
	p->at++;
}

/* Outside brackets the configuration's own variable comes first: config.training.x. */
static const char *own_key(const struct python *p, const char *name)
{
	static const char *const variables[] = { "config.", "cfg.", "c.", "base." };

	for (size_t i = 0; p->depth == 0 && i < 4; i++)
		if (strncmp(name, variables[i], strlen(variables[i])) == 0)
			return name + strlen(variables[i]);
	return name;
}

static bool is_own(const char *name)
{
	return strcmp(name, "config") == 0 || strcmp(name, "cfg") == 0 ||
	       strcmp(name, "c") == 0 || strcmp(name, "base") == 0;
}

/* ["moe_act", "mla_up_proj"] as one value, its words with a blank between them; *found
 * is false, and nothing is read, where it is no list of words alone, or an empty one.
 */
static bool read_words(struct python *p, const char *key, bool *found)
{
	struct python ahead = *p;
	char value[512] = "", word[256], last[PAIRS_MAX_KEY + 16];
	int line = place(p);

	*found = false;
	for (ahead.at++;; ahead.at++) {
		size_t used = strlen(value);

		skip_blanks(&ahead, true);
		if (ahead.at == ahead.stop)
			return true;
		if (*ahead.at == ']')
			break;
		if (*ahead.at != '"' && *ahead.at != '\'')
			return true;
		read_string(&ahead, word, sizeof word);
		snprintf(value + used, sizeof value - used, "%s%s", used ? " " : "",
			 word);
		skip_blanks(&ahead, true);
		if (ahead.at == ahead.stop || (*ahead.at != ',' && *ahead.at != ']'))
			return true;
		if (*ahead.at == ']')
			break;
	}
	if (value[0] == '\0')
		return true;
	*found = true;
	p->at = ahead.at + 1;
	p->line = ahead.line;
	/* the last word as that of a call's argument, too */
	snprintf(last, sizeof last, "%.*s.argument", PAIRS_MAX_KEY, key);
	return python_set(p, key, value, line) && python_set(p, last, word, line);
}

/* ("Et|tt|" "ttL"): strings in brackets are one; false, and nothing is read, where
 * something else stands there. */
static bool read_parts(struct python *p, char *out, size_t size)
{
	struct python ahead = *p;
	size_t used = 0;

	for (ahead.at++;;) {
		skip_blanks(&ahead, true);
		if (ahead.at == ahead.stop || (*ahead.at != '"' && *ahead.at != '\''))
			break;
		read_string(&ahead, out + used, size - used);
		used += strlen(out + used);
	}
	if (used == 0 || ahead.at == ahead.stop || *ahead.at != ')')
		return false;
	p->at = ahead.at + 1;
	p->line = ahead.line;
	return true;
}

/* What stands behind "name =": a string, a literal, or a call, whose own arguments are
 * read next under this name. */
static bool read_value(struct python *p, const char *name)
{
	char key[2 * PAIRS_MAX_KEY], value[512] = "";
	int line = place(p);

	snprintf(key, sizeof key, "%s%s", p->prefix, own_key(p, name));
	skip_blanks(p, p->depth > 0);
	if (p->at == p->stop)
		return true;
	if (*p->at == '"' || *p->at == '\'') {
		read_string(p, value, sizeof value);
		return python_set(p, key, value, line);
	}
	if (*p->at == '(' && read_parts(p, value, sizeof value))
		return python_set(p, key, value, line);
	if (isalpha((unsigned char)*p->at) || *p->at == '_') {
		const char *from = p->at;

		read_name(p, false, value, sizeof value);
		if (p->at < p->stop && *p->at == '(') {
			if (p->depth == 0 && is_own(name) &&
			    !python_set(p, "base", value, line))
				return false;
			return (!p->assigned || p->assigned(p, key, value, line)) &&
			       open_bracket(p, own_key(p, name));
		}
		p->at = from;
	}
	if (*p->at == '[') {
		bool found, good = read_words(p, key, &found);

		if (!good || found)
			return good;
	}
	if (*p->at == '[' || *p->at == '{')
		return open_bracket(p, own_key(p, name));
	read_literal(p, value, sizeof value);
	/* f(tp_size=tp_size) says nothing new */
	return value[0] == '\0' ||
	       (strcmp(value, key) == 0 && pairs_find(p->pairs, key)) ||
	       python_set(p, key, value, line);
}

/* "--training.seq_len 8192", "--training.seq-len=8192", "--compile.enable". */
static bool read_flag(struct python *p)
{
	char name[PAIRS_MAX_KEY], value[512] = "true";
	int line = place(p);

	p->at += 2;
	read_name(p, true, name, sizeof name);
	if (p->at < p->stop && *p->at == '=')
		p->at++;
	else
		skip_blanks(p, false);
	if (p->at < p->stop && (*p->at == '"' || *p->at == '\'')) {
		read_string(p, value, sizeof value);
	} else if (p->at < p->stop && *p->at != '\n' &&
		   (*p->at != '-' ||
		    (p->at + 1 < p->stop && isdigit((unsigned char)p->at[1])))) {
		size_t used = 0;

		for (; p->at < p->stop && !isspace((unsigned char)*p->at); p->at++)
			if (used < sizeof value - 1)
				value[used++] = *p->at;
		value[used] = '\0';
	}
	if (strcmp(value, "True") == 0 || strcmp(value, "False") == 0)
		value[0] = (char)tolower((unsigned char)value[0]);
	return name[0] == '\0' || python_set(p, name, value, line);
}

/* What the call wants to know of its first argument. */
static bool take_first(struct python *p, const char *value, int line)
{
	const char *key = p->first;

	p->first = NULL;
	return python_set(p, key, value, line);
}

/* "LENGTH: int = 4096", "path: str | None = None": the type says nothing. */
static void skip_annotation(struct python *p)
{
	const char *at = p->at;

	if (at == p->stop || *at != ':')
		return;
	for (at++; at < p->stop && (is_name(*at) || strchr(" |[]", *at)); at++)
		;
	if (at < p->stop && *at == '=')
		p->at = at;
}

/* A name: of a function, of an argument with its value, of a call, or nothing here. */
static bool read_word(struct python *p)
{
	char name[PAIRS_MAX_KEY];
	int line = place(p);

	read_name(p, false, name, sizeof name);
	if (strcmp(name, "def") == 0) {
		/* a function inside one is none of the file's */
		bool outer = p->at - 3 == p->start || p->at[-4] == '\n';

		skip_blanks(p, false);
		read_name(p, false, name, sizeof name);
		return !outer || python_set(p, "def", name, line);
	}
	skip_blanks(p, false);
	if (p->at < p->stop && *p->at == '(') {
		return (!p->call || p->call(p, name, line)) && open_bracket(p, "");
	}
	skip_annotation(p);
	if (p->stop - p->at < 2 || *p->at != '=' || p->at[1] == '=')
		return !p->first || p->depth == 0 || take_first(p, name, line);
	p->at++;
	return read_value(p, name);
}

bool python_read(struct python *p, const struct piece *piece)
{
	char text[512];

	p->at = piece->at;
	p->stop = piece->stop;
	p->line = piece->line;
	p->prefix[0] = '\0';
	p->depth = 0;
	while (p->at < p->stop) {
		char c = *p->at;

		if (c == '"' || c == '\'') {
			char key[PAIRS_MAX_KEY + 8];
			int line = place(p);

			/* model_registry("70B") */
			read_string(p, text, sizeof text);
			if (p->first && !take_first(p, text, line))
				return false;
			snprintf(key, sizeof key, "%sargument", p->prefix);
			if (p->prefix[0] != '\0' && !python_set(p, key, text, line))
				return false;
		} else if (c == '-' && p->stop - p->at > 2 && p->at[1] == '-' &&
			   isalpha((unsigned char)p->at[2])) {
			if (!read_flag(p))
				return false;
		} else if (isalpha((unsigned char)c) || c == '_') {
			if (!read_word(p))
				return false;
		} else if (c == '(' || c == '[' || c == '{') {
			if (!open_bracket(p, ""))
				return false;
		} else if (c == ')' || c == ']' || c == '}') {
			close_bracket(p);
		} else if (c == '#') {
			skip_blanks(p, false);
		} else {
			p->line += c == '\n';
			p->at++;
		}
	}
	return true;
}
