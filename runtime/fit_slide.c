/* fit_slide.c -- out of the ends of the valleys of rates A t^E + C.
 *
 * Near E = 0 amplitude and offset may grow with opposite signs, A -> -C -> infinity at E -> 0, and the rate hardly
 * changes: a long valley, whose far end is where a bound cuts it.  A descent that entered it on the wrong side of E
 * stops there.  When A or C ends on a bound, other exponents are tried with A and C such that the rate keeps its
 * values at two times of the measurement; the better one on each side of E is followed.
 */
#include "fit_impl.h"
#include "valley.h"

#include <math.h>
#include <string.h>

enum { EXPONENTS = 16, STEPS = 40 };

/* The best exponent in (low, high) into best; its cost, or INFINITY. */
static double scan(struct fit_job *f, const struct fit_rate *r, double low, double high, double *best)
{
    double least = INFINITY;
    for (size_t i = 0; i < EXPONENTS; i++) {
        double exponent = low + (high - low) * ((double)i + 0.5) / EXPONENTS;
        memcpy(f->theta, f->best, f->p * sizeof *f->theta);
        if (!fit_valley_point(r, &f->ds->layout, f->lower, f->upper, f->best, exponent, f->theta) ||
            fit_objective_value(f->obj, f->theta) != FIT_EVAL_OK || !(f->obj->cost < least))
            continue;
        least = f->obj->cost;
        memcpy(best, f->theta, f->p * sizeof *best);
    }
    return least;
}

/* Follows the trial point in job->before for some steps, and to its end when it leads to something better. */
static int follow(struct fit_job *f, struct fit_outcome *o)
{
    memcpy(f->theta, f->before, f->p * sizeof *f->theta);
    fit_job_try(f, f->theta, STEPS);
    if (f->over || !(f->nlsq->cost < o->cost))
        return 0;
    if (f->nlsq->word == FIT_MAX_ITERATIONS)
        fit_job_optimise(f, f->theta, f->opt->max_iterations);
    fit_job_keep(f, o);
    return 1;
}

int fit_job_slide(struct fit_job *f, const struct fit_rate *r, struct fit_outcome *o)
{
    size_t a = r->amplitude, e = r->exponent, c = r->offset;
    double side[3] = {f->lower[e], f->best[e], f->upper[e]};
    int bends = f->upper[a] > f->lower[a] && f->upper[e] > f->lower[e] && f->upper[c] > f->lower[c];
    if (!bends || !isfinite(o->cost) || !(fit_job_on_bound(f, a, f->best) || fit_job_on_bound(f, c, f->best)))
        return 0;
    for (int k = 0; k < 2 && !f->over; k++)
        if (side[k + 1] > side[k] && isfinite(side[k + 1] - side[k]) &&
            isfinite(scan(f, r, side[k], side[k + 1], f->before)) && follow(f, o))
            return 1;
    return 0;
}
