/* nearest.h -- the name that was probably meant.
 *
 * hg_nearest feeds candidates one at a time, so that they may come from several lists:
 *     struct hg_nearest near = {.name = "contrst"};
 *     for (...) hg_nearest_try(&near, candidate);
 *     if (near.best) ... "did you mean '%s'?"
 */
#ifndef HG_NEAREST_H
#define HG_NEAREST_H

#include <stddef.h>

struct hg_nearest {
    const char *name;  /* what was written */
    const char *best;  /* the closest candidate within reach, or NULL; borrowed */
    size_t distance;   /* of best */
};

/* Distance: insertions, deletions, substitutions and swaps of neighbours (Damerau 1964, restricted
 * form), case ignored at half price.  Within reach: at most a third of the length, at least one. */
void hg_nearest_try(struct hg_nearest *n, const char *candidate);

#endif
