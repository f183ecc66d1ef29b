/* search_misses.c - where nothing fits: by how little, and what would do. */
#include <math.h>
#include <stdio.h>

#include "tui/view.h"
#include "tui/views/search_parts.h"

/* Why there is no plan, in a sentence; empty while that is not known. */
static void say_why(const struct search *search, char *text, size_t size)
{
	const struct misses *misses = &search->misses;
	char needs[32], has[32];

	text[0] = '\0';
	if (misses->count > 0) {
		form_text(FORM_BYTES, misses->has_bytes, has, sizeof has);
		form_text(FORM_BYTES, misses->miss[0].memory_bytes, needs,
			  sizeof needs);
		snprintf(text, size,
			 "%s: the closest needs %s of %s (%.0f %% kept free)",
			 planner_is_unsure(&search->problem)
				 ? "No plan is predicted to fit (not certain)"
				 : "No plan fits",
			 needs, has, fmin(100, search->problem.reserve * 100));
	} else if (misses->too_large) {
		snprintf(text, size,
			 "No plan fits: no room for the KV cache of one request");
	} else if (misses->blocker.rule) {
		finding_text(&misses->blocker, text, size);
	} else if (misses->stage > MISS_LIST) {
		snprintf(text, size,
			 "No legal plan: the degrees do not divide, or every plan "
			 "breaks a rule");
	}
}

static void draw_miss(const struct search *search, const struct planner_found *miss,
		      struct canvas *canvas, struct rect line)
{
	struct scenario s;
	char needs[32], name[160];

	planner_scenario(&search->problem, miss, &s);
	planner_name(&search->problem, &s, name, sizeof name);
	form_text(FORM_BYTES, miss->memory_bytes, needs, sizeof needs);
	canvas_format(canvas, line.x, line.y, line.width, ROLE_VALUE, "%9s  %s", needs,
		      name);
}

/* Rows of it, and a blank one. */
int search_miss_rows(const struct search *search, int width)
{
	const struct misses *misses = &search->misses;
	int lines = 0, count = misses->count;
	char text[256];

	while (misses_text(misses, lines, text, sizeof text))
		lines++;
	say_why(search, text, sizeof text);
	return 1 + text_width(text) / width + 1 + lines + (count > 0) * (count + 2);
}

void search_draw_misses(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	const struct search *search = explorer->search;
	const struct misses *misses = &search->misses;
	struct rect line = rect;
	int end = rect.y + rect.height;
	char text[256];

	say_why(search, text, sizeof text);
	if (text[0] != '\0')
		line.y += widget_prose(canvas, rect, 0, ROLE_BAD, text);
	for (int i = 0; misses_text(misses, i, text, sizeof text) && line.y < end; i++)
		canvas_text(canvas, rect.x + 2, line.y++, rect.width - 2, ROLE_GOOD,
			    text);
	if (search->phase == SEARCH_MISSES && line.y < end)
		canvas_text(canvas, rect.x + 2, line.y++, rect.width - 2, ROLE_LABEL,
			    "searching for what would fit ...");
	if (misses->count > 0 && ++line.y < end)
		canvas_text(canvas, rect.x, line.y++, rect.width, ROLE_TITLE,
			    "closest misses");
	for (int i = 0; i < misses->count && line.y < end; i++, line.y++)
		draw_miss(search, &misses->miss[i], canvas, line);
}
