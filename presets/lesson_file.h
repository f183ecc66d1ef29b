/* lesson_file.h - lessons as YAML: presets/lessons/NAME.yaml, a user's folder first.
 *
 * presets/lessons/README.md explains the keys. What is said of a file names its line
 * and column.
 */
#ifndef PRESETS_LESSON_FILE_H
#define PRESETS_LESSON_FILE_H

#include "engine/lesson/lesson.h"
#include "presets/document.h"
#include "presets/error.h"

/* By name or path; number 9 is the ninth lesson. The struct is large: not on a stack.
 */
bool lesson_read(struct lesson *out, const char *name, struct error *error);
bool lesson_from(struct lesson *out, const struct document *document, const char *name,
		 struct error *error);
/* A fault of a lesson as FILE:LINE: what (column N). */
void lesson_fault_say(const struct lesson_fault *fault, const char *file,
		      struct error *error);
/* The names of all lessons in the order of the course; returns how many. */
int lesson_names(char (*names)[MAX_NAME], int room);
/* "gpt3-175b ...: 32.5 s a step measured, 31.9 s computed (source)" of a published
 * plan; false if it measured nothing. */
bool lesson_run_text(const char *plan, char *out, size_t size);

#endif
