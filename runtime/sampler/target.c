/* target.c -- the checked evaluation of a log density. */
#include "sampler/target.h"

#include <math.h>

enum fit_eval fit_target_eval(const struct fit_target *t, size_t chain, const double *q, double *lp,
                              double *g)
{
    enum fit_eval answer = t->eval(t->user, chain, q, lp, g);
    if (answer != FIT_EVAL_OK)
        return answer;
    int good = isfinite(*lp);
    for (size_t k = 0; g && k < t->n; k++)
        good &= isfinite(g[k]) != 0;
    return good ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

void fit_target_transition(const struct fit_target *t, size_t chain, int given_up)
{
    if (t->transition)
        t->transition(t->user, chain, given_up);
}
