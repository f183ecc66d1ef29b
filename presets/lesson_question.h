/* lesson_question.h - what the reader of lessons shares between its files. */
#ifndef PRESETS_LESSON_QUESTION_H
#define PRESETS_LESSON_QUESTION_H

#include "engine/lesson/lesson.h"
#include "presets/document.h"

struct lesson_reading {
	const struct document *document;
	struct error *error;
	struct lesson *lesson;
	struct lesson_step *step; /* that is read */
};

struct lesson_key {
	const char *key;
	bool (*read)(struct lesson_reading *reading, const struct node *node);
};

/* All keys of a mapping by a table that ends with a row of zeros; `what` is said of
 * what is no mapping. */
bool lesson_map(struct lesson_reading *reading, const struct node *map,
		const struct lesson_key *keys, const char *what);
bool lesson_prose_read(struct lesson_reading *reading, const struct node *node,
		       struct lesson_prose *out);
bool lesson_formula_read(struct lesson_reading *reading, const struct node *node,
			 struct lesson_formula *out);
bool lesson_knob_read(struct lesson_reading *reading, const struct node *node,
		      const char *name, const struct knob **out);
/* False, with what is wrong at the node's place. */
bool lesson_complain(struct lesson_reading *reading, const struct node *node,
		     const char *what);
bool lesson_is(struct lesson_reading *reading, const struct node *node,
	       enum node_kind kind, const char *what);
/* So many columns further. */
int lesson_place_move(int place, int by);

/* All steps (lesson_step.c). */
bool lesson_steps_read(struct lesson_reading *reading, const struct node *list);
/* `ask` and `why` of a step (lesson_question.c). */
bool lesson_question_read(struct lesson_reading *reading, const struct node *map);
bool lesson_reason_read(struct lesson_reading *reading, const struct node *map);

#endif
