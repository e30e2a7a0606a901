/* first_order.c -- methods that use the gradient of one point at a time: x <- P(x - lr u(g)), P onto the bounds.
 *
 *     sgd       u = g
 *     rmsprop   v = .9 v + .1 g^2, u = g / sqrt(v + 1e-8)                  (Tieleman & Hinton 2012)
 *     adam      m = .9 m + .1 g, v = .999 v + .001 g^2, u = m' / (sqrt(v') + 1e-8), m' = m / (1 - .9^k),
 *               v' = v / (1 - .999^k) in iteration k                       (Kingma & Ba 2015)
 *     adamw     adam's u + 1e-4 x                                           (Loshchilov & Hutter 2019)
 *
 * They do not use the value, which may rise. State: m and v. Work space: the next x and its gradient. */
#include "optimize/method.h"

#include "base/each_isa.h"

#include <math.h>

static const double MEAN = 0.9, SQUARE = 0.999, RMS = 0.9, EPSILON = 1e-8, DECAY = 1e-4;

static size_t two_vectors(size_t n, const struct fit_optimize_options *opt)
{
    (void)opt;
    return 2 * n;
}

static size_t one_vector(size_t n, const struct fit_optimize_options *opt)
{
    (void)opt;
    return n;
}

static enum fit_status arrive(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    return fit_optimize_arrive(o, o->work, o->work + o->n, end, err);
}

static enum fit_status step_sgd(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    for (size_t k = 0; k < o->n; k++)
        o->work[k] = o->x[k] - o->opt.learning_rate * o->g[k];
    return arrive(o, end, err);
}

EACH_ISA static void rms_update(size_t n, double lr, const double *x, const double *g, double *v, double *out)
{
    for (size_t k = 0; k < n; k++) {
        v[k] = RMS * v[k] + (1 - RMS) * (g[k] * g[k]);
        out[k] = x[k] - lr * g[k] / sqrt(v[k] + EPSILON);
    }
}

static enum fit_status step_rmsprop(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    rms_update(o->n, o->opt.learning_rate, o->x, o->g, o->kept, o->work);
    return arrive(o, end, err);
}

/* of: 1 - .9^k, 1 - .999^k, and the weight decay. */
EACH_ISA static void adam_update(size_t n, double lr, const double of[3], const double *x, const double *g, double *m,
                                 double *v, double *out)
{
    for (size_t k = 0; k < n; k++) {
        m[k] = MEAN * m[k] + (1 - MEAN) * g[k];
        v[k] = SQUARE * v[k] + (1 - SQUARE) * (g[k] * g[k]);
        out[k] = x[k] - lr * (m[k] / of[0] / (sqrt(v[k] / of[1]) + EPSILON) + of[2] * x[k]);
    }
}

static enum fit_status adam_with(struct fit_optimize *o, double decay, enum fit_optimize_step *end,
                                 struct fit_error *err)
{
    const double k = o->s->iteration + 1, of[3] = {1 - pow(MEAN, k), 1 - pow(SQUARE, k), decay};
    adam_update(o->n, o->opt.learning_rate, of, o->x, o->g, o->kept, o->kept + o->n, o->work);
    return arrive(o, end, err);
}

static enum fit_status step_adam(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    return adam_with(o, 0, end, err);
}

static enum fit_status step_adamw(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    return adam_with(o, DECAY, end, err);
}

enum { TRAITS = FIT_OPTIMIZE_HAS_BOUNDS | FIT_OPTIMIZE_HAS_STATE };

const struct fit_optimize_method fit_optimize_sgd = {.name = "sgd",
                                                     .summary = "steepest descent with steps of a fixed factor",
                                                     .kind = FIT_OPTIMIZE_FIRST_ORDER,
                                                     .traits = TRAITS,
                                                     .work = two_vectors,
                                                     .step = step_sgd};

const struct fit_optimize_method fit_optimize_rmsprop = {.name = "rmsprop",
                                                         .summary = "gradient over the root of its mean square",
                                                         .kind = FIT_OPTIMIZE_FIRST_ORDER,
                                                         .traits = TRAITS,
                                                         .kept = one_vector,
                                                         .work = two_vectors,
                                                         .step = step_rmsprop};

const struct fit_optimize_method fit_optimize_adam = {.name = "adam",
                                                      .summary = "mean gradient over the root of its mean square",
                                                      .kind = FIT_OPTIMIZE_FIRST_ORDER,
                                                      .traits = TRAITS,
                                                      .kept = two_vectors,
                                                      .work = two_vectors,
                                                      .step = step_adam};

const struct fit_optimize_method fit_optimize_adamw = {.name = "adamw",
                                                       .summary = "adam, whose variables also decay",
                                                       .kind = FIT_OPTIMIZE_FIRST_ORDER,
                                                       .traits = TRAITS,
                                                       .kept = two_vectors,
                                                       .work = two_vectors,
                                                       .step = step_adamw};
