/* lesson.h - a lesson on a terminal of a given kind, with a home of its own. */
#ifndef TESTS_LESSON_H
#define TESTS_LESSON_H

#include "tests/support/vt.h"

/* How a lesson is opened; zero for what is left out. */
struct opening {
	int columns, rows;
	const char *term, *locale, *seed;
};

/* `shardscope learn NAME`, its files below `home`. */
struct vt *lesson_open(const char *home, const char *name,
		       const struct opening *opening);

#endif
