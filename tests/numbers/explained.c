/* explained.c - pages of Explain: from a total or from any number below it down to
 * where a chain ends, one term taken of each page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/explain/nearest.h"
#include "engine/explain/row.h"
#include "tests/numbers/estimated.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/walk.h"

/* Where numbers stand that no table of the estimate has; %d is any place. */
static const struct {
	const char *word, *prefix;
	const struct explain_node *nodes;
} below[] = {
	{ "stage", "stages.%d.", explain_stage },
	{ "stage_times", "stages.%d.", explain_stage_times },
	{ "stage_kind", "stages.%d.kinds.%d.", explain_stage_kind },
	{ "chunk", "chunks.%d.", explain_chunk },
	{ "chunk_kind", "chunks.%d.kinds.%d.", explain_chunk_kind },
	{ "layer", "kinds.%d.", explain_layer },
	{ "ends", "head.", explain_layer },
	{ "mtp", "mtp.", explain_layer },
	{ "operator", "kinds.%d.operators.%d.", explain_operator },
	{ "exposure", "kinds.%d.operators.%d.", explain_exposure },
	{ "traffic", "traffic.%d.", explain_traffic },
	{ "algorithm", "traffic.%d.by.", explain_algorithm },
	{ "model", "", explain_model },
	{ "model_kind", "model.kinds.%d.", explain_model_kind },
	{ "degrees", "", explain_degrees_nodes },
	{ "states", "", explain_states },
	{ "rates", "", explain_rates },
	{ "server", "", explain_serving_nodes },
	{ "server_plan", "", explain_serving_plan },
};

/* Calls of next() stand in lines of their own: C leaves open which argument is first.
 */
static const char *below_key(char *key, size_t size)
{
	size_t at = next(sizeof below / sizeof below[0]);
	const struct explain_node *nodes = below[at].nodes;
	const char *prefix = below[at].prefix;
	uint64_t count = 0, pick;
	int first = (int)next(8), kind = (int)next(3), op = (int)next(24);
	int algorithm = 1 + (int)next(ALGORITHM_COUNT - 1);
	char head[EXPLAIN_MAX_KEY];

	while (nodes[count].row.key)
		count++;
	pick = next(count);
	if (strstr(prefix, "operators"))
		snprintf(head, sizeof head, "kinds.%d.operators.%d.", kind, op);
	else if (strstr(prefix, "by."))
		snprintf(head, sizeof head, "traffic.%d.by.%s.", first,
			 algorithm_name((enum algorithm)algorithm));
	else if (strstr(prefix, "%d.kinds"))
		snprintf(head, sizeof head, "%.6s.%d.kinds.%d.", prefix, first, kind);
	else if (strstr(prefix, "%d"))
		snprintf(head, sizeof head, "%.*s%d.",
			 (int)(strchr(prefix, '%') - prefix), prefix,
			 strstr(prefix, "kinds") ? kind : first);
	else
		snprintf(head, sizeof head, "%s", prefix);
	snprintf(key, size, "%.30s%s", head, nodes[pick].row.key);
	return below[at].word;
}

static const char *total_key(int modes, char *key, size_t size)
{
	const struct metric *metric;

	do
		metric = &metric_table[next((uint64_t)metric_count())];
	while (!(metric->modes & modes));
	snprintf(key, size, "%s", metric->key);
	return metric->key;
}

/* Down from there. */
static void follow(const struct scenario *s, const struct estimate *e, const char *what,
		   char *key, struct figures *out)
{
	enum { DEEPEST = 24 };
	static struct explanation page;

	for (int deep = 0; deep < DEEPEST && explain(s, e, key, &page); deep++) {
		figures_add(out, what, page.value, 0);
		figures_add(out, "terms", page.terms + page.besides, 0);
		figures_say(out, "formulas", page.formula);
		figures_say(out, "assumptions", page.assumption ? page.assumption : "");
		figures_say(out, "titles", page.title ? page.title : "");
		if (page.terms == 0)
			break;
		snprintf(key, EXPLAIN_MAX_KEY, "%s",
			 page.term[next((uint64_t)page.terms)].key);
	}
}

/* Where a knob stands, and what is meant by one that is mistyped. */
static void turn(const struct scenario *s, const struct estimate *e,
		 struct figures *out)
{
	static struct explain_uses uses;
	const struct knob *knob = &knob_table[next((uint64_t)knob_count())];
	char typed[40];
	size_t length;

	explain_uses(s, e, knob->key, &uses);
	figures_add(out, "uses", uses.count, 0);
	for (int i = 0; i < uses.count; i++)
		figures_say(out, "uses.of", uses.key[i]);
	snprintf(typed, sizeof typed, "%s", knob->key);
	length = strlen(typed);
	typed[next(length)] = 'x';
	figures_say(out, "nearest",
		    explain_nearest(typed) ? explain_nearest(typed) : "nothing");
}

void figures_explained(const struct scenario *s, const struct estimate *e,
		       struct figures *out)
{
	enum { TOTALS = 6, BELOW = 24, ROOM = 120 };
	int modes = s->plan.mode == MODE_INFERENCE ? METRIC_INFERENCE : METRIC_TRAINING;
	char key[EXPLAIN_MAX_KEY];

	out->count = 0;
	for (int i = 0; i < TOTALS + BELOW && out->count < MAX_FIGURES - ROOM; i++) {
		const char *what = i < TOTALS ? total_key(modes, key, sizeof key)
					      : below_key(key, sizeof key);

		follow(s, e, what, key, out);
	}
	if (next(8) == 0)
		turn(s, e, out);
}
