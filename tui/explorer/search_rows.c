/* search_rows.c - which plans of a search are rows of the table, and the one under the
 * cursor against the best; see search.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/predict/predict.h"
#include "tui/explorer.h"
#include "tui/explorer/search.h"

static bool is_wanted(const char *name, const char *filter)
{
	char copy[MAX_FILTER], *rest = copy, *word;

	snprintf(copy, sizeof copy, "%s", filter);
	while ((word = strsep(&rest, " "))) {
		bool without = word[0] == '!';

		if (word[0] == '\0' || strchr(word, '=') ||
		    strcmp(word, "research") == 0)
			continue;
		if ((strcasestr(name, word + without) != NULL) == without)
			return false;
	}
	return true;
}

/* --- the rows --- */

static double sort_key(const struct planner_found *f, enum search_sort sort)
{
	switch (sort) {
	case SORT_STEP: return f->step_seconds;
	case SORT_RATE: return -f->tokens_per_second_per_gpu;
	case SORT_MFU: return f->ttft_seconds > 0 ? -f->requests : -f->mfu;
	case SORT_BUBBLE: return f->bubble_ratio;
	case SORT_MEMORY: return f->memory_bytes;
	default: return 0;
	}
}

/* Where a filter says what names must have, every plan that has it is a row. */
static bool is_folded(const char *filter)
{
	char copy[MAX_FILTER], *rest = copy, *word;

	snprintf(copy, sizeof copy, "%s", filter);
	while ((word = strsep(&rest, " ")))
		if (word[0] != '\0' && !strchr(word, '=') &&
		    strcmp(word, "research") != 0)
			return false;
	return true;
}

/* Puts a plan among the rows from `first` on; equal plans keep their rank. */
static void add_row(struct search *search, int plan, int first, int end,
		    enum search_sort sort)
{
	const struct planner_found *top = search->result.top;
	int at = end;

	memmove(&search->order[end + 1], &search->order[end],
		(size_t)(search->rows - end));
	while (at > first && sort_key(&top[search->order[at - 1]], sort) >
				     sort_key(&top[plan], sort)) {
		search->order[at] = search->order[at - 1];
		at--;
	}
	search->order[at] = (uint8_t)plan;
	search->rows++;
}

/* The plans of the opened idea, behind its best. */
static void add_opened(struct search *search, enum search_sort sort)
{
	const struct alike *alike = &search->alike;
	int row = search->opened - 1, first = 0, end;

	if (row < 0 || row >= alike->rows)
		return;
	while (first < search->rows && search->order[first] != alike->best[row])
		first++;
	if (first == search->rows)
		return;
	end = ++first;
	for (int i = 0; i < search->result.found; i++)
		if (alike->row[i] == row && i != alike->best[row]) {
			search->row[i].inside = true;
			add_row(search, i, first, end++, sort);
		}
}

static void collect_words(struct search *search)
{
	struct scenario s;

	search->words[0] = '\0';
	for (int i = 0; i < search->rows; i++) {
		planner_scenario(&search->problem,
				 &search->result.top[search->order[i]], &s);
		planner_name_words(&search->problem, &s, search->words,
				   sizeof search->words);
	}
}

void search_arrange_rows(struct explorer *explorer)
{
	struct search *search = explorer->search;
	struct view_state *state = &explorer->state[VIEW_SEARCH];
	enum search_sort sort = (enum search_sort)state->sort;
	bool folded = is_folded(explorer->filter);

	if (!search)
		return;
	search->rows = 0;
	search->folded = folded;
	for (int i = 0; i < search->result.found; i++) {
		const struct alike *alike = &search->alike;

		search->row[i].inside = false;
		if (is_wanted(search->row[i].name, explorer->filter) &&
		    (!folded || alike->best[alike->row[i]] == i))
			add_row(search, i, 0, search->rows, sort);
	}
	if (folded)
		add_opened(search, sort);
	if (state->cursor >= search->rows)
		state->cursor = search->rows > 0 ? search->rows - 1 : 0;
	search->why_not.done = false;
	collect_words(search);
}

bool search_can_open_row(const struct explorer *explorer)
{
	const struct search *search = explorer->search;
	int at = explorer->state[VIEW_SEARCH].cursor, plan, row;

	if (!search || at >= search->rows || !is_folded(explorer->filter))
		return false;
	plan = search->order[at];
	row = search->alike.row[plan];
	return search->alike.count[row] > 1 && search->alike.best[row] == plan &&
	       search->opened != row + 1;
}

bool search_open_row(struct explorer *explorer)
{
	struct search *search = explorer->search;
	int plan;

	if (!search_can_open_row(explorer))
		return false;
	plan = search->order[explorer->state[VIEW_SEARCH].cursor];
	search->opened = search->alike.row[plan] + 1;
	search_arrange_rows(explorer);
	for (int i = 0; i < search->rows; i++)
		if (search->order[i] == plan)
			explorer->state[VIEW_SEARCH].cursor = i;
	return true;
}

size_t search_plan_name(const struct search *search, const struct planner_found *found,
			char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "plan ");

	return used + alike_name(&search->alike, (int)(found - search->result.top),
				 out + used, size - used);
}

/* --- why not --- */

/* What is held against the best: the plan that "?tp=8 ?pp=4" makes of it, the one under
 * the cursor, or where that is the best, the open one. */
static bool choose_other(struct explorer *explorer, struct scenario *other)
{
	struct search *search = explorer->search;
	struct why_not *why = &search->why_not;
	const struct planner_found *chosen = search_chosen(explorer);
	char copy[MAX_FILTER], *rest = copy, *word;
	bool typed = false;

	planner_scenario(&search->problem, &search->result.top[0], other);
	why->what[0] = why->trouble[0] = '\0';
	why->open = false;
	snprintf(copy, sizeof copy, "%s", explorer->filter);
	while ((word = strsep(&rest, " "))) {
		size_t used = strlen(why->what);

		if (word[0] != '?' || word[1] == '\0')
			continue;
		snprintf(why->what + used, sizeof why->what - used, "%s%.40s",
			 typed ? " " : "#1 with ", word + 1);
		typed = true;
		if (!compare_turn(other, word + 1, why->trouble, sizeof why->trouble))
			return false;
	}
	if (typed)
		return true;
	if (chosen && chosen != &search->result.top[0]) {
		planner_scenario(&search->problem, chosen, other);
		search_plan_name(search, chosen, why->what, sizeof why->what);
		return true;
	}
	*other = explorer->scenario;
	why->open = true;
	snprintf(why->what, sizeof why->what, "your plan");
	return true;
}

void search_compare_chosen(struct explorer *explorer)
{
	struct search *search = explorer->search;
	struct why_not *why = &search->why_not;
	struct estimate *e = explorer->scratch;
	struct scenario best, other;

	why->done = true;
	why->compare.plans = 0;
	if (!choose_other(explorer, &other))
		return;
	planner_scenario(&search->problem, &search->result.top[0], &best);
	scenario_estimate(&best, &search->best);
	scenario_estimate(&other, e);
	if (!e->legal && e->problems.count > 0)
		finding_text(&e->problems.item[0], why->trouble, sizeof why->trouble);
	if (e->legal)
		compare_plans((const struct scenario *const[]){ &best, &other },
			      (const struct estimate *const[]){ &search->best, e }, 2,
			      &why->compare);
}
