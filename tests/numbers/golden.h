/* golden.h - a file of golden numbers against what the program says now.
 *
 * Lines "= TITLE" begin a block, lines "KEY VALUE" are its figures; '#' begins a
 * remark. The titles are the list of what is computed.
 */
#ifndef TESTS_NUMBERS_GOLDEN_H
#define TESTS_NUMBERS_GOLDEN_H

#include <stdbool.h>

#include "tests/numbers/figures.h"

enum { GOLDEN_TOLD = 20 }; /* figures that moved are printed one by one */

struct golden {
	int figures, moved;
};

/* Every block of the file anew. What moved is printed; with SHARDSCOPE_WRITE_NUMBERS
 * set the file is written, and what did not move stays as it was to the last digit. */
void golden_check(struct golden *golden, const char *path, figures_of *figures);
/* Whether the file has a block of that title. */
bool golden_has(const char *path, const char *title);
/* An empty block of that title at the end of the file. */
void golden_begin(const char *path, const char *title);

#endif
