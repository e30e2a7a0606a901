/* closures_impl.h -- shared by the files of data products. */
#pragma once

#include "observation/closures.h"

/* Sets of closures from the rows with use[row]: the legs of all, and the number of closures at each time. */
struct fit_closure_sets {
    size_t n, nblock, repeated;
    int32_t *leg;  /* n x nleg */
    size_t *block; /* nblock, each > 0 */
};

/* Storage belongs to a. */
enum fit_status fit_closure_sets(const struct fit_obs *obs, const unsigned char *use, int nleg, int maximal,
                                 struct fit_arena *a, struct fit_closure_sets *sets, struct fit_error *err);

/* An empty product; NULL: out of memory.  Its data, sigma and, of complex ones, imag for p->n rows. */
struct fit_product *fit_product_new(enum fit_product_kind kind);
enum fit_status fit_product_take(struct fit_product *p, struct fit_error *err);

/* Keeps the rows with keep[i]; blocks shrink, and empty ones vanish. */
void fit_product_keep(struct fit_product *p, const unsigned char *keep);

/* pvis and m: p's rows. */
enum fit_status fit_polarised_make(const struct fit_obs *obs, const struct fit_product_options *o,
                                   struct fit_product *p, struct fit_error *err);

/* Fills data, imag, sigma of closures from their legs; *snr (n) is taken from a. */
enum fit_status fit_closure_values(const struct fit_visibility *s, const struct fit_product_options *o,
                                   struct fit_product *p, double *snr, struct fit_error *err);

/* Replaces the closures of p by the diagonal set (phases and log amplitudes in the units of the products). */
enum fit_status fit_closure_diagonal(const struct fit_visibility *s, const struct fit_product_options *o,
                                     struct fit_product *p, struct fit_error *err);

/* |V| without the noise bias (debias) but not 0, or as it is. */
double fit_closure_amplitude(const struct fit_visibility *s, size_t row, int debias);

/* The row of a leg. */
static inline size_t fit_leg_row(int32_t leg)
{
    return (size_t)(leg < 0 ? -(int64_t)leg : leg) - 1;
}
