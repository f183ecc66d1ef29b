/* condition.c - see condition.h. */
#include "tests/support/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *at;
	struct cell (*lookup)(const void *context, const char *name);
	const void *context;
	bool garbled;
};

static struct cell any_of(struct reader *r);

struct cell cell_number(double number)
{
	return (struct cell){ .kind = CELL_NUMBER, .number = number };
}

struct cell cell_text(const char *text)
{
	struct cell cell = { .kind = CELL_TEXT };

	snprintf(cell.text, sizeof cell.text, "%s", text);
	return cell;
}

static const struct cell unknown = { .kind = CELL_UNKNOWN };

static void skip(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Takes a sign or a word, if it stands here. */
static bool take(struct reader *r, const char *token)
{
	size_t length = strlen(token);

	skip(r);
	if (strncmp(r->at, token, length) != 0 ||
	    (isalpha((unsigned char)token[0]) && is_name(r->at[length])))
		return false;
	r->at += length;
	return true;
}

static void want(struct reader *r, const char *token)
{
	if (!take(r, token))
		r->garbled = true;
}

static bool is_true(const struct cell *c)
{
	return c->kind == CELL_NUMBER ? c->number != 0
				      : c->kind == CELL_TEXT && c->text[0] != '\0';
}

static struct cell equal(const struct cell *a, const struct cell *b)
{
	if (a->kind == CELL_UNKNOWN || b->kind == CELL_UNKNOWN)
		return unknown;
	if (a->kind != b->kind)
		return cell_number(0);
	if (a->kind == CELL_TEXT)
		return cell_number(strcmp(a->text, b->text) == 0);
	return cell_number(a->kind == CELL_NONE || a->number == b->number);
}

static struct cell count_words(const struct cell *list)
{
	double words = 0;

	if (list->kind == CELL_UNKNOWN)
		return unknown;
	for (const char *c = list->text; *c != '\0'; c++)
		words += *c != ' ' && (c == list->text || c[-1] == ' ');
	return cell_number(list->kind == CELL_TEXT ? words : 0);
}

static struct cell largest(const struct cell *list)
{
	double most = -INFINITY;
	const char *c = list->text;

	if (list->kind != CELL_TEXT)
		return unknown;
	while (*c != '\0') {
		char *end;

		most = fmax(most, strtod(c, &end));
		c = end > c ? end : c + 1;
	}
	return cell_number(most);
}

static struct cell call(struct reader *r, struct cell (*of)(const struct cell *))
{
	struct cell inner;

	want(r, "(");
	inner = any_of(r);
	want(r, ")");
	return of(&inner);
}

static struct cell quoted(struct reader *r)
{
	char text[128];
	size_t length = strcspn(r->at + 1, "'");

	snprintf(text, sizeof text, "%.*s", (int)length, r->at + 1);
	r->at += length + 1;
	want(r, "'");
	return cell_text(text);
}

static struct cell primary(struct reader *r)
{
	char name[128];
	size_t length = 0;
	char *end;
	struct cell cell;

	skip(r);
	if (*r->at == '\'')
		return quoted(r);
	if (take(r, "(")) {
		cell = any_of(r);
		want(r, ")");
		return cell;
	}
	if (isdigit((unsigned char)*r->at)) {
		cell = cell_number(strtod(r->at, &end));
		r->at = end;
		return cell;
	}
	if (take(r, "none"))
		return (struct cell){ .kind = CELL_NONE };
	if (take(r, "true"))
		return cell_number(1);
	if (take(r, "false"))
		return cell_number(0);
	if (take(r, "len"))
		return call(r, count_words);
	if (take(r, "max"))
		return call(r, largest);
	while (is_name(r->at[length]))
		length++;
	if (length == 0 || length >= sizeof name) {
		r->garbled = true;
		return unknown;
	}
	snprintf(name, sizeof name, "%.*s", (int)length, r->at);
	r->at += length;
	return r->lookup(r->context, name);
}

static struct cell signed_one(struct reader *r)
{
	struct cell cell;

	skip(r);
	if (r->at[0] != '-' || r->at[1] == '>' || !take(r, "-"))
		return primary(r);
	cell = signed_one(r);
	cell.number = -cell.number;
	return cell;
}

static struct cell calculate(char sign, const struct cell *a, const struct cell *b)
{
	double x = a->number, y = b->number;

	if (a->kind != CELL_NUMBER || b->kind != CELL_NUMBER ||
	    (y == 0 && (sign == '/' || sign == '%')))
		return unknown;
	switch (sign) {
	case '+': return cell_number(x + y);
	case '-': return cell_number(x - y);
	case '*': return cell_number(x * y);
	case '/': return cell_number(floor(x / y));
	default: return cell_number(x - y * floor(x / y));
	}
}

static struct cell product(struct reader *r)
{
	struct cell left = signed_one(r), right;

	for (;;) {
		char sign = take(r, "*") ? '*' : take(r, "//") ? '/' : '%';

		if (sign == '%' && !take(r, "%"))
			return left;
		right = signed_one(r);
		left = calculate(sign, &left, &right);
	}
}

static struct cell sum(struct reader *r)
{
	struct cell left = product(r), right;

	for (;;) {
		char sign;

		skip(r);
		if (r->at[0] == '-' && r->at[1] == '>')
			return left;
		sign = take(r, "+") ? '+' : '-';
		if (sign == '-' && !take(r, "-"))
			return left;
		right = product(r);
		left = calculate(sign, &left, &right);
	}
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

/* "x in (a, b)", or "x in list". */
static struct cell member(struct reader *r, const struct cell *item)
{
	bool found = false, doubt = item->kind == CELL_UNKNOWN;
	struct cell other;

	if (!take(r, "(")) {
		other = primary(r);
		if (doubt || other.kind == CELL_UNKNOWN)
			return unknown;
		return cell_number(other.kind == CELL_TEXT &&
				   has_word(other.text, item->text));
	}
	do {
		struct cell same;

		other = any_of(r);
		same = equal(item, &other);
		found = found || is_true(&same);
		doubt = doubt || same.kind == CELL_UNKNOWN;
	} while (take(r, ","));
	want(r, ")");
	return doubt && !found ? unknown : cell_number(found);
}

static struct cell opposite(const struct cell *c)
{
	return c->kind == CELL_UNKNOWN ? unknown : cell_number(!is_true(c));
}

static struct cell ordered(const struct cell *a, const struct cell *b, int sign,
			   bool equals)
{
	double x = a->number, y = b->number;

	if (a->kind != CELL_NUMBER || b->kind != CELL_NUMBER)
		return unknown;
	return cell_number((sign < 0 ? x < y : x > y) || (equals && x == y));
}

static struct cell comparison(struct reader *r)
{
	struct cell left = sum(r), right, result;

	if (take(r, "in"))
		return member(r, &left);
	if (take(r, "not")) {
		want(r, "in");
		result = member(r, &left);
		return opposite(&result);
	}
	if (take(r, "==")) {
		right = sum(r);
		return equal(&left, &right);
	}
	if (take(r, "!=")) {
		right = sum(r);
		result = equal(&left, &right);
		return opposite(&result);
	}
	skip(r);
	if (*r->at != '<' && *r->at != '>')
		return left;
	int sign = *r->at++ == '<' ? -1 : 1;
	bool equals = *r->at == '=';

	r->at += equals;
	right = sum(r);
	return ordered(&left, &right, sign, equals);
}

static struct cell negation(struct reader *r)
{
	struct cell inner;

	if (!take(r, "not"))
		return comparison(r);
	inner = negation(r);
	return opposite(&inner);
}

static struct cell all_of(struct reader *r)
{
	struct cell left = negation(r), right;

	while (take(r, "and")) {
		right = negation(r);
		if ((left.kind != CELL_UNKNOWN && !is_true(&left)) ||
		    (right.kind != CELL_UNKNOWN && !is_true(&right)))
			left = cell_number(0);
		else
			left = left.kind == CELL_UNKNOWN ? left : right;
	}
	return left;
}

static struct cell any_of(struct reader *r)
{
	struct cell left = all_of(r), right;

	while (take(r, "or")) {
		right = all_of(r);
		if ((left.kind != CELL_UNKNOWN && is_true(&left)) ||
		    (right.kind != CELL_UNKNOWN && is_true(&right)))
			left = cell_number(1);
		else
			left = left.kind == CELL_UNKNOWN ? left : right;
	}
	return left;
}

enum verdict condition_judge(const char *text,
			     struct cell (*lookup)(const void *context,
						   const char *name),
			     const void *context)
{
	struct reader r = { text, lookup, context, false };
	struct cell cell = any_of(&r);

	if (take(&r, "->")) {
		struct cell then = any_of(&r);

		if (cell.kind != CELL_UNKNOWN && !is_true(&cell))
			cell = cell_number(1);
		else if (cell.kind != CELL_UNKNOWN ||
			 (then.kind != CELL_UNKNOWN && is_true(&then)))
			cell = then;
	}
	skip(&r);
	if (r.garbled || *r.at != '\0')
		return VERDICT_GARBLED;
	if (cell.kind == CELL_UNKNOWN)
		return VERDICT_UNKNOWN;
	return is_true(&cell) ? VERDICT_YES : VERDICT_NO;
}
