/* view.h - what a view is: a row of view_table, one file in tui/views/ each.
 *
 * A view draws from the explorer and never calculates; act() changes only the
 * explorer's state of that view, and returns CHANGED_ bits, or CHANGED_NOTHING when
 * the key is not its own.
 */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include "tui/explorer.h"

struct view {
	const char *name;  /* "overview", for the command line and the workspace */
	const char *title; /* of its tab */
	bool tab;          /* false: reached by a key only */
	const char *about; /* the number that Explain begins with; NULL: none */
	void (*draw)(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect);
	unsigned (*act)(struct explorer *explorer, struct action action);
	const char *help; /* what it shows and what its own keys do */
};

/* The blank rows at the bottom of what is drawn already, below one that stays blank. */
struct rect view_rest(const struct canvas *canvas, struct rect rect);
/* In the rows at the foot of a view that it leaves empty: the strip of the knob under
 * the cursor and advice, or where there are many more of Overview (views/overview.c).
 */
void overview_rest(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect);
/* Overview in what the view beside Explain leaves empty, if it is more than a third, or
 * its numbers alone; whether the strip is there too. */
bool overview_beside(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect);
/* Rows of a view so high that strip and advice take: they stand in the same place
 * whatever is above them. None where Overview, which has both, is on the screen. */
int overview_foot(const struct explorer *explorer, int height);

extern const struct view view_table[VIEW_COUNT];
/* -1 if there is none of that name. */
int view_find(const char *name);

/* --- what views share (views/number.c) --- */

/* There are numbers besides those of memory: the plan breaks no rule, and a server has
 * room for a request. */
bool has_numbers(const struct explorer *explorer);
/* This one is known of the open plan all the same, or it is a plan with numbers. */
bool has_number(const struct explorer *explorer, const char *key);

/* "label value" with the change against the baseline where there is room; the number
 * can be pointed at. Returns the columns used. */
int draw_number(const struct explorer *explorer, struct canvas *canvas, int x, int y,
		int width, const char *label, const char *key);
/* The columns of "label value" without a change. */
int number_width(const struct explorer *explorer, const char *label, const char *key);
/* A metric of the open plan as text, "-" where it has none. */
void number_text(const struct explorer *explorer, const char *key, char *out,
		 size_t size);
/* Memory, time, throughput, bubble, traffic and cost with their changes
 * (views/headline.c): at the right edge of a line, as many as there is room for, and in
 * another line what is left. */
void draw_headline(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, struct rect more);
/* The same in two rows of a narrow screen, each number always in the same one. Returns
 * the columns that it takes of the first. */
int draw_headline_rows(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect);
/* The same in a column: label left, value and change at the right edge. */
void draw_number_row(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect, const char *label, const char *key);
/* The change of a metric against the baseline as text, empty if there is none;
 * *role says whether it is better. */
enum { CHANGE_TEXT = 32 };
void change_text(const struct explorer *explorer, const char *key, char *out,
		 size_t size, enum role *role);
/* "-40.3%" as "-40%", "+12.1 pt" as "+12pt". */
void change_shorten(char change[CHANGE_TEXT]);
uint32_t change_glyph(const struct canvas *canvas, const char *change);
/* "fits, 77 % sure" of a plan that trains; "fits, room for 312 requests" of a server,
 * of whose memory nobody measured how sure it is: as much as there is room for. */
void fit_text(const struct explorer *explorer, int width, char *out, size_t size);
enum role fit_role(const struct estimate *estimate);
/* A place that can be pointed at; lit if the cursor is there. */
void add_spot(const struct explorer *explorer, struct canvas *canvas,
	      enum spot_kind kind, struct rect rect, const char *key, double value);
/* The problems of an illegal plan, or of one that does not fit, with remedies.
 * Returns the rows used. */
int draw_problems(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect);
/* Moves between the spots of the last frame, and takes the one under the cursor. */
unsigned act_on_spots(struct explorer *explorer, struct action action);
/* A text that may be longer than the view (views/help.c): notes its lines and draws
 * the scrollbar; moves it. */
void end_text(const struct explorer *explorer, struct canvas *canvas, enum view_id view,
	      int lines);
unsigned scroll_text(struct explorer *explorer, struct action action);
/* What a row of the glossary says (views/words.c); returns the rows used. */
int words_draw(struct canvas *canvas, struct rect rect,
	       const struct glossary_word *word);
/* The terms that it speaks of, as many as stand whole in `left` rows. */
int words_linked_draw(struct canvas *canvas, struct rect rect,
		      const struct glossary_word *word, int left);
/* In so many rows, if they are worth it: the other numbers of its kind, the knobs that
 * follow (views/related.c); returns the rows used. */
int related_numbers(const struct explorer *explorer, struct canvas *canvas,
		    struct rect rect, const char *key, const struct estimate *estimate,
		    int left);
int related_knobs(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect, const struct knob *of, int left);
/* Which values a knob takes, what its neighbours move, and where it stands. */
int knob_page_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, const struct knob *knob);
enum role dimension_role(enum dimension dimension);
/* What a rank holds in a step, or of a server, as parts of a bar; returns how many
 * (views/memory.c). */
enum { MEMORY_PARTS = 6 };
int memory_parts(const struct stage_memory *memory, bool serves,
		 struct part part[MEMORY_PARTS]);

void overview_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect);
void memory_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect);
unsigned memory_act(struct explorer *explorer, struct action action);
void timeline_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect);
unsigned timeline_act(struct explorer *explorer, struct action action);
void traffic_draw(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect);
unsigned traffic_act(struct explorer *explorer, struct action action);
/* The number that Explain begins with there. */
const char *traffic_about(const struct explorer *explorer);
void graph_draw(const struct explorer *explorer, struct canvas *canvas,
		struct rect rect);
unsigned graph_act(struct explorer *explorer, struct action action);
/* Timeline in mode inference (views/passes.c). */
void passes_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect);
unsigned passes_act(struct explorer *explorer, struct action action);
/* Graph in mode inference (views/roofline.c). */
void roofline_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect);
unsigned roofline_act(struct explorer *explorer, struct action action);
void topology_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect);
unsigned topology_act(struct explorer *explorer, struct action action);
void search_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect);
/* It found nothing, and what is near it takes few rows. */
bool search_leaves_room(const struct explorer *explorer);
unsigned search_act(struct explorer *explorer, struct action action);
void explain_draw(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect);
unsigned explain_act(struct explorer *explorer, struct action action);
void glossary_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect);
unsigned glossary_act(struct explorer *explorer, struct action action);
void help_draw(const struct explorer *explorer, struct canvas *canvas,
	       struct rect rect);
unsigned help_act(struct explorer *explorer, struct action action);

#endif
