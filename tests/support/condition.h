/* condition.h - conditions between arguments, as tests/arguments/conditions.csv words
 * them.
 *
 * "A -> B": if A then B. Names, quoted words, numbers, none, true, false; and, or, not,
 * in, comparisons, + - * // %, len(), max(). What is not known makes a condition
 * unknown, unless the rest decides it.
 */
#ifndef TESTS_SUPPORT_CONDITION_H
#define TESTS_SUPPORT_CONDITION_H

#include <stdbool.h>

enum cell_kind { CELL_UNKNOWN, CELL_NONE, CELL_NUMBER, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	double number;  /* 0 and 1 for false and true */
	char text[512]; /* a list is words joined by spaces */
};

enum verdict { VERDICT_NO, VERDICT_YES, VERDICT_UNKNOWN, VERDICT_GARBLED };

struct cell cell_number(double number);
struct cell cell_text(const char *text);
enum verdict condition_judge(const char *text,
			     struct cell (*lookup)(const void *context,
						   const char *name),
			     const void *context);

#endif
