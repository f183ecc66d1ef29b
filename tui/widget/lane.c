/* lane.c - one lane of a Gantt, and its row of levels; see tui/widget.h. */
#include <math.h>
#include <stdlib.h>

#include "tui/widget.h"

/* Columns of time that each role still has to be shown. */
struct debts {
	double of[ROLE_COUNT];
	bool here[ROLE_COUNT];      /* in this column */
	enum role seen[ROLE_COUNT]; /* those with any, in order: few of all roles */
	int count;
};

static void note(struct debts *debts, enum role role)
{
	int at = debts->count;

	for (int i = 0; i < debts->count; i++)
		if (debts->seen[i] == role)
			return;
	for (; at > 0 && debts->seen[at - 1] > role; at--)
		debts->seen[at] = debts->seen[at - 1];
	debts->seen[at] = role;
	debts->count++;
}

static void owe(struct debts *debts, enum role role, double columns)
{
	if (!(columns > 0))
		return;
	debts->of[role] += columns;
	if (!debts->here[role])
		note(debts, role);
	debts->here[role] = true;
}

/* Overlaps of one column with the spans from *first on, which ends at the first span
 * that the next column may need. */
static void collect(struct debts *debts, const struct span *span, int count, int *first,
		    double begin, double end)
{
	double covered = 0, width = end - begin;

	for (int i = 0; i < debts->count; i++)
		debts->here[debts->seen[i]] = false;
	while (*first < count && span[*first].end <= begin)
		++*first;
	for (int i = *first; i < count && span[i].begin < end; i++) {
		double over = fmin(end, span[i].end) - fmax(begin, span[i].begin);

		owe(debts, span[i].role, over / width);
		covered += fmax(0, over) / width;
	}
	owe(debts, ROLE_IDLE, 1 - covered);
}

/* What is here and most behind its share; a debt from before may only win alone. */
static enum role choose(struct debts *debts)
{
	int best = ROLE_IDLE;

	for (int pass = 0; pass < 2; pass++) {
		double most = pass == 0 ? 0 : 0.999;

		for (int i = 0; i < debts->count; i++) {
			int r = (int)debts->seen[i];

			if ((pass == 0 && !debts->here[r]) || debts->of[r] <= most)
				continue;
			most = debts->of[r];
			best = r;
		}
	}
	debts->of[best] -= 1;
	return (enum role)best;
}

/* Of one column alone: nothing is owed to another. */
static void forget(struct debts *debts)
{
	for (int i = 0; i < debts->count; i++)
		debts->of[debts->seen[i]] = 0;
}

void widget_lane(struct canvas *canvas, struct rect rect, const struct span *span,
		 int count, double from, double to, bool shares)
{
	double each = (to - from) / rect.width;
	struct debts debts = { .of = { 0 } };
	struct span *column;
	int first = 0;

	if (rect.width < 1 || !(to > from))
		return;
	column = malloc((size_t)rect.width * sizeof *column);
	if (column == NULL) {
		canvas->lacks = true;
		return;
	}
	for (int x = 0; x < rect.width; x++) {
		double begin = from + x * each;

		if (!shares)
			forget(&debts);
		collect(&debts, span, count, &first, begin, begin + each);
		column[x] = (struct span){ begin, begin + each, choose(&debts), NULL };
	}
	widget_spans(canvas, rect, column, rect.width, from, to);
	free(column);
}

void widget_level(struct canvas *canvas, int x, int y, double fraction, enum role role)
{
	/* neither idle nor the cursor, which stand in the lanes above */
	static const char ramp[] = " ,:-=+%#";
	int level = (int)lround(fmin(1, fmax(0, fraction)) * 8);

	if (level == 0 && fraction > 0)
		level = 1;
	if (level == 0)
		return;
	if (canvas->glyphs == GLYPHS_FULL)
		canvas_put(canvas, x, y, 0x2580u + (uint32_t)level, role);
	else if (canvas->glyphs == GLYPHS_ASCII)
		canvas_put(canvas, x, y, (unsigned char)ramp[level - 1 ? level - 1 : 1],
			   role);
	else
		canvas_put(canvas, x, y, level > 4 ? 0x2588u : 0x2584u, role);
}
