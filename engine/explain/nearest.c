/* nearest.c - see nearest.h. */
#include "engine/explain/nearest.h"

#include <stdio.h>
#include <string.h>

#include "engine/estimate/estimate.h"
#include "engine/glossary/glossary.h"
#include "engine/knob/knob.h"

/* A term that is nearer than `least`, by its key or another of its names. */
static const char *nearest_term(const char *text, int least, const char *best)
{
	for (int i = 0; i < glossary_count(); i++) {
		const struct glossary_word *word = glossary_at(i);
		char names[256], *rest = names, *name;

		if (!glossary_is_term(word))
			continue;
		snprintf(names, sizeof names, "%s,%s", word->key,
			 word->also ? word->also : "");
		while ((name = strsep(&rest, ","))) {
			if (knob_distance(text, name) >= least)
				continue;
			least = knob_distance(text, name);
			best = strstr(word->key, name) ? strstr(word->key, name)
						       : word->key;
		}
	}
	return best;
}

const char *explain_nearest(const char *text)
{
	const char *best = knob_nearest_key(text);
	/* in a short word every letter counts */
	int far = strlen(text) < 4 ? 2 : strlen(text) < 8 ? 3 : 4;
	int least = best ? knob_distance(text, best) : far;

	for (int i = 0; i < metric_count(); i++) {
		int distance = knob_distance(text, metric_table[i].key);

		if (distance < least) {
			least = distance;
			best = metric_table[i].key;
		}
	}
	return nearest_term(text, least, best);
}

const struct knob *explain_knob(const char *key)
{
	return metric_find(key) ? NULL : knob_find(key);
}
