/* search_misses.c - where nothing fits: by how little, and what would do. */
#include <math.h>
#include <stdio.h>

#include "tui/view.h"
#include "tui/views/search_parts.h"

void search_draw_misses(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	const struct search *search = explorer->search;
	const struct misses *misses = &search->misses;
	int y = rect.y, end = rect.y + rect.height;
	char needs[32], has[32], text[160];

	form_text(FORM_BYTES, misses->has_bytes, has, sizeof has);
	if (misses->count > 0) {
		form_text(FORM_BYTES, misses->miss[0].memory_bytes, needs,
			  sizeof needs);
		snprintf(text, sizeof text, "%s: needs %s of %s (%.0f %% kept free)",
			 planner_is_unsure(&search->problem)
				 ? "Nothing is predicted to fit, which is unsure"
				 : "Nothing fits",
			 needs, has, fmin(100, search->problem.reserve * 100));
		y += widget_prose(canvas,
				  (struct rect){ rect.x, y, rect.width, end - y }, 0,
				  ROLE_BAD, text);
	} else if (misses->too_large) {
		canvas_text(canvas, rect.x, y++, rect.width, ROLE_BAD,
			    "Nothing fits: no room for one request's KV cache");
	} else if (misses->blocker.rule) {
		char why[256];

		finding_text(&misses->blocker, why, sizeof why);
		y += widget_prose(canvas,
				  (struct rect){ rect.x, y, rect.width, end - y }, 0,
				  ROLE_BAD, why);
	} else if (misses->stage > MISS_LIST) {
		canvas_text(canvas, rect.x, y++, rect.width, ROLE_BAD,
			    "No legal plan: nothing divides, or each breaks a rule");
	}
	for (int i = 0; misses_text(misses, i, text, sizeof text) && y < end; i++)
		canvas_text(canvas, rect.x + 2, y++, rect.width - 2, ROLE_GOOD, text);
	if (search->phase == SEARCH_MISSES && y < end)
		canvas_text(canvas, rect.x + 2, y++, rect.width - 2, ROLE_LABEL,
			    "what would do is searched ...");
	if (misses->count > 0 && ++y < end)
		canvas_text(canvas, rect.x, y++, rect.width, ROLE_TITLE,
			    "closest misses");
	for (int i = 0; i < misses->count && y < end; i++) {
		struct scenario s;

		planner_scenario(&search->problem, &misses->miss[i], &s);
		planner_name(&search->problem, &s, text, sizeof text);
		form_text(FORM_BYTES, misses->miss[i].memory_bytes, needs,
			  sizeof needs);
		canvas_format(canvas, rect.x, y++, rect.width, ROLE_VALUE, "%9s  %s",
			      needs, text);
	}
}
