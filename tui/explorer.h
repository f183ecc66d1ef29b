/* explorer.h - the state of the explorer and everything that changes it.
 *
 * explorer_handle() is the only way in for keys and mouse; explorer_draw() the only
 * way out. Neither knows a terminal, so tests and the `screen` command use them too.
 */
#ifndef TUI_EXPLORER_H
#define TUI_EXPLORER_H

#include <stdbool.h>

#include "engine/advice/advice.h"
#include "engine/estimate/estimate.h"
#include "engine/explain/explain.h"
#include "engine/planner/planner.h"
#include "engine/start/start.h"
#include "engine/timeline/timeline.h"
#include "engine/whatif/whatif.h"
#include "presets/error.h"
#include "presets/session.h"
#include "tui/action.h"
#include "tui/canvas.h"
#include "tui/explorer/history.h"
#include "tui/explorer/picker.h"
#include "tui/explorer/search.h"
#include "tui/widget.h"

enum view_id {
	VIEW_OVERVIEW,
	VIEW_MEMORY,
	VIEW_TIMELINE,
	VIEW_TRAFFIC,
	VIEW_GRAPH,
	VIEW_TOPOLOGY,
	VIEW_SEARCH,
	VIEW_EXPLAIN,
	VIEW_HELP,
	VIEW_GLOSSARY,
	VIEW_COUNT
};

enum pane { PANE_KNOBS, PANE_VIEW, PANE_COUNT };

/* What the keys go to. */
enum mode { MODE_NORMAL, MODE_PROMPT, MODE_PICKER };

enum prompt_kind {
	PROMPT_VALUE,
	PROMPT_MICRO_BATCHES, /* whose number no knob has: the global batch follows */
	PROMPT_FIND,
	PROMPT_FILTER,
	PROMPT_WRITE,
	PROMPT_EXPORT
};

enum { MAX_KEY = 48, MAX_SPOTS = 256, MAX_PRESSES = 48, MAX_ROWS = MAX_KNOBS + 32 };

/* A place on the screen that can be pointed at: a number by its key in
 * metric_table or explain(), or an offer to mend something. */
/* The key of the remedy that turns more knobs than one. */
#define SPOT_WAY "way"
enum spot_kind { SPOT_NUMBER, SPOT_REMEDY, SPOT_KNOB };

struct spot {
	enum spot_kind kind;
	struct rect rect;
	char key[MAX_KEY]; /* the number; of the others the knob */
	double value;      /* SPOT_REMEDY: what the knob is set to */
};

/* A place that stands for a key: a tab, a key of the footer, the arrow at a knob. */
struct press {
	struct rect rect;
	struct action action;
};

struct spots {
	int count;
	struct spot item[MAX_SPOTS];
	int presses;
	struct press press[MAX_PRESSES];
	/* where the frame put its parts, for the mouse */
	struct rect knobs, view, picker, preview;
	struct rect chart; /* lanes of the view Timeline */
	struct rect strip; /* what values of the knob would give, in the open view */
	int lines;         /* of a text that scrolls: Help, Explain */
	/* of the view Timeline, kept from frame to frame (views/timeline_chart.c) */
	struct picture *picture[2];
};

/* An export as it would be written now. */
struct preview {
	char *text;
	int format; /* index in format_table, -1 = none */
	int lines, first;
};

enum row_kind { ROW_MODEL, ROW_CLUSTER, ROW_STACK, ROW_GROUP, ROW_KNOB, ROW_DERIVED };

/* A line of the knob pane. */
/* Numbers that follow from the knobs, shown among them. */
enum derived { DERIVED_DP, DERIVED_MICRO_BATCHES };

struct knob_row {
	enum row_kind kind;
	int knob;  /* index in knob_table of ROW_KNOB; enum derived of ROW_DERIVED */
	int group; /* of ROW_GROUP */
	const char *label;
};

/* Where the focus was before a layer was opened over it. */
enum { MOST_LAYERS = 3, MOST_PLAYS = 4 };
struct place {
	enum view_id view;
	enum pane pane;
};

/* What a view remembers. */
struct view_state {
	char key[MAX_KEY]; /* spot under the cursor */
	int cursor, first, sort, zoom, choice;
};

/* The view beside the open one: what suits it, none, or BESIDE_VIEW + enum view_id. */
enum beside { BESIDE_SUITS, BESIDE_NONE, BESIDE_VIEW };

struct course;
struct contest;

struct explorer {
	struct scenario scenario;
	struct estimate estimate;
	struct scenario origin; /* as opened: what reset goes back to */
	bool pinned, moved;     /* moved: `before` is the state before a change */
	struct scenario baseline;
	struct estimate before; /* of the baseline, or before the last change */
	int before_mode;        /* enum plan_mode of that */

	struct findings advice;
	/* what the nearest legal values of each problem give */
	struct whatif_cost mend[MAX_FINDINGS][MAX_NEAREST];
	struct whatif_way way; /* out, where none of them is legal; turns 0: none */
	struct whatif strip;
	int strip_knob; /* index in knob_table, -1 = none */
	struct whatif_arrow arrow[MAX_KNOBS];
	bool arrow_known[MAX_KNOBS]; /* it is up to date */
	bool advice_done;

	struct history history;

	enum pane pane;
	int row; /* in the list of knob rows */
	int first_row;
	int revealed; /* knob shown although it does nothing here, -1 = none */
	/* knobs that keep their row: they did something since this was chosen */
	bool stays[MAX_KNOBS];
	struct {
		char model[MAX_NAME], cluster[MAX_NAME], stack[MAX_NAME];
		int mode;
	} stays_for;
	unsigned folded; /* bit per knob group */
	enum view_id view;
	/* what lies under Help and Explain, and where the focus was there */
	struct place below[MOST_LAYERS];
	int layers;
	struct view_state state[VIEW_COUNT];
	char explained[MAX_KEY]; /* key of the number in Explain ... */
	bool asked;              /* ... that somebody asked for, or else ... */
	int explained_of;        /* ... what this view is about */

	enum mode mode;
	enum prompt_kind prompt;
	int prompt_argument;
	struct field field;
	bool asking;    /* whether a file may be overwritten */
	char found[64]; /* what was last looked for */
	int found_at;   /* in all that it may mean */
	struct picker picker;

	char message[512];
	enum role message_role;
	bool message_stays; /* while a knob is turned once, which shows what it means */
	char file[512];
	/* Of another tool's file that was opened: what its exports keep. NULL: none. */
	struct import_report *kept;
	struct preview
		preview; /* of the export under the cursor (explorer/preview.c) */
	char *copied; /* for the clipboard; the terminal's owner takes and frees it */
	int width, height; /* of the last frame */
	bool mouse_toggled, save_failed;
	struct session session; /* that is kept, once session_begin() took one */

	/* the search behind the view Search, made when it is first shown */
	struct search *search;
	int threads; /* of it; 0 = all processors, 1 = the same counts every time */
	bool search_stale; /* the scenario has changed since */
	enum objective objective;
	char filter[MAX_FILTER];
	/* knobs that a taken plan has changed are lit until the next change */
	bool lit;
	struct scenario lit_against;

	/* the step played item by item, for the view Timeline (explorer/play.c) */
	struct play *play, *play_before; /* of the pinned baseline; among these: */
	struct play *played[MOST_PLAYS];
	bool play_stale;
	unsigned plays, looks; /* made so far, and looked at */
	bool playing;
	int speed; /* index in the table of speeds */

	struct follow *follow; /* what was reckoned before (explorer/follow.h) */
	struct load *load;     /* a server under other loads (explorer/load.h) */
	struct last *last; /* what the last plan that ran showed (explorer/last.h) */
	struct last *last_beside; /* and in the view beside the open one */

	struct course *course; /* a lesson that is open (explorer/course.h), or NULL */
	struct contest *contest; /* a challenge that is played, or NULL */
	bool offers; /* lessons, to somebody who starts it for the first time */

	struct estimate *scratch;
	/* What the last frame has put where; written by who draws, through the canvas.
	 */
	struct spots *drawn, *drawn_beside;
	const struct spots *spots; /* the same for all others */
	/* the view beside the open one, where the screen is wide (explorer/beside.c) */
	enum beside beside;
	const struct spots *spots_beside;
	/* Overview is open or beside what is: strip and advice stand there alone */
	bool overview_shown;
};

/* False if memory runs out. Starts on Overview with these values. */
bool explorer_init(struct explorer *explorer, const struct scenario *scenario);
void explorer_free(struct explorer *explorer);
/* Act on one key or click; returns CHANGED_ bits. */
unsigned explorer_handle(struct explorer *explorer, struct action action);
/* Text from the clipboard, its first bytes and how many it had: goes where text is
 * typed, and nowhere else. */
unsigned explorer_paste(struct explorer *explorer, const char *text, size_t bytes);
/* Whether keys are characters: in a field, and in a lesson, which has keys of its own.
 */
bool explorer_is_typing(const struct explorer *explorer);
/* Recompute what the changes call for; explorer_handle() does not. */
void explorer_update(struct explorer *explorer);
/* One slice of the work that may follow a frame; true while there is more. */
bool explorer_idle(struct explorer *explorer);
/* Nothing of that work is left. */
bool explorer_is_settled(const struct explorer *explorer);
/* Does it before the frame as far as a few milliseconds go: then a key is answered by
 * one. */
void explorer_settle(struct explorer *explorer);
/* Notes where it put what can be pointed at, and how large it was. */
void explorer_draw(struct explorer *explorer, struct canvas *canvas);

/* Take over a scenario as one step that can be undone. */
unsigned explorer_change(struct explorer *explorer, const struct scenario *to,
			 const char *what);
/* What the values of the knob under the cursor would give, anew. */
void explorer_strip(struct explorer *explorer);
unsigned explorer_undo(struct explorer *explorer, bool redo);
/* Pins the open plan as the baseline, or lets go of it. */
unsigned explorer_pin(struct explorer *explorer);
void explorer_say(struct explorer *explorer, enum role role, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What was understood of another tool's file. */
void explorer_say_read(struct explorer *explorer, const struct import_report *report);
/* What was chosen to begin with, if anything was. */
void explorer_say_start(struct explorer *explorer, const struct start *start);
/* Explain is about this number, wherever it stands. */
void explorer_point_out(struct explorer *explorer, const char *key);
/* Layers and keys (explorer/focus.c). Open the explanation of a number. */
unsigned explorer_explain(struct explorer *explorer, const char *key);
unsigned explorer_show(struct explorer *explorer, enum view_id view);
/* Help, Explain and the glossary lie over the view that they were opened from: Esc and
 * q go back to it. */
bool view_is_layer(enum view_id view);
/* The view under the layer that is open; the open view where there is none. */
enum view_id explorer_view_below(const struct explorer *explorer);
/* The knob under the cursor of the knob pane, or NULL. */
const struct knob *explorer_knob(const struct explorer *explorer);

/* Knob pane (explorer/knobs.c). */
int knob_rows(const struct explorer *explorer, struct knob_row rows[MAX_ROWS]);
/* Of the row under the cursor, where it is no knob, what it is and what its keys do; of
 * a stack as an old release had it, what was otherwise. */
void knob_rows_note(const struct explorer *explorer, char *out, size_t size);
/* explorer/knobs_draw.c */
void knobs_draw(const struct explorer *explorer, struct canvas *canvas,
		struct rect rect);
unsigned knobs_act(struct explorer *explorer, struct action action);
/* Move the cursor to this knob, unfolding its group. */
void knobs_focus(struct explorer *explorer, const struct knob *knob);
/* Rows that are there keep their place while knobs are turned: a pipeline of one stage
 * leaves those of the pipeline dimmed. Another model, cluster, stack or mode begins
 * anew. */
void knobs_keep_rows(struct explorer *explorer);
/* Sets how many micro-batches there are, at least 1: the global batch follows. */
unsigned knobs_set_micro_batches(struct explorer *explorer, int64_t count);
/* To the row that turns how many micro-batches there are. */
unsigned knobs_focus_micro_batches(struct explorer *explorer);
/* A scenario that has just become a server's gets what serve_begin() sets. */
void knobs_begin(struct explorer *explorer, struct scenario *to);
/* The row under the cursor is none of a knob and turns all the same: micro-batches. */
bool explorer_turns(const struct explorer *explorer);
unsigned knobs_set(struct explorer *explorer, const struct knob *knob, double value);
/* Of a server: from requests that are held to arrivals at their rate, and back. */
unsigned knobs_switch_loop(struct explorer *explorer);

/* A click or the wheel, by what is there, whichever pane has the focus
 * (explorer/mouse.c). */
unsigned mouse_act(struct explorer *explorer, struct action action);
/* A key or click to the open view: to its numbers and rows. */
unsigned explorer_give_view(struct explorer *explorer, struct action action);
/* The action that a click on this place stands for; ACTION_NONE if it is none. */
struct action mouse_press(const struct explorer *explorer, int x, int y);
bool rect_holds(struct rect rect, int x, int y);
/* Notes a place that stands for a key. */
void add_press(struct canvas *canvas, struct rect rect, struct action action);

/* A screen smaller than this keeps nothing but the main numbers (explorer/small.c). */
enum { LEAST_WIDTH = 60, LEAST_HEIGHT = 16 };
void draw_too_small(const struct explorer *explorer, struct canvas *canvas);

/* What the keys do here, as much as there is room for; each can be clicked on
 * (explorer/footer.c). */
void footer_draw(const struct explorer *explorer, struct canvas *canvas, int y);

/* Two views side by side (explorer/beside.c). */
enum { BESIDE_WIDTH = 160 };
/* The view that stands beside the open one on a screen so wide; -1: none. */
int beside_view(const struct explorer *explorer, int width);
/* Cuts the place of views in two; returns the part of the view beside: Explain stands
 * on the right, even when it is open and the view under it is beside. */
struct rect beside_divide(const struct explorer *explorer, struct rect *view, int id);
void beside_draw(struct explorer *explorer, struct canvas *canvas, struct rect rect,
		 int id);
/* A click or the wheel there. */
unsigned beside_act(struct explorer *explorer, struct action action);
/* The next one, or the reason why there is none. */
unsigned beside_next(struct explorer *explorer);
/* Until somebody asks for a number, Explain begins with the one that the view beside it
 * or below it is about. */
void beside_begin(struct explorer *explorer);
/* Explain shows what the cursor is on. */
void beside_follow(struct explorer *explorer);

/* Prompts (explorer/prompt.c). */
unsigned prompt_open(struct explorer *explorer, enum prompt_kind kind, int argument,
		     const char *text);
unsigned prompt_act(struct explorer *explorer, struct action action);
void prompt_draw(const struct explorer *explorer, struct canvas *canvas, int y);
unsigned prompt_find(struct explorer *explorer, int direction);

/* A timeline with its memory. Where there is none, why. */
struct play {
	struct scenario scenario;
	unsigned looked; /* the higher, the later */
	void *room;
	size_t bytes;    /* of it */
	unsigned number; /* no other one has it */
	bool good;
	struct timeline timeline;
	struct timeline_problem problem;
};

void play_begin(struct explorer *explorer);
/* All of the step is shown again; false: it was. */
bool play_end(struct explorer *explorer);
/* A key about playing, or a tick of it. */
unsigned play_act(struct explorer *explorer, struct action action);
/* Milliseconds to the next tick; 0: nothing plays. */
int play_every_ms(const struct explorer *explorer);
/* Events a second. */
int play_speed(const struct explorer *explorer);
void spots_free(struct spots *spots);
/* Forgets all but what is kept from frame to frame. */
void spots_clear(struct spots *spots);

/* Plays the open plan, and the pinned one, if they have changed. */
void play_refresh(struct explorer *explorer);
void play_forget(struct explorer *explorer);

/* Writes the open scenario in this form, against the pinned one where a report can be;
 * to be freed. NULL: out of memory. */
char *preview_write(const struct explorer *explorer, int format);
/* Makes the text shown that of this format; -1 forgets it. */
void preview_show(struct explorer *explorer, int format);
void preview_scroll(struct explorer *explorer, enum action_kind kind, int height);
void preview_draw(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect);
/* Hands the text to the clipboard. */
unsigned preview_copy(struct explorer *explorer);

/* The search (explorer/search.c): starts anew when the scenario has changed. */
void search_begin(struct explorer *explorer);
/* One slice; true while there is more. */
bool search_slice(struct explorer *explorer);
/* Holds the plan under the cursor, or the one that the filter names, against the best.
 */
void search_compare_chosen(struct explorer *explorer);
/* Opens the row under the cursor, if others like it are folded into it. */
bool search_open_row(struct explorer *explorer);
bool search_can_open_row(const struct explorer *explorer);
void search_forget(struct explorer *explorer);
/* Puts the rows in order after the sort or the filter has changed. */
void search_arrange_rows(struct explorer *explorer);
/* Whether this phase is reached, with all before it: for who does not wait for the
 * rest. */
bool search_has_come_to(const struct explorer *explorer, enum search_phase phase);
/* The plan under the cursor of the table; NULL if there is none. */
const struct planner_found *search_chosen(const struct explorer *explorer);

/* The workspace (explorer/session.c). */
/* Takes a session (presets/session.h; wanted 0: any) and says what is unusual about it;
 * go_on: shows what it holds. False with the error if the wanted one can't be had. */
bool session_begin(struct explorer *explorer, int wanted, bool go_on,
		   struct error *error);
bool session_save(const struct explorer *explorer, struct error *error);
/* Runs the explorer on the terminal; returns the exit status. */
struct terminal_options;
int explorer_run(struct explorer *explorer, const struct terminal_options *options);

#endif
