/* mutate.c - lists small mistakes that could stand in a C file, and puts one in.
 *
 *   mutate FILE...      one mistake a line: FILE LINE OFFSET LENGTH OLD NEW MARK LOT,
 *                       tabs between; OFFSET in bytes of the file
 *   mutate --rows LIST  the same for rows "FILE OLD NEW" of a list
 *   mutate --apply FILE OFFSET LENGTH NEW
 *                       the file with that one, on standard output
 *
 * Mistakes are made in the bodies of functions and in tables: operators turned round,
 * bounds off by one, constants changed, terms and factors dropped, degrees of
 * parallelism taken for one another, the larger for the lesser.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { WORD, NUMBER, SIGN, END };

struct token {
	enum kind kind;
	int at, length, line;
};

enum { MAX_TOKENS = 40000 };

static struct token token[MAX_TOKENS];
static int tokens;
static const char *text, *file;

/* What stands for what; a sign that may also have one operand is looked at again. */
static const struct {
	const char *from, *to;
} turned[] = {
	{ "+", "-" },
	{ "-", "+" },
	{ "*", "/" },
	{ "/", "*" },
	{ "+=", "-=" },
	{ "-=", "+=" },
	{ "*=", "/=" },
	{ "<", "<=" },
	{ "<=", "<" },
	{ ">", ">=" },
	{ ">=", ">" },
	{ "==", "!=" },
	{ "!=", "==" },
	{ "&&", "||" },
	{ "||", "&&" },
	{ "larger", "lesser" },
	{ "lesser", "larger" },
	{ "lower", "higher" },
	{ "higher", "lower" },
	{ "fmax", "fmin" },
	{ "fmin", "fmax" },
	{ "ceil", "floor" },
	{ "floor", "ceil" },
	{ "tp", "cp" },
	{ "cp", "tp" },
	{ "pp", "tp" },
	{ "dp", "pp" },
	{ "ep", "etp" },
	{ "etp", "ep" },
	{ "edp", "dp" },
	{ "vpp", "pp" },
	{ "per_domain", "ranks" },
	{ "heads", "kv_heads" },
	{ "kv_heads", "heads" },
	{ "true", "false" },
	{ "false", "true" },
};

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "rb");
	char *out;
	long size;

	if (!in || fseek(in, 0, SEEK_END) != 0 || (size = ftell(in)) < 0) {
		fprintf(stderr, "mutate: %s can't be read\n", path);
		exit(2);
	}
	rewind(in);
	out = calloc((size_t)size + 1, 1);
	if (!out || fread(out, 1, (size_t)size, in) != (size_t)size)
		exit(2);
	fclose(in);
	return out;
}

/* Behind a comment, a string, or a line for the preprocessor; at itself if there is
 * none. */
static int skip(int at)
{
	if (strncmp(text + at, "/*", 2) == 0) {
		const char *end = strstr(text + at + 2, "*/");

		return end ? (int)(end - text) + 2 : (int)strlen(text);
	}
	if (text[at] == '"' || text[at] == '\'') {
		char quote = text[at++];

		while (text[at] && text[at] != quote)
			at += text[at] == '\\' ? 2 : 1;
		return at + 1;
	}
	if (text[at] == '#' && (at == 0 || text[at - 1] == '\n')) {
		while (text[at] && !(text[at] == '\n' && text[at - 1] != '\\'))
			at++;
	}
	return at;
}

static int word_length(const char *s)
{
	int length = 0;

	while (isalnum((unsigned char)s[length]) || s[length] == '_')
		length++;
	return length;
}

static int number_length(const char *s)
{
	int length = 0;

	while (isalnum((unsigned char)s[length]) || s[length] == '.' ||
	       ((s[length] == '-' || s[length] == '+') && s[length - 1] == 'e'))
		length++;
	return length;
}

static int sign_length(const char *s)
{
	static const char *const two[] = { "->", "++", "--", "+=", "-=", "*=",
					   "/=", "<=", ">=", "==", "!=", "&&",
					   "||", "<<", ">>", "|=", "&=" };

	for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
		if (strncmp(s, two[i], 2) == 0)
			return 2;
	return 1;
}

static void scan(void)
{
	int at = 0, line = 1;

	tokens = 0;
	while (text[at] && tokens < MAX_TOKENS - 1) {
		int next = skip(at);
		struct token *t = &token[tokens];

		for (; at < next; at++)
			line += text[at] == '\n';
		if (!text[at])
			break;
		if (isspace((unsigned char)text[at])) {
			line += text[at++] == '\n';
			continue;
		}
		if (text[at] == '"' || text[at] == '\'' ||
		    strncmp(text + at, "/*", 2) == 0)
			continue;
		*t = (struct token){ .at = at, .line = line };
		if (isdigit((unsigned char)text[at])) {
			t->kind = NUMBER;
			t->length = number_length(text + at);
		} else if (word_length(text + at) > 0) {
			t->kind = WORD;
			t->length = word_length(text + at);
		} else {
			t->kind = SIGN;
			t->length = sign_length(text + at);
		}
		at += t->length;
		tokens++;
	}
	token[tokens] = (struct token){ END, at, 0, line };
}

static bool is(int i, const char *what)
{
	return i >= 0 && i < tokens && (int)strlen(what) == token[i].length &&
	       strncmp(text + token[i].at, what, strlen(what)) == 0;
}

static uint64_t mix(uint64_t hash, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

/* A number of where the mistake is in its line: it stays when lines are added
 * elsewhere, so a sample does too. */
static uint64_t mark(int at, int length, const char *new)
{
	int from = at, to = at + length;
	uint64_t hash = mix(0xcbf29ce484222325u, file, strlen(file));

	while (from > 0 && text[from - 1] != '\n')
		from--;
	while (text[to] != '\0' && text[to] != '\n')
		to++;
	hash = mix(hash, text + from, (size_t)(to - from));
	hash = mix(hash, new, strlen(new));
	hash = (hash ^ (uint64_t)(at - from)) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 31;
}

/* The same with $SEED: who comes first in a sample. */
static uint64_t lot(uint64_t of)
{
	const char *seed = getenv("SEED");
	uint64_t hash = seed ? mix(of, seed, strlen(seed)) : of;

	hash *= 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static void print(int line, int at, int length, const char *new)
{
	uint64_t here = mark(at, length, new);

	printf("%s\t%d\t%d\t%d\t%.*s\t%s\t%016" PRIx64 "\t%016" PRIx64 "\n", file, line,
	       at, length, length, text + at, new, here, lot(here));
}

/* Between two operands: an operand ends in front of it. A cast's star has none behind
 * it, a declaration's a type before it. */
static bool is_binary(int i)
{
	static const char *const types[] = { "double", "char",   "int", "void",
					     "const",  "return", "bool" };

	if (i < 1 || is(i + 1, ")") || is(i + 1, ","))
		return false;
	for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
		if (is(i - 1, types[k]))
			return false;
	/* struct x *y */
	if (is(i, "*") && (is(i - 2, "struct") || is(i - 2, "enum")))
		return false;
	/* (double)-x, (double)*x: behind a cast */
	if (is(i - 1, ")") &&
	    (is(i - 2, "double") || is(i - 2, "int64_t") || is(i - 2, "int")))
		return false;
	return token[i - 1].kind != SIGN || is(i - 1, ")") || is(i - 1, "]");
}

/* Behind one operand with its calls, members and casts. */
static int behind_operand(int i)
{
	int depth = 0;

	while (i < tokens) {
		bool opens = is(i, "(") || is(i, "["),
		     closes = is(i, ")") || is(i, "]");

		if (closes && depth == 0)
			return i;
		depth += opens - closes;
		i++;
		if (depth > 0)
			continue;
		/* a cast belongs to what follows it */
		if (closes && i < tokens && token[i].kind != SIGN &&
		    (is(i - 2, "double") || is(i - 2, "int64_t")))
			continue;
		if (is(i, "->") || is(i, ".") || is(i - 1, "->") || is(i - 1, ".") ||
		    is(i, "(") || is(i, "["))
			continue;
		return i;
	}
	return i;
}

/* A factor, or a term with all its factors, is forgotten. */
static void drop(int i)
{
	bool term = is(i, "+") || is(i, "-");
	int end = behind_operand(i + 1);
	char line[200];

	while (term && (is(end, "*") || is(end, "/")) && end < tokens)
		end = behind_operand(end + 1);
	int length = token[end - 1].at + token[end - 1].length - token[i].at;
	/* on one line, so that a row of the list is one */
	if (length >= (int)sizeof line || length < 2 ||
	    memchr(text + token[i].at, '\n', (size_t)length) ||
	    memchr(text + token[i].at, '\t', (size_t)length))
		return;
	print(token[i].line, token[i].at, length, "");
}

static void change_number(int i)
{
	char old[64], new[80];
	int length = token[i].length < 63 ? token[i].length : 63;

	snprintf(old, sizeof old, "%.*s", length, text + token[i].at);
	if (strpbrk(old, "xXuUlL") != NULL)
		return;
	if (strpbrk(old, ".e"))
		snprintf(new, sizeof new, "%.9g",
			 strtod(old, NULL) * 1.5 + (atof(old) == 0));
	else
		snprintf(new, sizeof new, "%ld", atol(old) + 1);
	print(token[i].line, token[i].at, token[i].length, new);
}

static void change(int i)
{
	if (token[i].kind == NUMBER) {
		change_number(i);
		return;
	}
	for (size_t k = 0; k < sizeof turned / sizeof turned[0]; k++) {
		if (!is(i, turned[k].from))
			continue;
		/* members alone are degrees: a variable of that name may stand alone */
		if (token[i].kind == WORD && strlen(turned[k].from) <= 3 &&
		    !is(i - 1, "->") && !is(i - 1, "."))
			continue;
		if (strchr("+-*/", turned[k].from[0]) && !turned[k].from[1]) {
			if (!is_binary(i))
				return;
			drop(i);
		}
		print(token[i].line, token[i].at, token[i].length, turned[k].to);
		return;
	}
	if (is(i, "!"))
		print(token[i].line, token[i].at, 1, "");
}

static void list(const char *path)
{
	int depth = 0, brackets = 0;

	file = path;
	text = read_file(path);
	scan();
	for (int i = 0; i < tokens; i++) {
		depth += is(i, "{") - is(i, "}");
		brackets += is(i, "[") - is(i, "]");
		/* constants outside functions stand behind "=" */
		if ((depth > 0 && brackets == 0) ||
		    (token[i].kind == NUMBER && is(i - 1, "=")))
			change(i);
	}
	free((void *)text);
}

/* One row of a list, "FILE<tab>OLD<tab>NEW": OLD stands in the file exactly once. */
static bool locate(char *row)
{
	char *old = strchr(row, '\t'), *new = old ? strchr(old + 1, '\t') : NULL;
	const char *found;
	int line = 1;

	if (!new)
		return false;
	*old++ = *new ++ = '\0';
	new[strcspn(new, "\n")] = '\0';
	file = row;
	text = read_file(row);
	found = strstr(text, old);
	if (!found || strstr(found + 1, old)) {
		fprintf(stderr, "mutate: %s: \"%s\" stands there %s\n", row, old,
			found ? "more than once" : "no longer");
		return false;
	}
	for (const char *c = text; c < found; c++)
		line += *c == '\n';
	print(line, (int)(found - text), (int)strlen(old), new);
	free((void *)text);
	return true;
}

static int rows(const char *path)
{
	char row[1024];
	FILE *in = fopen(path, "r");
	bool good = in != NULL;

	while (in && fgets(row, sizeof row, in))
		if (row[0] != '#' && row[0] != '\n')
			good &= locate(row);
	if (in)
		fclose(in);
	return good ? 0 : 2;
}

static int apply(char **argv)
{
	int at = atoi(argv[1]), length = atoi(argv[2]);

	text = read_file(argv[0]);
	if (at < 0 || length < 0 || (size_t)at + (size_t)length > strlen(text))
		return 2;
	fwrite(text, 1, (size_t)at, stdout);
	fputs(argv[3], stdout);
	fputs(text + at + length, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "--apply") == 0)
		return apply(argv + 2);
	if (argc == 3 && strcmp(argv[1], "--rows") == 0)
		return rows(argv[2]);
	for (int i = 1; i < argc; i++)
		list(argv[i]);
	return argc > 1 ? 0 : 2;
}
