/* close.h - cmocka with the headers it needs, and relative equality of doubles. */
#ifndef TESTS_SUPPORT_CLOSE_H
#define TESTS_SUPPORT_CLOSE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* |actual - expected| <= tolerance * |expected|; both are printed on failure. */
#define assert_close(actual, expected, tolerance) \
	close_check((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

void close_check(double actual, double expected, double tolerance, const char *what,
		 const char *file, int line);

#endif
