/* evidence.c -- see evidence.h. */
#include "leastsquares/evidence.h"

#include <math.h>
#include <string.h>

enum { MOST = 512, LEAST = 32 };
static const double NUMBERS = 4e6;

void fit_evidence_new(struct fit_evidence *e, size_t nparam, size_t nfull, struct fit_arena *a)
{
    *e = (struct fit_evidence){.nparam = nparam, .nfull = nfull};
    e->room = (size_t)fmin(fmax(NUMBERS / (double)(nfull + 1), LEAST), MOST);
    e->x = fit_take_unset(a, e->room * nfull, sizeof *e->x); /* a few of them are filled, as a rule */
    e->rise = fit_take_unset(a, e->room, sizeof *e->rise);
    e->own = fit_take_unset(a, e->room, sizeof *e->own);
}

const double *fit_evidence_at(const struct fit_evidence *e, size_t k)
{
    return e->x + k * e->nfull;
}

void fit_evidence_add(struct fit_evidence *e, const struct fit_objective *o, const double *theta, double own,
                      double inflated)
{
    if (e->n == e->room)
        return;
    double *x = e->x + e->n * e->nfull;
    memcpy(x, theta, e->nparam * sizeof *x);
    for (size_t k = e->nparam; k < e->nfull; k++)
        x[k] = fit_objective_linear(o, (k - e->nparam) / o->nlinear, (k - e->nparam) % o->nlinear);
    e->own[e->n] = own;
    e->rise[e->n++] = own * inflated;
}

void fit_evidence_append(struct fit_evidence *e, const struct fit_evidence *from, size_t first)
{
    if (from->n <= first)
        return;
    const size_t wanted = from->n - first, n = wanted < e->room - e->n ? wanted : e->room - e->n;
    memcpy(e->x + e->n * e->nfull, from->x + first * from->nfull, n * e->nfull * sizeof *e->x);
    memcpy(e->rise + e->n, from->rise + first, n * sizeof *e->rise);
    memcpy(e->own + e->n, from->own + first, n * sizeof *e->own);
    e->n += n;
}

void fit_evidence_beside(const struct fit_evidence *e, size_t which, double v, long beside[2])
{
    beside[0] = beside[1] = -1;
    for (size_t k = 0; k < e->n; k++) {
        double x = fit_evidence_at(e, k)[which];
        int side = x > v;
        if (beside[side] < 0 || fabs(x - v) < fabs(fit_evidence_at(e, (size_t)beside[side])[which] - v))
            beside[side] = (long)k;
    }
}

long fit_evidence_outside(const struct fit_evidence *e, size_t which, const struct fit_union *u, double slack)
{
    long lowest = -1;
    for (size_t k = 0; k < e->n; k++) {
        double x = fit_evidence_at(e, k)[which];
        int inside = 0;
        for (size_t i = 0; i < u->n; i++)
            inside |= x >= u->piece[i].lower - slack && x <= u->piece[i].upper + slack;
        if (!inside && (lowest < 0 || e->rise[k] < e->rise[lowest]))
            lowest = (long)k;
    }
    return lowest;
}
