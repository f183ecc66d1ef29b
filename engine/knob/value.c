/* value.c - find a knob, get and set what it turns. */
#include "engine/knob/value.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char plain(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == '_' ? '-' : c;
}

bool knob_spelled(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (plain(a[i]) != plain(b[i]))
			return false;
		if (!a[i])
			return true;
	}
	return b[length] == '\0';
}

const struct knob *knob_find(const char *key)
{
	size_t length = strlen(key);
	char first = plain(key[0]); /* most of them part there; their own are plain */

	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		const char *alias = knob->alias;

		if ((knob->key[0] == first && knob_spelled(key, knob->key, length)) ||
		    (alias && alias[0] == first && knob_spelled(key, alias, length)))
			return knob;
	}
	return NULL;
}

enum { LONGEST = 40 };

/* What it costs to make the first i letters into 0 to n letters of the other, from the
 * two rows before; returns the least. */
static int next_row(const char *a, const char *b, int n, int i,
		    int rows[3][LONGEST + 1])
{
	int *now = rows[i % 3], *up = rows[(i + 2) % 3], *far = rows[(i + 1) % 3];
	int least = i;

	now[0] = i;
	for (int j = 1; j <= n; j++) {
		int best = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);

		if (up[j] + 1 < best)
			best = up[j] + 1;
		if (now[j - 1] + 1 < best)
			best = now[j - 1] + 1;
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
		    far[j - 2] + 1 < best)
			best = far[j - 2] + 1;
		now[j] = best;
		least = best < least ? best : least;
	}
	return least;
}

int knob_distance_within(const char *a, const char *b, int most)
{
	int rows[3][LONGEST + 1];
	char left[LONGEST], right[LONGEST];
	int m = (int)strlen(a), n = (int)strlen(b), above = 0;

	if (m > LONGEST || n > LONGEST)
		return LONGEST;
	/* a letter that one of them has more is a change */
	if (m - n > most || n - m > most)
		return most + 1;
	for (int i = 0; i < m; i++)
		left[i] = plain(a[i]);
	for (int j = 0; j < n; j++)
		right[j] = plain(b[j]);
	for (int j = 0; j <= n; j++)
		rows[0][j] = j;
	for (int i = 1; i <= m; i++) {
		int least = next_row(left, right, n, i, rows);

		/* a row is made of the one above, and with a change of that before */
		if (least > most && above >= most)
			return most + 1;
		above = least;
	}
	return rows[m % 3][n];
}

int knob_distance(const char *a, const char *b)
{
	return knob_distance_within(a, b, INT_MAX - 1);
}

const char *knob_nearest_key(const char *key)
{
	size_t length = strlen(key);
	int best = length < 4 ? 2 : length < 8 ? 3 : 4; /* first distance too far */
	const char *nearest = NULL;

	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		int far = knob_distance_within(key, knob->key, best),
		    other = knob->alias ? knob_distance_within(key, knob->alias, best)
					: best;

		far = other < far ? other : far;
		if (far < best) {
			best = far;
			nearest = knob->key;
		}
	}
	return nearest;
}

static const void *field(const struct scenario *scenario, const struct knob *knob)
{
	return (const char *)scenario + knob->offset;
}

double knob_get(const struct scenario *scenario, const struct knob *knob)
{
	const void *at = field(scenario, knob);

	switch (knob->type) {
	case KNOB_INT: return (double)*(const int64_t *)at;
	case KNOB_REAL: return *(const double *)at / knob->scale;
	case KNOB_BOOL: return *(const bool *)at ? 1 : 0;
	case KNOB_WORD: return *(const int *)at;
	case KNOB_SET: return (double)*(const uint64_t *)at;
	case KNOB_TEXT: break;
	}
	return 0;
}

const char *knob_get_text(const struct scenario *scenario, const struct knob *knob)
{
	return knob->type == KNOB_TEXT ? (const char *)field(scenario, knob) : "";
}

bool knob_inside(const struct knob *knob, double value, char *why, size_t size)
{
	char low[32], high[32];

	if (!(value >= knob->min && value <= knob->max) ||
	    (knob->type != KNOB_REAL && value != floor(value))) {
		knob_decimal(knob->min, 1, knob->min, low, sizeof low);
		knob_decimal(knob->max, 1, knob->max, high, sizeof high);
		snprintf(why, size, "%s takes %s from %s to %s", knob->key,
			 knob->type == KNOB_REAL ? "a number" : "a whole number", low,
			 high);
		return false;
	}
	return true;
}

bool knob_set(struct scenario *scenario, const struct knob *knob, double value)
{
	void *at = (char *)scenario + knob->offset;

	if (knob->type == KNOB_TEXT || !knob_inside(knob, value, NULL, 0))
		return false;
	switch (knob->type) {
	case KNOB_INT: *(int64_t *)at = (int64_t)value; break;
	case KNOB_REAL: *(double *)at = value * knob->scale; break;
	case KNOB_BOOL: *(bool *)at = value != 0; break;
	case KNOB_WORD: *(int *)at = (int)value; break;
	case KNOB_SET: *(uint64_t *)at = (uint64_t)value; break;
	case KNOB_TEXT: break;
	}
	return true;
}

bool knob_same(const struct scenario *a, const struct scenario *b,
	       const struct knob *knob)
{
	if (knob->type == KNOB_TEXT)
		return strcmp(field(a, knob), field(b, knob)) == 0;
	return knob_get(a, knob) == knob_get(b, knob);
}

/* What rules read of a plan in which it does nothing: there one value may be legal and
 * another one not, so that neither is the other's name. */
static bool rules_read_idle(const struct knob *knob)
{
	static const char *const keys[] = { "schedule", "vpp", "split",
					    "recompute_layers" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(knob->key, keys[i]) == 0)
			return true;
	return false;
}

static int64_t prefill_tp(const struct scenario *s)
{
	return s->plan.serving.disaggregated ? scenario_prefill_engine(s).tp : 0;
}

static int64_t prefill_pp(const struct scenario *s)
{
	return s->plan.serving.disaggregated ? scenario_prefill_engine(s).pp : 0;
}

/* Knobs with a value that stands for what others lead to. */
static const struct meaning {
	const char *key;
	int64_t (*of)(const struct scenario *scenario);
} meanings[] = {
	{ "etp", scenario_etp },
	{ "prefill_gpus", scenario_prefill_gpus },
	{ "prefill_tp", prefill_tp },
	{ "prefill_pp", prefill_pp },
};

static const struct meaning *find_meaning(const struct knob *knob)
{
	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
		if (strcmp(knob->key, meanings[i].key) == 0)
			return &meanings[i];
	return NULL;
}

bool knob_repeats(struct scenario *s, const struct knob *knob, const double *value,
		  int at)
{
	const struct meaning *meaning = find_meaning(knob);
	bool same = false;
	int64_t own;

	if (at == 0 || !meaning)
		return at > 0 && !knob_applies(s, knob) && !rules_read_idle(knob);
	own = meaning->of(s);
	for (int i = 0; i < at && !same; i++) {
		knob_set(s, knob, value[i]);
		same = meaning->of(s) == own;
	}
	knob_set(s, knob, value[at]);
	return same;
}

bool knob_repeats_early(const struct knob *knob)
{
	return strcmp(knob->key, "sp") == 0 || strcmp(knob->key, "cp_kind") == 0 ||
	       strcmp(knob->key, "etp") == 0;
}
