/* tables.c - the numbers of rows that are written once and read by everybody. */
#include <stdio.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/advice/rules.h"
#include "engine/knob/knob.h"
#include "tests/numbers/estimated.h"

/* One line of a row, which no other changes: digits of small numbers side by side. */
static void add_row(struct figures *out, const char *key, const double *value,
		    int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum = 31 * sum + value[i];
	/* a row stands there even where all its numbers are 0 */
	figures_add(out, key, 1 + sum, 0);
}

static void add_metrics(struct figures *out)
{
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *m = &metric_table[i];
		const double value[] = { m->modes, m->form, m->better,
					 figures_word(m->group) };

		add_row(out, m->key, value, 4);
	}
}

static void add_knobs(struct figures *out)
{
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *k = &knob_table[i];
		const double value[] = { k->group, k->type,  k->step, k->min,
					 k->max,   k->scale, k->both };

		add_row(out, k->key, value, 7);
	}
}

static void add_move(struct figures *out, const struct move *m)
{
	const double value[] = {
		m->rule.severity, m->aim,         m->trial,
		m->value,         m->first_value, m->first_knob != NULL
	};

	add_row(out, m->rule.code, value, 6);
}

static void add_advice(struct figures *out)
{
	double severities = 0;
	int rules = 0;

	for (int i = 0; i < advice_move_count(); i++)
		add_move(out, &advice_moves[i]);
	for (int i = 0; i < advice_serving_move_count(); i++)
		add_move(out, &advice_serving_moves[i]);
	for (int i = 0; i < advice_note_count(); i++) {
		const double severity = advice_note(i)->rule.severity;

		add_row(out, advice_note(i)->rule.code, &severity, 1);
	}
	while (rule_at(rules))
		severities += (int)rule_at(rules++)->severity;
	figures_add(out, "rules", rules, 0);
	figures_add(out, "severities", severities, 0);
}

bool figures_of_table(const char *title, struct figures *out)
{
	out->count = 0;
	if (strcmp(title, "table of numbers") == 0)
		add_metrics(out);
	else if (strcmp(title, "table of knobs") == 0)
		add_knobs(out);
	else if (strcmp(title, "table of advice") == 0)
		add_advice(out);
	return out->count > 0;
}
