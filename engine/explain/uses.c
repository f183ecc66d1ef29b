/* uses.c - in which formulas a knob stands. */
#include <stdlib.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/knob/knob.h"

/* Keys in the order in which they were come by, from the totals downwards. */
struct walk {
	int count, at;
	char key[EXPLAIN_MAX_WALKED][EXPLAIN_MAX_KEY];
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "stages.0.busy_seconds" and "stages.12.busy_seconds" have the same formula. */
static bool are_alike(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		if (is_digit(*a) && is_digit(*b)) {
			while (is_digit(*a))
				a++;
			while (is_digit(*b))
				b++;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

static void add(struct walk *walk, const char *key)
{
	for (int i = 0; i < walk->count; i++)
		if (are_alike(walk->key[i], key))
			return;
	if (walk->count < EXPLAIN_MAX_WALKED)
		memcpy(walk->key[walk->count++], key, strlen(key) + 1);
}

/* A formula names a knob by its key or by another spelling of it; those of the machine
 * as constants of the cluster. */
static bool is_it(const struct knob *knob, const char *key)
{
	if (strncmp(key, "cluster.", 8) == 0)
		key += 8;
	return strcmp(key, knob->key) == 0 ||
	       (knob->alias && strcmp(key, knob->alias) == 0);
}

static void note(struct explain_uses *out, const struct explanation *x, const char *key)
{
	for (int i = 0; i < out->count; i++)
		if (strcmp(out->title[i], x->title) == 0)
			return;
	if (out->count == EXPLAIN_MAX_USES)
		return;
	out->title[out->count] = x->title;
	memcpy(out->key[out->count++], key, strlen(key) + 1);
}

static void note_terms(struct walk *walk, const struct knob *knob,
		       const struct explanation *x, struct explain_uses *out)
{
	const char *key = walk->key[walk->at];
	bool found = false;

	for (int i = 0; i < x->terms; i++) {
		if (x->term[i].key[0] == '\0')
			continue;
		found = found || is_it(knob, x->term[i].key);
		add(walk, x->term[i].key);
	}
	if (found)
		note(out, x, key);
}

void explain_uses(const struct scenario *scenario, const struct estimate *estimate,
		  const char *key, struct explain_uses *out)
{
	const struct knob *knob = knob_find(key);
	struct walk walk = { .count = 0 };
	struct explain_facts *facts;
	struct explanation x;

	out->count = 0;
	if (!knob || !estimate->legal)
		return;
	facts = explain_facts();
	for (int i = 0; i < metric_count(); i++)
		if (metric_table[i].modes >> scenario->plan.mode & 1)
			add(&walk, metric_table[i].key);
	for (walk.at = 0; walk.at < walk.count; walk.at++)
		if (explain_with(facts, scenario, estimate, walk.key[walk.at], &x))
			note_terms(&walk, knob, &x, out);
	free(facts);
}
