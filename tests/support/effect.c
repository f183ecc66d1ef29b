/* effect.c - see effect.h. */
#include "tests/support/effect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate before, behind;

void effect_set(struct scenario *s, const char *settings)
{
	char text[256], *rest = text;

	snprintf(text, sizeof text, "%s", settings);
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		char *value = strchr(word, '=');

		assert_non_null(value);
		*value++ = '\0';
		case_set(s, word, value);
	}
}

static double number(const struct effect *row, const struct scenario *begin,
		     const char *value, struct estimate *out)
{
	const struct metric *metric = metric_find(row->metric);
	struct scenario s = *begin;

	if (!metric)
		fail_msg("there is no number %s", row->metric);
	effect_set(&s, row->besides);
	case_set(&s, row->key, value);
	if (!knob_applies(&s, knob_find(row->key)))
		fail_msg("%s=%s (%s) does not apply", row->key, value, row->besides);
	scenario_estimate(&s, out);
	if (!out->legal)
		fail_msg("%s=%s (%s) is illegal", row->key, value, row->besides);
	return metric_get(out, metric);
}

void effect_check(const struct effect *row, const struct scenario *begin)
{
	double a = number(row, begin, row->from, &before);
	double b = number(row, begin, row->to, &behind);
	double moved = row->move == TIMES ? b / a : b - a;
	double room = row->low == row->high ? 1e-6 * fabs(row->high) : 0;

	if (!(moved >= row->low - room && moved <= row->high + room))
		fail_msg("%s %s -> %s (%s): %s from %.10g to %.10g, %s %.10g, not "
			 "%.10g to %.10g: %s",
			 row->key, row->from, row->to, row->besides, row->metric, a, b,
			 row->move == TIMES ? "times" : "plus", moved, row->low,
			 row->high, row->why);
}

static bool has(const struct effect *rows, int count, const char *key)
{
	for (int i = 0; i < count; i++)
		if (strcmp(rows[i].key, key) == 0)
			return true;
	return false;
}

void effect_all_turned(const struct effect *rows, int count, int mode,
		       const char *const *apart)
{
	for (int k = 0; k < knob_count(); k++) {
		const char *key = knob_table[k].key;
		int i = 0;

		while (apart[i] && strcmp(apart[i], key) != 0)
			i++;
		if (apart[i] && has(rows, count, key))
			fail_msg("%s stands apart and has a row", key);
		if (!apart[i] && knob_in_mode(&knob_table[k], mode) &&
		    !has(rows, count, key))
			fail_msg("no row says what %s does", key);
	}
}
