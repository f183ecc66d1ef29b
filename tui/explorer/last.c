/* last.c - see last.h. */
#include "tui/explorer/last.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/explorer.h"
#include "tui/explorer/follow.h"
#include "tui/text.h"
#include "tui/view.h"
#include "tui/views/page.h"

/* Rows of a strip where the view had none, and of the last plan that are worth it. */
enum { STRIP = 4, LEAST = 8 };

/* The cells of the view as the last plan that ran had them, and the plan, of which
 * another view is drawn anew. Where none ran, the one that the first remedy makes. */
struct last {
	struct scenario scenario;
	bool remedied;
	char whose[120];   /* "the last plan that ran", "the same plan with TP tensor 8"
			    */
	enum view_id view; /* VIEW_COUNT: no cells */
	struct rect rect, strip; /* of the view; of the strip in it, if there is one */
	struct cell cell[];
};

/* Views that say of a plan that can't run nothing but why. */
static bool is_kept(const struct explorer *explorer)
{
	/* of a server without room for a request, Memory says why */
	if (explorer->estimate.legal && !has_numbers(explorer) &&
	    explorer->view == VIEW_MEMORY)
		return false;
	return explorer->view < VIEW_SEARCH && !explorer->course;
}

/* NULL: it ran. */
static void say_whose(struct last *last, const char *remedy)
{
	last->remedied = remedy != NULL;
	snprintf(last->whose, sizeof last->whose, "%s%s",
		 remedy ? "the same plan with " : "the last plan that ran",
		 remedy ? remedy : "");
}

static struct last *make_room(const struct explorer *explorer, struct rect rect)
{
	size_t cells = (size_t)rect.width * (size_t)rect.height;
	struct last *last = explorer->last;

	if (last && last->rect.width == rect.width && last->rect.height == rect.height)
		return last;
	return realloc(explorer->last, sizeof *last + cells * sizeof last->cell[0]);
}

void last_forget(struct explorer *explorer)
{
	free(explorer->last);
	explorer->last = NULL;
}

void last_free(struct explorer *explorer)
{
	last_forget(explorer);
	free(explorer->last_beside);
	explorer->last_beside = NULL;
}

void last_keep(struct explorer *explorer, const struct canvas *canvas, struct rect rect)
{
	struct last *last;

	if (explorer->course) {
		last_forget(explorer);
		return;
	}
	last = make_room(explorer, rect);
	if (!last) {
		last_forget(explorer);
		return;
	}
	explorer->last = last;
	say_whose(last, NULL);
	last->scenario = explorer->scenario;
	last->view = is_kept(explorer) ? explorer->view : VIEW_COUNT;
	last->rect = rect;
	last->strip = canvas->spots->strip;
	for (int y = 0; y < rect.height; y++)
		memcpy(last->cell + (size_t)y * (size_t)rect.width,
		       canvas->cell + (size_t)(rect.y + y) * (size_t)canvas->width +
			       rect.x,
		       (size_t)rect.width * sizeof last->cell[0]);
}

/* Of two views the one that has not got the keys, nor the strip. */
static bool is_beside(const struct explorer *explorer, const struct canvas *canvas)
{
	return canvas->spots == explorer->drawn_beside;
}

static void draw_and_keep(struct explorer *explorer, struct canvas *canvas,
			  struct rect rect)
{
	struct play *play = explorer->play;

	if (explorer->view == VIEW_TIMELINE) {
		explorer->play_stale = true;
		play_refresh(explorer);
	}
	view_table[explorer->view].draw(explorer, canvas, rect);
	if (is_beside(explorer, canvas))
		overview_beside(explorer, canvas, rect);
	else
		overview_rest(explorer, canvas, rect);
	last_keep(explorer, canvas, rect);
	explorer->play = play;
	canvas_fill(canvas, rect, ' ', ROLE_DEFAULT);
}

/* This view, or this size of it, as the last plan that ran has it; nothing of it can be
 * pointed at. False: out of memory. */
static bool keep_again(struct explorer *explorer, struct canvas *canvas,
		       struct rect rect)
{
	struct {
		struct scenario scenario;
		struct estimate estimate;
		struct spots spots;
	} *open = malloc(sizeof *open);
	struct spots *spots = canvas->spots;
	bool remedied = explorer->last->remedied;
	char whose[sizeof explorer->last->whose];

	if (!open)
		return false;
	memcpy(whose, explorer->last->whose, sizeof whose);
	open->scenario = explorer->scenario;
	open->estimate = explorer->estimate;
	open->spots = *spots;
	explorer->scenario = explorer->last->scenario;
	explorer->estimate = *follow_estimate(explorer->follow, &explorer->scenario);
	draw_and_keep(explorer, canvas, rect);
	explorer->scenario = open->scenario;
	explorer->estimate = open->estimate;
	/* pictures are kept from frame to frame */
	memcpy(open->spots.picture, spots->picture, sizeof spots->picture);
	*spots = open->spots;
	free(open);
	if (!explorer->last)
		return false;
	explorer->last->remedied = remedied;
	memcpy(explorer->last->whose, whose, sizeof whose);
	return true;
}

static bool shows(const struct last *last, const struct explorer *explorer,
		  struct rect rect)
{
	return last->view == explorer->view &&
	       memcmp(&last->rect, &rect, sizeof rect) == 0;
}

/* Rows `from` up to `to` of the screen as they were. */
static void show_again(const struct last *last, struct canvas *canvas, int from, int to)
{
	for (int y = from; y < to; y++)
		memcpy(canvas->cell + (size_t)y * (size_t)canvas->width + last->rect.x,
		       last->cell +
			       (size_t)(y - last->rect.y) * (size_t)last->rect.width,
		       (size_t)last->rect.width * sizeof last->cell[0]);
}

/* Why the plan can't run, in the upper half, or as far as `end` where nothing else
 * would stand in the rest; returns the row behind it. */
static int draw_reasons(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect, int end)
{
	if (explorer->view == VIEW_OVERVIEW && explorer->estimate.legal) {
		struct page page = { explorer, canvas, rect, rect.y,
				     overview_room(explorer, rect) };

		serving_too_large(&page);
		return page.y;
	}
	rect.height /= 2;
	if (end - (rect.y + rect.height) < LEAST)
		rect.height = end - rect.y;
	if (explorer->view == VIEW_OVERVIEW) {
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_BAD,
			    "THIS PLAN CAN'T RUN");
		rect.y++;
		rect.height--;
	}
	return rect.y + draw_problems(explorer, canvas, rect);
}

/* This plan is the one to be shown; a view of another one is none of it. */
static void take_plan(struct explorer *explorer, const struct scenario *scenario,
		      const char *remedy)
{
	struct last *last = explorer->last;

	if (!last)
		last = explorer->last = calloc(1, sizeof *last);
	else if (memcmp(&last->scenario, scenario, sizeof *scenario) == 0)
		scenario = NULL;
	if (!last)
		return;
	say_whose(last, remedy);
	if (!scenario)
		return;
	last->scenario = *scenario;
	last->view = VIEW_COUNT;
}

/* The open view is drawn of every plan that runs, the one beside it not always: of the
 * plan that it lacks it is drawn anew. */
static void learn_plan(struct explorer *explorer)
{
	const struct last *other = explorer->last_beside;

	if (!other)
		return;
	take_plan(explorer, &other->scenario, NULL);
	if (explorer->last) {
		explorer->last->remedied = other->remedied;
		memcpy(explorer->last->whose, other->whose, sizeof other->whose);
	}
}

/* What the first remedy sets, as scenario and in words; false: nothing mends it. */
static bool find_remedy(const struct explorer *explorer, struct scenario *out,
			char *text, size_t size)
{
	const struct findings *problems = &explorer->estimate.problems;
	const struct whatif_way *way = &explorer->way;
	char label[24], value[64];
	size_t used = 0;

	*out = explorer->scenario;
	text[0] = '\0';
	for (int i = 0; i < way->turns && used < size; i++) {
		text_squeeze(way->turn[i].knob->label, label, sizeof label);
		knob_print_value(way->turn[i].knob, way->turn[i].value, value,
				 sizeof value);
		used += (size_t)snprintf(text + used, size - used, "%s%s %s",
					 i > 0 ? ", " : "", label, value);
	}
	if (way->turns > 0)
		return whatif_way_set(way, out);
	for (int i = 0; i < problems->count; i++) {
		const struct whatif_cost *cost = explorer->mend[i];

		if (problems->item[i].nearest_count == 0 || !cost->knob || !cost->fits)
			continue;
		knob_print_value(cost->knob, cost->value, value, sizeof value);
		text_squeeze(cost->knob->label, label, sizeof label);
		snprintf(text, size, "%s %s", label, value);
		return knob_set(out, cost->knob, cost->value);
	}
	return false;
}

void last_learn(struct explorer *explorer)
{
	struct scenario *remedy;
	char text[96];

	if (has_numbers(explorer) || explorer->course ||
	    (explorer->last && !explorer->last->remedied))
		return;
	remedy = malloc(sizeof *remedy);
	if (remedy && find_remedy(explorer, remedy, text, sizeof text))
		take_plan(explorer, remedy, text);
	else
		last_forget(explorer);
	free(remedy);
}

/* A bar, or the legend of one. */
static bool is_painted(const struct last *last, const struct canvas *canvas, int y)
{
	uint32_t full = canvas_glyph(canvas, GLYPH_FULL_BLOCK);
	const struct cell *cell =
		last->cell + (size_t)(y - last->rect.y) * (size_t)last->rect.width;

	for (int x = 0; x < last->rect.width; x++)
		if (cell[x].code == full || cell[x].back != ROLE_DEFAULT)
			return true;
	return false;
}

/* What is left of Overview begins below the legend of a bar that has no room. */
static int behind_legend(const struct last *last, const struct canvas *canvas, int top,
			 int end)
{
	while (last->view == VIEW_OVERVIEW && end - top > LEAST &&
	       is_painted(last, canvas, top) && is_painted(last, canvas, top + 1))
		top++;
	return top;
}

/* The whole view of the other plan under its heading. The strip, and advice, are about
 * the open one. */
static void draw_whole(struct explorer *explorer, struct canvas *canvas,
		       struct rect rect)
{
	struct page page = { explorer, canvas, rect, 0, ROOM_RICH };
	struct rect rest = { rect.x, rect.y + 1, rect.width, rect.height - 1 };
	const struct last *last;

	if (!shows(explorer->last, explorer, rest) &&
	    !keep_again(explorer, canvas, rest))
		return;
	last = explorer->last;
	widget_heading(canvas, rect.x, rect.y, rect.width, last->whose);
	show_again(last, canvas, rest.y, rest.y + rest.height);
	if (last->strip.height == 0)
		return;
	page.y = last->strip.y;
	canvas_fill(canvas, last->strip, ' ', ROLE_DEFAULT);
	page_strip(&page, last->strip.height);
}

/* It stands below the reasons and in the rows that they leave: nothing of it was there
 * before. */
static void draw_remedied(struct explorer *explorer, struct canvas *canvas,
			  struct rect rect)
{
	int end = rect.y + rect.height, top = draw_reasons(explorer, canvas, rect, end);
	struct page page = { explorer, canvas, rect, top, ROOM_RICH };

	if (end - top > LEAST)
		draw_whole(explorer, canvas,
			   (struct rect){ rect.x, top, rect.width, end - top });
	else
		page_strip(&page, end - top);
}

bool last_draw_below(struct explorer *explorer, struct canvas *canvas, struct rect rect)
{
	enum view_id open = explorer->view;
	struct rect rest = view_rest(canvas, rect);

	if (!explorer->last || has_numbers(explorer) || explorer->course ||
	    rest.height <= LEAST)
		return false;
	explorer->view = VIEW_OVERVIEW;
	draw_whole(explorer, canvas, rest);
	explorer->view = open;
	return true;
}

/* A strip that was there stays where it was, with what is true now; what it had below
 * it was advice about another plan. */
bool last_draw(struct explorer *explorer, struct canvas *canvas, struct rect rect)
{
	const struct last *last;
	struct page page = { explorer, canvas, rect, 0, ROOM_RICH };
	int top, end = rect.y + rect.height;
	bool stays;

	if (is_beside(explorer, canvas))
		learn_plan(explorer);
	if (explorer->last && is_kept(explorer) && explorer->last->remedied) {
		draw_remedied(explorer, canvas, rect);
		return true;
	}
	if (!explorer->last || !is_kept(explorer) ||
	    (!shows(explorer->last, explorer, rect) &&
	     !keep_again(explorer, canvas, rect)))
		return false;
	last = explorer->last;
	if (last->strip.height > 0)
		end = last->strip.y;
	top = draw_reasons(explorer, canvas, rect,
			   last->strip.height > 0 ? end : end - STRIP);
	stays = last->strip.height > 0 && last->strip.y >= top;
	page.y = stays ? last->strip.y : top;
	if (stays || !is_beside(explorer, canvas))
		page_strip(&page, stays ? last->strip.height : STRIP);
	if (!stays)
		top = page.y;
	if (end - top < LEAST)
		return true;
	top = behind_legend(last, canvas, top, end);
	widget_heading(canvas, rect.x, top, rect.width, last->whose);
	show_again(last, canvas, top + 1, end);
	return true;
}

const struct scenario *last_plan(const struct explorer *explorer, const char **whose)
{
	const struct last *last =
		explorer->last ? explorer->last : explorer->last_beside;

	if (!last || explorer->course)
		return NULL;
	*whose = last->whose;
	return &last->scenario;
}
