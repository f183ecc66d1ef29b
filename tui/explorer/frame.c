/* frame.c - a whole frame: title, tabs, knobs, the open view, the status line. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/explorer/find.h"
#include "tui/explorer/last.h"
#include "tui/view.h"

static int knob_width(int width)
{
	return width < 72 ? 24 : width < 100 ? 27 : width < 160 ? 34 : 40;
}

/* What is done with the model: "train 8192 x 256", "serve 2048 + 512 x 64". */
static void work_text(const struct plan *plan, char *out, size_t size)
{
	const struct serving_plan *v = &plan->serving;
	int used;

	if (plan->mode == MODE_TRAINING) {
		snprintf(out, size, "train %lld x %lld", (long long)plan->seq_len,
			 (long long)plan->global_batch);
		return;
	}
	used = snprintf(out, size, "serve %lld + %lld", (long long)v->prompt_len,
			(long long)v->output_len);
	if (v->request_rate > 0)
		snprintf(out + used, size - (size_t)used, " x %g/s", v->request_rate);
	else if (v->concurrency > 0)
		snprintf(out + used, size - (size_t)used, " x %lld",
			 (long long)v->concurrency);
}

/* Model, machine, training and stack; the less there is room for, the fewer. */
static void title_text(const struct explorer *explorer, const char *dot, int width,
		       char *out, size_t size)
{
	const struct scenario *s = &explorer->scenario;
	bool calibrated = cluster_is_calibrated(&s->cluster);
	char node[32], work[96];

	snprintf(node, sizeof node, " (%lld/node)",
		 (long long)s->cluster.gpus_per_node);
	work_text(&s->plan, work, sizeof work);
	for (int cut = 0; cut < 3; cut++) {
		snprintf(out, size, "%s%s%s%lld x %s%s%s%s%s%s%s%s", s->model.name,
			 s->model.approximate[0] ? " (approximate)" : "", dot,
			 (long long)s->cluster.gpus, s->cluster.accelerator.name,
			 cut < 1 ? node : "", dot, work, cut < 2 ? dot : "",
			 cut < 2 ? s->stack.name : "", calibrated ? dot : "",
			 calibrated ? "calibrated" : "");
		if (text_width(out) <= width)
			return;
	}
}

static void draw_title(const struct explorer *explorer, struct canvas *canvas)
{
	const char *right = explorer->pinned  ? "vs pinned"
			    : explorer->moved ? "vs before"
					      : "";
	char text[512], score[64];
	bool fancy = canvas_glyph(canvas, GLYPH_MIDDOT) == 0xb7;
	int width;

	contest_title(explorer, score, sizeof score);
	right = score[0] ? score : right;
	width = canvas->width - 3 - text_width(right);

	title_text(explorer, fancy ? " \u00b7 " : " . ", width, text, sizeof text);
	canvas_text(canvas, 1, 0, width, ROLE_TITLE, text);
	canvas_text(canvas, canvas->width - 1 - text_width(right), 0, text_width(right),
		    ROLE_WARNING, right);
}

/* Right of the tabs, left of the key of the help. */
static struct rect behind_tabs(const struct canvas *canvas)
{
	struct rect rect = { 2, 1, 0, 1 };

	for (int i = 0; i < VIEW_COUNT; i++)
		if (view_table[i].tab)
			rect.x += text_width(view_table[i].title) + 1;
	rect.width = canvas->width - rect.x - 9;
	return rect;
}

static void draw_tabs(const struct explorer *explorer, struct canvas *canvas)
{
	const char *help = "? keys";
	int x = 1, end = canvas->width - text_width(help) - 1, n = 0;

	for (int i = 0; i < VIEW_COUNT; i++) {
		const struct view *view = &view_table[i];
		struct rect tab = { x, 1, text_width(view->title), 1 };

		if (!view->tab)
			continue;
		add_press(canvas, tab,
			  (struct action){ .kind = ACTION_VIEW, .argument = n++ });
		canvas_text(canvas, x, 1, end - x, ROLE_LABEL, view->title);
		if (i == (int)explorer->view)
			canvas_highlight(canvas, tab, ROLE_FOCUS, false, true);
		x += tab.width + 1;
	}
	canvas_text(canvas, end, 1, text_width(help), ROLE_KEY, help);
	add_press(canvas, (struct rect){ end, 1, text_width(help), 1 },
		  (struct action){ .kind = ACTION_HELP });
	if (explorer->view == VIEW_HELP)
		canvas_highlight(canvas, (struct rect){ end, 1, text_width(help), 1 },
				 ROLE_FOCUS, false, true);
}

static void draw_divider(struct canvas *canvas, int x, int bottom)
{
	for (int y = 3; y < bottom; y++)
		canvas_put(canvas, x, y, canvas_glyph(canvas, GLYPH_VERTICAL),
			   ROLE_BORDER);
	canvas_put(canvas, x, 2, canvas_glyph(canvas, GLYPH_TEE_DOWN), ROLE_BORDER);
	canvas_put(canvas, x, bottom, canvas_glyph(canvas, GLYPH_TEE_UP), ROLE_BORDER);
}

/* The rules, with the names of what stands below them. */
static void draw_lines(struct canvas *canvas, int left, int bottom)
{
	uint32_t across = canvas_glyph(canvas, GLYPH_HORIZONTAL);

	for (int x = 0; x < canvas->width; x++) {
		canvas_put(canvas, x, 2, across, ROLE_BORDER);
		canvas_put(canvas, x, bottom, across, ROLE_BORDER);
	}
	draw_divider(canvas, left, bottom);
	canvas_text(canvas, 2, 2, 9, ROLE_QUIET, " knobs ");
}

/* Right of the tabs there is no room for what does not stand beside the name. */
static bool is_narrow(const struct canvas *canvas)
{
	return behind_tabs(canvas).width < 44;
}

/* The headline of a narrow screen: on the rule, in place of the name where the tabs
 * tell it as well, and in the row below that. Returns the rows that it takes from the
 * view. */
static int draw_two_rows(const struct explorer *explorer, struct canvas *canvas,
			 struct rect view)
{
	const char *name;
	int used;

	if (!is_narrow(canvas) || explorer->view == VIEW_OVERVIEW)
		return 0;
	canvas_fill(canvas, (struct rect){ view.x - 1, 2, view.width + 2, 1 }, ' ',
		    ROLE_DEFAULT);
	used = draw_headline_rows(explorer, canvas,
				  (struct rect){ view.x, 2, view.width + 1, 2 });
	name = view_table[explorer->view].name;
	if (!view_table[explorer->view].tab && used + text_width(name) < view.width)
		canvas_right(canvas, view.x, 2, view.width, ROLE_QUIET, name);
	return 1;
}

static void draw_name(const struct explorer *explorer, struct canvas *canvas,
		      struct rect view, int id, bool alone)
{
	int used;

	if (id != VIEW_OVERVIEW && is_narrow(canvas))
		return; /* its headline stands there */
	used = canvas_format(canvas, view.x, 2, view.width, ROLE_QUIET, " %s ",
			     view_table[id].name);
	/* all of it stands in Overview; a layer leaves it to the view beside it */
	if (id == VIEW_OVERVIEW || (view_is_layer((enum view_id)id) && !alone))
		return;
	used++;
	canvas_fill(canvas, (struct rect){ view.x + used, 2, view.width - used + 1, 1 },
		    ' ', ROLE_BORDER);
	draw_headline(explorer, canvas,
		      (struct rect){ view.x + used, 2, view.width - used, 1 },
		      behind_tabs(canvas));
}

/* The finding that a spot stands for: its key ends in "#code". */
static const struct finding *finding_of(const struct findings *findings,
					const char *key)
{
	const char *code = strchr(key, '#');

	for (int i = 0; code && i < findings->count; i++) {
		const struct finding *f = &findings->item[i];

		if (f->knob && strcmp(f->rule->code, code + 1) == 0 &&
		    strncmp(f->knob, key, (size_t)(code - key)) == 0 &&
		    f->knob[code - key] == '\0')
			return f;
	}
	return NULL;
}

/* What the knob under the cursor is for, or the whole text of advice that a narrow pane
 * cuts. */
static void note_text(const struct explorer *explorer, char *text, size_t size)
{
	const char *key = explorer->state[explorer->view].key;
	const struct knob *knob = explorer_knob(explorer);
	const struct finding *finding = NULL;

	text[0] = '\0';
	if (explorer->offers && explorer->mode == MODE_NORMAL) {
		snprintf(text, size, "%s", COURSE_OFFER);
	} else if (explorer->pane == PANE_VIEW) {
		finding = finding_of(&explorer->advice, key);
		if (!finding)
			finding = finding_of(&explorer->estimate.problems, key);
		if (finding && explorer->view == VIEW_OVERVIEW)
			finding_text(finding, text, size);
	} else if (explorer->row == 0 && explorer->scenario.model.approximate[0]) {
		snprintf(text, size, "approximate: %s",
			 explorer->scenario.model.approximate);
	} else if (explorer_turns(explorer)) {
		snprintf(text, size,
			 "Micro-batches per pipeline and step: the more, the smaller "
			 "the bubble. The global batch changes with them.");
	} else if (knob && explorer->mode != MODE_PICKER) {
		snprintf(text, size, "%s", knob->help);
	} else if (!knob) {
		knob_rows_note(explorer, text, size);
	}
}

/* The sentence below the panes. */
struct note {
	char text[320];
	int rows;
};

/* A narrow screen has to break the sentence of nearly every knob and keeps a second row
 * for it; a wide one gives it a row where it is needed, a low one has none. */
static void make_note(const struct explorer *explorer, const struct canvas *canvas,
		      struct note *note)
{
	note_text(explorer, note->text, sizeof note->text);
	note->rows = canvas->height < 20 ? 1 : canvas->width < 100 ? 2 : 1;
	if (canvas->height >= 20 && text_width(note->text) > canvas->width - 4)
		note->rows = 2;
}

/* What was said last, which hides no key: it stands where the note does. */
static bool says(const struct explorer *explorer)
{
	return explorer->message[0] != '\0' && explorer->mode != MODE_PICKER;
}

/* A few words have room behind the note, which stays where it is. */
static bool says_beside(const struct explorer *explorer, const struct note *note,
			int width)
{
	return says(explorer) && explorer->mode == MODE_NORMAL &&
	       note->text[0] != '\0' &&
	       text_width(note->text) + text_width(explorer->message) + 2 <= width;
}

static int draw_both(struct canvas *canvas, struct rect rect, const char *note,
		     const char *said, enum role role)
{
	int used = canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_HINT, note);

	used += canvas_text(canvas, rect.x + used, rect.y, 2, ROLE_HINT, "  ");
	return used + canvas_text(canvas, rect.x + used, rect.y, rect.width - used,
				  role, said);
}

/* On the rule below the panes, and on the row below that where there is one for it:
 * what was said, or the note. What is longer takes the row above for as long as it
 * stands. */
static void draw_note(const struct explorer *explorer, const struct note *note,
		      struct canvas *canvas, int y)
{
	struct rect rect = { 2, y, canvas->width - 4, note->rows };
	enum role role = says(explorer) ? explorer->message_role : ROLE_HINT;
	char text[sizeof explorer->message];
	int used;

	if (says(explorer))
		snprintf(text, sizeof text, "%s", explorer->message);
	else
		snprintf(text, sizeof text, "%s", note->text);
	if (text[0] == '\0')
		return;
	if (says(explorer) && text_width(text) > rect.width * rect.height) {
		rect.y--;
		rect.height++;
	}
	if (rect.height > 1 && text_width(text) > rect.width) {
		if (rect.y < y)
			canvas_fill(canvas,
				    (struct rect){ 0, rect.y, canvas->width, 1 }, ' ',
				    role);
		canvas_fill(canvas, (struct rect){ 1, y, canvas->width - 1, 1 }, ' ',
			    role);
		widget_prose(canvas, rect, 0, role, text);
		return;
	}
	/* a blank on both sides, the second one wherever the text ends */
	canvas_put(canvas, 1, y, ' ', role);
	used = says_beside(explorer, note, rect.width)
		       ? draw_both(canvas, rect, note->text, text, role)
		       : canvas_phrase(canvas, 2, y, rect.width, role, text);
	canvas_fill(canvas, (struct rect){ 2 + used, y, canvas->width - used - 2, 1 },
		    ' ', role);
}

/* Whether a lesson stands where the note does otherwise. */
static bool has_course_below(const struct explorer *explorer,
			     const struct canvas *canvas)
{
	return explorer->course && !explorer->course->silent &&
	       course_side(explorer, canvas->width) == 0;
}

static void draw_status(const struct explorer *explorer, struct canvas *canvas, int y)
{
	if (explorer->course && explorer->course->silent)
		return;
	if (explorer->mode == MODE_PROMPT)
		prompt_draw(explorer, canvas, y);
	else if (has_course_below(explorer, canvas) && says(explorer))
		/* where the note stands otherwise there is the lesson */
		canvas_phrase(canvas, 1, y, canvas->width - 2, explorer->message_role,
			      explorer->message);
	else
		footer_draw(explorer, canvas, y);
}

/* How to get another view beside the open one, behind the name of the one there. */
static void draw_next(struct canvas *canvas, struct rect view, int id)
{
	int x = view.x + text_width(view_table[id].name) + 3;
	struct rect place = { x, 2, 7, 1 };

	if (id != VIEW_EXPLAIN && id != VIEW_OVERVIEW)
		return; /* the headline stands there */
	canvas_text(canvas, x, 2, 1, ROLE_KEY, "|");
	canvas_text(canvas, x + 1, 2, 7, ROLE_QUIET, " other ");
	add_press(canvas, place, (struct action){ .kind = ACTION_BESIDE });
}

/* The rows at the foot of the view that it leaves empty. */
static void fill_rest(struct explorer *explorer, struct canvas *canvas,
		      struct rect view)
{
	if (explorer->view == VIEW_HELP ||
	    (explorer->view == VIEW_SEARCH && !search_leaves_room(explorer)))
		return;
	if (explorer->view != VIEW_SEARCH || !last_draw_below(explorer, canvas, view))
		overview_rest(explorer, canvas, view);
}

/* Of a plan that can't run the reasons stand over what there was before. */
static void draw_view(struct explorer *explorer, struct canvas *canvas,
		      struct rect view)
{
	bool runs = has_numbers(explorer);

	if (!runs && last_draw(explorer, canvas, view))
		return;
	view_table[explorer->view].draw(explorer, canvas, view);
	fill_rest(explorer, canvas, view);
	if (runs)
		last_keep(explorer, canvas, view);
}

/* The open view, and another beside it where there is room. */
static void draw_views(struct explorer *explorer, struct canvas *canvas,
		       struct rect view, int bottom)
{
	int id = beside_view(explorer,
			     canvas->width - course_side(explorer, canvas->width));
	struct rect other = { 0, 0, 0, 0 }, clip;
	int taken = draw_two_rows(explorer, canvas, view);

	view.y += taken;
	view.height -= taken;
	canvas->late.y += taken;
	canvas->late.height -= taken;
	if (id >= 0)
		other = beside_divide(explorer, &view, id);
	explorer->drawn->view = view;
	explorer->overview_shown =
		explorer->view == VIEW_OVERVIEW || id == VIEW_OVERVIEW;
	draw_name(explorer, canvas, view, (int)explorer->view, id < 0);
	if (id >= 0) {
		draw_divider(canvas, (other.x > view.x ? other.x : view.x) - 2, bottom);
		draw_name(explorer, canvas, other, id, false);
		if (!view_is_layer(explorer->view))
			draw_next(canvas, other, id);
		beside_draw(explorer, canvas, other, id);
	}
	clip = canvas_clip(canvas, view);
	draw_view(explorer, canvas, view);
	canvas_clip(canvas, clip);
}

/* Rows below the panes, the rule above them among them. */
static int rows_below(const struct explorer *explorer, const struct note *note,
		      const struct canvas *canvas)
{
	return has_course_below(explorer, canvas)
		       ? 1 + course_rows(explorer, canvas->width, canvas->height)
		       : note->rows;
}

/* The lesson, beside the views or below them; else what is said of the knob. */
static void draw_course(struct explorer *explorer, const struct note *note,
			struct canvas *canvas, int bottom)
{
	int side = course_side(explorer, canvas->width), x = canvas->width - side;

	if (has_course_below(explorer, canvas)) {
		course_draw(explorer, canvas,
			    (struct rect){ 0, bottom + 1, canvas->width,
					   canvas->height - 2 - bottom });
		return;
	}
	if (side > 0) {
		draw_divider(canvas, x, bottom);
		course_draw(explorer, canvas,
			    (struct rect){ x + 1, 3, side - 1, bottom - 3 });
	}
	draw_note(explorer, note, canvas, bottom);
}

void explorer_draw(struct explorer *explorer, struct canvas *canvas)
{
	int left = knob_width(canvas->width), bottom;
	struct rect knobs, view, clip;
	struct note note;

	beside_begin(explorer);
	last_learn(explorer);
	canvas_erase(canvas);
	spots_clear(explorer->drawn);
	spots_clear(explorer->drawn_beside);
	canvas->spots = explorer->drawn;
	explorer->width = canvas->width;
	explorer->height = canvas->height;
	if (canvas->width < LEAST_WIDTH || canvas->height < LEAST_HEIGHT) {
		draw_too_small(explorer, canvas);
		return;
	}
	make_note(explorer, canvas, &note);
	bottom = canvas->height - 1 - rows_below(explorer, &note, canvas);
	knobs = (struct rect){ 0, 3, left, bottom - 3 };
	view = (struct rect){ left + 2, 3,
			      canvas->width - left - 3 -
				      course_side(explorer, canvas->width),
			      bottom - 3 };
	/* knobs, numbers and what was said first, then pictures from the top */
	canvas->late =
		(struct rect){ left + 1, 3, canvas->width - left - 1, bottom - 3 };
	draw_title(explorer, canvas);
	draw_tabs(explorer, canvas);
	draw_lines(canvas, left, bottom);
	clip = canvas_clip(canvas, knobs);
	knobs_draw(explorer, canvas, knobs);
	canvas_clip(canvas, clip);
	draw_views(explorer, canvas, view, bottom);
	draw_course(explorer, &note, canvas, bottom);
	/* what lies under a list or a prompt does not answer */
	if (explorer->mode != MODE_NORMAL)
		explorer->drawn->presses = 0;
	draw_status(explorer, canvas, canvas->height - 1);
	if (explorer->mode == MODE_PICKER)
		picker_draw(explorer, canvas);
	if (explorer->mode == MODE_PROMPT && explorer->prompt == PROMPT_FIND)
		find_draw(explorer, canvas, canvas->height - 1);
}
