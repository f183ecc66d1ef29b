/* options.h - words "KEY:VALUE" of a title. */
#ifndef TESTS_NUMBERS_OPTIONS_H
#define TESTS_NUMBERS_OPTIONS_H

#include <stdbool.h>

bool option_given(const char *title, const char *key);
/* The number behind "KEY:"; without one, `usual`. */
double option_number(const char *title, const char *key, double usual);
/* The word behind "KEY:" up to a blank, "" without one; it stays until the next call.
 */
const char *option_word(const char *title, const char *key);

#endif
