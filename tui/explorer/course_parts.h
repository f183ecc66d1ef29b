/* course_parts.h - what the parts of a lesson share: course.c changes its state,
 * course_keys.c decides when. */
#ifndef TUI_EXPLORER_COURSE_PARTS_H
#define TUI_EXPLORER_COURSE_PARTS_H

#include "tui/explorer/course.h"

/* The open step, and what was answered to it. */
const struct lesson_step *course_step(const struct course *course);
struct answer *course_claim(struct course *course);
bool course_is_question(const struct lesson_step *step);
bool course_is_goal(const struct lesson_step *step);
/* A goal is reached, and can still be reached better. */
bool course_contests(const struct course *course);

void course_enter(struct course *course, enum course_phase phase);
/* The step's text, on its plan before the turn. */
void course_start_step(struct explorer *explorer);
void course_begin_turn(struct explorer *explorer);
/* A step that was answered before is shown as it ended. */
void course_reveal_again(struct explorer *explorer);
/* To the next step, or the end. */
unsigned course_advance(struct explorer *explorer);
/* The list of lessons; its cursor is on the first that is not done. */
void course_list(struct course *course);
/* The explorer on this plan, as if it had been opened. */
void course_show_plan(struct explorer *explorer, const struct scenario *scenario);
/* Progress, into the user's folder. */
void course_save(struct explorer *explorer);

#endif
