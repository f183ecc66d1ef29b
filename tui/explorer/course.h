/* course.h - a lesson in the explorer: the screen stays what it is, a pane below holds
 * text, question and answer, and until there is an answer what would give it away is
 * hidden and locked.
 *
 * A course keeps what was open before it, and gives it back when it is left.
 */
#ifndef TUI_EXPLORER_COURSE_H
#define TUI_EXPLORER_COURSE_H

#include "engine/glossary/glossary.h"
#include "engine/lesson/lesson.h"
#include "presets/answers.h"
#include "tui/explorer.h"

enum course_phase {
	COURSE_LIST,    /* which lesson? */
	COURSE_LOOK,    /* the step's text */
	COURSE_ASK,     /* the prediction is awaited */
	COURSE_TURN,    /* knobs are turned */
	COURSE_REVEAL,  /* what it is */
	COURSE_WHY,     /* the reason is awaited */
	COURSE_BECAUSE, /* the reason, and what was measured */
	COURSE_END
};

/* To somebody who has never been here; any other key explores. */
#define COURSE_OFFER \
	"First time here? Enter opens the lessons, ten minutes each; later L does."

enum { MOST_LESSONS = 64, MOST_BLOCKS = 24 };

/* What was open when the course began. */
struct course_kept {
	struct scenario scenario, origin, baseline;
	struct estimate before;
	struct history history;
	bool pinned, moved;
	int before_mode, row, revealed;
	unsigned folded;
	enum view_id view;
	enum pane pane;
	char file[512];
};

struct course {
	enum course_phase phase;
	int step, first; /* first: lines of the pane that are scrolled out */
	int word;        /* of course_words(), the next to be shown */
	char seed[MAX_NAME];
	struct lesson lesson;
	struct scenario drawn, solution; /* the step's after, as the lesson turns it */
	struct lesson_scene scene;
	double answer;      /* of the step's question */
	struct grade grade; /* COURSE_END */
	struct {
		struct planner_problem problem; /* of a goal with axes */
		struct planner_found found;
		double score, kept; /* of the plan on screen, and the best so far */
	} best;
	struct answers answers;
	struct field field;
	bool again;  /* the first prediction was not right: once more */
	bool keeps;  /* progress is saved */
	bool silent; /* no pane: for sheets */
	/* COURSE_LIST */
	int lessons, cursor;
	char name[MOST_LESSONS][MAX_NAME];
	char title[MOST_LESSONS][LESSON_CHOICE];
	char state[MOST_LESSONS][24]; /* "done", "step 2 of 3" */
	struct course_kept kept;
};

/* A paragraph of the pane, links of the glossary in brackets. */
struct course_block {
	enum role role;
	char text[2 * LESSON_TEXT];
};

/* Opens a lesson where it was left; NULL: the list of lessons. seed may be NULL. False
 * with the error. */
bool course_open(struct explorer *explorer, const char *name, const char *seed,
		 struct error *error);
/* Back to what was open before. */
unsigned course_leave(struct explorer *explorer);
void course_free(struct explorer *explorer);

/* A step in one of its phases, whatever was answered: for sheets. */
void course_go_to(struct explorer *explorer, int step, enum course_phase phase);

/* A key while a course is open. *passes: it is for the explorer, as this action. */
unsigned course_act(struct explorer *explorer, struct action *action, bool *passes);
/* The scenario has changed: is that the turn? */
void course_follow(struct explorer *explorer);
/* Whether what would give the answer away is hidden. */
bool course_hides(const struct explorer *explorer);
/* Whether the plan may become this; says why not. */
bool course_allows(struct explorer *explorer, const struct scenario *to);
/* Whether a knob can't be turned in this step. */
bool course_locks(const struct explorer *explorer, const struct knob *knob);
/* Whether undo, search and the like may be used; says why not. */
bool course_allows_tricks(struct explorer *explorer);

/* What the pane says (course_text.c); how many blocks. */
int course_blocks(const struct explorer *explorer, struct course_block *blocks);
/* "Lesson 9, The pipeline bubble: 2 of 3, predict". */
void course_title(const struct explorer *explorer, char *out, size_t size);
/* What the keys do, as footer.c takes it. */
const char *course_keys(const struct explorer *explorer);

/* The words of the glossary that the pane links to; how many. */
int course_words(const struct explorer *explorer,
		 const struct glossary_word *words[GLOSSARY_MAX_LINKS]);

/* Columns of the pane where it stands at the right: from 160 on; else 0
 * (course_pane.c). */
int course_side(const struct explorer *explorer, int width);
/* Rows of the pane below the views on a smaller screen. */
int course_rows(const struct explorer *explorer, int width, int height);
void course_draw(struct explorer *explorer, struct canvas *canvas, struct rect rect);

/* Steps of the conversation, for keys and lines alike. */
unsigned course_next(struct explorer *explorer);
unsigned course_back(struct explorer *explorer);
unsigned course_hint(struct explorer *explorer);
unsigned course_show(struct explorer *explorer);
/* Whether a choice is named by its number, and not by the value that it is. */
bool course_chooses(const struct lesson_question *question);
/* What was typed is the answer; empty: "I don't know". */
unsigned course_answer(struct explorer *explorer, const char *text);

#endif
