#include "tests/support/close.h"

#include <math.h>

void close_check(double actual, double expected, double tolerance, const char *what,
		 const char *file, int line)
{
	if (fabs(actual - expected) <= tolerance * fabs(expected))
		return;
	print_error("%s is %.12g, expected %.12g (relative tolerance %g)\n", what,
		    actual, expected, tolerance);
	_fail(file, line);
}
