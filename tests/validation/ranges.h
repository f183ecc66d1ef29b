/* ranges.h - between which factors of a prediction the truth will lie for runs of a
 * source that nobody has seen. */
#ifndef TESTS_VALIDATION_RANGES_H
#define TESTS_VALIDATION_RANGES_H

#include <stdbool.h>

/* Runs of one kind, each met by constants that its part (a source) had no say in. */
struct left_out_runs {
	double *error; /* log(measured / predicted) */
	int *part;
	int count;
};

bool ranges_room(struct left_out_runs *runs, int count);
void ranges_add(struct left_out_runs *runs, int part, double error);
void ranges_free(struct left_out_runs *runs);

struct learned {
	double low, high; /* of error: 80 % of the runs of a further source */
	int parts;
};

/* The tenths at both ends, as much wider as few sources say little of a further one: by
 * Student's t with one degree of freedom less than sources over the normal
 * distribution's, and by sqrt(1 + 1 / sources), as any interval for a further
 * observation is (Student 1908; Geisser, Predictive Inference, 1993, section 2.1).
 * without: a part that is not learned from, or -1. False: too few, fewer than three
 * sources. */
bool ranges_learn(const struct left_out_runs *runs, int without, struct learned *out);
/* Share of the runs that a range learned on all other sources holds. */
double ranges_held(const struct left_out_runs *runs);

#endif
