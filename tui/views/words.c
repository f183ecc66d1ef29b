/* words.c - what a row of the glossary says, and the page of a knob. */
#include <stdio.h>
#include <string.h>

#include "engine/glossary/glossary.h"
#include "engine/knob/knob.h"
#include "tui/explorer/course.h"
#include "tui/text.h"
#include "tui/view.h"

static int draw_prose(struct canvas *canvas, struct rect rect, const char *title,
		      enum role role, const char *text)
{
	char plain[GLOSSARY_MAX_TEXT];

	glossary_plain(text, plain, sizeof plain);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, title);
	rect.y++;
	return 2 + widget_prose(canvas, rect, 0, role, plain);
}

int words_draw(struct canvas *canvas, struct rect rect,
	       const struct glossary_word *word)
{
	int top = rect.y;

	rect.y += draw_prose(canvas, rect, "what it means", ROLE_VALUE, word->means);
	if (word->why)
		rect.y += draw_prose(canvas, rect,
				     word->kind == WORD_KNOB ? "why change it"
							     : "why it matters",
				     ROLE_DEFAULT, word->why);
	return rect.y - top;
}

static int draw_linked(struct canvas *canvas, struct rect rect,
		       const struct glossary_word *word)
{
	char plain[GLOSSARY_MAX_TEXT];

	canvas_text(canvas, rect.x, rect.y++, rect.width, ROLE_KEY, word->key);
	rect.x += 2;
	rect.width -= 2;
	glossary_plain(word->means, plain, sizeof plain);
	return 1 + widget_prose(canvas, rect, 0, ROLE_LABEL, plain);
}

int words_linked_draw(struct canvas *canvas, struct rect rect,
		      const struct glossary_word *word, int left)
{
	static const struct rect nowhere = { 0, 0, 0, 0 };
	const struct glossary_word *links[GLOSSARY_MAX_LINKS];
	int count = word_links(word, links), top = rect.y, drawn = 0;

	for (int i = 0; i < count; i++) {
		struct rect clip = canvas_clip(canvas, nowhere);
		int rows = draw_linked(canvas, rect, links[i]);

		canvas_clip(canvas, clip);
		if (rect.y - top + rows + (drawn == 0) > left)
			break;
		if (drawn++ == 0)
			canvas_text(canvas, rect.x, rect.y++, rect.width, ROLE_TITLE,
				    "terms used");
		rect.y += draw_linked(canvas, rect, links[i]);
	}
	return rect.y - top + (drawn > 0);
}

/* What another value of a knob moves; count -1: it can't run, for this reason. */
struct moved {
	struct scenario scenario;
	const struct knob *knob; /* NULL: nothing is kept here */
	double value;
	int count;
	struct whatif_move move[MAX_WHATIF_MOVES];
	bool has_reason;
	struct finding reason;
};

static void reckon_moves(const struct explorer *explorer, const struct knob *knob,
			 double value, struct moved *out)
{
	const struct findings *problems = &explorer->scratch->problems;

	out->scenario = explorer->scenario;
	out->knob = knob;
	out->value = value;
	out->count = whatif_moves(&explorer->scenario, knob, value, &explorer->estimate,
				  explorer->scratch, out->move);
	out->has_reason = out->count < 0 && problems->count > 0;
	if (out->has_reason)
		out->reason = problems->item[0];
}

/* The value above and the one below, kept from frame to frame; one thread draws. */
static const struct moved *moves_of(const struct explorer *explorer,
				    const struct knob *knob, double value)
{
	enum { KEPT = 2 };
	static struct moved kept[KEPT];
	static int next;

	for (int i = 0; i < KEPT; i++)
		if (kept[i].knob == knob && kept[i].value == value &&
		    memcmp(&kept[i].scenario, &explorer->scenario,
			   sizeof kept[i].scenario) == 0)
			return &kept[i];
	next = (next + 1) % KEPT;
	reckon_moves(explorer, knob, value, &kept[next]);
	return &kept[next];
}

static int draw_still(struct canvas *canvas, struct rect rect, const struct knob *knob)
{
	const char *why = glossary_still(knob->key);
	char text[256];

	snprintf(text, sizeof text, "no number changes by 1 %% or more%s%s",
		 why ? ". " : "", why ? why : "");
	return widget_prose(canvas, rect, 0, ROLE_LABEL, text);
}

/* "memory 71.5 -> 43.6 GiB" of each number that another value moves. */
static int draw_moves(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct knob *knob, double value)
{
	const struct moved *moved = moves_of(explorer, knob, value);
	const struct whatif_move *moves = moved->move;
	char text[256], before[64], after[64];
	int top = rect.y, count = moved->count;

	knob_print_value(knob, value, text, sizeof text);
	canvas_format(canvas, rect.x, rect.y++, rect.width, ROLE_TITLE, "at %s", text);
	if (moved->has_reason) {
		finding_text(&moved->reason, text, sizeof text);
		return 2 + widget_prose(canvas, rect, 0, ROLE_BAD, text);
	}
	if (count < 0)
		canvas_text(canvas, rect.x, rect.y++, rect.width, ROLE_LABEL,
			    "this plan can't run");
	if (count == 0)
		rect.y += draw_still(canvas, rect, knob);
	for (int i = 0; i < count; i++) {
		form_text(moves[i].metric->form, moves[i].before, before,
			  sizeof before);
		form_text(moves[i].metric->form, moves[i].after, after, sizeof after);
		canvas_text(canvas, rect.x, rect.y, 18, ROLE_LABEL,
			    moves[i].metric->label);
		canvas_format(canvas, rect.x + 19, rect.y++, rect.width - 19,
			      ROLE_VALUE, "%s, now %s", after, before);
	}
	return rect.y + 1 - top;
}

static int draw_uses(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect, const struct knob *knob)
{
	struct explain_uses uses;
	int top = rect.y;

	explain_uses(&explorer->scenario, &explorer->estimate, knob->key, &uses);
	canvas_text(canvas, rect.x, rect.y++, rect.width, ROLE_TITLE,
		    "formulas that use it");
	if (uses.count == 0)
		rect.y += widget_prose(canvas, rect, 0, ROLE_LABEL,
				       "None directly: it decides which operators, "
				       "bytes or collectives are counted.");
	for (int i = 0; i < uses.count; i++) {
		int used = canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_DEFAULT,
				       uses.title[i]);

		canvas_text(canvas, rect.x + used + 2, rect.y++, rect.width - used - 2,
			    ROLE_QUIET, uses.key[i]);
	}
	return rect.y + 1 - top;
}

int knob_page_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, const struct knob *knob)
{
	const struct scenario *s = &explorer->scenario;
	double now = knob_get(s, knob);
	int top = rect.y;
	char domain[256];

	knob_domain(knob, domain, sizeof domain);
	canvas_text(canvas, rect.x, rect.y++, rect.width, ROLE_TITLE, "values");
	rect.y += 1 + widget_prose(canvas, rect, 0, ROLE_DEFAULT, domain);
	if (!knob_applies(s, knob))
		rect.y += 1 + widget_prose(canvas, rect, 0, ROLE_WARNING,
					   "It has no effect in this plan.");
	/* not while a lesson asks what they would give */
	for (int direction = 1; direction >= -1 && !course_hides(explorer);
	     direction -= 2) {
		double next = knob_neighbour(s, knob, direction);

		if (knob->type < KNOB_SET && next != now && knob_applies(s, knob))
			rect.y += draw_moves(explorer, canvas, rect, knob, next);
	}
	rect.y += draw_uses(explorer, canvas, rect, knob);
	return rect.y - top;
}
