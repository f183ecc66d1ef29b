/* formula.h - arithmetic over named values, as Explain prints it.
 *
 * One text serves three readers. FORMULA() makes of it a function that the estimate
 * calls and the string that a person reads; formula_evaluate() computes the string, so
 * that a test (or a script that read `explain --json`) gets the same number from it.
 *
 * The language: numbers, symbols (a letter, then letters, digits, _), + - * / and
 * brackets, < <= > >= == != (1 or 0), min and max of two or more, ceil, floor, sqrt,
 * exp, ln and if(condition, then, else). Only the branch that is taken decides whether
 * a result is finite. With formula_compute() names may be joined by points (tp.bytes),
 * and conditions by `and` and `or`, of which `and` binds closer.
 */
#ifndef ENGINE_BASE_FORMULA_H
#define ENGINE_BASE_FORMULA_H

#include <math.h>
#include <stdbool.h>

#include "engine/base/plain.h"

/* FORMULA(weights, (double b, double D, double d), b * D / d) defines
 * weights_value(b, D, d) and weights_text, "b * D / d". `if` being a word of C, it is
 * either(condition, a, b) in there; formula_words() writes it as if(). */
#define FORMULA(name, symbols, expression)        \
	static inline double name##_value symbols \
	{                                         \
		return expression;                \
	}                                         \
	static const char name##_text[] = #expression

static inline double min(double a, double b)
{
	return lesser(a, b);
}

static inline double max(double a, double b)
{
	return larger(a, b);
}

static inline double ln(double a)
{
	return log(a);
}

static inline double either(bool condition, double yes, double no)
{
	return condition ? yes : no;
}

enum {
	FORMULA_MAX_TEXT = 768,
	FORMULA_MAX_DEPTH = 32,
	FORMULA_MAX_SYMBOL = 31,
	FORMULA_MAX_NAME = 63
};

/* A symbol of a formula and the key of the number that it stands for; with a point in
 * front, of a number of the same place. */
struct formula_link {
	const char *symbol, *meaning, *key;
};

/* The text of a FORMULA in the words of the language. False if it has no room. */
bool formula_words(const char *text, char out[FORMULA_MAX_TEXT]);

struct formula_symbol {
	const char *name;
	double value;
};

/* What is wrong with a text, and at which byte of it. */
struct formula_fault {
	const char *reason; /* "no such symbol" */
	int at;
};

/* Compute the text with these values. False with *fault filled (it may be NULL). */
bool formula_evaluate(const char *text, const struct formula_symbol *symbols, int count,
		      double *value, struct formula_fault *fault);
/* Who knows the values by name; false if there is no such name. */
struct formula_names {
	bool (*find)(void *context, const char *name, double *value);
	void *context;
};
/* The same with names that are looked up while the text is read. */
bool formula_compute(const char *text, const struct formula_names *names, double *value,
		     struct formula_fault *fault);
/* Whether the symbol stands in the text: a term that a formula does not use is no term
 * of it. */
bool formula_uses(const char *text, const char *symbol);

#endif
