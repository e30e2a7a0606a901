/* criteria.c -- the information criteria of Akaike and Schwarz; see criteria.h.
 *
 * With k parameters and n values
 *     AIC = -2 log L + 2 k          (Akaike, IEEE Trans. Automat. Control 19 (1974) 716)
 *     BIC = -2 log L + k log n      (Schwarz, Ann. Statist. 6 (1978) 461)
 * where -2 log L is, but for what is the same for all models of the same values,
 *     chi2             for normal errors that are known
 *     n log(RSS / n)   for normal errors of one deviation that is estimated; it counts as a parameter
 *     -2 log L         for a law of the errors that the model has
 * The values are taken as independent.  A difference of the BIC below 2 is hardly worth a mention, one above 10 very
 * strong (Kass and Raftery, J. Am. Stat. Assoc. 90 (1995) 773, section 3.2). */
#include "criteria.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_estimated(const struct front_result *r)
{
    return strcmp(r->noise, "residuals") == 0;
}

static int is_law(const struct front_result *r)
{
    return strcmp(r->noise, "law") == 0;
}

/* Deviations that are known are the same when they make the same chi2 of the same cost. */
static int same_noise(const struct front_result *a, const struct front_result *b)
{
    if (is_law(a) || is_law(b))
        return is_law(a) && is_law(b);
    if (is_estimated(a) || is_estimated(b))
        return is_estimated(a) && is_estimated(b);
    const double x = a->cost / a->chi2, y = b->cost / b->chi2;
    return fabs(x - y) <= 1e-9 * fmax(x, y);
}

/* NULL: they can be compared. */
static const char *obstacle(const struct front_result *const r[2], int same_data)
{
    if (!same_data)
        return "the data are different";
    if (r[0]->npoint != r[1]->npoint || strcmp(r[0]->selection, r[1]->selection) != 0)
        return "they are of different values of these data";
    for (int k = 0; k < 2; k++) {
        if (r[k]->package || !r[k]->noise[0] || isnan(r[k]->nfree))
            return "one of the results does not say how its errors were found";
        if (strcmp(r[k]->loss, "linear") != 0)
            return "a robust loss is no likelihood; fit both with --loss linear";
        if (strcmp(r[k]->scaling, "hierarchical") == 0)
            return "contrasts of a population are no free parameters; fit both with another --scaling";
        if (r[k]->reweighted)
            return "the values were weighted by the residuals of each fit; give both the noise (--sigma)";
        if (r[k]->converged != 1)
            return "one of the two fits did not converge";
    }
    return same_noise(r[0], r[1]) ? NULL : "the errors of the values are not the same in both";
}

int front_criteria(const struct front_result *const r[2], int same_data, struct front_criteria out[2], char *why,
                   size_t size)
{
    const char *reason = obstacle(r, same_data);
    snprintf(why, size, "%s", reason ? reason : "");
    for (int k = 0; k < 2 && !reason; k++) {
        const double n = r[k]->npoint;
        struct front_criteria *c = &out[k];
        c->nparam = r[k]->nfree + is_estimated(r[k]);
        c->what = is_law(r[k]) ? "-2 log L" : is_estimated(r[k]) ? "n log(RSS/n)" : "chi2";
        c->minus_two_log_l = is_law(r[k])         ? -2 * r[k]->log_likelihood
                             : is_estimated(r[k]) ? n * log(2 * r[k]->cost / n) /* cost: RSS / 2 */
                                                  : r[k]->chi2;
        c->aic = c->minus_two_log_l + 2 * c->nparam;
        c->bic = c->minus_two_log_l + c->nparam * log(n);
    }
    return !reason;
}
