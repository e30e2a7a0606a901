/* libraries.c -- optimizers of two libraries, as functions that a program loads (fit/optimizer.h):
 *
 *     liblbfgs          libLBFGS of Naoaki Okazaki, More and Thuente's line search, 50 pairs
 *     nlopt_lbfgs       NLopt's LD_LBFGS (Luksan), 50 pairs
 *
 * Made and run by bench/optimizers/run.sh; no part of the project. */
#include <fit/optimizer.h>

#include <lbfgs.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

/* --- libLBFGS -------------------------------------------------------------------------------------------- */

static lbfgsfloatval_t evaluate(void *user, const lbfgsfloatval_t *x, lbfgsfloatval_t *g, const int n,
                                const lbfgsfloatval_t step)
{
    const struct fit_optimizer_call *c = user;
    double f;
    (void)n, (void)step;
    c->value_gradient(c->context, x, &f, g);
    return f;
}

static int progress(void *user, const lbfgsfloatval_t *x, const lbfgsfloatval_t *g, const lbfgsfloatval_t f,
                    const lbfgsfloatval_t xnorm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n, int k,
                    int ls)
{
    const struct fit_optimizer_call *c = user;
    (void)xnorm, (void)gnorm, (void)step, (void)n, (void)k, (void)ls;
    return c->iteration(c->context, x, f, g);
}

int liblbfgs(const struct fit_optimizer_call *c, double *x)
{
    lbfgs_parameter_t p;
    lbfgsfloatval_t f, *y = lbfgs_malloc((int)c->n);
    if (!y)
        return FIT_OPTIMIZER_FAILED;
    memcpy(y, x, c->n * sizeof *x);
    lbfgs_parameter_init(&p);
    p.m = 50;
    p.epsilon = 1e-300;
    p.past = 0;
    p.max_iterations = (int)c->maxiter;
    p.max_linesearch = 40;
    lbfgs((int)c->n, y, &f, evaluate, progress, (void *)c, &p);
    memcpy(x, y, c->n * sizeof *x);
    lbfgs_free(y);
    return FIT_OPTIMIZER_LIMIT;
}

/* --- NLopt ----------------------------------------------------------------------------------------------- */

/* NLopt tells nothing of iterations: evaluations are counted. */
static double objective(unsigned n, const double *x, double *g, void *user)
{
    const struct fit_optimizer_call *c = user;
    double f, *own = g ? g : malloc(n * sizeof *own);
    if (c->value_gradient(c->context, x, &f, own) == 0)
        c->iteration(c->context, x, f, own);
    if (!g)
        free(own);
    return f;
}

int nlopt_lbfgs(const struct fit_optimizer_call *c, double *x)
{
    double f;
    nlopt_opt o = nlopt_create(NLOPT_LD_LBFGS, (unsigned)c->n);
    if (!o)
        return FIT_OPTIMIZER_FAILED;
    nlopt_set_min_objective(o, objective, (void *)c);
    nlopt_set_vector_storage(o, 50);
    nlopt_set_maxeval(o, (int)c->maxiter);
    nlopt_optimize(o, x, &f);
    nlopt_destroy(o);
    return FIT_OPTIMIZER_LIMIT;
}
