/* range.h -- declared ranges of numbers: a test, and the range in words. */
#ifndef COMMON_RANGE_H
#define COMMON_RANGE_H

#include <stddef.h>

/* The lower end of a range of positive numbers: the smallest one. */
#define RANGE_ABOVE_0 4.9406564584124654e-324

/* 1: x is finite and from lower to upper, both included; without lower < upper no range is declared. */
int range_holds(double lower, double upper, double x);

/* "above 0 rad", "at least 0", "at most 5 s", "from 0 to 1"; "" when no range is declared or every number is valid.
 * unit: NULL or "1": none. */
enum { RANGE_TEXT = 96 };
void range_text(double lower, double upper, const char *unit, char out[RANGE_TEXT]);

#endif
