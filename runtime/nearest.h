/* nearest.h -- the name that was probably meant. */
#ifndef FIT_NEAREST_H
#define FIT_NEAREST_H

#include <stddef.h>

/* Letters to insert, delete, replace or swap with the neighbour to make b from a (optimal string
 * alignment, Damerau 1964); case does not matter and '-' is '_'.  Returns limit + 1 when there are
 * more than limit. */
size_t fit_edit_distance(const char *a, const char *b, size_t limit);

/* 1: the same word, when case does not matter and '-' is '_'. */
int fit_same_word(const char *a, const char *b);

/* The best candidate seen so far; start with all zero but `name`. */
struct fit_nearest {
    const char *name; /* what was written */
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
};

/* Offers a candidate; near enough is 1 change for names of up to 3 letters, 2 to 11, 3 beyond. */
void fit_nearest_offer(struct fit_nearest *n, const char *candidate);

/* The nearest of n candidates, or NULL. */
const char *fit_nearest_of(const char *name, const char *const *candidate, size_t n);

#endif
