/* fit_types.c -- the words of options and results. */
#include "leastsquares/fit_types.h"

const char *fit_word_name(enum fit_word w)
{
    static const char *const name[] = {"converged_gradient", "converged_cost", "converged_step",
                                       "at_bound",           "max_iterations", "failed",
                                       "interrupted"};
    return (unsigned)w < sizeof name / sizeof *name ? name[w] : "unknown";
}

const char *fit_noise_name(enum fit_noise_source source)
{
    static const char *const name[] = {"file", "given", "residuals", "law"};
    return (unsigned)source < sizeof name / sizeof *name ? name[source] : "unknown";
}

const char *fit_loss_name(enum fit_loss loss)
{
    static const char *const name[] = {"linear", "soft_l1", "huber", "cauchy", "arctan"};
    return (unsigned)loss < sizeof name / sizeof *name ? name[loss] : "unknown";
}

const char *fit_estimator_name(enum fit_estimator e)
{
    static const char *const name[] = {"auto", "least-squares", "efficient"};
    return name[e];
}

const char *fit_bootstrap_word(enum fit_bootstrap_kind kind)
{
    static const char *const word[] = {"none", "parametric", "block"};
    return word[kind];
}
