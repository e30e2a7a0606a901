/* nearest.h -- the name that was probably meant: the same rule for models, configurations and command lines.
 *
 *     struct nearest near = {.name = "contrst"};
 *     for (...) nearest_offer(&near, candidate);
 *     if (near.best) ... "did you mean '%s'?"
 */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>

/* Twice the number of letters to insert, delete, replace or swap with the neighbour to make b from a (optimal string
 * alignment, Damerau 1964); another case is half a change, '-' is '_', and f for ph is one
 * change.  limit + 1 when it is more than limit. */
size_t nearest_distance(const char *a, const char *b, size_t limit);

/* 1: the same word, when case does not matter and '-' is '_'. */
int same_word(const char *a, const char *b);

/* The best candidate seen so far; start with all zero but `name`. */
struct nearest {
    const char *name; /* what was written */
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
};

/* Offers a candidate.  Near enough are changes of a third of the letters, of two letters or more at least one; or a
 * name of three letters at least that is the beginning.  Of equals the first in the alphabet. */
void nearest_offer(struct nearest *n, const char *candidate);

/* The nearest of n candidates, or NULL. */
const char *nearest_of(const char *name, const char *const *candidate, size_t n);

#endif
