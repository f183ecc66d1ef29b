/* arguments.c - see arguments.h. */
#include "tests/support/arguments.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "presets/stream.h"

enum { MAX_COLUMNS = 7 };

/* Takes one row apart in place; returns what follows it. */
static char *cut_row(char *at, const char *column[MAX_COLUMNS])
{
	for (int i = 0; i < MAX_COLUMNS; i++)
		column[i] = "";
	for (int i = 0;; i++) {
		bool quoted = *at == '"';
		char *to = at += quoted, end;

		if (i < MAX_COLUMNS)
			column[i] = at;
		for (; *at != '\0'; *to++ = *at++)
			if (quoted && at[0] == '"' && at[1] == '"')
				at++;
			else if (quoted ? *at == '"' : *at == ',' || *at == '\n')
				break;
		at += quoted && *at == '"';
		end = *at;
		*to = '\0';
		if (end != ',')
			return at + (end != '\0');
		at++;
	}
}

static char *read_table(const char *name)
{
	struct error error = { "" };
	char path[96];
	size_t length;
	char *text;

	snprintf(path, sizeof path, "tests/arguments/%s.csv", name);
	text = stream_read_file(path, 1 << 20, &length, &error);
	if (!text)
		fail_msg("%s", error.text);
	return text;
}

/* The rows behind the source and the names of the columns. */
static char *first_row(char *text)
{
	char *at = strchr(text, '\n');

	assert_true(text[0] == '#' && at);
	at = strchr(at + 1, '\n');
	assert_non_null(at);
	return at + 1;
}

static int count_rows(const char *text)
{
	int rows = 0;

	for (; *text != '\0'; text++)
		rows += *text == '\n';
	return rows;
}

void tool_arguments_read(struct tool_arguments *out, const char *tool)
{
	const char *column[MAX_COLUMNS];

	memset(out, 0, sizeof *out);
	out->tool = tool;
	out->texts[0] = read_table(tool);
	out->argument =
		calloc((size_t)count_rows(out->texts[0]), sizeof *out->argument);
	assert_non_null(out->argument);
	for (char *at = first_row(out->texts[0]); *at != '\0';) {
		at = cut_row(at, column);
		out->argument[out->arguments++] = (struct argument){
			column[0], column[1], column[2], column[3],
			column[4], column[5], column[6],
		};
	}
	out->texts[1] = read_table("conditions");
	out->condition =
		calloc((size_t)count_rows(out->texts[1]), sizeof *out->condition);
	assert_non_null(out->condition);
	for (char *at = first_row(out->texts[1]); *at != '\0';) {
		at = cut_row(at, column);
		if (strcmp(column[0], tool) == 0)
			out->condition[out->conditions++] =
				(struct condition){ column[1], column[2], column[3] };
	}
	assert_true(out->arguments > 100);
}

void tool_arguments_free(struct tool_arguments *tool)
{
	free(tool->texts[0]);
	free(tool->texts[1]);
	free(tool->argument);
	free(tool->condition);
}

/* "--tp-size" and "tp_size" are one name. */
static bool same_name(const char *a, const char *b)
{
	a += strspn(a, "-");
	b += strspn(b, "-");
	for (; *a != '\0' || *b != '\0'; a++, b++)
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;
	return true;
}

const struct argument *tool_argument(const struct tool_arguments *tool,
				     const char *name)
{
	for (int i = 0; i < tool->arguments; i++)
		if (same_name(tool->argument[i].name, name))
			return &tool->argument[i];
	return NULL;
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* A key inside a map that the table does not open. */
static bool is_inside(const struct tool_arguments *tool, const char *name)
{
	char outer[PAIRS_MAX_KEY];
	const struct argument *row;
	char *dot;

	snprintf(outer, sizeof outer, "%s", name);
	dot = strrchr(outer, '.');
	if (!dot)
		return false;
	*dot = '\0';
	row = tool_argument(tool, outer);
	if (!row || strcmp(row->kind, "json") != 0)
		return is_inside(tool, outer);
	*dot = '.';
	dot[1] = '\0';
	for (int i = 0; i < tool->arguments; i++)
		if (begins(tool->argument[i].name + strspn(tool->argument[i].name, "-"),
			   outer))
			return false;
	return true;
}

static bool is_bool(const char *text)
{
	return strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0;
}

static bool is_number(const char *text, bool whole)
{
	char *end;

	if (*text == '\0')
		return false;
	if (whole)
		strtoll(text, &end, 10);
	else
		strtod(text, &end);
	return *end == '\0';
}

/* Whether a word has the type; what is no number or switch is taken as it is. */
static bool is_type(const char *type, const char *word)
{
	if (begins(type, "list of "))
		type += 8;
	if (strcmp(type, "int") == 0 || strcmp(type, "int?") == 0)
		return is_number(word, true);
	if (strcmp(type, "float") == 0 || strcmp(type, "float?") == 0)
		return is_number(word, false);
	if (strcmp(type, "bool") == 0 || strcmp(type, "bool?") == 0)
		return is_bool(word);
	/* in Python, where a text would be another type */
	if (strcmp(type, "dtype") == 0)
		return begins(word, "torch.");
	return true;
}

static bool is_choice(const char *choices, const char *word)
{
	size_t length = strlen(word);

	/* some are found at run time */
	if (*choices == '\0' || *choices == '(')
		return true;
	for (const char *at = choices; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, word, length) == 0 &&
		    (at[length] == '|' || at[length] == '\0'))
			return true;
	}
	return false;
}

static bool is_variable(const char *value)
{
	return strstr(value, "${") != NULL;
}

/* What is wrong with a value, or NULL. */
static const char *fault(const struct argument *row, const char *value)
{
	char words[PAIRS_MAX_VALUE], *rest = words, *word;

	if (strcmp(row->kind, "flag") == 0)
		return value[0] == '\0' ? NULL : "takes no value";
	if (is_variable(value) || strcmp(row->kind, "json") == 0)
		return NULL;
	if (value[0] == '\0' && !begins(row->type, "bool"))
		return "has no value";
	if (value[0] == '\0')
		return NULL;
	snprintf(words, sizeof words, "%s", value);
	if (strcmp(row->kind, "list") != 0)
		return !is_type(row->type, value)        ? "is of another type"
		       : !is_choice(row->choices, value) ? "is no choice"
							 : NULL;
	while ((word = strsep(&rest, " ")))
		if (!is_type(row->type, word) || !is_choice(row->choices, word))
			return "holds what is no choice";
	return NULL;
}

static const struct pair *find_given(const struct given *g, const char *name)
{
	for (int i = 0; i < g->pairs->count; i++)
		if (same_name(g->pairs->item[i].key, name))
			return &g->pairs->item[i];
	return NULL;
}

static struct cell typed(const struct argument *row, const char *value)
{
	if (strcmp(value, "none") == 0)
		return is_choice(row->choices, value) && row->choices[0] != '\0'
			       ? cell_text(value)
			       : (struct cell){ .kind = CELL_NONE };
	if (is_variable(value))
		return (struct cell){ .kind = CELL_UNKNOWN };
	if (is_bool(value))
		return cell_number(strcasecmp(value, "true") == 0);
	if (value[0] == '\0' && begins(row->type, "bool"))
		return cell_number(1);
	if (strcmp(row->kind, "list") != 0 && is_number(value, false))
		return cell_number(strtod(value, NULL));
	return cell_text(strcmp(value, "[]") == 0 ? "" : value);
}

static struct cell value_of(const struct given *g, const struct argument *row)
{
	const struct pair *pair = find_given(g, row->name);
	char section[PAIRS_MAX_KEY];

	if (pair)
		return typed(row, pair->value);
	snprintf(section, sizeof section, "%s.", row->name + strspn(row->name, "-"));
	for (int i = 0; i < g->pairs->count; i++)
		if (begins(g->pairs->item[i].key, section))
			return cell_text("section");
	if (row->value[0] == '\0' || strcmp(row->value, "(computed)") == 0)
		return (struct cell){ .kind = CELL_UNKNOWN };
	return typed(row, row->value);
}

/* The destination of an argument may be another one's, or one that it clears. */
static struct cell look_up(const void *context, const char *name)
{
	const struct given *g = context;
	const struct argument *row = NULL;

	for (const struct fact *f = g->facts; f && f->name; f++)
		if (strcmp(f->name, name) == 0)
			return cell_number(f->value);
	for (int i = 0; i < g->tool->arguments; i++) {
		const struct argument *other = &g->tool->argument[i];
		bool clears = other->sets[0] == '!';

		if (!same_name(other->sets + clears, name))
			continue;
		if (clears && find_given(g, other->name))
			return cell_number(0);
		if (!clears && find_given(g, other->name))
			return value_of(g, other);
		row = row ? row : other;
	}
	if (tool_argument(g->tool, name))
		row = tool_argument(g->tool, name);
	if (!row)
		return (struct cell){ .kind = CELL_UNKNOWN };
	return row->sets[0] == '!' && !same_name(row->name, name) ? cell_number(1)
								  : value_of(g, row);
}

static void complain(struct given *g, const char *what, const char *why)
{
	print_error("%s: %s: %s %s\n", g->title, g->tool->tool, what, why);
	g->problems++;
}

void given_check(struct given *g)
{
	for (int i = 0; i < g->pairs->count; i++) {
		const struct pair *pair = &g->pairs->item[i];
		const struct argument *row = tool_argument(g->tool, pair->key);
		char what[PAIRS_MAX_KEY + 64];

		snprintf(what, sizeof what, "%s '%.50s'", pair->key, pair->value);
		/* what begins with an underscore is passed over by every tool */
		if (!row && pair->key[0] != '_' && !is_inside(g->tool, pair->key))
			complain(g, what, "is no argument");
		else if (row && fault(row, pair->value))
			complain(g, what, fault(row, pair->value));
	}
	for (int i = 0; i < g->tool->arguments && !g->fragment; i++) {
		const struct argument *row = &g->tool->argument[i];

		if (row->required[0] != '\0' && !strchr(row->name, '.') &&
		    value_of(g, row).kind == CELL_UNKNOWN)
			complain(g, row->name, "is required");
	}
	for (int i = 0; i < g->tool->conditions; i++) {
		const struct condition *c = &g->tool->condition[i];
		enum verdict verdict = condition_judge(c->text, look_up, g);

		g->held += verdict == VERDICT_YES;
		g->unknown += verdict == VERDICT_UNKNOWN;
		if (verdict == VERDICT_NO || verdict == VERDICT_GARBLED)
			complain(g, c->gist, c->where);
	}
}

/* The next word of a command; false at its end. Quotes go away, variables stay. */
static bool next_word(const char **at, char *word, size_t size)
{
	const char *c = *at;
	size_t used = 0;
	char quote = '\0';

	while (*c == ' ' || (c[0] == '\\' && c[1] == '\n'))
		c += *c == ' ' ? 1 : 2;
	if (*c == '\0' || *c == '\n' || *c == '&')
		return false;
	for (; *c != '\0' && (quote || (*c != ' ' && *c != '\n')); c++) {
		if (quote ? *c == quote : *c == '\'' || *c == '"')
			quote = quote ? '\0' : *c;
		else if (used + 1 < size)
			word[used++] = *c;
	}
	word[used] = '\0';
	*at = c;
	return true;
}

static void append(char *value, size_t size, const char *word)
{
	size_t used = strlen(value), length = strlen(word);

	assert_true(used + length + 2 < size);
	if (used > 0)
		value[used++] = ' ';
	memcpy(value + used, word, length + 1);
}

void given_words(struct pairs *out, const char *text, const char *program)
{
	const char *at = strstr(text, program);
	char word[PAIRS_MAX_VALUE], key[PAIRS_MAX_KEY] = "", value[PAIRS_MAX_VALUE];

	pairs_begin(out, program);
	assert_non_null(at);
	at += strlen(program);
	value[0] = '\0';
	snprintf(key, sizeof key, "--model");
	for (bool more = true; more;) {
		more = next_word(&at, word, sizeof word);
		/* a flag that nodes but the first have, or nothing */
		if (more && strcmp(word, "${LATER}") == 0)
			continue;
		if (more && !begins(word, "--")) {
			append(value, sizeof value, word);
			continue;
		}
		/* the first word of a server is its model */
		if (strcmp(key, "--model") != 0 || value[0] != '\0')
			assert_true(pairs_add(out, key, value, 1, NULL));
		snprintf(key, sizeof key, "%.150s", word);
		value[0] = '\0';
	}
}
