/* variables.c - variables and arithmetic of a launch script; see shell.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/shell.h"

static struct shell_variable *find(const struct shell *shell, const char *name,
				   size_t length)
{
	for (int i = 0; i < shell->variables; i++) {
		const struct shell_variable *v = &shell->variable[i];

		if (strlen(v->name) == length && memcmp(v->name, name, length) == 0)
			return (struct shell_variable *)v;
	}
	return NULL;
}

int shell_lookup(const struct shell *shell, const char *name, size_t length,
		 const struct shell_word **words)
{
	const struct shell_variable *v = find(shell, name, length);

	*words = v ? &shell->word[v->first] : NULL;
	return v ? v->count : 0;
}

static bool push(struct shell *shell, struct shell_word word)
{
	if (shell->words == SHELL_MAX_WORDS) {
		shell->full = true;
		return false;
	}
	shell->word[shell->words++] = word;
	return true;
}

bool shell_assign(struct shell *shell, const char *name, size_t length, bool append,
		  const struct shell_word *words, int count)
{
	struct shell_variable *v = find(shell, name, length);
	int first = shell->words;

	if (append && v)
		for (int i = 0; i < v->count; i++)
			if (!push(shell, shell->word[v->first + i]))
				return false;
	for (int i = 0; i < count; i++)
		if (!push(shell, words[i]))
			return false;
	if (!v) {
		const char *kept = arguments_keep(shell->arguments, name, length);

		if (shell->variables == SHELL_MAX_VARIABLES || !kept) {
			shell->full = true;
			return false;
		}
		v = &shell->variable[shell->variables++];
		v->name = kept;
	}
	v->first = first;
	v->count = shell->words - first;
	return true;
}

struct expression {
	const struct shell *shell;
	const char *at, *stop;
	int depth;
	bool good;
};

static int64_t sum(struct expression *e);

static void skip_blanks(struct expression *e)
{
	while (e->at < e->stop && isspace((unsigned char)*e->at))
		e->at++;
}

static int64_t named(struct expression *e)
{
	const char *start;
	const struct shell_word *words;

	while (e->at < e->stop && (*e->at == '$' || *e->at == '{'))
		e->at++;
	start = e->at;
	while (e->at < e->stop && (isalnum((unsigned char)*e->at) || *e->at == '_'))
		e->at++;
	int count = shell_lookup(e->shell, start, (size_t)(e->at - start), &words);

	if (e->at < e->stop && *e->at == '}')
		e->at++;
	e->good = e->good && count == 1;
	return count == 1 ? strtoll(words[0].text, NULL, 10) : 0;
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
		value = sum(e);
		skip_blanks(e);
		e->good = e->good && e->at < e->stop && *e->at == ')';
		e->at += e->at < e->stop;
	} else if (*e->at == '$' || *e->at == '_' || isalpha((unsigned char)*e->at)) {
		value = named(e);
	} else {
		e->good = false;
	}
	e->depth--;
	return value;
}

static int64_t product(struct expression *e)
{
	int64_t value = atom(e);

	for (skip_blanks(e); e->good && e->at < e->stop && strchr("*/%", *e->at);
	     skip_blanks(e)) {
		char op = *e->at++;
		int64_t right = atom(e);

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

bool shell_arithmetic(const struct shell *shell, const char *text, size_t length,
		      int64_t *out)
{
	struct expression e = {
		.shell = shell, .at = text, .stop = text + length, .good = true
	};

	*out = sum(&e);
	skip_blanks(&e);
	return e.good && e.at == e.stop;
}
