/* curvature.c -- second derivatives of an objective along a direction.
 *
 * Uses the values of arrays and the gradients that fit_bound_value has left: tangents forward, tangents of gradients
 * backward (Pearlmutter, Neural Comput. 6, 147 (1994)). The Gauss-Newton matrix omits the second derivatives of kept
 * arrays: the backward pass through them is then that of the first derivatives (Schraudolph, Neural Comput. 14, 1723
 * (2002)). */
#include "functional/evaluate.h"

#include <string.h>

static int has_tangent(const struct fit_functional *o, uint32_t k)
{
    if (o->array[k].moves)
        return 1;
    for (uint32_t q = 0; q < o->noperator; q++) /* one part of a complex value may be constant */
        if (o->operation[q].in == k || (o->operation[q].is_complex && o->operation[q].in + 1 == k))
            return 1;
    return 0;
}

static enum fit_status take_tangents(struct fit_bound *b, struct fit_error *err)
{
    const struct fit_functional *o = b->o;
    if (b->dot)
        return FIT_OK;
    double **dot = fit_take(&b->arena, o->narray, sizeof *dot), **slope = fit_take(&b->arena, o->narray, sizeof *slope);
    FIT_TAKE_DOUBLES(&b->arena, o->nnumber, &b->number_dot, &b->number_slope_dot);
    for (uint32_t k = 0; dot && slope && k < o->narray; k++) {
        const size_t room = fit_blocks_of(b->size[o->array[k].axis]) * FIT_BLOCK + 8;
        if (!has_tangent(o, k) || !b->array[k])
            continue;
        dot[k] = fit_take(&b->arena, room, sizeof(double));
        if (o->array[k].moves)
            slope[k] = fit_take(&b->arena, room, sizeof(double));
    }
    if (b->arena.failed)
        return fit_no_memory(err, "second derivatives");
    b->dot = dot;
    b->slope_dot = slope;
    return FIT_OK;
}

static void begin(struct fit_bound *b, const double *v)
{
    const struct fit_functional *o = b->o;
    memset(b->number_dot, 0, o->nnumber * sizeof(double));
    memset(b->number_slope_dot, 0, o->nnumber * sizeof(double));
    for (uint32_t k = 0; k < o->narray; k++) {
        const size_t n = b->size[o->array[k].axis], room = fit_blocks_of(n) * FIT_BLOCK;
        if (b->slope_dot[k] && (o->array[k].need & b->on))
            memset(b->slope_dot[k], 0, room * sizeof(double));
        if (o->array[k].kind == FIT_ARRAY_FREE && b->dot[k])
            memset(b->dot[k], 0, room * sizeof(double));
        if (fit_bound_solves(b, k)) {
            memcpy(b->dot[k], v, n * sizeof(double));
            v += n;
        }
    }
}

static void forward(struct fit_bound *b, struct fit_functional_call *call, struct fit_functional_call *linear)
{
    const struct fit_functional *o = b->o;
    for (uint32_t k = 0; k < o->ntangent; k++) {
        const struct fit_phase *p = &o->tangent[k];
        if (!(p->need & b->on))
            continue;
        fit_phase_run(b, p, p->kind == FIT_PHASE_OPERATOR ? linear : call);
        if (p->nsum)
            b->number_dot[p->sum[0]] = fit_sum_tree(b->partial, call->nblock);
    }
}

static void backward(struct fit_bound *b, enum fit_curvature which, struct fit_functional_call *call,
                     struct fit_functional_call *linear)
{
    const struct fit_functional *o = b->o;
    struct fit_functional_call first = *call; /* the backward pass, for tangents of gradients */
    first.slope = b->slope_dot;
    first.number_slope = b->number_slope_dot;
    o->seeds_second(call);
    for (uint32_t k = 0; k < o->nbackward; k++) {
        const int plain = which == FIT_GAUSS_NEWTON && o->second[k].kind == FIT_PHASE_FORMULA;
        const struct fit_phase *p = plain ? &o->backward[k] : &o->second[k];
        struct fit_functional_call *c = plain ? &first : p->kind == FIT_PHASE_OPERATOR ? linear : call;
        if (!(p->need & b->on))
            continue;
        fit_phase_run(b, p, c);
        for (uint32_t i = 0; i < p->nsum; i++)
            b->number_slope_dot[p->sum[i]] += fit_sum_tree(b->partial + i * c->nblock, c->nblock);
    }
}

enum fit_status fit_bound_curvature(struct fit_bound *b, enum fit_curvature which, const double *v, double *out,
                                    struct fit_error *err)
{
    const enum fit_status s = take_tangents(b, err);
    if (s != FIT_OK)
        return s;
    fit_bound_settle(b);
    struct fit_functional_call call = fit_call(b), linear = call;
    linear.array = b->dot;
    linear.slope = b->slope_dot;
    begin(b, v);
    forward(b, &call, &linear);
    backward(b, which, &call, &linear);
    for (uint32_t k = 0; k < b->o->narray; k++)
        if (fit_bound_solves(b, k)) {
            const size_t n = b->size[b->o->array[k].axis];
            memcpy(out, b->slope_dot[k], n * sizeof *out);
            out += n;
        }
    return FIT_OK;
}

enum fit_status fit_bound_matrix(struct fit_bound *b, enum fit_curvature which, size_t n, const size_t *index,
                                 double *matrix, struct fit_error *err)
{
    const size_t all = fit_bound_unknowns(b);
    enum fit_status s = FIT_OK;
    FIT_SCRATCH(a);
    double *v, *out;
    FIT_TAKE_DOUBLES(&a, all, &v, &out);
    if (a.failed)
        return fit_no_memory(err, "second derivatives");
    for (size_t i = 0; s == FIT_OK && i < n; i++) {
        const size_t at = index ? index[i] : i;
        v[at] = 1;
        s = fit_bound_curvature(b, which, v, out, err);
        v[at] = 0;
        for (size_t j = 0; j < n; j++)
            matrix[i * n + j] = out[index ? index[j] : j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            matrix[i * n + j] = matrix[j * n + i] = (matrix[i * n + j] + matrix[j * n + i]) / 2;
    return s;
}

const char *fit_bound_not_squares(const struct fit_bound *b)
{
    for (uint32_t t = 0; t < b->o->nterm; t++)
        if ((b->on >> t & 1) && !b->o->term[t].residual)
            return b->o->term[t].name;
    return NULL;
}
