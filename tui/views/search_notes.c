/* search_notes.c - lines below the table: how the open plan compares, what would gain,
 * how the chosen plan stands on a worse machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/trust/trust.h"
#include "tui/text.h"
#include "tui/views/search_parts.h"

bool search_always_best(const struct search *search, int index)
{
	return search->robust.done && index < search->robust.plans &&
	       search->robust.item[index].always_best;
}

static bool keeps_slowest(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	return s->plan.mode == MODE_INFERENCE && v->goal_percentile == GOAL_P99 &&
	       (v->goal_ttft_seconds > 0 || v->goal_tpot_seconds > 0);
}

/* Servers that were asked for more than any gives are listed all the same: what they
 * fall short of, NULL: nothing. */
static const char *shortfall(const struct explorer *explorer)
{
	const struct planner_result *result = &explorer->search->result;

	if (explorer->scenario.plan.mode != MODE_INFERENCE || result->found < 1 ||
	    explorer->objective == OBJECTIVE_MEMORY)
		return NULL;
	if (!result->top[0].keeps_up)
		return "no server here is up to that rate: by how many they serve";
	return result->top[0].keeps_goals
		       ? NULL
		       : "no server here keeps the goals: by their time per token";
}

/* How the open plan compares. */
static void draw_present(const struct explorer *explorer, struct canvas *canvas, int x,
			 int y, int width)
{
	const struct search *search = explorer->search;
	const struct estimate *e = &explorer->estimate;
	double gap = 0, now = e->tokens_per_second_per_gpu;

	/* as the search counts it: what keeps the goals */
	if (e->serving.goodput > 0)
		now = e->serving.goodput / (double)explorer->scenario.cluster.gpus;
	if (search->result.found > 0 && e->feasible)
		gap = search->result.top[0].tokens_per_second_per_gpu / now - 1;
	if (!e->feasible)
		canvas_text(canvas, x, y, width, ROLE_BAD,
			    e->legal ? "your plan does not fit"
				     : "your plan can't run");
	else if (explorer->objective == OBJECTIVE_GPUS && search->fewest.found)
		canvas_format(canvas, x, y, width, ROLE_VALUE,
			      "your plan takes %lld GPUs; %.0f are enough",
			      (long long)explorer->scenario.cluster.gpus,
			      search->fewest.answer);
	else if (shortfall(explorer))
		canvas_text(canvas, x, y, width, ROLE_WARNING, shortfall(explorer));
	else if (search->result.found > 0 && keeps_slowest(&explorer->scenario))
		/* the open plan's own goodput is of the mean request */
		canvas_format(canvas, x, y, width, ROLE_VALUE,
			      "the best gives %.0f tok/s per GPU while 99 of 100 "
			      "requests meet the goals",
			      search->result.top[0].tokens_per_second_per_gpu);
	else if (gap > 0.001)
		canvas_format(
			canvas, x, y, width, ROLE_WARNING,
			explorer->scenario.plan.mode == MODE_INFERENCE
				? "the best gives %.1f %% more than your plan"
				: "your step takes %.1f %% longer than the best plan's",
			gap * 100);
	else if (gap < -0.001 && explorer->objective <= OBJECTIVE_THROUGHPUT)
		/* it fills what the search keeps free, or has what is not varied */
		canvas_format(canvas, x, y, width, ROLE_GOOD,
			      "your plan is %.1f %% faster than any it may choose",
			      (1 / (1 + gap) - 1) * 100);
	else
		canvas_text(canvas, x, y, width, ROLE_GOOD,
			    "your plan is as fast as the best");
}

static void change_words(const struct why_change *change, char *out, size_t size)
{
	char label[48], from[48], to[48];

	text_squeeze(change->knob->label, label, sizeof label);
	knob_print_value(change->knob, change->from, from, sizeof from);
	knob_print_value(change->knob, change->to, to, sizeof to);
	if (change->knob->type == KNOB_BOOL)
		/* of that group a label says what is overlapped */
		snprintf(out, size, "%s%s %s",
			 change->knob->group == GROUP_OVERLAP &&
					 !strstr(label, "overlap")
				 ? "overlap "
				 : "",
			 label, to);
	else
		snprintf(out, size, "%s %s\u2192%s", label, from, to);
}

/* The changes that gain most, each with its gain. */
static void draw_gains(const struct explorer *explorer, struct canvas *canvas, int x,
		       int y, int width)
{
	const struct why *why = &explorer->search->why;
	int end = x + width;
	bool fits = isfinite(why->seconds);

	if (!explorer->search->why_done)
		return;
	if (why->count == 0) {
		canvas_text(canvas, x, y, width, ROLE_LABEL,
			    fits ? "no single change makes it faster"
				 : "no single change fixes that");
		return;
	}
	x += canvas_text(canvas, x, y, end - x, ROLE_LABEL,
			 !fits           ? "what fixes it: "
			 : why->together ? "together they save: "
					 : "you could save: ");
	for (int i = 0; i < why->count && x < end; i++) {
		char words[160], gain[32] = "";

		change_words(&why->change[i], words, sizeof words);
		if (fits && (!why->together || i + 1 == why->count))
			snprintf(gain, sizeof gain, " %.1f %%",
				 why->change[i].gain * 100);
		/* whole or not at all; the first in any case */
		if (i > 0 && x + 2 + text_width(words) + text_width(gain) > end)
			break;
		x += i > 0 ? 2 : 0;
		x += canvas_text(canvas, x, y, end - x, ROLE_DELTA_BETTER, words);
		x += canvas_text(canvas, x, y, end - x, ROLE_VALUE, gain);
	}
}

/* What becomes of the plan under the cursor where the machine is a tenth worse. */
static void draw_robust(const struct explorer *explorer, struct canvas *canvas, int x,
			int y, int width)
{
	const struct search *search = explorer->search;
	int at = explorer->state[VIEW_SEARCH].cursor, end = x + width, index;
	char name[24];

	if (!search->robust.done || at >= search->rows)
		return;
	index = search->order[at];
	if (index >= search->robust.plans)
		return;
	search_plan_name(search, &search->result.top[index], name, sizeof name);
	x += canvas_format(
		canvas, x, y, end - x, ROLE_LABEL,
		width > 70 ? "%s if 10 %% worse: " : "%s, 10 %% worse: ", name);
	for (int c = 1; c < ROBUST_CASES; c++) {
		const struct robust_plan *plan = &search->robust.item[index];

		x += canvas_format(canvas, x, y, end - x, ROLE_LABEL, "%s%s ",
				   c > 1 ? "  " : "", robust_word((enum robust_case)c));
		if (plan->fits[c])
			x += canvas_format(canvas, x, y, end - x,
					   plan->rank[c] == 1 ? ROLE_GOOD : ROLE_VALUE,
					   "#%d", plan->rank[c]);
		else
			x += canvas_text(canvas, x, y, end - x, ROLE_BAD, "OOM");
	}
	if (search_always_best(search, index) && end - x >= 21)
		canvas_text(canvas, x, y, end - x, ROLE_GOOD, "  * best in all cases");
}

/* What lowers the trust in the plan under the cursor. */
static void draw_trust(const struct explorer *explorer, struct canvas *canvas, int x,
		       int y, int width)
{
	const struct planner_found *chosen = search_chosen(explorer);
	struct doubts doubts;
	struct scenario s;
	char text[256];
	int end = x + width;

	if (!chosen)
		return;
	planner_scenario(&explorer->search->problem, chosen, &s);
	if (trust_of(&s, &doubts) != TRUST_MEASURED) {
		trust_text(&s, &doubts, text, sizeof text);
		x += canvas_format(canvas, x, y, width, ROLE_WARNING,
				   "%s: ", trust_word(doubts.level));
	} else if (trust_apart_text(&doubts, text, sizeof text) > 0) {
		x += canvas_text(canvas, x, y, width, ROLE_VALUE, "in parts: ");
	} else {
		canvas_format(canvas, x, y, width, ROLE_LABEL,
			      "measured: all of it ran on %s", s.stack.name);
		return;
	}
	canvas_phrase(canvas, x, y, end - x, ROLE_LABEL, text);
}

static bool leaves_out(const struct explorer *explorer)
{
	return explorer->search && planner_leaves_offload(&explorer->search->problem);
}

/* What the search could have tried and did not. */
static void draw_left_out(const struct explorer *explorer, struct canvas *canvas, int x,
			  int y, int width)
{
	if (leaves_out(explorer))
		canvas_text(canvas, x, y, width, ROLE_LABEL,
			    width >= 95   ? "not tried: activation offload, which "
					    "few measured runs cover; / "
					    "activation_offload=0,0.5,1 adds it"
			    : width >= 60 ? "not tried: activation offload; / "
					    "activation_offload=0,0.5,1 adds it"
					  : "not tried: / activation_offload=0,0.5,1");
}

/* What the table of servers has no columns for beside long names: "2.06 req/s $1.61/M "
 * of tokens. */
static void rates_text(const struct explorer *explorer, int width,
		       const struct planner_found *chosen, char *out, size_t size)
{
	struct table_column column[COLUMNS];
	int used = 0;

	out[0] = '\0';
	if (explorer->scenario.plan.mode != MODE_INFERENCE || width >= 60)
		return;
	search_fit_columns(explorer, column, width,
			   search_longest_name(explorer->search));
	if (column[COLUMN_REQUESTS].priority > 0)
		used = snprintf(out, size, "%.3g req/s ", chosen->requests_per_second);
	if (column[COLUMN_DOLLARS].priority > 0)
		snprintf(out + used, size - (size_t)used, "$%.3g/M ",
			 chosen->dollars_per_million_tokens);
}

/* The plan under the cursor by the whole names of its knobs, or by the table's short
 * ones where those would be cut: the row may have no room for them either. `known`:
 * with a word for how well it is known. */
static void draw_name(const struct explorer *explorer, struct canvas *canvas,
		      struct rect line, bool known)
{
	const struct planner_found *chosen = search_chosen(explorer);
	int x = line.x, end = line.x + line.width;
	struct doubts doubts;
	struct scenario s;
	char text[512], name[24], rates[48];

	if (!chosen)
		return;
	planner_scenario(&explorer->search->problem, chosen, &s);
	planner_plain_name(&explorer->search->problem, &s, text, sizeof text);
	search_plan_name(explorer->search, chosen, name, sizeof name);
	x += canvas_text(canvas, x, line.y, end - x, ROLE_LABEL, name);
	if (known) {
		trust_of(&s, &doubts);
		x += canvas_format(canvas, x, line.y, end - x,
				   doubts.level == TRUST_OPEN ? ROLE_WARNING
							      : ROLE_LABEL,
				   ", %s", trust_label(&doubts));
	}
	x += canvas_text(canvas, x, line.y, end - x, ROLE_LABEL, ": ");
	rates_text(explorer, line.width, chosen, rates, sizeof rates);
	x += canvas_text(canvas, x, line.y, end - x, ROLE_VALUE, rates);
	if (text_width(text) > end - x)
		planner_name(&explorer->search->problem, &s, text, sizeof text);
	canvas_phrase(canvas, x, line.y, end - x, ROLE_VALUE, text);
}

static void draw_plain_name(const struct explorer *explorer, struct canvas *canvas,
			    int x, int y, int width)
{
	draw_name(explorer, canvas, (struct rect){ x, y, width, 1 }, false);
}

static void draw_known_name(const struct explorer *explorer, struct canvas *canvas,
			    int x, int y, int width)
{
	draw_name(explorer, canvas, (struct rect){ x, y, width, 1 }, true);
}

/* Rows for what the short words of the names stand for, at the table. */
static int legend_rows(const struct explorer *explorer, struct rect view)
{
	if (!explorer->search || view.height < 24 || view.width < 60)
		return 0;
	return text_width(explorer->search->words) > view.width ? 2 : 1;
}

/* What the short words stand for, none cut in two; they are two blanks apart. */
static void draw_legend(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	const char *words = explorer->search->words;
	int x = rect.x, y = rect.y;

	while (*words != '\0') {
		const char *end = strstr(words, "  ");
		int length = end ? (int)(end - words) : (int)strlen(words);

		if (x > rect.x && x + length > rect.x + rect.width) {
			x = rect.x;
			y++;
		}
		if (y >= rect.y + rect.height)
			return;
		x += 2 + canvas_format(canvas, x, y, rect.x + rect.width - x,
				       ROLE_LABEL, "%.*s", length, words);
		words += length + (end ? 2 : 0);
	}
}

/* Of a server the seconds are not what plans are ranked by, of the fewest GPUs neither.
 */
static bool ranks_by_seconds(const struct explorer *explorer)
{
	return explorer->scenario.plan.mode != MODE_INFERENCE &&
	       explorer->objective != OBJECTIVE_GPUS && explorer->estimate.feasible &&
	       explorer->search->why_not.compare.plans > 0;
}

enum { NARROW = 44 }; /* columns: no share of a difference has room behind it */

/* How the open plan compares and what makes it longer, in one row where both are of the
 * same seconds: "yours +16.4 %, +5.32 s =  TP +6.43 s  rest -1.12 s"; or why another
 * plan is not the best. */
static void draw_both(const struct explorer *explorer, struct canvas *canvas, int x,
		      int y, int width)
{
	const struct why_not *why = &explorer->search->why_not;
	const struct compare_sum *sum = &why->compare.seconds;
	int end = x + width;
	char size[32];

	if (why->done && !why->open) {
		search_draw_why_seconds(explorer, canvas, x, y, width);
		return;
	}
	if (!why->done || !ranks_by_seconds(explorer) || search_is_same(sum) ||
	    !(sum->sum.more[1] > 0)) {
		draw_present(explorer, canvas, x, y, width);
		return;
	}
	form_text(FORM_SECONDS, sum->sum.more[1], size, sizeof size);
	x += canvas_format(canvas, x, y, end - x, ROLE_WARNING, "yours +%.1f %%, +%s%s",
			   sum->sum.more[1] / sum->sum.value[0] * 100, size,
			   width < NARROW ? "" : " =");
	if (width >= NARROW)
		search_draw_waterfall(sum, FORM_SECONDS, canvas,
				      (struct rect){ x, y, end - x, 1 });
}

/* The most telling first: what there is no room for is the last of them. */
typedef void draw_note(const struct explorer *, struct canvas *, int, int, int);
static draw_note *const note[] = {
	draw_present,
	search_draw_why_seconds,
	draw_plain_name,
	draw_trust,
	draw_gains,
	search_draw_answers,
	search_draw_more_answers,
	search_draw_why_bytes,
	draw_robust,
	draw_left_out,
};
/* On a low screen, where the plans themselves go before what is said of them. */
static draw_note *const brief[] = {
	draw_both,           draw_known_name,          draw_gains,
	search_draw_answers, search_draw_more_answers, draw_trust
};
enum {
	NOTES = sizeof note / sizeof note[0],
	BRIEF = sizeof brief / sizeof brief[0],
	FEW = 4,
	FEWEST = 2,
	HEAD = 3,  /* rows above the plans */
	PLANS = 10 /* that a search finds; a filter may let more of them in */
};

/* Rows that the plans leave, or would leave where none was found yet. */
static int rows_left(const struct explorer *explorer, struct rect view)
{
	int rows = explorer->search ? explorer->search->rows : 0;

	return view.height - HEAD - (rows > 0 && rows < PLANS ? rows : PLANS);
}

int search_notes(const struct explorer *explorer, struct rect view)
{
	int left = rows_left(explorer, view);
	int all = legend_rows(explorer, view) + NOTES - !leaves_out(explorer) -
		  !search_has_more_answers(explorer, view.width);

	if (view.height < 17)
		return view.height < 12 ? 0 : FEWEST;
	return left < FEW ? FEW : left < all ? left : all;
}

void search_draw_notes(const struct explorer *explorer, struct canvas *canvas,
		       struct rect view, struct rect rect)
{
	bool low = view.height < 17 || rows_left(explorer, view) <= BRIEF;
	draw_note *const *list = low ? brief : note;
	int rows = legend_rows(explorer, view), notes = low ? BRIEF : NOTES;

	if (rows > 0)
		draw_legend(explorer, canvas,
			    (struct rect){ rect.x, rect.y, rect.width, rows });
	rect.y += rows;
	rect.height -= rows;
	for (int i = 0, y = 0; y < rect.height && i < notes; i++)
		if (list[i] != search_draw_more_answers ||
		    search_has_more_answers(explorer, rect.width))
			list[i](explorer, canvas, rect.x, rect.y + y++, rect.width);
}
