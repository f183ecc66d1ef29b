/* arithmetic.c - integer expressions of a launch script; see shell.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/script/shell.h"

struct expression {
	const struct shell *shell;
	const char *at, *stop;
	int depth;
	bool good;
};

static int64_t choice(struct expression *e);

static void skip_blanks(struct expression *e)
{
	while (e->at < e->stop && isspace((unsigned char)*e->at))
		e->at++;
}

static int64_t named(struct expression *e)
{
	const char *start;
	const struct shell_word *words;
	char *end;

	while (e->at < e->stop && (*e->at == '$' || *e->at == '{'))
		e->at++;
	start = e->at;
	while (e->at < e->stop && (isalnum((unsigned char)*e->at) || *e->at == '_'))
		e->at++;
	int count = shell_lookup(e->shell, start, (size_t)(e->at - start), &words);

	if (e->at < e->stop && *e->at == '}')
		e->at++;
	if (count != 1 || words[0].unknown || words[0].text[0] == '\0') {
		e->good = false;
		return 0;
	}
	long long value = strtoll(words[0].text, &end, 10);

	e->good = e->good && *end == '\0';
	return value;
}

static int64_t atom(struct expression *e)
{
	int64_t value = 0;

	skip_blanks(e);
	if (e->at == e->stop || ++e->depth > 32) {
		e->good = false;
	} else if (isdigit((unsigned char)*e->at)) {
		char *end;

		value = strtoll(e->at, &end, 10);
		e->at = end < e->stop ? end : e->stop;
	} else if (*e->at == '(') {
		e->at++;
		value = choice(e);
		skip_blanks(e);
		e->good = e->good && e->at < e->stop && *e->at == ')';
		e->at += e->at < e->stop;
	} else if (*e->at == '!') {
		e->at++;
		value = !atom(e);
	} else if (*e->at == '-' || *e->at == '+') {
		bool minus = *e->at++ == '-';

		value = atom(e);
		value = !minus ? value : value == INT64_MIN ? 0 : -value;
	} else if (*e->at == '$' || *e->at == '_' || isalpha((unsigned char)*e->at)) {
		value = named(e);
	} else {
		e->good = false;
	}
	e->depth--;
	return value;
}

/* "2 ** 22": a power, of the right before the left. */
static int64_t power(struct expression *e)
{
	int64_t base = atom(e), times, value = 1;

	skip_blanks(e);
	if (!e->good || e->stop - e->at < 2 || memcmp(e->at, "**", 2) != 0)
		return base;
	e->at += 2;
	if (++e->depth > 32)
		e->good = false;
	times = e->good ? power(e) : 0;
	e->depth--;
	e->good = e->good && times >= 0 && times < 64;
	for (; e->good && times > 0; times--)
		e->good = !__builtin_mul_overflow(value, base, &value);
	return value;
}

static int64_t product(struct expression *e)
{
	int64_t value = power(e);

	for (skip_blanks(e); e->good && e->at < e->stop && strchr("*/%", *e->at);
	     skip_blanks(e)) {
		char op = *e->at++;
		int64_t right = power(e);

		if (op == '*')
			e->good = e->good &&
				  !__builtin_mul_overflow(value, right, &value);
		else if (right <= 0)
			e->good = false;
		else
			value = op == '/' ? value / right : value % right;
	}
	return value;
}

static int64_t sum(struct expression *e)
{
	int64_t value = product(e);

	for (skip_blanks(e);
	     e->good && e->at < e->stop && (*e->at == '+' || *e->at == '-');
	     skip_blanks(e)) {
		char op = *e->at++;
		int64_t right = product(e);

		e->good = e->good &&
			  (op == '+' ? !__builtin_add_overflow(value, right, &value)
				     : !__builtin_sub_overflow(value, right, &value));
	}
	return value;
}

/* Whether the operator stands here; it is passed over. */
static bool takes(struct expression *e, const char *operator)
{
	size_t length = strlen(operator);

	skip_blanks(e);
	if (!e->good || (size_t)(e->stop - e->at) < length ||
	    memcmp(e->at, operator, length) != 0)
		return false;
	e->at += length;
	return true;
}

static int64_t compared(struct expression *e)
{
	int64_t value = sum(e);

	for (;;) {
		if (takes(e, "<="))
			value = value <= sum(e);
		else if (takes(e, ">="))
			value = value >= sum(e);
		else if (takes(e, "=="))
			value = value == sum(e);
		else if (takes(e, "!="))
			value = value != sum(e);
		else if (takes(e, "<"))
			value = value < sum(e);
		else if (takes(e, ">"))
			value = value > sum(e);
		else
			return value;
	}
}

static int64_t both(struct expression *e)
{
	int64_t value = compared(e);

	while (takes(e, "&&"))
		value = compared(e) != 0 && value != 0;
	return value;
}

static int64_t either(struct expression *e)
{
	int64_t value = both(e);

	while (takes(e, "||"))
		value = both(e) != 0 || value != 0;
	return value;
}

static int64_t choice(struct expression *e)
{
	int64_t value = either(e), yes, no;

	if (!takes(e, "?"))
		return value;
	if (++e->depth > 32)
		e->good = false;
	yes = e->good ? choice(e) : 0;
	e->good = takes(e, ":") && e->good;
	no = e->good ? choice(e) : 0;
	e->depth--;
	return value ? yes : no;
}

bool shell_arithmetic(const struct shell *shell, const char *text, size_t length,
		      int64_t *out)
{
	struct expression e = {
		.shell = shell, .at = text, .stop = text + length, .good = true
	};

	*out = choice(&e);
	skip_blanks(&e);
	return e.good && e.at == e.stop;
}
