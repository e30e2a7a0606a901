/* nearest.h -- the name that was probably meant: the same rule for models, configurations and command lines.
 *
 *     struct nearest near = {.name = "contrst"};
 *     for (...) nearest_offer(&near, candidate);
 *     if (near.best) ... "did you mean '%s'?"
 */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>

/* Twice the number of letters to insert, delete, replace or swap with the neighbour to turn a into b (optimal string
 * alignment, Damerau 1964). A change of case counts as half a change, '-' equals '_', and f for ph is one change.
 * limit + 1 when the distance exceeds limit. */
size_t nearest_distance(const char *a, const char *b, size_t limit);

/* 1: the same word, when case does not matter and '-' is '_'. */
int same_word(const char *a, const char *b);

/* The best candidate seen so far; start with all zero but `name`. */
struct nearest {
    const char *name; /* what was written */
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
};

/* Offers a candidate. It is near enough when at most a third of the letters change (at least one, for names of two
 * letters or more), or when a name of at least three letters is its beginning. Of equally near ones the first in the
 * alphabet wins. */
void nearest_offer(struct nearest *n, const char *candidate);

/* The nearest of n candidates, or NULL. */
const char *nearest_of(const char *name, const char *const *candidate, size_t n);

#endif
