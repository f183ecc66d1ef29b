/* knobs_draw.c - the pane of knobs as it looks; see explorer.h. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/text.h"
#include "tui/view.h"

static void row_text(const struct explorer *explorer, const struct knob_row *row,
		     char *out, size_t size)
{
	const struct estimate *e = &explorer->estimate;

	switch (row->kind) {
	case ROW_MODEL: snprintf(out, size, "%s", explorer->scenario.model.name); break;
	case ROW_CLUSTER:
		snprintf(out, size, "%s", explorer->scenario.cluster.name);
		break;
	case ROW_STACK: snprintf(out, size, "%s", explorer->scenario.stack.name); break;
	case ROW_KNOB:
		if (knob_applies(&explorer->scenario, &knob_table[row->knob]))
			knob_show(&explorer->scenario, &knob_table[row->knob], out,
				  size);
		else
			snprintf(out, size, "-");
		break;
	case ROW_DERIVED:
		if (row->knob == DERIVED_DP)
			snprintf(out, size, e->dp > 0 ? "%lld" : "-", (long long)e->dp);
		else
			snprintf(out, size, e->micro_batches > 0 ? "%lld" : "-",
				 (long long)e->micro_batches);
		break;
	default: out[0] = '\0';
	}
}

/* Changed by the plan that was taken last. */
static bool is_lit(const struct explorer *explorer, const struct knob *knob)
{
	return explorer->lit &&
	       !knob_same(&explorer->scenario, &explorer->lit_against, knob);
}

/* A value in the change colour where it differs from the pinned baseline. */
static enum role value_role(const struct explorer *explorer, const struct knob_row *row)
{
	if (row->kind != ROW_KNOB)
		return row->kind == ROW_DERIVED && row->knob == DERIVED_DP ? ROLE_LABEL
									   : ROLE_VALUE;
	if (!knob_applies(&explorer->scenario, &knob_table[row->knob]) ||
	    contest_locks(explorer, &knob_table[row->knob]))
		return ROLE_QUIET;
	if (explorer->pinned && !knob_same(&explorer->scenario, &explorer->baseline,
					   &knob_table[row->knob]))
		return ROLE_WARNING;
	return is_lit(explorer, &knob_table[row->knob]) ? ROLE_DELTA_BETTER
							: ROLE_VALUE;
}

/* Which way to turn: an arrow at the right edge where a step gains 1 % or more. */
static void draw_arrow(const struct explorer *explorer, struct canvas *canvas, int x,
		       int y, int knob)
{
	const struct whatif_arrow *arrow = &explorer->arrow[knob];

	if (course_hides(explorer) || contest_locks(explorer, &knob_table[knob]) ||
	    !explorer->arrow_known[knob] || arrow->direction == 0 ||
	    !(arrow->gain >= 0.01))
		return;
	canvas_put(
		canvas, x, y,
		canvas_glyph(canvas, arrow->direction > 0 ? GLYPH_RIGHT : GLYPH_LEFT),
		ROLE_DELTA_BETTER);
}

static void draw_group(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect, const struct knob_row *row)
{
	bool folded = explorer->folded & 1u << row->group;

	canvas_put(canvas, rect.x + 1, rect.y,
		   canvas_glyph(canvas, folded ? GLYPH_FOLDED : GLYPH_OPEN),
		   ROLE_TITLE);
	canvas_text(canvas, rect.x + 3, rect.y, rect.width - 3, ROLE_TITLE, row->label);
}

static void draw_row(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect, const struct knob_row *row, bool here)
{
	char text[80];
	int right = rect.x + rect.width - 2, label = 0, width;
	bool turned = here && explorer->pane == PANE_KNOBS &&
		      (row->kind == ROW_KNOB || (row->kind == ROW_DERIVED &&
						 row->knob == DERIVED_MICRO_BATCHES));

	if (row->kind == ROW_GROUP) {
		draw_group(explorer, canvas, rect, row);
		return;
	}
	row_text(explorer, row, text, sizeof text);
	width = text_width(text);
	/* names of presets are long and matter more than what they are */
	if (row->kind > ROW_STACK || width + 9 < rect.width - 4)
		label = canvas_text(
			canvas, rect.x + 3, rect.y, rect.width - 5,
			row->kind == ROW_KNOB && !knob_applies(&explorer->scenario,
							       &knob_table[row->knob])
				? ROLE_QUIET
				: ROLE_LABEL,
			row->label);
	if (width > right - rect.x - 4 - label)
		width = right - rect.x - 4 - label;
	canvas_text(canvas, right - width - (turned ? 1 : 0), rect.y, width,
		    value_role(explorer, row), text);
	if (turned) {
		canvas_put(canvas, right - width - 3, rect.y,
			   canvas_glyph(canvas, GLYPH_LEFT), ROLE_KEY);
		canvas_put(canvas, right, rect.y, canvas_glyph(canvas, GLYPH_RIGHT),
			   ROLE_KEY);
		add_press(canvas, (struct rect){ right - width - 3, rect.y, 1, 1 },
			  (struct action){ .kind = ACTION_LEFT });
		add_press(canvas, (struct rect){ right, rect.y, 1, 1 },
			  (struct action){ .kind = ACTION_RIGHT });
	}
	if (row->kind == ROW_KNOB && is_lit(explorer, &knob_table[row->knob]))
		canvas_put(canvas, rect.x + 2, rect.y,
			   canvas_glyph(canvas, GLYPH_BULLET), ROLE_DELTA_BETTER);
	if (!turned && row->kind == ROW_KNOB) {
		draw_arrow(explorer, canvas, right, rect.y, row->knob);
	}
}

/* What the row under the cursor is about; NULL: a group, or a preset. */
static const struct glossary_word *word_of(const struct knob_row *row)
{
	if (row->kind == ROW_KNOB)
		return glossary_find(knob_table[row->knob].key);
	if (row->kind == ROW_DERIVED)
		return glossary_term(row->knob == DERIVED_DP ? "data parallelism"
							     : "micro-batch");
	return NULL;
}

/* Rows that the knobs leave empty say what the one under the cursor means and why one
 * turns it, as much of it as there is room for. */
static void draw_meaning(const struct knob_row *row, struct canvas *canvas,
			 struct rect rect)
{
	static const struct rect nowhere = { 0, 0, 0, 0 };
	const struct glossary_word *word = word_of(row);
	struct glossary_word part;
	struct rect clip;
	char label[64];
	int rows;

	if (!word)
		return;
	text_squeeze(row->label, label, sizeof label);
	part = *word;
	clip = canvas_clip(canvas, nowhere);
	rows = words_draw(canvas, rect, &part);
	/* the last of them is blank */
	if (rows - 1 > rect.height) {
		part.why = NULL;
		rows = words_draw(canvas, rect, &part);
	}
	canvas_clip(canvas, clip);
	if (rows - 1 > rect.height)
		return;
	widget_heading(canvas, rect.x, rect.y - 1, rect.width, label);
	words_draw(canvas, rect, &part);
}

void knobs_draw(const struct explorer *explorer, struct canvas *canvas,
		struct rect rect)
{
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows);
	int first =
		scroll_first(explorer->first_row, explorer->row, count, rect.height);
	bool focused = explorer->pane == PANE_KNOBS && explorer->mode == MODE_NORMAL;

	canvas->spots->knobs = rect;
	for (int i = 0; i < rect.height && first + i < count; i++) {
		struct rect line = { rect.x, rect.y + i, rect.width, 1 };
		bool here = first + i == explorer->row;

		draw_row(explorer, canvas, line, &rows[first + i], here);
		if (!here)
			continue;
		line.width--;
		canvas_highlight(canvas, line, focused ? ROLE_FOCUS : ROLE_DEFAULT,
				 false, true);
		if (!focused)
			canvas_put(canvas, rect.x, line.y,
				   canvas_glyph(canvas, GLYPH_RIGHT), ROLE_KEY);
		if (focused)
			canvas_cursor(canvas, rect.x + 1, line.y);
	}
	widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y, rect.height, first,
			 count);
	/* of what a lesson asks it would tell the answer */
	if (explorer->row < count && !course_hides(explorer))
		draw_meaning(&rows[explorer->row], canvas,
			     (struct rect){ rect.x + 1, rect.y + count + 2,
					    rect.width - 2, rect.height - count - 2 });
}

void knob_rows_note(const struct explorer *explorer, char *out, size_t size)
{
	static const char *const notes[] = {
		[ROW_MODEL] = "The model that is trained or served. Enter lists "
			      "models.",
		[ROW_CLUSTER] = "The machine: GPUs, nodes and the links between "
				"them. Enter lists clusters.",
		[ROW_STACK] = "The software that runs the job: what it supports, "
			      "and how efficient it is. Enter lists stacks.",
		[ROW_GROUP] = "A group of knobs: \u2190 closes it, \u2192 opens it.",
		[ROW_KNOB] = "",
		[ROW_DERIVED] = "Data-parallel copies of the model. It follows: "
				"GPUs / (TP x PP x CP).",
	};
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows);
	enum row_kind kind =
		explorer->row < count ? rows[explorer->row].kind : ROW_KNOB;
	size_t used;

	out[0] = '\0';
	if (explorer->mode == MODE_PICKER)
		return;
	snprintf(out, size, "%s", notes[kind]);
	used = strlen("in that release, not as now: ");
	if (kind != ROW_STACK || size <= used)
		return;
	library_undone(explorer->scenario.stack.name, out + used, size - used);
	if (out[used] != '\0')
		memcpy(out, "in that release, not as now: ", used);
	else
		snprintf(out, size, "%s", notes[kind]);
}
