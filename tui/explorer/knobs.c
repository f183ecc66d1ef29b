/* knobs.c - the pane of knobs: model, cluster, stack, groups, values. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/serve/tail.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/text.h"

static void add(struct knob_row *rows, int *count, struct knob_row row)
{
	if (*count < MAX_ROWS)
		rows[(*count)++] = row;
}

/* Knobs that do nothing here are left out, so that those that matter stay in sight;
 * the degrees that everybody looks for stay, dimmed, and so does what did something
 * before another knob was turned. */
static bool is_shown(const struct explorer *explorer, int index)
{
	static const char *const always[] = { "sp", "vpp", "ep" };
	const struct knob *knob = &knob_table[index];

	if (knob_applies(&explorer->scenario, knob) || index == explorer->revealed)
		return true;
	if (!knob_in_mode(knob, explorer->scenario.plan.mode))
		return false;
	if (explorer->stays[index])
		return true;
	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		if (strcmp(knob->key, always[i]) == 0)
			return true;
	return false;
}

/* Of a pipeline of one stage the knobs of pipelines stand there dimmed, and of one of
 * more those that need a stage alone: turning PP moves no row. `other` has the other
 * number of stages. */
static bool comes_with_stages(const struct scenario *s, const struct scenario *other,
			      const struct knob *knob)
{
	if (s->plan.pp <= 1 && (knob->group != GROUP_PIPELINE || s->cluster.gpus < 2))
		return false;
	return knob_applies(other, knob);
}

void knobs_keep_rows(struct explorer *explorer)
{
	const struct scenario *s = &explorer->scenario;
	struct scenario other = *s;

	other.plan.pp = s->plan.pp > 1 ? 1 : 2;
	if (strcmp(explorer->stays_for.model, s->model.name) != 0 ||
	    strcmp(explorer->stays_for.cluster, s->cluster.name) != 0 ||
	    strcmp(explorer->stays_for.stack, s->stack.name) != 0 ||
	    explorer->stays_for.mode != (int)s->plan.mode) {
		memset(explorer->stays, 0, sizeof explorer->stays);
		strcpy(explorer->stays_for.model, s->model.name);
		strcpy(explorer->stays_for.cluster, s->cluster.name);
		strcpy(explorer->stays_for.stack, s->stack.name);
		explorer->stays_for.mode = (int)s->plan.mode;
	}
	for (int i = 0; i < knob_count(); i++)
		explorer->stays[i] = explorer->stays[i] ||
				     knob_applies(s, &knob_table[i]) ||
				     comes_with_stages(s, &other, &knob_table[i]);
}

bool explorer_turns(const struct explorer *explorer)
{
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows);
	const struct knob_row *row = &rows[explorer->row];

	return explorer->row < count && row->kind == ROW_DERIVED &&
	       row->knob == DERIVED_MICRO_BATCHES;
}

/* A group that has none of them is left out. */
static void add_group(const struct explorer *explorer, int group, const bool *shown,
		      struct knob_row *rows, int *count)
{
	bool trains = explorer->scenario.plan.mode == MODE_TRAINING;
	bool folded = explorer->folded & 1u << group, named = false;
	int knobs = knob_count();

	for (int i = 0; i < knobs && !(named && folded); i++) {
		if ((int)knob_table[i].group != group || !shown[i])
			continue;
		if (!named)
			add(rows, count,
			    (struct knob_row){
				    ROW_GROUP, -1, group,
				    knob_group_label((enum knob_group)group) });
		named = true;
		if (!folded)
			add(rows, count,
			    (struct knob_row){ ROW_KNOB, i, group,
					       knob_table[i].label });
	}
	if (!named || folded || !trains)
		return;
	if (group == GROUP_PARALLELISM)
		add(rows, count,
		    (struct knob_row){ ROW_DERIVED, DERIVED_DP, group, "DP  data" });
	if (group == GROUP_BATCH)
		add(rows, count,
		    (struct knob_row){ ROW_DERIVED, DERIVED_MICRO_BATCHES, group,
				       "micro-batches" });
}

/* What is looked for first comes first: the mode above all groups, and what is served
 * before what it is computed with. */
int knob_rows(const struct explorer *explorer, struct knob_row rows[MAX_ROWS])
{
	const struct knob *mode = knob_find("mode");
	bool shown[MAX_KNOBS];
	int count = 0;

	for (int i = 0; i < knob_count(); i++)
		shown[i] = &knob_table[i] != mode && is_shown(explorer, i);
	add(rows, &count, (struct knob_row){ ROW_MODEL, -1, -1, "model" });
	add(rows, &count, (struct knob_row){ ROW_CLUSTER, -1, -1, "cluster" });
	add(rows, &count, (struct knob_row){ ROW_STACK, -1, -1, "stack" });
	add(rows, &count,
	    (struct knob_row){ ROW_KNOB, (int)(mode - knob_table), -1, mode->label });
	add_group(explorer, GROUP_PARALLELISM, shown, rows, &count);
	add_group(explorer, GROUP_SERVING, shown, rows, &count);
	for (int group = 0; group < GROUP_COUNT; group++)
		if (group != GROUP_PARALLELISM && group != GROUP_SERVING)
			add_group(explorer, group, shown, rows, &count);
	return count;
}

void knobs_focus(struct explorer *explorer, const struct knob *knob)
{
	struct knob_row rows[MAX_ROWS];
	int count;

	if (!knob)
		return;
	explorer->folded &= ~(1u << knob->group);
	explorer->revealed = (int)(knob - knob_table);
	count = knob_rows(explorer, rows);
	for (int i = 0; i < count; i++)
		if (rows[i].kind == ROW_KNOB && &knob_table[rows[i].knob] == knob)
			explorer->row = i;
}

unsigned knobs_focus_micro_batches(struct explorer *explorer)
{
	struct knob_row rows[MAX_ROWS];
	int count;

	explorer->pane = PANE_KNOBS;
	knobs_focus(explorer, knob_find("gbs"));
	count = knob_rows(explorer, rows);
	for (int i = 0; i < count; i++)
		if (rows[i].kind == ROW_DERIVED &&
		    rows[i].knob == DERIVED_MICRO_BATCHES)
			explorer->row = i;
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

void knobs_begin(struct explorer *explorer, struct scenario *to)
{
	const struct serving_plan *v = &to->plan.serving;

	if (to->plan.mode != MODE_INFERENCE ||
	    explorer->scenario.plan.mode == MODE_INFERENCE)
		return;
	serve_begin(to);
	explorer_say(
		explorer, ROLE_HINT,
		"serving %lld requests, goals TTFT %g s and TPOT %g ms; u undoes it",
		(long long)v->concurrency, v->goal_ttft_seconds,
		v->goal_tpot_seconds * 1e3);
}

unsigned knobs_set(struct explorer *explorer, const struct knob *knob, double value)
{
	struct scenario to = explorer->scenario;
	char label[24], before[64], after[64], what[160];

	if (!knob_set(&to, knob, value)) {
		text_squeeze(knob->label, label, sizeof label);
		knob_print_value(knob, value, after, sizeof after);
		explorer_say(explorer, ROLE_WARNING, "%s %s is outside %g to %g", label,
			     after, knob->min, knob->max);
		return CHANGED_SCREEN;
	}
	knobs_begin(explorer, &to);
	knob_print(&explorer->scenario, knob, before, sizeof before);
	knob_print(&to, knob, after, sizeof after);
	snprintf(what, sizeof what, "%s %s to %s", knob->key, before, after);
	return explorer_change(explorer, &to, what);
}

unsigned knobs_switch_loop(struct explorer *explorer)
{
	struct scenario to = explorer->scenario;
	const struct serving_plan *v = &to.plan.serving;
	char what[80];

	if (to.plan.mode != MODE_INFERENCE ||
	    !serve_switch_loop(&to, &explorer->estimate.serving)) {
		explorer_say(
			explorer, ROLE_HINT,
			to.plan.mode != MODE_INFERENCE
				? "only a server has requests: set mode to inference"
				: "no request fits, so there is no arrival rate");
		return CHANGED_SCREEN;
	}
	if (v->request_rate > 0)
		snprintf(what, sizeof what, "requests now arrive at %g per second",
			 v->request_rate);
	else
		snprintf(what, sizeof what, "%lld requests are now kept in flight",
			 (long long)v->concurrency);
	return explorer_change(explorer, &to, what);
}

static unsigned turn(struct explorer *explorer, const struct knob *knob, int direction)
{
	double now = knob_get(&explorer->scenario, knob), next;
	char label[64];

	text_squeeze(knob->label, label, sizeof label);
	if (knob->type == KNOB_TEXT || knob->type == KNOB_SET) {
		explorer_say(explorer, ROLE_HINT, "%s: press = to type it", label);
		return CHANGED_SCREEN;
	}
	next = knob_neighbour(&explorer->scenario, knob, direction);
	/* what is locked says so when it is taken */
	if (explorer->contest && !contest_locks(explorer, knob))
		challenge_neighbour(&explorer->contest->challenge.problem,
				    &explorer->scenario, knob, direction, &next);
	if (next == now) {
		explorer_say(explorer, ROLE_WARNING, "%s value",
			     direction > 0 ? "last" : "first");
		return CHANGED_SCREEN;
	}
	return knobs_set(explorer, knob, next);
}

unsigned knobs_set_micro_batches(struct explorer *explorer, int64_t count)
{
	int64_t batch = scenario_batch_of(&explorer->scenario, count);

	if (batch > 0)
		return knobs_set(explorer, knob_find("gbs"), (double)batch);
	explorer_say(explorer, ROLE_HINT,
		     scenario_batch_of(&explorer->scenario, 1) > 0
			     ? "micro-batches: so many are too large a global batch"
			     : "micro-batches: first make the degrees divide the GPUs");
	return CHANGED_SCREEN;
}

/* Twice or half as many micro-batches. */
static unsigned turn_micro_batches(struct explorer *explorer, int direction)
{
	const struct scenario *s = &explorer->scenario;
	int64_t count = scenario_micro_batches(s);

	if (count == 1 && direction < 0) {
		explorer_say(explorer, ROLE_HINT,
			     "micro-batches: 1 is the fewest; lower micro-batch "
			     "for smaller steps");
		return CHANGED_SCREEN;
	}
	if (count > 0)
		count = direction > 0 ? 2 * count : count / 2;
	return knobs_set_micro_batches(explorer, count > 0 ? count : 1);
}

static unsigned reset(struct explorer *explorer, const struct knob *knob)
{
	struct scenario to = explorer->scenario;
	char what[80], why[128], label[64];
	bool good;

	text_squeeze(knob->label, label, sizeof label);
	if (knob_same(&to, &explorer->origin, knob)) {
		explorer_say(explorer, ROLE_HINT, "%s is already as it was opened",
			     label);
		return CHANGED_SCREEN;
	}
	if (knob->type == KNOB_TEXT)
		good = knob_parse(&to, knob, knob_get_text(&explorer->origin, knob),
				  why, sizeof why);
	else
		good = knob_set(&to, knob, knob_get(&explorer->origin, knob));
	if (!good)
		return CHANGED_NOTHING;
	snprintf(what, sizeof what, "reset %s", label);
	return explorer_change(explorer, &to, what);
}

static unsigned fold(struct explorer *explorer, const struct knob_row *row, int to)
{
	unsigned bit;

	if (row->group < 0)
		return CHANGED_NOTHING;
	bit = 1u << row->group;
	if (to < 0)
		explorer->folded ^= bit;
	else if (to)
		explorer->folded |= bit;
	else
		explorer->folded &= ~bit;
	if (row->kind != ROW_GROUP) {
		struct knob_row rows[MAX_ROWS];
		int count = knob_rows(explorer, rows);

		for (int i = 0; i < count; i++)
			if (rows[i].kind == ROW_GROUP && rows[i].group == row->group)
				explorer->row = i;
	}
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

static unsigned take(struct explorer *explorer, const struct knob_row *row)
{
	switch (row->kind) {
	case ROW_MODEL: return picker_open_presets(explorer, PRESET_MODEL);
	case ROW_CLUSTER: return picker_open_presets(explorer, PRESET_CLUSTER);
	case ROW_STACK: return picker_open_presets(explorer, PRESET_STACK);
	case ROW_GROUP: return fold(explorer, row, -1);
	case ROW_KNOB:
		if (knob_table[row->knob].type == KNOB_TEXT ||
		    knob_table[row->knob].type == KNOB_SET)
			return prompt_open(explorer, PROMPT_VALUE, row->knob, NULL);
		return picker_open_values(explorer, row->knob);
	default:
		return row->knob == DERIVED_MICRO_BATCHES
			       ? prompt_open(explorer, PROMPT_MICRO_BATCHES, 0, NULL)
			       : CHANGED_NOTHING;
	}
}

static unsigned act_on_row(struct explorer *explorer, const struct knob_row *row,
			   struct action action)
{
	const struct knob *knob = row->kind == ROW_KNOB ? &knob_table[row->knob] : NULL;

	switch (action.kind) {
	case ACTION_LEFT:
	case ACTION_RIGHT:
		if (row->kind == ROW_GROUP)
			return fold(explorer, row, action.kind == ACTION_LEFT);
		if (!knob) {
			if (row->kind == ROW_DERIVED &&
			    row->knob == DERIVED_MICRO_BATCHES)
				return turn_micro_batches(
					explorer, action.kind == ACTION_LEFT ? -1 : 1);
			if (row->kind != ROW_DERIVED)
				explorer_say(explorer, ROLE_HINT,
					     "Enter opens the list");
			return CHANGED_SCREEN;
		}
		return turn(explorer, knob, action.kind == ACTION_LEFT ? -1 : 1);
	case ACTION_ENTER: return take(explorer, row);
	case ACTION_FOLD: return fold(explorer, row, -1);
	case ACTION_EDIT:
		return knob ? prompt_open(explorer, PROMPT_VALUE, row->knob, NULL)
			    : take(explorer, row);
	case ACTION_RESET: return knob ? reset(explorer, knob) : CHANGED_SCREEN;
	default: return CHANGED_NOTHING;
	}
}

unsigned knobs_act(struct explorer *explorer, struct action action)
{
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows), height = explorer->spots->knobs.height;
	int at;

	if (action.kind == ACTION_CLICK) {
		at = action.y - explorer->spots->knobs.y +
		     scroll_first(explorer->first_row, explorer->row, count, height);
		if (at < 0 || at >= count)
			return CHANGED_NOTHING;
		explorer->row = at;
		return CHANGED_SCREEN;
	}
	at = scroll_move(explorer->row, count, height, action.kind);
	if (at != explorer->row) {
		explorer->row = at;
	} else if (explorer->row < count) {
		unsigned changed = act_on_row(explorer, &rows[explorer->row], action);

		if (changed != CHANGED_NOTHING)
			return changed;
	}
	switch (action.kind) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_HOME:
	case ACTION_END: break;
	default: return CHANGED_NOTHING;
	}
	explorer->first_row =
		scroll_first(explorer->first_row, explorer->row, count, height);
	return CHANGED_SCREEN;
}
