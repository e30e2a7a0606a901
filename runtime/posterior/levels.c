/* levels.c -- priors whose numbers are parameters: levels of a hierarchy; see posterior.h.
 *
 * z = (x - a)/b has a standard normal prior whatever a and b are. Where the data determine x poorly, z is nearly
 * independent of a and b, while x lies in a funnel that narrows with b (Neal, Ann. Stat. 31 (2003) 705); where the data
 * determine x well it is the other way round (Betancourt & Girolami 2015, arXiv:1312.0906).
 */
#include "posterior/posterior.h"

#include <math.h>

/* A level's standard deviation, relative to the errors of its members, above which the data are sufficiently
 * informative. */
static const double INFORMED = 5;
static const double LEAST_SPREAD =
    0.1; /* of the scatter that is seen: a level narrower than the errors of its members */

int fit_posterior_level_prior(const struct fit_posterior_coordinate *c, const double *theta, struct fit_prior *prior)
{
    double a = c->from[0] ? theta[c->from[0] - 1] : c->prior.a, b = c->from[1] ? theta[c->from[1] - 1] : c->prior.b;
    return b > 0 && fit_prior_init(prior, c->prior.kind, a, b, c->prior.lower, c->prior.upper);
}

double fit_posterior_level_value(const struct fit_prior *p, double z)
{
    return p->kind == FIT_PRIOR_LOG_NORMAL ? exp(p->a + p->b * z) : p->a + p->b * z;
}

double fit_posterior_level_coordinate(const struct fit_prior *p, double x)
{
    return ((p->kind == FIT_PRIOR_LOG_NORMAL ? log(x) : x) - p->a) / p->b;
}

/* dx/dz = b or b x; x moves with a by 1 or x, with b by z or z x. */
double fit_posterior_level_jacobian(const struct fit_prior *p, double z, double x, double temper, double by_x,
                                    double *g, double *by_a, double *by_b)
{
    double unit = p->kind == FIT_PRIOR_LOG_NORMAL ? x : 1, bend = p->kind == FIT_PRIOR_LOG_NORMAL ? temper : 0;
    if (g) {
        *g = by_x * unit * p->b + bend * p->b;
        *by_a += by_x * unit + bend;
        *by_b += by_x * unit * z + bend * z + temper / p->b;
    }
    return log(p->b * unit);
}

/* ---- starting values ---------------------------------------------------------------------------------- */

struct levels {
    size_t n;
    const double *std;
    const struct fit_posterior_param *param;
    const struct fit_posterior_level *level;
    double *theta;
};

/* Scatter of the members of a prior. */
struct scatter {
    double n, sum, square, error; /* of x (or log x); mean square error */
};

static double on_line(const struct fit_posterior_param *p, double x, double *std)
{
    if (p->prior != FIT_PRIOR_LOG_NORMAL)
        return x;
    *std /= x;
    return log(x);
}

/* Members of priors in which hyperparameter h is number `place` (0: a, 1: b). */
static struct scatter members(const struct levels *w, size_t h, int place)
{
    struct scatter s = {0};
    for (size_t n = 0; n < w->n; n++) {
        if (w->level[n].from[place] != h + 1)
            continue;
        double error = w->std[n], x = on_line(&w->param[n], w->theta[n], &error);
        if (!isfinite(x))
            continue;
        double about = place == 1 && w->level[n].from[0] == 0 ? w->param[n].a : 0;
        s.n++;
        s.sum += x - about;
        s.square += (x - about) * (x - about);
        s.error += isfinite(error) ? error * error : 0;
    }
    return s;
}

static double into_bounds(const struct fit_posterior_param *p, double x)
{
    double low = isfinite(p->lower) ? p->lower : -INFINITY, high = isfinite(p->upper) ? p->upper : INFINITY;
    if (isfinite(low) && !(x > low))
        x = isfinite(high) ? low + 0.01 * (high - low) : low + 0.01 * fmax(fabs(low), 1);
    return isfinite(high) && !(x < high)
               ? (isfinite(low) ? high - 0.01 * (high - low) : high - 0.01 * fmax(fabs(high), 1))
               : x;
}

static void begin(const struct levels *w, size_t h)
{
    struct scatter at = members(w, h, 0), wide = members(w, h, 1);
    if (at.n > 0) {
        w->theta[h] = into_bounds(&w->param[h], at.sum / at.n);
        return;
    }
    if (!(wide.n > 1))
        return;
    double mean = wide.sum / wide.n, seen = fmax(wide.square / wide.n - mean * mean, 0) * wide.n / (wide.n - 1);
    double own = fmax(seen - wide.error / wide.n, LEAST_SPREAD * LEAST_SPREAD * seen);
    if (own > 0)
        w->theta[h] = into_bounds(&w->param[h], sqrt(own));
}

/* Do the data determine parameter n less well than its prior? */
static int is_deviation(const struct levels *w, size_t n)
{
    const unsigned *from = w->level[n].from;
    int normal = w->param[n].prior == FIT_PRIOR_NORMAL || w->param[n].prior == FIT_PRIOR_LOG_NORMAL;
    if ((!from[0] && !from[1]) || !normal || w->param[n].fixed)
        return 0;
    struct scatter s = from[1] ? members(w, from[1] - 1, 1) : members(w, from[0] - 1, 0);
    double b = from[1] ? w->theta[from[1] - 1] : w->param[n].b;
    return !(b * b > INFORMED * INFORMED * s.error / s.n);
}

void fit_posterior_levels(const struct fit_kernel *kernel, const double *std, const struct fit_posterior_param *param,
                          struct fit_posterior_level *level, double *theta)
{
    struct levels w = {kernel->nparam, std, param, level, theta};
    for (size_t h = kernel->nparam; h-- > 0;) /* of levels above others last */
        if (kernel->level && kernel->level[h].hyper && !param[h].fixed)
            begin(&w, h);
    for (size_t n = 0; n < kernel->nparam; n++)
        level[n].deviation = is_deviation(&w, n);
}
