/* rates.c -- finds parameters that form a rate together.
 *
 * Takes the graph of a model as its file wrote it; returns the sums of two terms
 *
 *     A X + C,    X = b(t)^E    or    where(condition, X, constant) with a condition free of parameters,
 *
 * or X = exp(E b(t)) or exp(E (b(t) - D)), in which A, E, C (and D) are different nonlinear parameters and b is the
 * frame time in some unit: b = t / tau, away from t = 0, where it may have a floor. A candidate for b is recognised by
 * evaluation at three times, not by its form. The argument of exp may be limited by choices, as in clamp().
 *
 * Samplers use the table for coordinates (runtime/posterior/rate_coordinates.h). Any three parameters would give valid
 * coordinates, and these give good ones, so a sum that is not a rate does no harm.
 */
#include "model/rates.h"

#include <math.h>
#include <string.h>

#include "graph/eval.h"

/* Index of a nonlinear parameter, or -1. */
static int param_of(const struct hg_model *m, hg_id id)
{
    for (uint32_t k = 0; k < m->param.n; k++)
        if (m->param.item[k].node == id)
            return (int)k;
    return -1;
}

/* 1 when the value is determined by the frame time and period alone. */
static int is_known(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    if (n->op == HG_PARAM || n->op == HG_LINEAR || n->op == HG_SETTING || n->op == HG_COORD || n->op == HG_COLUMN)
        return 0;
    for (uint32_t k = 0; k < n->nargs; k++)
        if (!is_known(e, n->arg[k]))
            return 0;
    return 1;
}

/* tau of a base b(t) = t / tau; 0: not of this form. */
static double unit_of_base(const struct hg_model *m, hg_id base)
{
    static const double time[] = {1, 3, 7}; /* s; far above floors of the size of the frame period */
    const struct hg_node *n = hg_at(m->expr, base);
    if (n->vary != HG_T || !is_known(m->expr, base))
        return 0;
    struct hg_eval *ev = hg_eval_new(m->expr, 1, &base);
    hg_eval_run(ev, &(struct hg_point){.time = time, .ntime = 3, .step = 1e-3, .j = 1});
    double slope = (double)hg_eval_get(ev, base, 0).v;
    for (uint32_t k = 1; k < 3; k++)
        if (!(fabs((double)hg_eval_get(ev, base, k).v - slope * time[k]) <= 1e-12 * slope * time[k]))
            slope = 0;
    hg_eval_free(ev);
    return slope > 0 ? 1 / slope : 0;
}

/* The power below `where`, or 0. */
static hg_id power_of(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    double value;
    if (n->op == HG_POW)
        return id;
    if (n->op != HG_WHERE || !is_known(e, n->arg[0]))
        return 0;
    if (hg_is_const(e, n->arg[1], &value))
        return power_of(e, n->arg[2]);
    return hg_is_const(e, n->arg[2], &value) ? power_of(e, n->arg[1]) : 0;
}

/* The value inside choices between x and limits of it. */
static hg_id without_limits(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id), *c;
    double value;
    while (n->op == HG_WHERE || n->op == HG_GUARD) {
        hg_id x = hg_is_const(e, n->arg[1], &value) ? n->arg[2] : hg_is_const(e, n->arg[2], &value) ? n->arg[1] : 0;
        c = hg_at(e, n->arg[0]);
        if (!x || (c->op != HG_LT && c->op != HG_LE) || (c->arg[0] != x && c->arg[1] != x))
            break;
        id = x;
        n = hg_at(e, id);
    }
    return id;
}

/* b(t) - D: D, or -1 when there is none; *base <- b. 0: not of this form. */
static int shifted_base(const struct hg_model *m, hg_id id, int *shift, hg_id *base)
{
    const struct hg_expr *e = m->expr;
    const struct hg_node *n = hg_at(e, id);
    *shift = -1;
    *base = id;
    for (uint32_t k = 0; n->op == HG_SUM && n->nargs == 2 && k < 2; k++) {
        const struct hg_node *minus = hg_at(e, n->arg[k]);
        for (uint32_t l = 0; minus->op == HG_PROD && minus->nargs == 2 && l < 2; l++)
            if (hg_is_value(e, minus->arg[l], -1.0)) {
                *shift = param_of(m, minus->arg[1 - l]);
                *base = n->arg[1 - k];
            }
    }
    return n->op != HG_SUM || *shift >= 0;
}

/* Exponent, shift and time of exp(E (b - D)); 0: not of this form. */
static int exponential_of(const struct hg_model *m, hg_id id, struct hg_rate *r)
{
    const struct hg_node *n = hg_at(m->expr, id);
    hg_id base;
    if (n->op != HG_EXP)
        return 0;
    n = hg_at(m->expr, without_limits(m->expr, n->arg[0]));
    for (uint32_t k = 0; n->op == HG_PROD && n->nargs == 2 && k < 2; k++) {
        int exponent = param_of(m, n->arg[k]), shift;
        if (exponent < 0 || !shifted_base(m, n->arg[1 - k], &shift, &base) || shift == exponent)
            continue;
        *r = (struct hg_rate){.kind = FIT_RATE_EXPONENTIAL, .exponent = (uint32_t)exponent, .shift = shift,
                              .time = unit_of_base(m, base)};
        return r->time > 0;
    }
    return 0;
}

static int power_of_time(const struct hg_model *m, hg_id id, struct hg_rate *r)
{
    hg_id power = power_of(m->expr, id);
    int exponent = power ? param_of(m, hg_at(m->expr, power)->arg[1]) : -1;
    if (exponent < 0)
        return 0;
    *r = (struct hg_rate){.kind = FIT_RATE_POWER, .exponent = (uint32_t)exponent, .shift = -1,
                          .time = unit_of_base(m, hg_at(m->expr, power)->arg[0])};
    return r->time > 0;
}

/* Amplitude, exponent, shift and time of a product A X; 0: not of this form. */
static int varying_term(const struct hg_model *m, hg_id id, struct hg_rate *r)
{
    const struct hg_node *n = hg_at(m->expr, id);
    for (uint32_t k = 0; n->op == HG_PROD && n->nargs == 2 && k < 2; k++) {
        int amplitude = param_of(m, n->arg[k]);
        if (amplitude < 0 || !(power_of_time(m, n->arg[1 - k], r) || exponential_of(m, n->arg[1 - k], r)) ||
            amplitude == (int)r->exponent || amplitude == r->shift)
            continue;
        r->amplitude = (uint32_t)amplitude;
        return 1;
    }
    return 0;
}

static int is_rate(const struct hg_model *m, hg_id id, struct hg_rate *r)
{
    const struct hg_node *n = hg_at(m->expr, id);
    if (n->op != HG_SUM || n->nargs != 2 || n->vary != HG_T)
        return 0;
    for (uint32_t k = 0; k < 2; k++) {
        int offset = param_of(m, n->arg[k]);
        if (offset < 0 || !varying_term(m, n->arg[1 - k], r))
            continue;
        r->offset = (uint32_t)offset;
        return r->offset != r->amplitude && r->offset != r->exponent && offset != r->shift;
    }
    return 0;
}

/* Marks of the nodes below the means and the curves. */
static unsigned char *used_nodes(const struct hg_model *m)
{
    const struct hg_expr *e = m->expr;
    unsigned char *used = hg_alloc(e->arena, e->n);
    memset(used, 0, e->n);
    for (uint32_t k = 0; k < m->nvariant; k++)
        used[m->variant[k].mean] = 1;
    for (uint32_t k = 0; k < m->curve.n; k++)
        used[m->curve.item[k].node] = 1;
    for (hg_id id = e->n - 1; id > 0; id--)
        for (uint32_t k = 0; used[id] && k < hg_at(e, id)->nargs; k++)
            used[hg_at(e, id)->arg[k]] = 1;
    return used;
}

void hg_rates_find(struct hg_model *m)
{
    const struct hg_expr *e = m->expr;
    unsigned char *taken = hg_alloc(e->arena, m->param.n + 1), *used = used_nodes(m);
    struct hg_rate r;
    memset(taken, 0, m->param.n + 1);
    m->rate = hg_alloc(e->arena, (m->param.n / 3 + 1) * sizeof *m->rate);
    m->nrate = 0;
    for (hg_id id = 1; id < e->n; id++) {
        if (!used[id] || !is_rate(m, id, &r) || taken[r.amplitude] || taken[r.exponent] || taken[r.offset] ||
            (r.shift >= 0 && taken[r.shift]))
            continue;
        taken[r.amplitude] = taken[r.exponent] = taken[r.offset] = 1;
        if (r.shift >= 0)
            taken[r.shift] = 1;
        m->rate[m->nrate++] = r;
    }
}
