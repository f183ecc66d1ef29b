/* fault.h - the program with tests/faults/fault.c in it, and which call fails next.
 *
 * Of allocations, of which a command makes thousands in the same few hundred places
 * while the library is read, FAULTS=all tries each place: each way by which callers
 * come to one, its first time and, where asked, later ones fewer and fewer; of several
 * commands a place in the first that comes to it by the same last eight callers. Else a
 * sample of the places is tried.
 */
#ifndef TESTS_SUPPORT_FAULT_H
#define TESTS_SUPPORT_FAULT_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/support/run.h"

/* A folder of this test's own; the program with the library loaded, as a shell takes
 * it; the file that is made when a call has failed. */
extern char fault_home[], fault_program[1024], fault_mark[128];

/* Set up and tear down a group of tests. */
int fault_begin(void **state);
int fault_end(void **state);

/* Runs with FAULT=fault; the clock of a search is cut off. */
struct ran fault_run(const char *arguments, const char *fault);
/* Runs, and has the library write down by which ways memory is asked for. */
struct ran fault_run_noting(const char *arguments);
/* Where they stand: lines of a call's number and how often its way was come by. */
const char *fault_places(void);
/* Whether the chosen call was made, and failed, since this was asked last. */
bool fault_was_marked(void);
bool fault_is_all(void);

/* Last callers of places that were tried already, with FAULTS=all. */
enum { FAULT_WAYS = 1 << 16 };
struct fault_ways {
	unsigned long long hash[FAULT_WAYS];
};

/* The calls that fail one after the other: those of a list, or as many as there are. */
struct fault_turns {
	bool later;              /* the later times of a place, too */
	FILE *places;            /* of malloc; NULL: counted up */
	struct fault_ways *ways; /* NULL: none is left out */
	long n, stride, ending;
};

/* Of malloc the places noted last: all, or about `few` from all over and the last ones,
 * `last` of them, where a command prints and saves. */
struct fault_turns fault_turns(const char *call, bool later, int few, int last);
/* The number of the next call to fail; 0: all had their turn. `failed`: the last one
 * was made at all. Of places the sample takes the first times alone. */
long fault_next(struct fault_turns *turns, bool failed);

/* Says what is wrong and goes on; fault_check() fails the test if anything was. */
void fault_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fault_check(void);

/* Text of at most 1 MB, empty if there is no such file; free it. */
char *fault_read(const char *path);
void fault_write(const char *path, const char *text);

#endif
