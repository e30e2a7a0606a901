/* closure_diagonal.c -- transforms closures of one time, which share legs and so errors, into independent numbers.
 *
 * Errors to first order: a leg with relative error e = sigma / |V| adds e^2 s_i s_j to the covariance of those
 * closures i and j in which it occurs with signs s. Eigenvectors of the covariance are the rows of T (Blackburn et
 * al. 2020, section 4).
 *
 * A leg in one direction in closure i and in the opposite direction in closure j is the same measurement: its phase
 * has the opposite sign, its amplitude is the same. eht-imaging ignores this and omits the covariance of the two;
 * both choices are available (one_error_per_leg). */
#include "observation/closures_impl.h"

#include "math/linalg.h"

#include <math.h>

struct leg {
    int32_t row; /* signed */
    double sign, variance;
};

static struct leg leg_of(const struct fit_visibility *s, const struct fit_product_options *o,
                         const struct fit_product *p, size_t i, int k)
{
    int phase = p->nleg == 3;
    int32_t row = p->leg[i * (size_t)p->nleg + (size_t)k];
    size_t at = fit_leg_row(row);
    double e = s->sigma[at] / fit_closure_amplitude(s, at, !phase && o->debias);
    struct leg leg = {.row = row, .sign = phase || k < 2 ? 1 : -1, .variance = e * e};
    if (o->one_error_per_leg) {
        leg.sign = phase && row < 0 ? -1 : leg.sign;
        leg.row = row < 0 ? -row : row;
    }
    return leg;
}

/* Covariance of closures first + i and first + j. */
static double covariance(const struct fit_visibility *s, const struct fit_product_options *o,
                         const struct fit_product *p, size_t i, size_t j)
{
    double sum = 0;
    for (int k = 0; k < p->nleg; k++)
        for (int l = 0; l < p->nleg; l++) {
            struct leg a = leg_of(s, o, p, i, k), b = leg_of(s, o, p, j, l);
            if (a.row == b.row)
                sum += a.sign * b.sign * a.variance;
        }
    return sum;
}

/* T (m x m) and the roots of the eigenvalues of closures first .. first + m - 1. */
static enum fit_status diagonalise(const struct fit_visibility *s, const struct fit_product_options *o,
                                   const struct fit_product *p, size_t first, size_t m, double *T,
                                   struct fit_error *err)
{
    FIT_SCRATCH(a);
    double *w, *work = fit_take(&a, fit_eigen_work(m), sizeof *work);
    FIT_TAKE_DOUBLES(&a, m, &w);
    if (a.failed)
        return fit_no_memory(err, "diagonal closures");
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            T[i * m + j] = covariance(s, o, p, first + i, first + j);
    if (fit_eigen(m, T, w, work) || !(w[0] > 0))
        return fit_fail(err, FIT_ERR_NUMERIC, "the covariance of %zu closures of one time has no positive eigenvalues",
                        m);
    for (size_t i = 0; i < m; i++)
        p->sigma[first + i] = sqrt(w[i]);
    return FIT_OK;
}

/* data <- T data */
static enum fit_status turn(double *data, size_t m, const double *T, struct fit_error *err)
{
    FIT_SCRATCH(a);
    double *c = fit_take_copy(&a, data, m, sizeof *c);
    if (!c)
        return fit_no_memory(err, "diagonal closures");
    for (size_t i = 0; i < m; i++)
        data[i] = fit_dot(m, T + i * m, c);
    return FIT_OK;
}

enum fit_status fit_closure_diagonal(const struct fit_visibility *s, const struct fit_product_options *o,
                                     struct fit_product *p, struct fit_error *err)
{
    double unit = p->nleg == 3 ? FIT_OBS_DEGREE : 1;
    size_t size = 0;
    for (size_t k = 0; k < p->nblock; k++)
        size += p->block[k] * p->block[k];
    if (!(p->T = fit_take(&p->arena, size, sizeof *p->T)))
        return fit_no_memory(err, "diagonal closures");
    double *T = p->T;
    for (size_t k = 0, first = 0; k < p->nblock; first += p->block[k], T += p->block[k] * p->block[k], k++) {
        enum fit_status st = diagonalise(s, o, p, first, p->block[k], T, err);
        if (st == FIT_OK)
            st = turn(p->data + first, p->block[k], T, err);
        if (st != FIT_OK)
            return st;
        for (size_t i = first; i < first + p->block[k]; i++)
            p->sigma[i] /= unit;
    }
    return FIT_OK;
}
