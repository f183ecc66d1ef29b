/* registry.c - see registry.h. */
#include "presets/python/registry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FUNCTIONS = 256 };

struct function {
	const char *name;
	size_t length;
	struct piece body;
	bool helper; /* it wants arguments, or is for its own file */
};

struct functions {
	int count;
	struct function item[MAX_FUNCTIONS];
};

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool holds(const struct piece *piece, const char *word)
{
	return memmem(piece->at, (size_t)(piece->stop - piece->at), word,
		      strlen(word)) != NULL;
}

/* Nobody can call it by its name alone. */
static bool is_helper(const struct function *f)
{
	const char *at = f->name + f->length;

	if (f->name[0] == '_')
		return true;
	while (at < f->body.stop && (*at == '(' || isspace((unsigned char)*at)))
		at++;
	if (at == f->body.stop || *at == ')' || *at == '*')
		return false;
	while (at < f->body.stop && !strchr("=,)", *at))
		at++;
	return at == f->body.stop || *at != '=';
}

/* Functions that stand at the left edge and make a configuration. */
static void find_functions(const char *text, size_t length, struct functions *out)
{
	const char *stop = text + length;
	struct function *open = NULL;
	int line = 1;

	out->count = 0;
	for (const char *at = text; at < stop; line++) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));

		end = end ? end + 1 : stop;
		if (open && is_name(*at))
			open->body.stop = at;
		if (is_name(*at) || *at == '@')
			open = NULL;
		if (end - at > 4 && memcmp(at, "def ", 4) == 0 &&
		    out->count < MAX_FUNCTIONS) {
			open = &out->item[out->count++];
			open->name = at + 4;
			for (open->length = 0; at + 4 + open->length < end &&
					       is_name(at[4 + open->length]);
			     open->length++)
				;
			open->body = (struct piece){ at, stop, line };
		}
		at = end;
	}
	for (int i = 0; i < out->count; i++)
		out->item[i].helper = is_helper(&out->item[i]);
	for (int i = out->count - 1; i >= 0; i--)
		if (!holds(&out->item[i].body, "onfig")) {
			out->count--;
			memmove(&out->item[i], &out->item[i + 1],
				(size_t)(out->count - i) * sizeof out->item[0]);
		}
}

static const struct function *find(const struct functions *all, const char *name,
				   size_t length)
{
	for (int i = 0; i < all->count; i++)
		if (all->item[i].length == length &&
		    memcmp(all->item[i].name, name, length) == 0)
			return &all->item[i];
	return NULL;
}

/* Another function of the file that this one calls: what it starts from. */
static const struct function *base_of(const struct functions *all,
				      const struct function *of)
{
	for (const char *at = of->name + of->length; at < of->body.stop; at++) {
		size_t length = 0;
		const struct function *called;

		if (!is_name(*at) || is_name(at[-1]) || at[-1] == '.')
			continue;
		while (at + length < of->body.stop && is_name(at[length]))
			length++;
		called = at + length < of->body.stop && at[length] == '('
				 ? find(all, at, length)
				 : NULL;
		if (called && called != of)
			return called;
	}
	return NULL;
}

static bool refuse(const struct functions *all, const char *file, const char *wanted,
		   struct error *error)
{
	char names[320] = "";
	size_t used = 0;
	int count = 0;
	bool full = false;

	for (int i = 0; i < all->count; i++) {
		const struct function *f = &all->item[i];

		count += full && !f->helper;
		if (f->helper || full)
			continue;
		if (used + f->length + 8 > sizeof names) {
			snprintf(names + used, sizeof names - used, " ...");
			full = true;
			count++;
			continue;
		}
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
					 count++ ? ", " : "", (int)f->length, f->name);
	}
	if (count == 0)
		return error_set(error, file, 1,
				 "no configuration stands in it; expected a function "
				 "without arguments that returns one");
	if (wanted)
		return error_set(error, file, 1,
				 "no configuration is called '%.60s'; there are %s",
				 wanted, names);
	return error_set(error, file, 1,
			 "%d configurations; --function NAME says which: %s", count,
			 names);
}

bool registry_choose(struct registry *out, const char *file, const char *text,
		     size_t length, const char *wanted, struct error *error)
{
	struct functions all;
	const struct function *chosen = NULL, *chain[REGISTRY_PIECES];
	int links = 0, whole = 0;

	find_functions(text, length, &all);
	out->count = 1;
	out->piece[0] = (struct piece){ text, text + length, 1 };
	if (all.count == 0 && !wanted)
		return true;
	for (int i = 0; i < all.count; i++)
		if (!all.item[i].helper && whole++ == 0)
			chosen = &all.item[i];
	/* helpers alone: the only one is meant */
	if (whole == 0 && all.count == 1)
		chosen = &all.item[0];
	if (wanted)
		chosen = find(&all, wanted, strlen(wanted));
	if (!chosen || (wanted && chosen->helper && whole > 0) ||
	    (!wanted && whole > 1))
		return refuse(&all, file, wanted, error);
	for (const struct function *at = chosen; at && links < REGISTRY_PIECES - 1;
	     at = base_of(&all, at)) {
		for (int i = 0; i < links; i++)
			if (chain[i] == at)
				return error_set(error, file, at->body.line,
						 "%.*s starts from itself",
						 at->length < 60 ? (int)at->length : 60,
						 at->name);
		chain[links++] = at;
	}
	/* what stands before the first function: imports, and the launcher's words */
	out->piece[0].stop = all.item[0].body.at;
	while (links > 0)
		out->piece[out->count++] = chain[--links]->body;
	return true;
}
