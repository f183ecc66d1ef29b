/* figures.h - all figures of one scenario, one search or one simulation, by name. */
#ifndef TESTS_NUMBERS_FIGURES_H
#define TESTS_NUMBERS_FIGURES_H

#include "engine/plan/scenario.h"

enum { MAX_FIGURES = 400, MAX_FIGURE_KEY = 40, MAX_FIGURE_WORDS = 160 };

/* A number, or words where there are any. */
struct figure {
	char key[MAX_FIGURE_KEY];
	double value;
	/* What it is a part of, or a difference of: a billionth of a thousandth of that
	 * is nothing, whatever order a compiler adds in. */
	double scale;
	char words[MAX_FIGURE_WORDS];
};

struct figures {
	int count;
	struct figure item[MAX_FIGURES];
};

/* A number that is 0 is left out. */
void figures_add(struct figures *out, const char *key, double value, double scale);
void figures_say(struct figures *out, const char *key, const char *words);

/* A number of a word, which a table that grows does not change. */
double figures_word(const char *word);

/* "PLAN knob=value ..." or "MODEL+CLUSTER+STACK knob=value ...". Fails the test where
 * there is no such thing. Words with ':' or a list behind '=' are left to others. */
void figures_scenario(const char *title, struct scenario *out);

/* The figures of what a title says. */
typedef void figures_of(const char *title, struct figures *out);
figures_of figures_training, figures_serving, figures_simulated, figures_searched,
	figures_drawn;
figures_of figures_pipelined, figures_dealt, figures_asked;

#endif
