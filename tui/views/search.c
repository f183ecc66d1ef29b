/* search.c - the best plans, ranked, and what else is worth knowing of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/trust/trust.h"
#include "tui/view.h"
#include "tui/views/search_parts.h"

static const enum column sort_column[SORT_COUNT] = {
	[SORT_RANK] = COLUMN_RANK,     [SORT_STEP] = COLUMN_STEP,
	[SORT_RATE] = COLUMN_RATE,     [SORT_MFU] = COLUMN_MFU,
	[SORT_BUBBLE] = COLUMN_BUBBLE, [SORT_MEMORY] = COLUMN_MEMORY,
};

/* Where the parts of the view are. */
struct parts {
	struct rect table, notes, plot;
};

bool search_leaves_room(const struct explorer *explorer)
{
	const struct search *search = explorer->search;

	return search && !explorer->search_stale && search->trouble[0] == '\0' &&
	       search->misses.problem && search->phase > SEARCH_MISSES &&
	       search->result.found == 0;
}

static struct parts divide(const struct explorer *explorer, struct rect rect)
{
	bool zoomed = explorer->state[VIEW_SEARCH].zoom > 0;
	const struct search *search = explorer->search;
	int notes = search_notes(explorer, rect);
	int rest = rect.height - 2 - notes, plot = 0;
	struct parts parts;

	if (zoomed)
		plot = rest >= 24 ? rest - 8 : rest;
	else if (rest >= 16)
		plot = rest / 2 < 22 ? rest / 2 : 22;
	/* the picture has what the table does not need, and cedes a row or two */
	if (plot > 0 && search && search->rows > 0) {
		int wanted = rest - search->rows - 1;

		plot = wanted > plot + 1 ? wanted - 1 : wanted >= 6 ? wanted : plot;
	}
	if (search_leaves_room(explorer))
		plot = rest - search_miss_rows(search, rect.width);
	plot = plot > 0 ? plot : 0;
	parts.table = (struct rect){ rect.x, rect.y + 2, rect.width, rest - plot };
	parts.notes =
		(struct rect){ rect.x, rect.y + 2 + rest - plot, rect.width, notes };
	parts.plot = (struct rect){ rect.x, parts.notes.y + notes, rect.width, plot };
	return parts;
}

static enum role above(double value, double limit)
{
	return value > limit ? ROLE_WARNING : ROLE_VALUE;
}

/* How many are like it, if they are folded into its row. */
static void likes_text(const struct search *search, int index, struct table_cell *out)
{
	const struct alike *alike = &search->alike;
	int row = alike->row[index];

	if (search->folded && alike->count[row] > 1 && alike->best[row] == index &&
	    search->opened != row + 1)
		snprintf(out->text, sizeof out->text, "+%d", alike->count[row] - 1);
	out->role = ROLE_LABEL;
}

static void whole(double value, struct table_cell *out)
{
	snprintf(out->text, sizeof out->text, "%.0f", value);
}

static void digits(double value, struct table_cell *out)
{
	snprintf(out->text, sizeof out->text, value >= 1000 ? "%.0f" : "%.3g", value);
}

/* Of the mean request, or of one in a hundred where these have to keep the goals; a
 * plan that keeps none was not simulated. */
static void seconds_text(const struct search *search, double mean, double slow,
			 struct table_cell *out)
{
	if (search_tells_slowest(search))
		mean = slow;
	if (mean > 0)
		form_text(FORM_SECONDS, mean, out->text, sizeof out->text);
	else
		snprintf(out->text, sizeof out->text, "-");
}

static void cell(const void *context, int row, int column, struct table_cell *out)
{
	const struct search *search = context;
	int index = search->order[row];
	const struct planner_found *f = &search->result.top[index];
	const struct search_row *own = &search->row[index];
	char name[16];

	out->role = ROLE_VALUE;
	switch (column) {
	case COLUMN_RANK:
		out->role = ROLE_LABEL;
		alike_name(&search->alike, index, name, sizeof name);
		snprintf(out->text, sizeof out->text, "%s%s",
			 search_always_best(search, index) ? "*" : "", name);
		break;
	case COLUMN_PLAN:
		out->role = ROLE_DEFAULT;
		snprintf(out->text, sizeof out->text, "%s%.90s",
			 own->inside ? "  " : "", own->name);
		break;
	case COLUMN_LIKES: likes_text(search, index, out); break;
	case COLUMN_STEP:
		seconds_text(search, f->step_seconds, f->slow_tpot_seconds, out);
		break;
	case COLUMN_RATE: whole(f->tokens_per_second_per_gpu, out); break;
	case COLUMN_MFU:
		if (f->ttft_seconds > 0) {
			snprintf(out->text, sizeof out->text, "%.0f", f->requests);
			break;
		}
		form_text(FORM_PERCENT, f->mfu, out->text, sizeof out->text);
		break;
	case COLUMN_BUBBLE:
		if (f->ttft_seconds > 0) {
			seconds_text(search, f->ttft_seconds, f->slow_ttft_seconds,
				     out);
			break;
		}
		form_text(FORM_PERCENT, f->bubble_ratio, out->text, sizeof out->text);
		out->role = above(f->bubble_ratio, 0.1);
		break;
	case COLUMN_REQUESTS: digits(f->requests_per_second, out); break;
	case COLUMN_DOLLARS: digits(f->dollars_per_million_tokens, out); break;
	case COLUMN_MEMORY:
		form_text(FORM_PERCENT, f->memory_share, out->text, sizeof out->text);
		out->bar = f->memory_share;
		break;
	case COLUMN_TRUST:
		snprintf(out->text, sizeof out->text, "%s",
			 own->known ? own->known : "");
		out->role = own->trust == TRUST_OPEN ? ROLE_WARNING : ROLE_LABEL;
		break;
	default:
		if (own->limit && strcmp(own->limit, "compute") == 0)
			snprintf(out->text, sizeof out->text, "compute");
		else if (own->limit)
			snprintf(out->text, sizeof out->text, "%s %.0f %%", own->limit,
				 own->limit_share * 100);
		out->role = ROLE_LABEL;
	}
}

/* --- head --- */

/* How many GPUs are tried, or that none of them will do. */
static void draw_fewest(const struct search *search, struct canvas *canvas,
			struct rect rect)
{
	const struct inverse *q = &search->fewest;

	if (!q->done)
		canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_WARNING,
			      "trying %.0f GPUs ...", q->value[q->at]);
	else
		canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_BAD,
			      "no machine up to 16 times this one %s",
			      q->deadline_seconds > 0 ? "ends the run in time"
						      : "holds it");
}

/* What became of every plan, the most telling first, as far as there is room for it. */
static void draw_proof(const struct planner_result *result, struct canvas *canvas,
		       struct rect rect)
{
	const struct planner_counts *c = &result->counts;
	const struct {
		double count;
		const char *words;
	} part[] = {
		{ c->explored, "tried" },      { c->bounded, "no better" },
		{ c->unruly, "break a rule" }, { c->undivided, "do not divide" },
		{ c->repeated, "duplicates" }, { c->too_large, "don't fit" },
	};
	char number[32], words[96];
	int end = rect.x + rect.width;

	form_text(FORM_COUNT, c->candidates, number, sizeof number);
	int x = rect.x + canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_GOOD,
				       result->found > 0
					       ? "proved best of %s"
					       : "proved: no plan of %s works",
				       number);
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
		if (part[i].count == 0)
			continue;
		form_text(FORM_COUNT, part[i].count, number, sizeof number);
		snprintf(words, sizeof words, "%s%s %s", i ? ", " : ": ", number,
			 part[i].words);
		if (x + text_width(words) > end)
			break;
		x += canvas_text(canvas, x, rect.y, end - x, ROLE_GOOD, words);
	}
}

static void draw_state(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect)
{
	const struct search *search = explorer->search;
	char best[32] = "";

	if (search->trouble[0] != '\0') {
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_BAD,
			    search->trouble);
		return;
	}
	canvas->lacks = canvas->lacks || search->lacks;
	if (search->unsolved) {
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_BAD,
			    "out of memory: the search stopped early");
		return;
	}
	if (explorer->objective == OBJECTIVE_GPUS && !search->fewest.found) {
		draw_fewest(search, canvas, rect);
		return;
	}
	if (search->phase != SEARCH_PLANS) {
		draw_proof(&search->result, canvas, rect);
		return;
	}
	/* shorter than this nobody waits */
	if (search->seconds < 0.2) {
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			    "searching ...");
		return;
	}
	if (search->result.found > 0)
		form_text(FORM_SECONDS, search->result.top[0].step_seconds, best,
			  sizeof best);
	canvas_format(canvas, rect.x, rect.y, 34, ROLE_WARNING,
		      "searching %3.0f %%  best %s", search->result.progress * 100,
		      best[0] ? best : "none yet");
	widget_bar(canvas, rect.x + 35, rect.y, rect.width - 36,
		   search->result.progress, ROLE_COMPUTE);
}

/* What else the search was told, as --reserve, --trust and --deadline tell it; how wide
 * it is. */
static int draw_told(const struct search *search, struct canvas *canvas, int x,
		     struct rect rect)
{
	const struct planner_problem *problem = &search->problem;
	const char *known = problem->trust == 1 + TRUST_MEASURED    ? "measured plans"
			    : problem->trust == 1 + TRUST_PUBLISHED ? "known plans"
			    : problem->trust == TRUST_OF_FEATURES   ? "known features"
			    : search->unknown && search->result.found > 0
				    ? "unknown plans: no other fits"
			    : problem->research ? "research"
						: "any plan";
	char text[96], date[32] = "";

	if (problem->base.plan.mode == MODE_INFERENCE)
		return 0;
	if (search->deadline_seconds > 0)
		form_text(FORM_DATE, search->deadline_seconds, date, sizeof date);
	snprintf(text, sizeof text, "%s, %.0f %% memory reserve%s%s  ", known,
		 problem->reserve * 100, date[0] ? ", done in " : "", date);
	if (text_width(text) - 2 > rect.x + rect.width - x)
		snprintf(text, sizeof text, "%s  ", known);
	return canvas_text(canvas, x, rect.y, rect.x + rect.width - x, ROLE_VALUE,
			   text);
}

/* The keys of the view, as many as there is room for. */
static void draw_keys(struct canvas *canvas, struct rect line)
{
	static const char *const keys[] = { "\u2190\u2192 aim", "Enter open/apply",
					    "/ filter",         "S sort",
					    "+ larger plot",    ". speed by GPUs" };
	int x = line.x, end = line.x + line.width;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (x + text_width(keys[i]) <= end)
			x += 2 + canvas_text(canvas, x, line.y, end - x, ROLE_LABEL,
					     keys[i]);
}

static void draw_head(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect)
{
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	int x = rect.x;

	/* a server has no step: it is ranked by the tokens that keep its goals */
	x += canvas_format(canvas, x, rect.y, rect.width, ROLE_TITLE, "best by %s  ",
			   serves && explorer->objective == OBJECTIVE_STEP
				   ? "goodput"
				   : objective_word(explorer->objective));
	if (explorer->filter[0] != '\0')
		x += canvas_format(canvas, x, rect.y, rect.x + rect.width - x,
				   ROLE_WARNING, "with %s  ", explorer->filter);
	if (explorer->search)
		x += draw_told(explorer->search, canvas, x, rect);
	draw_keys(canvas, (struct rect){ x, rect.y, rect.x + rect.width - x, 1 });
	rect.y++;
	if (!explorer->search || explorer->search_stale)
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			    "searching ...");
	else
		draw_state(explorer, canvas, rect);
}

/* --- the table --- */

int search_longest_name(const struct search *search)
{
	int longest = 0;

	for (int i = 0; i < search->rows; i++) {
		int width = text_width(search->row[search->order[i]].name) + 2;

		longest = width > longest ? width : longest;
	}
	return longest;
}

void search_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect)
{
	const struct view_state *state = &explorer->state[VIEW_SEARCH];
	const struct search *search = explorer->search;
	struct parts parts = divide(explorer, rect);
	struct table_column fitting[COLUMNS];
	struct table table = { .column = fitting,
			       .columns = COLUMNS,
			       .cursor = state->cursor,
			       .first = state->first,
			       .focused = explorer->pane == PANE_VIEW,
			       .sorted_by = (int)sort_column[state->sort],
			       .grows = COLUMN_PLAN,
			       .context = search,
			       .cell = cell };

	if (search)
		table.grown = search_longest_name(search);
	search_fit_columns(explorer, fitting, rect.width, table.grown);
	draw_head(explorer, canvas, rect);
	if (!search || search->trouble[0] != '\0')
		return;
	table.rows = search->rows;
	if (search->result.found > 0)
		widget_table(canvas, parts.table, &table);
	if (search->result.found > 0 && table.rows == 0)
		canvas_format(canvas, parts.table.x, parts.table.y + 1,
			      parts.table.width, ROLE_LABEL,
			      "none of the %d best has that in its name (tp=4 "
			      "searches anew)",
			      search->result.found);
	else if (search->result.found == 0 && search->misses.problem)
		search_draw_misses(explorer, canvas, parts.table);
	if (!explorer->search_stale &&
	    (search->why_done || (search->phase > SEARCH_PLANS && table.rows > 0)))
		search_draw_notes(explorer, canvas, rect, parts.notes);
	if (search->result.found > 0)
		search_draw_plot(explorer, canvas, parts.plot);
}

/* --- keys --- */

static unsigned take(struct explorer *explorer)
{
	const struct planner_found *found = search_chosen(explorer);
	struct scenario to, from = explorer->scenario;
	char what[64];
	size_t used;
	int changed = 0;
	unsigned bits;

	if (!found || explorer->search_stale)
		return CHANGED_SCREEN;
	planner_scenario(&explorer->search->problem, found, &to);
	for (int i = 0; i < knob_count(); i++)
		changed += !knob_same(&from, &to, &knob_table[i]);
	used = search_plan_name(explorer->search, found, what, sizeof what);
	snprintf(what + used, sizeof what - used, " of the search");
	bits = explorer_change(explorer, &to, what);
	if (!(bits & CHANGED_SCENARIO))
		return bits;
	explorer->lit = true;
	explorer->lit_against = from;
	explorer_say(explorer, ROLE_GOOD, "took %s: %d knobs changed; u goes back",
		     what, changed);
	return bits;
}

static unsigned turn_aim(struct explorer *explorer, int direction)
{
	int count = OBJECTIVE_COUNT;

	explorer->objective = (enum objective)(
		((int)explorer->objective + direction + count) % count);
	explorer->search_stale = true;
	return CHANGED_SCREEN;
}

static unsigned click(struct explorer *explorer, struct rect table, int y)
{
	struct view_state *state = &explorer->state[VIEW_SEARCH];
	int rows = explorer->search ? explorer->search->rows : 0;
	int at;

	state->first =
		scroll_first(state->first, state->cursor, rows, table.height - 1);
	at = state->first + y - table.y - 1;

	if (at < 0 || at >= rows || y <= table.y || y >= table.y + table.height)
		return CHANGED_NOTHING;
	state->cursor = at;
	explorer->search->why_not.done = false;
	return CHANGED_SCREEN;
}

static unsigned move(struct explorer *explorer, struct rect table,
		     enum action_kind kind)
{
	struct view_state *state = &explorer->state[VIEW_SEARCH];
	int rows = explorer->search ? explorer->search->rows : 0;
	int height = table.height > 2 ? table.height - 1 : 1, moved;

	if (rows == 0)
		return CHANGED_NOTHING;
	moved = scroll_move(state->cursor, rows, height, kind);
	explorer->search->why_not.done = false;
	if (moved == state->cursor && kind != ACTION_UP && kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->cursor = moved;
	state->first = scroll_first(state->first, moved, rows, height);
	return CHANGED_SCREEN;
}

unsigned search_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_SEARCH];
	struct rect table = divide(explorer, explorer->spots->view).table;

	switch (action.kind) {
	case ACTION_ENTER:
		return search_open_row(explorer) ? CHANGED_SCREEN : take(explorer);
	case ACTION_SORT:
		state->sort = (state->sort + 1) % SORT_COUNT;
		search_arrange_rows(explorer);
		return CHANGED_SCREEN;
	case ACTION_FILTER:
		return prompt_open(explorer, PROMPT_FILTER, 0, explorer->filter);
	case ACTION_ZOOM_IN: state->zoom = 1; return CHANGED_SCREEN;
	case ACTION_ZOOM_OUT: state->zoom = 0; return CHANGED_SCREEN;
	case ACTION_STEP: state->choice = !state->choice; return CHANGED_SCREEN;
	case ACTION_CLICK: return click(explorer, table, action.y);
	case ACTION_LEFT: return turn_aim(explorer, -1);
	case ACTION_RIGHT: return turn_aim(explorer, 1);
	default: return move(explorer, table, action.kind);
	}
}
